//! The containers of `collections`.

use super::{Provider, made, text};
use crate::value::{AbstractValue, Recipe};

pub(super) const PROVIDERS: &[Provider] = &[
    Provider::new("collections.Counter", counters).changeable(),
    Provider::new("collections.OrderedDict", ordered).changeable(),
    Provider::new("collections.defaultdict", defaults).also(&["DefaultDict"]).changeable(),
    Provider::new("collections.deque", queues).also(&["Deque"]).changeable(),
];

fn counts(entries: &[(&str, i64)]) -> Recipe {
    Recipe::Dict(entries.iter().map(|(key, count)| (text(key), Recipe::Int(*count))).collect())
}

fn counters() -> Vec<Recipe> {
    let counters: [&[(&str, i64)]; 5] =
        [&[("a", 2), ("b", 1)], &[], &[("a", 1), ("b", 1)], &[("b", 3), ("a", 0), ("c", -1)], &[("a", 1)]];
    counters.map(|entries| made("collections.Counter", [counts(entries)])).to_vec()
}

fn ordered() -> Vec<Recipe> {
    let orders: [&[(&str, i64)]; 4] = [&[("a", 1), ("b", 2)], &[], &[("b", 2), ("a", 1)], &[("x", 0)]];
    orders.map(|entries| made("collections.OrderedDict", [counts(entries)])).to_vec()
}

fn defaults() -> Vec<Recipe> {
    let of =
        |factory: &str, content: Recipe| made("collections.defaultdict", [Recipe::Named(factory.to_owned()), content]);
    let lists = Recipe::Dict(vec![(text("a"), Recipe::List(vec![Recipe::Int(1)]))]);
    vec![of("int", counts(&[("a", 2), ("b", 1)])), of("list", lists), of("int", counts(&[])), of("list", counts(&[]))]
}

fn queues() -> Vec<Recipe> {
    let queues: [&[i64]; 4] = [&[1, 2, 3], &[], &[5], &[2, 1, 2]];
    let items = |numbers: &[i64]| Recipe::List(numbers.iter().map(|number| Recipe::Int(*number)).collect());
    queues.map(|numbers| made("collections.deque", [items(numbers)])).to_vec()
}

/// What holds the items of a container.
pub(super) fn content(class: &str) -> Option<AbstractValue> {
    match class {
        "collections.Counter" | "collections.OrderedDict" | "collections.defaultdict" => Some(AbstractValue::Dict),
        "collections.deque" => Some(AbstractValue::List),
        _ => None,
    }
}

/// A container with this content.
pub(super) fn holding(class: &str, content: Recipe) -> Recipe {
    if class != "collections.defaultdict" {
        return made(class, [content]);
    }
    // As the values that are there: a list for lists.
    let factory = match &content {
        Recipe::Dict(entries) => match entries.first() {
            Some((_, Recipe::List(_))) => "list",
            Some((_, Recipe::Dict(_))) => "dict",
            Some((_, Recipe::Set(_))) => "set",
            Some((_, Recipe::Float(_))) => "float",
            Some((_, Recipe::Str(_))) => "str",
            _ => "int",
        },
        _ => "int",
    };
    made(class, [Recipe::Named(factory.to_owned()), content])
}
