//! The graph of values of two versions of a procedure, and which of them are congruent.
//!
//! An item is a value, an action, or what decides whether something runs: an operator upon other items. Congruence is the
//! coarsest partition in which items of one class have the same operator and congruent operands (Alpern, Wegman and Zadeck
//! 1988), for both versions at once. A join of versions is an operator upon what arrives and upon the ways by which it does. A
//! new object has an identity, so its expression stands for it only where one node reads it.

use rustc_hash::{FxHashMap, FxHashSet};
use twincell_syntax::{PerSide, Side};

use super::pairs::{Pair, Site};
use super::partition::{Item, ItemId, classes};
use crate::program::{
    NodeId, Operator, Output, ProcedureId, Program, Role, Shared, Term, Variable, VariableId, hash_of,
};

/// The items of a pair of nodes, each in both versions.
pub(super) struct PairItems {
    /// The whole of what the nodes do.
    pub action: (ItemId, ItemId),
    /// For calls of procedures: all but the arguments.
    pub frame: Option<(ItemId, ItemId)>,
    /// The arguments by their formals.
    pub inputs: Vec<((VariableId, VariableId), (ItemId, ItemId))>,
}

/// Globals whose values are known where they are read.
#[derive(Debug, Default)]
pub(super) struct Stable {
    /// Those that one statement of a module's body gives their only value, with this if it is a constant.
    globals: PerSide<FxHashMap<Shared, Option<u64>>>,
    /// The reads of other ones that surely come before the second write: the constant that the module's body gave.
    initial: PerSide<FxHashMap<(NodeId, VariableId), u64>>,
}

impl Stable {
    /// Each global of a version that is written once, with its value if that is a constant.
    pub fn of(programs: &PerSide<Program>, once: &PerSide<Vec<ProcedureId>>) -> Self {
        let mut stable = Self::default();
        for side in [Side::Old, Side::New] {
            let program = &programs[side];
            let mut writers: FxHashMap<VariableId, Vec<NodeId>> = FxHashMap::default();
            for (at, node) in program.nodes.iter().enumerate().filter(|(_, node)| node.runs) {
                for variable in &node.writes {
                    if let Variable::Shared(Shared::Global(..)) = &program.variables[variable.index()] {
                        writers.entry(*variable).or_default().push(NodeId(at as u32));
                    }
                }
            }
            for (variable, writers) in writers {
                let Variable::Shared(shared) = &program.variables[variable.index()] else { continue };
                let Shared::Global(path, _) = shared else { continue };
                // The body of its own module, where nothing but the entry decides.
                let is_first = |writer: &&NodeId| {
                    let node = &program.nodes[writer.index()];
                    let procedure = &program.procedures[node.procedure.index()];
                    let is_entry = |branch: NodeId| program.nodes[branch.index()].role == Role::Entry;
                    procedure.qualname.is_empty()
                        && procedure.path == *path
                        && node.controls.iter().all(|(branch, _)| is_entry(*branch))
                };
                let first: Vec<&NodeId> = writers.iter().filter(is_first).collect();
                let [first] = first[..] else { continue };
                let value = match &program.nodes[first.index()].term {
                    Some(Term::Constant(hash)) => Some(*hash),
                    _ => None,
                };
                if writers.len() == 1 {
                    stable.globals[side].insert(shared.clone(), value);
                } else if let Some(value) = value {
                    let later: Vec<NodeId> = writers.iter().copied().filter(|one| one != first).collect();
                    let reads = before(program, &once[side], variable, &later);
                    stable.initial[side].extend(reads.into_iter().map(|node| ((node, variable), value)));
                }
            }
        }
        stable
    }

