//! The executions of one pair: choose, execute, learn, stop.
//!
//! [`run`] is the loop; each idea has a file: what is kept and learned (`corpus.rs`), the next execution (`choose.rs`),
//! whether a difference is real (`confirm.rs`), a small witness (`shrink.rs`).

mod choose;
mod confirm;
mod corpus;
mod shrink;
mod techniques;

use std::collections::BTreeSet;

use crate::behavior::{Behavior, Difference, Outcome, Rules};
use crate::compare::Continue;
use crate::engine::protocol::{ExecutionRecord, ExecutionRequest};
use crate::engine::{EngineError, Executed};
use crate::source::Diff;

use choose::choose;
use confirm::{MANY_REPEATS, REPEATS, confirm};
use corpus::{State, learn};

pub use confirm::repeat;
pub use shrink::{Decisive, decisive, shrink};
pub use techniques::Techniques;

/// Executions of the first batch, and of the one after a loss; later ones grow to the largest.
const FIRST_BATCH: u32 = 2;
const LARGEST_BATCH: u32 = 64;
/// Lost executions after which a campaign ends: the few where nothing else came back, the many in any case.
const FEW_LOST: usize = 3;
const MANY_LOST: usize = 10;
/// Executions without a usable one after which a campaign whose executions are stopped by a bound ends.
const MANY_STOPPED: usize = 12;
/// Runs requests: a loaded program, or a stand-in in tests.
pub trait Execute {
    fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError>;
}

impl Execute for crate::engine::Loaded<'_> {
    fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError> {
        self.run(requests)
    }
}

/// Executions that look for a witness without repairs once there is one with.
const WITHOUT_REPAIRS: u32 = 48;

/// What the lines of a pair are, for coverage.
#[derive(Debug, Clone, Default)]
pub struct Target {
    /// Executable lines of old and new.
    pub lines: [Vec<u32>; 2],
    /// Changed lines of old and new that are executable.
    pub changed: [Vec<u32>; 2],
}

impl Target {
    /// A changed line that holds no code that reports (the second line of a call, a closing bracket) counts for the last
    /// line before it that does; one before all of them (a parameter's default) for the first.
    pub fn new(diff: &Diff, lines: [Vec<u32>; 2]) -> Self {
        let executable = |changed: &[u32], lines: &[u32]| -> Vec<u32> {
            let mut found: Vec<u32> = changed
                .iter()
                .filter_map(|&line| {
                    let before = lines.iter().rev().find(|&&own| own <= line);
                    let exact = lines.contains(&line).then_some(line);
                    exact.or(before.copied()).or_else(|| lines.first().copied())
                })
                .collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let changed = [executable(&diff.old_lines, &lines[0]), executable(&diff.new_lines, &lines[1])];
        Self { lines, changed }
    }
}

/// One execution as the campaign keeps it.
#[derive(Debug, Clone)]
pub struct Kept {
    pub record: ExecutionRecord,
    pub differences: Vec<Difference>,
    /// Lines that no earlier execution ran.
    pub new_lines: u32,
    pub coverage: f64,
}

impl Kept {
    pub fn old_behavior(&self) -> Option<&Behavior> {
        self.record.behaviors.first()
    }

    pub fn new_behavior(&self) -> Option<&Behavior> {
        self.record.behaviors.get(1)
    }

    /// Both versions ended in a way that says something about behavior.
    pub fn is_valid(&self) -> bool {
        self.record.behaviors.iter().all(|behavior| behavior.outcome.is_valid())
    }
}

/// What a campaign found.
#[derive(Debug, Clone, Default)]
pub struct Campaign {
    pub executions: Vec<Kept>,
    /// Position in `executions` of the confirmed difference.
    pub witness: Option<usize>,
    pub lost: Vec<String>,
    /// Differences that were not the same when an execution was repeated.
    pub nondeterministic: u32,
    /// Changed lines of old and new that a valid execution ran.
    pub reached: [BTreeSet<u32>; 2],
    pub stopped_early: bool,
}

/// How a campaign is to go.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Executions at most.
    pub budget: u32,
    pub seed: u64,
    pub techniques: Techniques,
    pub rules: Rules,
    /// A difference that only an unlikely value shows does not end the search.
    pub ignore_edge_cases: bool,
}

/// Runs executions until a difference is confirmed or the budget is used up.
pub fn run(
    execute: &mut dyn Execute,
    target: &Target,
    plan: &Plan,
    progress: &mut dyn FnMut(u32, f64) -> Continue,
) -> Result<Campaign, EngineError> {
    let mut state = State::new(target, plan.techniques, &plan.rules);
    let mut campaign = Campaign::default();
    let mut next = 0;
    let mut batch = FIRST_BATCH;
    // A witness that needed repairs gives way to one without, if that is found soon.
    let mut settled = false;
    let mut end = plan.budget;
    while next < end && !is_hopeless(&campaign) {
        let count = batch.min(end - next);
        let lost = campaign.lost.len();
        let requests = (next..next + count).map(|index| choose(&state, plan.seed, index)).collect();
        next += count;
        batch = (batch * 2).min(LARGEST_BATCH);
        for executed in execute.execute(requests)? {
            match executed {
                Executed::Lost { reason, .. } => campaign.lost.push(reason),
                Executed::Record(record) => learn(&mut state, &mut campaign, *record),
            }
            let Some(last) = campaign.executions.len().checked_sub(1) else { continue };
            let real = campaign.executions[last].record.repairs.is_empty();
            if (campaign.witness.is_none() || real && !settled) && !campaign.executions[last].differences.is_empty() {
                let record = campaign.executions[last].record.clone();
                let repeats = if campaign.nondeterministic > 0 { MANY_REPEATS } else { REPEATS };
                let confirmed = confirm(execute, &record, repeats, &plan.rules)?;
                if confirmed.is_empty() {
                    campaign.nondeterministic += 1;
                }
                let found = !confirmed.is_empty();
                campaign.executions[last].differences = confirmed;
                if found {
                    if campaign.witness.is_none() {
                        end = end.min(next + WITHOUT_REPAIRS);
                    }
                    campaign.witness = Some(last);
                    settled = real;
                }
                if settled {
                    break;
                }
            }
        }
        if campaign.lost.len() > lost {
            batch = FIRST_BATCH;
        }
        let coverage = state.coverage();
        if settled {
            break;
        }
        if progress(next, coverage) == Continue::Stop {
            campaign.stopped_early = true;
            break;
        }
    }
    Ok(campaign)
}

/// Going on would only cost time: workers are lost, or every execution runs into a bound.
fn is_hopeless(campaign: &Campaign) -> bool {
    let lost = campaign.lost.len();
    let stopped =
        |kept: &&Kept| kept.record.behaviors.iter().any(|behavior| matches!(behavior.outcome, Outcome::Stopped { .. }));
    lost >= MANY_LOST
        || lost >= FEW_LOST && campaign.executions.is_empty()
        || campaign.executions.iter().filter(stopped).count() >= MANY_STOPPED
            && !campaign.executions.iter().any(Kept::is_valid)
}
