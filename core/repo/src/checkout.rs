//! Checkouts: a version's files in a folder of ours, as git has them.
//!
//! The user's repository is only read. A folder is used again for another version of the same repository: what is different
//! is written, and what tests have left goes. It goes at the end as well, or, after a killed process, when another begins. A
//! lock that ends with its process says which folders are in use, so that a killed process blocks nobody. The number and the
//! size of the folders are bounded.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use git2::{ObjectType, Odb, Oid, Repository};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use twincell_files::names::is_kept_back;
use twincell_files::{inside, private};

use crate::error::{CopyError, RepoError};
use crate::repository::{Repo, bytes_as_path};
use crate::revision::Revision;
use crate::snapshot::At;
use crate::tree::FileId;
use crate::walk::walk;

/// The bounds of a checkout: files and folders, and bytes.
const MAX_FILES: usize = 200_000;
const MAX_BYTES: u64 = 2 << 30;
/// How many folders of one repository are kept, and how many bytes of all.
const MAX_FOLDERS: usize = 8;
const MAX_TOTAL: u64 = 4 << 30;

/// How many files and folders of the user's checkout are looked at for what is closed, and how many parts of one folder are
/// closed one by one.
const MAX_LOOKED_AT: usize = 200_000;
const MAX_CLOSED: usize = 200;

const EXECUTABLE: u32 = 0o100_755;
const PLAIN: u32 = 0o100_644;
const LINK: u32 = 0o120_000;

/// The folder of a cache with checkouts. It is short, and so are the names below it: tests make local sockets in temporary folders
/// there, whose paths have at most 107 bytes.
const WORKTREES: &str = "w";

/// The folder where checkouts and results are kept between runs.
#[derive(Debug, Clone)]
pub struct Cache {
    pub folder: PathBuf,
    /// Removes it once nobody uses it any more.
    own: Option<Arc<TempDir>>,
}

/// A version of a repository in a folder of our own, which nobody else uses as long as this value or a copy of it lives.
/// Tests may change the files; the next checkout puts them right.
#[derive(Debug, Clone)]
pub struct Checkout {
    pub root: PathBuf,
    /// A hash of the paths, modes and contents of its files.
    pub tree: String,
    /// The user's own checkout, from which nothing may be imported.
    pub repository: PathBuf,
    /// The folders where git keeps the repository, which may lie elsewhere.
    pub git: Vec<PathBuf>,
    /// Where sessions keep what they need, beside the files.
    pub run: PathBuf,
    /// What of the user's own checkout is closed to tests.
    pub closed: Vec<PathBuf>,
    entries: Arc<Entries>,
    _slot: Arc<Slot>,
    /// The cache itself, where it goes with those who use it. After the slot, which is tidied up first.
    _cache: Option<Arc<TempDir>>,
}

/// A folder that is in use. It is tidied up when its last user ends.
#[derive(Debug)]
struct Slot {
    folder: PathBuf,
    _lock: File,
}

impl Drop for Slot {
    fn drop(&mut self) {
        tidy(&self.folder);
    }
}

/// One file of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    mode: u32,
    id: Oid,
    /// Where its content comes from.
    source: Source,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    /// git's objects.
    Object,
    /// The working tree.
    WorkingTree,
    /// A text that nobody has written yet.
    Memory(Arc<[u8]>),
}

/// A file of a version that no commit has: what git has under this name, or a text in memory.
#[derive(Debug, Clone)]
pub struct MadeFile {
    /// From the root of the repository. Where it leads elsewhere, there is no such file.
    pub path: PathBuf,
    /// As git has it: 0o100644, 0o100755, or 0o120000 for a link. Files of old commits can have other rights. A submodule is no
    /// file.
    pub mode: u32,
    pub id: FileId,
    pub text: Option<Arc<[u8]>>,
}

type Entries = BTreeMap<PathBuf, Entry>;

