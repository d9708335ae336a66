//! How Python names a file of a project.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The folder that holds packages in projects that keep them apart from everything else.
const SRC: &str = "src";
const INITIAL: &str = "__init__.py";

/// Where a module lies in a project, whose other modules can be imported from a copy of the project.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModulePath {
    /// The folder that holds the copy, where workers may read.
    pub folder: PathBuf,
    /// The module's file, from this folder, with `/` between the parts: `src/shop/cart.py`.
    pub file: String,
    /// Its dotted name: `shop.cart`.
    pub name: String,
    /// The folders in which imports look first, in this order, from the folder of the copy: `src`, or empty for itself.
    pub search: Vec<String>,
}

impl ModulePath {
    /// The path of a module in a copy of its project. `file` has `/` between its parts.
    ///
    /// A module belongs to the packages around it, each with an `__init__.py`, and imports look in the folder that holds the
    /// outermost one. Without a package, they look in the module's own folder, as for a script. Then they look in `src` and
    /// at the top.
    pub fn of(folder: &Path, file: &str) -> Self {
        let parts: Vec<&str> = file.split('/').collect();
        let (name, folders) = parts.split_last().unwrap_or((&"", &[]));
        let holds_package = |length: &usize| folder.join(folders[..*length].join("/")).join(INITIAL).is_file();
        let outside = (0..=folders.len()).rev().find(|length| *length == 0 || !holds_package(length)).unwrap_or(0);
        let stem = [".py", ".ipynb"].into_iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
        // A script may lie anywhere, and others may import it from the top: `tools.report`.
        let begin = match outside {
            length if length < folders.len() => length,
            _ => usize::from(folders.first() == Some(&SRC)),
        };
        let mut dotted: Vec<&str> = folders[begin..].to_vec();
        if stem != "__init__" || dotted.is_empty() {
            dotted.push(stem);
        }
        let mut search: Vec<String> = Vec::new();
        for one in [folders[..outside].join("/"), SRC.to_owned(), String::new()] {
            if !search.contains(&one) && folder.join(&one).is_dir() {
                search.push(one);
            }
        }
        Self { folder: folder.to_owned(), file: file.to_owned(), name: dotted.join("."), search }
    }

    /// The package that holds the module, or that it is. Empty if there is none.
    pub fn package(&self) -> &str {
        let is_package = self.file == "__init__.py" || self.file.ends_with("/__init__.py");
        if is_package { &self.name } else { self.name.rsplit_once('.').map_or("", |(package, _)| package) }
    }

    /// Whether imports from the module find this dotted name in its project.
    pub fn finds(&self, dotted: &str) -> bool {
        let root = dotted.split('.').next().filter(|root| !root.is_empty() && !root.contains(['/', '\\']));
        root.is_some_and(|root| {
            self.search
                .iter()
                .map(|search| self.folder.join(search))
                .any(|folder| folder.join(root).is_dir() || folder.join(format!("{root}.py")).is_file())
        })
    }

    /// The file that an import of this dotted name finds on disk.
    pub fn file_of(&self, dotted: &str) -> Option<String> {
        let parts: Vec<&str> = dotted.split('.').collect();
        if parts.iter().any(|part| part.is_empty() || part.contains(['/', '\\'])) {
            return None;
        }
        let inner = parts.join("/");
        let named = |search: &String| if search.is_empty() { inner.clone() } else { format!("{search}/{inner}") };
        let mut files =
            self.search.iter().map(named).flat_map(|path| [format!("{path}/{INITIAL}"), format!("{path}.py")]);
        files.find(|file| self.folder.join(file).is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        folder
    }

    fn placed(files: &[&str], file: &str) -> (String, Vec<String>) {
        let project = project(files);
        let place = ModulePath::of(project.path(), file);
        (place.name, place.search)
    }

    #[test]
    fn a_project_holds_the_packages_and_modules_that_its_imports_find() {
        let project = project(&["src/shop/__init__.py", "src/shop/cart.py", "setup.py", "notes/read.txt"]);
        let from = ModulePath::of(project.path(), "src/shop/cart.py");
        for name in ["shop", "shop.cart.price", "setup", "notes"] {
            assert!(from.finds(name), "{name}");
        }
        for name in ["json", "cart", "", "..", "/"] {
            assert!(!from.finds(name), "{name}");
        }
    }

    #[test]
    fn a_module_is_named_by_the_packages_around_it() {
        let flat = ["shop/__init__.py", "shop/cart.py", "shop/tax/__init__.py", "shop/tax/rates.py"];
        assert_eq!(placed(&flat, "shop/cart.py"), ("shop.cart".into(), vec![String::new()]));
        assert_eq!(placed(&flat, "shop/tax/rates.py").0, "shop.tax.rates");
        assert_eq!(placed(&flat, "shop/tax/__init__.py").0, "shop.tax");
        assert_eq!(placed(&flat, "shop/__init__.py").0, "shop");
    }

    #[test]
    fn other_modules_are_found_by_their_names() {
        let project = project(&["src/shop/__init__.py", "src/shop/cart.py", "src/shop/tax/rates.py", "tools.py"]);
        let own = ModulePath::of(project.path(), "src/shop/cart.py");
        for (dotted, file) in
            [("shop.tax.rates", "src/shop/tax/rates.py"), ("shop", "src/shop/__init__.py"), ("tools", "tools.py")]
        {
            assert_eq!(own.file_of(dotted).as_deref(), Some(file));
        }
        for other in ["shop.none", "shop.tax", "", "shop..cart", "../tools"] {
            assert_eq!(own.file_of(other), None, "{other}");
        }
    }

    #[test]
    fn imports_look_where_the_outermost_package_lies() {
        let inner = ["src/shop/__init__.py", "src/shop/cart.py"];
        assert_eq!(placed(&inner, "src/shop/cart.py"), ("shop.cart".into(), vec!["src".into(), String::new()]));
        let deep = ["python/lib/shop/__init__.py", "python/lib/shop/cart.py", "src/main.c"];
        let expected = vec!["python/lib".into(), "src".into(), String::new()];
        assert_eq!(placed(&deep, "python/lib/shop/cart.py"), ("shop.cart".into(), expected));
    }

    #[test]
    fn without_a_package_imports_look_beside_the_file() {
        let files = ["tools/report.py", "tools/dates.py"];
        assert_eq!(placed(&files, "tools/report.py"), ("tools.report".into(), vec!["tools".into(), String::new()]));
        assert_eq!(placed(&["main.py"], "main.py"), ("main".into(), vec![String::new()]));
        assert_eq!(placed(&["src/space/one.py"], "src/space/one.py").0, "space.one");
    }
}
