//! Executions until a difference: how many there were between one differing execution and the next.

use plotters::prelude::*;

use twincell_compare::report::{ExecutionReport, PairReport};

use super::marks::{Fill, INK, Mark, ORANGE, Sign};
use super::{HEIGHT, Plot, Scale, Sheet, axes, place, plain, ticks};
use crate::words;

/// The maximum number of bars.
const BARS: u32 = 40;

/// None unless several executions differ: of one, the plot of coverage says all.
pub fn plot(pair: &PairReport) -> Option<Plot> {
    let found = waits(&pair.executions);
    let first = *found.first().filter(|_| found.len() > 1)?;
    let most = found.iter().copied().max().unwrap_or(1);
    let step = most.div_ceil(BARS).max(1);
    let mut heights = vec![0u32; (most.div_ceil(step)) as usize];
    for wait in &found {
        if let Some(height) = heights.get_mut(((wait - 1) / step) as usize) {
            *height += 1;
        }
    }
    let bar = Mark::new(Sign::Box(Fill::Full), ORANGE);
    let sheet = Sheet {
        title: "Executions until a difference",
        description: format!(
            "The first difference came with execution {first}; {} in {}",
            words::count(found.len(), "difference"),
            words::count(pair.executed as usize, "execution")
        ),
        legend: vec![
            ("differences that came after so many".into(), bar),
            ("the first one".into(), Mark::new(Sign::Line, INK)),
        ],
        height: HEIGHT,
    };
    // Whole numbers are in the middle of their bars.
    let end = f64::from(most.max(4)) + 0.5;
    let highest = f64::from(heights.iter().copied().max().unwrap_or(1));
    Some(sheet.draw(|area| {
        let name = "executions since the difference before";
        let x = Scale { name, from: 0.5, to: end, ticks: ticks(0.5, end, 8, true), text: &plain };
        let to = highest * 1.08;
        let y = Scale { name: "differences", from: 0.0, to, ticks: ticks(0.0, highest, 4, true), text: &plain };
        let mut chart = axes(area, &x, &y)?;
        let screen = area.use_screen_coord();
        for (index, height) in heights.iter().enumerate() {
            let left = 0.5 + index as f64 * f64::from(step);
            let from = place(&chart, left, f64::from(*height));
            let to = place(&chart, left + f64::from(step), 0.0);
            bar.fill(&screen, (from.0 + 1, from.1), (to.0 - 1, to.1))?;
        }
        let line = [(f64::from(first), 0.0), (f64::from(first), to)];
        chart.draw_series(LineSeries::new(line, INK.stroke_width(2)))?;
        Ok(())
    }))
}

/// The number of executions from one that differs to the next listed one that does, the first from the start. Of a long
/// campaign not all are listed, so their numbers count.
fn waits(executions: &[ExecutionReport]) -> Vec<u32> {
    let mut last = 0;
    let differing = executions.iter().filter(|execution| execution.differs);
    differing.map(|execution| execution.number.saturating_sub(std::mem::replace(&mut last, execution.number))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_that_are_not_listed_count() {
        let one = |number, differs| ExecutionReport {
            number,
            seed: 0,
            old: String::new(),
            new: String::new(),
            old_valid: true,
            new_valid: true,
            differs,
            examined: true,
            new_lines: 0,
            coverage_so_far: 1.0,
            microseconds: 1,
            example: None,
            lines: 0,
            choices: vec![],
        };
        assert_eq!(waits(&[one(1, false), one(4321, true), one(4400, true)]), [4321, 79]);
    }
}
