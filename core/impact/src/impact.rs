//! The analysis from two projects to a result: lower, map, apply the rules to both versions, and join what they derived.

use std::collections::hash_map;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use twincell_semantic::{Project, calls_are_cut};
use twincell_syntax::{PerSide, Side};

use crate::dcia::{Derived, Equivalences, Fact, Reached, Relations, Rule};
use crate::lower::lower;
use crate::mapping::{Counterparts, Mapping, map};
use crate::program::{
    NodeId, Output, ProcedureId, Program, Role, Shared, StatementId, Unsound, UnsoundKind, Variable, VariableId,
};
use crate::prover::{FunctionPlace, NoProver, Prover};
use crate::result::{
    Cut, Entries, Entry, Equivalence, FunctionImpact, IMPACT_VERSION, Impact, ImpactOptions, LevelSummary, Place,
    Pruned, Sources, State, StatementImpact, Step, StepPlace, VariableName,
};
use crate::sem::{changed_pairs, infer, none, open, prove, take_whole};

/// Which statements of the new version may see other values than in the old one, and why.
pub fn impact(old: &Project, new: &Project, entries: &Entries, options: &ImpactOptions) -> Impact {
    impact_levels(old, new, entries, options, &NoProver, &|| false, &mut |_| ControlFlow::Continue(()))
}

/// What one level found.
#[derive(Debug)]
pub struct Level {
    pub summary: LevelSummary,
    /// The statements that it leaves impacted, by path and line.
    pub impacted: Vec<Place>,
    /// The analysis as it stands after the level.
    pub snapshot: Snapshot,
}

/// The analysis after a level, from which its whole result can be made, also on another thread and while a later level is
/// looked for. A copy is cheap.
#[derive(Clone)]
pub struct Snapshot {
    joined: Joined,
    /// The procedures of the new version that executions reach.
    reached: Arc<[bool]>,
    entries: Entries,
    options: ImpactOptions,
    cut: Vec<Cut>,
    levels: Vec<LevelSummary>,
    is_last: bool,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Snapshot")
            .field("levels", &self.levels)
            .field("is_last", &self.is_last)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Whether no further level follows.
    pub fn is_last(&self) -> bool {
        self.is_last
    }

    /// The result, where the analysis ends here.
    pub fn impact(&self) -> Impact {
        let (joined, mut cut) = (&self.joined, self.cut.clone());
        let statements = joined.statements(&self.options, &mut cut);
        let functions = joined.functions(&statements, &self.reached);
        let mut statements: Vec<StatementImpact> = statements.into_iter().map(|(_, statement)| statement).collect();
        if statements.len() > self.options.max_statements {
            statements.truncate(self.options.max_statements);
            cut.push(Cut::Statements);
        }
        let unknown = |entry: &&Entry| !joined.programs.new.procedures.iter().any(|one| is_entry(one, entry));
        Impact {
            version: IMPACT_VERSION,
            statements,
            removed: joined.removed(),
            functions,
            unsound: joined.unsound(),
            unknown_entries: self.entries.0.iter().filter(unknown).cloned().collect(),
            cut,
            levels: self.levels.clone(),
            is_partial: !self.is_last,
        }
    }
}

