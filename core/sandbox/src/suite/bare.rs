//! Systems that enforce nothing but limits of resources.

use std::io;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

use super::{SpawnError, SuiteLimits};
use crate::report::{Lack, Mechanism, Namespaces, Network, SuiteReport};

/// Starts a command in a group of its own, with a socket, if it may run without a sandbox.
///
/// # Errors
///
/// Why the command does not start, or what is missing here unless `incomplete` allows it.
pub fn spawn(
    command: &mut Command,
    control: RawFd,
    limits: &SuiteLimits,
    incomplete: bool,
) -> Result<(Child, SuiteReport), SpawnError> {
    let lack = |mechanism| Lack { mechanism, reason: "not enforced by this system".into() };
    let lacks = vec![lack(Mechanism::Landlock), lack(Mechanism::Seccomp), lack(Mechanism::Namespaces)];
    if !incomplete {
        return Err(SpawnError::Incomplete(lacks));
    }
    let bounds =
        [(libc::RLIMIT_DATA, limits.memory_bytes), (libc::RLIMIT_FSIZE, limits.file_bytes), (libc::RLIMIT_CORE, 0)];
    command.process_group(0);
    let prepare = move || {
        // SAFETY: these calls take numbers and structures that outlive them.
        unsafe {
            if libc::fcntl(control, libc::F_SETFD, 0) < 0 {
                return Err(io::Error::last_os_error());
            }
            for (resource, value) in bounds {
                let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                if libc::getrlimit(resource, &raw mut limit) == 0 {
                    limit.rlim_max = limit.rlim_max.min(value);
                    limit.rlim_cur = limit.rlim_max;
                    libc::setrlimit(resource, &raw const limit);
                }
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec it makes system calls only.
    unsafe { command.pre_exec(prepare) };
    Ok((command.spawn()?, SuiteReport { network: Network::Open, namespaces: Namespaces::None, lacks }))
}
