//! `twincell slice`: the commits of a range that a feature needs.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use clap::ArgMatches;
use twincell_driver::files;
use twincell_driver::options::{Job, command_line};
use twincell_driver::slice::{SliceRequest, slice_options, slice_repository};
use twincell_driver::warm::Failure;
use twincell_slice::Progress;
use twincell_widgets::{slice_explanation, slice_markdown, slice_text};

use crate::session::{Abort, CHANGED, INCONCLUSIVE, Session, UNCHANGED};
use crate::study::progress_bar;

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let given = command_line::given(matches, Job::Slice).map_err(Abort::new)?;
    let options = slice_options(&given).map_err(Abort::Failed)?;
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let request = SliceRequest {
        repository: matches.get_one::<PathBuf>("repository").cloned().unwrap_or_else(|| PathBuf::from(".")),
        // clap has checked that both are given.
        range: text("range").unwrap_or_default(),
        tests: text("tests").unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
    };
    let bar = progress_bar(session.progress);
    let interrupted = &mut *session.interrupted;
    let mut is_interrupted = false;
    let mut refining: Option<(Instant, usize)> = None;
    let mut progress = |now: Progress| {
        match now {
            Progress::Reading => bar.set_message("reading the commits"),
            Progress::Criterion { done, of } => {
                bar.set_length(of as u64);
                bar.set_position(done as u64);
                bar.set_message("tests at the end of the range");
            }
            Progress::Refining { kept, of, runs, left } => {
                bar.set_length((runs + left) as u64);
                bar.set_position(runs as u64);
                let (began, first) = *refining.get_or_insert_with(|| (Instant::now(), runs));
                // Runs whose results were kept take no time, so that the rest may only be slower than the mean.
                let time = runs.checked_sub(first).filter(|done| *done > 0).map(|done| {
                    let seconds = began.elapsed().as_secs_f64() / done as f64 * left as f64;
                    format!(", about {seconds:.0} s")
                });
                let time = time.unwrap_or_default();
                bar.set_message(format!("{kept} of {of} after {runs} runs, about {left} to go{time}"));
            }
        }
        is_interrupted |= interrupted();
        if is_interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let found = slice_repository(&request, &options, &session.environment, &mut progress);
    bar.finish_and_clear();
    let (slice, timeline) = match found {
        Err(Failure::Stopped) => return Err(Abort::Interrupted),
        other => other.map_err(Abort::new)?,
    };
    match matches.get_one::<String>("explain") {
        Some(commit) if !matches.get_flag("json") => {
            let told = slice_explanation(&slice, commit);
            let none = || {
                Abort::Failed(format!(
                    "{commit} is no commit of {}: give its hash or the first part of it",
                    request.range
                ))
            };
            write!(session.out, "{}", told.ok_or_else(none)?)?;
        }
        _ if matches.get_flag("json") => session.write_json(&slice)?,
        _ => write!(session.out, "{}", slice_text(&slice))?,
    }
    if let Some(file) = matches.get_one::<PathBuf>("markdown") {
        files::write_text(file, &slice_markdown(&slice), files::TextKind::People).map_err(Abort::Failed)?;
    }
    if let Some(folder) = matches.get_one::<PathBuf>("patches") {
        files::make_folder(folder).map_err(Abort::Failed)?;
        for patch in timeline.series(&slice.selection()).map_err(Abort::new)? {
            let file = folder.join(&patch.file_name);
            files::write_bytes(&file, &patch.text, files::TextKind::Verbatim).map_err(Abort::Failed)?;
        }
    }
    if let Some(name) = matches.get_one::<String>("branch") {
        timeline.branch(&slice.selection(), name).map_err(Abort::new)?;
    }
    if is_interrupted {
        return Err(Abort::Interrupted);
    }
    Ok(match slice.is_minimal {
        false => INCONCLUSIVE,
        true if slice.size() == slice.units.len() => CHANGED,
        true => UNCHANGED,
    })
}
