//! Lines of a history: each commit is the first parent of the one before it. What a merge brought is a line of its own.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use git2::ObjectType;

use crate::error::RepoError;
use crate::history::{Commit, CommitId};
use crate::repository::Repo;
use crate::revision::Revision;
use crate::snapshot::is_plain_file;
use crate::tree::FileId;

/// The maximum number of added or removed files among which a renamed one is looked for.
const MAX_MOVED: usize = 400;
/// The maximum size in bytes of a file that is looked into for this.
const MAX_FILE: u64 = 1 << 20;

/// A file that another version has under another path, or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path in the old version, if it is there.
    pub old: Option<PathBuf>,
    /// That in the new version.
    pub new: Option<PathBuf>,
}

impl Repo {
    /// The commits from one on, newest first, each the first parent of the one before. It ends with `until`, where that is
    /// among them, and has at most `most`. A history that is cut off ends where it is cut.
    ///
    /// # Errors
    ///
    /// Where git cannot read the first one.
    pub fn line(&self, from: CommitId, until: Option<CommitId>, most: usize) -> Result<Vec<CommitId>, RepoError> {
        let mut commit = self.git.find_commit(from.0)?;
        let mut line = vec![from];
        while line.len() < most && line.last().copied() != until {
            let Ok(parent) = commit.parent(0) else { break };
            line.push(CommitId(parent.id()));
            commit = parent;
        }
        Ok(line)
    }

    /// The commits that a merge brought from one of its parents but the first, newest first, as a line. The last one is a
    /// commit that the first parent has as well, where there is one.
    ///
    /// # Errors
    ///
    /// Where git cannot read them.
    pub fn merged_line(&self, merge: CommitId, parent: usize, most: usize) -> Result<Vec<CommitId>, RepoError> {
        let merge = self.git.find_commit(merge.0)?;
        let (first, brought) = (merge.parent_id(0)?, merge.parent_id(parent)?);
        let mut walk = self.git.revwalk()?;
        walk.push(brought)?;
        walk.hide(first)?;
        let own: HashSet<CommitId> =
            walk.take(most).collect::<Result<Vec<_>, _>>()?.into_iter().map(CommitId).collect();
        let mut commit = self.git.find_commit(brought)?;
        let mut line = vec![CommitId(brought)];
        while line.len() < most && line.last().is_some_and(|last| own.contains(last)) {
            let Ok(parent) = commit.parent(0) else { break };
            line.push(CommitId(parent.id()));
            commit = parent;
        }
        Ok(line)
    }

    /// The last commit that two have in common.
    pub fn common(&self, one: CommitId, other: CommitId) -> Option<CommitId> {
        self.git.merge_base(one.0, other.0).ok().map(CommitId)
    }

    /// What a commit has under a path. `None` if that is no file.
    pub fn file_at(&self, commit: CommitId, path: &Path) -> Result<Option<FileId>, RepoError> {
        let tree = self.git.find_commit(commit.0)?.tree()?;
        let entry = tree.get_path(path).ok().filter(|entry| entry.kind() == Some(ObjectType::Blob));
        Ok(entry.filter(|entry| is_plain_file(entry.filemode())).map(|entry| FileId(entry.id())))
    }

    /// The Python files that differ between two commits, renamed ones as one.
    ///
    /// # Errors
    ///
    /// Where git cannot read them.
    pub fn changed_files(&self, old: CommitId, new: CommitId) -> Result<Vec<ChangedFile>, RepoError> {
        let snapshot = |id: CommitId| self.snapshot(&Revision::Commit(id.to_string()));
        let (old, new) = (snapshot(old)?, snapshot(new)?);
        let is_python = |path: &Path| path.extension().is_some_and(|ending| ending == "py");
        let plain = old.differences(&new, &|_| MAX_FILE, &|_| false)?;
        let count = plain.iter().filter(|one| one.kind != crate::DifferenceKind::Modified).count();
        let all = match count <= MAX_MOVED {
            true => old.differences(&new, &|_| MAX_FILE, &is_python)?,
            false => plain,
        };
        let all =
            all.into_iter().filter(|one| !one.leads_elsewhere && (is_python(&one.path) || is_python(&one.old_path)));
        Ok(all
            .map(|one| {
                use crate::DifferenceKind as Kind;
                ChangedFile {
                    old: (one.kind != Kind::Added && one.kind != Kind::Untracked).then_some(one.old_path),
                    new: (one.kind != Kind::Removed).then_some(one.path),
                }
            })
            .collect())
    }
}

