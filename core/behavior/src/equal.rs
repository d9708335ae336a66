//! Whether two observed values are the same behavior: by structure, never by identity.

use rustc_hash::{FxHashMap, FxHashSet};

use twincell_engine::observed::{ITEMS, Observed, Varying};

use super::{Rules, Unordered};

/// Compares two observed values. A value that could not be observed counts as equal, since it is not evidence.
pub fn equal(old: &Observed, new: &Observed, rules: &Rules) -> bool {
    use Observed as O;
    match (old, new) {
        (O::Elided { .. }, _) | (_, O::Elided { .. }) => true,
        (O::Varying(a), O::Varying(b)) => is_same_variation(a, b),
        (O::Varying(varying), other) | (other, O::Varying(varying)) => {
            varying.sources.is_none() && varying.types.contains(&type_name(other))
        }
        (O::List(a), O::List(b)) | (O::Tuple(a), O::Tuple(b)) => same_items(a, b, rules),
        (O::Set(a), O::Set(b)) => all_equal(a, b, rules),
        (O::Dict(a), O::Dict(b)) => same_entries(a, b, rules),
        (O::Object { class: a, attributes: x }, O::Object { class: b, attributes: y }) => {
            a == b && named_equal(x, y, rules) && (a != ORDERED || same_order(x, y, rules))
        }
        (O::Injected { path: a, assigned: x }, O::Injected { path: b, assigned: y }) => {
            a == b && named_equal(x, y, rules)
        }
        (O::Exception { class: a, arguments: x }, O::Exception { class: b, arguments: y }) => {
            a == b && (all_equal(x, y, rules) || a == "SystemExit" && is_success(x) && is_success(y))
        }
        (O::Iterator { items: a, finished: x, .. }, O::Iterator { items: b, finished: y, .. }) => {
            x == y && same_items(a, b, rules)
        }
        (O::Float(a), O::Float(b)) => a == b || close(a, b, rules.float_tolerance),
        (O::Str(a), O::Str(b)) => same_text(a, b),
        // A function's name is not behavior. Calls of a returned function are observed separately.
        (O::Function { .. }, O::Function { .. }) => true,
        (O::Called { gave: a }, O::Called { gave: b }) => equal(a, b, rules),
        (O::List(a), O::Tuple(b)) | (O::Tuple(a), O::List(b)) if rules.types_alike => same_items(a, b, rules),
        _ => old == new || rules.types_alike && is_same_number(old, new),
    }
}

/// The class of dictionaries of which the order counts: Python compares it as well.
const ORDERED: &str = "OrderedDict";

/// Whether the entries of two objects that extend dictionaries have their keys in the same order, as far as both show them.
fn same_order(old: &[(String, Observed)], new: &[(String, Observed)], rules: &Rules) -> bool {
    fn entries(attributes: &[(String, Observed)]) -> &[(Observed, Observed)] {
        match attributes.iter().find(|(name, _)| name == ITEMS) {
            Some((_, Observed::Dict(entries))) => entries,
            _ => &[],
        }
    }
    entries(old).iter().zip(entries(new)).all(|((key, _), (other, _))| equal(key, other, rules))
}

/// Whether two numbers or truth values of different types are equal.
fn is_same_number(old: &Observed, new: &Observed) -> bool {
    type_name(old) != type_name(new) && number(old).is_some_and(|value| number(new) == Some(value))
}

/// The value of a number or a truth value, where a float has it exactly.
fn number(value: &Observed) -> Option<f64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number: f64 = match value {
        Observed::Bool(flag) => f64::from(u8::from(*flag)),
        Observed::Int(number) | Observed::Float(number) => number.parse().ok()?,
        _ => return None,
    };
    (number.abs() < EXACT).then_some(number)
}

/// Whether two values that differ from run to run may be the same behavior. They are, unless they are of other types or
/// come from other sources.
fn is_same_variation(a: &Varying, b: &Varying) -> bool {
    let shares_a_type = a.types.iter().any(|one| b.types.contains(one));
    let known = a.sources.is_some() && b.sources.is_some();
    shares_a_type && (!known || (a.sources, &a.around) == (b.sources, &b.around))
}

/// The name of a value's type, to distinguish values that differ from run to run.
pub(super) fn type_name(value: &Observed) -> String {
    use Observed as O;
    let name = match value {
        O::None => "None",
        O::Bool(_) => "bool",
        O::Int(_) => "int",
        O::Float(_) => "float",
        O::Str(_) => "str",
        O::Bytes(_) => "bytes",
        O::List(_) => "list",
        O::Tuple(_) => "tuple",
        O::Dict(_) => "dict",
        O::Set(_) => "set",
        O::Object { class, .. } => class,
        O::Exception { class, .. } => class,
        O::Function { .. } | O::Called { .. } => "function",
        O::Class { .. } => "class",
        O::Module { .. } => "module",
        O::Iterator { .. } => "iterator",
        O::Injected { .. } => "injected",
        O::Cycle { .. } | O::Elided { .. } | O::Varying(_) => "any",
    };
    name.to_owned()
}

