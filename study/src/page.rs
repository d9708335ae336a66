//! A study for views: what is kept of each comparison while the study runs, and the rows at its end.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use twincell_compare::notice::Notice;
use twincell_compare::report::Comparison;
use twincell_compare::verdict::Verdict;
use twincell_widgets::{
    Enforced, Label, Notices, STATE_FORMAT, StudyRow, StudyState, may_be_packed, notice_lines, packed, state,
};

use crate::change::{Change, shown};
use crate::finding::Finding;

/// The first changes of a study have their comparisons behind them, and so have those that alter behavior, which come
/// first where not all have room within these bounds, in bytes of the packed form.
const MOST_COMPARISONS: usize = 1000;
const LARGEST: usize = 128 << 10;
const MOST_BYTES: usize = 32 << 20;

/// What a page shows of a comparison, packed, if it is wanted and not too large.
pub fn page_state(change: &Change, comparison: &Comparison) -> Option<String> {
    if change.number > MOST_COMPARISONS && comparison.verdict != Verdict::Changing {
        return None;
    }
    Some(packed(&state(comparison))).filter(|text| text.len() <= LARGEST)
}

/// The comparisons of a study that are kept. They may come in any order.
#[derive(Default)]
pub struct PageComparisons {
    /// With the keys of their rows.
    held: BTreeMap<Rank, (String, Arc<str>)>,
    bytes: usize,
    /// From this one on there is no room.
    end: Option<Rank>,
}

/// Which comparisons are kept first: whether the change alters nothing, and its number.
type Rank = (bool, usize);

impl PageComparisons {
    /// Keeps what a page shows of a change. The kept changes do not depend on their order: all up to the first one
    /// beyond the bound.
    pub fn add(&mut self, number: usize, finding: &Finding, state: Option<String>) {
        // It may come from another machine, and goes into a page as it is.
        let state = state.filter(|text| text.len() <= LARGEST && may_be_packed(text));
        let (Some(key), Some(state)) = (&finding.key, state) else { return };
        let rank = (finding.verdict != Verdict::Changing, number);
        if self.end.is_some_and(|end| rank >= end) {
            return;
        }
        self.bytes += state.len();
        self.held.insert(rank, (key.clone(), state.into()));
        while (self.bytes > MOST_BYTES || self.held.len() > MOST_COMPARISONS)
            && let Some((last, (_, state))) = self.held.pop_last()
        {
            self.bytes -= state.len();
            self.end = Some(last);
        }
    }

    /// What is kept of the comparison behind a row.
    pub fn of(&self, finding: &Finding) -> Option<&Arc<str>> {
        let key = finding.key.as_deref()?;
        self.held.values().find(|(held, _)| held == key).map(|(_, state)| state)
    }
}

/// A study from its results. `unfinished` is a sentence if it was stopped before its end.
pub fn study_state(
    title: String,
    unfinished: Option<String>,
    results: Vec<Finding>,
    comparisons: &PageComparisons,
    notices: &[Notice],
) -> StudyState {
    let by_key: HashMap<&str, &Arc<str>> =
        comparisons.held.values().map(|(key, state)| (key.as_str(), state)).collect();
    let without_sandbox = Enforced::of(results.iter().map(|row| row.sandbox_lacks.as_deref())).sentence();
    let row = |finding: Finding| StudyRow {
        id: shown(&finding.id),
        project: finding.project,
        commit: finding.commit,
        file: finding.file,
        function: finding.function,
        date: finding.date,
        kind: finding.kind,
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
    StudyState {
        format: STATE_FORMAT,
        title,
        unfinished,
        without_sandbox,
        notices: notice_lines(Notices { all: notices, allows_changes: false }),
        rows: results.into_iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str) -> Finding {
        let finding = Finding::not_compared(&Change::default(), "r".into(), 2.0);
        Finding { key: Some(key.to_owned()), ..finding }
    }

    fn add(comparisons: &mut PageComparisons, number: usize, key: &str, verdict: Verdict, state: String) {
        comparisons.add(number, &Finding { verdict, ..row(key) }, Some(state));
    }

    fn kept(comparisons: &PageComparisons) -> Vec<usize> {
        comparisons.held.keys().map(|(_, number)| *number).collect()
    }

    #[test]
    fn rows_have_their_comparisons_behind_them() {
        let mut comparisons = PageComparisons::default();
        add(&mut comparisons, 1, "a", Verdict::Identical, "packed".into());
        let made = study_state("t".into(), None, vec![row("a"), row("b")], &comparisons, &[]);
        let of = |row: usize| made.rows[row].comparison.as_deref();
        assert_eq!((of(0), of(1)), (Some("packed"), None));
        let json = serde_json::to_value(&made).unwrap();
        assert_eq!((json["rows"][0]["kept"].as_bool(), json["rows"][1]["kept"].as_bool()), (Some(true), Some(false)));
    }

    #[test]
    fn what_is_kept_has_a_bound_and_is_the_same_in_any_order() {
        let size = |number: usize| if number.is_multiple_of(3) { LARGEST } else { LARGEST / 2 };
        let mut bytes = 0;
        let room: Vec<usize> = (1..=MOST_COMPARISONS)
            .take_while(|number| {
                bytes += size(*number);
                bytes <= MOST_BYTES
            })
            .collect();
        let all = room.len() + 50;
        let scattered = (1..=all).map(|number| number * 11 % all + 1);
        assert!(all < MOST_COMPARISONS && !all.is_multiple_of(11));
        for order in [(1..=all).collect::<Vec<_>>(), (1..=all).rev().collect(), scattered.collect()] {
            let mut comparisons = PageComparisons::default();
            for number in order {
                add(&mut comparisons, number, &number.to_string(), Verdict::Inconclusive, "x".repeat(size(number)));
            }
            assert_eq!(kept(&comparisons), room);
            assert!(comparisons.bytes <= MOST_BYTES);
        }
    }

    #[test]
    fn what_is_too_large_is_left_out_alone() {
        let mut comparisons = PageComparisons::default();
        for (number, length) in [(1, 10), (2, LARGEST + 1), (3, LARGEST)] {
            add(&mut comparisons, number, &number.to_string(), Verdict::Changing, "x".repeat(length));
        }
        assert_eq!(kept(&comparisons), [1, 3]);
    }

    #[test]
    fn changes_in_behavior_are_kept_before_others() {
        let mut comparisons = PageComparisons::default();
        for number in 1..=MOST_COMPARISONS {
            add(&mut comparisons, number, &number.to_string(), Verdict::Identical, "same".into());
        }
        add(&mut comparisons, 5000, "late", Verdict::Changing, "differs".into());
        let kept = kept(&comparisons);
        assert_eq!((kept.len(), kept[0], kept.last()), (MOST_COMPARISONS, 5000, Some(&(MOST_COMPARISONS - 1))));
    }
}
