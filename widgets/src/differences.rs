//! Two studies of the same changes side by side: the rows that differ, as text and as a static table. The maker of
//! [`Differences`] decides what differs.

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use twincell_compare::report::Evidence;
use twincell_compare::verdict::Verdict;

use crate::bundle::STYLE;
use crate::html::{badge, tone};
use crate::plot::{Plot, found_plot};
use crate::{plain, words};

/// The maximum number of rows. The object behind them has all.
const SHOWN: usize = 200;
/// The maximum number of named places of evidence.
const PLACES: usize = 4;

/// The first study is the one that was asked, and the second is the other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Differences {
    pub titles: [String; 2],
    /// The number of changes that both studies have.
    pub both: usize,
    pub rows: Vec<DifferingRow>,
    /// The ids of changes that only one of the studies has.
    pub only: [Vec<String>; 2],
    /// Of the changes that both have and that a study found to alter behavior: the first execution that differs,
    /// ascending.
    pub first: [Vec<u32>; 2],
}

/// A change with different results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DifferingRow {
    pub id: serde_json::Value,
    pub verdict: [Verdict; 2],
    pub reason: [String; 2],
    pub evidence: [Vec<Evidence>; 2],
}

impl DifferingRow {
    pub fn has_other_verdict(&self) -> bool {
        self.verdict[0] != self.verdict[1]
    }

    fn name(&self) -> String {
        plain::value(&self.id.as_str().map_or_else(|| self.id.to_string(), str::to_owned))
    }
}

impl Differences {
    /// What the second study found sooner or later than the first. `names` stand in the legend.
    pub fn plot(&self, names: [&str; 2]) -> Plot {
        found_plot(&self.first, self.both, names)
    }

    /// The rows with another verdict. The others have only other evidence.
    pub fn verdicts(&self) -> usize {
        self.rows.iter().filter(|row| row.has_other_verdict()).count()
    }

    /// How often one verdict became another, the most frequent first.
    pub fn moves(&self) -> Vec<(Verdict, Verdict, usize)> {
        let mut moves: Vec<(Verdict, Verdict, usize)> = vec![];
        for [from, to] in self.rows.iter().filter(|row| row.has_other_verdict()).map(|row| row.verdict) {
            match moves.iter_mut().find(|(one, other, _)| (*one, *other) == (from, to)) {
                Some((_, _, count)) => *count += 1,
                None => moves.push((from, to, 1)),
            }
        }
        moves.sort_by_key(|(from, to, count)| (std::cmp::Reverse(*count), to.severity(), from.severity()));
        moves
    }

    /// The result in one sentence.
    pub fn sentence(&self) -> String {
        let verdicts = self.verdicts();
        let mut sentence = match self.rows.len() {
            0 if self.both == 0 => "The two have no change in common".to_owned(),
            0 => format!("No difference in {} that both have", words::count(self.both, "change")),
            rows => format!(
                "{rows} of {} differ: {verdicts} in the verdict, {} in the evidence alone",
                words::count(self.both, "change"),
                rows - verdicts
            ),
        };
        for (ids, which) in self.only.iter().zip(["first", "second"]) {
            if !ids.is_empty() {
                sentence.push_str(&format!("; {} only in the {which}", words::count(ids.len(), "change")));
            }
        }
        sentence.push('.');
        sentence
    }
}

fn titled(differences: &Differences) -> [String; 2] {
    let [first, second] = &differences.titles;
    [format!("first: {}", plain::sentence(first)), format!("second: {}", plain::sentence(second))]
}

fn marked(verdict: Verdict) -> String {
    format!("{} {}", words::icon(verdict), verdict.name())
}

fn moved((from, to, count): (Verdict, Verdict, usize)) -> String {
    format!("{} → {}: {count}", marked(from), marked(to))
}

/// What each study says about a row: the places of its evidence, or why none counts.
fn sides(row: &DifferingRow) -> [String; 2] {
    let differs = row.has_other_verdict();
    let [why, why_else] = &row.reason;
    let [first, second] = &row.evidence;
    let [one, other] = row.verdict;
    [said(differs, one, why, first), said(differs, other, why_else, second)]
}

fn said(differs: bool, verdict: Verdict, reason: &str, evidence: &[Evidence]) -> String {
    if differs && (evidence.is_empty() || verdict != Verdict::Changing) {
        return plain::sentence(reason);
    }
    let mut places: Vec<String> = (evidence.iter().take(PLACES)).map(words::evidence_place).collect();
    if evidence.is_empty() {
        places.push("no evidence".into());
    }
    if evidence.len() > PLACES {
        places.push(format!("{} more", evidence.len() - PLACES));
    }
    places.join(", ")
}

/// For terminals and for `repr`.
pub fn differences_text(differences: &Differences) -> String {
    let mut lines = vec![differences.sentence()];
    lines.extend(titled(differences).map(|title| format!("  {title}")));
    lines.extend(differences.moves().into_iter().map(|one| format!("  {}", moved(one))));
    for row in differences.rows.iter().take(SHOWN) {
        let verdict = match row.verdict {
            [one, other] if one == other => format!("{}, other evidence", marked(one)),
            [one, other] => format!("{} → {}", marked(one), marked(other)),
        };
        lines.push(format!("{}  {verdict}", row.name()));
        let [first, second] = sides(row);
        lines.extend([format!("    first: {first}"), format!("    second: {second}")]);
    }
    if differences.rows.len() > SHOWN {
        lines.push(format!("and {} more", differences.rows.len() - SHOWN));
    }
    lines.join("\n") + "\n"
}

/// For a notebook's output area.
pub fn differences_fragment(differences: &Differences) -> String {
    fragment(differences).into_string()
}

fn fragment(differences: &Differences) -> Markup {
    let moves = differences.moves();
    html! {
        div.tc-out {
            style { (PreEscaped(STYLE)) }
            p.tc-sentence { strong { (differences.sentence()) } }
            @for title in titled(differences) { p.tc-quiet { (title) } }
            @if !moves.is_empty() {
                ul.tc-notes { @for one in moves { li { (moved(one)) } } }
            }
            @if !differences.rows.is_empty() {
                div.tc-scroll tabindex="0" role="region" aria-label="Changes that differ" {
                    table.tc-table {
                        caption { "Changes that differ; where there is evidence, its places" }
                        thead {
                            tr {
                                @for title in ["Change", "First", "Second", "Why in the first", "Why in the second"] {
                                    th scope="col" { (title) }
                                }
                            }
                        }
                        tbody {
                            @for row in differences.rows.iter().take(SHOWN) {
                                tr {
                                    th scope="row" { code { (row.name()) } }
                                    @for verdict in row.verdict {
                                        td { (badge((words::icon(verdict), verdict.name()), tone(verdict))) }
                                    }
                                    @for side in sides(row) { td { (side) } }
                                }
                            }
                        }
                    }
                }
                @if differences.rows.len() > SHOWN { p.tc-legend { "and " (differences.rows.len() - SHOWN) " more" } }
            }
        }
    }
}
