//! The call in a headline: a function, or a class that is made and then used, each with its arguments.

use std::collections::BTreeMap;

use twincell_behavior::short_text;
use twincell_engine::protocol::Member;
use twincell_syntax::{CodeKind, Parameter, ParameterKind, PerSide};
use twincell_values::path::{Question, text_of};
use twincell_values::value::{Choice, Decision, Recipe};

use super::NAMED_VALUES;
use super::place::{Sites, call_site};
use crate::assemble::PairContext;
use crate::campaign::TestCase;
use crate::headline::STATEMENTS;
use crate::report::Condition;
use crate::uses::{ArgumentPaths, Class, is_decorated, passed};

/// The maximum number of arguments that are named beside others, and of characters of their values.
const OTHERS: usize = 3;
const OTHER_VALUE: usize = 12;

/// The call on the values that matter, and those of them that are no arguments: `f(x=0)` or `Cart(1).add()`,
/// and the value of `self.discount`.
pub(super) fn subject(
    context: &PairContext<'_>,
    sites: Sites<'_>,
    case: &TestCase,
    values: &[&Choice],
    uses: &[&Member],
) -> (String, Vec<Condition>) {
    let function = &context.functions.new;
    let Used { made: parameters, uses } = Used::of(context, case, uses);
    let (mut given, mut conditions) = (Vec::new(), Vec::new());
    for choice in values {
        match parameters.argument(choice) {
            Some(argument) => given.push(argument),
            // It stands where a member is used.
            None if uses.iter().any(|one| one.passes(choice)) => {}
            None => {
                let call = call_site(context, sites, case, choice);
                conditions.push(Condition { choice: (*choice).clone(), call });
            }
        }
    }
    if given.is_empty() {
        given = parameters.plain(case, NAMED_VALUES.saturating_sub(conditions.len()));
    } else {
        given.extend(parameters.others(case, &given));
    }
    let given = listed(given);
    let uses: Vec<String> = uses.iter().map(|one| one.text(case, values)).collect();
    let call = match (function.kind, uses.as_slice()) {
        (CodeKind::Snippet, _) => STATEMENTS.to_owned(),
        (_, []) => format!("{}({given})", function.qualname),
        (_, [only]) => format!("{}({given}).{only}", function.qualname),
        (_, uses) => format!("{}({given}), using {}", function.qualname, in_order(uses)),
    };
    (call, conditions)
}

/// The uses of a class in order, each with what is passed: `add(amount=1)`, `total`.
pub(super) fn uses(context: &PairContext<'_>, case: &TestCase, members: &[&Member]) -> Vec<String> {
    let passed: Vec<&Choice> =
        case.record.choices.iter().filter(|choice| choice.decision != Decision::Default).collect();
    Used::of(context, case, members).uses.iter().map(|one| one.text(case, &passed)).collect()
}

/// `add(), then total (3 times)`.
fn in_order(uses: &[String]) -> String {
    let runs = uses.chunk_by(|one, other| one == other).map(|run| match run {
        [only] => only.clone(),
        several => format!("{} ({} times)", several[0], several.len()),
    });
    runs.collect::<Vec<_>>().join(", then ")
}

/// What an execution calls: the function, or the constructor of a class and then its members.
struct Used<'a> {
    made: Parameters,
    uses: Vec<Use<'a>>,
}

/// The use of a member.
struct Use<'a> {
    member: &'a Member,
    /// `None` if they are not known, as for inherited members.
    parameters: Option<Parameters>,
}

impl<'a> Used<'a> {
    fn of(context: &PairContext<'_>, case: &TestCase, members: &[&'a Member]) -> Self {
        let function = &context.functions.new;
        if function.kind != CodeKind::Class {
            let uses = members.iter().map(|member| Use { member, parameters: None }).collect();
            return Self { made: Parameters::of_function(context), uses };
        }
        let class = Class::of(function);
        let decisions: BTreeMap<&str, &Decision> =
            case.record.choices.iter().map(|choice| (choice.path.as_str(), &choice.decision)).collect();
        let decision = |question: &str| decisions.get(question).copied();
        let drawn = |question: Question<'_>| match decision(&question.to_string()) {
            Some(Decision::Value(Recipe::Int(number))) => Some(*number),
            _ => None,
        };
        let mut paths = ArgumentPaths::default();
        let mut call = |parameters: &[Parameter]| {
            let old_name = |name: &str| {
                let renamed = context.diff.renames.iter().find(|(new, _)| new == name);
                renamed.map_or(name, |(_, old)| old).to_owned()
            };
            let with_path = |one: &Parameter| (paths.of(&old_name(&one.name), &decision), one.clone());
            let passed = Parameters(parameters.iter().map(with_path).collect());
            paths.called(parameters.iter().map(|one| old_name(&one.name)));
            passed
        };
        // A member of an enumeration is not made.
        let made = match drawn(Question::WhichMember) {
            Some(_) => Parameters(vec![]),
            None => call(class.constructor()),
        };
        // What was passed to a member that is not known may have any name.
        let mut is_known = true;
        let uses = (1..).zip(members).map(|(step, member)| {
            if matches!(member.name.as_str(), "__eq__" | "__lt__") && drawn(Question::Operand(step)) == Some(0) {
                call(class.constructor());
                return Use { member, parameters: None };
            }
            let has_none = member.is_property || member.by_operation;
            let method = class.method(&member.name).filter(|method| !is_decorated(method));
            is_known &= has_none || method.is_some();
            let method = method.filter(|_| is_known && !has_none);
            Use { member, parameters: method.map(|method| call(passed(method))) }
        });
        let uses = uses.collect();
        Self { made, uses }
    }
}

