//! Results as a Parquet file. Parquet cannot be appended to, so rows go to a journal beside it (`x.parquet.partial`, a
//! store of its own in SQLite). They become Parquet when the study ends or is interrupted, and the journal is removed.
//! A killed study leaves the journal.
//!
//! The columns are the fields of a finding. `evidence` is JSON. `id` is an integer if all are, and otherwise a text.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::Value;
use twincell_engine::protocol::Mechanism;
use twincell_files::outputs;

use super::places::{beside, foreign, journal_of, unreadable, unwritable};
use super::rows::Store;
use super::sqlite::{self, Sqlite};
use crate::columns;
use crate::finding::Finding;

/// The number of rows that are held at a time.
const BATCH: usize = 4096;

pub struct Parquet {
    path: PathBuf,
    journal: Sqlite,
}

impl Parquet {
    pub fn open(path: &Path, fresh: bool) -> Result<Self, String> {
        let check = || if path.exists() && !fresh { is_ours(path).map(|()| true) } else { Ok(false) };
        // This is checked before anything is made beside the file, and again once no other study can be writing it.
        check()?;
        let mut journal = Sqlite::open(&journal_of(path), fresh)?;
        if check()? {
            let mut number = 0;
            each_row(path, &mut |finding| {
                number += 1;
                // The content of the journal counts as new, since it began with this file.
                match &finding.key {
                    Some(key) if !journal.has(key)? => journal.add_earlier(number, &finding),
                    _ => Ok(()),
                }
            })?;
            journal.commit()?;
        }
        // This is checked now, and not after hours.
        let temporary = beside(path, ".tmp");
        outputs::make_beside(&temporary, path).map_err(|error| unwritable(path, &error))?;
        std::fs::remove_file(&temporary).map_err(|error| unwritable(path, &error))?;
        if fresh {
            let _ = std::fs::remove_file(path);
        }
        Ok(Self { path: path.to_owned(), journal })
    }

    fn write(&self) -> Result<(), String> {
        let temporary = beside(&self.path, ".tmp");
        let failed = |error: &dyn std::fmt::Display| format!("cannot write {}: {error}", self.path.display());
        let file = outputs::make_beside(&temporary, &self.path).map_err(|error| unwritable(&self.path, &error))?;
        let integers = self.journal.all_ids_are_integers()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(format!("twincell {}", env!("CARGO_PKG_VERSION")))
            .build();
        let schema = table(&[], integers).map_err(|error| failed(&error))?.schema();
        let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).map_err(|error| failed(&error))?;
        let mut waiting = Vec::new();
        let mut write = |rows: &mut Vec<Finding>| {
            let batch = table(rows, integers).map_err(|error| failed(&error))?;
            rows.clear();
            writer.write(&batch).and_then(|()| writer.flush()).map_err(|error| failed(&error))
        };
        self.journal.each(&mut |finding| {
            waiting.push(finding);
            if waiting.len() < BATCH { Ok(()) } else { write(&mut waiting) }
        })?;
        write(&mut waiting)?;
        let file = writer.into_inner().map_err(|error| failed(&error))?;
        let ended = file.sync_data().and_then(|()| std::fs::rename(&temporary, &self.path));
        ended.map_err(|error| unwritable(&self.path, &error))
    }
}

impl Store for Parquet {
    fn resume(&mut self, number: usize, key: &str, relabel: &dyn Fn(&mut Finding)) -> Result<Option<Finding>, String> {
        self.journal.resume(number, key, relabel)
    }

    fn add(&mut self, number: usize, finding: &Finding) -> Result<(), String> {
        self.journal.add(number, finding)
    }

    fn tick(&mut self) -> Result<(), String> {
        self.journal.tick()
    }

    fn unclaimed(&self) -> Result<u64, String> {
        self.journal.unclaimed()
    }

    fn copy(&mut self, to: &Path) -> Result<(), String> {
        // Rows that the journal has beyond the file were never in a file.
        match outputs::copy_beside(&self.path, to) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(unwritable(to, &error)),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, complete: bool) -> Result<(), String> {
        self.journal.finish(complete)?;
        self.write()?;
        let journal = journal_of(&self.path);
        std::fs::remove_file(&journal).map_err(|error| unwritable(&journal, &error))?;
        sqlite::remove_logs(&journal);
        Ok(())
    }
}

pub fn read(path: &Path, each: &mut dyn FnMut(Finding) -> Result<(), String>) -> Result<(), String> {
    let journal = journal_of(path);
    match path.try_exists() {
        // A study that was killed, or that is resumed, has its earlier findings there.
        Ok(false) if journal.exists() => sqlite::read(&journal, each),
        _ => each_row(path, each),
    }
}

/// A table of findings; their evidence is JSON.
fn table(rows: &[Finding], integers: bool) -> Result<RecordBatch, ArrowError> {
    let json = |row: &Finding| Some(serde_json::to_string(&row.evidence).unwrap_or_default());
    columns::batch(rows, integers, Arc::new(rows.iter().map(json).collect::<StringArray>()))
}

