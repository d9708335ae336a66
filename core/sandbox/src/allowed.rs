//! The system calls that a worker may make, in groups, each with its reason. `syscalls` makes filters of them.
//!
//! What is on no list is refused: sockets, programs and processes, other processes' memory, the kernel's administration,
//! objects that outlive a process (System V and POSIX queues, semaphores and shared memory), memory that no limit counts
//! (`memfd_create`), news of what others do with files (inotify, fanotify), other ways to ask for the same (io_uring), and
//! whatever a later kernel brings.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompCondition, SeccompRule};

use super::{Landlock, Processes};

pub type Fallible<T> = Result<T, Box<dyn std::error::Error>>;
/// Calls by number, each with the arguments that are meant: those of any of its rules, or all if it has no rule.
pub type Calls = BTreeMap<c_long, Vec<SeccompRule>>;

/// With any arguments.
const ALWAYS: [&[c_long]; 10] =
    [MEMORY, THREADS, ITSELF, CLOCKS, SIGNALS, DESCRIPTORS, WAITING, FOLDERS, FILES, STREAMS];

/// A process's own memory. The limits count all that these calls can give it; `mmap` is among the rules.
const MEMORY: &[c_long] = &[
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_msync,
    libc::SYS_mincore,
    // Libraries of cryptography keep keys out of swap space. RLIMIT_MEMLOCK bounds it.
    libc::SYS_mlock,
    libc::SYS_mlock2,
    libc::SYS_munlock,
    libc::SYS_munlockall,
    // NumPy's linear algebra asks on which processor memory lies.
    libc::SYS_get_mempolicy,
];

/// Threads, which the C library starts and ends, and their locks. `clone` is among the rules.
const THREADS: &[c_long] = &[
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_membarrier,
    libc::SYS_gettid,
    libc::SYS_getcpu,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getattr,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_sched_rr_get_interval,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // Where the C library keeps what belongs to a thread.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_arch_prctl,
];

/// Questions about the process, its user and the machine, and its mask for new files.
const ITSELF: &[c_long] = &[
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getpgid,
    libc::SYS_getsid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getgroups,
    libc::SYS_capget,
    libc::SYS_getrlimit,
    libc::SYS_getrusage,
    libc::SYS_getpriority,
    libc::SYS_times,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_getrandom,
    libc::SYS_umask,
    // There is no child to wait for, and code gets to know that.
    libc::SYS_wait4,
    libc::SYS_waitid,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_getpgrp,
];

/// Time is read, not set. Timers reach this process alone. Those of POSIX (`timer_create`) stay out: the system counts
/// them for the whole user, so that one process could take what the next one needs. Python has no use for them.
const CLOCKS: &[c_long] = &[
    libc::SYS_gettimeofday,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_getitimer,
    libc::SYS_setitimer,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_time,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_alarm,
];

/// Handlers and masks of signals. Sending is among the rules.
const SIGNALS: &[c_long] = &[
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_signalfd4,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_signalfd,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_pause,
];

/// Reading and writing what is open: how it was opened says what may be done with it. RLIMIT_FSIZE bounds each file.
/// `close_range` and `fallocate` are among the rules.
const DESCRIPTORS: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_preadv2,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_lseek,
    libc::SYS_ftruncate,
    libc::SYS_flock,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync_file_range,
    libc::SYS_fadvise64,
    libc::SYS_readahead,
    libc::SYS_sendfile,
    libc::SYS_copy_file_range,
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_close,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_eventfd2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_dup2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_pipe,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_eventfd,
];

/// Waiting for what is open: the loop of asyncio and its like.
const WAITING: &[c_long] = &[
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_select,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_create,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
];

/// Walking through folders. Landlock governs which of them can be listed.
const FOLDERS: &[c_long] = &[libc::SYS_getcwd, libc::SYS_chdir, libc::SYS_fchdir, libc::SYS_getdents64];

/// What files are: sizes, times, links. Landlock does not govern this, and code needs it to find its modules.
const FILES: &[c_long] = &[
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_getdents,
];

/// What users write beside a file's content, which Landlock does not govern either. Programs expect file systems that have
/// none of it.
const ATTRIBUTES: &[c_long] = &[
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_fgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_flistxattr,
];

/// Talking through a pair of sockets. Making one, sending and receiving are among the rules.
const STREAMS: &[c_long] = &[libc::SYS_getsockopt, libc::SYS_getsockname, libc::SYS_getpeername, libc::SYS_shutdown];

