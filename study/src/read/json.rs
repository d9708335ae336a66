//! JSON: one list of objects, read entry by entry.

use std::io::{self, BufRead};

use super::fields::{RowPlace, from_json};
use crate::change::{Changes, Row};

/// The maximum size of an entry, which holds the texts of two functions and of two modules.
const LONGEST: usize = 64 << 20;
const BLANK: &[u8] = b" \t\r\n\xef\xbb\xbf";

/// The entries of a list, as changes.
pub struct Entries<R> {
    input: R,
    number: usize,
    begun: bool,
    ended: bool,
}

impl<R: BufRead> Entries<R> {
    pub fn new(input: R) -> Self {
        Self { input, number: 0, begun: false, ended: false }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    /// The next byte that is none of these.
    fn skip(&mut self, skipped: &[u8]) -> io::Result<Option<u8>> {
        while let Some(byte) = self.peek()? {
            if !skipped.contains(&byte) {
                return Ok(Some(byte));
            }
            self.input.consume(1);
        }
        Ok(None)
    }

    /// The text of one entry, up to a comma or a bracket outside it. Empty if it is longer than [`LONGEST`].
    fn entry(&mut self) -> io::Result<Vec<u8>> {
        let (mut text, mut too_long) = (Vec::new(), false);
        let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
        loop {
            let piece = self.input.fill_buf()?;
            let mut used = 0;
            let mut ended = piece.is_empty();
            for &byte in piece {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' if quoted => escaped = true,
                    b'"' => quoted = !quoted,
                    _ if quoted => {}
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' if depth > 0 => depth -= 1,
                    b',' | b']' if depth == 0 => ended = true,
                    _ => {}
                }
                if ended {
                    break;
                }
                used += 1;
            }
            too_long |= text.len() + used > LONGEST;
            if too_long {
                text = Vec::new();
            } else {
                text.extend_from_slice(piece.get(..used).unwrap_or_default());
            }
            self.input.consume(used);
            if ended {
                return Ok(text);
            }
        }
    }

    fn next_entry(&mut self) -> io::Result<Option<Row>> {
        if !self.begun {
            self.skip(BLANK)?;
            self.input.consume(1);
            self.begun = true;
        }
        match self.skip(b" \t\r\n,")? {
            None => {
                self.ended = true;
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the list has no end, `]` is missing"));
            }
            Some(b']') => {
                self.ended = true;
                self.input.consume(1);
                return match self.skip(BLANK)? {
                    None => Ok(None),
                    Some(_) => Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "something follows the end of the list, `]`: give one list, or one object a line",
                    )),
                };
            }
            Some(_) => {}
        }
        let text = self.entry()?;
        self.number += 1;
        let place = RowPlace { unit: "entry", number: self.number };
        if text.is_empty() {
            let what = format!("it is longer than {} MiB; is it one change?", LONGEST >> 20);
            return Ok(Some(Err(place.wrong(None, &what))));
        }
        Ok(Some(from_json(&text, place)))
    }
}

impl<R: BufRead + Send> Changes for Entries<R> {
    fn next(&mut self) -> Option<io::Result<Row>> {
        if self.ended { None } else { self.next_entry().transpose() }
    }

    fn unit(&self) -> &'static str {
        "entry"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn read(text: &str) -> Vec<Result<String, String>> {
        // A small buffer, so that every kind of entry is cut somewhere.
        let mut entries = Entries::new(BufReader::with_capacity(3, text.as_bytes()));
        let rows = std::iter::from_fn(|| entries.next());
        rows.map(|row| match row {
            Ok(Ok(change)) => Ok(change.old),
            Ok(Err(no_change)) => Err(no_change.reason()),
            Err(error) => Err(error.to_string()),
        })
        .collect()
    }

    #[test]
    fn entries_are_read_one_by_one() {
        let text = r#" [ {"old": "a]\"},", "new": "", "x": [1, {"y": [2]}]} ,
            {"old": "b", "new": ""}
        ] "#;
        assert_eq!(read(text), [Ok("a]\"},".to_owned()), Ok("b".to_owned())]);
        assert_eq!(read("[]"), []);
    }

    #[test]
    fn what_is_no_change_is_one_entry_and_the_next_is_read() {
        let rows = read(r#"[3, {"old" "b"}, "a, b", [1, 2], {"old": "c", "new": ""}]"#);
        let [Err(number), Err(broken), Err(text), Err(list), Ok(last)] = rows.as_slice() else { panic!("{rows:?}") };
        assert!(number.starts_with("entry 1 is not a change: it is a number; give an object"), "{number}");
        assert!(broken.starts_with("entry 2 is not a change: it is not JSON"), "{broken}");
        assert!(text.contains("it is a text") && list.contains("it is a list"), "{text} {list}");
        assert_eq!(last, "c");
    }

    #[test]
    fn a_list_without_end_is_an_error_after_its_entries() {
        let rows = read(r#"[{"old": "a", "new": ""},"#);
        assert_eq!(rows, [Ok("a".to_owned()), Err("the list has no end, `]` is missing".to_owned())]);
        assert_eq!(read(r#"[{"old": "a", "#).len(), 2);
        let two = read(r#"[{"old": "a", "new": ""}] [{"old": "b", "new": ""}]"#);
        assert!(two[1].as_ref().unwrap_err().starts_with("something follows the end of the list"), "{two:?}");
    }
}
