//! The order in which the nodes of a tree are listed.

use std::collections::BTreeMap;

use twincell_prefix::Prefixes;

/// The maximum number of nodes of a tree that are listed. The chosen ones are always among them.
const LISTED: usize = 300;

/// The nodes that views list, each with its depth, every parent before its children.
pub(crate) fn listed(prefixes: &Prefixes) -> Vec<(usize, usize)> {
    let kept = prefixes.kept();
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
