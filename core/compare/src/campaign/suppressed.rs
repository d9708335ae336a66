//! Differences that a rule suppresses. For each rule, the first one that would decide the verdict is kept, or else the
//! first one. It is confirmed like any other, so that a report can say which rule changed a verdict.

use std::collections::BTreeSet;

use twincell_behavior::{Channel, Rule, Rules, differences, suppressed};
use twincell_engine::EngineError;
use twincell_engine::protocol::ExecutionRecord;

use super::{Campaign, Execute, Plan, TestCase, examined};
use crate::verdict::{self, CHANGING, Invented};

/// The maximum number of rules whose differences are kept.
const MOST_RULES: usize = 16;

/// A difference that does not count because of a rule.
#[derive(Debug, Clone)]
pub struct Suppressed {
    pub rule: Rule,
    /// The execution, with the differences that the rule suppresses.
    pub case: TestCase,
}

impl Suppressed {
    /// Whether the pair would be changing without the rule, if nothing else shows a change.
    pub fn would_decide(&self) -> bool {
        self.case.score() >= CHANGING
    }
}

/// Keeps what the rules suppress in an execution.
pub(super) fn keep_further(campaign: &mut Campaign, record: &ExecutionRecord, rules: &Rules) {
    let [old, new] = record.behaviors.as_slice() else { return };
    for (rule, difference) in suppressed(old, new, rules) {
        let decides = verdict::score(difference.basis, 1.0, Invented::No) >= CHANGING;
        if is_wanted(campaign, &rule, decides) {
            let case = TestCase::new(record.clone(), vec![difference]);
            keep(campaign, Suppressed { rule, case });
        }
    }
}

/// Keeps an edge case that does not count.
pub(super) fn keep_edge_case(campaign: &mut Campaign, case: &TestCase) {
    let rule = Rule::EdgeCases;
    if is_wanted(campaign, &rule, case.score() >= CHANGING) {
        keep(campaign, Suppressed { rule, case: case.clone() });
    }
}

/// Whether a rule has no execution yet, or one that would not decide while this one does.
fn is_wanted(campaign: &Campaign, rule: &Rule, decides: bool) -> bool {
    match campaign.suppressed.iter().find(|one| one.rule == *rule) {
        Some(kept) => decides && !kept.would_decide(),
        None => campaign.suppressed.len() < MOST_RULES,
    }
}

fn keep(campaign: &mut Campaign, found: Suppressed) {
    match campaign.suppressed.iter_mut().find(|one| one.rule == found.rule) {
        Some(kept) => *kept = found,
        None => campaign.suppressed.push(found),
    }
}

/// Drops what does not appear again. `examine` has confirmed edge cases before it set them aside.
pub(super) fn confirm_all(execute: &mut dyn Execute, campaign: &mut Campaign, plan: &Plan) -> Result<(), EngineError> {
    for Suppressed { rule, case } in std::mem::take(&mut campaign.suppressed) {
        if rule == Rule::EdgeCases {
            campaign.suppressed.push(Suppressed { rule, case });
            continue;
        }
        let counted: BTreeSet<Channel> = match case.record.behaviors.as_slice() {
            [old, new] => differences(old, new, &plan.rules).into_iter().map(|one| one.channel).collect(),
            _ => BTreeSet::new(),
        };
        let without = Plan { rules: plan.rules.without(&rule), ..plan.clone() };
        let mut case = examined(execute, case.record, &without)?;
        case.differences.retain(|difference| !counted.contains(&difference.channel));
        if !case.differences.is_empty() {
            campaign.suppressed.push(Suppressed { rule, case });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_behavior::{Basis, Difference, EvidencePlace, Shown};

    fn edge_case(basis: Basis) -> TestCase {
        let shown = |text: &str| Shown::Text(text.into());
        TestCase {
            record: ExecutionRecord::default(),
            differences: vec![Difference::new(EvidencePlace::Exception, shown("1"), shown("2"), basis)],
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
    fn the_first_edge_case_that_would_decide_is_kept() {
        let mut campaign = Campaign::default();
        for basis in
            [Basis::DifferentQueries, Basis::Reordered, Basis::SideEffect, Basis::Observable, Basis::FormattingOnly]
        {
            keep_edge_case(&mut campaign, &edge_case(basis));
        }
        let kept: Vec<Basis> = campaign.suppressed.iter().map(|one| one.case.differences[0].basis).collect();
        assert_eq!(kept, [Basis::SideEffect]);
        assert!(campaign.suppressed[0].would_decide());
    }
}
