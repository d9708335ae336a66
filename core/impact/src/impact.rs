//! The analysis from two projects to a result: lower, map, apply the rules to both versions, and join what they derived.

use std::collections::BTreeMap;
use std::sync::Arc;

use twincell_semantic::{Project, calls_are_cut};
use twincell_syntax::{PerSide, Side};

use crate::dcia::{Derived, Fact, Reached, Rule, dcia};
use crate::lower::lower;
use crate::mapping::{Counterparts, Mapping, map};
use crate::program::{NodeId, Output, ProcedureId, Program, Role, Shared, StatementId, Variable, VariableId};
use crate::result::{
    Cut, Entries, Entry, FunctionImpact, IMPACT_VERSION, Impact, ImpactOptions, Place, State, StatementImpact, Step,
    StepPlace, VariableName,
};
use crate::sem::Equivalences;

/// Which statements of the new version may see other values than in the old one, and why.
pub fn impact(old: &Project, new: &Project, entries: &Entries, options: &ImpactOptions) -> Impact {
    let programs = PerSide { old: lower(old), new: lower(new) };
    let mapping = map(&programs.old, &programs.new);
    let reached = PerSide {
        old: reached(&programs.old, &mapping.old, entries),
        new: reached(&programs.new, &mapping.new, entries),
    };
    let derived = PerSide {
        old: dcia(&programs.old, &mapping.old, &Equivalences::default(), options.outside, &reached.old),
        new: dcia(&programs.new, &mapping.new, &Equivalences::default(), options.outside, &reached.new),
    };
    let mut cut = Vec::new();
    if programs.old.is_cut || programs.new.is_cut {
        cut.push(Cut::Program);
    }
    if calls_are_cut(old) || calls_are_cut(new) {
        cut.push(Cut::Calls);
    }
    let joined = Joined { programs, mapping, derived };
    let statements = joined.statements(options, &mut cut);
    let functions = joined.functions(&statements, &reached.new.procedures);
    let removed = joined.removed();
    let mut statements: Vec<StatementImpact> = statements.into_iter().map(|(_, statement)| statement).collect();
    if statements.len() > options.max_statements {
        statements.truncate(options.max_statements);
        cut.push(Cut::Statements);
    }
    let unknown = |entry: &&Entry| !joined.programs.new.procedures.iter().any(|one| is_entry(one, entry));
    Impact {
        version: IMPACT_VERSION,
        statements,
        removed,
        functions,
        unsound: joined.programs.new.unsound.clone(),
        unknown_entries: entries.0.iter().filter(unknown).cloned().collect(),
        cut,
    }
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

/// What was derived of both versions.
struct Joined {
    programs: PerSide<Program>,
    mapping: Mapping,
    derived: PerSide<Derived>,
}

impl Joined {
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
        let (old_reasons, new_reasons) = (self.reasons(Side::Old), self.reasons(Side::New));
        let mut found = Vec::new();
        for (at, ours) in new_reasons.into_iter().enumerate() {
            let id = StatementId(at as u32);
            let state = match self.mapping.new.statements[at] {
                None => State::Changed,
                Some(other) => {
                    let theirs = old_reasons[other.index()];
                    let nearer = match (ours, theirs) {
                        (Some(ours), Some(theirs)) if theirs.0 < ours.0 => Some((Side::Old, theirs.1)),
                        (Some(ours), _) => Some((Side::New, ours.1)),
                        (None, theirs) => theirs.map(|theirs| (Side::Old, theirs.1)),
                    };
                    match nearer {
                        None => State::NotImpacted,
                        Some((side, fact)) => State::Impacted { chain: self.chain(side, fact, options, cut) },
                    }
                }
            };
            found.push((id, StatementImpact { place: self.place(Side::New, id), state }));
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

    fn removed(&self) -> Vec<Place> {
        let all = self.mapping.old.statements.iter().enumerate().filter(|(_, other)| other.is_none());
        let mut removed: Vec<Place> = all.map(|(at, _)| self.place(Side::Old, StatementId(at as u32))).collect();
        removed.sort();
        removed
    }

    fn chain(&self, side: Side, fact: Fact, options: &ImpactOptions, cut: &mut Vec<Cut>) -> Vec<Step> {
        let mut facts = self.derived[side].chain(fact);
        if facts.len() > options.max_chain {
            facts.drain(..facts.len() - options.max_chain);
            if !cut.contains(&Cut::Chains) {
                cut.push(Cut::Chains);
            }
        }
        facts.into_iter().map(|(fact, rule)| self.step(side, fact, rule)).collect()
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
                    Output::Raised | Output::Failed => VariableName::Raised { path, function },
                }
            }
            Variable::Shared(shared) => match shared.clone() {
                Shared::Global(path, name) => VariableName::Global { path, name },
                Shared::Captured(path, function, name) => VariableName::Captured { path, function, name },
                Shared::Default(path, function, parameter) => VariableName::Default { path, function, parameter },
                Shared::Attribute(name) => VariableName::Attribute(name),
                Shared::AnyAttribute => VariableName::AnyAttribute,
                Shared::Items(_) | Shared::ForeignItems => VariableName::Items,
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
