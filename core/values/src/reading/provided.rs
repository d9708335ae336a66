//! The classes for which a project declares values, by the names that a module has for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use ruff_python_ast::Stmt;
use twincell_syntax::parse::{parse, with_stack_for};

use super::facts::Classes;
use super::imported_names::{last, names};
use crate::value::{AbstractValue, Declared, NOTEBOOK, Provider};

/// Providers, by the last part of the name that a module has for the class.
pub(super) type Provided = BTreeMap<String, Arc<Provider>>;

/// The providers for the classes that a text defines or imports. `text` has absolute imports. `module` is its dotted
/// name, if that is known. Its classes are named with it if it `is_elsewhere` and not under comparison.
pub(super) fn provided(text: &str, module: Option<&str>, is_elsewhere: bool, providers: &[Arc<Provider>]) -> Provided {
    let is_named = |provider: &&Arc<Provider>| text.contains(last(&provider.class));
    let providers: Vec<&Arc<Provider>> = providers.iter().filter(is_named).collect();
    if providers.is_empty() {
        return Provided::new();
    }
    let mut found = Provided::new();
    for (written, target) in names(text) {
        if let Some(provider) = providers.iter().find(|provider| means(&target, &provider.class)) {
            let class = provider.class.rsplit_once('.').map(|(module, name)| format!("{module}:{name}"));
            found.extend(class.map(|class| (last(&written).to_owned(), Arc::new(provider.for_class(class)))));
        }
    }
    for own in with_stack_for(text.len(), || defined(text)) {
        let is_it = |provider: &&&Arc<Provider>| match provider.class.rsplit_once('.') {
            None => provider.class == own && !is_elsewhere,
            Some((of, name)) => {
                name == own && (of == NOTEBOOK && !is_elsewhere || module.is_none_or(|module| module == of))
            }
        };
        if let Some(provider) = providers.iter().find(is_it) {
            let class = module.filter(|_| is_elsewhere).map(|module| format!("{module}:{own}"));
            found.insert(own.clone(), Arc::new(provider.for_class(class.unwrap_or(own))));
        }
    }
    found
}

/// Whether what is imported is the class: under the same dotted name, or from a package around its module.
fn means(target: &str, class: &str) -> bool {
    let (Some((from, name)), Some((module, own))) = (target.rsplit_once('.'), class.rsplit_once('.')) else {
        return false;
    };
    let is_around = |outer: &str, inner: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'));
    name == own && (from == module || is_around(from, module))
}

/// The names of the classes at the top level.
fn defined(text: &str) -> Vec<String> {
    let parsed = parse(text);
    parsed.suite().iter().filter_map(Stmt::as_class_def_stmt).map(|class| class.name.to_string()).collect()
}

/// Gives classes their providers, in place of everything else but the fields that they declare.
pub(super) fn give(classes: &mut Classes, provided: &Provided) {
    for (name, provider) in provided {
        let known = classes.remove(name).unwrap_or_default();
        let models = known.models.into_iter().filter(|model| !model.is_mapping);
        // The provider names the class as the code has it, and so do the fields.
        let models = models.map(|mut model| {
            model.class.clone_from(&provider.class);
            model
        });
        let models = models.take(1).collect();
        let provided = vec![provider.clone()];
        classes.insert(name.clone(), Declared { models, provided, ..Declared::of(&[AbstractValue::Object]) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Makes;

    fn classes(text: &str, module: Option<&str>, class: &str) -> Vec<String> {
        let provider = Provider::new(class, Makes::Expressions(vec!["Money(0)".into()])).unwrap();
        let found = provided(text, module, false, &[Arc::new(provider)]);
        found.into_iter().map(|(name, provider)| format!("{name} is {}", provider.class)).collect()
    }

    #[test]
    fn classes_are_known_by_the_names_that_a_module_has_for_them() {
        for (text, module, class, expected) in [
            ("from shop.money import Money", None, "shop.money.Money", "Money is shop.money:Money"),
            ("from shop.money import Money as M", None, "shop.money.Money", "M is shop.money:Money"),
            ("from shop import Money", None, "shop.money.Money", "Money is shop.money:Money"),
            ("import shop.money\nx: shop.money.Money", None, "shop.money.Money", "Money is shop.money:Money"),
            ("class Money: ...", Some("shop.money"), "shop.money.Money", "Money is Money"),
            ("class Money: ...", None, "shop.money.Money", "Money is Money"),
            ("class Money: ...", Some("shop"), "Money", "Money is Money"),
            ("class Money: ...", None, "__main__.Money", "Money is Money"),
        ] {
            assert_eq!(classes(text, module, class), [expected], "{text}");
        }
        for (text, module) in [
            ("from bank.money import Money", None),
            ("class Money: ...", Some("bank.money")),
            ("from shop.money import Moneybag", None),
            ("def f(m: Money): ...", None),
        ] {
            assert_eq!(classes(text, module, "shop.money.Money"), Vec::<String>::new(), "{text}");
        }
    }
}
