//! Which parameters are dates or moments, from what a function calculates with them: `(end - start).days`,
//! `day + timedelta(days=1)`, and from what it compares with a date.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{CmpOp, Expr, ExprCall, Operator, Stmt, StmtFunctionDef};

use super::models::last_name;
use super::tested::aliases;
use super::types::told;

const DATE: &str = "datetime.date";
const MOMENT: &str = "datetime.datetime";

/// What parameters are.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Moments {
    /// The class of each parameter that is a date or a moment, and whether the code tells it from all others.
    pub values: BTreeMap<String, (&'static str, bool)>,
    /// The class of the members of each parameter in which such values are looked up.
    pub members: BTreeMap<String, &'static str>,
}

/// `known`: the classes of parameters that declare one.
pub(super) fn moments(definition: &StmtFunctionDef, known: &BTreeMap<String, String>) -> Moments {
    let parameters = definition.parameters.iter_non_variadic_params().map(|one| one.parameter.name.as_str());
    let mut uses = Uses { stands_for: aliases(definition), ..Uses::default() };
    uses.stands_for.extend(parameters.filter(|name| !matches!(*name, "self" | "cls")).map(|name| (name, name)));
    uses.visit_body(&definition.body);
    for (name, class) in known {
        let class = [DATE, MOMENT].into_iter().find(|one| one == class);
        let parameter = uses.stands_for.get(name.as_str()).copied();
        parameter.zip(class).into_iter().for_each(|(name, class)| uses.note(name, class, true));
    }
    for (name, attributes) in std::mem::take(&mut uses.attributes) {
        match told(&attributes) {
            Some((class @ (DATE | MOMENT), is_certain)) => uses.note(name, class, is_certain),
            // What is told to be something else is neither.
            Some(_) => _ = uses.others.insert(name),
            None => {}
        }
    }
    let mut found = Moments::default();
    for name in uses.evidence.keys().chain(uses.links.iter().flat_map(|(one, other)| [one, other])) {
        let group = uses.group(name);
        let evidence = || group.iter().filter_map(|one| uses.evidence.get(one)).flatten();
        let is_other = group.iter().any(|one| uses.others.contains(one));
        // What a function says for certain counts first, and a moment is a date as well.
        let strongest = evidence().max_by_key(|(class, is_certain)| (*is_certain, *class == MOMENT));
        if let Some((class, _)) = strongest.filter(|_| !is_other) {
            let is_certain = uses.evidence.get(name).is_some_and(|own| own.contains(&(class, true)));
            found.values.insert((*name).to_owned(), (class, is_certain));
        }
    }
    for (value, container) in &uses.looked_up {
        if let Some((class, _)) = found.values.get(*value) {
            found.members.insert((*container).to_owned(), class);
        }
    }
    found
}

#[derive(Default)]
struct Uses<'a> {
    /// The parameter that each name stands for.
    stands_for: BTreeMap<&'a str, &'a str>,
    attributes: BTreeMap<&'a str, Vec<String>>,
    /// The classes that something says of a parameter, and whether for certain.
    evidence: BTreeMap<&'a str, BTreeSet<(&'static str, bool)>>,
    others: BTreeSet<&'a str>,
    /// Parameters that are compared by their order, or subtracted from each other.
    links: Vec<(&'a str, &'a str)>,
    /// Values, and the parameters in which they are looked up.
    looked_up: Vec<(&'a str, &'a str)>,
}

impl<'a> Uses<'a> {
    fn parameter(&self, expr: &Expr) -> Option<&'a str> {
        self.stands_for.get(expr.as_name_expr()?.id.as_str()).copied()
    }

    fn note(&mut self, parameter: &'a str, class: &'static str, is_certain: bool) {
        self.evidence.entry(parameter).or_default().insert((class, is_certain));
    }

    fn note_of(&mut self, expr: &Expr, class: &'static str, is_certain: bool) {
        if let Some(parameter) = self.parameter(expr) {
            self.note(parameter, class, is_certain);
        }
    }

    fn link(&mut self, one: &Expr, other: &Expr) {
        self.links.extend(self.parameter(one).zip(self.parameter(other)));
    }

    /// The parameters that are of one class with this one, with itself.
    fn group(&self, of: &'a str) -> BTreeSet<&'a str> {
        let mut group = BTreeSet::from([of]);
        loop {
            let before = group.len();
            for (one, other) in &self.links {
                if group.contains(one) || group.contains(other) {
                    group.extend([one, other]);
                }
            }
            if group.len() == before {
                return group;
            }
        }
    }

    /// `value + change` or `value - change`.
    fn moved(&mut self, value: &Expr, change: &Expr) {
        if let Expr::Call(call) = change
            && last_name(&call.func) == Some("timedelta")
        {
            self.note_of(value, if is_of_days(call) { DATE } else { MOMENT }, false);
        }
    }
}

