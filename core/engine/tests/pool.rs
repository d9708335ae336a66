//! The pool against workers that behave in every way a worker can. The workers are this test program itself, started
//! again with [`FAKE`] in the arguments; what a program's text says is what the fake worker does. It forks nothing: as
//! zygotes do where a system cannot fork for another process, it becomes the first worker that it is asked for.

use std::io::Write;
use std::os::fd::FromRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use twincell_engine::frame::{self, MAX_RECORD, Seal};
use twincell_engine::observed::{Behavior, Observed, Outcome};
use twincell_engine::protocol::{
    End, ExecutionRecord, ExecutionRequest, FromWorker, FromZygote, Lack, MAX_FRAME, Mechanism, PROTOCOL_VERSION,
    SandboxReport, Script, ScriptRun, Tested, ToWorker, ToZygote, Unevaluated,
};
use twincell_engine::{EngineError, Executed, PoolOptions, SOCKET_VARIABLE, WorkerPool, handover};
use twincell_samples::executions::{outcome, program, record, requests, test_as_worker};

const FAKE: &str = "fake_worker";
const DEADLINE: Duration = Duration::from_millis(1000);

fn options(workers: usize) -> PoolOptions {
    let options = test_as_worker(FAKE, DEADLINE).unwrap();
    PoolOptions { workers, load_deadline: DEADLINE, ..options }
}

/// Runs a batch of five; the reason for each lost request.
fn run_five(code: &str) -> Vec<Option<String>> {
    let pool = WorkerPool::new(options(1));
    let mut loaded = pool.load(&program(code)).unwrap();
    let done = loaded.run(requests(5)).unwrap();
    assert_eq!(done.iter().map(index_of).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    done.iter().map(|executed| outcome(executed).err().map(str::to_owned)).collect()
}

fn index_of(executed: &Executed) -> u32 {
    match executed {
        Executed::Record(record) => record.index,
        Executed::Lost { index, .. } => *index,
    }
}

/// Process number of the worker that made a record.
fn worker_of(executed: &Executed) -> u32 {
    outcome(executed).unwrap().behaviors[0].stdout.parse().unwrap()
}

/// Whether a process runs, and goes on for a while.
fn is_running(process: u32) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    // A zombie has no command line.
    let runs = || std::fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|line| !line.is_empty());
    while runs() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    runs()
}

#[test]
fn a_batch_gives_one_record_a_request_in_order() {
    let pool = WorkerPool::new(options(1));
    let mut loaded = pool.load(&program("")).unwrap();
    assert_eq!(loaded.unevaluated, [Unevaluated::Module { error: "noted".into() }]);
    let done = loaded.run(requests(300)).unwrap();
    assert_eq!(done.iter().map(index_of).collect::<Vec<_>>(), (0..300).collect::<Vec<_>>());
    assert!(done.iter().all(|executed| matches!(executed, Executed::Record(_))));
    assert_eq!(loaded.run(Vec::new()).unwrap(), []);
}

#[test]
fn only_the_request_at_hand_is_lost() {
    for (code, reason) in [
        ("exit at 2", "ended with exit status: 3: a last word"),
        ("abort at 2", "SIGABRT"),
        ("hang at 2", "did not answer within 1s"),
        ("drip at 2", "did not answer within 1s"),
        ("garbage at 2", "does not hold a message"),
        ("forge at 2", "was spoken for by the code"),
        ("oversized at 2", "was spoken for by the code"),
        ("deep at 2", "does not hold a message"),
        ("many parts at 2", "more than 1048576 parts"),
        ("half a frame at 2", "the worker ended with"),
        ("wrong program at 2", "no answer to the request"),
        ("wrong index at 2", "no answer to the request"),
        ("wrong seed at 2", "no answer to the request"),
        ("too few behaviors at 2", "no answer to the request"),
        ("hello again at 2", "no answer to the request"),
        ("done early at 2", "no answer to the request"),
        ("fail at 2", "no record"),
        ("close at 2", "closed its connection"),
    ] {
        let lost = run_five(code);
        assert_eq!([&lost[0], &lost[1], &lost[3], &lost[4]], [&None; 4], "{code}");
        assert!(lost[2].as_ref().is_some_and(|text| text.contains(reason)), "{code}: {:?}", lost[2]);
    }
}

