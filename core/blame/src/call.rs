//! A call as the user writes it, and the same call where the function has another name.

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};
use twincell_syntax::parse::{Lines, errors, parse};

/// The maximum length of a call, in bytes.
const MAX_CALL: usize = 10_000;

/// Why a text is no call of a function.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    #[error("the call is not valid Python: {0}")]
    Syntax(String),
    #[error("a call is one expression, such as {0}(1)")]
    NotOne(String),
    #[error("the expression does not call {0}: write a call of it with literal arguments")]
    OfAnother(String),
    #[error("the call has more than {MAX_CALL} bytes")]
    TooLong,
}

/// A call of a function, such as `slugify("a b")` or `Cart(1).total()`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    text: String,
    function: String,
    /// Where the parts of the function's name stand in the text, with the number of the part.
    names: Vec<(TextRange, usize)>,
}

impl Call {
    /// Reads a call of the function with this qualified name.
    ///
    /// # Errors
    ///
    /// Why the text is none.
    pub fn read(text: &str, function: &str) -> Result<Self, CallError> {
        let text = text.trim();
        if text.len() > MAX_CALL {
            return Err(CallError::TooLong);
        }
        let parsed = parse(text);
        if let Some(error) = errors(&parsed, &Lines::new(text)).first() {
            return Err(CallError::Syntax(error.message.clone()));
        }
        let [Stmt::Expr(statement)] = &parsed.suite()[..] else { return Err(CallError::NotOne(function.to_owned())) };
        let parts: Vec<&str> = function.split('.').collect();
        let mut found = Names { parts: &parts, names: vec![], is_called: false };
        found.visit_expr(&statement.value);
        let Names { names, is_called, .. } = found;
        if !is_called {
            return Err(CallError::OfAnother(function.to_owned()));
        }
        Ok(Self { text: text.to_owned(), function: function.to_owned(), names })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same call of the function under another qualified name. `None` if it is of another sort, such as a method in
    /// place of a function.
    pub fn of(&self, function: &str) -> Option<String> {
        let parts: Vec<&str> = function.split('.').collect();
        if parts.len() != self.function.split('.').count() {
            return None;
        }
        // Which of several attributes of one name is the method, nobody can tell here.
        let is_other = |part: usize| parts[part] != self.function.split('.').nth(part).unwrap_or_default();
        let count = |part: usize| self.names.iter().filter(|(_, other)| *other == part).count();
        if (1..parts.len()).any(|part| is_other(part) && count(part) > 1) {
            return None;
        }
        let mut text = self.text.clone();
        let mut names = self.names.clone();
        names.sort_by_key(|(range, _)| std::cmp::Reverse(range.start()));
        for (range, part) in names {
            text.replace_range(range.to_std_range(), parts[part]);
        }
        Some(text)
    }
}

/// Looks for the parts of a qualified name.
struct Names<'a> {
    parts: &'a [&'a str],
    names: Vec<(TextRange, usize)>,
    /// Whether something of the name of the function is called, or of the class whose method it is made by.
    is_called: bool,
}

impl<'a> Visitor<'a> for Names<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        let last = self.parts.len() - 1;
        match expr {
            Expr::Name(node) if node.id == self.parts[0] => {
                self.names.push((node.range(), 0));
                // A property and a special method are used without a call of their own.
                self.is_called |= last > 0;
            }
            Expr::Attribute(node) => {
                let part = (1..=last).find(|part| node.attr.as_str() == self.parts[*part]);
                self.names.extend(part.map(|part| (node.attr.range(), part)));
            }
            Expr::Call(node) => {
                let is_it = node.func.as_name_expr().is_some_and(|name| name.id == self.parts[0]);
                self.is_called |= last == 0 && is_it;
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_of_the_function_and_follows_its_name() {
        let call = Call::read(" slugify('slugify', sep=slugify) ", "slugify").unwrap();
        assert_eq!(call.of("to_slug").unwrap(), "to_slug('slugify', sep=to_slug)");
        assert_eq!(call.of("Text.slugify"), None);
        let method = Call::read("Cart(1).total(tax=2)", "Cart.total").unwrap();
        assert_eq!(method.of("Basket.sum").unwrap(), "Basket(1).sum(tax=2)");
        assert_eq!(method.text(), "Cart(1).total(tax=2)");
        let twice = Call::read("Cart([Item(2).total]).total()", "Cart.total").unwrap();
        assert_eq!(twice.of("Basket.total").unwrap(), "Basket([Item(2).total]).total()");
        assert_eq!(twice.of("Cart.sum"), None);
        assert!(Call::read("Cart(1) == Cart(2)", "Cart.__eq__").is_ok());
    }

    #[test]
    fn what_is_no_call_of_the_function_says_so() {
        assert!(matches!(Call::read("f(", "f"), Err(CallError::Syntax(_))));
        for text in ["", "x = f(1)", "f(1); f(2)", "import os"] {
            assert_eq!(Call::read(text, "f"), Err(CallError::NotOne("f".into())), "{text}");
        }
        for text in ["g(1)", "f", "f + 1", "g.f(1)"] {
            assert_eq!(Call::read(text, "f"), Err(CallError::OfAnother("f".into())), "{text}");
        }
        assert_eq!(Call::read(&format!("f({})", "1,".repeat(MAX_CALL)), "f"), Err(CallError::TooLong));
    }
}
