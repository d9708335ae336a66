//! The answer as plain data.

use serde::{Deserialize, Serialize};
use twincell_engine::observed::Outcome;
use twincell_repo::Hunk;

/// The number of the format of a [`Blame`] as JSON.
pub const FORMAT: u32 = 1;

/// Since when a call gives its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Blame {
    pub format: u32,
    /// The function as it is called at the newer end, and the call.
    pub place: Place,
    pub call: String,
    /// The values that decide on the witness of a comparison: then the call alone does not say what was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Vec<WitnessValue>>,
    /// The newer end, and what the call gives there.
    pub newest: CommitInfo,
    pub value: Value,
    /// The number of commits of the history that was looked at: that of the range, or of all first parents.
    pub commits: usize,
    /// Whether a range said where the history begins.
    pub has_range: bool,
    pub answer: Answer,
    /// All commits at which the call was to run, in this order.
    pub steps: Vec<Step>,
    /// Why the search ended before its end.
    pub cut: Option<Cut>,
}

/// A value that was injected at an access path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessValue {
    pub path: String,
    pub value: String,
}

/// A function in a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// From the root of the repository, with `/` between the parts.
    pub file: String,
    pub function: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitInfo {
    pub id: String,
    /// The first line of its message.
    pub subject: String,
    /// When it was committed, in seconds since 1970.
    pub seconds: i64,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Value {
    pub kind: ValueKind,
    /// The value, bounded, with how it came: `returned 3`.
    pub shown: String,
    /// All of it, by which two are compared.
    #[serde(skip)]
    pub whole: Whole,
}

/// What tells two values apart.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Whole {
    /// Nothing but what is shown.
    #[default]
    Shown,
    Outcome(Outcome),
    /// Whoever ran it compared it with the newer end: whether it is the same.
    AsNewest(bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueKind {
    Returned,
    Raised,
    /// It is what the function does beside its result: what it changes, writes or calls.
    Did,
}

/// What the call did at a commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Gave(Value),
    /// The function is not there, under any name that was followed.
    Absent,
    /// The call could not run.
    Skipped(Skip),
}

/// Why a call could not run at a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// The file is no valid Python.
    #[error("the file is not valid Python, line {line}: {message}")]
    Unreadable { message: String, line: u32 },
    /// What its value rests on could not be imported or evaluated: the names that are missing, and why if that is known.
    #[error("{}", missing(names, because.as_deref()))]
    Missing { names: Vec<String>, because: Option<String> },
    /// It has effects outside of its process, which the sandbox keeps from it: the names of what has them.
    #[error("it has effects that the sandbox does not allow: {}", names.join(", "))]
    Effects { names: Vec<String> },
    /// It ended its process or took too long.
    #[error("{reason}")]
    Lost { reason: String },
    /// The program could not be loaded.
    #[error("it cannot be loaded: {reason}")]
    NotLoaded { reason: String },
    /// Two runs gave different values.
    #[error("two runs differ: {one}, then {other}")]
    Varies { one: String, other: String },
    /// The function is there in another form, such as a method in place of a function.
    #[error("the function has another form there: {function}")]
    OtherForm { function: String },
    /// The files of the commit could not be copied.
    #[error("its files cannot be copied: {reason}")]
    NotCopied { reason: String },
}

fn missing(names: &[String], because: Option<&str>) -> String {
    let because = because.map(|because| format!(" ({because})")).unwrap_or_default();
    format!("it needs {}, which cannot be imported or evaluated{because}", names.join(", "))
}

/// A commit at which the call was to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub commit: CommitInfo,
    /// Where the function is at this commit, where it has another name or place.
    pub place: Option<Place>,
    pub state: State,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// This commit changed it.
    Since(Culprit),
    /// One of these commits did, newest first. At those between the ends the call cannot run, or they were not reached.
    Among { commits: Vec<CommitInfo>, count: usize, before: State },
    /// It gave the same at the oldest commit at which the call can run.
    Same { oldest: CommitInfo },
}

/// The commit that changed the value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Culprit {
    pub commit: CommitInfo,
    /// The merge that brought it, where that is another commit.
    pub merge: Option<CommitInfo>,
    /// What it was before: another value, or no function.
    pub before: State,
    /// Where the function was before, if elsewhere.
    pub from: Option<Place>,
    /// What of the commit changed the value, as far as the text tells.
    pub change: Option<ChangedText>,
}

/// The part of a commit that changes what a function does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedText {
    pub file: String,
    pub why: Why,
    pub hunks: Vec<Hunk>,
}

/// Why a part of a commit is taken for what changed the value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It is in the function itself.
    Own,
    /// The function uses this symbol, directly or not: its dotted name.
    Uses { symbol: String },
    /// It is in the same file. This is a guess.
    SameFile,
}

/// Why a search ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// As many commits ran as may.
    Budget,
    Deadline,
    /// The user stopped it.
    Stopped,
    /// At the commits behind the last one that was judged the call cannot run, as far as some of them tell.
    Skips,
    /// The history that is known ends there: the clone is a shallow one, or the history is too long.
    History,
}

impl Blame {
    /// The steps at which the call could not run.
    pub fn skipped(&self) -> impl Iterator<Item = (&Step, &Skip)> {
        self.steps.iter().filter_map(|step| match &step.state {
            State::Skipped(skip) => Some((step, skip)),
            State::Gave(_) | State::Absent => None,
        })
    }
}
