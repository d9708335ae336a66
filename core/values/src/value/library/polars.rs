//! Data frames, lazy frames and series of polars. Each column has a type of its own, also without rows.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::cells::{self, Cells};
use super::tables::{CATEGORY, columns_of, picked, plainer, row_count, row_picks, rows};
use super::{Provider, ints, made, text, with};
use crate::value::shape::{Column, Content, Shape};
use crate::value::{ConstructorCall, Recipe};

pub const FRAME: &str = "polars.DataFrame";
pub const LAZY: &str = "polars.LazyFrame";
pub const SERIES: &str = "polars.Series";

pub(super) const PROVIDERS: &[Provider] = &[
    Provider::new(FRAME, || frames(FRAME)).changeable(),
    Provider::new(LAZY, || frames(LAZY)),
    Provider::new(SERIES, all_series).changeable(),
];

/// The argument that says of which types the columns are.
const SCHEMA: &str = "schema";
/// How often dates have no time of day.
const WHOLE_DAYS: f64 = 0.25;

fn typed(name: &str) -> Recipe {
    made(&format!("polars.{name}"), [])
}

fn frames(class: &str) -> Vec<Recipe> {
    let frame = |numbers: Vec<Recipe>, texts: Vec<Recipe>| {
        let columns = vec![("a", typed("Int64"), numbers), ("b", typed("String"), texts)];
        of_columns(class, columns.into_iter().map(|(name, kind, values)| (name.to_owned(), kind, values)))
    };
    vec![
        frame(ints([1, 2, 2]).to_vec(), ["x", "y", "x"].map(text).to_vec()),
        frame(vec![], vec![]),
        frame(ints([3]).to_vec(), vec![Recipe::None]),
    ]
}

fn all_series() -> Vec<Recipe> {
    let series = |kind: &str, values: Vec<Recipe>| with(made(SERIES, [Recipe::List(values)]), "dtype", typed(kind));
    vec![
        series("Int64", ints([1, 2, 2]).to_vec()),
        series("Float64", vec![]),
        series("Float64", vec![Recipe::Float(1.5), Recipe::None]),
    ]
}

fn of_columns(class: &str, columns: impl Iterator<Item = (String, Recipe, Vec<Recipe>)>) -> Recipe {
    let (mut data, mut schema) = (Vec::new(), Vec::new());
    for (name, kind, values) in columns {
        data.push((Recipe::Str(name.clone()), Recipe::List(values)));
        schema.push((Recipe::Str(name), kind));
    }
    with(made(class, [Recipe::Dict(data)]), SCHEMA, Recipe::Dict(schema))
}

/// A frame with the columns that the code names.
pub(super) fn frame(class: &str, shape: &Shape, random: &mut Pcg64Mcg, cells: &Cells<'_>) -> Recipe {
    let rows = rows(random, cells);
    let columns = columns_of(shape, random);
    let column = |column: &Column| {
        let (kind, values) = filled(column, random, rows, cells);
        (column.name.clone(), kind, values)
    };
    let columns: Vec<_> = columns.iter().map(column).collect();
    of_columns(class, columns.into_iter())
}

/// A series.
pub(super) fn series(shape: &Shape, random: &mut Pcg64Mcg, cells: &Cells<'_>) -> Recipe {
    let rows = rows(random, cells);
    let mut own = shape.own.clone();
    if own.contents.is_empty() && own.candidates.is_empty() {
        own.note(Content::Numbers);
    }
    let (kind, values) = filled(&own, random, rows, cells);
    let name = random.random_bool(0.3).then(|| text("value"));
    with(made(SERIES, name.into_iter().chain([Recipe::List(values)])), "dtype", kind)
}

/// The type of a column and its values.
fn filled(column: &Column, random: &mut Pcg64Mcg, rows: usize, cells: &Cells<'_>) -> (Recipe, Vec<Recipe>) {
    let values = cells::values(random, column, rows, cells);
    match cells::content(column) {
        Content::Numbers if values.iter().any(|value| matches!(value, Recipe::Float(_))) || random.random_bool(0.2) => {
            (typed("Float64"), values.into_iter().map(decimal).collect())
        }
        Content::Numbers => (typed("Int64"), values),
        Content::Truths => (typed("Boolean"), values),
        Content::Dates => {
            let is_day = random.random_bool(WHOLE_DAYS);
            let kind = if is_day { typed("Date") } else { typed("Datetime") };
            (kind, values.iter().map(|value| moment(value, is_day)).collect())
        }
        Content::Keys if is_of_numbers(&values) => (typed("Int64"), values),
        content => {
            let values: Vec<Recipe> = values.into_iter().map(written).collect();
            let is_category = content != Content::DateTexts && random.random_bool(CATEGORY);
            let kind = match is_category {
                false => typed("String"),
                true if random.random_bool(0.5) => typed("Categorical"),
                true => made("polars.Enum", [Recipe::List(cells::all_categories(&values))]),
            };
            (kind, values)
        }
    }
}

fn is_of_numbers(values: &[Recipe]) -> bool {
    let mut own = values.iter().filter(|value| **value != Recipe::None).peekable();
    own.peek().is_some() && own.all(|value| matches!(value, Recipe::Int(_)))
}

fn decimal(value: Recipe) -> Recipe {
    match value {
        Recipe::Int(number) => Recipe::Float(number as f64),
        other => other,
    }
}

