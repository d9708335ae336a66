//! What candidates lack that the tests import: a module, a name of one, or a name that the import evaluates (change dependencies,
//! section 5.1 of the paper).
//!
//! [`twincell_semantic::import_failures`] reads it in the texts. What it finds at the end of the range as well, where the tests
//! pass, is provided in some way that it does not see, and says nothing. Of the rest, the search believes what a run has shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use twincell_repo::{FileId, MadeFile, Repo};
use twincell_semantic::{ContentId, Files, ImportFailure, Missing, Project, Store, import_failures};

use crate::refine::{Lacking, MissingName};

/// The largest file that is read, in bytes.
const MOST: usize = 32 << 20;
const LINK: u32 = 0o120_000;
/// From how many texts on those that no candidate needs are forgotten.
const MAX_TEXTS: usize = 5_000;

/// What the deciding tests import.
pub struct Imports {
    repo: Arc<Mutex<Repo>>,
    store: Store,
    /// The files of the tests.
    tests: BTreeSet<String>,
    /// The files that the tests opened at the end of the range, so that a module there is the one that is imported.
    opened: BTreeSet<String>,
    /// What seems to be missing at the end of the range. A text stands there with its path.
    provided: BTreeSet<(Option<Arc<str>>, Missing)>,
}

impl Imports {
    pub(crate) fn new(repo: Arc<Mutex<Repo>>, tests: BTreeSet<String>, opened: BTreeSet<String>) -> Self {
        Self { repo, store: Store::new(), tests, opened, provided: BTreeSet::new() }
    }

    /// The tests can be imported with these files.
    pub(crate) fn trust(&mut self, files: &[MadeFile]) {
        self.provided = self.failures(files).iter().map(thing).collect();
    }

    /// What an import of the tests lacks with these files.
    pub(crate) fn lacking(&self, files: &[MadeFile]) -> Vec<Lacking> {
        let is_new = |one: &ImportFailure| !self.provided.contains(&thing(one));
        let found = self.failures(files).into_iter().filter(is_new).map(lacking).collect();
        if self.store.len() > MAX_TEXTS {
            self.store.shrink();
        }
        found
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

/// What is missing, whoever imports it.
fn thing(one: &ImportFailure) -> (Option<Arc<str>>, Missing) {
    ((one.missing == Missing::Text).then(|| one.path.clone()), one.missing.clone())
}

fn lacking(ImportFailure { path, line, missing }: ImportFailure) -> Lacking {
    let missing = match missing {
        Missing::Text => MissingName::Text,
        Missing::Module(module) => MissingName::Module(module.to_string()),
        Missing::Member { module, name } => MissingName::Member { module: module.to_string(), name: name.to_string() },
        Missing::Name(name) => MissingName::Name(name.to_string()),
    };
    Lacking { path: path.to_string(), line, missing }
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
