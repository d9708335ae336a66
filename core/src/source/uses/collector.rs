//! Reads the uses of values off the syntax of one function.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{CmpOp, Expr, Number, Operator, Stmt, UnaryOp};
use ruff_text_size::{Ranged, TextRange};

use super::super::parse::{parse, with_stack_for};
use super::{Key, MAX_PARTS, Surroundings, Uses, add_missing};
use crate::site::SiteKind;
use crate::value::{AbstractValue, Recipe};

/// How far into a sum a literal is looked for: each term asks, so that without a bound long sums cost their square.
const SUM_DEPTH: u32 = 64;

pub(super) fn collect(text: &str, surroundings: &Surroundings) -> Collector {
    with_stack_for(text.len(), || {
        let mut collector = Collector { surroundings: surroundings.clone(), ..Collector::default() };
        for stmt in &parse(text).syntax().body {
            collector.visit_stmt(stmt);
        }
        collector.forget_locals();
        collector
    })
}

/// Kind and byte range of an expression.
pub(super) type Place = (SiteKind, u32, u32);

pub(super) enum FlowKind {
    Value,
    Element,
    /// One of the items, where it is unpacked; of what iterating gives.
    Part(usize),
    ElementPart(usize),
}

/// `local = value`, or `for local in value`.
pub(super) struct Flow {
    pub(super) local: String,
    pub(super) value: Place,
    pub(super) kind: FlowKind,
}

/// What a method is called on.
pub(super) enum Holder {
    Name(String),
    Place(Place),
}

/// What a call makes of a value.
#[derive(Clone, Copy)]
pub(super) enum Made {
    /// A text of a text.
    Text,
    /// The fields of a text.
    Fields,
    /// As many items as it has.
    Items,
}

/// A call that makes something of a value which is used as that is.
pub(super) struct Link {
    pub(super) holder: Holder,
    pub(super) call: Place,
    pub(super) made: Made,
}

#[derive(Default)]
pub(super) struct Collector {
    /// Uses of names, wherever they stand: assigned to (`x += 'a'`) as well as read.
    pub(super) names: BTreeMap<String, Uses>,
    /// Uses of other expressions by place.
    pub(super) found: BTreeMap<Place, Uses>,
    pub(super) flows: Vec<Flow>,
    pub(super) links: Vec<Link>,
    /// How often each name is bound, parameters aside.
    pub(super) bound: BTreeMap<String, u32>,
    pub(super) parameters: BTreeSet<String>,
    /// Locals that hold bytes.
    of_bytes: BTreeSet<String>,
    /// What is known of the text around, and patterns that are compiled here.
    surroundings: Surroundings,
}

impl Collector {
    /// What a local stands for is no constant.
    fn forget_locals(&mut self) {
        let Self { names, found, bound, parameters, .. } = self;
        let is_local = |name: &str| {
            let first = name.split('.').next().unwrap_or(name);
            bound.contains_key(first) || parameters.contains(first)
        };
        for uses in names.values_mut().chain(found.values_mut()) {
            uses.candidates.retain(|value| !matches!(value, Recipe::Named(name) if is_local(name)));
        }
    }

    fn note(&mut self, expr: &Expr, change: impl FnOnce(&mut Uses)) {
        if let Expr::Name(name) = expr {
            change(self.names.entry(name.id.to_string()).or_default());
        } else if let Some(place) = place(expr) {
            change(self.found.entry(place).or_default());
        }
    }

    fn note_target(&mut self, target: &Expr, value: &Expr, is_element: bool) {
        let Some(place) = place(value) else { return };
        match target {
            Expr::Name(name) => {
                let kind = if is_element { FlowKind::Element } else { FlowKind::Value };
                self.flows.push(Flow { local: name.id.to_string(), value: place, kind });
            }
            Expr::Tuple(_) | Expr::List(_) => {
                let elements = match target {
                    Expr::Tuple(tuple) => &tuple.elts,
                    Expr::List(list) => &list.elts,
                    _ => return,
                };
                let unpacked = Uses {
                    unpacked: u8::try_from(elements.len()).ok().filter(|_| !elements.iter().any(Expr::is_starred_expr)),
                    iterated: true,
                    ..Uses::default()
                };
                let used =
                    if is_element { Uses { element: Some(Box::new(unpacked)), ..Uses::default() } } else { unpacked };
                self.note(value, |uses| uses.merge(&used));
                for (index, element) in
                    elements.iter().enumerate().take(MAX_PARTS).take_while(|(_, part)| !part.is_starred_expr())
                {
                    if let Expr::Name(name) = element {
                        let kind = if is_element { FlowKind::ElementPart(index) } else { FlowKind::Part(index) };
                        self.flows.push(Flow { local: name.id.to_string(), value: place, kind });
                    }
                }
            }
            _ => {}
        }
    }

