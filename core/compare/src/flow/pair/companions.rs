//! The functions that are observed beside a function: those on the way to what changed, and those of other modules of the
//! project that changed and that one version alone uses. The other version may do the same by itself.

use std::collections::BTreeSet;

use twincell_syntax::{CodeKind, Function, Index, PerSide, Side};

use crate::flow::cross_module::Companion;
use crate::flow::sources::Sources;

/// The maximum number of companions of a function, nearest first, and their maximum length in characters. Beyond this,
/// plain code runs.
const COMPANIONS: usize = 12;
const COMPANION_CHARACTERS: usize = 30_000;

/// The companions of a version: those on its `path` to what changed, and those of `others`.
pub(super) fn companions(
    index: &Index,
    path: &[String],
    function: &Function,
    others: Vec<Companion>,
) -> Vec<Companion> {
    if function.kind == CodeKind::Snippet {
        return vec![];
    }
    let inside = (function.kind == CodeKind::Class).then(|| format!("{}.", function.entity()));
    let is_inside = |name: &String| inside.as_ref().is_some_and(|inside| name.starts_with(inside));
    let names = path.iter().filter(|name| *name != function.entity() && !is_inside(name));
    let own = names.filter_map(|name| {
        let function = index.functions.iter().find(|function| function.qualname == *name)?.clone();
        Some(Companion { function, module: None })
    });
    let (mut count, mut characters) = (COMPANIONS, COMPANION_CHARACTERS);
    let mut takes = |one: &Companion| {
        let takes = count > 0 && one.function.text.len() <= characters;
        if takes {
            count -= 1;
            characters -= one.function.text.len();
        }
        takes
    };
    let all = own.chain(others).filter(|one| is_usable(&one.function, function));
    all.take_while(|one| takes(one)).collect()
}

fn is_usable(companion: &Function, function: &Function) -> bool {
    companion.text.starts_with(['d', 'a']) && companion.name != function.name
}

/// What a version uses on the way to changed entities, of either version.
pub(super) fn path(sources: &Sources, side: Side, paths: &PerSide<Vec<String>>, function: &Function) -> Vec<String> {
    let reached: BTreeSet<String> = sources[side].index.reach(function.entity()).into_iter().collect();
    let other = paths[side.other()].iter().filter(|name| reached.contains(*name) && !paths[side].contains(name));
    paths[side].iter().chain(other).cloned().collect()
}
