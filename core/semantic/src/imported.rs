//! From a module of a project to the texts of those that it imports.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use twincell_repo::ModulePath;
use twincell_syntax::{absolute_imports, imported_modules, imports};

use crate::folder::FolderFiles;
use crate::ids::ModuleId;
use crate::project::Project;
use crate::store::Store;
use crate::text::{LARGEST, PlacedText};

/// The text of a module, if it has a file that can be read. `name` is the dotted name that it is imported by: a folder without an
/// `__init__.py` may be a namespace package or a place where imports look.
fn text(project: &Project, module: ModuleId, name: &str) -> Option<Arc<PlacedText>> {
    let key = (module, Arc::from(name));
    if let Some(known) = project.memos.texts.get(&key) {
        return known;
    }
    let read = || {
        let place = project.layout.places.get(module.0 as usize)?;
        let own = project.text(module)?;
        let package = if place.is_package() { name } else { name.rsplit_once('.').map_or("", |(package, _)| package) };
        Some(Arc::new(PlacedText::new(name.into(), place.path.clone(), package.to_owned(), own)))
    };
    let text = read();
    project.memos.texts.insert(key, text.clone());
    text
}

/// A module of a project, as one version has both. What is compared in its place may be another text. Two are equal if their
/// paths are.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProjectModule {
    pub path: ModulePath,
    /// That of the folder, unless somebody gave another.
    #[serde(skip)]
    project: Arc<OnceLock<Arc<Project>>>,
}

impl PartialEq for ProjectModule {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for ProjectModule {}

impl From<ModulePath> for ProjectModule {
    /// Reads the project from its folder when it is asked for.
    fn from(path: ModulePath) -> Self {
        Self { path, project: Arc::default() }
    }
}

impl ProjectModule {
    pub fn new(path: ModulePath, project: Arc<Project>) -> Self {
        Self { path, project: Arc::new(project.into()) }
    }

    /// A module that was found from here, under the name that it was found by.
    pub fn beside(&self, module: &PlacedText, name: String) -> Self {
        let path = ModulePath { file: module.path.to_string(), name, ..self.path.clone() };
        Self { path, project: self.project.clone() }
    }

    /// The version of the project.
    pub fn project(&self) -> &Arc<Project> {
        self.project.get_or_init(|| Arc::new(Project::open(FolderFiles::of(&self.path.folder), &Store::new())))
    }

    /// The module that an import of a dotted name finds from here. Stubs and namespace packages are none.
    pub fn find(&self, dotted: &str) -> Option<Arc<PlacedText>> {
        let project = self.project();
        let search = self.path.search.iter().map(String::as_str);
        text(project, project.layout.found_in(search, dotted)?, dotted)
    }

    /// Whether imports from here find the first part of a dotted name.
    pub fn finds(&self, dotted: &str) -> bool {
        self.path.finds(dotted)
    }

    /// The modules of the project that a text in this place imports, by dotted name, without its own.
    pub fn imported(&self, own: &str) -> BTreeSet<String> {
        imported(&self.path, own, |dotted| self.find(dotted).is_some())
    }
}

/// The modules that a text in a place imports and of which `is_there` says that they are, without its own.
pub fn imported(at: &ModulePath, text: &str, is_there: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let text = absolute_imports(text, at.package());
    let named = imported_modules(&text).into_iter().chain(imports(&text).into_values().map(|import| import.target));
    let found = named.filter_map(|dotted| {
        let parent = dotted.rsplit_once('.').map(|(parent, _)| parent.to_owned());
        [Some(dotted), parent].into_iter().flatten().find(|dotted| is_there(dotted))
    });
    found.filter(|dotted| *dotted != at.name).collect()
}

/// A module of an installed package. `packages` are the folders that hold packages, which the user trusts: links in them are
/// followed.
pub fn installed(packages: &[PathBuf], dotted: &str) -> Option<Arc<PlacedText>> {
    let found = packages.iter().find_map(|folder| {
        let search = vec![String::new()];
        let at = ModulePath { folder: folder.clone(), file: String::new(), name: String::new(), search };
        let path = at.file_of(dotted)?;
        let mut bytes = Vec::new();
        // One that is longer is refused below.
        File::open(folder.join(&path)).ok()?.take(LARGEST as u64 + 1).read_to_end(&mut bytes).ok()?;
        let there = ModulePath { file: path, name: dotted.to_owned(), ..at };
        PlacedText::of(dotted, &there.file, there.package(), String::from_utf8(bytes).ok()?.into())
    });
    found.map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFiles;

    fn placed(file: &str, name: &str, search: &[&str], files: &[(&str, &str)]) -> ProjectModule {
        let project = Project::open(MemoryFiles::from_iter(files.iter().copied()), &Store::new());
        let search = search.iter().map(|folder| (*folder).to_owned()).collect();
        ProjectModule::new(
            ModulePath { folder: PathBuf::new(), file: file.into(), name: name.into(), search },
            Arc::new(project),
        )
    }

    #[test]
    fn modules_of_the_project_are_told_from_others() {
        let files = ["shop/__init__.py", "shop/cart.py", "shop/tax.py", "shop/a.py"].map(|path| (path, ""));
        let own = placed("shop/cart.py", "shop.cart", &[""], &files);
        let text =
            "import os, shop.cart\nfrom .tax import rate\nfrom . import none\ndef f():\n    from shop import a\n";
        assert_eq!(own.imported(text), ["shop", "shop.a", "shop.tax"].map(str::to_owned).into());
    }

    #[test]
    fn a_module_is_in_the_package_that_it_is_imported_by() {
        let files = [("src/ns/pkg/__init__.py", "from .tax import rate\n"), ("src/ns/pkg/tax.py", ""), ("app.py", "")];
        let app = placed("app.py", "app", &["", "src"], &files);
        let found =
            |dotted: &str| app.find(dotted).map(|module| (module.package.clone(), module.absolute().to_owned()));
        assert_eq!(found("ns.pkg"), Some(("ns.pkg".into(), "from ns.pkg.tax import rate\n".into())));
        assert_eq!(found("ns.pkg.tax"), Some(("ns.pkg".into(), String::new())));
        assert_eq!(found("pkg"), None);
    }

    #[test]
    fn installed_modules_are_read_where_packages_are() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("shop")).unwrap();
        std::fs::write(folder.path().join("shop/__init__.py"), "from .tax import rate\n").unwrap();
        let folders = [folder.path().join("none"), folder.path().to_owned()];
        let found = installed(&folders, "shop").unwrap();
        assert_eq!((found.package.as_str(), found.absolute()), ("shop", "from shop.tax import rate\n"));
        assert!(installed(&folders, "shop.tax").is_none());
        // Some package managers link to where they keep packages.
        std::os::unix::fs::symlink(folder.path().join("shop"), folder.path().join("linked")).unwrap();
        assert_eq!(installed(&folders, "linked").unwrap().text(), found.text());
    }
}
