//! Locals and parameters that have another name in the new version.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

use super::align::{Sink, align, rehash};
use super::normalize::{Label, Node};

/// (name in new, name in old), by position in the aligned trees.
///
/// The trees are aligned with all locals taken for equal; each place where two names meet is a vote. A rename needs
/// more than half of the votes of both names, and that the old name is gone and the new one was not there.
pub(super) fn renames(old: &mut Node, new: &mut Node) -> Vec<(String, String)> {
    let shape = |label: &Label, hasher: &mut std::hash::DefaultHasher| match label {
        Label::Local { .. } => 0_u8.hash(hasher),
        other => other.hash(hasher),
    };
    rehash(old, &shape);
    rehash(new, &shape);
    let mut votes = Votes::default();
    align(old, new, &mut votes);

    let (old_names, new_names) = (names(old), names(new));
    let mut renames: Vec<(String, String)> = Vec::new();
    for ((was, is), count) in &votes.pairs {
        let is_rename = was != is
            && !new_names.contains(was)
            && !old_names.contains(is)
            && count * 2 > votes.old.get(was).copied().unwrap_or(0)
            && count * 2 > votes.new.get(is).copied().unwrap_or(0);
        if is_rename {
            renames.push((is.clone(), was.clone()));
        }
    }
    renames
}

#[derive(Default)]
struct Votes {
    pairs: BTreeMap<(String, String), usize>,
    old: BTreeMap<String, usize>,
    new: BTreeMap<String, usize>,
}

impl Sink for Votes {
    fn same(&mut self, old: &Node, new: &Node) {
        if let (Label::Local { name: was, .. }, Label::Local { name: is, .. }) = (&old.label, &new.label) {
            *self.pairs.entry((was.clone(), is.clone())).or_default() += 1;
            *self.old.entry(was.clone()).or_default() += 1;
            *self.new.entry(is.clone()).or_default() += 1;
        }
        for (old, new) in old.children.iter().zip(&new.children) {
            self.same(old, new);
        }
    }

    fn differ(&mut self, _old: Option<&Node>, _new: Option<&Node>) {}
}

fn names(node: &Node) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = vec![node];
    while let Some(node) = left.pop() {
        if let Label::Local { name, .. } = &node.label {
            found.insert(name.clone());
        }
        left.extend(&node.children);
    }
    found
}
