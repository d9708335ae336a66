//! A study as a static table.

use maud::{Markup, PreEscaped, html};

use super::{badge, plots, tone};
use crate::bundle::STYLE;
use crate::label::{Label, label_name};
use crate::plot::{Confusion, Plot, StudyPlot, confusion_of, study_plot};
use crate::state::StudyState;
use crate::{plain, words};

/// The maximum number of rows. The interactive view has all.
const SHOWN: usize = 300;

pub fn table(study: &StudyState) -> Markup {
    html! {
        div.tc-out {
            style { (PreEscaped(STYLE)) }
            h1.tc-sentence { (plain::sentence(&study.title)) }
            @if let Some(mark) = &study.without_sandbox {
                p.tc-reason { strong { (plain::sentence(mark)) } }
            }
            (matrix(&confusion_of(&study.rows)))
            @if !study.rows.is_empty() { (plots(&drawn(study))) }
            div.tc-scroll { table.tc-table {
                caption { (words::count(study.rows.len(), "change")) }
                thead {
                    tr {
                        @for title in ["Change", "Verdict", "Label", "Why", "Executions", "Lines run", "Time"] {
                            th scope="col" { (title) }
                        }
                    }
                }
                tbody {
                    @for row in study.rows.iter().take(SHOWN) {
                        tr {
                            th scope="row" { code { (plain::value(&row.id)) } }
                            td { (badge((words::icon(row.verdict), row.verdict.name()), tone(row.verdict))) }
                            td { (row.label.map_or("–", Label::name)) }
                            td { (plain::sentence(&row.reason)) }
                            td.tc-num { (row.executions) }
                            td.tc-num { (if row.executions == 0 { "–".to_owned() } else { words::percent(row.coverage) }) }
                            td.tc-num { (words::duration(row.milliseconds)) }
                        }
                    }
                }
            } }
            @if study.rows.len() > SHOWN { p { "and " (study.rows.len() - SHOWN) " more" } }
        }
    }
}

/// The plots that a page shows, as far as the results have their data. There, the verdicts against the labels are a
/// table.
fn drawn(study: &StudyState) -> Vec<Plot> {
    let shown = |which: &StudyPlot| match which {
        StudyPlot::Confusion => false,
        StudyPlot::UntilDifference => study.rows.iter().any(|row| row.first_difference.is_some()),
        StudyPlot::Complexity => study.rows.iter().any(|row| row.complexity.is_some() && row.executions > 0),
        _ => true,
    };
    StudyPlot::ALL.into_iter().filter(shown).map(|which| study_plot(study, which)).collect()
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