/// The anytime algorithm (after the paper's Algorithm 1): DCIA, then level 0, which compares the changed functions by themselves,
/// and then levels that let the prover look into more and more calls. Each level is a result by itself and only takes
/// statements away. The analysis ends with the depth of the options or of the prover, or with the last whole level
/// when `is_interrupted` or `on_level` say so. Who cannot wait for an interrupted level takes the [`Snapshot`] of the one before.
pub fn impact_levels(
    old: &Project,
    new: &Project,
    entries: &Entries,
    options: &ImpactOptions,
    prover: &dyn Prover,
    is_interrupted: &dyn Fn() -> bool,
    on_level: &mut dyn FnMut(&Level) -> ControlFlow<()>,
) -> Impact {
    let programs = PerSide { old: lower(old), new: lower(new) };
    let mapping = map(&programs.old, &programs.new);
    let reached = PerSide {
        old: reached(&programs.old, &mapping.old, entries),
        new: reached(&programs.new, &mapping.new, entries),
    };
    let once =
        PerSide { old: once(&programs.old, entries, &reached.old), new: once(&programs.new, entries, &reached.new) };
    let relations = PerSide {
        old: Relations::of(&programs.old, &mapping.old, options.outside, &reached.old),
        new: Relations::of(&programs.new, &mapping.new, options.outside, &reached.new),
    };
    let derived = |programs: &PerSide<Program>, equivalences: &PerSide<Equivalences>| PerSide {
        old: relations.old.impact(&programs.old, &equivalences.old),
        new: relations.new.impact(&programs.new, &equivalences.new),
    };
    let mut cut = Vec::new();
    if programs.old.is_cut || programs.new.is_cut {
        cut.push(Cut::Program);
    }
    if calls_are_cut(old) || calls_are_cut(new) {
        cut.push(Cut::Calls);
    }
    let changed = changed_pairs(&programs, &mapping);
    let mut first =
        PerSide { old: none(&programs.old, &mapping, Side::Old), new: none(&programs.new, &mapping, Side::New) };
    if options.sources == Sources::Functions {
        take_whole(&programs, &changed, &mut first);
    }
    let first = Arc::new(derived(&programs, &first));
    let (programs, mapping) = (Arc::new(programs), Arc::new(mapping));
    let joined = Joined { programs, mapping, derived: first, left: None, pruned: Arc::default() };
    let levels = vec![joined.summary(None, 0)];
    let (entries, options) = (entries.clone(), options.clone());
    let reached = reached.new.procedures.as_slice().into();
    let mut known = Snapshot { joined, reached, entries, options, cut, levels, is_last: false };
    let mut ends = on_level(&known.level()).is_break();
    let mut equivalences = None;
    let deepest = known.options.depth.unwrap_or(u32::MAX).min(prover.depth());
    for k in 0..=deepest {
        if ends || is_interrupted() {
            break;
        }
        let mut joined = known.joined.clone();
        let same =
            equivalences.get_or_insert_with(|| infer(&joined.programs, &joined.mapping, &relations, &once, &changed));
        let mut asked = 0;
        let is_proved = prove(&joined.programs, &joined.mapping, &changed, same, &mut |one, other| {
            asked += 1;
            let (old, new) = (joined.place_of(Side::Old, one), joined.place_of(Side::New, other));
            if is_interrupted() { None } else { prover.proves(&old, &new, k) }
        });
        if is_interrupted() {
            break;
        }
        if k == 0 || is_proved {
            joined.refine(derived(&joined.programs, same), k, same, &known.options);
        }
        let compared = if k == 0 { changed.len() } else { asked };
        known.levels.push(joined.summary(Some(k), compared));
        known.joined = joined;
        let may_go_on = |(one, other): (ProcedureId, ProcedureId)| {
            let (old, new) = (known.joined.place_of(Side::Old, one), known.joined.place_of(Side::New, other));
            prover.is_deeper(&old, &new, k + 1)
        };
        let left = open(&known.joined.programs, &changed, same);
        known.is_last = k == deepest || !left.into_iter().any(may_go_on);
        ends = on_level(&known.level()).is_break() || known.is_last;
    }
    known.impact()
}

fn is_entry(procedure: &crate::program::Procedure, entry: &Entry) -> bool {
    *procedure.module == *entry.module && *procedure.qualname == *entry.function
}

