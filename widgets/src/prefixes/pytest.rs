//! Prefixes as a pytest file that needs neither twincell nor the file with the code: a fixture with the values of each
//! prefix, and a test that runs the code on them.

use std::collections::BTreeSet;

use twincell_engine::protocol::{End, Raise};
use twincell_prefix::{Prefix, Prefixes};
use twincell_syntax::python::{is_builtin_exception, is_identifier, python_string};
use twincell_syntax::{Function, Parameter, ParameterKind, snippet as read_snippet};

use crate::{plain, words};

/// Why there is no test.
pub const NO_TEST: &str = "there is no test to write: the code ends behind no prefix";

const IMPORTS: &str = "\
import io
import os
import sys
from contextlib import suppress
from types import ModuleType

import pytest
";

const PUT_BACK: &str = "\
@pytest.fixture(autouse=True)
def put_back(tmp_path, monkeypatch):
    \"\"\"Puts back what the code and its values change outside of themselves.\"\"\"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, 'argv', ['program'])
    monkeypatch.setattr(sys, 'stdin', io.StringIO())
    monkeypatch.setattr(os, 'environ', os.environ.copy())
    modules = dict(sys.modules)
    yield
    for name, module in list(sys.modules.items()):
        if name in modules:
            sys.modules[name] = modules[name]
        elif not isinstance(module, ModuleType):
            del sys.modules[name]
";

/// The tests of the prefixes that people see. `function` is the one whose body is the snippet: the tests call it. `None`
/// if the code ends behind none of them.
pub fn prefixes_pytest(snippet: &str, function: Option<&Function>, prefixes: &Prefixes) -> Option<String> {
    let function = function.filter(|function| can_be_called(function, snippet, prefixes));
    let mut tests = String::new();
    for number in prefixes.kept() {
        let node = &prefixes.nodes[number];
        let Some(raised) = expected(&node.end) else { continue };
        tests += &fixture(number, node, prefixes);
        tests += &test(number, node, raised, function);
    }
    if tests.is_empty() {
        return None;
    }
    let code = literal(function.map_or(snippet, |function| &function.text));
    let run = match function {
        None => RUN.to_owned(),
        Some(function) => CALL.replace("NAME", &python_string(&function.name)),
    };
    let intro = "\"\"\"Runs the code below on the values that twincell found for it.\"\"\"\n";
    Some(format!("{intro}\n{IMPORTS}\nCODE = {code}\n\n\n{PUT_BACK}\n\n{run}{tests}"))
}

const RUN: &str = "\
def run(names):
    \"\"\"Runs the code. It may end with exit().\"\"\"
    with suppress(SystemExit):
        exec(compile(CODE, '<code>', 'exec', dont_inherit=True), {'__name__': '__main__', **names})
";

const CALL: &str = "\
def call(names, *arguments, **keywords):
    \"\"\"Calls the function. It may end with exit().\"\"\"
    names = {'__name__': '__main__', **names}
    exec(compile(CODE, '<code>', 'exec', dont_inherit=True), names)
    with suppress(SystemExit):
        names[NAME](*arguments, **keywords)
";

/// Whether a call does the same as the body: a prefix gives no value to what only the body binds.
fn can_be_called(function: &Function, body: &str, prefixes: &Prefixes) -> bool {
    let is_parameter = |name: &String| function.parameters.iter().any(|parameter| parameter.name == *name);
    let bound = read_snippet(body).bound;
    is_identifier(&function.name) && !prefixes.undefined.iter().any(|name| bound.contains(name) && !is_parameter(name))
}

/// How the code ends: by itself (`Some(None)`), with an exception, or in no way that a test could wait for.
fn expected(end: &End) -> Option<Option<&Raise>> {
    match end {
        End::Whole => Some(None),
        End::Raised(raise) if raise.begun => Some(Some(raise)),
        _ => None,
    }
}

fn fixture(number: usize, node: &Prefix, prefixes: &Prefixes) -> String {
    let mut ran: Vec<u32> = node.completed.clone();
    ran.retain(|line| prefixes.lines.binary_search(line).is_ok());
    let all = words::count(prefixes.lines.len(), "line");
    let head = format!(
        "\n\n@pytest.fixture\ndef prefix_{number}():\n    \"\"\"What {} of {all} need to run.\"\"\"\n",
        ran.len()
    );
    let text = node.text.trim_end();
    if text.is_empty() {
        return format!("{head}    return {{}}\n");
    }
    if !fits_a_function(text) {
        let text = literal(text);
        return format!("{head}    names = {{}}\n    exec({text}, names)\n    return names\n");
    }
    let indented: String =
        text.lines().map(|line| if line.is_empty() { "\n".into() } else { format!("    {line}\n") }).collect();
    let gap = if text.lines().last().is_some_and(|line| line.starts_with(' ')) { "\n" } else { "" };
    format!("{head}{indented}{gap}    return locals()\n")
}

