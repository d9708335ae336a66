//! Exact numbers.

use super::{Provider, ints, made, of_texts};
use crate::value::Recipe;

pub(super) const PROVIDERS: &[Provider] =
    &[Provider::new("decimal.Decimal", decimals), Provider::new("fractions.Fraction", fractions)];

fn decimals() -> Vec<Recipe> {
    let texts = ["1.50", "0", "-2.25", "1E+2", "3", "0.005", "2.675", "0.125", "99.995", "100", "-0.5", "1234.565"];
    of_texts("decimal.Decimal", &texts)
}

fn fractions() -> Vec<Recipe> {
    [[1, 2], [0, 1], [-3, 4], [5, 1], [7, 3], [22, 7]].map(|parts| made("fractions.Fraction", ints(parts))).to_vec()
}
