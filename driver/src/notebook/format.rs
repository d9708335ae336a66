//! Reads notebooks: nbformat 4, a JSON document. Only the text and the id of cells count; outputs and metadata do not.

use serde::Deserialize;
use serde_json::Value;
use twincell_syntax::cell_code;

/// Why a text is no notebook that can be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    #[error("it is not a notebook: {0}")]
    Json(String),
    #[error("its format is {0}, and only 4 is read: convert it with `jupyter nbconvert --to notebook`")]
    Version(u64),
    #[error("its language is {0}, not Python")]
    Language(String),
}

/// A cell that holds code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Its number among all cells of the notebook, from 1.
    pub number: u32,
    pub id: Option<String>,
    /// The whole text.
    pub text: String,
    /// What of it is Python. `None` for `%%bash` and the like.
    pub code: Option<String>,
}

#[derive(Deserialize)]
struct Document {
    nbformat: u64,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    cells: Vec<AnyCell>,
}

#[derive(Deserialize)]
struct AnyCell {
    cell_type: CellType,
    #[serde(default)]
    id: Option<String>,
    source: Text,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum CellType {
    Code,
    #[serde(other)]
    Other,
}

/// A text may be written as a list of its lines.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Whole(String),
    Lines(Vec<String>),
}

/// The cells of a notebook that hold code.
pub fn cells(json: &str) -> Result<Vec<Cell>, FormatError> {
    let document: Document = serde_json::from_str(json).map_err(|error| FormatError::Json(error.to_string()))?;
    if document.nbformat != 4 {
        return Err(FormatError::Version(document.nbformat));
    }
    let named = ["/language_info/name", "/kernelspec/language"].map(|place| document.metadata.pointer(place));
    let language = named.into_iter().flatten().find_map(Value::as_str).unwrap_or("python");
    if !matches!(language.to_lowercase().as_str(), "python" | "ipython" | "python3") {
        return Err(FormatError::Language(language.to_owned()));
    }
    let numbered = document.cells.into_iter().zip(1..).filter(|(cell, _)| cell.cell_type == CellType::Code);
    let cells = numbered.map(|(cell, number)| {
        let text = match cell.source {
            Text::Whole(text) => text,
            Text::Lines(lines) => lines.concat(),
        };
        Cell { number, id: cell.id, code: cell_code(&text), text }
    });
    Ok(cells.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_counts_and_cells_are_numbered_as_they_stand() {
        let json = r##"{"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": 7}, "cells": [
            {"cell_type": "markdown", "id": "m", "metadata": {}, "source": ["# A title"]},
            {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": 3, "source": ["x = 1\n", "y = 2"],
             "outputs": ["anything"]},
            {"cell_type": "code", "metadata": {}, "source": "%%bash\nls"},
            {"cell_type": "unknown", "source": ""}
        ]}"##;
        let [first, second] = cells(json).unwrap().try_into().unwrap();
        assert_eq!((first.number, first.id.as_deref(), first.text.as_str()), (2, Some("a"), "x = 1\ny = 2"));
        assert_eq!((second.number, second.id, second.code), (3, None, None));
    }

    #[test]
    fn what_is_no_notebook_of_python_is_refused_in_one_line() {
        let error = |json: &str| {
            let error = cells(json).unwrap_err().to_string();
            assert!(!error.contains('\n'), "{error}");
            error
        };
        assert!(error("{").starts_with("it is not a notebook: EOF"));
        assert!(error("[]").starts_with("it is not a notebook: "));
        assert!(error(&"[".repeat(100_000)).starts_with("it is not a notebook: "));
        assert!(error(r#"{"nbformat": 4, "cells": [{"cell_type": "code"}]}"#).contains("source"));
        assert!(error(r#"{"nbformat": 3, "worksheets": []}"#).starts_with("its format is 3"));
        let language = r#"{"nbformat": 4, "metadata": {"language_info": {"name": "R"}}, "cells": []}"#;
        assert_eq!(error(language), "its language is R, not Python");
    }
}
