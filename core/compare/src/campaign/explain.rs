//! The predictor's expectations for the access paths of a campaign, for people, after the search.

use std::collections::{BTreeMap, HashSet};

use twincell_engine::protocol::ExecutionRequest;
use twincell_engine::{EngineError, Executed};

use super::confirm::{again, both, repeat};
use super::{Campaign, Execute, TestCase};

/// The maximum number of executions that are repeated for this.
const MOST: usize = 8;

/// The probability of each class, by access path. The executions with the most values are repeated, since a few of them
/// have nearly all paths.
pub fn explain(execute: &mut dyn Execute, campaign: &Campaign) -> Result<BTreeMap<String, Vec<f32>>, EngineError> {
    let mut longest: Vec<&TestCase> = campaign.executions.iter().collect();
    longest.sort_by_key(|case| std::cmp::Reverse(case.record.injections.len()));
    let mut asked: HashSet<&str> = HashSet::new();
    let mut requests: Vec<ExecutionRequest> = Vec::new();
    for case in longest {
        if requests.len() == MOST {
            break;
        }
        let known = asked.len();
        asked.extend(case.record.injections.iter().map(|injection| injection.path.as_str()));
        if asked.len() > known {
            let request = again(&case.record, repeat(&case.record), both());
            requests.push(ExecutionRequest { explain: true, ..request });
        }
    }
    let mut classes = BTreeMap::new();
    for executed in execute.execute(requests)? {
        if let Executed::Record(record) = executed {
            for injection in record.injections {
                if !injection.classes.is_empty() {
                    classes.entry(injection.path.into_string()).or_insert(injection.classes);
                }
            }
        }
    }
    Ok(classes)
}