#[test]
fn records_of_many_small_parts_are_bounded_together() {
    let pool = WorkerPool::new(options(1));
    let done = pool.load(&program("parts at every")).unwrap().run(requests(20)).unwrap();
    let came = done.iter().take_while(|executed| outcome(executed).is_ok()).count();
    assert_eq!(came, 16);
    let reasons: Vec<&str> = done[came..].iter().map(|executed| outcome(executed).unwrap_err()).collect();
    assert!(reasons.iter().all(|reason| reason.contains("more than 16777216 parts")), "{reasons:?}");
}

#[test]
fn texts_for_people_are_cut() {
    let pool = WorkerPool::new(options(1));
    let loaded = pool.load(&program("words at load")).unwrap();
    assert_eq!(loaded.unevaluated.len(), 100);
    let [Unevaluated::Statement { error, .. }, ..] = loaded.unevaluated.as_slice() else { panic!() };
    assert_eq!(error.chars().count(), 1001);
    drop(loaded);
    let lost = run_five("words at 2");
    assert!(lost[2].as_ref().is_some_and(|reason| reason.chars().count() == 1001));
}

#[test]
fn work_ends_at_its_time_with_what_came_before() {
    let pool = WorkerPool::new(PoolOptions { deadline: Duration::from_secs(60), ..options(1) });
    let begun = Instant::now();
    drop(pool.load(&program("")).unwrap());
    // The time is long for a load on this machine, and short against the wait for an answer.
    let until = pool.until(Instant::now() + Duration::from_secs(1) + 10 * begun.elapsed());
    let mut loaded = until.load(&program("hang at 2")).unwrap();
    let done = loaded.run(requests(5)).unwrap();
    assert_eq!(done.iter().map(index_of).collect::<Vec<_>>(), [0, 1]);
    assert!(matches!(until.load(&program("")), Err(EngineError::Stopped)));
    assert!(pool.load(&program("")).is_ok());
}

#[test]
fn a_request_that_fails_in_the_host_costs_no_worker() {
    let pool = WorkerPool::new(options(1));
    let done = pool.load(&program("fail at 2")).unwrap().run(requests(4)).unwrap();
    assert_eq!(worker_of(&done[0]), worker_of(&done[3]));
}

#[test]
fn a_request_whose_worker_was_killed_or_stopped_from_outside_is_done_again() {
    let folder = tempfile::tempdir().unwrap();
    for misdeed in ["kill once", "stop once"] {
        let flag = folder.path().join(misdeed);
        let lost = run_five(&format!("{misdeed} at 2 {}", flag.display()));
        assert!(flag.exists());
        assert_eq!(lost, [const { None }; 5], "{misdeed}");
    }
}

#[test]
fn a_request_whose_worker_is_killed_each_time_is_lost() {
    for (code, reason) in [("kill at 2", "signal: 9"), ("stop at 2", "did not answer within 1s")] {
        let lost = run_five(code);
        assert_eq!([&lost[0], &lost[1], &lost[3], &lost[4]], [&None; 4], "{code}");
        assert!(lost[2].as_ref().is_some_and(|text| text.contains(reason)), "{code}: {:?}", lost[2]);
    }
}

#[test]
fn a_thread_that_holds_a_program_gets_another_worker_instead_of_waiting_for_itself() {
    let pool = WorkerPool::new(options(1));
    let mut first = pool.load(&program("")).unwrap();
    let mut second = pool.load(&program("")).unwrap();
    assert_eq!(pool.info().unwrap().python, "3.fake");
    let (a, b) = (first.run(requests(2)).unwrap(), second.run(requests(2)).unwrap());
    assert_ne!(worker_of(&a[0]), worker_of(&b[0]));
    drop(second);
    drop(first);
    assert!(!is_running(worker_of(&a[0])) && !is_running(worker_of(&b[0])));
}

