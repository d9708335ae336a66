//! Turns abstract values into recipes: concretization after ChangeGuard, Table 1, where the uses in the code ([`Uses`])
//! weight the prediction. `pools.rs` draws numbers and texts.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::draw::{PathKnowledge, pick_weighted};
use super::fitness::fitness;
use super::{Pools, texts};
use crate::path::AccessPath;
use crate::predictor::Distribution;
use crate::reading::{Key, Uses};
use crate::value::{AbstractValue, ConstructorCall, Declared, Model, Provided, Recipe, library};

/// How often a container is long, and how often an item repeats the one before.
const LONG: f64 = 0.04;
const DUPLICATE: f64 = 0.12;
/// How often it has a part in common with it: records have the same name or the same amount.
const TIED: f64 = 0.3;
/// How often a field keeps its default.
const DEFAULT: f64 = 0.35;
/// How often a dictionary lacks a key that it should have.
const LACKING: f64 = 0.06;
/// How often the items of a container are what the code does with them, and how often those of all its siblings are alike.
const FITTING: f64 = 0.9;
const ALIKE: f64 = 0.85;
/// How often a dictionary has all the keys that are looked up in it, where the code says what it does with their values.
const COMPLETE: f64 = 0.65;
/// How often a date has to do with the others of an execution.
const ANCHORED: f64 = 0.6;
/// How often a plain value is the false one of its class, where the truth of values is what the versions test otherwise.
const FALSE: f64 = 0.25;
/// The maximum nesting of drawn containers.
const MAX_DEPTH: u32 = 2;
/// The same where the code says what it does with the items, and where types are declared.
const MAX_KNOWN: u32 = 4;
const MAX_DECLARED: u32 = 6;

/// Makes the values of one execution.
pub(super) struct Maker<'a> {
    pub pools: &'a Pools,
    pub known: &'a dyn PathKnowledge,
    /// The share of draws that ignore the prediction.
    pub exploration: f64,
    /// The letters of drawn texts.
    pub letters: Option<&'static str>,
    /// The number of rows that tables have in common.
    pub rows: usize,
    /// What dates have in common.
    pub anchor: u64,
}

