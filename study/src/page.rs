//! A study for views: what is kept of each comparison while the study runs, and the rows at its end.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use twincell_compare::report::Comparison;
use twincell_widgets::{Enforced, Label, STATE_FORMAT, StudyRow, StudyState, state};

use crate::change::{Change, shown};
use crate::finding::Finding;

/// The first changes of a study have their comparisons behind them, within these bounds in bytes.
const MOST_COMPARISONS: usize = 1000;
const LARGEST: usize = 512 << 10;
const MOST_BYTES: usize = 128 << 20;

/// What a page shows of a comparison, as JSON, if it is wanted and not too large.
pub fn page_state(change: &Change, comparison: &Comparison) -> Option<String> {
    if change.number > MOST_COMPARISONS {
        return None;
    }
    serde_json::to_string(&state(comparison)).ok().filter(|text| text.len() <= LARGEST)
}

/// The comparisons of the first changes of a study, which may come in any order.
pub struct PageComparisons {
    /// By the number of the change, with the key of its row.
    held: BTreeMap<usize, (String, Arc<str>)>,
    bytes: usize,
    /// Numbers from here on are too many.
    end: usize,
}

impl Default for PageComparisons {
    fn default() -> Self {
        Self { held: BTreeMap::new(), bytes: 0, end: MOST_COMPARISONS + 1 }
    }
}

impl PageComparisons {
    /// Keeps what a page shows of a change. The kept changes do not depend on their order: all up to the first one
    /// beyond the bound.
    pub fn add(&mut self, number: usize, key: Option<&str>, state: Option<String>) {
        let (Some(key), Some(state)) = (key, state) else { return };
        if number >= self.end {
            return;
        }
        self.bytes += state.len();
        self.held.insert(number, (key.to_owned(), state.into()));
        while self.bytes > MOST_BYTES
            && let Some((last, (_, state))) = self.held.pop_last()
        {
            self.bytes -= state.len();
            self.end = last;
        }
    }
}

/// A study from its results.
pub fn study_state(title: String, results: Vec<Finding>, comparisons: &PageComparisons) -> StudyState {
    let by_key: HashMap<&str, &Arc<str>> =
        comparisons.held.values().map(|(key, state)| (key.as_str(), state)).collect();
    let without_sandbox = Enforced::of(results.iter().map(|row| row.sandbox_lacks.as_deref())).sentence();
    let row = |finding: Finding| StudyRow {
        id: shown(&finding.id),
        verdict: finding.verdict,
        comparison: finding.key.as_ref().and_then(|key| by_key.get(key.as_str()).copied().cloned()),
        label: finding.label.as_deref().and_then(Label::of_name),
        reason: finding.reason,
        executions: finding.executions,
        coverage: finding.coverage,
        first_difference: finding.first_difference,
        complexity: finding.complexity,
        milliseconds: finding.milliseconds,
        evidence: finding.evidence,
        reproducer: finding.reproducer,
    };
    StudyState { format: STATE_FORMAT, title, without_sandbox, rows: results.into_iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str) -> Finding {
        let finding = Finding::not_compared(&Change::default(), "r".into(), 2.0);
        Finding { key: Some(key.to_owned()), ..finding }
    }

    #[test]
    fn rows_have_their_comparisons_behind_them() {
        let mut comparisons = PageComparisons::default();
        comparisons.add(1, Some("a"), Some("{\"x\": 7}".into()));
        comparisons.add(MOST_COMPARISONS + 1, Some("b"), Some("8".into()));
        let made = study_state("t".into(), vec![row("a"), row("b")], &comparisons);
        let json = serde_json::to_value(&made).unwrap();
        assert_eq!(
            (json["rows"][0]["comparison"]["x"].as_u64(), json["rows"][1]["comparison"].as_u64()),
            (Some(7), None)
        );
    }

    #[test]
    fn what_is_kept_has_a_bound_and_is_the_same_in_any_order() {
        let large = |number: usize| (number, "x".repeat(if number == 4 { MOST_BYTES / 2 } else { MOST_BYTES / 5 }));
        for order in [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1], [4, 1, 5, 2, 3], [5, 1, 4, 3, 2]] {
            let mut comparisons = PageComparisons::default();
            for (number, text) in order.map(large) {
                comparisons.add(number, Some(&number.to_string()), Some(text));
            }
            assert_eq!(comparisons.held.keys().copied().collect::<Vec<_>>(), [1, 2, 3], "{order:?}");
            assert!(comparisons.bytes <= MOST_BYTES);
        }
    }
}
