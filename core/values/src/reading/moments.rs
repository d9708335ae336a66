//! Which parameters are dates or moments, from what a function calculates with them: `(end - start).days`,
//! `day + timedelta(days=1)`, and from what it compares with a date.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{CmpOp, Expr, ExprCall, Operator, Stmt, StmtFunctionDef};

use super::bindings::{aliases, step};
use super::types::told;
use super::written::named;

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
        match told(&attributes.into_iter().map(str::to_owned).collect::<Vec<_>>()) {
            Some((class @ (DATE | MOMENT), is_certain)) => uses.note(name, class, is_certain),
            // What is told to be something else is neither.
            Some(_) => _ = uses.others.insert(name),
            None => {}
        }
    }
    let mut found = Moments::default();
    for group in uses.groups() {
        let evidence = || group.iter().filter_map(|one| uses.evidence.get(one)).flatten();
        let is_other = group.iter().any(|one| uses.others.contains(one));
        // What a function says for certain counts first, and a moment is a date as well.
        let strongest = evidence().max_by_key(|(class, is_certain)| (*is_certain, *class == MOMENT));
        let Some((class, _)) = strongest.filter(|_| !is_other) else { continue };
        for name in group {
            let is_certain = uses.evidence.get(name).is_some_and(|own| own.contains(&(class, true)));
            found.values.insert(name.to_owned(), (class, is_certain));
        }
    }
    for (value, container) in &uses.looked_up {
        if let Some((class, _)) = found.values.get(*value).filter(|_| !uses.mappings.contains(container)) {
            found.members.insert((*container).to_owned(), class);
        }
    }
    found
}

#[derive(Default)]
struct Uses<'a> {
    /// The parameter that each name stands for.
    stands_for: BTreeMap<&'a str, &'a str>,
    attributes: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// The classes that something says of a parameter, and whether for certain.
    evidence: BTreeMap<&'a str, BTreeSet<(&'static str, bool)>>,
    others: BTreeSet<&'a str>,
    /// Parameters that are compared by their order, or subtracted from each other.
    links: BTreeSet<(&'a str, &'a str)>,
    /// Values, and the parameters in which they are looked up.
    looked_up: BTreeSet<(&'a str, &'a str)>,
    /// Parameters of which the code asks for items by their keys.
    mappings: BTreeSet<&'a str>,
}

impl<'a> Uses<'a> {
    fn parameter(&self, expr: &Expr) -> Option<&'a str> {
        self.stands_for.get(expr.as_name_expr()?.id.as_str()).copied()
    }

    fn note(&mut self, parameter: &'a str, class: &'static str, is_certain: bool) {
        self.evidence.entry(parameter).or_default().insert((class, is_certain));
    }

    /// Two values that are compared by their order or subtracted: they are of one class.
    fn pair(&mut self, one: &Expr, other: &Expr) {
        let (one, other) = (start(one), start(other));
        match (self.parameter(one), self.parameter(other)) {
            (Some(one), Some(other)) => _ = self.links.insert((one, other)),
            (Some(parameter), None) => given(other).into_iter().for_each(|class| self.note(parameter, class, true)),
            (None, Some(parameter)) => given(one).into_iter().for_each(|class| self.note(parameter, class, true)),
            (None, None) => {}
        }
    }

    /// The parameters, those of one class together.
    fn groups(&self) -> Vec<BTreeSet<&'a str>> {
        let mut groups: Vec<BTreeSet<&str>> = self.evidence.keys().map(|name| BTreeSet::from([*name])).collect();
        for (one, other) in &self.links {
            let mut joined = BTreeSet::from([*one, *other]);
            groups.retain_mut(|group| {
                let is_joined = group.contains(one) || group.contains(other);
                if is_joined {
                    joined.append(group);
                }
                !is_joined
            });
            groups.push(joined);
        }
        groups
    }
}

/// The value that is moved: `day` of `day + timedelta(days=1)`.
fn start(expr: &Expr) -> &Expr {
    match expr {
        Expr::BinOp(node) if matches!(node.op, Operator::Add | Operator::Sub) && step(&node.right).is_some() => {
            start(&node.left)
        }
        _ => expr,
    }
}

