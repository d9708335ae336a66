//! What an expression may be.
//!
//! The analysis by inclusion leaves out what it does not know. Here each expression that nothing reaches is unknown, and
//! so is all that comes from it. Parameters are unknown, too, of functions that no code of the project calls. What is
//! declared an object of a class is one. An unknown value, and one that comes out of something outside of the project, is
//! an object of the project's classes only if such an object was given to the outside ([`is_given_away`]): who calls the
//! project from outside of the files makes no objects of its classes.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use twincell_syntax::python::is_builtin_exception;

use super::objects::{Field, Object, ObjectId};
use super::solver::{MAX_OBJECTS, Node, Solver};
use super::{answers_of, solved};
use crate::answers::{Ancestor, CallKind, Callee, Code, Site, Value, Values};
use crate::ids::{ModuleId, SymbolId};
use crate::module::{ParameterKind, Receiver, ScopeKind};
use crate::project::Project;
use crate::resolve::ancestors;

/// How often expressions that nothing reaches are looked for.
const MAX_ROUNDS: usize = 16;

/// What the expression at a place may be, by its range in the text with `\n` for every line end.
pub fn values(project: &Project, module: ModuleId, range: (u32, u32)) -> &[Value] {
    all(project).of.get(&(module, range.0, range.1)).map_or(&[Value::Unknown], |values| &**values)
}

/// Whether objects of a class of the project may come out of something outside of it.
pub fn is_given_away(project: &Project, class: SymbolId) -> bool {
    all(project).given.contains(&class)
}

/// Whether something outside of the project gets a function by itself, and may call it at any time.
pub fn is_function_given_away(project: &Project, code: Code) -> bool {
    all(project).given_functions.contains(&code)
}

/// Whether containers that a place makes may be changed by something outside of the project.
pub fn is_site_given_away(project: &Project, site: Site) -> bool {
    all(project).given_sites.contains(&site)
}

/// What the containers that a place makes hold, or nothing if it may be anything.
pub fn elements(project: &Project, site: Site) -> Option<&[Value]> {
    all(project).elements.get(&site).map(|values| &**values)
}

fn all(project: &Project) -> &Values {
    project.memos.values.get_or_init(|| {
        let mut solver = solved(project);
        project.memos.flow.get_or_init(|| answers_of(&solver));
        let unknown = close(&mut solver);
        let mut outside = given(&mut solver, true);
        // What something outside puts into a container is not known, and reaches other places.
        for _ in 0..MAX_ROUNDS {
            let count = outside.objects.len();
            for object in outside.objects.iter().copied().collect::<BTreeSet<_>>() {
                if let Some(Object::Container(..)) = solver.objects.get(object) {
                    let any = solver.field(object, Field::Any);
                    solver.add(any, unknown);
                }
            }
            fill(&mut solver, unknown);
            outside = given(&mut solver, true);
            if outside.objects.len() == count {
                break;
            }
        }
        let is_container = |one: &ObjectId| matches!(solver.objects.get(*one), Some(Object::Container(..)));
        let given_sites = outside.objects.iter().copied().filter(is_container).map(Site).collect();
        let of = found(&solver);
        let elements = held(&solver, unknown);
        let of_libraries = given(&mut solver, false);
        let function = |object: &ObjectId| match solver.objects.get(*object) {
            Some(Object::Function(module, scope)) => Some(Code { module: *module, scope: *scope }),
            _ => None,
        };
        let given_functions = of_libraries.objects.iter().filter_map(function).collect();
        Values { of, given: outside.classes, given_sites, given_functions, elements }
    })
}

/// What containers hold, where all of it is known.
fn held(solver: &Solver<'_>, unknown: ObjectId) -> FxHashMap<Site, Box<[Value]>> {
    let mut found: FxHashMap<Site, Option<BTreeSet<Value>>> = FxHashMap::default();
    for object in 0..solver.objects.len() as ObjectId {
        if let Some(Object::Container(..)) = solver.objects.get(object) {
            found.insert(Site(object), Some(BTreeSet::new()));
        }
    }
    for ((object, _), node) in &solver.fields {
        let Some(known) = found.get_mut(&Site(*object)) else { continue };
        let set = solver.set(*node);
        if set.contains(&unknown) || set.len() >= MAX_OBJECTS {
            *known = None;
        }
        if let Some(known) = known {
            known.extend(set.iter().filter_map(|object| value(solver, *object)));
        }
    }
    found.into_iter().filter_map(|(site, held)| Some((site, held?.into_iter().collect()))).collect()
}

