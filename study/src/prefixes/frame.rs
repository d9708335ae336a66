//! Rows of a study of prefixes as an Arrow table, from which frames of pandas, polars and pyarrow are made.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder, StringBuilder, StructBuilder, UInt32Builder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use twincell_prefix::NotInstalled;

use super::row::PrefixRow;
use crate::columns::word;

/// All rows, one column for each field.
pub fn batches(rows: &[PrefixRow]) -> Result<Vec<RecordBatch>, ArrowError> {
    fn texts<'a>(rows: &'a [PrefixRow], of: impl Fn(&'a PrefixRow) -> Option<&'a str>) -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    }
    let shares = |of: &dyn Fn(&PrefixRow) -> f64| -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(of(row))).collect::<Float64Array>())
    };
    let counts = |of: &dyn Fn(&PrefixRow) -> u32| -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(of(row))).collect::<UInt32Array>())
    };
    let steps: ArrayRef = Arc::new(rows.iter().map(|row| row.best_step.and_then(word)).collect::<StringArray>());
    let stopped: ArrayRef = Arc::new(rows.iter().map(|row| Some(row.stopped)).collect::<BooleanArray>());
    let (mut by_step, mut tried) = (ListBuilder::new(Float64Builder::new()), ListBuilder::new(UInt32Builder::new()));
    for row in rows {
        by_step.append_value(row.by_step.map(Some));
        tried.append_value(row.tried.map(Some));
    }
    RecordBatch::try_from_iter_with_nullable([
        ("id", texts(rows, |row| Some(&row.id)), false),
        ("folder", texts(rows, |row| Some(&row.folder)), false),
        ("lines", counts(&|row| row.lines), false),
        ("as_is", shares(&|row| row.as_is), false),
        ("error_before", texts(rows, |row| row.error_before.as_deref()), true),
        ("by_step", Arc::new(by_step.finish()), false),
        ("coverage", shares(&|row| row.coverage), false),
        ("best", shares(&|row| row.best), false),
        ("best_step", steps, true),
        ("tried", Arc::new(tried.finish()), false),
        ("chosen", counts(&|row| row.chosen), false),
        ("milliseconds", shares(&|row| row.milliseconds), false),
        ("stopped", stopped, false),
        ("reason", texts(rows, |row| row.reason.as_deref()), true),
        ("problem", texts(rows, |row| row.problem.as_deref()), true),
        ("libraries", libraries(rows), false),
        ("key", texts(rows, |row| row.key.as_deref()), true),
    ])
    .map(|batch| vec![batch])
}

/// A list of structures for each row. Of what an installer said, only that it refused is here.
fn libraries(rows: &[PrefixRow]) -> ArrayRef {
    let fields: Vec<Field> =
        ["module", "distribution", "problem"].map(|name| Field::new(name, DataType::Utf8, true)).into();
    let mut list = ListBuilder::new(StructBuilder::from_fields(Fields::from(fields), 0));
    for row in rows {
        let each = list.values();
        for library in &row.libraries {
            let problem = library.problem.as_ref().and_then(|problem| match problem {
                NotInstalled::Refused { .. } => Some("refused".to_owned()),
                other => word(other),
            });
            let texts = [Some(library.module.clone()), library.distribution.clone(), problem];
            for (index, text) in texts.into_iter().enumerate() {
                // The builders are those of the fields above.
                if let Some(column) = each.field_builder::<StringBuilder>(index) {
                    column.append_option(text);
                }
            }
            each.append(true);
        }
        list.append(true);
    }
    Arc::new(list.finish())
}

#[cfg(test)]
mod tests {
    use twincell_prefix::Library;

    use super::*;

    #[test]
    fn the_columns_are_the_fields_in_their_order() {
        let refused = NotInstalled::Refused { message: "no network".into() };
        let library = Library { module: "a.b".into(), distribution: Some("a".into()), problem: Some(refused) };
        let rows = [PrefixRow { id: "x.py".into(), libraries: vec![library], ..PrefixRow::default() }];
        let table = batches(&rows).unwrap().remove(0);
        let names: Vec<_> = table.schema().fields().iter().map(|field| field.name().clone()).collect();
        let json = serde_json::to_value(&rows[0]).unwrap();
        assert_eq!(names, json.as_object().unwrap().keys().cloned().collect::<Vec<_>>());
        assert_eq!((table.num_rows(), batches(&[]).unwrap()[0].num_rows()), (1, 0));
    }
}
