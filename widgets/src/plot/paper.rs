//! The back end for plotters: compact SVG, since a notebook keeps every plot that it ever showed. Consecutive shapes in
//! one style are one path, coordinates are relative, texts come last, and attributes that all texts share are written
//! once.

use std::convert::Infallible;
use std::fmt::Write as _;

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontStyle,
    FontTransform,
};

use plotters::style::Color as _;

use super::marks::INK;

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// The font size of texts that name none.
pub const FONT: f64 = 12.0;
/// plotters takes the line height as the font size, which is greater by this factor.
pub const LINE: f64 = 1.24;

pub struct Paper<'a> {
    out: &'a mut String,
    size: (u32, u32),
    /// The attributes of the path that is being written, and its shapes.
    style: String,
    shapes: String,
    texts: String,
}

impl<'a> Paper<'a> {
    pub fn new(out: &'a mut String, size: (u32, u32)) -> Self {
        Self { out, size, style: String::new(), shapes: String::new(), texts: String::new() }
    }

    fn shape(&mut self, style: String, shape: &str) {
        if style != self.style {
            self.flush();
            self.style = style;
        }
        self.shapes.push_str(shape);
    }

    fn flush(&mut self) {
        if !self.shapes.is_empty() {
            // Writing to a String cannot fail, here and below.
            let _ = write!(self.out, "<path{} d=\"{}\"/>", self.style, self.shapes);
            self.shapes.clear();
        }
    }
}

fn color(color: BackendColor) -> String {
    let (red, green, blue) = color.rgb;
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Two digits are enough. Full opacity is left out.
fn opacity(name: &str, color: BackendColor) -> String {
    if color.alpha >= 0.995 { String::new() } else { format!(" {name}=\"{:.2}\"", color.alpha) }
}

fn filled(of: BackendColor) -> String {
    format!(" fill=\"{}\"{}", color(of), opacity("fill-opacity", of))
}

fn stroked(of: BackendColor, width: u32) -> String {
    let width = if width == 1 { String::new() } else { format!(" stroke-width=\"{width}\"") };
    format!(" fill=\"none\" stroke=\"{}\"{}{width}", color(of), opacity("stroke-opacity", of))
}

/// A line through these points.
fn through(points: impl IntoIterator<Item = BackendCoord>) -> String {
    let mut points = points.into_iter();
    let Some(mut last) = points.next() else { return String::new() };
    let mut path = format!("M{} {}", last.0, last.1);
    for point in points {
        let _ = match (point.0 - last.0, point.1 - last.1) {
            (0, 0) => Ok(()),
            (across, 0) => write!(path, "h{across}"),
            (0, down) => write!(path, "v{down}"),
            (across, down) => write!(path, "l{across} {down}"),
        };
        last = point;
    }
    path
}

impl DrawingBackend for Paper<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        self.flush();
        if !self.texts.is_empty() {
            let _ = write!(self.out, "<g fill=\"{}\">{}</g>", color(INK.to_backend_color()), self.texts);
            self.texts.clear();
        }
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        self.shape(filled(color), &format!("M{x} {y}h1v1h-1z"));
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S, fill: bool) -> Drawn {
        let corners = [from, (to.0, from.1), to, (from.0, to.1)];
        if fill {
            return self.fill_polygon(corners, style);
        }
        if style.color().alpha > 0.0 {
            self.shape(stroked(style.color(), style.stroke_width()), &(through(corners) + "z"));
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        if style.color().alpha > 0.0 {
            self.shape(stroked(style.color(), style.stroke_width()), &through(path));
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(&mut self, (x, y): BackendCoord, radius: u32, style: &S, fill: bool) -> Drawn {
        if style.color().alpha == 0.0 {
            return Ok(());
        }
        if fill {
            // The end of a line without length: a dot in a few characters.
            let round = stroked(style.color(), 2 * radius) + " stroke-linecap=\"round\"";
            self.shape(round, &format!("M{x} {y}h0"));
        } else {
            let (left, wide) = (x - radius.cast_signed(), 2 * radius);
            let half = |wide: i64| format!("a{radius} {radius} 0 1 0 {wide} 0");
            let ring = format!("M{left} {y}{}{}", half(wide.into()), half(-i64::from(wide)));
            self.shape(stroked(style.color(), style.stroke_width()), &ring);
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        if style.color().alpha > 0.0 {
            self.shape(filled(style.color()), &(through(path) + "z"));
        }
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, (x, y): BackendCoord) -> Drawn {
        if style.color().alpha == 0.0 || text.is_empty() {
            return Ok(());
        }
        let anchor = match style.anchor().h_pos {
            HPos::Left => "",
            HPos::Right => " text-anchor=\"end\"",
            HPos::Center => " text-anchor=\"middle\"",
        };
        let down = match style.anchor().v_pos {
            VPos::Top => "0.76em",
            VPos::Center => "0.35em",
            VPos::Bottom => "-0.3em",
        };
        let size = (style.size() / LINE * 10.0).round() / 10.0;
        let size = if size == FONT { String::new() } else { format!(" font-size=\"{size}\"") };
        let weight = if matches!(style.style(), FontStyle::Bold) { " font-weight=\"bold\"" } else { "" };
        let turned = match style.transform() {
            FontTransform::None => String::new(),
            FontTransform::Rotate90 => format!(" transform=\"rotate(90 {x} {y})\""),
            FontTransform::Rotate180 => format!(" transform=\"rotate(180 {x} {y})\""),
            FontTransform::Rotate270 => format!(" transform=\"rotate(270 {x} {y})\""),
        };
        let fill = match style.color() {
            own if own.rgb == (INK.0, INK.1, INK.2) => String::new(),
            own => format!(" fill=\"{}\"", color(own)),
        };
        let _ = write!(
            self.texts,
            "<text x=\"{x}\" y=\"{y}\" dy=\"{down}\"{anchor}{size}{weight}{fill}{turned}>{}</text>",
            escaped(text)
        );
        Ok(())
    }
}

/// For texts and for attributes in double quotes.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use plotters::prelude::*;

    use super::*;

    #[test]
    fn shapes_of_one_style_are_one_path() {
        let mut svg = String::new();
        {
            let area = Paper::new(&mut svg, (50, 50)).into_drawing_area();
            for x in 0..3 {
                area.draw(&Circle::new((x, 7), 2, BLUE.filled())).unwrap();
            }
            area.draw(&PathElement::new(vec![(0, 0), (5, 0), (5, 3), (9, 9)], RED.mix(0.5))).unwrap();
            area.draw(&Rectangle::new([(1, 1), (4, 4)], RED.filled())).unwrap();
            area.draw(&Text::new("a < b", (1, 2), ("sans-serif", FONT * LINE))).unwrap();
            area.present().unwrap();
        }
        assert_eq!(
            svg,
            "<path fill=\"none\" stroke=\"#0000ff\" stroke-width=\"4\" stroke-linecap=\"round\" d=\"M0 7h0M1 7h0M2 7h0\"/>\
             <path fill=\"none\" stroke=\"#ff0000\" stroke-opacity=\"0.50\" d=\"M0 0h5v3l4 6\"/>\
             <path fill=\"#ff0000\" d=\"M1 1h3v3h-3z\"/>\
             <g fill=\"#747a83\"><text x=\"1\" y=\"2\" dy=\"0.76em\" fill=\"#000000\">a &lt; b</text></g>"
        );
    }
}
