//! New files that replace functions of others: those that Python or pytest run by themselves, and those that changed files import.

use std::collections::BTreeSet;
use std::path::Path;

use twincell_compare::Source;
use twincell_driver::notebook;
use twincell_syntax::{AfterCells, Replacing, absolute_imports, modules_imported_anywhere, replacing, texts};

use super::ChangedFile;

/// The modules that nobody has to import.
const BY_THEMSELVES: [&str; 3] = ["conftest", "sitecustomize", "usercustomize"];

/// The variable with the names of modules that pytest imports.
const PLUGINS: &str = "pytest_plugins";

/// A package so deep that relative imports stay in it, with parts that no file has for a name.
const PACKAGE: &str = "__.__.__.__.__.__";

/// What there is to say of new files, each with its path.
#[derive(Debug, Default)]
pub struct AddedFiles {
    /// The first statement of each file that may replace functions of other modules, with the number of further ones.
    pub replacing: Vec<(String, Replacing, usize)>,
    /// Why a file that runs by itself cannot be read.
    pub unreadable: Vec<(String, String)>,
}

/// Looks at new files beside the changed ones. `read` gives the new text of a file, or why there is none.
pub fn look_at(
    added: &[String],
    modified: &[ChangedFile],
    read: impl Fn(&str) -> Result<Source, String>,
) -> AddedFiles {
    let mut found = AddedFiles::default();
    if added.is_empty() {
        return found;
    }
    let sources: Vec<_> = added.iter().map(|path| (path, read(path))).collect();
    let mut imported = BTreeSet::new();
    let new = sources.iter().filter_map(|(_, source)| source.as_ref().ok());
    modified.iter().map(|file| &file.new).chain(new).for_each(|source| imported.extend(parts_of_imports(source)));
    for (path, source) in sources {
        let Some(module) = module(path) else { continue };
        let is_by_itself = BY_THEMSELVES.contains(&module);
        let runs_first = is_by_itself || is_package_of(path, modified);
        match source {
            Err(reason) if runs_first => found.unreadable.push((path.clone(), reason)),
            Ok(Source { text, .. }) if runs_first || imported.contains(module) => {
                let mut ones =
                    replacing(AfterCells::default(), AfterCells { text: &text, ..AfterCells::default() }).new;
                // What it does to functions of its own is new as they are.
                ones.retain(|one| is_by_itself || one.target.is_some());
                if let Some(more) = ones.len().checked_sub(1) {
                    found.replacing.push((path.clone(), ones.swap_remove(0), more));
                }
            }
            _ => {}
        }
    }
    found
}

/// The names in the dotted paths of what a text imports, wherever it does.
fn parts_of_imports(source: &Source) -> BTreeSet<String> {
    let code = if source.is_notebook { notebook::code(&source.text) } else { None };
    let text = code.as_ref().unwrap_or(&source.text);
    let mut paths = modules_imported_anywhere(&absolute_imports(text, PACKAGE));
    if text.contains(PLUGINS) {
        // Which of its texts reach the variable is not looked at.
        paths.extend(texts(text));
    }
    paths.iter().flat_map(|dotted| dotted.split('.')).map(str::to_owned).collect()
}

/// The last name of the module that a file is.
fn module(path: &str) -> Option<&str> {
    let file = Path::new(path);
    let is_python = file.extension()? == "py";
    let is_package = file.file_stem()? == "__init__";
    // The root of a repository has no name here.
    let place = if is_package { file.parent()?.file_name().unwrap_or_default() } else { file.file_stem()? };
    place.to_str().filter(|_| is_python)
}

/// Whether a file makes a package of a folder with changed files, whose import runs it.
fn is_package_of(path: &str, modified: &[ChangedFile]) -> bool {
    let path = Path::new(path);
    let Some(folder) = path.parent().filter(|_| path.file_name().is_some_and(|name| name == "__init__.py")) else {
        return false;
    };
    modified.iter().any(|file| Path::new(&file.path).starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_imported_or_runs_by_itself_is_named() {
        let patch = "import shop.tax\nshop.tax.rate = lambda: 0\n";
        let cell = r#"{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "id": "a",
            "metadata": {}, "outputs": [], "execution_count": null, "source": ["import patches"]}]}"#;
        let changed = |path: &str, text: &str| ChangedFile {
            path: path.to_owned(),
            old_path: path.to_owned(),
            old: Source::default(),
            new: Source { text: text.to_owned(), ..Source::default() },
        };
        let beside = |added: &[(&str, &str)], modified: &[ChangedFile]| -> Vec<(String, Option<String>)> {
            let paths: Vec<String> = added.iter().map(|(path, _)| (*path).to_owned()).collect();
            let read = |path: &str| {
                let (_, text) = added.iter().find(|(other, _)| *other == path).ok_or("there is none")?;
                let is_notebook = path.ends_with(".ipynb");
                Ok(Source { text: (*text).to_owned(), is_notebook, ..Source::default() })
            };
            look_at(&paths, modified, read).replacing.into_iter().map(|(path, one, _)| (path, one.target)).collect()
        };
        let found = |added: &[(&str, &str)]| beside(added, &[]);
        let target = Some("shop.tax".to_owned());
        assert_eq!(found(&[("patches.py", patch)]), []);
        assert_eq!(found(&[("tests/conftest.py", patch)]), [("tests/conftest.py".to_owned(), target.clone())]);
        for user in [("shop/main.py", "from . import patches\n"), ("notes.ipynb", cell)] {
            assert_eq!(found(&[("shop/patches.py", patch), user]), [("shop/patches.py".to_owned(), target.clone())]);
        }
        assert_eq!(found(&[("conftest.py", "def f():\n    pass\n")]), []);
        // An import from the own package brings none of another name along.
        assert_eq!(found(&[("scripts/c.py", patch), ("shop/main.py", "from . import x\n")]), []);
        for user in [
            "def pay():\n    import patches\n",
            "def pay():\n    import shop.patches\n",
            "pytest_plugins = ['patches']\n",
            "pytest_plugins: tuple = 'shop.patches',\n",
        ] {
            let named = beside(&[("shop/patches.py", patch)], &[changed("conftest.py", user)]);
            assert_eq!(named, [("shop/patches.py".to_owned(), target.clone())], "{user}");
        }
        assert_eq!(beside(&[("patches.py", patch)], &[changed("a.py", "names = ['patches']\n")]), []);
        // The import of a changed module runs the packages that hold it.
        let package = [("shop/__init__.py", patch), ("shop/far/__init__.py", patch)];
        let named = beside(&package, &[changed("shop/near/cart.py", "x = 1\n")]);
        assert_eq!(named, [("shop/__init__.py".to_owned(), target)]);
    }

    #[test]
    fn what_runs_by_itself_and_cannot_be_read_is_named() {
        let changed = ChangedFile {
            path: "shop/cart.py".to_owned(),
            old_path: "shop/cart.py".to_owned(),
            old: Source::default(),
            new: Source { text: "import patches\n".to_owned(), ..Source::default() },
        };
        let paths = ["a/conftest.py", "patches.py", "shop/__init__.py", "sitecustomize.py", "usercustomize.py"];
        let reason = |path: &str| Err(format!("{path} is not UTF-8"));
        let found = look_at(&paths.map(str::to_owned), &[changed], reason).unreadable;
        let expected = ["a/conftest.py", "shop/__init__.py", "sitecustomize.py", "usercustomize.py"];
        assert_eq!(found, expected.map(|path| (path.to_owned(), format!("{path} is not UTF-8"))));
    }
}
