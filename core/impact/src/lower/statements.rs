//! Statements: their nodes, and how control goes from one to the next.

use ruff_python_ast::{Expr, Stmt, StmtAugAssign, StmtFor, StmtIf, StmtWhile, StmtWith};
use ruff_text_size::{Ranged, TextRange};
use twincell_semantic::Value;

use super::draft::{Builder, Jump, Made, Place};
use super::items::ALL_ITEMS;
use super::operators;
use super::owned::Held;
use crate::program::{Items, Operator, Shared, Term, UnsoundKind, hash_of};

impl<'a> Builder<'_, 'a> {
    pub fn body(&mut self, body: &'a [Stmt]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a Stmt) {
        let range = statement.range();
        match statement {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class_body(class),
            Stmt::Return(node) => {
                self.begin(range, "return", &[range]);
                let reads = node.value.as_deref().map(|value| self.value(value)).unwrap_or_default();
                let mut writes = vec![self.result];
                if self.ends_iteration(Jump::Return) {
                    writes.push(self.shared(Shared::Consumption));
                }
                let term = match node.value.as_deref() {
                    Some(value) => self.term(value),
                    None => Some(Term::Constant(hash_of("none"))),
                };
                let node = self.failing_step(range, "return", reads, writes);
                self.draft_node(node).term = term;
                self.jump(Jump::Return);
            }
            Stmt::Delete(node) => {
                self.begin(range, "del", &[range]);
                for target in &node.targets {
                    self.delete(target);
                }
            }
            Stmt::Assign(node) => {
                self.begin(range, "assign", &[range]);
                self.assign_all(&node.targets, &node.value);
            }
            Stmt::AugAssign(node) => {
                self.begin(range, "augmented", &[range]);
                let (mut reads, held) = self.look(&node.target);
                reads.extend(self.look(&node.value).0);
                self.fails = true;
                let mut reads =
                    self.operation_on(&[&node.target, &node.value], range, operators::binary(node.op), reads);
                // `items += more` changes the list that other names may have.
                let in_place = self.written_items(changed_in_place(node.op), held, false);
                if !in_place.is_empty() && self.made(&node.value) != Made::Scalar {
                    reads = self.operation_on(&[&node.value], node.value.range(), operators::ITERATION, reads);
                    let added = Held { values: self.values(&node.value), ..Held::UNKNOWN };
                    reads.extend(self.read_items(ALL_ITEMS, held, false));
                    reads.extend(self.read_items(ALL_ITEMS, added, false));
                    let node = self.failing_step(range, "in place", reads.clone(), in_place);
                    self.draft_node(node).is_update = true;
                }
                self.augments = true;
                self.assigned = self.augmented(node);
                self.assign(&node.target, reads);
                self.augments = false;
            }
            Stmt::AnnAssign(node) => {
                let Some(value) = &node.value else { return };
                self.begin(range, "assign", &[node.target.range(), value.range()]);
                let reads = self.value(value);
                self.making = self.made(value);
                self.assigned = self.term(value);
                self.assign(&node.target, reads);
            }
            Stmt::TypeAlias(node) => {
                self.begin(range, "type", &[range]);
                self.assign(&node.name, Vec::new());
            }
            Stmt::For(node) => self.for_loop(node),
            Stmt::While(node) => self.while_loop(node),
            Stmt::If(node) => self.if_statement(node),
            Stmt::With(node) => self.with(node),
            Stmt::Match(node) => self.match_statement(node),
            Stmt::Raise(node) => {
                self.begin(range, "raise", &[range]);
                let mut reads = node.exc.as_deref().map(|value| self.value(value)).unwrap_or_default();
                reads.extend(node.cause.as_deref().map(|value| self.value(value)).unwrap_or_default());
                if node.exc.is_none() {
                    reads.push(self.local("exception"));
                }
                self.raise_value(range, reads);
            }
            Stmt::Try(node) => self.try_statement(node),
            Stmt::Assert(node) => {
                self.begin(range, "assert", &[range]);
                let reads = self.test(&node.test);
                let term = self.term(&node.test);
                let branch = self.failing_step(node.test.range(), "assert", reads, Vec::new());
                self.draft_node(branch).term = term;
                let next = std::mem::replace(&mut self.frontier, Self::side(branch, 1));
                let reads = node.msg.as_deref().map(|value| self.value(value)).unwrap_or_default();
                self.raise_value(range, reads);
                self.frontier = next;
            }
            Stmt::Import(node) => self.import(node),
            Stmt::ImportFrom(node) => self.import_from(node),
            Stmt::Expr(node) => {
                // Docstrings, and other texts that nobody reads.
                if matches!(*node.value, Expr::StringLiteral(_) | Expr::EllipsisLiteral(_)) {
                    return;
                }
                self.begin(range, "expression", &[range]);
                let reads = self.value(&node.value);
                if node.value.as_call_expr().is_some_and(|call| self.never_returns(call)) {
                    return;
                }
                let term = self.term(&node.value);
                let step = self.failing_step(range, "expression", reads, Vec::new());
                self.draft_node(step).term = term;
            }
            Stmt::Break(_) | Stmt::Continue(_) => {
                let jump = if matches!(statement, Stmt::Break(_)) { Jump::Break } else { Jump::Continue };
                self.begin(range, "jump", &[range]);
                let mut writes = Vec::new();
                if self.ends_iteration(jump) {
                    writes.push(self.shared(Shared::Consumption));
                }
                self.step(range, "jump", Vec::new(), writes);
                self.jump(jump);
            }
            Stmt::IpyEscapeCommand(_) => self.unsound(range, UnsoundKind::DynamicCode),
            Stmt::Pass(_) | Stmt::Global(_) | Stmt::Nonlocal(_) => {}
        }
    }

    /// The value of `x += y`, if that makes a new one.
    fn augmented(&mut self, node: &'a StmtAugAssign) -> Option<Term<Place>> {
        if self.made(&node.value) != Made::Scalar {
            return None;
        }
        let parts = vec![self.term(&node.target)?, self.term(&node.value)?];
        let operator = hash_of(("binary", node.op.as_str()));
        Some(Term::Apply(Operator::failing(operator, true), parts))
    }

    pub fn raise_value(&mut self, range: TextRange, reads: Vec<Place>) {
        let raised = self.temporary();
        self.fails = false;
        self.step(range, "raise", reads, vec![raised]);
        self.raise(raised);
    }

    /// What a condition reads.
    pub fn test(&mut self, test: &'a Expr) -> Vec<Place> {
        let reads = self.look(test).0;
        match test {
            Expr::Compare(_) | Expr::UnaryOp(_) | Expr::BooleanLiteral(_) => reads,
            _ => self.operation_on(&[test], test.range(), operators::TRUTH, reads),
        }
    }

    fn if_statement(&mut self, node: &'a StmtIf) {
        let mut ends = Vec::new();
        let first = (Some(&*node.test), &node.body, node.range);
        let rest = node.elif_else_clauses.iter().map(|clause| (clause.test.as_ref(), &clause.body, clause.range));
        for (test, body, range) in std::iter::once(first).chain(rest) {
            let Some(test) = test else {
                self.body(body);
                ends.append(&mut self.frontier);
                continue;
            };
            self.begin(TextRange::new(range.start(), test.end()), "if", &[test.range()]);
            let reads = self.test(test);
            let term = self.term(test);
            let branch = self.failing_step(test.range(), "if", reads, Vec::new());
            self.draft_node(branch).term = term;
            if is_for_type_checkers(test) {
                self.frontier.clear();
            }
            self.body(body);
            ends.append(&mut self.frontier);
            self.frontier = Self::side(branch, 1);
        }
        self.frontier.extend(ends);
    }

    fn while_loop(&mut self, node: &'a StmtWhile) {
        let test = node.test.range();
        self.begin(TextRange::new(node.start(), test.end()), "while", &[test]);
        let join = self.step(test, "loop", Vec::new(), Vec::new());
        let reads = self.test(&node.test);
        let term = self.term(&node.test);
        let branch = self.failing_step(test, "while", reads, Vec::new());
        self.draft_node(branch).term = term;
        let is_endless = matches!(&*node.test, Expr::BooleanLiteral(literal) if literal.value);
        let (breaks, continues) = self.in_loop(false, |this| this.body(&node.body));
        let back = std::mem::take(&mut self.frontier);
        self.draft_node(join).incoming.extend(back.into_iter().chain(continues));
        if !is_endless {
            self.frontier = Self::side(branch, 1);
        }
        self.body(&node.orelse);
        self.frontier.extend(breaks);
    }

    fn for_loop(&mut self, node: &'a StmtFor) {
        let head = TextRange::new(node.start(), node.iter.end());
        self.begin(head, if node.is_async { "async for" } else { "for" }, &[node.target.range(), node.iter.range()]);
        let reads = self.iterable(&node.iter);
        let next = self.failing_step(node.iter.range(), "next", reads.clone(), Vec::new());
        let counts = matches!(&*node.iter, Expr::Call(call) if self.builtin(call) == Some("range"));
        self.making = if counts { Made::Scalar } else { Made::Unknown };
        self.assign(&node.target, reads);
        let (breaks, continues) = self.in_loop(true, |this| this.body(&node.body));
        let back = std::mem::take(&mut self.frontier);
        self.draft_node(next).incoming.extend(back.into_iter().chain(continues));
        self.frontier = Self::side(next, 1);
        self.body(&node.orelse);
        self.frontier.extend(breaks);
    }

    fn with(&mut self, node: &'a StmtWith) {
        let last = node.items.last().map_or(node.start(), |item| item.range.end());
        let head = TextRange::new(node.start(), last);
        let pieces: Vec<TextRange> = node.items.iter().map(|item| item.range).collect();
        self.begin(head, if node.is_async { "async with" } else { "with" }, &pieces);
        let mut managers = Vec::new();
        let mut may_suppress = self.world.declared.methods.contains_key("__exit__");
        for item in &node.items {
            may_suppress |= suppresses(&item.context_expr);
            let reads = self.value(&item.context_expr);
            let manager = self.temporary();
            self.failing_step(item.context_expr.range(), "manager", reads, vec![manager]);
            let entered = self.operation_on(&[&item.context_expr], item.range, operators::ENTER, vec![manager]);
            if let Some(target) = &item.optional_vars {
                self.assign(target, entered);
            }
            managers.push(manager);
        }
        let contexts: Vec<&Expr> = node.items.iter().map(|item| &item.context_expr).collect();
        let statement = self.statement;
        let exit = |this: &mut Self| {
            this.statement = statement;
            this.step(head, "exit", managers.clone(), Vec::new());
            this.operation_on(&contexts, head, operators::EXIT, managers.clone());
        };
        // A generator behind the manager goes on where it stands, or with the exception.
        let is_generator = |value: &Value| matches!(value, Value::Generator(_) | Value::Unknown);
        let consumes = contexts.iter().any(|one| self.possible_values(one).iter().any(is_generator));
        let consumed = if consumes { vec![self.shared(Shared::Consumption)] } else { Vec::new() };
        if !may_suppress {
            return self.with_finally(head, consumed, |this| this.body(&node.body), exit);
        }
        let landing = self.in_try(|this| this.body(&node.body));
        exit(self);
        let after = std::mem::take(&mut self.frontier);
        self.frontier = landing.sources.clone();
        let mut reads = landing.values.clone();
        reads.extend(landing.failures.iter().copied());
        reads.extend(managers.iter().copied());
        let kept = self.temporary();
        exit(self);
        let mut writes = vec![kept];
        writes.extend(consumed);
        let suppressed = self.landing_step(head, "suppressed", reads, writes);
        self.frontier = Self::side(suppressed, 1);
        let onward = self.landing_step(head, "raised", vec![kept], vec![]);
        self.unhandled(&landing, onward, kept);
        self.frontier = after;
        self.frontier.extend(Self::side(suppressed, 0));
    }

    fn try_statement(&mut self, node: &'a ruff_python_ast::StmtTry) {
        let head = TextRange::at(node.start(), ruff_text_size::TextSize::new(3));
        self.begin(head, "try", &[]);
        self.step(head, "try", Vec::new(), Vec::new());
        if node.finalbody.is_empty() {
            return self.try_body(node, head);
        }
        self.with_finally(head, Vec::new(), |this| this.try_body(node, head), |this| this.body(&node.finalbody));
    }

    fn try_body(&mut self, node: &'a ruff_python_ast::StmtTry, head: TextRange) {
        let statement = self.statement;
        if node.handlers.is_empty() {
            return self.body(&node.body);
        }
        let landing = self.in_try(|this| this.body(&node.body));
        self.body(&node.orelse);
        let mut ends = std::mem::take(&mut self.frontier);
        self.statement = statement;
        let exception = self.local("exception");
        self.frontier = landing.sources.clone();
        let arrived = landing.values.iter().chain(&landing.failures).copied().collect();
        self.landing_step(head, "caught", arrived, vec![exception]);
        let mut takes_all = false;
        for handler in &node.handlers {
            let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
            let end = handler.name.as_ref().map(Ranged::end).or(handler.type_.as_ref().map(|one| one.end()));
            let lines = TextRange::new(handler.start(), end.unwrap_or(handler.start()));
            self.begin(lines, "except", &[lines]);
            let mut reads = handler.type_.as_deref().map(|one| self.value(one)).unwrap_or_default();
            reads.push(exception);
            let branch = self.step(lines, "except", reads, Vec::new());
            takes_all |= match handler.type_.as_deref() {
                None => true,
                Some(Expr::Name(name)) => matches!(name.id.as_str(), "Exception" | "BaseException"),
                Some(_) => false,
            };
            if let Some(name) = &handler.name {
                let writes = self.write_name(name);
                self.step(name.range, "as", vec![exception], writes);
            }
            self.body(&handler.body);
            ends.append(&mut self.frontier);
            self.frontier = if takes_all { Vec::new() } else { Self::side(branch, 1) };
        }
        if !takes_all {
            self.statement = statement;
            let kept = self.temporary();
            let unmatched = self.landing_step(head, "unmatched", vec![exception], vec![kept]);
            self.unhandled(&landing, unmatched, kept);
        }
        self.frontier = ends;
    }
}

/// The builtin containers that an augmented assignment changes.
fn changed_in_place(operator: ruff_python_ast::Operator) -> &'static [Items] {
    use ruff_python_ast::Operator;
    match operator {
        Operator::Add | Operator::Mult => &[Items::Sequence],
        Operator::BitOr => &[Items::Set, Items::Mapping],
        Operator::Sub | Operator::BitAnd | Operator::BitXor => &[Items::Set],
        _ => &[],
    }
}

/// A condition that never holds when a program runs.
fn is_for_type_checkers(test: &Expr) -> bool {
    match test {
        Expr::Name(name) => name.id == "TYPE_CHECKING",
        Expr::Attribute(attribute) => &attribute.attr == "TYPE_CHECKING",
        _ => false,
    }
}

/// Managers that end an exception.
fn suppresses(manager: &Expr) -> bool {
    let Expr::Call(call) = manager else { return false };
    let name = match call.func.as_ref() {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return false,
    };
    matches!(name, "suppress" | "raises" | "assertRaises" | "assertRaisesRegex" | "ExitStack" | "AsyncExitStack")
}
