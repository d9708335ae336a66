//! What a study says about a change: a line of the output. Nothing here reads files or runs threads.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use twincell_core::report::{Comparison, Evidence, LineReport, PairReport, Verdict};

/// What a study says about a change: a line of the output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub id: Value,
    pub verdict: Verdict,
    pub reason: String,
    pub evidence: Vec<Evidence>,
    pub executions: u32,
    /// Share of executable lines of both versions that ran, 0 to 1.
    pub coverage: f64,
    /// Share of changed lines of both versions that ran, 0 to 1; null when no line that runs was changed.
    pub changed_lines_reached: Option<f64>,
    pub milliseconds: f64,
    /// `holds`, `unknown: why` or `none: why`; null where nothing changed.
    pub reproducer: Option<String>,
}

impl Finding {
    pub fn new(id: Value, comparison: &Comparison, milliseconds: f64) -> Self {
        let pairs = &comparison.pairs;
        let decisive = pairs.iter().find(|pair| pair.verdict == comparison.verdict);
        let lines = || pairs.iter().flat_map(|pair| pair.old.lines.iter().chain(&pair.new.lines));
        let ran = |wanted: &dyn Fn(&LineReport) -> bool| {
            let of_interest = lines().filter(|line| line.executable && wanted(line));
            let (ran, all) =
                of_interest.fold((0, 0), |(ran, all), line| (ran + u32::from(line.executions > 0), all + 1));
            (all > 0).then(|| f64::from(ran) / f64::from(all))
        };
        Self {
            id,
            verdict: comparison.verdict,
            reason: decisive.map_or(&comparison.sentence, |pair| &pair.reason).clone(),
            evidence: comparison.evidence().cloned().collect(),
            executions: pairs.iter().map(executions).sum(),
            coverage: ran(&|_| true).map_or(0.0, thousandths),
            changed_lines_reached: ran(&|line| line.changed).map(thousandths),
            milliseconds: thousandths(milliseconds),
            reproducer: pairs
                .iter()
                .find(|pair| pair.verdict == Verdict::Changing)
                .map(|pair| crate::reproducers::status(pair.reproducer.as_ref())),
        }
    }

    /// For a change that could not be compared.
    pub fn failed(id: Value, reason: String, milliseconds: f64) -> Self {
        Self {
            id,
            verdict: Verdict::Inconclusive,
            reason,
            evidence: Vec::new(),
            executions: 0,
            coverage: 0.0,
            changed_lines_reached: None,
            milliseconds: thousandths(milliseconds),
            reproducer: None,
        }
    }
}

fn executions(pair: &PairReport) -> u32 {
    pair.executed
}

fn thousandths(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{comparison, line, pair};

    #[test]
    fn shares_are_of_executable_lines_of_both_versions() {
        let mut pair = pair(Verdict::LikelyPreserving);
        pair.old.lines = vec![line(1, false, true, 3), line(2, true, true, 0), line(3, true, false, 0)];
        pair.new.lines = vec![line(1, false, true, 3), line(2, true, true, 2)];
        let finding = Finding::new(Value::from(1), &comparison(vec![pair]), 1.23456);
        assert_eq!(finding.coverage, 0.75);
        assert_eq!(finding.changed_lines_reached, Some(0.5));
        assert_eq!(finding.milliseconds, 1.235);
    }

    #[test]
    fn the_reason_is_that_of_the_pair_that_decided() {
        let mut changing = pair(Verdict::Changing);
        changing.reason = "returns differ".to_owned();
        let finding = Finding::new(Value::Null, &comparison(vec![pair(Verdict::Identical), changing]), 0.0);
        assert_eq!((finding.verdict, finding.reason.as_str()), (Verdict::Changing, "returns differ"));
        assert_eq!(Finding::new(Value::Null, &comparison(vec![]), 0.0).changed_lines_reached, None);
    }

    #[test]
    fn the_output_has_the_documented_fields() {
        let finding = Finding::new(Value::from("x"), &comparison(vec![pair(Verdict::LikelyPreserving)]), 0.0);
        let json = serde_json::to_value(&finding).unwrap();
        let names: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
        let documented = "id verdict reason evidence executions coverage changed_lines_reached milliseconds reproducer";
        assert_eq!(names.join(" "), documented);
        assert_eq!(json["verdict"], "likely_preserving");
    }
}
