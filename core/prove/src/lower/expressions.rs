//! Expressions: their operations in the order of evaluation.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::comparable::ComparableExpr;
use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{
    BoolOp, CmpOp, Comprehension, Expr, ExprCall, FStringPart, InterpolatedStringElement, Number, Operator, Parameters,
    UnaryOp,
};
use twincell_syntax::scopes::Bindings;

use super::{Lowered, Lowering, is_atom};
use crate::constant::Constant;
use crate::program::{BlockId, End, Operation, Slot, Step};
use crate::result::Construct;

/// Builtins that look into the frame of who calls them.
const FRAMES: &[&str] = &["locals", "vars", "dir", "eval", "exec", "super", "globals", "__class__", "breakpoint"];

/// Above so many items, Python builds a dictionary in several steps.
const MAX_ITEMS_AT_ONCE: usize = 15;

pub(super) fn binary(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "+",
        Operator::Sub => "-",
        Operator::Mult => "*",
        Operator::MatMult => "@",
        Operator::Div => "/",
        Operator::Mod => "%",
        Operator::Pow => "**",
        Operator::LShift => "<<",
        Operator::RShift => ">>",
        Operator::BitOr => "|",
        Operator::BitXor => "^",
        Operator::BitAnd => "&",
        Operator::FloorDiv => "//",
    }
}

