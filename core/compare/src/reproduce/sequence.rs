//! Reproducers of classes and snippets: an object is made and used step by step, or statements run on the names that
//! they read. They look as a person would write them, with mocks for missing objects. What does not fit is refused.

use std::collections::BTreeSet;
use std::fmt::Write;

use twincell_behavior::{Channel, Difference};
use twincell_engine::observed::{Behavior, Observed, Outcome, Slot};
use twincell_engine::protocol::{Body, Member};
use twincell_syntax::python::{is_builtin_exception, is_identifier};
use twincell_syntax::{Parameter, PerSide, Side, global_names};
use twincell_values::path::{AccessPath, Question};
use twincell_values::value::{Decision, Recipe};

use super::arguments::{Argument, arguments, source};
use super::objects::Objects;
use super::plan::ClassFile;
use super::python;
use super::refusal::Refusal;
use super::shape::{first_items, items, shaped};
use super::text::decorated;
use super::writer::Writer;
use crate::project_test::ProjectTest;
use crate::uses::{ArgumentPaths, Class, is_decorated, passed};

/// The test's lines that are the same for both versions, and the variables that they need.
#[derive(Default)]
struct Steps {
    bound: Vec<(String, String)>,
    /// How the object is made.
    made: String,
    /// The steps of its use, in order: (slot in the behavior, expression).
    used: Vec<(Slot, String)>,
    /// The names of all arguments that were passed or could have been.
    given: Vec<String>,
}