/// Adds unknown values where nothing is known, and moves them along.
fn close(solver: &mut Solver<'_>) -> ObjectId {
    let project = solver.project;
    for (class, node) in solver.declared.clone() {
        let mut is_known = !solver.set(class).is_empty();
        for object in solver.set(class).to_vec() {
            is_known &= match solver.objects.get(object) {
                Some(Object::Class(class)) => !is_protocol(project, *class),
                Some(Object::External(path)) => {
                    let is_plain =
                        is_plain_type(path) || path.strip_prefix("builtins.").is_some_and(is_builtin_exception);
                    if is_plain {
                        solver.add(node, object);
                    }
                    is_plain
                }
                _ => false,
            };
        }
        if is_known {
            solver.known.insert(node);
        }
    }
    let plain = solver.object(Object::Plain);
    for module in project.modules() {
        for node in project.module(module).map_or(&[][..], |text| &text.plain) {
            let node = solver.global(module, *node);
            solver.add(node, plain);
        }
    }
    let unknown = solver.object(Object::Unknown);
    let called: FxHashSet<Code> = solver
        .calls
        .iter()
        .filter(|edge| matches!(edge.kind, CallKind::Direct | CallKind::Implicit))
        .filter_map(|edge| match edge.callee {
            Callee::Code(code) => Some(code),
            _ => None,
        })
        .collect();
    for module in project.modules() {
        let Some(text) = project.module(module) else { continue };
        for (at, scope) in text.scopes.iter().enumerate() {
            let code = Code { module, scope: crate::ids::ScopeId(at as u32) };
            let name = scope.name.rsplit('.').next().unwrap_or_default();
            // Python passes arguments of special methods that are not followed.
            let is_special =
                name.starts_with("__") && name.ends_with("__") && !["__init__", "__call__"].contains(&name);
            let is_called = called.contains(&code);
            if !is_called && matches!(scope.kind, ScopeKind::Function | ScopeKind::Lambda) {
                // Who calls it from outside gets what it returns.
                let results = [Some(scope.returns), scope.yields].into_iter().flatten();
                let results: Vec<Node> = results.map(|node| solver.global(module, node)).collect();
                solver.returned.extend(results);
            }
            if is_called && !is_special {
                continue;
            }
            // What answers for attributes gets their names.
            let argument = if matches!(name, "__getattr__" | "__getattribute__") { plain } else { unknown };
            let has_receiver = matches!(scope.receiver, Receiver::Instance | Receiver::Class);
            for parameter in scope.parameters.iter().skip(usize::from(has_receiver)) {
                if !matches!(parameter.kind, ParameterKind::Rest | ParameterKind::Keywords) {
                    let node = solver.global(module, parameter.node);
                    solver.add(node, argument);
                }
            }
        }
    }
    fill(solver, unknown);
    unknown
}

/// Says of each expression that nothing reaches that it is unknown.
fn fill(solver: &mut Solver<'_>, unknown: ObjectId) {
    let project = solver.project;
    for _ in 0..MAX_ROUNDS {
        solver.solve();
        let mut is_done = true;
        for module in project.modules() {
            let Some(text) = project.module(module) else { continue };
            for (_, node) in &text.expressions {
                let node = solver.global(module, *node);
                if solver.set(node).is_empty() {
                    is_done = false;
                    solver.add(node, unknown);
                }
            }
        }
        if is_done {
            break;
        }
    }
}

fn is_protocol(project: &Project, class: SymbolId) -> bool {
    let is_protocol = |one: &Ancestor| matches!(one, Ancestor::External(path) if path.ends_with(".Protocol"));
    ancestors(project, class).iter().any(is_protocol)
}

/// Builtin classes whose objects hold no objects of others.
fn is_plain_type(path: &str) -> bool {
    let name = path.strip_prefix("builtins.").unwrap_or_default();
    matches!(name, "str" | "int" | "float" | "bool" | "bytes" | "complex" | "bytearray")
}

/// What something outside of the project gets, itself or as a part of what it gets.
struct Given {
    classes: FxHashSet<SymbolId>,
    objects: FxHashSet<ObjectId>,
}

