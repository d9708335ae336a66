//! A process of pytest that has collected a version's tests and runs some of them whenever it is asked.
//!
//! Each request has a child of its own. When a test hangs or ends its process, another child runs those after it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, openat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use twincell_files::{inside, private};
use twincell_sandbox::SuiteReport;

use crate::process::{GLANCE, Lines, Process, Read, wait_for};
use crate::{
    Checkout, CollectionError, Environment, Failure, Outcome, Request, Test, TestError, TestLimits, TestRecord,
    WatchedFunction,
};

/// The longest line that a child may say, and how much it may say in all, in bytes.
const MAX_ANSWER: usize = 16 << 20;
const MAX_ANSWERS: usize = 256 << 20;
/// The largest file that a variant replaces, in bytes.
const MAX_REPLACED: u64 = 256 << 20;
/// The time for a child to end once it is killed.
const DEATH: Duration = Duration::from_secs(5);
/// How often a child may end without a result before its tests are given up.
const FUTILE: usize = 2;

/// One pytest process for one version. It has loaded plugins, `conftest.py` and test modules once, and forks a child for each
/// request that does not ask for a process of its own. It ends with this value.
#[derive(Debug)]
pub struct Session {
    /// It ends before the checkout in which it runs.
    process: Mutex<Option<Arc<Process>>>,
    checkout: Checkout,
    environment: Environment,
    limits: TestLimits,
    tests: Vec<Test>,
    errors: Vec<CollectionError>,
    opened: Option<BTreeSet<String>>,
    forks: bool,
    sandbox: Option<SuiteReport>,
    processes: AtomicU64,
    requests: AtomicU64,
}

/// What a child is asked.
#[derive(Serialize)]
struct Order<'a> {
    number: u64,
    pipe: &'a Path,
    temporary: &'a Path,
    tests: &'a [String],
    files: Vec<&'a str>,
    all_cases: bool,
    coverage: bool,
    covered: &'a [String],
    observe: bool,
    quietly: bool,
    operands: bool,
    watched: &'a [WatchedFunction],
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Message<'a> {
    Run(Order<'a>),
    Kill(u64),
}

/// What a child says, and at last the process that forked it.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Begin(String),
    Record(Box<TestRecord>),
    End,
    Broken(String),
    Exit(i32),
}

/// How a child ended.
enum Ending {
    Complete,
    /// In the middle of a test, or before one.
    Early {
        during: Option<String>,
        outcome: Outcome,
        reason: String,
    },
    /// Together with the process that forked it.
    Lost {
        during: Option<String>,
    },
}

impl Session {
    /// Starts pytest in a checkout and waits until it has collected the tests.
    pub fn start(checkout: &Checkout, environment: &Environment, limits: &TestLimits) -> Result<Self, TestError> {
        // An option may take the argument after it, and which ones do is for pytest and its plugins to say.
        if let Some(option) = limits.arguments.iter().find(|argument| argument.starts_with('-')) {
            return Err(TestError::Option(option.clone()));
        }
        let mut session = Self {
            process: Mutex::default(),
            checkout: checkout.clone(),
            environment: environment.clone(),
            limits: limits.clone(),
            tests: Vec::new(),
            errors: Vec::new(),
            opened: None,
            forks: true,
            sandbox: None,
            processes: AtomicU64::default(),
            requests: AtomicU64::default(),
        };
        let started = session.start_process(limits, &limits.arguments);
        let (process, collected) = started.map_err(|error| match error {
            // What it lacks may be in another environment.
            TestError::NotStarted(_) | TestError::EndedEarly(_) => environment.explained(error),
            error => error,
        })?;
        (session.tests, session.errors, session.forks) = (collected.tests, collected.errors, collected.forks);
        session.opened = collected.opened.map(|opened| opened.into_iter().collect());
        session.sandbox = Some(process.sandbox.clone());
        session.process = Mutex::new(Some(Arc::new(process)));
        Ok(session)
    }

