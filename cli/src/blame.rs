//! `twincell blame`: since which commit a call gives its value.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::ArgMatches;
use twincell_blame::{Answer, Progress};
use twincell_driver::blame::blame_repository;
use twincell_driver::files;
use twincell_driver::options::Job;
use twincell_widgets::{blame_markdown, blame_page, blame_progress, blame_text};

use crate::arguments::blame_request;
use crate::exports;
use crate::session::{Abort, INCONCLUSIVE, Session, UNCHANGED};
use crate::study::progress_bar;

/// No commit changed the value.
const SAME: i32 = 1;

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let options = session.read_options(matches, Job::Blame)?;
    let request = blame_request(matches).map_err(Abort::Failed)?;
    exports::check_files(matches, &["markdown", "html"], &[])?;
    let bar = progress_bar(session.progress);
    let interrupted = &mut *session.interrupted;
    let mut is_interrupted = false;
    let mut progress = |progress: Progress| {
        bar.set_message(blame_progress(progress).text);
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
    if let Some(file) = matches.get_one::<PathBuf>("html") {
        files::write_text(file, &blame_page(&found, "Since when"), files::TextKind::Markup).map_err(Abort::Failed)?;
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
