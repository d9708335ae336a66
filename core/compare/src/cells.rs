//! Comparisons of the cells of a notebook as one report.

use crate::report::{CellNumbers, Comparison, PairReport};
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
    whole.sentence = sentence(whole.verdict, &whole.pairs);
    if !left.is_empty() {
        whole.verdict = Verdict::worst([whole.verdict, Verdict::Inconclusive]);
        let more = left.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = left.iter().take(NAMED).map(ToString::to_string).collect::<Vec<_>>().join(", ");
        whole.sentence = format!("Not compared: {names}{more}. {}", whole.sentence);
    }
    Some(whole)
}

/// The maximum number of names in a sentence.
const NAMED: usize = 5;

/// The sentence about the parts of all cells.
pub(crate) fn sentence(verdict: Verdict, pairs: &[PairReport]) -> String {
    let deciding: Vec<&PairReport> = pairs.iter().filter(|pair| pair.decided_by.is_empty()).collect();
    let named = |pair: &PairReport| match pair.cell {
        Some(cell) => format!("{} ({cell})", pair.new.qualname),
        None => pair.new.qualname.clone(),
    };
    if let [pair] = deciding.as_slice() {
        return pair.cell.map_or_else(|| pair.sentence.clone(), |cell| format!("In {cell}: {}", pair.sentence));
    }
    let such: Vec<String> = deciding.iter().filter(|pair| pair.verdict == verdict).map(|pair| named(pair)).collect();
    let more = such.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let names = such.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let (count, all) = (such.len(), deciding.len());
    match verdict {
        Verdict::Changing => format!("Behavior changed in {count} of {all} parts of the cells: {names}{more}."),
        Verdict::Inconclusive => {
            format!("No difference found, but {count} of {all} parts of the cells are inconclusive: {names}{more}.")
        }
        Verdict::LikelyPreserving => {
            format!("No difference in {all} parts of the cells: {count} executed, {} identical.", all - count)
        }
        Verdict::Identical => format!("Identical: nothing differs in {all} parts of the cells."),
    }
}
