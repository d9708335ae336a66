//! The places of a module that an import of it need not evaluate.

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Expr, Parameters, Stmt};
use ruff_text_size::{Ranged, TextRange};

/// Places in order, of which none holds another one. Bodies of functions are left out: they are scopes of their own.
pub(super) fn unsure(body: &[Stmt]) -> Vec<TextRange> {
    let mut found = Unsure::default();
    found.visit_body(body);
    found.0.sort_by_key(|range| (range.start(), range.end()));
    found.0
}

#[derive(Default)]
struct Unsure(Vec<TextRange>);

impl Unsure {
    fn all(&mut self, some: impl IntoIterator<Item = TextRange>) {
        self.0.extend(some);
    }

    fn annotations(&mut self, parameters: &Parameters) {
        self.all(parameters.iter().filter_map(|one| one.annotation()).map(Ranged::range));
    }
}

impl<'a> SourceOrderVisitor<'a> for Unsure {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::If(_) | Stmt::Try(_) | Stmt::With(_) | Stmt::For(_) | Stmt::While(_) | Stmt::Match(_) => {
                self.all([stmt.range()]);
            }
            // Tests' are written anew, and `python -O` has none.
            Stmt::Assert(_) | Stmt::TypeAlias(_) => self.all([stmt.range()]),
            // Its bases may use its parameters.
            Stmt::ClassDef(class) if class.type_params.is_some() => self.all([stmt.range()]),
            Stmt::FunctionDef(function) => {
                function.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                for one in function.parameters.iter_non_variadic_params() {
                    one.default.iter().for_each(|default| self.visit_expr(default));
                }
                self.annotations(&function.parameters);
                self.all(function.returns.iter().map(|returns| returns.range()));
            }
            Stmt::AnnAssign(assignment) => {
                self.visit_expr(&assignment.target);
                self.all([assignment.annotation.range()]);
                assignment.value.iter().for_each(|value| self.visit_expr(value));
            }
            _ => source_order::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::BoolOp(operation) => {
                operation.values.iter().take(1).for_each(|first| self.visit_expr(first));
                self.all(operation.values.iter().skip(1).map(Ranged::range));
            }
            Expr::If(choice) => {
                self.visit_expr(&choice.test);
                self.all([choice.body.range(), choice.orelse.range()]);
            }
            Expr::Compare(compare) => {
                self.visit_expr(&compare.left);
                compare.comparators.iter().take(1).for_each(|first| self.visit_expr(first));
                self.all(compare.comparators.iter().skip(1).map(Ranged::range));
            }
            Expr::Lambda(_) | Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                self.all([expr.range()]);
            }
            _ => source_order::walk_expr(self, expr),
        }
    }
}
