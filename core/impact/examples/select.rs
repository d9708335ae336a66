//! Selects the tests that a change needs, and prints the selection as JSON and how long it took as an error. `--test-files` gives patterns of
//! names of files that hold tests. With a test's qualified name at the end, it prints that test alone.
//!
//! `cargo run --release -p twincell-impact --example select -- OLD NEW [--test-files PATTERN]... [TEST]`

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use twincell_impact::NoProver;
use twincell_impact::selection::{FileChange, FileContent, SelectionOptions, TestState, select};
use twincell_semantic::{MemoryFiles, Project, Store};

type Others = BTreeMap<String, Vec<u8>>;

/// The longest file that is no code and that is read as a text.
const MAX_TEXT: usize = 1 << 20;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (mut folders, mut patterns) = (Vec::new(), Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--test-files" => patterns.extend(arguments.next()),
            _ => folders.push(argument),
        }
    }
    let [old, new, rest @ ..] = &folders[..] else { return eprintln!("give two folders") };
    let (old, new) = (read(old), read(new));
    let start = Instant::now();
    let mut options = SelectionOptions { files: changed(&old.1, &new.1), ..SelectionOptions::default() };
    if !patterns.is_empty() {
        options.test_files = patterns;
    }
    let store = Store::new();
    let [old, new] = [old.0, new.0].map(|files| Project::open(files, &store));
    let mut found = select(&old, &new, &options, &NoProver);
    eprintln!("{:.3}", start.elapsed().as_secs_f64());
    if let Some(test) = rest.first() {
        found.tests.retain(|one| &*one.test.qualname == test.as_str());
        found.doubts.clear();
    }
    let selected = found.tests.iter().filter(|test| matches!(test.state, TestState::MustRun { .. })).count();
    eprintln!("{selected} of {} tests", found.tests.len());
    match serde_json::to_string(&found) {
        Ok(text) => println!("{text}"),
        Err(error) => eprintln!("{error}"),
    }
}

fn read(folder: &str) -> (MemoryFiles, Others) {
    let (mut files, mut others) = (MemoryFiles::default(), Others::new());
    below(Path::new(folder), "", &mut files, &mut others);
    (files, others)
}

fn below(folder: &Path, prefix: &str, files: &mut MemoryFiles, others: &mut Others) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        // That of a worktree is a file.
        if name == ".git" || name == "__pycache__" {
            continue;
        }
        if kind.is_dir() {
            below(&entry.path(), &path, files, others);
        } else if kind.is_file()
            && let Ok(bytes) = std::fs::read(entry.path())
        {
            match path.ends_with(".py") {
                true => files.insert(&path, &String::from_utf8_lossy(&bytes)),
                false => drop(others.insert(path, bytes)),
            }
        }
    }
}

fn changed(old: &Others, new: &Others) -> Vec<FileChange> {
    let mut paths: Vec<&String> = old.keys().chain(new.keys()).collect();
    paths.sort();
    paths.dedup();
    let content = |files: &Others, path: &str| match files.get(path) {
        None => FileContent::Absent,
        Some(bytes) if bytes.len() > MAX_TEXT => FileContent::Binary,
        Some(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => FileContent::Text(Arc::from(text)),
            Err(_) => FileContent::Binary,
        },
    };
    let differ = paths.into_iter().filter(|path| old.get(*path) != new.get(*path));
    differ
        .map(|path| FileChange { path: path.as_str().into(), old: content(old, path), new: content(new, path) })
        .collect()
}
