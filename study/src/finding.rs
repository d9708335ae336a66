//! What a study says about a change: a line of the output. Nothing here reads files or runs threads.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use twincell_compare::report::{Comparison, Evidence, LineReport, PairReport};
use twincell_compare::verdict::Verdict;
use twincell_driver::reproducers;
use twincell_engine::protocol::{Mechanism, SandboxReport};
use twincell_syntax::{change_kind, complexity};
use twincell_widgets::wording;

use crate::change::{Change, NoChange};

/// The maximum number of names in a reason.
const NAMED: usize = 5;

/// What a study says about a change: a line of the output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub id: Value,
    pub verdict: Verdict,
    pub reason: String,
    pub evidence: Vec<Evidence>,
    pub executions: u32,
    /// The share of executable lines of both versions that ran, 0 to 1.
    pub coverage: f64,
    /// The share of changed lines of both versions that ran, 0 to 1; null if no executable line was changed.
    pub changed_lines_reached: Option<f64>,
    pub milliseconds: f64,
    /// `holds`, `unknown: why` or `none: why`; null where nothing changed.
    pub reproducer: Option<String>,
    /// What the input says about the change.
    #[serde(default)]
    pub label: Option<String>,
    #[serde(default)]
    pub project: Option<String>,
    #[serde(default)]
    pub commit: Option<String>,
    #[serde(default)]
    pub date: Option<String>,
    #[serde(default)]
    pub file: Option<String>,
    #[serde(default)]
    pub function: Option<String>,
    /// The kind of change that the input names, or else the kind of code that it is in; null where neither is known.
    #[serde(default)]
    pub kind: Option<String>,
    /// The number of the first execution that differs; null if none does.
    #[serde(default)]
    pub first_difference: Option<u32>,
    /// The cyclomatic complexity of the new version; null if it is not Python.
    #[serde(default)]
    pub complexity: Option<u32>,
    /// What the code ran without, of the sandbox: empty where it was complete, null where nothing ran, and in results of
    /// earlier versions.
    #[serde(default)]
    pub sandbox_lacks: Option<Vec<Mechanism>>,
    /// A hash of everything that the result depends on ([`crate::key`]); null if the result may differ next time,
    /// because the machine failed and not the change.
    #[serde(default)]
    pub key: Option<String>,
}

impl Finding {
    pub fn new(change: &Change, comparison: &Comparison, milliseconds: f64) -> Self {
        let pairs = &comparison.pairs;
        let lines = || pairs.iter().flat_map(|pair| pair.old.lines.iter().chain(&pair.new.lines));
        let ran = |wanted: &dyn Fn(&LineReport) -> bool| {
            let of_interest = lines().filter(|line| line.executable && wanted(line));
            let (ran, all) =
                of_interest.fold((0, 0), |(ran, all), line| (ran + u32::from(line.executions > 0), all + 1));
            (all > 0).then(|| f64::from(ran) / f64::from(all))
        };
        let mut finding = Self {
            verdict: comparison.verdict,
            reason: reason(comparison),
            evidence: evidence(comparison),
            executions: pairs.iter().map(|pair| pair.executed).sum(),
            coverage: ran(&|_| true).map_or(0.0, thousandths),
            changed_lines_reached: ran(&|line| line.changed).map(thousandths),
            reproducer: pairs
                .iter()
                .find(|pair| pair.verdict == Verdict::Changing)
                .map(|pair| reproducers::status(pair.reproducer.as_ref())),
            first_difference: pairs.iter().find_map(|pair| {
                pair.executions.iter().find(|execution| execution.differs).map(|execution| execution.number)
            }),
            complexity: complexity(&change.new),
            sandbox_lacks: comparison.sandbox.as_ref().map(SandboxReport::lacking),
            ..Self::failed(Value::Null, String::new(), milliseconds)
        };
        finding.name(change);
        finding
    }

    /// For a change that could not be compared.
    pub fn not_compared(change: &Change, reason: String, milliseconds: f64) -> Self {
        let mut finding = Self::failed(Value::Null, reason, milliseconds);
        finding.complexity = complexity(&change.new);
        finding.name(change);
        finding
    }

    /// The finding for a row that is not a change.
    pub fn no_change(row: &NoChange) -> Self {
        Self::failed(row.id.clone(), row.reason(), 0.0)
    }

    /// Adds what the input says about the change, which no result depends on.
    pub fn name(&mut self, change: &Change) {
        self.id = change.id.clone();
        self.label = change.label.clone();
        self.project = change.project.clone();
        self.commit = change.commit.clone();
        self.date = change.date.clone();
        self.file = change.file.clone();
        self.function = change.function.clone();
        let of_code = || change_kind(&change.old, &change.new).map(|kind| kind.name().to_owned());
        self.kind = change.kind.clone().or_else(of_code);
    }

    fn failed(id: Value, reason: String, milliseconds: f64) -> Self {
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
            label: None,
            project: None,
            commit: None,
            date: None,
            file: None,
            function: None,
            kind: None,
            first_difference: None,
            complexity: None,
            sandbox_lacks: None,
            key: None,
        }
    }
}

