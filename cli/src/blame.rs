//! `twincell blame`: since which commit a call gives its value.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::ArgMatches;
use twincell_blame::{Answer, Progress};
use twincell_driver::blame::{BlameRequest, blame_repository, file_and_function};
use twincell_driver::files;
use twincell_driver::options::Job;
use twincell_widgets::{blame_markdown, blame_text};

use crate::session::{Abort, INCONCLUSIVE, Session, UNCHANGED};
use crate::study::progress_bar;

/// No commit changed the value.
const SAME: i32 = 1;

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let options = session.read_options(matches, Job::Blame)?;
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let (file, function) = file_and_function(&text("function").unwrap_or_default()).map_err(Abort::Failed)?;
    let request = BlameRequest {
        folder: matches.get_one::<PathBuf>("repository").cloned().unwrap_or_else(|| PathBuf::from(".")),
        file,
        function,
        call: text("returns").unwrap_or_default(),
        range: text("range"),
    };
    let bar = progress_bar(session.progress);
    let interrupted = &mut *session.interrupted;
    let mut is_interrupted = false;
    let mut progress = |progress: Progress| {
        bar.set_message(format!("ran at {} commits", progress.runs));
        is_interrupted |= interrupted();
        if is_interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let found = blame_repository(&request, &options, &session.environment, &mut progress);
    bar.finish_and_clear();
    let found = match found {
        Err(_) if is_interrupted => return Err(Abort::Interrupted),
        other => other.map_err(Abort::new)?,
    };
    if matches.get_flag("json") {
        session.write_json(&found)?;
    } else {
        write!(session.out, "{}", blame_text(&found))?;
    }
    if let Some(file) = matches.get_one::<PathBuf>("markdown") {
        files::write_text(file, &blame_markdown(&found), files::TextKind::People).map_err(Abort::Failed)?;
    }
    if is_interrupted {
        return Err(Abort::Interrupted);
    }
    Ok(match found.answer {
        Answer::Since(_) if found.cut.is_none() => UNCHANGED,
        Answer::Same { .. } if found.cut.is_none() => SAME,
        Answer::Since(_) | Answer::Among { .. } | Answer::Same { .. } => INCONCLUSIVE,
    })
}
