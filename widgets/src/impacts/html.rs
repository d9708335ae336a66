//! An impact as static HTML: modules and functions with counts and bars, and the source with its heat. An impacted line opens
//! its chain, which needs no script.

use maud::{Markup, PreEscaped, html};

use super::state::{ImpactFileState, ImpactLink, ImpactState, ImpactStatementState, NESTED};
use crate::bundle::STYLE;
use crate::html::{page, plots, section};
use crate::notices::Notices;
use crate::plot::{LevelPoint, levels_plot};
use crate::{plain, words};

/// The maximum number of files with source, of lines in all, and of links of all chains.
const FILES: usize = 200;
const LINES: usize = 1500;
const LINKS: usize = 4000;
/// The maximum number of rows of the table.
const ROWS: usize = 500;
/// What only these views need, beside the style of all.
const OWN_STYLE: &str = include_str!("style.css");
/// The number of lines around those that are marked.
const AROUND: u32 = 2;

/// An impact for a notebook's output area: one `div` with its own style, no scripts.
pub fn impact_fragment(impact: &ImpactState) -> String {
    body(impact).into_string()
}

/// The same as a self-contained page, with the interactive view before it.
pub fn impact_page(impact: &ImpactState, title: &str) -> String {
    page(title, Notices::default(), &body(impact), impact)
}

fn body(impact: &ImpactState) -> Markup {
    let mut room = Room { lines: LINES, links: LINKS };
    let is_quiet = impact.reached.iter().all(|file| file.impacted == 0);
    html! {
        div.tc-out {
            style { (PreEscaped(STYLE)) (PreEscaped(OWN_STYLE)) }
            div class={ "tc-head " (if is_quiet { "tc-preserving" } else { "tc-changing" }) } {
                p.tc-sentence { (plain::sentence(&impact.sentence)) }
            }
            ul.tc-facts { @for (name, value) in &impact.facts { li { span { (name) } " " b { (plain::value(value)) } } } }
            @if !impact.remarks.is_empty() {
                ul.tc-notes { @for line in &impact.remarks { li { (plain::sentence(line)) } } }
            }
            @if impact.is_pruned() { (plots(&[levels_plot(&points(impact))])) }
            @if !impact.reached.is_empty() {
                (section("Modules and functions", &reached(impact), true, functions(impact)))
                p.tc-legend { (legend(impact)) }
            }
            @for (place, file) in impact.reached.iter().take(FILES).enumerate() {
                @let note = format!("{} changed, {} impacted", words::number(file.changed), words::number(file.impacted));
                (section(&file.path, &note, place == 0, source(impact, file, &mut room)))
            }
            @if impact.reached.len() > FILES {
                p.tc-legend { (words::count(impact.reached.len() - FILES, "more file")) " not shown." }
            }
        }
    }
}

fn legend(impact: &ImpactState) -> &'static str {
    match impact.is_pruned() {
        true => {
            "+ changed, ~ may see other values: the darker, the nearer to the change, = a level pruned it: it sees the same values. A \
             line with ~ or = opens its chain."
        }
        false => {
            "+ changed, ~ may see other values: the darker, the nearer to the change. A line with ~ opens its chain."
        }
    }
}

/// The levels that were measured.
fn points(impact: &ImpactState) -> Vec<LevelPoint<'_>> {
    let points = impact.levels.iter().filter_map(|level| {
        let (name, impacted) = (level.name.as_str(), level.impacted);
        level.milliseconds.map(|milliseconds| LevelPoint { name, impacted, milliseconds })
    });
    points.collect()
}

fn reached(impact: &ImpactState) -> String {
    let all = impact.reached.len() + impact.others;
    let reached = impact.reached.iter().filter(|file| file.changed + file.impacted > 0).count();
    format!("{} of {} reached", words::number(reached), words::count(all, "file"))
}

/// Modules with their functions, each with its counts and a bar.
fn functions(impact: &ImpactState) -> Markup {
    let mut rows = Vec::new();
    for file in &impact.reached {
        rows.push(row(&file.path, "tc-file", (file.changed, file.impacted, file.not_impacted), true));
        rows.extend(file.functions.iter().map(|function| {
            let counts = (function.changed, function.impacted, function.not_impacted);
            row(&function.name, "tc-inner", counts, function.reached)
        }));
    }
    let more = rows.len().saturating_sub(ROWS);
    html! {
        div.tc-scroll.tc-limit tabindex="0" role="region" aria-label="Modules and functions" {
            table.tc-table {
                thead {
                    tr {
                        th scope="col" { "Function" } th.tc-num scope="col" { "Changed" } th.tc-num scope="col" { "Impacted" }
                        th.tc-num scope="col" { "Statements" } th scope="col" { "Share" }
                    }
                }
                tbody { @for row in rows.iter().take(ROWS) { (row) } }
            }
        }
        @if more > 0 { p.tc-legend { (words::count(more, "more row")) " not listed." } }
    }
}

fn row(name: &str, class: &str, (changed, impacted, not): (usize, usize, usize), is_reached: bool) -> Markup {
    let all = changed + impacted + not;
    let share = |count: usize| 100 * count / all.max(1);
    let text = format!("{} of {all} changed or impacted", changed + impacted);
    html! {
        tr class=(class) {
            td.tc-mono { (name) @if !is_reached { " " span.tc-note { "no entry reaches it" } } }
            td.tc-num { (words::number(changed)) }
            td.tc-num { (words::number(impacted)) }
            td.tc-num { (words::number(all)) }
            td {
                span.tc-bar role="img" aria-label=(text) {
                    span.tc-bar-changed style={ "width:" (share(changed)) "%" } {}
                    span.tc-bar-impacted style={ "width:" (share(impacted)) "%" } {}
                }
            }
        }
    }
}

