//! Amplified tests for terminals, as Markdown and as JUnit XML, and what every view of them says.

mod html;
pub(crate) mod state;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use twincell_amplify::{Amplification, AmplifiedTest, Network, Status, SteeringKind, SuiteReport, Technique};

use self::Part::{Quoted, Words};
use crate::export::notice_case;
use crate::notices::{Notices, notice_sentence, title};
use crate::{plain, words};

pub use html::{amplification_fragment, amplification_page};
pub use state::{AmplificationState, amplification_state};

/// The maximum number of files that are listed because pytest could not collect them.
const NOT_COLLECTED: usize = 3;
/// The maximum number of tests of the project that are listed because they fail in one version.
const DETECTING: usize = 10;

/// A part of a line.
pub(crate) enum Part {
    Words(String),
    /// What the project says: names of its files and tests, messages of its code.
    Quoted(String),
}

impl Part {
    pub(crate) fn words(text: &str) -> Self {
        Words(text.to_owned())
    }

    fn quoted(text: &str) -> Self {
        Quoted(text.to_owned())
    }

    pub(crate) fn text(&self) -> &str {
        let (Words(text) | Quoted(text)) = self;
        text
    }
}

/// A line as plain text.
pub(crate) fn joined(line: &[Part]) -> String {
    line.iter().map(Part::text).collect()
}

/// One line on what was found.
pub(crate) fn headline(found: &Amplification) -> String {
    match found.status {
        Status::NoCode if found.has_unread() => "no Python code changed that can be read".to_owned(),
        Status::NoCode => "no Python code changed".to_owned(),
        Status::NotReached | Status::NothingFound if found.is_shown() == Some(true) => {
            let count = found.detecting.len() + found.brought.len();
            format!("{} the change; no other was found", of_project(count, "shows", "show"))
        }
        Status::NotReached => {
            format!("no test runs the change; {} ran", words::count(found.ran, "test"))
        }
        Status::NothingFound => format!(
            "no test shows the change: {} it, and {} showed no difference",
            if found.selected.len() == 1 {
                "1 test runs".to_owned()
            } else {
                format!("{} tests run", found.selected.len())
            },
            words::count(found.variants, "variant")
        ),
        Status::Found if found.tests.iter().all(|test| test.technique == Technique::Injected) => {
            format!("no test runs the change; with injected values, {} it", shows(found.tests.len()))
        }
        Status::Found => {
            let new = match found.tests.len() {
                1 => "1 new test does".to_owned(),
                count => format!("{count} new tests do"),
            };
            match found.detecting.len() + found.brought.len() {
                0 => format!("no test of the project shows the change; {new}"),
                count => format!("{} the change; {new}, too", of_project(count, "shows", "show")),
            }
        }
    }
}

/// `1 test of the project shows`.
fn of_project(count: usize, one: &str, several: &str) -> String {
    if count == 1 { format!("1 test of the project {one}") } else { format!("{count} tests of the project {several}") }
}

fn shows(count: usize) -> String {
    if count == 1 { "1 test shows".to_owned() } else { format!("{count} tests show") }
}

/// What the tests reach of the change, and which of the project's own tests show it already.
pub(crate) fn reach(found: &Amplification) -> Vec<Vec<Part>> {
    let mut lines = Vec::new();
    for file in &found.files {
        if let Some(reason) = &file.unread {
            lines.push(vec![Part::quoted(&file.path), Words(format!(" changed and is left out: {reason}"))]);
            continue;
        }
        let (changed, executed) = (file.changed.old + file.changed.new, file.executed.old + file.executed.new);
        let only = if file.only_adds { "; the change only adds code here" } else { "" };
        let of = words::count(changed, "changed statement");
        lines.push(vec![Part::quoted(&file.path), Words(format!(": tests run {executed} of {of}{only}"))]);
    }
    lines.extend(steering(found));
    if !found.detecting.is_empty() {
        let what = of_project(found.detecting.len(), "fails after the change", "fail after the change");
        lines.push(listed(&what, &found.detecting));
    }
    if !found.brought.is_empty() {
        let what = match found.brought.len() {
            1 => "1 test that comes with the change fails without it".to_owned(),
            count => format!("{count} tests that come with the change fail without it"),
        };
        lines.push(listed(&what, &found.brought));
    }
    for error in found.not_collected.iter().take(NOT_COLLECTED) {
        lines.push(vec![
            Part::words("pytest cannot collect "),
            Part::quoted(&error.id),
            Part::words(": "),
            Part::quoted(&error.message),
        ]);
    }
    if let more @ 1.. = found.not_collected.len().saturating_sub(NOT_COLLECTED) {
        lines.push(vec![Words(format!("nor {} more", words::count(more, "file")))]);
    }
    if found.cut {
        lines.push(vec![Part::words("the search ended before it was done, by --deadline or since it was stopped")]);
    }
    lines.extend(found.sandbox.iter().flat_map(unrestricted).map(|line| vec![Words(line)]));
    lines
}

