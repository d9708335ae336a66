//! What an import fails at, from texts alone: a module that is not there, a name that a module does not have, a name that
//! nothing binds, text that does not parse.
//!
//! Only what an import evaluates in any case is looked at, so a missing name ends it with an error. What code does to modules that
//! their texts do not say (`sys.modules`, `globals()`, `__getattr__`) makes the answer empty only where it is seen. So the answer is what
//! probably fails, and whoever builds on it has a run confirm it.

use std::collections::VecDeque;
use std::sync::Arc;

use ruff_text_size::{TextRange, TextSize};
use rustc_hash::FxHashSet;
use twincell_syntax::parse::Lines;
use twincell_syntax::python::is_builtin;

use crate::answers::Referent;
use crate::ids::{ModuleId, NameId, ScopeId};
use crate::module::{Binding, Module, ModulePath, ScopeKind, Target};
use crate::project::Project;
use crate::resolve::{Trail, imported, name_in_scope};

/// Something that an import probably fails at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportFailure {
    /// The file in which it fails.
    pub path: Arc<str>,
    /// The line, from 1. That of text that does not parse is 0.
    pub line: u32,
    pub missing: Missing,
}

/// What is missing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// A whole text: this one does not parse.
    Text,
    /// A module, as an import names it or as it is called from outside.
    Module(Arc<str>),
    /// A name of a module of the project.
    Member { module: Arc<str>, name: Arc<str> },
    /// A name that nothing binds.
    Name(Arc<str>),
}

/// Names by which code changes what modules hold.
const DYNAMIC: [&str; 9] =
    ["__getattr__", "__dict__", "__path__", "__import__", "globals", "vars", "exec", "modules", "setattr"];
/// How many modules are followed.
const MAX_MODULES: usize = 5_000;

/// What an import of these modules fails at, in the order in which they are imported. `is_run` says of a path whether the
/// file there is what an import of its module finds; others are not looked at.
pub fn import_failures(project: &Project, modules: &[ModuleId], is_run: &dyn Fn(&str) -> bool) -> Vec<ImportFailure> {
    let mut query = Query { project, is_run, seen: FxHashSet::default(), open: VecDeque::new(), found: Vec::new() };
    modules.iter().for_each(|module| query.follow(*module));
    while let Some(module) = query.open.pop_front() {
        query.look_at(module);
    }
    query.found
}

struct Query<'a> {
    project: &'a Project,
    is_run: &'a dyn Fn(&str) -> bool,
    seen: FxHashSet<ModuleId>,
    open: VecDeque<ModuleId>,
    found: Vec<ImportFailure>,
}

