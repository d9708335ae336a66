//! A procedure while it is lowered: nodes on places, edges, and where jumps and exceptions lead to.

use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use ruff_text_size::TextRange;
use rustc_hash::{FxHashMap, FxHasher};

use super::Output;
use super::declare::Frame;
use super::world::World;
use crate::program::{ProcedureId, Role, Shared, Statement, StatementId, Term, UnsoundKind, hash_of};

/// What a node reads or writes before locals have versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    Local(u32),
    /// The value of an expression, which one node writes.
    Temporary(u32),
    Shared(u32),
    /// A shared map, unless a local alone holds the container (`owned`).
    Guarded(u32),
}

/// What a value is, as far as its expression tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Made {
    /// A number, a text, a truth value: it holds nothing.
    Scalar,
    /// A new container, whose elements may have other names.
    Container,
    #[default]
    Unknown,
}

/// Shared maps that are read or written unless a local alone holds the container.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    pub holder: Place,
    pub maps: Vec<u32>,
    /// The map of what a shared variable alone holds.
    pub own: Vec<u32>,
    /// Elements of elements count, too.
    pub is_deep: bool,
}

/// An edge from a node's side. If it has calls, it exists only if one of them may raise by a statement of its own.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub node: u32,
    pub side: u8,
    pub calls: Option<Rc<[u32]>>,
}

/// The side by which an exception leaves a node.
pub(super) const RAISING: u8 = 2;
/// The sides of the node that ends a `finally`.
const PENDING: u8 = 3;

#[derive(Debug)]
pub(super) struct DraftNode {
    pub statement: Option<StatementId>,
    pub role: Role,
    pub key: u64,
    /// The text has all that the node does.
    pub is_whole: bool,
    pub reads: Vec<Place>,
    pub writes: Vec<Place>,
    pub dispatch: Option<Vec<Place>>,
    pub incoming: Vec<Source>,
    pub calls: Vec<DraftCall>,
    /// Locals whose containers may get another name here.
    pub escapes: Vec<u32>,
    /// What its values of locals are.
    pub makes: Made,
    /// It changes what locals hold and gives them no other value.
    pub is_update: bool,
    /// It calls something.
    pub is_call: bool,
    pub term: Option<Term<Place>>,
}

/// One of the procedures that a node may call.
#[derive(Debug, Clone)]
pub(super) struct DraftCall {
    pub callee: ProcedureId,
    /// What each parameter gets, by number.
    pub inputs: Vec<Vec<Place>>,
    /// The value of each parameter, where it is one.
    pub terms: Vec<Option<Term<Place>>>,
    pub result: Place,
    pub raised: Place,
    pub raises: Place,
    pub failed: Place,
}

/// A procedure on places.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub nodes: Vec<DraftNode>,
    pub locals: Vec<Arc<str>>,
    pub temporaries: u32,
    pub guards: Vec<Guard>,
    pub parameters: Vec<Arc<str>>,
    pub returned: u32,
    pub raised: u32,
    pub end: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Jump {
    Break,
    Continue,
    Return,
}

/// Where exceptions arrive.
#[derive(Debug, Default)]
pub(super) struct Landing {
    pub sources: Vec<Source>,
    /// The exceptions that statements raise.
    pub values: Vec<Place>,
    /// What is written where they do.
    pub marks: Vec<Place>,
    /// The failures of operations.
    pub failures: Vec<Place>,
    /// Some statement raises, or some operation is expected to.
    is_certain: bool,
    calls: Vec<u32>,
}

impl Landing {
    /// What must be true of exceptions that go on from here, or `None` if there are none.
    fn onward(&self, with_operations: bool) -> Option<Option<Rc<[u32]>>> {
        match (self.is_certain || with_operations, self.calls.is_empty()) {
            (true, _) => (!self.sources.is_empty()).then_some(None),
            (false, true) => None,
            (false, false) => Some(Some(self.calls.as_slice().into())),
        }
    }
}

#[derive(Debug)]
enum Context {
    Loop { breaks: Vec<Source>, continues: Vec<Source>, is_for: bool },
    Try(Landing),
    Finally { landing: Landing, jumps: Vec<(Jump, Vec<Source>)>, pending: Place },
}

