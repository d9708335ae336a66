//! The repository around a folder, and what lies in a folder.

use std::path::Path;

use git2::Repository;

/// The repository around a folder. A repository without a folder `.git` whose files another one tracks is no more than files of
/// that one: a change can bring it along, to answer for the repository that it lies in.
///
/// # Errors
///
/// What git says where there is none, or where it cannot be read.
pub fn discover(start: &Path) -> Result<Repository, git2::Error> {
    let found = Repository::discover(start)?;
    let is_gits_own = found.path().components().any(|part| part.as_os_str() == ".git");
    if is_gits_own || !is_inside(start, found.path()) {
        return Ok(found);
    }
    let outer = found.path().parent().and_then(|parent| discover(parent).ok());
    Ok(outer.filter(|outer| tracks(outer, found.path())).unwrap_or(found))
}

/// Whether a repository tracks the files of what looks like another one.
fn tracks(outer: &Repository, inner: &Path) -> bool {
    let Some(root) = outer.workdir().and_then(|root| root.canonicalize().ok()) else { return false };
    let Some(inner) = inner.canonicalize().ok().and_then(|inner| inner.strip_prefix(root).map(Path::to_owned).ok())
    else {
        return false;
    };
    outer.index().is_ok_and(|index| index.get_path(&inner.join("HEAD"), 0).is_some())
}

/// Whether a path is a folder or below it, whatever links lead there. The configuration of a repository may be a
/// stranger's, and say that its files are elsewhere.
pub fn is_inside(path: &Path, folder: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| folder.canonicalize().is_ok_and(|folder| path.starts_with(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_among_the_files_of_another_does_not_answer_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let bare = Repository::init_bare(root.join("alone")).unwrap();
        assert_eq!(discover(&root.join("alone/refs")).unwrap().path(), bare.path());
        let outer = Repository::init(root.join("outer")).unwrap();
        let inner = Repository::init_bare(root.join("outer/sub")).unwrap();
        // One that its user made there, or cloned.
        assert_eq!(discover(&root.join("outer/sub")).unwrap().path(), inner.path());
        let mut index = outer.index().unwrap();
        index.add_path(Path::new("sub/HEAD")).unwrap();
        index.write().unwrap();
        for kind in ["bare", "with a work tree"] {
            inner.config().unwrap().set_bool("core.bare", kind == "bare").unwrap();
            for start in ["outer", "outer/sub", "outer/sub/refs", "outer/.git"] {
                assert_eq!(discover(&root.join(start)).unwrap().path(), outer.path(), "{kind}: {start}");
            }
        }
    }
}
