//! What the text of a module says by itself, for those who follow texts and not symbols: entities and imports.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use twincell_syntax::{Import, Index, absolute_imports, imports};

/// The largest text that is followed, in bytes.
pub(crate) const LARGEST: usize = 1 << 20;

/// The text of a module, with what it says on demand.
#[derive(Debug)]
pub struct ModuleText {
    pub text: Arc<str>,
    index: OnceLock<Index>,
}

impl ModuleText {
    /// `None` for one that is too large.
    pub(crate) fn of(text: Arc<str>) -> Option<Self> {
        (text.len() <= LARGEST).then(|| Self { text, index: OnceLock::new() })
    }

    /// Its entities, and which uses which.
    pub fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(&self.text))
    }
}

/// The text of a module where it stands in a project.
#[derive(Debug)]
pub struct PlacedText {
    /// The module's dotted name.
    pub name: Arc<str>,
    /// Its file.
    pub path: Arc<str>,
    /// The package that holds it, or that it is. Empty if there is none.
    pub package: String,
    pub own: Arc<ModuleText>,
    absolute: OnceLock<String>,
    imports: OnceLock<BTreeMap<String, Import>>,
}

impl PlacedText {
    /// A text in a place. `None` for one that is too large.
    pub fn of(name: &str, path: &str, package: &str, text: Arc<str>) -> Option<Self> {
        let own = Arc::new(ModuleText::of(text)?);
        Some(Self::new(name.into(), path.into(), package.to_owned(), own))
    }

    pub(crate) fn new(name: Arc<str>, path: Arc<str>, package: String, own: Arc<ModuleText>) -> Self {
        Self { name, path, package, own, absolute: OnceLock::new(), imports: OnceLock::new() }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.own.text
    }

    /// Its entities, and which uses which.
    pub fn index(&self) -> &Index {
        self.own.index()
    }

    /// The text with absolute imports.
    pub fn absolute(&self) -> &str {
        self.absolute.get_or_init(|| absolute_imports(&self.own.text, &self.package))
    }

    /// What it imports, by name, with absolute paths.
    pub fn imports(&self) -> &BTreeMap<String, Import> {
        self.imports.get_or_init(|| imports(self.absolute()))
    }
}