impl<'a> Lowering<'a> {
    pub(super) fn value(&mut self, expr: &'a Expr) -> Lowered<Slot> {
        Ok(match expr {
            Expr::Name(name) => {
                if FRAMES.contains(&name.id.as_str())
                    && self.local(&name.id).is_none()
                    && !self.is_plain_super(&name.id)
                {
                    return self.refuse(Construct::Frames);
                }
                self.read_name(&name.id)
            }
            Expr::NumberLiteral(node) => {
                let value = match &node.value {
                    Number::Int(value) => match value.to_string().parse::<i128>() {
                        Ok(value) => Constant::Int(value),
                        Err(_) => Constant::Big(value.to_string()),
                    },
                    Number::Float(value) => Constant::Float(value.to_bits()),
                    Number::Complex { imag, .. } => Constant::Complex(imag.to_bits()),
                };
                self.constant(value)
            }
            Expr::StringLiteral(node) => self.constant(Constant::Text(node.value.to_str().to_string())),
            Expr::BytesLiteral(node) => self.constant(Constant::Bytes(node.value.bytes().collect())),
            Expr::BooleanLiteral(node) => self.constant(Constant::Bool(node.value)),
            Expr::NoneLiteral(_) => self.none(),
            Expr::EllipsisLiteral(_) => self.constant(Constant::Ellipsis),
            Expr::Attribute(node) => {
                let object = self.value(&node.value)?;
                self.operate(Operation::Attribute(node.attr.to_string()), vec![object])
            }
            Expr::Subscript(node) => {
                let object = self.value(&node.value)?;
                let key = self.value(&node.slice)?;
                self.operate(Operation::Item, vec![object, key])
            }
            Expr::Slice(node) => {
                let mut arguments = Vec::new();
                for part in [&node.lower, &node.upper, &node.step] {
                    arguments.push(match part {
                        Some(part) => self.value(part)?,
                        None => self.none(),
                    });
                }
                self.operate(Operation::Slice, arguments)
            }
            Expr::BinOp(node) if let Some(formatted) = self.percent(node)? => formatted,
            Expr::BinOp(node) => {
                let left = self.value(&node.left)?;
                let right = self.value(&node.right)?;
                self.operate(Operation::Binary(binary(node.op)), vec![left, right])
            }
            Expr::UnaryOp(node) => match node.op {
                UnaryOp::Not => {
                    let value = self.value(&node.operand)?;
                    let truth = self.truth(value);
                    self.operate(Operation::Not, vec![truth])
                }
                UnaryOp::USub => self.unary("-", &node.operand)?,
                UnaryOp::UAdd => self.unary("+", &node.operand)?,
                UnaryOp::Invert => self.unary("~", &node.operand)?,
            },
            Expr::BoolOp(_) => {
                let result = self.slot();
                let after = self.block();
                self.either(expr, result, after)?;
                self.current = after;
                result
            }
            Expr::If(node) => {
                let result = self.slot();
                let [yes, no, after] = [self.block(), self.block(), self.block()];
                self.condition(&node.test, yes, no)?;
                for (block, value) in [(yes, &node.body), (no, &node.orelse)] {
                    self.current = block;
                    let value = self.value(value)?;
                    self.step(Step::Move { to: result, from: value });
                    self.end(End::Jump(after));
                }
                self.current = after;
                result
            }
            Expr::Compare(node) => self.comparison(&node.left, &node.ops, &node.comparators)?,
            Expr::Named(node) => {
                let value = self.value(&node.value)?;
                self.assign(&node.target, value)?;
                value
            }
            Expr::Tuple(node) => self.collection(Operation::Tuple, &node.elts)?,
            Expr::List(node) => self.collection(Operation::List, &node.elts)?,
            Expr::Set(node) => self.collection(Operation::Set, &node.elts)?,
            Expr::Dict(node) => {
                // All keys and values are there before the first key is hashed, but for big ones.
                let mut pairs = Vec::new();
                for item in &node.items {
                    let Some(key) = &item.key else { return self.refuse(Construct::StarArgument) };
                    if node.items.len() > MAX_ITEMS_AT_ONCE && !key.is_literal_expr() {
                        return self.refuse(Construct::StarArgument);
                    }
                    pairs.push((self.value(key)?, self.value(&item.value)?));
                }
                let dict = self.operate(Operation::Dict, Vec::new());
                for (key, value) in pairs {
                    self.operate(Operation::Put, vec![dict, key, value]);
                }
                dict
            }
            Expr::ListComp(node) => {
                let made = self.operate(Operation::List, Vec::new());
                self.comprehension(&node.generators, |this| {
                    let value = this.value(&node.elt)?;
                    this.operate(Operation::Append, vec![made, value]);
                    Ok(())
                })?;
                made
            }
            Expr::SetComp(node) => {
                let made = self.operate(Operation::Set, Vec::new());
                self.comprehension(&node.generators, |this| {
                    let value = this.value(&node.elt)?;
                    this.operate(Operation::Add, vec![made, value]);
                    Ok(())
                })?;
                made
            }
            Expr::DictComp(node) => {
                let Some(key) = &node.key else { return self.refuse(Construct::StarArgument) };
                let made = self.operate(Operation::Dict, Vec::new());
                self.comprehension(&node.generators, |this| {
                    let key = this.value(key)?;
                    let value = this.value(&node.value)?;
                    this.operate(Operation::Put, vec![made, key, value]);
                    Ok(())
                })?;
                made
            }
            Expr::Generator(node) => self.generator(&node.elt, &node.generators)?,
            Expr::Lambda(node) => {
                let parameters = node.parameters.as_deref();
                let mut captured = match parameters {
                    Some(parameters) => self.defaults(parameters)?,
                    None => Vec::new(),
                };
                let bindings = Bindings::of_lambda(parameters, &node.body);
                captured.extend(self.captured(None, &bindings, |visitor| visitor.visit_expr(&node.body))?);
                let text = format!("{:?}", ComparableExpr::from(expr));
                self.operate(Operation::Closure(text), captured)
            }
            Expr::Call(node) => self.call(node)?,
            Expr::FString(node) => {
                let mut parts = Vec::new();
                for part in &node.value {
                    match part {
                        FStringPart::Literal(text) => parts.push(self.constant(Constant::Text(text.value.to_string()))),
                        FStringPart::FString(text) => {
                            for element in &text.elements {
                                parts.push(self.element(element)?);
                            }
                        }
                    }
                }
                self.operate(Operation::Join, parts)
            }
            Expr::Yield(node) => {
                let value = match &node.value {
                    Some(value) => self.value(value)?,
                    None => self.none(),
                };
                self.operate(Operation::Yield, vec![value])
            }
            Expr::YieldFrom(node) => {
                let value = self.value(&node.value)?;
                self.operate(Operation::YieldFrom, vec![value])
            }
            Expr::Await(node) => {
                let value = self.value(&node.value)?;
                self.operate(Operation::Await, vec![value])
            }
            Expr::TString(_) => return self.refuse(Construct::Template),
            Expr::Starred(_) => return self.refuse(Construct::StarArgument),
            Expr::IpyEscapeCommand(_) => return self.refuse(Construct::Unparsed),
        })
    }

