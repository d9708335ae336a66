//! What a call requires of its arguments and its receiver: builtins, methods of texts, `isinstance`.

use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use twincell_syntax::python::{Conversion, conversion};
use twincell_syntax::site::SiteKind;

use super::collector::{Collector, Derivation, Holder, Link, place};
use super::conversions::NUMBERS;
use super::{Key, Uses, add_missing, forms};
use crate::reading::written::{builtin_class, literal, literal_members, named};
use crate::value::{AbstractValue, Recipe};

/// Bytes that are no text in UTF-8.
const UNDECODABLE: &[u8] = b"\xe9";

impl Collector {
    /// `isinstance(value, class)`.
    pub(super) fn note_tested(&mut self, value: &Expr, class: &Expr) {
        self.note(class, |uses| uses.class = true);
        let Expr::Name(name) = class else { return };
        if let Some(tested) = builtin_class(&name.id) {
            self.note(value, |uses| add_missing(&mut uses.tested, &[tested]));
        } else if name.id.as_str() == "type" {
            self.note(value, |uses| add_missing(&mut uses.candidates, &[Recipe::Named("int".into())]));
        } else if name.id.as_str() == "bytes" {
            self.note(value, |uses| add_missing(&mut uses.candidates, &[Recipe::Bytes(b"a".to_vec())]));
        }
    }

    pub(super) fn note_call(&mut self, node: &ruff_python_ast::ExprCall) {
        let arguments = &node.arguments;
        if let Some((subject, texts)) = self.surroundings.searched(node) {
            self.note(whole(subject), |uses| add_missing(&mut uses.matching, &texts));
        }
        if let Some((value, values)) = self.surroundings.looked_up(node) {
            let text = |value: &Recipe| if let Recipe::Str(text) = value { Some(text.clone()) } else { None };
            let texts: Vec<String> = values.iter().filter_map(text).collect();
            self.note(value, |uses| {
                add_missing(&mut uses.candidates, &values);
                add_missing(&mut uses.matching, &texts);
            });
        }
        if let Some((subject, texts)) = forms::parsed(node) {
            self.note(whole(subject), |uses| add_missing(&mut uses.matching, &texts));
        }
        if let (true, Some(subject)) = (forms::is_json(node), arguments.find_positional(0)) {
            self.link(subject, node, Derivation::Json);
        }
        self.note_helper(node);
        self.note_conversion(node);
        self.note_tasks(node);
        for keyword in &arguments.keywords {
            if keyword.arg.is_none() {
                self.note(&keyword.value, |uses| uses.mapping = true);
            }
        }
        let items = match (node.func.as_ref(), arguments.args.as_ref()) {
            (Expr::Name(name), [items]) if matches!(name.id.as_str(), "sorted" | "max" | "min") => Some(items),
            (Expr::Attribute(method), []) if method.attr.as_str() == "sort" => Some(method.value.as_ref()),
            _ => None,
        };
        if let (Some(items), Some(key)) = (items, arguments.find_keyword("key")) {
            self.note_function_of_items(items, &key.value);
        }
        if let (Expr::Name(name), [function, items]) = (node.func.as_ref(), arguments.args.as_ref())
            && matches!(name.id.as_str(), "map" | "filter")
        {
            self.note_function_of_items(items, function);
        }
        match node.func.as_ref() {
            Expr::Name(name) => self.note_builtin(node, &name.id),
            Expr::Attribute(attribute) => self.note_method(node, attribute),
            _ => {}
        }
    }

    /// A helper that gives a text may be given bytes, and such that are no text.
    fn note_conversion(&mut self, node: &ruff_python_ast::ExprCall) {
        let name = match node.func.as_ref() {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => return,
        };
        if let (Some(Conversion::Text), Some(value)) = (conversion(name), node.arguments.args.first()) {
            self.note(value, |uses| add_missing(&mut uses.candidates, &[Recipe::Bytes(UNDECODABLE.to_vec())]));
        }
    }

