//! Which classes of the standard library values are of, from what a function says apart from annotations.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{self as ast, Expr, StmtFunctionDef};

use super::uses::literal;
use crate::value::{AbstractValue, Declared, Made, Recipe, library};

/// Attributes and methods that together tell a class. Any of the first, or two of the second.
struct Telling {
    class: &'static str,
    any: &'static [&'static str],
    two: &'static [&'static str],
}

/// The more special class is first.
const TELLING: [Telling; 4] = [
    Telling {
        class: "datetime.datetime",
        any: &["astimezone", "utcoffset", "timetz"],
        two: &["hour", "minute", "second", "microsecond", "tzinfo", "timestamp", "date", "time"],
    },
    Telling {
        class: "datetime.date",
        any: &["weekday", "isoweekday", "isocalendar", "toordinal", "strftime"],
        two: &["year", "month", "day", "isoformat"],
    },
    Telling { class: "datetime.timedelta", any: &["total_seconds"], two: &[] },
    Telling { class: "decimal.Decimal", any: &["quantize", "is_signed", "as_tuple"], two: &[] },
];

/// The classes of parameters, by what the code asks of them.
/// Whether this tells them from all others comes second.
pub(super) fn by_uses(definition: &StmtFunctionDef) -> BTreeMap<String, (&'static str, bool)> {
    let mut asked = Asked::default();
    asked.visit_body(&definition.body);
    let parameters = definition.parameters.iter_non_variadic_params().map(|one| one.parameter.name.to_string());
    parameters.filter_map(|name| Some((name.clone(), told(asked.0.get(&name)?)?))).collect()
}

fn told(asked: &[String]) -> Option<(&'static str, bool)> {
    let among = |names: &[&str]| asked.iter().filter(|name| names.contains(&name.as_str())).count();
    let is_it = |telling: &&Telling| among(telling.any) > 0 || among(telling.two) > 1;
    TELLING.iter().find(is_it).map(|telling| (telling.class, among(telling.any) > 0))
}

/// The attributes that are asked of each name.
#[derive(Default)]
struct Asked(BTreeMap<String, Vec<String>>);

impl<'a> Visitor<'a> for Asked {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Attribute(node) = expr
            && let Expr::Name(name) = node.value.as_ref()
        {
            let asked = self.0.entry(name.id.to_string()).or_default();
            if !asked.iter().any(|known| known == node.attr.as_str()) {
                asked.push(node.attr.to_string());
            }
        }
        walk_expr(self, expr);
    }
}

/// Values of the standard library's classes that the code writes out: `time(6)`, `Decimal('0.01')`. What it compares
/// them with may well be equal.
pub(super) fn written(definition: &StmtFunctionDef) -> Vec<Recipe> {
    let mut written = Written::default();
    written.visit_body(&definition.body);
    written.0
}

/// The number of values that are kept.
const MOST: usize = 24;

#[derive(Default)]
struct Written(Vec<Recipe>);

impl<'a> Visitor<'a> for Written {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr
            && let Expr::Name(ast::ExprName { id: name, .. })
            | Expr::Attribute(ast::ExprAttribute { attr: ast::Identifier { id: name, .. }, .. }) = call.func.as_ref()
            && let Some(class) = library::class_named(name)
            && library::is_standard(class)
            && call.arguments.keywords.is_empty()
            && !call.arguments.args.is_empty()
            && let Some(arguments) = call.arguments.args.iter().map(literal).collect::<Option<Vec<_>>>()
            && self.0.len() < MOST
        {
            let value = Recipe::from(Made { class: class.to_owned(), arguments, keywords: vec![] });
            if !self.0.contains(&value) {
                self.0.push(value);
            }
        }
        walk_expr(self, expr);
    }
}

/// The class that the description of a parameter begins with: `DataFrame`, `datetime.date, optional`.
pub(super) fn documented(described: &str) -> Option<Declared> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let word: String = described.trim_start_matches(['`', ':', '~']).chars().take_while(|c| is_part(*c)).collect();
    let name = word.rsplit('.').next().unwrap_or_default();
    let is_name = word.contains('.') || name.starts_with(char::is_uppercase) || matches!(name, "ndarray" | "datetime");
    let class = library::class_named(name).filter(|_| is_name)?;
    let declared = Declared { library: vec![class.to_owned()], ..Declared::of(&[AbstractValue::Object]) };
    let rest = &described[described.find(&word)? + word.len()..];
    match rest.trim_start_matches(['`', ' ', ',']) {
        "" => Some(declared),
        "optional" | "or None" => Some(declared.or(&Declared::of(&[AbstractValue::None]))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruff_python_ast::Stmt;
    use twincell_syntax::parse::parse;

    #[test]
    fn classes_are_told_by_what_only_they_have() {
        for (code, expected) in [
            ("x.weekday() >= 5", Some("datetime.date")),
            ("x.year, x.month", Some("datetime.date")),
            ("x.date(), x.hour", Some("datetime.datetime")),
            ("x.quantize(y)", Some("decimal.Decimal")),
            ("x.day", None),
            ("x.items()", None),
        ] {
            let parsed = parse(&format!("def f(x):\n    return {code}\n")).into_syntax();
            let Some(Stmt::FunctionDef(definition)) = parsed.body.first() else { panic!() };
            assert_eq!(by_uses(definition).get("x").map(|(class, _)| *class), expected, "{code}");
        }
    }

    #[test]
    fn docstrings_name_classes() {
        let class = |text: &str| documented(text).map(|declared| declared.library[0].clone());
        assert_eq!(class("pd.DataFrame").as_deref(), Some("pandas.DataFrame"));
        assert_eq!(class("datetime.date, optional").as_deref(), Some("datetime.date"));
        assert_eq!((class("Path to the file"), class("date")), (None, None));
    }
}