    /// `super` without arguments asks for the first parameter, which is the same as long as nothing binds it again.
    fn is_plain_super(&self, name: &str) -> bool {
        let first = self.locals.iter().find(|(_, slot)| **slot == 0);
        name == "super" && first.is_some_and(|(first, _)| !self.bound.contains_key(first))
    }

    fn unary(&mut self, operator: &'static str, operand: &'a Expr) -> Lowered<Slot> {
        let value = self.value(operand)?;
        Ok(self.operate(Operation::Unary(operator), vec![value]))
    }

    fn collection(&mut self, operation: Operation, elements: &'a [Expr]) -> Lowered<Slot> {
        let mut arguments = Vec::new();
        for element in elements {
            arguments.push(self.value(element)?);
        }
        Ok(self.operate(operation, arguments))
    }

    fn element(&mut self, element: &'a InterpolatedStringElement) -> Lowered<Slot> {
        let node = match element {
            InterpolatedStringElement::Literal(text) => {
                return Ok(self.constant(Constant::Text(text.value.to_string())));
            }
            InterpolatedStringElement::Interpolation(node) => node,
        };
        if node.debug_text.is_some() {
            return self.refuse(Construct::UnsafeFormat);
        }
        let value = self.value(&node.expression)?;
        let mut parts = Vec::new();
        for part in node.format_spec.iter().flat_map(|spec| &spec.elements) {
            parts.push(self.element(part)?);
        }
        let specification = self.operate(Operation::Join, parts);
        let conversion = match node.conversion {
            ruff_python_ast::ConversionFlag::None => ' ',
            ruff_python_ast::ConversionFlag::Str => 's',
            ruff_python_ast::ConversionFlag::Ascii => 'a',
            ruff_python_ast::ConversionFlag::Repr => 'r',
        };
        Ok(self.operate(Operation::Format(conversion), vec![value, specification]))
    }

    fn comparison(&mut self, left: &'a Expr, operators: &'a [CmpOp], comparators: &'a [Expr]) -> Lowered<Slot> {
        let mut left = self.value(left)?;
        let result = self.slot();
        let after = self.block();
        for (index, (operator, right)) in operators.iter().zip(comparators).enumerate() {
            if let Some(answer) = self.membership(*operator, left, right, index + 1 == operators.len())? {
                self.step(Step::Move { to: result, from: answer });
                break;
            }
            let right = self.value(right)?;
            let answer = self.compare(*operator, left, right);
            self.step(Step::Move { to: result, from: answer });
            if index + 1 < operators.len() {
                let on = self.truth(answer);
                let more = self.block();
                self.end(End::Branch { on, yes: more, no: after });
                self.current = more;
            }
            left = right;
        }
        self.end(End::Jump(after));
        self.current = after;
        Ok(result)
    }

    /// Whether a value is among written-out constants is whether it equals one after the other, each tested for its truth. A constant
    /// on the left of `==` leaves the answer to the other operand.
    fn membership(&mut self, operator: CmpOp, left: Slot, right: &'a Expr, is_last: bool) -> Lowered<Option<Slot>> {
        let is_negated = match operator {
            CmpOp::In => false,
            CmpOp::NotIn => true,
            _ => return Ok(None),
        };
        let items = match right {
            Expr::Tuple(node) => &node.elts[..],
            Expr::List(node) => &node.elts[..],
            _ => return Ok(None),
        };
        // A number that is no number is in a list by its identity.
        let is_plain = |item: &Expr| match item {
            Expr::NumberLiteral(number) => number.value.is_int(),
            _ => item.is_string_literal_expr() || item.is_boolean_literal_expr() || item.is_none_literal_expr(),
        };
        if !is_last || items.is_empty() || !items.iter().all(is_plain) {
            return Ok(None);
        }
        let result = self.slot();
        let [found, after] = [self.block(), self.block()];
        for item in items {
            let item = self.value(item)?;
            let answer = self.operate(Operation::Compare("=="), vec![item, left]);
            let on = self.truth(answer);
            let more = self.block();
            self.end(End::Branch { on, yes: found, no: more });
            self.current = more;
        }
        for (block, value) in [(self.current, is_negated), (found, !is_negated)] {
            self.current = block;
            let value = self.constant(Constant::Bool(value));
            self.step(Step::Move { to: result, from: value });
            self.end(End::Jump(after));
        }
        self.current = after;
        Ok(Some(result))
    }

