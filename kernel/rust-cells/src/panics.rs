//! Panics of cells, as data: a hook in the process that runs cells writes them to a file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::protocol::Panic;

/// The maximum number of panics of one cell that are told.
const MOST: usize = 20;
/// The file into which evcxr writes a cell's code.
const OF_CELLS: &str = "lib.rs";

/// The file of panics.
pub struct Panics(PathBuf);

impl Panics {
    pub fn of(folder: &Path) -> Self {
        Self(folder.join("panics"))
    }

    /// The cell that sets the hook. It runs in the thread in which all cells run.
    pub fn hook(&self) -> String {
        format!(
            r###"{{
    let cells = std::thread::current().id();
    std::panic::set_hook(Box::new(move |info| {{
        use std::io::Write;
        let payload = info.payload();
        let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {{
            (Some(text), _) => text.to_string(),
            (None, Some(text)) => text.clone(),
            (None, None) => "a value that is no text".to_string(),
        }};
        let (file, line, column) = info.location().map_or(("", 0, 0), |at| (at.file(), at.line(), at.column()));
        let here = std::thread::current();
        let thread = if here.id() == cells {{ "main" }} else {{ here.name().unwrap_or("") }};
        let escaped = |text: &str| text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t");
        let row = format!("{{}}\t{{}}\t{{line}}\t{{column}}\t{{}}\n", escaped(thread), escaped(file), escaped(&message));
        if let Ok(mut to) = std::fs::OpenOptions::new().append(true).create(true).open({:?}) {{
            let _ = to.write_all(row.as_bytes());
        }}
    }}));
}}"###,
            self.0
        )
    }

    /// Whether the thread of the cells panicked since the last time.
    pub fn has_stopped_cell(&self) -> bool {
        fs::read_to_string(&self.0).is_ok_and(|rows| rows.lines().any(|row| row.starts_with("main\t")))
    }

    /// The panics since the last time. `source` is what was compiled of the cell.
    pub fn take(&self, cell: &str, source: &str) -> Vec<Panic> {
        let rows = fs::read_to_string(&self.0).unwrap_or_default();
        let _ = fs::remove_file(&self.0);
        rows.lines().take(MOST).filter_map(|row| panic(row, cell, source)).collect()
    }
}

fn panic(row: &str, cell: &str, source: &str) -> Option<Panic> {
    let mut fields = row.split('\t');
    let (thread, file) = (unescaped(fields.next()?), unescaped(fields.next()?));
    let (line, column) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let message = unescaped(fields.next()?);
    if !Path::new(&file).ends_with(OF_CELLS) || Path::new(&file).is_absolute() {
        return Some(Panic { thread, message, file: Some(file), line, column, text: None });
    }
    match in_cell(line, cell, source) {
        Some((number, moved)) => {
            let column = column.saturating_sub(moved).max(1);
            Some(Panic { thread, message, file: None, line: number, column, text: None })
        }
        None => {
            let file = Some("an earlier cell".to_owned());
            Some(Panic { thread, message, file, line: 0, column: 0, text: None })
        }
    }
}

/// The line of the cell that stands in this line of what was compiled, and by how much it is indented there.
fn in_cell(line: usize, cell: &str, source: &str) -> Option<(usize, usize)> {
    let compiled: Vec<&str> = source.lines().collect();
    let text = *compiled.get(line.checked_sub(1)?)?;
    let is_it = |own: &str| !own.trim().is_empty() && text.trim_end().ends_with(own.trim_end());
    let before = compiled[..line - 1].iter().filter(|other| **other == text).count();
    let found: Vec<usize> = (1..).zip(cell.lines()).filter(|(_, own)| is_it(own)).map(|(number, _)| number).collect();
    let number = *found.get(before).or(found.last())?;
    let own = cell.lines().nth(number - 1)?;
    Some((number, text.trim_end().chars().count() - own.trim_end().chars().count()))
}

fn unescaped(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(one) = characters.next() {
        match one {
            '\\' => found.push(match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(other) => other,
                None => break,
            }),
            other => found.push(other),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_of_the_line_of_the_cell() {
        let (cell, source) = ("let a = 1;\npanic!(\"x\")", "fn f() {\nlet a = 1;\n    panic!(\"x\")\n}\n");
        let found = panic("main\tsrc/lib.rs\t3\t5\ta\\nb\\\\", cell, source).unwrap();
        let expected =
            Panic { thread: "main".into(), message: "a\nb\\".into(), file: None, line: 2, column: 1, text: None };
        assert_eq!(found, expected);
        assert_eq!(panic("\t/rustc/library/core.rs\t7\t1\tm", cell, source).unwrap().line, 7);
        assert_eq!(panic("\tsrc/lib.rs\t1\t1\tm", cell, source).unwrap().file.as_deref(), Some("an earlier cell"));
        assert!(panic("main\tx", cell, source).is_none());
    }
}
