//! What a call may call: procedures of the project by names and by the flow of values, and code outside of it.

use std::sync::Arc;

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged;
use twincell_semantic::{CallKind, Referent, SymbolKind, Value, fields};

use super::declare::{Body, Declaration};
use super::draft::{Builder, Place};
use super::effects::{self, Effect};
use super::operators;
use super::world::Target;
use crate::program::{ProcedureId, Shared, UnsoundKind};

/// How arguments reach the parameters of a callee.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Passing {
    /// As the call says.
    AsWritten,
    /// After the object whose method is called.
    WithObject,
    /// Something calls it back: any argument may arrive anywhere.
    Anywhere,
}

/// What a call may do, as far as it is known.
#[derive(Default)]
pub(super) struct Callees {
    pub procedures: Vec<(ProcedureId, Passing)>,
    pub effects: Vec<Effect>,
    /// What the function reads by the names of special methods.
    pub operators: Vec<&'static str>,
    /// What it runs upon its arguments is not known.
    pub runs_any: bool,
    /// The object that says what is called.
    pub dispatch_by_object: bool,
    /// Fields that a constructor without a text of its own sets.
    pub fields: Vec<Arc<str>>,
    /// Something else than procedures may give the result.
    pub has_other: bool,
    /// Python calls: a special method, a property.
    pub is_operation: bool,
    /// A method of a builtin container or text, which only touches its object.
    pub is_of_container: bool,
    /// Elements of arguments are read.
    pub reads_arguments: bool,
    /// The effects look at elements of arguments, but not into them.
    pub is_shallow: bool,
    /// What a builtin reads and writes by a name that an argument says.
    pub reads: Vec<Place>,
    pub writes: Vec<Place>,
}

