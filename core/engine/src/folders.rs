//! The folders of workers: one of a pool, which is marked as used, and in it one of each worker.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use crate::folder;

/// The prefix of the names of pools' folders.
const PREFIX: &str = "twincell-worker-";
/// A folder without a lock may be about to get one, but not after this long.
const ABANDONED_AFTER: Duration = Duration::from_secs(60);
/// The maximum size in bytes and number of entries of a worker's folder. The worker's own limits bound each file.
const MAX_DISK: u64 = 1 << 30;
const MAX_ENTRIES: u64 = 100_000;

/// The folder of a pool. It goes when it is dropped, or soon after the engine was killed: then the zygote removes it.
#[derive(Debug)]
pub struct PoolFolder {
    folder: TempDir,
    /// The same without links, as a worker will see it.
    path: PathBuf,
    /// A lock that marks the folder as used for as long as this process lives.
    _lock: File,
    next: AtomicU64,
}

impl PoolFolder {
    pub fn new() -> io::Result<PoolFolder> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        let lock = File::open(folder.path())?;
        flock(&lock, FlockOperation::LockShared)?;
        let path = folder.path().canonicalize()?;
        Ok(PoolFolder { folder, path, _lock: lock, next: AtomicU64::new(0) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A new folder for one worker.
    pub fn one(&self) -> io::Result<WorkerFolder> {
        let path = self.path.join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
        std::fs::create_dir(&path)?;
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

    /// Whether it holds more than a worker may use of the disk.
    pub fn is_over_full(&self) -> bool {
        let (mut bytes, mut entries) = (0, 0);
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            // Entries that cannot be read, or are gone meanwhile, do not count.
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
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
        false
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
