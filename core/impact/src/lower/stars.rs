//! `from module import *` of the project's own modules: the names that it brings, which bodies of modules bind without naming
//! them.

use std::sync::Arc;

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Expr, Stmt, StmtImportFrom};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};
use twincell_semantic::{ModuleId, Project, Referent, exports, references};

use super::source::Source;

/// The names that modules bring to others by `import *`, and those that they get that way, by the numbers of modules.
#[derive(Debug, Default)]
pub(super) struct Stars {
    brought: FxHashMap<usize, Vec<Arc<str>>>,
    into: FxHashMap<usize, Vec<usize>>,
}

impl Stars {
    /// `bound` says what the body of a module binds by itself.
    pub fn of(project: &Project, sources: &[Source<'_>], bound: impl Fn(usize) -> Vec<String>) -> Self {
        let by_module: FxHashMap<ModuleId, usize> =
            sources.iter().enumerate().map(|(at, source)| (source.module, at)).collect();
        let places: Vec<Vec<TextRange>> = sources.iter().map(|source| star_imports(source.body)).collect();
        let mut stars = Self::default();
        if places.iter().all(Vec::is_empty) {
            return stars;
        }
        for symbol in project.symbols().filter(|symbol| symbol.is_module()) {
            let Some(target) = by_module.get(&symbol.module()) else { continue };
            for place in references(project, &Referent::Symbol(symbol)) {
                if let Some(from) = by_module.get(&place.module)
                    && places[*from].iter().any(|range| range.start().to_u32() == place.range.0)
                {
                    stars.into.entry(*from).or_default().push(*target);
                }
            }
        }
        let targets: FxHashSet<usize> = stars.into.values().flatten().copied().collect();
        for target in targets {
            let mut names: Vec<Arc<str>> = exports(project, sources[target].module);
            let mut seen = FxHashSet::from_iter([target]);
            let mut open = vec![target];
            while let Some(next) = open.pop() {
                // `__all__` may be made in parts, so it takes nothing away.
                let is_name = |name: &String| !(name.starts_with("__") && name.ends_with("__"));
                names.extend(bound(next).into_iter().filter(is_name).map(Arc::from));
                let below = stars.into.get(&next).into_iter().flatten();
                open.extend(below.copied().filter(|one| seen.insert(*one)));
            }
            names.sort();
            names.dedup();
            stars.brought.insert(target, names);
        }
        stars
    }

    /// The names that `import *` of a module may bring.
    pub fn brought_by(&self, module: usize) -> &[Arc<str>] {
        self.brought.get(&module).map_or(&[], |names| names)
    }

    /// The names that a module may get by `import *`.
    pub fn got_by(&self, module: usize) -> impl Iterator<Item = &Arc<str>> {
        self.into.get(&module).into_iter().flatten().flat_map(|from| self.brought_by(*from))
    }
}

/// Where a module is named whose names are all imported.
fn star_imports(body: &[Stmt]) -> Vec<TextRange> {
    #[derive(Default)]
    struct Finder(Vec<TextRange>);

    impl<'a> SourceOrderVisitor<'a> for Finder {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            match stmt {
                Stmt::ImportFrom(import) if import.names.iter().any(|alias| &alias.name == "*") => {
                    self.0.push(named_in(import));
                }
                Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
                _ => source_order::walk_stmt(self, stmt),
            }
        }

        fn visit_expr(&mut self, _: &'a Expr) {}
    }

    let mut finder = Finder::default();
    finder.visit_body(body);
    finder.0
}

/// Where an import names its module.
pub(super) fn named_in(import: &StmtImportFrom) -> TextRange {
    import.module.as_ref().map_or(import.range, |module| module.range())
}