    fn compare(&mut self, operator: CmpOp, left: Slot, right: Slot) -> Slot {
        let (operation, is_negated) = match operator {
            CmpOp::Eq => (Operation::Compare("=="), false),
            CmpOp::NotEq => (Operation::Compare("!="), false),
            CmpOp::Lt => (Operation::Compare("<"), false),
            CmpOp::LtE => (Operation::Compare("<="), false),
            CmpOp::Gt => (Operation::Compare(">"), false),
            CmpOp::GtE => (Operation::Compare(">="), false),
            CmpOp::Is => (Operation::Is, false),
            CmpOp::IsNot => (Operation::Is, true),
            CmpOp::In => (Operation::Contains, false),
            CmpOp::NotIn => (Operation::Contains, true),
        };
        let answer = self.operate(operation, vec![left, right]);
        if is_negated { self.operate(Operation::Not, vec![answer]) } else { answer }
    }

    /// The value of `and` and `or`, which is in a slot afterwards.
    fn either(&mut self, expr: &'a Expr, result: Slot, after: BlockId) -> Lowered<()> {
        let Expr::BoolOp(node) = expr else { return Ok(()) };
        for (index, value) in node.values.iter().enumerate() {
            if index + 1 == node.values.len() {
                let value = self.value(value)?;
                self.step(Step::Move { to: result, from: value });
                break;
            }
            let more = self.block();
            let (yes, no) = if node.op == BoolOp::And { (more, after) } else { (after, more) };
            self.tested(value, result, yes, no)?;
            self.current = more;
        }
        self.end(End::Jump(after));
        Ok(())
    }

    /// An operand whose value is kept and whose truth decides where to go on. Python tests each operand of nested `and` and `or`
    /// once.
    fn tested(&mut self, expr: &'a Expr, result: Slot, yes: BlockId, no: BlockId) -> Lowered<()> {
        let Expr::BoolOp(node) = expr else {
            let value = self.value(expr)?;
            self.step(Step::Move { to: result, from: value });
            let on = self.truth(value);
            self.end(End::Branch { on, yes, no });
            return Ok(());
        };
        for (index, value) in node.values.iter().enumerate() {
            if index + 1 == node.values.len() {
                return self.tested(value, result, yes, no);
            }
            let more = self.block();
            match node.op {
                BoolOp::And => self.tested(value, result, more, no)?,
                BoolOp::Or => self.tested(value, result, yes, more)?,
            }
            self.current = more;
        }
        Ok(())
    }

    /// A condition goes on at one of two blocks. `not`, `and` and `or` are control flow, and so have no value.
    pub(super) fn condition(&mut self, test: &'a Expr, yes: BlockId, no: BlockId) -> Lowered<()> {
        match test {
            Expr::UnaryOp(node) if node.op == UnaryOp::Not => self.condition(&node.operand, no, yes),
            Expr::BoolOp(node) => {
                for (index, value) in node.values.iter().enumerate() {
                    if index + 1 == node.values.len() {
                        self.condition(value, yes, no)?;
                        break;
                    }
                    let more = self.block();
                    match node.op {
                        BoolOp::And => self.condition(value, more, no)?,
                        BoolOp::Or => self.condition(value, yes, more)?,
                    }
                    self.current = more;
                }
                Ok(())
            }
            Expr::If(node) => {
                let [first, second] = [self.block(), self.block()];
                self.condition(&node.test, first, second)?;
                self.current = first;
                self.condition(&node.body, yes, no)?;
                self.current = second;
                self.condition(&node.orelse, yes, no)
            }
            Expr::Compare(node) if node.ops.len() > 1 => {
                let mut left = self.value(&node.left)?;
                for (index, (operator, right)) in node.ops.iter().zip(&node.comparators).enumerate() {
                    let right = self.value(right)?;
                    let answer = self.compare(*operator, left, right);
                    let on = self.truth(answer);
                    let more = if index + 1 < node.ops.len() { self.block() } else { yes };
                    self.end(End::Branch { on, yes: more, no });
                    self.current = more;
                    left = right;
                }
                Ok(())
            }
            _ => {
                let value = self.value(test)?;
                let on = self.truth(value);
                self.end(End::Branch { on, yes, no });
                Ok(())
            }
        }
    }

