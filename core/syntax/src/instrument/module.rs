//! Whole modules: finds the functions among the statements that run at import, and leaves these statements alone.

use ruff_python_ast::{ExceptHandler, Stmt, StmtClassDef};

use super::visitor::{Instrumenter, Scope};
use crate::scopes::Bindings;

impl<'a> Instrumenter<'a> {
    /// The statements of a module, or of a block in it that is not in a function.
    pub(super) fn module(&mut self, body: &'a [Stmt]) {
        self.keeps_annotations = true;
        for statement in body {
            self.at_import(statement);
        }
    }

    fn at_import(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class_at_import(class),
            Stmt::If(branch) => {
                self.module(&branch.body);
                branch.elif_else_clauses.iter().for_each(|clause| self.module(&clause.body));
            }
            Stmt::For(repeat) => {
                self.module(&repeat.body);
                self.module(&repeat.orelse);
            }
            Stmt::While(repeat) => {
                self.module(&repeat.body);
                self.module(&repeat.orelse);
            }
            Stmt::With(with) => self.module(&with.body),
            Stmt::Match(choice) => choice.cases.iter().for_each(|case| self.module(&case.body)),
            Stmt::Try(attempt) => {
                self.module(&attempt.body);
                for ExceptHandler::ExceptHandler(handler) in &attempt.handlers {
                    self.module(&handler.body);
                }
                self.module(&attempt.orelse);
                self.module(&attempt.finalbody);
            }
            _ => {}
        }
    }

    fn class_at_import(&mut self, class: &'a StmtClassDef) {
        self.scopes.push(Scope { is_class: true, bindings: Bindings::of_body(&class.body) });
        self.inner_classes.push(class.name.to_string());
        self.module(&class.body);
        self.inner_classes.pop();
        self.scopes.pop();
    }
}
