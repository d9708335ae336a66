//! Facts about Python that the analysis needs: its standard library, the effects of its calls, its exceptions and
//! names, and the notation of its values. `ruff_python_stdlib` provides whatever Ruff knows.

mod builtins;
mod conversions;
mod effects;
mod python2;
mod stdlib;

pub use builtins::attributes_of;
pub use conversions::{Conversion, conversion};
pub use effects::{ASKING, ASKING_MODULES, REACHING};
pub use python2::{builtin_now, is_of_python};
pub use ruff_python_stdlib::identifiers::is_identifier;
pub use stdlib::*;

/// The newest minor version of Python 3 whose builtins count.
const NEWEST: u8 = 14;

/// The oldest and the newest minor version of Python 3 that is in use.
const IN_USE: std::ops::RangeInclusive<u8> = 7..=NEWEST;

/// Whether a module comes with some version of Python that is in use. Later ones have lost a few.
pub fn is_of_stdlib(root: &str) -> bool {
    IN_USE.into_iter().any(|minor| ruff_python_stdlib::sys::is_known_standard_library(minor, root))
}

/// Whether a name is that of a builtin exception.
pub fn is_builtin_exception(name: &str) -> bool {
    ruff_python_stdlib::builtins::is_exception(name, NEWEST)
}

/// Whether a name is that of a builtin function, class or constant.
pub fn is_builtin(name: &str) -> bool {
    ruff_python_stdlib::builtins::is_python_builtin(name, NEWEST, false)
}

/// A string roughly as Python's `repr` would write it, for people.
pub fn python_string(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if (c as u32) < 0x20 || c as u32 == 0x7f => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// A float as Python's `repr` writes it.
pub fn float_repr(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let digits = digits.strip_suffix(".0").unwrap_or(digits);
            let (sign, size) = exponent.strip_prefix('-').map_or(('+', exponent), |size| ('-', size));
            format!("{digits}e{sign}{size:0>2}")
        }
        None => text,
    }
}

/// A float as an expression, finite or not.
pub fn python_float(value: f64) -> String {
    if value.is_finite() { float_repr(value) } else { format!("float('{}')", float_repr(value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_read_as_python_writes_them() {
        for (value, expected) in
            [(1e16, "1e+16"), (1e-5, "1e-05"), (0.1, "0.1"), (1.5e300, "1.5e+300"), (3.0, "3.0"), (f64::NAN, "nan")]
        {
            assert_eq!(float_repr(value), expected);
        }
        assert_eq!(python_float(f64::NEG_INFINITY), "float('-inf')");
    }
}
