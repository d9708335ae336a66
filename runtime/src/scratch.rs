//! The worker's own temporary folder. It is emptied between executions, because a file that one execution leaves
//! behind would change what the next one does.

use std::path::PathBuf;

/// A folder that foreign code may write to.
#[derive(Debug, Clone)]
pub struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Makes it the current folder again and empties it. What cannot be removed stays: the sandbox keeps it in here.
    pub fn reset(&self) {
        let _ = std::env::set_current_dir(&self.folder);
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            // `file_type` does not follow links, nor do the removals.
            let _ = match entry.file_type() {
                Ok(kind) if kind.is_dir() => std::fs::remove_dir_all(&path),
                _ => std::fs::remove_file(&path),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reset_empties_the_folder_and_follows_no_link() {
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
