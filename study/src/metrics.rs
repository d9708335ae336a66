//! How the verdicts of a study agree with people's labels.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use twincell_compare::verdict::Verdict;

/// A person's judgment of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    Changing,
    Preserving,
}

impl Label {
    /// The meaning of a label. None if it does not count.
    pub fn of(label: Option<&str>) -> Option<Self> {
        match label {
            Some("changing") => Some(Self::Changing),
            Some("preserving") => Some(Self::Preserving),
            _ => None,
        }
    }
}

/// The verdicts in the order of the table's columns.
const COLUMNS: [(Verdict, &str); 4] = [
    (Verdict::Changing, "changing"),
    (Verdict::LikelyPreserving, "likely preserving"),
    (Verdict::Identical, "identical"),
    (Verdict::Inconclusive, "inconclusive"),
];

/// The counts of verdicts, by label.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confusion {
    changing: [u32; 4],
    preserving: [u32; 4],
    unlabelled: [u32; 4],
}

impl Confusion {
    pub fn add(&mut self, label: Option<Label>, verdict: Verdict) {
        let row = match label {
            Some(Label::Changing) => &mut self.changing,
            Some(Label::Preserving) => &mut self.preserving,
            None => &mut self.unlabelled,
        };
        for (count, (column, _)) in row.iter_mut().zip(COLUMNS) {
            *count += u32::from(column == verdict);
        }
    }

    /// The number of all changes.
    pub fn total(&self) -> u32 {
        COLUMNS.iter().map(|(verdict, _)| self.of(*verdict)).sum()
    }

    /// The number of changes with this verdict and any label.
    pub fn of(&self, verdict: Verdict) -> u32 {
        [self.changing, self.preserving, self.unlabelled].iter().map(|row| count(row, verdict)).sum()
    }

    /// The share of labelled changes called changing that are changing.
    pub fn precision(&self) -> Option<f64> {
        let called = |row| count(row, Verdict::Changing);
        share(called(&self.changing), called(&self.changing) + called(&self.preserving))
    }

    /// The share of changes labelled changing that were called so. Inconclusive ones were not.
    pub fn recall(&self) -> Option<f64> {
        share(count(&self.changing, Verdict::Changing), self.changing.iter().sum())
    }

    /// The share of labelled changes with the right verdict. Inconclusive is a wrong one.
    pub fn accuracy(&self) -> Option<f64> {
        share(self.right(), self.labelled())
    }

    /// The share with the right verdict among the labelled changes that are not inconclusive.
    pub fn accuracy_of_conclusive(&self) -> Option<f64> {
        let undecided = count(&self.changing, Verdict::Inconclusive) + count(&self.preserving, Verdict::Inconclusive);
        share(self.right(), self.labelled() - undecided)
    }

    /// The share of all changes that are inconclusive.
    pub fn inconclusive(&self) -> Option<f64> {
        share(self.of(Verdict::Inconclusive), self.total())
    }

    fn labelled(&self) -> u32 {
        self.changing.iter().chain(&self.preserving).sum()
    }

    fn right(&self) -> u32 {
        count(&self.changing, Verdict::Changing)
            + count(&self.preserving, Verdict::LikelyPreserving)
            + count(&self.preserving, Verdict::Identical)
    }

    /// The summary at the end of a study.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let percent = |value: Option<f64>| value.map_or("none".to_owned(), |value| format!("{:.1} %", 100.0 * value));
        // Writing to a String cannot fail.
        let _ = write!(text, "{} {}:", self.total(), if self.total() == 1 { "change" } else { "changes" });
        for (index, (verdict, name)) in COLUMNS.iter().enumerate() {
            let _ = write!(text, "{} {} {name}", if index == 0 { "" } else { "," }, self.of(*verdict));
        }
        text.push('\n');
        if self.of(Verdict::Inconclusive) > 0 {
            let _ = writeln!(text, "inconclusive {}", percent(self.inconclusive()));
        }
        if self.labelled() == 0 {
            return text;
        }
        let number = |value: Option<f64>| value.map_or("none".to_owned(), |value| format!("{value:.3}"));
        let _ = writeln!(text, "\n{} labelled changes:", self.labelled());
        let _ = write!(text, "{:18}", "label");
        for (_, name) in COLUMNS {
            let _ = write!(text, "{name:>19}");
        }
        text.push('\n');
        for (name, row) in [("changing", &self.changing), ("preserving", &self.preserving)] {
            let _ = write!(text, "{name:18}");
            for count in row {
                let _ = write!(text, "{count:>19}");
            }
            text.push('\n');
        }
        let _ = writeln!(text, "precision {}   recall {}", number(self.precision()), number(self.recall()));
        let _ = writeln!(
            text,
            "accuracy {} (inconclusive counted as wrong), {} (inconclusive left out)",
            number(self.accuracy()),
            number(self.accuracy_of_conclusive())
        );
        text
    }
}

/// The coverage of the executions of a study. Changes for which nothing ran are left out. Shares are counted in
/// thousandths, to which findings are rounded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reach {
    /// The shares of executable lines that ran, one for each change.
    lines: BTreeMap<u16, u64>,
    /// The number of changes of which any changed line ran, of those of which all did, and of those that have any.
    any: u64,
    all: u64,
    changed: u64,
}

