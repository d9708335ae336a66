//! A proof from two texts: interfaces, lowering, and the types for which it is tried.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, Parameters, Stmt, StmtFunctionDef};
use twincell_syntax::Side as VersionSide;
use twincell_syntax::parse::{parse, with_stack_for};
use twincell_syntax::python::is_builtin_exception;

use crate::interface::{parameter_types, same_interface};
use crate::lower::lower;
use crate::names::{Meaning, Names};
use crate::operation::Context;
use crate::program::{Operation, Program, Step};
use crate::refused::refused;
use crate::result::{Answer, Argument, Assumption, Proof, Reason, Unknown};
use crate::state::Side;
use crate::term::Terms;
use crate::types::Type;
use crate::usage::guesses;
use crate::walk::{Joint, Stop, Walk};

/// The stack that a proof may need, by the length of a text that would need as much.
const STACK_OF_LENGTH: usize = 1 << 15;

/// Says whether two functions do the same.
///
/// Each text holds one function, and nothing else. It is tried for any arguments first, then for arguments of the types that
/// annotations say, and then for builtin types that the code suggests; the proof says for which it holds.
pub fn prove(old: &str, new: &str, names: &dyn Names) -> Answer {
    let length = old.len().max(new.len()).max(STACK_OF_LENGTH);
    with_stack_for(length, || prove_texts(old, new, names))
}

fn prove_texts(old: &str, new: &str, names: &dyn Names) -> Answer {
    let unknown = |reason, lines| Answer::Unknown(Unknown { reason, lines });
    let parsed = [old, new].map(parse);
    let functions = [0, 1].map(|which| match &parsed[which].syntax().body[..] {
        [Stmt::FunctionDef(function)] if parsed[which].errors().is_empty() => Some(function),
        _ => None,
    });
    let [Some(first), Some(second)] = functions else { return unknown(Reason::NoFunction, (0, 0)) };
    if !same_interface(first, second, names) {
        return unknown(Reason::Interface, (1, 1));
    }
    let is_exception = |name: &str| names.meaning(name) == Meaning::Builtin && is_builtin_exception(name);
    for (which, function) in [first, second].into_iter().enumerate() {
        if let Some(construct) = refused(function, &is_exception) {
            return unknown(Reason::Construct(construct), if which == 0 { (1, 0) } else { (0, 1) });
        }
    }
    let first_program = match lower(old, first, names, VersionSide::Old) {
        Ok(program) => program,
        Err((reason, line)) => return unknown(reason, (line, 0)),
    };
    let second_program = match lower(new, second, names, VersionSide::New) {
        Ok(program) => program,
        Err((reason, line)) => return unknown(reason, (0, line)),
    };
    if is_generator(&first_program) != is_generator(&second_program) {
        return unknown(Reason::Interface, (1, 1));
    }
    let programs = [&first_program, &second_program];
    let own_names = [first.name.as_str(), second.name.as_str()];
    let is_lazy = is_generator(&first_program) || first.is_async;
    let mut reason = Unknown { reason: Reason::Budget, lines: (0, 0) };
    for (types, is_guess) in attempts([old, new], [first, second]) {
        match attempt(programs, own_names, names, &types, is_lazy) {
            Ok((proof, is_plausible)) if is_plausible || !is_guess => return Answer::Equivalent(proof),
            Ok(_) => {}
            Err(unknown) if !is_guess => reason = unknown,
            Err(_) => {}
        }
    }
    Answer::Unknown(reason)
}

/// The types of parameters.
type Types = Vec<(String, Type)>;

