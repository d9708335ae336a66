//! Names within the texts of queries on tables: `df.query('price > @limit')` reads `limit`.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, ExprCall};

/// The methods of tables that evaluate a text with the names of the code around it.
pub const EVALUATORS: [&str; 2] = ["query", "eval"];

/// The names behind `@` in the text of a query.
pub fn names_in_query(text: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let ends = |rest: &str| rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let names = text.split('@').skip(1).map(|rest| &rest[..ends(rest)]);
    names.filter(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_')).collect()
}

/// The names that a call reads by the literal text of a query.
pub(crate) fn names_of_call(call: &ExprCall) -> BTreeSet<&str> {
    match (call.func.as_ref(), call.arguments.find_positional(0)) {
        (Expr::Attribute(method), Some(Expr::StringLiteral(text))) if EVALUATORS.contains(&method.attr.as_str()) => {
            names_in_query(text.value.to_str())
        }
        _ => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_behind_an_at_sign() {
        let names = |text| names_in_query(text).into_iter().collect::<Vec<_>>();
        assert_eq!(names("price > @limit * 2 and `unit price` < @ä.b or x == @_y"), ["_y", "limit", "ä"]);
        assert!(names("mail == 'a@' or @ or @2").is_empty());
    }
}
