//! Simpler values in place of one: what a witness is tried with.

use twincell_values::value::{ConstructorCall, Decision, Recipe, library};

/// The maximum number of items of a container that are left out or made simpler.
const ITEMS: usize = 8;

/// Decisions simpler than this one, simplest first. An object becomes a plain value if the difference itself shows this
/// value.
pub(super) fn simpler(decision: &Decision, seen: bool) -> Vec<Decision> {
    let Decision::Value(recipe) = decision else { return vec![] };
    let values: Vec<Recipe> = match recipe {
        Recipe::Int(value) if !matches!(value, 0 | 1) => vec![Recipe::Int(0), Recipe::Int(1)],
        Recipe::Float(_) => vec![Recipe::Int(0), Recipe::Int(1), Recipe::Float(0.0)],
        Recipe::Mock(_) if seen => vec![Recipe::Int(0), Recipe::Int(1), Recipe::Str(String::new())],
        // The empty text looks like a special case. Texts of one character stay as they are.
        Recipe::Str(text) if text.chars().count() > 1 => vec![Recipe::Str("a".into()), Recipe::Str(String::new())],
        Recipe::List(items) if !items.is_empty() => vec![Recipe::List(vec![]), Recipe::List(items[..1].to_vec())],
        Recipe::Tuple(items) if !items.is_empty() => vec![Recipe::Tuple(vec![]), Recipe::Tuple(items[..1].to_vec())],
        // The order of a set of texts is another one in each process.
        Recipe::Set(items) if items.len() > 1 && items.iter().any(|item| matches!(item, Recipe::Str(_))) => {
            vec![Recipe::Set(vec![]), Recipe::Set(items[..1].to_vec()), Recipe::List(items.clone())]
        }
        Recipe::Set(items) if !items.is_empty() => vec![Recipe::Set(vec![]), Recipe::Set(items[..1].to_vec())],
        Recipe::Dict(entries) if !entries.is_empty() => std::iter::once(Recipe::Dict(vec![]))
            .chain(entries.iter().map(|entry| Recipe::Dict(vec![entry.clone()])))
            .collect(),
        Recipe::Made(_) => library::simpler(recipe),
        Recipe::Provided(provided) => provided.simpler().collect(),
        _ => vec![],
    };
    values.into_iter().filter(|value| value != recipe).map(Decision::Value).collect()
}

pub(super) fn holds_items(decision: &Decision) -> bool {
    let Decision::Value(recipe) = decision else { return false };
    matches!(recipe, Recipe::List(_) | Recipe::Tuple(_) | Recipe::Set(_) | Recipe::Dict(_) | Recipe::Made(_))
}

/// The container without one of its items, and with a simpler one in place of one.
pub(super) fn smaller(decision: &Decision) -> Vec<Decision> {
    let Decision::Value(recipe) = decision else { return vec![] };
    within(recipe).into_iter().map(Decision::Value).collect()
}

/// Like [`smaller`], for values within values.
fn within(recipe: &Recipe) -> Vec<Recipe> {
    let of_items = |items: &[Recipe], whole: fn(Vec<Recipe>) -> Recipe| {
        let without = (0..items.len().min(ITEMS)).filter(|_| items.len() > 1);
        let without = without.map(|at| [&items[..at], &items[at + 1..]].concat());
        let with = items.iter().enumerate().take(ITEMS).flat_map(|(at, item)| {
            let with = move |part: Recipe| [&items[..at], &[part], &items[at + 1..]].concat();
            parts(item).into_iter().map(with)
        });
        without.chain(with).map(whole).collect()
    };
    match recipe {
        Recipe::List(items) => of_items(items, Recipe::List),
        Recipe::Tuple(items) => of_items(items, Recipe::Tuple),
        Recipe::Set(items) => of_items(items, |all| {
            let mut members: Vec<Recipe> = Vec::new();
            for member in all {
                if !members.contains(&member) {
                    members.push(member);
                }
            }
            Recipe::Set(members)
        }),
        Recipe::Dict(entries) => {
            let without = (0..entries.len().min(ITEMS)).filter(|_| entries.len() > 1);
            let without = without.map(|at| Recipe::Dict([&entries[..at], &entries[at + 1..]].concat()));
            without.chain(of_values(entries, Recipe::Dict)).collect()
        }
        Recipe::Made(made) => {
            of_values(&made.keywords, |keywords| ConstructorCall { keywords, ..(**made).clone() }.into())
        }
        _ => vec![],
    }
}

/// The named values with a simpler one in place of one.
fn of_values<K: Clone>(entries: &[(K, Recipe)], whole: impl Fn(Vec<(K, Recipe)>) -> Recipe) -> Vec<Recipe> {
    let with = entries.iter().enumerate().take(ITEMS).flat_map(|(at, (key, value))| {
        let with = move |part: Recipe| [&entries[..at], &[(key.clone(), part)], &entries[at + 1..]].concat();
        parts(value).into_iter().map(with)
    });
    with.map(whole).collect()
}

/// Simpler values in place of an item: an object says least. Empty texts and large numbers are not what people have.
fn parts(item: &Recipe) -> Vec<Recipe> {
    match item {
        Recipe::Str(text) if text.len() > 1 => vec![Recipe::Str("a".into())],
        Recipe::Mock(_) => vec![Recipe::Int(1), Recipe::Str("a".into())],
        Recipe::Int(value) if !(0..10).contains(value) => vec![Recipe::Int(1), Recipe::Int(2), Recipe::Int(0)],
        Recipe::Float(value) if value.fract() != 0.0 || value.abs() >= 10.0 => vec![Recipe::Int(1), Recipe::Float(1.5)],
        other => within(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_loses_an_item_or_gets_a_simpler_one() {
        let list = |items: &[i64]| Recipe::List(items.iter().copied().map(Recipe::Int).collect());
        let value = |recipe: Recipe| Decision::Value(recipe);
        let expected = [&[70][..], &[3], &[3, 1], &[3, 2], &[3, 0]].map(|items| value(list(items)));
        assert_eq!(smaller(&value(list(&[3, 70]))), expected);
        let records =
            |numbers: &[i64]| Recipe::List(vec![Recipe::Dict(vec![(Recipe::Str("a".into()), list(numbers))])]);
        assert_eq!(smaller(&value(records(&[3, 4])))[0], value(records(&[4])));
        let set = Recipe::Set(vec![Recipe::Int(1), Recipe::Int(70)]);
        assert!(smaller(&value(set)).contains(&value(Recipe::Set(vec![Recipe::Int(1)]))));
        assert!(smaller(&value(Recipe::Int(70))).is_empty());
    }
}
