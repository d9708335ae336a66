//! Marks in the module around a function, so that its helpers and its loops count steps as the function does.
//!
//! A mark stands at the beginning of each function and in the test of each `while`. Nothing else in Python repeats
//! without end by itself. The marks keep lines and behavior.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use super::edits::Edits;
use crate::parse::{parse, with_stack_for};

/// The module with marks. A text that is not valid Python stays as it is, since its evaluation reports that.
pub fn count_steps(module: &str) -> String {
    if module.is_empty() {
        return String::new();
    }
    with_stack_for(module.len(), || {
        let parsed = parse(module);
        if !parsed.errors().is_empty() {
            return module.to_owned();
        }
        let mut marks = Marks::default();
        parsed.suite().iter().for_each(|statement| marks.visit_stmt(statement));
        marks.0.apply(module).unwrap_or_else(|_| module.to_owned())
    })
}

#[derive(Default)]
struct Marks(Edits);

impl Marks {
    /// Puts a value through the hook.
    fn around(&mut self, value: &Expr) {
        self.0.insert(value.start().to_usize(), "_tc_w((");
        self.0.insert(value.end().to_usize(), "))");
    }

    /// Marks the first statement that can carry a mark.
    fn at_the_beginning(&mut self, body: &[Stmt]) {
        for statement in body {
            match statement {
                // A docstring stays the first statement. A text that raises is read by its first word.
                Stmt::Expr(text) if text.value.is_string_literal_expr() => continue,
                Stmt::FunctionDef(_) | Stmt::ClassDef(_) | Stmt::Raise(_) => continue,
                // Its test is marked anyway.
                Stmt::While(_) => {}
                Stmt::If(branch) => self.around(&branch.test),
                Stmt::For(repeat) => self.around(&repeat.iter),
                Stmt::Match(choice) => self.around(&choice.subject),
                Stmt::With(with) => {
                    if let Some(first) = with.items.first() {
                        self.around(&first.context_expr);
                    }
                }
                Stmt::Try(attempt) => self.at_the_beginning(&attempt.body),
                simple => self.0.insert(simple.start().to_usize(), "_tc_t();"),
            }
            return;
        }
    }
}

impl Visitor<'_> for Marks {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.at_the_beginning(&function.body),
            Stmt::While(repeat) => self.around(&repeat.test),
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        if let Expr::Lambda(lambda) = expression {
            self.0.insert(lambda.body.start().to_usize(), "_tc_t() or (");
            self.0.insert(lambda.body.end().to_usize(), ")");
        }
        walk_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_loops_are_marked_on_their_own_lines() {
        for (text, marked) in [
            ("x = 1\nfor n in y:\n    x += n\n", "x = 1\nfor n in y:\n    x += n\n"),
            ("while x := f():\n    pass\n", "while _tc_w((x := f())):\n    pass\n"),
            ("while(x):\n    pass\n", "while(_tc_w((x))):\n    pass\n"),
            ("def f():\n    'text'\n    return 1\n", "def f():\n    'text'\n    _tc_t();return 1\n"),
            ("def f(): return 1\n", "def f(): _tc_t();return 1\n"),
            ("def f(x):\n    if x:\n        return 1\n", "def f(x):\n    if _tc_w((x)):\n        return 1\n"),
            ("def f(x):\n    for a in x, 1:\n        g(a)\n", "def f(x):\n    for a in _tc_w((x, 1)):\n        g(a)\n"),
            (
                "def f(x):\n    try:\n        g()\n    finally:\n        h()\n",
                "def f(x):\n    try:\n        _tc_t();g()\n    finally:\n        h()\n",
            ),
            ("class A:\n    def f(self):\n        raise E\n", "class A:\n    def f(self):\n        raise E\n"),
            ("def f():\n    with a as b, c:\n        pass\n", "def f():\n    with _tc_w((a)) as b, c:\n        pass\n"),
            ("g = lambda x: x + 1\n", "g = lambda x: _tc_t() or (x + 1)\n"),
            ("def f(:\n", "def f(:\n"),
        ] {
            assert_eq!(count_steps(text), marked);
        }
    }
}
