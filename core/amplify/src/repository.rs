//! A change of a repository: both versions in checkouts of ours, what differs between them, and pytest in each.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;

use twincell_repo::{Cache, Checkout, ModulePath, RepoError, Revision, checkout, is_inside};
use twincell_syntax::parse::{Lines, errors, normalize_newlines, parse, with_stack_for};
use twincell_syntax::{PerSide, Side, SourceError};
use twincell_testing::{
    CollectionError, Environment, Kept, Session, Store, SuiteReport, TestError, TestKind, TestLimits, is_test,
};

use crate::change::ChangedText;
use crate::flow::Change;
use crate::result::Reach;
use crate::steering::{self, Steering, steers};

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Both versions of a repository, each with a process of pytest that has collected the tests.
pub struct Opened {
    pub change: Change,
    /// Changed Python files that cannot be read.
    pub unread: Vec<Reach>,
    /// The user's own checkout, absolute.
    pub work_tree: PathBuf,
    /// What runs the tests.
    pub environment: Environment,
    /// Where the files of the versions lie.
    pub roots: PerSide<PathBuf>,
    pub old: Kept,
    pub new: Kept,
}

/// Checks both versions out and starts pytest in each. `repository` may be any folder of it; `environment` finds the
/// Python of its work tree.
pub fn open(
    repository: &Path,
    versions: &PerSide<Revision>,
    cache: &Cache,
    environment: impl FnOnce(&Path) -> Result<Environment, TestError>,
    limits: &TestLimits,
) -> Result<Opened, TestError> {
    let checkouts = PerSide::try_of(|side| checkout(repository, &versions[side], cache))?;
    let work_tree = checkouts.old.repository.clone();
    // The configuration may be a stranger's, and tests are written there.
    if !is_inside(repository, &work_tree) {
        return Err(RepoError::Elsewhere { work_tree, start: repository.to_owned() }.into());
    }
    let environment = environment(&work_tree)?;
    let roots = checkouts.as_ref().map(|checkout| checkout.root.clone());
    // What the tests and their plugins write is no part of the versions.
    let differing = Differing::between(&roots)?;
    let [old, new] = thread::scope(|scope| {
        let started = [&checkouts.old, &checkouts.new]
            .map(|checkout| scope.spawn(|| Session::start(checkout, &environment, limits)));
        started.map(|one| one.join().unwrap_or_else(|_| Err(TestError::Ended("its thread ended".to_owned()))))
    });
    let (old, new) = (old?, new?);
    // A difference of the sandbox would look like one of the change.
    if old.sandbox().map(SuiteReport::kind) != new.sandbox().map(SuiteReport::kind) {
        return Err(TestError::OtherSandbox);
    }
    let (change, unread) = change(&checkouts, differing, PerSide::new(&old, &new));
    let keep = |session, checkout| {
        let store = Store::open(&cache.folder)?;
        Ok::<_, TestError>(Kept::new(session, store, checkout, environment.clone(), limits.clone()))
    };
    let (old, new) = (keep(old, checkouts.old)?, keep(new, checkouts.new)?);
    Ok(Opened { change, unread, work_tree, environment, roots, old, new })
}

