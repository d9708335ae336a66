//! Since when does a function do on the witness of a comparison what one of the versions did? Each commit's version runs on the
//! witness's values beside the newer end's, as a comparison runs two versions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use twincell_behavior::{Channel, bounded, display_outcome};
use twincell_blame::{
    Asked, At, Blame, BlameError, Continue, Probe, Progress, Skip, State, Value, ValueKind, Whole, WitnessValue, blame,
};
use twincell_compare::note::Note;
use twincell_compare::report::{Evidence, PairReport, Witness};
use twincell_compare::{Again, CompareError, CompareOptions, Replayed, Source, Then};
use twincell_engine::observed::{Behavior, Outcome};
use twincell_engine::protocol::Injection;
use twincell_engine::{EngineError, Stop};
use twincell_repo::{CommitId, Repo, bound_memory};
use twincell_syntax::python::is_identifier;
use twincell_syntax::{CodeKind, Side};
use twincell_values::path::{AccessPath, Segment};

use super::{BlameRequest, request};
use crate::failure::Failure;
use crate::given::GivenValues;
use crate::options::Options;
use crate::versions::Versions;
use crate::waiting::watched;
use crate::warm::{Engine, Environment};

/// How many values of the witness are named.
const NAMED: usize = 6;

/// The pair of a comparison whose witness is asked about.
#[derive(Clone, Copy)]
pub struct WitnessOf<'a> {
    pub pair: &'a PairReport,
    pub side: Side,
    /// The options of the comparison, and the values that it was given.
    pub options: &'a Options,
    pub given: &'a GivenValues,
}

/// Why nothing can be asked about a witness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoWitness {
    #[error("no execution of it shows a difference")]
    NoDifference,
    #[error("it is of statements outside of functions, which have no name to follow")]
    Statements,
    #[error("parameters or attributes have other names in the old version, and the witness has its values under those")]
    Renamed,
}

/// The witness of a pair, if one of its versions can run on it alone.
pub(super) fn can_run(pair: &PairReport, side: Side) -> Result<&Witness, NoWitness> {
    let witness = pair.witness.as_ref().ok_or(NoWitness::NoDifference)?;
    let renames = pair.notes.iter().filter_map(|note| match note {
        Note::Renamed(renames) => Some(renames),
        _ => None,
    });
    let old_names: BTreeSet<&str> = renames.flatten().map(|(_, old)| old.as_str()).collect();
    let has_old = |path: &str| {
        let named =
            |segment| matches!(segment, Segment::Name(name) | Segment::Attribute(name) if old_names.contains(name));
        AccessPath::new(path).segments().any(named)
    };
    match () {
        () if pair.facts.kind == CodeKind::Snippet => Err(NoWitness::Statements),
        () if side == Side::New && witness.injections.iter().any(|one| has_old(one.path.as_str())) => {
            Err(NoWitness::Renamed)
        }
        () if !pair.evidence.iter().any(|one| one.execution == witness.execution) => Err(NoWitness::NoDifference),
        () => Ok(witness),
    }
}

/// Since which commit the function does on the witness what it does at the newer end. `asked` says where it is. `progress` is told
/// how far the search is, and may end it.
///
/// # Errors
///
/// Where the witness cannot run at the newer end, and where git cannot read the history.
pub fn blame_witness(
    asked: &BlameRequest,
    of: WitnessOf<'_>,
    options: &Options,
    environment: &Environment,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Blame, Failure> {
    Engine::check_process()?;
    bound_memory();
    let witness = can_run(of.pair, of.side).map_err(|reason| BlameError::NoWitness(reason.to_string()))?;
    // The Python of a comparison has no say where one is named here.
    let python = options.python.clone().or_else(|| of.options.python.clone());
    let own = Options { python, function: None, ..of.options.clone() };
    let engine = Engine::warm(&own, environment)?;
    watched(
        Progress { runs: 0 },
        |stop, tell| {
            let folder = asked.start();
            let repo = Repo::with_files_around(folder).map_err(BlameError::from)?;
            let request = request(&repo, folder, asked)?;
            let engine = engine.stopped_by(stop);
            engine.check_workers()?;
            let mut compare = own.for_core();
            let _files = of.given.hand_over(&engine, &mut compare)?;
            let versions = Versions::new(folder, engine.projects()?).map_err(BlameError::from)?;
            let kinds = of.pair.evidence.iter().filter(|one| one.execution == witness.execution).map(Kind::of);
            let mut probe = WitnessProbe {
                engine: &engine,
                versions,
                options: compare,
                of,
                witness,
                kinds: kinds.collect(),
                newest: None,
                stop,
            };
            let mut go_on = |now| if tell(now).is_break() { Continue::Stop } else { Continue::Yes };
            Ok(blame(&request, &mut probe, &options.for_blame(), &mut go_on)?)
        },
        progress,
    )
}

/// What a difference is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// How the function ends.
    Outcome,
    Other(Channel),
}

