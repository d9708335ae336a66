//! The style of reproducer that a person would write: both versions as plain functions, and one assertion.
//!
//! Mocks of the standard library replace missing objects (`objects.rs`). Much does not fit into this style. It
//! is refused here, or fails when it runs, and a style with a stand-in class replaces it.

use std::collections::BTreeSet;
use std::fmt::Write;

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{Alias, Stmt};

use twincell_behavior::{Channel, Difference, Shown, display_place, display_shown};
use twincell_engine::observed::{Behavior, Call, Observed, Outcome, Reached, Slot};
use twincell_engine::protocol::Context;
use twincell_syntax::parse::{parse, with_stack_for};
use twincell_syntax::python::{PURE_MODULES, is_builtin_exception, is_identifier};
use twincell_syntax::{CodeKind, Function, PerSide, Side, global_names};
use twincell_values::path::AccessPath;
use twincell_values::value::Decision;

use super::arguments::{Argument, source};
use super::checks::{assigned_at, written};
use super::equality::Equality;
use super::given_file::NAMES_OF;
use super::moments::{Moments, mocked};
use super::objects::Objects;
use super::plan::{Check, Operand, Raises, TestPlan};
use super::refusal::Refusal;
use super::shape::{shape, shaped};
use super::text::{block_of_words, decorated, function_text, short_imports, written_name};
use super::words::Words;
use super::writer::Writer;
use super::{python, slice};
use crate::project_test::ProjectTest;

/// The names that such a file uses itself.
pub(super) const OWN: [&str; 14] = [
    "old",
    "new",
    "subject",
    NAMES_OF,
    "environ",
    "Mock",
    "call",
    "SimpleNamespace",
    "asyncio",
    "contextlib",
    "inspect",
    "io",
    "pytest",
    "runpy",
];
/// The maximum number of characters of the module's part. Beyond it, the functions are hard to find.
pub(super) const MODULE_PART: usize = 4000;
/// A call and the condition on its result are one line if they have fewer bytes together.
const ONE_LINE: usize = 90;

