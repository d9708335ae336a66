//! The executions of one pair: choose, execute, learn, stop.
//!
//! [`run`] is the loop. Each idea has a file: what is kept and learned (`corpus.rs`), the next execution (`choose.rs`),
//! values from the text alone (`environments.rs`), whether a difference is real (`confirm.rs`), what rules suppress
//! (`suppressed.rs`), a small witness (`shrink.rs`), another one (`natural_witnesses.rs`), and the predictor's expectations
//! (`explain.rs`).

mod bisect;
mod causes;
mod choose;
mod concretize;
mod confirm;
mod contributing_inputs;
mod corpus;
mod data;
mod decisive;
mod drop_calls;
mod environments;
mod explain;
mod metered;
mod natural_failures;
mod natural_witnesses;
mod replacement;
mod sensitivity;
mod shrink;
mod smaller;
mod suppressed;
mod tally;
mod techniques;

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use causes::classify_basis;
use choose::choose;
use confirm::{Effort, Repeated, confirm};
use corpus::{State, learn};
use tally::Tally;

use twincell_behavior::{Basis, Difference, EvidencePlace, Rule, Rules, differences};
use twincell_engine::observed::{Behavior, Outcome};
use twincell_engine::protocol::{ExecutionRecord, ExecutionRequest, Injection};
use twincell_engine::{EngineError, Executed};
use twincell_search::Target;
use twincell_syntax::python::{is_builtin, is_pure_import};
use twincell_syntax::site::SiteKind;
use twincell_syntax::{PerSide, Side};
use twincell_values::path::{AccessPath, Question};
use twincell_values::value::{Choice, Decision, Recipe};

use crate::reason::Support;
use crate::verdict::Invented;
use crate::{Continue, Example, verdict};

pub(crate) use confirm::both;
pub use confirm::{differs, is_deterministic, is_same_again, repeat};
pub use decisive::{Decisive, decisive, joint_probability};
pub use explain::explain;
pub use metered::Metered;
pub use natural_witnesses::natural_witnesses;
pub(crate) use replacement::{is_without_module, replaced};
pub use sensitivity::{Variations, variations};
pub use shrink::{Values, shrink};
pub use suppressed::Suppressed;
pub use techniques::Techniques;

/// The size of the first batch, and of the one after a loss. Later batches grow to the largest size.
const FIRST_BATCH: u32 = 2;
const LARGEST_BATCH: u32 = 64;
/// The size of a batch while more executions are planned, since their results change what comes next.
const LEARNING_BATCH: u32 = 12;
/// The numbers of lost executions after which a campaign ends: the few if nothing else came back, the many in any case.
const FEW_LOST: usize = 3;
const MANY_LOST: usize = 6;
/// The number of executions without a usable one after which a campaign ends whose executions are stopped by a bound.
const MANY_STOPPED: usize = 12;
/// The number of executions spent on finding a better difference once a weak or unlikely one is confirmed, and how many
/// of the differing ones are then confirmed.
const FURTHER: u32 = 64;
const MOST_CONFIRMED: u32 = 6;
/// The number of executions after one that is unlikely, cannot be, or only crashes.
const FURTHER_OF_UNLIKELY: u32 = 192;
/// How many differences to confirm if unlikely ones do not count.
const MOST_IGNORED: u32 = 24;
/// How many weak differences to confirm before similar ones are assumed weak.
const MOST_WEAK: u32 = 24;
/// How many differences may prove to be noise before others in the same places are assumed to be noise, and before all
/// are. Each costs many repetitions.
const MOST_NOISY: u32 = 6;
const MOST_NOISY_ANYWHERE: u32 = 24;
/// The number of executions spent on finding the decisive values of a difference.
pub const DECISIVE_BUDGET: u32 = 40;
/// The maximum number of executions after a difference is found.
const COMPLETING: u32 = 48;

/// Runs requests: a loaded program, or a stand-in in tests.
pub trait Execute {
    fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError>;
}

impl Execute for twincell_engine::Loaded<'_> {
    fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError> {
        self.run(requests)
    }
}

