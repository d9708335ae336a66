//! What statements bind: targets of assignments, and the names of functions and classes.

use std::rc::Rc;
use std::sync::Arc;

use ruff_python_ast::{Expr, ExprAttribute, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};
use twincell_semantic::{CallKind, Referent, SymbolKind};
use twincell_syntax::scopes::Bindings;

use super::arguments::parameter_names;
use super::declare::{Frame, FrameKind};
use super::draft::{Builder, Made, Place};
use super::items::kinds_of_key;
use super::operators;
use crate::program::{Operator, Shared, Term, UnsoundKind};

impl<'a> Builder<'_, 'a> {
    pub fn assign_all(&mut self, targets: &'a [Expr], value: &'a Expr) {
        if let ([Expr::Tuple(targets)], Expr::Tuple(values)) = (targets, value)
            && targets.elts.len() == values.elts.len()
            && !targets.elts.iter().chain(&values.elts).any(Expr::is_starred_expr)
        {
            return self.assign_each(&targets.elts, &values.elts);
        }
        let reads = self.value(value);
        let term = self.term(value);
        if let [target] = targets {
            self.making = self.made(value);
            self.assigned = term;
            return self.assign(target, reads);
        }
        let kept = self.temporary();
        let node = self.failing_step(value.range(), "value", reads, vec![kept]);
        self.draft_node(node).term = term;
        for target in targets {
            self.assigned = Some(Term::Variable(kept));
            self.assign(target, vec![kept]);
        }
    }

    /// `a, b = x, y`: all values before all targets.
    fn assign_each(&mut self, targets: &'a [Expr], values: &'a [Expr]) {
        let mut kept = Vec::new();
        for value in values {
            let reads = self.value(value);
            let (term, place) = (self.term(value), self.temporary());
            let node = self.failing_step(value.range(), "value", reads, vec![place]);
            self.draft_node(node).term = term;
            kept.push(place);
        }
        for ((target, value), place) in targets.iter().zip(values).zip(kept) {
            self.making = self.made(value);
            self.assigned = Some(Term::Variable(place));
            self.assign(target, vec![place]);
        }
    }

    /// Binds a target to a value.
    pub fn assign(&mut self, target: &'a Expr, mut reads: Vec<Place>) {
        let (makes, is_update) = (std::mem::take(&mut self.making), std::mem::take(&mut self.augments));
        let mut value = self.assigned.take();
        match target {
            Expr::Name(name) => {
                if self.fails && self.is_caught() {
                    // A handler sees the name as it was before.
                    let kept = self.temporary();
                    let node = self.failing_step(target.range(), "value", reads, vec![kept]);
                    self.draft_node(node).term = value.replace(Term::Variable(kept));
                    reads = vec![kept];
                }
                let writes = self.write_name(&name.id);
                let node = self.failing_step(target.range(), "bind", reads, writes);
                let node = self.draft_node(node);
                (node.makes, node.is_update, node.term) = (makes, is_update, value);
            }
            Expr::Attribute(attribute) => {
                reads.extend(self.value(&attribute.value));
                let parts = value.and_then(|value| Some(vec![self.term(&attribute.value)?, value]));
                let operator = Operator::acting(("store", &*self.attribute_name(attribute)));
                let node = self.store_attribute(attribute, reads);
                let node = self.draft_node(node);
                (node.makes, node.is_update) = (makes, is_update);
                node.term = parts.map(|parts| Term::Apply(operator, parts));
            }
            Expr::Subscript(subscript) => {
                let (places, held) = self.look(&subscript.value);
                reads.extend(places);
                reads.extend(self.look(&subscript.slice).0);
                self.fails = true;
                let parts = value
                    .and_then(|value| Some(vec![self.term(&subscript.value)?, self.term(&subscript.slice)?, value]));
                let reads = self.operation_on_item(subscript, target.range(), operators::SET_ITEM, reads);
                let mut writes = self.written_items(kinds_of_key(&subscript.slice), held, false);
                writes.extend(self.container(&subscript.value));
                let node = self.failing_step(target.range(), "store", reads, writes);
                let operator = Operator::acting("store item");
                let node = self.draft_node(node);
                (node.is_update, node.term) = (true, parts.map(|parts| Term::Apply(operator, parts)));
            }
            Expr::Tuple(node) => self.unpack(&node.elts, target.range(), reads),
            Expr::List(node) => self.unpack(&node.elts, target.range(), reads),
            Expr::Starred(node) => self.assign(&node.value, reads),
            _ => {}
        }
    }

    fn unpack(&mut self, targets: &'a [Expr], range: TextRange, mut reads: Vec<Place>) {
        reads.extend(self.all_items());
        self.fails = true;
        let reads = self.operation(range, operators::ITERATION, reads);
        let kept = self.temporary();
        self.failing_step(range, "unpacked", reads, vec![kept]);
        for target in targets {
            self.assign(target, vec![kept]);
        }
    }

    fn store_attribute(&mut self, attribute: &'a ExprAttribute, reads: Vec<Place>) -> u32 {
        let name = self.attribute_name(attribute);
        if self.is_definition(&attribute.value) {
            self.unsound(attribute.range, UnsoundKind::Monkeypatch);
        }
        self.fails = true;
        let is_variable = self.world.declared.class_variables.contains(&name);
        let names = if is_variable { operators::SET_ATTRIBUTE } else { &["__setattr__"] };
        let mut reads = self.operation_on(&[&attribute.value], attribute.range, names, reads);
        let setters = self.properties(attribute, &name);
        if !setters.is_empty() {
            reads = self.call_any(attribute.range, "setter", &setters, reads);
        }
        let values = self.values(&attribute.value);
        let mut writes = self.attribute_writes(&name, values);
        if self.is_of_library(&attribute.value) {
            writes.push(self.shared(Shared::Outside));
        }
        for referent in self.world.referents(self.module, attribute.attr.range) {
            if let Referent::Symbol(symbol) = referent
                && self.world.project.symbol(*symbol).is_some_and(|symbol| symbol.kind == SymbolKind::Variable)
            {
                let name = self.world.project.name(*symbol);
                if !name.qualname.contains('.') {
                    writes.push(self.shared(Shared::Global(name.path, name.qualname)));
                }
            }
        }
        self.failing_step(attribute.range, "store", reads, writes)
    }

    /// Whether an expression is a class, a function or a module of the project by its name.
    pub fn is_definition(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(name) => self.is_definition_at(name.range),
            Expr::Attribute(attribute) => self.is_definition_at(attribute.attr.range),
            _ => false,
        }
    }

    pub fn is_definition_at(&self, range: TextRange) -> bool {
        self.world.referents(self.module, range).iter().any(|referent| match referent {
            Referent::Symbol(symbol) => self.world.project.symbol(*symbol).is_some_and(|symbol| {
                matches!(symbol.kind, SymbolKind::Class | SymbolKind::Function | SymbolKind::Module)
            }),
            Referent::External(_) => false,
        })
    }

    /// The local whose container an expression is: what changes the container changes the local.
    fn container(&mut self, expr: &'a Expr) -> Vec<Place> {
        let Expr::Name(name) = expr else { return Vec::new() };
        let places = self.read_name(&name.id);
        places.into_iter().filter(|place| matches!(place, Place::Local(_))).collect()
    }

    pub fn delete(&mut self, target: &'a Expr) {
        let range = target.range();
        match target {
            Expr::Name(name) => {
                let writes = self.write_name(&name.id);
                let node = self.step(range, "delete", Vec::new(), writes);
                self.draft_node(node).makes = Made::Scalar;
            }
            Expr::Attribute(attribute) => {
                let reads = self.value(&attribute.value);
                let reads = self.operation_on(&[&attribute.value], range, &["__delattr__", "__delete__"], reads);
                let name = self.attribute_name(attribute);
                let values = self.values(&attribute.value);
                let writes = self.attribute_writes(&name, values);
                self.fails = true;
                self.failing_step(range, "delete", reads, writes);
            }
            Expr::Subscript(subscript) => {
                let (mut reads, held) = self.look(&subscript.value);
                reads.extend(self.look(&subscript.slice).0);
                let reads = self.operation_on_item(subscript, range, operators::DELETE_ITEM, reads);
                let mut writes = self.written_items(kinds_of_key(&subscript.slice), held, false);
                writes.extend(self.container(&subscript.value));
                self.fails = true;
                let node = self.failing_step(range, "delete", reads, writes);
                self.draft_node(node).is_update = true;
            }
            Expr::Tuple(node) => node.elts.iter().for_each(|one| self.delete(one)),
            Expr::List(node) => node.elts.iter().for_each(|one| self.delete(one)),
            _ => {}
        }
    }

    pub fn function(&mut self, function: &'a StmtFunctionDef) {
        let parameters = &function.parameters;
        let end = function.returns.as_ref().map_or(parameters.end(), |one| one.end());
        let mut pieces: Vec<TextRange> = function.decorator_list.iter().map(|one| one.expression.range()).collect();
        pieces.push(function.name.range);
        let shape = format!(
            "{} {} {} {} {:?}",
            function.is_async,
            parameters.posonlyargs.len(),
            parameters.vararg.is_some(),
            parameters.kwarg.is_some(),
            parameter_names(parameters).collect::<Vec<_>>(),
        );
        let defaults = parameters.iter_non_variadic_params().filter_map(|one| one.default());
        let with_defaults: Vec<TextRange> = pieces.iter().copied().chain(defaults.map(|one| one.range())).collect();
        self.begin(TextRange::new(function.start(), end), &shape, &with_defaults);
        let mut reads = Vec::new();
        for decorator in &function.decorator_list {
            reads.extend(self.value(&decorator.expression));
        }
        if let Some(id) = self.world.declared.at.get(&(self.module, function.start())) {
            self.defaults(parameters, *id);
        }
        let reads = self.decorated(function.name.range, reads, !function.decorator_list.is_empty());
        let writes = self.write_name(&function.name);
        let node = self.step(function.name.range, &shape, reads, writes);
        let key = self.world.sources[self.module].key(&pieces);
        let draft = self.draft_node(node);
        draft.key ^= key;
        draft.is_whole = true;
    }

    fn decorated(&mut self, range: TextRange, reads: Vec<Place>, is_decorated: bool) -> Vec<Place> {
        if !is_decorated {
            return reads;
        }
        let decorators = self.world.called_from(self.module, &self.owner, CallKind::Decorator);
        if decorators.is_empty() { reads } else { self.call_any(range, "decorator", &decorators, reads) }
    }

    /// A class: its body runs in the procedure around it.
    pub fn class_body(&mut self, class: &'a StmtClassDef) {
        let end = class.arguments.as_ref().map_or(class.name.end(), |one| one.end());
        let mut pieces: Vec<TextRange> = class.decorator_list.iter().map(|one| one.expression.range()).collect();
        pieces.push(class.name.range);
        pieces.extend(class.arguments.as_ref().map(|one| one.range));
        self.begin(TextRange::new(class.start(), end), "class", &pieces);
        let mut reads = Vec::new();
        for decorator in &class.decorator_list {
            reads.extend(self.value(&decorator.expression));
        }
        if let Some(arguments) = class.arguments.as_deref() {
            for part in &arguments.args {
                reads.extend(self.value(part));
            }
            for keyword in &arguments.keywords {
                reads.extend(self.value(&keyword.value));
                if keyword.arg.as_ref().is_some_and(|name| name == "metaclass") {
                    self.unsound(keyword.range(), UnsoundKind::Metaclass);
                }
            }
        }
        let made = self.temporary();
        self.failing_step(TextRange::new(class.start(), end), "bases", reads, vec![made]);
        let statement = self.statement;
        let owner: Arc<str> = match &*self.owner {
            "" => class.name.as_str().into(),
            owner if self.frame.kind == FrameKind::Class => format!("{owner}.{}", class.name).into(),
            owner => format!("{owner}.<locals>.{}", class.name).into(),
        };
        let owner = std::mem::replace(&mut self.owner, owner);
        let name = self.class.replace(class.name.as_str().into());
        let outer = self.frame.clone();
        self.frame = Rc::new(Frame {
            kind: FrameKind::Class,
            key: (self.module, class.start()),
            bindings: Bindings::of_body(&class.body),
            function: outer.function.clone(),
            outer: Some(outer.clone()),
        });
        self.body(&class.body);
        self.frame = outer;
        (self.owner, self.class) = (owner, name);
        self.statement = statement;
        let reads = self.operation(class.name.range, &["__init_subclass__", "__set_name__"], vec![made]);
        let reads = self.decorated(class.name.range, reads, !class.decorator_list.is_empty());
        let writes = self.write_name(&class.name);
        self.step(class.name.range, "class", reads, writes);
    }
}
