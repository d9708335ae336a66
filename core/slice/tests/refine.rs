//! Refinements of made-up histories: what comes out is 1-minimal, and how many runs each scheme needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};
use twincell_slice::refine::{
    Because, FailedTest, Lacking, Limits, MissingName, Problem, RefineError, Refined, Relevance, Runner, Scheme, Trial,
    refine,
};
use twincell_slice::{Invariants, Selection, UnitId};
use twincell_testing::{Failure, Outcome, Point, Value, Variable};

/// A history for which the tests pass if a condition holds of the units taken.
struct History<F> {
    problem: Problem,
    passes: F,
    /// Units that change the same value, which the tests do or do not look at.
    clusters: Vec<Selection>,
    /// For each unit, the names that an import of it needs.
    imports: Vec<Vec<Selection>>,
    /// They are provided in another way as well.
    is_provided: bool,
    tried: Mutex<Vec<Selection>>,
    abandoned: AtomicBool,
}

impl<F: Fn(&Selection) -> bool> History<F> {
    fn new(problem: Problem, passes: F) -> Self {
        let imports = vec![vec![]; problem.text_needs.len()];
        let (tried, abandoned) = (Mutex::default(), AtomicBool::new(false));
        Self { problem, passes, clusters: vec![], imports, is_provided: false, tried, abandoned }
    }

    fn refine(&self, limits: &Limits) -> Result<Refined, RefineError<()>>
    where
        F: Sync,
    {
        refine(&self.problem, limits, self, &mut |_| ControlFlow::Continue(()))
    }

    fn with(&self, scheme: Scheme) -> Refined
    where
        F: Sync,
    {
        self.refine(&Limits { scheme, ..Limits::default() }).unwrap()
    }
}

fn point(cluster: usize) -> Point {
    Point { file: "a.py".into(), function: format!("f{cluster}"), variable: Variable::Returned }
}

impl<F: Fn(&Selection) -> bool + Sync> Runner for History<F> {
    type Error = ();

    fn run(&self, _: usize, taken: &Selection) -> Result<Trial, ()> {
        self.tried.lock().unwrap().push(taken.clone());
        let values = self.clusters.iter().enumerate().map(|(at, cluster)| {
            (point(at), [Value::Int(cluster.intersection(taken).map(|unit| 1 << (unit.0 % 60)).sum())])
        });
        let values: Vec<_> = values.collect();
        let invariants = Invariants::inferred(values.iter().map(|(point, values)| (point, values.as_slice())));
        let test = "test_a.py::test_a".to_owned();
        let failed = match self.is_provided || self.lacking(taken).is_empty() {
            true => (!(self.passes)(taken)).then_some((Outcome::Failed, None)),
            false => Some((Outcome::NotFound, Some(not_found()))),
        };
        let failed = failed.map(|(outcome, failure)| FailedTest { test, outcome, failure });
        Ok(Trial { failed: failed.into_iter().collect(), invariants: invariants.into() })
    }

    fn lacking(&self, taken: &Selection) -> Vec<Lacking> {
        let names =
            taken.iter().flat_map(|unit| &self.imports[unit.0 as usize]).filter(|names| names.is_disjoint(taken));
        let lacking = |names: &Selection| Lacking {
            path: "test_a.py".into(),
            line: 1,
            missing: MissingName::Module(format!("{names:?}")),
        };
        names.map(lacking).collect()
    }

    fn influencing(&self, point: &Point) -> Selection {
        self.clusters[point.function[1..].parse::<usize>().unwrap()].clone()
    }

    fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }
}

fn not_found() -> Failure {
    Failure {
        exception: "ModuleNotFoundError".into(),
        message: String::new(),
        file: String::new(),
        line: 0,
        test_line: None,
        assertion: false,
    }
}

fn units(numbers: &[u32]) -> Selection {
    numbers.iter().copied().map(UnitId).collect()
}

fn plain(count: usize) -> Problem {
    Problem { text_needs: vec![Selection::new(); count], name_needs: vec![vec![]; count], ..Problem::default() }
}

