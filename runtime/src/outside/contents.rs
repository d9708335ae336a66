//! Texts that the code may read: its own literals, and texts of the forms that it parses.

use crate::execution::prediction_index::PredictionIndex;

const MOST_LITERALS: usize = 8;
const LONGEST_LITERAL: usize = 40;

/// Texts of no form in particular.
const PLAIN: [&str; 6] = ["", "a", "a\n", "a b\n", "1\n", "a\nb\n"];
/// Messages of programs that fail.
const MESSAGES: [&str; 3] = ["", "", "failed\n"];

/// What asks for folders.
const FOLDERS: [&str; 14] = [
    "chdir", "exists", "glob", "is_dir", "isdir", "iterdir", "listdir", "makedirs", "mkdir", "rglob", "rmdir",
    "rmtree", "scandir", "walk",
];

/// A form of texts: what code names that parses it, and a text with these keys.
struct Form {
    names: &'static [&'static str],
    texts: fn(&[&str]) -> Vec<String>,
}

const FORMS: [Form; 4] = [
    Form { names: &["json"], texts: json },
    Form { names: &["csv"], texts: csv },
    Form { names: &["toml", "tomllib", "configparser", "ConfigParser"], texts: sections },
    Form { names: &["int", "float"], texts: numbers },
];

/// Texts for all that the code reads, or short messages.
pub(super) fn texts(index: &PredictionIndex, is_plenty: bool) -> Vec<String> {
    let literals: Vec<&str> = index
        .texts
        .iter()
        .map(String::as_str)
        .filter(|text| !text.is_empty() && text.len() <= LONGEST_LITERAL && !text.contains('\0'))
        .take(MOST_LITERALS)
        .collect();
    if !is_plenty {
        return MESSAGES.iter().copied().chain(literals).map(str::to_owned).collect();
    }
    let keys: Vec<&str> = literals.iter().copied().filter(|text| is_key(text)).collect();
    let of_forms: Vec<String> =
        FORMS.iter().filter(|form| is_named(index, form.names)).flat_map(|form| (form.texts)(&keys)).collect();
    let repeated = if of_forms.is_empty() { 0 } else { 2 };
    let formed = std::iter::repeat_n(&of_forms, repeated).flatten().cloned();
    let lines = literals.iter().flat_map(|text| [(*text).to_owned(), format!("{text}\na\n")]);
    PLAIN.map(str::to_owned).into_iter().chain(lines).chain(formed).collect()
}

/// Whether any version calls something that is there for folders.
pub(super) fn names_folders(index: &PredictionIndex) -> bool {
    is_named(index, &FOLDERS)
}

fn is_key(text: &str) -> bool {
    text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
}

/// Whether any version calls something of this name, or of a module of this name.
fn is_named(index: &PredictionIndex, names: &[&str]) -> bool {
    (0..index.versions.len()).any(|version| {
        let sites = index.versions[version].version.sites.sites.len() as u32;
        (0..sites).any(|site| {
            let path = index.path(version, site);
            let mut parts = path.as_str().split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            parts.any(|part| names.contains(&part))
        })
    })
}

fn json(keys: &[&str]) -> Vec<String> {
    let entries = |value: &str| keys.iter().map(|key| format!("\"{key}\": {value}")).collect::<Vec<_>>().join(", ");
    let objects = ["1", "\"a\"", "\"1\"", "null", "[]", "[\"a\"]"].map(|value| format!("{{{}}}", entries(value)));
    let lists = ["1", "\"a\""].map(|value| format!("[{{{}}}]", entries(value)));
    let others = ["{}", "[]", "{\"a\": 1}", "[1, 2]", "1", "\"a\"", "null"].map(str::to_owned);
    objects.into_iter().chain(lists).chain(others).collect()
}

fn csv(keys: &[&str]) -> Vec<String> {
    let names = if keys.is_empty() { vec!["a", "b"] } else { keys.to_vec() };
    let row = |value: &str| vec![value; names.len()].join(",");
    let header = names.join(",");
    ["1", "a"].map(|value| format!("{header}\n{}\n", row(value))).into_iter().chain([format!("{header}\n")]).collect()
}

fn sections(keys: &[&str]) -> Vec<String> {
    let lines = |value: &str| keys.iter().map(|key| format!("{key} = {value}\n")).collect::<String>();
    let within = |value: &str| keys.iter().map(|key| format!("[{key}]\n{}", lines(value))).collect::<String>();
    ["1", "\"a\""].into_iter().flat_map(|value| [lines(value), within(value)]).collect()
}

fn numbers(_: &[&str]) -> Vec<String> {
    ["1", "0\n", "12\n", "-1", "1.5\n", "1 2\n", "1\n2\n"].map(str::to_owned).to_vec()
}
