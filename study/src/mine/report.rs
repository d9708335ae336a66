//! The counts of a walk through a history.

use std::fmt::Write as _;

/// What was examined, and what was left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub changes: usize,
    /// All commits that the walk passed.
    pub commits: usize,
    pub merges: usize,
    /// The number of files in commits that cannot be read as Python.
    pub unreadable: usize,
    /// The first of them, one line each.
    pub examples: Vec<String>,
}

/// The maximum number of named unreadable files.
const NAMED: usize = 5;

impl Report {
    pub fn add(&mut self, other: Report) {
        self.changes += other.changes;
        self.commits += other.commits;
        self.merges += other.merges;
        self.unreadable += other.unreadable;
        self.examples.extend(other.examples);
        self.examples.truncate(NAMED);
    }

    pub fn unreadable(&mut self, what: String) {
        self.unreadable += 1;
        if self.examples.len() < NAMED {
            self.examples.push(what);
        }
    }

    /// For people, one or a few lines.
    pub fn text(&self) -> String {
        let plural = |count: usize, name: &str| format!("{count} {name}{}", if count == 1 { "" } else { "s" });
        let mut text = format!(
            "{} in {} ({})\n",
            plural(self.changes, "change"),
            plural(self.commits, "commit"),
            plural(self.merges, "merge")
        );
        if self.unreadable > 0 {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{} left out because they cannot be read:", plural(self.unreadable, "file"));
            for example in &self.examples {
                let _ = writeln!(text, "    {example}");
            }
            if self.unreadable > self.examples.len() {
                text.push_str("    ...\n");
            }
        }
        text
    }
}
