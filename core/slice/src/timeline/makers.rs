//! Who made what: makers in the order of the history, and which of them are before a commit.
//!
//! A maker is a unit of the range, or a commit before its start, which is always taken. The first one stands for all that was
//! there before.

use crate::selection::{Selection, UnitId};

/// A maker's place in the history, oldest first.
pub(super) type Maker = u32;

/// The maker of all that was there before the history that is followed.
pub(super) const START: Maker = 0;

/// Which commits are before another one, as a bit for each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Commits(Vec<u64>);

impl Commits {
    pub fn contains(&self, commit: u32) -> bool {
        self.0.get(commit as usize / 64).is_some_and(|word| word >> (commit % 64) & 1 == 1)
    }

    pub fn insert(&mut self, commit: u32) {
        let word = commit as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (commit % 64);
    }

    pub fn extend(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (to, from) in self.0.iter_mut().zip(&other.0) {
            *to |= from;
        }
    }

    /// Those that only this one has.
    pub fn without<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = u32> + 'a {
        let words = self.0.iter().enumerate();
        words.flat_map(|(place, word)| {
            let left = word & !other.0.get(place).copied().unwrap_or(0);
            (0..64).filter(move |bit| left >> bit & 1 == 1).map(move |bit| place as u32 * 64 + bit)
        })
    }
}

/// All makers.
#[derive(Debug, Clone, Default)]
pub(super) struct Makers(Vec<(u32, Option<UnitId>)>);

impl Makers {
    /// A new maker of a commit, the last in the history so far.
    pub fn add(&mut self, commit: u32, unit: Option<UnitId>) -> Maker {
        self.0.push((commit, unit));
        self.0.len() as Maker - 1
    }

    pub fn commit(&self, maker: Maker) -> u32 {
        self.0.get(maker as usize).map_or(0, |one| one.0)
    }

    pub fn unit(&self, maker: Maker) -> Option<UnitId> {
        self.0.get(maker as usize).and_then(|one| one.1)
    }

    /// A view in which only the makers of some commits have made something.
    pub fn of_commits<'a>(&'a self, commits: &'a Commits) -> impl Fn(Maker) -> bool + 'a {
        |maker| commits.contains(self.commit(maker))
    }

    /// A view with what is always taken and some units.
    pub fn of_units<'a>(&'a self, taken: &'a Selection) -> impl Fn(Maker) -> bool + 'a {
        |maker| self.unit(maker).is_none_or(|unit| taken.contains(&unit))
    }
}

/// A value that some makers have set, in their order: the last one that is in the view counts.
#[derive(Debug, Clone)]
pub(super) struct Setting<T>(Vec<(Maker, T)>);

impl<T: Clone> Setting<T> {
    pub fn new(maker: Maker, value: T) -> Self {
        Self(vec![(maker, value)])
    }

    pub fn set(&mut self, maker: Maker, value: T) {
        self.0.push((maker, value));
    }

    /// The value, and who set it. Without any in the view it is the first one.
    pub fn get(&self, view: &dyn Fn(Maker) -> bool) -> Option<&(Maker, T)> {
        self.0.iter().rev().find(|(maker, _)| view(*maker)).or(self.0.first())
    }

    pub fn all(&self) -> &[(Maker, T)] {
        &self.0
    }
}
