//! Tables between the notebook and its Rust cells, as files in Arrow's format for streams.

use std::fs::File;
use std::io::{BufReader, BufWriter};

pub use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::Schema;
use arrow_select::concat::concat_batches;

/// The whole table of a file.
pub fn read(path: &str) -> Result<RecordBatch, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let reader = StreamReader::try_new(BufReader::new(file), None).map_err(|error| error.to_string())?;
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    concat_batches(&schema, &batches).map_err(|error| error.to_string())
}

/// A table without rows and columns.
pub fn empty() -> RecordBatch {
    RecordBatch::new_empty(std::sync::Arc::new(Schema::empty()))
}

/// Writes a table into a new file.
pub fn write(table: &RecordBatch, path: &str) -> Result<(), String> {
    let file = File::create(path).map_err(|error| error.to_string())?;
    let mut writer = StreamWriter::try_new(BufWriter::new(file), &table.schema()).map_err(|error| error.to_string())?;
    writer.write(table).and_then(|()| writer.finish()).map_err(|error| error.to_string())
}
