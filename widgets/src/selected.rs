//! The tests that a change needs, as plain text: each with the way from a change to it.

use std::collections::BTreeSet;

use serde::Serialize;
use twincell_impact::selection::{
    Chain, CodeChange, CodeChangeKind, Doubt, DoubtKind, SelectedTest, Selection, Step, StepKind, Symbol, TestName,
    TestState,
};
use twincell_syntax::Side;

use crate::plain;

/// The maximum number of doubts of a kind that a line names.
const NAMED: usize = 3;

/// A test with its reason in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SelectionRow<'a> {
    /// As pytest names it, without parameters: `tests/test_cart.py::TestCart::test_total`.
    pub name: String,
    /// Whether it may see the change, or everything runs.
    pub runs: bool,
    pub reason: String,
    #[serde(flatten)]
    pub selected: &'a SelectedTest,
}

/// A selection with its sentences.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SelectionReport<'a> {
    pub version: u32,
    pub run_all: bool,
    pub sentence: String,
    pub tests: Vec<SelectionRow<'a>>,
    pub removed: &'a [TestName],
    pub doubts: &'a [Doubt],
    pub doubt_sentences: Vec<String>,
}

/// A selection with a sentence for everything in it.
pub fn selection_report(selection: &Selection) -> SelectionReport<'_> {
    let tests = selection.tests.iter().map(|selected| SelectionRow {
        name: name(&selected.test),
        runs: runs(selection, selected),
        reason: reason(selection, selected),
        selected,
    });
    SelectionReport {
        version: selection.version,
        run_all: selection.run_all,
        sentence: sentence(selection),
        tests: tests.collect(),
        removed: &selection.removed,
        doubts: &selection.doubts,
        doubt_sentences: doubts(selection),
    }
}

/// A selection for terminals: the tests that run below their reason, each of which stands once, then what makes the selection
/// unsure.
pub fn selection_text(selection: &Selection) -> String {
    let mut out = format!("{}\n", plain::sentence(&sentence(selection)));
    let mut reasons: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for selected in selection.tests.iter().filter(|selected| runs(selection, selected)) {
        let (test, links) = (name(&selected.test), links(selection, selected));
        match reasons.iter_mut().find(|(known, _)| *known == links) {
            Some((_, tests)) => tests.push(test),
            None => reasons.push((links, vec![test])),
        }
    }
    for (links, tests) in reasons {
        for (position, link) in links.iter().enumerate() {
            out += &format!("{}{}\n", if position == 0 { "\n" } else { "  " }, plain::sentence(link));
        }
        for test in tests {
            out += &format!("    {}\n", plain::sentence(&test));
        }
    }
    if !selection.doubts.is_empty() {
        out.push('\n');
    }
    for line in doubts(selection) {
        out += &format!("{}\n", plain::sentence(&line));
    }
    out
}

fn runs(selection: &Selection, selected: &SelectedTest) -> bool {
    selection.run_all || matches!(selected.state, TestState::MustRun { .. })
}

fn sentence(selection: &Selection) -> String {
    let all = selection.tests.len();
    let selected = selection.tests.iter().filter(|selected| runs(selection, selected)).count();
    let tests = if all == 1 { "test" } else { "tests" };
    match (all, selected) {
        (0, _) => "no test is found: name the files of tests as pytest does, or give their patterns".into(),
        (_, 0) => format!("none of {all} {tests} may see the change{}", proved(selection)),
        _ if selection.run_all => {
            let concerning = selection.doubts.iter().filter(|doubt| doubt.kind.concerns_all());
            let paths: BTreeSet<&str> = concerning.map(|doubt| &*doubt.path).collect();
            let named = paths.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
            let more = if paths.len() > NAMED { " and others" } else { "" };
            format!("all {all} {tests} have to run, since all may see a change of {named}{more}")
        }
        _ => format!("{selected} of {all} {tests} may see the change{}", proved(selection)),
    }
}

