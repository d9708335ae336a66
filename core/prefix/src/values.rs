//! Values as Python expressions: literals where they serve, then small objects with what is asked of them, and mocks.

use std::collections::{BTreeMap, BTreeSet};

use twincell_sketch::environment::Node;
use twincell_sketch::natural;
use twincell_syntax::python::{is_builtin, is_identifier, python_float, python_string};
use twincell_values::path::{AccessPath, text_of};
use twincell_values::value::{AbstractValue, ConstructorCall, Recipe, library, written_class};

use crate::callers;
use crate::code::{Code, MOCK, Statement, TypeCounts};
use crate::import::Import;
use crate::import::Imported;
use crate::layout::{Expression, entries};
use crate::lessons::Lessons;
use crate::reading::Reading;
use crate::signatures::{ANY, function_at};
use crate::stand_in::fake;

/// The maximum number of calls of an object whose results are written one by one.
const EACH: usize = 20;

/// Writes a prefix. Values may need imports, classes and variables before them.
pub(crate) struct Writer<'a> {
    pub(crate) reading: &'a Reading,
    pub(crate) lessons: &'a Lessons,
    written: PrefixDraft,
    /// The name to which the next value is assigned.
    target: Option<String>,
}

/// What was written so far.
#[derive(Debug, Clone, Default, PartialEq)]
struct PrefixDraft {
    code: Code,
    /// The values of the statement that is being written.
    makes: TypeCounts,
    /// The names that are bound.
    taken: BTreeSet<String>,
    /// The names of classes by the access paths at which the snippet finds them.
    classes: BTreeMap<String, String>,
    /// The function that gives items to `async for`.
    each: Option<String>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(reading: &'a Reading, lessons: &'a Lessons) -> Self {
        Self { reading, lessons, written: PrefixDraft::default(), target: None }
    }

    pub(crate) fn finish(self) -> Code {
        self.written.code
    }

    pub(crate) fn import(&mut self, import: Import) {
        self.written.code.imports.insert(import);
    }

    /// Says that a name is bound. Returns whether it was not.
    pub(crate) fn take(&mut self, name: &str) -> bool {
        self.written.taken.insert(name.to_owned())
    }

    pub(crate) fn is_taken(&self, name: &str) -> bool {
        self.written.taken.contains(name)
    }

    pub(crate) fn is_imported(&self, name: &str) -> bool {
        self.written.code.imports.iter().any(|import| import.bound() == name)
    }

    pub(crate) fn line(&mut self, text: impl Into<String>) {
        let makes = std::mem::take(&mut self.written.makes);
        self.statement(Statement::line(text, makes));
    }

    pub(crate) fn block(&mut self, text: impl Into<String>) {
        let makes = std::mem::take(&mut self.written.makes);
        self.statement(Statement::block(text, makes));
    }

    /// Notes that the statement that is being written makes a value of this type.
    pub(crate) fn makes(&mut self, kind: &str) {
        *self.written.makes.entry(kind.to_owned()).or_default() += 1;
    }

    pub(crate) fn statement(&mut self, statement: Statement) {
        self.written.code.statements.push(statement);
    }

    /// `target = value`.
    pub(crate) fn assign(&mut self, target: &str, value: &Expression) {
        // It was assigned when it was made.
        if matches!(value, Expression::Text(text) if text == target) {
            return;
        }
        self.line(value.written(&format!("{target} = "), 0));
    }

    pub(crate) fn class(&mut self, name: &str, is_exception: bool) {
        let base = match is_exception {
            true if name.ends_with("Warning") => "(Warning)",
            true => "(Exception)",
            false => "",
        };
        self.makes("type");
        let body = match self.reading.initialised.contains(name) {
            true => "def __init__(self, *args, **kwargs):\n        pass",
            false => "pass",
        };
        self.block(format!("class {name}{base}:\n    {body}"));
        self.take(name);
    }

    /// An object that takes whatever is asked of it.
    pub(crate) fn plain_mock(&mut self) -> Expression {
        self.mock_of(vec![])
    }

    fn mock_of(&mut self, items: Vec<(String, Expression)>) -> Expression {
        self.import(Import::of_mocks());
        self.makes(MOCK);
        Expression::call(MOCK, items)
    }

