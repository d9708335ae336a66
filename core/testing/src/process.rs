//! A process of pytest: starting it in a checkout, hearing what it collected, and ending it.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use twincell_files::account::homes;
use twincell_files::names::lies_hidden;
use twincell_files::{inside, private};
use twincell_sandbox::{Lack, SpawnError, SuiteLimits, SuiteReport, output_within, spawn};

use crate::{Checkout, CollectionError, Environment, Test, TestError, TestLimits};

/// The files of the plugin.
const PLUGIN: [(&str, &str); 8] = [
    ("launch.py", include_str!("plugin/launch.py")),
    ("twincell_serve.py", include_str!("plugin/twincell_serve.py")),
    ("twincell_cover.py", include_str!("plugin/twincell_cover.py")),
    ("twincell_operands.py", include_str!("plugin/twincell_operands.py")),
    ("twincell_values.py", include_str!("plugin/twincell_values.py")),
    ("twincell_observe.py", include_str!("plugin/twincell_observe.py")),
    ("twincell_listen.py", include_str!("plugin/twincell_listen.py")),
    ("twincell_opened.py", include_str!("plugin/twincell_opened.py")),
];
/// The longest list of tests that is read, in bytes.
const MAX_COLLECTED: usize = 128 << 20;
/// The longest id of a test, in bytes. Tests run, are kept and are told by their ids.
const MAX_ID: usize = 16 << 10;
/// How much of pytest's own output is read to find out why it ended.
const LOG_TAIL: u64 = 64 << 10;
/// The time for a Python that does nothing. The user's limits are for tests.
const PROBE: Duration = Duration::from_secs(60);
/// The time for a process to end once nobody asks it any more.
const FAREWELL: Duration = Duration::from_secs(3);
/// The variables of the user's environment that tests get: where programs and libraries are, the language, what Python and
/// pytest are told, and how programs write. Each other one may hold a secret, whatever its name.
const PASSED: [&str; 62] = [
    "PATH",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "TZ",
    "TZDIR",
    "PYTHONTZPATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CI",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "PYTHONPATH",
    "PYTHONSAFEPATH",
    "PYTHONNOUSERSITE",
    "PYTHONUTF8",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONWARNINGS",
    "PYTHONOPTIMIZE",
    "PYTHONDEVMODE",
    "PYTHONMALLOC",
    "PYTHONFAULTHANDLER",
    "PYTHONINTMAXSTRDIGITS",
    "PYTHON_GIL",
    "PYTHON_JIT",
    "PYTEST_ADDOPTS",
    "PYTEST_PLUGINS",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
    "DJANGO_SETTINGS_MODULE",
    "DJANGO_CONFIGURATION",
    "HYPOTHESIS_PROFILE",
    "MPLBACKEND",
    "QT_QPA_PLATFORM",
    "QT_API",
    "SDL_VIDEODRIVER",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "NUMBA_DISABLE_JIT",
    "CUDA_VISIBLE_DEVICES",
    "JAX_PLATFORMS",
    "SOURCE_DATE_EPOCH",
    "SSL_CERT_FILE",
];
/// Folders beside one with programs that these need.
const OF_PROGRAMS: [&str; 4] = ["lib", "lib64", "libexec", "share"];
/// The largest file that says where a package was installed from, in bytes.
const MAX_ORIGIN: u64 = 64 << 10;
/// How often a wait looks whether the process still lives, and whether somebody still waits.
pub const GLANCE: Duration = Duration::from_millis(50);

/// What a process is told when it starts.
#[derive(Serialize)]
struct Start<'a> {
    root: &'a Path,
    repository: &'a Path,
    folder: &'a Path,
    cache: PathBuf,
    arguments: &'a [String],
}

/// What it says once it has collected.
#[derive(Debug, Deserialize)]
pub struct Collected {
    pub tests: Vec<Test>,
    pub errors: Vec<CollectionError>,
    /// Whether it can fork. Where modules have started threads when they were imported, it cannot.
    pub forks: bool,
    /// The files of the checkout that were opened until then, relative to it, with `/`. `None` where others may have opened some.
    pub opened: Option<Vec<String>>,
    elsewhere: Option<Elsewhere>,
}

impl Collected {
    /// Leaves out tests whose ids are too long, and says so.
    fn with_short_ids(mut self) -> Self {
        let cut = |id: &str| id[..id.floor_char_boundary(MAX_ID.min(200))].to_owned();
        let long = self.tests.extract_if(.., |test| test.id.len().max(test.function.len()) > MAX_ID);
        self.errors.extend(long.map(|test| CollectionError {
            id: cut(&test.id),
            exception: String::new(),
            message: format!("the id of a test is longer than {} KiB", MAX_ID >> 10),
        }));
        self
    }
}

