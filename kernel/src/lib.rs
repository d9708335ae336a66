//! The Python extension module `twincell._twincell`: what Rust offers to the thin Python package around it.

mod api;
mod instrumented;
mod jupyter;
mod magics;
mod record;
mod worker;

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
