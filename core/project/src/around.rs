//! The project that a file on disk lies in.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use git2::Repository;
use twincell_engine::protocol::Place;
use twincell_files::account::homes;
use twincell_syntax::{absolute_imports, imported_modules, imports};

use crate::copy::{CopyError, Version, copy};
use crate::discover::discover;
use crate::place::{module, place};

/// A repository with its files, as they are now.
pub struct Project {
    repository: Repository,
    root: PathBuf,
}

impl Project {
    /// The project around a file, and the file's path in it, with `/` between the parts. A home folder is no project,
    /// though some people keep it in git.
    pub fn around(file: &Path) -> Option<(Self, String)> {
        let file = file.canonicalize().ok().filter(|file| file.is_file())?;
        let (repository, root) = work_tree(file.parent()?)?;
        let inside = file.strip_prefix(&root).ok()?;
        let is_plain = |part| matches!(part, Component::Normal(_));
        let path = inside.components().all(is_plain).then(|| inside.to_str().map(str::to_owned))??;
        Some((Self { repository, root }, path))
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Copies its files into a new folder, without what is hidden, ignored or a link.
    pub fn copy(&self, folder: &Path) -> Result<(), CopyError> {
        copy(&self.repository, &Version::Files, folder)
    }
}

/// The repository around a folder, and the folder that holds its files.
pub(crate) fn work_tree(folder: &Path) -> Option<(Repository, PathBuf)> {
    let repository = discover(folder).ok()?;
    let root = repository.workdir()?.canonicalize().ok()?;
    let is_home = homes().iter().any(|home| home.starts_with(&root));
    (!is_home && folder.starts_with(&root)).then_some((repository, root))
}

/// The modules of the project that a text at this place imports, by dotted name, without its own.
pub fn imported(at: &Place, text: &str) -> BTreeSet<String> {
    let text = absolute_imports(text, at.package());
    let named = imported_modules(&text).into_iter().chain(imports(&text).into_values().map(|import| import.target));
    let found = named.filter_map(|dotted| {
        let parent = dotted.rsplit_once('.').map(|(parent, _)| parent.to_owned());
        [Some(dotted), parent].into_iter().flatten().find(|dotted| module(at, dotted).is_some())
    });
    found.filter(|dotted| *dotted != at.name).collect()
}

/// Where two versions of a module lie in a folder, if their files are in it. A file that imports more of the project from
/// the other one's place is a copy of that one. So are two files in one folder versions of one module, the new file's.
pub fn places(folder: &Path, old: (&str, &str), new: (&str, &str)) -> (Place, Place) {
    let [old_place, new_place] = [old.0, new.0].map(|file| place(folder, file));
    let fits_better =
        |there: &Place, here: &Place, text: &str| imported(there, text).len() > imported(here, text).len();
    if Path::new(old.0).parent() == Path::new(new.0).parent() || fits_better(&new_place, &old_place, old.1) {
        (new_place.clone(), new_place)
    } else if fits_better(&old_place, &new_place, new.1) {
        (old_place.clone(), old_place)
    } else {
        (old_place, new_place)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn a_file_lies_in_the_work_tree_around_it() {
        let folder = folder(&[("shop/cart.py", ""), ("alone.py", "")]);
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
        let (own, other) = (folder(&[("a.py", "")]), folder(&[("b.py", "")]));
        let repository = Repository::init(own.path()).unwrap();
        repository.config().unwrap().set_str("core.worktree", other.path().to_str().unwrap()).unwrap();
        assert!(Project::around(&own.path().join("a.py")).is_none());
    }

    #[test]
    fn modules_of_the_project_are_told_from_others() {
        let folder = folder(&[("shop/__init__.py", ""), ("shop/cart.py", ""), ("shop/tax.py", ""), ("shop/a.py", "")]);
        let text =
            "import os, shop.cart\nfrom .tax import rate\nfrom . import none\ndef f():\n    from shop import a\n";
        let own = place(folder.path(), "shop/cart.py");
        assert_eq!(imported(&own, text), ["shop", "shop.a", "shop.tax"].map(str::to_owned).into());
    }

    #[test]
    fn a_copy_of_a_module_lies_where_its_imports_lead() {
        let folder = folder(&[
            ("old.py", ""),
            ("one/tax.py", ""),
            ("one/cart.py", ""),
            ("two/tax.py", ""),
            ("two/cart.py", ""),
            ("shop/__init__.py", ""),
            ("shop/tax.py", ""),
            ("shop/cart.py", ""),
        ]);
        let names = |old: &str, new: &str, text: &str| {
            let (old, new) = places(folder.path(), (old, text), (new, text));
            (old.file, new.file)
        };
        let both = |file: &str| (file.to_owned(), file.to_owned());
        let (relative, beside) = ("from .tax import rate\n", "from tax import rate\n");
        assert_eq!(names("old.py", "shop/cart.py", relative), both("shop/cart.py"));
        assert_eq!(names("shop/cart.py", "old.py", relative), both("shop/cart.py"));
        assert_eq!(names("shop/tax.py", "shop/cart.py", "import json\n"), both("shop/cart.py"));
        assert_eq!(names("one/cart.py", "two/cart.py", beside), ("one/cart.py".into(), "two/cart.py".into()));
    }
}
