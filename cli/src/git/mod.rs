//! The Python files and notebooks that changed between two revisions, or between a revision and the index or the working tree.
//! Everything is only read; no checkout is touched.

mod errors;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use git2::{
    Delta, DiffDelta, DiffFile, DiffFindOptions, DiffOptions, ErrorCode, FileMode, Index, ObjectType, Repository, Tree,
};
use tempfile::TempDir;
use twincell_compare::Source;
use twincell_driver::decode::python_source;
use twincell_driver::files;
use twincell_driver::policy::{Base, is_trusted};
use twincell_project::{self as project, CopyError, Range, is_test};
use twincell_study::mine;
use twincell_syntax::PerSide;

pub use self::errors::GitError;
use self::errors::{Sides, no_revision, nowhere};

/// A file that both revisions have, with different text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path in the new revision, from the root of the repository.
    pub path: String,
    /// The path in the old revision.
    pub old_path: String,
    pub old: Source,
    pub new: Source,
}

/// The Python files and notebooks that differ, by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedFiles {
    pub modified: Vec<ChangedFile>,
    /// Only in the new revision.
    pub added: Vec<String>,
    /// Only in the old revision.
    pub removed: Vec<String>,
    /// In the working tree, and unknown to git.
    pub untracked: Vec<String>,
    /// Links and other repositories. They lead elsewhere than before.
    pub elsewhere: Vec<String>,
    /// Neither Python files nor notebooks.
    pub others: Vec<String>,
    /// (path, reason): files that cannot be compared as text.
    pub unreadable: Vec<(String, String)>,
}

impl ChangedFiles {
    /// Leaves out the tests that were modified beside code, and returns their paths.
    pub fn leave_out_tests(&mut self) -> Vec<String> {
        if self.modified.iter().all(|file| is_test(&file.path)) {
            return vec![];
        }
        self.modified.extract_if(.., |file| is_test(&file.path)).map(|file| file.path).collect()
    }
}

/// The maximum size of a notebook in bytes, with the outputs that nobody looks at.
const MOST_OF_NOTEBOOK: u64 = 64 << 20;

fn is_code(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "py") || files::is_notebook(path)
}

/// The new side of the comparison.
enum NewSide<'repository> {
    Revision(&'repository str, Tree<'repository>),
    /// The content of the next commit.
    Index(Index),
    /// The files in the working tree.
    Files,
}

