//! Guards against None: tests for None, and tests of a value's truth.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Comprehension, ElifElseClause, Expr, ExprCompare, Stmt, UnaryOp};
use ruff_text_size::Ranged;

use super::parse::{Lines, parse, with_stack_for};

/// A test of one value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Guard {
    /// 1-based.
    pub line: u32,
    /// The line where the enclosing statement or clause begins. If this line ran, so did the test.
    pub statement: u32,
    /// The value, as written in the code.
    pub value: String,
    pub tested: Tested,
}

/// What is tested of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tested {
    /// Whether it is None.
    Nothing,
    /// Its truth.
    Truth,
    /// The truth of what a call answers. Apart from look-ups, calls answer yes or no.
    Answer,
}

impl Guard {
    /// Whether this line of code also uses the value.
    pub fn concerns(&self, line: &str) -> bool {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        line.match_indices(&self.value).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + self.value.len()..]);
            !before.ends_with(|c| is_name(c) || c == '.') && !after.starts_with(is_name)
        })
    }
}

/// Whether the values whose truth is tested are others in the two versions of some texts: `x or 1` in place of
/// `1 if x is None else x`.
pub fn tests_other_truths<'a>(old: impl Iterator<Item = &'a str>, new: impl Iterator<Item = &'a str>) -> bool {
    fn tested<'a>(texts: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
        texts.flat_map(guards).filter(|guard| guard.tested == Tested::Truth).map(|guard| guard.value).collect()
    }
    tested(old) != tested(new)
}

/// The tests for None or for truth, by line.
pub fn guards(text: &str) -> Vec<Guard> {
    with_stack_for(text.len(), || {
        let parsed = parse(text);
        let lines = Lines::new(text);
        let mut finder = Finder { text, lines: &lines, found: BTreeSet::new(), statement: 1 };
        finder.visit_body(parsed.suite());
        finder.found.into_iter().collect()
    })
}

struct Finder<'a> {
    text: &'a str,
    lines: &'a Lines<'a>,
    found: BTreeSet<Guard>,
    /// The first line of the current statement or clause.
    statement: u32,
}

impl Finder<'_> {
    /// Records a test of the truth of a value, or of the values that `and`, `or` and `not` combine.
    fn truth(&mut self, test: &Expr) {
        match test {
            Expr::BoolOp(operation) => operation.values.iter().for_each(|value| self.truth(value)),
            Expr::UnaryOp(operation) if operation.op == UnaryOp::Not => self.truth(&operation.operand),
            value => self.value(value, truth_of(value)),
        }
    }

    /// Records a test of a single value.
    fn value(&mut self, test: &Expr, tested: Tested) {
        let value = match test {
            Expr::Named(named) => &named.target,
            _ => test,
        };
        if matches!(value, Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_) | Expr::Call(_)) {
            let value = self.text[value.range()].to_owned();
            let line = self.lines.line(test.start());
            self.found.insert(Guard { line, statement: self.statement, value, tested });
        }
    }
}

/// What a test of an expression tests of it.
fn truth_of(expr: &Expr) -> Tested {
    let Expr::Call(call) = expr else { return Tested::Truth };
    let looks_up = call.func.as_attribute_expr().is_some_and(|method| matches!(method.attr.as_str(), "get" | "pop"));
    if looks_up { Tested::Truth } else { Tested::Answer }
}

/// The value that is compared with None.
fn compared_with_none(compare: &ExprCompare) -> Option<&Expr> {
    compare.comparators.first().filter(|right| right.is_none_literal_expr()).map(|_| &*compare.left)
}

