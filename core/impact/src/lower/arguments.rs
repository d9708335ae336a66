//! Arguments and parameters: which argument reaches which parameter of a procedure.

use std::sync::Arc;

use ruff_python_ast::{Expr, ExprCall, Operator, Parameters};
use ruff_text_size::Ranged;

use super::callees::Passing;
use super::declare::Declaration;
use super::draft::{Builder, Place};
use super::items::ALL_ITEMS;
use super::operators;
use super::owned::Held;
use crate::program::{ProcedureId, Shared, Term};

/// An argument with what it depends on.
pub(super) struct Argument<'a> {
    pub kind: ArgumentKind<'a>,
    pub reads: Vec<Place>,
    pub held: Held<'a>,
    pub term: Option<Term<Place>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentKind<'a> {
    Positional,
    Star,
    Keyword(&'a str),
    Keywords,
}

impl<'a> Builder<'_, 'a> {
    pub fn arguments(&mut self, call: &'a ExprCall, only_looks: bool) -> Vec<Argument<'a>> {
        let mut arguments = Vec::new();
        for part in call.arguments.iter_source_order() {
            let (kind, value) = match part {
                ruff_python_ast::ArgOrKeyword::Arg(Expr::Starred(starred)) => (ArgumentKind::Star, &*starred.value),
                ruff_python_ast::ArgOrKeyword::Arg(value) => (ArgumentKind::Positional, value),
                ruff_python_ast::ArgOrKeyword::Keyword(keyword) => match &keyword.arg {
                    Some(name) => (ArgumentKind::Keyword(name.as_str()), &keyword.value),
                    None => (ArgumentKind::Keywords, &keyword.value),
                },
            };
            let (mut reads, held) = self.look(value);
            if matches!(kind, ArgumentKind::Star | ArgumentKind::Keywords) {
                reads.extend(self.read_items(ALL_ITEMS, held, false));
                let names = if kind == ArgumentKind::Star { operators::ITERATION } else { operators::UNPACK_MAPPING };
                reads = self.operation_on(&[value], value.range(), names, reads);
            } else if !only_looks {
                self.escapes(held.holder);
            }
            let term = self.term(value);
            arguments.push(Argument { kind, reads, held, term });
        }
        arguments
    }

    /// What each parameter of a procedure gets, and its value where it is one.
    pub fn bind(
        &mut self,
        callee: ProcedureId,
        passing: Passing,
        (object, object_term): (&[Place], Option<&Term<Place>>),
        arguments: &[Argument<'a>],
    ) -> Vec<(Vec<Place>, Option<Term<Place>>)> {
        let declaration = &self.world.declared.procedures[callee.index()];
        let path = &self.world.paths[declaration.module];
        let Some(parameters) = declaration.parameters() else { return Vec::new() };
        let names: Vec<&str> = parameter_names(parameters).collect();
        let positional = parameters.posonlyargs.len() + parameters.args.len();
        let rest = parameters.vararg.as_ref().map(|_| positional);
        let keywords = parameters.kwarg.as_ref().map(|_| names.len() - 1);
        let mut inputs: Vec<Option<Vec<Place>>> = vec![None; names.len()];
        // Parameters that surely get an argument.
        let mut given = vec![false; names.len()];
        let mut terms: Vec<Option<Term<Place>>> = vec![None; names.len()];
        fn give(inputs: &mut [Option<Vec<Place>>], at: Option<usize>, reads: &[Place]) {
            if let Some(input) = at.and_then(|at| inputs.get_mut(at)) {
                input.get_or_insert_default().extend_from_slice(reads);
            }
        }
        let mut at = 0;
        if passing == Passing::WithObject {
            give(&mut inputs, if positional > 0 { Some(0) } else { rest }, object);
            given.iter_mut().take(positional.min(1)).for_each(|one| *one = true);
            terms.iter_mut().take(positional.min(1)).for_each(|one| *one = object_term.cloned());
            at = 1;
        }
        for argument in arguments {
            match argument.kind {
                ArgumentKind::Positional => {
                    give(&mut inputs, if at < positional { Some(at) } else { rest }, &argument.reads);
                    given.iter_mut().take(positional).skip(at).take(1).for_each(|one| *one = true);
                    terms.iter_mut().take(positional).skip(at).take(1).for_each(|one| *one = argument.term.clone());
                    at += 1;
                }
                ArgumentKind::Star => {
                    for later in at..positional {
                        give(&mut inputs, Some(later), &argument.reads);
                    }
                    give(&mut inputs, rest, &argument.reads);
                }
                ArgumentKind::Keyword(name) => {
                    let by_name = names.iter().position(|one| *one == name);
                    let by_name = by_name.filter(|at| Some(*at) != rest && Some(*at) != keywords);
                    give(&mut inputs, by_name.or(keywords), &argument.reads);
                    if let Some(at) = by_name {
                        (given[at], terms[at]) = (true, argument.term.clone());
                    }
                }
                ArgumentKind::Keywords => {
                    for at in 0..names.len() {
                        if Some(at) != rest {
                            give(&mut inputs, Some(at), &argument.reads);
                        }
                    }
                }
            }
        }
        let defaults: Vec<bool> = parameter_defaults(parameters).collect();
        let is_plain = |one: &Argument<'_>| matches!(one.kind, ArgumentKind::Positional | ArgumentKind::Keyword(_));
        let is_exact = passing != Passing::Anywhere && arguments.iter().all(is_plain);
        let mut bound = Vec::new();
        for (at, input) in inputs.into_iter().enumerate() {
            let mut reads = input.unwrap_or_default();
            let mut term = terms[at].take();
            if defaults[at] && !given[at] {
                let default = self.shared(default_of(path, declaration, names[at]));
                reads.push(default);
                term = Some(Term::Variable(default));
            }
            if passing == Passing::Anywhere {
                reads.extend(object.iter().copied());
                reads.extend(arguments.iter().flat_map(|argument| argument.reads.iter().copied()));
            }
            bound.push((reads, term.filter(|_| is_exact)));
        }
        bound
    }

    /// The default values of parameters, which are evaluated with the definition.
    pub fn defaults(&mut self, parameters: &'a Parameters, procedure: ProcedureId) {
        let declaration = &self.world.declared.procedures[procedure.index()];
        let path = &self.world.paths[declaration.module];
        for parameter in parameters.iter_non_variadic_params() {
            let Some(default) = parameter.default() else { continue };
            let reads = self.value(default);
            let place = self.shared(default_of(path, declaration, parameter.name()));
            self.failing_step(default.range(), "default", reads, vec![place]);
        }
    }
}

/// The default value of a parameter.
pub(super) fn default_of(path: &Arc<str>, declaration: &Declaration<'_>, parameter: &str) -> Shared {
    Shared::Default(path.clone(), function_name(declaration), parameter.into())
}

/// How shared variables name a procedure.
pub(super) fn function_name(declaration: &Declaration<'_>) -> Arc<str> {
    match declaration.ordinal {
        0 => declaration.qualname.clone(),
        number => format!("{}#{}", declaration.qualname, number + 1).into(),
    }
}

/// The names of parameters, in the order of their numbers.
pub(super) fn parameter_names(parameters: &Parameters) -> impl Iterator<Item = &str> {
    let plain = parameters.posonlyargs.iter().chain(&parameters.args).map(|one| one.name().as_str());
    let rest = parameters.vararg.iter().map(|one| one.name.as_str());
    let only = parameters.kwonlyargs.iter().map(|one| one.name().as_str());
    plain.chain(rest).chain(only).chain(parameters.kwarg.iter().map(|one| one.name.as_str()))
}

/// Whether the text says that a parameter is a number, a text or a truth value, or `None`.
pub(super) fn is_declared_scalar(parameters: &Parameters, name: &str) -> bool {
    fn is_scalar(annotation: &Expr) -> bool {
        match annotation {
            Expr::Name(name) => matches!(name.id.as_str(), "str" | "int" | "float" | "bool" | "bytes" | "complex"),
            Expr::NoneLiteral(_) => true,
            Expr::BinOp(node) => node.op == Operator::BitOr && is_scalar(&node.left) && is_scalar(&node.right),
            Expr::Subscript(node) => {
                let name = match node.value.as_ref() {
                    Expr::Name(name) => name.id.as_str(),
                    Expr::Attribute(attribute) => attribute.attr.as_str(),
                    _ => "",
                };
                match node.slice.as_ref() {
                    Expr::Tuple(parts) => name == "Union" && parts.elts.iter().all(is_scalar),
                    part => matches!(name, "Optional" | "Union") && is_scalar(part),
                }
            }
            _ => false,
        }
    }
    let all = parameters.posonlyargs.iter().chain(&parameters.args).chain(&parameters.kwonlyargs);
    let mut own = all.filter(|one| one.name().as_str() == name);
    own.next().and_then(|one| one.annotation()).is_some_and(is_scalar)
}

fn parameter_defaults(parameters: &Parameters) -> impl Iterator<Item = bool> {
    let plain = parameters.posonlyargs.iter().chain(&parameters.args).map(|one| one.default.is_some());
    let rest = parameters.vararg.iter().map(|_| false);
    let only = parameters.kwonlyargs.iter().map(|one| one.default.is_some());
    plain.chain(rest).chain(only).chain(parameters.kwarg.iter().map(|_| false))
}
