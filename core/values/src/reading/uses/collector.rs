//! Reads the uses of values from the syntax of one function.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{CmpOp, Expr, Operator, Pattern, Stmt, UnaryOp};
use ruff_text_size::{Ranged, TextRange};

use twincell_syntax::parse::{parse, with_stack_for};
use twincell_syntax::site::SiteKind;

use super::{Key, ModuleContext, Uses, add_missing};
use super::{hashed, mappings};
use crate::reading::written::{is_constant, literal, members, named};
use crate::value::{AbstractValue, Recipe};

/// The depth to which a sum is searched for a literal. Each term searches, so without a bound long sums have quadratic
/// cost.
const SUM_DEPTH: u32 = 64;

pub(super) fn collect(text: &str, surroundings: &ModuleContext) -> Collector {
    with_stack_for(text.len(), || {
        let mut collector = Collector { surroundings: surroundings.clone(), ..Collector::default() };
        let parsed = parse(text);
        let body = &parsed.syntax().body;
        for stmt in body {
            collector.visit_stmt(stmt);
        }
        mappings::note(&mut collector, text, body);
        hashed::note(&mut collector, body);
        collector.forget_locals();
        collector
    })
}

/// The kind and byte range of an expression.
pub(super) type ExpressionKey = (SiteKind, u32, u32);

pub(super) enum FlowKind {
    Value,
    Element,
    /// One of the items, where a value is unpacked, by the position of each tuple of targets in the one around it.
    /// `ElementPart` is an item of what iterating over it gives.
    Part(Vec<usize>),
    ElementPart(Vec<usize>),
    /// A list of such values.
    Holder,
    /// The result of awaiting it.
    Awaited,
}

/// `local = value`, or `for local in value`.
pub(super) struct Flow {
    pub(super) local: String,
    pub(super) value: ExpressionKey,
    pub(super) kind: FlowKind,
}

/// Whether texts and lists do not support an operator.
fn is_of_numbers(operator: Operator) -> bool {
    matches!(operator, Operator::Sub | Operator::Div | Operator::FloorDiv | Operator::Pow)
}

/// Whether an expression calculates with values of the code alone: what a call with arguments makes may be of a class of
/// its own, as in `now - timedelta(days=1)`.
fn is_difference(expr: &Expr) -> bool {
    let is_made = |side: &Expr| side.as_call_expr().is_some_and(|call| !call.arguments.is_empty());
    let made = expr.as_bin_op_expr().filter(|made| is_of_numbers(made.op));
    made.is_some_and(|made| !is_made(&made.left) && !is_made(&made.right))
}

/// The receiver of a method.
pub(super) enum Holder {
    Name(String),
    ExpressionKey(ExpressionKey),
}

/// The relation of a call's value to the value from which the call makes it.
#[derive(Clone, Copy)]
pub(super) enum Derivation {
    /// A text of a text.
    Text,
    /// The fields of a text.
    Fields,
    /// What stands before a separator, the separator, and what stands after it.
    Halves,
    /// What JSON says.
    Json,
    /// A value with as many items.
    Items,
}

/// A call whose value is made from another value and used like it.
pub(super) struct Link {
    pub(super) holder: Holder,
    pub(super) call: ExpressionKey,
    pub(super) made: Derivation,
}

#[derive(Default)]
pub(super) struct Collector {
    /// The uses of names, wherever they occur: assigned to (`x += 'a'`) as well as read.
    pub(super) names: BTreeMap<String, Uses>,
    /// The uses of other expressions, by position.
    pub(super) found: BTreeMap<ExpressionKey, Uses>,
    pub(super) flows: Vec<Flow>,
    pub(super) links: Vec<Link>,
    /// How often each name is bound, without parameters.
    pub(super) bound: BTreeMap<String, u32>,
    pub(super) parameters: BTreeSet<String>,
    /// The locals that count: `i` of `for i in range(n)`.
    pub(super) positions: BTreeSet<String>,
    /// The names that are set to `None` somewhere: a test for it says nothing of the other values that they get.
    pub(super) of_none: BTreeSet<String>,
    /// The locals that hold bytes.
    pub(super) of_bytes: BTreeSet<String>,
    /// Facts about the surrounding text, and the patterns that are compiled here.
    pub(super) surroundings: ModuleContext,
    /// What called helpers of the text require of their parameters, by their names.
    pub(super) helpers: BTreeMap<String, Vec<(String, Uses)>>,
}

impl Collector {
    /// The path for which a local stands is not a constant.
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

    pub(super) fn note(&mut self, expr: &Expr, change: impl FnOnce(&mut Uses)) {
        if let Expr::Name(name) = expr {
            change(self.names.entry(name.id.to_string()).or_default());
        } else if let Some(place) = place(expr) {
            change(self.found.entry(place).or_default());
        }
    }

