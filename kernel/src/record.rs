//! The interface for `models/train/collect`: modules whose values are recorded, the records as JSON lines, and the
//! sandbox in which the tests of foreign packages run. It is not part of the Python library, and comparisons do not use
//! it.

use std::io::Write;
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyOSError, PySyntaxError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};

use twincell_runtime::record::{self, LENGTHS, Recording, Seen};
use twincell_sandbox::{Limits, Processes, lock};
use twincell_syntax::instrument::{self, RecordedFunction};
use twincell_syntax::site::{Site, SiteKind};
use twincell_values::value::AbstractValue;

/// The maximum number of keys of one site that are written, most frequent first.
const KEYS: usize = 16;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Recording>()?;
    module.add_function(wrap_pyfunction!(record_module, module)?)?;
    module.add_function(wrap_pyfunction!(write_recorded, module)?)?;
    module.add_function(wrap_pyfunction!(forget_recorded, module)?)?;
    module.add_function(wrap_pyfunction!(lock_in, module)?)
}

/// The text of a module in which every value site reports, and the recording to which its hooks report.
#[pyfunction]
fn record_module<'py>(
    py: Python<'py>,
    source: &str,
    package: String,
    file: String,
) -> PyResult<(String, Bound<'py, Recording>)> {
    let recorded = py
        .detach(|| instrument::recorded(source))
        .map_err(|error| PySyntaxError::new_err(format!("{file}: {error}")))?;
    let identifiers: Vec<&str> = recorded.sites.sites.iter().map(|site| site.identifier.as_str()).collect();
    let recording = Recording::start(py, (package, file), recorded.functions, &identifiers)?;
    Ok((recorded.code, recording))
}

/// Writes the records of this process, one JSON object for each function, to a file beside the target that is then
/// renamed. Returns the numbers of functions and sites.
#[pyfunction]
fn write_recorded(py: Python<'_>, path: PathBuf) -> PyResult<(usize, usize)> {
    let (mut text, mut functions, mut sites) = (String::new(), 0, 0);
    for recording in record::all(py) {
        let recording = recording.get();
        for function in &recording.functions {
            let seen = recording.seen(function);
            let found = seen.iter().flatten().count();
            if found > 0 {
                functions += 1;
                sites += found;
                text.push_str(&line(recording, function, &seen).to_string());
                text.push('\n');
            }
        }
    }
    py.detach(|| replace(&path, &text))
        .map_err(|error| PyOSError::new_err(format!("{} cannot be written: {error}", path.display())))?;
    Ok((functions, sites))
}

/// Drops the records so far, since they belong to the process from which this one was forked.
#[pyfunction]
fn forget_recorded(py: Python<'_>) {
    record::forget(py);
}

/// Locks this process for good: no network, no writes outside one folder, bounded memory. Programs may be started and
/// have the same restrictions. Returns what is enforced, by name, and under `complete` whether everything is.
#[pyfunction]
fn lock_in<'py>(
    py: Python<'py>,
    scratch: PathBuf,
    readable: Vec<PathBuf>,
    memory_bytes: u64,
    open_files: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let report = lock(&Limits {
        scratch,
        readable,
        listable: Vec::new(),
        memory_bytes,
        open_files,
        processes: Processes::Programs,
    });
    let sandbox = PyDict::new(py);
    sandbox.set_item("complete", report.is_complete())?;
    sandbox.set_item("filesystem", report.filesystem)?;
    sandbox.set_item("network", report.network)?;
    sandbox.set_item("programs", report.programs)?;
    sandbox.set_item("memory", report.memory)?;
    sandbox.set_item("time", report.time)?;
    Ok(sandbox)
}

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let beside = path.with_extension("part");
    let mut file = std::fs::File::create(&beside)?;
    file.write_all(text.as_bytes())?;
    drop(file);
    std::fs::rename(&beside, path)
}

fn line(recording: &Recording, function: &RecordedFunction, seen: &[Option<Seen>]) -> Value {
    // Ranges are in characters, as in all traces.
    let ascii = function.text.is_ascii();
    let characters = |byte: u32| {
        let byte = byte as usize;
        if ascii { byte } else { function.text.get(..byte).map_or(byte, |before| before.chars().count()) }
    };
    let mut attributes: Vec<Map<String, Value>> = vec![Map::new(); seen.len()];
    for (index, (site, seen)) in function.sites.iter().zip(seen).enumerate() {
        let count = seen.as_ref().map_or(0, |seen| seen.on_objects);
        if let Some(known) = function.receiver(index).and_then(|receiver| attributes.get_mut(receiver))
            && count > 0
        {
            known.insert(site.identifier.clone(), json!(count));
        }
    }
    let sites: Vec<Value> = (function.sites.iter().zip(seen).zip(attributes))
        .filter_map(|((site, seen), attributes)| {
            let range = (characters(site.start), characters(site.end));
            seen.as_ref().map(|seen| of_site(site, range, seen, attributes))
        })
        .collect();
    json!({
        "package": recording.package,
        "file": recording.file,
        "qualname": function.qualname,
        "text": function.text,
        "sites": sites,
    })
}

fn of_site(site: &Site, (start, end): (usize, usize), seen: &Seen, attributes: Map<String, Value>) -> Value {
    let mut entry = Map::new();
    entry.insert("start".into(), json!(start));
    entry.insert("end".into(), json!(end));
    entry.insert("kind".into(), json!(site.kind));
    entry.insert(
        "counts".into(),
        numbered(AbstractValue::ALL.map(|class| (class as usize, seen.counts[class as usize]))),
    );
    let mut lengths = seen.lengths.clone();
    lengths.sort_by_key(|(class, _)| *class);
    let lengths = lengths.iter().map(|(class, counts)| {
        ((*class as usize).to_string(), numbered(LENGTHS.iter().copied().zip(counts.iter().copied())))
    });
    insert(&mut entry, "lengths", lengths.collect());
    insert(&mut entry, "keys", most(&seen.keys));
    insert(&mut entry, "attributes", attributes);
    if site.kind == SiteKind::Call {
        insert(&mut entry, "raised", most(&seen.raised));
        let effects = seen.effects;
        entry.insert(
            "effects".into(),
            json!({ "calls": effects.calls, "watched": effects.watched, "receiver": effects.receiver, "arguments": effects.arguments }),
        );
    }
    Value::Object(entry)
}

fn insert(entry: &mut Map<String, Value>, name: &str, value: Map<String, Value>) {
    if !value.is_empty() {
        entry.insert(name.into(), Value::Object(value));
    }
}

/// The counts that are not zero, by number.
fn numbered(counts: impl IntoIterator<Item = (usize, u64)>) -> Value {
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    Value::Object(counts.map(|(number, count)| (number.to_string(), json!(count))).collect())
}

/// The most frequent texts first, equally frequent ones in alphabetical order.
fn most(counts: &[(String, u64)]) -> Map<String, Value> {
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by(|(a, first), (b, second)| second.cmp(first).then_with(|| a.cmp(b)));
    counts.into_iter().take(KEYS).map(|(text, count)| (text.clone(), json!(count))).collect()
}
