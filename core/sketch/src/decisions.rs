//! Values within values as the decisions of an execution.

use twincell_values::path::{AccessPath, AccessPathBuf, Question, Segment};
use twincell_values::value::{Decision, Fixed, Recipe};

use crate::environment::{Environment, Node};

impl Environment {
    /// The decisions for what is reached without a call, since the arguments of a call are known only while it runs.
    pub fn decisions(&self) -> Fixed {
        let mut found = Fixed::new();
        let mut waiting: Vec<(AccessPathBuf, &Node)> =
            self.names.iter().map(|(name, node)| (name.as_str().into(), node)).collect();
        while let Some((path, node)) = waiting.pop() {
            let at = path.as_path();
            waiting.extend(node.attributes.iter().map(|(name, inner)| (at.attribute(name), inner)));
            waiting.extend(node.items.iter().map(|(key, inner)| (at.item(key), inner)));
            found.extend(node.length().map(|length| (Question::Length(at).to_string(), length)));
            found.extend(node.truth().map(|truth| (Question::Truth(at).to_string(), truth)));
            found.extend(node.decision().map(|decision| (path.into_string(), decision)));
        }
        found
    }

    /// The decision for what an execution asked. `None` if the text says nothing of it.
    pub fn decision(&self, question: &str) -> Option<Decision> {
        match Question::parse(question) {
            Question::Value(path) => self.node(path)?.decision(),
            Question::Length(path) => self.node(path)?.length(),
            Question::Truth(path) => self.node(path)?.truth(),
            _ => None,
        }
    }

    /// What stands at an access path. Every call of a value gives the same.
    fn node(&self, path: AccessPath<'_>) -> Option<&Node> {
        let segments: Vec<Segment<'_>> = path.segments().collect();
        let (is_awaited, segments) = match segments.split_first()? {
            (Segment::Await, rest) => (true, rest),
            _ => (false, &segments[..]),
        };
        let (first, rest) = segments.split_first()?;
        let child = |children: &'_ [(String, Node)], key: &str| children.iter().position(|(known, _)| known == key);
        let mut node = match first {
            Segment::Name(name) => &self.names[child(&self.names, name)?].1,
            Segment::Group(inner) => self.node((*inner).into())?,
            _ => return None,
        };
        for segment in rest {
            node = match segment {
                Segment::Attribute(name) => &node.attributes[child(&node.attributes, name)?].1,
                Segment::Subscript(key) => &node.items[child(&node.items, key)?].1,
                Segment::Call(_) => &node.calls.first()?.1,
                Segment::Repetition(_) => node,
                _ => return None,
            };
        }
        if is_awaited { node.awaited.as_deref() } else { Some(node) }
    }
}

impl Node {
    /// The value, if the text says more of it than that it is called.
    fn decision(&self) -> Option<Decision> {
        let value = self.value.as_ref().filter(|_| !self.is_unused)?;
        let is_known = match value {
            Recipe::Mock(_) => !self.attributes.is_empty() || !self.items.is_empty() || self.entered.is_some(),
            // Whether a library is there is not known here.
            Recipe::Made(_) => false,
            _ => true,
        };
        is_known.then(|| Decision::Value(value.clone()))
    }

    fn length(&self) -> Option<Decision> {
        let length = i64::try_from(self.length?).ok()?;
        Some(Decision::Value(Recipe::Int(length)))
    }

    /// An object that a condition wants to be false is `None`.
    fn truth(&self) -> Option<Decision> {
        let is_object = matches!(self.value, Some(Recipe::Mock(_)));
        is_object.then_some(Decision::Value(Recipe::Bool(true)))
    }
}

#[cfg(test)]
mod tests {
    use twincell_values::value::AbstractValue;

    use crate::{Scenario, Sketch};

    use super::*;

    const TEXT: &str = "def f(order, load, *rest, unused=1):\n    if order.meta['n'] > 8 and load(order)['kind'] == 'a':\n        return order.items\n";

    #[test]
    fn what_is_reached_without_a_call_is_decided_before_anything_runs() {
        let decisions = Sketch::of_function(TEXT).environment(&Scenario::default()).decisions();
        let value = |path: &str| match decisions.get(path) {
            Some(Decision::Value(value)) => Some(value.clone()),
            _ => None,
        };
        assert_eq!(value("order"), Some(Recipe::Mock(AbstractValue::Object)));
        assert_eq!(value("order.meta['n']"), Some(Recipe::Int(9)));
        assert_eq!(value("bool(order)"), Some(Recipe::Bool(true)));
        assert!(["load", "rest", "unused", "order.items"].iter().all(|path| value(path).is_none()), "{decisions:?}");
    }

    #[test]
    fn a_call_gives_the_same_whatever_its_arguments() {
        let environment = Sketch::of_function(TEXT).environment(&Scenario::default());
        let kind = Some(Decision::Value(Recipe::Str("a".into())));
        assert_eq!(environment.decision("load(order)['kind']"), kind);
        assert_eq!(environment.decision("load(<order>)#2['kind']"), kind);
        assert_eq!(environment.decision("load(order)['other']"), None);
        assert_eq!(environment.decision("raise load(order)"), None);
    }

    #[test]
    fn a_parameter_may_have_the_name_of_a_builtin() {
        let sketch = Sketch::of_function("def f(input):\n    if input == 'x':\n        return 1\n");
        assert_eq!(sketch.condition_lines, [2]);
        let decisions = sketch.environment(&Scenario::default()).decisions();
        assert_eq!(decisions.get("input"), Some(&Decision::Value(Recipe::Str("x".into()))));
    }
}
