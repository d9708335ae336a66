//! Texts that a condition on a regular expression wants.

use twincell_values::value::matching as finding;

/// So many texts of a pattern are proposed.
const PROPOSED: usize = 3;

/// Texts that a pattern of Python's `re` finds; or texts that it does not.
pub(in super::super) fn matching(pattern: &str, wanted: bool) -> Vec<String> {
    if wanted { finding(pattern, PROPOSED) } else { vec!["~".into(), String::new()] }
}
