//! Paths -> modules: how Python names the files of a project, and which file an import finds.
//!
//! A module belongs to the packages around it, each with an `__init__.py`, and imports look in the folder that holds the
//! outermost one. Without a package they look in the module's own folder, as for a script. Then they look in `src` and at
//! the top. A folder without `__init__.py` that holds modules is a namespace package.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::files::ContentId;
use crate::ids::ModuleId;

const SRC: &str = "src";
const INITIAL: &str = "__init__";

/// Where a module stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModulePlace {
    /// The path of its file. A namespace package has that of its folder, which ends in `/`.
    pub path: Arc<str>,
    /// The dotted name.
    pub name: Arc<str>,
    /// The folder that relative imports start from, without a `/` at its end.
    pub folder: Arc<str>,
    /// Nothing for a namespace package.
    pub content: Option<ContentId>,
    /// The position of the folders where its imports look, in `Layout::searches`.
    search: usize,
}

impl ModulePlace {
    /// Whether it is the file of a package.
    pub fn is_package(&self) -> bool {
        stem(&self.path).is_some_and(|stem| last(stem) == INITIAL)
    }
}

/// All modules of a version.
#[derive(Debug, Default)]
pub struct Layout {
    /// In order of their paths.
    pub places: Vec<ModulePlace>,
    /// `shop/cart` for `shop/cart.py` and for `shop/cart/__init__.py`, of which a package comes first.
    by_stem: FxHashMap<Arc<str>, ModuleId>,
    searches: Vec<Vec<Arc<str>>>,
}

impl Layout {
    pub fn of(mut files: Vec<(Arc<str>, ContentId)>) -> Self {
        files.retain(|(path, _)| stem(path).is_some());
        files.sort();
        files.dedup_by(|one, other| one.0 == other.0);
        let packages: BTreeSet<&str> = files
            .iter()
            .filter_map(|(path, _)| stem(path))
            .filter(|stem| last(stem) == INITIAL)
            .map(folder_of)
            .collect();
        let mut folders: BTreeSet<&str> = BTreeSet::new();
        for (path, _) in &files {
            let mut folder = folder_of(path);
            while !folder.is_empty() && folders.insert(folder) {
                folder = folder_of(folder);
            }
        }
        let namespaces = folders
            .iter()
            .filter(|folder| !packages.contains(*folder))
            .map(|folder| (format!("{folder}/").into(), None));
        let named = files.iter().map(|(path, content)| (path.clone(), Some(*content)));
        let mut all: Vec<(Arc<str>, Option<ContentId>)> = named.chain(namespaces).collect();
        all.sort();
        let mut layout = Layout::default();
        let mut searches: FxHashMap<Vec<Arc<str>>, usize> = FxHashMap::default();
        for (path, content) in all {
            let (name, search) = named_and_searched(&path, &packages, &folders);
            let search = *searches.entry(search).or_insert_with_key(|search| {
                layout.searches.push(search.clone());
                layout.searches.len() - 1
            });
            let folder = folder_of(&path).into();
            layout.places.push(ModulePlace { path, name: name.into(), folder, content, search });
        }
        layout.note_stems();
        layout
    }

    fn note_stems(&mut self) {
        for (position, place) in self.places.iter().enumerate() {
            let id = ModuleId(position as u32);
            let is_package = place.is_package();
            let key: Arc<str> = match stem(&place.path) {
                Some(_) if is_package => place.folder.clone(),
                Some(stem) => stem.into(),
                None => place.folder.clone(),
            };
            let rank = |place: &ModulePlace| match place.content {
                Some(_) if place.path.ends_with("/__init__.py") => 0,
                Some(_) if place.path.ends_with(".py") => 1,
                Some(_) => 2,
                None => 3,
            };
            match self.by_stem.get(&key).and_then(|other| self.places.get(other.0 as usize)) {
                Some(other) if rank(other) <= rank(place) => {}
                _ => {
                    self.by_stem.insert(key, id);
                }
            }
        }
    }

    /// The module that `import dotted` finds in a module, and nothing for what is not of the project.
    pub fn absolute(&self, from: ModuleId, dotted: &str) -> Option<ModuleId> {
        let place = self.places.get(from.0 as usize)?;
        let inner = dotted.replace('.', "/");
        self.searches
            .get(place.search)?
            .iter()
            .find_map(|folder| self.by_stem.get(joined(folder, &inner).as_str()).copied())
    }

    /// The module of a file that an import finds in some folders. Stubs and namespace packages are none.
    pub fn found_in<'a>(&self, mut folders: impl Iterator<Item = &'a str>, dotted: &str) -> Option<ModuleId> {
        if dotted.is_empty() {
            return None;
        }
        let inner = dotted.replace('.', "/");
        let is_run = |id: &ModuleId| {
            self.places.get(id.0 as usize).is_some_and(|place| place.content.is_some() && place.path.ends_with(".py"))
        };
        folders.find_map(|folder| self.by_stem.get(joined(folder, &inner).as_str()).copied().filter(is_run))
    }

    /// The module that `from ..dotted import` finds: one folder up for each dot but the first.
    pub fn relative(&self, from: ModuleId, level: u32, dotted: &str) -> Option<ModuleId> {
        let mut folder: &str = &self.places.get(from.0 as usize)?.folder;
        for _ in 1..level {
            if folder.is_empty() {
                return None;
            }
            folder = folder_of(folder);
        }
        self.by_stem.get(joined(folder, &dotted.replace('.', "/")).as_str()).copied()
    }

    /// The module of this name within a package.
    pub fn submodule(&self, package: ModuleId, name: &str) -> Option<ModuleId> {
        let place = self.places.get(package.0 as usize)?;
        let is_package = place.content.is_none() || place.is_package();
        is_package.then(|| self.by_stem.get(joined(&place.folder, name).as_str()).copied()).flatten()
    }
}

