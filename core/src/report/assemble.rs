//! Builds a [`PairReport`] from what a campaign found.

use crate::behavior::{Behavior, NO_CALL, NOTHING_LOGGED, Outcome, Rules, UNCHANGED, align_calls};
use crate::campaign::{Campaign, Decisive, Kept, Target, joint};
use crate::engine::protocol::{Context, Injection};
use crate::report::{
    Evidence, ExecutionReport, LineReport, PairReport, Verdict, VersionReport, Witness, display_decision,
    display_outcome,
};
use crate::reproduce::Reproducer;
use crate::source::{Diff, Function};
use crate::value::{Choice, Decision};
use crate::verdict::{self, EDGE_CASE};

/// Values named in a sentence at most.
const NAMED_VALUES: usize = 3;
/// Characters of one text within a sentence.
const SENTENCE_TEXT: usize = 80;

/// What is known of a pair before it runs.
pub(crate) struct Frame<'a> {
    pub functions: &'a [Function; 2],
    pub diff: &'a Diff,
    /// Names that the functions use and that their modules bind differently.
    pub changed_names: &'a [String],
}

/// What running it found.
pub(crate) struct Findings<'a> {
    pub verdict: Verdict,
    pub reason: String,
    pub campaign: &'a Campaign,
    pub witness: Option<&'a Kept>,
    /// The witness's values that matter.
    pub decisive: Vec<Decisive>,
    /// A test of its own for the witness.
    pub reproducer: Option<Reproducer>,
    pub target: &'a Target,
    pub rules: &'a Rules,
    pub notes: &'a [String],
    pub context: Context,
    pub milliseconds: f64,
}

/// A pair that is the same program.
pub(crate) fn identical(frame: &Frame<'_>) -> PairReport {
    let name = &frame.functions[1].qualname;
    let reason = "only comments, docstrings, annotations, decorators or names of locals differ".to_string();
    let same = frame.functions[0].text == frame.functions[1].text;
    let sentence = if same {
        format!("Identical: {name} did not change.")
    } else {
        format!("Identical: {name} is the same program; {reason}.")
    };
    unexecuted(frame, Verdict::Identical, reason, sentence)
}

/// A pair that could not run.
pub(crate) fn failed(frame: &Frame<'_>, reason: String) -> PairReport {
    let sentence = format!("Inconclusive: {reason}.");
    unexecuted(frame, Verdict::Inconclusive, reason, sentence)
}

fn unexecuted(frame: &Frame<'_>, verdict: Verdict, reason: String, sentence: String) -> PairReport {
    let campaign = Campaign::default();
    let [old, new] = [0, 1].map(|side| version(frame, side, &campaign, &Target::default(), None));
    PairReport {
        verdict,
        reason,
        sentence,
        evidence: vec![],
        old,
        new,
        rows: frame.diff.rows.clone(),
        executed: 0,
        executions: vec![],
        witness: None,
        decided_by: vec![],
        reproducer: None,
        lost: 0,
        notes: vec![],
        milliseconds: 0.0,
    }
}

/// Says that others decide in this pair's place.
pub(crate) fn decided_elsewhere(report: &mut PairReport, by: Vec<String>) {
    let names = by.join(", ");
    report.notes.push(format!("{} changed, but what it is for did not: {names} behave as before", report.new.qualname));
    report.sentence = format!("{} changed within, {names} behave the same. {}", report.new.qualname, report.sentence);
    report.decided_by = by;
}

