//! `twincell study`: files, progress and summary around [`crate::study`].

use std::fs::File;
use std::io::{BufWriter, IsTerminal};
use std::path::PathBuf;

use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use twincell_core::compare::{CompareOptions, Continue, Source};
use twincell_core::report::Comparison;
use twincell_widgets::plain_sentence;

use super::{Abort, Session, UNCHANGED, read_options, read_text};
use crate::files::reason;
use crate::options::Job;
use crate::study::page::Kept;
use crate::study::{Input, rows, study};
use crate::warm::Engine;

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let options = read_options(matches, Job::Study)?;
    // clap has seen to it that both are there.
    let path = |name| matches.get_one::<PathBuf>(name).cloned().unwrap_or_default();
    let (input_path, output) = (path("file"), path("out"));
    let lines = read_text(&input_path)?;
    if same_file(&input_path, &output) {
        return Err(Abort::Failed("--out is the input itself: give another file".to_owned()));
    }
    let engine = Engine::warm(&options, &session.environment).map_err(Abort::new)?;
    let unwritable =
        |error: &std::io::Error| Abort::Failed(format!("cannot write {}: {}", output.display(), reason(error)));
    let mut out = BufWriter::new(File::create(&output).map_err(|error| unwritable(&error))?);

    let bar = ProgressBar::with_draw_target(Some(rows(&lines).count() as u64), draw_target(session.progress));
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} changes, {elapsed}, {eta} left") {
        bar.set_style(style);
    }
    let compare = |old: &Source, new: &Source, options: &CompareOptions, watch: &mut dyn FnMut() -> Continue| {
        engine.compare(old, new, options, &mut |_| watch()).map_err(|failure| failure.to_string())
    };
    let folder = matches.get_one::<PathBuf>("reproducers");
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .map_err(|error| Abort::Failed(format!("cannot make {}: {}", folder.display(), reason(&error))))?;
    }
    let input = Input::read(&lines);
    for warning in &input.warnings {
        writeln!(session.err, "twincell: {}", plain_sentence(warning))?;
    }
    let html = matches.get_one::<PathBuf>("html");
    let kept = Kept::default();
    let keep = |line: usize, comparison: &Comparison| {
        if html.is_some() {
            kept.add(line, comparison);
        }
        folder.map_or(Ok(()), |folder| crate::reproducers::write_all(comparison, &input.name(line), folder))
    };
    let jobs = options.worker_count();
    let outcome = study(&lines, &compare, &keep, &options.for_core(), jobs, &mut out, &mut |done| {
        bar.set_position(done as u64);
        if (session.interrupted)() { Continue::Stop } else { Continue::Yes }
    });
    bar.finish_and_clear();
    let outcome = outcome.map_err(|error| unwritable(&error))?;
    write!(session.out, "{}{}", outcome.confusion.text(), outcome.reach.text())?;
    writeln!(session.out, "written to {}", output.display())?;
    if let Some(page) = html {
        drop(out);
        let title = format!("Study of {}", input_path.display());
        let study = kept.study(title.clone(), &lines, &read_text(&output)?);
        crate::files::write_text(page, &twincell_widgets::study_page(&study, &title)).map_err(Abort::Failed)?;
        writeln!(session.out, "page written to {}", page.display())?;
    }
    if outcome.interrupted { Err(Abort::Interrupted) } else { Ok(UNCHANGED) }
}

fn draw_target(wanted: bool) -> ProgressDrawTarget {
    if wanted && std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}

fn same_file(one: &std::path::Path, other: &std::path::Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