/// `sys.exit()`, `sys.exit(None)` and `sys.exit(0)` give the same status.
fn is_success(arguments: &[Observed]) -> bool {
    match arguments {
        [] | [Observed::None] => true,
        [Observed::Int(status)] => status == "0",
        _ => false,
    }
}

/// Addresses of objects (`<A object at 0x7f...>`) are not behavior, wherever they are written. Neither are the line
/// numbers of the compared code in a traceback.
pub(super) fn same_text(old: &str, new: &str) -> bool {
    if old == new {
        return true;
    }
    MARKS.iter().any(|mark| old.contains(mark.before) && new.contains(mark.before)) && neutral(old) == neutral(new)
}

/// The text before a number that is not behavior.
struct Mark {
    before: &'static str,
    is_part: fn(char) -> bool,
}

const MARKS: [Mark; 3] = [
    Mark { before: " at 0x", is_part: |c| c.is_ascii_hexdigit() },
    Mark { before: "File \"<twincell>\", line ", is_part: |c| c.is_ascii_digit() },
    Mark { before: "File \"<twincell module>\", line ", is_part: |c| c.is_ascii_digit() },
];

/// The text without such numbers.
fn neutral(text: &str) -> String {
    MARKS.iter().fold(text.to_string(), |text, mark| {
        let mut pieces = text.split(mark.before);
        let first = pieces.next().unwrap_or_default().to_string();
        pieces.fold(first, |whole, piece| whole + mark.before + piece.trim_start_matches(mark.is_part))
    })
}

