//! Builds a [`PairReport`] from what a campaign found.

mod called;
mod headline;
mod place;
#[cfg(test)]
mod tests;
mod values;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use twincell_behavior::{Difference, Rules, align_calls, display_outcome, display_place, display_shown};
use twincell_engine::observed::Behavior;
use twincell_engine::protocol::{Context, Injection, Member};
use twincell_search::Target;
use twincell_syntax::{AlignedRow, CodeKind, Diff, Function, Parameter, ParameterKind, PerSide, Side, functions};
use twincell_values::path::Question;
use twincell_values::value::{Choice, Decision, Recipe};

use place::Sites;

use crate::ExampleSource;
use crate::campaign::{
    Campaign, Decisive, Suppressed, TestCase, Variations, is_without_module, joint_probability, replaced,
};
use crate::note::Note;
use crate::report::{
    Bound, BranchReport, CallSite, ChangeReached, Condition, Contrast, DecidedBy, Divergence, Evidence,
    ExecutionReport, LineReport, PairFacts, PairReport, PartReport, Reason, Reproducer, StoppedExample,
    SuppressedReport, VersionReport, Witness,
};
use crate::verdict::{self, EDGE_CASE, Verdict};

/// The maximum number of values named in a sentence, unless more are decisive.
const NAMED_VALUES: usize = 3;
/// A changed line ran in few executions if more than this number of times as many ran in all.
const FEW: usize = 4;

/// What is known about a pair before it runs.
pub(crate) struct PairContext<'a> {
    pub functions: &'a PerSide<Function>,
    pub diff: &'a Diff,
    /// The names that the functions use and that their modules bind differently.
    pub changed_names: &'a [String],
    /// (name in new, name in old) of private attributes of their class that were renamed.
    pub attribute_renames: &'a [(String, String)],
    /// The members from which the uses of a class choose.
    pub members: &'a [Member],
    /// The numbers of lines of the functions themselves. What they use comes behind.
    pub own_lines: PerSide<u32>,
    /// What comes behind.
    pub parts: PerSide<Vec<PartReport>>,
}

impl PairContext<'_> {
    /// (name in new, name in old) of private attributes that the function uses.
    fn renamed_attributes(&self) -> impl Iterator<Item = &(String, String)> {
        let used = twincell_syntax::attribute_names(&self.functions.new.text);
        // What one version keeps behind a property is another matter.
        let is_private = |name: &String| name.starts_with('_');
        let renames = self.attribute_renames.iter().filter(move |(is, was)| is_private(is) && is_private(was));
        renames.filter(move |(name, _)| used.contains(name))
    }

    /// The changed lines that can run: of the function itself, or where it has none, of what it uses.
    fn changed_lines(&self, target: &Target) -> PerSide<Vec<u32>> {
        let own = |side: Side| target.changed[side].iter().copied().filter(move |line| *line <= self.own_lines[side]);
        match Side::BOTH.into_iter().any(|side| own(side).next().is_some()) {
            true => PerSide::of(|side| own(side).collect()),
            false => target.changed.clone(),
        }
    }

    fn has_same_text(&self) -> bool {
        self.functions.old.text == self.functions.new.text
    }

    fn facts(&self) -> PairFacts {
        let new = &self.functions.new;
        PairFacts { kind: new.kind, name: new.qualname.clone(), has_same_text: self.has_same_text() }
    }
}

/// The results of running it.
pub(crate) struct CampaignSummary<'a> {
    /// What the versions ask for, and where.
    pub sites: Sites<'a>,
    pub verdict: Verdict,
    pub reason: Reason,
    pub campaign: &'a Campaign,
    pub witness: Option<&'a TestCase>,
    /// The decisive values of the witness.
    pub decisive: &'a [Decisive],
    /// What other values of its inputs show.
    pub variations: &'a Variations,
    /// A self-contained test for the witness.
    pub reproducer: Option<&'a Reproducer>,
    pub target: &'a Target,
    pub rules: &'a Rules,
    /// The probability of each class, by access path, as far as it is known.
    pub classes: &'a BTreeMap<String, Vec<f32>>,
    pub notes: &'a [Note],
    pub context: Context,
    pub milliseconds: f64,
}

