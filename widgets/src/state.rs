//! What the interactive view gets: a report as texts, numbers and lists, in the words of people. `widgets/js/src/types.ts`
//! has the same types. Everything that came from user code is plain text here; the view never takes it for markup.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use twincell_behavior::{bounded, display_call, display_outcome};
use twincell_compare::Replayed;
use twincell_compare::report::{
    BranchReport, Comparison, Evidence, ExecutionReport, InjectedReport, PairReport, VersionReport, Witness,
};
use twincell_compare::verdict::Verdict;
use twincell_engine::observed::{Behavior, Call};
use twincell_engine::protocol::Injection;
use twincell_syntax::AlignedRow;
use twincell_values::reading::written_value;
use twincell_values::value::{AbstractValue, Recipe};

use crate::words::{self, Left};

/// Version of the state's shape: the view refuses another one.
pub const STATE_FORMAT: u32 = 1;

/// Characters of one text of output.
const OUTPUT: usize = 20_000;

#[derive(Debug, Serialize)]
pub struct ComparisonState<'a> {
    format: u32,
    twincell: &'a str,
    verdict: Verdict,
    sentence: &'a str,
    predictor: &'a str,
    /// As text: it may be greater than what JavaScript counts to.
    seed: String,
    budget: u32,
    milliseconds: f64,
    added: &'a [String],
    removed: &'a [String],
    pairs: Vec<PairState<'a>>,
    /// Names of the classes, in the order of `predicted`.
    classes: [&'static str; AbstractValue::COUNT],
}

#[derive(Debug, Serialize)]
struct PairState<'a> {
    name: String,
    verdict: Verdict,
    /// Its sign and its word: the verdict's, or that others decide in its place.
    mark: (&'static str, &'static str),
    /// Where it stands among the pairs: the less, the sooner.
    rank: u8,
    sentence: &'a str,
    /// Why, where the sentence does not say it.
    reason: Option<String>,
    /// What was executed, as (name, value).
    facts: Vec<(&'static str, String)>,
    notes: &'a [String],
    /// Qualified names of those that decide in its place.
    decided_by: &'a [String],
    executed: u32,
    old: VersionState<'a>,
    new: VersionState<'a>,
    rows: &'a [AlignedRow],
    executions: &'a [ExecutionReport],
    line_sets: &'a [[Vec<u32>; 2]],
    paths: Vec<PathState<'a>>,
    evidence: &'a [Evidence],
    /// The witness, or the execution with the most coverage.
    shown: Option<Detail>,
    /// Why that one is shown.
    role: Option<&'static str>,
    reproducer: Option<ReproducerState<'a>>,
}

#[derive(Debug, Serialize)]
struct VersionState<'a> {
    qualname: &'a str,
    lines: Vec<LineState<'a>>,
    coverage: f64,
    changed_lines: u32,
    changed_lines_reached: u32,
    branches: &'a [BranchReport],
}

#[derive(Debug, Serialize)]
struct LineState<'a> {
    number: u32,
    text: &'a str,
    changed: bool,
    executable: bool,
    executions: u32,
    hits: u32,
}

#[derive(Debug, Serialize)]
struct PathState<'a> {
    path: &'a str,
    kind: Option<&'static str>,
    version: u8,
    line: u32,
    predicted: &'a [f32],
    injected: &'a [InjectedReport],
    more: u32,
}

#[derive(Debug, Serialize)]
struct ReproducerState<'a> {
    source: Option<&'a str>,
    holds: Option<bool>,
    reason: Option<&'a str>,
}

/// One execution in full.
#[derive(Debug, Serialize)]
pub struct Detail {
    /// Its number; `None` where values were changed.
    execution: Option<u32>,
    differs: bool,
    valid: bool,
    evidence: Vec<Evidence>,
    old: Side,
    new: Side,
    /// Arguments after the call, names that a snippet binds, members of an object.
    left: Vec<Left>,
    values: Vec<Value>,
    calls: Vec<CallState>,
}

