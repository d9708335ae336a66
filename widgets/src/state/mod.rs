//! What the interactive view gets: a report as texts, numbers and lists, in the words of people. Everything that came
//! from user code is plain text here; the view never takes it for markup.
//!
//! The view's types are made from these: [`typescript`] writes `widgets/js/src/state.ts`. [`build`] makes the state of a
//! report.

mod build;
#[cfg(test)]
pub(crate) mod typescript;

use std::sync::Arc;

use serde::{Serialize, Serializer};

use twincell_behavior::{Channel, EvidencePlace, Strength};
use twincell_compare::report::{self, VariedOutcome};
use twincell_compare::verdict::Verdict;
use twincell_values::value::AbstractValue;

use crate::label::Label;
use crate::notices::NoticeLine;
use crate::words::FinalValue;

pub use build::{detail, state};

/// The version of the state's format. The view refuses any other.
pub const STATE_FORMAT: u32 = 6;

/// A comparison.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ComparisonState<'a> {
    /// [`STATE_FORMAT`].
    format: u32,
    twincell: &'a str,
    #[cfg_attr(test, ts(as = "typescript::Verdict"))]
    verdict: Verdict,
    sentence: String,
    /// A sentence where the code ran without a complete sandbox.
    without_sandbox: Option<String>,
    predictor: &'a str,
    /// As text, since it may be greater than JavaScript's integers.
    seed: String,
    budget: u32,
    milliseconds: f64,
    added: &'a [String],
    removed: &'a [String],
    pairs: Vec<PairState<'a>>,
    /// Names of the classes, in the order of [`Path::predicted`].
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    classes: [&'static str; AbstractValue::COUNT],
}

/// One function, class or snippet in both versions.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct PairState<'a> {
    name: String,
    #[cfg_attr(test, ts(as = "typescript::Verdict"))]
    verdict: Verdict,
    /// Its sign and its word: those of the verdict, or those that say that it is accepted or that other pairs decide in its place.
    mark: (&'static str, &'static str),
    /// Its rank among the pairs: lower ranks come first.
    rank: u8,
    sentence: String,
    /// The reason, if the sentence does not give it.
    reason: Option<String>,
    /// Figures of what was executed, as (name, value).
    facts: Vec<(&'static str, String)>,
    notes: Vec<String>,
    /// Qualified names of the pairs that decide in its place.
    decided_by: Vec<String>,
    /// Why somebody accepted its difference.
    accepted: Option<&'a str>,
    executed: u32,
    old: Version<'a>,
    new: Version<'a>,
    /// Both versions side by side.
    rows: Vec<AlignedRow>,
    executions: Vec<Execution<'a>>,
    /// Lines of old and of new that ran; [`Execution::lines`] is an index into it.
    line_sets: &'a [[Vec<u32>; 2]],
    paths: Vec<Path<'a>>,
    evidence: Vec<Evidence>,
    /// What other values of decisive inputs show, one input at a time, with all else as in the witness.
    varied: Vec<Varied>,
    /// What other values of two decisive numbers show, both at a time.
    varied_together: Option<VariedTogether>,
    /// How much each input matters, the ones that matter most first. Empty where fewer than two could be varied.
    input_weights: Vec<InputWeight>,
    /// The witness, or the execution with the most coverage.
    shown: Option<Detail>,
    /// Why this execution is shown.
    role: Option<&'static str>,
    reproducer: Option<Reproducer<'a>>,
}

/// One version of a pair.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Version<'a> {
    qualname: &'a str,
    lines: Vec<Line<'a>>,
    coverage: f64,
    changed_lines: u32,
    changed_lines_reached: u32,
    /// The number that the first line has in the file.
    first_line: u32,
    /// Where in `lines` other functions begin, ascending.
    parts: Vec<Part>,
    branches: Vec<Branch>,
}

