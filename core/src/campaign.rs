//! The executions of one pair: choose, execute, learn, stop.
//!
//! Every second execution starts afresh; the others take the choices of an execution that reached something new,
//! forget a few of them, and draw those again (paths are drawn independently, so the rest stays as it was). The corpus
//! prefers executions that ran changed lines.

use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::behavior::{Behavior, Difference, Outcome, differences};
use crate::compare::Continue;
use crate::engine::protocol::{ExecutionRecord, ExecutionRequest};
use crate::engine::{EngineError, Executed};
use crate::source::Diff;
use crate::value::{Choice, Decision, Fixed, Recipe};

/// Executions of the first batch, and of the one after a loss; later ones grow to the largest.
const FIRST_BATCH: u32 = 2;
const LARGEST_BATCH: u32 = 64;
/// Executions whose choices are varied.
const CORPUS: usize = 24;
/// Lost executions after which a campaign ends: the few where nothing else came back, the many in any case.
const FEW_LOST: usize = 3;
const MANY_LOST: usize = 10;
/// Executions without a usable one after which a campaign whose executions are stopped by a bound ends.
const MANY_STOPPED: usize = 12;
/// How often each version is repeated to see whether it does the same again, and how often once it did not.
const REPEATS: usize = 5;
const MANY_REPEATS: usize = 24;

/// Runs requests: a loaded program, or a stand-in in tests.
pub trait Execute {
    fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError>;
}

impl Execute for crate::engine::Loaded<'_> {
    fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError> {
        self.run(requests)
    }
}

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

struct State<'a> {
    target: &'a Target,
    covered: [BTreeSet<u32>; 2],
    branches: BTreeSet<(usize, u32, bool)>,
    corpus: Vec<Vec<Choice>>,
}