impl Writer<'_> {
    /// The whole file, with or without the part of the module that the functions need.
    pub(super) fn direct(&mut self, with_module: bool) -> Result<String, Refusal> {
        let case = self.case;
        let [difference] = case.differences else { return Err(Refusal::SeveralDifferences) };
        let objects = Objects::of(&self.choices_beside_machine(), &|path| self.is_discarded(path));
        let used: BTreeSet<String> = case.functions.iter().flat_map(|function| global_names(&function.text)).collect();
        let missing = self.missing(&objects, &used);
        let module = if with_module { self.module_part(&missing)? } else { String::new() };
        self.refuse_names(&used, &missing)?;
        if !with_module {
            self.refuse_imports(&used)?;
        }
        let PerSide { old, new } = case.behaviors()?;
        let test = self.check(difference, old, new, &objects)?;
        let (called, lines) = self.written(&test, &objects)?;
        let name = format!("test_{}", case.functions.new.name.trim_matches('_'));
        let of_one = || {
            let test: String = lines.iter().map(|line| format!("    {line}\n")).collect();
            format!("def {name}():\n    {called} = subject()\n{test}")
        };
        let test = match case.further {
            [] => of_one(),
            _ => self.of_several(&name, &called, difference).ok_or(Refusal::NoTable)?,
        };
        let function = &case.functions.new;
        let is_same = case.functions.old.qualname == function.qualname;
        let is_plain = missing.is_empty() && !slice::is_inner(function) && function.decorators.is_empty();
        if is_same && is_plain && function.qualname.split('.').all(is_identifier) {
            self.in_project = Some(self.project_test(called, name, lines));
        }
        let mut main = String::new();
        main.push_str(&module);
        for name in &missing {
            let _ = writeln!(main, "{name} = {}", objects.source(name)?);
        }
        for side in Side::BOTH {
            let function = &case.functions[side];
            let text = decorated(case.decorators[side], &function_text(function));
            let _ = write!(main, "\n\n{}\n\n\n{side} = {}\n", text.trim_end(), written_name(function));
        }
        let _ = write!(main, "\n\n{}\n\n{test}", self.subject(&missing));
        Ok(self.file(difference, &main, &used, &missing))
    }

    /// Injected names that are not arguments.
    pub(super) fn missing(&self, objects: &Objects, used: &BTreeSet<String>) -> Vec<String> {
        let is_argument = |name: &str| {
            Side::BOTH.into_iter().any(|side| {
                let parameters = &self.case.functions[side].parameters;
                parameters.iter().any(|parameter| self.canonical(side, &parameter.name) == name)
            })
        };
        objects.names().filter(|name| used.contains(*name) && !is_argument(name)).cloned().collect()
    }

    /// The part of the modules that both functions need, if it is the same.
    pub(super) fn module_part(&self, missing: &[String]) -> Result<String, Refusal> {
        let part = |side: Side| {
            let function = &self.case.functions[side];
            let text = self.whole_text(side) + &self.values_in_module();
            let alone = Function { qualname: function.name.clone(), text, ..function.clone() };
            slice::needed(self.case.modules[side], &alone, Some(missing))
        };
        let (old, new) = (part(Side::Old), part(Side::New));
        if old != new || old.len() > MODULE_PART {
            return Err(Refusal::ModulesDiffer);
        }
        if old.is_empty() { Err(Refusal::NoModuleNeeded) } else { Ok(format!("{old}\n")) }
    }

    /// Without the module, its imports are missing too. Modules that only compute are imported by name.
    pub(super) fn refuse_imports(&self, used: &BTreeSet<String>) -> Result<(), Refusal> {
        let bound: BTreeSet<String> = self.case.modules.iter().flat_map(|module| imported_names(module)).collect();
        match used.iter().find(|name| bound.contains(*name)) {
            Some(name) => Err(Refusal::Imported(name.clone())),
            None => Ok(()),
        }
    }

    fn refuse_names(&self, used: &BTreeSet<String>, missing: &[String]) -> Result<(), Refusal> {
        for function in self.case.functions {
            let name = &function.name;
            let is_plain = function.text.starts_with("def ") || function.text.starts_with("async def ");
            if !is_plain || name.starts_with("test") || OWN.contains(&name.as_str()) || used.contains(name) {
                return Err(Refusal::BesideItself(name.clone()));
            }
            let words = Words::of([function.text.as_str()]);
            if words.has_any(&[TokenKind::Assert]) {
                return Err(Refusal::OwnAssertion);
            }
            if words.names("super") || words.names("__class__") {
                return Err(Refusal::NeedsItsClass);
            }
            if let Some(parameter) = function.parameters.iter().find(|parameter| OWN.contains(&parameter.name.as_str()))
            {
                return Err(Refusal::ParameterOfTheTest(parameter.name.clone()));
            }
        }
        self.refuse_names_of_the_test(used, missing)
    }

    /// The code must not use names that the test has itself.
    pub(super) fn refuse_names_of_the_test(&self, used: &BTreeSet<String>, missing: &[String]) -> Result<(), Refusal> {
        match missing
            .iter()
            .chain(used)
            .find(|name| OWN[..8].contains(&name.as_str()) || missing.contains(name) && OWN.contains(&name.as_str()))
        {
            Some(name) => Err(Refusal::NameOfTheTest(name.clone())),
            None => Ok(()),
        }
    }

    /// The assertion for one difference.
    pub(super) fn check(
        &self,
        difference: &Difference,
        old: &Behavior,
        new: &Behavior,
        objects: &Objects,
    ) -> Result<TestPlan, Refusal> {
        let mut test = TestPlan::default();
        match difference.channel {
            Channel::Return | Channel::Exception => match &old.outcome {
                Outcome::Returned(value) => {
                    let value = &shaped(value);
                    let other = match &new.outcome {
                        Outcome::Returned(other) => Some(shaped(other)),
                        _ => None,
                    };
                    test.compare(Operand::Result, self.equality(value, other.as_ref(), objects)?);
                }
                Outcome::Raised { exception: Observed::Exception { class, arguments }, .. } => {
                    if !is_builtin_exception(class) {
                        return Err(Refusal::MissingClass(class.clone()));
                    }
                    let same_class = matches!(&new.outcome, Outcome::Raised { exception: Observed::Exception { class: other, .. }, .. } if other == class);
                    if same_class {
                        let values: Option<Vec<String>> = arguments.iter().map(python::plain).collect();
                        let comma = if arguments.len() == 1 { "," } else { "" };
                        let values = values.ok_or(Refusal::ArgumentsOfAnException)?.join(", ");
                        let expected = Equality::to(format!("({values}{comma})"));
                        test.compare(Operand::Caught.step(".value.args"), expected);
                    }
                    test.raises = Some(Raises::Class(class.clone()));
                }
                _ => return Err(Refusal::OldDidNotEnd),
            },
            Channel::Output => {
                let (name, text) =
                    if old.stdout != new.stdout { ("stdout", &old.stdout) } else { ("stderr", &old.stderr) };
                test.compare(Operand::Output(name), Equality::to(python::string(text)));
            }
            Channel::Arguments => self.argument(&mut test, difference, PerSide { old, new }, objects)?,
            Channel::Calls => match &difference.old {
                Shown::InState { callee: Some(callee), place, .. } => {
                    let moments = Moments::of(PerSide { old, new }, callee.as_str(), place)?;
                    let equality = |value: &Observed| self.equality(value, None, objects);
                    let check = mocked(&moments, objects, &equality)?;
                    if let Reached::Container(path) = place {
                        test.watched.insert(AccessPath::new(path).split_root().0.to_owned());
                    }
                    test.checks.push(check);
                }
                _ => test.checks.push(self.called_as(old, new, objects)?),
            },
            Channel::Log => return Err(Refusal::Messages),
        }
        let is_bare = test.raises.is_none() && difference.channel != Channel::Output;
        if let (true, Outcome::Raised { .. }) = (is_bare, &old.outcome) {
            test.raises = Some(Raises::Anything);
        }
        Ok(test)
    }

    fn argument(
        &self,
        test: &mut TestPlan,
        difference: &Difference,
        PerSide { old, new }: PerSide<&Behavior>,
        objects: &Objects,
    ) -> Result<(), Refusal> {
        let Some(slot) = difference.place.slot() else { return Err(Refusal::OutOfReach) };
        let (then, others) = (old.left(slot), assigned_at(new, slot));
        let path = match slot {
            Slot::Argument(path) => path.as_str(),
            _ => "",
        };
        let start = self.decisions.get(path);
        let is_argument = self
            .case
            .functions
            .old
            .parameters
            .iter()
            .any(|parameter| self.canonical(Side::Old, &parameter.name) == path);
        let (value, then) = match (slot, then) {
            (Slot::Global(name), Some(then)) if is_identifier(name) => (Operand::Named(name.clone()), then),
            (Slot::Global(_), _) => return Err(Refusal::GlobalNotAssigned),
            (Slot::File(name), then) => {
                test.compare(Operand::Written(name.clone()), written(self.case, name, then)?);
                return Ok(());
            }
            (Slot::Argument(_), then) => {
                let value = Operand::Named(objects.reach(path).ok_or(Refusal::OutOfReach)?);
                let Some(then) = then else {
                    let absent: Vec<Check> = others.iter().filter_map(|(place, _)| not_there(&value, place)).collect();
                    test.watched.extend(is_argument.then(|| path.to_string()));
                    match start {
                        _ if !absent.is_empty() => test.checks.extend(absent),
                        Some(Decision::Value(recipe)) if is_argument && !python::has_standin(recipe) => {
                            test.compare(value, Equality::to(python::literal(recipe)));
                        }
                        _ => return Err(Refusal::ObjectNotChanged),
                    }
                    return Ok(());
                };
                (value, then)
            }
            _ => return Err(Refusal::OutOfReach),
        };
        if is_argument {
            test.watched.insert(path.to_string());
        }
        match then {
            Observed::Injected { assigned, .. } => {
                // Only those in which the versions differ are needed.
                let differing: Vec<_> = assigned.iter().filter(|entry| !others.contains(entry)).collect();
                let lost = others.iter().filter(|(place, _)| assigned.iter().all(|(known, _)| known != place));
                let absent = lost.filter_map(|(place, _)| not_there(&value, place)).collect::<Vec<_>>();
                if differing.is_empty() && absent.is_empty() {
                    return Err(Refusal::UnsayableAssignment);
                }
                test.checks.extend(absent);
                for (place, then) in differing {
                    test.compare(value.clone().step(place), self.equality(then, None, objects)?);
                }
            }
            other => test.compare(value, self.equality(other, None, objects)?),
        }
        Ok(())
    }

    /// What must hold of a value, with objects under the names that they have in the test.
    pub(super) fn equality(
        &self,
        value: &Observed,
        other: Option<&Observed>,
        objects: &Objects,
    ) -> Result<Equality, Refusal> {
        if let Some(equality) = Equality::with_table(value) {
            return Ok(equality);
        }
        let text = self.expression(value, objects).ok_or(Refusal::NoExpression)?;
        Equality::with(value, text, other)
    }

    /// A value as an expression of the test.
    fn expression(&self, value: &Observed, objects: &Objects) -> Option<String> {
        let all = |items: &[Observed]| {
            Some(items.iter().map(|item| self.expression(item, objects)).collect::<Option<Vec<_>>>()?.join(", "))
        };
        match value {
            Observed::Injected { path, assigned } if assigned.is_empty() => objects.reach(path.as_str()),
            Observed::List(items) => Some(format!("[{}]", all(items)?)),
            Observed::Tuple(items) if items.len() == 1 => Some(format!("({},)", all(items)?)),
            Observed::Tuple(items) => Some(format!("({})", all(items)?)),
            Observed::Dict(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    Some(format!("{}: {}", self.expression(key, objects)?, self.expression(value, objects)?))
                });
                Some(format!("{{{}}}", entries.collect::<Option<Vec<_>>>()?.join(", ")))
            }
            other => python::plain(other),
        }
    }

    /// The first call that only one version makes.
    pub(super) fn called_as(&self, old: &Behavior, new: &Behavior, objects: &Objects) -> Result<Check, Refusal> {
        let rows = twincell_behavior::align_calls(&old.calls, &new.calls, self.case.rules);
        let text = |call: &Call| python::call(call);
        for row in rows.iter().filter(|row| !row.equal) {
            let call = row.old.as_ref().or(row.new.as_ref()).ok_or(Refusal::NoCall)?;
            let count = |calls: &[Call]| calls.iter().filter(|other| other.callee == call.callee).count();
            let (before, after) = (count(&old.calls), count(&new.calls));
            let Some(mock) = objects.reach(call.callee.as_str()).map(Operand::Named) else { continue };
            match &row.old {
                Some(call) if new.calls.iter().all(|other| text(other) != text(call)) => {
                    let positional = call.arguments.iter().map(|value| self.expression(value, objects));
                    let keywords = call.keywords.iter().map(|(name, value)| {
                        Some(format!("{name}={}", self.expression(value, objects)?)).filter(|_| is_identifier(name))
                    });
                    let arguments: Option<Vec<String>> = positional.chain(keywords).collect();
                    let Some(arguments) = arguments else { continue };
                    let how = if before == 1 { "assert_called_once_with" } else { "assert_any_call" };
                    return Ok(Check::MockCalled { mock, how, arguments });
                }
                _ if before == 0 => {
                    return Ok(Check::MockCalled { mock, how: "assert_not_called", arguments: vec![] });
                }
                _ if before != after => {
                    return Ok(Check::Equal(mock.step(".call_count"), Equality::to(before.to_string())));
                }
                _ => {}
            }
        }
        Err(Refusal::CallsBeyondAMock)
    }

    /// What the test calls the function, and its statements.
    fn written(&self, test: &TestPlan, objects: &Objects) -> Result<(String, Vec<String>), Refusal> {
        let name = &self.case.functions.new.name;
        let called = if self.case.functions.old.name == *name { name.as_str() } else { "function" };
        Ok((called.to_owned(), self.calling(called, &|_| true, test, objects)?))
    }

    /// The statements that call this with such arguments of the witness, and assert what must hold.
    pub(super) fn calling(
        &self,
        called: &str,
        is_passed: &dyn Fn(&Argument) -> bool,
        test: &TestPlan,
        objects: &Objects,
    ) -> Result<Vec<String>, Refusal> {
        let mut bound: Vec<(String, String)> = Vec::new();
        let calls = PerSide::try_of(|side| {
            let mut failed = None;
            let passed: Vec<Argument> = self.arguments(side)?.into_iter().filter(is_passed).collect();
            let call = source(&passed, &mut |argument| {
                self.passed(argument, test, objects, &mut bound).unwrap_or_else(|reason| {
                    failed = Some(reason);
                    String::new()
                })
            });
            failed.map_or(Ok(call), Err)
        })?;
        if calls.old != calls.new {
            return Err(Refusal::CalledDifferently);
        }
        let shape = shape(self.case, self.case.behaviors()?.old)?;
        if !shape.is_plain() {
            return Err(Refusal::NeedsMoreThanACall);
        }
        let call = shape.around(&format!("{called}({})", calls.old));
        let mut lines: Vec<String> = bound.into_iter().map(|(name, value)| format!("{name} = {value}")).collect();
        lines.extend(test.before());
        let is_short = |of: &&Equality| of.is_of_value_itself() && call.len() + of.condition().len() < ONE_LINE;
        let (call, after) = match test.of_result().filter(is_short) {
            // A single line says everything.
            Some(equality) => (equality.of(&call), vec![]),
            None if test.looks_at(&Operand::Result) => (format!("result = {call}"), test.after().collect()),
            None => (call, test.after().collect()),
        };
        let (patching, call) = self.patching(&call, test);
        let around: Vec<String> = patching.into_iter().chain(test.recording()).chain(test.raising()).collect();
        if around.is_empty() {
            lines.push(call);
        } else {
            lines.push(format!("with {}:\n        {}", around.join(", "), call.replace('\n', "\n        ")));
        }
        lines.extend(after);
        Ok(lines)
    }

    /// The same test for a file of the project.
    pub(super) fn project_test(&self, called: String, name: String, lines: Vec<String>) -> ProjectTest {
        let text = lines.join("\n");
        let named = global_names(&text);
        let has_mocks = named.contains("Mock") || named.contains("SimpleNamespace");
        let imports = self.import_lines(&text, &BTreeSet::new(), &[]);
        let qualname = self.case.functions.new.qualname.clone();
        ProjectTest { used: qualname.clone(), qualname, called, name, imports, lines, has_mocks }
    }

    /// An argument: a literal in its place, and anything else, or anything that is examined later, under its name.
    fn passed(
        &self,
        argument: &Argument,
        test: &TestPlan,
        objects: &Objects,
        bound: &mut Vec<(String, String)>,
    ) -> Result<String, Refusal> {
        let text = objects.source(&argument.path);
        let is_literal = matches!(&argument.value, Some(recipe) if !python::has_standin(recipe));
        let text = match (&argument.value, text) {
            (_, Ok(text)) if is_identifier(&argument.path) => text,
            (Some(recipe), _) if is_literal && !is_identifier(&argument.path) => python::literal(recipe),
            (_, Err(reason)) => return Err(reason),
            _ => return Err(Refusal::ObjectsAmongFurtherArguments),
        };
        if is_literal && !test.watched.contains(&argument.path) || !is_identifier(&argument.path) {
            return Ok(text);
        }
        if bound.iter().all(|(name, _)| *name != argument.path) {
            bound.push((argument.path.clone(), text));
        }
        Ok(argument.path.clone())
    }

    /// The function that returns the version under test.
    fn subject(&self, missing: &[String]) -> String {
        let function = self.method();
        let choose = "    name = environ.get(\"TWINCELL_SUBJECT\", \"new\")\n";
        let text = format!("def subject():\n    \"\"\"The version under test.\"\"\"\n{choose}");
        let PerSide { old, new } = PerSide::of(|side| &self.case.functions[side].qualname);
        if !old.split('.').chain(new.split('.')).all(is_identifier) {
            return text + "    return {\"old\": old, \"new\": new}[name]\n";
        }
        let (before, names) = self.names_of_file();
        let mut text = format!("{before}{text}");
        let mut parts = self.case.functions.new.qualname.split('.');
        let first = python::string(parts.next().unwrap_or_default());
        let start = format!("{names}[{first}]");
        let found = parts.fold(start, |found, part| format!("vars({found})[{}]", python::string(part)));
        text.push_str("    if name in (\"old\", \"new\"):\n        return old if name == \"old\" else new\n");
        let is_wrapped = slice::is_inner(function) || !function.decorators.is_empty();
        if !is_wrapped && missing.is_empty() {
            let _ = writeln!(text, "    return {found}");
            return text;
        }
        let _ = writeln!(text, "    found = {found}");
        if is_wrapped {
            text.push_str(
                "    found = inspect.unwrap(getattr(found, \"__func__\", getattr(found, \"fget\", found)))\n",
            );
        }
        if !missing.is_empty() {
            // In other files, these names also have the values of the test.
            let names: Vec<String> = missing.iter().map(|name| format!("{name}={name}")).collect();
            let _ = writeln!(text, "    found.__globals__.update({})", names.join(", "));
        }
        text.push_str("    return found\n");
        text
    }

    /// What the difference is.
    fn sentence(&self, difference: &Difference) -> String {
        let function = &self.case.functions.new;
        let name = if function.kind == CodeKind::Snippet { "The snippet" } else { &function.qualname };
        let PerSide { old, new } = difference.sides().map(display_shown);
        let said = match difference.channel {
            Channel::Return => format!("old returns {old}, new returns {new}"),
            Channel::Exception => format!("old {old}, new {new}"),
            Channel::Calls => format!("old calls {old}, new calls {new}"),
            _ => format!("{}: {old} with old, {new} with new", display_place(&difference.place)),
        };
        format!("{name} changed: {said}.").chars().filter(|c| !c.is_control()).take(400).collect()
    }

    pub(super) fn docstring(&self, difference: &Difference) -> String {
        let escaped = block_of_words(&self.sentence(difference)).replace('\\', "\\\\").replace('"', "\\\"");
        let version = env!("CARGO_PKG_VERSION");
        format!(
            "\"\"\"{escaped}\n\nFound by twincell {version} (seed {}), which is not needed to run this. It passes on the old version \
             and fails on the new\none; TWINCELL_SUBJECT says which is run: old, new (the default), or the path of a \
             Python file.\n\"\"\"\n",
            self.case.seed
        )
    }

    /// The whole file: what it shows, its imports, and then `main`.
    pub(super) fn file(
        &self,
        difference: &Difference,
        main: &str,
        used: &BTreeSet<String>,
        missing: &[String],
    ) -> String {
        let main = main.trim_start_matches('\n');
        let is_definition = ["def ", "async def ", "class ", "@"].iter().any(|start| main.starts_with(start));
        let gap = if is_definition { "\n\n\n" } else { "\n\n" };
        format!("{}\n{}{gap}{main}", self.docstring(difference), self.imported(main, used, missing))
    }

    pub(super) fn imported(&self, main: &str, used: &BTreeSet<String>, missing: &[String]) -> String {
        format!("from __future__ import annotations\n\n{}", self.import_lines(main, used, missing).join("\n"))
    }

    /// The imports that a text needs, beside those of the functions under test.
    fn import_lines(&self, main: &str, used: &BTreeSet<String>, missing: &[String]) -> Vec<String> {
        let named = global_names(main);
        let mut lines = Vec::new();
        const MODULES: [&str; 11] = [
            "asyncio",
            "contextlib",
            "inspect",
            "io",
            "itertools",
            "pathlib",
            "requests",
            "runpy",
            "subprocess",
            "tempfile",
            "urllib3",
        ];
        lines.extend(MODULES.into_iter().filter(|name| named.contains(*name)).map(|name| format!("import {name}")));
        if named.contains("unittest") {
            lines.push("import unittest.mock".into());
        }
        if self.case.context == Context::Function {
            let real =
                PURE_MODULES.iter().filter(|name| used.contains(**name) && !missing.iter().any(|own| own == *name));
            lines.extend(real.map(|name| format!("import {name}")));
        }
        lines.sort();
        lines.dedup();
        lines.extend(short_imports(&named));
        if named.contains("environ") {
            lines.push("from os import environ".into());
        }
        if named.contains("SimpleNamespace") {
            lines.push("from types import SimpleNamespace".into());
        }
        if named.contains("Mock") {
            lines.push("from unittest.mock import Mock".into());
        }
        if named.contains("pytest") {
            lines.push("\nimport pytest".into());
        }
        lines
    }
}

