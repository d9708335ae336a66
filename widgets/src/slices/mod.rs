//! Slices of a history: which commits a feature needs, and why. This file has the sentences, for terminals and as Markdown;
//! [`state`] has what the other views get.

mod html;
mod state;

use std::collections::BTreeSet;

use serde::Serialize;
use twincell_slice::refine::{FailedTest, Lacking, MissingName};
use twincell_slice::{
    Applied, BroughtLines, Ended, Failure, Goal, Goes, KnownBy, Outcome, Slice, SliceTarget, SliceUnit, Stays,
    Uncompared, UnitState,
};

use crate::export::prose;
use crate::{plain, words};

pub use html::{slice_fragment, slice_page};
pub use state::{
    SliceFailedTest, SliceNameNeed, SlicePoint, SliceProgress, SliceStage, SliceState, SliceStep, SliceUnitState,
    SliceWhy,
};

/// The maximum number of tests and of commits that a line names.
const NAMED: usize = 3;
/// The maximum number of paths of a command.
const TAKEN: usize = 20;
/// The maximum number of characters of a failure's message.
const MESSAGE: usize = 120;

/// A slice as plain text.
pub fn slice_text(slice: &Slice) -> String {
    let mut out = format!("{}\n", plain::sentence(&headline(slice)));
    for line in remarks(slice) {
        out += &format!("  {}\n", plain::sentence(&line));
    }
    let staying: Vec<_> = slice.units.iter().filter(|unit| stays_by_a_run(unit)).collect();
    if !staying.is_empty() {
        out += "\n";
    }
    for unit in staying {
        out += &format!("{}\n    {}\n", plain::sentence(&title(unit)), plain::sentence(&reason(slice, unit)));
    }
    for line in untried(slice).into_iter().chain(going(slice)) {
        out += &format!("\n{}\n", plain::sentence(&line));
    }
    out
}

/// Whether a unit stays and there is more to say of it than that the search ended before.
fn stays_by_a_run(unit: &SliceUnit) -> bool {
    matches!(&unit.state, UnitState::Stays(stays) if !matches!(stays, Stays::Unknown))
}

/// A unit of a slice with the reason why it stays or goes, in one line.
#[derive(Debug, Serialize)]
pub struct SliceRow<'a> {
    #[serde(flatten)]
    pub unit: &'a SliceUnit,
    pub stays: bool,
    pub reason: String,
}

/// The units of one commit of a slice.
#[derive(Debug, Serialize)]
pub struct SliceExplained<'a> {
    pub format: u32,
    pub range: &'a str,
    /// Oldest first: one, or the parts of the commit.
    pub units: Vec<SliceRow<'a>>,
}

/// All units of a slice, oldest first.
pub fn slice_rows(slice: &Slice) -> Vec<SliceRow<'_>> {
    slice.units.iter().map(|unit| row(slice, unit)).collect()
}

fn row<'a>(slice: &Slice, unit: &'a SliceUnit) -> SliceRow<'a> {
    SliceRow { unit, stays: unit.state.stays(), reason: plain::sentence(&reason(slice, unit)) }
}

/// The units of the commit whose hash begins so. An error says that the range has none, or several.
fn units_of<'a>(slice: &'a Slice, commit: &str, written: &str) -> Result<Vec<&'a SliceUnit>, String> {
    let is_it = |unit: &&SliceUnit| !commit.is_empty() && unit.commit.starts_with(commit);
    let units: Vec<&SliceUnit> = slice.units.iter().filter(is_it).collect();
    let Some(first) = units.first() else {
        let written = if written.is_empty() { "an empty text" } else { written };
        return Err(format!(
            "{written} is no commit of {} that changes something: give one of its commits",
            slice.range
        ));
    };
    match units.iter().find(|unit| unit.commit != first.commit) {
        Some(other) => Err(format!(
            "{written} is the beginning of several commits of {}, {} and {} among them: give more of its hash",
            slice.range,
            words::commit_name(&first.commit),
            words::commit_name(&other.commit)
        )),
        None => Ok(units),
    }
}

/// What is known of the commit whose hash begins so. `written` is what the user calls it.
///
/// # Errors
///
/// One line that says that the range has no such commit, or several.
pub fn slice_explanation(slice: &Slice, commit: &str, written: &str) -> Result<String, String> {
    let told = units_of(slice, commit, written)?.into_iter().map(|unit| {
        let mut lines = vec![title(unit), reason(slice, unit)];
        lines.extend((unit.score != 0).then(|| format!("its significance is {}", unit.score)));
        lines.iter().map(|line| plain::sentence(line)).collect::<Vec<_>>().join("\n    ") + "\n"
    });
    Ok(told.collect())
}

/// The same as data.
///
/// # Errors
///
/// As [`slice_explanation`].
pub fn slice_explained<'a>(slice: &'a Slice, commit: &str, written: &str) -> Result<SliceExplained<'a>, String> {
    let units = units_of(slice, commit, written)?.into_iter().map(|unit| row(slice, unit)).collect();
    Ok(SliceExplained { format: slice.format, range: &slice.range, units })
}

