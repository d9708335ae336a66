//! Slices of a history: which commits a feature needs, and why. This file has the sentences, for terminals and as Markdown;
//! [`state`] has what the other views get.

mod html;
mod state;

use twincell_slice::refine::FailedTest;
use twincell_slice::{Ended, Failure, Goes, Slice, SliceUnit, Stays, UnitState};

use crate::{plain, words};

pub use html::{slice_fragment, slice_page};
pub use state::{
    SliceFailedTest, SliceNameNeed, SlicePoint, SliceProgress, SliceStage, SliceState, SliceStep, SliceUnitState,
    SliceWhy,
};

/// The maximum number of tests and of commits that a line names.
const NAMED: usize = 3;
/// The maximum number of characters of a failure's message.
const MESSAGE: usize = 120;

/// A slice as plain text.
pub fn slice_text(slice: &Slice) -> String {
    let mut out = format!("{}\n", plain::sentence(&headline(slice)));
    for line in remarks(slice) {
        out += &format!("  {}\n", plain::sentence(&line));
    }
    let staying: Vec<_> = slice.units.iter().filter(|unit| unit.state.stays()).collect();
    if !staying.is_empty() {
        out += "\n";
    }
    for unit in staying {
        out += &format!("{}\n    {}\n", plain::sentence(&title(unit)), plain::sentence(&reason(slice, unit)));
    }
    let going = going(slice);
    if !going.is_empty() {
        out += &format!("\n{}\n", plain::sentence(&going));
    }
    out
}

/// What is known of the commits whose hash begins so. `None` if the range has none.
pub fn slice_explanation(slice: &Slice, commit: &str) -> Option<String> {
    let units = slice.units.iter().filter(|unit| unit.commit.starts_with(commit));
    let told: Vec<String> = units
        .map(|unit| {
            let mut lines = vec![title(unit), reason(slice, unit)];
            lines.extend((unit.score != 0).then(|| format!("its significance is {}", unit.score)));
            lines.iter().map(|line| plain::sentence(line)).collect::<Vec<_>>().join("\n    ") + "\n"
        })
        .collect();
    (!told.is_empty()).then(|| told.concat())
}

/// A slice as Markdown, for a pull request.
pub fn slice_markdown(slice: &Slice) -> String {
    let mut out = format!("### twincell: {}\n", cell(&headline(slice)));
    for line in remarks(slice) {
        out += &format!("\n- {}", cell(&line));
    }
    out += "\n\n| commit | subject | why it stays |\n| --- | --- | --- |\n";
    for unit in slice.units.iter().filter(|unit| unit.state.stays()) {
        let name = format!("{}{}", words::commit_name(&unit.commit), of_part(unit));
        out += &format!("| {} | {} | {} |\n", cell(&name), cell(&unit.subject), cell(&reason(slice, unit)));
    }
    let going = going(slice);
    if !going.is_empty() {
        out += &format!("\n{}\n", plain::value(&going));
    }
    out
}

/// A text of the project in a table: it ends no cell and becomes no link, image, or mention.
fn cell(text: &str) -> String {
    let escaped = |it: char| match it {
        '|' | '`' | '<' | '>' | '[' | ']' | '!' | '*' | '_' | '\\' | '@' | '#' | '&' => format!("&#{};", it as u32),
        it => it.to_string(),
    };
    plain::value(text).chars().map(escaped).collect()
}

