//! The sentences that a report opens with.

use twincell_behavior::{Channel, NO_CALL, NOTHING_LOGGED, UNCHANGED, display_decision, display_outcome};
use twincell_engine::observed::{Behavior, Outcome};
use twincell_engine::protocol::{Injection, says_what_is_used};
use twincell_syntax::Form;
use twincell_values::value::{Choice, Decision};

use crate::assemble::{CampaignSummary, PairContext, number, uses};
use crate::campaign::{Decisive, TestCase};
use crate::report::{Evidence, PairReport};
use crate::verdict::Verdict;

/// The maximum number of values named in a sentence.
const NAMED_VALUES: usize = 3;
/// The maximum number of function names in one list.
const NAMED_FUNCTIONS: usize = 5;
/// The maximum number of characters of one text within a sentence.
const SENTENCE_TEXT: usize = 80;

/// The reason why a pair without any difference is identical.
const SAME_TEXT: &str = "nothing differs";

/// The reason why a pair is the same program, and the sentence that says so.
pub(super) fn identical(context: &PairContext<'_>) -> (String, String) {
    let [old, new] = context.functions;
    let name = &new.qualname;
    if old.text == new.text {
        return (SAME_TEXT.into(), format!("Identical: {SAME_TEXT} in {name}."));
    }
    let locals = if context.diff.renames.is_empty() { "" } else { " or names of locals" };
    let layout = if locals.is_empty() { " or layout" } else { ", layout" };
    let reason = format!("only comments, docstrings, annotations{layout}{locals} differ");
    let sentence = format!("Identical: {name} is the same program; {reason}.");
    (reason, sentence)
}

/// The sentence for a pair that does not decide, with what it shows by itself.
pub(super) fn decided_elsewhere(report: &PairReport, by: &[String]) -> String {
    let (behave, name) = (if by.len() == 1 { "behaves" } else { "behave" }, &report.new.qualname);
    format!("{name} is judged by {}, which {behave} as before. By itself: {}", by.join(", "), report.sentence)
}

/// The sentence that a view shows first.
pub(super) fn sentence(context: &PairContext<'_>, summary: &CampaignSummary<'_>, evidence: &[Evidence]) -> String {
    let name = &context.functions[1].qualname;
    match (summary.verdict, summary.witness) {
        (Verdict::Changing, Some(case)) => format!(
            "Behavior of {name} changed: {} (execution {}, {:.0} ms).",
            difference(context, summary, case, evidence),
            number(case),
            summary.milliseconds
        ),
        (Verdict::LikelyPreserving, _) => {
            let reached: usize = summary.campaign.reached.iter().map(std::collections::BTreeSet::len).sum();
            let changed: usize = summary.target.changed.iter().map(Vec::len).sum();
            let what = match changed {
                0 => format!("though {} changed", context.changed_names.join(", ")),
                _ => format!("{reached} of {changed} changed lines ran"),
            };
            let none = match summary.witness {
                Some(_) => "No change in the behavior of",
                None => "No difference in",
            };
            format!("{none} {name}: {}; {what} ({:.0} ms).", summary.reason, summary.milliseconds)
        }
        _ => {
            let example = summary.campaign.stopped_example().map(|case| {
                let values = injected_values(case);
                let with = if values.is_empty() { "in".into() } else { format!("for {} in", values.join(", ")) };
                format!(", e.g. {with} execution {}", number(case))
            });
            format!("Inconclusive for {name}: {}{}.", summary.reason, example.unwrap_or_default())
        }
    }
}

/// What a witness shows, with the values that it needs: `for x = 0: old returns None, new returns 1`.
fn difference(
    context: &PairContext<'_>,
    summary: &CampaignSummary<'_>,
    case: &TestCase,
    evidence: &[Evidence],
) -> String {
    let values = named_values(context, case, &summary.decisive);
    let unlikely = if evidence.iter().any(|one| one.edge_case) { "only for an unlikely value: " } else { "" };
    let given = if values.is_empty() { String::new() } else { format!("for {}: ", values.join(", ")) };
    let what = evidence.first().map_or_else(|| "the two differ".to_string(), |evidence| contrast(case, evidence));
    format!("{unlikely}{given}{what}")
}

/// The reason for the verdict. For a change, what shows it.
pub(super) fn reason(context: &PairContext<'_>, summary: &CampaignSummary<'_>, evidence: &[Evidence]) -> String {
    match (summary.verdict, summary.witness) {
        (Verdict::Changing, Some(case)) => difference(context, summary, case, evidence),
        _ => summary.reason.clone(),
    }
}

/// `old returns None, new returns 1`.
fn contrast(case: &TestCase, evidence: &Evidence) -> String {
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
                verb(case.old_behavior(), &evidence.old),
                verb(case.new_behavior(), &evidence.new)
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

/// `x = 0`, `raise f(x): ValueError`.
fn named(choice: &Choice) -> String {
    match &choice.decision {
        Decision::Value(recipe) => format!("{} = {}", cut(&choice.path), cut(&recipe.display())),
        decision => format!("{}: {}", cut(&choice.path), display_decision(decision)),
    }
}

fn injection_of<'a>(case: &'a TestCase, choice: &Choice) -> Option<&'a Injection> {
    case.record.injections.iter().find(|injection| injection.path == choice.path)
}

