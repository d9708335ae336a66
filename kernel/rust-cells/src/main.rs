//! Runs the Rust cells of a notebook, with evcxr and the user's cargo.
//!
//! `twincell-rust FOLDER` reads requests as lines of JSON from its standard input and writes events as lines of JSON to its
//! standard output (`protocol.rs`). It compiles in FOLDER, where crates stay compiled for later notebooks (`slot.rs`).
//! evcxr starts the program once more to run the compiled cells (`runtime.rs`), so that a cell that crashes, or ends its
//! process, ends only that one.

mod cells;
mod failures;
mod interrupt;
mod output;
mod panics;
mod protocol;
mod runtime;
mod slot;

use std::path::PathBuf;
use std::process::ExitCode;

use protocol::{Event, Events};

fn main() -> ExitCode {
    runtime::prepare();
    // Does not return where evcxr started this process to run cells, or to wrap the compiler.
    evcxr::runtime_hook();
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("twincell-rust FOLDER: name the folder in which it may compile; twincell's kernel starts it");
        return ExitCode::from(2);
    };
    let events = match Events::of_standard_output() {
        Ok(events) => events,
        Err(error) => {
            eprintln!("twincell-rust: its standard output cannot be used: {error}");
            return ExitCode::FAILURE;
        }
    };
    match cells::Cells::start(&folder, &events) {
        Ok(cells) => {
            events.send(&Event::Ready);
            cells.serve();
            ExitCode::SUCCESS
        }
        Err(message) => {
            events.send(&Event::Failed { message });
            ExitCode::FAILURE
        }
    }
}
