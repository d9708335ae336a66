//! What is said of a comparison as a whole.

use twincell_compare::report::{Comparison, DecidedBy, PairReport};
use twincell_compare::verdict::Verdict;
use twincell_syntax::CodeKind;

use super::names::list;
use super::pair::{SAME_TEXT, pair};

/// The result of a comparison in one sentence.
pub fn comparison(comparison: &Comparison) -> String {
    let accepted = accepted(&comparison.pairs).filter(|_| comparison.verdict_of_pairs != Verdict::Changing);
    if let Some(accepted) = accepted {
        return accepted;
    }
    let told = match comparison.pairs.iter().any(|pair| pair.cell.is_some()) {
        true => of_cells(comparison),
        false => overall(comparison),
    };
    let left_out: Vec<String> = comparison.cells_left_out.iter().map(ToString::to_string).collect();
    if left_out.is_empty() { told } else { format!("Not compared: {}. {told}", list(&left_out)) }
}

/// The sentence about pairs whose differences are accepted, if there are any.
fn accepted(pairs: &[PairReport]) -> Option<String> {
    let names: Vec<&str> = (pairs.iter())
        .filter(|pair| pair.accepted.is_some() && pair.verdict == Verdict::Changing)
        .map(|pair| pair.new.qualname.as_str())
        .collect();
    (!names.is_empty()).then(|| format!("What differs is accepted: {}.", list(&names)))
}

/// The sentence about the parts of all cells of a notebook.
fn of_cells(comparison: &Comparison) -> String {
    let verdict = comparison.verdict_of_pairs;
    let deciding: Vec<&PairReport> = comparison.pairs.iter().filter(|pair| pair.decides_itself()).collect();
    if let [only] = deciding.as_slice() {
        return only.cell.map_or_else(|| pair(only), |cell| format!("In {cell}: {}", pair(only)));
    }
    let named = |pair: &PairReport| match pair.cell {
        Some(cell) => format!("{} ({cell})", pair.new.qualname),
        None => pair.new.qualname.clone(),
    };
    let such: Vec<String> = deciding.iter().filter(|pair| pair.verdict == verdict).map(|pair| named(pair)).collect();
    let (count, all, names) = (such.len(), deciding.len(), list(&such));
    match verdict {
        Verdict::Changing => format!("Behavior changed in {count} of {all} parts of the cells: {names}."),
        Verdict::Inconclusive => {
            format!("No difference found, but {count} of {all} parts of the cells are inconclusive: {names}.")
        }
        Verdict::LikelyPreserving => {
            format!("No difference in {all} parts of the cells: {count} executed, {} identical.", all - count)
        }
        Verdict::Identical => format!("Identical: nothing differs in {all} parts of the cells."),
    }
}

/// The sentence about all pairs, and about functions that only one version has.
fn overall(comparison: &Comparison) -> String {
    let Comparison { verdict_of_pairs: verdict, pairs, added, removed, .. } = comparison;
    let (deciding, judged): (Vec<&PairReport>, Vec<&PairReport>) = pairs.iter().partition(|pair| pair.decides_itself());
    let kinds: Vec<CodeKind> = deciding.iter().map(|pair| pair.facts.kind).collect();
    let names = |wanted: Verdict| -> Vec<&str> {
        let such = deciding.iter().filter(|pair| pair.verdict == wanted);
        such.map(|pair| pair.new.qualname.as_str()).collect()
    };
    let (total, all) = (deciding.len(), counted(deciding.len(), &kinds));
    let (elsewhere, judged): (Vec<&PairReport>, Vec<&PairReport>) =
        judged.into_iter().partition(|pair| matches!(pair.decided_by, DecidedBy::OtherModules(_)));
    let mut sentence = match (verdict, deciding.as_slice()) {
        (_, []) if judged.is_empty() && elsewhere.len() == 1 => return pair(elsewhere[0]),
        (_, []) => String::from("No difference that does not come from other modules."),
        (_, [only]) => pair(only),
        (Verdict::Changing, _) => {
            let changed = names(Verdict::Changing);
            format!("Behavior changed in {} of {all}: {}.", changed.len(), list(&changed))
        }
        (Verdict::Inconclusive, _) => {
            let open = names(Verdict::Inconclusive);
            let is = if open.len() == 1 { "is" } else { "are" };
            format!("No difference found, but {} of {all} {is} inconclusive: {}.", open.len(), list(&open))
        }
        (Verdict::LikelyPreserving, _) => format!(
            "No difference in {all}: {} executed, {} identical.",
            names(Verdict::LikelyPreserving).len(),
            names(Verdict::Identical).len()
        ),
        (Verdict::Identical, _) => match deciding.iter().filter(|pair| !pair.facts.has_same_text).count() {
            0 => format!("Identical: {SAME_TEXT} in {all}."),
            other => {
                format!("Identical: {other} of {all} are written differently, but all {total} are the same programs.")
            }
        },
    };
    if !elsewhere.is_empty() {
        let names: Vec<&str> = elsewhere.iter().map(|pair| pair.new.qualname.as_str()).collect();
        sentence.push_str(&format!(" Covered by other modules: {}.", list(&names)));
    }
    if !judged.is_empty() {
        let names: Vec<&str> = judged.iter().map(|pair| pair.new.qualname.as_str()).collect();
        sentence.push_str(&format!(" Covered by the code that uses them: {}.", list(&names)));
    }
    if *verdict != Verdict::Changing {
        for (which, names) in [("old", removed), ("new", added)] {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            if !names.is_empty() {
                sentence.push_str(&format!(" Only in {which}: {}.", list(&names)));
            }
        }
    }
    sentence
}

/// `2 functions`, `1 class`, `3 functions and classes`.
fn counted(count: usize, kinds: &[CodeKind]) -> String {
    let mut nouns: Vec<&str> = Vec::new();
    for (kind, one, several) in [
        (CodeKind::Function, "function", "functions"),
        (CodeKind::Class, "class", "classes"),
        (CodeKind::Snippet, "snippet", "snippets"),
    ] {
        if kinds.contains(&kind) {
            nouns.push(if kinds.len() == 1 { one } else { several });
        }
    }
    match nouns.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{count} {} and {last}", rest.join(", ")),
        _ => format!("{count} {}", nouns.concat()),
    }
}
