//! The rules of a refinement: which candidate is next, and what its outcome says.
//!
//! All here is a function of the outcomes so far, in their order. So several candidates can run at once: a copy of the search
//! is told an outcome that is only probable, and says what would be next.

use std::collections::HashMap;
use std::sync::Arc;

use crate::invariants::Invariants;
use crate::refine::beliefs::Beliefs;
use crate::refine::problem::{Needs, Problem, Relevance};
use crate::refine::set::Set;
use crate::refine::{Rule, Scheme};

/// By how much a larger removal must be better than a smaller one, and how probably it must pass.
const WORTH: f64 = 1.02;
const LEAST_PASSING: f64 = 0.5;

/// A set of units to try, as a history that every unit's text applies to.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub kept: Set,
    pub rule: Rule,
}

#[derive(Clone, Debug)]
pub(super) struct Search {
    needs: Arc<Needs>,
    scheme: Scheme,
    /// H*, for which the tests pass.
    pub kept: Set,
    /// I, of the last successful run.
    pub invariants: Arc<Invariants>,
    pub beliefs: Beliefs,
    /// Every set that was tried, and whether it passed.
    known: HashMap<Set, bool>,
    /// The first guesses that are still to be made, the next one last.
    guesses: Vec<Set>,
    /// Of delta debugging: in how many parts the history is split, and which is next.
    parts: usize,
    part: usize,
    /// How many units are known to be essential in what is kept now.
    proved: usize,
}

impl Search {
    /// INIT. The tests pass for the whole history, with these invariants.
    pub fn new(problem: &Problem, needs: Arc<Needs>, scheme: Scheme, invariants: Arc<Invariants>) -> Self {
        let relevance: Vec<_> =
            (0..needs.count).map(|unit| problem.relevance.get(unit).copied().unwrap_or_default()).collect();
        let kept = needs.all.clone();
        // Most features are few commits, which brought their tests along.
        let up_to = |last: Relevance| {
            let concerned = kept.iter().filter(|unit| relevance[*unit] <= last);
            needs.with_needs(concerned, &kept)
        };
        let lean = |guess: &Set| {
            let mut lean = needs.taken(guess);
            for unit in problem.needless.iter().filter(|_| scheme != Scheme::Basic) {
                needs.take_out(&mut lean, unit.0 as usize, true, &mut Vec::new());
            }
            lean.units
        };
        let (largest, smaller) = match scheme {
            Scheme::Combined => (up_to(Relevance::Unknown), vec![up_to(Relevance::Run), up_to(Relevance::WithTests)]),
            _ => (kept.clone(), Vec::new()),
        };
        let mut guesses = vec![largest.clone(), lean(&largest)];
        guesses.extend(smaller.iter().map(lean));
        guesses.retain(|guess| !guess.is_empty());
        let mut known = HashMap::new();
        known.insert(kept.clone(), true);
        Self {
            scheme,
            guesses,
            kept,
            invariants,
            beliefs: Beliefs::new(relevance),
            known,
            parts: 2,
            part: 0,
            proved: 0,
            needs,
        }
    }

    /// The next candidate. `None` once the history is minimal.
    pub fn next(&mut self) -> Option<Candidate> {
        if self.kept.is_empty() {
            return None;
        }
        while let Some(guess) = self.guesses.pop() {
            if guess.is_within(&self.kept) && self.is_new(&guess) {
                return Some(Candidate { kept: guess, rule: Rule::ParSig });
            }
        }
        let found = match self.scheme {
            Scheme::Combined => self.most_promising(),
            Scheme::Basic => self.part(false),
            scheme => self.significant(scheme).or_else(|| self.part(true)),
        };
        found.or_else(|| self.single())
    }

    /// Whether a candidate was not tried yet.
    fn is_new(&self, kept: &Set) -> bool {
        !self.known.contains_key(kept)
    }