/// A slice as Markdown, for a pull request.
pub fn slice_markdown(slice: &Slice) -> String {
    let mut out = format!("### twincell: {}\n", prose(&headline(slice)));
    for line in remarks(slice) {
        out += &format!("\n- {}", prose(&line));
    }
    out += "\n\n| commit | subject | why it stays |\n| --- | --- | --- |\n";
    for unit in slice.units.iter().filter(|unit| stays_by_a_run(unit)) {
        let name = format!("{}{}", words::commit_name(&unit.commit), of_part(unit));
        out += &format!("| {} | {} | {} |\n", prose(&name), prose(&unit.subject), prose(&reason(slice, unit)));
    }
    for line in untried(slice).into_iter().chain(going(slice)) {
        out += &format!("\n{}\n", prose(&line));
    }
    out
}

fn headline(slice: &Slice) -> String {
    let what = words::count(slice.units.len(), unit_name(slice));
    let has_some = slice.units.iter().any(|unit| matches!(unit.state, UnitState::Goes(Goes::InTarget { .. })));
    let size = match (slice.size(), &slice.target, slice.goal) {
        (0, Some(target), _) if has_some => {
            format!("no other commit of {} is needed: the tests pass with those that {} has", slice.range, target.name)
        }
        (0, ..) => format!("no commit of {} is needed: the tests pass before all of them", slice.range),
        (size, Some(target), Goal::Pass) if has_some => {
            format!("{size} of {what} in {} keep the tests passing, with those that {} has", slice.range, target.name)
        }
        (size, _, Goal::Pass) => format!("{size} of {what} in {} keep the tests passing", slice.range),
        (size, _, Goal::Fail) => format!("{size} of {what} in {} make the tests fail", slice.range),
    };
    let ending = match slice.ended {
        Ended::Minimal => "",
        Ended::Budget => "; the budget of runs ended the search, so fewer may do",
        Ended::Deadline => "; the deadline ended the search, so fewer may do",
        Ended::Interrupted => "; the search was interrupted, so fewer may do",
    };
    format!("{size}{ending}")
}

/// Figures of a slice, as (name, value).
fn facts(slice: &Slice) -> Vec<(&'static str, String)> {
    let of = |count: usize| words::number(count);
    let mut facts = vec![
        ("Stay", format!("{} of {}", of(slice.size()), of(slice.units.len()))),
        ("Runs of the tests", of(slice.steps.len())),
    ];
    facts.extend((slice.spare > 0).then(|| ("Spare runs", of(slice.spare))));
    facts.extend((slice.predicted > 0).then(|| ("Predicted without a run", of(slice.predicted))));
    facts.extend((slice.comparisons > 0).then(|| ("Comparisons of functions", of(slice.comparisons))));
    facts.extend([
        ("Tests", of(slice.tests.deciding.len())),
        ("Time", words::duration(slice.seconds * 1000.0)),
        ("Scheme", slice.scheme.name().to_owned()),
    ]);
    facts
}

/// What else there is to say, a line each.
fn remarks(slice: &Slice) -> Vec<String> {
    let mut lines = promises(slice);
    lines.push(effort(slice));
    lines.extend(undecided(slice));
    lines
}

/// What is known of the slice.
fn promises(slice: &Slice) -> Vec<String> {
    let mut lines = Vec::new();
    if slice.is_minimal && slice.size() > 0 {
        let otherwise = match slice.goal {
            Goal::Pass => "the tests fail",
            Goal::Fail => "no test fails as at the end of the range",
        };
        lines.push(format!("without any single one of them, and what needs its text, {otherwise}"));
    }
    if !slice.tests.failures.is_empty() {
        let failures = failing(slice.tests.failures.len(), &slice.tests.failures);
        lines.push(format!("at the end of the range {failures}"));
    }
    let reproduced: Vec<&str> = slice.tests.reproduced.iter().map(String::as_str).collect();
    if !reproduced.is_empty() && reproduced.len() < slice.tests.failures.len() {
        let verb = if reproduced.len() == 1 { "fails" } else { "fail" };
        lines.push(format!("with these commits alone, only {} {verb} so", listed(&reproduced)));
    }
    lines.extend(brought(slice));
    if let Some(target) = &slice.target {
        lines.push(on_target(slice, target));
        lines.extend(tests_to_take(slice));
    }
    lines
}

/// Lines of what goes that come along.
fn brought(slice: &Slice) -> Option<String> {
    let BroughtLines { path, unit, by } = slice.brought.first()?;
    let names: Vec<&str> = by.iter().map(|unit| commit_of(slice, *unit)).collect();
    let of = commit_of(slice, *unit);
    let need = if by.len() == 1 { "needs" } else { "need" };
    let one = format!("of {of} in {path}, since {} {need} them there", listed(&names));
    if slice.brought.len() == 1 {
        return Some(format!("lines come along {one}"));
    }
    let files: BTreeSet<&str> = slice.brought.iter().map(|one| one.path.as_str()).collect();
    let units: BTreeSet<usize> = slice.brought.iter().map(|one| one.unit).collect();
    let go = if units.len() == 1 { "goes" } else { "go" };
    let (units, files) = (words::count(units.len(), unit_name(slice)), words::count(files.len(), "file"));
    Some(format!("lines of {units} that {go} come along in {files}: {one}"))
}

