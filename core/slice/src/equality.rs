//! Units that do the same as others in other words: what the target has rewritten, a change that a later one undoes, and
//! clean-ups. Somebody else says whether two versions of a function do the same ([`Behavior`]). That adds candidates and reasons.
//! Tests decide.

use std::collections::BTreeMap;
use std::sync::Arc;

use twincell_repo::CommitId;
use twincell_semantic::{SymbolKind, SymbolName};

use crate::lines::is_prose;
use crate::refine::Relevance;
use crate::result::{NotCompared, Uncompared};
use crate::timeline::{EntityChangeKind, KnownBy, Same, SameAs, Timeline};
use crate::trial::Criterion;
use crate::{Selection, UnitId};

/// Compares functions. The answer to a question is always the same.
pub trait Behavior: Sync {
    /// Whether a function does the same in two versions. `None` where the comparison is inconclusive.
    ///
    /// # Errors
    ///
    /// Where the two cannot be compared.
    fn is_same(&self, function: &SymbolName, old: &Version, new: &Version) -> Result<Option<bool>, NotCompared>;
}

/// A version of a function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Whose files stand around that of the function.
    pub commit: CommitId,
    /// The text of the function's file, where it is not that of the commit.
    pub text: Option<Arc<[u8]>>,
}

impl From<CommitId> for Version {
    fn from(commit: CommitId) -> Self {
        Self { commit, text: None }
    }
}

/// The maximum number of questions for one slice.
const MOST_ASKED: usize = 60;
/// A unit that changes more functions is asked nothing of.
const MOST_FUNCTIONS: usize = 10;

/// What comparisons say of the units of a range.
#[derive(Debug, Default)]
pub(crate) struct Equality {
    /// Units whose functions do the same before and after them.
    pub cleanups: Selection,
    pub same: Vec<SameAs>,
    /// How many comparisons had an answer.
    pub asked: usize,
    pub uncompared: Option<Uncompared>,
}

struct Asking<'a> {
    behavior: &'a dyn Behavior,
    go_on: &'a mut dyn FnMut() -> bool,
    answers: BTreeMap<(SymbolName, Version, Version), bool>,
    /// How many questions had an answer.
    told: usize,
    uncompared: Option<Uncompared>,
}

impl Asking<'_> {
    /// Whether all of these functions are known to do the same at two commits.
    fn are_same(&mut self, functions: &[&SymbolName], old: CommitId, new: CommitId) -> bool {
        functions.iter().all(|function| self.is_same(function, old.into(), new.into()))
    }

    fn is_same(&mut self, function: &SymbolName, old: Version, new: Version) -> bool {
        let key = (function.clone(), old, new);
        if let Some(known) = self.answers.get(&key) {
            return *known;
        }
        if self.answers.len() == MOST_ASKED || !(self.go_on)() {
            return false;
        }
        let told = self.behavior.is_same(function, &key.1, &key.2).unwrap_or_else(|reason| {
            self.count(function, reason);
            None
        });
        self.told += usize::from(told.is_some());
        self.answers.insert(key, told == Some(true));
        told == Some(true)
    }
}

impl Asking<'_> {
    fn count(&mut self, function: &SymbolName, reason: NotCompared) {
        let first = || Uncompared {
            count: 0,
            path: function.path.to_string(),
            function: function.qualname.to_string(),
            reason,
        };
        self.uncompared.get_or_insert_with(first).count += 1;
    }
}

/// A unit that only changes functions, and what these were before it.
struct Rewriting<'a> {
    unit: UnitId,
    functions: Vec<&'a SymbolName>,
    /// Whether all of them were there before.
    only_updates: bool,
    commit: CommitId,
    parent: CommitId,
}

