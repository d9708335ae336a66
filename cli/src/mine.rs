//! `twincell mine`: arguments, files and messages around [`twincell_study::mine`].

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressDrawTarget};
use twincell_driver::files::reason;
use twincell_driver::options::PathRules;
use twincell_driver::policy::path_rules;
use twincell_study::mine::{Mine, Selection, seconds};
use twincell_widgets::plain_sentence;

use crate::session::{Abort, Session, UNCHANGED};

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let mut selection = selection(matches)?;
    let jobs = number(matches, "jobs")?.unwrap_or_else(twincell_study::mine::default_jobs);
    // clap has checked that it is given.
    let repository = matches.get_one::<PathBuf>("repository").cloned().unwrap_or_default();
    let policy = matches.get_one::<PathBuf>("policy");
    selection.paths = path_rules(&repository, policy.map(PathBuf::as_path)).map_err(Abort::new)?;
    let out = matches.get_one::<PathBuf>("out");
    let ending = out.and_then(|path| path.extension()).map(|ending| ending.to_string_lossy().to_lowercase());
    if let Some(ending @ ("csv" | "tsv" | "parquet" | "pq" | "sqlite" | "db")) = ending.as_deref() {
        return Err(Abort::Failed(format!("changes are not written as .{ending}: give a name that ends in .jsonl")));
    }
    let mut mine = Mine::start(&repository, selection, jobs).map_err(Abort::new)?;
    let Some(path) = out else {
        let left = session.left;
        let stopped =
            give(&mut mine, &mut session.out, session.progress, &mut || left.get() || (session.interrupted)())?;
        session.out.flush()?;
        write!(session.err, "{}", plain(&mine))?;
        // A reader who has read enough wants no more, which is not an interruption.
        return if stopped && !left.get() { Err(Abort::Interrupted) } else { Ok(UNCHANGED) };
    };
    let unwritable = |error: io::Error| Abort::Failed(format!("cannot write {}: {}", path.display(), reason(&error)));
    let mut file = BufWriter::new(File::create(path).map_err(unwritable)?);
    let stopped = give(&mut mine, &mut file, session.progress, session.interrupted).map_err(|abort| match abort {
        Abort::Output(error) => unwritable(error),
        other => other,
    })?;
    file.flush().map_err(unwritable)?;
    writeln!(session.out, "{}written to {}", plain(&mine), plain_sentence(&path.display().to_string()))?;
    if stopped { Err(Abort::Interrupted) } else { Ok(UNCHANGED) }
}

/// Writes one line for each change. Returns whether it was stopped.
fn give(
    mine: &mut Mine,
    out: &mut dyn Write,
    progress: bool,
    stopped: &mut dyn FnMut() -> bool,
) -> Result<bool, Abort> {
    let bar = ProgressBar::with_draw_target(None, target(progress));
    bar.enable_steady_tick(Duration::from_millis(200));
    while !stopped() {
        match mine.next_change() {
            None => {
                bar.finish_and_clear();
                return Ok(false);
            }
            Some(Ok(change)) => {
                serde_json::to_writer(&mut *out, &change.fields()).map_err(io::Error::from)?;
                out.write_all(b"\n")?;
                // A reader on the other side of a pipe gets each change as it is found.
                out.flush()?;
            }
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            Some(Err(error)) => return Err(Abort::Failed(format!("cannot read the rest of the repository: {error}"))),
        }
        let report = mine.report();
        bar.set_message(format!("{} changes in {} commits", report.changes, report.commits));
    }
    bar.finish_and_clear();
    Ok(true)
}

fn selection(matches: &ArgMatches) -> Result<Selection, Abort> {
    let now = twincell_study::mine::now();
    let date = |name: &str, end: bool| {
        let date = matches.get_one::<String>(name).map(|text| seconds(text, end, now)).transpose();
        date.map_err(|error| Abort::Failed(format!("--{name}: {error}")))
    };
    Ok(Selection {
        revision: matches.get_one::<String>("from").cloned(),
        since: date("since", false)?,
        until: date("until", true)?,
        grep: matches.get_many::<String>("grep").into_iter().flatten().cloned().collect(),
        single_function: matches.get_flag("single-function"),
        tests: matches.get_flag("tests"),
        no_modules: matches.get_flag("no-modules"),
        limit: number(matches, "limit")?,
        paths: PathRules::default(),
    })
}

fn number(matches: &ArgMatches, name: &str) -> Result<Option<usize>, Abort> {
    let Some(text) = matches.get_one::<String>(name) else { return Ok(None) };
    let number = text.parse::<usize>().ok().filter(|number| *number > 0);
    let wrong = || Abort::Failed(format!("--{name} cannot be '{text}': give a whole number of at least 1"));
    number.ok_or_else(wrong).map(Some)
}

/// The counts, made harmless to a terminal.
fn plain(mine: &Mine) -> String {
    mine.report().text().lines().map(|line| format!("{}\n", plain_sentence(line))).collect()
}

fn target(wanted: bool) -> ProgressDrawTarget {
    if wanted && io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}
