//! What conditions ask of values.

use ruff_python_ast::{CmpOp, Expr, UnaryOp};

use twincell_values::reading::literal;
use twincell_values::value::Recipe;

use super::walk::Walk;
use super::{ConditionPart, Id, Kind, Operand, Sketch, Test, Value};

impl Walk<'_> {
    /// Notes what a condition asks. `holds` is false within a `not`.
    pub(super) fn condition(&mut self, test: &Expr, holds: bool) {
        self.condition_line = self.line(test);
        match test {
            Expr::UnaryOp(node) if node.op == UnaryOp::Not => self.condition(&node.operand, !holds),
            Expr::BoolOp(node) => node.values.iter().for_each(|value| self.condition(value, holds)),
            Expr::Compare(node) => {
                let mut left = node.left.as_ref();
                for (operator, right) in node.ops.iter().zip(&node.comparators) {
                    self.comparison(left, *operator, right, holds);
                    left = right;
                }
            }
            Expr::Call(_) => {
                let tested = self.tested(test);
                match tested {
                    Some((of, test)) => self.ask(of, holds, test),
                    None => {
                        let value = self.expression(test);
                        self.ask(value, holds, Test::Truth);
                    }
                }
            }
            other => {
                let value = self.expression(other);
                self.ask(value, holds, Test::Truth);
            }
        }
    }

    fn ask(&mut self, of: Id, holds: bool, test: Test) {
        let condition = self.sketch.conditions;
        self.sketch.conditions += 1;
        self.sketch.condition_lines.push(self.condition_line);
        self.sketch.value_mut(of).asked.push(ConditionPart { condition, holds, test });
    }

    fn comparison(&mut self, left: &Expr, operator: CmpOp, right: &Expr, holds: bool) {
        let (mut one, mut other) = (self.expression(left), self.expression(right));
        // Tuples mostly differ in their first parts: `(major, minor) >= (3, 9)`.
        let first = |walk: &mut Self, parts: Id, known: Id| {
            let part = *walk.sketch.value(parts).parts.first().filter(|_| walk.sketch.value(parts).is_made)?;
            let known = match (&walk.sketch.value(known).known, walk.sketch.value(known).parts.first()) {
                (Some(Recipe::Tuple(items)), _) => items.first().cloned(),
                (None, Some(&first)) => walk.sketch.value(first).known.clone(),
                _ => None,
            };
            known.as_ref()?;
            Some((part, walk.sketch.add(Value { known, is_made: true, ..Value::default() })))
        };
        if let Some(firsts) = first(self, one, other) {
            (one, other) = firsts;
        } else if let Some(firsts) = first(self, other, one) {
            (other, one) = firsts;
        }
        self.note_moments(one, other);
        for (of, by) in [(one, other), (other, one)] {
            if matches!(self.sketch.value(by).known, Some(Recipe::Bytes(_))) && !self.sketch.value(of).is_made {
                self.is_kind(of, Kind::Bytes);
            }
        }
        let operand = |sketch: &Sketch, id: Id| match &sketch.value(id).known {
            Some(known) => Operand::Literal(known.clone()),
            None => Operand::Value(id),
        };
        // What the snippet makes itself is as it is.
        let is_open = |sketch: &Sketch, id: Id| !sketch.value(id).is_made && sketch.value(id).known.is_none();
        let mirrored = !is_open(&self.sketch, one) && is_open(&self.sketch, other);
        let (of, by) = if mirrored { (other, one) } else { (one, other) };
        let is_ordered = matches!(operator, CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE);
        let has_moment = self.sketch.value(one).moment.or(self.sketch.value(other).moment).is_some();
        if is_ordered && !has_moment && is_open(&self.sketch, one) && is_open(&self.sketch, other) {
            self.is_kind(one, Kind::Number);
            self.is_kind(other, Kind::Number);
        }
        let than = operand(&self.sketch, by);
        let less = |or_equal| Test::Less { than: than.clone(), or_equal };
        let more = |or_equal| Test::More { than: than.clone(), or_equal };
        let (test, truth) = match (operator, mirrored) {
            (CmpOp::Is | CmpOp::IsNot, _) if than == Operand::Literal(Recipe::None) => {
                (Test::None, operator == CmpOp::Is)
            }
            (CmpOp::Eq | CmpOp::Is, _) => (Test::Equal(than), true),
            (CmpOp::NotEq | CmpOp::IsNot, _) => (Test::Equal(than), false),
            (CmpOp::Lt, false) | (CmpOp::Gt, true) => (less(false), true),
            (CmpOp::LtE, false) | (CmpOp::GtE, true) => (less(true), true),
            (CmpOp::Gt, false) | (CmpOp::Lt, true) => (more(false), true),
            (CmpOp::GtE, false) | (CmpOp::LtE, true) => (more(true), true),
            (CmpOp::In | CmpOp::NotIn, _) => {
                let truth = operator == CmpOp::In;
                let members: Vec<Recipe> = match right {
                    Expr::List(node) => node.elts.iter().filter_map(literal).collect(),
                    Expr::Tuple(node) => node.elts.iter().filter_map(literal).collect(),
                    Expr::Set(node) => node.elts.iter().filter_map(literal).collect(),
                    _ => vec![],
                };
                if !members.is_empty() {
                    return self.ask(one, holds == truth, Test::Among(members));
                }
                let Some(member) = self.sketch.value(one).known.clone() else {
                    if is_open(&self.sketch, other) {
                        self.ask(other, holds == truth, Test::Keyed(one));
                    }
                    return;
                };
                return self.ask(other, holds == truth, Test::Holds(member));
            }
        };
        self.ask(of, holds == truth, test);
    }
}
