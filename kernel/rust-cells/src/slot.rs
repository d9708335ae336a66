//! The folders in which cells are compiled. Each running program has one of its own, and later ones take them over with
//! all that is compiled there.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The number of folders. More notebooks at the same time than this get no Rust cells.
const MOST: usize = 64;

/// The crate through which cells read and write tables.
pub const TABLE: &str = "twincell_table";
const TABLE_MANIFEST: &str = include_str!("../table/Cargo.toml");
const TABLE_SOURCE: &str = include_str!("../table/src/lib.rs");

/// A folder that no other program uses meanwhile.
pub struct Slot {
    pub folder: PathBuf,
    /// The lock ends with the file.
    _lock: File,
}

impl Slot {
    /// The first free folder, with the crate for tables in it.
    pub fn take(root: &Path) -> Result<Self, String> {
        let failed = |path: &Path, error: std::io::Error| format!("{} cannot be used: {error}", path.display());
        fs::create_dir_all(root).map_err(|error| failed(root, error))?;
        for number in 0..MOST {
            let path = root.join(format!("{number}.lock"));
            let lock = File::create(&path).map_err(|error| failed(&path, error))?;
            if lock.try_lock().is_err() {
                continue;
            }
            let folder = root.join(number.to_string());
            write_table(&folder.join(TABLE)).map_err(|error| failed(&folder, error))?;
            return Ok(Self { folder, _lock: lock });
        }
        Err(format!("all {MOST} folders in {} are used by other notebooks", root.display()))
    }

    /// The folder of the crate for tables.
    pub fn table(&self) -> PathBuf {
        self.folder.join(TABLE)
    }
}

/// Writes the crate for tables, unless it is there: a file with a new date would be compiled again.
fn write_table(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder.join("src"))?;
    for (name, text) in [("Cargo.toml", TABLE_MANIFEST), ("src/lib.rs", TABLE_SOURCE)] {
        let path = folder.join(name);
        if fs::read_to_string(&path).ok().as_deref() != Some(text) {
            fs::write(path, text)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_has_a_folder_that_is_free_again_afterwards() {
        let root = std::env::temp_dir().join(format!("twincell-slots-{}", std::process::id()));
        let (first, second) = (Slot::take(&root).unwrap(), Slot::take(&root).unwrap());
        assert_ne!(first.folder, second.folder);
        let folder = first.folder.clone();
        assert!(first.table().join("src/lib.rs").is_file());
        drop(first);
        assert_eq!(Slot::take(&root).unwrap().folder, folder);
        fs::remove_dir_all(root).unwrap();
    }
}
