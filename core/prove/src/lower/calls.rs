//! Calls. Where a proof looks into what is called, its body stands in the place of the call.

use ruff_python_ast::{ArgOrKeyword, Expr, ExprCall, Parameters, StmtFunctionDef};
use twincell_syntax::python::is_builtin_exception;
use twincell_syntax::scopes::Bindings;

use super::{Inside, Lowered, Lowering, is_atom};
use crate::bindings::counts;
use crate::names::Meaning;
use crate::program::{End, Operation, Slot, Step};
use crate::refused::{has_private_names, is_literal, names_exceptions, refused};
use crate::result::Construct;

impl<'a> Lowering<'a> {
    pub(super) fn call(&mut self, node: &'a ExprCall) -> Lowered<Slot> {
        if let Some(formatted) = self.format_call(node)? {
            return Ok(formatted);
        }
        if let Some(result) = self.look_into(node)? {
            return Ok(result);
        }
        let mut arguments = vec![self.value(&node.func)?];
        let mut layout = Vec::new();
        let mut unpacked = false;
        // Python evaluates in the order of the text, but unpacks some arguments before the next and some at the call.
        for argument in node.arguments.iter_source_order() {
            let (value, shape) = match argument {
                ArgOrKeyword::Arg(Expr::Starred(star)) => (&*star.value, "*".to_string()),
                ArgOrKeyword::Arg(value) => (value, String::new()),
                ArgOrKeyword::Keyword(keyword) => {
                    (&keyword.value, keyword.arg.as_ref().map_or_else(|| "**".to_string(), |name| format!("{name}=")))
                }
            };
            if unpacked && !is_atom(value) {
                return self.refuse(Construct::StarArgument);
            }
            unpacked |= shape.starts_with('*');
            arguments.push(self.value(value)?);
            layout.push(shape);
        }
        Ok(self.operate(Operation::Call { layout }, arguments))
    }

    /// The result of a call whose body stands in its place, if the proof looks into it.
    fn look_into(&mut self, node: &'a ExprCall) -> Lowered<Option<Slot>> {
        let Some((name, function)) = self.called(&node.func) else { return Ok(None) };
        let Some(given) = given(&function.parameters, node) else { return Ok(None) };
        let is_exception = |name: &str| self.names.meaning(name) == Meaning::Builtin && is_builtin_exception(name);
        if let Some(construct) = refused(function, &is_exception) {
            return self.refuse(construct);
        }
        if has_private_names(function) {
            return self.refuse(Construct::SpecialName);
        }
        if names_exceptions(function) && std::mem::replace(&mut self.names_exceptions, true) {
            // Which of two equal exceptions it is shows.
            return self.refuse(Construct::Exceptions);
        }
        // In the order of the text, before any of the defaults.
        let mut values = Vec::new();
        for argument in node.arguments.iter_source_order() {
            let place = given.iter().position(|one| one.is_some_and(|one| std::ptr::eq(one, argument.value())));
            values.push((place, self.value(argument.value())?));
        }
        let mut bound = Vec::new();
        for (place, parameter) in function.parameters.iter_non_variadic_params().enumerate() {
            let value = match (values.iter().find(|(own, _)| *own == Some(place)), parameter.default.as_deref()) {
                (Some((_, value)), _) => *value,
                (None, Some(default)) => self.value(default)?,
                (None, None) => return self.refuse(Construct::Unparsed),
            };
            bound.push((parameter.name().to_string(), value));
        }
        self.looked_into.insert(name.to_owned());
        let result = self.slot();
        let after = self.block();
        let depth = self.around.len();
        let bindings = Bindings::of_function(&function.parameters, None, &function.body);
        let outer = (
            std::mem::replace(&mut self.bindings, bindings),
            std::mem::replace(&mut self.bound, counts(&function.body)),
            std::mem::take(&mut self.locals),
            std::mem::take(&mut self.parameters),
            std::mem::take(&mut self.comprehensions),
        );
        self.inside.push(Inside { name, result, after, depth });
        for (name, value) in bound {
            let to = self.slot();
            self.step(Step::Move { to, from: value });
            self.locals.insert(name, to);
            self.parameters.insert(to);
        }
        // It may stand in a loop.
        for name in self.bindings.bound.clone() {
            if let Some(slot) = self.local(&name)
                && !self.parameters.contains(&slot)
            {
                self.step(Step::Unbind(slot));
            }
        }
        let begin = self.blocks.len();
        self.continue_in_new_block();
        self.body(&function.body)?;
        let none = self.none();
        self.give_back(none);
        let is_yield =
            |step: &Step| matches!(step, Step::Do { operation: Operation::Yield | Operation::YieldFrom, .. });
        if self.blocks[begin..].iter().any(|block| block.steps.iter().any(|(step, _)| is_yield(step))) {
            return self.refuse(Construct::Generator);
        }
        self.inside.pop();
        (self.bindings, self.bound, self.locals, self.parameters, self.comprehensions) = outer;
        self.current = after;
        Ok(Some(result))
    }

    /// The function that a callee stands for, unless it is being looked into.
    fn called(&mut self, callee: &'a Expr) -> Option<(&'a str, &'a StmtFunctionDef)> {
        let Expr::Name(name) = callee else { return None };
        let name = name.id.as_str();
        if self.local(name).is_some() || self.bindings.globals.contains(name) {
            return None;
        }
        if name == self.own_name || self.inside.iter().any(|call| call.name == name) {
            return None;
        }
        let definition = self.names.called(self.side, name, self.inside.len() as u32)?;
        Some((name, definition.function()?))
    }

    /// Ends a function, or the body that stands in the place of a call.
    pub(super) fn give_back(&mut self, value: Slot) {
        match self.inside.last() {
            Some(call) => {
                let (to, after) = (call.result, call.after);
                self.step(Step::Move { to, from: value });
                self.end(End::Jump(after));
            }
            None => self.end(End::Return(value)),
        }
    }
}

/// For each parameter the expression that a call gives it, if the call fits and unpacks nothing. Defaults are literals.
fn given<'a>(parameters: &'a Parameters, node: &'a ExprCall) -> Option<Vec<Option<&'a Expr>>> {
    let all: Vec<_> = parameters.iter_non_variadic_params().collect();
    if parameters.vararg.is_some() || parameters.kwarg.is_some() {
        return None;
    }
    let positional = parameters.posonlyargs.len() + parameters.args.len();
    let mut given: Vec<Option<&Expr>> = vec![None; all.len()];
    let mut next = 0;
    for argument in node.arguments.iter_source_order() {
        let place = match argument {
            ArgOrKeyword::Arg(Expr::Starred(_)) => return None,
            ArgOrKeyword::Arg(_) => {
                next += 1;
                (next <= positional).then_some(next - 1)?
            }
            ArgOrKeyword::Keyword(keyword) => {
                let name = keyword.arg.as_ref()?.as_str();
                let place = all.iter().position(|one| one.name().as_str() == name)?;
                (place >= parameters.posonlyargs.len()).then_some(place)?
            }
        };
        if given[place].replace(argument.value()).is_some() {
            return None;
        }
    }
    let fits =
        all.iter().zip(&given).all(|(one, given)| given.is_some() || one.default.as_deref().is_some_and(is_literal));
    fits.then_some(given)
}
