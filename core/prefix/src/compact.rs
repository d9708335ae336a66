//! A snippet as a test holds it: without the gaps that definitions which nobody needs have left.

use ruff_text_size::Ranged;

use twincell_syntax::parse::{parse, with_stack_for};
use twincell_syntax::without_escapes;

use crate::hints::dedented;
use crate::reading::awaits;

/// The maximum number of blank lines between two statements.
const GAP: usize = 2;

/// A snippet that means the same in fewer lines.
pub struct Compact {
    pub text: String,
    /// The line of the snippet that each of its lines was, ascending.
    pub lines: Vec<u32>,
    /// It awaits outside of functions.
    pub awaits: bool,
}

impl Compact {
    pub fn new(snippet: &str) -> Self {
        let text = dedented(snippet);
        let text = without_escapes(&text).unwrap_or_else(|| text.into_owned());
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        let line_of = |at: usize| ends.partition_point(|end| *end < at);
        let statements: Vec<(usize, usize)> = with_stack_for(text.len(), || {
            let lines = |range: ruff_text_size::TextRange| (line_of(range.start().into()), line_of(range.end().into()));
            parse(&text).suite().iter().map(|statement| lines(statement.range())).collect()
        });
        let is_inside = |line: usize| {
            let next = statements.partition_point(|(_, last)| *last < line);
            statements.get(next).is_some_and(|(first, _)| *first <= line)
        };
        let (mut kept, mut lines, mut blank) = (String::new(), Vec::new(), GAP);
        for (number, line) in text.lines().enumerate() {
            blank = if line.trim().is_empty() && !is_inside(number) { blank + 1 } else { 0 };
            if blank <= GAP {
                kept.push_str(line);
                kept.push('\n');
                lines.push(number as u32 + 1);
            }
        }
        let awaits = awaits(&text);
        Self { text: kept, lines, awaits }
    }

    /// Where a line of the snippet is.
    pub fn line(&self, of: u32) -> Option<usize> {
        Some(self.lines.binary_search(&of).ok()? + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_between_statements_go_and_those_in_them_stay() {
        let found = Compact::new("\n\n\nx = '''\n\n\n\n'''\n\n\n\n\ny = 1\n");
        assert_eq!(found.text, "x = '''\n\n\n\n'''\n\n\ny = 1\n");
        assert_eq!((found.line(4), found.line(13), found.line(1), found.awaits), (Some(1), Some(8), None, false));
        assert!(Compact::new("    await x\n").awaits);
    }
}