/// How to get the tests that decide to where the slice goes, if it does not bring all of them.
fn tests_to_take(slice: &Slice) -> Option<String> {
    let places = &slice.tests.differing;
    let end = words::commit_name(&slice.end);
    // To git, a colon begins a pattern.
    let quoted = |place: &String| {
        let plain = if place.starts_with(':') { format!("./{place}") } else { place.clone() };
        shlex::try_quote(&plain).ok().map(|quoted| quoted.into_owned())
    };
    let quoted: Option<Vec<String>> = places.iter().map(quoted).collect();
    match quoted {
        _ if places.is_empty() => None,
        Some(quoted) if quoted.len() <= TAKEN => {
            Some(format!("its tests are those of {end}: git checkout {end} -- {}", quoted.join(" ")))
        }
        _ => {
            let places: Vec<&str> = places.iter().map(String::as_str).collect();
            Some(format!("its tests are those of {end}: take {} from there", listed(&places)))
        }
    }
}

/// What to say of a branch that was made of a slice: its name, its last commit, and how to get the tests that decide.
pub fn slice_branch_text(slice: &Slice, name: &str, commits: &[String]) -> String {
    let on = slice.target.as_ref().map_or(&slice.base, |target| &target.commit);
    let (tip, count) = (commits.last().unwrap_or(on), words::count(commits.len(), "commit"));
    let made = format!("made the branch {name} with {count}, the last one is {tip}");
    // The result says it of a target.
    let tests = tests_to_take(slice).filter(|_| slice.target.is_none());
    [Some(made), tests].into_iter().flatten().map(|line| plain::sentence(&line) + "\n").collect()
}

/// What the search took.
fn effort(slice: &Slice) -> String {
    let tests = words::count(slice.tests.deciding.len(), "test");
    let spare = if slice.spare > 0 { format!(", and {} beside them", slice.spare) } else { String::new() };
    let predicted = match slice.predicted {
        0 => String::new(),
        count => format!("; {} lacked what the tests import and needed no run", words::count(count, "candidate")),
    };
    let compared = match slice.comparisons {
        0 => String::new(),
        count => format!("; {} of functions", words::count(count, "comparison")),
    };
    let runs = words::count(slice.steps.len(), "run");
    let time = words::duration(slice.seconds * 1000.0);
    format!("{runs} of {tests}{spare} in {time}{predicted}{compared}")
}

/// The tests and the comparisons that decided nothing.
fn undecided(slice: &Slice) -> Vec<String> {
    let mut lines: Vec<String> = slice.uncompared.iter().map(uncompared).collect();
    let flaky: Vec<&str> = slice.tests.flaky.iter().map(|test| test.test.as_str()).collect();
    if !flaky.is_empty() {
        lines.push(format!("{} flaky and decided nothing: {}", are(flaky.len()), listed(&flaky)));
    }
    // A node id without a name of a test is that of a file or a folder.
    let is_place = |test: &&FailedTest| test.outcome == Outcome::NotFound && !test.test.contains("::");
    let (places, failing): (Vec<&FailedTest>, Vec<&FailedTest>) = slice.tests.failing.iter().partition(is_place);
    for place in places {
        let reason = place.failure.as_ref().map(|failure| format!(" ({})", plain::value(&failure.message)));
        let name = plain::value(&place.test);
        lines.push(format!("{name} is left out, since pytest cannot collect it{}", reason.unwrap_or_default()));
    }
    let failing: Vec<&str> = failing.into_iter().map(|test| test.test.as_str()).collect();
    if !failing.is_empty() {
        let what = are(failing.len());
        let why = match slice.goal {
            Goal::Pass => "not passing at the end of the range",
            Goal::Fail => "not passing at the start of the range either",
        };
        lines.push(format!("{what} left out, {why}: {}", listed(&failing)));
    }
    lines
}

/// Comparisons of functions that could not run.
fn uncompared(uncompared: &Uncompared) -> String {
    let Uncompared { count, path, function, reason } = uncompared;
    let (path, function) = (plain::value(path), plain::value(function));
    match count {
        1 => format!("1 comparison of a function could not run, that of {function} in {path}: {reason}"),
        _ => format!("{count} comparisons of functions could not run, the first of {function} in {path}: {reason}"),
    }
}

/// What came of the slice on the branch that it is for.
fn on_target(slice: &Slice, target: &SliceTarget) -> String {
    let name = &target.name;
    let they = match slice.size() {
        0 => format!("{name} is as it was"),
        1 => format!("it applies to {name} without conflicts"),
        _ => format!("they apply to {name} without conflicts"),
    };
    match &target.applied {
        Applied::Conflicts { unit, files } => {
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            format!("{} does not apply to {name}: conflicts in {}", commit_of(slice, *unit), listed(&files))
        }
        Applied::Passes => format!("{they}, and the tests pass there"),
        Applied::Fails { count, first } => format!("{they}, but there {}", failing(*count, first)),
        Applied::Untested => format!("{they}; the tests did not run there"),
    }
}

