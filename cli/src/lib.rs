//! The command line: `twincell compare`, `record`, `mine`, `study`, `predict`, `prefix`, `amplify`,
//! `slice`, `blame`, `impact`, `doctor`. Arguments in, text and an exit status out.
//!
//! [`run`] is the whole of it. A [`Session`] brings what the process around it offers, so nothing here knows Python, and
//! commands run as functions:
//!
//! ```
//! use std::cell::Cell;
//!
//! use twincell_cli::{Output, Session, run};
//! use twincell_driver::warm::Environment;
//!
//! let (mut out, mut err) = (Vec::new(), Vec::new());
//! let (left, deaf) = (Cell::new(false), Cell::new(false));
//! let mut session = Session {
//!     environment: Environment::default(),
//!     out: Output::new(&mut out, &left),
//!     err: Output::new(&mut err, &deaf),
//!     color: false,
//!     width: 80,
//!     pager: None,
//!     progress: false,
//!     left: &left,
//!     interrupted: &mut || false,
//!     farms: &|_, _| Err(None),
//! };
//! let status = run(vec!["compare".into(), "old.py".into(), "new.py".into()], &mut session);
//! assert_eq!(status, 3);
//! assert_eq!(String::from_utf8(err)?, "twincell: cannot read old.py: No such file or directory\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accepted;
mod amplify;
pub mod arguments;
mod blame;
mod compare;
mod doctor;
mod exports;
mod git;
mod impact;
mod mine;
mod output;
mod pager;
mod predict;
mod prefix;
mod programs;
mod record;
mod session;
mod slice;
mod study;

use std::ffi::OsString;
use std::io::Write;

use clap::error::ErrorKind;
use twincell_driver::command_line;
use twincell_driver::options::Job;
use twincell_driver::policy::{found, resolved};
use twincell_widgets::plain_sentence;

pub use output::Output;
pub use predict::listed;
pub use session::{Farms, Session};

use session::{Abort, FAILED, INTERRUPTED, UNCHANGED};

/// Runs a command line without the program's name and returns the exit status.
pub fn run(arguments: Vec<OsString>, session: &mut Session<'_>) -> i32 {
    dispatch(arguments, session).unwrap_or_else(|abort| {
        // If standard error is closed too, there is nobody left to tell.
        let _ = writeln!(session.err, "twincell: {}", plain_sentence(&abort.to_string()));
        if matches!(abort, Abort::Interrupted) { INTERRUPTED } else { FAILED }
    })
}

fn dispatch(arguments: Vec<OsString>, session: &mut Session<'_>) -> Result<i32, Abort> {
    let status = match arguments::command().try_get_matches_from(arguments) {
        Ok(matches) => match matches.subcommand() {
            Some(("compare", matches)) => compare::run(matches, session),
            Some(("record", matches)) => record::run(matches, session),
            Some(("study", matches)) => study::run(matches, session),
            Some(("mine", matches)) => mine::run(matches, session),
            Some(("predict", matches)) => predict::run(matches, session),
            Some(("prefix", matches)) => prefix::run(matches, session),
            Some(("amplify", matches)) => amplify::run(matches, session),
            Some(("slice", matches)) => slice::run(matches, session),
            Some(("blame", matches)) => blame::run(matches, session),
            Some(("impact", matches)) => impact::run(matches, session),
            Some(("doctor", matches)) => examine(matches, session),
            // clap requires a subcommand. This is for one that is declared and not listed above.
            other => Err(Abort::Failed(format!("{other:?} is not a command; try twincell --help"))),
        },
        Err(error) => explain(&error, session),
    }?;
    session.out.flush()?;
    Ok(status)
}

/// Help and version go to standard output. Anything else is an error.
fn explain(error: &clap::Error, session: &mut Session<'_>) -> Result<i32, Abort> {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        write!(session.err, "{}", error.render())?;
        return Ok(FAILED);
    }
    if error.use_stderr() {
        return Err(Abort::Failed(command_line::one_line(error)));
    }
    write!(session.out, "{}", error.render())?;
    Ok(UNCHANGED)
}