impl Writer<'_> {
    /// The file for a class, with or without the part of its module that it needs.
    pub(super) fn class(&mut self, with_module: bool) -> Result<String, Refusal> {
        let case = self.case;
        let [difference] = case.differences else { return Err(Refusal::SeveralDifferences) };
        let Body::Class { members, .. } = case.bodies.old else { return Err(Refusal::NotAClass) };
        let objects = Objects::of(&case.record.choices, &|path| self.is_discarded(path));
        let PerSide { old: steps, new: other } = PerSide::try_of(|side| self.steps(side, members, &objects))?;
        if (&steps.bound, &steps.made, &steps.used) != (&other.bound, &other.made, &other.used) {
            return Err(Refusal::UsedDifferently);
        }
        let used: BTreeSet<String> =
            Side::BOTH.into_iter().flat_map(|side| global_names(&self.whole_text(side))).collect();
        let is_missing = |name: &&String| used.contains(*name) && !steps.given.contains(name);
        let missing: Vec<String> = objects.names().filter(is_missing).cloned().collect();
        let module = if with_module { self.module_part(&missing)? } else { String::new() };
        if !with_module {
            self.refuse_imports(&used)?;
        }
        let name = &case.functions.new.name;
        if case.functions.old.name != *name {
            return Err(Refusal::BesideItself(name.clone()));
        }
        let lines = self.uses_of(difference, &steps, &objects)?;
        let is_named = |name: &str| lines.iter().any(|line| mentions(line, name));
        let bound = steps.bound.iter().filter(|(name, _)| is_named(name));
        let lines: Vec<String> = bound.map(|(name, value)| format!("{name} = {value}")).chain(lines.clone()).collect();
        let texts = PerSide::of(|side| self.whole_text(side));
        let qualname = &case.functions.new.qualname;
        let file = ClassFile { qualname, module, missing, texts, test: format!("test_{}", snake(name)), lines };
        self.class_file(difference, &objects, file)
    }

    /// The file about a class, and the same test for the project.
    pub(super) fn class_file(
        &mut self,
        difference: &Difference,
        objects: &Objects,
        file: ClassFile<'_>,
    ) -> Result<String, Refusal> {
        let ClassFile { qualname, module, missing, texts, test, lines } = file;
        let name = qualname.rsplit('.').next().unwrap_or(qualname);
        let used: BTreeSet<String> = texts.iter().flat_map(|text| global_names(text)).collect();
        // Both versions have the same name at the top level, and pytest would collect a class of tests.
        if used.contains(name) || name.starts_with("Test") {
            return Err(Refusal::BesideItself(name.to_owned()));
        }
        let mut main = module;
        for name in &missing {
            let _ = writeln!(main, "{name} = {}", objects.source(name)?);
        }
        for side in Side::BOTH {
            let _ = write!(main, "\n\n{}\n\n\n{side} = {name}\n", texts[side].trim_end());
        }
        let _ = write!(main, "\n\n{}\n\ndef {test}():\n    {name} = subject()\n", self.subject_of_class(qualname));
        for line in &lines {
            let _ = writeln!(main, "    {line}");
        }
        if missing.is_empty() && qualname.split('.').all(is_identifier) {
            let in_project = self.project_test(name.to_owned(), test, lines);
            self.in_project = Some(ProjectTest { used: qualname.to_owned(), ..in_project });
        }
        Ok(self.file(difference, &main, &used, &missing))
    }

    /// The function that returns the version of a class under test.
    fn subject_of_class(&self, qualname: &str) -> String {
        let found = qualname.split('.').map(python::string).collect::<Vec<_>>();
        let inner: String = found.iter().skip(1).map(|part| format!(".__dict__[{part}]")).collect();
        let (before, names) = self.names_of_file();
        format!(
            "{before}def subject():\n    \"\"\"The version under test.\"\"\"\n    \
             name = environ.get(\"TWINCELL_SUBJECT\", \"new\")\n    \
             if name in (\"old\", \"new\"):\n        return old if name == \"old\" else new\n    \
             return {names}[{}]{inner}\n",
            found.first().map_or("''", String::as_str),
        )
    }

    /// A version's text with its decorators.
    pub(super) fn whole_text(&self, side: Side) -> String {
        decorated(self.case.decorators[side], &self.case.functions[side].text)
    }

    /// How a version is made and used in this execution.
    fn steps(&self, side: Side, members: &[Member], objects: &Objects) -> Result<Steps, Refusal> {
        let class = Class::of(&self.case.functions[side]);
        let object = snake(class.name);
        let mut steps = Steps::default();
        let mut given = ArgumentPaths::default();
        let number = |question: Question<'_>| match self.decisions.get(question.to_string().as_str()) {
            Some(Decision::Value(Recipe::Int(number))) => usize::try_from(*number).ok(),
            _ => None,
        };
        steps.made = match number(Question::WhichMember) {
            Some(index) => format!("list({})[{index}]", class.name),
            None => {
                let arguments = self.given(side, class.constructor(), &mut given, &mut steps.bound, objects)?;
                format!("{}({arguments})", class.name)
            }
        };
        let count = number(Question::MembersUsed).map_or(0, |more| more + 1);
        for step in 1..=u32::try_from(count).unwrap_or(u32::MAX) {
            let Some(member) = number(Question::Member(step)).and_then(|index| members.get(index)) else { continue };
            let comparison = match member.name.as_str() {
                "__eq__" => Some("=="),
                "__lt__" => Some("<"),
                _ => None,
            };
            let expression = match (member.name.as_str(), comparison) {
                (_, Some(sign)) if number(Question::Operand(step)) == Some(0) => {
                    let arguments = self.given(side, class.constructor(), &mut given, &mut steps.bound, objects)?;
                    format!("({object} {sign} {}({arguments}))", class.name)
                }
                ("__hash__", _) => format!("isinstance(hash({object}), int)"),
                ("__repr__", _) => format!("repr({object})"),
                (name, _) if member.by_operation => special(name, &object)?,
                ("__setattr__", _) => return Err(Refusal::SetFromOutside),
                (name, _) if member.is_property => format!("{object}.{name}"),
                (name, _) => {
                    let method = class.method(name).ok_or_else(|| Refusal::Inherited(name.to_string()))?;
                    if is_decorated(method) {
                        return Err(Refusal::Decorated(name.to_string()));
                    }
                    let arguments = self.given(side, passed(method), &mut given, &mut steps.bound, objects)?;
                    let call = match name {
                        "__len__" | "__bool__" | "__str__" | "__iter__" | "__next__" => {
                            format!("{}({object})", name.trim_matches('_'))
                        }
                        "__call__" => format!("{object}({arguments})"),
                        "__getitem__" => format!("{object}[{arguments}]"),
                        "__contains__" => format!("({arguments} in {object})"),
                        _ => format!("{object}.{name}({arguments})"),
                    };
                    if method.is_async && !method.is_generator { format!("asyncio.run({call})") } else { call }
                }
            };
            steps.used.push((Slot::Use { step, member: member.name.clone() }, expression));
        }
        steps.given = given.into_names();
        Ok(steps)
    }

    /// The arguments of one call.
    fn given(
        &self,
        side: Side,
        parameters: &[Parameter],
        given: &mut ArgumentPaths,
        bound: &mut Vec<(String, String)>,
        objects: &Objects,
    ) -> Result<String, Refusal> {
        let decision = |path: &str| self.decisions.get(path).copied();
        let path = |name: &str| given.of(&self.canonical(side, name), &decision);
        let passed = arguments(parameters, &self.decisions, &path, &|_| true)?;
        given.called(parameters.iter().map(|parameter| self.canonical(side, &parameter.name)));
        let mut refused = None;
        let text = source(&passed, &mut |argument| {
            variable(argument, bound, objects).unwrap_or_else(|reason| {
                refused = Some(reason);
                String::new()
            })
        });
        refused.map_or(Ok(text), Err)
    }

    /// The lines that make and use the object, and that assert the differences.
    fn uses_of(&self, difference: &Difference, steps: &Steps, objects: &Objects) -> Result<Vec<String>, Refusal> {
        let PerSide { old, new } = self.case.behaviors()?;
        let name = &self.case.functions.new.name;
        let object = snake(name);
        let slot = difference.place.slot();
        if let Some(slot @ (Slot::ClassAttributes | Slot::EnumMembers)) = slot {
            let (old, new) = (old.left(slot).ok_or(Refusal::ClassNotObserved)?, new.left(slot));
            if *slot == Slot::EnumMembers {
                let members = format!("{{key: member.value for key, member in {name}.__members__.items()}}");
                return Ok(vec![self.equality(old, new, objects)?.of(&members)]);
            }
            return self.attributes(name, old, new, objects);
        }
        let mut lines = Vec::new();
        let raised = match &old.outcome {
            Outcome::Raised { exception: Observed::Exception { class, .. }, .. } => Some(class.as_str()),
            Outcome::Returned(_) => None,
            _ => return Err(Refusal::OldDidNotEnd),
        };
        let is_used = self.decisions.contains_key(Question::MembersUsed.to_string().as_str());
        if let (Some(class), false) = (raised, is_used) {
            lines.push(raises(class, &steps.made)?);
            return self.caught(difference, lines, PerSide { old, new }, objects);
        }
        lines.push(if steps.used.is_empty() && difference.channel != Channel::Return {
            steps.made.clone()
        } else {
            format!("{object} = {}", steps.made)
        });
        let asserted = slot.filter(|slot| matches!(slot, Slot::Use { .. }));
        for (own, expression) in &steps.used {
            let Some(gave) = old.left(own) else {
                // The old version ended here.
                lines.push(raises(raised.ok_or(Refusal::StepNotRecorded)?, expression)?);
                break;
            };
            let expression = match gave {
                Observed::Iterator { finished: false, .. } => return Err(Refusal::EndlessIterator),
                Observed::Iterator { .. } => items(expression, new.left(own)),
                _ => expression.clone(),
            };
            let is_asserted = asserted == Some(own);
            lines.push(match gave {
                Observed::Exception { class, .. } if is_asserted => raises(class, &expression)?,
                Observed::Exception { .. } => format!("with contextlib.suppress(Exception):\n        {expression}"),
                _ if is_asserted => {
                    self.equality(&shaped(gave), new.left(own).map(shaped).as_ref(), objects)?.of(&expression)
                }
                _ => expression,
            });
            if is_asserted {
                return Ok(lines);
            }
        }
        if asserted.is_some() {
            return Err(Refusal::OnlyNewGetsThere);
        }
        if let (Channel::Return, Outcome::Returned(then)) = (difference.channel, &old.outcome) {
            let now = match &new.outcome {
                Outcome::Returned(now) => Some(now),
                _ => None,
            };
            lines.extend(self.attributes(&object, then, now, objects)?);
        }
        self.caught(difference, lines, PerSide { old, new }, objects)
    }

    /// Output and calls are asserted after all lines.
    fn caught(
        &self,
        difference: &Difference,
        mut lines: Vec<String>,
        PerSide { old, new }: PerSide<&Behavior>,
        objects: &Objects,
    ) -> Result<Vec<String>, Refusal> {
        match difference.channel {
            Channel::Return | Channel::Exception => {}
            Channel::Output => {
                let (stream, text) =
                    if old.stdout == new.stdout { ("stderr", &old.stderr) } else { ("stdout", &old.stdout) };
                let within: String = lines.iter().map(|line| format!("\n        {}", indented(line))).collect();
                lines = vec![
                    format!("with contextlib.redirect_{stream}(io.StringIO()) as {stream}:{within}"),
                    format!("assert {stream}.getvalue() == {}", python::string(text)),
                ];
            }
            Channel::Calls => lines.push(self.called_as(old, new, objects)?.assertion()),
            Channel::Arguments | Channel::Log => return Err(Refusal::NotSeenOfTheObject),
        }
        Ok(lines)
    }

    /// The attributes in which two objects differ.
    fn attributes(
        &self,
        owner: &str,
        old: &Observed,
        new: Option<&Observed>,
        objects: &Objects,
    ) -> Result<Vec<String>, Refusal> {
        let (Observed::Object { attributes, .. }, others) = (old, new) else {
            return Ok(vec![self.equality(old, new, objects)?.of(owner)]);
        };
        let others = match others {
            Some(Observed::Object { attributes, .. }) => attributes.as_slice(),
            _ => &[],
        };
        let mut lines = Vec::new();
        for (name, value) in attributes.iter().filter(|entry| !others.contains(entry) && is_identifier(&entry.0)) {
            let other = others.iter().find(|(known, _)| known == name).map(|(_, value)| value);
            lines.push(self.equality(value, other, objects)?.of(&format!("{owner}.{name}")));
        }
        for (name, _) in others.iter().filter(|(name, _)| attributes.iter().all(|(known, _)| known != name)) {
            if lines.is_empty() && is_identifier(name) {
                lines.push(format!("assert not hasattr({owner}, {})", python::string(name)));
            }
        }
        if lines.is_empty() { Err(Refusal::NoAttributeDiffers) } else { Ok(lines) }
    }

    /// The file for a snippet.
    pub(super) fn snippet(&self) -> Result<String, Refusal> {
        let case = self.case;
        let [difference] = case.differences else { return Err(Refusal::SeveralDifferences) };
        let PerSide { old: Body::Snippet { results, .. }, new: Body::Snippet { results: others, .. } } = case.bodies
        else {
            return Err(Refusal::NotASnippet);
        };
        let objects = Objects::of(&case.record.choices, &|path| self.is_discarded(path));
        let PerSide { old, new } = case.behaviors()?;
        let mut lines = Vec::new();
        for name in objects.names() {
            lines.push(format!("{name} = {}", objects.source(name)?));
        }
        let passed: Vec<String> = objects.names().map(|name| format!("{name}={name}")).collect();
        let call = format!("run({})", passed.join(", "));
        let found: Vec<String> = match (&old.outcome, difference.channel) {
            (Outcome::Raised { exception: Observed::Exception { class, .. }, .. }, _) => vec![raises(class, &call)?],
            (_, Channel::Arguments) => {
                let Some(slot @ Slot::Name(wanted)) = difference.place.slot() else {
                    return Err(Refusal::UnboundIsCompared);
                };
                let own = |names: &[(String, String)]| {
                    names.iter().find(|(_, canonical)| canonical == wanted).map(|(own, _)| own.clone())
                };
                let name = own(results).ok_or(Refusal::NameNotBound)?;
                if own(others).as_ref() != Some(&name) {
                    return Err(Refusal::NameChanged);
                }
                let value = old.left(slot).ok_or(Refusal::OldDoesNotBind)?;
                let mut expression = format!("{call}[{}]", python::string(&name));
                if let Observed::Iterator { finished, .. } = value {
                    if !finished {
                        return Err(Refusal::EndlessIterator);
                    }
                    expression = items(&expression, new.left(slot));
                }
                vec![self.equality(&shaped(value), new.left(slot).map(shaped).as_ref(), &objects)?.of(&expression)]
            }
            _ => vec![call],
        };
        lines.extend(match difference.channel {
            Channel::Arguments => found,
            _ => self.caught(difference, found, PerSide { old, new }, &objects)?,
        });
        let PerSide { old, new } = PerSide::of(|side| python::block(&case.functions[side].text));
        let mut main = format!(
            "OLD = {old}\n\nNEW = {new}\n\n\ndef run(**names):\n    \"\"\"Runs the statements under test on these names; gives \
             all names.\"\"\"\n    subject = environ.get(\"TWINCELL_SUBJECT\", \"new\")\n    \
             if subject in (\"old\", \"new\"):\n        text = OLD if subject == \"old\" else NEW\n    else:\n        \
             with open(subject) as file:\n            text = file.read()\n    \
             exec(compile(text, subject, \"exec\", dont_inherit=True), names)\n    return names\n\n\ndef test_snippet():\n"
        );
        for line in lines {
            let _ = writeln!(main, "    {line}");
        }
        let imported = self.imported(&main, &BTreeSet::new(), &[]);
        Ok(format!("{}\n{imported}\n\n{main}", self.docstring(difference)))
    }
}

