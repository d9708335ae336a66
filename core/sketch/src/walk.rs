//! Reads a snippet's text for what it does with its values, in the order of the text.

use std::collections::BTreeMap;

use ruff_python_ast::{ExceptHandler, Expr, Operator, Stmt, UnaryOp};
use ruff_text_size::Ranged;

use twincell_syntax::dotted;
use twincell_syntax::parse::{parse, with_stack_for};
use twincell_syntax::python::is_builtin;
use twincell_values::reading::literal;
use twincell_values::value::Recipe;

use crate::foreign::is_foreign;
use crate::network;

use super::{Class, Id, Kind, Sketch, Value};

/// The maximum number of values that are followed.
const MOST: usize = 20_000;

/// A function of the snippet.
pub(super) struct Function {
    pub(super) name: String,
    pub(super) parameters: Vec<(String, Id)>,
    pub(super) result: Id,
    /// The parameters that have no default.
    pub(super) needed: Vec<(String, Id)>,
    pub(super) is_async: bool,
    /// Its first parameter is the object.
    pub(super) is_method: bool,
}

/// Where names are looked up, and what is around the place that is read.
pub(super) struct Walk<'t> {
    pub(super) sketch: Sketch,
    text: &'t str,
    pub(super) scopes: Vec<BTreeMap<String, Id>>,
    pub(super) functions: Vec<Function>,
    /// The function around, and the class around, by their numbers.
    pub(super) inside: Vec<usize>,
    pub(super) class: Option<usize>,
    /// The exceptions that the `try` statements around handle.
    pub(super) handled: Vec<String>,
    /// All that any of them handles.
    expected: Vec<String>,
    /// The line of the condition that is read.
    pub(super) condition_line: u32,
    /// What was assigned to attributes: the object, the name, the value.
    stored: Vec<(Id, String, Id)>,
    /// The number of statements around that may not run their bodies.
    branches: usize,
}

impl Sketch {
    /// Reads a text. `imports` are those that a prefix adds, as source.
    pub fn read(text: &str, imports: &str) -> Self {
        Self::of(text, imports, false)
    }

    /// Reads a function, whose parameters are names that it does not bind, or statements.
    pub fn of_function(text: &str) -> Self {
        Self::of(text, "", true)
    }

    fn of(text: &str, imports: &str, is_function: bool) -> Self {
        with_stack_for(text.len(), || {
            let mut walk = Walk {
                sketch: Self::default(),
                text,
                scopes: vec![BTreeMap::new()],
                functions: vec![],
                inside: vec![],
                class: None,
                handled: vec![],
                expected: vec![],
                condition_line: 0,
                stored: vec![],
                branches: 0,
            };
            walk.body(parse(imports).suite());
            let parsed = parse(text);
            match &parsed.suite()[..] {
                [Stmt::FunctionDef(function)] if is_function => walk.inner(function),
                statements => walk.body(statements),
            }
            walk.expect_failures();
            walk.sketch
        })
    }
}

