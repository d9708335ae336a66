//! The changes of a study seen together: what their reproducers are called, and what a person should be told first.

use std::collections::{BTreeMap, BTreeSet};

use super::row::read_change;
use super::rows;
use crate::reproducers::safe;

/// What is said about one thing at most, in lines of the input.
const NAMED: usize = 5;

/// A label that says that nobody knows: it counts for nothing, and is no mistake.
const UNCLEAR: &str = "unclear";

/// What the lines of a study have in common.
#[derive(Debug, Default)]
pub struct Input {
    /// What each change's reproducers are called, by line.
    names: BTreeMap<usize, String>,
    /// One line each, for people.
    pub warnings: Vec<String>,
}

impl Input {
    pub fn read(lines: &str) -> Self {
        let mut ids: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut labels: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut names: BTreeMap<usize, String> = BTreeMap::new();
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for (number, line) in rows(lines) {
            let Ok(change) = read_change(line, number) else { continue };
            let id = change.id.as_str().map_or_else(|| change.id.to_string(), str::to_owned);
            // Of several with one name, all but the first are told apart by their lines.
            let mut name = safe(&id);
            while !taken.insert(name.clone()) {
                name = format!("{name}-line{number}");
            }
            names.insert(number, name);
            ids.entry(id).or_default().push(number);
            if let (Some(label), None) = (change.label.as_deref().filter(|label| *label != UNCLEAR), change.label()) {
                labels.entry(label.to_owned()).or_default().push(number);
            }
        }
        let mut warnings = Vec::new();
        for (id, lines) in ids.iter().filter(|(_, lines)| lines.len() > 1) {
            warnings.push(format!("the id {id} occurs {} times ({})", lines.len(), listed(lines)));
        }
        for (label, lines) in &labels {
            warnings.push(format!(
                "the label {label} does not count ({}): known are changing, preserving and unclear",
                listed(lines)
            ));
        }
        Self { names, warnings }
    }

    /// What the reproducers of the change in this line are called.
    pub fn name(&self, line: usize) -> String {
        self.names.get(&line).cloned().unwrap_or_else(|| format!("line{line}"))
    }
}

/// `lines 1, 9`.
fn listed(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(NAMED).map(usize::to_string).collect();
    let more = if lines.len() > NAMED { ", ..." } else { "" };
    format!("{} {}{more}", if lines.len() == 1 { "line" } else { "lines" }, shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, label: &str) -> String {
        format!("{{\"id\": \"{id}\", \"old\": \"\", \"new\": \"\", \"label\": \"{label}\"}}\n")
    }

    #[test]
    fn ids_that_repeat_or_look_the_same_as_file_names_get_names_of_their_own() {
        let lines = [line("a", "changing"), line("x/y", "changing"), line("x:y", "changing"), line("a", "preserving")];
        let input = Input::read(&lines.concat());
        assert_eq!([1, 2, 3, 4].map(|line| input.name(line)), ["a", "x_y", "x_y-line3", "a-line4"]);
        assert_eq!(input.warnings, ["the id a occurs 2 times (lines 1, 4)"]);
        let lines = [line("a", "changing"), line("a", "changing"), line("a-line2", "changing")];
        let input = Input::read(&lines.concat());
        assert_eq!([1, 2, 3].map(|line| input.name(line)), ["a", "a-line2", "a-line2-line3"]);
    }

    #[test]
    fn labels_that_are_not_known_are_named() {
        let lines = [line("a", "breaking"), line("b", "preserving"), "nonsense\n".into(), line("c", "breaking")];
        let input = Input::read(&lines.concat());
        assert_eq!(
            input.warnings,
            ["the label breaking does not count (lines 1, 4): known are changing, preserving and unclear"]
        );
    }
}
