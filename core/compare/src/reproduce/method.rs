//! Reproducers of methods that are called on an object of their class. It is made without its constructor, and has the
//! attributes of the witness, so that what else the class defines is what runs.

use std::collections::BTreeSet;

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Expr, ExprContext};

use twincell_engine::protocol::Body;
use twincell_syntax::parse::{parse, with_stack_for};
use twincell_syntax::python::is_identifier;
use twincell_syntax::{Function, PerSide, Side, classes, global_names};
use twincell_values::path::AccessPath;

use super::direct::{MODULE_PART, OWN};
use super::objects::Objects;
use super::plan::ClassFile;
use super::refusal::Refusal;
use super::sequence::snake;
use super::text::decorated;
use super::words::Words;
use super::writer::Writer;
use super::{Case, slice};
use crate::uses::Class;

/// The name under which a method has its object.
const SELF: &str = "self";
/// The maximum length of the class, in bytes.
const CLASS: usize = 20_000;

impl Writer<'_> {
    /// The file for a method.
    pub(super) fn on_object(&mut self) -> Result<String, Refusal> {
        let case = self.case;
        let [difference] = case.differences else { return Err(Refusal::SeveralDifferences) };
        let (class, method) = class_and_method(case).ok_or(Refusal::NotOfAnObject)?;
        let versions = PerSide::try_of(|side| {
            let found = class_of(case, side, class).filter(|found| found.text.len() <= CLASS);
            found.ok_or(Refusal::ClassNotHere)
        })?;
        let texts = versions.as_ref().map(|version| decorated(&version.decorators, &version.text));
        if Words::of(texts.iter().map(String::as_str)).has_any(&[TokenKind::Assert]) {
            return Err(Refusal::OwnAssertion);
        }
        let used: BTreeSet<String> = texts.iter().flat_map(|text| global_names(text)).collect();
        let objects = Objects::of(&self.choices_beside_machine(), &|path| self.is_discarded(path));
        let missing = self.missing(&objects, &used);
        self.refuse_names_of_the_test(&used, &missing)?;
        let variable = self.variable(class, &missing).ok_or(Refusal::NoNameForTheObject)?;
        let objects = objects.with_variable(SELF, &variable);
        let attributes = objects.attributes_of(SELF)?;
        for (name, _) in &attributes {
            if versions.iter().any(|version| Class::of(version).method(name).is_some()) {
                return Err(Refusal::MemberReplaced(name.clone()));
            }
            if !is_identifier(name) || name.starts_with("__") {
                return Err(Refusal::AttributeNotSet(name.clone()));
            }
        }
        let needed = PerSide::of(|side| {
            let whole =
                Function { text: format!("{}{}", texts[side], self.values_in_module()), ..versions[side].clone() };
            slice::needed(case.modules[side], &whole, Some(&missing))
        });
        if needed.old != needed.new || needed.old.len() > MODULE_PART {
            return Err(Refusal::ModulesDiffer);
        }
        let PerSide { old, new } = case.behaviors()?;
        let test = self.check(difference, old, new, &objects)?;
        let mut lines = vec![format!("{variable} = object.__new__({class})")];
        lines.extend(attributes.into_iter().map(|(name, value)| format!("{variable}.{name} = {value}")));
        let called = format!("{variable}.{method}");
        lines.extend(self.calling(&called, &|argument| argument.path != SELF, &test, &objects)?);
        let test = format!("test_{}", method.trim_matches('_'));
        let file = ClassFile { qualname: class, module: needed.old, missing, texts, test, lines };
        self.class_file(difference, &objects, file)
    }

    /// A name for the object that nothing else in the test has.
    fn variable(&self, class: &str, missing: &[String]) -> Option<String> {
        let is_free = |name: &String| {
            let mut parameters = self.case.functions.iter().flat_map(|function| &function.parameters);
            name != "result"
                && !OWN.contains(&name.as_str())
                && !missing.contains(name)
                && parameters.all(|parameter| parameter.name != *name)
        };
        [snake(class), "instance".to_owned()].into_iter().find(is_free)
    }
}

/// The names of the class and of the method, where both versions have the same ones.
fn class_and_method<'a>(case: &Case<'a>) -> Option<(&'a str, &'a str)> {
    let of = |function: &'a Function| {
        let (class, method) = function.qualname.split_once('.')?;
        let is_called = function.decorators.is_empty()
            && function.parameters.first().is_some_and(|first| first.name == SELF)
            && is_identifier(class)
            && is_identifier(method)
            && !method.starts_with("__");
        is_called.then_some((class, method))
    };
    let PerSide { old, new } = case.functions;
    of(old).filter(|named| Some(*named) == of(new))
}

/// The class in a version's module.
fn class_of(case: &Case<'_>, side: Side, name: &str) -> Option<Function> {
    classes(case.modules[side]).into_iter().find(|class| class.qualname == name)
}

/// Whether a method asks its object for other methods of the class, and none of them was replaced.
pub(super) fn calls_its_class(case: &Case<'_>) -> bool {
    let Some((name, _)) = class_and_method(case).filter(|_| matches!(case.bodies.old, Body::Function)) else {
        return false;
    };
    let is_replaced = |name: &String| {
        let path = format!("{SELF}.{name}");
        case.record
            .choices
            .iter()
            .any(|choice| choice.path == path || AccessPath::new(&choice.path).beyond(&path).is_some())
    };
    let of = |side: Side| {
        let Some(class) = class_of(case, side, name) else { return vec![] };
        let class = Class::of(&class);
        asked_of_object(&case.functions[side].text).into_iter().filter(|name| class.method(name).is_some()).collect()
    };
    let asked: Vec<String> = Side::BOTH.into_iter().flat_map(of).collect();
    !asked.is_empty() && !asked.iter().any(is_replaced)
}

/// The attributes of its object that a method reads.
fn asked_of_object(text: &str) -> BTreeSet<String> {
    #[derive(Default)]
    struct AttributesRead(BTreeSet<String>);

    impl<'a> SourceOrderVisitor<'a> for AttributesRead {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Attribute(node) = expr
                && node.ctx == ExprContext::Load
                && matches!(node.value.as_ref(), Expr::Name(name) if name.id == SELF)
            {
                self.0.insert(node.attr.to_string());
            }
            source_order::walk_expr(self, expr);
        }
    }

    with_stack_for(text.len(), || {
        let mut asked = AttributesRead::default();
        for stmt in &parse(text).syntax().body {
            asked.visit_stmt(stmt);
        }
        asked.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_method_asks_its_object_for_is_not_what_it_asks_others_for() {
        let text = "def get(self, key):\n    self.last = key\n    return self.data.get(key, self._default())\n";
        assert_eq!(asked_of_object(text).into_iter().collect::<Vec<_>>(), ["_default", "data"]);
    }
}
