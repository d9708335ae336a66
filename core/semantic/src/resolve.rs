//! What names stand for, from texts alone: imports, re-exports, aliases, `import *` and `__all__`, and attributes of
//! modules and of classes, whose bases are names, too. Values are not followed; `flow` does that.
//!
//! A query visits each name of each module once, so circles of imports end.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use twincell_syntax::python::is_builtin;

use crate::answers::{Ancestor, Referent};
use crate::ids::{ModuleId, ScopeId, SymbolId};
use crate::module::{Binding, Dotted, ModulePath, ScopeKind, SymbolKind};
use crate::project::Project;

/// What dotted names of a module stand for: `cart.Item.price`. Names of other names are followed to what is defined. The
/// answer has several parts where branches define a name differently, and none where nothing is known.
pub fn resolve(project: &Project, module: ModuleId, dotted: &str) -> Vec<Referent> {
    let mut trail = Trail::default();
    let mut parts = dotted.split('.');
    let first = parts.next().unwrap_or_default();
    let mut found = follow_all(project, global(project, module, first, &mut trail), &mut trail);
    for part in parts {
        let next: Vec<Referent> = found.iter().flat_map(|one| attribute(project, one, part, &mut trail)).collect();
        found = follow_all(project, next, &mut trail);
    }
    unique(found)
}

/// Modules by dotted names from outside: `shop.cart`. Several files may have one name.
pub fn modules_named(project: &Project, dotted: &str) -> Vec<ModuleId> {
    let by_name = project.memos.by_name.get_or_init(|| {
        let mut by_name: rustc_hash::FxHashMap<Arc<str>, Vec<ModuleId>> = rustc_hash::FxHashMap::default();
        for module in project.modules() {
            by_name.entry(project.module_name(module).into()).or_default().push(module);
        }
        by_name
    });
    by_name.get(dotted).cloned().unwrap_or_default()
}

/// The names that `from module import *` brings.
pub fn exports(project: &Project, module: ModuleId) -> Vec<Arc<str>> {
    let mut names = Vec::new();
    let mut seen = FxHashSet::default();
    let mut open = vec![module];
    while let Some(next) = open.pop() {
        let Some(text) = project.module(next).filter(|_| seen.insert(next)) else { continue };
        if let Some(exported) = &text.exported {
            names.extend(exported.iter().cloned());
            continue;
        }
        let bound = text.scopes.first().map(|scope| scope.bindings.keys()).into_iter().flatten();
        names.extend(
            bound.filter_map(|name| text.names.get(name.0 as usize)).filter(|name| !name.starts_with('_')).cloned(),
        );
        open.extend(text.stars.iter().filter_map(|star| imported(project, next, *star)));
    }
    names.sort();
    names.dedup();
    names
}

/// What was looked at in one query.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    members: FxHashSet<(ModuleId, Arc<str>)>,
    aliases: FxHashSet<(SymbolId, u32)>,
    /// The classes whose ancestors are being looked for.
    pub below: Vec<SymbolId>,
    /// A bound was met.
    pub is_cut: bool,
    steps: u32,
    depth: u32,
}

impl Trail {
    /// Begins anew, as for a query whose answer is kept, within the bounds of this one.
    pub fn within<T>(&mut self, query: impl FnOnce(&mut Trail) -> T) -> T {
        let below = std::mem::take(&mut self.below);
        let mut inner = Trail { below, steps: self.steps, depth: self.depth, ..Trail::default() };
        let answer = query(&mut inner);
        self.below = inner.below;
        self.steps = inner.steps;
        self.is_cut |= inner.is_cut;
        answer
    }

    /// Goes one step on, if that is still allowed.
    pub fn deeper<T: Default>(&mut self, query: impl FnOnce(&mut Trail) -> T) -> T {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.depth >= MAX_DEPTH {
            self.is_cut = true;
            return T::default();
        }
        self.depth += 1;
        let answer = query(self);
        self.depth -= 1;
        answer
    }
}

/// How many names one query follows, and how many one after the other.
const MAX_STEPS: u32 = 100_000;
const MAX_DEPTH: u32 = 100;