impl<'a> SourceOrderVisitor<'a> for Finder<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let around = std::mem::replace(&mut self.statement, self.lines.line(stmt.start()));
        match stmt {
            Stmt::If(branch) => self.truth(&branch.test),
            Stmt::While(repeated) => self.truth(&repeated.test),
            Stmt::Assert(assertion) => self.truth(&assertion.test),
            _ => {}
        }
        source_order::walk_stmt(self, stmt);
        self.statement = around;
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Compare(compare) => {
                compared_with_none(compare).into_iter().for_each(|value| self.value(value, Tested::Nothing))
            }
            // The last operand is the result, not a test.
            Expr::BoolOp(operation) => operation
                .values
                .split_last()
                .into_iter()
                .flat_map(|(_, tested)| tested)
                .for_each(|test| self.truth(test)),
            Expr::UnaryOp(operation) if operation.op == UnaryOp::Not => self.truth(&operation.operand),
            Expr::If(ternary) => self.truth(&ternary.test),
            _ => {}
        }
        source_order::walk_expr(self, expr);
    }

    fn visit_elif_else_clause(&mut self, clause: &'a ElifElseClause) {
        self.statement = self.lines.line(clause.start());
        if let Some(test) = &clause.test {
            self.truth(test);
        }
        source_order::walk_elif_else_clause(self, clause);
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        comprehension.ifs.iter().for_each(|test| self.truth(test));
        source_order::walk_comprehension(self, comprehension);
    }
}

#[cfg(test)]
mod tests {
    use super::guards;

    #[test]
    fn a_test_for_none_is_no_test_for_truth() {
        let others = |old: &str, new: &str| super::tests_other_truths([old].into_iter(), [new].into_iter());
        let of_none = "def f(x):\n    return 1 if x.y is None else x.y\n";
        assert!(others(of_none, "def f(x):\n    return x.y or 1\n"));
        assert!(!others(of_none, "def f(x):\n    return x.y if x.y is not None else 1\n"));
        assert!(others(
            "def f(a, b):\n    if a and b is not None: return 1\n",
            "def f(a, b):\n    if a and b: return 1\n"
        ));
        assert!(!others("def f(x):\n    if g(x, 1): return 1\n", "def f(x):\n    if g(x, 2): return 1\n"));
        assert!(others("def f(x):\n    return x.get(1)\n", "def f(x):\n    return x.get(1) or 2\n"));
        assert!(!others("def f(x):\n    if x: return 1\n", "def f(x):\n    if not x: return 2\n    return 1\n"));
    }

    #[test]
    fn tests_for_none_and_for_truth_are_guards() {
        let text = "def f(a, b):\n    if a is None:\n        return 0\n    if not b.c:\n        return 1\n    if a > 2:\n        b()\n    return a or b\n";
        let found: Vec<_> = guards(text).into_iter().map(|guard| (guard.line, guard.value)).collect();
        assert_eq!(guards("def f(n):\n    if not n or n <= 0:\n        return 1\n").len(), 1);
        assert_eq!(found, [(2, "a".into()), (4, "b.c".into()), (8, "a".into())]);
    }

    #[test]
    fn a_test_over_several_lines_runs_where_its_statement_begins() {
        let text = "def f(a, b):\n    if (a > 1\n            and b is not None\n            and b):\n        return b\n    elif (\n        a is None\n    ):\n        return 1\n";
        let found: Vec<_> = guards(text).into_iter().map(|guard| (guard.line, guard.statement, guard.value)).collect();
        assert_eq!(found, [(3, 2, "b".into()), (4, 2, "b".into()), (7, 6, "a".into())]);
    }

    #[test]
    fn what_stands_after_nested_statements_belongs_to_the_outer_one() {
        let text = "def f(a):\n    match a:\n        case 1 if a:\n            x = 1\n        case _ if a is None:\n            return 1\n";
        let found: Vec<_> = guards(text).into_iter().map(|guard| (guard.line, guard.statement)).collect();
        assert_eq!(found, [(5, 2)]);
    }

    #[test]
    fn what_tests_for_something_else_is_none() {
        assert!(guards("def f(a, b):\n    if a == 1 or b in a:\n        return a\n").is_empty());
    }
}
