//! Where two files under comparison lie in a project on disk.

use std::collections::BTreeSet;
use std::path::Path;

use twincell_repo::ModulePath;
use twincell_syntax::PerSide;

/// The modules of the project that a text in this place imports, by dotted name, without its own.
pub(crate) fn imported(at: &ModulePath, text: &str) -> BTreeSet<String> {
    twincell_semantic::imported(at, text, |dotted| at.file_of(dotted).is_some())
}

/// Where two versions of a module lie in a folder, if their files are in it. A file that imports more of the project from
/// the other one's place is a copy of that one. So are two files in one folder versions of one module, the new file's.
pub(crate) fn places(folder: &Path, old: (&str, &str), new: (&str, &str)) -> PerSide<ModulePath> {
    let [old_place, new_place] = [old.0, new.0].map(|file| ModulePath::of(folder, file));
    let fits_better =
        |there: &ModulePath, here: &ModulePath, text: &str| imported(there, text).len() > imported(here, text).len();
    if Path::new(old.0).parent() == Path::new(new.0).parent() || fits_better(&new_place, &old_place, old.1) {
        PerSide::new(new_place.clone(), new_place)
    } else if fits_better(&old_place, &new_place, new.1) {
        PerSide::new(old_place.clone(), old_place)
    } else {
        PerSide::new(old_place, new_place)
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
            let PerSide { old, new } = places(folder.path(), (old, text), (new, text));
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
