//! Which classes of the standard library values are of, from what a function says apart from annotations.

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{self as ast, Expr, StmtFunctionDef};

use super::facts::ModuleFacts;
use super::written::{literal, named};
use crate::value::{AbstractValue, ConstructorCall, Declared, Recipe, library};

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

/// The class whose objects alone have what the code asks for, and whether this tells it from all others.
pub(super) fn told(asked: &[String]) -> Option<(&'static str, bool)> {
    let among = |names: &[&str]| asked.iter().filter(|name| names.contains(&name.as_str())).count();
    let is_it = |telling: &&Telling| among(telling.any) > 0 || among(telling.two) > 1;
    TELLING.iter().find(is_it).map(|telling| (telling.class, among(telling.any) > 0))
}

/// Values of the standard library's classes that the code writes out: `time(6)`, `Decimal('0.01')`. What it compares
/// them with may well be equal.
pub(super) fn written(definition: &StmtFunctionDef) -> Vec<Recipe> {
    let mut written = LibraryValues::default();
    written.visit_body(&definition.body);
    written.0
}

/// The number of values that are kept.
const MOST: usize = 24;

#[derive(Default)]
struct LibraryValues(Vec<Recipe>);

impl<'a> Visitor<'a> for LibraryValues {
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
            let value = Recipe::from(ConstructorCall { class: class.to_owned(), arguments, keywords: vec![] });
            if !self.0.contains(&value) {
                self.0.push(value);
            }
        }
        walk_expr(self, expr);
    }
}

/// The names that are passed for those of time zones: `ZoneInfo(name)`.
pub(super) fn zone_names(definition: &StmtFunctionDef) -> Vec<String> {
    let mut named = ZoneNames::default();
    named.visit_body(&definition.body);
    named.0
}

#[derive(Default)]
struct ZoneNames(Vec<String>);

impl<'a> Visitor<'a> for ZoneNames {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr
            && let Some(callee) = named(&call.func)
            && matches!(callee.as_str(), "ZoneInfo" | "zoneinfo.ZoneInfo" | "pytz.timezone" | "tz.gettz")
            && let [Expr::Name(name)] = call.arguments.args.as_ref()
        {
            self.0.push(name.id.to_string());
        }
        walk_expr(self, expr);
    }
}

/// The class that the description of a parameter begins with: `DataFrame`, `datetime.date, optional`.
pub(super) fn documented(described: &str, known: &ModuleFacts) -> Option<Declared> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let word: String = described.trim_start_matches(['`', ':', '~']).chars().take_while(|c| is_part(*c)).collect();
    let name = word.rsplit('.').next().unwrap_or_default();
    let is_name = word.contains('.') || name.starts_with(char::is_uppercase) || matches!(name, "ndarray" | "datetime");
    let class = known.library_class(&word).filter(|_| is_name)?;
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

    #[test]
    fn classes_are_told_by_what_only_they_have() {
        for (asked, expected) in [
            (&["weekday"][..], Some("datetime.date")),
            (&["year", "month"], Some("datetime.date")),
            (&["date", "hour"], Some("datetime.datetime")),
            (&["quantize"], Some("decimal.Decimal")),
            (&["day"], None),
            (&["items"], None),
        ] {
            let asked: Vec<String> = asked.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(told(&asked).map(|(class, _)| class), expected, "{asked:?}");
        }
    }

    #[test]
    fn names_of_time_zones_are_told_by_what_takes_them() {
        let parsed = twincell_syntax::parse::parse("def f(a, b):\n    return ZoneInfo(a), pytz.timezone(b), zone(a)\n");
        let Some(definition) = parsed.suite()[0].as_function_def_stmt() else { panic!() };
        assert_eq!(zone_names(definition), ["a", "b"]);
    }

    #[test]
    fn docstrings_name_classes() {
        let class = |text: &str| documented(text, &ModuleFacts::default()).map(|declared| declared.library[0].clone());
        assert_eq!(class("pd.DataFrame").as_deref(), Some("pandas.DataFrame"));
        assert_eq!(class("datetime.date, optional").as_deref(), Some("datetime.date"));
        assert_eq!((class("Path to the file"), class("date")), (None, None));
    }
}