fn examine(matches: &clap::ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let given = command_line::given(matches, Job::Doctor).map_err(Abort::new)?;
    let policy = found(&given).map_err(Abort::new)?;
    let options = resolved(Job::Doctor, policy.as_ref(), &given).map_err(Abort::new)?;
    session.warn_of_old_spellings(&options)?;
    let in_force = doctor::policy_report(policy.as_ref(), &given);
    let removed = matches.get_flag("clean").then(|| doctor::clean(&session.environment)).transpose()?;
    let report = doctor::Report { removed, ..doctor::examine(&options, &session.environment, in_force) };
    if matches.get_flag("json") {
        session.write_json(&report)?;
    } else {
        write!(session.out, "{}", report.text())?;
    }
    let is_clean = report.removed.as_ref().is_none_or(|removed| removed.failed.is_empty());
    Ok(if report.works && is_clean { UNCHANGED } else { FAILED })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;
    use std::io;

    use twincell_driver::warm::Environment;

    use super::*;

    /// Runs a command line; (status, standard output, standard error).
    pub fn command(arguments: &[&str]) -> (i32, String, String) {
        let mut out = Vec::new();
        let (status, err) = run_into(&mut out, arguments);
        (status, String::from_utf8(out).unwrap(), err)
    }

    /// Runs a command line with this standard output; (status, standard error).
    fn run_into(out: &mut dyn Write, arguments: &[&str]) -> (i32, String) {
        let mut err = Vec::new();
        let (left, deaf) = (Cell::new(false), Cell::new(false));
        let mut session = Session {
            environment: Environment::default(),
            out: Output::new(out, &left),
            err: Output::new(&mut err, &deaf),
            color: false,
            width: 80,
            pager: None,
            progress: false,
            left: &left,
            interrupted: &mut || false,
            farms: &|_, _| Err(None),
        };
        let status = run(arguments.iter().map(OsString::from).collect(), &mut session);
        (status, String::from_utf8(err).unwrap())
    }

    #[test]
    fn help_and_version_are_no_errors() {
        let (status, out, err) = command(&["--version"]);
        assert_eq!((status, out.trim(), err.as_str()), (0, concat!("twincell ", env!("CARGO_PKG_VERSION")), ""));
        let (status, out, _) = command(&["compare", "--help"]);
        assert_eq!(status, 0);
        assert!(out.contains("--raise-probability") && out.contains("Exit status"), "{out}");
    }

    #[test]
    fn wrong_arguments_end_with_3() {
        for (arguments, expected) in [
            (&["compare"][..], "give two files"),
            (&["compare", "only.py"], "give two files"),
            (&["compare", "a.py", "b.py", "c.py"], "give two files"),
            (&["compare", "a.py", "b.py", "--bugdet", "3"], "--budget"),
            (&["compare", "a.py", "b.py", "--budget", "x"], "--budget cannot be 'x': give a whole number"),
            (&["compare", "a.py", "b.py", "--json", "--html"], "a value is required"),
            (&["compare", "a.py", "b.py", "--markdown", "m", "--link", "x y"], "--link"),
            (&["compare", "a.py", "b.py", "--accept", "why"], "--git"),
            (&["study", "a.jsonl"], "--out"),
            (&["mine"], "REPO"),
            (&["mine", "/nonexistent"], "there is no git repository in /nonexistent"),
            (&["mine", ".", "--since", "soon"], "--since: soon is not a date: write 2024-05-17"),
            (&["mine", ".", "--limit", "many"], "--limit cannot be 'many': give a whole number"),
            (&["slice", "a..b"], "--tests"),
            (
                &["slice", "a..b", "--tests", "t", "--jobs", "many"],
                "--jobs cannot be 'many': give a whole number from 1",
            ),
            (&["slice", "a..b", "--tests", "t", "--deadline", "0"], "--deadline cannot be 0: give a number from"),
            (&["slice", "a..b", "--tests", "t", "--repository", "/nonexistent"], "there is no git repository in"),
            (&["nonsense"], "nonsense"),
            (&[], "Usage"),
            (&["compare", "no/such/file.py", "b.py"], "cannot read no/such/file.py: No such file or directory"),
            (&["study", "no/such.jsonl", "--out", "x"], "cannot read no/such.jsonl"),
        ] {
            let (status, out, err) = command(arguments);
            assert_eq!((status, out.as_str()), (3, ""), "{arguments:?}");
            assert!(err.contains(expected), "{arguments:?}: {err}");
            assert!(!err.contains("panicked"));
            assert!(arguments.is_empty() || err.lines().count() == 1, "{err}");
        }
    }

    #[test]
    fn a_closed_output_is_no_crash() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        assert_eq!(run_into(&mut Closed, &["--help"]), (0, String::new()));
    }
}