    /// Notes the names that count, for `for i in range(n)` and `for i, x in enumerate(y)`.
    fn note_positions(&mut self, target: &Expr, iterated: &Expr) {
        let Expr::Call(call) = iterated else { return };
        let Expr::Name(callee) = call.func.as_ref() else { return };
        let counted = match (callee.id.as_str(), target) {
            ("range", Expr::Name(name)) => Some(name),
            ("enumerate", Expr::Tuple(parts)) => parts.elts.first().and_then(Expr::as_name_expr),
            _ => None,
        };
        self.positions.extend(counted.map(|name| name.id.to_string()));
    }

    /// Whether an expression is a position: a name that counts, a length, or one of them moved by something.
    pub(super) fn is_position(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(name) => self.positions.contains(name.id.as_str()),
            Expr::Call(call) => matches!(call.func.as_ref(), Expr::Name(name) if name.id.as_str() == "len"),
            Expr::BinOp(node) if matches!(node.op, Operator::Add | Operator::Sub) => {
                let is_counted = |side: &Expr| !side.is_bin_op_expr() && self.is_position(side);
                is_counted(&node.left) || is_counted(&node.right)
            }
            _ => false,
        }
    }

    /// `for target in iterated`. Some builtin functions give the items that they are given.
    fn note_items(&mut self, target: &Expr, iterated: &Expr) {
        self.note_target(target, iterated, true);
        let Expr::Call(call) = iterated else { return };
        let (Expr::Name(callee), arguments) = (call.func.as_ref(), call.arguments.args.as_ref()) else { return };
        let targets = || target.as_tuple_expr().map_or(&[][..], |tuple| &tuple.elts);
        match (callee.id.as_str(), arguments) {
            ("sorted" | "reversed" | "list" | "tuple" | "set" | "frozenset" | "iter", [items])
            | ("filter", [_, items]) => self.note_items(target, items),
            ("enumerate", [items, ..]) => {
                if let [_, item] = targets() {
                    self.note_items(item, items);
                }
            }
            ("zip", all) if all.len() == targets().len() => {
                for (target, items) in targets().iter().zip(all) {
                    self.note_items(target, items);
                }
            }
            _ => {}
        }
    }

    /// `sorted(items, key=lambda item: ...)`, `items.sort(key=...)`: the function gets each of them.
    pub(super) fn note_function_of_items(&mut self, items: &Expr, function: &Expr) {
        if let Expr::Lambda(lambda) = function
            && let Some([only]) = lambda.parameters.as_deref().map(|parameters| parameters.args.as_slice())
            && let Some(value) = place(items)
        {
            self.flows.push(Flow { local: only.name().to_string(), value, kind: FlowKind::Element });
        }
    }

    fn note_target(&mut self, target: &Expr, value: &Expr, is_element: bool) {
        if let (Expr::Await(awaited), Expr::Name(name), false) = (value, target, is_element)
            && let Some(value) = place(&awaited.value)
        {
            self.flows.push(Flow { local: name.id.to_string(), value, kind: FlowKind::Awaited });
        }
        if let (Expr::ListComp(made), Expr::Name(name), false) = (value, target, is_element)
            && let Some(value) = place(&made.elt)
        {
            self.flows.push(Flow { local: name.id.to_string(), value, kind: FlowKind::Holder });
        }
        let Some(place) = place(value) else { return };
        match target {
            Expr::Name(name) => {
                let kind = if is_element { FlowKind::Element } else { FlowKind::Value };
                self.flows.push(Flow { local: name.id.to_string(), value: place, kind });
            }
            Expr::Tuple(_) | Expr::List(_) => self.note_unpacked(target, value, place, is_element),
            _ => {}
        }
    }

    /// `side + other`: a literal of the class of `other` also tells the class of `side`.
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
                let mut members = members(right);
                members.extend_from_slice(self.surroundings.constant(right));
                self.note(left, |uses| add_missing(&mut uses.candidates, &members));
            }
            CmpOp::Is | CmpOp::IsNot | CmpOp::Eq | CmpOp::NotEq => {
                let is_identity = matches!(op, CmpOp::Is | CmpOp::IsNot);
                for (side, other) in [(left, right), (right, left)] {
                    let named = || named(other).filter(|name| is_identity || is_constant(name)).map(Recipe::Named);
                    if let Some(value) = literal(other).or_else(named) {
                        self.note(side, |uses| add_missing(&mut uses.candidates, &[value]));
                    }
                    self.note_constant(side, other);
                    if self.is_bytes(other) {
                        self.note(side, |uses| uses.bytes = true);
                    }
                }
            }
            CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE => {
                for (side, other) in [(left, right), (right, left)] {
                    let value = literal(other);
                    let is_number = is_difference(other);
                    self.note(side, |uses| {
                        uses.ordered = true;
                        uses.arithmetic |= is_number;
                        uses.subtracted |= is_number;
                        if let Some(value) = value {
                            add_missing(&mut uses.candidates, &[value]);
                        }
                    });
                    self.note_constant(side, other);
                }
            }
        }
    }

    /// What the value is compared with, or looked up in, stands in a constant.
    pub(super) fn note_constant(&mut self, value: &Expr, constant: &Expr) {
        let values = self.surroundings.constant(constant).to_vec();
        if !values.is_empty() {
            self.note(value, |uses| add_missing(&mut uses.candidates, &values));
        }
    }
}

