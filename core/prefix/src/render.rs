//! An environment as Python that a person would keep: imports, small classes, and an assignment for each name.

use std::collections::{BTreeMap, BTreeSet};

use twincell_syntax::python::{is_builtin, is_identifier, python_string};
use twincell_values::path::{AccessPath, text_of};
use twincell_values::value::{AbstractValue, Made, Recipe, written_class};

use crate::environment::{Environment, Node};
use crate::layout::Expression;
use crate::reading::{Imported, Reading};

/// What gives mocks their name.
pub(crate) const MOCK: &str = "from unittest.mock import MagicMock";
/// A meaning for `super()` where Python gives it none.
pub(crate) const SUPER: &str = "def super(*args):\n    return MagicMock()";

/// What the errors of plain runs have taught about how to write an environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lessons {
    /// Access paths of objects that are written as mocks, which take whatever is asked of them.
    pub(crate) mocked: BTreeSet<String>,
    /// Modules that cannot be imported here, and are mocks.
    pub(crate) modules: BTreeSet<String>,
    /// What modules hold, by module and dotted path in it, that cannot do its work here, and is a mock.
    pub(crate) patched: BTreeSet<(String, String)>,
    /// Recognised imports that do not fit, so that the names are values.
    pub(crate) without: BTreeSet<String>,
    /// Files to make, with their text.
    pub(crate) files: BTreeMap<String, String>,
    /// Further definitions, each once.
    pub(crate) definitions: Vec<String>,
    /// Names that nothing tells anything about.
    pub(crate) names: BTreeSet<String>,
}

/// The text of a prefix.
pub(crate) fn render(environment: &Environment, reading: &Reading, lessons: &Lessons) -> String {
    let mut writer = Writer { reading, lessons, imports: BTreeSet::new(), body: Vec::new(), taken: BTreeSet::new() };
    for import in &reading.imports {
        if !lessons.without.contains(import) {
            writer.imports.insert(import.clone());
        }
    }
    for module in &lessons.modules {
        writer.imports.insert("import sys".into());
        writer.imports.insert(MOCK.into());
        writer.body.push(format!("sys.modules[{}] = MagicMock()", python_string(module)));
    }
    writer.classes_of_mocks();
    for (module, inner) in &lessons.patched {
        writer.imports.insert(format!("import {module}"));
        writer.imports.insert(MOCK.into());
        writer.body.push(format!("{module}.{inner} = MagicMock()"));
    }
    for (file, text) in &lessons.files {
        writer.imports.insert("from pathlib import Path".into());
        writer.body.push(format!("Path({}).write_text({})", python_string(file), python_string(text)));
    }
    writer.body.extend(lessons.definitions.iter().cloned());
    if reading.has_bare_super {
        writer.imports.insert(MOCK.into());
        writer.body.push(SUPER.into());
    }
    let mut environment = environment.clone();
    for class in reading.exceptions.iter().chain(&reading.classes) {
        // What else is taken from something that has to be made is a class there, too.
        let (root, _) = AccessPath::from(class).split_root();
        let is_made = |name: &String| environment.names.iter().any(|(known, _)| known == name);
        if root.len() < class.len() && (is_made(&root.to_owned()) || lessons.names.contains(root)) {
            environment.at(class.into());
        }
    }
    for (name, node) in &environment.names {
        writer.name(name, node);
    }
    for name in &lessons.names {
        if !writer.taken.contains(name) {
            writer.imports.insert(MOCK.into());
            writer.body.push(format!("{name} = MagicMock()"));
        }
    }
    writer.finish()
}

struct Writer<'a> {
    reading: &'a Reading,
    lessons: &'a Lessons,
    imports: BTreeSet<String>,
    body: Vec<String>,
    /// The names that are bound.
    taken: BTreeSet<String>,
}

