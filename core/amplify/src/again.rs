//! A finished test once more: run in both versions, or added to a file.

use std::collections::BTreeSet;

use twincell_syntax::{PerSide, Side};
use twincell_testing::{Outcome, TestError};

use crate::code::Code;
use crate::flow::Change;
use crate::result::{AmplifiedTest, Form, Technique};
use crate::run::{How, Runners, Trial, run};
use crate::subject::{Addition, Subject, TestModule};

/// The seed of hashes of these runs.
const ANEW: u32 = 7;

/// What a test in one of its forms does in both versions, in new processes of pytest. `None` if it has no such form.
pub fn rerun(
    change: &Change,
    runners: &mut Runners<'_>,
    test: &AmplifiedTest,
    side: Side,
) -> Result<Option<PerSide<Outcome>>, TestError> {
    let own = change.tests.iter().find(|(path, _)| *path == test.file).map(|(_, text)| text.as_str());
    let Some(form) = form_of(test, side) else { return Ok(None) };
    let Some(Spot { module, subject, imports }) = spot(own, test, form) else { return Ok(None) };
    let suffix = test.origin.find('[').map_or("", |at| &test.origin[at..]);
    let trial = Trial { code: Code::new(&form.text), imports };
    let how = How { all_cases: true, anew: Some(ANEW), ..How::default() };
    let tried = run(runners, &module, &subject, suffix, &[trial], &how)?;
    Ok(tried.into_iter().next().map(|tried| tried.records.map(|record| record.outcome)))
}

/// The text of a test file with a test added. `text` is what the file has now, with its byte order mark and its line ends,
/// which stay. `None` if the test has no such form, if its origin is no longer there, or if the file has a test of its name.
pub fn with_test(text: Option<&str>, test: &AmplifiedTest, side: Side) -> Option<String> {
    let form = form_of(test, side)?;
    let Spot { module, subject, imports } = spot(text, test, form)?;
    if !module.is_new && module.subjects.iter().any(|other| other.name == form.name) {
        return None;
    }
    let imports = module.missing(&imports);
    let text = module.with(&[Addition { behind: subject.behind, code: Code::new(&form.text), imports }]);
    Some(module.as_written(&text))
}

/// Where a test goes.
struct Spot {
    module: TestModule,
    /// The test beside which it stands there.
    subject: Subject,
    /// What it needs at the top of the module.
    imports: BTreeSet<String>,
}

fn spot(text: Option<&str>, test: &AmplifiedTest, form: &Form) -> Option<Spot> {
    let mut imports: BTreeSet<String> = form.imports.iter().cloned().collect();
    match (test.technique, text) {
        (Technique::Injected, text) => {
            let own = TestModule::of_one(&test.file, &test.origin_text)?;
            let subject = own.subjects.first()?.clone();
            Some(match text.filter(|text| !text.is_empty()) {
                None => Spot { module: own, subject, imports },
                Some(text) => {
                    // Others have begun the file.
                    imports.extend(own.imports());
                    let module = TestModule::new(&test.file, text);
                    let behind = module.text.len();
                    Spot { module, subject: Subject { behind, ..subject }, imports }
                }
            })
        }
        (_, text) => {
            let module = TestModule::new(&test.file, text?);
            let is_origin = |subject: &&Subject| subject.code.lines() == test.origin_text;
            let subject = module.subjects.iter().find(is_origin)?.clone();
            Some(Spot { module, subject, imports })
        }
    }
}

fn form_of(test: &AmplifiedTest, side: Side) -> Option<&Form> {
    match side {
        Side::Old => Some(&test.old),
        Side::New => test.new.as_ref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Difference;
    use crate::result::Shown;
    use twincell_testing::Observed;

    fn test(technique: Technique, origin_text: &str) -> AmplifiedTest {
        let form = Form {
            id: "t.py::test_a_x".into(),
            name: "test_a_x".into(),
            text: "def test_a_x():\n    assert x == 1\n".into(),
            imports: vec!["import os".into()],
            patch: String::new(),
        };
        let values = PerSide::new(Observed::None, Observed::Bool(true));
        let shows = Difference { point: 0, expression: "x".into(), values, depth: 0, heard: None };
        AmplifiedTest {
            origin: "t.py::test_a".into(),
            origin_text: origin_text.into(),
            file: "t.py".into(),
            technique,
            steps: vec![],
            shows: Shown::Value(shows),
            sentence: String::new(),
            old: form,
            new: None,
        }
    }

    #[test]
    fn a_test_is_added_beside_its_origin_as_the_file_is_now() {
        let one = test(Technique::Search, "def test_a():\n    f()\n");
        let now = "# Mine.\n\ndef test_a():\n    f()\n\ndef test_b():\n    g()\n";
        assert_eq!(
            with_test(Some(now), &one, Side::Old).unwrap(),
            "import os\n\n# Mine.\n\ndef test_a():\n    f()\n\n\ndef test_a_x():\n    assert x == 1\n\ndef test_b():\n    g()\n"
        );
        assert_eq!(with_test(Some("def test_a():\n    g()\n"), &one, Side::Old), None);
        assert_eq!(with_test(Some(&format!("{now}\ndef test_a_x(): pass\n")), &one, Side::Old), None);
        assert_eq!(with_test(Some(now), &one, Side::New), None);
    }

    #[test]
    fn a_test_with_injected_values_is_a_file_of_its_own() {
        let one = test(Technique::Injected, "from shop import x\n\n\ndef test_a():\n    assert x == 1\n");
        assert_eq!(
            with_test(None, &one, Side::Old).unwrap(),
            "from shop import x\nimport os\n\n\ndef test_a_x():\n    assert x == 1\n"
        );
        assert_eq!(with_test(Some(""), &one, Side::Old), with_test(None, &one, Side::Old));
    }

    #[test]
    fn nothing_of_a_file_is_lost_and_its_lines_end_as_they_did() {
        let injected = test(Technique::Injected, "from shop import x\n\n\ndef test_a():\n    assert x == 1\n");
        let now = "\u{feff}import os\r\n\r\ndef test_b():\r\n    assert 'é'\r\n\r\n# The end.\r\n";
        assert_eq!(
            with_test(Some(now), &injected, Side::Old).unwrap(),
            "\u{feff}import os\r\nfrom shop import x\r\n\r\ndef test_b():\r\n    assert 'é'\r\n\r\n# The end.\r\n\
             \r\n\r\ndef test_a_x():\r\n    assert x == 1\r\n"
        );
        let beside = test(Technique::Search, "def test_b():\n    assert 'é'\n");
        assert_eq!(
            with_test(Some(now), &beside, Side::Old).unwrap(),
            "\u{feff}import os\r\n\r\ndef test_b():\r\n    assert 'é'\r\n\r\n\r\ndef test_a_x():\r\n    assert x == 1\r\n\
             \r\n# The end.\r\n"
        );
    }
}
