//! Reads a range of commits into units: each commit is compared with what its parents make together, so that a merge is what
//! only the merge changed, and its lines are followed.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use twincell_repo::{CommitId, CommitRecord, Item, Range, Repo, TreeChange, TreeId};
use twincell_semantic::Store;

use super::makers::{Commits, Maker, Makers, START, Setting};
use super::parts::{EntityLines, of_hunk};
use super::same::Prints;
use super::story::{Body, MAX_TEXT, Story, is_file, is_text};
use super::weave::{Contents, MadeHunk, Weave, diff};
use super::{By, Part, TimelineOptions, Unit};
use crate::error::SliceError;
use crate::selection::UnitId;

/// How many commits before the range are followed, where a branch that was merged in it began earlier.
const MAX_BEFORE: usize = 5000;
/// How many texts are held that may come again as the old version of a change.
const MAX_TEXTS: usize = 300;

/// All that is read, and what is known of the commit that is being read.
pub(super) struct Reader<'r> {
    repo: &'r Repo,
    options: &'r TimelineOptions,
    /// What is read, as the user says it.
    range: &'r str,
    /// How many lines are followed.
    lines: usize,
    pub makers: Makers,
    pub contents: Contents,
    pub stories: Vec<Story>,
    /// The stories that were ever under a path.
    at: BTreeMap<Arc<[u8]>, Vec<usize>>,
    /// What was there at the start and that no commit has touched.
    pub untouched: BTreeMap<Arc<[u8]>, Item>,
    pub commits: Vec<CommitRecord>,
    ancestors: Vec<Commits>,
    /// The stories that each commit touched, by its place among the commits.
    pub touched: Vec<Vec<usize>>,
    pub units: Vec<Unit>,
    /// Whom each maker needs.
    pub needs: Vec<(Maker, Maker)>,
    /// Where the needs of each change of a file end among all, which begin at the end of those of the one before.
    pub spans: Vec<NeedsOfFile>,
    pub prints: Prints,
    /// The texts that were read to split commits.
    store: Store,
    /// The makers of the commit that is being read.
    parts: FxHashMap<Option<Part>, Maker>,
    /// Its number.
    current: u32,
    /// How many commits are always taken.
    before: u32,
}

/// What a merge changed itself.
#[derive(Default)]
struct MergeChanges {
    changes: Vec<TreeChange>,
    /// Files under the path of another one.
    hidden: Vec<usize>,
}

/// The needs that the change of one file brought.
pub(super) struct NeedsOfFile {
    pub end: usize,
    /// Its path, and the one before.
    pub paths: Vec<PathBuf>,
}

/// The ends of a range.
pub(super) struct Ends {
    pub base: CommitRecord,
    pub last: CommitRecord,
}

/// The commits at both ends of a range, and those between them.
pub(super) fn ends(repo: &Repo, range: &str, most: usize) -> Result<(Ends, Vec<CommitRecord>), SliceError> {
    let parsed = Range::parse(range).ok_or_else(|| SliceError::NoRange(range.to_owned()))?;
    let Some(new) = parsed.new else { return Err(SliceError::NoRange(range.to_owned())) };
    let (first, last) = (repo.commit_id(Some(parsed.old))?, repo.commit_id(Some(new))?);
    let (old, new) = (parsed.old.to_owned(), new.to_owned());
    let base = match repo.merge_bases(&[first, last])?[..] {
        [base] => base,
        [] => return Err(SliceError::NoCommonCommit { old, new }),
        _ => return Err(SliceError::SeveralCommonCommits { old, new }),
    };
    let commits = repo.commits_between(&[base], &[last], most)?;
    Ok((Ends { base: repo.commit_record(base)?, last: repo.commit_record(last)? }, commits))
}

