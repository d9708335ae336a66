//! A study as people order it, whoever asks: where changes come from, where results go, what is written beside them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use twincell_compare::{CompareError, CompareOptions, Continue, Source};
use twincell_driver::files::{reason, write_text};
use twincell_driver::options::Options;
use twincell_driver::reproducers;
use twincell_driver::warm::{Engine, Environment, Failure};
use twincell_engine::Stop;

use crate::change::{Change, Changes};
use crate::detail::Details;
use crate::events::Broken;
use crate::farm::Farm;
use crate::find::{Found, Refused, Wanted};
use crate::finding::Finding;
use crate::key::Keys;
use crate::pace::Progress;
use crate::page::{Kept, study_state};
use crate::run::{Outcome, Study, Workers, run};
use crate::store::{self, Memory};
use crate::threads::Ahead;
use crate::transform::Transform;
use crate::{Input, read};

/// What is asked for.
pub struct Order {
    pub changes: Box<dyn Changes>,
    /// Where they come from, for people.
    pub name: String,
    /// The file that they come from, which nothing is written to.
    pub source: Option<PathBuf>,
    pub options: Options,
    /// Where results go; without it they are kept in memory.
    pub out: Option<PathBuf>,
    /// Results that are there are thrown away.
    pub fresh: bool,
    pub html: Option<PathBuf>,
    pub reproducers: Option<PathBuf>,
    /// Whether other programs are told of the changes.
    pub details: bool,
    /// Processes that compare; without it this process does.
    pub farm: Option<Box<dyn Farm>>,
}

/// What came of it.
pub struct Done {
    pub outcome: Outcome,
    /// The results, where they went to no file.
    pub rows: BTreeMap<usize, Finding>,
    /// What pages show of the comparisons.
    pub kept: Kept,
    /// What other programs are told of the changes beside their rows.
    pub details: Details,
    /// What is to be known of the input: one line each.
    pub notes: Vec<String>,
    /// What a person should know: one line each.
    pub warnings: Vec<String>,
    /// What was written where: one line each.
    pub written: Vec<String>,
}

