//! The body of a function as a snippet.

use ruff_python_ast::Stmt;
use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_text_size::Ranged;

use twincell_syntax::parse::{parse, with_stack_for};

/// The body of a function as a snippet of its own: dedented, with `exit(...)` in place of each `return`, since nothing
/// can return from a file. `None` if the text has no function of this qualified name.
pub fn function_body(text: &str, qualname: &str) -> Option<String> {
    let (found, _) = twincell_syntax::functions(text);
    let function = found.into_iter().find(|function| function.qualname == qualname)?;
    let (first, returns) = with_stack_for(function.text.len(), || {
        let parsed = parse(&function.text);
        let Some(Stmt::FunctionDef(definition)) = parsed.suite().first() else { return None };
        let mut returns = Returns::default();
        returns.visit_body(&definition.body);
        Some((definition.body.first()?.start().to_usize(), returns.0))
    })?;
    let mut body = function.text.clone();
    for (start, value) in returns.into_iter().rev() {
        match value {
            Some((from, to)) => {
                body.insert(to, ')');
                body.replace_range(start..from, "exit(");
            }
            None => body.replace_range(start..start + "return".len(), "exit()"),
        }
    }
    let line = body[..first].rfind('\n').map_or(first, |at| at + 1);
    let indent: String = body[line..first].chars().take_while(|character| character.is_whitespace()).collect();
    let lines = body[line.max(first - indent.len())..].lines();
    let dedented: Vec<&str> = lines.map(|line| line.strip_prefix(indent.as_str()).unwrap_or(line)).collect();
    Some(dedented.join("\n") + "\n")
}

/// Where the body's own `return` statements stand, with the range of their values.
#[derive(Default)]
struct Returns(Vec<(usize, Option<(usize, usize)>)>);

impl Visitor<'_> for Returns {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Return(node) => {
                let value = node.value.as_ref().map(|value| (value.start().to_usize(), node.end().to_usize()));
                self.0.push((node.start().to_usize(), value));
            }
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            _ => walk_stmt(self, statement),
        }
    }
}
