//! A text -> what it says by itself ([`Module`]): symbols, scopes, references, and the steps by which values move.
//!
//! Variables have one place for all values that they ever have, which other scopes read. Within a scope, each assignment
//! makes a new version, so `a = f; a = g; a()` calls `g` alone (static single assignment, Cytron et al. 1991, made while
//! the statements are read). `statements` follows the order of execution, and `versions` joins it after branches.

mod always;
mod definitions;
mod expressions;
mod hashing;
mod patterns;
mod statements;
mod targets;
mod unsure;
mod versions;

use std::sync::Arc;

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::TextRange;
use rustc_hash::{FxHashMap, FxHashSet};
use twincell_syntax::parse::{normalize_newlines, parse, with_stack_for};
use twincell_syntax::scopes::{Bindings, mangle};
use twincell_syntax::too_deep;

use crate::ids::{NameId, NodeId, ScopeId};
use crate::module::{
    Binding, Dotted, Literal, Module, Receiver, Reference, Scope, ScopeKind, Step, Symbol, SymbolKind, SymbolPlace,
    Target,
};

/// The longest text that is read. Longer ones are generated data.
const MAX_TEXT: usize = 32 << 20;

/// Reads a text. Whatever does not parse is left out.
pub(crate) fn lower(text: &str) -> Module {
    if text.len() > MAX_TEXT {
        return unread();
    }
    let text = normalize_newlines(text);
    with_stack_for(text.len(), || {
        let parsed = parse(&text);
        let body = parsed.suite();
        let mut lowering = Lowering::default();
        lowering.module.is_unread = body.is_empty() && too_deep(&text).is_some();
        lowering.module.is_broken = !parsed.errors().is_empty() || lowering.module.is_unread;
        lowering.module.unsure = unsure::unsure(body);
        lowering.shared = shared_names(body);
        lowering.module(body, TextRange::up_to(ruff_text_size::TextSize::of(&*text)));
        lowering.module
    })
}

/// What is said of a text that cannot be read.
pub(crate) fn unread() -> Module {
    let mut module = lower("");
    module.is_unread = true;
    module
}

/// The names that functions declare as global or nonlocal, which have one value for all.
fn shared_names(body: &[Stmt]) -> FxHashSet<String> {
    #[derive(Default)]
    struct Shared(FxHashSet<String>);

    impl<'a> SourceOrderVisitor<'a> for Shared {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            match stmt {
                Stmt::Global(global) => self.0.extend(global.names.iter().map(ToString::to_string)),
                Stmt::Nonlocal(nonlocal) => self.0.extend(nonlocal.names.iter().map(ToString::to_string)),
                _ => source_order::walk_stmt(self, stmt),
            }
        }

        fn visit_expr(&mut self, _: &'a Expr) {}
    }

    let mut shared = Shared::default();
    shared.visit_body(body);
    shared.0
}

/// What is known of a scope while its statements are read.
struct Frame {
    scope: ScopeId,
    kind: ScopeKind,
    bindings: Bindings,
    /// What precedes the names of symbols in the scope: `C.`, `f.<locals>.`.
    prefix: String,
    /// The innermost class around the scope, by whose name private names are mangled.
    class: Option<Arc<str>>,
    /// The name of the first parameter of a method, and the class.
    receiver: Option<(NameId, ScopeId)>,
    versions: versions::Versions,
    lambdas: u32,
}

#[derive(Default)]
struct Lowering {
    module: Module,
    frames: Vec<Frame>,
    /// The symbol that the text being read belongs to.
    owner: u32,
    shared: FxHashSet<String>,
    free: FxHashMap<NameId, NodeId>,
    /// Hashes of the conditions around a statement of the module or of a class.
    around: Vec<u64>,
}

impl Lowering {
    fn module(&mut self, body: &[Stmt], range: TextRange) {
        let place = SymbolPlace { range, name: TextRange::empty(range.start()) };
        self.module.symbols.push(Symbol {
            kind: SymbolKind::Module,
            qualname: "".into(),
            places: vec![place],
            hash: 0,
            parent: 0,
        });
        let mut bindings = Bindings::of_body(body);
        bindings.bound.extend(self.shared.iter().cloned());
        let scope = self.enter(ScopeKind::Module, bindings, String::new(), "".into());
        let always = always::of_module(body).iter().map(|name| self.id(name)).collect();
        if let Some(scope) = self.scope_mut(scope) {
            scope.always = always;
        }
        let taken = always::taken(body);
        self.module.deleted = taken.names.iter().map(|name| self.id(name)).collect();
        self.module.makes_bare = taken.makes_bare;
        self.body(body);
        self.frames.pop();
        for (local, symbol) in self.module.symbols.iter().enumerate().skip(1) {
            self.module.held_by.entry(symbol.parent).or_default().push(local as u32);
        }
        for (position, scope) in self.module.scopes.iter().enumerate() {
            if matches!(scope.kind, ScopeKind::Class | ScopeKind::Function) {
                self.module.scopes_of.entry(scope.owner).or_default().push(ScopeId(position as u32));
            }
        }
    }

