//! How a Python starts that is not the running one. Nothing of a project runs before it is locked in.
//!
//! What is installed for a Python can lead it into a project when it starts: `site` runs lines of `.pth` files, and the
//! sitecustomize that they make visible. So every Python starts without `site`. A worker locks itself in and then runs it, and
//! a Python that is only asked what it is never does. Folders that `.pth` files name are read as data.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;
use twincell_sandbox::{SpawnError, SuiteLimits, output_within, spawn};

/// The start of Python without the code that it runs.
const START: &str = include_str!("start.py");
/// The memory of a Python that answers, and the size of files that it writes: none.
const MEMORY: u64 = 4 << 30;
const FILES: u64 = 0;
/// The time in which it answers, on a busy machine, too.
const ANSWER: Duration = Duration::from_secs(60);

/// The arguments that make a Python a zygote. `own` is the folder of the running twincell's package, and `is_own` says whether
/// this Python is the one that it is installed in. With `incomplete`, code may run where the sandbox is not complete.
pub fn worker(own: Option<&Path>, is_own: bool, incomplete: bool) -> Vec<OsString> {
    let mark = |is_it: bool| OsString::from(if is_it { "yes" } else { "" });
    let own = own.map(|own| own.as_os_str().to_owned()).unwrap_or_default();
    vec!["-S".into(), "-c".into(), START.into(), "serve".into(), own, mark(is_own), mark(incomplete)]
}

/// What a Python says of itself. No code of a project has had a part in it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Interpreter {
    /// The program itself, where `python` was one that looks for it.
    pub executable: PathBuf,
    /// `cpython`.
    pub implementation: String,
    pub version: [u32; 3],
    /// The version with the time and the compiler of the build.
    pub build: String,
    pub platform: String,
    /// What tells one build from another in names of files.
    pub tag: String,
    /// The folder of the program, without links.
    pub programs: PathBuf,
    /// The folders of the environment, and of the installation that it is made from.
    pub prefixes: Vec<PathBuf>,
    /// The module search path, without the user's `PYTHONPATH`. Some of it may not be there.
    pub search: Vec<PathBuf>,
    /// Where packages are installed.
    pub packages: Vec<PathBuf>,
    /// Packages and modules that finders of editable installations know from a table.
    pub tables: BTreeMap<String, PathBuf>,
    /// Where packages that a user installed for all environments are, if it looks there.
    pub user_base: Option<PathBuf>,
}

/// Asks a Python what it is, in a sandbox without network in which it can write nothing.
///
/// # Errors
///
/// Why it does not answer.
pub fn ask(python: &Path) -> Result<Interpreter, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (own, theirs) = UnixStream::pair().map_err(|error| error.to_string())?;
    let mut command = Command::new(python);
    command.args(["-S", "-B", "-X", "utf8", "-c", START, "answer"]).current_dir("/");
    for (name, _) in std::env::vars_os() {
        let is_python = name.as_encoded_bytes().starts_with(b"PYTHON") && name != "PYTHONUSERBASE";
        if is_python {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let limits = SuiteLimits {
        folder: folder.path().to_owned(),
        writable: vec![],
        readable: around(python),
        closed: vec![],
        memory_bytes: MEMORY,
        file_bytes: FILES,
        network: false,
    };
    // Nothing foreign runs in it, so that a part of the sandbox is enough.
    let (child, _) = spawn(&mut command, theirs.as_raw_fd(), &limits, true).map_err(reason)?;
    drop((command, theirs));
    let ran = output_within(child, own, ANSWER).map_err(|error| error.to_string())?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
        return Err(last.trim().to_owned());
    }
    serde_json::from_slice(&ran.stdout).map_err(|_| "it prints other things".to_owned())
}

