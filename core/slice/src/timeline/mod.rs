//! The history side of a slice: a range of commits as linear units that can be taken or left, what each needs, and the files of
//! any selection, merged in memory.
//!
//! A text is a weave, so every selection has exactly one tree and none conflicts. All units give the tree of the last commit,
//! and none gives that of the base; both are checked when the range is read. The repository is only read.

mod brought;
mod closure;
mod diffs;
mod entities;
mod makers;
mod names;
mod parts;
mod reader;
mod same;
mod series;
mod story;
mod tree;
mod weave;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use twincell_engine::Stop;
use twincell_repo::{CommitId, CommitRecord, Item, MemoryTrees, Person, Repo, Revision, TreeId, bound_memory};
use twincell_semantic::{Project, SymbolKind, SymbolName};

use crate::error::SliceError;
use crate::selection::{Selection, UnitId};
use makers::{Maker, Makers};
use reader::{NeedsOfFile, Reader};
use story::{Shown, Story};
use weave::Contents;

pub use brought::Brought;
pub use diffs::Diffs;
pub use names::{NameNeed, NameNeedKind};
pub use same::{KnownBy, Same, SameAs};
pub use series::{AM_OPTIONS, OnTarget, Patch, PatchFile};
pub use tree::{Tree, TreeDifference, TreeFile};

/// What is taken or left as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum By {
    #[default]
    Commit,
    /// Commits split by file, and Python files by entity.
    Change,
}

/// How a range is read.
#[derive(Debug, Clone)]
pub struct TimelineOptions {
    pub by: By,
    /// A branch whose commits need not be moved there again.
    pub onto: Option<Revision>,
    /// More commits are an error.
    pub max_commits: usize,
    /// The maximum number of lines that are followed, and of bytes of different lines. More are an error.
    pub max_lines: usize,
    pub max_bytes: usize,
    /// Ends the reading between two commits.
    pub stop: Stop,
}

impl Default for TimelineOptions {
    fn default() -> Self {
        Self {
            by: By::Commit,
            onto: None,
            max_commits: 2000,
            max_lines: 20_000_000,
            max_bytes: 1 << 30,
            stop: Stop::default(),
        }
    }
}

/// The part of a commit that a unit is, where commits are split.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Part {
    pub path: PathBuf,
    /// The qualified name of the Python entity. Without one it is what belongs to none.
    pub entity: Option<Arc<str>>,
}

impl Part {
    fn file(path: &[u8]) -> Self {
        Self { path: reader::as_path(path), entity: None }
    }
}

/// A commit of the range, or a part of it.
#[derive(Debug, Clone)]
pub struct Unit {
    pub commit: CommitId,
    /// The first line of the message.
    pub subject: String,
    pub author: Person,
    /// Whether the commit is a merge, of which the unit is what only the merge changed.
    pub is_merge: bool,
    pub part: Option<Part>,
    /// The files that it changes, old and new names of renamed ones.
    pub paths: Vec<PathBuf>,
    /// Whether one of them is a Python file.
    pub is_python: bool,
    /// The atomic changes of Python files (section 3 of the paper). Where a text cannot be read, its module is the entity.
    pub entities: Vec<EntityChange>,
}

/// What a unit does with an entity: a module, class, function, method, variable or field. Imports and other statements are
/// of their module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityChange {
    pub name: SymbolName,
    /// What it is. `None` for a module of which nobody can say what of it changes.
    pub entity: Option<SymbolKind>,
    pub kind: EntityChangeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntityChangeKind {
    Insert,
    Delete,
    Update,
}

impl Unit {
    fn of(commit: &CommitRecord, part: Option<Part>) -> Self {
        let message = String::from_utf8_lossy(&commit.message);
        Self {
            commit: commit.id,
            subject: message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned(),
            author: commit.author.clone(),
            is_merge: commit.parents.len() > 1,
            part,
            paths: Vec::new(),
            is_python: false,
            entities: Vec::new(),
        }
    }
}

/// What a target branch has since it left the range.
struct Target {
    units: Vec<Unit>,
    prints: Vec<same::Print>,
    commits: Vec<CommitRecord>,
    last: CommitRecord,
}

