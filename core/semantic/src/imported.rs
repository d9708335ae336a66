//! From a module of a project to the texts of those that it imports.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use twincell_files::inside;
use twincell_repo::ModulePath;
use twincell_syntax::{absolute_imports, imported_modules, imports};

use crate::folder::FolderFiles;
use crate::ids::ModuleId;
use crate::project::Project;
use crate::store::Store;
use crate::text::{LARGEST, PlacedText};

/// The text of a module, if it has a file that can be read.
pub fn text(project: &Project, module: ModuleId) -> Option<Arc<PlacedText>> {
    if let Some(known) = project.memos.texts.get(&module) {
        return known;
    }
    let read = || {
        let place = project.layout.places.get(module.0 as usize)?;
        let own = project.store.text(project.files(), &place.path, place.content?)?;
        let package = place.package().to_owned();
        Some(Arc::new(PlacedText::new(place.name.clone(), place.path.clone(), package, own)))
    };
    let text = read();
    project.memos.texts.insert(module, text.clone());
    text
}

/// A module of a project, as one version has both. What is compared in its place may be another text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProjectModule {
    pub path: ModulePath,
    /// That of the folder, unless somebody gave another.
    #[serde(skip)]
    project: OnceLock<Arc<Project>>,
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
        Self { path, project: OnceLock::new() }
    }
}

impl ProjectModule {
    pub fn new(path: ModulePath, project: Arc<Project>) -> Self {
        Self { path, project: project.into() }
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
        text(project, project.layout.found_in(self.search(), dotted)?)
    }

    /// Whether imports from here find the first part of a dotted name.
    pub fn finds(&self, dotted: &str) -> bool {
        let first = dotted.split('.').next().unwrap_or_default();
        self.project().layout.has(self.search(), first)
    }

    /// The modules of the project that a text in this place imports, by dotted name, without its own.
    pub fn imported(&self, own: &str) -> BTreeSet<String> {
        imported(&self.path, own, |dotted| self.find(dotted).is_some())
    }

    fn search(&self) -> impl Iterator<Item = &str> {
        self.path.search.iter().map(String::as_str)
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

/// A module of an installed package. `packages` are the folders that hold packages.
pub fn installed(packages: &[PathBuf], dotted: &str) -> Option<Arc<PlacedText>> {
    let found = packages.iter().find_map(|folder| {
        let search = vec![String::new()];
        let at = ModulePath { folder: folder.clone(), file: String::new(), name: String::new(), search };
        let path = at.file_of(dotted)?;
        let folder = OwnedFd::from(File::open(folder).ok()?);
        let bytes = inside::read_in(&folder, Path::new(&path), LARGEST as u64).ok()??;
        let there = ModulePath { file: path, name: dotted.to_owned(), ..at };
        PlacedText::of(dotted, &there.file, there.package(), String::from_utf8(bytes).ok()?.into())
    });
    found.map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFiles;

    #[test]
    fn modules_of_the_project_are_told_from_others() {
        let files = ["shop/__init__.py", "shop/cart.py", "shop/tax.py", "shop/a.py"].map(|path| (path, ""));
        let project = Project::open(MemoryFiles::from_iter(files), &Store::new());
        let path = ModulePath {
            folder: PathBuf::new(),
            file: "shop/cart.py".into(),
            name: "shop.cart".into(),
            search: vec![String::new()],
        };
        let own = ProjectModule::new(path, Arc::new(project));
        let text =
            "import os, shop.cart\nfrom .tax import rate\nfrom . import none\ndef f():\n    from shop import a\n";
        assert_eq!(own.imported(text), ["shop", "shop.a", "shop.tax"].map(str::to_owned).into());
        assert!(own.finds("shop.none") && !own.finds("os") && !own.finds(""));
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
    }
}
