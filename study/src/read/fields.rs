//! The fields of a row in any format, as a change.

use serde_json::{Map, Value};

use crate::change::{Change, NoChange, Row};

/// The possible names of each field of a change, ours first. The first name that a row has counts. The second names are
/// those of ChangeGuard's data.
const NAMES: [(&str, &[&str]); 12] = [
    (
        "old",
        &[
            "old",
            "old_function",
            "old_clean_function",
            "old_code",
            "old_source",
            "old_content",
            "before",
            "code_before",
        ],
    ),
    (
        "new",
        &["new", "new_function", "new_clean_function", "new_code", "new_source", "new_content", "after", "code_after"],
    ),
    ("old_module", &["old_module", "old_file_content", "old_module_source"]),
    ("new_module", &["new_module", "new_file_content", "new_module_source"]),
    ("function", &["function", "function_name", "qualname"]),
    ("label", &["label", "annotation"]),
    ("project", &["project", "repo", "repository"]),
    ("commit", &["commit", "sha", "new_commit", "commit_id", "commit_hash"]),
    ("date", &["date", "commit_date", "committed_date"]),
    ("kind", &["kind", "rule", "category"]),
    ("file", &["file", "new_file", "path", "file_path"]),
    ("id", &["id"]),
];

/// The labels that others use, and ours.
const LABELS: [(&str, &str); 2] = [("semantics_changing", "changing"), ("semantics_preserving", "preserving")];

/// Maximum sizes in bytes. A person did not write a larger function or file.
const LONGEST_FUNCTION: usize = 1 << 20;
const LONGEST_MODULE: usize = 16 << 20;

/// Whether a column can be a field of a change.
pub fn is_known(name: &str) -> bool {
    NAMES.iter().any(|(_, names)| names.contains(&name))
}

fn names_of(field: &str) -> &'static [&'static str] {
    NAMES.iter().find(|(name, _)| *name == field).map_or(&[], |(_, names)| names)
}

/// Whether these columns hold both versions. Otherwise one line says what is missing.
pub fn check_columns<'a>(columns: impl Iterator<Item = &'a str> + Clone) -> Result<(), String> {
    let known = |wanted: &str| {
        let names = names_of(wanted);
        columns.clone().any(|column| names.contains(&column))
    };
    for wanted in ["old", "new"] {
        if !known(wanted) {
            const NAMED: usize = 20;
            const LONGEST: usize = 40;
            let shown = |name: &str| name.chars().take(LONGEST).collect::<String>();
            let there: Vec<String> = columns.clone().take(NAMED).map(shown).collect();
            if there.iter().all(String::is_empty) {
                return Err("it holds no columns".to_owned());
            }
            let there = there.join(", ");
            return Err(format!(
                "there is no column `{wanted}` with the text of the function (known names are {}); there are {there}",
                names_of(wanted).join(", ")
            ));
        }
    }
    Ok(())
}

/// The place of a row: `line 7`.
#[derive(Debug, Clone, Copy)]
pub struct RowPlace {
    pub unit: &'static str,
    pub number: usize,
}

impl RowPlace {
    /// A row that is not a change, and why.
    pub fn wrong(self, id: Option<&Value>, what: &str) -> NoChange {
        NoChange { number: self.number, id: self.id(id), unit: Some(self.unit), what: what.to_owned() }
    }

    /// The message for a row that is not an object.
    fn expected(self) -> &'static str {
        match self.unit {
            "line" => r#"write one object a line, {"old": "...", "new": "..."}"#,
            _ => r#"give an object, {"old": "...", "new": "..."}"#,
        }
    }

    fn id(self, id: Option<&Value>) -> Value {
        id.filter(|id| !id.is_null()).cloned().unwrap_or_else(|| Value::from(self.number))
    }
}

/// A change from the text of a JSON object.
pub fn from_json(text: &[u8], place: RowPlace) -> Row {
    let value: Value = serde_json::from_slice(text).map_err(|error| {
        let at = if error.is_eof() {
            "it ends too early".to_owned()
        } else if has_half_pair(before(text, &error)) {
            format!("half of a surrogate pair at column {}, which no Python file can hold", error.column())
        } else {
            format!("wrong at column {}", error.column())
        };
        place.wrong(None, &format!("it is not JSON ({at}); {}", place.expected()))
    })?;
    match value {
        Value::Object(fields) => from_fields(fields, place),
        other => Err(place.wrong(None, &format!("it is {}; {}", kind(&other), place.expected()))),
    }
}

