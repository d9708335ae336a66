//! The state of amplified tests.

use serde::Serialize;
use twincell_amplify::{Amplification, AmplifiedTest, Form, Technique};

use super::{by, headline, joined, reach};
use crate::state::STATE_FORMAT;

/// Tests that pass before a change and fail after it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AmplificationState<'a> {
    /// [`STATE_FORMAT`].
    pub(super) format: u32,
    sentence: String,
    /// Whether a test shows the change; None if no test runs it.
    shown: Option<bool>,
    /// What the tests reach of the change, and what else there is to say, a line each.
    facts: Vec<String>,
    /// The tests, the best first.
    tests: Vec<AmplifiedState<'a>>,
    /// Tests of the project that run changed code, each with the number of changed statements that it runs.
    selected: Vec<(&'a str, usize)>,
    /// All tests as patches: in the form that passes before the change, and in the one that passes after it.
    patches: [&'a str; 2],
}

/// An amplified test.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct AmplifiedState<'a> {
    /// What the two versions do, in one line.
    sentence: &'a str,
    /// The test that it was made from; None if its values were injected.
    origin: Option<&'a str>,
    /// The definition of that test.
    origin_text: &'a str,
    /// The file that it belongs to, relative to the repository.
    file: &'a str,
    /// How it was made.
    by: &'static str,
    /// Passes before the change, fails after it.
    old: FormState<'a>,
    /// Fails before the change, passes after it. None where it cannot be written.
    new: Option<FormState<'a>>,
}

/// A test as it is written.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct FormState<'a> {
    name: &'a str,
    text: &'a str,
    /// A unified diff of the test file.
    patch: &'a str,
}

/// Amplified tests for the interactive view.
pub fn amplification_state(found: &Amplification) -> AmplificationState<'_> {
    AmplificationState {
        format: STATE_FORMAT,
        sentence: headline(found),
        shown: found.is_shown(),
        facts: reach(found).iter().map(|line| joined(line)).collect(),
        tests: found.tests.iter().map(test).collect(),
        selected: found.selected.iter().map(|test| (test.id.as_str(), test.executed)).collect(),
        patches: [&found.patches.old, &found.patches.new],
    }
}

fn test(test: &AmplifiedTest) -> AmplifiedState<'_> {
    let is_injected = test.technique == Technique::Injected;
    AmplifiedState {
        sentence: &test.sentence,
        origin: (!is_injected).then_some(test.origin.as_str()),
        origin_text: if is_injected { "" } else { &test.origin_text },
        file: &test.file,
        by: by(test.technique),
        old: form(&test.old),
        new: test.new.as_ref().map(form),
    }
}

fn form(form: &Form) -> FormState<'_> {
    FormState { name: &form.name, text: &form.text, patch: &form.patch }
}
