//! What files for other programs say about a change besides its row: where it begins, and a test that shows it. Rows do
//! not hold this, so a row from an earlier run has none.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use twincell_compare::notice::Notice;
use twincell_compare::report::{Comparison, PairReport};
use twincell_compare::verdict::Verdict;
use twincell_driver::options::Options;
use twincell_driver::reproducers;
use twincell_syntax::{SNIPPET, functions};
use twincell_widgets::export::{ExportRow, changed_line};

use crate::change::{Change, shown};
use crate::finding::Finding;

/// The number of changes with details, the first ones of the input.
const MOST: usize = 10_000;

/// Of one change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// The first changed line of the new file, if it is known.
    line: Option<u32>,
    /// A test that passes on old and fails on new.
    test: Option<String>,
    /// What rules suppress, and what bounds cut.
    #[serde(default)]
    notices: Vec<Notice>,
}

impl Detail {
    /// None if there is nothing to say about the change besides its verdict.
    pub fn of(change: &Change, comparison: &Comparison) -> Option<Self> {
        let usual = change.budget.map(|_| Options::default().budget);
        let notices = Notice::of_comparison(comparison, change.file.as_deref(), usual);
        if !matches!(comparison.verdict, Verdict::Changing | Verdict::Inconclusive) {
            return (!notices.is_empty()).then(|| Self { notices, ..Self::default() });
        }
        let pair = comparison.pairs.iter().find(|pair| pair.verdict == comparison.verdict);
        Some(Self { line: pair.and_then(|pair| line(change, pair)), test: reproducers::held(comparison), notices })
    }
}

/// Where a change begins in its file. This is unknown for a text that was cut out of a missing file.
fn line(change: &Change, pair: &PairReport) -> Option<u32> {
    let line = changed_line(pair);
    let place = |text: &str, name: &str| functions(text).0.into_iter().find(|one| one.qualname == name);
    match (&change.new_module, &change.function) {
        (Some(module), Some(name)) => {
            place(module, name).map(|function| function.first_line + line.saturating_sub(pair.new.first_line))
        }
        // Classes and statements are named in whole files, and functions in texts cut out of them.
        (None, Some(name)) => (name == SNIPPET || place(&change.new, name).is_none()).then_some(line),
        (None, None) => (!is_one_function(&change.new)).then_some(line),
        (Some(_), None) => None,
    }
}

/// Whether a text is a single function, as one that was cut out of its file is.
fn is_one_function(text: &str) -> bool {
    let outermost = functions(text).0.into_iter().filter(|function| function.parent.is_none());
    outermost.count() == 1 && text.trim_start().starts_with(['d', 'a', '@'])
}

/// The details of the first changes of a study, which may come in any order: by their numbers, with the keys of their
/// rows.
#[derive(Debug, Default)]
pub struct Details {
    held: BTreeMap<usize, (String, Detail)>,
}

impl Details {
    pub fn add(&mut self, number: usize, key: Option<&str>, detail: Option<Detail>) {
        if let (Some(key), Some(detail)) = (key, detail) {
            self.held.insert(number, (key.to_owned(), detail));
        }
        if self.held.len() > MOST {
            self.held.pop_last();
        }
    }

    /// What rules suppress, and what bounds cut, in the order of the input.
    pub fn notices(&self) -> impl Iterator<Item = Notice> + '_ {
        self.held.values().flat_map(|(_, detail)| detail.notices.iter().cloned())
    }

    /// The rows as other programs read them.
    pub fn export_rows(&self, rows: Vec<Finding>) -> Vec<ExportRow> {
        let by_key: HashMap<&str, &Detail> = self.held.values().map(|(key, detail)| (key.as_str(), detail)).collect();
        let export = |row: Finding| {
            let detail = row.key.as_deref().and_then(|key| by_key.get(key).copied()).cloned().unwrap_or_default();
            ExportRow {
                name: name(&row),
                file: row.file,
                line: detail.line,
                link: None,
                verdict: row.verdict,
                sentence: row.reason,
                evidence: row.evidence,
                test: detail.test,
                milliseconds: row.milliseconds,
                sandbox_lacks: row.sandbox_lacks,
            }
        };
        rows.into_iter().map(export).collect()
    }
}

/// The function, if the id is nothing but the file and the function; otherwise the id.
fn name(row: &Finding) -> String {
    let id = shown(&row.id);
    match (&row.file, &row.function) {
        (Some(file), Some(function)) if id == format!("{file}:{function}") => function.clone(),
        _ => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_samples::{comparison, line as line_of, pair};

    fn change(new_module: Option<&str>, function: Option<&str>) -> Change {
        let new = "@cache\ndef f():\n    return 1\n".to_owned();
        let own = |text: &str| text.to_owned();
        Change { new, new_module: new_module.map(own), function: function.map(own), ..Change::default() }
    }

    #[test]
    fn a_change_begins_where_its_file_says() {
        let mut changing = pair(Verdict::Changing);
        (changing.new.first_line, changing.new.lines) =
            (2, vec![line_of(1, false, true, 1), line_of(2, true, true, 1)]);
        let module = "import x\n\n\n@cache\ndef f():\n    return 1\n";
        let line = |change: Change| Detail::of(&change, &comparison(vec![changing.clone()])).unwrap().line;
        assert_eq!(line(change(Some(module), Some("f"))), Some(6));
        assert_eq!(line(change(None, Some("f"))), None);
        assert_eq!(line(change(None, Some("C"))), Some(3));
        assert_eq!(line(change(None, None)), None);
        let whole = Change { new: format!("import x\n{}", change(None, None).new), ..change(None, None) };
        assert_eq!(line(whole), Some(3));
        assert_eq!(Detail::of(&change(None, None), &comparison(vec![pair(Verdict::Identical)])), None);
    }

    #[test]
    fn a_row_has_its_details_by_its_key_and_a_name_of_its_own() {
        let mut details = Details::default();
        let detail = Detail { line: Some(7), test: Some("t".into()), notices: vec![] };
        details.add(2, Some("k"), Some(detail));
        let row = |id: &str, key: &str| {
            let change =
                Change { id: id.into(), file: Some("a.py".into()), function: Some("f".into()), ..Change::default() };
            Finding { key: Some(key.into()), ..Finding::not_compared(&change, "r".into(), 0.0) }
        };
        let exported = details.export_rows(vec![row("a.py:f", "other"), row("x", "k")]);
        assert_eq!((exported[0].name.as_str(), exported[0].line), ("f", None));
        assert_eq!(
            (exported[1].name.as_str(), exported[1].line, exported[1].test.as_deref()),
            ("x", Some(7), Some("t"))
        );
    }
}
