//! `twincell study`: arguments, progress and summary around [`twincell_study`].

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use twincell_compare::Continue;
use twincell_compare::notice::Notice;
use twincell_compare::verdict::Verdict;
use twincell_driver::options::{Job, Options};
use twincell_study::job::{Done, Order, from_file, run_study, transformed};
use twincell_study::outputs::Outputs;
use twincell_study::pace::Progress;
use twincell_study::store::read_all;
use twincell_study::summary::enforced_line;
use twincell_widgets::export::ExportRow;
use twincell_widgets::{Advice, Notices, Report, TextOptions, notices_text, plain_sentence};

use crate::exports;
use crate::session::{Abort, FAILED, Limits, Session};

/// How many notices a terminal shows.
const MOST_NOTICES: usize = 10;

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let limits = Limits::read(matches, Job::Study, session)?;
    let order = order(matches, limits.options, session)?;
    let out = order.outputs.out.clone();
    let done = compared(order, session)?;
    print(&done, session)?;
    if done.outcome.interrupted {
        writeln!(session.err, "twincell: run the same command again to resume the study")?;
        return Err(Abort::Interrupted);
    }
    if let (true, Some(out)) = (exports::are_wanted(matches), out) {
        let rows = done.details.export_rows(read_all(&out).map_err(Abort::Failed)?);
        let notices: Vec<Notice> = limits.weakened.into_iter().chain(done.notices.iter().cloned()).collect();
        exports::write(&report(&rows, &notices), matches)?;
    }
    let rows = done.outcome.confusion.total();
    // A command may find nothing to do.
    if done.outcome.notable.is_nothing(rows.into()) && (rows > 0 || !matches.contains_id("transform")) {
        return Ok(FAILED);
    }
    let all = [Verdict::Changing, Verdict::Inconclusive, Verdict::LikelyPreserving, Verdict::Identical];
    let found = all.into_iter().filter(|verdict| done.outcome.confusion.of(*verdict) > 0);
    Ok(exports::status(Verdict::worst(found), Notices::default(), matches))
}

/// The rows for other programs.
fn report<'a>(rows: &'a [ExportRow], notices: &'a [Notice]) -> Report<'a> {
    Report {
        range: None,
        title: "study",
        verdict: Verdict::worst(rows.iter().map(|row| row.verdict)),
        files: &[],
        whole: None,
        rows,
        notices: Notices { all: notices, allows_changes: false },
        advice: Advice::default(),
        layout: TextOptions::default(),
        version: env!("CARGO_PKG_VERSION"),
    }
}

/// The study that the arguments describe.
fn order(matches: &ArgMatches, options: Options, session: &mut Session<'_>) -> Result<Order, Abort> {
    let path = |name| matches.get_one::<PathBuf>(name).cloned();
    // clap has checked that it is given.
    let source = path("file").unwrap_or_default();
    let outputs = Outputs {
        out: path("out"),
        fresh: matches.get_flag("fresh"),
        html: path("html"),
        reproducers: path("reproducers"),
        // A page has notices, too.
        details: exports::are_wanted(matches) || matches.contains_id("html"),
    };
    exports::check(matches, &[Some(source.clone()), outputs.out.clone(), outputs.html.clone()])?;
    let (changes, name) = match matches.get_one::<String>("transform") {
        Some(command) => transformed(&source, command),
        None => from_file(&source),
    }
    .map_err(Abort::Failed)?;
    let farm = match matches.get_one::<String>("on") {
        Some(address) => {
            if session.progress {
                writeln!(session.err, "twincell: waiting for the workers of {}", plain_sentence(address))?;
            }
            Some((session.farms)(address, &options).map_err(|error| error.map_or(Abort::Interrupted, Abort::Failed))?)
        }
        None => None,
    };
    Ok(Order { changes, name, source: Some(source), options, outputs, farm })
}

/// Runs a study with a progress bar, and passes its warnings on, however it ends.
fn compared(order: Order, session: &mut Session<'_>) -> Result<Done, Abort> {
    let bar = progress_bar(session.progress);
    let interrupted = &mut *session.interrupted;
    let mut watch = |progress: &Progress| {
        bar.set_length(progress.total.unwrap_or_default().max(progress.done));
        bar.set_position(progress.done);
        bar.set_message(progress.text());
        if interrupted() { Continue::Stop } else { Continue::Yes }
    };
    let mut warnings = Vec::new();
    let done = run_study(order, &session.environment, &mut |warning| warnings.push(warning.to_owned()), &mut watch);
    bar.finish_and_clear();
    if let Ok(done) = &done {
        warnings.extend_from_slice(&done.warnings);
    }
    for warning in warnings {
        writeln!(session.err, "twincell: {}", plain_sentence(&warning))?;
    }
    done.map_err(Abort::Failed)
}

/// Prints what a study found, and where it was written.
fn print(done: &Done, session: &mut Session<'_>) -> Result<(), Abort> {
    for note in &done.notes {
        writeln!(session.out, "{}", plain_sentence(note))?;
    }
    let outcome = &done.outcome;
    let (counts, reach, enforced) = (outcome.confusion.text(), outcome.reach.text(), enforced_line(&outcome.enforced));
    write!(session.out, "{counts}{reach}{enforced}")?;
    for line in done.outcome.notable.lines() {
        writeln!(session.out, "{}", plain_sentence(&line))?;
    }
    if done.outcome.resumed > 0 {
        writeln!(session.out, "{} of them have results from an earlier run", done.outcome.resumed)?;
    }
    if done.outcome.repeated > 0 {
        let several = if done.outcome.repeated == 1 { "row is" } else { "rows are" };
        writeln!(session.out, "{} {several} the same as another row", done.outcome.repeated)?;
    }
    let notices = notices_text(Notices { all: &done.notices, allows_changes: false });
    for line in notices.lines().take(MOST_NOTICES) {
        writeln!(session.out, "{line}")?;
    }
    match notices.lines().count().saturating_sub(MOST_NOTICES) {
        0 => {}
        more => writeln!(session.out, "and {more} more notices, which --html and --markdown have")?,
    }
    for line in &done.written {
        writeln!(session.out, "{line}")?;
    }
    Ok(())
}

/// The bar of a study.
pub fn progress_bar(wanted: bool) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, draw_target(wanted));
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {msg}") {
        bar.set_style(style);
    }
    bar
}

fn draw_target(wanted: bool) -> ProgressDrawTarget {
    if wanted && std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}
