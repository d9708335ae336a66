//! What a notebook brings into a comparison: copies of its values, and what its earlier cells define.
//!
//! `_given.py` pickles. Nothing of the notebook is changed.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PySet, PyString, PyTuple};
use tempfile::TempDir;
use twincell_compare::{NotGiven, Source, WhyNotGiven};
use twincell_driver::given::{GivenValues, MOST_BYTES};
use twincell_driver::providers;
use twincell_engine::protocol::{GivenContent, GivenFile, GivenValue};
use twincell_syntax::{CellName, EarlierCells, UsedNames, defined_names, plain_python, used_names};
use twincell_values::value::{AbstractValue, Makes, NOTEBOOK, Recipe};

use super::errors::raised;
use crate::magics::{self, MagicError, Wanted};

/// The maximum number of values in a plain one, its maximum nesting, and the maximum length of a text in it.
const MOST_PARTS: u32 = 100;
const DEEPEST: u32 = 6;
const LONGEST_TEXT: usize = 1000;

/// What the notebook holds, and the text of the cells that ran, in order.
#[derive(FromPyObject)]
pub struct Notebook<'py>(Bound<'py, PyDict>, Vec<String>);

/// Gives the sources what earlier cells define, and returns the values that are wanted.
pub fn bring(
    py: Python<'_>,
    notebook: Option<&Notebook<'_>>,
    wanted: &Wanted,
    old: &mut Source,
    new: &mut Source,
) -> PyResult<GivenValues> {
    let Some(Notebook(names, cells)) = notebook else { return Ok(GivenValues::default()) };
    let texts = [&old.text, &new.text].map(|text| plain_python(text).map_or_else(|| text.clone(), |(plain, _)| plain));
    let mut used = UsedNames::default();
    for text in &texts {
        let UsedNames { free, parameters } = used_names(text);
        used.free.extend(free);
        used.parameters.extend(parameters);
    }
    let own = texts.each_ref().map(|text| defined_names(text));
    let ran: Vec<String> = cells.iter().filter_map(|cell| magics::ran(cell)).collect();
    let ran: Vec<&str> = ran.iter().map(String::as_str).collect();
    let targets: BTreeSet<&str> = wanted.bindings.iter().map(|(target, _)| target.as_str()).collect();
    let known = |name: &str| match names.get_item(name) {
        _ if targets.contains(name) && !used.parameters.contains(name) => CellName::Absent,
        Ok(Some(value)) => constant(&value).map_or(CellName::Bound, CellName::Constant),
        _ => CellName::Absent,
    };
    let earlier = EarlierCells::new(&ran);
    let context = |wanted: &BTreeSet<String>, own: &BTreeSet<String>| earlier.context(ran.len(), wanted, own, &known);
    let around = own.each_ref().map(|own| context(&used.free, own).names);
    let readable: BTreeSet<String> = around.into_iter().flatten().chain(used.parameters.iter().cloned()).collect();
    let mut bindings = wanted.bindings.clone();
    if wanted.all {
        for name in &readable {
            let is_new = !targets.contains(name.as_str()) && own.iter().all(|own| !own.contains(name));
            let is_hidden = name.starts_with('_') || matches!(name.as_str(), "In" | "Out");
            if is_new && !is_hidden && names.get_item(name)?.is_some_and(|value| !is_code(&value)) {
                bindings.push((name.clone(), name.clone()));
            }
        }
    }
    let mut bound = Vec::new();
    for (target, source) in &bindings {
        let value = names.get_item(source)?.ok_or_else(|| raised(MagicError::UnknownGlobal(source.clone())))?;
        bound.push((target.as_str(), source.as_str(), value));
    }
    let is_read = |name: &str| readable.contains(name);
    let Collected { values, classes } = collect(py, &bound, &is_read)?;
    let mut needed = used.free;
    needed.extend(classes);
    needed.extend(names_of_values(&needed));
    for (source, own) in [old, new].into_iter().zip(&own) {
        source.context = context(&needed, own).text;
    }
    Ok(values)
}

