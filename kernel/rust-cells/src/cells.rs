//! The cells of one notebook.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use evcxr::{CommandContext, Error, EvalOutputs};

use crate::failures;
use crate::interrupt::Running;
use crate::output::Output;
use crate::panics::Panics;
use crate::protocol::{Event, Events, Match, Request, Table};
use crate::slot::{Slot, TABLE};

/// Crates that cells with tables may name, in the versions of the crate for tables.
const OF_TABLES: [&str; 1] = ["arrow-array = { version = \"60\", default-features = false }"];
/// How long the crates for tables compile before it is said.
const LONG: Duration = Duration::from_secs(3);
/// MiB of compiled crates that notebooks share.
const CACHE: u32 = 4096;

/// What runs cells.
pub struct Cells {
    context: CommandContext,
    output: Output,
    panics: Panics,
    running: Running,
    events: Events,
    slot: Slot,
    /// The process that writes its panics to the file. Commands such as `:clear` start another one.
    hooked: Option<u32>,
    /// Whether a cell has had tables, so that their crates are compiled.
    has_tables: bool,
}

impl Cells {
    /// Compiles and runs a first cell. Errors are for people.
    pub fn start(root: &Path, events: &Events) -> Result<Self, String> {
        let slot = Slot::take(root)?;
        let libraries = target_libraries()?;
        // SAFETY: no other thread runs yet.
        unsafe {
            std::env::set_var("EVCXR_TMPDIR", &slot.folder);
            // The compiled cells look for the standard library beside a folder that is not there.
            let others = std::env::var("LD_LIBRARY_PATH").map_or_else(|_| String::new(), |others| format!(":{others}"));
            std::env::set_var("LD_LIBRARY_PATH", format!("{libraries}{others}"));
            std::env::set_var("CARGO_TERM_COLOR", "never");
        }
        let (mut context, outputs) = CommandContext::new().map_err(|error| error.to_string())?;
        let output = Output::pass_on(outputs, events);
        let running = Running::new(context.process_handle());
        context.execute(&format!(":offline 1\n:cache {CACHE}")).map_err(|error| error.to_string())?;
        let panics = Panics::of(&slot.folder);
        let mut cells =
            Self { context, output, panics, running, events: events.clone(), slot, hooked: None, has_tables: false };
        cells.set_hook();
        Ok(cells)
    }

    /// Answers requests until there are no more. Then the process that runs cells is ended.
    pub fn serve(mut self) {
        let (sender, requests) = mpsc::channel();
        let running = self.running.clone();
        thread::spawn(move || {
            for line in io::stdin().lock().lines() {
                let Some(request) = line.ok().and_then(|line| serde_json::from_str(&line).ok()) else { break };
                match request {
                    Request::Interrupt => {
                        running.interrupt();
                        continue;
                    }
                    // From now on it can be interrupted.
                    Request::Evaluate { id, .. } => running.begin(id),
                    Request::Complete { .. } => {}
                }
                if sender.send(request).is_err() {
                    break;
                }
            }
            // Nobody asks any more, so nobody waits for the running cell.
            running.kill();
            // Nor for the compiler, which is in the group of this process.
            // SAFETY: a plain system call.
            unsafe { libc::kill(0, libc::SIGKILL) };
        });
        for request in requests {
            match request {
                Request::Evaluate { id, code, inputs, outputs } => {
                    let ran = self.evaluate(&code, &inputs, &outputs);
                    self.output.flush();
                    let was_interrupted = self.running.end();
                    self.tell_panics(&code);
                    match ran {
                        Ok(shown) => self.show(shown),
                        Err(error) => self.tell(&error, was_interrupted),
                    }
                    self.events.send(&Event::End { id });
                }
                Request::Complete { id, code, position } => {
                    self.complete(&code, position);
                    self.events.send(&Event::End { id });
                }
                Request::Interrupt => {}
            }
        }
    }

    fn evaluate(&mut self, code: &str, inputs: &[Table], outputs: &[Table]) -> Result<EvalOutputs, Error> {
        self.set_hook();
        if self.running.was_interrupted() {
            return Err(Error::from("interrupted"));
        }
        if !inputs.is_empty() || !outputs.is_empty() {
            self.take_tables(inputs)?;
        }
        let shown = match self.context.execute(code) {
            Err(error) if failures::is_of_cargo(&error) && !self.running.was_interrupted() => {
                self.execute_online(code)?
            }
            ran => ran?,
        };
        if !outputs.is_empty() && !self.panics.has_stopped_cell() {
            let write = |Table { name, path }: &Table| {
                format!("{TABLE}::write(&{name}, {path:?}).expect(\"a file for the table\");")
            };
            // What is wrong there is no part of the cell.
            self.context.execute(&outputs.iter().map(write).collect::<String>()).map_err(|error| {
                let names: Vec<&str> = outputs.iter().map(|table| table.name.as_str()).collect();
                Error::from(format!("-o {}: {error}; -o takes variables that hold a RecordBatch", names.join(" -o ")))
            })?;
        }
        Ok(shown)
    }

