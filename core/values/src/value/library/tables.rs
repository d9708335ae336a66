//! Data frames and series of pandas.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::cells::{self, Categories, Cells};
use super::{Provider, ints, made, text, with};
use crate::value::shape::{Column, Content, Shape};
use crate::value::{ConstructorCall, Recipe};

pub const FRAME: &str = "pandas.DataFrame";
pub const SERIES: &str = "pandas.Series";

pub(super) const PROVIDERS: &[Provider] = &[
    Provider::new(FRAME, frames).changeable(),
    Provider::new(SERIES, all_series).changeable(),
    Provider::new("pandas.Timestamp", moments),
    Provider::new("pandas.Timedelta", spans),
    Provider::new("pandas.DatetimeIndex", indices).made_by(&["pandas.to_datetime"]),
];

/// How often a table has one column more than the code names, and how often texts are categories.
const FURTHER_COLUMN: f64 = 0.2;
pub(super) const CATEGORY: f64 = 0.06;
/// How often tables of one execution have the same number of rows.
const SAME_ROWS: f64 = 0.8;
/// How often the labels of the rows are their numbers.
const PLAIN_INDEX: f64 = 0.6;

fn frames() -> Vec<Recipe> {
    let frame = |columns: [Vec<Recipe>; 2]| {
        let entries = ["a", "b"].into_iter().zip(columns).map(|(name, values)| (text(name), Recipe::List(values)));
        made(FRAME, [Recipe::Dict(entries.collect())])
    };
    vec![
        frame([ints([1, 2, 2]).to_vec(), ["x", "y", "x"].map(text).to_vec()]),
        frame([vec![], vec![]]),
        frame([ints([3]).to_vec(), vec![Recipe::None]]),
    ]
}

fn all_series() -> Vec<Recipe> {
    let series = |values: Vec<Recipe>| made(SERIES, [Recipe::List(values)]);
    vec![
        series(ints([1, 2, 2]).to_vec()),
        with(series(vec![]), "dtype", text("float64")),
        series(vec![Recipe::Float(1.5), Recipe::None]),
    ]
}

fn moments() -> Vec<Recipe> {
    let moment = |day: &str| made("pandas.Timestamp", [text(day)]);
    let zoned = with(moment("2024-05-17 12:30"), "tz", text("UTC"));
    let days = ["2024-05-17 12:30", "2024-02-29", "2023-12-31 23:59:59", "2024-01-01", "2024-06-16 18:00"];
    days.map(moment).into_iter().chain([zoned]).collect()
}

fn spans() -> Vec<Recipe> {
    ["1 days", "0 days", "90 min", "-1 days"].map(|span| made("pandas.Timedelta", [text(span)])).to_vec()
}

fn indices() -> Vec<Recipe> {
    let index = |days: &[&str]| made("pandas.to_datetime", [Recipe::List(days.iter().map(|day| text(day)).collect())]);
    vec![index(&["2024-05-17", "2024-05-18"]), index(&[]), index(&["2024-02-29", "2023-12-31", "2024-02-29"])]
}

/// The columns that the code names, and sometimes a further one.
pub(super) fn columns_of(shape: &Shape, random: &mut Pcg64Mcg) -> Vec<Column> {
    let mut columns = shape.columns.clone();
    if columns.is_empty() {
        columns = ["a", "b", "c"].map(Column::named).to_vec();
        if shape.is_numeric {
            columns.iter_mut().for_each(|column| column.note(Content::Numbers));
        } else {
            columns[2].note(Content::Keys);
        }
    } else if random.random_bool(FURTHER_COLUMN) && columns.iter().all(|column| column.name != "extra") {
        let mut further = Column::named("extra");
        further.note(Content::Numbers);
        columns.push(further);
    }
    columns
}

