//! Confirms that a difference comes from the code: repeats the execution, and also runs each version against itself.

use twincell_behavior::{Difference, Rules, denoise, differences, is_telling};
use twincell_engine::observed::{Behavior, Limit, Outcome};
use twincell_engine::protocol::{ExecutionRecord, ExecutionRequest, ReplacementScope};
use twincell_engine::{EngineError, Executed};
use twincell_syntax::site::SiteKind;
use twincell_syntax::{PerSide, Side};
use twincell_values::path::AccessPath;
use twincell_values::value::{Fixed, Recipe};

use super::{Execute, TestCase};

/// How often each version is repeated to check that it behaves the same again, and how often after it did not.
const REPEATS: usize = 5;
const MANY_REPEATS: usize = 24;

/// The decisions of an execution, to repeat it.
pub fn repeat(record: &ExecutionRecord) -> Fixed {
    record.choices.iter().map(|choice| (choice.path.clone(), choice.decision.clone())).collect()
}

/// Both versions, old first, as a request names them.
pub(crate) fn both() -> Vec<u8> {
    Side::BOTH.map(Side::number).to_vec()
}

/// An execution like this one, with other decisions.
pub(super) fn again(record: &ExecutionRecord, fixed: Fixed, versions: Vec<u8>) -> ExecutionRequest {
    // Other values are not those that a person gave.
    let given = record.given && fixed == repeat(record);
    ExecutionRequest {
        index: record.index,
        seed: record.seed,
        fixed,
        versions,
        replace: ReplacementScope::Nothing,
        given,
        ..ExecutionRequest::default()
    }
}

/// What showed again.
#[derive(Debug, Clone, Default)]
pub(super) struct Confirmed {
    pub differences: Vec<Difference>,
    /// The paths of results of unknown calls, and of what was looked up in them, that only this version asked for.
    pub exclusive: PerSide<Vec<String>>,
    /// A version did not behave the same each time.
    varies: bool,
}

/// What came of repeating an execution.
#[derive(Debug, Clone)]
pub(super) enum Repeated {
    Known(Confirmed),
    /// Repetitions were lost each time, so nothing is known.
    Lost,
    /// The work was stopped, so nothing is known either, and it is not the code's fault.
    Stopped,
}

/// How often an execution is repeated beyond the few times that every one is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// Many times if it shows a difference, because others showed only noise.
    pub doubts: bool,
    /// Many times if it varies, to find the sources.
    pub finds_sources: bool,
}

impl Effort {
    pub const USUAL: Effort = Effort { doubts: false, finds_sources: true };
}

/// Repeats an execution, and also runs each version against itself. What differs then is nondeterminism and not
/// evidence. If repetitions are lost, they are tried once more.
///
/// As a rule, noise shows soon. Only what survives a few repetitions is worth many, and what varies: many tell where it
/// comes from.
pub(super) fn confirm(
    execute: &mut dyn Execute,
    record: &ExecutionRecord,
    effort: Effort,
    rules: &Rules,
) -> Result<Repeated, EngineError> {
    let mut attempt = |repeats: usize| match attempt(execute, record, repeats, rules)? {
        Repeated::Lost => attempt(execute, record, repeats, rules),
        found => Ok(found),
    };
    match attempt(REPEATS)? {
        Repeated::Known(few) if few.varies && effort.finds_sources => attempt(MANY_REPEATS),
        Repeated::Known(few) if effort.doubts && !few.differences.is_empty() => attempt(MANY_REPEATS),
        found => Ok(found),
    }
}

fn attempt(
    execute: &mut dyn Execute,
    record: &ExecutionRecord,
    repeats: usize,
    rules: &Rules,
) -> Result<Repeated, EngineError> {
    let request = |versions: Vec<u8>| again(record, repeat(record), versions);
    let [old, new] = Side::BOTH.map(Side::number);
    let requests = vec![
        request(vec![old, new]),
        request(vec![new, old]),
        request(vec![old; repeats]),
        request(vec![new; repeats]),
    ];
    let asked = requests.len();
    let done = execute.execute(requests)?;
    if done.len() < asked {
        return Ok(Repeated::Stopped);
    }
    let mut records = done.into_iter().map(|executed| match executed {
        Executed::Record(record) => Some(record),
        Executed::Lost { .. } => None,
    });
    let mut next = || records.next().flatten().filter(|record| record.behaviors.len() > 1);
    let (Some(forth), Some(back), Some(old), Some(new)) = (next(), next(), next(), next()) else {
        return Ok(Repeated::Lost);
    };
    // The version that runs second asks alone for what it asks first.
    let exclusive = PerSide::new(asked_by(&back, Side::Old), asked_by(&forth, Side::New));
    let (forth, back, old, new) = (forth.behaviors, back.behaviors, old.behaviors, new.behaviors);
    // A version that ends usably at one time and not at another is not reliable.
    let ends_alike = |a: &Behavior, b: &Behavior| {
        a.outcome.is_valid() && b.outcome.is_valid()
            || is_telling(&a.outcome) && is_telling(&b.outcome)
            || goes_on(a) && goes_on(b)
    };
    let steadily = [&old, &new].into_iter().all(|same| same.iter().all(|again| ends_alike(&same[0], again)));
    let varies = ![&old, &new].into_iter().all(|same| is_same_each_time(same, rules));
    let found = |first: &Behavior, second: &Behavior| -> Vec<Difference> {
        let shown = differences(first, second, rules);
        if shown.is_empty() || !varies {
            return shown;
        }
        let denoised = denoise((first, &old), (second, &new), rules);
        let left = differences(&denoised.old, &denoised.new, rules).into_iter();
        left.filter(|difference| !denoised.noisy.contains(&difference.channel)).collect()
    };
    let reversed = found(&back[1], &back[0]);
    let holds = |difference: &Difference| reversed.iter().any(|other| other.channel == difference.channel);
    let mut differences: Vec<Difference> =
        found(&forth[0], &forth[1]).into_iter().filter(|one| steadily && holds(one)).collect();
    if !differences.is_empty() && forth.iter().any(goes_on) {
        if may_count(record) {
            differences.clear();
            return Ok(Repeated::Known(Confirmed { differences, exclusive, varies }));
        }
        match goes_on_longer(execute, record)? {
            None => return Ok(Repeated::Stopped),
            Some(true) => {}
            Some(false) => differences.clear(),
        }
    }
    Ok(Repeated::Known(Confirmed { differences, exclusive, varies }))
}

