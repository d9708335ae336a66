//! What becomes of a difference: it is repeated, reduced and written as a test, which must hold.

use std::collections::BTreeSet;

use twincell_syntax::{PerSide, Side};
use twincell_testing::{Outcome, TestError};

use super::{ANEW, BATCH, Flow, KeptTest, Origin, Runs, Spare};
use crate::body::{cleanups, names, removable, without};
use crate::cases::without_unused;
use crate::code::Code;
use crate::form::{form, is_same, shown};
use crate::observe::Difference;
use crate::operators::Variant;
use crate::result::{AmplifiedTest, Form, Shown, Technique};
use crate::run::{How, Trial, Tried};
use crate::subject::{Addition, Subject};
use crate::wording;

/// How many differences that tell little are tried.
const SPARE: usize = 3;

/// What became of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Kept,
    /// It did not show again.
    Refuted,
    /// No test could be written that holds.
    Unwritten,
    /// Its test is kept already.
    Known,
}

impl Flow<'_, '_> {
    /// Whether a kept test shows the same, or nearly: the same values without other changed statements, or the same question
    /// after the same ones.
    pub(super) fn is_known(&self, shown: &Shown, runs: &Runs) -> bool {
        self.tests.iter().any(|other| match (shown, &other.shown) {
            (Shown::Value(one), Shown::Value(of)) => {
                let is_same = unnumbered(&one.expression) == unnumbered(&of.expression);
                (one.values == of.values && runs.is_subset(&other.runs)) || (is_same && *runs == other.runs)
            }
            (Shown::Raises { raised: one, .. }, Shown::Raises { raised: of, .. }) => {
                let classes = [one, of].map(|raised| raised.as_ref().map(|one| one.as_ref().map(|one| &one.class)));
                classes[0] == classes[1] && *runs == other.runs
            }
            _ => false,
        })
    }

    /// Makes a test of a difference that tells little, if there is none that tells more.
    pub(super) fn keep_spare(&mut self, origins: &[Origin]) -> Result<(), TestError> {
        for Spare { origin, variant, shown, technique, runs } in std::mem::take(&mut self.spare).into_iter().take(SPARE)
        {
            let Some(origin) = origins.get(origin).filter(|_| self.tests.is_empty() && !self.stopped) else { break };
            let trial = Trial { code: variant.code.clone(), imports: variant.imports.clone() };
            self.keep(origin, &trial, shown, technique, &variant, &runs)?;
        }
        Ok(())
    }

    /// Repeats, reduces and writes a test for a difference, and runs it as a person would.
    pub(super) fn keep(
        &mut self,
        origin: &Origin,
        trial: &Trial,
        shown: Shown,
        technique: Technique,
        variant: &Variant,
        runs: &Runs,
    ) -> Result<Fate, TestError> {
        // Alone, and where hashes and addresses are others.
        for anew in [None, Some(1)] {
            if self.repeated(origin, trial, &shown, anew)?.is_none() {
                return Ok(Fate::Refuted);
            }
        }
        let (trial, mut shown) = renumbered(self.reduced(origin, trial, shown)?);
        let file = self.modules[origin.module].file.clone();
        let written = |shown: &Shown, side, exactly| {
            let form = form(&trial, shown, side, exactly)?;
            Some(without_own_imports(form, &file))
        };
        let mut forms = self.held(origin, PerSide::of(|side| written(&shown, side, false)))?;
        if matches!(&shown, Shown::Raises { raised, .. } if raised.iter().all(Option::is_some)) {
            // Who expects a class is content with those that are derived from it.
            let exact = PerSide::of(|side| if forms[side].is_none() { written(&shown, side, true) } else { None });
            let exact = self.held(origin, exact)?;
            forms = PerSide::of(|side| forms[side].clone().or_else(|| exact[side].clone()));
        }
        // What is returned may be another value in each run. Then nothing tells of it.
        let is_unsteady = without_unheld(&mut shown, &forms);
        let bare = PerSide::of(|side| if is_unsteady[side] { written(&shown, side, false) } else { None });
        let bare = self.held(origin, bare)?;
        forms = PerSide::of(|side| forms[side].clone().or_else(|| bare[side].clone()));
        // Fixtures may need parameters that the test itself does not read.
        let shorter = forms.as_ref().map(|form| {
            let form = form.as_ref()?;
            Some(Trial { code: without_unused(&form.code)?, imports: form.imports.clone() })
        });
        let shorter = self.held(origin, shorter)?;
        forms = PerSide::of(|side| shorter[side].clone().or_else(|| forms[side].clone()));
        let PerSide { old: Some(old), new } = forms else { return Ok(Fate::Unwritten) };
        if self.tests.iter().any(|kept| is_same_test(&kept.test.old, &origin.subject, &old.code)) {
            return Ok(Fate::Known);
        }
        let module = &self.modules[origin.module];
        let targets = self.changed_names();
        let names: Vec<String> = self.tests.iter().map(|kept| kept.test.old.name.clone()).collect();
        let (subject, id) = (&origin.subject, &origin.id);
        let test = wording::written(module, subject, id, &targets, &names, &shown, &trial, &old, new.as_ref());
        for (side, form) in [(Side::Old, Some(&old)), (Side::New, new.as_ref())] {
            let added = form.map(|form| wording::addition(module, subject, &test.old.name, form));
            self.additions[side].extend(added.map(|added| (origin.module, added)));
        }
        let test = AmplifiedTest { technique, steps: variant.steps.clone(), ..test };
        self.tests.push(KeptTest { test, shown, runs: runs.clone() });
        Ok(Fate::Kept)
    }

