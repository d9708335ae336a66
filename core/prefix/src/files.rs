//! The text of files that a snippet opens: the columns, keys and lines that it then asks for.

use std::collections::{BTreeMap, BTreeSet};
use twincell_sketch::environment::Node;
use twincell_sketch::{Scenario, Sketch, Source, json};

use twincell_values::value::Recipe;

use crate::lessons::Wanted;
use crate::reading::Reading;

/// What opens a file, and what reads an open one.
const TABLES: &[&str] = &["pandas.read_csv", "pandas.read_table"];

/// The text of a file: a table with the columns that runs have asked for, or else what the snippet tells of it, or else
/// something usual.
pub(crate) fn text(reading: &Reading, name: &str, wanted: &Wanted, scene: &Scenario) -> String {
    let columns = &wanted.columns;
    if columns.is_empty() {
        return text_of_file(reading, name, wanted.line, scene).unwrap_or_else(|| usual_text(name).to_owned());
    }
    if name.ends_with(".json") {
        let entries: Vec<String> = columns.iter().map(|column| format!("{}: 1", json_string(column))).collect();
        return format!("{{{}}}\n", entries.join(", "));
    }
    let row = |number: u32| line_of(columns.iter().map(|_| number.to_string()), reading);
    [line_of(columns.iter().cloned(), reading), row(1), row(2)].concat()
}

/// Whether a file may have columns that the snippet does not tell of.
pub(crate) fn may_have_columns(reading: &Reading, name: &str, wanted: &Wanted, scene: &Scenario) -> bool {
    const OTHERS: &[&str] = &["cfg", "htm", "html", "ini", "md", "py", "toml", "xml", "yaml", "yml"];
    if OTHERS.contains(&name.rsplit('.').next().unwrap_or_default()) {
        return false;
    }
    let known = text_of_file(reading, name, wanted.line, scene);
    known.is_none_or(|text| text.lines().count() < 2 && !text.starts_with(['{', '[']))
}

/// Whether a key may name a column: a word that stands on one line.
pub(crate) fn may_be_column(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || " _-.".contains(letter))
}

fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What a person would put into a file that the snippet opens under a name, or on a line. `None` if nothing is known.
pub(crate) fn text_of_file(reading: &Reading, name: &str, line: u32, scene: &Scenario) -> Option<String> {
    let sketch = &reading.sketch;
    let is_named = |source: &&Source| {
        let first = source.arguments(sketch).first().and_then(|id| sketch.value(*id).known.clone());
        first == Some(Recipe::Str(name.to_owned()))
    };
    let opened = sketch.sources.iter().filter(|source| is_opening(&source.origin));
    let opened: Vec<&Source> = opened.filter(|source| is_named(source) || source.line == line).collect();
    opened.into_iter().find_map(|source| content(reading, source, scene))
}

/// The file that the snippet opens where it has changed its working directory to a folder.
pub(crate) fn opened_within(reading: &Reading, folder: &str) -> Option<String> {
    let sketch = &reading.sketch;
    let named = |source: &Source| match sketch.value(*source.arguments(sketch).first()?).known.clone() {
        Some(Recipe::Str(text)) => Some(text),
        _ => None,
    };
    let changes = |source: &&Source| source.origin == "os.chdir" && named(source).as_deref() == Some(folder);
    let begin = sketch.sources.iter().find(changes)?.line;
    let opened = sketch.sources.iter().filter(|source| is_opening(&source.origin) && source.line > begin);
    opened.filter_map(named).find(|name| is_below(name) && !name.contains('/'))
}

/// Whether a path is of a file in the working directory, or below it.
pub(crate) fn is_below(path: &str) -> bool {
    !path.is_empty() && !path.starts_with('/') && path.split('/').all(|part| part != "..")
}

/// What the text of a file is if only its name is known.
pub(crate) fn usual_text(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("json") => "{}",
        Some("csv") => "name,value\nfirst,1\nsecond,2\n",
        Some("xml") => "<root>\n  <item name=\"first\">1</item>\n</root>\n",
        Some("ini" | "cfg") => "[section]\nkey = value\n",
        _ => "first line\nsecond line\n",
    }
}

