//! seccomp: system calls that are refused with an error number, so that Python sees an ordinary `OSError`.
//!
//! This refuses whatever reaches outside the process: sockets, programs, processes, other processes' memory, the
//! kernel's administration, and changes of files that Landlock does not govern. Threads, pipes and socket pairs remain,
//! because an asyncio loop and many libraries need them.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter_all_threads, sock_filter,
};

use super::Processes;

type SyscallRules = BTreeMap<libc::c_long, Vec<SeccompRule>>;
type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// Refused with any arguments.
const REFUSED: &[libc::c_long] = &[
    // Network. Socket pairs are the only sockets that remain.
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // Programs and other processes.
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_kcmp,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_setpgid,
    libc::SYS_setsid,
    // Limits could be raised again, for this process or others.
    libc::SYS_setrlimit,
    // Identity.
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setfsuid,
    libc::SYS_setfsgid,
    libc::SYS_setgroups,
    libc::SYS_capset,
    libc::SYS_personality,
    // The kernel's administration, and calls with a history of vulnerabilities that no Python code needs.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_setup,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_seccomp,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_fanotify_init,
    libc::SYS_mknodat,
    // Memory that the limits do not count, and objects that outlive the process.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // What others do with files.
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    // Files: Landlock governs opening, making and removing, but not these.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

/// Older forms of the above that only this processor has.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[libc::c_long] = &[
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_mknod,
    libc::SYS_uselib,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_inotify_init,
    libc::SYS_kexec_file_load,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[libc::c_long] = &[];

/// Calls that start programs and processes, with the rule for `clone`.
const PROGRAMS: &[libc::c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
    libc::SYS_clone,
];

/// Calls that fork this process and lock a fork in further.
const FORKS: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    libc::SYS_clone,
    libc::SYS_setpgid,
    libc::SYS_capset,
    libc::SYS_seccomp,
    libc::SYS_prctl,
    libc::SYS_setrlimit,
    libc::SYS_prlimit64,
    // Whom a signal may reach is told by the number of this process, which a fork does not have.
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
];

/// Signals to other processes. Where programs run, Landlock's scopes keep them within the sandbox.
const SIGNALS: &[libc::c_long] = &[libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill];

/// Modes and times of files. Where programs run, these calls report success and have no effect, since whoever copies a
/// file sets them.
const MODES: &[libc::c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
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

/// Changes of files, refused only where Landlock cannot confine them to the scratch folder.
const CHANGES: &[libc::c_long] = &[
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_mkdirat,
    libc::SYS_symlinkat,
    libc::SYS_linkat,
    libc::SYS_truncate,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_renameat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_symlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
    #[cfg(target_arch = "aarch64")]
    libc::SYS_renameat,
];

/// Ways to choose the receiver of a file's signals that have no names in `libc` on every target.
const FIOSETOWN: u64 = 0x8901;
const SIOCSPGRP: u64 = 0x8902;
/// Changes of a file's flags. They have no names in `libc` on every target either.
const FS_IOC_SETFLAGS: u64 = 0x4008_6602;
const FS_IOC32_SETFLAGS: u64 = 0x4004_6602;
const FS_IOC_FSSETXATTR: u64 = 0x401c_5820;
const F_SETOWN_EX: i32 = 15;
const F_SETSIG: i32 = 10;

/// The last system call that existed when this list was made. Later ones do not exist for a worker.
const NEWEST_KNOWN: u32 = libc::SYS_mseal as u32;

/// Installs the filters for all threads, for good. Without Landlock they also refuse every opening for writing.
pub fn filter(without_landlock: bool, processes: Processes) -> Result<(), String> {
    install(without_landlock, processes).map_err(|error| error.to_string())
}

fn install(without_landlock: bool, processes: Processes) -> Fallible<()> {
    let mut refused: SyscallRules = REFUSED.iter().chain(REFUSED_HERE).map(|call| (*call, Vec::new())).collect();
    refused.extend(refused_by_argument()?);
    let mut absent: SyscallRules = [(libc::SYS_clone3, Vec::new())].into();
    if without_landlock {
        refused.extend(CHANGES.iter().map(|call| (*call, Vec::new())));
        refused.extend(writing_opens()?);
        // Its flags are in memory, where no filter sees them.
        absent.insert(libc::SYS_openat2, Vec::new());
    }
    let mut unchanged = SyscallRules::new();
    if processes == Processes::Forks {
        refused.retain(|call, _| !FORKS.contains(call));
    }
    if processes == Processes::Programs {
        refused.retain(|call, _| {
            !PROGRAMS.contains(call) && !MODES.contains(call) && (without_landlock || !SIGNALS.contains(call))
        });
        unchanged.extend(MODES.iter().map(|call| (*call, Vec::new())));
    }
    apply_filter_all_threads(&no_unknown_calls())?;
    // A filter has one answer: "no such call", so that the C library uses the older one, or "not permitted". The latter
    // comes last, because it refuses further filters.
    for (rules, answer) in [(absent, libc::ENOSYS), (unchanged, 0), (refused, libc::EPERM)] {
        if rules.is_empty() {
            continue;
        }
        let refuse = SeccompAction::Errno(answer as u32);
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, std::env::consts::ARCH.try_into()?)?;
        let program: BpfProgram = filter.try_into()?;
        apply_filter_all_threads(&program)?;
    }
    Ok(())
}

