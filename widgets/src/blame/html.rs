//! Since when a call gives its value, as static HTML: the commit, what the call gave before and gives now, and the hunk.

use maud::{Markup, PreEscaped, html};
use twincell_blame::{Answer, Blame};

use super::{answer, change_line, changed, diff, origins, ran, values};
use crate::amplified::Part;
use crate::bundle::STYLE;
use crate::html::{diff_lines, plain_page, section};
use crate::plain;

/// The answer for a notebook's output area: one `div` with its own style, no scripts.
pub fn blame_fragment(found: &Blame) -> String {
    body(found).into_string()
}

/// The same as a self-contained page.
pub fn blame_page(found: &Blame, title: &str) -> String {
    plain_page(title, &body(found))
}

fn body(found: &Blame) -> Markup {
    let tone = match found.answer {
        Answer::Since(_) => "tc-changing",
        Answer::Among { .. } => "tc-inconclusive",
        Answer::Same { .. } => "tc-preserving",
    };
    let mut answer = answer(found).into_iter();
    let mut ran = ran(found).into_iter();
    html! {
        div.tc-out {
            style { (PreEscaped(STYLE)) }
            div class={ "tc-head " (tone) } { p.tc-sentence { (parts(&answer.next().unwrap_or_default())) } }
            ul.tc-facts {
                @for (when, value) in values(found) { li { span { (when) } " " b { (parts(&value)) } } }
            }
            (list(answer.collect()))
            (list(origins(found)))
            @if let Some(change) = changed(found) {
                p.tc-told { (parts(&change_line(change, found))) }
                pre.tc-reproducer tabindex="0" role="region" aria-label="What the commit changes" {
                    (diff_lines(&diff(change).join("\n")))
                }
            }
            @let first = ran.next().unwrap_or_default();
            @let rest: Vec<_> = ran.collect();
            @if rest.is_empty() { p.tc-foot { (parts(&first)) } }
            @else { (section("How it was found", "", false, html! { p.tc-told { (parts(&first)) } (list(rest)) })) }
        }
    }
}

fn list(lines: Vec<Vec<Part>>) -> Markup {
    html! { @if !lines.is_empty() { ul.tc-notes { @for line in &lines { li { (parts(line)) } } } } }
}

/// A line of words and of texts of the project.
fn parts(line: &[Part]) -> Markup {
    html! {
        @for part in line {
            @match part {
                Part::Words(text) => (plain::sentence(text)),
                Part::Quoted(text) => code { (plain::value(text)) },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blame::tests::sample;

    #[test]
    fn the_page_has_the_commit_the_values_and_the_hunk() {
        let page = blame_page(&sample("A <subject>", Answer::Since), "Since when");
        assert!(page.contains("gives its value since abababab"), "{page}");
        assert!(page.contains("<span>before</span> <b><code>returned 1</code></b>"), "{page}");
        assert!(page.contains(">-A &lt;subject&gt;</span>") && page.contains(">+b</span>"), "{page}");
        assert!(!page.contains("<subject") && !page.contains("<script"));
    }
}