    /// Functions of `asyncio` await what they are given.
    fn note_tasks(&mut self, node: &ruff_python_ast::ExprCall) {
        let name = named(&node.func).unwrap_or_default();
        let values = node.arguments.args.as_ref();
        match (name.rsplit('.').next().unwrap_or_default(), values) {
            ("create_task" | "ensure_future" | "run_until_complete" | "wait_for" | "shield", [value, ..]) => {
                self.note(value, |uses| uses.awaited = true);
            }
            ("run", [value, ..]) if name == "asyncio.run" => self.note(value, |uses| uses.awaited = true),
            ("gather", values) => self.note_each_awaited(values),
            ("as_completed", [values, ..]) => self.note_items_awaited(values),
            ("wait", [values, ..]) if name == "asyncio.wait" => self.note_items_awaited(values),
            _ => {}
        }
    }

    fn note_each_awaited(&mut self, values: &[Expr]) {
        for value in values {
            match value {
                Expr::Starred(items) => self.note_items_awaited(&items.value),
                value => self.note(value, |uses| uses.awaited = true),
            }
        }
    }

    fn note_items_awaited(&mut self, items: &Expr) {
        match items {
            Expr::List(node) => self.note_each_awaited(&node.elts),
            Expr::Tuple(node) => self.note_each_awaited(&node.elts),
            Expr::Set(node) => self.note_each_awaited(&node.elts),
            Expr::ListComp(node) => self.note(&node.elt, |uses| uses.awaited = true),
            Expr::SetComp(node) => self.note(&node.elt, |uses| uses.awaited = true),
            Expr::Generator(node) => self.note(&node.elt, |uses| uses.awaited = true),
            other => self.note_element(other, |uses| uses.awaited = true),
        }
    }

    /// What a helper of the text does with what it is given.
    fn note_helper(&mut self, node: &ruff_python_ast::ExprCall) {
        let (name, is_method) = match node.func.as_ref() {
            Expr::Name(name) => (name.id.as_str(), false),
            Expr::Attribute(attribute) => (attribute.attr.as_str(), true),
            _ => return,
        };
        if !self.helpers.contains_key(name) {
            let Some(parameters) = self.surroundings.helper_parameters(name) else { return };
            self.helpers.insert(name.to_string(), parameters);
        }
        let parameters = &self.helpers[name];
        let skipped =
            usize::from(is_method && parameters.first().is_some_and(|(first, _)| first == "self" || first == "cls"));
        let given = node.arguments.args.iter().zip(&parameters[skipped..]);
        let named = node.arguments.keywords.iter().filter_map(|keyword| {
            let name = keyword.arg.as_ref()?;
            Some((&keyword.value, parameters.iter().find(|(own, _)| own == name.as_str())?))
        });
        let noted: Vec<(&Expr, Uses)> = given.chain(named).map(|(value, (_, uses))| (value, uses.clone())).collect();
        for (value, used) in noted {
            self.note(value, |uses| uses.merge(&used));
        }
    }

