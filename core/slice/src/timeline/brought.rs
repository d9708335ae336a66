//! Lines of units outside of a selection that its tree has all the same, because the text of a free file stands on them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::story::Body;
use super::{Timeline, reader};
use crate::selection::{Selection, UnitId};

/// Lines of a unit that nobody took, in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    pub path: PathBuf,
    /// The unit that made the lines.
    pub unit: UnitId,
    /// The units of the selection whose text in this file needs it.
    pub by: Selection,
}

impl Timeline {
    /// The lines that come along with a selection, in the order of files and units. What comes along with the units that the target
    /// has is there already.
    pub fn brought(&self, taken: &Selection) -> Vec<Brought> {
        let all: Selection = taken.union(&self.given).copied().collect();
        let mut found = Vec::new();
        for (number, story) in self.stories.iter().enumerate() {
            let Some((needs, whole)) = self.free_needs(number).zip(self.whole(number, &all)) else { continue };
            let Body::Text(weave) = &story.body else { continue };
            let there = self.whole(number, &self.given).unwrap_or_default();
            let is_new = |unit: &UnitId| !all.contains(unit) && !there.contains(unit);
            if !whole.iter().any(is_new) {
                continue;
            }
            let view = self.makers.of_units(&whole);
            let Some(path) = story.path(&view) else { continue };
            let made = weave.line_makers(&view).into_iter().filter_map(|maker| self.makers.unit(maker));
            let units: BTreeSet<UnitId> = made.filter(is_new).collect();
            found.extend(units.into_iter().map(|unit| {
                let is_needing = |user: &&UnitId| needs.get(user).is_some_and(|needs| needs.contains(&unit));
                Brought { path: reader::as_path(path), unit, by: taken.iter().filter(is_needing).copied().collect() }
            }));
        }
        found.sort_by(|one, other| (&one.path, one.unit).cmp(&(&other.path, other.unit)));
        found
    }
}
