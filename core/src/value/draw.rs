//! Drawing decisions: a pure function of (seed, access path, distribution, uses, pools).
//!
//! Every access path has its own random stream, so a decision depends neither on the order in which the two versions
//! ask nor on what else is drawn. A decision that is given ([`Fixed`]) is taken as it is.
//!
//! Concretization follows ChangeGuard, Table 1, with what the code does to a value ([`Uses`]) weighing the prediction.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::fitness::fitness;
use super::{AbstractValue, Choice, Decision, Declared, Fixed, Recipe};
use crate::predictor::Distribution;
use crate::source::{Key, Uses};

/// The paper's basic values; literals of both versions and their neighbours join them.
const BASIC_INTS: [i64; 7] = [0, 1, -1, 10, -10, 100, -100];
const BASIC_STRINGS: [&str; 2] = ["", "a"];
/// What real inputs look like where the code's own literals do not: drawn in small doses, because short values make
/// witnesses that are read at a glance.
const OTHER_INTS: [i64; 10] = [2, 3, 5, -7, 13, 255, 1_000, 65_536, 2_147_483_648, -9_007_199_254_740_993];
const OTHER_FLOATS: [f64; 6] = [0.1, -0.5, 2.675, 1e-9, 1e16, 123.456];
/// No NaN: its hash is its address, so that sets of it have another order in each process.
const ODD_FLOATS: [f64; 3] = [f64::INFINITY, f64::NEG_INFINITY, -0.0];
const OTHER_STRINGS: [&str; 21] = [
    "aA",
    "stra\u{df}e",
    "\u{b2}",
    "hello world",
    "Some Title",
    "UPPER",
    "a1",
    "42",
    "-7",
    "3.14",
    " padded ",
    "x.y.z",
    "path/to/file.txt",
    "a,b;c",
    "key=value",
    "user@example.com",
    "http://example.com/a?b=c#d",
    "line one\nline two",
    "na\u{ef}ve \u{2713}",
    "$",
    "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789",
];
/// How often one of those is drawn where no literal is.
const OTHER: f64 = 0.2;
const ODD: f64 = 0.03;
/// How often a container is long, and how often an item repeats the one before.
const LONG: f64 = 0.04;
const DUPLICATE: f64 = 0.12;
/// Nesting of containers that are drawn.
const MAX_DEPTH: u32 = 2;

/// Candidates for concrete values, from the literals of all versions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pools {
    ints: Vec<i64>,
    floats: Vec<f64>,
    strings: Vec<String>,
    bytes: Vec<Vec<u8>>,
}

impl Pools {
    pub fn new(literals: &[Recipe]) -> Self {
        let mut pools = Self::default();
        let mut add_int = |value: i64| {
            for near in [value, value.saturating_sub(1), value.saturating_add(1)] {
                if !BASIC_INTS.contains(&near) && !pools.ints.contains(&near) {
                    pools.ints.push(near);
                }
            }
        };
        for literal in literals {
            if let Recipe::Int(value) = literal {
                add_int(*value);
            }
        }
        for literal in literals {
            match literal {
                Recipe::Float(value) if !pools.floats.contains(value) => pools.floats.push(*value),
                Recipe::Str(text)
                    if text.len() <= 200
                        && !BASIC_STRINGS.contains(&text.as_str())
                        && !pools.strings.contains(text) =>
                {
                    pools.strings.push(text.clone());
                }
                Recipe::Bytes(bytes) if bytes.len() <= 200 && !pools.bytes.contains(bytes) => {
                    pools.bytes.push(bytes.clone());
                }
                _ => {}
            }
        }
        pools
    }
}

/// What is asked for one access path.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    pub path: &'a str,
    pub distribution: &'a Distribution,
    pub uses: &'a Uses,
    /// Exceptions that may be raised here instead of giving a value.
    pub raises: &'a [String],
    /// The look-up may fail as it would in Python ([`Decision::Fail`]).
    pub may_fail: bool,
    /// The parameter has a default ([`Decision::Default`]).
    pub may_default: bool,
}

/// What is known of a path from the sites that read it: gives items of drawn containers their own prediction.
pub trait Known {
    fn known(&self, path: &str) -> Option<(&Distribution, &Uses)>;
}

