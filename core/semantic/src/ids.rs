//! Numbers for modules, symbols, scopes and values. They hold within one version; [`SymbolName`] holds over versions.

use std::sync::Arc;

/// A module of one version of a project, in order of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleId(pub(crate) u32);

/// A symbol of one version of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId {
    pub(crate) module: ModuleId,
    pub(crate) local: u32,
}

impl SymbolId {
    pub(crate) fn new(module: ModuleId, local: u32) -> Self {
        Self { module, local }
    }

    /// The module that holds the symbol.
    pub fn module(self) -> ModuleId {
        self.module
    }

    /// Whether the symbol is the module itself.
    pub fn is_module(self) -> bool {
        self.local == 0
    }
}

/// What a symbol is called in every version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolName {
    /// The path of the module's file, which no other module has.
    pub path: Arc<str>,
    /// The dotted name of the module.
    pub module: Arc<str>,
    /// CPython's `__qualname__`. It is empty for the module itself.
    pub qualname: Arc<str>,
}

impl std::fmt::Display for SymbolName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.qualname.is_empty() {
            true => write!(formatter, "{}", self.module),
            false => write!(formatter, "{}.{}", self.module, self.qualname),
        }
    }
}

/// A name within a module's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NameId(pub u32);

/// A scope within a module's content. The first one is that of the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ScopeId(pub u32);

/// A place for values within a module's content: a variable, or the result of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub u32);
