//! The answers of a reproducer for each access path, and the real functions that answer as recorded.

use std::collections::{BTreeMap, BTreeSet};

use twincell_syntax::Side;
use twincell_syntax::python::{conversion, is_identifier};
use twincell_syntax::site::SiteKind;
use twincell_values::path::{AccessPath, Question};
use twincell_values::value::{Decision, Recipe};

use super::python;
use super::refusal::Refusal;
use super::writer::Writer;

/// What stands in a reproducer for one access path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    /// The value as Python source.
    pub source: String,
    /// It names a class of the file, so that it comes after the class.
    pub is_late: bool,
}

impl Answer {
    fn plain(source: String) -> Self {
        Self { source, is_late: false }
    }

    fn late(source: String) -> Self {
        Self { source, is_late: true }
    }
}

impl Writer<'_> {
    /// Answers for all decisions that are not expressed elsewhere.
    pub(super) fn answers(
        &self,
        patched: &BTreeMap<String, BTreeSet<String>>,
    ) -> Result<BTreeMap<String, Answer>, Refusal> {
        let mut answers: BTreeMap<String, Answer> = BTreeMap::new();
        let mut lengths: BTreeMap<String, usize> = BTreeMap::new();
        let roots: BTreeSet<String> = Side::BOTH
            .into_iter()
            .filter_map(|side| self.arguments(side).ok())
            .flatten()
            .map(|argument| argument.path)
            .filter(|path| !self.looked_up.contains(path))
            .collect();
        for choice in &self.case.record.choices {
            let path = choice.path.as_str();
            if let Some((base, index)) = item(path) {
                let length = lengths.entry(base.to_string()).or_default();
                *length = (*length).max(index + 1);
            }
            let question = Question::parse(path);
            if is_said_elsewhere(question) || roots.contains(path) || self.is_set_on_machine(path) {
                continue;
            }
            let is_patched = callee(path).is_some_and(|callee| patched.contains_key(callee));
            let value = match &choice.decision {
                Decision::Raise(name) => Answer::late(format!("Raises({})", python::string(name))),
                Decision::Fail => Answer::late("Raises()".into()),
                Decision::Default => continue,
                Decision::Same(other) => Answer::late(format!("Same({})", python::string(&python::masked(other)))),
                Decision::Value(Recipe::Mock(_)) if !is_patched && !is_told(path) => continue,
                // An operation that did not fail.
                Decision::Value(Recipe::None) if !is_patched && matches!(question, Question::Raise(_)) => continue,
                // The value of a call that nobody uses.
                Decision::Value(Recipe::None) if !is_patched && self.is_discarded(path) => continue,
                Decision::Value(recipe) if python::has_named(recipe) => Answer::late(python::literal(recipe)),
                Decision::Value(recipe) => Answer::plain(python::literal(recipe)),
            };
            let path = python::masked(path);
            if answers.insert(path.clone(), value.clone()).is_some_and(|known| known != value) {
                return Err(Refusal::SamePath(path.clone()));
            }
        }
        // The number of items that unpacking asked for says how many there are.
        for (path, length) in lengths {
            let known = self.decisions.contains_key(Question::Length((&path).into()).to_string().as_str());
            let plain = matches!(self.decisions.get(path.as_str()), Some(Decision::Value(recipe))
                if !matches!(recipe, Recipe::Mock(_)));
            if !known && !plain && !path.is_empty() {
                let path = python::masked(&path);
                let question = Question::Length((&path).into()).to_string();
                answers.insert(question, Answer::plain(length.to_string()));
            }
        }
        Ok(answers)
    }

    pub(super) fn is_discarded(&self, path: &str) -> bool {
        AccessPath::new(path).ends_in_call()
            && !is_handed(path)
            && callee(path).is_some()
            && self.case.record.injections.iter().all(|injection| injection.path != path)
    }

    /// Real functions whose results were recorded: by their names in access paths, and where the code finds them.
    pub(super) fn patched(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut patched: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let recorded = self.case.record.behaviors.iter().flat_map(|behavior| &behavior.calls);
        let callees: BTreeSet<&str> = self
            .decisions
            .keys()
            .filter(|path| !self.is_set_on_machine(path))
            .filter_map(|path| callee(path))
            .chain(recorded.map(|call| call.callee.as_str()))
            .collect();
        let sites = self.case.sites.iter().flat_map(|table| &table.sites);
        for site in sites.filter(|site| site.kind == SiteKind::Call) {
            let Some(written) = callee(&site.path).filter(|path| AccessPath::new(path).is_dotted()) else {
                continue;
            };
            for name in callees.iter().filter(|name| !name.is_empty()) {
                let plain = *name == written && !written.contains('.') && !self.decisions.contains_key(written);
                if plain || written.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')) {
                    patched.entry(name.to_string()).or_default().insert(written.to_string());
                }
            }
        }
        patched.remove("super");
        if self.has_own_class() {
            // Methods of the module's own class whose results were recorded.
            for name in callees.into_iter().filter(|name| is_own_method(name)) {
                patched.entry(name.to_string()).or_default();
            }
        }
        patched
    }
}