    /// What a builtin function requires of its arguments.
    fn note_builtin(&mut self, node: &ruff_python_ast::ExprCall, name: &str) {
        match (name, node.arguments.args.as_ref()) {
            ("issubclass", [value, class]) => {
                let classes = match class {
                    Expr::Tuple(classes) => classes.elts.as_slice(),
                    other => std::slice::from_ref(other),
                };
                for class in classes {
                    self.note(class, |uses| uses.class = true);
                }
                let mut known: Vec<Recipe> = classes.iter().filter_map(named).map(Recipe::Named).collect();
                known.push(Recipe::Named("int".into()));
                self.note(value, |uses| add_missing(&mut uses.candidates, &known));
            }
            ("isinstance", [value, Expr::Tuple(classes)]) => {
                for class in &classes.elts {
                    self.note_tested(value, class);
                }
            }
            ("isinstance", [value, class]) => self.note_tested(value, class),
            ("int" | "float", [value, ..]) => {
                self.note(value, |uses| {
                    uses.ordered = true;
                    uses.numeric = true;
                });
                if let Expr::Subscript(field) = value {
                    if field.slice.is_slice_expr() {
                        self.note(&field.value, |uses| uses.affixed = true);
                    }
                    self.note_element(&field.value, |uses| uses.numeric = true);
                }
            }
            ("map", [function, values @ ..]) => {
                if let [only] = values {
                    self.link(only, node, Derivation::Items);
                }
                let converts = matches!(function, Expr::Name(name) if matches!(name.id.as_str(), "int" | "float"));
                for value in values {
                    self.note(value, |uses| uses.iterated = true);
                    if converts {
                        self.note_element(value, |uses| uses.numeric = true);
                    }
                }
            }
            ("abs" | "round", [value, ..]) => self.note(value, |uses| uses.ordered = true),
            ("max" | "min", values) if values.len() > 1 => {
                for value in values {
                    self.note(value, |uses| uses.ordered = true);
                }
            }
            (
                "sorted" | "set" | "list" | "tuple" | "any" | "all" | "sum" | "enumerate" | "reversed" | "frozenset"
                | "iter" | "filter" | "zip" | "max" | "min",
                values,
            ) => {
                let skip = usize::from(name == "filter");
                let is_sum = name == "sum";
                for value in values.iter().skip(skip).take(if is_sum { 1 } else { values.len() }) {
                    self.note(value, |uses| uses.iterated = true);
                }
                if is_sum {
                    self.note_sum(values);
                }
            }
            ("range", values) => {
                for value in values {
                    self.note(value, |uses| add_missing(&mut uses.like, &[AbstractValue::Int]));
                }
            }
            // A mapping, or pairs.
            ("dict", [value]) => self.note(value, |uses| add_missing(&mut uses.keys, &[Key::Text])),
            ("len", [value]) => self.note(value, |uses| uses.iterated = true),
            _ => {}
        }
    }

    /// What a method requires of its receiver and its first argument.
    fn note_method(&mut self, node: &ruff_python_ast::ExprCall, attribute: &ruff_python_ast::ExprAttribute) {
        let method = attribute.attr.as_str();
        self.note_text_method(node, &attribute.value, method);
        let Some(first) = node.arguments.args.first() else { return };
        if matches!(method, "get" | "pop" | "index" | "count" | "__contains__") {
            self.note_constant(first, &attribute.value);
        }
        if let Some(value) = literal(first) {
            match method {
                "get" | "pop" | "setdefault" | "__getitem__" => self.note(&attribute.value, |uses| {
                    add_missing(&mut uses.key_candidates, &[value]);
                }),
                "startswith" | "endswith" | "find" | "index" | "split" | "rsplit" | "partition" | "rpartition"
                | "strip" | "lstrip" | "rstrip" | "replace" | "count" | "removeprefix" | "removesuffix" => {
                    self.note(&attribute.value, |uses| add_missing(&mut uses.candidates, &[value]));
                }
                _ => {}
            }
        }
        let members = literal_members(first);
        if matches!(method, "startswith" | "endswith") {
            self.note(&attribute.value, |uses| add_missing(&mut uses.candidates, &members));
        }
        if method == "join" {
            self.note(first, |uses| uses.iterated = true);
            if self.is_bytes(&attribute.value) {
                self.note_element(first, |uses| uses.bytes = true);
            }
        }
        // `{'yes': True}.get(x)` and `[...].count(x)` name values of x.
        let keys = literal_members(&attribute.value);
        self.note(first, |uses| add_missing(&mut uses.candidates, &keys));
    }
}

