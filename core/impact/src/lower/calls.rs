//! Calls: what is called, which argument reaches which parameter, and what code outside of the project does.

use std::sync::Arc;

use ruff_python_ast::{Expr, ExprCall, Parameters};
use ruff_text_size::{Ranged, TextRange};
use twincell_semantic::{CallKind, Referent, SymbolKind, fields};

use super::declare::{Body, Declaration};
use super::draft::{Builder, DraftCall, Place};
use super::effects::{self, Effect};
use super::expressions::ALL_ITEMS;
use super::operators;
use super::owned::{self, Holder, Made};
use super::world::Target;
use crate::program::{ProcedureId, Shared, UnsoundKind};

/// An argument with what it depends on.
struct Argument<'a> {
    kind: ArgumentKind<'a>,
    reads: Vec<Place>,
    holder: Holder,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ArgumentKind<'a> {
    Positional,
    Star,
    Keyword(&'a str),
    Keywords,
}

/// How arguments reach the parameters of a callee.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Passing {
    /// As the call says.
    AsWritten,
    /// After the object whose method is called.
    WithObject,
    /// Something calls it back: any argument may arrive anywhere.
    Anywhere,
}

/// What a call may do, as far as it is known.
#[derive(Default)]
struct Callees {
    procedures: Vec<(ProcedureId, Passing)>,
    effects: Vec<Effect>,
    /// What the function reads by the names of special methods.
    operators: Vec<&'static str>,
    /// The object that says what is called.
    dispatch_by_object: bool,
    /// Fields that a constructor without a text of its own sets.
    fields: Vec<Arc<str>>,
    /// Something else than procedures may give the result.
    has_other: bool,
    /// Python calls: a special method, a property.
    is_operation: bool,
    /// A method of a builtin container or text, which only touches its object.
    is_of_container: bool,
    /// Elements of arguments are read.
    reads_arguments: bool,
    /// The effects look at elements of arguments, but not into them.
    is_shallow: bool,
    /// What a builtin reads and writes by a name that an argument says.
    reads: Vec<Place>,
    writes: Vec<Place>,
}

