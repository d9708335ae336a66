//! Findings as an Arrow table, from which frames of pandas, polars and pyarrow are made.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, ListBuilder, StringBuilder, StructBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Fields};

use twincell_behavior::EvidencePlace;

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
    fields.push(Field::new("at", DataType::Struct(place_fields()), true));
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
            append_texts(each, texts);
            // The builders are those of the fields above.
            if let Some(column) = each.field_builder::<StructBuilder>(TEXTS) {
                append_place(column, one.at.as_ref());
            }
            if let Some(column) = each.field_builder::<Float64Builder>(TEXTS + 1) {
                column.append_value(one.probability);
            }
            if let Some(column) = each.field_builder::<BooleanBuilder>(TEXTS + 2) {
                column.append_value(one.edge_case);
            }
            if let Some(column) = each.field_builder::<Float64Builder>(TEXTS + 3) {
                column.append_value(one.score);
            }
            if let Some(column) = each.field_builder::<UInt32Builder>(TEXTS + 4) {
                column.append_value(one.execution);
            }
            each.append(true);
        }
        list.append(true);
    }
    Arc::new(list.finish())
}

/// The fields of all kinds of places. Those of other kinds are empty; a slot is JSON.
fn place_fields() -> Fields {
    let texts = ["kind", "slot", "stream"].map(|name| Field::new(name, DataType::Utf8, true));
    texts.into_iter().chain([Field::new("number", DataType::UInt64, true)]).collect()
}

fn append_place(column: &mut StructBuilder, place: Option<&EvidencePlace>) {
    let place = place.and_then(|place| serde_json::to_value(place).ok());
    let field = |name: &str| place.as_ref().and_then(|place| place.get(name));
    let text = |name: &str| field(name).and_then(|value| value.as_str().map(str::to_owned));
    append_texts(column, [text("kind"), field("slot").map(ToString::to_string), text("stream")]);
    if let Some(numbers) = column.field_builder::<UInt64Builder>(3) {
        numbers.append_option(field("number").and_then(serde_json::Value::as_u64));
    }
    column.append(place.is_some());
}

/// Appends to the first fields, which are texts.
fn append_texts<const N: usize>(column: &mut StructBuilder, texts: [Option<String>; N]) {
    for (index, text) in texts.into_iter().enumerate() {
        if let Some(column) = column.field_builder::<StringBuilder>(index) {
            column.append_option(text);
        }
    }
}