/// Changes of files and folders, which Landlock confines to the worker's own folder.
const CHANGES: &[c_long] = &[
    libc::SYS_openat2,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_renameat,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_truncate,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_symlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
];

/// It has no name in `libc` on every processor.
const FCHMODAT2: c_long = 452;

/// Modes and times of files, which Landlock does not govern. Where programs run, these calls report success and have no
/// effect, since whoever copies a file sets them.
pub const MODES: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// Starting programs. `clone` is among the rules.
const PROGRAMS: &[c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
];

/// Forking this process, and locking a fork in further. `clone` and `prctl` are among the rules.
const FORKS: &[c_long] = &[
    libc::SYS_setpgid,
    libc::SYS_capset,
    libc::SYS_setrlimit,
    libc::SYS_prlimit64,
    libc::SYS_landlock_create_ruleset,
    libc::SYS_landlock_add_rule,
    libc::SYS_landlock_restrict_self,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
];

/// Signals to other processes. Landlock's scopes keep them within the sandbox where programs run; where it has no scopes,
/// none are sent. A process that forks lets all pass, because whom a signal may reach is told by the number
/// of a process, and its forks have others.
const SENDING: &[c_long] = &[libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill];

/// The calls that a process may make.
pub fn calls(landlock: Landlock, processes: Processes) -> Fallible<Calls> {
    let mut calls = with_any_arguments(&ALWAYS);
    calls.extend(by_arguments(processes)?);
    match landlock {
        Landlock::None => calls.extend(reading_opens()?),
        Landlock::Files | Landlock::FilesAndSignals => calls.extend(with_any_arguments(&[OPENING, CHANGES])),
    }
    // What has a rule as well is allowed with any arguments here.
    match processes {
        Processes::None => {}
        Processes::Forks => calls.extend(with_any_arguments(&[FORKS, SENDING])),
        Processes::Programs => {
            calls.extend(with_any_arguments(&[PROGRAMS]));
            if landlock == Landlock::FilesAndSignals {
                calls.extend(with_any_arguments(&[SENDING]));
            }
        }
    }
    Ok(calls)
}

/// Calls that are answered and do nothing, by the answer: 0 reports success, and anything else is an error number.
pub fn answered(processes: Processes) -> Fallible<[(i32, Calls); 2]> {
    Ok([(0, without_effect(processes)?), (libc::ENOTSUP, with_any_arguments(&[ATTRIBUTES]))])
}

/// Calls that report success and do nothing.
///
/// A lock needs no right to write to a file, so code could hold up those who own what it may only read. A process that is
/// alone with its folder has no other process to lock out, and `sqlite3` and `mailbox` work as ever. One difference remains:
/// two descriptors of one process that opened the same file each for itself would lock each other out by `flock` and by
/// F_OFD_SETLK, and do not here. Where programs run, they share a folder and need locks, and all that they may read is
/// Python itself.
fn without_effect(processes: Processes) -> Fallible<Calls> {
    Ok(match processes {
        Processes::Programs => with_any_arguments(&[MODES]),
        Processes::None | Processes::Forks => {
            [(libc::SYS_flock, Vec::new()), (libc::SYS_fcntl, any_of(1, LOCKS)?)].into()
        }
    })
}

pub fn with_any_arguments(groups: &[&[c_long]]) -> Calls {
    groups.iter().flat_map(|group| group.iter()).map(|call| (*call, Vec::new())).collect()
}

/// Opening files, which Landlock governs.
const OPENING: &[c_long] = &[
    libc::SYS_openat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
];

/// Opening for nothing but reading. The flags of `openat2` are in memory, where no filter sees them.
fn reading_opens() -> Fallible<Calls> {
    let writing = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC | libc::O_APPEND;
    let rule = |argument: u8| Fallible::Ok(vec![masked(argument, writing as u64, 0)?]);
    Ok([
        (libc::SYS_openat, rule(2)?),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, rule(1)?),
    ]
    .into())
}

