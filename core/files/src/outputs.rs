//! Files that the user names, as results of a command.
//!
//! Where they lie may be a repository with a stranger's change: a link there could lead to any file of the user's. So no link of
//! a repository is followed, neither in the place of the file nor of a folder above it. Other links are the user's own. A file
//! is written beside its place and then renamed, so that nobody sees half of it, and keeps its mode.

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Gid, Mode, OFlags, Uid, accessat, fchown, openat, renameat, unlinkat};
use rustix::io::Errno;

use crate::runner::{TextKind, without_commands};

/// How many links a path may lead through.
const MAX_LINKS: usize = 40;
/// What the system says of processes, with links that are none.
const PROCESSES: &str = "/proc";
const MODE: u32 = 0o777;
const PRIVATE: u32 = 0o600;

/// Writes a file, in place of the one that is there. A pipe or a device, perhaps that of the standard output, gets no commands to
/// the runner of a workflow.
///
/// # Errors
///
/// What the system says, a link of a repository, or that there is a command and no escape for it in this kind of text.
pub fn write(path: &Path, content: &[u8], kind: TextKind) -> io::Result<()> {
    replace(path, content, kind, None)
}

/// As [`write`], for a file that is for nobody else.
pub fn write_private(path: &Path, content: &[u8], kind: TextKind) -> io::Result<()> {
    replace(path, content, kind, Some(PRIVATE))
}

/// Whether a file could be written, before there is anything to write. Everything stays as it is, and nobody who reads a pipe is
/// told that it has ended.
pub fn check(path: &Path) -> io::Result<()> {
    let place = settle(path)?;
    match std::fs::metadata(&place) {
        Ok(about) if about.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => Ok(accessat(CWD, &place, Access::WRITE_OK, AtFlags::EACCESS)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => check_place(place.parent().unwrap_or(Path::new("/"))),
        Err(error) => Err(error),
    }
}

/// Whether files could be written into a folder, which need not be there, nor those above it.
pub fn check_folder(path: &Path) -> io::Result<()> {
    let place = settle(path)?;
    let there = place.ancestors().find(|folder| std::fs::symlink_metadata(folder).is_ok());
    check_place(there.unwrap_or(Path::new("/")))
}

/// Whether something new can be made in a folder that is there.
fn check_place(folder: &Path) -> io::Result<()> {
    match std::fs::metadata(folder)?.is_dir() {
        true => Ok(accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}

/// Opens a file in a way of its own.
pub fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let place = settle(path)?;
    let mut options = options.clone();
    if !is_special(&place) {
        options.custom_flags(libc::O_NOFOLLOW);
    }
    options.open(place)
}

/// Makes a folder for files that the user names, with those above it that are missing.
pub fn make_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(settle(path)?)
}

/// Makes a file beside an output, in place of whatever has its name, with the mode of another file if that is there.
pub fn make_beside(path: &Path, like: &Path) -> io::Result<File> {
    let place = settle_folder(path)?;
    match std::fs::remove_file(&place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&place)?;
    if let Ok(about) = std::fs::symlink_metadata(like)
        && about.is_file()
    {
        file.set_permissions(Permissions::from_mode(about.mode() & MODE))?;
    }
    Ok(file)
}

/// Copies an output to a file beside it, in place of whatever has its name.
pub fn copy_beside(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = open(from, OpenOptions::new().read(true))?;
    io::copy(&mut source, &mut make_beside(to, from)?).map(drop)
}

/// The path of an output without links. An error if it leads through a link of a repository.
pub fn settle(path: &Path) -> io::Result<PathBuf> {
    let mut left: Vec<OsString> = parts(&std::path::absolute(path)?);
    let mut place = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = left.pop() {
        if part == ".." {
            place.pop();
            continue;
        }
        let next = place.join(&part);
        if is_special(&next) {
            return Ok(left.iter().rev().fold(next, |place, part| place.join(part)));
        }
        match std::fs::symlink_metadata(&next) {
            Ok(about) if about.is_symlink() => {
                if let Some(repository) = repository(&place) {
                    return Err(io::Error::other(format!(
                        "{} is a link in the repository {}, which may be a stranger's: remove it, or give another path",
                        next.display(),
                        repository.display()
                    )));
                }
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::LOOP.into());
                }
                let target = std::fs::read_link(&next)?;
                if target.is_absolute() {
                    place = PathBuf::from("/");
                }
                left.extend(parts(&target));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            // What is not there yet is no link.
            Ok(_) | Err(_) => place = next,
        }
    }
    Ok(place)
}

