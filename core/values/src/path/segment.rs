//! The parts of an access path.

use std::fmt::{self, Display};

use super::bounded::{MARK_LENGTH, starts_with_mark};
use super::{AWAIT, is_name_part, scan};

/// One part of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Segment<'a> {
    /// `await ` before the rest.
    Await,
    /// The name that a path starts with.
    Name(&'a str),
    /// `(x + 1)` that a path starts with.
    Group(&'a str),
    /// `.name`.
    Attribute(&'a str),
    /// `[key]`.
    Subscript(&'a str),
    /// `(arguments)`.
    Call(&'a str),
    /// `#2`: the call's value where it is repeated.
    Repetition(&'a str),
    /// ` (2)`: the second argument of the name.
    Number(&'a str),
    /// The mark of a cut with its hash: `~0123456789abcdef`.
    Cut(&'a str),
    /// All of the rest, which is of no known form.
    Unknown(&'a str),
}

impl Display for Segment<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Segment::Await => out.write_str(AWAIT),
            Segment::Name(text) | Segment::Cut(text) | Segment::Unknown(text) => out.write_str(text),
            Segment::Attribute(name) => write!(out, ".{name}"),
            Segment::Subscript(key) => write!(out, "[{key}]"),
            Segment::Group(inner) | Segment::Call(inner) => write!(out, "({inner})"),
            Segment::Repetition(number) => write!(out, "#{number}"),
            Segment::Number(number) => write!(out, " ({number})"),
        }
    }
}

/// The parts of a path in order.
#[derive(Debug, Clone)]
pub struct Segments<'a> {
    rest: &'a str,
    is_first: bool,
}

impl<'a> Segments<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text, is_first: true }
    }

    /// Takes so many bytes and gives those between the brackets, dots or marks around them.
    fn take(&mut self, length: usize, before: usize, after: usize) -> Option<&'a str> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        taken.get(before..length - after)
    }

    fn known(&mut self) -> Option<Segment<'a>> {
        let rest = self.rest;
        let word =
            |text: &str| Some(text.find(|c| !is_name_part(c)).unwrap_or(text.len())).filter(|&length| length > 0);
        let digits = |text: &str| {
            let length = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            Some(length).filter(|&length| length > 0)
        };
        if self.is_first {
            if rest.starts_with(AWAIT) {
                self.take(AWAIT.len(), 0, 0)?;
                return Some(Segment::Await);
            }
            self.is_first = false;
            if rest.starts_with('(') {
                let end = scan::closing(rest)?;
                return self.take(end + 1, 1, 1).map(Segment::Group);
            }
            let length = word(rest).filter(|_| !rest.starts_with(|c: char| c.is_ascii_digit()))?;
            return self.take(length, 0, 0).map(Segment::Name);
        }
        match rest.chars().next()? {
            '.' => self.take(1 + word(&rest[1..])?, 1, 0).map(Segment::Attribute),
            '[' => self.take(1 + scan::closing(rest)?, 1, 1).map(Segment::Subscript),
            '(' => self.take(1 + scan::closing(rest)?, 1, 1).map(Segment::Call),
            '#' => self.take(1 + digits(&rest[1..])?, 1, 0).map(Segment::Repetition),
            ' ' => {
                let inner = rest.strip_prefix(" (")?;
                let length = digits(inner).filter(|&length| inner[length..].starts_with(')'))?;
                self.take(length + 3, 2, 1).map(Segment::Number)
            }
            '~' if starts_with_mark(rest) => self.take(MARK_LENGTH, 0, 0).map(Segment::Cut),
            _ => None,
        }
    }
}

impl<'a> Iterator for Segments<'a> {
    type Item = Segment<'a>;

    fn next(&mut self) -> Option<Segment<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        self.known().or_else(|| Some(Segment::Unknown(std::mem::take(&mut self.rest))))
    }
}
