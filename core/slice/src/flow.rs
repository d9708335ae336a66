//! A slice from beginning to end: the range is read, its tests run at its end, its history refined, and each unit told why it stays
//! or goes.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use twincell_repo::MadeFile;
use twincell_testing::{Point, TestError, TestLimits, Variable, WatchedFunction};

use crate::lines::FinalLines;
use crate::refine::{
    self, Because, FailedTest, Limits, Need, Problem, RefineError, Refined, Relevance, Scheme, refine,
};
use crate::result::{Ended, FORMAT, FlakyTest, Goal, Goes, Slice, SlicePart, SliceTests, SliceUnit, Stays, UnitState};
use crate::timeline::{By, NameNeed, Timeline, TimelineOptions};
use crate::trial::{Setup, Trials, criterion};
use crate::{Selection, SliceError, UnitId};

/// What to slice, and how.
#[derive(Debug, Clone)]
pub struct SliceOptions {
    pub range: String,
    pub scheme: Scheme,
    pub by: By,
    /// How many candidates are tried at once.
    pub jobs: usize,
    /// The maximum number of runs of the tests.
    pub runs: usize,
    /// The time for all.
    pub deadline: Option<Duration>,
    /// Whether values of functions are recorded while tests run, to learn what a removal changed.
    pub watch: bool,
}

/// How far a slice is.
#[derive(Debug, Clone, Copy)]
pub enum Progress {
    Reading,
    /// The tests run at the end of the range: how many are done, of how many.
    Criterion {
        done: usize,
        of: usize,
    },
    Refining {
        /// The best slice so far has so many units, of so many.
        kept: usize,
        of: usize,
        runs: usize,
        /// About how many runs are left.
        left: usize,
    },
}