fn headline(slice: &Slice) -> String {
    let is_split = slice.units.iter().any(|unit| unit.part.is_some());
    let what = words::count(slice.units.len(), if is_split { "change" } else { "commit" });
    let size = match slice.size() {
        0 => format!("no commit of {} is needed: the tests pass before all of them", slice.range),
        size => format!("{size} of {what} in {} keep the tests passing", slice.range),
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
    facts.extend([
        ("Tests", of(slice.tests.deciding.len())),
        ("Time", words::duration(slice.seconds * 1000.0)),
        ("Scheme", slice.scheme.name().to_owned()),
    ]);
    facts
}

fn remarks(slice: &Slice) -> Vec<String> {
    let mut lines = Vec::new();
    if slice.is_minimal && slice.size() > 0 {
        lines.push("without any single one of them, and what needs its text, the tests fail".to_owned());
    }
    let tests = words::count(slice.tests.deciding.len(), "test");
    let spare = if slice.spare > 0 { format!(", and {} beside them", slice.spare) } else { String::new() };
    let predicted = match slice.predicted {
        0 => String::new(),
        count => format!("; {} lacked a name and needed no run", words::count(count, "candidate")),
    };
    let runs = words::count(slice.steps.len(), "run");
    lines.push(format!("{runs} of {tests}{spare} in {}{predicted}", words::duration(slice.seconds * 1000.0)));
    let flaky: Vec<&str> = slice.tests.flaky.iter().map(|test| test.test.as_str()).collect();
    if !flaky.is_empty() {
        lines.push(format!("{} flaky and decided nothing: {}", are(flaky.len()), listed(&flaky)));
    }
    let failing: Vec<&str> = slice.tests.failing.iter().map(|test| test.test.as_str()).collect();
    if !failing.is_empty() {
        let what = are(failing.len());
        lines.push(format!("{what} left out, not passing at the end of the range: {}", listed(&failing)));
    }
    lines
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
    let name = |place: &usize| slice.units.get(*place).map_or("", |unit| words::commit_name(&unit.commit));
    match &unit.state {
        UnitState::Stays(Stays::TestsFail { count, first }) => format!("without it, {}", failing(*count, first)),
        UnitState::Stays(Stays::TextNeeded { by, count, first }) => {
            let names: Vec<&str> = by.iter().map(name).collect();
            let verb = if by.len() == 1 { "applies" } else { "apply" };
            format!("{} {verb} to its text; without them, {}", listed(&names), failing(*count, first))
        }
        UnitState::Stays(Stays::NameNeeded { by }) => format!("{} uses a name that only it provides", name(by)),
        UnitState::Stays(Stays::Unknown) => "the search ended before it was tried".to_owned(),
        UnitState::Goes(Goes::NotRun { step }) => {
            format!("it goes: no test runs what it changes, and the tests pass without it (run {})", step + 1)
        }
        UnitState::Goes(Goes::TestsPass { step }) => format!("it goes: the tests pass without it (run {})", step + 1),
    }
}

fn failing(count: usize, first: &[FailedTest]) -> String {
    let Some(one) = first.first() else { return "the tests fail".to_owned() };
    let more = match count - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let verb = if count == 1 { "fails" } else { "fail" };
    format!("{}{more} {verb}{}", one.test, failed(one))
}

/// How a test failed, in brackets.
fn failed(test: &FailedTest) -> String {
    let Some(failure) = &test.failure else { return String::new() };
    let message = message(failure);
    match (failure.exception.is_empty(), message.is_empty()) {
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

/// One line on what goes.
fn going(slice: &Slice) -> String {
    let gone = |wanted: fn(&Goes) -> bool| {
        slice.units.iter().filter(|unit| matches!(&unit.state, UnitState::Goes(goes) if wanted(goes))).count()
    };
    let not_run = gone(|goes| matches!(goes, Goes::NotRun { .. }));
    let tried = gone(|goes| matches!(goes, Goes::TestsPass { .. }));
    let mut parts = Vec::new();
    if tried > 0 {
        parts.push(format!("{tried} without which the tests pass"));
    }
    if not_run > 0 {
        parts.push(format!("{not_run} that change what no test runs"));
    }
    match parts.is_empty() {
        true => String::new(),
        false => format!("{} go: {}", not_run + tried, parts.join(", and ")),
    }
}

#[cfg(test)]
mod tests {
    use twincell_slice::refine::{Rule, Scheme, Step};
    use twincell_slice::{FORMAT, Failure, FlakyTest, Outcome, SliceTests};

    use super::*;

    fn made() -> Slice {
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
            state,
        };
        let first = vec![failed];
        Slice {
            format: FORMAT,
            range: "v1..v2".into(),
            base: "0".repeat(40),
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
            },
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
            "  5 runs of 1 test in 25.0 s; 2 candidates lacked a name and needed no run",
            "  1 test is flaky and decided nothing: tests/a.py::test_b",
            "",
            "12345123 Add a",
            "    34567345 applies to its text; without them, tests/a.py::test_a fails (ImportError: cannot import | name)",
            "34567345 Use a",
            "    without it, tests/a.py::test_a and 2 more fail (ImportError: cannot import | name)",
            "",
            "2 go: 1 without which the tests pass, and 1 that change what no test runs",
        ];
        assert_eq!(slice_text(&made()).lines().collect::<Vec<_>>(), expected);
        // What a project says ends no cell of a table.
        let markdown = slice_markdown(&made());
        let row = markdown.lines().find(|line| line.starts_with("| 12345123 | Add a |")).unwrap();
        assert_eq!(row.matches('|').count(), 4, "{markdown}");
        let ranged = slice_markdown(&Slice { range: "v1..[x](y)".into(), ..made() });
        assert!(ranged.starts_with("### twincell: 2 of 4 commits in v1..&#91;x&#93;(y) keep"), "{ranged}");
    }

    #[test]
    fn a_commit_is_explained_by_the_beginning_of_its_hash() {
        let told = slice_explanation(&made(), "45678").unwrap();
        assert!(told.ends_with("    it goes: the tests pass without it (run 3)\n"), "{told}");
        assert!(slice_explanation(&made(), "9").is_none());
    }
}