    /// A function that gives the same to all calls, if it is one: its result.
    pub(crate) fn constant_result(&mut self, node: &Node) -> Option<Expression> {
        let is_function = matches!(node.value, None | Some(Recipe::Mock(_)));
        let is_bare = node.attributes.is_empty() && node.items.is_empty() && node.length.is_none();
        let is_bare = is_bare && node.gives.is_empty();
        let ((_, first), rest) = node.calls.split_first().filter(|_| is_function && is_bare)?;
        if node.calls.iter().any(|(_, result)| result.raises.is_some() || result.awaited.is_some()) {
            return None;
        }
        let name = hint(&first.path);
        // Each result is written from the same state, so that equal ones need the same statements before them.
        let before = self.written.clone();
        let result = self.value(first, &name);
        let with_first = std::mem::replace(&mut self.written, before.clone());
        for (_, other) in rest {
            let other = self.value(other, &name);
            let with_other = std::mem::replace(&mut self.written, before.clone());
            if other != result || with_other != with_first {
                return None;
            }
        }
        self.written = with_first;
        Some(result)
    }

    /// The value of a name at the top level.
    pub(crate) fn value_of(&mut self, name: &str, node: &Node) -> Expression {
        self.target = Some(name.to_owned());
        let value = self.value(node, name);
        self.target = None;
        value
    }

