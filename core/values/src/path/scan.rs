//! Walking over the text of a path outside of its string literals, with its brackets and its cuts.

use super::bounded::{MARK_LENGTH, starts_with_mark};

/// One step of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Char(char),
    /// A cut mark. A literal that is open before it ends there.
    Cut,
}

/// What stands outside of string literals, with its offset.
struct Outside<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Outside<'_> {
    type Item = (usize, Token);

    fn next(&mut self) -> Option<(usize, Token)> {
        loop {
            let (at, rest) = (self.at, self.text.get(self.at..)?);
            let character = rest.chars().next()?;
            if character == '~' && starts_with_mark(rest) {
                self.at += MARK_LENGTH;
                return Some((at, Token::Cut));
            }
            if matches!(character, '\'' | '"')
                && let Some(length) = literal(rest)
            {
                self.at += length;
                continue;
            }
            self.at += character.len_utf8();
            return Some((at, Token::Char(character)));
        }
    }
}

/// Length of the string literal that a text starts with. A literal that nothing ends is none: its quote is a character
/// like others.
fn literal(text: &str) -> Option<usize> {
    let ending = |quotes: usize| {
        let (delimiter, inner) = text.split_at_checked(quotes)?;
        let mut escaped = false;
        for (at, character) in inner.char_indices() {
            let rest = &inner[at..];
            match character {
                // Even behind a backslash: the cut took along what it escaped.
                '~' if starts_with_mark(rest) => return Some(quotes + at),
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if rest.starts_with(delimiter) => return Some(2 * quotes + at),
                _ => {}
            }
        }
        None
    };
    let is_triple = text.starts_with("'''") || text.starts_with("\"\"\"");
    is_triple.then(|| ending(3)).flatten().or_else(|| ending(1))
}

/// Whether a place in a text is in none of its string literals.
pub(super) fn is_outside(text: &str, place: usize) -> bool {
    (Outside { text, at: 0 }).any(|(at, _)| at == place)
}

/// Whether a text is one string literal.
pub(super) fn is_literal(text: &str) -> bool {
    text.starts_with(['\'', '"']) && literal(text) == Some(text.len())
}

/// A walk that counts open brackets.
///
/// A cut takes closing brackets along, those of the innermost brackets. So behind the last cut of a text, as many brackets
/// are still open as the rest closes.
struct Nested<'a> {
    outside: Outside<'a>,
    last_cut: Option<usize>,
    depth: usize,
}

fn nested(text: &str) -> Nested<'_> {
    let last_cut = text.rmatch_indices('~').map(|(at, _)| at).find(|&at| starts_with_mark(&text[at..]));
    Nested { outside: Outside { text, at: 0 }, last_cut, depth: 0 }
}

impl Iterator for Nested<'_> {
    /// Offset, token, and how many brackets are open around it; a bracket is not within itself.
    type Item = (usize, Token, usize);

    fn next(&mut self) -> Option<(usize, Token, usize)> {
        let (at, token) = self.outside.next()?;
        match token {
            Token::Char('(' | '[' | '{') => {
                self.depth += 1;
                return Some((at, token, self.depth - 1));
            }
            Token::Char(')' | ']' | '}') => self.depth = self.depth.saturating_sub(1),
            Token::Cut if self.last_cut == Some(at) => {
                self.depth = self.depth.min(closed_by(&self.outside.text[at + MARK_LENGTH..]));
            }
            _ => {}
        }
        Some((at, token, self.depth))
    }
}

/// How many brackets a text closes that it does not open.
fn closed_by(text: &str) -> usize {
    let (mut open, mut closed) = (0_usize, 0);
    for (_, token) in (Outside { text, at: 0 }) {
        match token {
            Token::Char('(' | '[' | '{') => open += 1,
            Token::Char(')' | ']' | '}') if open > 0 => open -= 1,
            Token::Char(')' | ']' | '}') => closed += 1,
            _ => {}
        }
    }
    closed
}

fn closed_with(opens: char) -> Option<char> {
    match opens {
        '(' => Some(')'),
        '[' => Some(']'),
        '{' => Some('}'),
        _ => None,
    }
}

/// Where the bracket closes that a text starts with.
pub(super) fn closing(text: &str) -> Option<usize> {
    let closes = closed_with(text.chars().next()?)?;
    let end = nested(text).skip(1).find(|(_, token, depth)| *depth == 0 && *token != Token::Cut);
    end.filter(|(_, token, _)| *token == Token::Char(closes)).map(|(at, _, _)| at)
}

