//! The Python files of a folder, copied in batches to a place where a command may change them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use twincell_driver::files::reason;
use twincell_files::{inside, private};

use crate::mine::Module;

/// The maximum number of files for one process, and the maximum length of their names, which a command line must hold.
const MOST_FILES: usize = 200;
const MOST_NAMES: usize = 64 << 10;
/// The maximum nesting of folders.
const DEEPEST: usize = 50;
/// The largest file of settings, in bytes.
const MAX_SETTINGS: u64 = 1 << 20;
/// The files that tools look for beside the sources.
const SETTINGS: [&str; 6] = ["pyproject.toml", "ruff.toml", ".ruff.toml", "setup.cfg", "tox.ini", ".editorconfig"];

/// All Python files below a folder, as seen from it and sorted. Hidden folders are skipped, and no links are followed.
pub fn python_files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect(root, Path::new(""), 0, &mut files)?;
    files.sort();
    Ok(files)
}

fn collect(root: &Path, within: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(within))? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let hidden = name.to_string_lossy().starts_with('.') || name == "__pycache__" || name == "node_modules";
        let path = within.join(name);
        if kind.is_dir() && !hidden && depth < DEEPEST {
            collect(root, &path, depth + 1, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "py") {
            files.push(path);
        }
    }
    Ok(())
}

/// Copies of the files that a command itself names by absolute paths, so that it cannot change anybody's files.
pub struct Named {
    folder: TempDir,
}

impl Named {
    pub fn new() -> io::Result<Self> {
        Ok(Self { folder: private::temporary("twincell-")? })
    }

    /// The copy of a file, if it is one below `root`.
    pub fn copy(&self, root: &Path, file: &Path) -> Option<PathBuf> {
        let name = file.strip_prefix(root).ok()?;
        let copy = self.folder.path().join(name);
        fs::create_dir_all(copy.parent()?).ok()?;
        fs::copy(file, &copy).ok()?;
        Some(copy)
    }
}

/// The files that go to one process together.
pub fn batches(root: &Path, files: Vec<PathBuf>, several: bool) -> Vec<Vec<PathBuf>> {
    let mut batches: Vec<Vec<PathBuf>> = Vec::new();
    let mut names = 0;
    for file in files {
        let length = root.as_os_str().len() + file.as_os_str().len();
        names += length;
        match batches.last_mut() {
            Some(last) if several && last.len() < MOST_FILES && names <= MOST_NAMES => last.push(file),
            _ => {
                batches.push(vec![file]);
                names = length;
            }
        }
    }
    batches
}

/// The files in their own temporary folder, under their names in the original folder.
pub struct Batch {
    root: PathBuf,
    folder: TempDir,
    files: Vec<PathBuf>,
}

impl Batch {
    /// Returns the files that cannot be read, and why.
    pub fn copy(root: &Path, files: Vec<PathBuf>) -> io::Result<(Self, Vec<(PathBuf, String)>)> {
        let folder = private::temporary("twincell-")?;
        let (mut copied, mut unreadable) = (Vec::new(), Vec::new());
        for file in files {
            let bytes = match fs::read(root.join(&file)) {
                Ok(bytes) => bytes,
                Err(error) => {
                    unreadable.push((file, reason(&error)));
                    continue;
                }
            };
            let copy = folder.path().join(&file);
            if let Some(parent) = copy.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(copy, bytes)?;
            copied.push(file);
        }
        for name in SETTINGS {
            // A link could lead anywhere.
            if let Ok(Some(settings)) = inside::read(root, Path::new(name), MAX_SETTINGS) {
                fs::write(folder.path().join(name), settings)?;
            }
        }
        Ok((Self { root: root.to_owned(), folder, files: copied }, unreadable))
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn names(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    /// The files that changed.
    pub fn changed(&self) -> Vec<PathBuf> {
        let same = |file: &Path| match (fs::read(self.root.join(file)), fs::read(self.folder.path().join(file))) {
            (Ok(old), Ok(new)) => old == new,
            _ => false,
        };
        self.files.iter().filter(|file| !same(file)).cloned().collect()
    }

    /// Both versions of a file. An error says which one is not valid.
    pub fn modules(&self, file: &Path) -> Result<(Module, Module), String> {
        let name = file.display();
        let read = |folder: &Path| fs::read(folder.join(file)).map_err(|error| reason(&error));
        let old = Module::read(&read(&self.root)?).map_err(|reason| format!("{name} {reason}"))?;
        let new = read(self.folder.path()).map_err(|reason| format!("the command removed {name}: {reason}"))?;
        let new = Module::read(&new).map_err(|reason| format!("what the command made of {name} {reason}"))?;
        Ok((old, new))
    }
}
