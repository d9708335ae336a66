//! From the call to what was observed of it: the items of an iterator, or the results of a coroutine or of a returned
//! function.

use std::collections::BTreeSet;

use ruff_python_ast::token::TokenKind;

use twincell_engine::observed::{Behavior, Observed, Outcome, Slot};
use twincell_values::path::AccessPath;
use twincell_values::value::Decision;

use super::parts::Feature;
use super::refusal::Refusal;
use super::words::Words;
use super::{Case, python};

/// Context managers around the call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shape {
    follow: Follow,
    /// The event loop in which it runs.
    run: Option<EventLoop>,
}

/// The observed part of a result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Follow {
    #[default]
    Itself,
    Items,
    FirstItems,
    /// The items of an asynchronous generator.
    Collected,
    /// The result of calling the result with these arguments.
    Called(Vec<Passed>),
}

/// An argument of a function that is the result.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Passed {
    source: String,
    is_standin: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventLoop {
    Asyncio,
    /// One that does not wait.
    Virtual,
}

impl Shape {
    /// The source of a call with its surroundings.
    pub(super) fn around(&self, call: &str) -> String {
        let run = |call: &str| match self.run {
            None => call.to_string(),
            Some(EventLoop::Asyncio) => format!("asyncio.run({call})"),
            Some(EventLoop::Virtual) => format!("Soon().run_until_complete({call})"),
        };
        match &self.follow {
            Follow::Itself => run(call),
            Follow::Items => all_items(&run(call)),
            Follow::FirstItems => first_items(&run(call)),
            Follow::Collected => run(&format!("collected({call})")),
            Follow::Called(passed) => {
                let sources: Vec<&str> = passed.iter().map(|argument| argument.source.as_str()).collect();
                format!("{}({})", run(call), sources.join(", "))
            }
        }
    }

    /// For a result that is called: the call that makes it, and the call of what was made.
    pub(super) fn called(&self, call: &str) -> Option<(String, String)> {
        match &self.follow {
            Follow::Called(passed) => {
                let sources: Vec<&str> = passed.iter().map(|argument| argument.source.as_str()).collect();
                Some((call.to_owned(), format!("made({})", sources.join(", "))))
            }
            _ => None,
        }
    }

    /// The parts that it needs.
    pub(super) fn features(&self) -> BTreeSet<Feature> {
        let collected = (self.follow == Follow::Collected).then_some(Feature::Collected);
        let time = (self.run == Some(EventLoop::Virtual)).then_some(Feature::VirtualTime);
        collected.into_iter().chain(time).collect()
    }

    /// Whether the standard library and literals are enough for it.
    pub(super) fn is_plain(&self) -> bool {
        let has_standin = matches!(&self.follow, Follow::Called(passed) if passed.iter().any(|one| one.is_standin));
        self.features().is_empty() && !has_standin
    }
}

/// The items of an iterator that ends.
fn all_items(iterator: &str) -> String {
    format!("list({iterator})")
}

/// As many items as are observed. Where an iterator has no end, neither would a test that takes all of them.
pub(super) fn first_items(iterator: &str) -> String {
    format!("list(itertools.islice({iterator}, 20))")
}

/// The items of an iterator, as far as they are needed: all of them if both versions' iterators end.
pub(super) fn items(iterator: &str, new: Option<&Observed>) -> String {
    match new {
        Some(Observed::Iterator { finished: false, .. }) => first_items(iterator),
        _ => all_items(iterator),
    }
}

/// How to get from a result to what was observed of it.
pub(super) fn shape(case: &Case<'_>, old: &Behavior) -> Result<Shape, Refusal> {
    let awaited = old.left(&Slot::Awaited).is_some();
    // What is awaited may wait, too.
    let words = Words::of(case.texts());
    let sleeps = words.has_any(&[TokenKind::Await]) || words.names_like(&["sleep", "wait", "timeout"]);
    let run = if sleeps { EventLoop::Virtual } else { EventLoop::Asyncio };
    let collected = Shape { follow: Follow::Collected, run: Some(run) };
    let is_generator = case.functions.old.is_generator;
    let is_endless = |behavior: &Behavior| {
        matches!(&behavior.outcome, Outcome::Returned(Observed::Iterator { finished: false, .. }))
    };
    let items = if case.record.behaviors.iter().any(is_endless) { Follow::FirstItems } else { Follow::Items };
    let follow = match &old.outcome {
        Outcome::Returned(Observed::Iterator { kind, finished, .. }) => match (kind.as_str(), finished) {
            ("async_generator", true) => return Ok(collected),
            ("async_generator", false) => return Err(Refusal::EndlessAsyncGenerator),
            _ => items,
        },
        Outcome::Raised { .. } if is_generator && case.functions.old.is_async => return Ok(collected),
        Outcome::Raised { .. } if is_generator => items,
        Outcome::Returned(Observed::Called { .. }) => {
            return Ok(Shape { follow: Follow::Called(passed(case)), run: None });
        }
        _ => Follow::Itself,
    };
    Ok(Shape { follow, run: awaited.then_some(run) })
}

/// The arguments of a function that is the result.
fn passed(case: &Case<'_>) -> Vec<Passed> {
    let is_argument = |path: AccessPath<'_>| path.is_of_result() && path.ends_in_call();
    let passed = case.record.choices.iter().filter_map(|choice| match &choice.decision {
        Decision::Value(recipe) if is_argument(AccessPath::from(&choice.path)) => {
            let is_standin = python::has_standin(recipe);
            let answer = || format!("answer({})", python::string(&choice.path));
            Some(Passed { source: if is_standin { answer() } else { python::literal(recipe) }, is_standin })
        }
        _ => None,
    });
    passed.collect()
}

/// The value of the shaped call, from an observed outcome.
pub(super) fn shaped(outcome: &Observed) -> Observed {
    match outcome {
        Observed::Iterator { items, .. } => Observed::List(items.clone()),
        Observed::Called { gave } => gave.as_ref().clone(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coroutine_runs_before_its_result_is_followed() {
        let of = |follow, run| Shape { follow, run }.around("f({})");
        assert_eq!(of(Follow::Items, Some(EventLoop::Asyncio)), "list(asyncio.run(f({})))");
        assert_eq!(of(Follow::FirstItems, None), "list(itertools.islice(f({}), 20))");
        assert_eq!(of(Follow::Collected, Some(EventLoop::Virtual)), "Soon().run_until_complete(collected(f({})))");
        let empty = Passed { source: "{}".into(), is_standin: false };
        assert_eq!(of(Follow::Called(vec![empty]), None), "f({})({})");
    }
}
