//! Amplified tests as static HTML: what they show, and each one as a change of the test that it was made from.

use maud::{Markup, PreEscaped, html};
use similar::{ChangeTag, TextDiff};
use twincell_amplify::{Amplification, AmplifiedTest, Technique};

use super::state::amplification_state;
use super::{Part, by, headline, reach, text_of};
use crate::bundle::STYLE;
use crate::html::{page, section};
use crate::notices::{self, Notices};
use crate::{plain, words};

/// The tests for a notebook's output area: one `div` with its own style, no scripts.
pub fn amplification_fragment(found: &Amplification, notices: Notices<'_>) -> String {
    html! { (notices::markup(notices)) (body(found)) }.into_string()
}

/// The same as a self-contained page, with the interactive view before it.
pub fn amplification_page(found: &Amplification, notices: Notices<'_>, title: &str) -> String {
    page(title, notices, &body(found), &amplification_state(found))
}

fn body(found: &Amplification) -> Markup {
    let tone = match found.is_shown() {
        Some(true) => "tc-changing",
        None => "tc-inconclusive",
        Some(false) => "tc-preserving",
    };
    html! {
        div.tc-out {
            style { (PreEscaped(STYLE)) }
            div class={ "tc-head " (tone) } { p.tc-sentence { (headline(found)) } }
            @if !found.tests.is_empty() { (listed(&found.tests)) }
            @for (position, test) in found.tests.iter().enumerate() {
                (section(&plain::value(name(test)), &format!("in {}", plain::value(&test.file)), position == 0, one(test)))
            }
            (section("The change", "and the project's own tests", found.tests.is_empty(), change(found)))
            @if !found.patches.new.is_empty() {
                (section("Patch", "to apply with git, in the form that passes after the change", false, html! {
                    pre.tc-reproducer tabindex="0" { (plain::file(&found.patches.new)) }
                }))
            }
        }
    }
}

fn name(test: &AmplifiedTest) -> &str {
    &test.new.as_ref().unwrap_or(&test.old).name
}

/// What the tests show, a line each.
fn listed(tests: &[AmplifiedTest]) -> Markup {
    html! {
        div.tc-scroll tabindex="0" role="region" aria-label="Tests that show the change" {
            table.tc-table {
                thead { tr { th scope="col" { "what differs" } th scope="col" { "made from" } th scope="col" { "by" } } }
                tbody {
                    @for test in tests {
                        tr {
                            td { code { (plain::value(&test.sentence)) } }
                            td { @if test.technique != Technique::Injected { code { (plain::value(&test.origin)) } } }
                            td { (by(test.technique)) }
                        }
                    }
                }
            }
        }
    }
}

/// A test as a change of its origin: lines that are kept, gone and new.
fn one(test: &AmplifiedTest) -> Markup {
    let diff = TextDiff::from_lines(test.origin_text.as_str(), text_of(test));
    let form = match &test.new {
        Some(_) => "passes after the change and fails before it",
        None => "passes before the change and fails after it",
    };
    html! {
        @if test.technique == Technique::Injected {
            p.tc-legend { "No test of the project runs this code: the values are injected. It " (form) "." }
        } @else {
            p.tc-legend { "Beside " code { (plain::value(&test.origin)) } "; " (form) "." }
        }
        pre.tc-reproducer tabindex="0" {
            @for change in diff.iter_all_changes() {
                @let (sign, style) = match change.tag() {
                    ChangeTag::Equal => (' ', ""),
                    ChangeTag::Insert => ('+', "background: rgba(46, 160, 67, .16)"),
                    ChangeTag::Delete => ('\u{2212}', "background: rgba(248, 81, 73, .14)"),
                };
                span style=(style) { (sign) " " (plain::code(change.value().trim_end_matches('\n'))) } "\n"
            }
        }
    }
}

fn change(found: &Amplification) -> Markup {
    html! {
        ul {
            @for line in reach(found) {
                li {
                    @for part in &line {
                        @match part {
                            Part::Words(text) => (plain::value(text)),
                            Part::Quoted(text) => code { (plain::value(text)) },
                        }
                    }
                }
            }
        }
        @if !found.selected.is_empty() {
            p { "Tests of the project that run changed code:" }
            div.tc-scroll tabindex="0" role="region" aria-label="Tests that run changed code" {
                table.tc-table {
                    thead { tr { th scope="col" { "test" } th scope="col" { "changed statements that it runs" } } }
                    tbody {
                        @for test in &found.selected {
                            tr { td { code { (plain::value(&test.id)) } } td.tc-num { (words::number(test.executed)) } }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amplified::tests::sample;

    #[test]
    fn nothing_of_a_test_becomes_markup_or_moves_the_cursor() {
        let odd = "<script>\u{1b}[2J\u{202e}";
        let found = sample(odd);
        let static_output = amplification_fragment(&found, Notices::default());
        let unsafe_texts = ["<script", "\u{1b}", "\u{202e}"];
        assert!(!unsafe_texts.iter().any(|text| static_output.contains(text)));
        assert!(static_output.contains("nor 2 files more"), "{static_output}");
        // The page has two scripts of its own, and its state as data.
        let page = amplification_page(&found, Notices::default(), odd);
        assert_eq!(page.matches("<script").count(), 2);
    }
}
