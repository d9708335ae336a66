//! The levels of an impact: how many statements each leaves, and when it was whole.

use plotters::prelude::*;

use super::marks::{BLUE, Mark, ORANGE, Sign};
use super::{HEIGHT, Plot, Scale, Sheet, axes, place, plain, ticks};
use crate::words;

const TITLE: &str = "Size against time";
const LEVEL: Mark = Mark::new(Sign::Dot, ORANGE);

/// A level.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelPoint<'a> {
    pub name: &'a str,
    pub impacted: usize,
    /// When it was whole.
    pub milliseconds: f64,
}

/// Draws the levels of an impact in their order.
pub fn levels_plot(levels: &[LevelPoint<'_>]) -> Plot {
    let (Some(first), Some(last)) = (levels.first(), levels.last()) else {
        return Sheet::empty(TITLE, "No level was measured.");
    };
    let told = levels
        .iter()
        .map(|one| format!("{} {} after {}", one.name, words::number(one.impacted), words::duration(one.milliseconds)));
    let sheet = Sheet {
        title: TITLE,
        description: format!("Impacted statements: {}", told.collect::<Vec<_>>().join(", ")),
        legend: vec![
            ("impacted statements".to_owned(), Mark::new(Sign::Line, BLUE)),
            ("a whole level".to_owned(), LEVEL),
        ],
        height: HEIGHT,
    };
    let end = (last.milliseconds * 1.08).max(1.0);
    let most = first.impacted.max(1) as f64;
    sheet.draw(|area| {
        let x = Scale { name: "milliseconds", from: 0.0, to: end, ticks: ticks(0.0, end, 8, true), text: &plain };
        let y_name = "impacted statements";
        let y = Scale { name: y_name, from: 0.0, to: most * 1.15, ticks: ticks(0.0, most, 5, true), text: &plain };
        let mut chart = axes(area, &x, &y)?;
        let screen = area.use_screen_coord();
        let mut corners: Vec<(f64, f64)> = Vec::new();
        for one in levels {
            corners.extend(corners.last().map(|(_, height)| (one.milliseconds, *height)));
            corners.push((one.milliseconds, one.impacted as f64));
        }
        corners.push((end, last.impacted as f64));
        chart.draw_series(LineSeries::new(corners, BLUE.stroke_width(2)))?;
        for one in levels {
            LEVEL.draw(&screen, place(&chart, one.milliseconds, one.impacted as f64))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_levels_are_told_in_a_sentence() {
        let point = |name, impacted, milliseconds| LevelPoint { name, impacted, milliseconds };
        let plot = levels_plot(&[point("DCIA", 120, 40.0), point("k=0", 96, 95.0)]);
        assert_eq!(plot.description, "Impacted statements: DCIA 120 after 40 ms, k=0 96 after 95 ms");
        assert!(plot.svg.contains(">milliseconds</text>") && plot.svg.contains(">a whole level</text>"));
        assert!(levels_plot(&[point("DCIA", 0, 0.0)]).is_drawn);
        assert!(!levels_plot(&[]).is_drawn);
    }
}