#[test]
fn threads_that_hold_every_worker_do_not_wait_for_one_another() {
    let pool = WorkerPool::new(options(2));
    let both = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut outer = pool.load(&program("")).unwrap();
                both.wait();
                let mut inner = pool.load(&program("")).unwrap();
                assert_eq!(outer.run(requests(3)).unwrap().len() + inner.run(requests(3)).unwrap().len(), 6);
            });
        }
    });
}

/// Every misdeed at random, in many threads at once: each request is answered once, in its place, and by the right
/// record.
fn chaos(threads: u64, rounds: u64) {
    const MISDEEDS: [&str; 12] = [
        "kill at every",
        "abort",
        "exit",
        "close",
        "half a frame",
        "garbage",
        "wrong index",
        "surplus",
        "done early",
        "fail",
        "kill",
        "nothing",
    ];
    let options = options(3);
    let pool = WorkerPool::new(options);
    let workers = std::sync::Mutex::new(std::collections::BTreeSet::new());
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (pool, workers) = (&pool, &workers);
            scope.spawn(move || {
                let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(thread + 1);
                let mut random = |below: u64| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 33) % below
                };
                for _ in 0..rounds {
                    let count = 1 + random(12) as u32;
                    let misdeed = MISDEEDS[random(MISDEEDS.len() as u64) as usize];
                    let at = random(count.into()) as u32;
                    let every = misdeed.ends_with("every");
                    let code = if every { misdeed.to_owned() } else { format!("{misdeed} at {at}") };
                    let done = pool.load(&program(&code)).unwrap().run(requests(count)).unwrap();
                    assert_eq!(done.iter().map(index_of).collect::<Vec<_>>(), (0..count).collect::<Vec<_>>(), "{code}");
                    for executed in &done {
                        let index = index_of(executed);
                        let harmed = match misdeed {
                            "nothing" => false,
                            // Takes the place of the answer after it.
                            "surplus" => index == at + 1,
                            _ => every || index == at,
                        };
                        match executed {
                            Executed::Record(record) => {
                                assert_eq!(record.seed, u64::from(record.index));
                                assert!(!harmed, "{code}: {}", record.index);
                                workers.lock().unwrap().insert(worker_of(executed));
                            }
                            Executed::Lost { index, reason } => assert!(harmed, "{code}: {index}: {reason}"),
                        }
                    }
                }
            });
        }
    });
    drop(pool);
    assert!(workers.into_inner().unwrap().iter().all(|worker| !is_running(*worker)));
}

#[test]
fn under_load_and_misdeeds_every_request_is_answered_once() {
    chaos(4, 12);
}

#[test]
#[ignore = "takes minutes"]
fn under_load_and_misdeeds_every_request_is_answered_once_for_long() {
    chaos(8, 400);
}

#[test]
fn the_first_and_the_last_request_may_be_lost() {
    assert!(run_five("exit at 0")[0].is_some());
    assert!(run_five("exit at 4")[4].is_some());
    let lost = run_five("exit at every");
    assert!(lost.iter().all(Option::is_some));
}

#[test]
fn records_beyond_those_asked_for_cost_the_worker_but_no_record() {
    let pool = WorkerPool::new(options(1));
    let mut loaded = pool.load(&program("surplus at 4")).unwrap();
    let done = loaded.run(requests(5)).unwrap();
    let again = loaded.run(requests(1)).unwrap();
    assert_ne!(worker_of(&done[4]), worker_of(&again[0]));
}

#[test]
fn a_worker_that_dies_at_every_load_is_an_error() {
    let pool = WorkerPool::new(options(1));
    // What overran once would again.
    for (code, attempts, text) in
        [("exit at load", 3, "a last word"), ("hang at load", 1, "within 1s"), ("garbage at load", 3, "sent what")]
    {
        match pool.load(&program(code)) {
            Err(EngineError::Dies { times, reason }) if times == attempts => {
                assert!(reason.contains(text), "{reason}");
            }
            other => panic!("{code}: {other:?}"),
        }
    }
    assert!(pool.load(&program("")).is_ok());
}