/// Asserts that assignments of the other version are absent.
fn not_there(object: &Operand, place: &str) -> Option<Check> {
    match place.strip_prefix('.') {
        Some(attribute) if is_identifier(attribute) => Some(Check::NoAttribute(object.clone(), attribute.to_owned())),
        Some(_) => None,
        None => {
            let key = place.strip_prefix('[')?.strip_suffix(']')?;
            Some(Check::Absent(key.to_owned(), object.clone()))
        }
    }
}

/// The names that a module binds by imports at its top level, except `import NAME` for modules that only compute.
fn imported_names(module: &str) -> BTreeSet<String> {
    let parsed = with_stack_for(module.len(), || parse(module));
    let mut names = BTreeSet::new();
    for statement in parsed.suite() {
        match statement {
            Stmt::Import(import) => {
                names.extend(import.names.iter().filter(|alias| !is_plain(alias)).map(bound_name));
            }
            Stmt::ImportFrom(import) => names.extend(import.names.iter().map(bound_name)),
            _ => {}
        }
    }
    names
}

fn is_plain(alias: &Alias) -> bool {
    alias.asname.is_none() && PURE_MODULES.contains(&alias.name.as_str())
}

fn bound_name(alias: &Alias) -> String {
    let written = alias.name.split('.').next().unwrap_or_default();
    alias.asname.as_ref().map_or(written, |name| name.as_str()).to_owned()
}
