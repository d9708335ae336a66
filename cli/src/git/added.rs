//! New files that replace functions of others: those that Python or pytest run by themselves, and those that changed files import.

use std::collections::BTreeSet;
use std::path::Path;

use twincell_compare::Source;
use twincell_driver::notebook;
use twincell_syntax::{AfterCells, Replacing, absolute_imports, imported_modules, replacing};

use super::ChangedFile;

/// The modules that nobody has to import.
const BY_THEMSELVES: [&str; 3] = ["conftest", "sitecustomize", "usercustomize"];

/// A package so deep that relative imports stay in it, with parts that no file has for a name.
const PACKAGE: &str = "__.__.__.__.__.__";

/// The first statement of each of these new files, by their paths, that may replace functions of other modules, with the
/// number of further ones. `read` gives the new text of a file.
pub fn replacing_others(
    added: &[String],
    modified: &[ChangedFile],
    read: impl Fn(&str) -> Option<Source>,
) -> Vec<(String, Replacing, usize)> {
    let mut imported: BTreeSet<String> = BTreeSet::new();
    let mut note = |source: &Source| {
        let code = if source.is_notebook { notebook::code(&source.text) } else { None };
        let text = code.as_ref().unwrap_or(&source.text);
        let modules = imported_modules(&absolute_imports(text, PACKAGE));
        imported.extend(modules.iter().flat_map(|dotted| dotted.split('.')).map(str::to_owned));
    };
    modified.iter().for_each(|file| note(&file.new));
    added.iter().filter_map(|path| read(path)).for_each(|source| note(&source));
    let of_file = |path: &String| {
        let file = Path::new(path);
        let is_package = file.file_stem()? == "__init__";
        let module = if is_package { file.parent()?.file_name()? } else { file.file_stem()? }.to_str()?;
        let is_by_itself = BY_THEMSELVES.contains(&module);
        if file.extension()? != "py" || !is_by_itself && !imported.contains(module) {
            return None;
        }
        let text = read(path)?.text;
        let mut found = replacing(AfterCells::default(), AfterCells { text: &text, ..AfterCells::default() }).new;
        // What it does to functions of its own is new as they are.
        found.retain(|one| is_by_itself || one.target.is_some());
        let more = found.len().checked_sub(1)?;
        Some((path.clone(), found.swap_remove(0), more))
    };
    added.iter().filter_map(of_file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_imported_or_runs_by_itself_is_named() {
        let patch = "import shop.tax\nshop.tax.rate = lambda: 0\n";
        let cell = r#"{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "id": "a",
            "metadata": {}, "outputs": [], "execution_count": null, "source": ["import patches"]}]}"#;
        let found = |added: &[(&str, &str)]| -> Vec<(String, Option<String>)> {
            let paths: Vec<String> = added.iter().map(|(path, _)| (*path).to_owned()).collect();
            let read = |path: &str| {
                let (_, text) = added.iter().find(|(other, _)| *other == path)?;
                Some(Source { text: (*text).to_owned(), is_notebook: path.ends_with(".ipynb"), ..Source::default() })
            };
            replacing_others(&paths, &[], read).into_iter().map(|(path, one, _)| (path, one.target)).collect()
        };
        let target = Some("shop.tax".to_owned());
        assert_eq!(found(&[("patches.py", patch)]), []);
        assert_eq!(found(&[("tests/conftest.py", patch)]), [("tests/conftest.py".to_owned(), target.clone())]);
        for user in [("shop/main.py", "from . import patches\n"), ("notes.ipynb", cell)] {
            assert_eq!(found(&[("shop/patches.py", patch), user]), [("shop/patches.py".to_owned(), target.clone())]);
        }
        assert_eq!(found(&[("conftest.py", "def f():\n    pass\n")]), []);
        // An import from the own package brings none of another name along.
        assert_eq!(found(&[("scripts/c.py", patch), ("shop/main.py", "from . import x\n")]), []);
    }
}