    /// Runs a cell with crates that are not on this machine yet.
    fn execute_online(&mut self, code: &str) -> Result<EvalOutputs, Error> {
        // The next compilation writes this down, where cargo looks when it is asked for the crates of a cell.
        let ran = self.context.execute(":offline 0\n();").and_then(|_| self.context.execute(code));
        self.context.execute(":offline 1")?;
        ran
    }

    /// Adds the crates for tables, unless they are there, and reads tables. Both at once: after new crates, evcxr looks
    /// for seconds at all that a cell may name.
    fn take_tables(&mut self, inputs: &[Table]) -> Result<(), Error> {
        let mut code = format!(":dep {TABLE} = {{ path = {:?} }}\n", self.slot.table());
        for one in OF_TABLES {
            code.push_str(&format!(":dep {one}\n"));
        }
        for Table { name, path } in inputs {
            code.push_str(&format!(
                "let {name}: {TABLE}::RecordBatch = {TABLE}::read({path:?}).expect(\"the table of the notebook\");"
            ));
        }
        let text = "Preparing the crates for tables, which takes minutes where they were never compiled.\n".to_owned();
        let late = (!self.has_tables).then(|| self.after(LONG, Event::Stderr { text }));
        let taken = match self.context.execute(&code) {
            Err(error) if self.has_tables || matches!(error, Error::SubprocessTerminated(_)) => Err(error),
            Err(_) if !self.running.was_interrupted() => self.execute_online(&code),
            taken => taken,
        };
        drop(late);
        self.has_tables |= taken.is_ok();
        taken.map(drop)
    }

    /// Tells something if what comes next takes so long. What is returned ends the waiting.
    fn after(&self, wait: Duration, event: Event) -> Sender<()> {
        let (sender, ended) = mpsc::channel();
        let events = self.events.clone();
        thread::spawn(move || {
            if let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(wait) {
                events.send(&event);
            }
        });
        sender
    }

    /// Has the process that runs cells write its panics down, unless it does.
    fn set_hook(&mut self) {
        let process = self.running.process();
        if self.hooked != process && self.context.execute(&self.panics.hook()).is_ok() {
            self.hooked = process;
        }
    }

    fn tell_panics(&self, code: &str) {
        let source = self.context.last_source().unwrap_or_default();
        for panic in self.panics.take(code, &source) {
            self.events.send(&Event::Panic(panic));
        }
    }

    fn show(&self, shown: EvalOutputs) {
        let data: BTreeMap<String, String> = shown.content_by_mime_type.into_iter().collect();
        if !data.is_empty() {
            self.events.send(&Event::Display { data });
        }
    }

    fn tell(&self, error: &Error, was_interrupted: bool) {
        let is_gone = matches!(error, Error::SubprocessTerminated(_));
        self.events.send(&match was_interrupted {
            true => Event::Interrupted { lost: is_gone },
            false => failures::event(error),
        });
    }

    fn complete(&mut self, code: &str, position: usize) {
        if !code.is_char_boundary(position) {
            self.events.send(&Event::Error { message: format!("byte {position} is not between characters") });
            return;
        }
        // What cannot be completed has no completions.
        let Ok(found) = self.context.completions(code, position) else { return };
        let matches = found.completions.into_iter().map(|one| Match { text: one.code, kind: one.kind }).collect();
        self.events.send(&Event::Completions { start: found.start_offset, end: found.end_offset, matches });
    }
}

/// The folder of the standard library that cells are linked with.
fn target_libraries() -> Result<String, String> {
    let asked = Command::new("rustc").args(["--print", "target-libdir"]).output();
    let told = asked.map_err(|error| format!("rustc cannot be run: {error}"))?;
    if !told.status.success() {
        let message = String::from_utf8_lossy(&told.stderr);
        return Err(format!("rustc does not work: {}", message.trim().lines().next().unwrap_or_default()));
    }
    Ok(String::from_utf8_lossy(&told.stdout).trim().to_owned())
}