/// A data frame with the columns that the code names.
pub(super) fn frame(shape: &Shape, random: &mut Pcg64Mcg, cells: &Cells<'_>) -> Recipe {
    let columns = columns_of(shape, random);
    let rows = rows(random, cells);
    let entry = |column: &Column| {
        let values = cells::values(random, column, rows, cells);
        let categories = categories(random);
        (text(&column.name), cells::column(cells::content(column), values, categories))
    };
    let entries = columns.iter().map(entry).collect();
    indexed(made(FRAME, [Recipe::Dict(entries)]), shape, random, rows)
}

/// A row of a data frame: a series with the labels that the code names.
fn row(shape: &Shape, random: &mut Pcg64Mcg, cells: &Cells<'_>) -> Recipe {
    let mut cell = |column: &Column| {
        let value = match (cells::content(column), cells::values(random, column, 1, cells).remove(0)) {
            (Content::Dates, Recipe::None) => made("pandas.Timestamp", [text("NaT")]),
            (Content::Dates, day) => made("pandas.Timestamp", [day]),
            // As rows of a file have it, also in columns of texts.
            (_, Recipe::None) => missing(),
            (_, value) => value,
        };
        (text(&column.name), value)
    };
    made(SERIES, [Recipe::Dict(shape.columns.iter().map(&mut cell).collect())])
}

/// A series, or a row where the code names labels.
pub(super) fn series(shape: &Shape, random: &mut Pcg64Mcg, cells: &Cells<'_>) -> Recipe {
    if !shape.columns.is_empty() {
        return row(shape, random, cells);
    }
    let rows = rows(random, cells);
    let mut own = shape.own.clone();
    if own.contents.is_empty() && own.candidates.is_empty() {
        own.note(Content::Numbers);
    }
    let values = cells::values(random, &own, rows, cells);
    let categories = categories(random);
    let series = match cells::column(cells::content(&own), values, categories) {
        // An empty one is a series already.
        series @ Recipe::Made(_) if rows == 0 => return series,
        column => made(SERIES, [column]),
    };
    let series = indexed(series, shape, random, rows);
    if random.random_bool(0.3) { with(series, "name", text("value")) } else { series }
}

/// Whether texts are categories, and whether there are some that no cell has.
fn categories(random: &mut Pcg64Mcg) -> Option<Categories> {
    let is_all =
        |random: &mut Pcg64Mcg| if random.random_bool(0.5) { Categories::WithUnused } else { Categories::Used };
    random.random_bool(CATEGORY).then(|| is_all(random))
}

/// The number of rows of a table.
pub(super) fn rows(random: &mut Pcg64Mcg, cells: &Cells<'_>) -> usize {
    if random.random_bool(SAME_ROWS) { cells.rows } else { random.random_range(0..6) }
}

/// Adds labels of the rows: other than their numbers, in another order, or some of them twice.
fn indexed(value: Recipe, shape: &Shape, random: &mut Pcg64Mcg, rows: usize) -> Recipe {
    if shape.index.contains(&Content::Dates) {
        let days = (0..rows).map(|row| text(&format!("2024-01-{:02}", 1 + (row * 11) % 28)));
        return with(value, "index", made("pandas.to_datetime", [Recipe::List(days.collect())]));
    }
    if rows == 0 || random.random_bool(PLAIN_INDEX) {
        return value;
    }
    let labels: Vec<Recipe> = match random.random_range(0..3) {
        // Twice the same.
        0 => (0..rows).map(|row| Recipe::Int((row / 2) as i64)).collect(),
        // Backwards, and not from zero.
        1 => (0..rows).rev().map(|row| Recipe::Int(10 + row as i64)).collect(),
        _ => (0..rows).map(|row| Recipe::Str(format!("r{row}"))).collect(),
    };
    with(value, "index", Recipe::List(labels))
}

/// The same table with its rows in another order, with other values, and without rows.
pub(super) fn others(value: &Recipe) -> Vec<Recipe> {
    if is_row(value) {
        return vec![
            plainer(value),
            with_numbers(value, 0.0),
            with_numbers(value, -1.5),
            with_numbers(value, f64::NAN),
        ];
    }
    let rows = row_count(value);
    let backwards: Vec<usize> = (0..rows).rev().collect();
    let mut found = vec![picked(value, &backwards), plainer(value)];
    found.extend((rows > 0).then(|| picked(value, &[])));
    found.extend((rows > 1).then(|| picked(value, &[0])));
    found.extend(if is_frame(value) { frames() } else { all_series() });
    found
}

