//! JSON Lines: one object on each line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::fields::{RowPlace, from_json};
use crate::change::{Changes, Row};

/// The maximum size of a line, which holds the texts of two functions and of two modules. A longer one is skipped
/// without being held.
const LONGEST: usize = 64 << 20;

const MARK: &[u8] = b"\xef\xbb\xbf";

/// The lines of an input, as changes. Blank ones are skipped.
pub struct Lines<R> {
    input: R,
    number: usize,
    /// The part of the next line that was read.
    line: Vec<u8>,
    /// The line is longer than [`LONGEST`]. The rest of it is discarded.
    too_long: bool,
    /// Where the input can be read again, to count its lines.
    path: Option<PathBuf>,
}

impl<R: BufRead> Lines<R> {
    /// `path` is where the same input can be read again, if it can.
    pub fn of(input: R, path: Option<&Path>) -> Self {
        Self { path: path.map(Path::to_owned), ..Self::new(input) }
    }
}

impl<R: BufRead> Lines<R> {
    pub fn new(input: R) -> Self {
        Self { input, number: 0, line: Vec::new(), too_long: false, path: None }
    }

    /// Reads until a line is complete. False at the end of the input.
    fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let room = LONGEST.saturating_sub(self.line.len());
            let before = self.line.len();
            // Bytes that were read before an error stay, and reading continues from there.
            let read = self.input.by_ref().take(room.max(1) as u64).read_until(b'\n', &mut self.line);
            let whole = self.line.len() > before && self.line.last() == Some(&b'\n');
            if self.too_long {
                self.line.truncate(before);
            }
            let count = read?;
            if whole || count == 0 {
                return Ok(whole || self.too_long || !self.line.is_empty());
            }
            if self.line.len() >= LONGEST {
                self.too_long = true;
                self.line = Vec::new();
            }
        }
    }
}

impl<R: BufRead + Send> Changes for Lines<R> {
    fn next(&mut self) -> Option<io::Result<Row>> {
        loop {
            match self.read_line() {
                Ok(true) => self.number += 1,
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
            let line = std::mem::take(&mut self.line);
            let place = RowPlace { unit: "line", number: self.number };
            if std::mem::take(&mut self.too_long) {
                let what = format!("it is longer than {} MiB; is it one change?", LONGEST >> 20);
                return Some(Ok(Err(place.wrong(None, &what))));
            }
            let text = if self.number == 1 { line.strip_prefix(MARK).unwrap_or(&line) } else { &line };
            let text = text.trim_ascii();
            if !text.is_empty() {
                return Some(Ok(from_json(text, place)));
            }
        }
    }

    fn unit(&self) -> &'static str {
        "line"
    }

    fn total(&self) -> Option<u64> {
        let mut again = BufReader::with_capacity(1 << 16, File::open(self.path.as_ref()?).ok()?);
        let (mut count, mut blank) = (0, true);
        loop {
            let bytes = again.fill_buf().ok()?;
            if bytes.is_empty() {
                return Some(count + u64::from(!blank));
            }
            for byte in bytes {
                match byte {
                    b'\n' => {
                        count += u64::from(!blank);
                        blank = true;
                    }
                    byte => blank &= byte.is_ascii_whitespace(),
                }
            }
            let length = bytes.len();
            again.consume(length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::NoChange;

    fn rows(text: &[u8]) -> Vec<Row> {
        let mut lines = Lines::new(text);
        std::iter::from_fn(|| lines.next()).map(Result::unwrap).collect()
    }

    #[test]
    fn a_line_keeps_its_number_whatever_stands_around_it() {
        let rows = rows(b"\xef\xbb\xbf{\"old\": \"a\", \"new\": \"b\"}\r\n\n  \n\xff\n{\"old\": \"\", \"new\": \"\"}");
        assert_eq!(rows[0].as_ref().map(|change| change.old.as_str()), Ok("a"));
        let [_, Err(none @ NoChange { number: 4, .. }), Ok(last)] = rows.as_slice() else { panic!("{rows:?}") };
        assert!(none.reason().starts_with("line 4 is not a change: it is not JSON"), "{none:?}");
        assert_eq!(last.number, 5);
    }

    #[test]
    fn a_line_without_end_is_skipped_and_not_held() {
        let endless = io::repeat(b'x').take(3 * LONGEST as u64 + 5);
        let input = BufReader::new(endless.chain(&b"\n{\"old\": \"\", \"new\": \"\"}\n"[..]));
        let mut lines = Lines::new(input);
        let reason = lines.next().unwrap().unwrap().unwrap_err().reason();
        assert_eq!(reason, "line 1 is not a change: it is longer than 64 MiB; is it one change?");
        assert!(lines.line.capacity() < LONGEST);
        assert_eq!(lines.next().unwrap().unwrap().unwrap().number, 2);
        assert!(lines.next().is_none());
    }

    #[test]
    fn the_total_counts_what_is_not_blank() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        for (text, total) in [("", 0), ("x", 1), ("x\n\n \t\r\ny\n", 2), ("\n\nx\ny", 2)] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(Lines::of(io::empty(), Some(&path)).total(), Some(total), "{text:?}");
        }
    }
}
