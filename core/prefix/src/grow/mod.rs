//! The tree of prefixes (Treefix, Algorithm 1): breadth first, in three levels.
//!
//! A [`Generator`] grows it. Where the paper asks a language model for prefixes, [`Local`] has executions with hooks that
//! find values for what is missing, and `render.rs` writes them. `asking.rs` asks a model. Each prefix then runs as plain
//! Python before the snippet; only what it covers there counts.

mod asking;
mod prompt;
mod scenes;
mod tidy;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Instant;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use twincell_engine::protocol::{End, ExecutionRecord, ExecutionRequest, FilesBeside, Program, Script, ScriptRun};
use twincell_engine::{EngineError, Executed, Loaded, WorkerPool};
use twincell_search::{Methods, Search};
use twincell_sketch::environment::Environment;
use twincell_syntax::instrument::Instrumented;
use twincell_syntax::without_escapes;
use twincell_values::predictor::Predictor;
use twincell_values::reading::Locals;
use twincell_values::value::{Choice, Fixed};

use crate::code::Code;
use crate::function::Subject;
use crate::generators::Generators;
use crate::hints::{dedented, hint};
use crate::lessons::{Common, Lessons};
use crate::program;
use crate::reading::Reading;
use crate::render::render;
use crate::repair::{Failure, repairs, shortened};
use crate::result::{Guidance, Origin, Prefix, Prefixes};
use crate::{Continue, PrefixError, PrefixOptions, Progress, Techniques};
use asking::Asking;
use twincell_values::language_model::LanguageModel;

/// The maximum number of statements that a plain run may complete.
const STEPS: u64 = 50_000;
/// The number of executions with hooks for each prefix that is asked for.
const EXECUTIONS: u32 = 6;

/// What finds prefixes: it adds nodes to a tree until nothing is left to do.
trait Generator {
    fn grow(&mut self, tree: &mut Tree<'_>) -> Result<(), PrefixError>;
}

/// Finds values in the text and by executions with hooks, and learns from errors.
struct Local<'a> {
    pool: &'a WorkerPool,
    /// `None` for code that awaits outside of functions, which hooks are not for.
    program: Option<&'a Program>,
}

impl Generator for Local<'_> {
    fn grow(&mut self, tree: &mut Tree<'_>) -> Result<(), PrefixError> {
        let mut hooked = self.program.map(|program| self.pool.load(program)).transpose()?;
        tree.grow(hooked.as_mut())
    }
}

/// What an execution with hooks found, or what the text alone says.
#[derive(Default)]
struct Seed {
    /// What the text says.
    sketched: Option<Environment>,
    /// What an execution found, or a later trial adds.
    choices: Vec<Choice>,
    environment: Environment,
}

impl Seed {
    fn new(sketched: Option<Environment>, choices: Vec<Choice>) -> Self {
        let mut environment = sketched.clone().unwrap_or_default();
        environment.extend(&choices);
        Self { environment, sketched, choices }
    }
}

/// A node with what it was written from.
struct Grown {
    seed: Rc<Seed>,
    lessons: Lessons,
    code: Code,
}

/// Where a prefix goes in the tree, and what wrote it.
#[derive(Default)]
struct TreePlace {
    parent: Option<usize>,
    guidance: Guidance,
    origin: Origin,
    /// It is kept only if it covers a line that no other one does, or fails on a line that none has come to.
    is_new: bool,
}

struct Tree<'a> {
    progress: &'a mut dyn FnMut(Progress) -> Continue,
    is_stopped: bool,
    reading: &'a Reading,
    instrumented: &'a Instrumented,
    locals: Locals,
    options: &'a PrefixOptions,
    /// The files beside it.
    beside: Option<&'a FilesBeside>,
    plain: Loaded<'a>,
    as_is: Prefix,
    nodes: Vec<Prefix>,
    grown: Vec<Grown>,
    /// The first and the last line that count.
    counted: Option<(u32, u32)>,
    lines: Vec<u32>,
    covered: BTreeSet<u32>,
    shared: Common,
    texts: BTreeSet<String>,
    /// The number of runs that are left to rewrite a prefix.
    trials: u32,
    /// When the search ends.
    until: Instant,
    /// What a language model was asked and has used, and why it was asked no more.
    asked: u64,
    tokens: u64,
    problem: Option<String>,
}