fn given(solver: &mut Solver<'_>, with_returned: bool) -> Given {
    let project = solver.project;
    let mut parts: FxHashMap<ObjectId, Vec<Node>> = FxHashMap::default();
    for ((object, _), node) in &solver.fields {
        parts.entry(*object).or_default().push(*node);
    }
    let mut classes: FxHashSet<SymbolId> = FxHashSet::default();
    // A class with a base outside of the project runs there.
    for symbol in project.symbols() {
        let is_class = project.symbol(symbol).is_some_and(|one| one.kind == crate::module::SymbolKind::Class);
        let known = ["builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"];
        let is_outside = |one: &Ancestor| matches!(one, Ancestor::External(path) if !known.contains(&&**path));
        if is_class && ancestors(project, symbol).iter().any(is_outside) {
            classes.insert(symbol);
        }
    }
    let returned = solver.returned.iter().filter(|_| with_returned);
    let mut nodes: FxHashSet<Node> = solver.given.iter().chain(returned).copied().collect();
    let mut open: Vec<Node> = nodes.iter().copied().collect();
    let mut objects: FxHashSet<ObjectId> = FxHashSet::default();
    for class in classes.iter().copied().collect::<Vec<_>>() {
        let instance = solver.object(Object::Instance(class));
        objects.insert(instance);
        open.extend(parts.get(&instance).into_iter().flatten());
    }
    let mut pending: Vec<ObjectId> = Vec::new();
    while let Some(node) = open.pop() {
        pending.extend(solver.set(node).iter().copied().filter(|one| objects.insert(*one)));
        while let Some(object) = pending.pop() {
            open.extend(parts.get(&object).into_iter().flatten().copied().filter(|node| nodes.insert(*node)));
            match solver.objects.get(object).cloned() {
                Some(Object::Instance(class)) => drop(classes.insert(class)),
                // It makes objects of the class.
                Some(Object::Class(class)) => {
                    let instance = solver.object(Object::Instance(class));
                    if objects.insert(instance) {
                        pending.push(instance);
                    }
                }
                Some(Object::Bound(function, receiver)) => {
                    pending.extend([function, receiver].into_iter().filter(|one| objects.insert(*one)));
                }
                Some(Object::Function(module, scope) | Object::Generator(module, scope)) => {
                    if let Some(scope) = project.scope(module, scope) {
                        let results = [Some(scope.returns), scope.yields].into_iter().flatten();
                        let results = results.map(|node| solver.global(module, node));
                        open.extend(results.filter(|node| nodes.insert(*node)));
                    }
                }
                _ => {}
            }
        }
    }
    Given { classes, objects }
}

/// What expressions may be.
fn found(solver: &Solver<'_>) -> FxHashMap<(ModuleId, u32, u32), Box<[Value]>> {
    let project = solver.project;
    let mut found: FxHashMap<(ModuleId, u32, u32), Vec<Value>> = FxHashMap::default();
    for module in project.modules() {
        let Some(text) = project.module(module) else { continue };
        for (range, node) in &text.expressions {
            let set = solver.set(solver.global(module, *node));
            // Some places are read several times.
            let known = found.entry((module, range.start().to_u32(), range.end().to_u32())).or_default();
            known.extend(set.iter().filter_map(|object| value(solver, *object)));
            if set.len() >= MAX_OBJECTS || set.is_empty() {
                known.push(Value::Unknown);
            }
            known.sort();
            known.dedup();
        }
    }
    found.into_iter().map(|(place, values)| (place, values.into())).collect()
}

fn value(solver: &Solver<'_>, object: ObjectId) -> Option<Value> {
    Some(match solver.objects.get(object)? {
        Object::Module(module) => Value::Module(*module),
        Object::Class(class) => Value::Class(*class),
        Object::Instance(class) => Value::Instance(*class),
        Object::Function(module, scope) => Value::Function(Code { module: *module, scope: *scope }),
        Object::Bound(function, _) => match solver.objects.get(*function)? {
            Object::Function(module, scope) => Value::Method(Code { module: *module, scope: *scope }),
            Object::External(path) => Value::External(path.clone()),
            _ => Value::Plain,
        },
        Object::External(path) => match &**path {
            path if is_plain_type(path) => Value::Plain,
            _ => Value::External(path.clone()),
        },
        Object::Unknown => Value::Unknown,
        Object::Container(..) => Value::Container(Site(object)),
        Object::Generator(module, scope) => Value::Generator(Code { module: *module, scope: *scope }),
        _ => Value::Plain,
    })
}
