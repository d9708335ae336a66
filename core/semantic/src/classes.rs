//! Classes: their subclasses, their fields, and methods that override others.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::answers::{Ancestor, Referent};
use crate::ids::SymbolId;
use crate::module::SymbolKind;
use crate::project::Project;
use crate::resolve::{ancestors, bases, own_attribute};

/// The classes that inherit from a class directly.
pub fn subclasses(project: &Project, class: SymbolId) -> &[SymbolId] {
    let all = project.memos.subclasses.get_or_init(|| {
        let mut all: FxHashMap<SymbolId, Vec<SymbolId>> = FxHashMap::default();
        let is_class = |id: &SymbolId| project.symbol(*id).is_some_and(|symbol| symbol.kind == SymbolKind::Class);
        for class in project.symbols().filter(is_class) {
            for base in bases(project, class) {
                if let Ancestor::Class(base) = base {
                    all.entry(base).or_default().push(class);
                }
            }
        }
        all
    });
    all.get(&class).map_or(&[], |classes| classes)
}

/// The fields of a class: variables of its body and attributes that its methods assign, those of its ancestors first.
pub fn fields(project: &Project, class: SymbolId) -> Vec<SymbolId> {
    let mut found: Vec<SymbolId> = Vec::new();
    let mut names: FxHashSet<&str> = FxHashSet::default();
    let ancestors = ancestors(project, class);
    let classes = ancestors.iter().filter_map(|ancestor| match ancestor {
        Ancestor::Class(class) => Some(*class),
        Ancestor::External(_) => None,
    });
    for class in classes {
        let Some(text) = project.module(class.module) else { continue };
        let held = text.held_by.get(&class.local).into_iter().flatten().rev();
        let own = held.filter_map(|local| Some((*local, text.symbols.get(*local as usize)?)));
        let own = own.filter(|(_, symbol)| matches!(symbol.kind, SymbolKind::Variable | SymbolKind::Field));
        for (local, symbol) in own {
            if names.insert(symbol.name()) {
                found.push(SymbolId::new(class.module, local));
            }
        }
    }
    found.reverse();
    found
}

/// The methods of subclasses, at any distance, that replace a method or another attribute of a class.
pub fn overrides(project: &Project, member: SymbolId) -> Vec<SymbolId> {
    overrides_below(project, member, false)
}

/// Those of the first subclasses on each way down.
pub(crate) fn nearest_overrides(project: &Project, member: SymbolId) -> Vec<SymbolId> {
    overrides_below(project, member, true)
}

/// How many subclasses of one class are looked at.
const MAX_SUBCLASSES: usize = 20_000;

fn overrides_below(project: &Project, member: SymbolId, only_nearest: bool) -> Vec<SymbolId> {
    let Some(symbol) = project.symbol(member) else { return Vec::new() };
    let class = SymbolId::new(member.module, symbol.parent);
    if project.symbol(class).is_none_or(|class| class.kind != SymbolKind::Class) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut seen: FxHashSet<SymbolId> = FxHashSet::from_iter([class]);
    let mut open = vec![class];
    while let Some(next) = open.pop().filter(|_| seen.len() < MAX_SUBCLASSES) {
        for below in subclasses(project, next) {
            if !seen.insert(*below) {
                continue;
            }
            let own = own_attribute(project, *below, symbol.name());
            if own.is_empty() || !only_nearest {
                open.push(*below);
            }
            found.extend(own.into_iter().filter_map(|one| match one {
                Referent::Symbol(one) => Some(one),
                Referent::External(_) => None,
            }));
        }
    }
    found.sort();
    found
}

/// The attribute of each nearest ancestor that a member of a class replaces.
pub fn overridden(project: &Project, member: SymbolId) -> Vec<Referent> {
    let Some(symbol) = project.symbol(member) else { return Vec::new() };
    let class = SymbolId::new(member.module, symbol.parent);
    if project.symbol(class).is_none_or(|class| class.kind != SymbolKind::Class) {
        return Vec::new();
    }
    let above = ancestors(project, class);
    let found = above.iter().skip(1).find_map(|ancestor| match ancestor {
        Ancestor::Class(class) => Some(own_attribute(project, *class, symbol.name())).filter(|found| !found.is_empty()),
        Ancestor::External(_) => None,
    });
    found.unwrap_or_default()
}