/// Which procedures executions from the entries may reach. Without entries, executions start at what both versions have.
fn reached(program: &Program, counterparts: &Counterparts, entries: &Entries) -> Reached {
    let mut callees: Vec<Vec<ProcedureId>> = vec![Vec::new(); program.procedures.len()];
    for site in &program.call_sites {
        callees[program.nodes[site.node.index()].procedure.index()].push(site.callee);
    }
    let mut procedures = vec![false; program.procedures.len()];
    let starts = program.procedures.iter().enumerate().filter(|(at, procedure)| {
        if entries.0.is_empty() {
            return counterparts.procedures[*at].is_some();
        }
        entries.0.iter().any(|entry| {
            // The module of an entry is imported before.
            is_entry(procedure, entry) || *procedure.module == *entry.module && procedure.qualname.is_empty()
        })
    });
    let starts: Vec<ProcedureId> = starts.map(|(at, _)| ProcedureId(at as u32)).collect();
    let mut open = starts.clone();
    while let Some(next) = open.pop() {
        if !std::mem::replace(&mut procedures[next.index()], true) {
            open.extend(&callees[next.index()]);
        }
    }
    Reached { procedures, starts }
}

/// The entries that nothing calls: an execution runs one of them, once.
fn once(program: &Program, entries: &Entries, reached: &Reached) -> Vec<ProcedureId> {
    if entries.0.is_empty() {
        return Vec::new();
    }
    let is_called = |one: &ProcedureId| program.call_sites.iter().any(|site| site.callee == *one);
    reached.starts.iter().copied().filter(|one| !is_called(one)).collect()
}

impl Snapshot {
    fn level(&self) -> Level {
        let joined = &self.joined;
        let mut impacted: Vec<Place> = joined.impacted().keys().map(|id| joined.place(Side::New, *id)).collect();
        impacted.sort();
        // DCIA is always among the levels.
        let summary = self.levels.last().cloned().unwrap_or_else(|| joined.summary(None, 0));
        Level { summary, impacted, snapshot: self.clone() }
    }
}

/// Where the changes are that make nodes sources of impact, by procedures.
type Origins = FxHashMap<(Side, ProcedureId), FxHashMap<NodeId, NodeId>>;

/// What was derived of both versions.
#[derive(Clone)]
struct Joined {
    programs: Arc<PerSide<Program>>,
    mapping: Arc<Mapping>,
    derived: Arc<PerSide<Derived>>,
    /// The statements that earlier levels left impacted.
    left: Option<Arc<BTreeSet<StatementId>>>,
    /// The statements of the new version that a level took away.
    pruned: Arc<FxHashMap<StatementId, Pruned>>,
}

impl Joined {
    fn place_of(&self, side: Side, id: ProcedureId) -> FunctionPlace {
        let procedure = &self.programs[side].procedures[id.index()];
        let (path, function) = (procedure.path.clone(), procedure.qualname.clone());
        FunctionPlace { path, function, ordinal: procedure.ordinal }
    }

    /// The nearest reason of each mapped statement of the new version for being impacted.
    fn impacted(&self) -> BTreeMap<StatementId, (Side, Fact)> {
        let (old_reasons, new_reasons) = (self.reasons(Side::Old), self.reasons(Side::New));
        let mut impacted = BTreeMap::new();
        for (at, ours) in new_reasons.into_iter().enumerate() {
            let id = StatementId(at as u32);
            let Some(other) = self.mapping.new.statements[at] else { continue };
            // A later level takes statements away only.
            if self.left.as_ref().is_some_and(|left| !left.contains(&id)) {
                continue;
            }
            let nearer = match (ours, old_reasons[other.index()]) {
                (Some(ours), Some(theirs)) if theirs.0 < ours.0 => Some((Side::Old, theirs.1)),
                (Some(ours), _) => Some((Side::New, ours.1)),
                (None, theirs) => theirs.map(|theirs| (Side::Old, theirs.1)),
            };
            impacted.extend(nearer.map(|nearer| (id, nearer)));
        }
        impacted
    }

    fn summary(&self, k: Option<u32>, procedures: usize) -> LevelSummary {
        let steps = self.derived.old.because.len() + self.derived.new.because.len();
        LevelSummary { k, impacted: self.impacted().len(), procedures, steps, milliseconds: None }
    }

