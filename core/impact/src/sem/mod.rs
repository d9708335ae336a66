//! What SEM-DCIA adds to DCIA: which changes matter, found by values instead of texts.
//!
//! DCIA takes every node that is not mapped for a source of impact. Here a pair of procedures becomes one graph of values over
//! both versions (`values`), whose classes are the coarsest that no value refutes: an optimistic fixpoint from which what
//! cannot be shown is dropped. Two nodes do the same if their operands and what decides whether they run are congruent, and a node that
//! only computes is no source at all: who reads it either reads a congruent value or is a source itself. What an input, a
//! callee or a shared variable contributes is one value in both versions, because impact on it arrives over the variable.

mod pairs;
mod partition;
mod values;

use rustc_hash::{FxHashMap, FxHashSet};
use twincell_syntax::{PerSide, Side};

use crate::dcia::{Equivalences, Relations, Rule};
use crate::mapping::{Mapping, is_mapped};
use crate::program::{NodeId, Procedure, ProcedureId, Program, Role};
use crate::prover::Shown;
use pairs::{Pair, Site};
use values::{Graph, Stable};

/// Those of DCIA: what is not mapped is changed, and nothing is known to be equivalent.
pub(crate) fn none(program: &Program, mapping: &Mapping, side: Side) -> Equivalences {
    let mut none = Equivalences::default();
    let counterparts = mapping.side(side);
    for (at, node) in program.nodes.iter().enumerate() {
        let id = NodeId(at as u32);
        if !is_mapped(node, id, counterparts) {
            none.changed.push((id, rule(program, mapping, side, id)));
        }
    }
    none
}

/// Takes each node of these pairs of procedures for changed.
pub(crate) fn take_whole(
    programs: &PerSide<Program>,
    pairs: &[(ProcedureId, ProcedureId)],
    into: &mut PerSide<Equivalences>,
) {
    for (old, new) in pairs {
        for (side, id) in [(Side::Old, old), (Side::New, new)] {
            let nodes = programs[side].procedures[id.index()].nodes.clone().map(NodeId);
            into[side].changed.extend(nodes.map(|node| (node, Rule::SyntChanged)));
        }
    }
}

fn rule(program: &Program, mapping: &Mapping, side: Side, node: NodeId) -> Rule {
    let statement = program.nodes[node.index()].statement;
    let is_same = statement.is_some_and(|one| mapping.side(side).statements[one.index()].is_some());
    if is_same { Rule::Rewired } else { Rule::SyntChanged }
}

/// The pairs of procedures that hold a change.
pub(crate) fn changed_pairs(programs: &PerSide<Program>, mapping: &Mapping) -> Vec<(ProcedureId, ProcedureId)> {
    let mut changed: FxHashSet<ProcedureId> = FxHashSet::default();
    for side in [Side::Old, Side::New] {
        let counterparts = mapping.side(side);
        for (at, node) in programs[side].nodes.iter().enumerate() {
            if !is_mapped(node, NodeId(at as u32), counterparts) {
                let old = match side {
                    Side::Old => Some(node.procedure),
                    Side::New => counterparts.procedures[node.procedure.index()],
                };
                changed.extend(old);
            }
        }
    }
    let mut pairs: Vec<_> =
        changed.into_iter().filter_map(|one| Some((one, mapping.old.procedures[one.index()]?))).collect();
    pairs.sort_unstable();
    pairs
}

/// What is equivalent, where these pairs of procedures are looked into. The procedures of `once` run once.
pub(crate) fn infer(
    programs: &PerSide<Program>,
    mapping: &Mapping,
    relations: &PerSide<Relations>,
    once: &PerSide<Vec<ProcedureId>>,
    analyzed: &[(ProcedureId, ProcedureId)],
) -> PerSide<Equivalences> {
    let mut found =
        PerSide { old: none(&programs.old, mapping, Side::Old), new: none(&programs.new, mapping, Side::New) };
    let inside = PerSide {
        old: analyzed.iter().map(|pair| pair.0).collect::<FxHashSet<_>>(),
        new: analyzed.iter().map(|pair| pair.1).collect::<FxHashSet<_>>(),
    };
    for side in [Side::Old, Side::New] {
        let program = &programs[side];
        found[side].changed.retain(|(node, _)| !inside[side].contains(&program.nodes[node.index()].procedure));
    }
    let sites = PerSide { old: sites(&programs.old), new: sites(&programs.new) };
    let stable = Stable::of(programs, once);
    for side in [Side::Old, Side::New] {
        found[side].silent = stable.one_sided(programs, side);
        let is_inside = |node: NodeId| inside[side].contains(&programs[side].nodes[node.index()].procedure);
        found[side].silent.extend(stable.silent_reads(side).into_iter().filter(|(node, _)| is_inside(*node)));
    }
    for (old, new) in analyzed {
        let site = Site { programs, mapping, relations, sites: &sites };
        procedure(&site, &stable, (*old, *new), &mut found);
    }
    for side in [Side::Old, Side::New] {
        found[side].changed.sort_unstable();
        found[side].differing.sort_unstable();
    }
    found
}