/// An argument: an immutable one in its place, and any other as a variable of the test.
fn variable(argument: &Argument, bound: &mut Vec<(String, String)>, objects: &Objects) -> Result<String, Refusal> {
    let Some(recipe) = &argument.value else { return Err(Refusal::ObjectOfTheClass) };
    if matches!(
        recipe,
        Recipe::None | Recipe::Bool(_) | Recipe::Int(_) | Recipe::Float(_) | Recipe::Str(_) | Recipe::Bytes(_)
    ) {
        return Ok(python::literal(recipe));
    }
    let name = match AccessPath::new(&argument.path).split_number() {
        Some((name, number)) => format!("{name}_{number}"),
        None => argument.path.clone(),
    };
    if !is_identifier(&name) {
        return Err(Refusal::ObjectsAmongFurtherArguments);
    }
    if bound.iter().all(|(known, _)| *known != name) {
        let value = match python::has_standin(recipe) {
            false => python::literal(recipe),
            true if is_identifier(&argument.path) => objects.source(&argument.path)?,
            true => return Err(Refusal::SecondObjectOfTheName),
        };
        bound.push((name.clone(), value));
    }
    Ok(name)
}

/// An operation that asks for a special method which only one version defines.
fn special(name: &str, object: &str) -> Result<String, Refusal> {
    Ok(match name {
        "__bool__" | "__len__" | "__int__" | "__float__" | "__abs__" => format!("{}({object})", name.trim_matches('_')),
        "__iter__" => first_items(object),
        "__contains__" => format!("(None in {object})"),
        "__getitem__" => format!("{object}[0]"),
        "__call__" => format!("callable({object})"),
        "__getattr__" => format!("{object}.an_attribute_of_no_class"),
        "__neg__" => format!("(-{object})"),
        "__invert__" => format!("(~{object})"),
        _ => return Err(Refusal::OperationNotWritten(name.to_owned())),
    })
}

