//! Dynamic delta refinement: a minimal history for which given tests pass, by trying smaller ones.
//!
//! The algorithm is that of DEFINER (Li, Zhu, Rubin and Chechik, "Precise Semantic History Slicing through Dynamic Delta
//! Refinement", ASE 2016, section 4), with its rules: INIT, PAR-RAND, PAR-SIG, PASS, FAIL1, FAIL2. It knows no git, no Python
//! and no tests. [`refine`] takes a [`Problem`] and a [`Runner`].
//!
//! **1-minimal** means here: for each unit of the slice, the tests fail for the slice without this unit and without all units
//! that need its text, directly or through others. They did fail, in a run of exactly these units; or they lack what an import of the
//! tests needs, without which an earlier run of others failed at this import.

mod beliefs;
mod foresight;
mod problem;
mod search;
mod set;
mod speculation;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use twincell_testing::{Failure, Outcome, Point};

use crate::invariants::Invariants;
use crate::{Selection, UnitId};

pub use problem::{Problem, Relevance};
pub use speculation::refine;

/// How the next partition is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheme {
    /// Units with negative scores go first.
    Neg,
    /// Units without a positive score go first.
    Nonpos,
    /// The third with the lowest scores goes first.
    Low,
    /// Whatever of the three, of the tests' coverage and of the outcomes so far promises most.
    #[default]
    Combined,
    /// Delta debugging: no scores, no names, and a run for every candidate.
    Basic,
}

impl Scheme {
    pub const ALL: [Self; 5] = [Self::Neg, Self::Nonpos, Self::Low, Self::Combined, Self::Basic];

    pub fn name(self) -> &'static str {
        match self {
            Self::Neg => "neg",
            Self::Nonpos => "nonpos",
            Self::Low => "low",
            Self::Combined => "combined",
            Self::Basic => "basic",
        }
    }
}

impl FromStr for Scheme {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|scheme| scheme.name() == name).ok_or(())
    }
}

/// The rule by which a candidate came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    Init,
    ParRand,
    ParSig,
}

/// What a test did in a run that is not what it is to do. Mostly it did not pass; one that is to fail may have passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTest {
    pub test: String,
    pub outcome: Outcome,
    pub failure: Option<Failure>,
}

/// The tests that did not do in a run what they are to do: how many, and the first few of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    pub count: usize,
    pub first: Vec<FailedTest>,
}

impl Failures {
    /// How many are held.
    const FEW: usize = 3;

    pub(crate) fn of(mut failed: Vec<FailedTest>) -> Self {
        let count = failed.len();
        failed.truncate(Self::FEW);
        failed.shrink_to_fit();
        Self { count, first: failed }
    }
}

/// What one run of the tests showed.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// Empty if the tests do what they are to do, which is called passing here.
    pub failed: Vec<FailedTest>,
    pub invariants: Arc<Invariants>,
}

/// What an import of the tests probably fails at, as the texts say.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lacking {
    /// The file and the line, from 1, in which the import fails. The line is 0 for text that does not parse.
    pub path: String,
    pub line: u32,
    pub missing: MissingName,
}

impl Lacking {
    /// Whether this is how the tests failed: pytest could not import them, with an error of this kind.
    fn explains(&self, failed: &[FailedTest]) -> bool {
        let classes: &[&str] = match &self.missing {
            MissingName::Text => &["SyntaxError", "IndentationError", "TabError"],
            MissingName::Module(_) => &["ModuleNotFoundError", "ImportError"],
            MissingName::Member { .. } => &["ImportError", "AttributeError"],
            MissingName::Name(_) => &["NameError"],
        };
        let is_so = |one: &FailedTest| {
            let class = one.failure.as_ref().map(|failure| failure.exception.as_str());
            one.outcome == Outcome::NotFound && class.is_some_and(|class| classes.contains(&class))
        };
        failed.iter().any(is_so)
    }
}

/// What is missing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingName {
    /// A whole text, since it does not parse.
    Text,
    Module(String),
    Member {
        module: String,
        name: String,
    },
    /// A name that nothing binds.
    Name(String),
}

/// Runs the tests for candidate histories.
pub trait Runner: Sync {
    type Error: Send;

    /// Runs the tests for a history of these units. Each worker, a number below that of the jobs, runs one at a time.
    fn run(&self, worker: usize, taken: &Selection) -> Result<Trial, Self::Error>;

    /// What the imports of the tests lack with these units, as far as the texts tell.
    fn lacking(&self, taken: &Selection) -> Vec<Lacking>;

    /// The units that influence the value at a program point, by a local analysis of the code.
    fn influencing(&self, point: &Point) -> Selection;

    /// Ends the runs that go on, whose results nobody will need.
    fn abandon(&self);
}

/// Bounds of a refinement.
#[derive(Clone, Debug)]
pub struct Limits {
    pub scheme: Scheme,
    /// How many candidates are tried at once. It does not change the result.
    pub jobs: usize,
    /// The maximum number of runs.
    pub runs: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { scheme: Scheme::default(), jobs: 1, runs: usize::MAX }
    }
}

/// Where a refinement is.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// The best slice so far has so many units, of so many at first.
    pub kept: usize,
    pub of: usize,
    pub runs: usize,
    /// About how many runs are left.
    pub left: usize,
    pub steps: &'a [Step],
}

/// One run of the tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub rule: Rule,
    /// How many units were tried, and how many the slice has after it.
    pub tried: usize,
    pub kept: usize,
    pub is_passed: bool,
}

/// A slice, with all that is known of its units.
#[derive(Clone, Debug)]
pub struct Refined {
    pub kept: Selection,
    /// Why each unit of the slice stays.
    pub because: BTreeMap<UnitId, Because>,
    /// For each unit that went, the run after which it did, from 1.
    pub gone: BTreeMap<UnitId, usize>,
    pub scores: BTreeMap<UnitId, i32>,
    /// The runs whose outcomes counted, in their order. The first is that of the whole history.
    pub steps: Vec<Step>,
    /// Runs at the same time as others whose outcomes were not needed in the end.
    pub spare: usize,
    /// Candidates that needed no run, since they lack what others failed without.
    pub predicted: usize,
    /// Whether it is 1-minimal. Otherwise something ended the search.
    pub is_minimal: bool,
}

/// Why a unit stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// These tests fail without it and without the units `with`, which need its text.
    Fails { failed: Failures, with: Selection },
    /// An import of the tests lacks this without it and without the units `with`, which need its text. Another candidate failed so.
    Lacks { lacking: Lacking, with: Selection },
    /// The search ended before it was known.
    Unknown,
}

/// Why there is no slice.
#[derive(Clone, Debug, PartialEq)]
pub enum RefineError<E> {
    /// The tests do not even pass for the whole history.
    Failing(Vec<FailedTest>),
    /// Interrupted before the first run was over.
    Interrupted,
    Runner(E),
}

/// Hears of progress, also while a run goes on, and can end the search.
pub type Listener<'a> = dyn FnMut(&Progress<'_>) -> ControlFlow<()> + 'a;