    /// `'%s and %r' % (a, b)` of a text that is written out. Whether all operands are evaluated before the first is formatted depends
    /// on the version of Python, so they must be names and constants.
    fn percent(&mut self, node: &'a ruff_python_ast::ExprBinOp) -> Lowered<Option<Slot>> {
        let (Expr::StringLiteral(text), Expr::Tuple(values)) = (&*node.left, &*node.right) else { return Ok(None) };
        if node.op != Operator::Mod || !values.elts.iter().all(is_atom) {
            return Ok(None);
        }
        let Some(pieces) = pieces_of_percent(text.value.to_str()) else { return Ok(None) };
        if pieces.iter().filter(|piece| matches!(piece, Piece::Value(..))).count() != values.elts.len() {
            return Ok(None);
        }
        self.formatted(&pieces, &values.elts).map(Some)
    }

    /// `'{} and {}'.format(a, b)` of a text that is written out.
    pub(super) fn format_call(&mut self, node: &'a ExprCall) -> Lowered<Option<Slot>> {
        let Expr::Attribute(method) = &*node.func else { return Ok(None) };
        let Expr::StringLiteral(text) = &*method.value else { return Ok(None) };
        let arguments = &node.arguments;
        let is_plain = arguments.keywords.is_empty() && !arguments.args.iter().any(Expr::is_starred_expr);
        if &method.attr != "format" || !is_plain {
            return Ok(None);
        }
        let Some(pieces) = pieces_of_format(text.value.to_str()) else { return Ok(None) };
        if pieces.iter().any(|piece| matches!(piece, Piece::Value(index, _) if *index >= arguments.args.len())) {
            return Ok(None);
        }
        self.formatted(&pieces, &arguments.args).map(Some)
    }

    fn formatted(&mut self, pieces: &[Piece], values: &'a [Expr]) -> Lowered<Slot> {
        let mut slots = Vec::new();
        for value in values {
            slots.push(self.value(value)?);
        }
        let mut parts = Vec::new();
        for piece in pieces {
            parts.push(match piece {
                Piece::Text(text) => self.constant(Constant::Text(text.clone())),
                Piece::Value(index, conversion) => {
                    let specification = self.operate(Operation::Join, Vec::new());
                    self.operate(Operation::Format(*conversion), vec![slots[*index], specification])
                }
            });
        }
        Ok(self.operate(Operation::Join, parts))
    }

    fn comprehension(
        &mut self,
        generators: &'a [Comprehension],
        element: impl FnOnce(&mut Self) -> Lowered<()>,
    ) -> Lowered<()> {
        let mut heads = Vec::new();
        let mut scope: BTreeMap<String, Slot> = BTreeMap::new();
        let names: BTreeSet<String> = Bindings::of_comprehension(generators).bound;
        let after = self.block();
        let mut first = match generators.first() {
            Some(generator) => Some(self.value(&generator.iter)?),
            None => None,
        };
        for name in names {
            let slot = self.slot();
            self.step(Step::Unbind(slot));
            scope.insert(name, slot);
        }
        self.comprehensions.push(scope);
        for generator in generators {
            if generator.is_async {
                return self.refuse(Construct::AsyncComprehension);
            }
            let iterable = match first.take() {
                Some(iterable) => iterable,
                None => self.value(&generator.iter)?,
            };
            let iterator = self.operate(Operation::Iterate, vec![iterable]);
            let head = self.block();
            let item = self.next(head, iterator, heads.last().copied().unwrap_or(after));
            heads.push(head);
            self.assign(&generator.target, item)?;
            for test in &generator.ifs {
                let yes = self.block();
                self.condition(test, yes, head)?;
                self.current = yes;
            }
        }
        element(self)?;
        self.end(End::Jump(heads.last().copied().unwrap_or(after)));
        self.comprehensions.pop();
        self.current = after;
        Ok(())
    }

