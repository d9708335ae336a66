//! Where a line of commits changes: bisection, and galloping for its far end. Nothing here knows commits.
//!
//! Positions count from the newest commit, number 0, which is known to be the same as itself. Commits that cannot be judged
//! are left out, as `git bisect skip` does.

use std::collections::BTreeSet;

/// How many positions are tried behind the one from which on nobody can judge.
const MORE: u32 = 8;

/// What is known of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// As the newest one.
    Same,
    Other,
    /// Nobody can tell.
    Skip,
}

/// What is known of a line so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The last position that is known to be the same.
    pub same: usize,
    /// The first position behind it that is known to differ.
    pub other: Option<usize>,
    /// The positions that nobody can judge.
    pub skipped: BTreeSet<usize>,
}

impl Bounds {
    /// Judges one position, which must lie between those that are known.
    fn judge<E>(&mut self, at: usize, judge: &mut dyn FnMut(usize) -> Result<Verdict, E>) -> Result<Verdict, E> {
        let verdict = judge(at)?;
        match verdict {
            Verdict::Same => self.same = at,
            Verdict::Other => self.other = Some(at),
            Verdict::Skip => {
                self.skipped.insert(at);
            }
        }
        Ok(verdict)
    }

    /// Looks for a position that differs, further and further away: 1, 2, 4 and so on. `last` is the last position.
    ///
    /// # Errors
    ///
    /// Those of `judge`. What was found before is kept, here and below.
    pub fn gallop<E>(&mut self, last: usize, judge: &mut dyn FnMut(usize) -> Result<Verdict, E>) -> Result<(), E> {
        let mut step = 1;
        while step < last {
            if self.judge(step, judge)? == Verdict::Other {
                return Ok(());
            }
            step *= 2;
        }
        self.far_end(last, judge)
    }

    /// Judges the last position. Where nobody can judge it, the far end is where those begin that nobody can judge: it is found
    /// by bisection, and a few positions behind it are tried as well. [`Self::is_open`] says what is left.
    ///
    /// # Errors
    ///
    /// Those of `judge`.
    pub fn far_end<E>(&mut self, last: usize, judge: &mut dyn FnMut(usize) -> Result<Verdict, E>) -> Result<(), E> {
        let mut end = last + 1;
        while self.other.is_none() && self.same + 1 < end {
            let at = if end > last { last } else { self.same + (end - self.same) / 2 };
            if self.skipped.contains(&at) || self.judge(at, judge)? == Verdict::Skip {
                end = at;
            }
        }
        for attempt in 1..=MORE {
            let open = self.open(last);
            let at = open.get((open.len() as f64 * spread(attempt)) as usize);
            let Some(at) = at.filter(|_| self.other.is_none()) else { break };
            self.judge(*at, judge)?;
        }
        Ok(())
    }

    /// Whether nothing differs so far and there are positions that were not judged.
    pub fn is_open(&self, last: usize) -> bool {
        self.other.is_none() && !self.open(last).is_empty()
    }

    /// The positions that may differ and were not judged, up to one.
    fn open(&self, last: usize) -> Vec<usize> {
        (self.same + 1..=last).filter(|at| !self.skipped.contains(at)).collect()
    }

    /// Brings both bounds together. Between them are only positions that nobody can judge, in the end.
    ///
    /// # Errors
    ///
    /// Those of `judge`.
    pub fn narrow<E>(&mut self, judge: &mut dyn FnMut(usize) -> Result<Verdict, E>) -> Result<(), E> {
        let mut attempt = 1;
        while let Some(other) = self.other {
            let open = self.open(other - 1);
            if open.is_empty() {
                return Ok(());
            }
            // Neighbours of a commit that cannot be judged are often like it.
            let share = spread(attempt);
            let at = open[((open.len() as f64 * share) as usize).min(open.len() - 1)];
            attempt = if self.judge(at, judge)? == Verdict::Skip { attempt + 1 } else { 1 };
        }
        Ok(())
    }
}

