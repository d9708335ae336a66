//! What code says of a table or an array that it gets: columns and what they hold, dimensions.

use serde::{Deserialize, Serialize};

use super::Recipe;

/// What a column or an array holds, as far as its uses tell. Several may apply: the first one decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    Dates,
    /// Texts that are read as dates.
    DateTexts,
    Texts,
    Numbers,
    Truths,
    /// Something that repeats: it is grouped by, merged on, or made unique.
    Keys,
}

/// A column, or the values of a series or an array.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    /// In order, each once.
    pub contents: Vec<Content>,
    /// Values that the code compares its values with.
    pub candidates: Vec<Recipe>,
}

/// The number of columns, and of candidates of each, that are kept.
const MOST: usize = 24;

impl Column {
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    pub fn note(&mut self, content: Content) {
        if let Err(at) = self.contents.binary_search(&content) {
            self.contents.insert(at, content);
        }
    }

    pub fn note_candidate(&mut self, candidate: Recipe) {
        if self.candidates.len() < MOST && !self.candidates.contains(&candidate) {
            self.candidates.push(candidate);
        }
    }

    fn add(&mut self, other: &Self) {
        other.contents.iter().for_each(|content| self.note(*content));
        other.candidates.iter().for_each(|candidate| self.note_candidate(candidate.clone()));
    }
}

/// What code says of one table, series or array.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// In the order in which the code names them.
    pub columns: Vec<Column>,
    /// What a series or an array holds.
    pub own: Column,
    /// What the labels of the rows are.
    pub index: Vec<Content>,
    /// Whether all of it is used in calculations.
    pub is_numeric: bool,
    /// The number of dimensions of an array, if known.
    pub dimensions: Option<u8>,
    /// How many items the innermost dimension has at least.
    pub width: u8,
}

impl Shape {
    /// The column with this name, which there is from now on.
    pub fn column(&mut self, name: &str) -> Option<&mut Column> {
        let at = match self.columns.iter().position(|column| column.name == name) {
            Some(at) => at,
            None if self.columns.len() < MOST => {
                self.columns.push(Column::named(name));
                self.columns.len() - 1
            }
            None => return None,
        };
        self.columns.get_mut(at)
    }

    /// Adds what is said at another place.
    pub fn add(&mut self, other: &Self) {
        for column in &other.columns {
            if let Some(own) = self.column(&column.name) {
                own.add(column);
            }
        }
        self.own.add(&other.own);
        for content in &other.index {
            if !self.index.contains(content) {
                self.index.push(*content);
            }
        }
        self.is_numeric |= other.is_numeric;
        self.dimensions = self.dimensions.max(other.dimensions);
        self.width = self.width.max(other.width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_places_say_is_joined() {
        let mut one = Shape::default();
        one.column("a").unwrap().note(Content::Numbers);
        let mut other = Shape { width: 2, ..Shape::default() };
        other.column("b").unwrap();
        other.column("a").unwrap().note(Content::Dates);
        one.add(&other);
        let names: Vec<&str> = one.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!((names, one.width), (vec!["a", "b"], 2));
        assert_eq!(one.columns[0].contents, [Content::Dates, Content::Numbers]);
    }
}
