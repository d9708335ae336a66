//! The environment of every command, and the ways in which it ends.

use std::cell::Cell;
use std::io::{self, Write};

use clap::ArgMatches;
use serde::Serialize;
use twincell_compare::notice::Notice;
use twincell_driver::command_line;
use twincell_driver::command_line::LineError;
use twincell_driver::options::{GivenOption, Job, Options, Spelling};
use twincell_driver::policy::{Policy, found, resolved};
use twincell_driver::warm::Environment;
use twincell_study::farm::Farm;
use twincell_widgets::{plain_json, plain_sentence};

use crate::output::Output;

/// Exit statuses. A study and the doctor end with [`UNCHANGED`] when they did their work.
pub const UNCHANGED: i32 = 0;
pub const CHANGED: i32 = 1;
pub const INCONCLUSIVE: i32 = 2;
pub const FAILED: i32 = 3;
/// The status that shells expect of a program that Ctrl-C ended.
pub const INTERRUPTED: i32 = 130;

/// The environment of a command.
pub struct Session<'a> {
    pub environment: Environment,
    pub out: Output<'a>,
    pub err: Output<'a>,
    /// Whether `out` supports colors.
    pub color: bool,
    /// The number of columns of `out`.
    pub width: usize,
    /// The command, for a shell, that shows long texts page by page, where `out` is a terminal.
    pub pager: Option<String>,
    /// Whether progress may be drawn on the process's standard error.
    pub progress: bool,
    /// Whether the reader of `out` has gone, so that nobody reads what is written there.
    pub left: &'a Cell<bool>,
    /// Whether the user asked to stop. The thread that runs the command asks this often.
    pub interrupted: &'a mut dyn FnMut() -> bool,
    /// The workers at an address, for some options. An error is one line for people.
    pub farms: &'a Farms,
}

impl Session<'_> {
    /// Writes a value as JSON. Nothing in it changes a terminal.
    pub fn write_json(&mut self, value: &impl Serialize) -> Result<(), Abort> {
        let json = serde_json::to_string_pretty(value).map_err(Abort::new)?;
        Ok(writeln!(self.out, "{}", plain_json(&json))?)
    }

    /// The options that a command line sets.
    pub fn read_options(&mut self, matches: &ArgMatches, job: Job) -> Result<Options, Abort> {
        let options = command_line::read(matches, job).map_err(Abort::new)?;
        self.warn_of_old_spellings(&options)?;
        Ok(options)
    }

    /// Says what to write in place of old spellings, in one line each.
    pub fn warn_of_old_spellings(&mut self, options: &Options) -> Result<(), Abort> {
        for deprecation in &options.deprecations {
            writeln!(self.err, "twincell: {}", plain_sentence(&deprecation.line(Spelling::CommandLine)))?;
        }
        Ok(())
    }
}

/// Workers at an address, for some options. An error without a text is an interruption.
pub type Farms = dyn Fn(&str, &Options) -> Result<Box<dyn Farm>, Option<String>>;

/// Why a command ended early. The message is for people.
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

/// The options in force, and what a policy among them makes of the search.
pub struct Limits {
    pub options: Options,
    /// The settings of the policy that make differences harder to find.
    pub weakened: Vec<Notice>,
    /// The number of executions that functions get without the policy, if it may give them fewer.
    pub usual: Option<u32>,
}

impl Limits {
    pub fn of(
        job: Job,
        policy: Option<&Policy>,
        given: &[GivenOption],
        session: &mut Session<'_>,
    ) -> Result<Self, Abort> {
        let options = resolved(job, policy, given).map_err(|error| Abort::new(LineError::from(error)))?;
        session.warn_of_old_spellings(&options)?;
        Ok(Self {
            options,
            weakened: policy.map(|policy| policy.weakening(given)).unwrap_or_default(),
            usual: policy.and_then(|policy| policy.usual_budget(given)),
        })
    }

    /// With the policy that is named or nearest.
    pub fn read(matches: &ArgMatches, job: Job, session: &mut Session<'_>) -> Result<Self, Abort> {
        let given = command_line::given(matches, job).map_err(Abort::new)?;
        Self::of(job, found(&given).map_err(Abort::new)?.as_ref(), &given, session)
    }
}
