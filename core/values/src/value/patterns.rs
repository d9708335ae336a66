//! Texts that a regular expression matches.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use regex_syntax::hir::{Class, Hir, HirKind};
use regex_syntax::{Parser, ParserBuilder};
use xxhash_rust::xxh3::xxh3_64;

/// The maximum length of a text.
const MAX_LENGTH: usize = 300;
/// The maximum number of parts of a pattern that one text visits. A part that gives no text can be repeated without
/// end.
const MOST_STEPS: u32 = 10_000;
/// The maximum length of a pattern in bytes. Each `\w` becomes hundreds of ranges.
const LONGEST_PATTERN: usize = 2_000;
/// The maximum number of repetitions beyond the minimum that the pattern requires.
const MORE: u32 = 3;
/// The characters that stand for a class where it has them. Earlier ones are likelier.
const COMMON: [char; 14] = ['a', '1', 'b', '7', ' ', '-', 'A', '.', '_', '/', 'z', '0', '"', '\n'];

/// Texts that a pattern of Python's `re` matches, as far as the two dialects agree, short ones first, each once.
/// Look-aheads and look-behinds are ignored.
pub fn matching(pattern: &str, most: usize) -> Vec<String> {
    if pattern.len() > LONGEST_PATTERN {
        return vec![];
    }
    let pattern = pattern.replace(r"\Z", r"\z");
    let Some(tree) = parsed(&pattern).or_else(|| parsed(&without_looks(&pattern))) else { return vec![] };
    let mut random = Pcg64Mcg::seed_from_u64(xxh3_64(pattern.as_bytes()));
    let mut found: Vec<String> = Vec::new();
    for variant in 0..most * 2 {
        let mut text = String::new();
        // The first two texts take the shortest and the second shortest way.
        let fixed = (variant < 2).then_some(variant as u32);
        let mut way = Way { fixed, random: &mut random, steps: MOST_STEPS };
        sample(&tree, &mut way, &mut text);
        if way.steps == 0 {
            // A part of a text does not match, and other ways are hardly shorter.
            break;
        }
        if text.len() <= MAX_LENGTH && !found.contains(&text) && found.len() < most {
            found.push(text);
        }
    }
    found
}

fn parsed(pattern: &str) -> Option<Hir> {
    let mut parser: Parser = ParserBuilder::new().utf8(true).build();
    parser.parse(pattern).ok()
}

/// A pattern without its look-around groups: `(?=...)`, `(?<!...)`.
fn without_looks(pattern: &str) -> String {
    let mut out = String::new();
    let (mut rest, mut inside) = (pattern, 0_u32);
    while let Some(character) = rest.chars().next() {
        let mut length = character.len_utf8();
        if character == '\\' {
            length += rest[length..].chars().next().map_or(0, char::len_utf8);
        }
        let looks = ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|start| rest.starts_with(start));
        match character {
            '(' if looks || inside > 0 => inside += 1,
            ')' if inside > 0 => inside -= 1,
            _ if inside == 0 => out.push_str(&rest[..length]),
            _ => {}
        }
        rest = &rest[length..];
    }
    out
}

/// How choices are made: as given, or at random.
struct Way<'a> {
    fixed: Option<u32>,
    random: &'a mut Pcg64Mcg,
    /// The remaining number of parts to visit.
    steps: u32,
}

impl Way<'_> {
    fn pick(&mut self, count: usize) -> usize {
        match self.fixed {
            Some(fixed) => (fixed as usize).min(count.saturating_sub(1)),
            None => self.random.random_range(0..count.max(1)),
        }
    }
}

/// Appends one text that the pattern matches.
fn sample(pattern: &Hir, way: &mut Way<'_>, out: &mut String) {
    if out.len() > MAX_LENGTH || way.steps == 0 {
        return;
    }
    way.steps -= 1;
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(Class::Unicode(class)) => {
            let inside = |c: &char| class.iter().any(|range| range.start() <= *c && *c <= range.end());
            let mut choices: Vec<char> = COMMON.into_iter().filter(inside).collect();
            let ends = class.iter().take(8).flat_map(|range| [range.start(), range.end()]);
            choices.extend(ends.filter(|c| c.is_ascii_graphic()));
            choices.extend(class.iter().next().map(|range| range.start()).filter(|_| choices.is_empty()));
            // The lower of two picks, since common characters come first.
            let at = way.pick(choices.len()).min(way.pick(choices.len()));
            out.extend(choices.get(at));
        }
        HirKind::Class(Class::Bytes(class)) => {
            out.extend(class.iter().next().map(|range| char::from(range.start())));
        }
        HirKind::Repetition(repetition) => {
            let more = way.pick(MORE as usize + 1) as u32;
            let times = repetition.min.saturating_add(more).min(repetition.max.unwrap_or(u32::MAX));
            for _ in 0..times.min(MAX_LENGTH as u32) {
                sample(&repetition.sub, way, out);
            }
        }
        HirKind::Capture(capture) => sample(&capture.sub, way, out),
        HirKind::Concat(parts) => parts.iter().for_each(|part| sample(part, way, out)),
        HirKind::Alternation(parts) => {
            let at = way.pick(parts.len());
            if let Some(part) = parts.get(at) {
                sample(part, way, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_gives_texts_that_it_finds() {
        let texts = matching(r"^v(\d+)\.(\d{3})-(alpha|beta)$", 12);
        assert!(texts.len() > 8, "{texts:?}");
        assert!(texts.iter().all(|text| text.starts_with('v') && text.contains('.')), "{texts:?}");
        for end in ["-alpha", "-beta"] {
            assert!(texts.iter().any(|text| text.ends_with(end)), "{texts:?}");
        }
    }

    #[test]
    fn groups_that_look_are_left_out() {
        assert_eq!(without_looks(r"a(?=b(c|\)))d(?<!e)f"), "adf");
        assert!(matching(r"x(?!y)\d", 4).iter().any(|text| text.starts_with('x')));
        assert!(matching(r"(?P<a>x)(?P=a)(", 4).is_empty());
    }

    #[test]
    fn a_pattern_that_repeats_nothing_without_end_is_given_up() {
        let nested = format!("{}a?{}", "(?:".repeat(6), "){300}".repeat(6));
        assert!(matching(&nested, 12).is_empty());
        assert!(matching(&r"\w".repeat(100_000), 12).is_empty());
        assert!(matching(&r"\w".repeat(LONGEST_PATTERN / 2), 12).is_empty());
        assert!(matching(&"(".repeat(1_000), 12).is_empty());
    }

    #[test]
    fn the_same_pattern_gives_the_same_texts() {
        assert_eq!(matching(r"\w+@\w+", 12), matching(r"\w+@\w+", 12));
    }
}