    /// Goes on with what a level derived. What an earlier level showed stays shown.
    fn refine(
        &mut self,
        found: PerSide<Derived>,
        k: u32,
        equivalences: &PerSide<Equivalences>,
        options: &ImpactOptions,
    ) {
        let before = self.impacted();
        self.left = Some(Arc::new(before.keys().copied().collect()));
        let earlier = std::mem::replace(&mut self.derived, Arc::new(found));
        let after = self.impacted();
        let mut pruned = (*self.pruned).clone();
        let mut origins = Origins::default();
        for (id, (side, fact)) in before {
            if after.contains_key(&id) {
                continue;
            }
            let chain = earlier[side].chain(fact);
            // The chain is cut behind the last fact that still holds: before it, the source has only moved.
            let holds = |(fact, _): &(Fact, Rule)| self.derived[side].because.contains_key(fact);
            let is_proved = match chain.first() {
                Some((Fact::Action(node) | Fact::Call(node), _)) => {
                    self.derived[side].confined.contains(&self.programs[side].nodes[node.index()].procedure)
                }
                _ => false,
            };
            let place = match chain.iter().rposition(holds) {
                Some(last) => (last + 1).min(chain.len() - 1),
                // What only computes is no source any more, but what the function gives it to is.
                None => usize::from(is_proved && matches!(chain.get(1), Some((Fact::Summary(_), _)))),
            };
            let Some((gone, rule)) = chain.get(place).copied() else { continue };
            let differs = |node: NodeId| equivalences[side].differing.iter().any(|(one, _)| *one == node);
            let source = match gone {
                Fact::Variable(_) => chain.iter().find_map(|(fact, _)| match fact {
                    Fact::Action(node) | Fact::Call(node) if differs(*node) => Some(*node),
                    _ => None,
                }),
                _ => None,
            };
            let equivalence = match gone {
                _ if is_proved => Equivalence::Proved,
                Fact::Summary(_) => Equivalence::SameSummary,
                Fact::Variable(_) if rule == Rule::CallImpact || source.is_some() => Equivalence::SameArgument,
                _ => Equivalence::SameValues,
            };
            let at = self.step(side, gone, rule).at;
            let dropped = chain.len().saturating_sub(options.max_chain);
            let chain = self.steps(side, chain, options, &mut origins);
            pruned.insert(id, Pruned { k, equivalence, at, chain, cut: place.saturating_sub(dropped) });
        }
        self.pruned = Arc::new(pruned);
    }

    /// The nearest reason of each statement of a version for being impacted: its distance and the fact.
    fn reasons(&self, side: Side) -> Vec<Option<(u32, Fact)>> {
        let program = &self.programs[side];
        let mut reasons: Vec<Option<(u32, Fact)>> = vec![None; program.statements.len()];
        for (at, node) in program.nodes.iter().enumerate() {
            let Some(statement) = node.statement.filter(|_| node.role == Role::Step) else { continue };
            let Some((fact, why)) = self.derived[side].node(NodeId(at as u32)) else { continue };
            let own = &mut reasons[statement.index()];
            if own.is_none_or(|known| (why.0, fact) < known) {
                *own = Some((why.0, fact));
            }
        }
        reasons
    }

    /// The statements of the new version, in the order of places.
    fn statements(&self, options: &ImpactOptions, cut: &mut Vec<Cut>) -> Vec<(StatementId, StatementImpact)> {
        let impacted = self.impacted();
        let mut found = Vec::new();
        let mut origins = Origins::default();
        for (at, mapped) in self.mapping.new.statements.iter().enumerate() {
            let id = StatementId(at as u32);
            let state = match (mapped, impacted.get(&id)) {
                (None, _) => State::Changed,
                (Some(_), None) => State::NotImpacted,
                (Some(_), Some((side, fact))) => {
                    let facts = self.derived[*side].last(*fact, options.max_chain.saturating_add(1));
                    if facts.len() > options.max_chain && !cut.contains(&Cut::Chains) {
                        cut.push(Cut::Chains);
                    }
                    State::Impacted { chain: self.steps(*side, facts, options, &mut origins) }
                }
            };
            let pruned = self.pruned.get(&id).cloned();
            found.push((id, StatementImpact { place: self.place(Side::New, id), state, pruned }));
        }
        found.sort_by(|(one, ours), (other, theirs)| (&ours.place, one).cmp(&(&theirs.place, other)));
        found
    }

