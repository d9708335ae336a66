//! A version that goes on where the other one ends soon.
//!
//! That one version used up its steps says little: with a few more it might have ended. It counts if the other version
//! ended by itself with a small part of them, the change took part, and the loop does not call missing code in each
//! round, whose answers might keep it going. Whoever confirms such a difference lets the version run on for longer.

use twincell_engine::observed::{Behavior, Limit, Outcome};
use twincell_syntax::{PerSide, Side};

use super::{Basis, Difference, Rules};

/// How many times as many steps a version takes that goes on.
const LONGER: u64 = 100;
/// How many times as many steps a version may take that would have ended soon.
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
    if stopped.steps >= other.steps.max(1).saturating_mul(LONGER)
        && stopped.calls.len() <= 2 * other.calls.len() + CALLS
    {
        Overrun::Far
    } else if stopped.steps <= other.steps.saturating_mul(A_FEW_MORE) {
        Overrun::Close
    } else {
        Overrun::Neither
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_engine::observed::{Call, Observed, State};

    fn ran(outcome: Outcome, steps: u64) -> Behavior {
        Behavior { lines: vec![(2, 1)], steps, ..Behavior::new(outcome) }
    }

    fn stopped() -> Behavior {
        ran(Outcome::Stopped { reason: Limit::Steps }, 10_000)
    }

    fn ended(steps: u64) -> Behavior {
        ran(Outcome::Returned(Observed::None), steps)
    }

    fn differs(old: &Behavior, new: &Behavior) -> bool {
        let rules = Rules { changed: PerSide::new(vec![2], vec![]), ..Rules::default() };
        compare(old, new, &rules).is_some()
    }

    #[test]
    fn a_version_that_goes_on_differs_from_one_that_ends_soon() {
        assert!(differs(&ended(3), &stopped()) && differs(&stopped(), &ended(100)));
        assert!(!differs(&ended(101), &stopped()) && !differs(&stopped(), &stopped()));
        // A worker may say any number.
        assert!(!differs(&ended(u64::MAX), &stopped()));
        let crashed = Outcome::Raised { exception: Observed::None, intended: false, line: 2, message: String::new() };
        assert!(!differs(&ran(crashed, 3), &stopped()));
        // The change had no part in it.
        assert!(compare(&ended(3), &stopped(), &Rules::default()).is_none());
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
        let asking = Behavior { calls: vec![call; 5_000], ..stopped() };
        assert!(!differs(&ended(3), &asking));
    }

    #[test]
    fn a_version_that_needs_many_steps_is_close_to_one_that_needs_more_than_there_are() {
        assert!(is_close(&stopped(), &ended(1_000), Side::Old));
        assert!(!is_close(&stopped(), &ended(999), Side::Old));
        assert!(!is_close(&stopped(), &ended(1_000), Side::New));
    }
}
