//! `twincell study`: arguments, progress and summary around [`twincell_study`].

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use twincell_compare::Continue;
use twincell_compare::verdict::Verdict;
use twincell_driver::options::{Job, command_line};
use twincell_study::job::{Order, carry_out, from_file, read_all, transformed};
use twincell_study::pace::Progress;
use twincell_widgets::plain_sentence;

use crate::exports;
use crate::session::{Abort, FAILED, Session, read_options};

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let options = read_options(matches, Job::Study)?;
    let path = |name| matches.get_one::<PathBuf>(name).cloned();
    // clap has seen to it that it is there.
    let source = path("file").unwrap_or_default();
    exports::check(matches, &[Some(source.clone()), path("out"), path("html")])?;
    let (changes, name) = match matches.get_one::<String>("transform") {
        Some(command) => transformed(&source, command),
        None => from_file(&source),
    }
    .map_err(Abort::Failed)?;
    let farm = match matches.get_one::<String>("on") {
        Some(address) => {
            let given = command_line::given(matches, Job::Study);
            if session.progress {
                writeln!(session.err, "twincell: waiting for the workers of {}", plain_sentence(address))?;
            }
            Some((session.farms)(address, &given).map_err(|error| error.map_or(Abort::Interrupted, Abort::Failed))?)
        }
        None => None,
    };
    let order = Order {
        changes,
        name,
        source: Some(source),
        options,
        out: path("out"),
        fresh: matches.get_flag("fresh"),
        html: path("html"),
        reproducers: path("reproducers"),
        details: exports::are_wanted(matches),
        farm,
    };
    let bar = ProgressBar::with_draw_target(None, draw_target(session.progress));
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {msg}") {
        bar.set_style(style);
    }
    let interrupted = &mut *session.interrupted;
    let mut watch = |progress: &Progress| {
        bar.set_length(progress.total.unwrap_or_default().max(progress.done));
        bar.set_position(progress.done);
        bar.set_message(progress.text());
        if interrupted() { Continue::Stop } else { Continue::Yes }
    };
    let mut warnings = Vec::new();
    let done = carry_out(order, &session.environment, &mut |warning| warnings.push(warning.to_owned()), &mut watch);
    bar.finish_and_clear();
    if let Ok(done) = &done {
        warnings.extend_from_slice(&done.warnings);
    }
    for warning in warnings {
        writeln!(session.err, "twincell: {}", plain_sentence(&warning))?;
    }
    let done = done.map_err(Abort::Failed)?;
    for note in &done.notes {
        writeln!(session.out, "{}", plain_sentence(note))?;
    }
    write!(session.out, "{}{}", done.outcome.confusion.text(), done.outcome.reach.text())?;
    for line in done.outcome.notable.lines() {
        writeln!(session.out, "{}", plain_sentence(&line))?;
    }
    if done.outcome.taken_up > 0 {
        writeln!(session.out, "{} of them have results from an earlier run", done.outcome.taken_up)?;
    }
    if done.outcome.repeated > 0 {
        let several = if done.outcome.repeated == 1 { "row is" } else { "rows are" };
        writeln!(session.out, "{} {several} the same as another row", done.outcome.repeated)?;
    }
    for line in &done.written {
        writeln!(session.out, "{line}")?;
    }
    if done.outcome.interrupted {
        writeln!(session.err, "twincell: run the same command again to resume the study")?;
        return Err(Abort::Interrupted);
    }
    if let (true, Some(out)) = (exports::are_wanted(matches), path("out")) {
        exports::write(&done.details.told(read_all(&out).map_err(Abort::Failed)?), matches)?;
    }
    let rows = done.outcome.confusion.total();
    // A command may find nothing to do.
    if done.outcome.notable.is_nothing(rows.into()) && (rows > 0 || !matches.contains_id("transform")) {
        return Ok(FAILED);
    }
    let all = [Verdict::Changing, Verdict::Inconclusive, Verdict::LikelyPreserving, Verdict::Identical];
    let found = all.into_iter().filter(|verdict| done.outcome.confusion.of(*verdict) > 0);
    Ok(exports::status(Verdict::worst(found), matches))
}

fn draw_target(wanted: bool) -> ProgressDrawTarget {
    if wanted && std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}
