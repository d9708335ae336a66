//! The rows of a study that a person is told of at its end: the first changes in behavior, and the first of what could not
//! be compared. Of each kind a few are held, by their place in the input, so that it does not matter which came first.

use std::collections::BTreeMap;

use twincell_core::report::Verdict;

use super::change::shown;
use super::finding::Finding;

/// So many changes in behavior are named, and of what could not be compared so many.
const CHANGING: usize = 10;
const FAILED: usize = 1;

/// Rows of one kind.
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

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notable {
    changing: First,
    /// Changes that nothing ran for, though something was to.
    not_compared: First,
    /// Rows that are no change.
    no_change: First,
}

impl Notable {
    pub fn add(&mut self, number: usize, finding: &Finding, is_change: bool) {
        let line = || format!("{}: {}", shown(&finding.id), finding.reason);
        match finding.verdict {
            _ if !is_change => self.no_change.add(number, || finding.reason.clone(), FAILED),
            Verdict::Changing => self.changing.add(number, line, CHANGING),
            Verdict::Inconclusive if finding.executions == 0 => self.not_compared.add(number, line, FAILED),
            _ => {}
        }
    }

    /// Whether of so many rows none is a change.
    pub fn is_nothing(&self, rows: u64) -> bool {
        self.no_change.count == rows
    }

    /// One line that says that none of so many rows is a change.
    pub fn nothing(&self, rows: u64) -> Option<String> {
        match rows {
            rows if !self.is_nothing(rows) => None,
            0 => Some("there is no change to compare".to_owned()),
            rows => Some(format!("none of the {rows} rows is a change; the first: {}", self.no_change.first())),
        }
    }

    /// For people, a few lines.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.changing.lines.values().map(|line| format!("changing: {line}")).collect();
        let more = self.changing.count - lines.len() as u64;
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        let is = |count: u64, one: &str, several: &str| {
            if count == 1 { format!("1 {one}: ") } else { format!("{count} {several}, the first: ") }
        };
        if self.not_compared.count > 0 {
            let several = is(self.not_compared.count, "change was not compared", "changes were not compared");
            lines.push(several + self.not_compared.first());
        }
        if self.no_change.count > 0 {
            lines.push(is(self.no_change.count, "row is no change", "rows are no changes") + self.no_change.first());
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::change::{Change, NoChange};

    fn row(id: &str, verdict: Verdict, executions: u32) -> Finding {
        let change = Change { id: id.into(), ..Change::default() };
        Finding { verdict, executions, ..Finding::not_compared(&change, format!("why {id}"), 0.0) }
    }

    #[test]
    fn the_first_of_each_kind_are_told_whatever_came_first() {
        let mut notable = Notable::default();
        for number in (1..=13).rev() {
            notable.add(number, &row(&format!("c{number}"), Verdict::Changing, 3), true);
        }
        notable.add(15, &row("later", Verdict::Inconclusive, 0), true);
        notable.add(14, &row("broken", Verdict::Inconclusive, 0), true);
        notable.add(16, &row("undecided", Verdict::Inconclusive, 9), true);
        let none = NoChange { number: 17, id: 17.into(), reason: "row 17 is no change: it is empty".into() };
        notable.add(17, &Finding::no_change(&none), false);
        let lines = notable.lines();
        assert_eq!(
            (lines[0].as_str(), lines[9].as_str(), lines[10].as_str()),
            ("changing: c1: why c1", "changing: c10: why c10", "and 3 more")
        );
        assert_eq!(lines[11], "2 changes were not compared, the first: broken: why broken");
        assert_eq!(lines[12..], ["1 row is no change: row 17 is no change: it is empty"]);
        assert_eq!(notable.nothing(17), None);
    }

    #[test]
    fn an_input_without_a_change_is_told() {
        let mut notable = Notable::default();
        let none = NoChange { number: 1, id: 1.into(), reason: "line 1 is no change: it is not JSON".into() };
        notable.add(1, &Finding::no_change(&none), false);
        notable.add(2, &Finding::no_change(&none), false);
        let said = "none of the 2 rows is a change; the first: line 1 is no change: it is not JSON";
        assert_eq!((notable.nothing(2).as_deref(), notable.nothing(3)), (Some(said), None));
        assert_eq!(Notable::default().nothing(0).as_deref(), Some("there is no change to compare"));
    }
}