impl Kind {
    fn of(evidence: &Evidence) -> Self {
        match evidence.channel {
            Channel::Return | Channel::Exception => Self::Outcome,
            channel => Self::Other(channel),
        }
    }
}

struct WitnessProbe<'a> {
    engine: &'a Engine,
    versions: Versions,
    options: CompareOptions,
    of: WitnessOf<'a>,
    witness: &'a Witness,
    /// What the differences of the witness are about. Others do not count.
    kinds: Vec<Kind>,
    newest: Option<Newest>,
    stop: &'a Stop,
}

/// The newer end.
struct Newest {
    commit: CommitId,
    file: String,
    text: String,
    function: String,
    value: Value,
}

impl WitnessProbe<'_> {
    /// Runs two versions on the witness's values.
    fn run(&self, old: (&Source, &str), new: (&Source, &str)) -> Result<Replayed, Failure> {
        let mut pair = self.of.pair.clone();
        (pair.old.qualname, pair.new.qualname) = (old.1.to_owned(), new.1.to_owned());
        let listed = pair.executions.iter().find(|one| one.number == self.witness.execution);
        let again = Again {
            number: self.witness.execution,
            seed: listed.map_or(0, |one| one.seed),
            choices: &self.witness.choices,
            changes: &BTreeMap::new(),
            chosen: &[],
            then: Then::Judge,
            pair: &pair,
        };
        let mut go_on = || if self.stop.is_asked() { Continue::Stop } else { Continue::Yes };
        self.engine.replay(old.0, new.0, &self.options, &again, &mut go_on)
    }

    /// The names of what stands in for parts of a module that are missing at a commit, and not in the comparison.
    fn stand_ins(&self, found: &Witness) -> Option<Vec<String>> {
        let root = |one: &Injection| AccessPath::new(one.path.as_str()).split_root().0.to_owned();
        let known: BTreeSet<String> = self.witness.injections.iter().map(root).collect();
        // A parameter has no site.
        let missing = found.injections.iter().filter(|one| one.kind.is_some()).map(root);
        let parameters: BTreeSet<String> = found.injections.iter().filter(|one| one.kind.is_none()).map(root).collect();
        let missing: BTreeSet<String> =
            missing.filter(|name| !known.contains(name) && !parameters.contains(name)).collect();
        (!missing.is_empty()).then(|| missing.iter().take(NAMED).map(|name| bounded(name)).collect())
    }

    /// What a version did, and whether that is what the newer end does.
    fn value(&self, behavior: &Behavior, difference: Option<&Evidence>) -> Value {
        let whole = Whole::AsNewest(difference.is_none());
        match difference.map_or(self.kinds.first().copied(), |one| Some(Kind::of(one))) {
            Some(Kind::Other(_)) => {
                let own = self.of.pair.evidence.iter().find(|one| one.execution == self.witness.execution);
                let shown = match (difference, own, self.of.side) {
                    (Some(found), ..) => format!("{}: {}", found.place, found.new),
                    (None, Some(own), Side::Old) => format!("{}: {}", own.place, own.old),
                    (None, Some(own), Side::New) => format!("{}: {}", own.place, own.new),
                    (None, None, _) => String::new(),
                };
                Value { kind: ValueKind::Did, shown, whole }
            }
            Some(Kind::Outcome) | None => {
                let is_raised = matches!(behavior.outcome, Outcome::Raised { .. });
                let kind = if is_raised { ValueKind::Raised } else { ValueKind::Returned };
                Value { kind, shown: display_outcome(&behavior.outcome), whole }
            }
        }
    }
}

