//! The words, signs and numbers that all renderings share. What needs markup or color is not here.

use serde::Serialize;

use twincell_behavior::{
    CallRow, Channel, EvidencePlace, Shown, afterwards, display_call, display_decision, display_shown, display_slot,
};
use twincell_compare::report::{
    Comparison, Divergence, Evidence, ExecutionReport, InputWeight, LineReport, PairReport, PartReport, PartText,
    VariedOutcome, VersionReport, Witness,
};
use twincell_compare::verdict::Verdict;
use twincell_engine::observed::{Behavior, Call, Outcome, Slot};
use twincell_engine::protocol::Injection;
use twincell_syntax::Side;
use twincell_syntax::site::SiteKind;
use twincell_values::path::{EVERYTHING, Question};
use twincell_values::value::{Choice, Decision, Recipe};

use crate::{plain, wording};

/// The verdicts in the order of tables, legends and stacks.
pub const VERDICTS: [Verdict; 4] =
    [Verdict::Changing, Verdict::Inconclusive, Verdict::LikelyPreserving, Verdict::Identical];

/// A sign that carries the verdict together with its word, never a color alone.
pub fn icon(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Changing => "≠",
        Verdict::LikelyPreserving => "≈",
        Verdict::Inconclusive => "?",
        Verdict::Identical => "=",
    }
}

pub fn percent(share: f64) -> String {
    // Rounded down, so that only full coverage reads 100 %.
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    format!("{}\u{a0}%", (share * 100.0 + 1e-9).floor())
}

pub fn duration(milliseconds: f64) -> String {
    match milliseconds {
        ms if !ms.is_finite() || ms < 0.0 => "unknown".into(),
        ms if ms < 10.0 => format!("{} ms", tenths(ms)),
        ms if ms < 10_000.0 => format!("{} ms", ms.round()),
        ms => format!("{} s", tenths(ms / 1000.0)),
    }
}

/// With one decimal; what lies between two is the greater one, where `format!` takes the even one.
fn tenths(number: f64) -> String {
    let is_between = (number * 4.0).fract() == 0.0;
    format!("{:.1}", if is_between { number + 0.01 } else { number })
}

/// A probability: what is small but possible does not read 0 %.
pub fn probability(share: f64) -> String {
    if share > 0.0 && share < 0.01 { "<\u{a0}1\u{a0}%".into() } else { percent(share) }
}

/// Whole numbers as people read them.
pub fn number(value: usize) -> String {
    let digits = value.to_string();
    let groups: Vec<&str> =
        (digits.as_bytes().rchunks(3)).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

pub fn count(value: usize, noun: &str) -> String {
    format!("{} {noun}{}", number(value), if value == 1 { "" } else { "s" })
}

/// A hash as git shortens it. Other names of commits stay.
pub fn commit_name(commit: &str) -> &str {
    let is_hash = commit.len() >= 12 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    commit.get(..8).filter(|_| is_hash).unwrap_or(commit)
}

/// The changes of a group that is drawn.
pub struct GroupShare<'a> {
    pub name: &'a str,
    pub changes: usize,
    pub changing: usize,
}

/// How many changes are in how many groups, and which of the drawn groups has the largest share of changing: the first
/// of those that have it, and none where nothing is changing.
pub fn groups_sentence(groups: usize, drawn: &[GroupShare<'_>]) -> String {
    let share = |group: &GroupShare<'_>| group.changing as f64 / group.changes.max(1) as f64;
    let all = drawn.iter().map(|group| group.changes).sum();
    let said = format!("{} in {}", count(all, "change"), count(groups, "group"));
    let first = drawn.iter().filter(|group| group.changing > 0);
    match first.reduce(|most, group| if share(group) > share(most) { group } else { most }) {
        Some(most) => {
            format!("{said}; {} has the largest share of changing, {}", most.name, probability(share(most)))
        }
        None => said,
    }
}

/// What is said in place of years that are too many to draw.
pub fn too_many_years(most: usize) -> String {
    format!("The commits lie more than {} apart.", count(most, "year"))
}

/// A number that fits a narrow margin.
fn short(value: u32) -> String {
    match value {
        0..10_000 => value.to_string(),
        10_000..1_000_000 => format!("{}k", value / 1000),
        _ => format!("{}M", value / 1_000_000),
    }
}

/// `old` or `new`, by the number of a version in a program.
pub fn version_name(version: u8) -> &'static str {
    if version == 0 { "old" } else { "new" }
}

