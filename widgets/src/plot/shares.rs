//! Predicted against injected values: how often each class was expected and how often it was injected, over all access
//! paths, each weighted by its injections.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use twincell_compare::report::{PairReport, PathReport};
use twincell_values::value::AbstractValue;

use super::marks::{BLUE, Fill, INK, Mark, Sign};
use super::{Plot, Scale, Sheet, WIDTH, axes, font, percent, place, ticks};
use crate::words;

/// The height of a class, in pixels.
const ROW: u32 = 24;
/// The minimum expectation of a class that was never injected, for it to be drawn.
const LEAST: f64 = 0.005;

/// None if nothing was injected.
pub fn plot(pair: &PairReport) -> Option<Plot> {
    let found = shares(&pair.paths);
    if found.is_empty() {
        return None;
    }
    let predicted = Mark::new(Sign::Box(Fill::Empty), INK);
    let injected = Mark::new(Sign::Box(Fill::Full), BLUE);
    let most = found.iter().max_by(|one, other| one.2.total_cmp(&other.2));
    let said = most.map_or(String::new(), |(class, _, share)| {
        format!("; injected most: {}, {}", class.name(), words::percent(*share))
    });
    let sheet = Sheet {
        title: "Predicted against injected values",
        description: format!(
            "How often each class was expected and injected, over {}{said}",
            words::count(pair.paths.len(), "access path")
        ),
        legend: vec![("predicted".into(), predicted), ("injected".into(), injected)],
        height: 52 + ROW * found.len() as u32,
    };
    let rows = found.len() as f64;
    let end = found.iter().fold(0.1f64, |end, (_, predicted, injected)| end.max(*predicted).max(*injected));
    Some(sheet.draw(|area| {
        let x = Scale { name: "share", from: 0.0, to: end * 1.02, ticks: ticks(0.0, end, 6, false), text: &percent };
        let y = Scale { name: "", from: rows, to: 0.0, ticks: vec![], text: &|_| String::new() };
        let chart = axes(area, &x, &y)?;
        let screen = area.use_screen_coord();
        for (index, (class, expected, share)) in found.iter().enumerate() {
            let middle = place(&chart, 0.0, index as f64 + 0.5);
            let style = font(12.0).pos(Pos::new(HPos::Right, VPos::Center));
            screen.draw(&Text::new(class.name(), (middle.0 - 8, middle.1), style))?;
            let bar = |mark: Mark, share: f64, from: i32| {
                let right = place(&chart, share, 0.0).0.min(WIDTH.cast_signed());
                mark.fill(&screen, (middle.0, middle.1 + from), (right, middle.1 + from + 8))
            };
            bar(predicted, *expected, -9)?;
            bar(injected, *share, 1)?;
        }
        Ok(())
    }))
}

/// Both shares of each class, without classes that are in neither.
fn shares(paths: &[PathReport]) -> Vec<(AbstractValue, f64, f64)> {
    let count = |path: &PathReport| path.injected.iter().map(|one| f64::from(one.count)).sum::<f64>();
    let total: f64 = paths.iter().map(count).sum();
    let weight = |path: &PathReport| if total > 0.0 { count(path) / total } else { 1.0 / paths.len().max(1) as f64 };
    (AbstractValue::ALL.into_iter().enumerate())
        .map(|(index, class)| {
            let expected =
                |path: &PathReport| path.predicted.get(index).map_or(0.0, |share| super::share((*share).into()));
            let injected = |path: &PathReport| -> f64 {
                path.injected.iter().filter(|one| one.class == class).map(|one| f64::from(one.count)).sum()
            };
            let predicted = paths.iter().map(|path| expected(path) * weight(path)).sum();
            let injected: f64 = paths.iter().map(injected).sum();
            (class, predicted, if total > 0.0 { injected / total } else { 0.0 })
        })
        .filter(|(_, predicted, injected)| *injected > 0.0 || *predicted >= LEAST)
        .collect()
}