impl Maker<'_> {
    pub(super) fn draw(
        &self,
        random: &mut Pcg64Mcg,
        path: AccessPath<'_>,
        distribution: &Distribution,
        uses: &Uses,
        depth: u32,
    ) -> Recipe {
        if let Some(declared) = &uses.declared {
            return self.declared(random, path, declared, distribution, uses, depth);
        }
        let mock_only = uses.called || uses.exception || uses.class || uses.awaited || uses.entered;
        if mock_only && uses.candidates.contains(&Recipe::None) && random.random_bool(0.25) {
            // Code that tests whether the value is there before calling it.
            return Recipe::None;
        }
        if !mock_only && !uses.candidates.is_empty() && random.random_bool(0.4) {
            let candidate = &uses.candidates[random.random_range(0..uses.candidates.len())];
            // A class that the predictor thinks impossible is tried seldom, even where the code asks for it.
            let class = candidate.abstract_value();
            let is_shape = matches!(candidate, Recipe::List(_) | Recipe::Dict(_));
            let expected = if is_shape || uses.tested.contains(&class) { 0.5 } else { 0.1 };
            let trust = f64::from(distribution[class as usize] * 20.0 + expected).min(1.0);
            if random.random_bool(trust)
                && let Some(recipe) = self.near_candidate(random, path, candidate, uses, depth)
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
            f64::from(predicted * fitness(class, uses).max(if mock_only { 0.0 } else { 1e-4 }))
        });
        let class = AbstractValue::ALL[pick_weighted(random, weights.iter().copied())];
        self.concretize(random, path, class, uses, depth)
    }

    /// A value of the declared type, or of a class that the code asks for nevertheless.
    fn declared(
        &self,
        random: &mut Pcg64Mcg,
        path: AccessPath<'_>,
        declared: &Declared,
        distribution: &Distribution,
        uses: &Uses,
        depth: u32,
    ) -> Recipe {
        let has_others = !declared.is_closed || declared.classes.contains(&AbstractValue::None);
        if !declared.literals.is_empty() && (!has_others || random.random_bool(0.9)) {
            return declared.literals[random.random_range(0..declared.literals.len())].clone();
        }
        if !uses.candidates.is_empty() && random.random_bool(0.4) {
            let candidate = &uses.candidates[random.random_range(0..uses.candidates.len())];
            if let Some(recipe) =
                self.near_candidate(random, path, candidate, uses, depth).filter(|value| is_plausible(value, uses))
            {
                return recipe;
            }
        }
        let weights = AbstractValue::ALL.map(|class| {
            let named = declared.classes.contains(&class);
            if named || uses.tested.contains(&class) { f64::from(distribution[class as usize].max(0.1)) } else { 0.0 }
        });
        let class = AbstractValue::ALL[pick_weighted(random, weights.iter().copied())];
        if class == AbstractValue::Dict
            && let Some(model) = declared.models.iter().find(|model| model.is_mapping)
        {
            return self.of_model(random, path, model, depth);
        }
        if class == AbstractValue::Object
            && let Some(value) = self.of_library(random, path, declared, distribution, uses, depth)
        {
            return value;
        }
        if class == AbstractValue::Tuple && !declared.parts.is_empty() {
            let part = |(index, part): (usize, &Declared)| {
                let uses = Uses { declared: Some(part.clone()), ..Uses::default() };
                self.element(random, path.item(index).as_path(), distribution, &uses, depth)
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

    /// A value of a declared class of a library.
    fn of_library(
        &self,
        random: &mut Pcg64Mcg,
        path: AccessPath<'_>,
        declared: &Declared,
        distribution: &Distribution,
        uses: &Uses,
        depth: u32,
    ) -> Option<Recipe> {
        let (classes, provided) = (&declared.library, &declared.provided);
        let models: Vec<&Model> = declared.own_models().collect();
        let others = classes.len() + models.len();
        let class = match random.random_range(0..(others + provided.len()).max(1)) {
            number if number < classes.len() => &classes[number],
            number if number < others => {
                return Some(self.of_model(random, path, models[number - classes.len()], depth));
            }
            number => {
                let by = provided.get(number - others)?.clone();
                let number = random.random_range(0..by.count().max(1));
                return Some(Provided { by, number }.into());
            }
        };
        if random.random_bool(ANCHORED)
            && let Some(near) = library::near(class, self.anchor, random, self.pools.ints())
        {
            return Some(near);
        }
        let drawn = library::drawn(class, declared.shape.as_deref(), random, &self.pools.cells(self.rows));
        if drawn.is_some() {
            return drawn;
        }
        if library::is_answer(class) {
            let json = self.read_as_json(random, path, depth);
            return Some(library::drawn_answer(class, random, json));
        }
        if let Some(item) = declared.items.as_deref().filter(|_| library::is_context(class)) {
            let within = Uses { declared: Some(item.clone()), ..Uses::default() };
            return Some(library::context(self.element(random, path, distribution, &within, depth)));
        }
        if let Some(content) = library::content(class).filter(|_| declared.items.is_some() || declared.keys.is_some()) {
            let own = Declared { library: vec![], shape: None, classes: vec![content], ..declared.clone() };
            let content = self.declared(random, path, &own, distribution, uses, depth);
            return Some(library::holding(class, content));
        }
        let values = library::values(class);
        (!values.is_empty()).then(|| values[random.random_range(0..values.len())].clone())
    }

    /// What the code may read from a response: with the keys that it looks up. `None` if it reads no JSON.
    fn read_as_json(&self, random: &mut Pcg64Mcg, path: AccessPath<'_>, depth: u32) -> Option<Recipe> {
        const METHOD: &str = "json";
        let path = path.attribute(METHOD).as_path().call("");
        // What a call gives has another path than the local that stands for it.
        let uses = self.known.known(path.as_path()).map(|(_, uses)| uses).or_else(|| self.known.given_by(METHOD))?;
        let is_list = uses.iterated && uses.key_candidates.is_empty();
        let class = if is_list { AbstractValue::List } else { AbstractValue::Dict };
        let value = self.concretize(random, path.as_path(), class, uses, depth);
        Some(self.without_objects(random, value))
    }

    /// A value with plain ones in place of objects.
    fn without_objects(&self, random: &mut Pcg64Mcg, value: Recipe) -> Recipe {
        match value {
            Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => {
                Recipe::List(items.into_iter().map(|item| self.without_objects(random, item)).collect())
            }
            Recipe::Dict(entries) => {
                let entry = |(key, value)| (key, self.without_objects(random, value));
                Recipe::Dict(entries.into_iter().map(entry).collect())
            }
            Recipe::Bytes(_) | Recipe::Mock(_) | Recipe::Named(_) | Recipe::Made(_) => {
                match random.random_range(0..4) {
                    0 => Recipe::Str(self.pools.text(random)),
                    1 => Recipe::List((0..random.random_range(0..3)).map(Recipe::Int).collect()),
                    _ => Recipe::Int(self.pools.int(random)),
                }
            }
            plain => plain,
        }
    }

    /// An object of a class of the module, made from its fields.
    fn of_model(&self, random: &mut Pcg64Mcg, path: AccessPath<'_>, model: &Model, depth: u32) -> Recipe {
        let mut keywords = Vec::new();
        for field in &model.fields {
            if field.has_default && (depth > MAX_DEPTH || random.random_bool(DEFAULT)) {
                continue;
            }
            if !field.has_default && model.is_mapping && random.random_bool(LACKING) {
                continue;
            }
            let path = match model.is_mapping {
                true => path.item(Recipe::Str(field.name.clone()).display()),
                false => path.attribute(&field.name),
            };
            let unknown = self.element_distribution(random, path.as_path(), None, depth);
            let (distribution, uses) = match self.known.known(path.as_path()) {
                Some((distribution, uses)) => (distribution, uses.clone()),
                None => (&unknown, Uses::default()),
            };
            let declared = field.declared.clone().or_else(|| uses.declared.clone());
            let value = match (&declared, depth > MAX_DEPTH) {
                (None, true) => Recipe::Mock(AbstractValue::Object),
                _ => self.draw(random, path.as_path(), distribution, &Uses { declared, ..uses }, depth + 1),
            };
            keywords.push((field.name.clone(), value));
        }
        if model.is_mapping {
            return Recipe::Dict(keywords.into_iter().map(|(name, value)| (Recipe::Str(name), value)).collect());
        }
        ConstructorCall { class: model.class.clone(), arguments: vec![], keywords }.into()
    }

    /// Entries of declared keys and values. In half of the cases the keys are those that the code looks up.
    fn declared_entries(
        &self,
        random: &mut Pcg64Mcg,
        path: AccessPath<'_>,
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
        let distribution = self.element_distribution(random, path, None, depth);
        for index in 0..pick_weighted(random, [0.25, 0.25, 0.25, 0.15, 0.1].into_iter()) {
            let key = self.element(random, path.key(index).as_path(), &distribution, of_keys, depth);
            if is_hashable(&key) && !keys.contains(&key) {
                keys.push(key);
            }
        }
        let value = |key: Recipe| {
            let item = path.item(key.display());
            let value = self.element(random, item.as_path(), &distribution, of_values, depth);
            (key, value)
        };
        let mut entries: Vec<(Recipe, Recipe)> = keys.into_iter().map(value).collect();
        repeat_values(random, &mut entries);
        entries
    }

    /// A literal that the code compares the value with, or a neighbour of one; or a shape that a pattern asks for.
    fn near_candidate(
        &self,
        random: &mut Pcg64Mcg,
        path: AccessPath<'_>,
        candidate: &Recipe,
        uses: &Uses,
        depth: u32,
    ) -> Option<Recipe> {
        let container = uses.iterated || uses.mapping || uses.unpacked.is_some() || !uses.keys.is_empty();
        match candidate {
            Recipe::None | Recipe::Bool(_) => Some(candidate.clone()),
            Recipe::List(_) | Recipe::Dict(_) => Some(match self.filled(random, path, candidate, uses, depth) {
                // Sequence patterns match both.
                Recipe::List(items) if uses.declared.as_ref().is_some_and(Declared::is_tuple) => Recipe::Tuple(items),
                filled => filled,
            }),
            Recipe::Int(value) if !container => Some(Recipe::Int(match random.random_range(0..6) {
                0 => value.saturating_add(1),
                1 => value.saturating_sub(1),
                _ => *value,
            })),
            Recipe::Str(text) if !container => Some(Recipe::Str(match random.random_range(0..12) {
                0 => format!("{text}a"),
                1 => format!("a{text}"),
                2 => format!("a{text}a"),
                3 => text.to_lowercase(),
                4 => text.to_uppercase(),
                5 => format!(" {text} "),
                6 => texts::mixed_case(text),
                7 => format!("{text}{text}"),
                _ => text.clone(),
            })),
            Recipe::Bytes(bytes) if !container => Some(Recipe::Bytes(match random.random_range(0..8) {
                0 => [bytes.as_slice(), b"a"].concat(),
                1 => [b"a", bytes.as_slice()].concat(),
                2 => [b"a", bytes.as_slice(), b"a"].concat(),
                3 => bytes.to_ascii_uppercase(),
                _ => bytes.clone(),
            })),
            Recipe::Float(_) | Recipe::Named(_) if !container => Some(candidate.clone()),
            Recipe::Made(_) => Some(candidate.clone()),
            _ => None,
        }
    }

    fn concretize(
        &self,
        random: &mut Pcg64Mcg,
        path: AccessPath<'_>,
        class: AbstractValue,
        uses: &Uses,
        depth: u32,
    ) -> Recipe {
        if let Some(value) = of_false(class).filter(|_| self.pools.is_often_false && !is_of_bytes(uses))
            && random.random_bool(FALSE)
        {
            return value;
        }
        match class {
            AbstractValue::None => Recipe::None,
            AbstractValue::Bool => Recipe::Bool(random.random_bool(0.5)),
            AbstractValue::Int => Recipe::Int(self.pools.int(random)),
            AbstractValue::Float => Recipe::Float(self.pools.float(random)),
            AbstractValue::Str | AbstractValue::Object
                if uses.bytes && (!may_be_text(uses) || random.random_bool(0.5)) =>
            {
                Recipe::Bytes(texts::bytes(random, self.pools, uses, self.letters))
            }
            AbstractValue::Str if is_decoded(uses) => {
                Recipe::Bytes(texts::bytes(random, self.pools, uses, self.letters))
            }
            AbstractValue::Str => Recipe::Str(texts::text(random, self.pools, uses, self.letters)),
            AbstractValue::List => Recipe::List(self.items(random, path, uses, depth)),
            // No set holds mappings.
            AbstractValue::Set if uses.element.as_deref().is_some_and(is_mapping) => {
                Recipe::List(self.items(random, path, uses, depth))
            }
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
            AbstractValue::Object if is_decoded(uses) && random.random_bool(0.5) => {
                Recipe::Bytes(texts::bytes(random, self.pools, uses, self.letters))
            }
            AbstractValue::Callable | AbstractValue::Resource | AbstractValue::Object => Recipe::Mock(class),
        }
    }

    fn items(&self, random: &mut Pcg64Mcg, path: AccessPath<'_>, uses: &Uses, depth: u32) -> Vec<Recipe> {
        let count = match uses.unpacked {
            Some(count) if random.random_bool(0.95) => usize::from(count),
            None if depth == 0 && random.random_bool(LONG) => random.random_range(10..15),
            // Code that also goes through all items gets more than those that it names.
            None if !uses.parts.is_empty() && random.random_bool(0.8) => {
                let has_more = uses.iterated || uses.keys.contains(&Key::Slice);
                uses.parts.len() + if has_more { pick_weighted(random, [0.3, 0.3, 0.25, 0.15].into_iter()) } else { 0 }
            }
            _ => pick_weighted(random, [0.2, 0.25, 0.25, 0.2, 0.1].into_iter()),
        };
        let element = uses.element.as_deref().cloned().unwrap_or_default();
        let is_known = element != Uses::default() || uses.unpacked.is_some() || !uses.parts.is_empty();
        let known = is_known.then_some(&element);
        let distribution = self.element_distribution(random, path, known, depth);
        let mut items: Vec<Recipe> = (0..count)
            .map(|index| {
                let part = uses.parts.get(index).filter(|part| element.declared.is_none() && **part != Uses::default());
                let path = path.item(index);
                match part {
                    Some(part) if !suits(&distribution, part) => {
                        let own = self.element_distribution(random, path.as_path(), Some(part), depth);
                        self.element(random, path.as_path(), &own, part, depth)
                    }
                    part => self.element(random, path.as_path(), &distribution, part.unwrap_or(&element), depth),
                }
            })
            .collect();
        for index in 1..items.len() {
            // Equal plain items. Objects are distinguished by their position.
            if !holds_object(&items[index - 1]) && random.random_bool(DUPLICATE) {
                items[index] = items[index - 1].clone();
            } else if random.random_bool(TIED) {
                let (before, after) = items.split_at_mut(index);
                tie(random, &before[index - 1], &mut after[0]);
            }
        }
        // The container may well hold what the code looks up in it.
        if uses.unpacked.is_none() && !uses.candidates.is_empty() && random.random_bool(0.4) {
            let candidate = &uses.candidates[random.random_range(0..uses.candidates.len())];
            let is_item = !matches!(candidate, Recipe::None | Recipe::Bool(_) | Recipe::List(_) | Recipe::Dict(_));
            if is_item && is_plausible(candidate, &element) {
                items.truncate(3);
                items.push(candidate.clone());
            }
        }
        items
    }

    fn entries(&self, random: &mut Pcg64Mcg, path: AccessPath<'_>, uses: &Uses, depth: u32) -> Vec<(Recipe, Recipe)> {
        let mut keys: Vec<Recipe> = Vec::new();
        let is_complete = !uses.values.is_empty() && random.random_bool(COMPLETE);
        for key in &uses.key_candidates {
            if is_hashable(key) && (is_complete || random.random_bool(0.5)) && !keys.contains(key) {
                keys.push(key.clone());
            }
        }
        let is_whole = |name: &String| matches!(name.as_str(), "items" | "values" | "keys");
        let goes_through_all = uses.iterated && uses.mapping || uses.attributes.iter().any(is_whole);
        let weights = if goes_through_all { [0.2, 0.25, 0.25, 0.2, 0.1] } else { [0.5, 0.25, 0.15, 0.1, 0.0] };
        let more = if is_complete { 0 } else { pick_weighted(random, weights.into_iter()) };
        for _ in 0..more {
            let key = if uses.keys.contains(&Key::Int) && !uses.keys.contains(&Key::Text) {
                Recipe::Int(self.pools.int(random))
            } else {
                Recipe::Str(self.pools.text(random))
            };
            if keys.len() < 6 && !keys.contains(&key) {
                keys.push(key);
            }
        }
        let of_all = self.element_distribution(random, path, uses.entry.as_deref(), depth);
        let of_any = uses.entry.as_deref().cloned().unwrap_or_default();
        let mut entries: Vec<(Recipe, Recipe)> = keys
            .into_iter()
            .map(|key| {
                let path = path.item(key.display());
                let is_it = |(own, _): &&(String, Uses)| matches!(&key, Recipe::Str(text) if text == own);
                let used = uses.values.iter().find(is_it).map_or(&of_any, |(_, used)| used);
                let value = if uses.values.is_empty() {
                    self.item(random, path.as_path(), &of_all, used, depth)
                } else {
                    let own = self.element_distribution(random, path.as_path(), Some(used), depth);
                    self.item(random, path.as_path(), &own, used, depth)
                };
                (key, value)
            })
            .collect();
        if uses.values.is_empty() {
            repeat_values(random, &mut entries);
        }
        entries
    }

    /// The value under a key, from the prediction for a site of this path, if there is one.
    fn item(
        &self,
        random: &mut Pcg64Mcg,
        path: AccessPath<'_>,
        distribution: &Distribution,
        uses: &Uses,
        depth: u32,
    ) -> Recipe {
        match self.known.known(path) {
            Some((distribution, uses)) if depth < MAX_DEPTH => self.draw(random, path, distribution, uses, depth + 1),
            _ => self.element(random, path, distribution, uses, depth),
        }
    }

    /// A shape in which values replace the objects. They are as deep as the items of any list.
    fn filled(&self, random: &mut Pcg64Mcg, path: AccessPath<'_>, shape: &Recipe, uses: &Uses, depth: u32) -> Recipe {
        let within = |item: &Recipe| if matches!(item, Recipe::Mock(_)) { depth } else { depth + 1 };
        match shape {
            Recipe::Mock(_) => {
                let known = Some(uses).filter(|uses| **uses != Uses::default());
                let distribution = self.element_distribution(random, path, known, depth);
                self.item(random, path, &distribution, uses, depth)
            }
            Recipe::List(items) => {
                let unused = Uses::default();
                let item = |(index, item)| {
                    let uses = uses.parts.get(index).unwrap_or(&unused);
                    self.filled(random, path.item(index).as_path(), item, uses, within(item))
                };
                Recipe::List(items.iter().enumerate().map(item).collect())
            }
            Recipe::Dict(entries) => {
                let entry = |(key, value): &(Recipe, Recipe)| {
                    let path = path.item(key.display());
                    (key.clone(), self.filled(random, path.as_path(), value, &Uses::default(), within(value)))
                };
                Recipe::Dict(entries.iter().map(entry).collect())
            }
            other => other.clone(),
        }
    }

    /// One class for all elements of a container: mostly one that does what the code wants of them, otherwise an object in
    /// half of the cases (ChangeGuard, Table 1). In containers that stand side by side it is mostly the same.
    fn element_distribution(
        &self,
        random: &mut Pcg64Mcg,
        path: AccessPath<'_>,
        uses: Option<&Uses>,
        depth: u32,
    ) -> Distribution {
        let mut distribution = [0.0; AbstractValue::COUNT];
        let known = uses.filter(|uses| uses.declared.is_none());
        let class = if let Some(uses) = known.filter(|_| random.random_bool(FITTING)) {
            let weights = AbstractValue::ALL.map(|class| f64::from(usual(class) * fitness(class, uses)));
            let is_alike = random.random_bool(ALIKE);
            let mut shared =
                Pcg64Mcg::seed_from_u64(xxh3_64_with_seed(unnumbered(path.as_str()).as_bytes(), self.anchor));
            AbstractValue::ALL[pick_weighted(if is_alike { &mut shared } else { random }, weights.into_iter())]
        } else if random.random_bool(0.5) {
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
        path: AccessPath<'_>,
        distribution: &Distribution,
        uses: &Uses,
        depth: u32,
    ) -> Recipe {
        let most = match &uses.declared {
            Some(_) => MAX_DECLARED,
            None if *uses != Uses::default() => MAX_KNOWN,
            None => MAX_DEPTH,
        };
        if depth >= most {
            return Recipe::Mock(AbstractValue::Object);
        }
        self.draw(random, path, distribution, uses, depth + 1)
    }
}

/// Gives entries the value of the one before, now and then: code that ranks them has to decide. Objects are distinguished by
/// their keys.
fn repeat_values(random: &mut Pcg64Mcg, entries: &mut [(Recipe, Recipe)]) {
    for index in 1..entries.len() {
        if !holds_object(&entries[index - 1].1) && random.random_bool(DUPLICATE) {
            entries[index].1 = entries[index - 1].1.clone();
        }
    }
}

fn is_decoded(uses: &Uses) -> bool {
    uses.attributes.iter().any(|name| name == "decode")
}

fn is_of_bytes(uses: &Uses) -> bool {
    uses.bytes || is_decoded(uses)
}

/// The value of a plain class that is false.
fn of_false(class: AbstractValue) -> Option<Recipe> {
    Some(match class {
        AbstractValue::Bool => Recipe::Bool(false),
        AbstractValue::Int => Recipe::Int(0),
        AbstractValue::Float => Recipe::Float(0.0),
        AbstractValue::Str => Recipe::Str(String::new()),
        _ => return None,
    })
}

/// How usual a class is among items of which only their uses are known.
fn usual(class: AbstractValue) -> f32 {
    use AbstractValue as A;
    match class {
        A::Str | A::Int => 0.3,
        A::Float | A::Dict | A::Tuple | A::List => 0.1,
        A::Bool | A::None | A::Set => 0.02,
        A::Object => 0.1,
        A::Callable | A::Resource => 0.02,
    }
}

/// Takes over one part of the item before, if both have such a part.
fn tie(random: &mut Pcg64Mcg, before: &Recipe, item: &mut Recipe) {
    match (before, item) {
        (Recipe::Tuple(before), Recipe::Tuple(parts)) if before.len() == parts.len() && !parts.is_empty() => {
            let at = random.random_range(0..parts.len());
            parts[at] = before[at].clone();
        }
        (Recipe::Dict(before), Recipe::Dict(entries)) if !before.is_empty() => {
            let (key, value) = &before[random.random_range(0..before.len())];
            if let Some((_, own)) = entries.iter_mut().find(|(own, _)| own == key) {
                *own = value.clone();
            }
        }
        _ => {}
    }
}

/// Whether values of the likeliest class do what the code wants.
fn suits(distribution: &Distribution, uses: &Uses) -> bool {
    let likeliest =
        AbstractValue::ALL.into_iter().max_by(|a, b| distribution[*a as usize].total_cmp(&distribution[*b as usize]));
    likeliest.is_some_and(|class| fitness(class, uses) >= 0.5)
}

fn is_mapping(uses: &Uses) -> bool {
    uses.mapping || uses.keys.iter().any(|key| matches!(key, Key::Text | Key::Member))
}

/// The path with the same mark for each position: what stands side by side has the same.
fn unnumbered(path: &str) -> String {
    let mut found = String::with_capacity(path.len());
    for (index, part) in path.split('[').enumerate() {
        if index > 0 {
            found.push('[');
        }
        found.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    found
}

/// Whether the recipe contains a mock object.
fn holds_object(recipe: &Recipe) -> bool {
    match recipe {
        Recipe::Mock(_) => true,
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => items.iter().any(holds_object),
        Recipe::Dict(entries) => entries.iter().any(|(key, value)| holds_object(key) || holds_object(value)),
        _ => false,
    }
}

/// Whether the code treats the value as bytes and asks for texts as well.
fn may_be_text(uses: &Uses) -> bool {
    uses.tested.contains(&AbstractValue::Str) || uses.candidates.iter().any(|value| matches!(value, Recipe::Str(_)))
}

/// Whether the declaration admits the value, or the code asks for its class nevertheless.
pub(super) fn is_plausible(recipe: &Recipe, uses: &Uses) -> bool {
    let Some(declared) = &uses.declared else { return true };
    let is_asked_for = match recipe {
        Recipe::None => uses.candidates.contains(&Recipe::None),
        _ => uses.tested.contains(&recipe.abstract_value()),
    };
    is_asked_for || declared.admits(recipe)
}

/// Whether recipes can be members of a set or keys of a dict.
fn is_hashable(recipe: &Recipe) -> bool {
    match recipe {
        // A name may stand for anything.
        Recipe::List(_) | Recipe::Dict(_) | Recipe::Set(_) | Recipe::Named(_) => false,
        Recipe::Tuple(items) => items.iter().all(is_hashable),
        _ => true,
    }
}
