//! New texts from a given one.

use rand::{Rng, RngExt};
use rand_pcg::Pcg64;

use crate::change::Constants;

/// New texts with how promising each is.
pub fn texts(text: &str, constants: &Constants, others: &[String], random: &mut Pcg64) -> Vec<(u8, String)> {
    let mut found: Vec<(u8, String)> = Vec::new();
    let named: Vec<String> = constants.texts.iter().flat_map(|text| pieces(text)).collect();
    for (rank, piece) in named.iter().take(24).enumerate() {
        let order = if rank < 8 { 1 } else { 2 };
        found.push((order, piece.clone()));
        found.push((order, format!("{text}{piece}")));
        found.push((order + 1, format!("{piece}{text}")));
        found.push((order, format!("{text} {}", piece.trim())));
        if let Some((before, after)) = split_words(text, random) {
            found.push((order + 1, format!("{before}{piece}{after}")));
        }
        if text.contains(piece.as_str()) {
            found.push((0, text.replace(piece.as_str(), "")));
            found.push((0, text.replacen(piece.as_str(), &format!("{piece}{piece}"), 1)));
        }
    }
    words(text, random, &mut found);
    lines(text, random, &mut found);
    let alphabet = alphabet(constants);
    for _ in 0..4 {
        found.push((2, with_character(text, pick(&alphabet, random), random)));
    }
    for other in others.iter().filter(|other| *other != text).take(6) {
        found.push((3, other.clone()));
    }
    for plain in ["", " ", "/", ".", "\n", "-", "0", "\u{e9}"] {
        found.push((if plain.is_empty() { 1 } else { 4 }, plain.to_owned()));
    }
    found.push((3, text.to_uppercase()));
    found.push((4, format!(" {text} ")));
    found.push((3, format!("{text}\n")));
    found.push((3, text.trim_end().to_owned()));
    found.push((3, text.replace('\n', "\r\n")));
    let length = text.chars().count();
    if length > 0 {
        let at = random.random_range(0..length);
        found.push((3, text.chars().enumerate().filter(|(index, _)| *index != at).map(|(_, it)| it).collect()));
        let other = letter(random);
        found.push((4, text.chars().enumerate().map(|(index, it)| if index == at { other } else { it }).collect()));
        found.push((4, (0..length.min(200)).map(|_| letter(random)).collect()));
        found.push((4, text.chars().take(length / 2).collect()));
        found.push((3, format!("{text}{text}")));
    }
    found
}

/// A constant of the change as texts that may stand in an input: itself, and for a pattern or a format its plain parts.
fn pieces(text: &str) -> Vec<String> {
    let mut found = vec![text.to_owned()];
    let special = |character: char| "[](){}*+?\\|^$".contains(character);
    if text.contains(special) {
        found.extend(text.split(special).filter(|part| part.trim().len() > 1).take(4).map(str::to_owned));
    }
    found.retain(|piece| !piece.is_empty() && piece.chars().count() <= 200);
    found
}

/// Characters that the texts of a change hold beside letters, and others that often are special.
pub fn alphabet(constants: &Constants) -> Vec<char> {
    let own = constants.texts.iter().flat_map(|text| text.chars()).filter(|it| !it.is_alphanumeric());
    let mut found: Vec<char> = Vec::new();
    for character in own.chain("-'\"_./:= 1A#\u{e9}".chars()) {
        if !found.contains(&character) {
            found.push(character);
        }
    }
    found
}

fn pick(alphabet: &[char], random: &mut Pcg64) -> char {
    alphabet[random.random_range(0..alphabet.len())]
}

fn letter(random: &mut Pcg64) -> char {
    char::from(b'a' + u8::try_from(random.next_u32() % 26).unwrap_or(0))
}

fn with_character(text: &str, character: char, random: &mut Pcg64) -> String {
    let at = random.random_range(0..=text.chars().count());
    let mut characters: Vec<char> = text.chars().collect();
    characters.insert(at, character);
    characters.into_iter().collect()
}

/// A text in two, at the beginning of a word.
fn split_words<'a>(text: &'a str, random: &mut Pcg64) -> Option<(&'a str, &'a str)> {
    let starts: Vec<usize> = text.match_indices(' ').map(|(at, _)| at + 1).collect();
    (!starts.is_empty()).then(|| text.split_at(starts[random.random_range(0..starts.len())]))
}

/// Words are dropped, repeated and moved.
fn words(text: &str, random: &mut Pcg64, found: &mut Vec<(u8, String)>) {
    if text.contains('\n') {
        return;
    }
    let words: Vec<&str> = text.split(' ').collect();
    if words.len() < 2 {
        return;
    }
    for at in (0..words.len()).take(8) {
        let mut fewer = words.clone();
        fewer.remove(at);
        found.push((1, fewer.join(" ")));
    }
    let at = random.random_range(0..words.len());
    let mut more = words.clone();
    more.insert(at, words[at]);
    found.push((2, more.join(" ")));
    let mut moved = words.clone();
    moved.swap(0, words.len() - 1);
    found.push((2, moved.join(" ")));
    let mut option = words.clone();
    option.insert(1, "-s");
    found.push((2, option.join(" ")));
}

/// Lines are dropped and repeated.
fn lines(text: &str, random: &mut Pcg64, found: &mut Vec<(u8, String)>) {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.len() < 2 {
        return;
    }
    let at = random.random_range(0..lines.len());
    let mut fewer = lines.clone();
    fewer.remove(at);
    found.push((2, fewer.concat()));
    found.push((2, lines[0].to_owned()));
    found.push((2, lines[1..].concat()));
    found.push((2, lines[..lines.len() - 1].concat()));
    let mut more = lines.clone();
    more.insert(at, lines[at]);
    found.push((3, more.concat()));
}
