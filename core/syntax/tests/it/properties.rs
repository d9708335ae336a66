//! Any text parses or has errors, and what is instrumented still parses and keeps its lines; nothing panics.
//!
//! `core/syntax/fuzz` has the same property as a fuzz target, for those who have a nightly compiler. Here it runs on programs
//! made by the grammar, on soups of tokens, and on the fixtures with random changes. More cases:
//!
//!     PROPTEST_CASES=100000 cargo test -p twincell-syntax --test it properties

use std::path::Path;

use crate::check::{check, grammar};
use proptest::collection::vec;
use proptest::prelude::*;

const TOKENS: [&str; 72] = [
    "def ",
    "class ",
    "f",
    "x",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    ".",
    "=",
    "==",
    "+",
    "-",
    "*",
    "**",
    "@",
    "->",
    ":=",
    "\n",
    "\n    ",
    "\n        ",
    " ",
    "\t",
    "\\\n",
    "#",
    "'",
    "\"",
    "'''",
    "\"\"\"",
    "f'",
    "f\"{",
    "{x!r:>{y}}",
    "rb'",
    "t'",
    "lambda ",
    "yield ",
    "yield from ",
    "await ",
    "async ",
    "for ",
    "in ",
    "if ",
    "else",
    "elif ",
    "while ",
    "with ",
    "as ",
    "try:",
    "except ",
    "except* ",
    "finally:",
    "raise ",
    "assert ",
    "return ",
    "del ",
    "global ",
    "nonlocal ",
    "match ",
    "case ",
    "type ",
    "import ",
    "from ",
    "not ",
    "1",
    "0x",
    "é",
    "\u{feff}",
    "\r",
];

fn fixtures() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["instrument", "meaning"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(folder);
        let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        found.extend(paths.iter().map(|path| std::fs::read_to_string(path).unwrap()));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn programs_of_the_grammar_are_instrumented(bytes in vec(any::<u8>(), 0..600)) {
        check(&grammar::program(&bytes));
    }

    #[test]
    fn any_soup_of_tokens_parses_or_has_errors(tokens in vec(0..TOKENS.len(), 0..60)) {
        let soup: String = tokens.into_iter().map(|token| TOKENS[token]).collect();
        check(&soup);
    }

    #[test]
    fn any_text_parses_or_has_errors(text in any::<String>()) {
        check(&text);
        check(&format!("def f():\n    {text}\n"));
    }

    #[test]
    fn fixtures_with_random_changes_parse_or_have_errors(
        which in any::<prop::sample::Index>(),
        changes in vec((any::<prop::sample::Index>(), 0..4_u8, 0..TOKENS.len()), 1..6),
    ) {
        let texts = fixtures();
        let mut characters: Vec<char> = which.get(&texts).chars().collect();
        for (place, kind, token) in changes {
            let at = place.index(characters.len().max(1)).min(characters.len());
            let end = (at + 1 + token % 9).min(characters.len());
            match kind {
                0 => drop(characters.drain(at..end)),
                1 => drop(characters.splice(at..at, TOKENS[token].chars())),
                2 => drop(characters.splice(at..end, TOKENS[token].chars())),
                _ => {
                    let copied = characters[at..end].to_vec();
                    characters.splice(at..at, copied);
                }
            }
        }
        check(&characters.into_iter().collect::<String>());
    }
}

#[test]
fn most_programs_of_the_grammar_are_valid() {
    let mut valid = 0;
    for seed in 0..200_u32 {
        let bytes: Vec<u8> = (0..300_u32)
            .map(|at| (seed.wrapping_mul(2_654_435_761).wrapping_add(at.wrapping_mul(40_503)) >> 7) as u8)
            .collect();
        valid += u32::from(twincell_syntax::functions(&grammar::program(&bytes)).1.is_empty());
    }
    assert!(valid > 100, "{valid} of 200");
}
