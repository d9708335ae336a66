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

/// The depth at which a token stands: no less than that of the tree that is made of the tokens, also where they are no
/// program. The parser goes on after an error, so nothing here ends before it surely ends for the parser, too.
#[derive(Default)]
struct Depth {
    blocks: usize,
    /// The depth outside the innermost bracket.
    outside: usize,
    frame: Frame,
    /// What is around each open bracket, and the token that closes it.
    enclosing: Vec<(Frame, TokenKind)>,
    /// A value has just ended.
    after_value: bool,
    /// There were characters that are no tokens: the parser may read what follows in any way.
    is_broken: bool,
}

/// What nests between a bracket and the present token.
#[derive(Clone, Copy, Default)]
struct Frame {
    /// What takes all that follows, also behind commas.
    yields: usize,
    /// Lambdas, conditional expressions and starred ones, whose last part may be another one.
    open: usize,
    /// Lambdas whose parameters are not over.
    lambdas: usize,
    /// `not`, which takes comparisons, too.
    nots: usize,
    /// Operators that bind closer than comparisons.
    operators: usize,
    /// The present value: its attributes, calls and subscripts, and what is in their brackets.
    chain: usize,
    /// The deepest value among the operands so far, around all of which the operators lie.
    left: usize,
    /// The most of all parts.
    most: usize,
    /// It is an f-string.
    is_text: bool,
}

impl Frame {
    fn depth(&self) -> usize {
        self.yields + self.open + self.nots + self.operators + self.chain.max(self.left)
    }

    /// The next operand of a comparison.
    fn next_operand(&mut self) {
        self.most = self.most.max(self.depth());
        (self.operators, self.chain, self.left) = (0, 0, 0);
    }

    /// The next of several parts side by side.
    fn next_part(&mut self) {
        self.next_operand();
        self.nots = 0;
    }

    fn operator(&mut self) {
        self.operators += 1;
        self.left = self.left.max(self.chain);
        self.chain = 0;
    }
}

impl Depth {
    fn exceeded(&self) -> Option<Nesting> {
        match self {
            _ if self.blocks >= MAX_BLOCKS => Some(Nesting::Blocks),
            _ if self.enclosing.len() > MAX_BRACKETS => Some(Nesting::Brackets),
            _ if self.outside + self.frame.depth() > MAX_DEPTH => Some(Nesting::Expression),
            _ => None,
        }
    }

    fn open(&mut self, closing: TokenKind) {
        let is_text = matches!(closing, TokenKind::FStringEnd | TokenKind::TStringEnd);
        self.outside += self.frame.depth() + 1;
        self.enclosing.push((std::mem::replace(&mut self.frame, Frame { is_text, ..Frame::default() }), closing));
    }

    fn close(&mut self, token: TokenKind) {
        // The parser passes over a bracket of another kind, or among the parameters of a lambda.
        let is_in_lambda = self.frame.lambdas > 0;
        let Some((frame, _)) = self.enclosing.pop_if(|(_, closing)| *closing == token && !is_in_lambda) else {
            self.after_value = false;
            return;
        };
        self.outside -= frame.depth() + 1;
        let inner = std::mem::replace(&mut self.frame, frame);
        let inner = inner.most.max(inner.depth());
        match () {
            // What is broken within a bracket may still be open behind it.
            () if self.is_broken => self.frame.open += inner + 1,
            // The parts of a text lie side by side.
            () if frame.is_text => self.frame.chain = frame.chain.max(inner + 1),
            // Brackets lie around what is in them, and a call or a subscript also around what is before it.
            () => self.frame.chain = frame.chain.max(inner) + 1,
        }
    }

    fn take(&mut self, token: TokenKind) {
        use TokenKind as T;
        let after_value = std::mem::replace(&mut self.after_value, ends_value(token));
        match token {
            T::Comment | T::NonLogicalNewline => {
                self.after_value = after_value;
                return;
            }
            T::Indent => self.blocks += 1,
            T::Dedent => self.blocks = self.blocks.saturating_sub(1),
            // The lexer ends a line where the numbers of brackets are equal. The parser looks at their kinds.
            T::Newline | T::Semi if self.enclosing.is_empty() && self.frame.lambdas == 0 => {
                self.frame = Frame::default();
                self.is_broken = false;
            }
            T::Unknown => self.is_broken = true,
            _ if self.is_broken => {}
            // Nothing binds this to what is before it.
            _ if after_value && !continues(token) => self.frame.next_part(),
            _ => {}
        }
        // A keyword where a value should be is a name for the parser.
        let is_name = token.is_keyword() && !after_value;
        match token {
            T::Lpar => self.open(T::Rpar),
            T::Lsqb => self.open(T::Rsqb),
            T::Lbrace => self.open(T::Rbrace),
            T::FStringStart => self.open(T::FStringEnd),
            T::TStringStart => self.open(T::TStringEnd),
            T::Rpar | T::Rsqb | T::Rbrace | T::FStringEnd | T::TStringEnd => self.close(token),
            T::Dot => self.frame.chain += 1,
            T::Yield => self.frame.yields += 1,
            T::Lambda => {
                self.frame.open += 1;
                self.frame.lambdas += 1;
            }
            T::If | T::Else | T::ColonEqual => {
                self.frame.open += 1;
                if !is_name {
                    self.next_part();
                }
            }
            T::Star | T::DoubleStar if !after_value || self.is_broken => self.frame.open += 1,
            T::Not => self.frame.nots += 1,
            T::Await | T::Tilde | T::At => self.frame.operator(),
            T::Comma => {
                self.next_part();
                if self.frame.lambdas == 0 && !self.is_broken {
                    self.frame.open = 0;
                }
            }
            T::Colon => {
                self.frame.lambdas = self.frame.lambdas.saturating_sub(1);
                self.next_part();
            }
            _ if is_name => {}
            // Operands of these lie side by side.
            T::And | T::Or | T::Equal | T::For => self.next_part(),
            T::In | T::Is | T::Less | T::Greater | T::LessEqual | T::GreaterEqual | T::EqEqual | T::NotEqual
                if !self.is_broken =>
            {
                self.frame.next_operand();
            }
            other if other.is_arithmetic() || other.is_bitwise_or_shift() => self.frame.operator(),
            _ => {}
        }
    }

