//! Branches and outcomes that were not reached yet, and executions planned to reach them.
//!
//! A search target is one side of a branch, or one outcome of a comparison (`<`, `==` and `>` for ordered values, since
//! changes hide at boundaries). An execution that passed a search target without reaching it is a source: its decisions
//! are kept, except for those that [`solve`](super::solve) proposes to change. Search targets that control changed lines
//! come first.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use twincell_engine::protocol::{ExecutionRecord, Observation, ObservationPoint};
use twincell_syntax::site::Comparator;
use twincell_syntax::{PerSide, Side};
use twincell_values::reading::Condition;
use twincell_values::value::{Choice, Decision, Fixed, Recipe};

use super::numbers;
use super::solve::{self, Assignment, Facts};
use super::target::Target;

/// The maximum number of executions from which proposals for one search target are made, and of further ones that came
/// nearer to it.
const SOURCES: u8 = 3;
const NEARER: u8 = 12;
/// The maximum number of waiting planned executions.
const WAITING: usize = 160;
/// The maximum number of numbers in one execution that are probed for one search target.
const PROBED: usize = 6;

/// The wanted event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Branch(u32, bool),
    Outcome(u32, bool),
    Order(u32, Ordering),
    Call(u32, bool),
}

struct SearchTarget {
    side: Side,
    kind: Kind,
    line: u32,
    sources: u8,
    nearer: u8,
    /// The smallest distance so far between the two operands of its comparison.
    distance: f64,
}

/// A number was changed by one to see how far the operands of a comparison move.
#[derive(Debug, Clone)]
struct Probe {
    search_target: usize,
    path: String,
    value: Recipe,
    /// Which of the numbers in the value.
    position: usize,
    /// The difference of left and right before the change.
    difference: f64,
}

/// An execution to try.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub(super) fixed: Fixed,
    probe: Option<Probe>,
}

/// The search targets of a pair, and the executions planned for them.
#[derive(Default)]
pub(super) struct SearchTargets {
    search_targets: Vec<SearchTarget>,
    reached: BTreeSet<usize>,
    /// By priority, then by age.
    waiting: BTreeMap<(u8, u32), Planned>,
    planned: FxHashSet<u64>,
    next: u32,
    probes: BTreeMap<u32, Probe>,
    /// The access paths of values that the code uses as mappings.
    mappings: BTreeSet<String>,
}

impl SearchTargets {
    pub(super) fn new(target: &Target) -> Self {
        let mut search_targets = Vec::new();
        for (side, reading) in Side::BOTH.into_iter().zip(&target.readings) {
            let mut add = |kind, line| {
                search_targets.push(SearchTarget { side, kind, line, sources: 0, nearer: 0, distance: f64::INFINITY });
            };
            for (&number, decided) in &reading.conditions.branches {
                add(Kind::Branch(number, false), decided.line);
                add(Kind::Branch(number, true), decided.line);
            }
            for (&number, (condition, line)) in &reading.conditions.comparisons {
                let Condition::Compare { comparator, .. } = condition else { continue };
                use Comparator as C;
                match comparator {
                    C::Lt | C::LtE | C::Gt | C::GtE => {
                        for order in [Ordering::Equal, Ordering::Less, Ordering::Greater] {
                            add(Kind::Order(number, order), *line);
                        }
                    }
                    _ => {
                        add(Kind::Outcome(number, true), *line);
                        add(Kind::Outcome(number, false), *line);
                    }
                }
            }
            for (&site, (_, line)) in &reading.conditions.calls {
                add(Kind::Call(site, true), *line);
                add(Kind::Call(site, false), *line);
            }
        }
        Self { search_targets, mappings: target.mappings.clone(), ..Self::default() }
    }

    /// Whether anything is planned.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The most urgent planned execution, to be run under this number.
    pub(super) fn take(&mut self, index: u32) -> Option<Fixed> {
        let (_, planned) = self.waiting.pop_first()?;
        if let Some(probe) = planned.probe {
            self.probes.insert(index, probe);
        }
        Some(planned.fixed)
    }

