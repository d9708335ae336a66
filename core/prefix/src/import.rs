//! An import that a prefix may begin with, as data.

use std::fmt;

/// What an import gives a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Imported {
    pub(crate) module: String,
    /// Its name there. `None` for the module itself.
    pub(crate) name: Option<String>,
}

/// `import module as alias`, or `from module import name`. Those of whole modules come first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Import {
    Module { module: String, alias: Option<String> },
    Name { module: String, name: String },
}

impl Import {
    pub(crate) fn module(module: &str) -> Self {
        Self::Module { module: module.into(), alias: None }
    }

    pub(crate) fn aliased(module: &str, alias: &str) -> Self {
        Self::Module { module: module.into(), alias: Some(alias.into()) }
    }

    pub(crate) fn name(module: &str, name: &str) -> Self {
        Self::Name { module: module.into(), name: name.into() }
    }

    /// What gives mocks their name.
    pub(crate) fn of_mocks() -> Self {
        Self::name("unittest.mock", "MagicMock")
    }

    /// The name that it binds: `a` for `import a.b`.
    pub(crate) fn bound(&self) -> &str {
        match self {
            Self::Module { alias: Some(alias), .. } => alias,
            Self::Module { module, alias: None } => module.split('.').next().unwrap_or(module),
            Self::Name { name, .. } => name,
        }
    }

    /// What the bound name stands for.
    pub(crate) fn target(&self) -> Imported {
        let module = match self {
            Self::Module { alias: None, .. } => self.bound().to_owned(),
            Self::Module { module, .. } | Self::Name { module, .. } => module.clone(),
        };
        let name = match self {
            Self::Module { .. } => None,
            Self::Name { name, .. } => Some(name.clone()),
        };
        Imported { module, name }
    }
}

impl fmt::Display for Import {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Module { module, alias: None } => write!(out, "import {module}"),
            Self::Module { module, alias: Some(alias) } => write!(out, "import {module} as {alias}"),
            Self::Name { module, name } => write!(out, "from {module} import {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_knows_what_it_binds() {
        let target = |import: &Import| {
            let Imported { module, name } = import.target();
            (import.to_string(), import.bound().to_owned(), module, name)
        };
        let expected = |text: &str, bound: &str, module: &str, name: Option<&str>| {
            (text.to_owned(), bound.to_owned(), module.to_owned(), name.map(str::to_owned))
        };
        assert_eq!(target(&Import::module("os.path")), expected("import os.path", "os", "os", None));
        let aliased = Import::aliased("numpy", "np");
        assert_eq!(target(&aliased), expected("import numpy as np", "np", "numpy", None));
        let name = Import::name("copy", "deepcopy");
        assert_eq!(target(&name), expected("from copy import deepcopy", "deepcopy", "copy", Some("deepcopy")));
        assert!(aliased < name);
    }
}
