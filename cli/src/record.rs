//! `twincell record`: runs the user's own command, such as its tests, with a recorder in each Python that it starts, and
//! writes what functions received as JSON lines.
//!
//! The command runs as it would without twincell: in the user's environment, without a sandbox, since the user asked for
//! it. What is written is plain data.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ArgMatches;
use serde_json::{Map, Value};
use twincell_driver::files;

use crate::session::{Abort, Session};

/// What runs in each Python of the command. It stands alone, since twincell may not be installed there.
const RECORDER: &str = include_str!("../../kernel/python/twincell/_recorder.py");

/// Python imports this when it starts, since its folder is the first of `PYTHONPATH`. It makes room for the one that
/// would have been imported without it.
const START: &str = r#"
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != _here]
_own = sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize
except ImportError:
    pass
finally:
    sys.modules.setdefault("sitecustomize", _own)
_spec = importlib.util.spec_from_file_location("_twincell_recorder", os.path.join(_here, "_twincell_recorder.py"))
_recorder = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_recorder)
_recorder.begin()
"#;

/// The maximum size of what one process recorded.
const MAX_BYTES: u64 = 48 << 20;

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let command: Vec<&String> = matches.get_many::<String>("command").into_iter().flatten().collect();
    let [program, arguments @ ..] = command.as_slice() else {
        return Err(Abort::Failed("no command given: write it behind --, as in twincell record -- pytest".into()));
    };
    let out = matches.get_one::<PathBuf>("out").cloned().unwrap_or_else(|| "recorded.jsonl".into());
    let most = *matches.get_one::<u32>("calls").unwrap_or(&20) as usize;
    let root = std::env::current_dir().map_err(Abort::new)?;
    let folder = twincell_files::private::temporary("twincell-record-")
        .map_err(|error| Abort::Failed(format!("no temporary folder: {error}")))?;
    let (start, records) = (folder.path().join("start"), folder.path().join("records"));
    for made in [&start, &records] {
        twincell_files::private::make(made).map_err(Abort::new)?;
    }
    files::write_text(&start.join("sitecustomize.py"), START, files::TextKind::Python).map_err(Abort::Failed)?;
    files::write_text(&start.join("_twincell_recorder.py"), RECORDER, files::TextKind::Python)
        .map_err(Abort::Failed)?;
    let mut search = vec![start];
    search.extend(std::env::var_os("PYTHONPATH").iter().flat_map(std::env::split_paths));
    let search = std::env::join_paths(search).map_err(Abort::new)?;
    let ran = Command::new(program)
        .args(arguments)
        .env("PYTHONPATH", search)
        .env("TWINCELL_RECORD_FOLDER", &records)
        .env("TWINCELL_RECORD_ROOT", &root)
        .env("TWINCELL_RECORD_CALLS", most.to_string())
        .status()
        .map_err(|error| Abort::Failed(format!("cannot run {program}: {}", files::reason(&error))))?;
    let lines = merged(&records, most)?;
    let functions: BTreeSet<&(String, String)> = lines.iter().map(|(function, _)| function).collect();
    let text: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
    files::write_private(&out, &text, files::TextKind::Json).map_err(Abort::Failed)?;
    let place = out.display();
    writeln!(
        session.err,
        "twincell: recorded {} of {} in {place}; compare with --recorded {place}",
        counted(lines.len(), "call"),
        counted(functions.len(), "function")
    )?;
    if lines.is_empty() {
        writeln!(
            session.err,
            "twincell: nothing was recorded: functions count whose files lie below {}, tests apart",
            root.display()
        )?;
    }
    Ok(ran.code().unwrap_or(1))
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A function by its file and its name, and one recorded line.
type Recorded = ((String, String), String);

/// What all processes recorded, sorted, each call once and at most so many of a function. The order in which processes
/// ended counts for nothing.
fn merged(folder: &Path, most: usize) -> Result<Vec<Recorded>, Abort> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).map_err(Abort::new)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let mut known: BTreeMap<(String, String), BTreeMap<String, String>> = BTreeMap::new();
    let mut order: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for path in paths {
        if std::fs::metadata(&path).map_or(0, |about| about.len()) > MAX_BYTES {
            continue;
        }
        // A process that was killed may have left half a line.
        let text = String::from_utf8_lossy(&std::fs::read(&path).map_err(Abort::new)?).into_owned();
        for line in text.lines() {
            let Ok(Value::Object(mut call)) = serde_json::from_str::<Value>(line) else { continue };
            let text = |call: &Map<String, Value>, key: &str| {
                call.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            let function = (text(&call, "file"), text(&call, "function"));
            let test = call.remove("test").and_then(|test| test.as_str().map(str::to_owned)).unwrap_or_default();
            let key = Value::Object(call.clone()).to_string();
            let tests = known.entry(function.clone()).or_default();
            match tests.get_mut(&key) {
                Some(first) if test < *first => *first = test,
                Some(_) => {}
                None => {
                    order.entry(function).or_default().push(key.clone());
                    tests.insert(key, test);
                }
            }
        }
    }
    let mut lines = Vec::new();
    for (function, keys) in order {
        for key in keys.into_iter().take(most) {
            let Ok(Value::Object(mut call)) = serde_json::from_str::<Value>(&key) else { continue };
            let test = known.get(&function).and_then(|tests| tests.get(&key)).cloned().unwrap_or_default();
            call.insert("test".to_owned(), Value::String(test));
            lines.push((function.clone(), Value::Object(call).to_string()));
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_processes_recorded_is_merged_once_each_and_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let line = |function: &str, value: u32, test: &str| {
            format!("{{\"function\":\"{function}\",\"file\":\"a.py\",\"args\":[{value}],\"test\":\"{test}\"}}\n")
        };
        let one = line("g", 1, "t") + &line("f", 1, "z") + &line("f", 2, "b") + "{\"function\": \"f\", \"ar";
        std::fs::write(folder.path().join("1.jsonl"), one).unwrap();
        std::fs::write(folder.path().join("2.jsonl"), line("f", 1, "a") + &line("f", 3, "c")).unwrap();
        let merged: String = merged(folder.path(), 2).unwrap().into_iter().map(|(_, line)| line + "\n").collect();
        assert_eq!(merged, line("f", 1, "a") + &line("f", 2, "b") + &line("g", 1, "t"));
    }
}
