//! The assertion that a value is as the old version left it.

use twincell_behavior::display_observed;
use twincell_engine::observed::Observed;

use super::python;
use super::refusal::Refusal;
use super::tables::{self, TableSource};

/// What must hold of a value, whatever its name in the test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Equality {
    by: By,
    /// `==` or `is`.
    sign: &'static str,
    expected: String,
    /// What is said where it does not hold.
    said: Option<String>,
}

/// The maximum number of characters of a value in a message. Of longer ones, pytest shows where they differ.
const SAID: usize = 40;

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
        let said = other.and_then(|other| both(value, other));
        Ok(match value {
            Observed::None | Observed::Bool(_) | Observed::Injected { .. } => {
                Self { by: By::Itself, sign: "is", expected, said }
            }
            _ if other.is_some_and(|other| python::is_equal_in_python(value, other)) => {
                let literal = python::plain(value).ok_or(Refusal::EqualOfOtherClasses)?;
                Self { by: By::Representation, sign: "==", expected: python::string(&literal), said }
            }
            _ => Self { by: By::Itself, sign: "==", expected, said },
        })
    }

    /// Compares with a value that is written like this.
    pub(super) fn to(expected: String) -> Self {
        Self { by: By::Itself, sign: "==", expected, said: None }
    }

    /// Compares with None.
    pub(super) fn to_none() -> Self {
        Self { sign: "is", ..Self::to("None".into()) }
    }

    /// Compares with the text of a value that has no literal.
    pub(super) fn with_text(text: &str) -> Self {
        Self { by: By::Text, ..Self::to(python::string(text)) }
    }

    /// Compares with a table or an array. `None` for any other value.
    pub(super) fn with_table(value: &Observed) -> Option<Self> {
        let TableSource { function, literal, how } = tables::written(value)?;
        Some(Self { by: By::Content(function, how), sign: NO_SIGN, expected: literal, said: None })
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
        let said = self.said.as_ref().map_or_else(String::new, |said| format!(", {}", python::string(said)));
        format!("assert {compared} {}{said}", self.condition())
    }

    /// Whether the expression stands in the assertion without a call around it.
    pub(super) fn is_of_value_itself(&self) -> bool {
        self.by == By::Itself
    }

    /// How the value itself is compared, with what, and what is said where this does not hold: for a table of values.
    pub(super) fn parts(&self) -> Option<(&'static str, &str, Option<&str>)> {
        self.is_of_value_itself().then_some((self.sign, self.expected.as_str(), self.said.as_deref()))
    }

    /// What follows the expression: `== 3`.
    pub(super) fn condition(&self) -> String {
        format!("{} {}", self.sign, self.expected)
    }
}

/// What both versions give, for people; none where this is long.
fn both(old: &Observed, new: &Observed) -> Option<String> {
    let shown = [old, new].map(display_observed);
    let is_short = |text: &String| text.chars().count() <= SAID && !text.chars().any(char::is_control);
    (shown[0] != shown[1] && shown.iter().all(is_short))
        .then(|| format!("{} before the change, {} after it", shown[0], shown[1]))
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
        assert_eq!(of(&one, Some(&truth)), "assert repr(f(x)) == '1', '1 before the change, True after it'");
        assert_eq!(of(&truth, Some(&one)), "assert f(x) is True, 'True before the change, 1 after it'");
        assert_eq!(of(&one, Some(&Observed::Str("a".repeat(50)))), "assert f(x) == 1");
        assert_eq!(Equality::with_text("<x>").of("result"), "assert text(result) == '<x>'");
    }
}
