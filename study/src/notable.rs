//! The rows of a study that a person sees at its end: the first changes in behavior, and the first rows that
//! could not be compared. A few of each kind are held, by their place in the input, so that it does not matter which
//! came first.

use std::collections::BTreeMap;

use twincell_compare::verdict::Verdict;

use crate::change::shown;
use crate::finding::Finding;

/// The maximum number of named changes in behavior, and of named kinds of undecided rows, each with its first row.
const CHANGING: usize = 10;
const KINDS: usize = 5;
/// The maximum number of characters of a line.
const LONGEST: usize = 240;

/// The rows of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct First {
    pub count: u64,
    lines: BTreeMap<usize, String>,
}

impl First {
    fn add(&mut self, number: usize, line: impl FnOnce() -> String, most: usize) {
        self.count += 1;
        if self.lines.len() < most || self.lines.keys().next_back().is_some_and(|last| number < *last) {
            self.lines.insert(number, line());
            if self.lines.len() > most {
                self.lines.pop_last();
            }
        }
    }

    fn first(&self) -> &str {
        self.lines.values().next().map_or("", String::as_str)
    }
}

/// Why a row says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Open {
    /// It is not a change.
    NoChange,
    /// Nothing ran, though something should have.
    NotCompared,
    /// The executions did not decide.
    Undecided,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notable {
    changing: First,
    /// By the common part of their reasons.
    open: BTreeMap<(Open, String), First>,
}

impl Notable {
    /// Counts a row. `no_change` says what is wrong with one that is not a change.
    pub fn add(&mut self, number: usize, finding: &Finding, no_change: Option<&str>) {
        let open = match finding.verdict {
            _ if no_change.is_some() => Open::NoChange,
            Verdict::Changing => return self.changing.add(number, || line_of(finding), CHANGING),
            Verdict::Inconclusive if finding.executions == 0 => Open::NotCompared,
            Verdict::Inconclusive => Open::Undecided,
            Verdict::LikelyPreserving | Verdict::Identical => return,
        };
        let line = || if no_change.is_some() { cut(&finding.reason) } else { line_of(finding) };
        self.open.entry((open, kind(no_change.unwrap_or(&finding.reason)))).or_default().add(number, line, 1);
    }

    /// The number of rows that are not changes.
    pub fn no_changes(&self) -> u64 {
        self.open.iter().filter(|((open, _), _)| *open == Open::NoChange).map(|(_, first)| first.count).sum()
    }

    /// Whether none of this many rows is a change.
    pub fn is_nothing(&self, rows: u64) -> bool {
        self.no_changes() == rows
    }

    /// One line that says that none of this many rows is a change.
    pub fn nothing(&self, rows: u64) -> Option<String> {
        match rows {
            rows if !self.is_nothing(rows) => None,
            0 => Some("there is no change to compare".to_owned()),
            rows => {
                let first = self.open.values().min_by_key(|first| first.lines.keys().next())?.first();
                Some(format!("none of the {rows} rows is a change; the first: {first}"))
            }
        }
    }

    /// For people, a few lines.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.changing.lines.values().map(|line| format!("changing: {line}")).collect();
        let more = self.changing.count - lines.len() as u64;
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        for open in [Open::Undecided, Open::NotCompared, Open::NoChange] {
            let mut kinds: Vec<&First> =
                self.open.iter().filter(|((one, _), _)| *one == open).map(|(_, first)| first).collect();
            kinds.sort_by_key(|first| (std::cmp::Reverse(first.count), first.lines.keys().next().copied()));
            let (one, several, others) = match open {
                Open::Undecided => ("change is inconclusive", "changes are inconclusive", "inconclusive"),
                Open::NotCompared => ("change was not compared", "changes were not compared", "not compared"),
                Open::NoChange => ("row is not a change", "rows are not changes", "unusable"),
            };
            lines.extend(kinds.iter().take(KINDS).map(|first| match first.count {
                1 => format!("1 {one}: {}", first.first()),
                count => format!("{count} {several}, the first: {}", first.first()),
            }));
            let rest: u64 = kinds.iter().skip(KINDS).map(|first| first.count).sum();
            if rest > 0 {
                let is = if rest == 1 { "is" } else { "are" };
                lines.push(format!("{rest} more {is} {others}, for other reasons"));
            }
        }
        lines
    }
}

