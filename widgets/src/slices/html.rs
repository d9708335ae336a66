//! A slice as static HTML: the search, all commits with their reasons, what they need of each other, and their diffs.

use maud::{Markup, PreEscaped, html};

use super::state::{SliceState, SliceUnitState, SliceWhy};
use super::untried_line;
use crate::bundle::STYLE;
use crate::html::{diff_lines, page, plots, section};
use crate::notices::Notices;
use crate::plot::{Run, slice_plot};
use crate::{plain, words};

/// The maximum number of commits of a table.
const LISTED: usize = 300;
/// The maximum number of diffs of commits that go.
const DIFFS: usize = 60;
/// The maximum number of paths of a row, and of units that a line names.
const NAMED: usize = 4;

/// A slice for a notebook's output area: one `div` with its own style, no scripts.
pub fn slice_fragment(slice: &SliceState) -> String {
    body(slice).into_string()
}

/// The same as a self-contained page, with the interactive view before it.
pub fn slice_page(slice: &SliceState, title: &str) -> String {
    page(title, Notices::default(), &body(slice), slice)
}

fn body(slice: &SliceState) -> Markup {
    let numbered = || slice.units.iter().enumerate();
    let is_untried = |unit: &SliceUnitState| unit.why == SliceWhy::Unknown;
    let (untried, staying): (Vec<_>, Vec<_>) =
        numbered().filter(|(_, unit)| unit.stays).partition(|(_, unit)| is_untried(unit));
    let going: Vec<_> = numbered().filter(|(_, unit)| !unit.stays).collect();
    let runs: Vec<Run> =
        slice.steps.iter().map(|step| Run { tried: step.tried, kept: step.kept, passed: step.passed }).collect();
    html! {
        div.tc-out {
            style { (PreEscaped(STYLE)) }
            div class={ "tc-head " (if slice.is_minimal { "tc-preserving" } else { "tc-inconclusive" }) } {
                p.tc-sentence { (plain::sentence(&slice.sentence)) }
            }
            ul.tc-facts { @for (name, value) in &slice.facts { li { span { (name) } " " b { (plain::value(value)) } } } }
            @if !slice.remarks.is_empty() {
                ul.tc-notes { @for line in &slice.remarks { li { (plain::sentence(line)) } } }
            }
            (plots(&[slice_plot(&runs, unit_name(slice), slice.outcomes)]))
            @if !staying.is_empty() {
                (section("Stays", &words::count(staying.len(), unit_name(slice)), true, table("Commits that stay, oldest first", &staying)))
            }
            @for (place, unit) in &staying {
                (section(&title(unit), "stays", false, one(slice, *place, unit)))
            }
            @if !untried.is_empty() {
                (section("Not tried", &words::count(untried.len(), unit_name(slice)), false, html! {
                    p.tc-told { (untried_line(untried.len(), !staying.is_empty(), unit_name(slice))) }
                    (names(&untried))
                }))
            }
            @if !going.is_empty() {
                (section("Goes", &words::count(going.len(), unit_name(slice)), false, table("Commits that go, oldest first", &going)))
                (section("Diffs of those that go", "", false, html! {
                    @for (place, unit) in going.iter().take(DIFFS) {
                        details { summary { (title(unit)) } (one(slice, *place, unit)) }
                    }
                    @if going.len() > DIFFS { p.tc-legend { (words::number(going.len() - DIFFS)) " more not shown." } }
                }))
            }
            @if !slice.tests.is_empty() { (section("Tests", &tests_note(slice), false, tests(slice))) }
        }
    }
}

fn names(units: &[(usize, &SliceUnitState)]) -> Markup {
    html! {
        ul.tc-notes {
            @for (_, unit) in units.iter().take(LISTED) { li { (title(unit)) } }
            @if units.len() > LISTED { li { "and " (words::number(units.len() - LISTED)) " more" } }
        }
    }
}

fn unit_name(slice: &SliceState) -> &'static str {
    if slice.is_split { "change" } else { "commit" }
}

fn title(unit: &SliceUnitState) -> String {
    let part = unit.part.as_ref().map(|part| format!(" ({part})")).unwrap_or_default();
    plain::value(&format!("{} {}{part}", words::commit_name(&unit.commit), unit.subject))
}

/// Units with their reasons.
fn table(label: &str, units: &[(usize, &SliceUnitState)]) -> Markup {
    let more = units.len().saturating_sub(LISTED);
    // A part of a commit names its file.
    let has_files = units.iter().any(|(_, unit)| unit.part.is_none());
    html! {
        div.tc-scroll.tc-limit tabindex="0" role="region" aria-label=(label) {
            table.tc-table {
                thead {
                    tr {
                        th scope="col" { "Commit" } th scope="col" { "Subject" }
                        @if has_files { th scope="col" { "Files" } }
                        th.tc-num scope="col" { "Score" } th scope="col" { "Why" }
                    }
                }
                tbody {
                    @for (_, unit) in units.iter().take(LISTED) {
                        tr {
                            td.tc-mono { (words::commit_name(&unit.commit)) }
                            td {
                                (plain::value(&unit.subject))
                                @if let Some(part) = &unit.part { " " span.tc-note { (plain::value(part)) } }
                            }
                            @if has_files { td.tc-mono { (paths(unit)) } }
                            td.tc-num { (unit.score) }
                            td { (plain::sentence(&unit.reason)) }
                        }
                    }
                }
            }
        }
        @if more > 0 { p.tc-legend { (words::number(more)) " more not listed." } }
    }
}

