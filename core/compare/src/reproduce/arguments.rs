//! The call of a reproducer: the arguments of a recorded execution, as Python source.
//!
//! The rules are those by which a worker injects arguments (`outcome.rs` of the runtime).

use std::collections::BTreeMap;

use twincell_syntax::python::is_identifier;
use twincell_syntax::{Parameter, ParameterKind};
use twincell_values::path::{AccessPath, Question};
use twincell_values::value::{AbstractValue, Decision, Recipe};

use super::python;
use super::refusal::Refusal;

/// The decisions of an execution by access path.
pub(super) type Decisions<'a> = BTreeMap<&'a str, &'a Decision>;

/// One argument of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Argument {
    /// The name, if it is passed by keyword.
    pub keyword: Option<String>,
    /// The access path of its value.
    pub path: String,
    /// The value. `None` if nothing was decided, for the object to which a method belongs.
    pub value: Option<Recipe>,
}

/// The arguments for a version's parameters, or why they cannot be expressed.
///
/// `canonical` gives a parameter's name in access paths. `shared` tells which of these both versions have.
pub(super) fn arguments(
    parameters: &[Parameter],
    decisions: &Decisions<'_>,
    canonical: &dyn Fn(&str) -> String,
    shared: &dyn Fn(&str) -> bool,
) -> Result<Vec<Argument>, Refusal> {
    let number = |path: &str| match decisions.get(path) {
        Some(Decision::Value(Recipe::Int(count))) => *count,
        _ => 0,
    };
    let extra = parameters
        .iter()
        .find(|parameter| parameter.kind == ParameterKind::VarPositional)
        .map_or(0, |parameter| number(&Question::Positional(&parameter.name).to_string()));
    let given = |path: &str| match decisions.get(path) {
        Some(Decision::Value(recipe)) => Ok(Some(recipe.clone())),
        Some(Decision::Default) => Ok(None),
        // It is looked up, so that it is the very object.
        Some(Decision::Same(_)) => Ok(Some(Recipe::Mock(AbstractValue::Object))),
        Some(_) => Err(Refusal::ArgumentIsNoValue(path.to_string())),
        None => Err(Refusal::ArgumentNotRecorded(path.to_string())),
    };
    let mut passed = Vec::new();
    let mut by_keyword = false;
    for (index, parameter) in parameters.iter().enumerate() {
        let path = canonical(&parameter.name);
        let named = |path: &str, name: &str, value| Argument {
            keyword: Some(name.to_string()),
            path: path.to_string(),
            value: Some(value),
        };
        match parameter.kind {
            ParameterKind::PositionalOnly | ParameterKind::Positional => {
                if index == 0 && matches!(parameter.name.as_str(), "self" | "cls" | "mcs") {
                    passed.push(Argument { keyword: None, path, value: None });
                    continue;
                }
                if parameter.has_default && !shared(&path) {
                    by_keyword = true;
                    continue;
                }
                match given(&path)? {
                    None if !parameter.has_default => return Err(Refusal::ArgumentLeftOut(path.clone())),
                    None => by_keyword = true,
                    Some(value) if by_keyword => passed.push(named(&path, &parameter.name, value)),
                    Some(value) => passed.push(Argument { keyword: None, path, value: Some(value) }),
                }
            }
            ParameterKind::VarPositional => {
                for index in 0..extra {
                    let path = AccessPath::new(&path).item(index);
                    let value = given(path.as_str())?;
                    passed.push(Argument { keyword: None, path: path.into_string(), value });
                }
            }
            ParameterKind::KeywordOnly if parameter.has_default && !shared(&path) => {}
            ParameterKind::KeywordOnly => {
                if let Some(value) = given(&path)? {
                    passed.push(named(&path, &parameter.name, value));
                }
            }
            ParameterKind::VarKeyword => {
                let path = AccessPath::new(&path);
                for (choice, decision) in decisions {
                    if let Question::Keyword { name, parameter } = Question::parse(choice)
                        && parameter == path
                        && **decision == Decision::Value(Recipe::Bool(true))
                    {
                        let path = path.keyword_item(name);
                        if let Some(value) = given(path.as_str())? {
                            passed.push(named(path.as_str(), name, value));
                        }
                    }
                }
            }
        }
    }
    Ok(passed)
}

/// Arguments as they stand in a call. `written` gives the source of one value.
pub(super) fn source(arguments: &[Argument], written: &mut dyn FnMut(&Argument) -> String) -> String {
    let mut parts = Vec::new();
    let mut unpacked = Vec::new();
    for argument in arguments {
        let value = written(argument);
        match &argument.keyword {
            None => parts.push(value),
            Some(name) if is_identifier(name) => parts.push(format!("{name}={value}")),
            Some(name) => unpacked.push(format!("{}: {value}", python::string(name))),
        }
    }
    if !unpacked.is_empty() {
        parts.push(format!("**{{{}}}", unpacked.join(", ")));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_syntax::functions;

    fn written(text: &str, decisions: &[(&str, Decision)]) -> String {
        let decisions: Decisions<'_> = decisions.iter().map(|(path, decision)| (*path, decision)).collect();
        let function = functions(text).0.remove(0);
        let found = arguments(&function.parameters, &decisions, &|name| name.to_string(), &|_| true).unwrap();
        source(&found, &mut |argument| argument.value.as_ref().map_or("self".into(), python::literal))
    }

    fn int(value: i64) -> Decision {
        Decision::Value(Recipe::Int(value))
    }

    #[test]
    fn arguments_follow_the_parameters() {
        let text = "def f(a, b=1, *rest, c, **more): 0\n";
        let decided = [
            ("a", int(1)),
            ("b", int(2)),
            ("len(*rest)", int(1)),
            ("rest[0]", int(3)),
            ("c", int(4)),
            ("'key' in **more", Decision::Value(Recipe::Bool(true))),
            ("more['key']", int(5)),
        ];
        assert_eq!(written(text, &decided), "1, 2, 3, c=4, key=5");
    }

    #[test]
    fn after_an_argument_that_is_left_out_the_rest_goes_by_name() {
        let decided = [("a", int(1)), ("b", Decision::Default), ("c", int(3))];
        assert_eq!(written("def f(a, b=1, c=2): 0\n", &decided), "1, c=3");
    }

    #[test]
    fn keywords_that_are_no_names_are_unpacked() {
        let decided = [("'x-y' in **more", Decision::Value(Recipe::Bool(true))), ("more['x-y']", int(5))];
        assert_eq!(written("def f(self, **more): 0\n", &decided), "self, **{'x-y': 5}");
    }

    #[test]
    fn a_missing_decision_is_named() {
        let function = functions("def f(a): 0\n").0.remove(0);
        let found = arguments(&function.parameters, &Decisions::new(), &|name| name.to_string(), &|_| true);
        assert_eq!(found, Err(Refusal::ArgumentNotRecorded("a".into())));
    }
}
