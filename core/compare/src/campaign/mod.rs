//! The executions of one pair: choose, execute, learn, stop.
//!
//! [`run`] is the loop. Each idea has a file: what is kept and learned (`corpus.rs`), the next execution (`choose.rs`),
//! whether a difference is real (`confirm.rs`), a small witness (`shrink.rs`), another one (`unforced.rs`), and the
//! predictor's expectations (`explain.rs`).

mod causes;
mod choose;
mod confirm;
mod corpus;
mod explain;
mod mutation;
mod numbers;
mod replacement;
mod search_targets;
mod shrink;
mod solve;
mod tally;
mod techniques;
mod unforced;

use std::collections::BTreeSet;

use causes::classify_basis;
use choose::choose;
use confirm::{MANY_REPEATS, REPEATS, confirm};
use corpus::{State, learn};
use tally::Tally;

use twincell_behavior::{Basis, Difference, EvidencePlace, Rules, differences};
use twincell_engine::observed::{Behavior, Outcome};
use twincell_engine::protocol::{ExecutionRecord, ExecutionRequest};
use twincell_engine::{EngineError, Executed};
use twincell_syntax::site::SiteTable;
use twincell_syntax::{Diff, Function, PerSide, Side};
use twincell_values::reading::{Conditions, conditions};

use crate::{Continue, verdict};

pub use causes::{Decisive, decisive, joint_probability};
pub(crate) use confirm::both;
pub use confirm::{is_deterministic, is_same_again, repeat};
pub use explain::explain;
pub use shrink::shrink;
pub use techniques::Techniques;
pub use unforced::unforced_witnesses;

/// The size of the first batch, and of the one after a loss. Later batches grow to the largest size.
const FIRST_BATCH: u32 = 2;
const LARGEST_BATCH: u32 = 64;
/// The size of a batch while more executions are planned, since their results change what comes next.
const LEARNING_BATCH: u32 = 12;
/// The numbers of lost executions after which a campaign ends: the few if nothing else came back, the many in any case.
const FEW_LOST: usize = 3;
const MANY_LOST: usize = 6;
/// The number of executions without a usable one after which a campaign ends whose executions are stopped by a bound.
const MANY_STOPPED: usize = 12;
/// The number of executions spent on finding a better difference once a weak or unlikely one is confirmed, and how many
/// of the differing ones are then confirmed.
const FURTHER: u32 = 64;
const MOST_CONFIRMED: u32 = 6;
/// How many differences to confirm if unlikely ones do not count.
const MOST_IGNORED: u32 = 24;
/// How many weak differences to confirm before similar ones are assumed weak.
const MOST_WEAK: u32 = 24;
/// How many differences may prove to be noise before others in the same places are assumed to be noise, and before all
/// are. Each costs many repetitions.
const MOST_NOISY: u32 = 6;
const MOST_NOISY_ANYWHERE: u32 = 24;
/// The number of executions spent on finding the decisive values of a difference.
pub const DECISIVE_BUDGET: u32 = 40;
/// The maximum number of executions after a difference is found.
const COMPLETING: u32 = 48;

/// Runs requests: a loaded program, or a stand-in in tests.
pub trait Execute {
    fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError>;
}

impl Execute for twincell_engine::Loaded<'_> {
    fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError> {
        self.run(requests)
    }
}

/// The lines of a pair, for coverage.
#[derive(Debug, Clone, Default)]
pub struct Target {
    /// The executable lines.
    pub lines: PerSide<Vec<u32>>,
    /// The changed lines that are executable.
    pub changed: PerSide<Vec<u32>>,
    /// The lines of the conditions, by their numbers.
    pub branches: PerSide<Vec<u32>>,
    /// What the search knows about the code.
    pub readings: PerSide<Reading>,
}

/// What the search knows about the code of one version.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    pub conditions: Conditions,
    /// (name in this version, canonical name).
    pub renames: Vec<(String, String)>,
    /// Canonical names.
    pub parameters: Vec<String>,
    /// The text, line by line.
    pub lines: Vec<String>,
}

impl Reading {
    pub fn new(function: &Function, sites: &SiteTable, renames: &[(String, String)]) -> Self {
        let canonical = |name: &String| {
            let renamed = renames.iter().find(|(own, _)| own == name);
            renamed.map_or_else(|| name.clone(), |(_, canonical)| canonical.clone())
        };
        Self {
            conditions: conditions(function, sites),
            renames: renames.to_vec(),
            parameters: function.parameters.iter().map(|parameter| canonical(&parameter.name)).collect(),
            lines: function.text.lines().map(str::to_owned).collect(),
        }
    }
}

