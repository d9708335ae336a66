//! Comparisons of the cells of a notebook as one report.

use crate::report::{CellNumbers, Comparison};
use crate::verdict::Verdict;

/// One report of the comparisons of cells, each with the numbers of its cell. `left` are cells that could not be compared.
/// `None` if no cell was.
pub fn together(cells: Vec<(CellNumbers, Comparison)>, left: &[CellNumbers]) -> Option<Comparison> {
    let mut parts = cells.into_iter().map(|(numbers, mut comparison)| {
        for pair in &mut comparison.pairs {
            pair.cell = Some(numbers);
        }
        for name in comparison.added.iter_mut().chain(&mut comparison.removed) {
            *name = format!("{numbers}: {name}");
        }
        comparison
    });
    let mut whole = parts.next()?;
    for part in parts {
        whole.extend(part);
    }
    whole.cells_left_out = left.to_vec();
    if !left.is_empty() {
        whole.verdict = Verdict::worst([whole.verdict, Verdict::Inconclusive]);
    }
    Some(whole)
}
