//! Finds attributes that one version keeps under a private name, behind a property with the public name that they have
//! in the other version.
//!
//! Both are one value: code outside still reads it by its public name, and what the methods themselves keep has only
//! moved.

use ruff_python_ast::{Expr, Stmt};
use serde::{Deserialize, Serialize};

use super::Function;
use super::attributes::{attributes, is_private, own_object};
use super::parse::{parse, with_stack_for};
use super::side::{PerSide, Side};

/// An attribute that one version keeps behind a property.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrapped {
    /// The qualified name of the class.
    pub class: String,
    /// The name in the version that has no property.
    pub public: String,
    /// The name in the version with the property.
    pub private: String,
    pub side: Side,
}

/// Such attributes of the classes that both texts have, from the functions of both.
pub fn wrapped_attributes(functions: PerSide<&[Function]>) -> Vec<Wrapped> {
    let of_side = |side: Side| {
        let others = functions[side.other()];
        functions[side].iter().filter_map(move |getter| {
            let class = owner(getter)?;
            let private = kept(getter)?;
            let mut methods = others.iter().filter(|other| owner(other) == Some(class)).peekable();
            methods.peek()?;
            let mut has_public = false;
            for method in methods {
                let names = attributes(method);
                has_public |= names.contains(&getter.name);
                if method.name == getter.name || names.contains(&private) {
                    return None;
                }
            }
            let found = Wrapped { class: class.to_owned(), public: getter.name.clone(), private, side };
            has_public.then_some(found)
        })
    };
    Side::BOTH.into_iter().flat_map(of_side).collect()
}

fn owner(function: &Function) -> Option<&str> {
    let is_method = function.parent.is_none() && function.class_name.is_some();
    function.qualname.rsplit_once('.').filter(|_| is_method).map(|(owner, _)| owner)
}

/// The private attribute that a property returns, and before which it only asserts something.
fn kept(getter: &Function) -> Option<String> {
    if getter.decorators != ["property"] || is_private(&getter.name) {
        return None;
    }
    with_stack_for(getter.text.len(), || {
        let parsed = parse(&getter.text);
        let [Stmt::FunctionDef(definition)] = parsed.suite().as_slice() else { return None };
        let (Stmt::Return(last), before) = definition.body.split_last()? else { return None };
        let is_idle = |statement: &Stmt| match statement {
            Stmt::Assert(_) => true,
            Stmt::Expr(text) => text.value.is_string_literal_expr(),
            _ => false,
        };
        if !before.iter().all(is_idle) {
            return None;
        }
        let Some(Expr::Attribute(kept)) = last.value.as_deref() else { return None };
        let is_own = matches!(&*kept.value, Expr::Name(name) if name.id.as_str() == own_object(getter));
        (is_own && is_private(&kept.attr)).then(|| kept.attr.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions;

    const PLAIN: &str = "class A:\n    def __init__(self, x):\n        self.x = x\n";
    const BEHIND: &str = "class A:\n    def __init__(self, x):\n        self._x = x\n    @property\n    def x(self):\n        assert self._x\n        return self._x\n";

    fn found(old: &str, new: &str) -> Vec<(String, String, Side)> {
        let (old, new) = (functions(old).0, functions(new).0);
        let wrapped = wrapped_attributes(PerSide::new(old.as_slice(), new.as_slice()));
        wrapped.into_iter().map(|one| (one.public, one.private, one.side)).collect()
    }

    #[test]
    fn an_attribute_that_becomes_a_property_over_a_private_one_is_found_on_either_side() {
        let expected = |side| vec![("x".to_owned(), "_x".to_owned(), side)];
        assert_eq!(found(PLAIN, BEHIND), expected(Side::New));
        assert_eq!(found(BEHIND, PLAIN), expected(Side::Old));
    }

    #[test]
    fn a_property_that_both_have_or_that_is_new_is_none() {
        assert_eq!(found(BEHIND, BEHIND), []);
        assert_eq!(found(&PLAIN.replace("self.x", "self.y"), BEHIND), []);
        let both = PLAIN.replace("self.x = x", "self.x = self._x = x");
        assert_eq!(found(&both, BEHIND), []);
        assert_eq!(found(PLAIN, &BEHIND.replace("return self._x", "return [self._x]")), []);
        let early = BEHIND.replace("assert self._x", "if self._x < 0:\n            return 0");
        assert_eq!(found(PLAIN, &early), []);
    }
}
