//! Modules of a repository's commits, with the files around them where workers can read them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::TempDir;
use twincell_compare::Source;
use twincell_files::private;
use twincell_repo::{CommitId, Content, CopyError, ModulePath, Repo, RepoError, Revision};
use twincell_semantic::{Project, ProjectModule, SnapshotFiles, Store};

use crate::decode::python_source;

/// The folder of a commit's files in its copy.
const FILES: &str = "files";
/// How many commits are held as copies.
const HELD: usize = 4;

/// Copies of a repository's commits.
pub(crate) struct Versions {
    /// The folder of the copies, which workers may read.
    projects: PathBuf,
    repo: Arc<Mutex<Repo>>,
    store: Store,
    copies: Mutex<Vec<Arc<Copy>>>,
}

/// Why a commit cannot be copied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VersionError {
    #[error("there is no place for copies of commits: {0}")]
    Copy(#[from] io::Error),
    #[error(transparent)]
    Files(#[from] CopyError),
    #[error(transparent)]
    Repo(#[from] RepoError),
}

/// A commit's files.
struct Copy {
    commit: CommitId,
    folder: TempDir,
    project: Arc<Project>,
}

impl Versions {
    /// `projects` is a folder that workers may read.
    ///
    /// # Errors
    ///
    /// Where there is no repository.
    pub fn new(repository: &Path, projects: PathBuf) -> Result<Self, RepoError> {
        let repo = Arc::new(Mutex::new(Repo::around(repository)?));
        Ok(Self { projects, repo, store: Store::new(), copies: Mutex::default() })
    }

    fn copy(&self, commit: CommitId) -> Result<Arc<Copy>, VersionError> {
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = copies.iter().position(|copy| copy.commit == commit) {
            // The one that is used is the last one to go.
            let known = copies.remove(known);
            copies.push(known.clone());
            return Ok(known);
        }
        let revision = Revision::Commit(commit.to_string());
        let folder = private::temporary_in("version-", &self.projects)?;
        let repo = self.repo.lock().unwrap_or_else(PoisonError::into_inner);
        repo.snapshot(&revision)?.copy(&folder.path().join(FILES))?;
        drop(repo);
        let project = Arc::new(Project::open(SnapshotFiles::of(&self.repo, &revision)?, &self.store));
        let copy = Arc::new(Copy { commit, folder, project });
        if copies.len() == HELD {
            copies.remove(0);
            self.store.shrink();
        }
        copies.push(copy.clone());
        Ok(copy)
    }

    /// The source in a file of at most so many bytes at a commit, or why there is none.
    pub fn text(&self, commit: CommitId, path: &str, most: u64) -> Result<String, String> {
        let repo = self.repo.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = repo.snapshot(&Revision::Commit(commit.to_string())).map_err(|error| error.to_string())?;
        match snapshot.content(Path::new(path), most).map_err(|error| error.to_string())? {
            Content::File(bytes) => python_source(&bytes),
            Content::TooLarge => Err(format!("it has more than {most} bytes")),
            Content::Absent | Content::NoFile => Err("the commit has no such file".to_owned()),
        }
    }

    /// A text in the place that a file has among those of a commit.
    ///
    /// # Errors
    ///
    /// Where the commit's files cannot be copied.
    pub fn source(&self, commit: CommitId, path: &str, text: String) -> Result<Source, VersionError> {
        let copy = self.copy(commit)?;
        let place = ModulePath::of(&copy.folder.path().join(FILES), path);
        Ok(Source {
            text,
            label: format!("{path} at {commit}"),
            place: Some(ProjectModule::new(place, copy.project.clone())),
            ..Source::default()
        })
    }
}
