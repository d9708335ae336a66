//! Trees that need not be in the repository: what differs between two of them, as the text of a patch that `git apply` takes,
//! and a change of one made in another.

use git2::{DiffFindOptions, DiffFormat, DiffOptions, ObjectType};

use crate::error::RepoError;
use crate::repository::Repo;
use crate::tree::{Item, TreeId, write_tree};

/// Trees on top of a repository's. What is written here stays in memory and goes with this value.
pub struct MemoryTrees {
    repo: Repo,
}

/// What a change makes of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    Tree(TreeId),
    /// The paths at which it does not apply.
    Conflicts(Vec<Vec<u8>>),
}

/// Above the priorities of libgit2's own places for objects.
const FIRST: i32 = 1000;

impl MemoryTrees {
    /// # Errors
    ///
    /// Where git cannot open the repository again.
    pub fn over(repo: &Repo) -> Result<Self, RepoError> {
        let repo = Repo::open_again(repo.path())?;
        repo.git.odb()?.add_new_mempack_backend(FIRST)?;
        Ok(Self { repo })
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
        let objects = self.repo.git.odb()?;
        for content in contents {
            objects.write(ObjectType::Blob, content)?;
        }
        Ok(write_tree(&self.repo.git, items)?)
    }

    /// The items of a tree, by path.
    ///
    /// # Errors
    ///
    /// Where git cannot read the tree.
    pub fn items(&self, tree: TreeId) -> Result<Vec<(Vec<u8>, Item)>, RepoError> {
        self.repo.tree_items(tree)
    }

    /// A content that only stands in memory. `None` for one that the repository has, and for a submodule.
    ///
    /// # Errors
    ///
    /// Where git cannot read it.
    pub fn content(&self, repo: &Repo, item: Item) -> Result<Option<Vec<u8>>, RepoError> {
        if item.mode == Item::SUBMODULE || repo.git.odb()?.exists(item.id.0) {
            return Ok(None);
        }
        Ok(Some(self.repo.git.find_blob(item.id.0)?.content().to_vec()))
    }

    /// Makes the change from `before` to `after` in another tree, as a cherry-pick does.
    ///
    /// # Errors
    ///
    /// Where git cannot read the trees.
    pub fn merged(&self, before: TreeId, after: TreeId, onto: TreeId) -> Result<Merged, RepoError> {
        let git = &self.repo.git;
        let [ancestor, theirs, ours] = [git.find_tree(before.0)?, git.find_tree(after.0)?, git.find_tree(onto.0)?];
        let mut index = git.merge_trees(&ancestor, &ours, &theirs, None)?;
        if !index.has_conflicts() {
            return Ok(Merged::Tree(TreeId(index.write_tree_to(git)?)));
        }
        let mut paths = Vec::new();
        for conflict in index.conflicts()? {
            let conflict = conflict?;
            let entry = conflict.our.or(conflict.their).or(conflict.ancestor);
            paths.extend(entry.map(|entry| entry.path));
        }
        paths.sort();
        paths.dedup();
        Ok(Merged::Conflicts(paths))
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
        let git = &self.repo.git;
        let (old, new) = (git.find_tree(old.0)?, git.find_tree(new.0)?);
        let mut options = DiffOptions::new();
        options.show_binary(with_binary).id_abbrev(40).include_typechange(false);
        // The user's settings may say otherwise.
        options.old_prefix("a/").new_prefix("b/");
        let mut diff = git.diff_tree_to_tree(Some(&old), Some(&new), Some(&mut options))?;
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
    use git2::Repository;

    use super::*;
    use crate::tree::FileId;

    #[test]
    fn a_change_is_made_in_another_tree_or_conflicts() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::around(Repository::init_bare(folder.path()).unwrap().path()).unwrap();
        let trees = MemoryTrees::over(&repo).unwrap();
        let keep = |files: &[(&str, &str)]| {
            let item = |text: &str| Item { mode: 0o100_644, id: FileId::of(text.as_bytes()).unwrap() };
            let items: Vec<_> = files.iter().map(|(path, text)| (path.as_bytes(), item(text))).collect();
            trees.keep(&items, files.iter().map(|(_, text)| text.as_bytes())).unwrap()
        };
        let [top, rest] = ["a\n", "1\n2\n3\n4\n"];
        let (before, after) = (keep(&[("f", &format!("{top}{rest}x\n"))]), keep(&[("f", &format!("{top}{rest}y\n"))]));
        let onto = keep(&[("f", &format!("b\n{rest}x\n")), ("g", "g\n")]);
        let Merged::Tree(merged) = trees.merged(before, after, onto).unwrap() else { panic!() };
        assert_eq!(merged, keep(&[("f", &format!("b\n{rest}y\n")), ("g", "g\n")]));
        let items = trees.items(merged).unwrap();
        let text = trees.content(&repo, items[0].1).unwrap().unwrap();
        assert_eq!((items.len(), text), (2, format!("b\n{rest}y\n").into_bytes()));
        let other = keep(&[("f", &format!("{top}{rest}z\n"))]);
        assert_eq!(trees.merged(before, after, other).unwrap(), Merged::Conflicts(vec![b"f".to_vec()]));
        let objects = std::fs::read_dir(folder.path().join("objects")).unwrap().flatten();
        assert_eq!(objects.filter(|one| one.file_name().len() == 2).count(), 0);
    }

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
