//! CSV and TSV: the first row names the fields.

use std::io::{self, Read};

use csv::{ByteRecord, Reader, ReaderBuilder};
use serde_json::{Map, Value};

use super::fields::{RowPlace, check_columns, from_fields, is_known};
use crate::change::{Changes, Row};

/// The rows of a table, as changes.
pub struct Table<R> {
    rows: Reader<R>,
    /// The names of the known fields, by column.
    columns: Vec<Option<String>>,
    record: ByteRecord,
    number: usize,
}

impl<R: Read> Table<R> {
    /// An error is the end of a sentence.
    pub fn new(input: R, separator: u8) -> Result<Self, String> {
        let mut rows = ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(input);
        let header = rows.byte_headers().map_err(|error| error.to_string())?;
        let names: Vec<String> = header
            .iter()
            .map(|name| String::from_utf8_lossy(name).trim_start_matches('\u{feff}').trim().to_owned())
            .collect();
        check_columns(names.iter().map(String::as_str))?;
        let columns = names.into_iter().map(|name| Some(name).filter(|name| is_known(name))).collect();
        Ok(Self { rows, columns, record: ByteRecord::new(), number: 0 })
    }

    fn row(&self, place: RowPlace) -> Row {
        let mut fields = Map::new();
        for (name, value) in self.columns.iter().zip(&self.record) {
            let Some(name) = name else { continue };
            let text = std::str::from_utf8(value).map_err(|_| {
                place.wrong(None, &format!("the field `{name}` is not UTF-8 text: convert the file first"))
            })?;
            // A table cannot distinguish an empty field from a missing one. Only a function may be empty.
            if !text.is_empty() || matches!(name.as_str(), "old" | "new") {
                fields.insert(name.clone(), Value::from(text));
            }
        }
        from_fields(fields, place)
    }
}

impl<R: Read + Send> Changes for Table<R> {
    fn next(&mut self) -> Option<io::Result<Row>> {
        match self.rows.read_byte_record(&mut self.record) {
            Ok(false) => None,
            Ok(true) => {
                self.number += 1;
                Some(Ok(self.row(RowPlace { unit: "row", number: self.number })))
            }
            Err(error) => Some(Err(io::Error::other(error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_changes_whatever_else_the_table_holds() {
        let text = "\u{feff}id,more, old ,new,label\n7,x,\"def f():\n    return \"\"a\"\"\",b,changing\n8,x\n,x,c,,\n";
        let mut table = Table::new(text.as_bytes(), b',').unwrap();
        let rows: Vec<Row> = std::iter::from_fn(|| table.next()).map(Result::unwrap).collect();
        let first = rows[0].as_ref().unwrap();
        assert_eq!((first.id.clone(), first.old.as_str()), (Value::from("7"), "def f():\n    return \"a\""));
        assert_eq!(first.label.as_deref(), Some("changing"));
        let second = rows[1].as_ref().unwrap_err();
        assert_eq!(second.reason(), "row 2 is not a change: the field `old` is missing; give the text of the function");
        let third = rows[2].as_ref().unwrap();
        assert_eq!((third.id.clone(), third.new.as_str(), third.label.clone()), (Value::from(3), "", None));
    }

    #[test]
    fn a_table_without_the_columns_is_an_error() {
        let error = Table::new(&b"a,b\n1,2\n"[..], b',').err().unwrap();
        assert!(
            error.starts_with("there is no column `old` with the text of the function (known names are old, "),
            "{error}"
        );
        assert!(error.ends_with("; there are a, b"), "{error}");
        assert_eq!(Table::new(&b""[..], b',').err().unwrap(), "it holds no columns");
        let mut table = Table::new(&b"old\tnew\n\xff\tb\n"[..], b'\t').unwrap();
        assert!(table.next().unwrap().unwrap().unwrap_err().reason().contains("`old` is not UTF-8 text"));
    }
}
