//! Varies executions: the decisions of one that reached something new, except for a few that are drawn again (paths are
//! drawn independently, so the others stay the same). Now and then a value becomes one of those with which values of its
//! path were compared, or like another value of the execution. Where the objects of two versions hold different things that
//! nobody has seen yet, an execution uses them further.

use std::collections::BTreeSet;

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use twincell_values::drawing::related;
use twincell_values::path::{AccessPath, Question, text_of};
use twincell_values::value::{Choice, Decision, Fixed, Recipe};

use crate::Search;

/// How often a path with learned values gets one of them in a fresh execution.
const LEARNED: f64 = 0.15;

/// How often a variation makes one value similar to another of its class.
const ALIKE: f64 = 0.4;

/// How often any other variation gives a container a member that another value has, or bytes another form.
const SHARED: f64 = 0.4;

/// How often an object is used further, and where those of the versions hold different things.
const LONGER: f64 = 0.25;
const LONGER_PARTED: f64 = 0.8;
/// How many times it is used further.
const FURTHER: std::ops::RangeInclusive<i64> = 1..=3;
/// The uses of an object beyond which no more are added.
const MOST_USES: i64 = 8;

/// The decisions of an execution worth varying, without up to three.
pub(super) fn vary(search: &Search<'_>, random: &mut Pcg64Mcg) -> Fixed {
    let Some(entry) = search.pick(random) else { return afresh(search, random) };
    let choices = &entry.choices;
    if let Some(last) = last_member(choices)
        && random.random_bool(if entry.is_parted { LONGER_PARTED } else { LONGER })
    {
        return used_further(search, choices, last + random.random_range(FURTHER), random);
    }
    let forget = 1 + random.random_range(0..3.min(choices.len().max(1)));
    let forgotten: BTreeSet<usize> =
        (0..forget).filter(|_| !choices.is_empty()).map(|_| random.random_range(0..choices.len())).collect();
    let mut fixed: Fixed = choices
        .iter()
        .enumerate()
        .filter(|(position, _)| !forgotten.contains(position))
        .map(|(_, choice)| (choice.path.clone(), choice.decision.clone()))
        .collect();
    for choice in forgotten.iter().filter_map(|&position| choices.get(position)) {
        if let Some(value) = learned(search, &choice.path, random)
            && random.random_bool(0.5)
        {
            fixed.insert(choice.path.clone(), Decision::Value(value));
        }
    }
    if random.random_bool(ALIKE)
        && let Some((path, value)) = alike(choices, random)
    {
        fixed.insert(path, Decision::Value(value));
    } else if random.random_bool(SHARED)
        && let Some((path, value)) = sharing(choices, random)
    {
        fixed.insert(path, Decision::Value(value));
    }
    fixed
}

/// The number of the last use of an object, from zero, if further ones may be added.
fn last_member(choices: &[Choice]) -> Option<i64> {
    let used = Question::MembersUsed.to_string();
    match choices.iter().find(|choice| choice.path == used)?.decision {
        Decision::Value(Recipe::Int(last)) => Some(last).filter(|last| (0..MOST_USES).contains(last)),
        _ => None,
    }
}

/// The same uses of an object, and then further ones up to this number. Now and then a value becomes one with which it was
/// compared: what a container may hold becomes what it holds.
fn used_further(search: &Search<'_>, choices: &[Choice], last: i64, random: &mut Pcg64Mcg) -> Fixed {
    let mut fixed: Fixed = choices.iter().map(|choice| (choice.path.clone(), choice.decision.clone())).collect();
    fixed.insert(Question::MembersUsed.to_string(), Decision::Value(Recipe::Int(last)));
    let compared: Vec<&Choice> = choices.iter().filter(|choice| search.learned.contains_key(&choice.path)).collect();
    if random.random_bool(0.5)
        && let Some(choice) = compared.get(random.random_range(0..compared.len().max(1)))
        && let Some(value) = learned(search, &choice.path, random)
    {
        fixed.insert(choice.path.clone(), Decision::Value(value));
    }
    fixed
}

