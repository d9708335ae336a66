//! The values of terms and conditions on the decisions of one execution, as far as these tell.

use std::cmp::Ordering;

use ruff_python_ast::Operator;

use twincell_syntax::site::Comparator;
use twincell_values::path::{AccessPathBuf, Question};
use twincell_values::reading::{Condition, Term};
use twincell_values::value::{Decision, Recipe};

use super::{Assignment, Solver};

/// The runtime writes paths longer than this in another form.
const MAX_PATH: usize = 200;

/// The order of two plain values, as in Python. `None` if Python would not order them.
pub(crate) fn order(left: &Recipe, right: &Recipe) -> Option<Ordering> {
    if let (Some(left), Some(right)) = (number(left), number(right)) {
        return left.partial_cmp(&right);
    }
    match (left, right) {
        (Recipe::Str(left), Recipe::Str(right)) => Some(left.cmp(right)),
        (Recipe::Bytes(left), Recipe::Bytes(right)) => Some(left.cmp(right)),
        (Recipe::List(left), Recipe::List(right)) | (Recipe::Tuple(left), Recipe::Tuple(right)) => {
            let differs = left.iter().zip(right).find(|(left, right)| left != right);
            differs.map_or_else(|| Some(left.len().cmp(&right.len())), |(left, right)| order(left, right))
        }
        _ => None,
    }
}

pub(super) fn number(value: &Recipe) -> Option<f64> {
    match value {
        Recipe::Bool(value) => Some(f64::from(u8::from(*value))),
        Recipe::Int(value) => Some(*value as f64),
        Recipe::Float(value) => Some(*value),
        _ => None,
    }
}

/// Python's truth of a plain value.
pub(super) fn truth(value: &Recipe) -> Option<bool> {
    Some(match value {
        Recipe::None => false,
        Recipe::Bool(value) => *value,
        Recipe::Int(value) => *value != 0,
        Recipe::Float(value) => *value != 0.0,
        Recipe::Str(text) => !text.is_empty(),
        Recipe::Bytes(bytes) => !bytes.is_empty(),
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => !items.is_empty(),
        Recipe::Dict(entries) => !entries.is_empty(),
        Recipe::Mock(_) | Recipe::Named(_) | Recipe::Made(_) | Recipe::Given(_) | Recipe::Provided(_) => {
            return None;
        }
    })
}

pub(crate) fn length(value: &Recipe) -> Option<usize> {
    Some(match value {
        Recipe::Str(text) => text.chars().count(),
        Recipe::Bytes(bytes) => bytes.len(),
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => items.len(),
        Recipe::Dict(entries) => entries.len(),
        _ => return None,
    })
}

/// `left OP right` of plain values.
pub(super) fn binary(left: &Recipe, operator: Operator, right: &Recipe) -> Option<Recipe> {
    use Operator as O;
    match (left, right) {
        (Recipe::Int(left), Recipe::Int(right)) => {
            let (left, right) = (*left, *right);
            let floored =
                |quotient: i64, rest: i64| if rest != 0 && (rest < 0) != (right < 0) { quotient - 1 } else { quotient };
            Some(Recipe::Int(match operator {
                O::Add => left.checked_add(right)?,
                O::Sub => left.checked_sub(right)?,
                O::Mult => left.checked_mul(right)?,
                O::FloorDiv => floored(left.checked_div(right)?, left.checked_rem(right)?),
                O::Mod => {
                    let rest = left.checked_rem(right)?;
                    if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest }
                }
                O::Pow => left.checked_pow(u32::try_from(right).ok()?)?,
                O::BitAnd => left & right,
                O::BitOr => left | right,
                O::BitXor => left ^ right,
                O::LShift => left.checked_mul(1_i64.checked_shl(u32::try_from(right).ok()?)?)?,
                O::RShift => left.checked_shr(u32::try_from(right).ok()?)?,
                O::Div if right != 0 => return Some(Recipe::Float(left as f64 / right as f64)),
                _ => return None,
            }))
        }
        (Recipe::Str(left), Recipe::Str(right)) if operator == O::Add => Some(Recipe::Str(format!("{left}{right}"))),
        (Recipe::List(left), Recipe::List(right)) if operator == O::Add => {
            Some(Recipe::List([left.as_slice(), right].concat()))
        }
        _ => {
            let (left, right) = (number(left)?, number(right)?);
            Some(Recipe::Float(match operator {
                O::Add => left + right,
                O::Sub => left - right,
                O::Mult => left * right,
                O::Div if right != 0.0 => left / right,
                O::Mod if right != 0.0 => left - (left / right).floor() * right,
                O::FloorDiv if right != 0.0 => (left / right).floor(),
                _ => return None,
            }))
        }
    }
}