/// Finds prefixes for a snippet. `model` is asked if the options want that.
pub fn prefixes(
    subject: &Subject,
    options: &PrefixOptions,
    pool: &WorkerPool,
    predictor: &dyn Predictor,
    model: Option<&dyn LanguageModel>,
    progress: &mut dyn FnMut(Progress) -> Continue,
) -> Result<Prefixes, PrefixError> {
    let text = &*dedented(&subject.text);
    let refused = |line: u32, message: &str| {
        let hint = hint(text, line).map(|hint| format!("; {hint}")).unwrap_or_default();
        PrefixError::Syntax { line, message: format!("{message}{hint}") }
    };
    let plain = without_escapes(text);
    let (_, errors) = twincell_syntax::functions(plain.as_deref().unwrap_or(text));
    if let Some(error) = errors.first() {
        return Err(refused(error.line, &error.message));
    }
    let until = Instant::now() + options.deadline;
    let pool = &pool.until(until);
    let beside = subject.beside.as_ref();
    let reading = Reading::within(text, beside.map_or("", |beside| &beside.package));
    let instrumented = program::instrumented(&reading).map_err(|error| PrefixError::Text(error.to_string()))?;
    let hooked = program::program(&reading, &instrumented, predictor, beside)?;
    let mut tree = Tree {
        progress,
        is_stopped: false,
        reading: &reading,
        instrumented: &instrumented,
        locals: hooked.versions[0].locals.clone(),
        options,
        beside: beside.map(|beside| &beside.copy),
        plain: pool.load(&program::of_scripts(&reading, beside))?,
        as_is: Prefix::default(),
        nodes: Vec::new(),
        grown: Vec::new(),
        counted: subject.lines,
        lines: Vec::new(),
        covered: BTreeSet::new(),
        shared: Common::default(),
        texts: BTreeSet::new(),
        trials: 0,
        until,
        asked: 0,
        tokens: 0,
        problem: None,
    };
    // As it is: many snippets need nothing.
    let first = tree.add(None, Guidance::Undefinedness, Rc::default(), Lessons::default())?;
    if let Some(End::Unreadable { line, message }) = first.map(|first| &tree.nodes[first].end) {
        return Err(refused(*line, message));
    }
    tree.as_is = match tree.nodes.first() {
        Some(bare) if bare.text.is_empty() => bare.clone(),
        _ => {
            let ScriptRun { mut completed, end, .. } = tree.run("")?;
            completed.retain(|line| tree.lines.binary_search(line).is_ok());
            Prefix { completed, end, ..Prefix::default() }
        }
    };
    let mut local = Local { pool, program: (!reading.awaits).then_some(&hooked) };
    let mut asking = model.map(|model| Asking { model, is_second: options.generators == Generators::Both });
    let mut generators: Vec<&mut dyn Generator> = Vec::new();
    if options.generators != Generators::Llm {
        generators.push(&mut local);
    }
    if options.generators != Generators::Local {
        generators.extend(asking.as_mut().map(|asking| asking as &mut dyn Generator));
    }
    for generator in generators {
        if tree.is_done() {
            break;
        }
        match generator.grow(&mut tree) {
            // What was found counts.
            Err(PrefixError::Engine(EngineError::Stopped)) => tree.is_stopped = true,
            grown => grown?,
        }
    }
    tree.tidy()?;
    Ok(Prefixes { beside: beside.map(|beside| beside.used.clone()), ..tree.finish() })
}

