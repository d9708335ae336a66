//! Notebooks: two versions as pairs of cells, each with what the earlier cells of its own version define.

mod format;
mod matching;

use std::collections::BTreeSet;

use twincell_compare::report::CellNumbers;
use twincell_compare::{CompareError, CompareOptions, Source};
use twincell_syntax::{
    AfterCells, CellName, EarlierCells, PerSide, Side, defined_names, plain_python, replacing, too_deep, used_names,
};

use format::Cell;
use matching::{Matching, matching};

pub use format::FormatError;

/// The code of a notebook as one text, of a text that is one. Cells that are not Python have none.
pub fn code(json: &str) -> Option<String> {
    let cells = format::cells(json).ok()?;
    Some(cells.into_iter().filter_map(|cell| cell.code).collect::<Vec<_>>().join("\n"))
}

/// The maximum number of cells with code.
const MOST_CELLS: usize = 1000;

/// Why two versions are no notebooks that can be compared, in one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotebookError {
    #[error("{label}: {error}")]
    Format { label: String, error: FormatError },
    #[error("{notebook} is a notebook and {other} is not: give two notebooks, or two Python files")]
    OnlyOne { notebook: String, other: String },
    #[error("{label} has more than {MOST_CELLS} cells of code")]
    TooManyCells { label: String },
    #[error("the notebooks {old} and {new} have no code in common that can be compared")]
    NothingInCommon { old: String, new: String },
}

/// Two versions of a notebook.
pub struct Notebooks {
    labels: PerSide<String>,
    cells: PerSide<Vec<Cell>>,
    matching: Matching,
}

/// Two versions of one cell.
pub struct CellPair {
    pub numbers: CellNumbers,
    pub old: Source,
    pub new: Source,
    /// Whether the cell itself is the same in both.
    pub is_same_text: bool,
}

impl CellPair {
    /// Whether neither the cell nor what it uses of earlier ones changed.
    pub fn is_unchanged(&self) -> bool {
        self.is_same_text && self.old.context == self.new.context
    }
}

impl Notebooks {
    /// Reads both versions. `None` if neither is a notebook.
    pub fn of(old: &Source, new: &Source) -> Result<Option<Self>, NotebookError> {
        let sources = PerSide::new(old, new);
        match (old.is_notebook, new.is_notebook) {
            (true, true) => {}
            (false, false) => return Ok(None),
            (is_old, _) => {
                let (one, other) = if is_old { (old, new) } else { (new, old) };
                return Err(NotebookError::OnlyOne { notebook: one.label.clone(), other: other.label.clone() });
            }
        }
        let cells = PerSide::try_of(|side| {
            let Source { text, label, .. } = sources[side];
            format::cells(text).map_err(|error| NotebookError::Format { label: label.clone(), error })
        })?;
        if let Some(side) = Side::BOTH.into_iter().find(|side| cells[*side].len() > MOST_CELLS) {
            return Err(NotebookError::TooManyCells { label: sources[side].label.clone() });
        }
        let matching = matching(&cells.old, &cells.new);
        Ok(Some(Self { labels: sources.map(|source| source.label.clone()), cells, matching }))
    }

    /// Checks the bounds of what is parsed.
    pub fn check(&self, options: &CompareOptions) -> Result<(), CompareError> {
        for side in Side::BOTH {
            let codes = || self.cells[side].iter().filter_map(|cell| Some((cell.number, cell.code.as_ref()?)));
            let label = &self.labels[side];
            if codes().map(|(_, code)| code.len() as u64).sum::<u64>() > options.max_source {
                return Err(CompareError::TooLarge { label: label.clone(), limit: options.max_source });
            }
            if let Some((number, place)) = codes().find_map(|(number, code)| Some((number, too_deep(code)?))) {
                return Err(CompareError::TooDeep { label: format!("{label}, cell {number}"), place });
            }
        }
        Ok(())
    }

    pub fn nothing_in_common(&self) -> NotebookError {
        let PerSide { old, new } = self.labels.clone();
        NotebookError::NothingInCommon { old, new }
    }

    /// All Python of each version, as one text.
    pub fn whole(&self) -> PerSide<String> {
        self.cells.as_ref().map(|cells| cells.iter().filter_map(|cell| cell.code.as_deref().map(plain)).collect())
    }

    /// The numbers of the cells with code that only one version has.
    pub fn alone(&self) -> PerSide<Vec<u32>> {
        let numbers = |cells: &[Cell], positions: &[usize]| {
            let cells = positions.iter().map(|at| &cells[*at]).filter(|cell| !cell.text.trim().is_empty());
            cells.map(|cell| cell.number).collect()
        };
        let Matching { removed, added, .. } = &self.matching;
        PerSide::new(numbers(&self.cells.old, removed), numbers(&self.cells.new, added))
    }

    /// The numbers of those that may put something else in the place of functions of other cells.
    pub fn replacing_alone(&self) -> PerSide<Vec<u32>> {
        let alone = self.alone();
        PerSide::of(|side| {
            let code =
                |number: &u32| self.cells[side].iter().find(|cell| cell.number == *number)?.code.as_deref().map(plain);
            let may_replace = |number: &&u32| {
                let text = code(number).unwrap_or_default();
                let cell = AfterCells { text: &text, before: 0, is_cell: true };
                !replacing(AfterCells::default(), cell).new.is_empty()
            };
            alone[side].iter().filter(may_replace).copied().collect()
        })
    }

