//! A slice as plain data: every unit of the range, whether it stays, and why.

use serde::{Deserialize, Serialize};
use twincell_testing::Outcome;

use crate::refine::{FailedTest, Lacking, Scheme, Step};
use crate::{KnownBy, Selection, UnitId};

/// The version of this format.
pub const FORMAT: u32 = 1;

/// What a slice's tests have to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Pass, as at the end of the range.
    #[default]
    Pass,
    /// Fail as at the end of the range, one of them at least.
    Fail,
}

/// A minimal part of a range that keeps tests passing, or failing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slice {
    pub format: u32,
    #[serde(default)]
    pub goal: Goal,
    /// As the user wrote it.
    pub range: String,
    /// The commit that the range begins after.
    pub base: String,
    /// The last commit of the range.
    #[serde(default)]
    pub end: String,
    pub scheme: Scheme,
    /// All units of the range, oldest first. Other fields name them by their place here.
    pub units: Vec<SliceUnit>,
    pub tests: SliceTests,
    /// Lines of units that go which come along, in files whose text decides nothing. Those of the tests' own files are left out.
    #[serde(default)]
    pub brought: Vec<BroughtLines>,
    /// The branch that the slice is for, where one was named.
    #[serde(default)]
    pub target: Option<SliceTarget>,
    /// How often two versions of a function were compared.
    #[serde(default)]
    pub comparisons: usize,
    /// Comparisons that could not run, if there were such.
    #[serde(default)]
    pub uncompared: Option<Uncompared>,
    /// The runs of the tests, in their order, the first of which is for the whole range.
    pub steps: Vec<Step>,
    /// Runs beside others whose outcomes were not needed in the end.
    pub spare: usize,
    /// Candidates that needed no run, since they lack what others failed without.
    pub predicted: usize,
    /// Whether the tests do otherwise without any single unit of the slice and what needs its text. If not, the search ended
    /// early.
    pub is_minimal: bool,
    pub ended: Ended,
    pub seconds: f64,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    Minimal,
    Budget,
    Deadline,
    Interrupted,
}

/// The tests that decided, and those that could not.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SliceTests {
    pub deciding: Vec<String>,
    pub flaky: Vec<FlakyTest>,
    /// Tests that do not pass at the end of the range and decide nothing. With [`Goal::Fail`] they fail at its start as well.
    pub failing: Vec<FailedTest>,
    /// With [`Goal::Fail`], how the deciding tests fail at the end of the range.
    #[serde(default)]
    pub failures: Vec<FailedTest>,
    /// Those of them that fail so with the slice alone: one at least. Empty if the search was ended before.
    #[serde(default)]
    pub reproduced: Vec<String>,
    /// Files and folders of the tests that the slice lacks on its target, or on the start of the range without one, or that are
    /// otherwise at the end of the range. The tests that decide are those of the end.
    #[serde(default)]
    pub differing: Vec<String>,
}

/// Why two versions of a function cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum NotCompared {
    #[error("the files of {commit} cannot be put where workers read them: {reason}")]
    Files { commit: String, reason: String },
    #[error("its file cannot be read at {commit}: {reason}")]
    Unreadable { commit: String, reason: String },
    #[error("the two versions have no such function in common")]
    NoPair,
    #[error("{reason}")]
    Failed { reason: String },
}

/// Comparisons that could not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncompared {
    pub count: usize,
    /// The function of the first one: its file and its qualified name.
    pub path: String,
    pub function: String,
    pub reason: NotCompared,
}

/// Lines of a unit that goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BroughtLines {
    pub path: String,
    /// Whose lines they are.
    pub unit: usize,
    /// The units of the slice whose text in this file needs them.
    pub by: Vec<usize>,
}

/// The branch that a slice is for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SliceTarget {
    /// As the user wrote it.
    pub name: String,
    pub commit: String,
    pub applied: Applied,
}

/// What came of the slice on top of its target.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Applied {
    /// This commit of the slice, of which a unit is named, is the first that does not apply, because of these files.
    Conflicts { unit: usize, files: Vec<String> },
    /// It applies, and the deciding tests pass there.
    Passes,
    /// It applies, and tests fail there: how many, and the first few of them.
    Fails { count: usize, first: Vec<FailedTest> },
    /// It applies. The tests did not run there, since the search was ended.
    Untested,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlakyTest {
    pub test: String,
    pub outcomes: Vec<Outcome>,
}

/// A commit, or a part of one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SliceUnit {
    pub commit: String,
    pub subject: String,
    /// The part of the commit, where commits are split: a path, and the entity in it.
    pub part: Option<SlicePart>,
    pub paths: Vec<String>,
    /// The paper's significance.
    pub score: i32,
    /// Whether all that it changes are functions that do the same after it as before it, as far as comparisons found.
    #[serde(default)]
    pub is_cleanup: bool,
    pub state: UnitState,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SlicePart {
    pub path: String,
    pub entity: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitState {
    Stays(Stays),
    Goes(Goes),
}

/// Why a unit stays.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stays {
    /// Tests fail without it: how many, and the first few of them.
    TestsFail { count: usize, first: Vec<FailedTest> },
    /// These units of the slice apply to its text, and tests fail without all of them.
    TextNeeded { by: Vec<usize>, count: usize, first: Vec<FailedTest> },
    /// An import of the tests lacks this without it, and the units `by` that apply to its text. Another candidate failed so in a run.
    NameNeeded { by: Vec<usize>, lacking: Lacking },
    /// Without it, and the units `by` that apply to its text, no deciding test fails as at the end: how many there are, and
    /// what the first few of them do then.
    NotReproduced { by: Vec<usize>, count: usize, first: Vec<FailedTest> },
    /// The search ended before it was tried.
    Unknown,
}

/// Why a unit goes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goes {
    /// The tests passed without it in this run, by its place in the steps. They do not run what it changes.
    NotRun { step: usize },
    /// The tests passed without it in this run.
    TestsPass { step: usize },
    /// A deciding test failed without it in this run.
    StillFails { step: usize },
    /// The target has it, as this commit. So every candidate had it.
    InTarget { commit: String, known_by: KnownBy },
    /// It undoes another unit, and the deciding tests did the same without both.
    Reverts { unit: usize, known_by: KnownBy, step: usize },
    /// Another unit undoes it, and the deciding tests did the same without both.
    Reverted { by: usize, known_by: KnownBy, step: usize },
    /// The functions that it changes do the same before and after it, and the deciding tests did the same without it.
    Cleanup { step: usize },
}

impl UnitState {
    pub fn stays(&self) -> bool {
        matches!(self, Self::Stays(_))
    }
}

impl Slice {
    /// The units that stay.
    pub fn selection(&self) -> Selection {
        let staying = self.units.iter().enumerate().filter(|(_, unit)| unit.state.stays());
        staying.map(|(place, _)| UnitId(place as u32)).collect()
    }

    /// How many units stay.
    pub fn size(&self) -> usize {
        self.units.iter().filter(|unit| unit.state.stays()).count()
    }
}
