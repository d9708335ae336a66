//! The home folders of the user: the one that the environment names, and the one of the account.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The most that the system says of an account, in bytes.
const MAX_ENTRY: usize = 1 << 20;

/// The home folders, without links, each once. None of them is the root of the file system.
pub fn homes() -> Vec<PathBuf> {
    let named = std::env::var_os("HOME").map(PathBuf::from);
    let mut found: Vec<PathBuf> = Vec::new();
    for home in named.into_iter().chain(of_account()) {
        let home = if home.is_absolute() { home.canonicalize().ok() } else { None };
        if let Some(home) = home.filter(|home| home.parent().is_some() && !found.contains(home)) {
            found.push(home);
        }
    }
    found
}

/// The home folder that the system has for the user of this process.
fn of_account() -> Option<PathBuf> {
    let mut room = vec![0_u8; 1 << 12];
    loop {
        // SAFETY: all zeros are a valid entry without texts.
        let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
        let mut found = std::ptr::null_mut();
        // SAFETY: the entry and the room for its texts live during the call, which gets the room's real size.
        let status = unsafe {
            libc::getpwuid_r(libc::getuid(), &raw mut entry, room.as_mut_ptr().cast(), room.len(), &raw mut found)
        };
        if status == libc::ERANGE && room.len() < MAX_ENTRY {
            room.resize(room.len() * 4, 0);
            continue;
        }
        if status != 0 || found.is_null() || entry.pw_dir.is_null() {
            return None;
        }
        // SAFETY: the entry was found, so this is a text in the room, which ends in 0.
        let folder = unsafe { CStr::from_ptr(entry.pw_dir) };
        return Some(PathBuf::from(OsStr::from_bytes(folder.to_bytes())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_folders_are_real_and_none_is_the_root() {
        for home in homes() {
            assert!(home.is_absolute() && home.parent().is_some() && home.is_dir(), "{}", home.display());
        }
    }
}
