//! The commits of a history, newest first, and the Python files that each changed. Two trees are walked side by side, and
//! equal parts are not opened.

use std::borrow::Cow;

use git2::{Delta, DiffFindOptions, DiffOptions, ErrorCode, ObjectType, Oid, Repository, Revwalk, Tree, TreeEntry};

use crate::error::RepoError;
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

/// A Python file that a commit changed. It is absent on one side if it was added or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The path in the new version, if it is there.
    pub path: String,
    pub old: Option<FileId>,
    pub new: Option<FileId>,
}

/// What git calls a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CommitId(Oid);

impl std::fmt::Display for CommitId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(out)
    }
}

/// A commit of a history.
pub struct Commit<'r>(git2::Commit<'r>);

impl Commit<'_> {
    pub fn id(&self) -> CommitId {
        CommitId(self.0.id())
    }

    pub fn parents(&self) -> usize {
        self.0.parent_count()
    }

    /// When it was committed, in seconds since 1970.
    pub fn seconds(&self) -> i64 {
        self.0.time().seconds()
    }

    pub fn message(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.0.message_bytes())
    }
}

/// The commits from one on, newest first.
pub struct History<'r> {
    repo: &'r Repo,
    walk: Revwalk<'r>,
}

impl<'r> Iterator for History<'r> {
    type Item = Result<Commit<'r>, RepoError>;

    fn next(&mut self) -> Option<Self::Item> {
        let id = self.walk.next()?;
        Some(id.and_then(|id| self.repo.git.find_commit(id)).map(Commit).map_err(RepoError::from))
    }
}

impl Repo {
    /// The commit that a revision names; without one, that of the current branch.
    ///
    /// # Errors
    ///
    /// Where there is none.
    pub fn commit_id(&self, revision: Option<&str>) -> Result<CommitId, RepoError> {
        if let Some(revision) = revision {
            return Ok(CommitId(self.commit(revision)?.id()));
        }
        let head = self.git.head().and_then(|head| head.peel_to_commit());
        head.map(|commit| CommitId(commit.id())).map_err(|error| match error.code() {
            ErrorCode::UnbornBranch | ErrorCode::NotFound => self.no_commit(),
            _ => error.into(),
        })
    }

    /// The history that ends in a commit.
    ///
    /// # Errors
    ///
    /// Where git cannot read it.
    pub fn history(&self, last: CommitId) -> Result<History<'_>, RepoError> {
        // Without a sort order libgit2 walks newest first and incrementally. With one it reads the whole history before
        // it gives the first commit.
        let mut walk = self.git.revwalk()?;
        walk.push(last.0)?;
        Ok(History { repo: self, walk })
    }

    /// A commit of the repository.
    ///
    /// # Errors
    ///
    /// Where git cannot read it.
    pub fn find(&self, id: CommitId) -> Result<Commit<'_>, RepoError> {
        Ok(Commit(self.git.find_commit(id.0)?))
    }

    /// The Python files that differ between a commit and its first parent, by path. Files of at most `most` bytes are looked
    /// into to recognise renamed ones.
    ///
    /// # Errors
    ///
    /// Where git cannot read them, or there is no parent.
    pub fn python_changes(&self, commit: &Commit<'_>, most: usize) -> Result<Vec<FileChange>, RepoError> {
        Ok(changes(&self.git, &commit.0.parent(0)?.tree()?, &commit.0.tree()?, most)?)
    }

    /// The content of a file. `None` if it has more than `most` bytes.
    ///
    /// # Errors
    ///
    /// Where it is not in this clone.
    pub fn bytes(&self, id: FileId, most: usize) -> Result<Option<Vec<u8>>, RepoError> {
        let objects = self.git.odb()?;
        // A header says the size; a small object may become gigabytes when it is read.
        if objects.read_header(id.0)?.0 > most {
            return Ok(None);
        }
        Ok(Some(objects.read(id.0)?.data().to_vec()))
    }
}

/// This many added or removed files are a move of everything. Finding renames would compare each with each.
const MOST_MOVED: usize = 200;
/// The maximum nesting of folders.
const DEEPEST: usize = 100;

/// The Python files that differ between two trees, by path.
fn changes(
    repository: &Repository,
    old: &Tree<'_>,
    new: &Tree<'_>,
    most: usize,
) -> Result<Vec<FileChange>, git2::Error> {
    let mut found = Vec::new();
    let mut walker = Walker { repository, found: &mut found };
    walker.folder(Some(old), Some(new), &mut String::new(), 0)?;
    let count = |wanted: &dyn Fn(&FileChange) -> bool| found.iter().filter(|change| wanted(change)).count();
    let (added, removed) = (count(&|change| change.old.is_none()), count(&|change| change.new.is_none()));
    if added > 0 && removed > 0 && added + removed <= MOST_MOVED {
        join_renamed(repository, old, new, most, &mut found)?;
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

struct Walker<'a> {
    repository: &'a Repository,
    found: &'a mut Vec<FileChange>,
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
                    self.found.push(FileChange { path: path.clone(), old, new });
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
fn file(entry: Option<&TreeEntry<'_>>) -> Option<FileId> {
    const LINK: i32 = 0o120_000;
    entry
        .filter(|entry| entry.kind() == Some(ObjectType::Blob) && entry.filemode() != LINK)
        .map(|entry| FileId(entry.id()))
}

/// Treats an added and a removed file as one renamed file if they are similar.
fn join_renamed(
    repository: &Repository,
    old: &Tree<'_>,
    new: &Tree<'_>,
    most: usize,
    found: &mut Vec<FileChange>,
) -> Result<(), git2::Error> {
    let objects = repository.odb()?;
    let mut these = DiffOptions::new();
    these.disable_pathspec_match(true);
    let mut any = false;
    for change in found.iter() {
        // Looking reads the files, and a small object may become gigabytes when it is read.
        if let (Some(id), None) | (None, Some(id)) = (change.old, change.new)
            && objects.read_header(id.0).is_ok_and(|(size, _)| size <= most)
        {
            these.pathspec(change.path.as_str());
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
        let both = found.iter().any(|change| change.path == was && change.new.is_none())
            && found.iter().any(|change| change.path == is && change.old.is_none());
        if both {
            found.retain(|change| change.path != was && change.path != is);
            let (old, new) = (FileId(delta.old_file().id()), FileId(delta.new_file().id()));
            if old != new {
                found.push(FileChange { path: is, old: Some(old), new: Some(new) });
            }
        }
    }
    Ok(())
}