/// What was written into a folder, so that the next checkout knows what is still as it was.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Manifest {
    tree: String,
    files: Vec<CheckedOutFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct CheckedOutFile {
    /// The bytes of its path.
    path: Vec<u8>,
    mode: u32,
    id: String,
    stamp: Stamp,
}

/// What the system changes whenever somebody changes a file. The time of the last change to its data about the file cannot be
/// set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let about = fs::symlink_metadata(path).ok()?;
        Some(Self { inode: about.ino(), size: about.size(), changed: (about.ctime(), about.ctime_nsec()) })
    }
}

/// Puts a version's files into a folder of the cache.
pub fn checkout(repository: &Path, revision: &Revision, cache: &Cache) -> Result<Checkout, RepoError> {
    let found = Repo::around(repository)?;
    let entries = entries(&found, revision)?;
    begin(&found, entries, cache)
}

/// Puts files that are no commit's into a folder of the cache, with modules that a build has put beside them. What has a path of
/// `tracked` was put there by no build, and is left out unless it is one of the files.
///
/// # Errors
///
/// As [`checkout`].
pub fn checkout_made(
    repository: &Path,
    files: &[MadeFile],
    tracked: &BTreeSet<PathBuf>,
    cache: &Cache,
) -> Result<Checkout, RepoError> {
    let found = Repo::around(repository)?;
    let entries = of_made(&found, files, tracked)?;
    begin(&found, entries, cache)
}

fn of_made(repo: &Repo, files: &[MadeFile], tracked: &BTreeSet<PathBuf>) -> Result<Entries, RepoError> {
    let entry = |file: &MadeFile| {
        let source = file.text.clone().map_or(Source::Object, Source::Memory);
        Some((file.path.clone(), Entry { mode: mode(file.mode as i32)?, id: file.id.0, source }))
    };
    let mut entries: Entries = files.iter().filter(|file| is_plain(&file.path)).filter_map(entry).collect();
    add_generated(&repo.git, &mut entries, tracked)?;
    match entries.len() > MAX_FILES {
        true => Err(RepoError::Files { revision: "a version".to_owned(), error: CopyError::TooMany(MAX_FILES) }),
        false => Ok(entries),
    }
}

fn begin(found: &Repo, entries: Entries, cache: &Cache) -> Result<Checkout, RepoError> {
    let users = found.root().unwrap_or(found.path()).canonicalize()?;
    let found = &found.git;
    let tree = hash(&entries);
    private::lasting(&cache.folder).map_err(|error| failed(&cache.folder, &error))?;
    let all = cache.folder.join(WORKTREES);
    let folder = all.join(&hex(&Sha256::digest(users.as_os_str().as_bytes()))[..12]);
    let (slot, lock) = claim(&folder, &tree).map_err(|error| failed(&folder, &error))?;
    let claimed = Arc::new(Slot { folder: slot.clone(), _lock: lock.try_clone()? });
    // A lock file that is written to says when the folder was last used.
    (&lock).write_all(b".").and_then(|()| lock.set_len(0)).map_err(|error| failed(&slot, &error))?;
    trim(&all, MAX_TOTAL);
    let (root, run) = put(found, &slot, &tree, &entries)?;
    let git = [found.path(), found.commondir()].iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    let (entries, closed) = (Arc::new(entries), kept_back(&users));
    let cache = cache.own.clone();
    Ok(Checkout { root, tree, repository: users, git, run, closed, entries, _slot: claimed, _cache: cache })
}

/// Makes a claimed folder hold these files, and an empty one for runs beside them.
fn put(found: &Repository, slot: &Path, tree: &str, entries: &Entries) -> Result<(PathBuf, PathBuf), RepoError> {
    let root = slot.join("files");
    fill(found, slot, &root, tree, entries)?;
    let run = slot.join("run");
    inside::remove_whole(&run).and_then(|()| private::make(&run)).map_err(|error| failed(&run, &error))?;
    Ok((root.canonicalize()?, run.canonicalize()?))
}