/// Lowers one procedure.
pub(super) struct Builder<'w, 'a> {
    pub world: &'w World<'a>,
    pub out: &'w mut Output,
    pub procedure: ProcedureId,
    pub module: usize,
    pub draft: Draft,
    pub frame: Rc<Frame>,
    /// The function or class whose body is read.
    pub owner: Arc<str>,
    pub class: Option<Arc<str>>,
    pub frontier: Vec<Source>,
    pub statement: Option<StatementId>,
    /// Some operation since the last node may fail.
    pub fails: bool,
    /// Locals whose containers may get another name at the next node.
    pub escaping: Vec<u32>,
    /// What the value is that is assigned next.
    pub making: Made,
    /// The next assignment is an augmented one.
    pub augments: bool,
    /// The value that is assigned next.
    pub assigned: Option<Term<Place>>,
    /// The values of calls, and of operations that call something.
    pub results: FxHashMap<TextRange, Place>,
    /// The value of the next call is iterated at once.
    pub iterates: bool,
    contexts: Vec<Context>,
    locals: FxHashMap<Arc<str>, u32>,
    pub top: Landing,
    pub returns: Vec<Source>,
    pub yielded: Vec<Place>,
    pub result: Place,
}

impl<'w, 'a> Builder<'w, 'a> {
    pub fn new(world: &'w World<'a>, out: &'w mut Output, procedure: ProcedureId) -> Self {
        let declaration = &world.declared.procedures[procedure.index()];
        let mut builder = Self {
            world,
            out,
            procedure,
            module: declaration.module,
            draft: Draft::default(),
            frame: declaration.frame.clone(),
            owner: declaration.qualname.clone(),
            class: declaration.class.clone(),
            frontier: Vec::new(),
            statement: None,
            fails: false,
            escaping: Vec::new(),
            making: Made::Unknown,
            augments: false,
            assigned: None,
            results: FxHashMap::default(),
            iterates: false,
            contexts: Vec::new(),
            locals: FxHashMap::default(),
            top: Landing::default(),
            returns: Vec::new(),
            yielded: Vec::new(),
            result: Place::Temporary(0),
        };
        builder.draft.temporaries = 1;
        builder.result = builder.local("return");
        builder
    }

    pub fn local(&mut self, name: &str) -> Place {
        if let Some(known) = self.locals.get(name) {
            return Place::Local(*known);
        }
        let id = self.draft.locals.len() as u32;
        let name: Arc<str> = name.into();
        self.draft.locals.push(name.clone());
        self.locals.insert(name, id);
        Place::Local(id)
    }

    pub fn temporary(&mut self) -> Place {
        self.draft.temporaries += 1;
        Place::Temporary(self.draft.temporaries - 1)
    }

    pub fn shared(&mut self, shared: Shared) -> Place {
        Place::Shared(self.out.shared(shared))
    }

    pub fn unsound(&mut self, range: TextRange, kind: UnsoundKind) {
        let line = self.world.sources[self.module].line(range.start());
        self.out.unsound.push((self.module, line, kind));
    }

    /// Begins a statement of a kind, whose head has these pieces of text.
    pub fn begin(&mut self, lines: TextRange, kind: &str, pieces: &[TextRange]) {
        let source = &self.world.sources[self.module];
        let mut hasher = FxHasher::default();
        (source.key(pieces), kind).hash(&mut hasher);
        let id = StatementId(self.out.statements.len() as u32);
        self.out.statements.push(Statement {
            procedure: self.procedure,
            function: self.owner.clone(),
            lines: (source.line(lines.start()), source.line(lines.end())),
            key: hasher.finish(),
        });
        self.statement = Some(id);
    }

    /// Adds a node behind the frontier.
    pub fn node(&mut self, role: Role, key: u64, mut reads: Vec<Place>, writes: Vec<Place>) -> u32 {
        reads.sort_unstable();
        reads.dedup();
        let id = self.draft.nodes.len() as u32;
        let statement = if matches!(role, Role::Step | Role::Landing) { self.statement } else { None };
        let incoming = std::mem::take(&mut self.frontier);
        let escapes = std::mem::take(&mut self.escaping);
        self.draft.nodes.push(DraftNode {
            statement,
            role,
            key,
            is_whole: false,
            reads,
            writes,
            dispatch: None,
            incoming,
            calls: Vec::new(),
            escapes,
            makes: Made::Unknown,
            is_update: false,
            is_call: false,
            term: None,
        });
        self.frontier = vec![Source { node: id, side: 0, calls: None }];
        id
    }

