//! The repository that a file on disk lies in, with its files as they are now.

use std::path::{Component, Path, PathBuf};

use twincell_files::account::homes;

use crate::error::CopyError;
use crate::repository::Repo;
use crate::snapshot::Snapshot;

/// A repository with its files, as they are now.
pub struct Project {
    repo: Repo,
    root: PathBuf,
}

impl Project {
    /// The project around a file, and the file's path in it, with `/` between the parts. A home folder is no project,
    /// though some people keep it in git.
    pub fn around(file: &Path) -> Option<(Self, String)> {
        let file = file.canonicalize().ok().filter(|file| file.is_file())?;
        let found = Self::around_folder(file.parent()?)?;
        let inside = file.strip_prefix(&found.root).ok()?;
        let is_plain = |part| matches!(part, Component::Normal(_));
        let path = inside.components().all(is_plain).then(|| inside.to_str().map(str::to_owned))??;
        Some((found, path))
    }

    /// The project around a folder.
    pub fn around_folder(folder: &Path) -> Option<Self> {
        let repo = Repo::around(folder).ok()?;
        let root = repo.root()?.canonicalize().ok()?;
        let is_home = homes().iter().any(|home| home.starts_with(&root));
        (!is_home && folder.starts_with(&root)).then_some(Self { repo, root })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Copies its files into a new folder, without what is hidden, ignored or a link.
    ///
    /// # Errors
    ///
    /// Where it is too large, or cannot be read or written. Then there is no folder.
    pub fn copy(&self, folder: &Path) -> Result<(), CopyError> {
        Snapshot::of_files(&self.repo).copy(folder)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use git2::Repository;

    use super::*;
    use crate::RepoError;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for path in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        folder
    }

    #[test]
    fn a_file_lies_in_the_work_tree_around_it() {
        let folder = folder(&["shop/cart.py", "alone.py"]);
        let file = folder.path().join("shop/cart.py");
        if Project::around(&file).is_none() {
            Repository::init(folder.path()).unwrap();
        }
        let (project, path) = Project::around(&file).unwrap();
        assert_eq!((project.root().to_owned(), path.as_str()), (folder.path().canonicalize().unwrap(), "shop/cart.py"));
        let to = tempfile::tempdir().unwrap();
        project.copy(&to.path().join("copy")).unwrap();
        assert!(to.path().join("copy/shop/cart.py").is_file());
        // A link stands for the file that it leads to, and a folder is no file.
        std::os::unix::fs::symlink(&file, to.path().join("link.py")).unwrap();
        assert_eq!(Project::around(&to.path().join("link.py")).unwrap().1, "shop/cart.py");
        assert!(Project::around(folder.path()).is_none() && Project::around(&folder.path().join("none.py")).is_none());
    }

    #[test]
    fn the_files_of_a_repository_are_not_looked_for_where_its_configuration_says() {
        let (own, other) = (folder(&["a.py"]), folder(&["b.py"]));
        let repository = Repository::init(own.path()).unwrap();
        repository.config().unwrap().set_str("core.worktree", other.path().to_str().unwrap()).unwrap();
        assert!(Project::around(&own.path().join("a.py")).is_none());
        assert!(matches!(Repo::with_files_around(own.path()), Err(RepoError::Elsewhere { .. })));
    }
}