    /// What remains without these units and all that needs them.
    fn without(&self, some: impl Iterator<Item = usize>, by_name: bool) -> Set {
        let mut taken = self.needs.taken(&self.kept);
        some.for_each(|unit| self.needs.take_out(&mut taken, unit, by_name, &mut Vec::new()));
        taken.units
    }

    /// PAR-SIG: without the units that a scheme calls insignificant.
    fn significant(&mut self, scheme: Scheme) -> Option<Candidate> {
        let candidate = self.insignificant(scheme)?;
        self.is_new(&candidate).then_some(Candidate { kept: candidate, rule: Rule::ParSig })
    }

    fn insignificant(&self, scheme: Scheme) -> Option<Set> {
        let scores = &self.beliefs.scores;
        let mut ranked: Vec<usize> = self.kept.iter().collect();
        ranked.sort_by_key(|unit| scores[*unit]);
        let lowest = scores[*ranked.first()?];
        // Without a signal there is no rank.
        if lowest == scores[*ranked.last()?] {
            return None;
        }
        let count = match scheme {
            Scheme::Neg => ranked.partition_point(|unit| scores[*unit] < 0),
            Scheme::Nonpos => ranked.partition_point(|unit| scores[*unit] <= 0),
            _ => ranked.len() / 3,
        };
        let candidate = self.without(ranked.into_iter().take(count), self.scheme != Scheme::Basic);
        (count > 0 && !candidate.is_empty()).then_some(candidate)
    }

    /// PAR-RAND as delta debugging does it: the history in equal parts, each of which goes in its turn; if none can, twice as
    /// many.
    fn part(&mut self, by_name: bool) -> Option<Candidate> {
        loop {
            let units: Vec<usize> = self.kept.iter().collect();
            self.parts = self.parts.min(units.len());
            if self.part == self.parts {
                if self.parts == units.len() {
                    return None;
                }
                self.parts = (self.parts * 2).min(units.len());
                self.part = 0;
            }
            let (from, to) = (units.len() * self.part / self.parts, units.len() * (self.part + 1) / self.parts);
            self.part += 1;
            let by_name = by_name && to - from > 1;
            let candidate = self.without(units[from..to].iter().copied(), by_name);
            if self.is_new(&candidate) {
                return Some(Candidate { kept: candidate, rule: Rule::ParRand });
            }
        }
    }

    /// Of the partitions of the three schemes and of the least essential units by belief, the one by which the history becomes
    /// smallest on average.
    fn most_promising(&mut self) -> Option<Candidate> {
        let probabilities = self.beliefs.probabilities(&self.needs.all, &self.kept);
        let gain = |removed: &Set| {
            removed.len() as f64 * removed.iter().map(|unit| 1.0 - probabilities[unit]).product::<f64>()
        };
        let by_belief = self.least_essential(&probabilities);
        let mut all: Vec<(Set, Rule)> = by_belief.map(|candidate| (candidate, Rule::ParRand)).into_iter().collect();
        for scheme in [Scheme::Neg, Scheme::Nonpos, Scheme::Low] {
            all.extend(self.insignificant(scheme).map(|candidate| (candidate, Rule::ParSig)));
        }
        let mut best: Option<(f64, Candidate)> = None;
        for (kept, rule) in all {
            let own = gain(&self.kept.without(&kept));
            if own > 0.0 && best.as_ref().is_none_or(|(most, _)| own > *most) && self.is_new(&kept) {
                best = Some((own, Candidate { kept, rule }));
            }
        }
        best.map(|(_, candidate)| candidate)
    }