    /// The difference as it shows when the trial runs alone, if it does.
    fn repeated(
        &mut self,
        origin: &Origin,
        trial: &Trial,
        wanted: &Shown,
        anew: Option<u32>,
    ) -> Result<Option<Shown>, TestError> {
        let how = How { observe: true, quietly: origin.is_quiet, anew, ..How::default() };
        let tried = self.run(origin, std::slice::from_ref(trial), &how)?;
        let shown =
            tried.first().map(|tried| shown(&trial.code, tried, &self.defined, &self.change.hidden, origin.style));
        Ok(shown.into_iter().flatten().find(|one| is_same(one, wanted)))
    }

    /// Takes out statements without which the difference still shows. What cleans up for later tests stays.
    fn reduced(&mut self, origin: &Origin, trial: &Trial, shown_first: Shown) -> Result<(Trial, Shown), TestError> {
        let how = How { observe: true, quietly: origin.is_quiet, ..How::default() };
        let kept = cleanups(&trial.code);
        let mut all = removable(&trial.code);
        all.retain(|range| !kept.iter().any(|(_, last)| last.contains_range(*range)));
        let mut trials: Vec<Trial> = Vec::new();
        let mut taken: Vec<BTreeSet<(u32, u32)>> = Vec::new();
        for range in all.iter().take(BATCH * 2) {
            let one: BTreeSet<(u32, u32)> = [(range.start().to_u32(), range.end().to_u32())].into();
            if let Some(code) = without(&trial.code, &one) {
                trials.push(Trial { code, imports: trial.imports.clone() });
                taken.push(one);
            }
        }
        if trials.is_empty() {
            return Ok((trial.clone(), shown_first));
        }
        let tried = self.run(origin, &trials, &how)?;
        let (defined, hidden) = (&self.defined, &self.change.hidden);
        let shows = |code: &Code, tried: &Tried| {
            shown(code, tried, defined, hidden, origin.style).into_iter().find(|one| is_same(one, &shown_first))
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
            let code = without(&trial.code, &more);
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

    /// The forms that pass on their side and fail on the other one, each time: alone, and in processes as a person starts
    /// them.
    fn held(&mut self, origin: &Origin, forms: PerSide<Option<Trial>>) -> Result<PerSide<Option<Trial>>, TestError> {
        let mut held = forms;
        let repeats = self.options.repeats.max(1);
        for run in 0..repeats {
            if held.iter().all(Option::is_none) {
                break;
            }
            let anew = (run + ANEW >= repeats).then_some(run + 1);
            let how = How { all_cases: true, anew, ..How::default() };
            let left: Vec<(Side, Trial)> =
                Side::BOTH.iter().filter_map(|side| Some((*side, held[*side].clone()?))).collect();
            // To start a process takes longer than to run a test, so that one runs all.
            for some in left.chunks(if anew.is_some() { left.len().max(1) } else { 1 }) {
                let trials: Vec<Trial> = some.iter().map(|(_, trial)| trial.clone()).collect();
                let tried = self.run(origin, &trials, &how)?;
                for ((side, _), tried) in some.iter().zip(tried) {
                    let passes = tried.records[*side].outcome == Outcome::Passed;
                    if !passes || tried.records[side.other()].outcome != Outcome::Failed {
                        held[*side] = None;
                    }
                }
            }
        }
        Ok(held)
    }

    /// All tests of one form as a patch.
    pub(super) fn patch(&self, side: Side) -> String {
        let patches = self.modules.iter().enumerate().map(|(number, module)| {
            let own = self.additions[side].iter().filter(|(of, _)| *of == number);
            let own: Vec<Addition> = own.map(|(_, added)| added.clone()).collect();
            if own.is_empty() { String::new() } else { wording::patch(module, &module.with(&own)) }
        });
        patches.collect()
    }
}

/// Whether a form is the same test under whatever name, at the same place of the same file.
fn is_same_test(form: &Form, subject: &Subject, code: &Code) -> bool {
    form.id == subject.id(&form.name) && *code.renamed(&form.name).lines() == form.text
}

/// A module does not import from itself what it defines.
fn without_own_imports(mut trial: Trial, file: &str) -> Trial {
    let dotted = file.trim_end_matches(".py").replace('/', ".");
    let is_own = |module: &str| dotted == module || dotted.ends_with(&format!(".{module}"));
    trial.imports.retain(|import| {
        let module = import.strip_prefix("from ").and_then(|rest| rest.split_once(" import "));
        !module.is_some_and(|(module, _)| is_own(module))
    });
    trial
}

/// `result.x` for `result_2.x`.
fn unnumbered(expression: &str) -> String {
    let end = expression.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(expression.len());
    let (name, rest) = expression.split_at(end);
    match name.rsplit_once('_') {
        Some((base, number)) if !base.is_empty() && number.chars().all(|it| it.is_ascii_digit()) => {
            format!("{base}{rest}")
        }
        _ => expression.to_owned(),
    }
}

/// Takes what a version returns out of a difference, where the form that asserts it does not hold. Says where that is.
fn without_unheld(shown: &mut Shown, forms: &PerSide<Option<Trial>>) -> PerSide<bool> {
    let Shown::Raises { returned, .. } = shown else { return PerSide::default() };
    PerSide::of(|side| forms[side].is_none() && returned[side].take().is_some())
}

/// `result` for `result_2`, where what else had the name is gone.
fn renumbered((trial, shown): (Trial, Shown)) -> (Trial, Shown) {
    let Shown::Value(difference) = &shown else { return (trial, shown) };
    let expression = unnumbered(&difference.expression);
    let name =
        |expression: &str| expression.split(|it: char| !it.is_alphanumeric() && it != '_').next().map(str::to_owned);
    let (Some(before), Some(now)) = (name(&difference.expression), name(&expression)) else { return (trial, shown) };
    if difference.heard.is_some() || before == now || names(&trial.code).contains(&now) {
        return (trial, shown);
    }
    match trial.code.with_name(&before, &now) {
        Some(code) => (Trial { code, ..trial }, Shown::Value(Difference { expression, ..difference.clone() })),
        None => (trial, shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Raised, Worth};
    use crate::subject::TestModule;
    use twincell_testing::Observed;

    #[test]
    fn a_returned_value_that_does_not_hold_is_not_told() {
        let raised = Some(Raised { class: "KeyError".into(), message: String::new() });
        let value = || Some(Observed::Int("1".into()));
        let form = Trial { code: Code::new("def test():\n    a = f()\n"), imports: BTreeSet::new() };
        for (new, expected) in [(None, true), (Some(form.clone()), false)] {
            let mut shown = Shown::Raises {
                expression: "a = f()".into(),
                point: 0,
                raised: PerSide::new(raised.clone(), None),
                returned: PerSide::new(None, value()),
            };
            assert_eq!(without_unheld(&mut shown, &PerSide::new(None, new)), PerSide::new(false, expected));
            let Shown::Raises { returned, .. } = shown else { unreachable!() };
            assert_eq!(returned.new.is_none(), expected);
        }
    }

    #[test]
    fn numbers_of_names_go_where_nothing_else_has_the_name() {
        let difference = |expression: &str| Difference {
            point: 0,
            expression: expression.into(),
            values: PerSide::new(Observed::None, Observed::Bool(true)),
            depth: 0,
            heard: None,
        };
        for (code, expected) in [
            ("def t():\n    result_2 = f('result_2')\n    g(result_2)\n", "result.x"),
            ("def t():\n    result = f()\n    result_2 = f()\n", "result_2.x"),
        ] {
            let trial = Trial { code: Code::new(code), imports: BTreeSet::new() };
            let (trial, shown) = renumbered((trial, Shown::Value(difference("result_2.x"))));
            assert_eq!(shown.expression(), expected);
            if expected == "result.x" {
                assert_eq!(trial.code.lines(), "def t():\n    result = f('result_2')\n    g(result)\n");
            }
        }
    }

    #[test]
    fn a_test_is_the_same_under_another_name_and_in_no_other_class() {
        let form = Form {
            id: "t.py::test_fee_result".into(),
            name: "test_fee_result".into(),
            text: "def test_fee_result():\n    assert fee(2) == 4\n".into(),
            imports: vec![],
            patch: String::new(),
        };
        let module = TestModule::new("t.py", "def test_a(): pass\nclass TestB:\n    def test_b(self):\n        pass\n");
        let (function, method) = (&module.subjects[0], &module.subjects[1]);
        let code = Code::new("def test_a():\n    assert fee(2) == 4\n");
        assert!(is_same_test(&form, function, &code));
        assert!(!is_same_test(&form, method, &code));
        assert!(!is_same_test(&form, function, &Code::new("def test_a():\n    assert fee(3) == 4\n")));
    }

    #[test]
    fn what_python_says_of_values_that_do_not_fit_tells_little() {
        let shown = |old: Option<(&str, &str)>, new: Option<(&str, &str)>| {
            let raised = |one: (&str, &str)| Raised { class: one.0.into(), message: one.1.into() };
            let (raised, returned) = (PerSide::new(old.map(raised), new.map(raised)), PerSide::default());
            Shown::Raises { expression: "f()".into(), point: 0, raised, returned }
        };
        for (old, new, worth) in [
            (Some(("TypeError", "<")), Some(("TypeError", "<=")), Worth::Words),
            (Some(("ValueError", "a")), Some(("ValueError", "b")), Worth::Behavior),
            (None, Some(("AttributeError", "a")), Worth::Error),
            (None, Some(("shop.NoStock", "")), Worth::Behavior),
        ] {
            assert_eq!(shown(old, new).worth(), worth);
        }
    }
}
