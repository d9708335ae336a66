//! Work that takes seconds, on its own thread, while the caller watches for interrupts.

use std::ops::ControlFlow;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use twincell_engine::Stop;

use crate::failure::Failure;

/// How often interrupts are checked.
pub const INTERVAL: Duration = Duration::from_millis(20);
/// The stack size of the thread. Only the used part takes memory.
pub const STACK: usize = 16 << 20;

/// The result of the work. An interrupt asks it to stop and does not wait for it: [`Failure::Stopped`].
pub fn interruptible<T: Send + 'static>(
    work: impl FnOnce(&Stop) -> Result<T, Failure> + Send + 'static,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<T, Failure> {
    let mut hear = |_: Option<()>| if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    streamed(move |stop, _: &dyn Fn(())| work(stop), &mut hear)?.ok_or(Failure::Stopped)
}

/// The result of work that hands parts of it over before its end. The caller hears each part in order, and `None` where the
/// work takes long. When it breaks off, the work is asked to stop, nobody waits for it, and there is no result.
pub fn streamed<P: Send + 'static, T: Send + 'static>(
    work: impl FnOnce(&Stop, &dyn Fn(P)) -> Result<T, Failure> + Send + 'static,
    hear: &mut dyn FnMut(Option<P>) -> ControlFlow<()>,
) -> Result<Option<T>, Failure> {
    enum Said<P, T> {
        Part(P),
        Done(Result<T, Failure>),
    }
    let stop = Stop::default();
    let (sender, receiver) = mpsc::channel();
    let stopped = stop.clone();
    let thread = std::thread::Builder::new().name("twincell-work".into()).stack_size(STACK);
    thread
        .spawn(move || {
            // Nobody listens any more after an interrupt.
            let say = |said| drop(sender.send(said));
            let done = work(&stopped, &|part| say(Said::Part(part)));
            say(Said::Done(done));
        })
        .map_err(|error| Failure::Internal(format!("a thread cannot be started: {error}")))?;
    loop {
        let heard = match receiver.recv_timeout(INTERVAL) {
            Ok(Said::Done(done)) => return done.map(Some),
            Ok(Said::Part(part)) => hear(Some(part)),
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::Internal("the work ended".into())),
            Err(RecvTimeoutError::Timeout) => hear(None),
        };
        if heard.is_break() {
            stop.ask();
            return Ok(None);
        }
    }
}

/// The result of work that says how far it is. The caller is told so, and often, also where the work waits for others: so
/// it may break off at any time, and gets what there is by then.
pub fn watched<P: Copy + Send, T: Send>(
    first: P,
    work: impl FnOnce(&Stop, &mut dyn FnMut(P) -> ControlFlow<()>) -> Result<T, Failure> + Send,
    progress: &mut dyn FnMut(P) -> ControlFlow<()>,
) -> Result<T, Failure> {
    let stop = Stop::default();
    let (sender, receiver) = mpsc::channel();
    let stopped = stop.clone();
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("twincell-work".into()).stack_size(STACK);
        let working = thread
            .spawn_scoped(scope, move || {
                let mut tell = |done| {
                    // The caller listens until this ends.
                    let _ = sender.send(done);
                    if stopped.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                work(&stopped, &mut tell)
            })
            .map_err(|error| Failure::Internal(format!("a thread cannot be started: {error}")))?;
        let mut latest = first;
        loop {
            match receiver.recv_timeout(INTERVAL) {
                Ok(done) => latest = done,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if progress(latest).is_break() {
                stop.ask();
            }
        }
        working.join().unwrap_or_else(|_| Err(Failure::Internal("the work ended".into())))
    })
}
