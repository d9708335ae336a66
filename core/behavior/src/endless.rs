//! A version that goes on where the other one ends soon.
//!
//! That one version used up its steps says little: with a few more it might have ended. It counts if the other version
//! ended by itself with a small part of them, the change took part, and the loop does not ask missing code in each
//! round, whose answers might keep it going.

use twincell_engine::observed::{Behavior, Limit, Outcome};
use twincell_syntax::{PerSide, Side};

use super::{Basis, Difference, Rules};

/// How many times as many lines a version runs that goes on, and one that may only need a few more.
const LONGER: u64 = 100;
const A_FEW_MORE: u64 = 10;
/// How many calls to missing code it may make beyond twice those of the other version.
const CALLS: usize = 8;

/// How one of two versions used up its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overrun {
    /// The other one needed next to nothing.
    Far,
    /// The other one needed so many that this one may have ended a little later.
    Close,
    Neither,
}

pub(super) fn compare(old: &Behavior, new: &Behavior, rules: &Rules) -> Option<Difference> {
    let goes_on = Side::BOTH.into_iter().any(|side| overrun(old, new, side) == Overrun::Far);
    (goes_on && rules.ran_changed(old, new)).then(|| Difference::of_outcomes(old, new, Basis::Crashed))
}

/// Whether only this version used up its steps, but the other one needed many, too.
pub fn is_close(old: &Behavior, new: &Behavior, side: Side) -> bool {
    overrun(old, new, side) == Overrun::Close
}

fn overrun(old: &Behavior, new: &Behavior, side: Side) -> Overrun {
    let behaviors = PerSide::new(old, new);
    let (stopped, other) = (behaviors[side], behaviors[side.other()]);
    if !matches!(stopped.outcome, Outcome::Stopped { reason: Limit::Steps }) || !other.outcome.is_valid() {
        return Overrun::Neither;
    }
    let hits = |behavior: &Behavior| behavior.lines.iter().map(|(_, hits)| u64::from(*hits)).sum::<u64>();
    let (long, short) = (hits(stopped), hits(other));
    if long >= short.max(1) * LONGER && stopped.calls.len() <= 2 * other.calls.len() + CALLS {
        Overrun::Far
    } else if long <= short * A_FEW_MORE {
        Overrun::Close
    } else {
        Overrun::Neither
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_engine::observed::{Call, Observed, State};

    fn ran(outcome: Outcome, hits: u32) -> Behavior {
        Behavior { lines: vec![(2, hits)], ..Behavior::new(outcome) }
    }

    fn stopped(hits: u32) -> Behavior {
        ran(Outcome::Stopped { reason: Limit::Steps }, hits)
    }

    fn ended(hits: u32) -> Behavior {
        ran(Outcome::Returned(Observed::None), hits)
    }

    fn differs(old: &Behavior, new: &Behavior) -> bool {
        let rules = Rules { changed: PerSide::new(vec![2], vec![]), ..Rules::default() };
        compare(old, new, &rules).is_some()
    }

    #[test]
    fn a_version_that_goes_on_differs_from_one_that_ends_soon() {
        assert!(differs(&ended(3), &stopped(10_000)) && differs(&stopped(10_000), &ended(100)));
        assert!(!differs(&ended(101), &stopped(10_000)) && !differs(&stopped(10_000), &stopped(3)));
        let crashed = Outcome::Raised { exception: Observed::None, intended: false, line: 2, message: String::new() };
        assert!(!differs(&ran(crashed, 3), &stopped(10_000)));
        // The change had no part in it.
        assert!(compare(&ended(3), &stopped(10_000), &Rules::default()).is_none());
    }

    #[test]
    fn a_loop_that_missing_code_may_keep_going_says_nothing() {
        let call = Call {
            callee: "stream.read".into(),
            arguments: vec![],
            keywords: vec![],
            line: 2,
            discarded: false,
            by_all: true,
            state: State::default(),
        };
        let asking = Behavior { calls: vec![call; 5_000], ..stopped(10_000) };
        assert!(!differs(&ended(3), &asking));
    }

    #[test]
    fn a_version_that_needs_many_steps_is_close_to_one_that_needs_more_than_there_are() {
        assert!(is_close(&stopped(10_000), &ended(1_000), Side::Old));
        assert!(!is_close(&stopped(10_000), &ended(999), Side::Old));
        assert!(!is_close(&stopped(10_000), &ended(1_000), Side::New));
    }
}
