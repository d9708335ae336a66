//! One line of a study: a change in, its verdict out. Nothing here reads files or runs threads.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use twincell_core::compare::{CompareOptions, Source};
use twincell_core::engine::protocol::Context;
use twincell_core::report::{Comparison, Evidence, LineReport, PairReport, Verdict};

use super::metrics::Label;

/// What a line that is no change is told.
const EXPECTED: &str = r#"write one object a line, {"old": "...", "new": "..."}"#;

/// A change, as a line of the input holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Any JSON value; the line's number when there is none.
    pub id: Value,
    /// Text of one function, with its decorators.
    pub old: String,
    pub new: String,
    pub old_module: Option<String>,
    pub new_module: Option<String>,
    /// Qualified name of the function in the modules.
    pub function: Option<String>,
    pub label: Option<String>,
}

/// What a study says about a change: a line of the output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub id: Value,
    pub verdict: Verdict,
    pub reason: String,
    pub evidence: Vec<Evidence>,
    pub executions: u32,
    /// Share of executable lines of both versions that ran, 0 to 1.
    pub coverage: f64,
    /// Share of changed lines of both versions that ran, 0 to 1; null when no line that runs was changed.
    pub changed_lines_reached: Option<f64>,
    pub milliseconds: f64,
    /// `holds`, `unknown: why` or `none: why`; null where nothing changed.
    pub reproducer: Option<String>,
}

/// Reads one line; `number` counts from 1. An error is one line for people, in words of JSON.
pub fn read_change(line: &str, number: usize) -> Result<Change, (Value, String)> {
    let wrong = |id: Option<&Value>, what: &str| {
        let id = id.filter(|id| !id.is_null()).cloned().unwrap_or_else(|| Value::from(number));
        (id, format!("line {number} is no change: {what}"))
    };
    let value: Value = serde_json::from_str(line).map_err(|error| {
        let at =
            if error.is_eof() { "it ends too early".into() } else { format!("wrong at column {}", error.column()) };
        wrong(None, &format!("it is not JSON ({at}); {EXPECTED}"))
    })?;
    let Value::Object(fields) = &value else {
        return Err(wrong(None, &format!("it is {}; {EXPECTED}", kind(&value))));
    };
    let id = fields.get("id");
    let text = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(wrong(id, &format!("the field `{name}` is {}; give a text", kind(other)))),
    };
    let needed = |name: &str| {
        text(name)?.ok_or_else(|| wrong(id, &format!("the field `{name}` is missing; give the text of the function")))
    };
    Ok(Change {
        id: id.filter(|id| !id.is_null()).cloned().unwrap_or_else(|| Value::from(number)),
        old: needed("old")?,
        new: needed("new")?,
        old_module: text("old_module")?,
        new_module: text("new_module")?,
        function: text("function")?,
        label: text("label")?,
    })
}

/// What JSON calls a value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl Change {
    pub fn label(&self) -> Option<Label> {
        match self.label.as_deref() {
            Some("changing") => Some(Label::Changing),
            Some("preserving") => Some(Label::Preserving),
            _ => None,
        }
    }

    /// What is compared, and with which options. Modules count only where the context asks for them; a change without
    /// both modules is compared by its texts alone.
    pub fn sources(&self, options: &CompareOptions) -> (Source, Source, CompareOptions) {
        let modules = match (options.context, &self.old_module, &self.new_module) {
            (Context::Module, Some(old), Some(new)) => Some((old.clone(), new.clone())),
            _ => None,
        };
        let function = modules.as_ref().and(self.function.clone());
        let (old_module, new_module) = modules.unzip();
        let old = Source { text: self.old.clone(), module: old_module, label: "old".to_owned() };
        let new = Source { text: self.new.clone(), module: new_module, label: "new".to_owned() };
        (old, new, CompareOptions { function, ..options.clone() })
    }
}

impl Finding {
    pub fn new(id: Value, comparison: &Comparison, milliseconds: f64) -> Self {
        let pairs = &comparison.pairs;
        let decisive = pairs.iter().find(|pair| pair.verdict == comparison.verdict);
        let lines = || pairs.iter().flat_map(|pair| pair.old.lines.iter().chain(&pair.new.lines));
        let ran = |wanted: &dyn Fn(&LineReport) -> bool| {
            let of_interest = lines().filter(|line| line.executable && wanted(line));
            let (ran, all) =
                of_interest.fold((0, 0), |(ran, all), line| (ran + u32::from(line.executions > 0), all + 1));
            (all > 0).then(|| f64::from(ran) / f64::from(all))
        };
        Self {
            id,
            verdict: comparison.verdict,
            reason: decisive.map_or(&comparison.sentence, |pair| &pair.reason).clone(),
            evidence: comparison.evidence().cloned().collect(),
            executions: pairs.iter().map(executions).sum(),
            coverage: ran(&|_| true).map_or(0.0, thousandths),
            changed_lines_reached: ran(&|line| line.changed).map(thousandths),
            milliseconds: thousandths(milliseconds),
            reproducer: pairs
                .iter()
                .find(|pair| pair.verdict == Verdict::Changing)
                .map(|pair| crate::reproducers::status(pair.reproducer.as_ref())),
        }
    }

