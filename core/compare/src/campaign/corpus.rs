//! The state of a campaign's search, and what it keeps of each execution.

use std::sync::Arc;

use twincell_behavior::{Rules, differences};
use twincell_engine::protocol::ExecutionRecord;
use twincell_search::{Search, Target};
use twincell_syntax::Side;

use super::environments::Environments;
use super::replacement::Replacement;
use super::{Campaign, Plan, TestCase, suppressed};
use crate::Example;

pub(super) struct State<'a> {
    pub(super) search: Search<'a>,
    target: &'a Target,
    rules: &'a Rules,
    plan: &'a Plan,
    pub(super) replacement: Replacement,
    pub(super) environments: Environments,
}

impl<'a> State<'a> {
    pub(super) fn new(target: &'a Target, plan: &'a Plan) -> Self {
        Self {
            search: Search::new(target, plan.techniques.methods()),
            target,
            rules: &plan.rules,
            plan,
            replacement: Replacement::new(plan.may_replace, plan.budget),
            environments: Environments::new(plan),
        }
    }

    /// The example that is the execution of this index.
    pub(super) fn example_at(&self, index: u32) -> Option<Arc<Example>> {
        self.plan.example_at(index)
    }

    /// Replaces more existing objects, or asks the text for values, when it is time. `false` if nothing more can be
    /// expected at all.
    pub(super) fn go_on(&mut self, campaign: &Campaign, executed: u32) -> bool {
        let exhausted = self.search.is_exhausted();
        let advanced = self.replacement.advance(campaign, self.target, executed, exhausted);
        let asked = self.environments.advance(campaign, self.target, executed, exhausted && !advanced);
        if advanced || asked {
            self.search.reset_patience();
        }
        advanced || asked || !exhausted
    }
}

/// Learns from an execution and keeps it.
pub(super) fn learn(state: &mut State<'_>, campaign: &mut Campaign, mut record: ExecutionRecord) {
    let given = state.example_at(record.index);
    let new_lines = state.search.learn(&record, given.is_some());
    state.environments.learn(&record, state.target);
    if record.behaviors.iter().all(|behavior| behavior.outcome.is_valid()) {
        for (side, behavior) in Side::BOTH.into_iter().zip(&record.behaviors) {
            for &(branch, yes, no) in &behavior.branches {
                let sides = [(yes > 0, true), (no > 0, false)].into_iter().filter(|(taken, _)| *taken);
                campaign.outcomes[side].extend(sides.map(|(_, to)| (branch, to)));
            }
            let changed = &state.target.changed[side];
            let lines = behavior.lines.iter().map(|(line, _)| *line);
            campaign.reached[side].extend(lines.filter(|line| changed.contains(line)));
        }
    }
    // Observations are dropped after learning from them, since a campaign keeps hundreds of records.
    record.observations = Vec::new();
    let found = match record.behaviors.as_slice() {
        [old, new] => differences(old, new, state.rules),
        _ => vec![],
    };
    suppressed::keep_further(campaign, &record, state.rules);
    let coverage = state.search.coverage();
    campaign.executions.push(TestCase { new_lines, coverage, given, ..TestCase::new(record, found) });
}
