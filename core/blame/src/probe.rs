//! What a search asks at a commit, and what it needs no answer for.

use twincell_behavior::bounded;
use twincell_repo::{CommitId, Repo};

use crate::follow::{Found, Presence};
use crate::result::{Place, Skip, State, WitnessValue};
use crate::{BlameError, Decode};

/// The maximum size in bytes of a module.
const MAX_MODULE: usize = 2 << 20;

/// Where a function is at a commit.
#[derive(Debug)]
pub struct At<'a> {
    pub commit: CommitId,
    pub place: &'a Place,
    /// The text of its file.
    pub text: &'a str,
}

/// What runs at each commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// A call, as the user or a report writes it: `price(3)`.
    pub call: String,
    /// The values of a comparison's witness, where it runs on such.
    pub values: Option<Vec<WitnessValue>>,
}

/// Says what a function does at any commit that has it. The first one that is asked for is the newer end.
pub trait Probe {
    /// What is run.
    fn asked(&self) -> Asked;

    /// # Errors
    ///
    /// Where nothing can run at any commit, or the search is to stop.
    fn run(&mut self, at: &At<'_>) -> Result<State, BlameError>;
}

/// What the function does at a commit, where it is as `found` says.
pub(crate) fn state(
    probe: &mut dyn Probe,
    repo: &Repo,
    decode: Decode,
    commit: CommitId,
    found: &Found,
) -> Result<State, BlameError> {
    match &found.presence {
        Presence::Absent => return Ok(State::Absent),
        Presence::Unreadable { message, line } => {
            return Ok(State::Skipped(Skip::Unreadable { message: bounded(message), line: *line }));
        }
        Presence::Present => {}
    }
    let bytes = found.file.map(|file| repo.bytes(file, MAX_MODULE)).transpose()?.flatten();
    match decode(&bytes.unwrap_or_default()) {
        Ok(text) => probe.run(&At { commit, place: &found.place, text: &text }),
        Err(message) => Ok(State::Skipped(Skip::Unreadable { message, line: 0 })),
    }
}
