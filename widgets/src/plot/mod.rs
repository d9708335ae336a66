//! Static plots, drawn with plotters: those of one pair and those of a study, the twins of those in
//! `widgets/js/src/plots`. Colors are middle tones that stand out on light and on dark backgrounds, and never carry
//! meaning alone. Nothing from compared code is drawn, and names from the input of a study are plain text. This file has
//! what all plots share.

mod bars;
mod complexity;
mod confusion;
mod coverage;
mod found;
mod groups;
mod levels;
mod marks;
mod paper;
mod shares;
mod slice;
mod spread;
mod time;
mod waits;

use std::error::Error;

use marks::{INK, Mark};
use paper::{FONT, LINE, Paper, escaped};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use twincell_compare::report::PairReport;
use twincell_compare::verdict::Verdict;

use crate::state::StudyState;
use crate::words;

pub use confusion::{Confusion, confusion_of};
pub(crate) use found::found_plot;
pub(crate) use levels::{LevelPoint, levels_plot};
pub(crate) use slice::{Run, slice_plot};

/// A plot as SVG, with its content in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plot {
    pub title: String,
    /// The content, for readers who cannot see it.
    pub description: String,
    pub svg: String,
    /// False if there is too little for a drawing, so that it only says so.
    pub is_drawn: bool,
}

/// The plots of one pair. None if nothing was executed.
pub fn pair_plots(pair: &PairReport) -> Vec<Plot> {
    if pair.executions.is_empty() {
        return vec![];
    }
    let mut plots = vec![coverage::plot(pair)];
    plots.extend(waits::plot(pair));
    plots.extend(shares::plot(pair));
    plots.push(time::plot(pair));
    plots
}

/// One of the plots of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StudyPlot {
    Verdicts,
    Confusion,
    Kinds,
    Projects,
    OverTime,
    Coverage,
    Executions,
    UntilDifference,
    Time,
    Complexity,
}

impl StudyPlot {
    /// In the order in which a page shows them.
    pub const ALL: [Self; 10] = [
        Self::Verdicts,
        Self::Confusion,
        Self::Kinds,
        Self::Projects,
        Self::OverTime,
        Self::UntilDifference,
        Self::Executions,
        Self::Coverage,
        Self::Complexity,
        Self::Time,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Verdicts => "verdicts",
            Self::Confusion => "confusion",
            Self::Kinds => "kinds",
            Self::Projects => "projects",
            Self::OverTime => "over_time",
            Self::Coverage => "coverage",
            Self::Executions => "executions",
            Self::UntilDifference => "until_difference",
            Self::Time => "time",
            Self::Complexity => "complexity",
        }
    }
}

/// A plot of a study. One without anything to draw says so.
pub fn study_plot(study: &StudyState, which: StudyPlot) -> Plot {
    let rows = study.rows.as_slice();
    match which {
        StudyPlot::Verdicts => bars::verdicts(rows),
        StudyPlot::Confusion => confusion::plot(rows),
        StudyPlot::Kinds => groups::kinds(rows),
        StudyPlot::Projects => groups::projects(rows),
        StudyPlot::OverTime => spread::over_time(rows),
        StudyPlot::Coverage => spread::coverage(rows),
        StudyPlot::Executions => spread::executions(rows),
        StudyPlot::UntilDifference => spread::until_difference(rows),
        StudyPlot::Time => spread::time(rows),
        StudyPlot::Complexity => complexity::plot(rows),
    }
}

type Area<'a> = DrawingArea<Paper<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error + Send + Sync>>;
type Chart<'a, 'b> = ChartContext<'b, Paper<'a>, Cartesian2d<Axis, Axis>>;

const WIDTH: u32 = 560;
/// The size of the drawing, without its title and legend.
const HEIGHT: u32 = 220;
const TITLE: i32 = 24;
const ROW: i32 = 20;

/// A plot before it is drawn.
struct Sheet {
    title: &'static str,
    description: String,
    legend: Vec<(String, Mark)>,
    height: u32,
}

impl Sheet {
    /// Draws the title and the legend, and `drawing` below them.
    fn draw(self, drawing: impl Fn(&Area<'_>) -> Drawn) -> Plot {
        let Self { title, description, legend, height } = self;
        let rows = legend_rows(&legend);
        let top = TITLE + ROW * rows.len() as i32;
        let size = (WIDTH, height + top.cast_unsigned());
        let mut shapes = String::new();
        let drawn = (|| -> Drawn {
            let area = Paper::new(&mut shapes, size).into_drawing_area();
            area.draw(&Text::new(title, (4, 6), bold(14.0)))?;
            for (row, entries) in rows.iter().enumerate() {
                let y = TITLE + ROW * row as i32 + 9;
                for (text, mark, x) in entries {
                    mark.draw(&area, (x + 8, y))?;
                    let style = font(FONT).pos(Pos::new(HPos::Left, VPos::Center));
                    area.draw(&Text::new(*text, (x + 22, y), style))?;
                }
            }
            drawing(&area.margin(top, 0, 0, 0))?;
            area.present()?;
            Ok(())
        })();
        // Drawing into a string fails only if a chart has no room, and the sizes are fixed.
        debug_assert!(drawn.is_ok(), "{title}: {drawn:?}");
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tc-plot\" role=\"img\" aria-label=\"{}. {}\" \
             width=\"{}\" height=\"{}\" viewBox=\"-.5 -.5 {} {}\" font-family=\"sans-serif\" font-size=\"{FONT}\">{shapes}</svg>",
            escaped(title),
            escaped(&description),
            size.0,
            size.1,
            size.0,
            size.1,
        );
        Plot { title: title.into(), description, svg, is_drawn: true }
    }