    /// Adds a step that comes from a piece of the text. `tag` tells the steps of one piece apart.
    pub fn step(&mut self, range: TextRange, tag: &str, reads: Vec<Place>, writes: Vec<Place>) -> u32 {
        let key = self.key(range, tag);
        self.node(Role::Step, key, reads, writes)
    }

    /// Adds a node at which control meets.
    pub fn landing_step(&mut self, range: TextRange, tag: &str, reads: Vec<Place>, writes: Vec<Place>) -> u32 {
        let key = self.key(range, tag);
        self.node(Role::Landing, key, reads, writes)
    }

    pub fn key(&self, range: TextRange, tag: &str) -> u64 {
        let mut hasher = FxHasher::default();
        (self.world.sources[self.module].key(&[range]), tag).hash(&mut hasher);
        hasher.finish()
    }

    pub fn draft_node(&mut self, node: u32) -> &mut DraftNode {
        &mut self.draft.nodes[node as usize]
    }

    /// The side of a node as a place to go on from.
    pub fn side(node: u32, side: u8) -> Vec<Source> {
        vec![Source { node, side, calls: None }]
    }

    /// Whether some handler may take an exception that is raised here.
    pub fn is_caught(&self) -> bool {
        self.contexts.iter().any(|context| matches!(context, Context::Try(_)))
    }

    /// An operation of a node may fail: the exception is one of the outputs, and leads to handlers if there are some.
    pub fn may_fail(&mut self, node: u32) {
        let value = self.temporary();
        self.draft_node(node).writes.push(value);
        let is_caught = self.is_caught();
        let landing = self.landing();
        landing.failures.push(value);
        if is_caught {
            landing.sources.push(Source { node, side: RAISING, calls: None });
        }
    }

    /// An operation may fail by what its methods raise.
    pub fn may_fail_by(&mut self, call: &DraftCall) {
        self.landing().failures.extend([call.raised, call.failed]);
    }

    /// A call may raise: `check` reads what it raised.
    pub fn may_raise(&mut self, node: u32, check: u32, call: &DraftCall) {
        let is_caught = self.is_caught();
        let landing = self.landing();
        landing.values.push(call.raised);
        landing.marks.push(call.raises);
        landing.failures.push(call.failed);
        landing.calls.push(node);
        let calls = (!is_caught).then(|| [node].as_slice().into());
        landing.sources.push(Source { node: check, side: RAISING, calls });
    }

    /// The frontier ends in an exception.
    pub fn raise(&mut self, value: Place) {
        let mark = self.temporary();
        if !self.frontier.is_empty() {
            // That it is raised depends on control alone.
            let is_certain = self.frontier.iter().any(|source| source.calls.is_none());
            let calls = self.frontier.iter().filter_map(|source| source.calls.as_deref()).flatten().copied().collect();
            let node = self.node(Role::Landing, hash_of("raises"), Vec::new(), vec![mark]);
            let draft = self.draft_node(node);
            (draft.is_whole, draft.term) = (true, Some(Term::Constant(hash_of("raises"))));
            self.frontier = vec![Source { node, side: 0, calls: (!is_certain).then_some(calls) }];
        }
        let sources = std::mem::take(&mut self.frontier);
        let landing = self.landing();
        landing.values.push(value);
        landing.marks.push(mark);
        landing.is_certain |= sources.iter().any(|source| source.calls.is_none());
        landing.calls.extend(sources.iter().filter_map(|source| source.calls.as_deref()).flatten());
        landing.sources.extend(sources);
    }

    fn landing(&mut self) -> &mut Landing {
        let nearest = self.contexts.iter_mut().rev().find_map(|context| match context {
            Context::Try(landing) | Context::Finally { landing, .. } => Some(landing),
            Context::Loop { .. } => None,
        });
        nearest.unwrap_or(&mut self.top)
    }

    /// The frontier leaves a loop or the procedure.
    pub fn jump(&mut self, jump: Jump) {
        let sources = std::mem::take(&mut self.frontier);
        for context in self.contexts.iter_mut().rev() {
            match context {
                Context::Finally { jumps, .. } => return jumps.push((jump, sources)),
                Context::Loop { breaks, .. } if jump == Jump::Break => return breaks.extend(sources),
                Context::Loop { continues, .. } if jump == Jump::Continue => return continues.extend(sources),
                _ => {}
            }
        }
        if jump == Jump::Return {
            self.returns.extend(sources);
        }
    }

