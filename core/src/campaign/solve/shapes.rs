//! Values with a wanted property, near the present one where there is one: lengths, members, orders, texts that match.

use std::cmp::Ordering;

use regex_syntax::hir::{Class, Hir, HirKind};
use ruff_python_ast::Operator;

use super::evaluate::{length, truth};
use crate::value::{AbstractValue, Recipe};

/// Items of a container that is made longer.
const MAX_LENGTH: usize = 64;
/// Repetitions of a pattern's part beyond what it asks for at least.
const MAX_SAMPLE: usize = 300;

/// Values that stand to `other` in the wanted order (any order: values like it), nearest first.
pub(super) fn targets(other: &Recipe, wanted: Option<Ordering>) -> Vec<Recipe> {
    use Ordering as O;
    match (other, wanted) {
        (Recipe::Versatile(_), _) => vec![],
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

/// A sequence with its last item a step down or up.
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
pub(super) fn unlike(value: &Recipe) -> Vec<Recipe> {
    match value {
        Recipe::None => vec![Recipe::Str("a".into()), Recipe::Int(1)],
        Recipe::Bool(value) => vec![Recipe::Bool(!value)],
        Recipe::Int(value) => vec![Recipe::Int(value.wrapping_add(1)), Recipe::Int(value.wrapping_sub(1))],
        Recipe::Float(value) => vec![Recipe::Float(value + 1.0)],
        Recipe::Str(text) => vec![Recipe::Str(format!("{text}a")), Recipe::Str(String::new())],
        Recipe::Bytes(bytes) => vec![Recipe::Bytes([bytes.as_slice(), b"a"].concat())],
        Recipe::Versatile(_) => vec![],
        Recipe::Named(_) => vec![Recipe::Versatile(AbstractValue::Object)],
        _ => of_length(Some(value), length(value).unwrap_or(0) + 1),
    }
}

/// What is `in` a plain container.
pub(super) fn members(holder: &Recipe) -> Vec<Recipe> {
    match holder {
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => {
            items.iter().filter(|item| !matches!(item, Recipe::Versatile(_))).cloned().collect()
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

/// What is not.
pub(super) fn strangers(holder: &Recipe) -> Vec<Recipe> {
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

/// Containers that hold `member`: the present one with it, else some of each kind.
pub(super) fn holding(holder: Option<&Recipe>, member: &Recipe) -> Vec<Recipe> {
    if matches!(member, Recipe::Versatile(_)) {
        return vec![];
    }
    let hashable = !matches!(member, Recipe::List(_) | Recipe::Dict(_) | Recipe::Set(_) | Recipe::Named(_));
    match holder {
        Some(Recipe::List(items)) => vec![Recipe::List(added(items, member))],
        Some(Recipe::Tuple(items)) => vec![Recipe::Tuple(added(items, member))],
        Some(Recipe::Set(items)) if hashable => vec![Recipe::Set(added(items, member))],
        Some(Recipe::Dict(entries)) if hashable => {
            let mut entries = entries.clone();
            entries.push((member.clone(), Recipe::Versatile(AbstractValue::Object)));
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
                made.push(Recipe::Dict(vec![(member.clone(), Recipe::Versatile(AbstractValue::Object))]));
            }
            made
        }
    }
}

fn added(items: &[Recipe], member: &Recipe) -> Vec<Recipe> {
    items.iter().cloned().chain(std::iter::once(member.clone())).collect()
}

/// The container without a member.
pub(super) fn without(holder: &Recipe, member: &Recipe) -> Recipe {
    let kept = |items: &[Recipe]| items.iter().filter(|item| *item != member).cloned().collect();
    match (holder, member) {
        (Recipe::List(items), _) => Recipe::List(kept(items)),
        (Recipe::Tuple(items), _) => Recipe::Tuple(kept(items)),
        (Recipe::Set(items), _) => Recipe::Set(kept(items)),
        (Recipe::Dict(entries), _) => Recipe::Dict(entries.iter().filter(|(key, _)| key != member).cloned().collect()),
        (Recipe::Str(text), Recipe::Str(part)) if !part.is_empty() => Recipe::Str(text.replace(part.as_str(), "")),
        _ => holder.clone(),
    }
}

/// The container with this item under this key or index.
pub(super) fn with_item(holder: &Recipe, key: &Recipe, item: &Recipe) -> Option<Recipe> {
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

/// Containers in which the element comes up: as the first, as the only one, as the last.
pub(super) fn with_element(holder: &Recipe, element: &Recipe) -> Vec<Recipe> {
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

/// Values `x` with `x OP known == wanted`.
pub(super) fn left_of(operator: Operator, own: Option<&Recipe>, known: &Recipe, wanted: &Recipe) -> Vec<Recipe> {
    use Operator as O;
    match (known, wanted) {
        (Recipe::Int(known), Recipe::Int(wanted)) => {
            let (known, wanted) = (*known, *wanted);
            let current = if let Some(Recipe::Int(own)) = own { *own } else { 0 };
            let found: Vec<Option<i64>> = match operator {
                O::Add => vec![wanted.checked_sub(known)],
                O::Sub => vec![wanted.checked_add(known)],
                O::Mult => vec![wanted.checked_div(known).filter(|found| found.checked_mul(known) == Some(wanted))],
                O::Div => vec![wanted.checked_mul(known)],
                O::FloorDiv => vec![
                    wanted.checked_mul(known),
                    wanted.checked_mul(known).and_then(|x| x.checked_add(known - known.signum())),
                ],
                O::Mod if known != 0 => {
                    // The nearest on either side of the present value.
                    let base = current.div_euclid(known).checked_mul(known).and_then(|base| base.checked_add(wanted));
                    let (below, above) =
                        (base.and_then(|base| base.checked_sub(known)), base.and_then(|base| base.checked_add(known)));
                    vec![base, above, below]
                }
                O::Pow if known > 0 && wanted >= 0 => {
                    let root = (wanted as f64).powf(1.0 / known as f64).round() as i64;
                    vec![Some(root), root.checked_neg()]
                }
                O::BitXor => vec![Some(wanted ^ known)],
                O::BitAnd if wanted & known == wanted => vec![Some(current & !known | wanted)],
                O::BitOr if wanted & known == known => vec![Some(wanted), Some(wanted & !known)],
                O::LShift => u32::try_from(known).ok().map(|by| wanted.checked_shr(by)).into_iter().collect(),
                O::RShift => u32::try_from(known).ok().map(|by| wanted.checked_shl(by)).into_iter().collect(),
                _ => vec![],
            };
            found.into_iter().flatten().map(Recipe::Int).collect()
        }
        (Recipe::Str(known), Recipe::Str(wanted)) if operator == O::Add => {
            wanted.strip_suffix(known.as_str()).map(|rest| Recipe::Str(rest.into())).into_iter().collect()
        }
        (Recipe::List(known), Recipe::List(wanted)) if operator == O::Add && wanted.ends_with(known) => {
            vec![Recipe::List(wanted[..wanted.len() - known.len()].to_vec())]
        }
        _ => {
            let (Some(known), Some(target)) = (super::evaluate::number(known), super::evaluate::number(wanted)) else {
                return vec![];
            };
            let found = match operator {
                O::Add => target - known,
                O::Sub => target + known,
                O::Mult if known != 0.0 => target / known,
                O::Div => target * known,
                _ => return vec![],
            };
            // An int stays one where it can.
            let whole = found.fract() == 0.0 && found.abs() < 1e15 && !matches!(own, Some(Recipe::Float(_)));
            vec![if whole { Recipe::Int(found as i64) } else { Recipe::Float(found) }]
        }
    }
}

/// Values `x` with `known OP x == wanted`.
pub(super) fn right_of(operator: Operator, known: &Recipe, other: Option<&Recipe>, wanted: &Recipe) -> Vec<Recipe> {
    use Operator as O;
    match (operator, known, wanted) {
        (O::Add, Recipe::Str(known), Recipe::Str(wanted)) => {
            wanted.strip_prefix(known.as_str()).map(|rest| Recipe::Str(rest.into())).into_iter().collect()
        }
        (O::Add | O::Mult | O::BitAnd | O::BitOr | O::BitXor, _, _) => left_of(operator, other, known, wanted),
        (O::Sub, Recipe::Int(known), Recipe::Int(wanted)) => {
            known.checked_sub(*wanted).map(Recipe::Int).into_iter().collect()
        }
        (O::Sub, _, _) => match (super::evaluate::number(known), super::evaluate::number(wanted)) {
            (Some(known), Some(wanted)) => vec![Recipe::Float(known - wanted)],
            _ => vec![],
        },
        (O::Mod, Recipe::Int(known), Recipe::Int(wanted)) => {
            known.checked_sub(*wanted).filter(|divisor| divisor > wanted).map(Recipe::Int).into_iter().collect()
        }
        (O::FloorDiv | O::Div, Recipe::Int(known), Recipe::Int(wanted)) => {
            known.checked_div(*wanted).filter(|divisor| *divisor != 0).map(Recipe::Int).into_iter().collect()
        }
        _ => vec![],
    }
}

/// Texts (or dictionaries) of which this method gives `wanted`.
pub(super) fn receivers(
    receiver: Option<&Recipe>,
    method: &str,
    argument: Option<&Recipe>,
    wanted: &Recipe,
) -> Vec<Recipe> {
    let text = |text: &str| vec![Recipe::Str(text.to_string())];
    match (method, wanted) {
        (
            "lower" | "casefold" | "upper" | "title" | "capitalize" | "strip" | "lstrip" | "rstrip" | "swapcase",
            Recipe::Str(wanted),
        ) => match method {
            "lower" | "casefold" => vec![Recipe::Str(wanted.clone()), Recipe::Str(wanted.to_uppercase())],
            "strip" => vec![Recipe::Str(wanted.clone()), Recipe::Str(format!(" {wanted} "))],
            _ => text(wanted),
        },
        ("removeprefix" | "removesuffix" | "replace" | "expandtabs" | "format", Recipe::Str(wanted)) => text(wanted),
        ("decode", Recipe::Str(wanted)) => vec![Recipe::Bytes(wanted.clone().into_bytes())],
        ("encode", Recipe::Bytes(bytes)) => String::from_utf8(bytes.clone()).map(Recipe::Str).into_iter().collect(),
        (
            "split" | "rsplit" | "splitlines" | "partition" | "rpartition",
            Recipe::List(parts) | Recipe::Tuple(parts),
        ) => {
            let separator = match (method, argument) {
                ("splitlines", _) => "\n",
                (_, Some(Recipe::Str(separator))) => separator.as_str(),
                _ => " ",
            };
            let separator = if method.ends_with("partition") { "" } else { separator };
            let texts: Vec<&str> = parts
                .iter()
                .map(|part| match part {
                    Recipe::Str(text) => text.as_str(),
                    _ => "a",
                })
                .collect();
            vec![Recipe::Str(texts.join(separator))]
        }
        ("count", Recipe::Int(count)) => match (usize::try_from(*count), argument) {
            (Ok(count), Some(Recipe::Str(part))) if count <= MAX_LENGTH => text(&part.repeat(count)),
            (Ok(count), Some(item)) if count <= MAX_LENGTH => vec![Recipe::List(vec![item.clone(); count])],
            _ => vec![],
        },
        ("find" | "index", Recipe::Int(place)) => match (usize::try_from(*place), argument) {
            (Ok(place), Some(Recipe::Str(part))) if place <= MAX_LENGTH => {
                text(&format!("{}{part}", "_".repeat(place)))
            }
            (Err(_), Some(Recipe::Str(_))) => text(""),
            _ => vec![],
        },
        ("get" | "pop" | "setdefault" | "__getitem__", _) => {
            let Some(key) = argument else { return vec![] };
            let empty = Recipe::Dict(vec![]);
            let holder = receiver.filter(|receiver| matches!(receiver, Recipe::Dict(_))).unwrap_or(&empty);
            with_item(holder, key, wanted).into_iter().collect()
        }
        _ => vec![],
    }
}

/// Receivers of which a method that asks (`startswith`, `isdigit`) answers as wanted.
pub(super) fn answering(
    receiver: Option<&Recipe>,
    method: &str,
    argument: Option<&Recipe>,
    wanted: bool,
) -> Vec<Recipe> {
    let text = match receiver {
        Some(Recipe::Str(text)) => text.as_str(),
        _ => "",
    };
    let parts: Vec<&str> = match argument {
        Some(Recipe::Str(part)) => vec![part.as_str()],
        Some(Recipe::Tuple(parts)) => parts
            .iter()
            .filter_map(|part| match part {
                Recipe::Str(part) => Some(part.as_str()),
                _ => None,
            })
            .collect(),
        _ => vec![],
    };
    let samples: Vec<String> = match (method, wanted) {
        ("startswith", true) => parts
            .iter()
            .take(3)
            .flat_map(|part| [format!("{part}{text}"), format!("{part}a"), part.to_string()])
            .collect(),
        ("endswith", true) => parts
            .iter()
            .take(3)
            .flat_map(|part| [format!("{text}{part}"), format!("a{part}"), part.to_string()])
            .collect(),
        ("startswith" | "endswith", false) => vec![format!("~{text}~"), String::new()],
        ("isdigit" | "isdecimal" | "isnumeric", true) => vec!["7".into(), "42".into(), "0".into()],
        ("isalpha", true) => vec!["a".into(), "Abc".into()],
        ("isalnum", true) => vec!["a1".into()],
        ("isspace", true) => vec![" ".into()],
        ("isupper", true) => vec!["A".into(), text.to_uppercase()],
        ("islower", true) => vec!["a".into(), text.to_lowercase()],
        ("istitle", true) => vec!["Abc".into()],
        ("isidentifier", true) => vec!["a_1".into()],
        ("isascii" | "isprintable", true) => vec!["a".into()],
        ("isascii", false) => vec!["é".into()],
        ("isprintable", false) => vec!["\u{1}".into()],
        ("isupper", false) => vec!["a".into()],
        ("islower" | "istitle", false) => vec!["A b".into()],
        ("isspace" | "isdigit" | "isdecimal" | "isnumeric", false) => vec!["a".into(), String::new()],
        ("isalpha" | "isalnum" | "isidentifier", false) => vec!["1 -".into(), String::new()],
        _ => vec![],
    };
    let mut found: Vec<Recipe> = Vec::new();
    for sample in samples {
        let sample = Recipe::Str(sample);
        if Some(&sample) != receiver && !found.contains(&sample) {
            found.push(sample);
        }
    }
    found
}

/// Values of this length, like the present one; some of each kind where there is none.
pub(super) fn of_length(current: Option<&Recipe>, count: usize) -> Vec<Recipe> {
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
            // What it starts and ends with may matter.
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

/// Values with this truth: of the present class first, then others.
pub(super) fn with_truth(current: Option<&Recipe>, wanted: bool) -> Vec<Recipe> {
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
        vec![Recipe::Bool(true), Recipe::Versatile(AbstractValue::Object), Recipe::Str("a".into()), Recipe::Int(1)]
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
pub(super) fn instances(names: &[String], wanted: bool) -> Vec<Recipe> {
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
        (&["object", "Callable", "collections.abc.Callable"], Recipe::Versatile(AbstractValue::Object)),
    ];
    let is_named = |known: &[&str]| names.iter().any(|name| known.contains(&name.as_str()));
    let found = samples.into_iter().filter(|(known, _)| is_named(known) == wanted).map(|(_, sample)| sample);
    if wanted { found.collect() } else { found.take(4).collect() }
}

/// Texts that a pattern of Python's `re` finds, as far as the two dialects agree; or texts that it does not.
pub(super) fn matching(pattern: &str, wanted: bool) -> Vec<String> {
    if !wanted {
        return vec!["~".into(), String::new()];
    }
    let pattern = pattern.replace(r"\Z", r"\z");
    let Ok(tree) = regex_syntax::ParserBuilder::new().utf8(true).build().parse(&pattern) else { return vec![] };
    let mut found: Vec<String> = Vec::new();
    for variant in 0..3 {
        let mut text = String::new();
        sample(&tree, variant, &mut text);
        if text.len() <= MAX_SAMPLE && !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// Appends one text that the pattern takes; variants choose other branches and repeat more often.
fn sample(pattern: &Hir, variant: usize, out: &mut String) {
    if out.len() > MAX_SAMPLE {
        return;
    }
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(Class::Unicode(class)) => {
            // A letter or digit where it may be one.
            let common = ['a', '1', 'A', ' ', '_', '-', '.', '/'];
            let inside = |c: &char| class.iter().any(|range| range.start() <= *c && *c <= range.end());
            let choice = common.iter().copied().filter(inside).nth(variant % 2);
            let choice = choice.or_else(|| common.iter().copied().find(inside));
            out.extend(choice.or_else(|| class.iter().next().map(|range| range.start())));
        }
        HirKind::Class(Class::Bytes(class)) => {
            out.extend(class.iter().next().map(|range| char::from(range.start())));
        }
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX);
            let times = (repetition.min.max(u32::from(variant > 0)) + u32::from(variant > 1)).min(most);
            for _ in 0..times.min(MAX_SAMPLE as u32) {
                sample(&repetition.sub, variant, out);
            }
        }
        HirKind::Capture(capture) => sample(&capture.sub, variant, out),
        HirKind::Concat(parts) => parts.iter().for_each(|part| sample(part, variant, out)),
        HirKind::Alternation(parts) => {
            if let Some(part) = parts.get(variant % parts.len().max(1)) {
                sample(part, variant, out);
            }
        }
    }
}

/// The value with every part that is `own` (in a text: a piece, whatever its case) replaced; `None` where there is none.
pub(super) fn replace(value: &Recipe, own: &Recipe, by: &Recipe) -> Option<Recipe> {
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
        // The comparison was of its length.
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
