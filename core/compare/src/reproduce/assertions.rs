//! The text of what a test checks: the statements before its call, the contexts around it, and the assertions after it.

use super::plan::{Check, Moment, Operand, Raises, TestPlan};
use super::python;

impl TestPlan {
    /// The statements before the call.
    pub(super) fn before(&self) -> impl Iterator<Item = String> {
        self.checks.iter().flat_map(Check::before)
    }

    /// The statements after it.
    pub(super) fn after(&self) -> impl Iterator<Item = String> {
        self.checks.iter().map(Check::assertion)
    }

    /// The contexts that record what the call writes.
    pub(super) fn recording(&self) -> Vec<String> {
        let messages = self.looks_at(&Operand::Log).then(|| "Messages()".to_owned());
        let captured = self.checks.iter().filter_map(|check| match check {
            Check::Equal(Operand::Output(name), _) => {
                Some(format!("contextlib.redirect_{name}(io.StringIO()) as {name}"))
            }
            _ => None,
        });
        messages.into_iter().chain(captured).collect()
    }

    /// The context that expects the exception.
    pub(super) fn raising(&self) -> Option<String> {
        self.raises.as_ref().map(|raises| match raises {
            Raises::Anything => "contextlib.suppress(BaseException)".to_owned(),
            Raises::Class(class) => {
                let name = if self.looks_at(&Operand::Caught) { " as caught" } else { "" };
                format!("pytest.raises({class}){name}")
            }
        })
    }

    /// The statement for each item of the generator that the call gives.
    pub(super) fn each_item(&self) -> Option<String> {
        self.checks.iter().rev().find_map(|check| match check {
            Check::EachTime { when: Moment::Item, found, .. } => Some(format!("seen.append({})", found.source())),
            _ => None,
        })
    }
}

impl Check {
    fn before(&self) -> Vec<String> {
        match self {
            Check::WithBefore(operand, _) => vec![format!("before = {}", operand.source())],
            Check::EachTime { when, found, starts_equal, .. } => {
                let found = found.source();
                let start = starts_equal.then(|| format!("before = {found}"));
                let looking = match when {
                    Moment::Call(callee) => vec![format!("watched[{}] = lambda *given: {found}", masked(callee))],
                    Moment::MockCall(mock) => vec![
                        "seen = []".to_owned(),
                        format!("{}.side_effect = lambda *_, **__: seen.append({found})", mock.source()),
                    ],
                    Moment::Item => vec![],
                };
                looking.into_iter().chain(start).collect()
            }
            _ => vec![],
        }
    }

    /// The statement that fails where it does not hold.
    pub(super) fn assertion(&self) -> String {
        match self {
            Check::Equal(operand, equality) => equality.of(&operand.source()),
            Check::Identical(one, other, holds) => {
                format!("assert {} {} {}", one.source(), if *holds { "is" } else { "is not" }, other.source())
            }
            Check::Repeats(holds) => format!("assert again {} result", if *holds { "==" } else { "!=" }),
            Check::WithBefore(operand, sign) => format!("assert {} {sign} before", operand.source()),
            Check::Absent(key, container) => format!("assert {key} not in {}", container.source()),
            Check::NoAttribute(operand, name) => {
                format!("assert not hasattr({}, {})", operand.source(), python::string(name))
            }
            Check::Coroutine(is_one) => {
                format!("assert {}inspect.iscoroutine(result)", if *is_one { "" } else { "not " })
            }
            Check::MockCalled { mock, how, arguments } => {
                format!("{}.{how}({})", mock.source(), arguments.join(", "))
            }
            Check::EachTime { expected, .. } => format!("assert seen == [{}]", expected.join(", ")),
        }
    }
}

impl Operand {
    fn source(&self) -> String {
        match self {
            Operand::Result => "result".into(),
            Operand::Again => "again".into(),
            Operand::Caught => "caught".into(),
            Operand::CalledBack => "called_back".into(),
            Operand::Stored => "stored".into(),
            Operand::Output(stream) => format!("{stream}.getvalue()"),
            Operand::Log => "log".into(),
            Operand::Calls(callees) if callees.is_empty() => "calls".into(),
            Operand::Calls(callees) => format!("[call for call in calls if {}]", is_of(callees)),
            Operand::CallCount(callees) => format!("sum({} for call in calls)", is_of(callees)),
            Operand::Global(name) => format!("names.get({})", python::string(name)),
            Operand::Answer(path) => format!("answer({})", masked(path)),
            Operand::File(argument) => format!("pathlib.Path(given[{argument}]).read_bytes()"),
            Operand::Written(name) => format!("written.get({})", python::string(name)),
            Operand::Named(expression) => expression.clone(),
            Operand::Step(operand, step) => format!("{}{step}", operand.source()),
            Operand::Applied(function, operand) => format!("{function}({})", operand.source()),
            Operand::Contains(key, container) => format!("{key} in {}", container.source()),
            Operand::Holds(operand, equality) => format!("{} {}", operand.source(), equality.condition()),
        }
    }
}

/// The condition that a recorded call is one of these callees.
fn is_of(callees: &[String]) -> String {
    let names: Vec<String> = callees.iter().map(|name| python::string(&format!("{name}("))).collect();
    let comma = if names.len() == 1 { "," } else { "" };
    format!("call.startswith(({}{comma}))", names.join(", "))
}

/// An access path as a text of the test.
fn masked(path: &str) -> String {
    python::string(&python::masked(path))
}