/// One execution as the campaign keeps it.
#[derive(Debug, Clone)]
pub struct TestCase {
    pub record: ExecutionRecord,
    pub differences: Vec<Difference>,
    /// The lines that no earlier execution ran.
    pub new_lines: u32,
    pub coverage: f64,
    /// The probability of the values that its confirmed differences need, 0 to 1.
    pub probability: f64,
    /// Whether they need the result of a method of a text that the code itself writes down (`'-'.join(objects)`). Python
    /// knows such results.
    pub rests_on_text: bool,
    /// Whether they need a container of objects in which the code only looks things up: plain values would say more.
    pub rests_on_objects: bool,
    /// Whether its differences were examined, or there were none. `false` if a difference was dropped without a repetition.
    pub examined: bool,
    /// The example from which its decisions come. See [`Self::example`].
    pub given: Option<Arc<Example>>,
}

impl TestCase {
    /// An execution with its differences, as long as nothing else is known of it.
    pub(crate) fn new(record: ExecutionRecord, differences: Vec<Difference>) -> Self {
        Self {
            record,
            differences,
            new_lines: 0,
            coverage: 0.0,
            probability: 1.0,
            rests_on_text: false,
            rests_on_objects: false,
            examined: true,
            given: None,
        }
    }

    /// Drops its differences, which nobody repeated.
    fn discard_differences(&mut self) {
        self.examined &= self.differences.is_empty();
        self.differences.clear();
    }

    pub fn behavior(&self, side: Side) -> Option<&Behavior> {
        self.record.behaviors.get(usize::from(side.number()))
    }

    /// The example on whose values it ran, if it kept them.
    pub fn example(&self) -> Option<&Example> {
        self.given.as_deref().filter(|example| example.is_of(&self.record.choices))
    }

    /// Whether the decision for this path is one of its example.
    pub(crate) fn is_given(&self, path: &str) -> bool {
        self.example().is_some_and(|example| example.fixed.contains_key(path))
    }

    /// How much its differences speak for a change, 0 to 1.
    pub fn score(&self) -> f64 {
        self.score_at(self.probability)
    }

    /// The same if its values had this probability.
    pub(crate) fn score_at(&self, probability: f64) -> f64 {
        self.differences.iter().map(|difference| self.score_of(difference, probability)).fold(0.0, f64::max)
    }

    /// How much one of its differences speaks for a change, 0 to 1.
    pub(crate) fn score_of(&self, difference: &Difference, probability: f64) -> f64 {
        verdict::score(difference.basis, probability, self.invented())
    }

    /// Whether the difference may come from an invented result alone: of a function of the program that failed; of a
    /// look-up that failed in a dictionary or a set, most likely given in place of a list; of a method of a text of the code;
    /// or of an operation on a plain value that one version names by its path and the other by the value itself, so that
    /// the two got different results.
    pub(crate) fn invented(&self) -> Invented {
        let synthesized = &self.record.synthesized;
        let is_by_itself = |path: &str, choice: &Choice| {
            let Decision::Value(value) = &choice.decision else { return false };
            let Some(operation) = AccessPath::from(path).beyond(&choice.path) else { return false };
            let is_look_up = matches!(value, Recipe::Dict(_) | Recipe::Set(_));
            is_look_up || !value.has_object() && synthesized.contains(&format!("{}{operation}", value.display()))
        };
        let choices = &self.record.choices;
        if self.is_refused() {
            Invented::Surely
        } else if self.rests_on_text || synthesized.iter().any(|path| choices.iter().any(|one| is_by_itself(path, one)))
        {
            Invented::Perhaps
        } else {
            Invented::No
        }
    }

    /// Whether a function of the program failed on plain values, as it would in Python, and the code went on with a result
    /// that was invented.
    fn is_refused(&self) -> bool {
        let ExecutionRecord { failed, synthesized, .. } = &self.record;
        failed.iter().any(|path| synthesized.iter().any(|operation| AccessPath::new(path).any_call() == *operation))
    }

    /// Whether it needs no result that Python would not give: no synthesized one, and none of a builtin function or a
    /// function of the program that failed, or of a function that only computes and was made to fail or to succeed.
    fn is_possible(&self) -> bool {
        let computes = |path: &str| {
            let callee = AccessPath::new(path).callee();
            callee.and_then(AccessPath::split_attribute).is_some_and(|(module, _)| is_pure_import(module.as_str()))
        };
        let is_contrary = |choice: &Choice| match (Question::parse(&choice.path), &choice.decision) {
            (Question::Succeeds(_), decision) => *decision == Decision::Value(Recipe::Bool(true)),
            (_, Decision::Raise(_) | Decision::Fail) => computes(&choice.path),
            _ => false,
        };
        let is_of_builtin = |one: &Injection| {
            let callee = one.path.as_path().callee().filter(|_| one.kind == Some(SiteKind::Call));
            callee.is_some_and(|callee| is_builtin(callee.as_str()))
        };
        let Self { record, .. } = self;
        record.synthesized.is_empty()
            && record.failed.is_empty()
            && !record.injections.iter().any(is_of_builtin)
            && !record.choices.iter().any(is_contrary)
    }

