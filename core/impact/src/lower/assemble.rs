//! Drafts -> the program: edges that exist, control dependence, versions of locals, and call sites.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHasher};

use super::Output as Shareds;
use super::arguments::{default_of, function_name};
use super::draft::{Draft, Place};
use super::owned::{Maps, escaped, resolve, scalars};
use super::versions::{Version, versions};
use super::world::World;
use crate::dominance::dominance;
use crate::program::{
    CallSite, Node, NodeId, Output, Procedure, ProcedureId, Program, Role, Shared, Term, Unsound, Variable, VariableId,
};

pub(super) fn assemble(world: &World<'_>, mut out: Shareds, mut drafts: Vec<Draft>) -> Program {
    let raises = raising(&drafts);
    let (foreign, any_attribute) = (out.shared(Shared::ForeignItems), out.shared(Shared::AnyAttribute));
    let mut program = Program::default();
    let mut variables = Variables::default();
    let shared: Vec<VariableId> = out.shared.iter().map(|one| variables.add(Variable::Shared(one.clone()))).collect();
    for (at, draft) in drafts.iter().enumerate() {
        let id = ProcedureId(at as u32);
        let declaration = &world.declared.procedures[at];
        let input = |name: &Arc<str>| Variable::Input(id, name.clone());
        let inputs: Vec<VariableId> = draft.parameters.iter().map(|name| variables.add(input(name))).collect();
        let default = |name: &Arc<str>| {
            let default = default_of(&world.paths[declaration.module], declaration, name);
            out.shared_ids.get(&default).map(|number| shared[*number as usize])
        };
        let defaults = draft.parameters.iter().zip(&inputs).filter_map(|(name, input)| Some((*input, default(name)?)));
        program.procedures.push(Procedure {
            path: world.paths[declaration.module].clone(),
            module: world.project.module_name(world.sources[declaration.module].module).into(),
            qualname: declaration.qualname.clone(),
            ordinal: declaration.ordinal,
            key: 0,
            called: variables.add(Variable::Called(id)),
            defaults: defaults.collect(),
            inputs,
            outputs: Output::ALL.map(|output| variables.add(Variable::Output(id, output))),
            nodes: 0..0,
        });
    }
    let maps = Maps { escaped: escaped(&drafts, &out), scalars: scalars(&drafts, &out), foreign, any_attribute };
    let mut keys = vec![FxHasher::default(); drafts.len()];
    for statement in &out.statements {
        statement.key.hash(&mut keys[statement.procedure.index()]);
    }
    for (at, draft) in drafts.iter_mut().enumerate() {
        let declaration = &world.declared.procedures[at];
        function_name(declaration).rsplit('.').next().hash(&mut keys[at]);
        program.procedures[at].key = keys[at].finish();
        add_procedure(&mut program, &mut variables, &shared, ProcedureId(at as u32), draft, &raises, &maps, world);
    }
    program.statements = out.statements;
    program.variables = variables.0;
    let place = |(module, line, kind): (usize, u32, _)| Unsound { path: world.paths[module].clone(), line, kind };
    program.unsound = out.unsound.into_iter().map(place).collect();
    program
}

#[derive(Default)]
struct Variables(Vec<Variable>);

impl Variables {
    fn add(&mut self, variable: Variable) -> VariableId {
        self.0.push(variable);
        VariableId(self.0.len() as u32 - 1)
    }
}

/// Which procedures raise by a statement of their own or of what they call.
fn raising(drafts: &[Draft]) -> Vec<bool> {
    let mut raises = vec![false; drafts.len()];
    let mut callers: FxHashMap<ProcedureId, Vec<u32>> = FxHashMap::default();
    let mut open = Vec::new();
    for (at, draft) in drafts.iter().enumerate() {
        for source in draft.nodes.get(draft.raised as usize).into_iter().flat_map(|node| &node.incoming) {
            match &source.calls {
                None => open.push(at as u32),
                Some(calls) => {
                    for call in calls.iter().flat_map(|call| &draft.nodes[*call as usize].calls) {
                        callers.entry(call.callee).or_default().push(at as u32);
                    }
                }
            }
        }
    }
    while let Some(next) = open.pop() {
        if !std::mem::replace(&mut raises[next as usize], true) {
            open.extend(callers.remove(&ProcedureId(next)).unwrap_or_default());
        }
    }
    raises
}

