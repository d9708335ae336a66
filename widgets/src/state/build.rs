//! The state of a report.

use std::collections::HashSet;

use twincell_behavior::{EvidencePlace, Stream, bounded, display_call, display_outcome};
use twincell_compare::Replayed;
use twincell_compare::report::{
    self, Comparison, ExecutionReport, InjectedReport, LineReport, PairReport, PathReport, VersionReport, Witness,
};
use twincell_engine::observed::{Behavior, Call};
use twincell_engine::protocol::Injection;
use twincell_syntax::PerSide;
use twincell_values::reading::written_value;
use twincell_values::value::{AbstractValue, Recipe};

use super::{
    AlignedRow, Branch, CallRow, ComparisonState, Detail, DetailValue, Divergence, Evidence, Execution, InjectedValue,
    InputWeight, Line, PairState, Part, Path, Reproducer, STATE_FORMAT, Varied, VariedTogether, VariedValue, Version,
    VersionRun,
};
use crate::{wording, words};

/// Characters of one text of output.
const OUTPUT: usize = 20_000;

/// A comparison for the interactive view.
pub fn state(comparison: &Comparison) -> ComparisonState<'_> {
    ComparisonState {
        format: STATE_FORMAT,
        twincell: &comparison.twincell,
        verdict: comparison.verdict,
        sentence: wording::comparison(comparison),
        without_sandbox: words::without_sandbox(comparison),
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
    of_witness(witness, execution, &replayed.evidence.iter().collect::<Vec<_>>(), changed)
}

fn pair(pair: &PairReport, budget: u32) -> PairState<'_> {
    let marked = marked(pair);
    PairState {
        name: words::pair_name(pair),
        verdict: pair.verdict,
        mark: words::mark(pair),
        rank: words::rank(pair),
        sentence: wording::pair(pair),
        reason: words::reason(pair),
        facts: words::facts(pair, budget),
        notes: pair.notes.iter().map(wording::note).collect(),
        decided_by: wording::decided_by(pair),
        accepted: pair.accepted.as_deref(),
        executed: pair.executed,
        old: version(&pair.old, &marked.old),
        new: version(&pair.new, &marked.new),
        rows: pair.rows.iter().map(|row| AlignedRow { old: row.old, new: row.new }).collect(),
        executions: pair.executions.iter().map(execution).collect(),
        line_sets: &pair.line_sets,
        paths: pair.paths.iter().map(path).collect(),
        evidence: pair.evidence.iter().map(Evidence::from).collect(),
        varied: pair.witness.iter().flat_map(|witness| &witness.varied).map(varied).collect(),
        varied_together: pair
            .witness
            .as_ref()
            .and_then(|witness| witness.varied_together.as_ref())
            .map(varied_together),
        input_weights: pair.witness.iter().flat_map(|witness| &witness.input_weights).map(input_weight).collect(),
        shown: pair.witness.as_ref().map(|witness| {
            of_witness(witness, Some(witness.execution), &words::evidence_of(pair, witness), &witness.chosen)
        }),
        role: pair.witness.as_ref().map(|witness| words::witness_role(pair, witness)),
        reproducer: pair.reproducer.as_ref().map(|made| Reproducer {
            source: made.source.as_deref(),
            holds: made.holds,
            reason: made.why_not.as_deref(),
        }),
    }
}

fn execution(execution: &ExecutionReport) -> Execution<'_> {
    Execution {
        number: execution.number,
        old: &execution.old,
        new: &execution.new,
        old_valid: execution.old_valid,
        new_valid: execution.new_valid,
        differs: execution.differs,
        examined: execution.examined,
        new_lines: execution.new_lines,
        coverage_so_far: execution.coverage_so_far,
        microseconds: execution.microseconds,
        example: execution.example.as_ref().map(ToString::to_string),
        lines: execution.lines,
    }
}

fn injected_value(value: &InjectedReport) -> InjectedValue<'_> {
    InjectedValue {
        value: &value.value,
        class: value.class,
        count: value.count,
        differing: value.differing,
        invalid: value.invalid,
    }
}

fn path(path: &PathReport) -> Path<'_> {
    Path {
        path: &path.path,
        kind: path.kind.map(|kind| words::kind_name(Some(kind))),
        version: path.version,
        line: path.line,
        predicted: &path.predicted,
        injected: path.injected.iter().map(injected_value).collect(),
        more: path.more,
    }
}

/// The places that the view looks up in evidence.
const OUTPUTS: [EvidencePlace; 2] =
    [EvidencePlace::Output { stream: Stream::Stdout }, EvidencePlace::Output { stream: Stream::Stderr }];

