//! The order in which the nodes of a tree are listed.

use std::collections::{BTreeMap, BTreeSet};

use twincell_prefix::Prefixes;

/// The maximum number of nodes of a tree that are listed. The chosen ones are always among them, with all above them.
const LISTED: usize = 300;

/// The nodes that views list, each with its depth, every parent before its children.
pub(crate) fn listed(prefixes: &Prefixes) -> Vec<(usize, usize)> {
    let above = |number: &usize| prefixes.nodes[*number].parent.filter(|parent| parent < number);
    let upwards = prefixes.kept().into_iter().flat_map(|kept| std::iter::successors(Some(kept), above));
    let kept: BTreeSet<usize> = upwards.collect();
    ordered(prefixes).into_iter().filter(|(number, _)| *number < LISTED || kept.contains(number)).collect()
}

/// Each node with its depth, every parent before its children.
fn ordered(prefixes: &Prefixes) -> Vec<(usize, usize)> {
    let mut children: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (number, node) in prefixes.nodes.iter().enumerate() {
        // A parent comes before its children. What says something else did not come from a search.
        children.entry(node.parent.filter(|parent| *parent < number)).or_default().push(number);
    }
    let below = |parent: Option<usize>| children.get(&parent).into_iter().flatten().rev().copied();
    let mut waiting: Vec<(usize, usize)> = below(None).map(|number| (number, 0)).collect();
    let mut found = Vec::new();
    while let Some((number, depth)) = waiting.pop() {
        found.push((number, depth));
        waiting.extend(below(Some(number)).map(|child| (child, depth + 1)));
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn what_is_kept_is_listed_with_all_above_it() {
        // A chain of nodes, of which the last is the best.
        let last = LISTED + 20;
        let node = |number: usize| {
            let parent = number.checked_sub(1);
            json!({"parent": parent, "guidance": "coverage", "origin": "local", "text": "", "makes": {}, "completed": [1],
                "end": "whole"})
        };
        let nodes: Vec<_> = (0..=last).map(node).collect();
        let tree = json!({"version": 1, "undefined": [], "lines": [1], "covered": [1], "nodes": nodes, "chosen": [last], "best": last,
            "stopped": false, "tokens": 0, "problem": null, "libraries": []});
        let prefixes: Prefixes = from_value(tree).unwrap();
        let numbers: Vec<usize> = listed(&prefixes).into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, (0..=last).collect::<Vec<_>>());
    }
}
