//! The file that a test is given instead of one of the versions (`TWINCELL_SUBJECT`): with names of its own, or among those of
//! the test.

use std::fmt::Write;

use twincell_syntax::{PerSide, Side, imports_others};

use super::writer::Writer;

/// The name of the function below.
pub(super) const NAMES_OF: &str = "names_of";
/// Runs a file as a module of the packages around it, where its relative imports start; `runpy` takes it for a script. It is
/// not imported by its name, which another module may have.
const OF_PACKAGE: &str = r#"def names_of(path):
    """The names of a file, which may import from the packages around it."""
    import pathlib
    import sys
    import types

    path = pathlib.Path(path).resolve()
    folder, packages = path.parent, []
    while (folder / "__init__.py").exists():
        folder, packages = folder.parent, [folder.name, *packages]
    sys.path.insert(0, str(folder))
    name = ".".join([*packages, "twincell_subject"])
    module = sys.modules[name] = types.ModuleType(name)
    module.__package__, module.__file__ = ".".join(packages), str(path)
    exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), vars(module))
    return vars(module)


"#;

impl Writer<'_> {
    /// What a test needs for the names of the file `name`: a function, with the lines below it, and the call. In a
    /// repository, relative imports are known by their whole path, so only what is of the standard library needs no package.
    pub(super) fn names_of_file(&self) -> (&'static str, &'static str) {
        if Side::BOTH.into_iter().any(|side| imports_others(self.case.modules[side])) {
            (OF_PACKAGE, "names_of(name)")
        } else {
            ("", "runpy.run_path(name)")
        }
    }

    /// Runs the file that the test is given instead of a version, as a part of the packages around it. It is not imported,
    /// since its names must be those of the test, where stand-ins are.
    pub(super) fn given_file(&self, modules: &PerSide<String>) -> String {
        let mut text = String::from(
            "    if SUBJECT not in ('old', 'new'):\n        folders = pathlib.Path(SUBJECT).resolve().parents\n        \
             packages = list(itertools.takewhile(lambda folder: (folder / '__init__.py').exists(), folders))\n        \
             if packages:  # relative imports start there\n            \
             sys.path.insert(0, str(packages[-1].parent))\n            \
             names['__package__'] = '.'.join(folder.name for folder in reversed(packages))\n        \
             with open(SUBJECT) as file:\n            exec(compile(file.read(), SUBJECT, 'exec'), names)\n",
        );
        let injected = self.injected(modules);
        if !injected.is_empty() {
            let _ = writeln!(text, "        for name in ({},):", injected.join(", "));
            text.push_str("            names.pop(name, None)  # as everywhere in this test, it is a stand-in\n");
        }
        text
    }
}
