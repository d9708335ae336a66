//! Evidence -> verdict. The rule is one small function.

use crate::behavior::Outcome;
use crate::campaign::{Campaign, Target};
use crate::report::Verdict;

/// A difference that needs a value less probable than this under the predictor is an edge case.
pub const EDGE_CASE: f64 = 0.05;

/// The verdict of a campaign and why.
///
/// A confirmed difference is a change. Without one, the pair is likely preserving when an execution that says something
/// about behavior ran changed code; otherwise nothing can be said (ChangeGuard, section 3.4).
pub fn decide(campaign: &Campaign, target: &Target) -> (Verdict, String) {
    if campaign.witness.is_some() {
        return (Verdict::Changing, "both versions ran on the same values and did not do the same".into());
    }
    let executions = campaign.executions.len();
    let valid = campaign.executions.iter().filter(|kept| kept.is_valid()).count();
    if executions == 0 {
        let why = campaign
            .lost
            .first()
            .map_or("nothing was executed".to_string(), |reason| format!("no execution came back: {reason}"));
        return (Verdict::Inconclusive, why);
    }
    let stopped = |side: usize| {
        let stops = |kept: &&crate::campaign::Kept| {
            let ended = |number: usize| {
                let outcome = kept.record.behaviors.get(number).map(|behavior| &behavior.outcome);
                outcome.is_some_and(|outcome| !matches!(outcome, crate::behavior::Outcome::Stopped { .. }))
            };
            !ended(side) && ended(1 - side)
        };
        campaign.executions.iter().filter(stops).count()
    };
    let limits = |which: &str, count: usize| {
        format!(
            "in {count} of {executions} executions only the {which} version ran into a limit (steps, recursion or memory): it may not end"
        )
    };
    match (stopped(0), stopped(1)) {
        (count, 0) if count > 0 => return (Verdict::Inconclusive, limits("old", count)),
        (0, count) if count > 0 => return (Verdict::Inconclusive, limits("new", count)),
        _ => {}
    }
    if let Some(bound) = stopped_by(campaign).filter(|_| valid == 0) {
        return (Verdict::Inconclusive, format!("all {executions} executions were stopped: {bound}"));
    }
    if valid == 0 {
        return (
            Verdict::Inconclusive,
            format!("all {executions} executions ended in an exception that the injected values may have caused"),
        );
    }
    let changed: usize = target.changed.iter().map(std::vec::Vec::len).sum();
    let reached: usize = campaign.reached.iter().map(std::collections::BTreeSet::len).sum();
    if changed > 0 && reached == 0 {
        return (Verdict::Inconclusive, format!("none of {valid} usable executions ran a changed line"));
    }
    (Verdict::LikelyPreserving, format!("{valid} of {executions} executions were usable and none showed a difference"))
}

/// The bound that stopped the first execution, if bounds stopped them all.
fn stopped_by(campaign: &Campaign) -> Option<&str> {
    let mut bounds = campaign.executions.iter().map(|kept| {
        kept.record.behaviors.iter().find_map(|behavior| match &behavior.outcome {
            Outcome::Stopped { reason } => Some(reason.as_str()),
            _ => None,
        })
    });
    let first = bounds.next()??;
    bounds.all(|bound| bound.is_some()).then_some(first)
}
