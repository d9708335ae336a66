//! How well a class of values suits the uses in the code.
//!
//! The results are factors for predicted probabilities, never laws: the code under comparison may be wrong. `maker.rs`
//! draws with them, and `reading/uses/` reads uses from code.

use crate::reading::{Key, Uses};
use crate::value::AbstractValue;

/// A factor for the predicted probability of a class, given how the code uses the value.
pub(super) fn fitness(class: AbstractValue, uses: &Uses) -> f32 {
    use AbstractValue as A;
    let versatile = matches!(class, A::Callable | A::Resource | A::Object);
    if uses.called || uses.exception || uses.class {
        return if versatile { 1.0 } else { 0.0 };
    }
    if uses.awaited || uses.entered {
        return if versatile { 1.0 } else { 0.0 };
    }
    let mut factor = 1.0f32;
    if !uses.like.is_empty() {
        factor *= match class {
            _ if uses.like.contains(&class) => 1.0,
            A::Object => 0.1,
            _ => 0.005,
        };
    }
    if !uses.matching.is_empty() {
        factor *= match class {
            A::Str => 1.0,
            A::Object => 0.1,
            A::None => 0.05,
            _ => 0.005,
        };
    }
    if uses.formatted && matches!(class, A::Tuple | A::Dict) {
        factor *= 0.005;
    }
    if uses.bytes {
        factor *= if matches!(class, A::Str | A::Object) { 1.0 } else { 0.005 };
    }
    if uses.mapping {
        factor *= if class == A::Dict { 1.0 } else { 0.0 };
    }
    if uses.unpacked.is_some() {
        factor *= match class {
            A::Tuple | A::List => 1.0,
            A::Object => 0.3,
            _ => 0.0,
        };
    } else if uses.iterated {
        factor *= match class {
            A::List | A::Tuple | A::Dict | A::Set => 1.0,
            A::Str => 0.3,
            A::Object | A::Resource => 0.5,
            A::None => 0.03,
            _ => 0.005,
        };
    }
    for key in &uses.keys {
        factor *= match (key, class) {
            (Key::Text, A::Dict) => 1.0,
            (Key::Text, A::Object | A::Resource) => 0.5,
            (Key::Int, A::List | A::Tuple | A::Str | A::Dict) => 1.0,
            (Key::Int, A::Object) => 0.5,
            (Key::Slice, A::List | A::Tuple | A::Str) => 1.0,
            (Key::Slice, A::Object) => 0.3,
            (Key::Other, A::Dict | A::List | A::Tuple) => 1.0,
            (Key::Other, A::Str | A::Object | A::Resource) => 0.5,
            _ => 0.02,
        };
    }
    if uses.arithmetic {
        factor *= match class {
            A::Int | A::Float => 1.0,
            A::Object | A::Str | A::List | A::Set => 0.2,
            A::Bool => 0.3,
            _ => 0.02,
        };
    }
    if uses.ordered {
        factor *= match class {
            A::Int | A::Float | A::Str => 1.0,
            A::Bool | A::Object => 0.3,
            _ => 0.05,
        };
    }
    if !uses.attributes.is_empty() {
        let (mut native, mut foreign) = (0, 0);
        let is_native = |class: A, attribute: &String| {
            has_attribute(class, attribute)
                && (!uses.data.contains(attribute) || OF_NUMBERS.contains(&attribute.as_str()))
        };
        for attribute in &uses.attributes {
            if is_native(class, attribute) {
                native += 1;
            } else {
                foreign += 1;
            }
        }
        if versatile {
            // Every attribute belongs to a builtin class, so an object of another class is less likely.
            let builtin = [A::Str, A::List, A::Dict, A::Set];
            let fits = |class: &A| uses.attributes.iter().all(|attribute| is_native(*class, attribute));
            if builtin.iter().any(fits) {
                factor *= 0.2;
            }
        } else if foreign > 0 {
            // None means "not there" and is often tested for first. Other values never have such an attribute.
            factor *= if class == A::None { 0.1 } else { 0.005 };
        } else if native > 0 {
            factor *= 3.0;
        }
    }
    factor
}

/// The attributes of builtin classes that are not methods.
const OF_NUMBERS: [&str; 4] = ["real", "imag", "numerator", "denominator"];

/// Public attributes of the builtin classes.
fn has_attribute(class: AbstractValue, attribute: &str) -> bool {
    use AbstractValue as A;
    let names: &[&str] = match class {
        A::Str => &[
            "capitalize",
            "casefold",
            "center",
            "count",
            "encode",
            "endswith",
            "expandtabs",
            "find",
            "format",
            "format_map",
            "index",
            "isalnum",
            "isalpha",
            "isascii",
            "isdecimal",
            "isdigit",
            "isidentifier",
            "islower",
            "isnumeric",
            "isprintable",
            "isspace",
            "istitle",
            "isupper",
            "join",
            "ljust",
            "lower",
            "lstrip",
            "maketrans",
            "partition",
            "removeprefix",
            "removesuffix",
            "replace",
            "rfind",
            "rindex",
            "rjust",
            "rpartition",
            "rsplit",
            "rstrip",
            "split",
            "splitlines",
            "startswith",
            "strip",
            "swapcase",
            "title",
            "translate",
            "upper",
            "zfill",
        ],
        A::List => {
            &["append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort"]
        }
        A::Tuple => &["count", "index"],
        A::Dict => {
            &["clear", "copy", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values", "fromkeys"]
        }
        A::Set => &[
            "add",
            "clear",
            "copy",
            "difference",
            "discard",
            "intersection",
            "isdisjoint",
            "issubset",
            "issuperset",
            "pop",
            "remove",
            "union",
            "update",
            "symmetric_difference",
        ],
        A::Int | A::Bool => &["bit_length", "to_bytes", "real", "imag", "numerator", "denominator"],
        A::Float => &["is_integer", "hex", "real", "imag"],
        _ => &[],
    };
    names.contains(&attribute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_whose_attribute_is_iterated_is_no_mapping_with_a_method_of_that_name() {
        use AbstractValue as A;
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
