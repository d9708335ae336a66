//! Runs the candidates of a search, several at once, and lets it learn in the order of one at a time.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::UnitId;
use crate::invariants::Invariants;
use crate::refine::foresight::Foresight;
use crate::refine::problem::{Needs, Problem};
use crate::refine::search::{Candidate, Search};
use crate::refine::set::Set;
use crate::refine::{
    Because, Failures, Lacking, Limits, Listener, Progress, RefineError, Refined, Rule, Runner, Scheme, Step, Trial,
};

/// How often the listener is asked while a run goes on.
const GLANCE: Duration = Duration::from_millis(50);

/// Why a search ends.
enum End<E> {
    Interrupted,
    Failed(E),
}

/// The runs that go on and those that are done, by candidate.
struct Runs<E> {
    orders: Sender<Set>,
    results: Receiver<(Set, Result<Trial, E>)>,
    running: HashSet<Set>,
    done: HashMap<Set, Result<Trial, E>>,
    jobs: usize,
}

/// Refines a history to a 1-minimal slice, the same one for any number of jobs. An interrupt and the budget end it with the best
/// slice so far.
///
/// # Errors
///
/// Where the tests do not pass for the whole history, or cannot run.
pub fn refine<R: Runner>(
    problem: &Problem,
    limits: &Limits,
    runner: &R,
    listener: &mut Listener<'_>,
) -> Result<Refined, RefineError<R::Error>> {
    let jobs = limits.jobs.max(1);
    let (orders, ordered) = channel::<Set>();
    let (tell, results) = channel();
    let ordered = Mutex::new(ordered);
    std::thread::scope(|scope| {
        for worker in 0..jobs {
            let (ordered, tell) = (&ordered, tell.clone());
            scope.spawn(move || {
                loop {
                    let order = ordered.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(candidate) = order else { return };
                    let result = runner.run(worker, &candidate.selection());
                    if tell.send((candidate, result)).is_err() {
                        return;
                    }
                }
            });
        }
        let mut runs = Runs { orders, results, running: HashSet::new(), done: HashMap::new(), jobs };
        let found = follow(problem, limits, runner, &mut runs, listener);
        if !runs.running.is_empty() {
            runner.abandon();
        }
        found
    })
}

fn follow<R: Runner>(
    problem: &Problem,
    limits: &Limits,
    runner: &R,
    runs: &mut Runs<R::Error>,
    listener: &mut Listener<'_>,
) -> Result<Refined, RefineError<R::Error>> {
    let needs = Arc::new(Needs::new(problem));
    let of = needs.all.len();
    let first = Candidate { kept: needs.all.clone(), rule: Rule::Init };
    let mut steps = Vec::new();
    let mut wait = |runs: &mut Runs<R::Error>, kept: &Set, search: Option<&Search>, steps: &[Step]| {
        let left = search.map_or(of, Search::estimate);
        let size = search.map_or(of, |search| search.kept.len());
        let mut ask = || listener(&Progress { kept: size, of, runs: steps.len(), left, steps });
        runs.wait(kept, &mut ask)
    };
    runs.start(&first.kept);
    // The tests have just passed for the whole history.
    if limits.jobs > 1 && limits.runs > 1 {
        let mut search = Search::new(problem, needs.clone(), limits.scheme, Arc::default());
        search.next().iter().for_each(|next| runs.start(&next.kept));
    }
    let trial = wait(runs, &first.kept, None, &steps).map_err(|end| match end {
        End::Interrupted => RefineError::Interrupted,
        End::Failed(error) => RefineError::Runner(error),
    })?;
    if !trial.failed.is_empty() {
        return Err(RefineError::Failing(trial.failed));
    }
    steps.push(Step { rule: Rule::Init, tried: of, kept: of, is_passed: true });
    let mut search = Search::new(problem, needs.clone(), limits.scheme, trial.invariants);
    let mut reasons: HashMap<Set, Reason> = HashMap::new();
    let mut foresight = Foresight::default();
    let mut predicted = 0;
    let mut gone = BTreeMap::new();
    let influencing = |before: &Invariants, after: &Invariants| {
        let units = before.delta(after).into_iter().flat_map(|point| runner.influencing(point)).collect();
        Set::of(needs.count, &units)
    };
    let mut is_minimal = false;
    loop {
        let Some(candidate) = search.next() else {
            is_minimal = true;
            break;
        };
        if let Some(lacking) = foresight.fails(runner, &candidate.kept) {
            search.learn(&candidate, false, &Arc::default(), &|_, _| Set::default());
            reasons.insert(candidate.kept, Reason::Lacks(lacking));
            predicted += 1;
            continue;
        }
        let Some(left) = limits.runs.checked_sub(steps.len() + 1) else { break };
        runs.start(&candidate.kept);
        runs.look_ahead(&search, &candidate, left, &mut |next| foresight.fails(runner, next).is_some());
        let trial = match wait(runs, &candidate.kept, Some(&search), &steps) {
            Ok(trial) => trial,
            Err(End::Interrupted) => break,
            Err(End::Failed(error)) => return Err(RefineError::Runner(error)),
        };
        let is_passed = trial.failed.is_empty();
        let before = search.kept.clone();
        search.learn(&candidate, is_passed, &trial.invariants, &influencing);
        let removed = before.without(&search.kept);
        let (tried, kept) = (candidate.kept.len(), search.kept.len());
        steps.push(Step { rule: candidate.rule, tried, kept, is_passed });
        gone.extend(removed.iter().map(|unit| (UnitId(unit as u32), steps.len())));
        if !is_passed {
            if limits.scheme != Scheme::Basic {
                foresight.learn(runner, &candidate.kept, &trial.failed);
            }
            reasons.insert(candidate.kept, Reason::Fails(Failures::of(trial.failed)));
        }
    }
    let because = search.kept.iter().map(|unit| (UnitId(unit as u32), because(&search, &needs, &reasons, unit)));
    Ok(Refined {
        because: because.collect(),
        kept: search.kept.selection(),
        gone,
        scores: needs.all.iter().map(|unit| (UnitId(unit as u32), search.beliefs.scores[unit])).collect(),
        steps,
        spare: runs.done.len(),
        predicted,
        is_minimal,
    })
}

