//! The distribution of a number over the changes of a study: bars, stacked by verdict.

use std::collections::BTreeMap;

use chrono::{Datelike, NaiveDate};

use twincell_compare::verdict::Verdict;

use super::marks::Mark;
use super::{HEIGHT, Plot, Scale, Sheet, axes, median, percent, place, plain, ticks, verdict_text};
use crate::state::StudyRow;
use crate::words;

/// The maximum number of bars.
const BARS: u32 = 20;

/// Executions until the verdict.
pub fn executions(rows: &[StudyRow]) -> Plot {
    let points = points(rows, |row| Some(f64::from(row.executions)));
    let flat = |value: f64| format!("took {value:.0} executions until the verdict");
    counted("Executions until the verdict", "executions", "The study has no changes.", &flat, 0, &points)
}

/// Executions until the first difference, for the changes that have one.
pub fn until_difference(rows: &[StudyRow]) -> Plot {
    let points = points(rows, |row| row.first_difference.map(f64::from));
    let title = "Executions until the first difference";
    let flat = |value: f64| format!("first differed in execution {value:.0}");
    let none = "No change has an execution that differs.";
    counted(title, "number of the first execution that differs", none, &flat, 1, &points)
}

/// Coverage of both versions.
pub fn coverage(rows: &[StudyRow]) -> Plot {
    let found = points(rows, |row| (row.executions > 0).then(|| super::share(row.coverage)));
    let edges: Vec<f64> = (0..=BARS).map(|index| f64::from(index) / f64::from(BARS)).collect();
    let middle = words::percent(median(found.iter().map(|(value, _)| *value)));
    let spread = Spread {
        title: "Coverage of both versions",
        none: "Nothing was executed.",
        flat: format!("cover {middle} of their lines"),
        said: format!("half of them {middle} or less"),
        x: Scale { name: "lines covered", from: 0.0, to: 1.0, ticks: ticks(0.0, 1.0, 10, false), text: &percent },
        edges: &edges,
    };
    spread.draw(&found)
}

/// The time of each change. Times range over several powers of ten, and so do the bars.
pub fn time(rows: &[StudyRow]) -> Plot {
    let found = points(rows, |row| (row.milliseconds > 0.0).then(|| row.milliseconds.log10()));
    let low = found.iter().map(|(value, _)| *value).fold(f64::INFINITY, f64::min).min(5.0).floor();
    let high = found.iter().map(|(value, _)| *value).fold(low, f64::max).floor() + 1.0;
    let (low, bars) = if low.is_finite() { (low, ((high - low) * 4.0).max(1.0) as u32) } else { (0.0, 1) };
    let edges: Vec<f64> = (0..=bars).map(|index| low + f64::from(index) / 4.0).collect();
    let middle = words::duration(10f64.powf(median(found.iter().map(|(value, _)| *value))));
    let all: f64 = rows.iter().map(|row| row.milliseconds).filter(|time| time.is_finite()).sum();
    let spread = Spread {
        title: "Time for a change",
        none: "No times are known.",
        flat: format!("took {middle}"),
        said: format!("{} in all, half of them {middle} or less", words::duration(all)),
        x: Scale {
            name: "time (each tick is ten times the one before)",
            from: low,
            to: high,
            ticks: ticks(low, high, 8, true),
            text: &decade,
        },
        edges: &edges,
    };
    spread.draw(&found)
}

/// The maximum number of periods of [`over_time`].
const PERIODS: i64 = 40;

/// When the changes were committed, as far as this is known: by day, month or year.
pub fn over_time(rows: &[StudyRow]) -> Plot {
    const TITLE: &str = "Verdicts over time";
    let date = |row: &StudyRow| NaiveDate::parse_from_str(row.date.as_deref()?.get(..10)?, "%Y-%m-%d").ok();
    let dates: Vec<NaiveDate> = rows.iter().filter_map(date).collect();
    let (first, last) = (dates.iter().min().copied(), dates.iter().max().copied());
    let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
    let days = last.signed_duration_since(first).num_days();
    let (name, letters, number): (_, _, fn(NaiveDate) -> i32) = match days {
        ..=PERIODS => ("day", 10, |date| date.num_days_from_ce()),
        _ if days <= 31 * PERIODS => ("month", 7, |date| date.year() * 12 + date.month0().cast_signed()),
        _ => ("year", 4, |date| date.year()),
    };
    let index = |date: NaiveDate| f64::from(number(date) - number(first));
    // The periods by their numbers, as far as a change is in them; ticks stand at these.
    let named: BTreeMap<i32, String> = dates
        .iter()
        .map(|date| (number(*date) - number(first), date.to_string().chars().take(letters).collect()))
        .collect();
    let step = named.len().div_ceil(6).max(1);
    let at: Vec<f64> = named.keys().step_by(step).map(|at| f64::from(*at) + 0.5).collect();
    if index(last) > PERIODS as f64 {
        return Sheet::empty(TITLE, &words::too_many_years(PERIODS as usize));
    }
    let end = index(last) + 1.0;
    let edges: Vec<f64> = (0..=end as u32).map(f64::from).collect();
    let text = |value: f64| named.get(&(value.floor() as i32)).cloned().unwrap_or_default();
    let spread = Spread {
        title: TITLE,
        none: "No change has the date of its commit.",
        flat: format!("were committed in the same {name}"),
        said: format!("{first} to {last}, by {name} of the commit"),
        x: Scale { name: &format!("{name} of the commit"), from: 0.0, to: end, ticks: at, text: &text },
        edges: &edges,
    };
    spread.draw(&points(rows, |row| date(row).map(index)))
}

