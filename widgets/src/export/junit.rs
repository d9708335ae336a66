//! JUnit's XML: a suite for each file, a case for each function. Changed behavior is a failure; what was not decided is
//! skipped, with the reason.

use std::collections::BTreeMap;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use twincell_compare::verdict::Verdict;

use super::Told;
use crate::{plain, words};

/// The results as the text of a JUnit file.
pub fn junit(told: &[Told]) -> String {
    let mut suites: BTreeMap<&str, Vec<&Told>> = BTreeMap::new();
    for one in told {
        suites.entry(one.file.as_deref().unwrap_or("changes")).or_default().push(one);
    }
    let mut report = Report::new("twincell");
    report.add_test_suites(suites.into_iter().map(|(file, told)| {
        let mut suite = TestSuite::new(plain::value(file));
        suite.add_test_cases(told.into_iter().map(case));
        suite
    }));
    // Only a text that cannot be written to is an error, and a String can.
    report.to_string().unwrap_or_default()
}

fn case(told: &Told) -> TestCase {
    let mut status = match told.verdict {
        Verdict::Changing => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::Inconclusive => TestCaseStatus::skipped(),
        Verdict::LikelyPreserving | Verdict::Identical => TestCaseStatus::success(),
    };
    if matches!(told.verdict, Verdict::Changing | Verdict::Inconclusive) {
        status.set_message(plain::sentence(&told.sentence));
    }
    if told.verdict == Verdict::Changing {
        status.set_type("behavior changed");
        status.set_description(description(told));
    }
    let mut case = TestCase::new(plain::value(&told.name), status);
    case.set_classname(plain::value(told.file.as_deref().unwrap_or("changes")));
    case.set_time(Duration::try_from_secs_f64(told.milliseconds / 1000.0).unwrap_or_default());
    case
}

/// Every difference on lines of its own, and the test that shows one.
fn description(told: &Told) -> String {
    let mut lines = Vec::new();
    for one in &told.evidence {
        lines.push(format!("{} ({})", plain::value(&one.place), words::strength(one)));
        lines.push(format!("  old: {}", plain::value(&one.old)));
        lines.push(format!("  new: {}", plain::value(&one.new)));
    }
    if let Some(test) = &told.test {
        lines.push(String::new());
        lines.push(plain::file(test));
    }
    lines.join("\n")
}
