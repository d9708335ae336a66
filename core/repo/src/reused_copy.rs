//! A copy of one version after another. Only what differs from the last one is written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use twincell_files::private;

use crate::copy::{Kept, kept};
use crate::error::CopyError;
use crate::snapshot::Snapshot;
use crate::tree::FileId;

/// A folder for copies of versions. Each copy has a path of its own, so that nobody takes a file for that of another version.
/// The copy before is gone then.
#[derive(Debug)]
pub struct ReusedCopy {
    place: PathBuf,
    number: u64,
    files: BTreeMap<PathBuf, FileId>,
}

impl ReusedCopy {
    /// One in a folder that nobody else uses.
    pub fn new(place: PathBuf) -> Self {
        Self { place, number: 0, files: BTreeMap::new() }
    }

    /// Copies a version of a commit, as [`Snapshot::copy`] does, and returns the folder that holds it.
    ///
    /// # Errors
    ///
    /// As for [`Snapshot::copy`]. The next copy begins anew then.
    pub fn show(&mut self, snapshot: &Snapshot<'_>) -> Result<PathBuf, CopyError> {
        let Kept { files: wanted, contents } = kept(snapshot)?;
        let before = self.folder();
        self.number += 1;
        let folder = self.folder();
        if self.number == 1 {
            private::make(&folder)?;
        } else {
            fs::rename(before, &folder)?;
        }
        let made = self.fill(&folder, &wanted, &contents);
        if made.is_err() {
            // What is there is of no version.
            let _ = fs::remove_dir_all(&folder);
            (self.number, self.files) = (self.number + 1, BTreeMap::new());
            private::make(&self.folder())?;
        }
        made.map(|()| folder)
    }

    fn folder(&self) -> PathBuf {
        self.place.join(self.number.to_string())
    }

    fn fill(
        &mut self,
        folder: &Path,
        wanted: &BTreeMap<PathBuf, FileId>,
        contents: &dyn Fn(FileId) -> Result<Vec<u8>, CopyError>,
    ) -> Result<(), CopyError> {
        let stale: Vec<PathBuf> = self
            .files
            .iter()
            .filter(|(path, id)| wanted.get(*path) != Some(id))
            .map(|(path, _)| path.clone())
            .collect();
        for path in stale {
            fs::remove_file(folder.join(&path))?;
            self.files.remove(&path);
            // A folder without files is no part of a version, and a file may take its place.
            for parent in path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty()) {
                if fs::remove_dir(folder.join(parent)).is_err() {
                    break;
                }
            }
        }
        for (path, id) in wanted {
            if self.files.contains_key(path) {
                continue;
            }
            let target = folder.join(path);
            if let Some(parent) = target.parent() {
                private::make_all(parent)?;
            }
            private::write_new(&target, &contents(*id)?)?;
            self.files.insert(path.clone(), *id);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use git2::Repository;

    use super::*;
    use crate::{Repo, Revision};

    #[test]
    fn each_version_is_there_as_git_has_it_and_what_is_the_same_stays() {
        let folder = tempfile::tempdir().unwrap();
        let git = Repository::init(folder.path()).unwrap();
        let blob = |text: &str| git.blob(text.as_bytes()).unwrap();
        let tree = |entries: &[(&str, git2::Oid, i32)]| {
            let mut builder = git.treebuilder(None).unwrap();
            for (name, id, mode) in entries {
                builder.insert(name, *id, *mode).unwrap();
            }
            builder.write().unwrap()
        };
        const FILE: i32 = 0o100_644;
        let inner = tree(&[("x.py", blob("x"), FILE)]);
        let one = tree(&[("a.py", blob("a"), FILE), ("same.py", blob("s"), FILE), ("pack", inner, 0o040_000)]);
        let two = tree(&[
            ("a.py", blob("b"), FILE),
            ("same.py", blob("s"), FILE),
            ("pack", blob("a file now"), FILE),
            (".hidden", blob("h"), FILE),
            ("link.py", blob("/etc/passwd"), 0o120_000),
        ]);
        let repo = Repo::around(folder.path()).unwrap();
        let place = tempfile::tempdir().unwrap();
        let mut copy = ReusedCopy::new(place.path().to_owned());
        let mut show =
            |tree: git2::Oid| copy.show(&repo.snapshot(&Revision::Commit(tree.to_string())).unwrap()).unwrap();
        let read = |folder: &Path, path: &str| fs::read_to_string(folder.join(path)).ok();
        let first = show(one);
        assert_eq!((read(&first, "a.py"), read(&first, "pack/x.py")), (Some("a".into()), Some("x".into())));
        let second = show(two);
        assert!(first != second && !first.exists());
        assert_eq!((read(&second, "a.py"), read(&second, "pack")), (Some("b".into()), Some("a file now".into())));
        assert_eq!(read(&second, "same.py"), Some("s".into()));
        assert!(!second.join(".hidden").exists() && !second.join("link.py").exists());
        let third = show(one);
        assert_eq!(read(&third, "pack/x.py"), Some("x".into()));
    }
}