/// A container with a member that another one has, so that code that merges or intersects the two has something to do,
/// or bytes in another form. Texts have [`alike`].
fn sharing(choices: &[Choice], random: &mut Pcg64Mcg) -> Option<(String, Recipe)> {
    let is_varied = |choice: &&Choice| {
        use Recipe as R;
        let is_kind = |value: &Recipe| matches!(value, R::Bytes(_) | R::List(_) | R::Tuple(_) | R::Dict(_) | R::Set(_));
        !Question::is_answer(&choice.path) && matches!(&choice.decision, Decision::Value(value) if is_kind(value))
    };
    let varied: Vec<&Choice> = choices.iter().filter(is_varied).collect();
    let choice = *varied.get(random.random_range(0..varied.len().max(1)))?;
    let Decision::Value(own) = &choice.decision else { return None };
    let mut members = members_beside(choices, &choice.path);
    members.retain(|member| !is_in(own, member));
    let member = members.get(random.random_range(0..members.len().max(1)));
    let value = match own {
        Recipe::Bytes(bytes) => {
            Recipe::Bytes(another_form(&String::from_utf8(bytes.clone()).ok()?, random).into_bytes())
        }
        Recipe::List(items) => Recipe::List(with(items, member?, random)),
        Recipe::Tuple(items) => Recipe::Tuple(with(items, member?, random)),
        Recipe::Set(items) => Recipe::Set(with(items, member?, random)),
        Recipe::Dict(entries) => {
            let value = entries.first().map_or(Recipe::Int(7), |(_, value)| value.clone());
            Recipe::Dict(entries.iter().cloned().chain([(member?.clone(), value)]).collect())
        }
        _ => return None,
    };
    Some((choice.path.clone(), value))
}

fn is_in(container: &Recipe, member: &Recipe) -> bool {
    match container {
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => items.contains(member),
        Recipe::Dict(entries) => entries.iter().any(|(key, _)| key == member),
        _ => false,
    }
}

fn another_form(text: &str, random: &mut Pcg64Mcg) -> String {
    if random.random_bool(0.3) { format!("{text} a") } else { related(random, text) }
}

/// The items with another one, in place of one of them or at the end.
fn with(items: &[Recipe], member: &Recipe, random: &mut Pcg64Mcg) -> Vec<Recipe> {
    let mut items = items.to_vec();
    match random.random_range(0..=items.len()) {
        at if at < items.len() => items[at] = member.clone(),
        _ => items.push(member.clone()),
    }
    items
}

/// The plain members and keys of the containers beside the value at `path`, and the keys that are looked up in them.
fn members_beside(choices: &[Choice], path: &str) -> Vec<Recipe> {
    let is_plain = |value: &&Recipe| matches!(value, Recipe::Str(_) | Recipe::Int(_));
    let is_beside = |choice: &&Choice| choice.path != path && AccessPath::from(&choice.path).beyond(path).is_none();
    let mut found = Vec::new();
    for choice in choices.iter().filter(is_beside) {
        if let Some((_, key)) = AccessPath::from(&choice.path).split_item()
            && let Some(text) = text_of(key)
        {
            found.push(Recipe::Str(text.to_owned()));
        }
        match &choice.decision {
            Decision::Value(Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items)) => {
                found.extend(items.iter().filter(is_plain).cloned());
            }
            Decision::Value(Recipe::Dict(entries)) => {
                found.extend(entries.iter().map(|(key, _)| key).filter(is_plain).cloned());
            }
            _ => {}
        }
    }
    found
}

/// A value derived from another value of the execution. What code does with two values often depends on what they have
/// in common, which independently drawn values seldom have.
fn alike(choices: &[Choice], random: &mut Pcg64Mcg) -> Option<(String, Recipe)> {
    let value = |choice: &Choice| match &choice.decision {
        Decision::Value(value @ (Recipe::Str(_) | Recipe::List(_) | Recipe::Tuple(_) | Recipe::Dict(_))) => {
            Some(value.clone())
        }
        Decision::Value(value @ (Recipe::Int(_) | Recipe::Float(_))) if !Question::is_answer(&choice.path) => {
            Some(value.clone())
        }
        _ => None,
    };
    let plain: Vec<(&Choice, Recipe)> = choices.iter().filter_map(|choice| Some((choice, value(choice)?))).collect();
    let (changed, own) = plain.get(random.random_range(0..plain.len().max(1)))?;
    let others: Vec<&Recipe> = plain
        .iter()
        .filter(|(choice, other)| {
            choice.path != changed.path && other.abstract_value() == own.abstract_value() && other != own
        })
        .map(|(_, other)| other)
        .collect();
    let other = *others.get(random.random_range(0..others.len().max(1)))?;
    // Which members are used, and how many, is nothing that values have in common.
    if Question::is_about_members(&changed.path) {
        return None;
    }
    let value = match other {
        Recipe::Str(text) => Recipe::Str(related(random, text)),
        Recipe::List(items) => Recipe::List(rearranged(random, items)),
        Recipe::Tuple(items) => Recipe::Tuple(rearranged(random, items)),
        other => other.clone(),
    };
    Some((changed.path.clone(), value))
}

