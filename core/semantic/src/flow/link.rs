//! The steps of all texts -> nodes, edges and operations of one analysis.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use twincell_syntax::python::is_builtin;

use super::objects::{Field, Object};
use super::solver::{CallOf, KeyOf, Node, Operation, Solver};
use crate::answers::Code;
use crate::answers::Referent;
use crate::ids::{ModuleId, NameId, NodeId, ScopeId, SymbolId};
use crate::module::{
    Argument, ContainerKind, Key, Literal, Module, ModulePath, ParameterKind, Receiver, ScopeKind, Step,
};
use crate::resolve::module_or_external;

impl Solver<'_> {
    pub fn link(&mut self) {
        let project = self.project;
        for module in project.modules() {
            let count = project.module(module).map_or(0, |text| text.nodes);
            let offset = self.nodes(count);
            self.offsets.push(offset);
        }
        for module in project.modules() {
            let Some(text) = project.module(module) else { continue };
            let names: Vec<u32> = text.names.iter().map(|name| self.name(name)).collect();
            let linker = Linker { module, text, names };
            linker.scopes(self);
            for step in &text.steps {
                linker.step(self, step);
            }
        }
    }
}

/// One text that is being linked.
struct Linker<'m> {
    module: ModuleId,
    text: &'m Module,
    /// The numbers of its names in the whole project.
    names: Vec<u32>,
}

