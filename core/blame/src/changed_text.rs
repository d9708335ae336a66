//! What part of a commit changed the value, as far as the texts of both versions tell.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::{Arc, Mutex};

use twincell_repo::{CommitId, Hunk, HunkLineKind, Repo, RepoError, Revision};
use twincell_semantic::{Cause, Project, Referent, SnapshotFiles, Store, SymbolId, change};

use crate::follow::{Found, definition};
use crate::result::{ChangedText, Why};

/// The maximum size in bytes of a file.
const MAX_FILE: usize = 2 << 20;
/// The maximum number of files in versions whose symbols are compared: more take longer than the search for the commit.
const MAX_FILES: usize = 3_000;

/// The hunks of the function itself, else those of what it uses, else those of its file.
///
/// # Errors
///
/// Where git cannot read a version.
pub fn changed_text(
    repo: &Repo,
    (before, old): (CommitId, &Found),
    (commit, new): (CommitId, &Found),
) -> Result<Option<ChangedText>, RepoError> {
    let hunks = repo.hunks(old.file, new.file)?;
    let lines = |found: &Found| -> Result<Option<RangeInclusive<u32>>, RepoError> {
        let bytes = found.file.map(|file| repo.bytes(file, MAX_FILE)).transpose()?.flatten();
        let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let own = text.and_then(|text| definition(&text, &found.place.function));
        Ok(own.map(|own| {
            let first = own.first_line.saturating_sub(own.decorators.len() as u32);
            first..=(own.first_line + own.text.lines().count() as u32).saturating_sub(1)
        }))
    };
    let file = new.place.file.clone();
    let own = touching(&hunks, lines(old)?, lines(new)?);
    if !own.is_empty() {
        return Ok(Some(ChangedText { file, why: Why::Own, hunks: own }));
    }
    if let Some(used) = used(repo, before, (commit, new))? {
        return Ok(Some(used));
    }
    Ok((!hunks.is_empty()).then_some(ChangedText { file, why: Why::SameFile, hunks }))
}

/// The hunks that change one of these lines.
fn touching(hunks: &[Hunk], old: Option<RangeInclusive<u32>>, new: Option<RangeInclusive<u32>>) -> Vec<Hunk> {
    let within = |range: &Option<RangeInclusive<u32>>, line: Option<u32>| {
        line.is_some_and(|line| range.as_ref().is_some_and(|range| range.contains(&line)))
    };
    let changes = |hunk: &&Hunk| {
        let mut changed = hunk.lines.iter().filter(|line| line.kind != HunkLineKind::Same);
        changed.any(|line| within(&old, line.old) || within(&new, line.new))
    };
    hunks.iter().filter(changes).cloned().collect()
}

/// The change of a symbol that the function uses, directly or not.
fn used(repo: &Repo, before: CommitId, (commit, found): (CommitId, &Found)) -> Result<Option<ChangedText>, RepoError> {
    let shared = Arc::new(Mutex::new(Repo::open_again(repo.path())?));
    let store = Store::new();
    let files = |id: CommitId| SnapshotFiles::of(&shared, &Revision::Commit(id.to_string()));
    let (old, new) = (files(before)?, files(commit)?);
    use twincell_semantic::Files as _;
    if old.paths().len().max(new.paths().len()) > MAX_FILES {
        return Ok(None);
    }
    let (old, new) = (Project::open(old, &store), Project::open(new, &store));
    let own = new.module_at(&found.place.file).and_then(|module| new.find_in(module, &found.place.function));
    let Some(own) = own else { return Ok(None) };
    let change = change(&old, &new);
    let changed: HashSet<SymbolId> =
        change.changed.iter().map(|(_, new)| *new).chain(change.added.iter().copied()).collect();
    let mut seen = HashSet::new();
    let mut at = own;
    while seen.insert(at) {
        if at != own && changed.contains(&at) {
            break;
        }
        let cause = change.affected.iter().find(|one| one.new == at).map(|one| &one.because);
        match cause {
            Some(Cause::Uses(symbol) | Cause::NamesNew(Referent::Symbol(symbol))) => at = *symbol,
            _ => return Ok(None),
        }
    }
    let name = new.name(at);
    let path = Path::new(&*name.path);
    let old_symbol = change.changed.iter().find(|(_, new)| *new == at).map(|(old, _)| *old);
    let old_path = old_symbol.map(|symbol| old.name(symbol).path);
    let old_file = repo.file_at(before, old_path.as_deref().map_or(path, Path::new))?;
    let new_file = repo.file_at(commit, path)?;
    let hunks = repo.hunks(old_file, new_file)?;
    let lines = |project: &Project, symbol: Option<SymbolId>, file| -> Result<_, RepoError> {
        let Some(symbol) = symbol.and_then(|symbol| project.symbol(symbol)) else { return Ok(None) };
        let bytes = match file {
            Some(file) => repo.bytes(file, MAX_FILE)?.unwrap_or_default(),
            None => vec![],
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let text = twincell_syntax::parse::normalize_newlines(&text);
        let index = twincell_syntax::parse::Lines::new(&text);
        let ranges = symbol.places.iter().map(|place| place.range);
        let first = ranges.clone().map(|range| index.line(range.start())).min();
        let last = ranges.map(|range| index.line(range.end())).max();
        Ok(first.zip(last).map(|(first, last)| first..=last))
    };
    let within = touching(&hunks, lines(&old, old_symbol, old_file)?, lines(&new, Some(at), new_file)?);
    let hunks = if within.is_empty() { hunks } else { within };
    let symbol = name.to_string();
    Ok((!hunks.is_empty()).then(|| ChangedText { file: name.path.to_string(), why: Why::Uses { symbol }, hunks }))
}