/// Finds the smallest part of a range for which the tests of its end pass. `progress` may end it: then the result is the best so
/// far. The timeline gives the slice as patches and as a branch.
///
/// # Errors
///
/// Where the range cannot be read, where the tests do not pass at its end, and where the time was over before the search could
/// begin.
pub fn slice(
    setup: &Setup,
    options: &SliceOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Slice, Timeline), SliceError> {
    let began = Instant::now();
    let end = options.deadline.and_then(|deadline| began.checked_add(deadline));
    let is_over = || end.is_some_and(|end| Instant::now() >= end);
    let stop = end.map_or_else(|| setup.limits.stop.clone(), |end| setup.limits.stop.at(end));
    // Without a search there is no result.
    let early = |is_interrupted: bool| match options.deadline {
        Some(deadline) if is_over() && !is_interrupted => SliceError::Deadline(deadline.as_secs_f64()),
        _ => SliceError::Interrupted,
    };
    let stopped = |error: SliceError| match error {
        SliceError::Interrupted | SliceError::Tests(TestError::Stopped) => early(setup.limits.stop.is_asked()),
        error => error,
    };
    let mut is_interrupted = progress(Progress::Reading).is_break();
    let read = TimelineOptions { by: options.by, stop: stop.clone(), ..TimelineOptions::default() };
    let timeline = Timeline::read(&setup.repository, &options.range, &read).map_err(stopped)?;
    let all = timeline.all();
    let files = |taken: &Selection| Ok(made_files(&timeline.tree(taken)?));
    let limits = TestLimits { stop, ..setup.limits.clone() };
    let until = Setup { limits, ..setup.clone() };
    let criterion = criterion(&until, &files(&all)?, &mut |done, of| {
        is_interrupted |= progress(Progress::Criterion { done, of }).is_break();
        if is_interrupted {
            setup.limits.stop.ask();
        }
    });
    let criterion = criterion.map_err(stopped)?;
    let lines = FinalLines::new(&timeline)?;
    let problem = problem(&timeline, lines.relevance(&timeline, &criterion));
    let functions = if options.watch { lines.changed_functions(&criterion) } else { BTreeMap::new() };
    let watched = functions.keys().cloned().collect();
    let influencing = |point: &Point| {
        // What a function gets is up to others.
        if matches!(point.variable, Variable::Parameter(_)) {
            return Selection::new();
        }
        let function = WatchedFunction { file: point.file.clone(), function: point.function.clone() };
        functions.get(&function).cloned().unwrap_or_default()
    };
    let trials = Trials::new(setup, &criterion, &files, watched, &influencing, options.jobs)?;
    let limits = Limits { scheme: options.scheme, jobs: options.jobs, runs: options.runs };
    let mut is_late = false;
    let found = refine(&problem, &limits, &trials, &mut |now: &refine::Progress<'_>| {
        is_late |= is_over();
        let now = Progress::Refining { kept: now.kept, of: now.of, runs: now.runs, left: now.left };
        is_interrupted |= progress(now).is_break();
        if is_interrupted || is_late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let found = found.map_err(|error| match error {
        RefineError::Failing(failed) => not_passing(failed),
        RefineError::Interrupted => early(is_interrupted),
        RefineError::Runner(error) => error,
    })?;
    let ended = match () {
        () if found.is_minimal => Ended::Minimal,
        () if is_interrupted => Ended::Interrupted,
        () if is_late => Ended::Deadline,
        () => Ended::Budget,
    };
    let slice = Slice {
        format: FORMAT,
        goal: Goal::Pass,
        range: options.range.clone(),
        base: timeline.base().to_string(),
        scheme: options.scheme,
        units: units(&timeline, &problem, &found),
        tests: SliceTests {
            flaky: criterion
                .flaky
                .iter()
                .map(|(test, all)| FlakyTest { test: test.clone(), outcomes: all.clone() })
                .collect(),
            failing: criterion.failing.clone(),
            deciding: criterion.tests.clone(),
            failures: Vec::new(),
        },
        target: None,
        comparisons: 0,
        spare: found.spare,
        predicted: found.predicted,
        is_minimal: found.is_minimal,
        steps: found.steps,
        ended,
        seconds: began.elapsed().as_secs_f64(),
    };
    Ok((slice, timeline))
}

fn problem(timeline: &Timeline, relevance: Vec<Relevance>) -> Problem {
    let units = timeline.all();
    // A later unit of the candidate may have stopped to use the name. So a need leads the search, and a run decides.
    let need = |need: &NameNeed| Need { any_of: need.any_of.clone(), is_run: false };
    Problem {
        text_needs: units.iter().map(|unit| timeline.text_needs(*unit).clone()).collect(),
        name_needs: units.iter().map(|unit| timeline.name_needs(*unit).iter().map(need).collect()).collect(),
        relevance,
        left_out: Selection::new(),
    }
}

/// The tests passed at the end of the range a moment ago.
fn not_passing(failed: Vec<FailedTest>) -> SliceError {
    match failed.into_iter().next() {
        Some(FailedTest { test, failure, .. }) => {
            let message = failure.map(|failure| failure.message).unwrap_or_default();
            SliceError::Unstable { test, reason: message.lines().next().unwrap_or("it fails").to_owned() }
        }
        None => SliceError::Interrupted,
    }
}

fn units(timeline: &Timeline, problem: &Problem, found: &Refined) -> Vec<SliceUnit> {
    let place = |unit: &UnitId| unit.0 as usize;
    let state = |unit: UnitId| match (found.because.get(&unit), found.gone.get(&unit)) {
        (Some(Because::Fails { failed, with }), _) => {
            let (count, first) = (failed.count, failed.first.clone());
            UnitState::Stays(match with.is_empty() {
                true => Stays::TestsFail { count, first },
                false => Stays::TextNeeded { by: with.iter().map(place).collect(), count, first },
            })
        }
        (Some(Because::Name { user }), _) => UnitState::Stays(Stays::NameNeeded { by: place(user) }),
        (_, Some(step)) if problem.relevance[place(&unit)] == Relevance::NotRun => {
            UnitState::Goes(Goes::NotRun { step: step - 1 })
        }
        (_, Some(step)) => UnitState::Goes(Goes::TestsPass { step: step - 1 }),
        (Some(Because::Unknown) | None, None) => UnitState::Stays(Stays::Unknown),
    };
    let text = |path: &Path| path.display().to_string();
    let one = |(at, unit): (usize, &crate::timeline::Unit)| {
        let id = UnitId(at as u32);
        SliceUnit {
            commit: unit.commit.to_string(),
            subject: unit.subject.clone(),
            part: unit
                .part
                .as_ref()
                .map(|part| SlicePart { path: text(&part.path), entity: part.entity.as_deref().map(str::to_owned) }),
            paths: unit.paths.iter().map(|path| text(path)).collect(),
            score: found.scores.get(&id).copied().unwrap_or_default(),
            is_cleanup: false,
            state: state(id),
        }
    };
    timeline.units().iter().enumerate().map(one).collect()
}

fn made_files(tree: &crate::timeline::Tree) -> Vec<MadeFile> {
    let made = |file: &crate::timeline::TreeFile| MadeFile {
        path: file.path().to_owned(),
        mode: file.mode,
        id: file.id,
        text: file.text.clone(),
    };
    tree.files().iter().map(made).collect()
}
