//! A study for views: what is kept of each comparison while it runs, and the rows at its end.

use std::collections::BTreeMap;

use serde_json::Value;
use twincell_core::report::Comparison;
use twincell_widgets::{STATE_FORMAT, StudyRow, StudyState, state};

use super::change::Changes;
use super::finding::Finding;

/// The first changes of a study have their comparisons behind them, as far as these are not too large, in bytes.
const MOST_COMPARISONS: usize = 1000;
const LARGEST: usize = 512 << 10;

/// What a page shows of a comparison, if it is not too large.
pub fn kept(comparison: &Comparison) -> Option<Value> {
    let text = serde_json::to_string(&state(comparison)).ok()?;
    if text.len() <= LARGEST { serde_json::from_str(&text).ok() } else { None }
}

/// The comparisons of a study, by the keys of their rows.
#[derive(Default)]
pub struct Kept {
    held: BTreeMap<String, Value>,
}

impl Kept {
    /// Keeps what a page shows of a change.
    pub fn add(&mut self, number: usize, key: Option<&str>, state: Option<Value>) {
        if let (Some(key), Some(state)) = (key, state)
            && number <= MOST_COMPARISONS
        {
            self.held.insert(key.to_owned(), state);
        }
    }
}

/// A study from its results. `changes` are those that it was made of, in the same order, for the labels of results that
/// have none.
pub fn study_state(
    title: String,
    mut changes: Option<&mut dyn Changes>,
    results: Vec<Finding>,
    kept: &Kept,
) -> Result<StudyState, String> {
    let mut found = Vec::new();
    for finding in results {
        let row = changes.as_mut().and_then(|changes| changes.next()).transpose();
        let change = row
            .map_err(|error| format!("cannot read the changes on: {}", crate::files::reason(&error)))?
            .and_then(Result::ok);
        found.push(StudyRow {
            id: finding.id.as_str().map_or_else(|| finding.id.to_string(), str::to_owned),
            verdict: finding.verdict,
            comparison: finding.key.as_ref().and_then(|key| kept.held.get(key)).cloned(),
            label: finding.label.or_else(|| change.and_then(|change| change.label)),
            reason: finding.reason,
            executions: finding.executions,
            coverage: finding.coverage,
            first_difference: finding.first_difference,
            complexity: finding.complexity,
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
    fn results_have_their_own_labels_or_those_of_their_changes() {
        let mut changes = from_text("{\"old\": \"\", \"new\": \"\", \"label\": \"preserving\"}\n");
        let old: Finding = serde_json::from_str(RESULT).unwrap();
        let new = Finding { label: Some("changing".into()), key: Some("k".into()), ..old.clone() };
        let mut kept = Kept::default();
        kept.add(1, Some("k"), Some(Value::from(7)));
        let made = study_state("t".into(), Some(&mut changes), vec![old.clone(), new, old], &kept).unwrap();
        let labels: Vec<_> = made.rows.iter().map(|row| row.label.as_deref()).collect();
        assert_eq!(labels, [Some("preserving"), Some("changing"), None]);
        let comparisons: Vec<bool> = made.rows.iter().map(|row| row.comparison.is_some()).collect();
        assert_eq!(comparisons, [false, true, false]);
    }
}
