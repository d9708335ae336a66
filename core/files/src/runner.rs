//! Output that the runner of a workflow may read.
//!
//! Runners take commands from what a step prints: `::set-output` where a line begins, and `##[group]`, `##vso[...]` or
//! `##teamcity[...]` anywhere in it. Texts under review reach the output, so the character that makes it a command is written as
//! an escape, which JSON and Python read as the same character.

use std::io::{self, Write};

/// Passes everything on, apart from commands.
#[derive(Debug)]
pub struct Uncommanding<W> {
    inner: W,
    start: Start,
    name: Name,
}

/// What stands before this place in its line.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Start {
    Blank,
    Colon,
    Text,
}

/// What stands right before this place.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Name {
    Nothing,
    Hash,
    /// `##` and perhaps letters.
    Begun,
}

impl<W: Write> Uncommanding<W> {
    pub fn new(inner: W) -> Self {
        Self { inner, start: Start::Blank, name: Name::Nothing }
    }

    /// Writes lines that are commands of ours. What else would be a command in one of them is none.
    pub fn write_commands(&mut self, text: &str) -> io::Result<()> {
        let harmless = self.harmless(text.as_bytes(), true);
        self.inner.write_all(&harmless)
    }

    fn harmless(&mut self, bytes: &[u8], are_ours: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        for byte in bytes {
            match byte {
                b'[' if self.name == Name::Begun => out.extend(br"\u005b"),
                b':' if self.start == Start::Colon && !are_ours => out.extend(br"\u003a"),
                _ => out.push(*byte),
            }
            self.start = match (self.start, byte) {
                (_, b'\n' | b'\r') => Start::Blank,
                // Runners have their own opinion on what is blank.
                (Start::Blank, byte) if byte.is_ascii_whitespace() || !byte.is_ascii() => Start::Blank,
                (Start::Blank, b':') => Start::Colon,
                _ => Start::Text,
            };
            self.name = match (self.name, byte) {
                (Name::Hash | Name::Begun, b'#') => Name::Begun,
                (_, b'#') => Name::Hash,
                (Name::Begun, byte) if byte.is_ascii_alphanumeric() => Name::Begun,
                _ => Name::Nothing,
            };
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
}
