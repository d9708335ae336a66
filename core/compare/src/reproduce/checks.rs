//! What a test with stand-ins or literals checks: the behavior of the old version, in the channels in which the new one
//! differs.

use std::collections::BTreeSet;

use twincell_behavior::{Channel, Shown};
use twincell_engine::observed::{Behavior, Call, Observed, Outcome, Slot};
use twincell_syntax::PerSide;
use twincell_syntax::python::{is_builtin_exception, is_identifier};
use twincell_values::path::Outside;
use twincell_values::value::{Decision, Recipe};

use super::equality::Equality;
use super::identity;
use super::moments::{Moments, watched};
use super::plan::{Check, Operand, Raises, TestPlan};
use super::refusal::Refusal;
use super::shape::{Shape, shape, shaped};
use super::words::Words;
use super::{Case, python};

/// The checks of a case, or why there are none. `standins` says whether the parts of `standin/` can be used.
pub(super) fn checks(case: &Case<'_>, standins: bool) -> Result<TestPlan, Refusal> {
    let PerSide { old, new } = case.behaviors()?;
    let mut plan = TestPlan { shape: shape(case, old)?, ..TestPlan::default() };
    let mut refused = Vec::new();
    if old.left(&Slot::Again).is_some() {
        // Its effects were observed as well.
        identity::call_again(&mut plan, case);
    }
    let is_parameter = |name: &str| {
        case.functions.old.parameters.iter().any(|parameter| parameter.name == name) && is_identifier(name)
    };
    for difference in case.differences {
        let done = match difference.channel {
            Channel::Return | Channel::Exception => outcome(&mut plan, case, old, new, standins),
            Channel::Output => {
                output(&mut plan, old, new);
                Ok(())
            }
            Channel::Log if !standins => Err(Refusal::Messages),
            Channel::Log => {
                if !plan.looks_at(&Operand::Log) {
                    let entry = |logged: &twincell_engine::observed::Logged| {
                        format!("({}, {})", python::string(&logged.level), python::string(&logged.message))
                    };
                    let entries: Vec<String> = old.log.iter().map(entry).collect();
                    plan.compare(Operand::Log, Equality::to(format!("[{}]", entries.join(", "))));
                }
                Ok(())
            }
            Channel::Arguments if matches!(difference.old, Shown::InState { .. }) => match &difference.old {
                Shown::InState { place, .. } if standins => {
                    watched(&mut plan, &Moments::of_items(PerSide { old, new }, place), &is_parameter)
                }
                _ => Err(Refusal::CallsOfMissing),
            },
            Channel::Arguments => match difference.place.slot() {
                Some(slot) => left(&mut plan, case, PerSide { old, new }, slot, standins),
                None => Ok(()),
            },
            Channel::Calls if !standins => Err(Refusal::CallsOfMissing),
            Channel::Calls => match &difference.old {
                Shown::InState { callee: Some(callee), place, .. } => {
                    let moments = Moments::of(PerSide { old, new }, callee.as_str(), place);
                    moments.and_then(|moments| watched(&mut plan, &moments, &is_parameter))
                }
                _ => calls(&mut plan, case, old, new),
            },
        };
        refused.extend(done.err());
    }
    if plan.checks.is_empty() && plan.raises.is_none() {
        return Err(refused.into_iter().next().unwrap_or(Refusal::NoEvidence));
    }
    if let (None, Outcome::Raised { .. }) = (&plan.raises, &old.outcome) {
        plan.raises = Some(Raises::Anything);
    }
    Ok(plan)
}

fn outcome(
    plan: &mut TestPlan,
    case: &Case<'_>,
    old: &Behavior,
    new: &Behavior,
    standins: bool,
) -> Result<(), Refusal> {
    if plan.looks_at(&Operand::Result) || plan.raises.is_some() {
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
            plan.compare(Operand::Result, equality);
        }
        Outcome::Raised { exception: Observed::Exception { class, arguments }, .. } => {
            let builtin = is_builtin_exception(class);
            plan.raises = Some(Raises::Class(if builtin { class.clone() } else { "Exception".into() }));
            if !builtin {
                plan.compare(class_name(Operand::Caught.step(".value")), named(class));
            }
            let same_class = matches!(&new.outcome, Outcome::Raised { exception: Observed::Exception { class: other, .. }, .. }
                if other == class);
            if arguments.is_empty() && !builtin && !same_class {
                // A missing class was made without arguments. Its name says everything.
                return Ok(());
            }
            let tuple = Observed::Tuple(arguments.clone());
            match arguments.as_slice() {
                [Observed::Str(message)] if builtin && class != "KeyError" => {
                    let said = Operand::Caught.step(".value").applied("str");
                    plan.compare(said, Equality::to(python::string(message)));
                }
                _ => {
                    let equality = equality(&tuple, None, standins).ok();
                    let check = |equality| Check::Equal(Operand::Caught.step(".value.args"), equality);
                    plan.checks.extend(equality.map(check));
                }
            }
        }
        other => return Err(Refusal::OldOutcome(Box::new(other.clone()))),
    }
    Ok(())
}

