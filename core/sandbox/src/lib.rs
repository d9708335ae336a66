//! Locks processes into a sandbox before they run a line of foreign code.
//!
//! A worker calls [`lock`] on itself. The [`SandboxReport`] names each mechanism that is missing on a system. The engine
//! decides what that means. Blocked effects are observed elsewhere. `suite/` is the sandbox of a project's own tests. Nothing
//! here knows Python.
//!
//! ```
//! use twincell_sandbox::{Limits, Processes, lock};
//!
//! let folder = tempfile::tempdir()?;
//! let scratch = folder.path().to_path_buf();
//! let processes = Processes::None;
//! let report = lock(&Limits { scratch, readable: vec![], listable: vec![], memory_bytes: 1 << 30, open_files: 64, processes });
//!
//! // From here on this process is locked in, for good. Where the system enforces less, the report says so.
//! if report.is_complete() {
//!     assert!(std::fs::write(folder.path().join("note"), "kept").is_ok());
//!     assert!(std::fs::write("elsewhere", "refused").is_err());
//!     assert!(std::net::TcpListener::bind("127.0.0.1:0").is_err());
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

#[cfg(target_os = "linux")]
mod allowed;
#[cfg(target_os = "linux")]
mod filesystem;
mod limits;
mod report;
mod suite;
#[cfg(target_os = "linux")]
mod syscalls;

use std::path::PathBuf;

pub use limits::MAX_FILE;
pub use report::{Lack, Mechanism, Namespaces, Network, SandboxReport, SuiteReport};
pub use suite::{SpawnError, SuiteLimits, output_within, spawn};

/// What the locked process may still do.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The only folder that it may write to.
    pub scratch: PathBuf,
    /// Files and folders, besides the system's libraries, that it may read.
    pub readable: Vec<PathBuf>,
    /// Folders whose names it may list, down to the last one, but whose files it may not read.
    pub listable: Vec<PathBuf>,
    /// The memory limit beyond its present use.
    pub memory_bytes: u64,
    /// The maximum number of open files.
    pub open_files: u64,
    /// Which other processes may be started. They inherit all restrictions; only the memory limit counts for each of them
    /// separately.
    pub processes: Processes,
}

/// Which processes a locked process may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processes {
    None,
    /// Forks of itself, which can be locked in further. This is for our own processes that run no foreign code.
    Forks,
    /// Programs, for test suites, which start Python and helpers.
    Programs,
}

/// What Landlock governs here.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Landlock {
    None,
    Files,
    FilesAndSignals,
}

/// Locks the process. Call this while it has only one thread: on older systems the others would stay free. A second call
/// can only take more away, and succeeds after [`Processes::Forks`].
#[cfg(target_os = "linux")]
pub fn lock(limits: &Limits) -> SandboxReport {
    let privileges = drop_privileges();
    let bounds = limits::set(limits);
    let files = filesystem::restrict(limits);
    // Landlock keeps other workers from inspecting this one. Where there is none, nobody may, not even the engine, which
    // counts the files that a worker holds open.
    let privileges = privileges.and_then(|()| if files.is_err() { forbid_inspection() } else { Ok(()) });
    let landlock = files.as_ref().map_or(Landlock::None, |(governs, _)| *governs);
    let calls = syscalls::filter(landlock, limits.processes);
    let filesystem = match (&files, &calls) {
        (Ok((_, text)), _) => text.clone(),
        (Err(reason), Ok(())) => {
            format!("seccomp: nothing can be written, everything can be read (Landlock is not available: {reason})")
        }
        (Err(reason), Err(_)) => format!("not available: {reason}"),
    };
    let by_filter = |what: &str| match &calls {
        Ok(()) => format!("seccomp: {what}"),
        Err(reason) => format!("not available: {reason}"),
    };
    SandboxReport {
        filesystem,
        network: by_filter("no sockets"),
        programs: match limits.processes {
            Processes::None => by_filter("no new programs and processes"),
            Processes::Forks => by_filter("no new programs"),
            Processes::Programs => "allowed, as locked in as this one".into(),
        },
        memory: bounds.memory.clone().unwrap_or_else(not_available),
        time: bounds.time.clone().unwrap_or_else(not_available),
        lacks: lacks([
            (Mechanism::Landlock, files.err()),
            (Mechanism::Seccomp, calls.err()),
            (Mechanism::Privileges, privileges.err().map(|error| error.to_string())),
            (Mechanism::Limits, bounds.memory.err().or(bounds.time.err()).or(bounds.files.err())),
        ]),
    }
}

/// Sets the bounds that the system supports. Call this once.
#[cfg(not(target_os = "linux"))]
pub fn lock(limits: &Limits) -> SandboxReport {
    let bounds = limits::set(limits);
    let hook = "not enforced by this system";
    SandboxReport {
        filesystem: hook.into(),
        network: hook.into(),
        programs: hook.into(),
        lacks: lacks([
            (Mechanism::Landlock, Some(hook.into())),
            (Mechanism::Seccomp, Some(hook.into())),
            (Mechanism::Limits, bounds.memory.clone().err().or(bounds.time.clone().err())),
        ]),
        memory: bounds.memory.unwrap_or_else(not_available),
        time: bounds.time.unwrap_or_else(not_available),
    }
}

fn lacks<const N: usize>(failures: [(Mechanism, Option<String>); N]) -> Vec<Lack> {
    failures.into_iter().filter_map(|(mechanism, reason)| Some(Lack { mechanism, reason: reason? })).collect()
}

fn not_available(reason: String) -> String {
    format!("not available: {reason}")
}

/// Gives up root's privileges, and those that a later program could gain.
#[cfg(target_os = "linux")]
fn drop_privileges() -> Result<(), rustix::io::Errno> {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};

    set_no_new_privs(true)?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// Nobody without privileges may inspect the process.
#[cfg(target_os = "linux")]
fn forbid_inspection() -> Result<(), rustix::io::Errno> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};

    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}
