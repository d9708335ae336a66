//! Instrumented code means what it did: whole programs print the same with hooks that pass everything through, and
//! every fixture's result compiles. Needs a `python3`; without one these tests say so and pass.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use twincell_syntax::functions;
use twincell_syntax::instrument::instrument;

/// Fixtures in newer syntax, with the minor version of Python 3 that reads them.
const NEWER: [(&str, u32); 6] =
    [("match", 10), ("with", 10), ("walrus", 10), ("except_star", 11), ("star_subscript", 11), ("type_parameters", 12)];

#[test]
fn a_program_prints_the_same_when_it_is_instrumented() {
    let Some(minor) = python_minor() else { return };
    let programs = programs("fixtures/meaning", |name| name != "run", minor);
    assert_eq!(programs.len(), 6);
    assert_eq!(differences(&programs), "");
}

#[test]
fn every_instrumented_fixture_compiles() {
    let Some(minor) = python_minor() else { return };
    let programs = programs("fixtures/instrument", |_| true, minor);
    assert_eq!(differences(&programs), "");
}

fn python_minor() -> Option<u32> {
    let output = Command::new("python3").args(["-c", "import sys; print(sys.version_info[1])"]).output().ok();
    let minor = output.and_then(|output| String::from_utf8(output.stdout).ok()?.trim().parse().ok());
    if minor.is_none() {
        eprintln!("no python3 on the path: the meaning of instrumented code is not tested");
    }
    minor
}

/// All programs of a folder with their instrumented functions; nested ones come with the function around them.
fn programs(folder: &str, wanted: impl Fn(&str) -> bool, minor: u32) -> Vec<Value> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    let mut programs = Vec::new();
    for path in paths {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if !wanted(&name) || NEWER.iter().any(|(newer, since)| *newer == name && *since > minor) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("the fixture can be read");
        let functions: Vec<Value> = functions(&text)
            .0
            .iter()
            .filter(|function| function.parent.is_none())
            .map(|function| {
                let result = instrument(function).unwrap_or_else(|error| panic!("{name}: {error}"));
                json!({
                    "name": function.name,
                    "class_name": function.class_name,
                    "decorators": function.decorators,
                    "first_line": function.first_line,
                    "code": result.code,
                    "sites": result.sites,
                })
            })
            .collect();
        programs.push(json!({ "name": name, "text": text, "functions": functions }));
    }
    programs
}

fn differences(programs: &[Value]) -> String {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/meaning/run.py");
    let mut python = Command::new("python3")
        .args(["-W", "ignore"])
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    let input = serde_json::to_vec(programs).expect("plain data");
    python.stdin.take().expect("piped").write_all(&input).expect("python3 reads");
    let output = python.wait_with_output().expect("python3 ends");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