/// Draws and remembers the decisions of one execution.
#[derive(Debug)]
pub struct Draw {
    seed: u64,
    raise_probability: f64,
    /// Share of draws that ignore the prediction.
    exploration: f64,
    fixed: Fixed,
    taken: FxHashMap<String, usize>,
    choices: Vec<Choice>,
}

impl Draw {
    pub fn new(seed: u64, fixed: Fixed, raise_probability: f64) -> Self {
        // Three executions in four trust the prediction, the fourth looks elsewhere.
        let exploration = [0.03, 0.08, 0.15, 0.5][(xxh3_64_with_seed(b"exploration", seed) % 4) as usize];
        Self { seed, raise_probability, exploration, fixed, taken: FxHashMap::default(), choices: Vec::new() }
    }

    /// All decisions so far, in order of first need.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    pub fn into_choices(self) -> Vec<Choice> {
        self.choices
    }

    /// The decision for a value, and whether it was made just now.
    pub fn value(&mut self, pools: &Pools, known: &dyn Known, ask: &Ask<'_>) -> (Decision, bool) {
        if let Some(Decision::Value(given)) = self.fixed.get(ask.path)
            && !is_plausible(given, ask.uses)
        {
            // Proposed by the search, which does not know what is declared.
            self.fixed.remove(ask.path);
        }
        self.decide(ask.path, |draw, random| draw.draw_value(random, pools, known, ask))
    }

    /// A yes or no, e.g. the truth of a versatile object.
    pub fn truth(&mut self, path: &str, probability: f64) -> bool {
        let decision = self.decide(path, |_, random| Decision::Value(Recipe::Bool(random.random_bool(probability)))).0;
        matches!(decision, Decision::Value(Recipe::Bool(true)))
    }

    /// A small number, e.g. how many items a versatile object has.
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

    /// Remembers a decision that follows from others, so that both versions see it.
    pub fn settle(&mut self, path: &str, decision: Decision) {
        self.decide(path, |_, _| decision);
    }

    /// The decision already made for a path.
    pub fn taken(&self, path: &str) -> Option<&Decision> {
        self.taken.get(path).map(|&index| &self.choices[index].decision)
    }

    fn decide(&mut self, path: &str, draw: impl FnOnce(&Self, &mut Pcg64Mcg) -> Decision) -> (Decision, bool) {
        if let Some(&index) = self.taken.get(path) {
            return (self.choices[index].decision.clone(), false);
        }
        let decision = match self.fixed.get(path) {
            Some(decision) => decision.clone(),
            None => draw(self, &mut Pcg64Mcg::seed_from_u64(xxh3_64_with_seed(path.as_bytes(), self.seed))),
        };
        self.taken.insert(path.to_string(), self.choices.len());
        self.choices.push(Choice { path: path.to_string(), decision: decision.clone() });
        (decision, true)
    }

    fn draw_value(&self, random: &mut Pcg64Mcg, pools: &Pools, known: &dyn Known, ask: &Ask<'_>) -> Decision {
        if !ask.raises.is_empty() && random.random_bool(self.raise_probability.clamp(0.0, 1.0)) {
            return Decision::Raise(ask.raises[random.random_range(0..ask.raises.len())].clone());
        }
        if ask.may_default && random.random_bool(0.3) {
            return Decision::Default;
        }
        if ask.may_fail && random.random_bool(0.25) {
            return Decision::Fail;
        }
        let maker = Maker { pools, known, exploration: self.exploration };
        Decision::Value(maker.draw(random, ask.path, ask.distribution, ask.uses, 0))
    }
}

fn pick_weighted(random: &mut Pcg64Mcg, weights: impl Iterator<Item = f64> + Clone) -> usize {
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

/// Turns abstract values into recipes.
struct Maker<'a> {
    pools: &'a Pools,
    known: &'a dyn Known,
    exploration: f64,
}