#[test]
fn tests_of_a_file_run_in_the_worker_that_has_the_program() {
    let pool = WorkerPool::new(options(1));
    let mut loaded = pool.load(&program("fine")).unwrap();
    assert_eq!(loaded.test("fine", "old", 0).unwrap(), Tested::default());
    assert_eq!(loaded.test("fine", "new", 0).unwrap().failure.as_deref(), Some("it failed"));
    assert_eq!(loaded.test("fine", "old", 2).unwrap().waited, 2.0);
    assert_eq!(loaded.test("remove", "old", 0).unwrap().effects, ["os.remove"]);
    for source in ["die", "hang"] {
        assert!(matches!(loaded.test(source, "old", 0), Err(EngineError::Test(_))), "{source}");
        assert_eq!(loaded.test("fine", "old", 0).unwrap(), Tested::default(), "after {source}");
    }
}

#[test]
fn what_a_script_did_is_bounded_by_the_script_and_a_worker_that_it_ends_is_replaced() {
    let pool = WorkerPool::new(options(1));
    let mut loaded = pool.load(&program("fine")).unwrap();
    let script = |prefix: &str| Script { prefix: prefix.into(), snippet: "a\nb\n".into(), steps: 9, beside: None };
    let ran = loaded.script(script("fine")).unwrap();
    assert_eq!((ran.lines, ran.completed), (vec![1, 2], vec![2]));
    assert!(matches!(ran.end, End::Unreadable { line: 1, message } if message.chars().count() == 1001));
    for prefix in ["die", "hang", "other"] {
        assert!(matches!(loaded.script(script(prefix)).unwrap().end, End::Lost { .. }), "{prefix}");
        assert_eq!(loaded.script(script("fine")).unwrap().lines, [1, 2], "after {prefix}");
    }
}

#[test]
fn what_executions_left_in_a_worker_is_known_after_an_inspection_and_gone_with_the_worker() {
    let pool = WorkerPool::new(options(1));
    assert!(!pool.load(&program("fine")).unwrap().is_tainted());
    let mut loaded = pool.load(&program("taint")).unwrap();
    loaded.run(requests(1)).unwrap();
    assert!(loaded.is_tainted() && loaded.is_tainted());
    drop(loaded);
    assert!(!pool.load(&program("fine")).unwrap().is_tainted());
}

#[test]
fn a_worker_that_cannot_be_inspected_may_hold_anything() {
    let pool = WorkerPool::new(options(1));
    let mut loaded = pool.load(&program("uninspected")).unwrap();
    assert!(loaded.is_tainted() && loaded.is_tainted());
}

#[test]
fn a_program_that_is_refused_costs_no_other() {
    let pool = WorkerPool::new(options(1));
    let refused = pool.load(&program("fail at load")).unwrap_err();
    assert!(matches!(refused, EngineError::Load(reason) if reason == "refused"));
    assert!(pool.load(&program("")).unwrap().run(requests(1)).is_ok());
}

#[test]
fn when_no_worker_can_be_had_any_more_what_is_finished_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let flag = folder.path().join("flag");
    let pool = WorkerPool::new(options(1));
    let mut loaded = pool.load(&program(&format!("die for good at 2 {}", flag.display()))).unwrap();
    let done = loaded.run(requests(5)).unwrap();
    assert!(matches!(done[1], Executed::Record(_)));
    assert!(matches!(&done[4], Executed::Lost { index: 4, reason } if reason.contains("3 times in a row")));
    assert!(matches!(loaded.run(requests(1)), Err(EngineError::Dies { .. })));
}

#[test]
fn each_program_has_a_worker_of_its_own() {
    let pool = WorkerPool::new(options(1));
    let workers: Vec<u32> =
        (0..3).map(|_| worker_of(&pool.load(&program("")).unwrap().run(requests(1)).unwrap()[0])).collect();
    assert!(workers[0] != workers[1] && workers[1] != workers[2]);
    assert!(workers.iter().all(|worker| !is_running(*worker)));
}

