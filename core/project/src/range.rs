//! Ranges of revisions, as people write them for git.

use git2::{Commit, Repository};

/// Two versions: `OLD..NEW`, or `OLD...NEW` for what a branch changed since it left the other. `OLD` alone has no new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range<'a> {
    pub old: &'a str,
    pub new: Option<&'a str>,
    /// Whether the old version is the last commit that both have in common.
    pub from_base: bool,
}

impl<'a> Range<'a> {
    /// An empty side is HEAD. `None` for a text that is no range.
    pub fn parse(text: &'a str) -> Option<Self> {
        let or_head = |side: &'a str| if side.is_empty() { "HEAD" } else { side };
        let Some((old, rest)) = text.split_once("..") else {
            return (!text.is_empty()).then_some(Self { old: text, new: None, from_base: false });
        };
        let (new, from_base) = match rest.strip_prefix('.') {
            Some(new) => (new, true),
            None => (rest, false),
        };
        let is_nothing = old.is_empty() && new.is_empty();
        if is_nothing || new.starts_with('.') || new.contains("..") {
            return None;
        }
        Some(Self { old: or_head(old), new: Some(or_head(new)), from_base })
    }
}

/// The last commit that two have in common. `None` if there is none.
pub fn base<'r>(repository: &'r Repository, one: &Commit<'_>, other: &Commit<'_>) -> Option<Commit<'r>> {
    repository.merge_base(one.id(), other.id()).and_then(|found| repository.find_commit(found)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_git() {
        let range = |old, new, from_base| Some(Range { old, new, from_base });
        for (text, expected) in [
            ("A", range("A", None, false)),
            ("A..B", range("A", Some("B"), false)),
            ("v1.0..", range("v1.0", Some("HEAD"), false)),
            ("..B", range("HEAD", Some("B"), false)),
            ("A...B", range("A", Some("B"), true)),
            ("main...", range("main", Some("HEAD"), true)),
            ("", None),
            ("..", None),
            ("...", None),
            ("A....B", None),
            ("A..B..C", None),
        ] {
            assert_eq!(Range::parse(text), expected, "{text}");
        }
    }
}
