//! A study in figures, from its findings. The command prints them at its end.

use std::collections::BTreeMap;

use serde::Serialize;

use twincell_compare::verdict::Verdict;
use twincell_widgets::Enforced;

use crate::columns::word;
use crate::finding::Finding;
use crate::metrics::{Confusion, Label, Reach};

/// The figures of a study. Shares are from 0 to 1, and null if the divisor is 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    pub changes: usize,
    /// Counts by verdict.
    pub verdicts: BTreeMap<String, usize>,
    /// Counts by label and verdict, for labels that count.
    pub confusion: BTreeMap<String, BTreeMap<String, usize>>,
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    /// With inconclusive changes counted as wrong.
    pub accuracy: Option<f64>,
    pub accuracy_of_conclusive: Option<f64>,
    pub inconclusive: Option<f64>,
    pub executions: u64,
    pub milliseconds: f64,
    /// For the changes that ran.
    pub median_coverage: Option<f64>,
    /// The share of the changes with changed lines of which any ran, and of which all did.
    pub any_changed_line_reached: Option<f64>,
    pub all_changed_lines_reached: Option<f64>,
    /// The number of changes whose code ran without a complete sandbox.
    pub without_sandbox: usize,
    #[serde(skip)]
    text: String,
}

impl Summary {
    pub fn of(findings: &[Finding]) -> Self {
        let (mut confusion, mut reach, mut enforced) = (Confusion::default(), Reach::default(), Enforced::default());
        let mut counts = (BTreeMap::new(), BTreeMap::<String, BTreeMap<String, usize>>::new());
        for verdict in [Verdict::Changing, Verdict::LikelyPreserving, Verdict::Inconclusive, Verdict::Identical] {
            counts.0.insert(word(verdict).unwrap_or_default(), 0);
        }
        for finding in findings {
            let label = Label::of(finding.label.as_deref());
            confusion.add(label, finding.verdict);
            reach.add(finding.executions, finding.coverage, finding.changed_lines_reached);
            enforced.add(finding.sandbox_lacks.as_deref());
            let verdict = word(finding.verdict).unwrap_or_default();
            *counts.0.entry(verdict.clone()).or_default() += 1;
            if let (Some(_), Some(label)) = (label, &finding.label) {
                *counts.1.entry(label.clone()).or_default().entry(verdict).or_default() += 1;
            }
        }
        Self {
            changes: findings.len(),
            verdicts: counts.0,
            confusion: counts.1,
            precision: confusion.precision(),
            recall: confusion.recall(),
            accuracy: confusion.accuracy(),
            accuracy_of_conclusive: confusion.accuracy_of_conclusive(),
            inconclusive: confusion.inconclusive(),
            executions: findings.iter().map(|finding| u64::from(finding.executions)).sum(),
            milliseconds: findings.iter().map(|finding| finding.milliseconds).sum(),
            median_coverage: reach.median(),
            any_changed_line_reached: reach.any(),
            all_changed_lines_reached: reach.all(),
            without_sandbox: enforced.incomplete,
            text: confusion.text() + &reach.text() + &enforced_line(&enforced),
        }
    }

    /// The text that the command prints.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A line of the summary, where code ran without a complete sandbox.
pub fn enforced_line(enforced: &Enforced) -> String {
    enforced.sentence().map_or_else(String::new, |sentence| sentence + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_are_those_of_the_text() {
        let row = |label: &str, verdict: &str| -> Finding {
            let row = json!({"id": 1, "verdict": verdict, "reason": "", "evidence": [], "executions": 4, "coverage": 0.5,
                "changed_lines_reached": 1.0, "milliseconds": 2.5, "reproducer": null, "label": label});
            serde_json::from_value(row).unwrap()
        };
        let rows = [row("changing", "changing"), row("preserving", "changing"), row("who knows", "likely_preserving")];
        let summary = Summary::of(&rows);
        assert_eq!((summary.precision, summary.recall), (Some(0.5), Some(1.0)));
        assert_eq!(summary.verdicts["changing"] + summary.verdicts["likely_preserving"], 3);
        assert_eq!(summary.confusion["preserving"]["changing"], 1);
        assert_eq!(summary.confusion.len(), 2);
        assert_eq!((summary.executions, summary.milliseconds, summary.median_coverage), (12, 7.5, Some(0.5)));
        assert!(summary.text().contains("precision 0.500   recall 1.000"), "{}", summary.text());
        assert!(summary.text().contains("median 50.0 %"), "{}", summary.text());
    }

    #[test]
    fn a_study_of_nothing_has_no_shares() {
        let summary = Summary::of(&[]);
        assert_eq!((summary.changes, summary.precision, summary.median_coverage), (0, None, None));
    }
}
