//! The files of a candidate history, merged in memory.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use twincell_repo::{FileId, Item, RepoError, TreeId, hash_tree};

use super::story::Shown;

/// All files of a candidate history.
#[derive(Debug, Clone)]
pub struct Tree {
    id: TreeId,
    files: Vec<TreeFile>,
}

/// A file, a link or a submodule of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// The bytes of its path, `/` between its parts.
    pub path: Arc<[u8]>,
    /// As git has it: `0o100_644`, `0o100_755`, `0o120_000` for a link, `0o160_000` for a submodule.
    pub mode: u32,
    pub id: FileId,
    /// The content where it was merged. Other contents are in the repository: [`Timeline::content`](super::Timeline::content).
    pub text: Option<Arc<[u8]>>,
}

/// What differs between two trees, by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeDifference {
    /// The paths that the other tree has, new or otherwise than this one.
    pub written: Vec<TreeFile>,
    /// The paths that only this one has.
    pub removed: Vec<Arc<[u8]>>,
}

impl TreeFile {
    pub fn path(&self) -> &Path {
        use std::os::unix::ffi::OsStrExt;
        Path::new(std::ffi::OsStr::from_bytes(&self.path))
    }
}

impl Tree {
    /// Puts files together. Of two under one path, or of a file and a folder with the same one, the later one stays.
    pub(super) fn of(
        unchanged: impl Iterator<Item = (Arc<[u8]>, Item)>,
        mut shown: Vec<Shown>,
    ) -> Result<Self, RepoError> {
        let file = |path: Arc<[u8]>, item: Item, text| TreeFile { path, mode: item.mode, id: item.id, text };
        let mut files: BTreeMap<Arc<[u8]>, TreeFile> =
            unchanged.map(|(path, item)| (path.clone(), file(path, item, None))).collect();
        shown.sort_by_key(|one| one.put_by);
        for Shown { path, item, text, .. } in shown {
            for (end, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
                files.remove(&path[..end]);
            }
            let folder = [&path, &b"/"[..]].concat();
            let below = files.range::<[u8], _>((Bound::Included(&folder[..]), Bound::Unbounded));
            let below: Vec<_> = below.map(|one| one.0.clone()).take_while(|other| other.starts_with(&folder)).collect();
            below.iter().for_each(|other| {
                files.remove(other);
            });
            files.insert(path.clone(), file(path, item, text));
        }
        let files: Vec<TreeFile> = files.into_values().collect();
        let item = |file: &TreeFile| Item { mode: file.mode, id: file.id };
        let id = hash_tree(files.iter().map(|file| (&*file.path, item(file))))?;
        Ok(Self { id, files })
    }

    /// git's hash of the tree, which is the same for the same files, names and modes.
    pub fn id(&self) -> TreeId {
        self.id
    }

    /// The files, by the bytes of their paths.
    pub fn files(&self) -> &[TreeFile] {
        &self.files
    }

    pub fn file(&self, path: &[u8]) -> Option<&TreeFile> {
        let found = self.files.binary_search_by(|file| (*file.path).cmp(path)).ok()?;
        self.files.get(found)
    }

    /// What has to be written and removed to make another tree of this one.
    pub fn differs(&self, other: &Self) -> TreeDifference {
        let is_same = |file: &TreeFile, there: &TreeFile| (file.mode, file.id) == (there.mode, there.id);
        let written = other.files.iter().filter(|file| !self.file(&file.path).is_some_and(|here| is_same(file, here)));
        let removed = self.files.iter().filter(|file| other.file(&file.path).is_none());
        TreeDifference { written: written.cloned().collect(), removed: removed.map(|file| file.path.clone()).collect() }
    }
}
