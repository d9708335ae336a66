//! Locks the worker's own process in, for good, before it runs a line of foreign code.
//!
//! Each mechanism that is missing on a system is named in the [`SandboxReport`]; none is an error, because the audit
//! hook and the engine's deadlines hold everywhere. Observing blocked effects is not done here.

#[cfg(target_os = "linux")]
mod filesystem;
mod limits;
#[cfg(target_os = "linux")]
mod syscalls;

#[cfg(target_os = "linux")]
pub(crate) use syscalls::fork_token;

use std::path::PathBuf;

use twincell_engine::protocol::SandboxReport;

/// What the locked-in process may still do.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The only folder that it may write to.
    pub scratch: PathBuf,
    /// Files and folders, besides the system's libraries, that it may read.
    pub readable: Vec<PathBuf>,
    /// Memory beyond what it takes now.
    pub memory_bytes: u64,
    /// Open files at most.
    pub open_files: u64,
    /// Other programs and processes may be started. They inherit all that holds here; only the memory limit counts for
    /// each of them anew. For test suites, which start Python and helpers; workers have no use for it.
    pub programs: bool,
}

/// Locks the process in. To be called once, while it has only one thread: the others would stay free on older systems.
#[cfg(target_os = "linux")]
pub fn lock(limits: &Limits) -> SandboxReport {
    let privileges = drop_privileges();
    let bounds = limits::set(limits);
    let files = filesystem::restrict(limits);
    let calls = syscalls::filter(files.is_err(), limits.programs);
    let filesystem = match (&files, &calls) {
        (Ok(text), _) => text.clone(),
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
        programs: if limits.programs {
            "allowed, as locked in as this one".into()
        } else {
            by_filter("no new programs and processes")
        },
        memory: bounds.memory.clone().unwrap_or_else(not_available),
        time: bounds.time.clone().unwrap_or_else(not_available),
        complete: files.is_ok()
            && calls.is_ok()
            && privileges.is_ok()
            && bounds.memory.is_ok()
            && bounds.time.is_ok()
            && bounds.files.is_ok(),
    }
}

/// Sets what bounds the system has. To be called once.
#[cfg(not(target_os = "linux"))]
pub fn lock(limits: &Limits) -> SandboxReport {
    let bounds = limits::set(limits);
    let hook = "not enforced by this system";
    SandboxReport {
        filesystem: hook.into(),
        network: hook.into(),
        programs: hook.into(),
        memory: bounds.memory.unwrap_or_else(not_available),
        time: bounds.time.unwrap_or_else(not_available),
        complete: false,
    }
}

fn not_available(reason: String) -> String {
    format!("not available: {reason}")
}

/// Gives up what only root may do, and what a later program could gain; nobody else may look into the process.
#[cfg(target_os = "linux")]
fn drop_privileges() -> Result<(), rustix::io::Errno> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};

    set_no_new_privs(true)?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}