/// Whether a `timedelta` is one of whole days.
fn is_of_days(call: &ExprCall) -> bool {
    let names = || call.arguments.keywords.iter().filter_map(|keyword| keyword.arg.as_ref());
    call.arguments.args.len() < 2 && names().all(|name| matches!(name.as_str(), "days" | "weeks"))
}

impl<'a> Visitor<'a> for Uses<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::AugAssign(node) = stmt
            && matches!(node.op, Operator::Add | Operator::Sub)
        {
            self.moved(&node.target, &node.value);
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Attribute(node) => match node.value.as_ref() {
                Expr::BinOp(difference) if difference.op == Operator::Sub => {
                    let class = match node.attr.as_str() {
                        "days" => Some(DATE),
                        "total_seconds" | "seconds" | "microseconds" => Some(MOMENT),
                        _ => None,
                    };
                    if let Some(class) = class {
                        for operand in [&difference.left, &difference.right] {
                            self.note_of(operand, class, true);
                        }
                        self.link(&difference.left, &difference.right);
                    }
                }
                own => {
                    if let Some(parameter) = self.parameter(own) {
                        self.attributes.entry(parameter).or_default().push(node.attr.to_string());
                    }
                }
            },
            Expr::BinOp(node) if matches!(node.op, Operator::Add | Operator::Sub) => {
                self.moved(&node.left, &node.right)
            }
            Expr::Compare(node) => {
                let lefts = std::iter::once(&*node.left).chain(&node.comparators);
                for ((left, right), op) in lefts.zip(&node.comparators).zip(&node.ops) {
                    match op {
                        CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE => self.link(left, right),
                        CmpOp::In | CmpOp::NotIn => {
                            self.looked_up.extend(self.parameter(left).zip(self.parameter(right)));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(parameters: &str, body: &str, known: &[(&str, &str)]) -> String {
        let parsed = twincell_syntax::parse::parse(&format!("def f({parameters}):\n    {body}\n"));
        let Some(definition) = parsed.suite()[0].as_function_def_stmt() else { panic!() };
        let known = known.iter().map(|(name, class)| ((*name).to_owned(), (*class).to_owned())).collect();
        let Moments { values, members } = moments(definition, &known);
        let short = |class: &str| class.rsplit('.').next().unwrap_or_default().to_owned();
        let values = values.iter().map(|(name, (class, _))| format!("{name} {}", short(class)));
        let members = members.iter().map(|(name, class)| format!("{name} of {}", short(class)));
        values.chain(members).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn dates_are_told_by_what_is_calculated_with_them() {
        for (parameters, body, expected) in [
            ("a, b", "return (a - b).days", "a date, b date"),
            ("a, b", "return (a - b).total_seconds()", "a datetime, b datetime"),
            ("a, b", "return (a - b).real", ""),
            ("a, b, n", "return a + timedelta(days=n) <= b", "a date"),
            ("a, b, n", "a += timedelta(hours=n)\n    return a < b", "a datetime, b datetime"),
            ("a, b", "return a.weekday() < 5 and a < b", "a date, b date"),
            ("a, b", "return a < b and b.hour and b.minute", "a datetime, b datetime"),
            ("a, b", "return a.quantize(b) < b", ""),
            ("a, free", "day = a\n    return day.weekday() < 5 and day not in free", "a date, free of date"),
        ] {
            assert_eq!(found(parameters, body, &[]), expected, "{body}");
        }
        assert_eq!(found("a, b", "return a < b", &[("b", DATE)]), "a date, b date");
        assert_eq!(found("a, b", "return a < b", &[("b", "decimal.Decimal")]), "");
    }
}
