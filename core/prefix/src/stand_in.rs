//! What stands in for things that a snippet takes from elsewhere: answers of a network, and classes above its own.

use std::collections::BTreeSet;

use twincell_sketch::environment::{Contains, Node};
use twincell_sketch::network::{self, Role};
use twincell_sketch::{Class, Source};
use twincell_syntax::python::is_identifier;
use twincell_values::path::AccessPath;
use twincell_values::value::Recipe;

use crate::code::{Statement, TypeCounts};
use crate::import::Import;
use crate::import::Imported;
use crate::layout::Expression;
use crate::values::{Writer, mocked_module};

/// Methods whose result is worth something to those who do not look at it.
const TELLING: &[&str] = &["text", "read", "json", "iter_content", "iter_lines", "getvalue", "getcode"];

/// Writes what the snippet takes from a network.
pub(crate) fn of_network(writer: &mut Writer<'_>) {
    let reading = writer.reading;
    for source in &reading.sketch.sources {
        let Some(role) = network::role(&source.origin) else { continue };
        // What a session gives is part of it.
        if source.origin.contains("()") || is_patched(writer, &source.origin) {
            continue;
        }
        install(writer, source, role);
    }
}

/// Whether a mock stands there, since a stand-in did not do.
fn is_patched(writer: &Writer<'_>, origin: &str) -> bool {
    let patched = &writer.lessons.common.patched;
    patched.iter().any(|(module, inner)| origin == format!("{module}.{inner}"))
}

fn install(writer: &mut Writer<'_>, source: &Source, role: Role) {
    let reading = writer.reading;
    let Some((module, name)) = source.origin.rsplit_once('.') else { return };
    let place = if writer.lessons.common.modules.contains(module) {
        mocked_module(module)
    } else {
        writer.import(Import::module(module));
        module.to_owned()
    };
    let failure = failure(writer, source);
    if let (Some(failure), Role::Response) = (&failure, role) {
        let function = writer.fresh(name);
        writer.take(&function);
        // A sandbox has no network, and others have.
        let makes = [("function".to_owned(), 1)].into();
        let raises = format!("def {function}({}):\n    raise {failure}", writer.parameters(name));
        writer.statement(Statement::block(raises, makes).kept());
        writer.statement(Statement::line(format!("{place}.{name} = {function}"), TypeCounts::new()).kept());
        return;
    }
    let node = reading.sketch.node(source.value, &role.class().to_lowercase(), &writer.lessons.scene);
    let class = writer.fresh(role.class());
    writer.take(&class);
    fake(writer, &class, vec![], &node, failure.as_deref());
    writer.makes("function");
    let is_async = role == Role::Response && node.awaited.is_some();
    if is_async {
        let function = writer.fresh(name);
        writer.take(&function);
        let parameters = writer.parameters(name);
        writer.block(format!("async def {function}({parameters}):\n    return {class}()"));
        writer.line(format!("{place}.{name} = {function}"));
    } else {
        let function = Expression::text(format!("{class}()")).behind(&writer.lambda(name));
        writer.assign(&format!("{place}.{name}"), &function);
    }
}

/// The exception that the snippet expects of a call, if calls shall fail.
fn failure(writer: &mut Writer<'_>, source: &Source) -> Option<String> {
    let number = writer.lessons.scene.failing?;
    let of_session = format!("{}().", source.origin);
    let all = writer.reading.sketch.sources.iter();
    let handled: Vec<&String> = all
        .filter(|other| other.origin == source.origin || other.origin.starts_with(&of_session))
        .flat_map(|source| &source.handled)
        .collect();
    let class = handled.get(number)?.as_str();
    writer.exception(class).map(|class| format!("{class}('no connection')"))
}

