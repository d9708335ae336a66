//! From a wanted value of a term to decisions, through the inverse of each operation on the way.

use std::rc::Rc;

use ruff_python_ast::Operator;

use twincell_values::path::Question;
use twincell_values::reading::Term;
use twincell_values::value::{AbstractValue, Decision, Recipe};

use super::evaluate::{binary, number};
use super::{Assignment, MAX_PROPOSALS, Solver, shapes};

impl Solver<'_> {
    /// Ways to give a term this value, each an extension of `so_far`.
    pub(super) fn set(&mut self, term: &Term, wanted: &Recipe, so_far: &Assignment) -> Vec<Assignment> {
        if !self.step() {
            return vec![];
        }
        let mut ways = match term {
            Term::Literal(value) if value == wanted => vec![so_far.clone()],
            Term::Name(name) => {
                if self.is_injected(name) {
                    self.decide(term, wanted, so_far)
                } else {
                    vec![]
                }
            }
            Term::Attribute(..) | Term::Await(_) => self.decide(term, wanted, so_far),
            Term::Subscript(base, key) => self.set_item(term, base, key, wanted, so_far),
            Term::Call(callee, arguments) => self.set_result(term, callee, arguments, wanted, so_far),
            Term::Binary(left, operator, right) => self.set_binary(left, *operator, right, wanted, so_far),
            Term::Negative(inner) => match wanted {
                Recipe::Int(value) => self.set(inner, &Recipe::Int(value.saturating_neg()), so_far),
                Recipe::Float(value) => self.set(inner, &Recipe::Float(-value), so_far),
                _ => vec![],
            },
            Term::Element(base) => self.set_element(base, wanted, so_far),
            Term::Part(base, index, count) => self.set_part(base, *index, *count, wanted, so_far),
            Term::Display(terms) => match wanted {
                Recipe::Tuple(items) | Recipe::List(items) if items.len() == terms.len() => {
                    let mut ways = vec![so_far.clone()];
                    for (term, item) in terms.iter().zip(items) {
                        ways = ways.iter().flat_map(|way| self.set(term, item, way)).take(MAX_PROPOSALS).collect();
                    }
                    ways
                }
                _ => vec![],
            },
            Term::First(terms) => terms.first().map_or_else(Vec::new, |first| self.set(first, wanted, so_far)),
            Term::Either(condition, yes, no) => {
                let mut ways = Vec::new();
                for (truth, branch) in [(true, yes), (false, no)] {
                    for way in self.condition(condition, truth, so_far) {
                        if self.value(branch, &way).as_ref() == Some(wanted) {
                            ways.push(way);
                        } else {
                            ways.extend(self.set(branch, wanted, &way));
                        }
                    }
                }
                ways
            }
            Term::Truth(condition) => match wanted {
                Recipe::Bool(truth) => self.condition(condition, *truth, so_far),
                _ => vec![],
            },
            _ => vec![],
        };
        ways.truncate(MAX_PROPOSALS);
        ways
    }

    /// Whether the value from which this term starts is injected.
    fn starts_injected(&self, term: &Term) -> bool {
        match term {
            Term::Name(name) => {
                let path = self.canonical(name).to_string();
                self.is_injected(name) || self.facts.decisions.keys().any(|known| known.starts_with(path.as_str()))
            }
            Term::Attribute(base, _) | Term::Subscript(base, _) | Term::Call(base, _) | Term::Await(base) => {
                self.starts_injected(base)
            }
            Term::Element(base) | Term::Part(base, _, _) => self.starts_injected(base),
            _ => false,
        }
    }

    fn decide(&mut self, term: &Term, wanted: &Recipe, so_far: &Assignment) -> Vec<Assignment> {
        if !self.starts_injected(term) {
            return vec![];
        }
        let Some(path) = self.path(term, so_far) else { return vec![] };
        let mut way = so_far.clone();
        way.insert(path.into_string(), Decision::Value(wanted.clone()));
        vec![way]
    }

    fn set_item(
        &mut self,
        term: &Term,
        base: &Rc<Term>,
        key: &Rc<Term>,
        wanted: &Recipe,
        so_far: &Assignment,
    ) -> Vec<Assignment> {
        let (holder, key) = (self.value(base, so_far), self.value(key, so_far));
        match (holder, key) {
            (Some(Recipe::Mock(_)), _) | (None, None) => self.decide(term, wanted, so_far),
            (Some(holder), Some(key)) => match shapes::with_item(&holder, &key, wanted) {
                Some(holder) => self.set(base, &holder, so_far),
                None => vec![],
            },
            (Some(_), None) => vec![],
            (None, Some(key)) => {
                let mut ways = self.decide(term, wanted, so_far);
                let holder = match &key {
                    Recipe::Int(index) => shapes::with_item(&Recipe::List(vec![]), &Recipe::Int(*index), wanted),
                    _ => Some(Recipe::Dict(vec![(key, wanted.clone())])),
                };
                ways.extend(holder.iter().flat_map(|holder| self.set(base, holder, so_far)));
                ways
            }
        }
    }

    fn set_element(&mut self, base: &Rc<Term>, wanted: &Recipe, so_far: &Assignment) -> Vec<Assignment> {
        if let Term::Call(callee, arguments) = base.as_ref() {
            match (callee.as_ref(), arguments.as_slice()) {
                (Term::Name(name), [only])
                    if matches!(name.as_str(), "sorted" | "list" | "set" | "tuple" | "reversed") =>
                {
                    return self.set_element(only, wanted, so_far);
                }
                (Term::Attribute(dict, method), []) => {
                    let entries = match self.value(dict, so_far) {
                        Some(Recipe::Dict(entries)) => Some(entries),
                        _ => None,
                    };
                    let entry = match (method.as_str(), wanted) {
                        ("keys", key) => Some((key.clone(), Recipe::Int(1))),
                        ("values", value) => Some((Recipe::Str("a".into()), value.clone())),
                        ("items", Recipe::Tuple(pair)) => match pair.as_slice() {
                            [key, value] => Some((key.clone(), value.clone())),
                            _ => None,
                        },
                        _ => None,
                    };
                    if let (Some(mut entries), Some(entry)) = (entries, entry) {
                        entries.retain(|(key, _)| *key != entry.0);
                        entries.insert(0, entry);
                        return self.set(dict, &Recipe::Dict(entries), so_far);
                    }
                }
                _ => {}
            }
        }
        match self.value(base, so_far) {
            Some(Recipe::Mock(_)) => {
                let Some(path) = self.path(base, so_far) else { return vec![] };
                let mut way = so_far.clone();
                way.insert(path.as_path().item(0).into_string(), Decision::Value(wanted.clone()));
                let length = Question::Length(path.as_path()).to_string();
                if matches!(self.facts.decisions.get(length.as_str()), Some(Decision::Value(Recipe::Int(0)))) {
                    way.insert(length, Decision::Value(Recipe::Int(1)));
                }
                vec![way]
            }
            Some(Recipe::Dict(mut entries)) => {
                entries.retain(|(key, _)| key != wanted);
                entries.insert(0, (wanted.clone(), Recipe::Int(1)));
                self.set(base, &Recipe::Dict(entries), so_far)
            }
            Some(Recipe::Str(text)) => match wanted {
                Recipe::Str(first) => self.set(base, &Recipe::Str(format!("{first}{text}")), so_far),
                _ => self.set(base, &Recipe::List(vec![wanted.clone()]), so_far),
            },
            Some(holder) => {
                let mut ways = Vec::new();
                for items in shapes::with_element(&holder, wanted) {
                    ways.extend(self.set(base, &items, so_far));
                }
                ways
            }
            None => self.set(base, &Recipe::List(vec![wanted.clone()]), so_far),
        }
    }

    fn set_part(
        &mut self,
        base: &Rc<Term>,
        index: usize,
        count: usize,
        wanted: &Recipe,
        so_far: &Assignment,
    ) -> Vec<Assignment> {
        let mut parts = match self.value(base, so_far) {
            Some(Recipe::Mock(_)) => {
                let Some(path) = self.path(base, so_far) else { return vec![] };
                let mut way = so_far.clone();
                way.insert(path.as_path().item(index).into_string(), Decision::Value(wanted.clone()));
                return vec![way];
            }
            Some(Recipe::Tuple(items) | Recipe::List(items)) if items.len() == count => items,
            _ => vec![Recipe::Mock(AbstractValue::Object); count],
        };
        // `for index, item in enumerate(items)`.
        if let Term::Element(iterated) = base.as_ref()
            && let Term::Call(callee, arguments) = iterated.as_ref()
            && let (Term::Name(name), [items, ..]) = (callee.as_ref(), arguments.as_slice())
            && name == "enumerate"
        {
            return if index == 1 { self.set_element(items, wanted, so_far) } else { vec![] };
        }
        if let Some(part) = parts.get_mut(index) {
            *part = wanted.clone();
        }
        self.set(base, &Recipe::Tuple(parts), so_far)
    }

    fn set_binary(
        &mut self,
        left: &Rc<Term>,
        operator: Operator,
        right: &Rc<Term>,
        wanted: &Recipe,
        so_far: &Assignment,
    ) -> Vec<Assignment> {
        let (own, other) = (self.value(left, so_far), self.value(right, so_far));
        let mut ways = Vec::new();
        if let Some(known) = &other {
            for target in shapes::left_of(operator, own.as_ref(), known, wanted) {
                ways.extend(self.set(left, &target, so_far));
            }
        }
        if let Some(known) = &own {
            for target in shapes::right_of(operator, known, other.as_ref(), wanted) {
                ways.extend(self.set(right, &target, so_far));
            }
        }
        if own.is_none() && other.is_none() && operator == Operator::Add && number(wanted).is_some() {
            for way in self.set(right, &Recipe::Int(0), so_far) {
                ways.extend(self.set(left, wanted, &way));
            }
        }
        if let (Operator::Add, Recipe::Str(text), true) = (operator, wanted, ways.is_empty()) {
            // Both parts change: the text is cut after the literal between them.
            let cut = last_literal(left).filter(|written| !written.is_empty());
            let cut = cut.and_then(|written| text.find(written).map(|at| at + written.len())).unwrap_or(text.len());
            for way in self.set(left, &Recipe::Str(text[..cut].into()), so_far) {
                ways.extend(self.set(right, &Recipe::Str(text[cut..].into()), &way));
            }
        }
        // A proposal must hold where it can be checked.
        ways.retain(|way| match (self.value(left, way), self.value(right, way)) {
            (Some(left), Some(right)) => binary(&left, operator, &right)
                .is_none_or(|value| super::order(&value, wanted).is_none_or(std::cmp::Ordering::is_eq)),
            _ => true,
        });
        ways
    }

    fn set_result(
        &mut self,
        term: &Term,
        callee: &Rc<Term>,
        arguments: &[Rc<Term>],
        wanted: &Recipe,
        so_far: &Assignment,
    ) -> Vec<Assignment> {
        match callee.as_ref() {
            Term::Name(name) if !self.is_injected(name) => self.set_builtin(name, arguments, wanted, so_far),
            Term::Attribute(base, method) => self.set_method(term, (base, method), arguments, wanted, so_far),
            _ => self.decide(term, wanted, so_far),
        }
    }

    /// Ways to give the call of a builtin this result.
    fn set_builtin(
        &mut self,
        name: &str,
        arguments: &[Rc<Term>],
        wanted: &Recipe,
        so_far: &Assignment,
    ) -> Vec<Assignment> {
        let Some(first) = arguments.first() else { return vec![] };
        let current = self.value(first, so_far);
        match (name, wanted) {
            ("len", Recipe::Int(count)) => self.set_length(first, usize::try_from(*count).unwrap_or(0), so_far),
            ("bool", Recipe::Bool(truth)) => self.truthy(first, None, *truth, so_far),
            ("type", Recipe::Named(class)) => {
                let samples = shapes::instances(&[class.as_str().into()], true);
                samples.iter().flat_map(|sample| self.set(first, sample, so_far)).collect()
            }
            ("getattr", _) => match arguments.get(1).map(Rc::as_ref) {
                Some(Term::Literal(Recipe::Str(attribute))) => self.set_attribute(first, attribute, wanted, so_far),
                _ => vec![],
            },
            _ => {
                let argument = shapes::argument(name, current.as_ref(), wanted);
                argument.map_or_else(Vec::new, |argument| self.set(first, &argument, so_far))
            }
        }
    }

    /// Ways to give an attribute this value that exists in any case.
    fn set_attribute(
        &mut self,
        holder: &Rc<Term>,
        name: &str,
        wanted: &Recipe,
        so_far: &Assignment,
    ) -> Vec<Assignment> {
        let attribute = Term::Attribute(holder.clone(), name.to_owned());
        let mut ways = self.set(&attribute, wanted, so_far);
        if let Some(path) = self.path(&attribute, so_far) {
            for way in &mut ways {
                let question = Question::Attribute(path.as_path()).to_string();
                way.insert(question, Decision::Value(Recipe::Bool(true)));
            }
        }
        ways
    }

    /// Ways to give the call of a method this result.
    fn set_method(
        &mut self,
        term: &Term,
        (base, method): (&Rc<Term>, &str),
        arguments: &[Rc<Term>],
        wanted: &Recipe,
        so_far: &Assignment,
    ) -> Vec<Assignment> {
        let receiver = self.value(base, so_far);
        let argument = arguments.first().and_then(|first| self.value(first, so_far));
        let mut ways = Vec::new();
        if matches!(receiver, None | Some(Recipe::Mock(_))) {
            ways = self.decide(term, wanted, so_far);
            if let (true, Some(key), Some(path)) = (method == "get", argument.as_ref(), self.path(base, so_far)) {
                let key = key.display();
                let mut way = so_far.clone();
                let question = Question::Item { item: &key, holder: path.as_path() }.to_string();
                way.insert(question, Decision::Value(Recipe::Bool(true)));
                way.insert(path.as_path().item(&key).into_string(), Decision::Value(wanted.clone()));
                ways.push(way);
            }
        }
        if !matches!(receiver, Some(Recipe::Mock(_))) {
            let targets = shapes::receivers(receiver.as_ref(), method, argument.as_ref(), wanted);
            ways.extend(targets.iter().flat_map(|target| self.set(base, target, so_far)));
        }
        ways
    }

    fn set_length(&mut self, term: &Rc<Term>, count: usize, so_far: &Assignment) -> Vec<Assignment> {
        let current = self.value(term, so_far);
        if let Some(Recipe::Mock(_)) = &current {
            let mut ways = Vec::new();
            if let Some(path) = self.path(term, so_far) {
                let mut way = so_far.clone();
                let [length, truth] = [Question::Length, Question::Truth].map(|of| of(path.as_path()).to_string());
                way.insert(length, Decision::Value(Recipe::Int(count as i64)));
                way.remove(&truth);
                if count > 0 && self.facts.decisions.contains_key(truth.as_str()) {
                    way.insert(truth, Decision::Value(Recipe::Bool(true)));
                }
                ways.push(way);
            }
            return ways;
        }
        // Methods that split a text, and comprehensions, are as long as their input.
        if let Term::Comprehension(element, conditions, iterated) = term.as_ref() {
            if count == 0 {
                return self.set(iterated, &Recipe::List(vec![]), so_far);
            }
            return self.all_of(element, conditions, None, so_far);
        }
        let mut ways = Vec::new();
        for value in shapes::of_length(current.as_ref(), count) {
            ways.extend(self.set(term, &value, so_far));
        }
        ways
    }
}

/// The literal text that a sum of texts ends with.
fn last_literal(term: &Term) -> Option<&str> {
    match term {
        Term::Literal(Recipe::Str(text)) => Some(text),
        Term::Binary(_, Operator::Add, right) => last_literal(right),
        _ => None,
    }
}
