//! How deep a text nests, from its tokens alone. Every reader of a tree is recursive, and so is freeing one, so this is
//! known before there is a tree.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

/// The levels of indentation and of brackets in which Python itself reads no program.
const MAX_BLOCKS: usize = 100;
const MAX_BRACKETS: usize = 200;
/// The maximum depth of a tree, about as deep as Python compiles: operators, calls and attributes one upon the other.
const MAX_DEPTH: usize = 2000;

/// Where a text nests too deep to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line} nests too deep: {kind}")]
pub struct TooDeep {
    /// 1-based.
    pub line: u32,
    pub kind: Nesting,
}

/// What nests too deep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nesting {
    Blocks,
    Brackets,
    Expression,
}

impl std::fmt::Display for Nesting {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Nesting::Blocks => write!(formatter, "Python allows fewer than {MAX_BLOCKS} levels of indentation"),
            Nesting::Brackets => write!(formatter, "Python allows {MAX_BRACKETS} brackets within each other"),
            Nesting::Expression => write!(
                formatter,
                "an expression may have {MAX_DEPTH} operators, calls and attributes one upon the other"
            ),
        }
    }
}

/// Whether, and where, a text nests deeper than anything here reads.
pub fn too_deep(text: &str) -> Option<TooDeep> {
    let kind = exceeded(text)?;
    // The tokens do not tell their places. The first lines that nest too deep by themselves end with the one looked for.
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    let fits = |end: &usize| exceeded(text.get(..*end).unwrap_or_default()).is_none();
    Some(TooDeep { line: ends.partition_point(fits) as u32 + 1, kind })
}

/// What a text has too much of.
pub(crate) fn exceeded(text: &str) -> Option<Nesting> {
    // Not even brackets alone could be too many.
    if text.len() <= MAX_BRACKETS {
        return None;
    }
    let mut lexer = lexer::lex(text, Mode::Module);
    let mut depth = Depth::default();
    loop {
        let token = lexer.next_token();
        if token == TokenKind::EndOfFile {
            return None;
        }
        depth.take(token);
        if let Some(kind) = depth.exceeded() {
            return Some(kind);
        }
    }
}

/// The depth at which a token stands: no less than that of the tree that is made of the tokens.
#[derive(Default)]
struct Depth {
    blocks: usize,
    brackets: usize,
    /// The depth outside the innermost bracket.
    outside: usize,
    frame: Frame,
    enclosing: Vec<Frame>,
}

/// What nests between a bracket and the present token.
#[derive(Clone, Copy, Default)]
struct Frame {
    /// Lambdas and conditional expressions, whose last part may be another one.
    open: usize,
    /// Lambdas whose parameters are not over.
    lambdas: usize,
    /// Operators.
    operators: usize,
    /// Attributes, calls and subscripts of one value.
    chain: usize,
    /// It is an f-string.
    is_text: bool,
}

impl Frame {
    fn depth(&self) -> usize {
        self.open + self.operators + self.chain
    }

    /// The next of several parts side by side.
    fn next_part(&mut self) {
        self.operators = 0;
        self.chain = 0;
    }
}

impl Depth {
    fn exceeded(&self) -> Option<Nesting> {
        match self {
            _ if self.blocks >= MAX_BLOCKS => Some(Nesting::Blocks),
            _ if self.brackets > MAX_BRACKETS => Some(Nesting::Brackets),
            _ if self.outside + self.frame.depth() > MAX_DEPTH => Some(Nesting::Expression),
            _ => None,
        }
    }

    fn open(&mut self, is_text: bool) {
        self.brackets += 1;
        self.outside += self.frame.depth() + 1;
        self.enclosing.push(std::mem::replace(&mut self.frame, Frame { is_text, ..Frame::default() }));
    }

    fn close(&mut self) {
        let Some(frame) = self.enclosing.pop() else { return };
        self.frame = frame;
        self.brackets -= 1;
        self.outside -= frame.depth() + 1;
        // A call or a subscript lies around what is before it. The parts of a text lie side by side.
        self.frame.chain += usize::from(!frame.is_text);
    }

    /// A new statement, also after a bracket that was never closed.
    fn restart(&mut self) {
        (self.brackets, self.outside, self.frame) = (0, 0, Frame::default());
        self.enclosing.clear();
    }

