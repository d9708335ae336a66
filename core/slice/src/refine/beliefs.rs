//! How probable it is that the tests fail without a unit, from all that the runs have shown.
//!
//! Each failed removal says that one of its units is essential, and a passed one that none is. A unit begins with the rate
//! of essential ones among those like it, and its significance (the paper's score) raises or lowers that. This is the
//! model of probabilistic delta debugging (Wang et al., ESEC/FSE 2021), with two additions: a failed removal that holds a
//! smaller failed one says nothing any more, and the rate is the one that explains all removals best. Beliefs choose what is tried
//! next and never what is true.

use crate::refine::problem::Relevance;
use crate::refine::set::Set;

/// How many units of each kind have been seen, in thought, before the first.
const BEFORE: f64 = 6.0;

/// The rate of essential units before the first run, in a history of so many: a feature has a few commits, and somewhat more in
/// a longer history.
fn first_rate(relevance: Relevance, count: usize) -> f64 {
    let rate = 0.6 / (count.max(1) as f64).sqrt();
    match relevance {
        Relevance::WithTests => 0.6,
        Relevance::Run => (3.0 * rate).min(0.4),
        Relevance::Unknown => rate,
        Relevance::NotRun => 0.1 * rate,
    }
}

/// A significance of one doubles or halves the odds, up to this many times.
const MOST_SIGNIFICANT: i32 = 4;
/// The bounds of a probability that nothing proves.
const LEAST: f64 = 0.002;
const MOST: f64 = 0.95;
const KINDS: [Relevance; 4] = [Relevance::WithTests, Relevance::Run, Relevance::Unknown, Relevance::NotRun];
/// How often rates are estimated anew at most, and when they have stopped to change.
const ROUNDS: usize = 20;
const CLOSE: f64 = 0.001;

#[derive(Clone, Debug)]
pub(super) struct Beliefs {
    relevance: Vec<Relevance>,
    pub scores: Vec<i32>,
    /// Removals that failed, none of which holds another one.
    failed: Vec<Set>,
}

impl Beliefs {
    pub fn new(relevance: Vec<Relevance>) -> Self {
        Self { scores: vec![0; relevance.len()], relevance, failed: Vec::new() }
    }

    pub fn failed(&mut self, removed: &Set) {
        if !removed.is_empty() && !self.failed.iter().any(|known| known.is_within(removed)) {
            self.failed.retain(|known| !removed.is_within(known));
            self.failed.push(removed.clone());
        }
    }

    /// Only these units are left.
    pub fn passed(&mut self, kept: &Set) {
        let mut all = std::mem::take(&mut self.failed);
        all.iter_mut().for_each(|removed| *removed = removed.and(kept));
        all.sort_by_key(Set::len);
        all.iter().for_each(|removed| self.failed(removed));
    }

    /// For each unit, the probability that the tests fail without it. 1 where they did.
    pub fn probabilities(&self, all: &Set, kept: &Set) -> Vec<f64> {
        let mut rates = KINDS.map(|kind| first_rate(kind, all.len()));
        let mut found = self.with_rates(&rates, kept);
        // A failed removal of many units says that there are essential ones, and not which: the rates that explain all removals
        // best are found by expectation and maximization.
        for _ in 0..ROUNDS {
            let before = rates;
            for (kind, rate) in KINDS.into_iter().zip(&mut rates) {
                let first = first_rate(kind, all.len());
                let (mut essential, mut count) = (first * BEFORE, BEFORE);
                for unit in all.iter().filter(|unit| self.relevance[*unit] == kind) {
                    if !kept.has(unit) {
                        count += 1.0;
                    } else if self.failed.iter().any(|removed| removed.has(unit)) {
                        count += 1.0;
                        essential += found[unit];
                    }
                }
                *rate = essential / count;
            }
            found = self.with_rates(&rates, kept);
            if before.iter().zip(&rates).all(|(before, rate)| (before - rate).abs() < CLOSE) {
                break;
            }
        }
        found
    }

    /// The same where essential units of each kind have these rates.
    fn with_rates(&self, rates: &[f64; KINDS.len()], kept: &Set) -> Vec<f64> {
        let mut found = vec![0.0; self.relevance.len()];
        for unit in kept.iter() {
            let kind = self.relevance[unit];
            let rate = KINDS.iter().zip(rates).find(|(one, _)| **one == kind).map_or(0.5, |(_, rate)| *rate);
            let score = self.scores[unit].clamp(-MOST_SIGNIFICANT, MOST_SIGNIFICANT);
            let odds = rate / (1.0 - rate).max(LEAST) * f64::from(score).exp2();
            found[unit] = (odds / (1.0 + odds)).clamp(LEAST, MOST);
        }
        let (single, several): (Vec<&Set>, Vec<&Set>) = self.failed.iter().partition(|removed| removed.len() == 1);
        single.into_iter().flat_map(Set::iter).for_each(|unit| found[unit] = 1.0);
        for removed in several {
            let none = removed.iter().map(|unit| 1.0 - found[unit]).product::<f64>();
            if none > 0.0 && removed.is_within(kept) {
                removed.iter().for_each(|unit| found[unit] = (found[unit] / (1.0 - none)).min(MOST));
            }
        }
        found
    }
}
