//! Injected objects as a person writes them in a test: `Mock(status=404, get=Mock(return_value=1))`.
//!
//! The decisions of an execution form a tree of access paths: attributes, items and results of calls. What such a tree
//! cannot express (an order between objects, a missing class) is refused. Then the stand-in class expresses it.

use std::collections::BTreeMap;

use twincell_engine::protocol::INJECTED_MESSAGE;
use twincell_syntax::python::is_identifier;
use twincell_values::path::{AccessPath, Question, Segment, Segments};
use twincell_values::value::{Choice, Decision, Recipe};

use super::answers::is_said_elsewhere;
use super::python;
use super::refusal::Refusal;

/// The attributes that a `Mock` has itself.
const RESERVED: [&str; 9] =
    ["name", "return_value", "side_effect", "spec", "wraps", "called", "mock_calls", "method_calls", "call_args"];

/// All injected values.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// By the first name of their access path.
    roots: BTreeMap<String, Node>,
    /// The variables of the test for those that have another name there.
    variables: BTreeMap<String, String>,
}

/// A value, and what the code asked of it.
#[derive(Debug, Default)]
struct Node {
    decision: Option<Decision>,
    attributes: BTreeMap<String, Node>,
    items: BTreeMap<String, Node>,
    /// Results by arguments.
    results: BTreeMap<String, Node>,
    length: Option<usize>,
    raises: Option<String>,
    /// Whether some attribute was asked for and is missing.
    is_closed: bool,
}

/// The name that a path starts with, and the steps from there; nothing where such a tree has no place for it.
fn steps(path: AccessPath<'_>) -> Option<(&str, Segments<'_>)> {
    let mut steps = path.segments();
    let Some(Segment::Name(root)) = steps.next() else { return None };
    let is_step = |step| matches!(step, Segment::Attribute(_) | Segment::Subscript(_) | Segment::Call(_));
    let is_known = is_identifier(root) && !path.is_cut() && steps.clone().all(is_step);
    is_known.then_some((root, steps))
}

impl Objects {
    /// Reads the decisions of an execution. Operations that no such object supports are left out: they may not matter,
    /// and if they do, the test does not hold.
    pub(super) fn of(choices: &[Choice], is_discarded: &dyn Fn(&str) -> bool) -> Self {
        let mut objects = Self::default();
        for choice in choices {
            let _ = objects.add(choice, is_discarded(&choice.path));
        }
        objects
    }

