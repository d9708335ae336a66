//! The order of sets. In each process texts and objects have other hashes, so a set of them has another order there, and a
//! test that compares orders would hold by chance.

use ruff_python_ast::Expr;
use ruff_python_ast::visitor::{Visitor, walk_body, walk_expr};

use twincell_behavior::{Channel, Difference};
use twincell_engine::observed::{Observed, Outcome};
use twincell_syntax::PerSide;
use twincell_syntax::parse::{parse, with_stack_for};
use twincell_values::value::{Decision, Recipe};

use super::{Case, python};

impl Case<'_> {
    /// Whether the order of texts or objects is all that differs, and the code has sets from which it may come.
    pub(super) fn is_order_of_a_set(&self, difference: &Difference) -> bool {
        let Ok(behaviors) = self.behaviors() else { return false };
        let PerSide { old, new } = behaviors.map(|behavior| match (difference.channel, difference.place.slot()) {
            (Channel::Return, _) => match &behavior.outcome {
                Outcome::Returned(value) => Some(value),
                _ => None,
            },
            (Channel::Arguments, Some(slot)) => behavior.left(slot),
            _ => None,
        });
        let (Some(old), Some(new)) = (old, new) else { return false };
        old != new && unordered(old) == unordered(new) && hashes_vary(old) && self.has_sets()
    }

    fn has_sets(&self) -> bool {
        let injects = self.record.choices.iter().any(
            |choice| matches!(&choice.decision, Decision::Value(recipe) if python::holds(recipe, &|one| matches!(one, Recipe::Set(_)))),
        );
        injects || self.texts().any(makes_sets)
    }
}

/// Whether code has sets, as far as its text says.
fn makes_sets(text: &str) -> bool {
    struct Sets(bool);
    impl Visitor<'_> for Sets {
        fn visit_expr(&mut self, expression: &Expr) {
            let is_set = match expression {
                Expr::Set(_) | Expr::SetComp(_) => true,
                Expr::Name(name) => matches!(name.id.as_str(), "set" | "frozenset"),
                Expr::Attribute(attribute) => {
                    matches!(attribute.attr.as_str(), "union" | "intersection" | "difference" | "symmetric_difference")
                }
                _ => false,
            };
            self.0 |= is_set;
            walk_expr(self, expression);
        }
    }
    with_stack_for(text.len(), || {
        let mut sets = Sets(false);
        walk_body(&mut sets, parse(text).suite());
        sets.0
    })
}

/// A value as text, with the items of each container in a canonical order.
fn unordered(value: &Observed) -> String {
    let sorted = |mut items: Vec<String>| {
        items.sort();
        items.join(", ")
    };
    let all = |items: &[Observed]| sorted(items.iter().map(unordered).collect());
    match value {
        Observed::List(items) => format!("[{}]", all(items)),
        Observed::Tuple(items) => format!("({})", all(items)),
        Observed::Iterator { kind, items, finished } => format!("{kind} {finished} [{}]", all(items)),
        Observed::Dict(entries) => {
            let entry = |(key, value): &(Observed, Observed)| format!("{}: {}", unordered(key), unordered(value));
            format!("{{{}}}", sorted(entries.iter().map(entry).collect()))
        }
        other => format!("{other:?}"),
    }
}

/// Whether a value holds anything but numbers, which have the same hash in every process.
fn hashes_vary(value: &Observed) -> bool {
    match value {
        Observed::Bool(_) | Observed::Int(_) | Observed::Float(_) => false,
        Observed::List(items) | Observed::Tuple(items) | Observed::Iterator { items, .. } => {
            items.iter().any(hashes_vary)
        }
        Observed::Dict(entries) => entries.iter().any(|(key, _)| hashes_vary(key)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_have_the_same_order_in_each_process() {
        let text = |text: &str| Observed::Str(text.into());
        let number = |number: &str| Observed::Int(number.into());
        let list = |items: [Observed; 2]| Observed::List(items.into());
        let (one, other) = (list([text("a"), text("b")]), list([text("b"), text("a")]));
        assert!(unordered(&one) == unordered(&other) && hashes_vary(&one));
        assert_ne!(unordered(&one), unordered(&list([text("a"), text("a")])));
        assert!(!hashes_vary(&list([number("1"), number("2")])));
        assert!(hashes_vary(&list([number("1"), Observed::Injected { path: "x[0]".into(), assigned: vec![] }])));
        let nested = |inner: &Observed| Observed::Dict(vec![(text("k"), inner.clone())]);
        assert_eq!(unordered(&nested(&one)), unordered(&nested(&other)));
        assert_ne!(unordered(&Observed::Tuple(vec![text("a")])), unordered(&Observed::List(vec![text("a")])));
    }

    #[test]
    fn the_text_of_code_tells_that_it_has_sets() {
        for text in ["x = {1}\n", "x = {a for a in y}\n", "def f(x): return list(set(x))\n", "z = a.union(b)\n"] {
            assert!(makes_sets(text), "{text}");
        }
        for text in ["x = {1: 2}\n", "def f(x): return sorted(x)\n", "x = 'set'\n"] {
            assert!(!makes_sets(text), "{text}");
        }
    }
}
