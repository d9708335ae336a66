//! The worker's own temporary folder. It is emptied between executions, because a file that one execution leaves behind
//! would change the behavior of the next.

use std::cell::Cell;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use twincell_engine::folder;

/// Two changes of a folder have different times if at least this much lies between them: the kernel stamps files by its
/// tick, which is at most 10 ms.
const TICKS: Duration = Duration::from_millis(100);

/// The seconds and nanoseconds at which the folder's entries last changed. Foreign code cannot set this time.
type Changed = (i64, i64);

/// A folder that foreign code may write to.
#[derive(Debug, Clone)]
pub struct Scratch {
    folder: PathBuf,
    /// The folder's last change before it was seen empty, if that was long enough ago to distinguish a later change.
    /// While this stays the same, the folder is empty and need not be read (which costs more than many executions).
    empty_since: Cell<Option<Changed>>,
}

impl Scratch {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, empty_since: Cell::new(None) }
    }

    /// Makes it the current folder again and empties it. Entries that cannot be removed stay; the sandbox confines them
    /// here.
    pub fn reset(&self) {
        let _ = std::env::set_current_dir(&self.folder);
        let before = self.changed();
        if before.is_some() && before == self.empty_since.get() {
            return;
        }
        self.empty_since.set(None);
        let Ok(mut entries) = std::fs::read_dir(&self.folder) else { return };
        match entries.next() {
            None => self.empty_since.set(before.filter(is_long_ago)),
            Some(_) => folder::empty(&self.folder),
        }
    }

    fn changed(&self) -> Option<Changed> {
        let folder = std::fs::symlink_metadata(&self.folder).ok()?;
        Some((folder.ctime(), folder.ctime_nsec()))
    }
}

/// A file system with whole seconds never gets here, since its times cannot distinguish two changes.
fn is_long_ago(&(seconds, nanoseconds): &Changed) -> bool {
    let (Ok(seconds), Ok(nanoseconds @ 1..)) = (u64::try_from(seconds), u32::try_from(nanoseconds)) else {
        return false;
    };
    let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds);
    SystemTime::now().duration_since(changed).is_ok_and(|age| age > TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// The process has one current folder for all tests.
    fn alone() -> MutexGuard<'static, ()> {
        static CURRENT: Mutex<()> = Mutex::new(());
        CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[test]
    fn a_file_is_found_however_soon_after_a_reset_it_is_written() {
        let _alone = alone();
        let folder = tempfile::tempdir().unwrap();
        let before = std::env::current_dir().unwrap();
        let scratch = Scratch::new(folder.path().to_path_buf());
        for round in 0..30 {
            // Now and then long enough for the folder to be known as empty.
            std::thread::sleep(Duration::from_millis(if round % 10 == 0 { 150 } else { 1 }));
            scratch.reset();
            assert_eq!(scratch.empty_since.get().is_some(), round % 10 == 0, "round {round}");
            std::fs::write(folder.path().join("left"), "x").unwrap();
            scratch.reset();
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "round {round}");
        }
        std::env::set_current_dir(before).unwrap();
    }

    #[test]
    fn reset_empties_the_folder_and_follows_no_link() {
        let _alone = alone();
        let outside = tempfile::tempdir().unwrap();
        let kept = outside.path().join("kept");
        std::fs::write(&kept, "x").unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
        std::fs::write(folder.path().join("a/b/c"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
        let before = std::env::current_dir().unwrap();
        Scratch::new(folder.path().to_path_buf()).reset();
        assert_eq!(std::env::current_dir().unwrap(), folder.path().canonicalize().unwrap());
        std::env::set_current_dir(before).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(kept.exists());
    }
}
