//! Files of examples and of recorded inputs, read with bounds. An error is one line with the file and the line.

use std::path::{Component, Path};
use std::sync::Arc;

use twincell_compare::{ExampleSource, Examples, GivenCall};
use twincell_values::reading::examples::{Call, calls_of_json, calls_of_python, calls_of_records};

use crate::files;

/// The maximum size of a file of examples, and of recorded inputs.
const MAX_EXAMPLES: u64 = 8 << 20;
const MAX_RECORDED: u64 = 64 << 20;

/// The calls in a file that a person wrote: JSON, JSON lines, or else Python.
pub fn read(path: &Path) -> Result<Vec<GivenCall>, String> {
    let label = path.display().to_string();
    let text = text(path, MAX_EXAMPLES)?;
    let wrong = |line: usize, what: &str| format!("{label}, line {line}: {what}");
    let calls = match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => calls_of_json(&text).map_err(|error| wrong(error.line, &error.what))?,
        Some("jsonl") => calls_of_records(&text).map_err(|error| wrong(error.line, &error.what))?,
        _ => match calls_of_python(&text) {
            (_, errors) if !errors.is_empty() => return Err(wrong(errors[0].line as usize, &errors[0].message)),
            (calls, _) => calls,
        },
    };
    Ok(of_file(calls, &label))
}

/// The calls that `twincell record` wrote.
pub fn read_recorded(path: &Path) -> Result<Vec<GivenCall>, String> {
    let text = text(path, MAX_RECORDED)?;
    let calls = calls_of_records(&text).map_err(|error| {
        format!("{}, line {}: {}; give a file that twincell record wrote", path.display(), error.line, error.what)
    })?;
    let given = |call: Call| GivenCall {
        source: ExampleSource::Recorded { test: call.test.clone().unwrap_or_default() },
        call,
    };
    Ok(calls.into_iter().map(given).collect())
}

/// Calls that a program gave as JSON lines. They are known by their numbers.
pub fn given_as_text(text: &str) -> Result<Vec<GivenCall>, String> {
    let calls = calls_of_records(text).map_err(|error| format!("example {}: {}", error.line, error.what))?;
    Ok(of_file(calls, "examples"))
}

fn of_file(calls: Vec<Call>, label: &str) -> Vec<GivenCall> {
    let given =
        |call: Call| GivenCall { source: ExampleSource::File { label: label.to_owned(), line: call.line }, call };
    calls.into_iter().map(given).collect()
}

fn text(path: &Path, most: u64) -> Result<String, String> {
    if std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() > most) {
        return Err(format!("{} has more than {} MiB, the limit: give fewer examples", path.display(), most >> 20));
    }
    files::read_source(path)
}

/// The examples for the code of one file. Calls of functions that other files define are left out. If there are only such
/// calls, all of them stay where the file is a copy under another name, as one of two files may be.
pub fn of_path(given: &Examples, path: &Path) -> Examples {
    if given.calls.iter().all(|one| one.call.file.is_none()) {
        return given.clone();
    }
    let is_own = |one: &&GivenCall| one.call.file.as_ref().is_none_or(|file| ends_alike(Path::new(file), path));
    let own: Vec<GivenCall> = given.calls.iter().filter(is_own).cloned().collect();
    if own.is_empty() && !given.is_shared {
        return given.clone();
    }
    Examples { calls: Arc::new(own), ..given.clone() }
}

/// Whether one path is the other's end.
fn ends_alike(one: &Path, other: &Path) -> bool {
    let parts = |path: &Path| -> Vec<String> {
        let names = path.components().filter(|part| matches!(part, Component::Normal(_)));
        names.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let (one, other) = (parts(one), parts(other));
    one.iter().rev().zip(other.iter().rev()).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn a_file_is_read_by_its_name() {
        for (name, text) in [
            ("a.py", "\nprice(10)\n"),
            ("a.json", "[\n{\"function\": \"price\", \"args\": [10]}]"),
            ("a.jsonl", "\n{\"function\": \"price\", \"args\": [10]}\n"),
        ] {
            let (_folder, path) = written(name, text);
            let calls = read(&path).unwrap();
            let source = ExampleSource::File { label: path.display().to_string(), line: 2 };
            assert_eq!((calls.len(), &calls[0].source), (1, &source), "{name}");
        }
    }

    #[test]
    fn errors_name_file_and_line() {
        for (name, text, said) in [
            ("a.py", "price(10)\nprice(\n", ".py, line "),
            ("a.json", "{\n\"price\": [1,}", ".json, line 2: expected value"),
            ("a.jsonl", "{\"function\": \"f\"}\n{", ".jsonl, line 2: EOF"),
        ] {
            let (_folder, path) = written(name, text);
            let error = read(&path).unwrap_err();
            assert!(error.contains(said) && !error.contains('\n'), "{error}");
        }
        let error = read(Path::new("no/such.py")).unwrap_err();
        assert_eq!(error, "cannot read no/such.py: No such file or directory");
    }

    #[test]
    fn calls_of_other_files_are_left_out() {
        let call = |file: &str| GivenCall {
            call: Call { file: Some(file.into()), ..Call::default() },
            source: ExampleSource::Recorded { test: String::new() },
        };
        let calls = Arc::new(vec![call("shop/price.py"), call("shop/cart.py")]);
        let given = Examples { calls, ..Examples::default() };
        assert_eq!(of_path(&given, Path::new("/home/me/shop/cart.py")).calls.len(), 1);
        assert_eq!(of_path(&given, Path::new("/tmp/new.py")).calls.len(), 2);
        assert!(of_path(&Examples { is_shared: true, ..given }, Path::new("/repo/other/cart.py")).calls.is_empty());
    }
}
