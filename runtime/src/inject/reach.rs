//! What other code can see when the code under comparison calls it or hands an item over: what this code has changed by
//! then within its reach. The receiver, the arguments, what was injected beneath them and what was assigned to that are
//! within reach, and so are assigned globals. Other objects are not: the order of effects on them does not count.
//!
//! Only changes are kept, at most [`MOST_PLACES`] a moment; large values and further places are kept as hashes. A run
//! keeps [`MOST_MOMENTS`] states and looks at [`MOST_LOOKS`] values for them, so that a loop that calls again and again
//! does not take longer with each round.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use pyo3::prelude::*;
use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::Xxh3Default;

use twincell_behavior::{Effect, effect, looks, receiver};
use twincell_engine::observed::{Call, Elision, Observed, Reached, Slot, State};
use twincell_values::path::{AccessPath, AccessPathBuf};
use twincell_values::value::Recipe;

use crate::execution::object::{Mark, MockObject};
use crate::execution::state::{self, Execution};
use crate::inject::original;
use crate::observe::{self, bindings, files};

/// The maximum number of places of one state, of parts of a value that is kept whole, and of states of one run.
const MOST_PLACES: usize = 16;
const MOST_PARTS: usize = 60;
const MOST_MOMENTS: usize = 200;
const MOST_LOOKS: usize = 500_000;
/// The maximum number of access paths from which a state is reached.
const MOST_ROOTS: usize = 40;

/// Entering a context and leaving it by hand are written in several ways.
const ENTERING: [&str; 3] = ["__enter__", "__aenter__", "acquire"];
const LEAVING: [&str; 5] = ["__exit__", "__aexit__", "release", "close", "aclose"];
const LEFT: &str = "close";

/// Records a call with these arguments. If it acts, with the state that it finds.
pub(crate) fn record(py: Python<'_>, mut call: Call, handed: &[Bound<'_, PyAny>]) {
    let acts = effect(&call) != Effect::Asks;
    if (acts || looks(&call)) && state::is_owner() {
        let mut roots: Vec<AccessPathBuf> = own_receiver(&call).map(AccessPath::to_buf).into_iter().collect();
        containers_among(handed, &mut roots);
        let values = call.arguments.iter().chain(call.keywords.iter().map(|(_, value)| value));
        values.for_each(|value| injected_within(value, &mut roots));
        // The actions on the receiver of an action are compared by themselves.
        let mut places = found(py, roots, own_receiver(&call).filter(|_| acts));
        places.extend(files::named_by(handed).into_iter().map(|(at, content)| (Reached::File(at), content)));
        call.state = bounded(places);
    }
    state::with(|execution| {
        if acts && let Some(on) = own_receiver(&call) {
            let name = call.callee.as_path().last_name();
            let name = if LEAVING.contains(&name) { LEFT } else { name };
            if !ENTERING.contains(&name) {
                execution.run.actions.entry(on.to_buf()).or_default().add(name);
            }
        }
        execution.run.calls.push(call);
    });
}

/// Remembers what an object of a missing class was made of.
pub(crate) fn made(path: AccessPath<'_>, callee: AccessPath<'_>, handed: &[Bound<'_, PyAny>]) {
    let name = callee.last_name();
    if handed.is_empty() || !name.starts_with(char::is_uppercase) {
        return;
    }
    let mut parts = Vec::new();
    containers_among(handed, &mut parts);
    handed.iter().for_each(|value| injected_within(&observe::value(value), &mut parts));
    state::with(|execution| {
        if !parts.is_empty() && execution.run.made.len() < MOST_ROOTS {
            execution.run.made.insert(path.to_buf(), parts);
        }
    });
}

/// The state that a consumer finds when a generator gives it an item: of the generator's arguments and its own object.
pub(crate) fn at_yield(py: Python<'_>) {
    if !state::is_owner() {
        return;
    }
    let roots = state::with(|execution| {
        let (index, version) = (&execution.index, execution.version);
        let parameters = &index.versions[version].version.parameters;
        parameters.iter().map(|parameter| index.canonical(version, &parameter.name).into()).collect()
    });
    let state = bounded(found(py, roots.unwrap_or_default(), None));
    state::with(|execution| execution.run.yields.push(state));
}

/// The object on which a method is called. A function that is called by its own name has none.
fn own_receiver(call: &Call) -> Option<AccessPath<'_>> {
    let is_method = !call.callee.as_path().last_name().is_empty();
    receiver(call).filter(|on| is_method && !on.as_str().is_empty())
}

