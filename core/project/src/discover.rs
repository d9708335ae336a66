//! The repository around a folder, and what lies in a folder.

use std::path::Path;

use git2::Repository;

/// The repository around a folder. Folders that look like a repository without a work tree are files of the one around them: a
/// change can bring one along, to answer for the repository that it lies in.
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
    Ok(outer.unwrap_or(found))
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
        for kind in ["bare", "with a work tree"] {
            let inner = Repository::init_bare(root.join("outer/sub")).unwrap();
            inner.config().unwrap().set_bool("core.bare", kind == "bare").unwrap();
            for start in ["outer", "outer/sub", "outer/sub/refs", "outer/.git"] {
                assert_eq!(discover(&root.join(start)).unwrap().path(), outer.path(), "{kind}: {start}");
            }
        }
    }
}
