//! Two versions of a project, and what differs between them: in text, and in meaning where the text is the same.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::answers::{Basis, Referent};
use crate::ids::SymbolId;
use crate::module::SymbolKind;
use crate::project::Project;
use crate::uses::{used_by, uses};

/// What differs between two versions. Numbers of symbols are those of the version that is named with them.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// In the new version.
    pub added: Vec<SymbolId>,
    /// In the old version.
    pub removed: Vec<SymbolId>,
    /// The same text and name in another file or class: old and new.
    pub moved: Vec<(SymbolId, SymbolId)>,
    /// The same text under another name: old and new.
    pub renamed: Vec<(SymbolId, SymbolId)>,
    /// The same name and another text: old and new.
    pub changed: Vec<(SymbolId, SymbolId)>,
    /// The same text, which means something else.
    pub affected: Vec<Affected>,
}

/// A symbol whose text is the same and whose meaning may not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Affected {
    pub old: SymbolId,
    pub new: SymbolId,
    pub because: Cause,
}

/// Why the meaning of a symbol differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// It uses a symbol of the new version that changed, or is affected itself.
    Uses(SymbolId),
    /// What it names in the old version is something else in the new one, or nothing.
    NamesAnother(Referent),
    /// What it names in the new version was something else in the old one, or nothing.
    NamesNew(Referent),
}

/// Compares two versions. Symbols whose texts are the same are paired by name, then by text where that is clear.
pub fn change(old: &Project, new: &Project) -> Change {
    let mut change = Change::default();
    let mut pairs: FxHashMap<SymbolId, SymbolId> = FxHashMap::default();
    let mut taken: FxHashSet<SymbolId> = FxHashSet::default();
    let mut removed = Vec::new();
    for symbol in old.symbols() {
        match new.find(&old.name(symbol)) {
            Some(other) => {
                pairs.insert(symbol, other);
                taken.insert(other);
                if !same_text(old, symbol, new, other) {
                    change.changed.push((symbol, other));
                }
            }
            None => removed.push(symbol),
        }
    }
    let added: Vec<SymbolId> = new.symbols().filter(|symbol| !taken.contains(symbol)).collect();
    // Whole files first, then names, then texts alone.
    for by in [By::File, By::Qualname, By::Name, By::Text] {
        for (one, other) in matches(old, &removed, new, &added, &pairs, &taken, by) {
            pairs.insert(one, other);
            taken.insert(other);
            let same_name = last_name(old, one) == last_name(new, other);
            if same_name { &mut change.moved } else { &mut change.renamed }.push((one, other));
        }
    }
    change.removed = removed.into_iter().filter(|symbol| !pairs.contains_key(symbol)).collect();
    change.added = added.into_iter().filter(|symbol| !taken.contains(symbol)).collect();
    change.moved.sort();
    change.renamed.sort();
    change.affected = affected(old, new, &pairs, &change.changed);
    change
}

/// What two symbols must share to be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// Their files have the same content.
    File,
    /// Their qualified names and texts.
    Qualname,
    /// Their names and texts.
    Name,
    /// Their texts, and the symbol that holds them.
    Text,
}

fn last_name(project: &Project, symbol: SymbolId) -> String {
    match symbol.is_module() {
        true => project.module_name(symbol.module()).rsplit('.').next().unwrap_or_default().to_owned(),
        false => project.symbol(symbol).map(|symbol| symbol.name().to_owned()).unwrap_or_default(),
    }
}

/// Whether two symbols have the same text, apart from their names, comments, docstrings and layout.
pub fn same_text(old: &Project, one: SymbolId, new: &Project, other: SymbolId) -> bool {
    match (old.symbol(one), new.symbol(other)) {
        (Some(one), Some(other)) => one.hash == other.hash && one.kind == other.kind,
        _ => false,
    }
}

