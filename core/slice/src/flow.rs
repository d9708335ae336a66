//! A slice from beginning to end: the range is read, its tests run at its end, its history refined, and the slice put on top of the
//! branch that it is for.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use twincell_engine::Stop;
use twincell_repo::{MadeFile, Revision};
use twincell_testing::{Point, TestError, TestLimits, Variable, WatchedFunction};

use crate::equality::{Behavior, equality};
use crate::imports::Imports;
use crate::lines::FinalLines;
use crate::reasons::units;
use crate::refine::{self, FailedTest, Failures, Limits, Problem, RefineError, Relevance, Scheme, refine};
use crate::result::{Applied, BroughtLines, Ended, FORMAT, FlakyTest, Goal, Slice, SliceTarget, SliceTests};
use crate::timeline::{By, NameNeed, OnTarget, Timeline, TimelineOptions, TreeFile};
use crate::trial::{Criterion, Setup, Trials, criterion};
use crate::{Selection, SliceError};

/// What to slice, and how.
#[derive(Debug, Clone)]
pub struct SliceOptions {
    pub range: String,
    /// What the tests are to do.
    pub goal: Goal,
    /// The branch that the slice is for, or another revision. What it has already is in every candidate.
    pub onto: Option<String>,
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
    /// Functions are compared.
    Comparing,
    Refining {
        /// The best slice so far has so many units, of so many.
        kept: usize,
        of: usize,
        runs: usize,
        /// About how many runs are left.
        left: usize,
    },
}

