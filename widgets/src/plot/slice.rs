//! The search for a slice, run by run: the size of what was tried, and of the best slice so far.

use plotters::prelude::*;

use super::marks::{BLUE, GREEN, Mark, ORANGE, Sign};
use super::{HEIGHT, Plot, Scale, Sheet, axes, place, plain, sample, ticks};
use crate::words;

/// The maximum number of drawn runs. More would only cover each other.
const RUNS: usize = 600;

const TITLE: &str = "The search";
const PASSED: Mark = Mark::new(Sign::Dot, GREEN);
const FAILED: Mark = Mark::new(Sign::Cross, ORANGE);

/// A run of the tests for some units.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub tried: usize,
    /// The size of the best slice after it.
    pub kept: usize,
    pub passed: bool,
}

/// Draws runs of the tests in their order. `unit` is what there is one of for each unit of the range; `outcomes` is what the
/// tests do in runs that pass, and in those that do not.
pub fn slice_plot(runs: &[Run], unit: &str, outcomes: [&str; 2]) -> Plot {
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
        return Sheet::empty(TITLE, "The tests never ran.");
    };
    let passed = runs.iter().filter(|run| run.passed).count();
    let sheet = Sheet {
        title: TITLE,
        description: format!(
            "From {} to {} in {}; in {passed} of them {}",
            words::count(first.kept, unit),
            words::number(last.kept),
            words::count(runs.len(), "run"),
            outcomes[0],
        ),
        legend: vec![
            ("best slice so far".to_owned(), Mark::new(Sign::Line, BLUE)),
            (format!("tried, {}", outcomes[0]), PASSED),
            (format!("tried, {}", outcomes[1]), FAILED),
        ],
        height: HEIGHT,
    };
    let numbered: Vec<(f64, &Run)> = runs.iter().enumerate().map(|(before, run)| (before as f64 + 1.0, run)).collect();
    let end = (runs.len() as f64 + 0.5).max(2.0);
    let most = runs.iter().map(|run| run.tried.max(run.kept)).max().unwrap_or(1).max(1) as f64;
    sheet.draw(|area| {
        let x = Scale { name: "runs of the tests", from: 0.0, to: end, ticks: ticks(0.0, end, 8, true), text: &plain };
        let y_name = format!("{unit}s");
        let y = Scale { name: &y_name, from: 0.0, to: most * 1.06, ticks: ticks(0.0, most, 5, true), text: &plain };
        let mut chart = axes(area, &x, &y)?;
        let screen = area.use_screen_coord();
        let mut corners: Vec<(f64, f64)> = Vec::new();
        for (number, run) in &numbered {
            corners.extend(corners.last().map(|(_, height)| (*number, *height)));
            corners.push((*number, run.kept as f64));
        }
        corners.push((end, last.kept as f64));
        chart.draw_series(LineSeries::new(corners, BLUE.stroke_width(2)))?;
        for (number, run) in sample(&numbered, RUNS) {
            let mark = if run.passed { PASSED } else { FAILED };
            mark.draw(&screen, place(&chart, *number, run.tried as f64))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_is_told_in_a_sentence() {
        let run = |tried, kept, passed| Run { tried, kept, passed };
        let outcomes = ["tests pass", "tests fail"];
        let plot = slice_plot(&[run(9, 9, true), run(4, 9, false), run(5, 5, true)], "commit", outcomes);
        assert_eq!(plot.description, "From 9 commits to 5 in 3 runs; in 2 of them tests pass");
        assert!(plot.svg.contains(">tried, tests fail</text>") && plot.svg.contains(">commits</text>"), "{}", plot.svg);
        assert!(!slice_plot(&[], "commit", outcomes).is_drawn);
    }
}
