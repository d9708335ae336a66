//! New files that replace functions of others: those that Python or pytest run by themselves, and those that changed files import.

use std::collections::BTreeSet;
use std::path::Path;

use twincell_syntax::{AfterCells, Replacing, absolute_imports, imported_modules, replacing};

use super::ChangedFile;

/// The modules that nobody has to import.
const BY_THEMSELVES: [&str; 3] = ["conftest", "sitecustomize", "usercustomize"];

/// A package so deep that relative imports stay in it.
const PACKAGE: &str = "a.b.c.d.e.f";

/// The first statement of each of these new files, by their paths, that may replace functions of other modules, with the
/// number of further ones.
pub fn replacing_others(added: Vec<(String, String)>, modified: &[ChangedFile]) -> Vec<(String, Replacing, usize)> {
    let texts = modified.iter().map(|file| &file.new.text).chain(added.iter().map(|(_, text)| text));
    let of_text = |text: &String| imported_modules(&absolute_imports(text, PACKAGE));
    let imported: BTreeSet<String> = texts.flat_map(of_text).collect();
    let is_imported = |module: &str| imported.iter().any(|dotted| dotted.split('.').any(|part| part == module));
    let of_file = |(path, text): &(String, String)| {
        let path = Path::new(path);
        let is_package = path.file_stem()? == "__init__";
        let module = if is_package { path.parent()?.file_name()? } else { path.file_stem()? }.to_str()?;
        let is_by_itself = BY_THEMSELVES.contains(&module);
        if path.extension()? != "py" || !is_by_itself && !is_imported(module) {
            return None;
        }
        let mut found = replacing(AfterCells::default(), AfterCells { text, ..AfterCells::default() }).new;
        // What it does to functions of its own is new as they are.
        found.retain(|one| is_by_itself || one.target.is_some());
        let more = found.len().checked_sub(1)?;
        Some((path.to_string_lossy().into_owned(), found.swap_remove(0), more))
    };
    added.iter().filter_map(of_file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_imported_or_runs_by_itself_is_named() {
        let patch = "import shop.tax\nshop.tax.rate = lambda: 0\n";
        let added = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        let found = |added: Vec<(String, String)>| -> Vec<(String, Option<String>)> {
            replacing_others(added, &[]).into_iter().map(|(path, one, _)| (path, one.target)).collect()
        };
        let target = Some("shop.tax".to_owned());
        assert_eq!(found(vec![added("patches.py", patch)]), []);
        assert_eq!(found(vec![added("tests/conftest.py", patch)]), [("tests/conftest.py".to_owned(), target.clone())]);
        let both = vec![added("shop/patches.py", patch), added("shop/main.py", "from . import patches\n")];
        assert_eq!(found(both), [("shop/patches.py".to_owned(), target)]);
        assert_eq!(found(vec![added("conftest.py", "def f():\n    pass\n")]), []);
    }
}
