//! The Python that runs a project's tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::TestError;

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
/// repository, else `own`.
pub fn environment(repository: &Path, given: Option<&Path>, own: &Path) -> Result<Environment, TestError> {
    let active = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let python = given.map(Path::to_owned).or_else(|| in_folders(repository, active.as_deref()));
    probe(&python.unwrap_or_else(|| own.to_owned()))
}

/// The Python of the active environment or of one in the repository.
fn in_folders(repository: &Path, active: Option<&Path>) -> Option<PathBuf> {
    let beside = [".venv", "venv"].map(|name| repository.join(name));
    let folders = active.map(Path::to_owned).into_iter().chain(beside);
    folders.map(|folder| folder.join("bin/python")).find(|python| python.is_file())
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
    Ok(Environment { python, fingerprint, version, user_base, paths })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_active_environment_comes_before_those_in_the_repository() {
        let repository = tempfile::tempdir().unwrap();
        let active = tempfile::tempdir().unwrap();
        assert_eq!(in_folders(repository.path(), Some(active.path())), None);
        for folder in [&repository.path().join("venv"), &repository.path().join(".venv"), active.path()] {
            fs::create_dir_all(folder.join("bin")).unwrap();
            fs::write(folder.join("bin/python"), "").unwrap();
            let expected = Some(folder.join("bin/python"));
            assert_eq!(in_folders(repository.path(), Some(active.path())), expected);
        }
        assert_eq!(in_folders(repository.path(), None), Some(repository.path().join(".venv/bin/python")));
    }

    #[test]
    fn a_python_that_does_not_run_is_named_with_the_reason() {
        let error = environment(Path::new("/"), Some(Path::new("/none/python")), Path::new("python3")).unwrap_err();
        assert!(error.to_string().starts_with("/none/python does not run: "), "{error}");
    }
}