#[test]
fn where_the_sandbox_is_not_complete_no_program_runs_unless_the_user_says_so() {
    let lacking = PoolOptions { memory_bytes: 98, ..options(1) };
    let pool = WorkerPool::new(lacking.clone());
    let error = pool.load(&program("")).unwrap_err();
    assert!(matches!(error, EngineError::Sandbox { .. }));
    let said = error.to_string();
    assert!(said.contains("no Landlock (the kernel does not have it)") && said.contains("--unsafe"), "{said}");
    assert!(pool.check().is_err() && pool.info().is_ok() && pool.enforced().is_none());
    let pool = WorkerPool::new(PoolOptions { allow_incomplete: true, ..lacking });
    assert!(pool.load(&program("")).unwrap().run(requests(1)).is_ok());
    assert!(pool.check().is_ok() && !pool.enforced().unwrap().is_complete());
}

#[test]
fn more_threads_than_workers_take_turns() {
    let pool = WorkerPool::new(options(2));
    let used = std::sync::Mutex::new(std::collections::BTreeSet::new());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (pool, used) = (&pool, &used);
            scope.spawn(move || {
                for round in 0..5 {
                    let code = if (thread + round) % 4 == 0 { "exit at 7" } else { "" };
                    let done = pool.load(&program(code)).unwrap().run(requests(20)).unwrap();
                    assert_eq!(done.iter().map(index_of).collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
                    used.lock().unwrap().insert(worker_of(&done[0]));
                }
            });
        }
    });
    let used = used.into_inner().unwrap();
    drop(pool);
    assert!(used.iter().all(|worker| !is_running(*worker)));
}

#[test]
fn a_worker_outlives_the_thread_that_asked_for_it() {
    let pool = WorkerPool::new(options(1));
    let load = || (pool.load(&program("")).unwrap(), std::fs::read_link("/proc/thread-self").ok());
    let (mut loaded, thread) = std::thread::scope(|scope| scope.spawn(load).join().unwrap());
    // A thread that was joined may not yet be gone.
    while thread.as_ref().is_some_and(|thread| Path::new("/proc").join(thread).exists()) {
        std::thread::yield_now();
    }
    assert!(matches!(loaded.run(requests(1)).unwrap()[0], Executed::Record(_)));
}

#[test]
fn dropping_a_pool_leaves_no_process_and_no_folder() {
    let pool = WorkerPool::new(options(1));
    let mut loaded = pool.load(&program("hang at exit")).unwrap();
    let done = loaded.run(requests(1)).unwrap();
    let Executed::Record(record) = &done[0] else { panic!("{done:?}") };
    let folder = PathBuf::from(&record.behaviors[0].stderr);
    assert!(folder.is_dir());
    drop(loaded);
    drop(pool);
    assert!(!is_running(worker_of(&done[0])));
    assert!(!folder.exists());
}

#[test]
fn a_python_that_is_not_there_or_has_no_twincell_is_named() {
    let absent = WorkerPool::new(PoolOptions::new("/nowhere/python")).info().unwrap_err();
    assert!(absent.to_string().contains("/nowhere/python"), "{absent}");
    let mut options = options(1);
    options.python = "/bin/sh".into();
    options.arguments = ["-c", "echo no module named twincell >&2; exit 1"].map(Into::into).to_vec();
    let error = WorkerPool::new(options.clone()).info().unwrap_err().to_string();
    assert!(error.contains("/bin/sh") && error.contains("no module named twincell"), "{error}");
    options.arguments[1] = "sleep 20".into();
    options.start_deadline = Duration::from_millis(100);
    let error = WorkerPool::new(options).info().unwrap_err().to_string();
    assert!(error.contains("did not answer within 100ms"), "{error}");
}

#[test]
fn another_protocol_is_an_error_that_says_so() {
    let mut options = options(1);
    // The fake worker takes its version from the memory limit.
    options.memory_bytes = 99;
    let error = WorkerPool::new(options).info().unwrap_err();
    assert!(matches!(error, EngineError::Protocol { worker: 99, ours: PROTOCOL_VERSION }), "{error}");
}