impl Commit<'_> {
    /// The first line of the message.
    pub fn subject(&self) -> String {
        self.message().lines().next().unwrap_or_default().trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use git2::{Oid, Repository, Signature, Time};

    use super::*;

    /// A commit with these files in all.
    fn commit(git: &Repository, files: &[(&str, &str)], parents: &[Oid]) -> Oid {
        let mut index = git2::Index::new().unwrap();
        git.set_index(&mut index).unwrap();
        for (path, text) in files {
            let id = git.blob(text.as_bytes()).unwrap();
            let entry = git2::IndexEntry {
                ctime: git2::IndexTime::new(0, 0),
                mtime: git2::IndexTime::new(0, 0),
                dev: 0,
                ino: 0,
                mode: 0o100_644,
                uid: 0,
                gid: 0,
                file_size: 0,
                id,
                flags: 0,
                flags_extended: 0,
                path: path.as_bytes().to_vec(),
            };
            index.add(&entry).unwrap();
        }
        let tree = git.find_tree(index.write_tree_to(git).unwrap()).unwrap();
        let author = Signature::new("A", "a@example.org", &Time::new(1_700_000_000, 0)).unwrap();
        let parents: Vec<git2::Commit<'_>> = parents.iter().map(|id| git.find_commit(*id).unwrap()).collect();
        git.commit(None, &author, &author, "one\n\nmore", &tree, &parents.iter().collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_line_follows_first_parents_and_what_a_merge_brought_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let git = Repository::init(folder.path()).unwrap();
        let root = commit(&git, &[("a.py", "0")], &[]);
        let main = commit(&git, &[("a.py", "1")], &[root]);
        let side = commit(&git, &[("a.py", "0"), ("b.py", "0")], &[root]);
        let last = commit(&git, &[("a.py", "0"), ("b.py", "1")], &[side]);
        let merge = commit(&git, &[("a.py", "1"), ("b.py", "1")], &[main, last]);
        let repo = Repo::around(folder.path()).unwrap();
        let ids = |line: Vec<CommitId>| line.into_iter().map(|id| id.0).collect::<Vec<_>>();
        assert_eq!(ids(repo.line(CommitId(merge), None, 10).unwrap()), [merge, main, root]);
        assert_eq!(ids(repo.line(CommitId(merge), Some(CommitId(main)), 10).unwrap()), [merge, main]);
        assert_eq!(ids(repo.line(CommitId(merge), None, 1).unwrap()), [merge]);
        assert_eq!(ids(repo.merged_line(CommitId(merge), 1, 10).unwrap()), [last, side, root]);
        assert_eq!(repo.common(CommitId(main), CommitId(last)).unwrap().0, root);
        assert_eq!(repo.find(CommitId(merge)).unwrap().subject(), "one");
    }

    #[test]
    fn a_renamed_file_is_one_change() {
        let folder = tempfile::tempdir().unwrap();
        let git = Repository::init(folder.path()).unwrap();
        let text = "def f():\n    return 1\n".repeat(5);
        let old = commit(&git, &[("a.py", &text), ("data.txt", "1")], &[]);
        let new = commit(&git, &[("pack/b.py", &text), ("data.txt", "2"), ("c.py", "")], &[old]);
        let repo = Repo::around(folder.path()).unwrap();
        let mut found = repo.changed_files(CommitId(old), CommitId(new)).unwrap();
        found.sort_by_key(|one| one.new.clone());
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(
            found,
            [ChangedFile { old: None, new: path("c.py") }, ChangedFile { old: path("a.py"), new: path("pack/b.py") }]
        );
        assert!(repo.file_at(CommitId(old), Path::new("a.py")).unwrap().is_some());
        assert!(repo.file_at(CommitId(old), Path::new("pack")).unwrap().is_none());
        assert!(repo.file_at(CommitId(new), Path::new("pack")).unwrap().is_none());
    }
}
