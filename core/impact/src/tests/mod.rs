//! Changes of small programs, and which of their lines are changed (`+`), impacted (`~`) or neither.

mod containers;
mod equivalences;
mod missed;
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
