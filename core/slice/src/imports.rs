//! Candidates whose tests cannot be imported, which needs no run to know: a module, a name of one, or a name that the import
//! evaluates is missing (change dependencies, section 5.1 of the paper).
//!
//! [`twincell_semantic::import_failures`] reads what surely fails. What it finds at the end of the range as well, where the tests
//! pass, is provided in some way that it does not see, and says nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use twincell_repo::{FileId, MadeFile, Repo};
use twincell_semantic::{ContentId, Files, ImportFailure, Missing, Project, Store, import_failures};

use crate::refine::{Lacking, MissingName};

/// The largest file that is read, in bytes.
const MOST: usize = 32 << 20;
const LINK: u32 = 0o120_000;

/// What the deciding tests import.
pub struct Imports {
    repo: Arc<Mutex<Repo>>,
    store: Store,
    /// The files of the tests.
    tests: BTreeSet<String>,
    /// The files that the tests opened at the end of the range, so that a module there is the one that is imported.
    opened: BTreeSet<String>,
    /// What seems to be missing at the end of the range.
    provided: BTreeSet<(Arc<str>, Missing)>,
}

impl Imports {
    pub(crate) fn new(repo: Arc<Mutex<Repo>>, tests: BTreeSet<String>, opened: BTreeSet<String>) -> Self {
        Self { repo, store: Store::new(), tests, opened, provided: BTreeSet::new() }
    }

    /// The tests can be imported with these files.
    pub(crate) fn trust(&mut self, files: &[MadeFile]) {
        self.provided = self.failures(files).into_iter().map(|one| (one.path, one.missing)).collect();
    }

    /// What an import of the tests fails at with these files, if it surely does.
    pub(crate) fn lacking(&self, files: &[MadeFile]) -> Option<Lacking> {
        let is_new = |one: &ImportFailure| !self.provided.contains(&(one.path.clone(), one.missing.clone()));
        let ImportFailure { path, line, missing } = self.failures(files).into_iter().find(is_new)?;
        let missing = match missing {
            Missing::Text => MissingName::Text,
            Missing::Module(module) => MissingName::Module(module.to_string()),
            Missing::Member { module, name } => {
                MissingName::Member { module: module.to_string(), name: name.to_string() }
            }
            Missing::Name(name) => MissingName::Name(name.to_string()),
        };
        Some(Lacking { path: path.to_string(), line, missing })
    }

    fn failures(&self, files: &[MadeFile]) -> Vec<ImportFailure> {
        let files = files.iter().filter(|file| file.mode != LINK);
        let files = files.filter_map(|file| Some((file.path.to_str()?.into(), Content(file.id, file.text.clone()))));
        let files = files.collect();
        let project = Project::open(CandidateFiles { repo: self.repo.clone(), files }, &self.store);
        let tests: Vec<_> = self.tests.iter().filter_map(|test| project.module_at(test)).collect();
        import_failures(&project, &tests, &|path| self.opened.contains(path))
    }
}

struct CandidateFiles {
    repo: Arc<Mutex<Repo>>,
    files: BTreeMap<Arc<str>, Content>,
}

/// What git has under a name, or a text in memory.
struct Content(FileId, Option<Arc<[u8]>>);

impl Files for CandidateFiles {
    fn paths(&self) -> Vec<(Arc<str>, ContentId)> {
        self.files.iter().map(|(path, Content(id, _))| (path.clone(), ContentId::from_hash(id.as_bytes()))).collect()
    }

    fn text(&self, path: &str, _: ContentId) -> Option<Arc<str>> {
        let Content(id, text) = self.files.get(path)?;
        let bytes = match text {
            Some(text) => text.clone(),
            None => self.repo.lock().unwrap_or_else(PoisonError::into_inner).bytes(*id, MOST).ok()??.into(),
        };
        std::str::from_utf8(&bytes).ok().map(Arc::from)
    }
}