/// The common part of reasons: without their details, which are in numbers, after colons and in quotes.
fn kind(reason: &str) -> String {
    let mut kind = String::new();
    for character in reason.chars().take_while(|character| !matches!(character, ':' | '(' | ';' | '\'' | '"')) {
        match character {
            '0'..='9' if kind.ends_with('0') => {}
            '0'..='9' => kind.push('0'),
            other => kind.push(other),
        }
    }
    kind
}

/// `an id: f(x=0): 1 -> 2`
fn line_of(finding: &Finding) -> String {
    cut(&format!("{}: {}", shown(&finding.id), finding.reason))
}

fn cut(text: &str) -> String {
    let short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() { short + "..." } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Change, NoChange};

    fn row(id: &str, verdict: Verdict, executions: u32) -> Finding {
        let change = Change { id: id.into(), ..Change::default() };
        Finding { verdict, executions, ..Finding::not_compared(&change, format!("why {id}"), 0.0) }
    }

    #[test]
    fn the_first_of_each_kind_are_told_whatever_came_first() {
        let mut notable = Notable::default();
        for number in (1..=13).rev() {
            notable.add(number, &row(&format!("c{number}"), Verdict::Changing, 3), None);
        }
        notable.add(15, &row("later", Verdict::Inconclusive, 0), None);
        notable.add(14, &row("broken", Verdict::Inconclusive, 0), None);
        notable.add(16, &row("undecided", Verdict::Inconclusive, 9), None);
        let none = NoChange { number: 17, id: 17.into(), unit: Some("row"), what: "it is empty".into() };
        notable.add(17, &Finding::no_change(&none), Some(&none.what));
        let lines = notable.lines();
        assert_eq!(
            (lines[0].as_str(), lines[9].as_str(), lines[10].as_str()),
            ("changing: c1: why c1", "changing: c10: why c10", "and 3 more")
        );
        assert_eq!(lines[11], "1 change is inconclusive: undecided: why undecided");
        assert_eq!(lines[12], "1 change was not compared: broken: why broken");
        assert_eq!(lines[14..], ["1 row is not a change: row 17 is not a change: it is empty"]);
        assert_eq!(notable.nothing(17), None);
    }

    #[test]
    fn reasons_are_counted_by_kind() {
        let mut notable = Notable::default();
        let add = |notable: &mut Notable, number: usize, reason: &str, executions: u32| {
            let finding =
                Finding { reason: reason.into(), ..row(&format!("c{number}"), Verdict::Inconclusive, executions) };
            notable.add(number, &finding, None);
        };
        let refuse = |notable: &mut Notable, number: usize, what: &str| {
            let none = NoChange { number, id: number.into(), unit: Some("line"), what: what.into() };
            notable.add(number, &Finding::no_change(&none), Some(what));
        };
        for number in 1..=3 {
            add(&mut notable, number, &format!("all {number}0 executions were stopped: x"), 5);
            add(&mut notable, 10 * number, &format!("old is not valid Python: line {number}"), 0);
            refuse(&mut notable, 100 * number, "the field `old` is missing");
        }
        add(&mut notable, 4, "none of 3 usable executions ran a changed line", 5);
        refuse(&mut notable, 40, "it is not JSON (wrong at column 2)");
        let expected = [
            "3 changes are inconclusive, the first: c1: all 10 executions were stopped: x",
            "1 change is inconclusive: c4: none of 3 usable executions ran a changed line",
            "3 changes were not compared, the first: c10: old is not valid Python: line 1",
            "3 rows are not changes, the first: line 100 is not a change: the field `old` is missing",
            "1 row is not a change: line 40 is not a change: it is not JSON (wrong at column 2)",
        ];
        assert_eq!((notable.lines(), notable.no_changes()), (expected.map(String::from).into(), 4));
        for (number, reason) in ["a", "b", "c", "d", "e", "f"].into_iter().enumerate() {
            refuse(&mut notable, 50 + number, reason);
        }
        assert_eq!(notable.lines().last().unwrap(), "3 more are unusable, for other reasons");
    }

    #[test]
    fn an_input_without_a_change_is_shown() {
        let mut notable = Notable::default();
        let none = NoChange { number: 1, id: 1.into(), unit: Some("line"), what: "it is not JSON".into() };
        notable.add(1, &Finding::no_change(&none), Some(&none.what));
        notable.add(2, &Finding::no_change(&none), Some(&none.what));
        let said = "none of the 2 rows is a change; the first: line 1 is not a change: it is not JSON";
        assert_eq!((notable.nothing(2).as_deref(), notable.nothing(3)), (Some(said), None));
        assert_eq!(Notable::default().nothing(0).as_deref(), Some("there is no change to compare"));
    }
}
