//! Statements: control flow, exceptions, and what is done on the way out.

use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtTry, StmtWith};

use super::expressions::binary;
use super::{Around, Lowered, Lowering, range_of};
use crate::program::{BlockId, End, Operation, Slot, Step};
use crate::result::{Construct, Reason};

impl<'a> Lowering<'a> {
    pub(super) fn body(&mut self, body: &'a [Stmt]) -> Lowered<()> {
        for statement in body {
            self.statement(statement)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &'a Stmt) -> Lowered<()> {
        self.at(range_of(statement));
        if self.is_too_big() {
            return Err((Reason::Budget, self.line));
        }
        match statement {
            Stmt::Pass(_) | Stmt::Global(_) => {}
            Stmt::Nonlocal(_) => return self.refuse(Construct::Nonlocal),
            Stmt::ClassDef(_) => return self.refuse(Construct::Class),
            Stmt::Match(_) => return self.refuse(Construct::Match),
            Stmt::TypeAlias(_) => return self.refuse(Construct::TypeAlias),
            Stmt::IpyEscapeCommand(_) => return self.refuse(Construct::Unparsed),
            Stmt::FunctionDef(node) => self.nested(node)?,
            Stmt::Import(_) | Stmt::ImportFrom(_) => self.import(statement)?,
            Stmt::Expr(node) => {
                if !node.value.is_literal_expr() {
                    self.value(&node.value)?;
                }
            }
            Stmt::Assign(node) => {
                let value = self.value(&node.value)?;
                for target in &node.targets {
                    self.assign(target, value)?;
                }
            }
            Stmt::AnnAssign(node) => {
                if let Some(value) = &node.value {
                    let value = self.value(value)?;
                    self.assign(&node.target, value)?;
                } else if !node.target.is_name_expr() {
                    // The object of the target is evaluated.
                    return self.refuse(Construct::Unparsed);
                }
            }
            Stmt::AugAssign(node) => self.augment(&node.target, &node.value, binary(node.op))?,
            Stmt::Delete(node) => {
                for target in &node.targets {
                    self.delete(target)?;
                }
            }
            Stmt::Return(node) => {
                let value = match &node.value {
                    Some(value) => self.value(value)?,
                    None => self.none(),
                };
                let depth = self.inside.last().map_or(0, |call| call.depth);
                self.leave(depth, |this| {
                    this.give_back(value);
                    Ok(())
                })?;
            }
            Stmt::Raise(node) => self.raise(node.exc.as_deref(), node.cause.as_deref())?,
            Stmt::Assert(node) => {
                let [holds, fails] = [self.block(), self.block()];
                self.condition(&node.test, holds, fails)?;
                self.current = fails;
                let arguments = match &node.msg {
                    Some(message) => vec![self.value(message)?],
                    None => Vec::new(),
                };
                let exception = self.operate(Operation::AssertionError, arguments);
                self.end(End::Raise(exception));
                self.current = holds;
            }
            Stmt::If(node) => {
                let after = self.block();
                let first = (Some(&*node.test), &node.body);
                let rest = node.elif_else_clauses.iter().map(|clause| (clause.test.as_ref(), &clause.body));
                for (test, body) in std::iter::once(first).chain(rest) {
                    let Some(test) = test else {
                        self.body(body)?;
                        break;
                    };
                    let [yes, no] = [self.block(), self.block()];
                    self.condition(test, yes, no)?;
                    self.current = yes;
                    self.body(body)?;
                    self.end(End::Jump(after));
                    self.current = no;
                }
                self.end(End::Jump(after));
                self.current = after;
            }
            Stmt::While(node) => {
                let [head, body, done, after] = [self.block(), self.block(), self.block(), self.block()];
                self.end(End::Jump(head));
                self.blocks[head].is_head = true;
                self.current = head;
                self.condition(&node.test, body, done)?;
                self.around.push(Around::Loop { next: head, after });
                self.current = body;
                self.body(&node.body)?;
                self.end(End::Jump(head));
                self.around.pop();
                self.current = done;
                self.body(&node.orelse)?;
                self.end(End::Jump(after));
                self.current = after;
            }
            Stmt::For(node) => {
                if node.is_async {
                    return self.refuse(Construct::AsyncLoop);
                }
                let iterable = self.value(&node.iter)?;
                let iterator = self.operate(Operation::Iterate, vec![iterable]);
                let [head, done, after] = [self.block(), self.block(), self.block()];
                let item = self.next(head, iterator, done);
                self.around.push(Around::Loop { next: head, after });
                self.assign(&node.target, item)?;
                self.body(&node.body)?;
                self.end(End::Jump(head));
                self.around.pop();
                self.current = done;
                self.body(&node.orelse)?;
                self.end(End::Jump(after));
                self.current = after;
            }
            Stmt::Break(_) | Stmt::Continue(_) => {
                let is_break = matches!(statement, Stmt::Break(_));
                let Some(depth) = self.around.iter().rposition(|one| matches!(one, Around::Loop { .. })) else {
                    return self.refuse(Construct::Unparsed);
                };
                let Around::Loop { next, after } = self.around[depth] else { return Ok(()) };
                self.leave(depth + 1, |this| {
                    this.end(End::Jump(if is_break { after } else { next }));
                    Ok(())
                })?;
            }
            Stmt::With(node) => {
                if node.is_async {
                    return self.refuse(Construct::AsyncWith);
                }
                self.with(node, 0)?;
            }
            Stmt::Try(node) => {
                if node.is_star {
                    return self.refuse(Construct::ExceptStar);
                }
                self.try_statement(node)?;
            }
        }
        Ok(())
    }

    /// The head of a loop over an iterator: goes on with the item in a new block, or at `done`.
    pub(super) fn next(&mut self, head: BlockId, iterator: Slot, done: BlockId) -> Slot {
        self.end(End::Jump(head));
        self.blocks[head].is_head = true;
        self.current = head;
        let item = self.operate(Operation::Next, vec![iterator]);
        let is_over = self.operate(Operation::Exhausted, vec![item]);
        let body = self.block();
        self.end(End::Branch { on: is_over, yes: done, no: body });
        self.current = body;
        item
    }

    /// Leaves what is around, down to a depth: clean-ups run, and then `finish`. What follows is not reached.
    fn leave(&mut self, depth: usize, finish: impl FnOnce(&mut Self) -> Lowered<()>) -> Lowered<()> {
        let saved = self.around.clone();
        while self.around.len() > depth {
            match self.around.pop() {
                Some(Around::Finally { body }) => {
                    self.continue_in_new_block();
                    self.body(body)?;
                }
                Some(Around::With { manager }) => {
                    self.continue_in_new_block();
                    self.operate(Operation::Exit, vec![manager]);
                }
                Some(Around::Handling { name, .. }) => {
                    self.continue_in_new_block();
                    if let Some(name) = name {
                        self.step(Step::Unbind(name));
                    }
                }
                Some(Around::Handler { .. }) => self.continue_in_new_block(),
                Some(Around::Loop { .. }) | None => {}
            }
            if self.is_too_big() {
                return Err((Reason::Budget, self.line));
            }
        }
        finish(self)?;
        self.around = saved;
        self.current = self.block();
        Ok(())
    }

    fn raise(&mut self, exception: Option<&'a Expr>, cause: Option<&'a Expr>) -> Lowered<()> {
        let Some(exception) = exception else {
            let Some(caught) = self.blocks[self.current].handled else {
                // A caller may handle an exception, which this raises again.
                return self.refuse(Construct::Frames);
            };
            self.end(End::Raise(caught));
            self.current = self.block();
            return Ok(());
        };
        let exception = self.value(exception)?;
        let raised = match cause {
            None => self.operate(Operation::Raise, vec![exception]),
            Some(cause) => {
                let cause = self.value(cause)?;
                self.operate(Operation::RaiseFrom, vec![exception, cause])
            }
        };
        self.end(End::Raise(raised));
        self.current = self.block();
        Ok(())
    }

    fn with(&mut self, node: &'a StmtWith, index: usize) -> Lowered<()> {
        let Some(item) = node.items.get(index) else { return self.body(&node.body) };
        let manager = self.value(&item.context_expr)?;
        let entered = self.operate(Operation::Enter, vec![manager]);
        let [landing, after] = [self.block(), self.block()];
        let caught = self.slot();
        self.around.push(Around::With { manager });
        self.around.push(Around::Handler { block: landing, caught });
        self.continue_in_new_block();
        if let Some(target) = &item.optional_vars {
            self.assign(target, entered)?;
        }
        self.with(node, index + 1)?;
        self.around.pop();
        self.around.pop();
        self.continue_in_new_block();
        self.operate(Operation::Exit, vec![manager]);
        self.end(End::Jump(after));
        // An exception arrives, which the manager may keep.
        self.current = landing;
        self.around.push(Around::Handling { caught, name: None });
        self.continue_in_new_block();
        let answer = self.operate(Operation::ExitRaised, vec![manager, caught]);
        let is_kept = self.truth(answer);
        let again = self.block();
        self.around.pop();
        self.end(End::Branch { on: is_kept, yes: after, no: again });
        self.current = again;
        self.end(End::Raise(caught));
        self.current = after;
        Ok(())
    }

    fn try_statement(&mut self, node: &'a StmtTry) -> Lowered<()> {
        if node.finalbody.is_empty() {
            return self.try_body(node);
        }
        let [landing, after] = [self.block(), self.block()];
        let caught = self.slot();
        self.around.push(Around::Finally { body: &node.finalbody });
        self.around.push(Around::Handler { block: landing, caught });
        self.continue_in_new_block();
        self.try_body(node)?;
        self.around.pop();
        self.around.pop();
        self.continue_in_new_block();
        self.body(&node.finalbody)?;
        self.end(End::Jump(after));
        self.current = landing;
        self.around.push(Around::Handling { caught, name: None });
        self.continue_in_new_block();
        self.body(&node.finalbody)?;
        self.end(End::Raise(caught));
        self.around.pop();
        self.current = after;
        Ok(())
    }

    fn try_body(&mut self, node: &'a StmtTry) -> Lowered<()> {
        if node.handlers.is_empty() {
            self.body(&node.body)?;
            return self.body(&node.orelse);
        }
        let [landing, after] = [self.block(), self.block()];
        let caught = self.slot();
        self.around.push(Around::Handler { block: landing, caught });
        self.continue_in_new_block();
        self.body(&node.body)?;
        self.around.pop();
        self.continue_in_new_block();
        self.body(&node.orelse)?;
        self.end(End::Jump(after));
        self.current = landing;
        for handler in &node.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            self.at(handler.range);
            let name = handler.name.as_ref().map(|name| name.as_str());
            let slot = match name {
                Some(name) => match self.local(name) {
                    Some(slot) => Some(slot),
                    None => return self.refuse(Construct::Nonlocal),
                },
                None => None,
            };
            self.around.push(Around::Handling { caught, name: slot });
            let [yes, no] = [self.block(), self.block()];
            match handler.type_.as_deref() {
                Some(class) => {
                    self.continue_in_new_block();
                    let class = self.value(class)?;
                    let is_match = self.operate(Operation::Matches, vec![caught, class]);
                    self.end(End::Branch { on: is_match, yes, no });
                }
                None => self.end(End::Jump(yes)),
            }
            // The body of a clause unbinds the name however it ends, also by an exception.
            self.current = yes;
            if let Some(slot) = slot {
                self.step(Step::Move { to: slot, from: caught });
            }
            let failing = slot.map(|_| (self.slot(), self.block()));
            if let Some((raised, block)) = failing {
                self.around.push(Around::Handler { block, caught: raised });
                self.continue_in_new_block();
            }
            self.body(&handler.body)?;
            if failing.is_some() {
                self.around.pop();
            }
            self.around.pop();
            self.continue_in_new_block();
            if let Some(slot) = slot {
                self.step(Step::Unbind(slot));
            }
            self.end(End::Jump(after));
            if let (Some((raised, block)), Some(slot)) = (failing, slot) {
                self.current = block;
                self.step(Step::Unbind(slot));
                self.end(End::Raise(raised));
            }
            self.current = no;
        }
        self.end(End::Raise(caught));
        self.current = after;
        Ok(())
    }
}