/// The Python files and notebooks under `paths` that differ between the two revisions of `range`, which is `OLD..NEW`, or
/// `OLD...NEW` from the last commit that both have in common; an empty side is HEAD. Empty `paths` mean all, and relative
/// ones are seen from `start`. A range `OLD` is compared with the files in the working tree, or with the index if `staged`.
/// The repository is the one that holds `start`.
///
/// No file with more than `most` bytes is read, or [`MOST_OF_NOTEBOOK`] for a notebook.
pub fn changed_files(
    start: &Path,
    range: &str,
    staged: bool,
    paths: &[PathBuf],
    most: u64,
) -> Result<ChangedFiles, GitError> {
    let Range { old: old_name, from_base, .. } = parsed(range)?;
    let repository = discover(start)?;
    if is_first(&repository, old_name, staged)? {
        return Ok(ChangedFiles::default());
    }
    let old_name = if from_base { range } else { old_name };
    let (old, new) = sides(&repository, range, staged)?;
    let wanted = paths.iter().map(|path| inside(&repository, start, path)).collect::<Result<Vec<_>, _>>()?;
    for (path, given) in wanted.iter().zip(paths) {
        match new.entry(&repository, &old, path) {
            None => return Err(nowhere(&repository, &Sides { start, range, old: &old, new: &new }, path, given)),
            Some(Entry::File) if !is_code(path) && !is_trusted(path) => {
                return Err(GitError::NoPython(given.display().to_string()));
            }
            Some(_) => {}
        }
    }

    let compare = |options: &mut DiffOptions| match &new {
        NewSide::Revision(_, tree) => repository.diff_tree_to_tree(Some(&old), Some(tree), Some(options)),
        NewSide::Index(index) => repository.diff_tree_to_index(Some(&old), Some(index), Some(options)),
        NewSide::Files => repository.diff_tree_to_workdir_with_index(Some(&old), Some(options)),
    };
    let objects = repository.odb()?;
    let limit = |path: &Path| if files::is_notebook(path) { most.max(MOST_OF_NOTEBOOK) } else { most };
    // A file of the working tree has no object. A header says the size of one; a small object may become gigabytes when
    // it is read.
    let is_small = |file: &DiffFile<'_>| {
        let most = file.path().map_or(most, limit);
        objects.read_header(file.id()).map_or(file.size(), |(size, _)| size as u64) <= most
    };
    // Looking for renamed files reads those that were added or removed.
    let may_be_renamed = |delta: &DiffDelta<'_>| match delta.status() {
        Delta::Added => delta.new_file().path().is_some_and(is_code) && is_small(&delta.new_file()),
        Delta::Deleted => is_small(&delta.old_file()),
        _ => false,
    };
    let mut all = DiffOptions::new();
    all.max_size(i64::try_from(most).unwrap_or(i64::MAX));
    if matches!(new, NewSide::Files) {
        all.include_untracked(true).recurse_untracked_dirs(true);
    }
    let diff = compare(&mut all)?;
    let mut these = DiffOptions::new();
    these.disable_pathspec_match(true);
    let mut added = false;
    for delta in diff.deltas().filter(may_be_renamed) {
        added |= delta.status() == Delta::Added;
        these.pathspec(delta.new_file().path_bytes().unwrap_or_default());
    }
    let mut renamed = None;
    if added {
        let renamed = renamed.insert(compare(&mut these)?);
        renamed.find_similar(Some(DiffFindOptions::new().renames(true)))?;
    }
    let others = diff.deltas().filter(|delta| !(added && may_be_renamed(delta)));

    let too_large = |label: &str, path: &Path| {
        format!("{label} has more than {} MiB: raise --max-source to compare it", limit(path) >> 20)
    };
    let mut files = ChangedFiles::default();
    for delta in others.chain(renamed.iter().flat_map(git2::Diff::deltas)) {
        let (Some(old_path), Some(new_path)) = (delta.old_file().path(), delta.new_file().path()) else { continue };
        let is_wanted = |path: &Path| wanted.is_empty() || wanted.iter().any(|folder| path.starts_with(folder));
        // A link holds a name and no code, and another repository is not in this one.
        let is_other = |file: &DiffFile<'_>| matches!(file.mode(), FileMode::Link | FileMode::Commit);
        if !(is_wanted(old_path) || is_wanted(new_path)) {
            continue;
        }
        let path = new_path.to_string_lossy().into_owned();
        if [delta.old_file(), delta.new_file()].iter().any(is_other) {
            files.elsewhere.extend((delta.status() != Delta::Untracked).then_some(path));
            continue;
        }
        if !is_code(new_path) {
            files.others.extend((delta.status() != Delta::Untracked).then_some(path));
            continue;
        }
        let old_path = old_path.to_string_lossy().into_owned();
        match delta.status() {
            Delta::Added => files.added.push(path),
            Delta::Deleted => files.removed.push(path),
            Delta::Untracked => files.untracked.push(path),
            Delta::Modified | Delta::Renamed => {
                let of_blob = |id, path: &Path, revision: &str| -> Result<Source, String> {
                    let label = format!("{} at {revision}", path.display());
                    let of = |error: git2::Error| error.message().to_owned();
                    if objects.read_header(id).map_err(of)?.0 as u64 > limit(path) {
                        return Err(too_large(&label, path));
                    }
                    source(repository.find_blob(id).map_err(of)?.content(), path, label)
                };
                let old = of_blob(delta.old_file().id(), Path::new(&old_path), old_name);
                let new = match &new {
                    NewSide::Revision(name, _) => of_blob(delta.new_file().id(), new_path, name),
                    NewSide::Index(_) => of_blob(delta.new_file().id(), new_path, "what is staged"),
                    NewSide::Files => match size_of(&repository, new_path) {
                        Some(size) if size > limit(new_path) => {
                            Err(too_large(&new_path.display().to_string(), new_path))
                        }
                        _ => of_file(&repository, new_path),
                    },
                };
                match (old, new) {
                    (Ok(old), Ok(new)) if old.text == new.text => {}
                    (Ok(old), Ok(new)) => files.modified.push(ChangedFile { path, old_path, old, new }),
                    (Err(reason), _) | (_, Err(reason)) => files.unreadable.push((path, reason)),
                }
            }
            _ => {}
        }
    }
    files.modified.sort_by(|a, b| a.path.cmp(&b.path));
    files.unreadable.sort();
    files.added.sort();
    files.removed.sort();
    files.untracked.sort();
    files.elsewhere.sort();
    files.others.sort();
    Ok(files)
}

