//! Commands that make GitHub show a result beside its line, one on each line, for the log of a workflow.

use std::fmt::Write as _;

use twincell_compare::notice::Weight;
use twincell_compare::verdict::Verdict;

use super::{ExportRow, counts, enforced};
use crate::notices::{Notices, notice_sentence, title};
use crate::plain;

/// The results as workflow commands. Nothing in them can end its own command or begin another.
pub fn annotations(rows: &[ExportRow], notices: Notices<'_>) -> String {
    let mut text = String::new();
    for notice in notices.ordered() {
        let level = match notice.weight() {
            Weight::Trust if !notices.allows_changes => "error",
            Weight::Trust => "warning",
            Weight::Rule | Weight::Remark => "notice",
        };
        let place = notice.file().map_or_else(String::new, |file| format!("file={},", property(file)));
        let (title, sentence) = (property(title(notice)), data(&notice_sentence(notice)));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "::{level} {place}title={title}::{sentence}");
    }
    for row in rows {
        let (level, title) = match row.verdict {
            Verdict::Changing if row.evidence.iter().all(|one| one.edge_case) => {
                ("notice", "Behavior may have changed")
            }
            Verdict::Changing => ("warning", "Behavior changed"),
            Verdict::Inconclusive => ("notice", "Behavior undecided"),
            Verdict::LikelyPreserving | Verdict::Identical => continue,
        };
        let mut place = String::new();
        // Writing to a String cannot fail.
        if let Some(file) = &row.file {
            let _ = write!(place, "file={},", property(file));
            if let Some(line) = row.line {
                let _ = write!(place, "line={line},");
            }
        }
        let _ = writeln!(text, "::{level} {place}title={}::{}", property(title), data(&row.sentence));
    }
    if let Some(mark) = enforced(rows).sentence() {
        let _ = writeln!(text, "::warning title=Sandbox not complete::{}", data(&mark));
    }
    let _ = writeln!(text, "twincell: {}", counts(rows, notices));
    text
}

fn data(text: &str) -> String {
    plain::sentence(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
