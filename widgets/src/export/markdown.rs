//! Markdown for a pull request (GitHub's dialect): a table of what changed, and what shows it behind a fold.

use std::fmt::Write as _;

use twincell_core::report::Verdict;

use super::{Told, counts};
use crate::{plain, words};

/// Rows and folds at most: a comment has a limit, and nobody reads more.
const SHOWN: usize = 50;
const FOLDS: usize = 10;

/// The results as Markdown.
pub fn markdown(told: &[Told]) -> String {
    let mut text = format!("### twincell: {}\n", counts(told));
    let open: Vec<&Told> =
        told.iter().filter(|one| matches!(one.verdict, Verdict::Changing | Verdict::Inconclusive)).collect();
    if open.is_empty() {
        text.push_str("\nNo function was found to behave differently.\n");
        return text;
    }
    text.push_str("\n| | Function | What was found |\n|---|---|---|\n");
    // Writing to a String cannot fail.
    for one in open.iter().take(SHOWN) {
        let mark = format!("{} {}", words::icon(one.verdict), one.verdict.name());
        let _ = writeln!(text, "| {mark} | {} | {} |", place(one), prose(&one.sentence));
    }
    if open.len() > SHOWN {
        let _ = writeln!(text, "\nand {} more", open.len() - SHOWN);
    }
    for one in open.iter().filter(|one| !one.evidence.is_empty() || one.test.is_some()).take(FOLDS) {
        let _ = writeln!(text, "\n<details><summary>{}</summary>\n", html(&one.place()));
        if !one.evidence.is_empty() {
            text.push_str("| Where | Old | New | |\n|---|---|---|---|\n");
        }
        for evidence in &one.evidence {
            let (old, new) = (code(&evidence.old), code(&evidence.new));
            let _ = writeln!(text, "| {} | {old} | {new} | {} |", prose(&evidence.place), words::strength(evidence));
        }
        if let Some(test) = &one.test {
            let _ = writeln!(text, "\nA test that passes with old and fails with new:\n\n{}", block(test));
        }
        text.push_str("\n</details>\n");
    }
    text
}

fn place(told: &Told) -> String {
    match (&told.file, told.line) {
        (Some(file), Some(line)) => format!("{} {}", code(&told.name), prose(&format!("{file}:{line}"))),
        (Some(file), None) if *file != told.name => format!("{} {}", code(&told.name), prose(file)),
        _ => code(&told.name),
    }
}

/// Text in which nothing is markup, a link, a mention or the end of a cell.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for character in plain::sentence(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // Mentions and issues are looked for in the text as it is read, so a sign alone would not do.
            '@' | '#' => {
                out.push(character);
                out.push_str("<!-- -->");
            }
            '.' if out.ends_with("www") => out.push_str("<span>.</span>"),
            ':' if out.ends_with("http") || out.ends_with("https") => out.push_str("<span>:</span>"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '+' | '!' | '|' | '~' | '$' => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out
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
    // Cells end at a bar even inside of code.
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