/// Whether the name occurs in the line as a word.
fn mentions(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(name)
        .any(|(at, _)| !line[..at].ends_with(is_part) && !line[at + name.len()..].starts_with(is_part))
}

/// The call, which raises this exception.
fn raises(class: &str, call: &str) -> Result<String, Refusal> {
    if !is_builtin_exception(class) {
        return Err(Refusal::MissingClass(class.to_string()));
    }
    Ok(format!("with pytest.raises({class}):\n        {call}"))
}

/// The lines of a statement, one level further indented.
fn indented(line: &str) -> String {
    line.replace('\n', "\n    ")
}

/// A class's name as the name of a variable, which always differs from it.
pub(super) fn snake(class: &str) -> String {
    let mut name = String::new();
    for (at, character) in class.trim_matches('_').char_indices() {
        if character.is_uppercase() && at > 0 && !name.ends_with('_') && !class[..at].ends_with(char::is_uppercase) {
            name.push('_');
        }
        name.extend(character.to_lowercase());
    }
    if name == class || !is_identifier(&name) { "instance".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_named_after_classes() {
        assert_eq!(
            ["Account", "LRUCache", "HTTPError2", "_Inner"].map(snake),
            ["account", "lrucache", "httperror2", "inner"]
        );
        assert_eq!(snake("account"), "instance");
        assert_eq!(snake("ShopOrder"), "shop_order");
    }
}