/// Whether the next commit is the first one. Everything in it is new, which must not stop it.
fn is_first(repository: &Repository, old: &str, staged: bool) -> Result<bool, GitError> {
    let is_unborn = || repository.head().is_err_and(|error| error.code() == ErrorCode::UnbornBranch);
    match old == "HEAD" && is_unborn() {
        true if staged => Ok(true),
        true => Err(GitError::NoCommit(repository.workdir().unwrap_or(repository.path()).display().to_string())),
        false => Ok(false),
    }
}

/// What is trusted of the old version, and what of it is not the same in the new one. `named` is the policy that a user names.
pub fn trusted(start: &Path, range: &str, staged: bool, named: Option<&Path>) -> Result<Base, GitError> {
    let Range { old: name, from_base, .. } = parsed(range)?;
    let repository = discover(start)?;
    if is_first(&repository, name, staged)? {
        return Ok(Base::nothing());
    }
    let (old, new) = sides(&repository, range, staged)?;
    let name = if from_base { format!("base of {range}") } else { name.to_owned() };
    Ok(Base::of(&repository, start, (&old, &name), &new.version(), named)?)
}

fn discover(start: &Path) -> Result<Repository, GitError> {
    let repository = project::discover(start).map_err(|error| match error.code() {
        ErrorCode::NotFound => GitError::NoRepository(start.display().to_string()),
        _ => GitError::from(error),
    })?;
    // Its configuration may be a stranger's, and files are read from this folder.
    if let Some(work_tree) = repository.workdir()
        && !project::is_inside(start, work_tree)
    {
        let (work_tree, start) = (work_tree.display().to_string(), start.display().to_string());
        return Err(GitError::Elsewhere { work_tree, start });
    }
    Ok(repository)
}

/// Both sides of a range.
fn sides<'repository>(
    repository: &'repository Repository,
    range: &'repository str,
    staged: bool,
) -> Result<(Tree<'repository>, NewSide<'repository>), GitError> {
    let Range { old, new, from_base } = parsed(range)?;
    let (before, after) = match new {
        Some(_) if staged => return Err(GitError::Staged(range.to_owned())),
        Some(new) if from_base => (base_of(repository, old, new)?, NewSide::Revision(new, tree(repository, new)?)),
        Some(new) => (tree(repository, old)?, NewSide::Revision(new, tree(repository, new)?)),
        None if staged => (tree(repository, old)?, NewSide::Index(staged_index(repository)?)),
        None => (tree(repository, old)?, NewSide::Files),
    };
    Ok((before, after))
}

/// The content of the next commit.
fn staged_index(repository: &Repository) -> Result<Index, GitError> {
    // While `git commit` runs hooks, the index may be in another file than usual.
    match std::env::var_os("GIT_INDEX_FILE") {
        Some(path) => Ok(Index::open(Path::new(&path))?),
        None => Ok(repository.index()?),
    }
}

/// Copies of both versions of a repository, for code that imports its other modules. They go with this value.
pub struct Copies {
    _folder: TempDir,
    folders: PerSide<PathBuf>,
}

