//! An object that somebody gave: as it is, and as material to vary.
//!
//! Plain values are recipes like any other. An object that no recipe can write lies in a file, and only the runtime knows
//! its content. The number of its variation says which value is made from it.

use serde::{Deserialize, Serialize};

use super::{AbstractValue, Recipe};

/// An object that somebody gave and that no recipe can write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Given {
    /// Its position among the values that the program was given.
    pub index: u32,
    /// 0 for the object as it was given. Any other number is the seed of a variation.
    pub variation: u32,
    /// The rows or items that it has of the object, from the first to before the second. All if absent.
    pub rows: Option<(u64, u64)>,
    /// The number of rows or items of the object. 0 if it cannot be divided.
    pub count: u64,
    /// What was given, in a few words: `sales, a DataFrame of 1000000 x 5`.
    pub shown: String,
    pub class: AbstractValue,
    /// Whether executions on all of it take long.
    pub is_large: bool,
}

/// The variations that are tried in place of another one.
const SIMPLE: u32 = 6;

impl Given {
    /// Whether it is all of a large object.
    pub fn takes_long(&self) -> bool {
        self.is_large && self.variation == 0 && self.rows.is_none()
    }

    pub(super) fn display(&self) -> String {
        match (self.variation, self.rows) {
            (0, None) => format!("<{}>", self.shown),
            (0, Some((from, to))) => format!("<{}, [{from}:{to}]>", self.shown),
            (number, _) => format!("<{}, variation {number}>", self.shown),
        }
    }

    /// Its first and its second half, if it is no variation and can be divided.
    pub fn halves(&self) -> Option<[Given; 2]> {
        let (from, to) = self.rows.unwrap_or((0, self.count));
        if self.variation != 0 || to.saturating_sub(from) < 2 {
            return None;
        }
        let middle = from + (to - from) / 2;
        Some([(from, middle), (middle, to)].map(|rows| Given { rows: Some(rows), ..self.clone() }))
    }

    /// Variations to try in its place, always in the same order.
    pub fn others(&self) -> impl Iterator<Item = Recipe> {
        let one = |variation| Given { variation, rows: None, ..self.clone() }.into();
        (1..=SIMPLE).filter(|number| *number != self.variation).map(one)
    }
}

impl From<Given> for Recipe {
    fn from(given: Given) -> Recipe {
        Recipe::Given(Box::new(given))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(count: u64) -> Given {
        let class = AbstractValue::Object;
        Given { index: 0, variation: 0, rows: None, count, shown: "sales, a DataFrame".into(), class, is_large: false }
    }

    #[test]
    fn it_is_shown_in_the_words_of_its_giver() {
        let given = given(9);
        let others: Vec<String> = given.others().map(|one| one.display()).collect();
        assert_eq!(others[0], "<sales, a DataFrame, variation 1>");
        let [_, second] = given.halves().unwrap();
        assert_eq!(Recipe::from(second).display(), "<sales, a DataFrame, [4:9]>");
        assert_eq!(Recipe::from(given).display(), "<sales, a DataFrame>");
    }

    #[test]
    fn halves_of_halves_end_at_a_row() {
        let mut rows = given(5);
        let mut found = Vec::new();
        while let Some([first, _]) = rows.halves() {
            found.extend(first.rows);
            rows = first;
        }
        assert_eq!(found, [(0, 2), (0, 1)]);
        assert!(given(0).halves().is_none() && Given { variation: 3, ..given(5) }.halves().is_none());
    }
}
