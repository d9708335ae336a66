//! Whether something is in a mock object: among its keys, or among its items.

use pyo3::prelude::*;

use twincell_values::drawing::PathKnowledge;
use twincell_values::path::{AccessPath, Question};
use twincell_values::reading::Key;
use twincell_values::value::{Decision, Recipe};

use crate::execution::object::MockObject;
use crate::execution::state;
use crate::inject::{comparing, failures, operators};
use crate::observe;

/// How often a value is among the items of an object, where nothing else is known.
const MEMBER_PROBABILITY: f64 = 0.5;

pub(crate) fn contains(slf: &Bound<'_, MockObject>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let text = observe::short(value);
    if let Ok(assigned) = slf.get().assigned.lock()
        && let Some((_, _, value)) = assigned.items.iter().rev().find(|(own, _, _)| *own == text)
    {
        return Ok(value.is_some());
    }
    let path = slf.get().path();
    // A test for presence is not answered by a failure.
    let question = || Question::Item { item: &text, holder: path }.to_string();
    failures::may_by(slf.py(), question, |name| !is_not_found(name))?;
    if has_known_items(path) { is_among_items(slf, value, &text) } else { Ok(has_item(path, &text)) }
}

/// Whether the code also walks through the items of an object, which is no mapping, as far as it tells.
fn has_known_items(path: AccessPath<'_>) -> bool {
    let walks = |execution: &mut state::Execution| {
        let is_position = |key: &Key| matches!(key, Key::Int | Key::Slice);
        !execution.loading
            && execution.index.is_iterated(path)
            && execution.index.known(path).is_none_or(|(_, uses)| uses.keys.iter().all(is_position))
    };
    state::with(walks).unwrap_or(false)
}

/// Whether a value equals one of the items, so that `x in y` and a walk through `y` agree. An item that nothing is known
/// of may be made this very value.
fn is_among_items(slf: &Bound<'_, MockObject>, value: &Bound<'_, PyAny>, text: &str) -> PyResult<bool> {
    let path = slf.get().path();
    let length = comparing::length(path);
    let recipe = observe::comparisons::plain(value).filter(|recipe| !recipe.has_object());
    state::with(|execution| {
        let draw = &mut execution.draw;
        let question = Question::Item { item: text, holder: path }.to_string();
        let mut open = (0..length).map(|index| path.item(index).bounded());
        if let Some(recipe) = recipe
            && let Some(item) = open.find(|item| draw.given(item.as_str()).is_none())
            && draw.glance(&question, MEMBER_PROBABILITY)
        {
            draw.settle(item.as_str(), Decision::Value(recipe));
        }
    });
    for index in 0..length {
        let item = operators::item(slf.py(), path, index)?.into_bound(slf.py());
        if item.is(value) || item.eq(value)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether this is among the items of an object, or among its keys. A key that was looked up successfully is; one whose
/// look-up failed is not.
pub(crate) fn has_item(path: AccessPath<'_>, key: &str) -> bool {
    let has = state::with(|execution| {
        if execution.loading {
            return false;
        }
        let is_key = is_key(execution, path, key);
        let draw = &mut execution.draw;
        let question = Question::Item { item: key, holder: path }.to_string();
        if is_key && draw.taken(&question).is_none() {
            let item = path.item(key).bounded();
            // A planned answer decides about a planned item.
            let is_planned = draw.given(&question).is_some();
            let known = match if is_planned { draw.taken(item.as_str()) } else { draw.given(item.as_str()) } {
                Some(Decision::Value(_) | Decision::Same(_)) => Some(true),
                Some(Decision::Fail) => Some(false),
                Some(Decision::Raise(name)) if is_not_found(name) => Some(false),
                _ => None,
            };
            if let Some(known) = known {
                draw.imply(&question, Decision::Value(Recipe::Bool(known)));
            }
        }
        draw.truth(&question, MEMBER_PROBABILITY)
    });
    has.unwrap_or(false)
}

/// Whether this exception says that there is no such item.
fn is_not_found(name: &str) -> bool {
    matches!(name, "KeyError" | "IndexError" | "LookupError")
}

/// Whether it was decided before that this is, or is not, among the keys of an object, without its value. A look-up that
/// was planned to fail does not, if the key is there.
pub(crate) fn known_item(path: AccessPath<'_>, key: &str) -> Option<bool> {
    let known = |execution: &mut state::Execution| {
        let item = path.item(key).bounded();
        if execution.loading || !is_key(execution, path, key) || execution.draw.taken(item.as_str()).is_some() {
            return None;
        }
        // The other version may have run in a process of its own.
        let known = match execution.draw.given(&Question::Item { item: key, holder: path }.to_string()) {
            Some(Decision::Value(Recipe::Bool(known))) => *known,
            _ => return None,
        };
        let fails = match execution.draw.given(item.as_str()) {
            Some(Decision::Fail) => true,
            Some(Decision::Raise(name)) => is_not_found(name),
            _ => false,
        };
        if known && fails {
            execution.draw.forget(item.as_str());
        }
        Some(known)
    };
    state::with(known).flatten()
}

/// An object in which texts are looked up has keys, and so has one that the code uses as a mapping. Other values may
/// also be searched for among items.
fn is_key(execution: &state::Execution, path: AccessPath<'_>, key: &str) -> bool {
    let is_mapping = || execution.index.known(path).is_some_and(|(_, uses)| uses.keys.contains(&Key::Member));
    key.starts_with(['\'', '"']) || is_mapping()
}
