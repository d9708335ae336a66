//! `twincell prefix`: what makes an incomplete file run.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use twincell_driver::files;
use twincell_driver::options::{Job, Options};
use twincell_driver::warm::Engine;
use twincell_prefix::{Continue, Generators, Subject, function_subject};
use twincell_study::pace::Progress;
use twincell_study::prefixes::{self, PrefixStudy};
use twincell_widgets::{
    NO_TEST, no_function, prefix_study_page, prefix_study_text, prefixes_page, prefixes_pytest, prefixes_text,
};

use crate::programs;
use crate::session::{Abort, Session, UNCHANGED};
use crate::study::progress_bar;

/// Some lines do not run.
const INCOMPLETE: i32 = 1;

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let options = session.read_options(matches, Job::Prefix)?;
    let mut paths: Vec<PathBuf> = matches.get_many::<PathBuf>("file").into_iter().flatten().cloned().collect();
    let is_standard_input = |path: &PathBuf| path == Path::new("-");
    if let Some(rows) = matches.get_one::<PathBuf>("study") {
        if paths.iter().any(is_standard_input) {
            return Err(Abort::Failed("a study reads files and folders, and not standard input".to_owned()));
        }
        return study(matches, paths, options, rows, session);
    }
    if paths.len() > 1 {
        return Err(Abort::Failed("give one file, or --study ROWS.jsonl for several".to_owned()));
    }
    // clap has checked that it is given.
    let path = paths.pop().unwrap_or_default();
    let is_file = !is_standard_input(&path);
    let label = if is_file { path.display().to_string() } else { "standard input".to_owned() };
    let text = if is_file { files::read_source(&path) } else { files::read_standard_input() };
    let mut subject = Subject::from(text.map_err(Abort::Failed)?);
    if let Some(function) = matches.get_one::<String>("function") {
        subject = function_subject(&subject.text, function)
            .ok_or_else(|| Abort::Failed(no_function(&label, &subject.text, function)))?;
    }
    subject.folder = path.parent().map(Path::to_owned);
    subject.file = path.file_name().filter(|_| is_file).and_then(|name| name.to_str()).map(str::to_owned);
    let engine = Engine::warm(&options, &session.environment).map_err(Abort::new)?;
    engine.check_workers().map_err(Abort::new)?;
    let interrupted = &mut *session.interrupted;
    let mut is_interrupted = false;
    let bar = progress_bar(session.progress);
    let budget = (options.generators != Generators::Local).then_some(options.token_budget);
    let mut progress = |progress: twincell_prefix::Progress| {
        is_interrupted |= interrupted();
        bar.set_length(100);
        bar.set_position((100.0 * progress.coverage) as u64);
        let tokens = budget.map(|budget| format!(", {} of {budget} tokens", progress.tokens)).unwrap_or_default();
        bar.set_message(format!("{} prefixes{tokens}", progress.prefixes));
        if is_interrupted { Continue::Stop } else { Continue::Yes }
    };
    let named = |error| Abort::Failed(format!("{label}: {error}"));
    let found = engine.prefixes(&subject, &options.for_prefix(), &mut progress);
    bar.finish_and_clear();
    let found = found.map_err(named)?;
    let text = subject.text;
    if matches.get_flag("json") {
        session.write_json(&found)?;
    } else {
        write!(session.out, "{}", prefixes_text(&found))?;
    }
    if let Some(folder) = matches.get_one::<PathBuf>("out") {
        programs::write(folder, &found, &text).map_err(Abort::Failed)?;
    }
    if let Some(file) = matches.get_one::<PathBuf>("pytest") {
        let tests = prefixes_pytest(&text, &found);
        files::write_text(file, &tests.ok_or_else(|| Abort::new(NO_TEST))?, files::TextKind::Python)
            .map_err(Abort::Failed)?;
    }
    if let Some(page) = matches.get_one::<PathBuf>("html") {
        let title = format!("Prefixes for {label}");
        files::write_text(page, &prefixes_page(&text, &found, &title), files::TextKind::Markup)
            .map_err(Abort::Failed)?;
    }
    if is_interrupted {
        return Err(Abort::Interrupted);
    }
    // What was found is printed, and stands in files.
    if let Some(problem) = found.problem {
        return Err(Abort::Failed(problem));
    }
    Ok(if found.covered.len() == found.lines.len() { UNCHANGED } else { INCOMPLETE })
}

/// Many snippets, one row each.
fn study(
    matches: &ArgMatches,
    inputs: Vec<PathBuf>,
    options: Options,
    rows: &Path,
    session: &mut Session<'_>,
) -> Result<i32, Abort> {
    let bar = progress_bar(session.progress);
    let interrupted = &mut *session.interrupted;
    let mut watch = |progress: &Progress| {
        bar.set_length(progress.total.unwrap_or_default().max(progress.done));
        bar.set_position(progress.done);
        bar.set_message(progress.text_of("snippets"));
        if interrupted() { Continue::Stop } else { Continue::Yes }
    };
    let named = inputs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    let snippets = prefixes::read_snippets(&inputs).map_err(Abort::Failed)?;
    let study = PrefixStudy { snippets, options, out: Some(rows.to_owned()), fresh: matches.get_flag("fresh") };
    let done = prefixes::run(study, &session.environment, &mut watch);
    bar.finish_and_clear();
    let outcome = done.map_err(Abort::Failed)?;
    let figures = prefixes::figures(&outcome.rows);
    write!(session.out, "{}", prefix_study_text(&figures))?;
    if outcome.resumed > 0 {
        writeln!(session.out, "\n{} of them have rows from an earlier run", outcome.resumed)?;
    }
    if let Some(page) = matches.get_one::<PathBuf>("html") {
        let page_text = prefix_study_page(&figures, &format!("Prefixes of {named}"));
        files::write_text(page, &page_text, files::TextKind::Markup).map_err(Abort::Failed)?;
    }
    if outcome.interrupted {
        writeln!(session.err, "twincell: run the same command again to resume the study")?;
        return Err(Abort::Interrupted);
    }
    Ok(UNCHANGED)
}
