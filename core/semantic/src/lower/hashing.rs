//! Hashes of what defines a symbol, without layout, comments and docstrings. They are the same in every process.

use std::hash::{Hash, Hasher};

use ruff_python_ast::comparable::{ComparableExpr, ComparableParameters, ComparableStmt};
use ruff_python_ast::{Arguments, Decorator, Expr, Parameters, Stmt, StmtClassDef, StmtFunctionDef};
use xxhash_rust::xxh3::Xxh3Default;

/// A function without its name.
pub(super) fn of_function(function: &StmtFunctionDef) -> u64 {
    let mut hasher = Xxh3Default::new();
    function.is_async.hash(&mut hasher);
    decorators(&function.decorator_list, &mut hasher);
    parameters(&function.parameters, &mut hasher);
    if let Some(returns) = &function.returns {
        ComparableExpr::from(returns.as_ref()).hash(&mut hasher);
    }
    for stmt in without_docstring(&function.body) {
        ComparableStmt::from(stmt).hash(&mut hasher);
    }
    hasher.finish()
}

/// The head of a class, without its name.
pub(super) fn of_class(class: &StmtClassDef) -> u64 {
    let mut hasher = Xxh3Default::new();
    decorators(&class.decorator_list, &mut hasher);
    if let Some(arguments) = &class.arguments {
        of_arguments(arguments, &mut hasher);
    }
    hasher.finish()
}

pub(super) fn of_statement(stmt: &Stmt) -> u64 {
    let mut hasher = Xxh3Default::new();
    ComparableStmt::from(stmt).hash(&mut hasher);
    hasher.finish()
}

pub(super) fn of_expression(expr: &Expr) -> u64 {
    let mut hasher = Xxh3Default::new();
    ComparableExpr::from(expr).hash(&mut hasher);
    hasher.finish()
}

fn decorators(decorators: &[Decorator], hasher: &mut Xxh3Default) {
    for decorator in decorators {
        ComparableExpr::from(&decorator.expression).hash(hasher);
    }
}

fn parameters(parameters: &Parameters, hasher: &mut Xxh3Default) {
    ComparableParameters::from(parameters).hash(hasher);
}

fn of_arguments(arguments: &Arguments, hasher: &mut Xxh3Default) {
    for argument in &arguments.args {
        ComparableExpr::from(argument).hash(hasher);
    }
    for keyword in &arguments.keywords {
        keyword.arg.as_ref().map(|name| name.as_str()).hash(hasher);
        ComparableExpr::from(&keyword.value).hash(hasher);
    }
}

/// Statements without a docstring before them.
pub(super) fn without_docstring(body: &[Stmt]) -> &[Stmt] {
    match body.split_first() {
        Some((Stmt::Expr(first), rest)) if first.value.is_string_literal_expr() => rest,
        _ => body,
    }
}
