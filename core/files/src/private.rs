//! Folders and files that are for nobody but the user of this process.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use tempfile::TempDir;

const FOLDER: u32 = 0o700;
const FILE: u32 = 0o600;
/// The system's administrator, and whoever has no number in this namespace of users.
const OF_SYSTEM: [u32; 2] = [0, 65_534];
/// Others may write.
const WRITABLE: u32 = 0o022;
const WRITABLE_BY_ALL: u32 = 0o002;
/// Others may write, and change nothing of what somebody else has made.
const STICKY: u32 = 0o1000;

/// A new folder among the temporary ones, with a name that nobody can know before.
pub fn temporary(prefix: &str) -> io::Result<TempDir> {
    builder(prefix).tempdir()
}

/// A new folder in another one, with a name that nobody can know before.
pub fn temporary_in(prefix: &str, folder: &Path) -> io::Result<TempDir> {
    builder(prefix).tempdir_in(folder)
}

fn builder(prefix: &str) -> tempfile::Builder<'_, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).permissions(Permissions::from_mode(FOLDER));
    builder
}

/// Makes one folder, whose parent is there.
pub fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(FOLDER).create(folder)
}

/// Makes a folder with those above it that are missing. Nothing is checked.
pub fn make_all(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(FOLDER).recursive(true).create(folder)
}

/// Makes a folder that stays between runs, or takes the one that is there. It is refused if somebody else owns it or can write
/// to it, since what lies there is believed.
pub fn lasting(folder: &Path) -> io::Result<()> {
    make_all(folder)?;
    let about = std::fs::metadata(folder)?;
    let named = std::fs::symlink_metadata(folder)?;
    let own = rustix::process::geteuid().as_raw();
    let refused = |reason: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, reason.to_owned()));
    if about.uid() != own || named.uid() != own {
        return refused("it belongs to another user: remove it, or set XDG_CACHE_HOME");
    }
    if about.mode() & WRITABLE != 0 {
        return refused("other users can write to it: remove it, or take the right from them with chmod go-w");
    }
    for above in folder.canonicalize()?.ancestors().skip(1) {
        let about = std::fs::metadata(above)?;
        let is_everybodys = about.mode() & WRITABLE_BY_ALL != 0 && about.mode() & STICKY == 0;
        if is_everybodys || about.uid() != own && !OF_SYSTEM.contains(&about.uid()) {
            return refused(&format!("another user can put another folder into its place in {}", above.display()));
        }
    }
    if about.mode() & 0o777 & !FOLDER != 0 {
        std::fs::set_permissions(folder, Permissions::from_mode(FOLDER))?;
    }
    Ok(())
}

/// Makes a file that stays between runs, empty, or takes the one that is there, and closes it to others.
pub fn file(path: &Path) -> io::Result<File> {
    let mut open = OpenOptions::new();
    open.read(true).write(true).create(true).truncate(false).mode(FILE).custom_flags(libc::O_NOFOLLOW);
    let file = open.open(path)?;
    let about = file.metadata()?;
    if about.is_file() && about.mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(FILE))?;
    }
    Ok(file)
}

/// Writes a new file. Nothing may have its name.
pub fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    io::Write::write_all(&mut OpenOptions::new().write(true).create_new(true).mode(FILE).open(path)?, content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn folders_and_files_are_for_nobody_else() {
        let folder = temporary("private-").unwrap();
        let inner = folder.path().join("a/b");
        lasting(&inner).unwrap();
        write_new(&inner.join("c"), b"").unwrap();
        assert!(write_new(&inner.join("c"), b"").is_err());
        std::fs::write(inner.join("d"), "").unwrap();
        std::fs::set_permissions(inner.join("d"), Permissions::from_mode(0o644)).unwrap();
        file(&inner.join("d")).unwrap();
        let all = [folder.path(), &inner, &folder.path().join("a"), &inner.join("c"), &inner.join("d")];
        assert_eq!(all.map(mode), [0o700, 0o700, 0o700, 0o600, 0o600]);
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_not_used() {
        let folder = temporary("private-").unwrap();
        let inner = folder.path().join("cache");
        for (mode, is_used) in [(0o755, true), (0o775, false), (0o757, false), (0o700, true)] {
            make_all(&inner).unwrap();
            std::fs::set_permissions(&inner, Permissions::from_mode(mode)).unwrap();
            assert_eq!(lasting(&inner).is_ok(), is_used, "{mode:o}");
        }
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(lasting(&inner).is_err());
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o1777)).unwrap();
        lasting(&inner).unwrap();
    }
}
