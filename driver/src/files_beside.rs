//! The files beside a text: modules of its own folder, or of the repository around it, that it imports, and files there that
//! it names.
//!
//! Nothing else of the folder is read, since it may be anything, such as a home folder. What was read is what is copied.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use twincell_files::names::is_kept_back;
use twincell_files::{inside, private};
use twincell_syntax::python::is_of_stdlib;
use twincell_syntax::{absolute_imports, imported_modules, imports, texts};

use twincell_repo::{ModulePath, Project};

/// The bounds of what is copied: files, bytes of all, and bytes of one file that only belongs to a package.
const MAX_FILES: usize = 2_000;
const MAX_BYTES: usize = 64 << 20;
const MAX_FILE: u64 = 16 << 20;
const MAX_OF_PACKAGE: usize = 1 << 20;
/// The maximum number of entries of a folder that are looked at, and how deep folders of a package are.
const MAX_ENTRIES: usize = 10_000;
const MAX_DEPTH: usize = 12;
/// The maximum number of texts of a program that are looked for as files, and of those that are folders.
const MAX_TEXTS: usize = 2_000;
const MAX_NAMED_FOLDERS: usize = 20;

/// What a text uses of the files beside it.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// The folder that all paths begin at: the repository, or else the folder of the text or of the packages around it.
    pub root: PathBuf,
    /// The folders in which imports find its modules, in order. Empty for the root.
    pub search: Vec<String>,
    /// The package that holds the text. Empty if there is none.
    pub package: String,
    /// The modules that it imports, directly or through each other.
    pub modules: Vec<String>,
    /// The folder in which it finds the files that it names, and these, from there.
    pub begin: String,
    pub data: Vec<String>,
    /// All that the texts of its modules import, by dotted name.
    pub imports: BTreeSet<String>,
    /// The content of all that is copied.
    contents: BTreeMap<String, Vec<u8>>,
}

/// What a text uses of the files beside it. `file` is its name in the folder; a cell has none. `None` if it uses nothing.
pub(crate) fn beside(folder: &Path, file: Option<&str>, text: &str) -> Option<Beside> {
    let folder = folder.canonicalize().ok()?;
    let root = match Project::around_folder(&folder) {
        Some(project) => project.root().to_owned(),
        // What is in a package is imported from the folder that holds it.
        None if file.is_some() => outside_of_packages(&folder).to_owned(),
        None => folder.clone(),
    };
    let own = folder.strip_prefix(&root).ok()?.to_str()?.to_owned();
    let at = ModulePath::of(&root, &join(&own, file.unwrap_or("cell.py")));
    let mut search = vec![own.clone()];
    search.extend(at.search.iter().filter(|one| **one != own).cloned());
    let package = if file.is_some() { at.package().to_owned() } else { String::new() };
    let root_folder = OwnedFd::from(File::open(&root).ok()?);
    let mut walk = Walk {
        root: &root,
        root_folder,
        search,
        used: BTreeSet::new(),
        packages: BTreeSet::new(),
        left: MAX_BYTES,
        found: Beside::default(),
    };
    walk.follow(&own, &package, text);
    walk.of_packages();
    let Walk { search, used, found, .. } = walk;
    let search = search.into_iter().filter(|one| used.contains(one)).collect();
    let is_something = !found.modules.is_empty() || !found.data.is_empty();
    is_something.then(|| Beside { search, package, root: root.clone(), ..found })
}

impl Beside {
    /// Writes it into a new folder.
    pub fn copy(&self, folder: &Path) -> io::Result<()> {
        private::make(folder)?;
        for (path, content) in &self.contents {
            let target = folder.join(path);
            if let Some(parent) = target.parent() {
                private::make_all(parent)?;
            }
            private::write_new(&target, content)?;
        }
        Ok(())
    }
}

struct Walk<'a> {
    root: &'a Path,
    root_folder: OwnedFd,
    /// Where imports look.
    search: Vec<String>,
    /// Those where they found something.
    used: BTreeSet<String>,
    /// The folders of the outermost packages.
    packages: BTreeSet<String>,
    /// The number of bytes that may still be read.
    left: usize,
    found: Beside,
}

