//! The assertions of a reproducer: the behavior of the old version, in the channels in which the new one differs.

use std::collections::BTreeSet;

use twincell_behavior::{Channel, Shown};
use twincell_engine::observed::{Behavior, Call, Observed, Outcome, Slot};
use twincell_syntax::PerSide;
use twincell_syntax::python::{is_builtin_exception, is_identifier};
use twincell_values::value::{Decision, Recipe};

use super::equality::Equality;
use super::identity;
use super::moments::{Moments, watched};
use super::plan::{Checks, Raises};
use super::refusal::Refusal;
use super::shape::{Shape, shape, shaped};
use super::words::Words;
use super::{Case, python};

/// The checks of a case, or why there are none. `standins` says whether the parts of `standin/` can be used.
pub(super) fn checks(case: &Case<'_>, standins: bool) -> Result<Checks, Refusal> {
    let PerSide { old, new } = case.behaviors()?;
    let mut checks = Checks { shape: shape(case, old)?, ..Checks::default() };
    let mut refused = Vec::new();
    if old.left(&Slot::Again).is_some() {
        // Its effects were observed as well.
        identity::call_again(&mut checks, case);
    }
    let is_parameter = |name: &str| {
        case.functions.old.parameters.iter().any(|parameter| parameter.name == name) && is_identifier(name)
    };
    for difference in case.differences {
        let done = match difference.channel {
            Channel::Return | Channel::Exception => outcome(&mut checks, case, old, new, standins),
            Channel::Output => output(&mut checks, old, new),
            Channel::Log if !standins => Err(Refusal::Messages),
            Channel::Log => {
                if !checks.log {
                    let entry = |logged: &twincell_engine::observed::Logged| {
                        format!("({}, {})", python::string(&logged.level), python::string(&logged.message))
                    };
                    let entries: Vec<String> = old.log.iter().map(entry).collect();
                    checks.after.push(format!("assert log == [{}]", entries.join(", ")));
                    checks.log = true;
                }
                Ok(())
            }
            Channel::Arguments if matches!(difference.old, Shown::InState { .. }) => match &difference.old {
                Shown::InState { place, .. } if standins => {
                    watched(&mut checks, &Moments::of_items(PerSide { old, new }, place), &is_parameter)
                }
                _ => Err(Refusal::CallsOfMissing),
            },
            Channel::Arguments => match difference.place.slot() {
                Some(slot) => left(&mut checks, case, PerSide { old, new }, slot, standins),
                None => Ok(()),
            },
            Channel::Calls if !standins => Err(Refusal::CallsOfMissing),
            Channel::Calls => match &difference.old {
                Shown::InState { callee: Some(callee), place, .. } => {
                    let moments = Moments::of(PerSide { old, new }, callee.as_str(), place);
                    moments.and_then(|moments| watched(&mut checks, &moments, &is_parameter))
                }
                _ => calls(&mut checks, case, old, new),
            },
        };
        refused.extend(done.err());
    }
    if checks.after.is_empty() && checks.raises.is_none() {
        return Err(refused.into_iter().next().unwrap_or(Refusal::NoEvidence));
    }
    if let (None, Outcome::Raised { .. }) = (&checks.raises, &old.outcome) {
        checks.raises = Some(Raises::Anything);
    }
    Ok(checks)
}

