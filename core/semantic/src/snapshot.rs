//! The Python files of a version of a repository, as git has them.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use twincell_repo::{Content, FileId, Repo, RepoError, Revision};

use crate::files::{ContentId, Files};

/// The largest file that is read, in bytes.
pub(crate) const MOST: u64 = 32 << 20;

/// The Python files of a version. Nothing is checked out, and texts are read when they are asked for.
pub struct SnapshotFiles {
    repo: Arc<Mutex<Repo>>,
    /// Whether they are those of the working tree, which has objects of none.
    on_disk: bool,
    paths: Vec<(Arc<str>, ContentId)>,
}

impl SnapshotFiles {
    /// Lists the files. Those whose names are not UTF-8 are skipped.
    ///
    /// # Errors
    ///
    /// Where git cannot read the version, and where it has too many files.
    pub fn of(repo: &Arc<Mutex<Repo>>, revision: &Revision) -> Result<Self, RepoError> {
        let is_python = |path: &Path| path.extension().is_some_and(|ending| ending == "py" || ending == "pyi");
        let open = repo.lock().unwrap_or_else(PoisonError::into_inner);
        let files = open.snapshot(revision)?.files(&is_python, MOST)?.into_iter();
        let paths = files.filter_map(|(path, id)| Some((path.to_str()?.into(), ContentId::from_hash(id.as_bytes()))));
        Ok(Self { repo: repo.clone(), on_disk: *revision == Revision::Files, paths: paths.collect() })
    }
}

impl Files for SnapshotFiles {
    fn paths(&self) -> Vec<(Arc<str>, ContentId)> {
        self.paths.clone()
    }

    fn text(&self, path: &str, content: ContentId) -> Option<Arc<str>> {
        let repo = self.repo.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = if self.on_disk {
            let Ok(Content::File(bytes)) = repo.snapshot(&Revision::Files).ok()?.content(Path::new(path), MOST) else {
                return None;
            };
            // Somebody may have changed it meanwhile.
            let is_same = FileId::of(&bytes).is_some_and(|id| ContentId::from_hash(id.as_bytes()) == content);
            is_same.then_some(bytes)?
        } else {
            repo.bytes(FileId::from_hash(&content.0)?, MOST as usize).ok()??
        };
        String::from_utf8(bytes).ok().map(Arc::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Project, Store, change};

    #[test]
    fn versions_are_read_from_a_repository_and_share_what_is_equal() {
        let folder = tempfile::tempdir().unwrap();
        let git = git2::Repository::init(folder.path()).unwrap();
        let author = git2::Signature::now("A", "a@example.org").unwrap();
        let commit = |files: &[(&str, &str)]| {
            let mut index = git.index().unwrap();
            for (path, text) in files {
                std::fs::write(folder.path().join(path), text).unwrap();
                index.add_path(Path::new(path)).unwrap();
            }
            index.write().unwrap();
            let tree = git.find_tree(index.write_tree().unwrap()).unwrap();
            let parent = git.head().ok().map(|head| head.peel_to_commit().unwrap());
            git.commit(Some("HEAD"), &author, &author, "a commit", &tree, &parent.iter().collect::<Vec<_>>()).unwrap();
        };
        commit(&[("tax.py", "def rate():\n    return 20\n"), ("cart.py", "import tax\n"), ("data.txt", "x")]);
        commit(&[("tax.py", "def rate():\n    return 25\n")]);
        std::fs::write(folder.path().join("tax.py"), "def rate():\n    return 20\n").unwrap();
        let repo = Arc::new(Mutex::new(Repo::around(folder.path()).unwrap()));
        let store = Store::new();
        let open = |revision: Revision| {
            let project = Project::open(SnapshotFiles::of(&repo, &revision).unwrap(), &store);
            assert_eq!(project.symbols().count(), 3);
            project
        };
        let (old, new) = (open(Revision::Parent("HEAD".into())), open(Revision::Commit("HEAD".into())));
        assert_eq!((old.modules().count(), store.len()), (2, 3));
        assert_eq!(change(&old, &new).changed.len(), 1);
        // The file on disk is the one that was there before.
        assert!(change(&old, &open(Revision::Files)).changed.is_empty());
        assert_eq!(store.len(), 3);
    }
}
