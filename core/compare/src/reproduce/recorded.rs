//! The data of a reproducer with stand-ins: the record of the witness as Python data, and the parts that go with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use ruff_python_ast::token::TokenKind;

use twincell_engine::protocol::Context;
use twincell_syntax::PerSide;
use twincell_syntax::python::{
    Conversion, PURE_MODULES, PURE_NAMES, PURE_WHERE_IMPORTED, aliased_exception, conversion,
};
use twincell_values::path::{AccessPath, Question};
use twincell_values::value::{AbstractValue, Decision, Recipe};

use super::answers::{Answer, is_own_method};
use super::parts::{Feature, compose};
use super::refusal::Refusal;
use super::words::Words;
use super::writer::Writer;
use super::{python, slice};

/// The tokens of comparisons by order.
const ORDERING: [TokenKind; 4] = [TokenKind::Less, TokenKind::Greater, TokenKind::LessEqual, TokenKind::GreaterEqual];
/// The tokens of calculations. Some have other meanings as well (`*args`, `@decorator`).
const CALCULATING: [TokenKind; 27] = [
    TokenKind::Plus,
    TokenKind::PlusEqual,
    TokenKind::Minus,
    TokenKind::MinusEqual,
    TokenKind::Star,
    TokenKind::StarEqual,
    TokenKind::DoubleStar,
    TokenKind::DoubleStarEqual,
    TokenKind::Slash,
    TokenKind::SlashEqual,
    TokenKind::DoubleSlash,
    TokenKind::DoubleSlashEqual,
    TokenKind::Percent,
    TokenKind::PercentEqual,
    TokenKind::Vbar,
    TokenKind::VbarEqual,
    TokenKind::Amper,
    TokenKind::AmperEqual,
    TokenKind::CircumFlex,
    TokenKind::CircumflexEqual,
    TokenKind::LeftShift,
    TokenKind::LeftShiftEqual,
    TokenKind::RightShift,
    TokenKind::RightShiftEqual,
    TokenKind::Tilde,
    TokenKind::At,
    TokenKind::AtEqual,
];

/// Names that every object has. A stand-in answers them only if the code asked for them.
const DUNDERS: [&str; 3] = ["__class__", "__doc__", "__module__"];

/// The texts that run in a reproducer.
pub(super) struct Texts<'a> {
    /// Both functions, with their decorators.
    pub functions: &'a PerSide<String>,
    /// The parts of their modules that they need.
    pub modules: &'a PerSide<String>,
}

impl Texts<'_> {
    fn all(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().chain(self.modules).map(String::as_str)
    }
}

/// The entries of a dictionary with the answers that follow the classes of the file, or with those before them.
fn entries(answers: &BTreeMap<String, Answer>, late: bool) -> String {
    let chosen = answers.iter().filter(|(_, answer)| answer.is_late == late);
    chosen.map(|(path, answer)| format!("    {}: {},\n", python::string(path), answer.source)).collect()
}

/// `{'a', 'b'}`
fn set(items: &[String]) -> String {
    if items.is_empty() { "set()".into() } else { format!("{{{}}}", items.join(", ")) }
}