/// The report of a pair that ran.
pub(crate) fn report(frame: &Frame<'_>, findings: &Findings<'_>) -> PairReport {
    let campaign = findings.campaign;
    let shown = findings.witness.or_else(|| {
        // Without a difference, show the usable execution that ran most.
        let usable = campaign.executions.iter().filter(|kept| kept.is_valid());
        usable.max_by_key(|kept| (lines_run(kept), std::cmp::Reverse(kept.record.index)))
    });
    let [old, new] = [0, 1].map(|side| version(frame, side, campaign, findings.target, shown));
    let probability = joint(&findings.decisive);
    let evidence: Vec<Evidence> = findings
        .witness
        .iter()
        .flat_map(|kept| kept.differences.iter().map(|difference| (kept.record.index, difference)))
        .map(|(index, difference)| Evidence {
            channel: difference.channel,
            place: difference.place.clone(),
            old: difference.old.clone(),
            new: difference.new.clone(),
            strength: difference.basis.strength(),
            score: verdict::score(difference.basis, probability),
            probability,
            edge_case: probability < EDGE_CASE,
            execution: index,
        })
        .collect();
    let sentence = sentence(frame, findings, &evidence);
    PairReport {
        verdict: findings.verdict,
        reason: findings.reason.clone(),
        sentence,
        evidence,
        old,
        new,
        rows: frame.diff.rows.clone(),
        executed: campaign.executed() as u32,
        executions: campaign.executions.iter().map(execution).collect(),
        witness: shown.and_then(|kept| witness(kept, &findings.decisive, findings.rules)),
        decided_by: vec![],
        reproducer: findings.reproducer.clone(),
        lost: campaign.lost.len() as u32,
        notes: notes(frame, findings),
        milliseconds: findings.milliseconds,
    }
}

fn lines_run(kept: &Kept) -> usize {
    kept.record.behaviors.iter().map(|behavior| behavior.lines.len()).sum()
}

fn notes(frame: &Frame<'_>, findings: &Findings<'_>) -> Vec<String> {
    let mut notes: Vec<String> = findings.notes.to_vec();
    let [old, new] = frame.functions;
    if old.qualname != new.qualname {
        notes.push(format!(
            "compared {} with {}: the most similar function of the other version",
            old.qualname, new.qualname
        ));
    }
    if !frame.diff.renames.is_empty() {
        let renames: Vec<String> = frame.diff.renames.iter().map(|(new, old)| format!("{old} is now {new}")).collect();
        notes.push(format!("renamed: {}", renames.join(", ")));
    }
    if !frame.changed_names.is_empty() {
        notes.push(format!(
            "the function itself did not change, but what it uses did: {}",
            frame.changed_names.join(", ")
        ));
    }
    let campaign = findings.campaign;
    if campaign.nondeterministic > 0 {
        notes.push(format!(
            "{} differences did not show again when the execution was repeated; they are no evidence",
            campaign.nondeterministic
        ));
    }
    if let Some(reason) = campaign.lost.first() {
        notes.push(format!("{} executions were lost, the first because {reason}", campaign.lost.len()));
    }
    if campaign.stopped_early {
        notes.push("stopped before the budget was used up".into());
    }
    if findings.context == Context::Function {
        notes.push("context: the function alone; everything that it does not define was injected".into());
    }
    notes
}

fn version(
    frame: &Frame<'_>,
    side: usize,
    campaign: &Campaign,
    target: &Target,
    witness: Option<&Kept>,
) -> VersionReport {
    let function = &frame.functions[side];
    let changed = if side == 0 { &frame.diff.old_lines } else { &frame.diff.new_lines };
    let runs = |line: u32| campaign.ran(side, line);
    let lines: Vec<LineReport> = function
        .text
        .lines()
        .enumerate()
        .map(|(index, text)| {
            let number = index as u32 + 1;
            let executable = target.lines[side].contains(&number);
            let behavior = witness.and_then(|kept| kept.record.behaviors.get(side));
            LineReport {
                number,
                text: text.to_string(),
                changed: changed.contains(&number),
                executable,
                executions: if executable { runs(number) } else { 0 },
                witness_hits: behavior.map_or(0, |behavior| behavior.hits(number)),
            }
        })
        .collect();
    let executable = lines.iter().filter(|line| line.executable).count();
    let ran = lines.iter().filter(|line| line.executions > 0).count();
    VersionReport {
        qualname: function.qualname.clone(),
        coverage: if executable == 0 { 0.0 } else { ran as f64 / executable as f64 },
        changed_lines: target.changed[side].len() as u32,
        changed_lines_reached: target.changed[side].iter().filter(|line| runs(**line) > 0).count() as u32,
        lines,
    }
}

