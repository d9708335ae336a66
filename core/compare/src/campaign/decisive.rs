//! The values that a difference needs, and how likely they are.
//!
//! A value is decisive if the difference disappears with another value. Its probability is that of all values of its path
//! that show the difference. The probability of a difference is that of all its decisive values together.

use std::collections::BTreeSet;

use twincell_behavior::{Channel, Rules, differences};
use twincell_engine::protocol::{ExecutionRecord, ExecutionRequest};
use twincell_engine::{EngineError, Executed};
use twincell_values::drawing::likelihood::{probability, representatives, with_usual_numbers};
use twincell_values::path::Question;
use twincell_values::value::{AbstractValue, Choice, Decision, Recipe, library};

use super::confirm::{again, both, repeat};
use super::{Execute, TestCase};
use crate::verdict::EDGE_CASE;

/// The number of lost executions after which no more values are tried, and the size of a batch, so that losses are
/// noticed.
const LOST: usize = 3;
const BATCH: usize = 8;
/// The maximum number of values whose probability is found by trying others.
const MOST_UNLIKELY: usize = 6;

/// A value without which a witness shows no difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisive {
    pub path: String,
    /// The probability, under the predictor, of a value that shows the difference, 0 to 1.
    pub probability: f64,
}

/// The values without which the execution shows no difference, each replaced by another one in turn, within at most
/// `budget` executions. `raise_probability` is the probability of an injected exception.
pub fn decisive(
    execute: &mut dyn Execute,
    witness: &TestCase,
    rules: &Rules,
    raise_probability: f64,
    budget: u32,
) -> Result<Vec<Decisive>, EngineError> {
    let exchanges = Exchanges::new(execute, witness, rules)?;
    let tried = exchanges.worth_trying(budget);
    let requests: Vec<_> = tried.iter().map(|(choice, other)| exchanges.with(choice, other.clone())).collect();
    let mut outcomes = Vec::new();
    for batch in requests.chunks(BATCH) {
        outcomes.extend(execute.execute(batch.to_vec())?);
        if outcomes.iter().filter(|executed| !is_record(executed)).count() >= LOST {
            // Each lost execution costs a deadline.
            break;
        }
    }
    let mut found: Vec<(&Choice, Decisive)> = Vec::new();
    for ((choice, _), _) in tried.iter().zip(&outcomes).filter(|(_, executed)| !exchanges.shows(executed)) {
        if found.iter().any(|(known, _)| known.path == choice.path) {
            continue;
        }
        let probability = match (&choice.decision, exchanges.classes(&choice.path)) {
            // Somebody gave it, so it does occur.
            _ if witness.is_given(&choice.path) => 1.0,
            (Decision::Raise(_), _) => raise_probability,
            (Decision::Value(own), Some(classes)) => probability(classes, [own]),
            // A truth, a length or a default is as likely as its opposite.
            _ => 1.0,
        };
        found.push((choice, Decisive { path: choice.path.clone(), probability }));
    }
    if joint_probability(found.iter().map(|(_, value)| value)) < EDGE_CASE {
        exchanges.count_other_values(execute, &mut found)?;
    }
    Ok(found.into_iter().map(|(_, value)| value).collect())
}

/// Exchanges single decisions of a witness, to see whether it still shows its difference.
struct Exchanges<'w> {
    witness: &'w TestCase,
    record: &'w ExecutionRecord,
    rules: &'w Rules,
    /// The channels in which the witness differs.
    channels: BTreeSet<Channel>,
    /// The witness again, with the probability of each class.
    explained: Option<Executed>,
}

impl<'w> Exchanges<'w> {
    fn new(execute: &mut dyn Execute, witness: &'w TestCase, rules: &'w Rules) -> Result<Self, EngineError> {
        let record = &witness.record;
        let channels = witness.differences.iter().map(|difference| difference.channel).collect();
        let explaining = ExecutionRequest { explain: true, ..again(record, repeat(record), both()) };
        let explained = execute.execute(vec![explaining])?.pop();
        Ok(Self { witness, record, rules, channels, explained })
    }

    /// The witness with another decision.
    fn with(&self, choice: &Choice, decision: Decision) -> ExecutionRequest {
        let mut fixed = repeat(self.record);
        fixed.insert(choice.path.clone(), decision);
        again(self.record, fixed, both())
    }

    fn shows(&self, executed: &Executed) -> bool {
        match executed {
            Executed::Record(record) => match record.behaviors.as_slice() {
                [old, new] => differences(old, new, self.rules)
                    .iter()
                    .any(|difference| self.channels.contains(&difference.channel)),
                _ => false,
            },
            // Nothing is known about what it would have shown.
            Executed::Lost { .. } => true,
        }
    }

    /// The probability of each class under a path, where it is known.
    fn classes(&self, path: &str) -> Option<&[f32]> {
        match &self.explained {
            Some(Executed::Record(record)) => {
                let injection = record.injections.iter().find(|injection| injection.path == path)?;
                Some(injection.classes.as_slice()).filter(|classes| !classes.is_empty())
            }
            _ => None,
        }
    }

