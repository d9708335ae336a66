//! Libraries that snippets import and the user does not have, installed where only workers look.
//!
//! Each distribution has a folder of its own for each build of Python, with all that it requires, in twincell's cache folder,
//! which can be deleted. A snippet gets the folders of what it imports and no others, so that no wheel brings a package along
//! that another snippet takes for a library. The user's own environment is never written to. Only wheels are unpacked, and no
//! Python outside of the sandbox looks in the folders: it would run what they bring, such as `.pth` files.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use twincell_engine::{WorkerPool, interpreter};
use twincell_files::private;
use twincell_prefix::{Library, NotInstalled, Subject, libraries, missing};

use crate::failure::Failure;
use crate::files;

/// How often a wait looks whether somebody still waits.
const INTERVAL: Duration = Duration::from_millis(50);
/// The folder in one of a distribution that imports look in.
const PACKAGES: &str = "site-packages";
/// The maximum number of characters of what an installer says.
const MOST_SAID: usize = 400;
/// Variables that would lead an installer to another place than the one that it is told.
const ELSEWHERE: [&str; 5] = ["PIP_PREFIX", "PIP_PYTHON", "PIP_ROOT", "UV_PYTHON", "UV_SYSTEM_PYTHON"];

/// Where libraries are installed.
#[derive(Debug)]
pub struct Libraries {
    /// The user's Python, and where its pip is, if it has one.
    python: PathBuf,
    pip: Option<PathBuf>,
    folder: PathBuf,
    /// What was refused, so that it is not asked for again.
    refused: Mutex<HashMap<String, NotInstalled>>,
}

