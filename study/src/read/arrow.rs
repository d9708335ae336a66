//! Arrow record batches, as pandas, polars, pyarrow and Parquet files provide them.

use std::io;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Schema};
use serde_json::{Map, Value};

use super::fields::{RowPlace, check_columns, from_fields, is_known};
use crate::change::{Changes, Row};

/// Batch after batch, as changes.
pub struct Batches<I> {
    batches: I,
    current: Option<RecordBatch>,
    /// The next row of the current batch.
    row: usize,
    number: usize,
    total: Option<u64>,
}

impl<I> Batches<I> {
    /// An error is the end of a sentence.
    pub fn new(batches: I, schema: &Schema, total: Option<u64>) -> Result<Self, String> {
        check_columns(schema.fields().iter().map(|field| field.name().as_str()))?;
        Ok(Self { batches, current: None, row: 0, number: 0, total })
    }
}

impl<I: Iterator<Item = Result<RecordBatch, ArrowError>> + Send> Changes for Batches<I> {
    fn next(&mut self) -> Option<io::Result<Row>> {
        loop {
            if let Some(batch) = self.current.as_ref().filter(|batch| self.row < batch.num_rows()) {
                let mut fields = Map::new();
                for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
                    if is_known(field.name()) {
                        fields.insert(field.name().clone(), cell(column.as_ref(), self.row));
                    }
                }
                self.row += 1;
                self.number += 1;
                return Some(Ok(from_fields(fields, RowPlace { unit: "row", number: self.number })));
            }
            (self.current, self.row) = (None, 0);
            self.current = match self.batches.next()? {
                Ok(batch) => Some(batch),
                Err(error) => return Some(Err(io::Error::other(error))),
            };
        }
    }

    fn total(&self) -> Option<u64> {
        self.total
    }
}

/// A cell as JSON has it. A value that is not a text, a number or a truth value is an object, which no field takes.
fn cell(array: &dyn Array, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).into(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).into(),
        DataType::Utf8View => array.as_string_view().value(row).into(),
        DataType::Boolean => array.as_boolean().value(row).into(),
        DataType::Int8 => array.as_primitive::<Int8Type>().value(row).into(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).into(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into(),
        DataType::UInt8 => array.as_primitive::<UInt8Type>().value(row).into(),
        DataType::UInt16 => array.as_primitive::<UInt16Type>().value(row).into(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).into(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).into(),
        // pandas turns numbers with gaps into floats, and the gaps into NaN. JSON has no NaN, so it becomes null.
        DataType::Float32 => f64::from(array.as_primitive::<Float32Type>().value(row)).into(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).into(),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let key = cell(dictionary.keys(), row).as_u64().and_then(|key| usize::try_from(key).ok());
            key.filter(|key| *key < dictionary.values().len())
                .map_or(Value::Null, |key| cell(dictionary.values().as_ref(), key))
        }
        DataType::Null => Value::Null,
        _ => Value::Object(Map::new()),
    }
}
