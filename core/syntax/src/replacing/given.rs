//! What a call gives to the function that it calls.

use ruff_python_ast::{Expr, ExprCall};

use super::level::Level;
use super::module::is_plain;
use super::search::Search;
use crate::python::is_builtin;

impl<'a> Search<'_, 'a> {
    /// What a call gives to the called.
    pub(super) fn level(&self, call: &'a ExprCall) -> Level {
        let values = call.arguments.keywords.iter().map(|keyword| &keyword.value);
        let mut levels = Vec::new();
        call.arguments.args.iter().chain(values).for_each(|value| self.levels(value, &mut levels));
        let known = levels.iter().copied().filter(|level| *level != Level::Passed).max().unwrap_or(Level::Nothing);
        match known {
            Level::Function if levels.contains(&Level::Passed) => Level::Holder,
            Level::Nothing if levels.contains(&Level::Passed) => Level::Passed,
            known => known,
        }
    }

    /// What the parts of a value are. What is not known may be a module.
    fn levels(&self, value: &'a Expr, levels: &mut Vec<Level>) {
        let mut each = |value: &'a Expr| self.levels(value, levels);
        match value {
            Expr::Name(name) => levels.push(self.level_of_name(&name.id)),
            Expr::Attribute(node) => each(&node.value),
            Expr::Subscript(node) => each(&node.value),
            Expr::Starred(node) => each(&node.value),
            Expr::UnaryOp(node) => each(&node.operand),
            Expr::Named(node) => each(&node.value),
            Expr::If(node) => [&node.body, &node.orelse].into_iter().for_each(|branch| each(branch)),
            Expr::BinOp(node) => [&node.left, &node.right].into_iter().for_each(|side| each(side)),
            Expr::BoolOp(node) => node.values.iter().for_each(each),
            Expr::Tuple(node) => node.elts.iter().for_each(each),
            Expr::List(node) => node.elts.iter().for_each(each),
            Expr::Set(node) => node.elts.iter().for_each(each),
            Expr::Dict(node) => node.items.iter().for_each(|item| each(&item.value)),
            // It is a function, and none that anybody else has.
            Expr::Lambda(_) => {}
            Expr::Call(call) if gives_plain(&call.func) => {}
            _ if is_plain(value) => {}
            _ => levels.push(Level::Holder),
        }
    }

    fn level_of_name(&self, name: &str) -> Level {
        if self.first == Some(name) {
            return Level::Nothing;
        }
        if self.locals.get(name).is_some_and(|(level, _)| *level == Level::Nothing) {
            return Level::Holder;
        }
        if self.parameters.contains(name) {
            return Level::Passed;
        }
        let module = self.module;
        if module.classes.contains_key(name) || module.imported.contains_key(name) || module.variables.contains(name) {
            return Level::Holder;
        }
        if module.defined.contains_key(name) {
            return Level::Function;
        }
        let is_plain = module.plain.contains(name)
            || name != "__builtins__" && (is_builtin(name) || matches!(name, "__name__" | "__file__" | "__doc__"));
        if is_plain { Level::Nothing } else { Level::Holder }
    }
}

/// Whether what this gives when it is called is a text, a number or a truth value.
fn gives_plain(function: &Expr) -> bool {
    match function {
        Expr::Name(name) => matches!(
            name.id.as_str(),
            "str"
                | "int"
                | "float"
                | "bool"
                | "len"
                | "repr"
                | "bytes"
                | "range"
                | "abs"
                | "round"
                | "ord"
                | "chr"
                | "hash"
                | "id"
                | "isinstance"
                | "issubclass"
                | "hasattr"
        ),
        Expr::Attribute(node) => is_plain(&node.value),
        _ => false,
    }
}
