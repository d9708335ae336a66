//! Access paths that say something about a value, or about an operation on it, and are no value themselves.

use super::SUBSTITUTED;

/// How such paths begin: `len(x)` is the number of items of `x`, `raise f(x)` whether that call fails.
const ANSWERS: [&str; 17] = [
    "bool(",
    "class(",
    "hasattr(",
    "int(",
    "isinstance(",
    "iter(",
    "len(",
    "next(",
    "order(",
    "place of ",
    "raise ",
    "repr(",
    "stable ",
    "str(",
    "succeeds ",
    "zero(",
    SUBSTITUTED,
];

/// Is this path an answer about a value (`bool(x)`, `'a' in x`, `str(x)`) rather than a value?
pub fn is_answer(path: &str) -> bool {
    ANSWERS.iter().any(|start| path.starts_with(start)) || asks_for_member(path)
}

/// Is this the text of an object: an answer about the object, and yet a text that the code goes on with?
pub fn is_text(path: &str) -> bool {
    path.starts_with("str(") || path.starts_with("repr(")
}

/// `'a' in x`, `x in y`, and not `f('a in x')`.
fn asks_for_member(path: &str) -> bool {
    let is_name = |c: char| c.is_alphabetic() || matches!(c, '_' | '(') || !c.is_ascii();
    if !path.starts_with(is_name) {
        // No access path begins so; what is written first may be cut off.
        return path.contains(" in ");
    }
    let mut depth = 0_usize;
    for (at, character) in unquoted(path) {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && path[at..].starts_with(" in ") => return true,
            _ => {}
        }
    }
    false
}

/// The characters of a path outside of its string literals, with where they stand.
pub fn unquoted(path: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut quote, mut escaped) = (None, false);
    path.char_indices().filter(move |(_, character)| {
        match (quote, character) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), _) => quote = (*character != open).then_some(open),
            (None, '\'' | '"') => quote = Some(*character),
            (None, _) => return true,
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_about_values_are_told_from_values() {
        for path in [
            "zero(x)",
            "str(x.name)",
            "repr(x)",
            "injected(helper)",
            "place of 'a' in x",
            "raise f(x)",
            "len(*rest)",
            "'a' in **options",
            "3 in x",
            "b'it' in x",
            "key in x.items",
            "f('a')[0] in x",
        ] {
            assert!(is_answer(path), "{path}");
        }
        for path in ["x", "x.len(y)", "f('a in b')", "x['a in b']", "(x + y)", "strip(x)", "await x.f()", "नमस्ते.a", "é"]
        {
            assert!(!is_answer(path), "{path}");
        }
        assert!(is_text("str(x)") && is_text("repr(x)") && !is_text("strip(x)"));
    }
}