/// The change, and its files that cannot be read.
fn change(checkouts: &PerSide<Checkout>, differing: Differing, sessions: PerSide<&Session>) -> (Change, Vec<Reach>) {
    // With doctests and the checks of plugins, any file has what pytest calls a test.
    let is_function = |kind| matches!(kind, TestKind::Function | TestKind::Unittest);
    let collected = |session: &Session| -> BTreeSet<String> {
        session.tests().iter().filter(|test| is_function(test.kind)).map(|test| test.file.clone()).collect()
    };
    let tests = collected(sessions.old);
    let Differing { mut files, mut unread, for_changes, mut brought, steering } = differing;
    // A file with tests need not be called like one.
    let of_new = collected(sessions.new);
    let called_otherwise = files.iter().filter(|file| of_new.contains(&file.path));
    brought.extend(called_otherwise.filter_map(|file| Some((file.path.clone(), file.texts.new.clone()?))));
    files.retain(|file| !tests.contains(&file.path));
    unread.retain(|file| !tests.contains(&file.path));
    let module = |file: &ChangedText| {
        let checkout = if file.texts.old.is_some() { &checkouts.old } else { &checkouts.new };
        ModulePath::of(&checkout.root, &file.path).name
    };
    let modules = files.iter().map(module).collect();
    // The names of these are taken, even if pytest collects them in no version.
    let taken = for_changes.into_iter().filter(|path| !tests.contains(path)).map(|path| (path, String::new()));
    let taken: Vec<(String, String)> = taken.collect();
    // Which file has a test is for the tests to say, so only what the version has is read.
    let texts = tests.into_iter().filter_map(|path| {
        let text = checkouts.old.read(Path::new(&path), MAX_FILE).ok()??;
        Some((path, String::from_utf8(text).ok()?))
    });
    let tests = texts.chain(taken).collect();
    let hidden = checkouts.iter().map(|checkout| mark(&checkout.root)).collect();
    let not_collected = sessions.old.errors().to_vec();
    let is_new = |error: &&CollectionError| not_collected.iter().all(|known| known.id != error.id);
    let broken = sessions.new.errors().iter().filter(is_new).cloned().collect();
    (Change { files, modules, tests, brought, hidden, not_collected, broken, steering }, unread)
}

/// What stands in the paths of a checkout, and of the temporary folders and the home of the tests beside it, however tests
/// cut these paths: `0123456789abcdef` of `worktrees/0123456789abcdef/0/files`.
fn mark(root: &Path) -> String {
    let folder = root.ancestors().nth(2).and_then(Path::file_name);
    folder.map_or_else(|| root.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// The Python files that differ between two checkouts.
#[derive(Default)]
struct Differing {
    files: Vec<ChangedText>,
    unread: Vec<Reach>,
    /// Test files of either version with the name of those for injected values.
    for_changes: Vec<String>,
    /// Files that are tests by their names: path and new text.
    brought: Vec<(String, String)>,
    /// Files of any kind that can decide what tests say.
    steering: Vec<Steering>,
}

impl Differing {
    /// Nothing may have run in the checkouts. They have as many files as a checkout may have.
    fn between(roots: &PerSide<PathBuf>) -> io::Result<Self> {
        let (mut all, mut steering) = (BTreeSet::new(), BTreeSet::new());
        for root in roots {
            python_files(root, &mut all, &mut steering)?;
        }
        let mut found = Self::default();
        for path in steering {
            let folders = PerSide::of(|side| roots[side].as_path());
            let full = folders.map(|root| root.join(&path));
            let links = full.as_ref().map(|path| fs::read_link(path).ok());
            let is_changed = links.old != links.new || !is_same(&full);
            found.steering.extend(is_changed.then(|| steers(&folders, &path)).flatten());
        }
        for path in all {
            let full = roots.as_ref().map(|root| root.join(&path));
            let name = path.to_string_lossy().into_owned();
            if is_test(&name) {
                if path.to_str().is_some()
                    && !is_same(&full)
                    && let Ok(Some(text)) = read(&full.new)
                {
                    found.brought.push((name.clone(), text));
                }
                found.for_changes.extend(is_for_change(&name).then_some(name));
            } else if !is_same(&full) {
                let texts = match path.to_str() {
                    Some(_) => PerSide::try_of(|side| read(&full[side])),
                    None => Err("its name is not UTF-8".to_owned()),
                };
                let texts = texts.and_then(|texts| syntax_error(&texts).map_or(Ok(texts), Err));
                match texts {
                    Ok(texts) => found.files.push(ChangedText { path: name, texts }),
                    Err(reason) => found.unread.push(Reach::unread(name, reason)),
                }
            }
        }
        Ok(found)
    }
}

/// Whether a test file has such a name as new ones with injected values get.
fn is_for_change(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.trim_end_matches(".py").trim_end_matches(|it: char| it == '_' || it.is_ascii_digit());
    stem.starts_with("test_") && stem.ends_with("_change")
}

/// Adds the Python files below a folder, relative to it, and those that may decide what tests say.
fn python_files(root: &Path, found: &mut BTreeSet<OsString>, steering: &mut BTreeSet<String>) -> io::Result<()> {
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let (kind, name) = (entry.file_type()?, entry.file_name());
            let path = folder.join(&name);
            let may_steer = !kind.is_dir() && path.to_str().is_some_and(|path| steering::kind(path).is_some());
            steering.extend(path.to_str().filter(|_| may_steer).map(str::to_owned));
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && name.as_encoded_bytes().ends_with(b".py") {
                found.insert(path.into_os_string());
            }
        }
    }
    Ok(())
}