#[derive(Debug, Serialize)]
struct Side {
    outcome: String,
    valid: bool,
    stdout: String,
    stderr: String,
    log: Vec<String>,
    /// (line, times), ascending.
    hits: Vec<(u32, u32)>,
}

#[derive(Debug, Serialize)]
struct Value {
    path: String,
    value: String,
    class: AbstractValue,
    probability: f32,
    version: u8,
    line: u32,
    decisive: bool,
    /// As Python would write it, in full, so that a person can put another one in its place; `None` where it cannot be
    /// written, or not in so many characters.
    literal: Option<String>,
    /// A person chose it.
    changed: bool,
}

#[derive(Debug, Serialize)]
struct CallState {
    old: Option<String>,
    new: Option<String>,
    equal: bool,
}

/// A study: one row a change.
#[derive(Debug, Clone, Serialize)]
pub struct StudyState {
    pub format: u32,
    pub title: String,
    pub rows: Vec<StudyRow>,
}

#[derive(Debug, Clone, Serialize)]
pub struct StudyRow {
    pub id: String,
    pub verdict: Verdict,
    /// Where somebody gave one; what is none of those is none.
    #[serde(serialize_with = "known_label")]
    pub label: Option<String>,
    pub reason: String,
    pub executions: u32,
    /// Share of executable lines that ran, 0 to 1.
    pub coverage: f64,
    /// Number of the first execution that differs.
    pub first_difference: Option<u32>,
    /// Cyclomatic complexity of the new version.
    pub complexity: Option<u32>,
    pub milliseconds: f64,
    pub evidence: Vec<Evidence>,
    /// What became of the reproducer, e.g. `holds`.
    pub reproducer: Option<String>,
    /// A [`ComparisonState`] as JSON, where it was kept: a text, which is a fifth of what it takes otherwise.
    #[serde(serialize_with = "as_json")]
    pub comparison: Option<Arc<str>>,
}

/// What a text of JSON holds.
#[expect(clippy::ref_option, reason = "serde asks for it")]
fn as_json<S: Serializer>(text: &Option<Arc<str>>, serializer: S) -> Result<S::Ok, S::Error> {
    text.as_deref().and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok()).serialize(serializer)
}

/// The labels that there are.
const LABELS: [&str; 3] = ["changing", "preserving", "unclear"];

#[expect(clippy::ref_option, reason = "serde asks for it")]
fn known_label<S: Serializer>(label: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    label.as_deref().filter(|label| LABELS.contains(label)).serialize(serializer)
}

/// A comparison for the interactive view.
pub fn state(comparison: &Comparison) -> ComparisonState<'_> {
    ComparisonState {
        format: STATE_FORMAT,
        twincell: &comparison.twincell,
        verdict: comparison.verdict,
        sentence: &comparison.sentence,
        predictor: &comparison.predictor,
        seed: comparison.seed.to_string(),
        budget: comparison.budget,
        milliseconds: comparison.milliseconds,
        added: &comparison.added,
        removed: &comparison.removed,
        pairs: comparison.pairs.iter().map(|one| pair(one, comparison.budget)).collect(),
        classes: AbstractValue::ALL.map(AbstractValue::name),
    }
}

/// An execution that was replayed: as it was, or with other values. `changed` are the access paths whose values a person
/// chose.
pub fn detail(replayed: &Replayed, is_as_it_was: bool, changed: &[String]) -> Detail {
    let witness = &replayed.witness;
    let execution = is_as_it_was.then_some(witness.execution);
    of_witness(witness, execution, &replayed.evidence, changed)
}