/// The name of a value's class.
fn class_name(operand: Operand) -> Operand {
    operand.applied("type").step(".__name__")
}

/// That the name of a class is this one.
fn named(class: &str) -> Equality {
    Equality::to(python::string(&python::masked(class)))
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

fn output(plan: &mut TestPlan, old: &Behavior, new: &Behavior) {
    for (name, a, b) in [("stdout", &old.stdout, &new.stdout), ("stderr", &old.stderr, &new.stderr)] {
        if a != b && !plan.looks_at(&Operand::Output(name)) {
            plan.compare(Operand::Output(name), Equality::to(python::string(a)));
        }
    }
}

/// What must hold of a file, which the test knows by its content.
pub(super) fn written(case: &Case<'_>, name: &str, then: Option<&Observed>) -> Result<Equality, Refusal> {
    let mut drawn =
        case.record.choices.iter().filter_map(|choice| match (&choice.decision, Outside::of((&*choice.path).into())) {
            (Decision::Value(Recipe::Str(text)), Some(Outside::File(own))) if own == name => Some(text),
            _ => None,
        });
    match then {
        // It left the file alone.
        None if let Some(text) = drawn.next() => Ok(Equality::to(format!("{}.encode()", python::string(text)))),
        None | Some(Observed::None) => Ok(Equality::to("None".into())),
        Some(Observed::Str(text)) => Ok(Equality::to(format!("{}.encode()", python::string(text)))),
        Some(_) => Err(Refusal::OutOfReach),
    }
}

/// What is left behind in a slot.
fn left(
    plan: &mut TestPlan,
    case: &Case<'_>,
    behaviors: PerSide<&Behavior>,
    slot: &Slot,
    standins: bool,
) -> Result<(), Refusal> {
    let then = behaviors.old.left(slot);
    match slot {
        Slot::Argument(path) => argument(plan, case, behaviors, path, standins),
        Slot::Global(name) => global(plan, name, then, standins),
        Slot::File(name) => {
            plan.compare(Operand::Written(name.clone()), written(case, name, then)?);
            Ok(())
        }
        Slot::Awaited => {
            plan.checks.push(Check::Coroutine(then.is_some()));
            plan.shape = Shape::default();
            Ok(())
        }
        Slot::Callback(number) if standins => {
            plan.checks.push(entry(Operand::CalledBack, number.to_string(), then, standins)?);
            Ok(())
        }
        Slot::Stored(place) if standins && case.stored().contains_key(place.as_str()) => {
            let path = python::string(&python::masked(place));
            plan.checks.push(entry(Operand::Stored, path, then, standins)?);
            Ok(())
        }
        Slot::Same { .. } | Slot::Kept(_) | Slot::Rebound(_) => {
            identity::check(plan, case, slot, then.is_some(), standins)
        }
        Slot::Repeats => {
            identity::call_again(plan, case);
            plan.checks.push(Check::Repeats(then == Some(&Observed::Bool(true))));
            Ok(())
        }
        Slot::Cause => cause(plan, case, behaviors, then, standins),
        Slot::Again => {
            let then = then.ok_or(Refusal::OldDidNotEnd)?;
            if matches!(then, Observed::Exception { .. } | Observed::Iterator { .. } | Observed::Called { .. }) {
                return Err(Refusal::SlotDiffers(slot.clone()));
            }
            identity::call_again(plan, case);
            plan.compare(Operand::Again, equality(then, behaviors.new.left(slot), standins)?);
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

/// What is under a key, or that there is nothing.
fn entry(container: Operand, key: String, then: Option<&Observed>, standins: bool) -> Result<Check, Refusal> {
    Ok(match then {
        Some(then) => Check::Equal(container.step(format!("[{key}]")), equality(&shaped(then), None, standins)?),
        None => Check::Absent(key, container),
    })
}

/// The cause of an exception, by its class.
fn cause(
    plan: &mut TestPlan,
    case: &Case<'_>,
    behaviors: PerSide<&Behavior>,
    then: Option<&Observed>,
    standins: bool,
) -> Result<(), Refusal> {
    outcome(plan, case, behaviors.old, behaviors.new, standins)?;
    let cause = Operand::Caught.step(".value.__cause__");
    plan.checks.push(match (then, behaviors.new.left(&Slot::Cause)) {
        (None, _) => Check::Equal(cause, Equality::to_none()),
        (Some(Observed::Exception { class, .. }), other) => {
            if matches!(other, Some(Observed::Exception { class: other, .. }) if class == other) {
                return Err(Refusal::SlotDiffers(Slot::Cause));
            }
            Check::Equal(class_name(cause), named(class))
        }
        _ => return Err(Refusal::SlotDiffers(Slot::Cause)),
    });
    Ok(())
}

/// A global after the call.
fn global(plan: &mut TestPlan, name: &str, then: Option<&Observed>, standins: bool) -> Result<(), Refusal> {
    let value = Operand::Global(name.to_owned());
    plan.checks.push(match then {
        Some(then) => Check::Equal(value, equality(then, None, standins)?),
        None => Check::WithBefore(value.applied(if standins { "text" } else { "repr" }), "=="),
    });
    Ok(())
}

/// An injected value after the call.
fn argument(
    plan: &mut TestPlan,
    case: &Case<'_>,
    PerSide { old, new }: PerSide<&Behavior>,
    place: &str,
    standins: bool,
) -> Result<(), Refusal> {
    let slot = Slot::Argument(place.to_owned());
    let (then, others) = (old.left(&slot), assigned_at(new, &slot));
    let is_parameter = case.functions.old.parameters.iter().any(|parameter| parameter.name == place);
    let value = match (is_parameter && is_identifier(place), standins) {
        (true, _) => Operand::Named(place.to_owned()),
        (false, true) => Operand::Answer(place.to_owned()),
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
    let found = match then {
        Some(Observed::Injected { assigned, .. }) => assigned_to(&value, assigned, others, case.only)?,
        None if is_object => assigned_to(&value, &[], others, case.only)?,
        Some(then) => vec![Check::Equal(value, equality(then, None, standins)?)],
        None => match start {
            Some(recipe) if !python::has_standin(recipe) => {
                vec![Check::Equal(value, Equality::to(python::literal(recipe)))]
            }
            _ => vec![Check::WithBefore(value.applied("text"), "==")],
        },
    };
    plan.watched.extend(is_parameter.then(|| place.to_owned()));
    plan.checks.extend(found);
    Ok(())
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
    object: &Operand,
    assigned: &[(String, Observed)],
    others: &[(String, Observed)],
    only: Option<usize>,
) -> Result<Vec<Check>, Refusal> {
    let mut found = Vec::new();
    for (place, value) in assigned.iter().filter(|entry| !others.contains(entry)) {
        let value = python::text(value).ok_or(Refusal::NotObservedInFull)?;
        found.push(Check::Equal(Operand::assigned(object.clone(), place), Equality::to(python::string(&value))));
    }
    for (place, _) in others.iter().filter(|(place, _)| assigned.iter().all(|(known, _)| known != place)) {
        let place = python::string(&python::masked(place));
        found.push(Check::Absent(place, object.clone().applied("assigned")));
    }
    if let Some(only) = only {
        found = found.into_iter().skip(only).take(1).collect();
    }
    if found.is_empty() { Err(Refusal::SameAssignments) } else { Ok(found) }
}

/// The calls that the versions make differently, in order.
fn calls(plan: &mut TestPlan, case: &Case<'_>, old: &Behavior, new: &Behavior) -> Result<(), Refusal> {
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
    let (list, callees) = match of_some {
        (Some(a), Some(b)) if a != b => {
            let mut names: Vec<String> = differing.iter().map(|name| python::masked(name)).collect();
            names.sort();
            names.dedup();
            (a, names)
        }
        _ if case.only.is_some() => return Err(Refusal::NoCall),
        _ => (texts(&old.calls, &|_| true).ok_or_else(incomplete)?, vec![]),
    };
    let list: Vec<String> = list.iter().map(|call| python::string(call)).collect();
    plan.compare(Operand::Calls(callees), Equality::to(format!("[{}]", list.join(", "))));
    Ok(())
}
