//! Which nodes of two versions of a procedure may do the same: those of the same text, and between these, in order, those that
//! act in the same way whatever their operands are.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use twincell_syntax::{PerSide, Side};

use crate::dcia::Relations;
use crate::mapping::Mapping;
use crate::program::{CallSite, NodeId, Output, ProcedureId, Program, Role, Term, Variable, VariableId, hash_of};

/// Two nodes that may do the same.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub old: NodeId,
    pub new: NodeId,
    /// They call and write the same.
    pub agrees: bool,
}

/// Both versions, as all procedures see them.
pub(super) struct Site<'p> {
    pub programs: &'p PerSide<Program>,
    pub mapping: &'p Mapping,
    pub relations: &'p PerSide<Relations>,
    pub sites: &'p PerSide<FxHashMap<NodeId, Vec<usize>>>,
}

impl<'p> Site<'p> {
    pub fn calls(&self, side: Side, node: NodeId) -> impl Iterator<Item = &'p CallSite> {
        let program = &self.programs[side];
        self.sites[side].get(&node).into_iter().flatten().map(|at| &program.call_sites[*at])
    }

    /// What a procedure is in the old version.
    pub fn as_old(&self, side: Side, procedure: ProcedureId) -> Option<ProcedureId> {
        match side {
            Side::Old => Some(procedure),
            Side::New => self.mapping.new.procedures[procedure.index()],
        }
    }

    /// Whether an output of a procedure depends on an input of it in either version.
    pub fn depends(&self, side: Side, call: &CallSite, output: Output, name: &str) -> bool {
        let depends = |side: Side, procedure: ProcedureId| {
            let program = &self.programs[side];
            let procedure = &program.procedures[procedure.index()];
            let at = Output::ALL.iter().position(|one| *one == output).unwrap_or_default();
            let is_named = |one: &VariableId| matches!(&program.variables[one.index()], Variable::Input(_, input) if **input == *name);
            let input = procedure.inputs.iter().copied().find(is_named);
            input.is_some_and(|input| self.relations[side].depends(procedure.outputs[at], input))
        };
        let other = match side {
            Side::Old => (Side::New, self.mapping.old.procedures[call.callee.index()]),
            Side::New => (Side::Old, self.mapping.new.procedures[call.callee.index()]),
        };
        depends(side, call.callee) || other.1.is_some_and(|procedure| depends(other.0, procedure))
    }

    /// A node does something that others than the readers of its locals see.
    pub fn acts(&self, side: Side, id: NodeId) -> bool {
        let program = &self.programs[side];
        let node = &program.nodes[id.index()];
        let shared =
            |one: &VariableId| matches!(program.variables[one.index()], Variable::Shared(_) | Variable::Output(..));
        node.role != Role::Phi && (node.is_call || self.sites[side].contains_key(&id) || node.writes.iter().any(shared))
    }

    /// What a node calls and writes besides locals. `None` if it calls what the other version does not have.
    fn effects(&self, side: Side, id: NodeId) -> Option<u64> {
        let program = &self.programs[side];
        let node = &program.nodes[id.index()];
        let mut callees = BTreeSet::new();
        for site in self.calls(side, id) {
            callees.insert(
                self.as_old(side, site.callee).filter(|old| self.mapping.old.procedures[old.index()].is_some())?,
            );
        }
        let mut writes = Vec::new();
        for variable in &node.writes {
            match &program.variables[variable.index()] {
                Variable::Shared(shared) => writes.push(hash_of(shared.unnumbered())),
                Variable::Output(_, output) => writes.push(hash_of(Output::ALL.iter().position(|one| one == output))),
                Variable::Local(name) if !name.is_empty() => writes.push(hash_of(name)),
                _ => {}
            }
        }
        writes.sort_unstable();
        writes.dedup();
        let callees: Vec<u32> = callees.into_iter().map(|one| one.0).collect();
        Some(hash_of((callees, writes, node.dispatch.is_some(), node.is_call)))
    }

    /// What a node does, whatever its operands are.
    fn shape(&self, side: Side, id: NodeId) -> Option<u64> {
        let node = &self.programs[side].nodes[id.index()];
        let Some(Term::Apply(operator, parts)) = &node.term else { return None };
        let function = match parts.first() {
            Some(Term::Apply(operator, _)) if operator.acts => operator.id,
            _ => 0,
        };
        Some(hash_of((operator.id, function, self.effects(side, id)?)))
    }
}

/// The pairs of two procedures, by their order in the old one.
pub(super) fn pairs(site: &Site<'_>, old: ProcedureId, new: ProcedureId) -> Vec<Pair> {
    let range = |side: Side, id: ProcedureId| site.programs[side].procedures[id.index()].nodes.clone();
    let (ours, theirs) = (range(Side::Old, old), range(Side::New, new));
    let mut pairs: Vec<Pair> = Vec::new();
    let mut taken: FxHashSet<NodeId> = FxHashSet::default();
    for at in ours.clone() {
        let one = NodeId(at);
        let Some(other) = site.mapping.texts.get(&one).copied() else { continue };
        if !theirs.contains(&other.0) {
            continue;
        }
        taken.insert(other);
        let agrees = site.effects(Side::Old, one).is_some()
            && site.effects(Side::Old, one) == site.effects(Side::New, other)
            && site.programs.old.nodes[one.index()].runs == site.programs.new.nodes[other.index()].runs;
        pairs.push(Pair { old: one, new: other, agrees });
    }
    // What acts and stands between two pairs that act, in order.
    let mut anchors: Vec<(u32, u32)> = Vec::new();
    for pair in &pairs {
        let is_frame = !matches!(site.programs.old.nodes[pair.old.index()].role, Role::Step | Role::Landing);
        if !is_frame && site.acts(Side::Old, pair.old) && anchors.last().is_none_or(|last| last.1 < pair.new.0) {
            anchors.push((pair.old.0, pair.new.0));
        }
    }
    let is_paired: FxHashSet<NodeId> = pairs.iter().map(|pair| pair.old).collect();
    let mut from = (ours.start, theirs.start);
    for (one, other) in anchors.into_iter().chain([(ours.end, theirs.end)]) {
        let free = |side: Side, range: std::ops::Range<u32>, taken: &FxHashSet<NodeId>| -> Vec<(NodeId, u64)> {
            let all = range.map(NodeId).filter(|node| !taken.contains(node) && site.acts(side, *node));
            all.filter_map(|node| Some((node, site.shape(side, node)?))).collect()
        };
        let ours = free(Side::Old, from.0..one, &is_paired);
        let theirs = free(Side::New, from.1..other, &taken);
        let keys = |all: &[(NodeId, u64)]| -> Vec<u64> { all.iter().map(|one| one.1).collect() };
        for op in capture_diff_slices(Algorithm::Myers, &keys(&ours), &keys(&theirs)) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                for at in 0..len {
                    pairs.push(Pair { old: ours[old_index + at].0, new: theirs[new_index + at].0, agrees: true });
                }
            }
        }
        from = (one, other);
    }
    pairs.sort_unstable_by_key(|pair| pair.old);
    pairs
}