impl Tree<'_> {
    /// Whether nothing is left to do, or nobody wants it done.
    fn is_done(&mut self) -> bool {
        let progress = self.progress_now();
        self.is_stopped |= (self.progress)(progress) == Continue::Stop;
        self.is_stopped || self.is_covered()
    }

    fn progress_now(&self) -> Progress {
        let coverage = self.covered.len() as f64 / self.lines.len().max(1) as f64;
        Progress { prefixes: self.nodes.len(), coverage, tokens: self.tokens }
    }

    fn is_covered(&self) -> bool {
        self.covered.len() == self.lines.len()
    }

    /// Writes a prefix, runs it, and keeps it. `None` if it was there before.
    fn add(
        &mut self,
        parent: Option<usize>,
        guidance: Guidance,
        seed: Rc<Seed>,
        lessons: Lessons,
    ) -> Result<Option<usize>, PrefixError> {
        let code = render(&seed.environment, self.reading, &lessons);
        let place = TreePlace { parent, guidance, ..TreePlace::default() };
        self.add_code(place, code, seed, lessons)
    }

    /// The same, or only if it comes to a line that no other one does.
    fn add_if(
        &mut self,
        parent: Option<usize>,
        guidance: Guidance,
        seed: Rc<Seed>,
        lessons: Lessons,
        is_new: bool,
    ) -> Result<Option<usize>, PrefixError> {
        let code = render(&seed.environment, self.reading, &lessons);
        self.add_code(TreePlace { parent, guidance, is_new, ..TreePlace::default() }, code, seed, lessons)
    }

    /// Runs the parts of a prefix, and keeps them. `None` if it was there before.
    fn add_code(
        &mut self,
        place: TreePlace,
        mut code: Code,
        seed: Rc<Seed>,
        lessons: Lessons,
    ) -> Result<Option<usize>, PrefixError> {
        let (text, ScriptRun { lines, mut completed, end }) = loop {
            let text = code.text();
            if !self.texts.insert(text.clone()) {
                return Ok(None);
            }
            let ran = self.run(&text)?;
            // Statements of the prefix that raise are left out (Treefix, III-G2).
            let failing = match &ran.end {
                End::Raised(raise) if !raise.begun && !raise.in_snippet => code.part_at(raise.line),
                _ => None,
            };
            match failing {
                Some(part) => code = code.without(part),
                None => break (text, ran),
            }
        };
        // Whoever was lost cannot tell which lines there are.
        let lines = match &end {
            End::Lost { .. } if self.lines.is_empty() => self.run("raise SystemExit\n")?.lines,
            _ => lines,
        };
        if self.lines.is_empty() {
            let (first, last) = self.counted.unwrap_or((0, u32::MAX));
            self.lines = lines.into_iter().filter(|line| (first..=last).contains(line)).collect();
        }
        completed.retain(|line| self.lines.binary_search(line).is_ok());
        let covers: BTreeSet<u32> = completed.iter().copied().collect();
        let TreePlace { parent, guidance, origin, is_new } = place;
        if is_new && covers.is_subset(&self.covered) && !self.comes_further(&end) {
            return Ok(None);
        }
        self.covered.extend(covers);
        self.nodes.push(Prefix { parent, guidance, origin, text, makes: code.makes(), completed, end });
        self.grown.push(Grown { seed, lessons, code });
        Ok(Some(self.nodes.len() - 1))
    }

    /// Whether a run failed on a line that no prefix covers, and that no other one fails on: its error may be mended.
    fn comes_further(&self, end: &End) -> bool {
        let failing = |end: &End| match end {
            End::Raised(raise) if raise.in_snippet && !raise.intended => Some(raise.line),
            _ => None,
        };
        failing(end).is_some_and(|line| {
            self.lines.binary_search(&line).is_ok()
                && !self.covered.contains(&line)
                && self.nodes.iter().all(|node| failing(&node.end) != Some(line))
        })
    }

    /// Runs the snippet behind a prefix, without hooks.
    fn run(&mut self, prefix: &str) -> Result<ScriptRun, PrefixError> {
        let (prefix, snippet) = (prefix.to_owned(), self.reading.text().to_owned());
        let script = Script { prefix, snippet, steps: STEPS, beside: self.beside.cloned() };
        Ok(self.plain.script(script)?)
    }

    fn grow(&mut self, mut hooked: Option<&mut Loaded<'_>>) -> Result<(), PrefixError> {
        let target = program::target(self.reading, self.instrumented);
        let Techniques { solver, .. } = self.options.techniques;
        let methods = Methods { directed: self.options.methods.directed && solver, ..self.options.methods };
        let mut search = Search::new(&target, methods);
        let options = self.options;
        let mut next = 0;
        // What the text says of its values, before anything runs.
        self.sketch()?;
        self.repair_all(vec![self.nodes.len() - 1], options.width)?;
        if options.techniques.coverage {
            self.turn_imports()?;
            self.act()?;
            self.turn_scenes()?;
            self.turn_world()?;
        }
        if self.is_done() {
            return Ok(());
        }
        let sketched = self.nodes.len();
        // Undefinedness guidance: values from the predictor and from how the code uses them.
        let records = self.execute(hooked.as_deref_mut(), &mut search, &mut next, options.width, true)?;
        for record in &records {
            self.sprout(None, Guidance::Undefinedness, record)?;
            if self.is_done() {
                return Ok(());
            }
        }
        // Error guidance.
        let first: Vec<usize> = std::iter::once(0).chain(sketched..self.nodes.len()).collect();
        self.repair_all(first, options.width * options.width)?;
        // Coverage guidance, unless nothing is missing whose value could be another one.
        let has_values = records.iter().any(|record| !record.choices.is_empty());
        for _ in 0..if has_values { options.rounds() } else { 0 } {
            if self.is_done() || search.is_exhausted() {
                break;
            }
            let before = self.nodes.len();
            let count = options.width * EXECUTIONS;
            for record in self.execute(hooked.as_deref_mut(), &mut search, &mut next, count, false)? {
                if self.nodes.len() - before < options.width as usize && self.reaches_new(&record) {
                    let parent = self.nearest(&record.choices);
                    self.sprout(parent, Guidance::Coverage, &record)?;
                }
            }
            self.repair_all((before..self.nodes.len()).collect(), options.width)?;
        }
        Ok(())
    }

    /// Executions with hooks, from which the search learns.
    fn execute(
        &mut self,
        hooked: Option<&mut Loaded<'_>>,
        search: &mut Search<'_>,
        next: &mut u32,
        count: u32,
        is_fresh: bool,
    ) -> Result<Vec<ExecutionRecord>, PrefixError> {
        const BATCH: u32 = 12;
        let mut records = Vec::new();
        let Some(hooked) = hooked else { return Ok(records) };
        let end = *next + count;
        while *next < end && !self.is_done() {
            let mut requests = Vec::new();
            for index in *next..end.min(*next + BATCH) {
                let seed = xxh3_64_with_seed(&index.to_le_bytes(), self.options.seed);
                let mut random = Pcg64Mcg::seed_from_u64(seed);
                let fixed = if is_fresh { Fixed::new() } else { search.decisions(index, &mut random).fixed };
                let observe = search.observes();
                requests.push(ExecutionRequest {
                    index,
                    seed,
                    fixed,
                    versions: vec![0],
                    observe,
                    ..Default::default()
                });
            }
            *next += requests.len() as u32;
            for executed in hooked.run(requests)? {
                if let Executed::Record(record) = executed {
                    search.learn(&record, false);
                    records.push(*record);
                }
            }
        }
        Ok(records)
    }

    /// The prefix that holds what an execution found. Builtins have other meanings only where that reaches more.
    fn sprout(
        &mut self,
        parent: Option<usize>,
        guidance: Guidance,
        record: &ExecutionRecord,
    ) -> Result<(), PrefixError> {
        let seed = Rc::new(Seed::new(None, record.choices.clone()));
        let mut lessons = Lessons { common: self.shared.clone(), ..Lessons::default() };
        self.add(parent, guidance, seed.clone(), lessons.clone())?;
        // Before, errors may tell of something better: a file to make instead of another `open`.
        if guidance == Guidance::Coverage && seed.environment.has_builtins() && self.reaches_new(record) {
            lessons.has_builtins = true;
            self.add(parent, guidance, seed, lessons)?;
        }
        Ok(())
    }

    /// Whether an execution ran a line that no prefix covers.
    fn reaches_new(&self, record: &ExecutionRecord) -> bool {
        let ran = record.behaviors.first().map_or(&[][..], |behavior| &behavior.lines);
        ran.iter().any(|(line, _)| self.lines.binary_search(line).is_ok() && !self.covered.contains(line))
    }

    /// Mends prefixes that fail, breadth first, until so many are tried.
    fn repair_all(&mut self, mut waiting: Vec<usize>, mut budget: u32) -> Result<(), PrefixError> {
        if !self.options.techniques.errors {
            return Ok(());
        }
        while !waiting.is_empty() && budget > 0 && !self.is_done() {
            let mut next = Vec::new();
            for number in std::mem::take(&mut waiting) {
                let Grown { seed, lessons, .. } = &self.grown[number];
                let seed = seed.clone();
                let found = match &self.nodes[number].end {
                    End::Raised(raise) if !raise.intended => {
                        let failure = Failure { raise, environment: &seed.environment, lessons };
                        repairs(&failure, self.reading, self.instrumented, &self.locals)
                    }
                    End::Steps | End::Time | End::Waits | End::Lost { .. } => shortened(lessons, self.reading),
                    _ => vec![],
                };
                for lessons in found {
                    if budget == 0 || self.is_done() {
                        return Ok(());
                    }
                    budget -= 1;
                    let added = self.add(Some(number), Guidance::Error, seed.clone(), lessons)?;
                    let Some(child) = added else { continue };
                    next.push(child);
                    let (before, after) = (self.nodes[number].completed.len(), self.nodes[child].completed.len());
                    // What makes it worse is no lesson for the others, nor is what only might be in files.
                    let common = &self.grown[child].lessons.common;
                    let is_guess = common.columns() > self.grown[number].lessons.common.columns();
                    if after > before || after == before && !is_guess {
                        self.shared.join(common);
                    }
                    if after > before {
                        break;
                    }
                }
            }
            waiting = next;
        }
        Ok(())
    }

    /// The prefix that shares most decisions with an execution.
    fn nearest(&self, choices: &[Choice]) -> Option<usize> {
        let shared = |grown: &Grown| grown.seed.choices.iter().filter(|choice| choices.contains(choice)).count();
        let mut best = None;
        for (number, grown) in self.grown.iter().enumerate() {
            let count = shared(grown);
            if best.is_none_or(|(most, _)| count > most) {
                best = Some((count, number));
            }
        }
        best.map(|(_, number)| number)
    }

    fn finish(self) -> Prefixes {
        // What is bound may be read before it is: `total += 1`.
        let asked = self.grown.iter().flat_map(|grown| &grown.seed.environment.names).map(|(name, _)| name);
        let early = asked.filter(|name| self.reading.bound.is_local(name));
        let undefined: BTreeSet<String> = self.reading.undefined.iter().chain(early).cloned().collect();
        let found = Prefixes::new(undefined.into_iter().collect(), self.lines, self.nodes, self.is_stopped);
        let uncalled = if self.counted.is_none() { found.uncalled_in(self.reading.text()) } else { vec![] };
        Prefixes { as_is: self.as_is, uncalled, tokens: self.tokens, problem: self.problem, ..found }
    }
}