/// Calls that are allowed with some arguments.
fn by_arguments(processes: Processes) -> Fallible<Calls> {
    let own = u64::from(std::process::id());
    Ok([
        (libc::SYS_clone, vec![clone(processes)?]),
        (libc::SYS_mmap, mappings()?),
        (libc::SYS_fcntl, any_of(1, &[FILE_COMMANDS, LOCKS].concat())?),
        (libc::SYS_ioctl, any_of(1, DEVICE_REQUESTS)?),
        // A thread with a table of files of its own (CLOSE_RANGE_UNSHARE) would hold files that nobody counts.
        (libc::SYS_close_range, vec![masked(2, u64::from(libc::CLOSE_RANGE_UNSHARE), 0)?]),
        // Its other modes allot space beyond the end of a file, which RLIMIT_FSIZE does not bound, or move what is in it.
        (libc::SYS_fallocate, vec![is(1, 0)?]),
        (libc::SYS_prctl, settings(processes)?),
        // To itself: `abort`, `signal.raise_signal`.
        (libc::SYS_kill, vec![is(0, own)?]),
        (libc::SYS_tkill, vec![is(0, own)?]),
        (libc::SYS_tgkill, vec![is(0, own)?]),
        // Reading limits is allowed; setting them is not.
        (libc::SYS_prlimit64, vec![rule(vec![(2, Length::Qword, Op::Eq, 0)])?]),
        // A thread may choose its own processors, by number 0.
        (libc::SYS_sched_setaffinity, vec![is(0, 0)?]),
        // A datagram could be sent to any address, while a stream goes only to its other end.
        (
            libc::SYS_socketpair,
            vec![rule(vec![
                (0, Length::Dword, Op::Eq, libc::AF_UNIX as u64),
                (1, Length::Dword, Op::MaskedEq(0xf), libc::SOCK_STREAM as u64),
            ])?],
        ),
        (libc::SYS_sendto, vec![rule(vec![(4, Length::Qword, Op::Eq, 0), (3, Length::Dword, NOT_URGENT, 0)])?]),
        (libc::SYS_recvfrom, vec![rule(vec![(3, Length::Dword, NOT_URGENT, 0)])?]),
        (libc::SYS_sendmsg, vec![rule(vec![(2, Length::Dword, NOT_URGENT, 0)])?]),
        (libc::SYS_recvmsg, vec![rule(vec![(2, Length::Dword, NOT_URGENT, 0)])?]),
        (libc::SYS_setsockopt, socket_options()?),
    ]
    .into())
}

/// A new thread that shares all with the others, open files too, so that one process has one table of them. A new
/// process only where there may be some, and never a namespace, in which it would have privileges again.
fn clone(processes: Processes) -> Fallible<SeccompRule> {
    let shared = libc::CLONE_VM
        | libc::CLONE_FS
        | libc::CLONE_FILES
        | libc::CLONE_SIGHAND
        | libc::CLONE_SYSVSEM
        | libc::CLONE_THREAD;
    let namespaces = libc::CLONE_NEWNS
        | libc::CLONE_NEWCGROUP
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUSER
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET;
    match processes {
        Processes::None => masked(0, (shared | namespaces) as u64, shared as u64),
        Processes::Forks | Processes::Programs => masked(0, namespaces as u64, 0),
    }
}

/// Memory of its own, and files. What is shared and anonymous, and huge pages, no limit counts.
fn mappings() -> Fallible<Vec<SeccompRule>> {
    const KIND: i32 = 0xf;
    let counted = KIND | libc::MAP_HUGETLB;
    [
        (counted, libc::MAP_PRIVATE),
        (counted | libc::MAP_ANONYMOUS, libc::MAP_SHARED),
        (counted | libc::MAP_ANONYMOUS, libc::MAP_SHARED_VALIDATE),
    ]
    .map(|(mask, value)| masked(3, mask as u64, value as u64))
    .into_iter()
    .collect()
}

/// Without urgent data (MSG_OOB): a part of the kernel that hardly anybody uses, with a history of defects.
const NOT_URGENT: Op = Op::MaskedEq(libc::MSG_OOB as u64);

/// What may be asked of a descriptor. Deliberately absent: whom signals about it reach (F_SETOWN, F_SETSIG), news of what
/// others do in a folder (F_NOTIFY), leases, which hold up those who open a file for writing, and larger pipes, whose
/// memory no limit counts.
const FILE_COMMANDS: &[u64] = &[
    libc::F_DUPFD as u64,
    libc::F_DUPFD_CLOEXEC as u64,
    libc::F_GETFD as u64,
    libc::F_SETFD as u64,
    libc::F_GETFL as u64,
    libc::F_SETFL as u64,
    libc::F_GETOWN as u64,
    libc::F_GETPIPE_SZ as u64,
    libc::F_GET_SEALS as u64,
    libc::F_GETLK as u64,
    libc::F_OFD_GETLK as u64,
];

