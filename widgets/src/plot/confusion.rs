//! Verdicts against labels: counts, for a table and for a plot.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use twincell_compare::verdict::Verdict;

use super::marks::{BLUE, INK, ORANGE};
use super::{Plot, Sheet, WIDTH, bold, font, verdict_text};
use crate::label::{Label, label_name};
use crate::state::StudyRow;
use crate::words;

const TITLE: &str = "Label against verdict";
const LABELS: [Option<Label>; 4] = [Some(Label::Changing), Some(Label::Preserving), Some(Label::Unclear), None];

/// Counts of changes by label and verdict. Labels and verdicts without changes are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confusion {
    pub verdicts: Vec<Verdict>,
    /// A label, and a count for each verdict.
    pub rows: Vec<(Option<Label>, Vec<usize>)>,
}

impl Confusion {
    /// Whether a verdict contradicts a label.
    pub fn disagrees(label: Option<Label>, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Changing => label == Some(Label::Preserving),
            Verdict::LikelyPreserving | Verdict::Identical => label == Some(Label::Changing),
            Verdict::Inconclusive => false,
        }
    }
}

pub fn confusion_of(rows: &[StudyRow]) -> Confusion {
    let verdicts: Vec<Verdict> =
        words::VERDICTS.into_iter().filter(|verdict| rows.iter().any(|row| row.verdict == *verdict)).collect();
    let rows = LABELS
        .into_iter()
        .map(|label| {
            let of = |verdict| rows.iter().filter(|row| row.verdict == verdict && row.label == label).count();
            (label, verdicts.iter().copied().map(of).collect::<Vec<_>>())
        })
        .filter(|(_, counts)| counts.iter().any(|count| *count > 0))
        .collect();
    Confusion { verdicts, rows }
}

pub fn plot(rows: &[StudyRow]) -> Plot {
    const ROW: i32 = 38;
    const NAMES: i32 = 90;
    let found = confusion_of(rows);
    if rows.is_empty() {
        return Sheet::empty(TITLE, "The study has no changes.");
    }
    let most = found.rows.iter().flat_map(|(_, counts)| counts).copied().max().unwrap_or(1).max(1);
    let wrong: usize = (found.rows.iter())
        .flat_map(|(label, counts)| {
            found.verdicts.iter().zip(counts).map(move |(verdict, count)| (*label, *verdict, count))
        })
        .filter(|(label, verdict, _)| Confusion::disagrees(*label, *verdict))
        .map(|(_, _, count)| count)
        .sum();
    let labelled = rows.iter().filter(|row| matches!(row.label, Some(Label::Changing | Label::Preserving))).count();
    let sheet = Sheet {
        title: TITLE,
        description: format!(
            "{}; of {} the verdict of {wrong} disagrees, marked ✗",
            words::count(rows.len(), "change"),
            words::count(labelled, "labelled one")
        ),
        legend: vec![],
        height: (44 + ROW * found.rows.len() as i32).cast_unsigned(),
    };
    sheet.draw(|area| {
        let wide = (WIDTH.cast_signed() - NAMES - 12) / found.verdicts.len().max(1) as i32;
        let at = |side| Pos::new(side, VPos::Center);
        for (column, verdict) in found.verdicts.iter().enumerate() {
            let middle = NAMES + wide * column as i32 + wide / 2;
            area.draw(&Text::new(verdict_text(*verdict), (middle, 16), font(12.0).pos(at(HPos::Center))))?;
        }
        for (row, (label, counts)) in found.rows.iter().enumerate() {
            let top = 30 + ROW * row as i32;
            area.draw(&Text::new(label_name(*label), (NAMES - 10, top + ROW / 2), font(12.0).pos(at(HPos::Right))))?;
            for (column, (verdict, count)) in found.verdicts.iter().zip(counts).enumerate() {
                let left = NAMES + wide * column as i32;
                let corners = [(left + 1, top + 1), (left + wide - 1, top + ROW - 1)];
                let disagrees = *count > 0 && Confusion::disagrees(*label, *verdict);
                let color = if disagrees { ORANGE } else { BLUE };
                if *count > 0 {
                    let share = *count as f64 / most as f64;
                    area.draw(&Rectangle::new(corners, color.mix(0.08 + 0.34 * share).filled()))?;
                }
                area.draw(&Rectangle::new(corners, INK.mix(0.4).stroke_width(1)))?;
                let text = if disagrees { format!("✗ {count}") } else { count.to_string() };
                let style = bold(14.0).pos(at(HPos::Center));
                area.draw(&Text::new(text, (left + wide / 2, top + ROW / 2), style))?;
            }
        }
        Ok(())
    })
}