impl<'r> Reader<'r> {
    /// Reads all commits.
    pub fn read(
        repo: &'r Repo,
        (range, ends): (&'r str, &Ends),
        commits: Vec<CommitRecord>,
        options: &'r TimelineOptions,
    ) -> Result<Self, SliceError> {
        let (start, earlier) = before(repo, &ends.base, &commits)?;
        let untouched = repo.tree_items(start)?.into_iter().map(|(path, item)| (path.into(), item)).collect();
        let mut reader = Self {
            repo,
            options,
            range,
            lines: 0,
            makers: Makers::default(),
            contents: Contents::default(),
            stories: Vec::new(),
            at: BTreeMap::new(),
            untouched,
            before: earlier.len() as u32,
            commits: earlier.into_iter().chain(commits).collect(),
            ancestors: Vec::new(),
            touched: Vec::new(),
            units: Vec::new(),
            needs: Vec::new(),
            spans: Vec::new(),
            prints: Prints::default(),
            store: Store::new(),
            parts: FxHashMap::default(),
            current: 0,
        };
        reader.makers.add(0, None);
        let mut numbers: FxHashMap<CommitId, u32> = FxHashMap::default();
        for number in 0..reader.commits.len() as u32 {
            let Some(commit) = reader.commits.get(number as usize) else { break };
            if options.stop.is_asked() {
                return Err(SliceError::Interrupted);
            }
            let (id, tree) = (commit.id, commit.tree);
            let mut parents: Vec<u32> =
                commit.parents.iter().map(|parent| numbers.get(parent).copied().unwrap_or(0)).collect();
            parents.dedup();
            numbers.insert(id, number);
            reader.current = number;
            reader.parts.clear();
            if reader.store.len() > MAX_TEXTS {
                reader.store.shrink();
            }
            reader.touched.push(Vec::new());
            let mut view = Commits::default();
            if number == 0 {
                view.insert(0);
                reader.ancestors.push(view);
                continue;
            }
            if parents.is_empty() {
                // A second history that begins here. What the first one had at its start is not in it.
                parents.push(0);
            }
            for parent in &parents {
                if let Some(ancestors) = reader.ancestors.get(*parent as usize) {
                    view.extend(ancestors);
                }
            }
            let same = parents.iter().find(|parent| reader.ancestors.get(**parent as usize) == Some(&view));
            let same = same.and_then(|parent| reader.commits.get(*parent as usize));
            if let Some(parent) = same {
                reader.apply(&view, repo.tree_changes(Some(parent.tree), tree, MAX_TEXT)?)?;
            } else {
                let merged = reader.merge_changes(&view, &parents, tree)?;
                merged.hidden.into_iter().for_each(|story| reader.hide(story));
                reader.apply(&view, merged.changes)?;
            }
            view.insert(number);
            reader.ancestors.push(view);
        }
        Ok(reader)
    }

    /// What a merge has otherwise than its parents make together.
    fn merge_changes(&self, view: &Commits, parents: &[u32], tree: TreeId) -> Result<MergeChanges, SliceError> {
        let first = parents.first().map_or(0, |parent| *parent as usize);
        let (Some(before), Some(parent)) = (self.ancestors.get(first), self.commits.get(first)) else {
            return Ok(MergeChanges::default());
        };
        let mut paths: FxHashSet<Arc<[u8]>> = FxHashSet::default();
        for change in self.repo.tree_changes(Some(parent.tree), tree, 0)? {
            paths.extend(change.renamed_from.map(Arc::from));
            paths.insert(change.path.into());
        }
        let (in_view, in_first) = (self.makers.of_commits(view), self.makers.of_commits(before));
        for story in view.without(before).filter_map(|commit| self.touched.get(commit as usize)).flatten() {
            let Some(story) = self.stories.get(*story) else { continue };
            paths.extend(story.path(&in_view).cloned());
            paths.extend(story.path(&in_first).cloned());
        }
        let mut paths: Vec<Arc<[u8]>> = paths.into_iter().collect();
        paths.sort();
        let mut found = MergeChanges::default();
        for path in paths {
            let mut here = self.present_at(&in_view, &path);
            let shown = here.pop().and_then(|story| self.stories.get(story)?.shown(&self.contents, &in_view));
            found.hidden.extend(here);
            let old = shown.map(|shown| shown.item).or_else(|| self.untouched.get(&path).copied());
            let new = self.repo.tree_item(tree, &path);
            if old != new {
                found.changes.push(TreeChange { path: path.to_vec(), renamed_from: None, old, new });
            }
        }
        Ok(found)
    }

    /// The stories under a path, the one that counts last.
    fn present_at(&self, view: &dyn Fn(Maker) -> bool, path: &[u8]) -> Vec<usize> {
        let there = self.at.get(path).map_or(&[][..], |stories| stories);
        let is_there = |number: &&usize| {
            self.stories.get(**number).and_then(|story| story.path(view)).is_some_and(|here| **here == *path)
        };
        let mut found: Vec<usize> = there.iter().filter(is_there).copied().collect();
        found.sort_by_key(|number| self.stories.get(*number).map(|story| story.put_by(view)));
        found
    }

    /// The maker of a part of the current commit.
    fn maker(&mut self, part: Option<Part>) -> Maker {
        let part = part.filter(|_| self.options.by == By::Change);
        if let Some(known) = self.parts.get(&part) {
            return *known;
        }
        let is_unit = self.current >= self.before;
        let unit = is_unit.then_some(UnitId(self.units.len() as u32));
        let maker = match self.current {
            0 => START,
            commit => self.makers.add(commit, unit),
        };
        if let (Some(_), Some(commit)) = (unit, self.commits.get(self.current as usize)) {
            self.units.push(Unit::of(commit, part.clone()));
        }
        self.parts.insert(part, maker);
        maker
    }

    /// Takes away one of two files that both sides of a merge put under one path.
    fn hide(&mut self, number: usize) {
        let maker = self.maker(None);
        if let Some(story) = self.stories.get_mut(number) {
            story.presence.set(maker, false);
        }
        self.touch(number);
    }

    fn touch(&mut self, story: usize) {
        if let Some(touched) = self.touched.last_mut()
            && touched.last() != Some(&story)
        {
            touched.push(story);
        }
    }

    fn note(&mut self, maker: Maker, path: &[u8]) {
        if let Some(unit) = self.makers.unit(maker).and_then(|unit| self.units.get_mut(unit.0 as usize)) {
            let path = as_path(path);
            if !unit.paths.contains(&path) {
                unit.is_python |= is_python(&path);
                unit.paths.push(path);
            }
        }
    }

    /// Makes the changes of the current commit.
    fn apply(&mut self, view: &Commits, changes: Vec<TreeChange>) -> Result<(), SliceError> {
        // What goes makes room for what comes.
        let (gone, others): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| change.new.is_none());
        for change in gone.iter().chain(&others) {
            match (change.old, change.new) {
                (Some(old), None) => self.remove(view, &change.path, Some(old))?,
                (None, Some(item)) => self.create(view, &change.path, item)?,
                (Some(_), Some(item)) => {
                    let from = change.renamed_from.as_deref().unwrap_or(&change.path);
                    self.update(view, (from, &change.path), change.old, item)?;
                }
                (None, None) => {}
            }
            let TreeChange { path, renamed_from, .. } = change;
            let paths = [path].into_iter().chain(renamed_from).map(|path| as_path(path)).collect();
            self.spans.push(NeedsOfFile { end: self.needs.len(), paths });
        }
        Ok(())
    }