fn commit_of(slice: &Slice, unit: usize) -> &str {
    slice.units.get(unit).map_or("", |unit| words::commit_name(&unit.commit))
}

fn are(count: usize) -> String {
    if count == 1 { "1 test is".to_owned() } else { format!("{count} tests are") }
}

fn listed(all: &[&str]) -> String {
    let more = all.len().saturating_sub(NAMED);
    let named = all[..all.len() - more].join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

fn title(unit: &SliceUnit) -> String {
    format!("{} {}{}", words::commit_name(&unit.commit), unit.subject, of_part(unit))
}

fn of_part(unit: &SliceUnit) -> String {
    part(unit).map(|part| format!(" ({part})")).unwrap_or_default()
}

/// The part of a commit that a unit is.
fn part(unit: &SliceUnit) -> Option<String> {
    let part = unit.part.as_ref()?;
    Some(match &part.entity {
        Some(entity) => format!("{}: {entity}", part.path),
        None => part.path.clone(),
    })
}

/// Why a unit stays or goes.
fn reason(slice: &Slice, unit: &SliceUnit) -> String {
    match &unit.state {
        UnitState::Stays(stays) if unit.is_cleanup => {
            format!("{}; the functions that it changes do the same before and after it", needed(slice, stays))
        }
        UnitState::Stays(stays) => needed(slice, stays),
        UnitState::Goes(goes) => format!("it goes: {}", needless(slice, goes)),
    }
}

fn needed(slice: &Slice, stays: &Stays) -> String {
    let without = |by: &[usize], then: String| {
        let names: Vec<&str> = by.iter().map(|unit| commit_of(slice, *unit)).collect();
        match by.len() {
            0 => format!("without it, {then}"),
            1 => format!("{} applies to its text; without them, {then}", listed(&names)),
            _ => format!("{} apply to its text; without them, {then}", listed(&names)),
        }
    };
    match stays {
        Stays::TestsFail { count, first } => without(&[], failing(*count, first)),
        Stays::TextNeeded { by, count, first } => without(by, failing(*count, first)),
        Stays::NotReproduced { by, count, first } => without(by, not_reproduced(*count, first)),
        Stays::NameNeeded { by, lacking } => without(by, lacks(lacking)),
        Stays::Unknown => "the search ended before it was tried".to_owned(),
    }
}

/// What an import of the tests fails at.
fn lacks(lacking: &Lacking) -> String {
    let path = plain::value(&lacking.path);
    let line = lacking.line;
    match &lacking.missing {
        MissingName::Text => format!("the tests import {path}, which is no Python then"),
        MissingName::Module(module) => {
            format!("there is no module {}, which line {line} of {path} imports", plain::value(module))
        }
        MissingName::Member { module, name } => {
            let (module, name) = (plain::value(module), plain::value(name));
            format!("{module} has no {name}, which line {line} of {path} uses")
        }
        MissingName::Name(name) => format!("nothing defines {}, which line {line} of {path} uses", plain::value(name)),
    }
}

fn needless(slice: &Slice, goes: &Goes) -> String {
    let (pass, as_well) = match slice.goal {
        Goal::Pass => ("the tests pass", ""),
        Goal::Fail => ("the tests fail", " as well"),
    };
    let name = |unit: &usize| commit_of(slice, *unit);
    match goes {
        Goes::NotRun { step } => {
            format!("no test runs what it changes, and {pass} without it{as_well} (run {})", step + 1)
        }
        Goes::TestsPass { step } | Goes::StillFails { step } => {
            format!("{pass} without it{as_well} (run {})", step + 1)
        }
        Goes::InTarget { commit, known_by } => {
            let (target, commit) = (target(slice), words::commit_name(commit));
            match known_by {
                KnownBy::Commit => format!("{target} has it"),
                KnownBy::Lines => format!("{target} has it as {commit}, which changes the same lines"),
                KnownBy::Message => format!("{target} has it as {commit}, as a message says"),
                KnownBy::Behavior => {
                    format!(
                        "{target} has it as {commit} in other words: the functions that it changes do the same there"
                    )
                }
            }
        }
        Goes::Reverts { unit, known_by, step } => {
            let by = reverted(*known_by);
            format!("it undoes {}{by}, and {pass} without both{as_well} (run {})", name(unit), step + 1)
        }
        Goes::Reverted { by: unit, known_by, step } => {
            let by = reverted(*known_by);
            format!("{} undoes it{by}, and {pass} without both{as_well} (run {})", name(unit), step + 1)
        }
        Goes::Cleanup { step } => {
            let same = "the functions that it changes do the same before and after it";
            format!("{same}, and {pass} without it{as_well} (run {})", step + 1)
        }
    }
}

/// How it is known that a unit undoes another one.
fn reverted(known_by: KnownBy) -> &'static str {
    match known_by {
        KnownBy::Commit | KnownBy::Lines => "",
        KnownBy::Message => " as its message says",
        KnownBy::Behavior => " in other words",
    }
}