/// The items as they are, reversed, or with one replaced by another.
fn rearranged(random: &mut Pcg64Mcg, items: &[Recipe]) -> Vec<Recipe> {
    let mut items = items.to_vec();
    match random.random_range(0..3) {
        0 => items.reverse(),
        1 if items.len() > 1 => {
            let (to, from) = (random.random_range(0..items.len()), random.random_range(0..items.len()));
            items[to] = items[from].clone();
        }
        _ => {}
    }
    items
}

pub(super) fn afresh(search: &Search<'_>, random: &mut Pcg64Mcg) -> Fixed {
    let mut fixed = Fixed::new();
    for path in search.learned.keys() {
        if random.random_bool(LEARNED)
            && let Some(value) = learned(search, path, random)
        {
            fixed.insert(path.clone(), Decision::Value(value));
        }
    }
    fixed
}

/// A value with which others of this path were compared, or a neighbour of one.
fn learned(search: &Search<'_>, path: &str, random: &mut Pcg64Mcg) -> Option<Recipe> {
    let values = search.learned.get(path)?;
    let value = values.get(random.random_range(0..values.len().max(1)))?;
    Some(match value {
        Recipe::Int(value) => match random.random_range(0..6) {
            0 => Recipe::Int(value.saturating_add(1)),
            1 => Recipe::Int(value.saturating_sub(1)),
            _ => Recipe::Int(*value),
        },
        Recipe::Str(text) => match random.random_range(0..8) {
            0 => Recipe::Str(format!("{text}a")),
            1 => Recipe::Str(format!("a{text}")),
            2 => Recipe::Str(text.to_uppercase()),
            _ => value.clone(),
        },
        Recipe::Bytes(bytes) => Recipe::Bytes(match random.random_range(0..8) {
            0 => [bytes, &b"a"[..]].concat(),
            1 => [&b"a"[..], bytes].concat(),
            2 => bytes.to_ascii_uppercase(),
            3 => [bytes, &b" a"[..]].concat(),
            _ => bytes.clone(),
        }),
        // `x in (1, 2)`: one of them.
        Recipe::Tuple(items) | Recipe::Set(items) | Recipe::List(items) if random.random_bool(0.7) => {
            items.get(random.random_range(0..items.len().max(1))).unwrap_or(value).clone()
        }
        _ => value.clone(),
    })
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn shared(choices: &[(&str, Recipe)]) -> Vec<Recipe> {
        let choice =
            |(path, value): &(&str, Recipe)| Choice { path: (*path).into(), decision: Decision::Value(value.clone()) };
        let choices: Vec<Choice> = choices.iter().map(choice).collect();
        let drawn = |seed| sharing(&choices, &mut Pcg64Mcg::seed_from_u64(seed)).map(|(_, value)| value);
        (0..100).filter_map(drawn).collect()
    }

    #[test]
    fn a_container_gets_a_member_that_is_looked_up_elsewhere() {
        let text = |text: &str| Recipe::Str(text.into());
        let found = shared(&[("self.keys()", Recipe::List(vec![text("a")])), ("rest['extra']", Recipe::None)]);
        for wanted in [vec![text("extra")], vec![text("a"), text("extra")]] {
            assert!(found.contains(&Recipe::List(wanted)), "{found:?}");
        }
    }

    #[test]
    fn bytes_get_another_form() {
        let found = shared(&[("x", Recipe::Bytes(b"text/a".to_vec()))]);
        for wanted in [&b"TEXT/A"[..], b"text/a a"] {
            assert!(found.contains(&Recipe::Bytes(wanted.to_vec())), "{found:?}");
        }
    }
}
