//! What differs between two trees that need not be in the repository, as the text of a patch that `git apply` takes.

use git2::{DiffFindOptions, DiffFormat, DiffOptions, ObjectType, Repository};

use crate::error::RepoError;
use crate::repository::Repo;
use crate::tree::{Item, TreeId, write_tree};

/// Trees on top of a repository's. What is written here stays in memory and goes with this value.
pub struct MemoryTrees {
    git: Repository,
}

/// Above the priorities of libgit2's own places for objects.
const FIRST: i32 = 1000;

impl MemoryTrees {
    /// # Errors
    ///
    /// Where git cannot open the repository again.
    pub fn over(repo: &Repo) -> Result<Self, RepoError> {
        let git = Repo::open_again(repo.path())?.git;
        git.odb()?.add_new_mempack_backend(FIRST)?;
        Ok(Self { git })
    }

    /// Keeps a tree: its items, sorted by the bytes of their paths, and the contents that the repository may lack.
    ///
    /// # Errors
    ///
    /// Where git cannot keep it.
    pub fn keep<'a>(
        &self,
        items: &[(&[u8], Item)],
        contents: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<TreeId, RepoError> {
        let objects = self.git.odb()?;
        for content in contents {
            objects.write(ObjectType::Blob, content)?;
        }
        Ok(write_tree(&self.git, items)?)
    }

    /// The patch from one tree to another, with renames, modes and binary contents, names quoted as git does.
    ///
    /// # Errors
    ///
    /// Where git cannot read them.
    pub fn patch(&self, old: TreeId, new: TreeId) -> Result<Vec<u8>, RepoError> {
        self.text(old, new, true)
    }

    /// The same for people to read: binary contents are only said to differ.
    ///
    /// # Errors
    ///
    /// Where git cannot read them.
    pub fn diff(&self, old: TreeId, new: TreeId) -> Result<Vec<u8>, RepoError> {
        self.text(old, new, false)
    }

    fn text(&self, old: TreeId, new: TreeId, with_binary: bool) -> Result<Vec<u8>, RepoError> {
        let (old, new) = (self.git.find_tree(old.0)?, self.git.find_tree(new.0)?);
        let mut options = DiffOptions::new();
        options.show_binary(with_binary).id_abbrev(40).include_typechange(false);
        // The user's settings may say otherwise.
        options.old_prefix("a/").new_prefix("b/");
        let mut diff = self.git.diff_tree_to_tree(Some(&old), Some(&new), Some(&mut options))?;
        diff.find_similar(Some(DiffFindOptions::new().renames(true)))?;
        let mut text = Vec::new();
        diff.print(DiffFormat::Patch, |_, _, line| {
            if matches!(line.origin(), '+' | '-' | ' ') {
                text.push(line.origin() as u8);
            }
            text.extend_from_slice(line.content());
            true
        })?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::FileId;

    #[test]
    fn a_patch_of_trees_in_memory_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let git = Repository::init_bare(folder.path()).unwrap();
        git.config().unwrap().set_bool("diff.noprefix", true).unwrap();
        let repo = Repo::around(folder.path()).unwrap();
        let objects = || {
            let folders = std::fs::read_dir(folder.path().join("objects")).unwrap().flatten();
            folders.flat_map(|one| std::fs::read_dir(one.path()).unwrap().flatten()).count()
        };
        let before = objects();
        let trees = MemoryTrees::over(&repo).unwrap();
        let keep = |content: &[u8]| {
            let item = Item { mode: 0o100_644, id: FileId::of(content).unwrap() };
            trees.keep(&[("t\u{e4}st.py".as_bytes(), item)], [content]).unwrap()
        };
        let patch = String::from_utf8(trees.patch(keep(b"a\n"), keep(b"a\nb")).unwrap()).unwrap();
        assert!(patch.starts_with("diff --git \"a/t\\303\\244st.py\" \"b/t\\303\\244st.py\"\nindex "), "{patch}");
        assert!(patch.ends_with("@@ -1 +1,2 @@\n a\n+b\n\\ No newline at end of file\n"), "{patch}");
        let binary = String::from_utf8(trees.patch(keep(b"\0a"), keep(b"\0b")).unwrap()).unwrap();
        assert!(binary.contains("GIT binary patch\n"), "{binary}");
        let named = String::from_utf8(trees.diff(keep(b"\0a"), keep(b"\0b")).unwrap()).unwrap();
        assert!(named.contains("\nBinary files ") && !named.contains("GIT binary patch"), "{named}");
        assert_eq!(objects(), before);
    }
}
