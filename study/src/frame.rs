//! Findings as an Arrow table, from which frames of pandas, polars and pyarrow are made.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, ListBuilder, StringBuilder, StructBuilder, UInt32Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Fields};

use crate::columns::{batch, word};
use crate::finding::Finding;

/// The number of rows of one batch.
const BATCH: usize = 65_536;

/// All findings, in batches. An id is an integer if all are, and otherwise a text.
pub fn batches(rows: &[Finding]) -> Result<Vec<RecordBatch>, ArrowError> {
    let integers = rows.iter().all(|row| row.id.is_i64());
    if rows.is_empty() {
        return Ok(vec![batch(rows, integers, evidence(rows))?]);
    }
    rows.chunks(BATCH).map(|rows| batch(rows, integers, evidence(rows))).collect()
}

/// A list of structures for each row.
fn evidence(rows: &[Finding]) -> ArrayRef {
    const TEXTS: usize = 5;
    let mut fields: Vec<Field> =
        ["channel", "place", "old", "new", "strength"].map(|name| Field::new(name, DataType::Utf8, true)).into();
    fields.push(Field::new("probability", DataType::Float64, true));
    fields.push(Field::new("edge_case", DataType::Boolean, true));
    fields.push(Field::new("score", DataType::Float64, true));
    fields.push(Field::new("execution", DataType::UInt32, true));
    let mut list = ListBuilder::new(StructBuilder::from_fields(Fields::from(fields), 0));
    for row in rows {
        let each = list.values();
        for one in &row.evidence {
            let texts = [
                word(one.channel),
                Some(one.place.clone()),
                Some(one.old.clone()),
                Some(one.new.clone()),
                word(one.strength),
            ];
            for (index, text) in texts.into_iter().enumerate() {
                if let Some(column) = each.field_builder::<StringBuilder>(index) {
                    column.append_option(text);
                }
            }
            // The builders are those of the fields above.
            if let Some(column) = each.field_builder::<Float64Builder>(TEXTS) {
                column.append_value(one.probability);
            }
            if let Some(column) = each.field_builder::<BooleanBuilder>(TEXTS + 1) {
                column.append_value(one.edge_case);
            }
            if let Some(column) = each.field_builder::<Float64Builder>(TEXTS + 2) {
                column.append_value(one.score);
            }
            if let Some(column) = each.field_builder::<UInt32Builder>(TEXTS + 3) {
                column.append_value(one.execution);
            }
            each.append(true);
        }
        list.append(true);
    }
    Arc::new(list.finish())
}
