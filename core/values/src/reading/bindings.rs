//! What the names of a function are bound to, where that is told by one assignment.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::{Visitor, walk_except_handler, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{ExceptHandler, Expr, ExprCall, Operator, Pattern, Stmt, StmtFunctionDef};

use super::class_syntax::last_name;
use super::written::named;

/// The values of the names that are bound once, by an assignment of their own.
pub(super) fn bound_once(definition: &StmtFunctionDef) -> BTreeMap<&str, &Expr> {
    let once = |(name, values): (_, Vec<Option<_>>)| match values.as_slice() {
        [Some(value)] => Some((name, *value)),
        _ => None,
    };
    bindings(definition).into_iter().filter_map(once).collect()
}

/// The parameters that locals stand for: `day = start`, if nothing else is bound to either. It may be moved on: `day += step`.
/// The object of a method is none of them.
pub(super) fn aliases(definition: &StmtFunctionDef) -> BTreeMap<&str, &str> {
    let all = bindings(definition);
    let is_parameter = |name: &str| {
        let mut parameters = definition.parameters.iter_non_variadic_params();
        !matches!(name, "self" | "cls" | "mcs")
            && parameters.any(|one| one.parameter.name.as_str() == name)
            && all.get(name).is_some_and(|values| values.len() == 1)
    };
    let mut found = BTreeMap::new();
    for (name, value) in bound_once(definition) {
        if let Expr::Name(value) = value
            && is_parameter(&value.id)
            && !is_parameter(name)
        {
            found.insert(name, value.id.as_str());
        }
    }
    found
}

/// What is bound to each name, in order; none for what no assignment of its own binds, as for parameters.
fn bindings(definition: &StmtFunctionDef) -> BTreeMap<&str, Vec<Option<&Expr>>> {
    let mut all = Bindings::default();
    definition.parameters.iter().for_each(|one| all.bind(one.name(), None));
    all.visit_body(&definition.body);
    all.0
}

#[derive(Default)]
struct Bindings<'a>(BTreeMap<&'a str, Vec<Option<&'a Expr>>>);

impl<'a> Bindings<'a> {
    fn bind(&mut self, name: &'a str, value: Option<&'a Expr>) {
        self.0.entry(name).or_default().push(value);
    }
}

impl<'a> Visitor<'a> for Bindings<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(node) => {
                if let [Expr::Name(name)] = node.targets.as_slice() {
                    self.bind(&name.id, Some(&node.value));
                    return self.visit_expr(&node.value);
                }
                walk_stmt(self, stmt);
            }
            // What is moved on stays what it is; a difference is something else.
            Stmt::AugAssign(node) if node.op == Operator::Add || step(&node.value).is_some() => {
                self.visit_expr(&node.value)
            }
            Stmt::FunctionDef(node) => self.bind(&node.name, None),
            Stmt::ClassDef(node) => self.bind(&node.name, None),
            Stmt::Import(node) => {
                node.names.iter().for_each(|one| self.bind(one.asname.as_ref().unwrap_or(&one.name), None));
            }
            Stmt::ImportFrom(node) => {
                node.names.iter().for_each(|one| self.bind(one.asname.as_ref().unwrap_or(&one.name), None));
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(node) = handler;
        node.name.iter().for_each(|name| self.bind(name, None));
        walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(node) => node.name.as_ref(),
            Pattern::MatchStar(node) => node.name.as_ref(),
            Pattern::MatchMapping(node) => node.rest.as_ref(),
            _ => None,
        };
        name.into_iter().for_each(|name| self.bind(name, None));
        walk_pattern(self, pattern);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr
            && name.ctx.is_store()
        {
            self.bind(&name.id, None);
        }
        walk_expr(self, expr);
    }
}

/// `timedelta(days=1)`.
pub(super) fn step(expr: &Expr) -> Option<&ExprCall> {
    expr.as_call_expr().filter(|call| last_name(&call.func) == Some("timedelta"))
}
pub(super) fn own_attribute<'a>(method: &StmtFunctionDef, target: &'a Expr) -> Option<&'a str> {
    let target = target.as_attribute_expr()?;
    let own = method.parameters.iter().next()?.name();
    (named(&target.value)? == own.as_str()).then_some(target.attr.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(body: &str) -> String {
        let parsed = twincell_syntax::parse::parse(&format!("def f(self, a, b):\n    {body}\n"));
        let Some(definition) = parsed.suite()[0].as_function_def_stmt() else { panic!() };
        aliases(definition).into_iter().map(|(name, of)| format!("{name} {of}")).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_local_stands_for_a_parameter_where_neither_is_anything_else() {
        for (body, expected) in [
            ("x = a\n    x += b", "x a"),
            ("x = a\n    x -= timedelta(days=1)", "x a"),
            ("x = a\n    x -= b", ""),
            ("x = a\n    x = b", ""),
            ("a = g(a)\n    x = a", ""),
            ("x = self", ""),
            ("x = a\n    try: pass\n    except E as x: pass", ""),
            ("x = a\n    for x in b: pass", ""),
            ("x = a\n    import x", ""),
            ("x = a\n    match b:\n        case [x]: pass", ""),
        ] {
            assert_eq!(found(body), expected, "{body}");
        }
    }
}