    /// `side + other`: what `other` is written as, `side` is too.
    fn note_like(&mut self, side: &Expr, other: &Expr) {
        self.note_like_sum(side, other, SUM_DEPTH);
    }

    fn note_like_sum(&mut self, side: &Expr, other: &Expr, depth: u32) {
        let class = match other {
            Expr::StringLiteral(_) | Expr::FString(_) => AbstractValue::Str,
            Expr::List(_) | Expr::ListComp(_) => AbstractValue::List,
            Expr::Tuple(_) => AbstractValue::Tuple,
            other if self.is_bytes(other) => return self.note(side, |uses| uses.bytes = true),
            Expr::BinOp(node) if node.op == Operator::Add && depth > 0 => {
                // The type of a sum is that of any of its literals.
                self.note_like_sum(side, &node.left, depth - 1);
                return self.note_like_sum(side, &node.right, depth - 1);
            }
            _ => return,
        };
        self.note(side, |uses| add_missing(&mut uses.like, &[class]));
    }

    fn note_compare(&mut self, left: &Expr, op: CmpOp, right: &Expr) {
        match op {
            CmpOp::In | CmpOp::NotIn => {
                if let Some(value) = literal(left) {
                    self.note(right, |uses| {
                        add_missing(&mut uses.candidates, std::slice::from_ref(&value));
                        add_missing(&mut uses.key_candidates, &[value]);
                    });
                }
                let members = members(right);
                self.note(left, |uses| add_missing(&mut uses.candidates, &members));
            }
            CmpOp::Is | CmpOp::IsNot | CmpOp::Eq | CmpOp::NotEq => {
                let is_identity = matches!(op, CmpOp::Is | CmpOp::IsNot);
                for (side, other) in [(left, right), (right, left)] {
                    let named = || named(other).filter(|name| is_identity || is_constant(name)).map(Recipe::Named);
                    if let Some(value) = literal(other).or_else(named) {
                        self.note(side, |uses| add_missing(&mut uses.candidates, &[value]));
                    }
                    if self.is_bytes(other) {
                        self.note(side, |uses| uses.bytes = true);
                    }
                }
            }
            CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE => {
                for (side, other) in [(left, right), (right, left)] {
                    let value = literal(other);
                    self.note(side, |uses| {
                        uses.ordered = true;
                        if let Some(value) = value {
                            add_missing(&mut uses.candidates, &[value]);
                        }
                    });
                }
            }
        }
    }
}