/// Taking out any unit, with what needs its text, makes the tests fail.
fn assert_minimal<F: Fn(&Selection) -> bool>(history: &History<F>, kept: &Selection) {
    assert!((history.passes)(kept));
    for unit in kept {
        let mut left: BTreeSet<UnitId> = kept.clone();
        left.remove(unit);
        loop {
            let broken = left.iter().find(|unit| !history.problem.text_needs[unit.0 as usize].is_subset(&left));
            let Some(broken) = broken.copied() else { break };
            left.remove(&broken);
        }
        assert!(!(history.passes)(&left), "{unit:?} can go from {kept:?}");
    }
}

#[test]
fn each_scheme_ends_with_what_the_tests_need() {
    for scheme in Scheme::ALL {
        let history = History::new(plain(40), |taken: &Selection| taken.is_superset(&units(&[3, 17, 31])));
        let found = history.with(scheme);
        assert_eq!(found.kept, units(&[3, 17, 31]), "{scheme:?}");
        assert!(found.is_minimal);
        assert!(
            found.because.values().all(|because| matches!(because, Because::Fails { failed, .. } if failed.count == 1))
        );
        assert_eq!(found.gone.len(), 37);
        let tried = history.tried.lock().unwrap();
        assert_eq!(tried.iter().collect::<BTreeSet<_>>().len(), tried.len(), "no set is tried twice");
        assert_eq!(tried.len(), found.steps.len());
    }
}

#[test]
fn tests_that_need_nothing_leave_nothing() {
    for scheme in Scheme::ALL {
        let found = History::new(plain(9), |_: &Selection| true).with(scheme);
        assert!(found.kept.is_empty() && found.is_minimal, "{scheme:?}");
    }
    assert!(History::new(plain(0), |_: &Selection| true).with(Scheme::Combined).is_minimal);
}

#[test]
fn what_is_tried_always_applies() {
    let mut problem = plain(30);
    for unit in 1..30 {
        problem.text_needs[unit] = units(&[unit as u32 / 2]);
    }
    for scheme in Scheme::ALL {
        let history = History::new(problem.clone(), |taken: &Selection| taken.contains(&UnitId(22)));
        assert_eq!(history.with(scheme).kept, units(&[0, 1, 2, 5, 11, 22]));
        let needs = &history.problem.text_needs;
        for tried in history.tried.lock().unwrap().iter() {
            assert!(tried.iter().all(|unit| needs[unit.0 as usize].is_subset(tried)));
        }
    }
}

#[test]
fn units_that_are_probably_needless_go_first() {
    for needed in [&[2][..], &[2, 4]] {
        let problem = Problem { needless: units(&[1, 4]), ..plain(6) };
        let history = History::new(problem, |taken| units(needed).is_subset(taken));
        let found = history.with(Scheme::Combined);
        assert_eq!(found.kept, units(needed));
        assert_eq!(history.tried.lock().unwrap()[1], units(&[0, 2, 3, 5]));
        assert_minimal(&history, &found.kept);
    }
}

#[test]
fn what_one_run_showed_to_be_needed_costs_no_other_run() {
    let mut runs = BTreeMap::new();
    for scheme in [Scheme::Combined, Scheme::Basic] {
        // Two of the units that the tests need import the same.
        let mut history = History::new(plain(12), |taken: &Selection| taken.is_superset(&units(&[2, 7, 9])));
        history.imports[7] = vec![units(&[2])];
        history.imports[9] = vec![units(&[2])];
        let found = history.with(scheme);
        assert_eq!(found.kept, units(&[2, 7, 9]));
        assert_eq!(found.predicted > 0, scheme != Scheme::Basic);
        assert_eq!(history.tried.lock().unwrap().len(), found.steps.len());
        let jobs = history.refine(&Limits { scheme, jobs: 3, ..Limits::default() }).unwrap();
        assert_eq!((&jobs.because, &jobs.steps, jobs.predicted), (&found.because, &found.steps, found.predicted));
        runs.insert(scheme.name(), found.steps.len());
    }
    assert!(runs["combined"] < runs["basic"], "{runs:?}");
}