impl Reach {
    pub fn add(&mut self, executions: u32, lines: f64, changed: Option<f64>) {
        if executions == 0 {
            return;
        }
        *self.lines.entry((lines * 1000.0).round() as u16).or_default() += 1;
        if let Some(share) = changed {
            self.changed += 1;
            self.any += u64::from(share > 0.0);
            self.all += u64::from(share >= 1.0);
        }
    }

    /// The median of the shares of lines that ran.
    pub fn median(&self) -> Option<f64> {
        let middle = self.lines.values().sum::<u64>() / 2;
        let mut before = 0;
        let median = self.lines.iter().find_map(|(share, count)| {
            before += count;
            (before > middle).then_some(share)
        });
        median.map(|thousandths| f64::from(*thousandths) / 1000.0)
    }

    /// The share of the changes with changed lines of which any ran.
    pub fn any(&self) -> Option<f64> {
        (self.changed > 0).then(|| self.any as f64 / self.changed as f64)
    }

    /// The share of the changes with changed lines of which all ran.
    pub fn all(&self) -> Option<f64> {
        (self.changed > 0).then(|| self.all as f64 / self.changed as f64)
    }

    /// One line of the summary. Empty if nothing ran.
    pub fn text(&self) -> String {
        let Some(median) = self.median() else { return String::new() };
        format!(
            "lines executed: median {:.1} %; changed lines reached: any in {:.1} % of the changes, all in {:.1} %\n",
            100.0 * median,
            100.0 * self.any().unwrap_or_default(),
            100.0 * self.all().unwrap_or_default()
        )
    }
}

fn count(row: &[u32; 4], verdict: Verdict) -> u32 {
    row.iter().zip(COLUMNS).filter(|(_, (column, _))| *column == verdict).map(|(count, _)| count).sum()
}

fn share(part: u32, whole: u32) -> Option<f64> {
    (whole > 0).then(|| f64::from(part) / f64::from(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confusion(rows: &[(Option<Label>, Verdict, u32)]) -> Confusion {
        let mut confusion = Confusion::default();
        for (label, verdict, times) in rows {
            (0..*times).for_each(|_| confusion.add(*label, *verdict));
        }
        confusion
    }

    #[test]
    fn changing_is_the_positive_class_and_inconclusive_is_not_positive() {
        let confusion = confusion(&[
            (Some(Label::Changing), Verdict::Changing, 6),
            (Some(Label::Changing), Verdict::Inconclusive, 1),
            (Some(Label::Changing), Verdict::LikelyPreserving, 3),
            (Some(Label::Preserving), Verdict::Changing, 2),
            (Some(Label::Preserving), Verdict::Identical, 1),
            (Some(Label::Preserving), Verdict::LikelyPreserving, 4),
            (Some(Label::Preserving), Verdict::Inconclusive, 3),
        ]);
        assert_eq!(confusion.precision(), Some(0.75));
        assert_eq!(confusion.recall(), Some(0.6));
        assert_eq!(confusion.accuracy(), Some(11.0 / 20.0));
        assert_eq!(confusion.accuracy_of_conclusive(), Some(11.0 / 16.0));
        assert_eq!(confusion.inconclusive(), Some(0.2));
    }

    #[test]
    fn without_labels_only_the_verdicts_are_counted() {
        let confusion = confusion(&[(None, Verdict::Changing, 1), (None, Verdict::Inconclusive, 1)]);
        assert_eq!((confusion.precision(), confusion.recall(), confusion.accuracy()), (None, None, None));
        let text = confusion.text();
        assert!(text.contains("2 changes: 1 changing, 0 likely preserving, 0 identical, 1 inconclusive"), "{text}");
        assert!(text.contains("inconclusive 50.0 %") && !text.contains("precision"), "{text}");
    }

    #[test]
    fn coverage_is_of_the_changes_that_ran() {
        let mut reach = Reach::default();
        assert_eq!(reach.text(), "");
        for (executions, lines, changed) in [(3, 0.5, Some(0.5)), (1, 0.9, Some(0.0)), (9, 1.0, None), (0, 0.0, None)] {
            reach.add(executions, lines, changed);
        }
        reach.add(2, 0.8, Some(1.0));
        let text = reach.text();
        assert!(text.contains("median 90.0 %"), "{text}");
        assert!(text.contains("any in 66.7 % of the changes, all in 33.3 %"), "{text}");
    }

    #[test]
    fn an_empty_study_has_no_figures() {
        assert_eq!(Confusion::default().inconclusive(), None);
        assert!(Confusion::default().text().starts_with("0 changes:"));
    }

    #[test]
    fn the_table_shows_every_count() {
        let text = confusion(&[
            (Some(Label::Changing), Verdict::Changing, 61),
            (Some(Label::Preserving), Verdict::Inconclusive, 43),
        ])
        .text();
        assert!(text.contains("61") && text.contains("43") && text.contains("104 labelled changes"), "{text}");
        assert!(text.contains("precision 1.000   recall 1.000"), "{text}");
    }
}
