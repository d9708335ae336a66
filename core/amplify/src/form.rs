//! A finished test from a variant and the difference that it shows.

use std::collections::BTreeSet;

use ruff_python_ast::Stmt;
use ruff_text_size::Ranged;
use twincell_project::{Failure, Observed, Outcome};
use twincell_syntax::{PerSide, Side};

use crate::body::{Place, places, removable, suites, without};
use crate::code::{Code, Edit, definition};
use crate::heard::{self, Style};
use crate::observe::{Difference, assertion, differences, matching};
use crate::result::{Raised, Shown};
use crate::run::{Trial, Tried};

/// What two runs of a variant show, the best first.
pub fn shown(code: &Code, tried: &Tried, hidden: &[String], style: Style) -> Vec<Shown> {
    let runs = tried.records.as_ref().map(|record| run(record.outcome, record.failure.as_ref()));
    let (Some(old), Some(new)) = (&runs.old, &runs.new) else { return vec![] };
    let mut found = Vec::new();
    let raised = PerSide::new(old.clone(), new.clone());
    let is_told = raised.iter().flatten().all(|one| !hidden.iter().any(|hidden| one.message.contains(hidden)));
    let are_unlike = match (old, new) {
        (Some(old), Some(new)) => old.class != new.class || tidy(&old.message) != tidy(&new.message),
        (old, new) => old.is_some() != new.is_some(),
    };
    if are_unlike && is_told {
        let at = tried.raised_at.new.or(tried.raised_at.old);
        if let Some(place) = at.and_then(|at| place_at(code, at)) {
            found.push(Shown::Raises { expression: code.slice(place.range).to_owned(), raised });
        }
    }
    let seen = tried.records.as_ref().map(|record| record.observations.as_slice());
    let mut values = differences(seen.old, seen.new, hidden);
    if let (None, None) = (old, new) {
        values.extend(heard::differences(code, seen.old, seen.new, hidden, style));
        values.sort_by_key(|one| (one.depth, one.point));
    }
    found.extend(values.into_iter().map(Shown::Value));
    found
}

/// What ended a run: nothing, or an exception. `None` for a run that says nothing of the code.
fn run(outcome: Outcome, failure: Option<&Failure>) -> Option<Option<Raised>> {
    match (outcome, failure) {
        (Outcome::Passed, _) => Some(None),
        (Outcome::Failed, Some(failure)) => {
            let is_skip = failure.exception.starts_with("_pytest") || failure.exception.ends_with("Skipped");
            let raised = Raised { class: failure.exception.clone(), message: failure.message.clone() };
            (!is_skip).then_some(Some(raised))
        }
        _ => None,
    }
}

/// A message without what differs from run to run.
fn tidy(message: &str) -> &str {
    message.split(" at 0x").next().unwrap_or(message)
}

fn place_at(code: &Code, at: usize) -> Option<Place> {
    let holds = |place: &Place| place.range.start().to_usize() <= at && at < place.range.end().to_usize();
    places(code).into_iter().filter(holds).min_by_key(|place| place.range.len())
}

/// Whether two differences are the same, wherever their statements stand.
pub fn is_same(one: &Shown, other: &Shown) -> bool {
    match (one, other) {
        (Shown::Value(one), Shown::Value(other)) => one.expression == other.expression && one.values == other.values,
        (Shown::Raises { raised: one, .. }, Shown::Raises { raised: other, .. }) => one == other,
        _ => false,
    }
}

/// The test that passes on one side and fails on the other.
pub fn form(trial: &Trial, shown: &Shown, side: Side) -> Option<Trial> {
    let mut imports = trial.imports.clone();
    let code = match shown {
        Shown::Value(difference) => {
            let code = valued(&trial.code, difference, side, &mut imports)?;
            tidied(&code, &difference.expression)
        }
        Shown::Raises { expression, raised } => {
            let place = places(&trial.code).into_iter().find(|place| trial.code.slice(place.range) == expression)?;
            let code = cut_behind(&trial.code, &place)?;
            match &raised[side] {
                None => code,
                Some(raised) => expecting(&code, expression, raised, &mut imports)?,
            }
        }
    };
    Some(Trial { code, imports })
}

