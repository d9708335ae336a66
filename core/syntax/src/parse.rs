//! Text -> tree: normalised line ends, one way to call the parser, line numbers, and enough stack.
//!
//! Nothing here knows about functions or differences.

use std::borrow::Cow;

use ruff_python_ast::{ModModule, PySourceType};
use ruff_python_parser::{Parsed, parse_unchecked_source};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::{SourceError, nesting};

/// Maximum length of texts whose nesting cannot exceed a thread's ordinary stack.
const SHALLOW: usize = 1024;
/// The stack that one byte of nesting may need, and bounds of the reservation (which the operating system makes
/// lazily). No text that is read nests deeper than [`nesting`] allows; the rest is for what it may not foresee.
const STACK_PER_BYTE: usize = 4096;
const STACK_MIN: usize = 4 << 20;
const STACK_MAX: usize = 1 << 30;

/// Runs `work` with a stack that recursion over a text of this length cannot exhaust.
pub fn with_stack_for<T>(length: usize, work: impl FnOnce() -> T) -> T {
    if length <= SHALLOW {
        return work();
    }
    stacker::grow(length.saturating_mul(STACK_PER_BYTE).clamp(STACK_MIN, STACK_MAX), work)
}

/// The text without a byte order mark and with `\n` for every line end, as Python's tokenizer reads it.
pub fn normalize_newlines(text: &str) -> Cow<'_, str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) }
}

/// Parses a module. The tree holds whatever could be read: nothing if it would be too deep for what reads it.
pub fn parse(text: &str) -> Parsed<ModModule> {
    let text = if nesting::exceeded(text).is_some() { "" } else { text };
    parse_unchecked_source(text, PySourceType::Python)
}

/// The parser's errors with their positions, or that the text nests too deep. Syntax of newer versions is not an error.
pub fn errors(parsed: &Parsed<ModModule>, lines: &Lines) -> Vec<SourceError> {
    if parsed.suite().is_empty()
        && let Some(deep) = nesting::too_deep(lines.text)
    {
        return vec![SourceError { message: format!("nested too deep: {}", deep.kind), line: deep.line, column: 1 }];
    }
    parsed
        .errors()
        .iter()
        .map(|error| SourceError {
            message: message(error.error.to_string(), lines.text),
            line: lines.line(error.location.start()),
            column: lines.column(error.location.start()),
        })
        .collect()
}

/// The parser's message. For an error of indentation in a text that mixes tabs and spaces, it names that reason.
fn message(message: String, text: &str) -> String {
    let indented_with = |kind: char| text.lines().any(|line| line.starts_with(kind) && !line.trim().is_empty());
    if message.to_lowercase().contains("indent") && indented_with('\t') && indented_with(' ') {
        return format!("{message}; lines begin with tabs and with spaces: indent with one of them");
    }
    message
}

/// Converts byte offsets to lines and columns.
#[derive(Debug)]
pub struct Lines<'text> {
    text: &'text str,
    starts: Vec<usize>,
}

impl<'text> Lines<'text> {
    pub fn new(text: &'text str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    pub fn text(&self, range: TextRange) -> &'text str {
        self.text.get(range.to_std_range()).unwrap_or("")
    }

    /// 1-based.
    pub fn line(&self, offset: TextSize) -> u32 {
        self.starts.partition_point(|&start| start <= offset.to_usize()) as u32
    }

    /// 1-based, in characters.
    pub fn column(&self, offset: TextSize) -> u32 {
        let start = self.start_of_line(offset);
        let before = self.text.get(start..offset.to_usize()).unwrap_or("");
        before.chars().count() as u32 + 1
    }

    /// The byte offset of the start of the line that holds `offset`.
    pub fn start_of_line(&self, offset: TextSize) -> usize {
        self.starts[(self.line(offset) as usize).saturating_sub(1).min(self.starts.len() - 1)]
    }

    /// The byte offsets at which lines start within `start..end`, without the first line.
    pub fn starts_within(&self, start: usize, end: usize) -> &[usize] {
        let from = self.starts.partition_point(|&at| at <= start);
        let to = self.starts.partition_point(|&at| at < end);
        self.starts.get(from..to).unwrap_or(&[])
    }
}

/// The source text of a node.
pub fn slice(text: &str, node: impl Ranged) -> &str {
    text.get(node.start().to_usize()..node.end().to_usize()).unwrap_or("")
}