    /// The cells that changed and that are not Python in both versions: `%%bash` and the like.
    pub fn foreign(&self) -> Vec<CellNumbers> {
        let changed = self.matching.pairs.iter().filter_map(|&(old, new)| {
            let (old, new) = (&self.cells.old[old], &self.cells.new[new]);
            let is_foreign = old.code.is_none() || new.code.is_none();
            (is_foreign && old.text != new.text).then_some(CellNumbers { old: old.number, new: new.number })
        });
        changed.collect()
    }

    /// The cells that both versions have and that are Python, in the order of the new version, at the places of their
    /// notebooks.
    pub fn pairs(&self, places: &PerSide<Source>) -> Vec<CellPair> {
        let codes = self.cells.as_ref().map(|cells| {
            cells.iter().map(|cell| cell.code.as_deref().map(plain).unwrap_or_default()).collect::<Vec<String>>()
        });
        let shared = codes.old.iter().zip(&codes.new).take_while(|(one, other)| one == other).count();
        let earlier =
            codes.as_ref().map(|codes| EarlierCells::new(&codes.iter().map(String::as_str).collect::<Vec<_>>()));
        let pair = |&(one, other): &(usize, usize)| {
            let positions = PerSide::new(one, other);
            let cells = PerSide::of(|side| &self.cells[side][positions[side]]);
            if cells.iter().any(|cell| cell.code.as_ref().is_none_or(|code| code.trim().is_empty())) {
                return None;
            }
            let texts = PerSide::of(|side| &codes[side][positions[side]]);
            // What is the same up to here needs nothing of it.
            let is_same_so_far = one == other && one < shared;
            let free: BTreeSet<String> = texts.iter().flat_map(|text| used_names(text).free).collect();
            let source = |side: Side| {
                let own = || defined_names(texts[side]);
                let context = || earlier[side].context(positions[side], &free, &own(), &|_| CellName::Bound).text;
                let cell = cells[side];
                Source {
                    text: cell.code.clone().unwrap_or_default(),
                    label: format!("{}, cell {}", self.labels[side], cell.number),
                    context: if is_same_so_far { String::new() } else { context() },
                    is_cell: true,
                    place: places[side].place.clone(),
                    ..Source::default()
                }
            };
            let PerSide { old, new } = PerSide::of(source);
            Some(CellPair {
                numbers: CellNumbers { old: cells.old.number, new: cells.new.number },
                is_same_text: old.text == new.text,
                old,
                new,
            })
        };
        self.matching.pairs.iter().filter_map(pair).collect()
    }
}

/// A text without notebook syntax, ending in a line break.
fn plain(code: &str) -> String {
    let text = plain_python(code).map_or_else(|| code.to_owned(), |(text, _)| text);
    if text.ends_with('\n') { text } else { text + "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(label: &str, cells: &[&str]) -> Source {
        let cells: Vec<_> = cells
            .iter()
            .map(|text| serde_json::json!({ "cell_type": "code", "metadata": {}, "outputs": [], "source": text }))
            .collect();
        let text =
            serde_json::json!({ "nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells }).to_string();
        Source { text, label: label.into(), is_notebook: true, ..Source::default() }
    }

    #[test]
    fn a_cell_has_what_it_uses_of_the_earlier_cells_of_its_own_version() {
        let use_it = "def gross(price):\n    return price * RATE\n";
        let old = source("a.ipynb", &["%matplotlib inline\nRATE = 2", "RATE.bit_length()\n", use_it, "RATE = 4\n"]);
        let new = source("a.ipynb", &["%matplotlib inline\nRATE = 3", "RATE.bit_length()\n", use_it, "RATE = 4\n"]);
        let pairs = Notebooks::of(&old, &new).unwrap().unwrap().pairs(&PerSide::default());
        let of_gross = &pairs[2];
        assert_eq!((of_gross.numbers.old, of_gross.numbers.new), (3, 3));
        assert_eq!((of_gross.old.context.as_str(), of_gross.new.context.as_str()), ("RATE = 2\n", "RATE = 3\n"));
        assert!(of_gross.is_same_text && !of_gross.is_unchanged());
        assert!(pairs[3].is_unchanged());
        assert_eq!(pairs[0].new.label, "a.ipynb, cell 1");
    }

    #[test]
    fn the_number_of_cells_is_bounded() {
        let many = source("a.ipynb", &["x = 1"; MOST_CELLS + 1]);
        let message = Notebooks::of(&many, &source("b.ipynb", &[])).err().unwrap().to_string();
        assert_eq!(message, "a.ipynb has more than 1000 cells of code");
    }

    #[test]
    fn a_notebook_is_compared_with_a_notebook_only() {
        let error = Notebooks::of(&source("a.ipynb", &[]), &Source { label: "b.py".into(), ..Source::default() });
        let message = error.err().unwrap().to_string();
        assert_eq!(message, "a.ipynb is a notebook and b.py is not: give two notebooks, or two Python files");
        let broken = Source { text: "{}".into(), ..source("a.ipynb", &[]) };
        let message = Notebooks::of(&broken, &broken).err().unwrap().to_string();
        assert!(message.starts_with("a.ipynb: it is not a notebook: missing field `nbformat`"), "{message}");
    }
}