#[derive(Debug, Deserialize)]
struct Elsewhere {
    module: String,
    found: PathBuf,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    Collected(Box<Collected>),
    /// It ended before it ran tests, because of an exception where pytest gives one.
    Ended {
        status: i32,
        error: Option<EndingError>,
    },
}

/// What ended pytest.
#[derive(Deserialize)]
struct EndingError {
    exception: String,
    message: String,
}

impl EndingError {
    /// In one line.
    fn line(&self) -> String {
        let message = self.message.lines().map(str::trim).find(|line| !line.is_empty());
        plain(&message.map_or_else(|| self.exception.clone(), |message| format!("{}: {message}", self.exception)))
    }
}

/// A process that has collected the tests. It ends with this value.
#[derive(Debug)]
pub struct Process {
    /// Where it keeps temporary files and the pipes of its requests.
    pub folder: PathBuf,
    pub control: Mutex<UnixStream>,
    /// The same socket. Closing it ends everything that runs at its other end.
    hangup: UnixStream,
    child: Mutex<Child>,
    pub sandbox: SuiteReport,
    log: PathBuf,
    /// The checkout, which pytest's words name by a folder of ours.
    root: PathBuf,
}

impl Process {
    /// Starts pytest in a checkout and waits until it has collected tests.
    pub fn start(
        checkout: &Checkout,
        folder: PathBuf,
        environment: &Environment,
        limits: &TestLimits,
        arguments: &[String],
    ) -> Result<(Self, Collected), TestError> {
        let (plugin, home, temporary) = (folder.join("plugin"), folder.join("home"), folder.join("t"));
        for inner in [&plugin, &home, &temporary, &folder.join("pipes"), &folder.join("cache")] {
            private::make_all(inner)?;
        }
        for (name, text) in PLUGIN {
            private::write_new(&plugin.join(name), text.as_bytes())?;
        }
        let start = Start {
            root: &checkout.root,
            repository: &checkout.repository,
            folder: &folder,
            cache: folder.join("cache"),
            arguments,
        };
        private::write_new(&folder.join("start.json"), &serde_json::to_vec(&start).map_err(io::Error::other)?)?;
        let log = folder.join("log");
        let (own, theirs) = UnixStream::pair()?;
        let mut command = Command::new(&environment.python);
        command.arg("-X").arg("utf8=0").arg(plugin.join("launch.py"));
        command.arg(theirs.as_raw_fd().to_string()).arg(folder.join("start.json"));
        surround(&mut command, checkout, environment, limits, &home, &temporary);
        let output = private::file(&log)?;
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let bounds = bounds(checkout, environment, limits, &folder);
        let started = spawn(&mut command, theirs.as_raw_fd(), &bounds, limits.incomplete);
        let (child, sandbox) = started.map_err(|error| not_started(error, environment))?;
        // Its rules and its end of the socket are the child's alone from here on.
        drop((command, theirs));
        let hangup = own.try_clone()?;
        let root = checkout.root.clone();
        let process = Self { folder, control: Mutex::new(own), hangup, child: Mutex::new(child), sandbox, log, root };
        let collected = process.collected(limits)?;
        if let Some(other) = &collected.elsewhere {
            let advice = if other.found.starts_with(&checkout.repository) {
                "an editable installation leads there in a way that is not known; uninstall it, then try again"
            } else {
                "uninstall it, or install the project with pip install -e"
            };
            let (module, found) = (other.module.clone(), other.found.clone());
            return Err(TestError::OtherCopy { module, found, advice: advice.to_owned() });
        }
        Ok((process, collected))
    }

    fn collected(&self, limits: &TestLimits) -> Result<Collected, TestError> {
        let deadline = Instant::now() + Duration::from_secs_f64(limits.collect_seconds);
        let control = self.control.lock().unwrap_or_else(PoisonError::into_inner).try_clone()?;
        let mut lines = Lines::new(MAX_COLLECTED, MAX_COLLECTED);
        loop {
            if let Some(line) = lines.next()? {
                return match serde_json::from_slice(&line) {
                    Ok(Said::Collected(collected)) => Ok(collected.with_short_ids()),
                    Ok(Said::Ended { status, error }) => {
                        Err(TestError::NotStarted(error.map_or_else(|| self.last_words(status), |error| error.line())))
                    }
                    Err(error) => Err(TestError::NotStarted(format!("it says what nobody understands: {error}"))),
                };
            }
            if limits.stop.is_asked() {
                return Err(TestError::Stopped);
            }
            if Instant::now() >= deadline {
                return Err(TestError::CollectingTookTooLong(limits.collect_seconds));
            }
            wait_for(&control, GLANCE)?;
            if lines.read(&control)? == Read::End {
                return Err(TestError::EndedEarly(self.last_words(-1)));
            }
        }
    }

