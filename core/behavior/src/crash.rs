//! An exception that the code does not raise itself and that only one version ends in.
//!
//! As a rule such an exception says nothing, because the injected values may have caused it. It counts if the other
//! version ends normally on the same values, the change took part, and the failed operation depends on the value (a
//! division by zero, a text that is not a number) and not on a class that the value never has.
//!
//! None where the change adds or removes a guard against it is such a value, too: the version with the guard returns,
//! and the other one uses None in a way that None does not support.
//!
//! A text with another number of parts than the code unpacks is such a value as well, where the code splits the text
//! itself. What is unpacked elsewhere may have the wrong class.
//!
//! A local that is read before it is bound, a generator from which `StopIteration` escapes, and `super()` where there is
//! no object of the class, are the code's own fault for any values. They count whenever the other version ends by itself.

use twincell_engine::observed::{Behavior, Observed, Outcome};
use twincell_syntax::{PerSide, Side};

use super::{Basis, Difference, Rules};

/// What caused an exception that the code does not raise itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// A value within its class: another one of the same class causes none.
    Value,
    /// A class that the value never has.
    Class,
    /// What is unpacked: a class that the value never has, or a text with another number of parts.
    Unpacked,
    /// None, in a use that None does not support.
    NoneUsed,
    /// The code, for any values.
    Code,
}

/// The causes of exceptions, by their class and a part of the message. The first row that fits holds. CPython 3.10 to
/// 3.14 write these parts alike.
const CAUSES: [(&str, &str, Cause); 19] = [
    ("TypeError", "'NoneType'", Cause::NoneUsed),
    ("AttributeError", "'NoneType'", Cause::NoneUsed),
    ("UnboundLocalError", "", Cause::Code),
    ("NameError", "free variable", Cause::Code),
    ("RuntimeError", "generator raised Stop", Cause::Code),
    ("TypeError", "super(type, obj)", Cause::Code),
    ("RuntimeError", "super(): ", Cause::Code),
    ("ValueError", "values to unpack", Cause::Unpacked),
    ("ValueError", "dictionary update sequence", Cause::Class),
    ("ValueError", "", Cause::Value),
    ("ZeroDivisionError", "", Cause::Value),
    ("KeyError", "", Cause::Value),
    ("IndexError", "", Cause::Value),
    ("OverflowError", "", Cause::Value),
    ("StopIteration", "", Cause::Value),
    ("UnicodeError", "", Cause::Value),
    ("UnicodeDecodeError", "", Cause::Value),
    ("UnicodeEncodeError", "", Cause::Value),
    ("FloatingPointError", "", Cause::Value),
];

pub(super) fn compare(old: &Behavior, new: &Behavior, rules: &Rules) -> Option<Difference> {
    let behaviors = PerSide::new(old, new);
    let side = match (old.outcome.is_valid(), new.outcome.is_valid()) {
        (true, false) => Side::New,
        (false, true) => Side::Old,
        _ => return None,
    };
    let (crashed, other) = (behaviors[side], behaviors[side.other()]);
    let normally = matches!(other.outcome, Outcome::Returned(_));
    let guarded = |at: u32| {
        let guards = &rules.guards[side.other()];
        let ran = |guard: u32| other.lines.iter().any(|(line, _)| *line == guard);
        guards.iter().any(|(guard, uses)| uses.contains(&at) && ran(*guard))
    };
    let counts = match cause(&crashed.outcome) {
        Some((Cause::Code, _)) => true,
        Some((Cause::Value, _)) => normally,
        Some((Cause::NoneUsed, at)) => normally && guarded(at),
        Some((Cause::Unpacked, at)) => normally && rules.splits[side].contains(&at),
        Some((Cause::Class, _)) | None => false,
    };
    (counts && rules.ran_changed(old, new)).then(|| Difference::of_outcomes(old, new, Basis::Crashed))
}

/// Whether the version ended in an exception that counts although the code did not raise it.
pub fn is_telling(outcome: &Outcome) -> bool {
    matches!(cause(outcome), Some((Cause::Value | Cause::NoneUsed | Cause::Unpacked | Cause::Code, _)))
}

/// What caused the exception in which the version ended, and on which line, if the code did not raise it.
fn cause(outcome: &Outcome) -> Option<(Cause, u32)> {
    let Outcome::Raised { exception: Observed::Exception { class, .. }, intended: false, line, message } = outcome
    else {
        return None;
    };
    let fits = |(of, part, _): &&(&str, &str, Cause)| of == class && message.contains(part);
    CAUSES.iter().find(fits).map(|(_, _, cause)| (*cause, *line))
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
        let unpacked = raised_with("ValueError", "too many values to unpack (expected 2)", false);
        assert_eq!(basis(&returned, &unpacked, &rules), None);
        let splits = Rules { splits: PerSide::new(vec![], vec![2]), ..rules.clone() };
        assert_eq!(basis(&returned, &unpacked, &splits), Some(Basis::Crashed));
        assert_eq!(basis(&unpacked, &returned, &splits), None);
        let key = raised_with("KeyError", "'values to unpack'", false);
        assert_eq!(basis(&returned, &key, &rules), Some(Basis::Crashed));
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
