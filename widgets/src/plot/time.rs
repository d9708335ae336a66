//! Time spent, execution by execution.

use plotters::prelude::*;

use twincell_compare::report::PairReport;

use super::marks::{BLUE, INK, Mark, ORANGE, Sign};
use super::{HEIGHT, Plot, Scale, Sheet, axes, median, place, plain, sample, ticks};
use crate::words;

/// The maximum number of drawn points. More would only cover each other.
const POINTS: usize = 600;
/// The multiple of the median from which on a time is far from the others.
const OUTLIER: f64 = 20.0;

/// The result of an execution, as [`words::execution_mark`] names it, drawn from back to front.
const OUTCOMES: [(&str, Mark); 4] = [
    ("= same", Mark::new(Sign::Dot, INK)),
    ("○ says nothing", Mark::new(Sign::Ring, INK)),
    ("? not examined", Mark::new(Sign::Cross, INK)),
    ("≠ differs", Mark::new(Sign::Diamond, ORANGE)),
];

pub fn plot(pair: &PairReport) -> Plot {
    let milliseconds = || pair.executions.iter().map(|one| f64::from(one.microseconds) / 1000.0);
    let middle = median(milliseconds());
    let highest = milliseconds().fold(0.0, f64::max).max(1e-3);
    let points: Vec<_> = sample(&pair.executions, POINTS).collect();
    let present: Vec<_> = (OUTCOMES.iter())
        .filter(|(name, _)| points.iter().any(|one| words::execution_mark(one) == *name))
        .copied()
        .collect();
    let mut legend: Vec<_> = present.iter().map(|(name, mark)| ((*name).to_owned(), *mark)).collect();
    legend.push(("median".into(), Mark::new(Sign::Line, BLUE)));
    let drawn = if points.len() < pair.executions.len() {
        format!("; {} of {} are drawn", points.len(), pair.executions.len())
    } else {
        String::new()
    };
    let sheet = Sheet {
        title: "Time spent",
        description: format!(
            "{} in all executions; half of them took {} or less{drawn}",
            words::duration(milliseconds().sum()),
            words::duration(middle)
        ),
        legend,
        height: HEIGHT,
    };
    let last = pair.executions.last().map_or(1, |last| last.number);
    let end = f64::from(last.max(2));
    // If a few took much longer than all others, each line is ten times the one below.
    let decades = middle > 0.0 && highest > OUTLIER * middle;
    let height = |milliseconds: f64| if decades { milliseconds.max(1e-3).log10() } else { milliseconds };
    sheet.draw(|area| {
        let x = Scale { name: "execution", from: 0.0, to: end, ticks: ticks(0.0, end, 8, true), text: &plain };
        let lowest = milliseconds().fold(highest, f64::min);
        let (from, to) = if decades { (height(lowest).floor(), height(highest).ceil()) } else { (0.0, highest * 1.06) };
        let text = |value: f64| match (decades, highest < 5.0) {
            (true, _) => format!("{}", 10f64.powf(value)),
            (false, true) => format!("{value:.1}"),
            (false, false) => plain(value),
        };
        let y = Scale { name: "milliseconds", from, to, ticks: ticks(from, to, 5, decades), text: &text };
        let mut chart = axes(area, &x, &y)?;
        let screen = area.use_screen_coord();
        chart.draw_series(LineSeries::new([(0.0, height(middle)), (end, height(middle))], BLUE.stroke_width(2)))?;
        for (name, mark) in &present {
            for one in points.iter().filter(|one| words::execution_mark(one) == *name) {
                let milliseconds = f64::from(one.microseconds) / 1000.0;
                mark.draw(&screen, place(&chart, f64::from(one.number), height(milliseconds)))?;
            }
        }
        Ok(())
    })
}