/// Where the bracket opens that a text's last character closes.
pub(super) fn last_opening(text: &str) -> Option<usize> {
    if !text.ends_with([')', ']', '}']) {
        return None;
    }
    let (mut opened, mut found) = (None, None);
    for (at, token, depth) in nested(text) {
        found = None;
        match token {
            Token::Char(opens @ ('(' | '[' | '{')) if depth == 0 => opened = Some((at, closed_with(opens))),
            Token::Char(closes @ (')' | ']' | '}')) if depth == 0 => {
                found = opened.take().filter(|(_, expected)| *expected == Some(closes));
            }
            _ => {}
        }
    }
    found.map(|(at, _)| at)
}

/// Where a separator first stands outside of brackets, or else directly behind a cut.
pub(super) fn find(text: &str, separator: &str) -> Option<usize> {
    if !text.contains(separator) {
        return None;
    }
    let is_separator = |at: usize| text[at..].starts_with(separator);
    let outside = nested(text).find(|(at, token, depth)| *depth == 0 && *token != Token::Cut && is_separator(*at));
    let behind_cut = || {
        let cuts = Outside { text, at: 0 }.filter(|(_, token)| *token == Token::Cut);
        cuts.map(|(at, _)| at + MARK_LENGTH).find(|&at| is_separator(at))
    };
    outside.map(|(at, _, _)| at).or_else(behind_cut)
}

/// Where a character last stands outside of brackets.
pub(super) fn rfind(text: &str, wanted: char) -> Option<usize> {
    let is_wanted =
        |(at, token, depth): (usize, Token, usize)| (depth == 0 && token == Token::Char(wanted)).then_some(at);
    nested(text).filter_map(is_wanted).last()
}

/// The parts of a text between commas that stand outside of brackets.
pub(super) fn between_commas(text: &str) -> impl Iterator<Item = &str> {
    let is_comma = |(_, token, depth): &(usize, Token, usize)| *depth == 0 && *token == Token::Char(',');
    let commas = nested(text).filter(is_comma).map(|(at, _, _)| at);
    let mut start = 0;
    commas.chain([text.len()]).map(move |at| {
        let part = &text[start..at];
        start = at + 1;
        part.trim()
    })
}

/// Whether a text occurs outside of string literals.
pub(super) fn contains(text: &str, wanted: &str) -> bool {
    text.contains(wanted)
        && Outside { text, at: 0 }.any(|(at, token)| token != Token::Cut && text[at..].starts_with(wanted))
}

/// Where a character first stands outside of string literals.
pub(super) fn first(text: &str, wanted: char) -> Option<usize> {
    Outside { text, at: 0 }.find(|(_, token)| *token == Token::Char(wanted)).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUT: &str = "~0123456789abcdef";

    #[test]
    fn brackets_and_separators_in_literals_are_text() {
        assert_eq!(last_opening("x.split('(')"), Some(7));
        assert_eq!(last_opening(r#"x.split("it's (", ')')"#), Some(7));
        assert_eq!(last_opening(r"f('\'(')"), Some(1));
        assert_eq!(last_opening("f('''it's (''')"), Some(1));
        assert_eq!(last_opening("f('')['(']"), Some(5));
        assert_eq!(find("f('a in b') in x", " in "), Some(11));
        assert_eq!(rfind("x.get('a.b')", '.'), Some(1));
    }

    #[test]
    fn a_text_within_a_literal_does_not_occur() {
        assert!(contains("wraps(<function f>)", "(<function "));
        assert!(!contains("wraps('(<function f>')", "(<function "));
    }

    #[test]
    fn a_quote_that_nothing_ends_is_a_character() {
        assert_eq!(last_opening("f(it's)"), Some(1));
        assert_eq!(closing("(it's) + 1"), Some(5));
    }

    #[test]
    fn a_cut_takes_the_innermost_brackets_along() {
        assert_eq!(last_opening(&format!("open(f('a, g(b{CUT}).close")), None);
        assert_eq!(last_opening(&format!("open(f('a, g(b{CUT})")), Some(4));
        assert_eq!(last_opening(&format!("g(open(a{CUT}).close)")), Some(1));
        assert_eq!(last_opening(&format!(r"open('it\{CUT})")), Some(4));
        assert_eq!(last_opening(&format!("open(f(a{CUT}).read(x)")), Some(17 + 8 + 6));
        assert_eq!(find(&format!("[1, f(2{CUT} in x"), " in "), Some(7 + 17));
        assert_eq!(find(&format!("[1, 2{CUT} in f(x{CUT})"), " in "), Some(5 + 17));
    }
}