/// The names that the values need which are registered for the notebook's own classes among these names.
fn names_of_values(needed: &BTreeSet<String>) -> BTreeSet<String> {
    let of_notebook = |class: &str| class.strip_prefix(NOTEBOOK)?.strip_prefix('.').map(str::to_owned);
    let own = providers::registered()
        .into_iter()
        .filter(|one| of_notebook(&one.class).is_some_and(|own| needed.contains(&own)));
    own.flat_map(|provider| match &provider.makes {
        Makes::Expressions(all) => all.iter().flat_map(|text| used_names(text).free).collect::<Vec<_>>(),
        Makes::Function(name) => {
            name.strip_prefix(NOTEBOOK).and_then(|own| own.strip_prefix(':')).map(str::to_owned).into_iter().collect()
        }
    })
    .collect()
}

/// The values of a mapping, for parameters and globals of their names in either text.
pub fn given(py: Python<'_>, values: &Bound<'_, PyAny>, texts: [&str; 2]) -> PyResult<GivenValues> {
    let Ok(values) = values.cast::<PyDict>() else {
        return Err(raised("values must be a dictionary: the names of parameters and globals, with their values"));
    };
    let names: Vec<String> = values
        .keys()
        .iter()
        .map(|name| name.extract().map_err(|_| raised("the keys of values must be names of parameters or globals")))
        .collect::<PyResult<_>>()?;
    let bound: Vec<_> =
        names.iter().zip(values.values()).map(|(name, value)| (name.as_str(), name.as_str(), value)).collect();
    let mut readable = BTreeSet::new();
    for text in texts {
        let UsedNames { free, parameters } = used_names(text);
        readable.extend(free.into_iter().chain(parameters).chain(defined_names(text)));
    }
    Ok(collect(py, &bound, &|name| readable.contains(name))?.values)
}

struct Collected {
    values: GivenValues,
    /// The names of the notebook's own classes and functions in them.
    classes: BTreeSet<String>,
}

/// Copies values: (the name that gets it, the name that it has, the value).
fn collect(
    py: Python<'_>,
    bound: &[(&str, &str, Bound<'_, PyAny>)],
    is_read: &dyn Fn(&str) -> bool,
) -> PyResult<Collected> {
    let (mut values, mut classes) = (GivenValues::default(), BTreeSet::new());
    let mut left = MOST_BYTES;
    for (number, (target, source, value)) in bound.iter().enumerate() {
        let name = (*target).to_owned();
        let mut refuse = |reason| values.not_given.push(NotGiven { name: (*source).to_owned(), reason });
        if !is_read(target) {
            refuse(WhyNotGiven::Unused);
            continue;
        }
        if let Some(recipe) = small(value) {
            values.values.push(GivenValue { name, content: GivenContent::Plain(recipe) });
            continue;
        }
        let folder = match &values.folder {
            Some(folder) => folder.clone(),
            None => {
                let made = twincell_files::private::temporary("twincell-given-");
                let made = Arc::new(made.map_err(|error| raised(format!("no temporary folder can be made: {error}")))?);
                values.folder.insert(made).clone()
            }
        };
        match pickled(py, value, &folder, number, left)? {
            Pickled::Copied { size, shown, kind, count, is_large, modules, own, path } => {
                left = left.saturating_sub(size);
                classes.extend(own);
                let shown = format!("{source}, {shown}");
                let class = AbstractValue::ALL.into_iter().find(|class| class.name() == kind);
                let class = class.unwrap_or(AbstractValue::Object);
                let file = GivenFile { path, shown, class, count, is_large, modules };
                values.values.push(GivenValue { name, content: GivenContent::File(file) });
            }
            Pickled::Not(reason) => values.not_given.push(NotGiven { name: (*source).to_owned(), reason }),
        }
    }
    Ok(Collected { values, classes })
}

/// What came of pickling a value.
enum Pickled {
    Copied {
        size: u64,
        shown: String,
        kind: String,
        count: u64,
        is_large: bool,
        modules: Vec<String>,
        own: Vec<String>,
        path: std::path::PathBuf,
    },
    Not(WhyNotGiven),
}

fn pickled(py: Python<'_>, value: &Bound<'_, PyAny>, folder: &TempDir, number: usize, left: u64) -> PyResult<Pickled> {
    let path = folder.path().join(number.to_string());
    let module = py.import("twincell._given")?;
    let answer = module.call_method1("pickled", (value, as_path(py, &path)?, left))?;
    if let Ok((why, text)) = answer.extract::<(String, String)>() {
        let _ = std::fs::remove_file(&path);
        return Ok(Pickled::Not(match why.as_str() {
            "large" => WhyNotGiven::TooLarge { most: MOST_BYTES },
            "slow" => WhyNotGiven::TooSlow { seconds: text.parse().unwrap_or_default() },
            _ => WhyNotGiven::Pickle { error: text },
        }));
    }
    let (size, shown, kind, count, is_large, modules, own) = answer.extract()?;
    Ok(Pickled::Copied { size, shown, kind, count, is_large, modules, own, path })
}

fn as_path<'py>(py: Python<'py>, path: &Path) -> PyResult<Bound<'py, PyAny>> {
    py.import("pathlib")?.getattr("Path")?.call1((path,))
}

