//! One pair: facts, evidence, witness, code, calls, executions with their plot, notes, in the order in which readers
//! ask.

use maud::{Markup, html};

use twincell_compare::report::PairReport;
use twincell_compare::verdict::Verdict;

use super::{code, plots, section, tables};
use crate::plot::pair_plots;
use crate::{plain, wording, words};

/// The maximum number of bytes of a test that is shown: a notebook keeps every output.
const REPRODUCER: usize = 8000;
/// The maximum number of calls for which the table is open at first.
const OPEN_CALLS: usize = 12;

pub fn body(pair: &PairReport, budget: u32) -> Markup {
    let identical = pair.verdict == Verdict::Identical;
    html! {
        @if let Some(reason) = words::reason(pair) { p.tc-reason { (reason) } }
        ul.tc-facts {
            @for (name, value) in words::facts(pair, budget) {
                li { span { (name) } " " b { (value) } }
            }
        }
        @if !pair.evidence.is_empty() {
            (section("Evidence", &words::count(pair.evidence.len(), "difference"), true, tables::evidence(pair)))
        }
        @if let Some(witness) = &pair.witness {
            @let title = words::witness_title(pair, witness);
            @let note = words::count(witness.injections.len(), "value");
            (section(&title, &note, !identical, html! {
                (tables::injections(pair, witness))
                @for varied in &witness.varied { (tables::varied(varied)) }
                (tables::weights(witness))
                (tables::other_decisions(witness))
                (tables::behaviors(pair, witness))
                (tables::parting(pair, witness))
            }))
        }
        @if let Some(reproducer) = &pair.reproducer {
            @match (&reproducer.source, reproducer.holds) {
                (Some(source), Some(true) | None) => {
                    @let note = match reproducer.holds {
                        Some(_) => "a test that passes with old and fails with new, without twincell",
                        None => "a test that could not be run here",
                    };
                    (section("Reproducer", note, false, html! {
                        @if source.len() > REPRODUCER {
                            p { "It has " (words::count(source.lines().count(), "line")) ": the interactive view shows it, "
                                code { "comparison.reproducer" } " has it, and " code { "--reproducer FILE" } " writes it." }
                        } @else {
                            pre.tc-reproducer { code { (plain::file(source)) } }
                        }
                    }))
                }
                _ => @if let Some(reason) = &reproducer.why_not {
                    (section("Reproducer", "none", false, html! { p { "None, because " (plain::sentence(reason)) "." } }))
                },
            }
        }
        @if !pair.rows.is_empty() {
            @let note = if pair.executions.is_empty() { "nothing was executed" } else { "coverage in the margin" };
            (section("Old and new", note, !identical, code::side_by_side(pair)))
        }
        @if let Some(witness) = &pair.witness && !witness.calls.is_empty() {
            @let differing = witness.calls.iter().filter(|row| !row.equal).count();
            @let note = format!("{}, {differing} differing", words::count(witness.calls.len(), "call"));
            @let open = differing > 0 && witness.calls.len() <= OPEN_CALLS;
            (section("Calls to external code", &note, open, tables::calls(pair, witness)))
        }
        @if !pair.executions.is_empty() {
            @let note = words::count(pair.executed as usize, "execution");
            (section("Executions and coverage", &note, false, html! {
                (plots(&pair_plots(pair)))
                (tables::executions(pair))
            }))
        }
        @if !pair.notes.is_empty() {
            (section("Notes", &words::count(pair.notes.len(), "note"), pair.notes.len() <= 5, html! {
                ul.tc-notes { @for note in &pair.notes { li { (plain::sentence(&wording::note(note))) } } }
            }))
        }
    }
}
