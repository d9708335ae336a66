//! People's earlier judgments of a change, against which verdicts are compared.

use serde::Serialize;

/// A person's judgment of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "snake_case"))]
pub enum Label {
    Changing,
    Preserving,
    Unclear,
}

impl Label {
    pub const ALL: [Self; 3] = [Self::Changing, Self::Preserving, Self::Unclear];

    pub fn name(self) -> &'static str {
        match self {
            Self::Changing => "changing",
            Self::Preserving => "preserving",
            Self::Unclear => "unclear",
        }
    }

    /// The label with this name. None for other names.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|label| label.name() == name)
    }
}

/// The label in words.
pub fn label_name(label: Option<Label>) -> &'static str {
    label.map_or("no label", Label::name)
}