/// Taking and giving back locks on parts of files.
const LOCKS: &[u64] =
    &[libc::F_SETLK as u64, libc::F_SETLKW as u64, libc::F_OFD_SETLK as u64, libc::F_OFD_SETLKW as u64];

/// What may be asked of devices and files. Whether this is a terminal, how large it is and who has it; how much can be read;
/// flags of the descriptor; copies that share blocks with a file that may be read. Their names in `libc` differ in type, and
/// some have none.
const DEVICE_REQUESTS: &[u64] = &[
    0x5401,      // TCGETS
    0x802c_542a, // TCGETS2
    0x5413,      // TIOCGWINSZ
    0x540f,      // TIOCGPGRP
    0x541b,      // FIONREAD
    0x5421,      // FIONBIO
    0x5450,      // FIONCLEX
    0x5451,      // FIOCLEX
    0x4004_9409, // FICLONE
    0x4020_940d, // FICLONERANGE
];

/// Of a pair of sockets: sizes and times. Absent are filters, which are programs for the kernel, and urgent data.
fn socket_options() -> Fallible<Vec<SeccompRule>> {
    [
        libc::SO_REUSEADDR,
        libc::SO_SNDBUF,
        libc::SO_RCVBUF,
        libc::SO_KEEPALIVE,
        libc::SO_LINGER,
        libc::SO_REUSEPORT,
        libc::SO_PASSCRED,
        libc::SO_RCVLOWAT,
        libc::SO_RCVTIMEO,
        libc::SO_SNDTIMEO,
    ]
    .map(|option| {
        rule(vec![(1, Length::Dword, Op::Eq, libc::SOL_SOCKET as u64), (2, Length::Dword, Op::Eq, option as u64)])
    })
    .into_iter()
    .collect()
}

/// Settings of the process. The engine's death must remain its own, so another signal cannot be chosen for that.
fn settings(processes: Processes) -> Fallible<Vec<SeccompRule>> {
    let mut rules = any_of(
        0,
        &[
            libc::PR_GET_PDEATHSIG,
            libc::PR_GET_DUMPABLE,
            libc::PR_GET_KEEPCAPS,
            libc::PR_SET_NAME,
            libc::PR_GET_NAME,
            libc::PR_GET_SECCOMP,
            libc::PR_CAPBSET_READ,
            libc::PR_GET_SECUREBITS,
            libc::PR_SET_TIMERSLACK,
            libc::PR_GET_TIMERSLACK,
            libc::PR_SET_NO_NEW_PRIVS,
            libc::PR_GET_NO_NEW_PRIVS,
            libc::PR_GET_TID_ADDRESS,
            libc::PR_SET_THP_DISABLE,
            libc::PR_GET_THP_DISABLE,
            // Names of mappings, by the C library and by allocators.
            libc::PR_SET_VMA,
        ]
        .map(|setting| setting as u64),
    )?;
    rules.push(rule(vec![
        (0, Length::Dword, Op::Eq, libc::PR_SET_PDEATHSIG as u64),
        (1, Length::Qword, Op::Eq, libc::SIGKILL as u64),
    ])?);
    if processes == Processes::Forks {
        // A fork that is locked in further cannot be inspected either.
        rules.push(is(0, libc::PR_SET_DUMPABLE as u64)?);
    }
    Ok(rules)
}

fn any_of(argument: u8, values: &[u64]) -> Fallible<Vec<SeccompRule>> {
    values.iter().map(|value| is(argument, *value)).collect()
}

fn is(argument: u8, value: u64) -> Fallible<SeccompRule> {
    rule(vec![(argument, Length::Dword, Op::Eq, value)])
}

fn masked(argument: u8, mask: u64, value: u64) -> Fallible<SeccompRule> {
    rule(vec![(argument, Length::Dword, Op::MaskedEq(mask), value)])
}

pub fn rule(conditions: Vec<(u8, Length, Op, u64)>) -> Fallible<SeccompRule> {
    let conditions = conditions
        .into_iter()
        .map(|(argument, length, operator, value)| SeccompCondition::new(argument, length, operator, value));
    Ok(SeccompRule::new(conditions.collect::<Result<_, _>>()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_send_signals_to_others_only_where_landlock_keeps_them_within() {
        for call in SENDING {
            let rules = |landlock| calls(landlock, Processes::Programs).unwrap()[call].len();
            assert_eq!(rules(Landlock::FilesAndSignals), 0, "any arguments");
            assert_eq!((rules(Landlock::Files), rules(Landlock::None)), (1, 1));
        }
    }
}
