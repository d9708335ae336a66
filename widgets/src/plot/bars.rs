//! How many changes of a study have which verdict.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::marks::Mark;
use super::{Plot, Scale, Sheet, axes, font, place, plain, ticks, verdict_text};
use crate::state::StudyRow;
use crate::words;

const TITLE: &str = "Verdicts";
/// The height of a verdict's bar, in pixels.
const ROW: u32 = 32;
/// Room for the names of verdicts.
const NAMES: i32 = 78;

pub fn verdicts(rows: &[StudyRow]) -> Plot {
    if rows.is_empty() {
        return Sheet::empty(TITLE, "The study has no changes.");
    }
    let counts = words::VERDICTS.map(|verdict| (verdict, rows.iter().filter(|row| row.verdict == verdict).count()));
    let said: Vec<String> = counts.iter().map(|(verdict, count)| format!("{count} {}", verdict.name())).collect();
    let sheet = Sheet {
        title: TITLE,
        description: format!("{}: {}", words::count(rows.len(), "change"), said.join(", ")),
        legend: vec![],
        height: 52 + ROW * counts.len() as u32,
    };
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1) as f64;
    sheet.draw(|area| {
        // Room on the right for the longest bar's number.
        let to = most * 1.22;
        let x = Scale { name: "changes", from: 0.0, to, ticks: ticks(0.0, to, 6, true), text: &plain };
        let y = Scale { name: "", from: counts.len() as f64, to: 0.0, ticks: vec![], text: &|_| String::new() };
        let inner = area.margin(0, 0, NAMES, 0);
        let chart = axes(&inner, &x, &y)?;
        let screen = area.use_screen_coord();
        for (index, (verdict, count)) in counts.iter().enumerate() {
            let (left, middle) = place(&chart, 0.0, index as f64 + 0.5);
            let right = place(&chart, *count as f64, 0.0).0;
            let at = |side| font(12.0).pos(Pos::new(side, VPos::Center));
            screen.draw(&Text::new(verdict_text(*verdict), (left - 8, middle), at(HPos::Right)))?;
            Mark::bar_of(*verdict).fill(&screen, (left, middle - 10), (right, middle + 10))?;
            let share = *count as f64 / rows.len() as f64;
            let number = format!("{count} ({:.1} %)", share * 100.0);
            screen.draw(&Text::new(number, (right + 6, middle), at(HPos::Left)))?;
        }
        Ok(())
    })
}
