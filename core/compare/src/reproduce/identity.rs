//! Assertions that two places hold one object, or two.

use twincell_engine::observed::Slot;
use twincell_syntax::python::is_identifier;
use twincell_values::path::AccessPath;
use twincell_values::value::Decision;

use super::plan::{Check, Operand, TestPlan};
use super::refusal::Refusal;
use super::{Case, python};

/// What the runtime calls the results of the two calls.
const RESULTS: [(&str, Operand); 2] = [("result of a second call", Operand::Again), ("result", Operand::Result)];
/// How it calls a global.
const GLOBAL: &str = "global ";

/// The assertion for a slot that holds, or does not, with the old version.
pub(super) fn check(
    plan: &mut TestPlan,
    case: &Case<'_>,
    slot: &Slot,
    holds: bool,
    standins: bool,
) -> Result<(), Refusal> {
    let (one, other) = match slot {
        Slot::Same { place, other } => (operand(plan, case, place, standins)?, operand(plan, case, other, standins)?),
        Slot::Kept(place) => {
            let Some(rest) = place.strip_prefix("result").filter(|rest| is_rest(rest)) else {
                return Err(Refusal::OutOfReach);
            };
            call_again(plan, case);
            (Operand::Again.step(rest), Operand::Result.step(rest))
        }
        Slot::Rebound(name) => {
            // The slot says that the object is another one.
            let sign = if holds { "is not" } else { "is" };
            plan.checks.push(Check::WithBefore(Operand::Global(name.clone()), sign));
            return Ok(());
        }
        _ => return Err(Refusal::SlotDiffers(slot.clone())),
    };
    plan.checks.push(Check::Identical(one, other, holds));
    Ok(())
}

/// Has the test make the call twice, with the same arguments.
pub(super) fn call_again(plan: &mut TestPlan, case: &Case<'_>) {
    plan.again = true;
    let names = case.functions.old.parameters.iter().map(|parameter| &parameter.name);
    plan.watched.extend(names.filter(|name| is_identifier(name)).cloned());
}

/// What follows the name of a result: nothing, an attribute or an item.
fn is_rest(rest: &str) -> bool {
    !rest.contains('<') && (rest.is_empty() || rest.starts_with(['.', '[']))
}

/// A place as a value of the test.
fn operand(plan: &mut TestPlan, case: &Case<'_>, place: &str, standins: bool) -> Result<Operand, Refusal> {
    let is_parameter = |name: &str| case.functions.old.parameters.iter().any(|parameter| parameter.name == name);
    for (known, result) in RESULTS {
        if let Some(rest) = place.strip_prefix(known).filter(|rest| is_rest(rest))
            && !is_parameter("result")
        {
            if result == Operand::Again {
                call_again(plan, case);
            }
            return Ok(result.step(rest));
        }
    }
    if let Some(global) = place.strip_prefix(GLOBAL) {
        let (name, rest) = AccessPath::new(global).split_root();
        return Ok(Operand::Named(format!("names[{}]{rest}", python::string(name))));
    }
    let (root, rest) = AccessPath::new(place).split_root();
    let is_plain = |path: &str| {
        let choice = case.record.choices.iter().find(|choice| choice.path == path);
        matches!(choice.map(|choice| &choice.decision), Some(Decision::Value(recipe)) if !python::has_standin(recipe))
    };
    if is_parameter(root) && is_identifier(root) && is_rest(rest) {
        plan.watched.insert(root.to_owned());
        if is_plain(root) || standins {
            return Ok(Operand::Named(place.to_owned()));
        }
    }
    if standins && is_plain(place) {
        return Ok(Operand::Answer(place.to_owned()));
    }
    Err(Refusal::OutOfReach)
}
