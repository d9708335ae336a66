//! The texts that stand in a program.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, StringLiteral};

use crate::parse::{parse, with_stack_for};

/// The literals of text in a program, joined where they stand one after the other, and without what f-strings insert.
pub fn texts(program: &str) -> BTreeSet<String> {
    with_stack_for(program.len(), || {
        let mut found = Texts::default();
        found.visit_body(&parse(program).syntax().body);
        found.0
    })
}

#[derive(Default)]
struct Texts(BTreeSet<String>);

impl Visitor<'_> for Texts {
    fn visit_expr(&mut self, expression: &Expr) {
        match expression {
            Expr::StringLiteral(literal) => drop(self.0.insert(literal.value.to_str().to_owned())),
            _ => walk_expr(self, expression),
        }
    }

    fn visit_string_literal(&mut self, literal: &StringLiteral) {
        self.0.insert(literal.as_str().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_wherever_they_stand() {
        let program = "def f(a='x'):\n    return open('a' 'b.csv'), f'{a}{\"c\"}', b'no'\n";
        assert_eq!(texts(program), ["ab.csv", "c", "x"].map(str::to_owned).into());
    }
}