#[test]
fn info_says_what_the_worker_said() {
    let pool = WorkerPool::new(options(1));
    let info = pool.info().unwrap();
    assert_eq!(info.python, "3.fake");
    assert_eq!(info.sandbox.filesystem, "none");
}

#[test]
fn a_worker_sees_no_secret_of_the_environment() {
    // Cargo sets this for tests; it stands for anything that is not on the list.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let pool = WorkerPool::new(options(1));
    let done = pool.load(&program("environment at 0")).unwrap().run(requests(1)).unwrap();
    let Executed::Record(record) = &done[0] else { panic!("{done:?}") };
    let Outcome::Returned(Observed::Str(names)) = &record.behaviors[0].outcome else { panic!() };
    assert!(names.split(' ').any(|name| name == "PYTHONHASHSEED"), "{names}");
    assert!(!names.contains("CARGO"), "{names}");
}

/// Not a test: what the pool of the other tests starts as its worker.
#[test]
fn fake_worker() {
    let Ok(socket) = std::env::var(SOCKET_VARIABLE) else { return };
    // SAFETY: the number is this process's own end of the engine's socket pair. Nothing else owns it.
    let socket = unsafe { UnixStream::from_raw_fd(socket.parse().unwrap()) };
    if let Some(mut line) = fake::become_worker(socket) {
        fake::serve(&mut line);
    }
    std::process::exit(0);
}

/// The worker's side, written against the protocol alone.
mod fake {
    use super::*;

    pub struct Line {
        socket: UnixStream,
        seal: Seal,
        memory: u64,
    }

    impl std::ops::Deref for Line {
        type Target = UnixStream;

        fn deref(&self) -> &UnixStream {
            &self.socket
        }
    }

    impl std::ops::DerefMut for Line {
        fn deref_mut(&mut self) -> &mut UnixStream {
            &mut self.socket
        }
    }

    fn sealed(line: &mut Line, message: &FromWorker) -> Vec<u8> {
        line.seal.close(frame::encode(message, MAX_FRAME).unwrap())
    }

    fn send(line: &mut Line, message: &FromWorker) {
        let frame = sealed(line, message);
        line.write_all(&frame).unwrap();
    }

    /// The zygote's part. `None` if nobody wants a worker.
    pub fn become_worker(mut socket: UnixStream) -> Option<Line> {
        let say = |socket: &mut UnixStream, message: &FromZygote| {
            socket.write_all(&frame::encode(message, MAX_FRAME).unwrap()).unwrap();
        };
        say(&mut socket, &FromZygote::Ready { protocol: PROTOCOL_VERSION, can_fork: true });
        match frame::read::<ToZygote>(&mut socket).unwrap()? {
            ToZygote::Worker(fork) => {
                let [own, errors] = <[_; 2]>::try_from(handover::receive(&socket).unwrap()).unwrap();
                drop(errors);
                std::env::set_current_dir(&fork.folder).unwrap();
                say(&mut socket, &FromZygote::Forked { process: std::process::id() });
                let mut socket = UnixStream::from(own);
                let Some(ToWorker::Begin { key }) = frame::read(&mut socket).unwrap() else { panic!() };
                Some(Line { socket, seal: Seal::new(key), memory: fork.memory_bytes })
            }
            other => panic!("{other:?}"),
        }
    }

