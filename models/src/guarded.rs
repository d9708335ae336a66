//! Panics of libraries that read files of others, as errors.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How much work is guarded just now. In the whole process: libraries have threads of their own.
static GUARDED: AtomicUsize = AtomicUsize::new(0);
static HOOK: Once = Once::new();

/// Does some work; if a library panics over it, the error is what the library says. Nothing of it goes to standard error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            if GUARDED.load(Ordering::Relaxed) == 0 {
                others(panic);
            }
        }));
    });
    GUARDED.fetch_add(1, Ordering::Relaxed);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.fetch_sub(1, Ordering::Relaxed);
    done.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        text.unwrap_or("no reason is known").to_owned()
    })
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
