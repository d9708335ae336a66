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
        self.is_large && self.variation == 0
    }

    pub(super) fn display(&self) -> String {
        match self.variation {
            0 => format!("<{}>", self.shown),
            number => format!("<{}, variation {number}>", self.shown),
        }
    }

    /// Variations to try in its place, always in the same order.
    pub fn others(&self) -> impl Iterator<Item = Recipe> {
        let one = |variation| Given { variation, ..self.clone() }.into();
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

    #[test]
    fn it_is_shown_in_the_words_of_its_giver() {
        let given = Given {
            index: 0,
            variation: 0,
            shown: "sales, a DataFrame".into(),
            class: AbstractValue::Object,
            is_large: false,
        };
        let others: Vec<String> = given.others().map(|one| one.display()).collect();
        assert_eq!(others[0], "<sales, a DataFrame, variation 1>");
        assert_eq!(Recipe::from(given).display(), "<sales, a DataFrame>");
    }
}
