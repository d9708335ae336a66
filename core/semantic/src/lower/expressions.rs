//! Expressions: each becomes a place for its values.

use ruff_python_ast::{Comprehension, Expr, ExprCall, Number, Operator, UnaryOp};
use ruff_text_size::Ranged;
use twincell_syntax::scopes::Bindings;

use super::Lowering;
use super::targets::Assigned;
use super::versions::Part;
use crate::ids::NodeId;
use crate::module::{Argument, Call, ContainerKind, Key, Literal, ScopeKind, Step, Target};

/// How many elements of a container that is written out are told apart.
const MAX_ELEMENTS: usize = 256;
/// The longest text that may be a key.
const MAX_KEY: usize = 64;

impl Lowering {
    /// The value of an expression.
    pub(super) fn value(&mut self, expr: &Expr) -> NodeId {
        let node = self.value_of(expr);
        self.module.expressions.push((expr.range(), node));
        let is_literal = matches!(
            expr,
            Expr::NumberLiteral(_) | Expr::BooleanLiteral(_) | Expr::NoneLiteral(_) | Expr::EllipsisLiteral(_)
        );
        let is_truth = matches!(expr, Expr::UnaryOp(node) if node.op == UnaryOp::Not) || expr.is_compare_expr();
        if is_literal || is_truth {
            self.module.plain.push(node);
        }
        node
    }

