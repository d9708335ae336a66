//! Reads notebooks: nbformat 4, a JSON document. Only the text and the id of cells count; outputs and metadata do not.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
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
    metadata: Lenient<Metadata>,
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

/// A text, which may be written as a list of its lines.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lines;
        impl<'de> Visitor<'de> for Lines {
            type Value = Text;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text or a list of its lines")
            }

            fn visit_str<E>(self, text: &str) -> Result<Text, E> {
                Ok(Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut lines: A) -> Result<Text, A::Error> {
                let mut text = String::new();
                while let Some(line) = lines.next_element::<String>()? {
                    text.push_str(&line);
                }
                Ok(Text(text))
            }
        }
        deserializer.deserialize_any(Lines)
    }
}

/// What a notebook says of its language. Whatever else is there, or is of another kind, is passed over without being kept.
#[derive(Default)]
struct Metadata {
    language_info: Named,
    kernelspec: Named,
}

#[derive(Default)]
struct Named {
    name: Option<String>,
    language: Option<String>,
}

/// A part of the metadata, read from a text or a mapping. Anything else is nothing.
trait Part: Default {
    fn of_text(_text: &str) -> Self {
        Self::default()
    }

    fn read<'de, A: MapAccess<'de>>(&mut self, _key: &str, map: &mut A) -> Result<(), A::Error> {
        map.next_value::<IgnoredAny>().map(drop)
    }
}

impl Part for Option<String> {
    fn of_text(text: &str) -> Self {
        Some(text.to_owned())
    }
}

impl Part for Named {
    fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "name" => self.name = map.next_value::<Lenient<_>>()?.0,
            "language" => self.language = map.next_value::<Lenient<_>>()?.0,
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

impl Part for Metadata {
    fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "language_info" => self.language_info = map.next_value::<Lenient<_>>()?.0,
            "kernelspec" => self.kernelspec = map.next_value::<Lenient<_>>()?.0,
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

#[derive(Default)]
struct Lenient<T>(T);

impl<'de, T: Part> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<T>(PhantomData<T>);
        impl<'de, T: Part> Visitor<'de> for Any<T> {
            type Value = T;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("anything")
            }

            fn visit_bool<E>(self, _: bool) -> Result<T, E> {
                Ok(T::default())
            }

            fn visit_i64<E>(self, _: i64) -> Result<T, E> {
                Ok(T::default())
            }

            fn visit_u64<E>(self, _: u64) -> Result<T, E> {
                Ok(T::default())
            }

            fn visit_f64<E>(self, _: f64) -> Result<T, E> {
                Ok(T::default())
            }

            fn visit_unit<E>(self) -> Result<T, E> {
                Ok(T::default())
            }

            fn visit_str<E>(self, text: &str) -> Result<T, E> {
                Ok(T::of_text(text))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<T, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(T::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
                let mut found = T::default();
                while let Some(key) = map.next_key::<String>()? {
                    found.read(&key, &mut map)?;
                }
                Ok(found)
            }
        }
        deserializer.deserialize_any(Any(PhantomData)).map(Self)
    }
}

/// The cells of a notebook that hold code.
pub fn cells(json: &str) -> Result<Vec<Cell>, FormatError> {
    let document: Document = serde_json::from_str(json).map_err(|error| FormatError::Json(error.to_string()))?;
    if document.nbformat != 4 {
        return Err(FormatError::Version(document.nbformat));
    }
    let Metadata { language_info, kernelspec } = document.metadata.0;
    let language = language_info.name.or(kernelspec.language).unwrap_or_else(|| "python".to_owned());
    if !matches!(language.to_lowercase().as_str(), "python" | "ipython" | "python3") {
        return Err(FormatError::Language(language));
    }
    let numbered = document.cells.into_iter().zip(1..).filter(|(cell, _)| cell.cell_type == CellType::Code);
    let cells = numbered.map(|(cell, number)| {
        let Text(text) = cell.source;
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
    fn metadata_of_any_kind_is_passed_over() {
        let read = |metadata: &str| cells(&format!(r#"{{"nbformat": 4, "metadata": {metadata}, "cells": []}}"#));
        for metadata in [
            "7",
            "[[], {}, null]",
            "\"x\"",
            "null",
            r#"{"language_info": [1.5], "kernelspec": {"language": {"a": -1}}}"#,
        ] {
            assert_eq!(read(metadata), Ok(vec![]), "{metadata}");
        }
        let named = r#"{"language_info": {"name": 3}, "kernelspec": {"language": "julia"}, "more": {"a": [true]}}"#;
        assert_eq!(read(named), Err(FormatError::Language("julia".into())));
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
