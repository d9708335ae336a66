//! The Python that runs a project's tests, with a fingerprint of what is installed for it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use sha2::{Digest, Sha256};
use twincell_engine::interpreter;

use twincell_repo::Repo;

use crate::TestError;

/// A Python with what is installed for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    pub python: PathBuf,
    /// A hash of its version and of the installed distributions.
    pub fingerprint: String,
    /// `3.11.7`.
    pub version: String,
    /// Where packages that a user installed for all environments are, which a test finds in a home folder of its own too.
    pub user_base: Option<PathBuf>,
    /// Where it finds its own files and packages.
    pub paths: Vec<PathBuf>,
    /// The folder of an environment in the repository that is not used, since git tracks it.
    pub tracked: Option<PathBuf>,
}

impl Environment {
    /// An error of this Python, with the environment that might have been the right one.
    pub(super) fn explained(&self, error: TestError) -> TestError {
        explained(self.tracked.as_deref(), error)
    }
}

/// How names end of what shows that a distribution was installed.
const INSTALLED: [&str; 4] = [".dist-info", ".egg-info", ".egg-link", ".pth"];

/// Finds the Python of a project as other tools do: the given one, else that of `VIRTUAL_ENV`, else `.venv` or `venv` in the
/// repository, else `own`. One that comes with the repository is none: it would be the change's own.
pub fn environment(repository: &Path, given: Option<&Path>, own: &Path) -> Result<Environment, TestError> {
    let active = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let (python, tracked) = match given {
        Some(given) => (Some(given.to_owned()), None),
        None => in_folders(repository, active.as_deref()),
    };
    match probe(&python.unwrap_or_else(|| own.to_owned())) {
        Ok(found) => Ok(Environment { tracked, ..found }),
        Err(error) => Err(explained(tracked.as_deref(), error)),
    }
}

fn explained(tracked: Option<&Path>, error: TestError) -> TestError {
    match tracked {
        Some(folder) => TestError::Tracked { folder: folder.to_owned(), error: Box::new(error) },
        None => error,
    }
}

/// The Python of the active environment or of one in the repository, and an environment there that is not used.
fn in_folders(repository: &Path, active: Option<&Path>) -> (Option<PathBuf>, Option<PathBuf>) {
    let python = |folder: &Path| Some(folder.join("bin/python")).filter(|python| python.is_file());
    // Whoever activates an environment has run it.
    if let Some(python) = active.and_then(python) {
        return (Some(python), None);
    }
    // Without git nobody can tell where an environment comes from, and no test runs either.
    let Ok(repo) = Repo::around(repository) else { return (None, None) };
    let mut unused = None;
    for folder in [".venv", "venv"].map(|name| repository.join(name)) {
        let Some(python) = python(&folder) else { continue };
        if !repo.tracks_any_of(&folder).unwrap_or(true) {
            return (Some(python), unused);
        }
        unused = unused.or(Some(folder));
    }
    (None, unused)
}

fn probe(python: &Path) -> Result<Environment, TestError> {
    let failed = |reason: String| TestError::NoPython { python: python.to_owned(), reason };
    let found = interpreter::ask(python).map_err(failed)?;
    // Tests look there, too.
    let first = std::env::var_os("PYTHONPATH").unwrap_or_default();
    let search: Vec<PathBuf> =
        std::env::split_paths(&first).chain(found.search).filter(|path| path.is_absolute()).collect();
    let is_there = |folder: &Path| ["pytest/__init__.py", "pytest.py"].iter().any(|name| folder.join(name).is_file());
    if !found.tables.contains_key("pytest") && !search.iter().any(|folder| is_there(folder)) {
        return Err(TestError::NoPytest(python.to_owned()));
    }
    let build = json!([found.implementation, found.build, found.platform, found.prefixes.first(), installed(&search)]);
    let fingerprint = Sha256::digest(build.to_string());
    let fingerprint = fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
    // A shim of a manager of Pythons would look for its own settings.
    let python = if found.executable.is_absolute() { found.executable } else { python.to_owned() };
    let paths = std::iter::once(found.programs).chain(found.prefixes).chain(search);
    Ok(Environment {
        python,
        fingerprint,
        version: found.version.map(|number| number.to_string()).join("."),
        user_base: found.user_base,
        paths: paths.filter(|path| path.is_absolute() && path.exists()).collect(),
        tracked: None,
    })
}

