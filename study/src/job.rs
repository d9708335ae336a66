//! A study as people order it, from any surface: where changes come from, where results go, and what is written beside
//! them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use twincell_compare::notice::Notice;
use twincell_compare::{CompareError, CompareOptions, Continue, Source};
use twincell_driver::failure::Failure;
use twincell_driver::files::reason;
use twincell_driver::options::Options;
use twincell_driver::reproducers;
use twincell_driver::warm::{Engine, Environment};
use twincell_engine::Stop;

use crate::change::{Change, Changes};
use crate::detail::Details;
use crate::events::Broken;
use crate::farm::Farm;
use crate::find::{ComparedChange, Refused};
use crate::finding::Finding;
use crate::kept::Kept;
use crate::key::Keys;
use crate::outputs::Outputs;
use crate::pace::Progress;
use crate::page::PageComparisons;
use crate::run::{Keep, Study, StudyOutcome, Workers, run};
use crate::store::{self, Memory, Store};
use crate::threads::Ahead;
use crate::transform::Transform;
use crate::{Input, read};

/// An order for a study.
pub struct Order {
    pub changes: Box<dyn Changes>,
    /// The origin of the changes, for people.
    pub name: String,
    /// The file of the changes, to which nothing is written.
    pub source: Option<PathBuf>,
    pub options: Options,
    pub outputs: Outputs,
    /// The processes that compare. Without them this process does.
    pub farm: Option<Box<dyn Farm>>,
}

/// The results of a study.
pub struct Done {
    pub outcome: StudyOutcome,
    /// The results, if they were written to no file.
    pub rows: BTreeMap<usize, Finding>,
    /// What pages show of the comparisons.
    pub comparisons: PageComparisons,
    /// What exports for other programs have besides the rows.
    pub details: Details,
    /// What rules left out or suppressed, for files for other programs.
    pub notices: Vec<Notice>,
    /// Facts about the input, one line each.
    pub notes: Vec<String>,
    /// Warnings for a person, one line each.
    pub warnings: Vec<String>,
    /// What was written where, one line each.
    pub written: Vec<String>,
}

/// Runs a study. `watch` receives the progress and may stop it. An error is one line for people; earlier findings are
/// in the file. Warnings found until then go to `warn`.
pub fn run_study(
    order: Order,
    environment: &Environment,
    warn: &mut dyn FnMut(&str),
    watch: &mut dyn FnMut(&Progress) -> Continue,
) -> Result<Done, String> {
    let Order { mut changes, name, source, options, outputs, mut farm } = order;
    outputs.check(source.as_deref())?;
    let keys = Keys::new(&options, environment)?;
    let stop = Stop::default();
    // A process that only hands out work has no workers of its own, since they could not come along in a fork.
    let engine = match farm {
        Some(_) => None,
        None => Some(Engine::warm(&options, environment).map_err(|error| error.to_string())?.stopped_by(&stop)),
    };
    // Whether code may run here at all. It is checked before anything is discarded; what resumes a study may have nothing
    // left to run, and is checked before its first comparison.
    let ready = || engine.as_ref().map_or(Ok(()), |engine| engine.check_workers().map_err(|error| error.to_string()));
    if !outputs.may_resume() {
        ready()?;
    }
    // This is checked now and not after hours, and before anything is discarded.
    outputs.prepare()?;
    let mut memory = Memory::default();
    let mut file = outputs.out.as_deref().map(|out| store::open(out, outputs.fresh)).transpose()?;

    let (input, mut extras) = (Input::default(), Extras::default());
    let mut kept = Kept::new(&mut *changes, &options.paths);
    let left_out = kept.named();
    let mut watched = input.watch(&mut kept);
    let prepared = Prepared {
        options: &options,
        keys: &keys,
        engine: engine.as_ref(),
        stop: &stop,
        outputs: &outputs,
        ready: &ready,
    };
    let store: &mut dyn Store = match &mut file {
        Some(file) => &mut **file,
        None => &mut memory,
    };
    let mut keep = |change: &Change, found: &mut ComparedChange| {
        extras.take(change.number, found);
        match &outputs.reproducers {
            Some(folder) => reproducers::write_all(&found.reproducers, &input.name(change), folder),
            None => Ok(()),
        }
    };
    let outcome = prepared.compare_all(&mut watched, farm.as_deref_mut(), store, &mut keep, watch);
    drop(file);

    let mut warnings = input.warnings();
    warnings.extend(watched.warnings());
    let outcome = outcome.map_err(|broken| {
        warnings.iter().for_each(|warning| warn(warning));
        explain(broken, source.as_deref(), watched.explains_itself())
    })?;
    warnings.extend(outputs.warnings(&outcome));
    let Extras { comparisons, details } = extras;
    let mut notices = left_out.lock().map(|named| named.clone()).unwrap_or_default();
    notices.extend(details.notices());
    let written = outputs.write_page(&name, &outcome, &memory.rows, &comparisons, &notices)?;
    Ok(Done { outcome, rows: memory.rows, comparisons, details, notices, notes: watched.notes(), warnings, written })
}