    fn start_process(
        &self,
        limits: &TestLimits,
        arguments: &[String],
    ) -> Result<(Process, super::process::Collected), TestError> {
        let folder = loop {
            let number = self.processes.fetch_add(1, Ordering::Relaxed);
            let folder = self.checkout.run.join(number.to_string());
            match private::make(&folder) {
                Ok(()) => break folder,
                // Another session of this checkout has it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
        };
        let started = Process::start(&self.checkout, folder, &self.environment, limits, arguments)?;
        // A difference of the sandbox would look like one of the tests.
        match &self.sandbox {
            Some(first) if first.kind() != started.0.sandbox.kind() => Err(TestError::OtherSandbox),
            _ => Ok(started),
        }
    }

    /// The tests, in pytest's order.
    pub fn tests(&self) -> &[Test] {
        &self.tests
    }

    /// What could not be collected.
    pub fn errors(&self) -> &[CollectionError] {
        &self.errors
    }

    /// The files of the checkout that were opened while tests were collected, relative to it, with `/`. `None` where nobody knows.
    pub fn opened(&self) -> Option<&BTreeSet<String>> {
        self.opened.as_ref()
    }

    /// What the system enforces of the sandbox.
    pub fn sandbox(&self) -> Option<&SuiteReport> {
        self.sandbox.as_ref()
    }

    /// Runs tests. There is one record for each requested id, in this order, also for tests that hang or end their process.
    pub fn run(&mut self, request: &Request) -> Result<Vec<TestRecord>, TestError> {
        self.run_in(0, request)
    }

    /// Runs several requests, so many of them at once. Their results are those of [`Self::run`], in the order of the requests.
    /// Two requests must not bring the same file.
    pub fn run_all(&mut self, requests: &[Request], workers: usize) -> Result<Vec<Vec<TestRecord>>, TestError> {
        let next = AtomicUsize::default();
        let results = Mutex::new(BTreeMap::new());
        let session = &*self;
        std::thread::scope(|scope| {
            for slot in 0..workers.clamp(1, requests.len().max(1)) {
                let (next, results) = (&next, &results);
                scope.spawn(move || {
                    while let Some((at, request)) = {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        requests.get(at).map(|request| (at, request))
                    } {
                        let result = session.run_in(slot, request);
                        // After an error the others would only wait for nothing.
                        if result.is_err() {
                            next.store(requests.len(), Ordering::Relaxed);
                        }
                        results.lock().unwrap_or_else(PoisonError::into_inner).insert(at, result);
                    }
                });
            }
        });
        results.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
    }

    fn run_in(&self, slot: usize, request: &Request) -> Result<Vec<TestRecord>, TestError> {
        let _files = Brought::put(&self.checkout.root, &request.files)?;
        let mut found = Vec::with_capacity(request.tests.len());
        let mut futile = 0;
        // Records come in the order of the tests.
        while found.len() < request.tests.len() {
            let pending = &request.tests[found.len()..];
            let process = match request.anew {
                None => self.process(pending)?,
                Some(hash_seed) => self.new_process(pending, hash_seed)?,
            };
            let (records, ending) = self.attempt(&process, slot, request, pending)?;
            let (during, outcome, reason) = match ending {
                Ending::Complete => (None, Outcome::Crashed, "it was not run".to_owned()),
                Ending::Early { during, outcome, reason } => (during, outcome, reason),
                Ending::Lost { during } => {
                    self.abandon(&process);
                    (during, Outcome::Crashed, "the process of pytest ended".to_owned())
                }
            };
            let before = found.len();
            found.extend(records);
            found.extend(during.map(|id| without_result(id, outcome, &reason, self.limits.test_seconds)));
            futile = if found.len() == before { futile + 1 } else { 0 };
            if futile == FUTILE {
                found.extend(pending.iter().map(|id| without_result(id.clone(), outcome, &reason, 0.0)));
            }
        }
        Ok(found)
    }

    /// The process that forks a child for these tests, or, where it cannot, a new process that runs them itself.
    fn process(&self, tests: &[String]) -> Result<Arc<Process>, TestError> {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        if self.forks {
            if let Some(process) = &*process {
                return Ok(process.clone());
            }
            let (started, _) = self.start_process(&self.limits, &self.limits.arguments)?;
            return Ok(process.insert(Arc::new(started)).clone());
        }
        // The first one has collected what is needed.
        if let Some(process) = process.take() {
            return Ok(process);
        }
        drop(process);
        self.new_process(tests, self.limits.hash_seed)
    }

    /// A process that has collected nothing but the files of these tests.
    fn new_process(&self, tests: &[String], hash_seed: u32) -> Result<Arc<Process>, TestError> {
        let files: BTreeSet<&str> = tests.iter().filter_map(|id| id.split("::").next()).collect();
        // What begins in another way may be an option.
        let is_plain = |file: &str| file.starts_with(|first: char| first.is_alphanumeric() || "_./".contains(first));
        let argument = |file: &str| if is_plain(file) { file.to_owned() } else { format!("./{file}") };
        let files: Vec<String> = files.into_iter().map(argument).collect();
        let limits = TestLimits { hash_seed, ..self.limits.clone() };
        Ok(Arc::new(self.start_process(&limits, &files)?.0))
    }

    /// Lets go of a process that does not answer.
    fn abandon(&self, process: &Arc<Process>) {
        process.kill();
        let mut current = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, process)) {
            *current = None;
        }
    }

    /// Lets one child run tests until all are done or it ends.
    fn attempt(
        &self,
        process: &Process,
        slot: usize,
        request: &Request,
        tests: &[String],
    ) -> Result<(Vec<TestRecord>, Ending), TestError> {
        let temporary = process.folder.join("t").join(slot.to_string());
        let (number, pipe, source) = match self.make_pipe(&process.folder.join("pipes")) {
            // Tests have closed the folder or have put something else into the place of the pipe. Another process has a
            // folder of its own.
            Err(Errno::ACCESS | Errno::NOENT | Errno::LOOP) => return Ok((Vec::new(), Ending::Lost { during: None })),
            other => other.map_err(io::Error::from)?,
        };
        let order = Order {
            number,
            pipe: &pipe,
            temporary: &temporary,
            tests,
            files: request.files.iter().map(|(path, _)| path.as_str()).collect(),
            all_cases: request.all_cases,
            coverage: request.coverage,
            covered: &request.covered,
            observe: request.observe,
            quietly: request.quietly,
            operands: request.operands,
            watched: &request.watched,
        };
        let result = match process.say(&Message::Run(order)) {
            Ok(()) => self.listen(process, number, &source, tests),
            Err(_) => Ok((Vec::new(), Ending::Lost { during: None })),
        };
        let _ = fs::remove_file(&pipe);
        let _ = twincell_files::inside::remove_whole(&temporary);
        result
    }

    /// A pipe for a request, with the number of the request. Tests write to the folder as well, and have perhaps taken names.
    fn make_pipe(&self, folder: &Path) -> Result<(u64, PathBuf, File), Errno> {
        loop {
            let number = self.requests.fetch_add(1, Ordering::Relaxed);
            let pipe = folder.join(number.to_string());
            match mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0) {
                Err(Errno::EXIST) => {}
                made => {
                    made?;
                    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    let source = openat(CWD, &pipe, flags, Mode::empty())?;
                    return Ok((number, pipe, File::from(source)));
                }
            }
        }
    }

    /// Hears what a child says of the tests. They can write into its pipe as well, and so can other children of theirs that go
    /// on with the same tests. So each test counts once and in its turn, and nothing else gives a child more time.
    fn listen(
        &self,
        process: &Process,
        number: u64,
        source: &File,
        tests: &[String],
    ) -> Result<(Vec<TestRecord>, Ending), TestError> {
        let mut lines = Lines::new(MAX_ANSWER, MAX_ANSWERS);
        let mut records: Vec<TestRecord> = Vec::new();
        let mut during: Option<String> = None;
        let collecting = Duration::from_secs_f64(self.limits.collect_seconds);
        let testing = Duration::from_secs_f64(self.limits.test_seconds);
        let mut deadline = Instant::now() + collecting;
        let mut killed = false;
        let early = |during: Option<String>, killed: bool, reason: String| {
            // Whoever says that the child has ended may be the child.
            let _ = process.say(&Message::Kill(number));
            let outcome = if killed { Outcome::TimedOut } else { Outcome::Crashed };
            Ending::Early { during, outcome, reason }
        };
        loop {
            loop {
                // What nobody understands is as good as a crash.
                let damaged = || Answer::Broken("its answer is damaged".to_owned());
                let answer = match lines.next() {
                    Ok(None) => break,
                    Ok(Some(line)) => serde_json::from_slice(&line).unwrap_or_else(|_| damaged()),
                    Err(_) => damaged(),
                };
                let turn = tests.get(records.len());
                match answer {
                    Answer::Begin(id) if turn == Some(&id) && during.is_none() => {
                        during = Some(id);
                        deadline = if killed { deadline } else { Instant::now() + testing };
                    }
                    Answer::Record(record) if turn == Some(&record.id) => {
                        during = None;
                        records.push(*record);
                        deadline = if killed { deadline } else { Instant::now() + testing };
                    }
                    Answer::Begin(_) | Answer::Record(_) => {}
                    Answer::End if turn.is_none() => return Ok((records, Ending::Complete)),
                    Answer::End => {
                        let reason = "its answer ends before its tests do".to_owned();
                        return Ok((records, early(during, killed, reason)));
                    }
                    Answer::Broken(reason) => return Ok((records, early(during, killed, reason))),
                    Answer::Exit(status) => {
                        let reason = match killed {
                            true => format!("it took more than {} s", self.limits.test_seconds),
                            false => in_words(status),
                        };
                        return Ok((records, early(during, killed, reason)));
                    }
                }
            }
            if self.limits.stop.is_asked() {
                let _ = process.say(&Message::Kill(number));
                return Err(TestError::Stopped);
            }
            let now = Instant::now();
            if now >= deadline {
                if killed {
                    return Ok((records, Ending::Lost { during }));
                }
                killed = true;
                deadline = now + DEATH;
                if process.say(&Message::Kill(number)).is_err() {
                    return Ok((records, Ending::Lost { during }));
                }
            }
            wait_for(source, GLANCE.min(deadline.saturating_duration_since(now)))?;
            match lines.read(source)? {
                Read::Some => {}
                // Without a writer the pipe seems to be at its end, also before the first has come.
                Read::End | Read::Nothing => {
                    if process.has_ended() && lines.read(source)? != Read::Some {
                        return Ok((records, Ending::Lost { during }));
                    }
                    std::thread::sleep(Duration::from_micros(200));
                }
            }
        }
    }
}

