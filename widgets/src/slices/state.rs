//! What the views of a slice get: its units with their reasons and diffs, what they need of each other, and the runs of the search.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;
use twincell_slice::refine::{FailedTest, Rule};
use twincell_slice::{
    Diffs, Ended, Goal, Goes, NameNeed, Outcome, Progress, Selection, Slice, SliceUnit, Stays, Timeline, UnitId,
    UnitState,
};

use super::{facts, headline, message, part, promises, reason, undecided, why};
use crate::state::STATE_FORMAT;
use crate::{ProgressLine, words};

/// The maximum number of lines and of bytes of a diff, and of bytes of all of them.
const DIFF_LINES: usize = 400;
const DIFF_BYTES: usize = 24 << 10;
const ALL_DIFFS: usize = 2 << 20;
/// The maximum number of names of an edge, of paths of a unit, and of tests that are listed.
const NAMES: usize = 5;
const PATHS: usize = 50;
const TESTS: usize = 300;

/// A slice of a history.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SliceState {
    /// [`STATE_FORMAT`].
    pub(super) format: u32,
    /// As the user wrote it.
    pub(super) range: String,
    /// The commit that the range begins after.
    pub(super) base: String,
    #[cfg_attr(test, ts(as = "crate::state::typescript::SliceGoal"))]
    pub(super) goal: Goal,
    /// What the tests do in runs that kept what was tried, and in all others.
    pub(super) outcomes: [&'static str; 2],
    pub(super) sentence: String,
    /// Figures, as (name, value).
    pub(super) facts: Vec<(&'static str, String)>,
    /// What else there is to say, a sentence each.
    pub(super) remarks: Vec<String>,
    /// The number of units that stay.
    pub(super) size: usize,
    /// Whether commits are split, so that a unit is a part of one.
    pub(super) is_split: bool,
    /// All units of the range, oldest first. Other fields name them by their place here.
    pub(super) units: Vec<SliceUnitState>,
    /// Units that need the text of others, without what follows from other such needs: (the later one, the one that it needs).
    pub(super) text_needs: Vec<(usize, usize)>,
    pub(super) name_needs: Vec<SliceNameNeed>,
    /// The runs of the tests, in their order. The first is that of the whole range.
    pub(super) steps: Vec<SliceStep>,
    /// The tests that decided, the first of them.
    pub(super) tests: Vec<String>,
    /// The number of further tests.
    pub(super) more_tests: usize,
    /// Tests that decided nothing, each with the reason.
    pub(super) left_out: Vec<(String, String)>,
    #[cfg_attr(test, ts(as = "crate::state::typescript::SliceEnded"))]
    pub(super) ended: Ended,
    pub(super) is_minimal: bool,
    pub(super) seconds: f64,
}

/// A commit, or a part of one.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SliceUnitState {
    /// The whole hash.
    pub(super) commit: String,
    pub(super) subject: String,
    /// The path, or the path and the entity in it; None for a whole commit.
    pub(super) part: Option<String>,
    /// The first files that it changes.
    pub(super) paths: Vec<String>,
    /// The number of further files.
    pub(super) more_paths: usize,
    /// The paper's significance.
    pub(super) score: i32,
    pub(super) stays: bool,
    pub(super) why: SliceWhy,
    /// The reason as a sentence.
    pub(super) reason: String,
    /// The units that the reason names.
    pub(super) by: Vec<usize>,
    /// The run that decided, counted from 0.
    pub(super) step: Option<usize>,
    /// The first tests that do otherwise without it.
    pub(super) failed: Vec<SliceFailedTest>,
    /// The number of all tests that do otherwise without it.
    pub(super) failed_count: usize,
    /// What it changes, as git shows it: the first lines.
    pub(super) diff: String,
    /// A sentence on what the diff lacks.
    pub(super) diff_lacks: Option<String>,
}

/// Why a unit stays or goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, ts(rename_all = "snake_case"))]
pub enum SliceWhy {
    /// It stays: tests fail without it.
    TestsFail,
    /// It stays: others of the slice need its text.
    TextNeeded,
    /// It stays: the imports of the tests fail without it.
    NameNeeded,
    /// It stays: without it no test fails as at the end of the range.
    NotReproduced,
    /// It stays, since the search ended before it was tried.
    Unknown,
    /// It goes: no test runs what it changes.
    NotRun,
    /// It goes: the tests pass without it.
    TestsPass,
    /// It goes: a test fails without it as well.
    StillFails,
    /// It goes: the target has it.
    InTarget,
    /// It goes with another one, which it undoes.
    Reverts,
    /// It goes with another one, which undoes it.
    Reverted,
    /// It goes: it changes no behavior.
    Cleanup,
}

