//! Files below a folder in which hostile code may put a link into the place of any file or folder at any time.
//!
//! Each part of a path is opened below the one before, and none of them may be a link.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, fchmod, fstat, mkdirat, openat, renameat, symlinkat, unlinkat};
use rustix::io::Errno;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// How deep folders are removed in one piece. Somebody may have made more of them than files can be open.
const DEPTH: usize = 64;

/// Opens the folder that holds a file. Folders that are missing are made, and added to `made`.
pub fn make_parent(root: &Path, path: &Path, made: &mut Vec<PathBuf>) -> io::Result<OwnedFd> {
    check(path)?;
    let mut folder = open(root)?;
    let mut inner = PathBuf::new();
    for part in path.parent().unwrap_or(Path::new("")) {
        inner.push(part);
        folder = match openat(&folder, part, FOLDER, Mode::empty()) {
            Err(Errno::NOENT) => {
                mkdirat(&folder, part, Mode::RWXU)?;
                made.push(inner.clone());
                openat(&folder, part, FOLDER, Mode::empty())?
            }
            other => other?,
        };
    }
    Ok(folder)
}

/// Opens the folder below which all else lies. Nobody else may write where it lies.
pub fn open(folder: &Path) -> io::Result<OwnedFd> {
    Ok(openat(CWD, folder, FOLDER, Mode::empty())?)
}

/// A path that leads out of the folder is none in it.
fn check(path: &Path) -> io::Result<()> {
    let is_plain = |part| matches!(part, Component::Normal(_));
    if path.file_name().is_none() || !path.components().all(is_plain) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it does not lie in the folder"));
    }
    Ok(())
}

/// The content of a file. `None` for what is no file, or one with more bytes. No part of the path may be a link.
pub fn read(root: &Path, path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    read_in(&open(root)?, path, most)
}

/// The content of a file below an open folder. `None` for what is no file, or one with more bytes. No part of the path may be a
/// link.
pub fn read_in(root: &OwnedFd, path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    check(path)?;
    // Opening a pipe would wait for whoever writes to it.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut folder = None;
    for part in path.parent().unwrap_or(Path::new("")) {
        let inner = openat(folder.as_ref().unwrap_or(root), part, flags | OFlags::DIRECTORY, Mode::empty())?;
        folder = Some(inner);
    }
    let file = File::from(openat(folder.as_ref().unwrap_or(root), name(path)?, flags, Mode::empty())?);
    let about = file.metadata()?;
    if !about.is_file() || about.len() > most {
        return Ok(None);
    }
    let mut content = Vec::new();
    file.take(most).read_to_end(&mut content)?;
    Ok(Some(content))
}

fn parent(root: &Path, path: &Path) -> io::Result<OwnedFd> {
    check(path)?;
    let mut folder = open(root)?;
    for part in path.parent().unwrap_or(Path::new("")) {
        folder = openat(&folder, part, FOLDER, Mode::empty())?;
    }
    Ok(folder)
}

fn name(path: &Path) -> io::Result<&OsStr> {
    path.file_name().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// Writes a file whose folder is there.
pub fn write(root: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    write_in(&parent(root, path)?, path, content).map(drop)
}

/// Writes a file into the folder that holds it. Of the path only the name counts.
pub fn write_in(folder: &OwnedFd, path: &Path, content: &[u8]) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = File::from(openat(folder, name(path)?, flags, Mode::RUSR | Mode::WUSR)?);
    file.write_all(content)?;
    Ok(file)
}

/// Makes a link in the folder that holds it, where nothing has its name. Of the path only the name counts.
pub fn link_in(folder: &OwnedFd, path: &Path, target: &Path) -> io::Result<()> {
    Ok(symlinkat(target, folder, name(path)?)?)
}

/// Removes a file or a folder with all that is in it, whatever its modes are. Nothing to remove is no error.
pub fn remove_whole(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if parent.exists() => remove(parent, Path::new(path.file_name().unwrap_or_default())),
        _ => Ok(()),
    }
}

