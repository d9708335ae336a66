//! Compares two notebooks, cell by cell.

use twincell_compare::note::{CellLeftOut, Note};
use twincell_compare::report::{CellNumbers, Comparison};
use twincell_compare::verdict::Verdict;
use twincell_compare::{Again, CompareError, CompareOptions, Continue, Progress, Replayed, Source, together};
use twincell_syntax::PerSide;

use crate::failure::Failure;
use crate::notebook::{CellPair, Notebooks};
use crate::project::Placed;
use crate::warm::Engine;

/// Compares the cells that changed, or that use something of earlier cells that changed. If there is none, all that both
/// have are reported as the same.
pub fn compare(
    engine: &Engine,
    notebooks: &Notebooks,
    (old, new): (&Source, &Source),
    options: &CompareOptions,
    progress: &mut dyn FnMut(Progress) -> Continue,
) -> Result<Comparison, Failure> {
    notebooks.check(options)?;
    let placed = placed(engine, notebooks, (old, new), options)?;
    let (unchanged, changed): (Vec<CellPair>, Vec<CellPair>) =
        notebooks.pairs(&placed.sources).into_iter().partition(CellPair::is_unchanged);
    let mut of_cell = options.clone();
    // What one cell does not hold, another may.
    of_cell.examples.is_shared = true;
    let mut run =
        Run { engine, options: &of_cell, progress, found: vec![], failures: vec![], unknown: None, stopped: vec![] };
    run.all(&changed)?;
    if run.found.is_empty() && run.stopped.is_empty() {
        run.all(&unchanged)?;
    }
    let Run { found, failures, unknown, stopped, .. } = run;
    let broken = failures.iter().filter(|(_, error)| !has_no_behavior(error)).map(|(cell, _)| *cell);
    let foreign = notebooks.foreign();
    let replacing: Vec<CellNumbers> = notebooks
        .replacing_alone()
        .into_iter()
        .flatten()
        .map(|number| CellNumbers { old: number, new: number })
        .collect();
    let left: Vec<CellNumbers> = foreign.iter().chain(&stopped).chain(&replacing).copied().chain(broken).collect();
    let Some(mut comparison) = together(found, &left) else {
        let first = failures.into_iter().next().map(|(_, error)| error).or(unknown);
        return Err(first.map_or_else(|| notebooks.nothing_in_common().into(), Failure::from));
    };
    let cells = |numbers: Vec<u32>| numbers.into_iter().map(|number| format!("cell {number}"));
    let PerSide { old: removed, new: added } = notebooks.alone();
    comparison.removed.splice(0..0, cells(removed));
    comparison.added.splice(0..0, cells(added));
    let note = |cell: &CellNumbers, why| Note::Cell { cell: *cell, why };
    let broken = failures.iter().map(|(cell, error)| note(cell, CellLeftOut::Failed { error: error.to_string() }));
    let foreign = foreign.iter().map(|cell| note(cell, CellLeftOut::NoPython));
    let stopped = stopped.iter().map(|cell| note(cell, CellLeftOut::Stopped));
    let replacing = replacing.iter().map(|cell| note(cell, CellLeftOut::Alone));
    comparison.note(broken.chain(foreign).chain(stopped).chain(replacing));
    placed.note(&mut comparison);
    Ok(comparison)
}

/// Executes once more what one cell holds.
pub fn replay(
    engine: &Engine,
    notebooks: &Notebooks,
    (old, new): (&Source, &Source),
    options: &CompareOptions,
    again: &Again<'_>,
    go_on: &mut dyn FnMut() -> Continue,
) -> Result<Replayed, Failure> {
    let placed = placed(engine, notebooks, (old, new), options)?;
    let pairs = notebooks.pairs(&placed.sources);
    let cell = pairs.iter().find(|pair| Some(pair.numbers) == again.pair.cell);
    let cell = cell.ok_or_else(|| CompareError::Replay("the notebooks have no such cell".into()))?;
    engine.replay_placed(&cell.old, &cell.new, options, again, go_on)
}

/// Both notebooks with the places of their files.
fn placed(
    engine: &Engine,
    notebooks: &Notebooks,
    (old, new): (&Source, &Source),
    options: &CompareOptions,
) -> Result<Placed, Failure> {
    let PerSide { old: old_text, new: new_text } = notebooks.whole();
    let whole = |source: &Source, text: String| Source { text, ..source.clone() };
    Placed::new(&whole(old, old_text), &whole(new, new_text), options, engine)
}

struct Run<'a> {
    engine: &'a Engine,
    options: &'a CompareOptions,
    progress: &'a mut dyn FnMut(Progress) -> Continue,
    found: Vec<(CellNumbers, Comparison)>,
    failures: Vec<(CellNumbers, CompareError)>,
    /// Why a cell does not have the function that is asked for.
    unknown: Option<CompareError>,
    /// The cells whose turn did not come.
    stopped: Vec<CellNumbers>,
}

impl Run<'_> {
    fn all(&mut self, cells: &[CellPair]) -> Result<(), Failure> {
        let count = cells.len() as u32;
        let mut stops = false;
        for (number, cell) in (0..).zip(cells) {
            if stops {
                self.stopped.push(cell.numbers);
                continue;
            }
            let progress = &mut self.progress;
            let compared = self.engine.compare_placed(&cell.old, &cell.new, self.options, &mut |now| {
                let answer = progress(Progress { pair: number, pairs: count, ..now });
                stops |= answer == Continue::Stop;
                answer
            });
            match compared {
                Ok(mut comparison) => {
                    // What the same cell holds and the changes elsewhere leave alone is nothing to report.
                    if cell.is_same_text && !cell.is_unchanged() {
                        comparison.pairs.retain(|pair| pair.verdict != Verdict::Identical);
                    }
                    if !comparison.pairs.is_empty() {
                        self.found.push((cell.numbers, comparison));
                    }
                }
                Err(Failure::Compare(error @ CompareError::UnknownFunction { .. })) => self.unknown = Some(error),
                Err(Failure::Compare(error)) if is_of_cell(&error) => {
                    if !cell.is_same_text {
                        self.failures.push((cell.numbers, error));
                    }
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }
}

/// Whether the cell is to blame, and others can be compared.
fn is_of_cell(error: &CompareError) -> bool {
    has_no_behavior(error) || matches!(error, CompareError::Syntax { .. })
}

fn has_no_behavior(error: &CompareError) -> bool {
    matches!(error, CompareError::NoFunction { .. } | CompareError::NothingInCommon { .. })
}
