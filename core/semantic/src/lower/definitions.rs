//! Functions, lambdas and classes.

use std::sync::Arc;

use ruff_python_ast::{Decorator, Expr, ExprLambda, Parameters, StmtClassDef, StmtFunctionDef};
use twincell_syntax::scopes::Bindings;

use super::expressions::names_all;
use super::{Lowering, always, hashing};
use crate::ids::{NodeId, ScopeId};
use crate::module::{
    Argument, Binding, Call, Literal, Parameter, ParameterKind, Receiver, ScopeKind, Step, SymbolKind, SymbolPlace,
};

/// What decorators that are known by name make of a function.
#[derive(Default)]
struct Marks {
    receiver: Receiver,
    is_property: bool,
    /// It does nothing but mark.
    is_mark: bool,
}

fn marks(decorator: &Decorator) -> Marks {
    let name = match &decorator.expression {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return Marks::default(),
    };
    let is_mark = true;
    match name {
        "staticmethod" => Marks { receiver: Receiver::Static, is_mark, ..Marks::default() },
        "classmethod" => Marks { receiver: Receiver::Class, is_mark, ..Marks::default() },
        "property" | "cached_property" | "setter" | "getter" | "deleter" => {
            Marks { is_property: true, is_mark, ..Marks::default() }
        }
        "abstractmethod" | "overload" | "override" | "final" => Marks { is_mark, ..Marks::default() },
        _ => Marks::default(),
    }
}

impl Lowering {
    pub(super) fn function(&mut self, function: &StmtFunctionDef) {
        let name = function.name.as_str();
        let outside = self.owner;
        let frame = self.frame_of(name);
        let (prefix, class) = match self.frames.get(frame) {
            Some(frame) => (frame.prefix.clone(), (frame.kind == ScopeKind::Class).then_some(frame.scope)),
            None => (String::new(), None),
        };
        let qualname: Arc<str> = format!("{prefix}{name}").into();
        let kind = if class.is_some() { SymbolKind::Method } else { SymbolKind::Function };
        let place = SymbolPlace { range: function.range, name: function.name.range };
        let symbol = self.symbol(qualname.to_string(), kind, place, hashing::of_function(function));
        self.owner = symbol;
        let decorators = self.decorators(&function.decorator_list);
        let defaults = self.defaults(&function.parameters);
        self.annotations(&function.parameters);
        let returned = function.returns.as_deref().and_then(|returns| self.annotation(returns));

        let bindings = Bindings::of_function(&function.parameters, function.type_params.as_deref(), &function.body);
        let scope = self.enter(ScopeKind::Function, bindings, format!("{qualname}.<locals>."), qualname);
        let mut receiver = if class.is_some() { Receiver::Instance } else { Receiver::None };
        let mut is_property = false;
        for decorator in &function.decorator_list {
            let marks = marks(decorator);
            is_property |= marks.is_property;
            if class.is_some() && marks.is_mark && marks.receiver != Receiver::Instance {
                receiver = marks.receiver;
            }
        }
        if class.is_some() && matches!(name, "__new__" | "__init_subclass__" | "__class_getitem__") {
            receiver = Receiver::Class;
        }
        if let Some(scope) = self.scope_mut(scope) {
            scope.receiver = receiver;
            scope.is_property = is_property;
        }
        self.parameters(scope, &function.parameters, &defaults);
        if let (Some(class), Receiver::Instance, Some(first)) =
            (class, receiver, function.parameters.iter_non_variadic_params().next())
        {
            let first = self.mangled(first.parameter.name.as_str());
            if let Some(frame) = self.frames.last_mut() {
                frame.receiver = Some((first, class));
            }
        }
        if let (Some(returned), Some(returns)) = (returned, self.module.scope(scope).map(|scope| scope.returns)) {
            self.step(Step::Annotated { class: returned, to: returns, is_whole: false });
        }
        self.body(hashing::without_docstring(&function.body));
        self.frames.pop();

        let literal = self.new_value(Literal::Function(scope));
        let value = self.decorated(literal, &function.decorator_list, decorators);
        self.owner = outside;
        self.write(name, value, Binding::Symbol(symbol));
    }

    pub(super) fn class(&mut self, class: &StmtClassDef) {
        let name = class.name.as_str();
        let outside = self.owner;
        let prefix = self.frames.get(self.frame_of(name)).map(|frame| frame.prefix.clone()).unwrap_or_default();
        let qualname: Arc<str> = format!("{prefix}{name}").into();
        let place = SymbolPlace { range: class.range, name: class.name.range };
        let symbol = self.symbol(qualname.to_string(), SymbolKind::Class, place, hashing::of_class(class));
        self.owner = symbol;
        let decorators = self.decorators(&class.decorator_list);
        let mut bases = Vec::new();
        if let Some(arguments) = &class.arguments {
            for base in &arguments.args {
                self.value(base);
                bases.push(self.dotted(base));
            }
            for keyword in &arguments.keywords {
                self.value(&keyword.value);
            }
        }
        let scope = self.enter(ScopeKind::Class, Bindings::of_body(&class.body), format!("{qualname}."), qualname);
        if let Some(scope) = self.scope_mut(scope) {
            scope.bases = bases;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.class = Some(name.into());
        }
        let beginning = always::beginning(class);
        let always = always::of_class(class).iter().map(|name| self.mangled(name)).collect();
        let initial = beginning.names.iter().map(|name| self.mangled(name)).collect();
        if let Some(scope) = self.scope_mut(scope) {
            (scope.always, scope.initial, scope.goes_above) = (always, initial, beginning.goes_above);
        }
        let around = std::mem::take(&mut self.around);
        self.body(hashing::without_docstring(&class.body));
        self.around = around;
        self.frames.pop();

        let literal = self.new_value(Literal::Class(scope));
        let value = self.decorated(literal, &class.decorator_list, decorators);
        self.owner = outside;
        self.write(name, value, Binding::Symbol(symbol));
    }