    /// The decisions to exchange, each with another one: up to `budget` with the opposite, then those with a value of a
    /// class that it hardly ever has, with one of the likeliest class.
    fn worth_trying(&self, budget: u32) -> Vec<(&'w Choice, Decision)> {
        let choices = &self.record.choices;
        let opposite = choices
            .iter()
            .filter_map(|choice| other(&choice.path, &choice.decision).map(|decision| (choice, decision)));
        let unlikely = choices.iter().filter_map(|choice| self.usual(choice).map(|usual| (choice, usual)));
        opposite.take(budget as usize).chain(unlikely.take(MOST_UNLIKELY)).collect()
    }

    fn usual(&self, choice: &Choice) -> Option<Decision> {
        let (Decision::Value(own), classes) = (&choice.decision, self.classes(&choice.path)?) else { return None };
        let share = |class: &AbstractValue| classes.get(*class as usize).copied().unwrap_or_default();
        let likeliest = AbstractValue::ALL.into_iter().max_by(|a, b| share(a).total_cmp(&share(b)));
        let usual = representatives().into_iter().rfind(|value| Some(value.abstract_value()) == likeliest)?;
        (probability(classes, [own]) < EDGE_CASE).then_some(Decision::Value(usual))
    }

    /// Other values of the same path may also show the difference. The least likely paths are tried first.
    fn count_other_values(
        &self,
        execute: &mut dyn Execute,
        found: &mut [(&Choice, Decisive)],
    ) -> Result<(), EngineError> {
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by(|&a, &b| found[a].1.probability.total_cmp(&found[b].1.probability));
        order.retain(|&at| !self.witness.is_given(&found[at].0.path));
        for at in order.into_iter().take(MOST_UNLIKELY) {
            let choice = found[at].0;
            let (Decision::Value(own), Some(classes)) = (&choice.decision, self.classes(&choice.path)) else {
                continue;
            };
            let others: Vec<Recipe> = representatives().into_iter().filter(|value| value != own).collect();
            let requests = others.iter().map(|value| self.with(choice, Decision::Value(value.clone()))).collect();
            let outcomes = execute.execute(requests)?;
            let show = others.iter().zip(&outcomes).filter(|(_, executed)| is_record(executed) && self.shows(executed));
            found[at].1.probability = probability(classes, show.map(|(value, _)| value).chain([own]));
        }
        Ok(())
    }
}

fn is_record(executed: &Executed) -> bool {
    matches!(executed, Executed::Record(_))
}

/// The joint probability of some values.
pub fn joint_probability<'a>(decisive: impl IntoIterator<Item = &'a Decisive>) -> f64 {
    decisive.into_iter().map(|value| value.probability).product()
}

/// Another value of the same kind, far from the given one. In place of extreme numbers, usual ones.
pub(super) fn other(path: &str, decision: &Decision) -> Option<Decision> {
    let recipe = match decision {
        Decision::Value(recipe) => recipe,
        // Another object.
        Decision::Raise(_) | Decision::Same(_) => {
            return Some(Decision::Value(Recipe::Mock(AbstractValue::Object)));
        }
        Decision::Default | Decision::Fail => return None,
    };
    // Of a container, an empty one is farther.
    let is_container = matches!(recipe, Recipe::List(_) | Recipe::Tuple(_) | Recipe::Set(_) | Recipe::Dict(_));
    if let Some(usual) = with_usual_numbers(recipe).filter(|_| !is_container) {
        return Some(Decision::Value(usual));
    }
    let value = match recipe {
        Recipe::None | Recipe::Named(_) => Recipe::Mock(AbstractValue::Object),
        Recipe::Bool(value) => Recipe::Bool(!value),
        // Less, equal, greater.
        Recipe::Int(value) if matches!(Question::parse(path), Question::Order { .. }) => {
            Recipe::Int(if *value < 2 { 2 } else { 0 })
        }
        Recipe::Int(value) => Recipe::Int(value.wrapping_add(7)),
        Recipe::Float(value) => Recipe::Float(value + 7.5),
        Recipe::Str(text) => Recipe::Str(if text == "word" { "other".into() } else { "word".into() }),
        Recipe::Bytes(bytes) => Recipe::Bytes(if bytes == b"word" { b"other".to_vec() } else { b"word".to_vec() }),
        Recipe::List(items) if items.is_empty() => Recipe::List(vec![Recipe::Int(7)]),
        Recipe::Tuple(items) if items.is_empty() => Recipe::Tuple(vec![Recipe::Int(7)]),
        Recipe::Set(items) if items.is_empty() => Recipe::Set(vec![Recipe::Int(7)]),
        Recipe::Dict(entries) if entries.is_empty() => Recipe::Dict(vec![(Recipe::Int(7), Recipe::Int(7))]),
        Recipe::List(_) => Recipe::List(vec![]),
        Recipe::Tuple(_) => Recipe::Tuple(vec![]),
        Recipe::Set(_) => Recipe::Set(vec![]),
        Recipe::Dict(_) => Recipe::Dict(vec![]),
        Recipe::Made(_) => library::others(recipe).into_iter().next()?,
        Recipe::Given(given) => given.others().next()?,
        Recipe::Provided(provided) => provided.others().next()?,
        Recipe::Mock(_) => return None,
    };
    Some(Decision::Value(value))
}
