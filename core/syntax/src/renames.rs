//! Finds locals and parameters that were renamed in the new version.

use std::collections::BTreeMap;
use std::hash::Hash;

use super::align::{Sink, align, rehash};
use super::labels::Label;
use super::normalize::Node;

/// The renamed names as (name in new, name in old), by position in the aligned trees.
///
/// The trees are aligned with all locals treated as equal, and each place where two names meet is a vote. For a rename,
/// the old name must be gone, and the new one must not have existed before. The pair needs more than half of the votes
/// of both names, and votes from more than half of the places of the old name. Parameters need no votes if each of the
/// others kept its place and name or was renamed in this way.
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
    let may_be = |was: &str, is: &str| {
        let in_old = (old_names.contains_key(was), old_names.contains_key(is));
        let in_new = (new_names.contains_key(was), new_names.contains_key(is));
        in_old == (true, false) && in_new == (false, true)
    };
    let mut renames: Vec<(String, String)> = Vec::new();
    let (old_parameters, new_parameters) = (parameters(old), parameters(new));
    let places = || old_parameters.iter().zip(&new_parameters);
    if old_parameters.len() == new_parameters.len() && places().all(|(was, is)| was == is || may_be(was, is)) {
        renames.extend(places().filter(|(was, is)| was != is).map(|(was, is)| (is.clone(), was.clone())));
    }
    for ((was, is), count) in &votes.pairs {
        let places = |votes: &BTreeMap<String, usize>, name: &String| votes.get(name).copied().unwrap_or(0);
        if may_be(was, is)
            && count * 2 > places(&votes.old, was)
            && count * 2 > places(&votes.new, is)
            && count * 2 > places(&old_names, was)
            && !renames.iter().any(|(new, old)| new == is || old == was)
        {
            renames.push((is.clone(), was.clone()));
        }
    }
    renames
}

/// The function's own parameters, without those that keep their names for a reason.
fn parameters(function: &Node) -> Vec<String> {
    let list = function.children.iter().find(|child| child.label == Label::Kind("Parameters".into()));
    let names = list.into_iter().flat_map(|list| &list.children).map(|parameter| match &parameter.label {
        Label::Local { name, .. } => name.clone(),
        Label::Kind(text) | Label::Text(text) | Label::Attribute(text) => text.clone(),
    });
    names.collect()
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

/// Locals, and how often each occurs in the tree.
fn names(node: &Node) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    let mut left = vec![node];
    while let Some(node) = left.pop() {
        if let Label::Local { name, .. } = &node.label {
            *found.entry(name.clone()).or_default() += 1;
        }
        left.extend(&node.children);
    }
    found
}