impl Target {
    /// The last commit that touches a path.
    fn last_change(&self, path: &str) -> Option<CommitId> {
        let touches = |unit: &&Unit| unit.paths.iter().any(|other| other == Path::new(path));
        self.units.iter().rev().find(touches).map(|unit| unit.commit)
    }
}

impl Target {
    fn read(repo: &Repo, base: CommitId, onto: &Revision, options: &TimelineOptions) -> Result<Self, SliceError> {
        let range = format!("{base}..{}", repo.commit_id(Some(onto.name()))?);
        let (ends, commits) = reader::ends(repo, &range, options.max_commits)?;
        let Reader { prints, makers, units, commits, .. } = Reader::read(repo, (&range, &ends), commits, options)?;
        Ok(Self { prints: prints.of_units(&makers, units.len()), units, commits, last: ends.last })
    }
}

/// Files whose text makes no unit needed: for each, the units that each unit's own lines in it need.
struct FreeFiles(FxHashMap<usize, FxHashMap<UnitId, Selection>>);

/// A range of commits as units, oldest first.
pub struct Timeline {
    repo: Arc<Mutex<Repo>>,
    base: CommitRecord,
    end: CommitId,
    makers: Makers,
    contents: Contents,
    stories: Vec<Story>,
    untouched: BTreeMap<Arc<[u8]>, Item>,
    commits: BTreeMap<CommitId, CommitRecord>,
    units: Vec<Unit>,
    needs: Vec<(Maker, Maker)>,
    spans: Vec<NeedsOfFile>,
    /// Whose text each unit needs itself, and with what those need.
    direct_needs: Vec<Selection>,
    text_needs: Vec<Selection>,
    free: Option<FreeFiles>,
    name_needs: Vec<Vec<NameNeed>>,
    same: Vec<SameAs>,
    /// What the target branch has.
    target: Option<Target>,
    /// The units that it has.
    given: Selection,
    /// The last version.
    last: Arc<Project>,
}

impl std::fmt::Debug for Timeline {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Timeline")
            .field("base", &self.base.id)
            .field("units", &self.units.len())
            .finish_non_exhaustive()
    }
}

impl Timeline {
    /// Reads the commits of a range: `OLD..NEW`, or `OLD..` up to HEAD. Where `OLD` does not come before `NEW`, the range begins
    /// at the last commit that both have in common. Commits without changes, as most merges are, become no unit.
    ///
    /// # Errors
    ///
    /// Where git cannot read the range, where it has too many commits or lines or changes nothing, where the lines of a file cannot
    /// be followed, and where the reading was stopped.
    pub fn read(repo: &Path, range: &str, options: &TimelineOptions) -> Result<Self, SliceError> {
        bound_memory();
        let repo = Repo::around(repo)?;
        let (ends, commits) = reader::ends(&repo, range, options.max_commits)?;
        let reader = Reader::read(&repo, (range, &ends), commits, options)?;
        if reader.units.is_empty() {
            return Err(SliceError::NoChanges(range.to_owned()));
        }
        let direct_needs = closure::direct(&reader.makers, &reader.needs, reader.units.len());
        let prints = reader.prints.of_units(&reader.makers, reader.units.len());
        let target = match &options.onto {
            Some(onto) => Some(Target::read(&repo, ends.base.id, onto, options)?),
            None => None,
        };
        let Reader { makers, contents, stories, untouched, commits, mut units, touched, needs, spans, .. } = reader;
        let touched: FxHashMap<CommitId, Vec<usize>> = commits.iter().map(|commit| commit.id).zip(touched).collect();
        let repo = Arc::new(Mutex::new(repo));
        let mut versions = entities::Versions::new(&repo);
        let parents: FxHashMap<CommitId, CommitId> =
            commits.iter().filter_map(|commit| Some((commit.id, *commit.parents.first()?))).collect();
        let changes = entities::read(&mut versions, &parents, &mut units, &options.stop)?;
        let name_needs = names::needs(&mut versions, ends.base.id, changes, &units)?;
        let mut timeline = Self {
            repo,
            base: ends.base,
            end: ends.last.id,
            makers,
            contents,
            stories,
            untouched,
            commits: commits.into_iter().map(|commit| (commit.id, commit)).collect(),
            units,
            needs,
            spans,
            text_needs: Vec::new(),
            direct_needs,
            free: None,
            name_needs,
            same: Vec::new(),
            target: None,
            given: Selection::new(),
            last: versions.at(ends.last.id)?,
        };
        timeline.check(&Selection::new(), timeline.base.id, timeline.base.tree)?;
        timeline.check(&timeline.all(), ends.last.id, ends.last.tree)?;
        let message = |id: CommitId| timeline.message_of(id);
        let mut same =
            same::reverts(&timeline.units, &prints, &message, &|one, other| timeline.cancel(one, other, &touched));
        let mut there = match &target {
            Some(Target { units, prints: theirs, commits, .. }) => {
                same::in_target(&timeline.units, &prints, &message, (units, theirs, commits))
            }
            None => Vec::new(),
        };
        timeline.target = target;
        // The same lines may stand at another place, and what was there may be gone. Whoever picks a commit says so.
        let trees = MemoryTrees::over(&timeline.repo())?;
        for one in std::mem::take(&mut there) {
            if one.known_by == KnownBy::Message || !timeline.changes_target(&trees, one.unit)? {
                there.push(one);
            }
        }
        same.extend(there);
        timeline.add_same(same);
        Ok(timeline)
    }

