//! Which names a unit needs that only other units provide (change dependencies, section 5.1 of the paper): they are left out together.

use rustc_hash::FxHashMap;
use twincell_repo::{CommitId, RepoError};
use twincell_semantic::{Bounds, Direction, Project, SymbolName, reaches};

use super::entities::{NameChanges, Versions};
use super::{EntityChangeKind, Unit};
use crate::selection::{Selection, UnitId};

/// A name that a unit needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameNeed {
    /// The entity that uses the name, or that goes.
    pub user: SymbolName,
    /// The name, and others that would do as well: a method of a base class.
    pub names: Vec<SymbolName>,
    /// The units of which one suffices. That of the need is never among them.
    pub any_of: Selection,
    pub kind: NameNeedKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameNeedKind {
    /// The unit uses a name that another unit inserts (a necessary dependency with one unit, sufficient ones with several).
    Uses,
    /// The unit deletes a name that is used until another unit stops to.
    Deletes,
}

/// The needs of each unit.
pub(super) fn needs(
    versions: &mut Versions,
    base: CommitId,
    changes: NameChanges,
    units: &[Unit],
) -> Result<Vec<Vec<NameNeed>>, RepoError> {
    let base = versions.at(base)?;
    let mut inserted: FxHashMap<&SymbolName, Selection> = FxHashMap::default();
    let mut deleted: Vec<(UnitId, &SymbolName)> = Vec::new();
    for (number, unit) in units.iter().enumerate() {
        for change in &unit.entities {
            let number = UnitId(number as u32);
            match change.kind {
                EntityChangeKind::Insert => {
                    inserted.entry(&change.name).or_default().insert(number);
                }
                EntityChangeKind::Delete => deleted.push((number, &change.name)),
                EntityChangeKind::Update => {}
            }
        }
    }
    let mut needs = vec![Vec::new(); units.len()];
    let mut add = |unit: UnitId, need: NameNeed| {
        if let Some(needs) = needs.get_mut(unit.0 as usize)
            && !needs.contains(&need)
        {
            needs.push(need);
        }
    };
    for gained in changes.gained {
        if gained.names.iter().any(|name| base.find(name).is_some()) {
            continue;
        }
        let any_of: Selection = gained.names.iter().filter_map(|name| inserted.get(name)).flatten().copied().collect();
        // Nothing is known of a name that no unit inserts, such as one of a merge.
        if any_of.is_empty() || any_of.contains(&gained.unit) {
            continue;
        }
        let (user, names) = (gained.user, gained.names);
        add(gained.unit, NameNeed { user, names, any_of, kind: NameNeedKind::Uses });
    }
    for (unit, name) in deleted.iter().filter(|(_, name)| base.find(name).is_some()) {
        for (other, lost) in changes.lost.iter().filter(|(other, lost)| lost.names == [(*name).clone()] && other < unit)
        {
            // A user that the range made or that is deleted with the name needs no one.
            if base.find(&lost.user).is_none() {
                continue;
            }
            let (user, names, any_of) = (lost.user.clone(), lost.names.clone(), Selection::from([*other]));
            add(*unit, NameNeed { user, names, any_of, kind: NameNeedKind::Deletes });
        }
    }
    Ok(needs)
}

/// The units that change an entity of the last version, or one that its value depends on within some uses.
pub(super) fn influences(last: &Project, units: &[Unit], entity: &SymbolName, depth: usize) -> Selection {
    let mut names = vec![entity.clone()];
    if let Some(symbol) = last.find(entity) {
        let bounds = Bounds { symbols: MAX_REACHED, distance: u32::try_from(depth).unwrap_or(u32::MAX) };
        let reached = reaches(last, &[symbol], Direction::Uses, bounds).symbols;
        // Whoever imports a module uses it, and does not depend on all that it says.
        let reached = reached.into_iter().filter(|(symbol, ..)| !symbol.is_module());
        names.extend(reached.map(|(symbol, ..)| last.name(symbol)));
    }
    let changes = |unit: &Unit| unit.entities.iter().any(|change| names.contains(&change.name));
    let numbers = units.iter().enumerate().filter(|(_, unit)| changes(unit));
    numbers.map(|(number, _)| UnitId(number as u32)).collect()
}

/// How many entities one value may depend on.
const MAX_REACHED: usize = 500;
