//! An answer of a language model as the parts of a prefix. Models wrap their JSON, cut it off, and write Python instead:
//! what can be read is taken, and the rest is dropped.

use ruff_python_ast::{Stmt, StmtImportFrom};
use ruff_text_size::Ranged;
use serde::Deserialize;

use twincell_syntax::parse::{parse, with_stack_for};
use twincell_syntax::{functions, too_deep};

use crate::code::{Code, Statement, TypeCounts};

/// More than any prefix needs, in bytes.
const MAX_BYTES: usize = 64 << 10;

/// What the prompts ask for.
#[derive(Debug, Default, Deserialize)]
struct Response {
    #[serde(default)]
    imports: Texts,
    #[serde(default)]
    initialization: Texts,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Texts {
    Many(Vec<String>),
    One(String),
}

impl Default for Texts {
    fn default() -> Self {
        Self::Many(vec![])
    }
}

impl Texts {
    fn pieces(self) -> Vec<String> {
        match self {
            Self::Many(texts) => texts,
            Self::One(text) => vec![text],
        }
    }
}

/// The prefix in an answer. `None` if there is none that could run.
pub(crate) fn code(answer: &str) -> Option<Code> {
    let pieces = pieces(answer)?;
    let whole = pieces.join("\n");
    // Where a piece is no Python, the others may be.
    let text = if is_python(&whole) {
        whole
    } else {
        pieces.into_iter().filter(|piece| is_python(piece)).collect::<Vec<_>>().join("\n")
    };
    let statements = statements(&text);
    (!statements.is_empty()).then(|| Code { statements, ..Code::default() })
}

/// The pieces of Python in an answer, imports first.
fn pieces(answer: &str) -> Option<Vec<String>> {
    let response = answer.find('{').and_then(|begin| {
        let json = &answer[begin..];
        first_value(json).or_else(|| first_value(&closed(json)?))
    });
    let pieces: Vec<String> = match response {
        Some(Response { imports, initialization }) => {
            imports.pieces().into_iter().chain(initialization.pieces()).collect()
        }
        None => vec![fenced(answer)?.to_owned()],
    };
    let is_plain = |text: &String| text.chars().all(|it| !it.is_control() || matches!(it, '\n' | '\t' | '\r'));
    let size: usize = pieces.iter().map(String::len).sum();
    (size <= MAX_BYTES && pieces.iter().all(is_plain)).then_some(pieces)
}

/// The JSON value at the beginning of a text, whatever comes after it.
fn first_value(text: &str) -> Option<Response> {
    serde_json::Deserializer::from_str(text).into_iter::<Response>().next()?.ok()
}

/// JSON that was cut off, closed after its last whole item.
fn closed(text: &str) -> Option<String> {
    let (mut open, mut is_in_string, mut is_escaped, mut last) = (Vec::new(), false, false, None);
    for (at, character) in text.char_indices() {
        if is_in_string {
            match character {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '"' => {
                    is_in_string = false;
                    // A string in an array is an item. One in an object may be a key.
                    if open.last() == Some(&']') {
                        last = Some((at + 1, open.clone()));
                    }
                }
                _ => {}
            }
            continue;
        }
        match character {
            '"' => is_in_string = true,
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => {
                if open.pop() != Some(character) {
                    return None;
                }
                last = Some((at + 1, open.clone()));
            }
            _ => {}
        }
    }
    let (end, open) = last?;
    let closing: String = open.iter().rev().collect();
    Some(format!("{}{closing}", &text[..end]))
}

/// The first block between fences.
fn fenced(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("```")?;
    let (_, rest) = rest.split_once('\n')?;
    Some(rest.split_once("```").map_or(rest, |(block, _)| block))
}

fn is_python(text: &str) -> bool {
    too_deep(text).is_none() && functions(text).1.is_empty()
}

/// The statements of a text at its top level, one part each.
fn statements(text: &str) -> Vec<Statement> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    with_stack_for(text.len(), || {
        let parsed = parse(&text);
        let mut found = Vec::new();
        for statement in parsed.suite() {
            // The snippet has its own, which stand first.
            let is_future = |import: &StmtImportFrom| import.module.as_ref().is_some_and(|name| name == "__future__");
            if matches!(statement, Stmt::ImportFrom(import) if is_future(import)) {
                continue;
            }
            let source = &text[statement.range()];
            let is_block = matches!(statement, Stmt::FunctionDef(_) | Stmt::ClassDef(_));
            found.push(match is_block {
                true => Statement::block(source, TypeCounts::new()),
                false => Statement::line(source, TypeCounts::new()),
            });
        }
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(answer: &str) -> Option<String> {
        code(answer).map(|code| code.text())
    }

    #[test]
    fn what_can_be_read_of_an_answer_is_taken() {
        let whole = "import json\nx = 1\n";
        for answer in [
            r#"{"imports": ["import json"], "initialization": ["x = 1"]}"#,
            "Sure!\n```json\n{\"imports\": [\"import json\"], \"initialization\": [\"x = 1\"]}\n```\nHave fun {",
            r#"{"imports": "import json", "initialization": "x = 1"}"#,
            r#"{"imports": ["import json"], "initialization": ["x = 1", "y = "#,
            r#"{"imports": ["import json", "import from"], "initialization": ["x = 1", "y = = 2"]}"#,
            r#"{"imports": ["from __future__ import annotations", "import json"], "initialization": ["x = 1"]}"#,
            "```python\nimport json\nx = 1\n```",
        ] {
            assert_eq!(text(answer).as_deref(), Some(whole), "{answer}");
        }
        let split = r#"{"initialization": ["def f(a):", "    return a", "x = f(1)"]}"#;
        assert_eq!(text(split).as_deref(), Some("def f(a):\n    return a\n\nx = f(1)\n"));
    }

    #[test]
    fn what_cannot_be_read_is_dropped() {
        let deep = format!("{{\"initialization\": [\"x = {}\"]}}", "(".repeat(5000));
        let long = format!("{{\"initialization\": [\"x = '{}'\"]}}", "a".repeat(MAX_BYTES));
        for answer in ["", "I cannot help with that.", "{\"a\": ", "[[[", "{}", r#"{"imports": 5}"#, &deep, &long] {
            assert_eq!(text(answer), None, "{answer:.60}");
        }
        assert_eq!(text("{\"initialization\": [\"x = '\\u001b[2J'\"]}"), None, "no control characters");
    }
}
