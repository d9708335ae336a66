//! Names of helpers that convert between text and bytes (`ensure_text`, `force_str`, `toBytes`), and what they promise.

/// Words that promise a conversion, and words that may stand beside them.
const PROMISING: [&str; 7] = ["to", "as", "into", "force", "ensure", "smart", "coerce"];
const BESIDE: [&str; 3] = ["native", "safe", "unicode"];

/// What a conversion gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    Text,
    Bytes,
}

/// The promise of a name: `to_native_str` gives a text, `ensureBytes` gives bytes.
pub fn conversion(name: &str) -> Option<Conversion> {
    let mut words: Vec<String> = vec![String::new()];
    for character in name.chars() {
        if character == '_' || character.is_uppercase() {
            words.push(String::new());
        }
        if character != '_'
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    let (last, before) = words.split_last()?;
    let target = match last.as_str() {
        "str" | "string" | "text" | "unicode" => Conversion::Text,
        "bytes" | "binary" => Conversion::Bytes,
        _ => return None,
    };
    let promises = |word: &String| PROMISING.contains(&word.as_str());
    let fits = before.iter().all(|word| promises(word) || BESIDE.contains(&word.as_str()));
    (fits && before.iter().any(promises)).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_conversions_are_told_from_others() {
        for name in ["to_text", "ensure_str", "force_text", "smart_str", "toString", "to_native_str", "as_unicode"] {
            assert_eq!(conversion(name), Some(Conversion::Text), "{name}");
        }
        for name in ["ensureBytes", "force_bytes", "ensure_binary"] {
            assert_eq!(conversion(name), Some(Conversion::Bytes), "{name}");
        }
        for name in ["str", "text", "get_text", "to_list", "to_html_text", "ensure", "read_bytes", "native_str"] {
            assert_eq!(conversion(name), None, "{name}");
        }
    }
}
