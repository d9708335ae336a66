//! What the project's model (`semantic`) says at the places of a text: what names stand for, and who calls whom.

use std::sync::Arc;

use ruff_text_size::TextRange;
use rustc_hash::{FxHashMap, FxHashSet};
use twincell_semantic::{
    Ancestor, CallKind, Callee, Code, ModuleId, Project, Referent, SymbolId, SymbolKind, ancestors, calls, overrides,
    references, uses,
};

use super::declare::Declared;
use super::source::Source;
use crate::program::ProcedureId;

/// A project while it is lowered.
pub(super) struct World<'a> {
    pub project: &'a Project,
    pub sources: &'a [Source<'a>],
    pub paths: Vec<Arc<str>>,
    pub declared: Declared<'a>,
    /// Some class has methods for operators, indexing, comparison, text or truth.
    pub has_operators: bool,
    by_module: FxHashMap<ModuleId, usize>,
    /// What a reference stands for, by module and offset.
    sites: FxHashMap<(usize, u32), Vec<Referent>>,
    edges: Edges,
}

/// The procedures that a function or class body may call, and how, by module and name.
type Edges = FxHashMap<(usize, Arc<str>), Vec<(CallKind, ProcedureId)>>;

/// What a callee is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Procedure(ProcedureId),
    Class(SymbolId),
    External(Arc<str>),
}

impl<'a> World<'a> {
    pub fn new(project: &'a Project, sources: &'a [Source<'a>], declared: Declared<'a>) -> Self {
        let by_module: FxHashMap<ModuleId, usize> =
            sources.iter().enumerate().map(|(at, source)| (source.module, at)).collect();
        let has_operators = declared.methods.keys().any(|name| {
            name.starts_with("__") && name.ends_with("__") && !["__init__", "__new__", "__enter__"].contains(&&**name)
        });
        let paths = sources.iter().map(|source| project.path(source.module).into()).collect();
        let mut world = Self {
            project,
            sources,
            paths,
            declared,
            has_operators,
            by_module,
            sites: Default::default(),
            edges: Default::default(),
        };
        world.sites = world.find_sites();
        world.edges = world.find_edges();
        world
    }

    fn find_sites(&self) -> FxHashMap<(usize, u32), Vec<Referent>> {
        let mut referents: FxHashSet<Referent> = self.project.symbols().map(Referent::Symbol).collect();
        for symbol in self.project.symbols() {
            referents.extend(uses(self.project, symbol).iter().map(|(referent, _)| referent.clone()));
        }
        let mut sites: FxHashMap<(usize, u32), Vec<Referent>> = FxHashMap::default();
        for referent in referents {
            for place in references(self.project, &referent) {
                if let Some(module) = self.by_module.get(&place.module) {
                    sites.entry((*module, place.range.0)).or_default().push(referent.clone());
                }
            }
        }
        for found in sites.values_mut() {
            found.sort();
            found.dedup();
        }
        sites
    }

    fn find_edges(&self) -> Edges {
        let mut edges = Edges::default();
        for edge in calls(self.project) {
            let Callee::Code(callee) = edge.callee else { continue };
            let Some(caller) = self.by_module.get(&edge.caller.module()) else { continue };
            let key = (*caller, without_numbers(&edge.caller.qualname(self.project)));
            let found = edges.entry(key).or_default();
            found.extend(self.procedures_of(callee).into_iter().map(|one| (edge.kind, one)));
        }
        for found in edges.values_mut() {
            found.sort();
            found.dedup();
        }
        edges
    }

    fn procedures_of(&self, code: Code) -> Vec<ProcedureId> {
        let Some(module) = self.by_module.get(&code.module()) else { return Vec::new() };
        let name = without_numbers(&code.qualname(self.project));
        match name.strip_suffix("<lambda>") {
            Some(holder) => self.declared.lambdas.get(&(*module, Arc::from(holder))).cloned().unwrap_or_default(),
            None => self.declared.named.get(&(*module, name)).cloned().unwrap_or_default(),
        }
    }

    /// The procedures that code may call in this way, as far as values are followed.
    pub fn called_from(&self, module: usize, owner: &Arc<str>, kind: CallKind) -> Vec<ProcedureId> {
        let edges = self.edges.get(&(module, owner.clone())).map_or(&[][..], |edges| edges);
        edges.iter().filter(|(one, _)| *one == kind).map(|(_, procedure)| *procedure).collect()
    }

    /// What the reference at a place stands for.
    pub fn referents(&self, module: usize, range: TextRange) -> &[Referent] {
        self.sites.get(&(module, range.start().to_u32())).map_or(&[], |found| found)
    }

    /// What is called at a reference, or nothing if that is not known.
    pub fn targets(&self, module: usize, range: TextRange, is_attribute: bool) -> Vec<Target> {
        let mut found = Vec::new();
        for referent in self.referents(module, range) {
            match referent {
                Referent::External(path) => found.push(Target::External(path.clone())),
                Referent::Symbol(symbol) => match self.project.symbol(*symbol).map(|symbol| symbol.kind) {
                    Some(SymbolKind::Class) => found.push(Target::Class(*symbol)),
                    Some(SymbolKind::Function | SymbolKind::Method) => {
                        found.extend(self.procedures(*symbol).into_iter().map(Target::Procedure));
                        if is_attribute {
                            let below = overrides(self.project, *symbol);
                            found.extend(below.into_iter().flat_map(|one| self.procedures(one)).map(Target::Procedure));
                        }
                    }
                    // A variable: what it holds is not known by name.
                    _ => return Vec::new(),
                },
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// The definitions of a function.
    pub fn procedures(&self, symbol: SymbolId) -> Vec<ProcedureId> {
        let Some(module) = self.by_module.get(&symbol.module()) else { return Vec::new() };
        let name = self.project.name(symbol).qualname;
        self.declared.named.get(&(*module, name)).cloned().unwrap_or_default()
    }

    /// What makes the objects of a class: its own or inherited methods of a name.
    pub fn makers(&self, class: SymbolId, method: &str) -> Vec<ProcedureId> {
        for ancestor in ancestors(self.project, class).iter() {
            let Ancestor::Class(class) = ancestor else { continue };
            let Some(module) = self.by_module.get(&class.module()) else { continue };
            let name: Arc<str> = format!("{}.{method}", self.project.name(*class).qualname).into();
            if let Some(found) = self.declared.named.get(&(*module, name)) {
                return found.clone();
            }
        }
        Vec::new()
    }

    /// Whether a class inherits from something that is not of the project.
    pub fn is_foreign(&self, class: SymbolId) -> bool {
        let known = |path: &str| ["builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"].contains(&path);
        ancestors(self.project, class).iter().any(|one| matches!(one, Ancestor::External(path) if !known(path)))
    }

    /// The body of a module.
    pub fn body_of(&self, module: ModuleId) -> Option<ProcedureId> {
        let module = self.by_module.get(&module)?;
        self.declared.named.get(&(*module, Arc::from("")))?.first().copied()
    }
}

/// The name of a piece of code with `<lambda>` for `<lambda3>`.
fn without_numbers(name: &str) -> Arc<str> {
    let mut parts = name.split("<lambda");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("<lambda");
        out.push_str(part.trim_start_matches(|character: char| character.is_ascii_digit()));
    }
    out.into()
}