/// What a test did without a unit.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SliceFailedTest {
    pub(super) test: String,
    /// Empty if it passed, or if pytest gave none.
    pub(super) exception: String,
    pub(super) message: String,
}

/// Names that a unit needs of another one.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SliceNameNeed {
    /// The unit that uses the names.
    pub(super) user: usize,
    /// The unit that provides them.
    pub(super) provider: usize,
    /// The first names, dotted.
    pub(super) names: Vec<String>,
    /// The number of further names.
    pub(super) more: usize,
    /// Whether nothing else provides one of them.
    pub(super) is_only: bool,
}

/// A run of the tests.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SliceStep {
    /// The paper's rule.
    pub(super) rule: &'static str,
    /// The number of units that were tried, and of those that the slice has after it.
    pub(super) tried: usize,
    pub(super) kept: usize,
    pub(super) passed: bool,
}

impl SliceState {
    /// The state of a slice. The timeline is that of its range.
    pub fn new(slice: &Slice, timeline: &Timeline) -> Self {
        let count = slice.units.len();
        let text_needs = text_needs(count, &|unit| timeline.text_needs(unit));
        let mut state = Self::of(slice, text_needs, name_needs(count, &|unit| timeline.name_needs(unit)));
        state.take_diffs(timeline);
        state
    }

    /// The state without diffs.
    pub(super) fn of(slice: &Slice, text_needs: Vec<(usize, usize)>, name_needs: Vec<SliceNameNeed>) -> Self {
        Self {
            format: STATE_FORMAT,
            range: slice.range.clone(),
            base: slice.base.clone(),
            goal: slice.goal,
            outcomes: match slice.goal {
                Goal::Pass => ["tests pass", "tests fail"],
                Goal::Fail => ["a test fails as at the end", "no test fails as at the end"],
            },
            sentence: headline(slice),
            facts: facts(slice),
            remarks: promises(slice).into_iter().chain(undecided(slice)).collect(),
            size: slice.size(),
            is_split: slice.units.iter().any(|unit| unit.part.is_some()),
            units: slice.units.iter().map(|unit| unit_state(slice, unit)).collect(),
            text_needs,
            name_needs,
            steps: steps(slice),
            tests: slice.tests.deciding.iter().take(TESTS).cloned().collect(),
            more_tests: slice.tests.deciding.len().saturating_sub(TESTS),
            left_out: left_out(slice),
            ended: slice.ended,
            is_minimal: slice.is_minimal,
            seconds: slice.seconds,
        }
    }

    /// Reads what the units change, those of the slice first, as long as there is room.
    fn take_diffs(&mut self, timeline: &Timeline) {
        let diffs = timeline.diffs().ok();
        let mut room = ALL_DIFFS;
        for stays in [true, false] {
            for (place, unit) in self.units.iter_mut().enumerate().filter(|(_, unit)| unit.stays == stays) {
                let read = |diffs: &Diffs<'_>| diffs.of(UnitId(place as u32)).ok();
                (unit.diff, unit.diff_lacks) = match (room, diffs.as_ref()) {
                    (0, _) => {
                        (String::new(), Some(format!("There is no room for its diff. {}", shows_all(&unit.commit))))
                    }
                    (_, diffs) => match diffs.and_then(read) {
                        Some(text) => shortened(&String::from_utf8_lossy(&text), &unit.commit),
                        None => (String::new(), Some("Its diff cannot be read.".to_owned())),
                    },
                };
                room = room.saturating_sub(unit.diff.len());
            }
        }
    }
}

/// The first lines of a diff, and what is said of the others.
fn shortened(diff: &str, commit: &str) -> (String, Option<String>) {
    let mut room = DIFF_BYTES;
    let fits = |line: &&str| {
        let is_room = line.len() <= room;
        room = room.saturating_sub(line.len());
        is_room
    };
    let kept: Vec<&str> = diff.split_inclusive('\n').take(DIFF_LINES).take_while(fits).collect();
    let more = diff.split_inclusive('\n').count() - kept.len();
    let lacks = (more > 0).then(|| format!("{} not shown. {}", words::count(more, "more line"), shows_all(commit)));
    (kept.concat(), lacks)
}