    fn id(&mut self, name: &str) -> NameId {
        if let Some(id) = self.module.ids.get(name) {
            return *id;
        }
        let id = NameId(self.module.names.len() as u32);
        let name: Arc<str> = name.into();
        self.module.names.push(name.clone());
        self.module.ids.insert(name, id);
        id
    }

    /// The number of a name as it is stored in the innermost class around.
    fn mangled(&mut self, name: &str) -> NameId {
        match self.frames.last().and_then(|frame| frame.class.clone()) {
            Some(class) if name.starts_with("__") => {
                let mangled = mangle(name, Some(&class));
                self.id(&mangled)
            }
            _ => self.id(name),
        }
    }

    fn node(&mut self) -> NodeId {
        self.module.nodes += 1;
        NodeId(self.module.nodes - 1)
    }

    fn step(&mut self, step: Step) {
        self.module.steps.push(step);
    }

    fn copy(&mut self, from: NodeId, to: NodeId) {
        if from != to {
            self.step(Step::Copy { from, to });
        }
    }

    fn new_value(&mut self, literal: Literal) -> NodeId {
        let to = self.node();
        self.step(Step::New { to, literal });
        to
    }

    fn here(&self) -> ScopeId {
        self.frames.last().map_or(ScopeId(0), |frame| frame.scope)
    }

    /// Opens a scope, whose frame is to be taken away again.
    fn enter(&mut self, kind: ScopeKind, bindings: Bindings, prefix: String, name: Arc<str>) -> ScopeId {
        let scope = ScopeId(self.module.scopes.len() as u32);
        let parent = self.frames.last().map(|frame| frame.scope);
        let class = self.frames.last().and_then(|frame| frame.class.clone());
        let returns = self.node();
        self.module.scopes.push(Scope {
            kind,
            parent,
            owner: self.owner,
            name,
            variables: FxHashMap::default(),
            bindings: FxHashMap::default(),
            parameters: Vec::new(),
            returns,
            yields: None,
            receiver: Receiver::None,
            is_property: false,
            bases: Vec::new(),
            fields: Vec::new(),
            always: Vec::new(),
            initial: Vec::new(),
            goes_above: false,
        });
        let receiver = None;
        let versions = versions::Versions::default();
        self.frames.push(Frame { scope, kind, bindings, prefix, class, receiver, versions, lambdas: 0 });
        scope
    }

    fn scope_mut(&mut self, scope: ScopeId) -> Option<&mut Scope> {
        self.module.scopes.get_mut(scope.0 as usize)
    }

    /// The place of all values that a variable of a scope ever has.
    fn variable(&mut self, scope: ScopeId, name: NameId) -> NodeId {
        if let Some(node) = self.module.scope(scope).and_then(|scope| scope.variables.get(&name)) {
            return *node;
        }
        let node = self.node();
        if let Some(scope) = self.scope_mut(scope) {
            scope.variables.insert(name, node);
        }
        node
    }

    /// The value of a name here.
    fn read(&mut self, text: &str) -> NodeId {
        let name = self.mangled(text);
        let mut is_deferred = false;
        for position in (0..self.frames.len()).rev() {
            let is_innermost = position + 1 == self.frames.len();
            let Some(frame) = self.frames.get(position) else { break };
            let is_visible = is_innermost || frame.kind != ScopeKind::Class;
            if is_visible && frame.bindings.globals.contains(text) {
                return self.variable(ScopeId(0), name);
            }
            if is_visible && frame.bindings.is_local(text) {
                if !is_deferred
                    && !self.shared.contains(text)
                    && let Some(version) = frame.versions.of(name)
                {
                    return version;
                }
                let scope = frame.scope;
                return self.variable(scope, name);
            }
            is_deferred |= matches!(frame.kind, ScopeKind::Function | ScopeKind::Lambda);
        }
        if let Some(node) = self.free.get(&name) {
            return *node;
        }
        let node = self.node();
        self.free.insert(name, node);
        self.step(Step::Free { to: node, name });
        node
    }

