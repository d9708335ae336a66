//! Witness -> a pytest file that runs without twincell, passes on the old version and fails on the new one.
//!
//! The file holds both functions unchanged, the part of their modules that they need, and the values of the witness. If
//! all values are plain, it is what a person would write: `assert f([1, 2], key='a') == 3`. If missing objects were
//! injected, it brings a small stand-in class (`standin/`) that answers as recorded. `candidates` gives the texts
//! that a case can take, simplest first. Running them in a worker shows which one holds (`verify`). Nothing here runs
//! Python.

mod answers;
mod arguments;
mod assertions;
mod call;
mod checks;
mod direct;
mod equality;
mod file;
mod given_file;
mod identity;
mod loader;
mod method;
mod moments;
mod objects;
mod order;
mod outside;
mod parameters;
mod parts;
mod places;
mod plan;
mod python;
mod recorded;
mod refusal;
mod sequence;
mod shape;
mod slice;
mod tables;
mod test;
mod text;
mod words;
mod writer;

use std::collections::{BTreeMap, BTreeSet};

use twincell_behavior::{Channel, Difference};
use twincell_engine::Loaded;
use twincell_engine::observed::{Behavior, Observed, Outcome, Slot};
use twincell_engine::protocol::{Body, Context, ExecutionRecord, OWN_FOLDER, PROJECT_FOLDER, Tested};
use twincell_syntax::site::SiteTable;
use twincell_syntax::{Function, PerSide, Side};
use twincell_values::path::AccessPath;
use twincell_values::value::{Decision, Recipe};

pub use self::call::{NoCall, witness_call};
use self::file::ReproducerText;
use self::refusal::{Failure, Refusal};
use crate::note::Note;
pub use crate::project_test::ProjectTest;
use crate::report::Reproducer;

/// Everything that a reproducer is made of.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub functions: &'a PerSide<Function>,
    /// The parts of them that ran.
    pub bodies: PerSide<&'a Body>,
    /// The decorators to apply, outermost first, as written.
    pub decorators: PerSide<&'a [String]>,
    /// The texts of the modules. Empty without module context.
    pub modules: PerSide<&'a str>,
    pub context: Context,
    /// (name in new, name in old) of the renamed names.
    pub renames: &'a [(String, String)],
    /// (qualified name in new, name in old) of functions of the modules with the same code.
    pub function_renames: &'a [(String, String)],
    pub sites: PerSide<&'a SiteTable>,
    /// The witness.
    pub record: &'a ExecutionRecord,
    /// Further ones, with another value in one place.
    pub further: &'a [ExecutionRecord],
    pub differences: &'a [Difference],
    /// Of the callees or places in which the versions differ, the only one that the test looks at.
    pub only: Option<usize>,
    /// The statements of the modules that could not be evaluated.
    pub notes: &'a [Note],
    pub rules: &'a twincell_behavior::Rules,
    pub seed: u64,
}

impl Case<'_> {
    /// The functions and their decorators.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let decorators = self.decorators.iter().flat_map(|decorators| decorators.iter());
        self.functions.iter().map(|function| &function.text).chain(decorators).map(String::as_str)
    }

    /// Whether the code handed functions of its own to missing code, which were called after it.
    fn calls_back(&self) -> bool {
        let mut slots = self.record.behaviors.iter().flat_map(|behavior| &behavior.arguments);
        slots.any(|(slot, _)| matches!(slot, Slot::Callback(_)))
    }

    /// The functions of the code that it stored in injected objects: path, holder and the step from there. They are
    /// called after the call, in this order.
    fn stored(&self) -> BTreeMap<&str, (&str, &str)> {
        let is_object = |path: &str| {
            let mut choices = self.record.choices.iter();
            choices.any(|choice| choice.path == path && matches!(&choice.decision, Decision::Value(Recipe::Mock(_))))
        };
        let left = self.record.behaviors.iter().flat_map(|behavior| &behavior.arguments);
        let places = left.filter_map(|(slot, _)| match slot {
            Slot::Stored(place) => Some(place.as_str()),
            _ => None,
        });
        let held = places.filter_map(|place| {
            let holder = AccessPath::new(place).holder().as_str();
            let step = place.strip_prefix(holder)?;
            (is_object(holder) && step.starts_with(['.', '['])).then_some((place, (holder, step)))
        });
        held.collect()
    }

    fn behaviors(&self) -> Result<PerSide<&Behavior>, Refusal> {
        match self.record.behaviors.as_slice() {
            [old, _] if old.is_stopped() => Err(Refusal::OldDidNotEnd),
            [_, new] if new.is_stopped() => Err(Refusal::NewDidNotEnd),
            [old, new] => Ok(PerSide { old, new }),
            _ => Err(Refusal::NotBothRan),
        }
    }
}

