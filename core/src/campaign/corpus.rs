//! What a campaign has learned: what ran, and the executions that are worth varying.

use std::collections::BTreeSet;

use super::{Campaign, Kept, Target, Techniques};
use crate::behavior::{Rules, differences};
use crate::engine::protocol::ExecutionRecord;
use crate::value::Choice;

/// Executions whose choices are varied.
const CORPUS: usize = 24;

pub(super) struct State<'a> {
    pub(super) target: &'a Target,
    pub(super) techniques: Techniques,
    rules: &'a Rules,
    covered: [BTreeSet<u32>; 2],
    branches: BTreeSet<(usize, u32, bool)>,
    pub(super) corpus: Vec<Vec<Choice>>,
}

impl<'a> State<'a> {
    pub(super) fn new(target: &'a Target, techniques: Techniques, rules: &'a Rules) -> Self {
        Self { target, techniques, rules, covered: Default::default(), branches: BTreeSet::new(), corpus: Vec::new() }
    }

    /// Share of executable lines that ran, 0 to 1.
    pub(super) fn coverage(&self) -> f64 {
        let all: usize = self.target.lines.iter().map(Vec::len).sum();
        let ran: usize = (0..2)
            .map(|version| {
                self.target.lines[version].iter().filter(|line| self.covered[version].contains(line)).count()
            })
            .sum();
        if all == 0 { 1.0 } else { ran as f64 / all as f64 }
    }
}

pub(super) fn learn(state: &mut State<'_>, campaign: &mut Campaign, record: ExecutionRecord) {
    let mut new_lines = 0;
    let mut novel = false;
    for (version, behavior) in record.behaviors.iter().enumerate().take(2) {
        for (line, _) in &behavior.lines {
            if state.covered[version].insert(*line) {
                new_lines += 1;
                novel = true;
            }
        }
        for (branch, yes, no) in &behavior.branches {
            for (taken, truth) in [(*yes > 0, true), (*no > 0, false)] {
                novel |= taken && state.branches.insert((version, *branch, truth));
            }
        }
    }
    let valid = record.behaviors.iter().all(|behavior| behavior.outcome.is_valid());
    let mut near = false;
    for (version, behavior) in record.behaviors.iter().enumerate().take(2) {
        for (line, _) in &behavior.lines {
            if state.target.changed[version].contains(line) {
                near = true;
                if valid {
                    campaign.reached[version].insert(*line);
                }
            }
        }
    }
    if novel || near && valid && state.corpus.len() < CORPUS / 2 {
        if state.corpus.len() >= CORPUS {
            state.corpus.remove(0);
        }
        state.corpus.push(record.choices.clone());
    }
    let found = match record.behaviors.as_slice() {
        [old, new] => differences(old, new, state.rules),
        _ => vec![],
    };
    let coverage = state.coverage();
    campaign.executions.push(Kept { record, differences: found, new_lines, coverage, probability: 1.0 });
}