/// Why a candidate does not do.
enum Reason {
    Fails(Failures),
    Lacks(Lacking),
}

fn because(search: &Search, needs: &Needs, reasons: &HashMap<Set, Reason>, unit: usize) -> Because {
    let with = needs.dependents(unit, &search.kept).map(|other| UnitId(other as u32)).collect();
    match reasons.get(&search.without_one(unit)) {
        Some(Reason::Fails(failed)) => Because::Fails { failed: failed.clone(), with },
        Some(Reason::Lacks(lacking)) => Because::Lacks { lacking: lacking.clone(), with },
        None => Because::Unknown,
    }
}

impl<E> Runs<E> {
    fn start(&mut self, candidate: &Set) {
        if !self.done.contains_key(candidate) && self.running.insert(candidate.clone()) {
            // Workers live as long as their sender.
            let _ = self.orders.send(candidate.clone());
        }
    }

    /// Starts what is next if this candidate ends as it probably does, and so on, as long as workers are idle and the budget
    /// has so many runs left after it.
    fn look_ahead(&mut self, search: &Search, candidate: &Candidate, left: usize, fails: &mut dyn FnMut(&Set) -> bool) {
        if self.running.len() >= self.jobs {
            return;
        }
        let (mut search, mut candidate) = (search.clone(), candidate.clone());
        let nothing = Arc::new(Invariants::default());
        // What is known already may be in the way; some steps further there is nothing sure to win.
        for _ in 0..left.min(self.jobs * 4) {
            let is_passed = match self.done.get(&candidate.kept) {
                Some(Ok(trial)) => trial.failed.is_empty(),
                _ => !fails(&candidate.kept) && search.expects(&candidate),
            };
            search.learn(&candidate, is_passed, &nothing, &|_, _| Set::default());
            let Some(next) = search.next() else { return };
            if !fails(&next.kept) {
                self.start(&next.kept);
            }
            if self.running.len() >= self.jobs {
                return;
            }
            candidate = next;
        }
    }

    fn wait(&mut self, candidate: &Set, ask: &mut dyn FnMut() -> ControlFlow<()>) -> Result<Trial, End<E>> {
        loop {
            if ask().is_break() {
                return Err(End::Interrupted);
            }
            if let Some(result) = self.done.remove(candidate) {
                return result.map_err(End::Failed);
            }
            match self.results.recv_timeout(GLANCE) {
                Ok((done, result)) => {
                    self.running.remove(&done);
                    self.done.insert(done, result);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(End::Interrupted),
            }
        }
    }
}
