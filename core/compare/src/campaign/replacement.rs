//! Decides when to replace existing objects with injected ones.
//!
//! In module context, the results of real helpers and the real globals fix the course of executions. A search that does
//! not reach the changed lines, or finds nothing, replaces some of them, and finally most of them. What remains is
//! function context, except for what changed.

use twincell_engine::protocol::ReplacementScope;
use twincell_syntax::Side;
use twincell_values::path::Question;
use twincell_values::value::Fixed;

use super::{Campaign, Target};

/// The number of executions after which changed lines should have been reached.
const PATIENCE: u32 = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Real,
    Helpers,
    Most,
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
        let unreached = || {
            Side::BOTH
                .into_iter()
                .any(|side| target.changed[side].iter().any(|line| !campaign.reached[side].contains(line)))
        };
        let due = match self.stage {
            Stage::Real => exhausted || executed >= self.budget / 2 || executed >= PATIENCE && unreached(),
            Stage::Helpers => exhausted || executed >= self.budget / 3 * 2,
            Stage::Most => false,
        };
        if due {
            self.stage = if self.stage == Stage::Real { Stage::Helpers } else { Stage::Most };
        }
        due
    }

    /// What a fresh execution replaces.
    pub(super) fn afresh(&self, index: u32) -> ReplacementScope {
        match self.stage {
            Stage::Real => ReplacementScope::Nothing,
            Stage::Helpers if index % 8 >= 6 => ReplacementScope::Nothing,
            Stage::Helpers => ReplacementScope::Helpers,
            Stage::Most if index % 8 >= 6 => ReplacementScope::Helpers,
            Stage::Most => ReplacementScope::Most,
        }
    }

    /// Whether variations and planned executions make room for fresh ones.
    pub(super) fn wants_afresh(&self, index: u32) -> bool {
        self.stage > Stage::Real && index % 4 == 1
    }

    /// What an execution based on another replaces: the same objects.
    pub(super) fn like(fixed: &Fixed) -> ReplacementScope {
        if Question::any_injected(fixed) { ReplacementScope::Helpers } else { ReplacementScope::Nothing }
    }
}
