//! Where workers come from: zygotes by what they have imported, started when they are first needed.
//!
//! The first one has imported what every program needs. From it come zygotes that have imported what some programs need,
//! in two steps: the packages that their modules name, and then the modules themselves. So what runs in a worker depends
//! on its program alone, however many others ran before.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::folders::PoolFolder;
use super::link::{Forked, Worker};
use super::protocol::Fork;
use super::starter::Starter;
use super::zygote::{self, Refused, StartFailure, Started, Why, Zygote};
use super::{EngineError, PoolOptions};

/// The number of processes that may be killed from outside, one after the other, while a worker is made.
const ATTEMPTS: u32 = 10;
/// The number of times that a zygote with imports of its own is waited for. The second time, the files that it reads are in
/// memory.
const WAITS: u32 = 2;
/// The number of zygotes with imports of their own. Each keeps what it has imported in memory.
const MOST_ZYGOTES: usize = 8;

/// Forks workers, from any thread.
#[derive(Debug)]
pub struct Nursery {
    options: PoolOptions,
    zygotes: Mutex<Vec<Arc<Kept>>>,
    ahead: Mutex<Ahead>,
    ground: Mutex<Option<Ground>>,
}

/// A worker is forked ahead of need where the last two were of one kind. It gets ready while the last one works.
#[derive(Debug, Default)]
struct Ahead {
    last: Option<Kind>,
    ready: Option<(Kind, Forked)>,
}

/// Workers of one kind can stand in for each other, as long as they have no program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// The installed modules that their process has imported.
    imports: Vec<String>,
    /// See [`Fork`].
    forks: bool,
}

/// What all zygotes of a pool stand on.
#[derive(Debug)]
struct Ground {
    starter: Starter,
    folder: Arc<PoolFolder>,
}

/// A zygote under the modules that it has imported.
#[derive(Debug)]
struct Kept {
    imports: Vec<String>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    NotStarted,
    Ready(Box<Zygote>),
    /// Nothing can be forked from a process with these imports.
    Useless,
}

impl Nursery {
    /// No process starts yet.
    pub fn new(options: PoolOptions) -> Nursery {
        Nursery { options, zygotes: Mutex::default(), ahead: Mutex::default(), ground: Mutex::default() }
    }

    /// A new worker, in whose process the installed ones of these modules are imported, and its kind. `forks`: see
    /// [`Fork`].
    pub fn worker(&self, imports: &[String], forks: bool) -> Result<(Worker, Kind), EngineError> {
        let mut attempts = 1;
        loop {
            match self.attempt(imports, forks) {
                Ok(worker) => return Ok(worker),
                Err(failure) if failure.why == Why::Outside && attempts < ATTEMPTS => attempts += 1,
                Err(failure) => return Err(failure.error),
            }
        }
    }