    /// A generator expression: its first iterable is evaluated at once, the rest later.
    fn generator(&mut self, element: &'a Expr, generators: &'a [Comprehension]) -> Lowered<Slot> {
        let Some(first) = generators.first() else { return self.refuse(Construct::Unparsed) };
        let iterable = self.value(&first.iter)?;
        let iterator = self.operate(Operation::Iterate, vec![iterable]);
        // All but the first iterable, without places and quotes.
        let mut text = format!("{:?} {:?}", ComparableExpr::from(element), ComparableExpr::from(&first.target));
        for (index, generator) in generators.iter().enumerate() {
            let tests: Vec<ComparableExpr> = generator.ifs.iter().map(ComparableExpr::from).collect();
            text += &format!(" {} {tests:?}", generator.is_async);
            if index > 0 {
                let [target, iter] = [&generator.target, &generator.iter].map(ComparableExpr::from);
                text += &format!(" {target:?} {iter:?}");
            }
        }
        let bindings = Bindings::of_comprehension(generators);
        let mut arguments = vec![iterator];
        arguments.extend(self.captured(None, &bindings, |visitor| {
            visitor.visit_expr(element);
            for (index, generator) in generators.iter().enumerate() {
                visitor.visit_expr(&generator.target);
                if index > 0 {
                    visitor.visit_expr(&generator.iter);
                }
                generator.ifs.iter().for_each(|test| visitor.visit_expr(test));
            }
        })?);
        Ok(self.operate(Operation::Generator(text), arguments))
    }

    /// The closure of a nested function: its text and the values that it captures.
    pub(super) fn closure(
        &mut self,
        text: String,
        own_name: Option<&str>,
        parameters: &'a Parameters,
        visit: impl FnOnce(&mut Names),
    ) -> Lowered<Slot> {
        if parameters.iter().any(|parameter| parameter.annotation().is_some()) {
            return self.refuse(Construct::Closure);
        }
        let mut all = self.defaults(parameters)?;
        let mut bindings = Bindings::default();
        parameters.iter().for_each(|parameter| {
            bindings.bound.insert(parameter.name().to_string());
        });
        all.extend(self.captured(own_name, &bindings, visit)?);
        Ok(self.operate(Operation::Closure(text), all))
    }

    /// The defaults of a nested function are evaluated when it is made.
    fn defaults(&mut self, parameters: &'a Parameters) -> Lowered<Vec<Slot>> {
        let positional = parameters.posonlyargs.iter().chain(&parameters.args);
        let mut values = Vec::new();
        for default in positional.chain(&parameters.kwonlyargs).filter_map(|parameter| parameter.default.as_deref()) {
            values.push(self.value(default)?);
        }
        Ok(values)
    }

    /// What a nested function has from around it. A variable that changes later is seen as it is then, so it is refused.
    fn captured(
        &mut self,
        own_name: Option<&str>,
        bindings: &Bindings,
        visit: impl FnOnce(&mut Names),
    ) -> Lowered<Vec<Slot>> {
        let mut names = Names::default();
        visit(&mut names);
        if names.is_opaque {
            return self.refuse(Construct::Closure);
        }
        let mut captured = Vec::new();
        for name in names.read.iter().filter(|name| !bindings.bound.contains(*name) && !names.bound.contains(*name)) {
            if FRAMES.contains(&name.as_str()) {
                return self.refuse(Construct::Frames);
            }
            if own_name == Some(name) && self.bound.get(name) == Some(&1) {
                continue;
            }
            if self.comprehensions.iter().any(|scope| scope.contains_key(name)) {
                return self.refuse(Construct::Closure);
            }
            if self.bindings.globals.contains(name) {
                return self.refuse(Construct::Closure);
            }
            if let Some(slot) = self.local(name) {
                let as_parameter = usize::from(self.parameters.contains(&slot));
                if self.bound.get(name).copied().unwrap_or(0) + as_parameter != 1 {
                    return self.refuse(Construct::Closure);
                }
            }
            captured.push(self.read_name(name));
        }
        Ok(captured)
    }
}

/// A part of a template.
enum Piece {
    Text(String),
    /// Which value, and how it is converted.
    Value(usize, char),
}

/// The parts of a template of `%`, if all its fields are plain.
fn pieces_of_percent(text: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut current = String::new();
    let mut count = 0;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            current.push(letter);
            continue;
        }
        match letters.next()? {
            '%' => current.push('%'),
            conversion @ ('s' | 'r' | 'a') => {
                pieces.push(Piece::Text(std::mem::take(&mut current)));
                pieces.push(Piece::Value(count, conversion));
                count += 1;
            }
            _ => return None,
        }
    }
    pieces.push(Piece::Text(current));
    Some(pieces)
}

