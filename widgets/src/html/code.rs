//! Both versions side by side: line numbers, coverage margin, change marks, and the injected values under the line
//! where they entered.

use maud::{Markup, html};

use twincell_compare::report::{LineReport, PairReport, VersionReport, Witness};

use crate::{plain, words};

/// Where a notebook is not trusted, JupyterLab drops the page's style, keeps this, and else aligns tables to the right.
pub(super) const LEFT: &str = "text-align:left";

/// The maximum number of values shown under one line. The table of injected values has them all.
const VALUES_AT_LINE: usize = 6;

pub fn side_by_side(pair: &PairReport) -> Markup {
    html! {
        div.tc-scroll.tc-tall tabindex="0" role="region" aria-label="Old and new side by side" {
            table.tc-code {
                caption { "Old and new side by side; − and + mark what changed" }
                colgroup { col.tc-c-no; col.tc-c-runs; col.tc-c-sign; col; col.tc-c-no; col.tc-c-runs; col.tc-c-sign; col; }
                thead {
                    tr { (heading("old", &pair.old)) (heading("new", &pair.new)) }
                    tr.tc-sub { (subheading(false)) (subheading(true)) }
                }
                tbody {
                    @for row in &pair.rows {
                        @let (old, new) = words::row_lines(pair, row);
                        (begun(pair, old, new))
                        tr { (side(&pair.old, old, new, false)) (side(&pair.new, new, old, true)) }
                        @if let Some(witness) = &pair.witness { (values(witness, old, new)) }
                    }
                }
            }
        }
        p.tc-legend { (words::MARGIN_LEGEND) }
    }
}

fn heading(side: &str, version: &VersionReport) -> Markup {
    html! {
        th colspan="4" scope="colgroup" class=[(side == "new").then_some("tc-new")] {
            span.tc-side { (side) } " "
            code { (plain::value(&version.qualname)) }
            span.tc-note { " " (words::percent(version.coverage)) " covered" }
        }
    }
}

fn subheading(new: bool) -> Markup {
    html! {
        th.tc-new[new] scope="col" { "line" }
        th scope="col" { "runs" }
        td {}
        th scope="col" { "code" }
    }
}

/// A row where other functions begin, which stand elsewhere.
fn begun(pair: &PairReport, old: Option<&LineReport>, new: Option<&LineReport>) -> Markup {
    let (old, new) = (words::part_from(&pair.old, old), words::part_from(&pair.new, new));
    if old.is_none() && new.is_none() {
        return html! {};
    }
    html! {
        tr.tc-values {
            @for (part, class) in [(old, None), (new, Some("tc-new"))] {
                td colspan="4" class=[class] style=(LEFT) {
                    @if let Some(part) = part {
                        span.tc-enter {
                            "⋯" @if let Some(text) = words::part_text(&part.text) { " in " (text) }
                        }
                    }
                }
            }
        }
    }
}

fn side(version: &VersionReport, line: Option<&LineReport>, other: Option<&LineReport>, new: bool) -> Markup {
    let Some(line) = line else {
        return html! { td.tc-void.tc-new[new] colspan="4" {} };
    };
    let (sign, class) = match (words::is_marked(line, other), new) {
        (false, _) => ("", ""),
        (true, false) => ("−", "tc-del"),
        (true, true) => ("+", "tc-add"),
    };
    let cover = match (line.executable, line.executions) {
        (false, _) => "",
        (true, 0) => "tc-never",
        (true, _) => "tc-ran",
    };
    html! {
        td class={ "tc-no " (class) @if new { " tc-new" } } { (words::line_in_file(version, line.number)) }
        td class={ "tc-runs " (cover) " " (class) } {
            @if line.witness_hits > 0 { span.tc-hit { "▸" } }
            (words::margin(line))
        }
        td class={ "tc-sign " (class) } { (sign) }
        td class={ "tc-src " (class) } { (source(&line.text)) }
    }
}

/// A line of code. If it is too long for its column, its continuation is indented further than its start. There must be
/// no break between indentation and code, hence two elements, in `pre`, because nbconvert's parser joins spaces
/// anywhere else.
fn source(text: &str) -> Markup {
    let text = plain::code(text);
    let (indentation, rest) = text.split_at(text.len() - text.trim_start_matches(' ').len());
    let hang = indentation.len().min(40) + 4;
    html! {
        pre style={ (LEFT) ";padding-left:" (hang) "ch;text-indent:-" (hang) "ch" } {
            (indentation) span { (rest) }
        }
    }
}

/// The values that entered at this row. They went into both versions, so the row spans both.
fn values(witness: &Witness, old: Option<&LineReport>, new: Option<&LineReport>) -> Markup {
    let found = words::injections_at(witness, old, new);
    if found.is_empty() {
        return html! {};
    }
    html! {
        tr.tc-values {
            td colspan="3" {}
            td colspan="5" style=(LEFT) {
                span.tc-enter { "↳ injected" }
                @for &index in found.iter().take(VALUES_AT_LINE) {
                    @let injection = &witness.injections[index];
                    " "
                    code.tc-chip {
                        (plain::path(injection.path.as_str())) " = " b { (plain::value(&injection.value.display())) }
                    }
                }
                @if found.len() > VALUES_AT_LINE { " and " (found.len() - VALUES_AT_LINE) " more" }
            }
        }
    }
}
