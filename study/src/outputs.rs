//! The outputs of a study besides its results: a page, reproducers, and messages about them for a person.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use twincell_compare::notice::Notice;
use twincell_driver::files::{TextKind, check_writable, make_folder, write_text};

use crate::find::Wanted;
use crate::finding::Finding;
use crate::page::{PageComparisons, study_state};
use crate::run::StudyOutcome;
use crate::store;

/// The outputs of a study, and where they go.
#[derive(Debug, Clone, Default)]
pub struct Outputs {
    /// Where results go. Without it they are kept in memory.
    pub out: Option<PathBuf>,
    /// Whether existing results are discarded.
    pub fresh: bool,
    pub html: Option<PathBuf>,
    /// The folder for reproducers.
    pub reproducers: Option<PathBuf>,
    /// Whether details of the changes are kept, which exports for other programs have.
    pub details: bool,
}

impl Outputs {
    /// Checks that no input is written to, and that nothing is written twice. An error is one line for people.
    pub(crate) fn check(&self, source: Option<&Path>) -> Result<(), String> {
        let (out, html) = (self.out.as_deref(), self.html.as_deref());
        if let (Some(source), Some(out)) = (source, out)
            && same_file(source, out)
        {
            return Err("--out is the input itself: give another file".to_owned());
        }
        if let Some(page) = html
            && (out == Some(page) || source.is_some_and(|source| same_file(source, page)))
        {
            return Err("--html is the input or --out: give another file".to_owned());
        }
        Ok(())
    }

    /// Whether there are results already, which the study goes on from.
    pub(crate) fn may_resume(&self) -> bool {
        !self.fresh && self.out.as_deref().is_some_and(store::has_results)
    }

    /// Checks that the page can be written, and makes the folder of reproducers.
    pub(crate) fn prepare(&self) -> Result<(), String> {
        if let Some(page) = &self.html {
            check_writable(page)?;
        }
        if let Some(folder) = &self.reproducers {
            make_folder(folder)?;
        }
        Ok(())
    }

    /// The wanted results of each comparison besides its row.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted {
            state: self.html.is_some() || self.out.is_none(),
            reproducers: self.reproducers.is_some(),
            detail: self.details,
        }
    }

    /// Where rows of an earlier run go that the input no longer has.
    pub(crate) fn aside(&self) -> Option<PathBuf> {
        self.out.as_deref().filter(|_| !self.fresh).map(store::aside)
    }

    /// Warnings about these outputs for a person, one line each.
    pub(crate) fn warnings(&self, outcome: &StudyOutcome) -> Vec<String> {
        let mut warnings = Vec::new();
        if !outcome.interrupted {
            warnings.extend(outcome.notable.nothing(outcome.confusion.total().into()));
        }
        if outcome.resumed > 0 && (self.html.is_some() || self.reproducers.is_some() || self.details) {
            warnings.push(format!(
                "{} results are from an earlier run: pages and files for other programs have their rows but not their \
                 details, and their reproducers are not written again; --fresh compares everything",
                outcome.resumed
            ));
        }
        if let (Some(aside), 1..) = (self.aside(), outcome.dropped) {
            warnings.push(format!(
                "{} earlier rows belong to other changes or other options: the earlier results are in {}",
                outcome.dropped,
                aside.display()
            ));
        }
        warnings
    }

    /// Writes the page. `rows` are the results if they went to no file. Returns what was written, one line each.
    pub(crate) fn write_page(
        &self,
        name: &str,
        outcome: &StudyOutcome,
        rows: &BTreeMap<usize, Finding>,
        comparisons: &PageComparisons,
        notices: &[Notice],
    ) -> Result<Vec<String>, String> {
        let mut written = Vec::new();
        if let Some(out) = &self.out {
            written.push(format!("written to {}", out.display()));
        }
        if let Some(page) = &self.html {
            let title = format!("Study of {name}");
            let results = match &self.out {
                Some(out) => store::read_all(out)?,
                None => rows.values().cloned().collect(),
            };
            let state = study_state(title.clone(), outcome.unfinished(), results, comparisons, notices);
            write_text(page, &twincell_widgets::study_page(&state, &title), TextKind::Markup)?;
            written.push(format!("page written to {}", page.display()));
        }
        Ok(written)
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
