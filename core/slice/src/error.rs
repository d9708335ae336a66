//! Why there is no slice, each in one line that says what to do.

use twincell_repo::RepoError;
use twincell_testing::TestError;

#[derive(Debug, thiserror::Error)]
pub enum SliceError {
    #[error(transparent)]
    Repo(#[from] RepoError),
    #[error("{0} is no range of commits: write OLD..NEW")]
    NoRange(String),
    #[error("{old} and {new} have no commit in common: choose a commit that {new} comes after")]
    NoCommonCommit { old: String, new: String },
    #[error(
        "{old} and {new} have several last commits in common, because each was merged into the other: choose a commit that {new} \
         comes after"
    )]
    SeveralCommonCommits { old: String, new: String },
    #[error("the texts that the commits of {range} change have more than {bound} in all: choose a shorter range")]
    TooLarge { range: String, bound: String },
    #[error("{0} changes no file: write OLD..NEW with the older commit first")]
    NoChanges(String),
    #[error(
        "the lines of {path} cannot be followed through {commit}: choose a range that begins after this commit, and report it"
    )]
    Inexact { path: String, commit: String },
    #[error(
        "{commit} does not apply to the branch, because of {}: make the branch without --onto, and merge it by hand", files.join(", ")
    )]
    Conflict { commit: String, files: Vec<String> },
    #[error(transparent)]
    Tests(#[from] TestError),
    #[error("pytest found no tests at the end of the range{}: name files or folders with tests", because(.0.as_deref()))]
    NoTests(Option<String>),
    #[error("all {0} tests are flaky, so none of them says what a slice needs: name others")]
    AllFlaky(usize),
    #[error(
        "{test} does not pass at the end of the range ({reason}), nor does any other of the tests: end the range where they \
         pass, or name others"
    )]
    Failing { test: String, reason: String },
    #[error("none of the tests ({0}) fails at the end of the range: end it where one fails")]
    NothingFails(usize),
    #[error(
        "{test} fails at the end of the range and does not pass at its start, with the test's files of the end, nor does any other \
         test that fails: begin the range earlier, or name others"
    )]
    FailsBefore { test: String },
    #[error(
        "{test} fails at the end of the range, and then it does otherwise ({reason}): leave it out, or find out why by --repeat 5"
    )]
    UnstableFailure { test: String, reason: String },
    #[error("a slice that makes tests fail is for no branch: give either --bisect or --onto")]
    FailOnto,
    #[error(
        "{test} passes at the end of the range, and then it does not ({reason}): leave it out, or find out why by --repeat 5"
    )]
    Unstable { test: String, reason: String },
    #[error("stopped before the tests had run at the end of the range")]
    Interrupted,
    #[error("the deadline of {0} s passed before the search could begin: give it more time, or name fewer tests")]
    Deadline(f64),
}

fn because(reason: Option<&str>) -> String {
    reason.map(|reason| format!(" ({reason})")).unwrap_or_default()
}