pub fn kind_name(kind: Option<SiteKind>) -> &'static str {
    match kind {
        None => "parameter",
        Some(SiteKind::Name) => "name",
        Some(SiteKind::Attribute) => "attribute",
        Some(SiteKind::Call) => "call",
        Some(SiteKind::Subscript) => "subscript",
    }
}

/// The line where a value entered: a parameter without one enters at the `def`.
pub fn injection_line(injection: &Injection) -> Option<u32> {
    match (injection.line, injection.kind) {
        (0, None) => Some(1),
        (0, Some(_)) => None,
        (line, _) => Some(line),
    }
}

pub fn injection_place(pair: &PairReport, injection: &Injection) -> String {
    let version = match Side::numbered(injection.version) {
        Side::Old => &pair.old,
        Side::New => &pair.new,
    };
    match injection_line(injection) {
        Some(line) => format!("{} line {}", version_name(injection.version), line_name(version, line)),
        None => version_name(injection.version).into(),
    }
}

/// The coverage margin: how many executions ran a line, `·` for a line without code of its own, `–` for never.
pub fn margin(line: &LineReport) -> String {
    match (line.executable, line.executions) {
        (false, _) => "·".into(),
        (true, 0) => "–".into(),
        (true, number) => short(number),
    }
}

pub const MARGIN_LEGEND: &str =
    "runs = executions that ran the line (▸ the one shown among them); – never ran; · no code of its own";

/// What became of a call among all of them.
pub fn call_mark(row: &CallRow, all: &[CallRow]) -> &'static str {
    let is_as =
        |one: &Call, other: &Option<Call>| other.as_ref().is_some_and(|other| display_call(one) == display_call(other));
    match (&row.old, &row.new) {
        (Some(call), None) if all.iter().any(|other| other.old.is_none() && is_as(call, &other.new)) => "↕ moved, old",
        (None, Some(call)) if all.iter().any(|other| other.new.is_none() && is_as(call, &other.old)) => "↕ moved, new",
        (Some(_), None) => "− only old",
        (None, Some(_)) => "+ only new",
        _ if row.equal => "= same",
        _ => "≠ differs",
    }
}

pub fn execution_mark(execution: &ExecutionReport) -> &'static str {
    match (execution.differs, execution.old_valid && execution.new_valid) {
        (true, _) => "≠ differs",
        (false, _) if !execution.examined => "? not examined",
        (false, true) => "= same",
        (false, false) => "○ says nothing",
    }
}

/// The sign and the word for what a value shows.
pub fn varied_mark(outcome: VariedOutcome) -> (&'static str, &'static str) {
    match outcome {
        VariedOutcome::Differs => ("≠", "differs"),
        VariedOutcome::Same => ("=", "same"),
        VariedOutcome::Nothing => ("○", "says nothing"),
    }
}

pub const EXECUTION_LEGEND: &str = "○ says nothing: a version ended in an exception that the injected values may have \
    caused, so the execution is no evidence.";

pub const UNEXAMINED_LEGEND: &str =
    "? not examined: the two versions differed, but the execution was not repeated, so it is no evidence.";

/// The place of evidence, with its channel where the place does not name it: `output: stdout`, `return value`.
pub fn evidence_place(one: &Evidence) -> String {
    // What a use of an object gives is no argument to anybody.
    if let Some(Slot::Use { step, member }) = one.at.as_ref().and_then(EvidencePlace::slot) {
        return plain::value(&format!("result of use {step}, {member}"));
    }
    let place = plain::value(&one.place);
    match one.channel {
        Channel::Return | Channel::Exception => place,
        channel => format!("{}: {place}", channel.name()),
    }
}

/// Why the verdict is what it is, as a sentence; none where the first sentence says so already, as it does of every change.
pub fn reason(pair: &PairReport) -> Option<String> {
    let reason = wording::reason(pair);
    let is_said = pair.verdict == Verdict::Changing || wording::pair(pair).contains(&reason);
    let mut letters = reason.chars();
    let first = letters.next().filter(|_| !is_said)?;
    let end = if reason.ends_with('.') { "" } else { "." };
    Some(crate::plain::sentence(&format!("{}{}{end}", first.to_uppercase(), letters.as_str())))
}

