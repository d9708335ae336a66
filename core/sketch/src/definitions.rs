//! The functions and classes of a snippet.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, Parameters, Stmt};

use twincell_syntax::dotted;

use super::walk::{Function, Walk};
use super::{ArgumentPlace, Given, Id, Value};
use crate::foreign::is_foreign;

impl Walk<'_> {
    pub(super) fn declare(&mut self, name: &str, parameters: &Parameters, is_async: bool, is_method: bool) -> Id {
        let optional: Vec<&str> = parameters
            .iter_non_variadic_params()
            .filter(|given| given.default.is_some())
            .map(|given| given.name().as_str())
            .collect();
        let plain = parameters.iter_non_variadic_params();
        let parameters: Vec<(String, Id)> =
            plain.map(|given| (given.name().to_string(), self.sketch.fresh())).collect();
        let result = self.sketch.fresh();
        let needed = parameters.iter().filter(|(name, _)| !optional.contains(&name.as_str())).cloned().collect();
        self.functions.push(Function { name: name.to_owned(), parameters, result, needed, is_async, is_method });
        let function = Some(self.functions.len() - 1);
        self.sketch.add(Value { function, result: Some(result), is_made: true, ..Value::default() })
    }

    pub(super) fn function(&mut self, node: &ruff_python_ast::StmtFunctionDef) {
        let id = self.name(&node.name);
        let Some(function) = self.sketch.value(id).function else { return };
        if self.class.is_none() {
            for decorator in &node.decorator_list {
                self.decorated(&decorator.expression, function);
            }
        }
        let mut scope: BTreeMap<String, Id> = self.functions[function].parameters.iter().cloned().collect();
        for variadic in [&node.parameters.vararg, &node.parameters.kwarg].into_iter().flatten() {
            let made = self.sketch.add(Value { is_made: true, ..Value::default() });
            scope.insert(variadic.name.to_string(), made);
        }
        self.scopes.push(scope);
        self.inside.push(function);
        self.body(&node.body);
        self.inside.pop();
        self.scopes.pop();
    }

    /// The body of the function that the text is.
    pub(super) fn inner(&mut self, node: &ruff_python_ast::StmtFunctionDef) {
        for given in node.parameters.iter_non_variadic_params() {
            let id = self.sketch.fresh();
            self.sketch.free.insert(given.name().to_string(), id);
            self.bind(given.name(), id);
        }
        for variadic in [&node.parameters.vararg, &node.parameters.kwarg].into_iter().flatten() {
            let made = self.made();
            self.bind(&variadic.name, made);
        }
        self.body(&node.body);
    }

    pub(super) fn class_body(&mut self, node: &ruff_python_ast::StmtClassDef) {
        let Some(number) = self.sketch.classes.iter().rposition(|class| class.name == node.name.as_str()) else {
            return;
        };
        node.bases().iter().for_each(|base| {
            self.expression(base);
        });
        let object = self.sketch.classes[number].object;
        let mut methods = Vec::new();
        for statement in &node.body {
            match statement {
                Stmt::FunctionDef(method) => {
                    let is_static = method.decorator_list.iter().any(
                        |decorator| matches!(&decorator.expression, Expr::Name(name) if name.id == "staticmethod"),
                    );
                    let is_property = !is_static && !method.decorator_list.is_empty();
                    let id = self.declare(&method.name, &method.parameters, method.is_async, !is_static);
                    let function = self.functions.len() - 1;
                    let is_plain = |name: &String| !name.contains("property");
                    for decorator in &method.decorator_list {
                        if dotted(&decorator.expression).as_ref().is_some_and(is_plain) {
                            self.decorated(&decorator.expression, function);
                        }
                    }
                    let attribute = if is_property { self.functions[function].result } else { id };
                    self.set_attribute(object, &method.name, attribute);
                    if let (Some((_, first)), false) = (self.functions[function].parameters.first().cloned(), is_static)
                    {
                        self.sketch.join(object, first);
                    }
                    if method.name.as_str() == "__init__" {
                        let class = self.name(&node.name);
                        self.sketch.value_mut(class).function = Some(function);
                        self.functions[function].result = object;
                    }
                    self.sketch.classes[number].own.insert(method.name.to_string());
                    methods.push((method, function, id));
                }
                Stmt::Assign(assign) => {
                    let value = self.expression(&assign.value);
                    for target in assign.targets.iter().filter_map(Expr::as_name_expr) {
                        self.set_attribute(object, &target.id, value);
                        self.sketch.classes[number].own.insert(target.id.to_string());
                    }
                }
                Stmt::AnnAssign(assign) => {
                    if let Some(target) = assign.target.as_name_expr() {
                        self.sketch.classes[number].own.insert(target.id.to_string());
                    }
                }
                _ => {}
            }
        }
        let outer = self.class.replace(number);
        for (method, _, id) in methods {
            // The names of methods are no names of the scope around.
            self.scopes.push([(method.name.to_string(), id)].into());
            self.function(method);
            self.scopes.pop();
        }
        self.class = outer;
    }

    /// `@decorator` above a function.
    fn decorated(&mut self, decorator: &Expr, function: usize) {
        let by = self.expression(decorator);
        let value = self.sketch.value(by);
        let is_foreign = value.origin.as_deref().is_none_or(is_foreign);
        if value.function.is_some() || value.is_made || !is_foreign {
            return;
        }
        let given = self.given(ArgumentPlace::Position(0), false, function);
        let result = self.sketch.fresh();
        let value = self.sketch.value_mut(by);
        value.decorates = true;
        value.calls += 1;
        value.given.push(given);
        value.result.get_or_insert(result);
    }

    /// A function of the snippet, as what is given to a call.
    fn given(&self, place: ArgumentPlace, is_item: bool, number: usize) -> Given {
        let Function { name, needed, is_async, is_method, .. } = &self.functions[number];
        let parameters = needed.iter().skip(usize::from(*is_method)).cloned().collect();
        let is_within = self.inside.contains(&number);
        Given { place, is_item, name: name.clone(), parameters, is_async: *is_async, is_within }
    }

    /// Notes which functions of the snippet a call is given.
    pub(super) fn note_given(&mut self, callee: Id, positions: &[Id], named: &[(String, Id)]) {
        let positions = positions.iter().enumerate().map(|(index, id)| (ArgumentPlace::Position(index), *id));
        let named = named.iter().map(|(name, id)| (ArgumentPlace::Keyword(name.clone()), *id));
        let mut found = Vec::new();
        for (place, id) in positions.chain(named) {
            let value = self.sketch.value(id);
            if let Some(number) = value.function.or(value.callback) {
                found.push(self.given(place, false, number));
                continue;
            }
            for part in &value.parts {
                let part = self.sketch.value(*part);
                found.extend(part.function.or(part.callback).map(|number| self.given(place.clone(), true, number)));
            }
        }
        // Classes are given to be made, and lambdas in functions may lead back to these.
        let is_inside = !self.inside.is_empty();
        found.retain(|given| given.name != "__init__" && !(is_inside && given.name == "<lambda>"));
        let value = self.sketch.value_mut(callee);
        value.calls += 1;
        value.given.extend(found);
    }

    /// `super()`
    pub(super) fn above(&mut self) -> Id {
        match self.class {
            Some(class) => self.sketch.classes[class].above,
            None => self.sketch.fresh(),
        }
    }
}