    /// The story under a path. A file of the start gets one when it is first touched.
    fn story(&mut self, view: &Commits, path: &[u8]) -> Result<usize, SliceError> {
        if let Some(found) = self.present_at(&self.makers.of_commits(view), path).pop() {
            return Ok(found);
        }
        let Some((path, item)) = self.untouched.remove_entry(path) else { return Err(self.inexact(path)) };
        let body = self.body(item, START)?.0;
        Ok(self.add(Story::new(START, path.clone(), item.mode, body), path))
    }

    fn add(&mut self, story: Story, path: Arc<[u8]>) -> usize {
        let number = self.stories.len();
        self.stories.push(story);
        self.at.entry(path).or_default().push(number);
        number
    }

    fn body(&mut self, item: Item, maker: Maker) -> Result<(Body, Option<Vec<u8>>), SliceError> {
        let text = match is_file(item.mode) {
            true => self.repo.bytes(item.id, MAX_TEXT)?.filter(|bytes| is_text(bytes)),
            false => None,
        };
        Ok(match text {
            Some(text) => {
                let lines = self.contents.lines(&text);
                self.hold(lines.len())?;
                (Body::Text(Weave::new(lines, maker)), Some(text))
            }
            None => (Body::Whole(Setting::new(maker, item.id)), None),
        })
    }

