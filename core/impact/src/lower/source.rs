//! The texts of a project as the lowering reads them: trees, lines, and hashes of pieces without their layout.

use std::hash::{Hash, Hasher};

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{ModModule, Stmt};
use ruff_python_parser::Parsed;
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::FxHasher;
use twincell_semantic::ModuleId;
use twincell_syntax::parse::Lines;

/// A parsed module.
pub(super) struct Source<'a> {
    pub module: ModuleId,
    pub text: &'a str,
    pub lines: Lines<'a>,
    pub body: &'a [Stmt],
    /// The tokens that mean something.
    tokens: Vec<TextRange>,
}

impl<'a> Source<'a> {
    pub fn new(module: ModuleId, text: &'a str, parsed: &'a Parsed<ModModule>) -> Self {
        let is_code = |kind: TokenKind| {
            !kind.is_trivia() && !matches!(kind, TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent)
        };
        let tokens = parsed.tokens().iter().filter(|token| is_code(token.kind())).map(Ranged::range).collect();
        Self { module, text, lines: Lines::new(text), body: parsed.suite(), tokens }
    }

    /// A hash of the text of pieces, without comments and layout.
    pub fn key(&self, pieces: &[TextRange]) -> u64 {
        let mut hasher = FxHasher::default();
        for piece in pieces {
            let from = self.tokens.partition_point(|token| token.start() < piece.start());
            for token in self.tokens.iter().skip(from).take_while(|token| token.end() <= piece.end()) {
                self.lines.text(*token).hash(&mut hasher);
            }
            u8::MAX.hash(&mut hasher);
        }
        hasher.finish()
    }

    pub fn line(&self, offset: TextSize) -> u32 {
        self.lines.line(offset)
    }
}