impl Libraries {
    /// The folder for a Python. It is made if it is not there.
    pub fn open(python: &Path, cache: Option<&Path>) -> Result<Self, Failure> {
        let failed = |reason: String| Failure::Libraries(reason);
        let Some(cache) = cache else { return Err(failed("there is no cache folder: set XDG_CACHE_HOME".to_owned())) };
        let does_not_run = |reason: String| failed(format!("{} does not run: {reason}", python.display()));
        let found = interpreter::ask(python).map_err(does_not_run)?;
        let build = &found.tag;
        if build.is_empty() || !build.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/') {
            return Err(does_not_run("it does not say what it is".to_owned()));
        }
        let folder = cache.join("libraries").join(build);
        let pip = found.packages.into_iter().find(|packages| packages.join("pip/__main__.py").is_file());
        let own = Self { python: found.executable, pip, folder, refused: Mutex::default() };
        private::lasting(&own.folder)
            .map_err(|error| failed(format!("{} cannot be used: {}", own.folder.display(), files::reason(&error))))?;
        Ok(own)
    }

    /// The folder of a distribution that imports look in. Workers may read all of it, because of its name.
    fn packages(&self, distribution: &str) -> PathBuf {
        self.folder.join(normalized(distribution)).join(PACKAGES)
    }

    /// Installs what a snippet imports and the user does not have, and says of each library how that went. `users` are workers
    /// without any of these folders; `with` makes those that look in some. Returns these.
    pub fn provide(
        &self,
        subject: &Subject,
        users: &Arc<WorkerPool>,
        with: &dyn Fn(Vec<PathBuf>) -> Arc<WorkerPool>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(Vec<Library>, Arc<WorkerPool>), Failure> {
        let mut wanted: BTreeMap<String, Option<String>> = libraries(&subject.text);
        wanted.retain(|module, _| !subject.folder.as_deref().is_some_and(|folder| lies_in(module, folder)));
        let absent = missing(&wanted.keys().cloned().collect::<Vec<_>>(), users)?;
        let mut problems: HashMap<String, NotInstalled> = HashMap::new();
        for module in &absent {
            let problem = match &wanted[module] {
                None => Some(NotInstalled::Unknown),
                Some(distribution) if self.packages(distribution).is_dir() => None,
                Some(distribution) => self.install(distribution, go_on),
            };
            problems.extend(problem.map(|problem| (module.clone(), problem)));
        }
        let distributions: BTreeSet<&str> = absent.iter().filter_map(|module| wanted[module].as_deref()).collect();
        let folders =
            distributions.into_iter().map(|one| self.packages(one)).filter(|folder| folder.is_dir()).collect();
        let all = match in_order(folders, &absent) {
            folders if folders.is_empty() => users.clone(),
            folders => with(folders),
        };
        let lacking = missing(&absent, &all)?;
        let library = |module: String| {
            let problem = lacking.contains(&module).then(|| problems.remove(&module).unwrap_or(NotInstalled::Lacking));
            Library { distribution: wanted[&module].clone(), module, problem }
        };
        Ok((absent.into_iter().map(library).collect(), all))
    }

    /// Installs a distribution. Says why it could not.
    fn install(&self, distribution: &str, go_on: &mut dyn FnMut() -> bool) -> Option<NotInstalled> {
        let refused = || self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = refused().get(distribution) {
            return Some(known.clone());
        }
        let lock = self.lock(go_on);
        let problem = match lock {
            Ok(Some(_)) => self.install_alone(distribution, go_on),
            Ok(None) => Some(NotInstalled::Stopped),
            Err(error) => Some(NotInstalled::Refused { message: files::reason(&error) }),
        };
        if let Some(problem) = problem.clone().filter(|problem| *problem != NotInstalled::Stopped) {
            refused().insert(distribution.to_owned(), problem);
        }
        problem
    }

    /// Installs a distribution into a new folder, which then becomes its own.
    fn install_alone(&self, distribution: &str, go_on: &mut dyn FnMut() -> bool) -> Option<NotInstalled> {
        let own = self.folder.join(normalized(distribution));
        // Another process has installed it meanwhile.
        if own.join(PACKAGES).is_dir() {
            return None;
        }
        let moved = |new: tempfile::TempDir| {
            let _ = std::fs::remove_dir_all(&own);
            std::fs::rename(new.path(), &own).map(|()| drop(new.keep()))
        };
        let refused = |error: io::Error| Some(NotInstalled::Refused { message: files::reason(&error) });
        let new = match private::temporary_in(".new-", &self.folder) {
            Ok(new) => new,
            Err(error) => return refused(error),
        };
        match self.unpack(distribution, &new.path().join(PACKAGES), go_on) {
            None => moved(new).err().and_then(refused),
            problem => problem,
        }
    }

    fn unpack(&self, distribution: &str, to: &Path, go_on: &mut dyn FnMut() -> bool) -> Option<NotInstalled> {
        // What is installed for the user's Python may lead it into the code's project when it starts.
        let python = self.folder.join(".python");
        if let Err(error) = interpreter::without_site(&self.python, &python) {
            return Some(NotInstalled::Refused { message: files::reason(&error) });
        }
        let mut uv = Command::new("uv");
        uv.args(["pip", "install", "--quiet", "--python"]).arg(&python);
        let pip = self.pip.as_ref().map(|packages| {
            let mut pip = interpreter::module(&self.python, packages, "pip");
            pip.args(["install", "-qq", "--no-user", "--no-input", "--disable-pip-version-check"]);
            // The user's Python does not change, so that a virtual environment is not necessary.
            pip.env("PIP_REQUIRE_VIRTUALENV", "0");
            // pip builds what a wheel requires by its address, whatever it is told. For that it starts another Python, which
            // does not start with such a home. Its own, which is isolated, does not look at it.
            pip.env("PYTHONHOME", "/dev/null").env_remove("PYTHONPATH");
            pip
        });
        for mut installer in std::iter::once(uv).chain(pip) {
            installer.args(["--only-binary", ":all:", "--target"]).arg(to).args(["--", distribution]);
            // Nothing in the folder of the code takes the place of a module of Python.
            installer.current_dir(&self.folder);
            for name in ELSEWHERE {
                installer.env_remove(name);
            }
            match run(&mut installer, go_on) {
                Ok(Ok(_)) => return None,
                Ok(Err(message)) => return Some(NotInstalled::Refused { message }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Some(NotInstalled::Stopped),
                Err(error) => return Some(NotInstalled::Refused { message: files::reason(&error) }),
            }
        }
        Some(NotInstalled::NoInstaller)
    }

    /// Keeps other processes and threads from the folder. `None` if nobody waits any more.
    fn lock(&self, go_on: &mut dyn FnMut() -> bool) -> io::Result<Option<File>> {
        let file = private::file(&self.folder.join(".lock"))?;
        while go_on() {
            match file.try_lock() {
                Ok(()) => return Ok(Some(file)),
                Err(std::fs::TryLockError::WouldBlock) => std::thread::sleep(INTERVAL),
                Err(std::fs::TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// A distribution's name as all ways to write it have it.
fn normalized(distribution: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '-' };
    distribution.chars().map(plain).collect()
}

/// Folders of distributions in the order in which imports look there. One that also holds what others are wanted for comes
/// after theirs: these may be what it requires, or what it pretends to be.
fn in_order(mut folders: Vec<PathBuf>, wanted: &[String]) -> Vec<PathBuf> {
    let roots: BTreeSet<&str> = wanted.iter().filter_map(|module| module.split('.').next()).collect();
    folders.sort_by_cached_key(|folder| (roots.iter().filter(|root| lies_in(root, folder)).count(), folder.clone()));
    folders
}

/// Whether a module is one of the code's own folder, so that it is no library.
fn lies_in(module: &str, folder: &Path) -> bool {
    let root = module.split('.').next().unwrap_or_default();
    folder.join(root).is_dir() || folder.join(format!("{root}.py")).is_file()
}

/// Runs a command to its end. What it said, or what it said on failing. The error is `Interrupted` if nobody waits any more.
fn run(command: &mut Command, go_on: &mut dyn FnMut() -> bool) -> io::Result<Result<String, String>> {
    let mut said = tempfile::tempfile()?;
    // An interrupt from the terminal is meant for this process, which then ends all that the command has started.
    let command = command.process_group(0).stdin(Stdio::null());
    let mut child = command.stdout(said.try_clone()?).stderr(said.try_clone()?).spawn()?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if !go_on() {
            // SAFETY: the call takes no pointers. The child is not waited for yet, so that the number is its group's.
            unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
            let _ = child.wait();
            return Err(io::ErrorKind::Interrupted.into());
        }
        std::thread::sleep(INTERVAL);
    };
    said.rewind()?;
    let mut bytes = Vec::new();
    said.take(1 << 20).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    if status.success() {
        return Ok(Ok(text.into_owned()));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut line = if words.is_empty() { format!("it ended with {status}") } else { words.join(" ") };
    if let Some((at, _)) = line.char_indices().nth(MOST_SAID) {
        line.truncate(at);
        line.push('…');
    }
    Ok(Err(line))
}