/// Removes a file, or a folder with all that is in it, whatever its modes are.
pub fn remove(root: &Path, path: &Path) -> io::Result<()> {
    let top = match parent(root, path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    let mut left = vec![name(path)?.to_owned()];
    while let Some(name) = left.pop() {
        remove_in(&top, &name, &top, DEPTH, &mut left)?;
    }
    Ok(())
}

/// Removes what has a name in a folder. What lies too deep moves to the top and is added to what is left.
fn remove_in(folder: &OwnedFd, name: &OsStr, top: &OwnedFd, depth: usize, left: &mut Vec<OsString>) -> io::Result<()> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        // A folder. Systems differ in what they say of one.
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(error) => return Err(error.into()),
    }
    let inner = match openat(folder, name, FOLDER, Mode::empty()) {
        Err(Errno::ACCESS) => {
            open_up(folder, name)?;
            openat(folder, name, FOLDER, Mode::empty())?
        }
        other => other?,
    };
    if fstat(&inner)?.st_mode & 0o700 != 0o700 {
        fchmod(&inner, Mode::RWXU)?;
    }
    if depth == 0 {
        for number in 0.. {
            let moved = OsString::from(format!(".twincell-{number}"));
            match renameat(folder, name, top, &moved) {
                Ok(()) => {
                    left.push(moved);
                    break;
                }
                // Something has this name.
                Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        return Ok(());
    }
    for entry in Dir::read_from(&inner)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            remove_in(&inner, &OsString::from_vec(name.to_vec()), top, depth - 1, left)?;
        }
    }
    Ok(unlinkat(folder, name, AtFlags::REMOVEDIR)?)
}

/// Gives the owner every right to a folder that cannot be opened.
fn open_up(folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::PermissionsExt as _;

        let found = openat(folder, name, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
        std::fs::set_permissions(format!("/proc/self/fd/{}", found.as_raw_fd()), std::fs::Permissions::from_mode(0o700))
    }
    #[cfg(not(target_os = "linux"))]
    Ok(rustix::fs::chmodat(folder, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "kept").unwrap();
        symlink(&outside, root.join("link")).unwrap();
        symlink(outside.join("file"), root.join("file")).unwrap();
        for path in ["link/file", "link/new", "file"] {
            assert!(write(&root, Path::new(path), b"evil").is_err(), "{path}");
        }
        assert!(make_parent(&root, Path::new("link/a/b"), &mut Vec::new()).is_err());
        assert!(link_in(&open(&root).unwrap(), Path::new("link"), Path::new("/")).is_err());
        assert!(remove(&root, Path::new("link/file")).is_err());
        remove(&root, Path::new("link")).unwrap();
        remove(folder.path(), Path::new("root")).unwrap();
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "kept");
        assert!(!root.exists());
    }

    #[test]
    fn folders_go_however_deep_they_are_and_whatever_their_modes() {
        let folder = tempfile::tempdir().unwrap();
        let mut made = Vec::new();
        let deep: PathBuf = std::iter::repeat_n("a", 300).collect();
        make_parent(folder.path(), &deep, &mut made).unwrap();
        assert_eq!(made.len(), 299);
        let closed = folder.path().join("a/a/closed");
        fs::create_dir(&closed).unwrap();
        fs::write(closed.join("file"), "").unwrap();
        for path in [&closed, &folder.path().join("a")] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
        }
        remove(folder.path(), Path::new("a")).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_lies_too_deep_moves_to_the_top() {
        let folder = tempfile::tempdir().unwrap();
        let deep: PathBuf = std::iter::repeat_n("a", DEPTH + 3).collect();
        make_parent(folder.path(), &deep, &mut Vec::new()).unwrap();
        let (top, mut left) = (open(folder.path()).unwrap(), Vec::new());
        remove_in(&top, OsStr::new("a"), &top, DEPTH, &mut left).unwrap();
        assert_eq!(left.len(), 1);
        assert!(folder.path().join(&left[0]).join("a").is_dir());
    }
}