/// What deciding tests do instead of failing as at the end of the range.
fn not_reproduced(count: usize, first: &[FailedTest]) -> String {
    let Some(one) = first.first() else { return "no test fails as at the end of the range".to_owned() };
    let more = more(count);
    let verb = match (one.outcome, count) {
        (Outcome::Passed, 1) => "passes",
        (Outcome::Passed, _) => "pass",
        (_, 1) => "fails otherwise",
        _ => "fail otherwise",
    };
    format!("{}{more} {verb}{}", one.test, why(one))
}

fn failing(count: usize, first: &[FailedTest]) -> String {
    let Some(one) = first.first() else { return "the tests fail".to_owned() };
    let verb = if count == 1 { "fails" } else { "fail" };
    format!("{}{} {verb}{}", one.test, more(count), why(one))
}

fn more(count: usize) -> String {
    match count.saturating_sub(1) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

/// The exception and the message of a failure.
fn why(test: &FailedTest) -> String {
    let Some(failure) = &test.failure else { return String::new() };
    let message = message(failure);
    // pytest's own line has the exception.
    match (failure.exception.is_empty() || test.outcome == Outcome::NotFound, message.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!(" ({message})"),
        (false, true) => format!(" ({})", failure.exception),
        (false, false) => format!(" ({}: {message})", failure.exception),
    }
}

/// The beginning of a failure's message.
fn message(failure: &Failure) -> String {
    failure.message.lines().next().unwrap_or_default().chars().take(MESSAGE).collect()
}

/// The units of a slice.
fn unit_name(slice: &Slice) -> &'static str {
    if slice.units.iter().any(|unit| unit.part.is_some()) { "change" } else { "commit" }
}

/// One line on the units that stay since the search ended before it came to them.
fn untried(slice: &Slice) -> Option<String> {
    let count = slice.units.iter().filter(|unit| matches!(unit.state, UnitState::Stays(Stays::Unknown))).count();
    (count > 0).then(|| untried_line(count, count < slice.size(), unit_name(slice)))
}

/// `has_others` says whether others stay for a reason.
fn untried_line(count: usize, has_others: bool, unit_name: &str) -> String {
    let what = words::count(count, &format!("{}{unit_name}", if has_others { "more " } else { "" }));
    let stay =
        if count == 1 { "stays: the search ended before it was" } else { "stay: the search ended before they were" };
    format!("{what} {stay} tried")
}

/// Why some units go, as one line says it of all of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gone {
    Needless,
    NotRun,
    InTarget,
    Undone,
    Cleanup,
}

impl Gone {
    const ALL: [Self; 5] = [Self::Needless, Self::NotRun, Self::InTarget, Self::Undone, Self::Cleanup];

    fn of(goes: &Goes) -> Self {
        match goes {
            Goes::TestsPass { .. } | Goes::StillFails { .. } => Self::Needless,
            Goes::NotRun { .. } => Self::NotRun,
            Goes::InTarget { .. } => Self::InTarget,
            Goes::Reverts { .. } | Goes::Reverted { .. } => Self::Undone,
            Goes::Cleanup { .. } => Self::Cleanup,
        }
    }

    /// What is said of so many where others go for other reasons.
    fn among_others(self, slice: &Slice, count: usize) -> String {
        let s = if count == 1 { "s" } else { "" };
        match (self, slice.goal) {
            (Self::Needless, Goal::Pass) => format!("{count} without which the tests pass"),
            (Self::Needless, Goal::Fail) => format!("{count} without which the tests fail as well"),
            (Self::NotRun, _) => format!("{count} that change{s} what no test runs"),
            (Self::InTarget, _) => format!("{count} that {} has", target(slice)),
            (Self::Undone, _) if count == 1 => "1 that undoes another".to_owned(),
            (Self::Undone, _) => format!("{count} that undo each other"),
            (Self::Cleanup, _) => format!("{count} that change{s} no behavior"),
        }
    }

    /// What is said of so many where no others go.
    fn alone(self, slice: &Slice, count: usize) -> String {
        let (they, s) = match (slice.size(), count) {
            (0, 1) => ("it".to_owned(), "s"),
            (0, _) => (format!("all {count}"), ""),
            (_, 1) => ("the other one".to_owned(), "s"),
            _ => (format!("the other {count}"), ""),
        };
        match (self, slice.goal) {
            (Self::Needless, Goal::Pass) => format!("the tests pass without {they}"),
            (Self::Needless, Goal::Fail) => format!("the tests fail without {they} as well"),
            (Self::NotRun, _) => format!("no test runs what {they} change{s}"),
            (Self::InTarget, _) => format!("{} has {they}", target(slice)),
            (Self::Undone, _) if count == 1 => format!("{they} undoes another"),
            (Self::Undone, _) => format!("{they} undo each other"),
            (Self::Cleanup, _) => format!("{they} change{s} no behavior"),
        }
    }
}

fn target(slice: &Slice) -> &str {
    slice.target.as_ref().map_or("the target", |target| &target.name)
}

