//! The Python files and notebooks that changed between two revisions, or between a revision and the index or the working tree.
//! Everything is only read; no checkout is touched.

mod added;
mod errors;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;
use twincell_compare::Source;
use twincell_driver::decode::python_source;
use twincell_driver::files;
use twincell_driver::policy::{Base, is_trusted};
use twincell_repo::{Content, CopyError, DifferenceKind, Entry, ModulePath, Range, Repo, Revision, Snapshot};
use twincell_semantic::{FolderFiles, Project, ProjectModule, SnapshotFiles, Store};
use twincell_syntax::{PerSide, Replacing, Side};
use twincell_testing::is_test;

pub use self::errors::GitError;
use self::errors::nowhere;

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
    /// What new ones say that may replace functions of others.
    pub replacing: Vec<(String, Replacing, usize)>,
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

/// Both versions of a range, in their repository.
struct Versions {
    repo: Repo,
    revisions: PerSide<Revision>,
}

impl Versions {
    /// `None` if the next commit is the first one. Everything in it is new, which must not stop it.
    fn of(start: &Path, range: &str, staged: bool) -> Result<Option<Self>, GitError> {
        let parsed = Range::parse(range).ok_or_else(|| GitError::Range(range.to_owned()))?;
        let repo = Repo::with_files_around(start)?;
        match repo.check_commit() {
            Err(_) if staged && parsed.old == "HEAD" => return Ok(None),
            Err(error) if parsed.old == "HEAD" => return Err(error.into()),
            _ => {}
        }
        if staged && parsed.new.is_some() {
            return Err(GitError::Staged(range.to_owned()));
        }
        let (old, new) = parsed.revisions(staged);
        Ok(Some(Self { repo, revisions: PerSide { old, new } }))
    }

    fn snapshots(&self) -> Result<PerSide<Snapshot<'_>>, GitError> {
        Ok(PerSide::try_of(|side| self.repo.snapshot(&self.revisions[side]))?)
    }
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
    let Some(versions) = Versions::of(start, range, staged)? else { return Ok(ChangedFiles::default()) };
    let (repo, sides) = (&versions.repo, versions.snapshots()?);
    let wanted = paths.iter().map(|path| repo.inside(start, path)).collect::<Result<Vec<_>, _>>()?;
    for (path, given) in wanted.iter().zip(paths) {
        match entry(&sides, path) {
            None => return Err(nowhere(&versions, start, range, path, given)),
            Some(Entry::File) if !is_code(path) && !is_trusted(path) => {
                return Err(GitError::NoPython(given.display().to_string()));
            }
            Some(_) => {}
        }
    }
    let limit = |path: &Path| if files::is_notebook(path) { most.max(MOST_OF_NOTEBOOK) } else { most };
    let label = |side: Side, path: &Path| match &versions.revisions[side] {
        Revision::Base { .. } => format!("{} at {range}", path.display()),
        Revision::Staged => format!("{} at what is staged", path.display()),
        Revision::Files => path.display().to_string(),
        revision => format!("{} at {}", path.display(), revision.name()),
    };
    let read = |side: Side, path: &Path| {
        let label = label(side, path);
        match sides[side].content(path, limit(path)).map_err(|error| error.to_string())? {
            Content::File(bytes) => source(&bytes, path, label),
            Content::TooLarge => {
                Err(format!("{label} has more than {} MiB: raise --max-source to compare it", limit(path) >> 20))
            }
            Content::Absent | Content::NoFile => Err(format!("cannot read {label}: it is no file that one can read")),
        }
    };
    let is_wanted = |path: &Path| wanted.is_empty() || wanted.iter().any(|folder| path.starts_with(folder));
    let mut files = ChangedFiles::default();
    for difference in sides.old.differences(&sides.new, &limit, &is_code)? {
        if !is_wanted(&difference.old_path) && !is_wanted(&difference.path) {
            continue;
        }
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let (path, old_path) = (shown(&difference.path), shown(&difference.old_path));
        let is_known = difference.kind != DifferenceKind::Untracked;
        match difference.kind {
            _ if difference.leads_elsewhere => files.elsewhere.extend(is_known.then_some(path)),
            _ if !is_code(&difference.path) => files.others.extend(is_known.then_some(path)),
            DifferenceKind::Added => files.added.push(path),
            DifferenceKind::Removed => files.removed.push(path),
            DifferenceKind::Untracked => files.untracked.push(path),
            DifferenceKind::Modified => {
                match (read(Side::Old, &difference.old_path), read(Side::New, &difference.path)) {
                    (Ok(old), Ok(new)) if old.text == new.text => {}
                    (Ok(old), Ok(new)) => files.modified.push(ChangedFile { path, old_path, old, new }),
                    (Err(reason), _) | (_, Err(reason)) => files.unreadable.push((path, reason)),
                }
            }
        }
    }
    files.modified.sort_by(|a, b| a.path.cmp(&b.path));
    for paths in [&mut files.added, &mut files.removed, &mut files.untracked, &mut files.elsewhere, &mut files.others] {
        paths.sort();
    }
    let found = added::look_at(&files.added, &files.modified, |path| read(Side::New, Path::new(path)));
    files.replacing = found.replacing;
    files.unreadable.extend(found.unreadable);
    files.unreadable.sort();
    Ok(files)
}

