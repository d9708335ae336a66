//! Decodes Python source as Python itself does: by a byte order mark, by the encoding that a comment in the first two
//! lines names (PEP 263), or else as UTF-8.

use std::borrow::Cow;

const MARK: &[u8] = b"\xef\xbb\xbf";
/// The byte order marks of UTF-16 and UTF-32, which Python refuses.
const WIDE: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// The text of a source file. An error says where the bytes are wrong and what to do, without the file's name.
pub fn python_source(bytes: &[u8]) -> Result<String, String> {
    if WIDE.iter().any(|mark| bytes.starts_with(mark)) {
        return Err("is UTF-16 or UTF-32, which Python does not read: save it as UTF-8".into());
    }
    let marked = bytes.strip_prefix(MARK);
    let bytes = marked.unwrap_or(bytes);
    let declared = declared(bytes);
    let name = declared.as_deref().unwrap_or("utf-8");
    if marked.is_some() && !is_utf8(name) {
        return Err(format!(
            "begins with a UTF-8 byte order mark but says coding: {name}, which Python refuses: drop one of them"
        ));
    }
    match name {
        name if is_utf8(name) => utf8(bytes, declared.is_some()),
        name if is_latin_1(name) => Ok(bytes.iter().map(|&byte| char::from(byte)).collect()),
        name if name.starts_with("utf-16") || name.starts_with("utf-32") || name.starts_with("utf16") => {
            Err(format!("says coding: {name}, which Python does not read in source: save it as UTF-8"))
        }
        "ascii" | "us-ascii" => match bytes.iter().position(|byte| !byte.is_ascii()) {
            Some(at) => Err(format!("is not ASCII, as it says it is: {}", place(bytes, at))),
            None => utf8(bytes, true),
        },
        _ => {
            let Some(encoding) = encoding_rs::Encoding::for_label(name.as_bytes()) else {
                return Err(format!("says coding: {name}, which is unknown: save it as UTF-8"));
            };
            let text = encoding.decode_without_bom_handling_and_without_replacement(bytes);
            text.map(Cow::into_owned).ok_or_else(|| format!("is not {name}, as it says it is: save it as UTF-8"))
        }
    }
}

fn is_utf8(name: &str) -> bool {
    matches!(name, "utf-8" | "utf8" | "u8" | "utf-8-sig") || name.starts_with("utf-8-")
}

/// The encoding's name as Python's tokenizer knows it, including `latin-1-unix`.
fn is_latin_1(name: &str) -> bool {
    let known = ["latin-1", "iso-8859-1", "iso-latin-1"];
    let begins = |known: &str| name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    known.iter().any(|known| begins(known)) || matches!(name, "latin1" | "iso8859-1" | "l1")
}

fn utf8(bytes: &[u8], declared: bool) -> Result<String, String> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| {
        let place = place(bytes, error.valid_up_to());
        let hint = if declared { "" } else { ", or say its encoding in the first line: # -*- coding: latin-1 -*-" };
        format!("is not UTF-8: {place}; save it as UTF-8{hint}")
    })
}

/// `byte 0xe9 in line 3, column 8`.
fn place(bytes: &[u8], at: usize) -> String {
    let before = &bytes[..at];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    format!("byte {:#04x} in line {line}, column {column}", bytes.get(at).copied().unwrap_or_default())
}

/// The encoding that a comment in the first line names, or in the second after a line without code.
fn declared(bytes: &[u8]) -> Option<String> {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\x0c' | b'\r');
    for line in bytes.split(|byte| *byte == b'\n').take(2) {
        let indent = line.iter().take_while(is_blank).count();
        match line.get(indent) {
            Some(b'#') => {}
            None => continue,
            Some(_) => return None,
        }
        let text = String::from_utf8_lossy(&line[indent..]);
        let Some((_, rest)) = text.split_once("coding:").or_else(|| text.split_once("coding=")) else { continue };
        let name: String = rest
            .trim_start_matches([' ', '\t'])
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            .collect();
        if !name.is_empty() {
            return Some(name.to_ascii_lowercase().replace('_', "-"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_the_one_that_the_first_lines_name() {
        for (bytes, expected) in [
            (&b"\xef\xbb\xbfx = 1\n"[..], "x = 1\n"),
            (b"# -*- coding: latin-1 -*-\nx = '\xe9\x80'\n", "# -*- coding: latin-1 -*-\nx = 'é\u{80}'\n"),
            (
                b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n\x80",
                "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n€",
            ),
            (b"# coding: Shift_JIS\n\x82\xa0", "# coding: Shift_JIS\nあ"),
            (b"# coding: utf8\n\xc3\xa9", "# coding: utf8\né"),
            (b"# coding: iso-latin-1-unix\n\xe9", "# coding: iso-latin-1-unix\né"),
        ] {
            assert_eq!(python_source(bytes).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn a_comment_behind_code_or_in_the_third_line_names_none() {
        for bytes in
            [&b"x = 1\n# coding: latin-1\n\xe9"[..], b"\n\n# coding: latin-1\n\xe9", b"x = 1  # coding: latin-1\n\xe9"]
        {
            assert!(python_source(bytes).unwrap_err().starts_with("is not UTF-8: byte 0xe9 in line "));
        }
    }

    #[test]
    fn errors_say_where_and_what_to_do() {
        let error = |bytes: &[u8]| python_source(bytes).unwrap_err();
        assert_eq!(
            error(b"def f():\n    return '\xc3\xa9\xe9'\n"),
            "is not UTF-8: byte 0xe9 in line 2, column 14; save it as UTF-8, or say its encoding in the first line: \
             # -*- coding: latin-1 -*-"
        );
        assert_eq!(error(b"# coding: klingon\n"), "says coding: klingon, which is unknown: save it as UTF-8");
        assert_eq!(error(b"# coding: ascii\n\xe9"), "is not ASCII, as it says it is: byte 0xe9 in line 2, column 1");
        assert!(error(b"\xef\xbb\xbf# coding: latin-1\n").contains("which Python refuses"));
        assert!(error(b"\xff\xfex\x00").contains("UTF-16"));
        assert!(error(b"# coding: utf-16\n").contains("which Python does not read"));
        assert!(error(b"# coding: euc-jp\n\xff").starts_with("is not euc-jp, as it says it is"));
    }
}
