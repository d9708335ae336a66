//! Expressions: what a value reads, and the nodes of its calls in the order of evaluation.

use std::rc::Rc;

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{
    CmpOp, Comprehension, Expr, ExprCall, ExprCompare, ExprLambda, ExprSubscript, InterpolatedStringElement, Operator,
    UnaryOp,
};
use ruff_text_size::{Ranged, TextRange};
use twincell_semantic::Value;
use twincell_syntax::scopes::Bindings;

use super::declare::{Frame, FrameKind};
use super::draft::{Builder, Jump, Made, Place};
use super::items::{ALL_ITEMS, kinds_of_key};
use super::operators;
use super::owned::Holder;
use super::world::World;
use crate::program::{ProcedureId, Shared};

impl<'a> Builder<'_, 'a> {
    /// What the value of an expression depends on. Calls in it become nodes.
    pub fn value(&mut self, expr: &'a Expr) -> Vec<Place> {
        match expr {
            Expr::Name(_) | Expr::Attribute(_) => {
                let (places, held) = self.look(expr);
                self.escapes(held.holder);
                places
            }
            Expr::Call(call) => self.call(call),
            Expr::Subscript(subscript) => {
                let (mut reads, held) = self.look(&subscript.value);
                reads.extend(self.look(&subscript.slice).0);
                self.fails = true;
                reads.extend(self.read_items(kinds_of_key(&subscript.slice), held, false));
                self.operation_on_item(subscript, expr.range(), operators::GET_ITEM, reads)
            }
            Expr::BinOp(node) => {
                let mut reads = self.look(&node.left).0;
                reads.extend(self.look(&node.right).0);
                self.fails = true;
                // `%` with a text on its left formats.
                let formats = node.op == Operator::Mod;
                let names = operators::binary(node.op);
                let reads = self.operation_on(&[&node.left, &node.right], expr.range(), names, reads);
                if !formats {
                    return reads;
                }
                let operands: Vec<&Expr> = match node.right.as_ref() {
                    Expr::Tuple(tuple) => tuple.elts.iter().collect(),
                    right => vec![right],
                };
                self.operation_on(&operands, expr.range(), operators::FORMATTING, reads)
            }
            Expr::UnaryOp(node) => {
                let reads = self.look(&node.operand).0;
                let names = match node.op {
                    UnaryOp::Not => operators::TRUTH,
                    UnaryOp::USub => &["__neg__"],
                    UnaryOp::UAdd => &["__pos__"],
                    UnaryOp::Invert => &["__invert__"],
                };
                self.operation_on(&[&node.operand], expr.range(), names, reads)
            }
            Expr::Compare(node) => {
                let (mut reads, mut left) = self.look(&node.left);
                let mut names: Vec<&str> = Vec::new();
                for (op, value) in node.ops.iter().zip(&node.comparators) {
                    let (places, right) = self.look(value);
                    reads.extend(places);
                    names.extend(operators::comparison(*op));
                    let is_scalar = [left.holder, right.holder].contains(&Holder::Nobody(Made::Scalar));
                    match op {
                        CmpOp::In | CmpOp::NotIn => reads.extend(self.read_items(ALL_ITEMS, right, false)),
                        CmpOp::Is | CmpOp::IsNot => {}
                        _ if is_scalar => {}
                        _ => {
                            reads.extend(self.read_items(ALL_ITEMS, left, true));
                            reads.extend(self.read_items(ALL_ITEMS, right, true));
                        }
                    }
                    left = right;
                }
                self.fails = true;
                let operands: Vec<&Expr> = std::iter::once(&*node.left).chain(&node.comparators).collect();
                self.operation_on(&operands, expr.range(), &names, reads)
            }
            Expr::BoolOp(node) => {
                let mut reads: Vec<Place> = Vec::new();
                let mut skipped = Vec::new();
                for (at, value) in node.values.iter().enumerate() {
                    if !reads.is_empty() && self.has_steps(value) {
                        let branch = self.step(node.range, "either", reads.clone(), Vec::new());
                        skipped.extend(Self::side(branch, 1));
                    }
                    let own = self.value(value);
                    let is_last = at + 1 == node.values.len();
                    reads.extend(if is_last { own } else { self.truth(value, own) });
                }
                self.frontier.extend(skipped);
                reads
            }
            Expr::If(node) => {
                let mut reads = self.look(&node.test).0;
                reads = self.truth(&node.test, reads);
                if self.has_steps(&node.body) || self.has_steps(&node.orelse) {
                    let branch = self.step(node.test.range(), "if", reads.clone(), Vec::new());
                    reads.extend(self.value(&node.body));
                    let after = std::mem::replace(&mut self.frontier, Self::side(branch, 1));
                    reads.extend(self.value(&node.orelse));
                    self.frontier.extend(after);
                } else {
                    reads.extend(self.value(&node.body));
                    reads.extend(self.value(&node.orelse));
                }
                reads
            }
            Expr::Named(node) => {
                let mut reads = self.value(&node.value);
                let Expr::Name(name) = node.target.as_ref() else { return reads };
                let kept = self.temporary();
                self.failing_step(node.value.range(), "value", reads.clone(), vec![kept]);
                reads = vec![kept];
                // What read the name before in the same expression depends on the old value.
                let mut with_old = self.read_name(&name.id);
                with_old.push(kept);
                let writes = self.write_name(&name.id);
                self.step(node.range, "named", with_old, writes);
                reads
            }
            Expr::Lambda(lambda) => self.lambda(lambda),
            Expr::ListComp(node) => self.comprehension(expr, &node.generators, &[&node.elt]),
            Expr::SetComp(node) => self.comprehension(expr, &node.generators, &[&node.elt]),
            Expr::DictComp(node) => {
                let parts: Vec<&'a Expr> = node.key.iter().map(|key| &**key).chain([&*node.value]).collect();
                self.comprehension(expr, &node.generators, &parts)
            }
            Expr::Generator(node) => self.comprehension(expr, &node.generators, &[&node.elt]),
            Expr::Await(node) => {
                let reads = self.value(&node.value);
                self.fails = true;
                self.operation_on(&[&node.value], expr.range(), &["__await__"], reads)
            }
            Expr::Yield(node) => {
                let reads = node.value.as_deref().map(|value| self.value(value)).unwrap_or_default();
                self.yielding(expr.range(), reads)
            }
            Expr::YieldFrom(node) => {
                let (mut reads, held) = self.look(&node.value);
                self.escapes(held.holder);
                reads.extend(self.read_items(ALL_ITEMS, held, false));
                let mut reads = self.operation_on(&[&node.value], node.value.range(), operators::ITERATION, reads);
                let sent = self.yielding(expr.range(), reads.clone());
                // The value is what the generator returns.
                reads.extend(sent);
                reads
            }
            Expr::FString(_) | Expr::TString(_) => {
                let reads = self.parts(expr);
                self.fails = true;
                let operands = interpolated(expr);
                self.operation_on(&operands, expr.range(), operators::TEXT, reads)
            }
            Expr::Starred(node) => {
                let (mut reads, held) = self.look(&node.value);
                reads.extend(self.read_items(ALL_ITEMS, held, false));
                self.operation_on(&[&node.value], expr.range(), operators::ITERATION, reads)
            }
            Expr::Set(node) => {
                let reads = self.parts(expr);
                let elements: Vec<&Expr> = node.elts.iter().collect();
                self.operation_on(&elements, expr.range(), operators::HASHING, reads)
            }
            Expr::Dict(node) => {
                let mut reads = Vec::new();
                for item in &node.items {
                    if let Some(key) = &item.key {
                        reads.extend(self.value(key));
                        reads.extend(self.value(&item.value));
                    } else {
                        let (places, held) = self.look(&item.value);
                        reads.extend(places);
                        reads.extend(self.read_items(ALL_ITEMS, held, false));
                        self.escapes(held.holder);
                    }
                }
                let keys: Vec<&Expr> = node.items.iter().filter_map(|item| item.key.as_ref()).collect();
                let reads = self.operation_on(&keys, expr.range(), operators::HASHING, reads);
                let unpacked = node.items.iter().filter(|item| item.key.is_none());
                let unpacked: Vec<&Expr> = unpacked.map(|item| &item.value).collect();
                self.operation_on(&unpacked, expr.range(), operators::UNPACK_MAPPING, reads)
            }
            Expr::Slice(node) => {
                let reads = self.parts(expr);
                let bounds = [&node.lower, &node.upper, &node.step];
                let bounds: Vec<&Expr> = bounds.into_iter().filter_map(|bound| bound.as_deref()).collect();
                self.operation_on(&bounds, expr.range(), operators::INDEX, reads)
            }
            _ => self.parts(expr),
        }
    }

    /// What a value and whether it is true depend on.
    fn truth(&mut self, value: &'a Expr, mut reads: Vec<Place>) -> Vec<Place> {
        if matches!(value, Expr::Compare(_) | Expr::UnaryOp(_) | Expr::BooleanLiteral(_)) {
            return reads;
        }
        let known = self.results.get(&value.range()).copied();
        reads.extend(self.operation_on(&[value], value.range(), operators::TRUTH, reads.clone()));
        // The expression still stands for the value itself.
        match known {
            Some(known) => self.results.insert(value.range(), known),
            None => self.results.remove(&value.range()),
        };
        reads
    }

    /// The values of all direct parts of an expression.
    fn parts(&mut self, expr: &'a Expr) -> Vec<Place> {
        let mut parts = Parts(Vec::new());
        source_order::walk_expr(&mut parts, expr);
        let mut reads = Vec::new();
        for part in parts.0 {
            reads.extend(self.value(part));
        }
        reads
    }

    /// A step that also has the failures of the operations before it.
    pub fn failing_step(&mut self, range: TextRange, tag: &str, reads: Vec<Place>, writes: Vec<Place>) -> u32 {
        let node = self.step(range, tag, reads, writes);
        if std::mem::take(&mut self.fails) {
            self.may_fail(node);
        }
        node
    }

    fn yielding(&mut self, range: TextRange, mut reads: Vec<Place>) -> Vec<Place> {
        let (out, sent) = (self.temporary(), self.temporary());
        self.yielded.push(out);
        self.failing_step(range, "yield", reads.clone(), vec![out]);
        let consumption = self.shared(Shared::Consumption);
        reads = vec![consumption];
        let resumed = self.step(range, "resumed", reads, vec![sent]);
        // Who consumes it may throw something into it.
        if self.is_caught() {
            self.may_fail(resumed);
        }
        let next = std::mem::replace(&mut self.frontier, Self::side(resumed, 1));
        self.jump(Jump::Return);
        self.frontier = next;
        vec![sent]
    }

    /// What an expression may be.
    pub fn possible_values(&self, expr: &Expr) -> &'a [Value] {
        match self.made(expr) {
            Made::Scalar if !self.is_definition(expr) => &[Value::Plain],
            _ if matches!(expr, Expr::Compare(node) if !self.compares_by_methods(node)) => &[Value::Plain],
            _ if self.is_of_library(expr) => &[Value::Plain],
            _ => self.world.values(self.module, expr.range()),
        }
    }

    /// Whether methods of the project may say what a comparison gives.
    fn compares_by_methods(&self, node: &ExprCompare) -> bool {
        let operands: Vec<&Expr> = std::iter::once(&*node.left).chain(&node.comparators).collect();
        let names = node.ops.iter().filter(|op| !matches!(op, CmpOp::In | CmpOp::NotIn));
        let mut names = names.flat_map(|op| operators::comparison(*op));
        names.any(|name| !self.special_methods(&operands, name).is_empty())
    }

    /// All that an expression may be, or nothing if it may be something else.
    pub fn values(&self, expr: &Expr) -> Option<&'a [Value]> {
        let values = self.possible_values(expr);
        (!values.contains(&Value::Unknown)).then_some(values)
    }

    /// The methods of a name that one of the operands may have.
    pub fn special_methods(&self, operands: &[&Expr], name: &str) -> Vec<ProcedureId> {
        let all = self.world.declared.methods.get(name).map_or(&[][..], |all| all);
        // A descriptor is the value of the attribute, not its object.
        if all.is_empty() || operators::of_descriptors(name) {
            return all.to_vec();
        }
        let mut found = Vec::new();
        for operand in operands {
            let values = self.possible_values(operand);
            found.extend(self.world.methods_of_values(values, name));
            if operators::of_elements(name) {
                match self.held(values) {
                    Some(held) => found.extend(self.world.methods_of_values(&held, name)),
                    None if has_container(values) => return all.to_vec(),
                    None => {}
                }
            }
        }
        found
    }

    /// An operation that runs one of these methods where a class of the project has them.
    pub fn operation(&mut self, range: TextRange, names: &[&str], reads: Vec<Place>) -> Vec<Place> {
        let all = |name: &&str| self.world.declared.methods.get(*name).into_iter().flatten().copied();
        let candidates = names.iter().flat_map(all).collect();
        self.operate(range, names, candidates, reads)
    }

    /// An operation upon operands that runs one of these methods where the class of an operand has them.
    pub fn operation_on(
        &mut self,
        operands: &[&Expr],
        range: TextRange,
        names: &[&str],
        reads: Vec<Place>,
    ) -> Vec<Place> {
        let candidates = names.iter().flat_map(|name| self.special_methods(operands, name)).collect();
        self.operate(range, names, candidates, reads)
    }

    /// An operation upon an element of a container.
    pub fn operation_on_item(
        &mut self,
        subscript: &ExprSubscript,
        range: TextRange,
        names: &[&str],
        reads: Vec<Place>,
    ) -> Vec<Place> {
        let mut candidates = Vec::new();
        for name in names {
            let operand = if operators::of_keys(name) { &subscript.slice } else { &subscript.value };
            candidates.extend(self.special_methods(&[operand], name));
        }
        self.operate(range, names, candidates, reads)
    }

    fn operate(
        &mut self,
        range: TextRange,
        names: &[&str],
        mut candidates: Vec<ProcedureId>,
        reads: Vec<Place>,
    ) -> Vec<Place> {
        candidates.sort_unstable();
        candidates.dedup();
        if candidates.is_empty() || reads.is_empty() {
            return reads;
        }
        self.call_any(range, names.first().copied().unwrap_or_default(), &candidates, reads)
    }

    fn lambda(&mut self, lambda: &'a ExprLambda) -> Vec<Place> {
        if let Some(parameters) = lambda.parameters.as_deref()
            && let Some(id) = self.world.declared.at.get(&(self.module, lambda.range.start()))
        {
            self.defaults(parameters, *id);
        }
        let made = self.temporary();
        self.step(lambda.range, "lambda", Vec::new(), vec![made]);
        vec![made]
    }

    fn comprehension(&mut self, expr: &'a Expr, generators: &'a [Comprehension], elements: &[&'a Expr]) -> Vec<Place> {
        let mut result = Vec::new();
        // The first iterable belongs to the scope around.
        let mut first = generators.first().map(|one| self.iterable(&one.iter));
        let outer = self.frame.clone();
        let bindings = Bindings::of_comprehension(generators);
        let key = (self.module, expr.range().start());
        self.frame = Rc::new(Frame {
            kind: FrameKind::Comprehension,
            key,
            bindings,
            function: outer.function.clone(),
            outer: Some(outer.clone()),
        });
        let mut heads = Vec::new();
        for generator in generators {
            let reads = match first.take() {
                Some(reads) => reads,
                None => self.iterable(&generator.iter),
            };
            let head = self.failing_step(generator.target.range(), "next", reads.clone(), Vec::new());
            heads.push(head);
            result.extend(reads.iter().copied());
            self.assign(&generator.target, reads);
            for test in &generator.ifs {
                let reads = self.value(test);
                let branch = self.failing_step(test.range(), "if", reads.clone(), Vec::new());
                self.draft_node(head).incoming.extend(Self::side(branch, 1));
                result.extend(reads);
            }
        }
        let mut reads = Vec::new();
        for element in elements {
            reads.extend(self.value(element));
        }
        let made = self.temporary();
        self.failing_step(expr.range(), "element", reads, vec![made]);
        result.push(made);
        // Each head goes on with the one around it.
        let mut inner = std::mem::take(&mut self.frontier);
        for head in heads.into_iter().rev() {
            self.draft_node(head).incoming.append(&mut inner);
            inner = Self::side(head, 1);
        }
        self.frontier = inner;
        self.frame = outer;
        let whole = self.temporary();
        self.step(expr.range(), "all", result, vec![whole]);
        vec![whole]
    }

    /// What the elements of an iterable depend on.
    pub fn iterable(&mut self, iter: &'a Expr) -> Vec<Place> {
        // `enumerate(items)` and `items.values()` go on seeing `items`.
        let view = iter.as_call_expr().filter(|call| is_view(call));
        self.iterates = view.is_some();
        let (mut reads, held) = self.look(iter);
        self.iterates = false;
        if view.is_none() {
            reads.extend(self.read_items(ALL_ITEMS, held, false));
        }
        let object = view.and_then(|call| call.func.as_attribute_expr()).map(|attribute| &*attribute.value);
        for one in object.into_iter().chain(view.into_iter().flat_map(|call| &call.arguments.args)) {
            let (places, held) = self.look(one);
            reads.extend(places);
            reads.extend(self.read_items(ALL_ITEMS, held, false));
        }
        self.fails = true;
        let operands: Vec<&Expr> = match view {
            Some(call) if call.func.is_name_expr() => call.arguments.args.iter().collect(),
            _ => vec![iter],
        };
        self.operation_on(&operands, iter.range(), operators::ITERATION, reads)
    }

    /// Whether a value has steps of its own: something is called or bound.
    pub fn has_steps(&self, expr: &Expr) -> bool {
        let mut finder = Steps { world: self.world, found: false };
        finder.visit_expr(expr);
        finder.found
    }
}