/// Finds a minimal part of a range for which the tests of its end pass, or fail as they do there. `progress` may end it: then the
/// result is the best so far. `behavior` compares functions, to find units that do the same as others. The timeline gives the slice as patches and as a branch.
///
/// # Errors
///
/// Where the range cannot be read, where the tests do otherwise at its end, and where the time was over before the search could
/// begin.
pub fn slice(
    setup: &Setup,
    options: &SliceOptions,
    behavior: Option<&dyn Behavior>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Slice, Timeline), SliceError> {
    if options.goal == Goal::Fail && options.onto.is_some() {
        return Err(SliceError::FailOnto);
    }
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
    let onto = options.onto.clone().map(Revision::Commit);
    let read = TimelineOptions { by: options.by, onto, stop: stop.clone(), ..TimelineOptions::default() };
    let mut timeline = Timeline::read(&setup.repository, &options.range, &read).map_err(stopped)?;
    let all = timeline.all();
    let limits = TestLimits { stop, ..setup.limits.clone() };
    let until = Setup { limits, ..setup.clone() };
    let start = match options.goal {
        Goal::Pass => None,
        Goal::Fail => Some(files_of(&timeline, &Selection::new())?),
    };
    let criterion = criterion(&until, &files_of(&timeline, &all)?, start.as_deref(), &mut |done, of| {
        is_interrupted |= progress(Progress::Criterion { done, of }).is_break();
        if is_interrupted {
            setup.limits.stop.ask();
        }
    });
    let criterion = criterion.map_err(stopped)?;
    timeline.free(&|path| criterion.is_free(path));
    let lines = FinalLines::new(&timeline)?;
    let relevance = lines.relevance(&timeline, &criterion);
    let equality = behavior.map(|behavior| {
        let mut go_on = || {
            is_interrupted |= progress(Progress::Comparing).is_break();
            !is_interrupted && !is_over()
        };
        equality(&timeline, &criterion, &relevance, behavior, &mut go_on)
    });
    let mut equality = equality.unwrap_or_default();
    timeline.add_same(equality.same.drain(..));
    let timeline = timeline;
    let files = |taken: &Selection| files_of(&timeline, taken);
    let problem = problem(&timeline, relevance, &equality.cleanups);
    let functions = if options.watch { lines.changed_functions(&criterion) } else { BTreeMap::new() };
    let watched: Vec<WatchedFunction> = functions.keys().cloned().collect();
    let influencing = |point: &Point| {
        // What a function gets is up to others.
        if matches!(point.variable, Variable::Parameter(_)) {
            return Selection::new();
        }
        let function = WatchedFunction { file: point.file.clone(), function: point.function.clone() };
        functions.get(&function).cloned().unwrap_or_default()
    };
    // The search ends runs whose results nobody needs, and not what comes after it.
    let searching = Setup { limits: TestLimits { stop: Stop::default(), ..setup.limits.clone() }, ..setup.clone() };
    let trials = Trials::new(&searching, &criterion, &files, watched.clone(), &influencing, options.jobs)?;
    let trials = match criterion.imported().filter(|_| options.goal == Goal::Pass) {
        Some((tests, opened)) => trials.foreseeing(Imports::new(timeline.shared(), tests, opened), &all)?,
        None => trials,
    };
    let limits = Limits { scheme: options.scheme, jobs: options.jobs, runs: options.runs };
    let mut is_late = false;
    let found = refine(&problem, &limits, &trials, &mut |now: &refine::Progress<'_>| {
        is_late |= is_over();
        let now = Progress::Refining { kept: now.kept, of: now.of, runs: now.runs, left: now.left };
        is_interrupted |= progress(now).is_break() || setup.limits.stop.is_asked();
        if is_interrupted || is_late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let found = found.map_err(|error| match error {
        RefineError::Failing(failed) => not_as_before(options.goal, failed),
        RefineError::Interrupted => early(is_interrupted),
        RefineError::Runner(error) => error,
    })?;
    let ended = match () {
        () if found.is_minimal => Ended::Minimal,
        () if is_interrupted => Ended::Interrupted,
        () if is_late => Ended::Deadline,
        () => Ended::Budget,
    };
    let moved = timeline.on_target(&found.kept)?;
    let files_there = match &moved {
        None => Some(files_of(&timeline, &found.kept)?),
        Some(OnTarget::Files(files)) => Some(made_files(files)),
        Some(OnTarget::Conflicts { .. }) => None,
    };
    let differing = files_there.as_deref().map(|files| criterion.differing(files)).unwrap_or_default();
    let differing = differing.into_iter().map(|place| place.display().to_string()).collect();
    let target = match (timeline.target(), &options.onto) {
        (Some(commit), Some(name)) => Some(SliceTarget {
            name: name.clone(),
            commit: commit.to_string(),
            applied: applied(moved, || match is_interrupted || is_late {
                true => Ok(None),
                false => tried(&until, &criterion, files_there.unwrap_or_default()),
            })?,
        }),
        _ => None,
    };
    let brought = timeline.brought(&found.kept).into_iter().filter(|one| !criterion.owns(&one.path));
    let brought = brought.map(|one| BroughtLines {
        path: one.path.display().to_string(),
        unit: one.unit.0 as usize,
        by: one.by.iter().map(|unit| unit.0 as usize).collect(),
    });
    let reproduced = match options.goal {
        Goal::Fail if !is_interrupted && !is_late => {
            // It ran as the last candidate that was kept, so the results are there.
            let again = Trials::new(&until, &criterion, &files, watched, &influencing, 1)?;
            unless_stopped(again.failing(&found.kept))?.unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let slice = Slice {
        format: FORMAT,
        goal: options.goal,
        range: options.range.clone(),
        base: timeline.base().to_string(),
        end: timeline.end().to_string(),
        scheme: options.scheme,
        units: units(&timeline, &problem, &found, &equality.cleanups, options.goal),
        tests: SliceTests {
            flaky: criterion
                .flaky
                .iter()
                .map(|(test, all)| FlakyTest { test: test.clone(), outcomes: all.clone() })
                .collect(),
            failing: criterion.failing.clone(),
            deciding: criterion.tests.clone(),
            failures: criterion.failures.clone(),
            reproduced,
            differing,
        },
        brought: brought.collect(),
        target,
        comparisons: equality.asked,
        uncompared: equality.uncompared,
        spare: found.spare,
        predicted: found.predicted,
        is_minimal: found.is_minimal,
        steps: found.steps,
        ended,
        seconds: began.elapsed().as_secs_f64(),
    };
    Ok((slice, timeline))
}

/// The files of a candidate: what the target has is always there.
fn files_of(timeline: &Timeline, taken: &Selection) -> Result<Vec<MadeFile>, SliceError> {
    let taken: Selection = taken.union(timeline.given()).copied().collect();
    Ok(made_files(timeline.tree(&taken)?.files()))
}

fn problem(timeline: &Timeline, relevance: Vec<Relevance>, cleanups: &Selection) -> Problem {
    let units = timeline.all();
    let need = |need: &NameNeed| need.any_of.clone();
    // What the target has provides its names whatever is taken.
    let is_open = |need: &&NameNeed| need.any_of.is_disjoint(timeline.given());
    Problem {
        text_needs: units.iter().map(|unit| timeline.text_needs(*unit).clone()).collect(),
        name_needs: units
            .iter()
            .map(|unit| timeline.name_needs(*unit).iter().filter(is_open).map(need).collect())
            .collect(),
        relevance,
        left_out: timeline.given().clone(),
        needless: timeline.undone().into_iter().flatten().chain(cleanups.iter().copied()).collect(),
    }
}

/// What comes of a selection on top of its target. `run` runs the tests there.
fn applied(
    moved: Option<OnTarget>,
    run: impl FnOnce() -> Result<Option<Failures>, SliceError>,
) -> Result<Applied, SliceError> {
    match moved {
        Some(OnTarget::Conflicts { unit, files }) => Ok(Applied::Conflicts {
            unit: unit.0 as usize,
            files: files.iter().map(|file| file.display().to_string()).collect(),
        }),
        Some(OnTarget::Files(_)) => Ok(match run()? {
            None => Applied::Untested,
            Some(Failures { count: 0, .. }) => Applied::Passes,
            Some(Failures { count, first }) => Applied::Fails { count, first },
        }),
        None => Ok(Applied::Untested),
    }
}

/// What the deciding tests do with some files. `None` if the run was stopped.
fn tried(setup: &Setup, criterion: &Criterion, files: Vec<MadeFile>) -> Result<Option<Failures>, SliceError> {
    let none = |_: &Selection| Ok(Vec::new());
    let trials = Trials::new(setup, criterion, &none, Vec::new(), &|_| Selection::new(), 1)?;
    Ok(unless_stopped(trials.run_files(0, files))?.map(|trial| Failures::of(trial.failed)))
}

fn unless_stopped<T>(result: Result<T, SliceError>) -> Result<Option<T>, SliceError> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(SliceError::Tests(TestError::Stopped)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The tests did what is wanted at the end of the range a moment ago.
fn not_as_before(goal: Goal, failed: Vec<FailedTest>) -> SliceError {
    let Some(FailedTest { test, failure, .. }) = failed.into_iter().next() else { return SliceError::Interrupted };
    let message = failure.map(|failure| failure.message).unwrap_or_default();
    let reason = message.lines().next().filter(|line| !line.is_empty());
    match goal {
        Goal::Pass => SliceError::Unstable { test, reason: reason.unwrap_or("it fails").to_owned() },
        Goal::Fail => SliceError::UnstableFailure { test, reason: reason.unwrap_or("it passes").to_owned() },
    }
}

fn made_files(files: &[TreeFile]) -> Vec<MadeFile> {
    let made = |file: &TreeFile| MadeFile {
        path: file.path().to_owned(),
        mode: file.mode,
        id: file.id,
        text: file.text.clone(),
    };
    files.iter().map(made).collect()
}
