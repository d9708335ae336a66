//! A function's tree -> blocks of steps.
//!
//! `statements` has control flow and exceptions, `calls` what a call looks into, `expressions` the order of evaluation, `targets` what binds. What is not lowered
//! is refused with its place.

mod calls;
mod expressions;
mod statements;
mod targets;

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};
use twincell_syntax::Side;
use twincell_syntax::parse::Lines;
use twincell_syntax::scopes::Bindings;

use crate::bindings::counts;
use crate::constant::Constant;
use crate::names::Names;
use crate::program::{Block, BlockId, End, Operation, Program, Slot, Step, liveness};
use crate::refused::names_exceptions;
use crate::result::{Construct, Reason};

/// What is not lowered, and on which line.
pub(crate) type Refusal = (Reason, u32);
pub(crate) type Lowered<T> = Result<T, Refusal>;

/// The bound of blocks: what a `finally` is copied to counts each time.
const MAX_BLOCKS: usize = 4000;

pub(crate) struct Lowering<'a> {
    lines: Lines<'a>,
    bindings: Bindings,
    /// How often each name is bound, twice for a binding in a loop.
    bound: BTreeMap<String, usize>,
    locals: BTreeMap<String, Slot>,
    parameters: BTreeSet<Slot>,
    /// The targets of comprehensions around the current expression.
    comprehensions: Vec<BTreeMap<String, Slot>>,
    blocks: Vec<Block>,
    slots: usize,
    current: BlockId,
    line: u32,
    /// The loops, handlers and clean-ups around the current statement, outermost first.
    around: Vec<Around<'a>>,
    names: &'a dyn Names,
    side: Side,
    own_name: &'a str,
    /// The calls that are looked into around the current place, outermost first.
    inside: Vec<Inside<'a>>,
    /// Whether a handler so far gives its exception a name.
    names_exceptions: bool,
    /// The functions that were looked into.
    looked_into: BTreeSet<String>,
}

/// A call of a function whose body stands in its place.
struct Inside<'a> {
    name: &'a str,
    /// What gets the result, and where the caller goes on.
    result: Slot,
    after: BlockId,
    /// How much was around the call.
    depth: usize,
}

#[derive(Clone)]
enum Around<'a> {
    Loop {
        next: BlockId,
        after: BlockId,
    },
    Handler {
        block: BlockId,
        caught: Slot,
    },
    /// The body of an `except` clause, with the name that ends with it.
    Handling {
        caught: Slot,
        name: Option<Slot>,
    },
    Finally {
        body: &'a [Stmt],
    },
    With {
        manager: Slot,
    },
}

/// Lowers a function of a text.
pub(crate) fn lower<'a>(
    text: &'a str,
    function: &'a StmtFunctionDef,
    names: &'a dyn Names,
    side: Side,
) -> Lowered<Program> {
    let bindings = Bindings::of_function(&function.parameters, None, &function.body);
    let mut lowering = Lowering {
        lines: Lines::new(text),
        bindings,
        bound: counts(&function.body),
        locals: BTreeMap::new(),
        parameters: BTreeSet::new(),
        comprehensions: Vec::new(),
        blocks: Vec::new(),
        slots: 0,
        current: 0,
        line: 1,
        around: Vec::new(),
        names,
        side,
        own_name: function.name.as_str(),
        inside: Vec::new(),
        names_exceptions: names_exceptions(function),
        looked_into: BTreeSet::new(),
    };
    // The slots of parameters come first.
    for parameter in function.parameters.iter() {
        let slot = lowering.slot();
        lowering.locals.insert(parameter.name().to_string(), slot);
        lowering.parameters.insert(slot);
    }
    lowering.current = lowering.block();
    lowering.body(&function.body)?;
    let none = lowering.constant(Constant::None);
    lowering.end(End::Return(none));
    let live = liveness(&lowering.blocks, lowering.slots);
    Ok(Program { blocks: lowering.blocks, slots: lowering.slots, live, looked_into: lowering.looked_into })
}

impl<'a> Lowering<'a> {
    fn refuse<T>(&self, construct: Construct) -> Lowered<T> {
        Err((Reason::Construct(construct), self.line))
    }

    fn slot(&mut self) -> Slot {
        self.slots += 1;
        self.slots - 1
    }

    /// A new block under the handlers of the current place.
    fn block(&mut self) -> BlockId {
        let mut handler = None;
        let mut handled = None;
        for around in &self.around {
            match around {
                Around::Handler { block, caught } => handler = Some((*block, *caught)),
                Around::Handling { caught, .. } => handled = Some(*caught),
                _ => {}
            }
        }
        self.blocks.push(Block {
            steps: Vec::new(),
            end: End::Jump(0),
            line: self.line,
            handler,
            handled,
            is_head: false,
        });
        self.blocks.len() - 1
    }

    /// Goes on in a new block under the handlers of the current place.
    fn continue_in_new_block(&mut self) {
        let next = self.block();
        self.end(End::Jump(next));
        self.current = next;
    }

    fn end(&mut self, end: End) {
        self.blocks[self.current].end = end;
    }

    fn step(&mut self, step: Step) {
        let line = self.line;
        self.blocks[self.current].steps.push((step, line));
    }

    fn constant(&mut self, value: Constant) -> Slot {
        let to = self.slot();
        self.step(Step::Constant { to, value });
        to
    }

    fn operate(&mut self, operation: Operation, arguments: Vec<Slot>) -> Slot {
        let to = self.slot();
        self.step(Step::Do { to, operation, arguments });
        to
    }

    fn truth(&mut self, value: Slot) -> Slot {
        self.operate(Operation::Truth, vec![value])
    }

    /// The line of a place of the function itself. What is looked into is on the line of its call.
    fn at(&mut self, range: TextRange) {
        if self.inside.is_empty() {
            self.line = self.lines.line(range.start());
        }
    }

    /// The slot of a local name: that of the innermost comprehension that binds it, or that of the function.
    fn local(&mut self, name: &str) -> Option<Slot> {
        if let Some(slot) = self.comprehensions.iter().rev().find_map(|scope| scope.get(name)) {
            return Some(*slot);
        }
        if !self.bindings.is_local(name) {
            return None;
        }
        if let Some(slot) = self.locals.get(name) {
            return Some(*slot);
        }
        let slot = self.slot();
        self.locals.insert(name.to_string(), slot);
        Some(slot)
    }

    fn read_name(&mut self, name: &str) -> Slot {
        match self.local(name) {
            Some(slot) => {
                self.step(Step::Check(slot));
                let to = self.slot();
                self.step(Step::Move { to, from: slot });
                to
            }
            None if self.bindings.globals.contains(name) => {
                self.operate(Operation::LoadGlobal(name.to_string()), Vec::new())
            }
            None => self.operate(Operation::Global(name.to_string()), Vec::new()),
        }
    }

    fn is_too_big(&self) -> bool {
        self.blocks.len() > MAX_BLOCKS
    }
}

/// Whether an expression has no effect and cannot fail, apart from names that are not bound.
fn is_atom(expr: &Expr) -> bool {
    matches!(expr, Expr::Name(_)) || expr.is_literal_expr()
}

fn range_of(node: &impl Ranged) -> TextRange {
    node.range()
}
