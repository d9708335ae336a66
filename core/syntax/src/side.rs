//! The two versions of a change, and values that each of them has.

use std::fmt;
use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

/// One of the two versions of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Old,
    New,
}

impl Side {
    /// Both, in the order in which they run and are shown.
    pub const BOTH: [Self; 2] = [Self::Old, Self::New];

    pub const fn other(self) -> Self {
        match self {
            Self::Old => Self::New,
            Self::New => Self::Old,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Old => "old",
            Self::New => "new",
        }
    }

    /// Its number where versions of a program are counted: 0 for old, 1 for new.
    pub const fn number(self) -> u8 {
        match self {
            Self::Old => 0,
            Self::New => 1,
        }
    }

    /// The side with this number. Programs of comparisons have two versions, so any number but 0 is the new side.
    pub const fn numbered(number: u8) -> Self {
        if number == 0 { Self::Old } else { Self::New }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value of the old version, and one of the new version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PerSide<T> {
    pub old: T,
    pub new: T,
}

impl<T> PerSide<T> {
    pub const fn new(old: T, new: T) -> Self {
        Self { old, new }
    }

    /// Makes the value of the old version first.
    pub fn of(mut make: impl FnMut(Side) -> T) -> Self {
        Self { old: make(Side::Old), new: make(Side::New) }
    }

    /// Like [`PerSide::of`], up to the first failure.
    pub fn try_of<E>(mut make: impl FnMut(Side) -> Result<T, E>) -> Result<Self, E> {
        Ok(Self { old: make(Side::Old)?, new: make(Side::New)? })
    }

    pub const fn as_ref(&self) -> PerSide<&T> {
        PerSide { old: &self.old, new: &self.new }
    }

    /// Changes the value of the old version first.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> PerSide<U> {
        PerSide { old: change(self.old), new: change(self.new) }
    }

    /// Both values, the old version's first.
    pub fn iter(&self) -> std::array::IntoIter<&T, 2> {
        [&self.old, &self.new].into_iter()
    }

    /// Both values, the old version's first.
    pub fn iter_mut(&mut self) -> std::array::IntoIter<&mut T, 2> {
        [&mut self.old, &mut self.new].into_iter()
    }
}

impl<T> Index<Side> for PerSide<T> {
    type Output = T;

    fn index(&self, side: Side) -> &T {
        match side {
            Side::Old => &self.old,
            Side::New => &self.new,
        }
    }
}

impl<T> IndexMut<Side> for PerSide<T> {
    fn index_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::Old => &mut self.old,
            Side::New => &mut self.new,
        }
    }
}

impl<T> IntoIterator for PerSide<T> {
    type Item = T;
    type IntoIter = std::array::IntoIter<T, 2>;

    fn into_iter(self) -> Self::IntoIter {
        [self.old, self.new].into_iter()
    }
}

impl<'a, T> IntoIterator for &'a PerSide<T> {
    type Item = &'a T;
    type IntoIter = std::array::IntoIter<&'a T, 2>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_version_comes_first_everywhere() {
        let numbers = PerSide::of(Side::number);
        assert_eq!(numbers, PerSide::new(0, 1));
        assert_eq!(numbers.into_iter().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(Side::BOTH.map(|side| numbers[side]), [0, 1]);
        assert_eq!(Side::BOTH.map(|side| numbers[side.other()]), [1, 0]);
        assert_eq!(Side::BOTH.map(|side| Side::numbered(side.number())), Side::BOTH);
        assert_eq!(Side::BOTH.map(|side| side.to_string()), ["old", "new"]);
    }
}
