//! The Python extension module `twincell._twincell`: what Rust offers to the thin Python package around it.
//!
//! `jupyter` is the kernel's side of the Jupyter protocol, [`magics`] what `%%compare` and its like mean, `api` the Python
//! library, and `worker` the entry point of the processes that run foreign code. The analyses, the study of many changes
//! and the command line are crates of their own. Only Python's objects and ours are converted into one another here.
//!
//! What a magic means is plain data, made from its line and its cell:
//!
//! ```
//! use _twincell::magics::{MagicLine, read_compare_cell, split};
//!
//! let MagicLine::Run(wanted) = read_compare_cell("--budget 50 --run")? else { unreachable!("--help was not asked for") };
//! assert_eq!((wanted.options.budget, wanted.run), (50, true));
//!
//! // Each version keeps the line numbers that the notebook shows, the magic being line 1.
//! let (old, new) = split("def f(x):\n    return x\n# ---\ndef f(x):\n    return x + 1\n")?;
//! assert_eq!(old, "\ndef f(x):\n    return x\n");
//! assert_eq!(new, "\n\n\n\ndef f(x):\n    return x + 1\n");
//! # Ok::<(), _twincell::magics::MagicError>(())
//! ```

mod api;
mod instrumented;
mod jupyter;
pub mod magics;
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
