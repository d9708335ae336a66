//! The texts that were read, by their identity. Versions of a project share them, so that a version reads only what no
//! version before had.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use crate::files::{ContentId, Files};
use crate::lower::{lower, unread};
use crate::module::Module;
use crate::text::ModuleText;

/// What texts say by themselves, read once for each content. A clone is the same store.
#[derive(Debug, Clone, Default)]
pub struct Store(Arc<SharedModules>);

/// By content. A text that could not be read is none.
#[derive(Debug, Default)]
struct SharedModules {
    modules: Mutex<FxHashMap<ContentId, Arc<Module>>>,
    texts: Mutex<FxHashMap<ContentId, Option<Arc<ModuleText>>>>,
}

impl Store {
    pub fn new() -> Self {
        Self::default()
    }

    fn modules(&self) -> MutexGuard<'_, FxHashMap<ContentId, Arc<Module>>> {
        self.0.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn texts(&self) -> MutexGuard<'_, FxHashMap<ContentId, Option<Arc<ModuleText>>>> {
        self.0.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many texts were taken apart.
    pub fn len(&self) -> usize {
        self.modules().len()
    }

    /// Whether no text was taken apart.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets the texts that no project holds any more.
    pub fn shrink(&self) {
        self.modules().retain(|_, module| Arc::strong_count(module) > 1);
        self.texts().retain(|_, text| text.as_ref().is_some_and(|text| Arc::strong_count(text) > 1));
    }

    /// What a content says. A file that cannot be read says nothing, this time.
    pub(crate) fn module(&self, files: &dyn Files, path: &str, content: ContentId) -> Arc<Module> {
        if let Some(known) = self.modules().get(&content) {
            return known.clone();
        }
        let Some(text) = files.text(path, content) else { return Arc::new(unread()) };
        let module = Arc::new(lower(&text));
        self.modules().entry(content).or_insert(module).clone()
    }

    /// The text of a content, if it can be read and is not too large.
    pub(crate) fn text(&self, files: &dyn Files, path: &str, content: ContentId) -> Option<Arc<ModuleText>> {
        if let Some(known) = self.texts().get(&content) {
            return known.clone();
        }
        let text = files.text(path, content).and_then(ModuleText::of).map(Arc::new);
        self.texts().entry(content).or_insert(text).clone()
    }
}