/// Runs executions until a difference is confirmed or the budget is used up.
pub fn run(
    execute: &mut dyn Execute,
    target: &Target,
    budget: u32,
    seed: u64,
    progress: &mut dyn FnMut(u32, f64) -> Continue,
) -> Result<Campaign, EngineError> {
    let mut state = State { target, covered: Default::default(), branches: BTreeSet::new(), corpus: Vec::new() };
    let mut campaign = Campaign::default();
    let mut next = 0;
    let mut batch = FIRST_BATCH;
    while next < budget && !is_hopeless(&campaign) {
        let count = batch.min(budget - next);
        let lost = campaign.lost.len();
        let requests = (next..next + count).map(|index| choose(&state, seed, index)).collect();
        next += count;
        batch = (batch * 2).min(LARGEST_BATCH);
        for executed in execute.execute(requests)? {
            match executed {
                Executed::Lost { reason, .. } => campaign.lost.push(reason),
                Executed::Record(record) => learn(&mut state, &mut campaign, *record),
            }
            let Some(last) = campaign.executions.len().checked_sub(1) else { continue };
            if campaign.witness.is_none() && !campaign.executions[last].differences.is_empty() {
                let record = campaign.executions[last].record.clone();
                let repeats = if campaign.nondeterministic > 0 { MANY_REPEATS } else { REPEATS };
                let confirmed = confirm(execute, &record, repeats)?;
                if confirmed.is_empty() {
                    campaign.nondeterministic += 1;
                }
                let found = !confirmed.is_empty();
                campaign.executions[last].differences = confirmed;
                if found {
                    campaign.witness = Some(last);
                    break;
                }
            }
        }
        if campaign.lost.len() > lost {
            batch = FIRST_BATCH;
        }
        let coverage = coverage(&state);
        if campaign.witness.is_some() {
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

/// The next execution: afresh, or a variation of one that reached something new.
fn choose(state: &State<'_>, seed: u64, index: u32) -> ExecutionRequest {
    let own = xxh3_64_with_seed(&index.to_le_bytes(), seed);
    let mut random = Pcg64Mcg::seed_from_u64(own);
    let mut fixed = Fixed::new();
    if index % 2 == 1 && !state.corpus.is_empty() {
        let choices = &state.corpus[random.random_range(0..state.corpus.len())];
        let forget = 1 + random.random_range(0..3.min(choices.len().max(1)));
        let forgotten: BTreeSet<usize> =
            (0..forget).filter(|_| !choices.is_empty()).map(|_| random.random_range(0..choices.len())).collect();
        fixed = choices
            .iter()
            .enumerate()
            .filter(|(position, _)| !forgotten.contains(position))
            .map(|(_, choice)| (choice.path.clone(), choice.decision.clone()))
            .collect();
    }
    ExecutionRequest { index, seed: own, fixed, versions: vec![0, 1] }
}

fn learn(state: &mut State<'_>, campaign: &mut Campaign, record: ExecutionRecord) {
    let mut new_lines = 0;
    let mut novel = false;
    for (version, behavior) in record.behaviors.iter().enumerate().take(2) {
        for (line, _) in &behavior.lines {
            if state.covered[version].insert(*line) {
                new_lines += 1;
                novel = true;
            }
        }
        for (branch, yes, no) in &behavior.branches {
            for (taken, truth) in [(*yes > 0, true), (*no > 0, false)] {
                novel |= taken && state.branches.insert((version, *branch, truth));
            }
        }
    }
    let valid = record.behaviors.iter().all(|behavior| behavior.outcome.is_valid());
    let mut near = false;
    for (version, behavior) in record.behaviors.iter().enumerate().take(2) {
        for (line, _) in &behavior.lines {
            if state.target.changed[version].contains(line) {
                near = true;
                if valid {
                    campaign.reached[version].insert(*line);
                }
            }
        }
    }
    if novel || near && valid && state.corpus.len() < CORPUS / 2 {
        if state.corpus.len() >= CORPUS {
            state.corpus.remove(0);
        }
        state.corpus.push(record.choices.clone());
    }
    let found = match record.behaviors.as_slice() {
        [old, new] => differences(old, new),
        _ => vec![],
    };
    let coverage = coverage(state);
    campaign.executions.push(Kept { record, differences: found, new_lines, coverage });
}

fn coverage(state: &State<'_>) -> f64 {
    let all: usize = state.target.lines.iter().map(Vec::len).sum();
    let ran: usize = (0..2)
        .map(|version| state.target.lines[version].iter().filter(|line| state.covered[version].contains(line)).count())
        .sum();
    if all == 0 { 1.0 } else { ran as f64 / all as f64 }
}

/// Decisions of an execution, to repeat it.
pub fn repeat(record: &ExecutionRecord) -> Fixed {
    record.choices.iter().map(|choice| (choice.path.clone(), choice.decision.clone())).collect()
}

/// Repeats an execution, also each version against itself: what differs then is nondeterminism and no evidence.
fn confirm(
    execute: &mut dyn Execute,
    record: &ExecutionRecord,
    repeats: usize,
) -> Result<Vec<Difference>, EngineError> {
    let request = |versions: Vec<u8>| ExecutionRequest {
        index: record.index,
        seed: record.seed,
        fixed: repeat(record),
        versions,
    };
    let requests = vec![request(vec![0, 1]), request(vec![1, 0]), request(vec![0; repeats]), request(vec![1; repeats])];
    let mut records = execute.execute(requests)?.into_iter().map(|executed| match executed {
        Executed::Record(record) => Some(record.behaviors),
        Executed::Lost { .. } => None,
    });
    let mut next = || records.next().flatten().filter(|behaviors| behaviors.len() > 1);
    let (Some(forth), Some(back), Some(old), Some(new)) = (next(), next(), next(), next()) else { return Ok(vec![]) };
    let noise: Vec<Difference> = [&old, &new]
        .into_iter()
        .flat_map(|same| same[1..].iter().flat_map(|again| differences(&same[0], again)))
        .collect();
    // A version that ends usably at one time and not at another is no more to be trusted.
    let steady = [&old, &new].into_iter().all(|same| same.iter().all(|again| again.outcome.is_valid()));
    let reversed = differences(&back[1], &back[0]);
    let is_noise = |difference: &Difference| noise.iter().any(|other| other.channel == difference.channel);
    let holds = |difference: &Difference| reversed.iter().any(|other| other.channel == difference.channel);
    Ok(differences(&forth[0], &forth[1])
        .into_iter()
        .filter(|difference| steady && !is_noise(difference) && holds(difference))
        .collect())
}

/// Makes a witness smaller: replaces decisions by simpler ones while a difference in the same channel stays.
///
/// The decisions are gone through once, in order; at most `budget` candidates. Safe because every candidate is executed,
/// and one that shows a difference is confirmed as the witness was.
pub fn shrink(execute: &mut dyn Execute, witness: &Kept, budget: u32) -> Result<Kept, EngineError> {
    let mut best = witness.clone();
    let channels: BTreeSet<_> = witness.differences.iter().map(|difference| difference.channel).collect();
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
            let request =
                ExecutionRequest { index: best.record.index, seed: best.record.seed, fixed, versions: vec![0, 1] };
            let Some(Executed::Record(record)) = execute.execute(vec![request])?.into_iter().next() else { continue };
            let [old, new] = record.behaviors.as_slice() else { continue };
            let found = differences(old, new);
            if found.iter().any(|difference| channels.contains(&difference.channel))
                && record.choices.len() <= best.record.choices.len()
            {
                let confirmed = confirm(execute, &record, REPEATS)?;
                if confirmed.iter().any(|difference| channels.contains(&difference.channel)) {
                    best.record = *record;
                    best.differences = confirmed;
                    break;
                }
            }
        }
        position += 1;
    }
    Ok(best)
}

/// Access paths of the plain values without which the witness shows no difference: each is exchanged for another
/// value, and is decisive when the difference goes away; at most `budget` executions.
pub fn decisive(execute: &mut dyn Execute, witness: &Kept, budget: u32) -> Result<Vec<String>, EngineError> {
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
            [old, new] => differences(old, new).iter().any(|difference| channels.contains(&difference.channel)),
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
        .map(|((choice, _), _)| choice.path.clone())
        .collect())
}

/// Another value of the same kind, far from the given one.
fn other(decision: &Decision) -> Option<Decision> {
    let Decision::Value(recipe) = decision else { return None };
    let value = match recipe {
        Recipe::None => Recipe::Versatile(crate::value::AbstractValue::Object),
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