/// Numbers between 0 and 1 that lie far from all before: 1/2, 1/4, 3/4, 1/8 (the sequence of van der Corput).
fn spread(mut number: u32) -> f64 {
    let (mut share, mut digit) = (0.0, 0.5);
    while number > 0 {
        share += digit * f64::from(number % 2);
        digit /= 2.0;
        number /= 2;
    }
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bisects a line: `s` is as the newest, `o` another, `-` cannot be judged. The bounds, and the number of questions.
    fn bisect(line: &str, gallops: bool) -> (Bounds, usize) {
        let line: Vec<char> = line.chars().collect();
        let mut asked = Vec::new();
        let mut judge = |at: usize| -> Result<Verdict, ()> {
            assert!(!asked.contains(&at), "{at} is asked twice");
            asked.push(at);
            Ok(match line[at] {
                's' => Verdict::Same,
                'o' => Verdict::Other,
                _ => Verdict::Skip,
            })
        };
        let mut bounds = Bounds::default();
        let last = line.len() - 1;
        match gallops {
            true => bounds.gallop(last, &mut judge).unwrap(),
            false => bounds.far_end(last, &mut judge).unwrap(),
        }
        bounds.narrow(&mut judge).unwrap();
        (bounds, asked.len())
    }

    #[test]
    fn the_first_position_that_differs_is_found_in_few_steps() {
        for at in [1, 2, 300, 499] {
            let line: String = (0..500).map(|index| if index < at { 's' } else { 'o' }).collect();
            for gallops in [false, true] {
                let (bounds, asked) = bisect(&line, gallops);
                assert_eq!((bounds.same, bounds.other), (at - 1, Some(at)), "{gallops}");
                assert!(asked <= if gallops { 18 } else { 10 }, "{asked}");
            }
        }
    }

    #[test]
    fn nothing_differs_where_all_that_can_be_judged_is_the_same() {
        for line in ["s", "ssss", "s---", "ss--s", "s-s-"] {
            for gallops in [false, true] {
                assert_eq!(bisect(line, gallops).0.other, None, "{line}");
            }
        }
    }

    #[test]
    fn what_cannot_be_judged_is_left_out() {
        let found = |line: &str| {
            let (bounds, _) = bisect(line, false);
            (bounds.same, bounds.other)
        };
        // At the far end, around the change, and everywhere but at the ends.
        assert_eq!(found("sssooo--"), (2, Some(3)));
        assert_eq!(found("sss---ooo"), (2, Some(6)));
        assert_eq!(found("s------o"), (0, Some(7)));
        assert_eq!(found("s-s-o-o"), (2, Some(4)));
        let (bounds, asked) = bisect(&format!("s{}o", "-".repeat(100)), false);
        assert_eq!((bounds.skipped.len(), asked), (100, 101));
    }

    #[test]
    fn a_change_before_a_far_end_that_cannot_be_judged_is_found() {
        let line: String = (0..1001)
            .map(|at| {
                if at > 487 {
                    '-'
                } else if at < 300 {
                    's'
                } else {
                    'o'
                }
            })
            .collect();
        for gallops in [false, true] {
            let (bounds, asked) = bisect(&line, gallops);
            assert_eq!((bounds.same, bounds.other), (299, Some(300)), "{gallops}");
            assert!(asked < 40, "{asked}");
        }
        let (bounds, _) = bisect(&"s".repeat(300).chars().chain("-".repeat(600).chars()).collect::<String>(), true);
        assert_eq!((bounds.same, bounds.other, bounds.is_open(899)), (299, None, true));
        assert!(!bisect("ss--", false).0.is_open(3));
    }

    #[test]
    fn some_change_is_found_where_there_are_several() {
        for line in ["ssoosso", "sosososo", "soooooos"] {
            let line = format!("{line}o");
            let (bounds, _) = bisect(&line, false);
            let other = bounds.other.unwrap();
            assert_eq!((&line[bounds.same..=bounds.same], &line[other..=other], other), ("s", "o", bounds.same + 1));
        }
    }

    #[test]
    fn what_is_known_stays_where_the_judge_stops() {
        let mut bounds = Bounds::default();
        let mut left = 3;
        let mut judge = |at: usize| -> Result<Verdict, &str> {
            left -= 1;
            if left == 0 { Err("stopped") } else { Ok(if at < 40 { Verdict::Same } else { Verdict::Other }) }
        };
        bounds.far_end(99, &mut judge).unwrap();
        assert_eq!(bounds.narrow(&mut judge), Err("stopped"));
        assert_eq!((bounds.same, bounds.other), (0, Some(50)));
    }
}