    fn value_of(&mut self, expr: &Expr) -> NodeId {
        let scope = self.here();
        match expr {
            Expr::Name(name) => {
                let id = self.mangled(&name.id);
                self.refer(name.range, Target::Name(id), !name.ctx.is_load());
                self.read(&name.id)
            }
            Expr::Attribute(attribute) => {
                let base = self.value(&attribute.value);
                let name = self.mangled(&attribute.attr);
                self.refer(attribute.attr.range, Target::Attribute(base, name), !attribute.ctx.is_load());
                self.part(base, Part::Attribute(name), |to| Step::Load { base, name, to, scope })
            }
            Expr::Subscript(subscript) => {
                let base = self.value(&subscript.value);
                if let Expr::Slice(slice) = subscript.slice.as_ref() {
                    let bounds = [&slice.lower, &slice.upper, &slice.step];
                    let written: Vec<Option<i64>> =
                        bounds.iter().map(|bound| bound.as_deref().and_then(number)).collect();
                    for bound in bounds.into_iter().flatten() {
                        self.value(bound);
                    }
                    let to = self.node();
                    let low = if slice.lower.is_some() { written.first().copied().flatten() } else { Some(0) };
                    let high = written.get(1).copied().flatten();
                    let is_known = slice.step.is_none() && (slice.upper.is_none() || high.is_some());
                    self.step(Step::Slice { base, low: low.filter(|_| is_known), high, to });
                    return to;
                }
                let key = self.key(&subscript.slice);
                let step = |to| Step::Index { base, key, to, scope };
                match Part::of(key) {
                    Some(part) => self.part(base, part, step),
                    None => {
                        let to = self.node();
                        self.step(step(to));
                        to
                    }
                }
            }
            Expr::Call(call) => self.call(call),
            Expr::Lambda(lambda) => self.lambda(lambda),
            Expr::Named(named) => {
                let value = self.value(&named.value);
                self.assign(&named.target, &Assigned::Value(value, None));
                value
            }
            Expr::BoolOp(node) => {
                let values: Vec<NodeId> = node.values.iter().map(|value| self.value(value)).collect();
                self.either(&values)
            }
            Expr::If(node) => {
                self.value(&node.test);
                let values = [self.value(&node.body), self.value(&node.orelse)];
                self.either(&values)
            }
            Expr::BinOp(node) => {
                let left = self.value(&node.left);
                let right = self.value(&node.right);
                let to = self.node();
                let (name, reflected) = operator(node.op);
                self.step(Step::Special { base: left, name, arguments: vec![right], to, scope });
                self.step(Step::Special { base: right, name: reflected, arguments: vec![left], to, scope });
                if matches!(node.op, Operator::Add | Operator::BitOr | Operator::Mult) {
                    // Lists, sets and dicts hold the elements of both.
                    self.copy(left, to);
                    self.copy(right, to);
                }
                to
            }
            Expr::UnaryOp(node) => {
                let base = self.value(&node.operand);
                let name = match node.op {
                    UnaryOp::Invert => "__invert__",
                    UnaryOp::Not => "__bool__",
                    UnaryOp::UAdd => "__pos__",
                    UnaryOp::USub => "__neg__",
                };
                let to = self.node();
                self.step(Step::Special { base, name, arguments: Vec::new(), to, scope });
                if let Some(value) = number(expr) {
                    self.step(Step::New { to, literal: Literal::Number(value) });
                }
                to
            }
            Expr::Compare(node) => self.compare(node),
            Expr::Await(node) => self.value(&node.value),
            Expr::Yield(node) => {
                if let Some(value) = node.value.as_deref() {
                    let value = self.value(value);
                    let yields = self.yields();
                    self.copy(value, yields);
                } else {
                    self.yields();
                }
                self.node()
            }
            Expr::YieldFrom(node) => {
                let base = self.value(&node.value);
                let to = self.yields();
                self.step(Step::Element { base, to, scope });
                let to = self.node();
                self.step(Step::Special { base, name: "yield from", arguments: Vec::new(), to, scope });
                to
            }
            Expr::List(list) => self.elements(ContainerKind::List, &list.elts),
            Expr::Tuple(tuple) => self.elements(ContainerKind::Tuple, &tuple.elts),
            Expr::Set(set) => self.elements(ContainerKind::Set, &set.elts),
            Expr::Dict(dict) => {
                let whole = self.new_value(Literal::Container(ContainerKind::Dict, None));
                for (position, item) in dict.items.iter().enumerate() {
                    let key = item.key.as_ref().map(|key| self.key(key));
                    if position >= MAX_ELEMENTS && is_constant(&item.value) {
                        continue;
                    }
                    let from = self.value(&item.value);
                    match key {
                        Some(key) => {
                            let key = if position < MAX_ELEMENTS { key } else { Key::Any };
                            self.step(Step::StoreIndex { base: whole, key, from, scope });
                        }
                        None => self.step(Step::Spread { base: from, to: whole, scope }),
                    }
                }
                whole
            }
            Expr::ListComp(node) => self.comprehension(ContainerKind::List, &node.generators, None, &node.elt),
            Expr::SetComp(node) => self.comprehension(ContainerKind::Set, &node.generators, None, &node.elt),
            Expr::Generator(node) => self.comprehension(ContainerKind::List, &node.generators, None, &node.elt),
            Expr::DictComp(node) => {
                self.comprehension(ContainerKind::Dict, &node.generators, node.key.as_deref(), &node.value)
            }
            Expr::Starred(starred) => self.value(&starred.value),
            Expr::Slice(slice) => {
                for bound in [&slice.lower, &slice.upper, &slice.step].into_iter().flatten() {
                    self.value(bound);
                }
                self.node()
            }
            Expr::FString(node) => {
                for element in node.value.elements() {
                    if let Some(interpolation) = element.as_interpolation() {
                        let base = self.value(&interpolation.expression);
                        let to = self.node();
                        self.step(Step::Special { base, name: "__format__", arguments: Vec::new(), to, scope });
                    }
                }
                self.plain("str")
            }
            Expr::TString(node) => {
                for element in node.value.elements() {
                    if let Some(interpolation) = element.as_interpolation() {
                        self.value(&interpolation.expression);
                    }
                }
                self.node()
            }
            Expr::StringLiteral(text) if text.value.len() <= MAX_KEY => {
                let text = self.id(text.value.to_str());
                self.new_value(Literal::Text(text))
            }
            Expr::StringLiteral(_) => self.plain("str"),
            Expr::BytesLiteral(_) => self.plain("bytes"),
            Expr::NumberLiteral(_) => match number(expr) {
                Some(value) => self.new_value(Literal::Number(value)),
                None => self.node(),
            },
            Expr::BooleanLiteral(_) | Expr::NoneLiteral(_) | Expr::EllipsisLiteral(_) | Expr::IpyEscapeCommand(_) => {
                self.node()
            }
        }
    }

    /// A part of an object, which a look before may have found.
    fn part(&mut self, base: NodeId, part: Part, step: impl FnOnce(NodeId) -> Step) -> NodeId {
        if let Some(known) = self.frames.last().and_then(|frame| frame.versions.part(base, part)) {
            return known;
        }
        let to = self.node();
        self.step(step(to));
        if let Some(frame) = self.frames.last_mut() {
            frame.versions.read_part(base, part, to);
        }
        to
    }

    fn either(&mut self, values: &[NodeId]) -> NodeId {
        let to = self.node();
        values.iter().for_each(|value| self.copy(*value, to));
        to
    }

    /// The place of what the function around yields.
    fn yields(&mut self) -> NodeId {
        let scope = self.frames.iter().rev().find(|frame| frame.kind == ScopeKind::Function).map(|frame| frame.scope);
        let node = self.node();
        let Some(scope) = scope.and_then(|scope| self.scope_mut(scope)) else { return node };
        *scope.yields.get_or_insert(node)
    }

