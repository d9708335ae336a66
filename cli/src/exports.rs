//! The files that commands write: the check before all work, and those of `compare` and `study` for other programs, with the
//! verdicts that make them fail: arguments, files, statuses.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use twincell_compare::verdict::Verdict;
use twincell_driver::files::{self, TextKind};
use twincell_widgets::{Format, Notices, Report, render};

use crate::session::{Abort, CHANGED, INCONCLUSIVE, UNCHANGED};

/// (argument, what the file holds, the kind of its text)
const FORMATS: [(&str, &str, Format, TextKind); 3] = [
    ("sarif", "Also write the results as SARIF, for code scanning", Format::Sarif, TextKind::Json),
    ("junit", "Also write the results as JUnit XML, for test reports", Format::Junit, TextKind::Markup),
    ("markdown", "Also write the results as Markdown, for a pull request", Format::Markdown, TextKind::People),
];

/// Adds the arguments. `fails` is the default of `--fail-on`.
pub fn add_to(command: Command, fails: &'static str) -> Command {
    let command = FORMATS.iter().fold(command, |command, (name, help, ..)| {
        command.arg(Arg::new(*name).long(*name).value_name("FILE").value_parser(value_parser!(PathBuf)).help(*help))
    });
    command.arg(fail_on(fails, "The mildest verdict with an exit status other than 0"))
}

/// `--fail-on`, with its default.
pub fn fail_on(fails: &'static str, help: &'static str) -> Arg {
    Arg::new("fail-on")
        .long("fail-on")
        .value_name("VERDICT")
        .value_parser(PossibleValuesParser::new(["changing", "inconclusive", "never"]))
        .default_value(fails)
        .help(help)
}

/// Whether any of the files was requested.
pub fn are_wanted(matches: &ArgMatches) -> bool {
    FORMATS.iter().any(|(name, ..)| matches.contains_id(name))
}

/// Checks that the requested files can be written and differ from these others, now and not after hours.
pub fn check(matches: &ArgMatches, others: &[Option<PathBuf>]) -> Result<(), Abort> {
    check_files(matches, &FORMATS.map(|(name, ..)| name), others)
}

/// The same for the files of other arguments.
pub fn check_files(matches: &ArgMatches, names: &[&str], others: &[Option<PathBuf>]) -> Result<(), Abort> {
    let mut taken: Vec<PathBuf> = others.iter().flatten().filter_map(|path| std::path::absolute(path).ok()).collect();
    for name in names {
        let Some(path) = matches.get_one::<PathBuf>(name) else { continue };
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        if taken.contains(&whole) {
            let path = path.display();
            return Err(Abort::Failed(format!(
                "--{name} cannot be {path}: another option or the input uses this file"
            )));
        }
        taken.push(whole);
        files::check_writable(path).map_err(Abort::Failed)?;
    }
    Ok(())
}

/// Writes the requested files.
pub fn write(report: &Report<'_>, matches: &ArgMatches) -> Result<(), Abort> {
    for (name, _, format, kind) in FORMATS {
        if let Some(path) = matches.get_one::<PathBuf>(name) {
            files::write_text(path, &render(format, report), kind).map_err(Abort::Failed)?;
        }
    }
    Ok(())
}

/// The exit status for the worst verdict. What is trusted and changed is not left to `--fail-on`.
pub fn status(worst: Verdict, notices: Notices<'_>, matches: &ArgMatches) -> i32 {
    let fails = matches.get_one::<String>("fail-on").map_or("inconclusive", String::as_str);
    match worst {
        _ if notices.fail() => CHANGED,
        Verdict::Changing if fails != "never" => CHANGED,
        Verdict::Inconclusive if fails == "inconclusive" => INCONCLUSIVE,
        _ => UNCHANGED,
    }
}