    /// The writes of globals with constant values that the other version does not have.
    pub fn one_sided(&self, programs: &PerSide<Program>, side: Side) -> FxHashSet<(NodeId, VariableId)> {
        let other = match side {
            Side::Old => Side::New,
            Side::New => Side::Old,
        };
        let theirs: FxHashSet<&Shared> = programs[other].variables.iter().filter_map(shared).collect();
        let program = &programs[side];
        let mut found = FxHashSet::default();
        for (at, node) in program.nodes.iter().enumerate() {
            for variable in &node.writes {
                if let Some(shared) = shared(&program.variables[variable.index()])
                    && matches!(self.globals[side].get(shared), Some(Some(_)))
                    && !theirs.contains(shared)
                {
                    found.insert((NodeId(at as u32), *variable));
                }
            }
        }
        found
    }

    /// The reads that give a constant although others write the variable.
    pub fn silent_reads(&self, side: Side) -> FxHashSet<(NodeId, VariableId)> {
        self.initial[side].keys().copied().collect()
    }

    /// The value that a node reads in a variable, if it does not depend on time.
    fn value(&self, side: Side, shared: &Shared, variable: VariableId, reader: NodeId) -> Option<u64> {
        if let Some(constant) = self.initial[side].get(&(reader, variable)) {
            return Some(*constant);
        }
        match self.globals[side].get(shared)? {
            Some(constant) => Some(*constant),
            None => Some(hash_of(("global", shared))),
        }
    }
}

/// Where a node stands, for items that differ from node to node.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// The pair that it belongs to.
    Pair(usize),
    Alone,
}

pub(super) struct Graph<'g, 'p> {
    site: &'g Site<'p>,
    stable: &'g Stable,
    procedures: PerSide<ProcedureId>,
    items: Vec<Item>,
    pair_of: PerSide<FxHashMap<NodeId, usize>>,
    agrees: Vec<bool>,
    writers: PerSide<FxHashMap<VariableId, NodeId>>,
    readers: PerSide<FxHashMap<VariableId, u32>>,
    variables: PerSide<FxHashMap<VariableId, ItemId>>,
    actions: PerSide<FxHashMap<NodeId, ItemId>>,
    branches: PerSide<FxHashMap<NodeId, ItemId>>,
    controls: PerSide<FxHashMap<NodeId, ItemId>>,
    parameters: FxHashSet<String>,
}

impl<'g, 'p> Graph<'g, 'p> {
    pub fn new(site: &'g Site<'p>, stable: &'g Stable, (old, new): (ProcedureId, ProcedureId), pairs: &[Pair]) -> Self {
        let procedures = PerSide { old, new };
        let mut graph = Self {
            site,
            stable,
            procedures,
            items: Vec::new(),
            pair_of: Default::default(),
            agrees: pairs.iter().map(|pair| pair.agrees).collect(),
            writers: Default::default(),
            readers: Default::default(),
            variables: Default::default(),
            actions: Default::default(),
            branches: Default::default(),
            controls: Default::default(),
            parameters: Default::default(),
        };
        for (at, pair) in pairs.iter().enumerate() {
            graph.pair_of.old.insert(pair.old, at);
            graph.pair_of.new.insert(pair.new, at);
        }
        for side in [Side::Old, Side::New] {
            let program = &site.programs[side];
            for at in program.procedures[graph.procedures[side].index()].nodes.clone() {
                let node = &program.nodes[at as usize];
                for variable in &node.writes {
                    graph.writers[side].insert(*variable, NodeId(at));
                }
                let uses = node.reads.iter().collect::<FxHashSet<_>>();
                for variable in uses {
                    *graph.readers[side].entry(*variable).or_default() += 1;
                }
            }
        }
        let names = |side: Side| -> FxHashSet<String> {
            let program = &site.programs[side];
            let inputs = program.procedures[graph.procedures[side].index()].inputs.iter();
            inputs.filter_map(|input| Some(input_name(program, *input)?.to_owned())).collect()
        };
        graph.parameters = names(Side::Old).intersection(&names(Side::New)).cloned().collect();
        graph
    }

    fn add(&mut self, head: u64, operands: Vec<ItemId>) -> ItemId {
        self.items.push(Item { head, operands, is_set: false });
        self.items.len() as ItemId - 1
    }

    fn add_set(&mut self, head: u64, operands: Vec<ItemId>) -> ItemId {
        self.items.push(Item { head, operands, is_set: true });
        self.items.len() as ItemId - 1
    }