/// The maximum number of differences that are tried as the only assertion of a test.
const ALONE: usize = 4;

/// A text that may be a reproducer.
struct Candidate {
    text: String,
    in_project: Option<ProjectTest>,
    /// It looks at a part of a difference only.
    is_part: bool,
}

/// The texts that may be a reproducer of these differences, simplest first, or why one cannot be written. They are written
/// one by one, since that takes long in a large file. A test that asserts one thing is simpler than one that asserts all differences.
fn candidates<'a>(
    case: &'a Case<'a>,
    differences: &'a [Difference],
) -> impl Iterator<Item = Result<Candidate, Refusal>> + 'a {
    let alone = differences.iter().take(ALONE).map(std::slice::from_ref);
    let several = Some(differences).filter(|all| all.len() != 1);
    let chosen: Vec<&[Difference]> = alone.chain(several).collect();
    // All of a difference first, and then each part of it that may hold if another one does not.
    let parts = [None, Some(0), Some(1), Some(2)];
    let texts = file::styles(case).into_iter().flat_map(move |style| {
        let has_parts = move |chosen: &[Difference]| {
            style.has_standins()
                && chosen.iter().any(|difference| matches!(difference.channel, Channel::Calls | Channel::Arguments))
        };
        let texts = chosen.clone().into_iter().flat_map(move |chosen| parts.map(|only| (style, chosen, only)));
        texts.filter(move |(_, chosen, only)| only.is_none() || has_parts(chosen))
    });
    texts.map(|(style, differences, only)| {
        let ReproducerText { text, in_project } = file::write(&Case { differences, only, ..*case }, style)?;
        if [OWN_FOLDER, PROJECT_FOLDER].iter().any(|folder| text.contains(folder)) {
            return Err(Refusal::FolderOfTheWorker);
        }
        Ok(Candidate { text, in_project, is_part: only.is_some() })
    })
}

/// Makes a reproducer and runs it: the simplest text that passes on old and fails on new. If there is none, the last
/// one is shown that looks at whole differences.
pub(crate) fn verified(case: &Case<'_>, loaded: &mut Loaded<'_>) -> Reproducer {
    let refused = |refusal: Refusal| Reproducer { why_not: Some(refusal.to_string()), ..Reproducer::default() };
    // A test of the order of a set would hold by chance.
    let (by_chance, differences): (Vec<Difference>, Vec<Difference>) =
        case.differences.iter().cloned().partition(|difference| case.is_order_of_a_set(difference));
    if differences.is_empty() && !by_chance.is_empty() {
        return refused(Refusal::OrderOfASet);
    }
    let (mut tried, mut refusal) = (BTreeSet::new(), None);
    let mut failed: Option<(Candidate, Failure)> = None;
    for one in candidates(case, &differences) {
        let one = match one {
            Ok(one) if !tried.insert(one.text.clone()) => continue,
            Ok(one) => one,
            Err(reason) => {
                refusal = refusal.or(Some(reason));
                continue;
            }
        };
        match verify(&one.text, loaded, lacks_names(case)) {
            Ok(()) => {
                let in_project = one.in_project;
                return Reproducer { source: Some(one.text), holds: Some(true), in_project, why_not: None };
            }
            Err(failure @ Failure::NotRun(_)) => {
                let why_not = Some(failure.to_string());
                return Reproducer { source: Some(one.text), why_not, ..Reproducer::default() };
            }
            Err(failure) if !one.is_part || failed.as_ref().is_none_or(|(last, _)| last.is_part) => {
                failed = Some((one, failure));
            }
            Err(_) => {}
        }
    }
    let Some((last, failure)) = failed else { return refused(refusal.unwrap_or(Refusal::NoEvidence)) };
    let why_not = Some(failure.to_string());
    Reproducer { source: Some(last.text), holds: Some(false), why_not, in_project: None }
}