/// The same table with fewer rows, with the numbers of the rows as their labels, with fewer columns, or with plainer values.
pub(super) fn simpler(value: &Recipe) -> Vec<Recipe> {
    let mut found = row_picks(value);
    let Recipe::Made(call) = value else { return found };
    let ConstructorCall { class, arguments, keywords } = &**call;
    if keywords.iter().any(|(name, _)| name != "dtype") {
        let kept = keywords.iter().filter(|(name, _)| name == "dtype").cloned().collect();
        found.push(ConstructorCall { class: class.clone(), arguments: arguments.clone(), keywords: kept }.into());
    }
    if let [Recipe::Dict(entries)] = arguments.as_slice()
        && entries.len() > 1
    {
        found.extend((0..entries.len()).rev().map(|out| {
            let mut kept = entries.clone();
            kept.remove(out);
            let arguments = vec![Recipe::Dict(kept)];
            ConstructorCall { class: class.clone(), arguments, keywords: keywords.clone() }.into()
        }));
    }
    found.push(plainer(value));
    found.dedup();
    found.retain(|other| other != value);
    found
}

/// The same table with fewer rows.
pub(super) fn row_picks(value: &Recipe) -> Vec<Recipe> {
    let rows = row_count(value);
    let mut found = Vec::new();
    if rows > 1 {
        let half = rows.div_ceil(2);
        found.push(picked(value, &[0]));
        found.push(picked(value, &(0..half).collect::<Vec<_>>()));
        found.push(picked(value, &(half..rows).collect::<Vec<_>>()));
        found.extend((0..rows.min(6)).map(|out| {
            let kept: Vec<usize> = (0..rows).filter(|row| *row != out).collect();
            picked(value, &kept)
        }));
    }
    found
}

fn is_frame(value: &Recipe) -> bool {
    matches!(value, Recipe::Made(call) if call.class == FRAME)
}

/// Whether a series is a row of a frame: labels with a cell each.
fn is_row(value: &Recipe) -> bool {
    match value {
        Recipe::Made(call) if call.class == SERIES => match call.arguments.as_slice() {
            [Recipe::Dict(entries)] => !entries.is_empty(),
            _ => false,
        },
        _ => false,
    }
}

/// A row with this number in each cell that has one.
fn with_numbers(row: &Recipe, number: f64) -> Recipe {
    let other = if number.is_nan() { missing() } else { Recipe::Float(number) };
    match row {
        Recipe::Made(call) => Recipe::from(ConstructorCall {
            arguments: call.arguments.iter().map(|cells| with_numbers(cells, number)).collect(),
            ..ConstructorCall::clone(call)
        }),
        Recipe::Dict(cells) => {
            let cell = |cell: &Recipe| match cell {
                Recipe::Int(_) | Recipe::Float(_) => other.clone(),
                kept => kept.clone(),
            };
            Recipe::Dict(cells.iter().map(|(label, value)| (label.clone(), cell(value))).collect())
        }
        kept => kept.clone(),
    }
}

/// The number that stands for a cell without a value.
fn missing() -> Recipe {
    made("builtins.float", [text("nan")])
}

/// The number of rows.
pub(super) fn row_count(value: &Recipe) -> usize {
    match value {
        Recipe::List(values) => values.len(),
        Recipe::Dict(entries) => entries.first().map_or(0, |(_, column)| row_count(column)),
        // The name of a series may come first.
        Recipe::Made(call) => call.arguments.last().map_or(0, row_count),
        _ => 0,
    }
}

