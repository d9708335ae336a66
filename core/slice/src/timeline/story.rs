//! One file through its history: whether it is there, under which path, in which mode, and with which content.

use std::sync::Arc;

use twincell_repo::{FileId, Item};

use super::makers::{Maker, Setting};
use super::weave::{Contents, Weave};

/// A file's history. It is the same file after a rename, and another one after it became a link or binary.
#[derive(Debug)]
pub(super) struct Story {
    pub presence: Setting<bool>,
    pub path: Setting<Arc<[u8]>>,
    pub mode: Setting<u32>,
    pub body: Body,
}

/// The content of a file.
#[derive(Debug)]
pub(super) enum Body {
    Text(Weave),
    /// A binary or huge file, a link or a submodule, whose content is one value.
    Whole(Setting<FileId>),
}

/// Texts with more bytes or lines are taken as a whole.
pub(super) const MAX_TEXT: usize = 2 << 20;
const MAX_LINES: usize = 50_000;
/// git looks for a zero in so many bytes.
const LOOKED_AT: usize = 8000;

/// Whether a content is followed line by line.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    bytes.len() <= MAX_TEXT
        && !bytes.iter().take(LOOKED_AT).any(|byte| *byte == 0)
        && bytes.iter().filter(|byte| **byte == b'\n').count() <= MAX_LINES
}

/// Whether a mode is that of a file, and not of a link or a submodule.
pub(super) fn is_file(mode: u32) -> bool {
    !matches!(mode, Item::LINK | Item::SUBMODULE)
}

/// A file as a view has it.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub path: Arc<[u8]>,
    pub item: Item,
    /// A text that may be in no object of the repository.
    pub text: Option<Arc<[u8]>>,
    /// The last maker that put it there, which decides between two files under one path.
    pub put_by: Maker,
}

impl Story {
    pub fn new(maker: Maker, path: Arc<[u8]>, mode: u32, body: Body) -> Self {
        let (presence, path) = (Setting::new(maker, true), Setting::new(maker, path));
        Self { presence, path, mode: Setting::new(maker, mode), body }
    }

    pub fn is_present(&self, view: &dyn Fn(Maker) -> bool) -> bool {
        // Before it was made it is not there.
        let last = self.presence.all().iter().rev().find(|(maker, _)| view(*maker));
        last.is_some_and(|(_, is_present)| *is_present)
    }

    /// Its path, if it is there.
    pub fn path(&self, view: &dyn Fn(Maker) -> bool) -> Option<&Arc<[u8]>> {
        if !self.is_present(view) {
            return None;
        }
        self.path.get(view).map(|(_, path)| path)
    }

    /// The last maker that put it where it is.
    pub fn put_by(&self, view: &dyn Fn(Maker) -> bool) -> Maker {
        let of = |setting: Option<Maker>| setting.unwrap_or(0);
        of(self.presence.get(view).map(|one| one.0)).max(of(self.path.get(view).map(|one| one.0)))
    }

    /// The file as a view has it, if it is there.
    pub fn shown(&self, contents: &Contents, view: &dyn Fn(Maker) -> bool) -> Option<Shown> {
        let path = self.path(view)?.clone();
        let mode = self.mode.get(view)?.1;
        let (id, text) = match &self.body {
            Body::Text(weave) => {
                let text = weave.text(contents, view);
                (FileId::of(&text)?, Some(text.into()))
            }
            Body::Whole(id) => (id.get(view)?.1, None),
        };
        Some(Shown { path, item: Item { mode, id }, text, put_by: self.put_by(view) })
    }
}
