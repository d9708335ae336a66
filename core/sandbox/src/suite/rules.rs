//! Landlock for tests: everything can be read except what is closed, and little can be written.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    Scope, path_beneath_rules,
};

use super::SuiteLimits;
use super::places::Cover;
use crate::filesystem::{NEEDED, SCOPES};

/// The newest version whose rights are requested.
const NEWEST: ABI = crate::filesystem::NEWEST;

/// What is closed on every system: secrets that root can read, what other processes have and offer, and devices.
const CLOSED: [&str; 11] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/ssh",
    "/dev",
    "/proc",
    "/run",
    "/tmp",
    "/var/tmp",
];
/// Devices that programs use, and what says where names of the network are looked up.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/ptmx"];
const RESOLVERS: [&str; 2] = ["/run/systemd/resolve", "/run/resolvconf"];

/// Rules that a process takes upon itself.
#[derive(Debug)]
pub struct Rules {
    pub set: OwnedFd,
    /// Rights in a file system of processes, and in one of terminals, which are made later.
    pub processes: u64,
    pub terminals: u64,
    /// Rules of their own that keep signals within the sandbox, where the system has such. Then those above keep signals, and
    /// connections to local sockets without a file, within it as well.
    pub signals: Option<OwnedFd>,
}

/// Files and folders that tests read although what is around them is closed.
pub fn open_in_closed(limits: &SuiteLimits) -> Vec<PathBuf> {
    let resolvers = RESOLVERS.iter().filter(|_| limits.network).map(PathBuf::from);
    let needed = limits.readable.iter().chain(&limits.writable).chain([&limits.folder]).cloned();
    let real = needed.chain(resolvers).filter_map(|path| path.canonicalize().ok());
    real.filter(|path| path.parent().is_some() && !CLOSED.iter().any(|closed| path == Path::new(closed))).collect()
}

/// What is closed, without what is needed. A part of a closed folder that is needed is open all the same.
pub fn closed(limits: &SuiteLimits) -> BTreeSet<PathBuf> {
    let open = open_in_closed(limits);
    let all = CLOSED.iter().map(PathBuf::from).chain(limits.closed.iter().cloned());
    all.filter_map(|path| path.canonicalize().ok()).filter(|path| !open.contains(path)).collect()
}

/// The rules, or why there are none.
pub fn landlock(limits: &SuiteLimits, covers: &[Cover]) -> Result<Rules, String> {
    // SAFETY: with this flag the call takes no memory.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, 1) };
    if version < 0 {
        return Err("the kernel does not have it".into());
    }
    let version = ABI::from(version as i32);
    if version < NEEDED {
        return Err("its version does not govern all ways to write".into());
    }
    let set = ruleset(limits, covers).map_err(|error| error.to_string())?;
    let read = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute;
    let terminals = read | AccessFs::WriteFile | AccessFs::IoctlDev;
    let terminals = terminals & AccessFs::from_all(version);
    let set = set.ok_or("no rule could be enforced")?;
    let signals = if version < SCOPES { None } else { signals().map_err(|error| error.to_string())? };
    Ok(Rules { set, processes: read.bits(), terminals: terminals.bits(), signals })
}

fn signals() -> Result<Option<OwnedFd>, RulesetError> {
    Ok(Ruleset::default().set_compatibility(CompatLevel::HardRequirement).scope(Scope::Signal)?.create()?.into())
}

fn ruleset(limits: &SuiteLimits, covers: &[Cover]) -> Result<Option<OwnedFd>, RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute;
    let device: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let own = AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let closed = closed(limits);
    let mut readable = Vec::new();
    for path in std::iter::once(PathBuf::from("/")).chain(open_in_closed(limits)) {
        open_except(&path, &closed, &mut readable);
    }
    let writable = covers.iter().filter(|cover| cover.writable).map(|cover| &cover.instead);
    let created = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        // Names are no secrets, and suites list folders that lie above their own.
        .add_rules(path_beneath_rules(["/"], AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(readable, read))?
        .add_rules(path_beneath_rules(DEVICES, device))?
        .add_rules(path_beneath_rules(limits.writable.iter().chain(writable), own))?;
    Ok(created.into())
}

/// Adds a folder, or the parts of it that are not closed.
fn open_except(path: &Path, closed: &BTreeSet<PathBuf>, open: &mut Vec<PathBuf>) {
    let inside = closed.iter().any(|closed| closed != path && closed.starts_with(path));
    if !inside {
        open.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        // A link is as open as what it leads to.
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if !is_link && !closed.contains(&entry.path()) {
            open_except(&entry.path(), closed, open);
        }
    }
}