/// A literal at which a text or bytes are split.
fn separator(literal: Recipe) -> Option<String> {
    let text = match literal {
        Recipe::Str(text) => text,
        Recipe::Bytes(bytes) => String::from_utf8(bytes).ok()?,
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// The value that is sliced.
fn whole(expr: &Expr) -> &Expr {
    match expr {
        Expr::Subscript(part) if part.slice.is_slice_expr() => &part.value,
        other => other,
    }
}

/// Methods of texts that return a text, those that return a list of parts, and others that take a text of the same
/// kind.
const MAKING: [&str; 12] = [
    "strip",
    "lstrip",
    "rstrip",
    "lower",
    "upper",
    "casefold",
    "title",
    "capitalize",
    "swapcase",
    "removeprefix",
    "removesuffix",
    "expandtabs",
];
const HALVING: [&str; 2] = ["partition", "rpartition"];
const SPLITTING: [&str; 3] = ["split", "rsplit", "splitlines"];
const TAKING: [&str; 9] =
    ["startswith", "endswith", "find", "rfind", "partition", "rpartition", "replace", "count", "rindex"];

impl Collector {
    /// `sum(items, start)`: numbers, unless it starts with a literal of another class.
    pub(super) fn note_sum(&mut self, arguments: &[Expr]) {
        let [items, start @ ..] = arguments else { return };
        if start.iter().any(|start| !matches!(start, Expr::Name(_) | Expr::Attribute(_) | Expr::NumberLiteral(_))) {
            return;
        }
        match items {
            Expr::Generator(node) => self.note(&node.elt, |uses| add_missing(&mut uses.like, &NUMBERS)),
            Expr::ListComp(node) => self.note(&node.elt, |uses| add_missing(&mut uses.like, &NUMBERS)),
            other => self.note_element(other, |uses| add_missing(&mut uses.like, &NUMBERS)),
        }
        for start in start {
            self.note(start, |uses| add_missing(&mut uses.like, &NUMBERS));
        }
    }

    pub(super) fn note_element(&mut self, holder: &Expr, change: impl FnOnce(&mut Uses)) {
        self.note(whole(holder), |uses| change(uses.element.get_or_insert_default()));
    }

    pub(super) fn link(&mut self, value: &Expr, call: &ruff_python_ast::ExprCall, made: Derivation) {
        let holder = match whole(value) {
            Expr::Name(name) => Some(Holder::Name(name.id.to_string())),
            other => place(other).map(Holder::ExpressionKey),
        };
        let range = call.range();
        let call = (SiteKind::Call, range.start().to_u32(), range.end().to_u32());
        self.links.extend(holder.map(|holder| Link { holder, call, made }));
    }

    /// `x.strip()`, `x.split(',')`, `x.find(b'a')`.
    pub(super) fn note_text_method(&mut self, call: &ruff_python_ast::ExprCall, receiver: &Expr, method: &str) {
        let first = call.arguments.args.first();
        let splits = SPLITTING.contains(&method);
        if splits || MAKING.contains(&method) {
            self.link(receiver, call, if splits { Derivation::Fields } else { Derivation::Text });
        }
        if splits {
            let separator = match first.map(literal) {
                _ if method == "splitlines" => Some("\n".to_string()),
                None => Some(" ".to_string()),
                Some(literal) => literal.and_then(separator),
            };
            if let Some(separator) = separator {
                self.note(receiver, |uses| add_missing(&mut uses.separators, &[separator]));
            }
        }
        if let (true, Some(first)) = (HALVING.contains(&method), first) {
            self.link(receiver, call, Derivation::Halves);
            if let Some(separator) = literal(first).and_then(separator) {
                self.note(receiver, |uses| add_missing(&mut uses.separators, &[separator]));
            }
        }
        let takes = splits || MAKING.contains(&method) || TAKING.contains(&method);
        if takes && first.is_some_and(|first| self.is_bytes(first)) {
            self.note(receiver, |uses| uses.bytes = true);
        }
    }

    /// Whether this is certainly bytes.
    pub(super) fn is_bytes(&self, expr: &Expr) -> bool {
        match expr {
            Expr::BytesLiteral(_) => true,
            Expr::Name(name) => self.of_bytes.contains(name.id.as_str()),
            Expr::Call(call) => match call.func.as_ref() {
                Expr::Name(name) => matches!(name.id.as_str(), "bytes" | "bytearray"),
                Expr::Attribute(attribute) => match attribute.attr.as_str() {
                    "encode" | "tobytes" | "to_bytes" => true,
                    "join" => attribute.value.is_bytes_literal_expr(),
                    _ => false,
                },
                _ => false,
            },
            _ => false,
        }
    }
}