/// Asks a prover for the pairs of which it is not known that they do the same. Whether it showed one.
pub(crate) fn prove(
    programs: &PerSide<Program>,
    mapping: &Mapping,
    pairs: &[(ProcedureId, ProcedureId)],
    known: &mut PerSide<Equivalences>,
    proves: &mut dyn FnMut(ProcedureId, ProcedureId) -> Option<Shown>,
) -> bool {
    let mut is_shown = false;
    for (old, new) in open(programs, pairs, known) {
        let Some(shown) = proves(old, new) else { continue };
        let looked_into = |side: Side, id: ProcedureId| -> Vec<ProcedureId> {
            let procedures = &programs[side].procedures;
            let is_meant =
                |one: &Procedure| one.path == procedures[id.index()].path && shown.looked_into.contains(&one.qualname);
            (0..procedures.len() as u32).map(ProcedureId).filter(|one| is_meant(&procedures[one.index()])).collect()
        };
        let looked_into = PerSide::new(looked_into(Side::Old, old), looked_into(Side::New, new));
        // What both versions have and call otherwise may see other values.
        let has_counterpart =
            |side: Side| looked_into[side].iter().any(|one| mapping.side(side).procedures[one.index()].is_some());
        if Side::BOTH.into_iter().any(has_counterpart) {
            continue;
        }
        is_shown = true;
        for (side, id) in [(Side::Old, old), (Side::New, new)] {
            let program = &programs[side];
            let known = &mut known[side];
            known.proved.insert(id);
            known.summary.extend(program.procedures[id.index()].outputs);
            known.looked_into.extend(looked_into[side].iter().map(|one| (id, *one)));
        }
    }
    is_shown
}

/// The pairs of which it is not known that they do the same.
pub(crate) fn open(
    programs: &PerSide<Program>,
    pairs: &[(ProcedureId, ProcedureId)],
    known: &PerSide<Equivalences>,
) -> Vec<(ProcedureId, ProcedureId)> {
    let sources = |side: Side| -> FxHashSet<ProcedureId> {
        let nodes =
            known[side].changed.iter().map(|(node, _)| node).chain(known[side].differing.iter().map(|(node, _)| node));
        nodes.map(|node| programs[side].nodes[node.index()].procedure).collect()
    };
    let (ours, theirs) = (sources(Side::Old), sources(Side::New));
    let is_open = |(old, new): &&(ProcedureId, ProcedureId)| {
        (ours.contains(old) || theirs.contains(new)) && !known.new.proved.contains(new)
    };
    pairs.iter().filter(is_open).copied().collect()
}

/// The calls at each node.
fn sites(program: &Program) -> FxHashMap<NodeId, Vec<usize>> {
    let mut sites: FxHashMap<NodeId, Vec<usize>> = FxHashMap::default();
    for (at, site) in program.call_sites.iter().enumerate() {
        sites.entry(site.node).or_default().push(at);
    }
    sites
}

fn procedure(
    site: &Site<'_>,
    stable: &Stable,
    (old, new): (ProcedureId, ProcedureId),
    found: &mut PerSide<Equivalences>,
) {
    let Site { programs, mapping, .. } = *site;
    let pairs = pairs::pairs(site, old, new);
    let mut graph = Graph::new(site, stable, (old, new), &pairs);
    let nodes: Vec<_> = pairs.iter().map(|pair| graph.node(pair)).collect();
    let is_congruent = graph.congruence();
    let mut paired = PerSide { old: FxHashSet::default(), new: FxHashSet::default() };
    for (pair, node) in pairs.iter().zip(nodes) {
        paired.old.insert(pair.old);
        paired.new.insert(pair.new);
        let Pair { old, new, .. } = *pair;
        let role = programs.old.nodes[old.index()].role;
        let same = pair.agrees && is_congruent(node.action);
        if same {
            if matches!(role, Role::Return | Role::Raised | Role::Raises | Role::Failed) {
                found.old.summary.extend(&programs.old.nodes[old.index()].writes);
                found.new.summary.extend(&programs.new.nodes[new.index()].writes);
            }
            continue;
        }
        let by_arguments = pair.agrees
            && node.frame.is_some_and(&is_congruent)
            && node.inputs.iter().any(|(_, items)| !is_congruent(*items));
        for (side, id) in [(Side::Old, old), (Side::New, new)] {
            if by_arguments {
                let differing =
                    node.inputs.iter().filter(|(_, items)| !is_congruent(*items)).map(|(formals, _)| match side {
                        Side::Old => formals.0,
                        Side::New => formals.1,
                    });
                found[side].differing.extend(differing.map(|formal| (id, formal)));
            } else {
                let rule = rule(&programs[side], mapping, side, id);
                found[side].changed.push((id, rule));
            }
        }
    }
    for (side, id) in [(Side::Old, old), (Side::New, new)] {
        let program = &programs[side];
        for at in program.procedures[id.index()].nodes.clone() {
            let node = NodeId(at);
            if !paired[side].contains(&node) && site.acts(side, node) {
                found[side].changed.push((node, rule(program, mapping, side, node)));
            }
        }
    }
}