/// Calls that are allowed with some arguments.
fn refused_by_argument() -> Fallible<SyscallRules> {
    let own = u64::from(std::process::id());
    let thread = libc::CLONE_THREAD as u64;
    let anonymous = (libc::MAP_ANONYMOUS | 0xf) as u64;
    let shared = (libc::MAP_ANONYMOUS | libc::MAP_SHARED) as u64;
    let stream = libc::SOCK_STREAM as u64;
    let mut rules: SyscallRules = [
        // A new thread is allowed. A new process is not.
        (libc::SYS_clone, vec![when(0, Length::Qword, Op::MaskedEq(thread), 0)?]),
        // Signals to itself are allowed (`abort`, `signal.raise_signal`).
        (libc::SYS_kill, vec![when(0, Length::Dword, Op::Ne, own)?]),
        (libc::SYS_tkill, vec![when(0, Length::Dword, Op::Ne, own)?]),
        (libc::SYS_tgkill, vec![when(0, Length::Dword, Op::Ne, own)?]),
        // Reading limits is allowed; setting them is not.
        (libc::SYS_prlimit64, vec![when(2, Length::Qword, Op::Ne, 0)?]),
        // Shared anonymous memory is not counted by the memory limit.
        (libc::SYS_mmap, vec![when(3, Length::Dword, Op::MaskedEq(anonymous), shared)?]),
        // A datagram could be sent to any address, while a stream goes only to its other end.
        (libc::SYS_sendto, vec![when(4, Length::Qword, Op::Ne, 0)?]),
    ]
    .into();
    let kinds = (0..16).filter(|kind| *kind != stream);
    let pairs = kinds.map(|kind| when(1, Length::Dword, Op::MaskedEq(0xf), kind)).collect::<Fallible<_>>()?;
    rules.insert(libc::SYS_socketpair, pairs);
    // The engine's death must remain this process's death, and nobody may inspect it.
    let settings = [libc::PR_SET_DUMPABLE, libc::PR_SET_PTRACER, libc::PR_SET_MM, libc::PR_SET_SECCOMP];
    let settings = settings.iter().map(|setting| when(0, Length::Dword, Op::Eq, *setting as u64));
    let mut settings: Vec<SeccompRule> = settings.collect::<Fallible<_>>()?;
    settings.push(SeccompRule::new(vec![
        SeccompCondition::new(0, Length::Dword, Op::Eq, libc::PR_SET_PDEATHSIG as u64)?,
        SeccompCondition::new(1, Length::Qword, Op::Ne, libc::SIGKILL as u64)?,
    ])?);
    rules.insert(libc::SYS_prctl, settings);
    // Typing into a terminal, choosing another process to be sent a signal when a file is ready, and flags of files, which
    // need no right to write to them.
    let commands = [libc::TIOCSTI, FIOSETOWN, SIOCSPGRP, FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR]
        .map(|command| when(1, Length::Dword, Op::Eq, command));
    rules.insert(libc::SYS_ioctl, commands.into_iter().collect::<Fallible<_>>()?);
    let owners = [libc::F_SETOWN, F_SETOWN_EX, F_SETSIG].map(|command| when(1, Length::Dword, Op::Eq, command as u64));
    rules.insert(libc::SYS_fcntl, owners.into_iter().collect::<Fallible<_>>()?);
    // A thread may choose its own processors, by number 0.
    rules.insert(libc::SYS_sched_setaffinity, vec![when(0, Length::Dword, Op::Ne, 0)?]);
    Ok(rules)
}

/// Opening for anything but reading.
fn writing_opens() -> Fallible<SyscallRules> {
    let flags = [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC, libc::O_APPEND];
    let any_of = |argument: u8| -> Fallible<Vec<SeccompRule>> {
        flags.iter().map(|flag| when(argument, Length::Dword, Op::MaskedEq(*flag as u64), *flag as u64)).collect()
    };
    Ok([
        (libc::SYS_openat, any_of(2)?),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, any_of(1)?),
    ]
    .into())
}

fn when(argument: u8, length: Length, operator: Op, value: u64) -> Fallible<SeccompRule> {
    Ok(SeccompRule::new(vec![SeccompCondition::new(argument, length, operator, value)?])?)
}

/// Refuses every number past [`NEWEST_KNOWN`], which on x86-64 covers the second set of numbers (x32) too.
fn no_unknown_calls() -> BpfProgram {
    let statement = |code: u32, jt: u8, jf: u8, k: u32| sock_filter { code: code as u16, jt, jf, k };
    vec![
        // The call's number comes first in the data that a filter sees.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, 0, 1, NEWEST_KNOWN),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}
