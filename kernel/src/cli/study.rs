//! `twincell study`: files, progress and summary around [`crate::study`].

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use twincell_core::compare::{CompareOptions, Continue, Source};
use twincell_core::report::Comparison;
use twincell_widgets::plain_sentence;

use super::{Abort, Session, UNCHANGED, read_options};
use crate::files::reason;
use crate::options::Job;
use crate::study::change::Change;
use crate::study::page::{Kept, study_state};
use crate::study::{Broken, Input, read, study};
use crate::warm::Engine;

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let options = read_options(matches, Job::Study)?;
    // clap has seen to it that both are there.
    let path = |name| matches.get_one::<PathBuf>(name).cloned().unwrap_or_default();
    let (input_path, output) = (path("file"), path("out"));
    let mut changes = read::open(&input_path).map_err(Abort::Failed)?;
    if same_file(&input_path, &output) {
        return Err(Abort::Failed("--out is the input itself: give another file".to_owned()));
    }
    let engine = Engine::warm(&options, &session.environment).map_err(Abort::new)?;
    let unwritable =
        |error: &std::io::Error| Abort::Failed(format!("cannot write {}: {}", output.display(), reason(error)));
    let html = matches.get_one::<PathBuf>("html");
    if let Some(page) = html {
        if same_file(&input_path, page) || *page == output {
            return Err(Abort::Failed("--html is the input or --out: give another file".to_owned()));
        }
        // Found out now, and not after hours.
        crate::files::write_text(page, "").map_err(Abort::Failed)?;
    }
    let file = BufWriter::new(File::create(&output).map_err(|error| unwritable(&error))?);
    let mut out = Written { file, copy: html.map(|_| Vec::new()) };

    let bar = ProgressBar::with_draw_target(changes.total(), draw_target(session.progress));
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
    let (input, kept) = (Input::default(), Kept::default());
    let keep = |change: &Change, comparison: &Comparison| {
        if html.is_some() {
            kept.add(change, comparison);
        }
        folder.map_or(Ok(()), |folder| crate::reproducers::write_all(comparison, &input.name(change), folder))
    };
    let jobs = options.worker_count();
    let mut watched = input.watch(&mut *changes);
    let outcome = study(&mut watched, &compare, &keep, &options.for_core(), jobs, &mut out, &mut |done| {
        bar.set_position(done as u64);
        if (session.interrupted)() { Continue::Stop } else { Continue::Yes }
    });
    bar.finish_and_clear();
    for warning in input.warnings() {
        writeln!(session.err, "twincell: {}", plain_sentence(&warning))?;
    }
    let outcome = outcome.map_err(|error| match error {
        Broken::Input(error) => {
            Abort::Failed(format!("cannot read {} to its end: {}", input_path.display(), reason(&error)))
        }
        Broken::Output(error) => unwritable(&error),
    })?;
    write!(session.out, "{}{}", outcome.confusion.text(), outcome.reach.text())?;
    writeln!(session.out, "written to {}", output.display())?;
    if let Some(page) = html {
        let title = format!("Study of {}", input_path.display());
        let results = String::from_utf8_lossy(out.copy.as_deref().unwrap_or_default()).into_owned();
        let mut changes = read::open(&input_path).map_err(Abort::Failed)?;
        let study = study_state(title.clone(), Some(&mut *changes), &results, kept).map_err(Abort::Failed)?;
        crate::files::write_text(page, &twincell_widgets::study_page(&study, &title)).map_err(Abort::Failed)?;
        writeln!(session.out, "page written to {}", page.display())?;
    }
    if outcome.interrupted { Err(Abort::Interrupted) } else { Ok(UNCHANGED) }
}

/// The results on their way into the file, and a copy of them where a page is made as well.
struct Written {
    file: BufWriter<File>,
    copy: Option<Vec<u8>>,
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        if let Some(copy) = &mut self.copy {
            copy.extend_from_slice(&bytes[..written]);
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
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
