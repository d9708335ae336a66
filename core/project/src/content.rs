//! Single files of a version of a repository, and which files of some names differ between two. Nothing follows a link, and
//! nothing is read that is larger than a caller wants.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use git2::{DiffOptions, ErrorCode, Repository, Tree};

use twincell_files::inside;

use crate::copy::{Version, bytes_as_path, is_plain_file};

/// What a version has under a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Absent,
    File(Vec<u8>),
    /// A file with more bytes than were wanted.
    TooLarge,
    /// A link, a folder or another repository.
    NoFile,
}

/// What a version has under a path, of at most `most` bytes.
pub fn content(repository: &Repository, version: &Version<'_>, path: &Path, most: u64) -> Result<Content, git2::Error> {
    let (mode, id) = match version {
        Version::Tree(tree) => match tree.get_path(path) {
            Ok(entry) => (entry.filemode(), entry.id()),
            Err(error) if error.code() == ErrorCode::NotFound => return Ok(Content::Absent),
            Err(error) => return Err(error),
        },
        Version::Index(index) => match index.get_path(path, 0) {
            Some(entry) => (i32::try_from(entry.mode).unwrap_or(0), entry.id),
            None => return Ok(Content::Absent),
        },
        Version::Files => return Ok(of_files(repository, path, most)),
    };
    if !is_plain_file(mode) {
        return Ok(Content::NoFile);
    }
    let objects = repository.odb()?;
    // A header says the size; a small object may become gigabytes when it is read.
    if objects.read_header(id)?.0 as u64 > most {
        return Ok(Content::TooLarge);
    }
    Ok(Content::File(objects.read(id)?.data().to_vec()))
}

/// A file of the working tree. No part of the path may be a link.
fn of_files(repository: &Repository, path: &Path, most: u64) -> Content {
    let Some(root) = repository.workdir() else { return Content::Absent };
    let full = root.join(path);
    let Ok(about) = full.symlink_metadata() else { return Content::Absent };
    let Ok(root) = File::open(root) else { return Content::NoFile };
    match inside::read_in(&OwnedFd::from(root), path, most) {
        Ok(Some(bytes)) => Content::File(bytes),
        _ if about.is_file() && about.len() > most => Content::TooLarge,
        _ => Content::NoFile,
    }
}

/// The paths with one of these names, at any depth, that are not the same in the tree and in the other version. In the
/// working tree, files count that git does not track and does not ignore.
pub fn differing(
    repository: &Repository,
    old: &Tree<'_>,
    new: &Version<'_>,
    names: &[&str],
) -> Result<BTreeSet<PathBuf>, git2::Error> {
    let mut options = DiffOptions::new();
    for name in names {
        options.pathspec(format!("*{name}"));
    }
    let diff = match new {
        Version::Tree(tree) => repository.diff_tree_to_tree(Some(old), Some(tree), Some(&mut options)),
        Version::Index(index) => repository.diff_tree_to_index(Some(old), Some(index), Some(&mut options)),
        Version::Files => {
            options.include_untracked(true).recurse_untracked_dirs(true);
            repository.diff_tree_to_workdir_with_index(Some(old), Some(&mut options))
        }
    }?;
    let paths = diff.deltas().flat_map(|delta| {
        let paths = [delta.old_file().path_bytes(), delta.new_file().path_bytes()];
        paths.into_iter().flatten().map(bytes_as_path).collect::<Vec<_>>()
    });
    let is_plain = |path: &PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
    let is_named = |path: &PathBuf| names.iter().any(|name| path.file_name().is_some_and(|own| own == *name));
    Ok(paths.filter(|path| is_plain(path) && is_named(path)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_has_its_own_file_and_a_link_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init(folder.path()).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("twincell.toml", "old");
        let mut index = repository.index().unwrap();
        index.add_path(Path::new("twincell.toml")).unwrap();
        let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
        write("twincell.toml", "staged");
        index.add_path(Path::new("twincell.toml")).unwrap();
        index.write().unwrap();
        write("twincell.toml", "written");
        let versions = || [Version::Tree(&tree), Version::Index(&index), Version::Files];
        let found = |path: &str| {
            let of = |version| content(&repository, &version, Path::new(path), 7).unwrap();
            versions().map(of)
        };
        let [old, staged, written] = ["old", "staged", "written"].map(|text| Content::File(text.into()));
        assert_eq!(found("twincell.toml"), [old, staged, written]);
        assert_eq!(found("none/twincell.toml"), [Content::Absent, Content::Absent, Content::Absent]);
        let names = |version| differing(&repository, &tree, &version, &["twincell.toml"]).unwrap();
        assert_eq!(versions().map(|version| names(version).len()), [0, 1, 1]);

        std::fs::remove_file(folder.path().join("twincell.toml")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("twincell.toml")).unwrap();
        assert_eq!(found("twincell.toml")[2], Content::NoFile);
        write("other.toml", "more than that");
        assert_eq!(found("other.toml")[2], Content::TooLarge);
    }
}