    /// Whether this value is a container that holds an object in place of one that could be written. An object whose
    /// attributes the code reads could not.
    fn hides(&self, choice: &Choice) -> bool {
        let Decision::Value(value) = &choice.decision else { return false };
        let has_attributes =
            |within: &Choice| AccessPath::new(&within.path).beyond(&choice.path).is_some_and(|rest| rest.contains('.'));
        let is_container = !matches!(value, Recipe::Mock(_)) && value.has_object();
        is_container && !self.record.choices.iter().any(has_attributes)
    }

    /// Whether no other execution could speak more clearly for a change.
    pub fn is_sure(&self) -> bool {
        self.score() >= verdict::SURE && self.is_possible() && !self.rests_on_objects
    }

    /// Whether it needs values that hardly ever occur, or results that Python would not give, or only shows that a version
    /// crashes on them.
    fn could_be_likelier(&self) -> bool {
        let crashes = self.differences.iter().all(|difference| difference.basis == Basis::Crashed);
        self.probability < verdict::EDGE_CASE || !self.is_possible() || crashes
    }

    /// Whether it shows a change that can happen where the other does not, or shows more, or as much on an example or on
    /// values that can be read.
    fn speaks_more_clearly_than(&self, other: &Self) -> bool {
        let can_be = |case: &Self, score: f64| (score >= verdict::CHANGING, case.is_possible());
        let worth = |case: &Self| (case.example().is_some(), !case.rests_on_objects);
        let (own, others) = (self.score(), other.score());
        match can_be(self, own).cmp(&can_be(other, others)) {
            Ordering::Equal => own > others || own == others && worth(self) > worth(other),
            order => order == Ordering::Greater,
        }
    }

    /// Whether both versions ended in a way that says something about behavior.
    pub fn is_valid(&self) -> bool {
        self.record.behaviors.iter().all(|behavior| behavior.outcome.is_valid())
    }
}

/// The findings of a campaign.
#[derive(Debug, Clone, Default)]
pub struct Campaign {
    /// Whether executions that one version did not end do end a little later.
    pub ends_later: bool,
    /// In order. Of a long campaign, the first ones, and later ones that reach or show something.
    pub executions: Vec<TestCase>,
    /// The executions that are only counted.
    pub tally: Tally,
    /// The position in `executions` of the confirmed difference.
    pub witness: Option<usize>,
    pub lost: Vec<String>,
    /// The number of differences of which nothing is known, since the worker was lost whenever they were repeated.
    pub unconfirmed: u32,
    /// The number of differences of which nothing is known, since the work was stopped when they were to be repeated.
    pub unrepeated: u32,
    /// The number of differences that were not the same when an execution was repeated.
    pub nondeterministic: u32,
    /// The first execution with such a difference.
    pub noisy: Option<Box<ExecutionRecord>>,
    /// The number of confirmed differences that were left out because only an unlikely value shows them.
    pub edge_cases: u32,
    /// What rules suppressed, once for each rule.
    pub suppressed: Vec<Suppressed>,
    /// The changed lines that a valid execution ran.
    pub reached: PerSide<BTreeSet<u32>>,
    /// The sides of branches that a valid execution took, by the numbers of the branches.
    pub outcomes: PerSide<BTreeSet<(u32, bool)>>,
    pub stopped_early: bool,
    pub support: Support,
}

/// The least probability of the values behind a difference that settles a trial.
const LIKELY: f64 = 0.1;

impl Campaign {
    /// Whether a trial needs no better predictions: nothing could outdo its difference, or nobody waits for more.
    pub fn is_settled(&self) -> bool {
        let is_clear = |case: &TestCase| case.is_sure() && case.probability >= LIKELY;
        let found = self.witness.is_some_and(|witness| is_clear(&self.executions[witness]));
        self.stopped_early || found && self.lost.is_empty() && self.nondeterministic == 0
    }
}

