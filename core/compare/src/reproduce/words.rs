//! The words of a text: its names and the kinds of its tokens. What stands in comments and in strings is not among
//! them.

use std::collections::BTreeSet;

use ruff_python_ast::token::TokenKind;
use ruff_text_size::Ranged;

use twincell_syntax::parse::{parse, with_stack_for};

/// The words of one or more texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words {
    names: BTreeSet<String>,
    kinds: BTreeSet<TokenKind>,
}

impl Words {
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut words = Self::default();
        for text in texts {
            with_stack_for(text.len(), || words.add(text));
        }
        words
    }

    fn add(&mut self, text: &str) {
        for token in parse(text).tokens() {
            self.kinds.insert(token.kind());
            if token.kind() == TokenKind::Name
                && let Some(name) = text.get(token.range().to_std_range())
                // Texts name the same things over and over.
                && !self.names.contains(name)
            {
                self.names.insert(name.to_owned());
            }
        }
    }

    /// Whether one of these tokens occurs.
    pub(super) fn has_any(&self, kinds: &[TokenKind]) -> bool {
        kinds.iter().any(|kind| self.kinds.contains(kind))
    }

    /// Whether the name occurs, as a variable, an attribute or a module. Each part of a dotted name has to.
    pub(super) fn names(&self, name: &str) -> bool {
        name.split('.').all(|part| self.names.contains(part))
    }

    /// Whether a name occurs that has one of these parts: `bisect_left` has `bisect`.
    pub(super) fn names_like(&self, parts: &[&str]) -> bool {
        self.names.iter().any(|name| parts.iter().any(|part| name.contains(part)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_hold_no_words() {
        let words = Words::of(["x = 'sorted(a) < with'  # import re\ny = f'{heapify(z)} with'\n"]);
        assert!(!words.has_any(&[TokenKind::Less, TokenKind::With, TokenKind::Import]));
        assert!(!words.names_like(&["sort"]) && !words.names("re"));
        assert!(words.names_like(&["heap"]) && words.names("z"));
    }

    #[test]
    fn dotted_names_occur_with_all_their_parts() {
        let words = Words::of(["import urllib.parse\n"]);
        assert!(words.names("urllib.parse") && !words.names("urllib.request"));
    }
}
