//! JUnit's XML: a suite for each file, a case for each function. Changed behavior is a failure. Inconclusive cases are
//! skipped, with the reason.

use std::collections::BTreeMap;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use twincell_compare::notice::{Notice, Weight};
use twincell_compare::verdict::Verdict;

use super::{ExportRow, enforced};
use crate::enforced::Enforced;
use crate::notices::{Notices, notice_sentence, title};
use crate::{plain, words};

/// The results as the text of a JUnit file.
pub fn junit(rows: &[ExportRow], notices: Notices<'_>) -> String {
    let mut suites: BTreeMap<&str, Vec<&ExportRow>> = BTreeMap::new();
    for row in rows {
        suites.entry(row.file.as_deref().unwrap_or("changes")).or_default().push(row);
    }
    let mut report = Report::new("twincell");
    report.add_test_suites(suites.into_iter().map(|(file, rows)| {
        let mut suite = TestSuite::new(plain::value(file));
        let enforced = enforced(rows.iter().copied());
        suite.add_property(("twincell.sandbox", sandbox(&enforced).as_str()));
        suite.add_test_cases(rows.into_iter().map(case));
        suite
    }));
    if !notices.all.is_empty() {
        let mut suite = TestSuite::new("twincell");
        suite.add_test_cases(notices.ordered().into_iter().map(|notice| notice_case(notice, notices.allows_changes)));
        report.add_test_suite(suite);
    }
    // Only a text that cannot be written to is an error, and a String can be.
    report.to_string().unwrap_or_default()
}

/// What was enforced while the code of a suite ran.
fn sandbox(enforced: &Enforced) -> String {
    match enforced.sentence() {
        Some(sentence) => sentence,
        None if enforced.ran == 0 => "nothing ran".to_owned(),
        None => "complete".to_owned(),
    }
}

/// What a run fails because of is a failure, and the rest is skipped.
pub(crate) fn notice_case(notice: &Notice, allows_changes: bool) -> TestCase {
    let sentence = plain::sentence(&notice_sentence(notice));
    let mut status = match notice.weight() {
        Weight::Trust if !allows_changes => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Weight::Trust | Weight::Rule | Weight::Remark => TestCaseStatus::skipped(),
    };
    status.set_message(sentence.clone());
    if notice.weight() == Weight::Trust {
        status.set_type("policy changed");
    }
    let mut case = TestCase::new(sentence, status);
    case.set_classname(plain::value(notice.file().unwrap_or(title(notice))));
    case
}

fn case(row: &ExportRow) -> TestCase {
    let mut status = match row.verdict {
        Verdict::Changing => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::Inconclusive => TestCaseStatus::skipped(),
        Verdict::LikelyPreserving | Verdict::Identical => TestCaseStatus::success(),
    };
    if matches!(row.verdict, Verdict::Changing | Verdict::Inconclusive) {
        status.set_message(plain::sentence(&row.sentence));
    }
    if row.verdict == Verdict::Changing {
        status.set_type("behavior changed");
        status.set_description(description(row));
    }
    let mut case = TestCase::new(plain::value(&row.name), status);
    case.set_classname(plain::value(row.file.as_deref().unwrap_or("changes")));
    case.set_time(Duration::try_from_secs_f64(row.milliseconds / 1000.0).unwrap_or_default());
    case
}

/// Every difference on its own line, and the test that shows one.
fn description(row: &ExportRow) -> String {
    let mut lines = Vec::new();
    for one in &row.evidence {
        lines.push(format!("{} ({})", plain::value(&one.place), words::strength(one)));
        lines.push(format!("  old: {}", plain::value(&one.old)));
        lines.push(format!("  new: {}", plain::value(&one.new)));
    }
    if let Some(test) = &row.test {
        lines.push(String::new());
        lines.push(plain::file(test));
    }
    lines.join("\n")
}
