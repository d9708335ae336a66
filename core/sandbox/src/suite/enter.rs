//! What the child does between fork and exec. Another thread may have held any lock when it was forked, so that everything
//! here is a system call on memory that was made before.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};
use seccompiler::BpfProgram;

use super::mounts::Mounts;
use super::places;
use super::rules::Rules;
use super::supervise::Reach;
use super::{PROCESSES, RUNGS, SuiteLimits, refused, supervise};
use crate::report::Namespaces;

/// All that the child needs.
#[derive(Debug)]
pub struct Entry {
    control: RawFd,
    network: bool,
    rules: Option<Rules>,
    /// The filters for each of the [`RUNGS`].
    filters: Vec<Vec<BpfProgram>>,
    users: [CString; 2],
    mounts: Mounts,
    limits: Vec<(libc::__rlimit_resource_t, u64)>,
    counts_processes: Counts,
}

/// How the system counts processes and threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// All of a user.
    ByUser,
    /// Those of a user in a namespace, except root's.
    InNamespace,
    /// And all of a namespace of processes.
    AllInNamespace,
}

/// A rule for all that lies beneath a folder, as the kernel has it.
#[repr(C, packed)]
struct Beneath {
    rights: u64,
    folder: i32,
}

impl Entry {
    pub fn new(
        limits: &SuiteLimits,
        covers: &[places::Cover],
        control: RawFd,
        rules: Option<Rules>,
        has_filters: bool,
    ) -> io::Result<Self> {
        let scopes = rules.as_ref().is_some_and(|rules| rules.signals.is_some());
        let filters =
            RUNGS.map(|rung| if has_filters { refused::filters(rung, limits.network, scopes) } else { Ok(Vec::new()) });
        // Without rules, mounts alone say what can be written to.
        let mounts = Mounts::new(limits, covers, rules.is_none())?;
        let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        let map = |number: u32| CString::new(format!("{number} {number} 1\n")).map_err(io::Error::other);
        Ok(Self {
            control,
            network: limits.network,
            rules,
            filters: filters.into_iter().collect::<io::Result<_>>()?,
            users: [map(user)?, map(group)?],
            mounts,
            limits: vec![
                (libc::RLIMIT_DATA, limits.memory_bytes),
                (libc::RLIMIT_FSIZE, limits.file_bytes),
                (libc::RLIMIT_CORE, 0),
            ],
            counts_processes: counts(),
        })
    }

    /// Goes into the sandbox. It returns in the process that is to become the command.
    pub fn enter(&self, namespaces: Namespaces) -> io::Result<()> {
        // Without a terminal, nobody can write to the user's.
        rustix::process::setsid()?;
        if namespaces == Namespaces::None {
            self.complete_rules(false)?;
            supervise::fork_below(self.control, self.keep_signals()?)?;
        } else {
            self.separate(namespaces)?;
            if namespaces == Namespaces::All {
                supervise::fork_first(self.control)?;
            }
            let has_terminals = self.mounts.make(namespaces)?;
            if namespaces == Namespaces::All {
                self.bound_processes();
            }
            self.complete_rules(has_terminals)?;
            let reach = if namespaces == Namespaces::All { Reach::Namespace } else { self.keep_signals()? };
            supervise::fork_below(self.control, reach)?;
        }
        self.lock(namespaces)
    }

    /// Makes namespaces in which this process has privileges.
    fn separate(&self, namespaces: Namespaces) -> io::Result<()> {
        let mut flags = libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWIPC;
        if !self.network {
            flags |= libc::CLONE_NEWNET;
        }
        if namespaces == Namespaces::All {
            flags |= libc::CLONE_NEWPID;
        }
        // SAFETY: a call on a number.
        checked(unsafe { libc::unshare(flags) })?;
        // It stays the user that it was.
        put(c"/proc/self/setgroups", c"deny")?;
        put(c"/proc/self/uid_map", &self.users[0])?;
        put(c"/proc/self/gid_map", &self.users[1])?;
        if !self.network {
            raise_loopback()?;
        }
        Ok(())
    }

    /// Bounds how many processes and threads there can be, where they are counted apart from those of the user.
    fn bound_processes(&self) {
        if self.counts_processes == Counts::AllInNamespace {
            let _ = put(c"/proc/sys/kernel/pid_max", MOST_PROCESSES);
        }
    }

