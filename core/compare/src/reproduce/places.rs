//! Values that a test puts in the place of real ones: globals and class attributes of the module, environment variables,
//! the command line, the platform.

use twincell_engine::observed::Slot;
use twincell_engine::protocol::Context;
use twincell_syntax::python::is_identifier;
use twincell_values::path::{AccessPath, EVERYTHING, Outside, Question, environment_key};
use twincell_values::value::{Choice, Decision, Recipe};

use super::outside::WRITTEN;
use super::plan::{Check, Operand, TestPlan};
use super::python;
use super::writer::Writer;

/// What the machine tells a program, besides its environment.
const OF_THE_MACHINE: [&str; 4] = ["sys.argv", "sys.platform", "os.name", "platform.system()"];

/// Whether a path is of a value that the machine tells.
fn is_of_machine(path: &str) -> bool {
    environment_key(path.into()).is_some() || OF_THE_MACHINE.contains(&path)
}

/// Whether a name stands for the object or class of a method.
fn is_receiver(name: &str) -> bool {
    matches!(name, "self" | "cls" | "mcs")
}

impl Writer<'_> {
    /// A call during which modules lack these parts, mappings have these items and the machine and the files are those of
    /// this execution, and the context that this needs.
    pub(super) fn patching(&self, call: &str, plan: &TestPlan) -> (Option<String>, String) {
        let mut lines: Vec<String> = self.machine();
        let written = plan.checks.iter().any(|check| matches!(check, Check::Equal(Operand::Written(_), _)));
        let writes = self.case.record.behaviors.iter().flat_map(|behavior| &behavior.arguments);
        let files = self.files(written || writes.into_iter().any(|(slot, _)| matches!(slot, Slot::File(_))));
        let context = match files.is_empty() {
            true => "pytest.MonkeyPatch.context() as patch",
            false => "tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch",
        };
        lines.extend(files);
        lines.extend(self.answers_from_outside());
        lines.extend(self.lacking().iter().map(|part| format!("patch.delattr({})\n", python::string(part))));
        lines.extend(self.fills().iter().map(|fill| format!("{fill}\n")));
        if lines.is_empty() {
            return (None, call.to_string());
        }
        let after = if written { format!("\n{WRITTEN}") } else { String::new() };
        (Some(context.into()), lines.into_iter().chain([format!("{call}{after}")]).collect())
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

    /// The values in the place of real ones, by the paths under which the code reads them.
    fn in_place(&self) -> impl Iterator<Item = (&str, &Recipe)> {
        let is_of_module = self.case.context == Context::Module;
        self.decisions.iter().filter_map(move |(&path, &decision)| {
            let replaced = Question::replaced(path, decision).filter(|name| *name != EVERYTHING);
            // A variable that is not set here was invented.
            let is_decided = || self.decisions.contains_key(Question::Injected(path).to_string().as_str());
            let is_invented = is_of_module && environment_key(path.into()).is_some() && !is_decided();
            let name = replaced.or(is_invented.then_some(path))?;
            match self.decisions.get(name)? {
                Decision::Value(value) => Some((name, value)),
                _ => None,
            }
        })
    }

    /// Whether the test sets the value of a path before the call.
    pub(super) fn is_in_place(&self, path: &str) -> bool {
        self.in_place().any(|(name, value)| name == path && !python::has_standin(value))
    }

    /// Whether the test sets what the machine tells, or what is outside, at a path.
    pub(super) fn is_set_on_machine(&self, path: &str) -> bool {
        is_of_machine(path) && self.is_in_place(path) || Outside::of(path.into()).is_some()
    }

    /// The decisions without those about the machine.
    pub(super) fn choices_beside_machine(&self) -> Vec<Choice> {
        let is_kept = |choice: &&Choice| match Question::parse(&choice.path) {
            Question::Injected(name) => !is_of_machine(name),
            _ => !self.is_set_on_machine(&choice.path),
        };
        self.case.record.choices.iter().filter(is_kept).cloned().collect()
    }

    /// Lines of a test that set what the machine tells.
    pub(super) fn machine(&self) -> Vec<String> {
        let line = |(path, value): (&str, &Recipe)| {
            let text = python::literal(value);
            match (environment_key(path.into()), path, value) {
                (Some(key), _, Recipe::None) => format!("patch.delenv({}, raising=False)\n", python::string(key)),
                (Some(key), ..) => format!("patch.setenv({}, {text})\n", python::string(key)),
                (None, "platform.system()", _) => format!("patch.setattr('platform.system', lambda: {text})\n"),
                (None, ..) => format!("patch.setattr({}, {text})\n", python::string(path)),
            }
        };
        self.in_place().filter(|(path, _)| is_of_machine(path)).map(line).collect()
    }

    /// Lines of `load` that set globals and class attributes of the module.
    pub(super) fn set_in_module(&self) -> String {
        let method = self.method();
        let own = method.parameters.first().filter(|_| method.class_name.is_some());
        let owner = method.qualname.rsplit_once('.').map(|(owner, _)| owner);
        let line = |(path, value): (&str, &Recipe)| {
            let value = if self.standins && self.is_asked(path, value) {
                format!("answer({})", python::string(&python::masked(path)))
            } else if python::has_standin(value) {
                return None;
            } else {
                python::literal(value)
            };
            let Some((holder, name)) = AccessPath::new(path).split_attribute() else {
                return is_identifier(path).then(|| format!("    names['{path}'] = {value}\n"));
            };
            let holder = match own {
                Some(own) if own.name == holder.as_str() => owner?,
                _ => holder.as_str(),
            };
            let mut parts = holder.split('.');
            let first = format!("names['{}']", parts.next().filter(|part| is_identifier(part))?);
            let class = parts.fold(first, |class, part| format!("{class}.{part}"));
            Some(format!("    setattr({class}, '{name}', {value})\n"))
        };
        self.in_place().filter(|(path, _)| !is_of_machine(path)).filter_map(line).collect()
    }
}
