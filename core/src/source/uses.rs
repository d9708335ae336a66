//! How the code uses each value: what a missing value must be able to do.
//!
//! A purely syntactic reading of one function: `x.lower()` calls a method of a text, `for a, b in x` takes pairs,
//! `x == 'yes'` and `x in ('a', 'b')` name values worth trying. Uses are hints that weigh a predictor's distribution;
//! they are never laws, because code under comparison may be wrong. What a value *is* stands in `value/`.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{CmpOp, Expr, Number, Operator, Stmt, UnaryOp};
use ruff_text_size::{Ranged, TextRange};
use serde::{Deserialize, Serialize};

use super::parse::{parse, with_stack_for};
use crate::site::{Site, SiteKind};
use crate::value::{AbstractValue, Declared, Recipe};

/// How far into a sum a literal is looked for: each term asks, so that without a bound long sums cost their square.
const SUM_DEPTH: u32 = 64;

/// How subscripts of a value look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    Text,
    Int,
    Slice,
    Other,
}

/// Uses of one value, from all places of a function that read it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Uses {
    pub called: bool,
    /// Raised, or named by an `except` clause.
    pub exception: bool,
    /// Second argument of `isinstance`, or a base class.
    pub class: bool,
    /// Unpacked into exactly so many targets.
    pub unpacked: Option<u8>,
    pub iterated: bool,
    pub awaited: bool,
    pub entered: bool,
    /// Alone at the right of `'...' % value`.
    pub formatted: bool,
    /// Made a number: `int(value)`, `float(value)`.
    pub numeric: bool,
    /// `**value`.
    pub mapping: bool,
    pub arithmetic: bool,
    /// Classes that it is added to or joined with.
    pub like: Vec<AbstractValue>,
    /// Builtin classes that `isinstance` asks for.
    pub tested: Vec<AbstractValue>,
    /// Added to or compared with bytes.
    pub bytes: bool,
    /// Ordered against something (`<`, `>=`, ...).
    pub ordered: bool,
    pub keys: Vec<Key>,
    /// Attributes read or assigned, each once.
    pub attributes: Vec<String>,
    /// Literals that it is compared with or that are looked up in it, each once.
    pub candidates: Vec<Recipe>,
    /// Literal keys looked up in it, each once.
    pub key_candidates: Vec<Recipe>,
    /// What the annotation says that it is.
    pub declared: Option<Declared>,
    /// Uses of the values that iterating over it gives.
    pub element: Option<Box<Uses>>,
    /// Uses of what calling it gives, where it is not a site of its own.
    pub result: Option<Box<Uses>>,
}

impl Uses {
    /// Adds what another place does with the same value.
    pub fn merge(&mut self, other: &Uses) {
        self.called |= other.called;
        self.exception |= other.exception;
        self.class |= other.class;
        self.unpacked = self.unpacked.or(other.unpacked);
        self.iterated |= other.iterated;
        self.awaited |= other.awaited;
        self.entered |= other.entered;
        self.mapping |= other.mapping;
        self.numeric |= other.numeric;
        self.formatted |= other.formatted;
        self.arithmetic |= other.arithmetic;
        self.ordered |= other.ordered;
        self.declared = match (self.declared.take(), &other.declared) {
            (Some(own), Some(other)) if own != *other => Some(own.or(other)),
            (own, other) => own.or_else(|| other.clone()),
        };
        self.bytes |= other.bytes;
        add_missing(&mut self.like, &other.like);
        add_missing(&mut self.tested, &other.tested);
        add_missing(&mut self.keys, &other.keys);
        add_missing(&mut self.attributes, &other.attributes);
        add_missing(&mut self.candidates, &other.candidates);
        add_missing(&mut self.key_candidates, &other.key_candidates);
        merge_boxed(&mut self.element, &other.element);
        merge_boxed(&mut self.result, &other.result);
    }
}

/// Of each kind of use, so many are noted: every site of a value carries them, and huge functions have many sites.
const MAX_NOTED: usize = 64;

fn add_missing<T: Clone + PartialEq>(to: &mut Vec<T>, from: &[T]) {
    for item in from {
        if to.len() < MAX_NOTED && !to.contains(item) {
            to.push(item.clone());
        }
    }
}

fn merge_boxed(to: &mut Option<Box<Uses>>, from: &Option<Box<Uses>>) {
    if let Some(from) = from {
        to.get_or_insert_default().merge(from);
    }
}

/// What one reading of a function's text gives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// One for each site.
    pub uses: Vec<Uses>,
    pub locals: Locals,
}

