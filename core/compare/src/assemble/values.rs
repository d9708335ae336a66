//! The values injected under each access path, counted over a campaign.

use std::collections::{BTreeMap, HashMap};

use twincell_behavior::bounded;

use crate::campaign::Campaign;
use crate::report::{InjectedReport, PathReport};

/// The maximum number of listed access paths, and of listed values for one.
const MOST_PATHS: usize = 200;
const MOST_VALUES: usize = 40;

/// One report for each access path, in order of first use. `classes` has the known predicted probabilities.
pub(super) fn paths(campaign: &Campaign, classes: &BTreeMap<String, Vec<f32>>) -> Vec<PathReport> {
    let mut paths: Vec<PathReport> = Vec::new();
    // For a path its position in `paths`, and for a value its position in `injected`.
    let mut known: HashMap<String, (usize, HashMap<String, usize>)> = HashMap::new();
    for case in &campaign.executions {
        let (differs, valid) = (!case.differences.is_empty(), case.is_valid());
        for injection in &case.record.injections {
            if !known.contains_key(injection.path.as_str()) {
                if paths.len() == MOST_PATHS {
                    continue;
                }
                paths.push(PathReport {
                    path: injection.path.to_string(),
                    kind: injection.kind,
                    version: injection.version,
                    line: injection.line,
                    predicted: classes.get(injection.path.as_str()).cloned().unwrap_or_default(),
                    injected: vec![],
                    more: 0,
                });
                known.insert(injection.path.to_string(), (paths.len() - 1, HashMap::new()));
            }
            let Some((position, values)) = known.get_mut(injection.path.as_str()) else { continue };
            let listed = &mut paths[*position].injected;
            let text = bounded(&injection.value.display());
            let at = *values.entry(text).or_insert_with_key(|text| {
                let class = injection.value.abstract_value();
                listed.push(InjectedReport { value: text.clone(), class, count: 0, differing: 0, invalid: 0 });
                listed.len() - 1
            });
            listed[at].count += 1;
            listed[at].differing += u32::from(differs);
            listed[at].invalid += u32::from(!valid && !differs);
        }
    }
    for path in &mut paths {
        // The sort is stable: among equals, the value that was injected first comes first.
        path.injected.sort_by_key(|value| std::cmp::Reverse(value.count));
        path.more = path.injected.len().saturating_sub(MOST_VALUES) as u32;
        path.injected.truncate(MOST_VALUES);
    }
    paths
}
