//! Prefixes as static HTML: which of them runs which line, the prefixes themselves, the tree in which they were found,
//! and the types of the values that they make.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, PreEscaped, html};
use similar::{ChangeTag, TextDiff};

use twincell_prefix::{Prefix, Prefixes};

use super::difference::{Difference, difference};
use super::state::prefixes_state;
use super::{code_lines, ended, from, headline, listed, prefixes_pytest, shown};
use crate::bundle::STYLE;
use crate::html::{page, section};
use crate::notices::Notices;
use crate::{plain, words};

/// The maximum number of lines of a snippet that are shown.
const SHOWN: usize = 5000;
/// The maximum number of lines of two prefixes that are compared.
const COMPARED: usize = 2000;

/// The prefixes of a snippet for a notebook's output area: one `div` with its own style, no scripts.
pub fn prefixes_fragment(snippet: &str, prefixes: &Prefixes) -> String {
    fragment(snippet, prefixes).into_string()
}

/// The same as a self-contained page, with the interactive view before it.
pub fn prefixes_page(snippet: &str, prefixes: &Prefixes, title: &str) -> String {
    page(title, Notices::default(), &fragment(snippet, prefixes), &prefixes_state(snippet, prefixes))
}

fn fragment(snippet: &str, prefixes: &Prefixes) -> Markup {
    let kept = prefixes.kept();
    let is_whole = prefixes.covered.len() == prefixes.lines.len();
    html! {
        div.tc-out {
            style { (PreEscaped(STYLE)) }
            div class={ "tc-head " (if is_whole { "tc-preserving" } else { "tc-inconclusive" }) } {
                p.tc-sentence { (headline(prefixes)) }
            }
            (facts(prefixes))
            (section("The code", "and which prefix runs which line", true, lines(snippet, prefixes, &kept)))
            @for (position, &number) in kept.iter().enumerate() {
                (prefix(prefixes, number, position == 0, difference(prefixes, &kept, position)))
            }
            @if let Some(file) = prefixes_pytest(snippet, prefixes) {
                (section("Test", "a pytest file with these prefixes, to copy", false, html! { pre.tc-reproducer { (plain::file(&file)) } }))
            }
            @if prefixes.nodes.len() > 1 {
                (section("Tree", &words::count(prefixes.nodes.len(), "node"), false, tree(prefixes)))
            }
            @if kept.iter().any(|&number| !prefixes.nodes[number].makes.is_empty()) {
                (section("Values", "of the prefixes above, by type", false, values(prefixes, &kept)))
            }
        }
    }
}

fn facts(prefixes: &Prefixes) -> Markup {
    html! {
        ul.tc-facts {
            @if !prefixes.undefined.is_empty() {
                li {
                    span { "Undefined" }
                    " "
                    b {
                        @for (position, name) in prefixes.undefined.iter().enumerate() {
                            @if position > 0 { ", " }
                            code { (plain::value(name)) }
                        }
                    }
                }
            }
            @for (name, text) in super::facts(prefixes) { li { span { (name) } " " b { (text) } } }
        }
    }
}

/// The snippet with a column for each prefix that is shown.
fn lines(snippet: &str, prefixes: &Prefixes, kept: &[usize]) -> Markup {
    let statements: BTreeSet<u32> = prefixes.lines.iter().copied().collect();
    let completed: Vec<BTreeSet<u32>> =
        kept.iter().map(|&number| prefixes.nodes[number].completed.iter().copied().collect()).collect();
    let all = code_lines(snippet);
    let more = all.len().saturating_sub(SHOWN);
    html! {
        div.tc-scroll.tc-limit tabindex="0" role="region" aria-label="The code, and which prefix runs which line" {
            table.tc-table {
                thead {
                    tr {
                        th scope="col" { "Line" }
                        @for &number in kept { th scope="col" { (name(prefixes, number)) } }
                        th scope="col" { "Code" }
                    }
                }
                tbody {
                    @for (line, text) in all.into_iter().take(SHOWN) {
                        @let is_statement = statements.contains(&line);
                        tr.tc-dim[!is_statement] {
                            td.tc-num { (line) }
                            @for completed in &completed {
                                td.tc-mark {
                                    @if !is_statement {}
                                    @else if completed.contains(&line) { "✓" }
                                    @else { span.tc-note title="does not complete" { "–" } }
                                }
                            }
                            td { code style="white-space: pre" { (plain::code(text)) } }
                        }
                    }
                }
            }
        }
        @if more > 0 { p.tc-legend { (words::count(more, "more line")) } }
    }
}

/// `★ 12` for the best one.
fn name(prefixes: &Prefixes, number: usize) -> String {
    if Some(number) == prefixes.best { format!("★ {number}") } else { number.to_string() }
}

