//! Campaign -> verdict. The rule is one small function.

use twincell_behavior::{Basis, display_limit};
use twincell_engine::observed::Limit;
use twincell_search::Target;
use twincell_syntax::Side;

use crate::assemble::wording;
use crate::campaign::{Campaign, TestCase};
use crate::verdict::{CHANGING, Invented, Verdict};

/// The verdict of a campaign and why. `reported` is the witness to show.
///
/// A confirmed difference is a change. It may be clearer in the witness to show, which needs fewer invented results than
/// the one that was found first. Without a difference, the pair is likely preserving if a usable execution ran changed
/// code. Otherwise the result is inconclusive (ChangeGuard, section 3.4).
pub fn decide(campaign: &Campaign, reported: Option<&TestCase>, target: &Target) -> (Verdict, String) {
    let found = campaign.witness.map(|witness| &campaign.executions[witness]);
    if found.into_iter().chain(reported).any(|case| case.score() >= CHANGING) {
        return (Verdict::Changing, "the two versions behaved differently on the same values".into());
    }
    if campaign.unconfirmed > 0 && found.is_none() {
        return (Verdict::Inconclusive, "a difference could not be repeated: the worker was lost each time".into());
    }
    if campaign.unrepeated > 0 && found.is_none() {
        return (Verdict::Inconclusive, "stopped before a difference was repeated".into());
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
        let why = display_limit(bound);
        let why = if matches!(bound, Limit::RecordBytes(_)) { why.into_owned() } else { format!("a version {why}") };
        return (Verdict::Inconclusive, format!("all {executions} executions were stopped: {why}"));
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
    let what = match (found, campaign.edge_cases) {
        (Some(found), _) => {
            let basis = found.differences.iter().map(|difference| difference.basis).max();
            let why = match basis {
                Some(Basis::Equal) => {
                    "it differs only in which of equal values it gives, as max(x, y) may where x == y"
                }
                Some(Basis::Written) => {
                    "results calculated from objects are written differently, but are the same with numbers"
                }
                Some(Basis::Reordered) => "calls on different objects happen in another order",
                _ if found.invented() != Invented::No => "it needs a result that Python would not give",
                _ => "it needs an unlikely value",
            };
            why.into()
        }
        (None, 1) => "the one that differs needs an unlikely value".into(),
        (None, count) if count > 0 => format!("the {count} that differ need an unlikely value"),
        (None, _) => match rules_that_decide(campaign) {
            rules if rules.is_empty() => {
                return (Verdict::LikelyPreserving, format!("no difference in {}", usable(campaign)));
            }
            rules => format!("what differs was set aside by {}", rules.join(" and by ")),
        },
    };
    (Verdict::LikelyPreserving, format!("no difference that counts in {}: {what}", usable(campaign)))
}

/// The executions that say something about behavior: `281 executions (19 others not usable)`.
fn usable(campaign: &Campaign) -> String {
    let (valid, all) = (campaign.valid(), campaign.executed());
    let said = wording::executions(valid);
    let varied = campaign.executions.iter().any(|case| !case.record.choices.is_empty());
    match (varied, all - valid) {
        (false, _) => "an execution without inputs that could vary".into(),
        (true, 0) => said,
        (true, 1) => format!("{said} (1 other not usable)"),
        (true, others) => format!("{said} ({others} others not usable)"),
    }
}

/// The verdict of a pair whose code spoke in the name of its worker. What else the worker said may be of the code's
/// making as well.
pub fn forged() -> (Verdict, String) {
    (Verdict::Inconclusive, "the code wrote to the connection of its worker, so nothing is known of it".into())
}

/// The rules without which the verdict would be changing, in words.
fn rules_that_decide(campaign: &Campaign) -> Vec<String> {
    campaign.set_aside.iter().filter(|one| one.would_decide()).map(|one| wording::rule(&one.rule)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_behavior::{Difference, EvidencePlace, Shown};
    use twincell_engine::protocol::ExecutionRecord;
    use twincell_values::path::AccessPath;
    use twincell_values::value::{Choice, Decision, Recipe};

    /// A difference that needs the value 1 at `x`, which is unlikely, and this forced operation.
    fn case(forced: &[&str]) -> TestCase {
        let shown = |text: &str| Shown::Text(text.into());
        let choice = Choice { path: "x".into(), decision: Decision::Value(Recipe::Int(1)) };
        TestCase {
            record: ExecutionRecord {
                choices: vec![choice],
                forced: forced.iter().map(|&path| path.into()).collect(),
                ..ExecutionRecord::default()
            },
            differences: vec![Difference::new(EvidencePlace::Exception, shown("1"), shown("2"), Basis::Seen)],
            new_lines: 0,
            coverage: 0.0,
            probability: 0.0,
            rests_on_text: false,
            rests_on_objects: false,
            examined: true,
            given: None,
        }
    }

    #[test]
    fn a_result_that_the_versions_name_differently_is_invented() {
        let invented = |forced: &[&str]| case(forced).invented();
        assert_eq!(invented(&["x.strip()", "1.strip()"]), Invented::Perhaps);
        assert_eq!([invented(&["x.strip()"]), invented(&["1.strip()"])], [Invented::No; 2]);
    }

    #[test]
    fn the_result_of_a_text_that_the_code_writes_down_is_invented() {
        let case = case(&[]);
        assert_eq!(case.invented(), Invented::No);
        assert_eq!(TestCase { rests_on_text: true, ..case }.invented(), Invented::Perhaps);
    }

    #[test]
    fn what_a_function_of_the_program_did_not_give_is_no_change() {
        let likely = TestCase { probability: 1.0, ..case(&[]) };
        let mut refused = likely.clone();
        refused.record.failed = vec!["loan.overdue".into()];
        refused.record.forced = vec![AccessPath::new("loan.overdue").any_call()];
        assert_eq!((refused.invented(), likely.score() >= CHANGING), (Invented::Surely, true));
        assert!(refused.score() < CHANGING);
    }

    #[test]
    fn a_difference_that_could_not_be_repeated_leaves_the_verdict_open() {
        let same = TestCase { differences: vec![], ..case(&[]) };
        let campaign = Campaign { executions: vec![same], unconfirmed: 1, ..Campaign::default() };
        assert_eq!(decide(&campaign, None, &Target::default()).0, Verdict::Inconclusive);
    }

    #[test]
    fn the_witness_to_show_decides_where_the_first_one_is_too_weak() {
        let weak = case(&["x.strip()", "1.strip()"]);
        let campaign = Campaign { executions: vec![weak], witness: Some(0), ..Campaign::default() };
        let verdict = |reported: Option<&TestCase>| decide(&campaign, reported, &Target::default()).0;
        assert_eq!(verdict(Some(&case(&[]))), Verdict::Changing);
        assert_ne!(verdict(None), Verdict::Changing);
    }
}
