//! The text of files that a snippet opens: the columns, keys and lines that it then asks for.

use twincell_sketch::environment::Node;
use twincell_sketch::{Scene, Source, json};
use twincell_values::value::Recipe;

use crate::reading::Reading;

/// What opens a file, and what reads an open one.
const TABLES: &[&str] = &["pandas.read_csv", "pandas.read_table"];

/// What a person would put into a file that the snippet opens under a name, or on a line. `None` if nothing is known.
pub(crate) fn text_of_file(reading: &Reading, name: &str, line: u32, scene: &Scene) -> Option<String> {
    let sketch = &reading.sketch;
    let is_named = |source: &&Source| {
        let first = source.arguments(sketch).first().and_then(|id| sketch.value(*id).known.clone());
        first == Some(Recipe::Str(name.to_owned()))
    };
    let opened = sketch.sources.iter().filter(|source| is_opening(&source.origin));
    let opened: Vec<&Source> = opened.filter(|source| is_named(source) || source.line == line).collect();
    opened.into_iter().find_map(|source| content(reading, source, scene))
}

fn is_opening(origin: &str) -> bool {
    matches!(origin, "open" | "io.open" | "codecs.open")
        || TABLES.contains(&origin)
        || origin.starts_with("pathlib.Path().") && matches!(origin.rsplit('.').next(), Some("open" | "read_text"))
}

fn content(reading: &Reading, source: &Source, scene: &Scene) -> Option<String> {
    let sketch = &reading.sketch;
    if TABLES.contains(&source.origin.as_str()) {
        let Some(Recipe::Made(frame)) = sketch.node(source.value, "frame", scene).value else { return None };
        let Some(Recipe::Dict(columns)) = frame.arguments.first() else { return None };
        return Some(of_columns(columns)).filter(|_| !columns.is_empty());
    }
    let reader = sketch.sources.iter().find(|other| {
        let is_reader = matches!(
            other.origin.as_str(),
            "csv.DictReader" | "csv.reader" | "json.load" | "yaml.safe_load" | "yaml.load"
        );
        is_reader && other.arguments(sketch).first().is_some_and(|&file| sketch.is_same(file, source.value))
    });
    let Some(reader) = reader else {
        let value = sketch.value(source.value);
        let is_known = value.parsed.is_some() || value.kind.is_some();
        let rows = sketch.node(source.value, "text", scene);
        let lines = match &rows.value {
            Some(Recipe::Str(text)) if is_known => vec![text.clone()],
            Some(Recipe::Int(number)) => vec![number.to_string()],
            Some(Recipe::List(_)) if value.element.is_some_and(|line| !sketch.conditions_of(line).is_empty()) => {
                rows.items.iter().map(|(_, row)| cell(row)).collect()
            }
            _ => return None,
        };
        return Some(lines.join("\n") + "\n");
    };
    let node = sketch.node(reader.value, "row", scene);
    match reader.origin.as_str() {
        "csv.DictReader" => {
            let rows: Vec<&Node> = node.items.iter().map(|(_, row)| row).collect();
            let mut names: Vec<String> = Vec::new();
            for (name, _) in rows.iter().flat_map(|row| entries(row)) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let mut text = line_of(names.iter().cloned());
            for row in rows {
                let entries = entries(row);
                let of = |name: &String| {
                    entries.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap_or_default()
                };
                text += &line_of(names.iter().map(of));
            }
            Some(text).filter(|_| !names.is_empty())
        }
        "csv.reader" => {
            let row = |(_, row): &(String, Node)| {
                let cells: Vec<String> = row.items.iter().map(|(_, item)| cell(item)).collect();
                line_of(cells.into_iter())
            };
            let mut rows: Vec<String> = node.items.iter().map(row).filter(|row| row.len() > 1).collect();
            // The first one may be a header.
            rows.extend(rows.last().cloned());
            Some(rows.concat()).filter(|text| !text.is_empty())
        }
        _ => json(&node).map(|text| text + "\n"),
    }
}

/// The keys of a dictionary with their values as texts.
fn entries(row: &Node) -> Vec<(String, String)> {
    let Some(Recipe::Dict(entries)) = &row.value else { return vec![] };
    let key = |key: &Recipe| match key {
        Recipe::Str(key) => key.clone(),
        other => other.display(),
    };
    entries.iter().zip(&row.items).map(|((name, _), (_, item))| (key(name), cell(item))).collect()
}

fn cell(item: &Node) -> String {
    item.value.as_ref().map(plain).unwrap_or_default()
}

fn plain(value: &Recipe) -> String {
    match value {
        Recipe::Str(text) => text.clone(),
        Recipe::None => String::new(),
        other => other.display(),
    }
}

fn of_columns(columns: &[(Recipe, Recipe)]) -> String {
    let cells = |of: &Recipe| match of {
        Recipe::List(items) => items.iter().map(plain).collect(),
        other => vec![plain(other)],
    };
    let all: Vec<Vec<String>> = columns.iter().map(|(_, column)| cells(column)).collect();
    let mut text = line_of(columns.iter().map(|(name, _)| plain(name)));
    for row in 0..all.iter().map(Vec::len).max().unwrap_or(0) {
        text += &line_of(all.iter().map(|column| column.get(row).cloned().unwrap_or_default()));
    }
    text
}

fn line_of(cells: impl Iterator<Item = String>) -> String {
    let quoted = |cell: String| match cell.contains([',', '"', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    };
    cells.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}