/// The files and folders that the snippet looks for and does without: those that patterns match, folders that are
/// listed, and what it asks whether it is there.
pub(crate) fn asked_for(
    reading: &Reading,
    scene: &Scenario,
    files: &mut BTreeMap<String, String>,
    folders: &mut BTreeSet<String>,
) {
    for name in looked_for(reading, scene) {
        match name {
            Looked::Folder(name) => drop(folders.insert(name)),
            Looked::File(name, line) => {
                let text = || text(reading, &name, &Wanted { line, columns: vec![] }, scene);
                files.entry(name.clone()).or_insert_with(text);
            }
        }
    }
}

/// Whether there are such.
pub(crate) fn looks_for_files(reading: &Reading) -> bool {
    !looked_for(reading, &Scenario::default()).is_empty()
}

enum Looked {
    /// With the line that looks for it.
    File(String, u32),
    Folder(String),
}

fn looked_for(reading: &Reading, scene: &Scenario) -> Vec<Looked> {
    let sketch = &reading.sketch;
    let mut found = Vec::new();
    for source in &sketch.sources {
        let named = |source: &Source| {
            let first = *source.arguments(sketch).first()?;
            let text = match sketch.value(first).known.clone() {
                Some(known) => known,
                None => {
                    let (name, _) = sketch.free.iter().find(|(_, id)| sketch.is_same(**id, first))?;
                    sketch.node(first, name, scene).value?
                }
            };
            match text {
                Recipe::Str(text) if is_below(&text) => Some(text),
                _ => None,
            }
        };
        // `Path('folder').glob('*.txt')`
        let holder = || {
            let on_line = |other: &&Source| other.origin == "pathlib.Path" && other.line == source.line;
            sketch.sources.iter().find(on_line).and_then(named)
        };
        let file = |name: String| Looked::File(name, source.line);
        let looked = match source.origin.as_str() {
            "glob.glob" | "glob.iglob" => named(source).map(|pattern| file(matching(&pattern))),
            "pathlib.Path().glob" | "pathlib.Path().rglob" => match (holder(), named(source)) {
                (Some(folder), Some(pattern)) => Some(file(format!("{folder}/{}", matching(&pattern)))),
                _ => None,
            },
            "os.walk" | "os.path.isdir" | "os.listdir" | "os.scandir" => named(source).map(Looked::Folder),
            "pathlib.Path().iterdir" | "pathlib.Path().is_dir" => holder().map(Looked::Folder),
            "os.path.exists" | "os.path.isfile" => named(source).map(file),
            "pathlib.Path().exists" | "pathlib.Path().is_file" => holder().map(file),
            origin if is_of_paths(origin) && reads(sketch, source) => holder().map(file),
            origin if is_opening(origin) && reads(sketch, source) => named(source).map(file),
            _ => None,
        };
        found.extend(looked);
    }
    found
}

/// A name that a pattern matches.
fn matching(pattern: &str) -> String {
    let name = pattern.replace("**/", "").replace("**", "*").replace('?', "a");
    let name = if name == "*" { "first.txt".to_owned() } else { name.replace('*', "first") };
    match (name.split_once('['), name.split_once(']')) {
        (Some((before, set)), Some((_, behind))) => {
            format!("{before}{}{behind}", set.chars().next().unwrap_or('a'))
        }
        _ => name,
    }
}

/// Whether a file is not opened for writing.
fn reads(sketch: &Sketch, source: &Source) -> bool {
    let place = usize::from(!is_of_paths(&source.origin));
    let mode = source.arguments(sketch).get(place).and_then(|mode| sketch.value(*mode).known.clone());
    !matches!(mode, Some(Recipe::Str(mode)) if mode.starts_with(['a', 'w', 'x']))
}

fn is_opening(origin: &str) -> bool {
    twincell_sketch::opens(origin) || TABLES.contains(&origin) || is_of_paths(origin)
}

/// `Path('file').open()`
fn is_of_paths(origin: &str) -> bool {
    matches!(origin.strip_prefix("pathlib.Path()."), Some("open" | "read_text" | "read_bytes"))
}