/// Asks about the units that the tests may concern and that are not known to do the same as others.
pub(crate) fn equality(
    timeline: &Timeline,
    criterion: &Criterion,
    relevance: &[Relevance],
    behavior: &dyn Behavior,
    go_on: &mut dyn FnMut() -> bool,
) -> Equality {
    let mut asking = Asking { behavior, go_on, answers: BTreeMap::new(), told: 0, uncompared: None };
    let mut found = Equality::default();
    let undone: Selection = timeline.undone().into_iter().flatten().collect();
    let is_open = |unit: &UnitId| {
        !timeline.given().contains(unit)
            && !undone.contains(unit)
            && relevance.get(unit.0 as usize) != Some(&Relevance::NotRun)
    };
    let units = timeline.all().into_iter().filter(is_open);
    let mut rewritings: Vec<Rewriting<'_>> = units.filter_map(|unit| rewriting(timeline, criterion, unit)).collect();
    rewritings.retain(|one| {
        let touched = || one.functions.iter().map(|function| timeline.touched_in_target(&function.path));
        let Some(target) = timeline.target().filter(|_| touched().all(|commit| commit.is_some())) else { return true };
        // Other units may have changed the same functions, which the target need not have.
        let alone = alone(timeline, one);
        let is_alone = |asking: &mut Asking<'_>| {
            let mut functions = one.functions.iter().zip(&alone);
            functions.all(|(function, old)| asking.is_same(function, old.clone(), target.into()))
        };
        if !(is_alone(&mut asking) || asking.are_same(&one.functions, one.commit, target)) {
            return true;
        }
        let commit = touched().flatten().last().unwrap_or(target);
        found.same.push(SameAs { unit: one.unit, same: Same::InTarget(commit), known_by: KnownBy::Behavior });
        false
    });
    rewritings.retain(|one| one.only_updates);
    rewritings.retain(|one| {
        let is_cleanup = asking.are_same(&one.functions, one.parent, one.commit);
        if is_cleanup {
            found.cleanups.insert(one.unit);
        }
        !is_cleanup
    });
    let mut open = rewritings;
    while let Some(later) = open.pop() {
        let earlier = open.iter().rposition(|one| one.functions == later.functions);
        if let Some(earlier) = earlier
            && let Some(one) = open.get(earlier)
            && asking.are_same(&later.functions, one.parent, later.commit)
        {
            found.same.push(SameAs { unit: later.unit, same: Same::Reverts(one.unit), known_by: KnownBy::Behavior });
            open.remove(earlier);
        }
    }
    (found.asked, found.uncompared) = (asking.told, asking.uncompared);
    found
}

/// For each function of a unit, its version with the unit and with what the target has, and without the other units.
fn alone(timeline: &Timeline, one: &Rewriting<'_>) -> Vec<Version> {
    let taken = timeline.given().iter().copied().chain([one.unit]).collect();
    let tree = timeline.tree(&taken).ok();
    let text = |function: &&SymbolName| tree.as_ref()?.file(function.path.as_bytes())?.text.clone();
    one.functions.iter().map(|function| Version { commit: one.commit, text: text(function) }).collect()
}

/// The functions that a unit inserts and updates, if it changes nothing else but what modules import, prose, and the tests' own
/// files.
fn rewriting<'a>(timeline: &'a Timeline, criterion: &Criterion, unit: UnitId) -> Option<Rewriting<'a>> {
    let (parent, own) = (timeline.parent(unit)?, timeline.unit(unit)?);
    let is_fit = |path: &std::path::PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        criterion.owns(path) || ending.is_some_and(|ending| ending == "py" || is_prose(ending))
    };
    if !own.paths.iter().all(is_fit) {
        return None;
    }
    let mut functions = Vec::new();
    let mut only_updates = true;
    for change in own.entities.iter().filter(|change| !criterion.owns(change.name.path.as_ref().as_ref())) {
        match (change.entity?, change.kind) {
            (_, EntityChangeKind::Delete) => return None,
            (SymbolKind::Function | SymbolKind::Method, kind) => {
                only_updates &= kind == EntityChangeKind::Update;
                functions.push(&change.name);
            }
            // What methods assign is seen by what they do.
            (SymbolKind::Module | SymbolKind::Field, _) => {}
            (SymbolKind::Class | SymbolKind::Variable, _) => return None,
        }
    }
    let is_bounded = (1..=MOST_FUNCTIONS).contains(&functions.len());
    is_bounded.then_some(Rewriting { unit, functions, only_updates, commit: own.commit, parent })
}
