//! Texts of a reproducer that are not made for it: the functions unchanged, and the imports of the names that it uses.

use std::collections::BTreeSet;

use twincell_syntax::parse::parse;
use twincell_syntax::scopes::{is_private, mangle};
use twincell_syntax::{Function, global_names};
use twincell_values::value::short_module;

use super::tables;

/// A function's text, with private names of a class that it leaves behind written out.
pub(super) fn function_text(function: &Function) -> String {
    let Some(class) = function.class_name.as_deref().filter(|_| function.text.contains("__")) else {
        return function.text.clone();
    };
    let parsed = parse(&function.text);
    let mut out = String::with_capacity(function.text.len());
    let mut from = 0;
    for token in parsed.tokens() {
        let range = ruff_text_size::Ranged::range(token);
        let (start, end) = (range.start().to_usize(), range.end().to_usize());
        let name = function.text.get(start..end).unwrap_or("");
        if token.kind() == ruff_python_ast::token::TokenKind::Name && is_private(name) {
            out.push_str(function.text.get(from..start).unwrap_or(""));
            out.push_str(&mangle(name, Some(class)));
            from = end;
        }
    }
    out.push_str(function.text.get(from..).unwrap_or(""));
    out
}

/// A text with these decorators.
pub(super) fn decorated(decorators: &[String], text: &str) -> String {
    let decorators: String = decorators.iter().map(|text| format!("@{text}\n")).collect();
    decorators + text
}

/// The name that a function has in [`function_text`], and among what its class holds.
pub(super) fn written_name(function: &Function) -> String {
    mangle(&function.name, function.class_name.as_deref())
}

/// The `import` lines for the modules of the standard library that a file's code names, and for pytest.
pub(super) fn imports(code: &str) -> String {
    const MODULES: [&str; 24] = [
        "abc",
        "array",
        "ast",
        "asyncio",
        "builtins",
        "contextlib",
        "datetime",
        "decimal",
        "functools",
        "inspect",
        "io",
        "itertools",
        "logging",
        "operator",
        "os",
        "pathlib",
        "re",
        "requests",
        "subprocess",
        "sys",
        "tempfile",
        "types",
        "urllib3",
        "warnings",
    ];
    let used = global_names(code);
    let named = MODULES.into_iter().filter(|name| used.contains(*name));
    // Compiled texts inherit this, since annotations name missing things.
    let mut text = "from __future__ import annotations\n".to_string();
    text.extend(named.map(|name| format!("\nimport {name}")));
    if used.contains("unittest") {
        text.push_str("\nimport unittest.mock");
    }
    let short = short_imports(&used);
    text.extend(short.iter().map(|line| format!("\n{line}")));
    if used.contains("pytest") {
        text.push_str("\n\nimport pytest");
    }
    text
}

/// The imports of modules that everybody knows by short names.
pub(super) fn short_imports(used: &BTreeSet<String>) -> Vec<String> {
    let line = |module: &str| {
        let short = short_module(module)?;
        used.contains(short).then(|| format!("import {module} as {short}"))
    };
    let mut lines: Vec<String> = ["numpy", "pandas", "polars"].into_iter().filter_map(line).collect();
    let of_testing = [tables::POLARS_FRAME_EQUAL, tables::POLARS_SERIES_EQUAL].into_iter();
    lines.extend(
        of_testing.filter(|name| used.contains(*name)).map(|name| format!("from polars.testing import {name}")),
    );
    lines
}

/// A text of words, in lines that are not too long.
pub(super) fn block_of_words(text: &str) -> String {
    const WIDTH: usize = 100;
    let mut out = String::new();
    let mut width = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > WIDTH {
            out.push('\n');
            width = 0;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += length;
    }
    out
}