/// The parameters of a campaign.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The maximum number of executions.
    pub budget: u32,
    pub seed: u64,
    pub techniques: Techniques,
    pub rules: Rules,
    /// Whether a difference that only an unlikely value shows does not end the search.
    pub ignore_edge_cases: bool,
    /// The probability that an unknown call raises.
    pub raise_probability: f64,
    /// Whether existing objects may be replaced with injected ones.
    pub may_replace: bool,
    /// They are executed first.
    pub examples: Vec<Arc<Example>>,
    /// If this is a trial, the maximum number of its executions. One that is not settled is given up.
    pub trial: Option<u32>,
}

impl Plan {
    /// The examples that are executed: as many as half of the budget, since the rest varies them.
    fn executed_examples(&self) -> &[Arc<Example>] {
        let most = (self.budget / 2).max(1) as usize;
        &self.examples[..self.examples.len().min(most)]
    }

    /// The example that is the execution of this index.
    fn example_at(&self, index: u32) -> Option<Arc<Example>> {
        self.executed_examples().get(index as usize).cloned()
    }
}

/// Runs executions until a difference is confirmed or the budget is used up.
pub fn run(
    execute: &mut dyn Execute,
    target: &Target,
    plan: &Plan,
    progress: &mut dyn FnMut(u32, f64) -> Continue,
) -> Result<Campaign, EngineError> {
    let mut state = State::new(target, plan);
    let mut campaign = Campaign::default();
    let mut next = 0;
    let mut batch = FIRST_BATCH;
    let mut triage = Triage::new(plan);
    while next < triage.end && (!is_hopeless(&campaign) || state.replacement.give_way(&campaign)) {
        let count = batch.min(state.environments.most()).min(triage.end - next);
        let (lost, before) = (campaign.lost.len(), campaign.executions.len());
        let requests = (next..next + count).map(|index| choose(&mut state, plan.seed, index)).collect();
        next += count;
        batch = (batch * 2).min(if state.search.is_waiting() { LEARNING_BATCH } else { LARGEST_BATCH });
        triage.sure = false;
        for executed in execute.execute(requests)? {
            match executed {
                Executed::Lost { reason, .. } => {
                    campaign.lost.push(reason);
                    continue;
                }
                Executed::Record(record) => learn(&mut state, &mut campaign, *record),
            }
            let Some(last) = campaign.executions.len().checked_sub(1) else { continue };
            triage.take(execute, &mut campaign, last, next)?;
        }
        campaign.prune(before);
        if campaign.lost.len() > lost {
            batch = FIRST_BATCH;
        }
        let coverage = state.search.coverage();
        // A trial that needs more than its first difference costs more than the network.
        let is_tried = plan.trial.is_some() && campaign.witness.is_some();
        if triage.sure || is_tried || !state.go_on(&campaign, next) {
            break;
        }
        if progress(next, coverage) == Continue::Stop {
            // One that had nothing left to do ended by itself.
            campaign.stopped_early |= next < triage.end || !campaign.suppressed.is_empty();
            break;
        }
    }
    if plan.trial.is_some() && !campaign.is_settled() {
        return Ok(campaign);
    }
    if campaign.stopped_early {
        // Nobody waits for what would have to be repeated.
        campaign.suppressed.retain(|one| one.rule == Rule::EdgeCases);
    }
    suppressed::confirm_all(execute, &mut campaign, plan)?;
    if campaign.witness.is_some() && campaign.lost.is_empty() && !campaign.stopped_early {
        complete(execute, &mut state, &mut campaign, plan, next)?;
    }
    Ok(campaign)
}

/// Decides which of the differences that executions show are worth confirming, and when the search may end.
struct Triage<'p> {
    plan: &'p Plan,
    /// How many more differences to confirm.
    confirmations: u32,
    /// Confirmations that are kept for those that are possible, or that can be read, where the best one so far is not.
    better: u32,
    /// How many confirmed differences were too weak for a change.
    weak: u32,
    /// Places where something differed that did not differ again.
    noisy_places: BTreeSet<EvidencePlace>,
    /// A confirmed difference of this batch that nothing could outdo.
    sure: bool,
    /// The search ends before this execution.
    end: u32,
}

/// What to do with the differences of one execution.
enum Attention {
    /// There are none, or none is confirmed any more.
    None,
    /// They count for nothing, because others showed them more clearly.
    Redundant,
    /// They are most likely noise.
    Noise,
    Confirm,
}

