//! Compares functions at two commits of a repository with the warm workers, for slices.

use std::path::Path;

use twincell_compare::verdict::Verdict;
use twincell_compare::{CompareOptions, Continue, Source};
use twincell_engine::Stop;
use twincell_semantic::SymbolName;
use twincell_slice::{Behavior, NotCompared, SliceError, Version};

use crate::decode::python_source;
use crate::failure::Failure;
use crate::options::Options;
use crate::versions::Versions;
use crate::warm::{Engine, Environment};

/// The maximum number of executions of one comparison: it is one of many.
const BUDGET: u32 = 60;
/// The time of one comparison, in seconds. It guards.
const DEADLINE: f64 = 30.0;

/// Compares functions of the commits of a repository.
pub(crate) struct Comparing {
    engine: Engine,
    options: CompareOptions,
    stop: Stop,
    versions: Versions,
}

impl Comparing {
    /// # Errors
    ///
    /// Where no worker can run code.
    pub fn new(
        repository: &Path,
        python: &Path,
        options: &Options,
        environment: &Environment,
        stop: &Stop,
    ) -> Result<Self, Failure> {
        let engine = Engine::for_project(python, options, environment)?.stopped_by(stop);
        let versions = Versions::new(repository, engine.projects()?).map_err(SliceError::from)?;
        let options = Options { budget: BUDGET, deadline: DEADLINE, ..options.clone() };
        Ok(Self { engine, options: options.for_core(), stop: stop.clone(), versions })
    }

    /// The module of a function in a version.
    fn source(&self, version: &Version, path: &str) -> Result<Source, NotCompared> {
        let commit = || version.commit.to_string();
        let text = match &version.text {
            Some(text) => python_source(text),
            None => self.versions.text(version.commit, path, self.options.max_source),
        };
        let text = text.map_err(|reason| NotCompared::Unreadable { commit: commit(), reason })?;
        let source = self.versions.source(version.commit, path, text);
        source.map_err(|error| NotCompared::Files { commit: commit(), reason: error.to_string() })
    }

    fn verdict(&self, function: &SymbolName, old: &Version, new: &Version) -> Result<Verdict, NotCompared> {
        let (old, new) = (self.source(old, &function.path)?, self.source(new, &function.path)?);
        let options = CompareOptions { function: Some(function.qualname.to_string()), ..self.options.clone() };
        let mut go_on = |_| if self.stop.is_asked() { Continue::Stop } else { Continue::Yes };
        let compared = self.engine.compare(&old, &new, &options, &mut go_on);
        let compared = compared.map_err(|error| NotCompared::Failed { reason: error.to_string() })?;
        if compared.pairs.is_empty() { Err(NotCompared::NoPair) } else { Ok(compared.verdict_of_pairs) }
    }
}

impl Behavior for Comparing {
    fn is_same(&self, function: &SymbolName, old: &Version, new: &Version) -> Result<Option<bool>, NotCompared> {
        Ok(match self.verdict(function, old, new)? {
            Verdict::Identical | Verdict::LikelyPreserving => Some(true),
            Verdict::Changing => Some(false),
            Verdict::Inconclusive => None,
        })
    }
}