    /// For a change that could not be compared.
    pub fn failed(id: Value, reason: String, milliseconds: f64) -> Self {
        Self {
            id,
            verdict: Verdict::Inconclusive,
            reason,
            evidence: Vec::new(),
            executions: 0,
            coverage: 0.0,
            changed_lines_reached: None,
            milliseconds: thousandths(milliseconds),
            reproducer: None,
        }
    }
}

fn executions(pair: &PairReport) -> u32 {
    pair.executed
}

fn thousandths(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{comparison, line, pair};

    #[test]
    fn a_change_is_read_with_or_without_the_optional_fields() {
        let change = read_change(r#"{"id": "a-1", "old": "def f(): 1", "new": "def f(): 2", "more": 3}"#, 7).unwrap();
        assert_eq!((change.id, change.label, change.function), (Value::from("a-1"), None, None));
        assert_eq!(read_change(r#"{"old": "", "new": ""}"#, 7).unwrap().id, Value::from(7));
    }

    #[test]
    fn a_bad_line_keeps_its_id_and_says_what_is_missing() {
        let (id, reason) = read_change(r#"{"id": 5, "old": "x"}"#, 3).unwrap_err();
        assert_eq!(id, Value::from(5));
        assert_eq!(reason, "line 3 is no change: the field `new` is missing; give the text of the function");
        let told = |line: &str| read_change(line, 4).unwrap_err();
        let (id, reason) = told("nonsense");
        assert_eq!(id, Value::from(4));
        assert!(
            reason.starts_with("line 4 is no change: it is not JSON (wrong at column 2); write one object"),
            "{reason}"
        );
        assert!(told("{\"old\": ").1.contains("it is not JSON (it ends too early)"));
        assert!(told("[1]").1.starts_with("line 4 is no change: it is a list; write one object a line"));
        for (field, given) in [("old", "3"), ("function", "[1]"), ("label", "true"), ("old_module", "{}")] {
            let (id, reason) = told(&format!(r#"{{"id": "x", "new": "", "old": "", "{field}": {given}}}"#));
            assert_eq!(id, "x");
            assert!(reason.starts_with(&format!("line 4 is no change: the field `{field}` is ")), "{reason}");
            assert!(reason.ends_with("; give a text"), "{reason}");
        }
    }

    #[test]
    fn modules_count_only_in_module_context() {
        let change = read_change(
            r#"{"old": "def f(): 1", "new": "def f(): 2", "old_module": "o", "new_module": "n", "function": "C.f"}"#,
            1,
        )
        .unwrap();
        let alone = CompareOptions { context: Context::Function, ..Default::default() };
        let (old, new, options) = change.sources(&alone);
        assert_eq!((old.module, new.module, options.function), (None, None, None));

        let (old, new, options) = change.sources(&CompareOptions { context: Context::Module, ..alone });
        assert_eq!((old.module.as_deref(), new.module.as_deref()), (Some("o"), Some("n")));
        assert_eq!(options.function.as_deref(), Some("C.f"));

        let half = Change { old_module: None, ..change };
        let (old, new, options) = half.sources(&CompareOptions::default());
        assert_eq!((old.module, new.module, options.function), (None, None, None));
    }

    #[test]
    fn shares_are_of_executable_lines_of_both_versions() {
        let mut pair = pair(Verdict::LikelyPreserving);
        pair.old.lines = vec![line(1, false, true, 3), line(2, true, true, 0), line(3, true, false, 0)];
        pair.new.lines = vec![line(1, false, true, 3), line(2, true, true, 2)];
        let finding = Finding::new(Value::from(1), &comparison(vec![pair]), 1.23456);
        assert_eq!(finding.coverage, 0.75);
        assert_eq!(finding.changed_lines_reached, Some(0.5));
        assert_eq!(finding.milliseconds, 1.235);
    }

    #[test]
    fn the_reason_is_that_of_the_pair_that_decided() {
        let mut changing = pair(Verdict::Changing);
        changing.reason = "returns differ".to_owned();
        let finding = Finding::new(Value::Null, &comparison(vec![pair(Verdict::Identical), changing]), 0.0);
        assert_eq!((finding.verdict, finding.reason.as_str()), (Verdict::Changing, "returns differ"));
        assert_eq!(Finding::new(Value::Null, &comparison(vec![]), 0.0).changed_lines_reached, None);
    }

    #[test]
    fn the_output_has_the_documented_fields() {
        let finding = Finding::new(Value::from("x"), &comparison(vec![pair(Verdict::LikelyPreserving)]), 0.0);
        let json = serde_json::to_value(&finding).unwrap();
        let names: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
        let documented = "id verdict reason evidence executions coverage changed_lines_reached milliseconds reproducer";
        assert_eq!(names.join(" "), documented);
        assert_eq!(json["verdict"], "likely_preserving");
    }
}
