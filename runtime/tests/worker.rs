//! The worker's loop under a real pool. The worker is this test program, started again, with a host that needs no
//! Python: what a program's text says is what each execution does.

use std::path::PathBuf;
use std::time::Duration;

use twincell_engine::observed::{Behavior, Observed, Outcome};
use twincell_engine::protocol::{ExecutionRecord, ExecutionRequest, Program, Unevaluated};
use twincell_engine::{EngineError, MEMORY_VARIABLE, SOCKET_VARIABLE, WorkerPool};
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
    if info.sandbox.complete {
        assert!(run_three(&pool(), "read /etc/passwd")[0].contains("denied"));
    }
}

/// Not a test: the worker.
#[test]
fn fake_python() {
    let Ok(socket) = std::env::var(SOCKET_VARIABLE) else { return };
    let setup = Setup {
        socket: socket.parse().unwrap(),
        scratch: std::env::current_dir().unwrap(),
        readable: Vec::new(),
        memory_bytes: std::env::var(MEMORY_VARIABLE).unwrap().parse().unwrap(),
        python: "3.fake".into(),
    };
    let served = serve(&setup, &mut FakeHost::default());
    std::process::exit(if served.is_ok() { 0 } else { 1 });
}

#[derive(Default)]
struct FakeHost {
    code: String,
}

impl Host for FakeHost {
    fn test(&mut self, _: &str, subject: &str) -> (Option<String>, Vec<String>) {
        (Some(format!("no tests of {subject} here")), vec![])
    }

    fn load(&mut self, _: u64, source: Program) -> Result<Vec<Unevaluated>, String> {
        self.code = source.versions[0].code.clone();
        if self.code == "refuse" { Err("refused".into()) } else { Ok(Vec::new()) }
    }

    fn predict(&mut self, program: u64, source: Program) -> Result<(), String> {
        self.load(program, source).map(drop)
    }

    fn unload(&mut self, _: u64) {
        self.code.clear();
    }

    fn run(&mut self, _: u64, request: &ExecutionRequest) -> Result<ExecutionRecord, String> {
        let close = |numbers: std::ops::Range<i32>| {
            for number in numbers {
                // SAFETY: the number is all that `close` takes, and one that is not open is an error code.
                unsafe { libc::close(number) };
            }
        };
        let text = match self.code.as_str() {
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
        Ok(record(request, &Behavior::new(Outcome::Returned(Observed::Str(text)))))
    }
}