impl From<&report::Evidence> for Evidence {
    fn from(one: &report::Evidence) -> Self {
        Self {
            channel: one.channel,
            place: one.place.clone(),
            at: one.at.clone().or_else(|| OUTPUTS.into_iter().find(|output| one.is_at(output))),
            old: one.old.clone(),
            new: one.new.clone(),
            strength: one.strength,
            probability: one.probability,
            edge_case: one.edge_case,
            score: one.score,
            execution: one.execution,
        }
    }
}

/// The numbers of the lines that are shown as part of the change.
fn marked(pair: &PairReport) -> PerSide<HashSet<u32>> {
    let mut marked = PerSide::<HashSet<u32>>::default();
    for row in &pair.rows {
        let (old, new) = words::row_lines(pair, row);
        let of = |line: Option<&LineReport>, other| {
            line.filter(|line| words::is_marked(line, other)).map(|line| line.number)
        };
        marked.old.extend(of(old, new));
        marked.new.extend(of(new, old));
    }
    marked
}

fn version<'a>(version: &'a VersionReport, marked: &HashSet<u32>) -> Version<'a> {
    Version {
        qualname: &version.qualname,
        lines: (version.lines.iter())
            .map(|line| Line {
                number: line.number,
                text: &line.text,
                changed: marked.contains(&line.number),
                executable: line.executable,
                executions: line.executions,
                hits: line.witness_hits,
            })
            .collect(),
        coverage: version.coverage,
        changed_lines: version.changed_lines,
        changed_lines_reached: version.changed_lines_reached,
        first_line: version.first_line.max(1),
        parts: (version.parts.iter())
            .map(|part| Part {
                number: part.number,
                first_line: part.first_line,
                elsewhere: words::part_text(&part.text),
            })
            .collect(),
        branches: (version.branches.iter())
            .map(|branch| Branch { line: branch.line, taken: branch.taken, not_taken: branch.not_taken })
            .collect(),
    }
}

fn of_witness(witness: &Witness, execution: Option<u32>, evidence: &[&report::Evidence], changed: &[String]) -> Detail {
    let value = |injection: &Injection| DetailValue {
        path: injection.path.to_string(),
        value: bounded(&injection.value.display()),
        class: injection.value.abstract_value(),
        probability: injection.probability,
        version: injection.version,
        line: injection.line,
        decisive: witness.decisive.iter().any(|path| injection.path == *path),
        literal: literal(&injection.value),
        is_object: matches!(injection.value, Recipe::Mock(_)),
        changed: changed.iter().any(|path| injection.path == **path),
    };
    let text = |call: &Option<Call>| call.as_ref().map(display_call);
    Detail {
        execution,
        differs: !evidence.is_empty(),
        valid: witness.old.outcome.is_valid() && witness.new.outcome.is_valid(),
        evidence: evidence.iter().copied().map(Evidence::from).collect(),
        old: version_run(&witness.old),
        new: version_run(&witness.new),
        final_values: words::final_values(&witness.old, &witness.new, evidence),
        values: witness.injections.iter().map(value).collect(),
        calls: (witness.calls.iter())
            .map(|row| CallRow { old: text(&row.old), new: text(&row.new), equal: row.equal })
            .collect(),
        parting: witness.parting.map(|parting| Divergence {
            old_line: parting.old_line,
            new_line: parting.new_line,
            old_hits: parting.old_hits,
            new_hits: parting.new_hits,
        }),
    }
}

fn varied(varied: &report::Varied) -> Varied {
    let value = |value: &report::VariedValue| VariedValue {
        value: value.value.clone(),
        outcome: value.outcome,
        old: value.old.clone(),
        new: value.new.clone(),
    };
    Varied {
        path: varied.path.clone(),
        sentence: wording::varied(varied),
        is_numeric: varied.values.iter().all(|value| value.number.is_some()),
        values: varied.values.iter().map(value).collect(),
    }
}

fn varied_together(together: &report::VariedTogether) -> VariedTogether {
    VariedTogether {
        paths: together.paths.clone(),
        values: together.values.clone(),
        outcomes: together.outcomes.clone(),
    }
}

fn input_weight(weight: &report::InputWeight) -> InputWeight {
    InputWeight { path: weight.path.clone(), tried: weight.tried, gone: weight.gone }
}

fn version_run(behavior: &Behavior) -> VersionRun {
    let cut = |text: &str| text.chars().take(OUTPUT).collect();
    VersionRun {
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
        let none = none.into_iter().chain([many, Recipe::Mock(AbstractValue::Object)]);
        for recipe in none.chain([Recipe::Named("math.inf".into())]) {
            assert_eq!(literal(&recipe), None, "{recipe:?}");
            assert_eq!(literal(&Recipe::List(vec![recipe])), None);
        }
    }
}
