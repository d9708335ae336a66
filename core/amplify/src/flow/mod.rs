//! The steps of an amplification: which tests run the change, what they show as they are, what their variants show.

mod inject;
mod keep;
mod select;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Instant;

use twincell_syntax::{PerSide, Side};
use twincell_testing::{CollectionError, Observed, Outcome, Seen, TestError};

use self::keep::Fate;
use crate::change::{ChangedFile, ChangedText, changed_file};
use crate::channel::Style;
use crate::code::Code;
use crate::defined::Defined;
use crate::form::shown;
use crate::observe::unlike;
use crate::operators::{Compared, Material, Variant, variants};
use crate::result::{Amplification, AmplifiedTest, FORMAT, Shown, Status, Technique, Worth};
use crate::run::{How, Runners, Trial, Tried, run};
use crate::steering::Steering;
use crate::subject::{Addition, Subject, TestModule};

/// A change of a project with both versions of its files.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// The changed Python files that are no tests.
    pub files: Vec<ChangedText>,
    /// How imports name the changed files, in their order.
    pub modules: Vec<String>,
    /// The test modules of the old version: path and text.
    pub tests: Vec<(String, String)>,
    /// The test modules that the change adds or alters, with what they need: path and new text.
    pub brought: Vec<(String, String)>,
    /// Texts that no value may show: the folders that hold the two checkouts.
    pub hidden: Vec<String>,
    /// What pytest could not collect in the old version.
    pub not_collected: Vec<CollectionError>,
    /// What pytest could collect in the old version and not in the new one.
    pub broken: Vec<CollectionError>,
    /// Changed files that can decide what tests say.
    pub steering: Vec<Steering>,
}

/// The names of the techniques that can be left out, and what each does.
pub const TECHNIQUES: [(&str, &str); 1] =
    [("guidance", "let values and functions of the change, and coverage, lead the search")];

#[derive(Debug, Clone)]
pub struct AmplifyOptions {
    /// Rounds of the search. 0: only assertions are added.
    pub rounds: u32,
    /// How many tests that run the change are amplified.
    pub origins: usize,
    /// How many variants run in all.
    pub variants: usize,
    /// How many tests are given.
    pub tests: usize,
    /// How often each test is run on each side at the end.
    pub repeats: u32,
    pub seed: u64,
    /// Whether values of the change and coverage lead the search.
    pub guided: bool,
    /// The time after which the search begins no round.
    pub seconds: f64,
}

impl Default for AmplifyOptions {
    fn default() -> Self {
        Self { rounds: 3, origins: 10, variants: 3000, tests: 5, repeats: 5, seed: 0, guided: true, seconds: 300.0 }
    }
}

/// How far an amplification is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// pytest collects the tests of both versions.
    Collecting,
    Selecting {
        ran: usize,
        of: usize,
    },
    Searching {
        round: u32,
        variants: usize,
        found: usize,
    },
    /// Values for functions that no test runs are looked for.
    Comparing {
        file: usize,
        of: usize,
    },
}

/// A test that shows a difference with values that were injected, and that may become one of the project's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The changed file that has what it tests.
    pub path: String,
    /// The function or class that it tests.
    pub name: String,
    /// Whether its values are plain, without mocks: any test can give them.
    pub is_plain: bool,
    /// A whole module with one test function, which passes before the change.
    pub text: String,
}

/// How many variants run in one process.
const BATCH: usize = 24;
/// How many tests run in one process while tests are selected.
const CHUNK: usize = 48;
/// How many variants of a test the next round begins with.
const BEAM: usize = 4;
/// For each test of which variants are tried, how many are selected first.
const SELECTED: usize = 4;
/// How many tests that come with the change are run.
const BROUGHT: usize = 200;
/// How many forms of a test with an opened expectation are tried.
const OPENED: usize = 8;
/// How many of the repetitions run in a new process, with other hashes and addresses.
const ANEW: u32 = 2;
/// How many differences of one variant are looked at.
const MAX_SHOWN: usize = 6;
/// How many pairs of compared values are kept for a test.
const MAX_COMPARED: usize = 80;
/// How often a value may turn out to differ from run to run, or to make no test, before it is looked at no more.
const VAIN: u32 = 3;

