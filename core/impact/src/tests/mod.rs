//! Changes of small programs, and which of their lines are changed (`+`), impacted (`~`) or neither.

mod attributes;
mod containers;
mod equivalences;
mod missed;
mod modules;
mod objects;
mod options;
mod paper;
mod properties;
mod statements;

use std::collections::BTreeMap;

use twincell_semantic::{MemoryFiles, Project, Store};

use crate::{Entries, Entry, Impact, ImpactOptions, State, impact};

fn project(text: &str) -> Project {
    Project::open(MemoryFiles::from_iter([("main.py", text)]), &Store::new())
}

fn analyze(old: &str, new: &str) -> Impact {
    impact(&project(old), &project(new), &Entries::default(), &ImpactOptions::default())
}

/// The new text with the state of each line in front of it.
fn marked(old: &str, new: &str) -> String {
    marks(&analyze(old, new), new)
}

fn marks(found: &Impact, new: &str) -> String {
    let mut marks: BTreeMap<u32, char> = BTreeMap::new();
    for statement in &found.statements {
        let mark = match statement.state {
            State::Changed => '+',
            State::Impacted { .. } => '~',
            State::NotImpacted => ' ',
        };
        for line in statement.place.lines.0..=statement.place.lines.1 {
            let known = marks.entry(line).or_insert(mark);
            if *known == ' ' {
                *known = mark;
            }
        }
    }
    let line = |(at, text): (usize, &str)| format!("{} {text}\n", marks.get(&(at as u32 + 1)).unwrap_or(&' '));
    new.lines().enumerate().map(line).collect()
}

/// Tests a change that is written with the expected marks: `+` for new lines, `-` for lines that only the old version has,
/// `~` for impacted ones.
fn check(change: &str) {
    check_with(&Entries::default(), change);
}

/// Tests a change of a program that starts at a function.
fn check_from(function: &str, change: &str) {
    check_with(&Entries(vec![Entry { module: "main".into(), function: function.into() }]), change);
}

/// Tests a change of several files. `= path` begins a file.
fn check_files(change: &str) {
    let (mut old, mut new, mut expected) = (BTreeMap::new(), BTreeMap::new(), String::new());
    let mut path = "main.py";
    for line in change.lines() {
        let (mark, text) = (line.chars().next().unwrap_or(' '), line.get(2..).unwrap_or_default());
        if mark == '=' {
            path = text;
        }
        let add = |files: &mut BTreeMap<String, String>, mark: char| {
            let file = files.entry(path.to_owned()).or_default();
            if mark != '=' {
                file.push_str(text);
                file.push('\n');
            }
        };
        if mark != '+' {
            add(&mut old, mark);
        }
        if mark != '-' {
            add(&mut new, mark);
            expected.push_str(&format!("{mark} {text}\n"));
        }
    }
    let open = |files: &BTreeMap<String, String>| {
        Project::open(
            MemoryFiles::from_iter(files.iter().map(|(path, text)| (path.as_str(), text.as_str()))),
            &Store::new(),
        )
    };
    let found = impact(&open(&old), &open(&new), &Entries::default(), &ImpactOptions::default());
    let mut marked = String::new();
    for path in change.lines().filter_map(|line| line.strip_prefix("= ")) {
        let of_file = Impact {
            statements: found.statements.iter().filter(|one| &*one.place.path == path).cloned().collect(),
            ..found.clone()
        };
        marked.push_str(&format!("= {path}\n{}", marks(&of_file, &new[path])));
    }
    assert!(marked == expected, "found:\n{marked}\nexpected:\n{expected}");
}

fn check_with(entries: &Entries, change: &str) {
    let (mut old, mut expected) = (String::new(), String::new());
    let mut new = String::new();
    for line in change.lines() {
        let (mark, text) = (line.chars().next().unwrap_or(' '), line.get(2..).unwrap_or_default());
        if mark != '+' {
            old.push_str(text);
            old.push('\n');
        }
        if mark != '-' {
            new.push_str(text);
            new.push('\n');
            expected.push_str(&format!("{mark} {text}\n"));
        }
    }
    let found = marks(&impact(&project(&old), &project(&new), entries, &ImpactOptions::default()), &new);
    assert!(found == expected, "found:\n{found}\nexpected:\n{expected}");
}