/// The first injected values.
fn injected_values(case: &TestCase) -> Vec<String> {
    let entered = case.record.choices.iter().filter(|choice| injection_of(case, choice).is_some());
    entered.take(NAMED_VALUES).map(named).collect()
}

/// The decisive values of a witness, those that entered on changed lines first, and the members that were used.
fn named_values(context: &PairContext<'_>, case: &TestCase, decisive: &[Decisive]) -> Vec<String> {
    let on_changed_line = |injection: &Injection| {
        let lines = if injection.version == 0 { &context.diff.old_lines } else { &context.diff.new_lines };
        injection.kind.is_none() || lines.contains(&injection.line)
    };
    let raises = |choice: &&Choice| matches!(choice.decision, Decision::Raise(_) | Decision::Fail);
    let is_decisive = |choice: &&Choice| decisive.iter().any(|value| value.path == choice.path);
    let uses = uses(context, case);
    let (used, mut values): (Vec<&Choice>, Vec<&Choice>) = (case.record.choices.iter())
        .filter(|choice| is_decisive(choice) || raises(choice))
        .partition(|choice| !uses.is_empty() && says_what_is_used(&choice.path));
    values.sort_by_key(|choice| !(raises(choice) || injection_of(case, choice).is_some_and(on_changed_line)));
    let mut all: Vec<String> = values.into_iter().take(NAMED_VALUES).map(named).collect();
    if !used.is_empty() {
        all.push(format!("using {}", uses.join(", then ")));
    }
    all
}

/// `2 functions`, `1 class`, `3 functions and classes`.
fn counted(count: usize, forms: &[Form]) -> String {
    let mut nouns: Vec<&str> = Vec::new();
    for (form, one, several) in [
        (Form::Function, "function", "functions"),
        (Form::Class, "class", "classes"),
        (Form::Snippet, "snippet", "snippets"),
    ] {
        if forms.contains(&form) {
            nouns.push(if forms.len() == 1 { one } else { several });
        }
    }
    match nouns.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{count} {} and {last}", rest.join(", ")),
        _ => format!("{count} {}", nouns.concat()),
    }
}

/// The first names, and the number of further ones.
fn list(names: &[&str]) -> String {
    let shown = names.iter().take(NAMED_FUNCTIONS).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED_FUNCTIONS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The sentence about all pairs, which have these forms, and about functions that only one version has.
pub(crate) fn overall(
    verdict: Verdict,
    pairs: &[PairReport],
    forms: &[Form],
    added: &[String],
    removed: &[String],
) -> String {
    let (deciding, judged): (Vec<_>, Vec<_>) =
        pairs.iter().zip(forms).partition(|(pair, _)| pair.decided_by.is_empty());
    let forms: Vec<Form> = deciding.iter().map(|(_, form)| **form).collect();
    let names = |wanted: Verdict| -> Vec<&str> {
        let such = deciding.iter().filter(|(pair, _)| pair.verdict == wanted);
        such.map(|(pair, _)| pair.new.qualname.as_str()).collect()
    };
    let (total, all) = (deciding.len(), counted(deciding.len(), &forms));
    let mut sentence = match (verdict, deciding.as_slice()) {
        (_, [(pair, _)]) => pair.sentence.clone(),
        (Verdict::Changing, _) => {
            let changed = names(Verdict::Changing);
            format!("Behavior changed in {} of {all}: {}.", changed.len(), list(&changed))
        }
        (Verdict::Inconclusive, _) => {
            let open = names(Verdict::Inconclusive);
            let is = if open.len() == 1 { "is" } else { "are" };
            format!("No difference found, but {} of {all} {is} inconclusive: {}.", open.len(), list(&open))
        }
        (Verdict::LikelyPreserving, _) => format!(
            "No difference in {all}: {} executed, {} identical.",
            names(Verdict::LikelyPreserving).len(),
            names(Verdict::Identical).len()
        ),
        (Verdict::Identical, _) => match deciding.iter().filter(|(pair, _)| pair.reason != SAME_TEXT).count() {
            0 => format!("Identical: {SAME_TEXT} in {all}."),
            other => {
                format!("Identical: {other} of {all} are written differently, but all {total} are the same programs.")
            }
        },
    };
    if !judged.is_empty() {
        let names: Vec<&str> = judged.iter().map(|(pair, _)| pair.new.qualname.as_str()).collect();
        sentence.push_str(&format!(" Judged only by the code that uses them: {}.", list(&names)));
    }
    if verdict != Verdict::Changing {
        for (which, names) in [("old", removed), ("new", added)] {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            if !names.is_empty() {
                sentence.push_str(&format!(" Only in {which}: {}.", list(&names)));
            }
        }
    }
    sentence
}
