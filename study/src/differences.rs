//! The differences between two studies of the same changes: two runs, two models, two versions of twincell.

use std::collections::{BTreeMap, BTreeSet};

use twincell_behavior::{Channel, Strength};
use twincell_compare::verdict::Verdict;
use twincell_widgets::{Differences, DifferingRow};

use crate::change::shown;
use crate::finding::Finding;

/// Compares two studies row by row. Rows with the same id belong together; if an id repeats, the second belongs to the
/// second. Evidence differs if it is in other places or of another strength. The values that show it depend on the
/// seed.
pub fn differences(titles: [String; 2], first: &[Finding], second: &[Finding]) -> Differences {
    let mut others: BTreeMap<String, &Finding> = numbered(second).collect();
    let mut found = Differences { titles, both: 0, rows: vec![], only: [vec![], vec![]], first: [vec![], vec![]] };
    let mut met = BTreeSet::new();
    for (name, one) in numbered(first) {
        let Some(other) = others.remove(&name) else {
            found.only[0].push(shown(&one.id));
            continue;
        };
        met.insert(name);
        found.both += 1;
        for (row, executions) in [one, other].into_iter().zip(&mut found.first) {
            executions.extend(row.first_difference.filter(|_| row.verdict == Verdict::Changing));
        }
        if one.verdict != other.verdict || places(one) != places(other) {
            found.rows.push(DifferingRow {
                id: one.id.clone(),
                verdict: [one.verdict, other.verdict],
                reason: [one.reason.clone(), other.reason.clone()],
                evidence: [one.evidence.clone(), other.evidence.clone()],
            });
        }
    }
    found.first.iter_mut().for_each(|executions| executions.sort_unstable());
    found.only[1].extend(numbered(second).filter(|(name, _)| !met.contains(name)).map(|(_, other)| shown(&other.id)));
    found
}

/// Rows, each with a name that no other row has.
fn numbered(rows: &[Finding]) -> impl Iterator<Item = (String, &Finding)> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    rows.iter().map(move |row| {
        let id = shown(&row.id);
        let time = times.entry(id.clone()).or_default();
        *time += 1;
        (format!("{time} {id}"), row)
    })
}

fn places(row: &Finding) -> BTreeSet<(Channel, &str, Strength)> {
    row.evidence.iter().map(|one| (one.channel, one.place.as_str(), one.strength)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(id: &str, verdict: &str, place: &str) -> Finding {
        let evidence = json!([{"channel": "return", "place": place, "old": "1", "new": "2", "strength": "observable",
            "probability": 1.0, "edge_case": false, "score": 1.0, "execution": 1}]);
        let evidence = if place.is_empty() { json!([]) } else { evidence };
        let row = json!({"id": id, "verdict": verdict, "reason": "r", "evidence": evidence, "executions": 1,
            "coverage": 1.0, "changed_lines_reached": null, "milliseconds": 1.0, "reproducer": null});
        serde_json::from_value(row).unwrap()
    }

    fn between(first: &[Finding], second: &[Finding]) -> Differences {
        differences(["one".into(), "other".into()], first, second)
    }

    #[test]
    fn verdicts_and_places_of_evidence_differ_and_values_do_not() {
        let first = [row("a", "changing", "return value"), row("b", "changing", "x"), row("c", "identical", "")];
        let mut second = [row("c", "identical", ""), row("b", "changing", "y"), row("a", "likely_preserving", "")];
        let found = between(&first, &second);
        let ids: Vec<_> = found.rows.iter().map(|row| row.id.as_str().unwrap()).collect();
        assert_eq!((ids, found.both, found.verdicts()), (vec!["a", "b"], 3, 1));
        assert_eq!(found.moves(), [(Verdict::Changing, Verdict::LikelyPreserving, 1)]);
        second[1] = row("b", "changing", "x");
        second[1].evidence[0].old = "5".into();
        assert_eq!(between(&first, &second).rows.len(), 1);
    }

    #[test]
    fn ids_that_repeat_meet_in_order_and_those_of_one_study_are_named() {
        let first = [row("a", "changing", ""), row("a", "identical", ""), row("b", "identical", "")];
        let second = [row("a", "changing", ""), row("a", "changing", ""), row("d", "identical", "")];
        let found = between(&first, &second);
        assert_eq!(found.rows.len(), 1);
        assert_eq!(found.only, [vec!["b".to_owned()], vec!["d".to_owned()]]);
        assert_eq!(
            found.sentence(),
            "1 of 2 changes differ: 1 in the verdict, 0 in the evidence alone; 1 change only in the first; 1 change only \
             in the second."
        );
    }
}