/// What is kept of comparisons besides their rows.
#[derive(Default)]
struct Extras {
    comparisons: PageComparisons,
    details: Details,
}

impl Extras {
    fn take(&mut self, number: usize, found: &mut ComparedChange) {
        self.comparisons.add(number, &found.finding, found.state.take());
        self.details.add(number, found.finding.key.as_deref(), found.detail.take());
    }
}

/// Everything that was checked before the first change is read.
struct Prepared<'a> {
    options: &'a Options,
    keys: &'a Keys,
    /// None if a farm compares.
    engine: Option<&'a Engine>,
    stop: &'a Stop,
    outputs: &'a Outputs,
    ready: &'a (dyn Fn() -> Result<(), String> + Sync),
}

impl Prepared<'_> {
    fn compare_all(
        &self,
        changes: &mut dyn Changes,
        farm: Option<&mut (dyn Farm + 'static)>,
        store: &mut dyn Store,
        keep: &mut Keep<'_>,
        watch: &mut dyn FnMut(&Progress) -> Continue,
    ) -> Result<StudyOutcome, Broken> {
        let core = self.options.for_core();
        let compare =
            |old: &Source, new: &Source, options: &CompareOptions, go_on: &mut dyn FnMut() -> Continue| match self
                .engine
            {
                Some(engine) => engine.compare(old, new, options, &mut |_| go_on()).map_err(refused),
                None => Err(Refused { reason: "there is no engine".to_owned(), for_good: false }),
            };
        let predict = |changes: &[Change]| {
            if let Some(engine) = self.engine {
                let sources: Vec<_> = changes.iter().map(|change| change.sources(&core)).collect();
                engine.predict_ahead(&sources);
            }
        };
        let size = self.engine.map_or(0, Engine::ahead);
        let ahead = Ahead { size, predict: &predict };
        let ahead = (size > 0).then_some(&ahead);
        let aside = self.outputs.aside();
        let study = Study {
            changes,
            options: core.clone(),
            keys: self.keys,
            workers: match farm {
                Some(farm) => Workers::Farm(farm),
                None => Workers::Threads { compare: &compare, jobs: self.options.worker_count(), ahead },
            },
            store,
            wanted: self.outputs.wanted(),
            keep,
            aside: aside.as_deref(),
            ready: self.ready,
        };
        run(study, &mut |progress| {
            let answer = watch(progress);
            if answer == Continue::Stop {
                self.stop.ask();
            }
            answer
        })
    }
}

/// Why a study ended early: a line that names the input, unless the error itself does.
fn explain(broken: Broken, source: Option<&Path>, explains_itself: bool) -> String {
    match (source, broken) {
        (_, Broken::Input(error)) if explains_itself => reason(&error),
        (Some(source), Broken::Input(error)) => {
            format!("cannot read {} to its end: {}", source.display(), reason(&error))
        }
        (_, broken) => broken.to_string(),
    }
}

/// The changes of a file, with its name.
pub fn from_file(path: &Path) -> Result<(Box<dyn Changes>, String), String> {
    Ok((read::open(path)?, path.display().to_string()))
}

/// The changes that a command makes to the functions of a folder, with the names of both.
pub fn transformed(folder: &Path, command: &str) -> Result<(Box<dyn Changes>, String), String> {
    let changes = Transform::start(folder, command)?;
    Ok((Box::new(changes), format!("{} by {command}", folder.display())))
}

/// Why a change was not compared, and whether the change is to blame.
pub fn refused(failure: Failure) -> Refused {
    let for_good = match &failure {
        Failure::Compare(error) => {
            !matches!(error, CompareError::Predictor(_) | CompareError::Worker(_) | CompareError::Replay(_))
        }
        _ => false,
    };
    Refused { reason: failure.to_string(), for_good }
}
