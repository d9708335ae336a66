//! The sandbox of a project's tests: a process that runs the project's own Python, and all that it starts.
//!
//! Real suites change modes of files, start servers and programs, and list folders. So this sandbox refuses what reaches
//! out, where a worker's allows what is known. Rules are made before the fork, where memory can be had. The child only makes
//! system calls with them: it goes into namespaces of its own, leaves a supervisor behind that ends all that tests start,
//! and takes rights away from itself.

#[cfg(not(target_os = "linux"))]
mod bare;
#[cfg(target_os = "linux")]
mod enter;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod places;
#[cfg(target_os = "linux")]
mod refused;
#[cfg(target_os = "linux")]
mod rules;
#[cfg(target_os = "linux")]
mod supervise;
mod wait;

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::RawFd;
use std::path::PathBuf;
#[cfg(target_os = "linux")]
use std::process::{Child, Command};

use crate::report::Lack;
#[cfg(target_os = "linux")]
use crate::report::{Mechanism, Namespaces, Network, SuiteReport};
#[cfg(not(target_os = "linux"))]
pub use bare::spawn;
#[cfg(target_os = "linux")]
use enter::Entry;
pub use wait::output_within;

/// What a project's tests may do.
#[derive(Debug, Clone)]
pub struct SuiteLimits {
    /// A folder of this process alone, for what stands in the place of the system's temporary folders.
    pub folder: PathBuf,
    /// Files and folders that they may write to, beside temporary folders.
    pub writable: Vec<PathBuf>,
    /// Files and folders that they need, also where `closed` says otherwise.
    pub readable: Vec<PathBuf>,
    /// Files and folders that they cannot read. Everything else can be read.
    pub closed: Vec<PathBuf>,
    /// The memory of each process, in bytes.
    pub memory_bytes: u64,
    /// The size of each file, in bytes.
    pub file_bytes: u64,
    /// Whether they reach the network. Otherwise they reach each other only.
    pub network: bool,
}

#[cfg(target_os = "linux")]
/// How many processes and threads there can be at once, where the system counts those of a namespace.
const PROCESSES: u32 = 2048;

#[cfg(target_os = "linux")]
/// The namespaces that are tried one after the other. A container may allow only some of them, or none.
const RUNGS: [Namespaces; 3] = [Namespaces::All, Namespaces::SharedProcesses, Namespaces::None];

/// Starts a command in the sandbox, with a socket of which the other end is ours. When that end is closed, or the command
/// ends, everything that it has started ends. The child that comes back ends last.
///
/// # Errors
///
/// Why the command does not start, or what is missing here unless `incomplete` allows it.
#[cfg(target_os = "linux")]
pub fn spawn(
    command: &mut Command,
    control: RawFd,
    limits: &SuiteLimits,
    incomplete: bool,
) -> Result<(Child, SuiteReport), SpawnError> {
    use std::os::unix::process::CommandExt as _;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    // Rules are for folders that are there.
    let covers = places::covered(limits);
    places::make(&covers)?;
    let mut lacks = Vec::new();
    let mut lack = |mechanism, reason: String| lacks.push(Lack { mechanism, reason });
    let rules = rules::landlock(limits, &covers).map_err(|reason| lack(Mechanism::Landlock, reason)).ok();
    let has_filters = refused::is_available();
    if !has_filters {
        lack(Mechanism::Seccomp, "the kernel does not have it".into());
    }
    if !incomplete && !lacks.is_empty() {
        return Err(SpawnError::Incomplete(lacks));
    }
    let scopes = rules.as_ref().is_some_and(|rules| rules.signals.is_some());
    let entry = Entry::new(limits, &covers, control, rules, has_filters)?;
    let rung = Arc::new(AtomicUsize::new(0));
    let chosen = rung.clone();
    // SAFETY: it makes system calls only, on memory that was made before the fork.
    unsafe { command.pre_exec(move || entry.enter(RUNGS[chosen.load(Ordering::Relaxed)])) };
    let words = |error: &str, namespaces| in_words(error, namespaces, scopes, limits, has_filters);
    let (mut first, mut last) = (None::<String>, None);
    for (at, namespaces) in RUNGS.into_iter().enumerate() {
        rung.store(at, Ordering::Relaxed);
        match command.spawn() {
            Ok(child) => {
                if let Some(error) = first {
                    lacks.push(Lack { mechanism: Mechanism::Namespaces, reason: words(&error, namespaces) });
                }
                let network = match namespaces {
                    _ if limits.network => Network::Open,
                    Namespaces::None if has_filters => Network::None,
                    Namespaces::None => Network::Open,
                    _ => Network::Own,
                };
                return Ok((child, SuiteReport { network, namespaces, lacks }));
            }
            Err(error) => {
                // On the next rungs tests could end any process of the user.
                if !scopes && !incomplete {
                    if error.kind() == io::ErrorKind::NotFound {
                        return Err(SpawnError::System(error));
                    }
                    let reason = words(&error.to_string(), Namespaces::SharedProcesses);
                    lacks.push(Lack { mechanism: Mechanism::Namespaces, reason });
                    return Err(SpawnError::Incomplete(lacks));
                }
                first.get_or_insert_with(|| error.to_string());
                last = Some(error);
            }
        }
    }
    Err(SpawnError::System(last.unwrap_or_else(|| io::ErrorKind::Unsupported.into())))
}

/// What tests lose without some namespaces, or can do.
#[cfg(target_os = "linux")]
fn in_words(error: &str, namespaces: Namespaces, scopes: bool, limits: &SuiteLimits, has_filters: bool) -> String {
    let signals = match scopes {
        true => "",
        false if supervise::lists_children() => ", and can signal your processes",
        false => ", and can signal your processes and leave processes running",
    };
    let lost = match namespaces {
        Namespaces::None if !has_filters => "get no network and no /tmp of their own",
        Namespaces::None if limits.network => {
            "get no local sockets and no /tmp of their own, change no modes and times of files"
        }
        Namespaces::None => "get no sockets and no /tmp of their own, change no modes and times of files",
        _ => "see the numbers of other processes",
    };
    format!("tests {lost}{signals}: {error}")
}

/// Why a command does not start.
#[derive(Debug)]
pub enum SpawnError {
    /// What the system does not enforce.
    Incomplete(Vec<Lack>),
    System(io::Error),
}

impl From<io::Error> for SpawnError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}