/// The result of a look-up in a plain container.
pub(super) fn item(container: &Recipe, key: &Recipe) -> Option<Recipe> {
    let at = |length: usize, index: i64| {
        let index = if index < 0 { index.checked_add(i64::try_from(length).ok()?)? } else { index };
        usize::try_from(index).ok().filter(|index| *index < length)
    };
    match (container, key) {
        (Recipe::List(items) | Recipe::Tuple(items), Recipe::Int(index)) => {
            at(items.len(), *index).map(|index| items[index].clone())
        }
        (Recipe::Str(text), Recipe::Int(index)) => {
            let index = at(text.chars().count(), *index)?;
            text.chars().nth(index).map(|character| Recipe::Str(character.to_string()))
        }
        (Recipe::Dict(entries), key) => entries.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone()),
        _ => None,
    }
}

/// The result of a builtin method of a text.
fn text_method(text: &str, method: &str, arguments: &[Recipe]) -> Option<Recipe> {
    let one = || match arguments {
        [Recipe::Str(one)] => Some(one.as_str()),
        _ => None,
    };
    let any = || -> Option<Vec<&str>> {
        let parts = match arguments {
            [Recipe::Tuple(parts)] => parts,
            other => other,
        };
        let texts = parts.iter().map(|part| if let Recipe::Str(part) = part { Some(part.as_str()) } else { None });
        texts.collect()
    };
    Some(match method {
        "lower" | "casefold" => Recipe::Str(text.to_lowercase()),
        "upper" => Recipe::Str(text.to_uppercase()),
        "strip" if arguments.is_empty() => Recipe::Str(text.trim().into()),
        "lstrip" if arguments.is_empty() => Recipe::Str(text.trim_start().into()),
        "rstrip" if arguments.is_empty() => Recipe::Str(text.trim_end().into()),
        "startswith" => Recipe::Bool(any()?.iter().any(|part| text.starts_with(part))),
        "endswith" => Recipe::Bool(any()?.iter().any(|part| text.ends_with(part))),
        "split" => {
            let parts: Vec<&str> = match arguments {
                [] => text.split_whitespace().collect(),
                [Recipe::Str(separator)] if !separator.is_empty() => text.split(separator.as_str()).collect(),
                _ => return None,
            };
            Recipe::List(parts.into_iter().map(|part| Recipe::Str(part.into())).collect())
        }
        "count" => Recipe::Int(i64::try_from(text.matches(one().filter(|one| !one.is_empty())?).count()).ok()?),
        "replace" => match arguments {
            [Recipe::Str(from), Recipe::Str(to)] if !from.is_empty() => Recipe::Str(text.replace(from, to)),
            _ => return None,
        },
        "isdigit" | "isdecimal" | "isnumeric" => {
            Recipe::Bool(!text.is_empty() && text.chars().all(|c| c.is_ascii_digit()))
        }
        "isalpha" => Recipe::Bool(!text.is_empty() && text.chars().all(char::is_alphabetic)),
        "isalnum" => Recipe::Bool(!text.is_empty() && text.chars().all(char::is_alphanumeric)),
        "isspace" => Recipe::Bool(!text.is_empty() && text.chars().all(char::is_whitespace)),
        "isupper" => Recipe::Bool(text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase)),
        "islower" => Recipe::Bool(text.chars().any(char::is_lowercase) && !text.chars().any(char::is_uppercase)),
        _ => return None,
    })
}

