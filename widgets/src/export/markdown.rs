//! Markdown for a pull request (GitHub's dialect): a table of changes, with what shows them in folds.

use std::fmt::Write as _;

use twincell_compare::notice::{Notice, Weight};
use twincell_compare::verdict::Verdict;

use super::{ExportRow, counts, enforced};
use crate::notices::{Notices, notice_sentence, title};
use crate::{plain, words};

/// The maximum number of rows and folds, and the size in bytes beyond which no fold may go: a comment has a limit, and
/// nobody reads more.
const SHOWN: usize = 50;
const FOLDS: usize = 10;
const LONGEST: usize = 60_000;

/// The results as Markdown.
pub fn markdown(rows: &[ExportRow], notices: Notices<'_>) -> String {
    let mut text = format!("### twincell: {}\n", counts(rows, notices));
    // Writing to a String cannot fail.
    if let Some(mark) = enforced(rows).sentence() {
        let _ = writeln!(text, "\n**{}**", prose(&mark));
    }
    let open: Vec<&ExportRow> =
        rows.iter().filter(|one| matches!(one.verdict, Verdict::Changing | Verdict::Inconclusive)).collect();
    let trust: Vec<&Notice> = notices.of(Weight::Trust).collect();
    if open.is_empty() {
        text.push_str("\nNo difference in behavior was found.\n");
    }
    if !open.is_empty() || !trust.is_empty() {
        text.push_str("\n| | Function | Result |\n|---|---|---|\n");
    }
    for notice in trust.into_iter().take(SHOWN) {
        let file = code(notice.file().unwrap_or_default());
        let _ = writeln!(text, "| ⚠ {} | {file} | {} |", title(notice), prose(&notice_sentence(notice)));
    }
    for one in open.iter().take(SHOWN) {
        let mark = format!("{} {}", words::icon(one.verdict), one.verdict.name());
        let _ = writeln!(text, "| {mark} | {} | {} |", place(one), prose(&one.sentence));
    }
    if open.len() > SHOWN {
        let _ = writeln!(text, "\nand {} more", open.len() - SHOWN);
    }
    let others = notices.ordered().into_iter().filter(|notice| notice.weight() != Weight::Trust);
    let others: Vec<String> =
        others.map(|notice| format!("\n- {}: {}", title(notice), prose(&notice_sentence(notice)))).collect();
    text.extend(others.iter().take(SHOWN).map(String::as_str));
    if let more @ 1.. = others.len().saturating_sub(SHOWN) {
        let _ = write!(text, "\n- and {more} more notices");
    }
    text.push_str(if others.is_empty() { "" } else { "\n" });
    for one in open.iter().filter(|one| !one.evidence.is_empty() || one.test.is_some()).take(FOLDS) {
        let mut fold = format!("\n<details><summary>{}</summary>\n\n", html(&one.place()));
        if !one.evidence.is_empty() {
            fold.push_str("| Where | Old | New | |\n|---|---|---|---|\n");
        }
        for evidence in &one.evidence {
            let (old, new) = (code(&evidence.old), code(&evidence.new));
            let _ = writeln!(fold, "| {} | {old} | {new} | {} |", prose(&evidence.place), words::strength(evidence));
        }
        if let Some(test) = &one.test {
            let _ = writeln!(fold, "\nA test that passes with old and fails with new:\n\n{}", block(test));
        }
        fold.push_str("\n</details>\n");
        if text.len() + fold.len() <= LONGEST {
            text.push_str(&fold);
        }
    }
    text
}

fn place(row: &ExportRow) -> String {
    match (&row.file, row.line) {
        (Some(file), Some(line)) => {
            let place = prose(&format!("{file}:{line}"));
            let place = row.link.as_ref().map_or_else(|| place.clone(), |link| format!("[{place}](<{link}>)"));
            format!("{} {place}", code(&row.name))
        }
        (Some(file), None) if *file != row.name => format!("{} {}", code(&row.name), prose(file)),
        _ => code(&row.name),
    }
}

/// Text in which nothing is markup, a link, a mention or the end of a cell.
pub(crate) fn prose(text: &str) -> String {
    let mut out = String::new();
    for character in plain::sentence(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // Mentions and issues are searched for in the rendered text, so a backslash alone would not do.
            '@' | '#' => {
                out.push(character);
                out.push_str("<!-- -->");
            }
            // So are links, in upper or lower case.
            '.' if ends_with_word(&out, "www") => out.push_str("<span>.</span>"),
            ':' if ["http", "https", "ftp"].iter().any(|scheme| ends_with_word(&out, scheme)) => {
                out.push_str("<span>:</span>");
            }
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '+' | '!' | '|' | '~' | '$' => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out
}

fn ends_with_word(text: &str, word: &str) -> bool {
    let start = text.len().saturating_sub(word.len());
    text.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(word))
}

/// A code span within a cell.
fn code(text: &str) -> String {
    let text = plain::value(text);
    if text.trim().is_empty() {
        return "*blank*".to_owned();
    }
    let longest = longest_run(&text, '`');
    let fence = "`".repeat(longest + 1);
    let padding = if longest > 0 { " " } else { "" };
    // Cells end at a bar even inside code.
    format!("{fence}{padding}{}{padding}{fence}", text.replace('|', "\\|"))
}

/// A fenced block of Python that nothing inside can end.
fn block(text: &str) -> String {
    let text = plain::file(text);
    let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
    format!("{fence}python\n{text}\n{fence}\n")
}

fn html(text: &str) -> String {
    let text = plain::value(text);
    format!("<code>{}</code>", text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"))
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|other| other != of).map(|run| run.chars().count()).max().unwrap_or(0)
}
