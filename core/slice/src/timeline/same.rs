//! Units that another commit makes needless: a change and its revert in the range, and commits that a target branch has already,
//! as a cherry-pick or under another hash.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use twincell_repo::{CommitId, CommitRecord};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Unit;
use super::makers::{Maker, Makers};
use crate::selection::UnitId;

/// A unit that does the same as another commit, or the opposite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SameAs {
    pub unit: UnitId,
    pub same: Same,
    pub known_by: KnownBy,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Same {
    /// It undoes an earlier unit, so that both can go together.
    Reverts(UnitId),
    /// The target branch has it as this commit.
    InTarget(CommitId),
}

/// How it is known that two commits do the same, or the opposite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KnownBy {
    /// They are one commit.
    Commit,
    /// It changes the same lines of the same files, wherever these stand.
    Lines,
    /// A message says so: `This reverts commit`, `cherry picked from commit`.
    Message,
    /// The functions that it changes do there what they do after it, or did before what it undoes.
    Behavior,
}

/// What a unit changes, without where: sums of hashes, so that their order does not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Print {
    comes: u64,
    goes: u64,
}

impl Print {
    pub fn add(&mut self, path: &[u8], content: &[u8]) {
        self.comes = self.comes.wrapping_add(hash(path, content));
    }

    pub fn remove(&mut self, path: &[u8], content: &[u8]) {
        self.goes = self.goes.wrapping_add(hash(path, content));
    }

    fn opposite(self) -> Self {
        Self { comes: self.goes, goes: self.comes }
    }
}

fn hash(path: &[u8], content: &[u8]) -> u64 {
    xxh3_64_with_seed(content, xxh3_64_with_seed(path, 0))
}

/// The prints of all makers.
#[derive(Debug, Default)]
pub(super) struct Prints(FxHashMap<Maker, Print>);

impl Prints {
    pub fn of(&mut self, maker: Maker) -> &mut Print {
        self.0.entry(maker).or_default()
    }

    /// Those of the units, by their numbers.
    pub fn of_units(&self, makers: &Makers, count: usize) -> Vec<Print> {
        let mut prints = vec![Print::default(); count];
        for (maker, print) in &self.0 {
            if let Some(place) = makers.unit(*maker).and_then(|unit| prints.get_mut(unit.0 as usize)) {
                *place = *print;
            }
        }
        prints
    }
}

const REVERTED: &str = "This reverts commit ";
/// Of how many equal changes it is tried whether a unit undoes them.
const MOST_TRIED: usize = 5;

/// Pairs of which the later one undoes the earlier one. A unit is in one pair at most. `cancel` says whether two that change
/// the same lines in opposite ways do so in the same places.
pub(super) fn reverts<'a>(
    units: &[Unit],
    prints: &[Print],
    message: &dyn Fn(CommitId) -> &'a [u8],
    cancel: &dyn Fn(UnitId, UnitId) -> bool,
) -> Vec<SameAs> {
    let mut open: FxHashMap<Print, Vec<UnitId>> = FxHashMap::default();
    let mut by_commit: FxHashMap<String, Vec<UnitId>> = FxHashMap::default();
    let mut paired: Vec<bool> = vec![false; units.len()];
    let mut found = Vec::new();
    for ((number, unit), print) in units.iter().enumerate().zip(prints) {
        let id = UnitId(number as u32);
        let is_free = |other: &UnitId| !paired.get(other.0 as usize).copied().unwrap_or(true);
        let earlier = open.get(&print.opposite()).into_iter().flatten().rev();
        let by_lines =
            earlier.filter(|other| is_free(other)).take(MOST_TRIED).find(|other| cancel(**other, id)).copied();
        let named = mentioned(message(unit.commit), REVERTED);
        let by_message = || {
            let earlier = named.iter().filter_map(|commit| by_commit.get(commit)).flatten();
            let mut same_part =
                earlier.filter(|other| units.get(other.0 as usize).is_some_and(|other| other.part == unit.part));
            same_part.find(|other| is_free(other)).copied()
        };
        let pair = by_lines.map(|other| (other, KnownBy::Lines)).or_else(|| Some((by_message()?, KnownBy::Message)));
        if let Some((other, known_by)) = pair {
            for place in [number, other.0 as usize] {
                if let Some(paired) = paired.get_mut(place) {
                    *paired = true;
                }
            }
            found.push(SameAs { unit: id, same: Same::Reverts(other), known_by });
        }
        if *print != Print::default() {
            open.entry(*print).or_default().push(id);
        }
        by_commit.entry(unit.commit.to_string()).or_default().push(id);
    }
    found
}

/// The units that a target branch has, whose own units and prints are given. What it has and then undid is not there.
pub(super) fn in_target<'a>(
    units: &[Unit],
    prints: &[Print],
    message: &dyn Fn(CommitId) -> &'a [u8],
    (target, target_prints, target_commits): (&[Unit], &[Print], &[CommitRecord]),
) -> Vec<SameAs> {
    let mut by_print: FxHashMap<Print, Vec<CommitId>> = FxHashMap::default();
    for (unit, print) in target.iter().zip(target_prints).filter(|(_, print)| **print != Print::default()) {
        if by_print.get_mut(&print.opposite()).and_then(Vec::pop).is_none() {
            by_print.entry(*print).or_default().push(unit.commit);
        }
    }
    const PICKED: &str = "cherry picked from commit ";
    let undone: FxHashSet<String> =
        target_commits.iter().flat_map(|commit| mentioned(&commit.message, REVERTED)).collect();
    let mut picked: FxHashMap<String, CommitId> = FxHashMap::default();
    let mut there: FxHashMap<String, CommitId> = FxHashMap::default();
    for commit in target_commits.iter().filter(|commit| !undone.contains(&commit.id.to_string())) {
        picked.extend(mentioned(&commit.message, PICKED).into_iter().map(|source| (source, commit.id)));
        there.insert(commit.id.to_string(), commit.id);
    }
    let mut found = Vec::new();
    for ((number, unit), print) in units.iter().enumerate().zip(prints) {
        let own = unit.commit.to_string();
        let itself = there.get(&own).map(|commit| (*commit, KnownBy::Commit));
        let by_lines = || Some((*by_print.get(print)?.last()?, KnownBy::Lines));
        let by_message = || {
            let sources = mentioned(message(unit.commit), PICKED);
            let source = sources.iter().find_map(|source| there.get(source));
            Some((*picked.get(&own).or(source)?, KnownBy::Message))
        };
        if let Some((commit, known_by)) = itself.or_else(by_lines).or_else(by_message) {
            found.push(SameAs { unit: UnitId(number as u32), same: Same::InTarget(commit), known_by });
        }
    }
    found
}

/// The whole hashes that follow some words of a message.
fn mentioned(message: &[u8], words: &str) -> Vec<String> {
    let message = String::from_utf8_lossy(message);
    let hashes = message.split(words).skip(1).map(|rest| rest.split(|letter: char| !letter.is_ascii_hexdigit()).next());
    hashes.flatten().filter(|hash| hash.len() == 40).map(str::to_ascii_lowercase).collect()
}
