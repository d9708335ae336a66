//! Tables in files of Arrow's format for streams, through which Rust cells get and give them. A build without the
//! feature `tables` has both functions, which say so.

use std::path::PathBuf;

use pyo3::prelude::*;

use super::changes::stream_of;
use super::errors::raised;
use super::tables::PyTable;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(write_table, module)?)?;
    module.add_function(wrap_pyfunction!(read_table, module)?)
}

/// Writes an object with `__arrow_c_stream__` into a file.
#[pyfunction]
fn write_table(py: Python<'_>, object: &Bound<'_, PyAny>, path: PathBuf) -> PyResult<()> {
    let reader = stream_of(object)?;
    py.detach(|| format::write(reader, path)).map_err(|error| raised(format!("the table cannot be written: {error}")))
}

/// Reads a file that a Rust cell wrote. What it holds is checked.
#[pyfunction]
fn read_table(py: Python<'_>, path: PathBuf) -> PyResult<PyTable> {
    py.detach(|| format::read(path)).map_err(|error| raised(format!("the table cannot be read: {error}")))
}

#[cfg(feature = "tables")]
mod format {
    use std::fs::File;
    use std::io::{BufReader, BufWriter};
    use std::path::PathBuf;

    use arrow_array::RecordBatchReader;
    use arrow_array::ffi_stream::RecordBatchStreamReader;
    use arrow_ipc::reader::StreamReader;
    use arrow_ipc::writer::StreamWriter;
    use arrow_schema::ArrowError;

    use crate::api::tables::PyTable;

    pub fn write(reader: RecordBatchStreamReader, path: PathBuf) -> Result<(), ArrowError> {
        let mut writer = StreamWriter::try_new(BufWriter::new(File::create(path)?), &reader.schema())?;
        for batch in reader {
            writer.write(&batch?)?;
        }
        writer.finish()
    }

    pub fn read(path: PathBuf) -> Result<PyTable, ArrowError> {
        let reader = StreamReader::try_new(BufReader::new(File::open(path)?), None)?;
        Ok(PyTable { schema: reader.schema(), batches: reader.collect::<Result<_, _>>()? })
    }
}

#[cfg(not(feature = "tables"))]
mod format {
    use std::path::PathBuf;

    use arrow_array::ffi_stream::RecordBatchStreamReader;

    use crate::api::tables::PyTable;

    const ABSENT: &str = "this build has no tables for Rust cells; `pip install .` or `make build` makes one that has";

    pub fn write(_: RecordBatchStreamReader, _: PathBuf) -> Result<(), &'static str> {
        Err(ABSENT)
    }

    pub fn read(_: PathBuf) -> Result<PyTable, &'static str> {
        Err(ABSENT)
    }
}
