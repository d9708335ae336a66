//! Trees as git has them: their entries, what differs between two of them with renames followed, and the hash of a tree that
//! nobody has written.

use git2::{Delta, DiffFindOptions, DiffOptions, ObjectType, Oid, Repository, Tree, TreeEntry};

use crate::error::{CopyError, MAX_DEPTH, MAX_PATH, RepoError};
use crate::repository::Repo;

/// What git calls a content: two files with the same one have the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub(crate) Oid);

impl FileId {
    /// That of a content. `None` if git cannot hash it.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        Oid::hash_object(ObjectType::Blob, bytes).ok().map(Self)
    }

    /// The identity with this hash. Bytes after the first 20 are ignored.
    pub fn from_hash(hash: &[u8]) -> Option<Self> {
        Some(Self(Oid::from_bytes(hash.get(..20)?).ok()?))
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// What git calls a tree: two folders with the same one have the same files, names and modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TreeId(pub(crate) Oid);

impl std::fmt::Display for TreeId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(out)
    }
}

/// What stands under a path: a file, a link, or the commit of a submodule. The mode is git's: `0o100_644`, `0o100_755`,
/// `0o120_000` for a link, `0o160_000` for a submodule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Item {
    pub mode: u32,
    pub id: FileId,
}

impl Item {
    pub const LINK: u32 = 0o120_000;
    pub const SUBMODULE: u32 = 0o160_000;

    fn of(entry: &TreeEntry<'_>) -> Option<Self> {
        let is_item = entry.kind() != Some(ObjectType::Tree);
        is_item.then(|| Self { mode: entry.filemode_raw().cast_unsigned(), id: FileId(entry.id()) })
    }
}

/// One path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeChange {
    /// The path in the new tree, or in the old one if it is gone.
    pub path: Vec<u8>,
    /// The path in the old tree, where the file was renamed.
    pub renamed_from: Option<Vec<u8>>,
    pub old: Option<Item>,
    pub new: Option<Item>,
}

/// This many added or removed files are a move of everything. Finding renames would compare each with each.
const MOST_MOVED: usize = 200;
/// The bound on the entries of a tree.
const MOST_ENTRIES: usize = 200_000;

impl Repo {
    /// All files, links and submodules of a tree, by path.
    ///
    /// # Errors
    ///
    /// Where git cannot read the tree, and where it has too many entries or is too deep.
    pub fn tree_items(&self, tree: TreeId) -> Result<Vec<(Vec<u8>, Item)>, RepoError> {
        let mut found: Vec<(Vec<u8>, Item)> = changes(&self.git, None, Some(&self.git.find_tree(tree.0)?), &|_| true)
            .map_err(|error| RepoError::Files { revision: tree.to_string(), error })?
            .into_iter()
            .filter_map(|change| Some((change.path, change.new?)))
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }

    /// What a tree has under a path, if that is no folder.
    pub fn tree_item(&self, tree: TreeId, path: &[u8]) -> Option<Item> {
        let path = crate::repository::bytes_as_path(path);
        Item::of(&self.git.find_tree(tree.0).ok()?.get_path(&path).ok()?)
    }

    /// The paths that differ between two trees, by path. No old tree is an empty one. Files of at most `most` bytes are looked
    /// into to recognise renamed ones.
    ///
    /// # Errors
    ///
    /// Where git cannot read them, and where they have too many entries or are too deep.
    pub fn tree_changes(&self, old: Option<TreeId>, new: TreeId, most: usize) -> Result<Vec<TreeChange>, RepoError> {
        let old = old.map(|old| self.git.find_tree(old.0)).transpose()?;
        let new_tree = self.git.find_tree(new.0)?;
        changes_with_renames(&self.git, old.as_ref(), &new_tree, &|_| true, most)
            .map_err(|error| RepoError::Files { revision: new.to_string(), error })
    }
}

