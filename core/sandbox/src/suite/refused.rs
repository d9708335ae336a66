//! The system calls that tests cannot make: the kernel's administration, other processes' memory, and sockets that no
//! namespace and no rule governs.

use std::io;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompFilter, SeccompRule, sock_filter,
};

use crate::allowed::{Calls, Fallible, MODES, rule, with_any_arguments};
use crate::report::Namespaces;

/// Refused with "not permitted".
const ADMINISTRATION: &[c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_acct,
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // Keys belong to a user, not to a process.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Memory and descriptors of other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Refused with "no such call", so that libraries take older ones: their arguments lie in memory, where no filter looks.
const ABSENT: &[c_long] =
    &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// What processes of a user share by numbers and names that are no files.
const SHARED: &[c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Owners of files. Landlock governs them as little as their modes, and mounts for reading only need namespaces.
const OWNERS: &[c_long] = &[
    libc::SYS_fchown,
    libc::SYS_fchownat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
];

/// What users write beside a file's content. The later calls have no names in `libc`.
const ATTRIBUTES: &[c_long] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    // setxattrat, removexattrat and file_setattr
    463,
    466,
    469,
];

/// Namespaces in which a process has privileges.
const OWN_WORLDS: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// The calls of x86-64 have a second set of numbers from here on.
#[cfg(target_arch = "x86_64")]
const SECOND_SET: u32 = 0x4000_0000;

/// Whether the kernel has filters.
pub fn is_available() -> bool {
    let action = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the call reads one number.
    unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) == 0 }
}

/// Filters for a process in these namespaces, whose local sockets Landlock `scopes` or does not.
pub fn filters(namespaces: Namespaces, network: bool, scopes: bool) -> io::Result<Vec<BpfProgram>> {
    made(namespaces, network, scopes).map_err(|error| io::Error::other(error.to_string()))
}

fn made(namespaces: Namespaces, network: bool, scopes: bool) -> Fallible<Vec<BpfProgram>> {
    let mut refused = with_any_arguments(&[ADMINISTRATION]);
    for call in [libc::SYS_unshare, libc::SYS_clone] {
        let rules = OWN_WORLDS.map(|world| rule(vec![(0, Length::Dword, Op::MaskedEq(world as u64), world as u64)]));
        refused.insert(call, rules.into_iter().collect::<Fallible<Vec<SeccompRule>>>()?);
    }
    // A new kind of namespace, whose number `clone` has for other things.
    let time = rule(vec![(0, Length::Dword, Op::MaskedEq(0x80), 0x80)])?;
    refused.entry(libc::SYS_unshare).or_default().push(time);
    if namespaces != Namespaces::All {
        // Limits of other processes, which can end these. Reading them is allowed.
        let others = rule(vec![(0, Length::Dword, Op::Ne, 0), (2, Length::Qword, Op::Ne, 0)])?;
        refused.insert(libc::SYS_prlimit64, vec![others]);
    }
    let absent = with_any_arguments(&[ABSENT]);
    // Where there is a network namespace, it governs the protocols of the internet, and names of local sockets that are no
    // files. With the network of the user, only Landlock governs these names. Other kinds of sockets reach virtual machines,
    // devices and the kernel.
    let kinds: &[i32] = match (namespaces, network) {
        (Namespaces::None, false) => &[],
        (Namespaces::None, true) => &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
        (_, true) if !scopes => &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
        _ => &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_UNIX],
    };
    let others = kinds.iter().map(|kind| (0, Length::Dword, Op::Ne, *kind as u64)).collect::<Vec<_>>();
    let others = if others.is_empty() { Vec::new() } else { vec![rule(others)?] };
    let sockets = Calls::from([(libc::SYS_socket, others)]);
    let mut programs = vec![
        program(refused, libc::EPERM)?,
        program(absent, libc::ENOSYS)?,
        program(sockets, if kinds.is_empty() { libc::EPERM } else { libc::EAFNOSUPPORT })?,
        #[cfg(target_arch = "x86_64")]
        second_set(),
    ];
    if namespaces == Namespaces::None {
        programs.push(program(with_any_arguments(&[SHARED]), libc::ENOSYS)?);
        // Without mounts for reading only, these calls would reach all files of the user. They report success and have no
        // effect, since whoever copies a file sets its mode and times. Attributes are what many file systems do not have.
        programs.push(program(with_any_arguments(&[MODES, OWNERS]), 0)?);
        programs.push(program(with_any_arguments(&[ATTRIBUTES]), libc::ENOTSUP)?);
    }
    Ok(programs)
}

fn program(calls: Calls, error: i32) -> Fallible<BpfProgram> {
    let refused = SeccompAction::Errno(error as u32);
    Ok(SeccompFilter::new(calls, SeccompAction::Allow, refused, std::env::consts::ARCH.try_into()?)?.try_into()?)
}

/// Refuses the second set of numbers, under which calls would pass that are refused under the first.
#[cfg(target_arch = "x86_64")]
fn second_set() -> BpfProgram {
    let statement = |code: u32, jt: u8, jf: u8, k: u32| sock_filter { code: code as u16, jt, jf, k };
    vec![
        // The call's number comes first in the data that a filter sees.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, SECOND_SET),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// Takes calls away from this process, for good.
pub fn apply(programs: &[BpfProgram]) -> io::Result<()> {
    for program in programs {
        let all = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut().cast() };
        // SAFETY: the program outlives the call, which copies it. Both libraries' instructions are those of the kernel.
        if unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const all) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
