//! A prefix as what it changes in another one that is shown before it. Most of them differ in a few values.

use similar::{ChangeTag, TextDiff};

use twincell_prefix::Prefixes;

use crate::plain;

/// The maximum number of lines of two prefixes that are compared.
const COMPARED: usize = 400;

/// What a prefix changes in another one.
pub(crate) struct Difference {
    /// The number of the other one.
    pub(crate) of: usize,
    /// The lines that only one of them has, each behind `-` or `+` and a space.
    pub(crate) lines: Vec<String>,
}

/// What one of the prefixes that people see, by its position among them, changes in the nearest one before it. `None` if
/// the whole is not much longer.
pub(crate) fn difference(prefixes: &Prefixes, kept: &[usize], position: usize) -> Option<Difference> {
    let text = &prefixes.nodes[*kept.get(position)?].text;
    let count = text.lines().count();
    let changed = |other: usize| {
        let before = &prefixes.nodes[other].text;
        if before.lines().count().max(count) > COMPARED {
            return None;
        }
        let diff = TextDiff::from_lines(before, text);
        let lines: Vec<String> = diff
            .iter_all_changes()
            .filter_map(|change| {
                let sign = match change.tag() {
                    ChangeTag::Equal => return None,
                    ChangeTag::Insert => '+',
                    ChangeTag::Delete => '-',
                };
                let line = plain::code(change.value().trim_end());
                (!line.is_empty()).then(|| format!("{sign} {line}"))
            })
            .collect();
        Some(Difference { of: other, lines })
    };
    let nearest = kept[..position].iter().filter_map(|&other| changed(other)).min_by_key(|found| found.lines.len())?;
    (!nearest.lines.is_empty() && 2 * nearest.lines.len() < count).then_some(nearest)
}