    /// Counts lines that are followed from now on.
    fn hold(&mut self, lines: usize) -> Result<(), SliceError> {
        self.lines += lines;
        let TimelineOptions { max_lines, max_bytes, .. } = *self.options;
        let bound = match () {
            () if self.lines > max_lines => format!("{max_lines} lines"),
            () if self.contents.size() > max_bytes => format!("{max_bytes} bytes"),
            () => return Ok(()),
        };
        Err(SliceError::TooLarge { range: self.range.to_owned(), bound })
    }

    fn remove(&mut self, view: &Commits, path: &[u8], old: Option<Item>) -> Result<(), SliceError> {
        let number = self.story(view, path)?;
        let maker = self.maker(Some(Part::file(path)));
        self.note(maker, path);
        self.touch(number);
        let in_view = self.makers.of_commits(view);
        if let Some(story) = self.stories.get_mut(number) {
            let setters = [story.presence.get(&in_view).map(|one| one.0), story.path.get(&in_view).map(|one| one.0)];
            self.needs.extend(setters.into_iter().flatten().map(|setter| (maker, setter)));
            story.presence.set(maker, false);
            if let Some(shown) = old {
                self.prints.of(maker).remove(path, &presence_mark(shown));
            }
        }
        Ok(())
    }

    fn create(&mut self, view: &Commits, path: &[u8], item: Item) -> Result<(), SliceError> {
        let maker = self.maker(Some(Part::file(path)));
        self.note(maker, path);
        self.prints.of(maker).add(path, &presence_mark(item));
        if let Some(number) = self.revive(view, path, item, maker) {
            self.touch(number);
            return Ok(());
        }
        self.claim(view, path, maker);
        let path: Arc<[u8]> = path.into();
        let body = self.body(item, maker)?.0;
        let number = self.add(Story::new(maker, path.clone(), item.mode, body), path);
        self.touch(number);
        Ok(())
    }

    /// Shows a removed file again that comes back as it was.
    fn revive(&mut self, view: &Commits, path: &[u8], item: Item, maker: Maker) -> Option<usize> {
        let in_view = self.makers.of_commits(view);
        let always =
            |story: &Story| story.presence.all().iter().any(|(maker, is_present)| *is_present && in_view(*maker));
        for number in self.at.get(path).into_iter().flatten().rev() {
            let Some(story) = self.stories.get_mut(*number) else { continue };
            if story.is_present(&in_view)
                || !always(story)
                || story.path.get(&in_view).is_none_or(|one| *one.1 != *path)
            {
                continue;
            }
            let id = match &story.body {
                Body::Text(weave) => twincell_repo::FileId::of(&weave.text(&self.contents, &in_view)),
                Body::Whole(id) => id.get(&in_view).map(|one| one.1),
            };
            if id != Some(item.id) || story.mode.get(&in_view).is_none_or(|one| one.1 != item.mode) {
                continue;
            }
            story.presence.set(maker, true);
            return Some(*number);
        }
        None
    }

    /// Says that a maker needs those who made room under a path: no file and no folder may be there.
    fn claim(&mut self, view: &Commits, path: &[u8], maker: Maker) {
        let in_view = self.makers.of_commits(view);
        let folder = [path, b"/"].concat();
        let above =
            path.iter().enumerate().filter(|(_, byte)| **byte == b'/').filter_map(|(end, _)| self.at.get(&path[..end]));
        let below = self
            .at
            .range::<[u8], _>((Bound::Included(&folder[..]), Bound::Unbounded))
            .take_while(|(other, _)| other.starts_with(&folder));
        let others = above.chain(self.at.get(path)).chain(below.map(|one| one.1)).flatten();
        let mut needs = Vec::new();
        for story in others.filter_map(|number| self.stories.get(*number)) {
            let was_there = |one: &&(Maker, Arc<[u8]>)| in_view(one.0);
            let moves = story.path.all().iter().filter(was_there).skip(1).map(|one| one.0);
            let gone = story.presence.all().iter().filter(|one| !one.1 && in_view(one.0)).map(|one| one.0);
            needs.extend(moves.chain(gone).map(|other| (maker, other)));
        }
        self.needs.extend(needs);
    }

