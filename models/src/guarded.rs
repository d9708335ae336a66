//! Turns panics of libraries that read foreign files into errors.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}
/// The number of guarded calls in the whole process, for the threads of [`LIBRARY`], which nobody else uses.
static GUARDED: AtomicUsize = AtomicUsize::new(0);
/// The prefix of the names of rten's threads.
const LIBRARY: &str = "rten";
static HOOK: Once = Once::new();

/// Does some work. If a library panics over it, the error is the library's message. Nothing goes to standard error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            let is_library = std::thread::current().name().is_some_and(|name| name.starts_with(LIBRARY));
            if !(IS_GUARDED.get() || is_library && GUARDED.load(Ordering::Relaxed) > 0) {
                others(panic);
            }
        }));
    });
    let before = IS_GUARDED.replace(true);
    GUARDED.fetch_add(1, Ordering::Relaxed);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.fetch_sub(1, Ordering::Relaxed);
    IS_GUARDED.set(before);
    done.map_err(|panic| panic_message(panic.as_ref()))
}

/// The message of a panic.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown panic".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(guarded(|| 3), Ok(3));
        assert_eq!(guarded(|| panic!("no {}", "size")), Err::<(), _>("no size".to_owned()));
        assert_eq!(guarded(|| guarded(|| panic!("inside"))), Ok(Err::<(), _>("inside".to_owned())));
    }
}