    /// Plans an execution with the decisions of another, some of them replaced. `false` if there is no point in it: it was
    /// planned before, others are more urgent, or it has a sequence in place of a mapping.
    pub(super) fn plan(&mut self, choices: &[Choice], changed: &Assignment, priority: u8) -> bool {
        self.add(choices, changed, priority, None)
    }

    fn add(&mut self, choices: &[Choice], changed: &Assignment, priority: u8, probe: Option<Probe>) -> bool {
        let mut fixed: Fixed = choices.iter().map(|choice| (choice.path.clone(), choice.decision.clone())).collect();
        for (path, decision) in changed {
            let decision = match length_of_sequence(decision) {
                Some(0) if self.mappings.contains(path) => Decision::Value(Recipe::Dict(vec![])),
                Some(_) if self.mappings.contains(path) => return false,
                _ => decision.clone(),
            };
            fixed.insert(path.clone(), decision);
        }
        let known = !self.planned.insert(xxh3_64(&rmp_serde::to_vec(&fixed).unwrap_or_default()));
        if known
            || self.waiting.len() >= WAITING && self.waiting.last_key_value().is_some_and(|(key, _)| key.0 <= priority)
        {
            return false;
        }
        if self.waiting.len() >= WAITING {
            self.waiting.pop_last();
        }
        self.next += 1;
        self.waiting.insert((priority, self.next), Planned { fixed, probe });
        true
    }

    /// Learns from an execution: what it reached, and what could be reached from it.
    pub(super) fn learn(&mut self, target: &Target, covered: &PerSide<BTreeSet<u32>>, record: &ExecutionRecord) {
        let outcomes = Outcomes::of(record);
        for (number, search_target) in self.search_targets.iter().enumerate() {
            if outcomes.reached(search_target) {
                self.reached.insert(number);
            }
        }
        self.follow_probe(record);
        for number in 0..self.search_targets.len() {
            if !self.reached.contains(&number) {
                self.approach(number, target, covered, record, &outcomes);
            }
        }
    }

    /// Plans executions from one that passed a search target.
    fn approach(
        &mut self,
        number: usize,
        target: &Target,
        covered: &PerSide<BTreeSet<u32>>,
        record: &ExecutionRecord,
        outcomes: &Outcomes<'_>,
    ) {
        let search_target = &mut self.search_targets[number];
        if !outcomes.came_by(search_target) {
            return;
        }
        let distance = outcomes.difference(search_target).map_or(f64::INFINITY, f64::abs);
        let nearer = distance < search_target.distance;
        search_target.distance = search_target.distance.min(distance);
        if search_target.sources < SOURCES {
            search_target.sources += 1;
        } else if nearer && search_target.nearer < NEARER {
            search_target.nearer += 1;
        } else {
            return;
        }
        let (side, kind, line) = (search_target.side, search_target.kind, search_target.line);
        let reading = &target.readings[side];
        let facts = Facts::new(&record.choices, &record.observations, side, &reading.renames, &reading.parameters);
        let priority = priority(target, covered, side, kind, line);
        let conditions = &reading.conditions;
        let mut found = match kind {
            Kind::Branch(number, wanted) => conditions
                .branches
                .get(&number)
                .map_or_else(Vec::new, |decided| solve::solve(&facts, &decided.condition, wanted)),
            Kind::Outcome(number, wanted) => conditions
                .comparisons
                .get(&number)
                .map_or_else(Vec::new, |(condition, _)| solve::solve(&facts, condition, wanted)),
            Kind::Order(number, order) => conditions
                .comparisons
                .get(&number)
                .map_or_else(Vec::new, |(condition, _)| solve::solve_order(&facts, condition, order)),
            Kind::Call(site, wanted) => conditions.calls.get(&site).map_or_else(Vec::new, |(term, _)| {
                solve::solve(&facts, &Condition::Truth { term: term.clone(), site: Some(site) }, wanted)
            }),
        };
        if found.len() < 2
            && let Some((observation, wanted)) = outcomes.wanted(side, kind)
        {
            found.extend(solve::correspond(&record.choices, observation, wanted));
        }
        let mut planned = false;
        for assignment in &found {
            planned |= self.add(&record.choices, assignment, priority, None);
        }
        if !planned && let Some(difference) = outcomes.difference(&self.search_targets[number]) {
            self.probe(number, record, difference, priority);
            self.stretch(record, outcomes.numbers(&self.search_targets[number]), priority);
        }
    }

