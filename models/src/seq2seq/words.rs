//! The words that stand for the classes, and the probabilities with which a decoder writes them.

use std::collections::BTreeMap;

use twincell_values::value::AbstractValue;

use super::Totals;
use crate::tokens::Tokens;

/// The words of a class, in the coarse and in the fine abstraction of values.
fn words(class: AbstractValue) -> &'static [&'static str] {
    match class {
        AbstractValue::None => &["None"],
        AbstractValue::Bool => &["bool", "True", "False"],
        AbstractValue::Int => &["int", "int_neg", "int_zero", "int_pos"],
        AbstractValue::Float => &["float", "float_neg", "float_zero", "float_pos"],
        AbstractValue::Str => &["str", "str_empty", "str_nonempty"],
        AbstractValue::List => &["list", "list_empty", "list_nonempty"],
        AbstractValue::Tuple => &["tuple", "tuple_empty", "tuple_nonempty"],
        AbstractValue::Dict => &["dict", "dict_empty", "dict_nonempty"],
        AbstractValue::Set => &["set", "set_empty", "set_nonempty"],
        AbstractValue::Callable => &["callable"],
        AbstractValue::Resource => &["resource"],
        AbstractValue::Object => &["object"],
    }
}

/// The logits of the token after some tokens.
type Next<'a> = dyn Fn(&[i64]) -> Result<Vec<f32>, String> + 'a;

/// All words as a tree of tokens, down to where only words of one class remain.
pub(super) struct Words {
    tree: Tree,
    highest: usize,
}

enum Tree {
    Class(usize),
    Next(BTreeMap<usize, Tree>),
}

impl Words {
    /// `end` is the token after a word.
    pub(super) fn of(tokens: &Tokens, end: i64) -> Result<Self, String> {
        let mut spelled = Vec::new();
        for (number, class) in AbstractValue::ALL.into_iter().enumerate() {
            for word in words(class) {
                let ids = tokens.ids(word)?.into_iter().chain([end]);
                let ids: Result<Vec<usize>, _> = ids.map(usize::try_from).collect();
                spelled.push((ids.map_err(|error| error.to_string())?, number));
            }
        }
        let highest = spelled.iter().flat_map(|(ids, _)| ids).copied().max().unwrap_or(0);
        let spelled: Vec<(&[usize], usize)> = spelled.iter().map(|(ids, class)| (ids.as_slice(), *class)).collect();
        Ok(Words { tree: tree(&spelled)?, highest })
    }

    /// The highest token of any word.
    pub(super) fn highest(&self) -> usize {
        self.highest
    }

    /// The probabilities of the words of each class after `written`.
    pub(super) fn weigh(&self, written: &[i64], next: &Next<'_>) -> Result<Totals, String> {
        let mut totals = Totals::default();
        let mut open = vec![(&self.tree, written.to_vec(), 0.0)];
        while let Some((tree, written, likelihood)) = open.pop() {
            match tree {
                Tree::Class(class) => {
                    if let Some(total) = totals.get_mut(*class) {
                        *total += f64::exp(likelihood);
                    }
                }
                Tree::Next(children) => {
                    let logits = next(&written)?;
                    let whole = log_sum(&logits)?;
                    for (&token, child) in children {
                        let logit = logits.get(token).copied().unwrap_or(f32::NEG_INFINITY);
                        let written = written.iter().copied().chain([token as i64]).collect();
                        open.push((child, written, likelihood + f64::from(logit) - whole));
                    }
                }
            }
        }
        Ok(totals)
    }
}

/// The tree of words with a common beginning, each as its remaining tokens.
fn tree(words: &[(&[usize], usize)]) -> Result<Tree, String> {
    let classes: Vec<usize> = words.iter().map(|(_, class)| *class).collect();
    if let Some(&first) = classes.first()
        && classes.iter().all(|class| *class == first)
    {
        return Ok(Tree::Class(first));
    }
    let mut branches: BTreeMap<usize, Vec<(&[usize], usize)>> = BTreeMap::new();
    for (left, class) in words {
        let (token, left) = left.split_first().ok_or_else(|| "it writes the words of two classes alike".to_owned())?;
        branches.entry(*token).or_default().push((left, *class));
    }
    let branches = branches.into_iter().map(|(token, words)| Ok((token, tree(&words)?)));
    branches.collect::<Result<_, String>>().map(Tree::Next)
}

/// The logarithm of the sum of exponentials.
fn log_sum(logits: &[f32]) -> Result<f64, String> {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if !highest.is_finite() || logits.iter().any(|logit| logit.is_nan()) {
        return Err("the network's output is not finite".to_owned());
    }
    let highest = f64::from(highest);
    Ok(highest + logits.iter().map(|&logit| (f64::from(logit) - highest).exp()).sum::<f64>().ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(spelled: &[(&[usize], usize)]) -> Words {
        Words { tree: tree(spelled).unwrap(), highest: 9 }
    }

    #[test]
    fn words_of_one_class_are_not_told_apart_and_others_are_followed_as_far_as_they_are_alike() {
        // 1 2 and 1 3 are of different classes, 4 5 and 4 6 of the same.
        let words = words_of(&[(&[1, 2], 0), (&[1, 3], 1), (&[4, 5], 2), (&[4, 6], 2)]);
        let asked = std::cell::RefCell::new(Vec::new());
        let next = |written: &[i64]| {
            asked.borrow_mut().push(written.to_vec());
            Ok(vec![0.0; 10])
        };
        let totals = words.weigh(&[7], &next).unwrap();
        assert_eq!(*asked.borrow(), [vec![7], vec![7, 1]]);
        assert!((totals[0] - 0.01).abs() < 1e-9 && (totals[1] - 0.01).abs() < 1e-9, "{totals:?}");
        assert!((totals[2] - 0.1).abs() < 1e-9, "{totals:?}");
    }

    #[test]
    fn what_is_no_number_is_an_error() {
        let words = words_of(&[(&[1], 0), (&[2], 1)]);
        for bad in [f32::NAN, f32::INFINITY] {
            assert!(words.weigh(&[], &|_| Ok(vec![0.0, bad, 0.0])).is_err());
        }
    }

    #[test]
    fn words_that_are_written_alike_are_an_error() {
        assert!(tree(&[(&[1], 0), (&[1], 1)]).is_err());
    }
}
