//! Which cell of one notebook is which of the other.

use std::collections::{BTreeSet, HashMap};

use strsim::sorensen_dice;

use super::format::Cell;

/// How alike two cells are at least that are versions of one, 0 to 1.
const LIKE: f64 = 0.5;
/// The maximum number of pairs, and of bytes in them, that are looked at for likeness. Beyond it, cells are not matched.
const MOST_PAIRS: usize = 40_000;
const MOST_BYTES: usize = 64 << 20;

/// Positions in the two lists of cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matching {
    /// By the position in the new list.
    pub pairs: Vec<(usize, usize)>,
    pub removed: Vec<usize>,
    pub added: Vec<usize>,
}

/// Matches cells by their ids, then by equal texts, then by likeness, the most alike first.
pub fn matching(old: &[Cell], new: &[Cell]) -> Matching {
    let mut open = Open { olds: (0..old.len()).collect(), news: (0..new.len()).collect(), pairs: vec![] };
    open.take_equal(|at| old[at].id.as_deref(), |at| new[at].id.as_deref());
    open.take_equal(|at| Some(old[at].text.trim()), |at| Some(new[at].text.trim()));
    open.take_alike(old, new);
    let Open { olds, news, mut pairs } = open;
    pairs.sort_unstable_by_key(|(_, new)| *new);
    Matching { pairs, removed: olds.into_iter().collect(), added: news.into_iter().collect() }
}

/// What is not matched yet, and what is.
struct Open {
    olds: BTreeSet<usize>,
    news: BTreeSet<usize>,
    pairs: Vec<(usize, usize)>,
}

impl Open {
    fn take(&mut self, old: usize, new: usize) {
        if self.olds.contains(&old) && self.news.contains(&new) {
            self.olds.remove(&old);
            self.news.remove(&new);
            self.pairs.push((old, new));
        }
    }

    /// Matches those of one key, in order.
    fn take_equal<'a>(&mut self, of_old: impl Fn(usize) -> Option<&'a str>, of_new: impl Fn(usize) -> Option<&'a str>) {
        let mut olds: HashMap<&str, Vec<usize>> = HashMap::new();
        for at in self.olds.iter().rev() {
            if let Some(key) = of_old(*at) {
                olds.entry(key).or_default().push(*at);
            }
        }
        for at in self.news.clone() {
            if let Some(old) = of_new(at).and_then(|key| olds.get_mut(key)?.pop()) {
                self.take(old, at);
            }
        }
    }

    fn take_alike(&mut self, old: &[Cell], new: &[Cell]) {
        let bytes = |cells: &[Cell], open: &BTreeSet<usize>| open.iter().map(|at| cells[*at].text.len()).sum::<usize>();
        let all = bytes(old, &self.olds) * self.news.len() + bytes(new, &self.news) * self.olds.len();
        if self.olds.len() * self.news.len() > MOST_PAIRS || all > MOST_BYTES {
            return;
        }
        let mut found = Vec::new();
        for (one, other) in self.olds.iter().flat_map(|one| self.news.iter().map(move |other| (*one, *other))) {
            let likeness = sorensen_dice(&old[one].text, &new[other].text);
            if likeness >= LIKE {
                found.push((likeness, one, other));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1.abs_diff(a.2)).cmp(&b.1.abs_diff(b.2))));
        for (_, one, other) in found {
            self.take(one, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells with an id (empty for none) and a text.
    fn cells(cells: &[(&str, &str)]) -> Vec<Cell> {
        let one = |((id, text), number): (&(&str, &str), u32)| Cell {
            number,
            id: Some((*id).to_owned()).filter(|id| !id.is_empty()),
            text: (*text).to_owned(),
            code: Some((*text).to_owned()),
        };
        cells.iter().zip(1..).map(one).collect()
    }

    fn matched(old: &[(&str, &str)], new: &[(&str, &str)]) -> (Vec<(usize, usize)>, Vec<usize>, Vec<usize>) {
        let Matching { pairs, removed, added } = matching(&cells(old), &cells(new));
        (pairs, removed, added)
    }

    #[test]
    fn ids_come_first_whatever_the_text_and_the_order() {
        let old = [("a", "x = 1"), ("b", "y = 2"), ("c", "gone = 3")];
        let new = [("b", "x = 1"), ("d", "import numpy as np"), ("a", "z = 9")];
        assert_eq!(matched(&old, &new), (vec![(1, 0), (0, 2)], vec![2], vec![1]));
    }

    #[test]
    fn without_ids_equal_cells_and_then_the_most_alike_are_one() {
        let load = ("", "import pandas as pd\ndf = pd.read_csv('sales.csv')\n");
        let price = ("", "def price(cart, rate):\n    return cart.total * rate\n");
        let changed = ("", "def price(cart, rate):\n    return cart.total * (1 + rate)\n");
        assert_eq!(matched(&[load, price], &[changed, load]), (vec![(1, 0), (0, 1)], vec![], vec![]));
        assert_eq!(matched(&[price], &[("", "plot(df)")]), (vec![], vec![0], vec![0]));
        assert_eq!(matched(&[load, load], &[load, load]), (vec![(0, 0), (1, 1)], vec![], vec![]));
        assert_eq!(matched(&[price], &[("new", changed.1)]), (vec![(0, 0)], vec![], vec![]));
    }

    #[test]
    fn an_id_that_two_cells_have_matches_them_in_order() {
        let cells = [("a", "x = 1"), ("a", "y = 2")];
        assert_eq!(matched(&cells, &cells), (vec![(0, 0), (1, 1)], vec![], vec![]));
    }

    #[test]
    fn too_many_cells_are_not_searched_for_likeness() {
        let text = |side: &str| (0..300).map(|number| format!("{side}{number}{number}")).collect::<Vec<_>>();
        let (old, new) = (text("abcdef = "), text("abcdefg = "));
        let cells = |texts: &[String]| cells(&texts.iter().map(|text| ("", text.as_str())).collect::<Vec<_>>());
        assert_eq!(matching(&cells(&old), &cells(&new)).pairs, []);
    }
}