/// A class whose objects the snippet makes and uses.
pub(crate) fn made_class(writer: &mut Writer<'_>, name: &str, node: &Node) {
    let object = node.calls.first().map(|(_, object)| object.clone()).unwrap_or_default();
    let given = writer.reading.signatures.names(name);
    let mut first = Vec::new();
    if !given.is_empty() {
        let parameters = writer.parameters_of_method(name);
        let names = given.iter().filter(|given| !object.attributes.iter().any(|(attribute, _)| attribute == *given));
        let kept: Vec<String> = names.map(|given| format!("\n        self.{given} = {given}")).collect();
        let is_kept = !kept.is_empty() && writer.has_signature(name);
        let body = if is_kept { kept.concat() } else { "\n        pass".to_owned() };
        first.push(format!("    def __init__({parameters}):{body}"));
    }
    fake(writer, name, first, &object, None);
}

/// A class that does what is asked of a node. `first` are members that it has anyway.
pub(crate) fn fake(writer: &mut Writer<'_>, name: &str, first: Vec<String>, node: &Node, failure: Option<&str>) {
    let (mut fields, mut methods) = (Vec::new(), first);
    for (attribute, inner) in &node.attributes {
        if !is_identifier(attribute) || attribute.starts_with("__") {
            continue;
        }
        let is_method = !inner.calls.is_empty() && inner.attributes.is_empty();
        if !is_method {
            let value = writer.value(inner, attribute);
            fields.push(format!("    {}", value.written(&format!("{attribute} = "), 1)));
            continue;
        }
        let result = &inner.calls[0].1;
        let is_entered_async = result.entered == Some(true);
        let is_async = result.awaited.is_some() && !is_entered_async;
        let result = result.awaited.as_deref().filter(|_| is_async).unwrap_or(result);
        let body =
            if let (Some(failure), Some(Role::Response)) = (failure, network::role(&format!("requests.{attribute}"))) {
                format!("raise {failure}")
            } else if result.is_unused && !TELLING.contains(&attribute.as_str()) {
                "pass".to_owned()
            } else if network::role(&format!("requests.{attribute}")).is_some() && !result.attributes.is_empty() {
                let class = writer.fresh(Role::Response.class());
                writer.take(&class);
                fake(writer, &class, vec![], result, None);
                format!("return {class}()")
            } else {
                writer.value(result, attribute).written("return ", 2)
            };
        let before = if is_async { "async " } else { "" };
        let parameters = writer.parameters_of_method(attribute);
        methods.push(format!("    {before}def {attribute}({parameters}):\n        {body}"));
    }
    match node.entered {
        Some(true) => {
            methods.push("    async def __aenter__(self):\n        return self".into());
            methods.push("    async def __aexit__(self, *args):\n        pass".into());
        }
        Some(false) => {
            methods.push("    def __enter__(self):\n        return self".into());
            methods.push("    def __exit__(self, *args):\n        pass".into());
        }
        None => {}
    }
    if let Some(contains) = &node.contains {
        let truth = match contains {
            Contains::All(true) => "True".to_owned(),
            Contains::All(false) => "False".to_owned(),
            Contains::Only(members) => format!("item in {}", Recipe::List(members.clone()).display()),
        };
        methods.push(format!("    def __contains__(self, item):\n        return {truth}"));
    }
    let mut parts = Vec::new();
    if !fields.is_empty() {
        parts.push(fields.join("\n"));
    }
    parts.extend(methods);
    if parts.is_empty() {
        parts.push("    pass".into());
    }
    writer.makes("type");
    writer.block(format!("class {name}:\n{}", parts.join("\n\n")));
}