/// What was executed, as (name, value) in the order shown.
pub fn facts(pair: &PairReport, budget: u32) -> Vec<(&'static str, String)> {
    let both = |old: String, new: String| format!("old {old}, new {new}");
    let reached = |version: &VersionReport| match version.changed_lines {
        0 => "none to reach".to_string(),
        lines => format!("{} of {lines}", version.changed_lines_reached),
    };
    let mut facts = Vec::new();
    if pair.executions.is_empty() && pair.verdict == Verdict::Identical {
        facts.push(("Executions", "none needed".into()));
    } else {
        facts.push(("Executions", format!("{} of at most {budget}", pair.executed)));
        facts.push(("Lines covered", both(percent(pair.old.coverage), percent(pair.new.coverage))));
        facts.push(("Changed lines reached", both(reached(&pair.old), reached(&pair.new))));
    }
    if pair.lost > 0 {
        facts.push(("Lost with a worker", count(pair.lost as usize, "execution")));
    }
    facts.push(("Time", duration(pair.milliseconds)));
    facts
}

/// What the values shown are the values of.
pub fn witness_title(pair: &PairReport, witness: &Witness) -> String {
    format!("{} (execution {})", witness_role(pair, witness), witness.execution)
}

/// Why this execution is the one shown.
pub fn witness_role(pair: &PairReport, witness: &Witness) -> &'static str {
    let stopped = [&witness.old, &witness.new].map(|behavior| matches!(behavior.outcome, Outcome::Stopped { .. }));
    match (pair.verdict, stopped) {
        _ if !witness.chosen.is_empty() => "Inputs that you chose",
        (Verdict::Changing, _) => "Inputs that show it",
        (Verdict::Inconclusive, [true, false]) => "Inputs on which only old does not end",
        (Verdict::Inconclusive, [false, true]) => "Inputs on which only new does not end",
        _ => "Inputs of the execution that covered most",
    }
}

/// What the code left under one name: an argument after the call, a name that a snippet binds, a member of an object.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FinalValue {
    /// The name with its kind, e.g. `request afterwards`.
    pub name: String,
    pub differs: bool,
    pub old: String,
    pub new: String,
}

/// What both versions left, in the order of old, then what only new has. `evidence` is that of this execution.
pub fn final_values(old: &Behavior, new: &Behavior, evidence: &[&Evidence]) -> Vec<FinalValue> {
    let only_new = new.arguments.iter().filter(|(slot, _)| old.left(slot).is_none());
    (old.arguments.iter().chain(only_new))
        .filter(|(slot, _)| !slot.is_identity() || old.left(slot) != new.left(slot))
        .map(|(slot, _)| {
            let shown = |behavior: &Behavior| display_shown(&Shown::left(slot, behavior.left(slot))).to_owned();
            let here = EvidencePlace::Left { slot: slot.clone() };
            FinalValue {
                name: format!("{}{}", display_slot(slot), afterwards(slot)),
                differs: evidence.iter().any(|one| one.is_at(&here)),
                old: shown(old),
                new: shown(new),
            }
        })
        .collect()
}

/// What is said of a comparison whose code ran without a complete sandbox.
pub fn without_sandbox(comparison: &Comparison) -> Option<String> {
    let missing = comparison.sandbox.as_ref()?.missing()?;
    Some(format!("The code ran without a complete sandbox, as --unsafe allows: {missing}."))
}

/// What stands below the sentence over a comparison of one pair: the pair's own, where that says more.
pub fn further_sentence(comparison: &Comparison, only: &PairReport) -> Option<String> {
    let own = wording::pair(only);
    (!wording::comparison(comparison).contains(&own)).then_some(own)
}

