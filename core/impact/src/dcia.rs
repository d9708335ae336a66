//! Dataflow-based change-impact analysis: the inference rules of the paper's Figures 2 and 3 as Datalog, upon one version.
//!
//! Three things differ from the figures. The dependences of Figure 2 are asked for outputs alone, since no rule of Figure 3
//! asks for others, and so they are as many as the program is long. Control dependence propagates impact by rules of its
//! own (CONTROL-IMPACT, CALLED), where the figures leave it to the reader. Shared variables are no formals (see `lower`):
//! a procedure whose output depends on an impacted one has an impacted summary (SHARED-SUMMARY).
//!
//! Each fact keeps the derivation that is nearest to a change. Every rule has one premise that another rule derived, so a
//! derivation is a chain.

use ascent::{Dual, ascent};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::mapping::{Counterparts, is_mapped};
use crate::program::{NodeId, ProcedureId, Program, Shared, Variable, VariableId};
use crate::sem::Equivalences;

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
    struct Rules;

    // Table 1, and the sets of variables of nodes. Of a call, RVARS has what says which procedure is called, and its
    // arguments are actuals.
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
    // The actual reads the variable, the formal, the call.
    relation in_actual(VariableId, VariableId, NodeId);
    relation out_actual(VariableId, VariableId, NodeId);
    relation unmapped(NodeId, Rule);
    relation pre_equiv(VariableId);
    relation summary_equiv(VariableId);

    // Figure 2.
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

    // Figure 3.
    lattice action(NodeId, Dual<Because>);
    lattice call(NodeId, Dual<Because>);
    lattice variable(VariableId, Dual<Because>);
    lattice summary(VariableId, Dual<Because>);

    // SYNT-CHANGED
    action(n, Dual((0, *rule, Fact::Change(*n)))) <-- unmapped(n, rule);
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
    // SHARED-SUMMARY
    summary(y, after(b, Rule::SharedSummary, Fact::Variable(*x))) <--
        variable(x, b), shared(x), depends_on_var(y, x), !summary_equiv(y);
    // IMPACT-SUMMARY-PROP
    summary(y, after(b, Rule::ImpactSummaryProp, Fact::Summary(*x))) <--
        summary(x, b), out_actual(w, x, _), depends_on_var(y, w), !summary_equiv(y);
    // CALL-IMPACT
    variable(x, after(b, Rule::CallImpact, Fact::Variable(*w))) <--
        variable(w, b), in_actual(w, x, _), !pre_equiv(x);
    // CALLED
    variable(c, after(b, Rule::Called, Fact::Action(*n))) <-- action(n, b), call_site(n, c), !pre_equiv(c);
    // RETURN-IMPACT
    variable(r, after(b, Rule::ReturnImpact, Fact::Summary(*y))) <-- summary(y, b), out_actual(r, y, _);
    // SUMMARY-IMPACT
    variable(r, after(b, Rule::SummaryImpact, Fact::Variable(*w))) <--
        variable(w, b), in_actual(w, x, n), depends_on_var(y, x), out_actual(r, y, n), through(x, y);

    // not (PREEQUIV and SUMMARYEQUIV)
    relation through(VariableId, VariableId);
    through(x, y) <-- in_formal(x), depends_on_var(y, x), out_formal(y), !pre_equiv(x);
    through(x, y) <-- in_formal(x), depends_on_var(y, x), out_formal(y), !summary_equiv(y);
}

/// What was derived of one version.
#[derive(Debug, Default)]
pub(crate) struct Derived {
    pub because: FxHashMap<Fact, Because>,
}

impl Derived {
    /// Why a node is impacted: the nearer of its reasons.
    pub fn node(&self, node: NodeId) -> Option<(Fact, Because)> {
        let reasons = [Fact::Action(node), Fact::Call(node)];
        reasons.into_iter().filter_map(|fact| Some((fact, *self.because.get(&fact)?))).min_by_key(|(_, why)| why.0)
    }

    /// The facts from a change to one, the change first.
    pub fn chain(&self, fact: Fact) -> Vec<(Fact, Rule)> {
        let mut chain = Vec::new();
        let mut next = fact;
        while let Some((_, rule, premise)) = self.because.get(&next) {
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

/// Applies the rules to the procedures that are reached.
pub(crate) fn dcia(
    program: &Program,
    counterparts: &Counterparts,
    equivalences: &Equivalences,
    follows_outside: bool,
    reached: &Reached,
) -> Derived {
    let is_reached = |procedure: ProcedureId| reached.procedures[procedure.index()];
    let mut rules = Rules::default();
    let is_shared = |variable: &VariableId| matches!(program.variables[variable.index()], Variable::Shared(_));
    for (at, node) in program.nodes.iter().enumerate().filter(|(_, node)| node.runs && is_reached(node.procedure)) {
        let id = NodeId(at as u32);
        let (direct, arguments) = match &node.dispatch {
            Some(dispatch) => (dispatch, node.reads.as_slice()),
            None => (&node.reads, &[][..]),
        };
        rules.rvars.extend(direct.iter().map(|variable| (id, *variable)));
        rules.argument.extend(arguments.iter().filter(|one| !direct.contains(one)).map(|variable| (id, *variable)));
        let is_followed =
            |one: &&VariableId| follows_outside || program.variables[one.index()] != Variable::Shared(Shared::Outside);
        for variable in node.writes.iter().filter(is_followed) {
            let into = if is_shared(variable) { &mut rules.stores } else { &mut rules.wvars };
            into.push((id, *variable));
        }
        rules.control_dependent.extend(node.controls.iter().map(|(branch, _)| (id, *branch)));
        if node.is_branching {
            rules.branching.push((id,));
        }
        if !is_mapped(node, id, counterparts) {
            let is_same = node.statement.is_some_and(|one| counterparts.statements[one.index()].is_some());
            rules.unmapped.push((id, if is_same { Rule::Rewired } else { Rule::SyntChanged }));
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
    for site in program.call_sites.iter().filter(|site| {
        let node = &program.nodes[site.node.index()];
        node.runs && is_reached(node.procedure)
    }) {
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
    rules.pre_equiv = equivalences.pre.iter().map(|variable| (*variable,)).collect();
    rules.summary_equiv = equivalences.summary.iter().map(|variable| (*variable,)).collect();
    rules.run();
    let mut because = FxHashMap::default();
    because.extend(rules.action.iter().map(|(node, why)| (Fact::Action(*node), why.0)));
    because.extend(rules.call.iter().map(|(node, why)| (Fact::Call(*node), why.0)));
    because.extend(rules.variable.iter().map(|(variable, why)| (Fact::Variable(*variable), why.0)));
    because.extend(rules.summary.iter().map(|(variable, why)| (Fact::Summary(*variable), why.0)));
    Derived { because }
}
