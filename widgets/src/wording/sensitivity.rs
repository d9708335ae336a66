//! Where old and new part, in words: for which values of an input there is a difference, and for which there is none.

use twincell_behavior::{short_path, short_text};
use twincell_compare::report::{Varied, VariedOutcome, VariedValue};

/// The maximum number of listed values that are no numbers.
const LISTED: usize = 4;

/// `differs for code = -1 to 399, not for 400 to 501 (14 tried), all else the same`. At least one value differs.
pub fn varied(varied: &Varied) -> String {
    let path = short_path(&varied.path);
    let tried = if has_gap(&varied.values) { format!(" ({} tried)", varied.values.len()) } else { String::new() };
    let differing = with_outcome(&varied.values, VariedOutcome::Differs);
    match with_outcome(&varied.values, VariedOutcome::Same).as_str() {
        "" => format!("differs for every usable {path} that was tried, all else the same: {differing}"),
        same => format!("differs for {path} = {differing}, not for {same}{tried}, all else the same"),
    }
}

/// Whether whole numbers with one outcome have others between them that were not tried.
fn has_gap(values: &[VariedValue]) -> bool {
    let mut runs = values.chunk_by(|one, other| one.outcome == other.outcome);
    let is_apart = |pair: &[VariedValue]| {
        let [one, other] = pair else { return false };
        one.number.zip(other.number).is_some_and(|(one, other)| other - one > 1.0)
    };
    runs.any(|run| run.windows(2).any(is_apart))
}

/// The values with an outcome: of numbers the ranges in which no value with another one lies.
fn with_outcome(values: &[VariedValue], outcome: VariedOutcome) -> String {
    if values.iter().any(|value| value.number.is_none()) {
        let all: Vec<String> =
            values.iter().filter(|value| value.outcome == outcome).map(|value| short_text(&value.value)).collect();
        let more = all.len().saturating_sub(LISTED);
        let listed = all[..all.len() - more].join(", ");
        return if more == 0 { listed } else { format!("{listed} and {more} more") };
    }
    let runs = values.chunk_by(|one, other| one.outcome == other.outcome);
    let runs = runs.filter(|run| run.first().is_some_and(|first| first.outcome == outcome));
    let shown = runs.filter_map(|run| match run {
        [one] => Some(one.value.clone()),
        [first, .., last] => Some(format!("{} to {}", first.value, last.value)),
        [] => None,
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[(&str, VariedOutcome)]) -> Varied {
        let value = |(text, outcome): &(&str, VariedOutcome)| VariedValue {
            value: (*text).into(),
            number: text.parse().ok(),
            outcome: *outcome,
            old: String::new(),
            new: String::new(),
        };
        Varied { path: "x".into(), values: values.iter().map(value).collect() }
    }

    #[test]
    fn numbers_are_told_as_ranges_and_others_by_themselves() {
        use VariedOutcome::{Differs, Nothing, Same};
        let numbers = [("-1", Differs), ("0", Differs), ("1", Nothing), ("399", Differs), ("400", Same), ("401", Same)];
        assert_eq!(varied(&of(&numbers)), "differs for x = -1 to 0, 399, not for 400 to 401, all else the same");
        let one = [("0", Same), ("1", Differs), ("2", Same), ("10", Same)];
        assert_eq!(varied(&of(&one)), "differs for x = 1, not for 0, 2 to 10 (4 tried), all else the same");
        assert_eq!(varied(&of(&numbers[..2])), "differs for every usable x that was tried, all else the same: -1 to 0");
        let texts = [("'a'", Differs), ("''", Same), ("'b'", Differs)];
        assert_eq!(varied(&of(&texts)), "differs for x = 'a', 'b', not for '', all else the same");
        let many: Vec<_> = ["'a'", "'b'", "'c'", "'d'", "'e'"].map(|text| (text, Differs)).into();
        assert_eq!(
            varied(&of(&many)),
            "differs for every usable x that was tried, all else the same: 'a', 'b', 'c', 'd' and 1 more"
        );
    }
}
