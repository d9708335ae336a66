//! Every format in which the result of a comparison is written, by one function: [`render`]. Who adds a format or a kind of
//! notice is asked by the compiler how each looks in the other.

use serde_json::{Value, json};

use twincell_compare::report::Comparison;
use twincell_compare::verdict::Verdict;

use crate::export::{ExportRow, annotations, junit, markdown, sarif};
use crate::html::html_report;
use crate::json::comparison_json;
use crate::notices::{Notices, notice_rows, notice_sentence, notices_text};
use crate::plain;
use crate::text::{Advice, SummaryFile, TextOptions, file_heading, summary, text};

/// A format of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Few lines for a terminal.
    Summary,
    /// All of it for a terminal.
    Text,
    Json,
    Html,
    Markdown,
    Sarif,
    Junit,
    /// The commands of a GitHub workflow.
    Annotations,
}

impl Format {
    pub const ALL: [Format; 8] = [
        Format::Summary,
        Format::Text,
        Format::Json,
        Format::Html,
        Format::Markdown,
        Format::Sarif,
        Format::Junit,
        Format::Annotations,
    ];
}

/// The result of comparing two texts, or the files of two revisions.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// The revisions, if there are any.
    pub range: Option<&'a str>,
    /// What is compared, as people say it: `old.py and new.py`, or where code changed: `in A..B`.
    pub title: &'a str,
    pub verdict: Verdict,
    pub files: &'a [SummaryFile<'a>],
    /// All files as one comparison, if any was compared.
    pub whole: Option<&'a Comparison>,
    pub rows: &'a [ExportRow],
    pub notices: Notices<'a>,
    pub advice: Advice<'a>,
    pub layout: TextOptions,
    /// The version of twincell.
    pub version: &'a str,
}

/// A report in a format.
pub fn render(format: Format, report: &Report<'_>) -> String {
    let Report { rows, notices, .. } = *report;
    match format {
        Format::Summary => summary(report.files, notices, report.advice, &report.layout),
        Format::Text => whole_text(report),
        Format::Json => plain::json(&format!("{:#}\n", data(report))),
        Format::Html => html_report(report.whole, notices, report.range.unwrap_or(report.title)),
        Format::Markdown => markdown(rows, notices),
        Format::Sarif => sarif(rows, notices, report.version),
        Format::Junit => junit(rows, notices),
        Format::Annotations => annotations(rows, notices),
    }
}

/// All of each file.
fn whole_text(report: &Report<'_>) -> String {
    let of = |comparison| text(comparison, &report.layout).trim_end_matches('\n').to_owned() + "\n";
    let mut parts = Vec::new();
    if report.files.is_empty() {
        parts.push(format!("No function of a Python file changed {}.\n", plain::sentence(report.title)));
    }
    for file in report.files {
        let heading = match report.range {
            Some(_) => file_heading(file.path, &report.layout),
            None => String::new(),
        };
        parts.push(match file.result {
            Ok(comparison) => heading + &of(comparison),
            Err(error) => format!("{heading}not compared: {}\n", plain::sentence(error)),
        });
    }
    parts.join("\n") + &notices_text(report.notices)
}

fn data(report: &Report<'_>) -> Value {
    let file = |file: &SummaryFile<'_>| match file.result {
        Ok(comparison) => json!({ "path": file.path, "comparison": comparison_json(comparison) }),
        Err(error) => json!({ "path": file.path, "error": error }),
    };
    let notices = notice_rows(report.notices);
    match (report.range, report.files) {
        (Some(range), files) => json!({
            "range": range,
            "verdict": report.verdict,
            "files": files.iter().map(file).collect::<Vec<_>>(),
            "notes": report.notices.all.iter().map(notice_sentence).collect::<Vec<_>>(),
            "notices": notices,
        }),
        (None, [only]) => {
            let mut data = only
                .result
                .map_or_else(|error| json!({ "error": error }), |comparison| json!(comparison_json(comparison)));
            data["notices"] = json!(notices);
            data
        }
        (None, files) => json!({ "files": files.iter().map(file).collect::<Vec<_>>(), "notices": notices }),
    }
}
