//! The steps of an amplification: which tests run the change, what they show as they are, what their variants show.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Instant;

use twincell_project::{CollectionError, Outcome, Request, TestError, TestKind};
use twincell_syntax::{PerSide, Side};

use crate::body::removable;
use crate::cases::cases;
use crate::change::{ChangedFile, ChangedText, Constants, changed_file, constants};
use crate::form::{form, is_same, shown};
use crate::operators::{Material, Target, Variant, variants};
use crate::result::{Amplification, AmplifiedTest, FORMAT, Reach, Selected, Shown, Status, Technique};
use crate::run::{How, Runners, Trial, Tried, run};
use crate::strip::strip;
use crate::subject::{Addition, Subject, TestModule, literals_of};
use crate::wording;

/// A change of a project with both versions of its files.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// The changed Python files that are no tests.
    pub files: Vec<ChangedText>,
    /// How imports name the changed files, in their order.
    pub modules: Vec<String>,
    /// The test modules of the old version: path and text.
    pub tests: Vec<(String, String)>,
    /// Texts that no value may show: the folders that hold the two checkouts.
    pub hidden: Vec<String>,
    /// What pytest could not collect in the old version.
    pub not_collected: Vec<CollectionError>,
}

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
    Selecting { ran: usize, of: usize },
    Searching { round: u32, variants: usize, found: usize },
}

/// How many variants run in one process.
const BATCH: usize = 24;
/// How many tests run in one process while tests are selected.
const CHUNK: usize = 48;
/// How many variants of a test the next round begins with.
const BEAM: usize = 4;
/// For each test of which variants are tried, how many are selected first.
const SELECTED: usize = 4;
/// How many of the repetitions run in a new process, with other hashes and addresses.
const ANEW: u32 = 2;
/// How often a value may turn out to differ from run to run before it is looked at no more.
const REFUTED: u32 = 3;

/// A test that runs the change, in one of its cases.
struct Origin {
    module: usize,
    subject: Subject,
    id: String,
    suffix: String,
    seeds: Vec<Variant>,
    material: Material,
    seen: BTreeSet<crate::code::Code>,
    lines: BTreeSet<(String, u32)>,
}

struct Flow<'a, 'b> {
    change: &'a Change,
    runners: &'a mut Runners<'b>,
    options: &'a AmplifyOptions,
    progress: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
    files: Vec<(ChangedText, ChangedFile)>,
    modules: Vec<TestModule>,
    began: Instant,
    variants: usize,
    tests: Vec<(AmplifiedTest, Shown)>,
    /// The tests as they are put into their modules, for each form.
    additions: PerSide<Vec<(usize, Addition)>>,
    /// Whether somebody wants what was found so far.
    stopped: bool,
    cut: bool,
    /// How often a difference did not show again, by module and expression.
    refuted: BTreeMap<(usize, String), u32>,
}

/// Makes tests that pass before a change and fail after it.
pub fn amplify(
    change: &Change,
    mut runners: Runners<'_>,
    options: &AmplifyOptions,
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
        modules,
        began: Instant::now(),
        variants: 0,
        tests: Vec::new(),
        additions: PerSide::default(),
        stopped: false,
        cut: false,
        refuted: BTreeMap::new(),
    };
    flow.amplified()
}

impl Flow<'_, '_> {
    fn amplified(&mut self) -> Result<Amplification, TestError> {
        let mut result = Amplification {
            format: FORMAT,
            status: Status::NoCode,
            files: Vec::new(),
            selected: Vec::new(),
            detecting: Vec::new(),
            ran: 0,
            collected: self.runners.old.tests().len(),
            not_collected: self.change.not_collected.clone(),
            variants: 0,
            cut: false,
            sandbox: self.runners.old.sandbox().cloned(),
            tests: Vec::new(),
            patches: PerSide::default(),
        };
        if self.files.is_empty() {
            return Ok(result);
        }
        let mut origins = self.select(&mut result)?;
        result.status = if origins.is_empty() { Status::NotReached } else { Status::NothingFound };
        self.search(&mut origins)?;
        result.variants = self.variants;
        result.cut = self.cut;
        result.patches = PerSide::of(|side| self.patch(side));
        result.tests = std::mem::take(&mut self.tests).into_iter().map(|(test, _)| test).collect();
        if !result.tests.is_empty() {
            result.status = Status::Found;
        }
        Ok(result)
    }