/// What was read of a text until the error.
fn before<'a>(text: &'a [u8], error: &serde_json::Error) -> &'a [u8] {
    let lines = text.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
    let end = lines.map(<[u8]>::len).sum::<usize>() + error.column();
    text.get(..end).unwrap_or(text)
}

/// Whether escapes of JSON stand for half of a surrogate pair: `\ud83d` without `\ude00`.
fn has_half_pair(text: &[u8]) -> bool {
    let is_half = |units: &mut Vec<u16>| char::decode_utf16(units.drain(..)).any(|decoded| decoded.is_err());
    let (mut rest, mut units) = (text, Vec::new());
    while let Some((_, after)) = rest.split_first() {
        if let Some((unit, after)) = escaped_unit(rest) {
            units.push(unit);
            rest = after;
            continue;
        }
        if is_half(&mut units) {
            return true;
        }
        rest = if rest.starts_with(b"\\") { after.get(1..).unwrap_or_default() } else { after };
    }
    is_half(&mut units)
}

/// The number of an escape `\u0041` that a text starts with, and what follows.
fn escaped_unit(text: &[u8]) -> Option<(u16, &[u8])> {
    let (digits, after) = text.strip_prefix(b"\\u")?.split_at_checked(4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    Some((u16::from_str_radix(digits, 16).ok()?, after))
}

/// A change from named values.
pub fn from_fields(mut fields: Map<String, Value>, place: RowPlace) -> Row {
    let id = fields.remove("id");
    let wrong = |what: &str| place.wrong(id.as_ref(), what);
    // The name that was found, and its value.
    let mut field = |name: &'static str| {
        let found = names_of(name).iter().find(|name| fields.get(**name).is_some_and(|value| !value.is_null()));
        found.and_then(|name| Some((*name, fields.get_mut(*name)?.take())))
    };
    let text = |field: Option<(&str, Value)>, longest: usize| match field {
        None => Ok(None),
        Some((name, Value::String(text))) if text.len() > longest => Err(wrong(&format!(
            "the field `{name}` has {:.1} MiB; at most {} MiB can be compared",
            text.len() as f64 / f64::from(1 << 20),
            longest >> 20
        ))),
        Some((_, Value::String(text))) => Ok(Some(text)),
        Some((name, other)) => Err(wrong(&format!("the field `{name}` is {}; give a text", kind(&other)))),
    };
    // Fields that are only shown are shown unchanged, and are never wrong.
    let shown = |field: Option<(&str, Value)>| match field {
        Some((_, Value::String(text))) => Some(text),
        Some((_, value @ (Value::Number(_) | Value::Bool(_)))) => Some(value.to_string()),
        _ => None,
    };
    let needed = |name: &str, text: Option<String>| {
        text.map(dedented)
            .ok_or_else(|| wrong(&format!("the field `{name}` is missing; give the text of the function")))
    };
    let ours = |label: String| {
        let known = LABELS.iter().find(|(theirs, _)| *theirs == label);
        known.map_or(label, |(_, ours)| (*ours).to_owned())
    };
    Ok(Change {
        number: place.number,
        old: needed("old", text(field("old"), LONGEST_FUNCTION)?)?,
        new: needed("new", text(field("new"), LONGEST_FUNCTION)?)?,
        old_module: text(field("old_module"), LONGEST_MODULE)?,
        new_module: text(field("new_module"), LONGEST_MODULE)?,
        function: text(field("function"), LONGEST_FUNCTION)?,
        label: shown(field("label")).map(ours),
        project: shown(field("project")),
        commit: shown(field("commit")),
        date: shown(field("date")),
        file: shown(field("file")),
        kind: shown(field("kind")),
        budget: None,
        id: place.id(id.as_ref()),
    })
}

/// A function as it was cut out of a class, dedented. Lines that begin further left are within texts of the code.
fn dedented(text: String) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let indentation = &first[..first.len() - first.trim_start_matches([' ', '\t']).len()];
    if indentation.is_empty() {
        return text;
    }
    text.split_inclusive('\n').map(|line| line.strip_prefix(indentation).unwrap_or(line)).collect()
}

