//! Why each unit stays or goes, from what the search found and what is known of units that do the same as others.

use std::collections::BTreeMap;
use std::path::Path;

use crate::refine::{Because, Problem, Refined, Relevance};
use crate::result::{Goal, Goes, SlicePart, SliceUnit, Stays, UnitState};
use crate::timeline::{KnownBy, Same, Timeline, Unit};
use crate::{Selection, UnitId};

/// All units of a range with their states.
pub(crate) fn units(
    timeline: &Timeline,
    problem: &Problem,
    found: &Refined,
    cleanups: &Selection,
    goal: Goal,
) -> Vec<SliceUnit> {
    let text = |path: &Path| path.display().to_string();
    let reasons = Reasons::new(timeline, problem, found, cleanups, goal);
    let one = |(at, unit): (usize, &Unit)| {
        let id = UnitId(at as u32);
        SliceUnit {
            commit: unit.commit.to_string(),
            subject: unit.subject.clone(),
            part: unit
                .part
                .as_ref()
                .map(|part| SlicePart { path: text(&part.path), entity: part.entity.as_deref().map(str::to_owned) }),
            paths: unit.paths.iter().map(|path| text(path)).collect(),
            score: found.scores.get(&id).copied().unwrap_or_default(),
            is_cleanup: cleanups.contains(&id),
            state: reasons.state(id),
        }
    };
    timeline.units().iter().enumerate().map(one).collect()
}

struct Reasons<'a> {
    problem: &'a Problem,
    found: &'a Refined,
    cleanups: &'a Selection,
    goal: Goal,
    /// The commits of the target that have units.
    in_target: BTreeMap<UnitId, (String, KnownBy)>,
    /// The units that undo another one, or are undone by it. Both go.
    undone: BTreeMap<UnitId, Undone>,
}

#[derive(Clone, Copy)]
enum Undone {
    Reverts(UnitId, KnownBy),
    By(UnitId, KnownBy),
}

fn place(unit: UnitId) -> usize {
    unit.0 as usize
}

impl<'a> Reasons<'a> {
    fn new(timeline: &Timeline, problem: &'a Problem, found: &'a Refined, cleanups: &'a Selection, goal: Goal) -> Self {
        let (in_target, undone) = (BTreeMap::new(), BTreeMap::new());
        let mut reasons = Self { problem, found, cleanups, goal, in_target, undone };
        let is_gone = |unit: &UnitId| found.gone.contains_key(unit);
        for one in timeline.same() {
            match one.same {
                Same::InTarget(commit) => {
                    reasons.in_target.insert(one.unit, (commit.to_string(), one.known_by));
                }
                Same::Reverts(earlier) if is_gone(&one.unit) && is_gone(&earlier) => {
                    reasons.undone.insert(one.unit, Undone::Reverts(earlier, one.known_by));
                    reasons.undone.insert(earlier, Undone::By(one.unit, one.known_by));
                }
                Same::Reverts(_) => {}
            }
        }
        reasons
    }

    fn state(&self, unit: UnitId) -> UnitState {
        if let Some((commit, known_by)) = self.in_target.get(&unit) {
            return UnitState::Goes(Goes::InTarget { commit: commit.clone(), known_by: *known_by });
        }
        match (self.found.because.get(&unit), self.found.gone.get(&unit)) {
            (Some(because), _) => UnitState::Stays(self.stays(because)),
            (None, Some(step)) => UnitState::Goes(self.goes(unit, step - 1)),
            (None, None) => UnitState::Stays(Stays::Unknown),
        }
    }

    fn stays(&self, because: &Because) -> Stays {
        match because {
            Because::Fails { failed, with } => {
                let (count, first) = (failed.count, failed.first.clone());
                let by: Vec<usize> = with.iter().copied().map(place).collect();
                match self.goal {
                    Goal::Fail => Stays::NotReproduced { by, count, first },
                    Goal::Pass if by.is_empty() => Stays::TestsFail { count, first },
                    Goal::Pass => Stays::TextNeeded { by, count, first },
                }
            }
            Because::Lacks { lacking, with } => {
                Stays::NameNeeded { by: with.iter().copied().map(place).collect(), lacking: lacking.clone() }
            }
            Because::Unknown => Stays::Unknown,
        }
    }

    fn goes(&self, unit: UnitId, step: usize) -> Goes {
        // Both are gone once the later one of them is.
        let both = |other: &UnitId| self.found.gone.get(other).map_or(step, |other| step.max(other - 1));
        match self.undone.get(&unit) {
            Some(Undone::Reverts(other, known_by)) => {
                return Goes::Reverts { unit: place(*other), known_by: *known_by, step: both(other) };
            }
            Some(Undone::By(other, known_by)) => {
                return Goes::Reverted { by: place(*other), known_by: *known_by, step: both(other) };
            }
            None => {}
        }
        match self.goal {
            _ if self.cleanups.contains(&unit) => Goes::Cleanup { step },
            _ if self.problem.relevance.get(place(unit)) == Some(&Relevance::NotRun) => Goes::NotRun { step },
            Goal::Pass => Goes::TestsPass { step },
            Goal::Fail => Goes::StillFails { step },
        }
    }
}