/// What is trusted of the old version, and what of it is not the same in the new one. `named` is the policy that a user names.
pub fn trusted(start: &Path, range: &str, staged: bool, named: Option<&Path>) -> Result<Base, GitError> {
    let Some(versions) = Versions::of(start, range, staged)? else { return Ok(Base::nothing()) };
    let sides = versions.snapshots()?;
    let name = match &versions.revisions.old {
        Revision::Base { .. } => format!("base of {range}"),
        revision => revision.name().to_owned(),
    };
    Ok(Base::of(&versions.repo, start, (&sides.old, &name), &sides.new, named)?)
}

/// Copies of both versions of a repository, for code that imports its other modules. They go with this value.
pub struct Copies {
    _folder: TempDir,
    folders: PerSide<PathBuf>,
    projects: PerSide<Arc<Project>>,
}

impl Copies {
    /// Copies both sides of a range into a folder where workers may read. `None` before the first commit.
    pub fn new(start: &Path, range: &str, staged: bool, projects: &Path) -> Result<Option<Copies>, GitError> {
        let Some(versions) = Versions::of(start, range, staged)? else { return Ok(None) };
        let sides = versions.snapshots()?;
        let folder = twincell_files::private::temporary_in("git-", projects).map_err(CopyError::from)?;
        let folders = PerSide::new("old", "new").map(|side| folder.path().join(side));
        for side in Side::BOTH {
            sides[side].copy(&folders[side])?;
        }
        let (store, repo) = (Store::new(), Arc::new(Mutex::new(Repo::with_files_around(start)?)));
        let projects = PerSide::try_of(|side| match &versions.revisions[side] {
            // Git has no objects of these, and their copy stays as it is.
            Revision::Files => Ok(Arc::new(Project::open(FolderFiles::of(&folders[side]), &store))),
            revision => SnapshotFiles::of(&repo, revision).map(|files| Arc::new(Project::open(files, &store))),
        })?;
        Ok(Some(Copies { _folder: folder, folders, projects }))
    }

    /// Says where the modules of a file lie.
    pub fn place(&self, file: &mut ChangedFile) {
        let place = |side: Side, path: &str| {
            let folder = &self.folders[side];
            let module = || ProjectModule::new(ModulePath::of(folder, path), self.projects[side].clone());
            folder.join(path).is_file().then(module)
        };
        file.old.place = place(Side::Old, &file.old_path);
        file.new.place = place(Side::New, &file.path);
    }
}

/// The folder that the paths of a repository's files start from, if it has a work tree.
pub fn work_tree(start: &Path) -> Option<PathBuf> {
    Repo::around(start).ok()?.root().map(Path::to_owned)
}

/// What either version has under a path.
fn entry(sides: &PerSide<Snapshot<'_>>, path: &Path) -> Option<Entry> {
    let PerSide { old, new } = sides.as_ref().map(|side| side.entry(path));
    if new == Some(Entry::Folder) { new } else { old.or(new) }
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

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u64 = 2 << 20;
    use git2::{Repository, Signature};
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
    fn a_new_file_that_runs_by_itself_and_is_not_utf8_is_reported() {
        let folder = repository(&[
            &[("a.py", b"x = 1\n")],
            &[("a.py", b"x = 2\n"), ("conftest.py", b"# \xe9\n"), ("b.py", b"# \xe9\n")],
        ]);
        let files = changed_files(folder.path(), "HEAD~1..HEAD", false, &[], MOST).unwrap();
        let [(path, reason)] = files.unreadable.as_slice() else { panic!("{:?}", files.unreadable) };
        assert_eq!(path, "conftest.py");
        assert!(reason.starts_with("conftest.py at HEAD is not UTF-8"), "{reason}");
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
        let files = changed_files(folder.path(), "HEAD~1..HEAD", false, &[], MOST).unwrap();
        assert_eq!(files, ChangedFiles { elsewhere: vec!["link.py".to_owned()], ..ChangedFiles::default() });
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
