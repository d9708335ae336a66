//! Static access paths, as the code has them: their common notation in all versions, and what can be read off them.

use twincell_engine::protocol::Version;
use twincell_syntax::site::SiteKind;
use twincell_values::path::{self, AccessPath, AccessPathBuf};

pub(super) fn canonical<'a>(version: &'a Version, name: &'a str) -> &'a str {
    version.renames.iter().find(|(own, _)| own == name).map_or(name, |(_, canonical)| canonical)
}

pub(super) fn renamed_attribute<'a>(version: &'a Version, owner: &str, name: &str) -> Option<&'a str> {
    let (_, canonical) = version.attribute_renames.iter().find(|(own, _)| own == name)?;
    let own_object = version.parameters.first().filter(|_| version.class_name.is_some())?;
    (own_object.name == owner).then_some(canonical.as_str())
}

/// A static path in the notation of dynamic ones: with single quotes and a canonical first name.
pub(super) fn normalise(path: &str, version: &Version) -> AccessPathBuf {
    let mut path = path.replace('"', "'");
    for _ in 0..3 {
        // A local that stands for another path.
        let (first, rest) = AccessPath::from(&path).split_root();
        let Some((_, meant)) = version.locals.aliases.iter().find(|(local, _)| local == first) else { break };
        path = format!("{meant}{rest}");
    }
    let (first, rest) = AccessPath::from(&path).split_root();
    if let Some((name, after)) = rest.strip_prefix('.').map(|rest| AccessPath::new(rest).split_root())
        && let Some(old) = renamed_attribute(version, first, name)
    {
        return format!("{}{after}", AccessPath::new(first).attribute(old)).into();
    }
    if let Some(path) = imported(version, &path) {
        return path;
    }
    format!("{}{rest}", canonical(version, first)).into()
}

/// A path that begins with what the versions import in different ways, in the notation of all. The longest beginning
/// counts.
pub(super) fn imported(version: &Version, path: &str) -> Option<AccessPathBuf> {
    let fitting = version.imports.iter().filter_map(|import| {
        let rest = path.strip_prefix(&import.written)?;
        let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        ends.then(|| (import.written.len(), format!("{}{rest}", import.canonical)))
    });
    fitting.max_by_key(|(length, _)| *length).map(|(_, path)| path.into())
}

/// `dict`, `x` for `dict(x, a=1)`: a copy of an existing value.
pub(super) fn copy(path: &str) -> Option<(&'static str, &str)> {
    const CLASSES: [&str; 3] = ["dict", "list", "set"];
    let (callee, passed) = AccessPath::new(path).split_call()?;
    let class = CLASSES.into_iter().find(|class| *class == callee.as_str())?;
    let first = path::arguments(passed).next()?;
    let is_plain = AccessPath::new(first).is_dotted();
    is_plain.then_some((class, first))
}

/// `name` of `hasattr(x, 'name')` and `getattr(x, 'name', default)`.
pub(super) fn asked_attribute(path: &str) -> Option<String> {
    let (callee, passed) = AccessPath::new(path).split_call()?;
    let passed: Vec<&str> = path::arguments(passed).collect();
    let name = match (callee.as_str(), passed.as_slice()) {
        ("hasattr", [_, name]) | ("getattr", [_, name, _]) => name,
        _ => return None,
    };
    let quoted = |quote: char| name.strip_prefix(quote)?.strip_suffix(quote);
    quoted('\'').or_else(|| quoted('"')).map(String::from)
}

/// Cuts the last attribute, subscript or argument list off a path.
pub(super) fn container(kind: SiteKind, path: AccessPath<'_>) -> AccessPathBuf {
    let container = match kind {
        SiteKind::Subscript | SiteKind::Call => path.before_brackets(),
        SiteKind::Name | SiteKind::Attribute => path.split_attribute().map_or(path, |(holder, _)| holder),
    };
    awaited(container).unwrap_or(container).to_buf()
}

/// `await a` for `(await a)`, which is written without the brackets where it has a name.
fn awaited(path: AccessPath<'_>) -> Option<AccessPath<'_>> {
    let (before, inner) = path.split_call()?;
    let inner = AccessPath::new(inner);
    (before.as_str().is_empty() && inner.is_awaited()).then_some(inner)
}

/// The number of commas between the arguments of the call that ends a path, and their keywords, as written: `b` and `c` for
/// `f(a, b=1, c=g(d=2))`.
pub(super) fn written_arguments(path: &str) -> (usize, Vec<String>) {
    let Some((_, passed)) = AccessPath::new(path).split_call() else { return (0, vec![]) };
    let keywords = path::arguments(passed).filter_map(path::keyword_of).map(String::from);
    (path::arguments(passed).count() - 1, keywords.collect())
}

#[cfg(test)]
mod tests {
    use super::written_arguments;

    #[test]
    fn keywords_are_read_off_an_argument_list() {
        let (commas, keywords) = written_arguments("k(a, b=1, c=f(d=2), e='x=1', g = [h == 2, 3])");
        assert_eq!((commas, keywords), (4, ["b", "c", "e", "g"].map(String::from).to_vec()));
        assert_eq!(written_arguments("k(a == b, c <= d)"), (1, vec![]));
    }
}