impl Target {
    /// A changed line without code that reports (the second line of a call, a closing bracket) counts for the last line
    /// before it that has such code. If there is none (a parameter's default), it counts for the first.
    pub fn new(diff: &Diff, lines: PerSide<Vec<u32>>) -> Self {
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
        let changed = PerSide::of(|side| executable(&diff.lines[side], &lines[side]));
        Self { lines, changed, branches: Default::default(), readings: Default::default() }
    }
}

/// One execution as the campaign keeps it.
#[derive(Debug, Clone)]
pub struct TestCase {
    pub record: ExecutionRecord,
    pub differences: Vec<Difference>,
    /// The lines that no earlier execution ran.
    pub new_lines: u32,
    pub coverage: f64,
    /// The probability of the values that its confirmed differences need, 0 to 1.
    pub probability: f64,
    /// Whether its differences were examined, or there were none. `false` if a difference was set aside.
    pub examined: bool,
}

impl TestCase {
    /// Sets aside its differences, which nobody repeated.
    fn set_aside(&mut self) {
        self.examined &= self.differences.is_empty();
        self.differences.clear();
    }

    pub fn behavior(&self, side: Side) -> Option<&Behavior> {
        self.record.behaviors.get(usize::from(side.number()))
    }

    /// How much its differences speak for a change, 0 to 1.
    pub fn score(&self) -> f64 {
        let scores = self.differences.iter().map(|difference| verdict::score(difference.basis, self.probability));
        scores.fold(0.0, f64::max)
    }

    /// Whether no other execution could speak more clearly for a change.
    pub fn is_sure(&self) -> bool {
        self.score() >= verdict::SURE && self.record.forced.is_empty()
    }

    /// Whether it shows more, or as much without forced operations.
    fn speaks_more_clearly_than(&self, other: &Self) -> bool {
        let (own, others) = (self.score(), other.score());
        own > others || own == others && self.record.forced.is_empty() && !other.record.forced.is_empty()
    }

    /// Whether both versions ended in a way that says something about behavior.
    pub fn is_valid(&self) -> bool {
        self.record.behaviors.iter().all(|behavior| behavior.outcome.is_valid())
    }
}

/// The findings of a campaign.
#[derive(Debug, Clone, Default)]
pub struct Campaign {
    /// In order. Of a long campaign, the first ones, and later ones that reach or show something.
    pub executions: Vec<TestCase>,
    /// The executions that are only counted.
    pub tally: Tally,
    /// The position in `executions` of the confirmed difference.
    pub witness: Option<usize>,
    pub lost: Vec<String>,
    /// The number of differences that were not the same when an execution was repeated.
    pub nondeterministic: u32,
    /// The first execution with such a difference.
    pub noisy: Option<Box<ExecutionRecord>>,
    /// The number of confirmed differences that were left out because only an unlikely value shows them.
    pub edge_cases: u32,
    /// The changed lines that a valid execution ran.
    pub reached: PerSide<BTreeSet<u32>>,
    pub stopped_early: bool,
}

/// The parameters of a campaign.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The maximum number of executions.
    pub budget: u32,
    pub seed: u64,
    pub techniques: Techniques,
    pub rules: Rules,
    /// Whether a difference that only an unlikely value shows does not end the search.
    pub ignore_edge_cases: bool,
    /// The probability that an unknown call raises.
    pub raise_probability: f64,
    /// Whether existing objects may be replaced with injected ones.
    pub may_replace: bool,
}