/// The module that an import names.
pub(crate) fn imported(project: &Project, from: ModuleId, path: ModulePath) -> Option<ModuleId> {
    let dotted = project.module(from)?.name(path.dotted);
    match path.level {
        0 => project.layout.absolute(from, dotted),
        level => project.layout.relative(from, level, dotted),
    }
}

/// The dotted path of a module that is not of the project.
pub(crate) fn external_path(project: &Project, from: ModuleId, path: ModulePath) -> Arc<str> {
    let dotted = project.module(from).map_or("", |module| module.name(path.dotted));
    format!("{}{dotted}", ".".repeat(path.level.min(8) as usize)).into()
}

/// A name of a module's scope, a builtin, or what only an `import *` from outside can bring.
fn global(project: &Project, module: ModuleId, name: &str, trail: &mut Trail) -> Vec<Referent> {
    let found = member(project, module, name, false, trail);
    if !found.is_empty() {
        return found;
    }
    if is_builtin(name) {
        return vec![Referent::External(format!("builtins.{name}").into())];
    }
    external_stars(project, module, name)
}

fn external_stars(project: &Project, module: ModuleId, name: &str) -> Vec<Referent> {
    let stars = project.module(module).map(|text| text.stars.as_slice()).unwrap_or_default();
    let external = stars.iter().filter(|star| imported(project, module, **star).is_none());
    external
        .map(|star| Referent::External(format!("{}.{name}", external_path(project, module, *star)).into()))
        .collect()
}

/// What `module.name` is. Other names are not followed, but imports are.
pub(crate) fn member(
    project: &Project,
    module: ModuleId,
    name: &str,
    outside: bool,
    trail: &mut Trail,
) -> Vec<Referent> {
    let key: (ModuleId, Arc<str>) = (module, name.into());
    if let Some(known) = project.memos.members.get(&key) {
        return known.to_vec();
    }
    let is_first = trail.members.is_empty();
    if !trail.members.insert(key.clone()) {
        return Vec::new();
    }
    let found = unique(trail.deeper(|trail| look_up(project, module, name, outside, trail)));
    if is_first {
        project.memos.members.insert(key, found.clone().into());
        trail.members.clear();
    }
    found
}

fn look_up(project: &Project, module: ModuleId, name: &str, outside: bool, trail: &mut Trail) -> Vec<Referent> {
    let Some(text) = project.module(module) else { return Vec::new() };
    let id = text.name_id(name);
    let bindings = id.and_then(|id| text.scopes.first()?.bindings.get(&id)).map_or(&[][..], |bindings| bindings);
    if !bindings.is_empty() {
        return bindings.iter().flat_map(|binding| bound(project, module, binding, trail)).collect();
    }
    if let Some(submodule) = project.layout.submodule(module, name) {
        return vec![Referent::Symbol(SymbolId::new(submodule, 0))];
    }
    let mut found = Vec::new();
    for star in &text.stars {
        let Some(other) = imported(project, module, *star) else { continue };
        if is_exported(project, other, name) {
            found.extend(member(project, other, name, true, trail));
        }
    }
    if found.is_empty() && outside {
        found.extend(external_stars(project, module, name));
    }
    found
}

fn is_exported(project: &Project, module: ModuleId, name: &str) -> bool {
    match project.module(module).and_then(|text| text.exported.as_ref()) {
        Some(exported) => exported.iter().any(|one| **one == *name),
        None => !name.starts_with('_'),
    }
}

/// What a binding stands for.
fn bound(project: &Project, module: ModuleId, binding: &Binding, trail: &mut Trail) -> Vec<Referent> {
    match binding {
        Binding::Symbol(local) | Binding::Alias(local, _) => vec![Referent::Symbol(SymbolId::new(module, *local))],
        Binding::Module(path) => vec![module_or_external(project, module, *path)],
        Binding::From(path, name) => from_import(project, module, *path, *name, trail),
        Binding::Local(_) => Vec::new(),
    }
}

pub(crate) fn module_or_external(project: &Project, module: ModuleId, path: ModulePath) -> Referent {
    match imported(project, module, path) {
        Some(found) => Referent::Symbol(SymbolId::new(found, 0)),
        None => Referent::External(external_path(project, module, path)),
    }
}

