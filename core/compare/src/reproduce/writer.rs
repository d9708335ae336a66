//! Who writes a reproducer: the case, the style, and what the parts of the file ask about both.

use std::collections::BTreeSet;

use twincell_engine::protocol::Context;
use twincell_syntax::parse::parse;
use twincell_syntax::scopes::Bindings;
use twincell_syntax::{Function, Side};
use twincell_values::path::{AccessPath, Question};
use twincell_values::value::Decision;

use super::arguments::{Argument, Decisions, arguments};
use super::refusal::Refusal;
use super::words::Words;
use super::{Case, python};
use crate::project_test::ProjectTest;

/// How a reproducer holds the values of the witness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Both versions as plain functions, without anything else.
    Alone,
    /// The same, with the part of their module that they need.
    Direct,
    /// A method on an object of its class, with the part of the module that the class needs.
    OnObject,
    /// Only literals; of the modules, the part that the functions need.
    Plain,
    /// With the stand-in class.
    Standins,
    /// The same, with the whole modules.
    Whole,
}

impl Style {
    pub(super) fn has_standins(self) -> bool {
        matches!(self, Style::Standins | Style::Whole)
    }
}

pub(super) struct Writer<'a> {
    pub(super) case: &'a Case<'a>,
    pub(super) style: Style,
    pub(super) standins: bool,
    pub(super) decisions: Decisions<'a>,
    /// The words of both functions and their decorators.
    pub(super) words: Words,
    /// The access paths of arguments that come from the answers.
    pub(super) looked_up: BTreeSet<String>,
    /// The same test for the project, where it can be written.
    pub(super) in_project: Option<ProjectTest>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(case: &'a Case<'a>, style: Style) -> Self {
        let choices = case.record.choices.iter();
        let decisions = choices.map(|choice| (choice.path.as_str(), &choice.decision)).collect();
        let (standins, words) = (style.has_standins(), Words::of(case.texts()));
        Self { case, style, standins, decisions, words, looked_up: BTreeSet::new(), in_project: None }
    }
}

impl Writer<'_> {
    pub(super) fn method(&self) -> &Function {
        &self.case.functions.old
    }

    pub(super) fn canonical(&self, side: Side, name: &str) -> String {
        let renamed = self.case.renames.iter().find(|(new, _)| side == Side::New && new == name);
        renamed.map_or(name, |(_, old)| old).to_string()
    }

    pub(super) fn is_shared(&self, path: &str) -> bool {
        Side::BOTH.into_iter().all(|side| {
            let parameters = &self.case.functions[side].parameters;
            parameters.iter().any(|parameter| self.canonical(side, &parameter.name) == path)
        })
    }

    pub(super) fn arguments(&self, side: Side) -> Result<Vec<Argument>, Refusal> {
        let parameters = &self.case.functions[side].parameters;
        let canonical = |name: &str| self.canonical(side, name);
        arguments(parameters, &self.decisions, &canonical, &|path| self.is_shared(path))
    }

    /// Whether the class of the method is there, with its other members. What changed brings its class along also
    /// where the rest of the module is left out.
    pub(super) fn has_own_class(&self) -> bool {
        let Some((class, _)) = self.method().qualname.split_once('.') else { return false };
        let has_class = |text: &&str| Bindings::of_body(parse(text).suite()).bound.contains(class);
        self.case.context == Context::Module || self.case.modules.iter().all(has_class)
    }

    /// The parts that modules lack in this execution, by their dotted names.
    pub(super) fn lacking(&self) -> Vec<&str> {
        let mut lacking = Vec::new();
        for (path, decision) in &self.decisions {
            if let (Question::Raise(part), Decision::Raise(class)) = (Question::parse(path), decision)
                && class == "AttributeError"
                && part.contains('.')
                && AccessPath::new(part).is_dotted()
            {
                lacking.push(part);
            }
        }
        lacking
    }

    /// The injected values that are written with names of the module, a line each.
    pub(super) fn values_in_module(&self) -> String {
        let values = self.case.record.choices.iter().filter_map(|choice| match &choice.decision {
            Decision::Value(recipe) => Some(python::in_module(recipe)),
            _ => None,
        });
        values.flatten().map(|text| format!("\n{text}")).collect()
    }
}
