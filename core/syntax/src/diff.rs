//! The structural difference of two functions.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash};

use similar::{Algorithm, capture_diff_slices};

use super::align::{Sink, align, rehash};
use super::attributes::{mark_attributes, own_object};
use super::labels::Label;
use super::normalize::{Node, normalize};
use super::parse::with_stack_for;
use super::renames::renames;
use super::{Diff, Function};
use crate::{AlignedRow, PerSide};

/// Maximum product of the numbers of lines of two texts in which the same lines are searched for, whatever else is too
/// large: that takes a fraction of a second.
const ROWS_LIMIT: usize = 16_000_000;

/// The structural difference of a pair.
///
/// These make no difference: comments, docstrings, annotations, decorators of the function, parentheses, the notation
/// of literals, and consistent renamings of locals and parameters. Names of locals do matter in a function that can see
/// them (`locals()`, `vars()`, `dir()`, `eval`, `exec`), and names of parameters do in one that passes them to itself
/// by keyword. Where a text does not parse, lines are compared.
pub fn diff(old: &Function, new: &Function) -> Diff {
    diff_renamed(old, new, &[])
}

/// Like [`diff`], but takes the renamed attributes of the methods' own object into account: (new, old).
pub fn diff_renamed(old: &Function, new: &Function, attributes: &[(String, String)]) -> Diff {
    with_stack_for(old.text.len() + new.text.len(), || {
        let rows = rows(&old.text, &new.text);
        match (normalize(old), normalize(new)) {
            (Some(mut old_tree), Some(mut new_tree)) => {
                if !attributes.is_empty() {
                    mark_attributes(&mut old_tree, &own_object(old), &[]);
                    mark_attributes(&mut new_tree, &own_object(new), attributes);
                }
                structural(old_tree, new_tree, rows)
            }
            _ => textual(old, new, rows),
        }
    })
}

/// The difference of two functions that are too large to be aligned: whether they are the same program, and their lines
/// side by side; if there are too many, as far as this needs no search. Consistent renamings of locals are found, as long
/// as nothing else differs; which lines differ is not.
pub fn unaligned_diff(old: &Function, new: &Function) -> Diff {
    with_stack_for(old.text.len() + new.text.len(), || {
        let lines = |function: &Function| function.text.lines().count();
        let rows = match lines(old).saturating_mul(lines(new)) <= ROWS_LIMIT {
            true => rows(&old.text, &new.text),
            false => unaligned_rows(&old.text, &new.text),
        };
        let mut trees = (normalize(old), normalize(new));
        let renames = match &mut trees {
            (Some(old), Some(new)) => {
                rehash(old, &exact);
                rehash(new, &exact);
                (old.hash == new.hash).then(|| renames(old, new))
            }
            _ => (old.text == new.text).then(Vec::new),
        };
        Diff { identical: renames.is_some(), rows, renames: renames.unwrap_or_default(), ..Diff::default() }
    })
}

/// Locals by their places, whatever they are called.
fn exact(label: &Label, hasher: &mut DefaultHasher) {
    match label {
        Label::Local { scope, number, .. } => (scope, number).hash(hasher),
        other => other.hash(hasher),
    }
}

/// Whether both are the same program with the same names. They may differ in comments, docstrings, annotations,
/// decorators of the function, or notation. Texts that do not parse are compared as they are.
pub fn same_tree(old: &Function, new: &Function) -> bool {
    let named = |label: &Label, hasher: &mut DefaultHasher| match label {
        Label::Local { name, .. } => (1_u8, name).hash(hasher),
        other => other.hash(hasher),
    };
    old.text == new.text
        || with_stack_for(old.text.len() + new.text.len(), || match (normalize(old), normalize(new)) {
            (Some(mut old), Some(mut new)) => {
                rehash(&mut old, &named);
                rehash(&mut new, &named);
                old.hash == new.hash
            }
            _ => false,
        })
}

fn structural(mut old: Node, mut new: Node, rows: Vec<AlignedRow>) -> Diff {
    let renames = renames(&mut old, &mut new);
    rehash(&mut old, &exact);
    rehash(&mut new, &exact);
    if old.hash == new.hash {
        return Diff { identical: true, rows, renames, ..Diff::default() };
    }
    let as_old: BTreeMap<&str, &str> = renames.iter().map(|(is, was)| (is.as_str(), was.as_str())).collect();
    let named = |label: &Label, hasher: &mut DefaultHasher| match label {
        Label::Local { name, .. } => (1_u8, name).hash(hasher),
        other => other.hash(hasher),
    };
    let renamed = |label: &Label, hasher: &mut DefaultHasher| match label {
        Label::Local { name, .. } => (1_u8, as_old.get(name.as_str()).copied().unwrap_or(name)).hash(hasher),
        other => other.hash(hasher),
    };
    rehash(&mut old, &named);
    rehash(&mut new, &renamed);
    let mut changed = Changed::default();
    align(&old, &new, &mut changed);
    Diff { identical: false, lines: changed.0.map(|lines| lines.into_iter().collect()), rows, renames }
}

#[derive(Default)]
struct Changed(PerSide<BTreeSet<u32>>);

impl Sink for Changed {
    fn same(&mut self, _old: &Node, _new: &Node) {}

    fn differ(&mut self, old: Option<&Node>, new: Option<&Node>) {
        for (node, lines) in [old, new].into_iter().zip(self.0.iter_mut()) {
            if let Some(node) = node {
                lines.extend(node.lines.0..=node.lines.1);
            }
        }
    }
}