/// What `from path import name` binds.
pub(crate) fn from_import(
    project: &Project,
    module: ModuleId,
    path: ModulePath,
    name: crate::ids::NameId,
    trail: &mut Trail,
) -> Vec<Referent> {
    let Some(text) = project.module(module) else { return Vec::new() };
    let name = text.name(name);
    match imported(project, module, path) {
        // `from . import x` in the package itself means the submodule.
        Some(other) if other == module => match project.layout.submodule(other, name) {
            Some(submodule) => vec![Referent::Symbol(SymbolId::new(submodule, 0))],
            None => member(project, other, name, true, trail),
        },
        Some(other) => member(project, other, name, true, trail),
        None => {
            let path = external_path(project, module, path);
            let dot = if path.ends_with('.') { "" } else { "." };
            vec![Referent::External(format!("{path}{dot}{name}").into())]
        }
    }
}

/// What a name of a scope stands for, in the scopes around it, too.
pub(crate) fn name_in_scope(
    project: &Project,
    module: ModuleId,
    scope: ScopeId,
    name: crate::ids::NameId,
    trail: &mut Trail,
) -> Vec<Referent> {
    let Some(text) = project.module(module) else { return Vec::new() };
    let mut next = Some(scope);
    while let Some(at) = next {
        let Some(current) = text.scope(at) else { break };
        let is_visible = at == scope || current.kind != ScopeKind::Class;
        if at == ScopeId(0) {
            break;
        }
        if is_visible && let Some(bindings) = current.bindings.get(&name) {
            return unique(bindings.iter().flat_map(|binding| bound(project, module, binding, trail)).collect());
        }
        next = current.parent;
    }
    global(project, module, text.name(name), trail)
}

/// What a dotted name stands for where it is written, other names followed.
pub(crate) fn dotted_in_scope(
    project: &Project,
    module: ModuleId,
    dotted: &Dotted,
    trail: &mut Trail,
) -> Vec<Referent> {
    trail.deeper(|trail| dotted_below(project, module, dotted, trail))
}

fn dotted_below(project: &Project, module: ModuleId, dotted: &Dotted, trail: &mut Trail) -> Vec<Referent> {
    let Some(text) = project.module(module) else { return Vec::new() };
    let local = local_alias(project, module, dotted, trail);
    let first = match local {
        Some(found) => found,
        None => name_in_scope(project, module, dotted.scope, dotted.first, trail),
    };
    let mut found = follow_all(project, first, trail);
    for part in &dotted.rest {
        let part = text.name(*part);
        let next: Vec<Referent> = found.iter().flat_map(|one| attribute(project, one, part, trail)).collect();
        found = follow_all(project, next, trail);
    }
    unique(found)
}

/// What a local variable is another name of.
fn local_alias(project: &Project, module: ModuleId, dotted: &Dotted, trail: &mut Trail) -> Option<Vec<Referent>> {
    let bindings = project.scope(module, dotted.scope)?.bindings.get(&dotted.first)?;
    let aliases = bindings.iter().filter_map(|binding| match binding {
        Binding::Local(Some(alias)) if alias.first != dotted.first => Some(alias),
        _ => None,
    });
    let aliases: Vec<&Dotted> = aliases.collect();
    (!aliases.is_empty())
        .then(|| aliases.into_iter().flat_map(|alias| dotted_in_scope(project, module, alias, trail)).collect())
}

/// What `referent.name` is.
pub(crate) fn attribute(project: &Project, referent: &Referent, name: &str, trail: &mut Trail) -> Vec<Referent> {
    match referent {
        Referent::External(path) => vec![Referent::External(format!("{path}.{name}").into())],
        Referent::Symbol(symbol) if symbol.is_module() => member(project, symbol.module, name, true, trail),
        Referent::Symbol(symbol) => match project.symbol(*symbol).map(|symbol| symbol.kind) {
            Some(SymbolKind::Class) => class_attribute(project, *symbol, name, trail),
            _ => Vec::new(),
        },
    }
}

