//! Which nodes of two versions are the same (the paper's section 3.1): a structural diff with moves. What is not mapped is
//! changed.
//!
//! Statements of a procedure are aligned by their texts. That alone is no sound diff: a statement of the same text may read
//! what another one wrote. So two nodes stay mapped only if the nodes that they depend on are mapped to each other, too. A
//! dependence on a node that is not mapped needs no such test, because the impact of that node arrives over it.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use twincell_syntax::Side;

use crate::program::{Node, NodeId, ProcedureId, Program, Role, Shared, StatementId, Variable, VariableId};

/// The largest product of two numbers of statements that are aligned. Beyond it, only what is the same from the beginning
/// and from the end is.
const MAX_ALIGNED: usize = 100_000_000;

/// The most versions of a local that are followed to where they were written.
const MAX_ORIGINS: usize = 1_000;

/// The nodes and statements of one version with their counterparts in the other one.
#[derive(Debug, Default)]
pub(crate) struct Counterparts {
    pub procedures: Vec<Option<ProcedureId>>,
    /// By text, whatever the nodes depend on.
    pub statements: Vec<Option<StatementId>>,
    pub nodes: Vec<Option<NodeId>>,
}

impl Counterparts {
    fn of(program: &Program) -> Self {
        Self {
            procedures: vec![None; program.procedures.len()],
            statements: vec![None; program.statements.len()],
            nodes: vec![None; program.nodes.len()],
        }
    }
}

#[derive(Debug)]
pub(crate) struct Mapping {
    pub old: Counterparts,
    pub new: Counterparts,
    /// The nodes of the old version that have the same text in the new one, whatever they depend on.
    pub texts: FxHashMap<NodeId, NodeId>,
}

impl Mapping {
    pub fn side(&self, side: Side) -> &Counterparts {
        match side {
            Side::Old => &self.old,
            Side::New => &self.new,
        }
    }

    fn statement(&mut self, old: StatementId, new: StatementId) {
        self.old.statements[old.index()] = Some(new);
        self.new.statements[new.index()] = Some(old);
    }

    fn node(&mut self, old: NodeId, new: NodeId) {
        self.old.nodes[old.index()] = Some(new);
        self.new.nodes[new.index()] = Some(old);
    }
}

/// Whether a node is mapped. A join of versions is none of the text, and changes with what it joins.
pub(crate) fn is_mapped(node: &Node, id: NodeId, counterparts: &Counterparts) -> bool {
    node.role == Role::Phi || counterparts.nodes[id.index()].is_some()
}

pub(crate) fn map(old: &Program, new: &Program) -> Mapping {
    let mut mapping = Mapping { old: Counterparts::of(old), new: Counterparts::of(new), texts: FxHashMap::default() };
    let pairs = procedures(old, new);
    let (old_texts, new_texts) = (Texts::of(old), Texts::of(new));
    for (one, other) in &pairs {
        mapping.old.procedures[one.index()] = Some(*other);
        mapping.new.procedures[other.index()] = Some(*one);
    }
    for (one, other) in &pairs {
        frame(old, new, *one, *other, &mut mapping);
        let left = aligned(&old_texts, &new_texts, *one, *other, &mut mapping);
        moved(&old_texts, &new_texts, left, &mut mapping);
    }
    let nodes = mapping.old.nodes.iter().enumerate();
    mapping.texts = nodes.filter_map(|(at, other)| Some((NodeId(at as u32), (*other)?))).collect();
    let rewired: Vec<(NodeId, NodeId)> = {
        let (ours, theirs) = (Dependences::of(old, &mapping.old, true), Dependences::of(new, &mapping.new, false));
        let nodes = mapping.old.nodes.iter().enumerate();
        let mapped = nodes.filter_map(|(at, other)| Some((NodeId(at as u32), (*other)?)));
        mapped.filter(|(one, other)| !ours.agree(*one, &theirs, *other)).collect()
    };
    for (one, other) in rewired {
        mapping.old.nodes[one.index()] = None;
        mapping.new.nodes[other.index()] = None;
    }
    mapping
}