fn opened(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>, String> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|error| format!("cannot read {}: it is not a Parquet file ({error})", path.display()))
}

fn is_ours(path: &Path) -> Result<(), String> {
    let file = match std::fs::metadata(path) {
        Ok(metadata) if metadata.len() == 0 => return Ok(()),
        _ => opened(path).map_err(|_| foreign(path, "is not a Parquet file"))?,
    };
    let ours = ["id", "verdict", "reason", "evidence", "key"];
    if ours.iter().all(|name| file.schema().field_with_name(name).is_ok()) {
        return Ok(());
    }
    Err(foreign(path, "holds something other than results"))
}

fn each_row(path: &Path, each: &mut dyn FnMut(Finding) -> Result<(), String>) -> Result<(), String> {
    if std::fs::metadata(path).is_ok_and(|metadata| metadata.len() == 0) {
        return Ok(());
    }
    let failed = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
    let batches = opened(path)?.with_batch_size(BATCH).build().map_err(|error| failed(&error))?;
    let mut number = 0;
    for batch in batches {
        let batch = batch.map_err(|error| failed(&error))?;
        for row in 0..batch.num_rows() {
            number += 1;
            let finding = finding(&batch, row)
                .ok_or_else(|| format!("row {number} of {} is not a result of a study", path.display()))?;
            each(finding)?;
        }
    }
    Ok(())
}

fn text_at(column: &ArrayRef, row: usize) -> Option<String> {
    // Tools that rewrite Parquet choose among these.
    let text = match column.data_type() {
        DataType::LargeUtf8 => column.as_string_opt::<i64>()?.value(row),
        DataType::Utf8View => column.as_string_view_opt()?.value(row),
        _ => column.as_string_opt::<i32>()?.value(row),
    };
    Some(text.to_owned())
}

fn list_at(column: &ArrayRef, row: usize) -> Option<ArrayRef> {
    Some(match column.data_type() {
        DataType::LargeList(_) => column.as_list_opt::<i64>()?.value(row),
        _ => column.as_list_opt::<i32>()?.value(row),
    })
}

fn mechanisms(names: &ArrayRef) -> Option<Vec<Mechanism>> {
    (0..names.len()).map(|place| serde_json::from_value(Value::String(text_at(names, place)?)).ok()).collect()
}

/// One row as a finding. None if a required column is missing or has another type.
fn finding(batch: &RecordBatch, row: usize) -> Option<Finding> {
    let column = |name: &str| batch.column_by_name(name).filter(|column| column.is_valid(row));
    let text = |name: &str| text_at(column(name)?, row);
    let integer = |name: &str| {
        let column = column(name)?;
        match column.data_type() {
            DataType::Int64 => Some(column.as_primitive_opt::<Int64Type>()?.value(row)),
            DataType::Float64 => Some(column.as_primitive_opt::<Float64Type>()?.value(row) as i64),
            _ => Some(column.as_primitive_opt::<UInt32Type>()?.value(row).into()),
        }
    };
    let number = |name: &str| integer(name).and_then(|number| u32::try_from(number).ok());
    let share = |name: &str| Some(column(name)?.as_primitive_opt::<Float64Type>()?.value(row));
    Some(Finding {
        id: text("id").map(Value::from).or_else(|| integer("id").map(Value::from)).unwrap_or_default(),
        verdict: serde_json::from_value(Value::String(text("verdict")?)).ok()?,
        reason: text("reason")?,
        evidence: serde_json::from_str(&text("evidence")?).ok()?,
        executions: number("executions")?,
        coverage: share("coverage")?,
        changed_lines_reached: share("changed_lines_reached"),
        milliseconds: share("milliseconds")?,
        reproducer: text("reproducer"),
        label: text("label"),
        project: text("project"),
        commit: text("commit"),
        date: text("date"),
        file: text("file"),
        function: text("function"),
        kind: text("kind"),
        first_difference: number("first_difference"),
        complexity: number("complexity"),
        sandbox_lacks: match column("sandbox_lacks") {
            Some(column) => Some(mechanisms(&list_at(column, row)?)?),
            None => None,
        },
        key: text("key"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Change;

    #[test]
    fn a_row_of_an_older_twincell_lacks_only_what_it_did_not_know() {
        let row = Finding { sandbox_lacks: Some(vec![]), ..Finding::not_compared(&Change::default(), "r".into(), 1.0) };
        let table = table(std::slice::from_ref(&row), false).unwrap();
        assert_eq!(finding(&table, 0).unwrap().sandbox_lacks, Some(vec![]));
        let old: Vec<usize> =
            (0..table.num_columns()).filter(|place| table.schema().field(*place).name() != "sandbox_lacks").collect();
        let old = table.project(&old).unwrap();
        assert_eq!(finding(&old, 0), Some(Finding { sandbox_lacks: None, id: Value::String("null".into()), ..row }));
    }
}
