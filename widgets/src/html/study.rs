//! A study as a static table.

use maud::{Markup, PreEscaped, html};

use super::code::LEFT;
use super::{badge, plots, tone};
use crate::bundle::STYLE;
use crate::label::{Label, label_name};
use crate::notices::lines_markup;
use crate::plot::{Confusion, Plot, StudyPlot, confusion_of, study_plot};
use crate::state::{StudyRow, StudyState};
use crate::{plain, words};

/// The maximum number of rows. The interactive view has all.
const SHOWN: usize = 300;

pub fn table(study: &StudyState) -> Markup {
    let is_labelled = study.rows.iter().any(|row| row.label.is_some());
    html! {
        div.tc-out {
            style { (PreEscaped(STYLE)) }
            h1.tc-sentence { (plain::sentence(&study.title)) }
            @for mark in study.unfinished.iter().chain(&study.without_sandbox) {
                p.tc-reason { strong { (plain::sentence(mark)) } }
            }
            (lines_markup(&study.notices))
            div.tc-scroll { table.tc-table {
                caption { (words::count(study.rows.len(), "change")) }
                thead {
                    tr {
                        @for title in ["Change", "Verdict"] { th scope="col" style=(LEFT) { (title) } }
                        @if is_labelled { th scope="col" style=(LEFT) { "Label" } }
                        th scope="col" style=(LEFT) { "Why" }
                        @for title in ["Executions", "Lines run", "Time"] { th.tc-num scope="col" { (title) } }
                    }
                }
                tbody {
                    @for row in study.rows.iter().take(SHOWN) {
                        tr {
                            th scope="row" style=(LEFT) {
                                code { (plain::value(row.function.as_ref().unwrap_or(&row.id))) }
                                @if let Some(place) = place(row) { " " span.tc-note { (plain::value(&place)) } }
                            }
                            td style=(LEFT) { (badge((words::icon(row.verdict), row.verdict.name()), tone(row.verdict))) }
                            @if is_labelled { td style=(LEFT) { (row.label.map_or("–", Label::name)) } }
                            td style=(LEFT) { (plain::sentence(&row.reason)) }
                            td.tc-num { (row.executions) }
                            td.tc-num { (if row.executions == 0 { "–".to_owned() } else { words::percent(row.coverage) }) }
                            td.tc-num { (words::duration(row.milliseconds)) }
                        }
                    }
                }
            } }
            @if study.rows.len() > SHOWN { p { "and " (study.rows.len() - SHOWN) " more" } }
            (matrix(&confusion_of(&study.rows)))
            (plots(&drawn(study)))
        }
    }
}

/// The file and the commit of a change, as far as they are known. Hashes are as short as git's.
fn place(row: &StudyRow) -> Option<String> {
    let commit = row.commit.as_deref().map(words::commit_name);
    let parts: Vec<&str> = row.file.as_deref().into_iter().chain(commit).collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// The plots that have something to draw. Verdicts against labels are a table.
fn drawn(study: &StudyState) -> Vec<Plot> {
    let plots = StudyPlot::ALL.into_iter().filter(|which| *which != StudyPlot::Confusion);
    plots.map(|which| study_plot(study, which)).filter(|plot| plot.is_drawn).collect()
}

/// Labels against verdicts.
fn matrix(confusion: &Confusion) -> Markup {
    html! {
        @if !confusion.rows.is_empty() {
            div.tc-scroll tabindex="0" role="region" aria-label="Label against verdict" {
                table.tc-table {
                    caption { "Label against verdict; ✗ the verdict disagrees with the label" }
                    thead {
                        tr {
                            td {}
                            @for verdict in &confusion.verdicts {
                                th.tc-num scope="col" { (words::icon(*verdict)) " " (verdict.name()) }
                            }
                        }
                    }
                    tbody {
                        @for (label, counts) in &confusion.rows {
                            tr {
                                th scope="row" { (label_name(*label)) }
                                @for (verdict, count) in confusion.verdicts.iter().zip(counts) {
                                    @let disagrees = *count > 0 && Confusion::disagrees(*label, *verdict);
                                    td.tc-num.tc-wrong[disagrees] { @if disagrees { "✗ " } (count) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