/// The parts of a template of `str.format`, if all its fields are plain.
fn pieces_of_format(text: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut current = String::new();
    let (mut automatic, mut numbered) = (0, false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '{' | '}' if letters.peek() == Some(&letter) => {
                letters.next();
                current.push(letter);
            }
            '{' => {
                let mut field = String::new();
                loop {
                    match letters.next()? {
                        '}' => break,
                        letter => field.push(letter),
                    }
                }
                let (number, conversion) = match field.split_once('!') {
                    Some((number, conversion @ ("s" | "r" | "a"))) => (number, conversion.chars().next()?),
                    Some(_) => return None,
                    None => (&field[..], ' '),
                };
                if !number.chars().all(|digit| digit.is_ascii_digit()) {
                    return None;
                }
                let index = if number.is_empty() {
                    automatic += 1;
                    automatic - 1
                } else {
                    numbered = true;
                    number.parse().ok()?
                };
                pieces.push(Piece::Text(std::mem::take(&mut current)));
                pieces.push(Piece::Value(index, conversion));
            }
            '}' => return None,
            _ => current.push(letter),
        }
    }
    pieces.push(Piece::Text(current));
    (!numbered || automatic == 0).then_some(pieces)
}

/// The names that nested code reads and binds.
#[derive(Default)]
pub(super) struct Names {
    read: BTreeSet<String>,
    bound: BTreeSet<String>,
    /// What comprehensions and lambdas around bind for themselves.
    inner: Vec<BTreeSet<String>>,
    /// Whether it holds something that these names do not tell.
    is_opaque: bool,
}

impl Names {
    fn comprehension<'e>(&mut self, generators: &'e [Comprehension], elements: &[&'e Expr]) {
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        self.inner.push(Bindings::of_comprehension(generators).bound);
        for (index, generator) in generators.iter().enumerate() {
            if index > 0 {
                self.visit_expr(&generator.iter);
            }
            self.visit_expr(&generator.target);
            generator.ifs.iter().for_each(|test| self.visit_expr(test));
        }
        elements.iter().for_each(|element| self.visit_expr(element));
        self.inner.pop();
    }
}

impl<'e> SourceOrderVisitor<'e> for Names {
    fn visit_stmt(&mut self, stmt: &'e ruff_python_ast::Stmt) {
        use ruff_python_ast::Stmt;
        match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) | Stmt::Global(_) | Stmt::Nonlocal(_) => self.is_opaque = true,
            Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Match(_) | Stmt::TypeAlias(_) => self.is_opaque = true,
            _ => source_order::walk_stmt(self, stmt),
        }
    }

    fn visit_except_handler(&mut self, handler: &'e ruff_python_ast::ExceptHandler) {
        let ruff_python_ast::ExceptHandler::ExceptHandler(node) = handler;
        self.bound.extend(node.name.iter().map(|name| name.to_string()));
        source_order::walk_except_handler(self, handler);
    }

    fn visit_expr(&mut self, expr: &'e Expr) {
        match expr {
            Expr::Lambda(node) => {
                let parameters = node.parameters.as_deref();
                for parameter in parameters.iter().flat_map(|parameters| parameters.iter_non_variadic_params()) {
                    parameter.default.iter().for_each(|default| self.visit_expr(default));
                }
                self.inner.push(Bindings::of_lambda(parameters, &node.body).bound);
                self.visit_expr(&node.body);
                self.inner.pop();
            }
            Expr::ListComp(node) => self.comprehension(&node.generators, &[&node.elt]),
            Expr::SetComp(node) => self.comprehension(&node.generators, &[&node.elt]),
            Expr::Generator(node) => self.comprehension(&node.generators, &[&node.elt]),
            Expr::DictComp(_) | Expr::Named(_) => self.is_opaque = true,
            Expr::Name(name) if self.inner.iter().any(|scope| scope.contains(name.id.as_str())) => {}
            Expr::Name(name) if name.ctx == ruff_python_ast::ExprContext::Load => {
                self.read.insert(name.id.to_string());
            }
            Expr::Name(name) => {
                self.bound.insert(name.id.to_string());
            }
            _ => source_order::walk_expr(self, expr),
        }
    }
}
