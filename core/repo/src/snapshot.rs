//! What a version of a repository has under a path. No content is read through a link, or where it is larger than a caller
//! wants.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use git2::{ErrorCode, FileMode, Index, ObjectType, Oid, StatusOptions, Tree};
use twincell_files::inside;
use twincell_files::names::is_kept_back;

use crate::discover::is_inside;
use crate::error::{CopyError, RepoError};
use crate::repository::{Repo, bytes_as_path};
use crate::revision::Revision;
use crate::tree::FileId;
use crate::walk::walk;

/// How many files and folders of a tree are listed at most.
const MAX_LISTED: usize = 200_000;

/// A version of a repository, of which nothing is checked out.
pub struct Snapshot<'r> {
    pub(crate) repo: &'r Repo,
    pub(crate) at: At<'r>,
}

/// Where a version's files are.
pub(crate) enum At<'r> {
    Tree(Tree<'r>),
    Index(Index),
    Files,
}

/// What is under a path, as git tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    Folder,
    /// A file, a link or another repository.
    File,
}

/// What a version has under a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Absent,
    File(Vec<u8>),
    /// A file with more bytes than were wanted.
    TooLarge,
    /// A link, a folder, another repository, or a file that cannot be read.
    NoFile,
}

impl Repo {
    /// What the repository has at a revision.
    ///
    /// # Errors
    ///
    /// Where the revision is none, or git cannot read it.
    pub fn snapshot(&self, revision: &Revision) -> Result<Snapshot<'_>, RepoError> {
        let at = match self.tree(revision)? {
            Some(tree) => At::Tree(tree),
            None if *revision == Revision::Staged => match self.index()? {
                index if index.has_conflicts() => return Err(RepoError::Conflicts),
                index => At::Index(index),
            },
            None => At::Files,
        };
        Ok(Snapshot { repo: self, at })
    }

    /// Whether the index has a path, or something below it.
    pub fn is_tracked(&self, path: &Path) -> bool {
        self.index().is_ok_and(|index| Snapshot { repo: self, at: At::Index(index) }.entry(path).is_some())
    }

    /// The content of the next commit.
    fn index(&self) -> Result<Index, RepoError> {
        // While `git commit` runs hooks, the index may be in another file than usual. That of another repository is not meant.
        let of_hook = std::env::var_os("GIT_INDEX_FILE").map(PathBuf::from).filter(|path| {
            let folder = path.parent().map(|folder| if folder == Path::new("") { Path::new(".") } else { folder });
            folder.is_some_and(|folder| is_inside(folder, self.git.path()))
        });
        match of_hook {
            Some(path) => Ok(Index::open(&path)?),
            None => Ok(self.git.index()?),
        }
    }

    /// The paths in the working tree that git tracks, and new ones that it does not ignore and that hold no secret.
    pub(crate) fn paths_of_files(&self) -> Result<BTreeSet<PathBuf>, git2::Error> {
        let index = self.git.index()?;
        let tracked = index.iter().map(|entry| bytes_as_path(&entry.path));
        let mut options = StatusOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true).include_ignored(false);
        let new = self.git.statuses(Some(&mut options))?;
        let new = new.iter().filter(|entry| entry.status().is_wt_new()).map(|entry| bytes_as_path(entry.path_bytes()));
        Ok(tracked.chain(new.filter(|path| !is_kept_back(path))).collect())
    }
}

impl<'r> Snapshot<'r> {
    /// The files of the working tree.
    pub(crate) fn of_files(repo: &'r Repo) -> Self {
        Self { repo, at: At::Files }
    }

    /// What is under a path. The empty path is a folder, and a link in the working tree is what it leads to.
    pub fn entry(&self, path: &Path) -> Option<Entry> {
        if path.as_os_str().is_empty() {
            return Some(Entry::Folder);
        }
        match &self.at {
            At::Tree(tree) => {
                let found = tree.get_path(path).ok()?;
                Some(if found.kind() == Some(ObjectType::Tree) { Entry::Folder } else { Entry::File })
            }
            At::Index(index) => {
                let mut entries = index.iter().map(|entry| bytes_as_path(&entry.path));
                let found = entries.find(|entry| entry.starts_with(path))?;
                Some(if found == path { Entry::File } else { Entry::Folder })
            }
            At::Files => {
                let found = self.repo.root()?.join(path).metadata().ok()?;
                Some(if found.is_dir() { Entry::Folder } else { Entry::File })
            }
        }
    }

