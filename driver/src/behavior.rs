//! Compares functions at two commits of a repository with the warm workers, for slices.

use std::fmt::Display;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::TempDir;
use twincell_compare::verdict::Verdict;
use twincell_compare::{CompareOptions, Continue, Source};
use twincell_engine::Stop;
use twincell_files::private;
use twincell_repo::{CommitId, Content, ModulePath, Repo, Revision};
use twincell_semantic::{Project, ProjectModule, SnapshotFiles, Store, SymbolName};
use twincell_slice::{Behavior, NotCompared, SliceError, Version};

use crate::decode::python_source;
use crate::options::Options;
use crate::warm::{Engine, Environment, Failure};

/// The maximum number of executions of one comparison: it is one of many.
const BUDGET: u32 = 60;
/// The time of one comparison, in seconds. It guards.
const DEADLINE: f64 = 30.0;
/// The folder of a commit's files in its copy.
const FILES: &str = "files";
/// How many commits are held as copies.
const HELD: usize = 4;

/// Compares functions of the commits of a repository.
pub(crate) struct Comparing {
    engine: Engine,
    options: CompareOptions,
    stop: Stop,
    repo: Arc<Mutex<Repo>>,
    store: Store,
    copies: Mutex<Vec<Arc<Copy>>>,
}

/// A commit's files where workers can read them.
struct Copy {
    commit: CommitId,
    folder: TempDir,
    project: Arc<Project>,
}

impl Comparing {
    /// # Errors
    ///
    /// Where no worker can run code.
    pub fn new(
        repository: &Path,
        python: &Path,
        options: &Options,
        environment: &Environment,
        stop: &Stop,
    ) -> Result<Self, Failure> {
        let engine = Engine::for_project(python, options, environment)?.stopped_by(stop);
        let options = Options { budget: BUDGET, deadline: DEADLINE, ..options.clone() };
        Ok(Self {
            engine,
            options: options.for_core(),
            stop: stop.clone(),
            repo: Arc::new(Mutex::new(Repo::around(repository).map_err(SliceError::from)?)),
            store: Store::new(),
            copies: Mutex::default(),
        })
    }

    fn copy(&self, commit: CommitId) -> Result<Arc<Copy>, NotCompared> {
        let failed = |error: &dyn Display| NotCompared::Files { commit: commit.to_string(), reason: error.to_string() };
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = copies.iter().find(|copy| copy.commit == commit) {
            return Ok(known.clone());
        }
        let revision = Revision::Commit(commit.to_string());
        let projects = self.engine.projects().map_err(|error| failed(&error))?;
        let folder = private::temporary_in("slice-", &projects).map_err(|error| failed(&error))?;
        let repo = self.repo.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = repo.snapshot(&revision).map_err(|error| failed(&error))?;
        snapshot.copy(&folder.path().join(FILES)).map_err(|error| failed(&error))?;
        drop(snapshot);
        drop(repo);
        let files = SnapshotFiles::of(&self.repo, &revision).map_err(|error| failed(&error))?;
        let project = Arc::new(Project::open(files, &self.store));
        let copy = Arc::new(Copy { commit, folder, project });
        if copies.len() == HELD {
            copies.remove(0);
            self.store.shrink();
        }
        copies.push(copy.clone());
        Ok(copy)
    }

    /// The module of a function in a version.
    fn source(&self, version: &Version, path: &str) -> Result<Source, NotCompared> {
        let failed = |reason: String| NotCompared::Unreadable { commit: version.commit.to_string(), reason };
        let copy = self.copy(version.commit)?;
        let text = match &version.text {
            Some(text) => python_source(text),
            None => {
                let revision = Revision::Commit(version.commit.to_string());
                let repo = self.repo.lock().unwrap_or_else(PoisonError::into_inner);
                let snapshot = repo.snapshot(&revision).map_err(|error| failed(error.to_string()))?;
                let content = snapshot.content(Path::new(path), self.options.max_source);
                match content.map_err(|error| failed(error.to_string()))? {
                    Content::File(bytes) => python_source(&bytes),
                    Content::TooLarge => Err(format!("it has more than {} bytes", self.options.max_source)),
                    Content::Absent | Content::NoFile => Err("the commit has no such file".to_owned()),
                }
            }
        };
        let place = ModulePath::of(&copy.folder.path().join(FILES), path);
        Ok(Source {
            text: text.map_err(failed)?,
            label: format!("{path} at {}", version.commit),
            place: Some(ProjectModule::new(place, copy.project.clone())),
            ..Source::default()
        })
    }

    fn verdict(&self, function: &SymbolName, old: &Version, new: &Version) -> Result<Verdict, NotCompared> {
        let (old, new) = (self.source(old, &function.path)?, self.source(new, &function.path)?);
        let options = CompareOptions { function: Some(function.qualname.to_string()), ..self.options.clone() };
        let mut go_on = |_| if self.stop.is_asked() { Continue::Stop } else { Continue::Yes };
        let compared = self.engine.compare(&old, &new, &options, &mut go_on);
        let compared = compared.map_err(|error| NotCompared::Failed { reason: error.to_string() })?;
        if compared.pairs.is_empty() { Err(NotCompared::NoPair) } else { Ok(compared.verdict_of_pairs) }
    }
}

impl Behavior for Comparing {
    fn is_same(&self, function: &SymbolName, old: &Version, new: &Version) -> Result<Option<bool>, NotCompared> {
        Ok(match self.verdict(function, old, new)? {
            Verdict::Identical | Verdict::LikelyPreserving => Some(true),
            Verdict::Changing => Some(false),
            Verdict::Inconclusive => None,
        })
    }
}
