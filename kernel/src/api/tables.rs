//! Tables as Python takes them, through Arrow's C interface.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt32Array,
};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use twincell_compare::report::{Comparison, ExecutionReport, PairReport};

use super::errors::raised;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyTable>()
}

/// A table for whoever takes Arrow: `polars.DataFrame(table)`.
#[pyclass(frozen, name = "Table", module = "twincell")]
pub struct PyTable {
    pub(super) schema: SchemaRef,
    pub(super) batches: Vec<RecordBatch>,
}

#[pymethods]
impl PyTable {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        stream(py, self.schema.clone(), self.batches.clone())
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The values by columns, for whoever takes none of Arrow's: truth values, numbers and texts.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for (at, name) in self.columns().into_iter().enumerate() {
            let values = PyList::empty(py);
            for batch in &self.batches {
                append(&values, batch.column(at).as_ref(), &name)?;
            }
            found.set_item(name, values)?;
        }
        Ok(found)
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __repr__(&self) -> String {
        format!("Table({} rows, columns {})", self.__len__(), self.columns().join(", "))
    }
}

/// Appends the values of a column.
fn append(to: &Bound<'_, PyList>, column: &dyn Array, name: &str) -> PyResult<()> {
    macro_rules! numbers {
        ($($kind:ident => $class:ty),*) => {
            match column.data_type() {
                $(DataType::$kind => column.as_primitive::<$class>().iter().try_for_each(|value| to.append(value)),)*
                DataType::Boolean => column.as_boolean().iter().try_for_each(|value| to.append(value)),
                DataType::Utf8 => column.as_string::<i32>().iter().try_for_each(|value| to.append(value)),
                DataType::LargeUtf8 => column.as_string::<i64>().iter().try_for_each(|value| to.append(value)),
                DataType::Utf8View => column.as_string_view().iter().try_for_each(|value| to.append(value)),
                other => Err(raised(format!(
                    "the column {name} is of the type {other}, which needs pyarrow here: pip install pyarrow"
                ))),
            }
        };
    }
    numbers!(
        Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type,
        UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type,
        Float32 => Float32Type, Float64 => Float64Type
    )
}

/// One row for each execution of a comparison that is kept: how each version ended, whether they differ (none where nobody
/// looked), whether each end says something about behavior, and the share of lines that ran so far as `coverage`.
pub fn executions(comparison: &Comparison) -> Result<RecordBatch, ArrowError> {
    let rows = || comparison.pairs.iter().flat_map(|pair| pair.executions.iter().map(move |one| (pair, one)));
    let texts = |of: &dyn Fn(&PairReport, &ExecutionReport) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows().map(|(pair, one)| of(pair, one))))
    };
    let truths = |of: &dyn Fn(&ExecutionReport) -> bool| -> ArrayRef {
        Arc::new(BooleanArray::from_iter(rows().map(|(_, one)| Some(of(one)))))
    };
    let numbers = |of: &dyn Fn(&ExecutionReport) -> u32| -> ArrayRef {
        Arc::new(UInt32Array::from_iter_values(rows().map(|(_, one)| of(one))))
    };
    RecordBatch::try_from_iter([
        ("function", texts(&|pair, _| pair.new.qualname.clone())),
        ("execution", numbers(&|one| one.number)),
        ("old", texts(&|_, one| one.old.clone())),
        ("new", texts(&|_, one| one.new.clone())),
        ("differs", Arc::new(BooleanArray::from_iter(rows().map(|(_, one)| one.examined.then_some(one.differs))))),
        ("old_valid", truths(&|one| one.old_valid)),
        ("new_valid", truths(&|one| one.new_valid)),
        ("microseconds", numbers(&|one| one.microseconds)),
        ("coverage", Arc::new(Float64Array::from_iter_values(rows().map(|(_, one)| one.coverage_so_far))) as ArrayRef),
    ])
}

/// What `__arrow_c_stream__` gives. The interface leaves it to the one who gives whether to convert to a requested schema,
/// and nobody here does.
fn stream(py: Python<'_>, schema: SchemaRef, batches: Vec<RecordBatch>) -> PyResult<Bound<'_, PyCapsule>> {
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
}

/// The stream of batches that have one schema, which is empty where there are none.
pub fn stream_of_batches(py: Python<'_>, batches: Vec<RecordBatch>) -> PyResult<Bound<'_, PyCapsule>> {
    let schema = batches.first().map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema);
    stream(py, schema, batches)
}