impl Writer<'_> {
    fn finish(self) -> String {
        let (from, plain): (Vec<&String>, Vec<&String>) = self.imports.iter().partition(|one| one.starts_with("from"));
        let imports: Vec<&str> = plain.into_iter().chain(from).map(String::as_str).collect();
        let mut out = imports.join("\n");
        for (position, statement) in self.body.iter().enumerate() {
            let is_block = |text: &str| text.contains('\n') && !text.ends_with([')', ']', '}']);
            let before = position.checked_sub(1).map(|before| self.body[before].as_str());
            let is_apart = is_block(statement) || before.is_some_and(is_block) || before.is_none();
            out += match (out.is_empty(), is_apart) {
                (true, _) => "",
                (false, true) => "\n\n",
                (false, false) => "\n",
            };
            out += statement;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out
    }

    /// A name of the snippet.
    fn name(&mut self, name: &str, node: &Node) {
        if !is_identifier(name) || self.taken.contains(name) || self.is_imported(name) {
            return;
        }
        let import = self.reading.imported.get(name).cloned();
        if let Some(Imported { module, name: inner }) = import {
            self.of_module(name, &module, inner.as_deref(), node);
            return;
        }
        self.taken.insert(name.to_owned());
        if self.reading.exceptions.contains(name) || self.reading.classes.contains(name) {
            self.class(name, self.reading.exceptions.contains(name));
            return;
        }
        let parts = self.parts(node);
        if let Some(result) = self.constant_result(node).filter(|_| !self.lessons.mocked.contains(name)) {
            let body = result.written("return ", 1);
            self.body.push(format!("def {name}({}):\n    {body}", arguments(node)));
            return;
        }
        let expression = self.expression(node, parts, name);
        self.body.push(expression.written(&format!("{name} = "), 0));
    }

    /// The classes that the snippet takes from modules that are mocks, since Python demands classes for some purposes.
    fn classes_of_mocks(&mut self) {
        let of = |names: &BTreeSet<String>, base: &str| -> Vec<(String, String, String)> {
            let found = names.iter().filter_map(|name| {
                let (root, rest) = name.split_once('.').map_or((name.as_str(), ""), |(root, rest)| (root, rest));
                let Imported { module, name } = self.reading.imported.get(root)?;
                let parts = name.iter().map(String::as_str).chain(rest.split('.').filter(|part| !part.is_empty()));
                let class = parts.collect::<Vec<_>>().join(".");
                let is_mock = self.lessons.modules.contains(module) && !class.is_empty();
                is_mock.then(|| (module.clone(), class, base.to_owned()))
            });
            found.collect()
        };
        let found = [of(&self.reading.exceptions, "(Exception,)"), of(&self.reading.classes, "()")].concat();
        for (module, class, bases) in found {
            let name = python_string(class.rsplit('.').next().unwrap_or(&class));
            self.body.push(format!("sys.modules[{}].{class} = type({name}, {bases}, {{}})", python_string(&module)));
        }
    }

    fn is_imported(&self, name: &str) -> bool {
        self.imports.iter().any(|import| import.split_whitespace().next_back() == Some(name))
    }

    /// A name that the snippet imports. It has a value only if its module is a mock: then the value stands there.
    fn of_module(&mut self, name: &str, module: &str, inner: Option<&str>, node: &Node) {
        let is_class = self.reading.exceptions.contains(name) || self.reading.classes.contains(name);
        if !self.lessons.modules.contains(module) || is_class {
            return;
        }
        let place = format!("sys.modules[{}]", python_string(module));
        match inner {
            Some(inner) => {
                let value = self.value(node, name);
                self.body.push(value.written(&format!("{place}.{inner} = "), 0));
            }
            None => {
                for (attribute, value) in &node.attributes {
                    let is_class = |names: &BTreeSet<String>| names.contains(&value.path);
                    if is_identifier(attribute)
                        && !is_class(&self.reading.exceptions)
                        && !is_class(&self.reading.classes)
                    {
                        let value = self.value(value, attribute);
                        self.body.push(value.written(&format!("{place}.{attribute} = "), 0));
                    }
                }
            }
        }
    }

    fn class(&mut self, name: &str, is_exception: bool) {
        let base = if is_exception { "(Exception)" } else { "" };
        self.body.push(format!("class {name}{base}:\n    pass"));
        self.taken.insert(name.to_owned());
    }

    /// The result of a function that gives the same to all calls, if it is one.
    fn constant_result(&mut self, node: &Node) -> Option<Expression> {
        let is_function = matches!(node.value, None | Some(Recipe::Versatile(_)));
        let is_bare = node.attributes.is_empty() && node.items.is_empty() && node.length.is_none();
        let ((_, first), rest) = node.calls.split_first().filter(|_| is_function && is_bare)?;
        if node.calls.iter().any(|(_, result)| result.raises.is_some() || result.awaited.is_some()) {
            return None;
        }
        let name = hint(&first.path);
        let result = self.value(first, &name);
        let all = rest.iter().all(|(_, other)| self.value(other, &name) == result);
        all.then_some(result)
    }

    fn value(&mut self, node: &Node, name: &str) -> Expression {
        let parts = self.parts(node);
        self.expression(node, parts, name)
    }

    /// What an object has to be able to do.
    fn parts(&self, node: &Node) -> Parts {
        let is_object = matches!(node.value, None | Some(Recipe::Versatile(_)));
        let mut attributes: Vec<String> = Vec::new();
        for (name, _) in &node.attributes {
            if is_object && is_identifier(name) {
                attributes.push(name.clone());
            }
        }
        let of_dict =
            attributes.iter().all(|name| twincell_syntax::python::attributes_of("dict").contains(&name.as_str()));
        Parts {
            is_object,
            is_mapping: is_object && !node.items.is_empty() && of_dict && keys(node).is_some(),
            attributes,
            is_called: is_object && !node.calls.is_empty(),
            special: is_object
                && (!node.items.is_empty()
                    || node.length.is_some()
                    || node.truth == Some(false)
                    || node.awaited.is_some()
                    || node.number.is_some()
                    || node.text.is_some()
                    || !node.members.is_empty()),
        }
    }

    fn expression(&mut self, node: &Node, parts: Parts, name: &str) -> Expression {
        if self.lessons.mocked.contains(&node.path) {
            return self.mock(node, name);
        }
        if !parts.is_object {
            return node
                .value
                .as_ref()
                .map_or_else(|| Expression::text("None"), |value| self.literal(value, node, name));
        }
        if let Some((class, _)) = node.instances.iter().find(|(class, truth)| *truth && is_identifier(class)) {
            let class = class.clone();
            return self.instance(&class, node, name);
        }
        if let Some(class) = node.class.clone().filter(|class| is_identifier(class)) {
            return self.instance(&class, node, name);
        }
        if self.reading.exceptions.contains(&node.path) || self.reading.classes.contains(&node.path) {
            let class = hint(&node.path);
            let class = class[..1].to_uppercase() + &class[1..];
            if !self.taken.contains(&class) {
                self.class(&class, self.reading.exceptions.contains(&node.path));
            }
            return Expression::text(class);
        }
        if self.reading.raised.contains(&node.path) && node.attributes.is_empty() {
            return Expression::text(format!("Exception({})", python_string(&hint(&node.path))));
        }
        if parts.is_mapping {
            let entries = keys(node).unwrap_or_default().into_iter().zip(&node.items);
            let entries = entries.map(|(key, (_, item))| (key, self.value(item, name))).collect();
            return Expression::dict(entries);
        }
        match (parts.is_called, parts.attributes.is_empty(), parts.special) {
            (true, true, false) => self.function(node),
            (false, false, false) => {
                let items = self.attributes(node, &parts.attributes);
                self.imports.insert("from types import SimpleNamespace".into());
                Expression::call("SimpleNamespace", items)
            }
            (false, true, false) => self.bare(node),
            (false, true, true) if node.length.is_some() && node.truth != Some(false) => self.sequence(node, name),
            _ => self.mock(node, name),
        }
    }

    /// An object of which nothing is asked.
    fn bare(&mut self, node: &Node) -> Expression {
        match node.value {
            Some(Recipe::Versatile(AbstractValue::Callable)) => Expression::text("lambda *args, **kwargs: None"),
            Some(Recipe::Versatile(AbstractValue::Resource)) => {
                self.imports.insert("from contextlib import nullcontext".into());
                Expression::text("nullcontext()")
            }
            _ => Expression::text("object()"),
        }
    }

    fn sequence(&mut self, node: &Node, name: &str) -> Expression {
        let count = node.length.unwrap_or_default().min(20);
        let item = |writer: &mut Self, index: usize| {
            let known = node.items.iter().find(|(key, _)| *key == index.to_string());
            known.map_or_else(|| Expression::text("object()"), |(_, item)| writer.value(item, name))
        };
        Expression::list((0..count).map(|index| item(self, index)).collect())
    }

    fn attributes(&mut self, node: &Node, names: &[String]) -> Vec<(String, Expression)> {
        let of = |name: &String| node.attributes.iter().find(|(known, _)| known == name);
        names.iter().filter_map(of).map(|(name, attribute)| (format!("{name}="), self.value(attribute, name))).collect()
    }

    fn function(&mut self, node: &Node) -> Expression {
        if let Some(result) = self.constant_result(node) {
            let before = format!("lambda {}: ", arguments(node));
            return match result {
                Expression::Text(text) => Expression::text(before + &text),
                Expression::Group { open, items, close } => Expression::Group { open: before + &open, items, close },
            };
        }
        self.mock(node, "")
    }

    /// An instance of a class that the prefix defines.
    fn instance(&mut self, class: &str, node: &Node, name: &str) -> Expression {
        if !self.taken.contains(class) && !is_builtin(class) && !self.is_imported(class) {
            self.class(class, self.reading.exceptions.contains(class));
        }
        let mut variable = lower(if name.is_empty() { class } else { name });
        while self.taken.contains(&variable) && variable != name {
            variable.push('_');
        }
        let names: Vec<String> =
            node.attributes.iter().map(|(name, _)| name.clone()).filter(|name| is_identifier(name)).collect();
        if names.is_empty() {
            return Expression::text(format!("{class}()"));
        }
        let attributes = self.attributes(node, &names);
        self.body.push(format!("{variable} = {class}()"));
        for (attribute, value) in attributes {
            let before = format!("{variable}.{} = ", attribute.trim_end_matches('='));
            self.body.push(value.written(&before, 0));
        }
        self.taken.insert(variable.clone());
        Expression::text(variable)
    }

    /// An object that takes whatever is asked of it, with what is known of it set.
    fn mock(&mut self, node: &Node, name: &str) -> Expression {
        self.imports.insert(MOCK.into());
        let names: Vec<String> = node
            .attributes
            .iter()
            .map(|(name, _)| name.clone())
            .filter(|name| is_identifier(name) && !(name.starts_with("__") && name.ends_with("__")))
            .collect();
        let mut items = self.attributes(node, &names);
        match node.calls.as_slice() {
            [] => {}
            [(_, only)] if only.raises.is_none() && only.awaited.is_none() => {
                let result = self.value(only, name);
                items.insert(0, ("return_value=".into(), result));
            }
            calls => {
                let results = calls.iter().map(|(_, result)| self.outcome(result)).collect::<Vec<_>>();
                let is_one = results.len() == 1;
                let effect = match results.into_iter().next() {
                    Some(only) if is_one => only,
                    _ => Expression::list(calls.iter().map(|(_, result)| self.outcome(result)).collect()),
                };
                items.insert(0, ("side_effect=".into(), effect));
            }
        }
        let mut special: Vec<(String, Expression)> = Vec::new();
        if node.truth == Some(false) {
            special.push(("'__bool__.return_value': ".into(), Expression::text("False")));
        }
        if node.length.is_some() {
            special.push(("'__iter__.return_value': ".into(), self.sequence(node, name)));
            special.push(("'__len__.return_value': ".into(), Expression::text(node.length.unwrap_or(0).to_string())));
        }
        if let (Some(keys), false) = (keys(node), node.items.is_empty()) {
            let entries =
                keys.into_iter().zip(&node.items).map(|(key, (_, item))| (key, self.value(item, name))).collect();
            let Expression::Group { items, close, .. } = Expression::dict(entries) else {
                return Expression::text("None");
            };
            let _ = close;
            special.push((
                "'__getitem__.side_effect': ".into(),
                Expression::Group { open: "{".into(), items, close: "}.get" },
            ));
        }
        if let Some(number) = node.number {
            special.push(("'__int__.return_value': ".into(), Expression::text(number.to_string())));
        }
        if !special.is_empty() {
            items.push(("**".into(), Expression::Group { open: "{".into(), items: special, close: "}" }));
        }
        Expression::call("MagicMock", items)
    }

    /// What a call gives or raises.
    fn outcome(&mut self, node: &Node) -> Expression {
        match &node.raises {
            Some(class) => self.raised(class),
            None => self.value(node, &hint(&node.path)),
        }
    }

    fn raised(&mut self, class: &str) -> Expression {
        let name = class.rsplit('.').next().unwrap_or(class).to_owned();
        if !is_builtin(&name) && !self.taken.contains(&name) && is_identifier(&name) && !self.is_imported(&name) {
            self.class(&name, true);
        }
        Expression::text(name)
    }

    fn literal(&mut self, value: &Recipe, node: &Node, name: &str) -> Expression {
        let inner = |writer: &mut Self, key: &str, item: &Recipe| {
            let known = node.items.iter().find(|(own, _)| own == key).map(|(_, node)| node.clone());
            let mut of_item = known.unwrap_or_default();
            of_item.value = Some(item.clone());
            writer.value(&of_item, name)
        };
        let all = |writer: &mut Self, items: &[Recipe]| {
            (0..)
                .zip(items)
                .map(|(index, item): (usize, _)| inner(writer, &index.to_string(), item))
                .collect::<Vec<_>>()
        };
        match value {
            Recipe::List(items) => Expression::list(all(self, items)),
            Recipe::Tuple(items) => Expression::tuple(all(self, items)),
            Recipe::Set(items) => Expression::set(all(self, items)),
            Recipe::Dict(entries) => {
                let entry = |(key, item): &(Recipe, Recipe)| {
                    let key_text = key.display();
                    let written = self.value(&Node { value: Some(key.clone()), ..Node::default() }, name).flat();
                    (written, inner(self, &key_text, item))
                };
                Expression::dict(entries.iter().map(entry).collect())
            }
            Recipe::Float(value) if !value.is_finite() => {
                let text = if value.is_nan() {
                    "nan"
                } else if *value > 0.0 {
                    "inf"
                } else {
                    "-inf"
                };
                Expression::text(format!("float('{text}')"))
            }
            Recipe::Made(call) => self.made(call),
            other => Expression::text(other.display()),
        }
    }

    /// A value of a class of a library.
    fn made(&mut self, call: &Made) -> Expression {
        let written = written_class(&call.class).into_owned();
        if let Some((module, short)) = call.class.split_once('.').and_then(|(module, _)| {
            let short = written.split_once('.')?.0;
            Some((module, short.to_owned()))
        }) && module != "builtins"
        {
            let import =
                if short == module { format!("import {module}") } else { format!("import {module} as {short}") };
            self.imports.insert(import);
        }
        let plain = |writer: &mut Self, value: &Recipe| writer.literal(value, &Node::default(), "");
        let arguments = call.arguments.iter().map(|value| (String::new(), plain(self, value))).collect::<Vec<_>>();
        let keywords =
            call.keywords.iter().map(|(name, value)| (format!("{name}="), plain(self, value))).collect::<Vec<_>>();
        Expression::call(&written, arguments.into_iter().chain(keywords).collect())
    }
}