    /// What an object has to be able to do.
    fn parts(&self, node: &Node) -> Parts {
        let is_object = matches!(node.value, None | Some(Recipe::Mock(_)));
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

    /// A value. `name` is what the code calls it.
    pub(crate) fn value(&mut self, node: &Node, name: &str) -> Expression {
        let target = self.target.take();
        let parts = self.parts(node);
        if self.lessons.mocked.contains(&node.path) {
            return self.mock(node, name);
        }
        if node.is_iterated_async && node.attributes.is_empty() && node.calls.is_empty() {
            let each = self.each();
            let items = self.value(&Node { is_iterated_async: false, ..node.clone() }, name);
            return Expression::call(&each, vec![(String::new(), items)]);
        }
        if node.decorates || !node.gives.is_empty() && node.attributes.is_empty() {
            return callers::write(self, node, name, target.as_deref());
        }
        if !parts.is_object {
            return node
                .value
                .as_ref()
                .map_or_else(|| Expression::text("None"), |value| self.literal(value, node, name));
        }
        let tested = node.instances.iter().filter(|(_, truth)| *truth).map(|(class, _)| class);
        for class in tested.chain(&node.class) {
            if let Some(written) = self.class_of(class) {
                return self.instance(&written, &hint(class), node, target.as_deref(), name);
            }
        }
        if self.reading.types.contains(&node.path) && node.attributes.is_empty() {
            self.makes("type");
            return Expression::text("object");
        }
        if self.reading.exceptions.contains(&node.path) || self.reading.classes.contains(&node.path) {
            let class = self.class_at(&node.path);
            return Expression::text(class);
        }
        if self.reading.raised.contains(&node.path) && node.attributes.is_empty() {
            self.makes("Exception");
            return Expression::text(format!("Exception({})", python_string(&hint(&node.path))));
        }
        let is_entered = node.entered.is_some() && (!parts.attributes.is_empty() || node.entered == Some(true));
        if is_entered || node.contains.is_some() {
            let first = if parts.attributes.iter().any(|name| name.starts_with("status")) { "Response" } else { name };
            let class = self.fresh(&class_name(first));
            self.take(&class);
            fake(self, &class, vec![], node, None);
            return Expression::text(format!("{class}()"));
        }
        if is_row(node, &parts) {
            return self.sequence(node, name);
        }
        if parts.is_mapping {
            let entries = keys(node).unwrap_or_default().into_iter().zip(&node.items);
            self.makes("dict");
            let entries = entries.map(|(key, (_, item))| (key, self.value(item, name))).collect();
            return Expression::dict(entries);
        }
        if let (true, true, false, [(_, result)]) =
            (parts.is_called, parts.attributes.is_empty(), parts.special, node.calls.as_slice())
            && let (Some(awaited), None) = (&result.awaited, result.entered)
        {
            let value = self.value(awaited, name);
            self.import(Import::name("unittest.mock", "AsyncMock"));
            self.makes("AsyncMock");
            return Expression::call("AsyncMock", vec![("return_value=".into(), value)]);
        }
        match (parts.is_called, parts.attributes.is_empty(), parts.special) {
            (true, true, false) => self.function(node, target),
            (false, false, false) => {
                let items = self.attributes(node, &parts.attributes);
                self.import(Import::name("types", "SimpleNamespace"));
                self.makes("SimpleNamespace");
                Expression::call("SimpleNamespace", keywords(items))
            }
            (false, true, false) => self.bare(node),
            (false, true, true) if node.length.is_some() && node.truth != Some(false) => self.sequence(node, name),
            _ => self.mock(node, name),
        }
    }

    /// A function that gives items to `async for`.
    fn each(&mut self) -> String {
        if let Some(each) = &self.written.each {
            return each.clone();
        }
        let each = self.fresh("each");
        self.take(&each);
        self.makes("function");
        self.block(format!("async def {each}(items):\n    for item in items:\n        yield item"));
        self.written.each = Some(each.clone());
        each
    }

    /// An object of which nothing is asked.
    fn bare(&mut self, node: &Node) -> Expression {
        match node.value {
            Some(Recipe::Mock(AbstractValue::Callable)) => {
                self.makes("function");
                Expression::text("None").behind(&self.lambda(&node.path))
            }
            Some(Recipe::Mock(AbstractValue::Resource)) => {
                self.import(Import::name("contextlib", "nullcontext"));
                self.makes("nullcontext");
                Expression::text("nullcontext()")
            }
            _ if node.entered == Some(false) => {
                self.import(Import::name("contextlib", "nullcontext"));
                self.makes("nullcontext");
                Expression::text("nullcontext()")
            }
            // Of classes, the plainest.
            _ if natural::promises_class(&hint(&node.path)) && !node.path.ends_with(')') => {
                self.makes("type");
                Expression::text("object")
            }
            _ if self.reading.assigned.contains(&node.path) => {
                self.import(Import::name("types", "SimpleNamespace"));
                self.makes("SimpleNamespace");
                Expression::text("SimpleNamespace()")
            }
            _ => self.plain_object(),
        }
    }

    pub(crate) fn plain_object(&mut self) -> Expression {
        self.makes("object");
        Expression::text("object()")
    }

    fn sequence(&mut self, node: &Node, name: &str) -> Expression {
        let count = node.length.unwrap_or_default().min(20);
        let item = |writer: &mut Self, index: usize| {
            let known = node.items.iter().find(|(key, _)| *key == index.to_string());
            match known {
                Some((_, item)) => writer.value(item, name),
                None => writer.plain_object(),
            }
        };
        self.makes("list");
        Expression::list((0..count).map(|index| item(self, index)).collect())
    }

    /// Attributes with their values.
    fn attributes(&mut self, node: &Node, names: &[String]) -> Vec<(String, Expression)> {
        let of = |name: &String| node.attributes.iter().find(|(known, _)| known == name);
        names.iter().filter_map(of).map(|(name, attribute)| (name.clone(), self.value(attribute, name))).collect()
    }

    /// A function. `target` is the name that it will have anyway.
    fn function(&mut self, node: &Node, target: Option<String>) -> Expression {
        if let [(_, Node { raises: Some(class), .. })] = node.calls.as_slice()
            && let Some(class) = self.class_of_raised(class)
        {
            let name = target.unwrap_or_else(|| self.fresh(&hint(&node.path)));
            self.take(&name);
            self.makes("function");
            let parameters = self.parameters(&node.path);
            self.block(format!("def {name}({parameters}):\n    raise {class}('failure')"));
            return Expression::text(name);
        }
        match self.constant_result(node) {
            Some(result) => {
                self.makes("function");
                result.behind(&self.lambda(&node.path))
            }
            None => self.mock(node, ""),
        }
    }

    /// `def name(...)` that gives the same to all calls.
    pub(crate) fn define(&mut self, name: &str, result: &Expression) {
        let is_none = matches!(result, Expression::Text(text) if text == "None");
        let body = if is_none { "pass".to_owned() } else { result.written("return ", 1) };
        self.makes("function");
        let parameters = self.parameters(name);
        self.block(format!("def {name}({parameters}):\n    {body}"));
    }

    /// Whether the function at an access path is written with parameters of its own.
    pub(crate) fn has_signature(&self, path: &str) -> bool {
        self.parameters(path) != ANY
    }

    /// The parameters of the function at an access path.
    pub(crate) fn parameters(&self, path: &str) -> String {
        let function = function_at(path);
        let is_known = self.lessons.signatures.contains(&function);
        let known = self.reading.signatures.parameters(&function).filter(|_| is_known);
        known.unwrap_or_else(|| ANY.to_owned())
    }

    /// The same for a method.
    pub(crate) fn parameters_of_method(&self, path: &str) -> String {
        match self.parameters(path) {
            none if none.is_empty() => "self".to_owned(),
            parameters => format!("self, {parameters}"),
        }
    }

    /// What stands before the result of a function without a name.
    pub(crate) fn lambda(&self, path: &str) -> String {
        match self.parameters(path) {
            none if none.is_empty() => "lambda: ".to_owned(),
            parameters => format!("lambda {parameters}: "),
        }
    }

    /// The name of the class that stands at an access path, defined if need be.
    fn class_at(&mut self, path: &str) -> String {
        if let Some(name) = self.written.classes.get(path) {
            return name.clone();
        }
        let name = self.fresh(&class_name(&hint(path)));
        self.class(&name, self.reading.exceptions.contains(path));
        self.written.classes.insert(path.to_owned(), name.clone());
        name
    }

    /// A name that means nothing else, like the given one.
    pub(crate) fn fresh(&self, name: &str) -> String {
        let mut name = name.to_owned();
        let is_used = |name: &String| {
            self.written.taken.contains(name)
                || self.reading.undefined.contains(name)
                || self.reading.bound.is_local(name)
                || self.is_imported(name)
                || is_builtin(name)
                || !is_identifier(name)
        };
        while is_used(&name) {
            name.push('_');
        }
        name
    }

    /// The expression for a class that the snippet calls `class`. The prefix defines it if nothing else does. `None` if
    /// the snippet writes it in another form than a name with dots.
    pub(crate) fn class_of(&mut self, class: &str) -> Option<String> {
        let (root, rest) = AccessPath::new(class).split_root();
        if !class.split('.').all(is_identifier) {
            return None;
        }
        if let Some(Imported { module, name }) = self.reading.imported.get(root).filter(|_| !self.is_imported(root)) {
            let inner: Vec<&str> =
                name.iter().map(String::as_str).chain(rest.split('.').filter(|part| !part.is_empty())).collect();
            if inner.is_empty() {
                return None;
            }
            let holder = if self.lessons.common.modules.contains(module) {
                mocked_module(module)
            } else {
                self.import(Import::module(module));
                module.clone()
            };
            return Some(format!("{holder}.{}", inner.join(".")));
        }
        if !rest.is_empty() {
            return self.reading.classes.contains(class).then(|| self.class_at(class));
        }
        if !self.written.taken.contains(class) && !is_builtin(class) && !self.is_imported(class) {
            self.class(class, self.reading.exceptions.contains(class));
        }
        Some(class.to_owned())
    }

    /// The same for a class of exceptions, which may be a builtin or imported.
    pub(crate) fn exception(&mut self, class: &str) -> Option<String> {
        let (root, _) = AccessPath::from(class).split_root();
        if is_builtin(class) || self.is_imported(root) {
            return Some(class.to_owned());
        }
        self.class_of(class)
    }

    /// The same for one that the snippet may find in something missing.
    fn class_of_raised(&mut self, class: &str) -> Option<String> {
        let is_inner = class.contains('.') && self.reading.exceptions.contains(class);
        let (root, _) = AccessPath::from(class).split_root();
        if is_inner && self.reading.undefined.iter().any(|name| name == root) {
            return Some(self.class_at(class));
        }
        self.exception(class)
    }

    /// An instance of a class: its expression, and its last name. `target` is the name that it will have anyway.
    fn instance(&mut self, class: &str, short: &str, node: &Node, target: Option<&str>, name: &str) -> Expression {
        let names: Vec<String> =
            node.attributes.iter().map(|(name, _)| name.clone()).filter(|name| is_identifier(name)).collect();
        self.makes(short);
        if names.is_empty() {
            return Expression::text(format!("{class}()"));
        }
        let variable = match target {
            Some(target) => target.to_owned(),
            // One of several.
            None if name.is_empty() || natural::is_plural(name) => self.fresh(&lower(short)),
            None => self.fresh(&lower(name)),
        };
        self.take(&variable);
        let attributes = self.attributes(node, &names);
        self.line(format!("{variable} = {class}()"));
        for (attribute, value) in attributes {
            self.assign(&format!("{variable}.{attribute}"), &value);
        }
        Expression::text(variable)
    }

    /// An object that takes whatever is asked of it, with what is known of it set.
    fn mock(&mut self, node: &Node, name: &str) -> Expression {
        let names: Vec<String> = node
            .attributes
            .iter()
            .map(|(name, _)| name.clone())
            .filter(|name| is_identifier(name) && !(name.starts_with("__") && name.ends_with("__")))
            .collect();
        let mut items = keywords(self.attributes(node, &names));
        match node.calls.as_slice() {
            [] => {}
            [(_, only)] if only.raises.is_none() && only.awaited.is_none() => {
                let result = self.value(only, name);
                items.insert(0, ("return_value=".into(), result));
            }
            calls if calls.len() > EACH => {
                // So many calls are of a loop, which goes on as it ends.
                let last = &calls[calls.len() - 1].1;
                let (key, result) = match &last.raises {
                    Some(class) => ("side_effect=", self.raised(class)),
                    None => ("return_value=", self.value(last, &hint(&last.path))),
                };
                items.insert(0, (key.into(), result));
            }
            calls => {
                let mut results: Vec<Expression> = calls.iter().map(|(_, result)| self.outcome(result)).collect();
                let effect = if results.len() == 1 { results.remove(0) } else { Expression::list(results) };
                items.insert(0, ("side_effect=".into(), effect));
            }
        }
        let mut special: Vec<(String, Expression)> = Vec::new();
        if node.truth == Some(false) {
            special.push(("'__bool__.return_value'".into(), Expression::text("False")));
        }
        if node.length.is_some() {
            special.push(("'__iter__.return_value'".into(), self.sequence(node, name)));
            special.push(("'__len__.return_value'".into(), Expression::text(node.length.unwrap_or(0).to_string())));
        }
        if let (Some(keys), false) = (keys(node), node.items.is_empty()) {
            let items =
                keys.into_iter().zip(&node.items).map(|(key, (_, item))| (key, self.value(item, name))).collect();
            let of_keys = Expression::Group { open: "{".into(), items: entries(items), close: "}.get" };
            special.push(("'__getitem__.side_effect'".into(), of_keys));
        }
        if let Some(number) = node.number {
            special.push(("'__int__.return_value'".into(), Expression::text(number.to_string())));
        }
        if !special.is_empty() {
            items.push(("**".into(), Expression::dict(special)));
        }
        self.mock_of(items)
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
        if !is_builtin(&name) && !self.written.taken.contains(&name) && is_identifier(&name) && !self.is_imported(&name)
        {
            self.class(&name, true);
        }
        Expression::text(name)
    }

    fn literal(&mut self, value: &Recipe, node: &Node, name: &str) -> Expression {
        let inner = |writer: &mut Self, key: &str, item: &Recipe| {
            let known = node.items.iter().find(|(own, _)| own == key).map(|(_, node)| node.clone());
            let mut of_item = known.unwrap_or_default();
            of_item.value.get_or_insert_with(|| item.clone());
            writer.value(&of_item, name)
        };
        let all = |writer: &mut Self, items: &[Recipe]| {
            (0..)
                .zip(items)
                .map(|(index, item): (usize, _)| inner(writer, &index.to_string(), item))
                .collect::<Vec<_>>()
        };
        if let Some(kind) = plain_type(value) {
            self.makes(kind);
        }
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
                let entries = Expression::dict(entries.iter().map(entry).collect());
                self.with_default(entries, node, name)
            }
            Recipe::Float(value) => Expression::text(python_float(*value)),
            Recipe::Made(call) => {
                self.makes(&call.class);
                self.made(call)
            }
            other => Expression::text(other.display()),
        }
    }

    /// A dictionary that gives what it must for keys that nobody knows before the snippet runs.
    fn with_default(&mut self, entries: Expression, node: &Node, name: &str) -> Expression {
        let Some(default) = &node.default else { return entries };
        let factory = match &default.value {
            Some(Recipe::Int(_)) => Expression::text("int"),
            Some(Recipe::List(items)) if items.is_empty() => Expression::text("list"),
            Some(Recipe::Dict(entries)) if entries.is_empty() && default.default.is_none() => Expression::text("dict"),
            Some(Recipe::Set(items)) if items.is_empty() => Expression::text("set"),
            _ => self.value(default, name).behind("lambda: "),
        };
        self.import(Import::name("collections", "defaultdict"));
        let is_empty = matches!(node.value.as_ref(), Some(Recipe::Dict(entries)) if entries.is_empty());
        let mut arguments = vec![(String::new(), factory)];
        if !is_empty {
            arguments.push((String::new(), entries));
        }
        Expression::call("defaultdict", arguments)
    }

    /// A value of a class of a library.
    fn made(&mut self, call: &ConstructorCall) -> Expression {
        if let Some((before, behind)) = library::written_stream(&call.class) {
            let arguments = call.arguments.iter().map(Recipe::display).collect::<Vec<_>>().join(", ");
            return Expression::text(format!("{before}{arguments}{behind}"));
        }
        let mut written = written_class(&call.class);
        if let (Some((module, name)), Some((short, _))) = (call.class.split_once('.'), written.split_once('.'))
            && module != "builtins"
        {
            let import = if short == module { Import::module(module) } else { Import::aliased(module, short) };
            let mut imports = self.written.code.imports.iter();
            if !name.contains('.') && imports.any(|other| other.bound() == short && *other != import) {
                // `from datetime import datetime`
                self.import(Import::name(module, name));
                written = name.into();
            } else {
                self.import(import);
            }
        }
        let plain = |writer: &mut Self, value: &Recipe| writer.literal(value, &Node::default(), "");
        let arguments: Vec<_> = call.arguments.iter().map(|value| (String::new(), plain(self, value))).collect();
        let named = call.keywords.iter().map(|(name, value)| (name.clone(), plain(self, value))).collect();
        Expression::call(&written, arguments.into_iter().chain(keywords(named)).collect())
    }
}

