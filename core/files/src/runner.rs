//! Output that the runner of a workflow may read.
//!
//! Runners take commands from what a step prints: `::set-output` where a line begins, and `##[group]`, `##vso[...]` or
//! `##teamcity[...]` anywhere in it. Texts under review reach the output, so the character that makes it a command is written as
//! an escape. Which escape its reader takes for the same character depends on the kind of the text ([`TextKind`]): text that has
//! none is not written where a runner may read it.

use std::io::{self, Write};
use std::ops::Range;

/// What kind of text it is: how its reader writes a character in another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// For people, who read an escape as such.
    People,
    Json,
    /// Python, where a command can only stand in a literal or a comment.
    Python,
    /// HTML, XML or SVG.
    Markup,
    /// A patch or a table of values: without escapes that every reader of it knows.
    Verbatim,
}

/// A character that makes a command of what stands around it.
#[derive(Debug, Clone, Copy)]
enum Mark {
    Bracket,
    Colon,
}

impl Mark {
    /// JavaScript, in pages, has the escapes of JSON.
    fn in_json(self) -> &'static str {
        match self {
            Mark::Bracket => r"\u005b",
            Mark::Colon => r"\u003a",
        }
    }

    /// Literals of bytes have no `\u`.
    fn in_python(self) -> &'static str {
        match self {
            Mark::Bracket => r"\x5b",
            Mark::Colon => r"\x3a",
        }
    }

    fn in_markup(self) -> &'static str {
        match self {
            Mark::Bracket => "&#91;",
            Mark::Colon => "&#58;",
        }
    }
}

/// A whole text of a kind, with escapes in place of what makes commands.
///
/// # Errors
///
/// It would have a command, and its kind has no escape there.
pub fn without_commands(text: &[u8], kind: TextKind) -> io::Result<Vec<u8>> {
    let raw = if kind == TextKind::Markup { raw_elements(text) } else { vec![] };
    let mut out = Vec::with_capacity(text.len());
    let mut line = Line::default();
    for (at, byte) in text.iter().enumerate() {
        let Some(mark) = line.pass(*byte) else {
            out.push(*byte);
            continue;
        };
        let element = raw.iter().find(|(range, _)| range.contains(&at)).map(|(_, element)| *element);
        let escape = match (kind, element) {
            (TextKind::People | TextKind::Json, _) | (TextKind::Markup, Some(Raw::Script)) => mark.in_json(),
            (TextKind::Python, _) => mark.in_python(),
            (TextKind::Markup, None) => mark.in_markup(),
            (TextKind::Markup, Some(Raw::Style)) | (TextKind::Verbatim, _) => {
                return Err(io::Error::other(
                    "it holds what the runner of a workflow takes for a command, and has no escape for it: write it to a file",
                ));
            }
        };
        out.extend(escape.bytes());
    }
    Ok(out)
}

/// An element of HTML whose text has no character references.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Raw {
    Script,
    Style,
}

/// Where such elements stand.
fn raw_elements(text: &[u8]) -> Vec<(Range<usize>, Raw)> {
    let next = |from: usize, tag: &[u8]| {
        let place = text[from..].windows(tag.len()).position(|part| part.eq_ignore_ascii_case(tag))?;
        Some(from + place)
    };
    let mut found = Vec::new();
    let mut from = 0;
    loop {
        let tags = [(Raw::Script, &b"<script"[..], &b"</script"[..]), (Raw::Style, b"<style", b"</style")];
        let starts = tags.into_iter().filter_map(|(raw, open, close)| Some((next(from, open)?, raw, close)));
        let Some((start, raw, close)) = starts.min_by_key(|(start, ..)| *start) else { return found };
        // Attributes of its tag have character references.
        let inner = next(start, b">").map_or(text.len(), |place| place + 1);
        let end = next(inner, close).unwrap_or(text.len());
        found.push((inner..end, raw));
        from = end;
    }
}

/// Passes text for people on, and JSON, apart from commands.
#[derive(Debug)]
pub struct Uncommanding<W> {
    inner: W,
    line: Line,
}

/// What stands before a place in its line.
#[derive(Debug)]
struct Line {
    start: Start,
    name: Name,
}

/// What the line begins with.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Start {
    Blank,
    Colon,
    Text,
}

/// What stands right before the place.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Name {
    Nothing,
    Hash,
    /// `##` and perhaps letters.
    Begun,
}

impl Default for Line {
    fn default() -> Self {
        Self { start: Start::Blank, name: Name::Nothing }
    }
}

impl Line {
    /// Goes past a byte. What it is, if it completes a command.
    fn pass(&mut self, byte: u8) -> Option<Mark> {
        let mark = match byte {
            b'[' if self.name == Name::Begun => Some(Mark::Bracket),
            b':' if self.start == Start::Colon => Some(Mark::Colon),
            _ => None,
        };
        self.start = match (self.start, byte) {
            (_, b'\n' | b'\r') => Start::Blank,
            // Runners have their own opinion on what is blank.
            (Start::Blank, 0..=b' ' | 0x7f..) => Start::Blank,
            (Start::Blank, b':') => Start::Colon,
            _ => Start::Text,
        };
        self.name = match (self.name, byte) {
            (Name::Hash | Name::Begun, b'#') => Name::Begun,
            (_, b'#') => Name::Hash,
            (Name::Begun, byte) if byte.is_ascii_alphanumeric() => Name::Begun,
            _ => Name::Nothing,
        };
        mark
    }
}

