//! The test function: the call on the values of the witness, and the assertion.

use std::collections::BTreeMap;
use std::fmt::Write;

use twincell_syntax::PerSide;
use twincell_syntax::python::is_identifier;
use twincell_values::path::AccessPath;
use twincell_values::value::{Decision, Recipe};

use super::arguments::{Argument, source};
use super::plan::{Check, Operand, TestPlan};
use super::python;
use super::refusal::Refusal;
use super::writer::Writer;

/// Statements within context managers.
fn within(around: &[String], statements: &str) -> String {
    if around.is_empty() {
        return format!("{statements}\n");
    }
    let inner: String = statements.lines().map(|line| format!("    {line}\n")).collect();
    format!("with {}:\n{inner}", around.join(", "))
}

impl Writer<'_> {
    /// The test function.
    pub(super) fn test(&mut self, plan: &TestPlan) -> Result<String, Refusal> {
        let case = self.case;
        let mut lines: Vec<String> = Vec::new();
        let mut bound: BTreeMap<String, String> = BTreeMap::new();
        let calls = PerSide::try_of(|side| {
            let passed = self.arguments(side)?;
            Ok::<_, Refusal>(source(&passed, &mut |argument| self.value(argument, plan, &mut bound)))
        })?;
        lines.push(format!("{} = load()", self.called()));
        lines.extend(bound.iter().map(|(name, value)| format!("{name} = {value}")));
        lines.extend(plan.before());
        let call = if calls.old == calls.new {
            format!("{}({})", self.called(), calls.old)
        } else {
            // Each version has its own way to be called.
            lines.push(format!("old, new = lambda: {0}({1}), lambda: {0}({2})", self.called(), calls.old, calls.new));
            let names = PerSide::of(|side| {
                let parameters = &case.functions[side].parameters;
                parameters.iter().map(|parameter| python::string(&parameter.name)).collect::<Vec<_>>().join(", ")
            });
            let is_old = if names.old == names.new {
                "SUBJECT == 'old'".to_string()
            } else {
                // For a whole file, too, it is then known which version it has.
                format!("[*inspect.signature({}).parameters] == [{}]", self.called(), names.old)
            };
            format!("(old if {is_old} else new)()")
        };
        let is_named = plan.looks_at(&Operand::Result);
        let mut call = match (plan.each_item(), plan.shape.called(&call)) {
            // As many items as were observed.
            (Some(statement), _) => format!("for _ in itertools.islice({call}, 20):\n    {statement}"),
            (None, Some((made, step))) if plan.again => format!("made = {made}\nresult = {step}\nagain = {step}"),
            _ => {
                let call = plan.shape.around(&call);
                let named = if is_named || plan.again { format!("result = {call}") } else { call.clone() };
                if plan.again { format!("{named}\nagain = {call}") } else { named }
            }
        };
        if plan.checks.iter().any(|check| matches!(check, Check::Coroutine(_))) {
            call.push_str("\ngetattr(result, 'close', lambda: None)()");
        }
        let raises = plan.raising();
        // Functions that were handed over are called also if the call itself failed.
        let handed = self.calling_handed(plan);
        let inner = raises.clone().filter(|_| !handed.is_empty());
        let call = match &inner {
            Some(inner) => format!("{}{handed}", within(std::slice::from_ref(inner), &call)),
            None if handed.is_empty() => call,
            None => format!("{call}\n{handed}"),
        };
        let (patching, call) = self.patching(&call, plan);
        let mut around: Vec<String> = patching.into_iter().collect();
        around.extend(plan.recording());
        around.extend(raises.filter(|_| inner.is_none()));
        lines.extend(within(&around, &call).lines().map(String::from));
        lines.extend(plan.after());
        let name: String =
            case.functions.new.name.trim_matches('_').chars().filter(|c| c.is_alphanumeric() || *c == '_').collect();
        let mut text = format!("def test_{name}():\n");
        for line in lines {
            let _ = writeln!(text, "    {line}");
        }
        Ok(text)
    }

    /// Calls the functions that were handed over or stored; nothing where there are none.
    fn calling_handed(&self, plan: &TestPlan) -> String {
        let mut lines = Vec::new();
        if self.standins && self.case.calls_back() {
            lines.push(
                if plan.looks_at(&Operand::CalledBack) { "called_back = call_back()" } else { "call_back()" }
                    .to_string(),
            );
        }
        let stored = if self.standins { self.case.stored() } else { BTreeMap::new() };
        if !stored.is_empty() {
            let place = |(path, (holder, step)): (&&str, &(&str, &str))| {
                let parts = [path, holder].map(|path| python::string(&python::masked(path)));
                format!("({}, {}, {})", parts[0], parts[1], python::string(step))
            };
            let places: Vec<String> = stored.iter().map(place).collect();
            let named = if plan.looks_at(&Operand::Stored) { "stored = " } else { "" };
            lines.push(format!("{named}call_stored({})", places.join(", ")));
        }
        lines.join("\n")
    }

    /// The name of the function in the test.
    pub(super) fn called(&self) -> &'static str {
        "function"
    }

    /// An argument's source. An argument that is examined after the call gets a name.
    pub(super) fn value(
        &mut self,
        argument: &Argument,
        plan: &TestPlan,
        bound: &mut BTreeMap<String, String>,
    ) -> String {
        let path = python::string(&python::masked(&argument.path));
        let value = match &argument.value {
            None => self.receiver(&argument.path),
            Some(recipe) if self.standins && self.is_asked(&argument.path, recipe) => {
                self.looked_up.insert(argument.path.clone());
                format!("answer({path})")
            }
            Some(recipe) => python::literal(recipe),
        };
        if plan.watched.contains(&argument.path) {
            bound.insert(argument.path.clone(), value);
            return argument.path.clone();
        }
        value
    }

    /// A value that must come from the answers: it contains stand-ins, or the code asks more of it than it has.
    pub(super) fn is_asked(&self, path: &str, recipe: &Recipe) -> bool {
        let shared = |decision: &&Decision| matches!(decision, Decision::Same(other) if other == path);
        python::has_standin(recipe) || self.is_extended(path) || self.decisions.values().any(shared)
    }

    pub(super) fn is_extended(&self, path: &str) -> bool {
        self.decisions.keys().any(|other| AccessPath::new(other).beyond(path).is_some())
    }

    /// `self` or `cls`.
    pub(super) fn receiver(&mut self, path: &str) -> String {
        let owner = self.method().qualname.rsplit_once('.').map(|(owner, _)| owner.to_string());
        let owner = owner.filter(|owner| self.has_own_class() && owner.split('.').all(is_identifier));
        let Some(owner) = owner else {
            return if self.standins { format!("answer({})", python::string(path)) } else { "object()".into() };
        };
        if self.standins {
            return format!("receiver({}, {})", python::string(path), python::string(&owner));
        }
        let mut parts = owner.split('.');
        let first = python::string(parts.next().unwrap_or_default());
        let class = parts.fold(format!("names[{first}]"), |class, part| format!("{class}.{part}"));
        if path == "self" { format!("{class}.__new__({class})") } else { class }
    }
}
