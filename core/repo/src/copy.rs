//! Copies of a version's files, for code under comparison: which it gets, how many, and how large.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use git2::{Odb, Oid};
use twincell_files::names::lies_hidden;
use twincell_files::{inside, private};

use crate::error::{CopyError, MAX_BYTES};
use crate::repository::bytes_as_path;
use crate::snapshot::{At, Snapshot, is_plain_file};
use crate::tree::FileId;
use crate::walk::walk;

/// How many files and folders a copy may have, with those that are left out, and the bytes beyond which a file is left out.
pub(crate) const MAX_FILES: usize = 20_000;
pub(crate) const MAX_FILE: u64 = 16 << 20;

impl Snapshot<'_> {
    /// Copies the files into a new folder. Hidden files, links, submodules and single large files are left out.
    ///
    /// # Errors
    ///
    /// Where there are too many, or they cannot be read or written. Then there is no folder.
    pub fn copy(&self, folder: &Path) -> Result<(), CopyError> {
        private::make(folder)?;
        let made = self.fill(folder);
        if made.is_err() {
            let _ = fs::remove_dir_all(folder);
        }
        made
    }

    fn fill(&self, folder: &Path) -> Result<(), CopyError> {
        let git = &self.repo.git;
        let objects = git.odb()?;
        let mut copy = Copy { folder, files: 0, bytes: 0 };
        match &self.at {
            At::Tree(tree) => walk(git, tree.id(), |path, entry| {
                let is_wanted = copy.wants(path)?;
                if is_wanted && is_plain_file(entry.filemode()) {
                    copy.blob(&objects, entry.id(), path)?;
                }
                Ok(is_wanted)
            }),
            At::Index(index) => index.iter().try_for_each(|entry| {
                let path = bytes_as_path(&entry.path);
                let is_file = is_plain_file(i32::try_from(entry.mode).unwrap_or(0));
                if copy.wants(&path)? && is_file { copy.blob(&objects, entry.id, &path) } else { Ok(()) }
            }),
            At::Files => {
                let Some(root) = git.workdir() else { return Ok(()) };
                let root = OwnedFd::from(File::open(root)?);
                let paths = self.repo.paths_of_files()?;
                paths.iter().try_for_each(|path| if copy.wants(path)? { copy.file(&root, path) } else { Ok(()) })
            }
        }
    }
}

/// Reads a content.
type Contents<'r> = Box<dyn Fn(FileId) -> Result<Vec<u8>, CopyError> + 'r>;

/// The files of a version that a copy of it has, and what reads them.
pub(crate) struct Kept<'r> {
    pub files: BTreeMap<PathBuf, FileId>,
    pub contents: Contents<'r>,
}

/// What a copy of a commit has.
///
/// # Errors
///
/// As for [`Snapshot::copy`], and where the version is no commit.
pub(crate) fn kept<'r>(snapshot: &Snapshot<'r>) -> Result<Kept<'r>, CopyError> {
    let git = &snapshot.repo.git;
    let At::Tree(tree) = &snapshot.at else {
        return Err(git2::Error::from_str("the version is no commit").into());
    };
    let objects = git.odb()?;
    let mut copy = Copy { folder: Path::new(""), files: 0, bytes: 0 };
    let mut files = BTreeMap::new();
    walk(git, tree.id(), |path, entry| {
        let is_wanted = copy.wants(path)?;
        if is_wanted && is_plain_file(entry.filemode()) {
            // A header says the size; a small object may become gigabytes when it is read.
            let size = objects.read_header(entry.id())?.0 as u64;
            if size <= MAX_FILE {
                copy.count(size)?;
                files.insert(path.to_owned(), FileId(entry.id()));
            }
        }
        Ok(is_wanted)
    })?;
    Ok(Kept { files, contents: Box::new(move |id| Ok(objects.read(id.0)?.data().to_vec())) })
}

struct Copy<'a> {
    folder: &'a Path,
    files: usize,
    bytes: u64,
}