fn shows_all(commit: &str) -> String {
    format!("git show {} has all of it.", words::commit_name(commit))
}

fn unit_state(slice: &Slice, unit: &SliceUnit) -> SliceUnitState {
    use SliceWhy as Why;
    let one = std::slice::from_ref;
    let (why, by, step, tests): (_, &[usize], _, Option<(usize, &[FailedTest])>) = match &unit.state {
        UnitState::Stays(Stays::TestsFail { count, first }) => (Why::TestsFail, &[], None, Some((*count, first))),
        UnitState::Stays(Stays::TextNeeded { by, count, first }) => (Why::TextNeeded, by, None, Some((*count, first))),
        UnitState::Stays(Stays::NameNeeded { by, .. }) => (Why::NameNeeded, by, None, None),
        UnitState::Stays(Stays::NotReproduced { by, count, first }) => {
            (Why::NotReproduced, by, None, Some((*count, first)))
        }
        UnitState::Stays(Stays::Unknown) => (Why::Unknown, &[], None, None),
        UnitState::Goes(Goes::NotRun { step }) => (Why::NotRun, &[], Some(*step), None),
        UnitState::Goes(Goes::TestsPass { step }) => (Why::TestsPass, &[], Some(*step), None),
        UnitState::Goes(Goes::StillFails { step }) => (Why::StillFails, &[], Some(*step), None),
        UnitState::Goes(Goes::InTarget { .. }) => (Why::InTarget, &[], None, None),
        UnitState::Goes(Goes::Reverts { unit, step, .. }) => (Why::Reverts, one(unit), Some(*step), None),
        UnitState::Goes(Goes::Reverted { by, step, .. }) => (Why::Reverted, one(by), Some(*step), None),
        UnitState::Goes(Goes::Cleanup { step }) => (Why::Cleanup, &[], Some(*step), None),
    };
    let (failed_count, first) = tests.unwrap_or_default();
    SliceUnitState {
        commit: unit.commit.clone(),
        subject: unit.subject.clone(),
        part: part(unit),
        paths: unit.paths.iter().take(PATHS).cloned().collect(),
        more_paths: unit.paths.len().saturating_sub(PATHS),
        score: unit.score,
        stays: unit.state.stays(),
        why,
        reason: reason(slice, unit),
        by: by.to_vec(),
        step,
        failed: first.iter().map(failed_test).collect(),
        failed_count,
        diff: String::new(),
        diff_lacks: None,
    }
}

fn failed_test(failed: &FailedTest) -> SliceFailedTest {
    let (exception, message) =
        failed.failure.as_ref().map_or_else(Default::default, |failure| (failure.exception.clone(), message(failure)));
    let message = if failed.outcome == Outcome::Passed { "passes".to_owned() } else { message };
    SliceFailedTest { test: failed.test.clone(), exception, message }
}

/// The needs of text that no others imply. The timeline's are closed: what a needed unit needs is needed as well.
fn text_needs<'a>(count: usize, needs: &dyn Fn(UnitId) -> &'a Selection) -> Vec<(usize, usize)> {
    let mut edges = Vec::new();
    for unit in (0..count as u32).map(UnitId) {
        let mut implied = Selection::new();
        // A unit needs older ones only.
        for needed in needs(unit).iter().rev().filter(|needed| **needed < unit) {
            if !implied.contains(needed) {
                edges.push((unit.0 as usize, needed.0 as usize));
                implied.extend(needs(*needed));
            }
        }
    }
    edges
}

