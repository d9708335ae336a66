//! The witness of a function as one call with literal arguments: `price([1, 2], tax=0.2)`.

use std::collections::BTreeSet;

use twincell_syntax::python::is_identifier;
use twincell_syntax::{CodeKind, Function, PerSide, Side, functions};
use twincell_values::path::{EVERYTHING, Question};
use twincell_values::value::Recipe;

use super::arguments::{Argument, Decisions, arguments, source};
use super::python;
use crate::note::Note;
use crate::report::PairReport;

/// Why the witness is no such call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoCall {
    #[error("no execution shows a difference")]
    NoWitness,
    #[error("{0} is no function that its module can call by its name")]
    NoFunction(String),
    #[error("{0} is called on an object, and no literal stands for one")]
    OnObject(String),
    #[error("the witness gives {0} a value that is no literal")]
    NoLiteral(String),
    #[error("the witness also sets {0}, which no argument does")]
    Beside(String),
    #[error("in the witness, injected values stand for {0}")]
    Replaced(String),
    /// How its arguments were passed cannot be said.
    #[error("{0}")]
    Arguments(String),
}

impl NoCall {
    /// What a witness has that makes it no such call, for a count of several.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoWitness => "without an execution that differs",
            Self::NoFunction(_) => "of what its module cannot call",
            Self::OnObject(_) => "on an object",
            Self::NoLiteral(_) => "with a value that is no literal",
            Self::Beside(_) => "with more than arguments",
            Self::Replaced(_) => "with injected values for what the module has",
            Self::Arguments(_) => "with arguments that cannot be written",
        }
    }
}

/// The qualified name of a version's function, and the call of it that the witness is. `texts` are the compared texts.
///
/// # Errors
///
/// Why there is no such call.
pub fn witness_call(pair: &PairReport, texts: PerSide<&str>, side: Side) -> Result<(String, String), NoCall> {
    let witness = pair.witness.as_ref().filter(|_| !pair.evidence.is_empty()).ok_or(NoCall::NoWitness)?;
    let names = PerSide::new(&pair.old.qualname, &pair.new.qualname);
    let name = names[side].clone();
    let no_function = || NoCall::NoFunction(name.clone());
    if pair.facts.kind != CodeKind::Function || !name.split('.').all(is_identifier) {
        return Err(no_function());
    }
    let found = |side: Side| functions(texts[side]).0.into_iter().find(|function| function.qualname == *names[side]);
    let both = PerSide::new(found(Side::Old).ok_or_else(no_function)?, found(Side::New).ok_or_else(no_function)?);
    let canonical = |side: Side, name: &str| {
        let renames = pair.notes.iter().filter_map(|note| match note {
            Note::Renamed(renames) if side == Side::New => Some(renames),
            _ => None,
        });
        let old = renames.flatten().find(|(new, _)| new == name).map_or(name, |(_, old)| old);
        old.to_owned()
    };
    let parameters = |side: Side| -> BTreeSet<String> {
        let function: &Function = &both[side];
        function.parameters.iter().map(|parameter| canonical(side, &parameter.name)).collect()
    };
    let known = PerSide::new(parameters(Side::Old), parameters(Side::New));
    let is_shared = |path: &str| known.iter().all(|names| names.contains(path));
    let decisions: Decisions<'_> =
        witness.choices.iter().map(|choice| (choice.path.as_str(), &choice.decision)).collect();
    let found = arguments(&both[side].parameters, &decisions, &|name| canonical(side, name), &is_shared);
    let found = found.map_err(|refusal| NoCall::Arguments(refusal.to_string()))?;
    for argument in &found {
        match &argument.value {
            None => return Err(NoCall::OnObject(name)),
            Some(value) if !is_literal(value) => return Err(NoCall::NoLiteral(argument.path.clone())),
            Some(_) => {}
        }
    }
    let is_argument = |path: &str| {
        let is_passed = found.iter().any(|argument| argument.path == path);
        let is_count = matches!(Question::parse(path), Question::Positional(_) | Question::Keyword { .. });
        is_passed || is_count || known.iter().any(|names| names.contains(path))
    };
    if let Some(choice) = witness.choices.iter().find(|choice| !is_argument(&choice.path)) {
        return Err(match Question::parse(&choice.path) {
            Question::Injected(EVERYTHING) => NoCall::Replaced("what the module has".to_owned()),
            Question::Injected(replaced) => NoCall::Replaced(replaced.to_owned()),
            _ => NoCall::Beside(choice.path.clone()),
        });
    }
    let mut written = |argument: &Argument| argument.value.as_ref().map_or_else(String::new, python::literal);
    let call = format!("{name}({})", source(&found, &mut written));
    Ok((name, call))
}

fn is_literal(value: &Recipe) -> bool {
    match value {
        Recipe::None | Recipe::Bool(_) | Recipe::Int(_) | Recipe::Float(_) | Recipe::Str(_) | Recipe::Bytes(_) => true,
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => items.iter().all(is_literal),
        Recipe::Dict(entries) => entries.iter().all(|(key, value)| is_literal(key) && is_literal(value)),
        Recipe::Mock(_) | Recipe::Named(_) | Recipe::Made(_) | Recipe::Given(_) | Recipe::Provided(_) => false,
    }
}
