//! Changes in Parquet files.

use std::fs::File;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;

use super::arrow::Batches;
use super::fields::is_known;

/// The number of rows read at once. Each holds whole modules.
const BATCH: usize = 64;

/// The rows of a Parquet file. Other columns than fields are not read. An error is the end of a sentence.
pub fn open(file: File) -> Result<Batches<impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send>, String> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| error.to_string())?;
    let total = u64::try_from(builder.metadata().file_metadata().num_rows()).ok();
    let schema = builder.schema().clone();
    let groups = builder.metadata().row_groups().iter().flat_map(|group| group.columns());
    let unread = groups.filter(|column| column.column_path().parts().first().is_some_and(|name| is_known(name)));
    let unread = unread.map(|column| column.compression()).find(|compression| {
        !matches!(compression, Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_))
    });
    if let Some(compression) = unread {
        return Err(format!("it is compressed with {compression}: write it with Snappy or Zstandard"));
    }
    let known = schema.fields().iter().enumerate().filter(|(_, field)| is_known(field.name()));
    let mask = ProjectionMask::roots(builder.parquet_schema(), known.map(|(index, _)| index));
    let reader = builder.with_projection(mask).with_batch_size(BATCH).build().map_err(|error| error.to_string())?;
    Batches::new(reader, &schema, total)
}
