//! Dataflow-based change-impact analysis: the inference rules of the paper's Figures 2 and 3 as Datalog, upon one version.
//!
//! Four things differ from the figures. The dependences of Figure 2 are asked for outputs alone, since no rule of Figure 3
//! asks for others, and so they are as many as the program is long. Control dependence propagates impact by rules of its
//! own (CONTROL-IMPACT, CALLED), where the figures leave it to the reader. Shared variables are no formals (see `lower`):
//! a procedure whose output depends on an impacted one has an impacted summary (SHARED-SUMMARY). SUMMARYEQUIV is relative to
//! what callees return and to shared variables, so it stops IMPACT-SUMMARY alone. PREEQUIV holds of each input that no rule
//! reaches, and a call of which only some actuals differ says so of the others.
//!
//! Each fact keeps the derivation that is nearest to a change. Every rule has one premise that another rule derived, so a
//! derivation is a chain.

use ascent::{Dual, ascent};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::mapping::Counterparts;
use crate::program::{Node, NodeId, ProcedureId, Program, Shared, Variable, VariableId};

/// The rule by which a fact was derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The text of the statement changed.
    SyntChanged,
    /// The text is the same, but not what it depends on, calls or writes.
    Rewired,
    VarToNode,
    ArgumentToNode,
    ControlImpact,
    NodeToVar,
    ImpactSummary,
    SharedSummary,
    ImpactSummaryProp,
    CallImpact,
    Called,
    ReturnImpact,
    SummaryImpact,
}

/// A derived fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Fact {
    /// A node that is not mapped.
    Change(NodeId),
    /// IMPACTEDNODE of a node whose results differ, too.
    Action(NodeId),
    /// IMPACTEDNODE of a call whose arguments alone differ. Its results differ as far as the summary says.
    Call(NodeId),
    Variable(VariableId),
    Summary(VariableId),
}

/// Distance from a change, the last rule, and its premise.
pub(crate) type Because = (u32, Rule, Fact);

fn after(because: &Dual<Because>, rule: Rule, premise: Fact) -> Dual<Because> {
    Dual((because.0.0 + 1, rule, premise))
}

ascent! {
    /// Figure 2: what the outputs of procedures depend on. No equivalence matters here, so it is derived once.
    struct Dependences;

    // Table 1, and the sets of variables of nodes. Of a call, RVARS has what says which procedure is called, and its
    // arguments are actuals.
    relation rvars(NodeId, VariableId);
    relation wvars(NodeId, VariableId);
    relation control_dependent(NodeId, NodeId);
    relation in_formal(VariableId);
    relation out_formal(VariableId);
    // The actual reads the variable, the formal, the call.
    relation in_actual(VariableId, VariableId, NodeId);
    relation out_actual(VariableId, VariableId, NodeId);

    relation depends_on_node(VariableId, NodeId);
    relation depends_on_var(VariableId, VariableId);

    // DEPENDS-NODE
    depends_on_node(y, n) <-- out_formal(y), wvars(n, y);
    // DEPENDS-WRITE
    depends_on_var(y, x) <-- depends_on_node(y, n), rvars(n, x);
    // DEPENDS-NODE-TRANSITIVE, DEPENDS-TRANSITIVE
    depends_on_node(y, n) <-- depends_on_var(y, x), wvars(n, x);
    // CONTROL-DEPENDS
    depends_on_node(y, n1) <-- depends_on_node(y, n2), control_dependent(n2, n1);
    // SUMMARY-DEPENDS
    depends_on_var(y, w) <--
        depends_on_var(y, r), out_actual(r, z, n), depends_on_var(z, x), in_formal(x), in_actual(w, x, n);
}

