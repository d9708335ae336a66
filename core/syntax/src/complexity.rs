//! Cyclomatic complexity: one more than the number of branching points.

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Comprehension, ElifElseClause, ExceptHandler, Expr, MatchCase, Stmt};

use super::parse::{parse, with_stack_for};

/// Counts one, plus one for each condition (`if`, `elif`, `while`, a conditional expression, an `if` of a
/// comprehension), loop, handler, refutable case, assertion, and further operand of `and` and `or`. None for a text
/// that is not Python.
pub fn complexity(text: &str) -> Option<u32> {
    with_stack_for(text.len(), || {
        let parsed = parse(text);
        if !parsed.errors().is_empty() {
            return None;
        }
        let mut forks = Forks { count: 1 };
        forks.visit_body(parsed.suite());
        Some(forks.count)
    })
}

struct Forks {
    count: u32,
}

impl<'a> SourceOrderVisitor<'a> for Forks {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if matches!(statement, Stmt::If(_) | Stmt::For(_) | Stmt::While(_) | Stmt::Assert(_)) {
            self.count += 1;
        }
        source_order::walk_stmt(self, statement);
    }

    fn visit_elif_else_clause(&mut self, clause: &'a ElifElseClause) {
        self.count += u32::from(clause.test.is_some());
        source_order::walk_elif_else_clause(self, clause);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        self.count += 1;
        source_order::walk_except_handler(self, handler);
    }

    fn visit_match_case(&mut self, case: &'a MatchCase) {
        self.count += u32::from(case.guard.is_some() || !case.pattern.is_irrefutable());
        source_order::walk_match_case(self, case);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        self.count += match expression {
            Expr::If(_) => 1,
            Expr::BoolOp(operation) => operation.values.len().saturating_sub(1) as u32,
            _ => 0,
        };
        source_order::walk_expr(self, expression);
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        self.count += 1 + comprehension.ifs.len() as u32;
        source_order::walk_comprehension(self, comprehension);
    }
}

#[cfg(test)]
mod tests {
    use super::complexity;

    #[test]
    fn every_fork_counts_once() {
        for (text, expected) in [
            ("def f():\n    return 1\n", 1),
            (
                "def f(a):\n    if a:\n        return 1\n    elif a is None:\n        return 2\n    else:\n        return 3\n",
                3,
            ),
            ("def f(a):\n    for x in a:\n        while x and a or f:\n            x = 1 if a else 2\n", 6),
            (
                "def f(a):\n    try:\n        a()\n    except ValueError:\n        pass\n    except KeyError:\n        pass\n",
                3,
            ),
            ("def f(a):\n    return [x for y in a if y for x in y if x if y]\n", 6),
            (
                "def f(a):\n    match a:\n        case 1:\n            pass\n        case x if x:\n            pass\n        case _:\n            pass\n",
                3,
            ),
            ("f = lambda a: a and 1\n", 2),
            ("def f(a):\n    assert a\n    with a:\n        pass\n", 2),
        ] {
            assert_eq!(complexity(text), Some(expected), "{text}");
        }
        assert_eq!(complexity("def f(:"), None);
    }
}
