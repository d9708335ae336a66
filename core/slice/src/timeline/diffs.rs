//! What each unit changes, as people read it.

use twincell_repo::{MemoryTrees, TreeId};

use super::makers::Maker;
use super::series::items;
use super::{Timeline, Tree, Unit, reader};
use crate::error::SliceError;
use crate::selection::UnitId;

/// The differences that the units of a timeline make.
pub struct Diffs<'a> {
    timeline: &'a Timeline,
    trees: MemoryTrees,
}

impl Timeline {
    /// # Errors
    ///
    /// Where git cannot open the repository again.
    pub fn diffs(&self) -> Result<Diffs<'_>, SliceError> {
        Ok(Diffs { timeline: self, trees: MemoryTrees::over(&self.repo())? })
    }
}

impl Diffs<'_> {
    /// What a unit changes of the files with all units before it, as `git diff` writes it. Binary contents are only named.
    ///
    /// # Errors
    ///
    /// Where git cannot read the repository.
    pub fn of(&self, unit: UnitId) -> Result<Vec<u8>, SliceError> {
        let Some(changed) = self.timeline.unit(unit) else { return Ok(Vec::new()) };
        let end = |unit: UnitId| UnitId(unit.0.saturating_add(1));
        Ok(self.trees.diff(self.files(changed, unit)?, self.files(changed, end(unit))?)?)
    }

    /// The files that a unit changes, as all units before this one have them.
    fn files(&self, changed: &Unit, end: UnitId) -> Result<TreeId, SliceError> {
        let Timeline { makers, stories, contents, .. } = self.timeline;
        let view = |maker: Maker| makers.unit(maker).is_none_or(|unit| unit < end);
        let of_unit = stories
            .iter()
            .filter(|story| story.path(&view).is_some_and(|path| changed.paths.contains(&reader::as_path(path))));
        let tree = Tree::of(std::iter::empty(), of_unit.filter_map(|story| story.shown(contents, &view)).collect())?;
        Ok(self.trees.keep(&items(tree.files()), tree.files().iter().filter_map(|file| file.text.as_deref()))?)
    }
}
