//! An expression's text in a normal form: the static access path of a value site.

use ruff_python_ast::token::{Token, TokenKind};
use ruff_text_size::{Ranged, TextRange};

use super::tokens::TokenStream;

/// The static access path of an expression, as the value site in its place has it.
pub fn written_path(text: &str, tokens: &[Token], range: TextRange) -> String {
    render(text, TokenStream(tokens).within(range))
}

/// Writes tokens with one space after commas and around binary operators and keywords, and with none around dots and
/// brackets. Comments, line ends and the last comma of a call are dropped. Plain double quotes become single ones.
pub(super) fn render(text: &str, tokens: &[Token]) -> String {
    let mut out = String::new();
    let mut previous: Option<TokenKind> = None;
    let mut brackets: Vec<TokenKind> = Vec::new();
    // For each open bracket: whether it holds arguments.
    let mut calls: Vec<bool> = Vec::new();
    let mut fstring_end = None;
    for (index, token) in tokens.iter().enumerate() {
        let kind = token.kind();
        if fstring_end.is_some_and(|end| index <= end) {
            continue;
        }
        let layout = matches!(kind, TokenKind::Indent | TokenKind::Dedent | TokenKind::NonLogicalNewline);
        if layout || matches!(kind, TokenKind::Comment | TokenKind::Newline) {
            continue;
        }
        if kind == TokenKind::Comma && calls.last() == Some(&true) && closes(tokens, index) {
            continue;
        }
        let (start, mut end) = (token.start().to_usize(), token.end().to_usize());
        if matches!(kind, TokenKind::FStringStart | TokenKind::TStringStart) {
            let last = closing(tokens, index);
            fstring_end = Some(last);
            end = tokens.get(last).map_or(end, |token| token.end().to_usize());
        }
        if previous.is_some_and(|previous| is_spaced(previous, kind, brackets.last().copied())) {
            out.push(' ');
        }
        let piece = text.get(start..end).unwrap_or("");
        match kind {
            TokenKind::String => out.push_str(&requote(piece)),
            _ => out.push_str(piece),
        }
        match kind {
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                brackets.push(kind);
                calls.push(kind == TokenKind::Lpar && previous.is_some_and(ends_operand));
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                brackets.pop();
                calls.pop();
            }
            _ => {}
        }
        previous = Some(effective(kind, previous));
    }
    out
}

/// Whether only layout stands between this token and the closing bracket.
fn closes(tokens: &[Token], index: usize) -> bool {
    let layout = |kind| matches!(kind, TokenKind::NonLogicalNewline | TokenKind::Comment);
    let mut after = tokens.iter().skip(index + 1).map(Token::kind).skip_while(|kind| layout(*kind));
    after.next() == Some(TokenKind::Rpar)
}

/// Stands for a sign, a star or another operator that belongs to the next token.
const PREFIX: TokenKind = TokenKind::Tilde;

/// The kind of a token, with [`PREFIX`] for a sign that is a prefix operator.
fn effective(kind: TokenKind, previous: Option<TokenKind>) -> TokenKind {
    if is_sign(kind) && !previous.is_some_and(ends_operand) { PREFIX } else { kind }
}

fn is_sign(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Plus | TokenKind::Minus | TokenKind::Star | TokenKind::DoubleStar | TokenKind::Tilde)
}

fn ends_operand(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::FStringStart
            | TokenKind::TStringStart
            | TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::True
            | TokenKind::False
            | TokenKind::None
            | TokenKind::Ellipsis
    ) || kind.is_soft_keyword()
}

fn is_spaced(previous: TokenKind, kind: TokenKind, bracket: Option<TokenKind>) -> bool {
    use TokenKind::{Colon, Comma, Dot, Equal, Lbrace, Lpar, Lsqb, Rbrace, Rpar, Rsqb};
    if previous == PREFIX || matches!(kind, Comma | Dot | Rpar | Rsqb | Rbrace) {
        return false;
    }
    if kind == Colon {
        return previous == Comma;
    }
    match previous {
        Comma => return true,
        Dot | Lpar | Lsqb | Lbrace | Equal => return false,
        Colon => return bracket != Some(Lsqb),
        _ => {}
    }
    if kind == Equal {
        return false;
    }
    if matches!(kind, Lpar | Lsqb) {
        // A call or subscript of the preceding expression. After an operator or keyword it is an operand.
        return !ends_operand(previous);
    }
    // Two words, or an operator on either side.
    true
}

/// The index of the end of the f-string that starts at `start`.
fn closing(tokens: &[Token], start: usize) -> usize {
    let mut depth = 0_u32;
    for (index, token) in tokens.iter().enumerate().skip(start) {
        match token.kind() {
            TokenKind::FStringStart | TokenKind::TStringStart => depth += 1,
            TokenKind::FStringEnd | TokenKind::TStringEnd => {
                depth -= 1;
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
    }
    tokens.len().saturating_sub(1)
}

/// `"a"` -> `'a'`, where this needs no escape.
fn requote(literal: &str) -> String {
    let inner = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inner {
        Some(inner) if !inner.contains(['"', '\'', '\\', '\n']) => format!("'{inner}'"),
        _ => literal.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::functions;
    use crate::instrument::instrument;

    #[test]
    fn a_path_after_an_indented_block_starts_with_its_name() {
        let (functions, _) = functions("def f(a):\n    if a:\n        b()\n    self.stats.inc(1)\n");
        let paths: Vec<String> =
            instrument(&functions[0]).unwrap().sites.sites.into_iter().map(|site| site.path).collect();
        assert!(paths.contains(&"self.stats.inc(1)".to_string()), "{paths:?}");
    }

    #[test]
    fn the_last_comma_of_a_call_is_no_part_of_a_path() {
        let (functions, _) = functions("def f(a):\n    a.b(1, c=(2,),\n    )\n    a.d[3,]\n    a.e(4, 5)\n");
        let paths: Vec<String> =
            instrument(&functions[0]).unwrap().sites.sites.into_iter().map(|site| site.path).collect();
        for path in ["a.b(1, c=(2,))", "a.d[3,]", "a.e(4, 5)"] {
            assert!(paths.contains(&path.to_string()), "{paths:?}");
        }
    }
}