/// A class above classes of the snippet, with what these expect of it. `path` is what the snippet calls it. Says whether
/// there are such.
pub(crate) fn base(writer: &mut Writer<'_>, name: &str, path: &str) -> bool {
    let reading = writer.reading;
    let sketch = &reading.sketch;
    let mut node = Node::new(path.to_owned());
    let (mut is_base, mut has_init) = (false, false);
    let mut known: BTreeSet<String> = BTreeSet::new();
    for class in &sketch.classes {
        let Some(own) = own_down_to(&sketch.classes, class, path) else { continue };
        is_base = true;
        let above = sketch.node(class.above, name, &writer.lessons.scene);
        let object = sketch.node(class.object, name, &writer.lessons.scene);
        let inherited = object.attributes.into_iter().filter(|(attribute, _)| !own.contains(attribute));
        for (attribute, inner) in above.attributes.into_iter().chain(inherited) {
            if known.insert(attribute.clone()) {
                node.attributes.push((attribute, inner));
            }
        }
        has_init |= sketch.value(class.above).attributes.iter().any(|(name, _)| name == "__init__");
        has_init |= class.is_given && !own.contains("__init__");
    }
    if !is_base {
        return false;
    }
    let mut first = Vec::new();
    if has_init {
        first.push("    def __init__(self, *args, **kwargs):\n        pass".to_owned());
    }
    // What the snippet reads of the class itself.
    let own = sketch.free.get(path).map(|id| sketch.node(*id, path, &writer.lessons.scene).attributes);
    for (attribute, inner) in own.into_iter().flatten() {
        if inner.calls.is_empty() && known.insert(attribute.clone()) {
            node.attributes.push((attribute, inner));
        }
    }
    for (attribute, result) in asked_of_class(writer, path) {
        if known.insert(attribute.clone()) && is_identifier(&attribute) {
            let result = writer.value(&result, &attribute).written("return ", 2);
            first.push(format!("    @staticmethod\n    def {attribute}(*args, **kwargs):\n        {result}"));
        }
    }
    writer.take(name);
    fake(writer, name, first, &node, None);
    true
}

/// What a class and those between it and a missing one define. `None` if the missing one is not above it.
fn own_down_to(classes: &[Class], class: &Class, path: &str) -> Option<BTreeSet<String>> {
    let (mut own, mut at) = (BTreeSet::new(), class);
    // A class may be its own base in text that nobody has run.
    for _ in 0..classes.len() {
        own.extend(at.own.iter().cloned());
        if at.bases.iter().any(|base| base == path) {
            return Some(own);
        }
        at = classes.iter().find(|other| at.bases.contains(&other.name))?;
    }
    None
}

/// What the snippet calls on a class itself, with the results.
fn asked_of_class(writer: &Writer<'_>, path: &str) -> Vec<(String, Node)> {
    let Writer { reading, lessons, .. } = writer;
    let sketch = &reading.sketch;
    if let Some(id) = sketch.free.get(path) {
        let attributes = sketch.node(*id, path, &lessons.scene).attributes;
        let called =
            |(name, mut node): (String, Node)| (!node.calls.is_empty()).then(|| (name, node.calls.remove(0).1));
        return attributes.into_iter().filter_map(called).collect();
    }
    let Some(Imported { module, name: Some(name) }) = reading.imported.get(path) else { return vec![] };
    let before = format!("{module}.{name}.");
    let called = |source: &Source| {
        let attribute = source.origin.strip_prefix(&before).filter(|rest| is_identifier(rest))?;
        Some((attribute.to_owned(), sketch.node(source.value, attribute, &lessons.scene)))
    };
    sketch.sources.iter().filter_map(called).collect()
}

/// Classes above those of the snippet that come from modules which are not here.
pub(crate) fn of_modules(writer: &mut Writer<'_>) {
    let reading = writer.reading;
    let modules = writer.lessons.common.modules.clone();
    for path in reading.classes.iter().filter(|path| !reading.exceptions.contains(*path)) {
        let (root, rest) = AccessPath::from(path).split_root();
        let Some(Imported { module, name }) = reading.imported.get(root) else { continue };
        let inner: Vec<&str> =
            name.iter().map(String::as_str).chain(rest.split('.').filter(|part| !part.is_empty())).collect();
        let Some(last) = inner.last().filter(|_| modules.contains(module)) else { continue };
        let is_below = reading.sketch.classes.iter().any(|class| class.bases.contains(path));
        if is_below && base(writer, last, path) {
            writer.line(format!("{}.{} = {last}", mocked_module(module), inner.join(".")));
        }
    }
}
