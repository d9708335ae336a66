//! Access paths that own their text.

use std::borrow::Borrow;
use std::fmt::{self, Debug, Display};

use serde::{Deserialize, Serialize};

use super::{AccessPath, bounded};

/// An access path that owns its text, as [`std::path::PathBuf`] does. What can be asked of it, [`AccessPath`] answers.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccessPathBuf(String);

impl AccessPathBuf {
    pub fn as_path(&self) -> AccessPath<'_> {
        AccessPath::new(&self.0)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }

    /// Cut at the bound of a path, where it is longer.
    pub fn bounded(self) -> Self {
        Self(bounded(self.0))
    }
}

/// As its text, so that it is shown as other texts are.
impl Debug for AccessPathBuf {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.0, out)
    }
}

impl Display for AccessPathBuf {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl From<String> for AccessPathBuf {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for AccessPathBuf {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<AccessPath<'_>> for AccessPathBuf {
    fn from(path: AccessPath<'_>) -> Self {
        path.to_buf()
    }
}

impl<'a> From<&'a AccessPathBuf> for AccessPath<'a> {
    fn from(path: &'a AccessPathBuf) -> Self {
        path.as_path()
    }
}

/// A table by path is asked with the text of a view.
impl Borrow<str> for AccessPathBuf {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for AccessPathBuf {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for AccessPathBuf {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<AccessPath<'_>> for AccessPathBuf {
    fn eq(&self, other: &AccessPath<'_>) -> bool {
        self.as_path() == *other
    }
}

impl PartialEq<String> for AccessPathBuf {
    fn eq(&self, other: &String) -> bool {
        self.0 == *other
    }
}
