//! Impacted statements as SARIF, for code scanning: a note for each, with its chain as a code flow.

use serde_json::{Value, json};
use twincell_impact::{State, StatementImpact, Step};
use twincell_syntax::Side;

use super::{ImpactReport, chain, headline, link_sentence, remarks, short_name};
use crate::export::sarif::{document, message, rule, uri};
use crate::plain;

const IMPACTED: &str = "statement-impacted";
/// The maximum number of results: those nearest to the change. Services take no more.
const RESULTS: usize = 5000;

/// The impacted statements as the text of a SARIF file. `version` is twincell's.
pub fn impact_sarif(report: &ImpactReport, version: &str) -> String {
    let mut impacted: Vec<(&StatementImpact, &Vec<Step>)> = report
        .impact
        .statements
        .iter()
        .filter_map(|one| match &one.state {
            State::Impacted { chain } => Some((one, chain)),
            State::Changed | State::NotImpacted => None,
        })
        .collect();
    impacted.sort_by_key(|(_, chain)| chain.len());
    let results: Vec<Value> = impacted.iter().take(RESULTS).map(|(one, chain)| result(report, one, chain)).collect();
    let notes: Vec<Value> = [headline(report)]
        .into_iter()
        .chain(remarks(report))
        .map(|line| json!({ "level": "note", "message": { "text": message(&line) } }))
        .collect();
    let text = "A statement that did not change may see other values than before the change.";
    document(json!({
        "tool": { "driver": {
            "name": "twincell",
            "semanticVersion": version,
            "rules": [rule(IMPACTED, "StatementImpacted", "Statement impacted", text, "note")],
        } },
        "columnKind": "unicodeCodePoints",
        "results": results,
        "invocations": [{ "executionSuccessful": true, "toolExecutionNotifications": notes }],
    }))
}

fn result(report: &ImpactReport, one: &StatementImpact, steps: &[Step]) -> Value {
    let links = chain::links(steps);
    let why = links.last().map_or_else(String::new, |link| link.text.clone());
    // Lines of the old version are none of the files that are shown.
    let flow: Vec<Value> = links
        .iter()
        .filter_map(|link| {
            let place = link.place.as_ref().filter(|_| link.side == Side::New)?;
            let mut location = physical(&place.path, place.lines);
            location["message"] = json!({ "text": message(&link_sentence(report, link)) });
            Some(json!({ "location": location }))
        })
        .collect();
    let mut location = physical(&one.place.path, one.place.lines);
    location["logicalLocations"] =
        json!([{ "fullyQualifiedName": plain::value(short_name(&one.place.function)), "kind": "function" }]);
    let mut found = json!({
        "ruleId": IMPACTED,
        "level": "note",
        "message": { "text": message(&format!("may see other values: it {why}")) },
        "locations": [location],
    });
    if !flow.is_empty() {
        found["codeFlows"] = json!([{ "threadFlows": [{ "locations": flow }] }]);
    }
    found
}

fn physical(path: &str, lines: (u32, u32)) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(path), "uriBaseId": "%SRCROOT%" },
        "region": { "startLine": lines.0, "endLine": lines.1 },
    } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impacts::tests::{NEW, OLD, report};

    #[test]
    fn each_impacted_statement_is_a_note_with_its_chain() {
        let log: Value = serde_json::from_str(&impact_sarif(&report("shop.py", OLD, NEW), "1.0")).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap();
        let lines: Vec<_> = results
            .iter()
            .map(|one| one["locations"][0]["physicalLocation"]["region"]["startLine"].as_u64().unwrap())
            .collect();
        assert_eq!(lines, [6, 7, 8]);
        let flow = &results[0]["codeFlows"][0]["threadFlows"][0]["locations"];
        assert!(flow[0]["location"]["message"]["text"].as_str().unwrap().contains("shop.py:2 changed"), "{flow}");
    }
}
