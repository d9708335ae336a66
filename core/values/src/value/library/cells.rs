//! The values in tables and arrays: few different ones, so that some are equal, in any order.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::{made, text};
use crate::value::Recipe;
use crate::value::shape::{Column, Content};

/// What cells are drawn from.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'a> {
    /// Literals of the code.
    pub ints: &'a [i64],
    pub texts: &'a [String],
    /// The number of rows that tables and arrays of one execution have in common, unless they have another one.
    pub rows: usize,
}

/// How often a column has missing values, and how often a value of such a column is missing.
const HAS_MISSING: f64 = 0.3;
const MISSING: f64 = 0.35;
/// How often a value is one that the code compares with, or a neighbour of one.
const CANDIDATE: f64 = 0.4;
/// How often a value repeats the one before.
const REPEATED: f64 = 0.15;

/// What repeats in columns.
pub const KEYS: [&str; 3] = ["a", "b", "c"];
const TEXTS: [&str; 10] = ["a", "b", "B", "", " a ", "hello world", "x-1", "Ab", "c-d-e", "42"];
const DAYS: [&str; 8] = [
    "2024-05-17",
    "2024-05-18",
    "2024-02-29",
    "2023-12-31",
    "2024-01-01 06:30:00",
    "2024-06-16 23:59:59",
    "1970-01-01",
    "2024-01-31",
];

/// The words in names of columns, with what such columns hold. Names are a guess: what the code does takes precedence.
const WORDS: [(Content, &[&str]); 5] = [
    (
        Content::Dates,
        &["date", "time", "timestamp", "day", "when", "at", "datetime", "from", "until", "created", "updated", "due"],
    ),
    (Content::Truths, &["is", "has", "active", "enabled", "flag", "valid", "paid"]),
    (
        Content::Numbers,
        &[
            "price",
            "cost",
            "amount",
            "qty",
            "quantity",
            "count",
            "score",
            "value",
            "total",
            "sales",
            "rate",
            "age",
            "number",
            "num",
            "n",
            "x",
            "y",
            "weight",
            "height",
            "size",
            "points",
            "salary",
            "revenue",
            "profit",
            "balance",
            "percent",
            "ratio",
            "year",
            "month",
            "hours",
            "minutes",
            "stock",
            "temperature",
            "priority",
            "level",
            "rank",
            "units",
            "tax",
            "discount",
            "length",
            "width",
            "volume",
            "distance",
            "delay",
        ],
    ),
    (
        Content::Keys,
        &["id", "key", "category", "group", "region", "country", "type", "kind", "status", "code", "label"],
    ),
    (
        Content::Texts,
        &["name", "text", "title", "email", "city", "address", "comment", "description", "first", "last", "url"],
    ),
];

/// What a column holds.
pub(super) fn content(column: &Column) -> Content {
    let (is_text, is_number) = column.candidates.iter().fold((false, false), |(text, number), value| {
        (text || matches!(value, Recipe::Str(_)), number || matches!(value, Recipe::Int(_) | Recipe::Float(_)))
    });
    match column.contents.first() {
        Some(Content::Keys) | None if is_text => Content::Texts,
        Some(Content::Keys) | None if is_number => Content::Numbers,
        Some(Content::Keys) | None => match by_name(&column.name) {
            Some(named) if named == Content::Keys || column.contents.is_empty() => named,
            Some(named @ (Content::Dates | Content::Texts)) => named,
            _ if column.contents.is_empty() => Content::Numbers,
            _ => Content::Keys,
        },
        Some(content) => *content,
    }
}

fn by_name(name: &str) -> Option<Content> {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    // The last word says what it is: `customer_name`.
    words.iter().rev().find_map(|word| WORDS.iter().find(|(_, known)| known.contains(word))).map(|(found, _)| *found)
}

/// The values of a column.
pub(super) fn values(random: &mut Pcg64Mcg, column: &Column, count: usize, cells: &Cells<'_>) -> Vec<Recipe> {
    let content = content(column);
    let is_whole = random.random_bool(0.5);
    let has_missing = content != Content::Truths && random.random_bool(HAS_MISSING);
    let mut values: Vec<Recipe> = Vec::with_capacity(count);
    for _ in 0..count {
        let value = match values.last() {
            Some(last) if random.random_bool(REPEATED) => last.clone(),
            _ if has_missing && random.random_bool(MISSING) => Recipe::None,
            _ => value(random, column, content, is_whole, cells),
        };
        values.push(value);
    }
    values
}