fn paths(unit: &SliceUnitState) -> Markup {
    let more = unit.paths.len() + unit.more_paths - unit.paths.len().min(NAMED);
    html! {
        @for (position, path) in unit.paths.iter().take(NAMED).enumerate() {
            @if position > 0 { br; }
            (plain::value(path))
        }
        @if more > 0 { br; span.tc-note { "and " (words::number(more)) " more" } }
    }
}

/// A unit with its reason, what it needs and who needs it, and its diff.
fn one(slice: &SliceState, place: usize, unit: &SliceUnitState) -> Markup {
    html! {
        p.tc-told { (plain::sentence(&unit.reason)) }
        @if unit.failed.len() > 1 {
            ul.tc-notes {
                @for failed in &unit.failed {
                    li { code { (plain::value(&failed.test)) } " " (plain::sentence(&failed.exception)) ": " (plain::sentence(&failed.message)) }
                }
                @if unit.failed_count > unit.failed.len() { li { "and " (words::number(unit.failed_count - unit.failed.len())) " more" } }
            }
        }
        (needs(slice, place))
        @if !unit.diff.is_empty() {
            pre.tc-reproducer tabindex="0" role="region" aria-label={ "What " (words::commit_name(&unit.commit)) " changes" } {
                (diff_lines(&unit.diff))
            }
        }
        @if let Some(lacks) = &unit.diff_lacks { p.tc-legend { (lacks) } }
    }
}

/// What a unit needs of others, and what others need of it.
fn needs(slice: &SliceState, place: usize) -> Markup {
    let text = |of: fn(&(usize, usize)) -> (usize, usize)| -> Vec<usize> {
        slice.text_needs.iter().map(of).filter(|(from, _)| *from == place).map(|(_, to)| to).collect()
    };
    let (needed, needing) = (text(|edge| *edge), text(|(unit, needed)| (*needed, *unit)));
    let names = |of: &[String], more: usize| {
        let named: Vec<String> = of.iter().map(|name| plain::value(name)).collect();
        let rest = if more > 0 { format!(" and {} more", words::number(more)) } else { String::new() };
        named.join(", ") + &rest
    };
    let used = slice.name_needs.iter().filter(|need| need.user == place);
    let provided = slice.name_needs.iter().filter(|need| need.provider == place);
    html! {
        ul.tc-notes {
            @if !needed.is_empty() { li { "Its text stands on that of " (listed(slice, &needed)) "." } }
            @if !needing.is_empty() { li { "Its text is needed by " (listed(slice, &needing)) "." } }
            @for need in used.take(NAMED) { li { "It uses " code { (names(&need.names, need.more)) } " of " (listed(slice, &[need.provider])) "." } }
            @for need in provided.take(NAMED) { li { (listed(slice, &[need.user])) " uses its " code { (names(&need.names, need.more)) } "." } }
        }
    }
}

fn listed(slice: &SliceState, units: &[usize]) -> Markup {
    html! {
        @for (position, unit) in units.iter().take(NAMED).filter_map(|place| slice.units.get(*place)).enumerate() {
            @if position > 0 { ", " }
            code { (words::commit_name(&unit.commit)) } " (" (plain::value(&unit.subject)) ")"
        }
        @if units.len() > NAMED { " and " (words::number(units.len() - NAMED)) " more" }
    }
}

fn tests_note(slice: &SliceState) -> String {
    format!("{} decided", words::number(slice.tests.len() + slice.more_tests))
}

fn tests(slice: &SliceState) -> Markup {
    html! {
        ul.tc-notes {
            @for test in &slice.tests { li { code { (plain::value(test)) } } }
            @if slice.more_tests > 0 { li { "and " (words::number(slice.more_tests)) " more" } }
        }
        @if !slice.left_out.is_empty() {
            p.tc-told { "These decided nothing:" }
            ul.tc-notes {
                @for (test, why) in &slice.left_out { li { code { (plain::value(test)) } ": " (plain::sentence(why)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use twincell_slice::{Stays, UnitState};

    use super::*;
    use crate::slices::state::SliceNameNeed;
    use crate::slices::tests::made;

    fn sample(text: &str) -> SliceState {
        let mut slice = made();
        for unit in &mut slice.units {
            unit.subject = text.to_owned();
            unit.paths = vec![text.to_owned()];
        }
        let need = SliceNameNeed { user: 2, provider: 0, names: vec![text.to_owned()], more: 2, is_only: true };
        let mut state = SliceState::of(&slice, vec![(2, 0)], vec![need]);
        for unit in &mut state.units {
            unit.diff = format!("diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+{text}\n");
        }
        state
    }

    #[test]
    fn the_static_view_of_a_slice() {
        insta::assert_snapshot!(
            slice_fragment(&sample("Add a thing")).split_once("</style>").unwrap().1.replace("><", ">\n<")
        );
    }

    #[test]
    fn what_was_not_tried_is_said_once() {
        let mut slice = made();
        slice.units[0].state = UnitState::Stays(Stays::Unknown);
        slice.units[2].state = UnitState::Stays(Stays::Unknown);
        let fragment = slice_fragment(&SliceState::of(&slice, vec![], vec![]));
        assert_eq!(fragment.matches("2 commits stay: the search ended before they were tried").count(), 1);
        assert_eq!(fragment.matches("12345123 Add a").count(), 1);
        assert!(!fragment.contains("Commits that stay"));
    }

    #[test]
    fn nothing_of_a_history_becomes_markup_or_moves_the_cursor() {
        let odd = "<script>\u{1b}[2J\u{202e}";
        let state = sample(odd);
        let fragment = slice_fragment(&state);
        assert!(!["<script", "\u{1b}", "\u{202e}"].iter().any(|text| fragment.contains(text)));
        // The page has two scripts of its own, and its state as data.
        assert_eq!(slice_page(&state, odd).matches("<script").count(), 2);
    }
}