impl Copies {
    /// Copies both sides of a range into a folder where workers may read.
    pub fn new(start: &Path, range: &str, staged: bool, projects: &Path) -> Result<Copies, GitError> {
        let repository = discover(start)?;
        let (old, new) = sides(&repository, range, staged)?;
        let folder = twincell_files::private::temporary_in("git-", projects).map_err(CopyError::from)?;
        let folders = PerSide::new("old", "new").map(|side| folder.path().join(side));
        project::copy(&repository, &project::Version::Tree(&old), &folders.old)?;
        project::copy(&repository, &new.version(), &folders.new)?;
        Ok(Copies { _folder: folder, folders })
    }

    /// Says where the modules of a file lie.
    pub fn place(&self, file: &mut ChangedFile) {
        let place = |folder: &Path, path: &str| folder.join(path).is_file().then(|| project::place(folder, path));
        file.old.place = place(&self.folders.old, &file.old_path);
        file.new.place = place(&self.folders.new, &file.path);
    }
}

/// The folder that the paths of a repository's files start from, if it has a work tree.
pub fn work_tree(start: &Path) -> Option<PathBuf> {
    let repository = project::discover(start).ok()?;
    repository.workdir().map(Path::to_owned)
}

fn source(bytes: &[u8], path: &Path, label: String) -> Result<Source, String> {
    let is_notebook = files::is_notebook(path);
    let text = match is_notebook {
        true => String::from_utf8(bytes.to_vec()).map_err(|_| "is not a notebook: it is not UTF-8".to_owned()),
        false => python_source(bytes),
    };
    match text {
        Ok(text) => Ok(Source { text, label, is_notebook, ..Source::default() }),
        Err(reason) => Err(format!("{label} {reason}")),
    }
}

fn size_of(repository: &Repository, path: &Path) -> Option<u64> {
    let full = repository.workdir().unwrap_or(repository.path()).join(path);
    std::fs::symlink_metadata(full).ok().map(|about| about.len())
}

fn of_file(repository: &Repository, path: &Path) -> Result<Source, String> {
    let root = repository.workdir().unwrap_or(repository.path());
    let failed = |reason: String| format!("cannot read {}: {reason}", root.join(path).display());
    // A link may be a stranger's and lead anywhere.
    let bytes = twincell_files::inside::read(root, path, u64::MAX).map_err(|error| failed(files::reason(&error)))?;
    let bytes = bytes.ok_or_else(|| failed("it is no file".to_owned()))?;
    source(&bytes, path, path.display().to_string())
}

fn parsed(range: &str) -> Result<Range<'_>, GitError> {
    Range::parse(range).ok_or_else(|| GitError::Range(range.to_owned()))
}

/// The tree of the last commit that two revisions have in common.
fn base_of<'repository>(
    repository: &'repository Repository,
    old: &str,
    new: &str,
) -> Result<Tree<'repository>, GitError> {
    let commit = |name: &str| {
        mine::object(repository, name)
            .and_then(|object| object.peel_to_commit().map_err(|error| error.message().to_owned()))
            .map_err(|reason| no_revision(repository, name, reason))
    };
    let none = || GitError::NoBase { old: old.to_owned(), new: new.to_owned() };
    Ok(project::base(repository, &commit(old)?, &commit(new)?).ok_or_else(none)?.tree()?)
}

fn tree<'repository>(repository: &'repository Repository, revision: &str) -> Result<Tree<'repository>, GitError> {
    mine::object(repository, revision)
        .and_then(|object| object.peel_to_tree().map_err(|error| error.message().to_owned()))
        .map_err(|reason| no_revision(repository, revision, reason))
}

/// What is under a path.
#[derive(Clone, Copy, PartialEq)]
enum Entry {
    Folder,
    File,
}

fn entry_of(tree: &Tree<'_>, path: &Path) -> Option<Entry> {
    let found = tree.get_path(path).ok()?;
    Some(if found.kind() == Some(ObjectType::Tree) { Entry::Folder } else { Entry::File })
}

fn entry_in_index(index: &Index, path: &Path) -> Option<Entry> {
    let mut entries = index.iter().map(|entry| PathBuf::from(OsString::from_vec(entry.path)));
    let found = entries.find(|entry| entry.starts_with(path))?;
    Some(if found == path { Entry::File } else { Entry::Folder })
}