impl Copy<'_> {
    /// Counts an entry, and says whether its name is one that is copied. Nothing is read before.
    fn wants(&mut self, path: &Path) -> Result<bool, CopyError> {
        self.files += 1;
        if self.files > MAX_FILES {
            return Err(CopyError::TooMany(MAX_FILES));
        }
        Ok(path.components().all(|part| matches!(part, Component::Normal(_))) && !lies_hidden(path))
    }

    fn blob(&mut self, objects: &Odb<'_>, id: Oid, path: &Path) -> Result<(), CopyError> {
        // A header says the size; a small object may become gigabytes when it is read.
        let (size, _) = objects.read_header(id)?;
        if size as u64 > MAX_FILE {
            return Ok(());
        }
        self.write(path, objects.read(id)?.data())
    }

    fn file(&mut self, root: &OwnedFd, path: &Path) -> Result<(), CopyError> {
        // A file that is gone, one behind a link, or one that cannot be read is not there for code either.
        match inside::read_in(root, path, MAX_FILE) {
            Ok(Some(content)) => self.write(path, &content),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// Counts the bytes of a file.
    fn count(&mut self, bytes: u64) -> Result<(), CopyError> {
        self.bytes += bytes;
        if self.bytes > MAX_BYTES { Err(CopyError::TooLarge) } else { Ok(()) }
    }

    fn write(&mut self, path: &Path, content: &[u8]) -> Result<(), CopyError> {
        self.count(content.len() as u64)?;
        let target = self.folder.join(path);
        if let Some(parent) = target.parent() {
            private::make_all(parent)?;
        }
        Ok(private::write_new(&target, content)?)
    }
}

#[cfg(test)]
mod tests {
    use git2::Repository;

    use super::*;
    use crate::{Repo, Revision};

    /// A repository with these files staged.
    fn repository(files: &[(&str, &str)]) -> (tempfile::TempDir, Repository) {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init(folder.path()).unwrap();
        let mut index = repository.index().unwrap();
        for (path, content) in files {
            let full = folder.path().join(path);
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            fs::write(full, content).unwrap();
            index.add_path(Path::new(path)).unwrap();
        }
        index.write().unwrap();
        (folder, repository)
    }

    /// The files of a copy, with their content.
    fn copied(of: &Path, revision: &Revision) -> Vec<(String, String)> {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("copy");
        Repo::around(of).unwrap().snapshot(revision).unwrap().copy(&folder).unwrap();
        let mut found = Vec::new();
        let mut folders = vec![folder.clone()];
        while let Some(inner) = folders.pop() {
            for entry in fs::read_dir(inner).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&folder).unwrap().display().to_string();
                    found.push((name, fs::read_to_string(path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }

    fn pairs(files: &[(&str, &str)]) -> Vec<(String, String)> {
        files.iter().map(|(path, content)| ((*path).to_owned(), (*content).to_owned())).collect()
    }

    #[test]
    fn every_version_has_its_own_files() {
        let (folder, repository) = repository(&[("shop/cart.py", "one"), ("shop/.env", "secret"), ("data.json", "{}")]);
        let tree = Revision::Commit(repository.index().unwrap().write_tree().unwrap().to_string());
        let both = pairs(&[("data.json", "{}"), ("shop/cart.py", "one")]);
        assert_eq!(copied(folder.path(), &tree), both);
        assert_eq!(copied(folder.path(), &Revision::Staged), both);

        fs::write(folder.path().join("shop/cart.py"), "two").unwrap();
        fs::write(folder.path().join("shop/new.py"), "new").unwrap();
        fs::write(folder.path().join("secret.txt"), "secret").unwrap();
        fs::write(folder.path().join(".gitignore"), "secret.txt\n").unwrap();
        fs::remove_file(folder.path().join("data.json")).unwrap();
        assert_eq!(copied(folder.path(), &Revision::Files), pairs(&[("shop/cart.py", "two"), ("shop/new.py", "new")]));
        assert_eq!(copied(folder.path(), &tree), both);
    }

    #[test]
    fn links_are_left_out() {
        let (folder, repository) = repository(&[("a.py", "a"), ("data/inner/key.txt", "own")]);
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link.py")).unwrap();
        let mut index = repository.index().unwrap();
        index.add_path(Path::new("link.py")).unwrap();
        index.write().unwrap();
        let tree = Revision::Commit(index.write_tree().unwrap().to_string());
        let all = pairs(&[("a.py", "a"), ("data/inner/key.txt", "own")]);
        for revision in [tree, Revision::Staged, Revision::Files] {
            assert_eq!(copied(folder.path(), &revision), all);
        }
        // A folder above a tracked file, or the folder above that one, is a link now.
        let elsewhere = tempfile::tempdir().unwrap();
        fs::create_dir(elsewhere.path().join("inner")).unwrap();
        fs::write(elsewhere.path().join("inner/key.txt"), "secret").unwrap();
        for (link, target) in [("data/inner", "inner"), ("data", "")] {
            fs::rename(folder.path().join(link), folder.path().join("moved")).unwrap();
            std::os::unix::fs::symlink(elsewhere.path().join(target), folder.path().join(link)).unwrap();
            fs::remove_dir_all(folder.path().join("moved")).unwrap();
            assert_eq!(copied(folder.path(), &Revision::Files), pairs(&[("a.py", "a")]), "{link}");
        }
    }

    #[test]
    fn what_is_no_file_is_left_out_and_not_waited_for() {
        let (folder, _) = repository(&[("a.py", "a"), ("b.py", "b")]);
        fs::remove_file(folder.path().join("b.py")).unwrap();
        let pipe = folder.path().join("b.py");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
        assert_eq!(copied(folder.path(), &Revision::Files), pairs(&[("a.py", "a")]));
    }

    #[test]
    fn nothing_is_left_of_a_copy_that_is_too_large() {
        let place = tempfile::tempdir().unwrap();
        // What is left out counts as well.
        for name in ["a.py", ".hidden", "../a.py"] {
            let mut copy = Copy { folder: place.path(), files: MAX_FILES, bytes: 0 };
            assert!(matches!(copy.wants(Path::new(name)), Err(CopyError::TooMany(_))));
        }
        let mut copy = Copy { folder: place.path(), files: 0, bytes: MAX_BYTES };
        assert!(matches!(copy.write(Path::new("a.py"), b"a"), Err(CopyError::TooLarge)));
        for outside in ["../a.py", "/a.py", "b/../../a.py", ".env", "shop/.env", ".git/config"] {
            assert!(!copy.wants(Path::new(outside)).unwrap(), "{outside}");
        }
        assert!(copy.wants(Path::new("shop/a.py")).unwrap());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
