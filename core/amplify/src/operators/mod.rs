//! Variants of a test: each differs from it in one place, as Table 1 of the paper has it and further.
//!
//! `literals.rs` has values that stand in the test, `texts.rs` new texts from a given one, `operands.rs` values that the
//! change compared, `calls.rs` statements, arguments and calls, and `donors.rs` statements of other tests. Values that the
//! change itself names or compares come first everywhere.

mod calls;
mod donors;
mod literals;
mod operands;
mod texts;

use std::collections::{BTreeMap, BTreeSet};

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::change::{Constants, Touchable};
use crate::code::{Code, Edit};

pub use donors::{Donor, donors, globals};
pub use operands::Compared;

/// What was done to a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    Number,
    Boolean,
    Text,
    Word,
    Nothing,
    Container,
    Fixture,
    RemoveStatement,
    RepeatStatement,
    AddCall,
    /// A statement of another test of the module.
    AddStatement,
    /// Calls with the values with which a comparison found a difference.
    Witness,
    AddKeyword,
    Argument,
}

/// A test that was made from another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    pub code: Code,
    pub imports: BTreeSet<String>,
    pub steps: Vec<Operator>,
}

/// A function of the project that tests can call.
#[derive(Debug, Clone)]
pub struct Target {
    /// How imports name its module.
    pub module: String,
    pub function: Touchable,
    /// The names in its touched statements.
    pub mentions: BTreeSet<String>,
}

/// What variants are made of.
#[derive(Debug, Clone, Default)]
pub struct Material {
    pub constants: Constants,
    /// Texts of the test module.
    pub texts: Vec<String>,
    /// Names that the test module binds to literals, and fixtures that return one.
    pub literals: BTreeMap<String, String>,
    pub fixtures: BTreeMap<String, String>,
    /// Functions of changed files, those that changed first.
    pub targets: Vec<Target>,
    /// Classes of the local variables, as they were observed.
    pub classes: BTreeMap<String, String>,
    /// What changed files compared while the test ran, functions that changed first.
    pub compared: Vec<Compared>,
    /// Statements of other tests of the module.
    pub donors: Vec<Donor>,
    /// Changed functions that other tests run and this one does not.
    pub elsewhere: BTreeSet<String>,
    /// The names that the module binds.
    pub globals: BTreeSet<String>,
}

/// One change at one place of a test.
pub(crate) struct Mutation {
    pub operator: Operator,
    /// Mutations of one place take turns with those of others.
    pub place: usize,
    /// How promising it is; lower comes first.
    pub order: u8,
    pub edits: Vec<Edit>,
    pub imports: Vec<String>,
}

/// Variants of a test that differ from it in one place, the promising first, in an order that the seed decides.
pub fn variants(of: &Variant, material: &Material, seed: u64) -> Vec<Variant> {
    let mut random = Pcg64::seed_from_u64(seed ^ xxh3_64(of.code.text().as_bytes()));
    let mut found = Vec::new();
    literals::mutations(&of.code, material, &mut random, &mut found);
    calls::mutations(&of.code, material, &mut found);
    donors::mutations(&of.code, material, &mut found);
    let turns = in_turns(found, &mut random);
    let mut seen = BTreeSet::new();
    let made = turns.into_iter().filter_map(|mutation| {
        let code = of.code.edited(mutation.edits)?;
        let mut imports = of.imports.clone();
        imports.extend(mutation.imports);
        let mut steps = of.steps.clone();
        steps.push(mutation.operator);
        Some(Variant { code, imports, steps })
    });
    made.filter(|variant| variant.code != of.code && seen.insert(variant.code.clone())).collect()
}

/// The most promising mutation of each place, then the next of each, and so on.
fn in_turns(mut found: Vec<Mutation>, random: &mut Pcg64) -> Vec<Mutation> {
    let mut places: BTreeMap<usize, u64> = BTreeMap::new();
    for mutation in &found {
        places.entry(mutation.place).or_insert(0);
    }
    for order in places.values_mut() {
        *order = random.next_u64();
    }
    found.sort_by_key(|mutation| mutation.order);
    let mut turn: BTreeMap<usize, usize> = BTreeMap::new();
    let mut keyed: Vec<((usize, u64), Mutation)> = Vec::new();
    for mutation in found {
        let at = turn.entry(mutation.place).or_insert(0);
        // A place with much that is promising may take several turns at once.
        keyed.push(((*at / 2 + usize::from(mutation.order) / 3, places[&mutation.place]), mutation));
        *at += 1;
    }
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, mutation)| mutation).collect()
}

#[cfg(test)]
mod tests;