fn outcome(
    checks: &mut Checks,
    case: &Case<'_>,
    old: &Behavior,
    new: &Behavior,
    standins: bool,
) -> Result<(), Refusal> {
    if checks.result || checks.raises.is_some() {
        return Ok(());
    }
    match &old.outcome {
        Outcome::Returned(value) => {
            let value = shaped(value);
            let other = match &new.outcome {
                Outcome::Returned(other) => Some(shaped(other)),
                _ => None,
            };
            let equality = match (&value, python::text(&value)) {
                // Views and queues are observed as lists.
                (Observed::List(_), Some(text)) if standins && makes_views(case) => Equality::with_text(&text),
                _ => equality(&value, other.as_ref(), standins)?,
            };
            checks.after.push(equality.of("result"));
            checks.result = true;
        }
        Outcome::Raised { exception: Observed::Exception { class, arguments }, .. } => {
            let builtin = is_builtin_exception(class);
            checks.raises = Some(Raises::Class(if builtin { class.clone() } else { "Exception".into() }));
            if !builtin {
                checks.caught = true;
                let name = python::string(&python::masked(class));
                checks.after.push(format!("assert type(caught.value).__name__ == {name}"));
            }
            let same_class = matches!(&new.outcome, Outcome::Raised { exception: Observed::Exception { class: other, .. }, .. }
                if other == class);
            if arguments.is_empty() && !builtin && !same_class {
                // A missing class was made without arguments. Its name says everything.
                return Ok(());
            }
            let tuple = Observed::Tuple(arguments.clone());
            let message = match arguments.as_slice() {
                [Observed::Str(message)] if builtin && class != "KeyError" => {
                    Some(format!("assert str(caught.value) == {}", python::string(message)))
                }
                _ => equality(&tuple, None, standins).ok().map(|equality| equality.of("caught.value.args")),
            };
            checks.caught |= message.is_some();
            checks.after.extend(message);
        }
        other => return Err(Refusal::OldOutcome(Box::new(other.clone()))),
    }
    Ok(())
}

/// Whether the code may give a view of a mapping, a range or a queue, which a list does not equal.
fn makes_views(case: &Case<'_>) -> bool {
    let words = Words::of(case.texts());
    ["values", "range", "deque"].into_iter().any(|name| words.names(name))
}

/// What must hold of a value, in a form that distinguishes it from the other one.
fn equality(value: &Observed, other: Option<&Observed>, standins: bool) -> Result<Equality, Refusal> {
    if let Some(equality) = Equality::with_table(value) {
        return Ok(equality);
    }
    if let Some(literal) = python::plain(value) {
        return Equality::with(value, literal, other);
    }
    if !standins {
        return Err(Refusal::NoLiteral);
    }
    python::text(value).map(|text| Equality::with_text(&text)).ok_or(Refusal::NotObservedInFull)
}

fn output(checks: &mut Checks, old: &Behavior, new: &Behavior) -> Result<(), Refusal> {
    for (name, a, b) in [("stdout", &old.stdout, &new.stdout), ("stderr", &old.stderr, &new.stderr)] {
        if a != b && !checks.output.contains(&name) {
            checks.output.push(name);
            checks.after.push(format!("assert {name}.getvalue() == {}", python::string(a)));
        }
    }
    Ok(())
}

/// What is left behind in a slot.
fn left(
    checks: &mut Checks,
    case: &Case<'_>,
    behaviors: PerSide<&Behavior>,
    slot: &Slot,
    standins: bool,
) -> Result<(), Refusal> {
    let then = behaviors.old.left(slot);
    match slot {
        Slot::Argument(path) => argument(checks, case, behaviors, path, standins),
        Slot::Global(name) => global(checks, name, then, standins),
        Slot::Awaited => {
            let method = if then.is_some() { "" } else { "not " };
            checks.after.push(format!("assert {method}inspect.iscoroutine(result)"));
            (checks.result, checks.closes, checks.shape) = (true, true, Shape::default());
            Ok(())
        }
        Slot::Callback(number) if standins => {
            let assertion = match then {
                Some(then) => equality(&shaped(then), None, standins)?.of(&format!("called_back[{number}]")),
                None => format!("assert {number} not in called_back"),
            };
            checks.after.push(assertion);
            checks.called_back = true;
            Ok(())
        }
        Slot::Stored(place) if standins && case.stored().contains_key(place.as_str()) => {
            let path = python::string(&python::masked(place));
            checks.after.push(match then {
                Some(then) => equality(&shaped(then), None, standins)?.of(&format!("stored[{path}]")),
                None => format!("assert {path} not in stored"),
            });
            checks.stored = true;
            Ok(())
        }
        Slot::Same { .. } | Slot::Kept(_) | Slot::Rebound(_) => {
            identity::check(checks, case, slot, then.is_some(), standins)
        }
        Slot::Repeats => {
            identity::call_again(checks, case);
            let sign = if then == Some(&Observed::Bool(true)) { "==" } else { "!=" };
            checks.after.push(format!("assert again {sign} result"));
            Ok(())
        }
        Slot::Cause => cause(checks, case, behaviors, then, standins),
        Slot::Again => {
            let then = then.ok_or(Refusal::OldDidNotEnd)?;
            if matches!(then, Observed::Exception { .. } | Observed::Iterator { .. } | Observed::Called { .. }) {
                return Err(Refusal::SlotDiffers(slot.clone()));
            }
            identity::call_again(checks, case);
            checks.after.push(equality(then, behaviors.new.left(slot), standins)?.of("again"));
            Ok(())
        }
        Slot::Reordered(_)
        | Slot::Name(_)
        | Slot::Yielded
        | Slot::YieldedAfterwards
        | Slot::GeneratorValue
        | Slot::Callback(_)
        | Slot::Stored(_)
        | Slot::Descriptor
        | Slot::ClassAttributes
        | Slot::EnumMembers
        | Slot::Use { .. } => Err(Refusal::SlotDiffers(slot.clone())),
    }
}