impl NewSide<'_> {
    fn version(&self) -> project::Version<'_> {
        match self {
            NewSide::Revision(_, tree) => project::Version::Tree(tree),
            NewSide::Index(index) => project::Version::Index(index),
            NewSide::Files => project::Version::Files,
        }
    }

    /// What either side has under a path.
    fn entry(&self, repository: &Repository, old: &Tree<'_>, path: &Path) -> Option<Entry> {
        if path.as_os_str().is_empty() {
            return Some(Entry::Folder);
        }
        let new = match self {
            NewSide::Revision(_, tree) => entry_of(tree, path),
            NewSide::Index(index) => entry_in_index(index, path),
            NewSide::Files => {
                let found = repository.workdir().and_then(|root| root.join(path).metadata().ok());
                found.map(|found| if found.is_dir() { Entry::Folder } else { Entry::File })
            }
        };
        let old = entry_of(old, path);
        if new == Some(Entry::Folder) { new } else { old.or(new) }
    }
}

/// A path as the repository's trees name it. It need not exist in the checkout.
fn inside(repository: &Repository, start: &Path, path: &Path) -> Result<PathBuf, GitError> {
    let outside = || GitError::Outside(path.display().to_string());
    let Some(root) = repository.workdir() else { return Ok(plain(path)) };
    let root = root.canonicalize().map_err(|_| outside())?;
    let start = start.canonicalize().map_err(|_| outside())?;
    plain(&start.join(path)).strip_prefix(&root).map(Path::to_owned).map_err(|_| outside())
}

