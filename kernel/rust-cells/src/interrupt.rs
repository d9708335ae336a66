//! Stops a running cell: the compiler, or the process that runs it.

use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How long the compiler has to stop, before the process of the cell is ended.
const PATIENCE: Duration = Duration::from_millis(300);

/// What is running, as the thread knows it that reads requests.
#[derive(Clone)]
pub struct Running {
    child: Arc<Mutex<Child>>,
    /// The number of the running cell; 0 between cells.
    cell: Arc<AtomicU64>,
    was_interrupted: Arc<AtomicBool>,
}

impl Running {
    /// `child` is the process that runs cells, also after it was started anew.
    pub fn new(child: Arc<Mutex<Child>>) -> Self {
        ignore_in_this_process();
        Self { child, cell: Arc::default(), was_interrupted: Arc::default() }
    }

    pub fn begin(&self, cell: u64) {
        self.was_interrupted.store(false, Ordering::SeqCst);
        self.cell.store(cell, Ordering::SeqCst);
    }

    /// Whether the cell was interrupted.
    pub fn end(&self) -> bool {
        self.cell.store(0, Ordering::SeqCst);
        self.was_interrupted.swap(false, Ordering::SeqCst)
    }

    /// Whether the running cell was interrupted.
    pub fn was_interrupted(&self) -> bool {
        self.was_interrupted.load(Ordering::SeqCst)
    }

    /// Stops the running cell. Only if the compiler is not what runs, the variables are lost.
    pub fn interrupt(&self) {
        let cell = self.cell.load(Ordering::SeqCst);
        if cell == 0 {
            return;
        }
        self.was_interrupted.store(true, Ordering::SeqCst);
        // SAFETY: a plain system call. The group has this process, cargo and the compiler, and not the cell's process.
        unsafe { libc::kill(0, libc::SIGINT) };
        let this = self.clone();
        thread::spawn(move || {
            thread::sleep(PATIENCE);
            if this.cell.load(Ordering::SeqCst) == cell {
                this.kill();
            }
        });
    }

    /// The number of the process that runs cells; none while it is started anew.
    pub fn process(&self) -> Option<u32> {
        self.child.try_lock().ok().map(|child| child.id())
    }

    /// Ends the process that runs cells, with what it has started.
    pub fn kill(&self) {
        if let Some(Ok(id)) = self.process().map(i32::try_from) {
            // SAFETY: a plain system call. It leads the group of its own number.
            unsafe { libc::kill(-id, libc::SIGKILL) };
        }
    }
}

/// The signal is for cargo. A handler, since a signal that is ignored would be ignored by cargo, too.
fn ignore_in_this_process() {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler: extern "C" fn(libc::c_int) = nothing;
    // SAFETY: the handler does nothing.
    unsafe { libc::signal(libc::SIGINT, handler as libc::sighandler_t) };
}