/// The needs of names, with one edge between two units.
fn name_needs<'a>(count: usize, needs: &dyn Fn(UnitId) -> &'a [NameNeed]) -> Vec<SliceNameNeed> {
    let mut edges = Vec::new();
    for user in (0..count as u32).map(UnitId) {
        let mut by_provider: BTreeMap<UnitId, (BTreeSet<String>, bool)> = BTreeMap::new();
        for need in needs(user) {
            for provider in need.any_of.iter().filter(|provider| **provider != user) {
                let (names, is_only) = by_provider.entry(*provider).or_default();
                names.extend(need.names.first().map(ToString::to_string));
                *is_only |= need.any_of.len() == 1;
            }
        }
        edges.extend(by_provider.into_iter().map(|(provider, (names, is_only))| SliceNameNeed {
            user: user.0 as usize,
            provider: provider.0 as usize,
            more: names.len().saturating_sub(NAMES),
            names: names.into_iter().take(NAMES).collect(),
            is_only,
        }));
    }
    edges
}

fn steps(slice: &Slice) -> Vec<SliceStep> {
    let step = |step: &twincell_slice::refine::Step| SliceStep {
        rule: match step.rule {
            Rule::Init => "INIT",
            Rule::ParRand => "PAR-RAND",
            Rule::ParSig => "PAR-SIG",
        },
        tried: step.tried,
        kept: step.kept,
        passed: step.is_passed,
    };
    slice.steps.iter().map(step).collect()
}

/// Tests that could not decide, and why.
fn left_out(slice: &Slice) -> Vec<(String, String)> {
    let flaky = slice.tests.flaky.iter().map(|test| (test.test.clone(), "flaky: its runs differ".to_owned()));
    let failing = slice
        .tests
        .failing
        .iter()
        .map(|test| (test.test.clone(), format!("fails at the end of the range{}", why(test))));
    flaky.chain(failing).take(TESTS).collect()
}

/// What is known of a slice that is still searched for.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SliceProgress {
    stage: SliceStage,
    /// What is done of the stage, and of how much. For the search these are runs, with those that are about left.
    done: usize,
    total: usize,
    /// The size of the best slice after runs: each run after which it was smaller, and the last one.
    points: Vec<SlicePoint>,
    /// The number of units of the range.
    of: usize,
    /// About how many seconds are left, where some run took time.
    seconds_left: Option<f64>,
    /// How far it is, in words.
    text: String,
    /// When the search began, and after how many runs.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    began: Option<(Duration, usize)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, ts(rename_all = "snake_case"))]
pub enum SliceStage {
    /// The commits are read.
    #[default]
    Reading,
    /// The tests run at the end of the range.
    Criterion,
    /// Functions are compared, to find units that do the same.
    Comparing,
    /// Smaller sets of units are tried.
    Refining,
}

impl SliceStage {
    /// As a program is told it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Criterion => "criterion",
            Self::Comparing => "comparing",
            Self::Refining => "refining",
        }
    }
}

/// The size of the best slice after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SlicePoint {
    runs: usize,
    kept: usize,
}

impl SliceProgress {
    /// Takes in how far a slice is, `elapsed` after its start.
    pub fn update(&mut self, now: Progress, elapsed: Duration) {
        match now {
            Progress::Reading => {
                self.stage = SliceStage::Reading;
                "reading the commits".clone_into(&mut self.text);
            }
            Progress::Criterion { done, of } => {
                (self.stage, self.done, self.total) = (SliceStage::Criterion, done, of);
                self.text = format!("{done} of {} have run at the end of the range", words::count(of, "test"));
            }
            Progress::Comparing => {
                (self.stage, self.done, self.total) = (SliceStage::Comparing, 0, 0);
                "comparing functions".clone_into(&mut self.text);
            }
            Progress::Refining { kept, of, runs, left } => {
                (self.stage, self.done, self.total, self.of) = (SliceStage::Refining, runs, runs + left, of);
                self.add(SlicePoint { runs, kept });
                let (began, first) = *self.began.get_or_insert((elapsed, runs));
                // Runs whose results were kept take no time, so that the rest may only be slower than the mean.
                self.seconds_left = runs
                    .checked_sub(first)
                    .filter(|done| *done > 0)
                    .map(|done| elapsed.saturating_sub(began).as_secs_f64() / done as f64 * left as f64);
                let time = self.seconds_left.map(|seconds| format!(", {seconds:.0} s")).unwrap_or_default();
                let (so_far, runs) = (words::number(kept), words::count(runs, "run"));
                self.text = format!("{so_far} of {of} are left after {runs}; about {left} more to go{time}");
            }
        }
    }

