//! The folders of workers: one of a pool, which is marked as used, and in it one of each worker. Beside those of the workers
//! lies one for copies of projects, which workers only read.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;
use twincell_files::private;

use crate::folder;

/// The prefix of the names of pools' folders.
const PREFIX: &str = "twincell-worker-";
/// A folder without a lock may be about to get one, but not after this long.
const ABANDONED_AFTER: Duration = Duration::from_secs(60);
/// The maximum size in bytes and number of entries of a worker's folder. The worker's own limits bound each file.
const MAX_DISK: u64 = 1 << 30;
const MAX_ENTRIES: u64 = 100_000;

/// The names in a pool's folder.
const WORKERS: &str = "workers";
const PROJECTS: &str = "projects";

/// The folder for copies of projects, beside the one that holds the folders of a pool's workers. `None` for a folder that
/// belongs to no pool.
pub fn projects_beside(workers: &Path) -> Option<PathBuf> {
    workers.ends_with(WORKERS).then(|| workers.with_file_name(PROJECTS))
}

/// The folder of a pool. It goes when it is dropped, or soon after the engine was killed: then the zygote removes it.
#[derive(Debug)]
pub struct PoolFolder {
    folder: TempDir,
    /// The folder in it that holds those of the workers, without links, as a worker will see it.
    path: PathBuf,
    projects: PathBuf,
    /// A lock that marks the folder as used for as long as this process lives.
    _lock: File,
    next: AtomicU64,
}

impl PoolFolder {
    pub fn new() -> io::Result<PoolFolder> {
        let folder = private::temporary(PREFIX)?;
        let lock = File::open(folder.path())?;
        flock(&lock, FlockOperation::LockShared)?;
        let path = folder.path().canonicalize()?.join(WORKERS);
        private::make(&path)?;
        let projects = path.with_file_name(PROJECTS);
        private::make(&projects)?;
        Ok(PoolFolder { folder, path, projects, _lock: lock, next: AtomicU64::new(0) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder for copies of projects.
    pub fn projects(&self) -> &Path {
        &self.projects
    }

    /// A new folder for one worker.
    pub fn one(&self) -> io::Result<WorkerFolder> {
        let path = self.path.join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
        private::make(&path)?;
        Ok(WorkerFolder(path))
    }
}

impl Drop for PoolFolder {
    fn drop(&mut self) {
        // The folder itself goes with its value. Its content may be more than an ordinary removal can handle.
        folder::empty(self.folder.path());
    }
}

/// The folder of one worker. It goes with this value, so it is dropped after the worker.
#[derive(Debug)]
pub struct WorkerFolder(PathBuf);

impl WorkerFolder {
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Whether it holds more than a worker may use of the disk. `unnamed`: the bytes of files that are in it and have no
    /// name.
    pub fn is_over_full(&self, unnamed: u64) -> bool {
        let (mut bytes, mut entries) = (unnamed, 0);
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            let listed = match std::fs::read_dir(&folder) {
                Ok(listed) => listed,
                Err(error) if hides(&folder, &error) => return true,
                Err(_) => continue,
            };
            // Entries that are gone meanwhile do not count.
            for entry in listed.flatten() {
                // Links are not followed.
                let Ok(metadata) = entry.metadata() else { continue };
                entries += 1;
                bytes += metadata.blocks() * 512;
                if metadata.is_dir() {
                    folders.push(entry.path());
                }
                if bytes > MAX_DISK || entries > MAX_ENTRIES {
                    return true;
                }
            }
        }
        bytes > MAX_DISK
    }
}

/// Whether a folder that cannot be listed may still hold something: it is deeper than a path can be long, it was made so
/// that one can write to it and not see what is in it, or a link took its place. What fails for this process's own
/// reasons, such as too many open files, is no fault of the worker.
fn hides(folder: &Path, error: &io::Error) -> bool {
    const WRITE_AND_ENTER: u32 = 0o300;
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            folder.symlink_metadata().is_ok_and(|folder| folder.mode() & WRITE_AND_ENTER == WRITE_AND_ENTER)
        }
        _ => matches!(error.raw_os_error(), Some(libc::ENAMETOOLONG | libc::ELOOP)),
    }
}

impl Drop for WorkerFolder {
    fn drop(&mut self) {
        folder::empty(&self.0);
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Removes the folders of pools whose engine and zygote were both killed before they could remove them.
pub fn remove_abandoned() {
    for entry in std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let is_ours = |metadata: &std::fs::Metadata| {
            let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
            metadata.is_dir()
                && metadata.uid() == rustix::process::geteuid().as_raw()
                && age.is_some_and(|age| age > ABANDONED_AFTER)
        };
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) || !entry.metadata().is_ok_and(|it| is_ours(&it)) {
            continue;
        }
        let unused = File::open(entry.path())
            .is_ok_and(|opened| flock(&opened, FlockOperation::NonBlockingLockExclusive).is_ok());
        if unused {
            folder::empty(&entry.path());
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over_full(folder: &Path) -> bool {
        let worker = WorkerFolder(folder.to_path_buf());
        let is_over_full = worker.is_over_full(0);
        assert!(worker.is_over_full(MAX_DISK + 1));
        std::mem::forget(worker);
        is_over_full
    }

    #[test]
    fn a_folder_that_hides_what_is_in_it_is_over_full() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "x").unwrap();
        assert!(!over_full(folder.path()));
        let hiding = |error| hides(folder.path(), &io::Error::from_raw_os_error(error));
        assert!(hiding(libc::EACCES) && hiding(libc::ENAMETOOLONG));
        for error in [libc::ENOENT, libc::ENOTDIR, libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::EIO] {
            assert!(!hiding(error), "{error}");
        }
        let inner = folder.path().join("closed");
        std::fs::create_dir(&inner).unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o000)).unwrap();
        assert!(!hides(&inner, &io::ErrorKind::PermissionDenied.into()));
    }
}
