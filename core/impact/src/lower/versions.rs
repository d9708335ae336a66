//! The versions of locals: single-assignment form with joins (Cytron et al. 1991).

use rustc_hash::FxHashMap;

use super::draft::{Draft, Place};
use crate::dominance::dominance;

/// A value of a local, of an expression, or a shared variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Version {
    /// What a node writes, by its number among the writes.
    Written(u32, u32),
    Joined(u32),
    Shared(u32),
}

/// A local where ways meet.
#[derive(Debug)]
pub(super) struct Join {
    pub local: u32,
    pub reads: Vec<Version>,
    /// What each node brings from which control arrives.
    pub from: Vec<(Option<Version>, u32)>,
}

/// For each node, the versions that it reads, in the order of its places, and those of its dispatch.
#[derive(Debug, Default)]
pub(super) struct Versions {
    pub reads: Vec<Vec<(Place, Version)>>,
    pub joins: Vec<Join>,
    /// Whether some way leads to a node.
    pub runs: Vec<bool>,
}

pub(super) fn versions(draft: &Draft, successors: &[Vec<u32>]) -> Versions {
    let found = dominance(0, successors);
    let mut writers: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let mut temporaries: FxHashMap<u32, Version> = FxHashMap::default();
    for (at, node) in draft.nodes.iter().enumerate() {
        for (number, place) in node.writes.iter().enumerate() {
            match place {
                Place::Local(local) => writers.entry(*local).or_default().push(at as u32),
                Place::Temporary(one) => {
                    temporaries.insert(*one, Version::Written(at as u32, number as u32));
                }
                Place::Shared(_) | Place::Guarded(_) => {}
            }
        }
    }
    let mut renaming = Renaming { draft, temporaries, current: FxHashMap::default(), out: Versions::default() };
    renaming.out.reads = vec![Vec::new(); draft.nodes.len()];
    renaming.out.runs = found.parent.iter().map(Option::is_some).collect();
    let mut joins_at: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let mut locals: Vec<(&u32, &Vec<u32>)> = writers.iter().collect();
    locals.sort();
    for (local, writers) in locals {
        if let [only] = writers[..] {
            // There is nothing to join.
            let version = renaming.written(only, *local);
            renaming.current.insert(*local, vec![version]);
            continue;
        }
        let mut open = writers.clone();
        let mut has_join: FxHashMap<u32, ()> = FxHashMap::default();
        while let Some(node) = open.pop() {
            for join in &found.frontier[node as usize] {
                if has_join.insert(*join, ()).is_none() {
                    joins_at.entry(*join).or_default().push(renaming.out.joins.len() as u32);
                    renaming.out.joins.push(Join { local: *local, reads: Vec::new(), from: Vec::new() });
                    open.push(*join);
                }
            }
        }
    }
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); draft.nodes.len()];
    for node in found.order.iter().skip(1) {
        if let Some(parent) = found.parent[*node as usize] {
            children[parent as usize].push(*node);
        }
    }
    // A node is entered, and left when all below it are done.
    let mut open = vec![(0_u32, false)];
    let mut pushed: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    while let Some((node, is_done)) = open.pop() {
        if is_done {
            for local in pushed.remove(&node).unwrap_or_default() {
                renaming.current.entry(local).or_default().pop();
            }
            continue;
        }
        open.push((node, true));
        let mut own = Vec::new();
        for join in joins_at.get(&node).into_iter().flatten() {
            let local = renaming.out.joins[*join as usize].local;
            renaming.current.entry(local).or_default().push(Version::Joined(*join));
            own.push(local);
        }
        renaming.read(node);
        for place in &draft.nodes[node as usize].writes {
            if let Place::Local(local) = place
                && writers.get(local).is_some_and(|writers| writers.len() > 1)
            {
                let version = renaming.written(node, *local);
                renaming.current.entry(*local).or_default().push(version);
                own.push(*local);
            }
        }
        for next in &successors[node as usize] {
            for join in joins_at.get(next).into_iter().flatten() {
                let local = renaming.out.joins[*join as usize].local;
                let version = renaming.current.get(&local).and_then(|versions| versions.last().copied());
                let join = &mut renaming.out.joins[*join as usize];
                if !join.from.contains(&(version, node)) {
                    join.from.push((version, node));
                }
                join.reads.extend(version.filter(|version| !join.reads.contains(version)));
            }
        }
        pushed.insert(node, own);
        open.extend(children[node as usize].iter().rev().map(|child| (*child, false)));
    }
    // What never runs reads nothing of locals.
    for node in 0..draft.nodes.len() as u32 {
        if found.parent[node as usize].is_none() {
            renaming.current.clear();
            renaming.read(node);
        }
    }
    renaming.out
}

struct Renaming<'d> {
    draft: &'d Draft,
    temporaries: FxHashMap<u32, Version>,
    current: FxHashMap<u32, Vec<Version>>,
    out: Versions,
}

impl Renaming<'_> {
    fn written(&self, node: u32, local: u32) -> Version {
        let writes = &self.draft.nodes[node as usize].writes;
        let number = writes.iter().position(|place| *place == Place::Local(local)).unwrap_or_default();
        Version::Written(node, number as u32)
    }

    fn read(&mut self, node: u32) {
        let mut reads = Vec::new();
        for place in &self.draft.nodes[node as usize].reads {
            let version = match place {
                Place::Local(local) => self.current.get(local).and_then(|versions| versions.last().copied()),
                Place::Temporary(one) => self.temporaries.get(one).copied(),
                Place::Shared(shared) => Some(Version::Shared(*shared)),
                Place::Guarded(_) => None,
            };
            reads.extend(version.map(|version| (*place, version)));
        }
        self.out.reads[node as usize] = reads;
    }
}
