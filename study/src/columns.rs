//! Findings as Arrow columns, the same in a frame and in a Parquet file. Each of these makes its own column of the
//! evidence.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::ArrowError;
use serde::Serialize;

use crate::change::shown;
use crate::finding::Finding;

/// The name of a value in results, such as a verdict.
pub fn word(value: impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

/// One column for each field. An id is an integer if `integers` says that all are, and otherwise a text.
pub fn batch(rows: &[Finding], integers: bool, evidence: ArrayRef) -> Result<RecordBatch, ArrowError> {
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
        let text = |row: &Finding| Some(shown(&row.id));
        Arc::new(rows.iter().map(text).collect::<StringArray>())
    };
    let verdicts: ArrayRef = Arc::new(rows.iter().map(|row| word(row.verdict)).collect::<StringArray>());
    RecordBatch::try_from_iter_with_nullable([
        ("id", id, false),
        ("verdict", verdicts, false),
        ("reason", texts(rows, |row| Some(&row.reason)), false),
        ("evidence", evidence, false),
        ("executions", numbers(rows, |row| Some(row.executions)), false),
        ("coverage", shares(rows, |row| Some(row.coverage)), false),
        ("changed_lines_reached", shares(rows, |row| row.changed_lines_reached), true),
        ("milliseconds", shares(rows, |row| Some(row.milliseconds)), false),
        ("reproducer", texts(rows, |row| row.reproducer.as_deref()), true),
        ("label", texts(rows, |row| row.label.as_deref()), true),
        ("project", texts(rows, |row| row.project.as_deref()), true),
        ("commit", texts(rows, |row| row.commit.as_deref()), true),
        ("date", texts(rows, |row| row.date.as_deref()), true),
        ("file", texts(rows, |row| row.file.as_deref()), true),
        ("function", texts(rows, |row| row.function.as_deref()), true),
        ("kind", texts(rows, |row| row.kind.as_deref()), true),
        ("first_difference", numbers(rows, |row| row.first_difference), true),
        ("complexity", numbers(rows, |row| row.complexity), true),
        ("sandbox_lacks", mechanisms(rows), true),
        ("key", texts(rows, |row| row.key.as_deref()), true),
    ])
}

/// A list of names for each row.
fn mechanisms(rows: &[Finding]) -> ArrayRef {
    let mut list = ListBuilder::new(StringBuilder::new());
    for row in rows {
        list.append_option(row.sandbox_lacks.as_ref().map(|lacks| lacks.iter().map(word)));
    }
    Arc::new(list.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Change, NoChange};

    #[test]
    fn the_columns_are_the_fields_in_their_order() {
        let change = Change { id: 7.into(), new: "def f(): pass".into(), ..Change::default() };
        let rows = [Finding::not_compared(&change, "no".into(), 1.0)];
        let evidence: ArrayRef = Arc::new(StringArray::from(vec!["[]"]));
        let table = batch(&rows, true, evidence).unwrap();
        let names: Vec<_> = table.schema().fields().iter().map(|field| field.name().clone()).collect();
        let json = serde_json::to_value(&rows[0]).unwrap();
        assert_eq!(names, json.as_object().unwrap().keys().cloned().collect::<Vec<_>>());
    }

    #[test]
    fn an_id_of_any_kind_is_a_text_unless_all_are_integers() {
        let row =
            |id: serde_json::Value| Finding::no_change(&NoChange { number: 1, id, unit: None, what: String::new() });
        let rows = [row("a".into()), row(7.into()), row(serde_json::json!([1]))];
        let evidence: ArrayRef = Arc::new(StringArray::from(vec!["[]"; 3]));
        let table = batch(&rows, false, evidence).unwrap();
        let ids = table.column(0).as_any().downcast_ref::<StringArray>().unwrap();
        assert_eq!(ids.iter().flatten().collect::<Vec<_>>(), ["a", "7", "[1]"]);
    }
}
