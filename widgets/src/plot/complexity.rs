//! Complexity against reach: how much of a change ran, by the number of decisions in its new version.

use std::collections::{BTreeMap, BTreeSet};

use plotters::prelude::*;

use super::marks::{BLUE, Mark, Sign};
use super::{
    HEIGHT, Plot, Scale, Sheet, VERDICTS, axes, median, percent, place, plain, sample, share, ticks, verdict_text,
};
use crate::state::StudyRow;
use crate::words;

const TITLE: &str = "Complexity against reach";
/// The maximum number of drawn points. More would only cover each other.
const POINTS: usize = 1500;

pub fn plot(rows: &[StudyRow]) -> Plot {
    let found: Vec<(f64, f64, usize)> = (rows.iter())
        .filter(|row| row.executions > 0)
        .filter_map(|row| {
            let verdict = VERDICTS.iter().position(|verdict| *verdict == row.verdict)?;
            Some((f64::from(row.complexity?), share(row.coverage), verdict))
        })
        .collect();
    if found.is_empty() {
        return Sheet::empty(TITLE, "No change that ran has a complexity.");
    }
    let present = VERDICTS.iter().enumerate().filter(|(index, _)| found.iter().any(|(_, _, verdict)| verdict == index));
    let mut legend: Vec<_> =
        present.clone().map(|(_, verdict)| (verdict_text(*verdict), Mark::point_of(*verdict))).collect();
    legend.push(("median".into(), Mark::new(Sign::Line, BLUE)));
    let mut by_complexity: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (complexity, reach, _) in &found {
        by_complexity.entry(*complexity as u32).or_default().push(*reach);
    }
    let medians: Vec<(f64, f64)> =
        by_complexity.into_iter().map(|(complexity, reaches)| (f64::from(complexity), median(reaches))).collect();
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
    let most = found.iter().map(|(complexity, _, _)| *complexity).fold(2.0, f64::max);
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
        chart.draw_series(LineSeries::new(medians.iter().copied(), BLUE.stroke_width(2)))?;
        Ok(())
    })
}