impl<'a> Visitor<'a> for Collector {
    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::For(node) => {
                self.note(&node.iter, |uses| uses.iterated = true);
                self.note_positions(&node.target, &node.iter);
                self.note_items(&node.target, &node.iter);
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
                if node.value.is_none_literal_expr() {
                    let names = node.targets.iter().filter_map(Expr::as_name_expr);
                    self.of_none.extend(names.map(|name| name.id.to_string()));
                }
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
                    self.note(&node.target, |uses| {
                        uses.arithmetic = true;
                        uses.subtracted |= is_of_numbers(node.op);
                    });
                }
            }
            Stmt::Match(node) => self.note_match(&node.subject, &node.cases),
            Stmt::ClassDef(node) => {
                for base in node.bases() {
                    self.note(base, |uses| uses.class = true);
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        self.note_binding(pattern);
        walk_pattern(self, pattern);
    }

    fn visit_comprehension(&mut self, node: &'a ruff_python_ast::Comprehension) {
        self.note(&node.iter, |uses| uses.iterated = true);
        self.note_positions(&node.target, &node.iter);
        self.note_items(&node.target, &node.iter);
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
                self.note_keywords(node);
            }
            Expr::Dict(node) => self.note_display(node),
            Expr::Attribute(node) => {
                let attribute = node.attr.to_string();
                self.note(&node.value, |uses| {
                    if !node.ctx.is_load() {
                        add_missing(&mut uses.data, std::slice::from_ref(&attribute));
                    }
                    add_missing(&mut uses.attributes, &[attribute]);
                });
            }
            Expr::Slice(node) => {
                for bound in [&node.lower, &node.upper, &node.step].into_iter().flatten() {
                    self.note(bound, |uses| add_missing(&mut uses.like, &[AbstractValue::Int, AbstractValue::None]));
                }
            }
            Expr::Subscript(node) => {
                let value = literal(&node.slice);
                let key = match (&value, node.slice.as_ref()) {
                    (Some(Recipe::Str(_)), _) | (_, Expr::FString(_)) => Key::Text,
                    (Some(Recipe::Int(_)), _) => Key::Int,
                    (_, Expr::Slice(_)) => Key::Slice,
                    (_, index) if self.is_position(index) => Key::Int,
                    _ => Key::Other,
                };
                self.note(&node.value, |uses| {
                    add_missing(&mut uses.keys, &[key]);
                    if let Some(value) = value {
                        add_missing(&mut uses.key_candidates, &[value]);
                    }
                });
                self.note_constant(&node.slice, &node.value);
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
                self.note_union(&node.left, node.op, &node.right);
                let formats = node.op == Operator::Mod
                    && matches!(node.left.as_ref(), Expr::StringLiteral(_) | Expr::BytesLiteral(_) | Expr::FString(_));
                if formats {
                    self.note(&node.right, |uses| uses.formatted = true);
                    self.note_conversions(&node.left, &node.right);
                } else {
                    for (side, other) in [(&node.left, &node.right), (&node.right, &node.left)] {
                        if node.op == Operator::Add {
                            self.note_like(side, other);
                        }
                        let number = matches!(literal(other), Some(Recipe::Int(_) | Recipe::Float(_)));
                        if number || !matches!(node.op, Operator::Add | Operator::Mod | Operator::BitOr | Operator::Div)
                        {
                            self.note(side, |uses| {
                                uses.arithmetic = true;
                                uses.subtracted |= is_of_numbers(node.op);
                            });
                        }
                    }
                }
            }
            Expr::UnaryOp(node) if matches!(node.op, UnaryOp::USub | UnaryOp::UAdd | UnaryOp::Invert) => {
                self.note(&node.operand, |uses| uses.arithmetic = true);
            }
            Expr::FString(node) => self.note_specifications(node),
            Expr::Await(node) => self.note(&node.value, |uses| uses.awaited = true),
            Expr::YieldFrom(node) => self.note(&node.value, |uses| uses.iterated = true),
            Expr::Starred(node) => self.note(&node.value, |uses| uses.iterated = true),
            Expr::Named(node) => self.note_target(&node.target, &node.value, false),
            _ => {}
        }
        walk_expr(self, expr);
    }
}

pub(super) fn place(expr: &Expr) -> Option<ExpressionKey> {
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
