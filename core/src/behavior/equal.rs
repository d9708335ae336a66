//! Are two observed values the same behavior? By structure, never by identity.

use super::{Observed, Rules};

/// Compares two observed values. What could not be observed counts as equal: it is no evidence.
pub(super) fn equal(old: &Observed, new: &Observed, rules: &Rules) -> bool {
    use Observed as O;
    match (old, new) {
        (O::Elided { .. }, _) | (_, O::Elided { .. }) => true,
        (O::List(a), O::List(b)) | (O::Tuple(a), O::Tuple(b)) | (O::Set(a), O::Set(b)) => all_equal(a, b, rules),
        (O::Dict(a), O::Dict(b)) => same_entries(a, b, rules),
        (O::Object { class: a, attributes: x }, O::Object { class: b, attributes: y }) => {
            a == b && named_equal(x, y, rules)
        }
        (O::Injected { path: a, assigned: x }, O::Injected { path: b, assigned: y }) => {
            a == b && named_equal(x, y, rules)
        }
        (O::Exception { class: a, arguments: x }, O::Exception { class: b, arguments: y }) => {
            a == b && all_equal(x, y, rules)
        }
        (O::Iterator { items: a, finished: x, .. }, O::Iterator { items: b, finished: y, .. }) => {
            x == y && all_equal(a, b, rules)
        }
        (O::Float(a), O::Float(b)) => a == b || close(a, b, rules.float_tolerance),
        // A function's name is no behavior; what a returned function does is observed on its own.
        (O::Function { .. }, O::Function { .. }) => true,
        _ => old == new,
    }
}

/// Two floats, as text, no further apart than a share of the greater one. Infinite and undefined ones are only like
/// themselves.
fn close(a: &str, b: &str, tolerance: f64) -> bool {
    let (Ok(a), Ok(b)) = (a.parse::<f64>(), b.parse::<f64>()) else { return false };
    a.is_finite() && b.is_finite() && (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

/// The order of a dictionary's entries is seldom meant. One that was cut off ends in an entry that stands for the rest:
/// then only keys that both show can be compared.
fn same_entries(old: &[(Observed, Observed)], new: &[(Observed, Observed)], rules: &Rules) -> bool {
    let is_cut = |entries: &[(Observed, Observed)]| matches!(entries.last(), Some((Observed::Elided { .. }, _)));
    if is_cut(old) && is_cut(new) {
        let shown = |key: &Observed| new.iter().rev().skip(1).find(|(other, _)| equal(key, other, rules));
        return old.iter().all(|(key, value)| shown(key).is_none_or(|(_, other)| equal(value, other, rules)));
    }
    old.len() == new.len()
        && old
            .iter()
            .all(|(key, value)| new.iter().any(|(other, its)| equal(key, other, rules) && equal(value, its, rules)))
}

pub(super) fn all_equal(old: &[Observed], new: &[Observed], rules: &Rules) -> bool {
    old.len() == new.len() && old.iter().zip(new).all(|(a, b)| equal(a, b, rules))
}

pub(super) fn named_equal(old: &[(String, Observed)], new: &[(String, Observed)], rules: &Rules) -> bool {
    old.len() == new.len() && old.iter().zip(new).all(|((a, x), (b, y))| a == b && equal(x, y, rules))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(old: &Observed, new: &Observed) -> bool {
        equal(old, new, &Rules::default())
    }

    fn int(value: i64) -> Observed {
        Observed::Int(value.to_string())
    }

    #[test]
    fn the_order_of_a_dictionary_does_not_matter_and_that_of_a_list_does() {
        let (a, b) = (Observed::Str("a".into()), Observed::Str("b".into()));
        let one = Observed::Dict(vec![(a.clone(), int(1)), (b.clone(), int(2))]);
        let two = Observed::Dict(vec![(b.clone(), int(2)), (a.clone(), int(1))]);
        assert!(same(&one, &two));
        assert!(!same(&Observed::List(vec![int(1), int(2)]), &Observed::List(vec![int(2), int(1)])));
    }

    #[test]
    fn of_dictionaries_that_were_cut_off_the_keys_that_both_show_count() {
        let cut = |entries: &[(i64, i64)]| {
            let rest = Observed::Elided { reason: "too many parts".into() };
            let shown = entries.iter().map(|(key, value)| (int(*key), int(*value)));
            Observed::Dict(shown.chain([(rest.clone(), rest.clone())]).collect())
        };
        assert!(same(&cut(&[(1, 1), (2, 2)]), &cut(&[(2, 2), (3, 3)])));
        assert!(!same(&cut(&[(1, 1), (2, 2)]), &cut(&[(2, 0), (3, 3)])));
        assert!(!same(&cut(&[(1, 1)]), &Observed::Dict(vec![(int(1), int(1))])));
    }

    #[test]
    fn values_of_different_classes_differ() {
        assert!(!same(&int(1), &Observed::Bool(true)));
        assert!(!same(&Observed::List(vec![]), &Observed::Tuple(vec![])));
    }
}
