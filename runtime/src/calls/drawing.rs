//! Calls that draw: they are made for real, and recorded, since nothing else shows what they have drawn.

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict, PyFunction, PyList, PyTuple, PyType};

use twincell_engine::observed::{Call, Observed};

use crate::calls::SiteCall;
use crate::execution::state;
use crate::inject::reach;
use crate::observe;
use crate::observe::kinds::{self, Kind};

/// Packages and modules that draw.
const DRAWING: [&str; 3] = ["matplotlib", "pandas.plotting", "seaborn"];
/// Functions that give what is drawn on, and make it only where there is nothing yet.
const CURRENT: [&str; 2] = ["gca", "gcf"];
/// How deep a value may hold something drawn: `hist` gives a tuple with lists of shapes.
const MAX_DEPTH: u32 = 2;

/// Records a call that draws, with the value that it gave. A call whose value is used draws if that value is drawn, or if
/// it is a method of something drawn. Others only calculate: a colour, a format.
pub(super) fn record(call: &SiteCall<'_, '_>, value: &Bound<'_, PyAny>) {
    let SiteCall { site, callee, arguments, keywords } = *call;
    let Some(owner) = drawing(callee) else { return };
    let Some(name) = name(callee, owner.as_ref()) else { return };
    let place = state::with(|execution| {
        let version = &execution.index.versions[execution.version].version;
        let site = version.sites.sites.get(site as usize)?;
        Some((site.line, site.discarded, execution.index.is_called_by_all(execution.version, call.site)))
    });
    let Some((line, is_discarded, by_all)) = place.flatten() else { return };
    let is_drawn = || owner.as_ref().is_some_and(is_artist) || holds_artist(value, MAX_DEPTH);
    if CURRENT.contains(&name.as_str()) || !is_discarded && !is_drawn() {
        return;
    }
    // It does not matter which arguments are named.
    let bound = call.bound_arguments();
    let (arguments, keywords) = match &bound {
        Some((arguments, keywords)) => (arguments, Some(keywords)),
        None => (arguments, keywords),
    };
    // Tables draw themselves.
    let parent = owner.as_ref().unwrap_or(callee).getattr("_parent").ok().filter(kinds::is_of_tables);
    let handed: Vec<Bound<'_, PyAny>> = parent.into_iter().chain(arguments.iter()).collect();
    let named = keywords.into_iter().flat_map(|keywords| keywords.iter());
    let named: Vec<(String, Observed)> =
        named.map(|(name, value)| (name.to_string(), observe::value(&value))).collect();
    let callee = match owner.as_ref() {
        Some(owner) => format!("{}.{name}", receiver(owner)),
        None => name,
    };
    let positional = handed.iter().map(observe::value).collect();
    // What draws acts, whether or not the code uses what it gives.
    let call = Call {
        callee: callee.into(),
        arguments: positional,
        keywords: named,
        line,
        discarded: true,
        by_all,
        state: vec![],
    };
    reach::record(arguments.py(), call, &handed);
}

/// The object on which a callee of a library that draws is called, if it has one. `None` for other callees. Only callees
/// of Python's own classes are asked for attributes, since others may run code.
fn drawing<'py>(callee: &Bound<'py, PyAny>) -> Option<Option<Bound<'py, PyAny>>> {
    let is_function = kinds::of(callee) == Some(Kind::Function);
    let owner = match is_function && !callee.is_exact_instance_of::<PyFunction>() {
        true => callee.getattr("__self__").ok(),
        false => None,
    };
    let of_class = |class: &Bound<'_, PyType>| class.module().ok().map(|module| module.to_string());
    let module = match &owner {
        Some(owner) => match owner.cast::<PyType>() {
            Ok(class) => of_class(class)?,
            Err(_) => of_class(&owner.get_type())?,
        },
        None if callee.is_exact_instance_of::<PyFunction>() => callee.getattr("__module__").ok()?.extract().ok()?,
        None => match callee.cast::<PyType>() {
            Ok(class) => of_class(class)?,
            Err(_) => of_class(&callee.get_type())?,
        },
    };
    let is_within = |of: &str| module.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    DRAWING.iter().any(|of| is_within(of)).then_some(owner)
}

/// `annotate`, `legend`; the class of a callable object.
fn name(callee: &Bound<'_, PyAny>, owner: Option<&Bound<'_, PyAny>>) -> Option<String> {
    let has_name = owner.is_some() || callee.is_exact_instance_of::<PyFunction>() || callee.is_instance_of::<PyType>();
    if has_name {
        return callee.getattr("__name__").ok()?.extract().ok();
    }
    callee.get_type().name().ok().map(|name| name.to_string())
}

/// The class of the object on which a method is called, with its place among the others of the figure or of its axes:
/// `Axes`, `Axes[1]`.
fn receiver(owner: &Bound<'_, PyAny>) -> String {
    let class = owner.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    match place(owner) {
        Some(at) if at > 0 => format!("{class}[{at}]"),
        _ => class,
    }
}

fn place(owner: &Bound<'_, PyAny>) -> Option<usize> {
    if !is_artist(owner) {
        return None;
    }
    let among = |siblings: Bound<'_, PyAny>| siblings.cast::<PyList>().ok()?.iter().position(|other| other.is(owner));
    let of_figure = || among(owner.getattr("figure").ok()?.getattr("axes").ok()?);
    let of_axes = || among(owner.getattr("axes").ok()?.call_method0("get_children").ok()?);
    of_figure().or_else(of_axes)
}

/// Whether a value is something drawn, by its class.
fn is_artist(value: &Bound<'_, PyAny>) -> bool {
    let classes = value.get_type().mro();
    classes.iter().filter_map(|class| class.cast_into::<PyType>().ok()).any(|class| {
        class.name().is_ok_and(|name| name == "Artist") && class.module().is_ok_and(|name| name == "matplotlib.artist")
    })
}

/// Whether something drawn is among the items of a value.
fn holds_artist(value: &Bound<'_, PyAny>, depth: u32) -> bool {
    if is_artist(value) {
        return true;
    }
    let within = |value: Bound<'_, PyAny>| depth > 0 && holds_artist(&value, depth - 1);
    if let Ok(items) = value.cast::<PyTuple>() {
        return items.iter().any(within);
    }
    if let Ok(items) = value.cast::<PyList>() {
        return items.iter().any(within);
    }
    value.cast::<PyDict>().is_ok_and(|items| items.iter().any(|(_, value)| within(value)))
}
