//! The files of stores: opening and locking them, files beside them, and messages about files that cannot be used.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use twincell_driver::files;
use twincell_files::outputs;

/// A file beside another: `x.parquet` -> `x.parquet.partial`.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The journal of a Parquet file, which cannot be appended to.
pub fn journal_of(path: &Path) -> PathBuf {
    beside(path, ".partial")
}

/// Opens a file that this study writes to, makes it if it does not exist, and takes its lock, which goes with the file.
pub fn open_locked(path: &Path) -> Result<File, String> {
    loop {
        let open = outputs::open(path, OpenOptions::new().read(true).write(true).create(true).truncate(false));
        let file = open.map_err(|error| unwritable(path, &error))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(format!(
                    "another study is writing to {}: wait for it, or give another --out",
                    path.display()
                ));
            }
            // Not every file system supports locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        // A study that ended meanwhile has replaced or removed the file.
        let place = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
        let (held, there) = (file.metadata().map(place), std::fs::metadata(path).map(place));
        if !matches!((&held, &there), (Ok(held), Ok(there)) if held != there)
            && !there.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        {
            return Ok(file);
        }
    }
}

pub fn unwritable(path: &Path, error: &std::io::Error) -> String {
    files::unwritable(path, error)
}

pub fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("cannot read {}: {}", path.display(), files::reason(error))
}

/// The message for a file that holds something else.
pub fn foreign(path: &Path, what: &str) -> String {
    format!("{} {what}: give another --out, or --fresh to discard it", path.display())
}
