//! An exception that the code does not raise itself and that only one version ends in.
//!
//! As a rule such an exception says nothing, because the injected values may have caused it. It counts if the other
//! version ends normally on the same values, the change took part, and the failed operation depends on the value (a
//! division by zero, a text that is not a number) and not on a class that the value never has.
//!
//! None where the change adds or removes a guard against it is such a value, too: the version with the guard returns,
//! and the other one uses None in a way that None does not support.
//!
//! A local that is read before it is bound, and a generator from which `StopIteration` escapes, are the code's own
//! fault for any values. They count whenever the other version ends by itself.

use twincell_engine::observed::{Behavior, Observed, Outcome};
use twincell_syntax::{PerSide, Side};

use super::{Basis, Difference, Rules};

/// Exceptions that depend on a value within its class.
const OF_VALUES: [&str; 9] = [
    "ZeroDivisionError",
    "ValueError",
    "KeyError",
    "IndexError",
    "OverflowError",
    "StopIteration",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "FloatingPointError",
];

/// Parts of messages of these exceptions that nevertheless show a value of the wrong class.
const OF_CLASSES: [&str; 2] = ["unpack", "dictionary update sequence"];

pub(super) fn compare(old: &Behavior, new: &Behavior, rules: &Rules) -> Option<Difference> {
    let behaviors = PerSide::new(old, new);
    let side = match (old.outcome.is_valid(), new.outcome.is_valid()) {
        (true, false) => Side::New,
        (false, true) => Side::Old,
        _ => return None,
    };
    let (crashed, other) = (behaviors[side], behaviors[side.other()]);
    let took_part = behaviors
        .into_iter()
        .zip(&rules.changed)
        .any(|(behavior, changed)| behavior.lines.iter().any(|(line, _)| changed.binary_search(line).is_ok()));
    let normally = matches!(other.outcome, Outcome::Returned(_));
    let guarded = || {
        let guards = &rules.guards[side.other()];
        let ran = |guard: u32| other.lines.iter().any(|(line, _)| *line == guard);
        none_at(&crashed.outcome).is_some_and(|at| guards.iter().any(|(guard, uses)| uses.contains(&at) && ran(*guard)))
    };
    let counts = is_of_code(&crashed.outcome) || normally && (is_of_values(&crashed.outcome) || guarded());
    (took_part && counts).then(|| Difference::of_outcomes(old, new, Basis::Crashed))
}

/// Whether the version ended in an exception that counts although the code did not raise it.
pub fn is_telling(outcome: &Outcome) -> bool {
    is_of_values(outcome) || is_of_code(outcome) || none_at(outcome).is_some()
}

/// The line on which an unsupported use of None ended the version, if that is the case.
fn none_at(outcome: &Outcome) -> Option<u32> {
    let Outcome::Raised { exception: Observed::Exception { class, .. }, intended: false, line, message } = outcome
    else {
        return None;
    };
    let is_of_none = matches!(class.as_str(), "TypeError" | "AttributeError") && message.contains("'NoneType'");
    is_of_none.then_some(*line)
}

/// Whether the version ended in an exception that no value can cause in correct code.
fn is_of_code(outcome: &Outcome) -> bool {
    let Outcome::Raised { exception: Observed::Exception { class, .. }, intended: false, message, .. } = outcome else {
        return false;
    };
    match class.as_str() {
        "UnboundLocalError" => true,
        "NameError" => message.contains("free variable"),
        "RuntimeError" => message.contains("generator raised Stop"),
        _ => false,
    }
}

/// Whether the version ended in an exception caused by the values within their classes.
fn is_of_values(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Raised { exception: Observed::Exception { class, .. }, intended: false, message, .. } => {
            OF_VALUES.contains(&class.as_str()) && !OF_CLASSES.iter().any(|text| message.contains(text))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn behavior(outcome: Outcome) -> Behavior {
        Behavior { lines: vec![(2, 1)], ..Behavior::new(outcome) }
    }

    fn raised(class: &str) -> Behavior {
        raised_with(class, "", false)
    }

    fn raised_with(class: &str, message: &str, intended: bool) -> Behavior {
        let exception = Observed::Exception { class: class.into(), arguments: vec![] };
        behavior(Outcome::Raised { exception, intended, line: 2, message: message.into() })
    }

    #[test]
    fn a_crash_of_one_version_counts_where_the_change_took_part_and_the_value_is_to_blame() {
        let returned = behavior(Outcome::Returned(Observed::None));
        let rules = Rules { changed: PerSide::new(vec![2], vec![]), ..Rules::default() };
        let basis = |old: &Behavior, new: &Behavior, rules: &Rules| compare(old, new, rules).map(|one| one.basis);
        assert_eq!(basis(&returned, &raised("ZeroDivisionError"), &rules), Some(Basis::Crashed));
        assert_eq!(basis(&returned, &raised("ZeroDivisionError"), &Rules::default()), None);
        assert_eq!(basis(&returned, &raised("TypeError"), &rules), None);
        assert_eq!(basis(&raised("ValueError"), &raised("ValueError"), &rules), None);
    }

    #[test]
    fn none_counts_where_the_change_adds_or_removes_a_guard_against_it() {
        let returned = behavior(Outcome::Returned(Observed::None));
        let crashed = raised_with("AttributeError", "'NoneType' object has no attribute 'strip'", false);
        let changed = PerSide::new(vec![], vec![2]);
        let with = |old, new| Rules { changed: changed.clone(), guards: PerSide::new(old, new), ..Rules::default() };
        let basis = |rules: &Rules| compare(&crashed, &returned, rules).map(|one| one.basis);
        assert_eq!(basis(&with(vec![], vec![(2, vec![2])])), Some(Basis::Crashed));
        assert_eq!(basis(&with(vec![], vec![(2, vec![3])])), None);
        assert_eq!(basis(&with(vec![(2, vec![2])], vec![])), None);
        assert_eq!(basis(&with(vec![], vec![])), None);
    }

    #[test]
    fn what_only_code_can_do_wrong_counts_beside_an_exception_that_is_meant() {
        let meant = raised_with("TypeError", "bad", true);
        let rules = Rules { changed: PerSide::new(vec![2], vec![]), ..Rules::default() };
        let basis = |new: &Behavior| compare(&meant, new, &rules).map(|one| one.basis);
        assert_eq!(basis(&raised("UnboundLocalError")), Some(Basis::Crashed));
        assert_eq!(
            basis(&raised_with("NameError", "cannot access free variable 'x' where it is not ...", false)),
            Some(Basis::Crashed)
        );
        assert_eq!(basis(&raised_with("RuntimeError", "generator raised StopIteration", false)), Some(Basis::Crashed));
        assert_eq!(basis(&raised_with("RuntimeError", "no running event loop", false)), None);
        assert_eq!(basis(&raised_with("NameError", "name 'x' is not defined", false)), None);
        assert_eq!(basis(&raised("ValueError")), None);
    }
}
