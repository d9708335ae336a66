//! Amplified tests for terminals, as Markdown and as JUnit XML, and what every view of them says.

mod html;

use twincell_amplify::{Amplification, AmplifiedTest, Network, Status, SuiteReport, Technique};

use crate::{plain, words};

pub use html::{amplification_fragment, amplification_page};

/// The maximum number of files that are listed because pytest could not collect them.
const NOT_COLLECTED: usize = 3;

/// One line on what was found.
pub(crate) fn headline(found: &Amplification) -> String {
    match found.status {
        Status::NoCode => "the change touches no code".to_owned(),
        Status::NotReached => {
            format!("no test runs the change; {} ran", words::count(found.ran, "test"))
        }
        Status::NothingFound => format!(
            "no test shows the change: {} run it, and {} showed no difference",
            words::count(found.selected.len(), "test"),
            words::count(found.variants, "variant")
        ),
        Status::Found if found.tests.iter().all(|test| test.technique == Technique::Injected) => {
            format!("no test runs the change; with injected values, {} it", shows(found.tests.len()))
        }
        Status::Found => format!("{} the change", shows(found.tests.len())),
    }
}

fn shows(count: usize) -> String {
    if count == 1 { "1 test shows".to_owned() } else { format!("{count} tests show") }
}

/// What the tests reach of the change, and which of the project's own tests show it already.
pub(crate) fn reach(found: &Amplification) -> Vec<String> {
    let mut lines = Vec::new();
    for file in &found.files {
        let (changed, executed) = (file.changed.old + file.changed.new, file.executed.old + file.executed.new);
        let only = if file.only_adds { "; the change only adds code here" } else { "" };
        lines.push(format!(
            "{}: tests run {executed} of {}{only}",
            file.path,
            words::count(changed, "changed statement")
        ));
    }
    if !found.detecting.is_empty() {
        let count = words::count(found.detecting.len(), "test");
        lines.push(format!("{count} of the project fail after the change: {}", found.detecting.join(", ")));
    }
    for error in found.not_collected.iter().take(NOT_COLLECTED) {
        lines.push(format!("pytest cannot collect {}: {}", error.id, error.message));
    }
    if let more @ 1.. = found.not_collected.len().saturating_sub(NOT_COLLECTED) {
        lines.push(format!("nor {} more", words::count(more, "file")));
    }
    if found.cut {
        lines.push("the search ended before it was done".to_owned());
    }
    lines.extend(found.sandbox.iter().flat_map(unrestricted));
    lines
}

/// What tests could do that they usually cannot, or the other way round.
fn unrestricted(report: &SuiteReport) -> Vec<String> {
    let network = (report.network == Network::Open).then(|| "tests could reach the network".to_owned());
    let lacks = report.lacks.iter().map(|lack| format!("tests ran with {lack}"));
    network.into_iter().chain(lacks).collect()
}

/// For terminals.
pub fn amplification_text(found: &Amplification) -> String {
    let mut out = format!("# {}\n", headline(found));
    for line in reach(found) {
        out += &format!("# {}\n", plain::value(&line));
    }
    for test in &found.tests {
        out += &format!("\n# {}\n# {}\n", plain::value(&test.sentence), plain::value(&source(test)));
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
fn source(test: &AmplifiedTest) -> String {
    match test.technique {
        Technique::Assertions | Technique::Search => format!("from {}", test.origin),
        Technique::Injected => "injected: no test of the project gives these values".to_owned(),
    }
}

/// The form that passes after the change, where there is one.
fn text_of(test: &AmplifiedTest) -> &str {
    test.new.as_ref().map_or(&test.old.text, |form| &form.text)
}

/// For a pull request.
pub fn amplification_markdown(found: &Amplification) -> String {
    let mut out = format!("### twincell: {}\n", headline(found));
    for line in reach(found) {
        out += &format!("\n- {}", plain::value(&line).replace('`', "'"));
    }
    out += "\n";
    for test in &found.tests {
        let sentence = plain::value(&test.sentence).replace('`', "'");
        let source = plain::value(&source(test)).replace('`', "'");
        out += &format!("\n`{sentence}` (`{source}`)\n\n");
        // A fence is longer than any in the text.
        out += &format!("````python\n{}\n````\n", plain::file(text_of(test)).replace("````", "'''"));
    }
    out
}

/// One case for each test; the change fails it.
pub fn amplification_junit(found: &Amplification) -> String {
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"twincell amplify\" tests=\"{0}\" failures=\"{0}\">\n",
        found.tests.len()
    );
    for test in &found.tests {
        out += &format!(
            "<testcase classname=\"{}\" name=\"{}\"><failure message=\"{}\"/></testcase>\n",
            escaped(&test.file),
            escaped(&test.old.name),
            escaped(&test.sentence)
        );
    }
    out + "</testsuite>\n</testsuites>\n"
}

fn escaped(text: &str) -> String {
    plain::value(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
