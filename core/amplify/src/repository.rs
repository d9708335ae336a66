//! A change of a repository: both versions in checkouts of ours, what differs between them, and pytest in each.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use twincell_project::{
    Cache, Checkout, Environment, Kept, Revision, Session, Store, SuiteReport, TestError, TestLimits, checkout, place,
};
use twincell_syntax::PerSide;

use crate::change::ChangedText;
use crate::flow::Change;

/// The largest file that is read, in bytes, and how many are looked at.
const MAX_FILE: u64 = 1 << 20;
const MAX_FILES: usize = 20_000;

/// Both versions of a repository, each with a process of pytest that has collected the tests.
pub struct Opened {
    pub change: Change,
    /// Where the files of the versions lie.
    pub roots: PerSide<PathBuf>,
    pub old: Kept,
    pub new: Kept,
}

/// Checks both versions out and starts pytest in each.
pub fn open(
    repository: &Path,
    versions: &PerSide<Revision>,
    cache: &Cache,
    environment: &Environment,
    limits: &TestLimits,
) -> Result<Opened, TestError> {
    let checkouts = PerSide::try_of(|side| checkout(repository, &versions[side], cache))?;
    let [old, new] = thread::scope(|scope| {
        let started = [&checkouts.old, &checkouts.new]
            .map(|checkout| scope.spawn(move || Session::start(checkout, environment, limits)));
        started.map(|one| one.join().unwrap_or_else(|_| Err(TestError::Ended("its thread ended".to_owned()))))
    });
    let (old, new) = (old?, new?);
    // A difference of the sandbox would look like one of the change.
    if old.sandbox().map(SuiteReport::kind) != new.sandbox().map(SuiteReport::kind) {
        return Err(TestError::OtherSandbox);
    }
    let change = change(&checkouts, &old);
    let roots = checkouts.as_ref().map(|checkout| checkout.root.clone());
    let keep = |session, checkout| {
        let store = Store::open(&cache.folder)?;
        Ok::<_, TestError>(Kept::new(session, store, checkout, environment.clone(), limits.clone()))
    };
    Ok(Opened { change, roots, old: keep(old, checkouts.old)?, new: keep(new, checkouts.new)? })
}

/// What differs between two checkouts.
fn change(checkouts: &PerSide<Checkout>, old: &Session) -> Change {
    let roots = checkouts.as_ref().map(|checkout| checkout.root.clone());
    let tests: BTreeSet<String> = old.tests().iter().map(|test| test.file.clone()).collect();
    let all: BTreeSet<String> = roots.iter().flat_map(|root| python_files(root)).collect();
    let mut files = Vec::new();
    for path in all {
        if tests.contains(&path) || is_test(&path) {
            continue;
        }
        let texts = roots.as_ref().map(|root| read(&root.join(&path)));
        if texts.old != texts.new {
            files.push(ChangedText { path, texts });
        }
    }
    let module = |file: &ChangedText| {
        let root = if file.texts.old.is_some() { &roots.old } else { &roots.new };
        place(root, &file.path).name
    };
    let modules = files.iter().map(module).collect();
    let tests = tests.into_iter().filter_map(|path| Some((path.clone(), read(&roots.old.join(&path))?))).collect();
    // Temporary folders and the home of the tests lie beside each checkout.
    let hidden = roots.iter().map(|root| root.parent().unwrap_or(root).display().to_string()).collect();
    Change { files, modules, tests, hidden, not_collected: old.errors().to_vec() }
}

/// Whether a file, by its path, is one of the tests or of what they need.
fn is_test(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let name = parts.next().unwrap_or("");
    let is_named =
        name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py" || name == "setup.py";
    is_named || parts.any(|part| part == "tests" || part == "test")
}

/// The Python files below a folder, relative to it.
fn python_files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
            seen += 1;
            let (Ok(kind), Some(name)) = (entry.file_type(), entry.file_name().to_str().map(str::to_owned)) else {
                continue;
            };
            if seen > MAX_FILES || name.starts_with('.') {
                continue;
            }
            let path = folder.join(&name);
            if kind.is_dir() && name != "__pycache__" {
                folders.push(path);
            } else if kind.is_file() && name.ends_with(".py") {
                found.extend(path.to_str().map(str::to_owned));
            }
        }
    }
    found
}

fn read(path: &Path) -> Option<String> {
    let about = fs::symlink_metadata(path).ok()?;
    if !about.is_file() || about.len() > MAX_FILE {
        return None;
    }
    String::from_utf8(fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_what_they_need_are_no_changed_code() {
        for path in ["tests/test_a.py", "shop/tests/data.py", "conftest.py", "shop/test_a.py", "a_test.py", "test/x.py"]
        {
            assert!(is_test(path), "{path}");
        }
        for path in ["shop/cart.py", "shop/testing.py", "latest.py", "contest.py"] {
            assert!(!is_test(path), "{path}");
        }
    }
}
