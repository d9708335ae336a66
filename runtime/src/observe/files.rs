//! The content of files that the code made in the worker's own folder, as the callee of a call would read it.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::PyString;

use twincell_engine::observed::Observed;

use crate::observe;

/// The maximum number of bytes of one file that count, of those that are kept, and of the entries of a folder.
const MOST_BYTES: u64 = 1 << 16;
const KEPT_BYTES: usize = 200;
const MOST_ENTRIES: usize = 16;

static FOLDERS: OnceLock<[PathBuf; 2]> = OnceLock::new();

/// The folder that foreign code may write to, by its real path and as code sees it.
pub(crate) fn keep(folder: &Path, seen: &Path) {
    FOLDERS.get_or_init(|| [folder.to_path_buf(), seen.to_path_buf()]);
}

/// The folder, by its real path and as code sees it.
pub(crate) fn folders() -> Vec<String> {
    FOLDERS
        .get()
        .iter()
        .flat_map(|folders| folders.iter())
        .map(|folder| folder.to_string_lossy().into_owned())
        .collect()
}

/// Whether a path is below the folder. One that goes up is not.
pub(crate) fn is_own(path: &str) -> bool {
    let Some(folders) = FOLDERS.get() else { return false };
    let within = |path: &Path| folders.iter().any(|folder| path.starts_with(folder));
    let path = Path::new(path);
    let goes_up = path.components().any(|part| part == std::path::Component::ParentDir);
    !goes_up && if path.is_absolute() { within(path) } else { is_here(&within) }
}

fn is_here(within: &dyn Fn(&Path) -> bool) -> bool {
    std::env::current_dir().is_ok_and(|here| within(&here))
}

/// Whether the folder is the current one itself.
pub(crate) fn is_current() -> bool {
    FOLDERS.get().is_some_and(|folders| is_here(&|here| here == folders[0]))
}

/// Whether nothing is in the folder.
pub(crate) fn is_empty() -> bool {
    let mut entries = FOLDERS.get().and_then(|folders| std::fs::read_dir(&folders[0]).ok());
    entries.as_mut().is_some_and(|entries| entries.next().is_none())
}

/// The content of the files and folders that arguments name, by position.
pub(crate) fn named_by(handed: &[Bound<'_, PyAny>]) -> BTreeMap<usize, Observed> {
    let Some(folders) = FOLDERS.get() else { return BTreeMap::new() };
    let named = handed.iter().enumerate().filter_map(|(at, value)| {
        let path = PathBuf::from(path_of(value)?);
        let is_own = folders.iter().any(|folder| path.starts_with(folder) && path != *folder);
        is_own.then(|| content(&path, true)).flatten().map(|content| (at, content))
    });
    named.collect()
}

/// The path that a text or a temporary file holds, without code of the value's class.
fn path_of(value: &Bound<'_, PyAny>) -> Option<String> {
    if let Ok(text) = value.cast_exact::<PyString>() {
        return text.to_str().ok().filter(|text| text.starts_with('/')).map(str::to_owned);
    }
    let class = value.get_type();
    let module = class.module().ok()?.to_string();
    if module == "tempfile" {
        let namespace = observe::object_namespace(value).ok()?;
        return namespace.get_item("name").ok()??.cast_exact::<PyString>().ok()?.extract().ok();
    }
    None
}

/// What is there: the bytes of a file, or the entries of a folder. Nothing else is opened, and no link is followed.
fn content(path: &Path, is_outermost: bool) -> Option<Observed> {
    let kind = std::fs::symlink_metadata(path).ok()?.file_type();
    if kind.is_file() {
        // The file may be exchanged for a pipe meanwhile.
        let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
        let rest = bytes.get(KEPT_BYTES..).filter(|rest| !rest.is_empty());
        let rest = rest.map(|rest| format!("... [{} bytes, {:016x}]", bytes.len(), xxhash_rust::xxh3::xxh3_64(rest)));
        bytes.truncate(KEPT_BYTES);
        bytes.extend(rest.unwrap_or_default().into_bytes());
        return Some(Observed::Bytes(bytes));
    }
    if !kind.is_dir() || !is_outermost {
        return None;
    }
    let mut names: Vec<PathBuf> =
        std::fs::read_dir(path).ok()?.take(MOST_ENTRIES * 4).flatten().map(|entry| entry.path()).collect();
    names.sort();
    let entries = names.iter().take(MOST_ENTRIES).map(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        (Observed::Str(name.unwrap_or_default()), content(path, false).unwrap_or(Observed::None))
    });
    Some(Observed::Dict(entries.collect()))
}