/// The folders of metadata where imports look, which have names and versions. Their times show that a distribution was installed
/// anew.
fn installed(search: &[PathBuf]) -> Vec<(String, i64, i64)> {
    let mut found = Vec::new();
    for folder in search {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
        let mut own: Vec<_> = names.filter(|(name, _)| INSTALLED.iter().any(|end| name.ends_with(end))).collect();
        own.sort();
        // A link may lead nowhere.
        found.extend(own.into_iter().filter_map(|(name, path)| {
            let about = fs::metadata(path).ok()?;
            Some((name, about.mtime(), about.mtime_nsec()))
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use git2::Repository;

    use super::*;

    fn make(folder: &Path) -> PathBuf {
        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::write(folder.join("bin/python"), "").unwrap();
        folder.join("bin/python")
    }

    #[test]
    fn an_active_environment_comes_before_those_in_the_repository() {
        let repository = tempfile::tempdir().unwrap();
        let active = tempfile::tempdir().unwrap();
        Repository::init(repository.path()).unwrap();
        assert_eq!(in_folders(repository.path(), Some(active.path())), (None, None));
        for folder in [&repository.path().join("venv"), &repository.path().join(".venv"), active.path()] {
            let python = make(folder);
            assert_eq!(in_folders(repository.path(), Some(active.path())), (Some(python), None));
        }
        let beside = repository.path().join(".venv/bin/python");
        assert_eq!(in_folders(repository.path(), None), (Some(beside), None));
    }

    #[test]
    fn an_environment_that_git_tracks_does_not_run() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let repository = Repository::init(root).unwrap();
        let [first, second] = [".venv", "venv"].map(|name| make(&root.join(name)));
        let first_folder = root.join(".venv");
        let track = |paths: &[&str]| {
            let mut index = repository.index().unwrap();
            index.clear().unwrap();
            for path in paths {
                index.add_path(Path::new(path)).unwrap();
            }
            index.write().unwrap();
        };
        for name in ["pyvenv.cfg", "a.pth"] {
            fs::write(first_folder.join(name), "").unwrap();
        }
        assert_eq!(in_folders(root, None), (Some(first), None));
        for path in [".venv/bin/python", ".venv/pyvenv.cfg", ".venv/a.pth"] {
            track(&[path]);
            assert_eq!(in_folders(root, None), (Some(second.clone()), Some(first_folder.clone())), "{path}");
        }
        // A link in its place.
        fs::rename(&first_folder, root.join("tools")).unwrap();
        std::os::unix::fs::symlink("tools", &first_folder).unwrap();
        track(&[".venv", "venv/bin/python"]);
        assert_eq!(in_folders(root, None), (None, Some(first_folder.clone())));
        let error = environment(root, None, Path::new("/none/python"));
        if std::env::var_os("VIRTUAL_ENV").is_none() {
            let error = error.unwrap_err().to_string();
            let hint = format!("{} is not used, since git tracks it: --python ", first_folder.display());
            assert!(error.starts_with("/none/python does not run: ") && error.contains(&hint), "{error}");
        }
        let plain = tempfile::tempdir().unwrap();
        make(&plain.path().join("venv"));
        assert_eq!(in_folders(plain.path(), None), (None, None));
    }

    #[test]
    fn a_python_that_does_not_run_is_named_with_the_reason() {
        let error = environment(Path::new("/"), Some(Path::new("/none/python")), Path::new("python3")).unwrap_err();
        assert!(error.to_string().starts_with("/none/python does not run: "), "{error}");
    }
}
