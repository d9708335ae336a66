//! Since which commit does a call give its value? A bisection of a history that runs the call at each step, in the sandbox.
//!
//! [`blame`] takes a [`Request`] and a [`Probe`], which says what the function does at a commit, and gives a [`Blame`] as plain data.
//! [`CallProbe`] runs a call with literals. [`bisect`] has the search without commits, [`follow`] where the function was at each of them,
//! and [`changed_text`] which part of the commit it was. A commit at which the call cannot run is left out, as `git bisect skip` does.
//!
//! The history is that of first parents. Where a merge changed the value, the line that it brought is searched as well.
//!
//! Deliberately absent: anything that builds a project, installs something or runs its tests.
//!
//! ```
//! use twincell_blame::bisect::{Bounds, Verdict};
//!
//! // The value is as at the newest commit up to number 6.
//! let mut judge = |at: usize| -> Result<Verdict, ()> { Ok(if at <= 6 { Verdict::Same } else { Verdict::Other }) };
//! let mut bounds = Bounds::default();
//! bounds.gallop(100, &mut judge)?;
//! bounds.narrow(&mut judge)?;
//! assert_eq!((bounds.same, bounds.other), (6, Some(7)));
//! # Ok::<(), ()>(())
//! ```

pub mod bisect;
mod call;
mod changed_text;
mod follow;
mod probe;
mod result;
mod run;
mod search;

use std::io;
use std::time::Duration;

use twincell_engine::EngineError;
use twincell_repo::{CommitId, Repo, RepoError};

pub use call::{Call, CallError};
pub use follow::{Found, Presence};
pub use probe::{Asked, At, Probe};
pub use result::{
    Answer, Blame, ChangedText, CommitInfo, Culprit, Cut, FORMAT, Place, Skip, State, Step, Value, ValueKind, Whole,
    Why, WitnessValue,
};
pub use run::CallProbe;
pub use twincell_engine::Continue;
pub use twincell_repo::{Hunk, HunkLine, HunkLineKind};

/// The text of a source file, or why it is none.
pub type Decode = fn(&[u8]) -> Result<String, String>;

/// What is asked.
pub struct Request<'a> {
    pub repo: &'a Repo,
    /// Where the function is at the newer end.
    pub place: Place,
    /// Decodes source. An error says where the bytes are wrong.
    pub decode: Decode,
    /// The newer end of the history.
    pub newest: CommitId,
    /// The older end. Without one, the search looks back as far as it has to.
    pub oldest: Option<CommitId>,
}

/// The bounds of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct BlameOptions {
    /// The maximum number of commits at which the call runs.
    pub runs: u32,
    /// The time after which a search ends with what it has found.
    pub deadline: Duration,
}

impl Default for BlameOptions {
    fn default() -> Self {
        Self { runs: 100, deadline: Duration::from_secs(60) }
    }
}

/// How far a search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The number of commits at which the call ran or was left out.
    pub runs: usize,
}

/// Why there is no answer, in one line.
#[derive(Debug, thiserror::Error)]
pub enum BlameError {
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("there is no file {file} at {commit}: name one that this commit has")]
    NoFile { file: String, commit: String },
    /// With the names of the file that resemble it.
    #[error("{} has no {} at {commit}{}", place.file, place.function, meant(similar))]
    NoFunction { place: Place, commit: String, similar: Vec<String> },
    #[error("the call cannot run at {commit}, the newer end: {skip}")]
    NotAtEnd { commit: String, skip: Box<Skip> },
    #[error("the call gives another value each time at {commit}: {one}, then {other}")]
    Varies { commit: String, one: String, other: String },
    #[error("{oldest} is not before {newest} on the line of first parents: name two commits of one branch")]
    NotBefore { oldest: String, newest: String },
    #[error(
        "{file} is as it was compared in none of the last {commits} commits: commit it, or give a range with such a commit"
    )]
    NoVersion { file: String, commits: usize },
    #[error("the witness cannot run at other commits: {0}")]
    NoWitness(String),
    #[error("there is no place for copies of commits: {0}")]
    Copy(io::Error),
    #[error(transparent)]
    Repo(#[from] RepoError),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

fn meant(similar: &[String]) -> String {
    if similar.is_empty() { String::new() } else { format!(": did you mean {}?", similar.join(" or ")) }
}

/// Since which commit the function does what it does at the newer end.
///
/// # Errors
///
/// Where it cannot run at the newer end, where it does something else each time, and where git cannot read the history.
pub fn blame(
    request: &Request<'_>,
    probe: &mut dyn Probe,
    options: &BlameOptions,
    progress: &mut dyn FnMut(Progress) -> Continue,
) -> Result<Blame, BlameError> {
    search::blame(request, probe, options, progress)
}