impl<'a> Visitor<'a> for Collector {
    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::For(node) => {
                self.note(&node.iter, |uses| uses.iterated = true);
                self.note_target(&node.target, &node.iter, true);
            }
            Stmt::With(node) => {
                for item in &node.items {
                    self.note(&item.context_expr, |uses| uses.entered = true);
                }
            }
            Stmt::Raise(node) => {
                if let Some(raised) = &node.exc {
                    self.note(raised, |uses| uses.exception = true);
                    if let Expr::Call(call) = raised.as_ref() {
                        self.note(&call.func, |uses| uses.exception = true);
                    }
                }
            }
            Stmt::Try(node) => {
                for handler in &node.handlers {
                    let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
                    match handler.type_.as_deref() {
                        Some(Expr::Tuple(tuple)) => {
                            for item in &tuple.elts {
                                self.note(item, |uses| uses.exception = true);
                            }
                        }
                        Some(class) => self.note(class, |uses| uses.exception = true),
                        None => {}
                    }
                }
            }
            Stmt::Assign(node) => {
                self.surroundings.note(&node.targets, &node.value);
                if self.is_bytes(&node.value) {
                    let names = node.targets.iter().filter_map(Expr::as_name_expr);
                    self.of_bytes.extend(names.map(|name| name.id.to_string()));
                }
                for target in &node.targets {
                    self.note_target(target, &node.value, false);
                }
            }
            Stmt::AnnAssign(node) => {
                if let Some(value) = &node.value {
                    self.note_target(&node.target, value, false);
                }
            }
            Stmt::AugAssign(node) => {
                if node.op == Operator::Add {
                    self.note_like(&node.target, &node.value);
                    self.note_like(&node.value, &node.target);
                }
                if node.op != Operator::Add || literal(&node.value).is_some_and(|v| matches!(v, Recipe::Int(_))) {
                    self.note(&node.target, |uses| uses.arithmetic = true);
                }
            }
            Stmt::ClassDef(node) => {
                for base in node.bases() {
                    self.note(base, |uses| uses.class = true);
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_comprehension(&mut self, node: &'a ruff_python_ast::Comprehension) {
        self.note(&node.iter, |uses| uses.iterated = true);
        self.note_target(&node.target, &node.iter, true);
        ruff_python_ast::visitor::walk_comprehension(self, node);
    }

    fn visit_parameter(&mut self, parameter: &'a ruff_python_ast::Parameter) {
        self.parameters.insert(parameter.name.to_string());
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if !name.ctx.is_load() => {
                *self.bound.entry(name.id.to_string()).or_default() += 1;
            }
            Expr::Call(node) => {
                self.note(&node.func, |uses| uses.called = true);
                self.note_call(node);
            }
            Expr::Attribute(node) => {
                let attribute = node.attr.to_string();
                self.note(&node.value, |uses| add_missing(&mut uses.attributes, &[attribute]));
            }
            Expr::Subscript(node) => {
                let value = literal(&node.slice);
                let key = match (&value, node.slice.as_ref()) {
                    (Some(Recipe::Str(_)), _) | (_, Expr::FString(_)) => Key::Text,
                    (Some(Recipe::Int(_)), _) => Key::Int,
                    (_, Expr::Slice(_)) => Key::Slice,
                    _ => Key::Other,
                };
                self.note(&node.value, |uses| {
                    add_missing(&mut uses.keys, &[key]);
                    if let Some(value) = value {
                        add_missing(&mut uses.key_candidates, &[value]);
                    }
                });
                let names = self.surroundings.names(&node.value);
                if !names.is_empty() {
                    self.note(&node.slice, |uses| add_missing(&mut uses.candidates, &names));
                }
            }
            Expr::Compare(node) => {
                let mut left = node.left.as_ref();
                for (op, right) in node.ops.iter().zip(&node.comparators) {
                    self.note_compare(left, *op, right);
                    left = right;
                }
            }
            Expr::BinOp(node) => {
                let formats = node.op == Operator::Mod
                    && matches!(node.left.as_ref(), Expr::StringLiteral(_) | Expr::BytesLiteral(_) | Expr::FString(_));
                if formats {
                    self.note(&node.right, |uses| uses.formatted = true);
                } else {
                    for (side, other) in [(&node.left, &node.right), (&node.right, &node.left)] {
                        if node.op == Operator::Add {
                            self.note_like(side, other);
                        }
                        let number = matches!(literal(other), Some(Recipe::Int(_) | Recipe::Float(_)));
                        if number || !matches!(node.op, Operator::Add | Operator::Mod | Operator::BitOr | Operator::Div)
                        {
                            self.note(side, |uses| uses.arithmetic = true);
                        }
                    }
                }
            }
            Expr::UnaryOp(node) if matches!(node.op, UnaryOp::USub | UnaryOp::UAdd | UnaryOp::Invert) => {
                self.note(&node.operand, |uses| uses.arithmetic = true);
            }
            Expr::Await(node) => self.note(&node.value, |uses| uses.awaited = true),
            Expr::YieldFrom(node) => self.note(&node.value, |uses| uses.iterated = true),
            Expr::Starred(node) => self.note(&node.value, |uses| uses.iterated = true),
            Expr::Named(node) => self.note_target(&node.target, &node.value, false),
            _ => {}
        }
        walk_expr(self, expr);
    }
}

impl Collector {
    /// `isinstance(value, class)`.
    fn note_tested(&mut self, value: &Expr, class: &Expr) {
        self.note(class, |uses| uses.class = true);
        let Expr::Name(name) = class else { return };
        let tested = AbstractValue::ALL.into_iter().find(|known| known.name() == name.id.as_str());
        if let Some(tested) = tested.filter(|class| !matches!(class, AbstractValue::Object)) {
            self.note(value, |uses| add_missing(&mut uses.tested, &[tested]));
        } else if name.id.as_str() == "type" {
            self.note(value, |uses| add_missing(&mut uses.candidates, &[Recipe::Named("int".into())]));
        } else if name.id.as_str() == "bytes" {
            self.note(value, |uses| add_missing(&mut uses.candidates, &[Recipe::Bytes(b"a".to_vec())]));
        }
    }