/// Runs executions until a difference is confirmed or the budget is used up.
pub fn run(
    execute: &mut dyn Execute,
    target: &Target,
    plan: &Plan,
    progress: &mut dyn FnMut(u32, f64) -> Continue,
) -> Result<Campaign, EngineError> {
    let mut state = State::new(target, plan);
    let mut campaign = Campaign::default();
    let mut next = 0;
    let mut batch = FIRST_BATCH;
    let mut triage = Triage::new(plan);
    while next < triage.end && !is_hopeless(&campaign) {
        let count = batch.min(triage.end - next);
        let (lost, before) = (campaign.lost.len(), campaign.executions.len());
        let requests = (next..next + count).map(|index| choose(&mut state, plan.seed, index)).collect();
        next += count;
        batch = (batch * 2).min(if state.search_targets.is_waiting() { LEARNING_BATCH } else { LARGEST_BATCH });
        triage.sure = false;
        for executed in execute.execute(requests)? {
            match executed {
                Executed::Lost { reason, .. } => {
                    campaign.lost.push(reason);
                    continue;
                }
                Executed::Record(record) => learn(&mut state, &mut campaign, *record),
            }
            let Some(last) = campaign.executions.len().checked_sub(1) else { continue };
            triage.take(execute, &mut campaign, last, next)?;
        }
        campaign.prune(before);
        if campaign.lost.len() > lost {
            batch = FIRST_BATCH;
        }
        let coverage = state.coverage();
        if triage.sure || !state.go_on(&campaign, next) {
            break;
        }
        if progress(next, coverage) == Continue::Stop {
            campaign.stopped_early = true;
            break;
        }
    }
    if campaign.witness.is_some() && campaign.lost.is_empty() && !campaign.stopped_early {
        complete(execute, &mut state, &mut campaign, plan, next)?;
    }
    Ok(campaign)
}

/// Decides which of the differences that executions show are worth confirming, and when the search may end.
struct Triage<'p> {
    plan: &'p Plan,
    /// How many more differences to confirm.
    confirmations: u32,
    /// How many confirmed differences were too weak for a change.
    weak: u32,
    /// Places where something differed that did not differ again.
    noisy_places: BTreeSet<EvidencePlace>,
    /// A confirmed difference of this batch that nothing could outdo.
    sure: bool,
    /// The search ends before this execution.
    end: u32,
}

/// What to do with the differences of one execution.
enum Attention {
    /// There are none, or none is confirmed any more.
    None,
    /// They count for nothing, because others showed them more clearly.
    SetAside,
    /// They are most likely noise.
    Noise,
    Confirm,
}

impl<'p> Triage<'p> {
    fn new(plan: &'p Plan) -> Self {
        let confirmations = if plan.ignore_edge_cases { MOST_IGNORED } else { MOST_CONFIRMED };
        Self { plan, confirmations, weak: 0, noisy_places: BTreeSet::new(), sure: false, end: plan.budget }
    }

    /// Takes in an execution, the last of those that ran up to `next`.
    fn take(
        &mut self,
        execute: &mut dyn Execute,
        campaign: &mut Campaign,
        last: usize,
        next: u32,
    ) -> Result<(), EngineError> {
        match self.attention(campaign, &campaign.executions[last]) {
            Attention::None => return Ok(()),
            Attention::SetAside => {
                campaign.executions[last].set_aside();
                return Ok(());
            }
            Attention::Noise => {
                campaign.nondeterministic += 1;
                campaign.executions[last].set_aside();
                return Ok(());
            }
            Attention::Confirm => {}
        }
        let places: Vec<EvidencePlace> = places(&campaign.executions[last]).collect();
        let (noise, ignored) = (campaign.nondeterministic, campaign.edge_cases);
        examine(execute, campaign, last, self.plan)?;
        if campaign.nondeterministic > noise {
            self.noisy_places.extend(places);
        }
        self.confirmations -= campaign.edge_cases - ignored;
        let found = &campaign.executions[last];
        if found.score() > 0.0 && found.score() < verdict::CHANGING {
            // It is worth showing if nothing better is found. The search continues as it would without it.
            self.weak += 1;
            campaign.witness.get_or_insert(last);
        } else if found.score() > 0.0 {
            self.confirmations -= 1;
            let is_better = |best: usize| found.speaks_more_clearly_than(&campaign.executions[best]);
            self.sure = found.is_sure();
            self.end = self.end.min(next + FURTHER);
            if campaign.witness.is_none_or(is_better) {
                campaign.witness = Some(last);
            }
        }
        Ok(())
    }

    fn attention(&self, campaign: &Campaign, case: &TestCase) -> Attention {
        if self.sure {
            // It has already run: its coverage counts, its differences do not.
            return Attention::SetAside;
        }
        if case.differences.is_empty() || self.confirmations == 0 {
            return Attention::None;
        }
        if self.weak >= MOST_WEAK && case.differences.iter().all(may_be_weak) {
            return Attention::SetAside;
        }
        let settled = campaign.witness.is_some_and(|witness| campaign.executions[witness].score() >= verdict::SURE);
        if settled && !case.record.forced.is_empty() {
            // Only one without forced operations would be better.
            return Attention::SetAside;
        }
        let noise = campaign.nondeterministic;
        let is_known_noise = noise >= MOST_NOISY && places(case).all(|place| self.noisy_places.contains(&place));
        if is_known_noise || noise >= MOST_NOISY_ANYWHERE { Attention::Noise } else { Attention::Confirm }
    }
}