/// How a process ended, from the status that the system gives.
fn in_words(status: i32) -> String {
    match status & 0x7f {
        0 => format!("its process ended with status {}", (status >> 8) & 0xff),
        signal => format!("its process ended with signal {signal}"),
    }
}

fn without_result(id: String, outcome: Outcome, reason: &str, seconds: f64) -> TestRecord {
    let failure = Failure {
        exception: String::new(),
        message: reason.to_owned(),
        file: String::new(),
        line: 0,
        test_line: None,
        assertion: false,
    };
    TestRecord {
        id,
        outcome,
        failure: Some(failure),
        seconds: if outcome == Outcome::TimedOut { seconds } else { 0.0 },
        lines: BTreeMap::new(),
        observations: Vec::new(),
        operands: Vec::new(),
        values: Vec::new(),
        opened: None,
    }
}

/// Files of a request, in the checkout as long as this value lives.
struct Brought {
    root: PathBuf,
    /// The files, with what was there before.
    files: Vec<(PathBuf, Option<Vec<u8>>)>,
    /// New folders, the outermost first.
    folders: Vec<PathBuf>,
}

impl Brought {
    fn put(root: &Path, files: &[(String, String)]) -> Result<Self, TestError> {
        let mut brought = Self { root: root.to_owned(), files: Vec::new(), folders: Vec::new() };
        for (path, text) in files {
            let failed = |reason: String| TestError::Folder { folder: root.join(path), reason };
            let path = Path::new(path);
            let is_plain = |part| matches!(part, Component::Normal(_));
            if path.file_name().is_none() || !path.components().all(is_plain) {
                return Err(failed("a file of a request lies in the checkout".to_owned()));
            }
            let parent = inside::make_parent(root, path, &mut brought.folders);
            let parent = parent.map_err(|error| failed(error.to_string()))?;
            let name = Path::new(path.file_name().unwrap_or_default());
            // Whatever is no file of ours to write again stays as it is.
            let before = match inside::read_in(&parent, name, MAX_REPLACED) {
                Ok(Some(content)) => Some(content),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Ok(None) | Err(_) => return Err(failed("a link, a folder or a large file is in the way".to_owned())),
            };
            brought.files.push((path.to_owned(), before));
            inside::write(root, path, text.as_bytes()).map_err(|error| failed(error.to_string()))?;
        }
        Ok(brought)
    }
}

impl Drop for Brought {
    fn drop(&mut self) {
        for (path, before) in self.files.iter().rev() {
            let _ = match before {
                Some(content) => inside::write(&self.root, path, content),
                None => inside::remove(&self.root, path),
            };
        }
        for folder in self.folders.iter().rev() {
            let _ = inside::remove(&self.root, folder);
        }
    }
}