/// A function that is listed behind a version's own text, since it is observed with it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Part {
    /// [`Line::number`] of its first line.
    number: u32,
    /// The number that this line has in its file.
    first_line: u32,
    /// What holds it, for people. None if it is the text of the version.
    elsewhere: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Line<'a> {
    /// Counted from 1.
    number: u32,
    text: &'a str,
    /// Whether it is shown as part of the change.
    changed: bool,
    executable: bool,
    /// The number of executions that ran the line.
    executions: u32,
    /// How often it ran in the execution that is shown first.
    hits: u32,
}

/// Executions in which the condition at this line was true, and false.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Branch {
    line: u32,
    taken: u32,
    not_taken: u32,
}

/// Indices into the lines of both versions. None if a version has no line there.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct AlignedRow {
    old: Option<u32>,
    new: Option<u32>,
}

/// One execution in short.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Execution<'a> {
    /// Counted from 1.
    number: u32,
    old: &'a str,
    new: &'a str,
    old_valid: bool,
    new_valid: bool,
    differs: bool,
    /// False if it showed a difference that was not repeated, so that nothing is said about it.
    examined: bool,
    /// Lines that no earlier execution ran.
    new_lines: u32,
    coverage_so_far: f64,
    microseconds: u32,
    /// The example on whose values it ran.
    example: Option<String>,
    /// Index into [`PairState::line_sets`].
    lines: u32,
}

/// A difference in one channel.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Evidence {
    #[cfg_attr(test, ts(as = "typescript::Channel"))]
    channel: Channel,
    place: String,
    /// The place as data; null in evidence older than format 5, except for outputs.
    #[cfg_attr(test, ts(as = "Option<typescript::EvidencePlace>"))]
    at: Option<EvidencePlace>,
    old: String,
    new: String,
    #[cfg_attr(test, ts(as = "typescript::Strength"))]
    strength: Strength,
    probability: f64,
    edge_case: bool,
    score: f64,
    /// The number of the execution that shows it.
    execution: u32,
}

/// The values that entered under one access path.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Path<'a> {
    path: &'a str,
    /// None for a parameter.
    kind: Option<&'static str>,
    /// 0 is old, 1 is new.
    #[cfg_attr(test, ts(type = "0 | 1"))]
    version: u8,
    line: u32,
    /// A probability for each class. May be empty.
    predicted: &'a [f32],
    /// The most frequent first, bounded.
    injected: Vec<InjectedValue<'a>>,
    /// The number of further values.
    more: u32,
}

/// A value, with the executions that had it: all of them, those that differ, and those that say nothing.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct InjectedValue<'a> {
    value: &'a str,
    #[cfg_attr(test, ts(as = "String"))]
    class: AbstractValue,
    count: u32,
    differing: u32,
    invalid: u32,
}

/// The pytest file that shows the difference, or the reason why there is none.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Reproducer<'a> {
    source: Option<&'a str>,
    holds: Option<bool>,
    reason: Option<&'a str>,
}

/// One execution in full.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Detail {
    /// Its number. None if values were changed.
    execution: Option<u32>,
    differs: bool,
    valid: bool,
    evidence: Vec<Evidence>,
    old: VersionRun,
    new: VersionRun,
    final_values: Vec<FinalValue>,
    values: Vec<DetailValue>,
    calls: Vec<CallRow>,
    parting: Option<Divergence>,
}

/// The first line that both versions have in common and did not run equally often.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Divergence {
    old_line: u32,
    new_line: u32,
    old_hits: u32,
    new_hits: u32,
}

/// Values of one input, with all else the same.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Varied {
    path: String,
    sentence: String,
    /// Whether all values are numbers, ascending.
    is_numeric: bool,
    values: Vec<VariedValue>,
}

/// What both versions do on a value.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct VariedValue {
    value: String,
    #[cfg_attr(test, ts(as = "typescript::VariedOutcome"))]
    outcome: VariedOutcome,
    old: String,
    new: String,
}

