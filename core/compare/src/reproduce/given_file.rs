//! The file that a test is given instead of one of the versions (`TWINCELL_SUBJECT`), in the style of `direct.rs`.

use twincell_syntax::python::is_of_stdlib;
use twincell_syntax::{Side, has_relative_imports, imports};

use super::file::Writer;

/// The name of the function below.
pub(super) const NAMES_OF: &str = "names_of";
/// Relative imports work only in a module that is imported by its packages, which `runpy` does not do.
const OF_PACKAGE: &str = r#"def names_of(path):
    """The names of a file, which is imported as a module of its packages."""
    import importlib
    import pathlib
    import sys

    path = pathlib.Path(path).resolve()
    folder, name = path.parent, path.stem
    while (folder / "__init__.py").exists():
        folder, name = folder.parent, f"{folder.name}.{name}"
    sys.path.insert(0, str(folder))
    return vars(importlib.import_module(name))


"#;

impl Writer<'_> {
    /// What a test needs for the names of the file `name`: a function, with the lines below it, and the call.
    pub(super) fn names_of_file(&self) -> (&'static str, &'static str) {
        if Side::BOTH.into_iter().any(|side| may_be_of_package(self.case.modules[side])) {
            (OF_PACKAGE, "names_of(name)")
        } else {
            ("", "runpy.run_path(name)")
        }
    }
}

/// Whether a module may import from the packages around it. In a repository, relative imports are known by their whole path,
/// which says no more than that it is not the standard library.
fn may_be_of_package(module: &str) -> bool {
    let is_other = |target: &str| target.split('.').next().is_some_and(|root| !is_of_stdlib(root));
    has_relative_imports(module) || imports(module).values().any(|import| is_other(&import.target))
}