/// The code with an assertion behind the statement that a difference names.
fn valued(code: &Code, difference: &Difference, side: Side, imports: &mut BTreeSet<String>) -> Option<Code> {
    let place = places(code).into_iter().nth(difference.point as usize)?;
    let whole = cut_behind(code, &place)?;
    // What was cut stands behind the place, so its position is the same.
    let at = places(&whole).into_iter().find(|other| other.range.start() == place.range.start())?;
    if let Some(heard) = &difference.heard {
        return heard::expecting(&whole, &at, difference, heard, side, imports);
    }
    let (value, other) = (&difference.values[side], &difference.values[side.other()]);
    let mut expression = difference.expression.clone();
    let mut lines = Vec::new();
    if expression.len() > 100 && matches!(value, Observed::Raised { .. }) {
        expression.truncate(100);
        return None;
    }
    lines.extend(assertion(&expression, value, other)?);
    if let Observed::Raised { class, .. } = value {
        imports.extend(import_of(class)?);
    }
    if lines.iter().any(|line| line.contains("pytest.")) {
        imports.insert("import pytest".to_owned());
    }
    let text: String = lines.iter().map(|line| format!("{}{line}\n", place.indent)).collect();
    whole.edited(vec![Edit::insert(at.behind, text)])
}

/// The code with a statement in a `with` block, behind `first` lines of it, and lines behind the block.
pub fn within(code: &Code, place: &Place, context: &str, first: &[String], behind: &[String]) -> Option<Code> {
    let statement = code.slice(place.range);
    if statement.contains("'''") || statement.contains("\"\"\"") {
        return None;
    }
    let inner = statement.replace('\n', "\n    ");
    let first: String = first.iter().map(|line| format!("{line}\n{}    ", place.indent)).collect();
    let block = format!("with {context}:\n{}    {first}{inner}", place.indent);
    let lines: String = behind.iter().map(|line| format!("{}{line}\n", place.indent)).collect();
    code.edited(vec![Edit::replace(place.range, block), Edit::insert(place.behind, lines)])
}

/// The code without the statements that begin behind a place.
fn cut_behind(code: &Code, place: &Place) -> Option<Code> {
    let later = removable(code).into_iter().filter(|range| range.start() >= place.range.end());
    let later: BTreeSet<(u32, u32)> = later.map(|range| (range.start().to_u32(), range.end().to_u32())).collect();
    without(code, &later)
}

/// A statement within `pytest.raises`.
fn expecting(code: &Code, statement: &str, raised: &Raised, imports: &mut BTreeSet<String>) -> Option<Code> {
    if statement.contains("'''") || statement.contains("\"\"\"") {
        return None;
    }
    let place = places(code).into_iter().find(|place| code.slice(place.range) == statement)?;
    imports.extend(import_of(&raised.class)?);
    imports.insert("import pytest".to_owned());
    let class = raised.class.rsplit('.').next().unwrap_or(&raised.class);
    let inner = unbound(statement).unwrap_or_else(|| statement.to_owned()).replace('\n', "\n    ");
    let text = format!("with pytest.raises({class}{}):\n{}    {inner}", matching(&raised.message), place.indent);
    code.edited(vec![Edit::replace(place.range, text)])
}

/// The import that an exception's class needs. `None` if its name does not say where it is.
#[allow(clippy::option_option)]
pub fn import_of(class: &str) -> Option<Option<String>> {
    match class.rsplit_once('.') {
        None => Some(None),
        Some((module, name)) => {
            let is_module = !module.contains('<') && !module.rsplit('.').next()?.starts_with(char::is_uppercase);
            is_module.then(|| Some(format!("from {module} import {name}")))
        }
    }
}

/// `f(x)` of `result = f(x)`.
fn unbound(statement: &str) -> Option<String> {
    let (name, value) = statement.split_once(" = ")?;
    let is_ours = name.starts_with("result") && name.chars().all(|it| it.is_alphanumeric() || it == '_');
    is_ours.then(|| value.to_owned())
}

/// The code without names that nothing uses: `result = f(x)` is `f(x)` again.
fn tidied(code: &Code, expression: &str) -> Code {
    let parsed = code.parse();
    let Some(function) = definition(&parsed) else { return code.clone() };
    let mut edits = Vec::new();
    suites(&function.body, &mut |suite| {
        for stmt in suite {
            if let Stmt::Assign(assign) = stmt
                && let [target] = assign.targets.as_slice()
                && let Some(name) = target.as_name_expr()
                && assign.value.is_call_expr()
                && name.id.starts_with("result")
                && !words(expression).any(|word| word == name.id.as_str())
                && words(code.text()).filter(|word| *word == name.id.as_str()).count() == 1
            {
                edits.push(Edit::replace(assign.range(), code.slice(assign.value.as_ref())));
            }
        }
    });
    code.edited(edits).unwrap_or_else(|| code.clone())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric() && it != '_')
}