    pub fn serve(socket: &mut Line) {
        let protocol = if socket.memory == 99 { 99 } else { PROTOCOL_VERSION };
        let mut sandbox = SandboxReport { filesystem: "none".into(), ..Default::default() };
        if socket.memory == 98 {
            let reason = "the kernel does not have it".to_owned();
            sandbox.lacks.push(Lack { mechanism: Mechanism::Landlock, reason });
        }
        send(socket, &FromWorker::Hello { protocol, twincell: "0".into(), python: "3.fake".into(), sandbox });
        let mut code = String::new();
        while let Some(message) = frame::read::<ToWorker>(&mut socket.socket).unwrap() {
            match message {
                ToWorker::Begin { .. } => panic!(),
                ToWorker::Load { program, source } => {
                    code = source.versions[0].code.clone();
                    let flag = code.strip_prefix("die for good at 2 ");
                    if flag.is_some_and(|flag| std::path::Path::new(flag).exists()) {
                        std::process::exit(3);
                    }
                    if let Some(misdeed) = code.strip_suffix(" at load") {
                        misbehave(socket, misdeed, program, None);
                    } else {
                        send(
                            socket,
                            &FromWorker::Loaded {
                                program,
                                unevaluated: vec![Unevaluated::Module { error: "noted".into() }],
                            },
                        );
                    }
                }
                ToWorker::Predict { program, .. } => {
                    send(socket, &FromWorker::Loaded { program, unevaluated: vec![] });
                }
                ToWorker::Run { program, requests } => {
                    for request in requests {
                        run(socket, &code, program, &request);
                    }
                    send(socket, &FromWorker::Done { program, tainted: false });
                }
                ToWorker::Test { program, source, subject, elsewhere } => match source.as_str() {
                    "die" => std::process::exit(3),
                    "hang" => std::thread::sleep(Duration::from_secs(60)),
                    _ => {
                        let failure = (subject == "new").then(|| "it failed".to_string());
                        let effects = if source == "remove" { vec!["os.remove".to_string()] } else { vec![] };
                        let tested = Tested { failure, effects, waited: elsewhere.into(), ..Tested::default() };
                        send(socket, &FromWorker::Tested { program, tested });
                    }
                },
                ToWorker::Script { program, script } => match script.prefix.as_str() {
                    "die" => std::process::exit(3),
                    "hang" => std::thread::sleep(Duration::from_secs(60)),
                    "other" => send(socket, &FromWorker::Done { program, tainted: false }),
                    _ => {
                        let end = End::Unreadable { line: 1, message: "x".repeat(5000) };
                        let ran = ScriptRun { lines: vec![2, 1, 0, 2, 99], completed: vec![2, 3], end };
                        send(socket, &FromWorker::Ran { program, ran });
                    }
                },
                ToWorker::Inspect { .. } if code == "uninspected" => std::process::exit(1),
                ToWorker::Inspect { program } => {
                    send(socket, &FromWorker::Inspected { program, tainted: code == "taint" });
                }
            }
        }
        if code == "hang at exit" {
            std::thread::sleep(Duration::from_secs(60));
        }
    }

    fn run(socket: &mut Line, code: &str, program: u64, request: &ExecutionRequest) {
        if let Some(flag) = code.strip_prefix("die for good at 2 ") {
            if request.index == 2 {
                std::fs::write(flag, "").unwrap();
                std::process::exit(3);
            }
        } else if let Some((misdeed, flag)) = code.split_once(" once at 2 ") {
            if request.index == 2 && !std::path::Path::new(flag).exists() {
                std::fs::write(flag, "").unwrap();
                return misbehave(socket, misdeed, program, Some(request));
            }
        } else if let Some((misdeed, at)) = code.split_once(" at ")
            && (at == "every" || at == request.index.to_string())
        {
            return misbehave(socket, misdeed, program, Some(request));
        }
        send(socket, &answer(program, request));
    }

    fn answer(program: u64, request: &ExecutionRequest) -> FromWorker {
        let behavior = Behavior {
            stdout: std::process::id().to_string(),
            stderr: std::env::current_dir().unwrap().display().to_string(),
            ..Behavior::new(Outcome::Returned(Observed::None))
        };
        FromWorker::Record { program, record: Box::new(record(request, &behavior)) }
    }

    fn signal(number: i32) {
        // SAFETY: a signal to this process.
        unsafe { libc::kill(std::process::id() as i32, number) };
        std::thread::sleep(Duration::from_secs(60));
    }

