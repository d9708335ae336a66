//! Both versions in lockstep: every path through the two is followed until both end or come back to the heads of loops.
//!
//! Each version goes on by itself as long as what it does is a function of its values. At an effect it waits for the other one,
//! which must have the same effect on the same values; both then get the same result. A condition that is not known makes
//! two paths of one.

use rustc_hash::FxHashMap;

use crate::facts::{Facts, Replaced};
use crate::frame::{Frame, Relation};
use crate::operation::{Context, Outcome};
use crate::program::{End, Operation, Program, Slot, Step};
use crate::result::{Construct, Reason, Rule, Unknown};
use crate::state::{Ended, Side};
use crate::term::Term;
use crate::types::Type;
use crate::unify::{Bijection, Comparison, objects};

/// How many steps of both versions are followed in all, and how many terms are made.
const MAX_STEPS: usize = 120_000;
const MAX_TERMS: usize = 60_000;
/// How often one version may go around a loop while the other does not, on one path.
const MAX_CROSSED: u32 = 48;

pub(crate) struct Walk<'a> {
    pub context: Context<'a>,
    pub programs: [&'a Program; 2],
    pub relations: Vec<Relation>,
    pub steps: usize,
}

/// Both versions at a point of a path.
#[derive(Debug, Clone)]
pub(crate) struct Joint {
    pub sides: [Side; 2],
    pub facts: Facts,
    pub frames: Vec<Frame>,
    crossed: u32,
}

/// Why a path does not close.
pub(crate) enum Stop {
    /// The relation of a loop was too strong, and is weaker now.
    Refine(usize),
    Fail(Unknown),
}

/// A local is read that may not be bound.
fn unbound() -> Unknown {
    Unknown { reason: Reason::Construct(Construct::Unbound), lines: (0, 0) }
}

/// Where a version waits.
enum Pause {
    Fork(Term),
    Effect { operation: Operation, arguments: Vec<Term>, to: Slot, class: Type },
    Ended(Ended),
    Head,
}

impl Joint {
    pub fn new(sides: [Side; 2]) -> Self {
        Joint { sides, facts: Facts::default(), frames: Vec::new(), crossed: 0 }
    }
}

