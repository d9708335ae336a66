//! The process that runs compiled cells.

/// Set by evcxr for this process.
const IS_RUNTIME: &str = "EVCXR_IS_RUNTIME";

/// Prepares this process if it is the one that runs cells: it leads a group of its own, so that stopping it stops the
/// programs that cells started, and it ends with the process that started it.
pub fn prepare() {
    if std::env::var_os(IS_RUNTIME).is_none() {
        return;
    }
    // SAFETY: plain system calls about this process.
    unsafe {
        libc::setpgid(0, 0);
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
}