impl<'a> Builder<'_, 'a> {
    pub fn callees(&mut self, call: &'a ExprCall) -> Callees {
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
                    let effect = match method_of_builtin(path) {
                        Some(name) => effects::of_method(name),
                        None => effects::of_path(path, generated),
                    };
                    callees.effects.push(effect);
                    match path.strip_prefix("builtins.").map(operators::of_builtin) {
                        Some(Some(names)) => callees.operators.extend(names),
                        Some(None) => callees.runs_any = true,
                        None => callees.operators.extend(operators::of_library(path)),
                    }
                    if let Some(name @ ("attrgetter" | "methodcaller")) = path.strip_prefix("operator.") {
                        self.named_attributes(call, name, &mut callees);
                    }
                }
            }
        }
        // A class of the project may be one of containers.
        callees.is_of_container = !targets.is_empty()
            && targets.iter().all(|target| match target {
                Target::External(path) => {
                    method_of_builtin(path).is_some_and(|name| effects::of_method(name) != effects::of_method(""))
                }
                _ => false,
            });
        // Something answered for the attribute.
        let is_answered = attribute.is_some_and(|attribute| self.results.contains_key(&attribute.range));
        if targets.is_empty() || is_answered {
            self.unknown_callees(call, &mut callees);
        } else if let Some(attribute) = attribute
            && world.declared.assigned.contains(&self.attribute_name(attribute))
        {
            // An object may have a function of its own under the name of a method.
            let own = world.values(self.module, call.func.range()).iter();
            let is_other = |value: &&Value| match value {
                Value::Function(_) => true,
                Value::Method(code) => {
                    let known = |one: &ProcedureId| callees.procedures.iter().any(|(known, _)| known == one);
                    !world.procedures_of(*code).iter().all(known)
                }
                _ => false,
            };
            let own: Vec<Value> = own.filter(is_other).cloned().collect();
            self.known_callees(&own, &mut callees);
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
        let is_builtin = |target: &Target| matches!(target, Target::External(path) if path.starts_with("builtins."));
        if callees.has_other && (callees.runs_any || targets.is_empty() || !targets.iter().all(is_builtin)) {
            self.foreign_methods(call, &mut callees);
        }
        let mut names = std::mem::take(&mut callees.operators);
        if let Some(attribute) = attribute
            && callees.has_other
            && targets.iter().all(is_builtin)
        {
            let own = operators::of_method(&attribute.attr);
            names.extend(own.iter().filter(|name| !names.contains(name)).copied().collect::<Vec<_>>());
            if attribute.attr.starts_with("format") {
                self.attributes_in_text(&attribute.value, &mut callees);
            }
        }
        let starred = call.arguments.args.iter().any(Expr::is_starred_expr)
            || call.arguments.keywords.iter().any(|one| one.arg.is_none());
        let operands: Vec<&Expr> =
            call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|one| &one.value)).collect();
        // A method of a container compares its elements.
        let elements: Vec<&Expr> =
            attribute.map(|attribute| &*attribute.value).into_iter().chain(operands.clone()).collect();
        for name in names {
            // `any`, `all` and `sum` go on with elements.
            let methods = match starred || matches!(name, "__bool__" | "__getattr__" | "__getattribute__") {
                true => {
                    let mut all = world.declared.methods.get(name).cloned().unwrap_or_default();
                    all.extend(world.declared.module_answers.iter().filter(|_| name == "__getattr__"));
                    all
                }
                false if operators::of_elements(name) => self.special_methods(&elements, name),
                false => self.special_methods(&operands, name),
            };
            callees.procedures.extend(methods.into_iter().map(|one| (one, Passing::Anywhere)));
        }
        callees.procedures.sort_unstable();
        callees.procedures.dedup();
        callees.dispatch_by_object = callees.procedures.len() > 1;
        callees
    }

    /// `attrgetter("a.b")` and `methodcaller("m")` read attributes that texts name.
    fn named_attributes(&mut self, call: &'a ExprCall, function: &str, callees: &mut Callees) {
        let count = if function == "methodcaller" { 1 } else { usize::MAX };
        for argument in call.arguments.args.iter().take(count) {
            let Some(text) = argument.as_string_literal_expr() else { continue };
            for name in text.value.to_str().split('.') {
                self.attribute_by_text(name, callees);
            }
            let methods = self.world.declared.methods.get(text.value.to_str()).cloned().unwrap_or_default();
            if function == "methodcaller" {
                callees.procedures.extend(methods.into_iter().map(|one| (one, Passing::Anywhere)));
            }
        }
    }

    /// `"{a.b}".format(a=x)` reads attributes that the text names.
    fn attributes_in_text(&mut self, text: &Expr, callees: &mut Callees) {
        let Some(text) = text.as_string_literal_expr() else { return };
        for field in text.value.to_str().split('{').skip(1) {
            let field = field.split(['}', ':', '!']).next().unwrap_or_default();
            for name in field.split('.').skip(1) {
                self.attribute_by_text(name.split('[').next().unwrap_or_default(), callees);
            }
        }
    }

    fn attribute_by_text(&mut self, name: &str, callees: &mut Callees) {
        let map = self.out.shared(Shared::Attribute(name.into()));
        self.out.escaped.insert(map);
        callees.reads.push(Place::Shared(map));
        let declared = &self.world.declared;
        let getters = declared.properties.get(name).into_iter().flatten().copied();
        let asked = getters.chain(declared.answering()).chain(declared.module_answers.iter().copied());
        callees.procedures.extend(asked.map(|one| (one, Passing::Anywhere)));
    }

    /// A library that gets a class or an object whose class has an ancestor of a library, or whose method is called there,
    /// calls methods of this class.
    fn foreign_methods(&mut self, call: &'a ExprCall, callees: &mut Callees) {
        let world = self.world;
        let object = call.func.as_attribute_expr().map(|attribute| &*attribute.value);
        let only_computes = callees.effects.iter().all(|effect| !effect.writes_outside);
        let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
        let of_super =
            object.and_then(|object| object.as_call_expr()).is_some_and(|one| self.builtin(one) == Some("super"));
        let makes = call.func.as_attribute_expr().is_some_and(|one| matches!(&*one.attr, "__init__" | "__new__"));
        if of_super
            && !makes
            && let Some(class) = world.class_of(self.procedure)
        {
            let methods = world.foreign_methods(class, false).into_iter();
            callees.procedures.extend(methods.map(|one| (one, Passing::Anywhere)));
        }
        for expr in object.into_iter().chain(&call.arguments.args).chain(keywords) {
            let values = self.possible_values(expr);
            let held = self.held(values).unwrap_or_else(|| values.to_vec());
            for value in &held {
                let (class, makes) = match value {
                    Value::Class(class) => (*class, true),
                    Value::Instance(class) => (*class, false),
                    _ => continue,
                };
                // What keeps objects calls them at another time.
                if world.is_foreign(class) || only_computes {
                    let methods = world.foreign_methods(class, makes).into_iter();
                    callees.procedures.extend(methods.map(|one| (one, Passing::Anywhere)));
                }
            }
        }
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
        self.known_callees(world.values(self.module, call.func.range()), callees);
    }

    /// What is called is one of these values.
    fn known_callees(&mut self, values: &[Value], callees: &mut Callees) {
        let world = self.world;
        for value in values {
            match value {
                Value::Function(code) => {
                    callees
                        .procedures
                        .extend(world.procedures_of(*code).into_iter().map(|one| (one, Passing::AsWritten)));
                }
                Value::Method(code) => {
                    callees
                        .procedures
                        .extend(world.procedures_of(*code).into_iter().map(|one| (one, Passing::Anywhere)));
                }
                Value::Class(class) => {
                    let makers = ["__init__", "__new__"].iter().flat_map(|name| world.methods_of(*class, name));
                    callees.procedures.extend(makers.map(|one| (one, Passing::Anywhere)));
                    let fields = fields(world.project, *class).into_iter();
                    let names = fields.filter_map(|field| Some(Arc::from(world.project.symbol(field)?.name())));
                    callees.fields.extend(names);
                }
                _ => {}
            }
        }
        let methods = world.methods_of_values(values, "__call__");
        callees.procedures.extend(methods.into_iter().map(|one| (one, Passing::Anywhere)));
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
                if matches!(decorator_name(decorator), "singledispatch" | "singledispatchmethod") {
                    let all = (0..world.declared.procedures.len() as u32).map(ProcedureId);
                    let registered =
                        all.filter(|one| has_decorator(world.declared.procedures[one.index()].body, "register"));
                    callees.procedures.extend(registered.map(|one| (one, Passing::Anywhere)));
                }
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

    /// Whether a call never comes back: all that it may call ends the program.
    pub fn never_returns(&self, call: &ExprCall) -> bool {
        let (range, is_attribute) = match call.func.as_ref() {
            Expr::Name(name) => (name.range, false),
            Expr::Attribute(attribute) => (attribute.attr.range, true),
            _ => return false,
        };
        let targets = self.world.targets(self.module, range, is_attribute);
        let ends = |target: &Target| matches!(target, Target::External(path) if effects::never_returns(path));
        !targets.is_empty() && targets.iter().all(ends)
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

    /// Calls that reach code, attributes or variables by no name of the text.
    pub fn dynamic(&mut self, call: &'a ExprCall, callees: &mut Callees) {
        let name = match call.func.as_ref() {
            Expr::Name(name) if self.read_name(&name.id).is_empty() => name.id.as_str(),
            Expr::Attribute(attribute)
                if matches!(attribute.attr.as_str(), "import_module" | "__setattr__" | "__getattribute__") =>
            {
                attribute.attr.as_str()
            }
            _ => return,
        };
        // A method that an object gives has got it.
        let has_object = call
            .func
            .as_attribute_expr()
            .is_some_and(|attribute| !self.is_class(&attribute.value) && !self.is_of_library(&attribute.value));
        let named = match call.arguments.args.get(usize::from(!has_object)) {
            Some(Expr::StringLiteral(literal)) => Some(Arc::<str>::from(literal.value.to_str())),
            _ => None,
        };
        match (name, named) {
            ("eval" | "exec" | "compile" | "__import__" | "import_module", _) => {
                self.unsound(call.range(), UnsoundKind::DynamicCode);
            }
            ("globals" | "locals" | "vars", _) => self.unsound(call.range(), UnsoundKind::Namespace),
            ("setattr" | "delattr" | "getattr" | "__setattr__" | "__getattribute__", None) => {
                self.unsound(call.range(), UnsoundKind::DynamicAttribute);
                callees.reads.push(self.shared(Shared::AnyAttribute));
            }
            ("getattr" | "hasattr" | "__getattribute__", Some(attribute)) => {
                let map = self.out.shared(Shared::Attribute(attribute.clone()));
                self.out.escaped.insert(map);
                callees.reads.push(Place::Shared(map));
                let getters = self.world.declared.properties.get(&attribute).cloned().unwrap_or_default();
                callees.procedures.extend(getters.into_iter().map(|one| (one, Passing::Anywhere)));
            }
            ("setattr" | "delattr" | "__setattr__", Some(attribute)) => {
                let writes = self.attribute_writes(&attribute, None);
                callees.writes.extend(writes);
            }
            ("type", _) if call.arguments.args.len() == 3 => self.unsound(call.range(), UnsoundKind::DynamicCode),
            ("next", _) => callees.writes.push(self.shared(Shared::Consumption)),
            _ => {}
        }
    }
}

/// The name of a method of a builtin class, by its dotted path.
fn method_of_builtin(path: &str) -> Option<&str> {
    let (class, name) = path.strip_prefix("builtins.")?.split_once('.')?;
    matches!(class, "list" | "dict" | "set" | "bytearray").then_some(name)
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