/// A line for each changed file that can decide what tests say.
fn steering(found: &Amplification) -> impl Iterator<Item = Vec<Part>> + '_ {
    found.steering.iter().map(|file| {
        let what = match file.kind {
            SteeringKind::Conftest | SteeringKind::Plugin => " changed and has a part in how tests run",
            SteeringKind::Settings => " changed settings of pytest",
            SteeringKind::Start => " changed and runs when Python starts",
        };
        vec![Part::quoted(&file.path), Words(format!("{what}: it can make any test pass or fail"))]
    })
}

/// A line with tests of the project.
fn listed(what: &str, tests: &[String]) -> Vec<Part> {
    let mut line = vec![Words(format!("{what}: "))];
    for (at, test) in tests.iter().take(DETECTING).enumerate() {
        line.extend((at > 0).then(|| Part::words(", ")));
        line.push(Part::quoted(test));
    }
    if let more @ 1.. = tests.len().saturating_sub(DETECTING) {
        line.push(Words(format!(" and {more} more")));
    }
    line
}

/// What tests could do that they usually cannot, or the other way round.
fn unrestricted(report: &SuiteReport) -> Vec<String> {
    let network = (report.network == Network::Open).then(|| "tests could reach the network".to_owned());
    let lacks = report.lacks.iter().map(|lack| format!("tests ran with {lack}"));
    network.into_iter().chain(lacks).collect()
}

/// For terminals.
pub fn amplification_text(found: &Amplification, notices: Notices<'_>) -> String {
    let mut out = format!("# {}\n", headline(found));
    for notice in notices.ordered() {
        out += &format!("# {}\n", plain::sentence(&notice_sentence(notice)));
    }
    for line in reach(found) {
        out += &format!("# {}\n", plain::sentence(&joined(&line)));
    }
    for test in &found.tests {
        out += &format!("\n# {}\n# {}\n", plain::value(&test.sentence), plain::value(&joined(&source(test))));
        out += &plain::file(text_of(test));
        out += "\n";
    }
    out
}

/// How a test was made.
pub(crate) fn by(technique: Technique) -> &'static str {
    match technique {
        Technique::Assertions => "assertions on its own inputs",
        Technique::Search => "other inputs",
        Technique::Injected => "injected values",
    }
}

/// What a test was made from.
fn source(test: &AmplifiedTest) -> Vec<Part> {
    match test.technique {
        Technique::Assertions | Technique::Search if test.new.is_none() => {
            vec![Part::words("fails after the change; from "), Part::quoted(&test.origin)]
        }
        Technique::Assertions | Technique::Search => vec![Part::words("from "), Part::quoted(&test.origin)],
        Technique::Injected => vec![Part::words("injected: no test of the project gives these values")],
    }
}

/// The form that passes after the change, where there is one.
fn text_of(test: &AmplifiedTest) -> &str {
    test.new.as_ref().map_or(&test.old.text, |form| &form.text)
}

/// For a pull request.
pub fn amplification_markdown(found: &Amplification, notices: Notices<'_>) -> String {
    let mut out = format!("### twincell: {}\n", headline(found));
    for notice in notices.ordered() {
        out += &format!("\n- {}: {}", title(notice), code_span(&notice_sentence(notice)));
    }
    for line in reach(found) {
        out += &format!("\n- {}", as_markdown(&line));
    }
    out += "\n";
    for test in &found.tests {
        out += &format!("\n{} ({})\n\n", code_span(&test.sentence), as_markdown(&source(test)));
        // A fence is longer than any in the text.
        out += &format!("````python\n{}\n````\n", plain::file(text_of(test)).replace("````", "'''"));
    }
    out
}

pub(crate) fn as_markdown(line: &[Part]) -> String {
    let part = |part: &Part| match part {
        Words(text) => plain::value(text),
        Quoted(text) => code_span(text),
    };
    line.iter().map(part).collect()
}