/// How much more may be shown.
struct Room {
    lines: usize,
    links: usize,
}

/// The marked lines of a file with those around them.
fn source(impact: &ImpactState, file: &ImpactFileState, room: &mut Room) -> Markup {
    let near = |number: u32| {
        let is_near =
            |one: &ImpactStatementState| (one.lines.0.saturating_sub(AROUND)..=one.lines.1 + AROUND).contains(&number);
        let until = file.statements.partition_point(|one| one.lines.0 <= number + AROUND);
        file.statements[..until].iter().rev().take(NESTED).any(is_near)
    };
    let marked: Vec<_> = file.lines.iter().filter(|line| near(line.number)).collect();
    let shown = marked.len().min(room.lines);
    room.lines -= shown;
    let mut before = 0;
    let mut rows = Vec::new();
    for line in marked.into_iter().take(shown) {
        if line.number > before + 1 {
            rows.push(html! { div.tc-gap { "⋯" } });
        }
        before = line.number;
        let own = statement_at(file, line.number);
        let class = match own {
            None => "tc-h".to_owned(),
            Some(one) if one.changed => "tc-h tc-hc".to_owned(),
            Some(one) if one.pruned.is_some() => "tc-h tc-hp".to_owned(),
            Some(one) => format!("tc-h tc-h{}", one.heat),
        };
        let begins = own.filter(|one| one.lines.0 == line.number);
        let pruned = begins.and_then(|one| one.pruned.as_ref());
        let mark = match begins {
            None => " ",
            Some(one) if one.changed => "+",
            Some(_) if pruned.is_some() => "=",
            Some(_) => "~",
        };
        let chain = begins.map(|one| impact.chain(one.link)).unwrap_or_default();
        if chain.is_empty() || chain.len() > room.links {
            rows.push(html! { div class=(class) { (code(line.number, mark, &line.text)) } });
        } else {
            room.links -= chain.len();
            rows.push(html! {
                details class=(class) {
                    summary { (code(line.number, mark, &line.text)) }
                    @if let Some(pruned) = pruned { p.tc-chain { (pruned.because) ". Without this:" } }
                    (links(&chain, pruned.map(|pruned| pruned.cut)))
                }
            });
        }
    }
    html! {
        div.tc-scroll.tc-tall.tc-heat tabindex="0" role="region" aria-label={ "Source of " (file.path) } {
            @for row in rows { (row) }
        }
        @if room.lines == 0 { p.tc-legend { "There is no room for more lines here." } }
    }
}

/// The innermost statement that has a line.
fn statement_at(file: &ImpactFileState, number: u32) -> Option<&ImpactStatementState> {
    let until = file.statements.partition_point(|one| one.lines.0 <= number);
    let around = file.statements[..until].iter().rev().take(NESTED).filter(|one| number <= one.lines.1);
    around.min_by_key(|one| one.lines.1 - one.lines.0)
}

fn code(number: u32, mark: &str, text: &str) -> Markup {
    html! { span.tc-hn { (number) } span.tc-hm { (mark) } code { (text) } }
}

/// A chain, the change first. The link at the place of a cut no longer holds.
fn links(chain: &[&ImpactLink], cut: Option<usize>) -> Markup {
    html! {
        ol.tc-chain {
            @for (at, link) in chain.iter().enumerate() {
                li {
                    @if let Some(place) = &link.place { code { (place) } " " }
                    @if link.old && link.place.is_some() { "of the old version " }
                    (link.text)
                    @if !link.code.is_empty() { ": " code { (link.code) } }
                    @if cut == Some(at) { " " em { "(ruled out)" } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impacts::tests::{NEW, OLD, SPLIT, report};

    #[test]
    fn the_static_view_of_an_impact() {
        let state = ImpactState::new(&report("shop.py", OLD, NEW));
        let fragment = impact_fragment(&state);
        insta::assert_snapshot!(fragment.split_once("</style>").unwrap().1.replace("><", ">\n<"));
    }

    #[test]
    fn levels_that_prune_have_a_chart_and_pruned_lines_say_what_pruned_them() {
        let state = ImpactState::new(&report("shop.py", SPLIT[0], SPLIT[1]));
        let fragment = impact_fragment(&state);
        assert!(fragment.contains("<svg") && !fragment.contains("<script"));
        let body = fragment.split_once("</style>").unwrap().1;
        let pruned = body.split("<details").find(|part| part.contains("tc-hp")).unwrap();
        assert!(pruned.contains(">=</span>") && pruned.contains("k=0 pruned it"), "{pruned}");
        assert_eq!(pruned.matches("ruled out").count(), 1);
        let none = impact_fragment(&ImpactState::new(&report("shop.py", OLD, NEW)));
        assert!(!none.contains("<svg") && !none.contains("tc-hp\""), "{none}");
    }

    #[test]
    fn nothing_of_a_project_becomes_markup_or_moves_the_cursor() {
        let odd = |value: &str| format!("def f():\n    return '<script>\u{1b}[2J\u{202e} {value}'\n\nprint(f())\n");
        let state = ImpactState::new(&report("<script>.py", &odd("1"), &odd("2")));
        let fragment = impact_fragment(&state);
        assert!(!["<script", "\u{1b}", "\u{202e}"].iter().any(|text| fragment.contains(text)));
        // The page has two scripts of its own, and its state as data.
        assert_eq!(impact_page(&state, "<script>").matches("<script").count(), 2);
    }
}
