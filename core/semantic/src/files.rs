//! What a project is read from: paths, what tells contents apart, and texts on demand. `snapshot` has the files of a version
//! in a repository, `folder` those on disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

/// What tells one content from another, such as the hash of a git object. Shorter hashes end in zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId(pub [u8; 32]);

impl ContentId {
    /// A hash of up to 32 bytes, of which the rest is cut.
    pub fn from_hash(hash: &[u8]) -> Self {
        let mut bytes = [0; 32];
        for (to, from) in bytes.iter_mut().zip(hash) {
            *to = *from;
        }
        Self(bytes)
    }

    /// The identity of a text that has no hash from elsewhere.
    pub fn of_text(text: &str) -> Self {
        Self::from_hash(&xxh3_128(text.as_bytes()).to_be_bytes())
    }
}

/// The files of one version of a project. `/` stands between the parts of a path.
///
/// Equal identities mean equal texts, over all versions that share a [`Store`](crate::Store).
pub trait Files: Send + Sync {
    /// All files, in any order. Those whose names do not end in `.py` or `.pyi` are skipped.
    fn paths(&self) -> Vec<(Arc<str>, ContentId)>;

    /// The text of a file, or nothing if it cannot be read.
    fn text(&self, path: &str, content: ContentId) -> Option<Arc<str>>;
}

/// Files in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryFiles(BTreeMap<Arc<str>, Arc<str>>);

impl MemoryFiles {
    /// Adds or replaces a file.
    pub fn insert(&mut self, path: &str, text: &str) {
        self.0.insert(path.into(), text.into());
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for MemoryFiles {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(files: I) -> Self {
        Self(files.into_iter().map(|(path, text)| (path.into(), text.into())).collect())
    }
}

impl Files for MemoryFiles {
    fn paths(&self) -> Vec<(Arc<str>, ContentId)> {
        self.0.iter().map(|(path, text)| (path.clone(), ContentId::of_text(text))).collect()
    }

    fn text(&self, path: &str, _: ContentId) -> Option<Arc<str>> {
        self.0.get(path).cloned()
    }
}