/// Ten to this many milliseconds.
fn decade(exponent: f64) -> String {
    let milliseconds = 10f64.powf(exponent);
    if milliseconds >= 1000.0 { format!("{:.0} s", milliseconds / 1000.0) } else { format!("{milliseconds} ms") }
}

fn points(rows: &[StudyRow], value: impl Fn(&StudyRow) -> Option<f64>) -> Vec<(f64, Verdict)> {
    rows.iter().filter_map(|row| Some((value(row)?, row.verdict))).collect()
}

/// Whole numbers from the least one on, each in the middle of its bar.
fn counted(
    title: &'static str,
    name: &str,
    none: &'static str,
    flat: &dyn Fn(f64) -> String,
    least: u32,
    points: &[(f64, Verdict)],
) -> Plot {
    let most = points.iter().map(|(value, _)| *value).fold(1.0, f64::max) as u32;
    let count = (most + 1).saturating_sub(least).max(1);
    let step = count.div_ceil(BARS);
    let begin = f64::from(least) - 0.5;
    let edges: Vec<f64> = (0..=count.div_ceil(step)).map(|index| begin + f64::from(index * step)).collect();
    let end = edges.last().copied().unwrap_or(1.0);
    let middle = median(points.iter().map(|(value, _)| *value));
    let spread = Spread {
        title,
        none,
        flat: flat(middle),
        said: format!("half of them {middle:.0} or less"),
        x: Scale { name, from: begin, to: end, ticks: ticks(begin, end, 8, true), text: &plain },
        edges: &edges,
    };
    spread.draw(points)
}

struct Spread<'a> {
    title: &'static str,
    /// The text if there is nothing to draw.
    none: &'static str,
    /// The text if all have the same value, so that there would be a single bar.
    flat: String,
    said: String,
    x: Scale<'a>,
    /// The edges of the bars.
    edges: &'a [f64],
}

impl Spread<'_> {
    fn draw(self, points: &[(f64, Verdict)]) -> Plot {
        let Self { title, none, flat, said, x, edges } = self;
        let Some((first, _)) = points.first() else { return Sheet::empty(title, none) };
        if points.iter().all(|(value, _)| value == first) {
            let all = if points.len() == 1 { "The" } else { "All" };
            return Sheet::empty(title, &format!("{all} {} {flat}.", words::count(points.len(), "change")));
        }
        let piles = piles(points, edges);
        let most = piles.iter().map(|pile| pile.iter().sum::<u32>()).max().unwrap_or(1).max(1);
        let sheet = Sheet {
            title,
            description: format!("{}; {said}", words::count(points.len(), "change")),
            legend: (words::VERDICTS.iter())
                .filter(|verdict| points.iter().any(|(_, other)| other == *verdict))
                .map(|verdict| (verdict_text(*verdict), Mark::bar_of(*verdict)))
                .collect(),
            height: HEIGHT,
        };
        sheet.draw(|area| {
            let (most, to) = (f64::from(most), f64::from(most) * 1.06);
            let y = Scale { name: "changes", from: 0.0, to, ticks: ticks(0.0, most, 5, true), text: &plain };
            let chart = axes(area, &x, &y)?;
            let screen = area.use_screen_coord();
            for (pile, ends) in piles.iter().zip(edges.windows(2)) {
                let [left, right] = ends else { continue };
                let mut below = 0;
                for (count, verdict) in pile.iter().zip(words::VERDICTS) {
                    let above = below + count;
                    let from = place(&chart, *left, f64::from(above));
                    let to = place(&chart, *right, f64::from(below));
                    Mark::bar_of(verdict).fill(&screen, (from.0 + 1, from.1), (to.0 - 1, to.1))?;
                    below = above;
                }
            }
            Ok(())
        })
    }
}

/// How many of each verdict lie between two edges. A value at an edge counts above it; at the last edge, below.
fn piles(points: &[(f64, Verdict)], edges: &[f64]) -> Vec<[u32; 4]> {
    let mut piles = vec![[0; 4]; edges.len().saturating_sub(1)];
    for (value, verdict) in points {
        let above = edges.iter().take_while(|edge| **edge <= *value).count();
        let index = above.saturating_sub(1).min(piles.len().saturating_sub(1));
        let kind = words::VERDICTS.iter().position(|other| other == verdict);
        if let Some(count) = piles.get_mut(index).zip(kind).and_then(|(pile, kind)| pile.get_mut(kind)) {
            *count += 1;
        }
    }
    piles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_at_an_edge_is_above_it_and_at_the_last_one_below() {
        let points = [0.0, 0.5, 1.0, 0.49].map(|value| (value, Verdict::Changing));
        assert_eq!(piles(&points, &[0.0, 0.5, 1.0]), [[2, 0, 0, 0], [2, 0, 0, 0]]);
    }
}
