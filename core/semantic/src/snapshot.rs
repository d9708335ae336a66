//! The Python files of a version of a repository, as git has them.

use std::path::Path;
use std::sync::Arc;

use twincell_repo::{Content, FileId, RepoError, Snapshot};

use crate::files::{ContentId, Files};

/// The largest file that is read, in bytes.
const MOST: u64 = 32 << 20;

/// The Python files of a version. Nothing is checked out, and texts are read when they are asked for.
pub struct SnapshotFiles<'s> {
    snapshot: &'s Snapshot<'s>,
    paths: Vec<(Arc<str>, ContentId)>,
}

impl<'s> SnapshotFiles<'s> {
    /// Lists the files. Those whose names are not UTF-8 are skipped.
    ///
    /// # Errors
    ///
    /// Where git cannot read the version, and where it has too many files.
    pub fn of(snapshot: &'s Snapshot<'s>) -> Result<Self, RepoError> {
        let is_python = |path: &Path| path.extension().is_some_and(|ending| ending == "py" || ending == "pyi");
        let files = snapshot.files(&is_python, MOST)?.into_iter();
        let paths = files.filter_map(|(path, id)| Some((path.to_str()?.into(), ContentId::from_hash(id.as_bytes()))));
        Ok(Self { snapshot, paths: paths.collect() })
    }
}

impl Files for SnapshotFiles<'_> {
    fn paths(&self) -> Vec<(Arc<str>, ContentId)> {
        self.paths.clone()
    }

    fn text(&self, path: &str, content: ContentId) -> Option<Arc<str>> {
        let Ok(Content::File(bytes)) = self.snapshot.content(Path::new(path), MOST) else { return None };
        // Somebody may have changed a file of the working tree meanwhile.
        let is_same = FileId::of(&bytes).is_some_and(|id| ContentId::from_hash(id.as_bytes()) == content);
        String::from_utf8(bytes).ok().filter(|_| is_same).map(Arc::from)
    }
}

#[cfg(test)]
mod tests {
    use twincell_repo::{Repo, Revision};

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
        let repo = Repo::around(folder.path()).unwrap();
        let store = Store::new();
        let open = |revision: Revision| {
            let snapshot = repo.snapshot(&revision).unwrap();
            Project::open(&SnapshotFiles::of(&snapshot).unwrap(), &store)
        };
        let (old, new) = (open(Revision::Parent("HEAD".into())), open(Revision::Commit("HEAD".into())));
        assert_eq!((old.modules().count(), store.len()), (2, 3));
        assert_eq!(change(&old, &new).changed.len(), 1);
        // The file on disk is the one that was there before.
        assert!(change(&old, &open(Revision::Files)).changed.is_empty());
        assert_eq!(store.len(), 3);
    }
}