impl Writer<'_> {
    pub(super) fn has_imports(&self, modules: &PerSide<String>) -> bool {
        let has_import = |words: &Words| words.has_any(&[TokenKind::Import]);
        has_import(&self.words) || has_import(&Words::of(modules.iter().map(String::as_str)))
    }

    /// Whether code defines a class with keywords.
    pub(super) fn has_class_keywords(&self, modules: &PerSide<String>) -> bool {
        let functions = self.case.functions.iter().map(|function| function.text.as_str());
        functions.chain(modules.iter().map(String::as_str)).any(slice::has_class_keywords)
    }

    /// Whether a stand-in was asked if it is an instance of a missing class.
    pub(super) fn has_instances(&self) -> bool {
        let is_asked = |question| matches!(question, Question::Instance { .. } | Question::Class(_));
        self.decisions.keys().any(|path| is_asked(Question::parse(path)))
    }

    /// Was it asked whether a stand-in has one of the names that every stand-in has?
    pub(super) fn has_attributes(&self) -> bool {
        let is_special = |path: AccessPath<'_>| path.split_attribute().is_some_and(|(_, name)| name.ends_with("__"));
        let is_asked = |question| matches!(question, Question::Attribute(path) if is_special(path));
        self.decisions.keys().any(|path| is_asked(Question::parse(path)))
    }

    /// The record, and the parts that answer by it.
    pub(super) fn standin_parts(&self, texts: &Texts<'_>) -> Result<String, Refusal> {
        let patched = self.patched();
        let mut answers = self.answers(&patched)?;
        let raised: BTreeSet<String> = texts.all().flat_map(slice::exceptions).collect();
        let (aliases, raised): (Vec<_>, Vec<_>) =
            raised.into_iter().partition(|path| aliased_exception(path).is_some());
        let aliases = aliases.into_iter().filter_map(|path| Some((aliased_exception(&path)?.to_owned(), path)));
        answers.extend(aliases.map(|(source, path)| (path, Answer { source, is_late: false })));
        let extended = self.extended();
        let mut text = String::from(
            "# The recorded answer for each access path. `...`, like any path without a record, is another stand-in.\n",
        );
        let _ = writeln!(text, "ANSWERS = {{\n{}}}", entries(&answers, false));
        let renamed = self.case.renames.iter().chain(self.case.function_renames);
        let renamed = renamed.map(|(new, old)| format!("{}: {}", python::string(new), python::string(old)));
        let _ = writeln!(text, "RENAMED = {{{}}}", renamed.collect::<Vec<_>>().join(", "));
        let raised: BTreeSet<String> = raised.iter().map(|path| python::string(path)).collect();
        let _ = writeln!(text, "EXCEPTIONS = {}", set(&Vec::from_iter(raised)));
        let methods = patched.keys().filter(|name| is_own_method(name));
        let methods: Vec<String> = methods.map(|name| python::string(name)).collect();
        let _ = writeln!(text, "METHODS = {}", set(&methods));
        let _ = writeln!(text, "STOPPED = {}", set(&self.stopped()));
        let _ = writeln!(text, "CONVERSIONS = {{{}}}", self.conversions().join(", "));
        if !extended.is_empty() {
            let _ = writeln!(text, "EXTENDED = {}", set(&extended));
        }
        let is_alone = self.case.context == Context::Function;
        let (pure, imported) = if is_alone { self.pure() } else { (vec![], vec![]) };
        let _ = writeln!(text, "PURE = {{{}}}", pure.join(", "));
        let _ = writeln!(text, "IMPORTED = {}", set(&imported));
        let _ = writeln!(text, "ONLY_PURE = {}", if is_alone { "True" } else { "False" });
        let is_ordered = answers.keys().any(|path| matches!(Question::parse(path), Question::Order { .. }));
        let is_equal =
            answers.keys().any(|path| matches!(Question::parse(path), Question::Order { .. } | Question::Zero(_)));
        let features = self.features(texts, is_ordered, is_equal, !extended.is_empty(), !patched.is_empty());
        text.push_str(&compose(&features, &self.members()));
        let late = entries(&answers, true);
        if !late.is_empty() {
            let _ = write!(text, "\n\nANSWERS |= {{\n{late}}}\n");
        }
        Ok(text)
    }

    /// What this case needs from its stand-ins.
    fn features(
        &self,
        texts: &Texts<'_>,
        is_ordered: bool,
        is_equal: bool,
        extended: bool,
        patched: bool,
    ) -> BTreeSet<Feature> {
        let has_receiver = self.has_own_class();
        let words = Words::of(texts.all());
        let named = |names: &[&str]| names.iter().any(|name| words.names(name));
        let asked = [
            (Feature::Standins, true),
            (Feature::Order, is_ordered || words.has_any(&ORDERING) || named(&["min", "max"])),
            (Feature::Order, words.names_like(&["sort", "heap", "operator"])),
            (Feature::Equality, is_equal),
            (Feature::Arithmetic, words.has_any(&CALCULATING) || words.names_like(&["operator"])),
            (Feature::Arithmetic, named(&["abs", "fabs", "sum", "fsum", "pow", "prod", "reduce"])),
            (Feature::Contexts, words.has_any(&[TokenKind::With]) || words.names_like(&["enter_context"])),
            (Feature::Awaiting, words.has_any(&[TokenKind::Async, TokenKind::Await]) || words.names_like(&["asyncio"])),
            (Feature::Extended, extended),
            (Feature::Imports, self.has_imports(texts.modules)),
            (Feature::Classes, self.has_class_keywords(texts.modules)),
            (Feature::Instances, self.has_instances()),
            (Feature::Attributes, self.has_attributes()),
            (Feature::Patches, patched),
            (Feature::Parent, self.has_super()),
            (Feature::CallBacks, self.case.calls_back()),
            (Feature::Stored, !self.case.stored().is_empty()),
            (Feature::Fills, !self.fills().is_empty()),
            (Feature::Receiver, has_receiver),
        ];
        asked.into_iter().filter(|(_, is_asked)| *is_asked).map(|(feature, _)| feature).collect()
    }

    /// Does the code ask for the class that its own derives from?
    pub(super) fn has_super(&self) -> bool {
        self.decisions.contains_key("super()") || self.words.names("super")
    }

    /// Lines of the stand-in class that only this case needs.
    fn members(&self) -> String {
        let is_asked = |name: &&str| self.decisions.keys().any(|path| path.contains(&format!(".{name}")));
        let property = |name| format!("    {name} = property(lambda self: answer(f'{{self._path_}}.{name}'))\n");
        DUNDERS.into_iter().filter(is_asked).map(property).collect()
    }

    /// Missing conversions between text and bytes that were called, with the class of what their names promise.
    fn conversions(&self) -> Vec<String> {
        let calls = self.case.record.behaviors.iter().flat_map(|behavior| &behavior.calls);
        let names: BTreeSet<&str> = calls.map(|call| call.callee.as_path().last_name()).collect();
        let entry = |name: &str| {
            let class = match conversion(name)? {
                Conversion::Text => "str",
                Conversion::Bytes => "bytes",
            };
            Some(format!("{}: '{class}'", python::string(name)))
        };
        names.into_iter().filter_map(entry).collect()
    }

    /// Own methods that were called and did not run.
    fn stopped(&self) -> Vec<String> {
        let calls = self.case.record.behaviors.iter().flat_map(|behavior| &behavior.calls);
        let recorded: BTreeSet<&str> = calls.map(|call| call.callee.as_str()).collect();
        recorded.into_iter().filter(|name| is_own_method(name)).map(python::string).collect()
    }

    /// Plain values from which the code asks more than they have.
    fn extended(&self) -> Vec<String> {
        let is_object = |recipe: &Recipe| {
            use AbstractValue::{Callable, Object, Resource};
            matches!(recipe, Recipe::Mock(Object | Resource | Callable))
        };
        let choices = self.case.record.choices.iter().filter(|choice| match &choice.decision {
            Decision::Value(recipe) => !is_object(recipe) && self.is_extended(&choice.path),
            _ => false,
        });
        choices.map(|choice| python::string(&python::masked(&choice.path))).collect()
    }

    /// The parts of the pure standard library that the code may use: names with their modules, and what it may import.
    fn pure(&self) -> (Vec<String>, Vec<String>) {
        let modules = PURE_MODULES.iter().map(|&module| (module, ""));
        let used: Vec<(&str, &str)> = modules.chain(PURE_NAMES).filter(|(name, _)| self.words.names(name)).collect();
        let imports = PURE_MODULES.iter().chain(&PURE_WHERE_IMPORTED).filter(|name| self.words.names(name));
        let entry = |(name, module): &(&str, &str)| format!("{}: {}", python::string(name), python::string(module));
        (used.iter().map(entry).collect(), imports.map(|name| python::string(name)).collect())
    }
}
