//! Texts and bytes that suit their uses in the code: numbers where the code reads a number, fields where it splits, and texts
//! that a method treats differently from its neighbours (`lower` and `casefold`, `isdigit` and `isdecimal`).

use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Pools;
use crate::reading::Uses;
use crate::value::Recipe;

/// How often a text has the form that the code reads: a number, or fields between separators.
const READABLE: f64 = 0.7;
/// How often a text is one that a method in the code treats specially.
const CORNER: f64 = 0.35;
/// Maximum number of fields into which a text is split, minus one.
const FIELDS: [f64; 4] = [0.2, 0.35, 0.3, 0.15];

/// Texts of numbers besides the plain ones: signs, blanks, fractions, leading zeros, digits that are not ASCII.
const NUMBERS: [&str; 10] = ["0", "12", "1.5", "-7", "+3", " 7 ", "007", "1e3", "1_000", "\u{663}"];

/// Text around and between matches of a pattern.
const AROUND: [&str; 8] = [" ", "a", "1", "-", ", ", "\n", "x ", "."];

/// Methods, with texts that distinguish them from others.
const CORNERS: [(&[&str], &[&str]); 11] = [
    (&["lower", "casefold", "upper", "swapcase"], &["aA", "\u{df}", "ss", "SS", "A"]),
    (&["isdigit", "isdecimal", "isnumeric"], &["\u{b2}", "7", "\u{663}", "\u{bd}", "-1", "1.5"]),
    (&["isalpha", "isalnum", "isidentifier", "isascii"], &["\u{e9}", "a1", "1a", "_", "a b", "\u{b2}"]),
    (&["isspace", "strip", "lstrip", "rstrip"], &[" ", " a ", "\ta\n", "\u{a0}", "a  b"]),
    (&["split", "rsplit"], &["a b", " a  b ", "a,b", "a\tb\n"]),
    (&["splitlines", "readlines"], &["a\nb", "a\r\nb", "a\n", "\n", "a\u{b}b"]),
    (&["title", "capitalize", "istitle", "isupper", "islower"], &["they're", "aB", "A b", "1a", "Ab"]),
    (&["expandtabs", "center", "ljust", "rjust", "zfill"], &["a\tb", "-1", "+1", "abc"]),
    (&["format", "format_map"], &["{}", "{0}", "{a}", "{{}}"]),
    (&["encode", "translate"], &["\u{e9}", "\u{20ac}", "a", ".a"]),
    (&["partition", "rpartition", "find", "rfind", "index", "rindex", "count", "replace"], &["aab", "aba", "ab", "aa"]),
];
/// Texts whose characters are examined one by one, so that their number and order matter.
const REPEATING: [&str; 6] = ["aab", "abb", "aba", "ba", "aa", "ab"];

/// A few letters from which all texts of an execution are made. Such texts have something in common, which
/// independently drawn texts seldom do (the idea of swarm testing: Groce et al., ISSTA 2012).
const LETTERS: [&str; 5] = ["ab", "aA", "s\u{df}S", "a ", "01."];
/// One execution in this many uses such letters.
const WITH_LETTERS: u64 = 8;

/// The first line of a text, with its end; what is no text is an empty line.
pub(super) fn line(value: &Recipe) -> Recipe {
    let text = match value {
        Recipe::Str(text) => text.as_str(),
        _ => "",
    };
    let first = text.split(['\n', '\r']).next().unwrap_or_default();
    Recipe::Str(format!("{first}\n"))
}

/// The letters of the execution with this seed, if it has any.
pub(super) fn letters(seed: u64) -> Option<&'static str> {
    let own = xxh3_64_with_seed(b"letters", seed);
    own.is_multiple_of(WITH_LETTERS).then(|| LETTERS[(own / WITH_LETTERS) as usize % LETTERS.len()])
}

/// A text for a value with these uses.
pub(super) fn text(random: &mut Pcg64Mcg, pools: &Pools, uses: &Uses, letters: Option<&str>) -> String {
    if !uses.matching.is_empty() && random.random_bool(READABLE) {
        return found(random, &uses.matching);
    }
    if uses.affixed && random.random_bool(READABLE) {
        return affixed(random, pools);
    }
    if uses.numeric && random.random_bool(READABLE) {
        return number(random, pools);
    }
    if let (Some(fields), false) = (&uses.fields, uses.separators.is_empty())
        && random.random_bool(READABLE)
    {
        return split(random, pools, &uses.separators, fields);
    }
    let corners = corners(uses);
    if let (Some(letters), false) = (letters, corners.is_empty())
        && random.random_bool(READABLE)
    {
        let letters: Vec<char> = letters.chars().collect();
        return (0..random.random_range(1..5)).map(|_| letters[random.random_range(0..letters.len())]).collect();
    }
    if !corners.is_empty() && random.random_bool(CORNER) {
        return corners[random.random_range(0..corners.len())].to_string();
    }
    pools.text(random)
}

/// Bytes for a value with these uses: the encoding of a text of the form that the code reads, or others.
pub(super) fn bytes(random: &mut Pcg64Mcg, pools: &Pools, uses: &Uses, letters: Option<&str>) -> Vec<u8> {
    let splits = uses.fields.is_some() && !uses.separators.is_empty();
    let is_read = splits || uses.numeric || uses.affixed || !uses.matching.is_empty();
    if is_read && random.random_bool(READABLE) {
        return text(random, pools, uses, letters).into_bytes();
    }
    pools.some_bytes(random)
}