    /// All tests of one form as a patch.
    fn patch(&self, side: Side) -> String {
        let patches = self.modules.iter().enumerate().map(|(number, module)| {
            let own = self.additions[side].iter().filter(|(of, _)| *of == number);
            let own: Vec<Addition> = own.map(|(_, added)| added.clone()).collect();
            if own.is_empty() { String::new() } else { wording::patch(&module.file, &module.text, &module.with(&own)) }
        });
        patches.collect()
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

    /// Names of changed functions and their classes.
    fn changed_names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (_, file) in &self.files {
            for function in Side::BOTH.iter().flat_map(|side| file.functions[*side].values()) {
                match (&function.class, function.name.as_str()) {
                    (Some(class), name) if name.starts_with("__") => names.insert(class.clone()),
                    (_, name) => names.insert(name.to_owned()),
                };
            }
        }
        names
    }

    /// How likely the tests of a module run the change, from its text alone. Lower is nearer.
    fn distance(&self, file: &str, names: &BTreeSet<String>) -> u32 {
        let Some((_, text)) = self.change.tests.iter().find(|(path, _)| path == file) else { return 9 };
        let stem = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".py");
        let nearest = self.change.modules.iter().map(|module| {
            let last = module.rsplit('.').next().unwrap_or(module);
            let is_of_it = stem.strip_prefix("test_").or(stem.strip_suffix("_test")).unwrap_or(stem) == last;
            match () {
                () if is_of_it => 0,
                () if text.contains(module.as_str()) => 1,
                () if names.iter().any(|name| has_word(text, name)) => 2,
                () if has_word(text, last) => 3,
                () => 4,
            }
        });
        nearest.min().unwrap_or(4)
    }

    /// Runs the project's tests, those first that seem near, until enough of them run changed statements.
    fn select(&mut self, result: &mut Amplification) -> Result<Vec<Origin>, TestError> {
        let names = self.changed_names();
        let on_new: BTreeSet<String> = self.runners.new.tests().iter().map(|test| test.id.clone()).collect();
        let mut tests: Vec<(u32, usize)> = Vec::new();
        let all = self.runners.old.tests().to_vec();
        let mut near = BTreeMap::new();
        for (at, test) in all.iter().enumerate() {
            if matches!(test.kind, TestKind::Function | TestKind::Unittest) {
                let distance = *near.entry(test.file.clone()).or_insert_with(|| self.distance(&test.file, &names));
                tests.push((distance, at));
            }
        }
        tests.sort_unstable();
        let mut reached = PerSide::<BTreeSet<(usize, usize)>>::default();
        let mut found: Vec<(Selected, usize, usize)> = Vec::new();
        let covered = self.covered();
        for chunk in tests.chunks(CHUNK) {
            // Tests that seem far run only where the near ones do not suffice.
            let is_far = chunk[0].0 > 2;
            let is_enough = found.len() >= self.options.origins * SELECTED || (is_far && !found.is_empty());
            self.cut |= self.is_late();
            if is_enough || self.cut {
                break;
            }
            let request = Request {
                tests: chunk.iter().map(|(_, at)| all[*at].id.clone()).collect(),
                coverage: true,
                covered: covered.clone(),
                ..Request::default()
            };
            let records = self.runners.both(&request)?;
            result.ran += chunk.len();
            self.tell(Progress::Selecting { ran: result.ran, of: tests.len() });
            for ((_, at), (old, new)) in chunk.iter().zip(records.old.into_iter().zip(records.new)) {
                let test = &all[*at];
                if old.outcome != Outcome::Passed {
                    continue;
                }
                let mut executed = 0;
                let mut total = 0;
                for (side, record) in [(Side::Old, &old), (Side::New, &new)] {
                    for (number, (_, file)) in self.files.iter().enumerate() {
                        let Some(lines) = record.lines.get(&file.path) else { continue };
                        let lines: BTreeSet<u32> = lines.iter().copied().collect();
                        total += lines.len();
                        for (which, statement) in file.statements[side].iter().enumerate() {
                            if statement.holds(&lines) {
                                executed += 1;
                                reached[side].insert((number, which));
                            }
                        }
                    }
                }
                let module = self.modules.iter().position(|module| module.file == test.file);
                let text = module.and_then(|at| self.modules[at].subject(&test.function)).map(|one| one.code.text());
                let direct = text.is_some_and(|text| names.iter().any(|name| has_word(text, name)));
                // A method that the change adds runs in no test, but there may be objects of its class.
                if executed == 0 && !self.enters(&old, &new) && !(direct && total > 0) {
                    continue;
                }
                if matches!(new.outcome, Outcome::Failed | Outcome::Error) && on_new.contains(&test.id) {
                    result.detecting.push(test.id.clone());
                }
                found.push((Selected { id: test.id.clone(), executed, direct }, total, *at));
            }
        }
        self.confirm(&mut result.detecting)?;
        // Tests that fail after the change as they are show most.
        found.sort_by_key(|(selected, total, at)| {
            let is_silent = !result.detecting.contains(&selected.id);
            (is_silent, selected.executed == 0, !selected.direct, *total, *at)
        });
        result.files = self
            .files
            .iter()
            .enumerate()
            .map(|(number, (_, file))| Reach {
                path: file.path.clone(),
                changed: file.statements.as_ref().map(Vec::len),
                executed: reached.as_ref().map(|all| all.iter().filter(|(of, _)| *of == number).count()),
                only_adds: file.only_adds(),
            })
            .collect();
        result.selected = found.iter().map(|(selected, ..)| selected.clone()).collect();
        let mut origins: Vec<Origin> = Vec::new();
        for (selected, _, at) in found {
            let test = &all[at];
            let Some(module) = self.modules.iter().position(|module| module.file == test.file) else { continue };
            let Some(subject) = self.modules[module].subject(&test.function).cloned() else { continue };
            let is_known = origins.iter().any(|other| other.module == module && other.subject == subject);
            if is_known || origins.len() >= self.options.origins {
                continue;
            }
            let suffix = selected.id.find('[').map_or(String::new(), |at| selected.id[at..].to_owned());
            let material = self.material(&self.modules[module]);
            let seeds = cases(&subject.code).into_iter().map(|code| {
                let code = strip(&code);
                Variant { code, imports: BTreeSet::new(), steps: vec![] }
            });
            let seeds = seeds.collect();
            origins.push(Origin {
                module,
                subject,
                id: selected.id,
                suffix,
                seeds,
                material,
                seen: BTreeSet::new(),
                lines: BTreeSet::new(),
            });
        }
        Ok(origins)
    }

    /// Keeps those tests that fail after the change in new processes, too, without the tests that ran before them.
    fn confirm(&mut self, detecting: &mut Vec<String>) -> Result<(), TestError> {
        if detecting.is_empty() {
            return Ok(());
        }
        let request = Request { tests: detecting.clone(), anew: Some(1), ..Request::default() };
        let records = self.runners.both(&request)?;
        let fails = |outcome| matches!(outcome, Outcome::Failed | Outcome::Error);
        let held =
            records.old.iter().zip(&records.new).map(|(old, new)| old.outcome == Outcome::Passed && fails(new.outcome));
        let mut held = held.collect::<Vec<_>>().into_iter();
        detecting.retain(|_| held.next().unwrap_or(false));
        Ok(())
    }

    /// Whether a test runs a function that changed, if not its changed lines.
    fn enters(&self, old: &twincell_project::TestRecord, new: &twincell_project::TestRecord) -> bool {
        [(Side::Old, old), (Side::New, new)].into_iter().any(|(side, record)| {
            self.files.iter().any(|(_, file)| {
                let lines: BTreeSet<u32> = record.lines.get(&file.path).into_iter().flatten().copied().collect();
                file.functions[side].values().any(|function| function.lines.holds(&lines))
            })
        })
    }

    fn material(&self, module: &TestModule) -> Material {
        let (literals, fixtures) = literals_of(&module.text);
        let texts = texts_of(module);
        if !self.options.guided {
            return Material { texts, ..Material::default() };
        }
        let mut targets: Vec<Target> = Vec::new();
        for ((text, file), module) in self.files.iter().zip(self.names_of_files()) {
            for side in [Side::New, Side::Old] {
                for (name, function) in &file.functions[side] {
                    let is_known = targets.iter().any(|one| one.function.name == function.name && one.module == module);
                    if !is_known && !name.contains("<locals>") {
                        let lines: Vec<&str> = text.texts[side].as_deref().unwrap_or("").lines().collect();
                        let touched = file.statements[side].iter();
                        let touched =
                            touched.filter(|one| function.lines.first <= one.first && one.last <= function.lines.last);
                        let mentions = touched.flat_map(|one| lines.get(one.first as usize - 1..one.last as usize));
                        let mentions = mentions.flatten().flat_map(|line| words(line)).map(str::to_owned).collect();
                        targets.push(Target { module: module.clone(), function: function.clone(), mentions });
                    }
                }
            }
            targets.extend(constructors(text, file, &module, &targets));
        }
        Material {
            constants: self.constants(),
            texts,
            literals: literals.into_iter().collect(),
            fixtures: fixtures.into_iter().collect(),
            targets,
            ..Material::default()
        }
    }

    fn names_of_files(&self) -> Vec<String> {
        let name = |file: &ChangedFile| {
            let at = self.change.files.iter().position(|text| text.path == file.path);
            at.and_then(|at| self.change.modules.get(at).cloned()).unwrap_or_default()
        };
        self.files.iter().map(|(_, file)| name(file)).collect()
    }

    fn constants(&self) -> Constants {
        constants(&self.files)
    }

    /// Runs the origins without their assertions, and then variants of them, round after round.
    fn search(&mut self, origins: &mut [Origin]) -> Result<(), TestError> {
        for origin in origins.iter_mut() {
            let seeds = std::mem::take(&mut origin.seeds);
            let kept = self.round(origin, seeds, 0)?;
            origin.seeds = kept;
            if self.is_enough() {
                return Ok(());
            }
        }
        if !self.tests.is_empty() && self.options.rounds > 0 {
            // What the tests show as they are is the nearest that a person can be shown.
            return Ok(());
        }
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
                let lists: Vec<Vec<Variant>> =
                    origin.seeds.iter().map(|seed_of| variants(seed_of, &origin.material, seed)).collect();
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
                let kept = self.round(origin, chosen, round)?;
                if !kept.is_empty() {
                    origin.seeds = kept;
                }
                if self.is_enough() {
                    return Ok(());
                }
            }
            if !self.tests.is_empty() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.tests.len() >= self.options.tests
    }

    /// Runs variants and keeps what they show. Gives those with which the next round begins. In round 0, the inputs are those
    /// of the origin.
    fn round(&mut self, origin: &mut Origin, chosen: Vec<Variant>, round: u32) -> Result<Vec<Variant>, TestError> {
        let technique = if round == 0 { Technique::Assertions } else { Technique::Search };
        let how = How { observe: true, covered: self.covered(), anew: None };
        let mut kept: Vec<(bool, usize, Variant)> = Vec::new();
        for batch in chosen.chunks(BATCH) {
            self.tell(Progress::Searching { round, variants: self.variants, found: self.tests.len() });
            if self.stopped || self.is_late() && technique == Technique::Search {
                self.cut = true;
                break;
            }
            let trials: Vec<Trial> =
                batch.iter().map(|one| Trial { code: one.code.clone(), imports: one.imports.clone() }).collect();
            let tried = self.run(origin, &trials, &how)?;
            self.variants += trials.len();
            for (variant, tried) in batch.iter().zip(tried) {
                let shown = shown(&variant.code, &tried, &self.change.hidden);
                let trial = Trial { code: variant.code.clone(), imports: variant.imports.clone() };
                for one in shown.into_iter().take(6) {
                    let refuted = (origin.module, one.expression().to_owned());
                    let is_refuted = self.refuted.get(&refuted).is_some_and(|times| *times >= REFUTED);
                    if self.is_enough() || self.is_known(&one) || is_refuted {
                        continue;
                    }
                    // To repeat and to reduce takes a while.
                    self.tell(Progress::Searching { round, variants: self.variants, found: self.tests.len() });
                    if self.stopped {
                        self.cut = true;
                        break;
                    }
                    // One variant is enough for one difference.
                    if self.keep(origin, &trial, one, technique, variant)? {
                        break;
                    }
                    *self.refuted.entry(refuted).or_default() += 1;
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
                    kept.push((new == 0 || !self.options.guided, kept.len(), variant.clone()));
                }
            }
            if self.is_enough() {
                break;
            }
        }
        kept.sort_by_key(|(is_plain, at, _)| (*is_plain, *at));
        let most = if technique == Technique::Assertions { usize::MAX } else { BEAM };
        Ok(kept.into_iter().take(most).map(|(_, _, variant)| variant).collect())
    }

    fn run(&mut self, origin: &Origin, trials: &[Trial], how: &How) -> Result<Vec<Tried>, TestError> {
        run(self.runners, &self.modules[origin.module], &origin.subject, &origin.suffix, trials, how)
    }

    /// Whether a kept test shows the same, or nearly.
    fn is_known(&self, shown: &Shown) -> bool {
        self.tests.iter().any(|(_, other)| match (shown, other) {
            (Shown::Value(one), Shown::Value(other)) => {
                one.values == other.values || one.expression == other.expression
            }
            (Shown::Raises { raised: one, .. }, Shown::Raises { raised: other, .. }) => {
                one.as_ref().map(|one| one.as_ref().map(|one| &one.class))
                    == other.as_ref().map(|one| one.as_ref().map(|one| &one.class))
            }
            _ => false,
        })
    }

    /// Repeats, reduces and writes a test for a difference, and runs it as a person would.
    fn keep(
        &mut self,
        origin: &Origin,
        trial: &Trial,
        shown: Shown,
        technique: Technique,
        variant: &Variant,
    ) -> Result<bool, TestError> {
        // Alone, and where hashes and addresses are others.
        for anew in [None, Some(1)] {
            if self.repeated(origin, trial, &shown, anew)?.is_none() {
                return Ok(false);
            }
        }
        let (trial, shown) = self.reduced(origin, trial, shown)?;
        let Some(old) = form(&trial, &shown, Side::Old) else { return Ok(false) };
        let new = form(&trial, &shown, Side::New);
        let forms: Vec<(Side, Trial)> = [(Side::Old, Some(old.clone())), (Side::New, new.clone())]
            .into_iter()
            .filter_map(|(side, form)| Some((side, form?)))
            .collect();
        let held = self.held(origin, &forms)?;
        if !held.contains(&Side::Old) {
            return Ok(false);
        }
        let new = new.filter(|_| held.contains(&Side::New));
        let module = &self.modules[origin.module];
        let targets = self.changed_names();
        let names: Vec<String> = self.tests.iter().map(|(test, _)| test.old.name.clone()).collect();
        let (subject, id) = (&origin.subject, &origin.id);
        let test = wording::written(module, subject, id, &targets, &names, &shown, &trial, &old, new.as_ref());
        for (side, form) in [(Side::Old, Some(&old)), (Side::New, new.as_ref())] {
            let added = form.map(|form| wording::addition(module, subject, &test.old.name, form));
            self.additions[side].extend(added.map(|added| (origin.module, added)));
        }
        let test = AmplifiedTest { technique, steps: variant.steps.clone(), ..test };
        self.tests.push((test, shown));
        Ok(true)
    }

    /// The difference as it shows when the trial runs alone, if it does.
    fn repeated(
        &mut self,
        origin: &Origin,
        trial: &Trial,
        wanted: &Shown,
        anew: Option<u32>,
    ) -> Result<Option<Shown>, TestError> {
        let how = How { observe: true, covered: vec![], anew };
        let tried = self.run(origin, std::slice::from_ref(trial), &how)?;
        let shown = tried.first().map(|tried| shown(&trial.code, tried, &self.change.hidden));
        Ok(shown.into_iter().flatten().find(|one| is_same(one, wanted)))
    }

    /// Takes out statements without which the difference still shows.
    fn reduced(&mut self, origin: &Origin, trial: &Trial, shown_first: Shown) -> Result<(Trial, Shown), TestError> {
        let how = How { observe: true, ..How::default() };
        let all = removable(&trial.code);
        let mut trials: Vec<Trial> = Vec::new();
        let mut taken: Vec<BTreeSet<(u32, u32)>> = Vec::new();
        for range in all.iter().take(BATCH * 2) {
            let one: BTreeSet<(u32, u32)> = [(range.start().to_u32(), range.end().to_u32())].into();
            if let Some(code) = crate::body::without(&trial.code, &one) {
                trials.push(Trial { code, imports: trial.imports.clone() });
                taken.push(one);
            }
        }
        if trials.is_empty() {
            return Ok((trial.clone(), shown_first));
        }
        let tried = self.run(origin, &trials, &how)?;
        let hidden = &self.change.hidden;
        let shows = |code: &crate::code::Code, tried: &Tried| {
            shown(code, tried, hidden).into_iter().find(|one| is_same(one, &shown_first))
        };
        let free: Vec<BTreeSet<(u32, u32)>> = (trials.iter().zip(&tried).zip(taken))
            .filter(|((trial, tried), _)| shows(&trial.code, tried).is_some())
            .map(|(_, taken)| taken)
            .collect();
        // All that can go alone at once, or half of it, and so on; then one after the other.
        let mut best = (trial.clone(), shown_first.clone());
        let mut gone: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut left = vec![free];
        while let Some(part) = left.pop() {
            if part.is_empty() {
                continue;
            }
            let more: BTreeSet<(u32, u32)> = gone.iter().copied().chain(part.iter().flatten().copied()).collect();
            let code = crate::body::without(&trial.code, &more);
            let smaller = code.map(|code| Trial { code, imports: trial.imports.clone() });
            if let Some(smaller) = smaller
                && let Some(still) = self.repeated(origin, &smaller, &shown_first, None)?
            {
                gone = more;
                best = (smaller, still);
            } else if part.len() > 1 {
                let (first, second) = part.split_at(part.len() / 2);
                left.push(first.to_vec());
                left.push(second.to_vec());
            }
        }
        Ok(best)
    }

    /// The sides whose form passes there and fails on the other side, each time: alone, and in processes as a person starts
    /// them.
    fn held(&mut self, origin: &Origin, forms: &[(Side, Trial)]) -> Result<BTreeSet<Side>, TestError> {
        let mut held: BTreeSet<Side> = forms.iter().map(|(side, _)| *side).collect();
        let repeats = self.options.repeats.max(1);
        for run in 0..repeats {
            let anew = (run + ANEW >= repeats).then_some(run + 1);
            let how = How { anew, ..How::default() };
            let left: Vec<&(Side, Trial)> = forms.iter().filter(|(side, _)| held.contains(side)).collect();
            // To start a process takes longer than to run a test, so that one runs all.
            for some in left.chunks(if anew.is_some() { left.len().max(1) } else { 1 }) {
                let trials: Vec<Trial> = some.iter().map(|(_, trial)| trial.clone()).collect();
                let tried = self.run(origin, &trials, &how)?;
                for ((side, _), tried) in some.iter().zip(tried) {
                    let passes = tried.records[*side].outcome == Outcome::Passed;
                    if !passes || tried.records[side.other()].outcome != Outcome::Failed {
                        held.remove(side);
                    }
                }
            }
            if !held.contains(&Side::Old) {
                break;
            }
        }
        Ok(held)
    }
}

