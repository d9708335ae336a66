//! Text from user code, made harmless to look at: no control characters, no escape sequences, nothing that reorders or
//! hides what stands beside it. HTML escaping is maud's work, not done here.

use std::borrow::Cow;

/// Characters of one value or name that are shown at most.
pub const VALUE_LIMIT: usize = 300;
/// Characters of one line of code that are shown at most.
pub const CODE_LIMIT: usize = 500;
/// Lines of one file that are shown at most.
pub const FILE_LIMIT: usize = 1500;

/// One line for people: bounded by [`VALUE_LIMIT`], every unsafe character written as its Python escape.
pub fn value(text: &str) -> String {
    bounded(text, VALUE_LIMIT)
}

/// One line of source: tabs become four spaces, a cut says how long the line was.
pub fn code(text: &str) -> String {
    let text = text.trim_end_matches(['\n', '\r']);
    let expanded: Cow<'_, str> = if text.contains('\t') { text.replace('\t', "    ").into() } else { text.into() };
    bounded(&expanded, CODE_LIMIT)
}

/// A file as a whole, up to [`FILE_LIMIT`] lines.
pub fn file(text: &str) -> String {
    let mut lines: Vec<String> = text.lines().take(FILE_LIMIT).map(code).collect();
    let rest = text.lines().count().saturating_sub(FILE_LIMIT);
    if rest > 0 {
        lines.push(format!("… ({rest} more lines)"));
    }
    lines.join("\n")
}

/// A sentence: as [`value`], but with room for two values, and line breaks become spaces.
pub fn sentence(text: &str) -> String {
    bounded(&text.replace(['\n', '\r'], " "), 4 * VALUE_LIMIT)
}

fn bounded(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit + 16));
    for (index, character) in text.chars().enumerate() {
        if index == limit {
            out.push_str(&format!("… ({} characters)", text.chars().count()));
            break;
        }
        push_safe(&mut out, character);
    }
    out
}

fn push_safe(out: &mut String, character: char) {
    let number = character as u32;
    match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ if !is_unsafe(character) => out.push(character),
        _ if number <= 0xff => out.push_str(&format!("\\x{number:02x}")),
        _ if number <= 0xffff => out.push_str(&format!("\\u{number:04x}")),
        _ => out.push_str(&format!("\\U{number:08x}")),
    }
}

/// Control characters, the format characters that reorder or join text (Unicode Technical Report 36), and those that are
/// not seen at all (the property `Default_Ignorable_Code_Point`), some of which may stand in names.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
            | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_characters_become_python_escapes() {
        assert_eq!(value("a\x1b[31mb\0\u{202e}c\u{9b}\n"), "a\\x1b[31mb\\x00\\u202ec\\x9b\\n");
        assert_eq!(value("naïve 日本 ×"), "naïve 日本 ×");
        assert_eq!(value("\u{e0041}"), "\\U000e0041");
        assert_eq!(value("x\u{3164}\u{fe0f}\u{115f}"), "x\\u3164\\ufe0f\\u115f", "invisible, and allowed in names");
    }

    #[test]
    fn tabs_in_code_become_spaces() {
        assert_eq!(code("\treturn 1\r\n"), "    return 1");
    }

    #[test]
    fn a_cut_value_says_how_long_it_was() {
        assert!(value(&"x".repeat(5_000)).ends_with("x… (5000 characters)"));
    }
}
