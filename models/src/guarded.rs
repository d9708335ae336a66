//! Panics of libraries that read files of others, as errors.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// What panics in this thread is said by who asked for the work.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Does some work; if a library panics over it, the error is what the library says. Nothing of it goes to standard error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                others(panic);
            }
        }));
    });
    let before = IS_GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(before);
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
        assert!(!IS_GUARDED.get());
    }
}
