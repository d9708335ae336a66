//! Finds other witnesses of a difference, for the case that a reproducer of the first does not hold.
//!
//! A witness may show a difference on values that no program can receive, because a result was invented where Python
//! would have failed (a *synthesized result*). Other witnesses that need none are searched for near it: decisions on
//! which a synthesized result rests are drawn again, and the others stay the same. If there was no synthesized result, a
//! few arbitrary decisions are drawn again.

use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use twincell_behavior::{Difference, Rules, differences};
use twincell_engine::protocol::ExecutionRequest;
use twincell_engine::{EngineError, Executed};
use twincell_values::path::AccessPath;
use twincell_values::value::{AbstractValue, Choice, Decision, Recipe};

use super::causes::classify_basis;
use super::confirm::{Effort, Repeated, both, confirm, repeat};
use super::{Execute, TestCase};
use crate::Continue;

/// The size of a batch, the maximum number of confirmed differing executions, and the maximum number of returned
/// witnesses.
const BATCH: u32 = 16;
const MOST_CONFIRMED: u32 = 8;
const MOST_FOUND: usize = 3;
/// How often a decision on which a synthesized result rests is drawn again, and any other.
const SUSPECTED: f64 = 0.7;
const OTHER: f64 = 0.1;
/// The maximum of small numbers.
const SMALL: i64 = 8;
/// Separates the random numbers from those of the campaign.
const SALT: u64 = 0x0077_6974_6e65_7373;

/// Confirmed executions that differ in one of the channels of this one, at least as strongly, without a synthesized
/// operation, in the order in which they are found, after at most `budget` executions.
pub fn natural_witnesses(
    execute: &mut dyn Execute,
    witness: &TestCase,
    rules: &Rules,
    literals: &[Recipe],
    budget: u32,
    go_on: &mut dyn FnMut() -> Continue,
) -> Result<Vec<TestCase>, EngineError> {
    let channels: BTreeSet<_> = witness.differences.iter().map(|difference| difference.channel).collect();
    let strongest = witness.differences.iter().map(|difference| difference.basis).max();
    let suspects: BTreeSet<&str> = suspects(witness);
    let is_as_strong = |differences: &[Difference]| {
        let in_channel = |difference: &&Difference| channels.contains(&difference.channel);
        differences.iter().filter(in_channel).any(|difference| Some(difference.basis) >= strongest)
    };
    let mut found: Vec<TestCase> = Vec::new();
    let (mut confirmed, mut next) = (0, 0);
    while next < budget && found.len() < MOST_FOUND && confirmed < MOST_CONFIRMED && go_on() == Continue::Yes {
        let requests =
            (next..budget.min(next + BATCH)).map(|index| varied(witness, &suspects, literals, index)).collect();
        next += BATCH;
        for executed in execute.execute(requests)? {
            let Executed::Record(record) = executed else { return Ok(found) };
            let [old, new] = record.behaviors.as_slice() else { continue };
            let shows = record.synthesized.is_empty()
                && differences(old, new, rules).iter().any(|difference| channels.contains(&difference.channel));
            if !shows || found.len() >= MOST_FOUND || confirmed >= MOST_CONFIRMED {
                continue;
            }
            confirmed += 1;
            let Repeated::Known(again) = confirm(execute, &record, Effort::USUAL, rules)? else { return Ok(found) };
            let differences = classify_basis(execute, &record, again, rules)?;
            if is_as_strong(&differences) {
                found.push(TestCase { record: *record, differences, ..witness.clone() });
            }
        }
    }
    Ok(found)
}

/// The decisions of a witness, some of them drawn again, but for those that somebody gave. Those on which a synthesized
/// result rests are also drawn from the literals of the code, as a small number, since look-ups often use one, or as an
/// object, which supports every operation.
fn varied(witness: &TestCase, suspects: &BTreeSet<&str>, literals: &[Recipe], index: u32) -> ExecutionRequest {
    let record = &witness.record;
    let seed = xxh3_64_with_seed(&index.to_le_bytes(), record.seed ^ SALT);
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut fixed = repeat(record);
    let object = || Recipe::Mock(AbstractValue::Object);
    for choice in &record.choices {
        let path = choice.path.as_str();
        let is_suspect = suspects.contains(path);
        if witness.is_given(path) || !random.random_bool(if is_suspect { SUSPECTED } else { OTHER }) {
            continue;
        }
        fixed.remove(path);
        if is_suspect && matches!(choice.decision, Decision::Value(_)) {
            let value = match random.random_range(0..10) {
                0..3 => literals.get(random.random_range(0..literals.len().max(1))).cloned(),
                3 => Some(Recipe::Int(random.random_range(-SMALL..=SMALL))),
                4 => Some(object()),
                5 => Some(Recipe::List(vec![object()])),
                _ => None,
            };
            fixed.extend(value.map(|value| (choice.path.clone(), Decision::Value(value))));
        }
    }
    ExecutionRequest { index: record.index, seed, fixed, versions: both(), ..ExecutionRequest::default() }
}

/// The paths of the values on which synthesized results rest: what was indexed or called, what was looked up, and their
/// containers.
fn suspects(witness: &TestCase) -> BTreeSet<&str> {
    let is_suspect = |choice: &&Choice| {
        if matches!(&choice.decision, Decision::Value(Recipe::Mock(_))) {
            return false;
        }
        let shown = match &choice.decision {
            Decision::Value(recipe) => Some(recipe.display()).filter(|shown| shown.len() > 1),
            _ => None,
        };
        let path = choice.path.as_str();
        let is_key = match &choice.decision {
            Decision::Value(recipe) => {
                let shown = recipe.display();
                witness.record.synthesized.iter().map(AccessPath::from).any(|operation| {
                    let is_key = || operation.split_item().is_some_and(|(_, key)| key == shown);
                    is_key() || operation.beyond(&shown).is_some()
                })
            }
            _ => false,
        };
        if is_key {
            return true;
        }
        let name = AccessPath::new(path).last_name();
        witness.record.synthesized.iter().any(|operation| {
            let is_named = name.len() > 1 && operation.contains(name);
            let holder = AccessPath::from(operation).holder().as_str();
            is_named
                || operation.contains(path)
                || shown.as_ref().is_some_and(|shown| {
                    operation.contains(shown.as_str()) || holder.len() > 1 && shown.contains(holder)
                })
        })
    };
    witness.record.choices.iter().filter(is_suspect).map(|choice| choice.path.as_str()).collect()
}
