//! Fields of a row, whatever the format, as a change.

use serde_json::{Map, Value};

use super::super::change::{Change, NoChange, Row};

/// What a row that is no object is told.
const EXPECTED: &str = r#"write one object a line, {"old": "...", "new": "..."}"#;

/// Where a row stands: `line 7`.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub unit: &'static str,
    pub number: usize,
}

impl Place {
    /// A row that is no change, and why.
    pub fn wrong(self, id: Option<&Value>, what: &str) -> NoChange {
        NoChange {
            number: self.number,
            id: self.id(id),
            reason: format!("{} {} is no change: {what}", self.unit, self.number),
        }
    }

    fn id(self, id: Option<&Value>) -> Value {
        id.filter(|id| !id.is_null()).cloned().unwrap_or_else(|| Value::from(self.number))
    }
}

/// A change from the text of a JSON object.
pub fn from_json(text: &[u8], place: Place) -> Row {
    let value: Value = serde_json::from_slice(text).map_err(|error| {
        let at =
            if error.is_eof() { "it ends too early".into() } else { format!("wrong at column {}", error.column()) };
        place.wrong(None, &format!("it is not JSON ({at}); {EXPECTED}"))
    })?;
    match value {
        Value::Object(fields) => from_fields(fields, place),
        other => Err(place.wrong(None, &format!("it is {}; {EXPECTED}", kind(&other)))),
    }
}

/// A change from named values.
pub fn from_fields(mut fields: Map<String, Value>, place: Place) -> Row {
    let id = fields.remove("id");
    let mut text = |name: &str| match fields.get_mut(name).map(Value::take) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(place.wrong(id.as_ref(), &format!("the field `{name}` is {}; give a text", kind(&other)))),
    };
    let needed = |name: &str, text: Option<String>| {
        text.ok_or_else(|| {
            place.wrong(id.as_ref(), &format!("the field `{name}` is missing; give the text of the function"))
        })
    };
    Ok(Change {
        number: place.number,
        old: needed("old", text("old")?)?,
        new: needed("new", text("new")?)?,
        old_module: text("old_module")?,
        new_module: text("new_module")?,
        function: text("function")?,
        label: text("label")?,
        project: text("project")?,
        commit: text("commit")?,
        file: text("file")?,
        id: place.id(id.as_ref()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, number: usize) -> Row {
        from_json(text.as_bytes(), Place { unit: "line", number })
    }

    #[test]
    fn a_change_is_read_with_or_without_the_optional_fields() {
        let change = read(r#"{"id": "a-1", "old": "def f(): 1", "new": "def f(): 2", "more": 3}"#, 7).unwrap();
        assert_eq!((change.id, change.label, change.function), (Value::from("a-1"), None, None));
        assert_eq!(read(r#"{"old": "", "new": ""}"#, 7).unwrap().id, Value::from(7));
    }

    #[test]
    fn a_bad_line_keeps_its_id_and_says_what_is_missing() {
        let no_change = read(r#"{"id": 5, "old": "x"}"#, 3).unwrap_err();
        assert_eq!((no_change.number, no_change.id), (3, Value::from(5)));
        assert_eq!(no_change.reason, "line 3 is no change: the field `new` is missing; give the text of the function");
        let told = |line: &str| read(line, 4).unwrap_err();
        let NoChange { id, reason, .. } = told("nonsense");
        assert_eq!(id, Value::from(4));
        assert!(
            reason.starts_with("line 4 is no change: it is not JSON (wrong at column 2); write one object"),
            "{reason}"
        );
        assert!(told("{\"old\": ").reason.contains("it is not JSON (it ends too early)"));
        assert!(told("[1]").reason.starts_with("line 4 is no change: it is a list; write one object a line"));
        for (field, given) in [("old", "3"), ("function", "[1]"), ("label", "true"), ("old_module", "{}")] {
            let NoChange { id, reason, .. } =
                told(&format!(r#"{{"id": "x", "new": "", "old": "", "{field}": {given}}}"#));
            assert_eq!(id, "x");
            assert!(reason.starts_with(&format!("line 4 is no change: the field `{field}` is ")), "{reason}");
            assert!(reason.ends_with("; give a text"), "{reason}");
        }
    }
}
