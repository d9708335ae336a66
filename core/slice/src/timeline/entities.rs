//! The atomic changes of each unit (section 3 of the paper): which entities of Python files it inserts, deletes and updates, and
//! which names it begins to use and stops using. Only changed files are parsed, once for each content.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;
use twincell_engine::Stop;
use twincell_repo::{CommitId, Repo, RepoError, Revision};
use twincell_semantic::{Project, Referent, SnapshotFiles, Store, SymbolId, SymbolName, names_in, same_text};

use super::reader::is_python;
use super::{EntityChange, EntityChangeKind, Unit};
use crate::error::SliceError;
use crate::selection::UnitId;

/// Names that a unit begins or stops to use.
#[derive(Debug, Default)]
pub(super) struct NameChanges {
    pub gained: Vec<Gained>,
    pub lost: Vec<(UnitId, Lost)>,
}

/// A use of any of some names that is no more.
#[derive(Debug)]
pub(super) struct Lost {
    pub user: SymbolName,
    pub names: Vec<SymbolName>,
}

/// A name that a unit begins to use.
#[derive(Debug)]
pub(super) struct Gained {
    pub unit: UnitId,
    pub user: SymbolName,
    /// Any of these suffices.
    pub names: Vec<SymbolName>,
}

/// Opens versions of the project, of which few are held at a time.
pub(super) struct Versions {
    repo: Arc<Mutex<Repo>>,
    store: Store,
    open: Vec<(CommitId, Arc<Project>)>,
}

/// A commit is compared with the one before it, which is mostly the last but one that was opened.
const HELD: usize = 3;

impl Versions {
    pub fn new(repo: &Arc<Mutex<Repo>>) -> Self {
        Self { repo: repo.clone(), store: Store::new(), open: Vec::new() }
    }

    pub fn at(&mut self, commit: CommitId) -> Result<Arc<Project>, RepoError> {
        if let Some((_, known)) = self.open.iter().find(|(id, _)| *id == commit) {
            return Ok(known.clone());
        }
        let files = SnapshotFiles::of(&self.repo, &Revision::Commit(commit.to_string()))?;
        let project = Arc::new(Project::open(files, &self.store));
        if self.open.len() == HELD {
            self.open.remove(0);
            self.store.shrink();
        }
        self.open.push((commit, project.clone()));
        Ok(project)
    }
}

/// Adds to each unit the entities that it changes. `parents` is what each commit is compared with.
pub(super) fn read(
    versions: &mut Versions,
    parents: &FxHashMap<CommitId, CommitId>,
    units: &mut [Unit],
    stop: &Stop,
) -> Result<NameChanges, SliceError> {
    let mut changes = NameChanges::default();
    let mut commits: Vec<(CommitId, Vec<usize>)> = Vec::new();
    for (number, unit) in units.iter().enumerate().filter(|(_, unit)| unit.is_python) {
        match commits.last_mut() {
            Some((commit, parts)) if *commit == unit.commit => parts.push(number),
            _ => commits.push((unit.commit, vec![number])),
        }
    }
    for (commit, parts) in commits {
        if stop.is_asked() {
            return Err(SliceError::Interrupted);
        }
        let Some(parent) = parents.get(&commit) else { continue };
        let is_merge = parts.first().and_then(|part| units.get(*part)).is_some_and(|unit| unit.is_merge);
        let (old, new) = (versions.at(*parent)?, versions.at(commit)?);
        let mut files: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for part in parts {
            for path in units.get(part).into_iter().flat_map(|unit| &unit.paths).filter(|path| is_python(path)) {
                files.entry(path.to_string_lossy().into_owned()).or_default().push(part);
            }
        }
        for (path, parts) in files {
            let file = File { old: &old, new: &new, path: &path };
            // What a merge changed itself is the difference to no version.
            let found = if is_merge { file.whole().into_iter().collect() } else { file.changes() };
            for change in found {
                let part = owner(units, &parts, &change.name);
                if let Some(unit) = part.and_then(|part| units.get_mut(part)) {
                    unit.entities.push(change);
                }
            }
            if is_merge {
                continue;
            }
            let (before, after) = (uses(&old, &path), uses(&new, &path));
            for (user, names) in after.iter().filter(|key| !before.contains(*key)) {
                let Some(unit) = owner(units, &parts, user) else { continue };
                let unit = UnitId(unit as u32);
                changes.gained.push(Gained { unit, user: user.clone(), names: names.clone() });
            }
            for (user, names) in before.iter().filter(|key| !after.contains(*key)) {
                if let Some(unit) = owner(units, &parts, user) {
                    let lost = Lost { user: user.clone(), names: names.clone() };
                    changes.lost.push((UnitId(unit as u32), lost));
                }
            }
        }
    }
    Ok(changes)
}