/// The tests that use code which changed and does the same.
fn proved(selection: &Selection) -> String {
    match selection.tests.iter().filter(|one| matches!(one.state, TestState::CannotSee { .. })).count() {
        0 => String::new(),
        1 => "; 1 uses code that changed and is proved to do the same".into(),
        count => format!("; {count} use code that changed and is proved to do the same"),
    }
}

fn name(test: &TestName) -> String {
    format!("{}::{}", test.path, test.qualname.replace('.', "::"))
}

fn reason(selection: &Selection, selected: &SelectedTest) -> String {
    links(selection, selected).join(", ")
}

/// Why a test runs or does not, from the change on.
fn links(selection: &Selection, selected: &SelectedTest) -> Vec<String> {
    match &selected.state {
        TestState::MustRun { why } => chain(why, false),
        TestState::CannotSee { why } => chain(why, true),
        TestState::Untouched if selection.run_all => {
            vec!["nothing that it names changed, but its settings may have".into()]
        }
        TestState::Untouched => vec!["nothing that it uses changed".into()],
    }
}

/// `price (shop/cart.py:12) changed`, `total (shop/cart.py:30) names it`, `the test names it`.
fn chain(chain: &Chain, is_proved: bool) -> Vec<String> {
    let change = &chain.change;
    let place = match &change.file {
        Some(file) => format!("{file}, which {} opens,", symbol(&change.place)),
        None => symbol(&change.place),
    };
    let removed = if chain.side == Side::Old { " (in the old version)" } else { "" };
    let proved = if is_proved { " and is proved to do the same" } else { "" };
    let mut parts = vec![format!("{place} {}{removed}{proved}", changed(change))];
    let last = chain.steps.len().saturating_sub(1);
    for (position, step) in chain.steps.iter().enumerate() {
        if step.kind == StepKind::Test {
            // The change is the test itself.
            continue;
        }
        let user = if position == last { "the test".to_owned() } else { symbol(&step.user) };
        parts.push(format!("{user} {}", uses(step)));
    }
    parts
}

fn symbol(symbol: &Symbol) -> String {
    let Symbol { path, qualname, line } = symbol;
    match &**qualname {
        "" => format!("the module {path}"),
        name if *line == 0 => format!("{name} ({path})"),
        name => format!("{name} ({path}:{line})"),
    }
}

fn changed(change: &CodeChange) -> &'static str {
    match change.kind {
        CodeChangeKind::Added => "is new",
        CodeChangeKind::Removed => "is gone",
        CodeChangeKind::Changed => "changed",
        CodeChangeKind::Import if change.place.qualname.is_empty() => "has other imports",
        CodeChangeKind::Import => "is imported from elsewhere",
        CodeChangeKind::Docstring => "has another docstring, which is read",
        CodeChangeKind::Annotation => "has other annotations, which are read",
        CodeChangeKind::Source => "has other lines, which are read",
        CodeChangeKind::DataFile => "changed",
    }
}

fn uses(step: &Step) -> &'static str {
    match step.kind {
        StepKind::Test => "is it",
        StepKind::Import => "imports it",
        StepKind::Name => "names it",
        StepKind::Constant => "reads it",
        StepKind::Attribute => "uses an attribute of this name",
        StepKind::Text => "has its name in a text",
        StepKind::Member => "has it as a member",
        StepKind::Implicit => "uses it through Python or a library",
        StepKind::Registered => "registers it on import",
        StepKind::Fixture => "takes it as a fixture",
        StepKind::Conftest => "has it in a conftest.py above",
        StepKind::Setup => "runs it before or after",
        StepKind::DynamicImport => "imports modules whose names are not in the text",
        StepKind::DynamicAttribute => "uses attributes whose names are not in the text",
        StepKind::WholeModule => "has the module as a value",
    }
}