/// A test that runs the change, in one of its cases.
struct Origin {
    /// Its position among those that run the change.
    number: usize,
    module: usize,
    subject: Subject,
    style: Style,
    id: String,
    suffix: String,
    seeds: Vec<Variant>,
    /// The test where an expectation is opened: an exception ends it.
    opened: Vec<Variant>,
    material: Material,
    seen: BTreeSet<Code>,
    lines: BTreeSet<(String, u32)>,
    /// Where the versions differ in what no assertion is about, with the inputs of the test: times, counters.
    states: BTreeSet<String>,
    /// Whether the test fails where observing it runs code of its objects.
    is_quiet: bool,
}

/// How near a variant came to showing something. Lower is nearer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// Objects differ where nobody may look.
    Differs,
    /// It runs lines of changed files that no variant before it ran.
    Covers,
    Neither,
}

/// A finished test.
struct KeptTest {
    test: AmplifiedTest,
    shown: Shown,
    runs: Runs,
}

/// The changed statements that a run executed: the version, and the positions of the file and of the statement in it.
type Runs = BTreeSet<(bool, usize, usize)>;

struct Flow<'a, 'b> {
    change: &'a Change,
    runners: &'a mut Runners<'b>,
    options: &'a AmplifyOptions,
    progress: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
    files: Vec<(ChangedText, ChangedFile)>,
    defined: Defined,
    modules: Vec<TestModule>,
    began: Instant,
    variants: usize,
    tests: Vec<KeptTest>,
    /// The tests as they are put into their modules, for each form.
    additions: PerSide<Vec<(usize, Addition)>>,
    /// Whether somebody wants what was found so far.
    stopped: bool,
    cut: bool,
    /// How often a difference did not show again or made no test, by module and expression.
    vain: BTreeMap<(usize, String), u32>,
    /// Differences in nothing but Python's words for an error, for when there are no others.
    spare: Vec<Spare>,
}

/// A difference that is kept only where there is no better one.
struct Spare {
    /// The position of its test among those that run the change.
    origin: usize,
    variant: Variant,
    shown: Shown,
    technique: Technique,
    runs: Runs,
}

