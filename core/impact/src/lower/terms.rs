//! Expressions as terms: what a value is made of, whatever its text. What is not described has no term, and is the same in
//! another version only where its text is.

use ruff_python_ast::{CmpOp, Expr, ExprCall, Number};
use ruff_text_size::Ranged;

use super::arguments::{Argument, ArgumentKind};
use super::draft::{Builder, Made, Place};
use crate::program::{Operator, Term, hash_of};

impl<'a> Builder<'_, 'a> {
    /// The value of an expression whose calls are nodes already.
    pub fn term(&mut self, expr: &'a Expr) -> Option<Term<Place>> {
        if let Some(result) = self.results.get(&expr.range()) {
            return Some(Term::Variable(*result));
        }
        let scalar = self.made(expr) == Made::Scalar;
        let failing = |what: u64| Operator::failing(what, !scalar);
        Some(match expr {
            Expr::Name(name) => match self.read_name(&name.id)[..] {
                [] => Term::Constant(hash_of(("builtin", name.id.as_str()))),
                [place] => Term::Variable(place),
                _ => return None,
            },
            Expr::NumberLiteral(node) => Term::Constant(hash_of(("number", format!("{:?}", node.value)))),
            Expr::StringLiteral(node) => Term::Constant(hash_of(("text", node.value.to_str()))),
            Expr::BytesLiteral(node) => Term::Constant(hash_of(("bytes", node.value.bytes().collect::<Vec<u8>>()))),
            Expr::BooleanLiteral(node) => Term::Constant(hash_of(("truth", node.value))),
            Expr::NoneLiteral(_) => Term::Constant(hash_of("none")),
            Expr::EllipsisLiteral(_) => Term::Constant(hash_of("ellipsis")),
            Expr::Attribute(node) => {
                let name = self.attribute_name(node);
                let operator = Operator::failing(("attribute", &*name), false);
                Term::Apply(operator, vec![self.term(&node.value)?])
            }
            Expr::Subscript(node) => {
                let parts = vec![self.term(&node.value)?, self.term(&node.slice)?];
                Term::Apply(failing(hash_of("item")), parts)
            }
            Expr::Slice(node) => {
                let none = Term::Constant(hash_of("none"));
                let mut parts = Vec::new();
                for part in [&node.lower, &node.upper, &node.step] {
                    parts.push(match part {
                        Some(part) => self.term(part)?,
                        None => none.clone(),
                    });
                }
                Term::Apply(Operator::plain("slice"), parts)
            }
            Expr::Tuple(node) => Term::Apply(Operator::plain(("tuple", node.elts.len())), self.terms(&node.elts)?),
            Expr::BinOp(node) if is_zero(&node.right) && self.is_whole_number(&node.left) && is_sum(node.op) => {
                self.term(&node.left)?
            }
            Expr::BinOp(node) => {
                let parts = vec![self.term(&node.left)?, self.term(&node.right)?];
                Term::Apply(failing(hash_of(("binary", node.op.as_str()))), parts)
            }
            Expr::UnaryOp(node) if node.op == ruff_python_ast::UnaryOp::Not => {
                Term::Apply(Operator::not(), vec![self.term(&node.operand)?])
            }
            Expr::UnaryOp(node) => {
                Term::Apply(failing(hash_of(("unary", node.op.as_str()))), vec![self.term(&node.operand)?])
            }
            Expr::Compare(node) => {
                let names: Vec<&str> = node.ops.iter().map(|op| op.as_str()).collect();
                let is_identity = node.ops.iter().all(|op| matches!(op, CmpOp::Is | CmpOp::IsNot));
                let mut parts = vec![self.term(&node.left)?];
                parts.extend(self.terms(&node.comparators)?);
                let operator = Operator { fails: !is_identity, ..Operator::plain(("compare", names)) };
                Term::Apply(operator, parts)
            }
            Expr::BoolOp(node) => {
                Term::Apply(Operator::plain(("either", node.op.as_str(), node.values.len())), self.terms(&node.values)?)
            }
            Expr::If(node) => {
                let parts = vec![self.term(&node.test)?, self.term(&node.body)?, self.term(&node.orelse)?];
                Term::Apply(Operator::choice(), parts)
            }
            _ => return None,
        })
    }

    /// Whether an expression is a parameter that is declared a whole number and was not assigned before.
    fn is_whole_number(&mut self, expr: &Expr) -> bool {
        let Expr::Name(name) = expr else { return false };
        let Some(parameters) = self.world.declared.procedures[self.procedure.index()].parameters() else {
            return false;
        };
        let [place @ Place::Local(_)] = self.read_name(&name.id)[..] else { return false };
        let mut all = parameters.posonlyargs.iter().chain(&parameters.args).chain(&parameters.kwonlyargs);
        let annotation = all.find(|one| one.name().as_str() == name.id.as_str()).and_then(|one| one.annotation());
        let is_declared = matches!(annotation, Some(Expr::Name(kind)) if kind.id == "int");
        let writes = self.draft.nodes.iter().filter(|node| node.writes.contains(&place));
        is_declared && !self.is_in_loop() && writes.count() == 1
    }

    fn terms(&mut self, all: &'a [Expr]) -> Option<Vec<Term<Place>>> {
        all.iter().map(|one| self.term(one)).collect()
    }

    /// What a call is made of: the function and its arguments, in order.
    pub fn call_term(&mut self, call: &'a ExprCall, arguments: &[Argument<'a>]) -> Option<Term<Place>> {
        let function = match call.func.as_ref() {
            Expr::Attribute(attribute) if !self.results.contains_key(&attribute.range) => {
                let name = self.attribute_name(attribute);
                let operator = Operator::failing(("attribute", &*name), false);
                Term::Apply(operator, vec![self.term(&attribute.value)?])
            }
            other => self.term(other)?,
        };
        let kinds: Vec<(u8, &str)> = arguments
            .iter()
            .map(|argument| match argument.kind {
                ArgumentKind::Positional => (0, ""),
                ArgumentKind::Star => (1, ""),
                ArgumentKind::Keyword(name) => (2, name),
                ArgumentKind::Keywords => (3, ""),
            })
            .collect();
        let mut parts = vec![function];
        for argument in arguments {
            parts.push(argument.term.clone()?);
        }
        Some(Term::Apply(Operator::acting(("call", kinds)), parts))
    }
}

fn is_zero(expr: &Expr) -> bool {
    matches!(expr, Expr::NumberLiteral(node) if matches!(&node.value, Number::Int(value) if value.as_u64() == Some(0)))
}

fn is_sum(operator: ruff_python_ast::Operator) -> bool {
    matches!(operator, ruff_python_ast::Operator::Add | ruff_python_ast::Operator::Sub)
}