/// One line on what goes.
fn going(slice: &Slice) -> Option<String> {
    let gone = slice.units.iter().filter_map(|unit| match &unit.state {
        UnitState::Goes(goes) => Some(Gone::of(goes)),
        UnitState::Stays(_) => None,
    });
    let gone: Vec<Gone> = gone.collect();
    let counted = Gone::ALL.map(|kind| (kind, gone.iter().filter(|one| **one == kind).count()));
    let kinds: Vec<(Gone, usize)> = counted.into_iter().filter(|(_, count)| *count > 0).collect();
    match kinds.as_slice() {
        [] => None,
        [(kind, count)] => Some(kind.alone(slice, *count)),
        [first @ .., (kind, count)] => {
            let first: Vec<String> = first.iter().map(|(kind, count)| kind.among_others(slice, *count)).collect();
            Some(format!("{} go: {}, and {}", gone.len(), first.join(", "), kind.among_others(slice, *count)))
        }
    }
}

#[cfg(test)]
mod tests {
    use twincell_slice::refine::{Rule, Scheme, Step};
    use twincell_slice::{FORMAT, Failure, FlakyTest, NotCompared, SliceTests};

    use super::*;

    pub(super) fn made() -> Slice {
        let failure = Failure {
            exception: "ImportError".into(),
            message: "cannot import | name".into(),
            file: String::new(),
            line: 0,
            test_line: None,
            assertion: false,
        };
        let failed = FailedTest { test: "tests/a.py::test_a".into(), outcome: Outcome::Failed, failure: Some(failure) };
        let unit = |commit: &str, subject: &str, state| SliceUnit {
            commit: commit.repeat(8),
            subject: subject.into(),
            part: None,
            paths: vec![],
            score: 0,
            is_cleanup: false,
            state,
        };
        let first = vec![failed];
        Slice {
            format: FORMAT,
            goal: Goal::Pass,
            range: "v1..v2".into(),
            base: "0".repeat(40),
            end: "9".repeat(40),
            scheme: Scheme::Combined,
            units: vec![
                unit(
                    "12345",
                    "Add a",
                    UnitState::Stays(Stays::TextNeeded { by: vec![2], count: 1, first: first.clone() }),
                ),
                unit("23456", "Docs", UnitState::Goes(Goes::NotRun { step: 1 })),
                unit("34567", "Use a", UnitState::Stays(Stays::TestsFail { count: 3, first })),
                unit("45678", "Other", UnitState::Goes(Goes::TestsPass { step: 2 })),
            ],
            tests: SliceTests {
                deciding: vec!["tests/a.py::test_a".into()],
                flaky: vec![FlakyTest { test: "tests/a.py::test_b".into(), outcomes: vec![] }],
                failing: vec![],
                failures: vec![],
                reproduced: vec![],
                differing: vec![],
            },
            brought: vec![],
            target: None,
            comparisons: 0,
            uncompared: None,
            steps: vec![Step { rule: Rule::Init, tried: 4, kept: 4, is_passed: true }; 5],
            spare: 0,
            predicted: 2,
            is_minimal: true,
            ended: Ended::Minimal,
            seconds: 25.0,
        }
    }

    #[test]
    fn a_slice_says_what_stays_and_why() {
        let expected = [
            "2 of 4 commits in v1..v2 keep the tests passing",
            "  without any single one of them, and what needs its text, the tests fail",
            "  5 runs of 1 test in 25.0 s; 2 candidates lacked what the tests import and needed no run",
            "  1 test is flaky and decided nothing: tests/a.py::test_b",
            "",
            "12345123 Add a",
            "    34567345 applies to its text; without them, tests/a.py::test_a fails (ImportError: cannot import | name)",
            "34567345 Use a",
            "    without it, tests/a.py::test_a and 2 more fail (ImportError: cannot import | name)",
            "",
            "2 go: 1 without which the tests pass, and 1 that changes what no test runs",
        ];
        assert_eq!(slice_text(&made()).lines().collect::<Vec<_>>(), expected);
        // What a project says ends no cell of a table.
        let markdown = slice_markdown(&made());
        let row = markdown.lines().find(|line| line.starts_with("| 12345123 | Add a |")).unwrap();
        assert_eq!(row.replace(r"\|", "").matches('|').count(), 4, "{markdown}");
        assert!(row.contains(r"without them, tests/a.py::test\_a fails"), "{row}");
        let ranged = slice_markdown(&Slice { range: "v1..[x](y)".into(), ..made() });
        assert!(ranged.starts_with(r"### twincell: 2 of 4 commits in v1..\[x\]\(y\) keep"), "{ranged}");
    }

    #[test]
    fn what_the_tests_import_is_named_where_it_is_missing() {
        let told = |by: &[usize], line, missing| {
            let lacking = Lacking { path: "tests/a.py".into(), line, missing };
            needed(&made(), &Stays::NameNeeded { by: by.to_vec(), lacking })
        };
        let member = MissingName::Member { module: "pkg.a".into(), name: "f".into() };
        assert_eq!(told(&[], 2, member), "without it, pkg.a has no f, which line 2 of tests/a.py uses");
        assert_eq!(
            told(&[2], 3, MissingName::Module("pkg.b".into())),
            "34567345 applies to its text; without them, there is no module pkg.b, which line 3 of tests/a.py imports"
        );
        let name = told(&[], 4, MissingName::Name("Base".into()));
        assert_eq!(name, "without it, nothing defines Base, which line 4 of tests/a.py uses");
        assert_eq!(told(&[], 0, MissingName::Text), "without it, the tests import tests/a.py, which is no Python then");
    }

