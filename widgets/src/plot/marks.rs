//! Signs and fillings. A shape or a pattern always repeats what a color says.

use plotters::prelude::*;
use plotters::style::RGBColor;

use twincell_compare::verdict::Verdict;

use super::{Area, Drawn};

/// A grey that is legible on white and on black.
pub const INK: RGBColor = RGBColor(0x74, 0x7a, 0x83);
pub const BLUE: RGBColor = RGBColor(0x3b, 0x82, 0xf6);
pub const ORANGE: RGBColor = RGBColor(0xd9, 0x5f, 0x0e);
pub const GREEN: RGBColor = RGBColor(0x2f, 0x9e, 0x44);
const YELLOW: RGBColor = RGBColor(0xb0, 0x88, 0x00);

/// How an area is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    Full,
    /// Lines from below left to above right.
    Hatched,
    /// Level lines.
    Lined,
    /// Nothing but its outline.
    Empty,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    Line,
    Dashes,
    Dot,
    Ring,
    Diamond,
    Cross,
    Box(Fill),
}

/// The sign for one kind of thing in a plot and in its legend.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    pub sign: Sign,
    pub color: RGBColor,
}

impl Mark {
    pub const fn new(sign: Sign, color: RGBColor) -> Self {
        Self { sign, color }
    }

    /// The bars of a verdict.
    pub const fn bar_of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Changing => Self::new(Sign::Box(Fill::Full), ORANGE),
            Verdict::LikelyPreserving => Self::new(Sign::Box(Fill::Hatched), GREEN),
            Verdict::Inconclusive => Self::new(Sign::Box(Fill::Lined), YELLOW),
            Verdict::Identical => Self::new(Sign::Box(Fill::Empty), INK),
        }
    }

    /// The point of a verdict.
    pub const fn point_of(verdict: Verdict) -> Self {
        let sign = match verdict {
            Verdict::Changing => Sign::Diamond,
            Verdict::LikelyPreserving => Sign::Dot,
            Verdict::Inconclusive => Sign::Cross,
            Verdict::Identical => Sign::Ring,
        };
        Self::new(sign, Self::bar_of(verdict).color)
    }

    /// Draws it around this point.
    pub fn draw(self, area: &Area<'_>, (x, y): (i32, i32)) -> Drawn {
        let Self { sign, color } = self;
        match sign {
            Sign::Line => area.draw(&PathElement::new(vec![(x - 8, y), (x + 8, y)], color.stroke_width(2)))?,
            Sign::Dashes => {
                for from in [x - 8, x - 1, x + 6] {
                    area.draw(&PathElement::new(vec![(from, y), (from + 4, y)], color.stroke_width(2)))?;
                }
            }
            Sign::Dot => area.draw(&Circle::new((x, y), 3, color.mix(0.8).filled()))?,
            Sign::Ring => area.draw(&Circle::new((x, y), 3, color.stroke_width(1)))?,
            Sign::Diamond => {
                area.draw(&Polygon::new(vec![(x, y - 5), (x + 4, y), (x, y + 5), (x - 4, y)], color.filled()))?;
            }
            Sign::Cross => {
                for down in [3, -3] {
                    let line = vec![(x - 3, y - down), (x + 3, y + down)];
                    area.draw(&PathElement::new(line, color.stroke_width(1)))?;
                }
            }
            Sign::Box(_) => self.fill(area, (x - 7, y - 5), (x + 7, y + 5))?,
        }
        Ok(())
    }

    /// A bar between these corners: above left, below right.
    pub fn fill(self, area: &Area<'_>, (left, top): (i32, i32), (right, bottom): (i32, i32)) -> Drawn {
        let Self { sign: Sign::Box(fill), color } = self else { return Ok(()) };
        if right <= left || bottom <= top {
            return Ok(());
        }
        if fill == Fill::Full {
            area.draw(&Rectangle::new([(left, top), (right, bottom)], color.filled()))?;
            return Ok(());
        }
        if fill != Fill::Empty {
            area.draw(&Rectangle::new([(left, top), (right, bottom)], color.mix(0.2).filled()))?;
        }
        area.draw(&Rectangle::new([(left, top), (right, bottom)], color.stroke_width(1)))?;
        for line in pattern(fill, (left, top), (right, bottom)) {
            area.draw(&PathElement::new(line.to_vec(), color.stroke_width(1)))?;
        }
        Ok(())
    }
}

/// Lines between these corners, at the same places in all bars.
fn pattern(fill: Fill, (left, top): (i32, i32), (right, bottom): (i32, i32)) -> Vec<[(i32, i32); 2]> {
    const GAP: i32 = 5;
    match fill {
        Fill::Lined => (top..bottom).filter(|y| y % GAP == 0).map(|y| [(left, y), (right, y)]).collect(),
        // Where x + y is the same.
        Fill::Hatched => (left + top + 1..right + bottom)
            .filter(|sum| sum % (GAP + 1) == 0)
            .map(|sum| {
                let (low, high) = (left.max(sum - bottom), right.min(sum - top));
                [(low, sum - low), (high, sum - high)]
            })
            .collect(),
        Fill::Full | Fill::Empty => vec![],
    }
}