impl Query<'_> {
    /// Whether the file of a module is what an import finds.
    fn is_certain(&self, module: ModuleId) -> bool {
        let path = self.project.path(module);
        path.ends_with(".py") && (self.is_run)(path)
    }

    fn follow(&mut self, module: ModuleId) {
        if self.seen.len() < MAX_MODULES && self.is_certain(module) && self.seen.insert(module) {
            self.open.push_back(module);
        }
    }

    fn look_at(&mut self, module: ModuleId) {
        let Some(text) = self.project.module(module) else { return };
        if text.is_broken && !text.is_unread {
            self.found.push(ImportFailure { path: self.project.path(module).into(), line: 0, missing: Missing::Text });
            return;
        }
        // Where the last reference ended and the module that it stands for.
        let mut before: (TextSize, Option<ModuleId>) = (TextSize::new(u32::MAX), None);
        for reference in &text.references {
            let mut stands_for = None;
            let is_sure = !reference.is_store && text.is_sure(reference.scope, reference.range);
            let missing = match reference.target {
                Target::Import(path) => {
                    stands_for = imported(self.project, module, path);
                    if is_sure { self.module(module, text, path) } else { None }
                }
                Target::ImportFrom(path, name) => {
                    if is_sure {
                        self.member(module, text, path, name)
                    } else {
                        None
                    }
                }
                Target::Name(name) => {
                    stands_for = self.named(module, reference.scope, name);
                    let is_missing = is_sure && self.is_unbound(text, reference.scope, name);
                    is_missing.then(|| Missing::Name(text.name(name).into()))
                }
                Target::Attribute(_, name) => match before {
                    (end, Some(object)) if end.checked_add(TextSize::new(1)) == Some(reference.range.start()) => {
                        let name = text.name(name);
                        stands_for = self.project.layout.submodule(object, name);
                        if is_sure { self.missing_in(object, name) } else { None }
                    }
                    _ => None,
                },
            };
            before = (reference.range.end(), stands_for);
            if let Some(missing) = missing {
                self.found.push(self.failure(module, reference.range, missing));
            }
        }
    }

    fn failure(&self, module: ModuleId, range: TextRange, missing: Missing) -> ImportFailure {
        let path: Arc<str> = self.project.path(module).into();
        let place = self.project.layout.places.get(module.0 as usize);
        let text = place.and_then(|place| self.project.files().text(&path, place.content?));
        let text = text.as_deref().map(twincell_syntax::parse::normalize_newlines).unwrap_or_default();
        ImportFailure { path, line: Lines::new(&text).line(range.start()) as u32, missing }
    }

    /// `import a.b.c` imports all three.
    fn module(&mut self, from: ModuleId, text: &Module, path: ModulePath) -> Option<Missing> {
        let dotted = text.name(path.dotted);
        let mut package = None;
        if path.level > 0 {
            package = Some(self.project.layout.relative(from, path.level, "")?);
        }
        let parts = dotted.match_indices('.').map(|(at, _)| at).chain([dotted.len()]);
        for end in parts.filter(|end| *end > 0) {
            let name = &dotted[..end];
            let found = match path.level {
                0 => self.project.layout.absolute(from, name),
                level => self.project.layout.relative(from, level, name),
            };
            let Some(module) = found else {
                // Others may provide what stands in no package of the project.
                let package = package.filter(|package| self.is_plain(*package))?;
                let last = name.rsplit('.').next().unwrap_or(name);
                return Some(Missing::Module(format!("{}.{last}", self.project.module_name(package)).into()));
            };
            self.follow(module);
            package = Some(module);
        }
        None
    }

    /// `from a.b import name`, whose module has a reference of its own before it.
    fn member(&mut self, from: ModuleId, text: &Module, path: ModulePath, name: NameId) -> Option<Missing> {
        let module = imported(self.project, from, path)?;
        let name = text.name(name);
        if let Some(submodule) = self.project.layout.submodule(module, name) {
            self.follow(submodule);
            return None;
        }
        self.missing_in(module, name)
    }

    /// The name of a module that surely does not have it.
    fn missing_in(&self, module: ModuleId, name: &str) -> Option<Missing> {
        let is_special = name.starts_with("__") && name.ends_with("__");
        let has = !is_special && self.has(module, name, &mut FxHashSet::default())?;
        let missing = || Missing::Member { module: self.project.module_name(module).into(), name: name.into() };
        (!is_special && !has).then(missing)
    }

    /// Whether a module has a name, or nothing where nobody can tell.
    fn has(&self, module: ModuleId, name: &str, seen: &mut FxHashSet<ModuleId>) -> Option<bool> {
        if !seen.insert(module) {
            return Some(false);
        }
        if !self.is_plain(module) {
            return None;
        }
        let text = self.project.module(module)?;
        // `from . import name` in a package does not bring what it looks for.
        let brings = |binding: &Binding| match binding {
            Binding::From(path, other) => {
                text.name(*other) != name || imported(self.project, module, *path) != Some(module)
            }
            _ => true,
        };
        let is_bound = |id| {
            text.scopes.first().and_then(|scope| scope.bindings.get(&id)).is_some_and(|all| all.iter().any(brings))
        };
        if text.name_id(name).is_some_and(is_bound) || self.project.layout.submodule(module, name).is_some() {
            return Some(true);
        }
        for star in &text.stars {
            if self.has(imported(self.project, module, *star)?, name, seen)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether a module is a file that an import finds, and nothing but what its text says changes what it holds.
    fn is_plain(&self, module: ModuleId) -> bool {
        let text = self.project.module(module).filter(|text| !text.is_broken && !text.is_unread);
        self.is_certain(module) && text.is_some_and(|text| DYNAMIC.iter().all(|name| text.name_id(name).is_none()))
    }

    fn named(&self, module: ModuleId, scope: ScopeId, name: NameId) -> Option<ModuleId> {
        match name_in_scope(self.project, module, scope, name, &mut Trail::default()).as_slice() {
            [Referent::Symbol(symbol)] if symbol.is_module() => Some(symbol.module()),
            _ => None,
        }
    }

    fn is_unbound(&self, text: &Module, scope: ScopeId, name: NameId) -> bool {
        let plain = text.name(name);
        if is_builtin(plain)
            || plain.starts_with("__")
            || !text.stars.is_empty()
            || DYNAMIC.iter().any(|name| text.name_id(name).is_some())
        {
            return false;
        }
        let mut next = Some(scope);
        while let Some((at, current)) = next.and_then(|at| Some((at, text.scope(at)?))) {
            let is_visible = at == scope || current.kind != ScopeKind::Class;
            if is_visible && current.bindings.contains_key(&name) {
                return false;
            }
            next = current.parent;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryFiles, Store};

    fn failures(files: &[(&str, &str)]) -> Vec<(String, u32, Missing)> {
        let files: MemoryFiles = files.iter().copied().collect();
        let project = Project::open(files, &Store::new());
        let tests = project.module_at("tests/test_a.py").unwrap();
        let found = import_failures(&project, &[tests], &|path| path != "pkg/other.py");
        found.into_iter().map(|one| (one.path.to_string(), one.line, one.missing)).collect()
    }

    fn member(module: &str, name: &str) -> Missing {
        Missing::Member { module: module.into(), name: name.into() }
    }

    #[test]
    fn what_is_missing_is_found_along_the_imports() {
        let found = failures(&[
            ("pkg/__init__.py", "from .a import f, g\nfrom . import gone\n"),
            ("pkg/a.py", "import pkg.b\nfrom pkg.lost import x\ndef f(): return pkg.b.never\nclass A(Base): pass\n"),
            ("pkg/b.py", "from pkg.c import *\nONE = 1\nTWO = THREE = ONE\nX = pkg\n"),
            ("pkg/c.py", "def late(): pass\n"),
            ("pkg/broken.py", "def (:\n"),
            (
                "tests/test_a.py",
                "import os\nfrom pkg.b import late, TWO, FOUR\nimport pkg.broken\nprint(os.f, pkg.b.FIVE, pkg.a.f)\n",
            ),
        ]);
        let expected = [
            ("tests/test_a.py", 2, member("pkg.b", "FOUR")),
            ("tests/test_a.py", 4, member("pkg.b", "FIVE")),
            ("pkg/__init__.py", 1, member("pkg.a", "g")),
            ("pkg/__init__.py", 2, member("pkg", "gone")),
            ("pkg/broken.py", 0, Missing::Text),
            ("pkg/a.py", 2, Missing::Module("pkg.lost".into())),
            ("pkg/a.py", 4, Missing::Name("Base".into())),
        ];
        for (path, line, missing) in &expected {
            assert!(found.contains(&((*path).to_owned(), *line, missing.clone())), "{path} {missing:?} in {found:?}");
        }
        assert_eq!(found.len(), expected.len(), "{found:?}");
    }

    #[test]
    fn what_may_be_provided_otherwise_is_not_missing() {
        let found = failures(&[
            ("pkg/__init__.py", "try:\n    from .a import g\nexcept ImportError:\n    g = None\n"),
            (
                "pkg/a.py",
                "if g:\n    from pkg.lost import x\nX = True or y\ndef f(a: Missing = 1) -> Missing: return z\nw: Missing = 1\n",
            ),
            ("pkg/lazy.py", "def __getattr__(name): return name\n"),
            ("pkg/more.py", "globals().update(a=1)\n"),
            ("pkg/star.py", "from os.path import *\nprint(join)\n"),
            ("pkg/other.py", ""),
            ("space/inner.py", ""),
            (
                "tests/test_a.py",
                "import pkg.a, pkg.star\nfrom pkg.lazy import x\nfrom pkg.more import a\nfrom pkg.star import join\nfrom pkg.other import q\n\
                 from space import lost\nimport elsewhere\nfrom pkg import __version__\nV = [v for v in missing_or_not]\nprint(__file__, pkg.more.b)\n",
            ),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }
}