    fn note_call(&mut self, node: &ruff_python_ast::ExprCall) {
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
        for keyword in &arguments.keywords {
            if keyword.arg.is_none() {
                self.note(&keyword.value, |uses| uses.mapping = true);
            }
        }
        match node.func.as_ref() {
            Expr::Name(name) => match (name.id.as_str(), arguments.args.as_ref()) {
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
                        self.link(only, node, Made::Items);
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
                    "sorted" | "set" | "list" | "tuple" | "any" | "all" | "sum" | "enumerate" | "reversed"
                    | "frozenset" | "iter" | "filter" | "zip" | "max" | "min",
                    values,
                ) => {
                    let skip = usize::from(name.id.as_str() == "filter");
                    let is_sum = name.id.as_str() == "sum";
                    for value in values.iter().skip(skip).take(if is_sum { 1 } else { values.len() }) {
                        self.note(value, |uses| uses.iterated = true);
                    }
                    if is_sum {
                        self.note_sum(values);
                    }
                }
                // A mapping, or pairs.
                ("dict", [value]) => self.note(value, |uses| add_missing(&mut uses.keys, &[Key::Text])),
                ("len", [value]) => self.note(value, |uses| uses.iterated = true),
                _ => {}
            },
            Expr::Attribute(attribute) => {
                let method = attribute.attr.as_str();
                self.note_text_method(node, &attribute.value, method);
                let Some(first) = arguments.args.first() else { return };
                if let Some(value) = literal(first) {
                    match method {
                        "get" | "pop" | "setdefault" | "__getitem__" => self.note(&attribute.value, |uses| {
                            add_missing(&mut uses.key_candidates, &[value]);
                        }),
                        "startswith" | "endswith" | "find" | "index" | "split" | "rsplit" | "partition"
                        | "rpartition" | "strip" | "lstrip" | "rstrip" | "replace" | "count" | "removeprefix"
                        | "removesuffix" => {
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
            _ => {}
        }
    }
}

/// What a slice is a slice of.
fn whole(expr: &Expr) -> &Expr {
    match expr {
        Expr::Subscript(part) if part.slice.is_slice_expr() => &part.value,
        other => other,
    }
}

/// Methods of texts that give a text, those that cut one into a list, and others that take a text of the same kind.
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
const SPLITTING: [&str; 3] = ["split", "rsplit", "splitlines"];
const TAKING: [&str; 9] =
    ["startswith", "endswith", "find", "rfind", "partition", "rpartition", "replace", "count", "rindex"];

impl Collector {
    /// `sum(items, start)`: numbers, unless it starts with something else that is written out.
    fn note_sum(&mut self, arguments: &[Expr]) {
        const NUMBERS: [AbstractValue; 2] = [AbstractValue::Int, AbstractValue::Float];
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

    fn note_element(&mut self, holder: &Expr, change: impl FnOnce(&mut Uses)) {
        self.note(whole(holder), |uses| change(uses.element.get_or_insert_default()));
    }

    fn link(&mut self, value: &Expr, call: &ruff_python_ast::ExprCall, made: Made) {
        let holder = match whole(value) {
            Expr::Name(name) => Some(Holder::Name(name.id.to_string())),
            other => place(other).map(Holder::Place),
        };
        let range = call.range();
        let call = (SiteKind::Call, range.start().to_u32(), range.end().to_u32());
        self.links.extend(holder.map(|holder| Link { holder, call, made }));
    }

    /// `x.strip()`, `x.split(',')`, `x.find(b'a')`.
    fn note_text_method(&mut self, call: &ruff_python_ast::ExprCall, receiver: &Expr, method: &str) {
        let first = call.arguments.args.first();
        let splits = SPLITTING.contains(&method);
        if splits || MAKING.contains(&method) {
            self.link(receiver, call, if splits { Made::Fields } else { Made::Text });
        }
        if splits {
            let separator = match first.map(literal) {
                _ if method == "splitlines" => Some("\n".to_string()),
                None => Some(" ".to_string()),
                Some(Some(Recipe::Str(separator))) if !separator.is_empty() => Some(separator),
                _ => None,
            };
            if let Some(separator) = separator {
                self.note(receiver, |uses| add_missing(&mut uses.separators, &[separator]));
            }
        }
        let takes = splits || MAKING.contains(&method) || TAKING.contains(&method);
        if takes && first.is_some_and(|first| self.is_bytes(first)) {
            self.note(receiver, |uses| uses.bytes = true);
        }
    }

    /// Is this surely bytes?
    fn is_bytes(&self, expr: &Expr) -> bool {
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

fn place(expr: &Expr) -> Option<Place> {
    let kind = match expr {
        Expr::Name(_) => SiteKind::Name,
        Expr::Attribute(_) => SiteKind::Attribute,
        Expr::Call(_) => SiteKind::Call,
        Expr::Subscript(_) => SiteKind::Subscript,
        _ => return None,
    };
    let range: TextRange = expr.range();
    Some((kind, range.start().to_u32(), range.end().to_u32()))
}

/// A literal as a recipe, if it is a plain one.
pub(in super::super) fn literal(expr: &Expr) -> Option<Recipe> {
    match expr {
        Expr::NoneLiteral(_) => Some(Recipe::None),
        Expr::BooleanLiteral(node) => Some(Recipe::Bool(node.value)),
        Expr::NumberLiteral(node) => match &node.value {
            Number::Int(value) => value.as_i64().map(Recipe::Int),
            Number::Float(value) => Some(Recipe::Float(*value)),
            Number::Complex { .. } => None,
        },
        Expr::StringLiteral(node) => Some(Recipe::Str(node.value.to_str().to_string())),
        Expr::BytesLiteral(node) => Some(Recipe::Bytes(node.value.bytes().collect())),
        Expr::UnaryOp(node) if node.op == UnaryOp::USub => match literal(&node.operand)? {
            Recipe::Int(value) => value.checked_neg().map(Recipe::Int),
            Recipe::Float(value) => Some(Recipe::Float(-value)),
            _ => None,
        },
        _ => None,
    }
}

/// The dotted name that an expression is.
pub(in super::super) fn named(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(node) => Some(format!("{}.{}", named(&node.value)?, node.attr)),
        Expr::EllipsisLiteral(_) => Some("Ellipsis".into()),
        _ => None,
    }
}

/// Does a name look like that of a constant?
fn is_constant(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    last.chars().any(char::is_uppercase) && !last.chars().any(char::is_lowercase)
        || matches!(last, "NotImplemented" | "Ellipsis")
}

/// Members of a display of literals and constants.
fn members(expr: &Expr) -> Vec<Recipe> {
    let elements = match expr {
        Expr::List(node) => &node.elts,
        Expr::Tuple(node) => &node.elts,
        Expr::Set(node) => &node.elts,
        _ => return literal_members(expr),
    };
    let constant = |expr: &Expr| named(expr).filter(|name| is_constant(name)).map(Recipe::Named);
    elements.iter().filter_map(|element| literal(element).or_else(|| constant(element))).collect()
}

/// Literal members of a display: the items of a list, tuple or set, the keys of a dict.
fn literal_members(expr: &Expr) -> Vec<Recipe> {
    let elements = match expr {
        Expr::List(node) => &node.elts,
        Expr::Tuple(node) => &node.elts,
        Expr::Set(node) => &node.elts,
        Expr::Dict(node) => return node.items.iter().filter_map(|item| item.key.as_ref().and_then(literal)).collect(),
        _ => return Vec::new(),
    };
    elements.iter().filter_map(literal).collect()
}