/// The report of a pair that is the same program.
pub(crate) fn identical(context: &PairContext<'_>) -> PairReport {
    let PerSide { old, new } = context.functions;
    let reason = if context.has_same_text() {
        Reason::SameText
    } else if old.qualname != new.qualname {
        Reason::SameCode { old: old.qualname.clone(), new: new.qualname.clone() }
    } else {
        let locals = !context.diff.renames.is_empty();
        Reason::SameProgram { locals, private_attributes: context.renamed_attributes().next().is_some() }
    };
    unexecuted(context, Verdict::Identical, reason)
}

/// The report of a pair that could not run.
pub(crate) fn failed(context: &PairContext<'_>, reason: Reason) -> PairReport {
    unexecuted(context, Verdict::Inconclusive, reason)
}

/// The report of a pair that a bound kept from running.
pub(crate) fn bounded(context: &PairContext<'_>, bound: Bound) -> PairReport {
    PairReport { bound: Some(bound.clone()), ..failed(context, Reason::Bound(bound)) }
}

/// Marks a pair that a bound ended. Without a difference nothing is decided, since the rest might have shown one.
pub(crate) fn cut(report: &mut PairReport, bound: Bound) {
    report.bound = Some(bound.clone());
    if report.verdict == Verdict::Changing {
        report.notes.push(Note::Bound(bound));
    } else {
        report.verdict = Verdict::Inconclusive;
        report.reason = Reason::Bound(bound);
        (report.reached, report.stopped) = (None, None);
    }
}

fn unexecuted(context: &PairContext<'_>, verdict: Verdict, reason: Reason) -> PairReport {
    let campaign = Campaign::default();
    let PerSide { old, new } = PerSide::of(|side| version(context, side, &campaign, &Target::default(), None));
    PairReport {
        verdict,
        reason,
        headline: None,
        reached: None,
        stopped: None,
        bound: None,
        evidence: vec![],
        suppressed: vec![],
        old,
        new,
        rows: context.diff.rows.clone(),
        executed: 0,
        executions: vec![],
        line_sets: vec![],
        paths: vec![],
        witness: None,
        shown_by: None,
        cell: None,
        decided_by: DecidedBy::Itself,
        uses_changed: uses_changed(context),
        accepted: None,
        reproducer: None,
        lost: 0,
        isolation: Default::default(),
        stays_away: false,
        facts: context.facts(),
        predicted_by: String::new(),
        notes: vec![],
        milliseconds: 0.0,
    }
}

/// The report of a pair that ran.
pub(crate) fn report(context: &PairContext<'_>, summary: &CampaignSummary<'_>) -> PairReport {
    let campaign = summary.campaign;
    let stopped = || campaign.stopped_example().filter(|_| summary.verdict == Verdict::Inconclusive);
    let shown = summary.witness.or_else(stopped).or_else(|| {
        // Without a difference, show the usable execution that ran the most lines.
        let usable = campaign.executions.iter().filter(|case| case.is_valid());
        usable.max_by_key(|case| (lines_run(case), std::cmp::Reverse(case.record.index)))
    });
    let PerSide { old, new } = PerSide::of(|side| version(context, side, campaign, summary.target, shown));
    let probability = joint_probability(summary.decisive);
    let evidence = summary.witness.map_or_else(Vec::new, |case| evidence(case, probability));
    let shows_it = summary.witness.filter(|_| summary.verdict == Verdict::Changing);
    let headline = shows_it.map(|case| headline::headline(context, summary, case, &evidence));
    let told = headline.is_some();
    let mut line_sets = LineSets::default();
    let executions = campaign.executions.iter().map(|case| execution(case, &mut line_sets)).collect();
    PairReport {
        verdict: summary.verdict,
        reason: summary.reason.clone(),
        headline,
        reached: (!told && summary.verdict == Verdict::LikelyPreserving).then(|| reached(context, summary)),
        stopped: stopped().filter(|_| !told).map(stopped_example),
        bound: None,
        evidence,
        suppressed: suppressed(summary),
        old,
        new,
        rows: context.diff.rows.clone(),
        executed: campaign.executed() as u32,
        executions,
        line_sets: line_sets.sets,
        paths: values::paths(campaign, summary.classes),
        witness: shown
            .and_then(|case| witness(context, case, summary.decisive, summary.rules))
            .map(|witness| with_variations(witness, summary.variations)),
        shown_by: shown_by(summary),
        cell: None,
        decided_by: DecidedBy::Itself,
        uses_changed: uses_changed(context),
        accepted: None,
        reproducer: summary.reproducer.cloned(),
        lost: campaign.lost.len() as u32,
        isolation: Default::default(),
        stays_away: campaign.stays_away(),
        facts: context.facts(),
        predicted_by: String::new(),
        notes: notes(context, summary),
        milliseconds: summary.milliseconds,
    }
}