fn execution(kept: &Kept) -> ExecutionReport {
    let outcome =
        |behavior: Option<&Behavior>| behavior.map_or(String::new(), |behavior| display_outcome(&behavior.outcome));
    let valid = |behavior: Option<&Behavior>| behavior.is_some_and(|behavior| behavior.outcome.is_valid());
    ExecutionReport {
        index: kept.record.index,
        seed: kept.record.seed,
        old: outcome(kept.old_behavior()),
        new: outcome(kept.new_behavior()),
        old_valid: valid(kept.old_behavior()),
        new_valid: valid(kept.new_behavior()),
        differs: !kept.differences.is_empty(),
        new_lines: kept.new_lines,
        coverage_so_far: kept.coverage,
        microseconds: kept.record.microseconds,
    }
}

fn witness(kept: &Kept, decisive: &[Decisive], rules: &Rules) -> Option<Witness> {
    let [old, new] = kept.record.behaviors.as_slice() else { return None };
    Some(Witness {
        execution: kept.record.index,
        choices: kept.record.choices.clone(),
        injections: kept.record.injections.clone(),
        decisive: decisive.iter().map(|value| value.path.clone()).collect(),
        probabilities: decisive.iter().map(|value| value.probability).collect(),
        old: old.clone(),
        new: new.clone(),
        calls: align_calls(&old.calls, &new.calls, rules),
    })
}

/// What a view shows first.
fn sentence(frame: &Frame<'_>, findings: &Findings<'_>, evidence: &[Evidence]) -> String {
    let name = &frame.functions[1].qualname;
    match (findings.verdict, findings.witness) {
        (Verdict::Changing, Some(kept)) => {
            let values = named_values(frame, kept, &findings.decisive);
            let unlikely = if evidence.iter().any(|one| one.edge_case) { "only for an unlikely value: " } else { "" };
            let given = if values.is_empty() { String::new() } else { format!("for {}: ", values.join(", ")) };
            let what =
                evidence.first().map_or_else(|| "the two differ".to_string(), |evidence| contrast(kept, evidence));
            format!(
                "Behavior of {name} changed: {unlikely}{given}{what} (execution {}, {:.0} ms).",
                kept.record.index + 1,
                findings.milliseconds
            )
        }
        (Verdict::LikelyPreserving, _) => {
            let reached: usize = findings.campaign.reached.iter().map(std::collections::BTreeSet::len).sum();
            let changed: usize = findings.target.changed.iter().map(Vec::len).sum();
            let what = match changed {
                0 => format!("though {} changed", frame.changed_names.join(", ")),
                _ => format!("{reached} of {changed} changed lines ran"),
            };
            let none = match findings.witness {
                Some(_) => "No change of behavior in",
                None => "No difference in",
            };
            format!("{none} {name}: {}; {what} ({:.0} ms).", findings.reason, findings.milliseconds)
        }
        _ => format!("Inconclusive for {name}: {}.", findings.reason),
    }
}

