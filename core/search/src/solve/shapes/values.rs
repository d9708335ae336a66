//! Values by order, truth, class and length, near the present value if there is one.

use std::cmp::Ordering;

use twincell_values::path::AccessPathBuf;
use twincell_values::value::{AbstractValue, Recipe, library};

use super::super::evaluate::{length, truth};
use super::MAX_LENGTH;

/// Values with the wanted order relative to `other` (any order: values like it), nearest first.
pub(in super::super) fn targets(other: &Recipe, wanted: Option<Ordering>) -> Vec<Recipe> {
    use Ordering as O;
    match (other, wanted) {
        (Recipe::Mock(_), _) => vec![],
        (_, None | Some(O::Equal)) => vec![other.clone()],
        (Recipe::Bool(value), Some(wanted)) => targets(&Recipe::Int(i64::from(*value)), Some(wanted)),
        (Recipe::Int(value), Some(O::Less)) => [1, 10].map(|by| Recipe::Int(value.saturating_sub(by))).into(),
        (Recipe::Int(value), Some(O::Greater)) => [1, 10].map(|by| Recipe::Int(value.saturating_add(by))).into(),
        (Recipe::Float(value), Some(O::Less)) => {
            vec![Recipe::Float(value - 1.0), Recipe::Float(value - value.abs() / 2.0)]
        }
        (Recipe::Float(value), Some(O::Greater)) => {
            vec![Recipe::Float(value + 1.0), Recipe::Float(value + value.abs() / 2.0)]
        }
        (Recipe::Str(text), Some(O::Less)) => {
            let mut characters = text.chars();
            let Some(last) = characters.next_back() else { return vec![] };
            let before = char::from_u32(u32::from(last).saturating_sub(1)).unwrap_or('!');
            vec![Recipe::Str(characters.as_str().to_string()), Recipe::Str(format!("{}{before}", characters.as_str()))]
        }
        (Recipe::Str(text), Some(O::Greater)) => vec![Recipe::Str(format!("{text}a")), Recipe::Str(format!("z{text}"))],
        (Recipe::Tuple(items), Some(wanted)) => stepped(items, wanted).map(Recipe::Tuple).collect(),
        (Recipe::List(items), Some(wanted)) => stepped(items, wanted).map(Recipe::List).collect(),
        _ => vec![],
    }
}

/// A sequence with its last item one step lower or higher.
fn stepped(items: &[Recipe], wanted: Ordering) -> impl Iterator<Item = Vec<Recipe>> {
    let changed = items.split_last().into_iter().flat_map(move |(last, before)| {
        targets(last, Some(wanted)).into_iter().map(move |last| {
            let mut items = before.to_vec();
            items.push(last);
            items
        })
    });
    changed.take(1)
}

/// Values of the same class that are not equal.
pub(in super::super) fn unlike(value: &Recipe) -> Vec<Recipe> {
    match value {
        Recipe::None => vec![Recipe::Str("a".into()), Recipe::Int(1)],
        Recipe::Bool(value) => vec![Recipe::Bool(!value)],
        Recipe::Int(value) => vec![Recipe::Int(value.wrapping_add(1)), Recipe::Int(value.wrapping_sub(1))],
        Recipe::Float(value) => vec![Recipe::Float(value + 1.0)],
        Recipe::Str(text) => vec![Recipe::Str(format!("{text}a")), Recipe::Str(String::new())],
        Recipe::Bytes(bytes) => vec![Recipe::Bytes([bytes.as_slice(), b"a"].concat())],
        Recipe::Mock(_) => vec![],
        Recipe::Named(_) => vec![Recipe::Mock(AbstractValue::Object)],
        Recipe::Made(_) => library::others(value),
        Recipe::Given(given) => given.others().collect(),
        Recipe::Provided(provided) => provided.others().collect(),
        _ => of_length(Some(value), length(value).unwrap_or(0) + 1),
    }
}