fn prefix(prefixes: &Prefixes, number: usize, is_open: bool, difference: Option<Difference>) -> Markup {
    let node = &prefixes.nodes[number];
    let title = if Some(number) == prefixes.best { "★ Best prefix" } else { "Prefix" };
    let note = format!("{number}: {}", reach(prefixes, node));
    let text = shown(prefixes, node);
    let content = html! {
        @if let Some(Difference { of, lines }) = &difference {
            p.tc-legend { "As prefix " (of) ", with these lines changed:" }
            pre.tc-reproducer { (lines.join("\n")) }
            details { summary { "The whole prefix" } pre.tc-reproducer { (text) } }
        } @else {
            pre.tc-reproducer { (text) }
        }
        @if let Some(ended) = ended(&node.end) { p.tc-legend { "The code behind it: " (ended) } }
    };
    section(title, &note, is_open, content)
}

/// `5 of 6 lines, from the error of another`
fn reach(prefixes: &Prefixes, node: &Prefix) -> String {
    let lines = words::count(prefixes.lines.len(), "line");
    format!("{} of {lines}, {}", node.completed.len(), from(node))
}

/// The nodes below their parents, each with what it changes in its parent's prefix.
fn tree(prefixes: &Prefixes) -> Markup {
    let listed = listed(prefixes);
    let left_out = prefixes.nodes.len() - listed.len();
    html! {
        div.tc-scroll.tc-limit tabindex="0" role="region" aria-label="The tree of prefixes" {
            table.tc-table {
                thead {
                    tr {
                        th scope="col" { "Node" } th scope="col" { "Lines" } th scope="col" { "Made" }
                        th scope="col" { "End" } th scope="col" { "Change" }
                    }
                }
                tbody {
                    @for &(number, depth) in &listed {
                        @let node = &prefixes.nodes[number];
                        tr {
                            td.tc-mark style={ "padding-left:" (10 + 16 * depth.min(12)) "px" } {
                                @if depth > 0 { "└ " }
                                (name(prefixes, number))
                                @if prefixes.chosen.contains(&number) { span.tc-note { "P" } }
                            }
                            td.tc-mark { (bar(prefixes.coverage_of(node))) " " (node.completed.len()) }
                            td { (from(node)) }
                            td { (ended(&node.end).unwrap_or_else(|| "by itself".to_owned())) }
                            td { (change(prefixes, node)) }
                        }
                    }
                }
            }
        }
        @if left_out > 0 { p.tc-legend { (words::count(left_out, "node")) " not listed." } }
        p.tc-legend {
            "★ covers most lines. P is the smallest set that covers all lines that any node covers. What is shown above was "
            "simplified after the search."
        }
    }
}

/// A share of 0 to 1 as a bar.
fn bar(share: f64) -> Markup {
    html! {
        svg width="60" height="8" viewBox="0 0 60 8" role="img" aria-label=(words::percent(share)) {
            rect x="0" y="0" width="60" height="8" fill="rgba(128, 136, 148, .25)" {}
            rect x="0" y="0" width=(format!("{:.1}", 60.0 * share)) height="8" fill="rgba(43, 138, 62, .75)" {}
        }
    }
}

/// The lines that a node has and its parent has not, and the other way around.
fn change(prefixes: &Prefixes, node: &Prefix) -> Markup {
    let parent = node.parent.and_then(|parent| prefixes.nodes.get(parent));
    let Some(parent) = parent else {
        return html! {
            details { summary { (words::count(node.text.lines().count(), "line")) } pre.tc-reproducer { (plain::file(&node.text)) } }
        };
    };
    if parent.text.lines().count() + node.text.lines().count() > COMPARED {
        return html! { "too long to compare" };
    }
    let diff = TextDiff::from_lines(&parent.text, &node.text);
    let changed: Vec<String> = diff
        .iter_all_changes()
        .filter_map(|change| {
            let sign = match change.tag() {
                ChangeTag::Equal => return None,
                ChangeTag::Insert => '+',
                ChangeTag::Delete => '−',
            };
            Some(format!("{sign} {}", plain::code(change.value())))
        })
        .collect();
    html! {
        details {
            summary { (words::count(changed.len(), "changed line")) }
            pre.tc-reproducer { (changed.join("\n")) }
        }
    }
}

fn values(prefixes: &Prefixes, kept: &[usize]) -> Markup {
    let mut all: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (position, &number) in kept.iter().enumerate() {
        for (kind, count) in &prefixes.nodes[number].makes {
            all.entry(kind).or_insert_with(|| vec![0; kept.len()])[position] = *count;
        }
    }
    let mut rows: Vec<(&str, Vec<u32>)> = all.into_iter().collect();
    rows.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.iter().map(|count| u64::from(*count)).sum::<u64>()));
    html! {
        div.tc-scroll.tc-limit tabindex="0" role="region" aria-label="Values by type" {
            table.tc-table {
                thead {
                    tr {
                        th scope="col" { "Type" }
                        @for &number in kept { th.tc-num scope="col" { (name(prefixes, number)) } }
                    }
                }
                tbody {
                    @for (kind, counts) in &rows {
                        tr {
                            td.tc-mono { (plain::value(kind)) }
                            @for count in counts { td.tc-num { (count) } }
                        }
                    }
                }
            }
        }
    }
}
