//! Bounds by rlimit: memory, CPU time, file size, open files, queued signals, dumps of memory. They hold on every Unix.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::Limits;

/// The largest file that a locked process can write.
pub const MAX_FILE: u64 = 64 << 20;
/// The CPU time of a worker, for all executions of its program: a last resort for one that outlives its engine.
const CPU_SECONDS: u64 = 3600;
/// Address space that libraries reserve and never use (thread stacks, arenas, mapped files).
const RESERVED_BYTES: u64 = 8 << 30;
/// Queued signals, which the system counts for the whole user. Beyond this number a signal still arrives, and no two of
/// one kind wait.
#[cfg(target_os = "linux")]
const QUEUED_SIGNALS: u64 = 256;
/// Memory that stays out of swap space: enough for keys.
const LOCKED_BYTES: u64 = 64 << 10;

/// The limits that were set, or why this failed.
pub struct Bounds {
    pub memory: Result<String, String>,
    pub time: Result<String, String>,
    pub files: Result<(), String>,
}

pub fn set(limits: &Limits) -> Bounds {
    let files = [
        bound(Resource::Fsize, MAX_FILE),
        bound(Resource::Nofile, limits.open_files),
        bound(Resource::Memlock, LOCKED_BYTES),
        #[cfg(target_os = "linux")]
        bound(Resource::Sigpending, QUEUED_SIGNALS),
        no_dumps(),
    ];
    Bounds {
        memory: memory(limits.memory_bytes),
        time: bound(Resource::Cpu, CPU_SECONDS)
            .map(|()| format!("the engine's deadlines; rlimit: {CPU_SECONDS} s of CPU time a worker")),
        files: files.into_iter().collect(),
    }
}

#[cfg(target_os = "linux")]
fn memory(limit: u64) -> Result<String, String> {
    // The fields of statm, in pages: size resident shared text lib data dt.
    let statm = std::fs::read_to_string("/proc/self/statm").map_err(|error| format!("/proc/self/statm: {error}"))?;
    let field = |index: usize| statm.split_whitespace().nth(index).and_then(|field| field.parse::<u64>().ok());
    let (Some(size), Some(data)) = (field(0), field(5)) else { return Err("/proc/self/statm is unreadable".into()) };
    let page = rustix::param::page_size() as u64;
    bound(Resource::Data, data * page + limit)?;
    bound(Resource::As, size * page + limit + RESERVED_BYTES)?;
    Ok(format!("rlimit: {} MiB more than Python itself takes", limit >> 20))
}

#[cfg(not(target_os = "linux"))]
fn memory(limit: u64) -> Result<String, String> {
    bound(Resource::As, limit + RESERVED_BYTES)?;
    Ok(format!("rlimit: {} MiB of address space", (limit + RESERVED_BYTES) >> 20))
}

/// Keeps the system from dumping the memory of this process.
fn no_dumps() -> Result<(), String> {
    bound(Resource::Core, 1)?;
    // Where the system pipes dumps to a program, a limit of 1 byte keeps it from that, and 0 does not. Then nothing else
    // helps than that nobody without privileges may inspect this process, which also closes `/proc/PID/fd` and `maps`:
    // an engine without privileges does not see files without a name any more. A program that this process starts
    // can be dumped again.
    #[cfg(target_os = "linux")]
    if getrlimit(Resource::Core).maximum != Some(1) {
        super::forbid_inspection().map_err(|error| format!("prctl: {error}"))?;
    }
    Ok(())
}

/// Lowers a limit for good, unless it is already lower.
fn bound(resource: Resource, value: u64) -> Result<(), String> {
    let present = getrlimit(resource);
    let value = Some(present.maximum.map_or(value, |maximum| maximum.min(value)));
    setrlimit(resource, Rlimit { current: value, maximum: value }).map_err(|error| format!("setrlimit: {error}"))
}