    /// An item that is like no other one.
    fn unique(&mut self) -> ItemId {
        let head = hash_of(("unique", self.items.len()));
        self.add(head, Vec::new())
    }

    fn moment(&self, side: Side, node: NodeId) -> Moment {
        self.pair_of[side].get(&node).map_or(Moment::Alone, |pair| Moment::Pair(*pair))
    }

    /// The items of a pair.
    pub fn node(&mut self, pair: &Pair) -> PairItems {
        let action = (self.action(Side::Old, pair.old), self.action(Side::New, pair.new));
        let mut found = PairItems { action, frame: None, inputs: Vec::new() };
        let programs = self.site.programs;
        let (one, other) = (&programs.old.nodes[pair.old.index()], &programs.new.nodes[pair.new.index()]);
        let (Some(ours), Some(theirs)) = (&one.dispatch, &other.dispatch) else { return found };
        let shared = |side: Side, writes: &[VariableId]| {
            writes.iter().any(|one| matches!(programs[side].variables[one.index()], Variable::Shared(_)))
        };
        if shared(Side::Old, &one.writes) || shared(Side::New, &other.writes) {
            return found;
        }
        let frame = |graph: &mut Self, side: Side, node: NodeId, dispatch: &[VariableId]| {
            let mut operands = graph.reads(side, node, dispatch);
            operands.push(graph.control(side, node));
            graph.add(hash_of("dispatch"), operands)
        };
        found.frame = Some((frame(self, Side::Old, pair.old, ours), frame(self, Side::New, pair.new, theirs)));
        for call in self.site.calls(Side::Old, pair.old) {
            let same = |one: &&crate::program::CallSite| self.site.as_old(Side::New, one.callee) == Some(call.callee);
            let Some(counterpart) = self.site.calls(Side::New, pair.new).find(same) else { continue };
            for (at, (formal, _)) in call.inputs.iter().enumerate() {
                let name = input_name(&programs.old, *formal);
                let same = |(input, _): &(VariableId, Vec<VariableId>)| input_name(&programs.new, *input) == name;
                let Some(to) = counterpart.inputs.iter().position(same) else { continue };
                let (other, _) = &counterpart.inputs[to];
                let terms = (call.terms.get(at).cloned().flatten(), counterpart.terms.get(to).cloned().flatten());
                let items = match terms {
                    (Some(ours), Some(theirs)) => {
                        (self.term(Side::Old, &ours, pair.old), self.term(Side::New, &theirs, pair.new))
                    }
                    // What arrives is no single value: it is the same if the whole call is.
                    _ => action,
                };
                found.inputs.push(((*formal, *other), items));
            }
        }
        found
    }

    /// What a node reads, by the names of variables.
    fn reads(&mut self, side: Side, id: NodeId, reads: &[VariableId]) -> Vec<ItemId> {
        let program = &self.site.programs[side];
        let mut named: Vec<(u64, VariableId)> = reads
            .iter()
            .map(|variable| {
                let name = match &program.variables[variable.index()] {
                    Variable::Local(name) if name.is_empty() => 0,
                    Variable::Local(name) | Variable::Input(_, name) => hash_of(name),
                    Variable::Shared(shared) => hash_of(("shared", shared.unnumbered())),
                    Variable::Called(_) => hash_of("called"),
                    Variable::Output(_, _) => 1,
                };
                (name, *variable)
            })
            .collect();
        named.sort_by_key(|(name, variable)| (*name, *variable));
        named
            .into_iter()
            .map(|(name, variable)| {
                let item = self.variable(side, variable, id);
                self.add(name, vec![item])
            })
            .collect()
    }

