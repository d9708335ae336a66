//! Complexity against reach: how much of a change ran, by the number of decisions in its new version.

use std::collections::BTreeSet;

use plotters::prelude::*;

use super::marks::{BLUE, Mark, Sign};
use super::{HEIGHT, Plot, Scale, Sheet, axes, median, percent, place, plain, sample, share, ticks, verdict_text};
use crate::state::StudyRow;
use crate::words;

const TITLE: &str = "Complexity against reach";
/// The maximum number of drawn points. More would only cover each other.
const POINTS: usize = 1500;

pub fn plot(rows: &[StudyRow]) -> Plot {
    let found: Vec<(f64, f64, usize)> = (rows.iter())
        .filter(|row| row.executions > 0)
        .filter_map(|row| {
            let verdict = words::VERDICTS.iter().position(|verdict| *verdict == row.verdict)?;
            Some((f64::from(row.complexity?), share(row.coverage), verdict))
        })
        .collect();
    if found.is_empty() {
        return Sheet::empty(TITLE, "No change that ran has a complexity.");
    }
    let present =
        words::VERDICTS.iter().enumerate().filter(|(index, _)| found.iter().any(|(_, _, verdict)| verdict == index));
    let mut legend: Vec<_> =
        present.clone().map(|(_, verdict)| (verdict_text(*verdict), Mark::point_of(*verdict))).collect();
    let most = found.iter().map(|(complexity, _, _)| *complexity).fold(2.0, f64::max);
    let medians = ranges(&found, most);
    if !medians.is_empty() {
        legend.push(("median of a range".into(), Mark::new(Sign::Line, BLUE)));
    }
    let sheet = Sheet {
        title: TITLE,
        description: format!(
            "{}; half of them have a complexity of {:.0} or less, and half of them cover {} of their lines or less",
            words::count(found.len(), "change"),
            median(found.iter().map(|(complexity, _, _)| *complexity)),
            words::percent(median(found.iter().map(|(_, reach, _)| *reach)))
        ),
        legend,
        height: HEIGHT,
    };
    sheet.draw(|area| {
        let to = most + 0.5;
        let name = "cyclomatic complexity of the new version";
        let x = Scale { name, from: 0.5, to, ticks: ticks(0.5, to, 10, true), text: &plain };
        let y = Scale { name: "lines covered", from: 0.0, to: 1.04, ticks: ticks(0.0, 1.0, 5, false), text: &percent };
        let mut chart = axes(area, &x, &y)?;
        let screen = area.use_screen_coord();
        for (index, verdict) in present.clone().collect::<Vec<_>>().into_iter().rev() {
            let points: Vec<_> = found.iter().filter(|(_, _, verdict)| *verdict == index).collect();
            // Several points at one place are one.
            let places: BTreeSet<_> = sample(&points, POINTS).map(|(x, y, _)| place(&chart, *x, *y)).collect();
            for place in places {
                Mark::point_of(*verdict).draw(&screen, place)?;
            }
        }
        for (ends, reach) in &medians {
            chart.draw_series(LineSeries::new(ends.map(|x| (x, *reach)), BLUE.stroke_width(3)))?;
        }
        Ok(())
    })
}

/// The maximum number of ranges with a median, and the fewest changes whose median says something.
const RANGES: f64 = 8.0;
const ENOUGH: usize = 5;

/// The median reach in ranges of complexity, with the ends of each. Ranges with few changes have none.
fn ranges(found: &[(f64, f64, usize)], most: f64) -> Vec<([f64; 2], f64)> {
    let step = (most / RANGES).ceil().max(1.0);
    let range = |index: u32| {
        let from = f64::from(index) * step + 0.5;
        let inside = found.iter().filter(|(complexity, ..)| from < *complexity && *complexity < from + step);
        let reaches: Vec<f64> = inside.map(|(_, reach, _)| *reach).collect();
        (reaches.len() >= ENOUGH).then(|| ([from, from + step], median(reaches)))
    };
    (0..(most / step).ceil() as u32).filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_with_few_changes_have_no_median() {
        let found: Vec<_> =
            (0..12).map(|index| (if index < 10 { 1.0 } else { 40.0 }, f64::from(index) / 10.0, 0)).collect();
        assert_eq!(ranges(&found, 40.0), [([0.5, 5.5], 0.5)]);
    }
}