impl Solver<'_> {
    fn decision<'s>(&'s self, path: &str, so_far: &'s Assignment) -> Option<&'s Decision> {
        so_far.get(path).or_else(|| self.facts.decisions.get(path).copied())
    }

    pub(super) fn canonical<'s>(&'s self, name: &'s str) -> &'s str {
        let renamed = self.facts.renames.iter().find(|(own, _)| own == name);
        renamed.map_or(name, |(_, canonical)| canonical)
    }

    /// Whether a decision for this name, or for a value reached through it, may be needed.
    pub(super) fn is_injected(&self, name: &str) -> bool {
        let name = self.canonical(name);
        self.facts.decisions.contains_key(name) || self.facts.parameters.iter().any(|parameter| parameter == name)
    }

    /// The access path of a term, if it has one here.
    pub(super) fn path(&mut self, term: &Term, so_far: &Assignment) -> Option<AccessPathBuf> {
        if !self.step() {
            return None;
        }
        let path = match term {
            Term::Name(name) => self.canonical(name).into(),
            Term::Attribute(base, name) => self.path(base, so_far)?.as_path().attribute(name),
            Term::Subscript(base, key) => self.path(base, so_far)?.as_path().item(self.shown(key, so_far)?),
            Term::Call(callee, arguments) => {
                let callee = self.path(callee, so_far)?;
                let shown: Option<Vec<String>> =
                    arguments.iter().map(|argument| self.shown(argument, so_far)).collect();
                callee.as_path().call(shown?.join(", "))
            }
            Term::Await(value) => self.path(value, so_far)?.as_path().awaited(),
            Term::Element(base) => self.path(base, so_far)?.as_path().item(0),
            Term::Part(base, index, _) => self.path(base, so_far)?.as_path().item(index),
            Term::First(terms) => return self.path(terms.first()?, so_far),
            _ => return None,
        };
        (path.as_str().len() <= MAX_PATH).then_some(path)
    }

    /// A value as access paths write it.
    fn shown(&mut self, term: &Term, so_far: &Assignment) -> Option<String> {
        match self.value(term, so_far) {
            Some(Recipe::Mock(_)) | None => self.path(term, so_far).map(AccessPathBuf::into_string),
            Some(value) => Some(value.display()),
        }
    }

    /// A name that is neither injected nor bound here stands for itself.
    pub(super) fn named(&self, term: &Term) -> Option<Recipe> {
        fn dotted(term: &Term) -> Option<AccessPathBuf> {
            match term {
                Term::Name(name) => Some(name.as_str().into()),
                Term::Attribute(base, name) => Some(dotted(base)?.as_path().attribute(name)),
                _ => None,
            }
        }
        let name = dotted(term)?;
        let (first, _) = name.as_path().split_root();
        (!self.is_injected(first)).then(|| Recipe::Named(name.to_string()))
    }

    /// The value of a term on the given decisions, if it is plain or known to be an object.
    pub(super) fn value(&mut self, term: &Term, so_far: &Assignment) -> Option<Recipe> {
        if !self.step() {
            return None;
        }
        if let Some(path) = self.path(term, so_far)
            && let Some(Decision::Value(value)) = self.decision(path.as_str(), so_far)
        {
            return Some(value.clone());
        }
        match term {
            Term::Literal(value) => Some(value.clone()),
            Term::Subscript(base, key) => item(&self.value(base, so_far)?, &self.value(key, so_far)?),
            Term::Part(base, index, _) => item(&self.value(base, so_far)?, &Recipe::Int(*index as i64)),
            Term::Element(base) => match self.value(base, so_far)? {
                Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => items.first().cloned(),
                Recipe::Dict(entries) => entries.first().map(|(key, _)| key.clone()),
                Recipe::Str(text) => text.chars().next().map(|first| Recipe::Str(first.to_string())),
                _ => None,
            },
            Term::Binary(left, operator, right) => {
                binary(&self.value(left, so_far)?, *operator, &self.value(right, so_far)?)
            }
            Term::Negative(inner) => match self.value(inner, so_far)? {
                Recipe::Int(value) => value.checked_neg().map(Recipe::Int),
                Recipe::Float(value) => Some(Recipe::Float(-value)),
                _ => None,
            },
            Term::Display(terms) => {
                terms.iter().map(|term| self.value(term, so_far)).collect::<Option<Vec<_>>>().map(Recipe::Tuple)
            }
            Term::First(terms) => {
                let mut last = None;
                for term in terms {
                    let value = self.value(term, so_far)?;
                    let is_true = truth(&value)?;
                    last = Some(value);
                    if is_true {
                        break;
                    }
                }
                last
            }
            Term::Either(condition, yes, no) => {
                let chosen = if self.truth(condition, so_far)? { yes } else { no };
                self.value(chosen, so_far)
            }
            Term::Truth(condition) => self.truth(condition, so_far).map(Recipe::Bool),
            Term::Call(callee, arguments) => self.called(callee, arguments, so_far),
            _ => None,
        }
    }

    fn called(&mut self, callee: &Term, arguments: &[std::rc::Rc<Term>], so_far: &Assignment) -> Option<Recipe> {
        match callee {
            Term::Name(name) if !self.is_injected(name) => {
                let [argument] = arguments else { return None };
                let value = self.value(argument, so_far)?;
                match (name.as_str(), &value) {
                    ("len", _) => length(&value).and_then(|length| i64::try_from(length).ok()).map(Recipe::Int),
                    ("int", Recipe::Str(text)) => text.trim().parse().ok().map(Recipe::Int),
                    ("int", Recipe::Float(value)) => Some(Recipe::Int(*value as i64)),
                    ("int", Recipe::Int(_)) | ("str", Recipe::Str(_)) => Some(value),
                    ("int", Recipe::Bool(flag)) => Some(Recipe::Int(i64::from(*flag))),
                    ("float", Recipe::Str(text)) => text.trim().parse().ok().map(Recipe::Float),
                    ("float", _) => number(&value).map(Recipe::Float),
                    ("str", Recipe::Int(_) | Recipe::None | Recipe::Bool(_)) => Some(Recipe::Str(value.display())),
                    ("bool", _) => truth(&value).map(Recipe::Bool),
                    ("abs", Recipe::Int(value)) => value.checked_abs().map(Recipe::Int),
                    ("abs", Recipe::Float(value)) => Some(Recipe::Float(value.abs())),
                    ("list", Recipe::Tuple(items)) => Some(Recipe::List(items.clone())),
                    ("tuple", Recipe::List(items)) => Some(Recipe::Tuple(items.clone())),
                    ("list", Recipe::List(_)) | ("tuple", Recipe::Tuple(_)) => Some(value),
                    ("sum", Recipe::List(items) | Recipe::Tuple(items)) => {
                        items.iter().try_fold(Recipe::Int(0), |sum, item| binary(&sum, Operator::Add, item))
                    }
                    ("ord", Recipe::Str(text)) => {
                        text.chars().next().map(|character| Recipe::Int(i64::from(u32::from(character))))
                    }
                    _ => None,
                }
            }
            Term::Attribute(base, method) => {
                let base = self.value(base, so_far)?;
                let values: Option<Vec<Recipe>> =
                    arguments.iter().map(|argument| self.value(argument, so_far)).collect();
                match (&base, values?.as_slice()) {
                    (Recipe::Str(text), values) => text_method(text, method, values),
                    (Recipe::Dict(_), [key, default @ ..]) if method == "get" => {
                        Some(item(&base, key).unwrap_or_else(|| default.first().cloned().unwrap_or(Recipe::None)))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The truth of a condition on the given decisions, as far as they tell.
    pub(super) fn truth(&mut self, condition: &Condition, so_far: &Assignment) -> Option<bool> {
        if !self.step() {
            return None;
        }
        match condition {
            Condition::Not(inner) => self.truth(inner, so_far).map(|truth| !truth),
            Condition::All(parts) => {
                let truths: Vec<Option<bool>> = parts.iter().map(|part| self.truth(part, so_far)).collect();
                if truths.contains(&Some(false)) {
                    Some(false)
                } else {
                    truths.iter().all(Option::is_some).then_some(true)
                }
            }
            Condition::Any(parts) => {
                let truths: Vec<Option<bool>> = parts.iter().map(|part| self.truth(part, so_far)).collect();
                if truths.contains(&Some(true)) {
                    Some(true)
                } else {
                    truths.iter().all(Option::is_some).then_some(false)
                }
            }
            Condition::Truth { term, .. } => {
                if let Some(path) = self.path(term, so_far)
                    && let Some(Decision::Value(Recipe::Bool(truth))) =
                        self.decision(&Question::Truth(path.as_path()).to_string(), so_far)
                {
                    return Some(*truth);
                }
                truth(&self.value(term, so_far)?)
            }
            Condition::Compare { comparator, left, right, .. } => {
                let (left, right) = (self.value(left, so_far)?, self.value(right, so_far)?);
                compare(&left, *comparator, &right)
            }
        }
    }
}

fn compare(left: &Recipe, comparator: Comparator, right: &Recipe) -> Option<bool> {
    use Comparator as C;
    let is_object = |value: &Recipe| matches!(value, Recipe::Mock(_) | Recipe::Named(_));
    let singleton = |value: &Recipe| matches!(value, Recipe::None | Recipe::Bool(_));
    let contains = || match (left, right) {
        (Recipe::Str(part), Recipe::Str(text)) => Some(text.contains(part.as_str())),
        (_, Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items)) if !is_object(left) => {
            Some(items.contains(left))
        }
        (_, Recipe::Dict(entries)) if !is_object(left) => Some(entries.iter().any(|(key, _)| key == left)),
        _ => None,
    };
    match comparator {
        C::Is | C::IsNot if matches!((left, right), (Recipe::Named(_), Recipe::Named(_))) => {
            // Two names may stand for the same object.
            (left == right).then_some(comparator == C::Is)
        }
        C::Is | C::IsNot if singleton(left) || singleton(right) => Some((left == right) == (comparator == C::Is)),
        C::Is | C::IsNot => None,
        C::In => contains(),
        C::NotIn => contains().map(|inside| !inside),
        C::Eq | C::NotEq => {
            if is_object(left) && is_object(right)
                || matches!(left, Recipe::Named(_))
                || matches!(right, Recipe::Named(_))
            {
                return None;
            }
            let equal = order(left, right).map_or(left == right, std::cmp::Ordering::is_eq);
            Some(equal == (comparator == C::Eq))
        }
        C::Lt => order(left, right).map(std::cmp::Ordering::is_lt),
        C::LtE => order(left, right).map(std::cmp::Ordering::is_le),
        C::Gt => order(left, right).map(std::cmp::Ordering::is_gt),
        C::GtE => order(left, right).map(std::cmp::Ordering::is_ge),
    }
}
