//! A repository, and the folder that holds its files.

use std::path::{Component, Path, PathBuf};
use std::sync::Once;

use git2::{ErrorCode, Repository};

use crate::discover::{discover, is_inside};
use crate::error::RepoError;

/// The size in bytes of read objects that libgit2 caches, and of packed ones that it maps, for all repositories of this
/// process. Its own defaults are a quarter GiB and eight GiB.
const OBJECTS: isize = 32 << 20;
const WINDOW: usize = 32 << 20;
const MAPPED: usize = 256 << 20;

/// Keeps memory from growing with the history that is read.
pub fn bound_memory() {
    static ONCE: Once = Once::new();
    // A number that cannot be set stays.
    // SAFETY: these are plain numbers of libgit2, which its threads read. Ours have not begun.
    ONCE.call_once(|| unsafe {
        let _ = git2::opts::set_cache_max_size(OBJECTS);
        let _ = git2::opts::set_mwindow_size(WINDOW);
        let _ = git2::opts::set_mwindow_mapped_limit(MAPPED);
    });
}

/// A git repository, which is only read.
pub struct Repo {
    pub(crate) git: Repository,
}

impl Repo {
    /// The repository around a folder. Its files may be elsewhere, where its configuration says so.
    ///
    /// # Errors
    ///
    /// Where there is none, or git cannot read it.
    pub fn around(start: &Path) -> Result<Self, RepoError> {
        let git = discover(start).map_err(|error| match error.code() {
            ErrorCode::NotFound => RepoError::NoRepository(start.to_owned()),
            _ => error.into(),
        })?;
        Ok(Self { git })
    }

    /// The same, and an error where its files are elsewhere: the configuration may be a stranger's.
    ///
    /// # Errors
    ///
    /// As [`Repo::around`], and [`RepoError::Elsewhere`].
    pub fn with_files_around(start: &Path) -> Result<Self, RepoError> {
        let found = Self::around(start)?;
        match found.root() {
            Some(root) if !is_inside(start, root) => {
                Err(RepoError::Elsewhere { work_tree: root.to_owned(), start: start.to_owned() })
            }
            _ => Ok(found),
        }
    }

    /// Opens the same repository again, as another thread has to.
    ///
    /// # Errors
    ///
    /// Where git cannot read it.
    pub fn open_again(path: &Path) -> Result<Self, RepoError> {
        Ok(Self { git: Repository::open(path)? })
    }

    /// The folder of its files. A bare repository has none.
    pub fn root(&self) -> Option<&Path> {
        self.git.workdir()
    }

    /// Git's own folder, which [`Repo::open_again`] takes.
    pub fn path(&self) -> &Path {
        self.git.path()
    }

    /// Whether the history is cut off, as in a shallow clone.
    pub fn is_shallow(&self) -> bool {
        self.git.is_shallow()
    }

    pub(crate) fn no_commit(&self) -> RepoError {
        // Without the slash at its end.
        RepoError::NoCommit(self.root().unwrap_or(self.path()).components().collect())
    }

    /// Whether there is a commit on the current branch.
    ///
    /// # Errors
    ///
    /// [`RepoError::NoCommit`] where there is none.
    pub fn check_commit(&self) -> Result<(), RepoError> {
        match self.git.head().is_err_and(|error| error.code() == ErrorCode::UnbornBranch) {
            true => Err(self.no_commit()),
            false => Ok(()),
        }
    }

    /// A path as trees name it, where it is seen from a folder. It need not exist.
    ///
    /// # Errors
    ///
    /// [`RepoError::Outside`].
    pub fn inside(&self, start: &Path, path: &Path) -> Result<PathBuf, RepoError> {
        let outside = || RepoError::Outside(path.to_owned());
        let Some(root) = self.root() else { return Ok(without_dots(path)) };
        let root = root.canonicalize().map_err(|_| outside())?;
        let start = start.canonicalize().map_err(|_| outside())?;
        without_dots(&start.join(path)).strip_prefix(&root).map(Path::to_owned).map_err(|_| outside())
    }

    /// Whether git tracks a folder of the working tree, what is in it, or a link in the place of a folder above it. `None` for
    /// a folder elsewhere.
    pub fn tracks_any_of(&self, folder: &Path) -> Option<bool> {
        let root = self.root()?.canonicalize().ok()?;
        let inner = folder.parent()?.canonicalize().ok()?.strip_prefix(root).ok()?.join(folder.file_name()?);
        // Some disks take one letter for the other.
        let plain = |path: &Path| PathBuf::from(path.as_os_str().to_ascii_lowercase());
        let inner = plain(&inner);
        let is_inside = |path: &[u8]| {
            let path = plain(&bytes_as_path(path));
            // A link or a submodule in the place of the folder, or of one that holds it, is an entry of its own.
            inner.starts_with(&path) || path.starts_with(&inner) && !path.ends_with(".gitignore")
        };
        let index = self.git.index().ok()?;
        Some(index.iter().any(|entry| is_inside(&entry.path)))
    }

    /// The name of the repository: from its clone address, or else from its folder.
    pub fn name(&self) -> Option<String> {
        let last = |text: &str| {
            let name = text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
            Some(name.strip_suffix(".git").unwrap_or(name).to_owned()).filter(|name| !name.is_empty())
        };
        let origin = self.git.find_remote("origin").ok();
        let from_folder = || {
            let folder = self.root().unwrap_or(self.path());
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
            folder.file_name().and_then(|name| last(&name.to_string_lossy()))
        };
        origin.and_then(|origin| origin.url().ok().and_then(last)).or_else(from_folder)
    }
}

/// Without `.` and `..`.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}

pub(crate) fn bytes_as_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).into()
}
