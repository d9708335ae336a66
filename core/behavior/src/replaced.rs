//! Behaviors with other values in place of injected objects.

use twincell_engine::observed::{Behavior, Call, Observed, Outcome};
use twincell_values::path::AccessPath;

/// The behavior with what `value` gives for the access path of an injected object to which nothing was assigned. The
/// state in which calls found things stays as it is.
pub fn with_values(behavior: &Behavior, value: &dyn Fn(AccessPath<'_>) -> Option<Observed>) -> Behavior {
    let one = |seen: &Observed| replaced(seen, value);
    let outcome = match &behavior.outcome {
        Outcome::Returned(returned) => Outcome::Returned(one(returned)),
        Outcome::Raised { exception, intended, line, message } => {
            Outcome::Raised { exception: one(exception), intended: *intended, line: *line, message: message.clone() }
        }
        other => other.clone(),
    };
    let call = |call: &Call| Call {
        arguments: call.arguments.iter().map(one).collect(),
        keywords: call.keywords.iter().map(|(name, value)| (name.clone(), one(value))).collect(),
        ..call.clone()
    };
    Behavior {
        outcome,
        arguments: behavior.arguments.iter().map(|(slot, left)| (slot.clone(), one(left))).collect(),
        calls: behavior.calls.iter().map(call).collect(),
        ..behavior.clone()
    }
}

fn replaced(seen: &Observed, value: &dyn Fn(AccessPath<'_>) -> Option<Observed>) -> Observed {
    use Observed as O;
    let all = |items: &[Observed]| items.iter().map(|item| replaced(item, value)).collect::<Vec<_>>();
    let named = |named: &[(String, Observed)]| {
        named.iter().map(|(name, item)| (name.clone(), replaced(item, value))).collect::<Vec<_>>()
    };
    match seen {
        O::Injected { path, assigned } if assigned.is_empty() => value(path.as_path()).unwrap_or_else(|| seen.clone()),
        O::Injected { path, assigned } => O::Injected { path: path.clone(), assigned: named(assigned) },
        O::List(items) => O::List(all(items)),
        O::Tuple(items) => O::Tuple(all(items)),
        O::Set(items) => {
            let mut members = all(items);
            members.sort_by_cached_key(|member| format!("{member:?}"));
            O::Set(members)
        }
        O::Dict(entries) => {
            O::Dict(entries.iter().map(|(key, item)| (replaced(key, value), replaced(item, value))).collect())
        }
        O::Object { class, attributes } => O::Object { class: class.clone(), attributes: named(attributes) },
        O::Exception { class, arguments } => O::Exception { class: class.clone(), arguments: all(arguments) },
        O::Iterator { kind, items, finished } => {
            O::Iterator { kind: kind.clone(), items: all(items), finished: *finished }
        }
        O::Called { gave } => O::Called { gave: Box::new(replaced(gave, value)) },
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_engine::observed::Slot;

    #[test]
    fn objects_are_replaced_wherever_a_behavior_shows_them() {
        let object = |path: &str, assigned: &[(String, Observed)]| Observed::Injected {
            path: path.into(),
            assigned: assigned.to_vec(),
        };
        let number = || Observed::Int("2".into());
        let with = |of_x: Observed| {
            let own = object("y", &[(".next".to_owned(), of_x.clone())]);
            let parts = [
                Observed::List(vec![of_x.clone(), object("y", &[])]),
                Observed::Dict(vec![(of_x.clone(), Observed::Called { gave: Box::new(of_x) })]),
            ];
            Behavior {
                arguments: vec![(Slot::Argument("y".into()), own)],
                ..Behavior::new(Outcome::Returned(Observed::Tuple(parts.into())))
            }
        };
        let value = |path: AccessPath<'_>| (path == "x".into()).then(number);
        assert_eq!(with_values(&with(object("x", &[])), &value), with(number()));
        assert_eq!(with_values(&with(number()), &value), with(number()));
    }
}