/// The path of an output whose folder has no links. The file itself may be one.
fn settle_folder(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(settle(folder)?.join(name))
}

/// The parts of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    parts.map(|part| part.as_os_str().to_owned()).collect()
}

/// The repository that holds a folder.
fn repository(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| std::fs::symlink_metadata(folder.join(".git")).is_ok())
}

fn is_special(path: &Path) -> bool {
    path.starts_with(PROCESSES)
}

fn replace(path: &Path, content: &[u8], kind: TextKind, mode: Option<u32>) -> io::Result<()> {
    let place = settle(path)?;
    let before = if is_special(&place) { None } else { std::fs::symlink_metadata(&place).ok() };
    // A pipe or a device is written to.
    if is_special(&place) || before.as_ref().is_some_and(|about| !about.is_file()) {
        let harmless = without_commands(content, kind)?;
        let mut options = OpenOptions::new();
        options.write(true).truncate(true);
        if !is_special(&place) {
            options.custom_flags(libc::O_NOFOLLOW);
        }
        return options.open(&place)?.write_all(&harmless);
    }
    let name = place.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let folder = open_folder(place.parent().unwrap_or(Path::new("/")))?;
    if before.is_some() {
        // A file that its owner has closed stays as it is, although the folder lets it be replaced.
        accessat(&folder, name, Access::WRITE_OK, AtFlags::EACCESS)?;
    }
    match write_beside(&folder, name, content, before.as_ref(), mode) {
        // The folder takes no new file, or this one cannot be moved, as the end of a mount.
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::BUSY | Errno::XDEV) if before.is_some() => {
            let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut file = File::from(openat(&folder, name, flags, Mode::empty())?);
            if let Some(mode) = mode {
                file.set_permissions(Permissions::from_mode(mode))?;
            }
            file.write_all(content)
        }
        written => Ok(written?),
    }
}

/// Opens a folder whose path has no links.
fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Folders above need not be readable.
    Ok(match openat(CWD, path, flags, Mode::empty()) {
        #[cfg(target_os = "linux")]
        Err(Errno::ACCESS) => openat(CWD, path, flags | OFlags::PATH, Mode::empty())?,
        other => other?,
    })
}

