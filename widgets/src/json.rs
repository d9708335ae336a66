//! A comparison as the JSON that users get: the report's data, and its sentences beside them.

use serde::Serialize;

use twincell_behavior::CallRow;
use twincell_compare::ExampleSource;
use twincell_compare::report::{
    Bound, CellNumbers, Comparison, Divergence, Evidence, ExecutionReport, Headline, InputWeight, PairReport,
    PathReport, Reason, Reproducer, Support, SuppressedReport, Varied, VariedTogether, VariedValue, VersionReport,
    Witness,
};
use twincell_compare::verdict::Verdict;
use twincell_engine::observed::Behavior;
use twincell_engine::protocol::{Context, Injection, SandboxReport};
use twincell_syntax::AlignedRow;
use twincell_values::value::Choice;

use crate::wording;

/// A [`Comparison`] as JSON; its field `format` is the version.
#[derive(Debug, Serialize)]
pub struct ComparisonJson<'a> {
    format: u32,
    twincell: &'a str,
    verdict: Verdict,
    sentence: String,
    pub pairs: Vec<PairJson<'a>>,
    added: &'a [String],
    removed: &'a [String],
    predictor: &'a str,
    seed: u64,
    budget: u32,
    sandbox: Option<&'a SandboxReport>,
    milliseconds: f64,
}

/// One compared pair.
#[derive(Debug, Serialize)]
pub struct PairJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<CellNumbers>,
    verdict: Verdict,
    reason: String,
    sentence: String,
    /// What it rests on that nothing differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    support: Option<&'a Support>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headline: Option<HeadlineJson<'a>>,
    bound: Option<Bound>,
    evidence: &'a [Evidence],
    set_aside: &'a [SuppressedReport],
    old: &'a VersionReport,
    new: &'a VersionReport,
    rows: &'a [AlignedRow],
    executed: u32,
    executions: &'a [ExecutionReport],
    line_sets: &'a [[Vec<u32>; 2]],
    paths: &'a [PathReport],
    witness: Option<WitnessJson<'a>>,
    shown_by: Option<Context>,
    decided_by: Vec<String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    uses_changed: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<&'a str>,
    reproducer: Option<&'a Reproducer>,
    lost: u32,
    predicted_by: &'a str,
    notes: Vec<String>,
    milliseconds: f64,
}

/// The parts of a headline, as texts.
#[derive(Debug, Serialize)]
struct HeadlineJson<'a> {
    call: &'a str,
    place: &'a str,
    old: Option<&'a str>,
    new: Option<&'a str>,
    conditions: Vec<String>,
    unlikely: bool,
}

#[derive(Debug, Serialize)]
struct WitnessJson<'a> {
    execution: u32,
    uses: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    methods: &'a [String],
    choices: &'a [Choice],
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<&'a ExampleSource>,
    replaced: &'a [String],
    injections: &'a [Injection],
    decisive: &'a [String],
    probabilities: &'a [f64],
    old: &'a Behavior,
    new: &'a Behavior,
    calls: &'a [CallRow],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    varied: Vec<VariedJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    varied_together: Option<&'a VariedTogether>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    input_weights: &'a [InputWeight],
    #[serde(skip_serializing_if = "Option::is_none")]
    parting: Option<Divergence>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    chosen: &'a [String],
}

#[derive(Debug, Serialize)]
struct VariedJson<'a> {
    path: &'a str,
    sentence: String,
    values: &'a [VariedValue],
}

/// The report with its sentences.
pub fn comparison_json(comparison: &Comparison) -> ComparisonJson<'_> {
    ComparisonJson {
        format: comparison.format,
        twincell: &comparison.twincell,
        verdict: comparison.verdict,
        sentence: wording::comparison(comparison),
        pairs: comparison.pairs.iter().map(pair).collect(),
        added: &comparison.added,
        removed: &comparison.removed,
        predictor: &comparison.predictor,
        seed: comparison.seed,
        budget: comparison.budget,
        sandbox: comparison.sandbox.as_ref(),
        milliseconds: comparison.milliseconds,
    }
}

fn pair(pair: &PairReport) -> PairJson<'_> {
    PairJson {
        cell: pair.cell,
        verdict: pair.verdict,
        reason: wording::reason(pair),
        sentence: wording::pair(pair),
        support: match &pair.reason {
            Reason::NoDifference { support, .. } => Some(support),
            _ => None,
        },
        headline: pair.headline.as_ref().map(headline),
        bound: pair.bound.clone(),
        evidence: &pair.evidence,
        set_aside: &pair.suppressed,
        old: &pair.old,
        new: &pair.new,
        rows: &pair.rows,
        executed: pair.executed,
        executions: &pair.executions,
        line_sets: &pair.line_sets,
        paths: &pair.paths,
        witness: pair.witness.as_ref().map(witness),
        shown_by: pair.shown_by,
        decided_by: wording::decided_by(pair),
        uses_changed: &pair.uses_changed,
        accepted: pair.accepted.as_deref(),
        reproducer: pair.reproducer.as_ref(),
        lost: pair.lost,
        predicted_by: &pair.predicted_by,
        notes: pair.notes.iter().map(wording::note).collect(),
        milliseconds: pair.milliseconds,
    }
}

fn headline(headline: &Headline) -> HeadlineJson<'_> {
    HeadlineJson {
        call: &headline.call,
        place: wording::place(&headline.contrast),
        old: headline.contrast.shown.old.as_deref(),
        new: headline.contrast.shown.new.as_deref(),
        conditions: wording::conditions(headline),
        unlikely: headline.unlikely,
    }
}

fn witness(witness: &Witness) -> WitnessJson<'_> {
    WitnessJson {
        execution: witness.execution,
        uses: &witness.uses,
        methods: &witness.methods,
        choices: &witness.choices,
        example: witness.example.as_ref(),
        replaced: &witness.replaced,
        injections: &witness.injections,
        decisive: &witness.decisive,
        probabilities: &witness.probabilities,
        old: &witness.old,
        new: &witness.new,
        calls: &witness.calls,
        varied: witness.varied.iter().map(varied).collect(),
        varied_together: witness.varied_together.as_ref(),
        input_weights: &witness.input_weights,
        parting: witness.parting,
        chosen: &witness.chosen,
    }
}

fn varied(varied: &Varied) -> VariedJson<'_> {
    VariedJson { path: &varied.path, sentence: wording::varied(varied), values: &varied.values }
}
