//! What a search has learned: lines and events that ran, executions worth varying, and values used in comparisons.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use twincell_engine::observed::Outcome;
use twincell_engine::protocol::{ExecutionRecord, ObservationPoint};
use twincell_syntax::{PerSide, Side};
use twincell_values::value::{Choice, Fixed, Recipe};

use crate::search_targets::SearchTargets;
use crate::solve::{self, Facts};
use crate::target::Target;
use crate::{mutation, vary};

/// The maximum number of executions whose decisions are varied.
const CORPUS: usize = 24;
/// The maximum number of access paths with kept comparison values, and of such values for one path.
const LEARNED_PATHS: usize = 64;
const LEARNED_VALUES: usize = 12;
/// After this many executions in a row that only repeat known decisions, nothing new is expected.
const REPEATED: u32 = 48;
/// The maximum number of executions from which others with another truth of changed operands are planned, and others
/// with keys in common.
const FLIPPED: u32 = 6;
const SHARING: u32 = 3;
/// The maximum number of mutations on error for failures of one class on one line.
const MUTATIONS: u32 = 6;

/// An execution that reached something new.
pub(crate) struct Entry {
    pub(crate) choices: Vec<Choice>,
    /// How much the execution is worth varying: more if it ran changed lines and ended usably.
    energy: u32,
    /// Whether it is an example, which stays.
    is_given: bool,
    /// Whether the objects of the two versions differ where nobody has looked yet.
    pub(crate) is_parted: bool,
}

/// An event, which is worth one entry.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Event {
    Line(Side, u32),
    Branch(Side, u32, bool),
    Comparison(Side, ObservationPoint, Option<std::cmp::Ordering>, bool),
    /// The hash of a callee's path, or of an exception's message.
    Call(Side, u64),
    Exception(Side, u64, u32),
}

/// The maximum number of executions beside these whose objects differ inside, and how much each is worth varying.
const PARTED: usize = 6;
const WORTH_OF_PARTED: u32 = 12;

/// Mutations on error come before search targets on unchanged lines.
const MUTATION_PRIORITY: u8 = 2;

/// The methods of a search. Each can be left out to measure what it contributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Methods {
    /// Vary executions that reached something new. Without it, every execution is drawn afresh.
    pub learning: bool,
    /// Add values with which injected values are compared at run time to the candidates.
    pub observation: bool,
    /// Solve conditions that no execution has decided the other way.
    pub directed: bool,
    /// Mutate the value that caused an unintended exception.
    pub mutation: bool,
}

impl Default for Methods {
    fn default() -> Self {
        Self { learning: true, observation: true, directed: true, mutation: true }
    }
}

/// The search for executions that reach something new. The versions of a program are searched together; a program of one
/// version is searched as the old one.
pub struct Search<'a> {
    target: &'a Target,
    pub methods: Methods,
    covered: PerSide<BTreeSet<u32>>,
    events: FxHashSet<Event>,
    corpus: Vec<Entry>,
    search_targets: SearchTargets,
    /// By access path, the values with which its values were compared.
    pub(crate) learned: BTreeMap<String, Vec<Recipe>>,
    /// The decisions that ran, hashed.
    known: FxHashSet<u64>,
    repeated: u32,
    mutations: FxHashMap<(Side, u32, u64), u32>,
    flipped: u32,
    sharing: u32,
    /// The number of executions of which it is known what the objects hold, and of those in which that differs.
    looked_inside: u32,
    parted: u32,
}

/// The decisions of an execution. The others are drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    pub fixed: Fixed,
    /// They depend on no other execution.
    pub is_fresh: bool,
}

