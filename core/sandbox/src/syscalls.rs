//! seccomp: the system calls that are not [`allowed`](super::allowed) are refused, with an error number, so that Python
//! sees an ordinary `OSError`.

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter_all_threads, sock_filter};

use super::allowed::{self, Calls, Fallible};
use super::{Landlock, Processes};

/// The first call that has one number on all processors. Libraries expect that a kernel is too old to have it or a later
/// one, and use older calls then, while "not permitted" is an answer on which many of them give up.
const FIRST_COMMON: u32 = libc::SYS_pidfd_send_signal as u32;

/// Installs the filters for all threads, for good. Without Landlock they also refuse every opening for writing.
pub fn filter(landlock: Landlock, processes: Processes) -> Result<(), String> {
    install(landlock, processes).map_err(|error| error.to_string())
}

fn install(landlock: Landlock, processes: Processes) -> Fallible<()> {
    let answered = allowed::answered(processes)?;
    let mut calls = allowed::calls(landlock, processes)?;
    // A filter that lets a call through leaves the answer to the others.
    for call in answered.iter().flat_map(|(_, calls)| calls.keys()) {
        calls.entry(*call).or_default();
    }
    let absent = absent(&calls, processes);
    // The last filter may refuse further ones. Until then they are allowed.
    calls.insert(libc::SYS_seccomp, Vec::new());
    for (answer, calls) in answered {
        apply_filter_all_threads(&program(calls, SeccompAction::Allow, SeccompAction::Errno(answer as u32))?)?;
    }
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    apply_filter_all_threads(&program(calls, refused, SeccompAction::Allow)?)?;
    apply_filter_all_threads(&absent)?;
    Ok(())
}

fn program(calls: Calls, others: SeccompAction, these: SeccompAction) -> Fallible<BpfProgram> {
    Ok(SeccompFilter::new(calls, others, these, std::env::consts::ARCH.try_into()?)?.try_into()?)
}

/// Answers "no such call" to calls from [`FIRST_COMMON`] on that are not allowed, which on x86-64 covers the second set of
/// numbers (x32) too, and refuses further filters. Of two filters that refuse a call, the later one gives the answer.
fn absent(calls: &Calls, processes: Processes) -> BpfProgram {
    let statement = |code: u32, jt: u8, jf: u8, k: u32| sock_filter { code: code as u16, jt, jf, k };
    let answer = |answer: u32| statement(libc::BPF_RET | libc::BPF_K, 0, 0, answer);
    let refused = |error: i32| answer(libc::SECCOMP_RET_ERRNO | error as u32);
    let unless_equal = |call: u32| statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, call);
    // The call's number comes first in the data that a filter sees.
    let mut program = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    if processes != Processes::Forks {
        program.extend([unless_equal(libc::SYS_seccomp as u32), refused(libc::EPERM)]);
    }
    program.extend([
        statement(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 1, 0, FIRST_COMMON),
        answer(libc::SECCOMP_RET_ALLOW),
    ]);
    for call in calls.keys().filter_map(|call| u32::try_from(*call).ok()).filter(|call| *call >= FIRST_COMMON) {
        program.extend([unless_equal(call), answer(libc::SECCOMP_RET_ALLOW)]);
    }
    program.push(refused(libc::ENOSYS));
    program
}
