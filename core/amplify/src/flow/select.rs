//! Which of a project's tests run the change, and what of the change their variants are made of.

use std::collections::{BTreeMap, BTreeSet};

use twincell_syntax::{PerSide, Side};
use twincell_testing::{Outcome, Request, Test, TestError, TestKind, TestRecord};

use super::{BROUGHT, CHUNK, Flow, OPENED, Origin, Progress, SELECTED};
use crate::cases::cases;
use crate::change::{ChangedFile, ChangedText, Constants, Touchable, changed_file, constants};
use crate::channel::Style;
use crate::code::Code;
use crate::opened::opened;
use crate::operators::{Material, Target, Variant, donors, globals};
use crate::result::{Amplification, Reach, Selected};
use crate::strip::strip;
use crate::subject::{Subject, TestModule, literals_of};

impl Flow<'_, '_> {
    /// Names of changed functions and their classes.
    pub(super) fn changed_names(&self) -> BTreeSet<String> {
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
    pub(super) fn select(&mut self, result: &mut Amplification) -> Result<Vec<Origin>, TestError> {
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
        let mut found: Vec<(bool, Selected, usize, usize)> = Vec::new();
        let mut entered: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
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
                let is_broken = self.change.broken.iter().any(|error| is_below(&test.id, &error.id));
                if old.outcome != Outcome::Passed || is_broken {
                    continue;
                }
                let (mut executed, mut imported, mut total) = (0, 0, 0);
                for (side, record) in [(Side::Old, &old), (Side::New, &new)] {
                    for (number, (_, file)) in self.files.iter().enumerate() {
                        let Some(lines) = record.lines.get(&file.path) else { continue };
                        let lines: BTreeSet<u32> = lines.iter().copied().collect();
                        total += lines.len();
                        for (which, statement) in file.statements[side].iter().enumerate() {
                            // Who runs a line of a module has run what runs when it is imported.
                            let is_imported = !lines.is_empty() && file.runs_at_import(side, statement);
                            if statement.holds(&lines) {
                                executed += 1;
                            } else if is_imported {
                                imported += 1;
                            } else {
                                continue;
                            }
                            reached[side].insert((number, which));
                        }
                    }
                }
                let module = self.modules.iter().position(|module| module.file == test.file);
                let text = module.and_then(|at| self.modules[at].subject(&test.function)).map(|one| one.code.text());
                let direct = text.is_some_and(|text| names.iter().any(|name| has_word(text, name)));
                let detects = matches!(new.outcome, Outcome::Failed | Outcome::Error) && on_new.contains(&test.id);
                let own = self.entered(&old, &new);
                // A method that the change adds runs in no test, but there may be objects of its class.
                if executed + imported == 0 && own.is_empty() && !(direct && total > 0) && !detects {
                    continue;
                }
                result.detecting.extend(detects.then(|| test.id.clone()));
                let is_near = executed > 0 || !own.is_empty();
                entered.insert(*at, own);
                let selected = Selected { id: test.id.clone(), executed: executed + imported, direct };
                found.push((is_near, selected, total, *at));
            }
        }
        self.confirm(&mut result.detecting)?;
        // Tests that fail after the change as they are show most.
        found.sort_by_key(|(is_near, selected, total, at)| {
            let is_silent = !result.detecting.contains(&selected.id);
            (is_silent, !is_near, selected.executed == 0, !selected.direct, *total, *at)
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
                unread: None,
            })
            .collect();
        result.selected = found.iter().map(|(_, selected, ..)| selected.clone()).collect();
        let mut origins: Vec<Origin> = Vec::new();
        for (_, selected, _, at) in found {
            let test = &all[at];
            let Some(module) = self.modules.iter().position(|module| module.file == test.file) else { continue };
            let Some(subject) = self.modules[module].subject(&test.function).cloned() else { continue };
            let is_known = origins.iter().any(|other| other.module == module && other.subject == subject);
            if is_known || origins.len() >= self.options.origins {
                continue;
            }
            let suffix = selected.id.find('[').map_or(String::new(), |at| selected.id[at..].to_owned());
            let mut material = self.material(&self.modules[module], &subject);
            // A call of what other tests run belongs to these.
            material.elsewhere = entered.values().flatten().cloned().collect();
            material.elsewhere.retain(|name| entered.get(&at).is_none_or(|own| !own.contains(name)));
            let is_case = |other: &&Test| other.file == test.file && other.function == test.function;
            let cases = cases(&subject.code, all.iter().filter(is_case).count());
            let stripped = |code: &Code| Variant { code: strip(code), imports: BTreeSet::new(), steps: vec![] };
            origins.push(Origin {
                number: origins.len(),
                module,
                subject,
                style: if test.kind == TestKind::Unittest { Style::Blocks } else { Style::Fixtures },
                id: selected.id,
                suffix,
                seeds: cases.iter().map(stripped).collect(),
                opened: cases.iter().flat_map(opened).take(OPENED).map(|code| stripped(&code)).collect(),
                material,
                seen: BTreeSet::new(),
                lines: BTreeSet::new(),
                states: BTreeSet::new(),
                is_quiet: false,
            });
        }
        Ok(origins)
    }

    /// Tests that come with the change, and fail without it: in new processes, with the files of tests that it brings.
    pub(super) fn brought(&mut self) -> Result<Vec<String>, TestError> {
        let changed: BTreeMap<&str, BTreeSet<String>> = (self.change.brought.iter())
            .map(|(path, text)| {
                let old = self.modules.iter().find(|module| module.file == *path);
                let new = TestModule::new(path, text);
                let is_other = |one: &&Subject| {
                    old.and_then(|old| old.subject(&one.function())).map(|old| &old.code) != Some(&one.code)
                };
                (path.as_str(), new.subjects.iter().filter(is_other).map(Subject::function).collect())
            })
            .collect();
        let tests = self.runners.new.tests().iter();
        let tests =
            tests.filter(|test| changed.get(test.file.as_str()).is_some_and(|own| own.contains(&test.function)));
        let mut tests: Vec<String> = tests.map(|test| test.id.clone()).take(BROUGHT).collect();
        // One that fails now and then shows nothing.
        for seed in [1, 2] {
            if tests.is_empty() || self.is_late() {
                return Ok(vec![]);
            }
            let (files, of) = (self.change.brought.clone(), tests.clone());
            let request = Request { files, tests: of, anew: Some(seed), ..Request::default() };
            let records = self.runners.both(&request)?;
            // Without the change, there may not even be what its tests import.
            let fails = |outcome| matches!(outcome, Outcome::Failed | Outcome::Error | Outcome::NotFound);
            let both = tests.into_iter().zip(records.old.iter().zip(&records.new));
            let shows = both.filter(|(_, (old, new))| fails(old.outcome) && new.outcome == Outcome::Passed);
            tests = shows.map(|(test, _)| test).collect();
        }
        Ok(tests)
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

    /// The names of the changed functions that a test runs, if not their changed lines.
    fn entered(&self, old: &TestRecord, new: &TestRecord) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (side, record) in [(Side::Old, old), (Side::New, new)] {
            for (_, file) in &self.files {
                let lines: BTreeSet<u32> = record.lines.get(&file.path).into_iter().flatten().copied().collect();
                let own = file.functions[side].values().filter(|function| function.lines.holds(&lines));
                names.extend(own.map(|function| function.name.clone()));
            }
        }
        names
    }

    fn material(&self, module: &TestModule, subject: &Subject) -> Material {
        let (literals, fixtures) = literals_of(&module.text);
        let texts = texts_of(module);
        if !self.options.guided {
            return Material { texts, ..Material::default() };
        }
        let mut targets: Vec<Target> = Vec::new();
        for ((text, file), name) in self.files.iter().zip(self.names_of_files()) {
            // A test module that imports it cannot run in the other version.
            let is_one_sided = |function: &Touchable| {
                let name = function.class.as_deref().unwrap_or(&function.name);
                self.defined.is_one_sided(&file.path, name)
            };
            for side in [Side::New, Side::Old] {
                for (qualname, function) in &file.functions[side] {
                    let is_known = targets.iter().any(|one| one.function.name == function.name && one.module == name);
                    if !is_known && !is_one_sided(function) && !qualname.contains("<locals>") {
                        let lines: Vec<&str> = text.texts[side].as_deref().unwrap_or("").lines().collect();
                        let touched = file.statements[side].iter();
                        let touched =
                            touched.filter(|one| function.lines.first <= one.first && one.last <= function.lines.last);
                        let mentions = touched.flat_map(|one| lines.get(one.first as usize - 1..one.last as usize));
                        let mentions = mentions.flatten().flat_map(|line| words(line)).map(str::to_owned).collect();
                        targets.push(Target { module: name.clone(), function: function.clone(), mentions });
                    }
                }
            }
            let more = constructors(text, file, &name, &targets);
            targets.extend(more.into_iter().filter(|target| !is_one_sided(&target.function)));
        }
        Material {
            constants: self.constants(),
            texts,
            literals: literals.into_iter().collect(),
            fixtures: fixtures.into_iter().collect(),
            targets,
            donors: donors(module, subject),
            globals: globals(module),
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
}

/// Whether a test is in what a node of pytest holds. The root of the project holds all tests.
fn is_below(test: &str, node: &str) -> bool {
    let rest = test.strip_prefix(node);
    matches!(node, "" | ".") || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':']))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_holds_what_is_below_it() {
        for (node, expected) in [
            ("tests", true),
            ("tests/test_shop.py", true),
            ("tests/test_shop.py::TestCart", true),
            ("tests/test_shop.py::TestCart::test_a", true),
            ("", true),
            (".", true),
            ("tests/test_sh", false),
            ("tests/test_shop.py::TestC", false),
            ("tests/test_shop.py::TestCart::test_ab", false),
        ] {
            assert_eq!(is_below("tests/test_shop.py::TestCart::test_a", node), expected, "{node}");
        }
    }
}
