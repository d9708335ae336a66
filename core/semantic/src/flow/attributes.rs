//! Attributes of objects: of modules, and of classes and their objects by the order of ancestors, with what binding makes
//! of functions.

use rustc_hash::FxHashSet;
use twincell_syntax::python::is_builtin;

use super::always::{always_has, module_always_has};
use super::objects::{Field, Object, ObjectId};
use super::solver::{Edge, Node, Operation, Solver};
use crate::answers::{Ancestor, CallKind, Callee, Code};
use crate::ids::{ModuleId, NodeId, ScopeId, SymbolId};
use crate::module::{Receiver, ScopeKind};
use crate::resolve::{ancestors, external_path, imported};

/// How many parts the path of an external object has at most.
const MAX_PATH: usize = 8;
/// How many ancestors that assign one attribute are looked at.
const MAX_ASSIGNING: usize = 8;

/// How far ancestors are asked for an attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    WithinProject,
    Outside,
}

/// Whether Python looks a name up in the class alone where it runs it.
fn is_special(name: &str) -> bool {
    name.starts_with("__") && name.ends_with("__")
}

impl Solver<'_> {
    pub fn global(&self, module: ModuleId, node: NodeId) -> Node {
        self.offsets.get(module.0 as usize).map_or(0, |offset| offset + node.0)
    }

    pub(super) fn load(&mut self, object: ObjectId, name: u32, to: Node, code: Code) {
        let Some(node) = self.attribute(object, name) else { return };
        self.copy(node, to);
        self.reads_property(node, code);
    }

    pub(super) fn store(&mut self, object: ObjectId, name: u32, from: Node) {
        let to = match self.objects.get(object) {
            Some(Object::Module(module)) => self.module_variable(*module, name),
            Some(Object::Class(class)) => {
                let class = *class;
                self.class_variables(class, name).first().copied()
            }
            Some(Object::External(_) | Object::Text(_) | Object::Number(_) | Object::Unknown) => {
                return self.given.push(from);
            }
            _ => None,
        };
        let to = to.unwrap_or_else(|| self.field(object, Field::Attribute(name)));
        self.copy(from, to);
    }

    /// The node of `object.name`, or nothing if there is no such attribute.
    pub fn attribute(&mut self, object: ObjectId, name: u32) -> Option<Node> {
        if let Some(known) = self.attributes.get(&(object, name)) {
            return *known;
        }
        // What an attribute leads to may ask for the same one.
        let node = self.node();
        self.attributes.insert((object, name), Some(node));
        let is_there = self.fill_attribute(object, name, node);
        if !is_there {
            self.attributes.insert((object, name), None);
            return None;
        }
        Some(node)
    }

    fn fill_attribute(&mut self, object: ObjectId, name: u32, node: Node) -> bool {
        match self.objects.get(object).cloned() {
            Some(Object::Module(module)) => {
                let field = self.field(object, Field::Attribute(name));
                self.copy(field, node);
                self.module_member(module, name, node, &mut FxHashSet::default());
                self.answers_of_module(module, name, node);
                true
            }
            Some(Object::Class(class)) => {
                let field = self.field(object, Field::Attribute(name));
                self.copy(field, node);
                self.bound_from(class, None, name, (object, Ends::Outside), node);
                true
            }
            Some(Object::Instance(class)) => {
                let field = self.field(object, Field::Attribute(name));
                self.copy(field, node);
                self.inherited_fields(class, name, node);
                // What the project's methods assign hides what an ancestor outside of it may have.
                let ends = if self.is_assigned(class, name) { Ends::WithinProject } else { Ends::Outside };
                self.bound_from(class, None, name, (object, ends), node);
                self.answers_of_object(object, class, name, node);
                true
            }
            Some(Object::Super(class, receiver)) => {
                let (Some(Object::Instance(own) | Object::Class(own)), true) =
                    (self.objects.get(receiver).cloned(), receiver != object)
                else {
                    return false;
                };
                self.bound_from(own, Some(class), name, (receiver, Ends::Outside), node);
                true
            }
            Some(Object::External(path)) => {
                if path.split('.').count() < MAX_PATH {
                    let path = format!("{path}.{}", self.text(name)).into();
                    self.add_new(node, Object::External(path));
                } else {
                    self.add(node, object);
                }
                true
            }
            Some(Object::Unknown) => {
                self.add(node, object);
                true
            }
            Some(Object::Container(..)) => {
                let method = Object::ContainerMethod(object, self.text(name));
                self.add_new(node, method);
                true
            }
            Some(Object::Text(_)) => {
                let path = format!("builtins.str.{}", self.text(name)).into();
                self.add_new(node, Object::External(path));
                true
            }
            Some(Object::Function(..) | Object::Bound(..)) => {
                let field = self.field(object, Field::Attribute(name));
                self.copy(field, node);
                true
            }
            _ => false,
        }
    }

    /// The variable of a module's scope.
    fn module_variable(&self, module: ModuleId, name: u32) -> Option<Node> {
        let text = self.project.module(module)?;
        let id = text.name_id(self.names.get(name as usize)?)?;
        let node = *text.scopes.first()?.variables.get(&id)?;
        Some(self.global(module, node))
    }

    /// What `module.name` is: a variable, a submodule, or what `import *` brings.
    pub(super) fn module_member(
        &mut self,
        module: ModuleId,
        name: u32,
        to: Node,
        seen: &mut FxHashSet<ModuleId>,
    ) -> bool {
        if !seen.insert(module) || seen.len() > 64 {
            return false;
        }
        if let Some(variable) = self.module_variable(module, name) {
            self.copy(variable, to);
            return true;
        }
        let text = self.text(name);
        if let Some(submodule) = self.project.layout.submodule(module, &text) {
            self.add_new(to, Object::Module(submodule));
            return true;
        }
        let stars = self.project.module(module).map(|text| text.stars.clone()).unwrap_or_default();
        let mut is_found = false;
        for star in &stars {
            if let Some(other) = imported(self.project, module, *star) {
                is_found |= self.module_member(other, name, to, seen);
            }
        }
        for star in stars.iter().filter(|_| !is_found && !is_builtin(&text)) {
            if imported(self.project, module, *star).is_none() {
                let path = format!("{}.{text}", external_path(self.project, module, *star)).into();
                self.add_new(to, Object::External(path));
                return true;
            }
        }
        is_found
    }

    /// The variables of a class's own body by a name.
    fn class_variables(&self, class: SymbolId, name: u32) -> Vec<Node> {
        let Some(text) = self.project.module(class.module) else { return Vec::new() };
        let Some(id) = self.names.get(name as usize).and_then(|name| text.name_id(name)) else { return Vec::new() };
        let variables = self.project.class_scopes(class).filter_map(|scope| scope.variables.get(&id));
        variables.map(|node| self.global(class.module, *node)).collect()
    }

    /// The attribute of the first class that has it, behind `after` if that is given.
    fn bound_from(
        &mut self,
        class: SymbolId,
        after: Option<SymbolId>,
        name: u32,
        (receiver, ends): (ObjectId, Ends),
        to: Node,
    ) {
        let line = ancestors(self.project, class);
        let begin = match after {
            Some(after) => line.iter().position(|one| *one == Ancestor::Class(after)).map_or(line.len(), |at| at + 1),
            None => 0,
        };
        for ancestor in line.iter().skip(begin) {
            match ancestor {
                Ancestor::Class(class) => {
                    let variables = self.class_variables(*class, name);
                    for variable in &variables {
                        self.edge(*variable, Edge::Bind { to, receiver });
                    }
                    if !variables.is_empty() {
                        return;
                    }
                }
                Ancestor::External(_) if ends == Ends::WithinProject => {}
                Ancestor::External(path) => {
                    let is_known =
                        matches!(&**path, "builtins.object" | "abc.ABC" | "typing.Generic" | "typing.Protocol");
                    if !is_known {
                        let path = format!("{path}.{}", self.text(name)).into();
                        self.add_new(to, Object::External(path));
                        return;
                    }
                }
            }
        }
    }

    /// Whether methods of a class or of an ancestor within the project assign an attribute of their objects.
    fn is_assigned(&self, class: SymbolId, name: u32) -> bool {
        ancestors(self.project, class).iter().any(|ancestor| {
            let Ancestor::Class(class) = ancestor else { return false };
            let id = self.project.module(class.module).and_then(|text| text.name_id(self.names.get(name as usize)?));
            let assigns = |scope: &crate::module::Scope| scope.fields.iter().any(|(field, _)| Some(*field) == id);
            id.is_some() && self.project.class_scopes(*class).any(assigns)
        })
    }

    /// What methods of ancestors assign to an attribute of their objects.
    fn inherited_fields(&mut self, class: SymbolId, name: u32, to: Node) {
        let mut left = MAX_ASSIGNING;
        for ancestor in ancestors(self.project, class).iter() {
            let Ancestor::Class(above) = ancestor else { continue };
            let id = self.project.module(above.module).and_then(|text| text.name_id(self.names.get(name as usize)?));
            let assigns = |scope: &crate::module::Scope| scope.fields.iter().any(|(field, _)| Some(*field) == id);
            if *above != class && id.is_some() && self.project.class_scopes(*above).any(assigns) {
                let object = self.object(Object::Instance(*above));
                let field = self.field(object, Field::Attribute(name));
                self.copy(field, to);
                left -= 1;
                if left == 0 {
                    return;
                }
            }
        }
    }

    /// An attribute of a class as a receiver sees it.
    pub(super) fn bind(&mut self, to: Node, object: ObjectId, receiver: ObjectId) {
        let is_instance = matches!(self.objects.get(receiver), Some(Object::Instance(_)));
        let Some(Object::Function(module, scope)) = self.objects.get(object).cloned() else {
            self.add(to, object);
            return;
        };
        let Some(function) = self.project.scope(module, scope) else { return };
        if function.is_property && is_instance {
            return self.runs_for_attribute(to, (module, scope), Some(receiver));
        }
        match function.receiver {
            Receiver::Static => self.add(to, object),
            Receiver::Class => {
                let class = match self.objects.get(receiver).cloned() {
                    Some(Object::Instance(class)) => self.object(Object::Class(class)),
                    _ => receiver,
                };
                self.add_new(to, Object::Bound(object, class));
            }
            Receiver::Instance | Receiver::None if is_instance => {
                self.add_new(to, Object::Bound(object, receiver));
            }
            Receiver::Instance | Receiver::None => self.add(to, object),
        }
    }

    /// A look at an attribute calls a function, and the attribute is what it returns.
    fn runs_for_attribute(&mut self, to: Node, (module, scope): (ModuleId, ScopeId), receiver: Option<ObjectId>) {
        let Some(function) = self.project.scope(module, scope) else { return };
        let (returns, own) = (function.returns, function.parameters.first().map(|own| own.node));
        if let (Some(own), Some(receiver)) = (own, receiver) {
            let own = self.global(module, own);
            self.add(own, receiver);
        }
        let returns = self.global(module, returns);
        self.copy(returns, to);
        self.properties.entry(to).or_default().push((module, scope));
        for code in self.property_readers.get(&to).cloned().unwrap_or_default() {
            self.called(code, Callee::Code(Code { module, scope }), CallKind::Implicit);
        }
    }

    /// A function answers for an attribute.
    pub(super) fn answer(&mut self, to: Node, object: ObjectId, receiver: Option<ObjectId>) {
        match self.objects.get(object).cloned() {
            Some(Object::Function(module, scope)) => self.runs_for_attribute(to, (module, scope), receiver),
            _ => self.add(to, object),
        }
    }

    /// What `__getattribute__` and `__getattr__` of a class answer for an attribute of an object.
    fn answers_of_object(&mut self, object: ObjectId, class: SymbolId, name: u32, to: Node) {
        let text = self.text(name);
        for asked in ["__getattribute__", "__getattr__"] {
            let number = self.name(asked);
            let is_asked =
                self.is_defined(class, number) && (asked != "__getattr__" || !always_has(self.project, class, &text));
            if !is_asked || is_special(&text) {
                continue;
            }
            let first = ancestors(self.project, class).iter().find_map(|ancestor| {
                let Ancestor::Class(class) = ancestor else { return None };
                Some(self.class_variables(*class, number)).filter(|found| !found.is_empty())
            });
            for function in first.into_iter().flatten() {
                self.edge(function, Edge::Answer { to, receiver: Some(object) });
            }
        }
    }

    /// What `__getattr__` of a module answers for an attribute.
    pub(super) fn answers_of_module(&mut self, module: ModuleId, name: u32, to: Node) {
        let text = self.text(name);
        let number = self.name("__getattr__");
        if let Some(function) = self.module_variable(module, number)
            && !is_special(&text)
            && !module_always_has(self.project, module, &text)
        {
            self.edge(function, Edge::Answer { to, receiver: None });
        }
    }

    pub(super) fn reads_property(&mut self, node: Node, code: Code) {
        let readers = self.property_readers.entry(node).or_default();
        if readers.contains(&code) {
            return;
        }
        readers.push(code);
        for (module, scope) in self.properties.get(&node).cloned().unwrap_or_default() {
            self.called(code, Callee::Code(Code { module, scope }), CallKind::Implicit);
        }
    }

    /// The class around a function and the node of its first parameter: what `super()` means in it.
    pub(super) fn around(&self, code: Code) -> Option<(SymbolId, Node)> {
        let text = self.project.module(code.module)?;
        let mut scope = code.scope;
        for _ in 0..64 {
            let current = text.scope(scope)?;
            let parent = current.parent?;
            let outer = text.scope(parent)?;
            if outer.kind == ScopeKind::Class && current.kind == ScopeKind::Function {
                let first = current.parameters.first()?;
                return Some((SymbolId::new(code.module, outer.owner), self.global(code.module, first.node)));
            }
            scope = parent;
        }
        None
    }

    pub(super) fn special(&mut self, object: ObjectId, name: u32, call: std::sync::Arc<super::solver::CallOf>) {
        let text = self.text(name);
        match self.objects.get(object).cloned() {
            Some(Object::Instance(class)) => {
                if self.is_defined(class, name)
                    && let Some(node) = self.attribute(object, name)
                {
                    self.operation(node, Operation::Call(call));
                } else if matches!(&*text, "__enter__" | "__aenter__" | "__iter__") {
                    self.add(call.result, object);
                }
            }
            Some(Object::Unknown) => self.add(call.result, object),
            Some(Object::External(_)) if matches!(&*text, "__enter__" | "__aenter__") => self.add(call.result, object),
            Some(Object::Generator(module, scope)) if matches!(&*text, "__enter__" | "__aenter__") => {
                self.yielded(module, scope, call.result);
            }
            // No method: what the generator returns in the end.
            Some(Object::Generator(module, scope)) if &*text == "yield from" => {
                if let Some(function) = self.project.scope(module, scope) {
                    let returns = self.global(module, function.returns);
                    self.copy(returns, call.result);
                }
            }
            _ => {}
        }
    }

    /// Whether a class or an ancestor within the project has an attribute.
    pub(super) fn is_defined(&self, class: SymbolId, name: u32) -> bool {
        ancestors(self.project, class).iter().any(|ancestor| match ancestor {
            Ancestor::Class(class) => !self.class_variables(*class, name).is_empty(),
            Ancestor::External(_) => false,
        })
    }

    pub(super) fn yielded(&mut self, module: ModuleId, scope: ScopeId, to: Node) {
        if let Some(yields) = self.project.scope(module, scope).and_then(|scope| scope.yields) {
            let yields = self.global(module, yields);
            self.copy(yields, to);
        }
    }
}