/// Two numbers varied at the same time, with all else the same.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct VariedTogether {
    /// Their access paths.
    paths: [String; 2],
    /// The values of each, ascending.
    values: [Vec<String>; 2],
    /// What each pair of values shows: a row for each value of the first.
    #[cfg_attr(test, ts(as = "Vec<Vec<typescript::VariedOutcome>>"))]
    outcomes: Vec<Vec<VariedOutcome>>,
}

/// How often the difference goes away with another value of one input, with all else the same.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct InputWeight {
    path: String,
    /// The other values that say something.
    tried: u32,
    /// Those of them that show no difference.
    gone: u32,
}

/// What one version did in an execution.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct VersionRun {
    outcome: String,
    valid: bool,
    stdout: String,
    stderr: String,
    log: Vec<String>,
    /// (line, times), ascending.
    hits: Vec<(u32, u32)>,
}

/// A value that was injected into both versions.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct DetailValue {
    path: String,
    value: String,
    #[cfg_attr(test, ts(as = "String"))]
    class: AbstractValue,
    probability: f32,
    /// 0 is old, 1 is new.
    #[cfg_attr(test, ts(type = "0 | 1"))]
    version: u8,
    line: u32,
    decisive: bool,
    /// As Python would write it, in full, so that a person can put another one in its place; none where it cannot be
    /// written, or not in so many characters.
    literal: Option<String>,
    /// Whether it is an object of which nothing is known, which can be given attributes.
    is_object: bool,
    /// Whether a person chose it.
    changed: bool,
}

/// Corresponding calls of both versions to external code.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct CallRow {
    old: Option<String>,
    new: Option<String>,
    equal: bool,
}

/// A study, with one row for each change.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StudyState {
    /// [`STATE_FORMAT`].
    pub format: u32,
    pub title: String,
    /// A sentence if the study was stopped before its end.
    pub unfinished: Option<String>,
    /// A sentence where code ran without a complete sandbox.
    pub without_sandbox: Option<String>,
    /// What is to say beside the verdicts, the weightiest first.
    pub notices: Vec<NoticeLine>,
    pub rows: Vec<StudyRow>,
}

/// One change of a study.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StudyRow {
    pub id: String,
    /// Where it comes from, as far as the input says so.
    pub project: Option<String>,
    pub commit: Option<String>,
    pub file: Option<String>,
    /// The qualified name of the function.
    pub function: Option<String>,
    /// When it was committed, as the input says it.
    pub date: Option<String>,
    /// What kind of change it is.
    pub kind: Option<String>,
    #[cfg_attr(test, ts(as = "typescript::Verdict"))]
    pub verdict: Verdict,
    /// The label, if somebody gave one.
    pub label: Option<Label>,
    pub reason: String,
    pub executions: u32,
    /// The share of executable lines that ran, 0 to 1.
    pub coverage: f64,
    /// Number of the first execution that differs.
    pub first_difference: Option<u32>,
    /// Cyclomatic complexity of the new version.
    pub complexity: Option<u32>,
    pub milliseconds: f64,
    #[serde(serialize_with = "as_state")]
    #[cfg_attr(test, ts(as = "Vec<Evidence>"))]
    pub evidence: Vec<report::Evidence>,
    /// The status of the reproducer, e.g. `holds`.
    pub reproducer: Option<String>,
    /// Whether its comparison was kept. It lies apart from the rows, packed, and the view asks for it when the row is
    /// opened.
    #[serde(rename = "kept", serialize_with = "is_kept")]
    #[cfg_attr(test, ts(rename = "kept", as = "bool"))]
    pub comparison: Option<Arc<str>>,
}

#[expect(clippy::ref_option, reason = "serde asks for it")]
fn is_kept<S: Serializer>(comparison: &Option<Arc<str>>, serializer: S) -> Result<S::Ok, S::Error> {
    comparison.is_some().serialize(serializer)
}

/// Evidence of a report in the form in which the view knows it.
fn as_state<S: Serializer>(evidence: &[report::Evidence], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(evidence.iter().map(Evidence::from))
}
