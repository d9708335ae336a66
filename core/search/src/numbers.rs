//! The numbers within a value, by position.

use twincell_values::value::Recipe;

/// A plain number.
pub(super) fn number(value: &Recipe) -> Option<f64> {
    match value {
        Recipe::Int(value) => Some(*value as f64),
        Recipe::Float(value) => Some(*value),
        _ => None,
    }
}

fn parts(value: &Recipe) -> Vec<&Recipe> {
    match value {
        Recipe::List(items) | Recipe::Tuple(items) => items.iter().collect(),
        Recipe::Dict(entries) => entries.iter().map(|(_, value)| value).collect(),
        _ => vec![],
    }
}

/// The number of numbers in a value: itself, or items of lists, tuples and dictionaries.
pub(super) fn count(value: &Recipe) -> usize {
    usize::from(number(value).is_some()) + parts(value).into_iter().map(count).sum::<usize>()
}

/// The value with one of its numbers moved. `None` if there is no such number.
pub(super) fn shifted(value: &Recipe, position: usize, by: f64) -> Option<Recipe> {
    let mut changed = value.clone();
    shift(&mut changed, &mut { position }, by).then_some(changed)
}

fn shift(value: &mut Recipe, left: &mut usize, by: f64) -> bool {
    match value {
        Recipe::Int(own) if *left == 0 => {
            let target = *own as f64 + by;
            if target.abs() > 9e15 {
                return false;
            }
            *own = target as i64;
            true
        }
        Recipe::Float(own) if *left == 0 => {
            *own += by;
            true
        }
        Recipe::Int(_) | Recipe::Float(_) => {
            *left -= 1;
            false
        }
        Recipe::List(items) | Recipe::Tuple(items) => items.iter_mut().any(|item| shift(item, left, by)),
        Recipe::Dict(entries) => entries.iter_mut().any(|(_, item)| shift(item, left, by)),
        _ => false,
    }
}

/// Longer texts and lists, for a count of something in them that is `own` and should be `wanted`: the whole repeated,
/// or its first or last part repeated.
pub(super) fn stretched(value: &Recipe, own: f64, wanted: f64) -> Vec<Recipe> {
    const LONGEST: usize = 256;
    let size = match value {
        Recipe::Str(text) => text.chars().count(),
        Recipe::List(items) | Recipe::Tuple(items) => items.len(),
        _ => 0,
    };
    let missing = wanted - own;
    if size == 0 || missing < 1.0 || missing.fract() != 0.0 {
        return vec![];
    }
    let (ratio, missing) = (wanted / own, missing as usize);
    let mut found = Vec::new();
    if own > 0.0 && ratio.fract() == 0.0 && size.saturating_mul(ratio as usize) <= LONGEST {
        found.push(repeated(value, ratio as usize, 0, 0));
    }
    if size.saturating_add(missing) <= LONGEST {
        found.push(repeated(value, 1, missing, 0));
        found.push(repeated(value, 1, 0, missing));
    }
    found
}

/// The value repeated this many times, with its first and its last item repeated further.
fn repeated(value: &Recipe, times: usize, first: usize, last: usize) -> Recipe {
    let items = |items: &[Recipe]| -> Vec<Recipe> {
        let leading = items.first().into_iter().flat_map(|item| vec![item.clone(); first]);
        let trailing = items.last().into_iter().flat_map(|item| vec![item.clone(); last]);
        leading.chain((0..times).flat_map(|_| items.iter().cloned())).chain(trailing).collect()
    };
    match value {
        Recipe::List(list) => Recipe::List(items(list)),
        Recipe::Tuple(list) => Recipe::Tuple(items(list)),
        Recipe::Str(text) => {
            let end = |character: Option<char>, count: usize| {
                character.map_or_else(String::new, |c| c.to_string().repeat(count))
            };
            let (leading, trailing) = (end(text.chars().next(), first), end(text.chars().next_back(), last));
            Recipe::Str(format!("{leading}{}{trailing}", text.repeat(times)))
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_containers_are_found_and_moved_by_position() {
        let value =
            Recipe::List(vec![Recipe::Int(1), Recipe::Tuple(vec![Recipe::Str("a".into()), Recipe::Float(2.0)])]);
        assert_eq!(count(&value), 2);
        let moved =
            Recipe::List(vec![Recipe::Int(1), Recipe::Tuple(vec![Recipe::Str("a".into()), Recipe::Float(5.0)])]);
        assert_eq!(shifted(&value, 1, 3.0), Some(moved));
        assert_eq!(shifted(&value, 2, 3.0), None);
    }
}