    fn next_part(&mut self) {
        if !self.is_broken {
            self.frame.next_part();
        }
    }
}

/// Whether a value may end with a token.
fn ends_value(token: TokenKind) -> bool {
    use TokenKind as T;
    match token {
        T::Name | T::Int | T::Float | T::Complex | T::String | T::None | T::True | T::False | T::Ellipsis => true,
        T::Rpar | T::Rsqb | T::Rbrace | T::FStringEnd | T::TStringEnd => true,
        other => other.is_soft_keyword(),
    }
}

/// Whether a token may belong to the value or the operation before it.
fn continues(token: TokenKind) -> bool {
    use TokenKind as T;
    match token {
        T::Name | T::Int | T::Float | T::Complex | T::None | T::True | T::False | T::Ellipsis => false,
        T::Def | T::Class | T::Return | T::Import | T::While | T::With | T::Try | T::Raise | T::Del | T::Pass => false,
        other => !other.is_soft_keyword(),
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

    /// The depth of the tree that the parser makes. Neither making nor freeing it needs more than the stack here.
    fn tree_depth(text: &str) -> usize {
        use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal};
        use ruff_python_ast::{AnyNodeRef, PySourceType};
        #[derive(Default)]
        struct Deepest(usize, usize);
        impl<'a> SourceOrderVisitor<'a> for Deepest {
            fn enter_node(&mut self, _: AnyNodeRef<'a>) -> TraversalSignal {
                self.0 += 1;
                self.1 = self.1.max(self.0);
                TraversalSignal::Traverse
            }

            fn leave_node(&mut self, _: AnyNodeRef<'a>) {
                self.0 -= 1;
            }
        }
        stacker::grow(1 << 30, || {
            let parsed = ruff_python_parser::parse_unchecked_source(text, PySourceType::Python);
            let mut deepest = Deepest::default();
            deepest.visit_body(parsed.suite());
            deepest.1
        })
    }

    /// Each token of an expression counts, with all that the parser makes around it.
    const MAX_TREE: usize = MAX_DEPTH * 5;

    #[test]
    fn what_the_parser_makes_of_errors_is_counted_as_well() {
        for part in [
            "0<not 0",
            "0<*0‹*",
            "0<*0",
            "0 and*",
            "yield 0,",
            "(0,],",
            "(0,]\n",
            "[0,)\n",
            "(0;",
            "(def,",
            "(\ndef,",
            "(\nclass,",
            "f(\nreturn+",
            "return+",
            "-not 0 in ",
            "0 is not not ",
            "lambda x=",
            "lambda x,",
            "lambda 0 ",
            "lambda x,\n",
            "0 if 0 ",
            "0 if ",
            "x:=",
            "f'{",
            "{0:",
            "{**",
            "f(**",
            "for x in ",
            "if x: ",
            "async ",
            "match x: case ",
            "case [",
            "@",
        ] {
            for before in ["", "x = ", "(", "f(a, ", "case "] {
                let text = format!("{before}{}", part.repeat(6 * MAX_DEPTH));
                assert!(kind(&text).is_some() || tree_depth(&text) < MAX_TREE, "{before}{part}");
            }
        }
    }

    #[test]
    fn any_repeated_tokens_are_counted() {
        const TOKENS: &[&str] = &[
            "0", "x", "'a'", "f'", "'", "(", ")", "[", "]", "{", "}", ",", ":", ";", ".", "+", "-", "*", "**", "@",
            "~", "<", "==", "=", ":=", "->", "!", "?", "\n", "not ", "in ", "is ", "and ", "or ", "if ", "else ",
            "lambda ", "yield ", "from ", "await ", "async ", "for ", "def ", "class ", "return ", "with ", "as ",
            "match ", "case ", "type ", "import ", "while ", "try ", "del ", "assert ", "‹", "\\", "print ", "elif ",
            "except ",
        ];
        let seed = std::env::var("TWINCELL_NESTING_SEED").ok().and_then(|text| text.parse().ok());
        let rounds = if seed.is_some() { 20_000 } else { 300 };
        let mut state: u64 = seed.unwrap_or(1);
        let mut next = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        for _ in 0..rounds {
            let mut part = String::new();
            for _ in 0..next(6) + 1 {
                part += TOKENS[next(TOKENS.len())];
                part += [" ", ""][next(2)];
            }
            let text = part.repeat(6 * MAX_DEPTH);
            assert!(kind(&text).is_some() || tree_depth(&text) < MAX_TREE, "{part:?}");
        }
    }

    #[test]
    fn what_is_in_a_bracket_counts_for_what_is_around_it() {
        let inner = "+1".repeat(MAX_DEPTH / 10);
        let text = (0..100).fold("x".to_owned(), |text, _| format!("({text}{inner})"));
        assert_eq!(kind(&text), Some(Nesting::Expression));
    }
}