/// `old returns None, new returns 1`.
fn contrast(kept: &Kept, evidence: &Evidence) -> String {
    use crate::report::Channel;
    let verb = |behavior: Option<&Behavior>, fallback: &str| match behavior.map(|behavior| &behavior.outcome) {
        Some(outcome @ (Outcome::Returned(_) | Outcome::Raised { .. })) => {
            cut(&display_outcome(outcome).replacen("returned ", "returns ", 1).replacen("raised ", "raises ", 1))
        }
        _ => cut(fallback),
    };
    match evidence.channel {
        Channel::Return | Channel::Exception => {
            format!(
                "old {}, new {}",
                verb(kept.old_behavior(), &evidence.old),
                verb(kept.new_behavior(), &evidence.new)
            )
        }
        Channel::Output => {
            format!("old writes {} to {}, new {}", cut(&evidence.old), evidence.place, cut(&evidence.new))
        }
        Channel::Arguments if !evidence.place.starts_with("argument ") => {
            format!("{}: old {}, new {}", evidence.place, cut(&evidence.old), cut(&evidence.new))
        }
        Channel::Arguments => {
            let place = evidence.place.trim_start_matches("argument ");
            let left = |text: &str| {
                if text == UNCHANGED { "leaves it as it was".into() } else { format!("makes it {}", cut(text)) }
            };
            format!("{place} after the call: old {}, new {}", left(&evidence.old), left(&evidence.new))
        }
        Channel::Log => {
            let logged =
                |text: &str| if text == NOTHING_LOGGED { text.to_string() } else { format!("'{}'", cut(text)) };
            format!("old logs {}, new {}", logged(&evidence.old), logged(&evidence.new))
        }
        Channel::Calls => match (evidence.old.as_str(), evidence.new.as_str()) {
            (old, NO_CALL) => format!("old calls {}, new does not", cut(old)),
            (NO_CALL, new) => format!("new calls {}, old does not", cut(new)),
            (old, new) => format!("old calls {}, new calls {}", cut(old), cut(new)),
        },
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= SENTENCE_TEXT {
        return text.to_string();
    }
    format!("{}…", text.chars().take(SENTENCE_TEXT).collect::<String>())
}

/// The decisive values of a witness, those that entered on changed lines first.
fn named_values(frame: &Frame<'_>, kept: &Kept, decisive: &[Decisive]) -> Vec<String> {
    let text = |choice: &Choice| match &choice.decision {
        Decision::Value(recipe) => format!("{} = {}", cut(&choice.path), cut(&recipe.display())),
        decision => format!("{}: {}", cut(&choice.path), display_decision(decision)),
    };
    let entered = |choice: &&Choice| kept.record.injections.iter().find(|injection| injection.path == choice.path);
    let on_changed_line = |injection: &Injection| {
        let lines = if injection.version == 0 { &frame.diff.old_lines } else { &frame.diff.new_lines };
        injection.kind.is_none() || lines.contains(&injection.line)
    };
    let raises = |choice: &&Choice| matches!(choice.decision, Decision::Raise(_) | Decision::Fail);
    let is_decisive = |choice: &&Choice| decisive.iter().any(|value| value.path == choice.path);
    let mut named: Vec<&Choice> =
        kept.record.choices.iter().filter(|choice| is_decisive(choice) || raises(choice)).collect();
    named.sort_by_key(|choice| !(raises(choice) || entered(choice).is_some_and(on_changed_line)));
    named.into_iter().take(NAMED_VALUES).map(text).collect()
}

/// The sentence over several pairs.
pub(crate) fn overall_sentence(verdict: Verdict, pairs: &[PairReport]) -> String {
    if let [pair] = pairs {
        return pair.sentence.clone();
    }
    let deciding = || pairs.iter().filter(|pair| pair.decided_by.is_empty());
    let count = |wanted: Verdict| deciding().filter(|pair| pair.verdict == wanted).count();
    let total = deciding().count();
    match verdict {
        Verdict::Changing => {
            let names: Vec<&str> = deciding()
                .filter(|pair| pair.verdict == Verdict::Changing)
                .map(|pair| pair.new.qualname.as_str())
                .collect();
            format!("Behavior changed in {} of {total} functions: {}.", names.len(), names.join(", "))
        }
        Verdict::Inconclusive => {
            format!("No difference found, but {} of {total} functions are inconclusive.", count(Verdict::Inconclusive))
        }
        Verdict::LikelyPreserving => format!(
            "No difference in {total} functions: {} executed, {} identical.",
            count(Verdict::LikelyPreserving),
            count(Verdict::Identical)
        ),
        Verdict::Identical => format!("Identical: none of {total} functions changed."),
    }
}