impl Linker<'_> {
    fn name(&self, name: NameId) -> u32 {
        self.names.get(name.0 as usize).copied().unwrap_or_default()
    }

    fn code(&self, scope: ScopeId) -> Code {
        let mut scope = scope;
        while let Some(current) = self.text.scope(scope).filter(|current| current.kind == ScopeKind::Comprehension) {
            let Some(parent) = current.parent else { break };
            scope = parent;
        }
        Code { module: self.module, scope }
    }

    /// What every function has without being called: `self`, `*args` and `**keywords`.
    fn scopes(&self, solver: &mut Solver<'_>) {
        for scope in &self.text.scopes {
            if let Some(first) = scope.parameters.first()
                && let Some(class) = scope.parent.and_then(|parent| self.text.scope(parent))
                && class.kind == ScopeKind::Class
            {
                let class = SymbolId::new(self.module, class.owner);
                let node = solver.global(self.module, first.node);
                match scope.receiver {
                    Receiver::Instance => solver.add_new(node, Object::Instance(class)),
                    Receiver::Class => solver.add_new(node, Object::Class(class)),
                    Receiver::Static | Receiver::None => 0,
                };
            }
            for parameter in &scope.parameters {
                let node = solver.global(self.module, parameter.node);
                match parameter.kind {
                    ParameterKind::Rest => solver.add_new(node, Object::Container(ContainerKind::Tuple, node, 0)),
                    ParameterKind::Keywords => solver.add_new(node, Object::Container(ContainerKind::Dict, node, 0)),
                    _ => 0,
                };
            }
        }
    }

    fn import(&self, solver: &mut Solver<'_>, to: Node, path: ModulePath) {
        match module_or_external(solver.project, self.module, path) {
            Referent::Symbol(module) => solver.add_new(to, Object::Module(module.module)),
            Referent::External(path) => solver.add_new(to, Object::External(path)),
        };
    }

    fn import_from(&self, solver: &mut Solver<'_>, to: Node, path: ModulePath, name: NameId) {
        match module_or_external(solver.project, self.module, path) {
            Referent::Symbol(found) => {
                let name_number = self.name(name);
                // In the package itself, the name is bound by this import.
                if found.module == self.module
                    && let Some(submodule) = solver.project.layout.submodule(found.module, self.text.name(name))
                {
                    solver.add_new(to, Object::Module(submodule));
                    return;
                }
                let mut seen = FxHashSet::default();
                solver.module_member(found.module, name_number, to, &mut seen);
                solver.answers_of_module(found.module, name_number, to);
                solver.reads_property(to, self.code(ScopeId(0)));
            }
            Referent::External(path) => {
                let dot = if path.ends_with('.') { "" } else { "." };
                let path = format!("{path}{dot}{}", self.text.name(name)).into();
                solver.add_new(to, Object::External(path));
            }
        }
    }

    fn free(&self, solver: &mut Solver<'_>, to: Node, name: NameId) {
        let text = self.text.name(name);
        if !self.text.stars.is_empty() {
            let number = self.name(name);
            if solver.module_member(self.module, number, to, &mut FxHashSet::default()) {
                return;
            }
        }
        if is_builtin(text) {
            solver.add_new(to, Object::External(format!("builtins.{text}").into()));
        }
    }

    fn step(&self, solver: &mut Solver<'_>, step: &Step) {
        let at = |solver: &Solver<'_>, node: NodeId| solver.global(self.module, node);
        match step {
            Step::Copy { from, to } => {
                let (from, to) = (at(solver, *from), at(solver, *to));
                solver.copy(from, to);
            }
            Step::New { to, literal } => {
                let to = at(solver, *to);
                self.literal(solver, to, *literal);
            }
            Step::Free { to, name } => {
                let to = at(solver, *to);
                self.free(solver, to, *name);
            }
            Step::Import { to, module } => {
                let to = at(solver, *to);
                self.import(solver, to, *module);
            }
            Step::ImportFrom { to, module, name } => {
                let to = at(solver, *to);
                self.import_from(solver, to, *module, *name);
            }
            Step::Load { base, name, to, scope } => {
                let (base, to) = (at(solver, *base), at(solver, *to));
                solver.operation(base, Operation::Load { name: self.name(*name), to, code: self.code(*scope) });
            }
            Step::Store { base, name, from } => {
                let (base, from) = (at(solver, *base), at(solver, *from));
                solver.operation(base, Operation::Store { name: self.name(*name), from });
            }
            Step::Index { base, key, to, scope } => {
                let (base, to) = (at(solver, *base), at(solver, *to));
                let (key, waits) = self.key(solver, *key);
                let number = solver.operation(base, Operation::Index { base, key, to, code: self.code(*scope) });
                if let Some(waits) = waits {
                    solver.keyed(waits, base, number);
                }
            }
            Step::StoreIndex { base, key, from, scope } => {
                let (base, from) = (at(solver, *base), at(solver, *from));
                let (key, waits) = self.key(solver, *key);
                let number = solver.operation(base, Operation::StoreIndex { base, key, from, code: self.code(*scope) });
                if let Some(waits) = waits {
                    solver.keyed(waits, base, number);
                }
            }
            Step::Slice { base, low, high, to } => {
                let (base, to) = (at(solver, *base), at(solver, *to));
                solver.operation(base, Operation::Slice { low: *low, high: *high, to });
            }
            Step::Element { base, to, scope } => {
                let (base, to) = (at(solver, *base), at(solver, *to));
                solver.operation(base, Operation::Element { to, code: self.code(*scope) });
            }
            Step::Spread { base, to, scope } => {
                let (base, to) = (at(solver, *base), at(solver, *to));
                solver.operation(base, Operation::Spread { to, code: self.code(*scope) });
            }
            Step::Call(number) => self.call(solver, *number),
            Step::Special { base, name, arguments, to, scope } => {
                let (base, result) = (at(solver, *base), at(solver, *to));
                let arguments = arguments.iter().map(|node| Argument::Positional(at(solver, *node))).collect();
                let name = solver.name(name);
                let call = CallOf { arguments, result, code: self.code(*scope), decorates: false };
                solver.operation(base, Operation::Special { name, call: Arc::new(call) });
            }
            Step::Raise { value, scope } => {
                let value = at(solver, *value);
                solver.operation(value, Operation::Raise { code: self.code(*scope) });
            }
            Step::Annotated { class, to, is_whole } => {
                let (class, to) = (at(solver, *class), at(solver, *to));
                if *is_whole {
                    solver.declared.push((class, to));
                }
                solver.operation(class, Operation::Annotated { to });
            }
        }
    }

    fn literal(&self, solver: &mut Solver<'_>, to: Node, literal: Literal) {
        match literal {
            Literal::Function(scope) => {
                solver.add_new(to, Object::Function(self.module, scope));
            }
            Literal::Class(scope) => {
                let owner = self.text.scope(scope).map_or(0, |scope| scope.owner);
                solver.add_new(to, Object::Class(SymbolId::new(self.module, owner)));
            }
            Literal::Text(name) => {
                let text = self.text.names.get(name.0 as usize).cloned().unwrap_or_default();
                solver.add_new(to, Object::Text(text));
            }
            Literal::Number(number) => {
                solver.add_new(to, Object::Number(number));
            }
            Literal::Plain(name) => {
                solver.add_new(
                    to,
                    if name == "str" {
                        Object::Text("".into())
                    } else {
                        Object::External(format!("builtins.{name}").into())
                    },
                );
            }
            Literal::Container(kind, length) => {
                let object = solver.add_new(to, Object::Container(kind, to, 0));
                if let Some(length) = length {
                    solver.lengths.insert(object, length);
                }
            }
        }
    }

    /// A key, and the node that it waits for.
    fn key(&self, solver: &Solver<'_>, key: Key) -> (KeyOf, Option<Node>) {
        match key {
            Key::Text(name) => (KeyOf::Field(Field::Text(self.name(name))), None),
            Key::Number(number) => (KeyOf::Field(Field::Number(number)), None),
            Key::Any => (KeyOf::Field(Field::Any), None),
            Key::Value(node) => {
                let node = solver.global(self.module, node);
                (KeyOf::Node(node), Some(node))
            }
        }
    }

    fn call(&self, solver: &mut Solver<'_>, number: u32) {
        let Some(call) = self.text.calls.get(number as usize) else { return };
        let at = |node: NodeId| solver.global(self.module, node);
        let arguments = call.arguments.iter().map(|argument| match *argument {
            Argument::Positional(node) => Argument::Positional(at(node)),
            Argument::Star(node) => Argument::Star(at(node)),
            Argument::Keyword(name, node) => Argument::Keyword(self.name(name), at(node)),
            Argument::Keywords(node) => Argument::Keywords(at(node)),
        });
        let arguments = arguments.collect();
        let (callee, result) = (at(call.callee), at(call.result));
        let call = CallOf { arguments, result, code: self.code(call.scope), decorates: call.decorates };
        solver.operation(callee, Operation::Call(Arc::new(call)));
    }
}
