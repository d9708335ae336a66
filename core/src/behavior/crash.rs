//! An exception that the code does not raise itself, and that only one version ends in.
//!
//! As a rule such an exception says nothing, because the injected values may have caused it. It says something where the
//! same values let the other version end normally, the change took part, and what failed is an operation on values as
//! they are (a division by zero, a text that is no number), not one on a value of a class that it never has.

use super::{Basis, Behavior, Difference, Observed, Outcome, Rules};
use crate::report::{Channel, display_outcome};

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

pub(super) fn compare(old: &Behavior, new: &Behavior, rules: &Rules) -> Option<Difference> {
    let (crashed, other) = match (old.outcome.is_valid(), new.outcome.is_valid()) {
        (true, false) => (new, old),
        (false, true) => (old, new),
        _ => return None,
    };
    let took_part = [old, new]
        .into_iter()
        .zip(&rules.changed)
        .any(|(behavior, changed)| behavior.lines.iter().any(|(line, _)| changed.binary_search(line).is_ok()));
    let normally = matches!(other.outcome, Outcome::Returned(_));
    (took_part && normally && is_of_values(&crashed.outcome)).then(|| Difference {
        channel: Channel::Exception,
        place: "exception".into(),
        old: display_outcome(&old.outcome),
        new: display_outcome(&new.outcome),
        basis: Basis::Crashed,
    })
}

/// Ended in an exception that the values as they are caused.
pub fn is_of_values(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Raised { exception: Observed::Exception { class, .. }, intended: false, message, .. } => {
            OF_VALUES.contains(&class.as_str()) && !message.contains("unpack")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn behavior(outcome: Outcome) -> Behavior {
        Behavior {
            outcome,
            arguments: vec![],
            stdout: String::new(),
            stderr: String::new(),
            log: vec![],
            calls: vec![],
            lines: vec![(2, 1)],
            branches: vec![],
        }
    }

    fn raised(class: &str) -> Behavior {
        let exception = Observed::Exception { class: class.into(), arguments: vec![] };
        behavior(Outcome::Raised { exception, intended: false, line: 2, message: String::new() })
    }

    #[test]
    fn a_crash_of_one_version_counts_where_the_change_took_part_and_the_value_is_to_blame() {
        let returned = behavior(Outcome::Returned(Observed::None));
        let rules = Rules { changed: [vec![2], vec![]], ..Rules::default() };
        let basis = |old: &Behavior, new: &Behavior, rules: &Rules| compare(old, new, rules).map(|one| one.basis);
        assert_eq!(basis(&returned, &raised("ZeroDivisionError"), &rules), Some(Basis::Crashed));
        assert_eq!(basis(&returned, &raised("ZeroDivisionError"), &Rules::default()), None);
        assert_eq!(basis(&returned, &raised("TypeError"), &rules), None);
        assert_eq!(basis(&raised("ValueError"), &raised("ValueError"), &rules), None);
    }
}