    /// What a node does.
    fn action(&mut self, side: Side, id: NodeId) -> ItemId {
        if let Some(known) = self.actions[side].get(&id) {
            return *known;
        }
        let node = &self.site.programs[side].nodes[id.index()];
        let item = self.add(0, Vec::new());
        self.actions[side].insert(id, item);
        let acts = self.site.acts(side, id);
        let (head, operands) = match (self.moment(side, id), &node.term) {
            _ if matches!(node.role, Role::Return | Role::Raised | Role::Raises | Role::Failed) => {
                (hash_of(("frame", role(node.role))), self.arrivals(side, id))
            }
            (_, Some(term)) if !acts && !self.is_timed(side, id) => {
                let operands = vec![self.term(side, term, id), self.control(side, id)];
                (hash_of("computes"), operands)
            }
            (Moment::Alone, _) => (hash_of(("unique", item)), Vec::new()),
            (Moment::Pair(pair), Some(term)) => {
                (hash_of(("pair by term", pair)), vec![self.term(side, term, id), self.control(side, id)])
            }
            (Moment::Pair(pair), None) => {
                let mut operands = self.reads(side, id, &node.reads);
                operands.push(self.control(side, id));
                (hash_of(("pair", pair)), operands)
            }
        };
        self.items[item as usize].head = head;
        self.items[item as usize].operands = operands;
        item
    }

    /// What arrives at the end of a procedure: each value with what decides whether it is one.
    fn arrivals(&mut self, side: Side, id: NodeId) -> Vec<ItemId> {
        let program = &self.site.programs[side];
        let node = &program.nodes[id.index()];
        let is_failed = node.role == Role::Failed;
        let mut arrivals = Vec::new();
        for variable in &node.reads {
            let writer = self.writers[side].get(variable).copied();
            let control = writer.map(|writer| self.control(side, writer));
            // Each operation of a term fails by itself, wherever it stands.
            let mut values = Vec::new();
            if let Some(writer) = writer.filter(|_| is_failed)
                && let Some(term) = &program.nodes[writer.index()].term
                && !self.is_timed(side, writer)
            {
                let mut failing = Vec::new();
                operations(term, &mut failing);
                for one in failing {
                    values.push(self.term(side, one, writer));
                }
                if self.site.acts(side, writer) {
                    values.push(self.variable(side, *variable, id));
                }
            } else {
                values.push(self.variable(side, *variable, id));
            }
            for value in values {
                arrivals.push(self.add(hash_of("arrival"), [value].into_iter().chain(control).collect()));
            }
        }
        if is_failed || matches!(node.role, Role::Raised | Role::Raises) {
            return vec![self.add_set(hash_of("any of"), arrivals)];
        }
        arrivals
    }

    /// A node reads something that changes with time.
    fn is_timed(&self, side: Side, id: NodeId) -> bool {
        let program = &self.site.programs[side];
        program.nodes[id.index()].reads.iter().any(|one| match &program.variables[one.index()] {
            Variable::Shared(shared) => self.stable.value(side, shared, *one, id).is_none(),
            _ => false,
        })
    }

    /// The value of a variable where a node reads it.
    fn variable(&mut self, side: Side, variable: VariableId, reader: NodeId) -> ItemId {
        let program = &self.site.programs[side];
        match &program.variables[variable.index()] {
            Variable::Shared(shared) => {
                if let Some(value) = self.stable.value(side, shared, variable, reader) {
                    return self.add(value, Vec::new());
                }
                match self.moment(side, reader) {
                    Moment::Pair(pair) => self.add(hash_of(("shared", shared.unnumbered(), pair)), Vec::new()),
                    Moment::Alone => self.unique(),
                }
            }
            Variable::Called(_) => self.add(hash_of("called"), Vec::new()),
            Variable::Input(_, name) if self.parameters.contains(&**name) => {
                self.add(hash_of(("input", name)), Vec::new())
            }
            Variable::Input(..) | Variable::Output(..) => self.unique(),
            Variable::Local(_) => self.local(side, variable),
        }
    }

