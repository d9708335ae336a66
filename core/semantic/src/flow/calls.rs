//! Calls: arguments become parameters, and what functions return becomes results.

use std::sync::Arc;

use twincell_syntax::python::ASKING;

use super::objects::{Field, Object, ObjectId};
use super::solver::{CallOf, KeyOf, Node, Operation, Solver};
use crate::answers::{CallKind, Callee, Code};
use crate::ids::{ModuleId, ScopeId};
use crate::module::{Argument, ContainerKind, ParameterKind};

impl Solver<'_> {
    /// An object is called. `has_result` is false for `__init__`.
    pub(super) fn call(&mut self, object: ObjectId, call: &Arc<CallOf>, has_result: bool) {
        match self.objects.get(object).cloned() {
            Some(Object::Function(module, scope)) => self.call_function(module, scope, None, call, has_result),
            Some(Object::Bound(function, receiver)) => match self.objects.get(function).cloned() {
                Some(Object::Function(module, scope)) => {
                    self.call_function(module, scope, Some(receiver), call, has_result);
                }
                Some(Object::External(path)) => self.call_external(&path, object, call, has_result),
                _ => {}
            },
            Some(Object::Class(class)) => {
                self.called(call.code, Callee::Class(class), CallKind::Direct);
                let instance = self.add_new(call.result, Object::Instance(class));
                for name in ["__init__", "__new__"] {
                    let name = self.name(name);
                    let of = if self.text(name).as_ref() == "__new__" { object } else { instance };
                    let is_external = !self.is_defined(class, name);
                    if is_external && of == object {
                        continue;
                    }
                    if let Some(node) = self.attribute(of, name) {
                        self.operation(node, Operation::Initialize(call.clone()));
                    }
                }
            }
            Some(Object::Instance(class)) => {
                let name = self.name("__call__");
                if self.is_defined(class, name)
                    && let Some(node) = self.attribute(object, name)
                {
                    self.operation(node, Operation::Call(call.clone()));
                }
            }
            Some(Object::External(path)) => self.call_external(&path, object, call, has_result),
            Some(Object::ContainerMethod(container, name)) => self.call_container(container, &name, call),
            Some(Object::Unknown) => {
                self.give_arguments(call);
                self.add(call.result, object);
            }
            _ => {}
        }
    }

    /// Something outside of the project gets the arguments.
    fn give_arguments(&mut self, call: &CallOf) {
        self.given.extend(call.arguments.iter().map(|argument| match argument {
            Argument::Positional(node)
            | Argument::Star(node)
            | Argument::Keyword(_, node)
            | Argument::Keywords(node) => *node,
        }));
    }

    fn call_function(
        &mut self,
        module: ModuleId,
        scope: ScopeId,
        receiver: Option<ObjectId>,
        call: &Arc<CallOf>,
        has_result: bool,
    ) {
        let code = Code { module, scope };
        let kind = if call.decorates { CallKind::Decorator } else { CallKind::Direct };
        self.called(call.code, Callee::Code(code), kind);
        let Some(function) = self.project.scope(module, scope) else { return };
        let mut at = 0;
        if let Some(receiver) = receiver {
            if let Some(node) = self.positional(module, scope, 0) {
                self.add(node, receiver);
            }
            at = 1;
        }
        for argument in &call.arguments {
            match *argument {
                Argument::Positional(from) => {
                    if let Some(to) = self.positional(module, scope, at) {
                        self.copy(from, to);
                    }
                    at += 1;
                }
                Argument::Star(from) => {
                    self.operation(from, Operation::Star { function: (module, scope), from: at, code: call.code });
                }
                Argument::Keyword(name, from) => {
                    if let Some(to) = self.keyword(module, scope, name) {
                        self.copy(from, to);
                    }
                }
                Argument::Keywords(from) => {
                    self.operation(from, Operation::Keywords { function: (module, scope) });
                }
            }
        }
        if !has_result {
            return;
        }
        if function.yields.is_some() {
            self.add_new(call.result, Object::Generator(module, scope));
        } else {
            let returns = self.global(module, function.returns);
            self.copy(returns, call.result);
        }
    }

    /// Where the positional argument of this number goes.
    fn positional(&mut self, module: ModuleId, scope: ScopeId, number: usize) -> Option<Node> {
        let function = self.project.scope(module, scope)?;
        let mut positional = function.parameters.iter().filter(|one| one.kind == ParameterKind::Positional);
        if let Some(parameter) = positional.clone().nth(number) {
            return Some(self.global(module, parameter.node));
        }
        let count = positional.by_ref().count();
        let rest = function.parameters.iter().find(|one| one.kind == ParameterKind::Rest)?;
        let node = self.global(module, rest.node);
        let object = self.object(Object::Container(ContainerKind::Tuple, node, 0));
        Some(self.field(object, Field::Number(number as i64 - count as i64)))
    }

    /// Where the argument of this name goes.
    fn keyword(&mut self, module: ModuleId, scope: ScopeId, name: u32) -> Option<Node> {
        let function = self.project.scope(module, scope)?;
        let text = self.project.module(module)?;
        let by_name = |kind| matches!(kind, ParameterKind::Positional | ParameterKind::KeywordOnly);
        let id = text.name_id(self.names.get(name as usize)?);
        let named = function.parameters.iter().find(|one| by_name(one.kind) && Some(one.name) == id);
        if let Some(parameter) = named {
            return Some(self.global(module, parameter.node));
        }
        let keywords = function.parameters.iter().find(|one| one.kind == ParameterKind::Keywords)?;
        let node = self.global(module, keywords.node);
        let object = self.object(Object::Container(ContainerKind::Dict, node, 0));
        Some(self.field(object, Field::Text(name)))
    }

    /// `*args` in a call: elements of an object become the arguments from a place on.
    pub(super) fn star(&mut self, object: ObjectId, (module, scope): (ModuleId, ScopeId), from: usize, code: Code) {
        let Some(function) = self.project.scope(module, scope) else { return };
        let positional = function.parameters.iter().filter(|one| one.kind == ParameterKind::Positional);
        let later: Vec<(usize, Node)> =
            positional.enumerate().skip(from).map(|(at, one)| (at, self.global(module, one.node))).collect();
        let count = function.parameters.iter().filter(|one| one.kind == ParameterKind::Positional).count();
        let rest = function.parameters.iter().find(|one| one.kind == ParameterKind::Rest).map(|one| one.node);
        if let Some(Object::Container(..)) = self.objects.get(object) {
            let any = self.field(object, Field::Any);
            for (at, to) in later {
                let element = self.field(object, Field::Number((at - from) as i64));
                self.copy(element, to);
                self.copy(any, to);
            }
            if let Some(rest) = rest {
                let node = self.global(module, rest);
                let into = self.object(Object::Container(ContainerKind::Tuple, node, 0));
                let low = count.saturating_sub(from) as i64;
                self.watch(object, super::solver::Watch::Shifted { low, high: None, into });
            }
            return;
        }
        let element = self.node();
        self.element(object, element, code);
        for (_, to) in later {
            self.copy(element, to);
        }
    }

    /// `**keywords` in a call.
    pub(super) fn keywords(&mut self, object: ObjectId, (module, scope): (ModuleId, ScopeId)) {
        let Some(Object::Container(..)) = self.objects.get(object) else { return };
        let Some(function) = self.project.scope(module, scope) else { return };
        let any = self.field(object, Field::Any);
        for parameter in &function.parameters {
            if matches!(parameter.kind, ParameterKind::Positional | ParameterKind::KeywordOnly) {
                let name = self.project.module(module).map_or("", |text| text.name(parameter.name)).to_owned();
                let name = self.name(&name);
                let from = self.field(object, Field::Text(name));
                let to = self.global(module, parameter.node);
                self.copy(from, to);
                self.copy(any, to);
            }
        }
        if let Some(rest) = function.parameters.iter().find(|one| one.kind == ParameterKind::Keywords) {
            let node = self.global(module, rest.node);
            let into = self.object(Object::Container(ContainerKind::Dict, node, 0));
            if into != object {
                self.watch(object, super::solver::Watch::Same(into));
            }
        }
    }

    /// Something that is not of the project is called.
    fn call_external(&mut self, path: &Arc<str>, object: ObjectId, call: &Arc<CallOf>, has_result: bool) {
        // Builtins that only look keep nothing, and what they give is followed.
        let looks =
            |name: &str| ASKING.contains(&name) && !matches!(name, "vars" | "dir" | "getattr" | "globals" | "locals");
        if !path.strip_prefix("builtins.").is_some_and(|name| looks(name) || matches!(name, "print" | "next")) {
            self.give_arguments(call);
        }
        let is_silent = path.starts_with("builtins.") && !has_result;
        if !is_silent {
            let kind = if call.decorates { CallKind::Decorator } else { CallKind::Direct };
            self.called(call.code, Callee::External(path.clone()), kind);
        }
        if !has_result {
            return;
        }
        let first = call.arguments.iter().find_map(|argument| match argument {
            Argument::Positional(node) => Some(*node),
            _ => None,
        });
        if call.decorates {
            // Nearly every decorator gives something that calls the function.
            match first {
                Some(first) => self.copy(first, call.result),
                None => self.add(call.result, object),
            }
            return;
        }
        match path.strip_prefix("builtins.") {
            Some(name) => self.call_builtin(name, first, call),
            None => {
                self.add(call.result, object);
                if matches!(&**path, "functools.partial" | "copy.copy" | "copy.deepcopy" | "typing.cast")
                    && let Some(Argument::Positional(value)) =
                        if &**path == "typing.cast" { call.arguments.get(1) } else { call.arguments.first() }
                {
                    self.copy(*value, call.result);
                }
                if !matches!(&**path, "functools.wraps" | "functools.update_wrapper") {
                    self.call_arguments_back(call, None);
                }
            }
        }
    }

    /// Functions among the arguments may be called.
    fn call_arguments_back(&mut self, call: &CallOf, result: Option<Node>) {
        for argument in &call.arguments {
            if let Argument::Positional(node) | Argument::Keyword(_, node) = argument {
                self.operation(*node, Operation::CallBack { result, code: call.code });
            }
        }
    }

    pub(super) fn call_back(&mut self, object: ObjectId, result: Option<Node>, code: Code) {
        let (function, receiver) = match self.objects.get(object).cloned() {
            Some(Object::Bound(function, receiver)) => (function, Some(receiver)),
            _ => (object, None),
        };
        let (module, scope) = match self.objects.get(function).cloned() {
            Some(Object::Function(module, scope)) => (module, scope),
            Some(Object::Instance(class)) => {
                let name = self.name("__call__");
                if self.is_defined(class, name)
                    && let Some(node) = self.attribute(function, name)
                {
                    self.operation(node, Operation::CallBack { result, code });
                }
                return;
            }
            _ => return,
        };
        self.called(code, Callee::Code(Code { module, scope }), CallKind::Callback);
        if let (Some(receiver), Some(own)) = (receiver, self.positional(module, scope, 0)) {
            self.add(own, receiver);
        }
        if let Some(function) = self.project.scope(module, scope) {
            let returns = self.global(module, function.returns);
            self.given.push(returns);
            if let Some(result) = result {
                self.copy(returns, result);
            }
        }
    }

    fn call_builtin(&mut self, name: &str, first: Option<Node>, call: &Arc<CallOf>) {
        let code = call.code;
        let positional = |number: usize| match call.arguments.get(number) {
            Some(Argument::Positional(node)) => Some(*node),
            _ => None,
        };
        match name {
            "super" => {
                if let Some((class, receiver)) = self.around(code) {
                    self.operation(receiver, Operation::Super { class, to: call.result });
                }
            }
            "list" | "tuple" | "set" | "frozenset" | "sorted" | "reversed" | "iter" | "dict" => {
                let kind = match name {
                    "tuple" => ContainerKind::Tuple,
                    "set" | "frozenset" => ContainerKind::Set,
                    "dict" => ContainerKind::Dict,
                    _ => ContainerKind::List,
                };
                let whole = self.add_new(call.result, Object::Container(kind, call.result, 1));
                for argument in &call.arguments {
                    match *argument {
                        Argument::Positional(node) => {
                            let into = self.node();
                            self.add(into, whole);
                            self.operation(node, Operation::Spread { to: into, code });
                        }
                        Argument::Keyword(name, node) if kind == ContainerKind::Dict => {
                            let to = self.field(whole, Field::Text(name));
                            self.copy(node, to);
                        }
                        Argument::Keyword(_, node) => {
                            self.operation(node, Operation::CallBack { result: None, code });
                        }
                        _ => {}
                    }
                }
            }
            "enumerate" | "zip" => {
                let whole = self.add_new(call.result, Object::Container(ContainerKind::List, call.result, 1));
                let any = self.field(whole, Field::Any);
                let tuple = self.add_new(any, Object::Container(ContainerKind::Tuple, call.result, 2));
                for (at, argument) in call.arguments.iter().enumerate() {
                    if let Argument::Positional(node) = argument {
                        let at = at as i64 + i64::from(name == "enumerate");
                        let to = self.field(tuple, Field::Number(at));
                        self.operation(*node, Operation::Element { to, code });
                    }
                }
            }
            "map" | "filter" => {
                let whole = self.add_new(call.result, Object::Container(ContainerKind::List, call.result, 1));
                let any = self.field(whole, Field::Any);
                self.call_arguments_back(call, (name == "map").then_some(any));
                if name == "filter"
                    && let Some(values) = positional(1)
                {
                    self.operation(values, Operation::Element { to: any, code });
                }
                if let (Some(function), Some(values)) = (positional(0), positional(1)) {
                    let element = self.node();
                    self.operation(values, Operation::Element { to: element, code });
                    let arguments = vec![Argument::Positional(element)];
                    let result = if name == "map" { any } else { self.node() };
                    let inner = CallOf { arguments, result, code, decorates: false };
                    self.operation(function, Operation::Call(Arc::new(inner)));
                }
            }
            "min" | "max" => {
                for argument in &call.arguments {
                    match *argument {
                        Argument::Keyword(_, node) => {
                            self.operation(node, Operation::CallBack { result: None, code });
                        }
                        Argument::Positional(node) if call.arguments.len() > 1 => self.copy(node, call.result),
                        Argument::Positional(node) => {
                            self.operation(node, Operation::Element { to: call.result, code });
                        }
                        _ => {}
                    }
                }
            }
            "next" => {
                if let Some(first) = first {
                    self.operation(first, Operation::Element { to: call.result, code });
                }
            }
            "getattr" | "setattr" | "object.__getattribute__" => {
                let (Some(base), Some(key)) = (first, positional(1)) else { return };
                let is_set = name == "setattr";
                for text in self.set(key).to_vec() {
                    let Some(Object::Text(text)) = self.objects.get(text).cloned() else { continue };
                    let name = self.name(&text);
                    match (is_set, positional(2)) {
                        (true, Some(from)) => self.operation(base, Operation::Store { name, from }),
                        _ => self.operation(base, Operation::Load { name, to: call.result, code }),
                    };
                }
            }
            "type" if call.arguments.len() == 1 => {
                let Some(first) = first else { return };
                let name = self.name("__class__");
                self.operation(first, Operation::Load { name, to: call.result, code });
            }
            "property" | "staticmethod" | "classmethod" => {
                for argument in &call.arguments {
                    if let Argument::Positional(node) | Argument::Keyword(_, node) = argument {
                        self.copy(*node, call.result);
                    }
                }
            }
            _ => {}
        }
    }

    pub(super) fn raise(&mut self, object: ObjectId, code: Code) {
        if let Some(Object::Class(class)) = self.objects.get(object).cloned() {
            let name = self.name("__init__");
            if self.is_defined(class, name) {
                let result = self.node();
                let call = CallOf { arguments: Vec::new(), result, code, decorates: false };
                self.call(object, &Arc::new(call), true);
            }
        }
    }

    /// A method of a container is called.
    fn call_container(&mut self, container: ObjectId, name: &Arc<str>, call: &Arc<CallOf>) {
        let Some(Object::Container(kind, ..)) = self.objects.get(container).cloned() else { return };
        let type_name = match kind {
            ContainerKind::List => "list",
            ContainerKind::Tuple => "tuple",
            ContainerKind::Set => "set",
            ContainerKind::Dict => "dict",
        };
        let path: Arc<str> = format!("builtins.{type_name}.{name}").into();
        self.called(call.code, Callee::External(path), CallKind::Direct);
        let code = call.code;
        let positional: Vec<Node> = call
            .arguments
            .iter()
            .filter_map(|argument| match argument {
                Argument::Positional(node) => Some(*node),
                _ => None,
            })
            .collect();
        match &**name {
            "append" | "add" | "insert" | "appendleft" => {
                if let Some(last) = positional.last() {
                    let any = self.field(container, Field::Any);
                    self.copy(*last, any);
                }
            }
            "extend" | "update" | "union" => {
                let into = self.node();
                self.add(into, container);
                for node in positional {
                    self.operation(node, Operation::Spread { to: into, code });
                }
                for argument in &call.arguments {
                    if let Argument::Keyword(name, node) = *argument {
                        let to = self.field(container, Field::Text(name));
                        self.copy(node, to);
                    }
                }
                if &**name == "union" {
                    self.add(call.result, container);
                }
            }
            "get" | "pop" | "setdefault" | "popleft" | "__getitem__" => {
                let base = self.node();
                self.add(base, container);
                match positional.first() {
                    Some(key) if kind == ContainerKind::Dict => {
                        let operation = Operation::Index { base, key: KeyOf::Node(*key), to: call.result, code };
                        let number = self.operation(base, operation);
                        self.keyed(*key, base, number);
                    }
                    _ => self.watch(container, super::solver::Watch::All(call.result)),
                }
                if let Some(default) = positional.get(1).filter(|_| kind == ContainerKind::Dict) {
                    self.copy(*default, call.result);
                    if &**name == "setdefault" {
                        let any = self.field(container, Field::Any);
                        self.copy(*default, any);
                    }
                }
            }
            "copy" => self.add(call.result, container),
            "values" => {
                let whole = self.add_new(call.result, Object::Container(ContainerKind::List, call.result, 1));
                let any = self.field(whole, Field::Any);
                self.watch(container, super::solver::Watch::All(any));
            }
            "items" => {
                let whole = self.add_new(call.result, Object::Container(ContainerKind::List, call.result, 1));
                let any = self.field(whole, Field::Any);
                let item = self.add_new(any, Object::Container(ContainerKind::Tuple, call.result, 2));
                let value = self.field(item, Field::Number(1));
                self.watch(container, super::solver::Watch::All(value));
            }
            "clear" | "reverse" | "remove" | "discard" | "index" | "count" | "keys" => {}
            "sort" => {
                for argument in &call.arguments {
                    if let Argument::Keyword(_, node) = *argument {
                        self.operation(node, Operation::CallBack { result: None, code });
                    }
                }
            }
            // What it gives is not followed.
            _ => {
                let own = self.node();
                self.add(own, container);
                self.given.push(own);
            }
        }
    }
}
