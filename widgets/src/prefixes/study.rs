//! A study of prefixes: the tables and the figure of Treefix's evaluation (ICSE 2025: Tables II, III and IV, Figure 7), as
//! text and as a page without scripts.

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use crate::bundle::STYLE;
use crate::html::{plain_page, section};
use crate::{plain, words};

/// The names of the steps in the paper.
const STEPS: [&str; 3] = ["I", "II", "III"];
/// What Figure 7 shows.
const TRIED: [&str; 5] = ["all", "I", "II", "III", "P"];
/// What the steps are, for who has not read the paper.
const STEPS_SAID: &str = "The steps: I from what the code leaves undefined, II from the errors of other prefixes, III from lines \
                          that nothing had reached. P is the smallest set of prefixes that covers all lines that any prefix \
                          covers.";
/// The maximum number of exceptions and of snippets that are listed.
const ERRORS: usize = 8;
const LEFT_LISTED: usize = 10;

/// A share of lines and a share of snippets of which all lines run. Both are from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Reached {
    pub coverage: f64,
    pub whole: f64,
}

/// How numbers are distributed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spread {
    pub mean: f64,
    /// The smallest one, the quartiles, and the largest one.
    pub quartiles: [f64; 5],
}

/// A snippet of which not all lines run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Left {
    pub snippet: String,
    pub lines: usize,
    /// The share of lines that some prefix covers, from 0 to 1.
    pub coverage: f64,
    /// Why there is no result, or not a whole one.
    pub problem: Option<String>,
}

/// The figures of the snippets of a folder.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PrefixFigures {
    pub name: String,
    pub snippets: usize,
    /// The number of snippets without a result.
    pub not_run: usize,
    pub as_is: Reached,
    pub best: Reached,
    /// What some prefix covers after each step. The last one is that of all prefixes.
    pub steps: [Reached; 3],
    /// The number of snippets whose best prefix is of each step.
    pub best_steps: [usize; 3],
    /// The number of prefixes that were tried, in total and in each step, and of those in P.
    pub tried: [Spread; 5],
    /// The median and the 90th percentile.
    pub seconds: [f64; 2],
    /// The exceptions that end snippets without a prefix, the most frequent ones first.
    pub errors: Vec<(String, usize)>,
    /// The snippets of which lines are left, those with most of them first.
    pub left: Vec<Left>,
}

