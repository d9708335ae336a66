//! `twincell prefix`: what makes an incomplete file run.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use twincell_driver::files;
use twincell_driver::options::Job;
use twincell_driver::warm::Engine;
use twincell_prefix::{Continue, Prefixes, Subject, function_subject};
use twincell_widgets::{prefixes_page, prefixes_text};

use crate::session::{Abort, Session, UNCHANGED, read_options};

/// Some lines do not run.
const INCOMPLETE: i32 = 1;

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let options = read_options(matches, Job::Prefix)?;
    // clap has checked that it is given.
    let path = matches.get_one::<PathBuf>("file").cloned().unwrap_or_default();
    let mut subject = Subject::from(files::read_source(&path).map_err(Abort::Failed)?);
    if let Some(function) = matches.get_one::<String>("function") {
        subject = function_subject(&subject.text, function)
            .ok_or_else(|| Abort::Failed(format!("{} has no function {function}", path.display())))?;
    }
    let engine = Engine::warm(&options, &session.environment).map_err(Abort::new)?;
    engine.check_workers().map_err(Abort::new)?;
    let interrupted = &mut *session.interrupted;
    let mut is_interrupted = false;
    let mut progress = |_| {
        is_interrupted |= interrupted();
        if is_interrupted { Continue::Stop } else { Continue::Yes }
    };
    let named = |error| Abort::Failed(format!("{}: {error}", path.display()));
    let prefixes = engine.prefixes(&subject, &options.for_prefix(), &mut progress).map_err(named)?;
    let text = subject.text;
    if matches.get_flag("json") {
        writeln!(session.out, "{}", serde_json::to_string_pretty(&prefixes).map_err(Abort::new)?)?;
    } else {
        write!(session.out, "{}", prefixes_text(&prefixes))?;
    }
    if let Some(folder) = matches.get_one::<PathBuf>("out") {
        write_programs(&prefixes, &text, folder)?;
    }
    if let Some(page) = matches.get_one::<PathBuf>("html") {
        let title = format!("Prefixes for {}", path.display());
        files::write_text(page, &prefixes_page(&text, &prefixes, &title)).map_err(Abort::Failed)?;
    }
    if is_interrupted {
        return Err(Abort::Interrupted);
    }
    Ok(if prefixes.covered.len() == prefixes.lines.len() { UNCHANGED } else { INCOMPLETE })
}

/// Each chosen prefix with the text behind it as a file that runs, the best one first.
fn write_programs(prefixes: &Prefixes, text: &str, folder: &Path) -> Result<(), Abort> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Abort::Failed(format!("cannot make the folder {}: {error}", folder.display())))?;
    for (position, number) in prefixes.kept().into_iter().enumerate() {
        let name = if position == 0 { "best.py".to_owned() } else { format!("prefix_{}.py", position + 1) };
        files::write_text(&folder.join(name), &prefixes.program(number, text)).map_err(Abort::Failed)?;
    }
    Ok(())
}