impl Checkout {
    /// The same folder with the files of another version that no commit has. Only what differs is written. No session of this
    /// checkout may be left.
    ///
    /// # Errors
    ///
    /// As [`checkout_made`].
    pub fn with_made(self, files: &[MadeFile], tracked: &BTreeSet<PathBuf>) -> Result<Self, RepoError> {
        let found = Repo::around(&self.repository)?;
        let entries = of_made(&found, files, tracked)?;
        let tree = hash(&entries);
        let (root, run) = put(&found.git, &self._slot.folder, &tree, &entries)?;
        Ok(Self { root, tree, run, entries: Arc::new(entries), ..self })
    }

    /// The content of a file as the version has it, whatever tests have made of the checkout. `None` for what is no file of the
    /// version, or one with more bytes.
    pub fn read(&self, path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(entry) = self.entries.get(path).filter(|entry| entry.mode != LINK) else { return Ok(None) };
        let content = match entry.source {
            Source::Object => {
                let Some(folder) = self.git.last() else { return Ok(None) };
                let repository = Repository::open(folder).map_err(as_io)?;
                let objects = repository.odb().map_err(as_io)?;
                if objects.read_header(entry.id).map_err(as_io)?.0 as u64 > most {
                    return Ok(None);
                }
                return Ok(Some(objects.read(entry.id).map_err(as_io)?.data().to_vec()));
            }
            Source::WorkingTree => inside::read(&self.repository, path, most)?,
            Source::Memory(ref text) => return Ok(Some(text.to_vec()).filter(|text| text.len() as u64 <= most)),
        };
        // Somebody may have changed it meanwhile.
        let is_same = |content: &Vec<u8>| Oid::hash_object(ObjectType::Blob, content).is_ok_and(|id| id == entry.id);
        Ok(content.filter(is_same))
    }
}

/// What of a folder code must not read: hidden files and folders, and those whose names say that they are secrets. Where there
/// are too many to name each, or to look at all, the folder that holds them is closed.
fn kept_back(root: &Path) -> Vec<PathBuf> {
    let mut left = MAX_LOOKED_AT;
    let mut found = Vec::new();
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let (path, is_folder) = (entry.path(), entry.file_type().is_ok_and(|kind| kind.is_dir()));
        if is_kept_back(Path::new(&entry.file_name())) {
            found.push(path);
        } else if is_folder {
            let mut own = Vec::new();
            let is_whole = add_kept_back(&path, &mut own, &mut left);
            if is_whole && own.len() <= MAX_CLOSED { found.extend(own) } else { found.push(path) }
        }
    }
    found
}