fn goes_on(behavior: &Behavior) -> bool {
    matches!(behavior.outcome, Outcome::Stopped { reason: Limit::Steps })
}

/// Whether the numbers of an execution, multiplied, are more than the steps of a version that went on. It may count up
/// to that, where the other version calculates.
fn may_count(record: &ExecutionRecord) -> bool {
    let factor = |value: &Recipe| match value {
        Recipe::Int(number) => number.unsigned_abs().max(1),
        _ => 1,
    };
    let values = record.injections.iter().map(|injection| &injection.value);
    let most = values.map(factor).fold(1, u64::saturating_mul);
    record.behaviors.iter().any(|behavior| goes_on(behavior) && most > behavior.steps)
}

/// Both versions once more, with many times the steps.
fn run_longer(execute: &mut dyn Execute, record: &ExecutionRecord) -> Result<Vec<Executed>, EngineError> {
    execute.execute(vec![ExecutionRequest { longer: true, ..again(record, repeat(record), both()) }])
}

/// Whether a version also uses up many times the steps. What ends then was only slower. `None` if this was stopped.
fn goes_on_longer(execute: &mut dyn Execute, record: &ExecutionRecord) -> Result<Option<bool>, EngineError> {
    Ok(run_longer(execute, record)?.first().map(|executed| match executed {
        Executed::Record(record) => record.behaviors.iter().any(goes_on),
        Executed::Lost { .. } => false,
    }))
}

/// Whether both versions end alike with many times the steps, where one of them used up its own.
pub fn ends_later(execute: &mut dyn Execute, record: &ExecutionRecord) -> Result<bool, EngineError> {
    Ok(run_longer(execute, record)?.iter().all(|executed| match executed {
        Executed::Record(record) => match record.behaviors.as_slice() {
            [old, new] => old.outcome.is_valid() && old.outcome == new.outcome,
            _ => false,
        },
        Executed::Lost { .. } => false,
    }))
}

fn is_same_each_time(runs: &[Behavior], rules: &Rules) -> bool {
    runs[1..].iter().all(|again| differences(&runs[0], again, rules).is_empty())
}

/// Whether each version behaves the same again on these decisions.
pub fn is_deterministic(
    execute: &mut dyn Execute,
    record: &ExecutionRecord,
    rules: &Rules,
) -> Result<bool, EngineError> {
    let requests = Side::BOTH.map(|side| again(record, repeat(record), vec![side.number(); REPEATS])).to_vec();
    Ok(execute.execute(requests)?.iter().all(|executed| match executed {
        Executed::Record(record) => {
            let same = |behavior: &Behavior| differences(&record.behaviors[0], behavior, rules).is_empty();
            record.behaviors.iter().all(same)
        }
        Executed::Lost { .. } => false,
    }))
}

/// Whether the versions differ on these decisions.
pub fn differs(execute: &mut dyn Execute, record: &ExecutionRecord, rules: &Rules) -> Result<bool, EngineError> {
    let request = again(record, repeat(record), both());
    Ok(execute.execute(vec![request])?.iter().any(|executed| match executed {
        Executed::Record(record) => {
            matches!(record.behaviors.as_slice(), [old, new] if !differences(old, new, rules).is_empty())
        }
        Executed::Lost { .. } => false,
    }))
}

/// Whether both versions behave as they did in this execution.
pub fn is_same_again(execute: &mut dyn Execute, case: &TestCase, rules: &Rules) -> Result<bool, EngineError> {
    let request = again(&case.record, repeat(&case.record), both());
    let done = execute.execute(vec![request])?;
    // What was stopped shows nothing.
    Ok(done.len() == 1
        && done.iter().all(|executed| match executed {
            Executed::Record(record) => {
                let pairs = case.record.behaviors.iter().zip(&record.behaviors);
                pairs.into_iter().all(|(before, now)| differences(before, now, rules).is_empty())
            }
            Executed::Lost { .. } => false,
        }))
}

/// Results of calls that this version asked for first, and what was looked up in them.
fn asked_by(record: &ExecutionRecord, side: Side) -> Vec<String> {
    let own = || record.injections.iter().filter(|injection| injection.version == side.number());
    let results: Vec<&str> = own()
        .filter(|injection| injection.kind == Some(SiteKind::Call))
        .map(|injection| injection.path.as_str())
        .collect();
    let within = |path: &str| {
        results.iter().any(|result| AccessPath::new(path).beyond(result).is_some_and(|rest| !rest.starts_with('(')))
    };
    own()
        .map(|injection| injection.path.as_str())
        .filter(|path| results.contains(path) || within(path))
        .map(String::from)
        .collect()
}
