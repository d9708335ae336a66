//! What holds for every project.

use proptest::prelude::*;

use super::{project, selected};
use crate::NoProver;
use crate::selection::{FileChange, FileContent, SelectionOptions, select};

/// A module of functions that call each other, each with a value, and a test for each.
fn texts(calls: &[Vec<usize>], values: &[u8]) -> (String, String) {
    let mut code = String::new();
    let mut tests = "import code_of\n".to_owned();
    for (position, (called, value)) in calls.iter().zip(values).enumerate() {
        let called: Vec<String> = called.iter().map(|one| format!(" + f{}()", one % calls.len())).collect();
        code += &format!("def f{position}():\n    return {value}{}\n", called.concat());
        tests += &format!("def test_{position}():\n    code_of.f{position}()\n");
    }
    (code, tests)
}

proptest! {
    #[test]
    fn a_change_selects_the_tests_that_reach_it_and_doubt_takes_none_away(
        calls in prop::collection::vec(prop::collection::vec(0_usize..8, 0..3), 1..8),
        changed in 0_usize..8,
    ) {
        let changed = changed % calls.len();
        let mut values = vec![0; calls.len()];
        let (old, tests) = texts(&calls, &values);
        values[changed] = 1;
        let (new, _) = texts(&calls, &values);
        let open = |code: &str| project(&[("code_of.py", code), ("test_code.py", &tests)]);
        let found = select(&open(&old), &open(&new), &SelectionOptions::default(), &NoProver);
        let mut expected = vec![];
        for test in 0..calls.len() {
            let mut seen = vec![test];
            let mut next = 0;
            while let Some(one) = seen.get(next).copied() {
                next += 1;
                for called in calls[one].iter().map(|called| called % calls.len()) {
                    if !seen.contains(&called) {
                        seen.push(called);
                    }
                }
            }
            if seen.contains(&changed) {
                expected.push(format!("test_{test}"));
            }
        }
        prop_assert_eq!(selected(&found), expected);

        let file = FileChange { path: "x.bin".into(), old: FileContent::Absent, new: FileContent::Binary };
        let options = SelectionOptions { files: vec![file], ..SelectionOptions::default() };
        let doubtful = select(&open(&old), &open(&new), &options, &NoProver);
        prop_assert!(doubtful.doubts.len() > found.doubts.len());
        prop_assert_eq!(selected(&doubtful), selected(&found));
    }
}