/// The procedures that are the same by name, and those that only moved.
fn procedures(old: &Program, new: &Program) -> Vec<(ProcedureId, ProcedureId)> {
    let named = |program: &Program| -> BTreeMap<_, ProcedureId> {
        let all = program.procedures.iter().enumerate();
        all.map(|(at, one)| ((one.path.clone(), one.qualname.clone(), one.ordinal), ProcedureId(at as u32))).collect()
    };
    let (ours, theirs) = (named(old), named(new));
    let mut pairs: Vec<_> = ours.iter().filter_map(|(name, one)| Some((*one, *theirs.get(name)?))).collect();
    let left = |program: &Program, own: &BTreeMap<_, ProcedureId>, other: &BTreeMap<_, ProcedureId>| {
        let mut by_key: BTreeMap<u64, Vec<ProcedureId>> = BTreeMap::new();
        for (_, one) in own.iter().filter(|(name, _)| !other.contains_key(*name)) {
            by_key.entry(program.procedures[one.index()].key).or_default().push(*one);
        }
        by_key
    };
    let (gone, come) = (left(old, &ours, &theirs), left(new, &theirs, &ours));
    for (key, one) in gone {
        if let ([one], Some([other])) = (&one[..], come.get(&key).map(Vec::as_slice)) {
            pairs.push((*one, *other));
        }
    }
    pairs.sort_unstable();
    pairs
}

/// The statements of procedures, and the nodes of statements, in order.
struct Texts<'p> {
    program: &'p Program,
    statements: Vec<Vec<StatementId>>,
    nodes: Vec<Vec<NodeId>>,
}

impl<'p> Texts<'p> {
    fn of(program: &'p Program) -> Self {
        let mut statements = vec![Vec::new(); program.procedures.len()];
        for (at, statement) in program.statements.iter().enumerate() {
            statements[statement.procedure.index()].push(StatementId(at as u32));
        }
        let mut nodes = vec![Vec::new(); program.statements.len()];
        for (at, node) in program.nodes.iter().enumerate() {
            if let Some(statement) = node.statement {
                nodes[statement.index()].push(NodeId(at as u32));
            }
        }
        Self { program, statements, nodes }
    }

    fn keys(&self, statements: &[StatementId]) -> Vec<u64> {
        statements.iter().map(|one| self.program.statements[one.index()].key).collect()
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.program.nodes[id.index()]
    }
}

/// Maps the nodes of a procedure that are none of its text.
fn frame(old: &Program, new: &Program, one: ProcedureId, other: ProcedureId, mapping: &mut Mapping) {
    let names = |program: &Program, id: ProcedureId| -> FxHashMap<(Role, String), NodeId> {
        let procedure = &program.procedures[id.index()];
        let mut found = FxHashMap::default();
        let mut inputs = procedure.inputs.iter();
        for at in procedure.nodes.clone() {
            let role = program.nodes[at as usize].role;
            let name = match role {
                Role::Step | Role::Landing | Role::Phi => continue,
                Role::Parameter => inputs.next().map(|input| match &program.variables[input.index()] {
                    Variable::Input(_, name) => name.to_string(),
                    _ => String::new(),
                }),
                _ => None,
            };
            found.insert((role, name.unwrap_or_default()), NodeId(at));
        }
        found
    };
    let theirs = names(new, other);
    for (name, node) in names(old, one) {
        if let Some(counterpart) = theirs.get(&name) {
            mapping.node(node, *counterpart);
        }
    }
}

/// Equal elements in the same order, as pairs of positions.
fn equal_in_order<T: std::hash::Hash + Ord>(old: &[T], new: &[T]) -> Vec<(usize, usize)> {
    let before = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let after = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(one, other)| one == other).count();
    let (old_rest, new_rest) = (&old_rest[..old_rest.len() - after], &new_rest[..new_rest.len() - after]);
    let mut pairs: Vec<(usize, usize)> = (0..before).map(|at| (at, at)).collect();
    if old_rest.len().saturating_mul(new_rest.len()) <= MAX_ALIGNED {
        for op in capture_diff_slices(Algorithm::Myers, old_rest, new_rest) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                pairs.extend((0..len).map(|at| (before + old_index + at, before + new_index + at)));
            }
        }
    }
    pairs.extend((0..after).map(|at| (old.len() - after + at, new.len() - after + at)));
    pairs
}

