//! Observed values as Python source.

use twincell_testing::Observed;

/// How long a value may be that stands in an assertion, in characters.
pub const MAX_LITERAL: usize = 400;

/// A plain value as an expression that makes it. `None` for objects, for what was cut, and for what is too long.
pub fn literal(value: &Observed) -> Option<String> {
    write(value).filter(|text| text.chars().count() <= MAX_LITERAL)
}

fn write(value: &Observed) -> Option<String> {
    let all = |items: &[Observed]| items.iter().map(write).collect::<Option<Vec<_>>>().map(|items| items.join(", "));
    Some(match value {
        Observed::None => "None".to_owned(),
        Observed::Bool(true) => "True".to_owned(),
        Observed::Bool(false) => "False".to_owned(),
        Observed::Int(text) => text.clone(),
        Observed::Float(text) => match text.as_str() {
            "inf" | "-inf" => format!("float('{text}')"),
            // Nothing is equal to it.
            "nan" => return None,
            _ => text.clone(),
        },
        Observed::Complex(text) if !text.contains("nan") && !text.contains("inf") => text.clone(),
        Observed::Str(text) => string(text),
        Observed::Bytes(bytes) => bytes_literal(bytes),
        Observed::List(items) => format!("[{}]", all(items)?),
        Observed::Tuple(items) if items.len() == 1 => format!("({},)", all(items)?),
        Observed::Tuple(items) => format!("({})", all(items)?),
        Observed::Set(items) if items.is_empty() => "set()".to_owned(),
        Observed::Set(items) => format!("{{{}}}", all(items)?),
        Observed::FrozenSet(items) if items.is_empty() => "frozenset()".to_owned(),
        Observed::FrozenSet(items) => format!("frozenset({{{}}})", all(items)?),
        Observed::Dict(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| Some(format!("{}: {}", write(key)?, write(value)?)));
            format!("{{{}}}", pairs.collect::<Option<Vec<_>>>()?.join(", "))
        }
        _ => return None,
    })
}

/// A text as `repr` writes it, in ASCII where it cannot be seen.
pub fn string(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut written = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            _ if character == quote => written.extend(['\\', character]),
            ' '..='~' => written.push(character),
            _ if character.is_alphanumeric() && u32::from(character) > 0xa0 => written.push(character),
            _ => written.push_str(&escape(character)),
        }
    }
    written.push(quote);
    written
}

fn escape(character: char) -> String {
    match u32::from(character) {
        code @ 0..=0xff => format!("\\x{code:02x}"),
        code @ 0..=0xffff => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    }
}

fn bytes_literal(bytes: &[u8]) -> String {
    let mut written = String::from("b'");
    for byte in bytes {
        match byte {
            b'\\' => written.push_str("\\\\"),
            b'\'' => written.push_str("\\'"),
            b'\n' => written.push_str("\\n"),
            b' '..=b'~' => written.push(char::from(*byte)),
            _ => written.push_str(&format!("\\x{byte:02x}")),
        }
    }
    written.push('\'');
    written
}

/// A regular expression that finds this text and no other, as Python's `re.escape` writes it.
pub fn pattern(text: &str) -> String {
    let mut written = String::new();
    for character in text.chars() {
        if "()[]{}?*+|^$\\.".contains(character) {
            written.push('\\');
        }
        written.push(character);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_people_write_them() {
        let text = |text: &str| Observed::Str(text.into());
        for (value, expected) in [
            (text("it's"), "\"it's\""),
            (text("a'b\"\n\u{1b}[0m é\u{2588}"), "'a\\'b\"\\n\\x1b[0m é\\u2588'"),
            (Observed::Bytes(b"a\0".into()), "b'a\\x00'"),
            (Observed::Tuple(vec![Observed::Int("1".into())]), "(1,)"),
            (Observed::Dict(vec![(text("a"), Observed::List(vec![Observed::None]))]), "{'a': [None]}"),
            (Observed::Set(vec![]), "set()"),
        ] {
            assert_eq!(literal(&value).as_deref(), Some(expected));
        }
        assert_eq!(literal(&Observed::List(vec![Observed::Cut])), None);
        assert_eq!(literal(&Observed::Float("nan".into())), None);
    }
}