    fn call(&mut self, call: &ExprCall) -> NodeId {
        let callee = self.value(&call.func);
        let mut arguments = Vec::new();
        for argument in &call.arguments.args {
            arguments.push(match argument {
                Expr::Starred(starred) => Argument::Star(self.value(&starred.value)),
                _ => Argument::Positional(self.value(argument)),
            });
        }
        for keyword in &call.arguments.keywords {
            let value = self.value(&keyword.value);
            arguments.push(match &keyword.arg {
                Some(name) => Argument::Keyword(self.id(name.as_str()), value),
                None => Argument::Keywords(value),
            });
        }
        let (result, scope) = (self.node(), self.here());
        self.call_step(Call { callee, arguments, result, scope, decorates: false });
        result
    }

    fn compare(&mut self, node: &ruff_python_ast::ExprCompare) -> NodeId {
        use ruff_python_ast::CmpOp;
        let scope = self.here();
        let mut left = self.value(&node.left);
        for (op, right) in node.ops.iter().zip(&node.comparators) {
            let right = self.value(right);
            let (base, name, argument) = match op {
                CmpOp::Eq => (left, "__eq__", right),
                CmpOp::NotEq => (left, "__ne__", right),
                CmpOp::Lt => (left, "__lt__", right),
                CmpOp::LtE => (left, "__le__", right),
                CmpOp::Gt => (left, "__gt__", right),
                CmpOp::GtE => (left, "__ge__", right),
                CmpOp::In | CmpOp::NotIn => (right, "__contains__", left),
                CmpOp::Is | CmpOp::IsNot => {
                    left = right;
                    continue;
                }
            };
            let to = self.node();
            self.step(Step::Special { base, name, arguments: vec![argument], to, scope });
            left = right;
        }
        self.node()
    }

    fn elements(&mut self, kind: ContainerKind, parts: &[Expr]) -> NodeId {
        let scope = self.here();
        let has_star = parts.iter().any(|part| part.is_starred_expr());
        let length = (!has_star).then_some(parts.len() as u32);
        let whole = self.new_value(Literal::Container(kind, length));
        for (position, part) in parts.iter().enumerate() {
            if position >= MAX_ELEMENTS && is_constant(part) {
                continue;
            }
            let from = self.value(part);
            if part.is_starred_expr() {
                self.step(Step::Spread { base: from, to: whole, scope });
                continue;
            }
            let is_told_apart = !has_star && position < MAX_ELEMENTS && kind != ContainerKind::Set;
            let key = if is_told_apart { Key::Number(position as i64) } else { Key::Any };
            self.step(Step::StoreIndex { base: whole, key, from, scope });
        }
        whole
    }

    fn comprehension(
        &mut self,
        kind: ContainerKind,
        generators: &[Comprehension],
        key: Option<&Expr>,
        element: &Expr,
    ) -> NodeId {
        let whole = self.new_value(Literal::Container(kind, None));
        let first = generators.first().map(|generator| self.value(&generator.iter));
        let name = self.module.scope(self.here()).map(|scope| scope.name.clone()).unwrap_or_default();
        let prefix = self.frames.last().map(|frame| frame.prefix.clone()).unwrap_or_default();
        let scope = self.enter(ScopeKind::Comprehension, Bindings::of_comprehension(generators), prefix, name);
        for (position, generator) in generators.iter().enumerate() {
            let base = match first.filter(|_| position == 0) {
                Some(base) => base,
                None => self.value(&generator.iter),
            };
            let to = self.node();
            self.step(Step::Element { base, to, scope });
            self.assign_in_comprehension(&generator.target, to);
            generator.ifs.iter().for_each(|test| {
                self.value(test);
            });
        }
        if let Some(key) = key {
            self.value(key);
        }
        let from = self.value(element);
        self.step(Step::StoreIndex { base: whole, key: Key::Any, from, scope });
        self.frames.pop();
        whole
    }

    /// The targets of a comprehension are its own.
    fn assign_in_comprehension(&mut self, target: &Expr, value: NodeId) {
        match target {
            Expr::Name(name) => {
                let position = self.frames.len().saturating_sub(1);
                self.write_in(position, &name.id, value, crate::module::Binding::Local(None));
            }
            Expr::Tuple(_) | Expr::List(_) => {
                let parts: &[Expr] = match target {
                    Expr::Tuple(tuple) => &tuple.elts,
                    Expr::List(list) => &list.elts,
                    _ => &[],
                };
                for (position, part) in parts.iter().enumerate() {
                    let (to, scope) = (self.node(), self.here());
                    self.step(Step::Index { base: value, key: Key::Number(position as i64), to, scope });
                    self.assign_in_comprehension(part, to);
                }
            }
            Expr::Starred(starred) => self.assign_in_comprehension(&starred.value, value),
            _ => self.assign(target, &Assigned::Value(value, None)),
        }
    }

    /// Which element a subscript names.
    pub(super) fn key(&mut self, expr: &Expr) -> Key {
        match expr {
            Expr::StringLiteral(text) if text.value.len() <= MAX_KEY => Key::Text(self.id(text.value.to_str())),
            _ => match number(expr) {
                Some(number) => Key::Number(number),
                None => Key::Value(self.value(expr)),
            },
        }
    }

