//! The decisions of an execution as values that hold values: what a prefix has to make.

use std::collections::BTreeSet;

use twincell_syntax::python::is_builtin;
use twincell_values::path::{AccessPath, Question, Segment};
use twincell_values::value::{Choice, Decision, Recipe};

use crate::ArgumentPlace;

/// What the snippet does not define, by name, in the order in which an execution asked for it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Environment {
    pub names: Vec<(String, Node)>,
}

/// What an execution found at one access path.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    pub path: String,
    pub value: Option<Recipe>,
    /// The exception that asking for it raises.
    pub raises: Option<String>,
    pub attributes: Vec<(String, Node)>,
    /// By the text of the key.
    pub items: Vec<(String, Node)>,
    /// By the text of the arguments, with the number of a repetition behind it.
    pub calls: Vec<(String, Node)>,
    pub awaited: Option<Box<Node>>,
    pub truth: Option<bool>,
    pub length: Option<usize>,
    pub number: Option<i64>,
    pub text: Option<String>,
    /// The missing class that it is of.
    pub class: Option<String>,
    /// (class, whether it is an instance of it).
    pub instances: Vec<(String, bool)>,
    /// (item, whether it is in it).
    pub members: Vec<(String, bool)>,
    /// Whether it contains whatever it is asked for.
    pub contains: Option<Contains>,
    /// A dictionary gives this for keys that nobody knows before it runs.
    pub default: Option<Box<Node>>,
    /// It is a context manager that gives itself, and whether it is an asynchronous one.
    pub entered: Option<bool>,
    /// It gives its items to `async for`.
    pub is_iterated_async: bool,
    /// It decorates functions.
    pub decorates: bool,
    /// The functions that calls of it are given, and that it calls.
    pub gives: Vec<Callback>,
    /// Nothing is done with it.
    pub is_unused: bool,
}

/// A function that a stand-in is given and calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Callback {
    pub place: ArgumentPlace,
    /// It is one of a list.
    pub is_item: bool,
    pub name: String,
    pub arguments: Vec<Node>,
    pub is_async: bool,
    /// Other calls of the stand-in are given no function there.
    pub is_sometimes: bool,
    /// It is called once, since it passes itself on.
    pub is_once: bool,
}

/// What is in an object: everything or nothing, or only these.
#[derive(Debug, Clone, PartialEq)]
pub enum Contains {
    All(bool),
    Only(Vec<Recipe>),
}

impl Node {
    pub fn new(path: String) -> Self {
        Self { path, ..Self::default() }
    }

    /// Writes all paths anew that begin with one, which now stands elsewhere.
    pub(crate) fn move_to(&mut self, before: &str, now: &str) {
        if let Some(rest) = self.path.strip_prefix(before) {
            self.path = format!("{now}{rest}");
        }
        let inner = self.attributes.iter_mut().chain(&mut self.items).chain(&mut self.calls).map(|(_, node)| node);
        let inner = inner.chain(self.awaited.as_deref_mut()).chain(self.default.as_deref_mut());
        let given = self.gives.iter_mut().flat_map(|callback| &mut callback.arguments);
        inner.chain(given).for_each(|node| node.move_to(before, now));
    }

    /// The last item of several that stand in a row.
    pub fn last_row(&self) -> Option<&Self> {
        let is_row = matches!(&self.value, Some(Recipe::List(items)) if items.len() == self.items.len())
            || self.length == Some(self.items.len());
        self.items.last().filter(|_| is_row).map(|(_, node)| node)
    }

    fn prune(&mut self, paths: &BTreeSet<String>) {
        self.attributes.retain(|(_, node)| !paths.contains(&node.path));
        while self.last_row().is_some_and(|last| paths.contains(&last.path)) {
            self.items.pop();
            if let Some(Recipe::List(items)) = &mut self.value {
                items.pop();
            }
            self.length = self.length.map(|_| self.items.len());
        }
        let inner = self.attributes.iter_mut().chain(&mut self.items).chain(&mut self.calls).map(|(_, node)| node);
        inner.chain(self.default.as_deref_mut()).for_each(|node| node.prune(paths));
    }
}

impl Environment {
    #[cfg(test)]
    pub fn new(choices: &[Choice]) -> Self {
        let mut environment = Self::default();
        environment.extend(choices);
        environment
    }

    pub fn extend(&mut self, choices: &[Choice]) {
        choices.iter().for_each(|choice| self.add(choice));
    }

    /// Takes out what stands at these paths.
    pub fn prune(&mut self, paths: &BTreeSet<String>) {
        if !paths.is_empty() {
            self.names.iter_mut().for_each(|(_, node)| node.prune(paths));
        }
    }

    /// Whether it has other meanings for names of builtins.
    pub fn has_builtins(&self) -> bool {
        self.names.iter().any(|(name, _)| is_builtin(name))
    }

