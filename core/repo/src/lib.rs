//! A repository and its versions: what a commit, the index or the working tree has under a path, what differs between two of
//! them, and copies and checkouts of them in folders of ours. All that is asked of git is asked here.
//!
//! A [`Repo`] is only read, but for a new branch that somebody asks for. [`Repo::snapshot`] gives a [`Snapshot`] of a [`Revision`], which answers from git's objects
//! without a checkout. Nothing here knows Python beyond how it names files, nor pytest.

mod branch;
mod checkout;
mod copy;
mod differences;
mod discover;
mod error;
mod history;
mod hunks;
mod line;
mod module_path;
mod patch;
mod project;
mod range;
mod repository;
mod reused_copy;
mod revision;
mod snapshot;
mod tree;
mod walk;

pub use branch::BranchCommit;
pub use checkout::{Cache, Checkout, Cleaned, MadeFile, checkout, checkout_made};
pub use differences::{Difference, DifferenceKind};
pub use discover::is_inside;
pub use error::{CopyError, RepoError};
pub use history::{Commit, CommitId, FileChange, History};
pub use hunks::{Hunk, HunkLine, HunkLineKind};
pub use line::ChangedFile;
pub use module_path::ModulePath;
pub use patch::{MemoryTrees, Merged};
pub use project::Project;
pub use range::{CommitRecord, Person};
pub use repository::{Repo, bound_memory};
pub use reused_copy::ReusedCopy;
pub use revision::{Range, Revision};
pub use snapshot::{Content, Entry, Snapshot};
pub use tree::{FileId, Item, TreeChange, TreeId, hash_tree};