/// The wanted paths that differ between two trees, by path, with an added and a removed file that are similar as one.
pub(crate) fn changes_with_renames(
    repository: &Repository,
    old: Option<&Tree<'_>>,
    new: &Tree<'_>,
    wanted: &dyn Fn(&[u8]) -> bool,
    most: usize,
) -> Result<Vec<TreeChange>, CopyError> {
    let mut found = changes(repository, old, Some(new), wanted)?;
    let count = |wanted: &dyn Fn(&TreeChange) -> bool| found.iter().filter(|change| wanted(change)).count();
    let (added, removed) = (count(&|change| change.old.is_none()), count(&|change| change.new.is_none()));
    if let Some(old) = old
        && added > 0
        && removed > 0
        && added + removed <= MOST_MOVED
    {
        join_renamed(repository, old, new, most, &mut found)?;
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Walks two trees side by side. Equal parts are not opened.
fn changes(
    repository: &Repository,
    old: Option<&Tree<'_>>,
    new: Option<&Tree<'_>>,
    wanted: &dyn Fn(&[u8]) -> bool,
) -> Result<Vec<TreeChange>, CopyError> {
    let mut found = Vec::new();
    let mut seen = 0;
    let id = |tree: Option<&Tree<'_>>| tree.map(Tree::id);
    let mut open = vec![(Vec::new(), 0, id(old), id(new))];
    while let Some((parent, depth, old, new)) = open.pop() {
        let tree = |id: Option<Oid>| id.map(|id| repository.find_tree(id)).transpose();
        let (old, new) = (tree(old)?, tree(new)?);
        // The entries of a tree have the same order on both sides, by name. A folder's name counts as if it ended in a
        // slash.
        let mut ours = old.iter().flat_map(Tree::iter).peekable();
        let mut theirs = new.iter().flat_map(Tree::iter).peekable();
        loop {
            let order = match (ours.peek(), theirs.peek()) {
                (None, None) => break,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(a), Some(b)) => order_of(a, b),
            };
            let a = if order.is_le() { ours.next() } else { None };
            let b = if order.is_ge() { theirs.next() } else { None };
            // A hostile tree can have one name many times.
            seen += 1;
            if seen > MOST_ENTRIES {
                return Err(CopyError::TooMany(MOST_ENTRIES));
            }
            if let (Some(a), Some(b)) = (&a, &b)
                && a.id() == b.id()
                && a.filemode_raw() == b.filemode_raw()
            {
                continue;
            }
            let Some(name) = a.as_ref().or(b.as_ref()).map(TreeEntry::name_bytes) else { continue };
            let mut path: Vec<u8> = parent.clone();
            path.extend_from_slice(name);
            if path.len() > MAX_PATH {
                return Err(CopyError::TooDeep);
            }
            let item = |entry: &Option<TreeEntry<'_>>| entry.as_ref().and_then(Item::of);
            let (old_item, new_item) = (item(&a), item(&b));
            if (old_item.is_some() || new_item.is_some()) && wanted(&path) {
                found.push(TreeChange { path: path.clone(), renamed_from: None, old: old_item, new: new_item });
            }
            let folder = |entry: &Option<TreeEntry<'_>>| {
                entry.as_ref().filter(|entry| entry.kind() == Some(ObjectType::Tree)).map(TreeEntry::id)
            };
            let (old_folder, new_folder) = (folder(&a), folder(&b));
            if old_folder.is_some() || new_folder.is_some() {
                if depth == MAX_DEPTH {
                    return Err(CopyError::TooDeep);
                }
                path.push(b'/');
                open.push((path, depth + 1, old_folder, new_folder));
            }
        }
    }
    Ok(found)
}

/// The order in which git sorts entries.
fn order_of(a: &TreeEntry<'_>, b: &TreeEntry<'_>) -> std::cmp::Ordering {
    let is_folder = |entry: &TreeEntry<'_>| entry.kind() == Some(ObjectType::Tree);
    order_of_names((a.name_bytes(), is_folder(a)), (b.name_bytes(), is_folder(b)))
}

fn order_of_names(a: (&[u8], bool), b: (&[u8], bool)) -> std::cmp::Ordering {
    let slash = |is_folder: bool| if is_folder { &b"/"[..] } else { b"" };
    a.0.iter().chain(slash(a.1)).cmp(b.0.iter().chain(slash(b.1)))
}

/// Treats an added and a removed file as one renamed file if they are similar.
fn join_renamed(
    repository: &Repository,
    old: &Tree<'_>,
    new: &Tree<'_>,
    most: usize,
    found: &mut Vec<TreeChange>,
) -> Result<(), git2::Error> {
    let objects = repository.odb()?;
    let mut these = DiffOptions::new();
    these.disable_pathspec_match(true);
    let mut any = false;
    for change in found.iter() {
        // Looking reads the files, and a small object may become gigabytes when it is read.
        if let (Some(item), None) | (None, Some(item)) = (change.old, change.new)
            && item.mode != Item::SUBMODULE
            && objects.read_header(item.id.0).is_ok_and(|(size, _)| size <= most)
        {
            these.pathspec(change.path.as_slice());
            any = true;
        }
    }
    if !any {
        return Ok(());
    }
    let mut diff = repository.diff_tree_to_tree(Some(old), Some(new), Some(&mut these))?;
    diff.find_similar(Some(DiffFindOptions::new().renames(true)))?;
    for delta in diff.deltas().filter(|delta| delta.status() == Delta::Renamed) {
        let (Some(was), Some(is)) = (delta.old_file().path_bytes(), delta.new_file().path_bytes()) else { continue };
        let gone = found.iter().find(|change| change.path == was && change.new.is_none()).and_then(|change| change.old);
        let added = found.iter().find(|change| change.path == is && change.old.is_none()).and_then(|change| change.new);
        if let (Some(gone), Some(added)) = (gone, added) {
            found.retain(|change| change.path != was && change.path != is);
            let renamed_from = Some(was.to_vec());
            found.push(TreeChange { path: is.to_vec(), renamed_from, old: Some(gone), new: Some(added) });
        }
    }
    Ok(())
}

/// The hash of the tree with these items, which are sorted by the bytes of their paths. Nothing is written.
///
/// # Errors
///
/// Where git cannot hash.
pub fn hash_tree<'a>(items: impl IntoIterator<Item = (&'a [u8], Item)>) -> Result<TreeId, RepoError> {
    let items: Vec<(&[u8], Item)> = items.into_iter().collect();
    Ok(TreeId(build(&items, 0, &mut |bytes| Oid::hash_object(ObjectType::Tree, bytes))?))
}