/// A text that a pattern finds: as it is, among other text, or changed in one place so that it may not match.
fn found(random: &mut Pcg64Mcg, texts: &[String]) -> String {
    let one = texts[random.random_range(0..texts.len())].clone();
    let other = &texts[random.random_range(0..texts.len())];
    let around = AROUND[random.random_range(0..AROUND.len())];
    match random.random_range(0..10) {
        0 => format!("{around}{one}"),
        1 => format!("{one}{around}"),
        2 | 3 => format!("{one}{around}{other}"),
        4 if one.chars().nth(1).is_some() => {
            let mut characters: Vec<char> = one.chars().collect();
            characters.remove(random.random_range(0..characters.len()));
            characters.into_iter().collect()
        }
        5 => related(random, &one),
        _ => one,
    }
}

/// A number with a text before or after it: `1g`, `v2`.
fn affixed(random: &mut Pcg64Mcg, pools: &Pools) -> String {
    let number = if random.random_bool(0.5) { random.random_range(0..12) } else { pools.int(random).unsigned_abs() };
    let affix = pools.literal(random);
    match random.random_range(0..8) {
        0 => number.to_string(),
        1 => format!("{affix}{number}"),
        2 => format!("{number} {affix}"),
        _ => format!("{number}{affix}"),
    }
}

/// The text of a number.
fn number(random: &mut Pcg64Mcg, pools: &Pools) -> String {
    if random.random_bool(0.3) {
        return NUMBERS[random.random_range(0..NUMBERS.len())].to_string();
    }
    pools.int(random).to_string()
}

/// How often a field that the code takes for a number is none.
const FIELD_WITHOUT_NUMBER: f64 = 0.1;

/// Fields between separators, each as the code uses it: `1.2.3`.
fn split(random: &mut Pcg64Mcg, pools: &Pools, separators: &[String], fields: &Uses) -> String {
    let separator = &separators[random.random_range(0..separators.len())];
    let count = match fields.unpacked {
        Some(count) if random.random_bool(0.9) => usize::from(count),
        _ => 1 + super::draw::pick_weighted(random, FIELDS.into_iter()),
    };
    let fields: Vec<String> = (0..count)
        .map(|index| match fields.parts.get(index).or(fields.element.as_deref()) {
            Some(field) if field.numeric && random.random_bool(FIELD_WITHOUT_NUMBER) => pools.text(random),
            Some(field) if field.numeric && random.random_bool(0.5) => random.random_range(0..12).to_string(),
            Some(field) if field.numeric && random.random_bool(0.8) => pools.int(random).unsigned_abs().to_string(),
            Some(field) => text(random, pools, field, None),
            None => pools.text(random),
        })
        .collect();
    fields.join(separator)
}

/// Texts that operations of the code treat specially.
fn corners(uses: &Uses) -> Vec<&'static str> {
    let mut found: Vec<&str> = Vec::new();
    for (methods, texts) in CORNERS {
        if uses.attributes.iter().any(|name| methods.contains(&name.as_str())) {
            found.extend(texts);
        }
    }
    if uses.iterated || !uses.keys.is_empty() {
        found.extend(REPEATING);
    }
    found
}

/// The text with every second letter in the other case.
pub(super) fn mixed_case(text: &str) -> String {
    let mut upper = true;
    text.chars()
        .flat_map(|character| {
            upper = !upper;
            if upper { character.to_uppercase().collect::<Vec<_>>() } else { character.to_lowercase().collect() }
        })
        .collect()
}

/// A text related to another: the same, in another case, reversed, or with one of its own characters replaced by
/// another.
pub fn related(random: &mut Pcg64Mcg, other: &str) -> String {
    let characters: Vec<char> = other.chars().collect();
    match random.random_range(0..9) {
        0 => other.to_uppercase(),
        1 => other.to_lowercase().replace('\u{df}', "ss"),
        2 => mixed_case(other),
        3 => characters.iter().rev().collect(),
        4 => format!("{other}{other}"),
        5 | 8 if characters.len() > 1 => {
            let (to, from) = (random.random_range(0..characters.len()), random.random_range(0..characters.len()));
            let mut characters = characters;
            characters[to] = characters[from];
            characters.into_iter().collect()
        }
        6 => other.split_whitespace().collect::<Vec<_>>().join(" "),
        _ => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn drawn(uses: &Uses) -> Vec<String> {
        let pools = Pools::default();
        (0..400).map(|seed| text(&mut Pcg64Mcg::seed_from_u64(seed), &pools, uses, None)).collect()
    }

    #[test]
    fn a_text_that_is_split_into_numbers_looks_like_a_version() {
        let field = Uses { numeric: true, ..Uses::default() };
        let fields = Uses { element: Some(Box::new(field)), ..Uses::default() };
        let uses = Uses { fields: Some(Box::new(fields)), separators: vec![".".into()], ..Uses::default() };
        let readable =
            drawn(&uses).iter().filter(|text| text.split('.').all(|part| part.parse::<u32>().is_ok())).count();
        assert!(readable > 150, "{readable}");
    }

    #[test]
    fn what_a_method_treats_specially_is_drawn_beside_the_usual() {
        let uses = Uses { attributes: vec!["isdecimal".into()], ..Uses::default() };
        let texts = drawn(&uses);
        assert!(texts.iter().any(|text| text == "\u{b2}"));
        assert!(texts.iter().filter(|text| *text == "a" || text.is_empty()).count() > 150);
    }

    #[test]
    fn a_related_text_may_be_the_same_but_for_one_character() {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let texts: Vec<String> = (0..2000).map(|_| related(&mut random, "aab")).collect();
        for wanted in ["aab", "abb", "AAB", "baa", "aabaab"] {
            assert!(texts.iter().any(|text| text == wanted), "{wanted}");
        }
    }
}