    fn misbehave(socket: &mut Line, misdeed: &str, program: u64, request: Option<&ExecutionRequest>) {
        let falsify = |change: &dyn Fn(&mut u64, &mut ExecutionRecord)| {
            let FromWorker::Record { mut program, mut record } = answer(program, request.unwrap()) else {
                unreachable!()
            };
            change(&mut program, &mut record);
            FromWorker::Record { program, record }
        };
        match misdeed {
            "exit" => {
                eprintln!("a last word");
                std::process::exit(3)
            }
            "abort" => std::process::abort(),
            "nothing" => send(socket, &answer(program, request.unwrap())),
            "kill" => signal(libc::SIGKILL),
            "stop" => signal(libc::SIGSTOP),
            "hang" => std::thread::sleep(Duration::from_secs(60)),
            "drip" => {
                // A frame that never ends, one byte at a time.
                let _ = socket.write_all(&[0, 0, 1, 0]);
                while socket.write_all(&[1]).is_ok() {
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
            "forge" => socket.write_all(&[4, 0, 0, 0, 0xc1, 1, 2, 3]).unwrap(),
            "garbage" => {
                let frame = socket.seal.close(vec![4, 0, 0, 0, 0xc1, 1, 2, 3]);
                socket.write_all(&frame).unwrap();
            }
            "oversized" => socket.write_all(&(MAX_RECORD as u32 + 99).to_le_bytes()).unwrap(),
            "deep" => {
                let start = [&[0x81, 0xa6][..], b"record", &[0x81, 0xa7], b"program"].concat();
                let body = [start, vec![0x91; 100_000]].concat();
                let frame = socket.seal.close([&(body.len() as u32).to_le_bytes()[..], &body].concat());
                socket.write_all(&frame).unwrap();
            }
            "many parts" => {
                // Empty texts: a byte each, and many times as much once read.
                let synthesized = vec![String::new(); frame::MAX_PARTS];
                send(socket, &falsify(&|_, record| record.synthesized = synthesized.clone()));
            }
            "parts" => {
                let synthesized = vec![String::new(); frame::MAX_PARTS - 100];
                send(socket, &falsify(&|_, record| record.synthesized = synthesized.clone()));
            }
            "words" if request.is_none() => {
                let error = "word ".repeat(1000);
                let unevaluated = vec![Unevaluated::Statement { line: 1, error }; 1000];
                send(socket, &FromWorker::Loaded { program, unevaluated });
            }
            "words" => send(socket, &FromWorker::Failed { program, reason: "word ".repeat(1000) }),
            "half a frame" => {
                let whole = sealed(socket, &answer(program, request.unwrap()));
                socket.write_all(&whole[..whole.len() / 2]).unwrap();
                std::process::exit(0)
            }
            "close" => {
                let _ = socket.shutdown(std::net::Shutdown::Both);
                std::thread::sleep(Duration::from_secs(60));
            }
            "wrong program" => send(socket, &falsify(&|program, _| *program += 1)),
            "wrong index" => send(socket, &falsify(&|_, record| record.index += 1)),
            "wrong seed" => send(socket, &falsify(&|_, record| record.seed += 1)),
            "too few behaviors" => send(socket, &falsify(&|_, record| record.behaviors.truncate(1))),
            "surplus" => (0..2).for_each(|_| send(socket, &answer(program, request.unwrap()))),
            "hello again" => {
                let hello = FromWorker::Hello {
                    protocol: PROTOCOL_VERSION,
                    twincell: String::new(),
                    python: String::new(),
                    sandbox: SandboxReport::default(),
                };
                send(socket, &hello);
            }
            "done early" => send(socket, &FromWorker::Done { program, tainted: false }),
            "fail" if request.is_none() => send(socket, &FromWorker::Failed { program, reason: "refused".into() }),
            "fail" => send(socket, &FromWorker::Failed { program, reason: "no record".into() }),
            "environment" => {
                let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                let outcome = Outcome::Returned(Observed::Str(names.join(" ")));
                send(socket, &falsify(&|_, record| record.behaviors[0].outcome = outcome.clone()));
            }
            other => panic!("{other}"),
        }
    }
}