/// JSON's name for the class of a value.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, number: usize) -> Row {
        from_json(text.as_bytes(), RowPlace { unit: "line", number })
    }

    #[test]
    fn a_change_is_read_with_or_without_the_optional_fields() {
        let change = read(r#"{"id": "a-1", "old": "def f(): 1", "new": "def f(): 2", "more": 3}"#, 7).unwrap();
        assert_eq!((change.id, change.label, change.function), (Value::from("a-1"), None, None));
        assert_eq!(read(r#"{"old": "", "new": ""}"#, 7).unwrap().id, Value::from(7));
        // Which labels count is another question.
        assert_eq!(read(r#"{"old": "", "new": "", "label": 1}"#, 7).unwrap().label.as_deref(), Some("1"));
    }

    #[test]
    fn half_of_a_surrogate_pair_is_named_and_other_mistakes_are_not_taken_for_it() {
        let said = |text: &str| read(text, 1).unwrap_err().what;
        for text in [r#"{"old": "\ud800", "new": ""}"#, r#"{"old": "\ud83d\ud83d"}"#, r#"{"old": "\ude00"}"#] {
            assert!(said(text).contains("half of a surrogate pair"), "{text}: {}", said(text));
        }
        for text in [r#"{"old": "\ud83d\ude00" 1}"#, r#"{"old": "\\ud800" 1}"#, r#"{"old": "surrogate" 1}"#] {
            assert!(said(text).contains("wrong at column"), "{text}: {}", said(text));
        }
    }

    #[test]
    fn a_bad_line_keeps_its_id_and_says_what_is_missing() {
        let no_change = read(r#"{"id": 5, "old": "x"}"#, 3).unwrap_err();
        assert_eq!((no_change.number, &no_change.id), (3, &Value::from(5)));
        assert_eq!(
            no_change.reason(),
            "line 3 is not a change: the field `new` is missing; give the text of the function"
        );
        let error = |line: &str| read(line, 4).unwrap_err();
        let none = error("nonsense");
        let reason = none.reason();
        assert_eq!(none.id, Value::from(4));
        assert!(
            reason.starts_with("line 4 is not a change: it is not JSON (wrong at column 2); write one object"),
            "{reason}"
        );
        assert!(error("{\"old\": ").what.contains("it is not JSON (it ends too early)"));
        assert!(error("[1]").reason().starts_with("line 4 is not a change: it is a list; write one object a line"));
        for (field, given) in [("old", "3"), ("function", "[1]"), ("old_module", "{}")] {
            let none = error(&format!(r#"{{"id": "x", "new": "", "old": "", "{field}": {given}}}"#));
            let reason = none.reason();
            assert_eq!(none.id, "x");
            assert!(reason.starts_with(&format!("line 4 is not a change: the field `{field}` is ")), "{reason}");
            assert!(reason.ends_with("; give a text"), "{reason}");
        }
    }

    #[test]
    fn what_changeguard_published_is_read_under_its_own_names() {
        let change = read(
            r#"{"repo": "black", "sha": "fa6c", "old_commit": "6463", "new_commit": "fa6c", "new_file": "src/a.py",
                "old_function": "\ndef f(a: int): 1", "new_function": "\ndef f(a: int): 2", "old_clean_function": "x",
                "new_clean_function": "y", "old_changed_lines": [[1, 1]], "annotation": "semantics_preserving"}"#,
            1,
        )
        .unwrap();
        assert_eq!((change.old.as_str(), change.new.as_str()), ("\ndef f(a: int): 1", "\ndef f(a: int): 2"));
        assert_eq!(change.label.as_deref(), Some("preserving"));
        let shown = [change.project, change.commit, change.file].map(Option::unwrap);
        assert_eq!(shown, ["black", "fa6c", "src/a.py"]);
        let made = r#"{"repo": "llm", "new_commit": 3, "old_clean_function": "a", "new_clean_function": "b"}"#;
        let change = read(made, 1).unwrap();
        assert_eq!((change.old.as_str(), change.commit.as_deref()), ("a", Some("3")));
    }

    #[test]
    fn a_text_that_nobody_wrote_is_no_change() {
        let long = "x".repeat(10 << 20);
        let reason = read(&format!(r#"{{"old": "", "new": "{long}"}}"#), 2).unwrap_err().reason();
        assert_eq!(reason, "line 2 is not a change: the field `new` has 10.0 MiB; at most 1 MiB can be compared");
        let reason = check_columns(["id", "before", "text"].into_iter()).unwrap_err();
        assert!(
            reason.starts_with("there is no column `new` with the text of the function (known names are new, "),
            "{reason}"
        );
        assert!(reason.ends_with("; there are id, before, text"), "{reason}");
    }

    #[test]
    fn a_function_as_it_was_cut_out_of_a_class_is_put_at_the_margin() {
        let text = "\n    def f(self):\n        return \"\"\"a\n  b\"\"\"\n\n".to_owned();
        assert_eq!(dedented(text), "\ndef f(self):\n    return \"\"\"a\n  b\"\"\"\n\n");
        assert_eq!(dedented("\tx\n".to_owned()), "x\n");
        assert_eq!(dedented("def f():\n    pass\n".to_owned()), "def f():\n    pass\n");
    }
}