    pub fn is_in_loop(&self) -> bool {
        self.contexts.iter().any(|context| matches!(context, Context::Loop { .. }))
    }

    /// Whether a `break` or `return` here ends a `for` loop early.
    pub fn ends_iteration(&self, jump: Jump) -> bool {
        let mut loops = self.contexts.iter().rev().filter_map(|context| match context {
            Context::Loop { is_for, .. } => Some(*is_for),
            _ => None,
        });
        match jump {
            Jump::Break => loops.next().unwrap_or(false),
            Jump::Return => loops.any(|is_for| is_for),
            Jump::Continue => false,
        }
    }

    /// Runs `body` as that of a loop and gives the edges of its `break` and `continue`.
    pub fn in_loop(&mut self, is_for: bool, body: impl FnOnce(&mut Self)) -> (Vec<Source>, Vec<Source>) {
        self.contexts.push(Context::Loop { breaks: Vec::new(), continues: Vec::new(), is_for });
        body(self);
        match self.contexts.pop() {
            Some(Context::Loop { breaks, continues, .. }) => (breaks, continues),
            _ => Default::default(),
        }
    }

    /// Runs `body` as that of a `try` with handlers and gives what arrives at them.
    pub fn in_try(&mut self, body: impl FnOnce(&mut Self)) -> Landing {
        self.contexts.push(Context::Try(Landing::default()));
        body(self);
        match self.contexts.pop() {
            Some(Context::Try(landing)) => landing,
            _ => Landing::default(),
        }
    }

    /// What no handler takes goes on from a node.
    pub fn unhandled(&mut self, landing: &Landing, node: u32, value: Place) {
        let is_caught = self.is_caught();
        self.frontier.clear();
        if let Some(calls) = landing.onward(is_caught) {
            self.frontier = vec![Source { node, side: 0, calls }];
            self.raise(value);
        } else {
            self.landing().failures.push(value);
        }
    }

    /// Runs `body` and then `after`, however the body ends. If it ends in an exception, `writes` are written.
    pub fn with_finally(
        &mut self,
        range: TextRange,
        writes: Vec<Place>,
        body: impl FnOnce(&mut Self),
        after: impl FnOnce(&mut Self),
    ) {
        let pending = self.local(&format!("pending {}", self.contexts.len()));
        self.contexts.push(Context::Finally { landing: Landing::default(), jumps: Vec::new(), pending });
        body(self);
        let Some(Context::Finally { landing, jumps, pending }) = self.contexts.pop() else { return };
        let statement = self.statement;
        let mut into = Vec::new();
        let ends_normally = !self.frontier.is_empty();
        if ends_normally {
            self.landing_step(range, "normal", Vec::new(), vec![pending]);
            into.append(&mut self.frontier);
        }
        let mut left = Vec::new();
        for (jump, sources) in jumps {
            self.frontier = sources;
            self.landing_step(range, "jump", Vec::new(), vec![pending]);
            into.append(&mut self.frontier);
            if !left.contains(&jump) {
                left.push(jump);
            }
        }
        let raised = self.temporary();
        if !landing.sources.is_empty() || !landing.values.is_empty() {
            self.frontier = landing.sources.clone();
            let writes = [pending, raised].into_iter().chain(writes).collect();
            self.landing_step(range, "raised", landing.values.clone(), writes);
            if !landing.sources.is_empty() {
                into.append(&mut self.frontier);
            }
        }
        self.frontier = into;
        after(self);
        self.statement = statement;
        if self.frontier.is_empty() {
            return;
        }
        let end = self.landing_step(range, "finally", vec![pending], Vec::new());
        let is_caught = self.is_caught();
        self.landing().failures.extend(landing.failures.iter().copied());
        if let Some(calls) = landing.onward(is_caught) {
            self.frontier = vec![Source { node: end, side: RAISING, calls }];
            self.raise(raised);
        }
        for (at, jump) in left.into_iter().enumerate() {
            self.frontier = Self::side(end, PENDING + at as u8);
            self.jump(jump);
        }
        self.frontier = if ends_normally { Self::side(end, 0) } else { Vec::new() };
    }
}