/// The reason for the verdict. Of several functions, it names those that decided.
fn reason(comparison: &Comparison) -> String {
    let mut deciding = comparison.pairs.iter().filter(|pair| pair.verdict == comparison.verdict);
    let Some(first) = deciding.next() else { return wording::comparison(comparison) };
    let is_open = matches!(comparison.verdict, Verdict::Changing | Verdict::Inconclusive);
    if comparison.pairs.len() == 1 || !is_open {
        return wording::reason(first);
    }
    let others: Vec<&str> = deciding.map(|pair| pair.new.qualname.as_str()).collect();
    let mut named = others.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    if let more @ 1.. = others.len().saturating_sub(NAMED) {
        named.push_str(&format!(" and {more} more"));
    }
    let (name, word, reason) = (&first.new.qualname, comparison.verdict.name(), wording::reason(first));
    match (comparison.verdict, others.len()) {
        // The example has the name.
        (Verdict::Changing, 0) => reason,
        (Verdict::Changing, _) => format!("{reason}; also changed: {named}"),
        (_, 0) => format!("{name} is {word}: {reason}"),
        (_, 1) => format!("{name} is {word}: {reason}; so is {named}"),
        (_, _) => format!("{name} is {word}: {reason}; so are {named}"),
    }
}

/// All evidence. Of several functions, each with its name.
fn evidence(comparison: &Comparison) -> Vec<Evidence> {
    let several = comparison.pairs.len() > 1;
    let of_pair = |pair: &PairReport| {
        let name = pair.new.qualname.clone();
        let named = move |one: &Evidence| match several {
            true => Evidence { place: format!("{name}: {}", one.place), ..one.clone() },
            false => one.clone(),
        };
        pair.evidence.iter().map(named).collect::<Vec<_>>()
    };
    comparison.pairs.iter().flat_map(of_pair).collect()
}

fn thousandths(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_compare::report::Reason;
    use twincell_samples::{comparison, line, pair};

    #[test]
    fn shares_are_of_executable_lines_of_both_versions() {
        let mut pair = pair(Verdict::LikelyPreserving);
        pair.old.lines = vec![line(1, false, true, 3), line(2, true, true, 0), line(3, true, false, 0)];
        pair.new.lines = vec![line(1, false, true, 3), line(2, true, true, 2)];
        let finding = Finding::new(&Change::default(), &comparison(vec![pair]), 1.23456);
        assert_eq!(finding.coverage, 0.75);
        assert_eq!(finding.changed_lines_reached, Some(0.5));
        assert_eq!(finding.milliseconds, 1.235);
    }

    #[test]
    fn the_reason_is_that_of_the_pair_that_decided() {
        let mut changing = pair(Verdict::Changing);
        changing.reason = Reason::NotRun("returns differ".to_owned());
        let finding = Finding::new(&Change::default(), &comparison(vec![pair(Verdict::Identical), changing]), 0.0);
        assert_eq!((finding.verdict, finding.reason.as_str()), (Verdict::Changing, "returns differ"));
        assert_eq!(Finding::new(&Change::default(), &comparison(vec![]), 0.0).changed_lines_reached, None);
    }

    #[test]
    fn of_several_functions_those_that_changed_are_named() {
        let changing = |name: &str| {
            let mut pair = pair(Verdict::Changing);
            let one = serde_json::json!({"channel": "return", "place": "return value", "old": "1", "new": "2",
                "strength": "observable", "probability": 0.5, "edge_case": false, "score": 1.0, "execution": 1});
            (pair.new.qualname, pair.reason) = (name.to_owned(), Reason::NotRun("P.area(): 1 -> 2".to_owned()));
            pair.evidence = vec![serde_json::from_value(one).unwrap()];
            pair
        };
        let finding = Finding::new(&Change::default(), &comparison(vec![changing("P.area"), changing("g")]), 0.0);
        assert_eq!(finding.reason, "P.area(): 1 -> 2; also changed: g");
        let places: Vec<_> = finding.evidence.iter().map(|one| one.place.as_str()).collect();
        assert_eq!(places, ["P.area: return value", "g: return value"]);
        let alone = Finding::new(&Change::default(), &comparison(vec![changing("g")]), 0.0);
        assert_eq!((alone.reason.as_str(), alone.evidence[0].place.as_str()), ("P.area(): 1 -> 2", "return value"));
    }

    #[test]
    fn the_output_has_the_documented_fields() {
        let change = Change { id: "x".into(), new: "def f(a): return a or 1".into(), ..Change::default() };
        let finding = Finding::new(&change, &comparison(vec![pair(Verdict::LikelyPreserving)]), 0.0);
        let json = serde_json::to_value(&finding).unwrap();
        let names: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
        let documented = "id verdict reason evidence executions coverage changed_lines_reached milliseconds reproducer \
             label project commit date file function kind first_difference complexity sandbox_lacks key";
        assert_eq!(names.join(" "), documented);
        assert_eq!((json["id"].as_str(), json["complexity"].as_u64()), (Some("x"), Some(2)));
        assert_eq!(json["verdict"], "likely_preserving");
    }
}
