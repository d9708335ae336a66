//! Campaign -> verdict. The rule is one small function.

use twincell_behavior::{Basis, display_limit};

use twincell_syntax::Side;

use crate::campaign::{Campaign, Target};
use crate::verdict::{CHANGING, Verdict};

/// The verdict of a campaign and why.
///
/// A confirmed difference is a change. Without one, the pair is likely preserving if a usable execution ran changed
/// code. Otherwise the result is inconclusive (ChangeGuard, section 3.4).
pub fn decide(campaign: &Campaign, target: &Target) -> (Verdict, String) {
    let found = campaign.witness.map(|witness| &campaign.executions[witness]);
    if found.is_some_and(|found| found.score() >= CHANGING) {
        return (Verdict::Changing, "the two versions behaved differently on the same values".into());
    }
    let (executions, valid) = (campaign.executed(), campaign.valid());
    if executions == 0 {
        let why = campaign
            .lost
            .first()
            .map_or("nothing was executed".to_string(), |reason| format!("no execution came back: {reason}"));
        return (Verdict::Inconclusive, why);
    }
    let limits = |which: Side, count: usize| {
        format!(
            "in {count} of {executions} executions only the {which} version ran into a limit (steps, recursion or memory): it may not end"
        )
    };
    if let Some(side) = campaign.limited() {
        return (Verdict::Inconclusive, limits(side, campaign.stopped_only(side)));
    }
    if let Some(bound) = campaign.stopped_by().filter(|_| valid == 0) {
        return (Verdict::Inconclusive, format!("all {executions} executions were stopped: {}", display_limit(bound)));
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
    let usable = format!("{valid} of {executions} executions were usable");
    let what = match (found, campaign.edge_cases) {
        (Some(found), _) => {
            let basis = found.differences.iter().map(|difference| difference.basis).max();
            let why = match basis {
                Some(Basis::Written) => {
                    "results calculated from objects are written differently, but are the same with numbers"
                }
                _ => "calls on different objects happen in another order",
            };
            format!("the only difference found does not count: {why}")
        }
        (None, 1) => "the one that differs needs an unlikely value and was left out".into(),
        (None, count) if count > 0 => format!("the {count} that differ need an unlikely value and were left out"),
        (None, _) => return (Verdict::LikelyPreserving, format!("{usable} and none showed a difference")),
    };
    (Verdict::LikelyPreserving, format!("{usable}; {what}"))
}