fn reason(error: SpawnError) -> String {
    match error {
        SpawnError::System(error) => error.to_string(),
        SpawnError::Incomplete(lacks) => lacks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// Where a Python and what it starts from may lie: its own folders, those of the installation that an environment is made
/// from, and those of the links on the way.
fn around(python: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut next = std::path::absolute(python).ok();
    // As many links as the system follows.
    for _ in 0..40 {
        let Some(path) = next.take() else { break };
        let Some(programs) = path.parent() else { break };
        found.extend(programs.parent().map(Path::to_owned));
        for folder in [Some(programs), programs.parent()].into_iter().flatten() {
            let home = std::fs::read_to_string(folder.join("pyvenv.cfg")).ok().and_then(|text| home(&text));
            found.extend(home.and_then(|home| home.parent().map(Path::to_owned)));
        }
        next = std::fs::read_link(&path).ok().map(|to| programs.join(to));
    }
    found.extend(python.canonicalize().ok().and_then(|path| Some(path.parent()?.parent()?.to_owned())));
    found
}

/// The folder of the programs that an environment is made from.
fn home(settings: &str) -> Option<PathBuf> {
    let named = settings.lines().filter_map(|line| line.split_once('='));
    named.filter(|(name, _)| name.trim() == "home").map(|(_, value)| PathBuf::from(value.trim())).next()
}

/// A command that runs a module of an installed package and nothing that `site` would. The folder of the package comes last.
pub fn module(python: &Path, packages: &Path, module: &str) -> Command {
    const RUN: &str = "import sys; from runpy import run_module; sys.path.append(sys.argv.pop(1)); \
                       run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)";
    let mut command = Command::new(python);
    command.args(["-I", "-S", "-c", RUN]).arg(packages).arg(module);
    command
}

/// Writes a program that is this Python without `site`, for installers that start one themselves.
///
/// # Errors
///
/// Why it cannot be written.
pub fn without_site(python: &Path, program: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let quoted = std::path::absolute(python)?.display().to_string().replace('\'', r"'\''");
    let text = format!("#!/bin/sh\nexec '{quoted}' -S \"$@\"\n");
    if std::fs::read_to_string(program).is_ok_and(|known| known == text) {
        return Ok(());
    }
    let folder = program.parent().unwrap_or(Path::new("."));
    let written = tempfile::Builder::new().prefix(".python-").make_in(folder, |path| {
        let mut options = std::fs::OpenOptions::new();
        io::Write::write_all(&mut options.write(true).create_new(true).mode(0o700).open(path)?, text.as_bytes())
    })?;
    written.persist(program).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_installation_behind_an_environment_is_named_in_its_settings() {
        let settings = "home = /opt/python/bin\ninclude-system-site-packages = false\n";
        assert_eq!(home(settings), Some(PathBuf::from("/opt/python/bin")));
        assert_eq!(home("version = 3.11.7\n"), None);
    }

    #[test]
    fn what_does_not_start_says_why() {
        let error = ask(Path::new("/none/python")).unwrap_err();
        assert!(error.contains("No such file"), "{error}");
    }

    #[test]
    fn a_python_says_what_it_is_without_running_what_is_installed_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let environment = folder.path().join("environment");
        let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&environment).status().unwrap();
        assert!(made.success());
        let python = environment.join("bin/python");
        let found = ask(&python).unwrap();
        let packages = found.packages.iter().find(|packages| packages.starts_with(&environment)).unwrap();
        let (ran, project) = (folder.path().join("ran"), folder.path().join("project"));
        std::fs::create_dir(&project).unwrap();
        let run = format!("import sys; open({:?}, 'w')\n", ran.display().to_string());
        std::fs::write(packages.join("a.pth"), format!("{run}{}\n", project.display())).unwrap();
        std::fs::write(project.join("sitecustomize.py"), &run).unwrap();
        let table = format!("MAPPING: dict[str, str] = {{'shop': '{}'}}\n{run}", project.display());
        std::fs::write(packages.join("__editable___shop_finder.py"), table).unwrap();
        let found = ask(&python).unwrap();
        assert!(found.search.contains(&project), "{found:?}");
        assert_eq!(found.tables.get("shop"), Some(&project));
        assert!(!ran.exists());
    }
}