impl Maker<'_> {
    fn draw(&self, random: &mut Pcg64Mcg, path: &str, distribution: &Distribution, uses: &Uses, depth: u32) -> Recipe {
        if let Some(declared) = &uses.declared {
            return self.declared(random, path, declared, distribution, uses, depth);
        }
        let versatile_only = uses.called || uses.exception || uses.class || uses.awaited || uses.entered;
        if versatile_only && uses.candidates.contains(&Recipe::None) && random.random_bool(0.25) {
            // Code that asks whether it is there before it calls it.
            return Recipe::None;
        }
        if !versatile_only && !uses.candidates.is_empty() && random.random_bool(0.4) {
            let candidate = &uses.candidates[random.random_range(0..uses.candidates.len())];
            // What the predictor thinks impossible is tried seldom, even where the code asks for it.
            let trust = f64::from(distribution[candidate.abstract_value() as usize] * 20.0 + 0.1).min(1.0);
            if random.random_bool(trust)
                && let Some(recipe) = self.near_candidate(random, candidate, uses)
            {
                return recipe;
            }
        }
        let exploration = self.exploration as f32;
        let weights = AbstractValue::ALL.map(|class| {
            let predicted = distribution[class as usize] * (1.0 - exploration) + exploration / 12.0;
            if uses.tested.contains(&class) {
                // The code expects this class, whatever else it does with the value.
                return f64::from(predicted.max(0.1));
            }
            f64::from(predicted * fitness(class, uses).max(if versatile_only { 0.0 } else { 1e-4 }))
        });
        let class = AbstractValue::ALL[pick_weighted(random, weights.iter().copied())];
        self.concretize(random, path, class, uses, depth)
    }

    /// A value of the declared type, or of a class that the code asks for all the same.
    fn declared(
        &self,
        random: &mut Pcg64Mcg,
        path: &str,
        declared: &Declared,
        distribution: &Distribution,
        uses: &Uses,
        depth: u32,
    ) -> Recipe {
        if !declared.literals.is_empty() && random.random_bool(0.9) {
            return declared.literals[random.random_range(0..declared.literals.len())].clone();
        }
        if !uses.candidates.is_empty() && random.random_bool(0.4) {
            let candidate = &uses.candidates[random.random_range(0..uses.candidates.len())];
            if let Some(recipe) = self.near_candidate(random, candidate, uses).filter(|value| is_plausible(value, uses))
            {
                return recipe;
            }
        }
        let weights = AbstractValue::ALL.map(|class| {
            let named = declared.classes.contains(&class);
            if named || uses.tested.contains(&class) { f64::from(distribution[class as usize].max(0.1)) } else { 0.0 }
        });
        let class = AbstractValue::ALL[pick_weighted(random, weights.iter().copied())];
        if class == AbstractValue::Tuple && !declared.parts.is_empty() {
            let part = |(index, part): (usize, &Declared)| {
                let uses = Uses { declared: Some(part.clone()), ..Uses::default() };
                self.element(random, &format!("{path}[{index}]"), distribution, &uses, depth)
            };
            return Recipe::Tuple(declared.parts.iter().enumerate().map(part).collect());
        }
        let within = |own: Option<&Uses>, declared: &Option<Box<Declared>>| {
            let declared = declared.as_deref().cloned();
            Uses { declared, ..own.cloned().unwrap_or_default() }
        };
        let element = within(uses.element.as_deref(), &declared.items);
        if class == AbstractValue::Dict && (declared.keys.is_some() || declared.items.is_some()) {
            let key = within(None, &declared.keys);
            let value = Uses { declared: element.declared, ..Uses::default() };
            return Recipe::Dict(self.declared_entries(random, path, uses, [&key, &value], depth));
        }
        let bytes = declared.bytes && class == AbstractValue::Str;
        let uses = Uses { element: Some(Box::new(element)), bytes: uses.bytes || bytes, ..uses.clone() };
        self.concretize(random, path, class, &uses, depth)
    }

    /// Entries of declared keys and values; keys that the code looks up in half of the cases.
    fn declared_entries(
        &self,
        random: &mut Pcg64Mcg,
        path: &str,
        uses: &Uses,
        [of_keys, of_values]: [&Uses; 2],
        depth: u32,
    ) -> Vec<(Recipe, Recipe)> {
        let admitted = |key: &Recipe| of_keys.declared.as_ref().is_none_or(|declared| declared.admits(key));
        let mut keys: Vec<Recipe> = Vec::new();
        for key in uses.key_candidates.iter().filter(|key| is_hashable(key) && admitted(key)) {
            if random.random_bool(0.5) && !keys.contains(key) {
                keys.push(key.clone());
            }
        }
        let distribution = self.element_distribution(random, depth);
        for index in 0..pick_weighted(random, [0.25, 0.25, 0.25, 0.15, 0.1].into_iter()) {
            let key = self.element(random, &format!("{path} key {index}"), &distribution, of_keys, depth);
            if is_hashable(&key) && !keys.contains(&key) {
                keys.push(key);
            }
        }
        let value = |key: Recipe| {
            let item = format!("{path}[{}]", key.display());
            let value = self.element(random, &item, &distribution, of_values, depth);
            (key, value)
        };
        keys.into_iter().map(value).collect()
    }

    /// A literal that the value is compared with, or something beside it.
    fn near_candidate(&self, random: &mut Pcg64Mcg, candidate: &Recipe, uses: &Uses) -> Option<Recipe> {
        let container = uses.iterated || uses.mapping || uses.unpacked.is_some() || !uses.keys.is_empty();
        match candidate {
            Recipe::None | Recipe::Bool(_) => Some(candidate.clone()),
            Recipe::Int(value) if !container => Some(Recipe::Int(match random.random_range(0..6) {
                0 => value.saturating_add(1),
                1 => value.saturating_sub(1),
                _ => *value,
            })),
            Recipe::Str(text) if !container => Some(Recipe::Str(match random.random_range(0..9) {
                0 => format!("{text}a"),
                1 => format!("a{text}"),
                2 => format!("a{text}a"),
                3 => text.to_lowercase(),
                4 => text.to_uppercase(),
                5 => format!(" {text} "),
                _ => text.clone(),
            })),
            Recipe::Float(_) | Recipe::Bytes(_) if !container => Some(candidate.clone()),
            _ => None,
        }
    }

    fn concretize(&self, random: &mut Pcg64Mcg, path: &str, class: AbstractValue, uses: &Uses, depth: u32) -> Recipe {
        match class {
            AbstractValue::None => Recipe::None,
            AbstractValue::Bool => Recipe::Bool(random.random_bool(0.5)),
            AbstractValue::Int => Recipe::Int(self.int(random)),
            AbstractValue::Float => Recipe::Float(self.float(random)),
            AbstractValue::Str | AbstractValue::Object if uses.bytes => Recipe::Bytes(self.bytes(random)),
            AbstractValue::Str if uses.attributes.iter().any(|name| name == "decode") => {
                Recipe::Bytes(self.bytes(random))
            }
            AbstractValue::Str if uses.numeric && random.random_bool(0.7) => Recipe::Str(self.int(random).to_string()),
            AbstractValue::Str => Recipe::Str(self.text(random)),
            AbstractValue::List => Recipe::List(self.items(random, path, uses, depth)),
            AbstractValue::Tuple => Recipe::Tuple(self.items(random, path, uses, depth)),
            AbstractValue::Set => {
                let mut members: Vec<Recipe> = Vec::new();
                let plausible =
                    |value: &&Recipe| uses.element.as_deref().is_none_or(|element| is_plausible(value, element));
                let literals: Vec<&Recipe> =
                    uses.candidates.iter().filter(|value| is_hashable(value)).filter(plausible).collect();
                for value in literals {
                    if random.random_bool(0.4) && !members.contains(value) {
                        members.push(value.clone());
                    }
                }
                for item in self.items(random, path, uses, depth) {
                    if is_hashable(&item) && !members.contains(&item) {
                        members.push(item);
                    }
                }
                Recipe::Set(members)
            }
            AbstractValue::Dict => Recipe::Dict(self.entries(random, path, uses, depth)),
            AbstractValue::Object if uses.attributes.iter().any(|name| name == "decode") && random.random_bool(0.5) => {
                Recipe::Bytes(self.bytes(random))
            }
            AbstractValue::Callable | AbstractValue::Resource | AbstractValue::Object => Recipe::Versatile(class),
        }
    }

    fn int(&self, random: &mut Pcg64Mcg) -> i64 {
        if !self.pools.ints.is_empty() && random.random_bool(0.5) {
            return self.pools.ints[random.random_range(0..self.pools.ints.len())];
        }
        if random.random_bool(OTHER) {
            return OTHER_INTS[random.random_range(0..OTHER_INTS.len())];
        }
        BASIC_INTS[random.random_range(0..BASIC_INTS.len())]
    }

    fn float(&self, random: &mut Pcg64Mcg) -> f64 {
        if !self.pools.floats.is_empty() && random.random_bool(0.5) {
            return self.pools.floats[random.random_range(0..self.pools.floats.len())];
        }
        if random.random_bool(ODD) {
            return ODD_FLOATS[random.random_range(0..ODD_FLOATS.len())];
        }
        if random.random_bool(OTHER) {
            return OTHER_FLOATS[random.random_range(0..OTHER_FLOATS.len())];
        }
        let basic = BASIC_INTS[random.random_range(0..BASIC_INTS.len())] as f64;
        if random.random_bool(0.3) { basic + 0.5 } else { basic }
    }

    fn text(&self, random: &mut Pcg64Mcg) -> String {
        let literals = &self.pools.strings;
        if literals.is_empty() || random.random_bool(0.35) {
            if random.random_bool(OTHER) {
                return OTHER_STRINGS[random.random_range(0..OTHER_STRINGS.len())].to_string();
            }
            return BASIC_STRINGS[random.random_range(0..BASIC_STRINGS.len())].to_string();
        }
        let one = &literals[random.random_range(0..literals.len())];
        match random.random_range(0..10) {
            0 => format!("{one}a"),
            1 => format!("a{one}"),
            2 => format!("{one}{}", literals[random.random_range(0..literals.len())]),
            _ => one.clone(),
        }
    }

    fn bytes(&self, random: &mut Pcg64Mcg) -> Vec<u8> {
        if !self.pools.bytes.is_empty() && random.random_bool(0.5) {
            return self.pools.bytes[random.random_range(0..self.pools.bytes.len())].clone();
        }
        self.text(random).into_bytes()
    }

    fn items(&self, random: &mut Pcg64Mcg, path: &str, uses: &Uses, depth: u32) -> Vec<Recipe> {
        let count = match uses.unpacked {
            Some(count) if random.random_bool(0.95) => usize::from(count),
            None if depth == 0 && random.random_bool(LONG) => random.random_range(10..15),
            _ => pick_weighted(random, [0.2, 0.25, 0.25, 0.2, 0.1].into_iter()),
        };
        let element = uses.element.as_deref().cloned().unwrap_or_default();
        let distribution = self.element_distribution(random, depth);
        let mut items: Vec<Recipe> = (0..count)
            .map(|index| self.element(random, &format!("{path}[{index}]"), &distribution, &element, depth))
            .collect();
        for index in 1..items.len() {
            // Equal plain items; objects are told apart by their place.
            if !holds_object(&items[index - 1]) && random.random_bool(DUPLICATE) {
                items[index] = items[index - 1].clone();
            }
        }
        // What is looked up in the container may well be in it.
        if uses.unpacked.is_none() && !uses.candidates.is_empty() && random.random_bool(0.4) {
            let candidate = &uses.candidates[random.random_range(0..uses.candidates.len())];
            if !matches!(candidate, Recipe::None | Recipe::Bool(_)) && is_plausible(candidate, &element) {
                items.truncate(3);
                items.push(candidate.clone());
            }
        }
        items
    }

    fn entries(&self, random: &mut Pcg64Mcg, path: &str, uses: &Uses, depth: u32) -> Vec<(Recipe, Recipe)> {
        let mut keys: Vec<Recipe> = Vec::new();
        for key in &uses.key_candidates {
            if is_hashable(key) && random.random_bool(0.5) && !keys.contains(key) {
                keys.push(key.clone());
            }
        }
        let more = pick_weighted(random, [0.5, 0.25, 0.15, 0.1].into_iter());
        for _ in 0..more {
            let key = if uses.keys.contains(&Key::Int) && !uses.keys.contains(&Key::Text) {
                Recipe::Int(self.int(random))
            } else {
                Recipe::Str(self.text(random))
            };
            if keys.len() < 6 && !keys.contains(&key) {
                keys.push(key);
            }
        }
        let distribution = self.element_distribution(random, depth);
        keys.into_iter()
            .map(|key| {
                let item_path = format!("{path}[{}]", key.display());
                let value = match self.known.known(&item_path) {
                    Some((distribution, uses)) if depth < MAX_DEPTH => {
                        self.draw(random, &item_path, distribution, uses, depth + 1)
                    }
                    _ => self.element(random, &item_path, &distribution, &Uses::default(), depth),
                };
                (key, value)
            })
            .collect()
    }

    /// One class for all elements of a container; `object` in half of the cases (ChangeGuard, Table 1).
    fn element_distribution(&self, random: &mut Pcg64Mcg, depth: u32) -> Distribution {
        let mut distribution = [0.0; AbstractValue::COUNT];
        let class = if random.random_bool(0.5) {
            AbstractValue::Object
        } else {
            use AbstractValue as A;
            let flat = [A::Str, A::Int, A::Str, A::Bool, A::None, A::Float];
            let nested = [A::Tuple, A::List, A::Dict];
            if depth + 1 < MAX_DEPTH && random.random_bool(0.2) {
                nested[random.random_range(0..nested.len())]
            } else {
                flat[random.random_range(0..flat.len())]
            }
        };
        distribution[class as usize] = 1.0;
        distribution
    }

    fn element(
        &self,
        random: &mut Pcg64Mcg,
        path: &str,
        distribution: &Distribution,
        uses: &Uses,
        depth: u32,
    ) -> Recipe {
        if depth >= MAX_DEPTH {
            return Recipe::Versatile(AbstractValue::Object);
        }
        self.draw(random, path, distribution, uses, depth + 1)
    }
}