/// Whether the result of a call is a view of what the call names, such as `enumerate(items)`.
fn is_view(call: &ExprCall) -> bool {
    let all_named = call.arguments.args.iter().all(Expr::is_name_expr) && call.arguments.keywords.is_empty();
    match call.func.as_ref() {
        Expr::Name(name) => all_named && matches!(name.id.as_str(), "enumerate" | "zip" | "reversed"),
        Expr::Attribute(attribute) => {
            attribute.value.is_name_expr() && matches!(attribute.attr.as_str(), "items" | "keys" | "values")
        }
        _ => false,
    }
}

fn has_container(values: &[Value]) -> bool {
    values.iter().any(|value| matches!(value, Value::Container(_)))
}

/// The values that a formatted text has.
fn interpolated(expr: &Expr) -> Vec<&Expr> {
    struct Values<'a>(Vec<&'a Expr>);

    impl<'a> SourceOrderVisitor<'a> for Values<'a> {
        fn visit_interpolated_string_element(&mut self, element: &'a InterpolatedStringElement) {
            if let InterpolatedStringElement::Interpolation(inner) = element {
                self.0.push(&inner.expression);
            }
            source_order::walk_interpolated_string_element(self, element);
        }

        fn visit_expr(&mut self, _: &'a Expr) {}
    }

    let mut values = Values(Vec::new());
    source_order::walk_expr(&mut values, expr);
    values.0
}

struct Parts<'a>(Vec<&'a Expr>);

impl<'a> SourceOrderVisitor<'a> for Parts<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        self.0.push(expr);
    }
}

struct Steps<'w, 'a> {
    world: &'w World<'a>,
    found: bool,
}

impl<'e> SourceOrderVisitor<'e> for Steps<'_, '_> {
    fn visit_expr(&mut self, expr: &'e Expr) {
        let declared = &self.world.declared;
        self.found |= match expr {
            Expr::Call(_) | Expr::Await(_) | Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Named(_) => true,
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => true,
            Expr::Attribute(attribute) => {
                self.world.has_operators || declared.properties.contains_key(attribute.attr.as_str())
            }
            Expr::BinOp(_) | Expr::Compare(_) | Expr::Subscript(_) | Expr::UnaryOp(_) | Expr::FString(_) => {
                self.world.has_operators
            }
            _ => false,
        };
        if !self.found && !matches!(expr, Expr::Lambda(_)) {
            source_order::walk_expr(self, expr);
        }
    }
}
