//! Decides when to replace existing objects with injected ones.
//!
//! In module context, the results of real helpers and the real globals fix the course of executions. A search that does
//! not reach the changed lines, or finds nothing, replaces some of them, and then most of them. If the real context
//! leads to no usable execution, to a changed line or to a side of a changed condition even so, the last stage is
//! function context: everything that the code does not define is injected, except for what changed.

use twincell_engine::protocol::ReplacementScope;
use twincell_search::Target;
use twincell_syntax::Side;
use twincell_values::path::{EVERYTHING, Question};
use twincell_values::value::{Choice, Fixed};

use super::Campaign;

/// The number of executions after which changed lines and the sides of changed conditions should have been reached.
const PATIENCE: u32 = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Real,
    Helpers,
    Most,
    All,
}

/// The present stage of the search.
#[derive(Debug)]
pub(super) struct Replacement {
    stage: Stage,
    /// Whether there are objects that can be replaced.
    possible: bool,
    budget: u32,
}

impl Replacement {
    pub(super) fn new(possible: bool, budget: u32) -> Self {
        Self { stage: Stage::Real, possible, budget }
    }

    /// Moves to the next stage when it is time. `exhausted`: this stage gives nothing new. Returns whether it moved.
    pub(super) fn advance(&mut self, campaign: &Campaign, target: &Target, executed: u32, exhausted: bool) -> bool {
        if !self.possible {
            return false;
        }
        let unreached = || campaign.valid() == 0 || is_unreached(target, campaign);
        let next = match self.stage {
            Stage::Real if exhausted || executed >= self.budget / 2 || executed >= PATIENCE && unreached() => {
                Stage::Helpers
            }
            Stage::Helpers if exhausted || executed >= self.budget / 3 * 2 => Stage::Most,
            Stage::Helpers if executed >= self.budget / 3 && unreached() => Stage::Most,
            Stage::Most if (exhausted || executed >= self.budget / 2) && unreached() => Stage::All,
            stage => stage,
        };
        let moves = next != self.stage;
        self.stage = next;
        moves
    }

    /// What a fresh execution replaces.
    pub(super) fn afresh(&self, index: u32) -> ReplacementScope {
        match self.stage {
            Stage::Real => ReplacementScope::Nothing,
            Stage::Helpers if index % 8 >= 6 => ReplacementScope::Nothing,
            Stage::Helpers => ReplacementScope::Helpers,
            Stage::Most if index % 8 >= 6 => ReplacementScope::Helpers,
            Stage::Most => ReplacementScope::Most,
            Stage::All => ReplacementScope::All,
        }
    }

    /// Whether variations and planned executions make room for fresh ones.
    pub(super) fn wants_afresh(&self, index: u32) -> bool {
        self.stage > Stage::Real && index % 4 == 1
    }

    /// What an execution based on another replaces: the same objects, and in the last stage everything.
    pub(super) fn like(&self, fixed: &Fixed) -> ReplacementScope {
        match self.stage {
            Stage::All => ReplacementScope::All,
            _ if Question::any_injected(fixed) => ReplacementScope::Helpers,
            _ => ReplacementScope::Nothing,
        }
    }

    /// Moves to the last stage because real objects keep all executions from ending. `false` if this was done before.
    pub(super) fn give_way(&mut self, campaign: &Campaign) -> bool {
        let moves = self.possible && self.stage != Stage::All && campaign.lost.is_empty();
        if moves {
            self.stage = Stage::All;
        }
        moves
    }
}

/// Whether a campaign ran no changed line of some version, or took no such side of a changed condition.
fn is_unreached(target: &Target, campaign: &Campaign) -> bool {
    Side::BOTH.into_iter().any(|side| {
        let changed = &target.changed[side];
        let is_changed = |line: &u32| changed.contains(line);
        let taken = |number: u32| [true, false].iter().all(|&to| campaign.outcomes[side].contains(&(number, to)));
        let mut conditions = (0..).zip(&target.branches[side]).filter(|(_, line)| is_changed(line));
        changed.iter().any(|line| !campaign.reached[side].contains(line))
            || conditions.any(|(number, _)| !taken(number))
    })
}

/// The existing objects that an execution with these decisions replaced: names, or [`EVERYTHING`].
pub(crate) fn replaced(choices: &[Choice]) -> impl Iterator<Item = &str> {
    choices.iter().filter_map(|choice| Question::replaced(&choice.path, &choice.decision))
}

/// Whether an execution with these decisions ran without the module, as in function context.
pub(crate) fn is_without_module(choices: &[Choice]) -> bool {
    replaced(choices).any(|name| name == EVERYTHING)
}