fn with_variations(witness: Witness, variations: &Variations) -> Witness {
    Witness {
        varied: variations.varied.clone(),
        varied_together: variations.together.clone(),
        input_weights: variations.weights.clone(),
        ..witness
    }
}

/// What the executions reached of the change.
fn reached(context: &PairContext<'_>, summary: &CampaignSummary<'_>) -> ChangeReached {
    let campaign = summary.campaign;
    let lines = context.changed_lines(summary.target);
    let never = PerSide::of(|side| {
        let missed = lines[side].iter().filter(|line| !campaign.reached[side].contains(line));
        missed.map(|line| context.functions[side].first_line + line - 1).collect::<Vec<u32>>()
    });
    let ran = Side::BOTH.into_iter().flat_map(|side| lines[side].iter().map(move |line| campaign.ran(side, *line)));
    ChangeReached {
        changed: lines.iter().map(Vec::len).sum(),
        never,
        least: ran.min().filter(|least| *least as usize * FEW < campaign.executed()),
        changed_names: context.changed_names.to_vec(),
        stopped_early: campaign.stopped_early,
    }
}

/// A stopped execution with the first injected values.
fn stopped_example(case: &TestCase) -> StoppedExample {
    let entered = case.record.choices.iter().filter(|choice| injection_of(case, choice).is_some());
    let condition = |choice: &Choice| Condition { choice: choice.clone(), call: CallSite::Unknown };
    StoppedExample { values: entered.take(NAMED_VALUES).map(condition).collect(), execution: number(case) }
}

fn injection_of<'a>(case: &'a TestCase, choice: &Choice) -> Option<&'a Injection> {
    case.record.injections.iter().find(|injection| injection.path == choice.path)
}

/// The report of a pair with an execution on values that a person chose as its example. `chosen` are their access paths.
/// None if its difference does not count as a change.
pub(crate) fn with_example(
    context: &PairContext<'_>,
    report: &PairReport,
    case: &TestCase,
    decisive: &[Decisive],
    chosen: &[String],
    reproducer: Reproducer,
    rules: &Rules,
) -> Option<PairReport> {
    // How likely a value is does not matter where a person has chosen it.
    let is_drawn = |one: &&Decisive| !chosen.contains(&one.path);
    let drawn: Vec<Decisive> = decisive.iter().filter(is_drawn).cloned().collect();
    let evidence = evidence(case, joint_probability(&drawn));
    if !evidence.iter().any(|one| one.score >= verdict::CHANGING) {
        return None;
    }
    let summary = CampaignSummary {
        verdict: Verdict::Changing,
        reason: Reason::Differs,
        campaign: &Campaign::default(),
        witness: Some(case),
        sites: PerSide::of(|_| &[][..]),
        decisive,
        variations: &Variations::default(),
        reproducer: Some(&reproducer),
        target: &Target::default(),
        rules,
        classes: &BTreeMap::new(),
        notes: &[],
        context: Context::Function,
        milliseconds: 0.0,
    };
    let headline = headline::headline(context, &summary, case, &evidence);
    let witness = Witness { chosen: chosen.to_vec(), ..witness(context, case, decisive, rules)? };
    let with_hits = |version: &VersionReport, side: Side| {
        let hits = |number: u32| case.behavior(side).map_or(0, |behavior| behavior.hits(number));
        let line = |line: &LineReport| LineReport { witness_hits: hits(line.number), ..line.clone() };
        VersionReport { lines: version.lines.iter().map(line).collect(), ..version.clone() }
    };
    Some(PairReport {
        verdict: Verdict::Changing,
        reason: Reason::Differs,
        headline: Some(headline),
        reached: None,
        stopped: None,
        evidence,
        old: with_hits(&report.old, Side::Old),
        new: with_hits(&report.new, Side::New),
        witness: Some(witness),
        reproducer: Some(reproducer),
        ..report.clone()
    })
}

