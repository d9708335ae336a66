//! Finds attributes of a class's objects that were renamed in the new version.
//!
//! Only private attributes count, since others are visible from outside. The search works as for locals (`renames.rs`):
//! the methods of both classes are aligned with all attributes of `self` treated as equal, and each place where two
//! names meet is a vote.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash};

use super::Function;
use super::align::{Sink, align, rehash};
use super::labels::Label;
use super::normalize::{Node, normalize};
use super::parse::with_stack_for;

/// The renamed private attributes as (name in new, name in old), from the methods of both versions of one class.
pub fn attribute_renames(old: &[&Function], new: &[&Function]) -> Vec<(String, String)> {
    let length = old.iter().chain(new).map(|function| function.text.len()).max().unwrap_or(0);
    with_stack_for(length * 2, || find(old, new))
}

/// The private attributes of its own object that a method names.
pub fn private_attributes(method: &Function) -> BTreeSet<String> {
    attributes(method).into_iter().filter(|name| is_private(name)).collect()
}

/// The attributes of its own object that a method names.
pub(super) fn attributes(method: &Function) -> BTreeSet<String> {
    with_stack_for(method.text.len(), || {
        let mut names = BTreeMap::new();
        if let Some(mut tree) = normalize(method) {
            mark_attributes(&mut tree, &own_object(method), &[]);
            count(&tree, &mut names);
        }
        names.into_keys().collect()
    })
}

fn find(old: &[&Function], new: &[&Function]) -> Vec<(String, String)> {
    let trees = |methods: &[&Function]| -> Vec<(String, Node)> {
        let tree = |method: &&Function| {
            let mut tree = normalize(method)?;
            mark_attributes(&mut tree, &own_object(method), &[]);
            let shape = |label: &Label, hasher: &mut DefaultHasher| match label {
                Label::Local { .. } => 0_u8.hash(hasher),
                Label::Attribute(_) => 1_u8.hash(hasher),
                other => other.hash(hasher),
            };
            rehash(&mut tree, &shape);
            Some((method.name.clone(), tree))
        };
        methods.iter().filter_map(tree).collect()
    };
    let (old_trees, new_trees) = (trees(old), trees(new));
    let (mut old_names, mut new_names) = (BTreeMap::new(), BTreeMap::new());
    old_trees.iter().for_each(|(_, tree)| count(tree, &mut old_names));
    new_trees.iter().for_each(|(_, tree)| count(tree, &mut new_names));
    let is_method = |name: &str| old.iter().chain(new).any(|method| method.name == name);
    let mut votes = Votes::default();
    for (name, tree) in &old_trees {
        if let Some((_, other)) = new_trees.iter().find(|(other, _)| other == name) {
            align(tree, other, &mut votes);
        }
    }
    let mut renames: Vec<(String, String)> = Vec::new();
    for ((was, is), &times) in &votes.0 {
        let may_be = is_private(was) && is_private(is) && !is_method(was) && !is_method(is);
        let gone = !new_names.contains_key(was) && !old_names.contains_key(is);
        let most = times * 2 > old_names.get(was).copied().unwrap_or(0);
        if may_be && gone && most && !renames.iter().any(|(new, old)| new == is || old == was) {
            renames.push((is.clone(), was.clone()));
        }
    }
    renames
}

/// The name begins with an underscore and does not end with two.
pub(super) fn is_private(name: &str) -> bool {
    name.starts_with('_') && !name.ends_with("__")
}

/// The name by which a method refers to its own object; none for a function.
pub(super) fn own_object(function: &Function) -> String {
    let first = function.parameters.first().filter(|_| function.class_name.is_some());
    first.map_or_else(String::new, |parameter| parameter.name.clone())
}

/// Labels the attributes of a method's own object as such, by their old names.
pub(super) fn mark_attributes(node: &mut Node, own: &str, renames: &[(String, String)]) {
    if own.is_empty() {
        return;
    }
    if let [value, attribute] = node.children.as_mut_slice()
        && matches!(&node.label, Label::Kind(kind) if kind.starts_with("ExprAttribute"))
        && matches!(&value.label, Label::Local { name, .. } if name == own)
        && let Label::Text(name) = &attribute.label
    {
        let old = renames.iter().find(|(is, _)| is == name).map_or(name, |(_, was)| was);
        attribute.label = Label::Attribute(old.clone());
    }
    for child in &mut node.children {
        mark_attributes(child, own, renames);
    }
}

fn count(node: &Node, names: &mut BTreeMap<String, usize>) {
    if let Label::Attribute(name) = &node.label {
        *names.entry(name.clone()).or_default() += 1;
    }
    node.children.iter().for_each(|child| count(child, names));
}

#[derive(Default)]
struct Votes(BTreeMap<(String, String), usize>);

impl Sink for Votes {
    fn same(&mut self, old: &Node, new: &Node) {
        if let (Label::Attribute(was), Label::Attribute(is)) = (&old.label, &new.label)
            && was != is
        {
            *self.0.entry((was.clone(), is.clone())).or_default() += 1;
        }
        for (old, new) in old.children.iter().zip(&new.children) {
            self.same(old, new);
        }
    }

    fn differ(&mut self, _: Option<&Node>, _: Option<&Node>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{diff_renamed, functions};

    fn renames(old: &str, new: &str) -> Vec<(String, String)> {
        let (old, new) = (functions(old).0, functions(new).0);
        attribute_renames(&old.iter().collect::<Vec<_>>(), &new.iter().collect::<Vec<_>>())
    }

    const OLD: &str = "class A:\n    def __init__(self):\n        self._x = []\n    def add(self, item):\n        self._x.append(item)\n";

    #[test]
    fn a_private_attribute_that_has_another_name_everywhere_is_renamed() {
        let new = OLD.replace("_x", "_items");
        assert_eq!(renames(OLD, &new), [("_items".to_string(), "_x".to_string())]);
        let (old, new) = (functions(OLD).0, functions(&new).0);
        assert!(diff_renamed(&old[1], &new[1], &[("_items".into(), "_x".into())]).identical);
        assert!(!diff_renamed(&old[1], &new[1], &[]).identical);
    }

    #[test]
    fn a_public_attribute_is_not() {
        let old = OLD.replace("_x", "x");
        assert_eq!(renames(&old, &old.replace(".x", ".items")), []);
    }

    #[test]
    fn an_attribute_that_is_still_there_is_not_renamed() {
        let new = OLD.replace("self._x.append", "self._items.append");
        assert_eq!(renames(OLD, &new), []);
    }
}