#[test]
fn what_seems_to_be_missing_and_is_not_needed_goes() {
    for scheme in Scheme::ALL {
        let mut history = History::new(plain(12), |taken: &Selection| taken.is_superset(&units(&[7, 9])));
        history.imports[7] = vec![units(&[2])];
        history.imports[9] = vec![units(&[2])];
        history.is_provided = true;
        let found = history.with(scheme);
        assert_eq!((found.kept, found.predicted), (units(&[7, 9]), 0));
    }
}

#[test]
fn a_name_that_no_test_needs_does_not_hold_a_unit() {
    let mut problem = plain(12);
    problem.name_needs[7] = vec![units(&[2])];
    let history = History::new(problem, |taken: &Selection| taken.contains(&UnitId(7)));
    assert_eq!(history.with(Scheme::Combined).kept, units(&[7]));
}

#[test]
fn more_changes_can_break_what_fewer_pass() {
    // 5 breaks what 3 needs unless 8 mends it.
    let passes = |taken: &Selection| {
        let has = |unit| taken.contains(&UnitId(unit));
        has(3) && (!has(5) || has(8))
    };
    for scheme in Scheme::ALL {
        let history = History::new(plain(10), passes);
        let found = history.with(scheme);
        assert_minimal(&history, &found.kept);
        assert!(found.kept == units(&[3]) || found.kept == units(&[3, 5, 8]), "{:?}", found.kept);
    }
}

#[test]
fn the_number_of_jobs_does_not_change_the_result() {
    for seed in 0..8 {
        let history = made(&Shape { count: 60, density: 0.15, chains: 0.3, covered: true }, seed);
        let alone = history.with(Scheme::Combined);
        for jobs in [2, 5] {
            let together = history.refine(&Limits { jobs, ..Limits::default() }).unwrap();
            assert_eq!((&alone.kept, &alone.steps, &alone.scores), (&together.kept, &together.steps, &together.scores));
        }
    }
}

#[test]
fn an_interrupt_and_a_budget_leave_the_best_so_far() {
    let needed = units(&[3, 17, 31]);
    let history = History::new(plain(40), |taken: &Selection| taken.is_superset(&needed));
    let part = history.refine(&Limits { runs: 7, ..Limits::default() }).unwrap();
    assert!(!part.is_minimal && part.steps.len() == 7);
    assert!(part.kept.is_superset(&needed) && part.kept.len() < 40);
    let mut stopping = |progress: &twincell_slice::refine::Progress<'_>| match progress.runs {
        3 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let part = refine(&history.problem, &Limits::default(), &history, &mut stopping).unwrap();
    assert!(!part.is_minimal && part.steps.len() == 3 && part.kept.is_superset(&needed));
}

#[test]
fn a_history_for_which_the_tests_fail_is_refused_with_the_tests() {
    let found = History::new(plain(5), |_: &Selection| false).refine(&Limits::default());
    assert!(matches!(found, Err(RefineError::Failing(failed)) if failed[0].test == "test_a.py::test_a"));
}

/// What a made-up history is like.
#[derive(Clone, Copy)]
struct Shape {
    count: usize,
    /// How much of it the tests need, without what that needs.
    density: f64,
    /// How probably a unit needs the text of an earlier one.
    chains: f64,
    /// Whether coverage tells, more or less, what the tests run.
    covered: bool,
}