/// What an object has to be able to do.
#[derive(Debug, Clone)]
struct Parts {
    /// It is no plain value.
    is_object: bool,
    /// A dictionary does all that is asked of it.
    is_mapping: bool,
    attributes: Vec<String>,
    is_called: bool,
    /// Python's operations are asked of it.
    special: bool,
}

/// The parameters of a function that takes whatever it is called with.
fn arguments(_: &Node) -> &'static str {
    "*args, **kwargs"
}

/// The keys of the items, as source, if all are literals.
fn keys(node: &Node) -> Option<Vec<String>> {
    let key = |(key, _): &(String, Node)| {
        let is_literal =
            text_of(key).is_some() || key.parse::<f64>().is_ok() || matches!(key.as_str(), "None" | "True" | "False");
        is_literal.then(|| text_of(key).map_or_else(|| key.clone(), python_string))
    };
    node.items.iter().map(key).collect()
}

/// A name for what stands at a path: its last word.
fn hint(path: &str) -> String {
    let word = AccessPath::new(path).before_brackets().last_word().to_owned();
    if is_identifier(&word) { word } else { "value".into() }
}

fn lower(name: &str) -> String {
    let mut out = String::new();
    for (position, character) in name.chars().enumerate() {
        if character.is_uppercase() && position > 0 && !out.ends_with('_') {
            out.push('_');
        }
        out.extend(character.to_lowercase());
    }
    out
}
