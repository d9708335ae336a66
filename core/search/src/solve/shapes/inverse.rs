//! The inverses of operators and methods: operands and receivers for which they give a wanted value.

use ruff_python_ast::Operator;

use twincell_values::value::Recipe;

use super::super::evaluate::number;
use super::MAX_LENGTH;
use super::containers::with_item;

/// A value `x` with `NAME(x) == wanted` for a builtin, near the present value.
pub(in super::super) fn argument(name: &str, current: Option<&Recipe>, wanted: &Recipe) -> Option<Recipe> {
    use Recipe as R;
    Some(match (name, wanted, current) {
        ("int", R::Int(_), Some(R::Str(_))) => R::Str(wanted.display()),
        ("float", R::Float(_) | R::Int(_), Some(R::Str(_))) => R::Str(wanted.display()),
        ("int", R::Int(_), _) | ("float", R::Float(_) | R::Int(_), _) => wanted.clone(),
        ("str", R::Str(text), Some(R::Int(_))) => text.parse().map_or_else(|_| wanted.clone(), R::Int),
        ("str", R::Str(_), _) => wanted.clone(),
        ("abs" | "round" | "max" | "min", _, _) => wanted.clone(),
        ("sum", R::Int(_) | R::Float(_), _) => R::List(vec![wanted.clone()]),
        ("sorted" | "list" | "tuple" | "set", R::List(items) | R::Tuple(items) | R::Set(items), _) => {
            R::List(items.clone())
        }
        ("ord", R::Int(code), _) => R::Str(u32::try_from(*code).ok().and_then(char::from_u32)?.to_string()),
        _ => return None,
    })
}

/// Values `x` with `x OP known == wanted`.
pub(in super::super) fn left_of(
    operator: Operator,
    own: Option<&Recipe>,
    known: &Recipe,
    wanted: &Recipe,
) -> Vec<Recipe> {
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
                    let base = current
                        .checked_div_euclid(known)
                        .and_then(|times| times.checked_mul(known)?.checked_add(wanted));
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
            let (Some(known), Some(target)) = (number(known), number(wanted)) else {
                return vec![];
            };
            let found = match operator {
                O::Add => target - known,
                O::Sub => target + known,
                O::Mult if known != 0.0 => target / known,
                O::Div => target * known,
                _ => return vec![],
            };
            // An int stays an int where possible.
            let whole = found.fract() == 0.0 && found.abs() < 1e15 && !matches!(own, Some(Recipe::Float(_)));
            vec![if whole { Recipe::Int(found as i64) } else { Recipe::Float(found) }]
        }
    }
}

/// Values `x` with `known OP x == wanted`.
pub(in super::super) fn right_of(
    operator: Operator,
    known: &Recipe,
    other: Option<&Recipe>,
    wanted: &Recipe,
) -> Vec<Recipe> {
    use Operator as O;
    match (operator, known, wanted) {
        (O::Add, Recipe::Str(known), Recipe::Str(wanted)) => {
            wanted.strip_prefix(known.as_str()).map(|rest| Recipe::Str(rest.into())).into_iter().collect()
        }
        (O::Add | O::Mult | O::BitAnd | O::BitOr | O::BitXor, _, _) => left_of(operator, other, known, wanted),
        (O::Sub, Recipe::Int(known), Recipe::Int(wanted)) => {
            known.checked_sub(*wanted).map(Recipe::Int).into_iter().collect()
        }
        (O::Sub, _, _) => match (number(known), number(wanted)) {
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

/// Texts (or dictionaries) for which this method gives `wanted`.
pub(in super::super) fn receivers(
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

/// Receivers for which a testing method (`startswith`, `isdigit`) gives the wanted answer.
pub(in super::super) fn answering(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_integers_are_solved_without_overflow() {
        use Operator as O;
        let ends = [i64::MIN, i64::MIN + 1, -1, 0, 1, 64, i64::MAX].map(Recipe::Int);
        let operators = [
            O::Add,
            O::Sub,
            O::Mult,
            O::Div,
            O::FloorDiv,
            O::Mod,
            O::Pow,
            O::BitXor,
            O::BitAnd,
            O::BitOr,
            O::LShift,
            O::RShift,
        ];
        for (own, known) in ends.iter().flat_map(|own| ends.iter().map(move |known| (own, known))) {
            for (wanted, operator) in ends.iter().flat_map(|wanted| operators.map(|operator| (wanted, operator))) {
                left_of(operator, Some(own), known, wanted);
                right_of(operator, known, Some(own), wanted);
            }
        }
        let found = left_of(O::Mod, Some(&Recipe::Int(7)), &Recipe::Int(5), &Recipe::Int(3));
        assert_eq!(found, [8, 13, 3].map(Recipe::Int));
    }
}