fn value(random: &mut Pcg64Mcg, column: &Column, content: Content, is_whole: bool, cells: &Cells<'_>) -> Recipe {
    let of_content = |candidate: &&Recipe| match content {
        Content::Numbers => matches!(candidate, Recipe::Int(_) | Recipe::Float(_)),
        Content::Texts | Content::DateTexts => matches!(candidate, Recipe::Str(_)),
        Content::Keys => true,
        Content::Dates | Content::Truths => false,
    };
    let candidates: Vec<&Recipe> = column.candidates.iter().filter(of_content).collect();
    if !candidates.is_empty() && random.random_bool(CANDIDATE) {
        let candidate = candidates[random.random_range(0..candidates.len())];
        return match candidate {
            Recipe::Int(number) => Recipe::Int(number.saturating_add(random.random_range(-1..=1))),
            Recipe::Float(number) => Recipe::Float(number + f64::from(random.random_range(-1..=1))),
            other => other.clone(),
        };
    }
    let one = |random: &mut Pcg64Mcg, of: &[&str]| text(of[random.random_range(0..of.len())]);
    match content {
        Content::Numbers => number(random, is_whole, cells),
        Content::Truths => Recipe::Bool(random.random_bool(0.5)),
        Content::Keys => one(random, &KEYS),
        Content::Texts if !cells.texts.is_empty() && random.random_bool(0.25) => {
            Recipe::Str(cells.texts[random.random_range(0..cells.texts.len())].clone())
        }
        Content::Texts => one(random, &TEXTS),
        Content::Dates | Content::DateTexts => one(random, &DAYS),
    }
}

/// A small number. Sums and products of such numbers are exact, in any order.
pub(super) fn number(random: &mut Pcg64Mcg, is_whole: bool, cells: &Cells<'_>) -> Recipe {
    let number = match random.random_range(0..10) {
        0 => 0,
        1 => -random.random_range(1..=4),
        2 => [100, 1000, 60][random.random_range(0..3)],
        3 if !cells.ints.is_empty() => {
            cells.ints[random.random_range(0..cells.ints.len())].clamp(-1_000_000, 1_000_000)
        }
        _ => random.random_range(1..=12),
    };
    if is_whole {
        Recipe::Int(number)
    } else {
        Recipe::Float(number as f64 + f64::from(random.random_range(0..4)) / 4.0)
    }
}

/// Values as a column of the kind that they have in a table: dates are no texts there.
pub(super) fn column(content: Content, values: Vec<Recipe>, categories: Option<Categories>) -> Recipe {
    if values.is_empty() {
        let kind = match content {
            Content::Dates => "datetime64[ns]",
            Content::Numbers => "float64",
            Content::Truths => "bool",
            Content::Texts | Content::DateTexts | Content::Keys => "object",
        };
        return super::with(made("pandas.Series", [Recipe::List(vec![])]), "dtype", text(kind));
    }
    let values = match values.iter().all(|value| *value == Recipe::None) {
        // Otherwise the column would hold objects.
        true if content == Content::Numbers => values.iter().map(|_| made("builtins.float", [text("nan")])).collect(),
        _ => values,
    };
    match content {
        Content::Dates => super::with(made("pandas.to_datetime", [Recipe::List(values)]), "format", text("ISO8601")),
        Content::Texts | Content::Keys => match categories {
            None => Recipe::List(values),
            Some(Categories::Used) => made("pandas.Categorical", [Recipe::List(values)]),
            Some(Categories::WithUnused) => {
                let all = Recipe::List(all_categories(&values));
                super::with(made("pandas.Categorical", [Recipe::List(values)]), "categories", all)
            }
        },
        _ => Recipe::List(values),
    }
}

/// Which categories a column of categories has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Categories {
    /// Those of its cells.
    Used,
    /// One more.
    WithUnused,
}

/// A category that no cell has.
const UNUSED: &str = "unused";

/// The values of a column, each once, and a category that no cell has.
pub(super) fn all_categories(values: &[Recipe]) -> Vec<Recipe> {
    let mut found: Vec<Recipe> = Vec::new();
    for value in values.iter().filter(|value| **value != Recipe::None).chain([&text(UNUSED)]) {
        if !found.contains(value) {
            found.push(value.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_may_have_no_cell() {
        let values = vec![text("b"), Recipe::None, text("b")];
        let column = |categories| column(Content::Keys, values.clone(), categories).display();
        assert_eq!(column(Some(Categories::Used)), "pd.Categorical(['b', None, 'b'])");
        let with_unused = column(Some(Categories::WithUnused));
        assert_eq!(with_unused, "pd.Categorical(['b', None, 'b'], categories=['b', 'unused'])");
    }

    #[test]
    fn uses_come_before_candidates_and_these_before_names() {
        let of = |name: &str, contents: &[Content], candidates: &[Recipe]| {
            content(&Column { name: name.into(), contents: contents.to_vec(), candidates: candidates.to_vec() })
        };
        assert_eq!(of("price", &[Content::Texts], &[]), Content::Texts);
        assert_eq!(of("price", &[], &[text("low")]), Content::Texts);
        assert_eq!(of("unit_price", &[], &[]), Content::Numbers);
        assert_eq!(of("customer_name", &[Content::Keys], &[]), Content::Texts);
        assert_eq!(of("created_at", &[], &[]), Content::Dates);
        assert_eq!(of("anything", &[Content::Keys], &[]), Content::Keys);
    }
}
