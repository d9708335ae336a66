//! Executions of a long campaign that are counted and not kept, so that a campaign's memory is bounded for any budget.

use std::collections::BTreeMap;

use twincell_behavior::{display_decision, is_close};
use twincell_engine::EngineError;
use twincell_engine::observed::{Behavior, Limit, Outcome};
use twincell_engine::protocol::ExecutionRecord;
use twincell_syntax::{PerSide, Side};
use twincell_values::value::Choice;

use super::{Campaign, Execute, TestCase, confirm};

/// How many executions that only one version did not end are run for longer.
const MOST_LONGER: usize = 3;

/// The number of executions that a campaign keeps whatever they show.
pub const MOST_KEPT: usize = 1000;
/// The number of executions up to which differing ones are kept. Beyond it, only executions with new lines are.
const MOST_DIFFERING: usize = 2 * MOST_KEPT;

/// The facts about executions that are not kept.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    executions: usize,
    valid: usize,
    /// The number in which only old, and only new, ran into a bound that the other one did not come near.
    stopped: PerSide<usize>,
    /// Whether at least one of them ran into no bound.
    any_ended: bool,
    /// How many ran each line of old and new.
    lines: PerSide<BTreeMap<u32, u32>>,
}

impl Tally {
    fn count(&mut self, case: &TestCase) {
        self.executions += 1;
        self.valid += usize::from(case.is_valid());
        for side in Side::BOTH {
            self.stopped[side] += usize::from(case.stopped_only(side));
        }
        self.any_ended |= case.stopped().is_none();
        for (lines, behavior) in self.lines.iter_mut().zip(&case.record.behaviors) {
            for (line, _) in &behavior.lines {
                *lines.entry(*line).or_default() += 1;
            }
        }
    }
}

impl Campaign {
    /// Counts and drops executions from this position on, if there are enough and these show nothing.
    pub(super) fn prune(&mut self, from: usize) {
        let from = from.max(MOST_KEPT);
        if self.executions.len() <= from {
            return;
        }
        for (position, case) in (from..).zip(self.executions.split_off(from)) {
            let is_witness = self.witness == Some(position);
            let differs = !case.differences.is_empty() && self.executions.len() < MOST_DIFFERING;
            if is_witness {
                self.witness = Some(self.executions.len());
            }
            let is_first_stopped = case.stopped_one() && !self.executions.iter().any(TestCase::stopped_one);
            if is_witness || differs || is_first_stopped || case.new_lines > 0 {
                self.executions.push(case);
            } else {
                self.tally.count(&case);
            }
        }
    }

    /// The number of executions that came back.
    pub fn executed(&self) -> usize {
        self.executions.len() + self.tally.executions
    }

    /// The number of executions that say something about behavior.
    pub fn valid(&self) -> usize {
        self.executions.iter().filter(|case| case.is_valid()).count() + self.tally.valid
    }

    /// The number of executions in which this version ran into a bound that the other one did not come near.
    pub fn stopped_only(&self, side: Side) -> usize {
        self.executions.iter().filter(|case| case.stopped_only(side)).count() + self.tally.stopped[side]
    }

    /// If only one of the versions ran into limits, which one. Then this is why the pair is inconclusive.
    pub fn limited(&self) -> Option<Side> {
        if self.ends_later {
            return None;
        }
        let stopped = PerSide::of(|side| self.stopped_only(side));
        Side::BOTH.into_iter().find(|side| stopped[*side] > 0 && stopped[side.other()] == 0)
    }

    /// Runs some of the executions that one version did not end for longer. If they all end alike then, it was only slower.
    pub fn settle_limits(&mut self, execute: &mut dyn Execute) -> Result<(), EngineError> {
        if self.limited().is_none() || self.witness.is_some() {
            return Ok(());
        }
        let stopped = self.executions.iter().filter(|case| case.stopped_one()).take(MOST_LONGER);
        let records: Vec<ExecutionRecord> = stopped.map(|case| case.record.clone()).collect();
        for record in &records {
            if !confirm::ends_later(execute, record)? {
                return Ok(());
            }
        }
        self.ends_later = !records.is_empty();
        Ok(())
    }

    /// Whether no execution ran changed code, and nothing else happened that speaks of the change.
    pub fn stays_away(&self) -> bool {
        let is_whole =
            self.lost.is_empty() && self.unconfirmed == 0 && self.unrepeated == 0 && self.limited().is_none();
        is_whole && self.executed() > 0 && self.reached.iter().all(std::collections::BTreeSet::is_empty)
    }

    /// If this is why the pair is inconclusive: of the executions that only one version did not end, the one with the
    /// fewest and shortest values.
    pub fn stopped_example(&self) -> Option<&TestCase> {
        self.limited()?;
        let stopped = self.executions.iter().filter(|case| case.stopped_one());
        stopped.min_by_key(|case| {
            let shown = |choice: &Choice| display_decision(&choice.decision).chars().count();
            let lengths: Vec<usize> = case.record.choices.iter().map(shown).collect();
            (lengths.len(), lengths.iter().sum::<usize>(), case.record.index)
        })
    }

