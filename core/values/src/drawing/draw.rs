//! Drawing decisions: a pure function of (seed, access path, distribution, uses, pools).
//!
//! Every access path has its own random stream, so a decision depends neither on the order in which the two versions
//! ask nor on what else is drawn. A decision that is given ([`Fixed`]) is taken as it is.
//! How a value is made stands in `maker.rs`.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::maker::{Maker, is_plausible};
use super::{Orders, Pools, given, texts};
use crate::path::AccessPath;
use crate::predictor::Distribution;
use crate::reading::Uses;
use crate::value::{AbstractValue, Choice, Decision, Declared, Fixed, Recipe};

/// How often an operator raises an exception that the code catches, relative to every call that does.
const OPERATION_SHARE: f64 = 0.4;
/// How often the text of an object is drawn where the code looks at it. Otherwise the text is the object's path.
const DRAWN_TEXT: f64 = 0.7;

/// How many rows the tables of an execution have, each equally often.
const ROWS: [usize; 12] = [3, 4, 2, 1, 5, 3, 0, 4, 2, 6, 3, 8];

/// The question for one access path.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    pub path: &'a str,
    pub distribution: &'a Distribution,
    pub uses: &'a Uses,
    /// Exceptions that may be raised here instead of giving a value.
    pub raises: &'a [String],
    /// How often they are raised, relative to how often calls raise.
    pub raise_share: f64,
    /// The look-up may fail as it would in Python ([`Decision::Fail`]).
    pub may_fail: bool,
    /// The parameter has a default ([`Decision::Default`]).
    pub may_default: bool,
    /// The value that somebody gave for this path. It and others like it are drawn, and nothing else.
    pub supply: Option<Supply<'a>>,
    /// It is a line of a file, with its end.
    pub is_line: bool,
}

/// A given value.
#[derive(Debug, Clone, Copy)]
pub struct Supply<'a> {
    pub value: &'a Recipe,
    /// How often it is taken as it is.
    pub exact: f64,
}

/// How often a variation of a given value is one with which the code compares such values.
const COMPARED: f64 = 0.25;

/// What the sites that read a path say about it. Items of drawn containers get their own prediction from this.
pub trait PathKnowledge {
    fn known(&self, path: AccessPath<'_>) -> Option<(&Distribution, &Uses)>;

    /// How the code uses what calls of methods with this name give. `None` if it makes no such call.
    fn given_by(&self, _method: &str) -> Option<&Uses> {
        None
    }
}

/// Draws and records the decisions of one execution.
#[derive(Debug)]
pub struct Draw {
    seed: u64,
    raise_probability: f64,
    /// The share of draws that ignore the prediction.
    exploration: f64,
    fixed: Fixed,
    taken: FxHashMap<String, usize>,
    choices: Vec<Choice>,
    /// What the decisions say about the order of values.
    pub orders: Orders,
    /// What the given decisions say about it, also those that were not asked for yet.
    pub given_orders: Orders,
}

impl Draw {
    pub fn new(seed: u64, fixed: Fixed, raise_probability: f64) -> Self {
        // Three executions in four trust the prediction; the fourth explores.
        let exploration = [0.03, 0.08, 0.15, 0.5][(xxh3_64_with_seed(b"exploration", seed) % 4) as usize];
        let mut given_orders = Orders::default();
        fixed.iter().for_each(|(path, decision)| given_orders.note(path, decision));
        Self {
            seed,
            raise_probability,
            exploration,
            fixed,
            taken: FxHashMap::default(),
            choices: Vec::new(),
            orders: Orders::default(),
            given_orders,
        }
    }

    /// All decisions so far, in order of first need.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    pub fn into_choices(self) -> Vec<Choice> {
        self.choices
    }

    /// The decision for a value, and whether it is new.
    pub fn value(&mut self, pools: &Pools, known: &dyn PathKnowledge, ask: &Ask<'_>) -> (Decision, bool) {
        if let Some(Decision::Value(value)) = self.fixed.get(ask.path)
            && !ask.supply.map_or_else(|| is_plausible(value, ask.uses), |supply| given::is_like(value, supply.value))
        {
            // The search, which does not know declarations, proposed this value.
            self.fixed.remove(ask.path);
        }
        if ask.is_line
            && let Some(Decision::Value(value)) = self.fixed.get_mut(ask.path)
        {
            *value = texts::line(value);
        }
        self.decide(ask.path, |draw, random| draw.draw_value(random, pools, known, ask))
    }