    /// Plans to change the numbers of an execution one by one, to see on which of them a comparison depends.
    fn probe(&mut self, search_target: usize, record: &ExecutionRecord, difference: f64, priority: u8) {
        let mut left = PROBED;
        for choice in &record.choices {
            let Decision::Value(value) = &choice.decision else { continue };
            for position in 0..numbers::count(value).min(left) {
                left -= 1;
                let Some(changed) = numbers::shifted(value, position, 1.0) else { continue };
                let probe =
                    Probe { search_target, path: choice.path.clone(), value: value.clone(), position, difference };
                let assignment = Assignment::from([(choice.path.clone(), Decision::Value(changed))]);
                self.add(&record.choices, &assignment, priority, Some(probe));
            }
        }
    }

    /// Plans to lengthen texts and lists, so that a count of something in them becomes the wanted one.
    fn stretch(&mut self, record: &ExecutionRecord, operands: Option<(f64, f64)>, priority: u8) {
        let Some((left, right)) = operands else { return };
        for (own, wanted) in [(left, right), (right, left)] {
            for choice in &record.choices {
                let Decision::Value(value) = &choice.decision else { continue };
                for longer in numbers::stretched(value, own, wanted) {
                    let assignment = Assignment::from([(choice.path.clone(), Decision::Value(longer))]);
                    self.add(&record.choices, &assignment, priority, None);
                }
            }
        }
    }

    /// After a probe: how far the number has to move to reach the search target, if the comparison moved with it.
    fn follow_probe(&mut self, record: &ExecutionRecord) {
        let Some(probe) = self.probes.remove(&record.index) else { return };
        let search_target = &self.search_targets[probe.search_target];
        let Some(now) = Outcomes::of(record).difference(search_target) else { return };
        let slope = now - probe.difference;
        if slope == 0.0 || !slope.is_finite() || self.reached.contains(&probe.search_target) {
            return;
        }
        let root = -probe.difference / slope;
        for step in [root.floor(), root.ceil(), root.floor() - 1.0, root.ceil() + 1.0] {
            if let Some(moved) = numbers::shifted(&probe.value, probe.position, step) {
                let assignment = Assignment::from([(probe.path.clone(), Decision::Value(moved))]);
                self.add(&record.choices, &assignment, 0, None);
            }
        }
    }
}

/// The priority: changed lines that did not run come first, then comparisons on changed lines, then other lines, then
/// the rest.
fn priority(target: &Target, covered: &PerSide<BTreeSet<u32>>, side: Side, kind: Kind, line: u32) -> u8 {
    let (lines, changed) = (&target.lines[side], &target.changed[side]);
    if let Kind::Branch(number, truth) = kind
        && let Some(decided) = target.readings[side].conditions.branches.get(&number)
    {
        let inside =
            |line: &&u32| decided.regions[usize::from(truth)].iter().any(|(from, to)| (from..=to).contains(line));
        let missing = |line: &&u32| inside(line) && !covered[side].contains(line);
        if changed.iter().any(|line| missing(&line)) {
            return 1;
        }
        if lines.iter().any(|line| missing(&line)) {
            return if changed.contains(&line) { 2 } else { 3 };
        }
    }
    if changed.contains(&line) { 2 } else { 4 }
}

/// What an execution tells about comparisons and branches.
struct Outcomes<'a> {
    record: &'a ExecutionRecord,
}

impl<'a> Outcomes<'a> {
    fn of(record: &'a ExecutionRecord) -> Self {
        Self { record }
    }

    fn branch(&self, side: Side, number: u32) -> Option<(bool, bool)> {
        let behavior = self.record.behaviors.get(usize::from(side.number()))?;
        let at = behavior.branches.binary_search_by_key(&number, |(own, _, _)| *own).ok()?;
        let (_, yes, no) = behavior.branches[at];
        Some((no > 0, yes > 0))
    }