impl<'a> Builder<'_, 'a> {
    pub fn call(&mut self, call: &'a ExprCall) -> Vec<Place> {
        let is_iterated = std::mem::take(&mut self.iterates);
        let (mut object, mut holder) = (Vec::new(), Holder::Nobody(Made::Scalar));
        let mut function = match call.func.as_ref() {
            Expr::Attribute(attribute) => {
                (object, holder) = self.look(&attribute.value);
                self.fails = true;
                vec![self.shared(Shared::Attribute(self.attribute_name(attribute)))]
            }
            other => self.value(other),
        };
        if matches!(call.func.as_ref(), Expr::Name(name) if name.id == "super") && call.arguments.is_empty() {
            let first = self.world.declared.procedures[self.procedure.index()].parameters();
            if let Some(first) = first.and_then(|parameters| parameters.iter().next()) {
                object = self.read_name(first.name());
            }
        }
        let only_looks = match call.func.as_ref() {
            Expr::Attribute(attribute) => effects::reads_arguments(&attribute.attr),
            _ => self.builtin(call).is_some_and(|name| owned::only_looks(name, is_iterated)),
        };
        let arguments = self.arguments(call, only_looks);
        let mut callees = self.callees(call);
        callees.is_shallow = self.builtin(call).is_some_and(owned::is_shallow);
        self.dynamic(call, &mut callees);
        let gives_view = !is_iterated && is_view_method(call);
        if !callees.is_of_container || gives_view {
            self.escapes(holder);
        }
        callees.reads_arguments = only_looks;
        if only_looks && (!callees.procedures.is_empty() || callees.effects.iter().any(Effect::is_unknown)) {
            arguments.iter().for_each(|argument| self.escapes(argument.holder));
        }
        function.sort_unstable();
        self.emit_call(call.range(), "call", callees, function, (object, holder), &arguments, mutated(call))
    }

    /// Calls one of several procedures with arguments that are not told apart.
    pub fn call_any(
        &mut self,
        range: TextRange,
        tag: &str,
        candidates: &[ProcedureId],
        reads: Vec<Place>,
    ) -> Vec<Place> {
        let callees = Callees {
            procedures: candidates.iter().map(|one| (*one, Passing::Anywhere)).collect(),
            has_other: true,
            is_operation: true,
            ..Callees::default()
        };
        let arguments = [
            Argument { kind: ArgumentKind::Star, reads: reads.clone(), holder: Holder::Unknown },
            Argument { kind: ArgumentKind::Keywords, reads, holder: Holder::Unknown },
        ];
        self.emit_call(range, tag, callees, Vec::new(), (Vec::new(), Holder::Unknown), &arguments, None)
    }

    /// A module's body runs, unless it has run before.
    pub fn run_module(&mut self, range: TextRange, body: ProcedureId) {
        let callees = Callees { procedures: vec![(body, Passing::AsWritten)], ..Callees::default() };
        self.emit_call(range, "import", callees, Vec::new(), (Vec::new(), Holder::Unknown), &[], None);
    }

    fn arguments(&mut self, call: &'a ExprCall, only_looks: bool) -> Vec<Argument<'a>> {
        let mut arguments = Vec::new();
        for part in call.arguments.iter_source_order() {
            let (kind, value) = match part {
                ruff_python_ast::ArgOrKeyword::Arg(Expr::Starred(starred)) => (ArgumentKind::Star, &*starred.value),
                ruff_python_ast::ArgOrKeyword::Arg(value) => (ArgumentKind::Positional, value),
                ruff_python_ast::ArgOrKeyword::Keyword(keyword) => match &keyword.arg {
                    Some(name) => (ArgumentKind::Keyword(name.as_str()), &keyword.value),
                    None => (ArgumentKind::Keywords, &keyword.value),
                },
            };
            let (mut reads, holder) = self.look(value);
            if matches!(kind, ArgumentKind::Star | ArgumentKind::Keywords) {
                reads.extend(self.items(ALL_ITEMS, holder, false));
            } else if !only_looks {
                self.escapes(holder);
            }
            arguments.push(Argument { kind, reads, holder });
        }
        arguments
    }

    fn callees(&mut self, call: &'a ExprCall) -> Callees {
        let world = self.world;
        let mut callees = Callees::default();
        let generated = world.declared.has_generated_methods;
        let (targets, attribute) = match call.func.as_ref() {
            Expr::Name(name) => (world.targets(self.module, name.range, false), None),
            Expr::Attribute(attribute) => (world.targets(self.module, attribute.attr.range, true), Some(attribute)),
            _ => (Vec::new(), None),
        };
        let by_class = attribute.is_some_and(|attribute| self.is_class(&attribute.value));
        for target in &targets {
            match target {
                Target::Procedure(procedure) => {
                    let declaration = &world.declared.procedures[procedure.index()];
                    let is_class_method = has_decorator(declaration.body, "classmethod");
                    let gives = attribute.is_some() && declaration.takes_receiver && (!by_class || is_class_method);
                    let passing = if gives { Passing::WithObject } else { Passing::AsWritten };
                    callees.procedures.push((*procedure, passing));
                    self.wrappers(declaration, &mut callees);
                }
                Target::Class(class) => {
                    let makers: Vec<ProcedureId> =
                        ["__init__", "__new__"].iter().flat_map(|name| world.makers(*class, name)).collect();
                    let has_text = !makers.is_empty();
                    callees.procedures.extend(makers.into_iter().map(|one| (one, Passing::WithObject)));
                    if !has_text {
                        callees.fields.extend(
                            fields(world.project, *class)
                                .into_iter()
                                .filter_map(|field| Some(Arc::from(world.project.symbol(field)?.name()))),
                        );
                    }
                    if !has_text || world.is_foreign(*class) {
                        callees.has_other = true;
                    }
                }
                Target::External(path) => {
                    callees.has_other = true;
                    callees.effects.push(effects::of_path(path, generated));
                    if let Some(name) = path.strip_prefix("builtins.") {
                        callees.operators.extend(operators::of_builtin(name));
                    }
                }
            }
        }
        if targets.is_empty() {
            self.unknown_callees(call, &mut callees);
        }
        if callees.has_other {
            let callbacks = world.called_from(self.module, &self.owner, CallKind::Callback);
            let may_be_function = |expr: &Expr| {
                matches!(expr, Expr::Name(_) | Expr::Attribute(_) | Expr::Lambda(_) | Expr::Call(_) | Expr::Starred(_))
            };
            let has_function = call.arguments.args.iter().any(may_be_function)
                || call.arguments.keywords.iter().any(|one| may_be_function(&one.value));
            if has_function {
                callees.procedures.extend(callbacks.into_iter().map(|one| (one, Passing::Anywhere)));
            }
        }
        let names = std::mem::take(&mut callees.operators);
        for name in names {
            let methods = world.declared.methods.get(name).into_iter().flatten();
            callees.procedures.extend(methods.map(|one| (*one, Passing::Anywhere)));
        }
        callees.procedures.sort_unstable();
        callees.procedures.dedup();
        callees.dispatch_by_object = callees.procedures.len() > 1;
        callees
    }

    /// What is called is a value: whatever the flow of values, or else the name, allows.
    fn unknown_callees(&mut self, call: &'a ExprCall, callees: &mut Callees) {
        let world = self.world;
        callees.has_other = true;
        if let Expr::Attribute(attribute) = call.func.as_ref() {
            let name = self.attribute_name(attribute);
            let methods = world.declared.methods.get(&name).cloned().unwrap_or_default();
            let known = effects::of_method(&attribute.attr);
            // A method of the project has no other effects, unless builtin containers have one of this name.
            let is_known = known != effects::of_method("");
            if methods.is_empty() || is_known {
                callees.effects.push(known);
            }
            callees.is_of_container = methods.is_empty() && is_known;
            callees.procedures.extend(methods.into_iter().map(|one| {
                match world.declared.procedures[one.index()].takes_receiver {
                    true => (one, Passing::WithObject),
                    false => (one, Passing::AsWritten),
                }
            }));
        } else if !self.is_of_project(&call.func) {
            callees.effects.push(effects::of_method(""));
        }
        let direct = world.called_from(self.module, &self.owner, CallKind::Direct);
        let is_value = |one: &ProcedureId| {
            let declaration = &world.declared.procedures[one.index()];
            !matches!(call.func.as_ref(), Expr::Attribute(_)) || declaration.qualname.contains("<locals>")
        };
        callees.procedures.extend(direct.into_iter().filter(is_value).map(|one| (one, Passing::AsWritten)));
        if let Some(methods) = world.declared.methods.get("__call__") {
            callees.procedures.extend(methods.iter().map(|one| (*one, Passing::Anywhere)));
        }
    }

    /// Whether a called value is what procedures of the project return, so that the flow of values knows it.
    fn is_of_project(&self, expr: &Expr) -> bool {
        let Expr::Call(call) = expr else { return false };
        let (range, is_attribute) = match call.func.as_ref() {
            Expr::Name(name) => (name.range, false),
            Expr::Attribute(attribute) => (attribute.attr.range, true),
            _ => return false,
        };
        let targets = self.world.targets(self.module, range, is_attribute);
        !targets.is_empty() && targets.iter().all(|target| matches!(target, Target::Procedure(_)))
    }

    /// What decorators put in the place of a function. Nearly all of them give something that calls it.
    fn wrappers(&self, declaration: &Declaration<'a>, callees: &mut Callees) {
        let world = self.world;
        for decorator in decorators(declaration.body) {
            if PLAIN_DECORATORS.contains(&decorator_name(decorator)) {
                continue;
            }
            let range = match decorator.as_call_expr().map_or(decorator, |call| &*call.func) {
                Expr::Name(name) => name.range,
                Expr::Attribute(attribute) => attribute.attr.range,
                other => other.range(),
            };
            let targets = world.targets(declaration.module, range, true);
            let of_stdlib = |target: &Target| match target {
                Target::External(path) => ["contextlib.", "functools."].iter().any(|one| path.starts_with(one)),
                _ => false,
            };
            if !targets.is_empty() && targets.iter().all(of_stdlib) {
                continue;
            }
            callees.has_other = true;
            let of_project = |target: &Target| !matches!(target, Target::External(_));
            if targets.is_empty() || !targets.iter().all(of_project) {
                callees.effects.push(effects::of_method(""));
            }
            // The flow of values knows the inner functions that are called here.
            let direct = world.called_from(self.module, &self.owner, CallKind::Direct).into_iter();
            let inner = direct.filter(|one| world.declared.procedures[one.index()].qualname.contains("<locals>"));
            callees.procedures.extend(inner.map(|one| (one, Passing::AsWritten)));
        }
    }

    fn is_class(&self, expr: &Expr) -> bool {
        let range = match expr {
            Expr::Name(name) => name.range,
            Expr::Attribute(attribute) => attribute.attr.range,
            _ => return false,
        };
        let referents = self.world.referents(self.module, range);
        let is_class = |referent: &Referent| match referent {
            Referent::Symbol(symbol) => {
                self.world.project.symbol(*symbol).is_some_and(|symbol| symbol.kind == SymbolKind::Class)
            }
            Referent::External(_) => false,
        };
        !referents.is_empty() && referents.iter().all(is_class)
    }

    #[allow(clippy::too_many_arguments)]
    fn emit_call(
        &mut self,
        range: TextRange,
        tag: &str,
        callees: Callees,
        mut function: Vec<Place>,
        (object, holder): (Vec<Place>, Holder),
        arguments: &[Argument<'a>],
        mutated: Option<&str>,
    ) -> Vec<Place> {
        let (result, raised, failed) = (self.temporary(), self.temporary(), self.temporary());
        let mut calls = Vec::new();
        for (callee, passing) in &callees.procedures {
            let inputs = self.bind(*callee, *passing, &object, arguments);
            calls.push(DraftCall { callee: *callee, inputs, result, raised, failed });
        }
        if callees.dispatch_by_object || callees.has_other {
            function.extend(object.iter().copied());
        }
        let dispatch = (!calls.is_empty() && !callees.has_other).then(|| function.clone());
        let mut reads = function;
        reads.extend(object);
        reads.extend(arguments.iter().flat_map(|argument| argument.reads.iter().copied()));
        reads.extend(calls.iter().flat_map(|call| call.inputs.iter().flatten().copied()));
        reads.extend(callees.reads.iter().copied());
        let mut writes = vec![result, raised, failed];
        writes.extend(callees.writes.iter().copied());
        // A callee that gets nothing reaches nothing but what is outside.
        let reaches = !reads.is_empty();
        for effect in &callees.effects {
            let is_deep = !callees.is_of_container && !callees.is_shallow;
            if reaches {
                reads.extend(self.items(effect.reads_items, holder, is_deep));
            }
            if callees.is_of_container {
                writes.extend(self.items(effect.writes_items, holder, false));
                for argument in arguments.iter().filter(|_| callees.reads_arguments) {
                    reads.extend(self.items(ALL_ITEMS, argument.holder, true));
                }
            } else {
                // What an object of a library holds is outside. The object itself is updated.
                for argument in arguments {
                    reads.extend(self.items(effect.reads_items, argument.holder, is_deep));
                    writes.extend(self.items(effect.writes_items, argument.holder, is_deep));
                }
            }
            if effect.is_unknown() && !arguments.is_empty() {
                writes.push(self.shared(Shared::ForeignItems));
            }
            if effect.reads_outside {
                reads.push(self.shared(Shared::Outside));
            }
            if effect.writes_outside {
                writes.push(self.shared(Shared::Outside));
            }
            if effect.reads_attributes && reaches {
                reads.push(self.shared(Shared::AnyAttribute));
            }
        }
        for field in &callees.fields {
            writes.push(self.shared(Shared::Attribute(field.clone())));
        }
        if !callees.fields.is_empty() {
            writes.push(self.shared(Shared::AnyAttribute));
        }
        let changes = |effect: &Effect| !effect.writes_items.is_empty();
        let mutated = mutated.filter(|_| callees.effects.iter().any(changes));
        let is_update = mutated.is_some();
        if let Some(name) = mutated {
            let places = self.read_name(name);
            writes.extend(places.into_iter().filter(|place| matches!(place, Place::Local(_))));
        }
        writes.sort_unstable();
        writes.dedup();
        let node = self.step(range, tag, reads, writes);
        let is_operation = callees.is_operation;
        let first = calls.first().cloned();
        let draft = self.draft_node(node);
        draft.is_whole = true;
        draft.is_update = is_update;
        draft.dispatch = dispatch;
        draft.calls = calls;
        self.fails = false;
        match first {
            // An operation is no branch outside of a `try`, whatever runs for it.
            Some(call) if is_operation && !self.is_caught() => self.may_fail_by(&call),
            Some(call) => {
                let reads = if self.is_caught() { vec![raised, failed] } else { vec![raised] };
                let check = self.landing_step(range, "check", reads, Vec::new());
                self.draft_node(check).is_whole = true;
                self.may_raise(node, check, &call);
            }
            None => self.may_fail(node),
        }
        vec![result]
    }

    /// What each parameter of a procedure gets.
    fn bind(
        &mut self,
        callee: ProcedureId,
        passing: Passing,
        object: &[Place],
        arguments: &[Argument<'a>],
    ) -> Vec<Vec<Place>> {
        let declaration = &self.world.declared.procedures[callee.index()];
        let (path, function) = (self.world.paths[declaration.module].clone(), function_name(declaration));
        let Some(parameters) = declaration.parameters() else { return Vec::new() };
        let names: Vec<&str> = parameter_names(parameters).collect();
        let positional = parameters.posonlyargs.len() + parameters.args.len();
        let rest = parameters.vararg.as_ref().map(|_| positional);
        let keywords = parameters.kwarg.as_ref().map(|_| names.len() - 1);
        let mut inputs: Vec<Option<Vec<Place>>> = vec![None; names.len()];
        // Parameters that surely get an argument.
        let mut given = vec![false; names.len()];
        fn give(inputs: &mut [Option<Vec<Place>>], at: Option<usize>, reads: &[Place]) {
            if let Some(input) = at.and_then(|at| inputs.get_mut(at)) {
                input.get_or_insert_default().extend_from_slice(reads);
            }
        }
        let mut at = 0;
        if passing == Passing::WithObject {
            give(&mut inputs, if positional > 0 { Some(0) } else { rest }, object);
            given.iter_mut().take(positional.min(1)).for_each(|one| *one = true);
            at = 1;
        }
        for argument in arguments {
            match argument.kind {
                ArgumentKind::Positional => {
                    give(&mut inputs, if at < positional { Some(at) } else { rest }, &argument.reads);
                    given.iter_mut().take(positional).skip(at).take(1).for_each(|one| *one = true);
                    at += 1;
                }
                ArgumentKind::Star => {
                    for later in at..positional {
                        give(&mut inputs, Some(later), &argument.reads);
                    }
                    give(&mut inputs, rest, &argument.reads);
                }
                ArgumentKind::Keyword(name) => {
                    let by_name = names.iter().position(|one| *one == name);
                    let by_name = by_name.filter(|at| Some(*at) != rest && Some(*at) != keywords);
                    give(&mut inputs, by_name.or(keywords), &argument.reads);
                    by_name.into_iter().for_each(|at| given[at] = true);
                }
                ArgumentKind::Keywords => {
                    for at in 0..names.len() {
                        if Some(at) != rest {
                            give(&mut inputs, Some(at), &argument.reads);
                        }
                    }
                }
            }
        }
        let defaults: Vec<bool> = parameter_defaults(parameters).collect();
        let mut bound = Vec::new();
        for (at, input) in inputs.into_iter().enumerate() {
            let mut reads = input.unwrap_or_default();
            if defaults[at] && !given[at] {
                reads.push(self.shared(Shared::Default(path.clone(), function.clone(), names[at].into())));
            }
            if passing == Passing::Anywhere {
                reads.extend(object.iter().copied());
                reads.extend(arguments.iter().flat_map(|argument| argument.reads.iter().copied()));
            }
            bound.push(reads);
        }
        bound
    }

    /// Calls that reach code, attributes or variables by no name of the text.
    fn dynamic(&mut self, call: &'a ExprCall, callees: &mut Callees) {
        let name = match call.func.as_ref() {
            Expr::Name(name) if self.read_name(&name.id).is_empty() => name.id.as_str(),
            Expr::Attribute(attribute) if matches!(attribute.attr.as_str(), "import_module" | "__setattr__") => {
                attribute.attr.as_str()
            }
            _ => return,
        };
        let named = match call.arguments.args.get(usize::from(name != "__setattr__")) {
            Some(Expr::StringLiteral(literal)) => Some(Arc::<str>::from(literal.value.to_str())),
            _ => None,
        };
        match (name, named) {
            ("eval" | "exec" | "compile" | "__import__" | "import_module", _) => {
                self.unsound(call.range(), UnsoundKind::DynamicCode);
            }
            ("globals" | "locals" | "vars", _) => self.unsound(call.range(), UnsoundKind::Namespace),
            ("setattr" | "delattr" | "getattr" | "__setattr__", None) => {
                self.unsound(call.range(), UnsoundKind::DynamicAttribute);
                callees.reads.push(self.shared(Shared::AnyAttribute));
            }
            ("getattr" | "hasattr", Some(attribute)) => {
                let map = self.out.shared(Shared::Attribute(attribute));
                self.out.escaped.insert(map);
                callees.reads.push(Place::Shared(map));
            }
            ("setattr" | "delattr" | "__setattr__", Some(attribute)) => {
                callees.writes.push(self.shared(Shared::Attribute(attribute)));
                callees.writes.push(self.shared(Shared::AnyAttribute));
            }
            ("next", _) => callees.writes.push(self.shared(Shared::Consumption)),
            _ => {}
        }
    }

    /// The default values of parameters, which are evaluated with the definition.
    pub fn defaults(&mut self, parameters: &'a Parameters, procedure: ProcedureId) {
        let declaration = &self.world.declared.procedures[procedure.index()];
        let (path, function) = (self.world.paths[declaration.module].clone(), function_name(declaration));
        for parameter in parameters.iter_non_variadic_params() {
            let Some(default) = parameter.default() else { continue };
            let reads = self.value(default);
            let name = parameter.name().as_str().into();
            let place = self.shared(Shared::Default(path.clone(), function.clone(), name));
            self.failing_step(default.range(), "default", reads, vec![place]);
        }
    }
}

/// Whether the result of a call goes on seeing its object.
fn is_view_method(call: &ExprCall) -> bool {
    let Expr::Attribute(attribute) = call.func.as_ref() else { return false };
    matches!(attribute.attr.as_str(), "items" | "keys" | "values" | "__iter__")
}

/// A container that a call changes: `items.append(x)` is an update of `items`.
fn mutated(call: &ExprCall) -> Option<&str> {
    let Expr::Attribute(attribute) = call.func.as_ref() else { return None };
    let Expr::Name(name) = attribute.value.as_ref() else { return None };
    effects::changes_its_object(&attribute.attr).then_some(name.id.as_str())
}

/// How shared variables name a procedure.
pub(super) fn function_name(declaration: &Declaration<'_>) -> Arc<str> {
    match declaration.ordinal {
        0 => declaration.qualname.clone(),
        number => format!("{}#{}", declaration.qualname, number + 1).into(),
    }
}

/// The names of parameters, in the order of their numbers.
pub(super) fn parameter_names(parameters: &Parameters) -> impl Iterator<Item = &str> {
    let plain = parameters.posonlyargs.iter().chain(&parameters.args).map(|one| one.name().as_str());
    let rest = parameters.vararg.iter().map(|one| one.name.as_str());
    let only = parameters.kwonlyargs.iter().map(|one| one.name().as_str());
    plain.chain(rest).chain(only).chain(parameters.kwarg.iter().map(|one| one.name.as_str()))
}

fn parameter_defaults(parameters: &Parameters) -> impl Iterator<Item = bool> {
    let plain = parameters.posonlyargs.iter().chain(&parameters.args).map(|one| one.default.is_some());
    let rest = parameters.vararg.iter().map(|_| false);
    let only = parameters.kwonlyargs.iter().map(|one| one.default.is_some());
    plain.chain(rest).chain(only).chain(parameters.kwarg.iter().map(|_| false))
}

/// Decorators that leave a function as it is, or only say how it is called.
const PLAIN_DECORATORS: &[&str] =
    &["staticmethod", "classmethod", "property", "abstractmethod", "overload", "override", "final", "setter"];

fn decorators(body: Body<'_>) -> Vec<&Expr> {
    match body {
        Body::Function(function) => function.decorator_list.iter().map(|one| &one.expression).collect(),
        _ => Vec::new(),
    }
}

fn decorator_name(expr: &Expr) -> &str {
    match expr {
        Expr::Name(name) => &name.id,
        Expr::Attribute(attribute) => &attribute.attr,
        Expr::Call(call) => decorator_name(&call.func),
        _ => "",
    }
}

fn has_decorator(body: Body<'_>, name: &str) -> bool {
    decorators(body).into_iter().any(|one| decorator_name(one) == name)
}
