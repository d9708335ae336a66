//! How much code a function has, which is what the time of a comparison grows with.

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Expr, Stmt};

use super::parse::{parse, with_stack_for};

/// The number of statements and expressions of a text.
pub fn size(text: &str) -> u32 {
    with_stack_for(text.len(), || {
        let parsed = parse(text);
        let mut parts = Parts { count: 0 };
        parts.visit_body(parsed.suite());
        parts.count
    })
}

struct Parts {
    count: u32,
}

impl<'a> SourceOrderVisitor<'a> for Parts {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.count = self.count.saturating_add(1);
        source_order::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        self.count = self.count.saturating_add(1);
        source_order::walk_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn statements_and_expressions_count_once_each() {
        for (text, expected) in [("pass\n", 1), ("x = 1\n", 3), ("def f(x):\n    return x.a + 1\n", 6), ("", 0)] {
            assert_eq!(size(text), expected, "{text}");
        }
    }
}