/// Adds what is kept back below a folder. Whether all could be looked at.
fn add_kept_back(folder: &Path, found: &mut Vec<PathBuf>, left: &mut usize) -> bool {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if *left == 0 || found.len() > MAX_CLOSED {
                return false;
            }
            *left -= 1;
            if is_kept_back(Path::new(&entry.file_name())) {
                found.push(entry.path());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    true
}

fn failed(folder: &Path, error: &io::Error) -> RepoError {
    RepoError::Folder { folder: folder.to_owned(), reason: error.to_string() }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hash(entries: &Entries) -> String {
    let mut hash = Sha256::new();
    for (path, entry) in entries {
        let path = path.as_os_str().as_bytes();
        hash.update((path.len() as u64).to_le_bytes());
        hash.update(path);
        hash.update(entry.mode.to_le_bytes());
        hash.update(entry.id.as_bytes());
    }
    hex(&hash.finalize())
}

/// The files of a version.
fn entries(repo: &Repo, revision: &Revision) -> Result<Entries, RepoError> {
    let too_many = |error| RepoError::Files { revision: revision.name().to_owned(), error };
    let mut entries = match repo.snapshot(revision)?.at {
        At::Tree(tree) => of_tree(&repo.git, tree.id()).map_err(too_many)?,
        At::Index(index) => {
            let entry = |entry: git2::IndexEntry| {
                let made = Entry { mode: mode(entry.mode as i32)?, id: entry.id, source: Source::Object };
                Some((bytes_as_path(&entry.path), made))
            };
            index.iter().filter_map(entry).collect()
        }
        At::Files => {
            let root = repo.root().ok_or(RepoError::Bare)?;
            let paths = repo.paths_of_files()?.into_iter();
            paths.filter_map(|path| Some((path.clone(), of_file(root, &path)?))).collect()
        }
    };
    entries.retain(|path, _| is_plain(path));
    add_generated(&repo.git, &mut entries, &BTreeSet::new())?;
    if entries.len() > MAX_FILES {
        return Err(too_many(CopyError::TooMany(MAX_FILES)));
    }
    Ok(entries)
}

/// Whether a path leads nowhere else. A hostile tree can hold any names.
fn is_plain(path: &Path) -> bool {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git"));
    path.components().count() > 0 && path.components().all(plain)
}

/// The mode of what becomes a file or a link. Submodules are neither. Of the rights, only the owner's to run the file counts, as
/// git has it.
fn mode(mode: i32) -> Option<u32> {
    match mode & 0o170_000 {
        0o100_000 if mode & 0o100 != 0 => Some(EXECUTABLE),
        0o100_000 => Some(PLAIN),
        0o120_000 => Some(LINK),
        _ => None,
    }
}

fn of_tree(repository: &Repository, tree: Oid) -> Result<Entries, CopyError> {
    let mut entries = Entries::new();
    let mut seen = 0;
    walk(repository, tree, |path, entry| {
        // A hostile tree can have one name many times.
        seen += 1;
        if seen > MAX_FILES {
            return Err(CopyError::TooMany(MAX_FILES));
        }
        if let Some(mode) = mode(entry.filemode()) {
            entries.insert(path.to_owned(), Entry { mode, id: entry.id(), source: Source::Object });
        }
        Ok(true)
    })?;
    Ok(entries)
}

/// A file of the working tree, unless it is gone.
fn of_file(root: &Path, path: &Path) -> Option<Entry> {
    let about = fs::symlink_metadata(root.join(path)).ok()?;
    let mode = match () {
        () if about.is_symlink() => LINK,
        () if about.is_file() && about.mode() & 0o100 != 0 => EXECUTABLE,
        () if about.is_file() => PLAIN,
        () => return None,
    };
    let content = content_of_file(root, path, mode).ok()?;
    let id = Oid::hash_object(ObjectType::Blob, &content).ok()?;
    Some(Entry { mode, id, source: Source::WorkingTree })
}

fn content_of_file(root: &Path, path: &Path, mode: u32) -> io::Result<Vec<u8>> {
    if mode == LINK {
        return Ok(fs::read_link(root.join(path))?.into_os_string().into_encoded_bytes());
    }
    let root = OwnedFd::from(File::open(root)?);
    inside::read_in(&root, path, MAX_BYTES)?.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Adds modules that a build puts beside those in git, and that git ignores: `_version.py`, compiled extensions. Without them
/// packages cannot be imported. Paths of `tracked` are none.
fn add_generated(
    repository: &Repository,
    entries: &mut Entries,
    tracked: &BTreeSet<PathBuf>,
) -> Result<(), git2::Error> {
    let Some(root) = repository.workdir() else { return Ok(()) };
    let is_module = |path: &Path| path.extension().is_some_and(|ending| ending == "py" || ending == "so");
    let folders: BTreeSet<PathBuf> = entries
        .keys()
        .filter(|path| path.extension().is_some_and(|ending| ending == "py"))
        .filter_map(|path| path.parent().map(Path::to_owned))
        .filter(|folder| !folder.as_os_str().is_empty())
        .collect();
    for folder in folders {
        let Ok(listed) = fs::read_dir(root.join(&folder)) else { continue };
        for entry in listed.flatten() {
            let path = folder.join(entry.file_name());
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file
                && is_module(&path)
                && !is_kept_back(&path)
                && !entries.contains_key(&path)
                && !tracked.contains(&path)
                && repository.is_path_ignored(&path)?
            {
                entries.extend(of_file(root, &path).map(|entry| (path, entry)));
            }
        }
    }
    Ok(())
}

/// A folder for this tree that nobody uses, locked: one that holds it, else the one that was not used for the longest time once
/// there are enough, else a new one.
fn claim(folder: &Path, tree: &str) -> io::Result<(PathBuf, File)> {
    private::make_all(folder)?;
    let mut slots: Vec<(bool, SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let slot = entry.path();
        let used = fs::metadata(slot.join("lock")).and_then(|about| about.modified());
        let holds = read_manifest(&slot).is_some_and(|manifest| manifest.tree == tree);
        slots.push((!holds, used.unwrap_or(SystemTime::UNIX_EPOCH), slot));
    }
    slots.sort();
    let is_enough = slots.len() >= MAX_FOLDERS;
    for (differs, _, slot) in &slots {
        if (!differs || is_enough)
            && let Some(lock) = lock(slot)?
        {
            return Ok((slot.clone(), lock));
        }
    }
    for number in 0.. {
        let slot = folder.join(number.to_string());
        // A folder that was left without a manifest holds nothing.
        if slot.join("manifest").exists() {
            continue;
        }
        private::make_all(&slot)?;
        if let Some(lock) = lock(&slot)? {
            return Ok((slot, lock));
        }
    }
    Err(io::ErrorKind::StorageFull.into())
}

/// Locks a folder, unless somebody else has it.
fn lock(slot: &Path) -> io::Result<Option<File>> {
    let path = slot.join("lock");
    let file = match private::file(&path) {
        Ok(file) => file,
        // It is being removed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    // It may have been removed in between.
    let is_there = fs::metadata(&path).is_ok_and(|there| file.metadata().is_ok_and(|own| own.ino() == there.ino()));
    Ok(is_there.then_some(file))
}

fn read_manifest(slot: &Path) -> Option<Manifest> {
    serde_json::from_slice(&fs::read(slot.join("manifest")).ok()?).ok()
}

/// Makes the folder hold these files and nothing else.
fn fill(repository: &Repository, slot: &Path, root: &Path, tree: &str, entries: &Entries) -> Result<(), RepoError> {
    let io_failed = |error: io::Error| failed(slot, &error);
    let known = read_manifest(slot).unwrap_or_default();
    // Whoever is killed from here on leaves a folder that nobody believes.
    match fs::remove_file(slot.join("manifest")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io_failed(error)),
        _ => {}
    }
    let known: BTreeMap<PathBuf, CheckedOutFile> =
        known.files.into_iter().map(|written| (bytes_as_path(&written.path), written)).collect();
    let is_kept = |path: &Path| {
        let (Some(entry), Some(written)) = (entries.get(path), known.get(path)) else { return false };
        entry.mode == written.mode
            && entry.id.to_string() == written.id
            && Stamp::of(&root.join(path)) == Some(written.stamp)
    };
    let folders: BTreeSet<&Path> = entries.keys().flat_map(|path| path.ancestors().skip(1)).collect();
    private::make_all(root).map_err(io_failed)?;
    sweep(root, Path::new(""), &folders, &is_kept).map_err(io_failed)?;
    let objects = repository.odb().map_err(|error| io_failed(as_io(error)))?;
    let users = repository.workdir().unwrap_or(Path::new(""));
    let mut files = Vec::with_capacity(entries.len());
    let mut left = MAX_BYTES;
    for (path, entry) in entries {
        let stamp = match known.get(path) {
            Some(written) if is_kept(path) => written.stamp,
            _ => {
                let written = content(&objects, users, path, entry, left).and_then(|content| {
                    write(root, path, entry.mode, &content)?;
                    left -= content.len() as u64;
                    Stamp::of(&root.join(path)).ok_or_else(|| io::ErrorKind::NotFound.into())
                });
                // A name can have more than one line.
                let reason = |error| format!("{path:?}: {error}");
                written.map_err(|error| RepoError::Folder { folder: slot.to_owned(), reason: reason(error) })?
            }
        };
        let path = path.as_os_str().as_bytes().to_vec();
        files.push(CheckedOutFile { path, mode: entry.mode, id: entry.id.to_string(), stamp });
    }
    let manifest = serde_json::to_vec(&Manifest { tree: tree.to_owned(), files }).map_err(io::Error::other);
    let new = slot.join("manifest.new");
    manifest
        .and_then(|manifest| {
            inside::remove_whole(&new)?;
            private::write_new(&new, &manifest)
        })
        .and_then(|()| fs::rename(&new, slot.join("manifest")))
        .map_err(io_failed)
}

fn as_io(error: git2::Error) -> io::Error {
    io::Error::other(error.message().to_owned())
}

/// The content of a file of a version, which has at most so many bytes.
fn content(objects: &Odb<'_>, users: &Path, path: &Path, entry: &Entry, most: u64) -> io::Result<Vec<u8>> {
    let check = |size: u64| match size > most {
        true => Err(io::Error::other(format!("the files have more than {} MiB", MAX_BYTES >> 20))),
        false => Ok(()),
    };
    match entry.source {
        Source::Object => {
            // A header says the size; a small object may become gigabytes when it is read.
            check(objects.read_header(entry.id).map_err(as_io)?.0 as u64)?;
            Ok(objects.read(entry.id).map_err(as_io)?.data().to_vec())
        }
        Source::WorkingTree => {
            let content = content_of_file(users, path, entry.mode)?;
            check(content.len() as u64)?;
            Ok(content)
        }
        Source::Memory(ref text) => {
            check(text.len() as u64)?;
            Ok(text.to_vec())
        }
    }
}

/// Writes a file or a link. In a hostile tree a link can have the name of a folder, or one that the disk takes for the same:
/// then what lies in the folder is an error, and nothing is written behind the link.
fn write(root: &Path, path: &Path, mode: u32, content: &[u8]) -> io::Result<()> {
    let folder = inside::make_parent(root, path, &mut Vec::new())?;
    if mode == LINK {
        return inside::link_in(&folder, path, &bytes_as_path(content));
    }
    let file = inside::write_in(&folder, path, content)?;
    if mode == EXECUTABLE { file.set_permissions(fs::Permissions::from_mode(0o700)) } else { Ok(()) }
}

/// Removes what a version does not have, or has otherwise.
fn sweep(root: &Path, inner: &Path, folders: &BTreeSet<&Path>, is_kept: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    let folder = root.join(inner);
    // Tests may have taken the right to list or to change it.
    let mode = fs::metadata(&folder)?.permissions();
    if mode.mode() & 0o700 != 0o700 {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
    }
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        let path = inner.join(entry.file_name());
        if entry.file_type()?.is_dir() && folders.contains(path.as_path()) {
            sweep(root, &path, folders, is_kept)?;
        } else if !is_kept(&path) {
            inside::remove_whole(&entry.path())?;
        }
    }
    Ok(())
}

/// Removes what tests have left in a folder that nobody else uses: what sessions kept beside the files, and files that are not
/// as the version has them.
fn tidy(slot: &Path) {
    let _ = inside::remove_whole(&slot.join("run"));
    let files = read_manifest(slot).unwrap_or_default().files;
    let known: BTreeMap<PathBuf, Stamp> =
        files.into_iter().map(|written| (bytes_as_path(&written.path), written.stamp)).collect();
    let folders: BTreeSet<&Path> = known.keys().flat_map(|path| path.ancestors().skip(1)).collect();
    let root = slot.join("files");
    let is_kept = |path: &Path| known.get(path).is_some_and(|stamp| Stamp::of(&root.join(path)) == Some(*stamp));
    // What cannot be removed now is tried again by whoever uses the folder next.
    let _ = sweep(&root, Path::new(""), &folders, &is_kept);
}

/// The folders of all checkouts, those that were not used for the longest time first.
fn slots(all: &Path) -> Vec<PathBuf> {
    let folders = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut slots: Vec<(SystemTime, PathBuf)> = folders(all)
        .flat_map(|repository| folders(&repository))
        .map(|slot| {
            let used = fs::metadata(slot.join("lock")).and_then(|about| about.modified());
            (used.unwrap_or(SystemTime::UNIX_EPOCH), slot)
        })
        .collect();
    slots.sort();
    slots.into_iter().map(|(_, slot)| slot).collect()
}

/// Tidies up after processes that were killed, and removes folders that nobody uses, those that were not used for the longest
/// time first, until the rest is small enough.
fn trim(all: &Path, limit: u64) {
    let slots: Vec<(u64, PathBuf)> = slots(all).into_iter().map(|slot| (size(&slot), slot)).collect();
    let mut total: u64 = slots.iter().map(|(bytes, _)| bytes).sum();
    for (bytes, slot) in slots {
        if total <= limit && !slot.join("run").exists() {
            continue;
        }
        if let Ok(Some(_lock)) = lock(&slot) {
            if total <= limit {
                tidy(&slot);
            } else if clear(&slot).is_ok() {
                total -= bytes;
            }
        }
    }
}

/// Removes a locked folder. The lock goes last, so that nobody takes what is half removed.
fn clear(slot: &Path) -> io::Result<()> {
    for part in ["manifest", "manifest.new", "run", "files", "lock"] {
        inside::remove_whole(&slot.join(part))?;
    }
    fs::remove_dir(slot)?;
    // Others of the repository may be left.
    let _ = slot.parent().map(fs::remove_dir);
    Ok(())
}

/// The size of a folder by its manifest. One without a manifest counts as a small one.
fn size(slot: &Path) -> u64 {
    read_manifest(slot).map_or(1, |manifest| manifest.files.iter().map(|file| file.stamp.size).sum::<u64>() + 1)
}

/// The disk space of a file or of a folder with all that is in it, in bytes. Names that files share count once each.
fn space(path: &Path) -> u64 {
    let mut bytes = 0;
    let mut left = vec![path.to_owned()];
    while let Some(path) = left.pop() {
        let Ok(about) = fs::symlink_metadata(&path) else { continue };
        bytes += about.blocks() * 512;
        if about.is_dir() {
            left.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    bytes
}

/// What was removed of a cache, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The disk space that is free now, in bytes.
    pub bytes: u64,
    /// How many checkouts are in use and stay.
    pub in_use: usize,
    /// What could not be removed, and why.
    pub failed: Vec<(PathBuf, String)>,
}

impl Cache {
    /// A folder that stays.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, own: None }
    }

    /// A folder that goes with its checkouts, for whoever has no home.
    pub fn temporary() -> io::Result<Self> {
        let folder = private::temporary("twincell-projects-")?;
        Ok(Self { folder: folder.path().to_owned(), own: Some(Arc::new(folder)) })
    }

    /// Removes every checkout that nobody uses, and the `results` kept beside them unless somebody uses a checkout.
    pub fn clean(&self, results: &[PathBuf]) -> Cleaned {
        let before = space(&self.folder);
        let mut cleaned = Cleaned::default();
        let failed = |path: &Path, error: io::Error| (path.to_owned(), error.to_string());
        let all = self.folder.join(WORKTREES);
        let listed = fs::read_dir(&all).err().filter(|error| error.kind() != io::ErrorKind::NotFound);
        cleaned.failed.extend(listed.map(|error| failed(&all, error)));
        for slot in slots(&all) {
            match lock(&slot) {
                Ok(Some(_lock)) => cleaned.failed.extend(clear(&slot).err().map(|error| failed(&slot, error))),
                Ok(None) => cleaned.in_use += 1,
                Err(error) => cleaned.failed.push(failed(&slot, error)),
            }
        }
        if cleaned.in_use == 0 {
            let gone = results.iter().filter_map(|file| Some(failed(file, fs::remove_file(file).err()?)));
            cleaned.failed.extend(gone);
        }
        cleaned.bytes = before.saturating_sub(space(&self.folder));
        cleaned
    }
}
