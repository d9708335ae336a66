//! Names that a snippet only tests: those of truth values.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt, UnaryOp};

use twincell_syntax::dotted;
use twincell_values::path::AccessPath;

use crate::signatures::{function_at, function_of};

/// The names of variables, attributes and results of functions of which nothing is asked but whether they are true, anywhere
/// in a text: dotted names, or else as in `signatures.rs`: `is_open()` is what `self.is_open(door)` gives.
pub(crate) fn flags(body: &[Stmt]) -> BTreeSet<String> {
    let mut uses = Uses::default();
    uses.visit_body(body);
    let is_flag = |(name, (tests, all)): (String, (isize, isize))| (tests > 0 && tests == all).then_some(name);
    uses.counts.into_iter().filter_map(is_flag).collect()
}

/// Whether an access path is one of them.
pub(crate) fn is_flag(path: &str, flags: &BTreeSet<String>) -> bool {
    flags.contains(path) || !AccessPath::new(path).is_dotted() && flags.contains(&function_at(path))
}

fn name_of(expression: &Expr) -> Option<String> {
    dotted(expression).or_else(|| function_of(expression))
}

#[derive(Default)]
struct Uses {
    /// (tests, all uses), by name.
    counts: BTreeMap<String, (isize, isize)>,
}

impl Uses {
    /// An expression whose truth is asked.
    fn test(&mut self, expression: &Expr) {
        match expression {
            Expr::BoolOp(both) => both.values.iter().for_each(|value| self.test(value)),
            // Its operand is tested wherever it stands.
            Expr::UnaryOp(not) if not.op == UnaryOp::Not => {}
            other => {
                if let Some(name) = name_of(other) {
                    self.counts.entry(name).or_default().0 += 1;
                }
            }
        }
    }
}

impl Visitor<'_> for Uses {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::If(node) => {
                self.test(&node.test);
                node.elif_else_clauses
                    .iter()
                    .filter_map(|clause| clause.test.as_ref())
                    .for_each(|test| self.test(test));
            }
            Stmt::While(node) => self.test(&node.test),
            Stmt::Assert(node) => self.test(&node.test),
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        match expression {
            Expr::If(node) => self.test(&node.test),
            Expr::UnaryOp(not) if not.op == UnaryOp::Not => self.test(&not.operand),
            Expr::Compare(node) if node.comparators.iter().all(Expr::is_none_literal_expr) => {
                // Whether there is one at all.
                if let Some(name) = name_of(&node.left) {
                    self.counts.entry(name).or_default().1 -= 1;
                }
            }
            Expr::Name(name) if !name.ctx.is_load() => {}
            Expr::Attribute(attribute) if !attribute.ctx.is_load() => {}
            other => {
                if let Some(name) = name_of(other) {
                    self.counts.entry(name).or_default().1 += 1;
                }
            }
        }
        walk_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use twincell_syntax::parse::parse;

    use super::*;

    #[test]
    fn an_attribute_of_something_else_is_another_one() {
        let flags = flags(parse("if self.debug:\n    logger.debug(1)\n").suite());
        assert!(is_flag("self.debug", &flags) && !is_flag("logger.debug", &flags) && !is_flag("self", &flags));
    }

    #[test]
    fn what_is_only_tested_is_a_flag() {
        let found = |text: &str| flags(parse(text).suite()).into_iter().collect::<Vec<_>>();
        assert_eq!(
            found("if self.debug and not quiet:\n    print(1 if binary else 2)\n"),
            ["binary", "quiet", "self.debug"]
        );
        assert_eq!(found("if name:\n    print(name)\nwhile size > 3:\n    pass\n"), [""; 0]);
        assert_eq!(found("if a is not None and a:\n    pass\nprint(not b['c'] or d)\n"), ["a", "c"]);
        assert_eq!(found("if a is None:\n    pass\n"), [""; 0]);
        assert_eq!(found("if a:\n    pass\nelif b:\n    pass\n"), ["a", "b"]);
        assert_eq!(
            found("if self.open:\n    self.open = False\nif ready(door):\n    print(door)\n"),
            ["ready()", "self.open"]
        );
    }
}
