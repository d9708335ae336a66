//! Containers with and without a member, an item or an element.

use twincell_values::value::{AbstractValue, Recipe};

use super::MAX_LENGTH;
use super::values::unlike;

/// The members of a plain container.
pub(in super::super) fn members(holder: &Recipe) -> Vec<Recipe> {
    match holder {
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => {
            items.iter().filter(|item| !matches!(item, Recipe::Mock(_))).cloned().collect()
        }
        Recipe::Dict(entries) => entries.iter().map(|(key, _)| key.clone()).collect(),
        Recipe::Str(text) => {
            let mut parts = vec![Recipe::Str(text.clone())];
            parts.extend(text.chars().next().map(|first| Recipe::Str(first.to_string())));
            parts
        }
        _ => vec![],
    }
}

/// Values that are not members.
pub(in super::super) fn strangers(holder: &Recipe) -> Vec<Recipe> {
    let members = members(holder);
    let mut like: Vec<Recipe> = members.iter().take(2).flat_map(unlike).collect();
    like.push(Recipe::Str("zz".into()));
    like.push(Recipe::Int(7_919));
    like.retain(|one| match (holder, one) {
        (Recipe::Str(text), Recipe::Str(part)) => !text.contains(part.as_str()),
        (Recipe::Str(_), _) => false,
        _ => !members.contains(one),
    });
    like.truncate(3);
    like
}

/// Containers that hold `member`: the present one with it, or else one of each kind.
pub(in super::super) fn holding(holder: Option<&Recipe>, member: &Recipe) -> Vec<Recipe> {
    if matches!(member, Recipe::Mock(_)) {
        return vec![];
    }
    let hashable = !matches!(member, Recipe::List(_) | Recipe::Dict(_) | Recipe::Set(_) | Recipe::Named(_));
    match holder {
        Some(Recipe::List(items)) => vec![Recipe::List(added(items, member))],
        Some(Recipe::Tuple(items)) => vec![Recipe::Tuple(added(items, member))],
        Some(Recipe::Set(items)) if hashable => vec![Recipe::Set(added(items, member))],
        Some(Recipe::Dict(entries)) if hashable => {
            let mut entries = entries.clone();
            entries.push((member.clone(), Recipe::Mock(AbstractValue::Object)));
            vec![Recipe::Dict(entries)]
        }
        Some(Recipe::Str(text)) => match member {
            Recipe::Str(part) => {
                vec![
                    Recipe::Str(format!("{text}{part}a")),
                    Recipe::Str(format!("{part}{text}")),
                    Recipe::Str(part.clone()),
                ]
            }
            _ => vec![Recipe::List(vec![member.clone()])],
        },
        _ => {
            let mut made = vec![Recipe::List(vec![member.clone()])];
            if let Recipe::Str(part) = member {
                made.insert(0, Recipe::Str(format!("a{part}a")));
            }
            if hashable {
                made.push(Recipe::Dict(vec![(member.clone(), Recipe::Mock(AbstractValue::Object))]));
            }
            made
        }
    }
}

fn added(items: &[Recipe], member: &Recipe) -> Vec<Recipe> {
    items.iter().cloned().chain(std::iter::once(member.clone())).collect()
}

/// The container without a member.
pub(in super::super) fn without(holder: &Recipe, member: &Recipe) -> Recipe {
    let case = |items: &[Recipe]| items.iter().filter(|item| *item != member).cloned().collect();
    match (holder, member) {
        (Recipe::List(items), _) => Recipe::List(case(items)),
        (Recipe::Tuple(items), _) => Recipe::Tuple(case(items)),
        (Recipe::Set(items), _) => Recipe::Set(case(items)),
        (Recipe::Dict(entries), _) => Recipe::Dict(entries.iter().filter(|(key, _)| key != member).cloned().collect()),
        (Recipe::Str(text), Recipe::Str(part)) if !part.is_empty() => Recipe::Str(text.replace(part.as_str(), "")),
        _ => holder.clone(),
    }
}

/// The container with this item under this key or index.
pub(in super::super) fn with_item(holder: &Recipe, key: &Recipe, item: &Recipe) -> Option<Recipe> {
    let sequence = |items: &[Recipe], index: i64| -> Option<Vec<Recipe>> {
        let mut items = items.to_vec();
        let index = if index < 0 {
            let back = usize::try_from(index.unsigned_abs()).ok().filter(|back| *back <= MAX_LENGTH)?;
            while items.len() < back {
                items.push(item.clone());
            }
            items.len() - back
        } else {
            usize::try_from(index).ok().filter(|index| *index < MAX_LENGTH)?
        };
        while items.len() <= index {
            items.push(item.clone());
        }
        items[index] = item.clone();
        Some(items)
    };
    match (holder, key) {
        (Recipe::List(items), Recipe::Int(index)) => sequence(items, *index).map(Recipe::List),
        (Recipe::Tuple(items), Recipe::Int(index)) => sequence(items, *index).map(Recipe::Tuple),
        (Recipe::Str(text), Recipe::Int(index)) => {
            let Recipe::Str(piece) = item else { return None };
            let characters: Vec<Recipe> = text.chars().map(|one| Recipe::Str(one.to_string())).collect();
            let index = if characters.is_empty() && *index < 0 { 0 } else { *index };
            let mut characters = sequence(&characters, index)?;
            for filler in characters.iter_mut().skip(text.chars().count()) {
                if !matches!(filler, Recipe::Str(own) if own == piece) {
                    *filler = Recipe::Str("a".into());
                }
            }
            let pieces = characters.iter().map(|one| match one {
                Recipe::Str(one) => one.as_str(),
                _ => "",
            });
            Some(Recipe::Str(pieces.collect()))
        }
        (Recipe::Dict(entries), key) => {
            let mut entries = entries.clone();
            match entries.iter_mut().find(|(known, _)| known == key) {
                Some((_, value)) => *value = item.clone(),
                None => entries.push((key.clone(), item.clone())),
            }
            Some(Recipe::Dict(entries))
        }
        (Recipe::None, Recipe::Int(index)) => sequence(&[], *index).map(Recipe::List),
        (Recipe::None, key) => Some(Recipe::Dict(vec![(key.clone(), item.clone())])),
        _ => None,
    }
}

/// Containers that yield the element: as the first item, as the only one, as the last.
pub(in super::super) fn with_element(holder: &Recipe, element: &Recipe) -> Vec<Recipe> {
    let made = |items: &[Recipe]| -> Vec<Vec<Recipe>> {
        let mut first = items.to_vec();
        match first.first_mut() {
            Some(first) => *first = element.clone(),
            None => first.push(element.clone()),
        }
        let mut variants = vec![first];
        if items.len() > 1 {
            variants.push(vec![element.clone()]);
        }
        if !items.is_empty() {
            variants.push(added(items, element));
        }
        variants
    };
    match holder {
        Recipe::Tuple(items) => made(items).into_iter().map(Recipe::Tuple).collect(),
        Recipe::Set(items) => made(items).into_iter().map(Recipe::Set).collect(),
        Recipe::List(items) => made(items).into_iter().map(Recipe::List).collect(),
        _ => vec![Recipe::List(vec![element.clone()])],
    }
}