    fn place(&self, side: Side, id: StatementId) -> Place {
        let program = &self.programs[side];
        let statement = &program.statements[id.index()];
        let path = program.procedures[statement.procedure.index()].path.clone();
        Place { path, lines: statement.lines, function: statement.function.clone() }
    }

    /// What is not followed in the new version, and what of the old one could not be read where the new one could.
    fn unsound(&self) -> Vec<Unsound> {
        let mut all = self.programs.new.unsound.clone();
        let is_broken = |one: &&Unsound| one.kind == UnsoundKind::Broken;
        let broken: BTreeSet<Arc<str>> = all.iter().filter(is_broken).map(|one| one.path.clone()).collect();
        let before = self.programs.old.unsound.iter().filter(is_broken).filter(|one| !broken.contains(&one.path));
        all.extend(before.map(|one| Unsound { kind: UnsoundKind::BrokenBefore, ..one.clone() }));
        all.sort();
        all
    }

    fn removed(&self) -> Vec<Place> {
        let all = self.mapping.old.statements.iter().enumerate().filter(|(_, other)| other.is_none());
        let mut removed: Vec<Place> = all.map(|(at, _)| self.place(Side::Old, StatementId(at as u32))).collect();
        removed.sort();
        removed
    }

    /// The steps of a derivation, as many as the options allow, the change first.
    fn steps(
        &self,
        side: Side,
        mut facts: Vec<(Fact, Rule)>,
        options: &ImpactOptions,
        origins: &mut Origins,
    ) -> Vec<Step> {
        facts.drain(..facts.len().saturating_sub(options.max_chain));
        // A change that only computes is told where it is, and not where its value is used.
        if let Some((Fact::Action(node) | Fact::Call(node), Rule::SyntChanged | Rule::Rewired)) = facts.first() {
            let procedure = self.programs[side].nodes[node.index()].procedure;
            let known = origins.entry((side, procedure)).or_insert_with(|| self.origins(side, procedure));
            if let Some(origin) = known.get(node) {
                facts[0] = (Fact::Action(*origin), Rule::SyntChanged);
            }
        }
        facts.into_iter().map(|(fact, rule)| self.step(side, fact, rule)).collect()
    }

    /// For each node of a procedure that depends on nodes of changed statements in it, the nearest of these.
    fn origins(&self, side: Side, procedure: ProcedureId) -> FxHashMap<NodeId, NodeId> {
        let (program, counterparts) = (&self.programs[side], self.mapping.side(side));
        let nodes = || program.procedures[procedure.index()].nodes.clone().map(NodeId);
        let mut writers: FxHashMap<VariableId, NodeId> = FxHashMap::default();
        for node in nodes() {
            writers.extend(program.nodes[node.index()].writes.iter().map(|variable| (*variable, node)));
        }
        let mut after: FxHashMap<NodeId, Vec<NodeId>> = FxHashMap::default();
        let (mut origins, mut open) = (FxHashMap::default(), VecDeque::new());
        for node in nodes() {
            let own = &program.nodes[node.index()];
            let reads = own.reads.iter().filter(|one| !matches!(program.variables[one.index()], Variable::Shared(_)));
            let before = reads.filter_map(|one| writers.get(one)).chain(own.controls.iter().map(|(branch, _)| branch));
            before.for_each(|before| after.entry(*before).or_default().push(node));
            if own.statement.is_some_and(|one| counterparts.statements[one.index()].is_none()) {
                origins.insert(node, node);
                open.push_back(node);
            }
        }
        while let Some(node) = open.pop_front() {
            let origin = origins[&node];
            for next in after.remove(&node).unwrap_or_default() {
                if let hash_map::Entry::Vacant(vacant) = origins.entry(next) {
                    vacant.insert(origin);
                    open.push_back(next);
                }
            }
        }
        origins
    }

