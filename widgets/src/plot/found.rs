//! What a second study found sooner or later than a first one: the changes in behavior known after so many executions.

use plotters::prelude::*;

use super::marks::{BLUE, Mark, ORANGE, Sign};
use super::{HEIGHT, Plot, Scale, Sheet, axes, plain, ticks};
use crate::words;

const TITLE: &str = "Differences found";

/// Two curves that rise by one at the first execution that shows a change. `names` stand in the legend.
pub fn found_plot(first: &[Vec<u32>; 2], both: usize, names: [&str; 2]) -> Plot {
    let counts = first.each_ref().map(Vec::len);
    let end = first.iter().flatten().max().copied().unwrap_or(0);
    if end == 0 {
        return Sheet::empty(TITLE, "Neither study found a difference.");
    }
    let marks = [Mark::new(Sign::Line, BLUE), Mark::new(Sign::Dashes, ORANGE)];
    let names = names.map(crate::plain::value);
    let said = names.iter().zip(counts).zip(first).map(|((name, count), found)| {
        let middle =
            found.get(count / 2).map_or_else(String::new, |middle| format!(", half of them by execution {middle}"));
        format!("{name} found {count}{middle}")
    });
    let sheet = Sheet {
        title: TITLE,
        description: format!("Of {}, {}", words::count(both, "change"), said.collect::<Vec<_>>().join("; ")),
        legend: names.iter().cloned().zip(marks).collect(),
        height: HEIGHT,
    };
    // Executions range over powers of two, since most differences are found by the first few.
    let at = |execution: u32| f64::from(execution.max(1)).log2();
    let to = at(end).ceil().max(1.0);
    let most = counts.into_iter().max().unwrap_or(1) as f64;
    sheet.draw(|area| {
        let text = |exponent: f64| format!("{:.0}", exponent.exp2());
        let x = Scale { name: "executions", from: 0.0, to, ticks: ticks(0.0, to, 10, true), text: &text };
        let y = Scale {
            name: "changes known to differ",
            from: 0.0,
            to: most * 1.06,
            ticks: ticks(0.0, most, 5, true),
            text: &plain,
        };
        let mut chart = axes(area, &x, &y)?;
        for (found, mark) in first.iter().zip(marks) {
            let mut corners = vec![(0.0, 0.0)];
            for (before, execution) in found.iter().enumerate() {
                corners.extend([(at(*execution), before as f64), (at(*execution), before as f64 + 1.0)]);
            }
            corners.push((to, found.len() as f64));
            match mark.sign {
                Sign::Dashes => {
                    chart.draw_series(DashedLineSeries::new(corners, 5, 4, mark.color.stroke_width(2)))?;
                }
                _ => {
                    chart.draw_series(LineSeries::new(corners, mark.color.stroke_width(2)))?;
                }
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(first: [Vec<u32>; 2]) -> Plot {
        found_plot(&first, 9, ["neural", "uniform"])
    }

    #[test]
    fn each_study_has_a_curve_and_a_sentence() {
        let plot = between([vec![1, 1, 4], vec![7, 300]]);
        let wanted = "Of 9 changes, neural found 3, half of them by execution 1; uniform found 2, half of them by \
                      execution 300";
        assert_eq!(plot.description, wanted);
        assert!(plot.svg.contains(">uniform</text>"));
    }

    #[test]
    fn nothing_found_is_said() {
        assert!(!between([vec![], vec![]]).is_drawn);
    }
}