/// A versatile object is in it.
fn holds_object(recipe: &Recipe) -> bool {
    match recipe {
        Recipe::Versatile(_) => true,
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => items.iter().any(holds_object),
        Recipe::Dict(entries) => entries.iter().any(|(key, value)| holds_object(key) || holds_object(value)),
        _ => false,
    }
}

/// What is declared admits the value, or the code asks for its class all the same.
fn is_plausible(recipe: &Recipe, uses: &Uses) -> bool {
    let Some(declared) = &uses.declared else { return true };
    let is_asked_for = match recipe {
        Recipe::None => uses.candidates.contains(&Recipe::None),
        _ => uses.tested.contains(&recipe.abstract_value()),
    };
    is_asked_for || declared.admits(recipe)
}

/// Recipes that can be members of a set or keys of a dict.
fn is_hashable(recipe: &Recipe) -> bool {
    match recipe {
        Recipe::List(_) | Recipe::Dict(_) | Recipe::Set(_) => false,
        Recipe::Tuple(items) => items.iter().all(is_hashable),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;
    impl Known for Nothing {
        fn known(&self, _: &str) -> Option<(&Distribution, &Uses)> {
            None
        }
    }

    fn ask<'a>(path: &'a str, distribution: &'a Distribution, uses: &'a Uses) -> Ask<'a> {
        Ask { path, distribution, uses, raises: &[], may_fail: false, may_default: false }
    }

    const UNIFORM: Distribution = [1.0 / 12.0; 12];

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
    fn a_value_that_is_called_is_versatile() {
        let uses = Uses { called: true, ..Uses::default() };
        for seed in 0..50 {
            let mut draw = Draw::new(seed, Fixed::new(), 0.0);
            let decision = draw.value(&Pools::default(), &Nothing, &ask("f", &UNIFORM, &uses)).0;
            assert!(matches!(decision, Decision::Value(Recipe::Versatile(_))), "{decision:?}");
        }
    }

    #[test]
    fn an_unpacked_value_mostly_has_the_right_number_of_items() {
        let uses = Uses { unpacked: Some(3), iterated: true, ..Uses::default() };
        let fitting = (0..100)
            .filter(|&seed| {
                let mut draw = Draw::new(seed, Fixed::new(), 0.0);
                match draw.value(&Pools::default(), &Nothing, &ask("x", &UNIFORM, &uses)).0 {
                    Decision::Value(Recipe::List(items) | Recipe::Tuple(items)) => items.len() == 3,
                    Decision::Value(Recipe::Versatile(_)) => true,
                    _ => false,
                }
            })
            .count();
        assert!(fitting > 85, "{fitting}");
    }
}