    /// The classes that an annotation names. Those of `X | None`, `Optional[X]` and of one-line texts are found.
    pub(super) fn annotation(&mut self, expr: &Expr) -> Option<NodeId> {
        match expr {
            Expr::Name(_) | Expr::Attribute(_) => Some(self.value(expr)),
            Expr::BinOp(node) if node.op == Operator::BitOr => {
                let sides = [self.annotation(&node.left), self.annotation(&node.right)];
                let sides: Vec<NodeId> = sides.into_iter().flatten().collect();
                (!sides.is_empty()).then(|| self.either(&sides))
            }
            Expr::Subscript(subscript) => {
                self.value(&subscript.value);
                let name = match subscript.value.as_ref() {
                    Expr::Name(name) => name.id.as_str(),
                    Expr::Attribute(attribute) => attribute.attr.as_str(),
                    _ => "",
                };
                let inner = self.annotation(&subscript.slice);
                inner.filter(|_| matches!(name, "Optional" | "Annotated" | "ClassVar" | "Final"))
            }
            Expr::Tuple(tuple) => {
                let parts: Vec<Option<NodeId>> = tuple.elts.iter().map(|part| self.annotation(part)).collect();
                parts.into_iter().next().flatten()
            }
            Expr::StringLiteral(text) => {
                let text = text.value.to_str();
                let is_dotted = !text.is_empty() && text.split('.').all(twincell_syntax::python::is_identifier);
                if !is_dotted || text.len() > MAX_KEY {
                    return None;
                }
                let mut parts = text.split('.');
                let first = parts.next()?;
                let id = self.mangled(first);
                self.refer(expr.range(), Target::Name(id), false);
                let mut base = self.read_later(first);
                for part in parts {
                    let (name, to, scope) = (self.mangled(part), self.node(), self.here());
                    self.refer(expr.range(), Target::Attribute(base, name), false);
                    self.step(Step::Load { base, name, to, scope });
                    base = to;
                }
                Some(base)
            }
            Expr::NoneLiteral(_) => None,
            _ => {
                self.value(expr);
                None
            }
        }
    }

    /// The value that a name has in the end.
    fn read_later(&mut self, name: &str) -> NodeId {
        let id = self.mangled(name);
        let scope = self.frames.iter().rev().find(|frame| frame.bindings.is_local(name)).map(|frame| frame.scope);
        match scope {
            Some(scope) => self.variable(scope, id),
            None => self.read(name),
        }
    }
}

/// A number that is written out.
fn number(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(value) => value.as_i64(),
            _ => None,
        },
        Expr::UnaryOp(node) if node.op == UnaryOp::USub => match node.operand.as_ref() {
            Expr::NumberLiteral(_) => number(&node.operand).map(|value| -value),
            _ => None,
        },
        _ => None,
    }
}

fn is_constant(expr: &Expr) -> bool {
    expr.is_literal_expr() || number(expr).is_some()
}

fn operator(op: Operator) -> (&'static str, &'static str) {
    match op {
        Operator::Add => ("__add__", "__radd__"),
        Operator::Sub => ("__sub__", "__rsub__"),
        Operator::Mult => ("__mul__", "__rmul__"),
        Operator::MatMult => ("__matmul__", "__rmatmul__"),
        Operator::Div => ("__truediv__", "__rtruediv__"),
        Operator::Mod => ("__mod__", "__rmod__"),
        Operator::Pow => ("__pow__", "__rpow__"),
        Operator::LShift => ("__lshift__", "__rlshift__"),
        Operator::RShift => ("__rshift__", "__rrshift__"),
        Operator::BitOr => ("__or__", "__ror__"),
        Operator::BitXor => ("__xor__", "__rxor__"),
        Operator::BitAnd => ("__and__", "__rand__"),
        Operator::FloorDiv => ("__floordiv__", "__rfloordiv__"),
    }
}

/// Whether an annotation names all classes that it allows, apart from `None`.
pub(super) fn names_all(annotation: &Expr) -> bool {
    match annotation {
        Expr::Name(_) | Expr::Attribute(_) | Expr::StringLiteral(_) | Expr::NoneLiteral(_) => true,
        Expr::BinOp(node) => node.op == Operator::BitOr && names_all(&node.left) && names_all(&node.right),
        Expr::Subscript(subscript) => {
            let name = match subscript.value.as_ref() {
                Expr::Name(name) => name.id.as_str(),
                Expr::Attribute(attribute) => attribute.attr.as_str(),
                _ => "",
            };
            matches!(name, "Optional" | "ClassVar" | "Final") && names_all(&subscript.slice)
        }
        _ => false,
    }
}