/// A line for each kind of doubt.
fn doubts(selection: &Selection) -> Vec<String> {
    let mut kinds: Vec<DoubtKind> = selection.doubts.iter().map(|doubt| doubt.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let line = |kind: DoubtKind| {
        let own: Vec<&Doubt> = selection.doubts.iter().filter(|doubt| doubt.kind == kind).collect();
        let place = |doubt: &&Doubt| match doubt.line {
            0 => doubt.path.to_string(),
            line => format!("{}:{line}", doubt.path),
        };
        let mut places = own.iter().take(NAMED).map(place).collect::<Vec<_>>().join(", ");
        if own.len() > NAMED {
            places += &format!(" and {} more", own.len() - NAMED);
        }
        format!("{}: {places}", doubtful(kind))
    };
    kinds.into_iter().map(line).collect()
}

fn doubtful(kind: DoubtKind) -> &'static str {
    match kind {
        DoubtKind::DynamicImport => "modules are imported whose names are not in the text",
        DoubtKind::DynamicAttribute => "attributes are used whose names are not in the text, which is not followed",
        DoubtKind::Exec => "code that is made from text runs, which is not followed",
        DoubtKind::DataFile => "no text names these files, which changed",
        DoubtKind::Settings => "settings of tests or of the package changed, so all tests run",
        DoubtKind::Extension => "sources of an extension changed, so all tests run",
        DoubtKind::Unread => "these files are not read as Python",
        DoubtKind::UnreadChange => "these files changed and are not read as Python, so all tests run",
    }
}

#[cfg(test)]
mod tests {
    use twincell_impact::selection::{SelectionOptions, select};
    use twincell_impact::{FunctionPlace, NoProver, Prover, Shown};
    use twincell_semantic::{MemoryFiles, Project, Store};

    use super::*;

    fn selection(old: &str, new: &str, prover: &dyn Prover) -> Selection {
        const TESTS: &str = "from shop import total\n\n\ndef test_total():\n    assert total(1) == 2\n\n\ndef test_other():\n    assert 1\n";
        let store = Store::new();
        let open =
            |text: &str| Project::open(MemoryFiles::from_iter([("shop.py", text), ("test_shop.py", TESTS)]), &store);
        select(&open(old), &open(new), &SelectionOptions::default(), prover)
    }

    const SHOP: &str = "def price(n):\n    return n * 2\n\n\ndef total(n):\n    return price(n)\n";

    #[test]
    fn each_test_that_runs_has_the_way_from_a_change() {
        let found = selection(SHOP, &SHOP.replace("n * 2", "n + n"), &NoProver);
        assert_eq!(
            selection_text(&found),
            "1 of 2 tests may see the change\n\nprice (shop.py:1) changed\n  total (shop.py:5) names it\n  the test names it\n    test_shop.py::test_total\n"
        );
        let report = selection_report(&found);
        let runs: Vec<(&str, bool)> = report.tests.iter().map(|row| (row.name.as_str(), row.runs)).collect();
        assert_eq!(runs, [("test_shop.py::test_total", true), ("test_shop.py::test_other", false)]);
    }

    #[test]
    fn a_change_that_is_proved_to_do_the_same_needs_no_test() {
        struct Proof;
        impl Prover for Proof {
            fn depth(&self) -> u32 {
                0
            }

            fn proves(&self, _: &FunctionPlace, _: &FunctionPlace, _: u32) -> Option<Shown> {
                Some(Shown::default())
            }
        }
        let found = selection(SHOP, &SHOP.replace("n * 2", "n + n"), &Proof);
        assert_eq!(
            selection_text(&found),
            "none of 2 tests may see the change; 1 uses code that changed and is proved to do the same\n"
        );
        let reason =
            "price (shop.py:1) changed and is proved to do the same, total (shop.py:5) names it, the test names it";
        assert_eq!(selection_report(&found).tests[0].reason, reason);
    }

    #[test]
    fn nothing_that_changed_needs_no_test() {
        let found = selection(SHOP, SHOP, &NoProver);
        assert_eq!(selection_text(&found), "none of 2 tests may see the change\n");
    }
}
