//! The worker's loop under a real pool. The worker is this test program, started again, with a host that needs no
//! Python: what a program's text says is what each execution does.

use std::io::Write;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use twincell_engine::frame;
use twincell_engine::observed::{Behavior, Observed, Outcome};
use twincell_engine::protocol::{
    End, ExecutionRecord, ExecutionRequest, Fork, FromZygote, Isolation, MAX_FRAME, Program, Script, ScriptRun, Tested,
    ToZygote, Unevaluated,
};
use twincell_engine::{EngineError, Loaded, PoolOptions, SOCKET_VARIABLE, WorkerPool, handover};
use twincell_runtime::worker::{Host, Setup, serve};
use twincell_samples::executions::{outcome, program, record, requests, test_as_worker};

fn pool() -> WorkerPool {
    WorkerPool::new(test_as_worker("fake_python", Duration::from_secs(20)).unwrap())
}

/// What three executions of a program gave: text, or why there is none.
fn run_three(pool: &WorkerPool, code: &str) -> Vec<String> {
    let done = pool.load(&program(code)).unwrap().run(requests(3)).unwrap();
    done.iter()
        .map(|executed| match outcome(executed) {
            Err(reason) => reason.to_owned(),
            Ok(record) => match &record.behaviors[0].outcome {
                Outcome::Returned(Observed::Str(text)) => text.clone(),
                other => format!("{other:?}"),
            },
        })
        .collect()
}

#[test]
fn programs_run_and_what_fails_in_the_host_is_lost_alone() {
    let pool = pool();
    assert_eq!(run_three(&pool, "say hello"), ["hello 0", "hello 1", "hello 2"]);
    assert_eq!(run_three(&pool, "fail"), ["no record for 0", "no record for 1", "no record for 2"]);
    assert!(matches!(pool.load(&program("refuse")), Err(EngineError::Load(reason)) if reason == "refused"));
    assert_eq!(run_three(&pool, "say again"), ["again 0", "again 1", "again 2"]);
}

#[test]
fn an_execution_finds_no_file_that_another_left() {
    assert_eq!(run_three(&pool(), "write a file"), ["0 files", "0 files", "0 files"]);
}

#[test]
fn a_record_that_is_too_large_is_shortened_and_not_lost() {
    for outcome in run_three(&pool(), "flood") {
        assert!(outcome.contains("Stopped") && outcome.contains("RecordBytes"), "{outcome}");
    }
}

#[test]
fn a_worker_whose_files_are_all_closed_ends_and_is_replaced() {
    let pool = pool();
    for outcome in run_three(&pool, "close all") {
        assert!(outcome.contains("the worker ended with"), "{outcome}");
    }
    assert_eq!(run_three(&pool, "say hello")[0], "hello 0");
}

