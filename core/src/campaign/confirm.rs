//! Whether a difference is one of the code: the execution is repeated, also each version against itself.

use super::Execute;
use crate::behavior::{Difference, Rules, differences};
use crate::engine::protocol::{ExecutionRecord, ExecutionRequest};
use crate::engine::{EngineError, Executed};
use crate::value::Fixed;

/// How often each version is repeated to see whether it does the same again, and how often once it did not.
pub(super) const REPEATS: usize = 5;
pub(super) const MANY_REPEATS: usize = 24;

/// Decisions of an execution, to repeat it.
pub fn repeat(record: &ExecutionRecord) -> Fixed {
    record.choices.iter().map(|choice| (choice.path.clone(), choice.decision.clone())).collect()
}

/// Repeats an execution, also each version against itself: what differs then is nondeterminism and no evidence. `None`
/// when repetitions are lost, twice: nothing is known then.
pub(super) fn confirm(
    execute: &mut dyn Execute,
    record: &ExecutionRecord,
    repeats: usize,
    rules: &Rules,
) -> Result<Option<Vec<Difference>>, EngineError> {
    match attempt(execute, record, repeats, rules)? {
        Some(confirmed) => Ok(Some(confirmed)),
        None => attempt(execute, record, repeats, rules),
    }
}

fn attempt(
    execute: &mut dyn Execute,
    record: &ExecutionRecord,
    repeats: usize,
    rules: &Rules,
) -> Result<Option<Vec<Difference>>, EngineError> {
    let request = |versions: Vec<u8>| ExecutionRequest {
        index: record.index,
        seed: record.seed,
        fixed: repeat(record),
        versions,
        observe: false,
    };
    let requests = vec![request(vec![0, 1]), request(vec![1, 0]), request(vec![0; repeats]), request(vec![1; repeats])];
    let mut records = execute.execute(requests)?.into_iter().map(|executed| match executed {
        Executed::Record(record) => Some(record.behaviors),
        Executed::Lost { .. } => None,
    });
    let mut next = || records.next().flatten().filter(|behaviors| behaviors.len() > 1);
    let (Some(forth), Some(back), Some(old), Some(new)) = (next(), next(), next(), next()) else { return Ok(None) };
    let noise: Vec<Difference> = [&old, &new]
        .into_iter()
        .flat_map(|same| same[1..].iter().flat_map(|again| differences(&same[0], again, rules)))
        .collect();
    // A version that ends usably at one time and not at another is no more to be trusted.
    let steady = [&old, &new].into_iter().all(|same| same.iter().all(|again| again.outcome.is_valid()));
    let reversed = differences(&back[1], &back[0], rules);
    let is_noise = |difference: &Difference| noise.iter().any(|other| other.channel == difference.channel);
    let holds = |difference: &Difference| reversed.iter().any(|other| other.channel == difference.channel);
    let mut confirmed = differences(&forth[0], &forth[1], rules);
    confirmed.retain(|difference| steady && !is_noise(difference) && holds(difference));
    Ok(Some(confirmed))
}