/// Where a reproducer must hold: where the witness ran, and at two other times.
const PLACES: [u32; 3] = [0, 1, 9];
/// The number of seconds that a test may wait.
const PATIENCE: f64 = 10.0;

/// Runs a reproducer on both versions, in the worker, without hooks. It must hold outside the sandbox as well.
/// `lacks_names`: whether the new version may fail since it lacks a name.
fn verify(source: &str, loaded: &mut Loaded<'_>, lacks_names: bool) -> Result<(), Failure> {
    for place in PLACES {
        for side in Side::BOTH {
            let tested = loaded.test(source, side.name(), place);
            let tested = tested.map_err(|error| Failure::NotRun(error.to_string()))?;
            match tested.lacking.clone().filter(|_| side == Side::New && !lacks_names) {
                Some(name) => return Err(Failure::Lacks(name)),
                None => judge(tested, side, place > 0)?,
            }
        }
    }
    Ok(())
}

/// Whether the new version of the witness ends since it lacks a name.
fn lacks_names(case: &Case<'_>) -> bool {
    let Some(Outcome::Raised { exception, .. }) = case.record.behaviors.last().map(|behavior| &behavior.outcome) else {
        return false;
    };
    matches!(exception, Observed::Exception { class, .. } if class == "NameError")
}

/// Whether a reproducer does on a version what it should.
fn judge(tested: Tested, side: Side, is_elsewhere: bool) -> Result<(), Failure> {
    if let Some(effect) = tested.effects.into_iter().next() {
        return Err(Failure::ReachesOutside(effect));
    }
    if let Some(file) = tested.unread.into_iter().next() {
        return Err(Failure::Reads(file));
    }
    if tested.waited > PATIENCE {
        return Err(Failure::Waits(tested.waited.round()));
    }
    match (side, tested.failure) {
        (Side::Old, None) | (Side::New, Some(_)) => Ok(()),
        (Side::Old, Some(reason)) if is_elsewhere => Err(Failure::FailsOnOldElsewhere(reason)),
        (Side::Old, Some(reason)) => Err(Failure::FailsOnOld(reason)),
        (Side::New, None) if is_elsewhere => Err(Failure::PassesOnNewElsewhere),
        (Side::New, None) => Err(Failure::PassesOnNew),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reproducer_holds_only_if_it_would_hold_outside_the_sandbox() {
        let failing = || Tested { failure: Some("why".into()), ..Tested::default() };
        assert_eq!(judge(Tested::default(), Side::Old, true), Ok(()));
        assert_eq!(judge(failing(), Side::New, true), Ok(()));
        assert_eq!(judge(failing(), Side::Old, false), Err(Failure::FailsOnOld("why".into())));
        assert_eq!(judge(failing(), Side::Old, true), Err(Failure::FailsOnOldElsewhere("why".into())));
        assert_eq!(judge(Tested::default(), Side::New, true), Err(Failure::PassesOnNewElsewhere));
        let deletes = Tested { effects: vec!["os.remove".into()], ..failing() };
        assert_eq!(judge(deletes, Side::New, false), Err(Failure::ReachesOutside("os.remove".into())));
        let reads = Tested { unread: vec!["/home/a".into()], ..Tested::default() };
        assert_eq!(judge(reads, Side::Old, false), Err(Failure::Reads("/home/a".into())));
        let waits = |seconds| Tested { waited: seconds, ..Tested::default() };
        assert_eq!(judge(waits(9.0), Side::Old, false), Ok(()));
        assert_eq!(judge(waits(1000.0), Side::Old, false), Err(Failure::Waits(1000.0)));
    }

    #[test]
    fn another_witness_is_looked_for_only_where_its_test_may_hold() {
        let made =
            |source: Option<&str>, holds| Reproducer { source: source.map(Into::into), holds, ..Reproducer::default() };
        // It was tried in vain or refused; it holds; the worker could not run it.
        assert!(made(Some("def test(): ..."), Some(false)).may_hold_of_another());
        assert!(made(None, None).may_hold_of_another());
        assert!(!made(Some("def test(): ..."), Some(true)).may_hold_of_another());
        assert!(!made(Some("def test(): ..."), None).may_hold_of_another());
    }
}
