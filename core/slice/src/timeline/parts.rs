//! Which Python entity each line of a changed text belongs to, so that a commit can be split. A new class or function is one part
//! with all that it holds; where the entity was there before, its own lines are one.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use twincell_semantic::{MemoryFiles, Project, Store, SymbolKind};
use twincell_syntax::parse::normalize_newlines;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::weave::Hunk;

/// The entities around each line of a text.
pub(super) struct EntityLines {
    /// From the outermost to the innermost one.
    around: Vec<Vec<Arc<str>>>,
    names: FxHashSet<Arc<str>>,
}

impl EntityLines {
    /// `None` for a text that cannot be read.
    pub fn of(text: &[u8], store: &Store) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let normal = normalize_newlines(text);
        let project = Project::open(MemoryFiles::from_iter([("a.py", &*normal)]), store);
        let module = project.module_at("a.py").filter(|module| !project.is_broken(*module))?;
        let starts: Vec<usize> = std::iter::once(0).chain(normal.match_indices('\n').map(|(end, _)| end + 1)).collect();
        let line = |offset: usize| starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let mut found: Vec<(std::ops::Range<usize>, Arc<str>)> = Vec::new();
        let mut names = FxHashSet::default();
        for symbol in project.symbols_of(module).filter_map(|symbol| project.symbol(symbol)) {
            if matches!(symbol.kind, SymbolKind::Module | SymbolKind::Field) {
                continue;
            }
            names.insert(symbol.qualname.clone());
            for place in &symbol.places {
                let (start, end) = (place.range.start().to_usize(), place.range.end().to_usize());
                found.push((line(start)..line(end.saturating_sub(1).max(start)) + 1, symbol.qualname.clone()));
            }
        }
        found.sort_by_key(|(lines, _)| std::cmp::Reverse(lines.len()));
        // A lone carriage return is a line end for Python and none for git.
        let count = text.split_inclusive('\n').count();
        if starts.len() > count + 1 {
            return None;
        }
        let mut around = vec![Vec::new(); count];
        for (lines, name) in found {
            for line in lines {
                if let Some(around) = around.get_mut(line) {
                    around.push(name.clone());
                }
            }
        }
        Some(Self { around, names })
    }

    /// A number for each line with the entity that it stands in. Equal lines of two entities are not one line that stays.
    pub fn places(&self, lines: &[u32]) -> Vec<u64> {
        let entity = |line: usize| self.around.get(line).and_then(|around| around.last()).map_or("", |name| name);
        let numbers = lines.iter().enumerate();
        numbers.map(|(place, line)| xxh3_64_with_seed(entity(place).as_bytes(), u64::from(*line))).collect()
    }

    /// The entity of a line: the outermost one that the other version has not, else the innermost one.
    fn entity(&self, line: usize, other: &Self) -> Option<Arc<str>> {
        let around = self.around.get(line)?;
        around.iter().find(|name| !other.names.contains(*name)).or(around.last()).cloned()
    }
}

/// The entities of what a hunk does: of the lines that go as a whole, and of each line that comes. Where lines of several
/// entities go, all are of the first.
pub(super) fn of_hunk(
    hunk: &Hunk,
    versions: Option<&(EntityLines, EntityLines)>,
    is_blank: &dyn Fn(usize) -> bool,
) -> (Option<Arc<str>>, Vec<Option<Arc<str>>>) {
    let Some((old, new)) = versions else { return (None, vec![None; hunk.new.len()]) };
    let mut going = hunk.old.clone().map(|line| old.entity(line, new));
    let first = going.next().flatten();
    if going.any(|entity| entity != first) {
        return (first.clone(), vec![first; hunk.new.len()]);
    }
    // Empty lines go with what follows them.
    let mut next: Option<Option<Arc<str>>> = None;
    let mut entities: Vec<Option<Option<Arc<str>>>> = Vec::with_capacity(hunk.new.len());
    for line in hunk.new.clone().rev() {
        let entity = new.entity(line, old);
        if !is_blank(line) || entity.is_some() {
            next = Some(entity);
        }
        entities.push(next.clone());
    }
    entities.reverse();
    let mut before = entities.iter().flatten().last().cloned().flatten();
    let mut filled: Vec<Option<Arc<str>>> = Vec::with_capacity(entities.len());
    for entity in entities {
        before = entity.unwrap_or(before);
        filled.push(before.clone());
    }
    (first, filled)
}
