//! The projects that files under comparison lie in, on their way to workers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use twincell_compare::report::{Comparison, Note};
use twincell_compare::{CompareOptions, Source};
use twincell_engine::protocol::Context;
use twincell_files::private;
use twincell_repo::{CopyError, ModulePath, Project};
use twincell_semantic::{FolderFiles, ProjectModule, Store};
use twincell_syntax::{PerSide, Side, too_deep};

use crate::failure::Failure;
use crate::placing::{imported, places};
use crate::warm::Engine;

/// Two sources with their places, for as long as the copies of their projects are there.
pub struct Placed {
    pub sources: PerSide<Source>,
    copies: Vec<TempDir>,
    /// Why a project was not copied.
    refused: Option<CopyError>,
}

impl Placed {
    /// Looks for the projects of sources that were read from files, and copies those of which the code uses something. A
    /// file that lies in none takes the place of the other one.
    pub fn new(old: &Source, new: &Source, options: &CompareOptions, engine: &Engine) -> Result<Self, Failure> {
        let sources = PerSide::new(old.clone(), new.clone());
        let mut placed = Self { sources, copies: vec![], refused: None };
        let is_bounded = |source: &Source| {
            source.text.len() as u64 <= options.max_source && too_deep(&source.text).is_none() && source.place.is_none()
        };
        if options.context == Context::Function || !placed.sources.iter().all(is_bounded) {
            return Ok(placed);
        }
        let found = placed.sources.as_ref().map(|source| source.file.as_deref().and_then(Project::around));
        let on_disk: Vec<ModulePath> =
            found.iter().flatten().map(|(project, file)| ModulePath::of(project.root(), file)).collect();
        let uses = |at: &ModulePath| placed.sources.iter().any(|source| !imported(at, &source.text).is_empty());
        let names_itself = || placed.sources.iter().any(|source| source.text.contains("__file__"));
        if on_disk.is_empty() || !(names_itself() || on_disk.iter().any(uses)) {
            return Ok(placed);
        }
        if let Err(error) = placed.copy(&found, engine) {
            (placed.copies, placed.refused) = (vec![], Some(error));
        }
        Ok(placed)
    }

    fn copy(&mut self, found: &PerSide<Option<(Project, String)>>, engine: &Engine) -> Result<(), CopyError> {
        let projects = engine.projects().map_err(std::io::Error::other)?;
        let roots = found.as_ref().map(|found| found.as_ref().map(|(project, _)| project.root()));
        let mut folders = PerSide::new(None, None);
        for side in Side::BOTH {
            let Some((project, _)) = &found[side] else { continue };
            if side == Side::New && roots.old == roots.new {
                folders.new = folders.old.clone();
                continue;
            }
            let copy = private::temporary_in("files-", &projects)?;
            let folder = copy.path().join("files");
            project.copy(&folder)?;
            folders[side] = Some(folder);
            self.copies.push(copy);
        }
        // A file that is hidden or ignored is none of the project's.
        let files = PerSide::of(|side| {
            let (folder, (_, file)) = (folders[side].as_ref()?, found[side].as_ref()?);
            folder.join(file).is_file().then_some((folder.as_path(), file.as_str()))
        });
        let (old, new) = match (files.old, files.new) {
            (Some((folder, old)), Some((_, new))) if roots.old == roots.new => {
                let places = places(folder, (old, &self.sources.old.text), (new, &self.sources.new.text));
                (Some(places.old), Some(places.new))
            }
            (old, new) => {
                let [old, new] = [old, new].map(|file| file.map(|(folder, file)| ModulePath::of(folder, file)));
                (old.clone().or(new.clone()), new.or(old))
            }
        };
        // Each copy is one project, whatever is asked of it.
        let store = Store::new();
        let mut projects: BTreeMap<PathBuf, Arc<twincell_semantic::Project>> = BTreeMap::new();
        let mut module = |path: ModulePath| {
            let open = || Arc::new(twincell_semantic::Project::open(FolderFiles::of(&path.folder), &store));
            let project = projects.entry(path.folder.clone()).or_insert_with(open).clone();
            ProjectModule::new(path, project)
        };
        (self.sources.old.place, self.sources.new.place) = (old.map(&mut module), new.map(&mut module));
        Ok(())
    }

    /// Says in a report what could not be copied.
    pub fn note(&self, comparison: &mut Comparison) {
        let reason = self.refused.as_ref();
        comparison.note(reason.map(|error| Note::NotCopied { error: error.to_string() }));
    }
}