/// The access paths of the injected containers among some arguments.
fn containers_among(handed: &[Bound<'_, PyAny>], paths: &mut Vec<AccessPathBuf>) {
    state::with(|execution| {
        let known = handed.iter().filter_map(|value| execution.run.identities.get(&(value.as_ptr() as usize)));
        paths.extend(known.cloned());
    });
}

/// The access paths of the injected objects in a value.
fn injected_within(value: &Observed, paths: &mut Vec<AccessPathBuf>) {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        if paths.len() >= MOST_ROOTS {
            return;
        }
        match value {
            Observed::Injected { path, .. } if !paths.contains(path) => paths.push(path.clone()),
            Observed::List(items) | Observed::Tuple(items) | Observed::Set(items) => waiting.extend(items.iter().rev()),
            Observed::Iterator { items, .. } => waiting.extend(items.iter().rev()),
            Observed::Exception { arguments, .. } => waiting.extend(arguments.iter().rev()),
            Observed::Dict(entries) => waiting.extend(entries.iter().rev().flat_map(|(key, value)| [value, key])),
            Observed::Object { attributes, .. } => waiting.extend(attributes.iter().rev().map(|(_, value)| value)),
            _ => {}
        }
    }
}

/// Whether a value is the one at the root, or reached from it. What a method of the root itself gives counts as a part
/// of it (`session.query(user)`), but what a call on another object gives may be a new object (`self.files.open(name)`).
fn is_within(path: AccessPath<'_>, root: AccessPath<'_>) -> bool {
    let is_own = |callee: AccessPath<'_>| {
        callee.as_str().strip_prefix('.').is_some_and(|method| !method.is_empty() && !method.contains(['.', '[']))
    };
    let is_reached = |rest| AccessPath::new(rest).before_first_call().is_none_or(is_own);
    path == root || path.beyond(root.as_str()).is_some_and(is_reached)
}

/// An injected value that may have changed.
enum Candidate {
    /// With its assignments before the run.
    Object(AccessPathBuf, Py<PyAny>, Mark),
    Container(AccessPathBuf, Py<PyAny>, Recipe),
}

/// The injected values within reach of a root that may have changed and were not visited.
fn candidates(
    py: Python<'_>,
    execution: &Execution,
    root: AccessPath<'_>,
    visited: &mut FxHashSet<usize>,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (number, (path, value, recipe)) in execution.run.injected.iter().enumerate() {
        let may_have_changed = match recipe {
            // No code runs here: only the class is asked for.
            Recipe::Mock(_) => {
                value.bind(py).cast_exact::<MockObject>().is_ok_and(|object| object.get().mark() != Mark::default())
            }
            // A plain container that a call returned belongs to the code.
            Recipe::List(_) | Recipe::Dict(_) | Recipe::Set(_) => !path.as_path().ends_in_call(),
            _ => false,
        };
        // Access paths are compared last, since that takes longest.
        if may_have_changed && !visited.contains(&number) && is_within(path.as_path(), root) {
            let value = value.clone_ref(py);
            found.push(match recipe {
                Recipe::Mock(_) => Candidate::Object(path.clone(), value, Mark::default()),
                _ => Candidate::Container(path.clone(), value, recipe.clone()),
            });
            visited.insert(number);
        }
    }
    for (object, mark) in execution.stand_ins.iter() {
        let now = object.get();
        if now.mark() != *mark && is_within(now.path(), root) {
            found.push(Candidate::Object(now.path().to_buf(), object.clone_ref(py).into_any(), *mark));
        }
    }
    found
}