    fn take(&mut self, token: TokenKind) {
        use TokenKind as T;
        match token {
            T::Indent => self.blocks += 1,
            T::Dedent => self.blocks = self.blocks.saturating_sub(1),
            T::Newline | T::Semi => self.restart(),
            // No expression holds these.
            T::Def | T::Class | T::Return | T::Import | T::While | T::With | T::Try | T::Raise | T::Del | T::Pass => {
                self.restart();
            }
            T::Lpar | T::Lsqb | T::Lbrace => self.open(false),
            T::FStringStart | T::TStringStart => self.open(true),
            T::Rpar | T::Rsqb | T::Rbrace | T::FStringEnd | T::TStringEnd => self.close(),
            T::Dot => self.frame.chain += 1,
            T::Lambda => {
                self.frame.open += 1;
                self.frame.lambdas += 1;
            }
            T::Colon if self.frame.lambdas > 0 => {
                self.frame.lambdas -= 1;
                self.frame.next_part();
            }
            T::If | T::Else | T::Yield | T::ColonEqual => {
                self.frame.open += 1;
                self.frame.next_part();
            }
            T::Comma | T::For => {
                self.frame.next_part();
                if self.frame.lambdas == 0 {
                    self.frame.open = 0;
                }
            }
            // Operands of these lie side by side.
            T::And | T::Or | T::Colon | T::Equal | T::In | T::Is => self.frame.next_part(),
            T::Less | T::Greater | T::LessEqual | T::GreaterEqual | T::EqEqual | T::NotEqual => self.frame.next_part(),
            T::Not | T::Await | T::Tilde | T::At => self.operator(),
            other if other.is_arithmetic() || other.is_bitwise_or_shift() => self.operator(),
            _ => {}
        }
    }

    fn operator(&mut self) {
        self.frame.operators += 1;
        self.frame.chain = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Option<Nesting> {
        too_deep(text).map(|found| found.kind)
    }

    #[test]
    fn what_nests_too_deep_is_named_with_its_line() {
        let blocks = |count: usize| -> String {
            let line = |level: usize| format!("{}if x:\n", " ".repeat(level));
            (0..count).map(line).chain([format!("{}x\n", " ".repeat(count))]).collect()
        };
        assert_eq!(too_deep(&blocks(99)), None);
        assert_eq!(too_deep(&blocks(100)), Some(TooDeep { line: 101, kind: Nesting::Blocks }));
        let brackets = |count: usize| format!("x = 1\ny = {}1{}\n", "(".repeat(count), ")".repeat(count));
        assert_eq!(too_deep(&brackets(200)), None);
        assert_eq!(too_deep(&brackets(201)), Some(TooDeep { line: 2, kind: Nesting::Brackets }));
    }

    #[test]
    fn every_way_to_nest_an_expression_is_counted() {
        for (before, part, after) in [
            ("x", ".a", ""),
            ("x", "()", ""),
            ("x", "[0]", ""),
            ("x", "+1", ""),
            ("x", "+f(1)", ""),
            ("x", "**1", ""),
            ("x", "@y", ""),
            ("", "-", "x"),
            ("", "not ", "x"),
            ("", "await ", "x"),
            ("", "lambda: ", "x"),
            ("", "lambda a, b: ", "x"),
            ("", "x if x else ", "x"),
            ("", "x if x or y else ", "x"),
        ] {
            let text = |count: usize| format!("y = {before}{}{after}\n", part.repeat(count));
            assert_eq!(kind(&text(MAX_DEPTH / 2 - 1)), None, "{part}");
            assert_eq!(kind(&text(MAX_DEPTH + 1)), Some(Nesting::Expression), "{part}");
        }
    }

    #[test]
    fn what_lies_side_by_side_does_not_nest() {
        let many = MAX_DEPTH * 5;
        for text in [
            "x = y.z + f(1)\n".repeat(many),
            format!("x = [{}]\n", "-y.z(1) + 1, ".repeat(many)),
            format!("x = {{{}}}\n", "'k': a if b else c, ".repeat(many)),
            format!("x = [{}]\n", "lambda a, b: a + b, ".repeat(many)),
            format!("x = f'{}'\n", "{y.z}".repeat(many)),
            format!("x = a{}\n", " and not a.b + 1".repeat(many)),
            format!("x = a{}\n", " < a.b + 1".repeat(many)),
            format!("if a:\n    x\n{}", "elif a.b:\n    x\n".repeat(many)),
            format!("x = ''{}\n", " 'a'".repeat(many)),
            // A bracket that is never closed.
            format!("x = (\n{}", "def f(x):\n    return x + 1\n".repeat(many)),
        ] {
            assert_eq!(too_deep(&text), None, "{}", &text[..40]);
        }
    }
}