/// Maps statements of equal text in the same order, and calls of equal text within the others. Gives the statements that
/// are left.
fn aligned(
    old: &Texts<'_>,
    new: &Texts<'_>,
    one: ProcedureId,
    other: ProcedureId,
    mapping: &mut Mapping,
) -> (Vec<StatementId>, Vec<StatementId>) {
    let (ours, theirs) = (&old.statements[one.index()], &new.statements[other.index()]);
    let pairs = equal_in_order(&old.keys(ours), &new.keys(theirs));
    let mut left = (Vec::new(), Vec::new());
    let mut from = (0, 0);
    for (at, to) in pairs.iter().copied().chain([(ours.len(), theirs.len())]) {
        let gap = (&ours[from.0..at], &theirs[from.1..to]);
        nodes(old, new, gap, true, mapping);
        left.0.extend(gap.0);
        left.1.extend(gap.1);
        if let (Some(one), Some(other)) = (ours.get(at), theirs.get(to)) {
            mapping.statement(*one, *other);
            nodes(old, new, (&[*one], &[*other]), false, mapping);
        }
        from = (at + 1, to + 1);
    }
    left
}

/// Maps the nodes of statements. In other statements of the same place, only nodes that do not depend on the rest of the
/// statement can be the same.
fn nodes(
    old: &Texts<'_>,
    new: &Texts<'_>,
    (ours, theirs): (&[StatementId], &[StatementId]),
    only_whole: bool,
    mapping: &mut Mapping,
) {
    let list = |texts: &Texts<'_>, statements: &[StatementId]| -> Vec<NodeId> {
        let all = statements.iter().flat_map(|one| texts.nodes[one.index()].iter().copied());
        all.filter(|node| !only_whole || texts.node(*node).is_whole).collect()
    };
    let (ours, theirs) = (list(old, ours), list(new, theirs));
    let keys =
        |texts: &Texts<'_>, nodes: &[NodeId]| -> Vec<u64> { nodes.iter().map(|node| texts.node(*node).key).collect() };
    for (at, to) in equal_in_order(&keys(old, &ours), &keys(new, &theirs)) {
        mapping.node(ours[at], theirs[to]);
    }
}

/// Maps statements that stand elsewhere and only compute locals from locals: for those, nothing but what they depend on
/// matters.
fn moved(old: &Texts<'_>, new: &Texts<'_>, left: (Vec<StatementId>, Vec<StatementId>), mapping: &mut Mapping) {
    let by_key = |texts: &Texts<'_>, statements: &[StatementId]| {
        let mut found: BTreeMap<u64, Vec<StatementId>> = BTreeMap::new();
        for statement in statements.iter().filter(|one| only_computes(texts, **one)) {
            found.entry(texts.program.statements[statement.index()].key).or_default().push(*statement);
        }
        found
    };
    let theirs = by_key(new, &left.1);
    for (key, ours) in by_key(old, &left.0) {
        if let ([one], Some([other])) = (&ours[..], theirs.get(&key).map(Vec::as_slice)) {
            mapping.statement(*one, *other);
            nodes(old, new, (&[*one], &[*other]), false, mapping);
        }
    }
}

fn only_computes(texts: &Texts<'_>, statement: StatementId) -> bool {
    let nodes = &texts.nodes[statement.index()];
    let is_local = |variable: &VariableId| matches!(texts.program.variables[variable.index()], Variable::Local(_));
    let returns = |variable: &VariableId| matches!(&texts.program.variables[variable.index()], Variable::Local(name) if &**name == "return");
    !nodes.is_empty()
        && nodes.iter().map(|node| texts.node(*node)).all(|node| {
            let all = node.reads.iter().chain(&node.writes);
            !node.is_branching
                && !node.is_whole
                && !node.writes.is_empty()
                && all.clone().all(is_local)
                && !node.writes.iter().any(returns)
        })
}

/// What nodes depend on, in terms of the old version.
struct Dependences<'p> {
    program: &'p Program,
    counterparts: &'p Counterparts,
    is_old: bool,
    writers: FxHashMap<VariableId, NodeId>,
    callees: FxHashMap<NodeId, BTreeSet<ProcedureId>>,
}

/// Where a value comes from.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin<'p> {
    Node(NodeId),
    Input(Option<ProcedureId>, &'p str),
    Shared(Shared),
}

impl<'p> Dependences<'p> {
    fn of(program: &'p Program, counterparts: &'p Counterparts, is_old: bool) -> Self {
        let mut writers = FxHashMap::default();
        for (at, node) in program.nodes.iter().enumerate() {
            for variable in &node.writes {
                if !matches!(program.variables[variable.index()], Variable::Shared(_)) {
                    writers.insert(*variable, NodeId(at as u32));
                }
            }
        }
        let mut callees: FxHashMap<NodeId, BTreeSet<ProcedureId>> = FxHashMap::default();
        for site in &program.call_sites {
            let callee = if is_old { Some(site.callee) } else { counterparts.procedures[site.callee.index()] };
            let has_both = !is_old || counterparts.procedures[site.callee.index()].is_some();
            callees.entry(site.node).or_default().extend(callee.filter(|_| has_both));
        }
        Self { program, counterparts, is_old, writers, callees }
    }