/// The type of a value that is written as a literal.
fn plain_type(value: &Recipe) -> Option<&'static str> {
    Some(match value {
        Recipe::None => "NoneType",
        Recipe::Bool(_) => "bool",
        Recipe::Int(_) => "int",
        Recipe::Float(_) => "float",
        Recipe::Str(_) => "str",
        Recipe::Bytes(_) => "bytes",
        Recipe::List(_) => "list",
        Recipe::Tuple(_) => "tuple",
        Recipe::Dict(_) => "dict",
        Recipe::Set(_) => "set",
        _ => return None,
    })
}

/// Where the mock of a module stands.
pub(crate) fn mocked_module(module: &str) -> String {
    format!("sys.modules[{}]", python_string(module))
}

/// Arguments with their names before them.
fn keywords(named: Vec<(String, Expression)>) -> Vec<(String, Expression)> {
    named.into_iter().map(|(name, value)| (name + "=", value)).collect()
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

/// Whether it is a list of which items are known by their places, and nothing else is asked of it.
fn is_row(node: &Node, parts: &Parts) -> bool {
    let is_place = |(key, _): &(String, Node)| key.parse::<usize>().is_ok_and(|key| Some(key) < node.length);
    parts.is_object
        && parts.attributes.is_empty()
        && !parts.is_called
        && node.truth != Some(false)
        && !node.items.is_empty()
        && node.items.iter().all(is_place)
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

/// A name for the class of what the code calls so: `Connection` of `get_connection`.
fn class_name(word: &str) -> String {
    let what = ["get_", "make_", "create_", "open_", "new_", "build_"].iter().find_map(|verb| word.strip_prefix(verb));
    let capitalized = |word: &str| {
        let mut characters = word.chars();
        let first: String = characters.next().into_iter().flat_map(char::to_uppercase).collect();
        first + characters.as_str()
    };
    what.unwrap_or(word).split('_').map(capitalized).collect()
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