#[test]
fn each_program_has_a_process_of_its_own_that_has_imported_what_it_needs() {
    let pool = pool();
    assert_eq!(run_three(&pool, "count"), ["1", "2", "3"]);
    assert_eq!(run_three(&pool, "count"), ["1", "2", "3"]);
    let imported = |modules: &[&str]| {
        let imports = modules.iter().map(|module| (*module).to_owned()).collect();
        let program = Program { imports, ..program("imported") };
        let done = pool.load(&program).unwrap().run(requests(1)).unwrap();
        format!("{:?}", outcome(&done[0]).unwrap().behaviors[0].outcome)
    };
    assert_eq!(imported(&["a.b", "absent", "c"]), r#"Returned(Str("[\"a\", \"c\", \"a.b\", \"c\"]"))"#);
    assert_eq!(imported(&["c"]), r#"Returned(Str("[\"c\"]"))"#);
    // Nothing is forked from a process with threads, and what ends a process costs no program.
    for module in ["threads", "deadly"] {
        assert_eq!(imported(&[module]), r#"Returned(Str("[]"))"#);
    }
    assert_eq!(imported(&[]), r#"Returned(Str("[]"))"#);
}

#[test]
fn in_isolation_each_version_of_each_execution_has_a_process_of_its_own() {
    let pool = pool();
    let program = Program { isolation: Isolation::Process, ..program("count") };
    let mut loaded = pool.load(&program).unwrap();
    for executed in loaded.run(requests(3)).unwrap() {
        let behaviors = &outcome(&executed).unwrap().behaviors;
        assert_eq!(behaviors.len(), 2);
        assert!(behaviors.iter().all(|behavior| behavior.outcome == Outcome::Returned(Observed::Str("1".into()))));
    }
    assert!(!loaded.is_tainted());
    drop(loaded);
    let broken = Program { isolation: Isolation::Process, ..twincell_samples::executions::program("panic") };
    let done = pool.load(&broken).unwrap().run(requests(1)).unwrap();
    assert!(outcome(&done[0]).unwrap_err().contains("its process ended by itself"), "{done:?}");
}

#[test]
fn foreign_code_makes_no_process_and_speaks_for_nobody() {
    let pool = pool();
    let mut loaded = pool.load(&program("forge")).unwrap();
    for executed in loaded.run(requests(2)).unwrap() {
        assert!(outcome(&executed).unwrap_err().contains("was spoken for by the code"), "{executed:?}");
    }
    assert!(loaded.forged);
    drop(loaded);
    if pool.info().unwrap().sandbox.is_complete() {
        assert_eq!(run_three(&pool, "fork"), ["refused"; 3]);
    }
    let forging = Program { isolation: Isolation::Process, ..program("forge a record") };
    let mut loaded = pool.load(&forging).unwrap();
    for executed in loaded.run(requests(2)).unwrap() {
        assert!(outcome(&executed).unwrap_err().contains("was spoken for by the code"), "{executed:?}");
    }
    assert!(loaded.forged);
    drop(loaded);
    for isolation in [Isolation::Auto, Isolation::Process] {
        let program = Program { isolation, ..program("say hello") };
        let done = pool.load(&program).unwrap().run(requests(1)).unwrap();
        assert!(outcome(&done[0]).is_ok());
    }
}

#[test]
fn closing_the_small_numbers_does_no_harm() {
    assert_eq!(run_three(&pool(), "close small"), ["closed", "closed", "closed"]);
}

#[test]
fn a_panic_costs_one_execution() {
    for outcome in run_three(&pool(), "panic") {
        assert!(outcome.contains("the worker ended with"), "{outcome}");
    }
}

#[test]
fn every_worker_is_locked_in_before_it_says_hello() {
    let info = pool().info().unwrap();
    assert_eq!(info.python, "3.fake");
    assert!(!info.sandbox.filesystem.is_empty());
    if info.sandbox.is_complete() {
        assert!(run_three(&pool(), "read /etc/passwd")[0].contains("denied"));
    }
}

/// Linux only: elsewhere a worker notices the closed socket when it next reads.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_engine_leaves_no_process_and_no_folder() {
    use std::io::{BufRead, BufReader};
    let folder = tempfile::tempdir().unwrap();
    let mut engine = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["fake_engine", "--exact", "--nocapture"])
        .env("TWINCELL_TEST_ENGINE", "1")
        .env("TMPDIR", folder.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let worker: u32 = BufReader::new(engine.stdout.take().unwrap())
        .lines()
        .find_map(|line| line.unwrap().strip_prefix("worker=")?.parse().ok())
        .unwrap();
    let session = session(worker).unwrap();
    let left = || processes(session);
    assert!(left().contains(&worker) && left().contains(&session), "{:?}", left());
    engine.kill().unwrap();
    engine.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while (!left().is_empty() || folder.path().read_dir().unwrap().count() > 0) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(left(), Vec::<u32>::new());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

/// A zygote with a pool's folder, and this test's end of its connection.
#[cfg(target_os = "linux")]
fn zygote() -> (std::process::Child, UnixStream, tempfile::TempDir) {
    let pool = tempfile::tempdir().unwrap();
    for name in ["workers", "projects"] {
        std::fs::create_dir(pool.path().join(name)).unwrap();
        std::fs::write(pool.path().join(name).join("file"), "x").unwrap();
    }
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    // SAFETY: this sets a flag of an open descriptor.
    unsafe { libc::fcntl(theirs.as_raw_fd(), libc::F_SETFD, 0) };
    let zygote = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["fake_python", "--exact", "--nocapture", "--test-threads=1"])
        .current_dir(pool.path().join("workers"))
        .env(SOCKET_VARIABLE, theirs.as_raw_fd().to_string())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    drop(theirs);
    assert!(matches!(frame::read(&mut ours).unwrap(), Some(FromZygote::Ready { can_fork: true, .. })));
    (zygote, ours, pool)
}

/// A file in the place of a worker's socket.
#[cfg(target_os = "linux")]
fn ask_for_a_worker_without_a_socket(socket: &mut UnixStream, folder: &Path) {
    let fork = Fork { folder: folder.to_owned(), memory_bytes: 1 << 30, forks: false };
    socket.write_all(&frame::encode(&ToZygote::Worker(fork), MAX_FRAME).unwrap()).unwrap();
    let (file, errors) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    handover::send(socket, &[file.as_fd(), errors.as_fd()]).unwrap();
}

/// What an engine has sent when it is killed.
#[cfg(target_os = "linux")]
const PARTS: [fn(&mut UnixStream, &Path); 3] = [
    |socket, _| socket.write_all(&[200, 0]).unwrap(),
    |socket, _| socket.write_all(&[200, 0, 0, 0, 1, 2]).unwrap(),
    ask_for_a_worker_without_a_socket,
];

/// Not a test by itself: an engine that is killed after a part of a message.
#[cfg(target_os = "linux")]
#[test]
fn killed_engine() {
    let Ok(part) = std::env::var("TWINCELL_TEST_PART") else { return };
    let (_zygote, mut socket, pool) = zygote();
    PARTS[part.parse::<usize>().unwrap()](&mut socket, pool.path());
    println!("pool={}", pool.path().display());
    // SAFETY: this ends the process.
    unsafe { libc::raise(libc::SIGKILL) };
}

#[cfg(target_os = "linux")]
#[test]
fn an_engine_that_is_killed_in_the_middle_of_a_message_leaves_no_folder() {
    for part in 0..PARTS.len() {
        let killed = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["killed_engine", "--exact", "--nocapture"])
            .env("TWINCELL_TEST_PART", part.to_string())
            .output()
            .unwrap();
        let said = String::from_utf8(killed.stdout).unwrap();
        let pool = Path::new(said.lines().find_map(|line| line.split_once("pool=")).unwrap().1);
        let deadline = Instant::now() + Duration::from_secs(60);
        while pool.exists() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!pool.exists(), "part {part}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_that_cannot_begin_ends_and_does_not_answer_for_its_zygote() {
    let (mut zygote, mut socket, pool) = zygote();
    ask_for_a_worker_without_a_socket(&mut socket, pool.path());
    let Some(FromZygote::Forked { process }) = frame::read(&mut socket).unwrap() else { panic!() };
    let mut status = 0;
    // SAFETY: `status` is a place for one number.
    assert_eq!(unsafe { libc::waitpid(process as i32, &mut status, 0) }, process as i32);
    assert_eq!((libc::WIFEXITED(status), libc::WEXITSTATUS(status)), (true, 1));
    let modules = vec!["c".to_owned()];
    let question = ToZygote::Installed { modules: modules.clone() };
    socket.write_all(&frame::encode(&question, MAX_FRAME).unwrap()).unwrap();
    assert_eq!(frame::read(&mut socket).unwrap(), Some(FromZygote::Installed { modules }));
    drop(socket);
    assert!(zygote.wait().unwrap().success());
}

#[test]
fn imports_that_take_too_long_once_are_waited_for_again() {
    let options = test_as_worker("fake_python", Duration::from_secs(20)).unwrap();
    let pool = WorkerPool::new(PoolOptions { start_deadline: Duration::from_secs(2), ..options });
    let program = Program { imports: vec!["slow_once".into()], ..program("imported") };
    let done = pool.load(&program).unwrap().run(requests(1)).unwrap();
    let imported = Outcome::Returned(Observed::Str(r#"["slow_once"]"#.into()));
    assert_eq!(outcome(&done[0]).unwrap().behaviors[0].outcome, imported);
}

/// The session of a worker is that of its zygotes.
fn session(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(3)?.parse().ok()
}

fn processes(of_session: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(|number| session(*number) == Some(of_session)).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn a_worker_waits_for_the_next_program_of_a_kind_and_may_be_killed_meanwhile() {
    let pool = pool();
    let number = |loaded: &mut Loaded<'_>| {
        let done = loaded.run(requests(1)).unwrap();
        let Outcome::Returned(Observed::Str(number)) = &outcome(&done[0]).unwrap().behaviors[0].outcome else {
            panic!()
        };
        number.parse::<u32>().unwrap()
    };
    let mut loaded = pool.load(&program("number")).unwrap();
    let session = session(number(&mut loaded)).unwrap();
    drop(loaded);
    let next = || number(&mut pool.load(&program("number")).unwrap());
    let second = next();
    let waiting = processes(session);
    let third = next();
    assert!(third != second && waiting.contains(&third), "{third} {waiting:?}");
    for process in processes(session).into_iter().filter(|process| *process != session) {
        // SAFETY: this ends a process of this test, or one that has ended.
        unsafe { libc::kill(process as i32, libc::SIGKILL) };
    }
    assert!(!waiting.contains(&next()));
}

/// The engine of [`a_killed_engine_leaves_no_process_and_no_folder`]; nothing unless that test starts it.
#[test]
fn fake_engine() {
    if std::env::var_os("TWINCELL_TEST_ENGINE").is_none() {
        return;
    }
    let pool = WorkerPool::new(test_as_worker("fake_python", Duration::from_secs(60)).unwrap());
    let mut loaded = pool.load(&program("number")).unwrap();
    let done = loaded.run(requests(1)).unwrap();
    let Outcome::Returned(Observed::Str(number)) = &outcome(&done[0]).unwrap().behaviors[0].outcome else { panic!() };
    // Another one begins to wait meanwhile.
    let mut waiting = pool.load(&program("hang")).unwrap();
    println!("\nworker={number}");
    let _ = waiting.run(requests(1));
}

/// Not a test: the worker.
#[test]
fn fake_python() {
    let Ok(socket) = std::env::var(SOCKET_VARIABLE) else { return };
    let setup = Setup {
        socket: socket.parse().unwrap(),
        folder: std::env::current_dir().unwrap(),
        readable: Vec::new(),
        listable: Vec::new(),
        python: "3.fake".into(),
        incomplete: false,
    };
    let served = serve(&setup, &mut FakeHost::default());
    std::process::exit(if served.is_ok() { 0 } else { 1 });
}

#[derive(Default)]
struct FakeHost {
    code: String,
    imported: Vec<String>,
    count: u32,
}

impl Host for FakeHost {
    fn test(&mut self, _: u64, _: &str, subject: &str, elsewhere: u32) -> Tested {
        Tested { failure: Some(format!("no tests of {subject} at {elsewhere}")), ..Tested::default() }
    }

    fn script(&mut self, script: &Script) -> ScriptRun {
        let lines: Vec<u32> = (1..).zip(script.snippet.lines()).map(|(line, _)| line).collect();
        ScriptRun { completed: lines.clone(), lines, end: End::Whole }
    }

    fn load(&mut self, _: u64, source: Program) -> Result<Vec<Unevaluated>, String> {
        self.code = source.versions[0].code.clone();
        if self.code == "refuse" { Err("refused".into()) } else { Ok(Vec::new()) }
    }

    fn predict(&mut self, program: u64, source: Program) -> Result<(), String> {
        self.load(program, source).map(drop)
    }

    fn installed(&mut self, modules: Vec<String>) -> Vec<String> {
        modules.into_iter().filter(|module| module != "absent").collect()
    }

    fn import(&mut self, modules: Vec<String>) -> bool {
        if modules.iter().any(|module| module == "deadly") {
            std::process::abort();
        }
        if modules.iter().any(|module| module == "slow_once") && std::fs::create_dir("was_slow").is_ok() {
            std::thread::sleep(Duration::from_secs(600));
        }
        let threads = modules.iter().any(|module| module == "threads");
        self.imported.extend(modules);
        !threads
    }

    fn imported(&self) -> Vec<String> {
        self.imported.clone()
    }

    fn begin(&mut self, folder: &Path) -> Result<(), String> {
        std::env::set_current_dir(folder).map_err(|error| error.to_string())
    }

    fn run(
        &mut self,
        _: u64,
        request: &ExecutionRequest,
        positions: std::ops::Range<usize>,
    ) -> Result<ExecutionRecord, String> {
        let close = |numbers: std::ops::Range<i32>| {
            for number in numbers {
                // SAFETY: the number is all that `close` takes, and one that is not open is an error code.
                unsafe { libc::close(number) };
            }
        };
        let text = match self.code.as_str() {
            "number" => std::process::id().to_string(),
            "hang" => {
                std::fs::create_dir_all("left/behind").unwrap();
                std::thread::sleep(Duration::from_secs(60));
                String::new()
            }
            "imported" => format!("{:?}", self.imported),
            "count" => {
                self.count += 1;
                self.count.to_string()
            }
            "forge a record" => {
                let forged = record(request, &Behavior::new(Outcome::Returned(Observed::Str("forged".into()))));
                let forged = ExecutionRecord { behaviors: forged.behaviors[..1].to_vec(), ..forged };
                let said: Result<(ExecutionRecord, Vec<String>), String> = Ok((forged, Vec::new()));
                let bytes = frame::encode(&said, MAX_FRAME).unwrap();
                for number in 3..200 {
                    // SAFETY: it reads the bytes, and a number that is not open is an error code.
                    unsafe { libc::write(number, bytes.as_ptr().cast(), bytes.len()) };
                }
                // SAFETY: this ends the process of this execution.
                unsafe { libc::_exit(0) }
            }
            "forge" => {
                for number in 200..210 {
                    let forged = [4, 0, 0, 0, 1, 2, 3, 4];
                    // SAFETY: it reads the bytes, and a number that is not open is an error code.
                    unsafe { libc::write(number, forged.as_ptr().cast(), forged.len()) };
                }
                "forged".into()
            }
            "fork" => {
                // SAFETY: the child, if there is one, ends at once.
                let child = unsafe { libc::fork() };
                if child == 0 {
                    // SAFETY: this ends the child.
                    unsafe { libc::_exit(0) };
                }
                (if child < 0 { "refused" } else { "forked" }).to_owned()
            }
            "fail" => return Err(format!("no record for {}", request.index)),
            "panic" => panic!("as asked"),
            "flood" => "x".repeat(10 << 20),
            "close all" => {
                close(3..256);
                "closed".into()
            }
            "close small" => {
                close(3..100);
                "closed".into()
            }
            "write a file" => {
                let scratch: PathBuf = std::env::current_dir().unwrap();
                let found = std::fs::read_dir(&scratch).unwrap().count();
                std::fs::create_dir(scratch.join("folder")).and_then(|()| std::fs::write("folder/file", "x")).unwrap();
                std::env::set_current_dir("folder").unwrap();
                format!("{found} files")
            }
            code => match code.split_once(' ') {
                Some(("say", word)) => format!("{word} {}", request.index),
                Some(("read", path)) => format!("{:?}", std::fs::read(path).map_err(|error| error.to_string())),
                _ => return Err(format!("{code} is no text of a test")),
            },
        };
        let mut whole = record(request, &Behavior::new(Outcome::Returned(Observed::Str(text))));
        whole.behaviors.truncate(positions.len());
        Ok(whole)
    }
}
