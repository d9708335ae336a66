//! Empties a folder that foreign code has filled, with folders nested deeper than a path can be long or a process can
//! have files open.

use std::fs::{self, DirEntry};
use std::path::Path;

/// Removes everything in a folder and follows no link. Entries that cannot be removed stay.
pub fn empty(folder: &Path) {
    let mut moved = 0_u64;
    // Each round removes the outermost level of folders. Their entries move up to the top, so that no path is long.
    loop {
        let folders: Vec<DirEntry> = entries(folder).filter(|entry| !removed(entry)).collect();
        let before = moved;
        for entry in &folders {
            make_writable(&entry.path());
            for inner in entries(&entry.path()) {
                if removed(&inner) {
                    continue;
                }
                // A name that no entry here has. If one has it, the renaming fails and the next name is tried.
                moved += 1;
                let _ = fs::rename(inner.path(), folder.join(format!(".removed-{moved}")));
            }
            let _ = fs::remove_dir(entry.path());
        }
        if folders.is_empty() || moved == before && folders.iter().all(|entry| entry.path().exists()) {
            return;
        }
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

/// Removes an entry that is an empty folder or not a folder.
fn removed(entry: &DirEntry) -> bool {
    // Neither `file_type` nor the removals follow links.
    match entry.file_type() {
        Ok(kind) if kind.is_dir() => fs::remove_dir(entry.path()).is_ok(),
        _ => {
            let _ = fs::remove_file(entry.path());
            true
        }
    }
}

/// The code may have removed the permission to read its own folder.
fn make_writable(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_deeper_than_any_path_are_removed_and_links_are_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "x").unwrap();
        let folder = tempfile::tempdir().unwrap();
        // Built from the inside out, since no path may be this long.
        let (inner, outer) = (folder.path().join("inner"), folder.path().join("outer"));
        fs::create_dir(&inner).unwrap();
        std::os::unix::fs::symlink(outside.path(), inner.join("link")).unwrap();
        fs::write(inner.join("file"), "x").unwrap();
        for _ in 0..300 {
            fs::create_dir(&outer).unwrap();
            fs::rename(&inner, outer.join("a_name_of_some_length")).unwrap();
            fs::rename(&outer, &inner).unwrap();
        }
        empty(folder.path());
        assert_eq!(entries(folder.path()).count(), 0);
        assert!(outside.path().join("kept").exists());
    }

    #[test]
    fn locked_and_wide_folders_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..50 {
            let path = folder.path().join(format!("d{number}/.removed-{number}/e"));
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("f"), "x").unwrap();
        }
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder.path().join("d1"), fs::Permissions::from_mode(0o0)).unwrap();
        empty(folder.path());
        assert_eq!(entries(folder.path()).count(), 0);
    }
}
