//! The Python extension module `twincell._twincell`: what Rust offers to the thin Python package around it.

mod api;
mod cli;
mod decode;
mod doctor;
mod files;
mod git;
mod instrumented;
mod jupyter;
mod magics;
mod mine;
mod options;
mod record;
pub mod reproducers;
mod study;
mod transform;
mod waiting;
mod warm;
mod worker;

#[cfg(test)]
mod fixtures;

use pyo3::prelude::*;

#[pymodule]
fn _twincell(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    jupyter::register(module)?;
    api::register(module)?;
    worker::register(module)?;
    instrumented::register(module)?;
    record::register(module)?;
    Ok(())
}
