//! The interface of a function: parameters, defaults, decorators and kind. It must be the same in both versions.

use ruff_python_ast::comparable::ComparableExpr;
use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Expr, ParameterWithDefault, Parameters, StmtFunctionDef};

use crate::names::{Meaning, Names};
use crate::types::Type;

/// Whether callers cannot tell the two apart before either runs.
pub(crate) fn same_interface(old: &StmtFunctionDef, new: &StmtFunctionDef, names: &dyn Names) -> bool {
    let (a, b) = (&*old.parameters, &*new.parameters);
    let same_expr = |a: &Expr, b: &Expr| ComparableExpr::from(a) == ComparableExpr::from(b) && is_known(a, names);
    let same_parameters = |a: &[ParameterWithDefault], b: &[ParameterWithDefault]| {
        a.len() == b.len()
            && a.iter().zip(b).all(|(a, b)| {
                a.name().as_str() == b.name().as_str()
                    && match (&a.default, &b.default) {
                        (Some(a), Some(b)) => same_expr(a, b),
                        (None, None) => true,
                        _ => false,
                    }
            })
    };
    old.is_async == new.is_async
        && old.decorator_list.len() == new.decorator_list.len()
        && old.decorator_list.iter().zip(&new.decorator_list).all(|(a, b)| same_expr(&a.expression, &b.expression))
        && same_parameters(&a.posonlyargs, &b.posonlyargs)
        && same_parameters(&a.args, &b.args)
        && same_parameters(&a.kwonlyargs, &b.kwonlyargs)
        && a.vararg.is_some() == b.vararg.is_some()
        && a.kwarg.is_some() == b.kwarg.is_some()
}

/// Whether all names of an expression mean the same in both versions.
fn is_known(expr: &Expr, names: &dyn Names) -> bool {
    struct Known<'a>(&'a dyn Names, bool);
    impl<'e> SourceOrderVisitor<'e> for Known<'_> {
        fn visit_expr(&mut self, expr: &'e Expr) {
            if let Expr::Name(name) = expr {
                self.1 &= self.0.meaning(&name.id) != Meaning::Different;
            }
            source_order::walk_expr(self, expr);
        }
    }
    let mut known = Known(names, true);
    known.visit_expr(expr);
    known.1
}

/// The types of the parameters in the order of their slots, as the annotations say, or as nothing but the interface says.
pub(crate) fn parameter_types(text: &str, parameters: &Parameters, by_annotation: bool) -> Vec<(String, Type)> {
    parameters
        .iter()
        .map(|parameter| {
            let is_vararg =
                parameters.vararg.as_deref().is_some_and(|vararg| vararg.name().as_str() == parameter.name().as_str());
            let is_kwarg =
                parameters.kwarg.as_deref().is_some_and(|kwarg| kwarg.name().as_str() == parameter.name().as_str());
            let class = match parameter.annotation() {
                _ if is_vararg => Type::Tuple,
                _ if is_kwarg => Type::Any,
                Some(annotation) if by_annotation => {
                    let range = ruff_text_size::Ranged::range(annotation);
                    let text = text.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
                    Type::of_annotation(text.trim_matches(['"', '\''])).unwrap_or(Type::Any)
                }
                _ => Type::Any,
            };
            (parameter.name().to_string(), class)
        })
        .collect()
}
