//! Files that a process still holds and that have no name any more, so that no walk through its folder finds them.
//!
//! Where the system says nothing of this, there are none.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What processes hold.
#[derive(Debug, Default)]
pub struct Unnamed {
    /// The blocks of the files that are open, by the number of each file.
    open: HashMap<u64, u64>,
    /// The numbers of the files that are mapped into memory. Only of those that are open is the size known.
    mapped: HashSet<u64>,
    /// Some descriptors are where nobody sees what they are: in the queue of a socket, or in a process whose threads end
    /// before they are looked at.
    pub in_flight: bool,
}

impl Unnamed {
    /// Adds what one process holds in a folder. `about`: where the system tells of it, `/proc/PID`.
    pub fn add(&mut self, about: &Path, folder: &Path) {
        for entry in std::fs::read_dir(about.join("fd")).into_iter().flatten().flatten() {
            // This follows the link to the file itself, whatever its name was.
            let Ok(file) = std::fs::metadata(entry.path()) else { continue };
            match rustix::fs::FileType::from_raw_mode(file.mode()) {
                rustix::fs::FileType::RegularFile if file.nlink() == 0 => {
                    self.open.insert(file.ino(), file.blocks());
                }
                rustix::fs::FileType::Socket => {
                    let text = about.join("fdinfo").join(entry.file_name());
                    let text = std::fs::read_to_string(text).unwrap_or_default();
                    let queued =
                        text.lines().find_map(|line| line.strip_prefix("scm_fds:")?.trim().parse::<u64>().ok());
                    self.in_flight |= queued.is_some_and(|count| count > 0);
                }
                _ => {}
            }
        }
        let maps = std::fs::read(about.join("maps")).unwrap_or_default();
        self.mapped.extend(maps.split(|byte| *byte == b'\n').filter_map(|line| mapped(line, folder)));
    }

    /// Their size in bytes. A file that is only mapped counts as `largest`.
    pub fn bytes(&self, largest: u64) -> u64 {
        let open: u64 = self.open.values().map(|blocks| blocks * 512).sum();
        let only_mapped = self.mapped.iter().filter(|number| !self.open.contains_key(number)).count();
        open + only_mapped as u64 * largest
    }
}

/// The number of the file of a mapping, if that file was in the folder and has no name any more. The fields of a line:
/// addresses, rights, offset, device, number, path.
fn mapped(line: &[u8], folder: &Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt;
    let line = line.strip_suffix(b" (deleted)")?;
    let path = line.iter().position(|byte| *byte == b'/')?;
    if !line[path..].starts_with(folder.as_os_str().as_bytes()) {
        return None;
    }
    std::str::from_utf8(&line[..path]).ok()?.split_whitespace().nth(4)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn an_open_file_without_a_name_counts_and_one_with_a_name_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let held = || {
            let mut held = Unnamed::default();
            held.add(Path::new("/proc/self"), folder.path());
            held
        };
        let path = folder.path().join("file");
        std::fs::write(&path, vec![1; 1 << 16]).unwrap();
        let file = File::open(&path).unwrap();
        let number = file.metadata().unwrap().ino();
        assert!(!held().open.contains_key(&number));
        std::fs::remove_file(&path).unwrap();
        assert!(held().open[&number] * 512 >= 1 << 16);
        assert!(held().bytes(0) >= 1 << 16);
        drop(file);
        assert!(!held().open.contains_key(&number));
    }

    #[test]
    fn a_mapping_tells_its_file_and_only_one_in_the_folder_without_a_name() {
        let folder = Path::new("/tmp/twincell-worker-a/0");
        let line = |rest: &str| format!("7f00-7f01 rw-s 00000000 fd:01 12345                      {rest}").into_bytes();
        let number = |rest: &str| mapped(&line(rest), folder);
        assert_eq!(number("/tmp/twincell-worker-a/0/a b (deleted)"), Some(12345));
        assert_eq!(number("/tmp/twincell-worker-a/0/a b"), None);
        assert_eq!(number("/usr/lib/libz.so.1 (deleted)"), None);
        assert_eq!(number("[heap]"), None);
    }
}