impl<'p> Triage<'p> {
    fn new(plan: &'p Plan) -> Self {
        let confirmations = if plan.ignore_edge_cases { MOST_IGNORED } else { MOST_CONFIRMED };
        Self {
            plan,
            confirmations,
            better: MOST_CONFIRMED,
            weak: 0,
            noisy_places: BTreeSet::new(),
            sure: false,
            end: plan.trial.unwrap_or(plan.budget).min(plan.budget),
        }
    }

    /// Takes in an execution, the last of those that ran up to `next`.
    fn take(
        &mut self,
        execute: &mut dyn Execute,
        campaign: &mut Campaign,
        last: usize,
        next: u32,
    ) -> Result<(), EngineError> {
        match self.attention(campaign, &campaign.executions[last]) {
            Attention::None => return Ok(()),
            Attention::Redundant => {
                campaign.executions[last].discard_differences();
                return Ok(());
            }
            Attention::Noise => {
                campaign.nondeterministic += 1;
                campaign.executions[last].discard_differences();
                return Ok(());
            }
            Attention::Confirm => {}
        }
        let places: Vec<EvidencePlace> = places(&campaign.executions[last]).collect();
        let (noise, ignored) = (campaign.nondeterministic, campaign.edge_cases);
        examine(execute, campaign, last, self.plan)?;
        if campaign.nondeterministic > noise {
            self.noisy_places.extend(places);
        }
        self.spend(campaign.edge_cases - ignored);
        let found = &campaign.executions[last];
        if found.score() > 0.0 && found.score() < verdict::CHANGING {
            // It is worth showing if nothing better is found. The search continues as it would without it.
            self.weak += 1;
            campaign.witness.get_or_insert(last);
        } else if found.score() > 0.0 {
            self.spend(1);
            let is_better = |best: usize| found.speaks_more_clearly_than(&campaign.executions[best]);
            self.sure = found.is_sure();
            let further = if found.could_be_likelier() { FURTHER_OF_UNLIKELY } else { FURTHER };
            self.end = self.end.min(next + further);
            if campaign.witness.is_none_or(is_better) {
                campaign.witness = Some(last);
            }
        }
        Ok(())
    }

    /// Counts differences that were confirmed.
    fn spend(&mut self, confirmed: u32) {
        let beyond = confirmed.saturating_sub(self.confirmations);
        self.confirmations = self.confirmations.saturating_sub(confirmed);
        self.better = self.better.saturating_sub(beyond);
    }

    fn attention(&self, campaign: &Campaign, case: &TestCase) -> Attention {
        if self.sure {
            // It has already run: its coverage counts, its differences do not.
            return Attention::Redundant;
        }
        if case.differences.is_empty() {
            return Attention::None;
        }
        if self.weak >= MOST_WEAK && case.differences.iter().all(may_be_weak) {
            return Attention::Redundant;
        }
        let found = campaign.witness.map(|witness| &campaign.executions[witness]);
        let is_better = |found: &TestCase| {
            let is_plain = found.rests_on_objects && !case.record.choices.iter().any(|choice| case.hides(choice));
            (case.is_possible(), is_plain) > (found.is_possible(), false)
        };
        if self.confirmations == 0 && (self.better == 0 || !found.is_some_and(is_better)) {
            return Attention::None;
        }
        let can_be = |found: &TestCase| found.score() >= verdict::CHANGING && found.is_possible();
        if found.is_some_and(can_be) && !case.is_possible() {
            // It would not be shown.
            return Attention::Redundant;
        }
        let scores = case.differences.iter().map(|difference| verdict::score(difference.basis, 1.0, Invented::No));
        let most = scores.fold(0.0, f64::max).min(verdict::SURE);
        if found.is_some_and(|found| found.score() >= most && !is_better(found)) {
            // Only one that shows more would be better, or one on possible values, or on values that can be read.
            return Attention::Redundant;
        }
        let noise = campaign.nondeterministic;
        let is_known_noise = noise >= MOST_NOISY && places(case).all(|place| self.noisy_places.contains(&place));
        if is_known_noise || noise >= MOST_NOISY_ANYWHERE { Attention::Noise } else { Attention::Confirm }
    }
}

/// The places in which an execution shows differences.
fn places(case: &TestCase) -> impl Iterator<Item = EvidencePlace> {
    case.differences.iter().map(|difference| difference.place.clone())
}

/// A difference that may turn out not to count.
fn may_be_weak(difference: &Difference) -> bool {
    difference.basis == Basis::Reordered || causes::is_calculated(difference)
}

/// After so many executions whose differences were noise, the sources of what varies in others are not looked for.
const FEW_NOISY: u32 = 8;