fn write_beside(
    folder: &OwnedFd,
    name: &OsStr,
    content: &[u8],
    before: Option<&Metadata>,
    mode: Option<u32>,
) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Without a mode of its own, the user's mask decides.
    let mode = mode.or(before.map(|about| about.mode() & MODE));
    let (new, mut file) = loop {
        let new = OsString::from(format!(".twincell-{:016x}", RandomState::new().build_hasher().finish()));
        match openat(folder, &new, flags, Mode::from_raw_mode(mode.map_or(0o666, |_| PRIVATE))) {
            Err(Errno::EXIST) => {}
            made => break (new, File::from(made?)),
        }
    };
    let errno = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let mut write = || {
        if let Some(about) = before {
            // Only root can, and nobody else has to.
            let _ = fchown(&file, Some(Uid::from_raw(about.uid())), Some(Gid::from_raw(about.gid())));
        }
        if let Some(mode) = mode {
            file.set_permissions(Permissions::from_mode(mode)).map_err(errno)?;
        }
        file.write_all(content).map_err(errno)?;
        renameat(folder, &new, folder, name)
    };
    let written = write();
    if written.is_err() {
        let _ = unlinkat(folder, &new, AtFlags::empty());
    }
    written
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder, a repository in it, and a file outside of that.
    fn places() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (repository, outside) = (root.join("repository"), root.join("outside"));
        fs::create_dir_all(repository.join(".git")).unwrap();
        fs::create_dir_all(repository.join("docs")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "kept").unwrap();
        (folder, repository, outside)
    }

    #[test]
    fn links_of_a_repository_are_not_followed() {
        let (_folder, repository, outside) = places();
        symlink(outside.join("file"), repository.join("page.html")).unwrap();
        symlink("../outside", repository.join("out")).unwrap();
        symlink(outside.join("new"), repository.join("docs/new")).unwrap();
        for path in ["page.html", "out/file", "out/new", "docs/new", "docs/../page.html"] {
            let path = repository.join(path);
            for done in [
                write(&path, b"evil", TextKind::People),
                check(&path),
                make_folder(&path),
                write_private(&path, b"evil", TextKind::People),
            ] {
                let error = done.unwrap_err().to_string();
                assert!(error.contains("is a link in the repository"), "{error}");
            }
        }
        // What leads there through a link of the user's own is a link of the repository all the same.
        symlink(&repository, outside.join("shortcut")).unwrap();
        assert!(write(&outside.join("shortcut/page.html"), b"evil", TextKind::People).is_err());
        write(&outside.join("shortcut/docs/page.html"), b"good", TextKind::People).unwrap();
        assert_eq!(fs::read(repository.join("docs/page.html")).unwrap(), b"good");
        assert_eq!(fs::read(outside.join("file")).unwrap(), b"kept");
        assert!(!outside.join("new").exists());
    }

    #[test]
    fn files_beside_an_output_take_the_place_of_links() {
        let (_folder, repository, outside) = places();
        let (rows, beside) = (repository.join("rows.jsonl"), repository.join("rows.jsonl.tmp"));
        fs::write(&rows, "rows").unwrap();
        fs::set_permissions(&rows, Permissions::from_mode(0o640)).unwrap();
        symlink(outside.join("file"), &beside).unwrap();
        copy_beside(&rows, &beside).unwrap();
        assert_eq!(
            (fs::read(&beside).unwrap(), fs::read(outside.join("file")).unwrap()),
            (b"rows".into(), b"kept".into())
        );
        assert_eq!(fs::metadata(&beside).unwrap().mode() & MODE, 0o640);
    }

    #[test]
    fn links_of_the_user_are_followed_and_modes_stay() {
        let (_folder, _, outside) = places();
        fs::set_permissions(outside.join("file"), Permissions::from_mode(0o600)).unwrap();
        symlink("file", outside.join("link")).unwrap();
        write(&outside.join("link"), b"new", TextKind::People).unwrap();
        assert!(outside.join("link").is_symlink());
        assert_eq!(fs::read(outside.join("file")).unwrap(), b"new");
        assert_eq!(fs::metadata(outside.join("file")).unwrap().mode() & MODE, 0o600);
        fs::set_permissions(outside.join("file"), Permissions::from_mode(0o644)).unwrap();
        write_private(&outside.join("file"), b"private", TextKind::People).unwrap();
        assert_eq!(fs::metadata(outside.join("file")).unwrap().mode() & MODE, 0o600);
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 2);
        symlink("round", outside.join("round")).unwrap();
        assert!(write(&outside.join("round"), b"", TextKind::People).is_err());
        assert!(write(&outside, b"", TextKind::People).is_err());
    }

    #[test]
    fn what_can_be_written_is_known_before_and_nothing_is_made() {
        let (_folder, _, outside) = places();
        let kind = |checked: io::Result<()>| checked.map_err(|error| error.kind());
        assert_eq!(kind(check(&outside.join("new"))), Ok(()));
        assert_eq!(kind(check(&outside.join("file"))), Ok(()));
        assert_eq!(kind(check(&outside)), Err(io::ErrorKind::IsADirectory));
        assert_eq!(kind(check(&outside.join("none/new"))), Err(io::ErrorKind::NotFound));
        assert_eq!(kind(check(&outside.join("file/new"))), Err(io::ErrorKind::NotADirectory));
        assert_eq!(kind(check_folder(&outside)), Ok(()));
        assert_eq!(kind(check_folder(&outside.join("a/b"))), Ok(()));
        assert_eq!(kind(check_folder(&outside.join("file"))), Err(io::ErrorKind::NotADirectory));
        assert_eq!(kind(check_folder(&outside.join("file/a"))), Err(io::ErrorKind::NotADirectory));
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_file_is_written_to() {
        write(Path::new("/dev/null"), b"nothing", TextKind::People).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = File::create(folder.path().join("file")).unwrap();
        use std::os::fd::AsRawFd;
        write(Path::new(&format!("/dev/fd/{}", file.as_raw_fd())), b"new", TextKind::People).unwrap();
        assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"new");
    }

    #[test]
    fn what_runners_may_read_holds_no_commands_and_files_hold_all() {
        use std::os::fd::AsRawFd;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write(&path, b"    ::\n", TextKind::Verbatim).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"    ::\n");
        let file = File::options().write(true).open(&path).unwrap();
        let device = PathBuf::from(format!("/dev/fd/{}", file.as_raw_fd()));
        // What is refused leaves what was there.
        assert!(write(&device, b"    ::\n", TextKind::Verbatim).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"    ::\n");
        write(&device, b"    ::\n", TextKind::Markup).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"    :&#58;\n");
    }
}