    #[test]
    fn a_slice_for_a_branch_says_what_came_of_it() {
        let mut slice = made();
        slice.target = Some(SliceTarget { name: "stable".into(), commit: "5".repeat(40), applied: Applied::Passes });
        let commit = "6".repeat(40);
        slice.units[1].state = UnitState::Goes(Goes::InTarget { commit, known_by: KnownBy::Lines });
        slice.units[3].is_cleanup = true;
        slice.units[3].state = UnitState::Goes(Goes::Cleanup { step: 2 });
        let text = slice_text(&slice);
        assert!(text.contains("\n  they apply to stable without conflicts, and the tests pass there\n"), "{text}");
        assert!(text.ends_with("\n2 go: 1 that stable has, and 1 that changes no behavior\n"), "{text}");
        let told = slice_explanation(&slice, "2345", "2345").unwrap();
        assert!(told.ends_with("    it goes: stable has it as 66666666, which changes the same lines\n"), "{told}");
        let files = vec!["a.py".to_owned(), "b.py".to_owned()];
        slice.target.as_mut().unwrap().applied = Applied::Conflicts { unit: 2, files };
        assert!(slice_text(&slice).contains("\n  34567345 does not apply to stable: conflicts in a.py, b.py\n"));
    }

    #[test]
    fn lines_that_come_along_are_named() {
        let lines = |path: &str, unit, by: &[usize]| BroughtLines { path: path.into(), unit, by: by.to_vec() };
        let mut slice = Slice { brought: vec![lines("CHANGES", 1, &[0, 2])], ..made() };
        let line = "lines come along of 23456234 in CHANGES, since 12345123, 34567345 need them there";
        assert!(slice_text(&slice).contains(&format!("\n  {line}\n")), "{}", slice_text(&slice));
        slice.brought.push(lines("NEWS", 1, &[2]));
        let several = "lines of 1 commit that goes come along in 2 files: of 23456234 in CHANGES, since ";
        assert!(slice_text(&slice).contains(several), "{}", slice_text(&slice));
        slice.brought.push(lines("NEWS", 3, &[2]));
        assert!(slice_text(&slice).contains("lines of 2 commits that go come along in 2 files"));
    }

    #[test]
    fn comparisons_that_could_not_run_are_one_line() {
        let mut slice = made();
        let reason = NotCompared::Unreadable { commit: "v1".into(), reason: "it is not UTF-8".into() };
        slice.uncompared = Some(Uncompared { count: 2, path: "a.py".into(), function: "A.f".into(), reason });
        let line = "2 comparisons of functions could not run, the first of A.f in a.py: its file cannot be read at v1: it is not UTF-8";
        assert!(slice_text(&slice).contains(&format!("\n  {line}\n")), "{}", slice_text(&slice));
        assert_eq!(
            serde_json::json!(slice)["uncompared"],
            serde_json::json!({
                "count": 2, "path": "a.py", "function": "A.f",
                "reason": { "unreadable": { "commit": "v1", "reason": "it is not UTF-8" } },
            })
        );
    }

    #[test]
    fn what_was_not_tried_is_said_once() {
        let mut slice = Slice { ended: Ended::Budget, is_minimal: false, ..made() };
        slice.units[0].state = UnitState::Stays(Stays::Unknown);
        slice.units[1].state = UnitState::Stays(Stays::Unknown);
        assert_eq!(slice_text(&slice).matches("Add a").count(), 0);
        let line = "2 more commits stay: the search ended before they were tried";
        assert!(slice_text(&slice).contains(&format!("\n\n{line}\n")), "{}", slice_text(&slice));
        let markdown = slice_markdown(&slice);
        assert!(markdown.contains(&format!("|\n\n{line}\n")) && !markdown.contains("| Add a |"), "{markdown}");
        for unit in &mut slice.units[2..] {
            unit.state = UnitState::Goes(Goes::TestsPass { step: 1 });
        }
        assert_eq!(untried(&slice).as_deref(), Some("2 commits stay: the search ended before they were tried"));
        // Each one is among the rows of the data.
        assert_eq!(slice_rows(&slice).iter().filter(|row| row.stays).count(), 2);
    }

    #[test]
    fn one_reason_of_all_that_go_is_said_of_the_others() {
        let mut slice = made();
        let mut said = |goes: &[Option<Goes>]| {
            for (unit, goes) in slice.units.iter_mut().zip(goes) {
                unit.state = goes.clone().map_or(UnitState::Stays(Stays::Unknown), UnitState::Goes);
            }
            going(&slice)
        };
        let (passes, unrun) = (Some(Goes::TestsPass { step: 1 }), Some(Goes::NotRun { step: 1 }));
        let told = |text: &str| Some(text.to_owned());
        assert_eq!(said(&[None, None, None, None]), None);
        assert_eq!(said(&[None, None, None, passes.clone()]), told("the tests pass without the other one"));
        assert_eq!(said(&[None, passes.clone(), passes.clone(), None]), told("the tests pass without the other 2"));
        let all = [passes.clone(), passes.clone(), passes.clone(), passes.clone()];
        assert_eq!(said(&all), told("the tests pass without all 4"));
        assert_eq!(said(&[None, unrun.clone(), unrun.clone(), None]), told("no test runs what the other 2 change"));
        let both = told("3 go: 2 without which the tests pass, and 1 that changes what no test runs");
        assert_eq!(said(&[passes.clone(), None, passes, unrun]), both);
    }