/// Writes the tree with these items, and those below it. The items are sorted by the bytes of their paths.
pub(crate) fn write_tree(repository: &Repository, items: &[(&[u8], Item)]) -> Result<TreeId, git2::Error> {
    let objects = repository.odb()?;
    Ok(TreeId(build(items, 0, &mut |bytes| objects.write(ObjectType::Tree, bytes))?))
}

/// Makes the trees from the deepest on. `skip` is how many bytes of each path are the folder's own.
fn build(
    items: &[(&[u8], Item)],
    skip: usize,
    finish: &mut dyn FnMut(&[u8]) -> Result<Oid, git2::Error>,
) -> Result<Oid, git2::Error> {
    let mut entries: Vec<(&[u8], u32, Oid)> = Vec::new();
    let mut rest = items;
    while let Some(((path, item), others)) = rest.split_first() {
        let below = path.get(skip..).unwrap_or_default();
        match below.iter().position(|byte| *byte == b'/') {
            None => {
                entries.push((below, item.mode, item.id.0));
                rest = others;
            }
            Some(length) => {
                let (name, folder) = (&below[..length], &path[..skip + length + 1]);
                let count = rest.iter().take_while(|(path, _)| path.starts_with(folder)).count();
                let (inner, after) = rest.split_at(count);
                entries.push((name, FOLDER, build(inner, folder.len(), finish)?));
                rest = after;
            }
        }
    }
    entries.sort_by(|a, b| order_of_names((a.0, a.1 == FOLDER), (b.0, b.1 == FOLDER)));
    let mut bytes = Vec::new();
    for (name, mode, id) in entries {
        bytes.extend_from_slice(format!("{mode:o} ").as_bytes());
        bytes.extend_from_slice(name);
        bytes.push(0);
        bytes.extend_from_slice(id.as_bytes());
    }
    finish(&bytes)
}

const FOLDER: u32 = 0o040_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(repository: &Repository, files: &[(&str, u32, &[u8])]) -> TreeId {
        let mut items: Vec<(&[u8], Item)> = files
            .iter()
            .map(|(path, mode, text)| {
                (path.as_bytes(), Item { mode: *mode, id: FileId(repository.blob(text).unwrap()) })
            })
            .collect();
        items.sort_by_key(|(path, _)| *path);
        let written = write_tree(repository, &items).unwrap();
        assert_eq!(hash_tree(items).unwrap(), written);
        written
    }

    #[test]
    fn a_tree_has_the_hash_that_git_gives_it() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init(folder.path()).unwrap();
        // `a-b` stands before the folder `a`, and `a.py` too.
        let files = ["a/x.py", "a/y/z.py", "a-b", "a.py", "ab"];
        let mut index = repository.index().unwrap();
        for path in files {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, path).unwrap();
            index.add_path(std::path::Path::new(path)).unwrap();
        }
        let expected = index.write_tree().unwrap();
        let listed: Vec<(&str, u32, &[u8])> = files.iter().map(|path| (*path, 0o100_644, path.as_bytes())).collect();
        let made = tree(&repository, &listed);
        assert_eq!(made.0, expected);
        let repo = Repo::around(folder.path()).unwrap();
        let items = repo.tree_items(made).unwrap();
        assert_eq!(items.len(), files.len());
        assert_eq!(repo.tree_item(made, b"a/y/z.py"), items.iter().find(|one| one.0 == b"a/y/z.py").map(|one| one.1));
        assert_eq!(repo.tree_item(made, b"a"), None);
    }

    #[test]
    fn changes_have_modes_links_and_renames() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init(folder.path()).unwrap();
        let text: Vec<u8> = (0..40).flat_map(|line| format!("line {line}\n").into_bytes()).collect();
        let mut edited = text.clone();
        edited.extend_from_slice(b"one more\n");
        let old = tree(
            &repository,
            &[("a/old.py", 0o100_644, &text), ("run.sh", 0o100_644, b"echo"), ("same", 0o100_644, b"same")],
        );
        let new = tree(
            &repository,
            &[
                ("b/new.py", 0o100_644, &edited),
                ("run.sh", 0o100_755, b"echo"),
                ("same", 0o100_644, b"same"),
                ("to", Item::LINK, b"same"),
            ],
        );
        let repo = Repo::around(folder.path()).unwrap();
        let changes = repo.tree_changes(Some(old), new, 1 << 20).unwrap();
        let told: Vec<_> = changes
            .iter()
            .map(|one| (one.path.as_slice(), one.renamed_from.as_deref(), one.old.map(|old| old.mode)))
            .collect();
        assert_eq!(
            told,
            [
                (&b"b/new.py"[..], Some(&b"a/old.py"[..]), Some(0o100_644)),
                (b"run.sh", None, Some(0o100_644)),
                (b"to", None, None),
            ]
        );
        assert_eq!(repo.tree_changes(None, new, 1 << 20).unwrap().len(), 4);
    }
}
