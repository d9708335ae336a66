//! Lists of names within a sentence.

use twincell_compare::note::Changed;

/// The maximum number of names in one list.
const NAMED: usize = 5;

/// What changed in another module, with its file: `Rates.of (src/shop/tax.py)`.
pub(super) fn elsewhere(changed: &Changed) -> String {
    format!("{} ({})", changed.name, changed.file)
}

/// Several of these.
pub(super) fn all_elsewhere(changed: &[Changed]) -> String {
    list(&changed.iter().map(elsewhere).collect::<Vec<_>>())
}

/// The first names, and the number of further ones.
pub(super) fn list<T: AsRef<str>>(names: &[T]) -> String {
    let shown = names.iter().take(NAMED).map(T::as_ref).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