    fn local(&mut self, side: Side, variable: VariableId) -> ItemId {
        if let Some(known) = self.variables[side].get(&variable) {
            return *known;
        }
        let Some(writer) = self.writers[side].get(&variable).copied() else {
            let item = self.unique();
            self.variables[side].insert(variable, item);
            return item;
        };
        let program = &self.site.programs[side];
        let node = &program.nodes[writer.index()];
        // A value that is only computed needs no item of its own. A new object is its expression where one node reads it.
        let readers = self.readers[side].get(&variable).copied().unwrap_or_default();
        if let Some(term) = &node.term
            && node.writes.first() == Some(&variable)
            && !self.site.acts(side, writer)
            && !self.is_timed(side, writer)
            && (!is_fresh(term) || readers <= 1)
        {
            let item = self.term(side, term, writer);
            self.variables[side].insert(variable, item);
            return item;
        }
        let item = self.add(0, Vec::new());
        self.variables[side].insert(variable, item);
        let (head, operands) = self.written(side, variable, writer);
        self.items[item as usize].head = head;
        self.items[item as usize].operands = operands;
        item
    }

    /// What a node writes into a local.
    fn written(&mut self, side: Side, variable: VariableId, writer: NodeId) -> (u64, Vec<ItemId>) {
        let program = &self.site.programs[side];
        let node = &program.nodes[writer.index()];
        match node.role {
            Role::Phi => {
                let mut edges = Vec::new();
                for (value, from) in &node.joins {
                    let value = match value {
                        Some(value) => self.variable(side, *value, writer),
                        None => self.add(hash_of("unbound"), Vec::new()),
                    };
                    let way = self.way(side, *from, writer);
                    edges.push(self.add(hash_of("edge"), vec![value, way]));
                }
                return (hash_of("join"), vec![self.add_set(hash_of("edges"), edges)]);
            }
            Role::Parameter => {
                let input = node
                    .reads
                    .iter()
                    .copied()
                    .find(|one| matches!(program.variables[one.index()], Variable::Input(..)));
                let Some(input) = input else { return (hash_of(("unique", self.items.len())), Vec::new()) };
                return (hash_of("parameter"), vec![self.variable(side, input, writer)]);
            }
            _ => {}
        }
        if let Some(result) = self.result(side, variable, writer) {
            return result;
        }
        let name = match &program.variables[variable.index()] {
            Variable::Local(name) => hash_of(name),
            _ => 0,
        };
        let same = |one: &&VariableId| match &program.variables[one.index()] {
            Variable::Local(one) => hash_of(one) == name,
            _ => false,
        };
        let number = node.writes.iter().filter(same).position(|one| *one == variable);
        (hash_of(("written", name, number)), vec![self.action(side, writer)])
    }

    /// What a call of procedures gives: it depends on what the output of each callee depends on.
    fn result(&mut self, side: Side, variable: VariableId, writer: NodeId) -> Option<(u64, Vec<ItemId>)> {
        let Moment::Pair(pair) = self.moment(side, writer) else { return None };
        let program = &self.site.programs[side];
        let node = &program.nodes[writer.index()];
        let dispatch = node.dispatch.as_ref().filter(|_| self.agrees[pair])?;
        let mut operands = self.reads(side, writer, dispatch);
        let mut calls: Vec<_> = self.site.calls(side, writer).collect();
        calls.sort_by_key(|call| self.site.as_old(side, call.callee));
        let mut outputs = Vec::new();
        for call in calls {
            for (output, _) in call.outputs.iter().filter(|(_, to)| *to == variable) {
                let Variable::Output(_, output) = &program.variables[output.index()] else { continue };
                outputs.push(Output::ALL.iter().position(|one| one == output));
                for (at, (formal, _)) in call.inputs.iter().enumerate() {
                    let name = input_name(program, *formal).unwrap_or_default();
                    if !self.site.depends(side, call, *output, name) {
                        continue;
                    }
                    let item = match call.terms.get(at).and_then(Option::as_ref) {
                        Some(term) => self.term(side, term, writer),
                        None => self.action(side, writer),
                    };
                    let name = hash_of(("input", name));
                    operands.push(self.add(name, vec![item]));
                }
            }
        }
        if outputs.is_empty() {
            return None;
        }
        operands.push(self.control(side, writer));
        Some((hash_of(("result", pair, outputs)), operands))
    }

