//! None where it is itself, and stands for nothing: as an item of an injected container, and where an annotation
//! allows it. It has no attributes and no items, in whichever way code reaches them.

use pyo3::prelude::*;
use twincell_values::drawing::PathKnowledge;
use twincell_values::path::AccessPath;
use twincell_values::value::Recipe;

use crate::execution::state;

/// Whether the value is None, and the annotation of the name that holds it allows None.
pub(crate) fn is_allowed_none(value: &Bound<'_, PyAny>, holder: AccessPath<'_>) -> bool {
    value.is_none()
        && state::with(|execution| execution.index.known(holder)?.1.optional.then_some(())).flatten().is_some()
}

/// Whether the value is None and may be an item of a container that was injected into the running version.
pub(crate) fn may_be_none(value: &Bound<'_, PyAny>) -> bool {
    let is_injected =
        || state::with(|execution| execution.run.injected.iter().any(|(_, _, recipe)| holds_none(recipe)));
    value.is_none() && is_injected() == Some(true)
}

fn holds_none(recipe: &Recipe) -> bool {
    let is_it = |item: &Recipe| *item == Recipe::None || holds_none(item);
    match recipe {
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => items.iter().any(is_it),
        Recipe::Dict(entries) => entries.iter().any(|(key, value)| is_it(key) || is_it(value)),
        _ => false,
    }
}