/// The table with only these rows, in this order.
pub(super) fn picked(value: &Recipe, rows: &[usize]) -> Recipe {
    match value {
        Recipe::List(values) => Recipe::List(rows.iter().filter_map(|row| values.get(*row).cloned()).collect()),
        Recipe::Dict(entries) => {
            Recipe::Dict(entries.iter().map(|(name, column)| (name.clone(), picked(column, rows))).collect())
        }
        Recipe::Made(call) => Recipe::from(ConstructorCall {
            class: call.class.clone(),
            arguments: call.arguments.iter().map(|argument| picked(argument, rows)).collect(),
            // Others say nothing of single rows.
            keywords: call
                .keywords
                .iter()
                .map(|(name, value)| match name.as_str() {
                    "index" => (name.clone(), picked(value, rows)),
                    _ => (name.clone(), value.clone()),
                })
                .collect(),
        }),
        other => other.clone(),
    }
}

/// The table with plainer numbers and texts in its cells.
pub(super) fn plainer(value: &Recipe) -> Recipe {
    let cell = |value: &Recipe| match value {
        Recipe::Float(number) if number.fract() != 0.0 => Recipe::Float(number.trunc()),
        Recipe::Int(number) if number.abs() > 12 => Recipe::Int(number % 10),
        other => other.clone(),
    };
    match value {
        Recipe::Dict(entries) => {
            let column = |column: &Recipe| match column {
                Recipe::List(values) => Recipe::List(values.iter().map(cell).collect()),
                other => cell(other),
            };
            Recipe::Dict(entries.iter().map(|(name, values)| (name.clone(), column(values))).collect())
        }
        Recipe::List(values) => Recipe::List(values.iter().map(cell).collect()),
        Recipe::Made(call) => Recipe::from(ConstructorCall {
            arguments: call.arguments.iter().map(plainer).collect(),
            ..ConstructorCall::clone(call)
        }),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn drawn(seed: u64) -> Recipe {
        let mut shape = Shape::default();
        shape.column("price").unwrap().note(Content::Numbers);
        shape.column("day").unwrap().note(Content::Dates);
        let cells = Cells { ints: &[], texts: &[], rows: seed as usize % 5 };
        frame(&shape, &mut Pcg64Mcg::seed_from_u64(seed), &cells)
    }

    #[test]
    fn frames_have_the_columns_that_the_code_names_and_as_many_values_in_each() {
        for seed in 0..50 {
            let Recipe::Made(call) = drawn(seed) else { panic!() };
            let [Recipe::Dict(entries)] = call.arguments.as_slice() else { panic!() };
            let names: Vec<&Recipe> = entries.iter().map(|(name, _)| name).collect();
            assert_eq!(names[..2], [&text("price"), &text("day")]);
            assert!(entries.iter().all(|(_, column)| row_count(column) == row_count(&entries[0].1)));
        }
    }

    #[test]
    fn other_rows_have_the_same_labels() {
        let mut shape = Shape::default();
        shape.column("price").unwrap().note(Content::Numbers);
        shape.column("name").unwrap().note(Content::Texts);
        let labels = |value: &Recipe| match value {
            Recipe::Made(call) => match call.arguments.as_slice() {
                [Recipe::Dict(cells)] => cells.iter().map(|(label, _)| label.clone()).collect::<Vec<_>>(),
                _ => vec![],
            },
            _ => vec![],
        };
        let row = series(&shape, &mut Pcg64Mcg::seed_from_u64(1), &Cells { ints: &[], texts: &[], rows: 3 });
        let all = others(&row);
        assert!(all.iter().all(|other| labels(other) == [text("price"), text("name")]));
        assert!(all.iter().any(|other| *other != row));
    }

    #[test]
    fn the_same_seed_gives_the_same_frame() {
        assert_eq!(drawn(3), drawn(3));
        assert!((0..20).any(|seed| drawn(seed) != drawn(seed + 1)));
    }

    #[test]
    fn simpler_frames_have_fewer_rows_or_columns_and_come_to_an_end() {
        let mut value = drawn(4);
        let mut steps = 0;
        while let Some(next) = simpler(&value).into_iter().next() {
            assert!(row_count(&next) <= row_count(&value) && next != value);
            value = next;
            steps += 1;
            assert!(steps < 100);
        }
        assert_eq!(row_count(&value), 1);
    }
}