/// Whether both versions have the same file, or neither has one.
fn is_same(files: &PerSide<PathBuf>) -> bool {
    let size = |path| fs::symlink_metadata(path).ok().filter(Metadata::is_file).map(|about| about.len());
    let sizes = files.as_ref().map(size);
    sizes.old == sizes.new && (sizes.old.is_none() || has_same_content(files).unwrap_or(false))
}

fn has_same_content(files: &PerSide<PathBuf>) -> io::Result<bool> {
    let (mut old, mut new) = (File::open(&files.old)?, File::open(&files.new)?);
    let mut parts = PerSide::<Vec<u8>>::default();
    loop {
        parts.iter_mut().for_each(Vec::clear);
        (&mut old).take(1 << 16).read_to_end(&mut parts.old)?;
        (&mut new).take(1 << 16).read_to_end(&mut parts.new)?;
        if parts.old != parts.new || parts.old.is_empty() {
            return Ok(parts.old == parts.new);
        }
    }
}

/// The text of a file, or why it cannot be read. `None` if there is no file.
fn read(path: &Path) -> Result<Option<String>, String> {
    let Some(about) = fs::symlink_metadata(path).ok().filter(Metadata::is_file) else { return Ok(None) };
    if about.len() > MAX_FILE {
        return Err(format!("it has more than {} MiB", MAX_FILE >> 20));
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8".to_owned())
}

/// The first syntax error in a version of a file.
fn syntax_error(texts: &PerSide<Option<String>>) -> Option<String> {
    let first = |side: Side| {
        let text = normalize_newlines(texts[side].as_deref()?);
        let all = with_stack_for(text.len(), || errors(&parse(&text), &Lines::new(&text)));
        let SourceError { message, line, .. } = all.into_iter().next()?;
        let version = if side == Side::Old { "old" } else { "new" };
        Some(format!("the {version} version has a syntax error in line {line}: {message}"))
    };
    Side::BOTH.into_iter().find_map(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_files_that_cannot_be_read_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let roots = PerSide::new("old", "new").map(|side| folder.path().join(side));
        let large = "x = 1\n".repeat(1 << 18);
        let write = |root: &Path, path: &str, content: &[u8]| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        for root in &roots {
            write(root, "shop/same.py", large.as_bytes());
            write(root, "latin.py", b"x = '\xe9'\n");
            write(root, "broken.py", b"def f():\n    return 1\n");
            write(root, ".hidden/a.py", root.to_str().unwrap().as_bytes());
            write(root, "tests/test_shop.py", root.to_str().unwrap().as_bytes());
        }
        for (path, content) in [
            ("shop/large.py", large.as_bytes()),
            ("shop/bytes.py", b"x = '\xe9'\n"),
            ("shop/new.py", b"x = 1\n"),
            ("broken.py", b"def f():\n    return (1\n"),
            ("tests/test_shop_change_2.py", b""),
        ] {
            write(&roots.new, path, content);
        }
        let found = Differing::between(&roots).unwrap();
        assert_eq!(found.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["shop/new.py"]);
        assert_eq!(found.files[0].texts, PerSide::new(None, Some("x = 1\n".to_owned())));
        let unread: Vec<_> = found.unread.iter().map(|file| (file.path.as_str(), file.unread.as_deref())).collect();
        let [broken, others @ ..] = unread.as_slice() else { panic!("{unread:?}") };
        assert_eq!(broken.0, "broken.py");
        assert!(broken.1.unwrap().starts_with("the new version has a syntax error in line "), "{broken:?}");
        let expected = [("shop/bytes.py", Some("it is not UTF-8")), ("shop/large.py", Some("it has more than 1 MiB"))];
        assert_eq!(others, expected);
        assert_eq!(found.for_changes, ["tests/test_shop_change_2.py"]);
        let brought: Vec<_> = found.brought.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(brought, ["tests/test_shop.py", "tests/test_shop_change_2.py"]);
        assert!(!is_for_change("tests/test_changed.py") && !is_for_change("shop/cart_change.py"));
    }
}