/// The edges that exist: from, side, to.
fn edges(draft: &Draft, raises: &[bool]) -> Vec<(u32, u8, u32)> {
    let mut edges = Vec::new();
    for (to, node) in draft.nodes.iter().enumerate() {
        for source in &node.incoming {
            let exists = source.calls.as_deref().is_none_or(|calls| {
                calls
                    .iter()
                    .any(|call| draft.nodes[*call as usize].calls.iter().any(|call| raises[call.callee.index()]))
            });
            if exists {
                edges.push((source.node, source.side, to as u32));
            }
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// On which sides of which branches each node depends.
fn controls(draft: &Draft, edges: &[(u32, u8, u32)]) -> Vec<Vec<(u32, u8)>> {
    let count = draft.nodes.len();
    let (mut backwards, mut sides) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for (from, side, to) in edges {
        backwards[*to as usize].push(*from);
        sides[*from as usize].push((*side, *to));
    }
    // What never ends is taken to end somewhere.
    let mut ends = vec![false; count];
    let mark = |from: u32, backwards: &[Vec<u32>], ends: &mut Vec<bool>| {
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut ends[node as usize], true) {
                open.extend(&backwards[node as usize]);
            }
        }
    };
    mark(draft.end, &backwards, &mut ends);
    for node in (0..count as u32).rev() {
        if !ends[node as usize] {
            mark(node, &backwards, &mut ends);
            backwards[draft.end as usize].push(node);
        }
    }
    let parent = dominance(draft.end, &backwards).parent;
    let mut controls: Vec<Vec<(u32, u8)>> = vec![Vec::new(); count];
    for (branch, sides) in sides.iter().enumerate().filter(|(_, sides)| sides.len() > 1) {
        let stop = parent[branch];
        for (side, to) in sides {
            let mut runner = *to;
            while Some(runner) != stop {
                let own = &mut controls[runner as usize];
                if !own.contains(&(branch as u32, *side)) {
                    own.push((branch as u32, *side));
                }
                match parent[runner as usize] {
                    Some(above) if above != runner => runner = above,
                    _ => break,
                }
            }
        }
    }
    controls
}

#[allow(clippy::too_many_arguments)]
fn add_procedure(
    program: &mut Program,
    variables: &mut Variables,
    shared: &[VariableId],
    id: ProcedureId,
    draft: &mut Draft,
    raises: &[bool],
    maps: &Maps,
    world: &World<'_>,
) {
    let edges = edges(draft, raises);
    let mut successors = vec![Vec::new(); draft.nodes.len()];
    for (from, _, to) in &edges {
        successors[*from as usize].push(*to);
    }
    resolve(draft, &successors, maps);
    let draft = &*draft;
    let controls = controls(draft, &edges);
    let versions = versions(draft, &successors);
    let first = program.nodes.len() as u32;
    // Variables first, since joins read what later nodes write.
    let name = |place: &Place| -> Arc<str> {
        match place {
            Place::Local(local) => draft.locals[*local as usize].clone(),
            _ => "".into(),
        }
    };
    let written: Vec<Vec<VariableId>> = draft
        .nodes
        .iter()
        .map(|node| {
            let add = |place: &Place| match place {
                Place::Shared(one) => shared[*one as usize],
                place => variables.add(Variable::Local(name(place))),
            };
            node.writes.iter().map(add).collect()
        })
        .collect();
    let joined: Vec<VariableId> = versions
        .joins
        .iter()
        .map(|join| variables.add(Variable::Local(draft.locals[join.local as usize].clone())))
        .collect();
    let variable = |version: Version| match version {
        Version::Written(node, number) => written[node as usize][number as usize],
        Version::Joined(join) => joined[join as usize],
        Version::Shared(one) => shared[one as usize],
    };
    let mut parameter = 0;
    for (at, node) in draft.nodes.iter().enumerate() {
        let by_place: FxHashMap<Place, VariableId> =
            versions.reads[at].iter().map(|(place, version)| (*place, variable(*version))).collect();
        let of = |places: &[Place]| -> Vec<VariableId> {
            let mut found: Vec<VariableId> = places.iter().filter_map(|place| by_place.get(place).copied()).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let term_of = |term: &Option<Term<Place>>| term.as_ref()?.map(&|place: &Place| by_place.get(place).copied());
        let mut reads = of(&node.reads);
        let mut writes = written[at].clone();
        let procedure = &program.procedures[id.index()];
        match node.role {
            Role::Entry => reads.push(procedure.called),
            Role::Parameter => {
                reads.push(procedure.inputs[parameter]);
                parameter += 1;
            }
            Role::Return => writes.push(procedure.outputs[0]),
            Role::Raised => writes.push(procedure.outputs[1]),
            Role::Raises => writes.push(procedure.outputs[2]),
            Role::Failed => writes.push(procedure.outputs[3]),
            _ => {}
        }
        let node_id = NodeId(first + at as u32);
        for call in &node.calls {
            let callee = &program.procedures[call.callee.index()];
            let result_of =
                |place: Place| node.writes.iter().position(|one| *one == place).map(|number| written[at][number]);
            let [result, raised, raises, failed] = [call.result, call.raised, call.raises, call.failed].map(result_of);
            let is_lazy = world.declared.procedures[call.callee.index()].is_lazy;
            // What runs later raises where its result is consumed.
            let later = result.filter(|_| is_lazy);
            let outputs = [(0, result), (1, raised), (2, raises), (3, failed), (1, later), (2, later), (3, later)];
            program.call_sites.push(CallSite {
                node: node_id,
                callee: call.callee,
                inputs: callee.inputs.iter().zip(&call.inputs).map(|(input, reads)| (*input, of(reads))).collect(),
                terms: call.terms.iter().map(term_of).collect(),
                outputs: outputs.iter().filter_map(|(at, to)| Some((callee.outputs[*at], (*to)?))).collect(),
            });
        }
        let sides = edges.iter().skip(edges.partition_point(|edge| edge.0 < at as u32));
        program.nodes.push(Node {
            procedure: id,
            statement: node.statement,
            role: node.role,
            key: node.key,
            is_whole: node.is_whole,
            reads,
            writes,
            dispatch: node.dispatch.as_deref().map(of),
            controls: controls[at].iter().map(|(node, side)| (NodeId(first + node), *side)).collect(),
            runs: versions.runs[at],
            is_call: node.is_call,
            term: term_of(&node.term),
            joins: Vec::new(),
            is_branching: sides.take_while(|edge| edge.0 == at as u32).nth(1).is_some(),
        });
    }
    for (at, join) in versions.joins.iter().enumerate() {
        let mut hasher = FxHasher::default();
        draft.locals[join.local as usize].hash(&mut hasher);
        program.nodes.push(Node {
            procedure: id,
            statement: None,
            role: Role::Phi,
            key: hasher.finish(),
            is_whole: false,
            reads: join.reads.iter().map(|version| variable(*version)).collect(),
            writes: vec![joined[at]],
            dispatch: None,
            controls: Vec::new(),
            is_branching: false,
            runs: true,
            is_call: false,
            term: None,
            joins: join.from.iter().map(|(from, node)| (from.map(variable), NodeId(first + node))).collect(),
        });
    }
    program.procedures[id.index()].nodes = first..program.nodes.len() as u32;
}
