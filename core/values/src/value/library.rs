//! Values of the standard library's value types: what stands in for a declared `date`, `Decimal` or `Path`.
//!
//! Objects in their place answer each question by itself: a day whose `weekday()` is 5 and whose `isoweekday()` is 3.
//! Real ones are consistent, and there are few of them that matter to code.

use super::Recipe;

/// The classes, each with the arguments of a few of its values, the most usual one first.
const CLASSES: [(&str, &[&[Argument]]); 8] = [
    (
        "datetime.date",
        &[
            &[Int(2024), Int(5), Int(17)],
            &[Int(2024), Int(2), Int(29)],
            &[Int(2023), Int(12), Int(31)],
            &[Int(2024), Int(1), Int(1)],
            &[Int(2024), Int(6), Int(15)],
            &[Int(2024), Int(6), Int(16)],
            &[Int(1970), Int(1), Int(1)],
        ],
    ),
    (
        "datetime.datetime",
        &[
            &[Int(2024), Int(5), Int(17), Int(12), Int(30)],
            &[Int(2024), Int(2), Int(29), Int(23), Int(59), Int(59), Int(999_999)],
            &[Int(2023), Int(12), Int(31), Int(6), Int(5), Int(4), Int(3)],
            &[Int(2024), Int(1), Int(1)],
            &[Int(2024), Int(6), Int(15), Int(0), Int(0), Int(1)],
            &[Int(2024), Int(6), Int(16), Int(18)],
            &[Int(1970), Int(1), Int(1)],
        ],
    ),
    (
        "datetime.time",
        &[
            &[Int(12), Int(30)],
            &[Int(0), Int(0)],
            &[Int(23), Int(59), Int(59), Int(999_999)],
            &[Int(6), Int(5), Int(4)],
        ],
    ),
    (
        "datetime.timedelta",
        &[
            &[Int(1)],
            &[Int(0)],
            &[Int(0), Int(90)],
            &[Int(2), Int(3601), Int(500_000)],
            &[Int(-1), Int(5)],
            &[Int(400)],
        ],
    ),
    ("decimal.Decimal", &[&[Str("1.50")], &[Str("0")], &[Str("-2.25")], &[Str("1E+2")], &[Str("3")], &[Str("0.005")]]),
    ("fractions.Fraction", &[&[Int(1), Int(2)], &[Int(0), Int(1)], &[Int(-3), Int(4)], &[Int(5), Int(1)]]),
    (
        "pathlib.Path",
        &[
            &[Str("a/b.txt")],
            &[Str(".")],
            &[Str("/tmp/x.tar.gz")],
            &[Str("b")],
            &[Str("a/.hidden")],
            &[Str("/")],
            &[Str("../c d/E.TXT")],
        ],
    ),
    ("uuid.UUID", &[&[Str("12345678-1234-5678-1234-567812345678")], &[Str("00000000-0000-0000-0000-000000000000")]]),
];

#[derive(Clone, Copy)]
enum Argument {
    Int(i64),
    Str(&'static str),
}

use Argument::{Int, Str};

/// The class with this name, whatever stands before it: `datetime.date` for `date`.
pub fn class_named(name: &str) -> Option<&'static str> {
    CLASSES.iter().map(|(class, _)| *class).find(|class| class.ends_with(name) && module_of(class, name).is_some())
}

/// The module of a class with this name.
fn module_of<'a>(class: &'a str, name: &str) -> Option<&'a str> {
    class.strip_suffix(name)?.strip_suffix('.')
}

/// A few values of a class, the most usual one first.
pub fn values(class: &str) -> Vec<Recipe> {
    let of_class = CLASSES.iter().filter(|(own, _)| *own == class).flat_map(|(_, values)| values.iter());
    let argument = |argument: &Argument| match argument {
        Int(value) => Recipe::Int(*value),
        Str(text) => Recipe::Str((*text).to_owned()),
    };
    of_class
        .map(|arguments| Recipe::Made { class: class.to_owned(), arguments: arguments.iter().map(argument).collect() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_known_by_its_own_name() {
        assert_eq!(class_named("date"), Some("datetime.date"));
        assert_eq!(class_named("datetime"), Some("datetime.datetime"));
        assert_eq!(class_named("Path"), Some("pathlib.Path"));
        for name in ["delta", "", "etime.date", "PurePath"] {
            assert_eq!(class_named(name), None, "{name}");
        }
    }

    #[test]
    fn values_are_written_as_they_are_made() {
        assert_eq!(values("datetime.date")[0].display(), "datetime.date(2024, 5, 17)");
        assert_eq!(values("decimal.Decimal")[0].display(), "decimal.Decimal('1.50')");
        assert_eq!(values("x.Y"), []);
    }
}
