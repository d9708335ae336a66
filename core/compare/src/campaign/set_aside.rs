//! Differences that a rule sets aside: the first of each rule is kept apart, and confirmed like any other, so that a
//! report can say which rule changed a verdict.

use std::collections::BTreeSet;

use twincell_behavior::{Channel, Rule, Rules, differences, set_aside};
use twincell_engine::EngineError;
use twincell_engine::protocol::ExecutionRecord;

use super::{Campaign, Execute, Plan, TestCase, examined};
use crate::verdict::CHANGING;

/// The maximum number of rules whose differences are kept.
const MOST_RULES: usize = 16;

/// A difference that does not count because of a rule.
#[derive(Debug, Clone)]
pub struct SetAside {
    pub rule: Rule,
    /// The execution, with the differences that the rule sets aside.
    pub case: TestCase,
}

impl SetAside {
    /// Whether the pair would be changing without the rule, if nothing else shows a change.
    pub fn would_decide(&self) -> bool {
        self.case.score() >= CHANGING
    }
}

/// Keeps what the rules set aside in an execution.
pub(super) fn keep_first(campaign: &mut Campaign, record: &ExecutionRecord, rules: &Rules) {
    let [old, new] = record.behaviors.as_slice() else { return };
    for (rule, difference) in set_aside(old, new, rules) {
        let case = TestCase {
            record: record.clone(),
            differences: vec![difference],
            new_lines: 0,
            coverage: 0.0,
            probability: 1.0,
            examined: true,
        };
        keep(campaign, rule, &case);
    }
}

/// Keeps an execution as the one of a rule, unless the rule has one.
pub(super) fn keep(campaign: &mut Campaign, rule: Rule, case: &TestCase) {
    let is_known = campaign.set_aside.iter().any(|one| one.rule == rule);
    if !is_known && campaign.set_aside.len() < MOST_RULES {
        campaign.set_aside.push(SetAside { rule, case: case.clone() });
    }
}

/// Drops what does not appear again. `examine` has confirmed edge cases before it set them aside.
pub(super) fn confirm_all(execute: &mut dyn Execute, campaign: &mut Campaign, plan: &Plan) -> Result<(), EngineError> {
    for SetAside { rule, case } in std::mem::take(&mut campaign.set_aside) {
        if rule == Rule::EdgeCases {
            campaign.set_aside.push(SetAside { rule, case });
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
            campaign.set_aside.push(SetAside { rule, case });
        }
    }
    Ok(())
}
