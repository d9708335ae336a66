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

/// The part behind the last cut; all of a text that is not cut.
pub fn behind_cut(text: &str) -> &str {
    let marked = text.rsplit_once(MARK).and_then(|(_, rest)| rest.split_at_checked(DIGITS));
    marked.filter(|(hash, _)| hash.bytes().all(|byte| byte.is_ascii_hexdigit())).map_or(text, |(_, behind)| behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_has_its_bound_and_says_where_the_cut_is() {
        let long = |last: &str| cut_at(format!("{}{last}", "größe.".repeat(50)), 80);
        assert!(long("a").len() <= 80 && long("a") != long("b"));
        assert_eq!(cut_at("x".repeat(80), 80), "x".repeat(80));
        assert_eq!(behind_cut(&format!("open({}).close", long("a"))), ").close");
        for whole in ["open(x).close", "(~x)", "~0123456789abcdeg", "~é"] {
            assert_eq!(behind_cut(whole), whole);
        }
    }
}
