//! Folders of the system in whose place tests see folders of their own: temporary ones, and closed ones with the local sockets
//! in them, which no rule governs on most kernels.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::SuiteLimits;
use super::rules::{closed, open_in_closed};

/// Places that everybody writes to.
const SHARED: [(&str, &str); 3] = [("/tmp", "tmp"), ("/var/tmp", "var-tmp"), ("/dev/shm", "shm")];
/// Places with sockets of services.
const SERVICES: &str = "/run";

/// A folder, and what is seen in its place.
#[derive(Debug, PartialEq, Eq)]
pub struct Cover {
    pub place: PathBuf,
    pub instead: PathBuf,
    pub writable: bool,
    /// What of the folder is seen all the same.
    pub kept: Vec<PathBuf>,
}

/// The covered folders, outer ones first.
pub fn covered(limits: &SuiteLimits) -> Vec<Cover> {
    let inside = limits.folder.join("instead");
    let open = open_in_closed(limits);
    let cover = |place: PathBuf, name: &str| {
        let mut kept: Vec<PathBuf> =
            open.iter().filter(|path| **path != place && path.starts_with(&place)).cloned().collect();
        kept.sort();
        kept.dedup();
        let all = kept.clone();
        kept.retain(|path| !all.iter().any(|other| other != path && path.starts_with(other)));
        // A right to write holds for all that lies beneath, and so for what is kept.
        let writable = kept.is_empty();
        Cover { place, instead: inside.join(name), writable, kept }
    };
    let shared = SHARED.iter().map(|(place, name)| cover(PathBuf::from(place), name));
    let services = Cover { writable: false, ..cover(PathBuf::from(SERVICES), "run") };
    let system = ["/dev", "/proc", "/run", "/tmp", "/var/tmp", "/etc"].map(Path::new);
    let is_own = |path: &PathBuf| !system.contains(&path.as_path()) && path.is_dir();
    let closed = closed(limits).into_iter().filter(is_own).enumerate();
    // Suites that take HOME out of the environment write settings there.
    let closed = closed.map(|(at, place)| cover(place, &format!("closed-{at}")));
    let mut all: Vec<Cover> = shared.chain([services]).chain(closed).collect();
    all.retain(|cover| cover.place.is_dir() && !cover.place.is_symlink() && !open.contains(&cover.place));
    all.sort_by(|one, other| one.place.cmp(&other.place));
    all
}

/// Makes the folders that are seen, with places for what is kept.
pub fn make(covers: &[Cover]) -> io::Result<()> {
    for cover in covers {
        fs::create_dir_all(&cover.instead)?;
        for kept in &cover.kept {
            let Ok(inner) = kept.strip_prefix(&cover.place) else { continue };
            let target = cover.instead.join(inner);
            if kept.is_dir() {
                fs::create_dir_all(target)?;
            } else {
                fs::create_dir_all(target.parent().unwrap_or(&cover.instead))?;
                fs::write(target, "")?;
            }
        }
    }
    Ok(())
}