fn joined(folder: &str, inner: &str) -> String {
    match (folder.is_empty(), inner.is_empty()) {
        (true, _) => inner.to_owned(),
        (_, true) => folder.to_owned(),
        _ => format!("{folder}/{inner}"),
    }
}

/// The path of a Python file without its ending.
fn stem(path: &str) -> Option<&str> {
    path.strip_suffix(".py").or_else(|| path.strip_suffix(".pyi")).filter(|stem| !last(stem).is_empty())
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The dotted name of a file or of a namespace's folder, and the folders in which its imports look.
fn named_and_searched(path: &str, packages: &BTreeSet<&str>, existing: &BTreeSet<&str>) -> (String, Vec<Arc<str>>) {
    let folder = folder_of(path);
    let folders: Vec<&str> = if folder.is_empty() { Vec::new() } else { folder.split('/').collect() };
    let up_to = |length: usize| folders.get(..length).unwrap_or_default().join("/");
    let outside = (0..=folders.len())
        .rev()
        .find(|length| *length == 0 || !packages.contains(up_to(*length).as_str()))
        .unwrap_or(0);
    // A script may lie anywhere, and others may import it from the top: `tools.report`.
    let begin = if outside < folders.len() { outside } else { usize::from(folders.first() == Some(&SRC)) };
    let mut dotted: Vec<&str> = folders.get(begin..).unwrap_or_default().to_vec();
    if let Some(stem) = stem(path)
        && (last(stem) != INITIAL || dotted.is_empty())
    {
        dotted.push(last(stem));
    }
    let mut search: Vec<Arc<str>> = Vec::new();
    for one in [up_to(outside), SRC.to_owned(), String::new()] {
        if !search.iter().any(|other| **other == *one) && (one.is_empty() || existing.contains(one.as_str())) {
            search.push(one.into());
        }
    }
    (dotted.join("."), search)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(paths: &[&str]) -> Layout {
        Layout::of(paths.iter().map(|path| ((*path).into(), ContentId::of_text(path))).collect())
    }

    fn id(layout: &Layout, path: &str) -> ModuleId {
        ModuleId(layout.places.iter().position(|place| &*place.path == path).unwrap() as u32)
    }

    #[test]
    fn a_file_is_named_by_the_packages_around_it() {
        let paths = [
            "src/shop/__init__.py",
            "src/shop/cart.py",
            "src/shop/tax/__init__.py",
            "src/shop/tax/rates.py",
            "src/space/one.py",
            "tools/report.py",
            "tests/conftest.py",
            "setup.py",
            "notes.txt",
        ];
        let layout = layout(&paths);
        for (path, name) in [
            ("src/shop/__init__.py", "shop"),
            ("src/shop/cart.py", "shop.cart"),
            ("src/shop/tax/rates.py", "shop.tax.rates"),
            ("src/space/one.py", "space.one"),
            ("src/space/", "space"),
            ("tools/report.py", "tools.report"),
            ("tests/conftest.py", "tests.conftest"),
            ("setup.py", "setup"),
        ] {
            assert_eq!(&*layout.places[id(&layout, path).0 as usize].name, name, "{path}");
        }
    }

    #[test]
    fn imports_look_as_python_does() {
        let paths = [
            "src/shop/__init__.py",
            "src/shop/cart.py",
            "src/shop/tax/rates.py",
            "src/Shop.py",
            "tools/report.py",
            "tools/dates.py",
            "lib/deep/pkg/__init__.py",
            "lib/deep/pkg/a.py",
            "both.py",
            "both/__init__.py",
        ];
        let layout = layout(&paths);
        for (from, dotted, found) in [
            ("tools/report.py", "dates", Some("tools/dates.py")),
            ("tools/report.py", "shop.cart", Some("src/shop/cart.py")),
            ("tools/report.py", "Shop", Some("src/Shop.py")),
            ("tools/report.py", "shop.tax", Some("src/shop/tax/")),
            ("tools/report.py", "json", None),
            ("lib/deep/pkg/a.py", "pkg.a", Some("lib/deep/pkg/a.py")),
            ("lib/deep/pkg/a.py", "tools.dates", Some("tools/dates.py")),
            ("tools/report.py", "both", Some("both/__init__.py")),
        ] {
            let module = layout.absolute(id(&layout, from), dotted);
            assert_eq!(module, found.map(|path| id(&layout, path)), "{dotted} in {from}");
        }
        for (from, level, dotted, found) in [
            ("src/shop/cart.py", 1, "tax.rates", Some("src/shop/tax/rates.py")),
            ("src/shop/cart.py", 1, "", Some("src/shop/__init__.py")),
            ("src/shop/__init__.py", 1, "cart", Some("src/shop/cart.py")),
            ("src/shop/tax/rates.py", 2, "cart", Some("src/shop/cart.py")),
            ("src/shop/cart.py", 9, "cart", None),
        ] {
            let module = layout.relative(id(&layout, from), level, dotted);
            assert_eq!(module, found.map(|path| id(&layout, path)), "{level} {dotted} in {from}");
        }
    }
}
