//! Makes a witness small.

use std::collections::BTreeSet;

use super::confirm::{REPEATS, again, confirm, repeat};
use super::weigh::ground;
use super::{Execute, Kept};
use crate::behavior::{Difference, Rules, differences};
use crate::engine::{EngineError, Executed};
use crate::value::{Decision, Recipe};

/// Makes a witness smaller: replaces decisions by simpler ones while a difference in the same channel stays.
///
/// The decisions are gone through once, in order; at most `budget` candidates. Safe because every candidate is executed,
/// and one that shows a difference is confirmed as the witness was.
pub fn shrink(execute: &mut dyn Execute, witness: &Kept, rules: &Rules, budget: u32) -> Result<Kept, EngineError> {
    let mut best = witness.clone();
    let channels: BTreeSet<_> = witness.differences.iter().map(|difference| difference.channel).collect();
    let strongest = witness.differences.iter().map(|difference| difference.basis).max();
    let mut left = budget;
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
            let mut fixed = repeat(&best.record);
            fixed.insert(choice.path.clone(), simpler);
            let request = again(&best.record, fixed, vec![0, 1]);
            let Some(Executed::Record(record)) = execute.execute(vec![request])?.into_iter().next() else { continue };
            let [old, new] = record.behaviors.as_slice() else { continue };
            let found = differences(old, new, rules);
            if found.iter().any(|difference| channels.contains(&difference.channel))
                && record.choices.len() <= best.record.choices.len()
            {
                let confirmed = confirm(execute, &record, REPEATS, rules)?;
                let grounded = ground(execute, &record, confirmed, rules)?;
                let is_as_strong = |difference: &Difference| {
                    channels.contains(&difference.channel) && Some(difference.basis) >= strongest
                };
                if grounded.iter().any(is_as_strong) {
                    best.differences = grounded;
                    best.record = *record;
                    break;
                }
            }
        }
        position += 1;
    }
    Ok(best)
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
