//! Text from user code, made harmless to look at: no control characters, no escape sequences, nothing that reorders or
//! hides its surroundings. maud escapes for HTML, not this file.

use std::borrow::Cow;

use twincell_values::path::AccessPath;
use unicode_normalization::char::is_combining_mark;

/// The maximum number of shown characters of one value or name.
pub const VALUE_LIMIT: usize = 300;
/// The maximum number of shown characters of one line of code.
pub const CODE_LIMIT: usize = 500;
/// The maximum number of shown lines of one file.
pub const FILE_LIMIT: usize = 1500;

/// One line for people, bounded by [`VALUE_LIMIT`], with every unsafe character written as its Python escape.
pub fn value(text: &str) -> String {
    bounded(text, VALUE_LIMIT)
}

/// The path of a value, with an ellipsis where it is cut off.
pub fn path(path: &str) -> String {
    value(&AccessPath::new(path).with_ellipses())
}

/// One line of source: tabs become four spaces, and a cut says how long the line was.
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

/// A sentence: like [`value`], but with room for two values, and with spaces for line breaks.
pub fn sentence(text: &str) -> String {
    bounded(&text.replace(['\n', '\r'], " "), 4 * VALUE_LIMIT)
}

/// The text of a JSON document that means the same, with every unsafe character in its strings written as JSON's escape.
pub fn json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for character in document.chars() {
        if is_unsafe(character) && character != '\n' {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(character);
        }
    }
    out
}

fn bounded(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit + 16));
    for (index, character) in text.chars().enumerate() {
        if index == limit {
            out.push_str(&format!("… ({} characters)", text.chars().count()));
            break;
        }
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // At the start, a combining mark would change the character before the text.
            _ if is_unsafe(character) || index == 0 && is_combining_mark(character) => {
                push_escaped(&mut out, character)
            }
            _ => out.push(character),
        }
    }
    out
}

fn push_escaped(out: &mut String, character: char) {
    match character as u32 {
        number @ ..=0xff => out.push_str(&format!("\\x{number:02x}")),
        number @ ..=0xffff => out.push_str(&format!("\\u{number:04x}")),
        number => out.push_str(&format!("\\U{number:08x}")),
    }
}

/// Control characters, the format characters that reorder or join text (Unicode Technical Report 36), and invisible
/// characters (the property `Default_Ignorable_Code_Point`), some of which may occur in names.
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
    use serde::Deserialize;

    use super::*;

    /// Texts and how they are shown; `widgets/js/src/plain.ts` is held against the same.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Golden {
        #[serde(rename = "about")]
        _about: String,
        limits: [usize; 3],
        shown: Vec<(String, String, Repeated, Repeated)>,
        escaped: Vec<(u32, u32)>,
        kept: String,
    }

    /// A text repeated this many times, and what follows it.
    #[derive(Deserialize)]
    struct Repeated(String, usize, String);

    impl Repeated {
        fn text(&self) -> String {
            self.0.repeat(self.1) + &self.2
        }
    }

    fn golden() -> Golden {
        serde_json::from_str(include_str!("../golden/plain.json")).unwrap()
    }

    #[test]
    fn texts_are_shown_as_in_the_interactive_view() {
        let golden = golden();
        assert_eq!(golden.limits, [VALUE_LIMIT, CODE_LIMIT, FILE_LIMIT]);
        for (name, how, given, wanted) in &golden.shown {
            let shown = match how.as_str() {
                "value" => value(&given.text()),
                "code" => code(&given.text()),
                "file" => file(&given.text()),
                "sentence" => sentence(&given.text()),
                other => panic!("{name}: there is no {other}"),
            };
            assert_eq!(shown, wanted.text(), "{name}");
        }
    }

    #[test]
    fn json_keeps_its_meaning_and_has_nothing_unsafe() {
        let strings = ["\u{9b}2J", "\u{7f}", "a\u{202e}b", "\u{e0041}", "\u{1b}\n", "é\u{301}", "😀"];
        let document = serde_json::to_string_pretty(&strings).unwrap();
        let safe = json(&document);
        assert_eq!(serde_json::from_str::<Vec<String>>(&safe).unwrap(), strings);
        assert!(safe.chars().all(|character| !is_unsafe(character) || character == '\n'), "{safe:?}");
        assert!(safe.contains("\n") && safe.contains("é") && safe.contains("😀"));
    }

    #[test]
    fn what_is_not_seen_or_reorders_is_escaped() {
        for character in
            golden().escaped.into_iter().flat_map(|(first, last)| (first..=last).filter_map(char::from_u32))
        {
            let number = u32::from(character);
            let shown = value(&format!("a{character}b"));
            assert!(shown.starts_with("a\\") && shown.is_ascii(), "U+{number:04X} is shown as {shown}");
        }
        let kept = golden().kept;
        assert_eq!(value(&kept), kept);
    }
}