    fn add(&mut self, choice: &Choice) {
        let value = match &choice.decision {
            Decision::Value(value) => Some(value),
            _ => None,
        };
        let truth = || value.map(|value| *value == Recipe::Bool(true));
        let count = || match value {
            Some(Recipe::Int(count)) => Some(*count),
            _ => None,
        };
        let text = || match value {
            Some(Recipe::Str(text)) => Some(text.clone()),
            _ => None,
        };
        match Question::parse(&choice.path) {
            Question::Value(path) => {
                let Some(node) = self.at(path) else { return };
                match &choice.decision {
                    Decision::Value(value) => {
                        // What was in it before is no part of it.
                        if !matches!(value, Recipe::Mock(_)) {
                            node.items.clear();
                            node.default = None;
                        }
                        node.value = Some(value.clone());
                    }
                    Decision::Raise(class) => node.raises = Some(class.clone()),
                    Decision::Default | Decision::Same(_) | Decision::Fail => {}
                }
            }
            Question::Raise(path) => {
                if let (Some(node), Decision::Raise(class)) = (self.at(path.into()), &choice.decision) {
                    node.raises = Some(class.clone());
                }
            }
            Question::Truth(path) => self.note(path, |node| node.truth = truth()),
            Question::Length(path) => {
                self.note(path, |node| node.length = count().and_then(|count| usize::try_from(count).ok()));
            }
            Question::Number(path) => self.note(path, |node| node.number = count()),
            Question::Class(path) => self.note(path, |node| node.class = text()),
            Question::Text(path) => self.note(path, |node| node.text = text()),
            Question::Instance { of, class } => {
                self.note(of, |node| node.instances.extend(truth().map(|truth| (class.to_owned(), truth))));
            }
            Question::Item { item, holder } => {
                self.note(holder, |node| node.members.extend(truth().map(|truth| (item.to_owned(), truth))));
            }
            _ => {}
        }
    }

    fn note(&mut self, path: AccessPath<'_>, note: impl FnOnce(&mut Node)) {
        if let Some(node) = self.at(path) {
            note(node);
        }
    }

    /// The node of an access path, made if need be. `None` if the path is of no form that a prefix can follow.
    pub fn at(&mut self, path: AccessPath<'_>) -> Option<&mut Node> {
        let segments: Vec<Segment<'_>> = path.segments().collect();
        let (is_awaited, segments) = match segments.split_first()? {
            (Segment::Await, rest) => (true, rest),
            _ => (false, &segments[..]),
        };
        let (first, rest) = segments.split_first()?;
        let follows = |segment: &Segment<'_>| {
            use Segment as S;
            matches!(segment, S::Attribute(_) | S::Subscript(_) | S::Call(_) | S::Repetition(_) | S::Number(_))
        };
        if !rest.iter().all(follows) {
            return None;
        }
        let mut node = match first {
            Segment::Name(name) => child(&mut self.names, name, String::new()),
            Segment::Group(inner) => self.at((*inner).into())?,
            _ => return None,
        };
        let mut rest = rest.iter().peekable();
        while let Some(segment) = rest.next() {
            let mut path = format!("{}{segment}", node.path);
            node = match segment {
                Segment::Attribute(name) => child(&mut node.attributes, name, path),
                Segment::Subscript(key) => child(&mut node.items, key, path),
                Segment::Call(arguments) => {
                    let mut key = (*arguments).to_owned();
                    if let Some(again @ Segment::Repetition(_)) = rest.peek() {
                        key += &again.to_string();
                        path += &again.to_string();
                        rest.next();
                    }
                    child(&mut node.calls, &key, path)
                }
                _ => node,
            };
        }
        if is_awaited {
            let path = AccessPath::new(&node.path).awaited();
            node = node.awaited.get_or_insert_with(|| Box::new(Node::new(path.into_string())));
        }
        Some(node)
    }
}

fn child<'n>(children: &'n mut Vec<(String, Node)>, key: &str, path: String) -> &'n mut Node {
    let at = children.iter().position(|(known, _)| known == key).unwrap_or_else(|| {
        let path = if path.is_empty() { key.to_owned() } else { path };
        children.push((key.to_owned(), Node::new(path)));
        children.len() - 1
    });
    &mut children[at].1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(path: &str, value: Recipe) -> Choice {
        Choice { path: path.into(), decision: Decision::Value(value) }
    }

    #[test]
    fn decisions_become_values_within_values() {
        let environment = Environment::new(&[
            choice("user.load('a').name", Recipe::Str("Ann".into())),
            choice("user.load('a')#2", Recipe::None),
            choice("(await user.rows())[0]", Recipe::Int(3)),
            choice("len(user.items)", Recipe::Int(2)),
            choice("isinstance(user, Admin)", Recipe::Bool(true)),
        ]);
        let [(name, user)] = environment.names.as_slice() else { panic!("{environment:?}") };
        assert_eq!((name.as_str(), user.path.as_str()), ("user", "user"));
        let [(load, method), (rows, awaitable), (_, items)] = user.attributes.as_slice() else { panic!("{user:?}") };
        assert_eq!((load.as_str(), rows.as_str(), items.length), ("load", "rows", Some(2)));
        let keys: Vec<&str> = method.calls.iter().map(|(arguments, _)| arguments.as_str()).collect();
        assert_eq!(keys, ["'a'", "'a'#2"]);
        assert_eq!(method.calls[0].1.attributes[0].1.value, Some(Recipe::Str("Ann".into())));
        let awaited = awaitable.calls[0].1.awaited.as_ref().unwrap();
        assert_eq!((awaited.items[0].0.as_str(), awaited.items[0].1.value.as_ref()), ("0", Some(&Recipe::Int(3))));
        assert_eq!(user.instances, [("Admin".to_owned(), true)]);
    }
}