    fn step(&self, side: Side, fact: Fact, rule: Rule) -> Step {
        let at = match fact {
            Fact::Change(node) | Fact::Action(node) | Fact::Call(node) => {
                let node = &self.programs[side].nodes[node.index()];
                match node.statement {
                    Some(statement) => StepPlace::Statement(self.place(side, statement)),
                    None => {
                        let (path, function) = self.function(side, node.procedure);
                        StepPlace::Function { path, function }
                    }
                }
            }
            Fact::Variable(variable) | Fact::Summary(variable) => StepPlace::Variable(self.variable(side, variable)),
        };
        Step { rule, side, at }
    }

    fn function(&self, side: Side, id: ProcedureId) -> (Arc<str>, Arc<str>) {
        let procedure = &self.programs[side].procedures[id.index()];
        (procedure.path.clone(), procedure.qualname.clone())
    }

    fn variable(&self, side: Side, id: VariableId) -> VariableName {
        match &self.programs[side].variables[id.index()] {
            Variable::Local(name) if name.is_empty() => VariableName::Expression,
            // Locals of inner scopes have the scope behind a `%`.
            Variable::Local(name) => VariableName::Local(name.split('%').next().unwrap_or_default().into()),
            Variable::Called(procedure) => {
                let (path, function) = self.function(side, *procedure);
                VariableName::Called { path, function }
            }
            Variable::Input(procedure, name) => {
                let (path, function) = self.function(side, *procedure);
                VariableName::Parameter { path, function, name: name.clone() }
            }
            Variable::Output(procedure, output) => {
                let (path, function) = self.function(side, *procedure);
                match output {
                    Output::Return => VariableName::Returned { path, function },
                    Output::Raised | Output::Raises | Output::Failed => VariableName::Raised { path, function },
                }
            }
            Variable::Shared(shared) => match shared.clone() {
                Shared::Global(path, name) => VariableName::Global { path, name },
                Shared::Captured(path, function, name) => VariableName::Captured { path, function, name },
                Shared::Default(path, function, parameter) => VariableName::Default { path, function, parameter },
                Shared::Attribute(name) | Shared::AttributeOf(_, name) | Shared::UnknownAttribute(name) => {
                    VariableName::Attribute(name)
                }
                Shared::AnyAttribute => VariableName::AnyAttribute,
                Shared::Items(_)
                | Shared::ItemsAt(_)
                | Shared::UnknownItems(_)
                | Shared::GivenItems
                | Shared::ForeignItems => VariableName::Items,
                Shared::ItemsOf(holder) => match &*holder {
                    Shared::Attribute(name) => VariableName::ItemsOfAttribute(name.clone()),
                    Shared::Global(_, name) | Shared::Captured(_, _, name) => {
                        VariableName::ItemsOfVariable(name.clone())
                    }
                    _ => VariableName::Items,
                },
                Shared::Consumption => VariableName::Consumption,
                Shared::Outside => VariableName::Outside,
            },
        }
    }

    fn functions(&self, statements: &[(StatementId, StatementImpact)], reached: &[bool]) -> Vec<FunctionImpact> {
        let mut functions: BTreeMap<(Arc<str>, Arc<str>), FunctionImpact> = BTreeMap::new();
        for (id, statement) in statements {
            let (path, function) = (statement.place.path.clone(), statement.place.function.clone());
            let own = functions.entry((path.clone(), function.clone())).or_insert_with(|| FunctionImpact {
                path,
                function,
                changed: 0,
                impacted: 0,
                not_impacted: 0,
                is_reached: false,
            });
            match statement.state {
                State::Changed => own.changed += 1,
                State::Impacted { .. } => own.impacted += 1,
                State::NotImpacted => own.not_impacted += 1,
            }
            own.is_reached |= reached[self.programs.new.statements[id.index()].procedure.index()];
        }
        functions.into_values().collect()
    }
}
