//! Where values come from that are different in each run of a program: clocks, random numbers, the process, temporary
//! names. In a worker they are the same for all versions. Repetitions of a version vary some of them at a time, so that
//! what changes with them tells where it comes from.

use serde::{Deserialize, Serialize};

/// A source of values that no program can foresee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The time of day.
    Time,
    /// Clocks that only measure how long something takes.
    Timer,
    Random,
    /// The numbers of the process and of its parent.
    Process,
    /// Names of temporary files.
    TemporaryName,
}

impl Source {
    pub const ALL: [Source; 5] = [Source::Time, Source::Timer, Source::Random, Source::Process, Source::TemporaryName];
}

/// A set of sources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sources(u8);

impl Sources {
    pub const NONE: Sources = Sources(0);
    pub const ALL: Sources = Sources((1 << Source::ALL.len()) - 1);

    pub const fn only(source: Source) -> Self {
        Self(1 << source as u8)
    }

    pub fn contains(self, source: Source) -> bool {
        self.0 & Self::only(source).0 != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn meets(self, other: Sources) -> bool {
        self.0 & other.0 != 0
    }

    pub const fn without(self, other: Sources) -> Self {
        Self(self.0 & !other.0)
    }

    pub fn iter(self) -> impl Iterator<Item = Source> {
        Source::ALL.into_iter().filter(move |source| self.contains(*source))
    }

    /// The sources that give other values in the repetition with this number than in the first run, number 0. First all
    /// of them, a few times, which shows whether anything varies. Then each by itself, none, all but one, and all again,
    /// which shows what it is.
    pub fn varied(repetition: usize) -> Self {
        const COUNT: usize = Source::ALL.len();
        match repetition.checked_sub(ALL_AT_FIRST + 1).map(|number| number % (2 * COUNT + 2)) {
            None if repetition == 0 => Self::NONE,
            None => Self::ALL,
            Some(number) if number < COUNT => Self::only(Source::ALL[number]),
            Some(number) if number == COUNT => Self::NONE,
            Some(number) if number <= 2 * COUNT => Self::ALL.without(Self::only(Source::ALL[number - COUNT - 1])),
            Some(_) => Self::ALL,
        }
    }
}

/// The number of repetitions in which every source varies, before one that distinguishes them.
const ALL_AT_FIRST: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_vary_all_sources_then_each_then_none_then_all_but_one() {
        let varied: Vec<Sources> = (0..24).map(Sources::varied).collect();
        assert_eq!(varied[..5], [Sources::NONE, Sources::ALL, Sources::ALL, Sources::ALL, Sources::ALL]);
        assert_eq!(varied[5..10], Source::ALL.map(Sources::only));
        assert_eq!((varied[10], varied[16]), (Sources::NONE, Sources::ALL));
        assert!(varied[11..16].iter().zip(Source::ALL).all(|(some, source)| !some.contains(source)));
        assert_eq!(varied[17], Sources::only(Source::Time));
    }

    #[test]
    fn every_source_is_varied_in_about_half_of_many_repetitions() {
        for source in Source::ALL {
            let count = (1..24).filter(|number| Sources::varied(*number).contains(source)).count();
            assert!((10..14).contains(&count), "{source:?}: {count}");
        }
    }
}
