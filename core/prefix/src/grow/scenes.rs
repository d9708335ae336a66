//! Prefixes from what the text alone says: values for which conditions hold, and then those that turn one around.

use std::collections::BTreeSet;
use std::rc::Rc;

use twincell_engine::protocol::End;
use twincell_sketch::{Scenario, network};

use super::{Seed, Tree};

use crate::PrefixError;
use crate::answers;
use crate::compat_shims;
use crate::files;
use crate::lessons::{Exits, Failing, Lessons};
use crate::repair::ARGUMENTS;
use crate::result::Guidance;

/// The maximum number of conditions that are turned around, and of exceptions that calls raise.
const CONDITIONS: usize = 24;
const FAILURES: usize = 4;

impl Tree<'_> {
    /// The prefix for which all conditions hold.
    pub(super) fn sketch(&mut self) -> Result<(), PrefixError> {
        let seed = self.seed_of(&Scenario::default());
        let lessons = Lessons { common: self.shared.clone(), ..Lessons::default() };
        self.add(None, Guidance::Undefinedness, seed, lessons)?;
        Ok(())
    }

    fn seed_of(&self, scene: &Scenario) -> Rc<Seed> {
        Rc::new(Seed::new(Some(self.reading.sketch.environment(scene)), vec![]))
    }

    /// Turns conditions around, one after the other, and keeps what reaches more: a guard that is passed shows the next.
    pub(super) fn turn_scenes(&mut self) -> Result<(), PrefixError> {
        let conditions = self.reading.sketch.conditions.min(CONDITIONS);
        self.try_scene(|_| Scenario::default().turn(0..conditions))?;
        for condition in 0..conditions {
            self.try_scene(|scene| scene.turn([condition]))?;
        }
        // Both parts of one.
        for first in 1..conditions {
            self.try_scene(|scene| scene.turn([first - 1, first]))?;
        }
        for last in 1..conditions {
            self.try_scene(|_| Scenario::default().turn(0..=last))?;
        }
        if files::looks_for_files(self.reading) {
            self.try_scene(|scene| Scenario { has_files: true, ..scene.clone() })?;
        }
        for first in 0..if self.shared.has_input { answers::asked_for(self.reading).len() } else { 0 } {
            self.try_scene(|scene| Scenario { answers: Some(first), ..scene.clone() })?;
        }
        let handled = self.reading.sketch.sources.iter().map(|source| source.handled.len()).max();
        for failing in 0..handled.unwrap_or(0).min(FAILURES) {
            self.try_scene(|scene| Scenario { failing: Some(failing), ..scene.clone() })?;
        }
        for raising in 0..self.reading.sketch.guarded.len().min(FAILURES) {
            self.try_scene(|scene| Scenario { raising: Some(raising), ..scene.clone() })?;
        }
        Ok(())
    }

    /// Has modules be there, or not, without which the snippet can do.
    pub(super) fn turn_imports(&mut self) -> Result<(), PrefixError> {
        for module in self.reading.guarded.iter().take(FAILURES) {
            let dots = module.match_indices('.').map(|(dot, _)| module[..dot].to_owned());
            let all: Vec<String> = dots.chain([module.clone()]).collect();
            if self.is_done() {
                break;
            }
            let (nodes, covered) = (self.nodes.len(), self.covered.len());
            if !self.is_here(module)? {
                self.try_lessons(true, |lessons| lessons.common.modules.extend(all))?;
            }
            // It is there for all that comes.
            if let Some(grown) = self.grown.get(nodes).filter(|_| self.covered.len() > covered) {
                self.shared.join(&grown.lessons.common);
            }
            self.try_lessons(true, |lessons| lessons.absent.extend([module.clone()]))?;
        }
        Ok(())
    }

    /// Whether a module can be imported here.
    fn is_here(&mut self, module: &str) -> Result<bool, PrefixError> {
        let ran = self.run(&format!("import {module}\nraise SystemExit\n"))?;
        Ok(!matches!(&ran.end, End::Raised(raise) if raise.class != "SystemExit"))
    }

    /// Has the machine be another one, calls fail that the snippet expects to fail, and the snippet go on where it leaves.
    pub(super) fn turn_world(&mut self) -> Result<(), PrefixError> {
        let reading = self.reading;
        let sketch = &reading.sketch;
        let asked: BTreeSet<usize> =
            sketch.of_machine().into_values().flat_map(|id| sketch.conditions_of(id)).collect();
        if !asked.is_empty() {
            self.try_lessons(false, |lessons| lessons.scene.is_elsewhere = true)?;
        }
        for condition in asked.into_iter().take(CONDITIONS) {
            self.try_lessons(false, |lessons| {
                lessons.scene = Scenario { is_elsewhere: true, ..lessons.scene.turn([condition]) };
            })?;
        }
        for count in 1..=if reading.has_arguments { ARGUMENTS } else { 0 } {
            self.try_lessons(true, |lessons| lessons.common.arguments = count)?;
        }
        for (origin, class) in self.failing().into_iter().take(FAILURES) {
            for is_once in [false, true] {
                let failing = Failing { origin: origin.clone(), class: class.clone(), is_once };
                self.try_lessons(true, |lessons| lessons.failing = Some(failing))?;
            }
        }
        if !reading.exits.is_empty() {
            for exits in [Exits::EndWithStatus, Exits::GoOn] {
                self.try_lessons(true, |lessons| lessons.exits = exits)?;
            }
        }
        Ok(())
    }

    /// The calls of Python and of libraries that are here which the snippet expects to fail, each with a class of exceptions.
    fn failing(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let sources = self.reading.sketch.sources.iter().filter(|source| !source.is_foreign());
        for source in sources.filter(|source| network::role(&source.origin).is_none() && !source.origin.contains("()"))
        {
            for class in &source.handled {
                let pair = (source.origin.clone(), class.clone());
                if !found.contains(&pair) {
                    found.push(pair);
                }
            }
        }
        found
    }

    /// Changes the best prefix so far, and mends what comes of it. `is_new`: only if it reaches more before.
    fn try_lessons(&mut self, is_new: bool, change: impl FnOnce(&mut Lessons)) -> Result<(), PrefixError> {
        if self.is_done() {
            return Ok(());
        }
        let Some(parent) = self.best_sketched() else { return Ok(()) };
        let mut lessons = self.grown[parent].lessons.clone();
        lessons.common = self.shared.clone();
        change(&mut lessons);
        let seed = self.seed_of(&lessons.scene);
        let added = self.add_if(Some(parent), Guidance::Coverage, seed, lessons, is_new)?;
        self.repair_all(added.into_iter().collect(), self.options.width)
    }

    /// Has stand-ins call what they are given, from the best prefix so far.
    pub(super) fn act(&mut self) -> Result<(), PrefixError> {
        if self.is_done() || !self.reading.sketch.can_act() {
            return Ok(());
        }
        let Some(parent) = self.best_sketched() else { return Ok(()) };
        let mut lessons = self.grown[parent].lessons.clone();
        lessons.common = self.shared.clone();
        lessons.scene.acts = true;
        let seed = self.seed_of(&lessons.scene);
        // Real functions may do with what stand-ins now give.
        let mut first = lessons.clone();
        first.common.patched.retain(|(module, inner)| compat_shims::is_known(&format!("{module}.{inner}")));
        for lessons in [first, lessons] {
            let added = self.add(Some(parent), Guidance::Coverage, seed.clone(), lessons)?;
            self.repair_all(added.into_iter().collect(), self.options.width)?;
        }
        Ok(())
    }

    /// The best prefix so far among those that the text alone gave.
    fn best_sketched(&self) -> Option<usize> {
        let sketched =
            (0..self.nodes.len()).filter(|&number| number == 0 || self.grown[number].seed.sketched.is_some());
        let worth = |number: usize| (self.nodes[number].completed.len(), std::cmp::Reverse(number));
        sketched.max_by_key(|&number| worth(number))
    }

    fn try_scene(&mut self, change: impl FnOnce(&Scenario) -> Scenario) -> Result<(), PrefixError> {
        if self.is_done() {
            return Ok(());
        }
        // From the best one so far.
        let Some(parent) = self.best_sketched() else { return Ok(()) };
        let mut lessons = self.grown[parent].lessons.clone();
        lessons.common = self.shared.clone();
        lessons.scene = change(&lessons.scene);
        let seed = self.seed_of(&lessons.scene);
        let added = self.add_if(Some(parent), Guidance::Coverage, seed, lessons, true)?;
        self.repair_all(added.into_iter().collect(), self.options.width)
    }
}
