//! The changes of a study: what a change is, and what provides changes in any format. Nothing here reads files or runs
//! threads.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use twincell_compare::{CompareOptions, Source};
use twincell_engine::protocol::Context;
use twincell_syntax::{SNIPPET, classes, functions, snippet};

use crate::metrics::Label;

/// One change of a study.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Its place in the input, from 1: a line or a row.
    pub number: usize,
    /// Any JSON value; the number if there is none.
    pub id: Value,
    /// Text of one function, with its decorators.
    pub old: String,
    pub new: String,
    pub old_module: Option<String>,
    pub new_module: Option<String>,
    /// The qualified name of the function in the modules.
    pub function: Option<String>,
    pub label: Option<String>,
    /// Where it comes from. This is only shown.
    pub project: Option<String>,
    pub commit: Option<String>,
    pub date: Option<String>,
    pub file: Option<String>,
    /// What kind of change it is, in the words of the input.
    pub kind: Option<String>,
    /// The budget that the policy gives to its file.
    #[serde(default)]
    pub budget: Option<u32>,
}

/// A row that is not a change: it becomes a finding that says why.
#[derive(Debug, Clone, PartialEq)]
pub struct NoChange {
    pub number: usize,
    pub id: Value,
    /// What the number counts, where the reason has to say where the row stands: `line`, `row`.
    pub unit: Option<&'static str>,
    /// What is wrong with the row.
    pub what: String,
}

impl NoChange {
    /// One line for people.
    pub fn reason(&self) -> String {
        match self.unit {
            Some(unit) => format!("{unit} {} is not a change: {}", self.number, self.what),
            None => self.what.clone(),
        }
    }
}

pub type Row = Result<Change, NoChange>;

/// Provides changes one at a time, in the order of the input, so that memory does not grow with it.
pub trait Changes: Send {
    /// The next row, or none at the end, however often it is asked for. An error ends the study, since the rest of the
    /// input cannot be read, except for [`io::ErrorKind::WouldBlock`]: nothing came for a moment, so ask again.
    fn next(&mut self) -> Option<io::Result<Row>>;

    /// The input that this one passes on. It answers for the methods that this one does not define.
    fn inner(&self) -> Option<&dyn Changes> {
        None
    }

    /// The number of rows, if it is known without comparing them.
    fn total(&self) -> Option<u64> {
        self.inner().and_then(Changes::total)
    }

    /// Whether only the thread that runs the study may read it, because it belongs to the caller.
    fn is_read_by_caller(&self) -> bool {
        self.inner().is_some_and(Changes::is_read_by_caller)
    }

    /// Warnings for a person at the end, one line each.
    fn warnings(&self) -> Vec<String> {
        self.inner().map(Changes::warnings).unwrap_or_default()
    }

    /// What the numbers of changes count.
    fn unit(&self) -> &'static str {
        self.inner().map_or("row", Changes::unit)
    }

    /// Warnings about the input for a person after it has been read, one line each.
    fn notes(&self) -> Vec<String> {
        self.inner().map(Changes::notes).unwrap_or_default()
    }

    /// Whether its errors are complete without the name of the input.
    fn explains_itself(&self) -> bool {
        self.inner().is_some_and(Changes::explains_itself)
    }
}

/// Opens the changes of a study once more, from the first one on. An error is one line for people.
pub type Reopen = Box<dyn Fn() -> Result<Box<dyn Changes>, String> + Send + Sync>;

/// The label that says that nobody knows. It does not count and is not a mistake.
pub const UNCLEAR: &str = "unclear";

