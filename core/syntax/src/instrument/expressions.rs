//! Edits of expressions: names, attributes, calls, subscripts, comparisons, lambdas and comprehensions.

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::visitor::source_order::SourceOrderVisitor;
use ruff_python_ast::{
    Comprehension, Expr, ExprAttribute, ExprCall, ExprCompare, ExprContext, ExprIf, ExprLambda, ExprName, ExprSlice,
    ExprSubscript,
};
use ruff_text_size::{Ranged, TextRange};

use super::visitor::{Instrumenter, Scope};
use crate::scopes::Bindings;
use crate::site::{BranchKind, Comparator, Comparison, SiteKind};

impl<'a> Instrumenter<'a> {
    pub(super) fn name(&mut self, name: &'a ExprName) {
        // After a mark's semicolon, the parser reads a leading `match` as the statement unless it is parenthesised.
        if name.id == "match" && name.start() == self.statement_start {
            self.edits.insert(name.start().to_usize(), "(");
            self.edits.insert(name.end().to_usize(), ")");
        }
        if !matches!(name.ctx, ExprContext::Load) {
            return self.spell(&name.id, name.range);
        }
        let number = self.site(SiteKind::Name, name.range, self.mangled(&name.id));
        if self.quiet {
            return;
        }
        if self.is_free_in_class(&name.id) {
            return self.edits.replace(name.start().to_usize(), name.end().to_usize(), format!("_tc_n({number})"));
        }
        if self.reports_names {
            self.edits.insert(name.start().to_usize(), format!("_tc_v({number}, "));
        }
        self.spell(&name.id, name.range);
        if self.reports_names {
            self.edits.insert(name.end().to_usize(), ")");
        }
    }

    /// Whether the name is in a class body and bound neither there nor in an enclosing function.
    pub(super) fn is_free_in_class(&self, name: &str) -> bool {
        let Some((class, around)) = self.scopes.split_last() else { return false };
        class.is_class
            && !class.bindings.is_local(name)
            && !around.iter().any(|scope| !scope.is_class && scope.bindings.is_local(name))
    }

    pub(super) fn attribute(&mut self, attribute: &'a ExprAttribute) {
        let range = attribute.attr.range;
        if !matches!(attribute.ctx, ExprContext::Load) || self.quiet {
            self.visit_expr(&attribute.value);
            return self.spell(&attribute.attr, range);
        }
        let number = self.site(SiteKind::Attribute, attribute.range, self.mangled(&attribute.attr));
        self.edits.insert(attribute.start().to_usize(), format!("_tc_a({number}, "));
        self.visit_expr(&attribute.value);
        if let Some(dot) = self.tokens.last_before(range.start(), TokenKind::Dot) {
            self.edits.replace(dot.start().to_usize(), dot.end().to_usize(), "");
        }
        self.edits.replace(range.start().to_usize(), range.end().to_usize(), ")");
    }

    pub(super) fn call(&mut self, call: &'a ExprCall) {
        if self.quiet {
            self.visit_expr(&call.func);
            return self.visit_arguments(&call.arguments);
        }
        let number = self.site(SiteKind::Call, call.range(), self.last_identifier(&call.func));
        self.edits.insert(call.start().to_usize(), format!("_tc_c({number}, "));
        self.visit_expr(&call.func);
        let open = call.arguments.start().to_usize();
        self.edits.replace(open, open + 1, if call.arguments.is_empty() { "" } else { ", " });
        if let ([Expr::Generator(generator)], true) = (&*call.arguments.args, call.arguments.keywords.is_empty())
            && !generator.parenthesized
        {
            // Next to the callee, it is no longer the sole argument.
            self.edits.insert(generator.start().to_usize(), "(");
            self.visit_arguments(&call.arguments);
            self.edits.insert(generator.end().to_usize(), ")");
        } else {
            self.visit_arguments(&call.arguments);
        }
    }

    pub(super) fn subscript(&mut self, subscript: &'a ExprSubscript) {
        if !matches!(subscript.ctx, ExprContext::Load) || self.quiet {
            self.visit_expr(&subscript.value);
            return self.visit_expr(&subscript.slice);
        }
        let number = self.site(SiteKind::Subscript, subscript.range, self.last_identifier(&subscript.value));
        self.edits.insert(subscript.start().to_usize(), format!("_tc_s({number}, "));
        self.visit_expr(&subscript.value);
        let close = subscript.end().to_usize();
        let Some(open) = self.tokens.next(subscript.value.end(), TokenKind::Lsqb) else { return };
        let mut after = ")";
        match subscript.slice.as_ref() {
            Expr::Tuple(tuple) if !tuple.parenthesized => {
                // `a[*b]` is a tuple without a comma.
                let alone = tuple.elts.len() == 1
                    && !self.tokens.has_comma(TextRange::new(tuple.elts[0].end(), subscript.end()));
                after = if alone { ",))" } else { "))" };
                self.edits.replace(open.start().to_usize(), open.end().to_usize(), ", (");
                for element in &tuple.elts {
                    self.key(element);
                }
            }
            key => {
                self.edits.replace(open.start().to_usize(), open.end().to_usize(), ", ");
                self.key(key);
            }
        }
        self.edits.replace(close - 1, close, after);
    }

    /// A key, or one dimension of a key.
    pub(super) fn key(&mut self, key: &'a Expr) {
        match key {
            Expr::Slice(slice) => self.slice(slice),
            _ => self.visit_expr(key),
        }
    }

