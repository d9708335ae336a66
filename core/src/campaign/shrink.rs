//! Makes a witness small, and says which of its values matter.

use std::collections::BTreeSet;

use super::confirm::{REPEATS, confirm, repeat};
use super::{Execute, Kept};
use crate::behavior::{Rules, differences};
use crate::engine::protocol::{ExecutionRecord, ExecutionRequest};
use crate::engine::{EngineError, Executed};
use crate::value::{AbstractValue, Choice, Decision, Recipe};

/// Makes a witness smaller: replaces decisions by simpler ones while a difference in the same channel stays.
///
/// The decisions are gone through once, in order; at most `budget` candidates. Safe because every candidate is executed,
/// and one that shows a difference is confirmed as the witness was.
pub fn shrink(execute: &mut dyn Execute, witness: &Kept, rules: &Rules, budget: u32) -> Result<Kept, EngineError> {
    let mut best = witness.clone();
    let channels: BTreeSet<_> = witness.differences.iter().map(|difference| difference.channel).collect();
    let mut left = budget;
    for decisions in without_repairs(&best.record) {
        if left == 0 || best.record.repairs.is_empty() {
            break;
        }
        left -= 1;
        if let Some(found) = changed(execute, &best, decisions, &channels, rules)?
            && found.record.repairs.len() < best.record.repairs.len()
        {
            best = found;
        }
    }
    let mut position = 0;
    while position < best.record.choices.len() && left > 0 {
        let choice = best.record.choices[position].clone();
        let seen = best.differences.iter().any(|difference| {
            let shown = format!("<{}", choice.path);
            difference.old.contains(&shown) || difference.new.contains(&shown)
        });
        for simpler in simpler(&choice.decision, seen) {
            if left == 0 {
                break;
            }
            left -= 1;
            if let Some(found) = changed(execute, &best, vec![(choice.path.clone(), simpler)], &channels, rules)?
                && found.record.choices.len() <= best.record.choices.len()
                && found.record.repairs.len() <= best.record.repairs.len()
            {
                best = found;
                break;
            }
        }
        position += 1;
    }
    Ok(best)
}

/// The witness with some decisions exchanged, if the difference stays and is confirmed.
fn changed(
    execute: &mut dyn Execute,
    witness: &Kept,
    decisions: Vec<(String, Decision)>,
    channels: &BTreeSet<crate::report::Channel>,
    rules: &Rules,
) -> Result<Option<Kept>, EngineError> {
    let mut fixed = repeat(&witness.record);
    fixed.extend(decisions);
    let (index, seed) = (witness.record.index, witness.record.seed);
    let request = ExecutionRequest { index, seed, fixed, versions: vec![0, 1] };
    let Some(Executed::Record(record)) = execute.execute(vec![request])?.into_iter().next() else { return Ok(None) };
    let [old, new] = record.behaviors.as_slice() else { return Ok(None) };
    let shows =
        |found: &[crate::behavior::Difference]| found.iter().any(|difference| channels.contains(&difference.channel));
    if !shows(&differences(old, new, rules)) {
        return Ok(None);
    }
    let confirmed = confirm(execute, &record, REPEATS, rules)?;
    Ok(shows(&confirmed).then(|| Kept { record: *record, differences: confirmed, ..witness.clone() }))
}

/// The last identifier of a path.
fn last(path: &str) -> &str {
    &path[path
        .char_indices()
        .rev()
        .find(|(_, c)| !(c.is_alphanumeric() || *c == '_'))
        .map_or(0, |(at, c)| at + c.len_utf8())..]
}