    /// A term as the value of a node.
    fn term(&mut self, side: Side, term: &Term<VariableId>, id: NodeId) -> ItemId {
        match term {
            Term::Variable(variable) => self.variable(side, *variable, id),
            Term::Constant(hash) => self.add(*hash, Vec::new()),
            Term::Apply(operator, parts) => {
                if let Some((condition, is_turned)) = truth(term) {
                    let item = self.term(side, condition, id);
                    return self.add(hash_of(("truth", is_turned)), vec![item]);
                }
                let mut operands: Vec<ItemId> = parts.iter().map(|part| self.term(side, part, id)).collect();
                if self.is_timed(side, id) {
                    operands.push(match self.moment(side, id) {
                        Moment::Pair(pair) => self.add(hash_of(("at", pair)), Vec::new()),
                        Moment::Alone => self.unique(),
                    });
                }
                self.add(operator.id, operands)
            }
        }
    }

    /// What decides whether a node runs.
    fn control(&mut self, side: Side, id: NodeId) -> ItemId {
        if let Some(known) = self.controls[side].get(&id) {
            return *known;
        }
        let item = self.add_set(hash_of("controls"), Vec::new());
        self.controls[side].insert(id, item);
        let node = &self.site.programs[side].nodes[id.index()];
        let mut operands = Vec::new();
        for (branch, at) in &node.controls {
            operands.push(self.side(side, *branch, *at));
        }
        self.items[item as usize].operands = operands;
        item
    }

    /// One side of a branch.
    fn side(&mut self, side: Side, branch: NodeId, at: u8) -> ItemId {
        let (condition, is_turned) = self.branch(side, branch);
        let at = match at {
            0 | 1 if is_turned => 1 - at,
            at => at,
        };
        self.add(hash_of(("side", at)), vec![condition])
    }

    /// A branch by its condition, and whether its sides change places.
    fn branch(&mut self, side: Side, id: NodeId) -> (ItemId, bool) {
        let node = &self.site.programs[side].nodes[id.index()];
        let turned = match &node.term {
            Some(term) if !self.site.acts(side, id) => condition(term).1,
            _ => false,
        };
        if let Some(known) = self.branches[side].get(&id) {
            return (*known, turned);
        }
        let item = self.add(hash_of("branch"), Vec::new());
        self.branches[side].insert(id, item);
        let operands = if node.role == Role::Entry {
            vec![self.add(hash_of("entry"), Vec::new())]
        } else {
            let condition = match &node.term {
                Some(term) if !self.site.acts(side, id) && !self.is_timed(side, id) => {
                    self.term(side, condition(term).0, id)
                }
                _ => self.action(side, id),
            };
            vec![condition, self.control(side, id)]
        };
        self.items[item as usize].operands = operands;
        (item, turned)
    }

    /// The way over an edge to a join.
    fn way(&mut self, side: Side, from: NodeId, _join: NodeId) -> ItemId {
        let node = &self.site.programs[side].nodes[from.index()];
        let control = self.control(side, from);
        if !node.is_branching {
            return control;
        }
        let (condition, turned) = self.branch(side, from);
        self.add(hash_of(("way", turned)), vec![control, condition])
    }

    /// The classes of all items.
    pub fn congruence(self) -> impl Fn((ItemId, ItemId)) -> bool {
        let classes = classes(&self.items);
        move |(one, other)| classes[one as usize] == classes[other as usize]
    }
}

