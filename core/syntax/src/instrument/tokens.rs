//! Finds tokens around a tree's nodes: parentheses, dots, brackets, colons.

use ruff_python_ast::token::{Token, TokenKind};
use ruff_text_size::{Ranged, TextRange, TextSize};

/// The tokens of one text, in order.
#[derive(Clone, Copy)]
pub(super) struct TokenStream<'tree>(pub(super) &'tree [Token]);

impl<'tree> TokenStream<'tree> {
    /// The tokens that start at or after `offset`.
    fn from(self, offset: TextSize) -> &'tree [Token] {
        let index = self.0.partition_point(|token| token.start() < offset);
        self.0.get(index..).unwrap_or(&[])
    }

    /// The tokens wholly within a range.
    pub(super) fn within(self, range: TextRange) -> &'tree [Token] {
        let tokens = self.from(range.start());
        let count = tokens.partition_point(|token| token.end() <= range.end());
        tokens.get(..count).unwrap_or(&[])
    }

    /// The first token of a kind at or after `offset`.
    pub(super) fn next(self, offset: TextSize, kind: TokenKind) -> Option<TextRange> {
        self.from(offset).iter().find(|token| token.kind() == kind).map(Ranged::range)
    }

    /// The last token of a kind before `offset`.
    pub(super) fn last_before(self, offset: TextSize, kind: TokenKind) -> Option<TextRange> {
        let index = self.0.partition_point(|token| token.start() < offset);
        let before = self.0.get(..index).unwrap_or(&[]);
        before.iter().rev().find(|token| token.kind() == kind).map(Ranged::range)
    }

    /// The end of an expression that starts after `opener`, its closing parentheses included.
    pub(super) fn end_with_parentheses(self, opener: TextSize, expression: TextRange) -> TextSize {
        let mut open = self
            .within(TextRange::new(opener, expression.start().max(opener)))
            .iter()
            .filter(|token| token.kind() == TokenKind::Lpar)
            .count();
        let mut end = expression.end();
        for token in self.from(expression.end()) {
            match token.kind() {
                TokenKind::Rpar if open > 0 => {
                    open -= 1;
                    end = token.end();
                }
                TokenKind::Comment | TokenKind::NonLogicalNewline => {}
                _ => break,
            }
        }
        end
    }

    /// Whether there is a comma among the tokens of this range.
    pub(super) fn has_comma(self, range: TextRange) -> bool {
        self.within(range).iter().any(|token| token.kind() == TokenKind::Comma)
    }
}
