//! Assertions that two places hold one object, or two.

use twincell_engine::observed::Slot;
use twincell_syntax::python::is_identifier;
use twincell_values::path::AccessPath;
use twincell_values::value::Decision;

use super::plan::Checks;
use super::refusal::Refusal;
use super::{Case, python};

/// What the runtime calls the results of the two calls, and their names in a test.
const RESULTS: [(&str, &str); 2] = [("result of a second call", "again"), ("result", "result")];
/// How it calls a global.
const GLOBAL: &str = "global ";

/// The assertion for a slot that holds, or does not, with the old version.
pub(super) fn check(
    checks: &mut Checks,
    case: &Case<'_>,
    slot: &Slot,
    holds: bool,
    standins: bool,
) -> Result<(), Refusal> {
    let (one, other) = match slot {
        Slot::Same { place, other } => {
            (expression(checks, case, place, standins)?, expression(checks, case, other, standins)?)
        }
        Slot::Kept(place) => {
            let Some(rest) = place.strip_prefix("result").filter(|rest| is_rest(rest)) else {
                return Err(Refusal::OutOfReach);
            };
            call_again(checks, case);
            checks.result = true;
            (format!("again{rest}"), format!("result{rest}"))
        }
        Slot::Rebound(name) => {
            let value = format!("names.get({})", python::string(name));
            checks.before.push(format!("before = {value}"));
            // The slot says that the object is another one.
            let is = if holds { "is not" } else { "is" };
            checks.after.push(format!("assert {value} {is} before"));
            return Ok(());
        }
        _ => return Err(Refusal::SlotDiffers(slot.clone())),
    };
    checks.after.push(format!("assert {one} {} {other}", if holds { "is" } else { "is not" }));
    Ok(())
}

/// Has the test make the call twice, with the same arguments.
pub(super) fn call_again(checks: &mut Checks, case: &Case<'_>) {
    checks.again = true;
    let names = case.functions.old.parameters.iter().map(|parameter| &parameter.name);
    checks.watched.extend(names.filter(|name| is_identifier(name)).cloned());
}

/// What follows the name of a result: nothing, an attribute or an item.
fn is_rest(rest: &str) -> bool {
    !rest.contains('<') && (rest.is_empty() || rest.starts_with(['.', '[']))
}

/// A place as an expression of the test.
fn expression(checks: &mut Checks, case: &Case<'_>, place: &str, standins: bool) -> Result<String, Refusal> {
    let is_parameter = |name: &str| case.functions.old.parameters.iter().any(|parameter| parameter.name == name);
    for (known, name) in RESULTS {
        if let Some(rest) = place.strip_prefix(known).filter(|rest| is_rest(rest))
            && !is_parameter("result")
        {
            checks.result = true;
            if name == "again" {
                call_again(checks, case);
            }
            return Ok(format!("{name}{rest}"));
        }
    }
    if let Some(global) = place.strip_prefix(GLOBAL) {
        let (name, rest) = AccessPath::new(global).split_root();
        return Ok(format!("names[{}]{rest}", python::string(name)));
    }
    let (root, rest) = AccessPath::new(place).split_root();
    let is_plain = |path: &str| {
        let choice = case.record.choices.iter().find(|choice| choice.path == path);
        matches!(choice.map(|choice| &choice.decision), Some(Decision::Value(recipe)) if !python::has_standin(recipe))
    };
    if is_parameter(root) && is_identifier(root) && is_rest(rest) {
        checks.watched.push(root.to_owned());
        if is_plain(root) || standins {
            return Ok(place.to_owned());
        }
    }
    if standins && is_plain(place) {
        return Ok(format!("answer({})", python::string(&python::masked(place))));
    }
    Err(Refusal::OutOfReach)
}
