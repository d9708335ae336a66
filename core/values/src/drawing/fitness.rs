//! How well a class of values suits the uses in the code.
//!
//! The results are factors for predicted probabilities, never laws: the code under comparison may be wrong. `maker.rs`
//! draws with them, and `reading/uses/` reads uses from code.

use twincell_syntax::python::attributes_of;

use crate::reading::{Key, Uses};
use crate::value::AbstractValue;
use crate::value::AbstractValue as A;

/// A factor for the predicted probability of a class, given how the code uses the value.
pub(super) fn fitness(class: AbstractValue, uses: &Uses) -> f32 {
    if uses.called || uses.exception || uses.class || uses.awaited || uses.entered {
        return if is_mock(class) { 1.0 } else { 0.0 };
    }
    let of = |rules: &'static [Rule]| rules.iter().map(move |rule| rule(class, uses));
    let keys = uses.keys.iter().map(|key| of_key(class, key));
    of(&BEFORE_KEYS).chain(keys).chain(of(&AFTER_KEYS)).product()
}

/// A factor for one kind of use; 1 where the code does not use the value so.
type Rule = fn(AbstractValue, &Uses) -> f32;

/// The order of the factors is fixed, because their product is rounded.
const BEFORE_KEYS: [Rule; 6] = [of_like, of_matching, of_formatted, of_bytes, of_mapping, of_items];
const AFTER_KEYS: [Rule; 4] = [of_arithmetic, of_order, of_attributes, of_hashed];

fn is_mock(class: AbstractValue) -> bool {
    matches!(class, A::Callable | A::Resource | A::Object)
}

fn of_like(class: AbstractValue, uses: &Uses) -> f32 {
    match class {
        _ if uses.like.is_empty() || uses.like.contains(&class) => 1.0,
        // What is added to a literal text is hardly ever anything else.
        A::Object if uses.like == [A::Str] => 0.01,
        A::Object => 0.1,
        _ => 0.005,
    }
}

fn of_matching(class: AbstractValue, uses: &Uses) -> f32 {
    match class {
        _ if uses.matching.is_empty() => 1.0,
        A::Str => 1.0,
        A::Object => 0.1,
        A::None => 0.05,
        _ => 0.005,
    }
}

fn of_formatted(class: AbstractValue, uses: &Uses) -> f32 {
    if uses.formatted && matches!(class, A::Tuple | A::Dict) { 0.005 } else { 1.0 }
}

fn of_bytes(class: AbstractValue, uses: &Uses) -> f32 {
    if !uses.bytes || matches!(class, A::Str | A::Object) { 1.0 } else { 0.005 }
}

fn of_mapping(class: AbstractValue, uses: &Uses) -> f32 {
    if !uses.mapping || class == A::Dict { 1.0 } else { 0.0 }
}

/// The code unpacks the value, or iterates over it.
fn of_items(class: AbstractValue, uses: &Uses) -> f32 {
    if uses.unpacked.is_some() {
        return match class {
            A::Tuple | A::List => 1.0,
            A::Object => 0.3,
            _ => 0.0,
        };
    }
    match class {
        _ if !uses.iterated => 1.0,
        A::List | A::Tuple | A::Dict | A::Set => 1.0,
        A::Str => 0.3,
        A::Object | A::Resource => 0.5,
        A::None => 0.03,
        _ => 0.005,
    }
}

fn of_key(class: AbstractValue, key: &Key) -> f32 {
    match (key, class) {
        (Key::Text | Key::Member, A::Dict) => 1.0,
        (Key::Text | Key::Member, A::Object | A::Resource) => 0.5,
        (Key::Member, _) => 0.002,
        (Key::Int, A::List | A::Tuple | A::Str) => 1.0,
        // Positions are far more usual than numbers as keys.
        (Key::Int, A::Dict) => 0.05,
        (Key::Int, A::Object) => 0.5,
        (Key::Slice, A::List | A::Tuple | A::Str) => 1.0,
        (Key::Slice, A::Object) => 0.3,
        (Key::Other, A::Dict | A::List | A::Tuple) => 1.0,
        (Key::Other, A::Str | A::Object | A::Resource) => 0.5,
        _ => 0.02,
    }
}

fn of_arithmetic(class: AbstractValue, uses: &Uses) -> f32 {
    match class {
        _ if !uses.arithmetic => 1.0,
        A::Int | A::Float => 1.0,
        A::Str | A::List if uses.subtracted => 0.005,
        A::Object | A::Str | A::List | A::Set => 0.2,
        A::Bool => 0.3,
        _ => 0.02,
    }
}

fn of_order(class: AbstractValue, uses: &Uses) -> f32 {
    match class {
        _ if !uses.ordered => 1.0,
        A::Int | A::Float | A::Str => 1.0,
        A::Bool | A::Object => 0.3,
        _ => 0.05,
    }
}

fn of_hashed(class: AbstractValue, uses: &Uses) -> f32 {
    if uses.hashed && matches!(class, A::List | A::Dict | A::Set) { 0.005 } else { 1.0 }
}

fn of_attributes(class: AbstractValue, uses: &Uses) -> f32 {
    let is_native = |class: A, attribute: &String| {
        attributes_of(class.name()).contains(&attribute.as_str())
            && (!uses.data.contains(attribute) || OF_NUMBERS.contains(&attribute.as_str()))
    };
    if uses.attributes.is_empty() {
        return 1.0;
    }
    let all_native = |class: A| uses.attributes.iter().all(|attribute| is_native(class, attribute));
    match class {
        _ if is_mock(class) && all_native(A::Str) && uses.attributes.iter().any(|name| OF_TEXTS.contains(&&**name)) => {
            0.01
        }
        // Every attribute belongs to a builtin class, so an object of another class is less likely.
        _ if is_mock(class) => {
            if [A::Str, A::List, A::Dict, A::Set].into_iter().any(all_native) {
                0.2
            } else {
                1.0
            }
        }
        _ if all_native(class) => 3.0,
        // None means "not there" and is often tested for first. Other values never have such an attribute.
        A::None => 0.1,
        _ => 0.005,
    }
}

/// Methods that hardly anything but texts has.
const OF_TEXTS: [&str; 16] = [
    "startswith",
    "endswith",
    "splitlines",
    "partition",
    "rpartition",
    "lower",
    "upper",
    "strip",
    "lstrip",
    "rstrip",
    "rsplit",
    "casefold",
    "isdigit",
    "isalpha",
    "removeprefix",
    "removesuffix",
];

/// The attributes of builtin classes that are not methods.
const OF_NUMBERS: [&str; 4] = ["real", "imag", "numerator", "denominator"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_whose_attribute_is_iterated_is_no_mapping_with_a_method_of_that_name() {
        let called = Uses { attributes: vec!["items".into()], ..Uses::default() };
        assert!(fitness(A::Dict, &called) > 1.0 && fitness(A::Object, &called) < 1.0);
        let iterated = Uses { data: called.attributes.clone(), ..called };
        assert!(fitness(A::Dict, &iterated) < 0.01 && fitness(A::Object, &iterated) >= 1.0);
        let compared = Uses { attributes: vec!["real".into()], data: vec!["real".into()], ..Uses::default() };
        assert!(fitness(A::Int, &compared) > 1.0);
        let sliced = Uses { attributes: vec!["hex".into()], data: vec!["hex".into()], ..Uses::default() };
        assert!(fitness(A::Float, &sliced) < 0.01);
    }
}
