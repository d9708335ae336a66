//! Calls become nodes that read arguments, and write results, exceptions, and what code outside of the project may write.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged, TextRange};
use twincell_semantic::Value;

use super::arguments::{Argument, ArgumentKind};
use super::callees::{Callees, Passing};
use super::draft::{Builder, DraftCall, Made, Place};
use super::effects::{self, Effect};
use super::items::ALL_ITEMS;
use super::owned::{self, Held, Holder};
use crate::program::{ProcedureId, Shared, Term};

impl<'a> Builder<'_, 'a> {
    pub fn call(&mut self, call: &'a ExprCall) -> Vec<Place> {
        let is_iterated = std::mem::take(&mut self.iterates);
        let (mut object, mut held) = (Vec::new(), Held { holder: Holder::Nobody(Made::Scalar), ..Held::UNKNOWN });
        let mut function = match call.func.as_ref() {
            Expr::Attribute(attribute) => {
                (object, held) = self.look(&attribute.value);
                // What the function itself does says the effect.
                held.is_outside = false;
                self.fails = true;
                let name = self.attribute_name(attribute);
                let reads = self.attribute_reads(&name, held.values);
                match self.asked(attribute, &name, true)[..] {
                    [] => reads,
                    ref asked => {
                        let of_others = self.shared(Shared::Attribute(name.clone()));
                        let reads = [reads, object.clone(), vec![of_others]].concat();
                        self.call_any(attribute.range, "attribute", asked, reads)
                    }
                }
            }
            other => self.value(other),
        };
        if matches!(call.func.as_ref(), Expr::Name(name) if name.id == "super") && call.arguments.is_empty() {
            let first = self.world.declared.procedures[self.procedure.index()].parameters();
            if let Some(first) = first.and_then(|parameters| parameters.iter().next()) {
                object = self.read_name(first.name());
            }
        }
        let only_looks = match call.func.as_ref() {
            Expr::Attribute(attribute) => effects::reads_arguments(&attribute.attr),
            _ => self.builtin(call).is_some_and(|name| owned::only_looks(name, is_iterated)),
        };
        let arguments = self.arguments(call, only_looks);
        let mut callees = self.callees(call);
        callees.is_shallow = self.builtin(call).is_some_and(owned::is_shallow);
        self.dynamic(call, &mut callees);
        let gives_view = !is_iterated && is_view_method(call);
        if !callees.is_of_container || gives_view {
            self.escapes(held.holder);
        }
        callees.reads_arguments = only_looks;
        if only_looks && (!callees.procedures.is_empty() || callees.effects.iter().any(Effect::is_unknown)) {
            arguments.iter().for_each(|argument| self.escapes(argument.held.holder));
        }
        function.sort_unstable();
        let term = self.call_term(call, &arguments);
        let object_term = call.func.as_attribute_expr().and_then(|attribute| self.term(&attribute.value));
        let object = Object { reads: object, held, term: object_term };
        let made = self.emit_call(call.range(), "call", callees, function, object, &arguments, (mutated(call), term));
        self.results.extend(made.first().map(|result| (call.range(), *result)));
        if self.never_returns(call) {
            self.raise_value(call.range(), made.clone());
        }
        made
    }

    /// Calls one of several procedures with arguments that are not told apart.
    pub fn call_any(
        &mut self,
        range: TextRange,
        tag: &str,
        candidates: &[ProcedureId],
        reads: Vec<Place>,
    ) -> Vec<Place> {
        let callees = Callees {
            procedures: candidates.iter().map(|one| (*one, Passing::Anywhere)).collect(),
            has_other: true,
            is_operation: true,
            ..Callees::default()
        };
        let arguments = [
            Argument { kind: ArgumentKind::Star, reads: reads.clone(), held: Held::UNKNOWN, term: None },
            Argument { kind: ArgumentKind::Keywords, reads, held: Held::UNKNOWN, term: None },
        ];
        let object = Object { reads: Vec::new(), held: Held::UNKNOWN, term: None };
        let made = self.emit_call(range, tag, callees, Vec::new(), object, &arguments, (None, None));
        self.results.extend(made.first().map(|result| (range, *result)));
        made
    }

    /// Whether a value may be an object of the project, or may hold one.
    fn may_be_object(&self, held: Held<'a>) -> bool {
        match held.values {
            _ if held.holder == Holder::Nobody(Made::Scalar) => false,
            None => true,
            Some(values) => values
                .iter()
                .any(|value| !matches!(value, Value::Plain | Value::Module(_) | Value::Function(_) | Value::Class(_))),
        }
    }

    /// A module's body runs, unless it has run before.
    pub fn run_module(&mut self, range: TextRange, body: ProcedureId) {
        let procedures = vec![(body, Passing::AsWritten)];
        let callees = Callees { procedures, is_operation: true, ..Callees::default() };
        let object = Object { reads: Vec::new(), held: Held::UNKNOWN, term: None };
        self.emit_call(range, "import", callees, Vec::new(), object, &[], (None, None));
    }

    #[allow(clippy::too_many_arguments)]
    fn emit_call(
        &mut self,
        range: TextRange,
        tag: &str,
        callees: Callees,
        mut function: Vec<Place>,
        Object { reads: object, held, term: object_term }: Object<'a>,
        arguments: &[Argument<'a>],
        (mutated, term): (Option<&str>, Option<Term<Place>>),
    ) -> Vec<Place> {
        let (result, raised, failed) = (self.temporary(), self.temporary(), self.temporary());
        let raises = self.temporary();
        let mut calls = Vec::new();
        for (callee, passing) in &callees.procedures {
            let bound = self.bind(*callee, *passing, (&object, object_term.as_ref()), arguments);
            let (inputs, terms) = bound.into_iter().unzip();
            calls.push(DraftCall { callee: *callee, inputs, terms, result, raised, raises, failed });
        }
        if callees.dispatch_by_object || callees.has_other {
            function.extend(object.iter().copied());
        }
        let dispatch = (!calls.is_empty() && !callees.has_other).then(|| function.clone());
        let object_is_empty = object.is_empty();
        let mut reads = function;
        reads.extend(object);
        reads.extend(arguments.iter().flat_map(|argument| argument.reads.iter().copied()));
        reads.extend(calls.iter().flat_map(|call| call.inputs.iter().flatten().copied()));
        reads.extend(callees.reads.iter().copied());
        let mut writes = vec![result, raised, raises, failed];
        writes.extend(callees.writes.iter().copied());
        // A callee that gets nothing reaches nothing but what is outside.
        let reaches = !reads.is_empty();
        for effect in &callees.effects {
            let is_deep = !callees.is_of_container && !callees.is_shallow;
            if reaches {
                reads.extend(self.read_items(effect.reads_items, held, is_deep));
            }
            if callees.is_of_container {
                writes.extend(self.written_items(effect.writes_items, held, false));
                for argument in arguments.iter().filter(|_| callees.reads_arguments) {
                    reads.extend(self.read_items(ALL_ITEMS, argument.held, true));
                }
            } else {
                // What an object of a library holds is outside. The object itself is updated.
                for argument in arguments {
                    reads.extend(self.read_items(effect.reads_items, argument.held, is_deep));
                    writes.extend(self.written_items(effect.writes_items, argument.held, is_deep));
                    if effect.reads_attributes && self.may_be_object(argument.held) {
                        reads.extend(self.all_items());
                    }
                }
            }
            if effect.is_unknown() && !arguments.is_empty() {
                writes.push(self.shared(Shared::ForeignItems));
            }
            if effect.reads_outside {
                reads.push(self.shared(Shared::Outside));
            }
            if effect.writes_outside {
                writes.push(self.shared(Shared::Outside));
            }
            let objects = arguments.iter().map(|argument| argument.held).chain((!object_is_empty).then_some(held));
            if effect.reads_attributes && reaches && objects.into_iter().any(|one| self.may_be_object(one)) {
                reads.push(self.shared(Shared::AnyAttribute));
            }
        }
        for field in &callees.fields {
            writes.extend(self.attribute_writes(field, None));
        }
        let changes = |effect: &Effect| !effect.writes_items.is_empty();
        let mutated = mutated.filter(|_| callees.effects.iter().any(changes));
        let is_update = mutated.is_some();
        if let Some(name) = mutated {
            let places = self.read_name(name);
            writes.extend(places.into_iter().filter(|place| matches!(place, Place::Local(_))));
        }
        writes.sort_unstable();
        writes.dedup();
        // What a container keeps may be what the procedures gave, or may stand where they say.
        let keeps = !calls.is_empty() && callees.is_of_container;
        let is_kept = |place: &&Place| keeps && !matches!(place, Place::Temporary(_));
        let kept: Vec<Place> = writes.iter().filter(is_kept).copied().collect();
        let node = self.step(range, tag, reads, writes);
        let is_operation = callees.is_operation;
        let first = calls.first().cloned();
        let draft = self.draft_node(node);
        draft.is_whole = true;
        draft.is_update = is_update;
        draft.is_call = true;
        draft.dispatch = dispatch;
        draft.term = term;
        draft.calls = calls;
        if !kept.is_empty() {
            let node = self.step(range, "kept", vec![result], kept);
            let draft = self.draft_node(node);
            (draft.is_whole, draft.is_update) = (true, true);
        }
        self.fails = false;
        match first {
            // An operation is no branch outside of a `try`, whatever runs for it.
            Some(call) if is_operation && !self.is_caught() => self.may_fail_by(&call),
            Some(call) => {
                let reads = if self.is_caught() { vec![raises, failed] } else { vec![raises] };
                let check = self.landing_step(range, "check", reads, Vec::new());
                self.draft_node(check).is_whole = true;
                self.may_raise(node, check, &call);
            }
            None => self.may_fail(node),
        }
        vec![result]
    }
}

/// The object whose method is called.
struct Object<'v> {
    reads: Vec<Place>,
    held: Held<'v>,
    term: Option<Term<Place>>,
}

/// Whether the result of a call goes on seeing its object.
fn is_view_method(call: &ExprCall) -> bool {
    let Expr::Attribute(attribute) = call.func.as_ref() else { return false };
    matches!(attribute.attr.as_str(), "items" | "keys" | "values" | "__iter__")
}

/// A container that a call changes: `items.append(x)` is an update of `items`.
fn mutated(call: &ExprCall) -> Option<&str> {
    let Expr::Attribute(attribute) = call.func.as_ref() else { return None };
    let Expr::Name(name) = attribute.value.as_ref() else { return None };
    effects::changes_its_object(&attribute.attr).then_some(name.id.as_str())
}