/// Without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u64 = 2 << 20;
    use git2::Signature;
    use std::fs;

    /// A repository with one commit for each list of (path, content); an empty content deletes the file.
    fn repository(commits: &[&[(&str, &[u8])]]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init(folder.path()).unwrap();
        let author = Signature::now("A", "a@example.org").unwrap();
        for files in commits {
            let mut index = repository.index().unwrap();
            for (path, content) in *files {
                let full = folder.path().join(path);
                if content.is_empty() {
                    fs::remove_file(full).unwrap();
                    index.remove_path(Path::new(path)).unwrap();
                } else {
                    fs::create_dir_all(full.parent().unwrap()).unwrap();
                    fs::write(full, content).unwrap();
                    index.add_path(Path::new(path)).unwrap();
                }
            }
            index.write().unwrap();
            let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
            let parent = repository.head().ok().map(|head| head.peel_to_commit().unwrap());
            let parents: Vec<_> = parent.iter().collect();
            repository.commit(Some("HEAD"), &author, &author, "a commit", &tree, &parents).unwrap();
        }
        folder
    }

    fn paths(files: &ChangedFiles) -> Vec<&str> {
        files.modified.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn a_modified_file_comes_with_both_texts() {
        let folder = repository(&[&[("a.py", b"x = 1\n"), ("b.txt", b"b")], &[("a.py", b"x = 2\n"), ("b.txt", b"c")]]);
        let files = changed_files(folder.path(), "HEAD~1..HEAD", false, &[], MOST).unwrap();
        assert_eq!(paths(&files), ["a.py"]);
        assert_eq!((files.modified[0].old.text.as_str(), files.modified[0].new.text.as_str()), ("x = 1\n", "x = 2\n"));
        assert_eq!(files.modified[0].old.label, "a.py at HEAD~1");
    }

    #[test]
    fn files_in_only_one_revision_are_listed_apart() {
        let folder = repository(&[&[("gone.py", b"x = 1\n")], &[("gone.py", b""), ("fresh.py", b"print('else')\n")]]);
        let files = changed_files(folder.path(), "HEAD~1..", false, &[], MOST).unwrap();
        assert_eq!((files.added, files.removed), (vec!["fresh.py".to_owned()], vec!["gone.py".to_owned()]));
        assert!(files.modified.is_empty());
    }

    #[test]
    fn a_renamed_file_is_compared_with_what_it_was() {
        let body = "def f():\n    return 1\n".repeat(20);
        let changed = format!("{body}x = 1\n");
        let folder = repository(&[
            &[("old_name.py", body.as_bytes())],
            &[("old_name.py", b""), ("new_name.py", changed.as_bytes())],
        ]);
        let files = changed_files(folder.path(), "HEAD~1..HEAD", false, &[], MOST).unwrap();
        assert_eq!(paths(&files), ["new_name.py"]);
        assert_eq!(files.modified[0].old.label, "old_name.py at HEAD~1");
    }

    #[test]
    fn paths_are_seen_from_where_the_user_stands() {
        let folder = repository(&[
            &[("src/a.py", b"1\n"), ("src/deep/b.py", b"1\n"), ("srcs.py", b"1\n")],
            &[("src/a.py", b"2\n"), ("src/deep/b.py", b"2\n"), ("srcs.py", b"2\n")],
        ]);
        let changed = |start: &str, path: &str| {
            let files = changed_files(&folder.path().join(start), "HEAD~1..HEAD", false, &[path.into()], MOST).unwrap();
            paths(&files).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(changed("", "src"), ["src/a.py", "src/deep/b.py"]);
        assert_eq!(changed("src", "a.py"), ["src/a.py"]);
        assert_eq!(changed("src/deep", "../../srcs.py"), ["srcs.py"]);
        assert_eq!(changed("src/deep", "."), ["src/deep/b.py"]);
        let outside = changed_files(folder.path(), "HEAD~1..HEAD", false, &["../elsewhere".into()], MOST).unwrap_err();
        assert_eq!(outside.to_string(), "../elsewhere is outside the repository");
        let nowhere =
            changed_files(folder.path(), "HEAD~1..HEAD", false, &["src/aa.py".into()], MOST).unwrap_err().to_string();
        assert!(nowhere.starts_with("src/aa.py is in neither version of HEAD~1..HEAD: "), "{nowhere}");
        assert_eq!(changed("", "."), ["src/a.py", "src/deep/b.py", "srcs.py"]);
    }

    #[test]
    fn a_file_that_is_not_python_is_no_selection() {
        let folder = repository(&[&[("a.py", b"x = 1\n"), ("b.txt", b"b")], &[("a.py", b"x = 2\n")]]);
        let error = changed_files(folder.path(), "HEAD~1..HEAD", false, &["b.txt".into()], MOST).unwrap_err();
        assert_eq!(
            error.to_string(),
            "b.txt is neither a Python file nor a notebook: give files that end in .py or .ipynb, or folders"
        );
    }

    #[test]
    fn the_checkout_is_neither_read_nor_touched() {
        let folder = repository(&[&[("a.py", b"x = 1\n")], &[("a.py", b"x = 2\n")]]);
        fs::write(folder.path().join("a.py"), "x = 3\n").unwrap();
        let files = changed_files(folder.path(), "HEAD~1..HEAD", false, &[], MOST).unwrap();
        assert_eq!(files.modified[0].new.text, "x = 2\n");
        assert_eq!(fs::read_to_string(folder.path().join("a.py")).unwrap(), "x = 3\n");
    }

    #[test]
    fn a_revision_is_compared_with_the_files_and_with_what_is_staged() {
        let folder = repository(&[&[("a.py", b"x = 1\n"), ("b.py", b"y = 1\n")]]);
        fs::write(folder.path().join("a.py"), "x = 2\n").unwrap();
        let repository = Repository::open(folder.path()).unwrap();
        let mut index = repository.index().unwrap();
        index.add_path(Path::new("a.py")).unwrap();
        index.write().unwrap();
        fs::write(folder.path().join("a.py"), "x = 3\n").unwrap();
        fs::write(folder.path().join("b.py"), "y = 3\n").unwrap();
        fs::write(folder.path().join("untracked.py"), "z = 3\n").unwrap();
        let texts = |staged: bool, paths: &[PathBuf]| {
            let files = changed_files(folder.path(), "HEAD", staged, paths, MOST).unwrap();
            files.modified.into_iter().map(|file| (file.new.label, file.new.text)).collect::<Vec<_>>()
        };
        let expected = [("a.py", "x = 3\n"), ("b.py", "y = 3\n")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(texts(false, &[]), expected);
        assert_eq!(texts(true, &[]), [("a.py at what is staged".to_owned(), "x = 2\n".to_owned())]);
        assert_eq!(texts(false, &["b.py".into()]), expected[1..]);
        let untracked = |staged| changed_files(folder.path(), "HEAD", staged, &[], MOST).unwrap().untracked;
        assert_eq!((untracked(false), untracked(true)), (vec!["untracked.py".to_owned()], vec![]));
    }

    #[test]
    fn before_the_first_commit_there_is_nothing_to_compare() {
        let folder = repository(&[]);
        Repository::init(folder.path()).unwrap();
        assert_eq!(changed_files(folder.path(), "HEAD", true, &[], MOST).unwrap(), ChangedFiles::default());
        for range in ["HEAD", "HEAD..HEAD"] {
            let error = changed_files(folder.path(), range, false, &[], MOST).unwrap_err().to_string();
            assert!(error.contains(" has no commit yet"), "{range}: {error}");
        }
    }

    #[test]
    fn other_files_that_changed_are_known() {
        let folder = repository(&[&[("a.py", b"x = 1\n"), ("b.csv", b"1"), ("c.csv", b"1")], &[("b.csv", b"2")]]);
        fs::write(folder.path().join("d.csv"), "1").unwrap();
        let files = changed_files(folder.path(), "HEAD~1", false, &[], MOST).unwrap();
        assert_eq!(files, ChangedFiles { others: vec!["b.csv".to_owned()], ..ChangedFiles::default() });
    }

    #[test]
    fn text_that_is_not_utf8_is_reported_and_the_rest_goes_on() {
        let folder = repository(&[
            &[("a.py", b"x = 1\n"), ("b.py", b"# \xe9\n")],
            &[("a.py", b"x = 2\n"), ("b.py", b"# \xe9\nx = 1\n")],
        ]);
        let files = changed_files(folder.path(), "HEAD~1..HEAD", false, &[], MOST).unwrap();
        assert_eq!(paths(&files), ["a.py"]);
        let [(path, reason)] = files.unreadable.as_slice() else { panic!("{:?}", files.unreadable) };
        assert_eq!(path, "b.py");
        assert!(reason.starts_with("b.py at HEAD~1 is not UTF-8: byte 0xe9 in line 1, column 3"), "{reason}");
    }

    #[test]
    fn links_are_no_code() {
        let folder = repository(&[&[("a.py", b"x = 1\n")]]);
        let repository = Repository::open(folder.path()).unwrap();
        let author = Signature::now("A", "a@example.org").unwrap();
        for target in ["a.py", "b.py"] {
            let mut index = repository.index().unwrap();
            let _ = fs::remove_file(folder.path().join("link.py"));
            std::os::unix::fs::symlink(target, folder.path().join("link.py")).unwrap();
            index.add_path(Path::new("link.py")).unwrap();
            let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
            let parent = repository.head().unwrap().peel_to_commit().unwrap();
            repository.commit(Some("HEAD"), &author, &author, "a link", &tree, &[&parent]).unwrap();
        }
        assert_eq!(changed_files(folder.path(), "HEAD~1..HEAD", false, &[], MOST).unwrap(), ChangedFiles::default());
    }

    #[test]
    fn a_configuration_does_not_choose_another_work_tree() {
        let folder = repository(&[&[("a.py", b"x = 1\n")]]);
        let other = tempfile::tempdir().unwrap();
        fs::write(other.path().join("a.py"), "x = 2\n").unwrap();
        let set = |path: &Path| {
            let mut config = Repository::open(folder.path()).unwrap().config().unwrap();
            config.set_str("core.worktree", path.to_str().unwrap()).unwrap();
        };
        set(other.path());
        let projects = tempfile::tempdir().unwrap();
        for error in [
            changed_files(folder.path(), "HEAD", false, &[], MOST).unwrap_err(),
            Copies::new(folder.path(), "HEAD", false, projects.path()).err().unwrap(),
        ] {
            assert!(error.to_string().contains("remove this setting"), "{error}");
        }
        set(folder.path());
        assert_eq!(changed_files(folder.path(), "HEAD", false, &[], MOST).unwrap(), ChangedFiles::default());
    }

    #[test]
    fn a_revision_that_goes_back_too_far_says_how_far_one_can() {
        let folder = repository(&[&[("a.py", b"x = 1\n")], &[("a.py", b"x = 2\n")], &[("a.py", b"x = 3\n")]]);
        let error = |range: &str| changed_files(folder.path(), range, false, &[], MOST).unwrap_err().to_string();
        for (range, expected) in [
            (
                "HEAD~50..HEAD",
                "HEAD~50 is not a revision of this repository: 2 commits are before HEAD, the first one is HEAD~2",
            ),
            (
                "HEAD~50...HEAD",
                "HEAD~50 is not a revision of this repository: 2 commits are before HEAD, the first one is HEAD~2",
            ),
            (
                "HEAD..HEAD^^^",
                "HEAD^^^ is not a revision of this repository: 2 commits are before HEAD, the first one is HEAD~2",
            ),
        ] {
            assert_eq!(error(range), expected);
        }
        assert!(error("HEAD^2..HEAD").starts_with("HEAD^2 is not a revision of this repository: "));
        assert!(error("nowhere~3").starts_with("nowhere~3 is not a revision of this repository: "));
        assert_eq!(errors::ancestors("v1", 0, false), "no commit is before v1");
        assert!(
            errors::ancestors("v1", 1, true)
                .ends_with("v1~1; `git fetch --unshallow` gets those that this clone lacks")
        );
    }

    #[test]
    fn a_path_that_is_nowhere_says_what_may_be_meant() {
        let folder = repository(&[
            &[("lending/loans.py", b"x = 1\n"), ("tests/deep/test_loans.py", b"x = 1\n")],
            &[("lending/loans.py", b"x = 2\n")],
        ]);
        fs::write(folder.path().join("fresh.py"), "x = 1\n").unwrap();
        let error = |start: &str, range: &str, staged: bool, path: &str| {
            let start = folder.path().join(start);
            changed_files(&start, range, staged, &[path.into()], MOST).unwrap_err().to_string()
        };
        let said = error("", "HEAD~1", false, "HEAD");
        assert_eq!(
            said,
            "HEAD is a revision, and no file or folder of the repository: did you mean --git HEAD~1..HEAD?"
        );
        for (range, staged) in [("HEAD~1..HEAD", false), ("HEAD~1", true)] {
            let said = error("", range, staged, "HEAD");
            assert!(said.starts_with(&format!("HEAD is in neither version of {range}: give a file")), "{said}");
        }
        for (start, path, meant) in [
            ("tests", "lending/loans.py", "../lending/loans.py"),
            ("tests/deep", "./tests/deep/test_loans.py", "test_loans.py"),
            ("tests/deep", "lending", "../../lending"),
        ] {
            let said = error(start, "HEAD~1..HEAD", false, path);
            assert!(said.ends_with(&format!(", as seen from here: did you mean {meant}?")), "{said}");
        }
        for (range, staged) in [("HEAD~1..HEAD", false), ("HEAD", true)] {
            let said = error("", range, staged, "fresh.py");
            assert!(
                said.starts_with(&format!("fresh.py is in neither version of {range}, since git does not")),
                "{said}"
            );
        }
    }

    #[test]
    fn errors_say_what_to_write() {
        let folder = repository(&[&[("a.py", b"x = 1\n")]]);
        let error = |range: &str| changed_files(folder.path(), range, false, &[], MOST).unwrap_err().to_string();
        for range in ["", "..", "...", "A..B..C"] {
            assert!(error(range).contains("write OLD..NEW"), "{range}");
        }
        let staged = changed_files(folder.path(), "HEAD..HEAD", true, &[], MOST).unwrap_err().to_string();
        assert!(staged.contains("write OLD alone"), "{staged}");
        assert!(error("nowhere..HEAD").starts_with("nowhere is not a revision of this repository: "));
        let nothing = tempfile::tempdir().unwrap();
        assert!(
            changed_files(nothing.path(), "A..B", false, &[], MOST)
                .unwrap_err()
                .to_string()
                .contains("no git repository")
        );
    }
}