/// Reads a function's text: how it uses each site's value, and what its locals stand for.
pub fn read(text: &str, sites: &[Site]) -> Reading {
    let collector = collect(text);
    Reading { uses: uses(&collector, sites), locals: locals(collector, sites) }
}

/// Uses of every site, in the order of `sites`; sites of the same access path share theirs.
fn uses(collector: &Collector, sites: &[Site]) -> Vec<Uses> {
    let mut by_path: BTreeMap<(SiteKind, &str), Uses> = BTreeMap::new();
    for site in sites {
        let key = (site.kind, site.path.as_str());
        if site.kind == SiteKind::Name {
            // Collected by name already, so that once is enough.
            by_path.entry(key).or_insert_with(|| collector.names.get(&site.path).cloned().unwrap_or_default());
        } else if let Some(found) = collector.found.get(&(site.kind, site.start, site.end)) {
            by_path.entry(key).or_default().merge(found);
        }
    }
    // A value that is bound to a local is used as the local is; two rounds follow `a = f(); b = a`.
    for _ in 0..2 {
        for flow in &collector.flows {
            let Some(from) = by_path.get(&(SiteKind::Name, flow.local.as_str())).cloned() else { continue };
            let used = match flow.kind {
                FlowKind::Value => from,
                FlowKind::Element => Uses { element: Some(Box::new(from)), ..Uses::default() },
            };
            for site in sites {
                if (site.kind, site.start, site.end) == flow.value {
                    by_path.entry((site.kind, site.path.as_str())).or_default().merge(&used);
                }
            }
        }
    }
    sites.iter().map(|site| by_path.get(&(site.kind, site.path.as_str())).cloned().unwrap_or_default()).collect()
}

/// What the local names of a function stand for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locals {
    /// (local, access path of the only value that it is bound to): `x = a.b` makes `x.c` the path `a.b.c`.
    pub aliases: Vec<(String, String)>,
    /// Names that the function binds, parameters aside.
    pub names: Vec<String>,
}

/// The local names of a function.
fn locals(collector: Collector, sites: &[Site]) -> Locals {
    let bound_once = |local: &str| collector.bound.get(local) == Some(&1) && !collector.parameters.contains(local);
    let mut locals = Locals::default();
    for flow in collector.flows.iter().filter(|flow| matches!(flow.kind, FlowKind::Value) && bound_once(&flow.local)) {
        let site = sites.iter().find(|site| (site.kind, site.start, site.end) == flow.value);
        if let Some(site) = site.filter(|site| site.kind != SiteKind::Name) {
            locals.aliases.push((flow.local.clone(), site.path.clone()));
        }
    }
    locals.names = collector.bound.into_keys().filter(|name| !collector.parameters.contains(name)).collect();
    locals
}

fn collect(text: &str) -> Collector {
    with_stack_for(text.len(), || {
        let mut collector = Collector::default();
        for stmt in &parse(text).syntax().body {
            collector.visit_stmt(stmt);
        }
        collector
    })
}

type Place = (SiteKind, u32, u32);

enum FlowKind {
    Value,
    Element,
}

/// `local = value`, or `for local in value`.
struct Flow {
    local: String,
    value: Place,
    kind: FlowKind,
}

#[derive(Default)]
struct Collector {
    /// Uses of names, wherever they stand: assigned to (`x += 'a'`) as well as read.
    names: BTreeMap<String, Uses>,
    /// Uses of other expressions by place.
    found: BTreeMap<Place, Uses>,
    flows: Vec<Flow>,
    /// How often each name is bound, parameters aside.
    bound: BTreeMap<String, u32>,
    parameters: BTreeSet<String>,
}

impl Collector {
    fn note(&mut self, expr: &Expr, change: impl FnOnce(&mut Uses)) {
        if let Expr::Name(name) = expr {
            change(self.names.entry(name.id.to_string()).or_default());
        } else if let Some(place) = place(expr) {
            change(self.found.entry(place).or_default());
        }
    }

