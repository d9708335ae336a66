//! A set of units as bits, for the many small operations of a search.

use std::collections::BTreeSet;

use crate::{Selection, UnitId};

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Set {
    words: Vec<u64>,
}

impl Set {
    pub fn of(count: usize, units: &BTreeSet<UnitId>) -> Self {
        let mut set = Self { words: vec![0; count.div_ceil(64)] };
        for unit in units.iter().filter(|unit| (unit.0 as usize) < count) {
            set.insert(unit.0 as usize);
        }
        set
    }

    pub fn insert(&mut self, unit: usize) {
        self.words[unit / 64] |= 1 << (unit % 64);
    }

    pub fn remove(&mut self, unit: usize) {
        self.words[unit / 64] &= !(1 << (unit % 64));
    }

    pub fn has(&self, unit: usize) -> bool {
        self.words[unit / 64] >> (unit % 64) & 1 == 1
    }

    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let bit = left.trailing_zeros() as usize;
                    left &= left - 1;
                    at * 64 + bit
                })
            })
        })
    }

    pub fn without(&self, other: &Self) -> Self {
        Self { words: self.words.iter().zip(&other.words).map(|(own, other)| own & !other).collect() }
    }

    pub fn and(&self, other: &Self) -> Self {
        Self { words: self.words.iter().zip(&other.words).map(|(own, other)| own & other).collect() }
    }

    pub fn is_within(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(own, other)| own & !other == 0)
    }

    pub fn selection(&self) -> Selection {
        self.iter().map(|unit| UnitId(unit as u32)).collect()
    }
}