/// A text that becomes nothing else in a comment: no link, no image, and nobody is mentioned.
fn code_span(text: &str) -> String {
    let text = plain::value(text);
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    // Markdown takes away a blank on both sides. Without any text there would be no span.
    let is_padded = text.is_empty() || text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let pad = if is_padded { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// As JUnit's XML: a case for each test that the change fails, those of the project first.
pub fn amplification_junit(found: &Amplification, notices: Notices<'_>) -> String {
    let case = |file: &str, name: &str, message: &str, text: &str| {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type("behavior changed").set_message(message).set_description(text);
        let mut case = TestCase::new(plain::value(name), status);
        case.set_classname(plain::value(file));
        case
    };
    let own = found.detecting.iter().map(|id| {
        let (file, name) = id.split_once("::").unwrap_or(("", id));
        case(file, name, "fails after the change", "")
    });
    let made = found
        .tests
        .iter()
        .map(|test| case(&test.file, &test.old.name, &plain::value(&test.sentence), &plain::file(text_of(test))));
    let mut suite = TestSuite::new("twincell amplify");
    let noticed = notices.ordered().into_iter().map(|notice| notice_case(notice, notices.allows_changes));
    suite.add_test_cases(noticed.chain(own).chain(made));
    let lines: Vec<String> = reach(found).iter().map(|line| plain::sentence(&joined(line))).collect();
    if !lines.is_empty() {
        suite.set_system_out(lines.join("\n"));
    }
    let mut report = Report::new("twincell");
    report.add_test_suite(suite);
    // Only a text that cannot be written to is an error, and a String can be.
    report.to_string().unwrap_or_default()
}

#[cfg(test)]
pub(crate) mod tests {
    use twincell_amplify::{CollectionError, FORMAT, Form, Raised, Reach, Shown, Steering};
    use twincell_syntax::PerSide;

    use super::*;

    /// An amplification in which every text that a project can choose is this one.
    pub(crate) fn sample(odd: &str) -> Amplification {
        let form = Form {
            id: odd.into(),
            name: odd.into(),
            text: format!("def test():\n    assert x == '{odd}'\n"),
            imports: vec![],
            patch: odd.into(),
        };
        let raised = PerSide::new(None, Some(Raised { class: odd.into(), message: odd.into() }));
        let test = AmplifiedTest {
            origin: odd.into(),
            origin_text: format!("def test():\n    assert '{odd}'\n"),
            file: odd.into(),
            technique: Technique::Search,
            steps: vec![],
            shows: Shown::Raises { expression: odd.into(), point: 0, raised, returned: PerSide::default() },
            sentence: odd.into(),
            old: form,
            new: None,
        };
        let error = CollectionError { id: odd.into(), exception: odd.into(), message: odd.into() };
        Amplification {
            format: FORMAT,
            status: Status::Found,
            files: vec![],
            selected: vec![],
            detecting: vec![odd.into()],
            brought: vec![odd.into()],
            ran: 1,
            collected: 1,
            not_collected: vec![error; 5],
            variants: 1,
            cut: false,
            steering: vec![],
            sandbox: None,
            tests: vec![test],
            patches: PerSide::new(odd.into(), odd.into()),
        }
    }

    #[test]
    fn in_markdown_texts_of_a_project_stand_in_code() {
        let odd = "test__init__ `@team` ![x](http://y) ``b";
        let mut found = sample(odd);
        found.files = vec![Reach::unread(odd.into(), "it is not UTF-8".into())];
        let shown = format!("```{odd}```");
        let markdown = amplification_markdown(&found, Notices::default());
        // The file, two failing tests, three errors with their ids, the sentence, the origin; the text of the test is no line.
        let lines: Vec<&str> = markdown.lines().take_while(|line| !line.starts_with("````")).collect();
        assert_eq!(lines.iter().map(|line| line.matches(&shown).count()).sum::<usize>(), 11, "{markdown}");
        assert!(!lines.join("\n").replace(&shown, "").contains("team"), "{markdown}");
        assert!(lines.contains(&format!("- {shown} changed and is left out: it is not UTF-8").as_str()), "{markdown}");
    }

    #[test]
    fn in_junit_each_test_that_the_change_fails_is_a_case_with_its_text() {
        let found = Amplification { detecting: vec!["test_a.py::TestA::test_b[1]".into()], ..sample("a<b") };
        let xml = amplification_junit(&found, Notices::default());
        for part in [
            "tests=\"2\"",
            "failures=\"2\"",
            "name=\"TestA::test_b[1]\" classname=\"test_a.py\"",
            "message=\"a&lt;b\"",
            "a&lt;b&apos;",
        ] {
            assert!(xml.contains(part), "{part}: {xml}");
        }
    }

    #[test]
    fn a_file_that_can_decide_for_tests_is_named_in_every_form() {
        use SteeringKind::{Conftest, Plugin, Settings, Start};
        for kind in [Conftest, Plugin, Settings, Start] {
            let steering = vec![Steering { path: "a<b/conftest.py".into(), kind }];
            let found = Amplification { steering, ..sample("x") };
            let none = Notices::default();
            let page = crate::amplification_page(&found, none, "Tests");
            let note = "it can make any test pass or fail";
            let texts = [amplification_text(&found, none), amplification_markdown(&found, none), page];
            for text in texts.into_iter().chain([amplification_junit(&found, none)]) {
                assert!(text.contains(note) && text.contains("b/conftest.py"), "{kind:?}: {text}");
            }
        }
    }

    #[test]
    fn a_code_span_ends_where_its_text_does() {
        for (text, expected) in
            [("a", "`a`"), ("`a``", "``` `a`` ```"), ("", "`  `"), (" a", "`  a `"), ("a\nb", "`a\\nb`")]
        {
            assert_eq!(code_span(text), expected);
        }
    }

    #[test]
    fn a_change_that_cannot_be_read_is_not_said_to_be_no_code() {
        let mut found = Amplification { status: Status::NoCode, tests: vec![], not_collected: vec![], ..sample("x") };
        (found.detecting, found.brought) = (vec![], vec![]);
        assert_eq!((headline(&found).as_str(), found.is_shown()), ("no Python code changed", Some(false)));
        found.files = vec![Reach::unread("shop.py".into(), "it has more than 1 MiB".into())];
        assert_eq!(found.is_shown(), None);
        assert_eq!(
            amplification_text(&found, Notices::default()),
            "# no Python code changed that can be read\n# shop.py changed and is left out: it has more than 1 MiB\n"
        );
    }
}