fn content(reading: &Reading, source: &Source, scene: &Scenario) -> Option<String> {
    let sketch = &reading.sketch;
    if TABLES.contains(&source.origin.as_str()) {
        let Some(Recipe::Made(frame)) = sketch.node(source.value, "frame", scene).value else { return None };
        let Some(Recipe::Dict(columns)) = frame.arguments.first() else { return None };
        return Some(of_columns(columns, reading)).filter(|_| !columns.is_empty());
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
            let mut text = line_of(names.iter().cloned(), reading);
            for row in rows {
                let entries = entries(row);
                let of = |name: &String| {
                    entries.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap_or_default()
                };
                text += &line_of(names.iter().map(of), reading);
            }
            Some(text).filter(|_| !names.is_empty())
        }
        "csv.reader" => {
            let row = |(_, row): &(String, Node)| {
                let cells: Vec<String> = row.items.iter().map(|(_, item)| cell(item)).collect();
                line_of(cells.into_iter(), reading)
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
        error if twincell_sketch::is_exception(error) => "failure".to_owned(),
        other => match twincell_sketch::of_moment(other) {
            Some((_, year)) => format!("{year}-01-01"),
            None => other.display(),
        },
    }
}

fn of_columns(columns: &[(Recipe, Recipe)], reading: &Reading) -> String {
    let cells = |of: &Recipe| match of {
        Recipe::List(items) => items.iter().map(plain).collect(),
        other => vec![plain(other)],
    };
    let all: Vec<Vec<String>> = columns.iter().map(|(_, column)| cells(column)).collect();
    let mut text = line_of(columns.iter().map(|(name, _)| plain(name)), reading);
    for row in 0..all.iter().map(Vec::len).max().unwrap_or(0) {
        text += &line_of(all.iter().map(|column| column.get(row).cloned().unwrap_or_default()), reading);
    }
    text
}

/// A line of a table, with the separator that the snippet names.
fn line_of(cells: impl Iterator<Item = String>, reading: &Reading) -> String {
    let separator = reading.separator.unwrap_or(',');
    let quoted = |cell: String| match cell.contains([separator, '"', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    };
    cells.map(quoted).collect::<Vec<_>>().join(separator.encode_utf8(&mut [0; 4])) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::ending;

    #[test]
    fn a_pattern_matches_the_file_that_is_made_for_it() {
        assert_eq!(matching("folder/*.txt"), "folder/first.txt");
        assert_eq!(matching("**/*.csv"), "first.csv");
        assert_eq!((matching("*"), matching("log[0-9].txt")), ("first.txt".into(), "log0.txt".into()));
        assert_eq!(
            (ending("*.png"), ending(".py"), ending("a.py"), ending("end.")),
            (Some(".png"), Some(".py"), None, None)
        );
    }

    #[test]
    fn files_that_the_code_looks_for_are_known() {
        let text = "for p in glob.glob('in/*.csv'):\n    print(p)\nos.walk('data')\nfor q in Path('all').rglob('*'):\n    pass\n";
        let (mut files, mut folders) = Default::default();
        asked_for(&Reading::new(text), &Scenario::default(), &mut files, &mut folders);
        assert_eq!(files.into_keys().collect::<Vec<_>>(), ["all/first.txt", "in/first.csv"]);
        assert_eq!(folders.into_iter().collect::<Vec<_>>(), ["data"]);
        assert!(!looks_for_files(&Reading::new("os.walk('/tmp')\n")));
        assert!(looks_for_files(&Reading::new("Path('a.txt').read_text()\n")));
        assert!(!looks_for_files(&Reading::new("Path('a.txt').open('w')\nopen('b.txt', mode='w')\n")));
    }

    #[test]
    fn a_table_has_the_columns_that_were_asked_for() {
        let wanted = Wanted { line: 1, columns: vec!["price".into(), "full name".into()] };
        let of = |code: &str, name: &str| text(&Reading::new(code), name, &wanted, &Scenario::default());
        assert_eq!(of("open('a').read().split(';')\n", "a"), "price;full name\n1;1\n2;2\n");
        assert_eq!(of("csv.reader(f, delimiter='\\t')\n", "a"), "price\tfull name\n1\t1\n2\t2\n");
        assert_eq!(of("open('a.json')\n", "a.json"), "{\"price\": 1, \"full name\": 1}\n");
        assert!(may_be_column("full name") && !may_be_column("a\nb"));
    }
}
