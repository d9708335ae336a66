//! Values from the text alone, where a search leaves changed lines unreached.
//!
//! Once half of the budget is used, or nothing new is expected, and no valid execution ran some changed line, a
//! [`Sketch`] of each version gives values for which its conditions hold. Then conditions are turned around one by one,
//! the ones just before the unreached lines first, from the values that got furthest: a guard that is passed shows the
//! next. What reaches something new is varied like any other execution.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use twincell_engine::protocol::ExecutionRecord;
use twincell_search::Target;
use twincell_sketch::{Scenario, Sketch};
use twincell_syntax::{PerSide, Side};
use twincell_values::path::AccessPath;
use twincell_values::value::Fixed;

use super::{Campaign, Plan};
use crate::verdict::CHANGING;

/// The maximum number of executions, and how many of them run before others are planned from what they reached.
const EXECUTIONS: usize = 24;
const BATCH: usize = 6;

/// How far an execution got: lines of the change that no valid one ran before, whether it was valid, all lines.
type Reach = (usize, bool, usize);

/// A scene of one version, and the decisions that make it.
struct Planned {
    side: Side,
    scene: Scenario,
    fixed: Fixed,
}

/// What the texts of a pair give for executions.
pub(super) struct Environments {
    stage: Stage,
    /// After so many executions it is time.
    patience: u32,
    sketches: PerSide<Sketch>,
    waiting: VecDeque<Planned>,
    /// By the number of the execution.
    running: BTreeMap<u32, (Side, Scenario)>,
    best: PerSide<(Reach, Scenario)>,
    /// All decisions that were planned. Other scenes may give the same.
    known: Vec<Fixed>,
    scenes: BTreeSet<(Side, Scenario)>,
    /// What executions asked for.
    asked: BTreeSet<String>,
    unreached: PerSide<BTreeSet<u32>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Before,
    Asking,
    Done,
}

impl Environments {
    pub(super) fn new(plan: &Plan) -> Self {
        let is_possible = plan.techniques.environments && plan.trial.is_none();
        Self {
            stage: if is_possible { Stage::Before } else { Stage::Done },
            patience: plan.budget / 2,
            sketches: PerSide::default(),
            waiting: VecDeque::new(),
            running: BTreeMap::new(),
            best: PerSide::default(),
            known: Vec::new(),
            scenes: BTreeSet::new(),
            asked: BTreeSet::new(),
            unreached: PerSide::default(),
        }
    }

    /// The maximum size of the next batch.
    pub(super) fn most(&self) -> u32 {
        if self.waiting.is_empty() { u32::MAX } else { self.waiting.len() as u32 }
    }

    /// The decisions of the execution with this index, if it is one of these.
    pub(super) fn take(&mut self, index: u32) -> Option<Fixed> {
        let Planned { side, scene, fixed } = self.waiting.pop_front()?;
        self.running.insert(index, (side, scene));
        Some(fixed)
    }

    /// Notes how far an execution got, if it is one of these.
    pub(super) fn learn(&mut self, record: &ExecutionRecord, target: &Target) {
        let Some((side, scene)) = self.running.remove(&record.index) else { return };
        self.asked.extend(record.choices.iter().map(|choice| choice.path.clone()));
        let is_valid = record.behaviors.iter().all(|behavior| behavior.outcome.is_valid());
        let (mut new, mut all) = (0, 0);
        for (side, behavior) in Side::BOTH.into_iter().zip(&record.behaviors) {
            let is_new = |line: u32| target.changed[side].contains(&line) && self.unreached[side].contains(&line);
            new += behavior.lines.iter().filter(|(line, _)| is_new(*line)).count();
            all += behavior.lines.len();
        }
        let reach = (new, is_valid, all);
        if reach > self.best[side].0 {
            self.best[side] = (reach, scene);
        }
    }

    /// Plans the next executions when it is time. `exhausted`: nothing else gives anything new. Returns whether it did.
    pub(super) fn advance(&mut self, campaign: &Campaign, target: &Target, executed: u32, exhausted: bool) -> bool {
        if !self.waiting.is_empty() {
            return true;
        }
        match self.stage {
            Stage::Done => return false,
            Stage::Before if executed < self.patience && !exhausted => return false,
            Stage::Before | Stage::Asking => {}
        }
        let shows = campaign.witness.is_some_and(|witness| campaign.executions[witness].score() >= CHANGING);
        let reached = |side: Side, line: &u32| campaign.reached[side].contains(line);
        self.unreached = PerSide::of(|side| {
            target.changed[side].iter().copied().filter(|line| !reached(side, line)).collect::<BTreeSet<u32>>()
        });
        if shows || self.unreached.iter().all(BTreeSet::is_empty) && campaign.valid() > 0 {
            self.stage = Stage::Done;
            return false;
        }
        if self.stage == Stage::Before {
            self.stage = Stage::Asking;
            self.sketches = PerSide::of(|side| Sketch::of_function(&target.readings[side].lines.join("\n")));
            let choices = campaign.executions.iter().flat_map(|case| &case.record.choices);
            self.asked.extend(choices.map(|choice| choice.path.clone()));
        }
        let room = BATCH.min(EXECUTIONS.saturating_sub(self.known.len()));
        for (side, scene) in self.next_scenes() {
            if self.waiting.len() < room {
                self.plan(side, scene, target);
            }
        }
        if self.waiting.is_empty() {
            self.stage = Stage::Done;
        }
        !self.waiting.is_empty()
    }

    /// The scenes that may come next, the most promising first.
    fn next_scenes(&self) -> Vec<(Side, Scenario)> {
        let of_side = |side: Side| {
            let lines = &self.sketches[side].condition_lines;
            // A version without unreached lines may keep the other one from reaching them by failing.
            let last = self.unreached[side].last().copied().unwrap_or(u32::MAX);
            let mut conditions: Vec<usize> = (0..lines.len()).filter(|&number| lines[number] <= last).collect();
            conditions.sort_by_key(|&number| Reverse((lines[number], number)));
            let (_, best) = &self.best[side];
            let mut scenes = vec![Scenario::default(), Scenario::default().turn(0..lines.len())];
            scenes.extend(conditions.into_iter().map(|condition| best.turn([condition])));
            scenes.into_iter().map(move |scene| (side, scene)).collect::<Vec<_>>()
        };
        let [old, new] = [of_side(Side::Old), of_side(Side::New)];
        let mut found: Vec<(Side, Scenario)> = Vec::new();
        let (mut old, mut new) = (old.into_iter(), new.into_iter());
        loop {
            let before = found.len();
            found.extend(new.next());
            found.extend(old.next());
            if found.len() == before {
                return found;
            }
        }
    }

    fn plan(&mut self, side: Side, scene: Scenario, target: &Target) {
        if !self.scenes.insert((side, scene.clone())) {
            return;
        }
        let mut environment = self.sketches[side].environment(&scene);
        let renames = &target.readings[side].renames;
        for (name, _) in &mut environment.names {
            if let Some((_, canonical)) = renames.iter().find(|(own, _)| own == name) {
                name.clone_from(canonical);
            }
        }
        let mut fixed = environment.decisions();
        for path in &self.asked {
            if !AccessPath::from(path).is_cut()
                && let Some(decision) = environment.decision(path)
            {
                fixed.insert(path.clone(), decision);
            }
        }
        if !fixed.is_empty() && !self.known.contains(&fixed) {
            self.known.push(fixed.clone());
            self.waiting.push_back(Planned { side, scene, fixed });
        }
    }
}
