//! What is in a tree and in the trees below it.

use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid, Repository, TreeEntry};

use crate::error::{CopyError, MAX_DEPTH, MAX_PATH};
use crate::repository::bytes_as_path;

/// Visits what is in a tree, and what is in each folder of it for which `visit` says so. Small repositories can have entries in
/// any number, so whoever visits counts them, folders too. git's own walk calls itself for each folder, however deep.
pub(crate) fn walk(
    repository: &Repository,
    tree: Oid,
    mut visit: impl FnMut(&Path, &TreeEntry<'_>) -> Result<bool, CopyError>,
) -> Result<(), CopyError> {
    let mut trees = vec![(PathBuf::new(), 0, tree)];
    while let Some((parent, depth, id)) = trees.pop() {
        for entry in repository.find_tree(id)?.iter() {
            let path = parent.join(bytes_as_path(entry.name_bytes()));
            // The bytes of paths are bounded as well: one name can be in many of them.
            if path.as_os_str().len() > MAX_PATH {
                return Err(CopyError::TooDeep);
            }
            if visit(&path, &entry)? && entry.kind() == Some(ObjectType::Tree) {
                if depth == MAX_DEPTH {
                    return Err(CopyError::TooDeep);
                }
                trees.push((path, depth + 1, entry.id()));
            }
        }
    }
    Ok(())
}
