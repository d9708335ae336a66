//! Landlock: the paths that may be read, and the one folder that may be written.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::{Landlock, Limits, Processes};

/// The newest version whose rights are requested. Older kernels provide what they have.
pub const NEWEST: ABI = ABI::V9;
/// The oldest version that governs every way of writing on which this sandbox relies (truncation came third).
pub const NEEDED: ABI = ABI::V3;
/// The oldest version that keeps signals, and connections to local sockets without a file, within the sandbox.
pub const SCOPES: ABI = ABI::V6;

/// The folders of the system's libraries, and the few other files that libraries read. They hold nothing of a user.
const SYSTEM: [&str; 16] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/mime.types",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls",
    "/sys/devices/system/cpu",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/sys/vm/overcommit_memory",
];

/// Restricts this thread and those that it starts. Returns what is enforced, also for people, or why nothing is.
pub fn restrict(limits: &Limits) -> Result<(Landlock, String), String> {
    let status = rules(limits).map_err(|error| error.to_string())?;
    match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            let version = kernel_abi.unwrap_or(effective_abi as i32);
            if status.ruleset == RulesetStatus::NotEnforced {
                Err("no rule could be enforced".into())
            } else if effective_abi < NEEDED {
                Err(format!("its version {version} does not govern all ways to write"))
            } else {
                let governs = if effective_abi < SCOPES { Landlock::Files } else { Landlock::FilesAndSignals };
                Ok((governs, format!("Landlock ABI {version}")))
            }
        }
        LandlockStatus::NotEnabled => Err("the kernel was started without it".into()),
        _ => Err("the kernel does not have it".into()),
    }
}

fn rules(limits: &Limits) -> Result<landlock::RestrictionStatus, RulesetError> {
    let mut read = AccessFs::ReadFile | AccessFs::ReadDir;
    if limits.processes == Processes::Programs {
        read |= AccessFs::Execute;
    }
    // A fork is another process, which is locked in further.
    let about_processes = if limits.processes == Processes::Forks { "/proc" } else { "/proc/self" };
    let device: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
    let own = AccessFs::from_all(NEWEST) & !(AccessFs::Execute | AccessFs::MakeChar | AccessFs::MakeBlock);
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(SYSTEM, read))?
        .add_rules(path_beneath_rules([about_processes], read))?
        .add_rules(path_beneath_rules(below_root(&limits.readable), read))?
        .add_rules(path_beneath_rules(below_root(&limits.listable), AccessFs::ReadDir))?
        // Not /dev/zero: its shared mappings are memory that no limit counts.
        .add_rules(path_beneath_rules(["/dev/urandom", "/dev/random"], AccessFs::ReadFile))?
        .add_rules(path_beneath_rules(["/dev/null"], device))?
        .add_rules(path_beneath_rules([&limits.scratch], own))?
        .restrict_self()
}

/// The requested paths, except those that would open the whole disk.
fn below_root(asked: &[PathBuf]) -> impl Iterator<Item = &Path> {
    asked.iter().map(PathBuf::as_path).filter(|path| path.is_absolute() && path.parent().is_some())
}
