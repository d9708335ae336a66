//! The tables of one pair. Every table has a caption and header cells, is bounded in rows, and says what it leaves out.
//! A sign and a word mark a difference.

use maud::{Markup, html};

use twincell_behavior::{Channel, EvidencePlace, Stream, display_call, display_outcome};
use twincell_compare::report::{Evidence, ExecutionReport, PairReport, Varied, VariedOutcome, VersionReport, Witness};
use twincell_engine::observed::{Behavior, Call};

use crate::{plain, wording, words};

/// The maximum number of inputs whose weights are told.
const WEIGHTS: usize = 8;
const EVIDENCE_ROWS: usize = 25;
const VALUE_ROWS: usize = 100;
const CALL_ROWS: usize = 100;
const EXECUTION_ROWS: usize = 20;
/// Differing executions beyond the first ones are shown up to this number.
const DIFFERING_ROWS: usize = 10;
/// The number of rows from which a table scrolls within its own window.
const TALL: usize = 20;

pub fn evidence(pair: &PairReport) -> Markup {
    let rows = pair.evidence.iter().take(EVIDENCE_ROWS).map(|one| {
        html! {
            tr.tc-differs {
                th scope="row" { "≠ " (one.channel.name()) }
                td { (words::strength(one)) }
                td.tc-mono { (plain::value(&one.place)) }
                (seen(&one.old))
                (seen(&one.new))
                td.tc-num { (one.execution) }
            }
        }
    });
    table(
        "What differs",
        false,
        &["Channel", "Strength", "Place", "Old", "New", "Execution#"],
        rows,
        pair.evidence.len(),
    )
}

pub fn injections(pair: &PairReport, witness: &Witness) -> Markup {
    if witness.injections.is_empty() {
        return html! { p.tc-quiet { "No value was missing: nothing was injected." } };
    }
    let rows = witness.injections.iter().take(VALUE_ROWS).map(|injection| {
        html! {
            tr {
                th.tc-mono scope="row" { (plain::path(injection.path.as_str())) }
                td.tc-mono { (plain::value(&injection.value.display())) }
                td { (injection.value.abstract_value().name()) }
                td { (words::kind_name(injection.kind)) }
                td.tc-num { (words::injection_place(pair, injection)) }
                td.tc-num { (words::probability(f64::from(injection.probability))) }
            }
        }
    });
    let columns = ["Access path", "Value", "Class", "Kind", "Line#", "Probability#"];
    table("Injected values, the same into both versions", true, &columns, rows, witness.injections.len())
}

/// The values of one input, in a row that shows where old and new part.
pub fn varied(varied: &Varied) -> Markup {
    html! {
        p.tc-varied-sentence { (plain::sentence(&wording::varied(varied))) }
        ul.tc-strip aria-label="Values that were tried, all else the same" {
            @for value in &varied.values {
                @let (mark, said) = words::varied_mark(value.outcome);
                li.tc-differs[value.outcome == VariedOutcome::Differs] {
                    span aria-hidden="true" { (mark) " " } (plain::value(&value.value))
                    span.tc-hidden { " " (said) }
                }
            }
        }
    }
}

/// How much each input matters, in a line.
pub fn weights(witness: &Witness) -> Markup {
    html! {
        @if !witness.input_weights.is_empty() {
            p.tc-told {
                b { "Which inputs matter" } ", one at a time: the difference goes away with another value of "
                @for (index, weight) in witness.input_weights.iter().take(WEIGHTS).enumerate() {
                    @if index > 0 { ", " }
                    code { (plain::path(&weight.path)) } " (" (words::weight_text(weight)) ")"
                }
                @if witness.input_weights.len() > WEIGHTS { " and " (witness.input_weights.len() - WEIGHTS) " more" }
                "."
            }
        }
    }
}

/// Where the executions of both versions part.
pub fn parting(pair: &PairReport, witness: &Witness) -> Markup {
    let Some(parting) = &witness.parting else { return html! {} };
    let line = pair.old.lines.iter().find(|line| line.number == parting.old_line);
    html! {
        p.tc-told {
            b { "Where they part" } ": " (words::parting_sentence(pair, parting))
            @if let Some(line) = line { " " code { (plain::value(line.text.trim())) } }
        }
    }
}

pub fn other_decisions(witness: &Witness) -> Markup {
    let decisions = words::other_decisions(witness);
    if decisions.is_empty() {
        return html! {};
    }
    let rows = decisions.iter().take(VALUE_ROWS).map(|(path, decision)| {
        html! { tr { th.tc-mono scope="row" { (plain::path(path)) } td.tc-mono { (plain::value(decision)) } } }
    });
    table("Other decisions", true, &["Access path", "Decision"], rows, decisions.len())
}