    /// The line of pytest's output that says why it ended.
    fn last_words(&self, status: i32) -> String {
        let mut text = Vec::new();
        if let Ok(mut file) = File::open(&self.log) {
            let length = file.metadata().map_or(0, |about| about.len());
            let _ = file.seek(SeekFrom::Start(length.saturating_sub(LOG_TAIL)));
            let _ = file.take(LOG_TAIL).read_to_end(&mut text);
        }
        let text = String::from_utf8_lossy(&text).replace(&format!("{}/", self.root.display()), "");
        let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
        let line = lines().rfind(|line| line.starts_with("E ")).map(|line| line[2..].trim());
        // What the project's configuration asks of pytest, and no plugin knows.
        let line = line.or_else(|| lines().rev().find_map(|line| Some(line.split_once(": error: ")?.1)));
        let line = line.or_else(|| lines().rfind(|line| line.starts_with("ERROR: ")).map(|line| &line[7..]));
        // A line of pytest's own between two rules says how many tests ran.
        let line = line.or_else(|| lines().rfind(|line| !(line.starts_with("==") && line.ends_with("=="))));
        line.map_or_else(|| format!("its exit status is {status}"), plain)
    }

    /// Sends a message.
    pub fn say(&self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.control.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line)
    }

    pub fn has_ended(&self) -> bool {
        self.child.lock().unwrap_or_else(PoisonError::into_inner).try_wait().map_or(true, |status| status.is_some())
    }

    /// Ends it. Its supervisor first ends what it has started, and has little time for that.
    pub fn kill(&self) {
        let _ = self.hangup.shutdown(std::net::Shutdown::Both);
        let deadline = Instant::now() + FAREWELL;
        while !self.has_ended() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if child.try_wait().is_ok_and(|status| status.is_none()) {
            if let Some(group) = Pid::from_raw(child.id() as i32) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        let _ = twincell_files::inside::remove_whole(&self.folder);
    }
}

/// A line without control characters, and bounded.
fn plain(line: &str) -> String {
    line.chars().filter(|character| !character.is_control()).take(400).collect()
}

fn not_started(error: SpawnError, environment: &Environment) -> TestError {
    match error {
        SpawnError::Incomplete(lacks) => {
            TestError::NoSandbox(lacks.iter().map(Lack::to_string).collect::<Vec<_>>().join(", "))
        }
        SpawnError::System(error) => {
            TestError::NoPython { python: environment.python.clone(), reason: error.to_string() }
        }
    }
}

/// What the system enforces of the sandbox, from a Python that does nothing in it.
pub fn enforced(checkout: &Checkout, environment: &Environment, limits: &TestLimits) -> Result<SuiteReport, TestError> {
    let folder = checkout.run.join("enforced");
    private::make_all(&folder)?;
    let (own, theirs) = UnixStream::pair()?;
    let mut command = Command::new(&environment.python);
    command.args(["-I", "-S", "-c", ""]).current_dir(&checkout.root).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let bounds = bounds(checkout, environment, limits, &folder);
    let started = spawn(&mut command, theirs.as_raw_fd(), &bounds, limits.incomplete);
    let (child, sandbox) = started.map_err(|error| not_started(error, environment))?;
    // Its end of the socket is the child's alone from here on.
    drop((command, theirs));
    output_within(child, own, PROBE)
        .map_err(|error| TestError::NoPython { python: environment.python.clone(), reason: error.to_string() })?;
    Ok(sandbox)
}