impl Use<'_> {
    /// Whether a value is one of its arguments.
    fn passes(&self, choice: &Choice) -> bool {
        self.parameters.as_ref().is_some_and(|parameters| parameters.argument(choice).is_some())
    }

    /// `total`, `add(price=0)`; these values are told in any case.
    fn text(&self, case: &TestCase, values: &[&Choice]) -> String {
        let Some(parameters) = &self.parameters else {
            let has_none = self.member.is_property || self.member.by_operation;
            return if has_none { self.member.shown() } else { format!("{}(…)", self.member.name) };
        };
        let mut given: Vec<Argument> = values.iter().filter_map(|choice| parameters.argument(choice)).collect();
        given.extend(parameters.others(case, &given));
        format!("{}({})", self.member.name, listed(given))
    }
}

/// An argument as a call has it, with its position.
struct Argument {
    at: usize,
    text: String,
}

/// Arguments in their order, as a call has them.
fn listed(mut given: Vec<Argument>) -> String {
    given.sort_by_key(|argument| argument.at);
    given.into_iter().map(|argument| argument.text).collect::<Vec<_>>().join(", ")
}

/// The parameters of a call, each with the access path of what is passed.
struct Parameters(Vec<(String, Parameter)>);

impl Parameters {
    /// Those of both versions, those of the new one first.
    fn of_function(context: &PairContext<'_>) -> Self {
        let PerSide { old, new } = context.functions;
        let is_only_in_old = |one: &&Parameter| new.parameters.iter().all(|other| other.name != one.name);
        let all = new.parameters.iter().chain(old.parameters.iter().filter(is_only_in_old));
        Self(all.map(|one| (one.name.clone(), one.clone())).collect())
    }

    /// A decision as an argument, if it is about one: `x=0`, `further=1` of `**options`, `x not given`.
    fn argument(&self, choice: &Choice) -> Option<Argument> {
        let Question::Value(of) = Question::parse(&choice.path) else { return None };
        let value = |recipe: &Recipe| short_text(&recipe.display());
        let text = |(path, Parameter { name, kind, .. }): &(String, Parameter)| {
            let is_whole = of.as_str() == path;
            let key = of.split_item().filter(|(holder, _)| holder.as_str() == path).map(|(_, key)| key);
            Some(match (&choice.decision, kind, key) {
                (Decision::Default, ..) if is_whole => format!("{name} not given"),
                (Decision::Value(recipe), ParameterKind::VarPositional, Some(_)) => value(recipe),
                (Decision::Value(recipe), ParameterKind::VarKeyword, Some(key)) => {
                    format!("{}={}", text_of(key)?, value(recipe))
                }
                (Decision::Value(recipe), ..) if is_whole => format!("{name}={}", value(recipe)),
                _ => return None,
            })
        };
        self.0.iter().enumerate().find_map(|(at, one)| text(one).map(|text| Argument { at, text }))
    }

    /// The arguments that were passed besides these, with their values where somebody gave them or where they are plain and
    /// short. Of many, dots stand for them.
    fn others(&self, case: &TestCase, given: &[Argument]) -> Vec<Argument> {
        let is_named = |at: usize| given.iter().any(|argument| argument.at == at);
        let shown = |(at, (path, parameter)): (usize, &(String, Parameter))| {
            let choice = case.record.choices.iter().find(|choice| choice.path == *path)?;
            let is_shown = match &choice.decision {
                Decision::Value(recipe) => {
                    let is_short = || recipe.display().chars().count() <= OTHER_VALUE;
                    case.is_given(&choice.path) || !recipe.has_object() && is_short()
                }
                Decision::Same(_) => false,
                _ => return None,
            };
            let value = self.argument(choice).filter(|_| is_shown);
            Some(value.unwrap_or_else(|| Argument { at, text: parameter.name.clone() }))
        };
        let others: Vec<Argument> =
            self.0.iter().enumerate().filter(|(at, _)| !is_named(*at)).filter_map(shown).collect();
        match others.len() {
            0..=OTHERS => others,
            _ => vec![Argument { at: self.0.len(), text: "…".into() }],
        }
    }

    /// All arguments of an execution, the first of them with their values where these are plain.
    fn plain(&self, case: &TestCase, most: usize) -> Vec<Argument> {
        let of = |(at, (path, parameter)): (usize, &(String, Parameter))| {
            let choice = case.record.choices.iter().find(|choice| choice.path == *path)?;
            let plain = |recipe: &Recipe| !recipe.has_object() && at < most;
            match &choice.decision {
                Decision::Value(recipe) if plain(recipe) => self.argument(choice),
                Decision::Value(_) | Decision::Same(_) => Some(Argument { at, text: parameter.name.clone() }),
                _ => None,
            }
        };
        self.0.iter().enumerate().filter_map(of).collect()
    }
}