impl Walk<'_> {
    /// What the snippet handles anywhere, a network may raise wherever it is used.
    fn expect_failures(&mut self) {
        const GENERAL: &[&str] = &["Exception", "OSError", "IOError", "ConnectionError", "TimeoutError"];
        for source in &mut self.sketch.sources {
            if network::role(&source.origin).is_none() {
                continue;
            }
            let root = source.origin.split('.').next().unwrap_or_default();
            for class in &self.expected {
                let is_own = class.split('.').next() == Some(root);
                if (is_own || GENERAL.contains(&class.as_str())) && !source.handled.contains(class) {
                    source.handled.push(class.clone());
                }
            }
        }
    }

    pub(super) fn line(&self, expression: &Expr) -> u32 {
        let before = &self.text[..expression.start().to_usize().min(self.text.len())];
        before.matches('\n').count() as u32 + 1
    }

    pub(super) fn name(&mut self, name: &str) -> Id {
        if let Some(id) = self.scopes.iter().rev().find_map(|scope| scope.get(name)) {
            return *id;
        }
        if is_builtin(name) {
            return self.sketch.add(Value { origin: Some(name.to_owned()), ..Value::default() });
        }
        if let Some(id) = self.sketch.free.get(name) {
            return *id;
        }
        if let Some(now) = twincell_syntax::python::builtin_now(name) {
            return self.sketch.add(Value { origin: Some(now.to_owned()), ..Value::default() });
        }
        let kind = is_frame(name).then_some(Kind::Frame);
        let id = self.sketch.add(Value { kind, ..Value::default() });
        self.sketch.free.insert(name.to_owned(), id);
        id
    }

    pub(super) fn bind(&mut self, name: &str, id: Id) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), id);
        }
    }

    fn imported(&mut self, name: &str, origin: String) {
        self.sketch.has_numpy |= origin.split('.').next() == Some("numpy");
        let known = self
            .sketch
            .imported
            .iter()
            .find(|(known, id)| known == name && self.sketch.value(*id).origin.as_ref() == Some(&origin));
        let id = match known {
            Some((_, id)) => *id,
            None => {
                let is_foreign = is_foreign(&origin);
                let id = self.sketch.add(Value { origin: Some(origin), ..Value::default() });
                if is_foreign {
                    self.sketch.imported.push((name.to_owned(), id));
                }
                id
            }
        };
        self.bind(name, id);
    }

    pub(super) fn body(&mut self, body: &[Stmt]) {
        // Functions and classes may be used before they are defined.
        for statement in body {
            match statement {
                Stmt::FunctionDef(node) => {
                    let id = self.declare(&node.name, &node.parameters, node.is_async, false);
                    self.bind(&node.name, id);
                }
                Stmt::ClassDef(node) => {
                    let object = self.sketch.add(Value { is_made: true, ..Value::default() });
                    let above = self.sketch.fresh();
                    let bases = node.bases().iter().filter_map(dotted).collect();
                    let name = node.name.to_string();
                    let result = self.sketch.add(Value { result: Some(object), is_made: true, ..Value::default() });
                    self.bind(&name, result);
                    self.sketch.classes.push(Class {
                        name,
                        bases,
                        object,
                        above,
                        own: Default::default(),
                        is_given: false,
                    });
                }
                _ => {}
            }
        }
        for statement in body {
            if self.sketch.values.len() < MOST {
                self.statement(statement);
            }
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        let is_branch =
            matches!(statement, Stmt::If(_) | Stmt::For(_) | Stmt::While(_) | Stmt::Try(_) | Stmt::Match(_));
        self.branches += usize::from(is_branch);
        self.read(statement);
        self.branches -= usize::from(is_branch);
    }

    fn read(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(node) => self.function(node),
            Stmt::ClassDef(node) => self.class_body(node),
            Stmt::Import(node) => {
                for alias in &node.names {
                    let whole = alias.name.to_string();
                    let first = whole.split('.').next().unwrap_or(&whole).to_owned();
                    match &alias.asname {
                        Some(name) => self.imported(name, whole.clone()),
                        None => self.imported(&first, first.clone()),
                    }
                }
            }
            Stmt::ImportFrom(node) => {
                for alias in &node.names {
                    let module = node.module.as_ref().map(ToString::to_string).unwrap_or_default();
                    let bound = alias.asname.as_ref().unwrap_or(&alias.name).to_string();
                    self.imported(&bound, format!("{module}.{}", alias.name));
                }
            }
            Stmt::Assign(node) => {
                let value = self.expression(&node.value);
                if let [Expr::Name(name)] = node.targets.as_slice() {
                    let of = self.sketch.value_mut(value);
                    of.called.get_or_insert_with(|| name.id.to_string());
                }
                node.targets.iter().for_each(|target| self.assign(target, value));
            }
            Stmt::AnnAssign(node) => {
                if let Some(value) = &node.value {
                    let value = self.expression(value);
                    self.assign(&node.target, value);
                }
            }
            Stmt::AugAssign(node) => {
                let (target, value) = (self.expression(&node.target), self.expression(&node.value));
                let result = self.arithmetic(node.op, target, value);
                if let Expr::Name(name) = node.target.as_ref() {
                    self.bind(&name.id, result);
                }
            }
            Stmt::Return(node) => {
                if let (Some(value), Some(&function)) = (&node.value, self.inside.last()) {
                    let (value, result) = (self.expression(value), self.functions[function].result);
                    if self.sketch.value(value).known.is_none() {
                        self.sketch.join(result, value);
                    }
                }
            }
            Stmt::For(node) => {
                let over = self.expression(&node.iter);
                let element = self.element(over);
                self.sketch.value_mut(over).is_iterated_async |= node.is_async;
                self.assign(&node.target, element);
                self.body(&node.body);
                self.body(&node.orelse);
            }
            Stmt::While(node) => {
                self.condition(&node.test, true);
                self.body(&node.body);
                self.body(&node.orelse);
            }
            Stmt::If(node) => {
                self.condition(&node.test, true);
                self.body(&node.body);
                for clause in &node.elif_else_clauses {
                    if let Some(test) = &clause.test {
                        self.condition(test, true);
                    }
                    self.body(&clause.body);
                }
            }
            Stmt::With(node) => {
                for item in &node.items {
                    let value = self.expression(&item.context_expr);
                    let entered = self.entered(value, node.is_async);
                    if let Some(target) = &item.optional_vars {
                        self.assign(target, entered);
                    }
                }
                self.body(&node.body);
            }
            Stmt::Try(node) => {
                let before = self.handled.len();
                for ExceptHandler::ExceptHandler(handler) in &node.handlers {
                    match handler.type_.as_deref() {
                        Some(Expr::Tuple(classes)) => self.handled.extend(classes.elts.iter().filter_map(dotted)),
                        Some(class) => self.handled.extend(dotted(class)),
                        None => self.handled.push("Exception".into()),
                    }
                }
                self.expected.extend(self.handled[before..].iter().cloned());
                let unbound = self.scopes.last().cloned().unwrap_or_default();
                self.body(&node.body);
                self.handled.truncate(before);
                self.body(&node.orelse);
                // Behind it, names that it binds mean what they do where nothing fails.
                let mut bound = self.scopes.last().cloned().unwrap_or_default();
                bound.retain(|name, value| unbound.get(name) != Some(value));
                for ExceptHandler::ExceptHandler(handler) in &node.handlers {
                    if let Some(name) = &handler.name {
                        let error = self.sketch.add(Value { is_made: true, ..Value::default() });
                        self.bind(name, error);
                    }
                    self.body(&handler.body);
                }
                if let Some(scope) = self.scopes.last_mut() {
                    scope.extend(bound);
                }
                self.body(&node.finalbody);
            }
            Stmt::Match(node) => {
                self.expression(&node.subject);
                node.cases.iter().for_each(|case| self.body(&case.body));
            }
            Stmt::Assert(node) => self.condition(&node.test, true),
            Stmt::Expr(node) => {
                self.expression(&node.value);
            }
            Stmt::Raise(node) => {
                for value in node.exc.iter().chain(&node.cause) {
                    self.expression(value);
                }
            }
            _ => {}
        }
    }

    pub(super) fn set_attribute(&mut self, of: Id, name: &str, value: Id) {
        let attributes = &mut self.sketch.value_mut(of).attributes;
        match attributes.iter().find(|(known, _)| known == name) {
            Some(&(_, known)) => self.sketch.join(known, value),
            None => attributes.push((name.to_owned(), value)),
        }
    }

    fn assign(&mut self, target: &Expr, value: Id) {
        match target {
            Expr::Name(name) => self.bind(&name.id, value),
            Expr::Tuple(node) => self.unpack(&node.elts, value),
            Expr::List(node) => self.unpack(&node.elts, value),
            Expr::Attribute(node) => {
                let of = self.expression(&node.value);
                let known = self.sketch.value(value).known.is_some();
                if self.sketch.value(of).is_made {
                    if let Some(class) = self.class {
                        self.sketch.classes[class].own.insert(node.attr.to_string());
                    }
                    let value =
                        if known { self.sketch.add(Value { is_made: true, ..Value::default() }) } else { value };
                    self.set_attribute(of, &node.attr, value);
                    return;
                }
                self.sketch.value_mut(of).is_assigned = true;
                // From here on, it is what was assigned.
                if self.branches == 0 && self.inside.is_empty() {
                    self.stored.push((of, node.attr.to_string(), value));
                }
            }
            Expr::Subscript(node) => {
                let of = self.expression(&node.value);
                let key = self.expression(&node.slice);
                let value = self.sketch.value(of);
                let is_open = !value.is_made && value.attributes.is_empty() && value.element.is_none();
                if is_open && !self.is_number(key) && !node.slice.is_slice_expr() {
                    self.is_kind(of, Kind::Dict);
                }
            }
            Expr::Starred(node) => {
                let rest = self.sketch.add(Value { element: Some(value), ..Value::default() });
                self.assign(&node.value, rest);
            }
            _ => {}
        }
    }

    fn unpack(&mut self, targets: &[Expr], value: Id) {
        let parts = self.parts(value, targets.len());
        for (target, part) in targets.iter().zip(parts) {
            if let Expr::Name(name) = target {
                self.sketch.value_mut(part).called.get_or_insert_with(|| name.id.to_string());
            }
            self.assign(target, part);
        }
    }

    pub(super) fn parts(&mut self, value: Id, count: usize) -> Vec<Id> {
        while self.sketch.value(value).parts.len() < count {
            let part = self.sketch.fresh();
            self.sketch.value_mut(value).parts.push(part);
        }
        self.sketch.value(value).parts[..count].to_vec()
    }

    pub(super) fn element(&mut self, of: Id) -> Id {
        if let Some(known) = self.sketch.value(of).element {
            return known;
        }
        let element = self.sketch.fresh();
        self.sketch.value_mut(of).element = Some(element);
        element
    }

    fn entered(&mut self, value: Id, is_async: bool) -> Id {
        // Files, sessions, answers: most give themselves.
        let of = self.sketch.value_mut(value);
        // The uses of a file tell of its text.
        if of.origin.as_deref() == Some("open()") {
            return value;
        }
        of.entered = Some(value);
        of.is_entered_async |= is_async;
        value
    }

    pub(super) fn is_kind(&mut self, id: Id, kind: Kind) {
        let value = self.sketch.value_mut(id);
        if value.kind.is_none() {
            value.kind = Some(kind);
        }
    }

    fn is_number(&self, id: Id) -> bool {
        let value = self.sketch.value(id);
        value.kind == Some(Kind::Number) || matches!(value.known, Some(Recipe::Int(_)))
    }

    pub(super) fn attribute(&mut self, of: Id, name: &str) -> Id {
        let is_it = |(holder, known, _): &&(Id, String, Id)| known == name && self.sketch.is_same(*holder, of);
        if let Some((_, _, stored)) = self.stored.iter().rev().find(is_it) {
            return *stored;
        }
        if let Some((_, id)) = self.sketch.value(of).attributes.iter().find(|(known, _)| known == name) {
            return *id;
        }
        let origin = self.sketch.value(of).origin.as_ref().filter(|origin| !network::is_answer(origin));
        let origin = origin.map(|origin| format!("{origin}.{name}"));
        let id = self.sketch.add(Value { origin, ..Value::default() });
        self.sketch.value_mut(of).attributes.push((name.to_owned(), id));
        id
    }

    pub(super) fn item(&mut self, of: Id, key: &str) -> Id {
        if let Some((_, id)) = self.sketch.value(of).items.iter().find(|(known, _)| known == key) {
            return *id;
        }
        let id = self.sketch.fresh();
        self.sketch.value_mut(of).items.push((key.to_owned(), id));
        id
    }

    fn arithmetic(&mut self, operator: Operator, left: Id, right: Id) -> Id {
        let kind = |id: Id| {
            let value = self.sketch.value(id);
            match &value.known {
                Some(Recipe::Int(_) | Recipe::Float(_)) => Some(Kind::Number),
                Some(Recipe::Str(_)) => Some(Kind::Text),
                _ => value.kind,
            }
        };
        let (one, other) = (kind(left), kind(right));
        let result = match (operator, one, other) {
            (Operator::Mod, Some(Kind::Text), _) => return self.sketch.fresh(),
            (_, Some(kind), None) | (_, None, Some(kind)) => Some(kind),
            (Operator::Add, None, None) => None,
            (Operator::BitOr | Operator::BitAnd, None, None) => None,
            (_, None, None) => Some(Kind::Number),
            (_, one, _) => one,
        };
        if let Some(kind @ (Kind::Number | Kind::Text | Kind::Bytes)) = result {
            self.is_kind(left, kind);
            self.is_kind(right, kind);
        }
        self.sketch.add(Value { kind: result, is_made: true, ..Value::default() })
    }

    pub(super) fn expression(&mut self, expression: &Expr) -> Id {
        if let Some(known) = literal(expression) {
            return self.sketch.add(Value { known: Some(known), is_made: true, ..Value::default() });
        }
        match expression {
            Expr::Name(name) => self.name(&name.id),
            Expr::Attribute(node) => {
                let of = self.expression(&node.value);
                if node.attr.as_str() == "__dict__" && !self.sketch.value(of).is_made {
                    self.sketch.value_mut(of).is_assigned = true;
                    return self.made_of(Kind::Dict);
                }
                self.note_column(node);
                self.note_usual_of(of, &node.attr);
                self.attribute(of, &node.attr)
            }
            Expr::Subscript(node) => self.subscript(&node.value, &node.slice),
            Expr::Call(node) => self.call(node, expression),
            Expr::Await(node) => {
                let of = self.expression(&node.value);
                self.awaited(of)
            }
            Expr::BinOp(node) => {
                let (left, right) = (self.expression(&node.left), self.expression(&node.right));
                if node.op == Operator::Add {
                    for (of, other) in [(left, &node.right), (right, &node.left)] {
                        if other.is_tuple_expr() {
                            self.is_kind(of, Kind::List);
                            self.sketch.value_mut(of).is_tuple = true;
                        }
                    }
                }
                if matches!(node.op, Operator::Add | Operator::Sub)
                    && let Some(result) =
                        self.of_moments(node.op == Operator::Add, (left, &node.left), (right, &node.right))
                {
                    return result;
                }
                self.arithmetic(node.op, left, right)
            }
            Expr::Compare(_) | Expr::BoolOp(_) => {
                self.condition(expression, true);
                self.made()
            }
            Expr::UnaryOp(node) => {
                if node.op == UnaryOp::Not {
                    self.condition(expression, true);
                    return self.made();
                }
                let of = self.expression(&node.operand);
                if matches!(node.op, UnaryOp::USub) {
                    self.is_kind(of, Kind::Number);
                }
                of
            }
            Expr::If(node) => {
                self.condition(&node.test, true);
                let (one, other) = (self.expression(&node.body), self.expression(&node.orelse));
                if self.sketch.value(one).known.is_some() { other } else { one }
            }
            Expr::Named(node) => {
                let value = self.expression(&node.value);
                self.assign(&node.target, value);
                value
            }
            Expr::ListComp(node) => self.comprehension(&node.generators, &[&node.elt]),
            Expr::SetComp(node) => self.comprehension(&node.generators, &[&node.elt]),
            Expr::Generator(node) => self.comprehension(&node.generators, &[&node.elt]),
            Expr::DictComp(node) => {
                let key = node.key.as_deref();
                let mut inner: Vec<&Expr> = key.into_iter().collect();
                inner.push(&node.value);
                self.comprehension(&node.generators, &inner);
                self.made()
            }
            Expr::List(node) => self.display(&node.elts),
            Expr::Tuple(node) => self.display(&node.elts),
            Expr::Set(node) => self.display(&node.elts),
            Expr::Dict(node) => {
                for item in &node.items {
                    if let Some(key) = &item.key {
                        self.expression(key);
                    }
                    let value = self.expression(&item.value);
                    if item.key.is_none() {
                        self.is_kind(value, Kind::Dict);
                    }
                }
                self.made()
            }
            Expr::FString(node) => {
                for element in node.value.elements().filter_map(|element| element.as_interpolation()) {
                    let value = self.expression(&element.expression);
                    let is_number = element.format_spec.as_ref().is_some_and(|specification| {
                        let range = specification.range();
                        let text = self.text.get(range.start().to_usize()..range.end().to_usize());
                        text.is_some_and(|text| text.ends_with(['f', 'd', 'e', '%']))
                    });
                    if is_number {
                        self.is_kind(value, Kind::Number);
                    }
                }
                self.made_of(Kind::Text)
            }
            Expr::Starred(node) => self.expression(&node.value),
            Expr::Yield(node) => {
                if let Some(value) = &node.value {
                    self.expression(value);
                }
                self.made()
            }
            Expr::YieldFrom(node) => {
                self.expression(&node.value);
                self.made()
            }
            Expr::Lambda(node) => {
                let parameters = node.parameters.as_deref().cloned().unwrap_or_default();
                let id = self.declare("<lambda>", &parameters, false, false);
                let scope = self.functions.last().map(|function| function.parameters.iter().cloned().collect());
                self.scopes.push(scope.unwrap_or_default());
                self.expression(&node.body);
                self.scopes.pop();
                // What it gives is no value that a call of the snippet asks for.
                self.sketch.add(Value { callback: self.sketch.value(id).function, is_made: true, ..Value::default() })
            }
            _ => self.made(),
        }
    }

    pub(super) fn made(&mut self) -> Id {
        self.sketch.add(Value { is_made: true, ..Value::default() })
    }

    /// A value of a kind that the snippet makes itself.
    pub(super) fn made_of(&mut self, kind: Kind) -> Id {
        self.sketch.add(Value { kind: Some(kind), is_made: true, ..Value::default() })
    }

    fn display(&mut self, items: &[Expr]) -> Id {
        let parts: Vec<Id> = items.iter().map(|item| self.expression(item)).collect();
        self.sketch.add(Value { parts, is_made: true, ..Value::default() })
    }

    fn awaited(&mut self, of: Id) -> Id {
        let value = self.sketch.value(of);
        if value.is_made {
            return of;
        }
        if let Some(known) = value.awaited {
            return known;
        }
        // What a network gives is the same, awaited or not.
        let id = if value.origin.is_some() && value.function.is_none() { of } else { self.sketch.fresh() };
        self.sketch.value_mut(of).awaited = Some(id);
        id
    }

    fn comprehension(&mut self, generators: &[ruff_python_ast::Comprehension], inner: &[&Expr]) -> Id {
        self.scopes.push(BTreeMap::new());
        for generator in generators {
            let over = self.expression(&generator.iter);
            let element = self.element(over);
            self.sketch.value_mut(over).is_iterated_async |= generator.is_async;
            self.assign(&generator.target, element);
            generator.ifs.iter().for_each(|test| self.condition(test, true));
        }
        let mut last = None;
        for expression in inner {
            last = Some(self.expression(expression));
        }
        self.scopes.pop();
        self.sketch.add(Value { element: last, is_made: true, ..Value::default() })
    }

    fn subscript(&mut self, of: &Expr, slice: &Expr) -> Id {
        // `value.__dict__['name']`
        if let (Expr::Attribute(node), Some(Recipe::Str(name))) = (of, literal(slice))
            && node.attr.as_str() == "__dict__"
        {
            let of = self.expression(&node.value);
            return self.attribute(of, &name);
        }
        let of = self.expression(of);
        match literal(slice) {
            Some(Recipe::Str(key)) => return self.item(of, &key),
            Some(Recipe::Int(index)) => {
                if let Some(part) = usize::try_from(index).ok().and_then(|index| self.sketch.value(of).parts.get(index))
                {
                    return *part;
                }
                let value = self.sketch.value_mut(of);
                value.least = value.least.max(usize::try_from(index).unwrap_or(0).min(10) + 1);
                return self.element(of);
            }
            _ => {}
        }
        if let Expr::Slice(slice) = slice {
            for bound in [&slice.lower, &slice.upper, &slice.step].into_iter().flatten() {
                let bound = self.expression(bound);
                self.is_kind(bound, Kind::Number);
            }
            return of;
        }
        if let Expr::List(node) = slice {
            let names = node.elts.iter().filter_map(literal);
            for name in names {
                if let Recipe::Str(name) = name {
                    self.item(of, &name);
                }
            }
            return of;
        }
        let key = self.expression(slice);
        // A mask.
        if self.sketch.value(of).kind == Some(Kind::Frame) || matches!(slice, Expr::Compare(_)) {
            return of;
        }
        let element = self.element(of);
        if !self.is_number(key) && !self.sketch.is_same(key, element) {
            self.sketch.value_mut(of).key.get_or_insert(key);
        }
        element
    }
}

/// Whether everybody keeps frames of pandas under a name: `df`, `sales_df`, `df2`.
fn is_frame(name: &str) -> bool {
    let name = name.trim_end_matches(|character: char| character.is_ascii_digit());
    name == "df" || name.ends_with("_df")
}
