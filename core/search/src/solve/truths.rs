//! From a wanted truth value of a term to decisions: truth itself, and testing calls (`isinstance`, `x.startswith(y)`).

use std::rc::Rc;

use twincell_engine::protocol::ObservationPoint;
use twincell_values::path::{AccessPathBuf, Question};
use twincell_values::reading::{Condition, Term};
use twincell_values::value::{AbstractValue, Decision, Recipe};

use super::{Assignment, MAX_PROPOSALS, Solver, shapes};

impl Solver<'_> {
    /// An element that fulfils all conditions and has the wanted truth itself.
    pub(super) fn all_of(
        &mut self,
        element: &Rc<Term>,
        conditions: &[Condition],
        wanted: Option<bool>,
        so_far: &Assignment,
    ) -> Vec<Assignment> {
        let mut parts: Vec<(Condition, bool)> = conditions.iter().map(|condition| (condition.clone(), true)).collect();
        parts.extend(wanted.map(|wanted| match element.as_ref() {
            Term::Truth(condition) => (condition.as_ref().clone(), wanted),
            _ => (Condition::Truth { term: element.clone(), site: None }, wanted),
        }));
        let mut ways = vec![so_far.clone()];
        for (part, wanted) in &parts {
            ways = ways.iter().flat_map(|way| self.condition(part, *wanted, way)).take(MAX_PROPOSALS).collect();
        }
        ways
    }

    /// Ways to make a term true or false.
    pub(super) fn truthy(
        &mut self,
        term: &Rc<Term>,
        site: Option<u32>,
        wanted: bool,
        so_far: &Assignment,
    ) -> Vec<Assignment> {
        if !self.step() {
            return vec![];
        }
        match term.as_ref() {
            Term::Truth(condition) => return self.condition(condition, wanted, so_far),
            Term::First(terms) => {
                let condition = Condition::Any(
                    terms.iter().map(|term| Condition::Truth { term: term.clone(), site: None }).collect(),
                );
                return self.condition(&condition, wanted, so_far);
            }
            Term::Comprehension(element, conditions, iterated) => {
                // A list or set. A generator is always true.
                return if wanted {
                    self.all_of(element, conditions, None, so_far)
                } else {
                    self.set(iterated, &Recipe::List(vec![]), so_far)
                };
            }
            Term::Call(callee, arguments) => {
                if let Some(ways) = self.asked(callee, arguments, site, wanted, so_far) {
                    return ways;
                }
            }
            _ => {}
        }
        let current = self.value(term, so_far);
        let mut ways = Vec::new();
        if let (Some(path), None | Some(Recipe::Mock(_))) = (self.path(term, so_far), &current) {
            let [aspect, length] = [Question::Truth, Question::Length].map(|of| of(path.as_path()).to_string());
            if self.facts.decisions.contains_key(aspect.as_str()) {
                let mut way = so_far.clone();
                way.insert(aspect, Decision::Value(Recipe::Bool(wanted)));
                ways.push(way);
            } else if self.facts.decisions.contains_key(length.as_str()) {
                let mut way = so_far.clone();
                way.insert(length, Decision::Value(Recipe::Int(i64::from(wanted))));
                ways.push(way);
            }
        }
        for value in shapes::with_truth(current.as_ref(), wanted) {
            ways.extend(self.set(term, &value, so_far));
        }
        ways
    }

    /// Tests that are calls: `isinstance`, `x.startswith(y)`, `re.match(y, x)`, `any(...)`. `None` for other calls.
    fn asked(
        &mut self,
        callee: &Rc<Term>,
        arguments: &[Rc<Term>],
        site: Option<u32>,
        wanted: bool,
        so_far: &Assignment,
    ) -> Option<Vec<Assignment>> {
        const PATTERN_METHODS: [&str; 3] = ["match", "fullmatch", "search"];
        let (Term::Name(name) | Term::Attribute(_, name)) = callee.as_ref() else { return None };
        match callee.as_ref() {
            _ if PATTERN_METHODS.contains(&name.as_str()) => self.matched(arguments, site, wanted, so_far),
            Term::Attribute(base, method) => self.method_test((base, method), arguments, site, wanted, so_far),
            _ => self.builtin_test(name, arguments, wanted, so_far),
        }
    }

    /// A test that is the call of a builtin.
    fn builtin_test(
        &mut self,
        name: &str,
        arguments: &[Rc<Term>],
        wanted: bool,
        so_far: &Assignment,
    ) -> Option<Vec<Assignment>> {
        match (name, arguments) {
            ("issubclass", [value, classes]) => {
                let class = if wanted { self.named(classes) } else { Some(Recipe::Named("int".into())) };
                Some(class.map_or_else(Vec::new, |class| self.set(value, &class, so_far)))
            }
            ("isinstance", [value, classes]) => Some(self.instance(value, classes, wanted, so_far)),
            ("bool", [value, ..]) => Some(self.truthy(value, None, wanted, so_far)),
            ("callable", [value, ..]) => {
                let value_wanted = if wanted { Recipe::Mock(AbstractValue::Callable) } else { Recipe::Int(1) };
                Some(self.set(value, &value_wanted, so_far))
            }
            ("hasattr", [value, attribute, ..]) => {
                let Term::Literal(Recipe::Str(attribute)) = attribute.as_ref() else { return None };
                self.attribute_test(value, attribute, wanted, so_far)
            }
            ("any" | "all", [only]) => {
                let Term::Comprehension(element, conditions, iterated) = only.as_ref() else { return None };
                Some(match (name == "any", wanted) {
                    (true, true) => self.all_of(element, conditions, Some(true), so_far),
                    (false, false) => self.all_of(element, conditions, Some(false), so_far),
                    (_, _) => self.set(iterated, &Recipe::List(vec![]), so_far),
                })
            }
            _ => None,
        }
    }

    /// `hasattr(x, 'name')`.
    fn attribute_test(
        &mut self,
        value: &Rc<Term>,
        attribute: &str,
        wanted: bool,
        so_far: &Assignment,
    ) -> Option<Vec<Assignment>> {
        let path = self.path(value, so_far)?;
        if !matches!(self.value(value, so_far), Some(Recipe::Mock(_))) {
            let object = Recipe::Mock(AbstractValue::Object);
            return Some(if wanted { self.set(value, &object, so_far) } else { vec![] });
        }
        let mut way = so_far.clone();
        let attribute = path.as_path().attribute(attribute);
        let question = Question::Attribute(attribute.as_path()).to_string();
        way.insert(question, Decision::Value(Recipe::Bool(wanted)));
        Some(vec![way])
    }

    /// `re.match(pattern, text)` or `pattern.match(text)`.
    fn matched(
        &mut self,
        arguments: &[Rc<Term>],
        site: Option<u32>,
        wanted: bool,
        so_far: &Assignment,
    ) -> Option<Vec<Assignment>> {
        let observed = site.and_then(|site| self.facts.operands(ObservationPoint::Call(site)));
        let operands = observed.map_or(&[][..], |seen| seen.operands.as_slice());
        let (pattern, text) = match arguments {
            [pattern, text, ..] => (self.value(pattern, so_far).or_else(|| operands.get(1)?.value.clone()), text),
            [text] => (operands.first().and_then(|operand| operand.value.clone()), text),
            _ => return None,
        };
        let Some(Recipe::Str(pattern)) = pattern else { return None };
        let samples = shapes::matching(&pattern, wanted);
        Some(samples.into_iter().flat_map(|sample| self.set(text, &Recipe::Str(sample), so_far)).collect())
    }

    /// A test that is the call of a method: `x.startswith(y)`.
    fn method_test(
        &mut self,
        (base, method): (&Rc<Term>, &str),
        arguments: &[Rc<Term>],
        site: Option<u32>,
        wanted: bool,
        so_far: &Assignment,
    ) -> Option<Vec<Assignment>> {
        let receiver = self.value(base, so_far);
        let observed = site.and_then(|site| self.facts.operands(ObservationPoint::Call(site)));
        let receiver = receiver
            .or_else(|| observed.and_then(|seen| seen.operands.first()?.value.clone()))
            .filter(|receiver| !matches!(receiver, Recipe::Mock(_)));
        let argument = arguments.first().and_then(|first| self.value(first, so_far));
        let argument = argument.or_else(|| observed.and_then(|seen| seen.operands.get(1)?.value.clone()));
        let targets = shapes::answering(receiver.as_ref(), method, argument.as_ref(), wanted);
        if targets.is_empty() {
            return None;
        }
        Some(targets.iter().flat_map(|target| self.set(base, target, so_far)).collect())
    }

    fn instance(&mut self, value: &Rc<Term>, classes: &Rc<Term>, wanted: bool, so_far: &Assignment) -> Vec<Assignment> {
        let names: Vec<AccessPathBuf> = match classes.as_ref() {
            Term::Display(terms) => terms.iter().filter_map(|term| self.path(term, so_far)).collect(),
            _ => self.path(classes, so_far).into_iter().collect(),
        };
        let mut ways = Vec::new();
        if let Some(path) = self.path(value, so_far) {
            for name in &names {
                // Missing classes go by their path, real ones by their own name.
                for name in [name.as_str(), name.as_path().own_name()] {
                    let aspect = Question::Instance { of: path.as_path(), class: name }.to_string();
                    if self.facts.decisions.contains_key(aspect.as_str()) {
                        let mut way = so_far.clone();
                        if wanted {
                            // It is of only one missing class.
                            for known in self.facts.decisions.keys() {
                                let is_of = |of| of == path.as_path() && *known != aspect;
                                if matches!(Question::parse(known), Question::Instance { of, .. } if is_of(of)) {
                                    way.insert((*known).to_string(), Decision::Value(Recipe::Bool(false)));
                                }
                            }
                        }
                        way.insert(aspect, Decision::Value(Recipe::Bool(wanted)));
                        ways.push(way);
                        break;
                    }
                }
            }
        }
        let samples = shapes::instances(&names, wanted);
        for sample in &samples {
            ways.extend(self.set(value, sample, so_far));
        }
        ways
    }
}