    /// A plot that says in its middle why it is empty.
    fn empty(title: &'static str, why: &str) -> Plot {
        let sheet = Self { title, description: why.to_owned(), legend: vec![], height: 90 };
        let plot = sheet.draw(|area| {
            let (width, height) = area.dim_in_pixel();
            let style = font(FONT).pos(Pos::new(HPos::Center, VPos::Center));
            area.draw(&Text::new(why, ((width / 2).cast_signed(), (height / 2).cast_signed()), style))?;
            Ok(())
        });
        Plot { is_drawn: false, ..plot }
    }
}

/// Entries from left to right, in as many rows as they need, each with its position.
fn legend_rows(legend: &[(String, Mark)]) -> Vec<Vec<(&str, Mark, i32)>> {
    let mut rows: Vec<Vec<_>> = vec![];
    let mut x = 4;
    for (text, mark) in legend {
        let wide = 22 + 6 * text.chars().count() as i32 + 20;
        if rows.is_empty() || x + wide > WIDTH.cast_signed() {
            rows.push(vec![]);
            x = 4;
        }
        if let Some(row) = rows.last_mut() {
            row.push((text.as_str(), *mark, x));
        }
        x += wide;
    }
    rows
}

/// The font size of every text, in pixels.
fn font(size: f64) -> TextStyle<'static> {
    ("sans-serif", size * LINE).into_font().color(&INK)
}

fn bold(size: f64) -> TextStyle<'static> {
    ("sans-serif", size * LINE, FontStyle::Bold).into_font().color(&INK)
}

/// An axis: its name, its ends, its ticks, and their labels.
struct Scale<'a> {
    name: &'a str,
    from: f64,
    to: f64,
    ticks: Vec<f64>,
    text: &'a dyn Fn(f64) -> String,
}

/// The places where plotters puts numbers and ticks.
struct Axis {
    from: f64,
    to: f64,
    ticks: Vec<f64>,
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (low, high): (i32, i32)) -> i32 {
        let part = (value - self.from) / (self.to - self.from);
        // A number that cannot be drawn is drawn at the start.
        low + if part.is_finite() { (part * f64::from(high - low)).round() as i32 } else { 0 }
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.from..self.to
    }
}

/// The axes of a chart: both scales, and lines across at the ticks of the vertical one.
fn axes<'a, 'b>(
    area: &'b Area<'a>,
    x: &Scale<'_>,
    y: &Scale<'_>,
) -> Result<Chart<'a, 'b>, Box<dyn Error + Send + Sync>> {
    let mut chart = ChartBuilder::on(area)
        .margin_top(8)
        .margin_left(2)
        .margin_right(18)
        .x_label_area_size(40)
        .y_label_area_size(62)
        .build_cartesian_2d(
            Axis { from: x.from, to: x.to, ticks: x.ticks.clone() },
            Axis { from: y.from, to: y.to, ticks: y.ticks.clone() },
        )?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(INK.mix(0.3))
        .axis_style(INK.mix(0.7))
        .label_style(font(FONT))
        .axis_desc_style(font(FONT))
        .x_desc(x.name)
        .y_desc(y.name)
        .x_labels(x.ticks.len() + 1)
        .y_labels(y.ticks.len() + 1)
        .x_label_formatter(&|value| (x.text)(*value))
        .y_label_formatter(&|value| (y.text)(*value))
        .draw()?;
    Ok(chart)
}

/// The position of a point of a chart on the whole drawing.
fn place(chart: &Chart<'_, '_>, x: f64, y: f64) -> (i32, i32) {
    chart.plotting_area().map_coordinate(&(x, y))
}

/// At most about this many round numbers between two others, and only whole ones if `whole`.
fn ticks(from: f64, to: f64, most: u32, whole: bool) -> Vec<f64> {
    let span = to - from;
    if !(span.is_finite() && span > 0.0) {
        return vec![from];
    }
    let rough = span / f64::from(most.max(1));
    let magnitude = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * magnitude).into_iter().find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(magnitude * 10.0);
    let step = if whole { step.max(1.0).round() } else { step };
    let first = (from / step).ceil() as i64;
    (first..).map(|number| number as f64 * step).take_while(|tick| *tick <= to + step * 1e-9).take(100).collect()
}

/// A whole number, as ticks have it.
fn plain(value: f64) -> String {
    format!("{value:.0}")
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A value that cannot be drawn counts as 0.
fn share(value: f64) -> f64 {
    if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 }
}

/// At most this many, evenly chosen.
fn sample<T>(all: &[T], limit: usize) -> impl Iterator<Item = &T> {
    let count = all.len().min(limit);
    (0..count).filter_map(move |index| all.get(index * all.len() / count.max(1)))
}

/// The median.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// A verdict as legends name it.
fn verdict_text(verdict: Verdict) -> String {
    format!("{} {}", words::icon(verdict), verdict.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(0.0, 300.0, 6, true), [0.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0]);
        assert_eq!(ticks(0.0, 3.0, 8, true), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(ticks(0.0, 1.0, 5, false).len(), 6);
        assert_eq!(ticks(1.0, 1.0, 5, false), [1.0]);
        assert_eq!(ticks(0.0, f64::NAN, 5, false), [0.0]);
    }

    #[test]
    fn a_sample_is_taken_from_everywhere() {
        assert_eq!(sample(&[0, 1, 2, 3, 4, 5], 3).copied().collect::<Vec<_>>(), [0, 2, 4]);
        assert_eq!(sample(&[7], 3).copied().collect::<Vec<_>>(), [7]);
        assert_eq!(sample(&[] as &[u8], 3).count(), 0);
    }
}