    #[test]
    fn the_tests_of_the_end_are_taken_by_a_command() {
        let mut slice = made();
        slice.target = Some(SliceTarget { name: "stable".into(), commit: "5".repeat(40), applied: Applied::Passes });
        assert_eq!(tests_to_take(&slice), None);
        slice.tests.differing = vec![":odd/my tests".into(), "tests".into()];
        let line = "its tests are those of 99999999: git checkout 99999999 -- './:odd/my tests' tests";
        assert!(slice_text(&slice).contains(&format!("\n  {line}\n")), "{}", slice_text(&slice));
        assert!(slice_markdown(&slice).contains(&format!("\n- {line}\n")), "{}", slice_markdown(&slice));
        let made_of = |slice: &Slice, commits: &[String]| slice_branch_text(slice, "moved", commits);
        let (tip, base) = ("7".repeat(40), "0".repeat(40));
        let one = made_of(&slice, std::slice::from_ref(&tip));
        assert_eq!(one, format!("made the branch moved with 1 commit, the last one is {tip}\n"));
        slice.target = None;
        assert!(!slice_text(&slice).contains("git checkout"));
        let none = format!("made the branch moved with 0 commits, the last one is {base}\n{line}\n");
        assert_eq!(made_of(&slice, &[]), none);
        slice.tests.differing = (0..=TAKEN).map(|number| format!("test_{number}.py")).collect();
        let take = "its tests are those of 99999999: take test_0.py, test_1.py, test_2.py and 18 more from there";
        assert_eq!(tests_to_take(&slice).as_deref(), Some(take));
    }

    #[test]
    fn a_slice_that_makes_tests_fail_has_its_own_words() {
        let mut slice = Slice { goal: Goal::Fail, ..made() };
        let UnitState::Stays(Stays::TestsFail { first, .. }) = slice.units[2].state.clone() else { panic!() };
        slice.tests.failures =
            vec![first[0].clone(), FailedTest { test: "tests/b.py::test_b".into(), ..first[0].clone() }];
        slice.tests.reproduced = vec!["tests/a.py::test_a".into()];
        let passed = vec![FailedTest { outcome: Outcome::Passed, failure: None, ..first[0].clone() }];
        let stays = |by| UnitState::Stays(Stays::NotReproduced { by, count: 1, first: passed.clone() });
        slice.units[0].state = stays(vec![2]);
        slice.units[2].state = stays(vec![]);
        slice.units[3].state = UnitState::Goes(Goes::StillFails { step: 2 });
        let expected = [
            "2 of 4 commits in v1..v2 make the tests fail",
            "  without any single one of them, and what needs its text, no test fails as at the end of the range",
            "  at the end of the range tests/a.py::test_a and 1 more fail (ImportError: cannot import | name)",
            "  with these commits alone, only tests/a.py::test_a fails so",
            "  5 runs of 1 test in 25.0 s; 2 candidates lacked what the tests import and needed no run",
            "  1 test is flaky and decided nothing: tests/a.py::test_b",
            "",
            "12345123 Add a",
            "    34567345 applies to its text; without them, tests/a.py::test_a passes",
            "34567345 Use a",
            "    without it, tests/a.py::test_a passes",
            "",
            "2 go: 1 without which the tests fail as well, and 1 that changes what no test runs",
        ];
        assert_eq!(slice_text(&slice).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_commit_is_explained_by_the_beginning_of_its_hash() {
        let told = slice_explanation(&made(), "45678", "45678").unwrap();
        assert!(told.ends_with("    it goes: the tests pass without it (run 3)\n"), "{told}");
        assert_eq!(
            slice_explanation(&made(), "9", "HEAD~9").unwrap_err(),
            "HEAD~9 is no commit of v1..v2 that changes something: give one of its commits"
        );
        assert_eq!(
            slice_explanation(&made(), "", "").unwrap_err(),
            "an empty text is no commit of v1..v2 that changes something: give one of its commits"
        );
        let mut slice = made();
        slice.units[3].commit = "23".repeat(20);
        assert_eq!(
            slice_explanation(&slice, "23", "23").unwrap_err(),
            "23 is the beginning of several commits of v1..v2, 23456234 and 23232323 among them: give more of its hash"
        );
        // Parts of one commit are explained together.
        slice.units[3].commit = slice.units[1].commit.clone();
        let rows = slice_explained(&slice, "23", "23").unwrap().units;
        assert_eq!(rows.iter().map(|row| row.unit.subject.as_str()).collect::<Vec<_>>(), ["Docs", "Other"]);
        assert!(slice_rows(&made())[3].reason.starts_with("it goes: "));
    }
}