    /// PAR-RAND with the size that removes most on average. Units go with what needs them, those first without which the
    /// tests most probably pass.
    fn least_essential(&mut self, probabilities: &[f64]) -> Option<Set> {
        let mut taken = self.needs.taken(&self.kept);
        let mut order: Vec<(f64, usize)> = Vec::new();
        for unit in self.kept.iter() {
            let mut out = Vec::new();
            self.needs.take_out(&mut taken, unit, true, &mut out);
            self.needs.put_back(&mut taken, &out);
            order.push((out.iter().map(|unit| 1.0 - probabilities[*unit]).product(), unit));
        }
        order.sort_by(|left, right| right.0.total_cmp(&left.0));
        let (mut count, mut none, mut most) = (0, 1.0, 0.0);
        let mut steps: Vec<Vec<usize>> = Vec::new();
        for (passing, unit) in order {
            if passing <= 0.0 || !taken.units.has(unit) {
                continue;
            }
            let mut out = Vec::new();
            self.needs.take_out(&mut taken, unit, true, &mut out);
            let own = none * out.iter().map(|unit| 1.0 - probabilities[*unit]).product::<f64>();
            let gain = (count + out.len()) as f64 * own;
            // What hardly gains more and probably fails says less than what may pass or fail.
            if steps.is_empty() || (gain > most * WORTH && own >= LEAST_PASSING) {
                (count, none, most) = (count + out.len(), own, gain);
                steps.push(out);
            } else {
                self.needs.put_back(&mut taken, &out);
            }
        }
        while let Some(last) = steps.pop() {
            if self.is_new(&taken.units) {
                return Some(taken.units);
            }
            self.needs.put_back(&mut taken, &last);
        }
        None
    }

    /// Without a single unit and what needs its text, for one that is not known to be essential in what is kept now.
    fn single(&mut self) -> Option<Candidate> {
        self.kept.iter().collect::<Vec<_>>().into_iter().find_map(|unit| {
            let kept = self.without_one(unit);
            self.is_new(&kept).then_some(Candidate { kept, rule: Rule::ParRand })
        })
    }

    pub fn without_one(&self, unit: usize) -> Set {
        self.without(std::iter::once(unit), false)
    }

    /// About how many runs there will be: those that find what is not essential, and one for each unit that is.
    pub fn estimate(&self) -> usize {
        let probabilities = self.beliefs.probabilities(&self.needs.all, &self.kept);
        let bits = |p: f64| if p <= 0.0 || p >= 1.0 { 0.0 } else { -p * p.log2() - (1.0 - p) * (1.0 - p).log2() };
        let search: f64 = self.kept.iter().map(|unit| bits(probabilities[unit])).sum();
        let kept: f64 = self.kept.iter().map(|unit| probabilities[unit]).sum();
        (search + (kept - self.proved as f64).max(0.0)).ceil() as usize
    }

    /// Whether a candidate more probably passes.
    pub fn expects(&self, candidate: &Candidate) -> bool {
        let probabilities = self.beliefs.probabilities(&self.needs.all, &self.kept);
        let removed = self.kept.without(&candidate.kept);
        removed.iter().map(|unit| 1.0 - probabilities[unit]).product::<f64>() > 0.5
    }

    /// PASS, FAIL1, FAIL2. `influencing` says which units a loss of invariants is matched to.
    pub fn learn(
        &mut self,
        candidate: &Candidate,
        is_passed: bool,
        invariants: &Arc<Invariants>,
        influencing: &dyn Fn(&Invariants, &Invariants) -> Set,
    ) {
        self.known.insert(candidate.kept.clone(), is_passed);
        let removed = self.kept.without(&candidate.kept);
        // A run that observed nothing says nothing of what it would have observed.
        let has_signal = !invariants.is_empty() && (is_passed || removed.len() == 1);
        if has_signal && self.scheme != Scheme::Basic {
            let signal = if is_passed { -1 } else { 1 };
            for unit in influencing(&self.invariants, invariants).and(&self.kept).iter() {
                self.beliefs.scores[unit] += signal;
            }
        }
        if is_passed {
            self.kept = candidate.kept.clone();
            if !invariants.is_empty() {
                self.invariants = invariants.clone();
            }
            self.beliefs.passed(&self.kept);
            // The next part has moved up to the place of the one that went.
            self.parts = self.parts.saturating_sub(1).max(2);
            self.part = self.part.saturating_sub(1);
            self.proved = 0;
        } else {
            self.proved += usize::from(removed.len() == 1);
            self.beliefs.failed(&removed);
        }
    }
}