fn pair(pair: &PairReport, budget: u32) -> PairState<'_> {
    let path = |path: &'_ twincell_compare::report::PathReport| words::kind_name(path.kind);
    PairState {
        name: words::pair_name(pair),
        verdict: pair.verdict,
        mark: words::mark(pair),
        rank: words::rank(pair),
        sentence: &pair.sentence,
        reason: words::reason(pair),
        facts: words::facts(pair, budget),
        notes: &pair.notes,
        decided_by: &pair.decided_by,
        executed: pair.executed,
        old: version(&pair.old),
        new: version(&pair.new),
        rows: &pair.rows,
        executions: &pair.executions,
        line_sets: &pair.line_sets,
        paths: (pair.paths.iter())
            .map(|one| PathState {
                path: &one.path,
                kind: one.kind.map(|_| path(one)),
                version: one.version,
                line: one.line,
                predicted: &one.predicted,
                injected: &one.injected,
                more: one.more,
            })
            .collect(),
        evidence: &pair.evidence,
        shown: pair.witness.as_ref().map(|witness| {
            let own = pair.evidence.iter().filter(|evidence| evidence.execution == witness.execution);
            of_witness(witness, Some(witness.execution), &own.cloned().collect::<Vec<_>>(), &[])
        }),
        role: pair.witness.as_ref().map(|witness| words::witness_role(pair, witness)),
        reproducer: pair.reproducer.as_ref().map(|made| ReproducerState {
            source: made.source.as_deref(),
            holds: made.holds,
            reason: made.why_not.as_deref(),
        }),
    }
}

fn version(version: &VersionReport) -> VersionState<'_> {
    VersionState {
        qualname: &version.qualname,
        lines: (version.lines.iter())
            .map(|line| LineState {
                number: line.number,
                text: &line.text,
                changed: line.changed,
                executable: line.executable,
                executions: line.executions,
                hits: line.witness_hits,
            })
            .collect(),
        coverage: version.coverage,
        changed_lines: version.changed_lines,
        changed_lines_reached: version.changed_lines_reached,
        branches: &version.branches,
    }
}

fn of_witness(witness: &Witness, execution: Option<u32>, evidence: &[Evidence], changed: &[String]) -> Detail {
    let value = |injection: &Injection| Value {
        path: injection.path.clone(),
        value: bounded(&injection.value.display()),
        class: injection.value.abstract_value(),
        probability: injection.probability,
        version: injection.version,
        line: injection.line,
        decisive: witness.decisive.contains(&injection.path),
        literal: literal(&injection.value),
        changed: changed.contains(&injection.path),
    };
    let text = |call: &Option<Call>| call.as_ref().map(display_call);
    Detail {
        execution,
        differs: !evidence.is_empty(),
        valid: witness.old.outcome.is_valid() && witness.new.outcome.is_valid(),
        evidence: evidence.to_vec(),
        old: side(&witness.old),
        new: side(&witness.new),
        left: words::left(&witness.old, &witness.new, |such| evidence.iter().any(such)),
        values: witness.injections.iter().map(value).collect(),
        calls: (witness.calls.iter())
            .map(|row| CallState { old: text(&row.old), new: text(&row.new), equal: row.equal })
            .collect(),
    }
}

fn side(behavior: &Behavior) -> Side {
    let cut = |text: &str| text.chars().take(OUTPUT).collect();
    Side {
        outcome: display_outcome(&behavior.outcome),
        valid: behavior.outcome.is_valid(),
        stdout: cut(&behavior.stdout),
        stderr: cut(&behavior.stderr),
        log: behavior.log.iter().map(|logged| format!("{}: {}", logged.level, bounded(&logged.message))).collect(),
        hits: behavior.lines.clone(),
    }
}

/// What a person could have written to get this very value.
fn literal(recipe: &Recipe) -> Option<String> {
    let text = recipe.display();
    (written_value(&text).as_ref() == Some(recipe)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_written_in_full_or_not_at_all() {
        let long = Recipe::Str("x'\u{202e}\n".repeat(500));
        for recipe in [long, Recipe::Set(vec![]), Recipe::Tuple(vec![Recipe::Int(-1)]), Recipe::Bytes(vec![0, 39])] {
            assert_eq!(written_value(&literal(&recipe).unwrap()), Some(recipe));
        }
        let many = Recipe::Str("x".repeat(10_000));
        let none = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(Recipe::Float);
        let none = none.into_iter().chain([many, Recipe::Versatile(AbstractValue::Object)]);
        for recipe in none.chain([Recipe::Named("math.inf".into())]) {
            assert_eq!(literal(&recipe), None, "{recipe:?}");
            assert_eq!(literal(&Recipe::List(vec![recipe])), None);
        }
    }
}
