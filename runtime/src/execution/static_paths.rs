//! Static access paths, as the code has them: their common notation in all versions, and what can be read off them.

use twincell_engine::protocol::Version;
use twincell_syntax::site::SiteKind;

pub(super) fn canonical<'a>(version: &'a Version, name: &'a str) -> &'a str {
    version.renames.iter().find(|(own, _)| own == name).map_or(name, |(_, canonical)| canonical)
}

pub(super) fn renamed_attribute<'a>(version: &'a Version, owner: &str, name: &str) -> Option<&'a str> {
    let (_, canonical) = version.attribute_renames.iter().find(|(own, _)| own == name)?;
    let own_object = version.parameters.first().filter(|_| version.class_name.is_some())?;
    (own_object.name == owner).then_some(canonical.as_str())
}

/// A static path in the notation of dynamic ones: with single quotes and a canonical first name.
pub(super) fn normalise(path: &str, version: &Version) -> String {
    let mut path = path.replace('"', "'");
    for _ in 0..3 {
        // A local that stands for another path.
        let (first, rest) = split_first(&path);
        let Some((_, meant)) = version.locals.aliases.iter().find(|(local, _)| local == first) else { break };
        path = format!("{meant}{rest}");
    }
    let (first, rest) = split_first(&path);
    if let Some((name, after)) = rest.strip_prefix('.').map(split_first)
        && let Some(old) = renamed_attribute(version, first, name)
    {
        return format!("{first}.{old}{after}");
    }
    format!("{}{rest}", canonical(version, first))
}

/// `dict`, `x` for `dict(x, a=1)`: a copy of an existing value.
pub(super) fn copy(path: &str) -> Option<(&'static str, &str)> {
    const CLASSES: [&str; 3] = ["dict", "list", "set"];
    let arguments = path.strip_suffix(')')?;
    let (class, arguments) =
        CLASSES.iter().find_map(|class| Some((*class, arguments.strip_prefix(class)?.strip_prefix('(')?)))?;
    let first = &arguments[..arguments.find(',').unwrap_or(arguments.len())];
    let is_place = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    (!first.is_empty() && first.chars().all(is_place)).then_some((class, first))
}

/// `name` of `hasattr(x, 'name')` and `getattr(x, 'name', default)`.
pub(super) fn asked_attribute(path: &str) -> Option<String> {
    let arguments = path.strip_suffix(')')?;
    let (arguments, default) = match arguments.strip_prefix("hasattr(") {
        Some(arguments) => (arguments, false),
        None => (arguments.strip_prefix("getattr(")?, true),
    };
    let quoted = arguments.replace('"', "'");
    let (before, rest) = quoted.split_once(", '")?;
    let (name, after) = rest.split_once('\'')?;
    let fits = if default { after.starts_with(", ") } else { after.is_empty() };
    (fits && !before.is_empty()).then(|| name.to_string())
}

/// The first name of a path, and the rest.
pub(super) fn split_first(path: &str) -> (&str, &str) {
    let end = path.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(path.len());
    path.split_at(end)
}

/// Cuts the last attribute, subscript or argument list off a path.
pub(super) fn container(kind: SiteKind, path: &str) -> String {
    let container = match kind {
        SiteKind::Subscript | SiteKind::Call => &path[..opening(path)],
        SiteKind::Name | SiteKind::Attribute => path.rfind('.').map_or(path, |at| &path[..at]),
    };
    awaited(container).unwrap_or(container).to_string()
}

/// `await a` for `(await a)`, which is written without the brackets where it has a name.
fn awaited(path: &str) -> Option<&str> {
    let inner = path.strip_prefix('(')?.strip_suffix(')')?;
    (inner.starts_with("await ") && opening(path) == 0).then_some(inner)
}

/// The position of the bracket that the last character of a path closes, or the path's end if there is none.
pub(crate) fn opening(path: &str) -> usize {
    let mut depth = 0;
    for (at, character) in path.char_indices().rev() {
        match character {
            ']' | ')' => depth += 1,
            '[' | '(' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    path.len()
}

/// The number of commas in an argument list, and its keywords, as written: `b` and `c` for `(a, b=1, c=f(d=2))`.
pub(super) fn written_arguments(arguments: &str) -> (usize, Vec<String>) {
    let (mut found, mut commas) = (Vec::new(), 0);
    let (mut depth, mut quote, mut word) = (0, None, String::new());
    let mut characters = arguments.chars().peekable();
    while let Some(character) = characters.next() {
        if let Some(open) = quote {
            match character {
                '\\' => drop(characters.next()),
                _ if character == open => quote = None,
                _ => {}
            }
            continue;
        }
        match character {
            '\'' | '"' => quote = Some(character),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 1 => commas += 1,
            '=' if depth == 1 && !word.is_empty() && characters.peek() != Some(&'=') => found.push(word.clone()),
            _ => {}
        }
        if character.is_alphanumeric() || character == '_' {
            word.push(character);
        } else if !character.is_whitespace() {
            word.clear();
        }
    }
    (commas, found)
}

#[cfg(test)]
mod tests {
    use super::written_arguments;

    #[test]
    fn keywords_are_read_off_an_argument_list() {
        let (commas, keywords) = written_arguments("(a, b=1, c=f(d=2), e='x=1', g = [h == 2, 3])");
        assert_eq!((commas, keywords), (4, ["b", "c", "e", "g"].map(String::from).to_vec()));
        assert_eq!(written_arguments("(a == b, c <= d)"), (1, vec![]));
    }
}