/// Decisions of the witness that its injected values do not show: exceptions raised, defaults, truths of objects.
pub fn other_decisions(witness: &Witness) -> Vec<(String, String)> {
    let used = (!witness.uses.is_empty()).then(|| ("used, in order".into(), witness.uses.join(", ")));
    let injected = |choice: &Choice| {
        matches!(choice.decision, Decision::Value(_))
            && witness.injections.iter().any(|injection| injection.path == choice.path)
    };
    // Uses are told with what is passed, and nothing is said of what is not.
    let is_of_use = |choice: &Choice| Question::is_about_members(&choice.path) || choice.decision == Decision::Default;
    // That a call succeeds all the same is also asked where it never fails.
    let is_idle = |choice: &Choice| {
        let succeeds = matches!(Question::parse(&choice.path), Question::Succeeds(_));
        succeeds && choice.decision == Decision::Value(Recipe::Bool(true)) && !witness.decisive.contains(&choice.path)
    };
    let said = |choice: &&Choice| injected(choice) || is_idle(choice) || used.is_some() && is_of_use(choice);
    let others = witness.choices.iter().filter(|choice| !said(choice)).filter_map(decision);
    used.clone().into_iter().chain(others).collect()
}

/// One decision in words; none where the values that were injected say it, and where an operation does not fail.
fn decision(choice: &Choice) -> Option<(String, String)> {
    let path = choice.path.as_str();
    let question = Question::parse(path);
    let said = |of: &str, answer: &str| Some((of.to_owned(), answer.to_owned()));
    let Decision::Value(recipe) = &choice.decision else {
        let of = if let Question::Raise(operation) = question { operation } else { path };
        return said(of, &display_decision(&choice.decision));
    };
    match (question, recipe) {
        // Which of the values before an argument of the same name is; zero is a new one.
        (Question::Again(_), Recipe::Int(0)) | (Question::Raise(_), Recipe::None) => None,
        (Question::Again(own), Recipe::Int(again)) => {
            let first = own.split_number().map_or(own, |(name, _)| name);
            let number = if *again == 1 { String::new() } else { format!(" ({again})") };
            said(own.as_str(), &format!("the same as {first}{number}"))
        }
        // What an object that is false equals.
        (Question::Zero(of), Recipe::Str(kind)) => {
            let equal = match kind.as_str() {
                "str" => "''".into(),
                "int" | "float" | "number" => "0".into(),
                kind => format!("an empty {kind}"),
            };
            said(&format!("{of} equals"), &equal)
        }
        (Question::Order { one, other }, Recipe::Int(order @ 0..=2)) => {
            let answer = ["less than", "equal to", "greater than"][*order as usize];
            said(one, &format!("{answer} {other}"))
        }
        (Question::Injected(EVERYTHING), Recipe::Bool(true)) => said("the module", "left out"),
        (Question::Injected(name), Recipe::Bool(true)) => said(name, "replaced, though the code has it"),
        (Question::Injected(_), Recipe::Bool(false)) => None,
        (Question::Succeeds(of), Recipe::Bool(true)) => said(of.as_str(), "succeeds all the same"),
        (Question::Succeeds(of), Recipe::Bool(false)) => said(of.as_str(), "fails"),
        (Question::Stable(of), Recipe::Bool(true)) => said(of.as_str(), "gives the same each time"),
        (Question::Stable(of), Recipe::Bool(false)) => said(of.as_str(), "gives something else each time"),
        _ => said(path, &recipe.display()),
    }
}

/// The evidence of the execution that is shown in full.
pub fn evidence_of<'a>(pair: &'a PairReport, witness: &Witness) -> Vec<&'a Evidence> {
    pair.evidence.iter().filter(|one| one.execution == witness.execution).collect()
}

/// How much an evidence says, e.g. `observable, edge case (1%)`.
pub fn strength(evidence: &Evidence) -> String {
    let strength = evidence.strength.name();
    if evidence.edge_case {
        format!("{strength}, edge case ({})", probability(evidence.probability))
    } else {
        strength.into()
    }
}

/// A pair's sign and word: those of its verdict, unless others cover it or it is accepted.
pub fn mark(pair: &PairReport) -> (&'static str, &'static str) {
    match &pair.accepted {
        Some(_) => ("✓", "accepted"),
        None if !pair.decides_itself() => ("~", "covered by others"),
        None => (icon(pair.verdict), pair.verdict.name()),
    }
}

/// Pairs in the order shown: what changed first, then what others cover, identical ones last.
pub fn ordered_pairs(comparison: &Comparison) -> Vec<&PairReport> {
    let mut pairs: Vec<&PairReport> = comparison.pairs.iter().collect();
    pairs.sort_by_key(|pair| rank(pair));
    pairs
}

