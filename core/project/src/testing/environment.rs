//! The Python that runs a project's tests, with a fingerprint of what is installed for it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use git2::Repository;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::TestError;
use crate::copy::bytes_as_path;

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

/// Prints what decides about results of tests. The names of the folders of metadata have names and versions, and their times
/// show that a distribution was installed anew.
const PROBE: &str = r#"
import importlib.util, json, os, site, sys
installed = []
for folder in sys.path:
    try:
        entries = sorted(os.scandir(folder or "."), key=lambda entry: entry.name)
    except OSError:
        continue
    for entry in entries:
        if entry.name.endswith((".dist-info", ".egg-info", ".egg-link", ".pth")):
            installed.append([entry.name, entry.stat().st_mtime_ns])
print(json.dumps({
    "version": ".".join(map(str, sys.version_info[:3])),
    "build": [sys.implementation.name, sys.version, sys.platform, sys.prefix, installed],
    "pytest": importlib.util.find_spec("pytest") is not None,
    "user_base": site.getuserbase() if site.ENABLE_USER_SITE else None,
    "executable": sys.executable,
    "paths": [
        path
        for path in [
            os.path.dirname(os.path.realpath(sys.executable)),
            sys.prefix,
            sys.exec_prefix,
            sys.base_prefix,
            sys.base_exec_prefix,
            *sys.path,
        ]
        if os.path.isabs(path)
    ],
}))
"#;

#[derive(Deserialize)]
struct Probed {
    version: String,
    build: serde_json::Value,
    pytest: bool,
    user_base: Option<PathBuf>,
    executable: PathBuf,
    paths: Vec<PathBuf>,
}

/// Finds the Python of a project as other tools do: the given one, else that of `VIRTUAL_ENV`, else `.venv` or `venv` in the
/// repository, else `own`. This Python runs outside of the sandbox, so one that comes with the repository is none.
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
    let Ok(git) = Repository::discover(repository) else { return (None, None) };
    let mut unused = None;
    for folder in [".venv", "venv"].map(|name| repository.join(name)) {
        let Some(python) = python(&folder) else { continue };
        if !is_tracked(&git, &folder).unwrap_or(true) {
            return (Some(python), unused);
        }
        unused = unused.or(Some(folder));
    }
    (None, unused)
}

/// Whether git tracks a folder of its working tree, or what is in it: a Python runs other files of its environment when it
/// starts.
fn is_tracked(git: &Repository, folder: &Path) -> Option<bool> {
    let root = git.workdir()?.canonicalize().ok()?;
    let inner = folder.parent()?.canonicalize().ok()?.strip_prefix(root).ok()?.join(folder.file_name()?);
    // Some disks take one letter for the other.
    let plain = |path: &Path| PathBuf::from(path.as_os_str().to_ascii_lowercase());
    let inner = plain(&inner);
    let is_inside = |path: &[u8]| {
        let path = plain(&bytes_as_path(path));
        // A link or a submodule in the place of the folder, or of one that holds it, is an entry of its own.
        inner.starts_with(&path) || path.starts_with(&inner) && !path.ends_with(".gitignore")
    };
    let index = git.index().ok()?;
    Some(index.iter().any(|entry| is_inside(&entry.path)))
}

fn probe(python: &Path) -> Result<Environment, TestError> {
    let failed = |reason: String| TestError::NoPython { python: python.to_owned(), reason };
    let ran = Command::new(python).args(["-c", PROBE]).current_dir("/").stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| failed(error.to_string()))?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
        return Err(failed(last.trim().to_owned()));
    }
    let probed: Probed = serde_json::from_slice(&ran.stdout).map_err(|_| failed("it prints other things".into()))?;
    if !probed.pytest {
        return Err(TestError::NoPytest(python.to_owned()));
    }
    let fingerprint = Sha256::digest(probed.build.to_string());
    let fingerprint = fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
    // A shim of a manager of Pythons would look for its own settings.
    let python = if probed.executable.is_absolute() { probed.executable } else { python.to_owned() };
    let (version, user_base, paths) = (probed.version, probed.user_base, probed.paths);
    Ok(Environment { python, fingerprint, version, user_base, paths, tracked: None })
}

#[cfg(test)]
mod tests {
    use std::fs;

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