/// What changed of the names that an unchanged function uses. Its decorators are its own.
fn uses_changed(context: &PairContext<'_>) -> Vec<String> {
    let PerSide { old, new } = context.functions.as_ref().map(|function| &function.decorators);
    if old == new { context.changed_names.to_vec() } else { vec![] }
}

fn lines_run(case: &TestCase) -> usize {
    case.record.behaviors.iter().map(|behavior| behavior.lines.len()).sum()
}

fn notes(context: &PairContext<'_>, summary: &CampaignSummary<'_>) -> Vec<Note> {
    let (campaign, PerSide { old, new }) = (summary.campaign, context.functions);
    let renames: Vec<(String, String)> =
        context.diff.renames.iter().chain(context.renamed_attributes()).cloned().collect();
    let further = [
        (old.qualname != new.qualname).then(|| Note::Paired { old: old.qualname.clone(), new: new.qualname.clone() }),
        (!renames.is_empty()).then_some(Note::Renamed(renames)),
        signature(old, new),
        (!context.changed_names.is_empty()).then(|| Note::UsesChanged(context.changed_names.to_vec())),
        (campaign.nondeterministic > 0).then_some(Note::Nondeterministic(campaign.nondeterministic)),
        campaign.lost.first().map(|first| Note::Lost { count: campaign.lost.len(), first: first.clone() }),
        campaign.stopped_early.then_some(Note::StoppedEarly),
        (summary.context == Context::Function).then_some(Note::FunctionContext),
        replacement(summary),
    ];
    let suppressed = campaign.suppressed.iter().map(|one| {
        let first = one.case.differences.first();
        Note::Suppressed {
            rule: one.rule.clone(),
            contrast: first
                .map_or_else(Contrast::default, |first| headline::difference(&one.case, first, summary.rules)),
            execution: number(&one.case),
            changed_verdict: changed_verdict(summary, one),
        }
    });
    summary.notes.iter().cloned().chain(further.into_iter().flatten()).chain(suppressed).collect()
}

/// Which calls of old fail with the signature of new, if any.
fn signature(old: &Function, new: &Function) -> Option<Note> {
    use ParameterKind as K;
    let takes = |function: &Function, kind| function.parameters.iter().any(|one| one.kind == kind);
    let by_name = |one: &&Parameter| matches!(one.kind, K::Positional | K::KeywordOnly);
    let has = |function: &Function, name: &str| function.parameters.iter().any(|one| one.name == name && by_name(&one));
    let own = usize::from(new.class_name.is_some());
    let gone = old.parameters.iter().skip(own).filter(by_name).filter(|one| !has(new, &one.name));
    let gone: Vec<String> = gone.filter(|_| !takes(new, K::VarKeyword)).map(|one| one.name.clone()).collect();
    let in_order = |one: &&Parameter| matches!(one.kind, K::PositionalOnly | K::Positional);
    let known = if takes(old, K::VarPositional) { usize::MAX } else { old.parameters.iter().filter(in_order).count() };
    let more = new.parameters.iter().filter(in_order).skip(known);
    let more = more.chain(new.parameters.iter().filter(|one| one.kind == K::KeywordOnly && !has(old, &one.name)));
    let required: Vec<String> = more.filter(|one| !one.has_default).map(|one| one.name.clone()).collect();
    (!gone.is_empty() || !required.is_empty()).then_some(Note::Signature { gone, required })
}

/// Whether the verdict would be another one without the rule.
fn changed_verdict(summary: &CampaignSummary<'_>, one: &Suppressed) -> bool {
    summary.verdict != Verdict::Changing && one.would_decide()
}

fn suppressed(summary: &CampaignSummary<'_>) -> Vec<SuppressedReport> {
    let report = |one: &Suppressed| SuppressedReport {
        rule: one.rule.clone(),
        evidence: evidence(&one.case, one.case.probability),
        changed_verdict: changed_verdict(summary, one),
    };
    summary.campaign.suppressed.iter().map(report).collect()
}

/// What was injected in place of existing objects, as far as the verdict rests on it.
fn replacement(summary: &CampaignSummary<'_>) -> Option<Note> {
    let Some(witness) = summary.witness else {
        let alone = |case: &&TestCase| is_without_module(&case.record.choices);
        let executions = summary.campaign.executions.iter().filter(alone).count();
        return (executions > 0).then_some(Note::WithoutModule { executions });
    };
    if is_without_module(&witness.record.choices) {
        return Some(Note::ShownWithoutModule);
    }
    let names: Vec<String> = replaced(&witness.record.choices).map(str::to_owned).collect();
    (!names.is_empty()).then_some(Note::Replaced(names))
}

