//! The changes of a study seen together: the names of their reproducers, and warnings for a person.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use twincell_driver::reproducers::safe;

use crate::change::{Change, Changes, Row, UNCLEAR, shown};

/// The maximum number of lines of the input that one warning names.
const NAMED: usize = 5;
/// The maximum number of ids, and of labels, with a warning.
const LISTED: usize = 20;

/// What the changes that were read have in common. It holds a few bytes for each of them.
#[derive(Default)]
pub struct Input {
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// What numbers count: lines or rows.
    unit: &'static str,
    /// The names that are taken, and where each id came first, as hashes.
    taken: HashSet<u64>,
    first: HashMap<u64, usize>,
    /// The names that differ from those of the ids, by number.
    other: HashMap<usize, String>,
    repeated: Lists,
    unknown: Lists,
}

/// Lines by their warning.
#[derive(Default)]
struct Lists {
    held: BTreeMap<String, Lines>,
    /// How many did not fit any more.
    more: usize,
}

#[derive(Default)]
struct Lines {
    first: Vec<usize>,
    count: usize,
}

impl Input {
    /// The same changes, observed on their way.
    pub fn watch<'a>(&'a self, changes: &'a mut dyn Changes) -> impl Changes + 'a {
        self.seen().unit = changes.unit();
        Watched { input: self, changes }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of the reproducers of a change.
    pub fn name(&self, change: &Change) -> String {
        self.seen().other.get(&change.number).cloned().unwrap_or_else(|| safe(&shown(&change.id)))
    }

    /// One line each, for people.
    pub fn warnings(&self) -> Vec<String> {
        let seen = self.seen();
        let mut warnings: Vec<String> = Vec::new();
        for (id, lines) in &seen.repeated.held {
            warnings.push(format!("the id {id} occurs {} times ({})", lines.count, lines.text(seen.unit)));
        }
        if seen.repeated.more > 0 {
            warnings.push("further ids occur several times".to_owned());
        }
        for (label, lines) in &seen.unknown.held {
            warnings.push(format!(
                "the label {label} does not count ({}): known labels are changing, preserving and unclear",
                lines.text(seen.unit)
            ));
        }
        if seen.unknown.more > 0 {
            warnings.push("further labels do not count".to_owned());
        }
        warnings
    }
}

impl Seen {
    fn add(&mut self, change: &Change) {
        let (id, number) = (shown(&change.id), change.number);
        // Of several with the same name, all except the first are distinguished by their lines.
        let plain = if id.is_empty() { format!("{}{number}", self.unit) } else { safe(&id) };
        let mut name = plain.clone();
        while !self.taken.insert(hash(&name)) {
            name = format!("{name}-{}{number}", self.unit);
        }
        if name != safe(&id) {
            self.other.insert(number, name);
        }
        let first = *self.first.entry(hash(&id)).or_insert(number);
        if first != number {
            self.repeated.add(&id, &[first, number]);
        }
        if let (Some(label), None) = (change.label.as_deref().filter(|label| *label != UNCLEAR), change.label()) {
            self.unknown.add(label, &[number]);
        }
    }
}

impl Lists {
    /// Adds the last of these lines, and the first one the first time.
    fn add(&mut self, what: &str, lines: &[usize]) {
        if !self.held.contains_key(what) && self.held.len() >= LISTED {
            self.more += 1;
            return;
        }
        let held = self.held.entry(what.to_owned()).or_default();
        let fresh = if held.count == 0 { lines } else { &lines[lines.len().saturating_sub(1)..] };
        held.count += fresh.len();
        held.first.extend(fresh.iter().take(NAMED - held.first.len()));
    }
}

impl Lines {
    /// `lines 1, 9`.
    fn text(&self, unit: &str) -> String {
        let shown: Vec<String> = self.first.iter().map(usize::to_string).collect();
        let (several, more) = (if self.count == 1 { "" } else { "s" }, if self.count > NAMED { ", ..." } else { "" });
        format!("{unit}{several} {}{more}", shown.join(", "))
    }
}

struct Watched<'a> {
    input: &'a Input,
    changes: &'a mut dyn Changes,
}

impl Changes for Watched<'_> {
    fn next(&mut self) -> Option<io::Result<Row>> {
        let row = self.changes.next();
        if let Some(Ok(Ok(change))) = &row {
            self.input.seen().add(change);
        }
        row
    }

    fn inner(&self) -> Option<&dyn Changes> {
        Some(self.changes)
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::from_text;

    fn line(id: &str, label: &str) -> String {
        format!("{{\"id\": \"{id}\", \"old\": \"\", \"new\": \"\", \"label\": \"{label}\"}}\n")
    }

    /// The names of the changes, and the warnings.
    fn read(lines: &[String]) -> (Vec<String>, Vec<String>) {
        let input = Input::default();
        let mut changes = from_text(&lines.concat());
        let mut watched = input.watch(&mut changes);
        let changes: Vec<Row> = std::iter::from_fn(|| watched.next()).map(Result::unwrap).collect();
        (changes.iter().flatten().map(|change| input.name(change)).collect(), input.warnings())
    }

    #[test]
    fn ids_that_repeat_or_look_the_same_as_file_names_get_names_of_their_own() {
        let lines = [line("a", "changing"), line("x/y", "changing"), line("x:y", "changing"), line("a", "preserving")];
        let (names, warnings) = read(&lines);
        assert_eq!(names, ["a", "x_y", "x_y-line3", "a-line4"]);
        assert_eq!(warnings, ["the id a occurs 2 times (lines 1, 4)"]);
        let long = "變".repeat(120);
        let (names, _) = read(&[line(&long, "changing"), line(&format!("{long}x"), "changing")]);
        assert_eq!(names[1], format!("{}-line2", names[0]));
        assert!(names[0].len() <= 100);
        let lines = [line("a", "changing"), line("a", "changing"), line("a-line2", "changing")];
        assert_eq!(read(&lines).0, ["a", "a-line2", "a-line2-line3"]);
        let (_, warnings) = read(&vec![line("a", "changing"); 7]);
        assert_eq!(warnings, ["the id a occurs 7 times (lines 1, 2, 3, 4, 5, ...)"]);
    }

    #[test]
    fn labels_that_are_not_known_are_named() {
        let lines = [line("a", "breaking"), line("b", "preserving"), "nonsense\n".into(), line("c", "breaking")];
        assert_eq!(
            read(&lines).1,
            ["the label breaking does not count (lines 1, 4): known labels are changing, preserving and unclear"]
        );
    }

    #[test]
    fn of_very_many_the_first_are_told() {
        let lines: Vec<String> = (0..100).map(|number| line(&format!("{}", number % 50), "x")).collect();
        let warnings = read(&lines).1;
        assert_eq!(warnings.len(), 22);
        assert_eq!(warnings[20], "further ids occur several times");
    }
}
