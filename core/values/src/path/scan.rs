//! Walking over the text of a path outside of its string literals, with its brackets and its cuts.

use super::bounded::{MARK_LENGTH, starts_with_mark};

/// One step of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Char(char),
    /// A cut mark. A literal that is open before it ends there.
    Cut,
}

/// What stands outside of string literals, with its offset. A walk takes time in proportion to the text, whatever that is:
/// where nothing ends a literal of one delimiter, nothing ends a later one of it either, so each delimiter is looked for in
/// vain once at most.
struct Outside<'a> {
    text: &'a str,
    at: usize,
    /// The delimiters that nothing ends from here on.
    open_ended: Vec<&'a str>,
}

fn outside(text: &str) -> Outside<'_> {
    Outside { text, at: 0, open_ended: Vec::new() }
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
                && let Some(length) = literal(rest, &mut self.open_ended)
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
/// like others. `open_ended` has the delimiters that are known to end nowhere, and gets those that turn out to.
fn literal<'a>(text: &'a str, open_ended: &mut Vec<&'a str>) -> Option<usize> {
    let mut ending = |quotes: usize| {
        let (delimiter, inner) = text.split_at_checked(quotes)?;
        if open_ended.contains(&delimiter) {
            return None;
        }
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
        open_ended.push(delimiter);
        None
    };
    let is_triple = text.starts_with("'''") || text.starts_with("\"\"\"");
    is_triple.then(|| ending(3)).flatten().or_else(|| ending(1))
}

/// Whether a place in a text is in none of its string literals.
pub(super) fn is_outside(text: &str, place: usize) -> bool {
    outside(text).any(|(at, _)| at == place)
}

/// Whether a text is one string literal.
pub(super) fn is_literal(text: &str) -> bool {
    text.starts_with(['\'', '"']) && literal(text, &mut Vec::new()) == Some(text.len())
}

/// A walk that counts open brackets.
///
/// A cut takes closing brackets along, those of the innermost brackets. So behind the last cut of a text, as many brackets
/// are still open as the rest closes.
struct Nested<'a> {
    outside: Outside<'a>,
    /// Known from the first cut on.
    last_cut: Option<usize>,
    depth: usize,
}

fn nested(text: &str) -> Nested<'_> {
    Nested { outside: outside(text), last_cut: None, depth: 0 }
}

fn last_cut(text: &str) -> Option<usize> {
    text.rmatch_indices('~').map(|(at, _)| at).find(|&at| starts_with_mark(&text[at..]))
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
            Token::Cut => {
                let text = self.outside.text;
                self.last_cut = self.last_cut.or_else(|| last_cut(text));
                if self.last_cut == Some(at) {
                    self.depth = self.depth.min(closed_by(&text[at + MARK_LENGTH..]));
                }
            }
            _ => {}
        }
        Some((at, token, self.depth))
    }
}

/// How many brackets a text closes that it does not open.
fn closed_by(text: &str) -> usize {
    let (mut open, mut closed) = (0_usize, 0);
    for (_, token) in outside(text) {
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
    let alone = nested(text).find(|(at, token, depth)| *depth == 0 && *token != Token::Cut && is_separator(*at));
    let behind_cut = || {
        let cuts = outside(text).filter(|(_, token)| *token == Token::Cut);
        cuts.map(|(at, _)| at + MARK_LENGTH).find(|&at| is_separator(at))
    };
    alone.map(|(at, _, _)| at).or_else(behind_cut)
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
    text.contains(wanted) && outside(text).any(|(at, token)| token != Token::Cut && text[at..].starts_with(wanted))
}

/// Where a character first stands outside of string literals.
pub(super) fn first(text: &str, wanted: char) -> Option<usize> {
    outside(text).find(|(_, token)| *token == Token::Char(wanted)).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::super::Segments;
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

    /// Each of them takes hours where a walk begins again at every quote or bracket.
    #[test]
    fn a_hostile_text_is_walked_over_once() {
        let many = |part: &str| part.repeat(500_000);
        for (text, opening) in [
            (format!("{}(x)", many(r"\'")), Some(1_000_000)),
            (format!("{}(x)", many("\"\"\"\\")), Some(2_000_000)),
            (format!("({}", many("(")), None),
            (many("(')"), Some(1_499_994)),
        ] {
            assert_eq!(last_opening(&text), opening, "{}", &text[..10]);
        }
        let calls = many("()");
        assert_eq!(Segments::new(&calls).count(), 500_000);
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
