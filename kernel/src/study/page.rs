//! A study for views: what is kept of each comparison while it runs, and the rows at its end.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use twincell_core::report::Comparison;
use twincell_widgets::{STATE_FORMAT, StudyRow, StudyState, state};

use super::change::{Change, Changes};
use super::finding::Finding;

/// The first changes of a study have their comparisons behind them, as far as these are not too large, in bytes.
const MOST_COMPARISONS: usize = 1000;
const LARGEST: usize = 512 << 10;

/// The comparisons of a study, by the number of their change.
#[derive(Default)]
pub struct Kept {
    held: Mutex<BTreeMap<usize, Value>>,
}

impl Kept {
    pub fn add(&self, change: &Change, comparison: &Comparison) {
        if change.number > MOST_COMPARISONS {
            return;
        }
        let Ok(text) = serde_json::to_string(&state(comparison)) else { return };
        if text.len() <= LARGEST
            && let Ok(value) = serde_json::from_str(&text)
        {
            self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(change.number, value);
        }
    }
}

/// A study from its results, one finding a line. `changes` are those that it was made of, for labels; the results are in
/// their order. An error says in one line which result is none.
pub fn study_state(
    title: String,
    mut changes: Option<&mut dyn Changes>,
    results: &str,
    kept: Kept,
) -> Result<StudyState, String> {
    let mut comparisons = kept.held.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut found = Vec::new();
    for (index, text) in results.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let finding: Finding = serde_json::from_str(text)
            .map_err(|error| format!("line {} is no result of `twincell study`: {error}", index + 1))?;
        let row = changes.as_mut().and_then(|changes| changes.next()).transpose();
        let change = row
            .map_err(|error| format!("cannot read the changes on: {}", crate::files::reason(&error)))?
            .and_then(Result::ok);
        found.push(StudyRow {
            id: finding.id.as_str().map_or_else(|| finding.id.to_string(), str::to_owned),
            verdict: finding.verdict,
            comparison: change.as_ref().and_then(|change| comparisons.remove(&change.number)),
            label: change.and_then(|change| change.label),
            reason: finding.reason,
            executions: finding.executions,
            coverage: finding.coverage,
            first_difference: None,
            complexity: None,
            milliseconds: finding.milliseconds,
            evidence: finding.evidence,
            reproducer: finding.reproducer,
        });
    }
    Ok(StudyState { format: STATE_FORMAT, title, rows: found })
}

#[cfg(test)]
mod tests {
    use super::super::read::from_text;
    use super::*;

    const RESULT: &str = r#"{"id":"a","verdict":"changing","reason":"r","evidence":[],"executions":3,"coverage":1.0,"changed_lines_reached":1.0,"milliseconds":2.0,"reproducer":null}"#;

    #[test]
    fn results_meet_their_changes_in_order() {
        let mut changes = from_text("{\"old\": \"\", \"new\": \"\", \"label\": \"preserving\"}\n");
        let made =
            study_state("t".into(), Some(&mut changes), &format!("{RESULT}\n\n{RESULT}\n"), Kept::default()).unwrap();
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