/// Values of this length, similar to the present one; one of each kind if there is none.
pub(in super::super) fn of_length(current: Option<&Recipe>, count: usize) -> Vec<Recipe> {
    if count > MAX_LENGTH * 4 {
        return vec![];
    }
    let resized = |items: &[Recipe]| -> Vec<Recipe> {
        let filler = items.last().cloned().unwrap_or(Recipe::Int(1));
        items.iter().cloned().chain(std::iter::repeat(filler)).take(count).collect()
    };
    match current {
        Some(Recipe::Str(text)) => {
            let longer: String = text.chars().chain(std::iter::repeat('a')).take(count).collect();
            // Its start and its end may matter.
            let size = text.chars().count();
            let middle = (count > size && size > 1).then(|| {
                let half = size / 2;
                let added = std::iter::repeat_n('a', count - size);
                text.chars().take(half).chain(added).chain(text.chars().skip(half)).collect()
            });
            middle.into_iter().chain([longer]).map(Recipe::Str).collect()
        }
        Some(Recipe::Bytes(bytes)) => {
            vec![Recipe::Bytes(bytes.iter().copied().chain(std::iter::repeat(b'a')).take(count).collect())]
        }
        Some(Recipe::List(items)) => vec![Recipe::List(resized(items))],
        Some(Recipe::Tuple(items)) => vec![Recipe::Tuple(resized(items))],
        Some(Recipe::Set(items)) => {
            let mut members: Vec<Recipe> = items.iter().take(count).cloned().collect();
            let mut next = 0;
            while members.len() < count {
                next += 1;
                if !members.contains(&Recipe::Int(next)) {
                    members.push(Recipe::Int(next));
                }
            }
            vec![Recipe::Set(members)]
        }
        Some(Recipe::Dict(entries)) => {
            let mut entries: Vec<(Recipe, Recipe)> = entries.iter().take(count).cloned().collect();
            let mut next = 0;
            while entries.len() < count {
                next += 1;
                let key = Recipe::Str(format!("k{next}"));
                if entries.iter().all(|(known, _)| *known != key) {
                    entries.push((key, Recipe::Int(next)));
                }
            }
            vec![Recipe::Dict(entries)]
        }
        _ => vec![Recipe::Str("a".repeat(count)), Recipe::List(vec![Recipe::Int(1); count])],
    }
}

/// Values with this truth, first of the present class, then of others.
pub(in super::super) fn with_truth(current: Option<&Recipe>, wanted: bool) -> Vec<Recipe> {
    let like = match current {
        Some(Recipe::Bool(_)) => Some(Recipe::Bool(wanted)),
        Some(Recipe::Int(_)) => Some(Recipe::Int(i64::from(wanted))),
        Some(Recipe::Float(_)) => Some(Recipe::Float(if wanted { 1.5 } else { 0.0 })),
        Some(Recipe::Str(_)) => Some(Recipe::Str(if wanted { "a".into() } else { String::new() })),
        Some(holder @ (Recipe::List(_) | Recipe::Tuple(_) | Recipe::Set(_) | Recipe::Dict(_) | Recipe::Bytes(_))) => {
            of_length(Some(holder), usize::from(wanted)).into_iter().next()
        }
        _ => None,
    };
    let others = if wanted {
        vec![Recipe::Bool(true), Recipe::Mock(AbstractValue::Object), Recipe::Str("a".into()), Recipe::Int(1)]
    } else {
        vec![Recipe::Bool(false), Recipe::None, Recipe::Str(String::new()), Recipe::Int(0)]
    };
    let known = like.clone();
    like.into_iter()
        .chain(others.into_iter().filter(move |other| Some(other) != known.as_ref()))
        .filter(|value| truth(value) != Some(!wanted))
        .take(4)
        .collect()
}