/// Runs a study. `watch` is told where it stands, and may stop it. An error is one line for people; what was found before
/// is in the file. Warnings that were found out by then go to `warn`.
pub fn carry_out(
    order: Order,
    environment: &Environment,
    warn: &mut dyn FnMut(&str),
    watch: &mut dyn FnMut(&Progress) -> Continue,
) -> Result<Done, String> {
    let Order { mut changes, name, source, options, out, fresh, html, reproducers, details: wants_details, mut farm } =
        order;
    check(source.as_deref(), out.as_deref(), html.as_deref())?;
    let keys = Keys::new(&options, environment)?;
    let stop = Stop::default();
    // A process that only hands out work has no workers of its own: they could not come along when it is forked.
    let engine = match farm {
        Some(_) => None,
        None => Some(Engine::warm(&options, environment).map_err(|error| error.to_string())?.stopped_by(&stop)),
    };
    if let (Some(engine), Some(_)) = (&engine, &options.python) {
        engine.check_workers().map_err(|error| error.to_string())?;
    }
    // Found out now, and not after hours; and before anything is thrown away.
    if let Some(page) = &html {
        let opened = std::fs::OpenOptions::new().append(true).create(true).open(page);
        opened.map_err(|error| format!("cannot write {}: {}", page.display(), reason(&error)))?;
    }
    if let Some(folder) = &reproducers {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make {}: {}", folder.display(), reason(&error)))?;
    }
    let aside = out.as_deref().filter(|_| !fresh).map(store::aside);
    let mut memory = Memory::default();
    let mut file = out.as_deref().map(|out| store::open(out, fresh)).transpose()?;

    let (input, mut kept, mut details) = (Input::default(), Kept::default(), Details::default());
    let mut keep = |change: &Change, found: &mut Found| {
        kept.add(change.number, found.finding.key.as_deref(), found.state.take());
        details.add(change.number, found.finding.key.as_deref(), found.detail.take());
        match &reproducers {
            Some(folder) => reproducers::write_all(&found.reproducers, &input.name(change), folder),
            None => Ok(()),
        }
    };
    let compare =
        |old: &Source, new: &Source, options: &CompareOptions, go_on: &mut dyn FnMut() -> Continue| match &engine {
            Some(engine) => engine.compare(old, new, options, &mut |_| go_on()).map_err(refused),
            None => Err(Refused { reason: "there is no engine".to_owned(), for_good: false }),
        };
    let core = options.for_core();
    let predict = |changes: &[Change]| {
        if let Some(engine) = &engine {
            let sources: Vec<_> = changes.iter().map(|change| change.sources(&core)).collect();
            engine.predict_ahead(&sources);
        }
    };
    let size = engine.as_ref().map_or(0, Engine::ahead);
    let ahead = Ahead { size, predict: &predict };
    let workers = match &mut farm {
        Some(farm) => Workers::Farm(&mut **farm),
        None => {
            Workers::Threads { compare: &compare, jobs: options.worker_count(), ahead: (size > 0).then_some(&ahead) }
        }
    };
    let mut watched = input.watch(&mut *changes);
    let study = Study {
        changes: &mut watched,
        options: core.clone(),
        keys: &keys,
        workers,
        store: match &mut file {
            Some(file) => &mut **file,
            None => &mut memory,
        },
        wanted: Wanted {
            state: html.is_some() || out.is_none(),
            reproducers: reproducers.is_some(),
            detail: wants_details,
        },
        keep: &mut keep,
        aside: aside.as_deref(),
    };
    let outcome = run(study, &mut |progress| {
        let answer = watch(progress);
        if answer == Continue::Stop {
            stop.ask();
        }
        answer
    });
    drop(file);
    let mut warnings = input.warnings();
    warnings.extend(watched.warnings());
    let notes = watched.notes();
    let explains_itself = watched.explains_itself();
    let outcome = outcome.map_err(|broken| {
        warnings.iter().for_each(|warning| warn(warning));
        match (&source, broken) {
            (_, Broken::Input(error)) if explains_itself => reason(&error),
            (Some(source), Broken::Input(error)) => {
                format!("cannot read {} to its end: {}", source.display(), reason(&error))
            }
            (_, broken) => broken.to_string(),
        }
    })?;
    if !outcome.interrupted {
        warnings.extend(outcome.notable.nothing(outcome.confusion.total().into()));
    }
    if outcome.taken_up > 0 && (html.is_some() || reproducers.is_some() || wants_details) {
        warnings.push(format!(
            "{} results are from an earlier run: pages and files for other programs have their rows but not their details, and \
             their reproducers are not written again; --fresh compares everything",
            outcome.taken_up
        ));
    }
    if let (Some(aside), 1..) = (&aside, outcome.dropped) {
        warnings.push(format!(
            "{} earlier rows belong to other changes or other options: the earlier results are in {}",
            outcome.dropped,
            aside.display()
        ));
    }
    let mut written = Vec::new();
    if let Some(out) = &out {
        written.push(format!("written to {}", out.display()));
    }
    if let Some(page) = &html {
        let title = format!("Study of {name}");
        let results = match &out {
            Some(out) => read_all(out)?,
            None => memory.rows.values().cloned().collect(),
        };
        let state = study_state(title.clone(), results, &kept);
        write_text(page, &twincell_widgets::study_page(&state, &title))?;
        written.push(format!("page written to {}", page.display()));
    }
    Ok(Done { outcome, rows: memory.rows, kept, details, notes, warnings, written })
}

/// All results of a file.
pub fn read_all(path: &Path) -> Result<Vec<Finding>, String> {
    let mut results = Vec::new();
    store::read(path, &mut |finding| {
        results.push(finding);
        Ok(())
    })?;
    Ok(results)
}

/// The changes of a file, with its name.
pub fn from_file(path: &Path) -> Result<(Box<dyn Changes>, String), String> {
    Ok((read::open(path)?, path.display().to_string()))
}

/// What a command makes of the functions of a folder, with the name of both.
pub fn transformed(folder: &Path, command: &str) -> Result<(Box<dyn Changes>, String), String> {
    let changes = Transform::start(folder, command)?;
    Ok((Box::new(changes), format!("{} by {command}", folder.display())))
}

/// Why a change was not compared, and whether that is its own fault.
pub fn refused(failure: Failure) -> Refused {
    let for_good = match &failure {
        Failure::Compare(error) => {
            !matches!(error, CompareError::Predictor(_) | CompareError::Worker(_) | CompareError::Replay(_))
        }
        _ => false,
    };
    Refused { reason: failure.to_string(), for_good }
}

fn check(source: Option<&Path>, out: Option<&Path>, html: Option<&Path>) -> Result<(), String> {
    if let (Some(source), Some(out)) = (source, out)
        && same_file(source, out)
    {
        return Err("--out is the input itself: give another file".to_owned());
    }
    if let Some(page) = html
        && (out == Some(page) || source.is_some_and(|source| same_file(source, page)))
    {
        return Err("--html is the input or --out: give another file".to_owned());
    }
    Ok(())
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
