//! The simple language that functions are lowered to: blocks of steps over slots.
//!
//! Every local variable has a slot, and so has every value of an expression. A step is done in the order in which Python does
//! it. What a step means depends on the types of its values, which `operation` decides; here is syntax only.

use std::collections::BTreeSet;

use crate::constant::Constant;

pub(crate) type Slot = usize;
pub(crate) type BlockId = usize;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Operation {
    Truth,
    Not,
    Unary(&'static str),
    Binary(&'static str),
    InPlace(&'static str),
    /// `==`, `!=`, `<`, `<=`, `>`, `>=`
    Compare(&'static str),
    /// Of an item in a container.
    Contains,
    Is,
    Attribute(String),
    SetAttribute(String),
    DeleteAttribute(String),
    Item,
    SetItem,
    DeleteItem,
    Slice,
    /// The callee, positional arguments, and the values of keywords. `*` and `**` stand in the layout for unpacked ones.
    Call {
        layout: Vec<String>,
    },
    Iterate,
    Next,
    /// Whether `Next` had nothing more to give.
    Exhausted,
    /// `str.format` of one value with a conversion and a specification.
    Format(char),
    /// The texts of an f-string, one after the other.
    Join,
    Tuple,
    List,
    Set,
    Dict,
    Append,
    Add,
    Put,
    Unpack(usize),
    UnpackRest(usize, usize),
    Part(usize),
    Import(String),
    ImportFrom(String),
    Global(String),
    /// A name that the function declares global.
    LoadGlobal(String),
    SetGlobal(String),
    DeleteGlobal(String),
    Yield,
    YieldFrom,
    Await,
    Enter,
    Exit,
    ExitRaised,
    /// Whether an exception is one of a class.
    Matches,
    Raise,
    RaiseFrom,
    /// The exception of a failing `assert`.
    AssertionError,
    Closure(String),
    Generator(String),
}

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Move {
        to: Slot,
        from: Slot,
    },
    Constant {
        to: Slot,
        value: Constant,
    },
    Do {
        to: Slot,
        operation: Operation,
        arguments: Vec<Slot>,
    },
    /// Fails if the local is not bound.
    Check(Slot),
    Unbind(Slot),
}

#[derive(Debug, Clone)]
pub(crate) enum End {
    Jump(BlockId),
    Branch { on: Slot, yes: BlockId, no: BlockId },
    Return(Slot),
    Raise(Slot),
}

#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// With the line of each.
    pub steps: Vec<(Step, u32)>,
    pub end: End,
    pub line: u32,
    /// Where exceptions go, and the slot that gets them.
    pub handler: Option<(BlockId, Slot)>,
    /// The exception that is being handled, which callees can ask for.
    pub handled: Option<Slot>,
    /// Whether a loop begins here.
    pub is_head: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub blocks: Vec<Block>,
    pub slots: usize,
    /// For each block the slots that are read before they are written.
    pub live: Vec<Vec<bool>>,
    /// The functions whose bodies stand in the place of calls of them.
    pub looked_into: BTreeSet<String>,
}

impl Block {
    fn reads_and_writes(&self, mut visit: impl FnMut(&[Slot], Option<Slot>)) {
        match &self.end {
            End::Jump(_) => {}
            End::Branch { on, .. } => visit(&[*on], None),
            End::Return(slot) | End::Raise(slot) => visit(&[*slot], None),
        }
        for (step, _) in self.steps.iter().rev() {
            match step {
                Step::Move { to, from } => visit(&[*from], Some(*to)),
                Step::Constant { to, .. } => visit(&[], Some(*to)),
                Step::Do { to, arguments, .. } => visit(arguments, Some(*to)),
                Step::Check(slot) => visit(&[*slot], None),
                Step::Unbind(slot) => visit(&[], Some(*slot)),
            }
        }
    }

    pub fn successors(&self) -> Vec<BlockId> {
        let mut all: Vec<BlockId> = match self.end {
            End::Jump(next) => vec![next],
            End::Branch { yes, no, .. } => vec![yes, no],
            End::Return(_) | End::Raise(_) => Vec::new(),
        };
        all.extend(self.handler.map(|(block, _)| block));
        all
    }
}

/// The slots that are live at the beginning of each block.
pub(crate) fn liveness(blocks: &[Block], slots: usize) -> Vec<Vec<bool>> {
    let mut live = vec![vec![false; slots]; blocks.len()];
    loop {
        let mut changed = false;
        for (id, block) in blocks.iter().enumerate().rev() {
            let mut now = vec![false; slots];
            for next in block.successors() {
                for (slot, is_live) in live[next].iter().enumerate() {
                    now[slot] |= is_live;
                }
            }
            block.reads_and_writes(|reads, write| {
                if let Some(write) = write {
                    now[write] = false;
                }
                reads.iter().for_each(|slot| now[*slot] = true);
            });
            // An exception may arrive before any step is done.
            if let Some((handler, caught)) = block.handler {
                for (slot, is_live) in live[handler].iter().enumerate() {
                    now[slot] |= *is_live && slot != caught;
                }
            }
            if let Some(handled) = block.handled {
                now[handled] = true;
            }
            if now != live[id] {
                live[id] = now;
                changed = true;
            }
        }
        if !changed {
            return live;
        }
    }
}
