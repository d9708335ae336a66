//! Values that a project declares for a class: expressions of its own, or what one of its functions makes.
//!
//! They are evaluated only where the code runs, in the module of the class. A decision names the provider and the number of
//! the value, so executions on these values are repeated and shrunk like any others.

use std::fmt::Write;
use std::sync::Arc;

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::parse_expression;
use serde::{Deserialize, Serialize};

use super::{Recipe, within_module};

/// What makes the values of a class, as a project declares it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Provider {
    /// Its dotted name, as a project declares it: `shop.money.Money`. As code has it, see [`Provider::for_class`]: `Money`
    /// for a class of the code itself, `shop.money:Money` for one of another module.
    pub class: String,
    pub makes: Makes,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Makes {
    /// Expressions in the module of the class, the simplest first.
    Expressions(Vec<String>),
    /// A function that is called with a seeded `random.Random`, with its module: `tests.factories:make_money`.
    Function(String),
}

/// The module that a notebook, or a program, defines its classes and functions in.
pub const NOTEBOOK: &str = "__main__";

/// The maximum number of expressions of one class, and of characters in one of them and in a name.
const MOST: usize = 64;
const LONGEST: usize = 500;
const LONGEST_NAME: usize = 200;
/// The number of seeds that a function is called with, and of those that are tried in place of another one.
const SEEDS: u32 = 256;
const SIMPLE: u32 = 6;

impl Provider {
    /// Checks what a project declares. An error says in one line what is wrong and what to do.
    pub fn new(class: &str, makes: Makes) -> Result<Self, String> {
        if !is_dotted(class) {
            return Err(format!("'{}' is no class: write its dotted name, e.g. \"shop.money.Money\"", brief(class)));
        }
        match &makes {
            Makes::Expressions(all) if all.is_empty() || all.len() > MOST => {
                return Err(format!("{class} has {} values: write 1 to {MOST} expressions", all.len()));
            }
            Makes::Expressions(all) => all.iter().try_for_each(|one| check_expression(class, one))?,
            Makes::Function(name) => {
                let is_function =
                    matches!(within_module(name), (Some(module), own) if is_dotted(module) && is_dotted(own));
                if !is_function {
                    let name = brief(name);
                    return Err(format!(
                        "'{name}' makes no values of {class}: write a list of expressions, or a function with its module, \
                         e.g. \"tests.factories:make_money\""
                    ));
                }
            }
        }
        Ok(Self { class: class.to_owned(), makes })
    }

    /// The same for the class under the name that code has for it.
    pub fn for_class(&self, class: String) -> Self {
        Self { class, makes: self.makes.clone() }
    }

    /// The number of its values.
    pub fn count(&self) -> u32 {
        match &self.makes {
            Makes::Expressions(all) => all.len() as u32,
            Makes::Function(_) => SEEDS,
        }
    }

    /// The values to make once, to see whether they can be made.
    pub fn samples(&self) -> u32 {
        match &self.makes {
            Makes::Expressions(all) => all.len() as u32,
            Makes::Function(_) => 1,
        }
    }

    /// The value of a number as source text.
    pub fn written(&self, number: u32) -> String {
        match &self.makes {
            Makes::Expressions(all) => all.get(number as usize).cloned().unwrap_or_default(),
            Makes::Function(name) => {
                let own = name.strip_prefix(NOTEBOOK).and_then(|own| own.strip_prefix(':')).unwrap_or(name);
                format!("{}(random.Random({number}))", own.replace(':', "."))
            }
        }
    }

    /// The same without the values of these numbers. `None` if none is left.
    pub fn without(&self, numbers: &[u32]) -> Option<Self> {
        match &self.makes {
            _ if numbers.is_empty() => Some(self.clone()),
            Makes::Function(_) => None,
            Makes::Expressions(all) => {
                let kept = (0..).zip(all).filter(|(number, _)| !numbers.contains(number));
                let kept: Vec<String> = kept.map(|(_, text)| text.clone()).collect();
                let makes = Makes::Expressions(kept);
                matches!(&makes, Makes::Expressions(kept) if !kept.is_empty()).then(|| Self { makes, ..self.clone() })
            }
        }
    }

    /// What is declared, as a person would write it.
    pub fn display(&self) -> String {
        match &self.makes {
            Makes::Expressions(all) => format!("{} = [{}]", self.class, all.join(", ")),
            Makes::Function(name) => format!("{} = {name}", self.class),
        }
    }
}

/// One value of a provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provided {
    pub by: Arc<Provider>,
    /// The position of the expression, or the seed of the function.
    pub number: u32,
}

