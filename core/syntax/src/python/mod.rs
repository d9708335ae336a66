//! Facts about Python that the analysis needs: its standard library, the effects of its calls, its exceptions and
//! names, and the notation of its values. `ruff_python_stdlib` provides whatever Ruff knows.

mod builtins;
mod conversions;
mod effects;
mod stdlib;

pub use builtins::attributes_of;
pub use conversions::{Conversion, conversion};
pub use effects::{ASKING, ASKING_MODULES, REACHING};
pub use ruff_python_stdlib::identifiers::is_identifier;
pub use stdlib::*;

/// The newest minor version of Python 3 whose builtins count.
const NEWEST: u8 = 14;

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
