//! What a session is asked to run, and how long it may take.

use twincell_engine::Stop;

use crate::WatchedFunction;

/// Tests to run in one process, one after the other.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Files that exist in the checkout while the request runs, by path relative to its root: variants of test modules.
    /// What was there before is there again afterwards. The path decides how pytest treats it, so a test module has a name
    /// that the project's configuration calls a test module (`test_*.py` nearly everywhere).
    pub files: Vec<(String, String)>,
    /// Node ids, in the order in which they run. Those in `files` are collected anew.
    pub tests: Vec<String>,
    /// Whether all cases of these tests run. The record of a test is then that of its first case that does not pass.
    pub all_cases: bool,
    /// Whether the lines that each test runs are recorded.
    pub coverage: bool,
    /// The files whose lines are recorded, relative to the root. Empty: all files of the repository.
    pub covered: Vec<String>,
    /// Whether tests can call `__twincell_observe__(point, locals())`. Without it the name exists and does nothing.
    pub observe: bool,
    /// Whether objects are asked for nothing but their attributes then: no property, no getter and no `repr` of theirs runs.
    pub quietly: bool,
    /// Whether what the covered files compare is recorded. Their functions then run as others that do the same.
    pub operands: bool,
    /// The functions whose values are recorded when they begin and end.
    pub watched: Vec<WatchedFunction>,
    /// The seed of Python's hashes for a new process of pytest, which collects nothing but the files of these tests, as one
    /// does that a person starts. `None`: a child of the process that has collected everything.
    pub anew: Option<u32>,
}

/// Bounds of tests.
#[derive(Debug, Clone)]
pub struct TestLimits {
    /// The time for collecting, in seconds.
    pub collect_seconds: f64,
    /// The time for one test, in seconds.
    pub test_seconds: f64,
    /// The memory of one process, in bytes.
    pub memory_bytes: u64,
    /// The size of a file, in bytes.
    pub file_bytes: u64,
    /// Whether tests may reach the network.
    pub network: bool,
    /// Whether tests run even where the system does not enforce all of the sandbox.
    pub incomplete: bool,
    /// Files and folders with tests. Empty: those of the project's configuration. Options of pytest are refused.
    pub arguments: Vec<String>,
    /// Variables of the user's environment that tests get besides those that hold no secret.
    pub pass_env: Vec<String>,
    /// The seed of Python's hashes. Another one shows tests that depend on the order of sets.
    pub hash_seed: u32,
    /// Ends every wait for pytest, also while it collects.
    pub stop: Stop,
}

impl Default for TestLimits {
    fn default() -> Self {
        Self {
            collect_seconds: 120.0,
            test_seconds: 60.0,
            memory_bytes: 4 << 30,
            file_bytes: 1 << 30,
            network: false,
            incomplete: false,
            arguments: Vec::new(),
            pass_env: Vec::new(),
            hash_seed: 0,
            stop: Stop::default(),
        }
    }
}