/// A table with a caption.
struct Table {
    caption: String,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

fn table(
    caption: &str,
    head: &[&str],
    figures: &[PrefixFigures],
    row: impl Fn(&PrefixFigures) -> Vec<String>,
) -> Table {
    let named = |one: &PrefixFigures| std::iter::once(plain::value(&one.name)).chain(row(one)).collect();
    let head = std::iter::once("").chain(head.iter().copied()).map(str::to_owned).collect();
    Table { caption: caption.to_owned(), head, rows: figures.iter().map(named).collect() }
}

fn share(value: f64) -> String {
    format!("{value:.3}")
}

fn tables(figures: &[PrefixFigures]) -> Vec<Table> {
    let effectiveness = table(
        "Lines that run, and snippets of which all lines run (Table II)",
        &["snippets", "as is", "best prefix", "P", "all lines as is", "all lines, best", "all lines, P"],
        figures,
        |one| {
            let last = one.steps[2];
            let shares =
                [one.as_is.coverage, one.best.coverage, last.coverage, one.as_is.whole, one.best.whole, last.whole];
            std::iter::once(one.snippets.to_string()).chain(shares.map(share)).collect()
        },
    );
    let steps =
        table("After each step (Table III)", &["lines I", "II", "III", "all lines I", "II", "III"], figures, |one| {
            one.steps.map(|step| step.coverage).into_iter().chain(one.steps.map(|step| step.whole)).map(share).collect()
        });
    let best = table("Snippets by the step of their best prefix (Table IV)", &STEPS, figures, |one| {
        one.best_steps.iter().map(usize::to_string).collect()
    });
    let tried = table("Prefixes tried: mean, and median (Figure 7)", &TRIED, figures, |one| {
        one.tried.iter().map(|spread| format!("{:.1}, {}", spread.mean, spread.quartiles[2])).collect()
    });
    let time = table("Time of a snippet, in seconds", &["median", "90 % below", "without result"], figures, |one| {
        let [median, most] = one.seconds;
        vec![format!("{median:.2}"), format!("{most:.2}"), one.not_run.to_string()]
    });
    let errors = table("What ends snippets without a prefix", &["exceptions"], figures, |one| {
        let listed = one.errors.iter().take(ERRORS).map(|(class, count)| format!("{} {count}", plain::value(class)));
        vec![listed.collect::<Vec<_>>().join(", ")]
    });
    let tables = vec![effectiveness, steps, best, tried, time, errors];
    tables.into_iter().chain(left(figures)).collect()
}

/// The snippets of which most lines are left, if any are.
fn left(figures: &[PrefixFigures]) -> Option<Table> {
    let all = figures.last().filter(|all| !all.left.is_empty())?;
    let rows = all.left.iter().take(LEFT_LISTED).map(|one| {
        let lines = words::number(one.lines);
        let problem = one.problem.as_deref().map(plain::sentence).unwrap_or_default();
        vec![plain::value(&one.snippet), lines, share(one.coverage), problem]
    });
    let caption = match all.left.len() {
        ..=LEFT_LISTED => "Snippets of which lines are left".to_owned(),
        many => format!("Snippets of which most lines are left ({LEFT_LISTED} of {})", words::number(many)),
    };
    let head = ["", "lines", "share that runs", "problem"].map(str::to_owned).to_vec();
    Some(Table { caption, head, rows: rows.collect() })
}

/// How far prefixes get: what one reads first.
fn headline(figures: &[PrefixFigures]) -> String {
    // The last ones are those of all, if there are several.
    let Some(all) = figures.last() else { return "No snippets".to_owned() };
    let ([.., reached], as_is) = (all.steps, all.as_is);
    format!(
        "{} of the lines of {} run behind prefixes, and {} without; of {} of the snippets all lines do",
        words::percent(reached.coverage),
        words::count(all.snippets, "snippet"),
        words::percent(as_is.coverage),
        words::percent(reached.whole)
    )
}

/// The tables for terminals.
pub fn prefix_study_text(figures: &[PrefixFigures]) -> String {
    let mut out = format!("{}\n\n", headline(figures));
    for Table { caption, head, rows } in tables(figures) {
        let width = |column: usize| {
            let cells = rows.iter().map(|row| &row[column]).chain([&head[column]]);
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        out += &format!("{caption}\n");
        for row in std::iter::once(&head).chain(&rows) {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            out += &format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
        out.push('\n');
    }
    out + STEPS_SAID + "\n"
}

/// The tables and the figure for a notebook's output area.
pub fn prefix_study_fragment(figures: &[PrefixFigures]) -> String {
    body(figures).into_string()
}

/// The same as a self-contained page.
pub fn prefix_study_page(figures: &[PrefixFigures], title: &str) -> String {
    plain_page(title, &body(figures))
}

fn body(figures: &[PrefixFigures]) -> Markup {
    html! {
        div.tc-out {
            style { (PreEscaped(STYLE)) }
            div class="tc-head tc-preserving" { p.tc-sentence { (headline(figures)) } }
            @for table in tables(figures) {
                (section(&table.caption, "", true, shown(&table)))
            }
            @for one in figures {
                (section("Coverage by step", &plain::value(&one.name), true, bars(one)))
                (section("Prefixes tried", &plain::value(&one.name), true, boxes(one)))
            }
            p.tc-legend { (STEPS_SAID) }
        }
    }
}

fn shown(table: &Table) -> Markup {
    html! {
        div.tc-scroll tabindex="0" role="region" aria-label=(table.caption) {
            table.tc-table {
                thead { tr { @for cell in &table.head { th scope="col" { (cell) } } } }
                tbody {
                    @for row in &table.rows {
                        tr { @for (column, cell) in row.iter().enumerate() { td.tc-num[column > 0] { (cell) } } }
                    }
                }
            }
        }
    }
}

const WIDTH: f64 = 420.0;
const LEFT: f64 = 90.0;
const ROW: f64 = 24.0;

const ALL: f64 = LEFT + WIDTH + 60.0;

/// What a figure of several rows shows.
fn view(rows: usize) -> String {
    format!("0 0 {ALL} {}", ROW * rows as f64)
}

/// Its size: smaller where the column is.
fn drawn(rows: usize) -> String {
    format!("display: block; width: 100%; max-width: {ALL}px; aspect-ratio: {ALL} / {}", ROW * rows as f64)
}

/// The share of lines that run: as is, and after each step.
fn bars(one: &PrefixFigures) -> Markup {
    let steps = STEPS.iter().zip(one.steps).map(|(name, step)| (format!("step {name}"), step));
    let rows: Vec<(String, Reached)> = std::iter::once(("as is".to_owned(), one.as_is)).chain(steps).collect();
    let said: Vec<String> =
        rows.iter().map(|(name, reached)| format!("{name} {}", words::percent(reached.coverage))).collect();
    html! {
        svg style=(drawn(rows.len())) viewBox=(view(rows.len())) role="img" aria-label=(said.join(", ")) {
            @for (position, (name, reached)) in rows.iter().enumerate() {
                @let y = ROW * position as f64;
                text x="0" y=(y + 16.0) fill="currentColor" font-size="12" { (name) }
                rect x=(LEFT) y=(y + 4.0) width=(WIDTH) height="16" fill="rgba(128, 136, 148, .25)" {}
                rect x=(LEFT) y=(y + 4.0) width=(format!("{:.1}", WIDTH * reached.coverage)) height="16" fill="rgba(43, 138, 62, .75)" {}
                text x=(LEFT + WIDTH + 8.0) y=(y + 16.0) fill="currentColor" font-size="12" { (words::percent(reached.coverage)) }
            }
        }
    }
}

/// The number of prefixes that were tried, as box plots: a line from the smallest to the largest number, a box around the
/// middle half, a stroke at the median.
fn boxes(one: &PrefixFigures) -> Markup {
    let most = one.tried.iter().map(|spread| spread.quartiles[4]).fold(1.0, f64::max);
    let x = |value: f64| LEFT + WIDTH * value / most;
    let at = |value: f64| format!("{:.1}", x(value));
    let said: Vec<String> = TRIED
        .iter()
        .zip(&one.tried)
        .map(|(name, spread)| format!("{name}: median {}, at most {}", spread.quartiles[2], spread.quartiles[4]))
        .collect();
    html! {
        svg style=(drawn(TRIED.len())) viewBox=(view(TRIED.len())) role="img" aria-label=(said.join("; ")) {
            @for (position, (name, spread)) in TRIED.iter().zip(&one.tried).enumerate() {
                @let [low, first, median, third, high] = spread.quartiles;
                @let y = ROW * position as f64;
                text x="0" y=(y + 16.0) fill="currentColor" font-size="12" { (name) }
                line x1=(at(low)) x2=(at(high)) y1=(y + 12.0) y2=(y + 12.0) stroke="currentColor" {}
                rect x=(at(first)) y=(y + 4.0) width=(format!("{:.1}", x(third) - x(first))) height="16" fill="rgba(60, 110, 180, .5)" {}
                line x1=(at(median)) x2=(at(median)) y1=(y + 4.0) y2=(y + 20.0) stroke="currentColor" stroke-width="2" {}
                text x=(LEFT + WIDTH + 8.0) y=(y + 16.0) fill="currentColor" font-size="12" { (high) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_have_a_row_for_each_folder() {
        let half = Reached { coverage: 0.5, whole: 0.25 };
        let figures = PrefixFigures {
            name: "a\u{1b}[31m/snippets".into(),
            snippets: 4,
            as_is: half,
            steps: [half, half, Reached { coverage: 1.0, whole: 1.0 }],
            errors: vec![("NameError".into(), 3)],
            ..PrefixFigures::default()
        };
        let text = prefix_study_text(std::slice::from_ref(&figures));
        assert!(text.contains("4  0.500") && text.contains("1.000") && text.contains("NameError 3"), "{text}");
        assert!(!text.contains('\u{1b}'));
        let all = PrefixFigures { name: "all".into(), ..figures.clone() };
        let (fragment, page) = (prefix_study_fragment(&[figures.clone(), all]), prefix_study_page(&[figures], "Study"));
        assert!(page.contains("Table III") && page.contains("<svg") && !page.contains("<script"));
        assert!(fragment.contains("100\u{a0}% of the lines of 4 snippets run") && !fragment.contains("<html"));
    }
}
