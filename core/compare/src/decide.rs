//! Campaign -> verdict. The rule is one small function.

use twincell_behavior::{Basis, Rule};
use twincell_search::Target;

use crate::campaign::{Campaign, TestCase};
use crate::reason::{Reason, Uncounted, Usable};
use crate::verdict::{CHANGING, Invented, Verdict};

/// The verdict of a campaign and why. `reported` is the witness to show.
///
/// A confirmed difference is a change. It may be clearer in the witness to show, which needs fewer invented results than
/// the one that was found first. Without a difference, the pair is likely preserving if a usable execution ran changed
/// code. Otherwise the result is inconclusive (ChangeGuard, section 3.4).
pub fn decide(campaign: &Campaign, reported: Option<&TestCase>, target: &Target) -> (Verdict, Reason) {
    let found = campaign.witness.map(|witness| &campaign.executions[witness]);
    if found.into_iter().chain(reported).any(|case| case.score() >= CHANGING) {
        return (Verdict::Changing, Reason::Differs);
    }
    match open(campaign, found, target) {
        Some(reason) => (Verdict::Inconclusive, reason),
        None => (Verdict::LikelyPreserving, nothing_that_counts(campaign, found)),
    }
}

/// Why the executions say too little, if they do.
fn open(campaign: &Campaign, found: Option<&TestCase>, target: &Target) -> Option<Reason> {
    let (executions, valid) = (campaign.executed(), campaign.valid());
    let changed: usize = target.changed.iter().map(Vec::len).sum();
    let reached = || campaign.reached.iter().map(std::collections::BTreeSet::len).sum::<usize>();
    if campaign.unconfirmed > 0 && found.is_none() {
        Some(Reason::NotRepeated)
    } else if campaign.unrepeated > 0 && found.is_none() {
        Some(Reason::StoppedBeforeRepetition)
    } else if executions == 0 {
        let lost = campaign.lost.first();
        Some(lost.map_or(Reason::NothingRan, |first| Reason::AllLost { first: first.clone() }))
    } else if let Some(side) = campaign.limited() {
        Some(Reason::MayNotEnd { side, stopped: campaign.stopped_only(side), executions })
    } else if let Some(limit) = campaign.stopped_by().filter(|_| valid == 0) {
        Some(Reason::AllStopped { executions, limit })
    } else if valid == 0 {
        Some(Reason::AllRaised { executions })
    } else if changed > 0 && reached() == 0 {
        Some(Reason::ChangeNotRun { usable: valid })
    } else {
        None
    }
}

/// Why nothing that differs counts.
fn nothing_that_counts(campaign: &Campaign, found: Option<&TestCase>) -> Reason {
    let why = match (found, campaign.edge_cases) {
        (Some(found), _) => match found.differences.iter().map(|difference| difference.basis).max() {
            Some(Basis::Equal) => Uncounted::EqualValues,
            Some(Basis::FormattingOnly) => Uncounted::Formatting,
            Some(Basis::Reordered) => Uncounted::Reordered,
            _ if found.invented() != Invented::No => Uncounted::Invented,
            _ => Uncounted::Unlikely,
        },
        (None, count) if count > 0 => Uncounted::EdgeCases(count),
        (None, _) => match rules_that_decide(campaign) {
            rules if rules.is_empty() => {
                return Reason::NoDifference { usable: usable(campaign), support: campaign.support.clone() };
            }
            rules => Uncounted::Suppressed(rules),
        },
    };
    Reason::NoneThatCounts { usable: usable(campaign), why }
}

/// The executions that say something about behavior.
fn usable(campaign: &Campaign) -> Usable {
    Usable {
        valid: campaign.valid(),
        all: campaign.executed(),
        varied: campaign.executions.iter().any(|case| !case.record.choices.is_empty()),
    }
}

/// The verdict of a pair whose code spoke in the name of its worker. What else the worker said may be of the code's
/// making as well.
pub fn forged() -> (Verdict, Reason) {
    (Verdict::Inconclusive, Reason::Forged)
}

/// The rules without which the verdict would be changing.
fn rules_that_decide(campaign: &Campaign) -> Vec<Rule> {
    campaign.suppressed.iter().filter(|one| one.would_decide()).map(|one| one.rule.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_behavior::{Difference, EvidencePlace, Shown};
    use twincell_engine::protocol::ExecutionRecord;
    use twincell_values::path::AccessPath;
    use twincell_values::value::{Choice, Decision, Recipe};

    /// A difference that needs the value 1 at `x`, which is unlikely, and this synthesized result.
    fn case(synthesized: &[&str]) -> TestCase {
        let shown = |text: &str| Shown::Text(text.into());
        let choice = Choice { path: "x".into(), decision: Decision::Value(Recipe::Int(1)) };
        TestCase {
            record: ExecutionRecord {
                choices: vec![choice],
                synthesized: synthesized.iter().map(|&path| path.into()).collect(),
                ..ExecutionRecord::default()
            },
            differences: vec![Difference::new(EvidencePlace::Exception, shown("1"), shown("2"), Basis::Observable)],
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
        let invented = |synthesized: &[&str]| case(synthesized).invented();
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
        refused.record.synthesized = vec![AccessPath::new("loan.overdue").any_call().into_string()];
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