/// Whether statements of a module mean the same in a function's body, where they are indented.
fn fits_a_function(text: &str) -> bool {
    !["\"\"\"", "'''", "\\\n", "import *", "global ", "nonlocal ", "globals(", "locals("]
        .iter()
        .any(|part| text.contains(part))
}

fn test(number: usize, node: &Prefix, raised: Option<&Raise>, function: Option<&Function>) -> String {
    let bound: BTreeSet<String> = read_snippet(&node.text).bound;
    let fixture = format!("prefix_{number}");
    let run = match function {
        None => format!("run({fixture})"),
        Some(function) => {
            let given = function.parameters.iter().filter_map(|parameter| argument(parameter, &fixture, &bound));
            let arguments: Vec<String> = std::iter::once(fixture.clone()).chain(given).collect();
            format!("call({})", arguments.join(", "))
        }
    };
    let head = format!("\n\ndef test_{fixture}({fixture}):\n");
    let Some(raise) = raised else { return format!("{head}    {run}\n") };
    let class = plain::sentence(&raise.class);
    // A function's lines are not those of its body.
    let place = match function {
        None if raise.in_snippet => format!("Line {} of the code", raise.line),
        _ => "The code".to_owned(),
    };
    let doc = if is_identifier(&raise.class) { format!("    # {place} raises {class}.\n") } else { String::new() };
    if bound.contains(&raise.class) && is_identifier(&raise.class) {
        return format!("{head}{doc}    with pytest.raises({fixture}['{class}']):\n        {run}\n");
    }
    if is_builtin_exception(&raise.class) {
        return format!("{head}{doc}    with pytest.raises({class}):\n        {run}\n");
    }
    // The class is not at hand under a name.
    let base = raise.bases.iter().find(|base| is_builtin_exception(base)).map_or("BaseException", String::as_str);
    let name = python_string(&raise.class);
    format!(
        "{head}{doc}    with pytest.raises({base}) as raised:\n        {run}\n    assert type(raised.value).__name__ == {name}\n"
    )
}

/// What a call passes for a parameter. Nothing if its default serves.
fn argument(parameter: &Parameter, fixture: &str, bound: &BTreeSet<String>) -> Option<String> {
    let Parameter { name, kind, has_default, .. } = parameter;
    let value = if bound.contains(name) { format!("{fixture}['{name}']") } else { "None".to_owned() };
    match kind {
        ParameterKind::VarPositional => bound.contains(name).then(|| format!("*{value}")),
        ParameterKind::VarKeyword => bound.contains(name).then(|| format!("**{value}")),
        ParameterKind::KeywordOnly => (bound.contains(name) || !has_default).then(|| format!("{name}={value}")),
        // One in the middle cannot be left out where the next is given by its position.
        ParameterKind::Positional if *has_default => bound.contains(name).then(|| format!("{name}={value}")),
        ParameterKind::PositionalOnly | ParameterKind::Positional => Some(value),
    }
}

/// A text of several lines as a literal of Python that keeps its lines.
fn literal(text: &str) -> String {
    let mut out = String::from("\"\"\"\\\n");
    for character in text.chars() {
        match character {
            '\\' => out += "\\\\",
            '\n' | '\t' => out.push(character),
            '\0'..' ' | '\u{7f}' => out += &format!("\\x{:02x}", u32::from(character)),
            _ => out.push(character),
        }
    }
    let body = out.split_off("\"\"\"\\\n".len()).replace("\"\"\"", "\\\"\\\"\\\"");
    let end = if body.ends_with('\n') { "" } else { "\n" };
    format!("{out}{body}{end}\"\"\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_means_its_text() {
        assert_eq!(literal("x = 1\n"), "\"\"\"\\\nx = 1\n\"\"\"");
        assert_eq!(literal("'\\n' + \"\"\"a\"\"\""), "\"\"\"\\\n'\\\\n' + \\\"\\\"\\\"a\\\"\\\"\\\"\n\"\"\"");
        assert_eq!(literal("a\u{1b}"), "\"\"\"\\\na\\x1b\n\"\"\"");
    }
}
