//! A study for views: what is kept of each comparison while it runs, and the rows at its end.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use twincell_core::report::Comparison;
use twincell_widgets::{STATE_FORMAT, StudyRow, StudyState, state};

use super::row::{Finding, read_change};
use super::rows;

/// The first changes of a study have their comparisons behind them, as far as these are not too large, in bytes.
const MOST_COMPARISONS: usize = 1000;
const LARGEST: usize = 512 << 10;

/// The comparisons of a study, by the line of their change.
#[derive(Default)]
pub struct Kept {
    held: Mutex<BTreeMap<usize, Value>>,
}

impl Kept {
    pub fn add(&self, line: usize, comparison: &Comparison) {
        if line > MOST_COMPARISONS {
            return;
        }
        let Ok(text) = serde_json::to_string(&state(comparison)) else { return };
        if text.len() <= LARGEST
            && let Ok(value) = serde_json::from_str(&text)
        {
            self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(line, value);
        }
    }
}

/// A study from its results, one finding a line. `changes` are the lines that it was made of, for labels; the results are
/// in their order. An error says in one line which result is none.
pub fn study_state(title: String, changes: Option<&str>, results: &str, kept: Kept) -> Result<StudyState, String> {
    let mut comparisons = kept.held.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut of_changes = changes.map(rows);
    let mut found = Vec::new();
    for (number, text) in rows(results) {
        let finding: Finding = serde_json::from_str(text)
            .map_err(|error| format!("line {number} is no result of `twincell study`: {error}"))?;
        let change = of_changes.as_mut().and_then(Iterator::next);
        found.push(StudyRow {
            id: finding.id.as_str().map_or_else(|| finding.id.to_string(), str::to_owned),
            verdict: finding.verdict,
            label: change.and_then(|(number, line)| read_change(line, number).ok()?.label),
            reason: finding.reason,
            executions: finding.executions,
            coverage: finding.coverage,
            milliseconds: finding.milliseconds,
            evidence: finding.evidence,
            reproducer: finding.reproducer,
            comparison: change.and_then(|(number, _)| comparisons.remove(&number)),
        });
    }
    Ok(StudyState { format: STATE_FORMAT, title, rows: found })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = r#"{"id":"a","verdict":"changing","reason":"r","evidence":[],"executions":3,"coverage":1.0,"changed_lines_reached":1.0,"milliseconds":2.0,"reproducer":null}"#;

    #[test]
    fn results_meet_their_changes_in_order() {
        let changes = "{\"old\": \"\", \"new\": \"\", \"label\": \"preserving\"}\n";
        let made = study_state("t".into(), Some(changes), &format!("{RESULT}\n\n{RESULT}\n"), Kept::default()).unwrap();
        let labels: Vec<_> = made.rows.iter().map(|row| row.label.as_deref()).collect();
        assert_eq!(labels, [Some("preserving"), None]);
        assert_eq!(made.rows[0].id, "a");
    }

    #[test]
    fn what_is_no_result_is_named_by_its_line() {
        let error = study_state("t".into(), None, &format!("{RESULT}\n{{}}\n"), Kept::default()).unwrap_err();
        assert!(error.starts_with("line 2 is no result of `twincell study`: "), "{error}");
    }
}