    fn seen(&self, side: Side, place: ObservationPoint) -> impl Iterator<Item = &'a Observation> {
        self.record.observations.iter().filter(move |seen| seen.version == side.number() && seen.place == place)
    }

    fn observations(&self, search_target: &SearchTarget) -> Box<dyn Iterator<Item = &'a Observation> + '_> {
        match search_target.kind {
            Kind::Outcome(number, _) | Kind::Order(number, _) => {
                Box::new(self.seen(search_target.side, ObservationPoint::Comparison(number)))
            }
            Kind::Call(site, _) => Box::new(self.seen(search_target.side, ObservationPoint::Call(site))),
            Kind::Branch(..) => Box::new(std::iter::empty()),
        }
    }

    fn reached(&self, search_target: &SearchTarget) -> bool {
        match search_target.kind {
            Kind::Branch(number, truth) => {
                self.branch(search_target.side, number).is_some_and(|(no, yes)| if truth { yes } else { no })
            }
            Kind::Outcome(_, truth) | Kind::Call(_, truth) => {
                self.observations(search_target).any(|seen| seen.truth == truth)
            }
            Kind::Order(_, order) => self.observations(search_target).any(|seen| ordering(seen) == Some(order)),
        }
    }

    fn came_by(&self, search_target: &SearchTarget) -> bool {
        match search_target.kind {
            Kind::Branch(number, _) => self.branch(search_target.side, number).is_some(),
            _ => self.observations(search_target).next().is_some(),
        }
    }

    /// An observation to start from, and the wanted order of its operands.
    fn wanted(&self, side: Side, kind: Kind) -> Option<(&'a Observation, Option<Ordering>)> {
        let (number, order) = match kind {
            Kind::Outcome(number, _) => (number, None),
            Kind::Order(number, order) => (number, Some(order)),
            _ => return None,
        };
        self.seen(side, ObservationPoint::Comparison(number)).last().map(|seen| (seen, order))
    }

    /// The difference of left and right in the search target's comparison, if both are numbers: the one nearest to the
    /// search target.
    fn difference(&self, search_target: &SearchTarget) -> Option<f64> {
        self.numbers(search_target).map(|(left, right)| left - right)
    }

    /// Both operands of the search target's comparison, if they are numbers: those nearest to each other.
    fn numbers(&self, search_target: &SearchTarget) -> Option<(f64, f64)> {
        let number = |operand: &twincell_engine::protocol::Operand| operand.value.as_ref().and_then(numbers::number);
        let (Kind::Order(..) | Kind::Outcome(..)) = search_target.kind else { return None };
        let operands = self.observations(search_target).filter_map(|seen| match seen.operands.as_slice() {
            [left, right] => Some((number(left)?, number(right)?)),
            _ => None,
        });
        operands.min_by(|a, b| (a.0 - a.1).abs().total_cmp(&(b.0 - b.1).abs()))
    }
}

/// The order of the operands of an observed comparison.
fn ordering(seen: &Observation) -> Option<Ordering> {
    let [left, right] = seen.operands.as_slice() else { return None };
    solve::order(left.value.as_ref()?, right.value.as_ref()?)
}

/// The length of a value that has items but no keys.
fn length_of_sequence(decision: &Decision) -> Option<usize> {
    use Recipe as R;
    match decision {
        Decision::Value(R::Str(text)) => Some(text.len()),
        Decision::Value(R::Bytes(bytes)) => Some(bytes.len()),
        Decision::Value(R::List(items) | R::Tuple(items) | R::Set(items)) => Some(items.len()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sequence_is_planned_in_place_of_a_mapping() {
        let target = Target { mappings: BTreeSet::from(["x".to_owned()]), ..Target::default() };
        let mut targets = SearchTargets::new(&target);
        let mut is_planned =
            |path: &str, value| targets.plan(&[], &Assignment::from([(path.to_owned(), Decision::Value(value))]), 0);
        let full = || Recipe::List(vec![Recipe::None]);
        assert!(!is_planned("x", full()) && is_planned("y", full()));
        assert!(is_planned("x", Recipe::List(vec![])) && is_planned("x", Recipe::None));
        let planned: Vec<Fixed> = (0..3).filter_map(|index| targets.take(index)).collect();
        assert!(planned.contains(&Fixed::from([("x".to_owned(), Decision::Value(Recipe::Dict(vec![])))])));
    }
}
