//! A project -> a [`Program`]: functions and bodies of modules become graphs of simple statements that read and write
//! variables in single-assignment form.
//!
//! `declare` finds the procedures and the scopes of names, `world` has what the project's model says of places, a
//! `draft::Builder` reads one procedure (`statements`, `expressions`, `calls`, ...), and `assemble` gives locals their
//! versions and joins the procedures.
//!
//! Attributes are a map for each name and each family of classes that inherit from one another, and elements of containers
//! one for each place that makes them. What is stored in an object of which nothing is known is in a map of its own, which
//! all readers read. Who does not know the object reads a map that all writers write. These maps, globals and captured
//! locals are *shared*: each has one version for the whole program, so that each write may reach each read. The
//! paper makes them formals, of which each procedure would have hundreds here. Flow between procedures is the same, apart
//! from the order of writes and reads.
//!
//! A statement raises by `raise`, `assert`, or a call of a procedure that does or of a function that never returns. Within
//! a `try` with handlers, every operation may, imports and reads of names among them. Elsewhere a failing operation is part of
//! what a procedure raises, and no branch.

mod arguments;
mod assemble;
mod callees;
mod calls;
mod declare;
mod draft;
mod effects;
mod expressions;
mod imports;
mod items;
mod names;
mod operators;
mod owned;
mod patterns;
mod source;
mod stars;
mod statements;
mod targets;
mod terms;
mod versions;
mod world;

use std::sync::Arc;

use ruff_text_size::Ranged;
use rustc_hash::{FxHashMap, FxHashSet};
use twincell_semantic::Project;
use twincell_syntax::parse::{normalize_newlines, parse, with_stack_for};

use crate::program::{ProcedureId, Program, Role, Shared, Statement, Unsound, UnsoundKind};
use declare::{Body, declare};
use draft::{Builder, Draft, Made, Source as Edge};
use source::Source;
use world::World;

/// The most statements of a project that are lowered.
const MAX_STATEMENTS: usize = 2_000_000;

/// What all procedures of a program share.
#[derive(Debug, Default)]
struct Output {
    statements: Vec<Statement>,
    shared: Vec<Shared>,
    shared_ids: FxHashMap<Shared, u32>,
    /// Shared variables whose containers get other names.
    escaped: FxHashSet<u32>,
    /// Module, line and kind.
    unsound: Vec<(usize, u32, UnsoundKind)>,
}

impl Output {
    fn shared(&mut self, shared: Shared) -> u32 {
        if let Some(known) = self.shared_ids.get(&shared) {
            return *known;
        }
        let id = self.shared.len() as u32;
        self.shared.push(shared.clone());
        self.shared_ids.insert(shared, id);
        id
    }
}

/// Lowers a project. No text makes it fail: what does not parse is left out and listed.
pub(crate) fn lower(project: &Project) -> Program {
    let mut texts = Vec::new();
    let mut unread = Vec::new();
    for module in project.modules().filter(|module| project.path(*module).ends_with(".py")) {
        match project.text(module) {
            Some(text) => texts.push((module, normalize_newlines(&text.text).into_owned())),
            None => unread.push(Arc::<str>::from(project.path(module))),
        }
    }
    let longest = texts.iter().map(|(_, text)| text.len()).max().unwrap_or_default();
    let mut program = with_stack_for(longest, || {
        let parsed: Vec<_> = texts.iter().map(|(_, text)| parse(text)).collect();
        let sources: Vec<Source<'_>> =
            texts.iter().zip(&parsed).map(|((module, text), parsed)| Source::new(*module, text, parsed)).collect();
        let world = World::new(project, &sources, declare(project, &sources));
        let mut out = Output::default();
        for (module, parsed) in parsed.iter().enumerate() {
            if let Some(error) = parsed.errors().first() {
                out.unsound.push((module, sources[module].line(error.location.start()), UnsoundKind::Broken));
            } else if parsed.suite().is_empty() && twincell_syntax::too_deep(sources[module].text).is_some() {
                out.unsound.push((module, 1, UnsoundKind::NotRead));
            }
        }
        let mut drafts = Vec::new();
        let mut is_cut = world.declared.is_cut;
        for id in 0..world.declared.procedures.len() as u32 {
            is_cut |= out.statements.len() > MAX_STATEMENTS;
            drafts.push(draft(&world, &mut out, ProcedureId(id), is_cut));
        }
        let mut program = assemble::assemble(&world, out, drafts);
        program.is_cut |= is_cut;
        program
    });
    program.unsound.extend(unread.into_iter().map(|path| Unsound { path, line: 1, kind: UnsoundKind::NotRead }));
    program.unsound.sort();
    program.unsound.dedup();
    program
}

/// Lowers one procedure, but for versions of locals.
fn draft(world: &World<'_>, out: &mut Output, id: ProcedureId, is_cut: bool) -> Draft {
    let declaration = &world.declared.procedures[id.index()];
    let mut builder = Builder::new(world, out, id);
    // How often a library calls it, and with what, is a part of what is outside.
    let outside = match world.is_called_from_outside(id) {
        true => vec![builder.shared(Shared::Outside)],
        false => Vec::new(),
    };
    let entry = builder.node(Role::Entry, 0, outside.clone(), Vec::new());
    if let Some(parameters) = declaration.parameters() {
        for name in arguments::parameter_names(parameters) {
            let writes = builder.name_places(name, true);
            let node = builder.node(Role::Parameter, 0, outside.clone(), writes);
            if arguments::is_declared_scalar(parameters, name) {
                builder.draft_node(node).makes = Made::Scalar;
            }
            builder.draft.parameters.push(name.into());
        }
    }
    match declaration.body {
        _ if is_cut => {}
        Body::Module(body) => builder.body(body),
        Body::Function(function) => builder.body(&function.body),
        Body::Lambda(lambda) => {
            let range = lambda.body.range();
            builder.begin(range, "lambda", &[range]);
            let reads = builder.value(&lambda.body);
            let (term, writes) = (builder.term(&lambda.body), vec![builder.result]);
            let node = builder.failing_step(range, "lambda", reads, writes);
            builder.draft_node(node).term = term;
        }
    }
    let returns = std::mem::take(&mut builder.returns);
    builder.frontier.extend(returns);
    let mut reads = vec![builder.result];
    reads.append(&mut builder.yielded);
    builder.draft.returned = builder.node(Role::Return, 0, reads, Vec::new());
    let returned = std::mem::take(&mut builder.frontier);
    builder.frontier = std::mem::take(&mut builder.top.sources);
    let values = std::mem::take(&mut builder.top.values);
    builder.draft.raised = builder.node(Role::Raised, 0, values, Vec::new());
    let marks = std::mem::take(&mut builder.top.marks);
    builder.node(Role::Raises, 0, marks, Vec::new());
    let failures = std::mem::take(&mut builder.top.failures);
    builder.frontier.extend(returned);
    // What is not called does not run: all that no other branch decides depends on the entry.
    builder.frontier.push(Edge { node: entry, side: 1, calls: None });
    // Failures are no branches: their exceptions arrive whatever way is taken.
    builder.node(Role::Failed, 0, failures, Vec::new());
    builder.draft.end = builder.node(Role::End, 0, Vec::new(), Vec::new());
    builder.draft
}