impl<'a> Search<'a> {
    pub fn new(target: &'a Target, methods: Methods) -> Self {
        Self {
            target,
            methods,
            covered: Default::default(),
            events: FxHashSet::default(),
            corpus: Vec::new(),
            search_targets: if methods.directed { SearchTargets::new(target) } else { SearchTargets::default() },
            learned: BTreeMap::new(),
            known: FxHashSet::default(),
            repeated: 0,
            mutations: FxHashMap::default(),
            flipped: 0,
            sharing: 0,
            looked_inside: 0,
            parted: 0,
        }
    }

    /// Whether the values in comparisons are of use.
    pub fn observes(&self) -> bool {
        self.methods.observation || self.methods.directed
    }

    /// Whether an execution is planned.
    pub fn is_waiting(&self) -> bool {
        self.search_targets.is_waiting()
    }

    /// Decisions for an execution that depends on no other.
    pub fn afresh(&self, random: &mut Pcg64Mcg) -> Fixed {
        vary::afresh(self, random)
    }

    /// The decisions of the next execution: planned ones three times in four while there are any. Of the others,
    /// those with odd numbers vary one that reached something new, and those with even numbers depend on no other.
    pub fn decisions(&mut self, index: u32, random: &mut Pcg64Mcg) -> Decisions {
        // Under its number, a planned execution is known again when its record comes.
        let planned = if index % 4 == 3 { None } else { self.search_targets.take(index) };
        match planned {
            Some(fixed) => Decisions { fixed, is_fresh: false },
            None if self.methods.learning && index % 2 == 1 => {
                Decisions { fixed: vary::vary(self, random), is_fresh: false }
            }
            None => Decisions { fixed: self.afresh(random), is_fresh: true },
        }
    }

    /// Whether everything that can be drawn was drawn, as far as one can tell.
    pub fn is_exhausted(&self) -> bool {
        self.repeated >= REPEATED && !self.search_targets.is_waiting()
    }

    /// Expects something new again, since executions now run in another way.
    pub fn reset_patience(&mut self) {
        self.repeated = 0;
    }

    /// The share of executable lines that ran, 0 to 1.
    pub fn coverage(&self) -> f64 {
        let all: usize = self.target.lines.iter().map(Vec::len).sum();
        let ran = |side: Side| self.target.lines[side].iter().filter(|line| self.covered[side].contains(line)).count();
        let ran = ran(Side::Old) + ran(Side::New);
        if all == 0 { 1.0 } else { ran as f64 / all as f64 }
    }

    /// Learns from an execution. `is_example`: its decisions were given. Returns the number of lines that no earlier one
    /// ran.
    pub fn learn(&mut self, record: &ExecutionRecord, is_example: bool) -> u32 {
        let (new_lines, novel) = self.note(record);
        let valid = record.behaviors.iter().all(|behavior| behavior.outcome.is_valid());
        let runs_changed = |(side, behavior): (Side, &twincell_engine::observed::Behavior)| {
            behavior.lines.iter().any(|(line, _)| self.target.changed[side].contains(line))
        };
        let near = Side::BOTH.into_iter().zip(&record.behaviors).any(runs_changed);
        let is_new = self.known.insert(xxh3_64(&rmp_serde::to_vec(&record.choices).unwrap_or_default()));
        if is_new {
            self.repeated = 0;
        } else {
            self.repeated += 1;
        }
        if let [old, new] = record.inside.as_slice() {
            self.looked_inside += 1;
            self.parted += u32::from(old != new);
            // Where most differ, the versions keep their state differently, which says nothing.
            if old != new && valid && near && is_new && self.parted * 2 <= self.looked_inside {
                self.keep_parted(&record.choices);
            }
        }
        // An example that shows nothing new and stays away from the change is not worth varying.
        let kept = self.corpus.iter().filter(|entry| !entry.is_parted).count();
        let is_given = is_example && (novel || near) && kept < CORPUS / 2;
        if is_given || novel || near && valid && kept < CORPUS / 2 {
            if kept >= CORPUS {
                let oldest = self.corpus.iter().position(|entry| !entry.is_given && !entry.is_parted);
                self.corpus.remove(oldest.unwrap_or(0));
            }
            let energy = 1 + 2 * u32::from(valid) + 3 * u32::from(near);
            self.corpus.push(Entry { choices: record.choices.clone(), energy, is_given, is_parted: false });
        }
        if self.methods.observation {
            self.learn_values(record);
        }
        if self.methods.directed {
            self.search_targets.learn(self.target, &self.covered, record);
        }
        if self.methods.mutation {
            self.plan_mutations(record);
            if novel && near && valid {
                self.plan_operands(record);
            }
            if near && valid {
                self.plan_shared_keywords(record);
            }
        }
        new_lines
    }