/// Whether two floats, as text, differ by no more than a share of the greater one. Infinite and undefined ones equal
/// only themselves.
fn close(a: &str, b: &str, tolerance: f64) -> bool {
    let (Ok(a), Ok(b)) = (a.parse::<f64>(), b.parse::<f64>()) else { return false };
    a.is_finite() && b.is_finite() && (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

/// The maximum number of non-identical keys that are compared with each other.
const FEW_KEYS: usize = 32;

/// The order of a dictionary's entries is seldom intended, and counts only by the rules. A dictionary that was cut ends in
/// an entry that stands for
/// the rest. Then only keys that both show can be compared.
fn same_entries(old: &[(Observed, Observed)], new: &[(Observed, Observed)], rules: &Rules) -> bool {
    let is_cut = |entries: &[(Observed, Observed)]| matches!(entries.last(), Some((Observed::Elided { .. }, _)));
    let both_cut = is_cut(old) && is_cut(new);
    if !both_cut && old.len() != new.len() {
        return false;
    }
    let in_order = |((key, value), (other, its)): (&(Observed, Observed), &(Observed, Observed))| {
        equal(key, other, rules) && equal(value, its, rules)
    };
    if !both_cut && old.iter().zip(new).all(in_order) {
        return true;
    }
    if rules.ordered_keys && !both_cut {
        return false;
    }
    let by_key: FxHashMap<&Observed, &Observed> = new.iter().map(|(key, value)| (key, value)).collect();
    let mut unmatched = Vec::new();
    for (key, value) in old {
        match by_key.get(key) {
            Some(other) if !equal(value, other, rules) => return false,
            Some(_) => {}
            None => unmatched.push((key, value)),
        }
    }
    if both_cut || unmatched.is_empty() {
        return true;
    }
    // Keys that are equal without being identical: floats within the tolerance, functions, unobserved values.
    let known: FxHashSet<&Observed> = old.iter().map(|(key, _)| key).collect();
    let left: Vec<_> = new.iter().filter(|(key, _)| !known.contains(key)).take(FEW_KEYS).collect();
    let matched = |(key, value): &(&Observed, &Observed)| {
        left.iter().any(|(other, its)| equal(key, other, rules) && equal(value, its, rules))
    };
    unmatched.len() <= FEW_KEYS && unmatched.iter().all(matched)
}

/// The maximum number of items that are compared in any order.
const FEW_ITEMS: usize = 256;

/// Whether two sequences have the same items: in the same order, unless any order will do.
fn same_items(old: &[Observed], new: &[Observed], rules: &Rules) -> bool {
    if all_equal(old, new, rules) {
        return true;
    }
    let any_order = rules.unordered.contains(&Unordered::Items);
    if !any_order || old.len() != new.len() || old.len() > FEW_ITEMS {
        return false;
    }
    let mut left: Vec<&Observed> = new.iter().collect();
    old.iter().all(|item| {
        let twin = left.iter().position(|other| equal(item, other, rules));
        twin.map(|at| left.swap_remove(at)).is_some()
    })
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
    use twincell_engine::observed::Elision;

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
    fn the_order_of_an_ordered_dictionary_matters() {
        let of = |class: &str, keys: [i64; 2]| Observed::Object {
            class: class.into(),
            attributes: vec![(ITEMS.into(), Observed::Dict(keys.map(|key| (int(key), int(0))).into()))],
        };
        assert!(same(&of("OrderedDict", [1, 2]), &of("OrderedDict", [1, 2])));
        assert!(!same(&of("OrderedDict", [1, 2]), &of("OrderedDict", [2, 1])));
        assert!(same(&of("Counter", [1, 2]), &of("Counter", [2, 1])));
    }

    #[test]
    fn of_dictionaries_that_were_cut_off_the_keys_that_both_show_count() {
        let cut = |entries: &[(i64, i64)]| {
            let rest = Observed::Elided { reason: Elision::Size };
            let shown = entries.iter().map(|(key, value)| (int(*key), int(*value)));
            Observed::Dict(shown.chain([(rest.clone(), rest.clone())]).collect())
        };
        assert!(same(&cut(&[(1, 1), (2, 2)]), &cut(&[(2, 2), (3, 3)])));
        assert!(!same(&cut(&[(1, 1), (2, 2)]), &cut(&[(2, 0), (3, 3)])));
        assert!(!same(&cut(&[(1, 1)]), &Observed::Dict(vec![(int(1), int(1))])));
    }

    #[test]
    fn values_of_other_types_may_be_alike() {
        let (one, float) = (int(1), Observed::Float("1.0".into()));
        let lenient = Rules { types_alike: true, ..Rules::default() };
        let alike = |old: &Observed, new: &Observed| !same(old, new) && equal(old, new, &lenient);
        assert!(alike(&one, &float) && alike(&float, &Observed::Bool(true)));
        assert!(alike(&Observed::List(vec![one.clone()]), &Observed::Tuple(vec![float.clone()])));
        assert!(!alike(&one, &int(2)) && !alike(&one, &Observed::Str("1".into())));
        // As floats they would be the same.
        assert!(!alike(&int((1 << 53) + 1), &int(1 << 53)));
        assert!(!alike(&int((1 << 53) + 1), &Observed::Float("9007199254740992.0".into())));
    }

    #[test]
    fn addresses_in_texts_do_not_matter() {
        assert!(same_text("<A object at 0x7f00>, 1", "<A object at 0x8abc>, 1"));
        assert!(!same_text("<A object at 0x7f00>, 1", "<A object at 0x7f00>, 2"));
        assert!(!same_text("<A object at 0x7f00>", "<A>"));
    }

    #[test]
    fn exits_are_the_same_that_give_the_same_status() {
        let exit = |arguments: Vec<Observed>| Observed::Exception { class: "SystemExit".into(), arguments };
        assert!(same(&exit(vec![]), &exit(vec![Observed::None])) && same(&exit(vec![]), &exit(vec![int(0)])));
        assert!(!same(&exit(vec![]), &exit(vec![int(1)])) && !same(&exit(vec![int(2)]), &exit(vec![int(1)])));
    }

    #[test]
    fn lines_of_the_compared_code_in_tracebacks_do_not_matter() {
        let traceback =
            |file: &str, line: u32, name: &str| format!("  File \"{file}\", line {line}, in {name}\nE: 1\n");
        for file in ["<twincell>", "<twincell module>"] {
            assert!(same_text(&traceback(file, 4, "f"), &traceback(file, 15, "f")));
            assert!(!same_text(&traceback(file, 4, "f"), &traceback(file, 15, "g")));
        }
        assert!(!same_text(&traceback("a.py", 4, "f"), &traceback("a.py", 15, "f")));
    }

    #[test]
    fn floats_within_the_tolerance_are_the_same_wherever_they_are() {
        let float = |text: &str| Observed::Float(text.into());
        let within = |a: &str, b: &str, float_tolerance: f64| {
            let entry =
                |text: &str| Observed::Dict(vec![(Observed::Str("a".into()), Observed::List(vec![float(text)]))]);
            equal(&entry(a), &entry(b), &Rules { float_tolerance, ..Rules::default() })
        };
        assert!(!within("0.1", "0.10000000000000002", 0.0) && within("0.1", "0.10000000000000002", 1e-9));
        assert!(within("nan", "nan", 0.0) && !within("nan", "1.0", 1.0) && !within("inf", "1.0", 1.0));
        assert!(!within("100.0", "101.0", 0.001) && within("100.0", "101.0", 0.01));
    }

    #[test]
    fn large_dictionaries_in_another_order_are_the_same() {
        let entries: Vec<_> = (0..50_000).map(|key| (int(key), int(key))).collect();
        let mut other = entries.clone();
        other.reverse();
        assert!(same(&Observed::Dict(entries), &Observed::Dict(other)));
    }

    #[test]
    fn values_of_different_classes_differ() {
        assert!(!same(&int(1), &Observed::Bool(true)));
        assert!(!same(&Observed::List(vec![]), &Observed::Tuple(vec![])));
    }
}
