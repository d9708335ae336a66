//! What cells print, on its way to the kernel.

use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, select};
use evcxr::EvalContextOutputs;

use crate::protocol::{Event, Events};

/// The number of bytes after which printed lines become an event of their own.
const LARGE: usize = 64 << 10;
/// How long a cell's last lines on its standard error may take.
const LATE: Duration = Duration::from_millis(10);
/// How long they may take together: a thread of the cell may print for ever.
const LATEST: Duration = Duration::from_millis(100);

/// Passes on what cells print.
pub struct Output {
    flushes: Sender<Sender<()>>,
}

impl Output {
    pub fn pass_on(outputs: EvalContextOutputs, events: &Events) -> Self {
        let (flushes, asked) = bounded::<Sender<()>>(0);
        let events = events.clone();
        thread::spawn(move || {
            let EvalContextOutputs { stdout, stderr } = outputs;
            loop {
                select! {
                    recv(stdout) -> line => match line {
                        Ok(line) => events.send(&Event::Stdout { text: lines(line, &stdout) }),
                        Err(_) => break,
                    },
                    recv(stderr) -> line => match line {
                        Ok(line) => events.send(&Event::Stderr { text: lines(line, &stderr) }),
                        Err(_) => break,
                    },
                    recv(asked) -> done => {
                        while let Ok(line) = stdout.try_recv() {
                            events.send(&Event::Stdout { text: lines(line, &stdout) });
                        }
                        let until = Instant::now() + LATEST;
                        while Instant::now() < until
                            && let Ok(line) = stderr.recv_timeout(LATE)
                        {
                            events.send(&Event::Stderr { text: lines(line, &stderr) });
                        }
                        let Ok(done) = done else { break };
                        let _ = done.send(());
                    }
                }
            }
        });
        Self { flushes }
    }

    /// Returns when all that was printed has been passed on.
    pub fn flush(&self) {
        let (done, wait) = bounded(1);
        if self.flushes.send(done).is_ok() {
            let _ = wait.recv();
        }
    }
}

/// A line with those that are there already.
fn lines(mut text: String, more: &Receiver<String>) -> String {
    text.push('\n');
    while text.len() < LARGE
        && let Ok(line) = more.try_recv()
    {
        text.push_str(&line);
        text.push('\n');
    }
    text
}