    /// A yes or no, such as the truth of a mock object.
    pub fn truth(&mut self, path: &str, probability: f64) -> bool {
        let decision = self.decide(path, |_, random| Decision::Value(Recipe::Bool(random.random_bool(probability)))).0;
        matches!(decision, Decision::Value(Recipe::Bool(true)))
    }

    /// The answer that [`Self::truth`] would give to a new question, or a given one, without a decision.
    pub fn glance(&self, path: &str, probability: f64) -> bool {
        match self.fixed.get(path) {
            Some(decision) => *decision == Decision::Value(Recipe::Bool(true)),
            None => self.random(path).random_bool(probability),
        }
    }

    /// Whether an operation fails with one of these exceptions.
    pub fn failure(&mut self, path: &str, raises: &[String]) -> Decision {
        let decision = self.decide(path, |draw, random| {
            let probability = (draw.raise_probability * OPERATION_SHARE).clamp(0.0, 1.0);
            if raises.is_empty() || !random.random_bool(probability) {
                return Decision::Value(Recipe::None);
            }
            Decision::Raise(raises[random.random_range(0..raises.len())].clone())
        });
        decision.0
    }

    /// Like [`Self::truth`], but with a probability of 0 the answer is true only by a given or an earlier decision.
    pub fn whether(&mut self, path: &str, probability: f64) -> bool {
        let known = self.fixed.contains_key(path) || self.taken.contains_key(path);
        (known || probability > 0.0) && self.truth(path, probability)
    }

    /// A small number, such as the number of items of a mock object.
    pub fn number(&mut self, path: &str, weights: &[f64]) -> i64 {
        let decision = self
            .decide(path, |_, random| {
                Decision::Value(Recipe::Int(pick_weighted(random, weights.iter().copied()) as i64))
            })
            .0;
        match decision {
            Decision::Value(Recipe::Int(value)) => value,
            _ => 0,
        }
    }

    /// One of some values, and whether the decision is new. A given decision is taken if it fits.
    pub fn among(&mut self, path: &str, values: &[Recipe], is_fit: &dyn Fn(&Recipe) -> bool) -> (Recipe, bool) {
        if !matches!(self.fixed.get(path), Some(Decision::Value(given)) if is_fit(given)) {
            self.fixed.remove(path);
        }
        let (decision, is_new) = self.decide(path, |_, random| {
            let one = (!values.is_empty()).then(|| values[random.random_range(0..values.len())].clone());
            Decision::Value(one.unwrap_or(Recipe::None))
        });
        match decision {
            Decision::Value(value) => (value, is_new),
            _ => (Recipe::None, is_new),
        }
    }

    /// The text of an object, which is `default` unless the code looks at the text.
    pub fn text(&mut self, pools: &Pools, known: &dyn PathKnowledge, path: &str, default: &str, uses: &Uses) -> String {
        if !uses.looks_at_text() && !self.fixed.contains_key(path) && !self.taken.contains_key(path) {
            return default.to_string();
        }
        let decision = self.decide(path, |draw, random| {
            let drawn = random.random_bool(DRAWN_TEXT).then(|| {
                let mut distribution = [0.0; AbstractValue::COUNT];
                distribution[AbstractValue::Str as usize] = 1.0;
                let uses = Uses { declared: Some(Declared::of(&[AbstractValue::Str])), ..uses.clone() };
                draw.maker(pools, known).draw(random, path.into(), &distribution, &uses, 0)
            });
            Decision::Value(drawn.unwrap_or_else(|| Recipe::Str(default.to_string())))
        });
        match decision.0 {
            Decision::Value(Recipe::Str(text)) => text,
            _ => default.to_string(),
        }
    }

    /// Records a decision that follows from others, so that both versions see it.
    pub fn settle(&mut self, path: &str, decision: Decision) {
        self.decide(path, |_, _| decision);
    }

    /// Like [`Self::settle`], but overrides a given decision, since a search does not know what follows.
    pub fn imply(&mut self, path: &str, decision: Decision) {
        if !self.taken.contains_key(path) {
            self.fixed.remove(path);
        }
        self.settle(path, decision);
    }

    /// Drops a given decision that an earlier answer rules out.
    pub fn forget(&mut self, path: &str) {
        self.fixed.remove(path);
    }

    /// The decision for a path that was made earlier or given.
    pub fn given(&self, path: &str) -> Option<&Decision> {
        self.taken(path).or_else(|| self.fixed.get(path))
    }

    /// The paths of given decisions, sorted.
    pub fn given_paths(&self) -> impl Iterator<Item = &str> {
        self.fixed.keys().map(String::as_str)
    }