/// The context whose values show the difference of a witness.
fn shown_by(summary: &CampaignSummary<'_>) -> Option<Context> {
    let alone = is_without_module(&summary.witness?.record.choices);
    Some(if alone { Context::Function } else { summary.context })
}

fn version(
    context: &PairContext<'_>,
    side: Side,
    campaign: &Campaign,
    target: &Target,
    witness: Option<&TestCase>,
) -> VersionReport {
    let function = &context.functions[side];
    let runs = |line: u32| campaign.ran(side, line);
    let numbers = |lines: &[u32]| lines.iter().copied().collect::<HashSet<u32>>();
    let (executable, changed) = (numbers(&target.lines[side]), numbers(&context.diff.lines[side]));
    let lines: Vec<LineReport> = function
        .text
        .lines()
        .enumerate()
        .map(|(index, text)| {
            let number = index as u32 + 1;
            let executable = executable.contains(&number);
            let behavior = witness.and_then(|case| case.behavior(side));
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
    let counted = &context.changed_lines(target)[side];
    let executable = lines.iter().filter(|line| line.executable).count();
    let ran = lines.iter().filter(|line| line.executions > 0).count();
    VersionReport {
        qualname: function.qualname.clone(),
        first_line: function.first_line,
        parts: context.parts[side].clone(),
        coverage: if executable == 0 { 0.0 } else { ran as f64 / executable as f64 },
        changed_lines: counted.len() as u32,
        changed_lines_reached: counted.iter().filter(|line| runs(**line) > 0).count() as u32,
        branches: branches(&target.branches[side], side, campaign),
        lines,
    }
}

/// The differences of an execution. The values of the execution together have this probability.
pub(crate) fn evidence(case: &TestCase, probability: f64) -> Vec<Evidence> {
    let one = |difference: &Difference| Evidence {
        channel: difference.channel,
        place: display_place(&difference.place),
        at: Some(difference.place.clone()),
        old: display_shown(&difference.old).to_owned(),
        new: display_shown(&difference.new).to_owned(),
        strength: difference.basis.strength(),
        score: case.score_of(difference, probability),
        probability,
        edge_case: probability < EDGE_CASE,
        execution: number(case),
    };
    case.differences.iter().map(one).collect()
}

/// Each set of lines once, since executions take few paths.
#[derive(Default)]
struct LineSets {
    sets: Vec<[Vec<u32>; 2]>,
    known: HashMap<[Vec<u32>; 2], u32>,
}

impl LineSets {
    /// The number of the set of lines that an execution ran.
    fn of(&mut self, case: &TestCase) -> u32 {
        let set = Side::BOTH.map(|side| {
            let behavior = case.behavior(side);
            behavior.map_or_else(Vec::new, |behavior| behavior.lines.iter().map(|(line, _)| *line).collect())
        });
        *self.known.entry(set).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            self.sets.len() as u32 - 1
        })
    }
}

/// How often each condition of a version went each way.
fn branches(lines: &[u32], side: Side, campaign: &Campaign) -> Vec<BranchReport> {
    let mut branches: Vec<BranchReport> =
        lines.iter().map(|&line| BranchReport { line, taken: 0, not_taken: 0 }).collect();
    for behavior in campaign.executions.iter().filter_map(|case| case.behavior(side)) {
        for &(number, yes, no) in &behavior.branches {
            if let Some(branch) = branches.get_mut(number as usize) {
                branch.taken += u32::from(yes > 0);
                branch.not_taken += u32::from(no > 0);
            }
        }
    }
    branches
}

fn execution(case: &TestCase, line_sets: &mut LineSets) -> ExecutionReport {
    let outcome = |side| case.behavior(side).map_or(String::new(), |behavior| display_outcome(&behavior.outcome));
    let valid = |side| case.behavior(side).is_some_and(|behavior| behavior.outcome.is_valid());
    ExecutionReport {
        number: number(case),
        seed: case.record.seed,
        old: outcome(Side::Old),
        new: outcome(Side::New),
        old_valid: valid(Side::Old),
        new_valid: valid(Side::New),
        differs: !case.differences.is_empty(),
        examined: case.examined,
        new_lines: case.new_lines,
        coverage_so_far: case.coverage,
        microseconds: case.record.microseconds,
        example: source(case),
        lines: line_sets.of(case),
        choices: case.record.choices.clone(),
    }
}