    fn update(
        &mut self,
        view: &Commits,
        (from, path): (&[u8], &[u8]),
        old: Option<Item>,
        item: Item,
    ) -> Result<(), SliceError> {
        let number = self.story(view, from)?;
        let new_body = {
            let Some(story) = self.stories.get(number) else { return Err(self.inexact(path)) };
            let in_view = self.makers.of_commits(view);
            let mode = story.mode.get(&in_view).map_or(0, |one| one.1);
            let same_type = is_file(mode) == is_file(item.mode) && (is_file(mode) || mode == item.mode);
            let text = match same_type && is_file(item.mode) {
                true => self.repo.bytes(item.id, MAX_TEXT)?.filter(|bytes| is_text(bytes)),
                false => None,
            };
            same_type.then_some(text).filter(|text| text.is_some() == matches!(story.body, Body::Text(_)))
        };
        let Some(text) = new_body else {
            // It is another file now.
            self.remove(view, from, old)?;
            return self.create(view, path, item);
        };
        let is_renamed = from != path;
        let mode = {
            let in_view = self.makers.of_commits(view);
            self.stories.get(number).and_then(|story| story.mode.get(&in_view)).map(|one| one.1)
        };
        self.touch(number);
        if is_renamed || mode != Some(item.mode) {
            let maker = self.maker(Some(Part::file(path)));
            self.note(maker, path);
            self.exists(view, number, maker);
            if is_renamed {
                self.note(maker, from);
                self.claim(view, path, maker);
                let there = self.at.entry(path.into()).or_default();
                // Two branches may have renamed it in the same way.
                if !there.contains(&number) {
                    there.push(number);
                }
            }
            let in_view = self.makers.of_commits(view);
            if let Some(story) = self.stories.get_mut(number) {
                if is_renamed {
                    self.prints.of(maker).add(path, b"");
                    self.prints.of(maker).remove(from, b"");
                    self.needs.extend(story.path.get(&in_view).map(|one| (maker, one.0)));
                    story.path.set(maker, path.into());
                }
                if mode != Some(item.mode) {
                    self.prints.of(maker).add(path, &item.mode.to_le_bytes());
                    self.prints.of(maker).remove(path, &mode.unwrap_or(0).to_le_bytes());
                    self.needs.extend(story.mode.get(&in_view).map(|one| (maker, one.0)));
                    story.mode.set(maker, item.mode);
                }
            }
        }
        match text {
            Some(text) => self.update_text(view, number, path, &text),
            None => {
                self.update_whole(view, number, path, item);
                Ok(())
            }
        }
    }

    /// Says that a maker needs the file.
    fn exists(&mut self, view: &Commits, number: usize, maker: Maker) {
        let in_view = self.makers.of_commits(view);
        if let Some(story) = self.stories.get(number) {
            self.needs.extend(story.presence.get(&in_view).map(|one| (maker, one.0)));
        }
    }

    fn update_whole(&mut self, view: &Commits, number: usize, path: &[u8], item: Item) {
        let is_same = |story: &Story, makers: &Makers| match &story.body {
            Body::Whole(id) => id.get(&makers.of_commits(view)).is_some_and(|one| one.1 == item.id),
            Body::Text(_) => false,
        };
        if self.stories.get(number).is_some_and(|story| is_same(story, &self.makers)) {
            return;
        }
        let maker = self.maker(Some(Part::file(path)));
        self.note(maker, path);
        self.exists(view, number, maker);
        let in_view = self.makers.of_commits(view);
        if let Some(Body::Whole(id)) = self.stories.get_mut(number).map(|story| &mut story.body) {
            if let Some((before, old)) = id.get(&in_view) {
                self.needs.push((maker, *before));
                self.prints.of(maker).remove(path, old.as_bytes());
            }
            self.prints.of(maker).add(path, item.id.as_bytes());
            id.set(maker, item.id);
        }
    }