impl Walk<'_> {
    /// Follows all paths from here.
    pub fn run(&mut self, start: Joint) -> Result<(), Stop> {
        let mut waiting = vec![start];
        while let Some(joint) = waiting.pop() {
            self.path(joint, &mut waiting)?;
        }
        Ok(())
    }

    fn path(&mut self, mut joint: Joint, waiting: &mut Vec<Joint>) -> Result<(), Stop> {
        loop {
            let first = self.advance(&mut joint, 0)?;
            let second = self.advance(&mut joint, 1)?;
            match (first, second) {
                (Pause::Fork(condition), _) | (_, Pause::Fork(condition)) => {
                    self.fork(joint, condition, waiting);
                    return Ok(());
                }
                (Pause::Head, Pause::Head) => {
                    let heads = [0, 1].map(|which| joint.sides[which].block);
                    if let Some(index) = joint.frames.iter().rposition(|frame| frame.heads == heads) {
                        return self.back(joint, index);
                    }
                    let is_open =
                        [0, 1].map(|which| joint.frames.iter().any(|frame| frame.heads[which] == heads[which]));
                    match is_open {
                        [true, false] => self.cross(&mut joint, 1)?,
                        [false, true] => self.cross(&mut joint, 0)?,
                        _ => return self.enter_loop(joint),
                    }
                }
                (Pause::Head, _) => self.cross(&mut joint, 0)?,
                (_, Pause::Head) => self.cross(&mut joint, 1)?,
                (Pause::Ended(first), Pause::Ended(second)) => {
                    let values = match (first, second) {
                        (Ended::Returned(a), Ended::Returned(b)) | (Ended::Raised(a), Ended::Raised(b)) => [a, b],
                        _ => return Err(self.fail(&joint, Reason::Ends)),
                    };
                    let [a, b] = values;
                    if self.shows_itself(&joint, &[a]) {
                        return Err(self.fail(&joint, Reason::Results));
                    }
                    match self.compare(&joint, &[a], &[b]) {
                        Comparison::Same(_) => {}
                        Comparison::Unclear(condition) => self.fork(joint, condition, waiting),
                        Comparison::Other => return Err(self.fail(&joint, Reason::Results)),
                    }
                    return Ok(());
                }
                (
                    Pause::Effect { operation, arguments, to, class },
                    Pause::Effect { operation: other, arguments: others, to: also_to, class: other_class },
                ) => {
                    if operation != other || arguments.len() != others.len() {
                        return Err(self.fail(&joint, Reason::Operations));
                    }
                    // The last argument is what is being handled.
                    if let (Operation::Call { layout }, [callee, given @ .., _]) = (&operation, &arguments[..])
                        && self.is_restricted()
                        && *callee == self.context.itself()
                    {
                        if !self.context.is_induction(layout, given, joint.sides[0].heap) {
                            return Err(self.fail(&joint, Reason::Operations));
                        }
                        if others[0] != *callee || self.shows_itself(&joint, &arguments[1..]) {
                            return Err(self.fail(&joint, Reason::Operations));
                        }
                    } else if self.shows_itself(&joint, &arguments) {
                        return Err(self.fail(&joint, Reason::Operations));
                    }
                    match self.compare(&joint, &arguments, &others) {
                        Comparison::Same(bijection) => {
                            let class = if class == other_class { class } else { Type::Any };
                            self.effect(&mut joint, &operation, &bijection, [to, also_to], class, waiting);
                            if matches!(operation, Operation::Raise | Operation::RaiseFrom) {
                                return Ok(());
                            }
                        }
                        Comparison::Unclear(condition) => {
                            self.fork(joint, condition, waiting);
                            return Ok(());
                        }
                        Comparison::Other => return Err(self.fail(&joint, Reason::Operations)),
                    }
                }
                (Pause::Ended(_), Pause::Effect { .. }) | (Pause::Effect { .. }, Pause::Ended(_)) => {
                    return Err(self.fail(&joint, Reason::Ends));
                }
            }
        }
    }

    /// The same effect in both versions. It may raise, it may change all that is shared, and gives one result.
    fn effect(
        &mut self,
        joint: &mut Joint,
        operation: &Operation,
        bijection: &Bijection,
        to: [Slot; 2],
        class: Type,
        waiting: &mut Vec<Joint>,
    ) {
        self.share(joint, bijection);
        let heap = self.context.terms.symbol(Type::Heap(false));
        joint.sides.iter_mut().for_each(|side| side.heap = heap);
        let only_raises = matches!(operation, Operation::Raise | Operation::RaiseFrom);
        let handlers = [0, 1].map(|which| self.programs[which].blocks[joint.sides[which].block].handler);
        if only_raises || handlers.iter().any(Option::is_some) {
            let exception = self.context.terms.symbol(Type::Any);
            let mut raised = joint.clone();
            for (which, side) in raised.sides.iter_mut().enumerate() {
                raise(self.programs[which], side, exception);
            }
            waiting.push(raised);
        }
        let result = self.context.terms.symbol(class);
        for (side, to) in joint.sides.iter_mut().zip(to) {
            side.slots[to] = result;
            side.step += 1;
        }
    }

    /// Objects that both versions made and now show to others become one object that both know by the same name.
    pub fn share(&mut self, joint: &mut Joint, bijection: &Bijection) {
        if bijection.is_empty() {
            return;
        }
        self.context.rules.insert(Rule::OwnContainers);
        let mut replaced = [Replaced::new(), Replaced::new()];
        for (first, second) in bijection {
            let class =
                joint.sides[0].object(&self.context.terms, *first).map_or(Type::Any, |object| object.kind.class());
            let symbol = self.context.terms.symbol(class);
            replaced[0].insert(*first, symbol);
            replaced[1].insert(*second, symbol);
        }
        // Frames keep the object: what was a version's own at the head of a loop and is not any more has changed.
        for (which, replaced) in replaced.iter().enumerate() {
            joint.sides[which].replace(&mut self.context.terms, replaced);
        }
    }

    fn fork(&mut self, joint: Joint, condition: Term, waiting: &mut Vec<Joint>) {
        self.context.rules.insert(Rule::Branches);
        for value in [false, true] {
            let mut one = joint.clone();
            let Some(replaced) = one.facts.assume(&mut self.context.terms, condition, value) else { continue };
            if !replaced.is_empty() {
                for (which, side) in one.sides.iter_mut().enumerate() {
                    side.replace(&mut self.context.terms, &replaced);
                    for frame in &mut one.frames {
                        frame.replace(&mut self.context.terms, which, &replaced);
                    }
                }
            }
            waiting.push(one);
        }
    }

    fn cross(&mut self, joint: &mut Joint, which: usize) -> Result<(), Stop> {
        joint.crossed += 1;
        joint.sides[which].crosses = true;
        if joint.crossed > MAX_CROSSED { Err(self.fail(joint, Reason::Ends)) } else { Ok(()) }
    }

    pub fn fail(&self, joint: &Joint, reason: Reason) -> Stop {
        let line = |which: usize| {
            let side = &joint.sides[which];
            let block = &self.programs[which].blocks[side.block];
            block.steps.get(side.step).or(block.steps.last()).map_or(block.line, |(_, line)| *line)
        };
        Stop::Fail(Unknown { reason, lines: (line(0), line(1)) })
    }

    /// One version goes on until it has to wait.
    fn advance(&mut self, joint: &mut Joint, which: usize) -> Result<Pause, Stop> {
        let program = self.programs[which];
        loop {
            self.steps += 1;
            if self.steps > MAX_STEPS || self.context.terms.len() > MAX_TERMS || self.context.terms.is_too_deep() {
                return Err(self.fail(joint, Reason::Budget));
            }
            let Joint { sides, facts, .. } = joint;
            let side = &mut sides[which];
            if let Some(ended) = side.ended {
                return Ok(Pause::Ended(ended));
            }
            let block = &program.blocks[side.block];
            if block.is_head && side.step == 0 && !side.crosses {
                return Ok(Pause::Head);
            }
            let Some((step, _)) = block.steps.get(side.step) else {
                match block.end {
                    End::Jump(next) => side.enter(next),
                    End::Branch { on, yes, no } => {
                        let condition = side.slots[on];
                        match facts.decide(&mut self.context.terms, condition) {
                            Some(true) => side.enter(yes),
                            Some(false) => side.enter(no),
                            None => return Ok(Pause::Fork(condition)),
                        }
                    }
                    End::Return(slot) => side.ended = Some(Ended::Returned(side.slots[slot])),
                    End::Raise(slot) => {
                        let exception = side.slots[slot];
                        raise(program, side, exception);
                    }
                }
                continue;
            };
            match step {
                Step::Move { to, from } => side.slots[*to] = side.slots[*from],
                Step::Constant { to, value } => side.slots[*to] = self.context.terms.constant(value.clone()),
                Step::Unbind(slot) => side.slots[*slot] = self.context.terms.unbound(),
                Step::Check(slot) => {
                    let value = side.slots[*slot];
                    let terms = &mut self.context.terms;
                    let is_unbound = if terms.is_unbound(value) {
                        terms.bool(true)
                    } else if *terms.class(value) == Type::MaybeUnbound {
                        terms.pure("is unbound", &[value], Type::Bool)
                    } else {
                        terms.bool(false)
                    };
                    match facts.decide(terms, is_unbound) {
                        Some(false) => {}
                        // Which name it is, and where it is read, makes other errors of it.
                        Some(true) => return Err(Stop::Fail(unbound())),
                        None => return Ok(Pause::Fork(is_unbound)),
                    }
                }
                Step::Do { to, operation, arguments } => {
                    let values: Vec<Term> = arguments.iter().map(|slot| side.slots[*slot]).collect();
                    match self.context.evaluate(which, side, facts, operation, &values) {
                        Outcome::Value(value) => side.slots[*to] = value,
                        Outcome::Raise(exception) => {
                            raise(program, side, exception);
                            continue;
                        }
                        Outcome::Fork(condition) => return Ok(Pause::Fork(condition)),
                        Outcome::Refuse(reason) => return Err(self.fail(joint, reason)),
                        Outcome::Effect(class) => {
                            let handled = block.handled.map(|slot| side.slots[slot]);
                            let (operation, mut arguments) = self.context.canonical(operation, values);
                            // Callees can ask which exception is being handled.
                            arguments.push(handled.unwrap_or_else(|| self.context.terms.none()));
                            return Ok(Pause::Effect { operation, arguments, to: *to, class });
                        }
                    }
                }
            }
            side.step += 1;
        }
    }

    /// Whether the proof is for some types of arguments only.
    fn is_restricted(&self) -> bool {
        self.context.parameters.iter().any(|class| !matches!(class, Type::Any | Type::Tuple))
    }

    /// Whether others get to know the function itself, which they may call on arguments for which nothing is proved.
    fn shows_itself(&mut self, joint: &Joint, values: &[Term]) -> bool {
        if !self.is_restricted() || !self.context.rules.contains(&Rule::Recursion) {
            return false;
        }
        let itself = self.context.itself();
        let side = &joint.sides[0];
        let mut found = Vec::new();
        let mut all = values.to_vec();
        all.push(side.heap);
        all.iter().for_each(|value| objects(&self.context.terms, *value, &mut found));
        let mut index = 0;
        while let Some(object) = found.get(index).copied() {
            index += 1;
            let fields =
                side.object(&self.context.terms, object).map(|object| object.fields.clone()).unwrap_or_default();
            fields.iter().for_each(|field| objects(&self.context.terms, *field, &mut found));
            all.extend(fields);
        }
        all.iter().any(|value| self.context.terms.mentions(*value, itself))
    }

    /// Whether values of both versions are equal on this path, and the state that everybody sees is, too.
    fn compare(&mut self, joint: &Joint, first: &[Term], second: &[Term]) -> Comparison {
        let mut memo = FxHashMap::default();
        let terms = &mut self.context.terms;
        let mut both = [first.to_vec(), second.to_vec()];
        for (which, values) in both.iter_mut().enumerate() {
            values.push(joint.sides[which].heap);
            for value in values {
                *value = terms.decided(*value, &joint.facts, &mut memo);
            }
        }
        let [first, second] = &both;
        crate::unify::compare(terms, &joint.sides, first, second)
    }
}

pub(crate) fn raise(program: &Program, side: &mut Side, exception: Term) {
    match program.blocks[side.block].handler {
        Some((handler, caught)) => {
            side.slots[caught] = exception;
            side.enter(handler);
        }
        None => side.ended = Some(Ended::Raised(exception)),
    }
}

impl Context<'_> {
    /// One name for operations that are the same.
    fn canonical(&self, operation: &Operation, arguments: Vec<Term>) -> (Operation, Vec<Term>) {
        if let (Operation::Call { layout }, [callee, value]) = (operation, &arguments[..])
            && layout.iter().all(String::is_empty)
            && self.terms.as_builtin(*callee) == Some("bool")
        {
            return (Operation::Truth, vec![*value]);
        }
        // A number or a text on the left of `==` leaves the answer to the other operand.
        if let (Operation::Compare("==" | "!="), [left, right]) = (operation, &arguments[..])
            && self.terms.as_constant(*left).is_some_and(|_| self.terms.class(*left).is_plain())
            // Subclasses of `int` are none of `bool`.
            && *self.terms.class(*left) != Type::Bool
            && !self.terms.class(*right).is_exact()
        {
            return (operation.clone(), vec![*right, *left]);
        }
        (operation.clone(), arguments)
    }
}