/// Where the example comes from on whose values an execution ran.
fn source(case: &TestCase) -> Option<ExampleSource> {
    case.example().map(|example| example.source.clone())
}

/// People count from one.
pub(super) fn number(case: &TestCase) -> u32 {
    case.record.index + 1
}

/// The members that an execution used, in order. Empty if no class was used from outside.
pub(super) fn members_used<'a>(context: &PairContext<'a>, case: &TestCase) -> Vec<&'a Member> {
    let drawn = |question: Question<'_>| {
        let path = question.to_string();
        match &case.record.choices.iter().find(|choice| choice.path == path)?.decision {
            Decision::Value(Recipe::Int(number)) => usize::try_from(*number).ok(),
            _ => None,
        }
    };
    let Some(last) = drawn(Question::MembersUsed).filter(|_| !context.members.is_empty()) else { return vec![] };
    let steps = (1..=u32::try_from(last + 1).unwrap_or(u32::MAX)).map_while(|step| drawn(Question::Member(step)));
    steps.filter_map(|index| context.members.get(index)).collect()
}

pub(crate) fn witness(
    context: &PairContext<'_>,
    case: &TestCase,
    decisive: &[Decisive],
    rules: &Rules,
) -> Option<Witness> {
    let [old, new] = case.record.behaviors.as_slice() else { return None };
    Some(Witness {
        execution: number(case),
        uses: called::uses(context, case, &members_used(context, case)),
        methods: changed_methods(context, &PerSide::new(old, new)),
        choices: case.record.choices.clone(),
        example: source(case),
        replaced: replaced(&case.record.choices).map(str::to_owned).collect(),
        injections: case.record.injections.clone(),
        decisive: decisive.iter().map(|value| value.path.clone()).collect(),
        probabilities: decisive.iter().map(|value| value.probability).collect(),
        old: old.clone(),
        new: new.clone(),
        calls: align_calls(&old.calls, &new.calls, rules),
        varied: vec![],
        varied_together: None,
        input_weights: vec![],
        parting: parting(context, old, new),
        chosen: vec![],
    })
}

/// The methods of a class of which one of these ran changed lines.
fn changed_methods(context: &PairContext<'_>, behaviors: &PerSide<&Behavior>) -> Vec<String> {
    let class = &context.functions.new;
    if class.kind != CodeKind::Class {
        return vec![];
    }
    let of = |side: Side| {
        let ran = |line: &&u32| behaviors[side].hits(**line) > 0;
        let lines: Vec<u32> = context.diff.lines[side].iter().filter(ran).copied().collect();
        let holds_one = move |method: &Function| {
            let own = method.first_line..method.first_line + method.text.lines().count() as u32;
            method.parent.is_none() && lines.iter().any(|line| own.contains(line))
        };
        let methods = functions(&context.functions[side].text).0.into_iter().filter(holds_one);
        // In its own text, a class stands in no other.
        let named = |method: Function| {
            method.qualname.strip_prefix(&context.functions[side].name).map(|rest| class.qualname.clone() + rest)
        };
        methods.filter_map(named).collect::<Vec<_>>()
    };
    Side::BOTH.into_iter().flat_map(of).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The first unchanged line, in the order of the text, that both versions did not run equally often. Changed lines say
/// themselves what is different.
fn parting(context: &PairContext<'_>, old: &Behavior, new: &Behavior) -> Option<Divergence> {
    let changed = |side: Side, index: u32| context.diff.lines[side].contains(&(index + 1));
    context.diff.rows.iter().find_map(|row: &AlignedRow| {
        let (from, to) = (row.old?, row.new?);
        if changed(Side::Old, from) || changed(Side::New, to) {
            return None;
        }
        let (old_line, new_line) = (from + 1, to + 1);
        let (old_hits, new_hits) = (old.hits(old_line), new.hits(new_line));
        (old_hits != new_hits).then_some(Divergence { old_line, new_line, old_hits, new_hits })
    })
}
