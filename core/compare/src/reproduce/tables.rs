//! Tables and arrays as source, and what compares them: by content, with their types, and with NaN equal to NaN.

use twincell_engine::observed::{INDEX, NAMES, Observed, VALUES, WRITTEN};

use super::python::{plain, string};

/// What compares frames and series of polars, by its name in `polars.testing`.
pub(super) const POLARS_FRAME_EQUAL: &str = "assert_frame_equal";
pub(super) const POLARS_SERIES_EQUAL: &str = "assert_series_equal";

/// A table or an array as source, with the function that compares with it and how.
pub(super) struct TableSource {
    /// `pd.testing.assert_frame_equal`.
    pub function: &'static str,
    pub literal: String,
    /// Further arguments of the function, each after a comma.
    pub how: &'static str,
}

/// A value that is a table or an array as a whole. `None` for any other, and for what cannot be written.
pub(super) fn written(value: &Observed) -> Option<TableSource> {
    let Observed::Object { class, attributes } = value else { return None };
    let (columns, labels): (Vec<_>, Vec<_>) =
        attributes.iter().partition(|(name, _)| !name.starts_with('[') || name == VALUES);
    let (mut index, mut names) = (None, None);
    for (name, value) in labels {
        match name.as_str() {
            INDEX => index = Some(list(value)?.0),
            NAMES => names = Some(value),
            // Values that are not shown.
            _ => return None,
        }
    }
    if let Some(names) = names {
        let Observed::List(names) = names else { return None };
        let [name] = names.as_slice() else { return None };
        index = Some(format!("pd.Index({}, name={})", index?, plain(name)?));
    }
    let index = index.map(|index| format!(", index={index}")).unwrap_or_default();
    // An exact comparison also tells numbers apart that are almost equal.
    let (exact, loose) = (", check_exact=True", ", check_exact=True, check_dtype=False, check_index_type=False");
    match class.as_str() {
        "DataFrame" => {
            let mut entries = Vec::new();
            let mut is_plain = true;
            for (name, values) in columns {
                let (values, has_own_type) = list(values)?;
                is_plain &= has_own_type;
                entries.push(format!("{}: {values}", string(name)));
            }
            let literal = format!("pd.DataFrame({{{}}}{index})", entries.join(", "));
            let how = if is_plain { exact } else { loose };
            Some(TableSource { function: "pd.testing.assert_frame_equal", literal, how })
        }
        "Series" => {
            let [(_, values), rest @ ..] = columns.as_slice() else { return None };
            let (values, is_plain) = list(values)?;
            let name = match rest {
                [] => String::new(),
                [(_, name)] => format!(", name={}", plain(name)?),
                _ => return None,
            };
            let literal = format!("pd.Series({values}{index}{name})");
            let how = if is_plain { exact } else { loose };
            Some(TableSource { function: "pd.testing.assert_series_equal", literal, how })
        }
        "polars.DataFrame" => {
            let (mut data, mut schema) = (Vec::new(), Vec::new());
            for (name, values) in columns {
                let (kind, values) = typed(values)?;
                data.push(format!("{}: {values}", string(name)));
                schema.push(format!("{}: {kind}", string(name)));
            }
            let literal = format!("pl.DataFrame({{{}}}, schema={{{}}})", data.join(", "), schema.join(", "));
            Some(TableSource { function: POLARS_FRAME_EQUAL, literal, how: exact })
        }
        "polars.Series" => {
            let [(_, values), rest @ ..] = columns.as_slice() else { return None };
            let (kind, values) = typed(values)?;
            let name = match rest {
                [] => String::new(),
                [(_, name)] => format!("{}, ", plain(name)?),
                _ => return None,
            };
            let literal = format!("pl.Series({name}{values}, dtype={kind})");
            Some(TableSource { function: POLARS_SERIES_EQUAL, literal, how: exact })
        }
        "ndarray" => {
            let [(_, values)] = columns.as_slice() else { return None };
            let Observed::Object { class, .. } = values else { return None };
            let (values, _) = list(values)?;
            let literal = format!("np.array({values}, dtype={})", string(class));
            Some(TableSource { function: "np.testing.assert_array_equal", literal, how: "" })
        }
        _ => None,
    }
}

