//! Lines of a terminal page: wrapping by display width, indents, styles.

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{BOLD, DIM};

/// The minimum number of columns for the beginning of a text.
const ROOM: usize = 24;

/// Text under construction. All text that comes in is already plain.
pub struct Page {
    out: String,
    color: bool,
    pub width: usize,
}

impl Page {
    pub fn new(color: bool, width: usize) -> Self {
        Self { out: String::new(), color, width }
    }

    pub fn finish(self) -> String {
        self.out
    }

    pub fn blank(&mut self) {
        self.out.push('\n');
    }

    pub fn end(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push('\n');
    }

    pub fn styled(&mut self, style: Style, text: &str) {
        if self.color && style != Style::new() && !text.is_empty() {
            self.out.push_str(&format!("{style}{text}{style:#}"));
        } else {
            self.out.push_str(text);
        }
    }

    pub fn rule(&mut self) {
        self.blank();
        self.styled(DIM, &"─".repeat(self.width));
        self.end();
    }

    pub fn title(&mut self, title: &str) {
        self.blank();
        self.prose("", title, BOLD);
    }

    /// Wrapped text, every line indented.
    pub fn prose(&mut self, indent: &str, text: &str, style: Style) {
        for line in self.wrapped(text, indent.width()) {
            self.out.push_str(indent);
            self.styled(style, &line);
            self.end();
        }
    }

    /// Wrapped text behind a label, with further lines below the text.
    pub fn hanging(&mut self, label: &str, text: &str) {
        let indent = label.width();
        for (index, line) in self.wrapped(text, indent).iter().enumerate() {
            if index == 0 {
                self.out.push_str(label);
            } else {
                self.out.push_str(&" ".repeat(indent));
            }
            self.out.push_str(line);
            self.end();
        }
    }

    /// A remark on the previous line: behind it if there is room, and below it otherwise.
    pub fn aside(&mut self, text: &str) {
        let last = self.out.trim_end_matches('\n').rsplit('\n').next().unwrap_or_default().width();
        let column = (last + 3).max(44.min(self.width / 2));
        if column + text.width() <= self.width {
            self.out.pop();
            self.out.push_str(&" ".repeat(column - last));
            self.styled(DIM, text);
            self.end();
        } else {
            self.prose("      ", text, DIM);
        }
    }

    pub fn more(&mut self, total: usize, shown: usize) {
        if total > shown {
            self.prose("  ", &format!("… and {} more", total - shown), DIM);
        }
    }

    /// Like [`cut`], and no wider than the page.
    pub fn cut(&self, text: &str, columns: usize) -> String {
        cut(text, columns.min(self.width))
    }

    /// The lines of a text, of which the first follows `start` columns of its line, and the others an indent. The first is
    /// empty where it has no room.
    pub fn wrapped_behind(&self, text: &str, start: usize, indent: usize) -> Vec<String> {
        if start + ROOM > self.width {
            return std::iter::once(String::new()).chain(self.wrapped(text, indent)).collect();
        }
        let (first, further) = (" ".repeat(start), " ".repeat(indent));
        let options = options(self.width).initial_indent(&first).subsequent_indent(&further);
        textwrap::wrap(text, options).into_iter().map(|line| line.trim_start().to_owned()).collect()
    }

    /// The lines of a text behind an indent.
    pub fn wrapped(&self, text: &str, indent: usize) -> Vec<String> {
        textwrap::wrap(text, options(self.width.saturating_sub(indent).max(10))).into_iter().map(Into::into).collect()
    }
}

fn options(width: usize) -> textwrap::Options<'static> {
    textwrap::Options::new(width)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
}

/// Text of at most this many columns, with an ellipsis at the cut.
pub fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns { text.to_string() } else { chunks(text, columns - 1).swap_remove(0) + "…" }
}

/// A line of code in pieces of at most this many columns. White space is kept. There is at least one piece.
pub fn chunks(text: &str, columns: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for character in text.chars() {
        let width = character.width().unwrap_or(0);
        if used + width > columns && used > 0 {
            pieces.push(String::new());
            used = 0;
        }
        used += width;
        if let Some(piece) = pieces.last_mut() {
            piece.push(character);
        }
    }
    pieces
}

/// Text padded with spaces to this many columns.
pub fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}