/// What a variable is another name of, or itself.
pub(crate) fn follow(project: &Project, referent: Referent, trail: &mut Trail) -> Vec<Referent> {
    let Referent::Symbol(symbol) = &referent else { return vec![referent] };
    let is_variable = project.symbol(*symbol).is_some_and(|symbol| symbol.kind == SymbolKind::Variable);
    let Some(text) = project.module(symbol.module).filter(|_| is_variable) else { return vec![referent] };
    let Some(holder) = text.scopes_with(symbol.local) else { return vec![referent] };
    let mut found = Vec::new();
    for (position, binding) in holder.iter().enumerate() {
        match binding {
            Binding::Alias(local, dotted)
                if *local == symbol.local && trail.aliases.insert((*symbol, position as u32)) =>
            {
                found.extend(dotted_in_scope(project, symbol.module, dotted, trail));
            }
            _ => {}
        }
    }
    if found.is_empty() { vec![referent] } else { found }
}

fn follow_all(project: &Project, referents: Vec<Referent>, trail: &mut Trail) -> Vec<Referent> {
    unique(referents.into_iter().flat_map(|one| follow(project, one, trail)).collect())
}

pub(crate) fn unique(mut referents: Vec<Referent>) -> Vec<Referent> {
    referents.sort();
    referents.dedup();
    referents
}

/// How many ancestors one class has at most.
const MAX_ANCESTORS: usize = 200;

/// A class and its ancestors in the order in which Python looks attributes up (C3, Barrett et al. 1996). Where classes have
/// no such order, as in a circle, it is that of a search in depth.
pub fn ancestors(project: &Project, class: SymbolId) -> Arc<[Ancestor]> {
    ancestors_below(project, class, &mut Trail::default())
}

fn ancestors_below(project: &Project, class: SymbolId, trail: &mut Trail) -> Arc<[Ancestor]> {
    let memo = &project.memos.ancestors;
    if let Some(known) = memo.get(&class) {
        return known;
    }
    let mut open = vec![class];
    let mut bases: FxHashMap<SymbolId, Vec<Ancestor>> = FxHashMap::default();
    // Within a circle, or where a bound was met, a line depends on where the query begins.
    let mut passing: FxHashMap<SymbolId, Arc<[Ancestor]>> = FxHashMap::default();
    while let Some(next) = open.last().copied() {
        if !bases.contains_key(&next) {
            if trail.below.contains(&next) {
                passing.insert(next, Arc::from([Ancestor::Class(next)]));
                bases.insert(next, Vec::new());
                open.pop();
                continue;
            }
            trail.below.push(next);
            let own = trail.within(|trail| bases_below(project, next, trail));
            trail.below.pop();
            bases.insert(next, own);
        }
        let own = bases.get(&next).cloned().unwrap_or_default();
        let unknown = own.iter().find_map(|base| match base {
            Ancestor::Class(base) if memo.get(base).is_none() && !bases.contains_key(base) => Some(*base),
            _ => None,
        });
        if let Some(base) = unknown {
            open.push(base);
            continue;
        }
        open.pop();
        let mut is_passing = trail.is_cut;
        let lines: Vec<Arc<[Ancestor]>> = own
            .iter()
            .map(|base| match base {
                Ancestor::Class(class) => memo.get(class).unwrap_or_else(|| {
                    is_passing = true;
                    passing.get(class).cloned().unwrap_or_else(|| Arc::from([base.clone()]))
                }),
                external => Arc::from([external.clone()]),
            })
            .collect();
        let line = line(next, &own, &lines);
        if is_passing {
            passing.insert(next, line);
        } else {
            memo.insert(next, line);
        }
    }
    let found = memo.get(&class).or_else(|| passing.get(&class).cloned()).unwrap_or_default();
    if trail.below.is_empty() {
        memo.insert(class, found.clone());
    }
    found
}