/// Decisions that may do without a repair: an object in place of the plain value that was asked for what it does not
/// have, and an attribute that is there in place of a default.
fn without_repairs(record: &ExecutionRecord) -> Vec<Vec<(String, Decision)>> {
    let is_asked = |path: &str| {
        let name = last(path);
        let more = |repair: &String| {
            let called = repair.strip_suffix("(...)").is_some_and(|callee| !name.is_empty() && last(callee) == name);
            called || repair.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[', '(']))
        };
        record.repairs.iter().any(more)
    };
    let object = || Decision::Value(Recipe::Versatile(AbstractValue::Object));
    let instead = |choice: &Choice| match &choice.decision {
        Decision::Value(Recipe::Versatile(_)) => None,
        Decision::Value(Recipe::Bool(false)) => {
            let attribute = choice.path.strip_prefix("hasattr(")?.strip_suffix(')')?;
            let there = (choice.path.clone(), Decision::Value(Recipe::Bool(true)));
            Some(vec![there, (attribute.to_string(), object())])
        }
        Decision::Value(_) if is_asked(&choice.path) => Some(vec![(choice.path.clone(), object())]),
        _ => None,
    };
    record.choices.iter().filter_map(instead).collect()
}

/// A value without which a witness shows no difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisive {
    pub path: String,
    /// Probability, under the predictor, of a value that shows the difference, 0 to 1.
    pub probability: f64,
}

/// The plain values without which the witness shows no difference: each is exchanged for another
/// value, and is decisive when the difference goes away; at most `budget` executions.
pub fn decisive(
    execute: &mut dyn Execute,
    witness: &Kept,
    rules: &Rules,
    budget: u32,
) -> Result<Vec<Decisive>, EngineError> {
    let channels: BTreeSet<_> = witness.differences.iter().map(|difference| difference.channel).collect();
    let tried: Vec<(&Choice, Decision)> = witness
        .record
        .choices
        .iter()
        .filter_map(|choice| other(&choice.decision).map(|decision| (choice, decision)))
        .take(budget as usize)
        .collect();
    let requests = tried
        .iter()
        .map(|(choice, other)| {
            let mut fixed = repeat(&witness.record);
            fixed.insert(choice.path.clone(), other.clone());
            let (index, seed) = (witness.record.index, witness.record.seed);
            ExecutionRequest { index, seed, fixed, versions: vec![0, 1] }
        })
        .collect();
    let shows = |executed: &Executed| match executed {
        Executed::Record(record) => match record.behaviors.as_slice() {
            [old, new] => differences(old, new, rules).iter().any(|difference| channels.contains(&difference.channel)),
            _ => false,
        },
        // Nothing is known of what it would have shown.
        Executed::Lost { .. } => true,
    };
    let outcomes = execute.execute(requests)?;
    Ok(tried
        .iter()
        .zip(&outcomes)
        .filter(|(_, executed)| !shows(executed))
        .map(|((choice, _), _)| Decisive { path: choice.path.clone(), probability: 1.0 })
        .collect())
}

/// Another value of the same kind, far from the given one.
fn other(decision: &Decision) -> Option<Decision> {
    let Decision::Value(recipe) = decision else { return None };
    let value = match recipe {
        Recipe::None => Recipe::Versatile(AbstractValue::Object),
        Recipe::Bool(value) => Recipe::Bool(!value),
        Recipe::Int(value) => Recipe::Int(value.wrapping_add(7)),
        Recipe::Float(value) => Recipe::Float(value + 7.5),
        Recipe::Str(text) => Recipe::Str(format!("{text}zz")),
        Recipe::Bytes(bytes) => Recipe::Bytes([bytes, b"zz".as_slice()].concat()),
        Recipe::List(items) if items.is_empty() => Recipe::List(vec![Recipe::Int(7)]),
        Recipe::Tuple(items) if items.is_empty() => Recipe::Tuple(vec![Recipe::Int(7)]),
        Recipe::Set(items) if items.is_empty() => Recipe::Set(vec![Recipe::Int(7)]),
        Recipe::Dict(entries) if entries.is_empty() => Recipe::Dict(vec![(Recipe::Int(7), Recipe::Int(7))]),
        Recipe::List(_) => Recipe::List(vec![]),
        Recipe::Tuple(_) => Recipe::Tuple(vec![]),
        Recipe::Set(_) => Recipe::Set(vec![]),
        Recipe::Dict(_) => Recipe::Dict(vec![]),
        Recipe::Versatile(_) => return None,
    };
    Some(Decision::Value(value))
}

/// Simpler decisions than this one, simplest first. An object gives way to a plain value where the difference itself
/// shows it.
fn simpler(decision: &Decision, seen: bool) -> Vec<Decision> {
    let Decision::Value(recipe) = decision else { return vec![] };
    let values: Vec<Recipe> = match recipe {
        Recipe::Int(value) if !matches!(value, 0 | 1) => vec![Recipe::Int(0), Recipe::Int(1)],
        Recipe::Float(_) => vec![Recipe::Int(0), Recipe::Int(1), Recipe::Float(0.0)],
        Recipe::Versatile(_) if seen => vec![Recipe::Int(0), Recipe::Int(1), Recipe::Str(String::new())],
        Recipe::Str(text) if !text.is_empty() => {
            if text == "a" {
                vec![Recipe::Str(String::new())]
            } else {
                vec![Recipe::Str(String::new()), Recipe::Str("a".into())]
            }
        }
        Recipe::List(items) if !items.is_empty() => vec![Recipe::List(vec![]), Recipe::List(items[..1].to_vec())],
        Recipe::Tuple(items) if !items.is_empty() => vec![Recipe::Tuple(vec![]), Recipe::Tuple(items[..1].to_vec())],
        Recipe::Set(items) if !items.is_empty() => vec![Recipe::Set(vec![]), Recipe::Set(items[..1].to_vec())],
        Recipe::Dict(entries) if !entries.is_empty() => std::iter::once(Recipe::Dict(vec![]))
            .chain(entries.iter().map(|entry| Recipe::Dict(vec![entry.clone()])))
            .collect(),
        _ => vec![],
    };
    values.into_iter().filter(|value| value != recipe).map(Decision::Value).collect()
}
