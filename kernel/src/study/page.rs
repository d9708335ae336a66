//! A study as a page: what is kept of each comparison while it runs, and the rows at its end.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use twincell_core::report::Comparison;
use twincell_widgets::{STATE_FORMAT, StudyRow, StudyState, state};

use super::row::{Finding, read_change};
use super::rows;

/// Bytes of comparisons that a page holds; what comes later is a row without a comparison behind it.
const MOST_BYTES: usize = 64 << 20;

/// The comparisons of a study, by the line of their change.
#[derive(Default)]
pub struct Kept {
    held: Mutex<(usize, BTreeMap<usize, Value>)>,
}

impl Kept {
    pub fn add(&self, line: usize, comparison: &Comparison) {
        let Ok(text) = serde_json::to_string(&state(comparison)) else { return };
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.0 + text.len() <= MOST_BYTES
            && let Ok(value) = serde_json::from_str(&text)
        {
            held.0 += text.len();
            held.1.insert(line, value);
        }
    }

    /// The page's content. `results` has a finding a line, in the order of the changes in `lines`.
    pub fn study(self, title: String, lines: &str, results: &str) -> StudyState {
        let mut comparisons = self.held.into_inner().unwrap_or_else(PoisonError::into_inner).1;
        let found = results.lines().map(serde_json::from_str::<Finding>);
        let one = |((number, line), finding): ((usize, &str), serde_json::Result<Finding>)| {
            let finding = finding.ok()?;
            Some(StudyRow {
                id: finding.id.as_str().map_or_else(|| finding.id.to_string(), str::to_owned),
                verdict: finding.verdict,
                label: read_change(line, number).ok().and_then(|change| change.label),
                reason: finding.reason,
                executions: Some(finding.executions),
                coverage: Some(finding.coverage),
                milliseconds: Some(finding.milliseconds),
                evidence: finding.evidence,
                reproducer: finding.reproducer,
                comparison: comparisons.remove(&number),
            })
        };
        StudyState { format: STATE_FORMAT, title, rows: rows(lines).zip(found).filter_map(one).collect() }
    }
}
