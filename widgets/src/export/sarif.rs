//! SARIF 2.1.0 (OASIS), which code scanning reads: a result for each function whose behavior changed or that is
//! inconclusive. It is written as the standard describes. The crates for it carry all types of the standard, of which
//! this needs a dozen fields.

use serde_json::{Value, json};

use twincell_compare::notice::{Notice, Weight};
use twincell_compare::verdict::Verdict;

use super::{ExportRow, enforced};
use crate::notices::{Notices, notice_sentence, title};
use crate::plain;

const CHANGED: &str = "behavior-changed";
const UNDECIDED: &str = "behavior-undecided";
const TRUST: &str = "policy-changed";

/// The results as the text of a SARIF file. `version` is twincell's.
pub fn sarif(rows: &[ExportRow], notices: Notices<'_>, version: &str) -> String {
    let changes = notices.of(Weight::Trust).map(|notice| trust(notice, notices.allows_changes));
    let results: Vec<Value> = changes.chain(rows.iter().filter_map(result)).collect();
    let mut rules = vec![
        rule(
            CHANGED,
            "BehaviorChanged",
            "Behavior changed",
            "Old and new version of a function behave differently on the same values.",
            "warning",
        ),
        rule(
            UNDECIDED,
            "BehaviorUndecided",
            "Behavior undecided",
            "twincell could not tell whether a change altered behavior.",
            "note",
        ),
    ];
    if notices.headline().is_some() {
        let text = "The policy or the list of accepted differences changed. Those of the old version are in force.";
        rules.push(rule(TRUST, "PolicyChanged", "Policy changed", text, "error"));
    }
    let mut run = json!({
        "tool": { "driver": { "name": "twincell", "semanticVersion": version, "rules": rules } },
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": { "sandbox": sandbox(rows) },
    });
    if !notices.all.is_empty() {
        // Section 3.20: what a run has to say besides its results.
        let notifications: Vec<Value> = notices.ordered().into_iter().map(notification).collect();
        run["invocations"] = json!([{ "executionSuccessful": true, "toolExecutionNotifications": notifications }]);
    }
    document(run)
}

/// The text of a file with one run.
pub(crate) fn document(run: Value) -> String {
    let log = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    });
    format!("{log:#}\n")
}

/// A change to what is trusted, as a result.
fn trust(notice: &Notice, is_allowed: bool) -> Value {
    let mut found = json!({
        "ruleId": TRUST,
        "level": if is_allowed { "note" } else { "error" },
        "message": { "text": message(&notice_sentence(notice)) },
    });
    if let Some(file) = notice.file() {
        found["locations"] = json!([location(file)]);
        found["partialFingerprints"] = json!({ "function/v1": plain::value(file) });
    }
    found
}

fn notification(notice: &Notice) -> Value {
    let level = match notice.weight() {
        Weight::Trust => "error",
        Weight::Rule => "warning",
        Weight::Remark => "note",
    };
    let text = format!("{}: {}", title(notice), notice_sentence(notice));
    let mut found = json!({ "level": level, "message": { "text": message(&text) } });
    if let Some(file) = notice.file() {
        found["locations"] = json!([location(file)]);
    }
    found
}

fn location(file: &str) -> Value {
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri(file), "uriBaseId": "%SRCROOT%" } } })
}

/// What was enforced while the code ran: in the run's bag of properties (section 3.8), which viewers pass on.
fn sandbox(rows: &[ExportRow]) -> Value {
    let enforced = enforced(rows);
    json!({ "ran": enforced.ran, "incomplete": enforced.incomplete, "lacks": enforced.lacks })
}

pub(crate) fn rule(id: &str, name: &str, title: &str, text: &str, level: &str) -> Value {
    json!({
        "id": id,
        "name": name,
        "shortDescription": { "text": title },
        "fullDescription": { "text": text },
        "defaultConfiguration": { "level": level },
    })
}

fn result(row: &ExportRow) -> Option<Value> {
    let (rule, level) = match row.verdict {
        // A difference that only unlikely values show is worth a look, but not an alarm.
        Verdict::Changing if row.evidence.iter().all(|one| one.edge_case) => (CHANGED, "note"),
        Verdict::Changing => (CHANGED, "warning"),
        Verdict::Inconclusive => (UNDECIDED, "note"),
        Verdict::LikelyPreserving | Verdict::Identical => return None,
    };
    let name = plain::value(&row.name);
    let mut location = json!({
        "logicalLocations": [{ "fullyQualifiedName": name, "kind": "function" }],
    });
    if let Some(file) = &row.file {
        location["physicalLocation"] = json!({ "artifactLocation": { "uri": uri(file), "uriBaseId": "%SRCROOT%" } });
        if let Some(line) = row.line {
            location["physicalLocation"]["region"] = json!({ "startLine": line });
        }
    }
    Some(json!({
        "ruleId": rule,
        "level": level,
        "message": { "text": message(&row.sentence) },
        "locations": [location],
        // The same function is the same alert, wherever it moves within its file.
        "partialFingerprints": { "function/v1": plain::value(&row.place()) },
        "properties": { "sandboxLacks": row.sandbox_lacks },
    }))
}

/// A sentence in which nothing is a link or a placeholder (sections 3.11.5 and 3.11.6).
pub(crate) fn message(sentence: &str) -> String {
    let mut out = String::new();
    for character in plain::sentence(sentence).chars() {
        match character {
            '\\' | '[' | ']' => out.push('\\'),
            '{' | '}' => out.push(character),
            _ => {}
        }
        out.push(character);
    }
    out
}

/// A path as a relative reference: characters that RFC 3986 does not allow in a path are percent-encoded.
pub(crate) fn uri(path: &str) -> String {
    path.replace('\\', "/")
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}
