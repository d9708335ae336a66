//! Lines that only notebooks understand: `%magic`, `!shell`, `files = !ls`.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, IpyEscapeKind, PySourceType, Stmt};
use ruff_python_parser::parse_unchecked_source;
use ruff_text_size::{Ranged, TextRange};

use super::parse::{Lines, errors, normalize_newlines, parse, with_stack_for};

/// The text as plain Python, with the lines (1-based) that were rewritten. As in IPython, magics and shell commands
/// become calls of `get_ipython()`, which is missing and therefore injected. `None` if the text already is plain
/// Python, or if it is not a notebook's text either.
pub fn plain_python(text: &str) -> Option<(String, Vec<u32>)> {
    let text = normalize_newlines(text);
    with_stack_for(text.len(), || {
        let found = escapes(&text)?;
        let mut plain = text.to_string();
        for (range, call) in found.iter().rev() {
            let breaks = text.get(range.to_std_range()).unwrap_or_default().matches('\n').count();
            plain.replace_range(range.to_std_range(), &format!("{call}{}", "\n".repeat(breaks)));
        }
        let lines = Lines::new(&text);
        let rewritten = found.iter().map(|(range, _)| lines.line(range.start())).collect();
        Some((plain, rewritten))
    })
}

/// The Python that a cell runs, on its own lines. `None` where a cell magic makes something else of it, as `%%bash` does.
pub fn cell_code(cell: &str) -> Option<String> {
    let begin = cell.len() - cell.trim_start().len();
    let Some(rest) = cell[begin..].strip_prefix("%%") else { return Some(cell.to_owned()) };
    let (line, body) = rest.split_once('\n').unwrap_or((rest, ""));
    let breaks = cell[..begin].matches('\n').count() + 1;
    line.split_whitespace().next().is_some_and(runs_python).then(|| format!("{}{body}", "\n".repeat(breaks)))
}

/// Whether the cell magic of this name runs the rest of its cell as the notebook's own code.
pub fn runs_python(magic: &str) -> bool {
    matches!(magic, "time" | "capture" | "prun")
}

/// The text with a number in place of every magic and shell command. Each number is as long as the text that it
/// replaces, so that positions stay the same. `None` as for [`plain_python`].
pub fn without_escapes(text: &str) -> Option<String> {
    with_stack_for(text.len(), || {
        let found = escapes(text)?;
        let mut plain = text.to_owned();
        for (range, _) in found.iter().rev() {
            // Continuation lines remain, behind backslashes.
            let escape = text.get(range.to_std_range()).unwrap_or_default();
            let mut characters = escape.chars().peekable();
            let mut blank = String::with_capacity(escape.len());
            while let Some(character) = characters.next() {
                let continues = character == '\\' && matches!(characters.peek(), Some('\n' | '\r'));
                blank.push(if continues || matches!(character, '\n' | '\r') { character } else { ' ' });
            }
            if blank.starts_with(' ') {
                blank.replace_range(..1, "0");
            }
            plain.replace_range(range.to_std_range(), &blank);
        }
        Some(plain)
    })
}

/// The magics and shell commands of a text, each with the call that it counts as. `None` if the text already is plain
/// Python, or if it is not a notebook's text either.
fn escapes(text: &str) -> Option<Vec<(TextRange, String)>> {
    if errors(&parse(text), &Lines::new(text)).is_empty() {
        return None;
    }
    let parsed = parse_unchecked_source(text, PySourceType::Ipynb);
    if !parsed.errors().is_empty() {
        return None;
    }
    let mut found = Escapes(Vec::new());
    found.visit_body(&parsed.syntax().body);
    Some(found.0)
}

struct Escapes(Vec<(TextRange, String)>);

impl<'a> Visitor<'a> for Escapes {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::IpyEscapeCommand(command) => self.0.push((command.range(), call(command.kind, &command.value, true))),
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::IpyEscapeCommand(command) => {
                self.0.push((command.range(), call(command.kind, &command.value, false)))
            }
            _ => walk_expr(self, expr),
        }
    }
}

fn call(kind: IpyEscapeKind, value: &str, whole: bool) -> String {
    let quoted = |text: &str| crate::python::python_string(text.trim());
    match kind {
        IpyEscapeKind::Shell | IpyEscapeKind::ShCap => {
            let method = if whole && kind == IpyEscapeKind::Shell { "system" } else { "getoutput" };
            format!("get_ipython().{method}({})", quoted(value))
        }
        IpyEscapeKind::Magic => {
            let (name, rest) = value.trim().split_once(char::is_whitespace).unwrap_or((value.trim(), ""));
            let rest = rest.trim();
            // It runs the statement in the notebook.
            let is_python = || !rest.contains('\n') && errors(&parse(rest), &Lines::new(rest)).is_empty();
            if whole && matches!(name, "time" | "prun") && !rest.is_empty() && !rest.starts_with('-') && is_python() {
                return rest.to_owned();
            }
            format!("get_ipython().run_line_magic({}, {})", quoted(name), quoted(rest))
        }
        // A cell magic decides how the rest runs, and help only shows something to a person.
        _ => "pass".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magics_and_shell_lines_become_calls_and_lines_stay() {
        let (plain, lines) = plain_python("%matplotlib inline\nx = 1\nfiles = !ls\n!pip install y\n").unwrap();
        assert_eq!(
            plain,
            "get_ipython().run_line_magic('matplotlib', 'inline')\nx = 1\nfiles = get_ipython().getoutput('ls')\n\
             get_ipython().system('pip install y')\n"
        );
        assert_eq!(lines, [1, 3, 4]);
    }

    #[test]
    fn a_statement_that_is_timed_runs_as_it_stands() {
        let plain = |text: &str| plain_python(text).unwrap().0;
        assert_eq!(plain("%time y = f(3)\nz = 1\n"), "y = f(3)\nz = 1\n");
        assert_eq!(plain("%time\n"), "get_ipython().run_line_magic('time', '')\n");
        assert_eq!(plain("%prun -q f()\n"), "get_ipython().run_line_magic('prun', '-q f()')\n");
    }

    #[test]
    fn cell_magics_leave_python_or_nothing() {
        assert_eq!(cell_code("x = 1\n").as_deref(), Some("x = 1\n"));
        assert_eq!(cell_code("\n%%time\nx = 1").as_deref(), Some("\n\nx = 1"));
        assert_eq!(cell_code("%%bash\nls"), None);
        assert_eq!(cell_code("%%time").as_deref(), Some("\n"));
        assert_eq!(cell_code("%matplotlib inline").as_deref(), Some("%matplotlib inline"));
    }

    #[test]
    fn plain_python_and_what_is_no_python_at_all_stay() {
        assert_eq!(plain_python("x = 5 % 3\n"), None);
        assert_eq!(plain_python("def f(:\n"), None);
    }
}