impl Walk<'_> {
    /// Follows the imports of a text, and of all that they lead to, breadth first.
    fn follow(&mut self, own: &str, package: &str, text: &str) {
        let mut waiting = VecDeque::from([(own.to_owned(), package.to_owned(), text.to_owned())]);
        let mut bases = vec![own.to_owned()];
        bases.extend(Some(String::new()).filter(|root| root != own));
        while let Some((folder, package, text)) = waiting.pop_front() {
            let text = absolute_imports(&text, &package);
            let mut named = imported_modules(&text);
            named.extend(imports(&text).into_values().map(|import| import.target));
            for dotted in &named {
                waiting.extend(self.import(dotted));
            }
            self.found.imports.extend(named);
            self.named_files(&folder, &bases, &text);
        }
    }

    /// Reads the modules on the way to a dotted path. Returns those that were not known: folder, package and text.
    fn import(&mut self, dotted: &str) -> Vec<(String, String, String)> {
        let parts: Vec<&str> = dotted.split('.').collect();
        if is_of_stdlib(parts[0]) || !parts.iter().all(|part| is_plain(Path::new(part))) {
            return vec![];
        }
        let mut new = Vec::new();
        for search in self.search.clone() {
            let mut is_there = false;
            for length in 1..=parts.len() {
                let path = join(&search, &parts[..length].join("/"));
                let package = join(&path, "__init__.py");
                let module = format!("{path}.py");
                let Some(file) = [package.clone(), module].into_iter().find(|file| self.take(file)) else { continue };
                is_there = true;
                if length == 1 && file == package {
                    self.packages.insert(path.clone());
                }
                if !self.found.modules.contains(&file) {
                    let name = if file == package { &parts[..length] } else { &parts[..length - 1] };
                    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
                    let text = String::from_utf8_lossy(&self.found.contents[&file]).into_owned();
                    new.push((folder, name.join("."), text));
                    self.found.modules.push(file);
                }
            }
            if is_there {
                self.used.insert(search);
                break;
            }
        }
        new
    }

    /// Reads the files that a text names: in the folder of the snippet, or else of the repository, from which programs run,
    /// and for modules that look beside themselves, in their own.
    fn named_files(&mut self, folder: &str, bases: &[String], text: &str) {
        let paths: Vec<String> = texts(text).into_iter().filter_map(|text| plain_path(&text)).take(MAX_TEXTS).collect();
        for base in bases {
            let found = self.files_in(base, &paths);
            if !found.is_empty() && (self.found.data.is_empty() || *base == self.found.begin) {
                self.found.begin.clone_from(base);
                self.found.data.extend(found);
                self.found.data.sort();
                self.found.data.dedup();
                break;
            }
        }
        if !bases.iter().any(|base| base == folder) {
            self.files_in(folder, &paths);
        }
    }

    /// Those of some paths that are files in a folder: as they are, as patterns, or in a folder that another one names.
    fn files_in(&mut self, base: &str, paths: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = 0;
        for path in paths {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            if name.contains(['*', '?']) {
                for entry in self.entries(&join(base, folder)) {
                    if matches(name, &entry) {
                        found.push(join(folder, &entry));
                    }
                }
            } else if folders < MAX_NAMED_FOLDERS && self.root.join(join(base, path)).is_dir() {
                folders += 1;
                found.extend(paths.iter().map(|inner| join(path, inner)));
            } else {
                found.push(path.clone());
            }
        }
        found.retain(|path| self.take(&join(base, path)));
        found
    }

    /// What belongs to the packages that are imported, as far as there is room: modules that are imported by other means, and
    /// their data.
    fn of_packages(&mut self) {
        let mut waiting: Vec<(String, usize)> = self.packages.iter().map(|package| (package.clone(), 0)).collect();
        while let Some((folder, depth)) = waiting.pop().filter(|_| self.found.contents.len() < MAX_FILES) {
            for entry in self.entries(&folder) {
                let path = join(&folder, &entry);
                let Ok(about) = self.root.join(&path).symlink_metadata() else { continue };
                if about.is_dir() && depth < MAX_DEPTH && entry != "__pycache__" {
                    waiting.push((path, depth + 1));
                } else if about.is_file() && about.len() <= MAX_OF_PACKAGE as u64 {
                    self.take(&path);
                }
            }
        }
    }

    /// The names in a folder, without hidden ones, in order.
    fn entries(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join(folder)) else { return vec![] };
        let names = entries.take(MAX_ENTRIES).flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| is_plain(Path::new(name))).collect();
        names.sort();
        names
    }

    /// Reads a file for the copy. Whether it is there and there is room. No part of its path may be a link.
    fn take(&mut self, path: &str) -> bool {
        if self.found.contents.contains_key(path) {
            return true;
        }
        if self.found.contents.len() >= MAX_FILES {
            return false;
        }
        match inside::read_in(&self.root_folder, Path::new(path), MAX_FILE) {
            Ok(Some(content)) if content.len() <= self.left => {
                self.left -= content.len();
                self.found.contents.insert(path.to_owned(), content);
                true
            }
            _ => false,
        }
    }
}

/// The folder that holds the outermost package around a folder.
fn outside_of_packages(folder: &Path) -> &Path {
    let is_package = |folder: &&Path| folder.join("__init__.py").is_file();
    folder.ancestors().find(|folder| !is_package(folder)).unwrap_or(folder)
}