    /// Adds what is known of units that do the same as others. Those that the target has are given from now on.
    pub(crate) fn add_same(&mut self, more: impl IntoIterator<Item = SameAs>) {
        self.same.extend(more);
        let in_target = |same: &&SameAs| matches!(same.same, Same::InTarget(_));
        self.given = self.same.iter().filter(in_target).map(|same| same.unit).collect();
        self.text_needs = closure::closed(&self.direct_needs, &self.given);
    }

    /// Whether all units up to the later one of two make the same files without both, of those that the two touch.
    fn cancel(&self, earlier: UnitId, later: UnitId, touched: &FxHashMap<CommitId, Vec<usize>>) -> bool {
        let with: Selection = (0..=later.0).map(UnitId).collect();
        let mut without = with.clone();
        without.retain(|unit| *unit != earlier && *unit != later);
        let (with, without) = (self.makers.of_units(&with), self.makers.of_units(&without));
        let commits = [earlier, later].into_iter().filter_map(|unit| self.unit(unit));
        let mut stories = commits.filter_map(|unit| touched.get(&unit.commit)).flatten();
        stories.all(|story| {
            let Some(story) = self.stories.get(*story) else { return true };
            let shown = |shown: Option<Shown>| shown.map(|shown| (shown.path, shown.item));
            shown(story.shown(&self.contents, &with)) == shown(story.shown(&self.contents, &without))
        })
    }

    /// Checks that a selection gives a commit's tree.
    fn check(&self, taken: &Selection, commit: CommitId, tree: TreeId) -> Result<(), SliceError> {
        let made = self.tree(taken)?;
        if made.id() == tree {
            return Ok(());
        }
        let wanted = self.repo().tree_items(tree)?;
        let differs = wanted
            .iter()
            .find(|(path, item)| made.file(path).is_none_or(|file| (file.mode, file.id) != (item.mode, item.id)));
        let more = || made.files().iter().find(|file| !wanted.iter().any(|(path, _)| **path == *file.path));
        let path = differs.map(|one| one.0.as_slice()).or_else(|| more().map(|file| &*file.path)).unwrap_or_default();
        Err(SliceError::Inexact { path: reader::as_path(path).display().to_string(), commit: commit.to_string() })
    }

