//! Access paths and other texts that are cut at a bound, so that paths of paths do not grow without end.

use xxhash_rust::xxh3::xxh3_64;

/// Longest access path, in bytes.
pub const MAX_PATH: usize = 160;
/// What the arguments of a call take of it at most: they leave room for what is done with the call's value.
pub const MAX_ARGUMENTS: usize = MAX_PATH / 2;

/// What tells of what is cut off: a mark, and a hash of the whole in so many hexadecimal digits.
const MARK: char = '~';
const DIGITS: usize = 16;

/// The text, cut if it is longer than `most` bytes; two texts that differ behind the cut still differ.
pub fn cut_at(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let room = most.saturating_sub(MARK.len_utf8() + DIGITS);
    let cut = (0..=room).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    format!("{}{MARK}{:0DIGITS$x}", &text[..cut], xxh3_64(text.as_bytes()))
}

/// How long a cut mark is with its hash.
pub(super) const MARK_LENGTH: usize = MARK.len_utf8() + DIGITS;

/// Whether this text starts with a cut.
pub(super) fn starts_with_mark(text: &str) -> bool {
    let hash = text.strip_prefix(MARK).and_then(|rest| rest.as_bytes().get(..DIGITS));
    hash.is_some_and(|hash| hash.iter().all(u8::is_ascii_hexdigit))
}

/// The text for people, with an ellipsis for each part that is cut off.
pub(super) fn with_ellipses(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        let (before, behind) = rest.split_at(at);
        let (shown, length) = if starts_with_mark(behind) { ('…', MARK_LENGTH) } else { (MARK, MARK.len_utf8()) };
        told.push_str(before);
        told.push(shown);
        rest = &behind[length..];
    }
    told + rest
}

/// A path cut at the bound.
pub fn bounded(path: String) -> String {
    cut_at(path, MAX_PATH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_has_its_bound_and_says_where_the_cut_is() {
        let long = |last: &str| cut_at(format!("{}{last}", "größe.".repeat(50)), 80);
        assert!(long("a").len() <= 80 && long("a") != long("b"));
        assert_eq!(cut_at("x".repeat(80), 80), "x".repeat(80));
        let mark = long("a").find(MARK).unwrap();
        assert!(starts_with_mark(&long("a")[mark..]) && long("a").len() == mark + MARK_LENGTH);
        for whole in ["~x", "~0123456789abcdeg", "~é", "", "0123456789abcdef"] {
            assert!(!starts_with_mark(whole), "{whole}");
        }
    }

    #[test]
    fn people_see_an_ellipsis_for_what_is_cut_off() {
        let path = format!("f({}).x", cut_at("größe ~ ".repeat(20), 40));
        let told = with_ellipses(&path);
        assert!(told.starts_with("f(größe ~ ") && told.ends_with("…).x"), "{told}");
        assert_eq!(with_ellipses("~x"), "~x");
    }

    #[test]
    fn a_long_path_is_cut_and_stays_another_one() {
        let long = |last: &str| bounded(format!("x{}{last}", ".next".repeat(1000)));
        assert_eq!(long("").len(), long(".a").len());
        assert_ne!(long(""), long(".a"));
        assert!(long("").len() <= MAX_PATH);
    }
}
