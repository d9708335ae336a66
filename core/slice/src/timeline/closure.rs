//! From whom each maker needs to which units each unit needs, those that are needed by others included.

use super::makers::{Maker, Makers};
use crate::selection::{Selection, UnitId};

/// The units that each unit needs itself, by its number. Parts of one commit may need each other.
pub(super) fn direct(makers: &Makers, needs: &[(Maker, Maker)], units: usize) -> Vec<Selection> {
    let mut direct = vec![Selection::new(); units];
    for (maker, needed) in needs {
        if let (Some(unit), Some(needed)) = (makers.unit(*maker), makers.unit(*needed))
            && unit != needed
            && let Some(needs) = direct.get_mut(unit.0 as usize)
        {
            needs.insert(needed);
        }
    }
    direct
}

/// The needs of each unit with those of what it needs. What is there anyway needs nothing.
pub(super) fn closed(direct: &[Selection], given: &Selection) -> Vec<Selection> {
    let own = |unit: UnitId| direct.get(unit.0 as usize).filter(|_| !given.contains(&unit)).into_iter().flatten();
    let mut closed: Vec<Selection> = Vec::with_capacity(direct.len());
    for unit in 0..direct.len() as u32 {
        let mut found = Selection::new();
        let mut open: Vec<UnitId> = own(UnitId(unit)).copied().collect();
        while let Some(next) = open.pop() {
            if next.0 == unit || !found.insert(next) {
                continue;
            }
            match closed.get(next.0 as usize) {
                // Its needs are known, and they are whole.
                Some(known) => found.extend(known.iter().filter(|one| one.0 != unit)),
                None => open.extend(own(next)),
            }
        }
        closed.push(found);
    }
    closed
}
