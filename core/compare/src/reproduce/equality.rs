//! The assertion that a value is as the old version left it.

use twincell_engine::observed::Observed;

use super::python;
use super::refusal::Refusal;
use super::tables::{self, Written};

/// What must hold of a value, whatever its name in the test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Equality {
    by: By,
    /// `==` or `is`.
    sign: &'static str,
    expected: String,
}

/// A table or an array has no `==` of its own: a function of its library compares.
const NO_SIGN: &str = "";

/// What of a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Itself,
    /// Its `repr`, since Python considers equal values of some classes equal.
    Representation,
    /// Its text as `standin/text.py` writes it.
    Text,
    /// Its content, by a function, and how.
    Content(&'static str, &'static str),
}

impl Equality {
    /// Compares with a value of the source `expected`, so that it differs from the other one.
    pub(super) fn with(value: &Observed, expected: String, other: Option<&Observed>) -> Result<Self, Refusal> {
        Ok(match value {
            Observed::None | Observed::Bool(_) | Observed::Injected { .. } => {
                Self { by: By::Itself, sign: "is", expected }
            }
            _ if other.is_some_and(|other| python::is_equal_in_python(value, other)) => {
                let literal = python::plain(value).ok_or(Refusal::EqualOfOtherClasses)?;
                Self { by: By::Representation, sign: "==", expected: python::string(&literal) }
            }
            _ => Self { by: By::Itself, sign: "==", expected },
        })
    }

    /// Compares with the text of a value that has no literal.
    pub(super) fn with_text(text: &str) -> Self {
        Self { by: By::Text, sign: "==", expected: python::string(text) }
    }

    /// Compares with a table or an array. `None` for any other value.
    pub(super) fn with_table(value: &Observed) -> Option<Self> {
        let Written { function, literal, how } = tables::written(value)?;
        Some(Self { by: By::Content(function, how), sign: NO_SIGN, expected: literal })
    }

    /// The assertion of an expression.
    pub(super) fn of(&self, expression: &str) -> String {
        if let By::Content(function, how) = self.by {
            return format!("{function}({expression}, {}{how})", self.expected);
        }
        let compared = match self.by {
            By::Itself => expression.to_owned(),
            By::Representation => format!("repr({expression})"),
            By::Text | By::Content(..) => format!("text({expression})"),
        };
        format!("assert {compared} {}", self.condition())
    }

    /// Whether the expression stands in the assertion without a call around it.
    pub(super) fn is_of_value_itself(&self) -> bool {
        self.by == By::Itself
    }

    /// What follows the expression: `== 3`.
    pub(super) fn condition(&self) -> String {
        format!("{} {}", self.sign, self.expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assertion_distinguishes_values_that_python_considers_equal() {
        let (one, truth) = (Observed::Int("1".into()), Observed::Bool(true));
        let of = |value: &Observed, other: Option<&Observed>| {
            let literal = python::plain(value).unwrap();
            Equality::with(value, literal, other).unwrap().of("f(x)")
        };
        assert_eq!(of(&one, None), "assert f(x) == 1");
        assert_eq!(of(&one, Some(&truth)), "assert repr(f(x)) == '1'");
        assert_eq!(of(&truth, Some(&one)), "assert f(x) is True");
        assert_eq!(Equality::with_text("<x>").of("result"), "assert text(result) == '<x>'");
    }
}
