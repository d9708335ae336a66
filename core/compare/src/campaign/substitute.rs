//! When what is there is injected all the same.
//!
//! In module context the results of real helpers, and real globals, keep executions on the way that these lead. A search
//! that does not reach the changed lines, or finds nothing, takes some of them away, and at last most: what is left is
//! function context, but for what changed.

use twincell_engine::protocol::Substitute;
use twincell_values::value::{Fixed, SUBSTITUTED};

use super::{Campaign, Target};

/// Executions after which changed lines should have been reached.
const PATIENCE: u32 = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Real,
    Helpers,
    Most,
}

/// How far the search has gone.
#[derive(Debug)]
pub(super) struct Substitution {
    stage: Stage,
    /// Something is there that can be injected instead.
    possible: bool,
    budget: u32,
}

impl Substitution {
    pub(super) fn new(possible: bool, budget: u32) -> Self {
        Self { stage: Stage::Real, possible, budget }
    }

    /// Goes on to the next stage where it is time; `exhausted`: this one gives nothing new. `true` when it did.
    pub(super) fn advance(&mut self, campaign: &Campaign, target: &Target, executed: u32, exhausted: bool) -> bool {
        if !self.possible {
            return false;
        }
        let unreached =
            || (0..2).any(|side| target.changed[side].iter().any(|line| !campaign.reached[side].contains(line)));
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

    /// What an execution that is drawn afresh replaces.
    pub(super) fn afresh(&self, index: u32) -> Substitute {
        match self.stage {
            Stage::Real => Substitute::Nothing,
            Stage::Helpers if index % 8 >= 6 => Substitute::Nothing,
            Stage::Helpers => Substitute::Helpers,
            Stage::Most if index % 8 >= 6 => Substitute::Helpers,
            Stage::Most => Substitute::Most,
        }
    }

    /// Executions that vary others, or follow a plan, make room for those drawn afresh.
    pub(super) fn wants_afresh(&self, index: u32) -> bool {
        self.stage > Stage::Real && index % 4 == 1
    }

    /// What an execution replaces that goes on from another: the same.
    pub(super) fn like(fixed: &Fixed) -> Substitute {
        let replaces = fixed.keys().any(|path| path.starts_with(SUBSTITUTED));
        if replaces { Substitute::Helpers } else { Substitute::Nothing }
    }
}
