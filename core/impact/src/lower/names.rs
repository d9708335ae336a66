//! Names and attributes: the variables that they stand for.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use ruff_python_ast::{Expr, ExprAttribute};
use ruff_text_size::{Ranged, TextRange};
use twincell_semantic::{Referent, SymbolKind, Value, module_always_has};
use twincell_syntax::scopes::mangle;

use super::declare::{Found, Frame, FrameKind, look_up};
use super::draft::{Builder, Made, Place};
use super::owned::Holder;
use super::world::{Target, World};
use crate::program::{ProcedureId, Shared, UnsoundKind};

impl<'a> Builder<'_, 'a> {
    pub fn name_places(&mut self, name: &str, is_write: bool) -> Vec<Place> {
        let mangled = mangle(name, self.class.as_deref());
        let name = mangled.as_str();
        let mut places = Vec::new();
        let mut from = self.frame.clone();
        loop {
            let (Found::In(frame), crosses) = look_up(&from, name) else { return places };
            let path = &self.world.paths[self.module];
            let is_captured = || self.world.declared.captured.contains(&(frame.key, Arc::from(name)));
            let place = match frame.kind {
                FrameKind::Module => {
                    let is_own = !crosses && self.owner_is_module();
                    if is_own && !is_captured() && !self.world.declared.is_seen_elsewhere(self.module, name) {
                        self.local(name)
                    } else {
                        self.shared(Shared::Global(path.clone(), name.into()))
                    }
                }
                FrameKind::Function if is_captured() => {
                    self.shared(Shared::Captured(path.clone(), frame.function.clone(), name.into()))
                }
                FrameKind::Function => self.local(name),
                FrameKind::Comprehension if is_captured() => {
                    let function = format!("{}%comprehension", frame.function).into();
                    self.shared(Shared::Captured(path.clone(), function, name.into()))
                }
                FrameKind::Comprehension => self.local(&format!("{name}%{}", depth(&frame))),
                FrameKind::Class => self.local(&format!("{name}%class{}", depth(&frame))),
            };
            places.push(place);
            // The body of a class sees the outer variable until it binds its own.
            match (&frame.outer, frame.kind) {
                (Some(outer), FrameKind::Class) if !is_write => from = outer.clone(),
                _ => return places,
            }
        }
    }

    fn owner_is_module(&self) -> bool {
        self.world.declared.procedures[self.procedure.index()].qualname.is_empty()
    }

    pub fn read_name(&mut self, name: &str) -> Vec<Place> {
        self.name_places(name, false)
    }

    /// The places that an assignment of a name writes.
    pub fn write_name(&mut self, name: &str) -> Vec<Place> {
        let mut places = self.name_places(name, true);
        let (found, _) = look_up(&self.frame, name);
        if let Found::In(frame) = found
            && matches!(frame.kind, FrameKind::Module | FrameKind::Class)
        {
            let name: Arc<str> = mangle(name, self.class.as_deref()).into();
            let family = match frame.kind {
                FrameKind::Class => self.world.family_at(self.module, &self.owner),
                _ => None,
            };
            match family {
                Some(family) => places.push(self.shared(Shared::AttributeOf(family, name.clone()))),
                None if frame.kind == FrameKind::Class => {
                    places.push(self.shared(Shared::UnknownAttribute(name.clone())))
                }
                None => {}
            }
            places.push(self.shared(Shared::Attribute(name)));
        }
        places
    }

    /// Whether an expression is something of a library by its dotted name: a module, or what is in it.
    pub fn is_of_library(&self, expr: &Expr) -> bool {
        let is_external = |range: TextRange| {
            let referents = self.world.referents(self.module, range);
            !referents.is_empty() && referents.iter().all(|one| matches!(one, Referent::External(_)))
        };
        match expr {
            Expr::Name(name) => is_external(name.range),
            Expr::Attribute(attribute) => is_external(attribute.attr.range) && self.is_of_library(&attribute.value),
            _ => false,
        }
    }

    /// The maps of an attribute for an object that may be one of some values, or anything.
    pub fn attribute_reads(&mut self, name: &Arc<str>, values: Option<&[Value]>) -> Vec<Place> {
        let Some(families) = self.families(values) else { return vec![self.shared(Shared::Attribute(name.clone()))] };
        let mut places = vec![self.shared(Shared::UnknownAttribute(name.clone()))];
        places.extend(families.into_iter().map(|family| self.shared(Shared::AttributeOf(family, name.clone()))));
        places
    }

    /// The maps that a change of an attribute writes.
    pub fn attribute_writes(&mut self, name: &Arc<str>, values: Option<&[Value]>) -> Vec<Place> {
        let mut places = vec![self.shared(Shared::Attribute(name.clone()))];
        let families = self.families(values);
        if families.as_ref().is_none_or(|families| families.iter().any(|one| self.world.is_given_family(*one))) {
            places.push(self.shared(Shared::AnyAttribute));
        }
        match families {
            Some(families) => {
                places
                    .extend(families.into_iter().map(|family| self.shared(Shared::AttributeOf(family, name.clone()))));
            }
            None => places.push(self.shared(Shared::UnknownAttribute(name.clone()))),
        }
        places
    }

    /// The families of objects. That of functions, and of all else without a class of the project, is 0.
    fn families(&self, values: Option<&[Value]>) -> Option<BTreeSet<u32>> {
        values?
            .iter()
            .map(|value| match value {
                Value::Instance(class) | Value::Class(class) => Some(self.world.family(*class)),
                Value::External(_) => None,
                _ => Some(0),
            })
            .collect()
    }

    pub fn attribute_name(&self, attribute: &ExprAttribute) -> Arc<str> {
        mangle(&attribute.attr, self.class.as_deref()).into()
    }

    /// What `object.name` reads, and who holds its value.
    pub fn look_at_attribute(&mut self, attribute: &'a ExprAttribute, base: Vec<Place>) -> (Vec<Place>, Holder) {
        let name = self.attribute_name(attribute);
        self.fails = true;
        if &*name == "__dict__" {
            self.unsound(attribute.range, UnsoundKind::Namespace);
        }
        let mut reads = base;
        // What a library calls its own.
        if self.is_of_library(&attribute.value) {
            if self.world.declared.assigned.contains(&name) {
                reads.push(self.shared(Shared::Attribute(name)));
            }
            return (reads, Holder::Unknown);
        }
        let variables = self.world.module_variables(self.module, attribute.attr.range);
        if !variables.is_empty() {
            for (path, name) in variables {
                let place = self.out.shared(Shared::Global(path, name));
                self.out.escaped.insert(place);
                reads.push(Place::Shared(place));
            }
            let holder = if self.is_definition_at(attribute.attr.range) {
                Holder::Nobody(Made::Scalar)
            } else {
                Holder::Unknown
            };
            return match self.asked(attribute, &name, false)[..] {
                [] => (reads, holder),
                ref asked => (self.call_any(attribute.range, "attribute", asked, reads), Holder::Unknown),
            };
        }
        let map = self.out.shared(Shared::Attribute(name.clone()));
        let values = self.values(&attribute.value);
        reads.extend(self.attribute_reads(&name, values));
        let declared = &self.world.declared;
        let is_own = declared.assigned.contains(&name) || declared.methods.contains_key(&name);
        if !is_own {
            reads.push(self.shared(Shared::Outside));
        }
        let properties = self.properties(attribute, &name);
        if !properties.is_empty() {
            reads = self.call_any(attribute.range, "property", &properties, reads);
        }
        let mut asked = self.asked(attribute, &name, false);
        // A descriptor is the value of a variable of a class.
        if self.world.declared.class_variables.contains(&name) {
            asked.extend(self.world.declared.methods.get("__get__").into_iter().flatten());
        }
        if asked.is_empty() {
            let holder = if is_own && properties.is_empty() { Holder::Shared(map) } else { Holder::Unknown };
            return (reads, holder);
        }
        // What they return may be what the map holds, and what another object has under the name.
        self.out.escaped.insert(map);
        reads.push(Place::Shared(map));
        (self.call_any(attribute.range, "attribute", &asked, reads), Holder::Unknown)
    }

    /// The functions that may answer for an attribute: `__getattribute__` for each, and `__getattr__` of a class or a module
    /// where it may be missing otherwise. A function of a library that is called is known by its path.
    pub fn asked(&self, attribute: &ExprAttribute, name: &str, is_called: bool) -> Vec<ProcedureId> {
        let world = self.world;
        if world.declared.answering().next().is_none() && world.declared.module_answers.is_empty() {
            return Vec::new();
        }
        let is_known = is_called && !world.referents(self.module, attribute.attr.range).is_empty();
        let values = self.possible_values(&attribute.value).iter();
        let values: Vec<&Value> = values.filter(|one| !is_known || !matches!(one, Value::External(_))).collect();
        let of = |value: &&Value, name: &str| world.methods_of_values(std::slice::from_ref(*value), name);
        let mut found: Vec<ProcedureId> = values.iter().flat_map(|value| of(value, "__getattribute__")).collect();
        // All objects have these.
        if matches!(name, "__class__" | "__dict__" | "__doc__" | "__module__") {
            return found;
        }
        for value in values {
            let asked = of(&value, "__getattr__").into_iter();
            match value {
                _ if asked.len() == 0 => {}
                Value::Instance(class) if world.always_has(*class, name) => {}
                Value::Module(module) if module_always_has(world.project, *module, name) => {}
                Value::Instance(_) | Value::Module(_) => found.extend(asked),
                _ => found.extend(
                    asked.filter(|one| world.class_of(*one).is_none_or(|class| !world.always_has(class, name))),
                ),
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Those that may answer for an attribute of an object of the class that an expression is.
    pub fn asked_by_class(&self, class: &Expr, name: &str) -> Vec<ProcedureId> {
        let (world, mut found) = (self.world, Vec::new());
        for value in self.world.values(self.module, class.range()) {
            match value {
                Value::Class(class) => {
                    found.extend(world.methods_of(*class, "__getattribute__"));
                    if !world.always_has(*class, name) {
                        found.extend(world.methods_of(*class, "__getattr__"));
                    }
                }
                _ => found.extend(world.declared.answering()),
            }
        }
        found
    }

    /// The methods that an attribute may run: those of its class if it is known, or all of its name.
    pub fn properties(&self, attribute: &ExprAttribute, name: &Arc<str>) -> Vec<ProcedureId> {
        let all = self.world.declared.properties.get(name).map_or(&[][..], |all| all);
        let range = attribute.attr.range;
        if all.is_empty() || self.world.referents(self.module, range).is_empty() {
            return all.to_vec();
        }
        let targets = self.world.targets(self.module, range, true);
        all.iter().copied().filter(|one| targets.contains(&Target::Procedure(*one))).collect()
    }
}

/// How many scopes are around a scope.
fn depth(frame: &Rc<Frame>) -> usize {
    std::iter::successors(frame.outer.as_ref(), |frame| frame.outer.as_ref()).count()
}

impl World<'_> {
    /// The variables of modules that an attribute is, if it is nothing else.
    pub fn module_variables(&self, module: usize, range: TextRange) -> Vec<(Arc<str>, Arc<str>)> {
        let referents = self.referents(module, range);
        let mut found = Vec::new();
        for referent in referents {
            let Referent::Symbol(symbol) = referent else { return Vec::new() };
            let Some(kind) = self.project.symbol(*symbol).map(|symbol| symbol.kind) else { return Vec::new() };
            let name = self.project.name(*symbol);
            let is_top = !name.qualname.contains('.');
            if !is_top || !matches!(kind, SymbolKind::Variable | SymbolKind::Function | SymbolKind::Class) {
                return Vec::new();
            }
            found.push((name.path.clone(), name.qualname.clone()));
        }
        found
    }
}