/// The places in which an execution shows differences.
fn places(case: &TestCase) -> impl Iterator<Item = EvidencePlace> {
    case.differences.iter().map(|difference| difference.place.clone())
}

/// A difference that may turn out not to count.
fn may_be_weak(difference: &Difference) -> bool {
    difference.basis == Basis::Reordered || causes::is_calculated(difference)
}

/// Confirms the differences of an execution and attributes their cause.
fn examine(execute: &mut dyn Execute, campaign: &mut Campaign, number: usize, plan: &Plan) -> Result<(), EngineError> {
    let record = campaign.executions[number].record.clone();
    let repeats = if campaign.nondeterministic > 0 { MANY_REPEATS } else { REPEATS };
    let Some(confirmed) = confirm(execute, &record, repeats, &plan.rules)? else {
        campaign.lost.push("a difference could not be repeated: the worker was lost each time".into());
        campaign.executions[number].set_aside();
        return Ok(());
    };
    if confirmed.differences.is_empty() {
        campaign.nondeterministic += 1;
        campaign.executions[number].differences.clear();
        campaign.noisy.get_or_insert_with(|| Box::new(record));
        return Ok(());
    }
    campaign.executions[number].differences = classify_basis(execute, &record, confirmed, &plan.rules)?;
    let decisive =
        decisive(execute, &campaign.executions[number], &plan.rules, plan.raise_probability, DECISIVE_BUDGET)?;
    let probability = joint_probability(&decisive);
    campaign.executions[number].probability = probability;
    if plan.ignore_edge_cases && probability < verdict::EDGE_CASE {
        campaign.edge_cases += 1;
        campaign.executions[number].differences.clear();
    }
    Ok(())
}

/// Runs one execution by itself, confirms its differences and attributes their cause.
pub fn examined(execute: &mut dyn Execute, record: ExecutionRecord, plan: &Plan) -> Result<TestCase, EngineError> {
    let differences = match record.behaviors.as_slice() {
        [old, new] => differences(old, new, &plan.rules),
        _ => vec![],
    };
    let case = TestCase { record, differences, new_lines: 0, coverage: 0.0, probability: 1.0, examined: true };
    if case.differences.is_empty() {
        return Ok(case);
    }
    let mut alone = Campaign { executions: vec![case.clone()], ..Campaign::default() };
    examine(execute, &mut alone, 0, plan)?;
    Ok(alone.executions.pop().unwrap_or(case))
}

/// After the difference is found: a few more executions for lines that none ran, so that the report shows them.
fn complete(
    execute: &mut dyn Execute,
    state: &mut State<'_>,
    campaign: &mut Campaign,
    plan: &Plan,
    from: u32,
) -> Result<(), EngineError> {
    let end = from.saturating_add(COMPLETING).min(plan.budget);
    let mut next = from;
    while next < end && state.coverage() < 1.0 && campaign.lost.is_empty() {
        let count = LEARNING_BATCH.min(end - next);
        let requests = (next..next + count).map(|index| choose(state, plan.seed, index)).collect();
        next += count;
        for executed in execute.execute(requests)? {
            match executed {
                Executed::Lost { reason, .. } => campaign.lost.push(reason),
                Executed::Record(record) => {
                    learn(state, campaign, *record);
                    if let Some(last) = campaign.executions.last_mut() {
                        last.set_aside();
                    }
                }
            }
        }
    }
    Ok(())
}

/// Continuing would only cost time: workers are lost, or every execution runs into a bound.
fn is_hopeless(campaign: &Campaign) -> bool {
    let lost = campaign.lost.len();
    let stopped = |case: &&TestCase| {
        case.record.behaviors.iter().any(|behavior| matches!(behavior.outcome, Outcome::Stopped { .. }))
    };
    lost >= MANY_LOST
        || lost >= FEW_LOST && campaign.executions.is_empty()
        || campaign.executions.iter().filter(stopped).count() >= MANY_STOPPED && campaign.valid() == 0
}
