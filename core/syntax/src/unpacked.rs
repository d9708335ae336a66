//! Lines that unpack the parts of a text: `name, value = line.split('=', 1)`.

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use super::parse::{Lines, parse, with_stack_for};

/// The 1-based first lines of statements that unpack what splitting a text gives. How many parts it gives depends on
/// the text.
pub fn unpacked_splits(text: &str) -> Vec<u32> {
    with_stack_for(text.len(), || {
        let parsed = parse(text);
        let lines = Lines::new(text);
        let mut finder = Finder { lines: &lines, found: Vec::new() };
        finder.visit_body(parsed.suite());
        finder.found
    })
}

struct Finder<'a> {
    lines: &'a Lines<'a>,
    found: Vec<u32>,
}

impl<'a> SourceOrderVisitor<'a> for Finder<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::Assign(node) = stmt
            && node.targets.iter().any(|target| matches!(target, Expr::Tuple(_) | Expr::List(_)))
            && is_split(&node.value)
        {
            self.found.push(self.lines.line(stmt.start()));
        }
        source_order::walk_stmt(self, stmt);
    }
}

/// A method of this name whose first argument is a separator belongs to a text; with a value it may be any method.
fn is_split(value: &Expr) -> bool {
    let Some(call) = value.as_call_expr() else { return false };
    let is_separator = |argument: &Expr| argument.is_none_literal_expr() || argument.is_literal_expr();
    call.func.as_attribute_expr().is_some_and(|method| matches!(method.attr.as_str(), "split" | "rsplit"))
        && call.arguments.args.first().is_none_or(is_separator)
}

#[cfg(test)]
mod tests {
    use super::unpacked_splits;

    #[test]
    fn only_parts_of_a_text_that_are_unpacked_count() {
        let text = "def f(x):\n    a, b = x.split('=', 1)\n    c = x.split()\n    d, e = x\n    [g, h] = x[0].rsplit(' ')\n    i, j = x.split(data)\n";
        assert_eq!(unpacked_splits(text), [2, 5]);
    }
}