/// A class and what its bases' lines make of it.
fn line(class: SymbolId, bases: &[Ancestor], lines: &[Arc<[Ancestor]>]) -> Arc<[Ancestor]> {
    let mut found = vec![Ancestor::Class(class)];
    match (lines, merged(lines, bases)) {
        ([only], _) => found.extend(only.iter().cloned()),
        (_, Some(merged)) => found.extend(merged),
        _ => found.extend(lines.iter().flat_map(|line| line.iter().cloned())),
    }
    let mut seen = FxHashSet::default();
    found.retain(|ancestor| seen.insert(ancestor.clone()));
    found.truncate(MAX_ANCESTORS);
    found.into()
}

/// The step of C3 that merges the orders of the bases and the list of bases.
fn merged(lines: &[Arc<[Ancestor]>], bases: &[Ancestor]) -> Option<Vec<Ancestor>> {
    if lines.len() < 2 {
        return None;
    }
    let mut open: Vec<&[Ancestor]> = lines.iter().map(|line| &line[..]).chain([bases]).collect();
    let mut found = Vec::new();
    loop {
        open.retain(|line| !line.is_empty());
        if open.is_empty() {
            return Some(found);
        }
        let heads = open.iter().filter_map(|line| line.first());
        let in_no_tail = |head: &&Ancestor| open.iter().all(|line| !line.iter().skip(1).any(|other| other == *head));
        let next = heads.into_iter().find(in_no_tail)?.clone();
        for line in &mut open {
            if line.first() == Some(&next) {
                *line = line.get(1..).unwrap_or_default();
            }
        }
        found.push(next);
    }
}

/// The bases of a class, as far as their names say.
pub fn bases(project: &Project, class: SymbolId) -> Vec<Ancestor> {
    bases_below(project, class, &mut Trail::default())
}

fn bases_below(project: &Project, class: SymbolId, trail: &mut Trail) -> Vec<Ancestor> {
    let mut found = Vec::new();
    for scope in project.class_scopes(class) {
        for base in scope.bases.iter().flatten() {
            let referents = dotted_in_scope(project, class.module, base, trail);
            found.extend(referents.into_iter().filter_map(|referent| match referent {
                Referent::External(path) => Some(Ancestor::External(path)),
                Referent::Symbol(base) if base == class => None,
                Referent::Symbol(base) => {
                    let is_class = project.symbol(base).is_some_and(|symbol| symbol.kind == SymbolKind::Class);
                    is_class.then_some(Ancestor::Class(base))
                }
            }));
        }
    }
    let mut seen = FxHashSet::default();
    found.retain(|base| seen.insert(base.clone()));
    found
}

/// What `class.name` is: in the first class that has it, or in one that is not of the project.
pub(crate) fn class_attribute(project: &Project, class: SymbolId, name: &str, trail: &mut Trail) -> Vec<Referent> {
    for ancestor in ancestors_below(project, class, trail).iter() {
        match ancestor {
            Ancestor::External(path) if &**path == "builtins.object" => {}
            Ancestor::External(path) => return vec![Referent::External(format!("{path}.{name}").into())],
            Ancestor::Class(class) => {
                let found = own_attribute(project, *class, name);
                if !found.is_empty() {
                    return found;
                }
            }
        }
    }
    Vec::new()
}

/// The symbols of a class itself by a name.
pub(crate) fn own_attribute(project: &Project, class: SymbolId, name: &str) -> Vec<Referent> {
    let Some(text) = project.module(class.module) else { return Vec::new() };
    let Some(id) = text.name_id(name) else { return Vec::new() };
    let mut found = Vec::new();
    for scope in project.class_scopes(class) {
        for binding in scope.bindings.get(&id).into_iter().flatten() {
            match binding {
                Binding::Symbol(local) | Binding::Alias(local, _) => {
                    found.push(Referent::Symbol(SymbolId::new(class.module, *local)));
                }
                Binding::Module(path) => found.push(module_or_external(project, class.module, *path)),
                Binding::From(path, name) => {
                    let trail = &mut Trail::default();
                    found.extend(from_import(project, class.module, *path, *name, trail));
                }
                Binding::Local(_) => {}
            }
        }
        let field = scope.fields.iter().filter(|(field, _)| *field == id);
        found.extend(field.map(|(_, local)| Referent::Symbol(SymbolId::new(class.module, *local))));
    }
    unique(found)
}