    /// The decision made earlier for a path.
    pub fn taken(&self, path: &str) -> Option<&Decision> {
        self.taken.get(path).map(|&index| &self.choices[index].decision)
    }

    fn decide(&mut self, path: &str, draw: impl FnOnce(&Self, &mut Pcg64Mcg) -> Decision) -> (Decision, bool) {
        if let Some(&index) = self.taken.get(path) {
            return (self.choices[index].decision.clone(), false);
        }
        let decision = match self.fixed.get(path) {
            Some(decision) => decision.clone(),
            None => draw(self, &mut self.random(path)),
        };
        self.taken.insert(path.to_string(), self.choices.len());
        self.orders.note(path, &decision);
        self.choices.push(Choice { path: path.to_string(), decision: decision.clone() });
        (decision, true)
    }

    /// The random stream of a path.
    fn random(&self, path: &str) -> Pcg64Mcg {
        Pcg64Mcg::seed_from_u64(xxh3_64_with_seed(path.as_bytes(), self.seed))
    }

    fn draw_value(&self, random: &mut Pcg64Mcg, pools: &Pools, known: &dyn PathKnowledge, ask: &Ask<'_>) -> Decision {
        if let Some(Supply { value, exact }) = ask.supply {
            let is_like = |candidate: &&Recipe| given::is_like(candidate, value);
            let candidates: Vec<&Recipe> = ask.uses.candidates.iter().filter(is_like).collect();
            return Decision::Value(match random.random_bool(exact.clamp(0.0, 1.0)) {
                true => value.clone(),
                false if !candidates.is_empty() && random.random_bool(COMPARED) => {
                    candidates[random.random_range(0..candidates.len())].clone()
                }
                false => given::varied(value, random),
            });
        }
        let raises = self.raise_probability * ask.raise_share;
        if !ask.raises.is_empty() && random.random_bool(raises.clamp(0.0, 1.0)) {
            return Decision::Raise(ask.raises[random.random_range(0..ask.raises.len())].clone());
        }
        if ask.may_default && random.random_bool(0.3) {
            return Decision::Default;
        }
        if ask.may_fail && random.random_bool(0.25) {
            return Decision::Fail;
        }
        let maker = self.maker(pools, known);
        let value = maker.draw(random, ask.path.into(), ask.distribution, ask.uses, 0);
        Decision::Value(if ask.is_line { texts::line(&value) } else { value })
    }

    fn maker<'a>(&self, pools: &'a Pools, known: &'a dyn PathKnowledge) -> Maker<'a> {
        let rows = ROWS[(xxh3_64_with_seed(b"rows", self.seed) % ROWS.len() as u64) as usize];
        let anchor = xxh3_64_with_seed(b"anchor", self.seed);
        Maker { pools, known, exploration: self.exploration, letters: texts::letters(self.seed), rows, anchor }
    }
}