    /// The bound that stopped the first execution, if bounds stopped all of them.
    pub fn stopped_by(&self) -> Option<Limit> {
        let mut bounds = self.executions.iter().map(TestCase::stopped);
        let first = bounds.next()??;
        (bounds.all(|bound| bound.is_some()) && !self.tally.any_ended).then_some(first)
    }

    /// The number of executions that ran a line of one version.
    pub fn ran(&self, side: Side, line: u32) -> u32 {
        let ran = |case: &&TestCase| case.behavior(side).is_some_and(|behavior| behavior.hits(line) > 0);
        let case = self.executions.iter().filter(ran).count() as u32;
        case + self.tally.lines[side].get(&line).copied().unwrap_or(0)
    }
}

impl TestCase {
    /// The bound that stopped the first of its stopped versions.
    fn stopped(&self) -> Option<Limit> {
        self.record.behaviors.iter().find_map(bound)
    }

    fn stopped_only(&self, side: Side) -> bool {
        let ended = PerSide::of(|side| self.behavior(side).is_some_and(|behavior| bound(behavior).is_none()));
        let is_close = || match self.record.behaviors.as_slice() {
            [old, new] => is_close(old, new, side),
            _ => false,
        };
        !ended[side] && ended[side.other()] && !is_close()
    }

    /// Whether only one of its versions ran into a bound.
    fn stopped_one(&self) -> bool {
        Side::BOTH.into_iter().any(|side| self.stopped_only(side))
    }
}

fn bound(behavior: &Behavior) -> Option<Limit> {
    match &behavior.outcome {
        Outcome::Stopped { reason } => Some(*reason),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_engine::observed::Observed;

    fn case(index: u32, outcome: Outcome, new_lines: u32) -> TestCase {
        let behavior = |outcome, steps| Behavior { lines: vec![(1, 3)], steps, ..Behavior::new(outcome) };
        let record = ExecutionRecord {
            index,
            behaviors: vec![behavior(Outcome::Returned(Observed::None), 3), behavior(outcome, 20_000)],
            microseconds: 1,
            ..ExecutionRecord::default()
        };
        TestCase { new_lines, coverage: 1.0, ..TestCase::new(record, vec![]) }
    }

    #[test]
    fn what_does_not_end_is_an_example_only_where_it_is_the_reason() {
        let stopped = |index| case(index, Outcome::Stopped { reason: Limit::Steps }, 0);
        let mut campaign = Campaign { executions: vec![stopped(0)], ..Campaign::default() };
        assert!(campaign.stopped_example().is_some());
        let mut other = stopped(1);
        other.record.behaviors.reverse();
        campaign.executions.push(other);
        assert!(campaign.limited().is_none() && campaign.stopped_example().is_none());
    }

    #[test]
    fn a_campaign_whose_valid_executions_are_only_counted_is_not_hopeless() {
        let stopped = |index| case(index, Outcome::Stopped { reason: Limit::Steps }, 0);
        let mut campaign = Campaign { executions: (0..MOST_KEPT as u32).map(stopped).collect(), ..Campaign::default() };
        assert!(super::super::is_hopeless(&campaign));
        campaign.executions.push(case(MOST_KEPT as u32, Outcome::Returned(Observed::None), 0));
        campaign.prune(MOST_KEPT);
        assert!(!super::super::is_hopeless(&campaign));
    }

    #[test]
    fn a_long_campaign_counts_what_shows_nothing_and_keeps_the_rest() {
        let (mut campaign, end) = (Campaign::default(), MOST_KEPT as u32 + 500);
        for index in 0..end {
            let before = campaign.executions.len();
            let outcome = match index {
                1200 => Outcome::Stopped { reason: Limit::Steps },
                _ => Outcome::Returned(Observed::None),
            };
            campaign.executions.push(case(index, outcome, u32::from(index == 1100)));
            if index == 1300 {
                campaign.witness = Some(before);
            }
            campaign.prune(before);
        }
        let numbers: Vec<u32> = campaign.executions[MOST_KEPT..].iter().map(|case| case.record.index).collect();
        assert_eq!(numbers, [1100, 1200, 1300]);
        assert_eq!(campaign.witness, Some(MOST_KEPT + 2));
        assert_eq!(campaign.stopped_example().map(|case| case.record.index), Some(1200));
        assert_eq!((campaign.executed(), campaign.valid()), (end as usize, end as usize - 1));
        assert_eq!(PerSide::of(|side| campaign.stopped_only(side)), PerSide::new(0, 1));
        assert_eq!((campaign.ran(Side::Old, 1), campaign.ran(Side::New, 2)), (end, 0));
        assert_eq!(campaign.stopped_by(), None);
    }
}