/// Values that are, or are not, of one of the classes.
pub(in super::super) fn instances(names: &[AccessPathBuf], wanted: bool) -> Vec<Recipe> {
    let samples: [(&[&str], Recipe); 12] = [
        (&["str"], Recipe::Str("a".into())),
        (&["int", "Number", "numbers.Number", "Integral"], Recipe::Int(1)),
        (&["bool"], Recipe::Bool(true)),
        (&["float"], Recipe::Float(1.5)),
        (
            &[
                "list",
                "Iterable",
                "Sequence",
                "MutableSequence",
                "collections.abc.Iterable",
                "collections.abc.Sequence",
            ],
            Recipe::List(vec![Recipe::Str("a".into())]),
        ),
        (&["tuple"], Recipe::Tuple(vec![Recipe::Str("a".into()), Recipe::Int(1)])),
        (
            &["dict", "Mapping", "MutableMapping", "collections.abc.Mapping"],
            Recipe::Dict(vec![(Recipe::Str("a".into()), Recipe::Int(1))]),
        ),
        (&["set", "Set", "collections.abc.Set"], Recipe::Set(vec![Recipe::Int(1)])),
        (&["type"], Recipe::Named("int".into())),
        (&["bytes"], Recipe::Bytes(b"a".to_vec())),
        (&["NoneType", "types.NoneType"], Recipe::None),
        (&["object", "Callable", "collections.abc.Callable"], Recipe::Mock(AbstractValue::Object)),
    ];
    let is_named = |known: &[&str]| names.iter().any(|name| known.contains(&name.as_str()));
    let found = samples.into_iter().filter(|(known, _)| is_named(known) == wanted).map(|(_, sample)| sample);
    if wanted { found.collect() } else { found.take(4).collect() }
}

/// The value with every part that is `own` replaced (in a text: a piece, ignoring case). `None` if there is none.
pub(in super::super) fn replace(value: &Recipe, own: &Recipe, by: &Recipe) -> Option<Recipe> {
    if value == own {
        return Some(by.clone());
    }
    let any = |items: &[Recipe]| -> Option<Vec<Recipe>> {
        let replaced: Vec<Option<Recipe>> = items.iter().map(|item| replace(item, own, by)).collect();
        replaced.iter().any(Option::is_some).then(|| {
            items.iter().zip(replaced).map(|(item, replaced)| replaced.unwrap_or_else(|| item.clone())).collect()
        })
    };
    match (value, own, by) {
        (Recipe::Str(text), Recipe::Str(piece), Recipe::Str(by))
            if piece.len() > 1 || text.len() <= 2 && !piece.is_empty() =>
        {
            if text.contains(piece.as_str()) {
                return Some(Recipe::Str(text.replace(piece.as_str(), by)));
            }
            let same = text.to_lowercase() == piece.to_lowercase() || text.trim() == piece.as_str();
            same.then(|| Recipe::Str(by.clone()))
        }
        (Recipe::Str(text), Recipe::Int(number), Recipe::Int(by)) if text.trim() == number.to_string() => {
            Some(Recipe::Str(by.to_string()))
        }
        // The comparison was about its length.
        (
            Recipe::List(_) | Recipe::Str(_) | Recipe::Dict(_) | Recipe::Tuple(_) | Recipe::Set(_),
            Recipe::Int(number),
            Recipe::Int(by),
        ) if length(value).and_then(|length| i64::try_from(length).ok()) == Some(*number) && (0..=256).contains(by) => {
            of_length(Some(value), usize::try_from(*by).ok()?).into_iter().next()
        }
        (Recipe::List(items), _, _) => any(items).map(Recipe::List),
        (Recipe::Tuple(items), _, _) => any(items).map(Recipe::Tuple),
        (Recipe::Set(items), _, _) => any(items).map(Recipe::Set),
        (Recipe::Dict(entries), _, _) => {
            let keys: Vec<Recipe> = entries.iter().map(|(key, _)| key.clone()).collect();
            let values: Vec<Recipe> = entries.iter().map(|(_, value)| value.clone()).collect();
            let (new_keys, new_values) = (any(&keys), any(&values));
            (new_keys.is_some() || new_values.is_some())
                .then(|| Recipe::Dict(new_keys.unwrap_or(keys).into_iter().zip(new_values.unwrap_or(values)).collect()))
        }
        _ => None,
    }
}