/// A value as a text: a column has one type.
fn written(value: Recipe) -> Recipe {
    match value {
        value @ (Recipe::None | Recipe::Str(_)) => value,
        other => Recipe::Str(other.display()),
    }
}

/// The moment that a text says: `2024-01-01 06:30:00`.
fn moment(value: &Recipe, is_day: bool) -> Recipe {
    let Recipe::Str(said) = value else { return value.clone() };
    let parts = said.split(|letter: char| !letter.is_ascii_digit()).filter_map(|part| part.parse().ok());
    let class = if is_day { "datetime.date" } else { "datetime.datetime" };
    made(class, parts.take(if is_day { 3 } else { 6 }).map(Recipe::Int))
}

/// The same table with its rows in another order, with other values, and without rows.
pub(super) fn others(value: &Recipe) -> Vec<Recipe> {
    let rows = row_count(value);
    let backwards: Vec<usize> = (0..rows).rev().collect();
    let mut found = vec![picked(value, &backwards), plainer(value)];
    found.extend((rows > 0).then(|| picked(value, &[])));
    found.extend((rows > 1).then(|| picked(value, &[0])));
    let Recipe::Made(call) = value else { return found };
    found.extend(if call.class == SERIES { all_series() } else { frames(&call.class) });
    found
}

/// The same table with fewer rows, with fewer columns, or with plainer values.
pub(super) fn simpler(value: &Recipe) -> Vec<Recipe> {
    let mut found = row_picks(value);
    let Recipe::Made(call) = value else { return found };
    let ConstructorCall { class, arguments, keywords } = &**call;
    if let ([Recipe::Dict(entries)], [(schema, Recipe::Dict(kinds))]) = (arguments.as_slice(), keywords.as_slice())
        && entries.len() > 1
    {
        let without = |all: &[(Recipe, Recipe)], out: usize| {
            let kept = all.iter().enumerate().filter(|(at, _)| *at != out);
            Recipe::Dict(kept.map(|(_, entry)| entry.clone()).collect())
        };
        found.extend((0..entries.len()).rev().map(|out| {
            let keywords = vec![(schema.clone(), without(kinds, out))];
            ConstructorCall { class: class.clone(), arguments: vec![without(entries, out)], keywords }.into()
        }));
    }
    found.push(plainer(value));
    found.dedup();
    found.retain(|other| other != value);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn drawn(seed: u64) -> Recipe {
        let mut shape = Shape::default();
        for (name, content) in [("price", Content::Numbers), ("day", Content::Dates), ("kind", Content::Keys)] {
            shape.column(name).unwrap().note(content);
        }
        shape.column("kind").unwrap().note_candidate(Recipe::Int(3));
        let cells = Cells { ints: &[], texts: &[], rows: seed as usize % 5 };
        frame(FRAME, &shape, &mut Pcg64Mcg::seed_from_u64(seed), &cells)
    }

    type Entries = [(Recipe, Recipe)];

    fn parts(value: &Recipe) -> (&Entries, &Entries) {
        let Recipe::Made(call) = value else { panic!() };
        let [Recipe::Dict(entries)] = call.arguments.as_slice() else { panic!() };
        let [(_, Recipe::Dict(kinds))] = call.keywords.as_slice() else { panic!() };
        (entries, kinds)
    }

    #[test]
    fn each_column_has_a_type_and_values_of_it() {
        for seed in 0..80 {
            let value = drawn(seed);
            let (entries, kinds) = parts(&value);
            assert_eq!(entries.len(), kinds.len());
            for ((name, values), (own, kind)) in entries.iter().zip(kinds) {
                let Recipe::List(values) = values else { panic!() };
                let fits = |value: &Recipe| match (kind.display().as_str(), value) {
                    (_, Recipe::None) => true,
                    ("pl.Int64()", value) => matches!(value, Recipe::Int(_)),
                    ("pl.Float64()", value) => matches!(value, Recipe::Float(_)),
                    ("pl.Date()" | "pl.Datetime()", value) => matches!(value, Recipe::Made(_)),
                    (_, value) => matches!(value, Recipe::Str(_)),
                };
                assert!(name == own && values.iter().all(fits), "{}", value.display());
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_frame() {
        assert_eq!(drawn(3), drawn(3));
        assert!((0..20).any(|seed| drawn(seed) != drawn(seed + 1)));
    }

    #[test]
    fn simpler_frames_keep_the_types_of_their_columns_and_come_to_an_end() {
        let mut value = drawn(4);
        let mut steps = 0;
        while let Some(next) = simpler(&value).into_iter().next() {
            let (entries, kinds) = parts(&next);
            assert!(row_count(&next) <= row_count(&value) && next != value);
            assert!(entries.iter().zip(kinds).all(|((name, _), (own, _))| name == own));
            value = next;
            steps += 1;
            assert!(steps < 100);
        }
        assert_eq!((row_count(&value), parts(&value).0.len()), (1, 1));
    }

    #[test]
    fn moments_are_read_from_texts() {
        assert_eq!(moment(&text("2024-01-31"), true).display(), "datetime.date(2024, 1, 31)");
        assert_eq!(moment(&text("2024-01-01 06:30:00"), false).display(), "datetime.datetime(2024, 1, 1, 6, 30, 0)");
    }
}