impl<W: Write> Uncommanding<W> {
    pub fn new(inner: W) -> Self {
        Self { inner, line: Line::default() }
    }

    /// Writes lines that are commands of ours. What else would be a command in one of them is none.
    pub fn write_commands(&mut self, text: &str) -> io::Result<()> {
        let harmless = self.harmless(text.as_bytes(), true);
        self.inner.write_all(&harmless)
    }

    fn harmless(&mut self, bytes: &[u8], are_ours: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        for byte in bytes {
            match self.line.pass(*byte) {
                Some(mark) if !(are_ours && matches!(mark, Mark::Colon)) => out.extend(mark.in_json().bytes()),
                _ => out.push(*byte),
            }
        }
        out
    }
}

impl<W: Write> Write for Uncommanding<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let harmless = self.harmless(bytes, false);
        self.inner.write_all(&harmless)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes out, whatever the parts in which it is written.
    fn written(text: &str) -> String {
        let of = |part: usize| {
            let mut writer = Uncommanding::new(Vec::new());
            for bytes in text.as_bytes().chunks(part) {
                writer.write_all(bytes).unwrap();
            }
            String::from_utf8(writer.inner).unwrap()
        };
        assert_eq!(of(1), of(1000), "{text}");
        of(2)
    }

    #[test]
    fn nothing_is_a_command_to_a_workflow() {
        for (text, shown) in [
            ("::error::x.py:1\n", ":\\u003aerror::x.py:1\n"),
            ("a\n  ::set-output name=a::b\n", "a\n  :\\u003aset-output name=a::b\n"),
            ("\x0b::add-mask::x\n", "\x0b:\\u003aadd-mask::x\n"),
            ("\0\x1b\x7f::error::x\n", "\0\x1b\x7f:\\u003aerror::x\n"),
            ("\u{a0}::error::x\n", "\u{a0}:\\u003aerror::x\n"),
            ("a\r::error::x\n", "a\r:\\u003aerror::x\n"),
            ("##[group]\n", "##\\u005bgroup]\n"),
            ("the text is ##[add-path]/tmp\n", "the text is ##\\u005badd-path]/tmp\n"),
            ("# ###[error]x\n", "# ###\\u005berror]x\n"),
            ("a ##vso[task.setvariable]x\n", "a ##vso\\u005btask.setvariable]x\n"),
            ("f(a)::b\n# a[0]\n: b\n#a#[1]\n## a[1]\n", "f(a)::b\n# a[0]\n: b\n#a#[1]\n## a[1]\n"),
        ] {
            assert_eq!(written(text), shown);
        }
    }

    #[test]
    fn a_document_means_the_same() {
        let document = "{\n  \"a\": \"##[error]\"\n}\n";
        assert_eq!(written(document), "{\n  \"a\": \"##\\u005berror]\"\n}\n");
    }

    #[test]
    fn commands_of_ours_stay_and_hold_no_others() {
        let mut writer = Uncommanding::new(Vec::new());
        writer.write_commands("::error title=a::b ##[group]\n::notice::c\n").unwrap();
        writer.write_all(b"::error::d\n").unwrap();
        let text = String::from_utf8(writer.inner).unwrap();
        assert_eq!(text, "::error title=a::b ##\\u005bgroup]\n::notice::c\n:\\u003aerror::d\n");
    }

    #[test]
    fn each_kind_of_text_has_its_own_escape() {
        let of =
            |text: &str, kind| without_commands(text.as_bytes(), kind).map(|text| String::from_utf8(text).unwrap());
        let text = "  ::a ##[b]\n";
        for (kind, expected) in [
            (TextKind::People, "  :\\u003aa ##\\u005bb]\n"),
            (TextKind::Json, "  :\\u003aa ##\\u005bb]\n"),
            (TextKind::Python, "  :\\x3aa ##\\x5bb]\n"),
            (TextKind::Markup, "  :&#58;a ##&#91;b]\n"),
        ] {
            assert_eq!(of(text, kind).unwrap(), expected);
        }
        for text in [text, "     ::\n", "a,##vso[b]\n"] {
            let error = of(text, TextKind::Verbatim).unwrap_err().to_string();
            assert!(error.ends_with("write it to a file") && !error.contains('\n'), "{error}");
        }
        let patch = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a[0]\n+a[1::2]\n";
        assert_eq!(of(patch, TextKind::Verbatim).unwrap(), patch);
    }

    #[test]
    fn scripts_and_styles_of_a_page_have_no_character_references() {
        let of = |text: &str| without_commands(text.as_bytes(), TextKind::Markup);
        let page = "<p>##[a]</p><SCRIPT id=\"##[b]\">{\"c\": \"##[d]\"}</SCRIPT><p>##[e]</p>";
        let expected = "<p>##&#91;a]</p><SCRIPT id=\"##&#91;b]\">{\"c\": \"##\\u005bd]\"}</SCRIPT><p>##&#91;e]</p>";
        assert_eq!(String::from_utf8(of(page).unwrap()).unwrap(), expected);
        assert!(of("<style>\n::before {}</style>").is_err());
        assert!(of("<style>a::before {}</style><p>x</p>").is_ok());
    }
}
