//! Small projects, one for each way from a change to a test.

mod chains;
mod doubts;
mod proofs;
mod properties;

use twincell_semantic::{MemoryFiles, Project, Store};

use super::{Selection, SelectionOptions, TestState, select};
use crate::NoProver;

pub(super) type Files<'a> = &'a [(&'a str, &'a str)];

pub(super) fn project(files: Files<'_>) -> Project {
    Project::open(MemoryFiles::from_iter(files.iter().copied()), &Store::new())
}

pub(super) fn selection(old: Files<'_>, new: Files<'_>) -> Selection {
    select(&project(old), &project(new), &SelectionOptions::default(), &NoProver)
}

/// Names of the tests that must run.
pub(super) fn selected(found: &Selection) -> Vec<&str> {
    let run = found.tests.iter().filter(|test| matches!(test.state, TestState::MustRun { .. }));
    run.map(|test| &*test.test.qualname).collect()
}

/// The tests that must run after one file of a project changes.
pub(super) fn after(files: Files<'_>, path: &str, text: &str) -> Vec<String> {
    let new: Vec<(&str, &str)> = match files.iter().any(|(one, _)| *one == path) {
        true => files.iter().map(|(one, old)| (*one, if *one == path { text } else { *old })).collect(),
        false => files.iter().copied().chain([(path, text)]).collect(),
    };
    selected(&selection(files, &new)).into_iter().map(str::to_owned).collect()
}