    /// The units, oldest first. A unit's number is its place.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    pub fn unit(&self, unit: UnitId) -> Option<&Unit> {
        self.units.get(unit.0 as usize)
    }

    /// The whole message of the commit of a unit.
    pub fn message(&self, unit: UnitId) -> &[u8] {
        self.unit(unit).map_or(&[], |unit| self.message_of(unit.commit))
    }

    fn message_of(&self, commit: CommitId) -> &[u8] {
        self.commits.get(&commit).map_or(&[], |commit| &commit.message)
    }

    /// The repository, for those who read contents of candidates.
    pub(crate) fn shared(&self) -> Arc<Mutex<Repo>> {
        self.repo.clone()
    }

    fn repo(&self) -> MutexGuard<'_, Repo> {
        self.repo.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All units.
    pub fn all(&self) -> Selection {
        (0..self.units.len() as u32).map(UnitId).collect()
    }

    /// The commit that the range begins after.
    pub fn base(&self) -> CommitId {
        self.base.id
    }

    /// The last commit of the range.
    pub fn end(&self) -> CommitId {
        self.end
    }

    /// The units without which the text of a unit has no place (hunk dependencies, section 5.1 of the paper), and what those
    /// need. A line that goes needs who made it; a line that comes needs who made the block that it stands in.
    pub fn text_needs(&self, unit: UnitId) -> &Selection {
        const NONE: &Selection = &Selection::new();
        self.text_needs.get(unit.0 as usize).unwrap_or(NONE)
    }

    /// Says for which files nothing depends on what is left out of them, such as the tests' own, which every candidate is given. No
    /// unit needs another one for their text from now on. The tree of a selection has them with all that their text needs, so that
    /// it is whole.
    pub(crate) fn free(&mut self, is_free: &dyn Fn(&Path) -> bool) {
        let is_own = |story: &Story| story.path.all().iter().all(|(_, path)| is_free(&reader::as_path(path)));
        // A file that was elsewhere before or after needs all of its text.
        let others = self.stories.iter().filter(|story| !is_own(story)).flat_map(|story| story.path.all());
        let tied: FxHashSet<PathBuf> = others.map(|(_, path)| reader::as_path(path)).collect();
        let is_free_span = |span: &NeedsOfFile| span.paths.iter().all(|path| is_free(path) && !tied.contains(path));
        let (mut of_others, mut of_paths) = (Vec::new(), FxHashMap::<&Path, Vec<(Maker, Maker)>>::default());
        let mut from = 0;
        for span in &self.spans {
            let needs = self.needs.get(std::mem::replace(&mut from, span.end)..span.end).unwrap_or_default();
            if is_free_span(span) {
                span.paths.iter().for_each(|path| of_paths.entry(path).or_default().extend(needs));
            } else {
                of_others.extend(needs);
            }
        }
        let closed = |needs: &[(Maker, Maker)]| {
            let all = closure::closed(&closure::direct(&self.makers, needs, self.units.len()), &Selection::new());
            let all = (0..).map(UnitId).zip(all).filter(|(_, needs)| !needs.is_empty());
            all.collect::<FxHashMap<_, _>>()
        };
        let own = self.stories.iter().enumerate().filter(|(_, story)| is_own(story)).map(|(number, story)| {
            let paths: BTreeSet<PathBuf> = story.path.all().iter().map(|(_, path)| reader::as_path(path)).collect();
            let needs = paths.iter().filter_map(|path| of_paths.get(path.as_path())).flatten().copied();
            (number, closed(&needs.collect::<Vec<_>>()))
        });
        let own = own.collect();
        self.direct_needs = closure::direct(&self.makers, &of_others, self.units.len());
        self.free = Some(FreeFiles(own));
        self.text_needs = closure::closed(&self.direct_needs, &self.given);
    }

    /// The names that a unit needs of other units (change dependencies, section 5.1 of the paper). Names that are in the base are
    /// no needs, nor are names that something outside of the project may provide.
    pub fn name_needs(&self, unit: UnitId) -> &[NameNeed] {
        self.name_needs.get(unit.0 as usize).map_or(&[], |needs| needs)
    }

    /// The last commit of the branch of [`TimelineOptions::onto`].
    pub fn target(&self) -> Option<CommitId> {
        self.target.as_ref().map(|target| target.last.id)
    }

    /// The last commit by which this branch touched a path since it left the range.
    pub(crate) fn touched_in_target(&self, path: &str) -> Option<CommitId> {
        self.target.as_ref()?.last_change(path)
    }

    /// The commit that the changes of a unit are seen from. A merge has none.
    pub(crate) fn parent(&self, unit: UnitId) -> Option<CommitId> {
        match self.commits.get(&self.unit(unit)?.commit)?.parents[..] {
            [parent] => Some(parent),
            _ => None,
        }
    }

    /// The units that this branch has. They are there whatever is taken, and need nothing.
    pub fn given(&self) -> &Selection {
        &self.given
    }

    /// The pairs of units that undo each other and of which the target has none.
    pub fn undone(&self) -> Vec<[UnitId; 2]> {
        let pair = |same: &SameAs| match same.same {
            Same::Reverts(earlier) => Some([earlier, same.unit]),
            Same::InTarget(_) => None,
        };
        self.same.iter().filter_map(pair).filter(|pair| !pair.iter().any(|unit| self.given.contains(unit))).collect()
    }

    /// The units that do the same as another commit or undo it: reverts in the range, and what the branch of
    /// [`TimelineOptions::onto`] has.
    pub fn same(&self) -> &[SameAs] {
        &self.same
    }

    /// The units that an invariant at a program point of an entity may be due to (the local backward analysis of section 4.1):
    /// those that change the entity, or something that its code uses within `depth` steps.
    pub fn influences(&self, entity: &SymbolName, depth: usize) -> Selection {
        names::influences(&self.last, &self.units, entity, depth)
    }

    /// A selection with what its units need.
    pub fn closed(&self, taken: &Selection) -> Selection {
        let needed = taken.iter().flat_map(|unit| self.text_needs(*unit)).copied();
        taken.iter().copied().chain(needed).collect()
    }

    /// Whether a selection has all that its units need.
    pub fn is_closed(&self, taken: &Selection) -> bool {
        taken.iter().all(|unit| self.text_needs(*unit).is_subset(taken))
    }

    /// The units that cannot stay without one of these, these included.
    pub fn dependents(&self, of: &Selection) -> Selection {
        let needs_one = |unit: &UnitId| of.contains(unit) || !self.text_needs(*unit).is_disjoint(of);
        (0..self.units.len() as u32).map(UnitId).filter(needs_one).collect()
    }

    /// The files with some units. Nothing is written and nothing conflicts; a selection that is not closed has a tree, too.
    ///
    /// # Errors
    ///
    /// Where git cannot hash.
    pub fn tree(&self, taken: &Selection) -> Result<Tree, SliceError> {
        let view = self.makers.of_units(taken);
        let shown = |(number, story): (usize, &Story)| match self.whole(number, taken) {
            Some(whole) => story.shown(&self.contents, &self.makers.of_units(&whole)),
            None => story.shown(&self.contents, &view),
        };
        let shown = self.stories.iter().enumerate().filter_map(shown).collect();
        let unchanged = self.untouched.iter().map(|(path, item)| (path.clone(), *item));
        Ok(Tree::of(unchanged, shown)?)
    }

    /// The units that the text of each unit needs in a free file, by the number of its story. `None` for other files.
    fn free_needs(&self, story: usize) -> Option<&FxHashMap<UnitId, Selection>> {
        self.free.as_ref()?.0.get(&story)
    }

    /// A selection with all that its text needs in a free file.
    fn whole(&self, story: usize, taken: &Selection) -> Option<Selection> {
        let needs = self.free_needs(story)?;
        let needed = taken.iter().filter_map(|unit| needs.get(unit)).flatten();
        Some(taken.iter().chain(needed).copied().collect())
    }

    /// For each line at the end of the range, the unit that made it, by file. Lines from before the range have none.
    pub fn line_units(&self) -> BTreeMap<Arc<[u8]>, Vec<Option<UnitId>>> {
        let all = self.all();
        let view = self.makers.of_units(&all);
        let of_text = |story: &Story| {
            let story::Body::Text(weave) = &story.body else { return None };
            let units = weave.line_makers(&view).into_iter().map(|maker| self.makers.unit(maker));
            Some((story.path(&view)?.clone(), units.collect()))
        };
        self.stories.iter().filter_map(of_text).collect()
    }

    /// The content of a file of a tree. `None` for a submodule, and for more than `most` bytes.
    ///
    /// # Errors
    ///
    /// Where git cannot read it.
    pub fn content(&self, file: &TreeFile, most: usize) -> Result<Option<Arc<[u8]>>, SliceError> {
        match &file.text {
            Some(text) => Ok(Some(text.clone()).filter(|text| text.len() <= most)),
            None if file.mode == Item::SUBMODULE => Ok(None),
            None => Ok(self.repo().bytes(file.id, most)?.map(Arc::from)),
        }
    }
}

#[cfg(test)]
mod tests;
