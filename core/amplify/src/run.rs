//! Runs variants of a test on both versions, many in one process.

use std::collections::BTreeSet;
use std::thread;

use twincell_syntax::PerSide;
use twincell_testing::{Failure, Kept, Outcome, Request, SuiteReport, Test, TestError, TestRecord};

use crate::cases::runnable;
use crate::code::Code;
use crate::observe::instrument;
use crate::subject::{Addition, Subject, TestModule};

/// What runs tests of one version.
pub trait Runner: Send {
    fn tests(&self) -> &[Test];
    fn run(&mut self, request: &Request) -> Result<Vec<TestRecord>, TestError>;

    /// What the system enforces of the tests' sandbox, where they run in one.
    fn sandbox(&self) -> Option<&SuiteReport> {
        None
    }
}

impl Runner for Kept {
    fn tests(&self) -> &[Test] {
        Kept::tests(self)
    }

    fn run(&mut self, request: &Request) -> Result<Vec<TestRecord>, TestError> {
        Kept::run(self, request)
    }

    fn sandbox(&self) -> Option<&SuiteReport> {
        Kept::sandbox(self)
    }
}

/// The two versions.
pub struct Runners<'a> {
    pub old: &'a mut dyn Runner,
    pub new: &'a mut dyn Runner,
}

impl Runners<'_> {
    /// Runs a request on both versions at once.
    pub fn both(&mut self, request: &Request) -> Result<PerSide<Vec<TestRecord>>, TestError> {
        let (old, new) = (&mut *self.old, &mut *self.new);
        let (old, new) = thread::scope(|scope| {
            let other = scope.spawn(|| new.run(request));
            let old = old.run(request);
            (old, other.join())
        });
        let new = new.unwrap_or_else(|_| Err(TestError::Ended("its thread ended".to_owned())));
        Ok(PerSide::new(old?, new?))
    }
}

/// A test that is to run beside its origin.
#[derive(Debug, Clone)]
pub struct Trial {
    pub code: Code,
    pub imports: BTreeSet<String>,
}

/// What a trial did in both versions.
#[derive(Debug, Clone)]
pub struct Tried {
    pub records: PerSide<TestRecord>,
    /// For each version, the position in the trial's code where the exception passed that ended it.
    pub raised_at: PerSide<Option<usize>>,
    /// For each version, whether a statement of the trial raised that exception, and not the code that it calls.
    pub is_direct: PerSide<bool>,
}

/// How trials run.
#[derive(Debug, Clone, Default)]
pub struct How {
    pub observe: bool,
    /// Whether observing runs no code of the objects.
    pub quietly: bool,
    /// The files whose coverage is wanted.
    pub covered: Vec<String>,
    /// Whether what these files compare is wanted.
    pub operands: bool,
    /// Whether all cases of the tests run, as a person runs them.
    pub all_cases: bool,
    /// Whether a new process of pytest runs them, with which seed of Python's hashes.
    pub anew: Option<u32>,
}

/// Runs trials in one process for each version. Those that did not come to an end run again alone.
pub fn run(
    runners: &mut Runners<'_>,
    module: &TestModule,
    subject: &Subject,
    suffix: &str,
    trials: &[Trial],
    how: &How,
) -> Result<Vec<Tried>, TestError> {
    let tried = together(runners, module, subject, suffix, trials, how)?;
    if trials.len() < 2 {
        return Ok(tried);
    }
    let mut found = Vec::new();
    // One that ends its process may have taken others with it.
    for (trial, tried) in trials.iter().zip(tried) {
        let crashed = tried.records.iter().any(|record| record.outcome == Outcome::Crashed);
        found.push(if crashed {
            let mut alone = together(runners, module, subject, suffix, std::slice::from_ref(trial), how)?;
            alone.pop().unwrap_or(tried)
        } else {
            tried
        });
    }
    Ok(found)
}

fn together(
    runners: &mut Runners<'_>,
    module: &TestModule,
    subject: &Subject,
    suffix: &str,
    trials: &[Trial],
    how: &How,
) -> Result<Vec<Tried>, TestError> {
    let mut additions = Vec::new();
    let mut written: Vec<Code> = Vec::new();
    let mut ids = Vec::new();
    for (number, trial) in trials.iter().enumerate() {
        let name = format!("{}_twincell_{number}", subject.name);
        let named = trial.code.renamed(&name);
        let observed = if how.observe { instrument(&named) } else { named.clone() };
        let (code, own_suffix) = runnable(&observed);
        let suffix = if own_suffix.is_empty() { suffix } else { &own_suffix };
        ids.push(format!("{}{suffix}", subject.id(&name)));
        let imports = module.missing(&trial.imports);
        additions.push(Addition { behind: subject.behind, code: code.clone(), imports });
        written.push(code);
    }
    let text = module.with(&additions);
    let request = Request {
        files: vec![(module.file.clone(), text.clone())],
        tests: ids,
        coverage: !how.covered.is_empty(),
        covered: how.covered.clone(),
        observe: how.observe,
        quietly: how.quietly,
        operands: how.operands,
        watched: Vec::new(),
        all_cases: how.all_cases,
        anew: how.anew,
    };
    let records = runners.both(&request)?;
    let mut tried = Vec::new();
    for (((old, new), code), trial) in records.old.into_iter().zip(records.new).zip(&written).zip(trials) {
        let records = PerSide::new(old, new);
        let raised_at = records.as_ref().map(|record| {
            let line = record.failure.as_ref()?.test_line?;
            position(&text, code, &trial.code, line)
        });
        let is_direct = records.as_ref().map(|record| {
            let is_own = |failure: &Failure| failure.file == module.file && failure.test_line == Some(failure.line);
            record.failure.as_ref().is_some_and(is_own)
        });
        tried.push(Tried { records, raised_at, is_direct });
    }
    Ok(tried)
}

/// The position in a trial's own code of a line of the module that ran.
fn position(text: &str, code: &Code, own: &Code, line: u32) -> Option<usize> {
    let start = text.find(code.lines())?;
    let first = text.get(..start)?.matches('\n').count();
    let inside = usize::try_from(line).ok()?.checked_sub(first + 1)?;
    // Observation points are lines of their own.
    let hooks = code.lines().lines().take(inside).filter(|line| line.contains("__twincell_observe__(")).count();
    let at = inside.checked_sub(hooks)?;
    let offset = own.text().len() - own.lines().len();
    let start: usize = own.lines().split_inclusive('\n').take(at).map(str::len).sum();
    let text = own.lines().get(start..)?.lines().next()?;
    Some(offset + start + (text.len() - text.trim_start().len()))
}
