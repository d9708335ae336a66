//! What an [`Engine`] does with texts, projects, notebooks and snippets. A bug in an analysis becomes an error here.

mod notebooks;

use std::sync::Arc;
use std::time::{Duration, Instant};

use twincell_compare::report::Comparison;
use twincell_compare::{Again, CompareOptions, Continue, Executions, Inputs, Progress, Replayed, Source, execute};
use twincell_models::Endpoint;
use twincell_prefix::{Generators, Library, Prefixes, Subject, prefixes};
use twincell_values::language_model::LanguageModel;

use crate::failure::{Failure, caught};
use crate::local_imports::WithFiles;
use crate::notebook::Notebooks;
use crate::project::Placed;
use crate::warm::Engine;

impl Engine {
    /// Compares two texts or notebooks; see [`twincell_compare::compare`]. What files import from their projects is real.
    pub fn compare(
        &self,
        old: &Source,
        new: &Source,
        options: &CompareOptions,
        progress: &mut dyn FnMut(Progress) -> Continue,
    ) -> Result<Comparison, Failure> {
        caught(|| {
            if let Some(found) = Notebooks::of(old, new)? {
                return notebooks::compare(self, &found, (old, new), options, progress);
            }
            let placed = Placed::new(old, new, options, self)?;
            let mut comparison = self.compare_placed(&placed.sources.old, &placed.sources.new, options, progress)?;
            placed.note(&mut comparison);
            Ok(comparison)
        })
    }

    /// Executes once more; see [`twincell_compare::replay`]. Projects are as they are now.
    pub fn replay(
        &self,
        old: &Source,
        new: &Source,
        options: &CompareOptions,
        again: &Again<'_>,
        go_on: &mut dyn FnMut() -> Continue,
    ) -> Result<Replayed, Failure> {
        caught(|| {
            if let Some(found) = Notebooks::of(old, new)? {
                return notebooks::replay(self, &found, (old, new), options, again, go_on);
            }
            let placed = Placed::new(old, new, options, self)?;
            self.replay_placed(&placed.sources.old, &placed.sources.new, options, again, go_on)
        })
    }

    /// Executes two texts on given decisions; see [`twincell_compare::execute`].
    pub fn execute(
        &self,
        old: &Source,
        new: &Source,
        options: &CompareOptions,
        inputs: &[Inputs],
    ) -> Result<Executions, Failure> {
        caught(|| -> Result<_, Failure> {
            let placed = Placed::new(old, new, options, self)?;
            let (old, new, options) = (&placed.sources.old, &placed.sources.new, self.beside(options));
            Ok(execute(old, new, self.predictor.as_ref(), &self.pool, &options, inputs)?)
        })
    }

    /// Finds prefixes for a text or a function in one; see [`twincell_prefix::prefixes`]. What it imports and opens of its
    /// folder is real. The environment names the language
    /// model, if one is to be asked.
    pub fn prefixes(
        &self,
        subject: &Subject,
        options: &twincell_prefix::PrefixOptions,
        progress: &mut dyn FnMut(twincell_prefix::Progress) -> twincell_prefix::Continue,
    ) -> Result<Prefixes, Failure> {
        caught(|| {
            let model = match options.generators {
                Generators::Local => None,
                Generators::Llm | Generators::Both => Some(Endpoint::from_environment()?),
            };
            let model = model.as_ref().map(|model| model as &dyn LanguageModel);
            let (libraries, engine) = self.provide(subject, options.deadline, progress)?;
            let with = WithFiles::new(subject, &engine)?;
            let found = prefixes(&with.subject, options, &engine.pool, self.predictor.as_ref(), model, progress)?;
            let beside = found.beside.clone().or(with.refused);
            Ok::<_, Failure>(Prefixes { libraries, beside, ..found })
        })
    }

    /// Installs what a snippet imports, if that is wanted. Returns the engine whose workers find it.
    fn provide(
        &self,
        subject: &Subject,
        limit: Duration,
        progress: &mut dyn FnMut(twincell_prefix::Progress) -> Continue,
    ) -> Result<(Vec<Library>, Self), Failure> {
        let Some((libraries, make)) = &self.libraries else { return Ok((vec![], self.clone())) };
        let until = Instant::now() + limit;
        let mut go_on = || progress(twincell_prefix::Progress::default()) == Continue::Yes && Instant::now() < until;
        let with = |folders| match (make(folders), &self.stop) {
            (pool, Some(stop)) => Arc::new(pool.stopped_by(stop)),
            (pool, None) => pool,
        };
        let (libraries, pool) = libraries.provide(subject, &self.pool, &with, &mut go_on)?;
        Ok((libraries, self.with_workers(pool)))
    }
}
