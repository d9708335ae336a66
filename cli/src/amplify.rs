//! `twincell amplify`: tests that show what a change did.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::ArgMatches;
use twincell_amplify::Progress;
use twincell_compare::verdict::Verdict;
use twincell_driver::amplify::{amplify_options, amplify_repository, revisions};
use twincell_driver::command_line;
use twincell_driver::files;
use twincell_driver::options::Job;
use twincell_syntax::Side;
use twincell_widgets::{
    Notices, amplification_junit, amplification_markdown, amplification_page, amplification_text, notice_rows,
};

use crate::exports;
use crate::session::{Abort, Session};
use crate::study::progress_bar;

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let given = command_line::given(matches, Job::Amplify).map_err(Abort::new)?;
    let range = matches.get_one::<String>("revision").map(String::as_str);
    let versions = revisions(range, matches.get_flag("staged")).map_err(Abort::Failed)?;
    let repository = matches.get_one::<PathBuf>("repository").cloned().unwrap_or_else(|| PathBuf::from("."));
    let (options, notices) = amplify_options(&repository, &versions, &given).map_err(Abort::Failed)?;
    session.warn_of_old_spellings(&options)?;
    let notices = Notices { all: &notices, allows_changes: options.allow_policy_change };
    let bar = progress_bar(session.progress);
    let interrupted = &mut *session.interrupted;
    let mut is_interrupted = false;
    let mut progress = |progress: Progress| {
        match progress {
            Progress::Collecting => bar.set_message("pytest collects the tests"),
            Progress::Selecting { ran, of } => {
                bar.set_length(of as u64);
                bar.set_position(ran as u64);
                bar.set_message("tests that may run the change");
            }
            Progress::Searching { round, variants, found } => {
                bar.set_message(format!("round {round}: {variants} variants, {found} tests"));
            }
            Progress::Comparing { file, of } => {
                bar.set_length(of as u64);
                bar.set_position(file as u64);
                bar.set_message("values for what no test runs");
            }
        }
        is_interrupted |= interrupted();
        if is_interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let found = amplify_repository(&repository, &versions, &options, &session.environment, &mut progress);
    bar.finish_and_clear();
    let found = match found {
        Err(_) if is_interrupted => return Err(Abort::Interrupted),
        other => other.map_err(Abort::new)?.found,
    };
    if matches.get_flag("json") {
        let mut data = serde_json::to_value(&found).map_err(Abort::new)?;
        data["notices"] = serde_json::to_value(notice_rows(notices)).map_err(Abort::new)?;
        session.write_json(&data)?;
    } else {
        write!(session.out, "{}", amplification_text(&found, notices))?;
    }
    for (argument, side) in [("patch", Side::New), ("patch-old", Side::Old)] {
        if let Some(file) = matches.get_one::<PathBuf>(argument) {
            files::write_text(file, &found.patches[side], files::TextKind::Verbatim).map_err(Abort::Failed)?;
        }
    }
    if let Some(file) = matches.get_one::<PathBuf>("markdown") {
        files::write_text(file, &amplification_markdown(&found, notices), files::TextKind::People)
            .map_err(Abort::Failed)?;
    }
    if let Some(file) = matches.get_one::<PathBuf>("html") {
        files::write_text(file, &amplification_page(&found, notices, "Amplified tests"), files::TextKind::Markup)
            .map_err(Abort::Failed)?;
    }
    if let Some(file) = matches.get_one::<PathBuf>("junit") {
        files::write_text(file, &amplification_junit(&found, notices), files::TextKind::Markup)
            .map_err(Abort::Failed)?;
    }
    if is_interrupted {
        return Err(Abort::Interrupted);
    }
    let verdict = match found.is_shown() {
        Some(true) => Verdict::Changing,
        Some(false) => Verdict::LikelyPreserving,
        None => Verdict::Inconclusive,
    };
    Ok(exports::status(verdict, notices, matches))
}