/// How far down a pair stands: the less, the sooner it is shown.
pub fn rank(pair: &PairReport) -> u8 {
    match pair.verdict {
        _ if !pair.decides() => 3,
        Verdict::Changing => 0,
        Verdict::Inconclusive => 1,
        Verdict::LikelyPreserving => 2,
        Verdict::Identical => 4,
    }
}

/// What was compared with what: one name, or both when the function was renamed.
pub fn pair_name(pair: &PairReport) -> String {
    let cell = pair.cell.map(|cell| format!("{cell}: ")).unwrap_or_default();
    if pair.old.qualname == pair.new.qualname {
        format!("{cell}{}", pair.new.qualname)
    } else {
        format!("{cell}{} → {}", pair.old.qualname, pair.new.qualname)
    }
}

/// Values that entered at a row of the two versions side by side.
pub fn injections_at(witness: &Witness, old: Option<&LineReport>, new: Option<&LineReport>) -> Vec<usize> {
    let at = |injection: &Injection| {
        let line = match Side::numbered(injection.version) {
            Side::Old => old,
            Side::New => new,
        };
        line.is_some_and(|line| injection_line(injection) == Some(line.number))
    };
    (0..witness.injections.len()).filter(|&index| at(&witness.injections[index])).collect()
}

/// The part of a version's listing that holds a line. None for the version's own lines.
fn part_of(version: &VersionReport, line: u32) -> Option<&PartReport> {
    version.parts.iter().rfind(|part| part.number <= line)
}

/// The number that a line of a version has in its file.
pub fn line_in_file(version: &VersionReport, line: u32) -> u32 {
    let (start, first_line) =
        part_of(version, line).map_or((1, version.first_line), |part| (part.number, part.first_line));
    first_line.max(1) + line.saturating_sub(start)
}

/// A line by its number in its file, and by the file if that is another one: `12`, `12 (shop.tax)`.
pub fn line_name(version: &VersionReport, line: u32) -> String {
    let number = line_in_file(version, line);
    match part_of(version, line).and_then(|part| part_text(&part.text)) {
        Some(text) => format!("{number} ({text})"),
        None => number.to_string(),
    }
}

/// What holds a part, where it is not the text of the version.
pub fn part_text(text: &PartText) -> Option<String> {
    match text {
        PartText::Own => None,
        PartText::Module(module) => Some(plain::value(module)),
        PartText::EarlierCells => Some("an earlier cell".into()),
    }
}

/// The part of a listing that begins with a line.
pub fn part_from<'a>(version: &'a VersionReport, line: Option<&LineReport>) -> Option<&'a PartReport> {
    version.parts.iter().find(|part| line.is_some_and(|line| line.number == part.number))
}

/// The line of a pair in the new file: the first changed line that the witness ran, or else the first changed line, or that
/// of the function if lines were only removed or others changed.
pub fn changed_line(pair: &PairReport) -> u32 {
    let is_in_file = |line: u32| part_of(&pair.new, line).is_none_or(|part| part.text == PartText::Own);
    let changed = || pair.new.lines.iter().filter(|line| line.changed && is_in_file(line.number));
    let line = changed().find(|line| line.witness_hits > 0).or_else(|| changed().next());
    line_in_file(&pair.new, line.map_or(1, |line| line.number))
}

/// How often the difference goes away with another value of an input.
pub fn weight_text(weight: &InputWeight) -> String {
    let others = count(weight.tried as usize, "other value");
    match (weight.gone, weight.tried) {
        (0, 1) => "not with the one other value".into(),
        (0, _) => format!("none of {others}"),
        (1, 1) => "the other value".into(),
        (gone, tried) if gone == tried => format!("all {others}"),
        (gone, _) => format!("{} of {others}", number(gone as usize)),
    }
}