/// The values of a column as a list, and whether a list of them has the same type.
fn list(values: &Observed) -> Option<(String, bool)> {
    let Observed::Object { class, attributes } = values else { return None };
    let [(name, Observed::List(items))] = attributes.as_slice() else { return None };
    if name != VALUES || class.starts_with("category") || class == "levels" {
        return None;
    }
    let cells: Vec<String> = items.iter().map(cell).collect::<Option<_>>()?;
    let all = |holds: fn(&Observed) -> bool| !items.is_empty() && items.iter().all(holds);
    let has_own_type = match class.as_str() {
        "int64" => all(|item| matches!(item, Observed::Int(_))),
        "float64" => all(|item| matches!(item, Observed::Float(_))),
        "bool" => all(|item| matches!(item, Observed::Bool(_))),
        "str" => all(|item| matches!(item, Observed::Str(_))),
        _ => false,
    };
    Some((format!("[{}]", cells.join(", ")), has_own_type))
}

/// The type of a column of polars and its values, as source.
fn typed(values: &Observed) -> Option<(String, String)> {
    /// Types that have others within them or parameters that cannot be written in one word.
    const NESTED: [&str; 6] = ["Array", "Categor", "List", "Object", "Struct", "Unknown"];
    let Observed::Object { class, attributes } = values else { return None };
    let [(name, Observed::List(items))] = attributes.as_slice() else { return None };
    if name != VALUES || NESTED.iter().any(|nested| class.starts_with(nested)) {
        return None;
    }
    let cells: Vec<String> = items.iter().map(cell).collect::<Option<_>>()?;
    Some((format!("pl.{class}"), format!("[{}]", cells.join(", "))))
}

fn cell(value: &Observed) -> Option<String> {
    match value {
        Observed::Float(text) if text == "NaN" => Some("float('nan')".into()),
        Observed::List(items) => Some(format!("[{}]", items.iter().map(cell).collect::<Option<Vec<_>>>()?.join(", "))),
        Observed::Object { class, attributes } => match (class.as_str(), attributes.as_slice()) {
            ("NaTType", _) => Some("pd.NaT".into()),
            ("Timestamp" | "Timedelta", [(name, Observed::Str(inner))]) if name == WRITTEN => {
                Some(format!("pd.{class}({inner})"))
            }
            ("date" | "datetime" | "time" | "timedelta", [(name, Observed::Str(inner))])
                if name == WRITTEN && !inner.contains("tzinfo") =>
            {
                Some(format!("__import__('datetime').{class}({inner})"))
            }
            _ => None,
        },
        other => plain(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(class: &str, items: Vec<Observed>) -> Observed {
        Observed::Object { class: class.into(), attributes: vec![(VALUES.into(), Observed::List(items))] }
    }

    #[test]
    fn a_frame_is_written_with_its_labels_and_missing_values() {
        let float = |text: &str| Observed::Float(text.into());
        let attributes = vec![
            ("price".to_owned(), column("float64", vec![float("1.5"), float("NaN")])),
            (INDEX.to_owned(), column("int64", vec![Observed::Int("1".into()), Observed::Int("1".into())])),
        ];
        let frame = Observed::Object { class: "DataFrame".into(), attributes };
        let written = written(&frame).unwrap();
        assert_eq!(written.literal, "pd.DataFrame({'price': [1.5, float('nan')]}, index=[1, 1])");
        assert_eq!((written.function, written.how), ("pd.testing.assert_frame_equal", ", check_exact=True"));
    }

    #[test]
    fn a_frame_of_polars_is_written_with_the_types_of_its_columns() {
        let float = |text: &str| Observed::Float(text.into());
        let attributes = vec![
            ("price".to_owned(), column("Float64", vec![float("1.5"), Observed::None, float("NaN")])),
            ("kind".to_owned(), column("String", vec![Observed::Str("a".into()), Observed::None, Observed::None])),
        ];
        let written = written(&Observed::Object { class: "polars.DataFrame".into(), attributes }).unwrap();
        let (data, schema) = (
            "{'price': [1.5, None, float('nan')], 'kind': ['a', None, None]}",
            "{'price': pl.Float64, 'kind': pl.String}",
        );
        assert_eq!(written.literal, format!("pl.DataFrame({data}, schema={schema})"));
    }

    #[test]
    fn what_is_not_shown_in_full_is_not_written() {
        let attributes = vec![(VALUES.to_owned(), column("category of ['a']", vec![Observed::Str("a".into())]))];
        assert!(written(&Observed::Object { class: "Series".into(), attributes }).is_none());
        assert!(written(&Observed::Int("1".into())).is_none());
    }
}
