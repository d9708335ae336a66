//! Findings as a table of Arrow's: what frames of pandas, polars and pyarrow are made of.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, ListBuilder, StringBuilder, StructBuilder, UInt32Builder};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use serde::Serialize;

use super::finding::Finding;

/// Rows of one batch.
const BATCH: usize = 65_536;

/// All findings, in batches. An id is an integer where all are, else a text.
pub fn batches(rows: &[Finding]) -> Result<Vec<RecordBatch>, ArrowError> {
    let integers = rows.iter().all(|row| row.id.is_i64());
    if rows.is_empty() {
        return Ok(vec![batch(rows, integers)?]);
    }
    rows.chunks(BATCH).map(|rows| batch(rows, integers)).collect()
}

/// What a field of a finding is called.
fn word(value: impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

fn batch(rows: &[Finding], integers: bool) -> Result<RecordBatch, ArrowError> {
    fn texts<'a>(rows: &'a [Finding], of: impl Fn(&'a Finding) -> Option<&'a str>) -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    }
    fn numbers(rows: &[Finding], of: impl Fn(&Finding) -> Option<u32>) -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<UInt32Array>())
    }
    fn shares(rows: &[Finding], of: impl Fn(&Finding) -> Option<f64>) -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<Float64Array>())
    }
    let id: ArrayRef = if integers {
        Arc::new(rows.iter().map(|row| row.id.as_i64()).collect::<Int64Array>())
    } else {
        let text = |row: &Finding| Some(row.id.as_str().map_or_else(|| row.id.to_string(), str::to_owned));
        Arc::new(rows.iter().map(text).collect::<StringArray>())
    };
    RecordBatch::try_from_iter_with_nullable([
        ("id", id, false),
        ("verdict", Arc::new(rows.iter().map(|row| word(row.verdict)).collect::<StringArray>()) as ArrayRef, false),
        ("reason", texts(rows, |row| Some(&row.reason)), false),
        ("evidence", evidence(rows), false),
        ("executions", numbers(rows, |row| Some(row.executions)), false),
        ("coverage", shares(rows, |row| Some(row.coverage)), false),
        ("changed_lines_reached", shares(rows, |row| row.changed_lines_reached), true),
        ("milliseconds", shares(rows, |row| Some(row.milliseconds)), false),
        ("reproducer", texts(rows, |row| row.reproducer.as_deref()), true),
        ("label", texts(rows, |row| row.label.as_deref()), true),
        ("project", texts(rows, |row| row.project.as_deref()), true),
        ("commit", texts(rows, |row| row.commit.as_deref()), true),
        ("file", texts(rows, |row| row.file.as_deref()), true),
        ("function", texts(rows, |row| row.function.as_deref()), true),
        ("first_difference", numbers(rows, |row| row.first_difference), true),
        ("complexity", numbers(rows, |row| row.complexity), true),
        ("key", texts(rows, |row| row.key.as_deref()), true),
    ])
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