pub(super) fn pick_weighted(random: &mut Pcg64Mcg, weights: impl Iterator<Item = f64> + Clone) -> usize {
    let total: f64 = weights.clone().sum();
    let mut point = random.random::<f64>() * total;
    let mut last = 0;
    for (index, weight) in weights.enumerate() {
        if weight > 0.0 {
            last = index;
            if point < weight {
                return index;
            }
            point -= weight;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;
    impl PathKnowledge for Nothing {
        fn known(&self, _: AccessPath<'_>) -> Option<(&Distribution, &Uses)> {
            None
        }
    }

    fn ask<'a>(path: &'a str, distribution: &'a Distribution, uses: &'a Uses) -> Ask<'a> {
        Ask {
            path,
            distribution,
            uses,
            raises: &[],
            raise_share: 1.0,
            may_fail: false,
            may_default: false,
            supply: None,
            is_line: false,
        }
    }

    const UNIFORM: Distribution = [1.0 / 12.0; 12];

    #[test]
    fn a_line_is_a_text_with_one_line_end_also_where_the_search_proposed_another() {
        let (pools, uses) = (Pools::default(), Uses::default());
        let ask = Ask { is_line: true, ..ask("lines[0]", &UNIFORM, &uses) };
        let is_line = |decision: &Decision| matches!(decision, Decision::Value(Recipe::Str(line)) if line.ends_with('\n') && line.lines().count() == 1);
        for seed in 0..50 {
            let (decision, _) = Draw::new(seed, Fixed::new(), 0.15).value(&pools, &Nothing, &ask);
            assert!(is_line(&decision), "{decision:?}");
        }
        let proposed = [("", "\n"), ("a", "a\n"), ("a\n", "a\n"), ("a\r\nb", "a\n")];
        for (given, line) in proposed {
            let fixed = Fixed::from([("lines[0]".to_owned(), Decision::Value(Recipe::Str(given.into())))]);
            let (decision, _) = Draw::new(0, fixed, 0.15).value(&pools, &Nothing, &ask);
            assert_eq!(decision, Decision::Value(Recipe::Str(line.into())));
        }
    }

    #[test]
    fn a_decision_depends_on_the_path_and_not_on_the_order_of_asking() {
        let (pools, uses) = (Pools::default(), Uses::default());
        let mut forth = Draw::new(7, Fixed::new(), 0.15);
        let mut back = Draw::new(7, Fixed::new(), 0.15);
        let a1 = forth.value(&pools, &Nothing, &ask("a", &UNIFORM, &uses)).0;
        let b1 = forth.value(&pools, &Nothing, &ask("b", &UNIFORM, &uses)).0;
        let b2 = back.value(&pools, &Nothing, &ask("b", &UNIFORM, &uses)).0;
        let a2 = back.value(&pools, &Nothing, &ask("a", &UNIFORM, &uses)).0;
        assert_eq!((a1, b1), (a2, b2));
    }

    #[test]
    fn fixed_choices_repeat_an_execution() {
        let (pools, uses) = (Pools::new(&[Recipe::Str("x".into())]), Uses::default());
        let mut first = Draw::new(3, Fixed::new(), 0.15);
        for path in ["a", "b", "c"] {
            first.value(&pools, &Nothing, &ask(path, &UNIFORM, &uses));
        }
        let fixed = first.choices().iter().map(|choice| (choice.path.clone(), choice.decision.clone())).collect();
        let mut again = Draw::new(999, fixed, 0.15);
        for path in ["a", "b", "c"] {
            again.value(&pools, &Nothing, &ask(path, &UNIFORM, &uses));
        }
        assert_eq!(first.choices(), again.choices());
    }

    #[test]
    fn what_matches_a_pattern_is_a_list_unless_a_tuple_is_declared() {
        let items = || vec![Recipe::Str("of the pattern".into())];
        let tuple = Declared { classes: vec![AbstractValue::Tuple], ..Declared::default() };
        for (declared, expected) in [(None, Recipe::List(items())), (Some(tuple), Recipe::Tuple(items()))] {
            let uses = Uses { declared, candidates: vec![Recipe::List(items())], ..Uses::default() };
            let drawn = |seed| {
                let mut draw = Draw::new(seed, Fixed::new(), 0.15);
                match draw.value(&Pools::default(), &Nothing, &ask("x", &UNIFORM, &uses)).0 {
                    Decision::Value(Recipe::List(all)) if all == items() => Some(Recipe::List(all)),
                    Decision::Value(Recipe::Tuple(all)) if all == items() => Some(Recipe::Tuple(all)),
                    _ => None,
                }
            };
            let found: Vec<Recipe> = (0..80).filter_map(drawn).collect();
            assert!(!found.is_empty() && found.iter().all(|one| *one == expected), "{found:?}");
        }
    }

    #[test]
    fn only_values_like_the_given_one_are_drawn() {
        let (value, uses) = (Recipe::Float(0.2), Uses { candidates: vec![Recipe::Float(1.0)], ..Uses::default() });
        let supply = Some(Supply { value: &value, exact: 0.3 });
        let drawn = |seed: u64, fixed: Fixed| {
            let ask = Ask { supply, may_default: true, ..ask("rate", &UNIFORM, &uses) };
            Draw::new(seed, fixed, 0.15).value(&Pools::default(), &Nothing, &ask).0
        };
        let found: Vec<Decision> = (0..80).map(|seed| drawn(seed, Fixed::new())).collect();
        assert!(found.iter().all(|one| matches!(one, Decision::Value(Recipe::Float(_)))), "{found:?}");
        for wanted in [0.2, 1.0, 0.4] {
            assert!(found.contains(&Decision::Value(Recipe::Float(wanted))), "{wanted}");
        }
        // The search may propose a number, and nothing of another class.
        let fixed = |value: Recipe| Fixed::from([("rate".to_owned(), Decision::Value(value))]);
        assert_eq!(drawn(1, fixed(Recipe::Float(7.0))), Decision::Value(Recipe::Float(7.0)));
        assert_ne!(drawn(1, fixed(Recipe::None)), Decision::Value(Recipe::None));
    }

    #[test]
    fn a_value_that_is_called_is_a_mock() {
        let uses = Uses { called: true, ..Uses::default() };
        for seed in 0..50 {
            let mut draw = Draw::new(seed, Fixed::new(), 0.0);
            let decision = draw.value(&Pools::default(), &Nothing, &ask("f", &UNIFORM, &uses)).0;
            assert!(matches!(decision, Decision::Value(Recipe::Mock(_))), "{decision:?}");
        }
    }

    #[test]
    fn items_do_what_the_code_wants_and_are_alike() {
        let number = Uses { arithmetic: true, ..Uses::default() };
        let pair = Uses { unpacked: Some(2), iterated: true, parts: vec![number.clone(), number], ..Uses::default() };
        let uses = Uses { iterated: true, element: Some(Box::new(pair)), ..Uses::default() };
        let is_number = |part: &Recipe| matches!(part, Recipe::Int(_) | Recipe::Float(_));
        let is_pair = |item: &Recipe| match item {
            Recipe::Tuple(parts) | Recipe::List(parts) => parts.len() == 2 && parts.iter().all(is_number),
            _ => false,
        };
        let drawn = (0..400).filter_map(|seed| {
            let mut draw = Draw::new(seed, Fixed::new(), 0.0);
            match draw.value(&Pools::default(), &Nothing, &ask("spans", &UNIFORM, &uses)).0 {
                Decision::Value(Recipe::List(items) | Recipe::Tuple(items)) if items.len() > 1 => Some(items),
                _ => None,
            }
        });
        let all: Vec<bool> = drawn.map(|items| items.iter().all(is_pair)).collect();
        let fitting = all.iter().filter(|fits| **fits).count();
        // A list has several items, each of which may be something else.
        assert!(all.len() > 50 && fitting * 3 > all.len(), "{fitting} of {}", all.len());
    }

    #[test]
    fn a_list_whose_first_item_is_named_often_has_more() {
        let first = Uses { arithmetic: true, ..Uses::default() };
        let uses = Uses { iterated: true, parts: vec![first], ..Uses::default() };
        let drawn = (0..200).filter_map(|seed| {
            let mut draw = Draw::new(seed, Fixed::new(), 0.0);
            match draw.value(&Pools::default(), &Nothing, &ask("values", &UNIFORM, &uses)).0 {
                Decision::Value(Recipe::List(items) | Recipe::Tuple(items)) => Some(items.len()),
                _ => None,
            }
        });
        let sizes: Vec<usize> = drawn.collect();
        let longer = sizes.iter().filter(|size| **size > 1).count();
        assert!(longer * 2 > sizes.len() && sizes.contains(&1), "{sizes:?}");
    }

    #[test]
    fn a_dictionary_mostly_has_all_keys_whose_values_are_used() {
        let value = |key: &str| (key.to_owned(), Uses { arithmetic: true, ..Uses::default() });
        let keys = ["a", "b", "c"];
        let uses = Uses {
            keys: vec![crate::reading::Key::Text],
            key_candidates: keys.map(|key| Recipe::Str(key.into())).to_vec(),
            values: keys.map(value).to_vec(),
            ..Uses::default()
        };
        let drawn = (0..200).filter_map(|seed| {
            let mut draw = Draw::new(seed, Fixed::new(), 0.0);
            match draw.value(&Pools::default(), &Nothing, &ask("order", &UNIFORM, &uses)).0 {
                Decision::Value(Recipe::Dict(entries)) => Some(entries.len()),
                _ => None,
            }
        });
        let sizes: Vec<usize> = drawn.collect();
        let whole = sizes.iter().filter(|size| **size == keys.len()).count();
        assert!(whole * 2 > sizes.len() && sizes.iter().any(|size| *size < keys.len()), "{sizes:?}");
    }

    #[test]
    fn an_unpacked_value_mostly_has_the_right_number_of_items() {
        let uses = Uses { unpacked: Some(3), iterated: true, ..Uses::default() };
        let fitting = (0..100)
            .filter(|&seed| {
                let mut draw = Draw::new(seed, Fixed::new(), 0.0);
                match draw.value(&Pools::default(), &Nothing, &ask("x", &UNIFORM, &uses)).0 {
                    Decision::Value(Recipe::List(items) | Recipe::Tuple(items)) => items.len() == 3,
                    Decision::Value(Recipe::Mock(_)) => true,
                    _ => false,
                }
            })
            .count();
        assert!(fitting > 85, "{fitting}");
    }
}