fn matches(
    old: &Project,
    removed: &[SymbolId],
    new: &Project,
    added: &[SymbolId],
    pairs: &FxHashMap<SymbolId, SymbolId>,
    taken: &FxHashSet<SymbolId>,
    by: By,
) -> Vec<(SymbolId, SymbolId)> {
    let key = |project: &Project, id: SymbolId, holder: Option<SymbolId>| -> Option<(SymbolKind, u128, String)> {
        let symbol = project.symbol(id)?;
        let file = || {
            let content = project.layout.places.get(id.module().0 as usize)?.content?;
            let head: [u8; 16] = content.0.get(..16)?.try_into().ok()?;
            Some(u128::from_be_bytes(head))
        };
        let text = u128::from(symbol.hash);
        // A module, a field and a class without a head say too little by themselves.
        let says_something = symbol.hash != 0 && !matches!(symbol.kind, SymbolKind::Module | SymbolKind::Class);
        match by {
            By::File => Some((symbol.kind, file()?, symbol.qualname.to_string())),
            By::Qualname if symbol.kind != SymbolKind::Module => Some((symbol.kind, text, symbol.qualname.to_string())),
            By::Name if says_something => Some((symbol.kind, text, symbol.name().to_owned())),
            By::Text if says_something => Some((symbol.kind, text, format!("{:?}", holder?))),
            _ => None,
        }
    };
    let mut olds: FxHashMap<_, Vec<SymbolId>> = FxHashMap::default();
    for id in removed.iter().filter(|id| !pairs.contains_key(id)) {
        let holder = old.symbol(*id).and_then(|symbol| pairs.get(&SymbolId::new(id.module(), symbol.parent))).copied();
        if let Some(key) = key(old, *id, holder) {
            olds.entry(key).or_default().push(*id);
        }
    }
    let mut news: FxHashMap<_, Vec<SymbolId>> = FxHashMap::default();
    for id in added.iter().filter(|id| !taken.contains(id)) {
        let holder = new.symbol(*id).map(|symbol| SymbolId::new(id.module(), symbol.parent));
        if let Some(key) = key(new, *id, holder) {
            news.entry(key).or_default().push(*id);
        }
    }
    let mut found: Vec<(SymbolId, SymbolId)> = olds
        .into_iter()
        .filter_map(|(key, olds)| match (olds.as_slice(), news.get(&key).map(Vec::as_slice)) {
            ([one], Some([other])) => Some((*one, *other)),
            _ => None,
        })
        .collect();
    found.sort();
    found
}

fn affected(
    old: &Project,
    new: &Project,
    pairs: &FxHashMap<SymbolId, SymbolId>,
    changed: &[(SymbolId, SymbolId)],
) -> Vec<Affected> {
    let back: FxHashMap<SymbolId, SymbolId> = pairs.iter().map(|(one, other)| (*other, *one)).collect();
    let is_changed: FxHashSet<SymbolId> = changed.iter().map(|(_, new)| *new).collect();
    let mut causes: FxHashMap<SymbolId, Cause> = FxHashMap::default();
    // Each symbol, and whether only what may run in its place differs.
    let mut open: VecDeque<(SymbolId, bool)> = changed.iter().map(|(_, new)| (*new, false)).collect();
    let mut ordered: Vec<(SymbolId, SymbolId)> = pairs.iter().map(|(one, other)| (*one, *other)).collect();
    ordered.sort_by_key(|(_, new)| *new);
    for (one, other) in ordered {
        if !is_changed.contains(&other)
            && let Some(cause) = names_another(old, one, new, other, pairs)
        {
            causes.insert(other, cause);
            open.push_back((other, false));
        }
    }
    let mut seen: FxHashSet<(SymbolId, bool)> = open.iter().copied().collect();
    while let Some((symbol, _)) = open.pop_front() {
        for (user, basis) in used_by(new, &Referent::Symbol(symbol)) {
            let is_instead = *basis == Basis::Override;
            if !is_instead && !is_changed.contains(user) && back.contains_key(user) {
                causes.entry(*user).or_insert(Cause::Uses(symbol));
            }
            if seen.insert((*user, is_instead)) {
                open.push_back((*user, is_instead));
            }
        }
    }
    let mut found: Vec<Affected> = causes
        .into_iter()
        .filter_map(|(new, because)| Some(Affected { old: *back.get(&new)?, new, because }))
        .collect();
    found.sort_by_key(|affected| affected.new);
    found
}

/// Whether the same text names something else.
fn names_another(
    old: &Project,
    one: SymbolId,
    new: &Project,
    other: SymbolId,
    pairs: &FxHashMap<SymbolId, SymbolId>,
) -> Option<Cause> {
    let now = |referent: &Referent| match referent {
        Referent::Symbol(symbol) => pairs.get(symbol).map(|new| Referent::Symbol(*new)),
        external => Some(external.clone()),
    };
    let before: Vec<(Referent, Option<Referent>, Basis)> =
        uses(old, one).iter().map(|(used, basis)| (used.clone(), now(used), *basis)).collect();
    let after = uses(new, other);
    let is_kept = |used: &Option<Referent>| after.iter().any(|(other, _)| Some(other) == used.as_ref());
    let is_old = |used: &Referent| before.iter().any(|(_, other, _)| other.as_ref() == Some(used));
    let lost: Vec<_> = before.iter().filter(|(_, used, _)| !is_kept(used)).collect();
    let gained: Vec<_> = after.iter().filter(|(used, _)| !is_old(used)).collect();
    if let Some((used, ..)) = lost.iter().find(|(.., basis)| *basis == Basis::Name) {
        return Some(Cause::NamesAnother(used.clone()));
    }
    if let Some((used, _)) = gained.iter().find(|(_, basis)| *basis == Basis::Name) {
        return Some(Cause::NamesNew(used.clone()));
    }
    // Callers pass other values, which is their change. A value in place of another one is one here.
    let by_value = |basis: &Basis| *basis == Basis::Value;
    match (lost.iter().find(|(.., basis)| by_value(basis)), gained.iter().any(|(_, basis)| by_value(basis))) {
        (Some((used, ..)), true) => Some(Cause::NamesAnother(used.clone())),
        _ => None,
    }
}
