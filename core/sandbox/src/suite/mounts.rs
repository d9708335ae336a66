//! The file systems as tests see them: folders of their own in the place of others, and all that they cannot write to mounted
//! for reading only. Landlock governs what is read and written, and neither modes nor times, owners and attributes of files.
//!
//! Everything here is a system call on memory that was made before, as in [`super::enter`].

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

use super::enter::checked;
use super::{SuiteLimits, places};
use crate::report::Namespaces;

/// What is mounted where.
#[derive(Debug)]
pub struct Mounts {
    covers: Vec<Cover>,
    /// Files and folders of the system that can be written to.
    writable: Vec<CString>,
    /// Whether nothing else says what can be written to, so that some of it is better than none.
    is_alone: bool,
}

#[derive(Debug)]
struct Cover {
    place: CString,
    instead: CString,
    writable: bool,
    kept: Vec<(CString, AtomicI32)>,
}

type Text = *const libc::c_char;

impl Mounts {
    pub fn new(limits: &SuiteLimits, covers: &[places::Cover], is_alone: bool) -> io::Result<Self> {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other);
        let covers = covers.iter().map(|cover| {
            let kept = cover.kept.iter().map(|path| Ok((text(path)?, AtomicI32::new(-1))));
            let kept = kept.collect::<io::Result<_>>()?;
            let (place, instead) = (text(&cover.place)?, text(&cover.instead)?);
            Ok(Cover { place, instead, writable: cover.writable, kept })
        });
        let covers = covers.collect::<io::Result<_>>()?;
        let writable = limits.writable.iter().map(|path| text(path)).collect::<io::Result<_>>()?;
        Ok(Self { covers, writable, is_alone })
    }

    /// Mounts everything in namespaces of this process. Returns whether it has terminals of its own.
    pub fn make(&self, namespaces: Namespaces) -> io::Result<bool> {
        let none = std::ptr::null();
        let mut folder = [0; libc::PATH_MAX as usize];
        // SAFETY: the text outlives the call, which knows its length.
        let has_folder = unsafe { !libc::getcwd(folder.as_mut_ptr(), folder.len()).is_null() };
        mount(none, c"/".as_ptr(), none, libc::MS_REC | libc::MS_PRIVATE)?;
        self.cover()?;
        self.protect()?;
        if has_folder {
            // What lies under a new mount is another folder, which is for reading only. Where there is none, nothing is lost.
            // SAFETY: the text outlives the call.
            unsafe { libc::chdir(folder.as_ptr()) };
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

    /// Puts folders of its own into the place of others.
    fn cover(&self) -> io::Result<()> {
        let none = std::ptr::null();
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
        Ok(())
    }

    /// Mounts for reading only all that cannot be written to.
    fn protect(&self) -> io::Result<()> {
        // Another cover may lie over what is not there.
        let unless = |error: i32, result: io::Result<i32>| match result {
            Err(other) if other.raw_os_error() == Some(error) => Ok(0),
            other => other,
        };
        for path in &self.writable {
            let own = mount(path.as_ptr(), path.as_ptr(), std::ptr::null(), libc::MS_BIND | libc::MS_REC);
            unless(libc::ENOENT, own)?;
        }
        match change(c"/", libc::AT_RECURSIVE, libc::MOUNT_ATTR_RDONLY, 0) {
            // A kernel older than Landlock's rules for all ways to write.
            Err(error) if self.is_alone && error.raw_os_error() == Some(libc::ENOSYS) => return Ok(()),
            other => other?,
        };
        let covers = self.covers.iter().filter(|cover| cover.writable).map(|cover| &cover.place);
        for path in self.writable.iter().chain(covers) {
            let opened = unless(libc::ENOENT, change(path, 0, 0, libc::MOUNT_ATTR_RDONLY));
            // What the user cannot write to either stays as it is.
            unless(libc::EPERM, opened)?;
        }
        // Its mode can be changed through a descriptor from outside by whoever owns it.
        (0..3).try_for_each(renew_null)
    }
}

/// Opens the device for nothing anew, where it is one of the standard descriptors.
fn renew_null(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: the structure outlives the calls, the others take numbers and a text that outlives them.
    unsafe {
        let mut about: libc::stat = std::mem::zeroed();
        let is_there = libc::fstat(descriptor, &raw mut about) == 0;
        if !is_there || about.st_mode & libc::S_IFMT != libc::S_IFCHR || about.st_rdev != libc::makedev(1, 3) {
            return Ok(());
        }
        let access = libc::fcntl(descriptor, libc::F_GETFL) & libc::O_ACCMODE;
        let renewed = checked(libc::open(c"/dev/null".as_ptr(), access | libc::O_CLOEXEC))?;
        checked(libc::dup2(renewed, descriptor))?;
        libc::close(renewed);
    }
    Ok(())
}

fn mount(from: Text, to: Text, kind: Text, flags: libc::c_ulong) -> io::Result<i32> {
    mount_with(from, to, kind, flags, std::ptr::null())
}

fn mount_with(from: Text, to: Text, kind: Text, flags: libc::c_ulong, options: Text) -> io::Result<i32> {
    // SAFETY: all texts outlive the call.
    unsafe { checked(libc::mount(from, to, kind, flags, options.cast())) }
}

/// Changes what a mount allows. What is not named stays as it is.
fn change(path: &CStr, flags: i32, set: u64, clear: u64) -> io::Result<i32> {
    let attributes = libc::mount_attr { attr_set: set, attr_clr: clear, propagation: 0, userns_fd: 0 };
    let (call, size) = (libc::SYS_mount_setattr, size_of::<libc::mount_attr>());
    // SAFETY: the text and the structure outlive the call, which knows its size.
    checked(unsafe { libc::syscall(call, libc::AT_FDCWD, path.as_ptr(), flags, &raw const attributes, size) as i32 })
}

/// `/proc/self/fd/7`
fn opened_path(descriptor: RawFd, text: &mut [u8; 32]) -> Text {
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
