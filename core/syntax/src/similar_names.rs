//! Names that resemble one that somebody wrote and that is not there.

use strsim::jaro_winkler;

/// Names with at least this similarity are suggested.
const SIMILAR: f64 = 0.8;
/// The maximum number of names.
const SUGGESTED: usize = 3;

/// The names that resemble a name most, the best first. Those of `Cart.total` and `total` resemble each other, whatever class it is.
pub fn similar_names<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let last = |name: &str| name.rsplit('.').next().map(str::to_owned).unwrap_or_default();
    let written_last = last(written);
    let similarity = |name: &str| jaro_winkler(written, name).max(jaro_winkler(&written_last, &last(name)));
    let mut similar: Vec<(f64, &str)> = known.into_iter().map(|name| (similarity(name), name)).collect();
    similar.retain(|(similarity, _)| *similarity > SIMILAR);
    similar.sort_by(|one, other| other.0.total_cmp(&one.0));
    similar.into_iter().map(|(_, name)| name).take(SUGGESTED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_that_resemble_one_most_come_first() {
        let known = ["Cart.total", "Cart.add", "totals", "main"];
        assert_eq!(similar_names("total", known), ["Cart.total", "totals"]);
        assert_eq!(similar_names("Basket.total", known), ["Cart.total", "totals"]);
        assert_eq!(similar_names("mian", known), ["main"]);
        assert!(similar_names("zzz", known).is_empty());
        assert_eq!(similar_names("abc", ["abd", "abe", "abf", "abg"]).len(), SUGGESTED);
    }
}
