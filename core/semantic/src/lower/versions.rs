//! The versions of a scope's variables along the order of execution, and what is known of attributes and elements for a
//! few statements.

use rustc_hash::FxHashMap;

use super::Lowering;
use crate::ids::{NameId, NodeId};
use crate::module::Key;

/// An attribute, or an element of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Attribute(NameId),
    Text(NameId),
    Number(i64),
}

impl Part {
    pub fn of(key: Key) -> Option<Self> {
        match key {
            Key::Text(text) => Some(Part::Text(text)),
            Key::Number(number) => Some(Part::Number(number)),
            Key::Value(_) | Key::Any => None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Versions {
    current: FxHashMap<NameId, NodeId>,
    /// All assignments so far.
    log: Vec<(NameId, NodeId)>,
    /// No statement follows the last one: it returns, raises, or leaves a loop.
    pub ends: bool,
    /// Parts of objects, from their last assignment or reading until something may change them.
    parts: FxHashMap<(NodeId, Part), NodeId>,
}

/// The versions at one moment.
#[derive(Debug)]
pub(super) struct Moment {
    current: FxHashMap<NameId, NodeId>,
    ends: bool,
    /// How many assignments there were.
    pub assigned: usize,
}

impl Versions {
    pub fn of(&self, name: NameId) -> Option<NodeId> {
        self.current.get(&name).copied()
    }

    pub fn assign(&mut self, name: NameId, version: NodeId) {
        self.current.insert(name, version);
        self.log.push((name, version));
    }

    pub fn part(&self, base: NodeId, part: Part) -> Option<NodeId> {
        self.parts.get(&(base, part)).copied()
    }

    pub fn read_part(&mut self, base: NodeId, part: Part, value: NodeId) {
        self.parts.insert((base, part), value);
    }

    /// Another name of the object may be known by the same part.
    pub fn assign_part(&mut self, base: NodeId, part: Part, value: NodeId) {
        self.parts.retain(|(_, other), _| *other != part);
        self.parts.insert((base, part), value);
    }

    /// Something ran that may change any object.
    pub fn forget_parts(&mut self) {
        self.parts.clear();
    }

    pub fn moment(&mut self) -> Moment {
        self.parts.clear();
        Moment { current: self.current.clone(), ends: self.ends, assigned: self.log.len() }
    }

    pub fn return_to(&mut self, moment: &Moment) {
        self.parts.clear();
        self.current.clone_from(&moment.current);
        self.ends = moment.ends;
    }

    pub fn assigned_since(&self, start: usize) -> Vec<(NameId, NodeId)> {
        let mut found = self.log.get(start..).unwrap_or_default().to_vec();
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Lowering {
    pub(super) fn moment(&mut self) -> Moment {
        self.frames
            .last_mut()
            .map_or(Moment { current: FxHashMap::default(), ends: false, assigned: 0 }, |frame| frame.versions.moment())
    }

    pub(super) fn return_to(&mut self, moment: &Moment) {
        if let Some(frame) = self.frames.last_mut() {
            frame.versions.return_to(moment);
        }
    }

    pub(super) fn ends(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.versions.ends = true;
        }
    }

    pub(super) fn forget_parts(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.versions.forget_parts();
        }
    }

    /// Goes on where some branches meet. Those after which nothing follows do not count, unless all are such.
    pub(super) fn join(&mut self, moments: Vec<Moment>) {
        let any_goes_on = moments.iter().any(|moment| !moment.ends);
        let live: Vec<Moment> = moments.into_iter().filter(|moment| !any_goes_on || !moment.ends).collect();
        let mut names: Vec<NameId> = live.iter().flat_map(|moment| moment.current.keys().copied()).collect();
        names.sort_unstable();
        names.dedup();
        let mut joined = FxHashMap::default();
        for name in names {
            let mut versions: Vec<NodeId> =
                live.iter().filter_map(|moment| moment.current.get(&name).copied()).collect();
            versions.sort_unstable();
            versions.dedup();
            joined.insert(name, self.joined(&versions));
        }
        if let Some(frame) = self.frames.last_mut() {
            let assigned = frame.versions.log.len();
            frame.versions.return_to(&Moment { current: joined, ends: !any_goes_on, assigned });
        }
    }

    fn joined(&mut self, versions: &[NodeId]) -> NodeId {
        match versions {
            [one] => *one,
            _ => {
                let node = self.node();
                versions.iter().for_each(|version| self.copy(*version, node));
                node
            }
        }
    }

    /// Prepares for statements that run again: each name that they assign has one version for all rounds.
    pub(super) fn begin_rounds(&mut self, names: &[NameId]) -> Vec<(NameId, NodeId)> {
        self.forget_parts();
        let mut rounds = Vec::new();
        for name in names {
            let round = self.node();
            let before = self.frames.last().and_then(|frame| frame.versions.of(*name));
            if let Some(before) = before {
                self.copy(before, round);
            }
            if let Some(frame) = self.frames.last_mut() {
                frame.versions.assign(*name, round);
            }
            rounds.push((*name, round));
        }
        rounds
    }

    /// All that a round assigned is there in the next round and behind the last one.
    pub(super) fn end_rounds(&mut self, rounds: &[(NameId, NodeId)], start: usize) {
        self.forget_parts();
        let assigned = self.frames.last().map(|frame| frame.versions.assigned_since(start)).unwrap_or_default();
        for (name, version) in assigned {
            if let Ok(at) = rounds.binary_search_by_key(&name, |(name, _)| *name)
                && let Some((_, round)) = rounds.get(at)
            {
                self.copy(version, *round);
            }
        }
        if let Some(frame) = self.frames.last_mut() {
            for (name, round) in rounds {
                frame.versions.assign(*name, *round);
            }
            frame.versions.ends = false;
        }
    }

    /// The state in which an exception leaves statements: any assignment since may have been the last.
    pub(super) fn interrupted(&mut self, before: &Moment) -> Moment {
        let assigned =
            self.frames.last().map(|frame| frame.versions.assigned_since(before.assigned)).unwrap_or_default();
        let mut current = before.current.clone();
        let mut at = 0;
        while let Some((name, _)) = assigned.get(at).copied() {
            let mut versions: Vec<NodeId> = before.current.get(&name).copied().into_iter().collect();
            while let Some((_, version)) = assigned.get(at).filter(|(other, _)| *other == name) {
                versions.push(*version);
                at += 1;
            }
            versions.sort_unstable();
            versions.dedup();
            current.insert(name, self.joined(&versions));
        }
        Moment { current, ends: before.ends, assigned: before.assigned }
    }
}