    pub(super) fn lambda(&mut self, lambda: &ExprLambda) -> NodeId {
        let defaults = lambda.parameters.as_deref().map(|parameters| self.defaults(parameters)).unwrap_or_default();
        let bindings = Bindings::of_lambda(lambda.parameters.as_deref(), &lambda.body);
        let (prefix, number) = match self.frames.iter_mut().rev().find(|frame| frame.kind != ScopeKind::Comprehension) {
            Some(frame) => {
                frame.lambdas += 1;
                (frame.prefix.clone(), frame.lambdas)
            }
            None => (String::new(), 1),
        };
        let name: Arc<str> = format!("{prefix}<lambda{number}>").into();
        let scope = self.enter(ScopeKind::Lambda, bindings, format!("{name}.<locals>."), name);
        if let Some(parameters) = lambda.parameters.as_deref() {
            self.parameters(scope, parameters, &defaults);
        }
        let value = self.value(&lambda.body);
        if let Some(returns) = self.module.scope(scope).map(|scope| scope.returns) {
            self.copy(value, returns);
        }
        self.frames.pop();
        self.new_value(Literal::Function(scope))
    }

    fn decorators(&mut self, decorators: &[Decorator]) -> Vec<NodeId> {
        decorators.iter().map(|decorator| self.value(&decorator.expression)).collect()
    }

    /// What decorators, the last one first, make of a value.
    fn decorated(&mut self, value: NodeId, decorators: &[Decorator], values: Vec<NodeId>) -> NodeId {
        let mut value = value;
        for (_, callee) in decorators.iter().zip(values).rev().filter(|(decorator, _)| !marks(decorator).is_mark) {
            let result = self.node();
            let arguments = vec![Argument::Positional(value)];
            // A decorator is applied where the function is defined.
            let scope = self.here();
            self.call_step(Call { callee, arguments, result, scope, decorates: true });
            value = result;
        }
        value
    }

    pub(super) fn call_step(&mut self, call: Call) {
        let number = self.module.calls.len() as u32;
        self.module.calls.push(call);
        self.step(Step::Call(number));
        self.forget_parts();
    }

    /// The values of defaults, in the order of parameters that are no `*args` and `**kwargs`.
    fn defaults(&mut self, parameters: &Parameters) -> Vec<Option<NodeId>> {
        let defaults = parameters.iter_non_variadic_params().map(|parameter| parameter.default.as_deref());
        defaults.map(|default| default.map(|default| self.value(default))).collect()
    }

    /// Refers to what the annotations of parameters name.
    fn annotations(&mut self, parameters: &Parameters) {
        let variadic = [&parameters.vararg, &parameters.kwarg].into_iter().flatten();
        for annotation in variadic.filter_map(|parameter| parameter.annotation.as_deref()) {
            self.value(annotation);
        }
    }

    fn parameters(&mut self, scope: ScopeId, parameters: &Parameters, defaults: &[Option<NodeId>]) {
        let positional =
            parameters.posonlyargs.iter().chain(&parameters.args).map(|one| (one, ParameterKind::Positional));
        let keyword_only = parameters.kwonlyargs.iter().map(|one| (one, ParameterKind::KeywordOnly));
        let all: Vec<_> = positional.chain(keyword_only).collect();
        for ((one, kind), default) in all.into_iter().zip(defaults) {
            let node = self.parameter(scope, one.parameter.name.as_str(), kind);
            if let Some(default) = default {
                self.copy(*default, node);
            }
            // An annotation is evaluated outside of the function.
            if let Some(annotation) = one.parameter.annotation.as_deref()
                && let Some(inner) = self.frames.pop()
            {
                let class = self.annotation(annotation);
                self.frames.push(inner);
                if let Some(class) = class {
                    self.step(Step::Annotated { class, to: node, is_whole: names_all(annotation) });
                }
            }
        }
        if let Some(rest) = parameters.vararg.as_deref() {
            self.parameter(scope, rest.name.as_str(), ParameterKind::Rest);
        }
        if let Some(keywords) = parameters.kwarg.as_deref() {
            self.parameter(scope, keywords.name.as_str(), ParameterKind::Keywords);
        }
    }

    fn parameter(&mut self, scope: ScopeId, name: &str, kind: ParameterKind) -> NodeId {
        let node = self.node();
        let frame = self.frames.len().saturating_sub(1);
        self.write_in(frame, name, node, Binding::Local(None));
        let name = self.mangled(name);
        if let Some(scope) = self.scope_mut(scope) {
            scope.parameters.push(Parameter { name, node, kind });
        }
        node
    }
}
