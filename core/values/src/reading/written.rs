//! The literal values and names in an expression.

use ruff_python_ast::{Expr, Number, UnaryOp};

use crate::value::{AbstractValue, Recipe};

/// A literal as a recipe, if it is a plain one.
pub fn literal(expr: &Expr) -> Option<Recipe> {
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
pub(crate) fn named(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(node) => Some(format!("{}.{}", named(&node.value)?, node.attr)),
        Expr::EllipsisLiteral(_) => Some("Ellipsis".into()),
        _ => None,
    }
}

/// The class of values that the name of a builtin class stands for.
pub(in crate::reading) fn builtin_class(name: &str) -> Option<AbstractValue> {
    use AbstractValue as A;
    let plain = [A::Bool, A::Int, A::Float, A::Str, A::List, A::Tuple, A::Dict, A::Set];
    plain.into_iter().find(|class| class.name() == name)
}

/// Whether a name looks like that of a constant.
pub(super) fn is_constant(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    last.chars().any(char::is_uppercase) && !last.chars().any(char::is_lowercase)
        || matches!(last, "NotImplemented" | "Ellipsis")
}

/// The members of a display of literals and constants.
pub(super) fn members(expr: &Expr) -> Vec<Recipe> {
    let elements = match expr {
        Expr::List(node) => &node.elts,
        Expr::Tuple(node) => &node.elts,
        Expr::Set(node) => &node.elts,
        _ => return literal_members(expr),
    };
    let constant = |expr: &Expr| named(expr).filter(|name| is_constant(name)).map(Recipe::Named);
    elements.iter().filter_map(|element| literal(element).or_else(|| constant(element))).collect()
}

/// The literal members of a display: the items of a list, tuple or set, or the keys of a dict.
pub(crate) fn literal_members(expr: &Expr) -> Vec<Recipe> {
    let elements = match expr {
        Expr::List(node) => &node.elts,
        Expr::Tuple(node) => &node.elts,
        Expr::Set(node) => &node.elts,
        Expr::Dict(node) => return node.items.iter().filter_map(|item| item.key.as_ref().and_then(literal)).collect(),
        _ => return Vec::new(),
    };
    elements.iter().filter_map(literal).collect()
}