ascent! {
    /// Figure 3: what is impacted.
    struct Rules;

    relation rvars(NodeId, VariableId);
    relation wvars(NodeId, VariableId);
    relation stores(NodeId, VariableId);
    relation argument(NodeId, VariableId);
    relation branching(NodeId);
    relation control_dependent(NodeId, NodeId);
    relation call_site(NodeId, VariableId);
    relation in_formal(VariableId);
    relation out_formal(VariableId);
    relation shared(VariableId);
    relation in_actual(VariableId, VariableId, NodeId);
    relation out_actual(VariableId, VariableId, NodeId);
    relation depends_on_node(VariableId, NodeId);
    relation depends_on_var(VariableId, VariableId);
    // What is not mapped, calls that differ from their counterparts by the actuals of some formals, and SUMMARYEQUIV.
    relation unmapped(NodeId, Rule);
    relation differing(NodeId, VariableId);
    relation summary_equiv(VariableId);

    lattice action(NodeId, Dual<Because>);
    lattice call(NodeId, Dual<Because>);
    lattice variable(VariableId, Dual<Because>);
    lattice summary(VariableId, Dual<Because>);

    // SYNT-CHANGED
    action(n, Dual((0, *rule, Fact::Change(*n)))) <-- unmapped(n, rule);
    call(n, Dual((0, Rule::Rewired, Fact::Change(*n)))) <-- differing(n, _);
    // VAR-2-NODE
    action(n, after(b, Rule::VarToNode, Fact::Variable(*x))) <-- variable(x, b), rvars(n, x);
    // VAR-2-EXPR, as far as an actual is concerned
    call(n, after(b, Rule::ArgumentToNode, Fact::Variable(*x))) <-- variable(x, b), argument(n, x);
    // CONTROL-IMPACT
    action(n2, after(b, Rule::ControlImpact, Fact::Action(*n1))) <--
        action(n1, b), branching(n1), control_dependent(n2, n1);
    // NODE-2-VAR
    variable(x, after(b, Rule::NodeToVar, Fact::Action(*n))) <-- action(n, b), wvars(n, x);
    variable(x, after(b, Rule::NodeToVar, Fact::Action(*n))) <-- action(n, b), stores(n, x);
    // IMPACT-SUMMARY
    summary(y, Dual((1, Rule::ImpactSummary, Fact::Action(*n)))) <--
        unmapped(n, _), depends_on_node(y, n), !summary_equiv(y);
    summary(y, Dual((1, Rule::ImpactSummary, Fact::Call(*n)))) <--
        differing(n, _), depends_on_node(y, n), !summary_equiv(y);
    // SHARED-SUMMARY
    summary(y, after(b, Rule::SharedSummary, Fact::Variable(*x))) <--
        variable(x, b), shared(x), depends_on_var(y, x);
    // IMPACT-SUMMARY-PROP
    summary(y, after(b, Rule::ImpactSummaryProp, Fact::Summary(*x))) <--
        summary(x, b), out_actual(w, x, _), depends_on_var(y, w);
    // CALL-IMPACT
    variable(x, after(b, Rule::CallImpact, Fact::Variable(*w))) <--
        variable(w, b), in_actual(w, x, _);
    variable(x, Dual((1, Rule::CallImpact, Fact::Call(*n)))) <-- differing(n, x);
    // CALLED
    variable(c, after(b, Rule::Called, Fact::Action(*n))) <-- action(n, b), call_site(n, c);
    // RETURN-IMPACT
    variable(r, after(b, Rule::ReturnImpact, Fact::Summary(*y))) <-- summary(y, b), out_actual(r, y, _);
    // SUMMARY-IMPACT
    variable(r, after(b, Rule::SummaryImpact, Fact::Variable(*w))) <--
        variable(w, b), in_actual(w, x, n), depends_on_var(y, x), out_actual(r, y, n), in_formal(x);
    variable(r, Dual((1, Rule::SummaryImpact, Fact::Call(*n)))) <--
        differing(n, x), depends_on_var(y, x), out_actual(r, y, n), in_formal(x);
}

/// Where impact comes from in one version, and what is equivalent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Equivalences {
    /// Nodes that have no counterpart which does the same.
    pub changed: Vec<(NodeId, Rule)>,
    /// Calls that differ from their counterparts by arguments alone, and the formals that get these.
    pub differing: Vec<(NodeId, VariableId)>,
    /// SUMMARYEQUIV: outputs that are the same function of inputs, shared variables and outputs of callees.
    pub summary: FxHashSet<VariableId>,
    /// Procedures that a prover showed to do the same: their changes show inside of them alone.
    pub proved: FxHashSet<ProcedureId>,
    /// Proved procedures with those into which the proofs looked. Only this version has them.
    pub looked_into: FxHashSet<(ProcedureId, ProcedureId)>,
    /// Accesses of globals that carry no impact, because who reads them reads a known constant or is changed: writes of
    /// globals with one constant that the other version does not have, and reads before the second write.
    pub silent: FxHashSet<(NodeId, VariableId)>,
}

