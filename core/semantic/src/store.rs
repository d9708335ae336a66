//! The texts that were read, by their identity. Versions of a project share them, so that a version reads only what no
//! version before had.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::files::{ContentId, Files};
use crate::lower::lower;
use crate::module::Module;

/// What texts say by themselves, read once for each content.
#[derive(Debug, Default)]
pub struct Store {
    modules: Mutex<FxHashMap<ContentId, Arc<Module>>>,
}

impl Store {
    pub fn new() -> Self {
        Self::default()
    }

    /// How many texts are held.
    pub fn len(&self) -> usize {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether no text is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets the texts that no project holds any more.
    pub fn shrink(&self) {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.retain(|_, module| Arc::strong_count(module) > 1);
    }

    /// What a content says. A file that cannot be read says nothing, this time.
    pub(crate) fn module(&self, files: &dyn Files, path: &str, content: ContentId) -> Arc<Module> {
        if let Some(known) = self.modules.lock().unwrap_or_else(PoisonError::into_inner).get(&content) {
            return known.clone();
        }
        let Some(text) = files.text(path, content) else { return Arc::new(lower("")) };
        let module = Arc::new(lower(&text));
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.entry(content).or_insert(module).clone()
    }
}
