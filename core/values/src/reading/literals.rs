//! The literals of functions, which become values to inject.

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Expr, ExprNumberLiteral, InterpolatedStringElement, Number, Stmt, UnaryOp};
use rustc_hash::FxHashSet;

use twincell_syntax::Function;
use twincell_syntax::parse::{parse, with_stack_for};

use super::written::{literal, named};
use crate::value::Recipe;

/// The maximum number of literals. A table of thousands would drown the rest.
const LIMIT: usize = 200;

/// The literals of some functions as recipes (int, float, str, bytes, and the constant parts of f-strings), each once,
/// in order of appearance, at most 200. Docstrings and annotations do not count, and ints beyond 64 bits are left out.
pub fn literals(functions: &[&Function]) -> Vec<Recipe> {
    let mut collector = Collector { seen: FxHashSet::default(), literals: Vec::new() };
    for function in functions {
        with_stack_for(function.text.len(), || {
            let parsed = parse(&function.text);
            collector.visit_body(parsed.suite());
        });
    }
    collector.literals
}

/// The maximum length of a value that a person writes, in bytes.
const LONGEST_VALUE: usize = 10_000;
/// The maximum nesting of a value that a person writes.
const DEEPEST_VALUE: u32 = 50;

/// The value that a person wrote: a Python literal, or a list, tuple, set or dictionary of literals. `None` for
/// anything else.
pub fn written_value(text: &str) -> Option<Recipe> {
    if text.len() > LONGEST_VALUE {
        return None;
    }
    with_stack_for(text.len(), || {
        let parsed = ruff_python_parser::parse_expression(text.trim()).ok()?;
        written(parsed.expr(), DEEPEST_VALUE)
    })
}

fn written(expr: &Expr, levels: u32) -> Option<Recipe> {
    let levels = levels.checked_sub(1)?;
    container(expr, &|item| written(item, levels)).unwrap_or_else(|| match expr {
        Expr::Call(node) if node.arguments.is_empty() && named(&node.func).as_deref() == Some("set") => {
            Some(Recipe::Set(vec![]))
        }
        _ => literal(expr),
    })
}

/// A list, tuple, set or dictionary, whose items are read by `item`. `None` for any other expression.
pub(super) fn container(expr: &Expr, item: &dyn Fn(&Expr) -> Option<Recipe>) -> Option<Option<Recipe>> {
    let all = |items: &[Expr]| items.iter().map(item).collect::<Option<Vec<_>>>();
    let set = |items: Vec<Recipe>| items.iter().all(is_hashable).then_some(Recipe::Set(items));
    let entry = |entry: &ruff_python_ast::DictItem| {
        let key = entry.key.as_ref().and_then(item).filter(is_hashable)?;
        Some((key, item(&entry.value)?))
    };
    Some(match expr {
        Expr::List(node) => all(&node.elts).map(Recipe::List),
        Expr::Tuple(node) => all(&node.elts).map(Recipe::Tuple),
        Expr::Set(node) => all(&node.elts).and_then(set),
        Expr::Dict(node) => node.items.iter().map(entry).collect::<Option<Vec<_>>>().map(Recipe::Dict),
        _ => return None,
    })
}

/// Whether a value that code writes can be a key.
pub(super) fn is_hashable(recipe: &Recipe) -> bool {
    match recipe {
        Recipe::List(_) | Recipe::Dict(_) | Recipe::Set(_) => false,
        Recipe::Tuple(items) => items.iter().all(is_hashable),
        _ => true,
    }
}

/// The identity of a literal: `1` and `1.0` are two.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Int(i64),
    Float(u64),
    Str(String),
    Bytes(Vec<u8>),
}

struct Collector {
    seen: FxHashSet<Key>,
    literals: Vec<Recipe>,
}

impl Collector {
    fn add(&mut self, key: Key, recipe: Recipe) {
        if self.literals.len() < LIMIT && self.seen.insert(key) {
            self.literals.push(recipe);
        }
    }

    fn text(&mut self, text: &str) {
        self.add(Key::Str(text.to_owned()), Recipe::Str(text.to_owned()));
    }

    fn number(&mut self, number: &ExprNumberLiteral, negative: bool) {
        match &number.value {
            Number::Int(int) => {
                let value = int.as_u64().map(i128::from).map(|value| if negative { -value } else { value });
                if let Some(value) = value.and_then(|value| i64::try_from(value).ok()) {
                    self.add(Key::Int(value), Recipe::Int(value));
                }
            }
            Number::Float(value) => {
                let value = if negative { -value } else { *value };
                if value.is_finite() {
                    self.add(Key::Float(value.to_bits()), Recipe::Float(value));
                }
            }
            Number::Complex { .. } => {}
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Collector {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Expr(statement) if statement.value.is_string_literal_expr() => {}
            _ => source_order::walk_stmt(self, stmt),
        }
    }

    fn visit_annotation(&mut self, _expr: &'a Expr) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::NumberLiteral(number) => self.number(number, false),
            Expr::UnaryOp(unary) if unary.op == UnaryOp::USub => match unary.operand.as_ref() {
                Expr::NumberLiteral(number) => self.number(number, true),
                operand => self.visit_expr(operand),
            },
            Expr::StringLiteral(string) => self.text(string.value.to_str()),
            Expr::BytesLiteral(bytes) => {
                let bytes: Vec<u8> = bytes.value.bytes().collect();
                self.add(Key::Bytes(bytes.clone()), Recipe::Bytes(bytes));
            }
            _ => source_order::walk_expr(self, expr),
        }
    }

    fn visit_string_literal(&mut self, literal: &'a ruff_python_ast::StringLiteral) {
        self.text(literal);
    }

    fn visit_interpolated_string_element(&mut self, element: &'a InterpolatedStringElement) {
        match element {
            InterpolatedStringElement::Literal(literal) => self.text(literal),
            InterpolatedStringElement::Interpolation(interpolation) => self.visit_expr(&interpolation.expression),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_within_too_many_others_is_none() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(written_value(&nested(50)).is_some());
        assert_eq!(written_value(&nested(51)), None);
        assert_eq!(written_value(&nested(4_999)), None);
    }
}