/// What each version did in the witness, side by side. Evidence tells the differences.
pub fn behaviors(pair: &PairReport, witness: &Witness) -> Markup {
    let row = |name: &str, differs: bool, old: &str, new: &str| {
        html! {
            tr.tc-differs[differs] {
                th scope="row" { @if differs { "≠ " } (plain::value(name)) }
                (seen(old))
                (seen(new))
            }
        }
    };
    let evidence = words::evidence_of(pair, witness);
    let differs = |such: &dyn Fn(&Evidence) -> bool| evidence.iter().any(|one| such(one));
    let (old, new) = (&witness.old, &witness.new);
    let outcome = differs(&|one| matches!(one.channel, Channel::Return | Channel::Exception));
    let mut rows = vec![row("outcome", outcome, &display_outcome(&old.outcome), &display_outcome(&new.outcome))];
    let final_values = words::final_values(old, new, &evidence);
    rows.extend(final_values.iter().map(|one| row(&one.name, one.differs, &one.old, &one.new)));
    for (stream, old, new) in [(Stream::Stdout, &old.stdout, &new.stdout), (Stream::Stderr, &old.stderr, &new.stderr)] {
        if !old.is_empty() || !new.is_empty() {
            let differs = differs(&|one| one.is_at(&EvidencePlace::Output { stream }));
            rows.push(row(stream.name(), differs, old, new));
        }
    }
    let logged = |behavior: &Behavior| -> Vec<String> {
        behavior.log.iter().map(|entry| format!("{}: {}", entry.level, entry.message)).collect()
    };
    if !old.log.is_empty() || !new.log.is_empty() {
        let differs = differs(&|one| one.channel == Channel::Log);
        rows.push(row("log", differs, &logged(old).join("\n"), &logged(new).join("\n")));
    }
    let total = rows.len();
    table("What each version did", true, &["", "Old", "New"], rows.into_iter().take(VALUE_ROWS), total)
}

pub fn calls(pair: &PairReport, witness: &Witness) -> Markup {
    let side = |version: &VersionReport, call: &Option<Call>| {
        html! {
            @match call {
                Some(call) => {
                    td.tc-num { @if call.line > 0 { (words::line_name(version, call.line)) } }
                    td.tc-mono { (plain::value(&display_call(call))) }
                }
                None => { td.tc-num {} td.tc-quiet { "no call" } }
            }
        }
    };
    let rows = witness.calls.iter().take(CALL_ROWS).map(|row| {
        html! {
            tr.tc-differs[!row.equal] {
                th.tc-mark scope="row" { (words::call_mark(row, &witness.calls)) }
                (side(&pair.old, &row.old))
                (side(&pair.new, &row.new))
            }
        }
    });
    let columns = ["", "Line#", "Old", "Line#", "New"];
    table("Calls, old against new, in order", false, &columns, rows, witness.calls.len())
}

pub fn executions(pair: &PairReport) -> Markup {
    let row = |execution: &ExecutionReport| {
        let valid = execution.old_valid && execution.new_valid;
        html! {
            tr.tc-differs[execution.differs].tc-dim[!execution.differs && !valid] {
                th.tc-num scope="row" { (execution.number) }
                td.tc-mark {
                    (words::execution_mark(execution))
                    @if let Some(source) = &execution.example { br; span.tc-quiet { (plain::value(&source.to_string())) } }
                }
                td.tc-mono { (plain::value(&execution.old)) }
                td.tc-mono { (plain::value(&execution.new)) }
                td.tc-num { @if execution.new_lines > 0 { "+" } (execution.new_lines) }
                td.tc-num { (words::percent(execution.coverage_so_far)) }
                td.tc-num { (words::duration(f64::from(execution.microseconds) / 1000.0)) }
            }
        }
    };
    let columns = ["No.#", "", "Old", "New", "New lines#", "Covered so far#", "Time#"];
    let (first, later) = pair.executions.split_at(pair.executions.len().min(EXECUTION_ROWS));
    let later = later.iter().filter(|execution| execution.differs).take(DIFFERING_ROWS);
    let rows = first.iter().chain(later).map(row);
    let any_says_nothing = pair.executions.iter().any(|one| !(one.old_valid && one.new_valid));
    let any_is_left_aside = pair.executions.iter().any(|one| !one.examined);
    html! {
        (table("Executions", false, &columns, rows, pair.executed as usize))
        @if any_says_nothing { p.tc-legend { (words::EXECUTION_LEGEND) } }
        @if any_is_left_aside { p.tc-legend { (words::UNEXAMINED_LEGEND) } }
    }
}

/// A cell with what a version did. Words say that a text is empty.
fn seen(text: &str) -> Markup {
    html! {
        @if text.is_empty() { td.tc-quiet { "nothing" } } @else { td.tc-mono { (plain::value(text)) } }
    }
}

/// A table that scrolls by itself if it is too wide. A column whose title ends in `#` holds numbers. A column without a
/// title holds marks or row names. A caption that only repeats its section is `titled`, for screen readers alone. There
/// are `total` rows, of which fewer may be given.
fn table(caption: &str, titled: bool, columns: &[&str], rows: impl Iterator<Item = Markup>, total: usize) -> Markup {
    let rows: Vec<Markup> = rows.collect();
    html! {
        div.tc-scroll.tc-limit[rows.len() >= TALL] tabindex="0" role="region" aria-label=(caption) {
            table.tc-table {
                caption.tc-hidden[!titled] { (caption) }
                thead {
                    tr {
                        @for column in columns {
                            @match column.strip_suffix('#') {
                                Some(number) => th.tc-num scope="col" { (number) },
                                None if column.is_empty() => td {},
                                None => th scope="col" { (column) },
                            }
                        }
                    }
                }
                tbody { @for row in &rows { (row) } }
            }
        }
        @if total > rows.len() { p.tc-legend { "… and " (total - rows.len()) " more, not shown" } }
    }
}