/// Which of the parts of a commit an entity of a file belongs to.
fn owner(units: &[Unit], parts: &[usize], name: &SymbolName) -> Option<usize> {
    let holds = |part: &&usize| {
        let entity = units.get(**part).and_then(|unit| unit.part.as_ref()?.entity.clone());
        entity.is_some_and(|entity| {
            name.qualname == entity || name.qualname.strip_prefix(&*entity).is_some_and(|rest| rest.starts_with('.'))
        })
    };
    let rest = |part: &&usize| {
        units.get(**part).is_some_and(|unit| unit.part.as_ref().is_none_or(|part| part.entity.is_none()))
    };
    parts.iter().find(holds).or_else(|| parts.iter().find(rest)).or(parts.first()).copied()
}

/// A Python file in two versions.
struct File<'a> {
    old: &'a Project,
    new: &'a Project,
    path: &'a str,
}

impl File<'_> {
    /// The file as the only entity that changes.
    fn whole(&self) -> Option<EntityChange> {
        let module = |project: &Project| {
            let module = project.module_at(self.path)?;
            Some(project.name(project.symbols_of(module).next()?))
        };
        let name = module(self.new).or_else(|| module(self.old))?;
        Some(EntityChange { name, entity: None, kind: EntityChangeKind::Update })
    }

    fn changes(&self) -> Vec<EntityChange> {
        let (old, new) = (self.old.module_at(self.path), self.new.module_at(self.path));
        let mut changes = Vec::new();
        if old.is_some_and(|module| self.old.is_broken(module)) || new.is_some_and(|module| self.new.is_broken(module))
        {
            // What cannot be read whole has no entities that could be compared: the file is one.
            return self.whole().into_iter().collect();
        }
        for symbol in new.into_iter().flat_map(|module| self.new.symbols_of(module)) {
            let (name, entity) = (self.new.name(symbol), self.new.symbol(symbol).map(|symbol| symbol.kind));
            match self.old.find(&name) {
                None => changes.push(EntityChange { name, entity, kind: EntityChangeKind::Insert }),
                Some(before)
                    if !same_text(self.old, before, self.new, symbol)
                        || symbol.is_module() && imports(self.old, before) != imports(self.new, symbol) =>
                {
                    changes.push(EntityChange { name, entity, kind: EntityChangeKind::Update });
                }
                Some(_) => {}
            }
        }
        for symbol in old.into_iter().flat_map(|module| self.old.symbols_of(module)) {
            let name = self.old.name(symbol);
            if self.new.find(&name).is_none() {
                let entity = self.old.symbol(symbol).map(|symbol| symbol.kind);
                changes.push(EntityChange { name, entity, kind: EntityChangeKind::Delete });
            }
        }
        changes
    }
}

/// What the statements of a module name that belong to none of its symbols: its imports.
fn imports(project: &Project, module: SymbolId) -> BTreeSet<String> {
    let own = names_in(project, module.module()).into_iter().filter(|one| one.owner == module);
    let text = |referent: Referent| match referent {
        Referent::Symbol(symbol) => project.name(symbol).to_string(),
        Referent::External(path) => path.to_string(),
    };
    own.flat_map(|one| one.found).map(text).collect()
}

/// A symbol's use of any of some names.
type Uses = BTreeSet<(SymbolName, Vec<SymbolName>)>;

/// The names of the project that a file uses. One that something outside may provide, too, is left out.
fn uses(project: &Project, path: &str) -> Uses {
    let mut found = Uses::new();
    let Some(module) = project.module_at(path) else { return found };
    for one in names_in(project, module) {
        let symbol = |referent: &Referent| match referent {
            Referent::Symbol(symbol) => Some(*symbol),
            Referent::External(_) => None,
        };
        let Some(names) = one.found.iter().map(symbol).collect::<Option<Vec<SymbolId>>>() else { continue };
        let mut names: Vec<SymbolName> = names.into_iter().map(|name| project.name(name)).collect();
        names.sort();
        names.dedup();
        found.insert((project.name(one.owner), names));
    }
    found
}