    /// The content of a bar.
    pub fn line(&self) -> ProgressLine {
        let total = Some(self.total as u64).filter(|total| *total > 0);
        ProgressLine { done: self.done as u64, total, text: self.text.clone(), stage: Some(self.stage.name()) }
    }

    /// Between two points of the same size there are none.
    fn add(&mut self, point: SlicePoint) {
        if let [.., before, last] = self.points.as_mut_slice()
            && before.kept == point.kept
            && last.kept == point.kept
        {
            *last = point;
        } else if self.points.last() != Some(&point) {
            self.points.push(point);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slices::tests::made;

    #[test]
    fn the_state_has_what_a_view_shows() {
        let need = SliceNameNeed { user: 2, provider: 0, names: vec!["a.f".into()], more: 0, is_only: true };
        let mut state = SliceState::of(&made(), vec![(2, 0)], vec![need]);
        "diff --git a/a.py b/a.py\n".clone_into(&mut state.units[0].diff);
        insta::assert_snapshot!(serde_json::to_string_pretty(&state).unwrap());
    }

    #[test]
    fn the_files_of_a_unit_are_bounded() {
        let mut slice = made();
        slice.units[0].paths = (0..PATHS + 3).map(|number| format!("{number}.py")).collect();
        let state = SliceState::of(&slice, vec![], vec![]);
        let counts = |place: usize| (state.units[place].paths.len(), state.units[place].more_paths);
        assert_eq!([counts(0), counts(1)], [(PATHS, 3), (0, 0)]);
    }

    #[test]
    fn needs_of_text_that_follow_from_others_are_left_out() {
        let some = |units: &[u32]| units.iter().copied().map(UnitId).collect::<Selection>();
        let closed = [some(&[]), some(&[0]), some(&[0, 1]), some(&[0]), some(&[0, 1, 2, 3])];
        let edges = text_needs(closed.len(), &|unit| &closed[unit.0 as usize]);
        assert_eq!(edges, [(1, 0), (2, 1), (3, 0), (4, 3), (4, 2)]);
    }

    #[test]
    fn a_long_diff_says_what_it_lacks() {
        let (short, lacks) = shortened("a\nb\n", &"1".repeat(40));
        assert_eq!((short.as_str(), lacks), ("a\nb\n", None));
        let (long, lacks) = shortened(&"+line\n".repeat(DIFF_LINES + 3), &"1".repeat(40));
        assert_eq!(long.lines().count(), DIFF_LINES);
        assert_eq!(lacks.as_deref(), Some("3 more lines not shown. git show 11111111 has all of it."));
        let (none, lacks) = shortened(&"x".repeat(DIFF_BYTES + 1), "v1");
        assert_eq!((none.as_str(), lacks.as_deref()), ("", Some("1 more line not shown. git show v1 has all of it.")));
    }

    #[test]
    fn a_stage_has_the_same_name_for_programs_and_views() {
        for stage in [SliceStage::Reading, SliceStage::Criterion, SliceStage::Comparing, SliceStage::Refining] {
            assert_eq!(serde_json::json!(stage), stage.name());
        }
        let mut progress = SliceProgress::default();
        progress.update(Progress::Criterion { done: 1, of: 2 }, Duration::ZERO);
        assert_eq!((progress.line().stage, progress.line().done), (Some("criterion"), 1));
    }

    #[test]
    fn progress_keeps_the_runs_that_made_the_slice_smaller() {
        let mut progress = SliceProgress::default();
        progress.update(Progress::Reading, Duration::ZERO);
        assert_eq!((progress.line().text.as_str(), progress.line().total), ("reading the commits", None));
        let now = |kept, runs, left| Progress::Refining { kept, of: 9, runs, left };
        for (now, seconds) in
            [(now(9, 1, 8), 10), (now(9, 2, 7), 12), (now(9, 3, 6), 14), (now(4, 4, 3), 16), (now(4, 5, 2), 18)]
        {
            progress.update(now, Duration::from_secs(seconds));
        }
        let points: Vec<_> = progress.points.iter().map(|point| (point.runs, point.kept)).collect();
        assert_eq!(points, [(1, 9), (3, 9), (4, 4), (5, 4)]);
        assert_eq!(progress.line().text, "4 of 9 are left after 5 runs; about 2 more to go, 4 s");
        assert_eq!((progress.done, progress.total), (5, 7));
    }
}
