//! `twincell slice`: the commits of a range that a feature needs.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use clap::ArgMatches;
use twincell_driver::command_line;
use twincell_driver::failure::Failure;
use twincell_driver::files;
use twincell_driver::options::Job;
use twincell_driver::slice::{check_branch, check_patches, slice_options, slice_repository, write_patches};
use twincell_repo::Repo;
use twincell_slice::Applied;
use twincell_widgets::{
    SliceProgress, SliceState, slice_branch_text, slice_explained, slice_explanation, slice_markdown, slice_page,
    slice_text,
};

use crate::arguments::slice_request;
use crate::exports;
use crate::session::{Abort, CHANGED, INCONCLUSIVE, Session, UNCHANGED};
use crate::study::progress_bar;

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let given = command_line::given(matches, Job::Slice).map_err(Abort::new)?;
    let options = slice_options(&given).map_err(Abort::Failed)?;
    let request = slice_request(matches);
    // What cannot be written and what is no commit is said before the search and not after it.
    exports::check_files(matches, &["markdown", "html"], &[])?;
    if let Some(folder) = matches.get_one::<PathBuf>("patches") {
        check_patches(folder).map_err(Abort::Failed)?;
    }
    let explained = match matches.get_one::<String>("explain") {
        Some(revision) => {
            let repo = Repo::around(&request.repository).map_err(Abort::new)?;
            let commit = repo.commit_id(Some(revision)).map_err(Abort::new)?;
            Some((revision, commit.to_string()))
        }
        None => None,
    };
    if let Some(name) = matches.get_one::<String>("branch") {
        check_branch(&request, name).map_err(Abort::Failed)?;
    }
    let bar = progress_bar(session.progress);
    let interrupted = &mut *session.interrupted;
    let mut is_interrupted = false;
    let (began, mut done) = (Instant::now(), SliceProgress::default());
    let mut progress = |now| {
        done.update(now, began.elapsed());
        let line = done.line();
        if let Some(total) = line.total {
            bar.set_length(total);
            bar.set_position(line.done);
        }
        bar.set_message(line.text);
        is_interrupted |= interrupted();
        if is_interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let found = slice_repository(&request, &options, &session.environment, &mut progress);
    bar.finish_and_clear();
    let (slice, timeline) = match found {
        Err(Failure::Stopped) => return Err(Abort::Interrupted),
        other => other.map_err(Abort::new)?,
    };
    match explained {
        Some((revision, commit)) if matches.get_flag("json") => {
            session.write_json(&slice_explained(&slice, &commit, revision).map_err(Abort::Failed)?)?;
        }
        Some((revision, commit)) => {
            write!(session.out, "{}", slice_explanation(&slice, &commit, revision).map_err(Abort::Failed)?)?;
        }
        _ if matches.get_flag("json") => session.write_json(&slice)?,
        _ => write!(session.out, "{}", slice_text(&slice))?,
    }
    if let Some(file) = matches.get_one::<PathBuf>("markdown") {
        files::write_text(file, &slice_markdown(&slice), files::TextKind::People).map_err(Abort::Failed)?;
    }
    if let Some(file) = matches.get_one::<PathBuf>("html") {
        let page = slice_page(&SliceState::new(&slice, &timeline), "Slice of a history");
        files::write_text(file, &page, files::TextKind::Markup).map_err(Abort::Failed)?;
    }
    if let Some(folder) = matches.get_one::<PathBuf>("patches") {
        write_patches(&slice, &timeline, folder).map_err(Abort::Failed)?;
    }
    if let Some(name) = matches.get_one::<String>("branch") {
        let commits = timeline.branch(&slice.selection(), name).map_err(Abort::new)?;
        let commits: Vec<String> = commits.iter().map(ToString::to_string).collect();
        let told = slice_branch_text(&slice, name, &commits);
        // Standard output may be JSON.
        match matches.get_flag("json") {
            true => write!(session.err, "{told}")?,
            false => write!(session.out, "\n{told}")?,
        }
    }
    if is_interrupted {
        return Err(Abort::Interrupted);
    }
    let is_moved = slice.target.as_ref().is_none_or(|target| matches!(target.applied, Applied::Passes));
    Ok(match slice.is_minimal && is_moved {
        false => INCONCLUSIVE,
        true if slice.size() == slice.units.len() => CHANGED,
        true => UNCHANGED,
    })
}