    /// Adds a decision, if such an object has a place for it.
    fn add(&mut self, choice: &Choice, is_discarded: bool) -> Option<()> {
        let path = choice.path.as_str();
        let truth = match &choice.decision {
            Decision::Value(Recipe::Bool(truth)) => Some(*truth),
            _ => None,
        };
        match (Question::parse(path), &choice.decision) {
            (question, _) if is_said_elsewhere(question) => {}
            (Question::Length(of), Decision::Value(Recipe::Int(length))) => {
                self.node(of)?.length = usize::try_from(*length).ok();
            }
            (Question::Attribute(path), _) => {
                if truth != Some(true) {
                    let (holder, _) = path.split_attribute()?;
                    self.node(holder)?.is_closed = true;
                }
            }
            (Question::Raise(call), Decision::Raise(class)) if !Question::is_answer(call) => {
                let (callee, _) = AccessPath::new(call).split_call()?;
                self.node(callee)?.raises = Some(class.clone());
            }
            (Question::Value(path), _) if Question::is_answer(path.as_str()) || path.beyond("super").is_some() => {
                return None;
            }
            (Question::Value(path), Decision::Raise(class)) => {
                let (callee, _) = path.split_call()?;
                self.node(callee)?.raises = Some(class.clone());
            }
            (Question::Value(path), decision) => {
                let node = self.node(path)?;
                // Nobody uses the value of this call.
                if !(is_discarded && *decision == Decision::Value(Recipe::None)) {
                    node.decision = Some(decision.clone());
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn node(&mut self, path: AccessPath<'_>) -> Option<&mut Node> {
        let (root, steps) = steps(path)?;
        let mut node = self.roots.entry(root.to_string()).or_default();
        for step in steps {
            node = match step {
                Segment::Attribute(name) => node.attributes.entry(name.to_string()).or_default(),
                Segment::Subscript(key) => node.items.entry(key.to_string()).or_default(),
                Segment::Call(arguments) => node.results.entry(arguments.to_string()).or_default(),
                _ => return None,
            };
        }
        Some(node)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.roots.keys()
    }

    /// The source of the value under a first name.
    pub(super) fn source(&self, name: &str) -> Result<String, Refusal> {
        self.roots.get(name).map_or_else(|| Ok("SimpleNamespace()".into()), Node::source)
    }

    /// The same, with an object under another name in the test.
    pub(super) fn with_variable(mut self, name: &str, variable: &str) -> Self {
        self.variables.insert(name.to_owned(), variable.to_owned());
        self
    }

    /// The attributes that an object needs, each as source.
    pub(super) fn attributes_of(&self, name: &str) -> Result<Vec<(String, String)>, Refusal> {
        let Some(node) = self.roots.get(name) else { return Ok(vec![]) };
        if !node.items.is_empty() || !node.results.is_empty() || node.length.is_some() || node.raises.is_some() {
            return Err(Refusal::MoreThanAttributes);
        }
        let source = |(name, node): (&String, &Node)| Ok((name.clone(), node.source()?));
        node.attributes.iter().map(source).collect()
    }

    /// How a test reaches the value at an access path, from the variable of its first name.
    pub(super) fn reach(&self, path: &str) -> Option<String> {
        let (root, steps) = steps(AccessPath::new(path))?;
        let mut node = self.roots.get(root);
        let mut text = self.variables.get(root).map_or(root, String::as_str).to_owned();
        for step in steps {
            match step {
                Segment::Attribute(name) => node = node.and_then(|node| node.attributes.get(name)),
                Segment::Subscript(key) => node = node.and_then(|node| node.items.get(key)),
                Segment::Call(arguments) => {
                    let results = node.map(|node| &node.results);
                    if results.is_some_and(|results| results.len() > 1) {
                        return None;
                    }
                    node = results.and_then(|results| results.get(arguments));
                    text.push_str(".return_value");
                    continue;
                }
                _ => return None,
            }
            text.push_str(&step.to_string());
        }
        Some(text)
    }
}

impl Node {
    fn source(&self) -> Result<String, Refusal> {
        match &self.decision {
            Some(Decision::Value(recipe)) => self.value(recipe),
            None => self.object(),
            Some(_) => Err(Refusal::SharedObject),
        }
    }

    fn value(&self, recipe: &Recipe) -> Result<String, Refusal> {
        if let Recipe::Mock(_) = recipe {
            return self.object();
        }
        if !self.attributes.is_empty() || !self.results.is_empty() {
            return Err(Refusal::ExtendedValue);
        }
        if !python::has_standin(recipe) {
            return Ok(python::literal(recipe));
        }
        let part = |key: &str, item: &Recipe| match self.items.get(key) {
            Some(node) => node.value(item),
            None => Node::default().value(item),
        };
        let all = |items: &[Recipe]| {
            let parts = items.iter().enumerate().map(|(index, item)| part(&index.to_string(), item));
            parts.collect::<Result<Vec<_>, _>>().map(|parts| parts.join(", "))
        };
        match recipe {
            Recipe::List(items) => Ok(format!("[{}]", all(items)?)),
            Recipe::Tuple(items) if items.len() == 1 => Ok(format!("({},)", all(items)?)),
            Recipe::Tuple(items) => Ok(format!("({})", all(items)?)),
            Recipe::Dict(entries) if entries.iter().all(|(key, _)| !python::has_standin(key)) => {
                let parts = entries.iter().map(|(key, value)| {
                    let key = python::literal(key);
                    part(&key, value).map(|value| format!("{key}: {value}"))
                });
                Ok(format!("{{{}}}", parts.collect::<Result<Vec<_>, _>>()?.join(", ")))
            }
            _ => Err(Refusal::ObjectsInASet),
        }
    }

    fn object(&self) -> Result<String, Refusal> {
        if !self.items.is_empty() || self.length.is_some() {
            return self.container();
        }
        let mut parts = Vec::new();
        let results: Vec<String> = self.results.values().map(Node::source).collect::<Result<_, _>>()?;
        let is_called = !results.is_empty() || self.raises.is_some();
        if let Some(class) = &self.raises {
            parts.push(format!("side_effect={class}('{INJECTED_MESSAGE}')"));
        } else if let Some(first) = results.first() {
            // Results depend on the arguments, but one result for all may do.
            if first != "Mock()" {
                parts.push(format!("return_value={first}"));
            }
        }
        let is_plain = !is_called && self.has_no_calls() && !self.attributes.is_empty();
        for (name, node) in &self.attributes {
            let value = node.source()?;
            let is_special = name.starts_with("assert") || name.starts_with("__") || RESERVED.contains(&name.as_str());
            if !is_identifier(name) || name.starts_with("__") || is_special && !is_plain {
                return Err(Refusal::AttributeOfAMock(name.clone()));
            }
            if is_plain || value != "Mock()" {
                parts.push(format!("{name}={value}"));
            }
        }
        if self.is_closed && !is_plain && (is_called || !parts.is_empty()) {
            return Err(Refusal::MockWithoutAttribute);
        }
        let class = if is_plain || self.is_closed { "SimpleNamespace" } else { "Mock" };
        Ok(format!("{class}({})", parts.join(", ")))
    }

    fn has_no_calls(&self) -> bool {
        self.results.is_empty()
            && self.raises.is_none()
            && !matches!(
                &self.decision,
                Some(Decision::Value(Recipe::Mock(twincell_values::value::AbstractValue::Callable)))
            )
            && self.attributes.values().chain(self.items.values()).all(Node::has_no_calls)
    }

    /// A value whose items were asked for: a list if the keys are numbers, and otherwise a dictionary.
    fn container(&self) -> Result<String, Refusal> {
        if !self.attributes.is_empty() || !self.results.is_empty() {
            return Err(Refusal::ItemsAndAttributes);
        }
        let numbers: Option<Vec<usize>> = self.items.keys().map(|key| key.parse().ok()).collect();
        match (numbers, self.length) {
            (Some(numbers), length) => {
                let length = length.unwrap_or_else(|| numbers.iter().max().map_or(0, |last| last + 1));
                if length > 20 || numbers.iter().any(|number| *number >= length) {
                    return Err(Refusal::ItemsBeyondLength);
                }
                let parts = (0..length)
                    .map(|index| self.items.get(&index.to_string()).map_or_else(|| Ok("Mock()".into()), Node::source));
                Ok(format!("[{}]", parts.collect::<Result<Vec<_>, _>>()?.join(", ")))
            }
            (None, None) => {
                let parts = self.items.iter().map(|(key, node)| Ok(format!("{key}: {}", node.source()?)));
                Ok(format!("{{{}}}", parts.collect::<Result<Vec<_>, Refusal>>()?.join(", ")))
            }
            (None, Some(_)) => Err(Refusal::LengthOfAMapping),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_values::value::AbstractValue;

    fn objects(choices: &[(&str, Recipe)]) -> Objects {
        let choices: Vec<Choice> = choices
            .iter()
            .map(|(path, recipe)| Choice { path: (*path).into(), decision: Decision::Value(recipe.clone()) })
            .collect();
        Objects::of(&choices, &|_| false)
    }

    const OBJECT: Recipe = Recipe::Mock(AbstractValue::Object);

    #[test]
    fn attributes_items_and_results_are_put_together() {
        let found = objects(&[
            ("request", OBJECT),
            ("request.meta", OBJECT),
            ("request.meta['retries']", Recipe::Int(0)),
            ("client", OBJECT),
            ("client.get('a')", OBJECT),
            ("client.get('a').status", Recipe::Int(404)),
        ]);
        assert_eq!(found.source("request").unwrap(), "SimpleNamespace(meta={'retries': 0})");
        assert_eq!(found.source("client").unwrap(), "Mock(get=Mock(return_value=SimpleNamespace(status=404)))");
        assert_eq!(found.reach("client.get('a').status").unwrap(), "client.get.return_value.status");
    }

    #[test]
    fn an_object_of_the_test_has_attributes_and_a_name() {
        let found = objects(&[("self.items", Recipe::List(vec![])), ("self.limit", Recipe::Int(3))]);
        let found = found.with_variable("self", "shelf");
        let expected = [("items", "[]"), ("limit", "3")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(found.attributes_of("self").unwrap(), expected);
        assert_eq!(found.reach("self.items").unwrap(), "shelf.items");
        let called = objects(&[("self(1)", Recipe::Int(1))]);
        assert!(called.attributes_of("self").is_err());
    }

    #[test]
    fn names_in_any_script_are_names() {
        for path in ["नमस्ते.a", "x€", "e\u{301}.b", "名前.名", "x.a€", "x'é", "x é"] {
            let known = objects(&[(path, Recipe::Int(1))]).names().count();
            assert_eq!(known, usize::from(!path.contains(['€', '\'', ' ']) || path == "x.a€"), "{path}");
        }
        let found = objects(&[("é", OBJECT), ("é.à", Recipe::Int(1))]);
        assert_eq!(found.source("é").unwrap(), "SimpleNamespace(à=1)");
    }

    #[test]
    fn what_is_asked_about_a_value_is_no_object() {
        let asked = ["zero(x)", "str(x)", "repr(x)", "injected(f)", "place of 'a' in x", "raise str(x)", "inner in x"];
        let one = |path| objects(&[(path, Recipe::Int(1))]).names().count();
        assert_eq!(asked.map(one), [0; 7]);
    }

    #[test]
    fn what_a_mock_cannot_say_is_refused() {
        assert_eq!(objects(&[("order(x, y)", Recipe::Int(0))]).names().count(), 0);
        let extended = objects(&[("x", Recipe::Int(1)), ("x.y", Recipe::Int(2))]);
        assert!(extended.source("x").is_err());
    }
}