/// The types of parameters to try, weakest assumption first, and whether they are a guess.
fn attempts(texts: [&str; 2], functions: [&StmtFunctionDef; 2]) -> Vec<(Types, bool)> {
    let [old, new] = [0, 1].map(|which| parameter_types(texts[which], &functions[which].parameters, true));
    let any = parameter_types(texts[0], &functions[0].parameters, false);
    // What only one version says is as good as what both say; where they say two things, neither counts.
    let annotated: Types = old
        .into_iter()
        .zip(new)
        .map(|((name, old), (_, new))| {
            let class = match (old, new) {
                (old, new) if old == new => old,
                (Type::Any, one) | (one, Type::Any) => one,
                _ => Type::Any,
            };
            (name, class)
        })
        .collect();
    let defaults = default_types(&functions[0].parameters);
    let fits = |(name, class): (String, Type)| {
        let is_open = defaults.get(&name).is_some_and(|default| *default != class);
        (name, if is_open { Type::Any } else { class })
    };
    let annotated: Types = annotated.into_iter().map(fits).collect();
    let guesses = guesses(functions, &annotated);
    let mut all: Vec<(Types, bool)> = Vec::new();
    let stated = [any, annotated].into_iter().map(|types| (types, false));
    let guesses = guesses.into_iter().map(|types| (types.into_iter().map(fits).collect(), true));
    for (types, is_guess) in stated.chain(guesses) {
        if !all.iter().any(|(known, _)| *known == types) {
            all.push((types, is_guess));
        }
    }
    all
}

/// The types of parameters with defaults. What callers leave out has the type of its default.
fn default_types(parameters: &Parameters) -> BTreeMap<String, Type> {
    parameters
        .iter_non_variadic_params()
        .filter_map(|parameter| {
            let class = match parameter.default.as_deref()? {
                Expr::NumberLiteral(number) if number.value.is_int() => Type::Int,
                Expr::NumberLiteral(number) if number.value.is_float() => Type::Float,
                Expr::StringLiteral(_) => Type::Text,
                Expr::BooleanLiteral(_) => Type::Bool,
                Expr::NoneLiteral(_) => Type::None,
                _ => Type::Any,
            };
            Some((parameter.name().to_string(), class))
        })
        .collect()
}

fn attempt(
    programs: [&Program; 2],
    own_names: [&str; 2],
    names: &dyn Names,
    types: &[(String, Type)],
    is_lazy: bool,
) -> Result<(Proof, bool), Unknown> {
    let mut terms = Terms::default();
    let unbound = terms.unbound();
    // The body of a generator or a coroutine runs after others may have changed what it was given.
    let heap = terms.symbol(Type::Heap(!is_lazy));
    let parameters: Vec<_> = types.iter().map(|(_, class)| terms.symbol(class.clone())).collect();
    let sides = programs.map(|program| {
        let mut slots = vec![unbound; program.slots];
        slots[..parameters.len()].copy_from_slice(&parameters);
        Side { block: 0, step: 0, slots, objects: BTreeMap::new(), heap, crosses: false, ended: None }
    });
    let mut containers = BTreeSet::new();
    types.iter().for_each(|(_, class)| class.containers(&mut containers));
    let parameters: Vec<Type> = types.iter().map(|(_, class)| class.clone()).collect();
    let context = Context {
        terms,
        names,
        own_names,
        parameters,
        containers,
        rules: BTreeSet::new(),
        assumptions: BTreeSet::new(),
        is_plausible: true,
    };
    let mut walk = Walk { context, programs, relations: Vec::new(), steps: 0 };
    match walk.run(Joint::new(sides)) {
        Ok(()) => {
            let arguments = types
                .iter()
                .filter(|(_, class)| !matches!(class, Type::Any | Type::Tuple))
                .map(|(parameter, class)| Argument { parameter: parameter.clone(), class: class.display() })
                .collect();
            let Context { rules, mut assumptions, is_plausible, .. } = walk.context;
            let looked_into: BTreeSet<String> =
                programs.iter().flat_map(|program| program.looked_into.iter().cloned()).collect();
            assumptions.extend(looked_into.iter().cloned().map(Assumption::StableName));
            Ok((Proof { rules, arguments, assumptions, looked_into }, is_plausible))
        }
        Err(Stop::Fail(unknown)) => Err(unknown),
        Err(Stop::Refine(_)) => Err(Unknown { reason: Reason::Budget, lines: (0, 0) }),
    }
}

fn is_generator(program: &Program) -> bool {
    let is_yield = |step: &Step| matches!(step, Step::Do { operation: Operation::Yield | Operation::YieldFrom, .. });
    program.blocks.iter().any(|block| block.steps.iter().any(|(step, _)| is_yield(step)))
}