/// Confirms the differences of an execution and attributes their cause.
fn examine(execute: &mut dyn Execute, campaign: &mut Campaign, number: usize, plan: &Plan) -> Result<(), EngineError> {
    let record = campaign.executions[number].record.clone();
    let noisy = campaign.nondeterministic;
    let effort = Effort { doubts: noisy > 0, finds_sources: noisy < FEW_NOISY };
    let confirmed = match confirm(execute, &record, effort, &plan.rules)? {
        Repeated::Known(confirmed) => confirmed,
        Repeated::Lost => {
            campaign.unconfirmed += 1;
            campaign.lost.push("a difference could not be repeated: the worker was lost each time".into());
            campaign.executions[number].discard_differences();
            return Ok(());
        }
        Repeated::Stopped => {
            campaign.unrepeated += 1;
            campaign.stopped_early = true;
            campaign.executions[number].discard_differences();
            return Ok(());
        }
    };
    if confirmed.differences.is_empty() {
        campaign.nondeterministic += 1;
        campaign.executions[number].differences.clear();
        campaign.noisy.get_or_insert_with(|| Box::new(record));
        return Ok(());
    }
    campaign.executions[number].differences = classify_basis(execute, &record, confirmed, &plan.rules)?;
    let decisive =
        decisive(execute, &campaign.executions[number], &plan.rules, plan.raise_probability, DECISIVE_BUDGET)?;
    let probability = joint_probability(&decisive);
    campaign.executions[number].probability = probability;
    let case = &mut campaign.executions[number];
    case.rests_on_text = decisive.iter().any(|one| AccessPath::from(&one.path).is_of_text());
    let needed = |choice: &&Choice| decisive.iter().any(|one| one.path == choice.path);
    case.rests_on_objects = case.record.choices.iter().filter(needed).any(|choice| case.hides(choice));
    if plan.ignore_edge_cases && probability < verdict::EDGE_CASE {
        campaign.edge_cases += 1;
        let case = campaign.executions[number].clone();
        suppressed::keep_edge_case(campaign, &case);
        campaign.executions[number].differences.clear();
    }
    Ok(())
}

/// Runs one execution by itself, confirms its differences and attributes their cause.
pub fn examined(execute: &mut dyn Execute, record: ExecutionRecord, plan: &Plan) -> Result<TestCase, EngineError> {
    let differences = match record.behaviors.as_slice() {
        [old, new] => differences(old, new, &plan.rules),
        _ => vec![],
    };
    let given = plan.example_at(record.index);
    let case = TestCase { given, ..TestCase::new(record, differences) };
    if case.differences.is_empty() {
        return Ok(case);
    }
    let mut alone = Campaign { executions: vec![case.clone()], ..Campaign::default() };
    examine(execute, &mut alone, 0, plan)?;
    Ok(alone.executions.pop().unwrap_or(case))
}

/// After the difference is found: a few more executions for lines that none ran, so that the report shows them.
fn complete(
    execute: &mut dyn Execute,
    state: &mut State<'_>,
    campaign: &mut Campaign,
    plan: &Plan,
    from: u32,
) -> Result<(), EngineError> {
    let end = from.saturating_add(COMPLETING).min(plan.budget);
    let mut next = from;
    while next < end && state.search.coverage() < 1.0 && campaign.lost.is_empty() {
        let count = LEARNING_BATCH.min(end - next);
        let requests = (next..next + count).map(|index| choose(state, plan.seed, index)).collect();
        next += count;
        for executed in execute.execute(requests)? {
            match executed {
                Executed::Lost { reason, .. } => campaign.lost.push(reason),
                Executed::Record(record) => {
                    learn(state, campaign, *record);
                    if let Some(last) = campaign.executions.last_mut() {
                        last.discard_differences();
                    }
                }
            }
        }
    }
    Ok(())
}

/// Continuing would only cost time: workers are lost, or every execution runs into a bound.
fn is_hopeless(campaign: &Campaign) -> bool {
    let lost = campaign.lost.len();
    let stopped = |case: &&TestCase| {
        case.record.behaviors.iter().any(|behavior| matches!(behavior.outcome, Outcome::Stopped { .. }))
    };
    lost >= MANY_LOST
        || lost >= FEW_LOST && campaign.executions.is_empty()
        || campaign.executions.iter().filter(stopped).count() >= MANY_STOPPED && campaign.valid() == 0
}