    /// The node in terms of the old version, if it is mapped.
    fn as_old(&self, node: NodeId) -> Option<NodeId> {
        let other = self.counterparts.nodes[node.index()]?;
        Some(if self.is_old { node } else { other })
    }

    /// The origins of what a node reads, by the name of the variable. `None` stands for one that is not mapped.
    fn origins(&self, node: NodeId) -> BTreeMap<&'p str, BTreeSet<Option<Origin<'p>>>> {
        let mut found: BTreeMap<&str, BTreeSet<Option<Origin<'_>>>> = BTreeMap::new();
        for variable in &self.program.nodes[node.index()].reads {
            let mut seen = BTreeSet::new();
            let mut open = vec![*variable];
            while let Some(next) = open.pop() {
                if seen.len() >= MAX_ORIGINS {
                    // Too many to be compared are taken to differ.
                    let never = NodeId(if self.is_old { u32::MAX } else { u32::MAX - 1 });
                    found.entry("").or_default().insert(Some(Origin::Node(never)));
                    break;
                }
                if !seen.insert(next) {
                    continue;
                }
                let (name, origin) = match &self.program.variables[next.index()] {
                    Variable::Local(name) => {
                        let Some(writer) = self.writers.get(&next) else { continue };
                        let by = &self.program.nodes[writer.index()];
                        if by.role == Role::Phi {
                            open.extend(&by.reads);
                            continue;
                        }
                        (&**name, self.as_old(*writer).map(Origin::Node))
                    }
                    Variable::Called(procedure) | Variable::Output(procedure, _) => {
                        ("", Some(Origin::Input(self.procedure(*procedure), "")))
                    }
                    Variable::Input(procedure, name) => {
                        (&**name, Some(Origin::Input(self.procedure(*procedure), name)))
                    }
                    Variable::Shared(shared) => ("", Some(Origin::Shared(shared.unnumbered()))),
                };
                found.entry(name).or_default().insert(origin);
            }
        }
        found
    }

    fn procedure(&self, id: ProcedureId) -> Option<ProcedureId> {
        if self.is_old { Some(id) } else { self.counterparts.procedures[id.index()] }
    }

    /// What a node writes besides values of expressions.
    fn written(&self, node: NodeId) -> Vec<(&'p str, Option<Shared>)> {
        let writes = self.program.nodes[node.index()].writes.iter();
        let named = writes.filter_map(|variable| match &self.program.variables[variable.index()] {
            Variable::Local(name) if !name.is_empty() => Some((&**name, None)),
            Variable::Shared(shared) => Some(("", Some(shared.unnumbered()))),
            _ => None,
        });
        let mut found: Vec<_> = named.collect();
        found.sort();
        found.dedup();
        found
    }

    /// Whether two mapped nodes depend on nodes that are mapped to each other, and call and write the same.
    fn agree(&self, own: NodeId, other: &Dependences<'_>, theirs: NodeId) -> bool {
        let calls = |dependences: &Dependences<'_>, node| dependences.callees.get(&node).cloned().unwrap_or_default();
        if calls(self, own) != calls(other, theirs) || self.written(own) != other.written(theirs) {
            return false;
        }
        let controls = |dependences: &Dependences<'_>, node: NodeId| -> Option<BTreeSet<(NodeId, u8)>> {
            let all = dependences.program.nodes[node.index()].controls.iter();
            all.map(|(branch, side)| Some((dependences.as_old(*branch)?, *side))).collect()
        };
        if let (Some(ours), Some(theirs)) = (controls(self, own), controls(other, theirs))
            && ours != theirs
        {
            return false;
        }
        let (mut ours, mut theirs) = (self.origins(own), other.origins(theirs));
        // Each value of an expression has one origin, so that those that are mapped can be compared alone.
        for origins in [ours.get_mut(""), theirs.get_mut("")].into_iter().flatten() {
            origins.remove(&None);
        }
        let names: BTreeSet<&str> = ours.keys().chain(theirs.keys()).copied().collect();
        names.into_iter().all(|name| {
            let none = BTreeSet::new();
            let (own, other) = (ours.get(name).unwrap_or(&none), theirs.get(name).unwrap_or(&none));
            own.contains(&None) || other.contains(&None) || own == other
        })
    }
}