/// What was derived of one version.
#[derive(Debug, Default)]
pub(crate) struct Derived {
    /// The procedures whose changes show inside of them alone.
    pub confined: FxHashSet<ProcedureId>,
    pub because: FxHashMap<Fact, Because>,
}

impl Derived {
    /// Keeps the nearest derivation of each fact.
    fn add(&mut self, rules: &Rules) {
        let mut keep = |fact: Fact, why: Because| {
            let known = self.because.entry(fact).or_insert(why);
            *known = why.min(*known);
        };
        rules.action.iter().for_each(|(node, why)| keep(Fact::Action(*node), why.0));
        rules.call.iter().for_each(|(node, why)| keep(Fact::Call(*node), why.0));
        rules.variable.iter().for_each(|(variable, why)| keep(Fact::Variable(*variable), why.0));
        rules.summary.iter().for_each(|(variable, why)| keep(Fact::Summary(*variable), why.0));
    }

    /// Why a node is impacted: the nearer of its reasons.
    pub fn node(&self, node: NodeId) -> Option<(Fact, Because)> {
        let reasons = [Fact::Action(node), Fact::Call(node)];
        reasons.into_iter().filter_map(|fact| Some((fact, *self.because.get(&fact)?))).min_by_key(|(_, why)| why.0)
    }

    /// The facts from a change to one, the change first.
    pub fn chain(&self, fact: Fact) -> Vec<(Fact, Rule)> {
        self.last(fact, usize::MAX)
    }

    /// The last of these facts, as many as there may be at most.
    pub fn last(&self, fact: Fact, most: usize) -> Vec<(Fact, Rule)> {
        let mut chain = Vec::new();
        let mut next = fact;
        while let Some((_, rule, premise)) = self.because.get(&next).filter(|_| chain.len() < most) {
            chain.push((next, *rule));
            next = *premise;
        }
        chain.reverse();
        chain
    }
}

/// The procedures that executions reach, and those at which they start.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    pub procedures: Vec<bool>,
    pub starts: Vec<ProcedureId>,
}

/// One version as relations, with what its outputs depend on.
pub(crate) struct Relations {
    rules: Rules,
    is_reached: Vec<bool>,
    /// The procedures at which executions start.
    starts: FxHashSet<ProcedureId>,
    /// Output and input.
    depends: FxHashSet<(VariableId, VariableId)>,
}