/// Compares texts that do not parse.
fn textual(old: &Function, new: &Function, rows: Vec<AlignedRow>) -> Diff {
    let (old_text, new_text): (Vec<&str>, Vec<&str>) = (old.text.lines().collect(), new.text.lines().collect());
    let mut lines = PerSide::<Vec<u32>>::default();
    for row in &rows {
        let ours = row.old.and_then(|line| old_text.get(line as usize));
        let theirs = row.new.and_then(|line| new_text.get(line as usize));
        if ours != theirs {
            lines.old.extend(row.old.map(|line| line + 1));
            lines.new.extend(row.new.map(|line| line + 1));
        }
    }
    Diff { identical: old.text == new.text, lines, rows, renames: Vec::new() }
}

/// Puts lines side by side: the same ones, but for blanks at their ends, and between them those that replace each other,
/// beginning with the first.
pub fn rows(old: &str, new: &str) -> Vec<AlignedRow> {
    let lines = |text| str::lines(text).map(str::trim_end).collect::<Vec<_>>();
    let (old, new) = (lines(old), lines(new));
    let mut rows = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let (old_range, new_range) = (op.old_range(), op.new_range());
        for offset in 0..old_range.len().max(new_range.len()) {
            let at = |range: &std::ops::Range<usize>| {
                (offset < range.len()).then(|| u32::try_from(range.start + offset).unwrap_or(u32::MAX))
            };
            rows.push(AlignedRow { old: at(&old_range), new: at(&new_range) });
        }
    }
    rows
}

/// Puts lines side by side that are the same from the beginning or from the end, and the others in their order.
fn unaligned_rows(old: &str, new: &str) -> Vec<AlignedRow> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let shorter = old.len().min(new.len());
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let after =
        old.iter().rev().zip(new.iter().rev()).take(shorter - before).take_while(|(old, new)| old == new).count();
    let longest = old.len().max(new.len());
    let line = |at: usize, count: usize| (at < count).then(|| u32::try_from(at).unwrap_or(u32::MAX));
    let first = (0..longest - after)
        .map(|at| AlignedRow { old: line(at, old.len() - after), new: line(at, new.len() - after) });
    let last = (0..after).map(|at| AlignedRow {
        old: line(old.len() - after + at, old.len()),
        new: line(new.len() - after + at, new.len()),
    });
    first.chain(last).collect()
}

#[cfg(test)]
mod tests {
    use super::super::functions;
    use super::*;

    fn numbers(rows: &[AlignedRow]) -> Vec<(Option<u32>, Option<u32>)> {
        rows.iter().map(|row| (row.old, row.new)).collect()
    }

    #[test]
    fn too_many_lines_are_put_side_by_side_from_both_ends() {
        let found = unaligned_rows("a\nb\nc\nz\n", "a\nx\nb\nz\n");
        let expected = [(Some(0), Some(0)), (Some(1), Some(1)), (Some(2), Some(2)), (Some(3), Some(3))];
        assert_eq!(numbers(&found), expected);
        assert_eq!(numbers(&unaligned_rows("a\n", "a\nb\n")), [(Some(0), Some(0)), (None, Some(1))]);
    }

    #[test]
    fn lines_are_the_same_but_for_blanks_at_their_ends() {
        let found = rows("a \n\nb\nc", "a\nx\n  \nb\nc\n");
        let expected =
            [(Some(0), Some(0)), (None, Some(1)), (Some(1), Some(2)), (Some(2), Some(3)), (Some(3), Some(4))];
        assert_eq!(numbers(&found), expected);
        assert_eq!(rows("", ""), []);
    }

    #[test]
    fn functions_that_are_not_aligned_are_the_same_program_or_not() {
        let only = |text: &str| functions(text).0.remove(0);
        let old = only("def f(a):\n    x = a\n    y = 1\n    return x + y\n");
        let renamed = unaligned_diff(&old, &only("def f(a):\n    z = a # named\n    y = 1\n    return z + y\n"));
        assert!(renamed.identical && renamed.renames == [("z".to_string(), "x".to_string())]);
        let other = unaligned_diff(&old, &only("def f(a):\n    x = a\n    y = 2\n    x += 1\n    return x + y\n"));
        assert!(!other.identical && other.lines == PerSide::default() && other.renames.is_empty());
        let expected =
            [(Some(0), Some(0)), (Some(1), Some(1)), (Some(2), Some(2)), (None, Some(3)), (Some(3), Some(4))];
        assert_eq!(numbers(&other.rows), expected);
        assert!(!unaligned_diff(&old, &only("def f(a):\n    return (\n")).identical);
    }

    #[test]
    fn a_tree_is_the_same_whatever_is_no_code_and_another_where_a_local_is_renamed() {
        let only = |text: &str| functions(text).0.remove(0);
        let old = only("def f(a, b=1):\n    x = a + b\n    return x\n");
        let same = only(
            "@cache\ndef f(a: int, b = (1)) -> int:\n    \"\"\"Adds.\"\"\"\n    x: int = a+b # here\n    return x\n",
        );
        assert!(same_tree(&old, &same));
        for other in ["def f(a, b=2):\n    x = a + b\n    return x\n", "def f(a, b=1):\n    y = a + b\n    return y\n"]
        {
            assert!(!same_tree(&old, &only(other)), "{other}");
        }
        assert!(!same_tree(&old, &only("def f(a, b=1):\n    return (\n")));
    }
}