/// Whether cells bring the value along as text.
fn is_code(value: &Bound<'_, PyAny>) -> bool {
    let module = value.py().import("twincell._given");
    module.and_then(|module| module.call_method1("is_code", (value,))?.extract()).unwrap_or(true)
}

/// A plain value as source.
fn constant(value: &Bound<'_, PyAny>) -> Option<String> {
    let recipe = small(value)?;
    twincell_values::reading::written_value(&recipe.display()).filter(|again| *again == recipe)?;
    Some(recipe.display())
}

/// A small value of builtin classes, recognized by the classes themselves, which runs no code of the value.
fn small(value: &Bound<'_, PyAny>) -> Option<Recipe> {
    let mut left = MOST_PARTS;
    plain(value, &mut left, DEEPEST)
}

fn plain(value: &Bound<'_, PyAny>, left: &mut u32, deepest: u32) -> Option<Recipe> {
    *left = left.checked_sub(1)?;
    let deepest = deepest.checked_sub(1)?;
    let mut all = |items: &mut dyn Iterator<Item = Bound<'_, PyAny>>| {
        items.map(|item| plain(&item, left, deepest)).collect::<Option<Vec<_>>>()
    };
    if value.is_none() {
        Some(Recipe::None)
    } else if let Ok(flag) = value.cast_exact::<PyBool>() {
        Some(Recipe::Bool(flag.is_true()))
    } else if let Ok(number) = value.cast_exact::<PyInt>() {
        Some(Recipe::Int(number.extract().ok()?))
    } else if let Ok(number) = value.cast_exact::<PyFloat>() {
        Some(Recipe::Float(number.value()))
    } else if let Ok(text) = value.cast_exact::<PyString>() {
        Some(Recipe::Str(text.to_str().ok().filter(|text| text.len() <= LONGEST_TEXT)?.to_owned()))
    } else if let Ok(bytes) = value.cast_exact::<PyBytes>() {
        Some(Recipe::Bytes(Some(bytes.as_bytes()).filter(|bytes| bytes.len() <= LONGEST_TEXT)?.to_vec()))
    } else if let Ok(list) = value.cast_exact::<PyList>() {
        all(&mut list.iter()).map(Recipe::List)
    } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        all(&mut tuple.iter()).map(Recipe::Tuple)
    } else if let Ok(set) = value.cast_exact::<PySet>() {
        let mut items = all(&mut set.iter())?;
        items.sort_by_cached_key(Recipe::display);
        Some(Recipe::Set(items))
    } else if let Ok(dict) = value.cast_exact::<PyDict>() {
        let keys = all(&mut dict.keys().iter())?;
        let values = all(&mut dict.values().iter())?;
        Some(Recipe::Dict(keys.into_iter().zip(values).collect()))
    } else {
        None
    }
}
