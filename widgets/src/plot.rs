//! SVG plots, drawn with plotters. Colors are middle tones that stand out on light and on dark paper alike; nothing
//! from user code is drawn.

use std::error::Error;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use twincell_core::report::PairReport;

use crate::words;

const SIZE: (u32, u32) = (660, 230);
const INK: RGBColor = RGBColor(0x80, 0x86, 0x8f);
const CURVE: RGBColor = RGBColor(0x3b, 0x82, 0xf6);
const MARK: RGBColor = RGBColor(0xc9, 0x5f, 0x00);

/// Coverage of the pair over its executions, the first execution that differs marked.
///
/// A complete SVG element with a description for screen readers; without executions, an empty chart that says so.
pub fn coverage_plot_svg(pair: &PairReport) -> String {
    let mut svg = String::new();
    // Drawing into a string fails only where a chart has no room, and the size is fixed.
    if draw(&mut svg, pair).is_err() {
        svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"></svg>".into();
    }
    let label = format!("<svg role=\"img\" aria-label=\"{}\" class=\"tc-plot\"", description(pair));
    svg.replacen("<svg", &label, 1)
}

fn share(value: f64) -> f64 {
    if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 }
}

/// Its number, counted from one.
fn first_difference(pair: &PairReport) -> Option<u32> {
    pair.executions.iter().find(|execution| execution.differs).map(|execution| execution.number)
}

/// The number of the last execution, counted from one: as far as the chart goes.
fn end(pair: &PairReport) -> f64 {
    f64::from(pair.executions.last().map_or(1, |last| last.number).max(pair.executed))
}

fn description(pair: &PairReport) -> String {
    let Some(last) = pair.executions.last() else {
        return "Coverage over executions: nothing was executed".into();
    };
    let executions = words::count(pair.executed as usize, "execution");
    let coverage = words::percent(last.coverage_so_far);
    match first_difference(pair) {
        Some(number) => format!("Coverage reached {coverage} in {executions}; first difference in {number}"),
        None => format!("Coverage reached {coverage} in {executions}; no difference"),
    }
}

/// The corners of the staircase: coverage rises at an execution, so flat stretches need no points of their own.
fn staircase(pair: &PairReport) -> Vec<(f64, f64)> {
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
    points.push((end(pair), height));
    points
}

fn draw(svg: &mut String, pair: &PairReport) -> Result<(), Box<dyn Error + Send + Sync>> {
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let font = |size: u32| ("sans-serif", size).into_font().color(&INK);
    let executions = end(pair);
    let mut chart = ChartBuilder::on(&area)
        .margin(10)
        .margin_right(24)
        .x_label_area_size(38)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..executions, 0.0..1.0)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(INK.mix(0.3))
        .axis_style(INK.mix(0.7))
        .label_style(font(14))
        .axis_desc_style(font(14))
        .x_desc("executions")
        .y_desc("lines covered")
        .x_labels(if executions < 10.0 { executions as usize + 1 } else { 8 })
        .y_labels(5)
        .x_label_formatter(&|x| if x.fract() == 0.0 { format!("{x:.0}") } else { String::new() })
        .y_label_formatter(&|y| format!("{:.0} %", y * 100.0))
        .draw()?;
    let corners = staircase(pair);
    chart.draw_series(AreaSeries::new(corners.iter().copied(), 0.0, CURVE.mix(0.12)))?;
    chart.draw_series(LineSeries::new(corners, CURVE.stroke_width(2)))?;
    if let Some(number) = first_difference(pair) {
        let x = f64::from(number);
        chart.draw_series(DashedLineSeries::new([(x, 0.0), (x, 1.0)], 5, 4, MARK.stroke_width(2)))?;
        let (side, gap) = if x > executions * 0.6 { (HPos::Right, -8) } else { (HPos::Left, 8) };
        let style = ("sans-serif", 15).into_font().color(&MARK).pos(Pos::new(side, VPos::Bottom));
        let label = format!("≠ first difference: execution {number}");
        let at = EmptyElement::at((x, 0.06)) + Text::new(label, (gap, 0), style);
        chart.plotting_area().draw(&at)?;
    }
    if pair.executions.is_empty() {
        let style = font(15).pos(Pos::new(HPos::Center, VPos::Center));
        chart.plotting_area().draw(&Text::new("nothing was executed", (0.5, 0.5), style))?;
    }
    area.present()?;
    drop(chart);
    drop(area);
    Ok(())
}