    /// The files whose paths are wanted, with the identity of their content, by path. Links and other repositories are no
    /// files, nor is one with more than `most` bytes in the working tree, whose files are read for this.
    ///
    /// # Errors
    ///
    /// Where git cannot read the version, and where it has too many files.
    pub fn files(&self, wanted: &dyn Fn(&Path) -> bool, most: u64) -> Result<Vec<(PathBuf, FileId)>, RepoError> {
        let git = &self.repo.git;
        let mut found = Vec::new();
        match &self.at {
            At::Tree(tree) => {
                let mut seen = 0;
                let walked = walk(git, tree.id(), |path, entry| {
                    // A hostile tree can have one name many times.
                    seen += 1;
                    if seen > MAX_LISTED {
                        return Err(CopyError::TooMany(MAX_LISTED));
                    }
                    if is_plain_file(entry.filemode()) && wanted(path) {
                        found.push((path.to_owned(), FileId(entry.id())));
                    }
                    Ok(true)
                });
                walked.map_err(|error| RepoError::Files { revision: tree.id().to_string(), error })?;
            }
            At::Index(index) => {
                let files = index.iter().filter(|entry| i32::try_from(entry.mode).is_ok_and(is_plain_file));
                let files = files.map(|entry| (bytes_as_path(&entry.path), FileId(entry.id)));
                found.extend(files.filter(|(path, _)| wanted(path)));
            }
            At::Files => {
                for path in self.repo.paths_of_files()?.into_iter().filter(|path| wanted(path)) {
                    if let Content::File(bytes) = self.content_of_file(&path, most) {
                        found.push((path, FileId(Oid::hash_object(ObjectType::Blob, &bytes)?)));
                    }
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// The content of a path, of at most `most` bytes.
    ///
    /// # Errors
    ///
    /// Where git cannot read it.
    pub fn content(&self, path: &Path, most: u64) -> Result<Content, RepoError> {
        let (mode, id) = match &self.at {
            At::Tree(tree) => match tree.get_path(path) {
                Ok(entry) => (entry.filemode(), entry.id()),
                Err(error) if error.code() == ErrorCode::NotFound => return Ok(Content::Absent),
                Err(error) => return Err(error.into()),
            },
            At::Index(index) => match index.get_path(path, 0) {
                Some(entry) => (i32::try_from(entry.mode).unwrap_or(0), entry.id),
                None => return Ok(Content::Absent),
            },
            At::Files => return Ok(self.content_of_file(path, most)),
        };
        if !is_plain_file(mode) {
            return Ok(Content::NoFile);
        }
        let objects = self.repo.git.odb()?;
        // A header says the size; a small object may become gigabytes when it is read.
        if objects.read_header(id)?.0 as u64 > most {
            return Ok(Content::TooLarge);
        }
        Ok(Content::File(objects.read(id)?.data().to_vec()))
    }

    /// A file of the working tree. No part of the path may be a link.
    fn content_of_file(&self, path: &Path, most: u64) -> Content {
        let Some(root) = self.repo.root() else { return Content::Absent };
        let Ok(about) = root.join(path).symlink_metadata() else { return Content::Absent };
        if about.is_file() && about.len() > most {
            return Content::TooLarge;
        }
        let Ok(root) = File::open(root) else { return Content::NoFile };
        match inside::read_in(&OwnedFd::from(root), path, most) {
            Ok(Some(bytes)) => Content::File(bytes),
            _ => Content::NoFile,
        }
    }
}

pub(crate) fn is_plain_file(mode: i32) -> bool {
    [FileMode::Blob, FileMode::BlobExecutable, FileMode::BlobGroupWritable]
        .iter()
        .any(|plain| i32::from(*plain) == mode)
}

#[cfg(test)]
mod tests {
    use git2::Repository;

    use super::*;

    #[test]
    fn each_version_has_its_own_file_and_a_link_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init(folder.path()).unwrap();
        let repo = Repo::around(folder.path()).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("twincell.toml", "old");
        let mut index = repository.index().unwrap();
        index.add_path(Path::new("twincell.toml")).unwrap();
        let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
        write("twincell.toml", "staged");
        index.add_path(Path::new("twincell.toml")).unwrap();
        index.write().unwrap();
        write("twincell.toml", "written");
        let named = [Revision::Commit(tree.id().to_string()), Revision::Staged, Revision::Files];
        let snapshots = || named.each_ref().map(|revision| repo.snapshot(revision).unwrap());
        let found = |path: &str| snapshots().map(|snapshot| snapshot.content(Path::new(path), 7).unwrap());
        let [old, staged, written] = ["old", "staged", "written"].map(|text| Content::File(text.into()));
        assert_eq!(found("twincell.toml"), [old, staged, written]);
        assert_eq!(found("none/twincell.toml"), [Content::Absent, Content::Absent, Content::Absent]);
        let [old, ..] = snapshots();
        let names = |new: Snapshot<'_>| old.differing(&new, &["twincell.toml"]).unwrap();
        assert_eq!(snapshots().map(|snapshot| names(snapshot).len()), [0, 1, 1]);

        let files = |snapshot: &Snapshot<'_>| snapshot.files(&|path| path.ends_with("twincell.toml"), 7).unwrap();
        let [old, staged, written] = snapshots().map(|snapshot| files(&snapshot));
        assert!([&old, &staged, &written].iter().all(|files| files.len() == 1));
        assert!(old != staged && staged != written);
        write("twincell.toml", "old");
        assert_eq!(files(&snapshots()[2]), old);

        std::fs::remove_file(folder.path().join("twincell.toml")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("twincell.toml")).unwrap();
        assert_eq!(found("twincell.toml")[2], Content::NoFile);
        write("other.toml", "more than that");
        assert_eq!(found("other.toml")[2], Content::TooLarge);
    }
}
