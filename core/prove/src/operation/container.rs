//! Lists, dictionaries, tuples, and iterating over them.

use super::number::number;
use super::{Context, EFFECT, Outcome, decide};
use crate::constant::Constant;
use crate::facts::Facts;
use crate::result::Rule;
use crate::state::{Kind, Side};
use crate::term::{Operator, Term, Terms};
use crate::types::Type;

/// The type of the items of a content.
fn item_class(terms: &Terms, content: Term) -> Type {
    match terms.class(content) {
        Type::Items(item) if **item != Type::Never => (**item).clone(),
        Type::Text => Type::Text,
        _ => Type::Any,
    }
}

impl Context<'_> {
    pub(super) fn item(&mut self, side: &mut Side, facts: &Facts, container: Term, key: Term) -> Outcome {
        let terms = &mut self.terms;
        if let Operator::Pure(name) = terms.operator(key)
            && name == "slice"
        {
            return self.sliced(side, container, key);
        }
        if let Some(entries) = side.entries(terms, container) {
            return match self.has_entry(side, entries, key) {
                Some(has) => {
                    if decide!(self, facts, has) {
                        Outcome::Value(self.entry(entries, key))
                    } else {
                        Outcome::Raise(self.terms.raised("KeyError", &[key]))
                    }
                }
                None => EFFECT,
            };
        }
        let Some(content) = side.items(terms, container) else { return EFFECT };
        if !matches!(terms.class(key), Type::Int | Type::Bool) {
            return EFFECT;
        }
        let index = match number(terms, facts, key) {
            Ok(index) => index,
            Err(outcome) => return outcome,
        };
        let class = item_class(terms, content);
        let length = terms.length(content);
        let is_below = terms.less(index, length);
        let lowest = terms.negate(length);
        let difference = terms.subtract(lowest, index);
        let is_above = terms.at_most_zero(difference);
        let text = if *terms.class(content) == Type::Text { "text" } else { "items" };
        let kind = match terms.operator(container) {
            Operator::Tuple => "tuple",
            _ => text,
        };
        for bound in [is_below, is_above] {
            if !decide!(self, facts, bound) {
                let kind = self.terms.text(kind);
                return Outcome::Raise(self.terms.raised("IndexError", &[kind]));
            }
        }
        let item = self.terms.item(content, index, class);
        if self.terms.has_object(item) && self.terms.as_object(item).is_none() && !is_tuple(&self.terms, item) {
            // An object of one's own would have two names.
            return EFFECT;
        }
        self.rules.insert(Rule::Containers);
        Outcome::Value(item)
    }

    fn sliced(&mut self, side: &mut Side, container: Term, slice: Term) -> Outcome {
        let terms = &mut self.terms;
        let bounds = terms.arguments(slice).to_vec();
        let is_bound = |term: &Term| matches!(terms.class(*term), Type::Int | Type::None);
        let is_step = terms.as_int(bounds[2]).is_some_and(|step| step != 0)
            || matches!(terms.as_constant(bounds[2]), Some(Constant::None));
        if !bounds.iter().all(is_bound) || !is_step {
            return EFFECT;
        }
        let Some(content) = side.items(terms, container) else { return EFFECT };
        if terms.has_object(content) {
            return EFFECT;
        }
        self.rules.insert(Rule::Containers);
        let terms = &mut self.terms;
        let class = terms.class(content).clone();
        let is_none = |term: Term| matches!(terms.as_constant(term), Some(Constant::None));
        let is_whole = (is_none(bounds[0]) || terms.as_int(bounds[0]) == Some(0))
            && is_none(bounds[1])
            && (is_none(bounds[2]) || terms.as_int(bounds[2]) == Some(1));
        // `[0:n]` and `[:n]` are the same, forwards.
        let mut bounds = bounds;
        if is_none(bounds[2]) {
            bounds[2] = terms.int(1);
        }
        if terms.as_int(bounds[2]).is_some_and(|step| step > 0)
            && matches!(terms.as_constant(bounds[0]), Some(Constant::None))
        {
            bounds[0] = terms.int(0);
        }
        let part = if is_whole {
            content
        } else {
            let arguments = [&[content][..], &bounds].concat();
            let class = if matches!(class, Type::Tuple) { Type::Items(Box::new(Type::Any)) } else { class.clone() };
            terms.pure("part", &arguments, class)
        };
        match (terms.operator(container), &class) {
            (_, Type::Text) => Outcome::Value(part),
            (Operator::Tuple, _) if is_whole => Outcome::Value(container),
            (Operator::Tuple, _) => EFFECT,
            _ => Outcome::Value(side.make(terms, Kind::List, vec![part])),
        }
    }

    /// Whether a dictionary has a key, where that runs no code of the user.
    pub(super) fn has_entry(&mut self, side: &Side, entries: Term, key: Term) -> Option<Term> {
        let terms = &mut self.terms;
        let is_plain = side.class(terms, key).is_plain()
            && matches!(terms.class(entries), Type::Entries(keys, _) if keys.is_plain());
        if !is_plain {
            return None;
        }
        self.rules.insert(Rule::Containers);
        let terms = &mut self.terms;
        let mut current = entries;
        loop {
            match terms.operator(current) {
                Operator::Pure(name) if name == "no entries" => return Some(terms.bool(false)),
                Operator::Pure(name) if name == "with entry" => {
                    let arguments = terms.arguments(current).to_vec();
                    if arguments[1] == key {
                        return Some(terms.bool(true));
                    }
                    if !terms.surely_other_keys(arguments[1], key) {
                        break;
                    }
                    current = arguments[0];
                }
                _ => break,
            }
        }
        Some(terms.pure("has entry", &[current, key], Type::Bool))
    }

    /// The value of a key that a dictionary has.
    pub(super) fn entry(&mut self, entries: Term, key: Term) -> Term {
        let terms = &mut self.terms;
        let mut current = entries;
        loop {
            match terms.operator(current) {
                Operator::Pure(name) if name == "with entry" => {
                    let arguments = terms.arguments(current).to_vec();
                    if arguments[1] == key {
                        return arguments[2];
                    }
                    if !terms.surely_other_keys(arguments[1], key) {
                        break;
                    }
                    current = arguments[0];
                }
                _ => break,
            }
        }
        let class = match terms.class(current) {
            Type::Entries(_, value) if **value != Type::Never => (**value).clone(),
            _ => Type::Any,
        };
        terms.pure("entry", &[current, key], class)
    }

    pub(super) fn set_item(
        &mut self,
        side: &mut Side,
        facts: &Facts,
        container: Term,
        key: Term,
        value: Term,
    ) -> Outcome {
        let terms = &mut self.terms;
        if side.entries(terms, container).is_some() {
            return self.put(side, container, key, value);
        }
        let is_list = matches!(side.class(terms, container), Type::List(_));
        if !is_list || !matches!(terms.class(key), Type::Int | Type::Bool) {
            return EFFECT;
        }
        let Some(content) = side.items(terms, container) else { return EFFECT };
        let index = match number(terms, facts, key) {
            Ok(index) => index,
            Err(outcome) => return outcome,
        };
        let length = terms.length(content);
        let is_below = terms.less(index, length);
        let lowest = terms.negate(length);
        let difference = terms.subtract(lowest, index);
        let is_above = terms.at_most_zero(difference);
        for bound in [is_below, is_above] {
            if !decide!(self, facts, bound) {
                let kind = self.terms.text("assignment");
                return Outcome::Raise(self.terms.raised("IndexError", &[kind]));
            }
        }
        self.rules.insert(Rule::Containers);
        let terms = &mut self.terms;
        if terms.as_object(container).is_some() {
            let content = terms.items_with(content, index, value);
            side.set_field(terms, container, 0, content);
            return Outcome::Value(terms.none());
        }
        if terms.has_object(value) {
            return EFFECT;
        }
        self.write(side, "set", &[container, index, value]);
        Outcome::Value(self.terms.none())
    }

    pub(super) fn put(&mut self, side: &mut Side, dict: Term, key: Term, value: Term) -> Outcome {
        let Some(entries) = side.entries(&mut self.terms, dict) else { return EFFECT };
        let keys_are_plain = matches!(self.terms.class(entries), Type::Entries(keys, _) if keys.is_plain());
        if !keys_are_plain || !side.class(&self.terms, key).is_plain() {
            return EFFECT;
        }
        self.rules.insert(Rule::Containers);
        if self.terms.as_object(dict).is_some() {
            let entries = self.terms.entries_with(entries, key, value);
            side.set_field(&self.terms, dict, 0, entries);
            return Outcome::Value(self.terms.none());
        }
        if self.terms.has_object(value) {
            return EFFECT;
        }
        self.write(side, "put", &[dict, key, value]);
        Outcome::Value(self.terms.none())
    }

    pub(super) fn append(&mut self, side: &mut Side, list: Term, item: Term) -> Outcome {
        let is_list = matches!(side.class(&self.terms, list), Type::List(_));
        let Some(content) = side.items(&mut self.terms, list).filter(|_| is_list) else { return EFFECT };
        if self.terms.as_object(list).is_some() {
            let item = self.terms.elements(&[item]);
            let content = self.terms.joined(&[content, item]);
            side.set_field(&self.terms, list, 0, content);
            return Outcome::Value(self.terms.none());
        }
        if self.terms.has_object(item) {
            return EFFECT;
        }
        self.rules.insert(Rule::Containers);
        self.write(side, "append", &[list, item]);
        Outcome::Value(self.terms.none())
    }

    /// A change of a container that everybody sees.
    fn write(&mut self, side: &mut Side, kind: &'static str, arguments: &[Term]) {
        let terms = &mut self.terms;
        // Another name may stand for the same container with another type, such as for an empty list.
        let keeps_types = *terms.class(side.heap) == Type::Heap(true)
            && self.containers.len() == 1
            && self.containers.contains(terms.class(arguments[0]))
            && match terms.class(arguments[0]) {
                Type::List(item) => arguments.last().is_some_and(|value| **item == *terms.class(*value)),
                Type::Dict(key, value) => **key == *terms.class(arguments[1]) && **value == *terms.class(arguments[2]),
                _ => false,
            };
        let arguments = [&[side.heap][..], arguments].concat();
        side.heap = terms.intern(Operator::Write(kind), &arguments, Type::Heap(keeps_types));
    }

    pub(super) fn contains(&mut self, side: &Side, item: Term, container: Term) -> Outcome {
        if let Some(entries) = side.entries(&mut self.terms, container) {
            return match self.has_entry(side, entries, item) {
                Some(has) => Outcome::Value(has),
                None => EFFECT_OF_BOOL,
            };
        }
        let class = side.class(&self.terms, item);
        let terms = &mut self.terms;
        let Some(content) = side.items(terms, container) else { return EFFECT_OF_BOOL };
        if *terms.class(content) == Type::Text {
            if class != Type::Text {
                return EFFECT_OF_BOOL;
            }
            if let (Some(item), Some(text)) = (terms.as_text(item), terms.as_text(content)) {
                let contains = text.contains(item);
                return Outcome::Value(terms.bool(contains));
            }
            return Outcome::Value(terms.pure("in text", &[item, content], Type::Bool));
        }
        let items = match terms.operator(content) {
            Operator::Elements | Operator::Tuple => {
                terms.arguments(content).iter().fold(Type::Never, |class, item| class.join(terms.class(*item)))
            }
            _ => item_class(terms, content),
        };
        if !items.is_plain() || !class.is_plain() {
            return EFFECT_OF_BOOL;
        }
        self.rules.insert(Rule::Containers);
        let content = match self.terms.operator(content) {
            Operator::Tuple => {
                let items = self.terms.arguments(content).to_vec();
                self.terms.elements(&items)
            }
            _ => content,
        };
        Outcome::Value(self.terms.pure("in items", &[item, content], Type::Bool))
    }

    pub(super) fn binary_of_lists(&mut self, side: &mut Side, name: &str, a: Term, b: Term, in_place: bool) -> Outcome {
        let (left, right) = (side.class(&self.terms, a), side.class(&self.terms, b));
        if name != "+" || !matches!((&left, &right), (Type::List(_), Type::List(_))) {
            self.is_plausible &= !matches!((&left, name), (Type::List(_), "-" | "/" | "%" | "**" | "//" | "+"));
            return EFFECT;
        }
        let terms = &mut self.terms;
        let (Some(first), Some(second)) = (side.items(terms, a), side.items(terms, b)) else { return EFFECT };
        let content = terms.joined(&[first, second]);
        if !in_place {
            self.rules.insert(Rule::OwnContainers);
            return Outcome::Value(side.make(&mut self.terms, Kind::List, vec![content]));
        }
        if terms.as_object(a).is_none() {
            return EFFECT;
        }
        side.set_field(terms, a, 0, content);
        Outcome::Value(a)
    }

    pub(super) fn compare_lists(&mut self, side: &Side, name: &str, a: Term, b: Term) -> Outcome {
        let terms = &mut self.terms;
        let both = (side.items(terms, a), side.items(terms, b));
        let (Some(first), Some(second)) = both else { return EFFECT };
        let is_list = |class: Type| matches!(class, Type::List(_));
        let is_plain = |content: Term| matches!(terms.class(content), Type::Items(item) if item.is_plain());
        if !is_list(side.class(terms, a)) || !is_list(side.class(terms, b)) || !matches!(name, "==" | "!=") {
            return EFFECT;
        }
        let is_empty = |content: Term| {
            matches!(terms.operator(content), Operator::Elements) && terms.arguments(content).is_empty()
        };
        let same = match (is_empty(first), is_empty(second)) {
            (true, _) => {
                let length = terms.length(second);
                terms.is_zero(length)
            }
            (_, true) => {
                let length = terms.length(first);
                terms.is_zero(length)
            }
            _ if !is_plain(first) || !is_plain(second) => return EFFECT,
            _ if first == second => terms.bool(true),
            _ => terms.pure("same items", &[first.min(second), first.max(second)], Type::Bool),
        };
        self.rules.insert(Rule::Containers);
        Outcome::Value(if name == "==" { same } else { self.terms.not(same) })
    }

    pub(super) fn iterate(&mut self, side: &mut Side, value: Term) -> Outcome {
        let terms = &mut self.terms;
        if let Operator::Pure(name) = terms.operator(value)
            && name == "range"
        {
            let bounds = terms.arguments(value).to_vec();
            if let Some(step) = terms.as_int(bounds[2]) {
                return Outcome::Value(side.make(terms, Kind::Range(step), vec![bounds[0], bounds[1]]));
            }
        }
        let is_object = side.object(terms, value).is_some();
        match side.items(terms, value) {
            Some(content) if !terms.has_object(content) || is_object || is_tuple(terms, value) => {
                let start = terms.int(0);
                Outcome::Value(side.make(terms, Kind::Items, vec![value, start]))
            }
            _ => EFFECT,
        }
    }

    pub(super) fn next(&mut self, side: &mut Side, facts: &Facts, iterator: Term) -> Outcome {
        let Some(object) = side.object(&self.terms, iterator).cloned() else { return Outcome::Effect(Type::Drawn) };
        let stop = self.terms.intern(Operator::Stop, &[], Type::Any);
        match object.kind {
            Kind::Range(step) => {
                let [next, end] = [object.fields[0], object.fields[1]];
                let goes_on = if step > 0 { self.terms.less(next, end) } else { self.terms.less(end, next) };
                if !decide!(self, facts, goes_on) {
                    return Outcome::Value(stop);
                }
                let after = self.terms.plus(next, step);
                side.set_field(&self.terms, iterator, 0, after);
                Outcome::Value(next)
            }
            Kind::Items => {
                let [source, index] = [object.fields[0], object.fields[1]];
                let Some(content) = side.items(&mut self.terms, source) else { return Outcome::Effect(Type::Drawn) };
                let length = self.terms.length(content);
                let goes_on = self.terms.less(index, length);
                if !decide!(self, facts, goes_on) {
                    return Outcome::Value(stop);
                }
                let class = item_class(&self.terms, content);
                let item = self.terms.item(content, index, class);
                if self.terms.has_object(item) && self.terms.as_object(item).is_none() && !is_tuple(&self.terms, item) {
                    return Outcome::Effect(Type::Drawn);
                }
                let after = self.terms.plus(index, 1);
                side.set_field(&self.terms, iterator, 1, after);
                self.rules.insert(Rule::Containers);
                Outcome::Value(item)
            }
            _ => Outcome::Effect(Type::Drawn),
        }
    }
}

const EFFECT_OF_BOOL: Outcome = Outcome::Effect(Type::Bool);

fn is_tuple(terms: &Terms, term: Term) -> bool {
    matches!(terms.operator(term), Operator::Tuple)
}

impl Terms {
    /// Whether two keys of plain types are surely not equal. `1` and `True` are.
    fn surely_other_keys(&self, a: Term, b: Term) -> bool {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(Constant::Text(a)), Some(Constant::Text(b))) => a != b,
            (Some(Constant::Int(a)), Some(Constant::Int(b))) => a != b,
            _ => false,
        }
    }
}