/// The cause of an exception, by its class.
fn cause(
    checks: &mut Checks,
    case: &Case<'_>,
    behaviors: PerSide<&Behavior>,
    then: Option<&Observed>,
    standins: bool,
) -> Result<(), Refusal> {
    outcome(checks, case, behaviors.old, behaviors.new, standins)?;
    checks.caught = true;
    checks.after.push(match (then, behaviors.new.left(&Slot::Cause)) {
        (None, _) => "assert caught.value.__cause__ is None".into(),
        (Some(Observed::Exception { class, .. }), other) => {
            if matches!(other, Some(Observed::Exception { class: other, .. }) if class == other) {
                return Err(Refusal::SlotDiffers(Slot::Cause));
            }
            format!("assert type(caught.value.__cause__).__name__ == {}", python::string(&python::masked(class)))
        }
        _ => return Err(Refusal::SlotDiffers(Slot::Cause)),
    });
    Ok(())
}

/// A global after the call.
fn global(checks: &mut Checks, name: &str, then: Option<&Observed>, standins: bool) -> Result<(), Refusal> {
    let value = format!("names.get({})", python::string(name));
    let assertion = match then {
        Some(then) => equality(then, None, standins)?.of(&value),
        None if standins => {
            checks.before.push(format!("before = text({value})"));
            format!("assert text({value}) == before")
        }
        None => {
            checks.before.push(format!("before = repr({value})"));
            format!("assert repr({value}) == before")
        }
    };
    checks.after.push(assertion);
    Ok(())
}

/// An injected value after the call.
fn argument(
    checks: &mut Checks,
    case: &Case<'_>,
    PerSide { old, new }: PerSide<&Behavior>,
    place: &str,
    standins: bool,
) -> Result<(), Refusal> {
    let slot = Slot::Argument(place.to_owned());
    let (then, others) = (old.left(&slot), assigned_at(new, &slot));
    let is_parameter = case.functions.old.parameters.iter().any(|parameter| parameter.name == place);
    let path = python::string(&python::masked(place));
    let name = match (is_parameter && arguments_name(place), standins) {
        (true, _) => place.to_string(),
        (false, true) => format!("answer({path})"),
        (false, false) => return Err(Refusal::AfterTheCall(place.to_string())),
    };
    let start = case.record.choices.iter().find(|choice| choice.path == place);
    let start = match start.map(|choice| &choice.decision) {
        Some(Decision::Value(recipe)) => Some(recipe),
        None if is_parameter && standins => None,
        _ if standins => None,
        _ => return Err(Refusal::AfterTheCall(place.to_string())),
    };
    let is_object = matches!(start, None | Some(Recipe::Mock(_)));
    let assertion = match then {
        Some(Observed::Injected { assigned, .. }) => assigned_to(&name, assigned, others, case.only)?,
        None if is_object => assigned_to(&name, &[], others, case.only)?,
        Some(then) => equality(then, None, standins)?.of(&name),
        None => match start {
            Some(recipe) if !python::has_standin(recipe) => format!("assert {name} == {}", python::literal(recipe)),
            _ => {
                checks.before.push(format!("before = text({name})"));
                format!("assert text({name}) == before")
            }
        },
    };
    if is_parameter {
        checks.watched.push(place.to_string());
    }
    checks.after.push(assertion);
    Ok(())
}

