//! The Python extension module `twincell._twincell`: what Rust offers to the thin Python package around it.

mod jupyter;

use pyo3::prelude::*;

#[pymodule]
fn _twincell(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    jupyter::register(module)?;
    Ok(())
}
