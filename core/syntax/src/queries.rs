//! Names within the texts of queries on tables: `df.query('price > @limit')` reads `limit`.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, ExprCall};

/// The methods of tables that evaluate a text with the names of the code around it.
pub const EVALUATORS: [&str; 2] = ["query", "eval"];

/// The names behind `@` in the text of a query.
pub fn names_in_query(text: &str) -> BTreeSet<&str> {
    outside_of_quotes(text).flat_map(names_behind_at).collect()
}

/// The parts of a text that are in no quotes. Column names in backticks count as quoted.
fn outside_of_quotes(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let own = rest.take()?;
        let Some(at) = own.find(['\'', '"', '`']) else { return Some(own) };
        let quote = own[at..].chars().next().unwrap_or('"');
        let quoted = &own[at + 1..];
        rest = quoted.find(quote).map(|end| &quoted[end + 1..]);
        Some(&own[..at])
    })
}

fn names_behind_at(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let end = move |rest: &str| rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let names = text.split('@').skip(1).map(move |rest| &rest[..end(rest)]);
    names.filter(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'))
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
        assert!(names("mail == 'a@example.com' or @ or @2 or `@x` == \"@y\"").is_empty());
        assert_eq!(names("mail == 'a@b' and x > @limit"), ["limit"]);
    }
}
