//! Access paths as texts: bounding them, and the name at their end.

use twincell_values::value::{MAX_PATH, cut_at};

/// `c` for `a.b.c`; empty if the path ends differently.
pub(crate) fn last_identifier(path: &str) -> &str {
    let start = path.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    &path[start..]
}

/// Cuts a path at the bound, so that paths of paths do not grow without end.
pub(crate) fn bounded(path: String) -> String {
    cut_at(path, MAX_PATH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_is_cut_and_stays_another_one() {
        let long = |last: &str| bounded(format!("x{}{last}", ".next".repeat(1000)));
        assert_eq!(long("").len(), long(".a").len());
        assert_ne!(long(""), long(".a"));
        assert!(long("").len() <= MAX_PATH);
    }
}