    /// `a:b:c` -> `_tc_k(a, b, c)`.
    pub(super) fn slice(&mut self, slice: &'a ExprSlice) {
        self.edits.insert(slice.start().to_usize(), "_tc_k(");
        if let Some(lower) = &slice.lower {
            self.visit_expr(lower);
        }
        let first = self.tokens.next(slice.lower.as_deref().map_or(slice.start(), Ranged::end), TokenKind::Colon);
        let Some(first) = first else { return };
        let mut text = String::from(if slice.lower.is_some() { ", " } else { "None, " });
        if slice.upper.is_none() {
            text.push_str("None");
        }
        self.edits.replace(first.start().to_usize(), first.end().to_usize(), text);
        if let Some(upper) = &slice.upper {
            self.visit_expr(upper);
        }
        let after_upper = slice.upper.as_deref().map_or(first.end(), Ranged::end);
        let second = self.tokens.next(after_upper, TokenKind::Colon).filter(|colon| colon.end() <= slice.end());
        match second {
            Some(second) => {
                let text = if slice.step.is_some() { ", " } else { ", None" };
                self.edits.replace(second.start().to_usize(), second.end().to_usize(), text);
                if let Some(step) = &slice.step {
                    self.visit_expr(step);
                }
                self.edits.insert(slice.end().to_usize(), ")");
            }
            None => self.edits.insert(slice.end().to_usize(), ", None)"),
        }
    }

    /// `a == b` -> `_tc_q(n, op, a, b)`. Returns `false` where the comparison is left alone. Chains stay as they are,
    /// since their middle is evaluated only once.
    pub(super) fn comparison(&mut self, compare: &'a ExprCompare) -> bool {
        let (Some(comparator), [right]) = (comparator(compare), &*compare.comparators) else {
            return false;
        };
        let after = compare.left.end();
        let first = self.tokens.next(after, operator_token(comparator));
        let second = match comparator {
            Comparator::NotIn => self.tokens.next(after, TokenKind::In),
            Comparator::IsNot => self.tokens.next(after, TokenKind::Not),
            _ => None,
        };
        let (Some(first), false) = (first, self.quiet) else {
            return false;
        };
        let number = self.table.comparisons.len();
        self.table.comparisons.push(Comparison {
            comparator,
            start: compare.start().to_u32(),
            end: compare.end().to_u32(),
            line: self.lines.line(compare.start()),
        });
        self.edits.insert(compare.start().to_usize(), format!("_tc_q({number}, {}, ", comparator as u8));
        self.visit_expr(&compare.left);
        self.edits.replace(first.start().to_usize(), first.end().to_usize(), ",");
        if let Some(second) = second {
            self.edits.replace(second.start().to_usize(), second.end().to_usize(), "");
        }
        self.visit_expr(right);
        self.edits.insert(compare.end().to_usize(), ")");
        true
    }

    pub(super) fn ternary(&mut self, ternary: &'a ExprIf) {
        self.visit_expr(&ternary.body);
        self.branch(BranchKind::Ternary, &ternary.test);
        self.visit_expr(&ternary.orelse);
    }

    pub(super) fn lambda(&mut self, lambda: &'a ExprLambda) {
        if let Some(parameters) = &lambda.parameters {
            self.visit_parameters(parameters);
        }
        self.in_function(Bindings::of_lambda(lambda.parameters.as_deref(), &lambda.body), |this| {
            this.visit_expr(&lambda.body);
        });
    }

    /// A lambda that is the function itself. Its body counts as a line.
    pub(super) fn marked_lambda(&mut self, lambda: &'a ExprLambda) {
        if let Some(parameters) = &lambda.parameters {
            self.visit_parameters(parameters);
        }
        let line = self.lines.line(lambda.body.start());
        self.table.lines.push(line);
        self.in_function(Bindings::of_lambda(lambda.parameters.as_deref(), &lambda.body), |this| {
            this.wrap(&lambda.body, &format!("_tc_l({line}) or ("));
        });
    }

    /// Enters a function's scope. Enclosing `try` statements catch nothing there.
    pub(super) fn in_function(&mut self, bindings: Bindings, visit: impl FnOnce(&mut Self)) {
        let catches = std::mem::take(&mut self.catches);
        let cleanups = std::mem::take(&mut self.cleanups);
        self.scopes.push(Scope { is_class: false, bindings });
        visit(self);
        self.scopes.pop();
        self.cleanups = cleanups;
        self.catches = catches;
    }

    /// Visits a comprehension in source order. The first iterable belongs to the enclosing scope.
    pub(super) fn comprehension(&mut self, elements: &[&'a Expr], generators: &'a [Comprehension]) {
        let bindings = Bindings::of_comprehension(generators);
        self.scopes.push(Scope { is_class: false, bindings });
        for element in elements {
            self.visit_expr(element);
        }
        for (index, generator) in generators.iter().enumerate() {
            self.visit_expr(&generator.target);
            if index == 0 {
                let scope = self.scopes.pop();
                self.visit_expr(&generator.iter);
                self.scopes.extend(scope);
            } else {
                self.visit_expr(&generator.iter);
            }
            for condition in &generator.ifs {
                self.branch(BranchKind::Comprehension, condition);
            }
        }
        self.scopes.pop();
    }
}

/// The operator of a comparison that is not a chain.
fn comparator(compare: &ExprCompare) -> Option<Comparator> {
    let [op] = &*compare.ops else { return None };
    Some(Comparator::of(*op))
}

/// The first token of the operator.
fn operator_token(comparator: Comparator) -> TokenKind {
    match comparator {
        Comparator::Eq => TokenKind::EqEqual,
        Comparator::NotEq => TokenKind::NotEqual,
        Comparator::Lt => TokenKind::Less,
        Comparator::LtE => TokenKind::LessEqual,
        Comparator::Gt => TokenKind::Greater,
        Comparator::GtE => TokenKind::GreaterEqual,
        Comparator::In => TokenKind::In,
        Comparator::NotIn => TokenKind::Not,
        Comparator::Is | Comparator::IsNot => TokenKind::Is,
    }
}