    /// Adds rules for file systems that were not there when the others were made.
    fn complete_rules(&self, has_terminals: bool) -> io::Result<()> {
        let Some(rules) = &self.rules else { return Ok(()) };
        let add = |folder: &std::ffi::CStr, rights| {
            // SAFETY: the text outlives the call.
            let folder = checked(unsafe { libc::open(folder.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) })?;
            let rule = Beneath { rights, folder };
            let set = rules.set.as_raw_fd();
            // SAFETY: the rule has the kernel's form and outlives the call.
            checked(unsafe { libc::syscall(libc::SYS_landlock_add_rule, set, 1, &raw const rule, 0) as i32 })
        };
        if has_terminals {
            add(c"/dev/pts", rules.terminals)?;
        }
        add(c"/proc", rules.processes).map(drop)
    }

    /// Keeps the signals of this process, which is to be the supervisor, within the sandbox.
    fn keep_signals(&self) -> io::Result<Reach> {
        let Some(signals) = self.rules.as_ref().and_then(|rules| rules.signals.as_ref()) else {
            return Ok(Reach::Children);
        };
        // Whoever starts this process is outside. A signal to all within must not go there.
        // SAFETY: calls on numbers.
        let reaches_outside = || unsafe { checked(libc::kill(libc::getppid(), 0)).is_ok() };
        let before = reaches_outside();
        set_no_new_privs(true)?;
        // SAFETY: a call on numbers.
        checked(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, signals.as_raw_fd(), 0) as i32 })?;
        Ok(if before && !reaches_outside() { Reach::Domain } else { Reach::Children })
    }

    /// Takes rights away from this process, for good.
    fn lock(&self, namespaces: Namespaces) -> io::Result<()> {
        rustix::process::setsid()?;
        close_on_exec(self.control)?;
        for (resource, value) in &self.limits {
            bound(*resource, *value);
        }
        if namespaces != Namespaces::None && self.counts_processes != Counts::ByUser {
            bound(libc::RLIMIT_NPROC, PROCESSES.into());
        }
        set_no_new_privs(true)?;
        let none = CapabilitySet::empty();
        set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
        if let Some(rules) = &self.rules {
            // SAFETY: a call on numbers.
            checked(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.set.as_raw_fd(), 0) as i32 })?;
        }
        let rung = RUNGS.iter().position(|rung| *rung == namespaces).unwrap_or_default();
        refused::apply(&self.filters[rung])
    }
}

/// [`PROCESSES`] as text.
const MOST_PROCESSES: &std::ffi::CStr = c"2048";

/// How this kernel counts. An older one than expected would bound the whole system.
fn counts() -> Counts {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let mut numbers =
        release.split(|character: char| !character.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    match (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) {
        version if version >= (6, 14) => Counts::AllInNamespace,
        version if version >= (5, 14) => Counts::InNamespace,
        _ => Counts::ByUser,
    }
}

pub fn checked(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Writes a text into a file of the kernel's.
fn put(file: &std::ffi::CStr, text: &std::ffi::CStr) -> io::Result<()> {
    let text = text.to_bytes();
    // SAFETY: the texts outlive the calls.
    unsafe {
        let descriptor = checked(libc::open(file.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC))?;
        let written = libc::write(descriptor, text.as_ptr().cast(), text.len());
        let error = io::Error::last_os_error();
        libc::close(descriptor);
        if written < 0 { Err(error) } else { Ok(()) }
    }
}

/// Lets processes of a new network reach each other under 127.0.0.1 and ::1.
fn raise_loopback() -> io::Result<()> {
    // SAFETY: the structure is plain data, and outlives the calls.
    unsafe {
        let socket = checked(libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0))?;
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo\0") {
            *to = *from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        let raised = checked(libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request));
        libc::close(socket);
        raised.map(drop)
    }
}

/// Closes all descriptors at exec but the standard ones and one more.
fn close_on_exec(kept: RawFd) -> io::Result<()> {
    // SAFETY: calls on numbers.
    unsafe {
        // Older kernels have no such call. Rust's own descriptors are closed anyway.
        libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
        checked(libc::fcntl(kept, libc::F_SETFD, 0)).map(drop)
    }
}

/// Lowers a limit, unless it is lower already.
fn bound(resource: libc::__rlimit_resource_t, value: u64) {
    // SAFETY: the structure outlives the calls.
    unsafe {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(resource, &raw mut limit) == 0 {
            limit.rlim_max = limit.rlim_max.min(value);
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(resource, &raw const limit);
        }
    }
}
