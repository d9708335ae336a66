//! Reproducers of methods that are called on an object of their class. It is made without its constructor, and has the
//! attributes of the witness, so that what else the class defines is what runs.

use std::collections::BTreeSet;
use std::fmt::Write;

use twincell_behavior::Difference;
use twincell_engine::observed::Behavior;
use twincell_syntax::python::is_identifier;
use twincell_syntax::{Function, PerSide, Side, classes, global_names};

use super::arguments::{Argument, source};
use super::direct::MODULE_PART;
use super::file::Writer;
use super::in_project::ProjectTest;
use super::objects::Objects;
use super::refusal::Refusal;
use super::sequence::{snake, subject};
use super::shape::shape;
use super::slice;
use crate::uses::Class;

/// The name under which a method has its object.
const SELF: &str = "self";

impl Writer<'_> {
    /// The file for a method.
    pub(super) fn on_object(&mut self) -> Result<String, Refusal> {
        let case = self.case;
        let [difference] = case.differences else { return Err(Refusal::SeveralDifferences) };
        let (class, method) = self.class_and_method()?;
        let versions = PerSide::try_of(|side| self.class_of(side, &class))?;
        let variable = snake(&class);
        let mut objects = Objects::of(&self.choices_beside_machine(), &|path| self.is_discarded(path));
        let attributes = objects.attributes_of(SELF, variable.clone())?;
        for (name, _) in &attributes {
            if versions.iter().any(|version| Class::of(version).method(name).is_some()) {
                return Err(Refusal::MemberReplaced(name.clone()));
            }
            if !is_identifier(name) || name.starts_with("__") {
                return Err(Refusal::AttributeOfAMock(name.clone()));
            }
        }
        let text = |version: &Function| {
            let decorators: String = version.decorators.iter().map(|text| format!("@{text}\n")).collect();
            decorators + &version.text
        };
        let used: BTreeSet<String> = versions.iter().flat_map(|version| global_names(&text(version))).collect();
        let missing = self.missing(&objects, &used);
        self.refuse_names_of_the_test(&used, &missing)?;
        let needed = PerSide::of(|side| {
            let whole = Function { text: text(&versions[side]) + &self.values_in_module(), ..versions[side].clone() };
            slice::needed(case.modules[side], &whole, Some(&missing))
        });
        if needed.old != needed.new || needed.old.len() > MODULE_PART {
            return Err(Refusal::ModulesDiffer);
        }
        let made = format!("{variable} = object.__new__({class})");
        let set = attributes.into_iter().map(|(name, value)| format!("{variable}.{name} = {value}"));
        let mut lines: Vec<String> = std::iter::once(made).chain(set).collect();
        lines.extend(self.lines_of(difference, &variable, &method, &objects)?);
        let mut main = needed.old;
        for name in &missing {
            let _ = writeln!(main, "{name} = {}", objects.source(name)?);
        }
        for side in Side::BOTH {
            let _ = write!(main, "\n\n{}\n\n\n{side} = {class}\n", text(&versions[side]).trim_end());
        }
        let name = format!("test_{}", method.trim_matches('_'));
        let _ = write!(main, "\n\n{}\n\ndef {name}():\n    {class} = subject()\n", subject(&class));
        for line in &lines {
            let _ = writeln!(main, "    {line}");
        }
        if missing.is_empty() {
            let test = self.project_test(class.clone(), name, lines);
            self.in_project = Some(ProjectTest { used: class, ..test });
        }
        Ok(self.file(difference, &main, &used, &missing))
    }

    /// The names of the class and of the method, which are those of both versions.
    fn class_and_method(&self) -> Result<(String, String), Refusal> {
        let named = |function: &Function| {
            let (class, method) = function.qualname.split_once('.')?;
            let is_called = function.decorators.is_empty()
                && function.parameters.first().is_some_and(|first| first.name == SELF)
                && is_identifier(class)
                && is_identifier(method)
                && !method.starts_with("__");
            is_called.then(|| (class.to_owned(), method.to_owned()))
        };
        let PerSide { old, new } = PerSide::of(|side| named(&self.case.functions[side]));
        old.filter(|old| new.as_ref() == Some(old)).ok_or(Refusal::NotOfAnObject)
    }

    /// The class in a version's module.
    fn class_of(&self, side: Side, name: &str) -> Result<Function, Refusal> {
        let found = classes(self.case.modules[side]).into_iter().find(|class| class.qualname == name);
        found.filter(|class| class.text.len() <= MODULE_PART).ok_or(Refusal::ClassNotHere)
    }

    /// The call and what is asserted.
    fn lines_of(
        &self,
        difference: &Difference,
        variable: &str,
        method: &str,
        objects: &Objects,
    ) -> Result<Vec<String>, Refusal> {
        let PerSide { old, new }: PerSide<&Behavior> = self.case.behaviors()?;
        let test = self.check(difference, old, new, objects)?;
        let mut bound: Vec<(String, String)> = Vec::new();
        let calls = PerSide::try_of(|side| {
            let mut failed = None;
            let of_call: Vec<Argument> =
                self.arguments(side)?.into_iter().filter(|argument| argument.path != SELF).collect();
            let call = source(&of_call, &mut |argument| {
                self.passed(argument, &test, objects, &mut bound).unwrap_or_else(|reason| {
                    failed = Some(reason);
                    String::new()
                })
            });
            failed.map_or(Ok(call), Err)
        })?;
        if calls.old != calls.new {
            return Err(Refusal::CalledDifferently);
        }
        let shape = shape(self.case, old)?;
        if !shape.is_plain() {
            return Err(Refusal::NeedsMoreThanACall);
        }
        let call = shape.around(&format!("{variable}.{method}({})", calls.old));
        let bound = bound.into_iter().map(|(name, value)| format!("{name} = {value}"));
        Ok(bound.chain(self.statements(test, call)).collect())
    }
}
