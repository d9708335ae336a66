//! A study as a static table.

use maud::{Markup, PreEscaped, html};

use super::{STYLE, badge, tone};
use crate::{StudyState, plain, words};

/// Rows at most; the interactive view has all.
const SHOWN: usize = 1000;

pub fn table(study: &StudyState) -> Markup {
    html! {
        div.tc-out {
            style { (PreEscaped(STYLE)) }
            h1.tc-sentence { (plain::sentence(&study.title)) }
            table.tc-table {
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
                            td { (plain::value(row.label.as_deref().unwrap_or("–"))) }
                            td { (plain::sentence(&row.reason)) }
                            td.tc-num { (row.executions) }
                            td.tc-num { (words::percent(row.coverage)) }
                            td.tc-num { (words::duration(row.milliseconds)) }
                        }
                    }
                }
            }
            @if study.rows.len() > SHOWN { p { "and " (study.rows.len() - SHOWN) " more" } }
        }
    }
}