/// Makes tests that pass before a change and fail after it. `witnesses` is asked where the tests show nothing, nor what
/// is one step from them.
pub fn amplify(
    change: &Change,
    mut runners: Runners<'_>,
    options: &AmplifyOptions,
    witnesses: &mut dyn FnMut(&Change) -> Vec<Witness>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Amplification, TestError> {
    let files: Vec<(ChangedText, ChangedFile)> =
        change.files.iter().filter_map(|text| Some((text.clone(), changed_file(text)?))).collect();
    let modules = change.tests.iter().map(|(path, text)| TestModule::new(path, text)).collect();
    let mut flow = Flow {
        change,
        runners: &mut runners,
        options,
        progress,
        files,
        defined: Defined::of(&change.files),
        modules,
        began: Instant::now(),
        variants: 0,
        tests: Vec::new(),
        additions: PerSide::default(),
        stopped: false,
        cut: false,
        vain: BTreeMap::new(),
        spare: Vec::new(),
    };
    flow.amplified(witnesses)
}

impl Flow<'_, '_> {
    fn amplified(&mut self, witnesses: &mut dyn FnMut(&Change) -> Vec<Witness>) -> Result<Amplification, TestError> {
        let mut result = Amplification {
            format: FORMAT,
            status: Status::NoCode,
            files: Vec::new(),
            selected: Vec::new(),
            detecting: Vec::new(),
            brought: Vec::new(),
            ran: 0,
            collected: self.runners.old.tests().len(),
            not_collected: self.change.not_collected.clone(),
            variants: 0,
            cut: false,
            steering: self.change.steering.clone(),
            sandbox: self.runners.old.sandbox().cloned(),
            tests: Vec::new(),
            patches: PerSide::default(),
        };
        if self.files.is_empty() {
            return Ok(result);
        }
        let origins = self.select(&mut result);
        let mut origins = self.unless_stopped(origins)?;
        let brought = self.brought();
        result.brought = self.unless_stopped(brought)?;
        let is_reached = !result.selected.is_empty() || self.cut;
        result.status = if is_reached { Status::NothingFound } else { Status::NotReached };
        match self.sought(&mut origins, is_reached, witnesses) {
            // What was found before is still right.
            Err(_) if !self.tests.is_empty() => self.cut = true,
            other => self.unless_stopped(other)?,
        }
        self.tests.sort_by_key(|kept| kept.shown.worth());
        result.variants = self.variants;
        result.cut = self.cut;
        result.patches = PerSide::of(|side| self.patch(side));
        result.tests = std::mem::take(&mut self.tests).into_iter().map(|kept| kept.test).collect();
        if !result.tests.is_empty() {
            result.status = Status::Found;
        }
        if result.is_shown() != Some(true) {
            let brought: Vec<&str> = self.change.brought.iter().map(|(path, _)| path.as_str()).collect();
            result.leave_out(&self.change.broken, &brought);
        }
        Ok(result)
    }

    /// Looks for differences in one way after the other, until one finds some.
    fn sought(
        &mut self,
        origins: &mut [Origin],
        is_reached: bool,
        witnesses: &mut dyn FnMut(&Change) -> Vec<Witness>,
    ) -> Result<(), TestError> {
        if !is_reached && !self.is_late() {
            let found = witnesses(self.change);
            self.inject(&found)?;
        }
        self.observe(origins)?;
        if self.tests.is_empty() {
            self.compare(origins)?;
            self.search(origins, witnesses)?;
        }
        self.keep_spare(origins)
    }

    /// Nothing, where somebody wants what was found so far.
    fn unless_stopped<T: Default>(&mut self, found: Result<T, TestError>) -> Result<T, TestError> {
        match found {
            Err(TestError::Stopped) => {
                (self.stopped, self.cut) = (true, true);
                Ok(T::default())
            }
            other => other,
        }
    }

    fn covered(&self) -> Vec<String> {
        self.files.iter().map(|(_, file)| file.path.clone()).collect()
    }

    fn tell(&mut self, progress: Progress) {
        self.stopped |= (self.progress)(progress).is_break();
    }

    /// Whether to end with what was found.
    fn is_late(&self) -> bool {
        self.stopped || self.began.elapsed().as_secs_f64() > self.options.seconds
    }

    /// Whether a technique ends here: what the tests show as they are is looked at in any case.
    fn ends(&self, technique: Technique) -> bool {
        self.stopped || self.is_late() && technique == Technique::Search
    }

    /// Runs the origins without their assertions. What they show as they are is the nearest that a person can be shown.
    fn observe(&mut self, origins: &mut [Origin]) -> Result<(), TestError> {
        for origin in origins.iter_mut() {
            let seeds: Vec<Variant> = origin.opened.iter().cloned().chain(std::mem::take(&mut origin.seeds)).collect();
            origin.seeds = self.round(origin, seeds.clone(), Technique::Assertions, 0)?;
            if origin.seeds.is_empty() && !self.is_enough() {
                origin.is_quiet = true;
                origin.seeds = self.round(origin, seeds, Technique::Assertions, 0)?;
            }
            if self.is_enough() {
                break;
            }
        }
        Ok(())
    }

    /// Notes what changed files compare while the origins run.
    fn compare(&mut self, origins: &mut [Origin]) -> Result<(), TestError> {
        let how = How { covered: self.covered(), operands: true, ..How::default() };
        for origin in origins.iter_mut() {
            if !self.options.guided || self.options.rounds == 0 || self.is_late() {
                break;
            }
            let trials: Vec<Trial> = (origin.seeds.iter().take(BEAM))
                .map(|seed| Trial { code: seed.code.clone(), imports: seed.imports.clone() })
                .collect();
            let mut compared: Vec<Compared> = Vec::new();
            for tried in self.run(origin, &trials, &how)? {
                for side in Side::BOTH {
                    let of_side = tried.records[side].operands.iter().map(|operands| Compared {
                        is_near: self.is_in_changed(side, &operands.file, operands.line),
                        relation: operands.relation,
                        left: operands.left.clone(),
                        right: operands.right.clone(),
                    });
                    for one in of_side {
                        if !compared.contains(&one) {
                            compared.push(one);
                        }
                    }
                }
            }
            compared.sort_by_key(|one| !one.is_near);
            compared.truncate(MAX_COMPARED);
            origin.material.compared = compared;
        }
        Ok(())
    }

    /// Whether a line of a version belongs to a function that changed.
    fn is_in_changed(&self, side: Side, path: &str, line: u32) -> bool {
        let functions = self.files.iter().filter(|(_, file)| file.path == path);
        let mut lines = functions.flat_map(|(_, file)| file.functions[side].values().map(|function| function.lines));
        lines.any(|lines| (lines.first..=lines.last).contains(&line))
    }

    /// Runs variants of the origins, round after round. What is one step from a test reads best, so that the calls of
    /// witnesses come behind the first round.
    fn search(
        &mut self,
        origins: &mut [Origin],
        witnesses: &mut dyn FnMut(&Change) -> Vec<Witness>,
    ) -> Result<(), TestError> {
        for round in 1..=self.options.rounds {
            let left = self.options.variants.saturating_sub(self.variants);
            let rounds = (self.options.rounds - round + 1) as usize;
            let share = (left / rounds / origins.len().max(1)).max(1);
            for origin in origins.iter_mut() {
                if self.is_late() {
                    self.cut = true;
                    return Ok(());
                }
                let seed = self.options.seed.wrapping_add(u64::from(round));
                let first = if round == 1 { origin.opened.as_slice() } else { &[] };
                let seeds = origin.seeds.iter().chain(first);
                let lists: Vec<Vec<Variant>> = seeds.map(|seed_of| variants(seed_of, &origin.material, seed)).collect();
                let mut chosen = Vec::new();
                let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
                for at in 0..longest {
                    for list in &lists {
                        if let Some(variant) = list.get(at)
                            && chosen.len() < share
                            && origin.seen.insert(variant.code.clone())
                        {
                            chosen.push(variant.clone());
                        }
                    }
                }
                let kept = self.round(origin, chosen, Technique::Search, round)?;
                if !kept.is_empty() {
                    origin.seeds = kept;
                }
                if self.is_enough() {
                    return Ok(());
                }
            }
            let is_wanted = round == 1 && self.options.guided && self.tests.is_empty() && !origins.is_empty();
            if is_wanted && !self.is_late() {
                let found = witnesses(self.change);
                self.call(origins, &found)?;
            }
            if !self.tests.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.tests.len() >= self.options.tests
    }

    /// Runs variants and keeps what they show. Gives those with which the next round begins. In round 0, the inputs are those
    /// of the origin.
    fn round(
        &mut self,
        origin: &mut Origin,
        chosen: Vec<Variant>,
        technique: Technique,
        round: u32,
    ) -> Result<Vec<Variant>, TestError> {
        let how = How { observe: true, quietly: origin.is_quiet, covered: self.covered(), ..How::default() };
        let mut kept: Vec<(Nearness, usize, Variant)> = Vec::new();
        for batch in chosen.chunks(BATCH) {
            self.tell(Progress::Searching { round, variants: self.variants, found: self.tests.len() });
            if self.ends(technique) {
                self.cut = true;
                break;
            }
            let trials: Vec<Trial> =
                batch.iter().map(|one| Trial { code: one.code.clone(), imports: one.imports.clone() }).collect();
            let tried = self.run(origin, &trials, &how)?;
            self.variants += trials.len();
            for (variant, tried) in batch.iter().zip(tried) {
                let shown = shown(&variant.code, &tried, &self.defined, &self.change.hidden, origin.style);
                let runs = self.runs(&tried);
                let trial = Trial { code: variant.code.clone(), imports: variant.imports.clone() };
                let mut tries = 0;
                for one in shown {
                    let vain = (origin.module, one.expression().to_owned());
                    let is_vain = self.vain.get(&vain).is_some_and(|times| *times >= VAIN);
                    if self.is_enough() || tries == MAX_SHOWN || self.is_known(&one, &runs) || is_vain {
                        continue;
                    }
                    tries += 1;
                    if one.worth() == Worth::Words {
                        let (variant, runs) = (variant.clone(), runs.clone());
                        let spare = Spare { origin: origin.number, variant, shown: one, technique, runs };
                        self.spare.push(spare);
                        continue;
                    }
                    // To repeat and to reduce takes a while.
                    self.tell(Progress::Searching { round, variants: self.variants, found: self.tests.len() });
                    if self.ends(technique) {
                        self.cut = true;
                        break;
                    }
                    match self.keep(origin, &trial, one, technique, variant, &runs)? {
                        // One variant is enough for one difference.
                        Fate::Kept => break,
                        Fate::Known => {}
                        Fate::Refuted | Fate::Unwritten => *self.vain.entry(vain).or_default() += 1,
                    }
                }
                if tried.records.old.outcome == Outcome::Passed {
                    note_classes(origin, &tried);
                    let lines: BTreeSet<(String, u32)> = tried
                        .records
                        .iter()
                        .flat_map(|record| &record.lines)
                        .flat_map(|(file, lines)| lines.iter().map(move |line| (file.clone(), *line)))
                        .collect();
                    let new = lines.difference(&origin.lines).count();
                    origin.lines.extend(lines);
                    let states = unlike(&tried.records.old.observations, &tried.records.new.observations);
                    let more = states.difference(&origin.states).count();
                    if round == 0 {
                        origin.states.extend(states);
                    }
                    let nearness = match () {
                        () if !self.options.guided => Nearness::Neither,
                        () if more > 0 => Nearness::Differs,
                        () if new > 0 => Nearness::Covers,
                        () => Nearness::Neither,
                    };
                    kept.push((nearness, kept.len(), variant.clone()));
                }
            }
            if self.is_enough() {
                break;
            }
        }
        kept.sort_by_key(|(nearness, at, _)| (*nearness, *at));
        let most = if technique == Technique::Assertions { usize::MAX } else { BEAM };
        Ok(kept.into_iter().take(most).map(|(_, _, variant)| variant).collect())
    }

    /// Which changed statements both versions executed.
    fn runs(&self, tried: &Tried) -> Runs {
        let mut runs = Runs::new();
        for side in Side::BOTH {
            for (number, (_, file)) in self.files.iter().enumerate() {
                let lines = tried.records[side].lines.get(&file.path);
                let lines: BTreeSet<u32> = lines.into_iter().flatten().copied().collect();
                let own = file.statements[side].iter().enumerate().filter(|(_, statement)| statement.holds(&lines));
                runs.extend(own.map(|(which, _)| (side == Side::New, number, which)));
            }
        }
        runs
    }

    fn run(&mut self, origin: &Origin, trials: &[Trial], how: &How) -> Result<Vec<Tried>, TestError> {
        run(self.runners, &self.modules[origin.module], &origin.subject, &origin.suffix, trials, how)
    }
}

/// Remembers of which classes the local variables of a test are.
fn note_classes(origin: &mut Origin, tried: &Tried) {
    for observation in &tried.records.old.observations {
        if let (Seen::Local(name), Observed::Object { class, .. }) = (&observation.seen, &observation.value) {
            origin.material.classes.insert(name.clone(), class.clone());
        }
    }
}
