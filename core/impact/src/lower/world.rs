//! What the project's model (`semantic`) says at the places of a text: what names stand for, and who calls whom.

use std::sync::Arc;

use ruff_text_size::TextRange;
use rustc_hash::{FxHashMap, FxHashSet};
use twincell_semantic::{
    Ancestor, CallKind, Callee, Code, ModuleId, Project, Referent, SymbolId, SymbolKind, Value, always_has, ancestors,
    bases, calls, codes, is_function_given_away, is_given_away, overrides, references, subclasses, uses, values,
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
    /// The classes of methods.
    class_of: FxHashMap<ProcedureId, SymbolId>,
    methods_by_class: FxHashMap<SymbolId, Vec<ProcedureId>>,
    /// The number of each class, which those that inherit from one another share.
    families: FxHashMap<SymbolId, u32>,
    given_families: FxHashSet<u32>,
    classes: FxHashMap<(usize, Arc<str>), SymbolId>,
    /// What libraries may call at any time.
    called_from_outside: FxHashSet<ProcedureId>,
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
        let has_operators = has_operators || !declared.module_answers.is_empty();
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
            class_of: Default::default(),
            methods_by_class: Default::default(),
            families: Default::default(),
            given_families: Default::default(),
            classes: Default::default(),
            called_from_outside: Default::default(),
        };
        let is_class = |one: &SymbolId| project.symbol(*one).is_some_and(|one| one.kind == SymbolKind::Class);
        for class in project.symbols().filter(is_class) {
            let Some(module) = world.by_module.get(&class.module()).copied() else { continue };
            let qualname = project.name(class).qualname;
            let prefix = format!("{qualname}.");
            world.classes.insert((module, qualname), class);
            world.add_family(class);
            for (at, one) in world.declared.procedures.iter().enumerate().filter(|(_, one)| one.module == module) {
                if one.qualname.strip_prefix(&prefix).is_some_and(|rest| !rest.contains('.')) {
                    world.class_of.insert(ProcedureId(at as u32), class);
                    world.methods_by_class.entry(class).or_default().push(ProcedureId(at as u32));
                }
            }
        }
        let given = codes(project).filter(|code| is_function_given_away(project, *code));
        world.called_from_outside = given.flat_map(|code| world.procedures_of(code)).collect();
        for (procedure, class) in &world.class_of {
            let is_given = world.is_given_family(world.family(*class));
            let name = world.declared.procedures[procedure.index()].qualname.rsplit('.').next().unwrap_or_default();
            let is_special = name.starts_with("__") && name.ends_with("__");
            let is_own = ["__init__", "__new__"].contains(&name);
            // A library calls methods of its own classes, and special methods of objects that it got.
            if !is_own && (world.is_foreign(*class) || is_special && is_given) {
                world.called_from_outside.insert(*procedure);
            }
        }
        world.sites = world.find_sites();
        world.edges = world.find_edges();
        world
    }

    fn add_family(&mut self, class: SymbolId) {
        if self.families.contains_key(&class) {
            return;
        }
        let number = self.families.len() as u32 + 1;
        let mut open = vec![class];
        let mut is_given = false;
        while let Some(next) = open.pop() {
            if self.families.insert(next, number).is_some() {
                continue;
            }
            is_given |= is_given_away(self.project, next);
            let above = bases(self.project, next).into_iter().filter_map(|base| match base {
                Ancestor::Class(base) => Some(base),
                Ancestor::External(_) => None,
            });
            let related = above.chain(subclasses(self.project, next).iter().copied());
            open.extend(related.filter(|one| !self.families.contains_key(one)));
        }
        if is_given {
            self.given_families.insert(number);
        }
    }

    /// The number of the family of a class.
    pub fn family(&self, class: SymbolId) -> u32 {
        self.families.get(&class).copied().unwrap_or_default()
    }

    /// Whether something outside of the project gets objects of a family.
    pub fn is_given_family(&self, family: u32) -> bool {
        self.given_families.contains(&family)
    }

    /// The family of a class by its module and qualified name.
    pub fn family_at(&self, module: usize, qualname: &Arc<str>) -> Option<u32> {
        let class = self.classes.get(&(module, qualname.clone()))?;
        Some(self.family(*class))
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

    pub fn procedures_of(&self, code: Code) -> Vec<ProcedureId> {
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

    /// The class of a method.
    pub fn class_of(&self, method: ProcedureId) -> Option<SymbolId> {
        self.class_of.get(&method).copied()
    }

    /// The methods of a class, its ancestors and the classes below it that a library may call: all if the library may know an
    /// ancestor of the class, with those that make objects if it makes some, and else special methods.
    pub fn foreign_methods(&self, class: SymbolId, makes: bool) -> Vec<ProcedureId> {
        let is_foreign = self.is_foreign(class);
        let mut classes: Vec<SymbolId> = Vec::new();
        let mut open = vec![class];
        while let Some(next) = open.pop() {
            if !classes.contains(&next) {
                classes.push(next);
                open.extend(subclasses(self.project, next).iter().copied());
            }
        }
        classes.extend(ancestors(self.project, class).iter().filter_map(|one| match one {
            Ancestor::Class(one) => Some(*one),
            Ancestor::External(_) => None,
        }));
        let is_called = |one: &ProcedureId| {
            let name = self.declared.procedures[one.index()].qualname.rsplit('.').next().unwrap_or_default();
            match name {
                "__init__" | "__new__" => makes && is_foreign,
                name => is_foreign || name.starts_with("__") && name.ends_with("__"),
            }
        };
        let methods = classes.iter().filter_map(|one| self.methods_by_class.get(one)).flatten();
        methods.copied().filter(is_called).collect()
    }

    /// What an expression may be.
    pub fn values(&self, module: usize, range: TextRange) -> &'a [Value] {
        values(self.project, self.sources[module].module, (range.start().to_u32(), range.end().to_u32()))
    }

    /// The methods of a name that an object of a class may have: its own or inherited ones, and those of classes below it.
    pub fn methods_of(&self, class: SymbolId, name: &str) -> Vec<ProcedureId> {
        let mut found = self.makers(class, name);
        let mut seen = FxHashSet::from_iter([class]);
        let mut open = vec![class];
        while let Some(next) = open.pop() {
            for below in subclasses(self.project, next) {
                if seen.insert(*below) {
                    open.push(*below);
                    found.extend(self.makers(*below, name));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether every object of a class or of one below it has an attribute, whenever something looks it up.
    pub fn always_has(&self, class: SymbolId, name: &str) -> bool {
        let mut seen = FxHashSet::from_iter([class]);
        let mut open = vec![class];
        while let Some(next) = open.pop() {
            if !always_has(self.project, next, name) {
                return false;
            }
            open.extend(subclasses(self.project, next).iter().copied().filter(|one| seen.insert(*one)));
        }
        true
    }

    /// The classes of the project that have a method of a name and whose objects come out of what is outside.
    fn given_away(&self, name: &str) -> Vec<ProcedureId> {
        let own = self.declared.methods.get(name).map_or(&[][..], |all| all);
        let is_given = |one: &&ProcedureId| match self.class_of.get(one) {
            Some(class) => {
                let below = |class: SymbolId| subclasses(self.project, class).iter().copied();
                let mut seen = FxHashSet::from_iter([*class]);
                let mut open = vec![*class];
                while let Some(next) = open.pop() {
                    if is_given_away(self.project, next) {
                        return true;
                    }
                    open.extend(below(next).filter(|one| seen.insert(*one)));
                }
                false
            }
            None => true,
        };
        own.iter().filter(is_given).copied().collect()
    }

    /// The methods of a name that an expression of known values may have.
    pub fn methods_of_values(&self, values: &[Value], name: &str) -> Vec<ProcedureId> {
        let mut found = Vec::new();
        for value in values {
            match value {
                Value::Instance(class) => found.extend(self.methods_of(*class, name)),
                Value::External(_) | Value::Unknown => found.extend(self.given_away(name)),
                Value::Module(module) if name == "__getattr__" => {
                    let number = self.number_of(*module);
                    let all = self.declared.module_answers.iter().copied();
                    found.extend(all.filter(|one| Some(self.declared.procedures[one.index()].module) == number));
                }
                Value::Class(class) if name == "__class_getitem__" => found.extend(self.methods_of(*class, name)),
                // Its class may have methods of its own.
                Value::Class(_) if self.declared.has_metaclasses => {
                    found.extend(self.declared.methods.get(name).into_iter().flatten());
                }
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether a library may call a procedure at any time.
    pub fn is_called_from_outside(&self, procedure: ProcedureId) -> bool {
        self.called_from_outside.contains(&procedure)
    }

    /// The number of a module among the sources.
    pub fn number_of(&self, module: ModuleId) -> Option<usize> {
        self.by_module.get(&module).copied()
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
