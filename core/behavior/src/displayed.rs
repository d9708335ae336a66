//! Texts for people that know what they show. What has to decide asks for that, and never reads the text.

use std::fmt::{self, Display};

use twincell_values::path::{AccessPath, AccessPathBuf, mentions, representations};

/// A text for people, with what in it is the program's own.
#[derive(Debug, Clone, Default)]
pub struct Displayed {
    text: String,
    parts: Vec<Part>,
}

/// What a part of a text stands for, as far as the text shows it.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// An injected object.
    Object(AccessPathBuf),
    /// What is called, or where a value is.
    Place(AccessPathBuf),
    /// A text of the program. Code also writes the representation of objects, `<x>`, into texts of its own.
    Text(String),
}

impl Part {
    fn as_str(&self) -> &str {
        match self {
            Part::Object(path) | Part::Place(path) => path.as_str(),
            Part::Text(text) => text,
        }
    }
}

impl Displayed {
    pub(crate) fn new(text: String, parts: Vec<Part>) -> Self {
        Self { text, parts }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn into_text(self) -> String {
        self.text
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// With another one behind it.
    pub(crate) fn then(mut self, other: Displayed) -> Self {
        self.text.push_str(&other.text);
        self.parts.extend(other.parts);
        self
    }

    /// What it shows of the program, each part as it is written: access paths, and texts.
    pub fn of_program(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(Part::as_str)
    }

    /// The number of injected objects that it shows, those in the paths of others too: two in `<(<a[0]> * 2)>`.
    pub fn objects(&self) -> usize {
        let count = |part: &Part| match part {
            Part::Object(path) => 1 + representations(path.as_str()).count(),
            Part::Place(path) => representations(path.as_str()).count(),
            Part::Text(text) => representations(text).count(),
        };
        self.parts.iter().map(count).sum()
    }

    /// Whether it shows an injected object whose path starts like this.
    pub fn holds_object(&self, path: &str) -> bool {
        let holds = |part: &Part| {
            matches!(part, Part::Object(own) if own.as_str().starts_with(path))
                || representations(part.as_str()).any(|own| own.starts_with(path))
        };
        self.parts.iter().any(holds)
    }

    /// Whether it shows a result that was calculated from injected objects: `<(x * 2)>`.
    pub fn is_calculated(&self) -> bool {
        self.holds_object("(")
    }

    /// Whether an access path is a part of what it shows.
    pub fn mentions(&self, path: AccessPath<'_>) -> bool {
        self.of_program().any(|part| mentions(part, path.as_str()))
    }
}

/// Two are equal if people see the same.
impl PartialEq for Displayed {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Displayed {}

/// Words of our own, which show nothing of the program.
impl From<String> for Displayed {
    fn from(text: String) -> Self {
        Self { text, parts: Vec::new() }
    }
}

impl From<&str> for Displayed {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Display for Displayed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}
