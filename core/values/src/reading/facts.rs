//! What a module tells of the values of its functions, as data. `module.rs` reads it.

use std::collections::{BTreeMap, BTreeSet};

use super::imported_names::last;
use super::tables::kinds::{Kind, Shape};
use crate::value::{Declared, library};

/// The classes whose values can be made, by name.
pub(super) type Classes = BTreeMap<String, Declared>;

/// The tables that a module binds to names, with what it says of them.
pub type Globals = BTreeMap<String, (Kind, Shape)>;
/// What a module calls its functions with, by function and parameter.
pub type Handed = BTreeMap<String, Vec<Option<Kind>>>;

/// What a module tells of the values of its functions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModuleFacts {
    /// The texts, or lists of texts, that names stand for.
    pub texts: BTreeMap<String, Vec<String>>,
    /// The texts of the functions at the top level, in modules with tables.
    pub helpers: BTreeMap<String, String>,
    /// The classes whose values can be made.
    pub classes: Classes,
    /// Whether it imports a library of tables or arrays.
    pub has_tables: bool,
    /// Whether it imports pandas, and whether it imports polars.
    pub has_pandas: bool,
    pub has_polars: bool,
    /// What the names that it imports stand for, in modules that may have values of libraries.
    pub imports: BTreeMap<String, String>,
    /// Whether it imports numpy, or no library of tables at all.
    pub has_arrays: bool,
    /// The names that it imports or defines, in modules with tables.
    pub bound: BTreeSet<String>,
    /// The tables that it binds to names, with what it says of them.
    pub tables: Globals,
    /// What its functions are called with.
    pub handed: Handed,
}

/// The usual short name of polars, which other modules have as well.
pub(super) const POLARS: &str = "pl";

pub(super) fn package_of(dotted: &str) -> &str {
    dotted.split('.').next().unwrap_or(dotted)
}

impl ModuleFacts {
    /// Whether a name stands for the module polars. The usual ones do unless an import binds them to another module.
    pub(super) fn is_polars(&self, name: &str) -> bool {
        match self.imports.get(name) {
            Some(target) => target == "polars",
            None => matches!(name, "polars" | POLARS),
        }
    }

    /// Whether a table of which nothing is declared is one of polars.
    pub(super) fn prefers_polars(&self) -> bool {
        self.has_polars && !self.has_pandas
    }

    /// The class of a library that a name of the module stands for. Where several libraries have such a class, it is that
    /// of the one which the module imports.
    pub(super) fn library_class(&self, dotted: &str) -> Option<&'static str> {
        let (root, rest) = dotted.split_once('.').map_or((dotted, None), |(root, rest)| (root, Some(rest)));
        let target = self.imports.get(root).map(|target| match rest {
            Some(rest) => format!("{target}.{rest}"),
            None => target.clone(),
        });
        if let Some(class) = target.as_deref().and_then(library::class_at) {
            return Some(class);
        }
        let imports = |class: &str| self.imports.values().any(|target| package_of(target) == package_of(class));
        let may_be = |class: &&str| match &target {
            Some(target) if library::is_only_of_its_package(class) => package_of(target) == package_of(class),
            _ => true,
        };
        let mut all = library::classes_named(last(dotted)).filter(may_be).peekable();
        let first = all.peek().copied();
        all.find(|class| imports(class)).or(first)
    }
}
