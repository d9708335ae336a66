//! A repository and its versions: what a commit, the index or the working tree has under a path, what differs between two of
//! them, and copies and checkouts of them in folders of ours. All that is asked of git is asked here.
//!
//! A [`Repo`] is only read. [`Repo::snapshot`] gives a [`Snapshot`] of a [`Revision`], which answers from git's objects
//! without a checkout. Nothing here knows Python beyond how it names files, nor pytest.

mod checkout;
mod copy;
mod differences;
mod discover;
mod error;
mod history;
mod module_path;
mod project;
mod repository;
mod revision;
mod snapshot;
mod walk;

pub use checkout::{Cache, Checkout, Cleaned, checkout};
pub use differences::{Difference, DifferenceKind};
pub use discover::is_inside;
pub use error::{CopyError, RepoError};
pub use history::{Commit, CommitId, FileChange, FileId, History};
pub use module_path::ModulePath;
pub use project::Project;
pub use repository::{Repo, bound_memory};
pub use revision::{Range, Revision};
pub use snapshot::{Content, Entry, Snapshot};