/// The class of what a well-known function gives: `datetime.now()`, `date.today()`.
fn given(expr: &Expr) -> Option<&'static str> {
    let called = named(&expr.as_call_expr()?.func)?;
    let (class, function) = called.rsplit_once('.')?;
    match (class.rsplit('.').next()?, function) {
        ("datetime", "now" | "utcnow" | "today" | "strptime" | "fromtimestamp" | "utcfromtimestamp" | "combine") => {
            Some(MOMENT)
        }
        ("date", "today" | "fromtimestamp") => Some(DATE),
        ("timezone", "now") => Some(MOMENT),
        _ => None,
    }
}

/// The class of what a `timedelta` moves, by its parts: whole days move dates.
fn moved_by(call: &ExprCall) -> Option<&'static str> {
    let names: Option<Vec<&str>> =
        call.arguments.keywords.iter().map(|keyword| Some(keyword.arg.as_ref()?.as_str())).collect();
    let (names, count) = (names?, call.arguments.len());
    let is_of_days = call.arguments.args.len() < 2 && names.iter().all(|name| matches!(*name, "days" | "weeks"));
    (count > 0).then_some(if is_of_days { DATE } else { MOMENT })
}

impl<'a> Visitor<'a> for Uses<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::AugAssign(node) = stmt
            && matches!(node.op, Operator::Add | Operator::Sub)
            && let Some(class) = step(&node.value).and_then(moved_by)
            && let Some(parameter) = self.parameter(&node.target)
        {
            self.note(parameter, class, false);
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Attribute(node) => match node.value.as_ref() {
                Expr::BinOp(difference) if difference.op == Operator::Sub => {
                    // Differences of moments have days, too, and other differences have seconds.
                    let class = match node.attr.as_str() {
                        "days" => Some(DATE),
                        "total_seconds" | "seconds" | "microseconds" => Some(MOMENT),
                        _ => None,
                    };
                    let operands = [&difference.left, &difference.right].map(|operand| self.parameter(start(operand)));
                    if let (Some(class), [Some(one), Some(other)]) = (class, operands) {
                        self.note(one, class, false);
                        self.note(other, class, false);
                    }
                    if class.is_some() {
                        self.pair(&difference.left, &difference.right);
                    }
                }
                own => {
                    if let Some(parameter) = self.parameter(own) {
                        self.attributes.entry(parameter).or_default().insert(&node.attr);
                        if matches!(node.attr.as_str(), "get" | "items" | "keys" | "values" | "setdefault" | "pop") {
                            self.mappings.insert(parameter);
                        }
                    }
                }
            },
            Expr::Subscript(node) => _ = self.parameter(&node.value).map(|parameter| self.mappings.insert(parameter)),
            Expr::BinOp(node) if matches!(node.op, Operator::Add | Operator::Sub) => {
                if let Some(class) = step(&node.right).and_then(moved_by)
                    && let Some(parameter) = self.parameter(start(&node.left))
                {
                    self.note(parameter, class, false);
                }
            }
            Expr::Compare(node) => {
                let lefts = std::iter::once(&*node.left).chain(&node.comparators);
                for ((left, right), op) in lefts.zip(&node.comparators).zip(&node.ops) {
                    match op {
                        CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE => self.pair(left, right),
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
            ("a, b, n", "return a + timedelta(days=n) <= b", "a date, b date"),
            ("a, n", "return datetime.now() > a + timedelta(days=n)", "a datetime"),
            ("a", "return (datetime.datetime.now() - a).days", "a datetime"),
            ("a", "return (date.today() - a).days", "a date"),
            ("a", "return (unknown() - a).days", ""),
            ("a, n", "return a + timedelta(**n)", ""),
            ("a", "return a.date or a.date", ""),
            ("self, a", "b = self\n    return b.weekday() and a", ""),
            ("a, b, n", "a += timedelta(hours=n)\n    return a < b", "a datetime, b datetime"),
            ("a, b", "return a.weekday() < 5 and a < b", "a date, b date"),
            ("a, b", "return a < b and b.hour and b.minute", "a datetime, b datetime"),
            ("a, b", "return a.quantize(b) < b", ""),
            ("a, free", "return a.weekday() and a in free and free[a]", "a date"),
            ("a, free", "day = a\n    return day.weekday() < 5 and day not in free", "a date, free of date"),
        ] {
            assert_eq!(found(parameters, body, &[]), expected, "{body}");
        }
        assert_eq!(found("a, b", "return a < b", &[("b", DATE)]), "a date, b date");
        assert_eq!(found("a, b", "return a < b", &[("b", "decimal.Decimal")]), "");
    }
}