/// An id as people see it: a text unchanged, anything else as JSON.
pub fn shown(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

impl Change {
    /// Names and values as rows of an input have them, without absent ones.
    pub fn fields(&self) -> Map<String, Value> {
        let texts = [
            ("project", self.project.as_ref()),
            ("commit", self.commit.as_ref()),
            ("date", self.date.as_ref()),
            ("file", self.file.as_ref()),
            ("function", self.function.as_ref()),
            ("kind", self.kind.as_ref()),
            ("label", self.label.as_ref()),
            ("old", Some(&self.old)),
            ("new", Some(&self.new)),
            ("old_module", self.old_module.as_ref()),
            ("new_module", self.new_module.as_ref()),
        ];
        let texts = texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), Value::from(text?.as_str()))));
        std::iter::once(("id".to_owned(), self.id.clone())).chain(texts).collect()
    }

    pub fn label(&self) -> Option<Label> {
        Label::of(self.label.as_deref())
    }

    /// The texts to compare, and the options. Modules count only if the context asks for them. A change without both
    /// modules is compared by its texts alone, and a class or the snippet as a part of both modules.
    pub fn sources(&self, options: &CompareOptions) -> (Source, Source, CompareOptions) {
        let modules = match (options.context, &self.old_module, &self.new_module) {
            (Context::Module, Some(old), Some(new)) => Some((old.clone(), new.clone())),
            _ => None,
        };
        // A name in a missing module says nothing, but texts may themselves be whole files.
        let is_there = |name: &String| modules.is_some() || [&self.old, &self.new].iter().all(|text| holds(text, name));
        let function = self.function.clone().filter(is_there);
        let is_part = |(old, new): &(String, String)| {
            function.as_deref().is_some_and(|name| [old, new].into_iter().all(|module| holds_whole(module, name)))
        };
        let source = |text: &String, module: Option<String>, label: &str| Source {
            text: text.clone(),
            module,
            label: label.to_owned(),
            ..Source::default()
        };
        let (old, new) = match modules {
            Some(modules) if is_part(&modules) => (source(&modules.0, None, "old"), source(&modules.1, None, "new")),
            modules => {
                let (old_module, new_module) = modules.unzip();
                (source(&self.old, old_module, "old"), source(&self.new, new_module, "new"))
            }
        };
        (old, new, CompareOptions { function, budget: self.budget.unwrap_or(options.budget), ..options.clone() })
    }
}

/// Whether a text has a function, a class or statements with this name.
fn holds(text: &str, name: &str) -> bool {
    holds_whole(text, name) || functions(text).0.iter().any(|one| one.qualname == name)
}

/// Whether a text has a class with this name, or statements if it is the name of the snippet.
fn holds_whole(text: &str, name: &str) -> bool {
    match name {
        SNIPPET => snippet(text).has_statements,
        _ => classes(text).iter().any(|one| one.qualname == name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_where_the_texts_are_whole_files() {
        let text = "LIMIT = 1\n\n\nclass P:\n    def f(self):\n        return 1\n\n\nprint(LIMIT)\n";
        let named = |name: &str, new: &str| {
            let (function, old, new) = (Some(name.to_owned()), text.to_owned(), new.to_owned());
            Change { function, old, new, ..Change::default() }.sources(&CompareOptions::default()).2.function
        };
        for name in ["P", "P.f", "the snippet"] {
            assert_eq!(named(name, text).as_deref(), Some(name));
        }
        assert_eq!((named("P.g", text), named("P", "x = 1")), (None, None));
    }

    #[test]
    fn a_class_and_the_snippet_are_compared_as_parts_of_their_modules() {
        let module = "LIMIT = 1\n\n\nclass P:\n    def f(self):\n        return 1\n";
        let named = |name: &str, text: &str| {
            let change = Change {
                old: text.into(),
                new: text.into(),
                old_module: Some(module.into()),
                new_module: Some(module.into()),
                function: Some(name.into()),
                ..Change::default()
            };
            let (old, new, options) = change.sources(&CompareOptions::default());
            assert_eq!((old.module.is_some(), options.function.as_deref()), (new.module.is_some(), Some(name)));
            (old.text, old.module)
        };
        let class = &module[module.find("class").unwrap_or_default()..];
        for (name, text) in [("P", class), ("the snippet", module)] {
            assert_eq!(named(name, text), (module.to_owned(), None));
        }
        let method = "def f(self):\n    return 1\n";
        assert_eq!(named("P.f", method), (method.to_owned(), Some(module.to_owned())));
    }

    #[test]
    fn modules_count_only_in_module_context() {
        let change = Change {
            old_module: Some("o".into()),
            new_module: Some("n".into()),
            function: Some("C.f".into()),
            ..Default::default()
        };
        let alone = CompareOptions { context: Context::Function, ..Default::default() };
        let (old, new, options) = change.sources(&alone);
        assert_eq!((old.module, new.module, options.function), (None, None, None));

        let (old, new, options) = change.sources(&CompareOptions { context: Context::Module, ..alone });
        assert_eq!((old.module.as_deref(), new.module.as_deref()), (Some("o"), Some("n")));
        assert_eq!(options.function.as_deref(), Some("C.f"));

        let half = Change { old_module: None, ..change };
        let (old, new, options) = half.sources(&CompareOptions::default());
        assert_eq!((old.module, new.module, options.function), (None, None, None));
    }
}