fn made(shape: &Shape, seed: u64) -> History<impl Fn(&Selection) -> bool + Sync + use<>> {
    let mut random = Pcg32::seed_from_u64(seed);
    let mut chance = move |probability: f64| f64::from(random.next_u32()) / f64::from(u32::MAX) < probability;
    let mut problem = plain(shape.count);
    let mut essential = Selection::new();
    for unit in 0..shape.count {
        let own = UnitId(unit as u32);
        if chance(shape.density) {
            essential.insert(own);
        }
        if unit > 0 && chance(shape.chains) {
            // Most needs are of something recent.
            let mut other = unit - 1;
            while other > 0 && chance(0.8) {
                other -= 1;
            }
            problem.text_needs[unit].insert(UnitId(other as u32));
            if chance(0.3) {
                problem.name_needs[unit].push(units(&[other as u32]));
                // What follows stays as it was when needs had two kinds.
                chance(0.5);
            }
        }
    }
    let mut left: Vec<UnitId> = essential.iter().copied().collect();
    while let Some(unit) = left.pop() {
        left.extend(problem.text_needs[unit.0 as usize].iter().filter(|need| essential.insert(**need)));
    }
    let mut clusters: BTreeMap<usize, Selection> = BTreeMap::new();
    for unit in 0..shape.count {
        let own = UnitId(unit as u32);
        let is_needed = essential.contains(&own);
        let is_run = chance(if is_needed { 0.95 } else { 0.3 });
        if shape.covered {
            problem.relevance.push(if is_run { Relevance::Run } else { Relevance::NotRun });
            if is_run {
                clusters.entry(unit / 5 * 2 + usize::from(is_needed)).or_default().insert(own);
            }
        }
    }
    let mut history = History::new(problem, move |taken: &Selection| taken.is_superset(&essential));
    history.clusters = clusters.into_values().collect();
    history
}

#[test]
fn a_budget_that_suffices_ends_minimal_and_nothing_starts_beyond_it() {
    let history = || History::new(plain(40), |taken: &Selection| taken.is_superset(&units(&[3, 17, 31])));
    let runs = history().with(Scheme::Combined).steps.len();
    assert!(history().refine(&Limits { runs, ..Limits::default() }).unwrap().is_minimal);
    let short = history();
    assert!(!short.refine(&Limits { runs: 2, jobs: 4, ..Limits::default() }).unwrap().is_minimal);
    assert_eq!(short.tried.lock().unwrap().len(), 2);
}

/// The numbers of runs of each scheme, by the shape of the history, as sums over the seeds 0 to 2.
#[test]
fn numbers_of_runs() {
    let mut table = "units density chains coverage |  neg nonpos  low combined basic | share\n".to_owned();
    let (mut all, mut of, mut worst) = (0, 0, 0.0_f64);
    for (count, density) in [(40, 0.03), (40, 0.1), (40, 0.3), (40, 0.6), (100, 0.02), (100, 0.1), (100, 0.3)] {
        for (chains, covered) in [(0.0, false), (0.4, false), (0.4, true)] {
            let shape = Shape { count, density, chains, covered };
            let mut sums = BTreeMap::new();
            for seed in 0..3 {
                let history = made(&shape, seed);
                for scheme in Scheme::ALL {
                    let found = history.with(scheme);
                    assert!(found.is_minimal);
                    assert_minimal(&history, &found.kept);
                    *sums.entry(scheme.name()).or_insert(0) += found.steps.len();
                }
                history.tried.lock().unwrap().clear();
            }
            let share = sums["combined"] as f64 / sums["basic"] as f64;
            (all, of, worst) = (all + sums["combined"], of + sums["basic"], worst.max(share));
            let known = if covered { "yes" } else { "no" };
            writeln!(
                table,
                "{count:5} {density:7} {chains:6} {known:>8} | {:4} {:6} {:4} {:8} {:5} | {share:.2}",
                sums["neg"], sums["nonpos"], sums["low"], sums["combined"], sums["basic"],
            )
            .unwrap();
        }
    }
    writeln!(table, "all: {all} of {of}, {:.2}; worst {worst:.2}", f64::from(all as u32) / f64::from(of as u32))
        .unwrap();
    insta::assert_snapshot!(table);
    // Delta debugging here goes on with the next part after one that could go, which takes 0.4 of the runs of one that starts over.
    assert!(worst <= 1.0 && all * 10 <= of * 6, "{table}");
}
