//! The text of a reproducer, composed of its parts.

use std::collections::BTreeSet;
use std::fmt::Write;

use twincell_behavior::{display_place, display_shown};
use twincell_engine::protocol::{Body, Context};
use twincell_syntax::{Function, PerSide, Side};
use twincell_values::path::Question;
use twincell_values::value::Decision;

use super::checks::checks;
use super::method::calls_its_class;
use super::parts::compose;
use super::plan::TestPlan;
use super::recorded::Texts;
use super::refusal::Refusal;
use super::text::{decorated, function_text, imports};
use super::writer::{Style, Writer};
use super::{Case, python, slice};
use crate::project_test::ProjectTest;

/// The styles in which a reproducer may be written, the best one first. Where a method calls others of its class, a mock
/// in place of its object would answer for them, also in a table of several witnesses.
pub(super) fn styles(case: &Case<'_>) -> Vec<Style> {
    let (functions, others) = ([Style::Alone, Style::Direct], [Style::Plain, Style::Standins, Style::Whole]);
    match (calls_its_class(case), case.further) {
        (true, []) => [Style::OnObject].into_iter().chain(others).chain(functions).collect(),
        (true, _) => vec![Style::OnObject],
        (false, _) => functions.into_iter().chain([Style::OnObject]).chain(others).collect(),
    }
}

/// A reproducer, and the same test for the project, where it can be written.
pub(super) struct ReproducerText {
    pub(super) text: String,
    pub(super) in_project: Option<ProjectTest>,
}

/// Writes a reproducer in one style, or says why this is impossible.
pub(super) fn write(case: &Case<'_>, style: Style) -> Result<ReproducerText, Refusal> {
    let mut writer = Writer::new(case, style);
    if let Some(object) = writer.decisions.values().find_map(|decision| python::given_object(decision)) {
        return Err(Refusal::GivenObject(object));
    }
    writer.refuse_several_outside()?;
    let text = writer.text()?;
    Ok(ReproducerText { text, in_project: writer.in_project })
}
impl Writer<'_> {
    fn text(&mut self) -> Result<String, Refusal> {
        let (case, style, standins) = (self.case, self.style, self.standins);
        let is_direct = matches!((case.bodies.old, style), (Body::Function, Style::Alone | Style::Direct));
        if !case.further.is_empty() && !is_direct {
            return Err(Refusal::NoTable);
        }
        match (case.bodies.old, style) {
            (Body::Function, _) => {}
            (Body::Class { .. }, Style::Alone | Style::Direct) => return self.class(style == Style::Direct),
            (Body::Snippet { .. }, Style::Alone) => return self.snippet(),
            _ => return Err(Refusal::OnlyFunctionsHaveStandins),
        }
        if matches!(style, Style::Alone | Style::Direct) {
            return self.direct(style == Style::Direct);
        }
        if style == Style::OnObject {
            return self.on_object();
        }
        let plan = checks(case, standins)?;
        if !standins {
            self.refuse_objects()?;
        }
        let test = self.test(&plan)?;
        self.whole(&plan, &test)
    }

    /// Without stand-ins, only arguments can be given, and only plain ones.
    pub(super) fn refuse_objects(&self) -> Result<(), Refusal> {
        let mut roots: BTreeSet<String> = BTreeSet::new();
        for side in Side::BOTH {
            roots.extend(self.arguments(side)?.into_iter().map(|argument| argument.path));
        }
        for choice in &self.case.record.choices {
            let path = choice.path.as_str();
            let counted = match Question::parse(path) {
                Question::Positional(_) | Question::Keyword { .. } => true,
                Question::Raise(part) => self.lacking().contains(&part),
                Question::Value(path) => path.is_of_result() || self.is_in_place(path.as_str()),
                Question::Injected(_) => true,
                _ => false,
            };
            let default = matches!(choice.decision, Decision::Default);
            let value = matches!(&choice.decision, Decision::Value(recipe) if !python::has_standin(recipe));
            if !(counted || default || roots.contains(path) && value) {
                return Err(Refusal::WasInjected { path: path.to_string(), decision: choice.decision.clone() });
            }
        }
        Ok(())
    }

    /// The file as a whole.
    pub(super) fn whole(&mut self, plan: &TestPlan, test: &str) -> Result<String, Refusal> {
        let case = self.case;
        let functions = PerSide::of(|side| decorated(case.decorators[side], &function_text(&case.functions[side])));
        let modules = PerSide::of(|side| match (case.context, self.style) {
            (Context::Function, _) => case.modules[side].to_string(),
            (Context::Module, Style::Whole) => case.modules[side].to_string(),
            (Context::Module, _) => {
                let function = &case.functions[side];
                let text = format!("{}{}", function.text, self.values_in_module());
                slice::needed(case.modules[side], &Function { text, ..function.clone() }, None)
            }
        });
        let mut main = String::new();
        if modules.old == modules.new {
            if !modules.old.is_empty() {
                let _ = writeln!(main, "MODULE = {}\n", python::block(&modules.old));
            }
        } else {
            let _ = writeln!(main, "OLD_MODULE = {}\n", python::block(&modules.old));
            let _ = writeln!(main, "NEW_MODULE = {}\n", python::block(&modules.new));
        }
        let PerSide { old, new } = functions.as_ref().map(|text| python::block(text));
        let _ = writeln!(main, "OLD = {old}\n\nNEW = {new}\n");
        if self.standins {
            main.push_str(&self.standin_parts(&Texts { functions: &functions, modules: &modules })?);
        }
        main.push_str(&compose(&plan.shape.features(), ""));
        let _ = write!(main, "\n\n{}\n\n{test}", self.loader(&modules));
        Ok(format!("{}\n{}\n\n{main}", self.header(), imports(&main)))
    }

    pub(super) fn header(&self) -> String {
        let name = &self.case.functions.new.qualname;
        let difference = self.case.differences.first();
        let what = difference.map_or(String::new(), |difference| {
            let cut = |text: &str| text.chars().take(200).collect::<String>();
            let PerSide { old, new } = difference.sides().map(|shown| cut(display_shown(shown)));
            format!("{}: {old} with old, {new} with new", display_place(&difference.place))
        });
        let plain: String = format!(
            "The behavior of {name} changed. {what}.\n\nFound by twincell {}, seed {}. It needs pytest, not twincell, \
             and fails on the new version:\n\n    pytest FILE                          the new version\n    \
             TWINCELL_SUBJECT=old pytest FILE     the old version\n    TWINCELL_SUBJECT=path/to/module.py pytest FILE\n",
            env!("CARGO_PKG_VERSION"),
            self.case.seed
        );
        let escaped: String = plain.chars().filter(|c| *c == '\n' || !c.is_control()).collect();
        format!("\"\"\"{}\"\"\"\n", escaped.replace('\\', "\\\\").replace('"', "\\\""))
    }
}
