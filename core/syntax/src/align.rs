//! Aligns two normalised trees: which nodes correspond and which differ. `diff` and `renames` interpret the result.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::labels::Label;
use super::normalize::{BODY, Node};

/// Minimum share of parts in common for two statements or expressions to count as one that changed.
const RELATED: f64 = 0.3;
/// Maximum size of a gap whose nodes are matched by the best assignment. In a larger gap they are matched in order.
const GAP_LIMIT: usize = 2500;

/// Receives the corresponding nodes.
pub(super) trait Sink {
    /// Equal subtrees.
    fn same(&mut self, old: &Node, new: &Node);
    /// A smallest pair of nodes that differs. Where something was added or removed, one side is missing. Then the node
    /// of that side is the one that would hold it, unless that is a list of statements.
    fn differ(&mut self, old: Option<&Node>, new: Option<&Node>);
}

/// Sets every node's hash from its label and its children.
pub(super) fn rehash(node: &mut Node, label: &impl Fn(&Label, &mut DefaultHasher)) {
    let mut hasher = DefaultHasher::new();
    label(&node.label, &mut hasher);
    node.children.len().hash(&mut hasher);
    for child in &mut node.children {
        rehash(child, label);
        child.hash.hash(&mut hasher);
    }
    node.hash = hasher.finish();
}

/// Compares two nodes by hash, then descends into the differences.
pub(super) fn align(old: &Node, new: &Node, sink: &mut impl Sink) {
    if old.hash == new.hash {
        return sink.same(old, new);
    }
    let same_kind = match (&old.label, &new.label) {
        (Label::Kind(old), Label::Kind(new)) => first_word(old) == first_word(new),
        _ => false,
    };
    if !same_kind {
        return sink.differ(Some(old), Some(new));
    }
    if old.label != new.label && !is_count(old) {
        // Only the head differs, as in `def` and `async def`. The parts are compared below.
        sink.differ(Some(&head(old)), Some(&head(new)));
    }
    if is_list(old) || old.children.len() != new.children.len() {
        align_lists(old, new, sink);
    } else {
        for (old, new) in old.children.iter().zip(&new.children) {
            align(old, new, sink);
        }
    }
}

/// Nodes whose children are many of one kind, rather than parts with fixed places.
fn is_list(node: &Node) -> bool {
    const LISTS: [&str; 8] =
        [BODY, "Arguments", "ExprDict", "ExprTuple", "ExprList", "ExprSet", "Defaults", "Parameters"];
    matches!(&node.label, Label::Kind(kind) if LISTS.contains(&first_word(kind)))
}

/// Whether the label says no more than the children do.
fn is_count(node: &Node) -> bool {
    matches!(&node.label, Label::Kind(kind) if first_word(kind) == "ExprDict")
}

/// The first line of a node, without its children.
fn head(node: &Node) -> Node {
    Node { children: Vec::new(), lines: (node.lines.0, node.lines.0), label: node.label.clone(), hash: node.hash }
}

fn first_word(kind: &str) -> &str {
    kind.split(' ').next().unwrap_or(kind)
}

fn align_lists(old: &Node, new: &Node, sink: &mut impl Sink) {
    let hashes = |node: &Node| node.children.iter().map(|child| child.hash).collect::<Vec<_>>();
    let mut gap = (0, 0);
    for op in capture_diff_slices(Algorithm::Myers, &hashes(old), &hashes(new)) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            align_gap((old, gap.0..old_index), (new, gap.1..new_index), sink);
            for offset in 0..len {
                sink.same(&old.children[old_index + offset], &new.children[new_index + offset]);
            }
            gap = (old_index + len, new_index + len);
        }
    }
    align_gap((old, gap.0..old.children.len()), (new, gap.1..new.children.len()), sink);
}

/// Matches the children between two equal ones. The most similar pairs are compared; the rest was added or removed.
fn align_gap(
    (old, old_range): (&Node, std::ops::Range<usize>),
    (new, new_range): (&Node, std::ops::Range<usize>),
    sink: &mut impl Sink,
) {
    let olds = old.children.get(old_range).unwrap_or(&[]);
    let news = new.children.get(new_range).unwrap_or(&[]);
    let statements = matches!(&old.label, Label::Kind(kind) if kind == BODY);
    let pairs = best_pairs(olds, news);
    let holder = |node: &Node| (!statements).then(|| head(node));
    let (mut i, mut j) = (0, 0);
    for (at_old, at_new) in pairs.into_iter().chain([(olds.len(), news.len())]) {
        // Equally many unrelated children in between replace each other.
        let (lone_old, lone_new) = (&olds[i..at_old], &news[j..at_new]);
        if !lone_old.is_empty() && !lone_new.is_empty() {
            for node in lone_old {
                sink.differ(Some(node), None);
            }
            for node in lone_new {
                sink.differ(None, Some(node));
            }
        } else {
            for node in lone_old {
                sink.differ(Some(node), holder(new).as_ref());
            }
            for node in lone_new {
                sink.differ(holder(old).as_ref(), Some(node));
            }
        }
        if let (Some(old), Some(new)) = (olds.get(at_old), news.get(at_new)) {
            align(old, new, sink);
        }
        (i, j) = (at_old + 1, at_new + 1);
    }
}

/// Pairs of related nodes in order, with the greatest sum of similarities.
fn best_pairs(olds: &[Node], news: &[Node]) -> Vec<(usize, usize)> {
    if olds.len() * news.len() > GAP_LIMIT {
        let length = olds.len().min(news.len());
        return (0..length).filter(|&at| similarity(&olds[at], &news[at]) >= RELATED).map(|at| (at, at)).collect();
    }
    let scores: Vec<Vec<f64>> = olds.iter().map(|old| news.iter().map(|new| similarity(old, new)).collect()).collect();
    let mut best = vec![vec![0.0_f64; news.len() + 1]; olds.len() + 1];
    for i in (0..olds.len()).rev() {
        for j in (0..news.len()).rev() {
            let skip = best[i + 1][j].max(best[i][j + 1]);
            let take = if scores[i][j] >= RELATED { best[i + 1][j + 1] + scores[i][j] } else { 0.0 };
            best[i][j] = skip.max(take);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < olds.len() && j < news.len() {
        if scores[i][j] >= RELATED && best[i][j] <= best[i + 1][j + 1] + scores[i][j] {
            pairs.push((i, j));
            i += 1;
            j += 1;
        } else if best[i][j] <= best[i + 1][j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// The Dice coefficient of the multisets of all subtrees; 0 for different constructs.
fn similarity(old: &Node, new: &Node) -> f64 {
    match (&old.label, &new.label) {
        (Label::Kind(old), Label::Kind(new)) if first_word(old) == first_word(new) => {}
        (Label::Local { .. }, Label::Local { .. }) => return 1.0,
        _ => return 0.0,
    }
    let (mut ours, mut theirs) = (BTreeMap::new(), BTreeMap::new());
    let total = count(old, &mut ours) + count(new, &mut theirs);
    let shared: usize = ours.iter().map(|(hash, n)| theirs.get(hash).copied().unwrap_or(0).min(*n)).sum();
    // The construct itself is shared.
    (2 * shared + 2) as f64 / total as f64
}

fn count(node: &Node, counts: &mut BTreeMap<u64, usize>) -> usize {
    *counts.entry(node.hash).or_default() += 1;
    1 + node.children.iter().map(|child| count(child, counts)).sum::<usize>()
}
