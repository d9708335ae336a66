//! Pairs the functions of the old text with those of the new one.

use std::collections::{BTreeMap, BTreeSet};

use super::parse::{parse, slice, with_stack_for};
use super::{Function, Pairing, diff};

/// Minimum share of common tokens for two functions of different names to count as one that was renamed or moved. Below
/// one half, more of the text is new than old.
const SIMILAR: f64 = 0.5;

/// Matches by qualified name, then by similarity of text.
///
/// Similarity is the Dice coefficient of the two multisets of tokens. It must be at least one half and counts only
/// between functions of the same sort (of a module, of a class, nested). The best pair goes first, and ties go to the
/// earlier function. Names of functions do not count.
pub fn pair(old: Vec<Function>, new: Vec<Function>) -> Pairing {
    let mut matches: BTreeMap<usize, usize> = BTreeMap::new();
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, function) in new.iter().enumerate() {
        by_name.entry(&function.qualname).or_insert(index);
    }
    for (index, function) in old.iter().enumerate() {
        if let Some(same) = by_name.get(function.qualname.as_str()) {
            matches.insert(index, *same);
        }
    }
    let taken: BTreeSet<usize> = matches.values().copied().collect();
    let left: Vec<(usize, Tokens<'_>)> =
        (0..old.len()).filter(|index| !matches.contains_key(index)).map(|index| (index, tokens(&old[index]))).collect();
    let right: Vec<(usize, Tokens<'_>)> =
        (0..new.len()).filter(|index| !taken.contains(index)).map(|index| (index, tokens(&new[index]))).collect();

    let mut candidates: Vec<(f64, usize, usize)> = Vec::new();
    for (i, ours) in &left {
        for (j, theirs) in &right {
            if sort(&old[*i]) == sort(&new[*j]) {
                let score = dice(ours, theirs);
                if score >= SIMILAR {
                    candidates.push((score, *i, *j));
                }
            }
        }
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut used: BTreeSet<usize> = taken;
    for (_, i, j) in candidates {
        if !matches.contains_key(&i) && !used.contains(&j) {
            matches.insert(i, j);
            used.insert(j);
        }
    }

    let removed = (0..old.len()).filter(|i| !matches.contains_key(i)).map(|i: usize| old[i].qualname.clone()).collect();
    let added = (0..new.len()).filter(|j| !used.contains(j)).map(|j: usize| new[j].qualname.clone()).collect();
    let mut new: Vec<Option<Function>> = new.into_iter().map(Some).collect();
    let pairs = old
        .into_iter()
        .enumerate()
        .filter_map(|(i, function)| {
            let other = new.get_mut(*matches.get(&i)?)?.take()?;
            Some((function, other))
        })
        .collect();
    Pairing { pairs, added, removed }
}

/// The functions that only the new text has, each with the name that the same code has in the old one: (qualified name in
/// new, name in old).
pub fn function_renames(old: &[Function], new: &[Function]) -> Vec<(String, String)> {
    let names = |functions: &[Function]| -> BTreeSet<String> {
        functions.iter().map(|function| function.qualname.clone()).collect()
    };
    let only = |own: &[Function], other: &BTreeSet<String>| -> Vec<Function> {
        own.iter().filter(|function| !other.contains(&function.qualname)).cloned().collect()
    };
    let (gone, come) = (only(old, &names(new)), only(new, &names(old)));
    if gone.is_empty() || come.is_empty() {
        return vec![];
    }
    let is_same = |(old, new): &(Function, Function)| old.name != new.name && diff(old, new).identical;
    pair(gone, come).pairs.into_iter().filter(is_same).map(|(old, new)| (new.qualname, old.name)).collect()
}

/// Functions of different sorts are never paired.
fn sort(function: &Function) -> (bool, bool) {
    (function.parent.is_some(), function.class_name.is_some())
}

type Tokens<'text> = BTreeMap<&'text str, usize>;

fn tokens(function: &Function) -> Tokens<'_> {
    with_stack_for(function.text.len(), || {
        let mut counts = Tokens::new();
        for token in parse(&function.text).tokens() {
            let text = slice(&function.text, token);
            if !text.trim().is_empty() && !text.starts_with('#') && text != function.name {
                *counts.entry(text).or_default() += 1;
            }
        }
        counts
    })
}

fn dice(a: &Tokens<'_>, b: &Tokens<'_>) -> f64 {
    let total = a.values().sum::<usize>() + b.values().sum::<usize>();
    if total == 0 {
        return 0.0;
    }
    let shared: usize = a.iter().map(|(token, count)| b.get(token).copied().unwrap_or(0).min(*count)).sum();
    2.0 * shared as f64 / total as f64
}