    /// Keeps an execution whose objects differ inside. Of many, those with the fewest decisions.
    fn keep_parted(&mut self, choices: &[Choice]) {
        let parted = self.corpus.iter().enumerate().filter(|(_, entry)| entry.is_parted);
        let longest =
            parted.clone().max_by_key(|(_, entry)| entry.choices.len()).map(|(at, entry)| (at, entry.choices.len()));
        match longest.filter(|_| parted.count() >= PARTED) {
            Some((_, length)) if length <= choices.len() => return,
            Some((at, _)) => drop(self.corpus.remove(at)),
            None => {}
        }
        let choices = choices.to_vec();
        self.corpus.push(Entry { choices, energy: WORTH_OF_PARTED, is_given: false, is_parted: true });
    }

    /// An execution worth varying, drawn in proportion to its worth.
    pub(crate) fn pick(&self, random: &mut Pcg64Mcg) -> Option<&Entry> {
        let total: u32 = self.corpus.iter().map(|entry| entry.energy).sum();
        let mut point = if total == 0 { return None } else { random.random_range(0..total) };
        self.corpus.iter().find(|entry| {
            let here = point < entry.energy;
            point = point.saturating_sub(entry.energy);
            here
        })
    }

    /// Records the events of an execution. Returns the number of new lines, and whether anything is new.
    fn note(&mut self, record: &ExecutionRecord) -> (u32, bool) {
        let (mut new_lines, mut novel) = (0, false);
        for (side, behavior) in Side::BOTH.into_iter().zip(&record.behaviors) {
            for (line, _) in &behavior.lines {
                if self.events.insert(Event::Line(side, *line)) {
                    self.covered[side].insert(*line);
                    new_lines += 1;
                }
            }
            for (branch, yes, no) in &behavior.branches {
                for (taken, truth) in [(*yes > 0, true), (*no > 0, false)] {
                    novel |= taken && self.events.insert(Event::Branch(side, *branch, truth));
                }
            }
            for call in &behavior.calls {
                novel |= self.events.insert(Event::Call(side, xxh3_64(call.callee.as_str().as_bytes())));
            }
            if let Outcome::Raised { message, line, .. } = &behavior.outcome {
                novel |= self.events.insert(Event::Exception(side, xxh3_64(message.as_bytes()), *line));
            }
        }
        for seen in &record.observations {
            let order = match seen.operands.as_slice() {
                [left, right] => left.value.as_ref().zip(right.value.as_ref()),
                _ => None,
            };
            let order = order.and_then(|(left, right)| solve::order(left, right));
            novel |= self.events.insert(Event::Comparison(Side::numbered(seen.version), seen.place, order, seen.truth));
        }
        (new_lines, novel || new_lines > 0)
    }

    /// Keeps the values with which injected values were compared.
    fn learn_values(&mut self, record: &ExecutionRecord) {
        for (side, reading) in Side::BOTH.into_iter().zip(&self.target.readings) {
            let facts = Facts::new(&record.choices, &record.observations, side, &reading.renames, &reading.parameters);
            for seen in record.observations.iter().filter(|seen| seen.version == side.number()) {
                let condition = match seen.place {
                    ObservationPoint::Comparison(number) => {
                        reading.conditions.comparisons.get(&number).map(|(known, _)| known)
                    }
                    ObservationPoint::Call(_) => None,
                };
                for (path, value) in solve::compared(&facts, seen, condition) {
                    if self.learned.len() >= LEARNED_PATHS && !self.learned.contains_key(&path) {
                        continue;
                    }
                    let values = self.learned.entry(path).or_default();
                    if values.len() < LEARNED_VALUES && !values.contains(&value) {
                        values.push(value);
                    }
                }
            }
        }
    }