    /// The frame that a name is bound in when it is assigned here.
    fn frame_of(&self, text: &str) -> usize {
        let Some(innermost) = self.frames.iter().rposition(|frame| frame.kind != ScopeKind::Comprehension) else {
            return 0;
        };
        let is_global = self.frames.get(innermost).is_some_and(|frame| frame.bindings.globals.contains(text));
        let is_nonlocal = self.frames.get(innermost).is_some_and(|frame| frame.bindings.nonlocals.contains(text));
        if is_global {
            return 0;
        }
        if is_nonlocal {
            let outer = self
                .frames
                .iter()
                .take(innermost)
                .rposition(|frame| frame.kind == ScopeKind::Function && frame.bindings.is_local(text));
            return outer.unwrap_or(innermost);
        }
        innermost
    }

    /// Assigns a value to a name.
    fn write(&mut self, text: &str, value: NodeId, binding: Binding) {
        let position = self.frame_of(text);
        self.write_in(position, text, value, binding);
    }

    fn write_in(&mut self, position: usize, text: &str, value: NodeId, binding: Binding) {
        let name = self.mangled(text);
        let Some(scope) = self.frames.get(position).map(|frame| frame.scope) else { return };
        let variable = self.variable(scope, name);
        self.copy(value, variable);
        let is_shared = self.shared.contains(text);
        let is_innermost = position + 1 == self.frames.len();
        if let Some(frame) = self.frames.get_mut(position) {
            // A walrus in a comprehension may run any number of times.
            match is_innermost && !is_shared {
                true => frame.versions.assign(name, value),
                false => frame.versions.assign(name, variable),
            }
        }
        if let Some(scope) = self.scope_mut(scope) {
            let known = scope.bindings.entry(name).or_default();
            if !known.contains(&binding) && known.len() < MAX_BINDINGS {
                known.push(binding);
            }
        }
    }

    /// The symbol of this name, which has one place more.
    fn symbol(&mut self, qualname: String, kind: SymbolKind, place: SymbolPlace, hash: u64) -> u32 {
        // The name of a broken definition. An empty one is that of the module.
        let qualname = if qualname.is_empty() { "<unnamed>".to_owned() } else { qualname };
        let around = self.around.iter().fold(hash, |hash, around| hash.rotate_left(7) ^ around);
        if let Some(known) = self.module.symbol_of.get(qualname.as_str()).copied() {
            if let Some(symbol) = self.module.symbols.get_mut(known as usize) {
                symbol.hash = symbol.hash.rotate_left(5) ^ around;
                symbol.places.push(place);
                if symbol.kind == SymbolKind::Field {
                    symbol.kind = kind;
                }
            }
            return known;
        }
        let local = self.module.symbols.len() as u32;
        let qualname: Arc<str> = qualname.into();
        self.module.symbol_of.insert(qualname.clone(), local);
        let parent = self.frames.last().and_then(|frame| self.module.scope(frame.scope)).map_or(0, |scope| scope.owner);
        self.module.symbols.push(Symbol { kind, qualname, places: vec![place], hash: around, parent });
        local
    }

    fn refer(&mut self, range: TextRange, target: Target, is_store: bool) {
        let reference = Reference { range, owner: self.owner, scope: self.here(), target, is_store };
        self.module.references.push(reference);
    }

    /// An expression as a name with attributes, if it is one.
    fn dotted(&mut self, expr: &Expr) -> Option<Dotted> {
        let mut attributes = Vec::new();
        let mut expr = expr;
        loop {
            match expr {
                Expr::Name(name) => {
                    let first = self.mangled(&name.id);
                    let rest: Vec<&str> = attributes.into_iter().rev().collect();
                    let rest = rest.into_iter().map(|name| self.mangled(name)).collect();
                    return Some(Dotted { scope: self.here(), first, rest });
                }
                Expr::Attribute(attribute) => {
                    attributes.push(attribute.attr.as_str());
                    expr = &attribute.value;
                }
                // `Generic[T]` is a base like `Generic`.
                Expr::Subscript(subscript) if attributes.is_empty() => expr = &subscript.value,
                _ => return None,
            }
        }
    }
}

/// How many things a name may stand for.
const MAX_BINDINGS: usize = 32;
