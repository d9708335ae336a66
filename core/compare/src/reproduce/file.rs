//! The text of a reproducer, composed of its parts.

use std::collections::BTreeSet;
use std::fmt::Write;

use twincell_behavior::{display_place, display_shown};
use twincell_engine::protocol::{Body, Context};
use twincell_syntax::parse::parse;
use twincell_syntax::scopes::Bindings;
use twincell_syntax::{Function, PerSide, Side};
use twincell_values::path::{AccessPath, Question};
use twincell_values::value::Decision;

use super::arguments::{Argument, Decisions, arguments};
use super::checks::{Checks, checks};
use super::in_project::ProjectTest;
use super::method::calls_its_class;
use super::parts::compose;
use super::recorded::Texts;
use super::refusal::Refusal;
use super::text::{decorated, function_text, imports};
use super::words::Words;
use super::{Case, python, slice};

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
    /// The styles in which a reproducer may be written, the best one first. Where a method calls others of its class, a mock
    /// in place of its object would answer for them, also in a table of several witnesses.
    pub(super) fn of(case: &Case<'_>) -> Vec<Style> {
        let (functions, others) = ([Style::Alone, Style::Direct], [Style::Plain, Style::Standins, Style::Whole]);
        match (calls_its_class(case), case.further) {
            (true, []) => [Style::OnObject].into_iter().chain(others).chain(functions).collect(),
            (true, _) => vec![Style::OnObject],
            (false, _) => functions.into_iter().chain([Style::OnObject]).chain(others).collect(),
        }
    }

    pub(super) fn has_standins(self) -> bool {
        matches!(self, Style::Standins | Style::Whole)
    }
}

/// A reproducer, and the same test for the project, where it can be written.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) in_project: Option<ProjectTest>,
}

/// Writes a reproducer in one style, or says why this is impossible.
pub(super) fn write(case: &Case<'_>, style: Style) -> Result<Written, Refusal> {
    let mut writer = Writer::new(case, style);
    if let Some(object) = writer.decisions.values().find_map(|decision| python::given_object(decision)) {
        return Err(Refusal::GivenObject(object));
    }
    let text = writer.text()?;
    Ok(Written { text, in_project: writer.in_project })
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

/// Whether a name stands for the object or class of a method.
fn is_receiver(name: &str) -> bool {
    matches!(name, "self" | "cls" | "mcs")
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
        let checks = checks(case, standins)?;
        if !standins {
            self.refuse_objects()?;
        }
        let test = self.test(&checks)?;
        self.whole(&checks, &test)
    }

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

    /// A call during which modules lack these parts, mappings have these items and the machine is that of this execution,
    /// and the context that this needs.
    pub(super) fn patching(&self, call: &str) -> (Option<String>, String) {
        let mut lines: Vec<String> = self.machine();
        lines.extend(self.lacking().iter().map(|part| format!("patch.delattr({})\n", python::string(part))));
        lines.extend(self.fills().iter().map(|fill| format!("{fill}\n")));
        if lines.is_empty() {
            return (None, call.to_string());
        }
        (Some("pytest.MonkeyPatch.context() as patch".into()), lines.into_iter().chain([call.to_string()]).collect())
    }

    /// Items that were injected because a mapping of the process or of the module lacked them: `os.environ['HOME']`.
    pub(super) fn fills(&self) -> Vec<String> {
        if !self.standins || self.case.context != Context::Module {
            return vec![];
        }
        let fill = |path: &str| {
            let (place, key) = AccessPath::new(path).split_item()?;
            let root = place.as_str().split('.').next().unwrap_or_default();
            let is_plain = key.starts_with(['\'', '"']) || key.parse::<i64>().is_ok();
            let is_real = place.is_dotted() && !self.decisions.contains_key(root) && !self.is_shared(root);
            let (place, path) = (python::string(place.as_str()), python::string(&python::masked(path)));
            (is_plain && is_real && !is_receiver(root)).then(|| format!("fill(patch, {place}, {key}, {path})"))
        };
        let choices = self.case.record.choices.iter().filter(|choice| !self.is_set_on_machine(&choice.path));
        let values = choices.filter(|choice| matches!(choice.decision, Decision::Value(_)));
        values
            .filter(|choice| matches!(Question::parse(&choice.path), Question::Value(_)))
            .filter_map(|choice| fill(&choice.path))
            .collect()
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

    /// The injected values that are written with names of the module, a line each.
    pub(super) fn values_in_module(&self) -> String {
        let values = self.case.record.choices.iter().filter_map(|choice| match &choice.decision {
            Decision::Value(recipe) => Some(python::in_module(recipe)),
            _ => None,
        });
        values.flatten().map(|text| format!("\n{text}")).collect()
    }

    /// The file as a whole.
    pub(super) fn whole(&mut self, checks: &Checks, test: &str) -> Result<String, Refusal> {
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
        main.push_str(&compose(&checks.shape.features(), ""));
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
