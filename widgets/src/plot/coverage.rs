//! Coverage over executions, with the differing ones marked.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use twincell_compare::report::PairReport;

use super::marks::{BLUE, Mark, ORANGE, Sign};
use super::{HEIGHT, Plot, Scale, Sheet, axes, font, percent, place, plain, sample, share, ticks};
use crate::words;

/// The maximum number of marked executions.
const MARKED: usize = 300;

pub fn plot(pair: &PairReport) -> Plot {
    let differing: Vec<(u32, f64)> = (pair.executions.iter().filter(|one| one.differs))
        .map(|one| (one.number, share(one.coverage_so_far)))
        .collect();
    let first = differing.first().map(|(number, _)| *number);
    let mut legend = vec![("lines covered so far".to_owned(), Mark::new(Sign::Line, BLUE))];
    let differs = Mark::new(Sign::Diamond, ORANGE);
    if first.is_some() {
        legend.push(("≠ differs".into(), differs));
        legend.push(("first difference".into(), Mark::new(Sign::Dashes, ORANGE)));
    }
    let executions = pair.executions.last().map_or(1, |last| last.number).max(pair.executed);
    let end = f64::from(executions);
    let sheet =
        Sheet { title: "Coverage over executions", description: description(pair, first), legend, height: HEIGHT };
    sheet.draw(|area| {
        let x = Scale { name: "execution", from: 0.0, to: end, ticks: ticks(0.0, end, 8, true), text: &plain };
        let y = Scale { name: "lines covered", from: 0.0, to: 1.0, ticks: ticks(0.0, 1.0, 5, false), text: &percent };
        let mut chart = axes(area, &x, &y)?;
        let screen = area.use_screen_coord();
        let corners = staircase(pair, end);
        chart.draw_series(AreaSeries::new(corners.iter().copied(), 0.0, BLUE.mix(0.12)))?;
        chart.draw_series(LineSeries::new(corners, BLUE.stroke_width(2)))?;
        if let Some(number) = first {
            let x = f64::from(number);
            chart.draw_series(DashedLineSeries::new([(x, 0.0), (x, 1.0)], 5, 4, ORANGE.stroke_width(2)))?;
            let (side, gap) = if x > end * 0.6 { (HPos::Right, -8) } else { (HPos::Left, 8) };
            let style = font(13.0).color(&ORANGE).pos(Pos::new(side, VPos::Bottom));
            let label = format!("≠ first difference: execution {number}");
            chart.plotting_area().draw(&(EmptyElement::at((x, 0.06)) + Text::new(label, (gap, 0), style)))?;
        }
        for (number, height) in sample(&differing, MARKED) {
            differs.draw(&screen, place(&chart, f64::from(*number), *height))?;
        }
        Ok(())
    })
}

fn description(pair: &PairReport, first: Option<u32>) -> String {
    let executions = words::count(pair.executed as usize, "execution");
    let coverage = words::percent(pair.executions.last().map_or(0.0, |last| last.coverage_so_far));
    match first {
        Some(number) => format!("Coverage reached {coverage} in {executions}; first difference in {number}"),
        None => format!("Coverage reached {coverage} in {executions}; no difference"),
    }
}

/// The corners of the staircase. Coverage rises at an execution, so flat stretches need no points of their own.
fn staircase(pair: &PairReport, end: f64) -> Vec<(f64, f64)> {
    let mut points = vec![(0.0, 0.0)];
    let mut height = 0.0;
    for execution in &pair.executions {
        let next = share(execution.coverage_so_far);
        if next != height {
            let x = f64::from(execution.number);
            points.extend([(x, height), (x, next)]);
            height = next;
        }
    }
    points.push((end, height));
    points
}