    /// Plans to repeat an execution without the decision that made it fail.
    fn plan_mutations(&mut self, record: &ExecutionRecord) {
        let Some(failure) = mutation::failure(record) else { return };
        let reading = &self.target.readings[failure.side];
        let key = (failure.side, failure.line, xxh3_64(failure.class.as_bytes()));
        let done = self.mutations.entry(key).or_insert(0);
        if *done < MUTATIONS {
            *done += 1;
            for assignment in mutation::mutations(&failure, record, reading) {
                self.search_targets.plan(&record.choices, &assignment, MUTATION_PRIORITY);
            }
        }
    }

    /// Plans to repeat an execution with keys that a container has in common with `**kwargs`.
    fn plan_shared_keywords(&mut self, record: &ExecutionRecord) {
        let found = if self.sharing < SHARING { mutation::shared_keywords(record) } else { vec![] };
        self.sharing += u32::from(!found.is_empty());
        for assignment in found {
            self.search_targets.plan(&record.choices, &assignment, MUTATION_PRIORITY);
        }
    }

    /// Plans to repeat an execution with another truth of each operand of changed lines.
    fn plan_operands(&mut self, record: &ExecutionRecord) {
        if self.flipped >= FLIPPED {
            return;
        }
        let changed: Vec<&str> = Side::BOTH
            .into_iter()
            .flat_map(|side| {
                let lines = &self.target.readings[side].lines;
                let text = |line: &u32| lines.get((*line as usize).saturating_sub(1)).map(String::as_str);
                self.target.changed[side].iter().filter_map(text).collect::<Vec<_>>()
            })
            .collect();
        let found = mutation::operands(record, &changed);
        self.flipped += u32::from(!found.is_empty());
        for assignment in found {
            self.search_targets.plan(&record.choices, &assignment, MUTATION_PRIORITY);
        }
    }
}

#[cfg(test)]
mod tests {
    use twincell_engine::protocol::{Observation, Operand};
    use twincell_syntax::functions;
    use twincell_syntax::instrument::instrument;
    use twincell_values::value::Decision;

    use super::*;
    use crate::target::Reading;

    #[test]
    fn a_comparison_is_one_of_the_version_that_made_it() {
        let reading = |condition: &str| {
            let text = format!("def f(x, y):\n    if {condition}:\n        pass\n");
            let function = functions(&text).0.remove(0);
            Reading::new(&function, &instrument(&function).unwrap().sites, &[])
        };
        let target = Target { readings: PerSide::new(reading("x > 5"), reading("y > 5")), ..Target::default() };
        let [number, of_new] =
            [Side::Old, Side::New].map(|side| *target.readings[side].conditions.comparisons.keys().next().unwrap());
        assert_eq!(number, of_new);
        let operand = |value| Operand { path: None, value: Some(Recipe::Int(value)) };
        let place = ObservationPoint::Comparison(number);
        let observations = vec![Observation {
            version: Side::Old.number(),
            place,
            operands: vec![operand(3), operand(5)],
            truth: false,
        }];
        let choices = ["x", "y"].map(|path| Choice { path: path.into(), decision: Decision::Value(Recipe::Int(3)) });
        let record = ExecutionRecord { choices: choices.into(), observations, ..ExecutionRecord::default() };
        let mut search = Search::new(&target, Methods::default());
        search.learn(&record, false);
        assert_eq!(search.learned, BTreeMap::from([("x".to_owned(), vec![Recipe::Int(5)])]));
    }
}