/// A text as a path within a folder, if it may be one.
fn plain_path(text: &str) -> Option<String> {
    const LONGEST: usize = 250;
    let is_short = !text.is_empty() && text.len() <= LONGEST && !text.contains(['\0', '\n', '\r']);
    let path = Path::new(text).strip_prefix(".").unwrap_or(Path::new(text));
    let path = path.to_str()?.trim_end_matches('/');
    (is_short && !path.is_empty() && is_plain(Path::new(path))).then(|| path.to_owned())
}

/// Whether a path leads down only, and to nothing that is kept back from code.
fn is_plain(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_))) && !is_kept_back(path)
}

fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

/// Whether a name fits a pattern of a shell with `*` and `?`.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    // fits[i]: the pattern up to here fits the first i characters.
    let mut fits = vec![false; name.len() + 1];
    fits[0] = true;
    for wanted in pattern {
        let before = fits.clone();
        for end in 0..fits.len() {
            fits[end] = match wanted {
                '*' => before[end] || end > 0 && fits[end - 1],
                _ => end > 0 && before[end - 1] && (wanted == '?' || wanted == name[end - 1]),
            };
        }
    }
    fits[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        // A repository of its own, whatever lies around the folder for temporary files.
        let folder = tempfile::tempdir().unwrap();
        git2::Repository::init(folder.path()).unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn names(found: &[String]) -> Vec<&str> {
        found.iter().map(String::as_str).collect()
    }

    #[test]
    fn what_a_text_imports_and_names_is_found_and_nothing_else() {
        let folder = folder(&[
            ("helpers.py", "import more\ndef load():\n    return open('rows.csv')\n"),
            ("more.py", ""),
            ("other.py", ""),
            ("json.py", ""),
            ("rows.csv", "a,b\n"),
            ("data/one.txt", "1"),
            ("data/two.txt", "2"),
            ("data/deep/x.json", "{}"),
            (".env", "secret"),
            ("private.txt", "mine"),
        ]);
        let text = "import helpers, json, absent\nfor path in glob('data/*.txt'): open(path)\n\
                    open(os.path.join('data', 'deep', 'x.json')), open('data/deep/x.json'), open('.env'), open('../x')\n";
        let found = beside(folder.path(), Some("snippet.py"), text).unwrap();
        assert_eq!(names(&found.modules), ["helpers.py", "more.py"]);
        assert_eq!(names(&found.data), ["data/deep/x.json", "data/one.txt", "data/two.txt", "rows.csv"]);
        assert_eq!((names(&found.search), found.begin.as_str()), (vec![""], ""));
        let copy = tempfile::tempdir().unwrap();
        found.copy(&copy.path().join("copy")).unwrap();
        assert_eq!(fs::read_to_string(copy.path().join("copy/rows.csv")).unwrap(), "a,b\n");
        assert_eq!(found.contents.len(), 6);
        assert!(beside(folder.path(), None, "import absent, json\nx = 'nothing'\n").is_none());
    }

    #[test]
    fn a_file_of_a_package_finds_the_package_and_a_cell_its_folder() {
        let files = [
            ("src/shop/__init__.py", ""),
            ("src/shop/cart.py", ""),
            ("src/shop/tax.py", "from . import rates\n"),
            ("src/shop/rates.py", ""),
            ("src/shop/plugins/late.py", ""),
            ("notebooks/near.py", ""),
        ];
        let folder = folder(&files);
        let found = beside(&folder.path().join("src/shop"), Some("cart.py"), "from .tax import rate\n").unwrap();
        assert_eq!(found.package, "shop");
        assert_eq!(names(&found.search), ["src"]);
        assert_eq!(names(&found.modules), ["src/shop/__init__.py", "src/shop/tax.py", "src/shop/rates.py"]);
        assert!(found.contents.contains_key("src/shop/plugins/late.py"));
        let cell = beside(&folder.path().join("notebooks"), None, "import near\nfrom shop import tax\n").unwrap();
        assert_eq!(names(&cell.search), ["notebooks", "src"]);
        assert!(cell.modules.contains(&"notebooks/near.py".to_owned()) && cell.package.is_empty());
    }

    #[test]
    fn links_lead_nowhere() {
        let folder = folder(&[("real.py", "")]);
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("key.txt"), "secret").unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("data")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("names.txt")).unwrap();
        let found = beside(folder.path(), None, "import real\nopen('data/key.txt'), open('names.txt')\n").unwrap();
        assert_eq!((names(&found.modules), found.data.len(), found.contents.len()), (vec!["real.py"], 0, 1));
    }

    #[test]
    fn patterns_fit_as_in_a_shell() {
        for (pattern, name, fits) in [
            ("*.csv", "a.csv", true),
            ("*.csv", "a.csvx", false),
            ("a?c*", "abcd", true),
            ("*", "", true),
            ("?", "", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