impl Relations {
    /// The procedures that are reached.
    pub fn of(program: &Program, counterparts: &Counterparts, follows_outside: bool, reached: &Reached) -> Self {
        let is_reached = |procedure: ProcedureId| reached.procedures[procedure.index()];
        let mut rules = Rules::default();
        let is_shared = |variable: &VariableId| matches!(program.variables[variable.index()], Variable::Shared(_));
        let runs = |node: &Node| node.runs && is_reached(node.procedure);
        for (at, node) in program.nodes.iter().enumerate().filter(|(_, node)| runs(node)) {
            let id = NodeId(at as u32);
            let (direct, arguments) = match &node.dispatch {
                Some(dispatch) => (dispatch, node.reads.as_slice()),
                None => (&node.reads, &[][..]),
            };
            rules.rvars.extend(direct.iter().map(|variable| (id, *variable)));
            rules.argument.extend(arguments.iter().filter(|one| !direct.contains(one)).map(|variable| (id, *variable)));
            let is_followed = |one: &&VariableId| {
                follows_outside || program.variables[one.index()] != Variable::Shared(Shared::Outside)
            };
            for variable in node.writes.iter().filter(is_followed) {
                let into = if is_shared(variable) { &mut rules.stores } else { &mut rules.wvars };
                into.push((id, *variable));
            }
            rules.control_dependent.extend(node.controls.iter().map(|(branch, _)| (id, *branch)));
            if node.is_branching {
                rules.branching.push((id,));
            }
        }
        for procedure in &program.procedures {
            rules.in_formal.extend(procedure.inputs.iter().map(|input| (*input,)));
            rules.out_formal.extend(procedure.outputs.iter().map(|output| (*output,)));
        }
        // Who calls from outside may leave arguments out.
        for procedure in reached.starts.iter().map(|start| &program.procedures[start.index()]) {
            let entry = NodeId(procedure.nodes.start);
            rules.in_actual.extend(procedure.defaults.iter().map(|(input, default)| (*default, *input, entry)));
        }
        for site in program.call_sites.iter().filter(|site| runs(&program.nodes[site.node.index()])) {
            // A module is imported once, wherever that is.
            let callee = &program.procedures[site.callee.index()];
            if !callee.qualname.is_empty() || counterparts.procedures[site.callee.index()].is_none() {
                rules.call_site.push((site.node, callee.called));
            }
            for (formal, actual) in &site.inputs {
                rules.in_actual.extend(actual.iter().map(|variable| (*variable, *formal, site.node)));
            }
            rules.out_actual.extend(site.outputs.iter().map(|(formal, actual)| (*actual, *formal, site.node)));
        }
        let all = (0..program.variables.len() as u32).map(VariableId);
        rules.shared = all.filter(is_shared).map(|variable| (variable,)).collect();
        let mut dependences = Dependences {
            rvars: rules.rvars.clone(),
            wvars: rules.wvars.clone(),
            control_dependent: rules.control_dependent.clone(),
            in_formal: rules.in_formal.clone(),
            out_formal: rules.out_formal.clone(),
            in_actual: rules.in_actual.clone(),
            out_actual: rules.out_actual.clone(),
            ..Dependences::default()
        };
        dependences.run();
        rules.depends_on_node = dependences.depends_on_node;
        rules.depends_on_var = dependences.depends_on_var;
        let inputs: FxHashSet<VariableId> = rules.in_formal.iter().map(|one| one.0).collect();
        let depends = rules.depends_on_var.iter().filter(|(_, x)| inputs.contains(x)).copied().collect();
        let is_reached = program.nodes.iter().map(runs).collect();
        let starts = reached.starts.iter().copied().collect();
        Self { rules, is_reached, starts, depends }
    }

    /// Whether an output of a procedure depends on an input of it.
    pub fn depends(&self, output: VariableId, input: VariableId) -> bool {
        self.depends.contains(&(output, input))
    }

    /// Applies the rules.
    pub fn impact(&self, program: &Program, equivalences: &Equivalences) -> Derived {
        let confined = self.confined(program, equivalences);
        let is_confined = |node: NodeId| confined.contains(&program.nodes[node.index()].procedure);
        let sources = |inside: bool| {
            let is_source = move |node: NodeId| self.is_reached[node.index()] && is_confined(node) == inside;
            let changed = equivalences.changed.iter().filter(move |(node, _)| is_source(*node)).copied();
            let differing = equivalences.differing.iter().filter(move |(node, _)| is_source(*node)).copied();
            (changed, differing)
        };
        // Which function a name stands for is a part of the proof that looked into it.
        let names = names_of(program, &equivalences.looked_into);
        let is_proved = |(node, variable): (NodeId, VariableId)| is_confined(node) && names.contains(&variable);
        // What a confined procedure reads is not silent: whoever is silent relies on readers that are sources.
        let nodes = program.nodes.iter().filter(|node| confined.contains(&node.procedure));
        let read: FxHashSet<VariableId> = nodes.flat_map(|node| node.reads.iter().copied()).collect();
        let is_silent =
            |access: (NodeId, VariableId)| equivalences.silent.contains(&access) && !read.contains(&access.1);
        let mut rules = self.rules(&|access| !is_silent(access) && !is_proved(access));
        rules.summary_equiv = equivalences.summary.iter().map(|variable| (*variable,)).collect();
        let own: FxHashSet<VariableId> =
            confined.iter().flat_map(|one| program.procedures[one.index()].outputs).collect();
        rules.depends_on_var.retain(|(output, variable)| !(names.contains(variable) && own.contains(output)));
        let (changed, differing) = sources(false);
        (rules.unmapped, rules.differing) = (changed.collect(), differing.collect());
        rules.run();
        let mut derived = Derived::default();
        derived.add(&rules);
        if !confined.is_empty() {
            // What a changed statement of a proved procedure computes shows in this procedure, and nowhere else.
            let is_inside = |(node, _): &&(NodeId, VariableId)| is_confined(*node);
            let from = &self.rules;
            let (changed, differing) = sources(true);
            let mut rules = Rules {
                rvars: from.rvars.iter().filter(is_inside).copied().collect(),
                wvars: from.wvars.iter().filter(is_inside).copied().collect(),
                argument: from.argument.iter().filter(is_inside).copied().collect(),
                branching: from.branching.clone(),
                control_dependent: from.control_dependent.clone(),
                unmapped: changed.chain(differing.map(|(node, _)| (node, Rule::Rewired))).collect(),
                ..Rules::default()
            };
            rules.run();
            derived.add(&rules);
        }
        derived.confined = confined;
        derived
    }

