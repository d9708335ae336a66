//! What is known of a parameter, as data.

use serde::{Deserialize, Serialize};

use crate::value::{AbstractValue, Declared, Recipe};

/// The hints for one parameter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Hint {
    /// The classes that the hints name; empty if there are none.
    pub classes: Vec<AbstractValue>,
    /// The classes of its items.
    pub items: Vec<AbstractValue>,
    /// Values worth trying: the default, members of `Literal[...]`.
    pub candidates: Vec<Recipe>,
    /// Keys that it may have.
    pub(super) keys: Vec<Recipe>,
    /// Whether bytes are named.
    pub(super) bytes: bool,
    /// The type that the annotation declares, if it is understood as a whole, or that the code tells.
    pub declared: Option<Declared>,
    /// The class that the annotation names, if its type is not understood.
    pub(super) named: Option<String>,
    /// Whether the annotation allows None.
    pub(super) optional: bool,
    /// What says so.
    pub basis: HintBasis,
}

/// How a type of a library is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HintBasis {
    /// Its name is written: it means the class that is imported under this name.
    #[default]
    Name,
    /// By uses that other classes have as well. The library has to be imported.
    Use,
    /// By uses that tell it from all others.
    UniqueUse,
}
