//! What every command runs in, and how it ends.

use std::cell::Cell;
use std::io::{self, Write};

use clap::ArgMatches;
use twincell_driver::options::{Job, Options, command_line};
use twincell_driver::warm::Environment;
use twincell_study::farm::Farm;

/// Exit statuses. A study and the doctor end with [`UNCHANGED`] when they did their work.
pub const UNCHANGED: i32 = 0;
pub const CHANGED: i32 = 1;
pub const INCONCLUSIVE: i32 = 2;
pub const FAILED: i32 = 3;
/// What shells expect of a program that Ctrl-C ended.
pub const INTERRUPTED: i32 = 130;

/// What a command runs in.
pub struct Session<'a> {
    pub environment: Environment,
    pub out: &'a mut dyn Write,
    pub err: &'a mut dyn Write,
    /// `out` takes colors.
    pub color: bool,
    /// Columns of `out`.
    pub width: usize,
    /// Progress may be drawn on the process's standard error.
    pub progress: bool,
    /// Who reads `out` has gone: what is written there is for nobody.
    pub left: &'a Cell<bool>,
    /// Whether the user asked to stop; asked often, from the thread that runs the command.
    pub interrupted: &'a mut dyn FnMut() -> bool,
    /// The workers at an address, for options as they were typed. An error is one line for people.
    pub farms: &'a Farms,
}

/// Workers at an address, for options as they were typed. An error without a text is an interruption.
pub type Farms = dyn Fn(&str, &[(&str, String)]) -> Result<Box<dyn Farm>, Option<String>>;

/// Why a command ended early; the message is for people.
#[derive(Debug, thiserror::Error)]
pub enum Abort {
    #[error("{0}")]
    Failed(String),
    #[error("stopped")]
    Interrupted,
    #[error("cannot write the result: {0}")]
    Output(#[from] io::Error),
}

impl Abort {
    pub fn new(error: impl std::fmt::Display) -> Self {
        Abort::Failed(error.to_string())
    }
}

/// The options of the table that a command line gives.
pub fn read_options(matches: &ArgMatches, job: Job) -> Result<Options, Abort> {
    command_line::read(matches, job).map_err(|error| Abort::Failed(format!("--{error}")))
}