    fn note_target(&mut self, target: &Expr, value: &Expr, kind: fn() -> FlowKind) {
        let Some(place) = place(value) else { return };
        match target {
            Expr::Name(name) => self.flows.push(Flow { local: name.id.to_string(), value: place, kind: kind() }),
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
                let used = match kind() {
                    FlowKind::Value => unpacked,
                    FlowKind::Element => Uses { element: Some(Box::new(unpacked)), ..Uses::default() },
                };
                self.note(value, |uses| uses.merge(&used));
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
            Expr::BytesLiteral(_) => return self.note(side, |uses| uses.bytes = true),
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
                let members = literal_members(right);
                self.note(left, |uses| add_missing(&mut uses.candidates, &members));
            }
            CmpOp::Is | CmpOp::IsNot | CmpOp::Eq | CmpOp::NotEq => {
                for (side, other) in [(left, right), (right, left)] {
                    if let Some(value) = literal(other) {
                        self.note(side, |uses| add_missing(&mut uses.candidates, &[value]));
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
                self.note_target(&node.target, &node.iter, || FlowKind::Element);
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
                for target in &node.targets {
                    self.note_target(target, &node.value, || FlowKind::Value);
                }
            }
            Stmt::AnnAssign(node) => {
                if let Some(value) = &node.value {
                    self.note_target(&node.target, value, || FlowKind::Value);
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
        self.note_target(&node.target, &node.iter, || FlowKind::Element);
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
            Expr::Named(node) => self.note_target(&node.target, &node.value, || FlowKind::Value),
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
        } else if name.id.as_str() == "bytes" {
            self.note(value, |uses| add_missing(&mut uses.candidates, &[Recipe::Bytes(b"a".to_vec())]));
        }
    }

    fn note_call(&mut self, node: &ruff_python_ast::ExprCall) {
        let arguments = &node.arguments;
        for keyword in &arguments.keywords {
            if keyword.arg.is_none() {
                self.note(&keyword.value, |uses| uses.mapping = true);
            }
        }
        match node.func.as_ref() {
            Expr::Name(name) => match (name.id.as_str(), arguments.args.as_ref()) {
                ("isinstance" | "issubclass", [value, Expr::Tuple(classes)]) => {
                    for class in &classes.elts {
                        self.note_tested(value, class);
                    }
                }
                ("isinstance" | "issubclass", [value, class]) => self.note_tested(value, class),
                ("int" | "float", [value, ..]) => self.note(value, |uses| {
                    uses.ordered = true;
                    uses.numeric = true;
                }),
                ("abs" | "round", [value, ..]) => self.note(value, |uses| uses.ordered = true),
                ("max" | "min", values) if values.len() > 1 => {
                    for value in values {
                        self.note(value, |uses| uses.ordered = true);
                    }
                }
                (
                    "sorted" | "set" | "list" | "tuple" | "any" | "all" | "sum" | "enumerate" | "reversed"
                    | "frozenset" | "iter" | "map" | "filter" | "zip" | "max" | "min",
                    values,
                ) => {
                    let skip = usize::from(matches!(name.id.as_str(), "map" | "filter"));
                    for value in values.iter().skip(skip) {
                        self.note(value, |uses| uses.iterated = true);
                    }
                }
                ("len", [value]) => self.note(value, |uses| uses.iterated = true),
                _ => {}
            },
            Expr::Attribute(attribute) => {
                let method = attribute.attr.as_str();
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
                }
                // `{'yes': True}.get(x)` and `[...].count(x)` name values of x.
                let keys = literal_members(&attribute.value);
                self.note(first, |uses| add_missing(&mut uses.candidates, &keys));
            }
            _ => {}
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
pub(super) fn literal(expr: &Expr) -> Option<Recipe> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn name_uses(code: &str, name: &str) -> Uses {
        let sites: Vec<Site> = code
            .match_indices(name)
            .map(|(at, _)| Site {
                kind: SiteKind::Name,
                start: at as u32,
                end: (at + name.len()) as u32,
                line: 1,
                identifier: name.into(),
                path: name.into(),
                catches: vec![],
                discarded: false,
            })
            .collect();
        read(code, &sites).uses.into_iter().next().unwrap_or_default()
    }

    #[test]
    fn a_value_that_is_called_or_iterated_is_noted() {
        assert!(name_uses("qq()", "qq").called);
        assert!(name_uses("for a in qq: pass", "qq").iterated);
        assert_eq!(name_uses("a, b = qq", "qq").unpacked, Some(2));
        assert!(name_uses("raise qq", "qq").exception);
    }

    #[test]
    fn literals_that_a_value_is_compared_with_are_candidates() {
        assert_eq!(name_uses("qq == 'yes'", "qq").candidates, [Recipe::Str("yes".into())]);
        assert_eq!(name_uses("qq in (301, 302)", "qq").candidates, [Recipe::Int(301), Recipe::Int(302)]);
        assert_eq!(name_uses("{'yes': 1}.get(qq)", "qq").candidates, [Recipe::Str("yes".into())]);
        assert_eq!(name_uses("qq['k']", "qq").key_candidates, [Recipe::Str("k".into())]);
    }

    #[test]
    fn the_items_of_a_loop_carry_their_own_uses() {
        let found = name_uses("for a, b in qq: pass", "qq");
        assert_eq!(found.element.and_then(|element| element.unpacked), Some(2));
    }
}
