//! Texts that a condition on a regular expression wants.

use twincell_values::value::matching as finding;

/// The maximum number of proposed texts for a pattern.
const PROPOSED: usize = 3;

/// Texts that a pattern of Python's `re` matches, or texts that it does not match.
pub(in super::super) fn matching(pattern: &str, wanted: bool) -> Vec<String> {
    if wanted { finding(pattern, PROPOSED) } else { vec!["~".into(), String::new()] }
}