    /// Procedures whose changes show inside of them alone: proved ones, and those into which proofs looked that no others call. Impact
    /// that reaches these from elsewhere goes on through them.
    fn confined(&self, program: &Program, equivalences: &Equivalences) -> FxHashSet<ProcedureId> {
        let mut confined: FxHashSet<ProcedureId> = equivalences.looked_into.iter().map(|(_, other)| *other).collect();
        // Who else calls it, from outside of the project, meets the change.
        let is_called_from_outside = |one: &ProcedureId| {
            let entry = &program.nodes[program.procedures[one.index()].nodes.start as usize];
            entry.reads.iter().any(|read| program.variables[read.index()] == Variable::Shared(Shared::Outside))
        };
        confined.retain(|one| !self.starts.contains(one) && !is_called_from_outside(one));
        loop {
            let count = confined.len();
            for site in &program.call_sites {
                let caller = program.nodes[site.node.index()].procedure;
                if !equivalences.looked_into.contains(&(caller, site.callee)) && !confined.contains(&caller) {
                    confined.remove(&site.callee);
                }
            }
            if confined.len() == count {
                break;
            }
        }
        confined.extend(&equivalences.proved);
        confined
    }

    /// The rules upon one version's program, with the accesses that carry impact.
    fn rules(&self, is_heard: &dyn Fn((NodeId, VariableId)) -> bool) -> Rules {
        let from = &self.rules;
        let is_heard = |access: &&(NodeId, VariableId)| is_heard(**access);
        Rules {
            rvars: from.rvars.iter().filter(is_heard).copied().collect(),
            wvars: from.wvars.clone(),
            stores: from.stores.iter().filter(is_heard).copied().collect(),
            argument: from.argument.iter().filter(is_heard).copied().collect(),
            branching: from.branching.clone(),
            control_dependent: from.control_dependent.clone(),
            call_site: from.call_site.clone(),
            in_formal: from.in_formal.clone(),
            out_formal: from.out_formal.clone(),
            shared: from.shared.clone(),
            in_actual: from.in_actual.iter().filter(|(w, _, n)| is_heard(&&(*n, *w))).copied().collect(),
            out_actual: from.out_actual.clone(),
            depends_on_node: from.depends_on_node.clone(),
            depends_on_var: from.depends_on_var.clone(),
            ..Rules::default()
        }
    }
}

/// The global variables that stand for procedures which proofs looked into.
fn names_of(program: &Program, looked_into: &FxHashSet<(ProcedureId, ProcedureId)>) -> FxHashSet<VariableId> {
    let procedures = looked_into.iter().map(|(_, one)| &program.procedures[one.index()]);
    let named: FxHashSet<_> = procedures.map(|one| (one.path.clone(), one.qualname.clone())).collect();
    let is_named = |variable: &Variable| match variable {
        Variable::Shared(Shared::Global(path, name)) => named.contains(&(path.clone(), name.clone())),
        _ => false,
    };
    let all = program.variables.iter().enumerate().filter(|(_, variable)| is_named(variable));
    all.map(|(at, _)| VariableId(at as u32)).collect()
}
