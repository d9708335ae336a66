//! Source text in files, and what went wrong with a file as people read it.

use std::io;
use std::path::Path;

/// The text of a file, without a byte order mark. An error is one line that says what to do.
pub fn read_text(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot read {}: {}", path.display(), reason(&error)))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(without_mark(&text).to_owned()),
        Err(_) => Err(format!("{} is not UTF-8 text: convert it first", path.display())),
    }
}

/// Writes a file; an error names it.
pub fn write_text(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {}", path.display(), reason(&error)))
}

/// An error of the operating system without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Text without a byte order mark.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.py");
        std::fs::write(&path, "\u{feff}x = 1\n").unwrap();
        assert_eq!(read_text(&path).as_deref(), Ok("x = 1\n"));
    }

    #[test]
    fn errors_name_the_file_and_say_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.py");
        let error = read_text(&path).unwrap_err();
        assert!(error.starts_with("cannot read ") && error.ends_with("a.py: No such file or directory"), "{error}");
        std::fs::write(&path, b"\xe9").unwrap();
        assert!(read_text(&path).unwrap_err().ends_with("a.py is not UTF-8 text: convert it first"));
        assert!(write_text(folder.path(), "").unwrap_err().starts_with("cannot write "));
    }
}