impl Provided {
    pub(super) fn write(&self, out: &mut String) {
        write!(out, "{}", self.by.written(self.number)).unwrap_or_default();
    }

    fn numbered(&self, number: u32) -> Recipe {
        Provided { by: self.by.clone(), number }.into()
    }

    /// The values that come before it, the simplest first.
    pub fn simpler(&self) -> impl Iterator<Item = Recipe> {
        let most = if matches!(self.by.makes, Makes::Function(_)) { SIMPLE } else { self.number };
        (0..self.number.min(most)).map(|number| self.numbered(number))
    }

    /// Other values of the class, the simplest first.
    pub fn others(&self) -> impl Iterator<Item = Recipe> {
        let most = if matches!(self.by.makes, Makes::Function(_)) { SIMPLE } else { self.by.count() };
        (0..most).filter(|number| *number != self.number).map(|number| self.numbered(number))
    }
}

impl From<Provided> for Recipe {
    fn from(provided: Provided) -> Recipe {
        Recipe::Provided(Box::new(provided))
    }
}

fn check_expression(class: &str, text: &str) -> Result<(), String> {
    if text.chars().count() > LONGEST || text.contains(['\n', '\r', '\0']) {
        return Err(format!("a value of {class} has more than one line or {LONGEST} characters: write a function"));
    }
    let parsed = parse_expression(text).map_err(|error| {
        let error = error.error.to_string();
        format!("'{}', a value of {class}, is no Python expression ({error}): correct it", brief(text))
    })?;
    match parsed.tokens().iter().any(|token| token.kind() == TokenKind::Comment) {
        true => Err(format!("'{}', a value of {class}, has a comment: leave it out", brief(text))),
        false => Ok(()),
    }
}

/// Whether it is a name, or several with dots between them.
fn is_dotted(name: &str) -> bool {
    let is_name = |part: &str| {
        let mut letters = part.chars();
        letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
            && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    name.len() <= LONGEST_NAME && name.split('.').all(is_name)
}

fn brief(text: &str) -> String {
    text.chars().take(60).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expressions(all: &[&str]) -> Makes {
        Makes::Expressions(all.iter().map(|&one| one.to_owned()).collect())
    }

    #[test]
    fn earlier_values_are_simpler() {
        let by = Arc::new(Provider::new("shop.Money", expressions(&["Money(0)", "Money(5)", "Money(-1)"])).unwrap());
        let value = Provided { by, number: 2 };
        let shown = |all: Vec<Recipe>| all.iter().map(Recipe::display).collect::<Vec<_>>();
        assert_eq!(shown(value.simpler().collect()), ["Money(0)", "Money(5)"]);
        let first = Provided { number: 0, ..value.clone() };
        assert_eq!(shown(first.simpler().collect()), Vec::<String>::new());
        assert_eq!(shown(first.others().collect()), ["Money(5)", "Money(-1)"]);
        assert_eq!(value.by.without(&[0, 2]).unwrap().display(), "shop.Money = [Money(5)]");
        assert_eq!(value.by.without(&[0, 1, 2]), None);
    }

    #[test]
    fn a_function_is_shown_with_its_seed() {
        let by = Provider::new("shop.Money", Makes::Function("tests.factories:make".into())).unwrap();
        let value = Provided { by: Arc::new(by), number: 9 };
        assert_eq!(Recipe::from(value.clone()).display(), "tests.factories.make(random.Random(9))");
        assert_eq!(value.simpler().count(), 6);
    }

    #[test]
    fn what_is_malformed_is_refused_in_one_line() {
        for (class, makes, expected) in [
            ("shop money", expressions(&["1"]), "'shop money' is no class"),
            ("shop.Money", expressions(&[]), "shop.Money has 0 values"),
            ("shop.Money", expressions(&["Money("]), "'Money(', a value of shop.Money, is no Python expression"),
            ("shop.Money", expressions(&["x = 1"]), "'x = 1', a value of shop.Money, is no Python expression"),
            (
                "shop.Money",
                expressions(&["Money(0)  # free"]),
                "'Money(0)  # free', a value of shop.Money, has a comment",
            ),
            ("shop.Money", expressions(&["f(\n)"]), "a value of shop.Money has more than one line"),
            ("shop.Money", Makes::Function("make".into()), "'make' makes no values of shop.Money"),
            ("shop.Money", Makes::Function("a:b:c".into()), "'a:b:c' makes no values of shop.Money"),
        ] {
            let error = Provider::new(class, makes).unwrap_err();
            assert!(error.starts_with(expected) && !error.contains('\n'), "{error}");
        }
        assert!(Provider::new("Money", expressions(&["Money.zero()", "lambda: 1"])).is_ok());
    }
}
