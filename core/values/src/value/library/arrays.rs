//! Arrays of numpy.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::cells::{self, Cells};
use super::{Provider, ints, made, text, with};
use crate::value::shape::{Content, Shape};
use crate::value::{ConstructorCall, Recipe};

pub const ARRAY: &str = "numpy.ndarray";
const MAKER: &str = "numpy.array";

pub(super) const PROVIDERS: &[Provider] =
    &[Provider::new(ARRAY, arrays).also(&["NDArray", "ArrayLike"]).made_by(&[MAKER, "numpy.zeros"]).changeable()];

/// How often arrays of one execution have the same length.
const SAME_LENGTH: f64 = 0.8;
const MISSING: f64 = 0.06;

fn arrays() -> Vec<Recipe> {
    let array = |values: Vec<Recipe>| made(MAKER, [Recipe::List(values)]);
    vec![array(ints([1, 2, 3]).to_vec()), array(vec![]), array(vec![Recipe::Float(0.5), Recipe::Float(-1.0)])]
}

/// An array of as many dimensions as the code needs.
pub(super) fn array(shape: &Shape, random: &mut Pcg64Mcg, cells: &Cells<'_>) -> Recipe {
    let length = if random.random_bool(SAME_LENGTH) { cells.rows } else { random.random_range(0..7) };
    let is_truths = shape.own.contents.first() == Some(&Content::Truths);
    let is_whole = random.random_bool(0.4);
    let has_missing = !is_whole && random.random_bool(0.2);
    let mut candidates = shape.own.candidates.clone();
    candidates.retain(|value| matches!(value, Recipe::Int(_) | Recipe::Float(_)));
    let mut row = |count: usize| -> Vec<Recipe> {
        let cell = |random: &mut Pcg64Mcg| {
            if is_truths {
                Recipe::Bool(random.random_bool(0.5))
            } else if has_missing && random.random_bool(MISSING * 4.0) {
                Recipe::None
            } else if !candidates.is_empty() && random.random_bool(0.3) {
                candidates[random.random_range(0..candidates.len())].clone()
            } else {
                cells::number(random, is_whole, cells)
            }
        };
        (0..count).map(|_| cell(random)).collect()
    };
    let width = usize::from(shape.width);
    let values = match shape.dimensions {
        Some(2..) => {
            let width = if width > 0 { width } else { 1 + cells.rows % 3 };
            (0..length).map(|_| Recipe::List(row(width))).collect()
        }
        _ => row(length.max(width)),
    };
    let kind = match () {
        () if is_truths => "bool",
        () if is_whole => "int64",
        () => "float64",
    };
    if shape.dimensions >= Some(2) && length == 0 {
        // A list without rows says nothing of columns.
        return with(
            made("numpy.zeros", [Recipe::Tuple(ints([0, width.max(2) as i64]).to_vec())]),
            "dtype",
            text(kind),
        );
    }
    let needs_kind = values.is_empty() || has_missing;
    let array = made(MAKER, [Recipe::List(values)]);
    if needs_kind { with(array, "dtype", text(kind)) } else { array }
}

/// Other arrays with as many dimensions.
pub(super) fn others(value: &Recipe) -> Vec<Recipe> {
    let mut found = simpler(value);
    if let Some(values) = items(value) {
        found.push(replaced(value, values.iter().rev().cloned().collect()));
        if matches!(values.first(), Some(Recipe::List(_))) {
            return found;
        }
    }
    found.extend(arrays());
    found
}

/// The same array with fewer items.
pub(super) fn simpler(value: &Recipe) -> Vec<Recipe> {
    let Some(values) = items(value) else { return vec![] };
    let count = values.len();
    if count < 2 {
        return vec![];
    }
    let half = count.div_ceil(2);
    let parts = [values[..1].to_vec(), values[..half].to_vec(), values[half..].to_vec(), values[..count - 1].to_vec()];
    parts.into_iter().map(|part| replaced(value, part)).collect()
}

fn items(value: &Recipe) -> Option<&[Recipe]> {
    let Recipe::Made(call) = value else { return None };
    match call.arguments.as_slice() {
        [Recipe::List(values)] => Some(values),
        _ => None,
    }
}

fn replaced(value: &Recipe, values: Vec<Recipe>) -> Recipe {
    match value {
        Recipe::Made(call) => {
            Recipe::from(ConstructorCall { arguments: vec![Recipe::List(values)], ..ConstructorCall::clone(call) })
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn arrays_have_the_dimensions_that_the_code_needs() {
        for seed in 0..30 {
            let shape = Shape { dimensions: Some(2), width: 2, ..Shape::default() };
            let cells = Cells { ints: &[], texts: &[], rows: 3 };
            let value = array(&shape, &mut Pcg64Mcg::seed_from_u64(seed), &cells);
            let rows = items(&value).unwrap_or_default().iter();
            assert!(rows.clone().all(|row| matches!(row, Recipe::List(cells) if cells.len() == 2)), "{value:?}");
        }
    }
}