/// The nodes of procedures that run once and read a variable before any of its later writers may run.
fn before(program: &Program, once: &[ProcedureId], variable: VariableId, later: &[NodeId]) -> Vec<NodeId> {
    let mut writing: FxHashSet<ProcedureId> = later.iter().map(|node| program.nodes[node.index()].procedure).collect();
    loop {
        let callers = program.call_sites.iter().filter(|site| writing.contains(&site.callee));
        let callers: Vec<_> = callers.map(|site| program.nodes[site.node.index()].procedure).collect();
        let count = writing.len();
        writing.extend(callers);
        if writing.len() == count {
            break;
        }
    }
    // What modules call when they are imported comes first.
    if writing.iter().any(|one| program.procedures[one.index()].qualname.is_empty()) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for procedure in once {
        let nodes = program.procedures[procedure.index()].nodes.clone();
        let calls = program.call_sites.iter().filter(|site| writing.contains(&site.callee)).map(|site| site.node.0);
        let first = later.iter().map(|node| node.0).chain(calls).filter(|node| nodes.contains(node)).min();
        // Nodes stand in the order of the text, which only loops turn back.
        let end = first.unwrap_or(nodes.end);
        let reads = (nodes.start..end).map(NodeId).filter(|node| program.nodes[node.index()].reads.contains(&variable));
        found.extend(reads.filter(|node| !is_repeated(program, *node)));
    }
    found
}

/// Whether a node may run more than once in one run of its procedure.
fn is_repeated(program: &Program, node: NodeId) -> bool {
    let mut seen: FxHashSet<NodeId> = FxHashSet::default();
    let mut open = vec![node];
    while let Some(next) = open.pop() {
        let controls = program.nodes[next.index()].controls.iter().map(|control| control.0);
        for branch in controls {
            if branch == next || branch.0 >= node.0 {
                return true;
            }
            if seen.insert(branch) {
                open.push(branch);
            }
        }
    }
    false
}

fn shared(variable: &Variable) -> Option<&Shared> {
    match variable {
        Variable::Shared(shared) => Some(shared),
        _ => None,
    }
}

fn role(role: Role) -> u8 {
    match role {
        Role::Return => 0,
        Role::Raised => 1,
        Role::Raises => 3,
        _ => 2,
    }
}

fn input_name(program: &Program, input: VariableId) -> Option<&str> {
    match &program.variables[input.index()] {
        Variable::Input(_, name) => Some(name),
        _ => None,
    }
}

/// A value that may be a new object.
fn is_fresh(term: &Term<VariableId>) -> bool {
    match term {
        Term::Apply(operator, parts) => operator.is_fresh || parts.iter().any(is_fresh),
        _ => false,
    }
}

/// The operations of a term that may fail and do nothing else.
fn operations<'t>(term: &'t Term<VariableId>, into: &mut Vec<&'t Term<VariableId>>) {
    if let Term::Apply(operator, parts) = term {
        if operator.fails && !operator.acts {
            into.push(term);
        }
        parts.iter().for_each(|part| operations(part, into));
    }
}

/// What a truth value is the truth of, and whether it is turned around.
fn truth(term: &Term<VariableId>) -> Option<(&Term<VariableId>, bool)> {
    let Term::Apply(operator, parts) = term else { return None };
    let constant = |value: bool| hash_of(("truth", value));
    if *operator == Operator::not()
        && let [part] = &parts[..]
    {
        let (inner, turned) = condition(part);
        return Some((inner, !turned));
    }
    if *operator == Operator::choice()
        && let [test, Term::Constant(one), Term::Constant(other)] = &parts[..]
    {
        let (inner, turned) = condition(test);
        if (*one, *other) == (constant(true), constant(false)) {
            return Some((inner, turned));
        }
        if (*one, *other) == (constant(false), constant(true)) {
            return Some((inner, !turned));
        }
    }
    None
}

/// What a condition asks the truth of, and whether it is turned around.
fn condition(term: &Term<VariableId>) -> (&Term<VariableId>, bool) {
    if let Some(found) = truth(term) {
        return found;
    }
    // `1 if x else 0` as a condition is `x`.
    if let Term::Apply(operator, parts) = term
        && *operator == Operator::choice()
        && let [test, Term::Constant(one), Term::Constant(other)] = &parts[..]
    {
        let number = |value: u8| hash_of(("number", format!("Int({value})")));
        let (inner, turned) = condition(test);
        if (*one, *other) == (number(1), number(0)) {
            return (inner, turned);
        }
        if (*one, *other) == (number(0), number(1)) {
            return (inner, !turned);
        }
    }
    (term, false)
}
