//! Results for other programs: [`sarif`] for code scanning, [`junit`] for test reports, [`markdown`] for pull requests,
//! [`annotations`] for the log of a GitHub workflow.
//!
//! All four list the same rows, one for each function: [`ExportRow`], and the same [`Notices`]. What comes from user code is escaped for the format it goes into.

mod annotations;
mod junit;
mod markdown;
pub(crate) mod sarif;

use twincell_compare::report::{Comparison, Evidence, PairReport, Reproducer};
use twincell_compare::verdict::Verdict;
use twincell_engine::protocol::{Mechanism, SandboxReport};

use crate::enforced::Enforced;
use crate::notices::Notices;
use crate::{wording, words};

pub use crate::words::changed_line;
pub use annotations::annotations;
pub use junit::junit;
pub(crate) use junit::notice_case;
pub use markdown::markdown;
pub(crate) use markdown::prose;
pub use sarif::sarif;

/// One function, or one change of a study, as files for other programs list it.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportRow {
    /// The function's qualified name, or the id of a change.
    pub name: String,
    /// The path of the file, from the root of the repository if there is one.
    pub file: Option<String>,
    /// The first changed line of the new version, counted from 1 in the file.
    pub line: Option<u32>,
    /// Where people read that line in a browser.
    pub link: Option<String>,
    pub verdict: Verdict,
    /// What a person reads first.
    pub sentence: String,
    pub evidence: Vec<Evidence>,
    /// A test that shows the change.
    pub test: Option<String>,
    pub milliseconds: f64,
    /// What its code ran without, of the sandbox. None if nothing ran.
    pub sandbox_lacks: Option<Vec<Mechanism>>,
}

impl ExportRow {
    /// A file that could not be compared.
    pub fn failed(file: &str, reason: &str) -> Self {
        Self {
            name: file.to_owned(),
            file: Some(file.to_owned()),
            line: None,
            link: None,
            verdict: Verdict::Inconclusive,
            sentence: format!("Not compared: {reason}"),
            evidence: vec![],
            test: None,
            milliseconds: 0.0,
            sandbox_lacks: None,
        }
    }

    /// All functions of a comparison, changed ones first. Functions that others decide for, or whose differences are accepted, are left out.
    pub fn of_comparison(comparison: &Comparison, file: Option<&str>) -> Vec<Self> {
        let deciding = words::ordered_pairs(comparison).into_iter().filter(|pair| pair.decides());
        let sandbox = comparison.sandbox.as_ref();
        deciding.map(|pair| Self::of_pair(pair, file, sandbox)).collect()
    }

    fn of_pair(pair: &PairReport, file: Option<&str>, sandbox: Option<&SandboxReport>) -> Self {
        Self {
            name: words::pair_name(pair),
            file: file.map(str::to_owned),
            // A line of a cell is none of the file.
            line: pair.cell.is_none().then(|| words::changed_line(pair)),
            link: None,
            verdict: pair.verdict,
            sentence: wording::pair(pair),
            evidence: pair.evidence.clone(),
            test: pair.reproducer.as_ref().and_then(held),
            milliseconds: pair.milliseconds,
            sandbox_lacks: sandbox.filter(|_| pair.executed > 0).map(SandboxReport::lacking),
        }
    }

    /// Links it to its line, below the address of a commit's files: `https://HOST/OWNER/NAME/blob/COMMIT`.
    pub fn link_below(&mut self, files: &str) {
        if let (Some(file), Some(line)) = (&self.file, self.line) {
            self.link = Some(format!("{}/{}#L{line}", files.trim_end_matches('/'), sarif::uri(file)));
        }
    }

    /// The file and the name, which identify it.
    fn place(&self) -> String {
        match &self.file {
            Some(file) if *file != self.name => format!("{file}::{}", self.name),
            _ => self.name.clone(),
        }
    }
}

/// The text of a reproducer that shows the change.
fn held(reproducer: &Reproducer) -> Option<String> {
    reproducer.source.clone().filter(|_| reproducer.holds == Some(true))
}

/// What was enforced while the code of these rows ran.
fn enforced<'a>(rows: impl IntoIterator<Item = &'a ExportRow>) -> Enforced {
    Enforced::of(rows.into_iter().map(|row| row.sandbox_lacks.as_deref()))
}

/// The number of rows with each verdict, in words: `2 changing, 1 inconclusive`. What changed of what is trusted comes first.
fn counts(rows: &[ExportRow], notices: Notices<'_>) -> String {
    let verdicts = [Verdict::Changing, Verdict::Inconclusive, Verdict::LikelyPreserving, Verdict::Identical];
    let counted = verdicts.iter().filter_map(|verdict| {
        let count = rows.iter().filter(|one| one.verdict == *verdict).count();
        (count > 0).then(|| format!("{count} {}", verdict.name()))
    });
    let text = notices.headline().map(str::to_owned).into_iter().chain(counted).collect::<Vec<_>>().join(", ");
    if text.is_empty() { "nothing to compare".to_owned() } else { text }
}
