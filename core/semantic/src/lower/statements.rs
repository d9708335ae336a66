//! Statements, in the order in which they run.

use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtFor, StmtIf, StmtImport, StmtImportFrom, StmtTry, StmtWith};
use ruff_text_size::Ranged;
use twincell_syntax::scopes::Bindings;

use super::targets::Assigned;
use super::{Lowering, hashing};
use crate::ids::NameId;
use crate::module::{Binding, Literal, ModulePath, ScopeKind, Step, Target};

impl Lowering {
    pub(super) fn body(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.statement(stmt));
    }

    /// Whether variables here are symbols.
    fn has_symbols(&self) -> bool {
        self.frames.last().is_some_and(|frame| matches!(frame.kind, ScopeKind::Module | ScopeKind::Class))
    }

    /// What a statement of the module or of a class does is part of what these are.
    fn adds_to_owner(&mut self, hash: u64) {
        if self.has_symbols()
            && let Some(symbol) = self.module.symbols.get_mut(self.owner as usize)
        {
            symbol.hash = symbol.hash.rotate_left(5) ^ hash;
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::Return(node) => {
                if let Some(value) = &node.value {
                    let value = self.value(value);
                    self.returns(value);
                }
                self.ends();
            }
            Stmt::Delete(delete) => delete.targets.iter().for_each(|target| {
                self.value(target);
            }),
            Stmt::TypeAlias(alias) => self.assignment(stmt, std::slice::from_ref(&alias.name), Some(&alias.value)),
            Stmt::Assign(assign) => self.assignment(stmt, &assign.targets, Some(&assign.value)),
            Stmt::AugAssign(assign) => {
                let mut symbols = Vec::new();
                if self.has_symbols() {
                    self.declare(&assign.target, stmt, hashing::of_statement(stmt), &mut symbols);
                }
                let outside = self.owner;
                self.owner = symbols.first().copied().unwrap_or(outside);
                let before = self.value(&assign.target);
                let added = self.value(&assign.value);
                let both = self.node();
                self.copy(before, both);
                self.copy(added, both);
                let scope = self.here();
                self.step(Step::Spread { base: added, to: before, scope });
                self.assign(&assign.target, &Assigned::Value(both, None));
                self.owner = outside;
            }
            Stmt::AnnAssign(assign) => {
                let targets = std::slice::from_ref(assign.target.as_ref());
                let mut symbols = Vec::new();
                if self.has_symbols() {
                    self.declare(&assign.target, stmt, Self::hash_of(assign.value.as_deref()), &mut symbols);
                }
                let outside = self.owner;
                self.owner = symbols.first().copied().unwrap_or(outside);
                let class = self.annotation(&assign.annotation);
                let value = match assign.value.as_deref() {
                    Some(value) => self.assigned(value, targets),
                    None => Assigned::Value(self.node(), None),
                };
                if let Some(class) = class {
                    let whole = self.whole(&value);
                    let to = self.node();
                    self.copy(whole, to);
                    self.step(Step::Annotated { class, to, is_whole: false });
                    self.assign(&assign.target, &Assigned::Value(to, None));
                } else {
                    self.assign(&assign.target, &value);
                }
                self.owner = outside;
            }
            Stmt::For(node) => self.for_loop(node),
            Stmt::While(node) => {
                self.value(&node.test);
                let test = hashing::of_expression(&node.test);
                self.rounds(test, &node.body, |_| {});
                self.body(&node.orelse);
            }
            Stmt::If(node) => self.branches(node),
            Stmt::With(node) => self.with(node),
            Stmt::Match(node) => self.match_statement(node),
            Stmt::Raise(raise) => {
                if let Some(exception) = &raise.exc {
                    let value = self.value(exception);
                    let scope = self.here();
                    if !exception.is_call_expr() {
                        self.step(Step::Raise { value, scope });
                    }
                }
                if let Some(cause) = &raise.cause {
                    self.value(cause);
                }
                self.ends();
            }
            Stmt::Try(node) => self.try_statement(node),
            Stmt::Assert(assert) => {
                self.value(&assert.test);
                if let Some(message) = &assert.msg {
                    self.value(message);
                }
                self.adds_to_owner(hashing::of_statement(stmt));
            }
            Stmt::Import(import) => self.import(import),
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Expr(node) => {
                self.value(&node.value);
                self.adds_to_owner(hashing::of_statement(stmt));
            }
            Stmt::Break(_) | Stmt::Continue(_) => self.ends(),
            Stmt::Global(_) | Stmt::Nonlocal(_) | Stmt::Pass(_) | Stmt::IpyEscapeCommand(_) => {}
        }
    }

    fn returns(&mut self, value: crate::ids::NodeId) {
        let scope = self.frames.iter().rev().find(|frame| frame.kind == ScopeKind::Function).map(|frame| frame.scope);
        if let Some(returns) = scope.and_then(|scope| self.module.scope(scope)).map(|scope| scope.returns) {
            self.copy(value, returns);
        }
    }

    fn assignment(&mut self, stmt: &Stmt, targets: &[Expr], value: Option<&Expr>) {
        let mut symbols = Vec::new();
        if self.has_symbols() {
            let hash = Self::hash_of(value);
            targets.iter().for_each(|target| self.declare(target, stmt, hash, &mut symbols));
            if symbols.is_empty() {
                self.adds_to_owner(hashing::of_statement(stmt));
            }
        }
        let outside = self.owner;
        if let Some((first, others)) = symbols.split_first() {
            self.owner = *first;
            self.module.bound_with.extend(others.iter().map(|other| (*other, *first)));
        }
        if let Some(value) = value {
            let is_all = self.frames.len() == 1
                && targets.iter().any(|target| target.as_name_expr().is_some_and(|name| name.id.as_str() == "__all__"));
            if is_all {
                self.exports(value);
            }
            let assigned = self.assigned(value, targets);
            targets.iter().for_each(|target| self.assign(target, &assigned));
        }
        self.owner = outside;
    }

    /// `__all__` as far as it is written out.
    fn exports(&mut self, value: &Expr) {
        let elements = match value {
            Expr::List(list) => &list.elts,
            Expr::Tuple(tuple) => &tuple.elts,
            _ => return,
        };
        let names = elements.iter().filter_map(|element| element.as_string_literal_expr());
        self.module.exported = Some(names.map(|name| name.value.to_str().into()).collect());
    }

    /// The names that statements assign, sorted.
    fn assigned_names(&mut self, body: &[Stmt], target: Option<&Expr>) -> Vec<NameId> {
        let mut bound = Bindings::of_body(body).bound;
        if let Some(target) = target {
            target_names(target, &mut |name| {
                bound.insert(name.to_owned());
            });
        }
        let mut names: Vec<NameId> = bound
            .iter()
            .filter(|name| !self.shared.contains(*name))
            .filter(|name| self.frames.last().is_some_and(|frame| frame.bindings.is_local(name)))
            .cloned()
            .collect::<Vec<String>>()
            .iter()
            .map(|name| self.mangled(name))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Statements that run any number of times.
    fn rounds(&mut self, around: u64, body: &[Stmt], begin: impl FnOnce(&mut Self)) {
        let names = self.assigned_names(body, None);
        let moment = self.moment();
        let rounds = self.begin_rounds(&names);
        begin(self);
        self.around.push(around);
        self.body(body);
        self.around.pop();
        self.end_rounds(&rounds, moment.assigned);
    }

    fn for_loop(&mut self, node: &StmtFor) {
        let mut symbols = Vec::new();
        let hash = hashing::of_expression(&node.iter);
        if self.has_symbols() {
            self.declare(&node.target, node, hash, &mut symbols);
        }
        let outside = self.owner;
        self.owner = symbols.first().copied().unwrap_or(outside);
        let base = self.value(&node.iter);
        self.owner = outside;
        let element = self.node();
        let scope = self.here();
        self.step(Step::Element { base, to: element, scope });
        self.rounds(hash, &node.body, |lowering| {
            lowering.assign(&node.target, &Assigned::Value(element, None));
        });
        self.body(&node.orelse);
    }

    fn branches(&mut self, node: &StmtIf) {
        self.value(&node.test);
        let before = self.moment();
        let mut ends = Vec::new();
        self.around.push(hashing::of_expression(&node.test));
        self.body(&node.body);
        ends.push(self.moment());
        self.return_to(&before);
        let mut is_complete = false;
        for clause in &node.elif_else_clauses {
            match &clause.test {
                Some(test) => {
                    self.value(test);
                    self.around.push(hashing::of_expression(test));
                }
                None => is_complete = true,
            }
            let start = self.moment();
            self.body(&clause.body);
            ends.push(self.moment());
            self.return_to(&start);
        }
        let tests = 1 + node.elif_else_clauses.iter().filter(|clause| clause.test.is_some()).count();
        self.around.truncate(self.around.len().saturating_sub(tests));
        if !is_complete {
            ends.push(self.moment());
        }
        self.join(ends);
    }

    fn with(&mut self, node: &StmtWith) {
        let outside = self.owner;
        for item in &node.items {
            let mut symbols = Vec::new();
            if let Some(target) = item.optional_vars.as_deref().filter(|_| self.has_symbols()) {
                self.declare(target, item, hashing::of_expression(&item.context_expr), &mut symbols);
            }
            self.owner = symbols.first().copied().unwrap_or(outside);
            let base = self.value(&item.context_expr);
            let (enter, exit) = match node.is_async {
                true => ("__aenter__", "__aexit__"),
                false => ("__enter__", "__exit__"),
            };
            let (entered, left) = (self.node(), self.node());
            let scope = self.here();
            self.step(Step::Special { base, name: enter, arguments: Vec::new(), to: entered, scope });
            self.step(Step::Special { base, name: exit, arguments: Vec::new(), to: left, scope });
            if let Some(target) = item.optional_vars.as_deref() {
                self.assign(target, &Assigned::Value(entered, None));
            }
            self.owner = outside;
        }
        self.forget_parts();
        self.body(&node.body);
        self.forget_parts();
    }

    fn try_statement(&mut self, node: &StmtTry) {
        let before = self.moment();
        self.body(&node.body);
        let interrupted = self.interrupted(&before);
        self.body(&node.orelse);
        let mut ends = vec![self.moment()];
        for handler in &node.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            self.return_to(&interrupted);
            let class = handler.type_.as_deref().map(|class| self.value(class));
            if let Some(name) = &handler.name {
                let caught = self.node();
                if let Some(class) = class {
                    self.step(Step::Annotated { class, to: caught, is_whole: true });
                }
                self.assign_name(name.as_str(), caught, None);
            }
            self.body(&handler.body);
            ends.push(self.moment());
        }
        if !node.finalbody.is_empty() {
            ends.push(interrupted);
        }
        self.join(ends);
        self.body(&node.finalbody);
    }

    fn import(&mut self, import: &StmtImport) {
        for alias in &import.names {
            let dotted = alias.name.as_str();
            let path = ModulePath { level: 0, dotted: self.id(dotted) };
            self.refer(alias.name.range, Target::Import(path), false);
            let (name, bound) = match &alias.asname {
                Some(name) => (name.as_str(), path),
                None => {
                    let first = dotted.split('.').next().unwrap_or_default();
                    (first, ModulePath { level: 0, dotted: self.id(first) })
                }
            };
            let to = self.node();
            self.step(Step::Import { to, module: bound });
            self.write(name, to, Binding::Module(bound));
        }
    }

    fn import_from(&mut self, import: &StmtImportFrom) {
        let dotted = import.module.as_ref().map_or("", |module| module.as_str());
        let module = ModulePath { level: import.level, dotted: self.id(dotted) };
        self.refer(import.module.as_ref().map_or(import.range, |module| module.range()), Target::Import(module), false);
        for alias in &import.names {
            if alias.name.as_str() == "*" {
                self.module.stars.push(module);
                continue;
            }
            let name = self.id(&alias.name);
            self.refer(alias.name.range, Target::ImportFrom(module, name), false);
            let to = self.node();
            self.step(Step::ImportFrom { to, module, name });
            let bound = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
            self.write(bound, to, Binding::From(module, name));
        }
    }

    pub(super) fn plain(&mut self, name: &'static str) -> crate::ids::NodeId {
        self.new_value(Literal::Plain(name))
    }
}

fn target_names(target: &Expr, note: &mut impl FnMut(&str)) {
    match target {
        Expr::Name(name) => note(&name.id),
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|one| target_names(one, note)),
        Expr::List(list) => list.elts.iter().for_each(|one| target_names(one, note)),
        Expr::Starred(starred) => target_names(&starred.value, note),
        _ => {}
    }
}