/// The first unchanged line that the versions did not run equally often, with its numbers in the files.
pub fn parting_sentence(pair: &PairReport, parting: &Divergence) -> String {
    let (old, new) = (line_name(&pair.old, parting.old_line), line_name(&pair.new, parting.new_line));
    let line = if old == new { format!("line {old}") } else { format!("line {old} ({new} in new)") };
    let said = format!("The first unchanged line that they did not run equally often is {line}");
    let times = |hits: u32| count(hits as usize, "time");
    match (parting.old_hits, parting.new_hits) {
        (_, 0) => format!("{said}: only old ran it."),
        (0, _) => format!("{said}: only new ran it."),
        (old, new) => format!("{said}: old ran it {}, new {}.", times(old), times(new)),
    }
}

/// Whether a line is shown as part of the change, beside the line of the other version in its row. What differs is found
/// in whole expressions, of which some lines may be the same.
pub fn is_marked(line: &LineReport, other: Option<&LineReport>) -> bool {
    other.is_none_or(|other| line.changed && line.text != other.text)
}

/// The lines of one row.
pub fn row_lines<'a>(
    pair: &'a PairReport,
    row: &twincell_syntax::AlignedRow,
) -> (Option<&'a LineReport>, Option<&'a LineReport>) {
    let line = |version: &'a VersionReport, index: Option<u32>| version.lines.get(index? as usize);
    (line(&pair.old, row.old), line(&pair.new, row.new))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{from_value, json};
    use twincell_behavior::{Channel, Strength};

    use super::*;
    use crate::label::{Label, label_name};
    use crate::plot::Confusion;

    /// The name of a group, how many changes are in it, and how many of them alter behavior.
    type Group = (String, usize, usize);

    /// What is given and, last, what is said; `widgets/js/src/words.ts` is held against the same.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Golden {
        #[serde(rename = "about")]
        _about: String,
        percent: Vec<(f64, String)>,
        probability: Vec<(f64, String)>,
        duration: Vec<(f64, String)>,
        number: Vec<(usize, String)>,
        count: Vec<(usize, String, String)>,
        margin: Vec<(bool, u32, String)>,
        strength: Vec<(Strength, bool, f64, String)>,
        verdicts: Vec<(Verdict, String, String)>,
        channels: Vec<(Channel, String)>,
        labels: Vec<(Option<String>, String)>,
        versions: Vec<(u8, String)>,
        executions: Vec<(bool, bool, bool, bool, String)>,
        legends: [String; 2],
        disagrees: Vec<(Option<String>, Verdict, bool)>,
        commits: Vec<(String, String)>,
        groups: Vec<(usize, Vec<Group>, String)>,
        too_many_years: Vec<(usize, String)>,
        weights: Vec<(u32, u32, String)>,
        partings: Vec<(u32, u32, u32, u32, String)>,
    }

    fn golden() -> Golden {
        serde_json::from_str(include_str!("../golden/words.json")).unwrap()
    }

    #[test]
    fn every_line_has_the_number_of_its_own_file() {
        let line = |number: u32| {
            json!({ "number": number, "text": "", "changed": number > 4, "executable": true,
            "executions": 0, "witness_hits": 0 })
        };
        let version: VersionReport = from_value(json!({ "qualname": "f", "first_line": 40, "coverage": 1.0,
            "changed_lines": 0, "changed_lines_reached": 0, "lines": (1..=8).map(line).collect::<Vec<_>>(),
            "parts": [{ "number": 3, "first_line": 10, "text": "own" },
                { "number": 5, "first_line": 7, "text": { "module": "shop.tax" } },
                { "number": 7, "first_line": 1, "text": "earlier_cells" }] }))
        .unwrap();
        let names: Vec<String> = (1..=8).map(|line| line_name(&version, line)).collect();
        let expected = ["40", "41", "10", "11", "7 (shop.tax)", "8 (shop.tax)", "1 (an earlier cell)"];
        assert_eq!(names[..7], expected);
        assert_eq!(part_from(&version, version.lines.get(4)).map(|part| part.first_line), Some(7));
        assert!(part_from(&version, version.lines.get(5)).is_none() && part_from(&version, None).is_none());
        // Only lines of the file itself can be named with it.
        let mut pair = twincell_samples::pair(Verdict::Changing);
        pair.new = version;
        assert_eq!(changed_line(&pair), 40);
        pair.new.lines[2].changed = true;
        assert_eq!(changed_line(&pair), 10);
    }

    #[test]
    fn a_line_that_both_have_is_no_part_of_the_change() {
        let line =
            |text: &str, changed: bool| LineReport { text: text.into(), ..twincell_samples::line(1, changed, true, 1) };
        assert!(is_marked(&line("x", false), None));
        assert!(is_marked(&line("x", true), Some(&line("y", false))));
        assert!(is_marked(&line("x ", true), Some(&line("x", true))));
        assert!(!is_marked(&line("    )", true), Some(&line("    )", true))));
        assert!(!is_marked(&line("x # old", false), Some(&line("x", false))));
    }

    #[test]
    fn numbers_are_written_as_in_the_interactive_view() {
        let golden = golden();
        let floats = [
            (percent as fn(f64) -> String, golden.percent),
            (probability, golden.probability),
            (duration, golden.duration),
        ];
        for (write, cases) in floats {
            for (given, said) in cases {
                assert_eq!(write(given), said, "{given}");
            }
        }
        for (given, said) in golden.number {
            assert_eq!(number(given), said);
        }
        for (given, noun, said) in golden.count {
            assert_eq!(count(given, &noun), said);
        }
        for (executable, executions, said) in golden.margin {
            let line = json!({ "number": 1, "text": "", "changed": false, "executable": executable,
                "executions": executions, "witness_hits": 0 });
            assert_eq!(margin(&from_value(line).unwrap()), said);
        }
        assert_eq!(percent(f64::NAN), "0\u{a0}%");
        assert_eq!(duration(f64::INFINITY), "unknown");
    }

    #[test]
    fn words_are_those_of_the_interactive_view() {
        let golden = golden();
        for (kind, edge_case, probability, said) in golden.strength {
            let evidence = json!({ "channel": "return", "place": "", "old": "", "new": "", "strength": kind,
                "probability": probability, "edge_case": edge_case, "score": 1.0, "execution": 1 });
            assert_eq!(strength(&from_value(evidence).unwrap()), said);
        }
        assert_eq!(golden.verdicts.iter().map(|(verdict, ..)| *verdict).collect::<Vec<_>>(), VERDICTS);
        for (verdict, sign, word) in golden.verdicts {
            assert_eq!((icon(verdict), verdict.name()), (sign.as_str(), word.as_str()));
        }
        for (channel, said) in golden.channels {
            assert_eq!(channel.name(), said);
        }
        for (label, said) in golden.labels {
            assert_eq!(label_name(label.as_deref().and_then(Label::of_name)), said);
        }
        for (version, said) in golden.versions {
            assert_eq!(version_name(version), said);
        }
        for (differs, examined, old, new, said) in golden.executions {
            let execution = json!({ "number": 1, "seed": 0, "old": "", "new": "", "old_valid": old, "new_valid": new,
                "differs": differs, "examined": examined, "new_lines": 0, "coverage_so_far": 1.0, "microseconds": 1 });
            assert_eq!(execution_mark(&from_value(execution).unwrap()), said);
        }
        assert_eq!(golden.legends, [EXECUTION_LEGEND, UNEXAMINED_LEGEND]);
        for (label, verdict, said) in golden.disagrees {
            assert_eq!(Confusion::disagrees(label.as_deref().and_then(Label::of_name), verdict), said);
        }
    }

    #[test]
    fn inputs_and_lines_are_told_as_in_the_interactive_view() {
        let golden = golden();
        for (gone, tried, said) in golden.weights {
            assert_eq!(weight_text(&InputWeight { path: "x".into(), tried, gone }), said);
        }
        for (old_line, new_line, old_hits, new_hits, said) in golden.partings {
            let parting = Divergence { old_line, new_line, old_hits, new_hits };
            assert_eq!(parting_sentence(&twincell_samples::pair(Verdict::Changing), &parting), said);
        }
    }

    #[test]
    fn studies_are_told_as_in_the_interactive_view() {
        let golden = golden();
        for (commit, said) in golden.commits {
            assert_eq!(commit_name(&commit), said);
        }
        for (groups, drawn, said) in golden.groups {
            let drawn: Vec<_> = (drawn.iter())
                .map(|(name, changes, changing)| GroupShare { name, changes: *changes, changing: *changing })
                .collect();
            assert_eq!(groups_sentence(groups, &drawn), said);
        }
        for (most, said) in golden.too_many_years {
            assert_eq!(too_many_years(most), said);
        }
    }
}