/// Whether a function or class was handed to the call of a path: without an answer, it is what decorating it gives.
fn is_handed(path: &str) -> bool {
    AccessPath::new(path).takes_code()
}

/// Whether an object must be among the answers, since a path that is not there stands for something else: what was
/// decorated, what the name of a conversion promises, an earlier call, the protocol that a dunder names, or a part of a
/// mapping.
fn is_told(path: &str) -> bool {
    let method = |callee| AccessPath::new(callee).split_attribute().map(|(_, name)| name);
    let is_again = AccessPath::new(path).without_repetition().as_str() != path;
    let is_looked_up = callee(path).and_then(method) == Some("get");
    let called = AccessPath::new(path).split_call().filter(|(_, arguments)| arguments.is_empty());
    let of_mapping = called.and_then(|(callee, _)| method(callee.as_str()));
    let of_mapping = of_mapping.is_some_and(|name| matches!(name, "items" | "keys" | "values" | "copy"));
    let is_conversion = callee(path).is_some_and(|callee| conversion(AccessPath::new(callee).last_name()).is_some());
    is_handed(path) || is_conversion || is_again || path.ends_with("__") || is_looked_up || of_mapping
}

/// `self.name`.
pub(super) fn is_own_method(callee: &str) -> bool {
    let name = callee.strip_prefix("self.").or_else(|| callee.strip_prefix("cls."));
    name.is_some_and(is_identifier)
}

/// `x`, 2 of `x[2]`.
fn item(path: &str) -> Option<(&str, usize)> {
    let (base, index) = AccessPath::new(path).split_item()?;
    Some((base.as_str(), index.parse().ok()?))
}

/// The callee of the call that ends a path, without `raise ` and a number of repetition.
fn callee(path: &str) -> Option<&str> {
    let path = match Question::parse(path) {
        Question::Raise(operation) => operation,
        _ => path,
    };
    let path = AccessPath::new(path).without_repetition();
    if Question::is_answer(path.as_str()) {
        return None;
    }
    path.callee().map(AccessPath::as_str)
}

/// Questions that a test answers by what it passes and by what is there.
pub(super) fn is_said_elsewhere(question: Question<'_>) -> bool {
    use Question::{Injected, Keyword, Positional, Stable, Succeeds};
    matches!(question, Positional(_) | Keyword { .. } | Stable(_) | Succeeds(_) | Injected(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_about_values_call_nothing_of_the_code() {
        assert_eq!(callee("client.get('a')#2"), Some("client.get"));
        assert_eq!(callee("raise load(x)"), Some("load"));
        for path in
            ["str(x)", "repr(x.y)", "raise str(x)", "zero(x)", "injected(f)", "len(f(x))", "'a' in f(x)", "result(x)"]
        {
            assert_eq!(callee(path), None, "{path}");
        }
    }
}