    /// Ends a worker.
    pub fn end(&self, worker: Worker) {
        worker.kill();
        let ground = self.ground.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ground) = &*ground {
            ground.starter.end(worker);
        }
    }

    fn attempt(&self, imports: &[String], forks: bool) -> Result<(Worker, Kind), StartFailure> {
        let kind = Kind { imports: self.installed(imports)?, forks };
        let waiting = self.taken(&kind).map(|forked| forked.greet(&self.options));
        let worker = match waiting {
            Some(Ok(worker)) => worker,
            Some(Err(failure)) if !matches!(failure.error, EngineError::Start { .. }) => return Err(failure),
            // One that ended while it waited is no loss.
            Some(Err(_)) | None => self.forked(&kind)?.greet(&self.options)?,
        };
        Ok((worker, kind))
    }

    /// The worker that was forked ahead, if it is of this kind.
    fn taken(&self, kind: &Kind) -> Option<Forked> {
        let mut ahead = self.ahead();
        ahead.ready.take_if(|(ready, _)| ready == kind).map(|(_, forked)| forked)
    }

    /// Forks a worker for the next who asks, if the last one was of this kind too.
    pub fn fork_ahead(&self, kind: Kind) {
        let is_repeated = {
            let mut ahead = self.ahead();
            let is_last = ahead.last.replace(kind.clone()).is_some_and(|last| last == kind);
            is_last && ahead.ready.as_ref().is_none_or(|(ready, _)| *ready != kind)
        };
        // Elsewhere a zygote becomes its worker, and the next one would have to be waited for.
        if is_repeated
            && cfg!(target_os = "linux")
            && let Ok(forked) = self.forked(&kind)
        {
            // Another kind's is not waited for any more.
            let before = self.ahead().ready.replace((kind, forked));
            drop(before);
        }
    }

    fn forked(&self, Kind { imports, forks }: &Kind) -> Result<Forked, StartFailure> {
        let folder = self.folder()?;
        let own = folder.one().map_err(|error| self.cannot_start(error))?;
        let fork = Fork { folder: own.path().to_owned(), memory_bytes: self.options.memory_bytes, forks: *forks };
        let forked = match self.with(imports, |zygote| zygote.worker(fork.clone()))? {
            Some(forked) => Some(forked),
            // It imports them itself.
            None => self.with(&[], |zygote| zygote.worker(fork))?,
        };
        let started = match forked {
            Some(Ok(started)) => started,
            Some(Err(refused)) => return Err(self.refused(refused)),
            None => return Err(self.cannot_start("nothing can be forked from its first process")),
        };
        Forked::new(started, own, &self.options).map_err(|error| self.cannot_start(error))
    }

    /// Those of the modules that the first zygote finds among the installed ones.
    fn installed(&self, modules: &[String]) -> Result<Vec<String>, StartFailure> {
        if modules.is_empty() {
            return Ok(Vec::new());
        }
        match self.with(&[], |zygote| zygote.installed(modules))? {
            Some(Ok(installed)) => Ok(installed),
            Some(Err(refused)) => Err(self.refused(refused)),
            None => Ok(Vec::new()),
        }
    }

    /// What a zygote with these imports answers. `None` if there can be none. What was imported is in its process, and
    /// a zygote that is lost is started anew by the next who asks.
    fn with<T>(
        &self,
        imports: &[String],
        ask: impl FnOnce(Zygote) -> (Option<Zygote>, Result<T, Refused>),
    ) -> Result<Option<Result<T, Refused>>, StartFailure> {
        let kept = self.kept(imports);
        let mut state = kept.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::NotStarted = *state {
            *state = self.ready(imports)?;
        }
        let State::Ready(zygote) = std::mem::take(&mut *state) else {
            *state = State::Useless;
            return Ok(None);
        };
        let (zygote, answer) = ask(*zygote);
        *state = zygote.map_or(State::NotStarted, |zygote| State::Ready(Box::new(zygote)));
        Ok(Some(answer))
    }

    /// Starts a zygote and waits until it can fork, or until it is clear that it never will.
    fn ready(&self, imports: &[String]) -> Result<State, StartFailure> {
        let mut waits = 1;
        loop {
            let Some(started) = self.start(imports)? else { return Ok(State::Useless) };
            match Zygote::greet(started, &self.options) {
                Ok(zygote) if zygote.can_fork => return Ok(State::Ready(Box::new(zygote))),
                Ok(_) => return Ok(State::Useless),
                Err(failure) if imports.is_empty() || failure.why == Why::Outside => return Err(failure),
                Err(failure) if failure.why == Why::Overran && waits < WAITS => waits += 1,
                // What it imports ended it, or never ends.
                Err(_) => return Ok(State::Useless),
            }
        }
    }

    /// The process of a new zygote. `None` if the one that it would be forked from is useless.
    fn start(&self, imports: &[String]) -> Result<Option<Started>, StartFailure> {
        if imports.is_empty() {
            return self.first().map(Some);
        }
        let packages = packages(imports);
        let before: &[String] = if packages == imports { &[] } else { &packages };
        match self.with(before, |zygote| zygote.zygote(imports))? {
            Some(Ok(started)) => Ok(Some(started)),
            Some(Err(refused)) => Err(self.refused(refused)),
            None => Ok(None),
        }
    }

    fn first(&self) -> Result<Started, StartFailure> {
        let arrival = self.on_ground(|ground| ground.starter.start(ground.folder.clone()))?;
        match arrival.recv() {
            Ok(started) => started.map_err(|error| self.cannot_start(error)),
            Err(_) => Err(self.cannot_start("its thread is gone")),
        }
    }

    /// The folder for copies of projects, which all workers may read.
    pub fn projects(&self) -> Result<PathBuf, EngineError> {
        self.folder().map(|folder| folder.projects().to_owned()).map_err(|failure| failure.error)
    }

    fn folder(&self) -> Result<Arc<PoolFolder>, StartFailure> {
        self.on_ground(|ground| ground.folder.clone())
    }

    fn on_ground<T>(&self, use_it: impl FnOnce(&Ground) -> T) -> Result<T, StartFailure> {
        let mut ground = self.ground.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |error| self.cannot_start(error);
        match &mut *ground {
            Some(ground) => Ok(use_it(ground)),
            none => {
                let folder = Arc::new(PoolFolder::new().map_err(failed)?);
                let made = Ground { starter: Starter::new(self.options.clone()).map_err(failed)?, folder };
                Ok(use_it(none.insert(made)))
            }
        }
    }

    /// The entry of a zygote, which is then the last one. The entry that was not used for longest may go.
    fn kept(&self, imports: &[String]) -> Arc<Kept> {
        let mut zygotes = self.zygotes();
        let kept = match zygotes.iter().position(|kept| kept.imports == imports) {
            Some(at) => zygotes.remove(at),
            None => Arc::new(Kept { imports: imports.to_vec(), state: Mutex::default() }),
        };
        zygotes.push(kept.clone());
        if zygotes.iter().filter(|kept| !kept.imports.is_empty()).count() > MOST_ZYGOTES
            && let Some(oldest) = zygotes.iter().position(|kept| !kept.imports.is_empty())
        {
            // Whoever uses it just now keeps it until then.
            zygotes.remove(oldest);
        }
        kept
    }

    fn ahead(&self) -> MutexGuard<'_, Ahead> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn zygotes(&self) -> MutexGuard<'_, Vec<Arc<Kept>>> {
        self.zygotes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cannot_start(&self, reason: impl ToString) -> StartFailure {
        StartFailure::itself(self.options.cannot_start(reason))
    }

    fn refused(&self, Refused { reason, from_outside }: Refused) -> StartFailure {
        let why = if from_outside { Why::Outside } else { Why::Itself };
        StartFailure { error: self.options.cannot_start(reason), why }
    }
}

impl Drop for Nursery {
    fn drop(&mut self) {
        drop(self.ahead().ready.take());
        let kept = std::mem::take(&mut *self.zygotes());
        let states =
            kept.iter().map(|kept| std::mem::take(&mut *kept.state.lock().unwrap_or_else(PoisonError::into_inner)));
        let zygotes = states.filter_map(|state| if let State::Ready(zygote) = state { Some(*zygote) } else { None });
        zygote::retire(zygotes.collect());
    }
}

/// The packages of some modules, in order, each once: `a` for `a.b` and `a.c`.
fn packages(modules: &[String]) -> Vec<String> {
    let mut packages: Vec<String> = Vec::new();
    for module in modules {
        let package = module.split('.').next().unwrap_or_default();
        if packages.iter().all(|known| known != package) {
            packages.push(package.to_owned());
        }
    }
    packages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packages_of_modules_are_named_once() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(packages(&names(&["b.c", "a", "b", "a.x.y"])), names(&["b", "a"]));
    }
}
