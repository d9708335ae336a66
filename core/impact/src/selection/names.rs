//! Names as numbers, the same in both versions.

use std::sync::Arc;

use rustc_hash::FxHashMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NameId(pub u32);

#[derive(Debug, Default)]
pub(super) struct Names {
    ids: FxHashMap<Arc<str>, NameId>,
    texts: Vec<Arc<str>>,
}

impl Names {
    pub fn id(&mut self, name: &str) -> NameId {
        if let Some(known) = self.ids.get(name) {
            return *known;
        }
        let id = NameId(self.texts.len() as u32);
        let name: Arc<str> = name.into();
        self.texts.push(name.clone());
        self.ids.insert(name, id);
        id
    }

    pub fn known(&self, name: &str) -> Option<NameId> {
        self.ids.get(name).copied()
    }

    pub fn text(&self, id: NameId) -> &Arc<str> {
        &self.texts[id.0 as usize]
    }
}