/// What the code has changed within reach of some access paths. The actions on `except` are compared elsewhere.
fn found(py: Python<'_>, mut roots: Vec<AccessPathBuf>, except: Option<AccessPath<'_>>) -> BTreeMap<Reached, Observed> {
    let is_too_much = state::with(|execution| {
        let run = &mut execution.run;
        run.looks += (run.injected.len() + run.actions.len()) * roots.len().max(1);
        run.moments > MOST_MOMENTS || run.looks > MOST_LOOKS
    });
    if is_too_much.unwrap_or(true) {
        return [(Reached::Rest, Observed::Elided { reason: Elision::Size })].into();
    }
    let mut places: BTreeMap<Reached, Observed> =
        bindings::assigned(py).into_iter().map(|(name, value)| (Reached::Global(name), value)).collect();
    let mut visited = FxHashSet::default();
    let mut next = 0;
    while let Some(root) = roots.get(next).cloned() {
        next += 1;
        let parts = state::with(|execution| {
            let made = execution.run.made.iter().filter(|(object, _)| is_within(root.as_path(), object.as_path()));
            made.flat_map(|(_, parts)| parts).filter(|part| !roots.contains(*part)).cloned().collect::<Vec<_>>()
        });
        roots.extend(parts.unwrap_or_default());
        let candidates =
            state::with(|execution| candidates(py, execution, root.as_path(), &mut visited)).unwrap_or_default();
        for candidate in candidates {
            match candidate {
                Candidate::Object(object, value, mark) => {
                    let Ok(mock) = value.bind(py).cast_exact::<MockObject>() else { continue };
                    for (place, value) in observe::assigned_since(mock.get(), py, mark) {
                        injected_within(&value, &mut roots);
                        places.insert(Reached::Assigned { object: object.to_string(), place }, value);
                    }
                }
                Candidate::Container(path, value, recipe) => {
                    // The order of keys counts at the end alone.
                    if let Some((Slot::Argument(_), now)) = original::changed(value.bind(py), &recipe, path.as_path()) {
                        injected_within(&now, &mut roots);
                        places.insert(Reached::Container(path.into_string()), now);
                    }
                }
            }
        }
    }
    state::with(|execution| {
        for (on, actions) in &execution.run.actions {
            if Some(on.as_path()) != except && roots.iter().any(|root| is_within(on.as_path(), root.as_path())) {
                places.insert(Reached::Actions(on.to_string()), actions.observed());
            }
        }
        execution.run.moments += usize::from(!places.is_empty());
    });
    places
}

/// The first places, with a hash in place of each large value, and one hash of the other places.
fn bounded(places: BTreeMap<Reached, Observed>) -> State {
    let hash = |part: &dyn Fn(&mut Xxh3Default)| {
        let mut hasher = Xxh3Default::new();
        part(&mut hasher);
        Observed::Str(format!("[{:016x}]", hasher.finish()))
    };
    let mut state: State = Vec::new();
    let mut rest = Vec::new();
    for (place, value) in places {
        if state.len() >= MOST_PLACES {
            rest.push((place, value));
        } else if value.parts(MOST_PARTS) > MOST_PARTS {
            state.push((place, hash(&|hasher| value.hash(hasher))));
        } else {
            state.push((place, value));
        }
    }
    if !rest.is_empty() {
        state.push((Reached::Rest, hash(&|hasher| rest.hash(hasher))));
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beneath_a_root_is_within_its_reach() {
        for path in ["cart", "cart.items", "cart['x']", "cart['a('].b", "cart.get('a').b"] {
            assert!(is_within(path.into(), "cart".into()), "{path}");
        }
        for path in ["carts", "a.cart", "cart(1)", "cart.files.open('a')", ""] {
            assert!(!is_within(path.into(), "cart".into()), "{path}");
        }
    }

    #[test]
    fn further_places_and_large_values_count_through_their_hash() {
        let place = |number: usize| Reached::Container(format!("{number:02}"));
        let small = |last: &str| {
            (0..20).map(|n| (place(n), Observed::Str(if n == 19 { last.into() } else { "x".into() }))).collect()
        };
        assert_eq!(bounded(small("a")).len(), MOST_PLACES + 1);
        assert_ne!(bounded(small("a")), bounded(small("b")));
        let large = |last: i64| {
            let items = (0..100).chain([last]).map(|n| Observed::Int(n.to_string())).collect();
            bounded([(place(1), Observed::List(items))].into())
        };
        assert!(large(1) != large(2) && matches!(large(1)[0].1, Observed::Str(_)));
    }
}