/// What tests may do.
fn bounds(checkout: &Checkout, environment: &Environment, limits: &TestLimits, folder: &Path) -> SuiteLimits {
    let inner = ["home", "t", "cache", "pipes"].map(|name| folder.join(name));
    let mut readable = vec![folder.to_owned()];
    // A bare repository is nothing but git's own folder.
    readable.extend(std::iter::once(checkout.repository.clone()).filter(|users| !checkout.git.contains(users)));
    readable.extend(environment.paths.iter().cloned());
    readable.extend(environment.user_base.iter().flat_map(|base| ["bin", "lib"].map(|name| base.join(name))));
    let homes = homes();
    readable.extend(programs(&homes));
    readable.extend(environment.paths.iter().flat_map(|packages| editable(packages)));
    // What lies in a home is the user's own. The checkouts, Python and programs that lie there are open all the same.
    let closed = homes.iter().flat_map(|home| entries(home)).chain(checkout.closed.iter().cloned());
    SuiteLimits {
        folder: folder.to_owned(),
        writable: std::iter::once(checkout.root.clone()).chain(inner).collect(),
        readable,
        closed: closed.chain(checkout.git.iter().cloned()).collect(),
        memory_bytes: limits.memory_bytes,
        file_bytes: limits.file_bytes,
        network: limits.network,
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The folders with programs, and in a home what these need beside them. What is hidden there stays closed.
fn programs(homes: &[PathBuf]) -> Vec<PathBuf> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let mut found = Vec::new();
    for folder in std::env::split_paths(&search).filter(|path| path.is_absolute()) {
        let home = homes.iter().find_map(|home| folder.strip_prefix(home).ok());
        if let (Some(inner), Some(parent)) = (home, folder.parent())
            && !lies_hidden(inner)
            && inner.components().count() > 1
        {
            found.extend(OF_PROGRAMS.map(|name| parent.join(name)));
        }
        found.push(folder);
    }
    found
}

/// Where packages come from that are installed as they lie in a folder of the user's.
fn editable(packages: &Path) -> Vec<PathBuf> {
    #[derive(Deserialize)]
    struct Origin {
        url: String,
        dir_info: Kind,
    }
    #[derive(Deserialize)]
    struct Kind {
        #[serde(default)]
        editable: bool,
    }
    let is_about = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "dist-info");
    let about = entries(packages).into_iter().filter(is_about);
    let origins = about.filter_map(|folder| {
        let text = inside::read(&folder, Path::new("direct_url.json"), MAX_ORIGIN).ok()??;
        let Origin { url, dir_info } = serde_json::from_slice(&text).ok()?;
        let folder = PathBuf::from(url.strip_prefix("file://").filter(|_| dir_info.editable)?);
        folder.is_absolute().then_some(folder)
    });
    origins.collect()
}

/// The environment of the process: what of the user's says how programs run and holds no secret, what the user passes on, and
/// a home and a folder for temporary files of its own.
fn surround(
    command: &mut Command,
    checkout: &Checkout,
    environment: &Environment,
    limits: &TestLimits,
    home: &Path,
    temporary: &Path,
) {
    command.env_clear();
    for name in PASSED.into_iter().chain(limits.pass_env.iter().map(String::as_str)) {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.current_dir(&checkout.root).env("HOME", home).env("TMPDIR", temporary);
    command.env("PYTHONHASHSEED", limits.hash_seed.to_string());
    // git does not look for a repository above the checkout.
    command.env("GIT_CEILING_DIRECTORIES", checkout.root.parent().unwrap_or(&checkout.root));
    if let Some(base) = &environment.user_base {
        command.env("PYTHONUSERBASE", base);
    }
    if let Some(programs) = environment.python.parent() {
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(programs.to_owned()).chain(std::env::split_paths(&rest));
        if let Ok(path) = std::env::join_paths(all) {
            command.env("PATH", path);
        }
    }
}

/// Whether there was something to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    Some,
    Nothing,
    End,
}

/// Waits until there is something to read, but not for ever.
pub fn wait_for(source: &impl AsFd, timeout: Duration) -> io::Result<()> {
    let time = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: timeout.subsec_nanos().into() };
    match poll(&mut [PollFd::new(source, PollFlags::IN)], Some(&time)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Lines that come in pieces. Whoever writes them may be hostile.
#[derive(Debug)]
pub struct Lines {
    /// The longest line, and how much may come from now on, in bytes.
    longest: usize,
    left: usize,
    bytes: Vec<u8>,
    /// How far it was searched for the end of a line.
    searched: usize,
}

impl Lines {
    pub fn new(longest: usize, left: usize) -> Self {
        Self { longest, left, bytes: Vec::new(), searched: 0 }
    }

    /// Reads what is there, without waiting.
    pub fn read(&mut self, source: &impl AsFd) -> io::Result<Read> {
        let mut piece = [0; 64 << 10];
        let flags = rustix::fs::fcntl_getfl(source)?;
        rustix::fs::fcntl_setfl(source, flags | rustix::fs::OFlags::NONBLOCK)?;
        let read = rustix::io::read(source, &mut piece);
        if !flags.contains(rustix::fs::OFlags::NONBLOCK) {
            rustix::fs::fcntl_setfl(source, flags)?;
        }
        match read {
            Ok(0) => Ok(Read::End),
            Ok(length) => {
                self.bytes.extend_from_slice(&piece[..length]);
                self.left = self.left.saturating_sub(length);
                Ok(Read::Some)
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(Read::Nothing),
            Err(error) => Err(error.into()),
        }
    }

    /// The next whole line. An error where there is too much.
    pub fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.left == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let Some(at) = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n') else {
            self.searched = self.bytes.len();
            return if self.bytes.len() > self.longest { Err(io::ErrorKind::InvalidData.into()) } else { Ok(None) };
        };
        let mut line: Vec<u8> = self.bytes.drain(..=self.searched + at).collect();
        self.searched = 0;
        line.pop();
        Ok(Some(line))
    }
}
