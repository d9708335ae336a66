//! Observation: Python values as plain data ([`values`]), console output, log messages and warnings, blocked effects,
//! the comparisons that the code makes, and which objects are the same.

use pyo3::prelude::*;

pub(crate) mod answers;
pub(crate) mod bindings;
pub(crate) mod classes;
pub(crate) mod comparisons;
pub(crate) mod console;
pub(crate) mod effects;
pub(crate) mod files;
pub(crate) mod identity;
pub(crate) mod kinds;
pub(crate) mod messages;
pub(crate) mod statements;
pub(crate) mod streams;
pub(crate) mod tables;
mod values;

pub(crate) use values::{
    MAX_ITEMS, OF_ABSTRACT_CLASSES, arguments_text, assigned_since, bounded, characters, class_name, former_name,
    namespace, object_namespace, short, slots, value, whole, without_addresses,
};

/// Notes the classes of the libraries that are imported by now, which are observed in their own ways. Foreign code must
/// not have run since.
pub(crate) fn note_libraries(py: Python<'_>) {
    // What cannot be read is observed as any object.
    let _ = tables::note(py);
    let _ = answers::note(py);
    let _ = statements::note(py);
}

/// Once for each process: looks up builtin classes, and listens to warnings, uncaught exceptions and effects.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    console::listen(py)?;
    effects::listen(py)?;
    streams::prepare(py)?;
    kinds::prepare(py)
}
