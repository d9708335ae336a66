//! Calls that people wrote as examples, or that a recorder saw: in files of Python and JSON, in docstrings, in decorators.
//!
//! Texts are read and never run. What an argument is worth is known where it is a literal, a value of a library, or a name
//! that stands for one.

mod json;
mod python;

use serde::{Deserialize, Serialize};

use crate::value::Recipe;

pub use json::{JsonError, calls_of_json, calls_of_records};
pub use python::{Beside, calls_of_python, written_beside};

/// The maximum number of calls that one text gives.
pub const MOST_CALLS: usize = 100_000;
/// How deep a value may nest.
const DEEPEST: u32 = 50;

/// What a call passes: a value, or nothing that is known.
pub type Passed = Option<Recipe>;

/// A call that somebody wrote or a recorder saw.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The dotted name of what is called, as far as it is known: `price`, `Cart.total`. Empty for any function.
    pub function: String,
    /// Whether modules may stand before the name, since an import brought it: `shop.price`.
    pub is_imported: bool,
    /// Whether it is called on an object, which is none of the arguments: `cart.total(2)`.
    pub is_bound: bool,
    pub arguments: Vec<Passed>,
    pub keywords: Vec<(String, Passed)>,
    /// Whether it may pass more than this, as `f(*rest)` does.
    pub is_open: bool,
    /// In the text, from 1.
    pub line: u32,
    /// The file that defines the function, and the test that called it, if a recorder saw the call.
    #[serde(default)]
    pub file: Option<String>,
    #[serde(default)]
    pub test: Option<String>,
}

impl Call {
    /// Whether it is a call of the function with this qualified name.
    pub fn is_of(&self, qualname: &str) -> bool {
        let before = self.function.strip_suffix(qualname);
        match before {
            _ if self.function.is_empty() => true,
            Some("") => true,
            Some(modules) => self.is_imported && modules.ends_with('.'),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_names_its_function_in_full_or_behind_modules() {
        let call = |function: &str, is_imported| Call { function: function.into(), is_imported, ..Call::default() };
        assert!(call("price", false).is_of("price") && call("shop.price", true).is_of("price"));
        assert!(call("shop.Cart.total", true).is_of("Cart.total"));
        assert!(!call("client.get", false).is_of("get") && !call("reprice", true).is_of("price"));
        assert!(call("", false).is_of("price"));
    }
}
