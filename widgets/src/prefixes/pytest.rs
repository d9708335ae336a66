//! Prefixes as a pytest file that needs neither twincell nor the file with the code: a fixture with the values of each
//! prefix, and a test that runs the code on them.

use std::collections::BTreeSet;

use twincell_engine::protocol::{End, Raise};
use twincell_prefix::{Compact, Prefix, Prefixes};
use twincell_syntax::python::{is_builtin_exception, is_identifier, python_string};
use twincell_syntax::snippet as read_snippet;

use crate::{plain, words};

/// Why there is no test.
pub const NO_TEST: &str = "there is no test to write: the code ends behind no prefix";

const IMPORTS: &str = "\
import io
import os
import sys
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

/// The tests of the prefixes that people see. `None` if the code ends behind none of them.
pub fn prefixes_pytest(snippet: &str, prefixes: &Prefixes) -> Option<String> {
    let code = Compact::new(snippet);
    let tests: String = prefixes.kept().into_iter().filter_map(|number| test_of(number, prefixes, &code)).collect();
    (!tests.is_empty()).then(|| beginning(&code, prefixes) + &tests)
}

/// The beginning of a file, which tests of prefixes follow.
pub(crate) fn beginning(code: &Compact, prefixes: &Prefixes) -> String {
    let (imports, run) = if code.awaits { (AWAITING, RUN_AWAITING) } else { ("", RUN) };
    let text = literal(&code.text);
    let intro = "\"\"\"Runs the code below on the values that twincell found for it.\"\"\"\n";
    let (copying, there) = files(prefixes);
    let imports = format!("{imports}{}", IMPORTS.replace("import os\n", &format!("import os\n{copying}")));
    let put_back = PUT_BACK.replace("    modules = dict", &format!("{there}    modules = dict"));
    format!("{intro}\n{imports}\nCODE = {text}\n\n\n{put_back}\n\n{run}")
}

/// An import, and statements of the fixture that is used by all tests, behind which code finds the files beside it. Tests
/// change copies of them.
fn files(prefixes: &Prefixes) -> (&'static str, String) {
    let used = prefixes.beside.as_ref().filter(|used| used.problem.is_none());
    let Some(used) = used else { return ("", String::new()) };
    let mut lines = String::new();
    // What is prepended last comes first.
    for folder in used.search.iter().rev() {
        lines += &format!("    monkeypatch.syspath_prepend({})\n", python_string(folder));
    }
    if used.data.is_empty() {
        return ("", lines);
    }
    let names = used.data.iter().map(|file| python_string(file)).collect::<Vec<_>>().join(", ");
    lines += &format!("    for name in [{names}]:\n");
    lines += "        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)\n";
    lines += &format!("        shutil.copy(os.path.join({}, name), tmp_path / name)\n", python_string(&used.folder));
    ("import shutil\n", lines)
}

/// The fixture and the test of a prefix. `None` if the code does not end behind it.
pub(crate) fn test_of(number: usize, prefixes: &Prefixes, code: &Compact) -> Option<String> {
    let node = &prefixes.nodes[number];
    let raised = expected(&node.end)?;
    Some(fixture(number, node, prefixes) + &test(number, node, raised, code))
}

const RUN: &str = "\
def run(names):
    \"\"\"Runs the code. It may end with exit(0).\"\"\"
    try:
        exec(compile(CODE, '<code>', 'exec', dont_inherit=True), {'__name__': '__main__', **names})
    except SystemExit as end:
        if end.args and type(end.args[0]) in (int, str) and end.args[0] != 0:
            raise
";

/// What only code needs that awaits outside of functions.
const AWAITING: &str = "import ast\nimport asyncio\n";

const RUN_AWAITING: &str = "\
def run(names):
    \"\"\"Runs the code, which awaits. It may end with exit(0).\"\"\"
    code = compile(CODE, '<code>', 'exec', ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    try:
        asyncio.run(eval(code, {'__name__': '__main__', **names}))
    except SystemExit as end:
        if end.args and type(end.args[0]) in (int, str) and end.args[0] != 0:
            raise
";

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

fn test(number: usize, node: &Prefix, raised: Option<&Raise>, code: &Compact) -> String {
    let bound: BTreeSet<String> = read_snippet(&node.text).bound;
    let fixture = format!("prefix_{number}");
    let run = format!("run({fixture})");
    let head = format!("\n\ndef test_{fixture}({fixture}):\n");
    let Some(raise) = raised else { return format!("{head}    {run}\n") };
    let class = plain::sentence(&raise.class);
    let place = match code.line(raise.line).filter(|_| raise.in_snippet) {
        Some(line) => format!("Line {line} of the code"),
        None => "The code".to_owned(),
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