impl Probe for WitnessProbe<'_> {
    fn asked(&self) -> Asked {
        let call = self.of.pair.headline.as_ref().map(|headline| headline.call.clone()).unwrap_or_default();
        let decisive = &self.witness.decisive;
        // The call says what its arguments are.
        let is_said = |path: &str| !call.is_empty() && is_identifier(path);
        let is_decisive = |path: &str| decisive.is_empty() || decisive.iter().any(|one| one == path);
        let is_named = |path: &str| is_decisive(path) && !is_said(path);
        let named = self.witness.injections.iter().filter(|one| is_named(one.path.as_str()));
        let value = |path: &str, shown: String| WitnessValue { path: bounded(path), value: bounded(&shown) };
        let values = named.map(|one| value(one.path.as_str(), one.value.display())).take(NAMED).collect();
        let call = if call.is_empty() { format!("{}()", self.of.pair.new.qualname) } else { call };
        Asked { call, values: Some(values) }
    }

    fn run(&mut self, at: &At<'_>) -> Result<State, BlameError> {
        // The newer end is asked for each time, so that its files are the last ones to go.
        let own = || self.versions.source(at.commit, &at.place.file, at.text.to_owned());
        let newest = || match &self.newest {
            Some(newest) => self.versions.source(newest.commit, &newest.file, newest.text.clone()),
            None => own(),
        };
        let (newest, source) = match newest().and_then(|newest| Ok((newest, own()?))) {
            Ok(both) => both,
            Err(error) => return Ok(State::Skipped(Skip::NotCopied { reason: error.to_string() })),
        };
        let function = at.place.function.as_str();
        let name = self.newest.as_ref().map_or(function, |newest| newest.function.as_str());
        let replayed = match WitnessProbe::run(self, (&newest, name), (&source, function)) {
            Ok(replayed) => replayed,
            Err(Failure::Worker(EngineError::Stopped)) => return Err(EngineError::Stopped.into()),
            Err(Failure::Compare(CompareError::Worker(EngineError::Stopped))) => {
                return Err(EngineError::Stopped.into());
            }
            Err(error) => return Ok(State::Skipped(Skip::NotLoaded { reason: bounded(&error.to_string()) })),
        };
        let Replayed { witness, evidence, varies, .. } = replayed;
        let shown = |behavior: &Behavior| display_outcome(&behavior.outcome);
        if let Some(stopped) = [&witness.old, &witness.new].into_iter().find(|one| is_stopped(one)) {
            return Ok(State::Skipped(Skip::Lost { reason: shown(stopped) }));
        }
        if varies || self.newest.is_none() && !evidence.is_empty() {
            return Ok(State::Skipped(Skip::Varies { one: shown(&witness.old), other: shown(&witness.new) }));
        }
        if let Some(names) = self.stand_ins(&witness) {
            return Ok(State::Skipped(Skip::Missing { names, because: None }));
        }
        let difference = evidence.iter().find(|one| self.kinds.contains(&Kind::of(one)));
        if let Some(newest) = &self.newest {
            return Ok(State::Gave(match difference {
                None => newest.value.clone(),
                Some(_) => self.value(&witness.new, difference),
            }));
        }
        let compared = match self.of.side {
            Side::Old => &self.witness.old,
            Side::New => &self.witness.new,
        };
        if self.kinds.first() == Some(&Kind::Outcome) && shown(compared) != shown(&witness.new) {
            return Ok(State::Skipped(Skip::Varies { one: shown(compared), other: shown(&witness.new) }));
        }
        let value = self.value(&witness.new, None);
        let (file, text) = (at.place.file.clone(), at.text.to_owned());
        let newest = Newest { commit: at.commit, file, text, function: function.to_owned(), value: value.clone() };
        self.newest = Some(newest);
        Ok(State::Gave(value))
    }
}

fn is_stopped(behavior: &Behavior) -> bool {
    matches!(behavior.outcome, Outcome::Stopped { .. })
}