    fn update_text(&mut self, view: &Commits, number: usize, path: &[u8], text: &[u8]) -> Result<(), SliceError> {
        let new = self.contents.lines(text);
        let split = self.options.by == By::Change && is_python(&as_path(path));
        let (old, versions) = match self.stories.get(number).map(|story| &story.body) {
            Some(Body::Text(weave)) => {
                let in_view = self.makers.of_commits(view);
                let read = || {
                    let before = weave.text(&self.contents, &in_view);
                    EntityLines::of(&before, &self.store).zip(EntityLines::of(text, &self.store))
                };
                (weave.numbers(&in_view), split.then(read).flatten())
            }
            _ => return Err(self.inexact(path)),
        };
        let hunks = match &versions {
            Some((before, after)) => diff(&before.places(&old), &after.places(&new)),
            None => diff(&old, &new),
        };
        self.hold(hunks.iter().map(|hunk| hunk.new.len()).sum())?;
        let mut made = Vec::new();
        for hunk in hunks {
            let is_blank =
                |line: usize| new.get(line).is_some_and(|line| self.contents.bytes(*line).trim_ascii().is_empty());
            let (removed, added) = of_hunk(&hunk, versions.as_ref(), &is_blank);
            let mut of = |entity: Option<Arc<str>>| {
                let maker = self.maker(Some(Part { path: as_path(path), entity }));
                self.note(maker, path);
                self.exists(view, number, maker);
                maker
            };
            let mut makers: Vec<Maker> = Vec::with_capacity(added.len());
            let mut last: Option<(Option<Arc<str>>, Maker)> = None;
            for entity in added {
                let maker = match &last {
                    Some((known, maker)) if *known == entity => *maker,
                    _ => of(entity.clone()),
                };
                last = Some((entity, maker));
                makers.push(maker);
            }
            let remover = if hunk.old.is_empty() { makers.first().copied() } else { None };
            let remover = remover.unwrap_or_else(|| of(removed));
            for line in old.get(hunk.old.clone()).unwrap_or_default() {
                self.prints.of(remover).remove(path, self.contents.bytes(*line));
            }
            for (line, maker) in new.get(hunk.new.clone()).unwrap_or_default().iter().zip(&makers) {
                self.prints.of(*maker).add(path, self.contents.bytes(*line));
            }
            made.push(MadeHunk { hunk, remover, makers });
        }
        let mut after = view.clone();
        after.insert(self.current);
        let (before, after) = (self.makers.of_commits(view), self.makers.of_commits(&after));
        let is_exact = match self.stories.get_mut(number).map(|story| &mut story.body) {
            Some(Body::Text(weave)) => {
                weave.apply(&self.contents, &before, &made, &new, &mut self.needs);
                weave.add_surroundings(&self.contents, &after, &made, is_python(&as_path(path)), &mut self.needs);
                weave.text(&self.contents, &after) == text
            }
            _ => false,
        };
        if is_exact { Ok(()) } else { Err(self.inexact(path)) }
    }

    fn inexact(&self, path: &[u8]) -> SliceError {
        let commit = self.commits.get(self.current as usize).map(|commit| commit.id.to_string()).unwrap_or_default();
        SliceError::Inexact { path: as_path(path).display().to_string(), commit }
    }
}

/// The tree from which histories are followed, and the commits from there to the base of the range, which are always taken. It
/// is the base itself unless a branch that was merged in the range began earlier.
fn before(
    repo: &Repo,
    base: &CommitRecord,
    commits: &[CommitRecord],
) -> Result<(TreeId, Vec<CommitRecord>), SliceError> {
    let known: FxHashSet<CommitId> = commits.iter().map(|commit| commit.id).collect();
    let mut roots = vec![base.id];
    for parent in commits.iter().flat_map(|commit| &commit.parents) {
        if !known.contains(parent) && !roots.contains(parent) {
            roots.push(*parent);
        }
    }
    if roots.len() == 1 {
        return Ok((base.tree, vec![base.clone()]));
    }
    let Some(start) = repo.merge_bases(&roots)?.first().copied() else {
        return Ok((base.tree, vec![base.clone()]));
    };
    let start = repo.commit_record(start)?;
    let mut earlier = vec![start.clone()];
    match repo.commits_between(&[start.id], &[base.id], MAX_BEFORE) {
        Ok(found) => earlier.extend(found),
        // Too far back: the first commit of the branch then holds what it lacks of the base.
        Err(twincell_repo::RepoError::TooManyCommits { .. }) => earlier = vec![base.clone()],
        Err(error) => return Err(error.into()),
    }
    let tree = earlier.first().map_or(base.tree, |commit| commit.tree);
    Ok((tree, earlier))
}

/// What stands for a file that comes or goes as a whole.
fn presence_mark(item: Item) -> Vec<u8> {
    [item.id.as_bytes(), &item.mode.to_le_bytes()].concat()
}

pub(super) fn as_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).into()
}

pub(super) fn is_python(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "py" || ending == "pyi")
}
