//! What differs between two versions of a repository, file by file. Renamed files are recognised by their content.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use git2::{Delta, Diff, DiffDelta, DiffFile, DiffFindOptions, DiffOptions, FileMode};

use crate::error::RepoError;
use crate::repository::bytes_as_path;
use crate::snapshot::{At, Snapshot};

/// A path that is not the same in two versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The path in the old version, from the root of the repository. Where it is not there, that in the new one.
    pub old_path: PathBuf,
    pub path: PathBuf,
    pub kind: DifferenceKind,
    /// Whether it is a link or another repository in either version, which holds a name and no content.
    pub leads_elsewhere: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    Added,
    Removed,
    /// Both have it, in the new one perhaps under another path.
    Modified,
    /// It is in the working tree, and unknown to git.
    Untracked,
}

impl Snapshot<'_> {
    /// What differs in `new`, where the old version is a commit. `limit` is the number of bytes up to which a file is looked
    /// into, for those that `may_be_renamed`.
    ///
    /// # Errors
    ///
    /// Where git cannot read a version, and where the old one is no commit.
    pub fn differences(
        &self,
        new: &Snapshot<'_>,
        limit: &dyn Fn(&Path) -> u64,
        may_be_renamed: &dyn Fn(&Path) -> bool,
    ) -> Result<Vec<Difference>, RepoError> {
        let objects = self.repo.git.odb()?;
        // A file of the working tree has no object. A header says the size of one; a small object may become gigabytes when
        // it is read.
        let is_small = |file: &DiffFile<'_>| {
            let size = objects.read_header(file.id()).map_or(file.size(), |(size, _)| size as u64);
            file.path().is_none_or(|path| size <= limit(path))
        };
        // Looking for renamed files reads those that were added or removed.
        let is_half = |delta: &DiffDelta<'_>| match delta.status() {
            Delta::Added => delta.new_file().path().is_some_and(may_be_renamed) && is_small(&delta.new_file()),
            Delta::Deleted => is_small(&delta.old_file()),
            _ => false,
        };
        let mut all = DiffOptions::new();
        all.max_size(i64::try_from(limit(Path::new(""))).unwrap_or(i64::MAX));
        if matches!(new.at, At::Files) {
            all.include_untracked(true).recurse_untracked_dirs(true);
        }
        let diff = self.diff(new, &mut all)?;
        let mut these = DiffOptions::new();
        these.disable_pathspec_match(true);
        let mut is_any_added = false;
        for delta in diff.deltas().filter(is_half) {
            is_any_added |= delta.status() == Delta::Added;
            these.pathspec(delta.new_file().path_bytes().unwrap_or_default());
        }
        let mut renamed = None;
        if is_any_added {
            let renamed = renamed.insert(self.diff(new, &mut these)?);
            renamed.find_similar(Some(DiffFindOptions::new().renames(true)))?;
        }
        let others = diff.deltas().filter(|delta| !(is_any_added && is_half(delta)));
        Ok(others.chain(renamed.iter().flat_map(Diff::deltas)).filter_map(difference).collect())
    }

    fn diff<'d>(&'d self, new: &'d Snapshot<'_>, options: &mut DiffOptions) -> Result<Diff<'d>, RepoError> {
        let git = &self.repo.git;
        let At::Tree(old) = &self.at else { return Err(RepoError::Git("the old version is no commit".to_owned())) };
        Ok(match &new.at {
            At::Tree(tree) => git.diff_tree_to_tree(Some(old), Some(tree), Some(options)),
            At::Index(index) => git.diff_tree_to_index(Some(old), Some(index), Some(options)),
            At::Files => git.diff_tree_to_workdir_with_index(Some(old), Some(options)),
        }?)
    }

    /// The paths with one of these names, at any depth, that are not the same in `new`. In the working tree, files count that
    /// git does not track and does not ignore.
    ///
    /// # Errors
    ///
    /// As [`Snapshot::differences`].
    pub fn differing(&self, new: &Snapshot<'_>, names: &[&str]) -> Result<BTreeSet<PathBuf>, RepoError> {
        let mut options = DiffOptions::new();
        for name in names {
            options.pathspec(format!("*{name}"));
        }
        if matches!(new.at, At::Files) {
            options.include_untracked(true).recurse_untracked_dirs(true);
        }
        let diff = self.diff(new, &mut options)?;
        let paths = diff.deltas().flat_map(|delta| {
            let paths = [delta.old_file().path_bytes(), delta.new_file().path_bytes()];
            paths.into_iter().flatten().map(bytes_as_path).collect::<Vec<_>>()
        });
        let is_plain = |path: &PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
        let is_named = |path: &PathBuf| names.iter().any(|name| path.file_name().is_some_and(|own| own == *name));
        Ok(paths.filter(|path| is_plain(path) && is_named(path)).collect())
    }
}

fn difference(delta: DiffDelta<'_>) -> Option<Difference> {
    let kind = match delta.status() {
        Delta::Added => DifferenceKind::Added,
        Delta::Deleted => DifferenceKind::Removed,
        Delta::Untracked => DifferenceKind::Untracked,
        Delta::Modified | Delta::Renamed => DifferenceKind::Modified,
        _ => return None,
    };
    let (old, new) = (delta.old_file(), delta.new_file());
    // What changed within another repository is its own matter.
    if old.mode() == FileMode::Commit && new.mode() == FileMode::Commit && old.id() == new.id() {
        return None;
    }
    let leads_elsewhere = [&old, &new].iter().any(|file| matches!(file.mode(), FileMode::Link | FileMode::Commit));
    let (old_path, path) = (old.path()?.to_owned(), new.path()?.to_owned());
    Some(Difference { old_path, path, kind, leads_elsewhere })
}
