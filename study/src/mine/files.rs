//! The Python files that a commit changed, found by walking two trees side by side without opening equal parts.

use git2::{Delta, DiffFindOptions, DiffOptions, ObjectType, Oid, Repository, Tree, TreeEntry};

use super::functions::MOST_BYTES;

/// A Python file of a commit. It is absent on one side if it was added or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    /// The path in the new version, if it is there.
    pub path: String,
    pub old: Option<Oid>,
    pub new: Option<Oid>,
}

/// This many added or removed files are a move of everything. Finding renames would compare each with each.
const MOST_MOVED: usize = 200;
/// The maximum nesting of folders.
const DEEPEST: usize = 100;

/// The Python files that differ between two trees, by path.
pub fn touched(repository: &Repository, old: &Tree<'_>, new: &Tree<'_>) -> Result<Vec<Touched>, git2::Error> {
    let mut found = Vec::new();
    let mut walker = Walker { repository, found: &mut found };
    walker.folder(Some(old), Some(new), &mut String::new(), 0)?;
    let count = |wanted: &dyn Fn(&Touched) -> bool| found.iter().filter(|touched| wanted(touched)).count();
    let (added, removed) = (count(&|touched| touched.old.is_none()), count(&|touched| touched.new.is_none()));
    if added > 0 && removed > 0 && added + removed <= MOST_MOVED {
        join_renamed(repository, old, new, &mut found)?;
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

struct Walker<'a> {
    repository: &'a Repository,
    found: &'a mut Vec<Touched>,
}

impl Walker<'_> {
    /// `path` is the path of the folder with a slash at its end, or empty.
    fn folder(
        &mut self,
        old: Option<&Tree<'_>>,
        new: Option<&Tree<'_>>,
        path: &mut String,
        depth: usize,
    ) -> Result<(), git2::Error> {
        // The entries of a tree have the same order on both sides, by name. A folder's name counts as if it ended in a
        // slash.
        let (mut ours, mut theirs) = (entries(old).peekable(), entries(new).peekable());
        loop {
            let order = match (ours.peek(), theirs.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(a), Some(b)) => order_of(a, b),
            };
            let a = if order.is_le() { ours.next() } else { None };
            let b = if order.is_ge() { theirs.next() } else { None };
            if let (Some(a), Some(b)) = (&a, &b)
                && a.id() == b.id()
                && a.kind() == b.kind()
            {
                continue;
            }
            let Some(name) = a.as_ref().or(b.as_ref()).map(|entry| String::from_utf8_lossy(entry.name_bytes())) else {
                continue;
            };
            let length = path.len();
            path.push_str(&name);
            let tree = |entry: &Option<TreeEntry<'_>>| match entry {
                Some(entry) if entry.kind() == Some(ObjectType::Tree) => {
                    self.repository.find_tree(entry.id()).map(Some)
                }
                _ => Ok(None),
            };
            let (old_tree, new_tree) = (tree(&a)?, tree(&b)?);
            if (old_tree.is_some() || new_tree.is_some()) && depth < DEEPEST {
                path.push('/');
                self.folder(old_tree.as_ref(), new_tree.as_ref(), path, depth + 1)?;
                path.pop();
            }
            if path.ends_with(".py") {
                let (old, new) = (file(a.as_ref()), file(b.as_ref()));
                if old != new {
                    self.found.push(Touched { path: path.clone(), old, new });
                }
            }
            path.truncate(length);
        }
    }
}

fn entries<'tree>(tree: Option<&'tree Tree<'_>>) -> impl Iterator<Item = TreeEntry<'tree>> {
    tree.into_iter().flat_map(Tree::iter)
}

/// The order in which git sorts entries.
fn order_of(a: &TreeEntry<'_>, b: &TreeEntry<'_>) -> std::cmp::Ordering {
    let slash = |entry: &TreeEntry<'_>| if entry.kind() == Some(ObjectType::Tree) { &b"/"[..] } else { b"" };
    let (ours, theirs) = (a.name_bytes(), b.name_bytes());
    if ours == theirs && slash(a) == slash(b) {
        return std::cmp::Ordering::Equal;
    }
    ours.iter().chain(slash(a)).cmp(theirs.iter().chain(slash(b)))
}

/// The content of an entry that is a file and not a link.
fn file(entry: Option<&TreeEntry<'_>>) -> Option<Oid> {
    const LINK: i32 = 0o120_000;
    entry.filter(|entry| entry.kind() == Some(ObjectType::Blob) && entry.filemode() != LINK).map(TreeEntry::id)
}

/// Treats an added and a removed file as one renamed file if they are similar.
fn join_renamed(
    repository: &Repository,
    old: &Tree<'_>,
    new: &Tree<'_>,
    found: &mut Vec<Touched>,
) -> Result<(), git2::Error> {
    let objects = repository.odb()?;
    let mut these = DiffOptions::new();
    these.disable_pathspec_match(true);
    let mut any = false;
    for touched in found.iter() {
        // Looking reads the files, and a small object may become gigabytes when it is read.
        if let (Some(id), None) | (None, Some(id)) = (touched.old, touched.new)
            && objects.read_header(id).is_ok_and(|(size, _)| size <= MOST_BYTES)
        {
            these.pathspec(touched.path.as_str());
            any = true;
        }
    }
    if !any {
        return Ok(());
    }
    let mut diff = repository.diff_tree_to_tree(Some(old), Some(new), Some(&mut these))?;
    diff.find_similar(Some(DiffFindOptions::new().renames(true)))?;
    for delta in diff.deltas().filter(|delta| delta.status() == Delta::Renamed) {
        let path = |file: git2::DiffFile<'_>| file.path().map(|path| path.to_string_lossy().into_owned());
        let (Some(was), Some(is)) = (path(delta.old_file()), path(delta.new_file())) else { continue };
        let both = found.iter().any(|touched| touched.path == was && touched.new.is_none())
            && found.iter().any(|touched| touched.path == is && touched.old.is_none());
        if both {
            found.retain(|touched| touched.path != was && touched.path != is);
            let (old, new) = (delta.old_file().id(), delta.new_file().id());
            if old != new {
                found.push(Touched { path: is, old: Some(old), new: Some(new) });
            }
        }
    }
    Ok(())
}