fn arguments_name(place: &str) -> bool {
    is_identifier(place)
}

/// What a version assigned to the object of an argument.
pub(super) fn assigned_at<'a>(behavior: &'a Behavior, slot: &Slot) -> &'a [(String, Observed)] {
    match behavior.left(slot) {
        Some(Observed::Injected { assigned, .. }) => assigned,
        _ => &[],
    }
}

/// The assignments to a stand-in in this version and in the other. Those that differ suffice to distinguish the
/// versions, and the rest may be the time of day. So may all but one (`only`) of those that differ.
fn assigned_to(
    name: &str,
    assigned: &[(String, Observed)],
    others: &[(String, Observed)],
    only: Option<usize>,
) -> Result<String, Refusal> {
    let mut lines = Vec::new();
    for (place, value) in assigned.iter().filter(|entry| !others.contains(entry)) {
        let value = python::text(value).ok_or(Refusal::NotObservedInFull)?;
        let place = python::string(&python::masked(place));
        lines.push(format!("assert assigned({name}).get({place}) == {}", python::string(&value)));
    }
    for (place, _) in others.iter().filter(|(place, _)| assigned.iter().all(|(known, _)| known != place)) {
        lines.push(format!("assert {} not in assigned({name})", python::string(&python::masked(place))));
    }
    if let Some(only) = only {
        lines = lines.into_iter().skip(only).take(1).collect();
    }
    if lines.is_empty() { Err(Refusal::SameAssignments) } else { Ok(lines.join("\n    ")) }
}

/// The calls that the versions make differently, in order.
fn calls(checks: &mut Checks, case: &Case<'_>, old: &Behavior, new: &Behavior) -> Result<(), Refusal> {
    let rows = twincell_behavior::align_calls(&old.calls, &new.calls, case.rules);
    let mut differing: Vec<&str> = rows
        .iter()
        .filter(|row| !row.equal)
        .flat_map(|row| row.old.iter().chain(&row.new))
        .map(|call| call.callee.as_str())
        .collect();
    if let Some(only) = case.only {
        let mut known = BTreeSet::new();
        differing.retain(|callee| known.insert(*callee));
        differing = vec![*differing.get(only).ok_or(Refusal::NoCall)?];
    }
    let texts = |calls: &[Call], counts: &dyn Fn(&Call) -> bool| {
        calls.iter().filter(|call| counts(call)).map(python::call).collect::<Option<Vec<String>>>()
    };
    let differs = |call: &Call| differing.contains(&call.callee.as_str());
    let of_some = (texts(&old.calls, &differs), texts(&new.calls, &differs));
    let incomplete = || Refusal::CallNotObservedInFull;
    let (list, condition) = match of_some {
        (Some(a), Some(b)) if a != b => {
            let mut names: Vec<String> = differing.iter().map(|name| python::masked(name)).collect();
            names.sort();
            names.dedup();
            let names: Vec<String> = names.iter().map(|name| python::string(&format!("{name}("))).collect();
            let comma = if names.len() == 1 { "," } else { "" };
            (a, Some(format!("call.startswith(({}{comma}))", names.join(", "))))
        }
        _ if case.only.is_some() => return Err(Refusal::NoCall),
        _ => (texts(&old.calls, &|_| true).ok_or_else(incomplete)?, None),
    };
    let list: Vec<String> = list.iter().map(|call| python::string(call)).collect();
    let expected = format!("[{}]", list.join(", "));
    checks.after.push(match condition {
        Some(condition) => format!("assert [call for call in calls if {condition}] == {expected}"),
        None => format!("assert calls == {expected}"),
    });
    Ok(())
}
