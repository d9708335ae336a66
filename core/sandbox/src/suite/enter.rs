//! What the child does between fork and exec. Another thread may have held any lock when it was forked, so that everything
//! here is a system call on memory that was made before.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};
use seccompiler::BpfProgram;

use super::places;
use super::rules::Rules;
use super::{PROCESSES, RUNGS, SuiteLimits, refused, supervise};

/// The namespaces of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespaces {
    All,
    /// Without one of processes: a container in which parts of `/proc` are hidden allows no other `/proc`.
    SharedProcesses,
    None,
}

/// All that the child needs.
#[derive(Debug)]
pub struct Entry {
    control: RawFd,
    network: bool,
    rules: Option<Rules>,
    /// The filters for each of the [`RUNGS`].
    filters: Vec<Vec<BpfProgram>>,
    users: [CString; 2],
    covers: Vec<Cover>,
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

#[derive(Debug)]
struct Cover {
    place: CString,
    instead: CString,
    kept: Vec<(CString, AtomicI32)>,
}

type Text = *const libc::c_char;

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
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other);
        let covers = covers.iter().map(|cover| {
            let kept = cover.kept.iter().map(|path| Ok((text(path)?, AtomicI32::new(-1))));
            let kept = kept.collect::<io::Result<_>>()?;
            Ok(Cover { place: text(&cover.place)?, instead: text(&cover.instead)?, kept })
        });
        let covers = covers.collect::<io::Result<_>>()?;
        let filters =
            RUNGS.map(|rung| if has_filters { refused::filters(rung, limits.network) } else { Ok(Vec::new()) });
        let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        let map = |number: u32| CString::new(format!("{number} {number} 1\n")).map_err(io::Error::other);
        Ok(Self {
            control,
            network: limits.network,
            rules,
            filters: filters.into_iter().collect::<io::Result<_>>()?,
            users: [map(user)?, map(group)?],
            covers,
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
            supervise::fork_below(self.control)?;
        } else {
            self.separate(namespaces)?;
            if namespaces == Namespaces::All {
                supervise::fork_first(self.control)?;
            }
            let has_terminals = self.mount(namespaces)?;
            if namespaces == Namespaces::All {
                self.bound_processes();
            }
            self.complete_rules(has_terminals)?;
            supervise::fork_below(self.control)?;
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

    /// Puts folders of its own into the place of others.
    /// Returns whether it has terminals of its own.
    fn mount(&self, namespaces: Namespaces) -> io::Result<bool> {
        let none = std::ptr::null();
        // SAFETY: all texts outlive the calls.
        let mount_with = |from: Text, to: Text, kind: Text, flags, options: Text| unsafe {
            checked(libc::mount(from, to, kind, flags, options.cast()))
        };
        let mount = |from, to, kind, flags| mount_with(from, to, kind, flags, none);
        mount(none, c"/".as_ptr(), none, libc::MS_REC | libc::MS_PRIVATE)?;
        for (path, opened) in self.covers.iter().flat_map(|cover| &cover.kept) {
            // SAFETY: the text outlives the call.
            let descriptor = unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
            opened.store(descriptor, Ordering::Relaxed);
        }
        for cover in &self.covers {
            match mount(cover.instead.as_ptr(), cover.place.as_ptr(), none, libc::MS_BIND | libc::MS_REC) {
                // Another cover lies over it.
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => continue,
                other => other.map(drop)?,
            }
            for (path, opened) in &cover.kept {
                let descriptor = opened.load(Ordering::Relaxed);
                if descriptor >= 0 {
                    let mut text = [0; 32];
                    mount(opened_path(descriptor, &mut text), path.as_ptr(), none, libc::MS_BIND | libc::MS_REC)?;
                }
            }
        }
        let quiet = libc::MS_NOSUID | libc::MS_NOEXEC;
        // Terminals of its own. Where there are none, programs that want one fail.
        let (kind, place) = (c"devpts".as_ptr(), c"/dev/pts".as_ptr());
        let has_terminals = mount_with(kind, place, kind, quiet, c"ptmxmode=0666".as_ptr()).is_ok();
        if namespaces == Namespaces::All {
            mount(c"proc".as_ptr(), c"/proc".as_ptr(), c"proc".as_ptr(), quiet | libc::MS_NODEV)?;
        }
        Ok(has_terminals)
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

fn checked(result: i32) -> io::Result<i32> {
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

/// `/proc/self/fd/7`
fn opened_path(descriptor: RawFd, text: &mut [u8; 32]) -> *const libc::c_char {
    let start = b"/proc/self/fd/";
    text[..start.len()].copy_from_slice(start);
    let (mut digits, mut rest, mut length) = ([0; 10], descriptor, 0);
    while rest > 0 || length == 0 {
        digits[length] = b'0' + (rest % 10) as u8;
        (rest, length) = (rest / 10, length + 1);
    }
    for at in 0..length {
        text[start.len() + at] = digits[length - 1 - at];
    }
    text.as_ptr().cast()
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