/// Remembers of which classes the local variables of a test are.
fn note_classes(origin: &mut Origin, tried: &Tried) {
    for observation in &tried.records.old.observations {
        if let twincell_project::Observed::Object { class, .. } = &observation.value {
            origin.material.classes.insert(observation.name.clone(), class.clone());
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric() && it != '_').filter(|word| !word.is_empty())
}

fn has_word(text: &str, word: &str) -> bool {
    words(text).any(|one| one == word)
}

/// Short texts that a test module holds.
fn texts_of(module: &TestModule) -> Vec<String> {
    let whole =
        ChangedText { path: module.file.clone(), texts: PerSide::new(Some(String::new()), Some(module.text.clone())) };
    let file = changed_file(&whole).unwrap_or_default();
    let mut texts = constants(&[(whole, file)]).texts;
    texts.retain(|text| !text.is_empty() && text.len() < 80);
    texts.truncate(12);
    texts
}

/// The constructors of classes in which a method changed: their keywords decide what the method does.
fn constructors(text: &ChangedText, file: &ChangedFile, module: &str, known: &[Target]) -> Vec<Target> {
    let old = text.texts.old.as_deref().unwrap_or("");
    let whole = ChangedText { path: file.path.clone(), texts: PerSide::new(Some(String::new()), Some(old.to_owned())) };
    let all = changed_file(&whole).unwrap_or_default();
    let classes: BTreeSet<&String> = Side::BOTH
        .iter()
        .flat_map(|side| file.functions[*side].values())
        .filter_map(|one| one.class.as_ref())
        .collect();
    let touched: BTreeSet<String> = file
        .statements
        .old
        .iter()
        .flat_map(|one| {
            let lines = old.lines().skip(one.first as usize - 1).take((one.last - one.first + 1) as usize);
            lines.flat_map(words).map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    let inits = all
        .functions
        .new
        .into_values()
        .filter(|one| one.name == "__init__" && one.class.as_ref().is_some_and(|class| classes.contains(class)));
    let unknown = inits.filter(|one| {
        !known.iter().any(|other| other.function.name == "__init__" && other.function.class == one.class)
    });
    unknown
        .map(|mut function| {
            function.is_changed = false;
            Target { module: module.to_owned(), function, mentions: touched.clone() }
        })
        .collect()
}
